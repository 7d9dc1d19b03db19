#include "liedyn/io/write_statics.h"

#include <nlohmann/json.hpp>

#include "liedyn/base/version.h"
#include "liedyn/io/configuration_file.h"

namespace liedyn {

std::string static_json(const StaticResult& r, const System& system) {
  using Json = nlohmann::ordered_json;
  const Model& model = system.model();
  const auto sensors_of = [&](const std::vector<double>& values) {
    Json out = Json::object();
    for (const Sensor& sensor : model.sensors) {
      Json value = Json::array();
      for (int i = 0; i < sensor.components; ++i)
        value.push_back(values[static_cast<std::size_t>(sensor.first + i)]);
      out[sensor.name] = sensor.components == 1 ? value[0] : value;
    }
    return out;
  };
  Json steps = Json::array();
  for (const LoadStep& step : r.steps)
    steps.push_back({{"load_factor", step.factor},
                     {"iterations", step.iterations},
                     {"sensors", sensors_of(step.sensors)}});
  Json json = {{"liedyn", version()},
               {"model", r.model},
               {"formulation", r.formulation},
               {"converged", r.converged},
               {"failure", r.failure},
               {"residual", {{"force", r.residual_force}, {"position", r.residual_position}}},
               {"potential_energy", r.potential},
               {"unstable_directions", r.unstable_directions < 0 ? Json() : Json(r.unstable_directions)},
               {"indifferent", r.indifferent},
               {"warnings", r.warnings},
               {"load_steps", steps},
               {"sensors", r.steps.empty() ? Json::object() : sensors_of(r.steps.back().sensors)}};
  const Json configuration = Json::parse(configuration_json(system, r.state));
  json["time"] = configuration["time"];
  json["bodies"] = configuration["bodies"];
  for (const char* key : {"states", "wound"})
    if (configuration.contains(key)) json[key] = configuration[key];
  return json.dump(2);
}

}  // namespace liedyn

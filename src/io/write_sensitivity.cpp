#include "liedyn/io/write_sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/base/version.h"
#include "liedyn/io/write_results.h"

namespace liedyn {

std::string sensitivity_json(const Sensitivity& r) {
  using Json = nlohmann::ordered_json;
  const auto by_output = [&](const std::vector<double>& numbers) {
    Json out = Json::object();
    for (std::size_t i = 0; i < r.outputs.size(); ++i)
      for (std::size_t k = 0; k < r.parameters.size(); ++k)
        out[r.outputs[i]][r.parameters[k]] = numbers[i * r.parameters.size() + k];
    return out;
  };
  Json parameters = Json::object(), values = Json::object();
  for (std::size_t k = 0; k < r.parameters.size(); ++k) parameters[r.parameters[k]] = r.parameter_values[k];
  for (std::size_t i = 0; i < r.outputs.size(); ++i) values[r.outputs[i]] = r.values[i];
  Json json = {{"liedyn", version()},
               {"method", name_of(r.method)},
               {"integrator", r.integrator},
               {"formulation", r.formulation},
               {"steps", r.steps},
               {"seconds", r.seconds},
               {"parameters", parameters},
               {"values", values},
               {"derivatives", by_output(r.derivatives)}};
  if (!r.notes.empty()) json["notes"] = r.notes;
  if (!r.differences.empty() && r.method != SensitivityMethod::Difference) {
    json["agrees"] = std::find(r.disagrees.begin(), r.disagrees.end(), true) == r.disagrees.end();
    json["differences"] = by_output(r.differences);
    for (std::size_t k = 0; k < r.parameters.size(); ++k)
      json["check"][r.parameters[k]] = {{"disagreement", r.disagreement[k]},
                                        {"uncertainty_of_differences", r.uncertainty[k]}};
    json["plain_seconds"] = r.plain_seconds;
  }
  return json.dump(2);
}

void write_sensitivity_csv(const Sensitivity& r, const std::string& file) {
  std::ofstream out(file);
  if (!out) throw InputError(file, "cannot be written");
  const std::vector<std::string> names = column_names(r.trajectory);
  for (std::size_t c = 0; c < names.size(); ++c) out << (c == 0 ? "" : ",") << names[c];
  for (const std::string& parameter : r.parameters)
    for (std::size_t c = 1; c < names.size(); ++c) out << fmt::format(",d({})/d({})", names[c], parameter);
  out << '\n';
  const std::size_t sensors = names.size() - 1, per_row = sensors * r.parameters.size();
  for (std::size_t row = 0; row < r.trajectory.rows(); ++row) {
    for (std::size_t c = 0; c < names.size(); ++c)
      out << (c == 0 ? "" : ",") << fmt::format("{}", r.trajectory.at(row, static_cast<int>(c)));
    for (std::size_t i = 0; i < per_row; ++i)
      out << ',' << fmt::format("{}", r.trajectory_derivatives[row * per_row + i]);
    out << '\n';
  }
  if (!out.flush()) throw InputError(file, "cannot be written");
}

}  // namespace liedyn

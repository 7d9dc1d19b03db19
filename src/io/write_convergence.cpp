#include "liedyn/io/write_convergence.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/version.h"
#include "liedyn/io/text_output.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

Json by_quantity(const Convergence& convergence, const std::vector<double>& values) {
  Json out = Json::object();
  for (std::size_t k = 0; k < values.size(); ++k) out[convergence.quantities[k]] = values[k];
  return out;
}

}  // namespace

std::string convergence_json(const Convergence& c) {
  Json cases = Json::array();
  for (const ConvergenceCase& one : c.cases) {
    Json rows = Json::array();
    for (const ConvergenceRow& row : one.rows) {
      Json doubtful = Json::array();
      for (std::size_t k = 0; k < row.doubtful.size(); ++k)
        if (row.doubtful[k]) doubtful.push_back(c.quantities[k]);
      rows.push_back({{"step", row.step},
                      {"steps", row.steps},
                      {"errors", by_quantity(c, row.errors)},
                      {"orders", by_quantity(c, row.orders)},
                      {"doubtful", doubtful},
                      {"newton_per_step", row.newton_per_step},
                      {"jacobians_per_step", row.jacobians_per_step},
                      {"cpu_seconds", row.cpu_seconds},
                      {"completed", row.completed},
                      {"failure", row.completed ? Json(nullptr) : Json(row.failure)}});
    }
    cases.push_back({{"integrator", one.integrator},
                     {"resolved", one.resolved},
                     {"formulation", one.formulation},
                     {"warnings", one.warnings},
                     {"fitted_orders", by_quantity(c, one.fitted)},
                     {"rows", rows}});
  }
  const Json json = {{"liedyn", version()},
                     {"model", c.model},
                     {"start", c.start},
                     {"end", c.end},
                     {"from", c.from},
                     {"norm", c.norm == ErrorNorm::End ? "end" : "max"},
                     {"quantities", c.quantities},
                     {"scales", by_quantity(c, c.scales)},
                     {"compared_times", c.samples},
                     {"reference", c.reference},
                     {"reference_difference", by_quantity(c, c.reference_difference)},
                     {"jobs", c.jobs},
                     {"cases", cases}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string convergence_csv(const Convergence& c) {
  std::string out = "integrator,formulation,step,steps";
  for (const std::string& quantity : c.quantities) out += fmt::format(",error_{0},order_{0}", quantity);
  out += ",newton_per_step,jacobians_per_step,cpu_seconds,completed,failure\n";
  for (const ConvergenceCase& one : c.cases)
    for (const ConvergenceRow& row : one.rows) {
      out += fmt::format("{},{},{},{}", csv_cell(one.integrator), csv_cell(one.formulation), row.step,
                         row.steps);
      for (std::size_t k = 0; k < c.quantities.size(); ++k)
        out += fmt::format(",{},{}", csv_cell(row.errors[k]), csv_cell(row.orders[k]));
      out += fmt::format(",{},{},{},{},{}\n", csv_cell(row.newton_per_step), csv_cell(row.jacobians_per_step),
                         csv_cell(row.cpu_seconds), row.completed ? 1 : 0, csv_cell(row.failure));
    }
  return out;
}

void check_convergence_output(const std::string& prefix) {
  for (const char* extension : {".csv", ".json"}) check_writable(prefix + extension);
}

void write_convergence(const Convergence& convergence, const std::string& prefix) {
  write_text(prefix + ".csv", convergence_csv(convergence));
  write_text(prefix + ".json", convergence_json(convergence) + "\n");
}

}  // namespace liedyn

#include "liedyn/io/write_linear_analysis.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/version.h"
#include "liedyn/io/text_output.h"

namespace liedyn {

std::string linear_analysis_json(const std::vector<LinearAnalysis>& analyses) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  // JSON has no infinity.
  const auto finite = [](double x) -> Json { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  for (const LinearAnalysis& a : analyses) {
    Json rows = Json::array();
    for (const LinearAnalysisRow& row : a.rows)
      rows.push_back({{"h_over_period", row.h_over_period},
                      {"spectral_radius", row.spectral_radius},
                      {"amplitude_decay", row.amplitude_decay},
                      {"period_elongation", row.period_elongation}});
    all.push_back({{"integrator", a.integrator},
                   {"order", a.order},
                   {"order_defects", a.order_defects},
                   {"solutions_per_step", a.solutions_per_step},
                   {"explicit", a.is_explicit},
                   {"radius_at_infinity", finite(a.radius_at_infinity)},
                   {"stable_to_real", finite(-a.real_limit)},
                   {"stable_to_imaginary", finite(a.imaginary_limit)},
                   {"rows", rows}});
    if (!a.region.radius.empty())
      all.back()["stability_region"] = {
          {"real", a.region.real}, {"imaginary", a.region.imaginary}, {"spectral_radius", a.region.radius}};
  }
  const Json json = {{"liedyn", version()}, {"linear_analyses", all}};
  return json.dump(2);
}

std::string linear_analysis_csv(const std::vector<LinearAnalysis>& analyses) {
  std::string out =
      "integrator,solutions_per_step,h_over_period,spectral_radius,amplitude_decay,period_elongation\n";
  for (const LinearAnalysis& a : analyses)
    for (const LinearAnalysisRow& row : a.rows)
      out += fmt::format("{},{},{},{},{},{}\n", csv_cell(a.integrator), a.solutions_per_step,
                         row.h_over_period, row.spectral_radius, row.amplitude_decay, row.period_elongation);
  return out;
}

void write_linear_analysis(const std::vector<LinearAnalysis>& analyses, const std::string& prefix) {
  write_text(prefix + ".csv", linear_analysis_csv(analyses));
  write_text(prefix + ".json", linear_analysis_json(analyses) + "\n");
}

}  // namespace liedyn

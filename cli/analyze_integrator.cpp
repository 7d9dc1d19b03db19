#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/linear_analysis.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/text_output.h"
#include "liedyn/io/write_linear_analysis.h"
#include "python_program.h"

namespace liedyn::cli {
namespace {

constexpr int kRegionPoints = 121;

struct AnalyzeArguments {
  std::vector<std::string> integrators;
  std::string range = "0.01:10:25", out;
  bool json = false, no_plot = false;
};

std::vector<double> range_of(const std::string& text) {
  double values[3] = {};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool good = true;
  for (int i = 0; i < 3 && good; ++i) {
    const auto [next, error] = std::from_chars(at, end, values[i]);
    good = error == std::errc() && (i < 2 ? next != end && *next == ':' : next == end);
    at = next + 1;
  }
  const auto [first, last, count] = values;
  if (!good || !(first >= 1e-3 && last > first && last <= 1e6) || !(count >= 2 && count <= 10000) ||
      count != std::floor(count))
    throw InputError("--range",
                     fmt::format("expected FROM:TO:COUNT with 0.001 <= FROM < TO <= 1e6 and a whole "
                                 "number from 2 to 10000, got '{}'",
                                 excerpt(text)));
  return geometric_range(first, last, static_cast<int>(count));
}

void print(const LinearAnalysis& a) {
  fmt::print("{}\n  order {}; {} {} per step", a.integrator, a.order, a.solutions_per_step,
             (a.is_explicit ? "evaluation" : "solution") + std::string(a.solutions_per_step == 1 ? "" : "s"));
  if (!a.is_explicit) fmt::print("; spectral radius at infinity {:.6g}", a.radius_at_infinity);
  const auto limit = [](double x) { return std::isfinite(x) ? fmt::format("{:.4g}", x) : "infinity"; };
  fmt::print("\n  stable on y' = lambda y for lambda h from -{} to 0 and up to {} i\n", limit(a.real_limit),
             limit(a.imaginary_limit));
  fmt::print("  largest residual of the conditions of order 1 ... {}: {:.2g}\n", a.order_defects.size(),
             fmt::join(a.order_defects, ", "));
  fmt::print("  {:>11}  {:>15}  {:>17}  {:>19}\n", "h/T", "spectral radius", "amplitude decay %",
             "period elongation %");
  for (const LinearAnalysisRow& row : a.rows)
    fmt::print("  {:>11.5g}  {:>15.6f}  {:>17.6g}  {:>19.6g}\n", row.h_over_period, row.spectral_radius,
               100 * row.amplitude_decay, 100 * row.period_elongation);
  fmt::print("\n");
}

int analyze_command(const AnalyzeArguments& arguments) {
  if (!arguments.out.empty())
    for (const char* extension : {".csv", ".json"}) check_writable(arguments.out + extension);
  const std::vector<double> range = range_of(arguments.range);
  std::vector<LinearAnalysis> analyses;
  for (const std::string& integrator : arguments.integrators)
    analyses.push_back(analyze_integrator(integrator, range, arguments.out.empty() ? 0 : kRegionPoints));
  bool plotted = false;
  if (!arguments.out.empty()) {
    write_linear_analysis(analyses, arguments.out);
    if (!arguments.no_plot) plotted = plot_study(arguments.out, {});
  }
  if (arguments.json) {
    fmt::print("{}\n", linear_analysis_json(analyses));
    return kDone;
  }
  for (const LinearAnalysis& a : analyses) print(a);
  if (!arguments.out.empty())
    fmt::print("\nThe figures are in {}.csv and .json{}\n", arguments.out,
               plotted ? ", the plot in .png" : "");
  return kDone;
}

}  // namespace

void add_analyze_integrator(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "analyze-integrator", "Damping, dispersion, spectral radius and order conditions of integrators");
  const auto a = std::make_shared<AnalyzeArguments>();
  command.add_option("NAME", a->integrators, "Integrators with their options")
      ->type_name("NAME[,KEY=VALUE...]")
      ->required();
  command
      .add_option("--range", a->range,
                  "Steps as fractions of the oscillator's period T, in geometric progression")
      ->type_name("FROM:TO:COUNT")
      ->capture_default_str();
  command
      .add_option("--out", a->out, "Write PREFIX.csv, PREFIX.json and, with matplotlib, the plot PREFIX.png")
      ->type_name("PREFIX");
  command.add_flag("--no-plot", a->no_plot, "Do not write a plot");
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "On x'' + omega^2 x = 0, T = 2 pi/omega, with steps h. Amplitude decay is the numerical damping ratio, "
      "period\n"
      "elongation the relative error of the period. Exit code 0: done; 2: the input is wrong.");
  command.callback([a, &exit_code] { exit_code = analyze_command(*a); });
}

}  // namespace liedyn::cli

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "liedyn/analyses/advice.h"
#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/io/json.h"
#include "liedyn/io/study_file.h"
#include "liedyn/io/study_reader.h"
#include "liedyn/io/sweep_file.h"
#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/system/tree_state.h"

namespace liedyn::cli {
namespace {

// "2 rigid, 1 point"
std::string count_kinds(const Description& description, Section section) {
  std::vector<std::string> parts;
  for (const Kind& kind : kinds(section)) {
    long count = 0;
    for (const Entry& entry : description.entries(section)) count += entry.kind == &kind ? 1 : 0;
    if (count > 0) parts.push_back(fmt::format("{} {}", count, kind.type));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

// "628 rad/s, mostly of 'arm': 0.63 rad in a step of 0.001 s"
std::string text_of(const StepAdvice& a) {
  constexpr double kResolved = 1;
  const bool oscillates = a.fastest.s.imag() > 0.1 * std::abs(a.fastest.s);
  std::string out = fmt::format("|s| = {:.4g} {}, mostly of '{}'", std::abs(a.fastest.s),
                                oscillates ? "rad/s" : "1/s", a.fastest.mostly);
  if (a.adaptive) {
    out += "; the step size is adaptive";
    if (a.is_explicit) out += fmt::format(", stable up to about {:.2g} s", a.longest);
    return out;
  }
  out += fmt::format("; h |s| = {:.3g} with steps of {:.3g} s: ", a.angle, a.step);
  if (a.is_explicit)
    out += fmt::format("{}, this explicit method is stable up to {:.2g} s",
                       a.warning.empty() ? "stable" : "unstable", a.longest);
  else
    out +=
        a.angle <= kResolved
            ? "resolved"
            : fmt::format("not resolved, the implicit method multiplies it by {:.2g} in each step", a.factor);
  return out;
}

// Of teeth in mesh: the coordinate of the first joint over that of the second.
struct GearRatio {
  std::string mesh, first, second, unit;
  double ratio;
};
std::vector<GearRatio> gear_ratios(const System& system) {
  const Model& model = system.model();
  Constants constants;
  derive_constants(model, system.params().values().data(), constants);
  std::vector<GearRatio> out;
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const auto* batch = dynamic_cast<const BatchOf<GearMesh>*>(model.batches[b].get());
    for (int e = 0; batch != nullptr && e < batch->size(); ++e) {
      const Entry* joints[2];
      for (int i = 0; i < 2; ++i) {
        const auto [joint_batch, joint_element] = model.named_joint(static_cast<int>(b), e, i);
        joints[i] = &model.entry_of(joint_batch, joint_element);
      }
      const bool turn[2] = {joints[0]->kind->coordinates.angle, joints[1]->kind->coordinates.angle};
      out.push_back({model.entry_of(static_cast<int>(b), e).name, joints[0]->name, joints[1]->name,
                     turn[0] == turn[1] ? ""
                     : turn[0]          ? " rad/m"
                                        : " m/rad",
                     gear_ratio(*joints[0]->kind, *joints[1]->kind,
                                constants.data.data() + batch->first_constant + e * GearMesh::constants)});
    }
  }
  return out;
}

void print_text(const System& system, const Inspection& i, const std::optional<StepAdvice>& step) {
  const Model& model = system.model();
  const Description& description = model.description();
  fmt::print("{}{}\n", description.name,
             description.file.empty() ? "" : fmt::format(" ({})", description.file));
  for (Section section : kSections)
    fmt::print("  {:<22} {}\n", section_name(section), count_kinds(description, section));
  fmt::print("  {:<22} {}: {} coordinates, {} velocities, {} constraints\n", "formulation",
             model.formulation(), i.coordinates, i.velocities, i.constraints);
  fmt::print(
      "  {:<22} {}{}\n", "degrees of freedom", i.degrees_of_freedom,
      i.states == 0 ? "" : fmt::format(", and {} first-order state{}", i.states, i.states == 1 ? "" : "s"));
  fmt::print("  {:<22} {}\n", "redundant constraints",
             i.redundant.empty() ? "none" : fmt::format("{}", fmt::join(i.redundant, ", ")));
  fmt::print("  {:<22} positions {:.3g}, velocities {:.3g}\n", "initial residuals", i.residual_position,
             i.residual_velocity);
  for (const GearRatio& g : gear_ratios(system))
    fmt::print("  {:<22} {}: {:.6g}{}, '{}' over '{}'\n", "gear ratio", g.mesh, g.ratio, g.unit, g.first,
               g.second);
  if (step) fmt::print("  {:<22} {}\n", "fastest motion", text_of(*step));
  if (i.findings.empty())
    fmt::print("The model can be simulated{}.\n", i.is_locked ? ", but no body can move" : "");
}

void print_json(const System& system, const Inspection& i, const std::optional<StepAdvice>& step) {
  nlohmann::ordered_json json = {
      {"model", system.model().description().name},
      {"formulation", system.model().formulation()},
      {"coordinates", i.coordinates},
      {"velocities", i.velocities},
      {"constraints", i.constraints},
      {"degrees_of_freedom", i.degrees_of_freedom},
      {"states", i.states},
      {"redundant_constraints", i.redundant},
      {"initial_residual", {{"position", i.residual_position}, {"velocity", i.residual_velocity}}},
      {"warnings", i.warnings},
      {"valid", i.findings.empty()}};
  for (const GearRatio& g : gear_ratios(system)) json["gear_ratios"][g.mesh] = g.ratio;
  if (step) {
    json["fastest_motion"] = {{"s", {step->fastest.s.real(), step->fastest.s.imag()}},
                              {"mostly_of", step->fastest.mostly},
                              {"explicit", step->is_explicit}};
    if (!step->adaptive) {
      json["fastest_motion"]["step"] = step->step;
      json["fastest_motion"]["factor_per_step"] = step->factor;
    }
    if (step->is_explicit) json["fastest_motion"]["longest_stable_step"] = step->longest;
  }
  fmt::print("{}\n", json.dump(2));
}

struct CheckArguments {
  ModelArguments model;
  std::optional<std::string> initial, integrator;
  std::optional<double> step;
  bool json = false;
};

// The step against the fastest motion at the start; none where that is not known.
std::optional<StepAdvice> advise(const System& given, const SimulateOptions& options) {
  const System system = in_absolute_coordinates(given);
  try {
    Work work(system);
    const State state = consistent_state(system, options.start, initial_policy(options.initial), work);
    if (const std::optional<FastestMotion> fastest = fastest_motion(system, state))
      return step_advice(system, *fastest, options.integrator, options.step, options.end - options.start);
  } catch (const NumericalError&) {  // what has no linear equations there has no eigenvalues
  }
  return {};
}

// "normal: mean 15, deviation 0.5, from 13 to 17"
std::string text_of(const SweepVariable& v) {
  using Kind = Distribution::Kind;
  const Distribution& d = v.distribution;
  if (v.source == SweepVariable::Source::Expression) return v.expression;
  if (v.source == SweepVariable::Source::Values)
    return fmt::format("{} value{} from {:.6g} to {:.6g}", v.values.size(), v.values.size() == 1 ? "" : "s",
                       v.values.front(), v.values.back());
  const std::string name(kDistributions[static_cast<std::size_t>(d.kind)]);
  std::string out = name;
  if (d.kind == Kind::Discrete) return fmt::format("{}, {} values", name, d.values.size());
  if (d.kind == Kind::Normal) out += fmt::format(", mean {:.6g}, deviation {:.6g}", d.center, d.deviation);
  if (d.kind == Kind::LogNormal)
    out += fmt::format(", median {:.6g}, deviation of the logarithm {:.6g}", d.center, d.deviation);
  if (std::isfinite(d.lower)) out += fmt::format(", from {:.6g}", d.lower);
  if (std::isfinite(d.upper)) out += fmt::format(", to {:.6g}", d.upper);
  return out;
}

int check_sweep(const std::string& study, bool json) {
  const SweepFile file = read_sweep(study);
  const SweepPlan& plan = file.plan;
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json::parse(file.layout).dump(2));
    return kDone;
  }
  fmt::print("{} ({})\n", file.name, study);
  fmt::print("  {:<22} {}: {} point{}, {} parameter{}\n", "sampling",
             kSamplings[static_cast<std::size_t>(plan.sampling.method())], plan.sampling.size(),
             plan.sampling.size() == 1 ? "" : "s", plan.sampling.dimensions(),
             plan.sampling.dimensions() == 1 ? "" : "s");
  for (const SweepVariable& v : plan.variables) fmt::print("  {:<22} {}\n", v.name, text_of(v));
  for (const SweepVariant& v : plan.variants)
    fmt::print("  {:<22} {}, {}, steps of {:.3g} s from {:.3g} to {:.3g} s{}\n", v.model, v.formulation,
               v.integrator, v.options.step, v.options.start, v.options.end,
               v.reread ? ", read again for each case" : "");
  for (const Reduction& r : plan.variants.front().outputs)
    fmt::print("  {:<22} {} number{}{}{}\n", r.name, r.width(), r.width() == 1 ? "" : "s",
               r.unit.empty() ? "" : ", ", r.unit);
  fmt::print("The study has {} case{}.\n", plan.cases(), plan.cases() == 1 ? "" : "s");
  return kDone;
}

std::string range_text(double lower, double upper) {
  if (lower == upper) return fmt::format("{:.6g}", lower);
  if (!std::isfinite(lower) && !std::isfinite(upper)) return "without bounds";
  if (!std::isfinite(upper)) return fmt::format("at least {:.6g}", lower);
  if (!std::isfinite(lower)) return fmt::format("at most {:.6g}", upper);
  return fmt::format("from {:.6g} to {:.6g}", lower, upper);
}

int check_search(const CheckArguments& arguments) {
  const StudyFile file = read_study(arguments.model.model);
  check(file);
  const Study& study = file.study;
  if (arguments.json) {
    fmt::print("{}\n", nlohmann::ordered_json::parse(file.text, nullptr, true, true).dump(2));
    return kDone;
  }
  fmt::print("{} ({})\n", file.name, arguments.model.model);
  const auto row = [](const std::string& name, const std::string& text) {
    fmt::print("  {:<22} {}\n", name, text);
  };
  const SimulateOptions& s = study.simulation;
  row(file.system.model().description().name,
      fmt::format("{}, {}, steps of {:.3g} s from {:.3g} to {:.3g} s", file.system.model().formulation(),
                  s.integrator, s.step, s.start, s.end));
  for (const Study::Variable& v : study.variables)
    row(v.name, fmt::format("{:.6g}, {}: {}", v.initial, range_text(v.lower, v.upper),
                            fmt::join(v.parameters, ", ")));
  for (const Study::NamedOutput& o : study.outputs) row(o.name, o.output);
  for (const Study::Data& d : study.data) row(d.output, fmt::format("{} measured values", d.values.size()));
  for (const Study::Constraint& c : study.constraints)
    row(c.name, c.expression + " " + range_text(c.lower, c.upper));
  fmt::print("The study minimises {}.\n", study.minimize.empty() ? "misfit" : study.minimize);
  return kDone;
}

int check(const CheckArguments& arguments) {
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(arguments.model.model, ignored);
  const std::string text = is_file ? read_text_file(arguments.model.model) : "";
  const std::string_view command = study_command(text);
  if (command == "sweep") return check_sweep(arguments.model.model, arguments.json);
  if (command == "optimize") return check_search(arguments);
  const System system = arguments.model.load();
  SimulateOptions options = default_options(system.model().description());
  options.initial = arguments.initial.value_or(options.initial);
  options.integrator = arguments.integrator.value_or(options.integrator);
  options.step = arguments.step.value_or(options.step);
  check_integrator(options.integrator);
  check_times(options);
  Inspection inspection = inspect(system, options.start, initial_policy(options.initial));
  std::optional<StepAdvice> step;
  if (inspection.findings.empty()) step = advise(system, options);
  if (step && !step->warning.empty()) inspection.warnings.push_back(step->warning);
  if (arguments.json)
    print_json(system, inspection, step);
  else
    print_text(system, inspection, step);
  for (const std::string& warning : inspection.warnings) fmt::print(stderr, "warning: {}\n", warning);
  print_findings(inspection.findings);
  return inspection.findings.empty() ? kDone : kWrongInput;
}

}  // namespace

void add_check(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand("check",
                                              "Validate a model (or a study) and explain it: "
                                              "degrees of freedom, redundant constraints, initial residuals, "
                                              "implausible units, the step against the fastest motion");
  const auto arguments = std::make_shared<CheckArguments>();
  arguments->model.add_to(command);
  command
      .add_option("--initial", arguments->initial,
                  "check: values that violate a constraint are an error; project: they are projected onto "
                  "the constraints")
      ->type_name("check|project");
  command
      .add_option(
          "--step", arguments->step,
          fmt::format("Step size to compare with the fastest motion, for models of up to {} velocities; the "
                      "model's own if not given [s]",
                      kLargestDense))
      ->type_name("H");
  command.add_option("--integrator", arguments->integrator, "Integrator for this comparison, as for run")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = check(*arguments); });
}

}  // namespace liedyn::cli

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyses/inspect.h"
#include "analyses/simulate.h"
#include "commands.h"

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

void print_text(const System& system, const Inspection& i) {
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
  if (i.findings.empty()) fmt::print("The model can be simulated.\n");
}

void print_json(const System& system, const Inspection& i) {
  const nlohmann::ordered_json json = {
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
  fmt::print("{}\n", json.dump(2));
}

int check(const ModelArguments& arguments, const std::optional<std::string>& initial, bool json) {
  const System system = arguments.load();
  const SimulationSettings& settings = system.model().description().simulation;
  const Inspection inspection =
      inspect(system, settings.start, initial_policy(initial.value_or(settings.initial)));
  if (json)
    print_json(system, inspection);
  else
    print_text(system, inspection);
  for (const std::string& warning : inspection.warnings) fmt::print(stderr, "warning: {}\n", warning);
  print_findings(inspection.findings);
  return inspection.findings.empty() ? kDone : kWrongInput;
}

}  // namespace

void add_check(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "check",
      "Validate a model and explain it: degrees of freedom, redundant constraints, initial residuals");
  const auto arguments = std::make_shared<ModelArguments>();
  const auto initial = std::make_shared<std::optional<std::string>>();
  const auto json = std::make_shared<bool>(false);
  arguments->add_to(command);
  command
      .add_option("--initial", *initial,
                  "check: values that violate a constraint are an error; project: they may move")
      ->type_name("check|project");
  command.add_flag("--json", *json, "Print one JSON object, and nothing else on standard output");
  command.callback([=, &exit_code] { exit_code = check(*arguments, *initial, *json); });
}

}  // namespace liedyn::cli

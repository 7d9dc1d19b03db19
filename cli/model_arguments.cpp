#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/load.h"
#include "liedyn/io/read_with_warnings.h"
#include "liedyn/model/record_all.h"
#include "liedyn/system/tree_state.h"

namespace liedyn::cli {

void ModelArguments::add_model_to(CLI::App& command) {
  command
      .add_option("MODEL", model,
                  "A model file (JSON), or the name of a shipped model (see liedyn list models)")
      ->required();
  command
      .add_option("--set", set,
                  "Set a parameter of the model, or an argument of a generated model; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);  // one per --set: what follows is something else
}

void ModelArguments::add_to(CLI::App& command) {
  add_model_to(command);
  command
      .add_option("--formulation", formulation,
                  fmt::format("Coordinates of rigid bodies, instead of the model's own: {}",
                              fmt::join(formulation_choices(), ", ")))
      ->type_name("NAME");
}

void ModelArguments::add_record_to(CLI::App& command) {
  command
      .add_option("--record", record,
                  "all: record the motion of every body and joint, reactions, states, efforts and powers, "
                  "in addition to the model's sensors")
      ->type_name("all")
      ->check(CLI::IsMember({"all"}));
}

System ModelArguments::load() const { return std::move(load_in({formulation}).front()); }

System ModelArguments::load_absolute() const { return in_absolute_coordinates(load()); }

std::vector<System> ModelArguments::load_in(const std::vector<std::string>& names) const {
  std::vector<Assignment> assignments;
  for (const std::string& text : set) assignments.push_back(parse_assignment(text));
  std::vector<std::string> warnings;
  Description read = read_model(model, assignments, warnings);
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  initial_ = take_initial(assignments, read);
  if (!initial_.empty() && !takes_initial)
    throw InputError(
        initial_.front().path, "this command uses the configuration of the model file only",
        "run, static, assemble, modes, linearize, kinematics and sensitivity support initial.JOINT");
  if (record == "all") record_all(read);
  return make_systems(std::make_shared<const Description>(std::move(read)), assignments,
                      names.empty() ? std::vector<std::string>{""} : names);
}

void ModelArguments::add_from_to(CLI::App& command) {
  takes_initial = true;
  command
      .add_option("--from", from_,
                  "Start from this configuration instead of the model's own: a .json file that static or "
                  "assemble wrote, or coordinates of joints")
      ->type_name("FILE|JOINT=VALUE,...");
}

std::shared_ptr<const Configuration> ModelArguments::configuration(const System& system, double time) const {
  const StartOptions options{initial_, time};
  if (from_.empty() && initial_.empty()) return nullptr;
  std::error_code ignored;
  if (from_.empty())
    return std::make_shared<const Configuration>(read_configuration_text(kNoChanges, "", system, options));
  if (from_.find('=') == std::string::npos || std::filesystem::exists(from_, ignored))
    return std::make_shared<const Configuration>(read_configuration(from_, system, options));
  // hinge=0.5,slider=0.1 is short for {"joints": {"hinge": 0.5, "slider": 0.1}}
  std::string text;
  for (std::size_t start = 0; start <= from_.size();) {
    const std::size_t end = std::min(from_.find(',', start), from_.size());
    const Assignment a = parse_assignment(from_.substr(start, end - start), "--from");
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", a.path, a.value);
    start = end + 1;
  }
  return std::make_shared<const Configuration>(
      read_configuration_text(fmt::format("{{\"joints\": {{{}}}}}", text), "--from", system, options));
}

std::string how_to_start(const std::string& command, const System& system, const State& state) {
  const std::string refusal = why_no_start(system, state);
  return refusal.empty() ? command + " starts there" : fmt::format("a run cannot start there: {}", refusal);
}

}  // namespace liedyn::cli

#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/load.h"
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
                  "Set a number of the model, or an argument of a generated model; may be repeated")
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
                  "besides the "
                  "model's sensors")
      ->type_name("all")
      ->check(CLI::IsMember({"all"}));
}

System ModelArguments::load() const { return std::move(load_in({formulation}).front()); }

System ModelArguments::load_absolute() const { return in_absolute_coordinates(load()); }

std::vector<System> ModelArguments::load_in(const std::vector<std::string>& names) const {
  std::vector<Assignment> assignments;
  for (const std::string& text : set) assignments.push_back(parse_assignment(text));
  Description read = read_model(model, assignments);
  if (record == "all") record_all(read);
  return make_systems(std::make_shared<const Description>(std::move(read)), assignments,
                      names.empty() ? std::vector<std::string>{""} : names);
}

}  // namespace liedyn::cli

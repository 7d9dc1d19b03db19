#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "commands.h"
#include "describe_kind.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/json.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/parameter_paths.h"

namespace liedyn::cli {
namespace {

void list_models() {
  for (const std::string& name : model_names()) {
    const std::string file = find_model_file(name);
    const std::string text = read_text_file(file);
    const JsonDocument document = JsonDocument::parse(text, file);
    const JsonValue summary = document.root().find("description");
    fmt::print("{:<20} {}\n", name, summary && summary.is(JsonType::String) ? summary.text() : "");
  }
}

void list_integrators() {
  for (const ListedIntegrator& listed : integrators()) fmt::print("{}", describe(listed));
}

void list_shapes() {
  fmt::print("shapes of bodies\n");
  for (const Kind& kind : shape_kinds()) fmt::print("{}", describe(kind, ""));
}

// Those of the types or parts of model files given ("joints"); all if there are none.
void list_elements(const std::vector<std::string>& types) {
  std::vector<std::string> known;
  for (Section section : kSections) {
    known.emplace_back(section_name(section));
    for (const Kind& kind : kinds(section)) known.push_back(kind.type);
  }
  for (const std::string& type : types)
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw InputError("", fmt::format("there is no element of the type '{}'", excerpt(type)),
                       did_you_mean(type, known));
  const auto wanted = [&](std::string_view name) {
    return std::find(types.begin(), types.end(), name) != types.end();
  };
  for (Section section : kSections) {
    bool first = true;
    for (const Kind& kind : kinds(section)) {
      if (!types.empty() && !wanted(kind.type) && !wanted(section_name(section))) continue;
      if (std::exchange(first, false)) fmt::print("{}\n", section_name(section));
      fmt::print("{}", describe(kind, unit_of_kind(section, kind)));
    }
  }
}

// "angle = joint_angle of hinge [rad]"
void list_sensors(const ModelArguments& arguments) {
  const System system = arguments.load();
  const Model& model = system.model();
  const Description& d = model.description();
  for (std::size_t i = 0; i < model.sensors.size(); ++i) {
    const Sensor& sensor = model.sensors[i];
    const Entry& entry = d.entries(Section::Sensors)[i];
    const int of = entry.kind->field("of");
    const std::int32_t word = of >= 0 ? entry.fields[static_cast<std::size_t>(of)].word : -1;
    const std::string& unit = model.unit_of(sensor);
    fmt::print("{}{} = {}{}{}\n", sensor.name,
               sensor.components > 1 ? fmt::format("[0..{}]", sensor.components - 1) : "", entry.kind->type,
               word >= 0 ? " of " + d.words[static_cast<std::size_t>(word)] : "",
               unit.empty() ? "" : fmt::format(" [{}]", unit));
  }
}

void list_parameters(const ModelArguments& arguments) {
  const System system = arguments.load();
  const Params& params = system.params();
  for (int i = 0; i < params.size(); ++i) {
    if (is_unused(params.description(), i)) continue;
    const std::string_view unit = parameter_unit(params.description(), i);
    fmt::print("{} = {}{}{}\n", params.path(i), params.get(i), unit.empty() ? "" : " ", unit);
  }
  // Whole numbers shape the model: they are set while it is made, and no result has derivatives by them.
  const Description& description = system.model().description();
  for (const Section section : kSections)
    for (const Entry& entry : description.entries(section))
      for (std::size_t f = 0; f < entry.fields.size(); ++f)
        if (entry.kind->fields[f].type == FieldType::Integer && entry.fields[f].has_integer())
          fmt::print("{}.{}.{} = {}\n", section_name(section), entry.name, entry.kind->fields[f].name,
                     entry.fields[f].integer());
}

}  // namespace

void add_list(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("list", "List elements, integrators, models, sensors or parameters");
  command.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, auto list) {
    command.add_subcommand(name, summary)->callback([list, &exit_code] {
      list();
      exit_code = kDone;
    });
  };
  add("models", "Shipped models", &list_models);
  add("integrators", "Integrators with their options", &list_integrators);
  add("shapes", "Shapes of bodies with their dimensions", &list_shapes);
  CLI::App& elements = *command.add_subcommand(
      "elements", "Bodies, joints, forces and sensors with their fields, units and defaults");
  const auto types = std::make_shared<std::vector<std::string>>();
  elements.add_option("TYPE", *types,
                      "Only these types, or those of these parts of model files (joints, forces, ...)");
  elements.callback([types, &exit_code] {
    list_elements(*types);
    exit_code = kDone;
  });

  CLI::App& sensors = *command.add_subcommand("sensors", "Every sensor of a model, with its unit");
  const auto sensor_arguments = std::make_shared<ModelArguments>();
  sensor_arguments->add_to(sensors);
  sensor_arguments->add_record_to(sensors);
  sensors.callback([sensor_arguments, &exit_code] {
    list_sensors(*sensor_arguments);
    exit_code = kDone;
  });

  CLI::App& parameters = *command.add_subcommand(
      "parameters", "Every parameter of a model that --set can change, with its value");
  const auto arguments = std::make_shared<ModelArguments>();
  arguments->add_to(parameters);
  parameters.callback([arguments, &exit_code] {
    list_parameters(*arguments);
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli

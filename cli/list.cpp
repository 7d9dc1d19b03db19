#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/json.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/number_paths.h"
#include "liedyn/model/sensors/list.h"

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

// "0.9, from 0 to 1" or "full, or modified"
std::string values_of(const IntegratorOption& option) {
  std::string text = option.fallback;
  for (const std::string& choice : option.choices)
    if (choice != option.fallback) text += ", or " + choice;
  if (option.least < option.most) text += fmt::format(", from {} to {}", option.least, option.most);
  return text;
}

void list_integrators() {
  for (const ListedIntegrator& listed : integrators()) {
    fmt::print("{}\n  {}\n  {}\n", listed.name, listed.summary, listed.source);
    for (const IntegratorOption& option : listed.options)
      fmt::print("    {:<14} {} ({})\n", option.name, option.summary, values_of(option));
  }
}

std::string type_name(const Field& field) {
  switch (field.type) {
    case FieldType::Number: return "number";
    case FieldType::Vector: return "3 numbers";
    case FieldType::PlaneVector: return "2 numbers";
    case FieldType::Points: return "2 points";
    case FieldType::Path: return "3 numbers or a list of points";
    case FieldType::Inertia: return "inertia";
    case FieldType::Rotation: return "rotation";
    case FieldType::Choice: return fmt::format("{}", fmt::join(field.choices, "|"));
    case FieldType::Choices: return fmt::format("list of {}", fmt::join(field.choices, "|"));
    case FieldType::Text: return field.holds_expression ? "expression or number" : "text";
    case FieldType::Body: return "body";
    case FieldType::Bodies: return "two bodies";
    case FieldType::Joint: return "joint";
    case FieldType::State: return "state";
    case FieldType::Beam: return "place on a beam";
    case FieldType::Force: return "force";
    case FieldType::Flexible: return "flexible body";
    case FieldType::Matrix6: return "6x6 matrix";
    case FieldType::Joints: return "two joints";
    case FieldType::Integer: return "whole number";
  }
  return {};
}

// "required", "default 0", "optional"
std::string presence(const Field& field) {
  if (field.required) return "required";
  if (field.type == FieldType::Choice && !field.choices.empty()) return "default " + field.choices[0];
  if (field.defaults.empty()) return "optional";
  return "default " + default_text(field);
}

// "[m] " of a sensor; of "effort" that depends on what it looks at.
std::string unit_of_kind(Section section, const Kind& kind) {
  if (section != Section::Sensors) return {};
  for (const ListedSensor& listed : sensor_kinds())
    if (listed.kind.type == kind.type && !listed.unit.empty()) return fmt::format("[{}] ", listed.unit);
  return {};
}

void list_kind(const Kind& kind, const std::string& unit) {
  fmt::print("  {:<22} {}{}\n", kind.type, unit, kind.summary);
  for (const Field& field : kind.fields) {
    const std::string own = field.unit.empty() ? "" : fmt::format(" [{}]", field.unit);
    fmt::print("    {:<20} {}{}, {}. {}\n", field.name, type_name(field), own, presence(field),
               full_summary(field));
  }
}

void list_shapes() {
  fmt::print("shapes of bodies\n");
  for (const Kind& kind : shape_kinds()) list_kind(kind, "");
}

// Those of the types given; all if there are none.
void list_elements(const std::vector<std::string>& types) {
  std::vector<std::string> known;
  for (Section section : kSections)
    for (const Kind& kind : kinds(section)) known.push_back(kind.type);
  for (const std::string& type : types)
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw InputError("", fmt::format("there is no element of the type '{}'", excerpt(type)),
                       did_you_mean(type, known));
  for (Section section : kSections) {
    bool first = true;
    for (const Kind& kind : kinds(section)) {
      if (!types.empty() && std::find(types.begin(), types.end(), kind.type) == types.end()) continue;
      if (std::exchange(first, false)) fmt::print("{}\n", section_name(section));
      list_kind(kind, unit_of_kind(section, kind));
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
    const std::string_view unit = number_unit(params.description(), i);
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
  CLI::App& command = *program.add_subcommand("list", "Show what there is to choose from");
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
  elements.add_option("TYPE", *types, "Only these types");
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

  CLI::App& parameters =
      *command.add_subcommand("parameters", "Every number of a model that --set can change, with its value");
  const auto arguments = std::make_shared<ModelArguments>();
  arguments->add_to(parameters);
  parameters.callback([arguments, &exit_code] {
    list_parameters(*arguments);
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli

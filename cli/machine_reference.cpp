#include "machine_reference.h"

#include <nlohmann/json.hpp>

#include "commands.h"
#include "describe_kind.h"
#include "embedded.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/version.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/json.h"
#include "liedyn/io/model_format.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/schema.h"
#include "liedyn/model/model.h"
#include "pages.h"

namespace liedyn::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Field& field) {
  Json out = {{"value", type_name(field)}, {"meaning", full_summary(field)}};
  if (!field.unit.empty()) out["unit"] = field.unit;
  if (field.required) out["required"] = true;
  if (const std::string fallback = default_text(field); !fallback.empty() && !field.required)
    out["default"] = fallback;
  if (!field.choices.empty()) out["choices"] = field.choices;
  if (field.range == Range::Positive) out["range"] = "> 0";
  if (field.range == Range::NonNegative) out["range"] = ">= 0";
  if (field.may_be_consistent) out["may_be_consistent"] = true;
  if (field.may_depend_on_time) out["may_depend_on_time"] = true;
  if (field.may_depend_on_signals) out["may_depend_on_sensors"] = true;
  if (field.body_axes != BodyAxes::None) out["may_be_in_body_axes"] = true;
  return out;
}

Json json_of(const std::vector<Field>& fields) {
  Json out = Json::object();
  for (const Field& field : fields) out[field.name] = json_of(field);
  return out;
}

Json json_of(const Kind& kind, const std::string& unit) {
  Json out = {{"meaning", kind.summary}};
  if (!unit.empty()) out["unit"] = unit;
  out["keys"] = json_of(kind.fields);
  return out;
}

Json elements() {
  Json out = Json::object();
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section))
      out[std::string(section_name(section))][kind.type] = json_of(kind, unit_of_kind(section, kind));
  return out;
}

Json shapes() {
  Json out = Json::object();
  for (const Kind& kind : shape_kinds()) out[kind.type] = json_of(kind, "");
  return out;
}

Json methods() {
  Json out = Json::object();
  for (const ListedIntegrator& listed : integrators()) {
    Json options = Json::object();
    for (const IntegratorOption& option : listed.options)
      options[option.name] = {{"meaning", option.summary}, {"values", values_of(option)}};
    out[listed.name] = {{"meaning", listed.summary}, {"source", listed.source}, {"options", options}};
  }
  return out;
}

Json commands(const CLI::App& program) {
  Json out = Json::object();
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    Json options = Json::object();
    for (const CLI::Option* option : command->get_options())
      options[option->get_name()] = {{"meaning", option->get_description()},
                                     {"value", option->get_type_name()}};
    out[command->get_name()] = {{"meaning", command->get_description()}, {"options", options}};
  }
  return out;
}

Json terms() {
  Json out = Json::object();
  for (const Term& term : glossary())
    for (const std::string& word : term.words) out[word] = term.meaning;
  return out;
}

Json errors() {
  Json out = Json::array();
  for (const ErrorFamily& family : error_families()) {
    Json messages = Json::array();
    for (const ErrorMessage& message : family.messages) {
      Json one = {{"message", message.text}};
      if (!message.hint.empty()) one["hint"] = message.hint;
      messages.push_back(std::move(one));
    }
    out.push_back({{"family", family.title},
                   {"cause", family.cause},
                   {"remedy", family.remedy},
                   {"messages", messages}});
  }
  return out;
}

// The commented templates of `liedyn new`, and those shipped models that are written out in their files.
Json models() {
  Json annotated = Json::object(), shipped = Json::object(), pages = Json::object();
  for (const EmbeddedText& one : embedded_texts()) {
    if (one.name.starts_with("cli/templates/")) annotated[std::string(one.name.substr(14))] = one.text;
    if (one.name == "docs/model_files.md") pages[std::string(one.name)] = one.text;
  }
  constexpr std::size_t kLarge = 20000;
  for (const std::string& name : model_names())
    if (std::string text = read_text_file(find_model_file(name)); text.size() < kLarge)
      shipped[name] = std::move(text);
  return {{"annotated", annotated}, {"shipped", shipped}, {"format", pages}};
}

}  // namespace

std::string machine_reference(const CLI::App& program) {
  Json keys = Json::object();
  for (const FormatKey& key : kModelKeys) keys[std::string(key.name)] = key.summary;
  const Json out = {
      {"liedyn", std::string(version())},
      {"about",
       "Liedyn simulates multibody systems that are described by JSON files. Write a file with the keys "
       "below, check it with `liedyn "
       "check FILE`, simulate it with `liedyn run FILE --json`. Units are SI, angles are in rad. Comments "
       "begin with //."},
      {"model_keys", keys},
      {"simulation", json_of(simulation_fields())},
      {"formulations", formulation_choices()},
      {"elements", elements()},
      {"shapes", shapes()},
      {"integrators", methods()},
      {"commands", commands(program)},
      {"exit_codes",
       {{"0", "success"},
        {"1", "liedyn doctor: a check failed"},
        {"2", "the input is wrong"},
        {"3", "the numerics failed; the output up to that time is complete"},
        {"130", "interrupted"}}},
      {"glossary", terms()},
      {"errors", errors()},
      {"models", models()},
      {"schema", Json::parse(model_schema())},
  };
  return out.dump(1);
}

}  // namespace liedyn::cli

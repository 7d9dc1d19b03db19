#include "liedyn/io/schema.h"

#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/model_format.h"
#include "liedyn/model/description.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNamePattern = "^[A-Za-z_][A-Za-z0-9_-]*$";
constexpr const char* kParameterPattern = "^[A-Za-z_][A-Za-z0-9_]*$";

Json reference(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

Json array_of(const Json& item, int count) {
  return {{"type", "array"}, {"items", item}, {"minItems", count}, {"maxItems", count}};
}

// A number, or a text with an expression that gives one, or a function of time.
Json number(Range range, const char* type = "number", bool with_time = false) {
  Json plain = {{"type", type}};
  if (range == Range::Positive) plain["exclusiveMinimum"] = 0;
  if (range == Range::NonNegative) plain["minimum"] = 0;
  Json any = {plain, {{"type", "string"}}};
  if (with_time) any.push_back(reference("function_of_time"));
  return {{"anyOf", any}};
}

Json object_of(const Json& properties, const Json& required) {
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

Json definitions() {
  const Json n = reference("number"), vector = reference("vector");
  const auto only = [](const Json& properties) {
    Json required = Json::array();
    for (const auto& [key, value] : properties.items()) required.push_back(key);
    return object_of(properties, required);
  };
  const auto in_bodies = [](const Json& each) {
    return Json{{"description", "Components in the axes of bodies, by their names."},
                {"type", "object"},
                {"additionalProperties", each},
                {"minProperties", 1},
                {"maxProperties", 2}};
  };
  const Json points = {{"type", "array"}, {"items", array_of(n, 2)}, {"minItems", 2}};
  const Json interpolation = {{"enum", {"linear", "pchip", "spline"}}};
  const Json numbers = {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}};
  const Json rows = {{"type", "array"}, {"items", numbers}, {"minItems", 2}};
  const Json file = {{"type", "string"}};
  const Json points_or_file = {{"anyOf", {points, file}}};
  const Json waypoints = {{"type", "array"}, {"items", n}, {"minItems", 2}};
  const auto by_coordinate = [](const Json& one) {
    return Json{{"anyOf", {one, {{"type", "object"}, {"additionalProperties", one}}}}};
  };
  const Json trajectory_keys = Json::array({"waypoints", "speed", "acceleration"});
  return {
      {"number",
       {{"description", "A number, or an expression of parameters such as \"2*pi*speed\"."},
        {"anyOf", {{{"type", "number"}}, {{"type", "string"}}}}}},
      {"vector", array_of(n, 3)},
      {"plane_vector", array_of(n, 2)},
      {"function_of_time",
       {{"description", "A function of the time t; expressions of t may be written as a string, too."},
        {"anyOf",
         {only({{"polynomial", {{"type", "array"}, {"items", n}, {"minItems", 1}}}}),
          only({{"harmonic", object_of({{"amplitude", n}, {"frequency", n}, {"phase", n}, {"offset", n}},
                                       {"amplitude", "frequency"})}}),
          only({{"step", object_of({{"start", n}, {"end", n}, {"from", n}, {"to", n}}, {"start", "end"})}}),
          object_of({{"table", points_or_file}, {"interpolation", interpolation}}, Json::array({"table"})),
          only({{"trajectory",
                 object_of({{"waypoints", waypoints}, {"speed", n}, {"acceleration", n}, {"start", n}},
                           trajectory_keys)}})}}}},
      {"table",
       {{"description",
         "A function through points, of a file, of two variables, or trajectories through waypoints."},
        {"anyOf",
         {object_of({{"points", points}, {"interpolation", interpolation}}, Json::array({"points"})),
          object_of({{"file", file}, {"interpolation", interpolation}}, Json::array({"file"})),
          object_of({{"waypoints", by_coordinate(waypoints)},
                     {"speed", by_coordinate(n)},
                     {"acceleration", by_coordinate(n)},
                     {"start", n}},
                    trajectory_keys),
          only({{"x", numbers}, {"y", numbers}, {"values", rows}})}}}},
      {"number_in_time",
       {{"anyOf", {{{"type", "number"}}, {{"type", "string"}}, reference("function_of_time")}}}},
      {"vector_in_time", array_of(reference("number_in_time"), 3)},
      {"vector_in_bodies", in_bodies(vector)},
      {"plane_vector_in_bodies", in_bodies(reference("plane_vector"))},
      {"frames",
       {{"description", "A named frame of a body, \"arm.tool\", or one of each body."},
        {"anyOf",
         {{{"type", "string"}, {"pattern", "\\."}}, array_of({{"type", "string"}, {"pattern", "\\."}}, 2)}}}},
      {"points", array_of(vector, 2)},
      {"path",
       {{"anyOf",
         {vector, {{"type", "array"}, {"items", vector}, {"minItems", 1}, {"maxItems", kMostPathPoints}}}}}},
      {"inertia", {{"anyOf", {array_of(n, 3), array_of(n, 6), array_of(vector, 3)}}}},
      {"rotation",
       {{"anyOf",
         {only({{"rotation_vector", vector}}), only({{"cardan", vector}}),
          only({{"quaternion", array_of(n, 4)}}), only({{"axis", vector}, {"angle", n}}),
          only({{"matrix", array_of(vector, 3)}})}}}},
      {"matrix6", {{"anyOf", {array_of(n, 6), array_of(array_of(n, 6), 6)}}}},
      {"body", {{"description", "Name of a body, or \"ground\"."}, {"type", "string"}}},
  };
}

Json type_of(const Field& field) {
  switch (field.type) {
    case FieldType::Number: return number(field.range, "number", field.may_depend_on_time);
    case FieldType::Integer: return number(field.range, "integer");
    case FieldType::Vector: return reference(field.may_depend_on_time ? "vector_in_time" : "vector");
    case FieldType::PlaneVector: return reference("plane_vector");
    case FieldType::Points: return reference("points");
    case FieldType::Path: return reference("path");
    case FieldType::Inertia: return reference("inertia");
    case FieldType::Rotation: return reference("rotation");
    case FieldType::Matrix6: return reference("matrix6");
    case FieldType::Choice: return {{"enum", field.choices}};
    case FieldType::Choices:
      return {
          {"type", "array"}, {"items", {{"enum", field.choices}}}, {"minItems", 1}, {"uniqueItems", true}};
    case FieldType::Text:
      if (field.holds_expression) return reference("number");
      return {{"type", "string"}};
    case FieldType::Body: return reference("body");
    case FieldType::Bodies: return array_of(reference("body"), 2);
    case FieldType::Joint:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Force:
    case FieldType::Flexible: return {{"type", "string"}};
    case FieldType::Joints: return array_of({{"type", "string"}}, 2);
  }
  return {};
}

Json default_of(const Field& field) {
  if (field.type == FieldType::Choice && !field.choices.empty()) return field.choices[0];
  if (field.defaults.empty()) return nullptr;
  if (field.type == FieldType::Rotation) return {{"rotation_vector", field.defaults}};
  return field.defaults.size() == 1 ? Json(field.defaults[0]) : Json(field.defaults);
}

Json schema_of(const Field& field) {
  Json out = {{"description", field.summary + (field.unit.empty() ? "" : fmt::format(" [{}]", field.unit))}};
  Json type = type_of(field);
  if (field.body_axes != BodyAxes::None)
    type = {{"anyOf",
             {type,
              reference(field.type == FieldType::PlaneVector ? "plane_vector_in_bodies" : "vector_in_bodies"),
              reference("frames")}}};
  // Assembly finds it, from nothing or from a guess.
  if (field.may_be_consistent)
    type = {{"anyOf", {type, {{"const", "consistent"}}, object_of({{"consistent", type}}, {"consistent"})}}};
  // Beside "$ref" nothing else counts, so it stands in a list of its own.
  if (type.contains("$ref"))
    out["allOf"] = {type};
  else
    out.update(type);
  const Json fallback = default_of(field);
  if (!fallback.is_null() && !field.required) out["default"] = fallback;
  return out;
}

Json object_with(const std::vector<Field>& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = schema_of(field);
    if (field.required) required.push_back(field.name);
  }
  return object_of(properties, required);
}

Json schema_of(const Kind& kind) {
  Json out = object_with(kind.fields);
  out["description"] = kind.summary;
  out["properties"]["type"] = {{"const", kind.type}};
  out["required"].push_back("type");
  return out;
}

// What bodies have besides the fields of their type (io/expand).
Json shapes_and_frames() {
  return {
      {"shape",
       {{"description", "Determines mass, inertia and reference if these are not given, and is drawn."},
        {"allOf", {reference("shape")}}}},
      {"shapes", {{"description", "Several of them."}, {"type", "array"}, {"items", reference("shape")}}},
      {"density",
       {{"description", "Density of those shapes that have neither density nor mass. [kg/m^3]"},
        {"allOf", {reference("number")}}}},
      {"frames",
       {{"description", "Points with axes, by name: \"arm.tool\" names one."},
        {"type", "object"},
        {"propertyNames", {{"pattern", kNamePattern}}},
        {"additionalProperties",
         object_of(
             {{"at", {{"type", "array"}, {"items", reference("number")}, {"minItems", 2}, {"maxItems", 3}}},
              {"rotation", reference("rotation")}},
             Json::array())}}}};
}

// Mass and inertia of a body may follow from its shapes, locations and axes of an element from the frames that it names.
Json schema_of(Section section, const Kind& kind) {
  Json out = schema_of(kind);
  if (section == Section::Bodies) {
    out["properties"].update(shapes_and_frames());
    const Json required = out["required"];
    out["required"] = Json::array({"type"});
    out["anyOf"] = {{{"required", required}}, {{"required", {"shape"}}}, {{"required", {"shapes"}}}};
    return out;
  }
  Json always = Json::array(), by_frames = Json::array(), named;
  for (const Field& field : kind.fields) {
    if (field.type == FieldType::Bodies)
      named = {{"properties", {{field.name, {{"contains", {{"pattern", "\\."}}}}}}}};
    else if (field.type == FieldType::Body)
      named = {{"properties", {{field.name, {{"pattern", "\\."}}}}}};
    if (field.required) (field.body_axes == BodyAxes::None ? always : by_frames).push_back(field.name);
  }
  if (by_frames.empty() || named.is_null()) return out;
  always.push_back("type");
  out["required"] = always;
  out["anyOf"] = {{{"required", by_frames}}, named};
  return out;
}

// The type of an entry decides what else it may hold.
Json by_type(const std::vector<Kind>& kinds, const std::function<Json(const Kind&)>& schema) {
  Json types = Json::array(), cases = Json::array();
  for (const Kind& kind : kinds) {
    types.push_back(kind.type);
    cases.push_back({{"if", {{"properties", {{"type", {{"const", kind.type}}}}}}}, {"then", schema(kind)}});
  }
  return {{"type", "object"},
          {"required", {"type"}},
          {"properties", {{"type", {{"enum", types}}}}},
          {"allOf", cases}};
}

Json schema_of(Section section) {
  const Json entry = by_type(kinds(section), [&](const Kind& kind) { return schema_of(section, kind); });
  Json out = {
      {"type", "object"}, {"propertyNames", {{"pattern", kNamePattern}}}, {"additionalProperties", entry}};
  // The ground has shapes and frames only.
  if (section == Section::Bodies) {
    Json properties = shapes_and_frames();
    out["properties"] = {{"ground", object_of(properties, Json::array())}};
  }
  return out;
}

Json schema_of_shape(const Kind& kind) {
  Json out = schema_of(kind);
  const Json n = reference("number");
  for (auto& [name, schema] : out["properties"].items()) {
    if (name == "polygon") {
      schema.erase("allOf");
      schema.update({{"type", "array"}, {"items", array_of(n, 2)}, {"minItems", 3}});
    }
    if (name == "scale") schema["anyOf"] = {number(Range::Positive), array_of(n, 3)};
    if (name == "color") schema["pattern"] = "^#[0-9A-Fa-f]{6}$";
  }
  return out;
}

Json sub_model() {
  Json out =
      object_of({{"file", {{"description", "Its file, relative to this one."}, {"type", "string"}}},
                 {"model", {{"description", "The sub-model itself, instead of a file."}, {"type", "object"}}},
                 {"at", {{"description", "Position of its origin. [m]"}, {"allOf", {reference("vector")}}}},
                 {"rotation",
                  {{"description", "Rotation from its axes to those of this model."},
                   {"allOf", {reference("rotation")}}}},
                 {"set",
                  {{"description", "Values of its parameters and arguments, by path."},
                   {"type", "object"},
                   {"additionalProperties", reference("number")}}}},
                Json::array());
  out["oneOf"] = {{{"required", {"file"}}}, {{"required", {"model"}}}};
  return out;
}

// Names in blocks have braces, and values too: what stands in the sections is examined when the blocks are written out.
Json block() {
  Json properties = {
      {"for",
       {{"description", "Indices with their ranges, [first, last] or [first, last, step]."},
        {"type", "object"},
        {"additionalProperties",
         {{"type", "array"}, {"items", reference("number")}, {"minItems", 2}, {"maxItems", 3}}}}},
      {"let",
       {{"description", "Values that expressions in braces may use."},
        {"type", "object"},
        {"additionalProperties", reference("number")}}},
      {"if",
       {{"description", "The block is included where this is not 0."}, {"allOf", {reference("number")}}}},
      {"repeat", {{"type", "array"}, {"items", reference("block")}}}};
  for (const char* key : {"parameters", "models"}) properties[key] = {{"type", "object"}};
  for (const Section section : kSections)
    properties[std::string(section_name(section))] = {{"type", "object"}};
  return object_of(properties, Json::array());
}

// Each by its own keys; "type" may be left out.
Json schema_of_events() {
  Json any = Json::array();
  for (const Kind& kind : kinds(Section::Sensors)) {
    if (!acts(kind)) continue;
    Json one = schema_of(kind);
    one["required"].erase(one["required"].size() - 1);
    any.push_back(std::move(one));
  }
  return {{"type", "object"},
          {"propertyNames", {{"pattern", kNamePattern}}},
          {"additionalProperties", {{"anyOf", any}}}};
}

// A number, or one with its range.
Json argument_schema() {
  const Json number = reference("number");
  return {
      {"anyOf",
       {number,
        {{"type", "object"},
         {"properties", {{"value", number}, {"least", {{"type", "number"}}}, {"most", {{"type", "number"}}}}},
         {"required", {"value"}},
         {"additionalProperties", false}}}}};
}

}  // namespace

std::string model_schema() {
  Json properties = Json::object();
  for (const FormatKey& key : kModelKeys) properties[std::string(key.name)] = {{"description", key.summary}};
  const auto set = [&](const std::string& key, const Json& schema) { properties[key].update(schema); };
  set("$schema", {{"type", "string"}});
  set("liedyn", {{"const", kFormatVersion}});
  set("name", {{"type", "string"}});
  set("description", {{"type", "string"}});
  set("parameters", {{"type", "object"},
                     {"propertyNames", {{"pattern", kParameterPattern}}},
                     {"additionalProperties", reference("number")}});
  set("tables", {{"type", "object"},
                 {"propertyNames", {{"pattern", kParameterPattern}}},
                 {"additionalProperties", reference("table")}});
  set("gravity", {{"allOf", {reference("vector")}}});
  set("arguments", {{"type", "object"},
                    {"propertyNames", {{"pattern", kParameterPattern}}},
                    {"additionalProperties", argument_schema()}});
  set("models", {{"type", "object"},
                 {"propertyNames", {{"pattern", kParameterPattern}}},
                 {"additionalProperties", sub_model()}});
  set("repeat", {{"type", "array"}, {"items", reference("block")}});
  set("simulation", object_with(simulation_fields()));
  for (Section section : kSections) set(std::string(section_name(section)), schema_of(section));
  set("events", schema_of_events());

  Json all = definitions();
  all["shape"] = by_type(shape_kinds(), &schema_of_shape);
  all["block"] = block();
  const Json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "Liedyn model"},
      {"type", "object"},
      {"required", {"liedyn"}},
      {"properties", properties},
      {"additionalProperties", false},
      {"definitions", all},
  };
  return schema.dump(2);
}

}  // namespace liedyn

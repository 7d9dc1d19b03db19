#include "liedyn/io/read_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "liedyn/base/expression.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/io/expand/expand.h"
#include "liedyn/io/json.h"
#include "liedyn/io/model_format.h"
#include "liedyn/io/read_urdf.h"
#include "liedyn/io/read_with_warnings.h"
#include "liedyn/io/robot_file.h"
#include "liedyn/io/study_reader.h"
#include "liedyn/io/tables.h"
#include "liedyn/io/written_numbers.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/system/further_findings.h"

namespace liedyn {
namespace {

// models/heavy_top/model.json is called heavy_top, my_arm.json is called my_arm.
std::string default_name(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string stem = path.stem().string();
  const std::string directory = path.parent_path().filename().string();
  return stem == "model" && !directory.empty() ? directory : stem;
}

const auto field_name = [](const Field& field) -> std::string_view { return field.name; };

class ModelReader {
 public:
  // `expanded`: parts of sub-models have names with dots.
  ModelReader(const JsonDocument& document, std::string file, std::vector<Assignment>& assignments,
              bool expanded = false)
      : root_(document.root()),
        expanded_(expanded),
        file_(std::move(file)),
        assignments_(assignments),
        tables_(file_),
        early_findings_(document.duplicates()) {}

  Description read() {
    if (!root_.is(JsonType::Object))
      throw InputError(
          {{file_, root_.line(), "", fmt::format("expected an object, got {}", root_.describe()), ""}});
    if (const std::string_view command = study_command(root_); !command.empty())
      throw InputError({{file_, root_.line(), "", "this is a study of many runs, not a model",
                         fmt::format("liedyn {} {} runs it", command, file_)}});
    check_keys();
    const std::string name = text_of("name", default_name(file_));
    for (const char* only_for_readers : {"description", "$schema"}) text_of(only_for_readers, "");
    read_tables();

    DescriptionBuilder builder(name, file_, read_parameters(), read_gravity());
    builder_ = &builder;
    for (Diagnostic& d : early_findings_)
      builder.finding(std::move(d.path), std::move(d.message), std::move(d.hint), d.line);
    for (const WrittenNumbers::Formula& formula : numbers_.formulas())
      builder.gravity_expression(formula.index, formula.text, formula.line);
    read_simulation();
    for (Section section : kSections) read_section(section);
    read_events();
    check_bare_assignments();
    try {
      return builder.finish();
    } catch (const InputError& error) {
      throw InputError(
          in_words_of_the_file(with_further_findings(std::move(builder.description()), error.diagnostics())));
    }
  }

 private:
  // Events are sensors with effects. The file has them in a section of their own, and so have the messages.
  std::vector<Diagnostic> in_words_of_the_file(std::vector<Diagnostic> findings) const {
    constexpr std::string_view kSensors = "sensors.";
    const JsonValue events = root_.find("events");
    if (!events || !events.is(JsonType::Object)) return findings;
    for (Diagnostic& d : findings) {
      if (!d.path.starts_with(kSensors)) continue;
      const std::string rest = d.path.substr(kSensors.size());
      const JsonValue sensors = root_.find("sensors");
      for (const JsonValue event : events) {
        // Names of sub-models have dots.
        const std::string_view name = event.key();
        const bool is_sensor = sensors && sensors.is(JsonType::Object) && sensors.find(name);
        if (!is_sensor && (rest == name || rest.starts_with(fmt::format("{}.", name))))
          d.path = fmt::format("events.{}", rest);
      }
    }
    return findings;
  }

  // Before there is a builder, findings wait for it.
  void finding(std::string path, std::string message, std::string hint, int line) {
    if (builder_ != nullptr)
      builder_->finding(std::move(path), std::move(message), std::move(hint), line);
    else
      early_findings_.push_back({file_, line, std::move(path), std::move(message), std::move(hint)});
  }

  void expected(std::string path, std::string_view what, JsonValue found, std::string hint = {}) {
    finding(std::move(path), fmt::format("expected {}, got {}", what, found.describe()), std::move(hint),
            found.line());
  }

  // ---- the outermost object

  void check_keys() {
    const auto known = kModelKeys | std::views::transform([](const FormatKey& key) { return key.name; });
    for (JsonValue value : root_) {
      if (std::ranges::find(known, value.key()) != known.end()) continue;
      const std::string meant = nearest(value.key(), known);
      finding(excerpt(value.key()), "unknown key", did_you_mean(meant), value.line());
      // What it holds is read all the same: that it is missing elsewhere is no error of its own.
      if (!meant.empty() && value.is(JsonType::Object) && !root_.find(meant)) misspelt_.emplace(meant, value);
    }

    const JsonValue version = root_.find("liedyn");
    if (!version)
      finding("liedyn", "missing: the version of the format",
              fmt::format("begin the file with {{ \"liedyn\": {},", kFormatVersion), root_.line());
    else if (!version.is(JsonType::Number) || version.number() != kFormatVersion)
      expected("liedyn", fmt::format("the version {}", kFormatVersion), version,
               "this program reads no other version");
  }

  // Only the program makes names with dots, left.knee of the sub-model left.
  void check_dots(std::string_view section, JsonValue entry) {
    if (expanded_ || entry.key().find('.') == std::string_view::npos) return;
    finding(fmt::format("{}.{}", section, excerpt(entry.key(), 80)), "expected a name without dots",
            "names with dots are those of sub-models and of parts of beams", entry.line());
  }

  std::string text_of(std::string_view key, std::string otherwise) {
    const JsonValue value = root_.find(key);
    if (!value) return otherwise;
    if (!value.is(JsonType::String)) {
      expected(std::string(key), "a string", value);
      return otherwise;
    }
    return std::string(value.text());
  }

  // The object with this key; none (with a finding if something else stands there) otherwise.
  JsonValue object_of(std::string_view key) {
    if (const auto misspelt = misspelt_.find(key); misspelt != misspelt_.end()) return misspelt->second;
    const JsonValue value = root_.find(key);
    if (!value || value.is(JsonType::Object)) return value;
    expected(std::string(key), "an object", value,
             value.is(JsonType::Array) ? "each entry has its name as key: {\"NAME\": {...}, ...}" : "");
    return {};
  }

  void read_tables() {
    const JsonValue object = object_of("tables");
    if (!object) return;
    for (const char* section : {"parameters", "states", "sensors"})
      if (const JsonValue names = root_.find(section); names && names.is(JsonType::Object))
        for (JsonValue value : names) tables_.add_variable(value.key());
    for (JsonValue value : object) try {
        check_dots("tables", value);
        tables_.add(value.key(), value);
      } catch (const TableError& error) {
        finding("tables." + excerpt(value.key()), error.what(), error.hint(), value.line());
      }
  }
  // An expression with its calls of tables written out.
  std::string expression_text(JsonValue value, const std::string& path) {
    try {
      return tables_.written_out(value.text());
    } catch (const TableError& error) {
      finding(path, error.what(), error.hint(), value.line());
      return "0";
    }
  }

  std::vector<DescriptionBuilder::Parameter> read_parameters() {
    std::vector<DescriptionBuilder::Parameter> parameters;
    const JsonValue object = object_of("parameters");
    if (!object) return parameters;
    for (JsonValue value : object) {
      check_dots("parameters", value);
      DescriptionBuilder::Parameter parameter{.name = std::string(value.key()), .line = value.line()};
      if (const auto assigned = take_assignment("parameters", parameter.name))
        parameter.value = *assigned;
      else if (value.is(JsonType::Number))
        parameter.value = value.number();
      else if (value.is(JsonType::String))
        parameter.expression = expression_text(value, "parameters." + excerpt(value.key()));
      else
        expected("parameters." + excerpt(value.key()), "a number or an expression", value);
      parameters.push_back(std::move(parameter));
    }
    return parameters;
  }

  // Its expressions remain in numbers_.
  std::array<double, 3> read_gravity() {
    const JsonValue value = root_.find("gravity");
    numbers_.clear();
    if (!value) return {0, 0, 0};
    const WrittenNumbers::Mistake mistake = numbers_.array(value, 3, "");
    if (!mistake.empty()) {
      finding("gravity", mistake.message, mistake.hint, value.line());
      numbers_.clear();
      return {0, 0, 0};
    }
    return {numbers_.values()[0], numbers_.values()[1], numbers_.values()[2]};
  }

  // ---- numbers that the user set

  // The value set for "name" or "group.name", which is then taken out of the list. The last one holds.
  std::optional<double> take_assignment(std::string_view group, std::string_view name) {
    std::optional<double> value;
    std::erase_if(assignments_, [&](const Assignment& a) {
      const bool match = a.path == name || a.path == fmt::format("{}.{}", group, name);
      if (match) value = a.value;
      return match;
    });
    return value;
  }

  // A bare name that is left is neither a parameter nor an argument.
  void check_bare_assignments() {
    const JsonValue arguments = root_.find("arguments");
    const bool has_arguments = arguments && arguments.is(JsonType::Object);
    for (const Assignment& a : assignments_) {
      if (a.path.find_first_of(".[") != std::string::npos) continue;
      Suggestion suggestion(a.path);
      for (const std::string& name : builder_->description().parameter_names) suggestion.consider(name);
      if (has_arguments)
        for (const JsonValue argument : arguments) suggestion.consider(argument.key());
      // The path of a number of an entry that has this key.
      std::string meant = suggestion.name();
      for (const Section section : kSections)
        for (const Entry& entry : builder_->description().entries(section))
          if (const int field = entry.kind->field(a.path);
              meant.empty() && field >= 0 && entry.fields[static_cast<std::size_t>(field)].first >= 0)
            meant = fmt::format("{}.{}.{}", section_name(section), entry.name, a.path);
      finding(excerpt(a.path),
              has_arguments ? "the model has no parameter or argument of this name"
                            : "the model has no parameter of this name",
              did_you_mean(meant), 0);
    }
  }

  // ---- simulation

  // What other programs call it, or the nearest name.
  static std::string meant_setting(std::string_view key) {
    constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
        {"dt", "step"},          {"h", "step"},    {"time_step", "step"},   {"timestep", "step"},
        {"step_size", "step"},   {"t_end", "end"}, {"tf", "end"},           {"duration", "end"},
        {"end_time", "end"},     {"t0", "start"},  {"start_time", "start"}, {"solver", "integrator"},
        {"method", "integrator"}};
    for (const auto& [other, ours] : kElsewhere)
      if (key == other) return std::string(ours);
    return nearest(key, simulation_fields() | std::views::transform(field_name));
  }

  void read_simulation() {
    const JsonValue object = object_of("simulation");
    if (!object) return;
    for (JsonValue value : object) {
      const std::vector<Field>& fields = simulation_fields();
      const auto field = std::ranges::find(fields, value.key(), field_name);
      const std::string path = "simulation." + excerpt(value.key());
      if (field == fields.end())
        finding(path, "unknown key", did_you_mean(meant_setting(value.key())), value.line());
      else if (number_count(field->type) == 1)
        read_simulation_number(*field, value, path);
      else
        read_simulation_word(*field, value, path);
    }
    const SimulationSettings& settings = builder_->simulation();
    if (settings.end <= settings.start) {
      const JsonValue end = object.find("end");
      finding("simulation.end",
              fmt::format("expected a time after the start ({}), got {}", settings.start, settings.end), {},
              (end ? end : object).line());
    }
  }

  void read_simulation_number(const Field& field, JsonValue value, const std::string& path) {
    double number = 0;
    if (value.is(JsonType::Number))
      number = value.number();
    else if (value.is(JsonType::String))
      number = builder_->evaluate(expression_text(value, path), path, value.line());
    else
      return expected(path, "a number or an expression", value);
    if (std::isnan(number)) return;  // evaluate() has said why
    const std::string mistake = value_mistake(&field, number);
    if (!mistake.empty()) return finding(path, mistake, {}, value.line());

    SimulationSettings& settings = builder_->simulation();
    if (field.name == "start") settings.start = number;
    if (field.name == "end") settings.end = number;
    if (field.name == "step") settings.step = number;
    if (field.name == "output_every") settings.output_every = static_cast<long>(std::min(number, 1e15));
  }

  void read_simulation_word(const Field& field, JsonValue value, const std::string& path) {
    if (field.name == "until" && value.is(JsonType::Number)) return;  // read_events() reads it
    if (!value.is(JsonType::String)) return expected(path, "a string", value);
    const std::vector<std::string>& choices = field.choices;
    if (!choices.empty() && std::ranges::find(choices, value.text()) == choices.end())
      return expected(path, fmt::format("one of {}", fmt::join(choices, ", ")), value,
                      did_you_mean(value.text(), choices));

    SimulationSettings& settings = builder_->simulation();
    if (field.name == "integrator") {
      settings.integrator = value.text();
      check_integrator_at(value, path);
    }
    if (field.name == "formulation") settings.formulation = value.text();
    if (field.name == "initial") settings.initial = value.text();
  }

  void check_integrator_at(JsonValue value, const std::string& path) {
    try {
      check_integrator(value.text());
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) finding(path, d.message, d.hint, value.line());
    }
  }

  // ---- entries

  void read_section(Section section) {
    const JsonValue object = object_of(section_name(section));
    if (!object) return;
    builder_->reserve(section, builder_->description().entries(section).size() + object.size());
    for (JsonValue value : object) {
      if (!value.is(JsonType::Object)) {
        expected(fmt::format("{}.{}", section_name(section), excerpt(value.key(), 80)), "an object", value);
        continue;
      }
      check_dots(section_name(section), value);
      read_entry(section, value);
    }
  }

  // Sensors that act. "type" may be left out: what is sampled has a sampling time.
  void read_events() {
    if (const JsonValue object = object_of("events"))
      for (JsonValue value : object) {
        const std::string path = fmt::format("events.{}", excerpt(value.key(), 80));
        if (!value.is(JsonType::Object)) {
          expected(path, "an object", value);
          continue;
        }
        const JsonValue type = value.find("type");
        if (type && (!type.is(JsonType::String) || (type.text() != "event" && type.text() != "sample")))
          expected(path + ".type", "event or sample", type);
        else
          read_entry(Section::Sensors, value, value.find("every") ? "sample" : "event");
      }
    const JsonValue simulation = root_.find("simulation");
    const JsonValue until =
        simulation && simulation.is(JsonType::Object) ? simulation.find("until") : JsonValue();
    if (!until || !(until.is(JsonType::String) || until.is(JsonType::Number))) return;
    if (!builder_->begin(Section::Sensors, "until", "event", until.line())) return;
    builder_->word("when",
                   until.is(JsonType::String) ? expression_text(until, "simulation.until")
                                              : fmt::format("{}", until.number()),
                   until.line());
    builder_->word("action", "stop", until.line());
    builder_->end();
  }

  void read_entry(Section section, JsonValue object, std::string_view otherwise = {}) {
    const JsonValue type = object.find("type");
    const std::string_view name = object.key();
    if (type && !type.is(JsonType::String))
      return expected(fmt::format("{}.{}.type", section_name(section), excerpt(name, 80)), "a string", type);
    const std::string_view kind = type ? type.text() : otherwise;
    if (!builder_->begin(section, std::string(name), kind, type ? type.line() : object.line())) return;
    entry_path_ = fmt::format("{}.{}", section_name(section), name);
    const std::vector<Field>& fields = find_kind(section, kind)->fields;
    for (JsonValue value : object) {
      if (value.key() == "type") continue;
      if (const Field* field = builder_->field(value.key(), value.line())) {
        read_field(*field, value);
        continue;
      }
      // An unknown key that is meant to be a required one: that this is missing is no error of its own.
      const std::string meant = nearest(value.key(), fields | std::views::transform(field_name));
      const auto field = std::ranges::find(fields, meant, field_name);
      if (field != fields.end() && field->required && !object.find(meant)) read_field(*field, value);
    }
    // Whole numbers that the file leaves out may be set from outside as well.
    for (const Field& field : fields)
      if (field.type == FieldType::Integer && !object.find(field.name))
        if (const auto number = take_integer(field))
          builder_->values(field.name, std::array{*number}, object.line());
    builder_->end();
  }

  void reject(const Field& field, std::string_view what, JsonValue found, std::string hint = {}) {
    builder_->reject(field.name, "", fmt::format("expected {}, got {}", what, found.describe()),
                     std::move(hint), found.line());
  }

  void read_field(const Field& field, JsonValue value) {
    switch (field.type) {
      case FieldType::Choice:
      case FieldType::Text:
      case FieldType::Body:
      case FieldType::Joint:
      case FieldType::State:
      case FieldType::Beam:
      case FieldType::Force:
      case FieldType::Flexible: return read_word(field, value);
      case FieldType::Integer: return read_integer(field, value);
      case FieldType::Bodies:
      case FieldType::Joints: return read_pair(field, value);
      case FieldType::Choices: return read_choices(field, value);
      default:
        if (value.is(JsonType::String) && value.text() == "consistent")
          return builder_->consistent(field.name, value.line());
        if (const JsonValue guess = guess_of(value)) {
          read_values(field, guess);
          return builder_->mark_consistent(field.name, value.line());
        }
        read_values(field, value);
    }
  }

  // What stands in {"consistent": ...}: where assembly begins.
  static JsonValue guess_of(JsonValue value) {
    return value.is(JsonType::Object) && value.size() == 1 ? value.find("consistent") : JsonValue();
  }

  void read_values(const Field& field, JsonValue value) {
    if (field.type == FieldType::Rotation) return read_rotation(field, value);
    if (field.body_axes != BodyAxes::None && value.is(JsonType::Object)) return read_in_bodies(field, value);
    read_numbers(field, value);
  }

  // {"crank": [0.1, 0, 0], "rod": [-0.15, 0, 0]}
  void read_in_bodies(const Field& field, JsonValue object) {
    numbers_.clear();
    if (object.size() == 0 || object.size() > 2)
      return reject(field, "components in the axes of one or two bodies, {\"body\": [...], ...}", object);
    std::vector<std::string> bodies;
    for (JsonValue value : object) {
      const WrittenNumbers::Mistake mistake =
          numbers_.array(value, field.type == FieldType::PlaneVector ? 2 : 3, "");
      if (!mistake.empty())
        return builder_->reject(field.name, "." + excerpt(value.key()), mistake.message, mistake.hint,
                                value.line());
      bodies.emplace_back(value.key());
    }
    builder_->numbers_in_bodies(field.name, bodies, numbers_.values(), object.line());
    hand_over_formulas(field);
  }

  void read_word(const Field& field, JsonValue value) {
    if (value.is(JsonType::String) && field.holds_expression)
      return builder_->word(field.name, expression_text(value, fmt::format("{}.{}", entry_path_, field.name)),
                            value.line());
    if (value.is(JsonType::String))
      return builder_->word(field.name, std::string(value.text()), value.line());
    // A number is an expression too.
    if (field.holds_expression && value.is(JsonType::Number))
      return builder_->word(field.name, fmt::format("{}", value.number()), value.line());
    const std::string_view what = field.type == FieldType::Body       ? "the name of a body"
                                  : field.type == FieldType::Joint    ? "the name of a joint"
                                  : field.type == FieldType::State    ? "the name of a state"
                                  : field.type == FieldType::Beam     ? "the name of a beam"
                                  : field.type == FieldType::Force    ? "the name of a force"
                                  : field.type == FieldType::Flexible ? "the name of a flexible body"
                                                                      : "a string";
    reject(field, what, value);
  }

  // It shapes the model, so that it may be set from outside only now.
  std::optional<double> take_integer(const Field& field) {
    const std::string path = fmt::format("{}.{}", entry_path_, field.name);
    std::optional<double> number;
    std::erase_if(assignments_, [&](const Assignment& a) {
      if (a.path == path) number = a.value;
      return a.path == path;
    });
    return number;
  }
  void read_integer(const Field& field, JsonValue value) {
    const std::optional<double> number = take_integer(field);
    if (!number && value.is(JsonType::String))
      return reject(field, "a whole number", value,
                    fmt::format("it determines the structure of the model and cannot be an expression; --set "
                                "{}.{}=N can change it",
                                entry_path_, field.name));
    if (!number && !value.is(JsonType::Number)) return reject(field, "a whole number", value);
    builder_->values(field.name, std::array{number.value_or(value.is(JsonType::Number) ? value.number() : 0)},
                     value.line());
  }

  void read_pair(const Field& field, JsonValue value) {
    std::array<JsonValue, 2> names;
    std::size_t count = 0;
    if (value.is(JsonType::Array))
      for (JsonValue item : value)
        if (item.is(JsonType::String) && count < 2) names[count++] = item;
    if (count != 2 || value.size() != 2)
      return reject(field,
                    fmt::format("the names of two {}, [\"first\", \"second\"]",
                                field.type == FieldType::Bodies ? "bodies" : "joints"),
                    value);
    builder_->words(field.name, std::string(names[0].text()), std::string(names[1].text()), value.line());
  }

  void read_choices(const Field& field, JsonValue value) {
    std::vector<std::string> chosen;
    if (value.is(JsonType::Array))
      for (JsonValue item : value)
        if (item.is(JsonType::String)) chosen.emplace_back(item.text());
    if (!value.is(JsonType::Array) || chosen.size() != value.size())
      return reject(field, fmt::format("a list of some of {}", fmt::join(field.choices, ", ")), value);
    builder_->choices(field.name, chosen, value.line());
  }

  void read_numbers(const Field& field, JsonValue value) {
    numbers_.clear();
    WrittenNumbers::Mistake mistake;
    switch (field.type) {
      case FieldType::Vector: mistake = numbers_.array(value, 3, ""); break;
      case FieldType::PlaneVector: mistake = numbers_.array(value, 2, ""); break;
      case FieldType::Points: mistake = numbers_.rows(value, 2, "point"); break;
      case FieldType::Path: mistake = numbers_.path(value); break;
      case FieldType::Inertia: mistake = numbers_.inertia(value); break;
      case FieldType::Matrix6: mistake = numbers_.matrix6(value); break;
      default: mistake = numbers_.number(value, "");
    }
    if (!mistake.empty())
      return builder_->reject(field.name, "", std::move(mistake.message), std::move(mistake.hint),
                              value.line());
    hand_over(field, value.line(), RotationForm::RotationVector);
  }

  void read_rotation(const Field& field, JsonValue value) {
    constexpr std::string_view kForms =
        "{\"rotation_vector\": [3 numbers]}, {\"cardan\": [3]}, {\"quaternion\": [4]}, "
        "{\"axis\": [3], \"angle\": a} or {\"matrix\": [3 rows of 3]}";
    if (!value.is(JsonType::Object) || value.size() == 0) return reject(field, kForms, value);

    const JsonValue first = *value.begin();
    const std::string_view key = first.key() == "angle" ? "axis" : first.key();
    const auto* name = std::ranges::find(kRotationNames, key);
    if (name == std::end(kRotationNames))
      return builder_->reject(field.name, "." + excerpt(key), fmt::format("unknown key, expected {}", kForms),
                              did_you_mean(key, kRotationNames), first.line());
    const auto form = static_cast<RotationForm>(name - std::begin(kRotationNames));
    const bool with_angle = form == RotationForm::AxisAngle;
    for (JsonValue other : value)
      if (other.key() != key && !(with_angle && other.key() == "angle"))
        return builder_->reject(field.name, "." + excerpt(other.key()),
                                fmt::format("cannot be combined with '{}'", key), {}, other.line());

    numbers_.clear();
    const JsonValue numbers = value.find(key);
    const JsonValue angle = value.find("angle");
    if (with_angle && !(numbers && angle)) return reject(field, "both \"axis\" and \"angle\"", value);
    WrittenNumbers::Mistake mistake =
        form == RotationForm::Matrix ? numbers_.rows(numbers, 3, "row")
                                     : numbers_.array(numbers, form == RotationForm::Quaternion ? 4 : 3, "");
    if (mistake.empty() && with_angle) mistake = numbers_.number(angle, " as angle");
    if (!mistake.empty())
      return builder_->reject(field.name, fmt::format(".{}", key), std::move(mistake.message),
                              std::move(mistake.hint), value.line());
    hand_over(field, value.line(), form);
  }

  void hand_over(const Field& field, int line, RotationForm form) {
    builder_->values(field.name, numbers_.values(), line, form);
    hand_over_formulas(field);
  }

  void hand_over_formulas(const Field& field) {
    for (const WrittenNumbers::Formula& formula : numbers_.formulas())
      builder_->expression(field.name, formula.index, formula.text, formula.line);
  }

  JsonValue root_;
  bool expanded_;
  std::string file_;
  std::vector<Assignment>& assignments_;
  Tables tables_;
  std::vector<Diagnostic> early_findings_;
  std::map<std::string, JsonValue, std::less<>> misspelt_;  // objects by the key that was meant
  DescriptionBuilder* builder_ = nullptr;
  std::string entry_path_;           // of the entry being read
  WrittenNumbers numbers_{tables_};  // of the field being read
};

}  // namespace

Assignment parse_assignment(std::string_view text, std::string_view option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError(
        std::string(option),
        fmt::format("expected {}=VALUE, got '{}'", option == "--set" ? "PATH" : "JOINT", excerpt(text)),
        option == "--set" ? "for example --set bodies.top.mass=2" : "for example --from hinge=0.5");
  const std::string path(text.substr(0, equals));
  const std::string_view value = text.substr(equals + 1);
  try {
    const double number = Expression::parse(value, VariableNames()).evaluate<double>({});
    if (std::isfinite(number)) return {path, number};
  } catch (const ExpressionError&) {
  }
  throw InputError(fmt::format("{} {}", option, excerpt(path)),
                   fmt::format("expected a finite number, got '{}'", excerpt(value)));
}

std::string find_model_file(const std::string& model) {
  std::error_code ignored;
  if (const std::size_t first = model.find_first_not_of(" \t\r\n");
      first != std::string::npos && model[first] == '{')
    throw InputError(
        "", fmt::format("expected the name or the file of a model, got the string '{}'", excerpt(model)),
        "in Python a model may be a dict: json.loads(string)");
  const bool looks_like_file =
      model.find('/') != std::string::npos || model.ends_with(".json") || model.ends_with(".urdf");
  if (looks_like_file || std::filesystem::is_regular_file(model, ignored)) return model;
  if (const auto file = find_model(model)) return file->string();
  const std::vector<std::string> names = model_names();
  std::string hint = did_you_mean(model, names);
  if (hint.empty())
    hint = names.empty() ? "give the path of a model file"
                         : fmt::format("the shipped models are {}", fmt::join(names, ", "));
  throw InputError(
      "", fmt::format("there is no model '{}', neither a file nor a shipped model", excerpt(model)), hint);
}

namespace {

// What events set is known when the model is compiled, and lines of other files are known here.
void check_events_of_parts(const Description& description, const Origins& origins) {
  const std::vector<Entry>& sensors = description.entries(Section::Sensors);
  if (std::none_of(sensors.begin(), sensors.end(), [&](const Entry& entry) {
        const std::string& file = origins.file(entry.line);
        return acts(*entry.kind) && !file.empty() && file != description.file;
      }))
    return;
  try {
    Model::compile(std::make_shared<const Description>(description));
  } catch (const InputError& error) {
    throw InputError(with_further_findings(description, error.diagnostics()));
  }
}

Description read_expanded(const JsonDocument& document, const std::string& file,
                          std::vector<Assignment>& assignments) {
  Expansion expansion = expand(document, file, assignments);
  std::vector<Diagnostic> findings = std::move(expansion.findings);
  try {
    Description out = ModelReader(expansion.document, file, assignments, true).read();
    if (findings.empty()) {
      check_events_of_parts(out, expansion.origins);
      restore_lines(out, expansion.origins);
      out.visuals = std::move(expansion.visuals);
      return out;
    }
  } catch (const InputError& error) {
    const std::vector<Diagnostic> others = with_origins(error.diagnostics(), expansion.origins);
    findings.insert(findings.end(), others.begin(), others.end());
  }
  throw InputError(findings);
}

// With the text that it was read from, and the values that were taken out of `assignments` meanwhile.
template <class Read>
Description with_source(std::string_view text, const std::vector<Assignment>& assignments, const Read& read) {
  const std::vector<Assignment> before = assignments;
  Description out = read();
  out.text = std::make_shared<const std::string>(text);
  for (const Assignment& a : before) {
    const bool remains = std::any_of(assignments.begin(), assignments.end(),
                                     [&](const Assignment& left) { return left.path == a.path; });
    if (!remains) out.assigned.emplace_back(a.path, a.value);
  }
  return out;
}

}  // namespace

Description read_model(const std::string& model, std::vector<Assignment>& assignments,
                       std::vector<std::string>& warnings) {
  const std::string file = find_model_file(model);
  if (is_robot_file(file)) return read_model_text(robot_model_text(file, warnings), file, assignments);
  const std::string text = read_text_file(file);
  if (file.ends_with(".urdf"))
    return with_source(text, assignments, [&] { return read_urdf(text, file, assignments, warnings); });
  return read_model_text(text, file, assignments);
}

Description read_model(const std::string& model, std::vector<Assignment>& assignments) {
  std::vector<std::string> ignored;
  return read_model(model, assignments, ignored);
}

Description read_model(const std::string& model) {
  std::vector<Assignment> none;
  return read_model(model, none);
}

Description read_model_text(std::string_view text, const std::string& file,
                            std::vector<Assignment>& assignments) {
  if (file.ends_with(".urdf")) {
    std::vector<std::string> ignored;
    return with_source(text, assignments,
                       [&] { return read_urdf(std::string(text), file, assignments, ignored); });
  }
  const JsonDocument document = JsonDocument::parse(text, file);
  return with_source(text, assignments, [&] {
    return needs_expansion(document.root()) ? read_expanded(document, file, assignments)
                                            : ModelReader(document, file, assignments).read();
  });
}

Description read_model_text(std::string_view text, const std::string& file) {
  std::vector<Assignment> none;
  return read_model_text(text, file, none);
}

}  // namespace liedyn

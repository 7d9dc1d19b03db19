#include "liedyn/model/description.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "liedyn/base/expression.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/description_names.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/forces/machine_states.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

// Indices of numbers are 32 bits wide, and an element of a beam has about two hundred of them.
constexpr int kMostElements = 1'000'000;

constexpr double kUnknown =
    std::numeric_limits<double>::quiet_NaN();  // of a value whose mistake was reported before

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parts of sub-models have the name of the sub-model before theirs: left.knee.
bool is_entry_name(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_name(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return is_name(text);
}

// Parameters stand in expressions, where a hyphen would be a minus sign.
bool is_parameter_name(std::string_view text) {
  return is_entry_name(text) && text.find('-') == std::string_view::npos;
}

bool names_time(std::string_view text, const VariableNames& variables) {
  try {
    return Expression::parse(text, variables).uses(variables.find("t"));
  } catch (const ExpressionError&) {
    return false;
  }
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '-';
  });
}

DescriptionBuilder::DescriptionBuilder(std::string model_name, std::string file,
                                       const std::vector<Parameter>& parameters,
                                       std::array<double, 3> gravity) {
  description_.name = std::move(model_name);
  description_.file = std::move(file);
  for (Section section : kSections)
    names_[static_cast<std::size_t>(section)] = std::make_unique<Names>(description_.entries(section));

  std::unordered_set<std::string_view> repeated, names;
  for (const Parameter& parameter : parameters) {
    description_.parameter_names.push_back(parameter.name);
    variables_.add(parameter.name);
    if (!names.insert(parameter.name).second) repeated.insert(parameter.name);
  }
  variables_.add("t");
  values_.assign(variables_.size(), kUnknown);
  names.clear();

  for (const Parameter& parameter : parameters) {
    const std::string path = "parameters." + excerpt(parameter.name);
    const std::size_t index = description_.parameters.size();
    if (!is_parameter_name(parameter.name))
      finding(path, "expected a name of letters, digits and underscores that does not begin with a digit", {},
              parameter.line);
    else if (parameter.name == "t" || parameter.name == "pi")
      finding(path, fmt::format("'{}' already has a meaning in expressions", parameter.name),
              "choose another name", parameter.line);
    else if (repeated.contains(parameter.name) && !names.insert(parameter.name).second)
      finding(path, "is defined twice", {}, parameter.line);

    if (parameter.expression.empty()) {
      description_.parameters.push_back(parameter.value);
      const std::string mistake = value_mistake(nullptr, parameter.value);
      if (!mistake.empty()) finding(path, mistake, {}, parameter.line);
    } else {
      description_.expressions.push_back(
          {static_cast<std::int32_t>(index), parameter.line, parameter.expression});
      description_.parameters.push_back(evaluate(parameter.expression, false, index, path, parameter.line));
    }
    values_[index] = description_.parameters.back();
  }
  for (std::size_t i = 0; i < 3; ++i) {
    description_.parameters.push_back(gravity[i]);
    const std::string mistake = value_mistake(nullptr, gravity[i]);
    if (!mistake.empty()) finding(fmt::format("gravity[{}]", i), mistake);
  }
}

DescriptionBuilder::~DescriptionBuilder() = default;

double DescriptionBuilder::evaluate(std::string_view text, const std::string& path, int line) {
  return evaluate(text, false, description_.parameter_names.size(), path, line);
}

double DescriptionBuilder::evaluate(std::string_view text, bool with_time, std::size_t parameters,
                                    const std::string& path, int line) {
  Expression expression;
  try {
    expression = Expression::parse(text, variables_);
  } catch (const ExpressionError& error) {
    const bool other =
        dynamic_cast<const UnknownName*>(&error) != nullptr;  // of a sensor or a state, perhaps
    finding(path,
            fmt::format("in the expression '{}', at character {}: {}{}", excerpt(text), error.position() + 1,
                        error.what(),
                        !other      ? ""
                        : with_time ? ": this value may depend on parameters and the time t"
                                    : ": this value may depend on parameters only"),
            error.hint(), line);
    return kUnknown;
  }
  const std::size_t time = variables_.size() - 1;
  values_[time] = with_time ? description_.simulation.start : kUnknown;
  bool known = true;
  for (const int variable : expression.variables()) {
    const auto i = static_cast<std::size_t>(variable);
    if (i == time && !with_time)
      finding(path,
              fmt::format("the expression '{}' uses the time t, but this value must not depend on time",
                          excerpt(text)),
              {}, line);
    else if (i != time && i >= parameters)
      finding(
          path,
          fmt::format("the expression '{}' uses '{}', which is defined later", excerpt(text), variables_[i]),
          "parameters may use only parameters that are defined before them", line);
    known = known && std::isfinite(values_[i]);
  }
  if (!known) return kUnknown;
  const double value = expression.evaluate<double>(values_);
  if (std::isfinite(value)) return value;
  finding(path,
          fmt::format("expected a finite number, but the expression '{}' gives {}", excerpt(text),
                      number_text(value)),
          {}, line);
  return kUnknown;
}

// Whether an expression names something besides parameters and t: states and sensors, if there are such, which are read later.
bool DescriptionBuilder::names_others(std::string_view text) const {
  try {
    Expression::parse(text, variables_);
  } catch (const UnknownName&) {
    return true;
  } catch (const ExpressionError&) {
  }
  return false;
}

void DescriptionBuilder::gravity_expression(int i, std::string text, int line) {
  const int number = description_.gravity() + i;
  description_.parameters[static_cast<std::size_t>(number)] =
      evaluate(text, fmt::format("gravity[{}]", i), line);
  description_.expressions.push_back({number, line, std::move(text)});
}

void DescriptionBuilder::reserve(Section section, std::size_t entries) {
  description_.entries(section).reserve(entries);
  names_[static_cast<std::size_t>(section)]->reserve(entries);
}

bool DescriptionBuilder::begin(Section section, std::string name, std::string_view type, int line) {
  section_ = section;
  entry_ = nullptr;
  given_.clear();
  std::vector<Entry>& entries = description_.entries(section);

  if (!is_entry_name(name))
    finding(entry_path(section, name),
            "expected a name of letters, digits, underscores and hyphens that begins with a letter", {},
            line);
  else if ((section == Section::Bodies || section == Section::Beams || section == Section::Flexible) &&
           name == "ground")
    finding(entry_path(section, name), "'ground' is the name of the inertial frame", "choose another name",
            line);
  else if ((section == Section::Sensors || section == Section::States) && (name == "t" || name == "pi"))
    finding(entry_path(section, name), fmt::format("'{}' already has a meaning in expressions", name),
            "choose another name", line);

  const Kind* kind = find_kind(section, type);
  if (kind == nullptr) {
    const auto types =
        kinds(section) | std::views::transform([](const Kind& k) -> std::string_view { return k.type; });
    const std::string expected = fmt::format("{}", fmt::join(types, ", "));
    // What other programs call it.
    constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
        {"hinge", "revolute"},         {"pin", "revolute"},         {"rotational", "revolute"},
        {"continuous", "revolute"},    {"slider", "prismatic"},     {"translational", "prismatic"},
        {"slide", "prismatic"},        {"ball", "spherical"},       {"weld", "fixed"},
        {"motor", "joint_actuator"},   {"spring", "spring_damper"}, {"damper", "spring_damper"},
        {"particle", "point"},         {"mass", "point"},           {"body", "rigid"},
        {"reaction", "reaction_force"}};
    std::string meant = nearest(type, types);
    for (const auto& [other, ours] : kElsewhere)
      if (type == other && find_kind(section, ours) != nullptr) meant = ours;
    std::string hint = did_you_mean(meant);
    for (const Section other : kSections)
      if (find_kind(other, type) != nullptr)
        hint = fmt::format("'{}' belongs in the section {}", type,
                           type == "event" || type == "sample" ? "events" : section_name(other));
    finding(entry_path(section, name) + ".type",
            type.empty() ? fmt::format("missing, expected one of {}", expected)
                         : fmt::format("expected one of {}, got '{}'", expected, excerpt(type)),
            std::move(hint), line);
    if (failed_names_.size() < kMaxFindings) failed_names_.push_back(std::move(name));
    return false;
  }

  entries.push_back({std::move(name), kind, line, static_cast<std::int32_t>(description_.parameters.size()),
                     std::vector<FieldValue>(kind->fields.size())});
  if (!names_[static_cast<std::size_t>(section)]->insert(entries.size() - 1)) {
    finding(entry_path(section, entries.back().name), "this name is given twice",
            "names are unique in a section", line);
    entries.pop_back();
    return false;
  }
  entry_ = &entries.back();
  return true;
}

std::string DescriptionBuilder::entry_path(Section section, std::string_view name) const {
  return fmt::format("{}.{}", section_name(section), excerpt(name, 80));
}

std::string DescriptionBuilder::field_path(std::string_view field) const {
  return fmt::format("{}.{}", entry_path(section_, entry_->name), excerpt(field, 80));
}

const Field* DescriptionBuilder::field(std::string_view name, int line) {
  if (entry_ == nullptr) return nullptr;
  const int index = entry_->kind->field(name);
  if (index < 0) {
    const auto known = entry_->kind->fields |
                       std::views::transform([](const Field& f) -> std::string_view { return f.name; });
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = fmt::format("it has {}", fmt::join(known, ", "));
    finding(field_path(name),
            fmt::format("unknown key '{}' for the type {}", excerpt(name), entry_->kind->type),
            std::move(hint), line);
    return nullptr;
  }
  const FieldValue& value = entry_->fields[static_cast<std::size_t>(index)];
  if (value.given) {
    finding(field_path(name), "is given twice", {}, line);
    return nullptr;
  }
  return &entry_->kind->fields[static_cast<std::size_t>(index)];
}

FieldValue* DescriptionBuilder::open_field(std::string_view name, int line, const Field** out) {
  *out = field(name, line);
  if (*out == nullptr) return nullptr;
  const auto index = *out - entry_->kind->fields.data();
  FieldValue& value = entry_->fields[static_cast<std::size_t>(index)];
  value.given = true;
  given_.push_back({static_cast<std::int32_t>(index), line});
  return &value;
}

void DescriptionBuilder::values(std::string_view name, std::span<const double> values, int line,
                                RotationForm form) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  auto expected = static_cast<std::size_t>(number_count(kind_field->type, form));
  if (expected == 0) return field_finding(name, "expected strings, got numbers", {}, line);
  if (kind_field->type == FieldType::Integer && values.size() == 1) {
    std::string mistake = value_mistake(kind_field, values[0]);
    if (mistake.empty() && values[0] > kMostElements)
      mistake = fmt::format("expected at most {}, got {:g}", kMostElements, values[0]);
    if (!mistake.empty()) return field_finding(name, mistake, {}, line);
    return value->set_integer(values[0]);
  }
  const bool principal_moments = kind_field->type == FieldType::Inertia && values.size() == 3;
  if (kind_field->type == FieldType::Path) {
    if (values.empty() || values.size() % 3 != 0)
      return field_finding(name, fmt::format("expected points of 3 numbers, got {} numbers", values.size()),
                           {}, line);
    if (values.size() > 3 * kMostPathPoints)
      return field_finding(
          name, fmt::format("expected at most {} points, got {}", kMostPathPoints, values.size() / 3),
          "use two beams, joined at a common point", line);
    expected = values.size();
  }
  if (values.size() != expected && !principal_moments) {
    const std::string wanted =
        kind_field->type == FieldType::Inertia ? "3 or 6" : fmt::format("{}", expected);
    return field_finding(
        name, fmt::format("expected {} number{}, got {}", wanted, wanted == "1" ? "" : "s", values.size()),
        {}, line);
  }
  value->first = static_cast<std::int32_t>(description_.parameters.size());
  value->count = static_cast<std::uint8_t>(expected);
  value->form = form;
  description_.parameters.insert(description_.parameters.end(), values.begin(), values.end());
  description_.parameters.resize(description_.parameters.size() + expected - values.size(), 0.0);
  for (double number : values)
    if (!std::isfinite(number)) field_finding(name, value_mistake(kind_field, number), {}, line);
}

void DescriptionBuilder::expression(std::string_view name, int i, std::string text, int line) {
  if (entry_ == nullptr) return;
  const int index = entry_->kind->field(name);
  if (index < 0) return;  // numbers() has said so
  const FieldValue& value = entry_->fields[static_cast<std::size_t>(index)];
  if (value.first < 0) return;
  const Field& kind_field = entry_->kind->fields[static_cast<std::size_t>(index)];
  const std::int32_t number = value.first + i;
  // A function of time is a signal too, of numbers that are not evaluated anew in every step.
  if (kind_field.may_depend_on_signals &&
      (names_others(text) || (!kind_field.may_depend_on_time && names_time(text, variables_)))) {
    description_.parameters[static_cast<std::size_t>(number)] = 0;
    description_.signals.push_back({number, line, std::move(text)});
    return;
  }
  description_.parameters[static_cast<std::size_t>(number)] = evaluate(
      text, kind_field.may_depend_on_time, description_.parameter_names.size(), field_path(name), line);
  description_.expressions.push_back({number, line, std::move(text)});
}

void DescriptionBuilder::word(std::string_view name, std::string text, int line) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  switch (kind_field->type) {
    case FieldType::Choice: {
      const std::vector<std::string>& choices = kind_field->choices;
      if (std::find(choices.begin(), choices.end(), text) == choices.end())
        return field_finding(
            name, fmt::format("expected one of {}, got '{}'", fmt::join(choices, ", "), excerpt(text)),
            did_you_mean(text, choices), line);
      break;
    }
    case FieldType::Text:
    case FieldType::Body:
    case FieldType::Joint:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Force:
    case FieldType::Flexible: break;
    case FieldType::Choices:
      return field_finding(name, fmt::format("expected a list, got '{}'", excerpt(text)),
                           fmt::format("write [\"{}\"]", excerpt(text)), line);
    case FieldType::Bodies:
    case FieldType::Joints:
      return field_finding(name, fmt::format("expected two names, got '{}'", excerpt(text)),
                           kind_field->type == FieldType::Bodies ? "write [\"ground\", \"body\"]"
                                                                 : "write [\"first\", \"second\"]",
                           line);
    default:
      return field_finding(
          name,
          fmt::format("expected {}, got '{}'", number_count(kind_field->type) == 1 ? "a number" : "numbers",
                      excerpt(text)),
          {}, line);
  }
  value->word = static_cast<std::int32_t>(description_.words.size());
  description_.words.push_back(std::move(text));
}

void DescriptionBuilder::words(std::string_view name, std::string first, std::string second, int line) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  const bool bodies = kind_field->type == FieldType::Bodies;
  if (!bodies && kind_field->type != FieldType::Joints)
    return field_finding(name, "expected one value, got two names", {}, line);
  if (first == second)
    return field_finding(name,
                         fmt::format("expected two different {}, got '{}' twice",
                                     bodies ? "bodies" : "joints", excerpt(first)),
                         {}, line);
  value->word = static_cast<std::int32_t>(description_.words.size());
  description_.words.push_back(std::move(first));
  description_.words.push_back(std::move(second));
}

void DescriptionBuilder::choices(std::string_view name, const std::vector<std::string>& chosen, int line) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  const std::vector<std::string>& known = kind_field->choices;
  if (chosen.empty())
    return field_finding(name, fmt::format("expected at least one of {}, got none", fmt::join(known, ", ")),
                         {}, line);
  for (auto word = chosen.begin(); word != chosen.end(); ++word) {
    if (std::find(known.begin(), known.end(), *word) == known.end())
      return field_finding(
          name, fmt::format("expected one or more of {}, got '{}'", fmt::join(known, ", "), excerpt(*word)),
          did_you_mean(*word, known), line);
    if (std::find(chosen.begin(), word, *word) != word)
      return field_finding(name, fmt::format("'{}' is given twice", *word), {}, line);
  }
  value->word = static_cast<std::int32_t>(description_.words.size());
  value->count = static_cast<std::uint8_t>(chosen.size());
  description_.words.insert(description_.words.end(), chosen.begin(), chosen.end());
}

void DescriptionBuilder::consistent(std::string_view name, int line) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  if (!kind_field->may_be_consistent)
    return field_finding(name, "\"consistent\" is not allowed here: assembly cannot determine this value",
                         "give numbers", line);
  value->consistent = true;
}

void DescriptionBuilder::mark_consistent(std::string_view name, int line) {
  if (entry_ == nullptr) return;
  const int index = entry_->kind->field(name);
  if (index < 0) return;  // numbers() has said so
  if (entry_->kind->fields[static_cast<std::size_t>(index)].may_be_consistent)
    entry_->fields[static_cast<std::size_t>(index)].consistent = true;
  else
    field_finding(name, "\"consistent\" is not allowed here: assembly cannot determine this value",
                  "give numbers", line);
}

void DescriptionBuilder::numbers_in_bodies(std::string_view name, const std::vector<std::string>& bodies,
                                           std::span<const double> values, int line) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  if (kind_field->body_axes == BodyAxes::None)
    return field_finding(name, "expected components in inertial axes, got some in the axes of bodies",
                         "write an array of numbers", line);
  const std::size_t each = kind_field->type == FieldType::PlaneVector ? 2 : 3;
  if (bodies.empty() || bodies.size() > 2 || values.size() != each * bodies.size())
    return field_finding(name, fmt::format("expected {} numbers for each of one or two bodies", each), {},
                         line);
  value->first = static_cast<std::int32_t>(description_.parameters.size());
  value->count = static_cast<std::uint8_t>(values.size());
  value->in_bodies = true;
  value->word = static_cast<std::int32_t>(description_.words.size());
  description_.words.insert(description_.words.end(), bodies.begin(), bodies.end());
  description_.parameters.insert(description_.parameters.end(), values.begin(), values.end());
}

// What is given in the axes of bodies is given for those that carry it, by the names that the entry has for them.
void DescriptionBuilder::check_bodies(const Given& given) {
  const Field& kind_field = entry_->kind->fields[static_cast<std::size_t>(given.field)];
  FieldValue& value = entry_->fields[static_cast<std::size_t>(given.field)];
  const int bodies = bodies_field(*entry_->kind);
  if (!value.in_bodies || bodies < 0) return;
  const std::int32_t word = entry_->fields[static_cast<std::size_t>(bodies)].word;
  if (word < 0) return;  // reported before
  const auto name_at = [&](std::int32_t i) -> const std::string& {
    return description_.words[static_cast<std::size_t>(i)];
  };
  const int count = is_pair(entry_->kind->fields[static_cast<std::size_t>(bodies)].type) ? 2 : 1;
  std::vector<std::string> wanted, found;
  for (int i = 0; i < count; ++i)
    if (carries(kind_field.body_axes, i)) wanted.push_back(name_at(word + i));
  const int vectors = value.count / (kind_field.type == FieldType::PlaneVector ? 2 : 3);
  for (int i = 0; i < vectors; ++i) found.push_back(name_at(value.word + i));
  value.swapped = found.size() == 2 && found[0] == wanted.back();
  if (value.swapped) std::swap(found[0], found[1]);
  if (found == wanted) return;
  std::string hint;
  for (const std::string& name : found)
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end() && hint.empty())
      hint = did_you_mean(name, wanted);
  const auto quoted = [](const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names)
      out += fmt::format("{}'{}'", out.empty() ? "" : " and ", excerpt(name));
    return out;
  };
  field_finding(kind_field.name,
                fmt::format("expected the components in the axes of {}, got those of {}", quoted(wanted),
                            quoted(found)),
                std::move(hint), given.line);
}

void DescriptionBuilder::check_given(const Given& given) {
  check_bodies(given);
  const Field& kind_field = entry_->kind->fields[static_cast<std::size_t>(given.field)];
  const FieldValue& value = entry_->fields[static_cast<std::size_t>(given.field)];
  if (value.first < 0) return;
  const double* numbers = description_.parameters.data() + value.first;
  for (int i = 0; i < value.count; ++i) {
    if (!std::isfinite(numbers[i])) return;  // reported before
    const std::string mistake = value_mistake(&kind_field, numbers[i]);
    if (!mistake.empty()) finding(parameter_path(description_, value.first + i), mistake, {}, given.line);
  }
  const bool plane = kind_field.type == FieldType::PlaneVector;
  if (kind_field.pose == PoseRole::Direction && kind_field.body_axes != BodyAxes::None) {
    const int each = plane ? 2 : 3;
    for (int i = 0; i + each <= value.count; i += each)
      if (std::all_of(numbers + i, numbers + i + each, [](double x) { return x == 0; }))
        return field_finding(kind_field.name,
                             fmt::format("expected a direction, got {}", plane ? "[0, 0]" : "[0, 0, 0]"),
                             "the length does not matter, but it must not be zero", given.line);
  }
  if (kind_field.type == FieldType::Rotation) {
    const std::string mistake = rotation_mistake(value.form, numbers);
    if (!mistake.empty()) field_finding(kind_field.name, mistake, {}, given.line);
  }
}

namespace {

// What a body with "on" has from its host if it is not given: there is no parameter that could be set.
bool follows_host(std::string_view field) {
  return field == "position" || field == "orientation" || field == "velocity" || field == "angular_velocity";
}

}  // namespace

void DescriptionBuilder::end() {
  if (entry_ == nullptr) return;
  for (const Given& given : given_) check_given(given);
  const bool member = section_ == Section::Flexible && is_member(*entry_);
  const int on = section_ == Section::Bodies ? entry_->kind->field("on") : -1;
  const bool attached = on >= 0 && entry_->fields[static_cast<std::size_t>(on)].given;
  for (std::size_t i = 0; i < entry_->fields.size(); ++i) {
    FieldValue& value = entry_->fields[i];
    const Field& kind_field = entry_->kind->fields[i];
    if (value.given || (member && concerns_whole_frame(kind_field.name))) continue;
    if (entry_->rides) continue;  // a joint that is where its body is
    if (attached && follows_host(kind_field.name)) continue;
    if (kind_field.required) {
      field_finding(kind_field.name, fmt::format("missing: {}", kind_field.summary), {}, entry_->line);
    } else if (kind_field.type == FieldType::Integer && !kind_field.defaults.empty()) {
      value.set_integer(kind_field.defaults[0]);
    } else if (!kind_field.defaults.empty()) {
      value.first = static_cast<std::int32_t>(description_.parameters.size());
      value.count = static_cast<std::uint8_t>(kind_field.defaults.size());
      description_.parameters.insert(description_.parameters.end(), kind_field.defaults.begin(),
                                     kind_field.defaults.end());
    }
  }
  entry_ = nullptr;
  if (section_ == Section::Beams) add_beam_nodes(description_.entries(Section::Beams).size() - 1);
  if (section_ == Section::Flexible) add_flexible_frame(description_.entries(Section::Flexible).size() - 1);
}

void DescriptionBuilder::finding(std::string path, std::string message, std::string hint, int line) {
  if (findings_.size() < kMaxFindings)
    findings_.push_back({description_.file, line, std::move(path), std::move(message), std::move(hint)});
  else
    ++suppressed_findings_;
}

void DescriptionBuilder::field_finding(std::string_view name, std::string message, std::string hint,
                                       int line) {
  finding(field_path(name), std::move(message), std::move(hint), line);
}

void DescriptionBuilder::reject(std::string_view name, std::string_view part, std::string message,
                                std::string hint, int line) {
  const Field* kind_field = nullptr;
  if (open_field(name, line, &kind_field) == nullptr) return;
  finding(field_path(name) + std::string(part), std::move(message), std::move(hint), line);
}

Description DescriptionBuilder::finish() {
  // References to what was refused as a whole are not dangling: entries and sections.
  for (const Diagnostic& finding : findings_)
    for (const Section section : kSections) {
      const std::string_view name = section_name(section);
      if (finding.path == name)
        failed_names_.push_back(fmt::format("{}.*", name));
      else if (finding.path.starts_with(name) && finding.path[name.size()] == '.' &&
               finding.path.find_first_of(".[", name.size() + 1) == std::string::npos)
        failed_names_.push_back(finding.path.substr(name.size() + 1));
    }
  add_modes();
  // States that belong to forces have the rate 0 here; the forces add theirs. Initial values are numbers of the forces, or 0.
  for (const Entry& force : description_.entries(Section::Forces))
    for (const ForceState& own : states_of_force(description_, force)) {
      section_ = Section::States;
      std::vector<Entry>& states = description_.entries(Section::States);
      const Kind* kind = find_kind(Section::States, "expression");
      states.push_back({force.name + "." + own.name, kind, force.line,
                        static_cast<std::int32_t>(description_.parameters.size()),
                        std::vector<FieldValue>(kind->fields.size())});
      names_[static_cast<std::size_t>(Section::States)]->insert(states.size() - 1);
      entry_ = &states.back();
      given_.clear();
      const int field = own.initial.empty() ? -1 : force.kind->field(own.initial);
      if (field >= 0 && force.fields[static_cast<std::size_t>(field)].first >= 0) {
        FieldValue& value = entry_->fields[static_cast<std::size_t>(kind->field("initial"))];
        value = force.fields[static_cast<std::size_t>(field)];
        value.given = true;
      }
      word("rate", "0", force.line);
      end();
    }
  resolve_references(Section::Bodies);
  add_riders();
  for (Section section : kSections)
    if (section != Section::Bodies) resolve_references(section);
  check_found_bodies();
  if (!findings_.empty()) {
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
    if (suppressed_findings_ > 0)
      findings_.push_back({description_.file, 0, "",
                           fmt::format("{} more messages are not shown", suppressed_findings_), ""});
    throw InputError(std::move(findings_));
  }
  for (auto& names : names_) names.reset();
  for (Section section : kSections) description_.entries(section).shrink_to_fit();
  description_.parameters.shrink_to_fit();
  description_.words.shrink_to_fit();
  return std::move(description_);
}

}  // namespace liedyn

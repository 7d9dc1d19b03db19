#include "model/description.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/expression.h"
#include "base/suggest.h"
#include "model/beams/beam.h"
#include "model/flexible/body.h"
#include "model/number_paths.h"
#include "model/sensors/list.h"

namespace liedyn {
namespace {

// More findings than this help nobody; the rest are counted.
constexpr std::size_t kMaxFindings = 100;

// Indices of numbers are 32 bits wide, and an element of a beam has about two hundred of them.
constexpr int kMostElements = 1'000'000;

constexpr double kUnknown =
    std::numeric_limits<double>::quiet_NaN();  // of a value whose mistake was reported before

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parameters stand in expressions, where a hyphen would be a minus sign.
bool is_parameter_name(std::string_view text) {
  return is_name(text) && text.find('-') == std::string_view::npos;
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

// A hash set of the indices of the entries: their names are not stored a second time.
class DescriptionBuilder::Names {
 public:
  explicit Names(const std::vector<Entry>& entries) : set_(16, Hash{&entries}, Equal{&entries}) {}
  void reserve(std::size_t n) { set_.reserve(n); }
  bool insert(std::size_t entry) { return set_.insert(static_cast<std::int32_t>(entry)).second; }
  bool contains(std::string_view name) const { return set_.contains(name); }

 private:
  using Index = std::int32_t;
  struct Hash {
    using is_transparent = void;
    const std::vector<Entry>* entries;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
    std::size_t operator()(Index i) const { return (*this)((*entries)[static_cast<std::size_t>(i)].name); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<Entry>* entries;
    std::string_view name(std::string_view n) const { return n; }
    std::string_view name(Index i) const { return (*entries)[static_cast<std::size_t>(i)].name; }
    bool operator()(auto a, auto b) const { return name(a) == name(b); }
  };
  std::unordered_set<Index, Hash, Equal> set_;
};

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
    const std::size_t index = description_.numbers.size();
    if (!is_parameter_name(parameter.name))
      finding(path, "expected a name of letters, digits and underscores that does not begin with a digit", {},
              parameter.line);
    else if (parameter.name == "t" || parameter.name == "pi")
      finding(path, fmt::format("'{}' already has a meaning in expressions", parameter.name),
              "choose another name", parameter.line);
    else if (repeated.contains(parameter.name) && !names.insert(parameter.name).second)
      finding(path, "is defined twice", {}, parameter.line);

    if (parameter.expression.empty()) {
      description_.numbers.push_back(parameter.value);
      const std::string mistake = value_mistake(nullptr, parameter.value);
      if (!mistake.empty()) finding(path, mistake, {}, parameter.line);
    } else {
      description_.expressions.push_back(
          {static_cast<std::int32_t>(index), parameter.line, parameter.expression});
      description_.numbers.push_back(evaluate(parameter.expression, false, index, path, parameter.line));
    }
    values_[index] = description_.numbers.back();
  }
  for (std::size_t i = 0; i < 3; ++i) {
    description_.numbers.push_back(gravity[i]);
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
    finding(path,
            fmt::format("in the expression '{}', at character {}: {}", excerpt(text), error.position() + 1,
                        error.what()),
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
              fmt::format("the expression '{}' uses the time t, but this number cannot vary with time",
                          excerpt(text)),
              {}, line);
    else if (i != time && i >= parameters)
      finding(
          path,
          fmt::format("the expression '{}' uses '{}', which is defined later", excerpt(text), variables_[i]),
          "parameters may use those before them", line);
    known = known && std::isfinite(values_[i]);
  }
  if (!known) return kUnknown;
  const double value = expression.evaluate<double>(values_);
  if (std::isfinite(value)) return value;
  finding(path,
          fmt::format("expected a finite number, but the expression '{}' gives {}", excerpt(text), value), {},
          line);
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
  description_.numbers[static_cast<std::size_t>(number)] =
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

  if (!is_name(name))
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
    finding(entry_path(section, name) + ".type",
            type.empty() ? fmt::format("missing, expected one of {}", expected)
                         : fmt::format("expected one of {}, got '{}'", expected, excerpt(type)),
            did_you_mean(type, types), line);
    if (failed_names_.size() < kMaxFindings) failed_names_.push_back(std::move(name));
    return false;
  }

  entries.push_back({std::move(name), kind, line, static_cast<std::int32_t>(description_.numbers.size()),
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

void DescriptionBuilder::numbers(std::string_view name, std::span<const double> values, int line,
                                 RotationForm form) {
  const Field* kind_field = nullptr;
  FieldValue* value = open_field(name, line, &kind_field);
  if (value == nullptr) return;
  auto expected = static_cast<std::size_t>(number_count(kind_field->type, form));
  if (expected == 0) return field_finding(name, "expected words, got numbers", {}, line);
  if (kind_field->type == FieldType::Integer && values.size() == 1) {
    std::string mistake = value_mistake(kind_field, values[0]);
    if (mistake.empty() && values[0] > kMostElements)
      mistake = fmt::format("expected at most {}, got {:g}", kMostElements, values[0]);
    if (!mistake.empty()) return field_finding(name, mistake, {}, line);
    value->word = static_cast<std::int32_t>(description_.words.size());
    description_.words.push_back(fmt::format("{:.0f}", values[0]));
    return;
  }
  const bool principal_moments = kind_field->type == FieldType::Inertia && values.size() == 3;
  if (kind_field->type == FieldType::Path) {
    if (values.empty() || values.size() % 3 != 0)
      return field_finding(name, fmt::format("expected points of 3 numbers, got {} numbers", values.size()),
                           {}, line);
    if (values.size() > 3 * kMostPathPoints)
      return field_finding(
          name, fmt::format("expected at most {} points, got {}", kMostPathPoints, values.size() / 3),
          "make it two beams, joined where they meet", line);
    expected = values.size();
  }
  if (values.size() != expected && !principal_moments) {
    const std::string wanted =
        kind_field->type == FieldType::Inertia ? "3 or 6" : fmt::format("{}", expected);
    return field_finding(
        name, fmt::format("expected {} number{}, got {}", wanted, wanted == "1" ? "" : "s", values.size()),
        {}, line);
  }
  value->first = static_cast<std::int32_t>(description_.numbers.size());
  value->count = static_cast<std::uint8_t>(expected);
  value->form = form;
  description_.numbers.insert(description_.numbers.end(), values.begin(), values.end());
  description_.numbers.resize(description_.numbers.size() + expected - values.size(), 0.0);
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
    description_.numbers[static_cast<std::size_t>(number)] = 0;
    description_.signals.push_back({number, line, std::move(text)});
    return;
  }
  description_.numbers[static_cast<std::size_t>(number)] = evaluate(
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
          name, fmt::format("expected some of {}, got '{}'", fmt::join(known, ", "), excerpt(*word)),
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
    return field_finding(name, "\"consistent\" is not allowed here: assembly cannot find this value",
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
    field_finding(name, "\"consistent\" is not allowed here: assembly cannot find this value", "give numbers",
                  line);
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
  value->first = static_cast<std::int32_t>(description_.numbers.size());
  value->count = static_cast<std::uint8_t>(values.size());
  value->in_bodies = true;
  value->word = static_cast<std::int32_t>(description_.words.size());
  description_.words.insert(description_.words.end(), bodies.begin(), bodies.end());
  description_.numbers.insert(description_.numbers.end(), values.begin(), values.end());
}

namespace {

// The field that names the bodies of an entry, -1 if it has none.
int bodies_field(const Kind& kind) {
  for (std::size_t i = 0; i < kind.fields.size(); ++i)
    if (kind.fields[i].type == FieldType::Bodies || kind.fields[i].type == FieldType::Body)
      return static_cast<int>(i);
  return -1;
}

bool is_pair(FieldType type) { return type == FieldType::Bodies || type == FieldType::Joints; }

// Whether the i-th body of an entry carries what a field describes.
bool carries(BodyAxes axes, int i) {
  return axes == BodyAxes::Each || axes == (i == 0 ? BodyAxes::First : BodyAxes::Second);
}

}  // namespace

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
  const double* numbers = description_.numbers.data() + value.first;
  for (int i = 0; i < value.count; ++i) {
    if (!std::isfinite(numbers[i])) return;  // reported before
    const std::string mistake = value_mistake(&kind_field, numbers[i]);
    if (!mistake.empty()) finding(number_path(description_, value.first + i), mistake, {}, given.line);
  }
  // What has no unit but the axes of bodies is a direction.
  const bool plane = kind_field.type == FieldType::PlaneVector;
  if (kind_field.unit.empty() && kind_field.body_axes != BodyAxes::None) {
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
      value.word = static_cast<std::int32_t>(description_.words.size());
      description_.words.push_back(fmt::format("{:.0f}", kind_field.defaults[0]));
    } else if (!kind_field.defaults.empty()) {
      value.first = static_cast<std::int32_t>(description_.numbers.size());
      value.count = static_cast<std::uint8_t>(kind_field.defaults.size());
      description_.numbers.insert(description_.numbers.end(), kind_field.defaults.begin(),
                                  kind_field.defaults.end());
    }
  }
  entry_ = nullptr;
  if (section_ == Section::Beams) add_beam_nodes(description_.entries(Section::Beams).size() - 1);
  if (section_ == Section::Flexible) add_flexible_frame(description_.entries(Section::Flexible).size() - 1);
}

// The frame of a flexible body, or an interface: a body without numbers of its own, like the nodes of beams.
void DescriptionBuilder::add_flexible_frame(std::size_t index) {
  const Entry& entry = description_.entries(Section::Flexible)[index];
  if (is_member(entry)) return check_member(entry);
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  bodies.push_back({entry.name,
                    is_interface(entry) ? &flexible_interface_kind() : &flexible_frame_kind(),
                    entry.line,
                    static_cast<std::int32_t>(description_.numbers.size()),
                    {}});
  bodies.back().flexible = static_cast<std::int32_t>(index);
  if (names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1)) return;
  finding(entry_path(Section::Flexible, entry.name), "there is a body of this name already",
          "flexible bodies and their interfaces are bodies for joints and forces: choose another name",
          entry.line);
  bodies.pop_back();
}

// A member of a frame has the fields of a linear beam, but it is no body.
void DescriptionBuilder::check_member(const Entry& member) {
  for (std::size_t i = 0; i < member.fields.size(); ++i)
    if (const std::string& name = member.kind->fields[i].name;
        member.fields[i].given && concerns_whole_frame(name))
      finding(fmt::format("{}.{}", entry_path(Section::Flexible, member.name), name),
              "concerns the whole frame, not one of its members",
              fmt::format("give it to '{}'", excerpt(member_owner(description_, member))), member.line);
  if (names_[static_cast<std::size_t>(Section::Beams)]->contains(member.name))
    finding(entry_path(Section::Flexible, member.name), "there is a beam of this name already",
            "sensors look at places on both: choose another name", member.line);
}

// How many modes a body has depends on its interfaces.
void DescriptionBuilder::add_modes() {
  const std::vector<Entry>& entries = description_.entries(Section::Flexible);
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_interface(entries[i]) || is_member(entries[i])) continue;
    const auto interfaces = std::count_if(entries.begin(), entries.end(), [&](const Entry& other) {
      return is_interface(other) && other.fields[0].word >= 0 &&
             interface_owner(description_, other) == entries[i].name;
    });
    const int points = modal_points(description_, entries[i], static_cast<int>(interfaces));
    if (3 * points > kMostModes) {
      finding(entry_path(Section::Flexible, entries[i].name) + ".modes",
              fmt::format("expected at most {} modes, got {}", kMostModes, 3 * points),
              "an interface adds six static deformations to those of method craig_bampton", entries[i].line);
      continue;
    }
    for (int point = 0; point < points; ++point) {
      bodies.push_back({fmt::format("{}.modes{}", entries[i].name, point + 1),
                        &flexible_modes_kind(),
                        entries[i].line,
                        static_cast<std::int32_t>(description_.numbers.size()),
                        {}});
      bodies.back().flexible = static_cast<std::int32_t>(i);
      names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1);
    }
  }
}

// A body that rides on another one is held by a fixed joint, NAME.on, which leaves no rows (plan_tree in model/model.cpp).
void DescriptionBuilder::add_riders() {
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  std::unordered_map<std::string_view, std::int32_t> index{{"ground", -1}};
  for (std::size_t i = 0; i < bodies.size(); ++i) index.emplace(bodies[i].name, static_cast<std::int32_t>(i));
  for (Entry& body : bodies) {
    const int field = body.kind->field("on");
    if (field < 0 || !body.fields[static_cast<std::size_t>(field)].given) continue;
    const std::int32_t word = body.fields[static_cast<std::size_t>(field)].word;
    if (word < 0) continue;  // reported before
    const auto host = index.find(description_.words[static_cast<std::size_t>(word)]);
    if (host == index.end()) {
      failed_names_.push_back(body.name + ".on");  // the joint that it would have
      continue;
    }
    body.rides = true;
    body.host = host->second;
  }
  for (const Entry& body : bodies) {
    if (!body.rides) continue;
    const std::string path = entry_path(Section::Bodies, body.name) + ".on";
    constexpr int kMostRiders = 100;
    const Entry* carrier = &body;
    for (int steps = 0; carrier->rides && carrier->host >= 0 && steps < kMostRiders; ++steps)
      carrier = &bodies[static_cast<std::size_t>(carrier->host)];
    if (carrier->rides && carrier->host >= 0) {
      finding(path,
              fmt::format("'{}' rides on itself, or on more than {} bodies one upon the other",
                          excerpt(body.name), kMostRiders),
              "one of them must move by itself, or ride on ground", body.line);
      continue;
    }
    if (const int f = body.kind->field("formulation"); body.fields[static_cast<std::size_t>(f)].given)
      finding(fmt::format("{}.formulation", entry_path(Section::Bodies, body.name)),
              "a body with \"on\" has no coordinates of its own", "leave it out", body.line);
    for (const char* name : {"position", "orientation", "velocity", "angular_velocity"})
      if (const int f = body.kind->field(name); body.fields[static_cast<std::size_t>(f)].consistent)
        finding(fmt::format("{}.{}", entry_path(Section::Bodies, body.name), name),
                "\"consistent\" is not allowed for a body that rides on another one",
                "leave it out: it follows that body", body.line);
    section_ = Section::Joints;
    std::vector<Entry>& joints = description_.entries(Section::Joints);
    const Kind* kind = find_kind(Section::Joints, "fixed");
    joints.push_back({body.name + ".on", kind, body.line,
                      static_cast<std::int32_t>(description_.numbers.size()),
                      std::vector<FieldValue>(kind->fields.size())});
    joints.back().rides = true;
    joints.back().host = static_cast<std::int32_t>(&body - bodies.data());
    names_[static_cast<std::size_t>(Section::Joints)]->insert(joints.size() - 1);
    entry_ = &joints.back();
    given_.clear();
    words("between", body.host < 0 ? "ground" : bodies[static_cast<std::size_t>(body.host)].name, body.name,
          body.line);
    end();
  }
}

// Joints and forces act on the material of a flexible body, that is on its interfaces.
void DescriptionBuilder::refuse_flexible(std::size_t index, const Field& kind_field,
                                         const std::string& word) {
  const std::vector<Entry>& entries = description_.entries(Section::Flexible);
  const std::string_view owner = std::string_view(word).substr(0, word.find('.'));
  const auto body =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == owner; });
  if (body == entries.end()) return;
  const Entry& entry = description_.entries(section_)[index];
  const std::string path = fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name);
  if (kind_field.type == FieldType::Flexible) {
    if (is_interface(*body))
      finding(path, fmt::format("'{}' is an interface, expected a flexible body", excerpt(word)),
              "name the body itself", entry.line);
    else if (is_member(*body))
      finding(path, fmt::format("'{}' is a member of a frame, expected a flexible body", excerpt(word)),
              fmt::format("name the frame, '{}'", excerpt(member_owner(description_, *body))), entry.line);
    else if (section_ == Section::Flexible && is_linear_beam(entry) && !is_beam_frame(*body))
      finding(path,
              fmt::format("expected a flexible body of type frame, got '{}' of type {}", excerpt(word),
                          body->kind->type),
              {}, entry.line);
    return;
  }
  if (is_interface(*body) || (section_ == Section::Sensors && owner.size() == word.size())) return;
  finding(path,
          fmt::format("'{}' is not a place of the material of the flexible body '{}'", excerpt(word), owner),
          fmt::format("give '{}' an interface and name that", owner), entry.line);
}

// A node is a body without numbers of its own: all that is known about it stands in the beam's fields.
void DescriptionBuilder::add_beam_nodes(std::size_t index) {
  const Entry& beam = description_.entries(Section::Beams)[index];
  const BeamMesh mesh = beam_mesh(description_, beam);
  if (mesh.elements == 0) {  // which was found before
    failed_names_.push_back(beam.name);
    return;
  }
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  for (int node = 0; node < mesh.nodes(); ++node) {
    bodies.push_back({beam_node_name(beam.name, node, mesh),
                      &beam_node_kind(),
                      beam.line,
                      static_cast<std::int32_t>(description_.numbers.size()),
                      {},
                      static_cast<std::int32_t>(index),
                      node});
    names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1);
  }
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

// Places on beams. A body may be a node of a beam, by its place: "wing[0.5]" becomes "wing.node4". True: there is nothing else to say.
bool DescriptionBuilder::resolve_beam(std::size_t index, const Field& kind_field, std::string& word) {
  const BeamPlace place = parse_beam_place(word);
  const std::string_view owner = word;
  const std::string_view first = owner.substr(0, owner.find_first_of(".["));
  if (std::find(failed_names_.begin(), failed_names_.end(), first) != failed_names_.end()) return true;
  const bool body = kind_field.type != FieldType::Beam;
  if (body && !place.given) return false;
  const Entry& entry = description_.entries(section_)[index];
  const auto say = [&](std::string message, std::string hint) {
    finding(fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name), std::move(message),
            std::move(hint), entry.line);
    return true;
  };
  // Sensors may look at sections of linear beams as at those of exact ones.
  const bool linear_too = !body && section_ == Section::Sensors;
  const Entry* beam = nullptr;
  Suggestion suggestion(place.beam);
  const auto look = [&](const Entry& candidate) {
    suggestion.consider(candidate.name);
    if (candidate.name == place.beam) beam = &candidate;
  };
  for (const Entry& candidate : description_.entries(Section::Beams)) look(candidate);
  if (linear_too)
    for (const Entry& candidate : description_.entries(Section::Flexible))
      if (is_linear_beam(candidate)) look(candidate);
  if (beam == nullptr) {
    // A linear beam has no bodies along it, and line loads act on exact beams.
    for (const Entry& candidate : description_.entries(Section::Flexible))
      if (is_linear_beam(candidate) && candidate.name == place.beam)
        return say(fmt::format("'{}' is a linear beam of a flexible body, expected one of `beams`",
                               excerpt(place.beam)),
                   fmt::format("give '{}' an interface there and name that",
                               excerpt(is_member(candidate) ? member_owner(description_, candidate)
                                                            : candidate.name)));
    return say(fmt::format("there is no beam '{}'", excerpt(place.beam)), did_you_mean(suggestion.name()));
  }
  if (!place.valid)
    return say(
        fmt::format("expected a fraction of the length from 0 to 1 in brackets, got '{}'", excerpt(word)),
        fmt::format("write {}[0.5] for the middle", beam->name));
  if (!body) {
    const bool wanted = section_ == Section::Sensors;
    if (place.given == wanted) return true;
    return wanted ? say(fmt::format("expected a place on the beam '{}'", beam->name),
                        fmt::format("write {}[0.5] for the middle", beam->name))
                  : say(fmt::format("expected the name of a beam, got '{}'", excerpt(word)),
                        fmt::format("write {}", beam->name));
  }
  const BeamMesh mesh = beam_mesh(description_, *beam);
  const int node = beam_node_at(mesh, place.fraction);
  if (node < 0)
    return say(fmt::format("the beam '{}' has no node at {}", beam->name, place.fraction),
               fmt::format("its nodes are at the multiples of 1/{}", mesh.nodes() - 1));
  word = beam_node_name(beam->name, node, mesh);
  return true;
}

void DescriptionBuilder::resolve(std::size_t index, const Field& kind_field, std::string& word) {
  if (kind_field.type == FieldType::Body || kind_field.type == FieldType::Bodies ||
      kind_field.type == FieldType::Beam)
    if (resolve_beam(index, kind_field, word)) return;
  const bool joint = kind_field.type == FieldType::Joint || kind_field.type == FieldType::Joints;
  const Section target = joint                                    ? Section::Joints
                         : kind_field.type == FieldType::State    ? Section::States
                         : kind_field.type == FieldType::Force    ? Section::Forces
                         : kind_field.type == FieldType::Flexible ? Section::Flexible
                                                                  : Section::Bodies;
  if (target == Section::Bodies && word == "ground") return;
  if (names_[static_cast<std::size_t>(target)]->contains(word)) {
    if (target == Section::Bodies || target == Section::Flexible) refuse_flexible(index, kind_field, word);
    return;
  }
  const auto has_failed = [&](std::string_view name) {
    return std::find(failed_names_.begin(), failed_names_.end(), name) != failed_names_.end();
  };
  if (has_failed(word) || has_failed(fmt::format("{}.*", section_name(target)))) return;
  const Entry& entry = description_.entries(section_)[index];
  const bool or_joint = target == Section::Forces && may_look_at_joint(*entry.kind);
  if (or_joint &&
      (names_[static_cast<std::size_t>(Section::Joints)]->contains(word) || has_failed("joints.*")))
    return;
  std::string hint;
  if (findings_.size() < kMaxFindings) {  // looking through all names is slow, for a model with many mistakes
    Suggestion suggestion(word);
    if (target == Section::Bodies) suggestion.consider("ground");
    for (const Entry& candidate : description_.entries(target)) suggestion.consider(candidate.name);
    if (or_joint)
      for (const Entry& candidate : description_.entries(Section::Joints)) suggestion.consider(candidate.name);
    hint = did_you_mean(suggestion.name());
    for (const Section other :
         {Section::Bodies, Section::Joints, Section::Forces, Section::States, Section::Sensors})
      if (other != target && names_[static_cast<std::size_t>(other)]->contains(word))
        hint = fmt::format("'{}' is one of the {}", excerpt(word), section_name(other));
    if (target == Section::Bodies && names_[static_cast<std::size_t>(Section::Beams)]->contains(word))
      hint = fmt::format("'{0}' is a beam: name a place on it, {0}[0.5] for the middle", excerpt(word));
    if (target == Section::Bodies)
      for (const Entry& candidate : description_.entries(Section::Flexible))
        if (is_member(candidate) && candidate.name == word.substr(0, word.find('.')))
          hint = fmt::format("it is a member of '{0}': give '{0}' an interface and name that",
                             excerpt(member_owner(description_, candidate)));
  }
  finding(fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name),
          fmt::format("there is no {} '{}'",
                      target == Section::Joints     ? "joint"
                      : target == Section::States   ? "state"
                      : or_joint                    ? "force or joint"
                      : target == Section::Forces   ? "force"
                      : target == Section::Flexible ? "flexible body"
                                                    : "body",
                      excerpt(word)),
          hint, entry.line);
}

void DescriptionBuilder::resolve_references(Section section) {
  section_ = section;
  const std::vector<Entry>& entries = description_.entries(section);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    for (std::size_t f = 0; f < entries[e].fields.size(); ++f) {
      const Field& kind_field = entries[e].kind->fields[f];
      const std::int32_t word = entries[e].fields[f].word;
      if (word < 0) continue;
      const bool pair = is_pair(kind_field.type);
      if (!pair && kind_field.type != FieldType::Body && kind_field.type != FieldType::Joint &&
          kind_field.type != FieldType::State && kind_field.type != FieldType::Beam &&
          kind_field.type != FieldType::Flexible && kind_field.type != FieldType::Force)
        continue;
      for (std::int32_t w = word; w < word + (pair ? 2 : 1); ++w)
        resolve(e, kind_field, description_.words[static_cast<std::size_t>(w)]);
      // Two names of one node of a beam.
      if (pair && description_.words[static_cast<std::size_t>(word)] ==
                      description_.words[static_cast<std::size_t>(word) + 1])
        finding(fmt::format("{}.{}", entry_path(section, entries[e].name), kind_field.name),
                fmt::format("expected two different bodies, got '{}' twice",
                            excerpt(description_.words[static_cast<std::size_t>(word)])),
                {}, entries[e].line);
    }
  }
}

// A point or direction in inertial axes belongs to a body by where the body stands in the initial configuration. A body whose position or
// orientation is to be found, without a guess, stands nowhere: another mechanism would come out than the one that was meant.
void DescriptionBuilder::check_found_bodies() {
  struct Unknown {
    std::string_view position, orientation;  // the names of the fields that assembly is to find; empty: known
  };
  std::unordered_map<std::string_view, Unknown> unknown;
  const auto look = [&](const Entry& entry) {
    const auto is_unknown = [&](std::string_view name) {
      const int field = entry.kind->field(name);
      if (field < 0 || entry.fields.empty()) return false;
      const FieldValue& value = entry.fields[static_cast<std::size_t>(field)];
      return value.consistent && value.first < 0;
    };
    Unknown found;
    if (is_unknown("position")) found.position = "position";
    for (const std::string_view name : {"orientation", "angle"})
      if (is_unknown(name)) found.orientation = name;
    if (!found.position.empty() || !found.orientation.empty()) unknown.emplace(entry.name, found);
  };
  for (const Entry& body : description_.entries(Section::Bodies)) look(body);
  for (const Entry& body : description_.entries(Section::Flexible)) look(body);
  if (unknown.empty()) return;

  for (const Entry& body : description_.entries(Section::Bodies)) {
    if (!body.rides || body.host < 0) continue;
    const auto host =
        unknown.find(description_.entries(Section::Bodies)[static_cast<std::size_t>(body.host)].name);
    if (host == unknown.end()) continue;
    const auto& [name, fields] = *host;
    const std::string_view missing = fields.position.empty() ? fields.orientation : fields.position;
    for (const char* field : {"position", "orientation"})
      if (body.fields[static_cast<std::size_t>(body.kind->field(field))].given)
        finding(fmt::format("{}.{}", entry_path(Section::Bodies, body.name), field),
                fmt::format("is given in inertial axes, but the {} of '{}' is \"consistent\": where it is on "
                            "'{}' is unknown",
                            missing, excerpt(name), excerpt(name)),
                fmt::format("give a guess, \"{}\": {{\"consistent\": ...}}", missing), body.line);
  }
  for (const Entry& entry : description_.entries(Section::Flexible))
    if (is_interface(entry) && entry.fields[0].word >= 0)
      if (const auto owner = unknown.find(interface_owner(description_, entry)); owner != unknown.end()) {
        const auto& [name, fields] = *owner;
        const std::string_view missing = fields.position.empty() ? fields.orientation : fields.position;
        finding(entry_path(Section::Flexible, entry.name) + ".at",
                fmt::format("is given in inertial axes, but the {} of '{}' is \"consistent\": where it is on "
                            "'{}' is unknown",
                            missing, excerpt(name), excerpt(name)),
                fmt::format("give a guess, \"{}\": {{\"consistent\": ...}}", missing), entry.line);
      }
  for (const Section section : {Section::Joints, Section::Forces, Section::Sensors})
    for (const Entry& entry : description_.entries(section)) {
      const int bodies = bodies_field(*entry.kind);
      if (bodies < 0 || entry.fields[static_cast<std::size_t>(bodies)].word < 0) continue;
      const std::int32_t word = entry.fields[static_cast<std::size_t>(bodies)].word;
      const int count = is_pair(entry.kind->fields[static_cast<std::size_t>(bodies)].type) ? 2 : 1;
      const auto name_of = [&](int i) -> const std::string& {
        return description_.words[static_cast<std::size_t>(word + i)];
      };
      for (int i = 0; i < count; ++i) {
        const auto body = unknown.find(name_of(i));
        if (body == unknown.end()) continue;
        const auto& [name, fields] = *body;
        if (entry.kind->keeps_orientation && !fields.orientation.empty())
          finding(
              entry_path(section, entry.name),
              fmt::format("keeps the relative orientation that the bodies have in the initial configuration, "
                          "but the {} of '{}' is \"consistent\"",
                          fields.orientation, excerpt(name)),
              fmt::format("give a guess, \"{}\": {{\"consistent\": ...}}", fields.orientation), entry.line);
        for (std::size_t f = 0; f < entry.fields.size(); ++f) {
          const Field& field = entry.kind->fields[f];
          if (!entry.fields[f].given || entry.fields[f].in_bodies || !carries(field.body_axes, i)) continue;
          // A direction in body axes depends on the orientation alone, a point on the position as well.
          const bool direction = field.unit.empty();
          const std::string_view missing =
              !direction && !fields.position.empty() ? fields.position : fields.orientation;
          if (missing.empty()) continue;
          const bool both = field.body_axes == BodyAxes::Each && count == 2;
          finding(
              fmt::format("{}.{}", entry_path(section, entry.name), field.name),
              fmt::format("is given in inertial axes, but the {} of '{}' is \"consistent\": where it is on "
                          "'{}' is unknown",
                          missing, excerpt(name), excerpt(name)),
              fmt::format("give it in body axes, \"{}\": {{{}\"{}\": [...]}}, or give a guess, \"{}\": "
                          "{{\"consistent\": ...}}",
                          field.name, both ? fmt::format("\"{}\": [...], ", excerpt(name_of(1 - i))) : "",
                          excerpt(name), missing),
              entry.line);
        }
      }
    }
}

Description DescriptionBuilder::finish() {
  // References to what was refused as a whole are not dangling: entries, sections and what a generator would have made.
  for (const Diagnostic& finding : findings_)
    for (const Section section : kSections) {
      const std::string_view name = section_name(section);
      if (finding.path == name || finding.path == "generator" || finding.path.starts_with("arguments."))
        failed_names_.push_back(fmt::format("{}.*", name));
      else if (finding.path.starts_with(name) && finding.path[name.size()] == '.' &&
               finding.path.find_first_of(".[", name.size() + 1) == std::string::npos)
        failed_names_.push_back(finding.path.substr(name.size() + 1));
    }
  add_modes();
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
                           fmt::format("{} more findings are not shown", suppressed_findings_), ""});
    throw InputError(std::move(findings_));
  }
  for (auto& names : names_) names.reset();
  for (Section section : kSections) description_.entries(section).shrink_to_fit();
  description_.numbers.shrink_to_fit();
  description_.words.shrink_to_fit();
  return std::move(description_);
}

}  // namespace liedyn

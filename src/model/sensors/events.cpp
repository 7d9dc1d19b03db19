#include "liedyn/model/sensors/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct Assignment {
  std::string target, value;
  bool complete;  // it has an equals sign, and something on both sides
};

// "u = 3; sensors.speed[2] = -0.8*speed[2]"
std::vector<Assignment> assignments(std::string_view text) {
  std::vector<Assignment> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string_view one = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (one.empty()) continue;
    const std::size_t equals = std::min(one.find('='), one.size());
    Assignment a{std::string(trimmed(one.substr(0, equals))),
                 std::string(equals < one.size() ? trimmed(one.substr(equals + 1)) : ""), true};
    a.complete = !a.target.empty() && !a.value.empty();
    out.push_back(std::move(a));
  }
  return out;
}

int entry_index(const Description& d, Section section, std::string_view name) {
  const auto& entries = d.entries(section);
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? -1 : static_cast<int>(found - entries.begin());
}

void parse_into(SensorConnection& c, std::string_view text, Sensor& sensor) {
  try {
    sensor.expressions.push_back(Expression::parse(text, c.variables));
  } catch (const ExpressionError& error) {
    c.refuse(fmt::format("'{}': {}", excerpt(text), error.what()), error.hint());
    sensor.expressions.emplace_back(Expression::parse("0", c.variables));
  }
}

// The expressions of sensors in their places, which may be conditions. As it was if that becomes too long.
Expression with_sensors_written_out(const SensorConnection& c, const Expression& given) try {
  Expression out = given;
  for (auto sensor = c.model.sensors.rbegin(); sensor != c.model.sensors.rend(); ++sensor) {
    const auto count = static_cast<int>(sensor->expressions.size());
    if (sensor->listed == nullptr || acts(sensor->listed->kind) || count != sensor->components) continue;
    for (int k = 0; k < count; ++k) {
      const int variable =
          c.variables.find(count == 1 ? sensor->name : fmt::format("{}[{}]", sensor->name, k));
      if (variable >= 0 && out.uses(variable)) out.substitute(variable, sensor->expressions[at(k)]);
    }
  }
  return out;
} catch (const ExpressionError&) {
  return given;
}

// The first variable is the time, then come the parameters.
bool is_of_parameters(const SensorConnection& c, const Expression& e) {
  const std::vector<int> used = e.variables();
  const int parameters = static_cast<int>(c.d.parameter_names.size());
  return std::all_of(used.begin(), used.end(), [&](int i) { return i >= 1 && i <= parameters; });
}

void check_target(SensorConnection& c, const std::string& target) {
  try {
    find_target(c.d, target);
  } catch (const InputError& error) {
    // There may be several targets: what quotes no name does not say which of them is wrong.
    for (const Diagnostic& found : error.diagnostics()) {
      const bool is_named = found.message.find('\'') != std::string::npos;
      c.refuse(is_named ? found.message : fmt::format("'{}': {}", excerpt(target), found.message),
               found.hint);
    }
  }
}

// The entry that a target such as "joints.latch" names as a whole; -1: it is another target. Names of sub-models have dots, as paths of numbers do.
int whole_entry(const Description& d, Section section, std::string_view target) {
  const std::string before = fmt::format("{}.", section_name(section));
  if (!target.starts_with(before)) return -1;
  const std::string_view name = target.substr(before.size());
  const int index = entry_index(d, section, name);
  if (index >= 0 || name.find_first_of(".[") != std::string_view::npos) return index;
  std::vector<std::string> names;
  for (const Entry& entry : d.entries(section)) names.push_back(entry.name);
  throw InputError(
      "set",
      fmt::format("there is no {} '{}'", section == Section::Joints ? "joint" : "state", excerpt(name)),
      did_you_mean(name, names));
}

}  // namespace

bool is_event(const Kind& kind) { return kind.type == "event"; }
bool is_sample(const Kind& kind) { return kind.type == "sample"; }

EventTarget find_target(const Description& d, const std::string& target) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw InputError("set", what, hint);
  };
  constexpr std::string_view kSensors = "sensors.";
  if (target.starts_with(kSensors)) {
    std::string_view name = std::string_view(target).substr(kSensors.size());
    int component = 0;
    bool named = false;
    if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
      const std::string_view number = name.substr(bracket + 1);
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), component);
      if (error != std::errc() || component < 0 ||
          std::string_view(end, number.data() + number.size()) != "]")
        refuse(fmt::format("expected a component such as sensors.speed[2], got '{}'", excerpt(target)), "");
      name = name.substr(0, bracket);
      named = true;
    }
    if (const int index = entry_index(d, Section::Sensors, name); index >= 0) {
      // 0: it depends on the entry.
      const int components = listed_sensor(*d.entries(Section::Sensors)[at(index)].kind).components;
      if (components > 1 && (!named || component >= components))
        refuse(fmt::format("'{}' has {} components, got '{}'", excerpt(name), components, excerpt(target)),
               fmt::format("write one of sensors.{0}[0] to sensors.{0}[{1}]", excerpt(name), components - 1));
      return {EventTarget::Of::Velocity, index, component};
    }
    std::vector<std::string> names;
    for (const Entry& entry : d.entries(Section::Sensors)) names.push_back(entry.name);
    refuse(fmt::format("there is no sensor '{}'", excerpt(name)), did_you_mean(name, names));
  }
  if (const int index = whole_entry(d, Section::States, target); index >= 0)
    return {EventTarget::Of::StateValue, index};
  if (const int index = whole_entry(d, Section::Joints, target); index >= 0)
    return {EventTarget::Of::Joint, index};
  return {EventTarget::Of::Parameter, find_parameter(d, target)};
}

std::vector<std::string> event_targets(const Description& d, const Entry& entry) {
  if (is_sample(*entry.kind)) return {word(d, entry, sample_field::kInto)};
  std::vector<std::string> out;
  if (is_given(entry, event_field::kSet))
    for (Assignment& a : assignments(word(d, entry, event_field::kSet))) out.push_back(std::move(a.target));
  return out;
}

std::vector<std::string> switched_joints(const Description& d) {
  std::vector<std::string> out;
  const std::string before = fmt::format("{}.", section_name(Section::Joints));
  for (const Entry& entry : d.entries(Section::Sensors))
    if (acts(*entry.kind))
      for (const std::string& target : event_targets(d, entry))
        if (target.starts_with(before)) out.push_back(target.substr(before.size()));
  std::erase_if(out, [&](const std::string& name) { return entry_index(d, Section::Joints, name) < 0; });
  return out;
}

void connect_event(SensorConnection& c, Sensor& sensor) {
  c.field = event_field::kWhen;
  parse_into(c, c.word(), sensor);
  // Where a condition changes two sides are equal, perhaps in the expression of a sensor that it names.
  const Expression written_out = with_sensors_written_out(c, sensor.expressions.back());
  sensor.is_condition = written_out.is_condition();
  if (sensor.is_condition)
    for (Expression::Comparison& comparison : written_out.comparisons()) {
      if (comparison.is_equality && !is_of_parameters(c, comparison.difference))
        c.refuse(fmt::format("'{}': values that change with time are equal only at isolated instants, which "
                             "time steps do not hit",
                             excerpt(c.word())),
                 "use == and != for parameters only; write a - b for the instant when a = b, 1 - c where a "
                 "condition c is false, and mode > 1.5 for a state that is set");
      sensor.comparisons.push_back(std::move(comparison.difference));
    }
  if (!is_given(c.entry, event_field::kSet)) return;
  c.field = event_field::kSet;
  if (trimmed(c.word()).empty()) c.refuse("expected 'target = expression', got nothing", "leave `set` out");
  for (const Assignment& a : assignments(c.word())) {
    if (!a.complete) {
      c.refuse(fmt::format("expected 'target = expression', several separated by semicolons, got '{}'",
                           excerpt(c.word())),
               "");
      return;
    }
    check_target(c, a.target);
    parse_into(c, a.value, sensor);
  }
}

void connect_sample(SensorConnection& c, Sensor& sensor) {
  c.field = sample_field::kValue;
  parse_into(c, c.word(), sensor);
  c.field = sample_field::kInto;
  check_target(c, c.word());
}

}  // namespace liedyn

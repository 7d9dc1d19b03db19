#include "liedyn/model/forces/bristles.h"

#include <fmt/format.h>

#include <algorithm>

#include "liedyn/model/is_given.h"

namespace liedyn {

std::vector<Field> bristle_fields() {
  return {{.name = "presliding",
           .type = FieldType::Number,
           .unit = "m",
           .summary =
               "Presliding displacement: the deflection of the bristles before the surfaces slide. Such "
               "friction keeps a body at rest. Without it, friction falls to 0 below the speed `smoothing`.",
           .range = Range::Positive},
          {.name = "presliding_damping",
           .type = FieldType::Number,
           .unit = "s/m",
           .summary = "Damping of the bristles: force divided by the normal force and the speed.",
           .defaults = {0},
           .range = Range::NonNegative},
          {.name = "relaxation_time",
           .type = FieldType::Number,
           .unit = "s",
           .summary = "Time in which the deflection of the bristles falls to 1/e while the bodies are apart.",
           .defaults = {0.01},
           .range = Range::Positive}};
}

bool has_bristles(const Entry& force) { return is_given(force, force.kind->field("presliding")); }

int bristle_states(const Entry& force) {
  return has_bristles(force) ? kBristleStates * force.kind->bristle_points : 0;
}

std::string bristle_name(const std::string& force, int i) {
  return fmt::format("{}.bristle{}", force, i + 1);
}

std::vector<ForceState> states_of_bristles(const Description&, const Entry& force) {
  std::vector<ForceState> out;
  for (int i = 0; i < bristle_states(force); ++i)
    out.push_back({.name = bristle_name(force.name, i).substr(force.name.size() + 1)});
  return out;
}

std::vector<int> bristle_vectors(const Description& description) {
  const std::vector<Entry>& states = description.entries(Section::States);
  std::vector<int> out(states.size(), -1);
  for (const Entry& force : description.entries(Section::Forces)) {
    const int count = bristle_states(force);
    if (count == 0) continue;
    const std::string name = bristle_name(force.name, 0);
    const auto found =
        std::find_if(states.begin(), states.end(), [&](const Entry& state) { return state.name == name; });
    const int first = static_cast<int>(found - states.begin());
    for (int i = 0; i < count; ++i) out[static_cast<std::size_t>(first + i)] = first + i - i % kBristleStates;
  }
  return out;
}

void check_bristles(const Inputs<double>& in, int friction, std::string& message, std::string& hint) {
  const bool has_static = in.stored(friction + 1);
  const double mu = in.number(friction), mu_static = has_static ? in.number(friction + 1) : mu;
  if (!(mu > 0) || !(mu_static > 0)) {
    message = "presliding: bristles need friction";
    hint = "give friction, and static_friction if at all, above 0";
  } else if (has_static && !in.stored(friction + 2) && !in.stored(friction + 3)) {
    message = "stribeck: missing: the speed at which the coefficient falls from static_friction to friction";
    hint = "0.01 m/s, for example";
  }
}

}  // namespace liedyn

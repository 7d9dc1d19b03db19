#include "liedyn/analyses/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "liedyn/analyses/advice.h"
#include "liedyn/analyses/lost_digits.h"
#include "liedyn/base/code_function.h"
#include "liedyn/base/largest.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/forces/options_without_effect.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

// There are bodies, but its joints hold all of them, and nothing drives them: neither a joint that does nothing else, nor a number of a joint
// that follows the time, such as the length of a winch.
bool is_locked(const System& system, const State& state) {
  const Model& model = system.model();
  const auto& joints = model.description().entries(Section::Joints);
  const auto& timed = system.params().timed();
  return !model.body_types.empty() && degrees_of_freedom(model, state) == 0 &&
         std::none_of(joints.begin(), joints.end(), [](const Entry& joint) { return joint.kind->drives; }) &&
         std::none_of(timed.begin(), timed.end(), [&](const Params::Bound& number) {
           const ParameterPlace place = locate_parameter(model.description(), number.number);
           return place.entry != nullptr && place.section == Section::Joints;
         });
}

// Which functions of the program the expressions call, if their derivatives are differences.
std::string note_on_code_functions(const Description& d) {
  std::set<std::string> names;
  const auto look = [&](std::string_view text) {
    for (std::string& name : differenced_functions(text)) names.insert(std::move(name));
  };
  for (const NumberExpression& expression : d.expressions) look(expression.text);
  for (const NumberExpression& signal : d.signals) look(signal.text);
  for (const std::string& word : d.words) look(word);
  if (names.empty()) return {};
  return fmt::format(
      "expressions call {} of the program, whose partial derivatives are finite differences; for exact "
      "derivatives give a gradient, or write an expression",
      fmt::join(names, ", "));
}

}  // namespace

int degrees_of_freedom(const Model& model, const State& state) {
  return model.first_state() - model.rows + static_cast<int>(state.redundant.size());
}

std::string redundancy_warning(const System& system, const State& state, std::string_view result) {
  Work work(system);
  const std::size_t count = state.redundant.size();
  return fmt::format(
      "{} redundant constraint{} not imposed: {}. {}; reactions are the minimum-norm solution (torques "
      "divided by the model length, {:.9g} m)",
      count, count == 1 ? " is" : "s are", row_names(system.model(), state.redundant),
      system.model().forces_use_multipliers
          ? fmt::format("Friction, and so the {}, depends on the distribution of the reactions", result)
          : fmt::format("The {} is not affected", result),
      constraint_scales(system, state, work).length);
}

std::vector<std::string> model_warnings(const System& system, const State& state) {
  const Model& model = system.model();
  const Description& d = model.description();
  const double* params = system.params().values().data();
  std::vector<std::string> out = flexible_warnings(model, params);
  if (is_locked(system, state))
    out.emplace_back(
        "the model has 0 degrees of freedom: its joints constrain all bodies, and nothing drives them");
  const Vec3 g = Eigen::Map<const Vec3>(params + d.gravity());
  if (g.z() != 0 && g.head<2>().norm() == 0 &&
      std::any_of(model.body_types.begin(), model.body_types.end(), is_planar))
    out.push_back(
        fmt::format("gravity ({:g} m/s^2 along z) is perpendicular to the plane: it has no effect on bodies "
                    "of type planar",
                    g.z()));
  for (std::string& option : options_without_effect(d)) out.push_back(std::move(option));
  if (model.nodes.empty()) out.emplace_back("the model has no bodies: nothing can move");
  if (std::string note = note_on_code_functions(d); !note.empty()) out.push_back(std::move(note));
  for (std::string& advice : contact_advice(system, state)) out.push_back(std::move(advice));
  return out;
}

Inspection inspect(const System& system, double start, InitialPolicy policy) {
  const Model& model = system.model();
  Inspection out;
  out.coordinates = model.nq;
  out.velocities = model.nv;
  out.constraints = model.rows;

  out.states = static_cast<int>(model.state_frames.size());
  Work work(system);
  const Initial initial = initial_values(model, system.params().values().data());
  State state = system.empty_state();
  state.t = start;
  state.q = initial.q;
  state.v = initial.v;
  try {
    state = consistent_state(system, start, policy, work);
  } catch (const InputError& error) {
    out.findings = error.diagnostics();
    state.redundant = dependent_rows(system, state, 1e-7, RowLevel::Velocity, nullptr, work);
  }
  for (const int row : state.redundant) out.redundant.push_back(model.row_name(row));
  out.degrees_of_freedom = degrees_of_freedom(model, state);
  out.is_locked = is_locked(system, state);
  out.warnings = model_warnings(system, state);
  if (std::string warning = lost_digits(system, state, work); !warning.empty())
    out.warnings.push_back(std::move(warning));
  for (std::string& advice : unit_advice(system)) out.warnings.push_back(std::move(advice));

  system.residual(state, work, {true, true, false});
  out.residual_position = largest(work.phi);
  out.residual_velocity = largest(work.rate);
  return out;
}

}  // namespace liedyn

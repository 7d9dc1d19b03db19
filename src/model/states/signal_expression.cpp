#include "liedyn/model/states/signal_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/dual.h"
#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/model.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

// The place of a frame among those of an element, which it joins if it is new.
int place_of(std::int32_t frame, std::vector<std::int32_t>& frames) {
  const auto found = std::find(frames.begin(), frames.end(), frame);
  if (found != frames.end()) return static_cast<int>(found - frames.begin());
  frames.push_back(frame);
  return static_cast<int>(frames.size()) - 1;
}

std::string usable_sensors() {
  std::vector<std::string_view> types;
  for (const ListedSensor& listed : sensor_kinds())
    if (listed.traits.gradient != nullptr) types.push_back(listed.kind.type);
  return fmt::format("sensors of these types may: {}", fmt::join(types, ", "));
}

// Puts what expression sensors stand for in the place of their names, the last one first: they use sensors before them only. Their own
// variables are t, the parameters and the values of the sensors; those here have the states in between.
void inline_expressions(const Model& model, const std::vector<SignalName>& names, Expression& full) {
  const std::size_t parameters = model.description().parameter_names.size(),
                    states = model.description().entries(Section::States).size();
  for (std::size_t i = names.size(); i-- > 0;) {
    if (names[i].kind != SignalName::Kind::Sensor || !full.uses(static_cast<int>(i))) continue;
    const Sensor& sensor = model.sensors[at_index(names[i].index)];
    if (sensor.expressions.empty()) continue;
    Expression by = sensor.expressions[at_index(names[i].component)];
    std::vector<int> new_index;
    for (std::size_t v = 0; v < names.size() - states; ++v)
      new_index.push_back(static_cast<int>(v <= parameters ? v : v + states));
    by.renumber(new_index);
    full.substitute(static_cast<int>(i), by);
  }
}

}  // namespace

std::vector<SignalName> signal_names(const Model& model) {
  using Is = SignalName::Kind;
  const Description& d = model.description();
  std::vector<SignalName> out = {{"t", Is::Time}};
  for (std::size_t i = 0; i < d.parameter_names.size(); ++i)
    out.push_back({d.parameter_names[i], Is::Parameter, static_cast<int>(i)});
  const auto& states = d.entries(Section::States);
  for (std::size_t i = 0; i < states.size(); ++i)
    out.push_back({states[i].name, Is::FirstOrderState, static_cast<int>(i)});
  for (std::size_t i = 0; i < model.sensors.size(); ++i) {
    const Sensor& sensor = model.sensors[i];
    for (int c = 0; c < sensor.components; ++c)
      out.push_back({sensor.components == 1 ? sensor.name : fmt::format("{}[{}]", sensor.name, c), Is::Sensor,
                     static_cast<int>(i), c});
  }
  return out;
}

void SignalExpression::connect(const Model& model, const std::vector<SignalName>& names,
                               const std::string& text, const std::string& path, int line,
                               std::vector<std::int32_t>& frames, std::vector<Diagnostic>& findings) {
  const std::string& file = model.description().file;
  std::vector<std::string> known;
  known.reserve(names.size());
  for (const SignalName& name : names) known.push_back(name.name);
  Expression full;
  try {
    full = Expression::parse(text, known);
  } catch (const ExpressionError& error) {
    findings.push_back({file, line, path,
                        fmt::format("in the expression '{}', at character {}: {}", excerpt(text),
                                    error.position() + 1, error.what()),
                        error.hint()});
    return;
  }

  try {
    inline_expressions(model, names, full);
  } catch (const ExpressionError& error) {
    findings.push_back({file, line, path, error.what(), "split it into several states"});
    return;
  }

  // It keeps the names that it uses only, so that evaluating it costs what it needs.
  std::size_t used = 0;
  std::vector<int> new_index(names.size(), -1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!full.uses(static_cast<int>(i))) continue;
    new_index[i] = static_cast<int>(used++);
    Input input{.kind = names[i].kind, .component = names[i].component};
    switch (names[i].kind) {
      case SignalName::Kind::Time: break;
      case SignalName::Kind::Parameter:
        input.number = static_cast<int>(parameters_.size());
        parameters_.push_back(names[i].index);
        break;
      case SignalName::Kind::FirstOrderState:
        input.node = static_cast<int>(model.body_types.size()) + names[i].index;
        input.frames[0] = place_of(model.state_frames[at_index(names[i].index)], frames);
        break;
      case SignalName::Kind::Sensor: {
        input.sensor = &model.sensors[at_index(names[i].index)];
        if (input.sensor->listed->traits.gradient == nullptr) {
          findings.push_back(
              {file, line, path,
               fmt::format("the sensor '{}' of type {} cannot be used in an expression of the dynamics",
                           input.sensor->name, input.sensor->listed->kind.type),
               usable_sensors()});
          break;
        }
        if (input.sensor->frame >= 0) input.frames[0] = place_of(input.sensor->frame, frames);
        if (input.sensor->second_frame >= 0) input.frames[1] = place_of(input.sensor->second_frame, frames);
        if (input.sensor->batch >= 0) {
          input.joint = model.batches[at_index(input.sensor->batch)].get();
          for (int k = 0; k < 2; ++k)
            input.frames[k] = place_of(input.joint->frames[at_index(2 * input.sensor->element + k)], frames);
        }
        break;
      }
    }
    inputs_.push_back(input);
  }
  if (used > kMaxNames || frames.size() > kMaxFrames) {
    findings.push_back(
        {file, line, path,
         fmt::format("expected at most {} names that refer to at most {} body frames, got {} and {}",
                     kMaxNames, kMaxFrames, used, frames.size()),
         "split it into several states"});
    return;
  }
  full.renumber(new_index);
  expression_ = std::move(full);
}

std::vector<SignalName::Kind> SignalExpression::variables() const {
  std::vector<SignalName::Kind> out;
  for (const Input& input : inputs_) out.push_back(input.kind);
  return out;
}

SensorGradient SignalExpression::gradient(const Evaluation& at, const Input& input) const {
  SensorGradient out;
  const Energy none;
  switch (input.kind) {
    case SignalName::Kind::Sensor:
      input.sensor->listed->traits.gradient({*input.sensor, at, input.joint, none, {}}, input.component, out);
      break;
    case SignalName::Kind::FirstOrderState:
      out.value = at.motions[input.node].V[0];
      out.V[0][0] = 1;
      break;
    default: break;
  }
  return out;
}

template <class S>
S SignalExpression::value(const EvaluationOf<S>& at, const S* constants) const {
  [[maybe_unused]] constexpr std::size_t kMaxComponents = 4;  // of sensors with a gradient
  std::array<S, kMaxNames> values;
  [[maybe_unused]] const EnergyOf<S> none;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    switch (input.kind) {
      case SignalName::Kind::Time: values[i] = at.world.time; break;
      case SignalName::Kind::Parameter: values[i] = constants[input.number]; break;
      case SignalName::Kind::FirstOrderState: values[i] = at.motions[input.node].V[0]; break;
      case SignalName::Kind::Sensor: {
        if constexpr (!is_varied<S>) {
          values[i] = gradient(at, input).value;
        } else if (input.joint != nullptr) {
          values[i] = coordinate_in_dynamics({*input.sensor, at, input.joint, none, {}});
        } else {
          std::array<S, kMaxComponents> all;
          input.sensor->listed->evaluate(SensorContextOf<S>{*input.sensor, at, input.joint, none, {}},
                                         all.data());
          values[i] = all[at_index(input.component)];
        }
        break;
      }
    }
  }
  return expression_.evaluate<S>(std::span<const S>(values.data(), inputs_.size()));
}
template double SignalExpression::value<double>(const Evaluation&, const double*) const;
template Varied SignalExpression::value<Varied>(const VariedEvaluation&, const Varied*) const;

void SignalExpression::derivatives(const Evaluation& at, const double* constants, int frames,
                                   Derivatives& out) const {
  for (int i = 0; i < frames; ++i) {
    out.X[i].setZero();
    out.V[i].setZero();
  }
  using S = Dual<double, 1>;
  std::array<S, kMaxNames> values;
  std::array<SensorGradient, kMaxNames> gradients;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.kind == SignalName::Kind::Time)
      values[i] = S(at.world.time);
    else if (input.kind == SignalName::Kind::Parameter)
      values[i] = S(constants[input.number]);
    else
      values[i] = S((gradients[i] = gradient(at, input)).value);
  }
  const std::span<const S> variables(values.data(), inputs_.size());
  out.value = expression_.evaluate<S>(variables).v;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.frames[0] < 0) continue;  // it does not move
    values[i].d[0] = 1;
    double slope = expression_.evaluate<S>(variables).d[0];
    values[i].d[0] = 0;
    // At the corner of a root, of a speed at rest for example, dual numbers give 0/0: the mean slope beside it.
    if (!std::isfinite(slope)) {
      const double x = values[i].v, step = 1e-7 * (1 + std::abs(x));
      const auto at_offset = [&](double offset) {
        values[i].v = x + offset;
        return expression_.evaluate<S>(variables).v;
      };
      slope = (at_offset(step) - at_offset(-step)) / (2 * step);
      values[i].v = x;
    }
    for (int k = 0; k < 2; ++k) {
      if (input.frames[k] < 0) continue;
      out.X[input.frames[k]] += slope * gradients[i].X[k];
      out.V[input.frames[k]] += slope * gradients[i].V[k];
    }
  }
}

}  // namespace liedyn

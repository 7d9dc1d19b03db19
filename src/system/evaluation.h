// The formulas of System and VariedSystem that do not depend on the scalar: double, or Varied where numbers carry derivatives.
#pragma once

#include <algorithm>
#include <vector>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/system/system.h"

namespace liedyn {

// Parameters that are functions of time, with their derivatives, and the constants of the elements that depend on them, at the time t.
template <class S>
void follow_time(const Model& model, const Params& params, const std::vector<TimedElement>& elements,
                 double t, EvaluationWork<S>& work, ConstantsOf<S>& constants) {
  if (elements.empty() || t == work.constants_time) return;
  work.constants_time = t;
  work.time_variables.back() = time_variable<S>(t);
  for (const Params::Bound& bound : params.timed()) {
    const auto number = static_cast<std::size_t>(bound.number);
    const TimeJetOf<S> value = bound.expression.template evaluate<TimeJetOf<S>>(work.time_variables);
    work.params[number] = value.v.v;
    work.param_rates[number] = value.v.d[0];
    work.param_second_rates[number] = value.d[0].d[0];
  }
  const TimedParameters<S> timed{work.params.data(), work.param_rates.data(), work.param_second_rates.data()};
  for (const TimedElement& e : elements) derive_element(model, timed, e.batch, e.element, constants);
}

// In absolute coordinates: pose, twist and acceleration of the body of a node.
template <class S>
Motion<S> motion_of(const Node& node, const StateOf<S>& state) {
  return node_motion(node.type, state.q.data() + node.q, state.v.data() + node.v, state.vdot.data() + node.v);
}
// In minimal coordinates: those of all links and bodies.
template <class S>
void move_links(const Model& model, const ConstantsOf<S>& constants, const StateOf<S>& state,
                TreeMotionOf<S>& links, std::vector<Motion<S>>& bodies) {
  move_links(*model.tree, model.nodes, constants.data.data(), state.q.data(), state.v.data(),
             state.vdot.data(), links, bodies.data());
}

// What elements see of a state whose motions stand in `work`. Wrenches start at zero. In absolute coordinates elements may write into the equations of nodes as well.
template <class S>
EvaluationOf<S> evaluation_at(const Model& model, const ConstantsOf<S>& constants, const StateOf<S>& state,
                              const RowRequest& rows, EvaluationWork<S>& work) {
  for (Vec6T<S>& wrench : work.wrench) wrench.setZero();
  EvaluationOf<S> e;
  e.frames = model.frames.data();
  e.nodes = model.bodies().data();
  e.motions = work.motions.data();
  e.q = state.q.data();
  e.v = state.v.data();
  e.vdot = state.vdot.data();
  e.constants = constants.data.data();
  e.world.gravity = constants.gravity;
  e.world.time = S(state.t);
  e.lambda = state.lambda.data();
  e.angles = state.angles.data();
  e.velocity_scale = rows.velocity_scale;
  e.wrench = work.wrench.data();
  if (!work.links) e.r = work.r.data();
  // Who has no use for rows above positions in its steps may give their room back (StageEquations::prepare_structure).
  const auto room = [&](std::vector<S>& values) {
    values.resize(static_cast<std::size_t>(model.rows));
    return values.data();
  };
  if (rows.phi) e.phi = work.phi.data();
  if (rows.rate) e.rate = room(work.rate);
  if (rows.acceleration) e.acceleration = room(work.acceleration);
  return e;
}

// In absolute coordinates: the wrenches W of the bodies for which matters(W), added to the equations of their nodes.
template <class S, class Matters>
void add_wrenches(const std::vector<Node>& nodes, const EvaluationWork<S>& work, S* r,
                  const Matters& matters) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (matters(work.wrench[i]))
      add_wrench<S>(nodes[i].type, work.motions[i], work.wrench[i], r + nodes[i].v);
}

// In minimal coordinates: r_k = S_k^T f, with the force f that the joint of a link transmits and its motions S_k.
template <class S>
void project_wrenches(const Tree& tree, const std::vector<Node>& nodes, const Vec6T<S>* wrench,
                      TreeMotionOf<S>& at, S* r) {
  gather_wrenches(tree, wrench, at);
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    if (tree.links[i].node < 0) continue;
    const Node& node = nodes[static_cast<std::size_t>(tree.links[i].node)];
    for (int k = 0; k < node_size(node.type).v; ++k)
      r[node.v + k] = at.S[static_cast<std::size_t>(node.v + k)].dot(at.wrench[i]);
  }
}
// The forces f by bodies. Joints of a tree have no multipliers: their reactions are what the bodies behind them need.
template <class S>
void transmitted_wrenches(const Tree& tree, const TreeMotionOf<S>& at, Vec6T<S>* wrench) {
  for (std::size_t i = 0; i < at.wrench.size(); ++i)
    if (tree.links[i].body >= 0) wrench[tree.links[i].body] = at.wrench[i];
}

// The equations of motion from the wrenches of the bodies, with what elements have added to `r`, or in place of it.
template <class S, class Matters>
void finish_residual(const Model& model, EvaluationWork<S>& work, std::vector<S>& r, const Matters& matters) {
  if (work.links)
    project_wrenches(*model.tree, model.nodes, work.wrench.data(), *work.links, r.data());
  else
    add_wrenches(model.nodes, work, r.data(), matters);
}

// All sensors, and as scratch the variables of their expressions: t, the `parameters`, the sensors before.
template <class S>
void evaluate_sensors(const Model& model, const EvaluationOf<S>& e, double t, const S* parameters, int count,
                      std::vector<S>& variables, S* out) {
  const auto shows_energy = [](const Sensor& sensor) { return sensor.listed->traits.shows_energy; };
  EnergyOf<S> sum;
  if (std::any_of(model.sensors.begin(), model.sensors.end(), shows_energy))
    for (const auto& batch : model.batches) sum += batch->energy(e);
  variables[0] = S(t);
  std::copy_n(parameters, count, variables.begin() + 1);
  for (const Sensor& sensor : model.sensors) {
    const Batch* joint =
        sensor.batch >= 0 ? model.batches[static_cast<std::size_t>(sensor.batch)].get() : nullptr;
    sensor.listed->evaluate(SensorContextOf<S>{sensor, e, joint, sum, variables}, out + sensor.first);
    std::copy_n(out + sensor.first, sensor.components, variables.begin() + 1 + count + sensor.first);
  }
}

// The same at a state that was prepared as `e`. Joints of a tree show what bodies behind them need: there `evaluate_residual` gives it first.
template <class S, class Residual>
void sense_state(const Model& model, const EvaluationOf<S>& e, double t, const S* parameters, int count,
                 EvaluationWork<S>& work, std::vector<S>& variables, S* out,
                 const Residual& evaluate_residual) {
  if (work.links) {
    evaluate_residual();
    transmitted_wrenches(*model.tree, *work.links, work.wrench.data());
  }
  evaluate_sensors(model, e, t, parameters, count, variables, out);
}

}  // namespace liedyn

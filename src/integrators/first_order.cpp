#include "liedyn/integrators/first_order.h"

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/increments.h"

namespace liedyn {
namespace {

bool has_body_angles(const Node& node) {
  return has_cardan_angles(node.type) && !has_cardan_rates(node.type);
}

// The numbers of one node in the arrays of a stage: Euler parameters have one more behind all velocities.
template <class Copy>
void for_each_number(const Node& node, const Copy& copy) {
  for (int i = 0; i < node_size(node.type).v; ++i) copy(at(node.v + i));
  if (node.extra >= 0) copy(at(node.extra));
}

CorrectorOptions corrector_of(const IntegratorOptions& options) {
  CorrectorOptions out = corrector_with(options);
  out.form = options.word("index") == "2" ? IndexForm::Index2 : IndexForm::Index3;
  // The stage relation itself is written for exp; other coordinates are parameters with velocities.
  out.chart = chart_from(options);
  if (out.chart != Chart::Exponential) out.local = LocalForm::Velocities;
  return out;
}

}  // namespace

template <class S>
FirstOrderMethod<S>::FirstOrderMethod(const SystemOf<S>& system, const IntegratorOptions& options)
    : system_(&system),
      corrector_(system, corrector_of(options)),
      careful_(system, careful(corrector_.options())),
      text_(options.text()),
      stage_size_(at(system.model().stage_size)) {}

template <class S>
bool FirstOrderMethod<S>::has_constraints() const {
  const auto& nodes = system_->model().nodes;
  return system_->model().rows > 0 ||
         std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.extra >= 0; });
}

template <class S>
void FirstOrderMethod<S>::begin(StateOf<S>& state, WorkOf<S>& work) {
  corrector_.prepare(state, work);
  careful_.prepare(state, work);
  if (!corrector_.uses_parameters()) return;
  for (std::vector<S>* of : {&state.y, &state.ydot, &state.yddot}) of->assign(stage_size_, S(0));
  for (const Node& node : system_->model().nodes)
    start_parameters(node, state.q.data(), state.v.data(), state.vdot.data(), state.y.data(),
                     state.ydot.data(), state.yddot.data());
}

template <class S>
void FirstOrderMethod<S>::follow_jump(const std::vector<S>& vdot_before, StateOf<S>& state, WorkOf<S>&) {
  if constexpr (!is_varied<S>) {
    corrector_.forget_past();
    careful_.forget_past();
  }
  std::vector<S> change = state.vdot;
  for (std::size_t i = 0; i < change.size(); ++i) change[i] -= vdot_before[i];
  PointDerivatives<S> jump(stage_size_);
  if (!corrector_.uses_parameters()) {
    jump.udot = jump.slope = change;
  } else {
    for (const Node& node : system_->model().nodes)
      add_rates_of_velocity(node, state.y.data(), change.data(), jump.udot.data());
    for (std::size_t i = 0; i < stage_size_; ++i) state.yddot[i] += jump.udot[i];
    jump.slope = jump.udot;
    for (const Node& node : system_->model().nodes)
      if (has_body_angles(node))
        Eigen::Map<Vec3T<S>>{&jump.slope[at(node.v + rotation_start(node.type))]} =
            angle_rates(node, state.y.data(), change.data(), change.data()).first;
  }
  shift_past(jump, state);
}

template <class S>
void FirstOrderMethod<S>::read_motion(const StateOf<S>& state, PointDerivatives<S>& point) const {
  if (!corrector_.uses_parameters()) {
    std::copy(state.v.begin(), state.v.end(), point.u.begin());
    std::copy(state.vdot.begin(), state.vdot.end(), point.udot.begin());
    return;
  }
  for (const Node& node : system_->model().nodes) {
    const bool conventional = is_conventional(node.type);
    const std::vector<S>&u = conventional ? state.ydot : state.v,
          &udot = conventional ? state.yddot : state.vdot;
    for_each_number(node, [&](std::size_t i) { point.u[i] = u[i], point.udot[i] = udot[i]; });
  }
}

template <class S>
void FirstOrderMethod<S>::read(const StateOf<S>& state, PointDerivatives<S>& point) const {
  read_motion(state, point);
  std::copy(point.u.begin(), point.u.end(), point.slope.begin());  // T = 1 at theta = 0
  if (!corrector_.uses_parameters()) return;
  for (const Node& node : system_->model().nodes)
    if (has_body_angles(node))
      Eigen::Map<Vec3T<S>>{&point.slope[at(node.v + rotation_start(node.type))]} =
          angle_rates(node, state.y.data(), state.v.data(), state.vdot.data()).first;
}

template <class S>
CorrectorOutcome FirstOrderMethod<S>::solve(CorrectorOf<S>& corrector, double c, double h,
                                            const StateOf<S>& from, StateOf<S>& to, WorkOf<S>& work,
                                            PointDerivatives<S>& point) const {
  std::vector<S>&theta = corrector.theta, &slope = point.slope;
  // Prediction: u from the predicted u', theta' from u at a theta that is one order less precise than the result.
  for (std::size_t i = 0; i < stage_size_; ++i) {
    point.u[i] = corrector.V[i] + c * point.udot[i];
    slope[i] = point.u[i];
    theta[i] = corrector.Theta[i] + c * point.u[i];
  }
  for (const Node& node : system_->model().nodes) {
    if (has_body_angles(node)) {
      const int i = node.v + rotation_start(node.type);
      // The angles' rates at the reference: the angles at hand are not those of any state yet.
      Eigen::Map<Vec3T<S>>{&slope[at(i)]} =
          angle_rates(node, from.y.data(), point.u.data(), point.udot.data()).first;
    } else if (!is_conventional(node.type)) {
      increment_rates(node.type, chart(), &theta[at(node.v)], &point.u[at(node.v)], &slope[at(node.v)]);
    }
  }
  for (std::size_t i = 0; i < stage_size_; ++i) theta[i] = corrector.Theta[i] + c * slope[i];

  const CorrectorOutcome out = corrector.solve({.c_1 = 0, .c_2 = c, .c_v = c}, h, from, to, work);
  if (!out.converged()) return out;
  read_motion(to, point);
  for (std::size_t i = 0; i < stage_size_; ++i) slope[i] = (theta[i] - corrector.Theta[i]) / c;
  // Euler parameters are scaled to unit length behind theta.
  if (corrector.uses_parameters())
    for (const Node& node : system_->model().nodes)
      if (node.extra >= 0) for_each_number(node, [&](std::size_t i) { slope[i] = to.ydot[i]; });
  return out;
}

template <class S>
void FirstOrderMethod<S>::moved_reference(const CorrectorOf<S>& corrector, const StateOf<S>& from,
                                          const StateOf<S>& to, std::vector<S>& moved) const {
  std::copy(corrector.theta.begin(), corrector.theta.end(), moved.begin());
  for (const Node& node : system_->model().nodes) {
    if (node.extra < 0) continue;
    const int turn = node.v + rotation_start(node.type);
    for (int i = 0; i < 3; ++i) moved[at(turn + i)] = to.y[at(turn + i)] - from.y[at(turn + i)];
    moved[at(node.extra)] = to.y[at(node.extra)] - from.y[at(node.extra)];
  }
}

template class FirstOrderMethod<double>;
template class FirstOrderMethod<Varied>;

// Eq. (14)
PredictorWeights two_point_predictor(double step, double before) {
  const double a = step / before;
  const double m = -6 * a * a * (1 + a);
  return {2, {m, -m, 0}, {(1 + a) * (1 + 3 * a), a * (2 + 3 * a), 0}};
}

// Eqs. (17), factored; (17d) is m_2 = -m_0 - m_1.
PredictorWeights three_point_predictor(double step, double before, double before_that) {
  const double a = step / before, b = step / before_that;
  const double P = a * b + a + b, sum = a + b, common = 5 * a * a * b + 3 * a * a;
  PredictorWeights out;
  out.points = 3;
  out.m[0] =
      -2 * a * a * (1 + a) * P * (common + 10 * a * b * b + 10 * a * b + 10 * b * b) / (sum * sum * sum);
  out.m[1] = 2 * (1 + a) * P * (common - 5 * a * b * b + a * b - 2 * b * b) / a;
  out.m[2] = -out.m[0] - out.m[1];
  out.n[0] = (1 + a) * P * (common + 6 * a * b + a + b) / (sum * sum);
  out.n[1] = P * (common + 7 * a * b + 2 * a + 2 * b) / a;
  out.n[2] = b * b * b * (1 + a) * (common + a * a + 7 * a * b + 2 * a + 2 * b) / (a * sum * sum);
  return out;
}

IntegratorOption rho_option() {
  return {"rho", "0.6", "Spectral radius at infinite frequency: 1 no numerical damping, 0 the most.",
          {},    0,     1};
}

std::vector<IntegratorOption> first_order_options() {
  std::vector<IntegratorOption> out = {
      {"index", "3", "Constraints on positions (3) or velocities (2).", {"3", "2"}}, coordinates_option()};
  for (IntegratorOption& o : newton_options()) out.push_back(std::move(o));
  return out;
}

std::vector<std::string> rho_warnings(double rho, bool constrained, bool multiple_root) {
  if (rho < 1) return {};
  std::vector<std::string> out;
  if (constrained)
    out.emplace_back(
        "rho = 1 does not damp the errors of the multipliers and of velocities that violate the constraints: "
        "they oscillate and may grow; choose rho < 1");
  if (multiple_root)
    out.emplace_back(
        "rho = 1 gives this method a multiple root on the unit circle: round-off errors grow; choose rho < "
        "1");
  return out;
}

}  // namespace liedyn

#include "liedyn/analyses/linearization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>

#include "liedyn/analyses/independent_blocks.h"
#include "liedyn/analyses/shortest_solution.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/lie/so3.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

// How q, v and vdot of one node follow y = (displacement, rotation) in inertial axes, as far as the node has them:
//
//   velocity in inertial axes     dv = dp'
//   velocity in body axes         d(R^T u) = R^T (dp' + u x dr)
//   Omega in body axes            dOmega = R^T dr'
//   omega in inertial axes        domega = dr' - omega x dr
//
// and dvdot is the time derivative of dv along the motion.
struct NodeMaps {
  Mat6 Q = Mat6::Zero(), V0 = Mat6::Zero(), V1 = Mat6::Zero();
  Mat6 A0 = Mat6::Zero(), A1 = Mat6::Zero(), A2 = Mat6::Zero();
};

NodeMaps node_maps(NodeType type, const Motion<double>& m) {
  NodeMaps out;
  const Mat3 Rt = m.R.transpose(), one = Mat3::Identity();
  const Vec3 omega = m.R * m.V.tail<3>(), alpha = m.R * m.A.tail<3>();
  const Mat3 u = skew(m.velocity()), a = skew(m.acceleration()), w = skew(omega);
  const auto tt = [](Mat6& D) { return D.topLeftCorner<3, 3>(); };
  const auto tr = [](Mat6& D) { return D.topRightCorner<3, 3>(); };
  const auto rr = [](Mat6& D) { return D.bottomRightCorner<3, 3>(); };
  if (moves_in_body_axes(type)) {
    tt(out.Q) = tt(out.V1) = tt(out.A2) = Rt;
    tr(out.V0) = tr(out.A1) = Rt * u;
    tt(out.A1) = -Rt * w;
    tr(out.A0) = Rt * (a - w * u);
  } else {
    tt(out.Q) = tt(out.V1) = tt(out.A2) = one;
  }
  if (turns_rotation(type)) {
    rr(out.Q) = rr(out.V1) = rr(out.A2) = one;
    rr(out.V0) = rr(out.A1) = -w;
    rr(out.A0) = -skew(alpha);
  } else {
    rr(out.Q) = rr(out.V1) = rr(out.A2) = Rt;
    rr(out.A1) = -Rt * w;
  }
  return out;
}

// x is V_0 of its node, whatever the axes.
NodeMaps state_maps() {
  NodeMaps out;
  out.Q(0, 0) = out.V1(0, 0) = out.A2(0, 0) = 1;
  return out;
}

// Not so first-order states and modal coordinates, which no turn of the axes changes.
bool moves_in_space(const Model& model, std::size_t node) {
  const auto& bodies = model.description().entries(Section::Bodies);
  return node < bodies.size() && !bodies[node].kind->is_modal;
}

// y = F z with F' = w~ F:   y' = z' + w x z,   y'' = z'' + 2 w x z' + w x (w x z)
void refer_to_axes(const Vec3& rate, NodeMaps& maps) {
  if (rate.isZero()) return;
  Mat6 W = Mat6::Zero();
  W.topLeftCorner<3, 3>() = W.bottomRightCorner<3, 3>() = skew(rate);
  maps.V0 += maps.V1 * W;
  maps.A0 += maps.A1 * W + maps.A2 * W * W;
  maps.A1 += 2 * maps.A2 * W;
}

void add_node(const Node& node, const Mat6& D, Triplets& entries) {
  const int size = node_size(node.type).v;
  for (int c = 0; c < size; ++c)
    for (int r = 0; r < size; ++r)
      if (const double value = D(component(node.type, r), component(node.type, c)); value != 0)
        entries.emplace_back(node.v + r, node.v + c, value);
}

// Natural units of y and the size of the model. The length of a body is the radius of gyration about the joint that is farthest from its reference: with M the
// square root of J/m, and the largest arm |B_rotation|/|B_displacement| of a row. What has no mass takes the largest length of the others.
void set_natural_units(const Model& model, const Work& work, Linearization& l) {
  constexpr double kArm = 1e10;  // longer ones are round-off of a row that holds angles
  const std::size_t count = model.nodes.size();
  std::vector<double> mass(count, 0), inertia(count, 0), length(count, 0);
  std::vector<std::size_t> node_of(static_cast<std::size_t>(model.nv));
  std::vector<bool> turning(node_of.size(), false);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = model.nodes[i];
    for (int k = 0; k < node_size(node.type).v; ++k) {
      const auto number = static_cast<std::size_t>(node.v + k);
      node_of[number] = i;
      turning[number] = node.v < l.first_state && !is_displacement(node.type, k);
      (turning[number] ? inertia : mass)[i] += std::abs(l.M.coeff(node.v + k, node.v + k));
    }
    if (mass[i] > 0 && inertia[i] > 0) length[i] = std::sqrt(inertia[i] / mass[i]);
  }
  double longest = *std::max_element(length.begin(), length.end());
  for (double& x : length)
    if (x == 0) x = longest;
  // Sums of squares of a row of B over the displacements and the rotations of each of its bodies.
  const Eigen::SparseMatrix<double, Eigen::RowMajor> B = l.B;
  const std::vector<double> gyration = length;
  for (int row = 0; row < B.outerSize(); ++row) {
    std::vector<std::pair<std::size_t, Eigen::Vector2d>> parts;
    for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(B, row); it; ++it) {
      const auto number = static_cast<std::size_t>(it.col());
      if (parts.empty() || parts.back().first != node_of[number])
        parts.emplace_back(node_of[number], Eigen::Vector2d::Zero());
      parts.back().second[turning[number] ? 1 : 0] += it.value() * it.value();
    }
    for (const auto& [node, squares] : parts) {
      const double arm = std::sqrt(squares[1] / squares[0]), own = gyration[node];
      if (std::isfinite(arm) && (own == 0 || arm < kArm * own))
        length[node] = std::max(length[node], std::hypot(own, arm));
    }
  }
  longest = *std::max_element(length.begin(), length.end());
  Vec3 mean = Vec3::Zero();
  const std::size_t bodies = model.body_types.size();
  for (std::size_t i = 0; i < bodies; ++i) mean += work.motions[i].p / static_cast<double>(bodies);
  l.size = longest;
  double away = 0;
  for (std::size_t i = 0; i < bodies; ++i) {
    l.size = std::max(l.size, (work.motions[i].p - mean).norm());
    away = std::max(away, work.motions[i].p.norm());
  }
  if (!(l.size > 0)) l.size = away > 0 ? away : 1;  // one point
  l.unit = Eigen::VectorXd::Ones(model.nv);
  for (std::size_t i = 0; i < node_of.size(); ++i)
    if (turning[i])
      l.unit[static_cast<Eigen::Index>(i)] = 1 / (length[node_of[i]] > 0 ? length[node_of[i]] : l.size);
}

// y = unit y^, rows multiplied by `row`.
Linearization scaled(const Linearization& l, const Eigen::VectorXd& unit, const Eigen::VectorXd& row) {
  Linearization out = l;
  for (SparseMatrix* X : {&out.M, &out.C, &out.K})
    *X = SparseMatrix(unit.asDiagonal() * *X) * unit.asDiagonal();
  const auto rows = [&](SparseMatrix& X) {
    if (X.size() > 0) X = SparseMatrix(row.asDiagonal() * X) * unit.asDiagonal();
  };
  rows(out.B);
  rows(out.B_y);
  if (out.drift) {
    rows(out.drift->B_rate);
    rows(out.drift->B_t);
    rows(out.drift->B_rate_t);
  }
  if (out.L.size() > 0) out.L = SparseMatrix(unit.asDiagonal() * out.L) * row.asDiagonal();
  for (SparseMatrix* X : {&out.Q, &out.V0, &out.V1, &out.A0, &out.A1, &out.A2})
    *X = SparseMatrix(*X * unit.asDiagonal());
  out.unit = Eigen::VectorXd::Ones(unit.size());
  return out;
}

// Factors that bring the rows of B, in natural units, to the norm 1.
Eigen::VectorXd row_units(const Linearization& l) {
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(l.B.rows());
  for (int c = 0; c < l.B.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(l.B, c); it; ++it)
      squares[it.row()] += std::pow(it.value() * l.unit[c], 2);
  for (double& x : squares) x = x > 0 ? 1 / std::sqrt(x) : 1;
  return squares;
}

// The largest speed at which the motion goes on, in radians per second: angular velocities, and velocities over the size of the model.
double pace(const Model& model, const Work& work, double size) {
  double speed = 0, turn = 0;
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    const Motion<double>& m = work.motions[i];
    speed = std::max(speed, m.V.head<3>().norm());
    turn = std::max(turn, m.V.tail<3>().norm());
  }
  return std::max(turn, speed / size);
}

double norm(const SparseMatrix& X) { return X.norm(); }

// How fast equations in natural units go on by themselves.
double own_pace(const Linearization& l) {
  const double inertia = norm(l.M);
  return std::max(std::sqrt(norm(l.K) / inertia), norm(l.C) / inertia);
}

}  // namespace

bool Linearization::is_plain() const {
  return states() == 0 && !drift &&
         std::find(velocity_row.begin(), velocity_row.end(), true) == velocity_row.end() &&
         SparseMatrix(L - SparseMatrix(B.transpose())).norm() <= 1e-14 * B.norm();
}

namespace {

// With the derivative of the rates by y of all rows, where asked for.
Linearization linearize(const System& system, const State& state, const Vec3& axes_rate, SparseMatrix* B_rate,
                        Work& work) {
  require_absolute_coordinates(system, "linearisation");
  const Model& model = system.model();
  MatrixRequest request;
  const auto assembled = [&](const Seeding& force, RowLevel level, const Seeding& row) {
    request.force = force;
    request.level = level;
    request.row = row;
    system.jacobian(state, work, {}, request);
    return force_part(system, work);
  };
  Linearization out;
  out.axes_rate = axes_rate;
  out.first_state = model.first_state();
  const SparseMatrix M = assembled({0, 0, 1}, RowLevel::Velocity, {1, 0, 0});
  const SparseMatrix rate_by_q = row_part(system, work);
  const SparseMatrix C = assembled({0, 1, 0}, RowLevel::Velocity, {0, 1, 0});
  const SparseMatrix B = row_part(system, work);
  const SparseMatrix K = assembled({1, 0, 0}, RowLevel::Velocity, {0, 1, 0});
  const SparseMatrix L = multiplier_part(system, work);
  for (int i = 0; i < model.rows; ++i)
    out.velocity_row.push_back(model.velocity_rows > 0 && model.is_velocity_row(i));

  Triplets entries[6];
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const bool state_node = model.nodes[i].type == NodeType::State;
    NodeMaps maps = state_node ? state_maps() : node_maps(model.nodes[i].type, work.motions[i]);
    if (moves_in_space(model, i)) refer_to_axes(axes_rate, maps);
    const Mat6* const all[] = {&maps.Q, &maps.V0, &maps.V1, &maps.A0, &maps.A1, &maps.A2};
    for (std::size_t k = 0; k < 6; ++k) add_node(model.nodes[i], *all[k], entries[k]);
  }
  SparseMatrix* const maps[] = {&out.Q, &out.V0, &out.V1, &out.A0, &out.A1, &out.A2};
  for (std::size_t k = 0; k < 6; ++k) {
    maps[k]->resize(model.nv, model.nv);
    maps[k]->setFromTriplets(entries[k].begin(), entries[k].end());
  }
  // r is zero, so that the derivative of Q^T r is Q^T dr.
  const SparseMatrix Qt = out.Q.transpose();
  out.M = Qt * (M * out.A2);
  out.C = Qt * SparseMatrix(M * out.A1 + C * out.V1);
  out.K = Qt * SparseMatrix(M * out.A0 + C * out.V0 + K * out.Q);
  out.B = B * out.Q;  // V1 = Q
  out.L = Qt * L;
  out.B_y = B * out.V0 + rate_by_q * out.Q;
  if (B_rate != nullptr) *B_rate = out.B_y;
  out.B_y.prune([&](Eigen::Index row, Eigen::Index, double) {
    return out.velocity_row[static_cast<std::size_t>(row)];
  });
  set_natural_units(model, work, out);
  return out;
}

}  // namespace

Linearization linearize(const System& system, const State& state, const Vec3& axes_rate, Work& work) {
  return linearize(system, state, axes_rate, nullptr, work);
}

Linearization linearize_unsteady(const System& system, const State& state, Work& work) {
  constexpr double kPart = 1e-3;  // of a radian
  Linearization::Drift drift;
  Linearization out = linearize(system, state, Vec3::Zero(), &drift.B_rate, work);
  double rate = pace(system.model(), work, out.size);
  if (rate == 0) rate = own_pace(in_natural_units(out));
  if (system.model().rows == 0 || !(rate > 0) || !std::isfinite(rate)) return out;
  // The states beside are exact up to terms of third order, odd ones that central differences over two distances remove: the error is of the order dt^4.
  const auto differences = [&](double dt, SparseMatrix& B_t, SparseMatrix& B_rate_t) {
    State beside;
    std::vector<double> theta;
    SparseMatrix later, earlier;
    if (!shifted_state(system, state, dt, beside, theta, work)) return false;
    const SparseMatrix B_later = linearize(system, beside, Vec3::Zero(), &later, work).B;
    if (!shifted_state(system, state, -dt, beside, theta, work)) return false;
    const SparseMatrix B_earlier = linearize(system, beside, Vec3::Zero(), &earlier, work).B;
    B_t = (B_later - B_earlier) / (2 * dt);
    B_rate_t = (later - earlier) / (2 * dt);
    return true;
  };
  SparseMatrix far_B, far_rate, near_B, near_rate;
  const double dt = kPart / rate;
  if (!differences(dt, far_B, far_rate) || !differences(dt / 2, near_B, near_rate))
    throw NumericalError(state.t,
                         "the equations of motion do not determine the accelerations near the state");
  drift.B_t = (4 * near_B - far_B) / 3;
  drift.B_rate_t = (4 * near_rate - far_rate) / 3;
  out.drift = std::move(drift);
  return out;
}

Linearization in_natural_units(const Linearization& l) { return scaled(l, l.unit, row_units(l)); }

double largest_force(const System& system, const State& state, const Linearization& l) {
  const Model& model = system.model();
  const Description& description = model.description();
  const Params& params = system.params();
  const auto& values = params.values();
  double out = 0;
  // Rows of norm 1 have multipliers that are forces.
  const Eigen::VectorXd row = row_units(l);
  for (Eigen::Index i = 0; i < row.size(); ++i)
    out = std::max(out, std::abs(state.lambda[static_cast<std::size_t>(i)]) / row[i]);
  const auto gravity = static_cast<std::size_t>(description.gravity());
  const double g = std::hypot(values[gravity], values[gravity + 1], values[gravity + 2]);
  for (const Node& node : model.nodes)
    for (int k = 0; k < node_size(node.type).v && node.v + k < l.first_state; ++k)
      if (is_displacement(node.type, k)) out = std::max(out, g * std::abs(l.M.coeff(node.v + k, node.v + k)));
  std::vector<double> variables(values.begin(), values.begin() + params.parameter_count());
  variables.push_back(state.t);
  for (const Entry& force : description.entries(Section::Forces))
    for (std::size_t f = 0; f < force.fields.size(); ++f) {
      const LoadKind load = force.kind->fields[f].load;
      if (load == LoadKind::None || force.fields[f].first < 0) continue;
      const double arm = load == LoadKind::Torque || load == LoadKind::TorqueOrForce ? 1 / l.size
                         : load == LoadKind::ForcePerLength                          ? l.size
                                                                                     : 1;
      for (int i = 0; i < force.fields[f].count; ++i) {
        const int number = force.fields[f].first + i;
        double value = params.get(number);
        for (const Params::Bound& timed : params.timed())
          if (timed.number == number) value = timed.expression.evaluate<double>(variables);
        out = std::max(out, arm * std::abs(value));
      }
    }
  return out;
}

Linearization without_states(const Linearization& l) {
  const int n = l.first_state;
  const auto square = [&](const SparseMatrix& X) { return SparseMatrix(X.block(0, 0, n, n)); };
  Linearization out;
  out.M = square(l.M);
  out.C = square(l.C);
  out.K = square(l.K);
  out.B = l.B.leftCols(n);
  out.L = SparseMatrix(l.L.transpose()).leftCols(n).transpose();
  out.B_y = l.B_y.leftCols(n);
  if (l.drift)
    out.drift = Linearization::Drift{l.drift->B_rate.leftCols(n), l.drift->B_t.leftCols(n),
                                     l.drift->B_rate_t.leftCols(n)};
  out.velocity_row = l.velocity_row;
  out.Q = square(l.Q);
  out.V0 = square(l.V0);
  out.V1 = square(l.V1);
  out.A0 = square(l.A0);
  out.A1 = square(l.A1);
  out.A2 = square(l.A2);
  out.axes_rate = l.axes_rate;
  out.first_state = n;
  out.unit = l.unit.head(n);
  out.size = l.size;
  return out;
}

namespace {

// At rest: forces that accelerate, of all there are. Those of springs that pull against each other are known by their stiffness only.
double unbalanced_part(const System& system, const State& state, const Linearization& l) {
  constexpr double kPreload = 1e-9;
  const auto bodies = static_cast<Eigen::Index>(l.first_state);
  Eigen::VectorXd acceleration = Eigen::Map<const Eigen::VectorXd>(state.vdot.data(), l.M.rows());
  acceleration.tail(l.M.rows() - bodies).setZero();
  // At rest vdot = A2 y'', and A2 is orthogonal.
  const Eigen::VectorXd force = l.unit.cwiseProduct(l.M * (l.A2.transpose() * acceleration));
  const double left = bodies > 0 ? force.head(bodies).cwiseAbs().maxCoeff() : 0;
  if (left == 0) return 0;
  double stiffest = 0;
  for (int c = 0; c < l.K.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(l.K, c); it; ++it)
      stiffest = std::max(stiffest, std::abs(it.value()) * l.unit[it.row()] * l.unit[c]);
  // What states exert, by their values: the pressures on both sides of a piston.
  double of_states = 0;
  for (int c = l.first_state; c < l.C.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(l.C, c); it; ++it)
      if (it.row() < bodies)
        of_states = std::max(of_states,
                             std::abs(it.value() * state.v[static_cast<std::size_t>(c)]) * l.unit[it.row()]);
  return left / std::max({left, largest_force(system, state, l), of_states, kPreload * stiffest * l.size});
}

}  // namespace

double change_of_matrices(const System& system, const State& state, const Vec3& axes_rate, Work& work) {
  const Model& model = system.model();
  const Linearization given = linearize(system, state, axes_rate, work);
  const Eigen::VectorXd row = row_units(given);
  const Linearization now = scaled(given, given.unit, row);
  double rate = pace(model, work, given.size), at_rest = 0;
  if (rate == 0) {
    at_rest = unbalanced_part(system, state, given);
    // States may change where nothing moves yet.
    if (std::any_of(state.vdot.begin() + now.first_state, state.vdot.end(),
                    [](double change) { return change != 0; }))
      rate = own_pace(now);
    if (rate == 0) return at_rest;
  }
  const double dt = 1e-4 / rate;
  State later;
  std::vector<double> theta;
  if (!shifted_state(system, state, dt, later, theta, work)) return std::numeric_limits<double>::infinity();
  const Linearization then = scaled(linearize(system, later, axes_rate, work), given.unit, row);
  // The axes have turned by then.
  Mat6 F = Mat6::Zero();
  F.topLeftCorner<3, 3>() = F.bottomRightCorner<3, 3>() = SO3<double>::exp(dt * axes_rate).R();
  Triplets entries;
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    add_node(model.nodes[i], moves_in_space(model, i) ? F : Mat6(Mat6::Identity()), entries);
  SparseMatrix turned(model.nv, model.nv);
  turned.setFromTriplets(entries.begin(), entries.end());
  const SparseMatrix back = turned.transpose();
  const auto difference = [&](const SparseMatrix& a, const SparseMatrix& b) {
    return norm(SparseMatrix(SparseMatrix(back * (b * turned)) - a)) / (dt * rate);
  };
  const double inertia = norm(now.M);
  double change = std::max(at_rest, difference(now.M, then.M) / inertia);
  change = std::max(change, difference(now.C, then.C) / (norm(now.C) + rate * inertia));
  change = std::max(change, difference(now.K, then.K) / (norm(now.K) + rate * rate * inertia));
  if (model.rows > 0 && model.nv <= kLargestDense) {
    // Rows of joints in inertial axes turn among themselves: what counts is the space they span.
    const Eigen::MatrixXd allowed = admissible_motions(now.B);
    change = std::max(change, (SparseMatrix(then.B * turned) * allowed).norm() / (norm(now.B) * dt * rate));
  }
  return change;
}

SteadyAxes steady_axes(const System& system, const State& state, Work& work) {
  // In a motion that the axes carry along, u = u_0 + w x p, u' = w x u and omega' = w x omega for all bodies: least squares for the
  // rate w of least norm, then the proof by the matrices.
  system.residual(state, work, {});
  const std::vector<Motion<double>> motions(
      work.motions.begin(),
      work.motions.begin() + static_cast<std::ptrdiff_t>(system.model().body_types.size()));
  const auto bodies = static_cast<Eigen::Index>(motions.size());
  const double size = linearize(system, state, Vec3::Zero(), work).size,
               rate = pace(system.model(), work, size);
  SteadyAxes best;
  const double at_rest = change_of_matrices(system, state, Vec3::Zero(), work);
  best.change = best.change_at_rest = at_rest;
  best.at_rest = rate == 0;
  if (best.change <= kSteady || rate == 0) return best;

  std::vector<Vec3> candidates;
  // Lengths in units of the model.
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(9 * bodies, 6);
  Eigen::VectorXd right(9 * bodies);
  for (Eigen::Index i = 0; i < bodies; ++i) {
    const Motion<double>& m = motions[static_cast<std::size_t>(i)];
    right.segment<9>(9 * i).setZero();
    if (!moves_in_space(system.model(), static_cast<std::size_t>(i))) continue;
    const Vec3 u = m.velocity(), omega = m.R * m.V.tail<3>();
    left.block<3, 3>(9 * i, 0) = -skew(m.p) / size;
    left.block<3, 3>(9 * i, 3) = Mat3::Identity();
    right.segment<3>(9 * i) = u / size;
    left.block<3, 3>(9 * i + 3, 0) = -skew(u) / (size * rate);
    right.segment<3>(9 * i + 3) = m.acceleration() / (size * rate);
    left.block<3, 3>(9 * i + 6, 0) = -skew(omega) / rate;
    right.segment<3>(9 * i + 6) = m.R * m.A.tail<3>() / rate;
  }
  candidates.push_back(left.completeOrthogonalDecomposition().solve(right).head<3>());
  // A body without symmetry that spins about a principal axis: the axes have to go with it.
  for (const Motion<double>& m : motions) {
    const Vec3 omega = m.R * m.V.tail<3>();
    const auto same = [&](const Vec3& other) { return (other - omega).norm() <= 1e-9 * rate; };
    if (candidates.size() < 10 && std::none_of(candidates.begin(), candidates.end(), same))
      candidates.push_back(omega);
  }
  for (const Vec3& candidate : candidates) {
    const double change = change_of_matrices(system, state, candidate, work);
    if (change < best.change) best = {candidate, change, at_rest, false};
    if (best.change <= kSteady) break;
  }
  return best;
}

bool as_if_steady(const SteadyAxes& axes) {
  constexpr double kFarLess = 0.03;
  return axes.change <= kSteady || (!axes.rate.isZero() && axes.change <= kFarLess * axes.change_at_rest);
}

std::string not_steady(const SteadyAxes& axes) {
  return axes.at_rest
             ? fmt::format(
                   "the state is neither an equilibrium nor a steady motion (at rest, but unbalanced "
                   "forces are {:.2g} % of the total; --at static looks for an equilibrium)",
                   100 * axes.change)
             : fmt::format(
                   "the state is neither an equilibrium nor a steady motion (the matrices change by "
                   "{:.2g} per "
                   "radian)",
                   axes.change);
}

std::string not_quite_steady(const SteadyAxes& axes, double t) {
  if (axes.change <= kSteady) return {};
  return fmt::format(
      "the state at t = {:.6g} s is nearly steady in axes that rotate at ({:.6g}, {:.6g}, {:.6g}) rad/s; the "
      "matrices change by {:.2g} per radian. It is treated as steady, with relative errors of about that "
      "size",
      t, axes.rate.x(), axes.rate.y(), axes.rate.z(), axes.change);
}

Eigen::MatrixXd admissible_motions(const SparseMatrix& B, const Eigen::VectorXd& unit,
                                   std::vector<int>* dependent) {
  constexpr double kDependent = 1e-9;
  const Eigen::Index n = B.cols();
  const auto in_y = [&](Eigen::MatrixXd N) -> Eigen::MatrixXd {
    if (unit.size() == 0) return N;
    return unit.head(n).asDiagonal() * N;
  };
  if (B.rows() == 0) return in_y(Eigen::MatrixXd::Identity(n, n));
  Eigen::MatrixXd transposed = in_y(Eigen::MatrixXd(B).transpose());
  for (Eigen::Index i = 0; i < transposed.cols(); ++i)
    if (const double length = transposed.col(i).norm(); length > 0) transposed.col(i) /= length;
  // Transposed once more: columns of the blocks are coordinates, of which every one is in a block.
  Eigen::MatrixXd N = Eigen::MatrixXd::Zero(n, n);
  Eigen::Index count = 0;
  for (const auto& [rows, columns] : independent_blocks(transposed.transpose())) {
    if (rows.empty()) {
      N(columns[0], count++) = 1;
      continue;
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(transposed(columns, rows));
    qr.setThreshold(kDependent);
    if (dependent != nullptr)
      for (Eigen::Index i = qr.rank(); i < qr.cols(); ++i)
        dependent->push_back(rows[at(qr.colsPermutation().indices()[i])]);
    const Eigen::Index free = qr.rows() - qr.rank();
    Eigen::MatrixXd last = Eigen::MatrixXd::Zero(qr.rows(), free);
    last.bottomRows(free).setIdentity();
    N(columns, Eigen::seqN(count, free)) = qr.householderQ() * last;
    count += free;
  }
  return in_y(N.leftCols(count));
}

std::vector<int> name_coordinates(Eigen::MatrixXd& N, const Eigen::VectorXd& unit) {
  std::vector<int> chosen;
  if (N.cols() == 0) return chosen;
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(
      Eigen::MatrixXd(N.transpose() * unit.head(N.rows()).cwiseInverse().asDiagonal()));
  for (Eigen::Index i = 0; i < N.cols(); ++i)
    chosen.push_back(static_cast<int>(qr.colsPermutation().indices()[i]));
  std::sort(chosen.begin(), chosen.end());
  N = N * Eigen::MatrixXd(Eigen::MatrixXd(N(chosen, Eigen::all)).inverse());
  // Exactly, so that no other stiffness comes in by rounding.
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    N.row(chosen[i]).setZero();
    N(chosen[i], static_cast<Eigen::Index>(i)) = 1;
  }
  return chosen;
}

MinimalEquations minimal_equations(const Linearization& l) {
  using Eigen::MatrixXd;
  MinimalEquations out;
  SparseMatrix positions = l.B;
  positions.prune(
      [&](Eigen::Index row, Eigen::Index, double) { return !l.velocity_row[static_cast<std::size_t>(row)]; });
  // Of the bodies alone; states are coordinates as they are.
  const Eigen::Index bodies = l.first_state, states = l.states();
  const MatrixXd P = admissible_motions(SparseMatrix(positions.leftCols(bodies)), l.unit);
  out.V = admissible_motions(SparseMatrix(l.B.leftCols(bodies)), l.unit, &out.dependent);
  out.P = MatrixXd::Zero(bodies + states, P.cols());
  out.P.topRows(bodies) = P;
  out.coordinates = name_coordinates(out.P, l.unit);
  out.rates = name_coordinates(out.V, l.unit);
  for (Eigen::Index i = 0; i < states; ++i) out.rates.push_back(static_cast<int>(bodies + i));
  out.V.conservativeResizeLike(MatrixXd::Zero(bodies + states, out.V.cols() + states));
  out.V.bottomRightCorner(states, states).setIdentity();
  const Eigen::Index np = out.P.cols(), nr = out.V.cols();
  // B X = -right, without a part that zeta stands for.
  const Eigen::VectorXd row = row_units(l);
  const auto follow = [&](const MatrixXd& right) -> MatrixXd {
    if (right.rows() == 0 || right.isZero(0)) return MatrixXd::Zero(l.M.rows(), right.cols());
    const MatrixXd B = row.asDiagonal() * MatrixXd(l.B) * l.unit.asDiagonal();
    const MatrixXd X = -(l.unit.asDiagonal() * shortest_solution(B, row.asDiagonal() * right));
    return X - out.V * MatrixXd(X(out.rates, Eigen::all));
  };
  // B y' + B' y = 0 and B y'' + (B' + B_t) y' + B'_t y = 0
  const SparseMatrix& B_rate = l.drift ? l.drift->B_rate : l.B_y;
  out.Y = follow(B_rate * out.P);
  MatrixXd rates(l.M.rows(), np + nr);
  rates << out.Y, out.V;
  MatrixXd turning = B_rate * rates;
  if (l.drift) {
    turning += l.drift->B_t * rates;
    turning.leftCols(np) += l.drift->B_rate_t * out.P;
  }
  out.Z = follow(turning);
  // xi' are those of y';  zeta' from the equations along directions that no multiplier reaches:
  //   W^T (M (V zeta' + Z x) + C (V zeta + Y xi) + K P xi + f) = 0,   W^T L = 0
  MatrixXd W = admissible_motions(SparseMatrix(l.L.transpose()), l.unit);
  name_coordinates(W, l.unit);
  const Eigen::PartialPivLU<MatrixXd> mass(W.transpose() * (l.M * out.V));
  MatrixXd forces = l.C * rates + l.M * out.Z;
  forces.leftCols(np) += l.K * out.P;
  out.A.resize(np + nr, np + nr);
  out.A << MatrixXd(rates(out.coordinates, Eigen::all)), -mass.solve(W.transpose() * forces);
  out.F = -mass.solve(MatrixXd(W.transpose()));
  return out;
}

std::vector<int> dependent_rows(const SparseMatrix& B) {
  std::vector<int> rows;
  if (B.rows() == 0) return rows;
  SparseMatrix transposed = B.transpose();
  for (int i = 0; i < transposed.outerSize(); ++i)
    if (const double length = transposed.col(i).norm(); length > 0) transposed.col(i) /= length;
  transposed.makeCompressed();
  const Eigen::SparseQR<SparseMatrix, Eigen::COLAMDOrdering<int>> qr(transposed);
  const auto& order = qr.colsPermutation().indices();
  for (Eigen::Index i = qr.rank(); i < transposed.cols(); ++i) rows.push_back(order(i));
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace liedyn

#include "liedyn/model/nodes/varied_stage.h"

#include <algorithm>

#include "liedyn/base/combination.h"
#include "liedyn/model/nodes/stage_relation.h"

namespace liedyn {
namespace {

using QuaternionRows = Eigen::Matrix<double, 3, 4>;

// The increment of a rotation from that of its quaternion e = (w, x): its vector part of 2 e^-1 de (on the right), or of 2 de e^-1.
QuaternionRows increment_of_quaternion(const double* e, bool on_left) {
  QuaternionRows out;
  const Vec3 x(e[1], e[2], e[3]);
  out.col(0) = -2 * x;
  const double side = on_left ? 1 : -1;
  out.rightCols<3>() = 2 * (e[0] * Mat3::Identity() + side * skew(x));
  return out;
}

template <class Rows>
void add_rows(const Rows& rows, Eigen::Index row, const Varied* x, DerivativeSum& sum) {
  for (Eigen::Index k = 0; k < rows.cols(); ++k) sum.add(rows(row, k), x[k]);
}

// x' + (rows d)', row by row.
template <class Rows>
void add_product(const Rows& rows, const Varied* d, Varied* x) {
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    DerivativeSum sum;
    sum.add(1, x[row]);
    add_rows(rows, row, d, sum);
    x[row] = sum.of_value(x[row].v);
  }
}

// The quaternion e moved by an increment d of its rotation: e' = e d/2 or d e/2.
void move_quaternion(const double* e, bool on_left, const Varied* d, Varied* out) {
  const Eigen::Matrix<double, 4, 3> rows = increment_of_quaternion(e, on_left).transpose() / 4;
  add_product(rows, d, out);
}

// The coordinates of a group: the rows that make W_ref of the numbers of q_ref, and how the numbers q follow an increment d.
template <class G>
struct Coordinates;
template <>
struct Coordinates<SO3<double>> {
  static constexpr int first = 3;
  static QuaternionRows rows(const double* q) { return increment_of_quaternion(q + 3, false); }
  static void move(const double* q, const Varied* d, Varied* to) { move_quaternion(q + 3, false, d, to + 3); }
};
template <>
struct Coordinates<SpatialRotation> {
  static constexpr int first = 3;
  static QuaternionRows rows(const double* q) { return increment_of_quaternion(q + 3, true); }
  static void move(const double* q, const Varied* d, Varied* to) { move_quaternion(q + 3, true, d, to + 3); }
};
template <>
struct Coordinates<SE3<double>> {
  static constexpr int first = 0;
  static Eigen::Matrix<double, 6, 7> rows(const double* q) {
    Eigen::Matrix<double, 6, 7> out = Eigen::Matrix<double, 6, 7>::Zero();
    out.topLeftCorner<3, 3>() = rotation_of(q).R().transpose();
    out.bottomRightCorner<3, 4>() = increment_of_quaternion(q + 3, false);
    return out;
  }
  static void move(const double* q, const Varied* d, Varied* to) {
    add_product(rotation_of(q).R(), d, to);
    move_quaternion(q + 3, false, d + 3, to + 3);
  }
};
template <>
struct Coordinates<SE2<double>> {
  static constexpr int first = 0;
  static Mat3 rows(const double* q) { return turn_in_plane(q[2]).transpose(); }
  static void move(const double* q, const Varied* d, Varied* to) { add_product(turn_in_plane(q[2]), d, to); }
};

// `i`: where the group's numbers begin among the node's velocities.
template <class G>
void hold(const Stage& s, int i, const VariedNodeStage& n) {
  using Tangent = typename G::Tangent;
  using Matrix = typename G::Matrix;
  using Values = Eigen::Map<const Tangent>;
  const NodeStage& at = n.values;
  const Tangent theta = Values(at.theta + i), Theta = Values(at.Theta + i), vdot = Values(at.vdot + i);
  const Varied* q_ref = n.q_ref + Coordinates<G>::first;
  const auto of_reference = (-G::Tinv(-theta) * Coordinates<G>::rows(at.q_ref)).eval();
  if (s.c_2 == 0 && n.drift == nullptr) {
    // c_1 vdot = theta - Theta
    for (Eigen::Index row = 0; row < theta.size(); ++row) {
      DerivativeSum of_theta;
      add_rows(of_reference, row, q_ref, of_theta);
      const Varied moved = of_theta.of_value(at.theta[i + row]);
      if (n.theta != nullptr) n.theta[i + row] = moved;
      n.vdot[i + row] = combination(1 / s.c_1, moved, -1 / s.c_1, n.Theta[i + row]);
      n.vdot[i + row].v = at.vdot[i + row];
    }
    return;
  }
  // vdot' = factor^-1 ((1 - d(T y)) theta' - T Theta' - c_2 V' + drift') with y = Theta + c_1 vdot
  const StageFactor<G> factor(s, theta);
  const Matrix inverse = factor.solve(Matrix(Matrix::Identity()));
  const auto through_theta =
      (inverse * (Matrix::Identity() - G::dT(theta, Theta + s.c_1 * vdot)) * of_reference).eval();
  const Matrix through_Theta = -inverse * factor.T;
  for (Eigen::Index row = 0; row < theta.size(); ++row) {
    DerivativeSum of_theta, of_vdot;
    if (n.theta != nullptr) {
      add_rows(of_reference, row, q_ref, of_theta);
      n.theta[i + row] = of_theta.of_value(at.theta[i + row]);
    }
    add_rows(through_theta, row, q_ref, of_vdot);
    add_rows(through_Theta, row, n.Theta + i, of_vdot);
    add_rows(Matrix(-s.c_2 * inverse), row, n.V + i, of_vdot);
    if (n.drift != nullptr) add_rows(inverse, row, n.drift + i, of_vdot);
    n.vdot[i + row] = of_vdot.of_value(at.vdot[i + row]);
  }
}

void hold_linear(const Stage& s, int count, const VariedNodeStage& n) {
  const double rate = s.rate();
  for (int i = 0; i < count; ++i) {
    DerivativeSum of_theta, of_vdot;
    if (n.theta != nullptr) {
      of_theta.add(-1, n.q_ref[i]);
      n.theta[i] = of_theta.of_value(n.values.theta[i]);
    }
    of_vdot.add(-rate, n.q_ref[i]);
    of_vdot.add(-rate, n.Theta[i]);
    of_vdot.add(-rate * s.c_2, n.V[i]);
    if (n.drift != nullptr) of_vdot.add(rate, n.drift[i]);
    n.vdot[i] = of_vdot.of_value(n.values.vdot[i]);
  }
}

template <class G>
void move(const double* E, int i, const Varied* d, const VariedNodeStage& n) {
  using Tangent = typename G::Tangent;
  if (n.theta != nullptr)
    add_product(G::Tinv(Tangent(Eigen::Map<const Tangent>(n.values.theta + i))), d + i, n.theta + i);
  add_product(Eigen::Map<const typename G::Matrix>(E), d + i, n.vdot + i);
}

void move_linear(const Stage& s, int count, const Varied* d, const VariedNodeStage& n) {
  for (int i = 0; i < count; ++i) {
    if (n.theta != nullptr) n.theta[i] = combination(1, n.theta[i], 1, d[i]);
    n.vdot[i] = combination(1, n.vdot[i], s.rate(), d[i]);
    n.q[i] = Varied(n.q[i].v, d[i].id);
  }
}

void set_velocity(NodeType type, const Stage& s, const VariedNodeStage& n) {
  for (int i = 0; i < node_size(type).v; ++i) {
    n.v[i] = combination(1, n.V[i], s.c_v, n.vdot[i]);
    n.v[i].v = n.values.v[i];
  }
}

}  // namespace

void hold_position(NodeType type, const Stage& s, const VariedNodeStage& n) {
  // A body that only turns stays where it was.
  const int kept = only_turns(type) ? 3 : 0;
  std::copy_n(n.q_ref, kept, n.q);
  for (int i = kept; i < node_size(type).q; ++i) n.q[i] = Varied(n.values.q[i]);
  const NodeTraits& node = traits(type);
  hold_linear(s, node.linear, n);
  on_group<double>(node.group, [&]<class G>() { hold<G>(s, node.linear, n); });
  set_velocity(type, s, n);
}

void move_position(NodeType type, const Stage& s, const double* E, const Varied* d,
                   const VariedNodeStage& n) {
  const NodeTraits& node = traits(type);
  const int i = node.linear;
  move_linear(s, i, d, n);
  on_group<double>(node.group, [&]<class G>() {
    move<G>(i > 0 ? E + 1 : E, i, d, n);
    Coordinates<G>::move(n.values.q, d + i, n.q);
  });
  set_velocity(type, s, n);
}

}  // namespace liedyn

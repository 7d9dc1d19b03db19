// What joints with axes have in common: the algebra of their rows. Such a joint has a place on each body, p_1 and p_2, and
// axes x, y, z; the constant A_i holds the axes in the body axes of frame i, and e_k,i = R_i A_i e_k. A row holds
//
//   place k          e_k.(p_1 - p_2)          in inertial axes; only if all three are held: the bodies do not couple
//   place along k    e_k,1.(p_1 - p_2)        in the axes that the first body carries
//   turn about k     e_i,1.e_j,2              one axis of each body stays across one of the other's
//
// With these signs lambda is the force on the second body along k, and its torque about e_i,1 x e_j,2.
#pragma once

#include <bit>
#include <string>
#include <type_traits>

#include "liedyn/model/batch_of.h"
#include "liedyn/model/joints/joint_axes.h"

namespace liedyn {

// The directions that a joint holds, as bits: places along x, y, z, then turns about them.
using Held = unsigned;
inline constexpr Held kPlaces = 0b000111, kTurns = 0b111000;
constexpr Held place_along(int k) { return 1U << k; }
constexpr Held turn_about(int k) { return 8U << k; }

struct HeldRow {
  enum class Kind : unsigned char { Place, Along, Turn };
  Kind kind = Kind::Place;
  int k = 0;         // the direction held
  int i = 0, j = 0;  // Turn: which axes stay across each other
};

// Turns about two axes: both rows hold the free axis f of the second body across the others, since e_i,1.e_j,2 with other
// pairs become dependent after a quarter of a turn about f. All three, or one alone: e_k+1,1 across e_k+2,2.
constexpr HeldRow turn_row(Held held, int k) {
  const Held free = ~held & kTurns;
  if (std::popcount(free) != 1) return {HeldRow::Kind::Turn, k, (k + 1) % 3, (k + 2) % 3};
  const int f = std::countr_zero(free) - 3;
  return {HeldRow::Kind::Turn, k, 3 - k - f, f};
}

// The rows in their order; as many as `held` has bits.
constexpr std::array<HeldRow, 6> held_rows(Held held) {
  std::array<HeldRow, 6> rows;
  std::size_t count = 0;
  const bool inertial = (held & kPlaces) == kPlaces;
  for (int k = 0; k < 3; ++k)
    if ((held & place_along(k)) != 0)
      rows[count++] = {inertial ? HeldRow::Kind::Place : HeldRow::Kind::Along, k, 0, 0};
  for (int k = 0; k < 3; ++k)
    if ((held & turn_about(k)) != 0) rows[count++] = turn_row(held, k);
  return rows;
}

// Do forces on one body depend on the pose of the other?
constexpr bool couples_bodies(Held held) {
  const Held places = held & kPlaces;
  return (held & kTurns) != 0 || (places != 0 && places != kPlaces);
}

// "position x" is inertial, "joint x" are the joint's own axes.
std::string row_name(const HeldRow& row);

// Both frames at the place in field `at`; where the orientation of a body counts, it must have one.
std::vector<Attachment> held_attachments(Held held, int between, int at);

template <class S>
S row_value(const HeldRow& row, const std::array<Pose<S>, 2>& f, const S* p) {
  const JointAxes<S> axes(p);
  const Vec3T<S> d = f[0].p - f[1].p;
  switch (row.kind) {
    case HeldRow::Kind::Place: return d[row.k];
    case HeldRow::Kind::Along: return (f[0].R * axes.first.col(row.k)).dot(d);
    case HeldRow::Kind::Turn: return (f[0].R * axes.first.col(row.i)).dot(f[1].R * axes.second.col(row.j));
  }
  return S(0);
}

// Rows of the kind Turn alone, for the short way of model/direct.h: Phi = a.Q b - c with Q = R_1^T R_2, as RowDerivatives::turn has it.
// With a~ b~ = b a^T - (a.b) 1 no product of matrices is needed.
template <int N>
class TurnRows {
 public:
  TurnRows(const Mat3& R_1, const Mat3& R_2, const double* lambda, TurnDerivatives<N>& d)
      : lambda_(lambda), d_(d), Q_(R_1.transpose() * R_2) {
    for (auto& blocks : d.G)
      for (Mat3& block : blocks) block.setZero();
  }
  void turn(int row, const Vec3& a, const Vec3& b, double c = 0) {
    const Vec3 a2 = Q_.transpose() * a, b1 = Q_ * b;
    const double cosine = a.dot(b1), torque = lambda_[row];
    d_.phi[row] = cosine - c;
    d_.B[0].row(row) = a.cross(b1).transpose();
    d_.B[1].row(row) = b.cross(a2).transpose();
    Mat3 across;
    const Mat3 turned_b = skew(b);
    for (int k = 0; k < 3; ++k) across.col(k) = a.cross(Q_ * turned_b.col(k));
    d_.G[0][0] += torque * (b1 * a.transpose());
    d_.G[1][1] += torque * (a2 * b.transpose());
    d_.G[0][0].diagonal().array() -= torque * cosine;
    d_.G[1][1].diagonal().array() -= torque * cosine;
    d_.G[0][1] -= torque * across;
    d_.G[1][0] -= torque * across.transpose();
  }

 private:
  const double* lambda_;
  TurnDerivatives<N>& d_;
  Mat3 Q_;
};

// Fills JointDerivatives row by row. With Q = R_1^T R_2 and r = R_1^T (p_1 - p_2), body increments (d_t, d_r) give
//   dQ = Q d_r2~ - d_r1~ Q        dr = d_t1 + r~ d_r1 - Q d_t2
// and each row has a vector B_i^T per frame whose derivatives are the blocks of G. Z and the bias are the same blocks applied
// to the twists, Z_i = sum_j V_j^T G_ji for lambda = 1 and bias = sum_i Z_i V_i.
template <int R, class S = double>
class RowDerivatives {
 public:
  using V3 = Vec3T<S>;
  static constexpr bool for_matrices = std::is_same_v<S, double>;

  RowDerivatives(const std::array<Motion<S>, 2>& f, const S* lambda, JointDerivatives<2, R, S>& d)
      : f_(f),
        lambda_(lambda),
        d_(d),
        Q_(f[0].R.transpose() * f[1].R),
        r_(f[0].R.transpose() * (f[0].p - f[1].p)) {
    if constexpr (for_matrices) {
      if (!d.wants_stiffness) return;
      for (auto& blocks : d.G)
        for (Mat6& block : blocks) block.setZero();
    }
  }

  // Phi = e_k.(p_1 - p_2), with B_i^T = +-(R_i^T e_k, 0)
  void place(int row, int k) {
    d_.phi[row] = f_[0].p[k] - f_[1].p[k];
    for (int i = 0; i < 2; ++i) {
      const Motion<S>& m = f_[static_cast<std::size_t>(i)];
      const V3 n = S(i == 0 ? 1.0 : -1.0) * m.R.row(k).transpose();
      set(d_.B[i], row, n, V3::Zero());
      if (d_.wants_rates) set(d_.Z[i], row, V3::Zero(), u(i).cross(n));
      if constexpr (for_matrices)
        if (d_.wants_stiffness) d_.G[i][i].template topRightCorner<3, 3>() += lambda_[row] * skew(n);
    }
    if (d_.wants_rates) set_bias(row);
  }

  // Phi = a.r, with B_1^T = (a, a x r), B_2^T = (-Q^T a, 0)
  void along(int row, const V3& a) {
    const V3 a2 = Q_.transpose() * a;
    d_.phi[row] = a.dot(r_);
    set(d_.B[0], row, a, a.cross(r_));
    set(d_.B[1], row, -a2, V3::Zero());
    if (d_.wants_rates) {
      const V3 turned = w(0).cross(a);
      set(d_.Z[0], row, turned, turned.cross(r_) + V3(Q_ * u(1)).cross(a));
      set(d_.Z[1], row, -(Q_.transpose() * turned), -u(1).cross(a2));
      set_bias(row);
    }
    if constexpr (for_matrices)
      if (d_.wants_stiffness) add_along(row, a, a2);
  }

  // Phi = a.Q b - c, with B_1^T = (0, a x Q b), B_2^T = (0, b x Q^T a)
  void turn(int row, const V3& a, const V3& b, const S& c = S(0)) {
    const V3 a2 = Q_.transpose() * a, b1 = Q_ * b;
    d_.phi[row] = a.dot(b1) - c;
    set(d_.B[0], row, V3::Zero(), a.cross(b1));
    set(d_.B[1], row, V3::Zero(), b.cross(a2));
    if (d_.wants_rates) {
      const V3 turned_a = w(0).cross(a), turned_b = w(1).cross(b);
      set(d_.Z[0], row, V3::Zero(), turned_a.cross(b1) - V3(Q_ * turned_b).cross(a));
      set(d_.Z[1], row, V3::Zero(), turned_b.cross(a2) - V3(Q_.transpose() * turned_a).cross(b));
      set_bias(row);
    }
    if constexpr (for_matrices)
      if (d_.wants_stiffness) add_turn(row, a, b, a2, b1);
  }

  void held(int row, const HeldRow& what, const JointAxes<S>& axes) {
    switch (what.kind) {
      case HeldRow::Kind::Place: return place(row, what.k);
      case HeldRow::Kind::Along: return along(row, axes.first.col(what.k));
      case HeldRow::Kind::Turn: return turn(row, axes.first.col(what.i), axes.second.col(what.j));
    }
  }

 private:
  using Row = typename JointDerivatives<2, R, S>::Row;

  void add_along(int row, const Vec3& a, const Vec3& a2) requires(for_matrices) {
    const double force = lambda_[row];
    d_.G[0][0].template bottomLeftCorner<3, 3>() += force * skew(a);
    d_.G[0][0].template bottomRightCorner<3, 3>() += force * (skew(a) * skew(r_));
    d_.G[0][1].template bottomLeftCorner<3, 3>() -= force * (skew(a) * Q_);
    d_.G[1][0].template topRightCorner<3, 3>() += force * (Q_.transpose() * skew(a));
    d_.G[1][1].template topRightCorner<3, 3>() -= force * skew(a2);
  }

  void add_turn(int row, const Vec3& a, const Vec3& b, const Vec3& a2,
                const Vec3& b1) requires(for_matrices) {
    const double torque = lambda_[row];
    const auto turning = [&](int i, int j) { return d_.G[i][j].template bottomRightCorner<3, 3>(); };
    const Mat3 across = skew(a) * Q_ * skew(b);
    turning(0, 0) += torque * (skew(a) * skew(b1));
    turning(0, 1) -= torque * across;
    turning(1, 0) -= torque * across.transpose();
    turning(1, 1) += torque * (skew(b) * skew(a2));
  }

  auto u(int i) const { return f_[static_cast<std::size_t>(i)].V.template head<3>(); }
  auto w(int i) const { return f_[static_cast<std::size_t>(i)].V.template tail<3>(); }
  static void set(Row& matrix, int row, const V3& translation, const V3& rotation) {
    matrix.row(row) << translation.transpose(), rotation.transpose();
  }
  void set_bias(int row) { d_.bias[row] = d_.Z[0].row(row).dot(f_[0].V) + d_.Z[1].row(row).dot(f_[1].V); }

  const std::array<Motion<S>, 2>& f_;
  const S* lambda_;
  JointDerivatives<2, R, S>& d_;
  Mat3T<S> Q_;
  V3 r_;
};

// Numbers with derivatives: row by row, so that the formulas are compiled once and not for every number of rows.
extern template class RowDerivatives<1, Varied>;
template <int R>
requires(R > 1) class RowDerivatives<R, Varied> {
 public:
  using V3 = Vec3T<Varied>;
  RowDerivatives(const std::array<Motion<Varied>, 2>& f, const Varied* lambda,
                 JointDerivatives<2, R, Varied>& d)
      : d_(d), row_(f, lambda, one_) {
    one_.wants_rates = d.wants_rates;
  }

  void place(int row, int k) {
    row_.place(0, k);
    copy_to(row);
  }
  void along(int row, const V3& a) {
    row_.along(0, a);
    copy_to(row);
  }
  void turn(int row, const V3& a, const V3& b, const Varied& c = Varied(0)) {
    row_.turn(0, a, b, c);
    copy_to(row);
  }
  void held(int row, const HeldRow& what, const JointAxes<Varied>& axes) {
    row_.held(0, what, axes);
    copy_to(row);
  }

 private:
  void copy_to(int row) {
    d_.phi[row] = one_.phi[0];
    for (int i = 0; i < 2; ++i) d_.B[i].row(row) = one_.B[i];
    if (!d_.wants_rates) return;
    d_.bias[row] = one_.bias[0];
    for (int i = 0; i < 2; ++i) d_.Z[i].row(row) = one_.Z[i];
  }
  JointDerivatives<2, R, Varied>& d_;
  JointDerivatives<2, 1, Varied> one_;
  RowDerivatives<1, Varied> row_;
};

}  // namespace liedyn

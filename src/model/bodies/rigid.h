// Inertia of a rigid body about any reference point, with its weight.
//
// With the first moment m c and the inertia J about the reference point (body axes), momentum and residual are
//   p = m v + Omega x m c            W_t = m a + alpha x m c + Omega x p
//   L = m c x v + J Omega            W_r = m c x a + J alpha + Omega x L + v x p
// where (v, Omega) is the body twist, (a, alpha) its derivative, and a stands for a - R^T gravity: weight is the inertial
// force of a falling frame.
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct RigidInertia {
  static constexpr int frames = 1, rows = 0,
                       constants = 10;  // m, m c (3), J about the reference point (xx yy zz yz xz xy)
  static constexpr bool stiffness = true, damping = true, inertia = true;
  static constexpr Optional optional = {.check = true, .energy = true, .direct = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  static Mat3T<S> inertia_matrix(const S* xx_yy_zz_yz_xz_xy) {
    const S* j = xx_yy_zz_yz_xz_xy;
    Mat3T<S> J;
    J << j[0], j[5], j[4], j[5], j[1], j[3], j[4], j[3], j[2];
    return J;
  }

  template <class S>
  static void wrench(const World<S>& world, const std::array<Motion<S>, 1>& f, const S* n,
                     std::array<Vec6T<S>, 1>& W) {
    using V3 = Vec3T<S>;
    const S m = n[0];
    const V3 mc = Eigen::Map<const V3>(n + 1);
    const Mat3T<S> J = inertia_matrix(n + 4);
    const V3 v = f[0].V.template head<3>(), w = f[0].V.template tail<3>();
    const V3 a = f[0].A.template head<3>() - f[0].R.transpose() * world.gravity,
             alpha = f[0].A.template tail<3>();
    const V3 p = m * v + w.cross(mc);
    const V3 L = mc.cross(v) + J * w;
    W[0].template head<3>() = m * a + alpha.cross(mc) + w.cross(p);
    W[0].template tail<3>() = mc.cross(a) + J * alpha + w.cross(L) + v.cross(p);
  }
  static void partials(const World<double>& world, const std::array<Motion<double>, 1>& f, const double* n,
                       ForcePartials<1>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>& world, const std::array<Motion<S>, 1>& f, const S* n) {
    using V3 = Vec3T<S>;
    const S m = n[0];
    const V3 mc = Eigen::Map<const V3>(n + 1);
    const V3 v = f[0].V.template head<3>(), w = f[0].V.template tail<3>();
    const V3 p = m * v + w.cross(mc), L = mc.cross(v) + inertia_matrix(n + 4) * w;
    return {S(0.5) * (v.dot(p) + w.dot(L)), -world.gravity.dot(V3(m * f[0].p + f[0].R * mc))};
  }

  // With the inertial velocity u of the reference point (the terms with v above cancel), b = alpha x m c + Omega x (Omega x m c) and
  // gamma = R^T (udot - gravity):
  //   r_t = m (udot - gravity) + R b            r_r = m c x gamma + J alpha + Omega x J Omega
  template <bool WithMatrix, class S>
  static void direct(const DirectNodeOf<S>& x, const World<S>& world, const S* n,
                     [[maybe_unused]] const Seeding& s, S* r, [[maybe_unused]] DirectBlock block) {
    if (is_direct_in_plane(x.type)) return direct_in_plane<WithMatrix>(x, world, n, s, r, block);
    if (turns_rotation(x.type)) return direct_in_inertial_axes<WithMatrix>(x, world, n, s, r, block);
    using Map3 = Eigen::Map<const Vec3T<S>>;
    const S m = n[0];
    const Map3 mc(n + 1), w(x.v + 3), alpha(x.vdot + 3);
    const Mat3T<S> J = inertia_matrix(n + 4);
    const Mat3T<S>& R = x.pose.R;
    const Vec3T<S> fall = Map3(x.vdot) - world.gravity;
    const Vec3T<S> Jw = J * w;
    const bool about_center = is_zero(mc);
    Vec3T<S> force = m * fall, torque = J * alpha + w.cross(Jw), gamma, b;
    if (!about_center) {
      gamma = R.transpose() * fall;
      b = alpha.cross(mc) + w.cross(w.cross(mc));
      force += R * b;
      torque += mc.cross(gamma);
    }
    for (int i = 0; i < 3; ++i) r[i] += force[i], r[3 + i] += torque[i];
    if constexpr (WithMatrix) {
      const double e = x.E != nullptr ? x.E[0] : 1;
      const Mat3 Er = x.E != nullptr ? Mat3(Eigen::Map<const Mat3>(x.E + 1)) : Mat3(Mat3::Identity());
      const Mat3 Ev =
          x.E_rate != nullptr ? Mat3(Eigen::Map<const Mat3>(x.E_rate + 1)) : Mat3(Mat3::Identity());
      for (int i = 0; i < 3; ++i) block(i, i) += m * s.a * e;
      // d(Omega x J Omega) = (Omega~ J - (J Omega)~) dOmega
      Mat3 D = (s.a * J) * Er;
      Mat3 gyroscopic;
      for (int c = 0; c < 3; ++c) gyroscopic.col(c) = w.cross(J.col(c));
      gyroscopic -= skew(Jw);
      D += (s.v * gyroscopic) * Ev;
      if (!about_center) {
        const Mat3 C = skew(mc);
        // d(R b) = R (db - b~ d_r), d(gamma) = R^T dudot + gamma~ d_r
        const Mat3 of_w = -skew(Vec3(w.cross(mc))) - skew(w) * C;
        block.add(0, 3, R * (s.v * (of_w * Ev) - s.a * (C * Er) - s.q * skew(b)));
        block.add(3, 0, (s.a * e) * (C * R.transpose()));
        D += s.q * (C * skew(gamma));
      }
      block.add(3, 3, D);
    }
  }
  // With omega and the increments of the orientation in inertial axes, c = R m c and I = R J R^T:
  //   r_t = m (udot - gravity) + b,   b = omegadot x c + omega x (omega x c)
  //   r_r = c x (udot - gravity) + I omegadot + omega x I omega
  // An increment d_r turns c and I: dc = -c~ d_r, and d(I y) = (I y~ - (I y)~) d_r for a fixed y.
  template <bool WithMatrix, class S>
  static void direct_in_inertial_axes(const DirectNodeOf<S>& x, const World<S>& world, const S* n,
                                      [[maybe_unused]] const Seeding& s, S* r,
                                      [[maybe_unused]] DirectBlock block) {
    using Map3 = Eigen::Map<const Vec3T<S>>;
    const S m = n[0];
    const Map3 w(x.v + 3), alpha(x.vdot + 3);
    const Mat3T<S>& R = x.pose.R;
    const Mat3T<S> I = R * inertia_matrix(n + 4) * R.transpose();
    const Vec3T<S> fall = Map3(x.vdot) - world.gravity;
    const Vec3T<S> Iw = I * w, Ialpha = I * alpha;
    const bool about_center = is_zero(Map3(n + 1));
    Vec3T<S> force = m * fall, torque = Ialpha + w.cross(Iw), c;
    if (!about_center) {
      c = R * Map3(n + 1);
      force += alpha.cross(c) + w.cross(w.cross(c));
      torque += c.cross(fall);
    }
    for (int i = 0; i < 3; ++i) r[i] += force[i], r[3 + i] += torque[i];
    if constexpr (WithMatrix) {
      const double e = x.E != nullptr ? x.E[0] : 1;
      const Mat3 Er = x.E != nullptr ? Mat3(Eigen::Map<const Mat3>(x.E + 1)) : Mat3(Mat3::Identity());
      const Mat3 Ev =
          x.E_rate != nullptr ? Mat3(Eigen::Map<const Mat3>(x.E_rate + 1)) : Mat3(Mat3::Identity());
      for (int i = 0; i < 3; ++i) block(i, i) += m * s.a * e;
      // The columns of I y~ are those of -y~ I, transposed: I is symmetric.
      Mat3 turned_w, turned_alpha;
      for (int k = 0; k < 3; ++k) {
        turned_w.col(k) = w.cross(I.col(k));
        turned_alpha.row(k) = -alpha.cross(I.col(k)).transpose();
      }
      const Mat3 of_Iw = -turned_w.transpose() - skew(Iw);
      Mat3 D = (s.a * I) * Er + (s.v * (turned_w - skew(Iw))) * Ev;
      D += s.q * (turned_alpha - skew(Ialpha));
      for (int k = 0; k < 3; ++k) D.col(k) += s.q * w.cross(of_Iw.col(k));
      if (!about_center) {
        const Mat3 C = skew(c), W = skew(w), WC = W * C;
        const Mat3 of_w = -skew(Vec3(w.cross(c))) - WC;
        block.add(0, 3, s.v * (of_w * Ev) - s.a * (C * Er) - s.q * (skew(Vec3(alpha)) * C + W * WC));
        block.add(3, 0, (s.a * e) * C);
        // fall~ c~ = c fall^T - (c.fall) 1
        D += s.q * (c * fall.transpose());
        D.diagonal().array() -= s.q * c.dot(fall);
      }
      block.add(3, 3, D);
    }
  }
  // Constants that are zero; numbers with derivatives are not, whatever their value.
  template <class V>
  static bool is_zero(const V& x) {
    for (int i = 0; i < 3; ++i) {
      if (value(x[i]) != 0) return false;
      if constexpr (is_varied<typename V::Scalar>)
        if (x[i].id != 0) return false;
    }
    return true;
  }
  template <bool WithMatrix, class S>
  static void direct_in_plane(const DirectNodeOf<S>& x, const World<S>& world, const S* n,
                              [[maybe_unused]] const Seeding& s, S* r, [[maybe_unused]] DirectBlock block) {
    const S m = n[0], J = n[6];
    const S w = x.v[2], alpha = x.vdot[2];
    const S c = x.pose.R(0, 0), sine = x.pose.R(1, 0);
    const S X = c * n[1] - sine * n[2], Y = sine * n[1] + c * n[2];  // R m c
    const S fall[] = {x.vdot[0] - world.gravity[0], x.vdot[1] - world.gravity[1]};
    const S B[] = {-alpha * Y - w * w * X, alpha * X - w * w * Y};  // R b
    r[0] += m * fall[0] + B[0];
    r[1] += m * fall[1] + B[1];
    r[2] += X * fall[1] - Y * fall[0] + J * alpha;
    if constexpr (WithMatrix) {
      const double e = x.E != nullptr ? x.E[0] : 1;
      block(0, 0) += m * s.a * e;
      block(1, 1) += m * s.a * e;
      block(2, 0) -= Y * s.a * e;
      block(2, 1) += X * s.a * e;
      // d(R b) = z x R b d_r + (z x R m c) dalpha - 2 w R m c dw
      block(0, 2) += -s.q * B[1] - s.a * e * Y - 2 * w * s.v * e * X;
      block(1, 2) += s.q * B[0] + s.a * e * X - 2 * w * s.v * e * Y;
      block(2, 2) += J * s.a * e - s.q * (X * fall[0] + Y * fall[1]);
    }
  }
};

// A point mass: its frame has no rotation of its own.
struct PointInertia {
  static constexpr int frames = 1, rows = 0, constants = 1;  // m
  static constexpr bool stiffness = true, damping = true, inertia = true;
  static constexpr Optional optional = {.energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  // W_t = m (a + Omega x v - R^T gravity)
  template <class S>
  static void wrench(const World<S>& world, const std::array<Motion<S>, 1>& f, const S* n,
                     std::array<Vec6T<S>, 1>& W) {
    using V3 = Vec3T<S>;
    const V3 v = f[0].V.template head<3>(), w = f[0].V.template tail<3>();
    W[0].setZero();
    W[0].template head<3>() =
        n[0] * (f[0].A.template head<3>() + w.cross(v) - f[0].R.transpose() * world.gravity);
  }
  static void partials(const World<double>& world, const std::array<Motion<double>, 1>& f, const double* n,
                       ForcePartials<1>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>& world, const std::array<Motion<S>, 1>& f, const S* n) {
    return {S(0.5) * n[0] * f[0].V.template head<3>().squaredNorm(), -n[0] * world.gravity.dot(f[0].p)};
  }
};

BodyKind rigid();
BodyKind rotating();
BodyKind point();

}  // namespace liedyn

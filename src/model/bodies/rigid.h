// Inertia of a rigid body about any reference point, with its weight.
//
// With the first moment m c and the inertia J about the reference point (body axes), momentum and residual are
//   p = m v + Omega x m c            W_t = m a + alpha x m c + Omega x p
//   L = m c x v + J Omega            W_r = m c x a + J alpha + Omega x L + v x p
// where (v, Omega) is the body twist, (a, alpha) its derivative, and a stands for a - R^T gravity: weight is the inertial
// force of a falling frame.
#pragma once

#include "model/batch_of.h"

namespace liedyn {

struct RigidInertia {
  static constexpr int frames = 1, rows = 0,
                       numbers = 10;  // m, m c (3), J about the reference point (xx yy zz yz xz xy)
  static constexpr bool stiffness = true, damping = true, inertia = true;

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
  static Energy energy(const World<double>& world, const std::array<Motion<double>, 1>& f, const double* n);
};

// A point mass: its frame has no rotation of its own.
struct PointInertia {
  static constexpr int frames = 1, rows = 0, numbers = 1;  // m
  static constexpr bool stiffness = true, damping = true, inertia = true;

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
  static Energy energy(const World<double>& world, const std::array<Motion<double>, 1>& f, const double* n);
};

BodyKind rigid();
BodyKind rotating();
BodyKind point();

}  // namespace liedyn

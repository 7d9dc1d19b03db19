// A thin disc of the second body rolls without slipping on a plane of the first. With the normal n, the axis a and the
// centre c of the disc, its lowest point is
//
//   P = c - rho m,    m = (n - a (a.n)) / |n - a (a.n)|
//
// The disc touches the plane, n.(P - p_1) + height = 0, at position level; the material point at P does not move across the
// plane, t_k.(velocity of the disc at P - velocity of the plane at P) = 0 for k = x, y, at velocity level: no function of
// the positions has this as its rate. m is the direction in which the height of the rim is least, so the rate of the first
// row is the velocity of the material point too, n.(...), and all three rows have one formula.
#pragma once

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

struct RollingDisc {
  // Axes of the plane on the first body (x, y, normal), axis of the disc on the second, rho, height
  static constexpr int frames = 2, rows = 3, velocity_rows = 2, constants = 9 + 3 + 2;
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int row);

  // From the centre to the lowest point of the rim, inertial axes.
  template <class S>
  static Vec3T<S> to_contact(const Pose<S>& plane, const Pose<S>& disc, const S* p) {
    const Vec3T<S> n = plane.R * Eigen::Map<const Vec3T<S>>(p + 6);
    const Vec3T<S> a = disc.R * Eigen::Map<const Vec3T<S>>(p + 9);
    const Vec3T<S> m = n - a * a.dot(n);
    return -p[12] / m.norm() * m;
  }
  template <class S>
  static Eigen::Matrix<S, 3, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    const Vec3T<S> n = f[0].R * Eigen::Map<const Vec3T<S>>(p + 6);
    return {n.dot(f[1].p + to_contact(f[0], f[1], p) - f[0].p) + p[13], S(0), S(0)};
  }
  template <class S>
  static Eigen::Matrix<S, 3, 1> rate(const std::array<Motion<S>, 2>& f, const S* p) {
    const Vec3T<S> rim = to_contact<S>(f[0], f[1], p), across = f[1].p + rim - f[0].p;
    const Vec3T<S> w1 = f[0].R * f[0].V.template tail<3>(), w2 = f[1].R * f[1].V.template tail<3>();
    const Vec3T<S> slip = f[1].velocity() + w2.cross(rim) - f[0].velocity() - w1.cross(across);
    const Vec3T<S> local = Eigen::Map<const Mat3T<S>>(p).transpose() * (f[0].R.transpose() * slip);
    return {local[2], local[0], local[1]};
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 3, S>& d);
};

ListedKind rolling_disc();

}  // namespace liedyn

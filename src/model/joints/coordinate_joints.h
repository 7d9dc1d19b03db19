// Joints in terms of the coordinates of other joints (model/joint_coordinate.h), one row each:
//
//   prescribed_motion     x - f(t) = 0
//   prescribed_velocity   x' - f(t) = 0        at velocity level in every index form: where x itself ends up is nobody's business
//   gear                  x_1 - r x_2 = 0      angles or displacements, both zero in the initial configuration
//
// and a screw, which is a cylindrical joint with u - (pitch/2 pi) theta = 0 besides.
#pragma once

#include "liedyn/model/joint_coordinate.h"
#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

// An angle is taken in the turn nearest to f: whole turns do not matter, wherever f begins.
struct PrescribedMotion {
  static constexpr int frames = 2, rows = 1, constants = kCoordinateConstants + 3;  // f, f', f''
  static constexpr bool across = true;
  static constexpr Optional optional = {.rheonomic = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static std::string row_name(int) { return "motion"; }

  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    const S& motion = p[kCoordinateConstants];
    return Eigen::Matrix<S, 1, 1>(coordinate_value(f[0], f[1], p, motion) - motion);
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 1, S>& d);
};

struct PrescribedVelocity {
  static constexpr int frames = 2, rows = 1, constants = kCoordinateConstants + 2;  // f, f'
  static constexpr int velocity_rows = 1;
  static constexpr bool across = true;
  static constexpr Optional optional = {};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static std::string row_name(int) { return "velocity"; }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 1, S>& d);

  template <class S>
  static Eigen::Matrix<S, 1, 1> rate(const std::array<Motion<S>, 2>& f, const S* p) {
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    return Eigen::Matrix<S, 1, 1>(B[0].dot(f[0].V) + B[1].dot(f[1].V) - p[kCoordinateConstants]);
  }
};

struct Gear {
  static constexpr int frames = 4, rows = 1, angles = 2;
  static constexpr int constants = 2 * kCoordinateConstants + 1 + angles;  // r
  static constexpr bool across = true;
  static constexpr Optional optional = {};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static std::string row_name(int) { return "ratio"; }

  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 4>& f, const S* p) {
    const S x1 = coordinate_value(f[0], f[1], p, p[constants - 2]);
    const S x2 = coordinate_value(f[2], f[3], p + kCoordinateConstants, p[constants - 1]);
    return Eigen::Matrix<S, 1, 1>(x1 - p[2 * kCoordinateConstants] * x2);
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 4>& f, const S* p, const S* lambda,
                          JointDerivatives<4, 1, S>& d);
  static void wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out);
};

struct Screw {
  static constexpr int frames = 2, rows = 5, angles = 1;
  static constexpr int constants = kCoordinateConstants + 1 + angles;  // displacement per radian
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true, .axis_motion = true};
  static constexpr Held held = 0b011011;  // places and turns across the axis, as a cylindrical joint

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int row);

  template <class S>
  static Eigen::Matrix<S, 5, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    Eigen::Matrix<S, 5, 1> out;
    for (int i = 0; i < 4; ++i) out[i] = row_value(held_rows(held)[static_cast<std::size_t>(i)], f, p);
    const S u = -row_value({HeldRow::Kind::Along, 2, 0, 0}, f, p);
    out[4] = u - p[kCoordinateConstants] * coordinate_value(f[0], f[1], p, p[constants - 1]);
    return out;
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 5, S>& d);
  static void wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out);
  template <class S>
  static AxisMotionOf<S> axis_motion(const std::array<Motion<S>, 2>& f, const S* p) {
    return axis_motion_of(f, p);
  }
};

ListedKind prescribed_motion();
ListedKind prescribed_velocity();
ListedKind gear();
ListedKind screw();

}  // namespace liedyn

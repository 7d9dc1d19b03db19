// Joints with one axis, called z, and two axes x and y across it. They differ only in the directions that they hold:
//
//                     places held    turns held
//   revolute          x y z          x y
//   prismatic         x y            x y z
//   cylindrical       x y            x y
//   planar            z              x y
//   point_on_line     x y
//   point_on_plane    z
//   fixed             x y z          x y z        (it needs no axis: x, y, z are the inertial axes)
#pragma once

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

constexpr AxisCoordinates axis_coordinates(Held held) {
  return {.angle = (held & kTurns) == (turn_about(0) | turn_about(1)),
          .displacement = (held & kPlaces) == (place_along(0) | place_along(1))};
}

template <Held held>
struct AxisJoint {
  static constexpr Held held_directions = held;
  static constexpr int frames = 2, rows = std::popcount(held), constants = kAxesConstants;
  static constexpr bool across = couples_bodies(held);
  static constexpr Optional optional = {.check = true, .axis_motion = true};
  static constexpr std::array<HeldRow, 6> row_list = held_rows(held);
  static constexpr int places = (held & kPlaces) == kPlaces ? 3 : 0;
  static void turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                    TurnDerivatives<rows - places>& d);
  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int row) { return liedyn::row_name(row_list[static_cast<std::size_t>(row)]); }

  template <class S>
  static Eigen::Matrix<S, rows, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    Eigen::Matrix<S, rows, 1> out;
    for (int i = 0; i < rows; ++i) out[i] = row_value(row_list[static_cast<std::size_t>(i)], f, p);
    return out;
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, rows, S>& d) {
    const JointAxes<S> axes(p);
    RowDerivatives<rows, S> out(f, lambda, d);
    for (int i = 0; i < rows; ++i) out.held(i, row_list[static_cast<std::size_t>(i)], axes);
  }
  template <class S>
  static AxisMotionOf<S> axis_motion(const std::array<Motion<S>, 2>& f, const S* p) {
    return axis_motion_of(f, p);
  }
};

inline constexpr Held kAcross = place_along(0) | place_along(1);
inline constexpr Held kTilt = turn_about(0) | turn_about(1);
using Revolute = AxisJoint<kPlaces | kTilt>;
using Prismatic = AxisJoint<kAcross | kTurns>;
using Cylindrical = AxisJoint<kAcross | kTilt>;
using Planar = AxisJoint<place_along(2) | kTilt>;
using PointOnLine = AxisJoint<kAcross>;
using PointOnPlane = AxisJoint<place_along(2)>;
using Fixed = AxisJoint<kPlaces | kTurns>;

ListedKind revolute();
ListedKind prismatic();
ListedKind cylindrical();
ListedKind planar();
ListedKind point_on_line();
ListedKind point_on_plane();
ListedKind fixed();

}  // namespace liedyn

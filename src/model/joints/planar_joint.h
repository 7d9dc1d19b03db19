// Joints of the plane, the inertial x-y plane. As in axis_joint.h, z is the axis that the second body turns about or moves along:
// out of the plane, or the line that was typed, with x across it in the plane and y out of the plane. They differ only in the
// directions that they hold:
//
//                          z               places held    turn held
//   planar_revolute        out of plane    x y
//   planar_fixed           out of plane    x y            z
//   planar_prismatic       the line        x              y
//   planar_point_on_line   the line        x
//
// Where both places are held, x and y are the inertial axes: the bodies do not couple. These are the rows that a joint between
// two bodies in a plane needs; those of the joints in space that hold the plane itself would be redundant there.
#pragma once

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

inline constexpr Held kInPlane = place_along(0) | place_along(1), kAcrossLine = place_along(0);

constexpr std::array<HeldRow, 3> planar_rows(Held held) {
  std::array<HeldRow, 3> rows;
  std::size_t count = 0;
  const bool inertial = (held & kInPlane) == kInPlane;
  for (int k = 0; k < 2; ++k)
    if ((held & place_along(k)) != 0)
      rows[count++] = {inertial ? HeldRow::Kind::Place : HeldRow::Kind::Along, k, 0, 0};
  for (int k = 1; k < 3; ++k)
    if ((held & turn_about(k)) != 0) rows[count++] = turn_row(held, k);
  return rows;
}

template <Held held>
struct PlanarJoint {
  static constexpr int frames = 2, rows = std::popcount(held), constants = kAxesConstants;
  static constexpr bool across = held != kInPlane;
  static constexpr Optional optional = {.check = true, .axis_motion = true};
  static constexpr int places = held == kInPlane ? 2 : 0;
  static constexpr std::array<HeldRow, 3> row_list = planar_rows(held);
  static constexpr bool has_line = (held & kInPlane) == kAcrossLine;
  static constexpr AxisCoordinates coordinates = {.angle = held == kInPlane, .displacement = has_line};

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

using PlanarRevolute = PlanarJoint<kInPlane>;
using PlanarPrismatic = PlanarJoint<kAcrossLine | turn_about(1)>;
using PlanarFixed = PlanarJoint<kInPlane | turn_about(2)>;
using PlanarPointOnLine = PlanarJoint<kAcrossLine>;

ListedKind planar_revolute();
ListedKind planar_prismatic();
ListedKind planar_fixed();
ListedKind planar_point_on_line();

}  // namespace liedyn

#include "liedyn/model/joints/axis_joint.h"

#include <cmath>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kAxis };

constexpr bool needs_axis(Held held) { return held != (kPlaces | kTurns); }

// The joint's axes on both bodies, which coincide where its coordinates are zero.
constexpr auto axes_on_bodies = []<class S>(const Pose<S>* ends, const S* p, Pose<S>* out) {
  out[0] = {ends[0].R * JointAxes<S>(p).first, ends[0].p};
  out[1] = {ends[1].R * JointAxes<S>(p).second, ends[1].p};
};

// Motions along and about z.
std::shared_ptr<const TreeForm> along_axis(std::vector<LinkKind> motions) {
  const auto frames = []<class S>(const Pose<S>* ends, const S* p, Pose<S>* out) {
    const Mat3T<S> A = ends[0].R * JointAxes<S>(p).first;
    for (int step = 0; step < kMostTreeMotions; ++step) out[step] = {A, ends[0].p};
  };
  return std::make_shared<const TreeForm>(TreeForm{std::move(motions), frames, axes_on_bodies});
}

// Along x, along y, about z.
std::shared_ptr<const TreeForm> in_plane() {
  const auto frames = []<class S>(const Pose<S>* ends, const S* p, Pose<S>* out) {
    const Mat3T<S> A = ends[0].R * JointAxes<S>(p).first;
    Mat3T<S> turned;
    turned << A.col(1), A.col(2), A.col(0);
    out[0] = {turned, ends[0].p};
    turned << A.col(2), A.col(0), A.col(1);
    out[1] = {turned, ends[0].p};
    out[2] = {A, ends[0].p};
  };
  return std::make_shared<const TreeForm>(
      TreeForm{{LinkKind::Slide, LinkKind::Slide, LinkKind::Turn}, frames, axes_on_bodies});
}

template <class E>
ListedKind listed(std::string type, std::string summary, std::string axis_summary = {}) {
  constexpr Held held = E::held_directions, turns = held & kTurns;
  Kind kind{.type = std::move(type),
            .summary = std::move(summary),
            .fields = {between_bodies().as(kBetween), common_place().as(kAt)},
            .coordinates = axis_coordinates(held),
            .keeps_orientation = !needs_axis(held),
            .is_smooth = true,
            .held_turns = turns};
  const int coordinates = (kind.coordinates.angle ? 1 : 0) + (kind.coordinates.displacement ? 1 : 0);
  kind.guides = coordinates > 0 && E::rows + coordinates == 6;
  // Rows with turns compare the axes of both bodies; the others see those of the first alone.
  if (!axis_summary.empty())
    kind.fields.push_back(
        direction("axis", std::move(axis_summary), turns != 0 ? BodyAxes::Each : BodyAxes::First).as(kAxis));
  for (Field& field : zero_fields(kind.coordinates)) kind.fields.push_back(std::move(field));
  return {std::move(kind), &make_batch<E>};
}

// Its rows are places across the axis, then turns across it: lambda is what a bearing carries.
template <class E>
ListedKind bearing(ListedKind joint) {
  joint.kind.bearing = {std::popcount(E::held_directions & kPlaces),
                        std::popcount(E::held_directions & kTurns)};
  return joint;
}

ListedKind in_tree(ListedKind joint, std::shared_ptr<const TreeForm> form) {
  joint.kind.tree = std::move(form);
  return joint;
}

}  // namespace

template <Held held>
std::vector<Attachment> AxisJoint<held>::attachments() {
  return held_attachments(held, kBetween, kAt);
}

template <Held held>
template <class S>
void AxisJoint<held>::derive(const Inputs<S>& in, S* p) {
  if constexpr (needs_axis(held))
    derive_axes(in, kAxis, p);
  else
    derive_axes(in, Mat3T<S>(Mat3T<S>::Identity()), p);
  derive_zero(in, p);
}

template <Held held>
void AxisJoint<held>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (needs_axis(held)) check_direction(in, kAxis, "axis", message, hint);
  if (message.empty()) check_zero(in, message);
}

template <Held held>
void AxisJoint<held>::turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                            TurnDerivatives<rows - places>& d) {
  if constexpr (places == 3) {
    const JointAxes<double> axes(p);
    TurnRows<rows - places> out(R_1, R_2, lambda, d);
    for (int i = 0; i < rows - places; ++i) {
      const HeldRow& row = row_list[static_cast<std::size_t>(places + i)];
      out.turn(i, axes.first.col(row.i), axes.second.col(row.j));
    }
  }
}

template struct AxisJoint<kPlaces | kTilt>;
template struct AxisJoint<kAcross | kTurns>;
template struct AxisJoint<kAcross | kTilt>;
template struct AxisJoint<place_along(2) | kTilt>;
template struct AxisJoint<kAcross>;
template struct AxisJoint<place_along(2)>;
template struct AxisJoint<kPlaces | kTurns>;

ListedKind revolute() {
  return in_tree(bearing<Revolute>(
                     listed<Revolute>("revolute", "Hinge: the second body turns about an axis of the first.",
                                      "Axis of the hinge in the initial configuration, inertial axes.")),
                 along_axis({LinkKind::Turn}));
}
ListedKind prismatic() {
  return in_tree(
      bearing<Prismatic>(listed<Prismatic>(
          "prismatic", "Slider: the second body moves along an axis of the first, without turning.",
          "Direction of the sliding in the initial configuration, inertial axes.")),
      along_axis({LinkKind::Slide}));
}
ListedKind cylindrical() {
  return in_tree(bearing<Cylindrical>(listed<Cylindrical>(
                     "cylindrical", "The second body moves along an axis of the first and turns about it.",
                     "The axis in the initial configuration, inertial axes.")),
                 along_axis({LinkKind::Slide, LinkKind::Turn}));
}
ListedKind planar() {
  return in_tree(
      listed<Planar>(
          "planar",
          "A plane of the second body moves in a plane of the first: two displacements and a rotation.",
          "Normal of the plane in the initial configuration, inertial axes."),
      in_plane());
}
ListedKind point_on_line() {
  return listed<PointOnLine>("point_on_line", "A point of the second body stays on a line of the first.",
                             "Direction of the line in the initial configuration, inertial axes.");
}
ListedKind point_on_plane() {
  return listed<PointOnPlane>("point_on_plane", "A point of the second body stays in a plane of the first.",
                              "Normal of the plane in the initial configuration, inertial axes.");
}
ListedKind fixed() {
  return in_tree(listed<Fixed>("fixed", "Weld: the two bodies move as one."), along_axis({LinkKind::Weld}));
}

}  // namespace liedyn

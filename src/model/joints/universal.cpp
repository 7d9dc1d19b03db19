#include "liedyn/model/joints/universal.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kFirstAxis, kSecondAxis };

// Axes nearer to each other than this (as a sine) leave the joint no turn to hold.
constexpr double kParallel = 1e-6;

// Axes that are both given in body axes are those of a cross: perpendicular, whatever the initial configuration is.
template <class S>
bool is_cross(const Inputs<S>& in) {
  return in.in_bodies(kFirstAxis) && in.in_bodies(kSecondAxis);
}

// A turn about the axis of each body. They coincide where the second axis of a cross is along the x that belongs to the first; axes at other angles keep the
// orientations of the initial configuration.
std::shared_ptr<const TreeForm> tree_form() {
  const auto motions = []<class S>(const Pose<S>* ends, const S* p, Pose<S>* out) {
    out[0] = {axes_along<S>(ends[0].R * Eigen::Map<const Vec3T<S>>(p)), ends[0].p};
    out[1] = {axes_along<S>(ends[1].R * Eigen::Map<const Vec3T<S>>(p + 3)), ends[0].p};
  };
  const auto bodies = []<class S>(const Pose<S>* ends, const S* p, Pose<S>* out) {
    for (int i = 0; i < 2; ++i) out[i] = {Mat3T<S>::Identity(), ends[i].p};
    if (value(p[6]) != 0) return;
    const Mat3T<S> second = axes_along<S>(ends[1].R * Eigen::Map<const Vec3T<S>>(p + 3));
    out[0].R = axes_along<S>(ends[0].R * Eigen::Map<const Vec3T<S>>(p));
    out[1].R << second.col(2), second.col(0), second.col(1);
  };
  return std::make_shared<const TreeForm>(TreeForm{{LinkKind::Turn, LinkKind::Turn}, motions, bodies, true});
}

}  // namespace

std::vector<Attachment> Universal::attachments() {
  return held_attachments(kPlaces | turn_about(2), kBetween, kAt);
}

template <class S>
void Universal::derive(const Inputs<S>& in, S* p) {
  const Vec3T<S> first = in.direction_in_body(kFirstAxis, 0).normalized();
  const Vec3T<S> second = in.direction_in_body(kSecondAxis, 1).normalized();
  Eigen::Map<Vec3T<S>>{p} = first;
  Eigen::Map<Vec3T<S>>{p + 3} = second;
  p[6] = is_cross(in) ? S(0) : S((in.frame(0).R * first).dot(in.frame(1).R * second));
}
template void Universal::derive<double>(const Inputs<double>&, double*);

void Universal::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_direction(in, kFirstAxis, "first_axis", message, hint);
  check_direction(in, kSecondAxis, "second_axis", message, hint);
  if (!message.empty()) return;
  const Vec3 first = in.frame(0).R * in.direction_in_body(kFirstAxis, 0).normalized(),
             second = in.frame(1).R * in.direction_in_body(kSecondAxis, 1).normalized();
  if (is_cross(in) || first.cross(second).norm() > kParallel) return;
  message = "first_axis and second_axis: expected different directions, got parallel ones";
  hint = "the axes of a universal joint are usually perpendicular";
}

std::string Universal::row_name(int row) {
  return row < 3 ? std::string("position ") + "xyz"[row] : "angle between the axes";
}

void Universal::turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                      TurnDerivatives<1>& d) {
  TurnRows<1> out(R_1, R_2, lambda, d);
  out.turn(0, Eigen::Map<const Vec3>(p), Eigen::Map<const Vec3>(p + 3), p[6]);
}

ListedKind universal() {
  return {
      {.type = "universal",
       .summary =
           "Cardan joint: two points coincide, and an axis of the first body keeps its angle to an axis of "
           "the second.",
       .fields = {between_bodies().as(kBetween), common_place().as(kAt),
                  direction("first_axis",
                            "Axis carried by the first body, in the initial configuration, inertial axes. "
                            "Two axes given in body axes are perpendicular to each other.",
                            BodyAxes::First)
                      .as(kFirstAxis),
                  direction("second_axis",
                            "Axis carried by the second body, in the initial configuration, inertial axes.",
                            BodyAxes::Second)
                      .as(kSecondAxis)},
       .is_smooth = true,
       .tree = tree_form()},
      &make_batch<Universal>};
}

}  // namespace liedyn

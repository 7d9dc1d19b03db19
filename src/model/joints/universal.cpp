#include "model/joints/universal.h"

#include "model/common_fields.h"

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
  return row < 3 ? std::string("place ") + "xyz"[row] : "angle between the axes";
}

void Universal::turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                      TurnDerivatives<1>& d) {
  TurnRows<1> out(R_1, R_2, lambda, d);
  out.turn(0, Eigen::Map<const Vec3>(p), Eigen::Map<const Vec3>(p + 3), p[6]);
}

ListedKind universal() {
  return {{"universal",
           "Cardan joint: two points coincide, and an axis of the first body keeps its angle to an axis of "
           "the second.",
           {between_bodies(), common_place(),
            direction("first_axis",
                      "Axis carried by the first body, in the initial configuration, inertial axes. Two axes "
                      "given in body axes are perpendicular to each other.",
                      BodyAxes::First),
            direction("second_axis",
                      "Axis carried by the second body, in the initial configuration, inertial axes.",
                      BodyAxes::Second)}},
          &make_batch<Universal>};
}

}  // namespace liedyn

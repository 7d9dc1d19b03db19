// Orientations that go on past half a turn: of the values that describe the same rotation, those nearest to the last step.
#pragma once

#include <cmath>
#include <numbers>

#include "liedyn/lie/so3.h"
#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

// Rotation vector of R, in the turn nearest to that of the last step.
template <class S>
Vec3T<S> wound_rotation_vector(const SensorContextOf<S>& c, const Mat3T<S>& R) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const Vec3T<S> theta = SO3<S>::from_matrix(R).log();
  const Eigen::Map<const Vec3> last(c.at.angles + c.sensor.angle);
  Vec3 now;
  for (int i = 0; i < 3; ++i) now[i] = value(theta[i]);
  const double angle = now.norm();
  // Near a full turn the rotation itself has no direction: that of the last step goes on.
  const Vec3 n = angle > 1e-9      ? Vec3(now / angle)
                 : last.norm() > 0 ? Vec3(last.normalized())
                                   : Vec3(Vec3::Zero());
  const double turns = std::round((last.dot(n) - angle) / kTurn);
  if (turns == 0) return theta;
  if (!(angle > 1e-9)) return theta + (turns * kTurn * n).template cast<S>();
  return theta * (S(1) + S(turns * kTurn) / theta.norm());
}

// Cardan angles, R = R_x(a) R_y(b) R_z(c), of the two triples the one nearer to the last step, each in the nearest turn.
template <class S>
Vec3T<S> wound_cardan_angles(const SensorContextOf<S>& c, const Mat3T<S>& R) {
  using std::asin, std::atan2;
  const S sine = R(0, 2) > S(1) ? S(1) : R(0, 2) < S(-1) ? S(-1) : R(0, 2);
  Vec3T<S> one(atan2(S(-R(1, 2)), R(2, 2)), asin(sine), atan2(S(-R(0, 1)), R(0, 0)));
  Vec3T<S> other(one[0] + S(std::numbers::pi), S(std::numbers::pi) - one[1], one[2] + S(std::numbers::pi));
  const double* last = c.at.angles + c.sensor.angle;
  double off[2] = {0, 0};
  for (int i = 0; i < 3; ++i) {
    one[i] = nearest_turn(one[i], last[i]);
    other[i] = nearest_turn(other[i], last[i]);
    off[0] += std::abs(value(one[i]) - last[i]);
    off[1] += std::abs(value(other[i]) - last[i]);
  }
  return off[0] <= off[1] ? one : other;
}

}  // namespace liedyn

// Normal force and friction of contacts and stops. With the penetration d > 0 and its rate d',
//
//   N = k d^n (1 + a d'),  not below 0                                    (Hunt and Crossley)
//   T = -N mu(|u|) u / sqrt(u^2 + v_s^2),   mu(u) = mu_d + (mu_s - mu_d) exp(-(u/v_b)^2)
//
// with the sliding velocity u. N is continuous where the contact begins and ends, and never pulls.
//
// A free mass that arrives with the speed v leaves with e v. Dividing m v' = -N by 1 + a v and integrating over the penetration, which begins and ends at 0, gives for
// every mass, k and n
//
//   (1 + e) x = ln((1 + x)/(1 - e x)),    x = a v
//
// which determines a for a given restitution 0 < e <= 1 at a given speed. Slower impacts lose less, faster ones more.
#pragma once

#include <cmath>

#include "liedyn/model/element.h"

namespace liedyn {

inline constexpr int kNormalConstants = 3;    // k, n, a
inline constexpr int kFrictionConstants = 4;  // mu_d, mu_s, v_s, v_b
inline constexpr int kContactConstants = kNormalConstants + kFrictionConstants;

template <class S>
S normal_force(const S& depth, const S& rate, const S* p) {
  using std::pow;
  if (!(depth > S(0))) return S(0);
  const S force = p[0] * pow(depth, p[1]) * (S(1) + p[2] * rate);
  return force > S(0) ? force : S(0);
}
// k d^(n+1)/(n+1)
template <class S>
S normal_energy(const S& depth, const S* p) {
  using std::pow;
  if (!(depth > S(0))) return S(0);
  return p[0] * pow(depth, S(p[1] + 1)) / (p[1] + 1);
}
// T/(N u) for the square of the sliding speed.
template <class S>
S friction_per_speed(const S& square, const S* p) {
  using std::exp, std::sqrt;
  const S mu = p[0] + (p[1] - p[0]) * exp(-square / (p[3] * p[3]));
  return -mu / sqrt(square + p[2] * p[2]);
}

// x = a v of the restitution e.
template <class S>
S damping_of_restitution(const S& e);

// What a stop may be: one number of each is in N or N m, and m or rad.
struct ContactUnits {
  std::string stiffness = "N/m^n", damping = "s/m", speed = "m/s";
};

// The fields of the normal force, in this order: stiffness, exponent, damping, restitution, impact_speed; and of the friction: friction,
// static_friction, smoothing, stribeck.
inline constexpr int kNormalFields = 5;
std::vector<Field> normal_fields(double exponent, const ContactUnits& units = {});
std::vector<Field> friction_fields();

// The numbers of these, from the field `first` on.
template <class S>
void derive_normal(const Inputs<S>& in, int first, S* p) {
  p[0] = in.number(first);
  p[1] = in.number(first + 1);
  p[2] = S(0);
  if (in.stored(first + 2)) p[2] = in.number(first + 2);
  if (in.stored(first + 3)) p[2] = damping_of_restitution(in.number(first + 3)) / in.number(first + 4);
}
template <class S>
void derive_friction(const Inputs<S>& in, int first, S* p) {
  p[0] = in.number(first);
  p[1] = in.stored(first + 1) ? in.number(first + 1) : p[0];
  p[2] = in.stored(first + 2) ? in.number(first + 2) : S(1);  // without friction any speed will do
  p[3] = in.stored(first + 3) ? in.number(first + 3) : S(10 * p[2]);
}
void check_normal(const Inputs<double>& in, int first, std::string& message, std::string& hint);
void check_friction(const Inputs<double>& in, int first, std::string& message, std::string& hint);

}  // namespace liedyn

// Sensors of one body as seen from another.
#include "liedyn/model/sensors/families.h"

#include <cmath>

#include <fmt/format.h>

#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/sensors/fields.h"
#include "liedyn/model/sensors/winding.h"

namespace liedyn {
namespace {

Field own_axes_of(const std::string& which) {
  return frame_rotation(
      which + "_rotation",
      fmt::format("Rotation from axes fixed to the {} body to its body axes; the body axes if not given.",
                  which),
      which == "first" ? PoseRole::OnFirst : PoseRole::OnSecond);
}

Field between() {
  return {.name = "between",
          .type = FieldType::Bodies,
          .unit = "",
          .summary = "The two bodies: the output is the motion of the second relative to the first.",
          .required = true};
}
Field two_points() {
  return {
      .name = "points",
      .type = FieldType::Points,
      .unit = "m",
      .summary =
          "The point of each body in the initial configuration, inertial axes; the reference points if not "
          "given.",
      .body_axes = BodyAxes::Each,
      .pose = PoseRole::Point};
}
Field relative_axes() {
  return {.name = "axes",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Axes of the components and of their rates: those of the first body, or inertial.",
          .choices = {"first", "inertial"}};
}

// The second of two frames as seen from the first. In the axes of the first, with Q = R_1^T R_2,
//   r = R_1^T (p_2 - p_1),  u = r' = Q u_2 - u_1 - w_1 x r,  w = Q w_2 - w_1;   in inertial axes R_1 r, its rate, and R_1 w.
template <class S>
struct Relative {
  explicit Relative(const SensorContextOf<S>& c) : first(c.motion()), second(c.second_motion()) {
    Q = first.R.transpose() * second.R;
    r = first.R.transpose() * (second.p - first.p);
  }
  Vec3T<S> place(bool inertial) const { return inertial ? Vec3T<S>(second.p - first.p) : r; }
  Vec3T<S> velocity(bool inertial) const {
    if (inertial) return second.velocity() - first.velocity();
    return Q * u(second) - u(first) - w(first).cross(r);
  }
  Vec3T<S> spin(bool inertial) const {
    const Vec3T<S> local = Q * w(second) - w(first);
    return inertial ? Vec3T<S>(first.R * local) : local;
  }
  static Vec3T<S> u(const Motion<S>& m) { return m.V.template head<3>(); }
  static Vec3T<S> w(const Motion<S>& m) { return m.V.template tail<3>(); }

  Motion<S> first, second;
  Mat3T<S> Q;
  Vec3T<S> r;
};

// Their derivatives: d = X_1 dX_1 + X_2 dX_2 + V_1 dV_1 + V_2 dV_2, with d(R y) = R dy - R y~ d_r and d(Q y) = (Q y)~ d_r1 - Q y~ d_r2 + Q dy.
struct RelativeSlopes {
  using Columns = Eigen::Matrix<double, 3, 6>;
  Columns X[2] = {Columns::Zero(), Columns::Zero()}, V[2] = {Columns::Zero(), Columns::Zero()};
};
RelativeSlopes slopes_of_place(const Relative<double>& x, bool inertial) {
  RelativeSlopes d;
  if (inertial) {
    d.X[0].leftCols<3>() = -x.first.R;
    d.X[1].leftCols<3>() = x.second.R;
  } else {
    d.X[0] << -Mat3::Identity(), skew(x.r);
    d.X[1].leftCols<3>() = x.Q;
  }
  return d;
}
RelativeSlopes slopes_of_velocity(const Relative<double>& x, bool inertial) {
  const RelativeSlopes place = slopes_of_place(x, inertial);
  const Vec3 u1 = x.u(x.first), u2 = x.u(x.second), w1 = x.w(x.first);
  RelativeSlopes d;
  for (int i = 0; i < 2; ++i) d.V[i] = place.X[i];
  if (inertial) {
    d.X[0].rightCols<3>() = x.first.R * skew(u1);
    d.X[1].rightCols<3>() = -x.second.R * skew(u2);
    return d;
  }
  d.X[0].rightCols<3>() = skew(Vec3(x.Q * u2));
  d.X[1].rightCols<3>() = -x.Q * skew(u2);
  for (int i = 0; i < 2; ++i) d.X[i] -= skew(w1) * place.X[i];
  return d;
}
RelativeSlopes slopes_of_spin(const Relative<double>& x, bool inertial) {
  const Vec3 w1 = x.w(x.first), w2 = x.w(x.second);
  RelativeSlopes d;
  if (inertial) {
    d.X[0].rightCols<3>() = x.first.R * skew(w1);
    d.X[1].rightCols<3>() = -x.second.R * skew(w2);
    d.V[0].rightCols<3>() = -x.first.R;
    d.V[1].rightCols<3>() = x.second.R;
    return d;
  }
  d.X[0].rightCols<3>() = skew(Vec3(x.Q * w2));
  d.X[1].rightCols<3>() = -x.Q * skew(w2);
  d.V[0].rightCols<3>() = -Mat3::Identity();
  d.V[1].rightCols<3>() = x.Q;
  return d;
}
template <class Slopes>
void component(double value, const Slopes& d, int k, SensorGradient& out) {
  out.value = value;
  for (int i = 0; i < 2; ++i) {
    out.X[i] = d.X[i].row(k);
    out.V[i] = d.V[i].row(k);
  }
}

// l = |r| and l' = r.u/l; at l = 0 there is no direction, and the rate is taken as 0.
template <class S>
S distance(const Relative<S>& x) {
  using std::sqrt;
  const S square = x.r.squaredNorm();
  return square > S(0) ? sqrt(square) : S(0);
}
template <class S>
S distance_rate(const Relative<S>& x) {
  const S l = distance(x);
  return l > S(0) ? S(x.r.dot(x.velocity(false)) / l) : S(0);
}
void distance_gradient(const Relative<double>& x, bool rate, SensorGradient& out) {
  const double l = distance(x);
  out.value = rate ? distance_rate(x) : l;
  if (!(l > 0)) return;
  const RelativeSlopes place = slopes_of_place(x, false), velocity = slopes_of_velocity(x, false);
  const Vec3 n = x.r / l, u = x.velocity(false);
  for (int i = 0; i < 2; ++i) {
    if (!rate) {
      out.X[i] = n.transpose() * place.X[i];
      continue;
    }
    out.X[i] = (u - n * n.dot(u)).transpose() / l * place.X[i] + n.transpose() * velocity.X[i];
    out.V[i] = n.transpose() * velocity.V[i];
  }
}

}  // namespace

std::vector<ListedSensor> relative_sensors() {
  return {
      {{"relative_position",
        "Position of a point of one body relative to a point of another.",
        {between(), two_points(), relative_axes(), own_axes_of("first")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).place(c.sensor.choice == 1), out);
       },
       {.axes = ShownIn::Body,
        .gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.place(inertial)[k], slopes_of_place(x, inertial), k, out);
            }}},
      {{"relative_velocity",
        "Rate of the relative position, as seen in the axes of its components.",
        {between(), two_points(), relative_axes(), own_axes_of("first")}},
       "m/s",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).velocity(c.sensor.choice == 1), out);
       },
       {.axes = ShownIn::Body,
        .gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.velocity(inertial)[k], slopes_of_velocity(x, inertial), k, out);
            }}},
      {{"relative_rotation",
        "Rotation vector of the second body relative to the first, in its axes; continuous beyond half a "
        "turn, if no step rotates by more.",
        {between(), own_axes_of("first"), own_axes_of("second")}},
       "rad",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(wound_rotation_vector(c, Relative<S>(c).Q), out);
       },
       {.axes = ShownIn::RelativeOrientation, .remembers = true, .is_angle = true}},
      {{"relative_angular_velocity",
        "Angular velocity of the second body relative to the first.",
        {between(), relative_axes(), own_axes_of("first")}},
       "rad/s",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).spin(c.sensor.choice == 1), out);
       },
       {.axes = ShownIn::Body,
        .gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.spin(inertial)[k], slopes_of_spin(x, inertial), k, out);
            }}},
      {{"distance", "Distance of two points.", {between(), two_points()}},
       "m",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = distance(Relative<S>(c)); },
       {.axes = ShownIn::NoAxes,
        .gradient = [](const SensorContext& c, int,
                       SensorGradient& out) { distance_gradient(Relative<double>(c), false, out); }}},
      {{"distance_rate", "Rate of the distance of two points.", {between(), two_points()}},
       "m/s",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = distance_rate(Relative<S>(c)); },
       {.axes = ShownIn::NoAxes,
        .gradient = [](const SensorContext& c, int,
                       SensorGradient& out) { distance_gradient(Relative<double>(c), true, out); }}},
  };
}

}  // namespace liedyn

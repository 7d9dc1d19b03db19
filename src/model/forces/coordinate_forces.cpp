#include "liedyn/model/forces/coordinate_forces.h"

#include <fmt/format.h>

#include "liedyn/base/dual.h"
#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/watched_spring.h"

namespace liedyn {
namespace {

enum SpringFields { kJoint, kCoordinate, kStiffness, kCubic, kDamping, kFree, kBacklash };
enum StopFields { kLower = 2, kUpper, kNormal };
enum ActuatorFields { kProportional = 2, kDerivative, kTarget, kFeedForward, kLimit };
enum FrictionFields { kDynamic = 2, kStatic, kRadius, kLength, kSmoothing, kStribeck };

Field number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
             Range range = Range::Any, bool timed = false, bool required = false) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = required,
          .defaults = std::move(defaults),
          .range = range,
          .may_depend_on_time = timed};
}
Field with_signals(Field field) {
  field.may_depend_on_signals = true;
  return field;
}
Field load(Field field) {
  field.load = LoadKind::TorqueOrForce;
  return field;
}

}  // namespace

void law_partials(const CoordinateDerivatives& x, const CoordinateLaw& law, ForcePartials<2>& d) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      d.K[i][j] = law.force * x.G[i][j] + x.B[i].transpose() * (law.by_value * x.B[j] + law.by_rate * x.Z[j]);
      d.C[i][j] = law.by_rate * (x.B[i].transpose() * x.B[j]);
    }
}

// ---- spring

std::vector<Attachment> JointSpring::attachments() { return frames_of_joint(kJoint); }

template <class S>
void JointSpring::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kCoordinate, p);
  S* n = p + kCoordinateConstants;
  n[0] = in.number(kStiffness);
  n[1] = in.number(kCubic);
  n[2] = in.number(kDamping);
  n[3] = in.number(kFree);
  n[4] = in.number(kBacklash) / 2;
  p[constants - 1] = S(0);
}

void JointSpring::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                           ForcePartials<2>& d) {
  const double* n = p + kCoordinateConstants;
  CoordinateDerivatives x;
  coordinate_derivatives(f[0], f[1], p, p[constants - 1], x);
  const double e = deflection(x.value, n);
  const bool loose = n[4] > 0 && e == 0;
  law_partials(x, {n[0] * e + n[1] * e * e * e + n[2] * x.rate, loose ? 0 : n[0] + 3 * n[1] * e * e, n[2]},
               d);
}

void JointSpring::wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out) {
  out[0] = coordinate_value<double>(f[0], f[1], p, p[constants - 1]);
}

Approach JointSpring::approach(const std::array<Motion<double>, 2>& f, const double* p) {
  const double* n = p + kCoordinateConstants;
  if (n[4] == 0) return no_gap();
  const double e = coordinate_value<double>(f[0], f[1], p, p[constants - 1]) - n[3], side = e < 0 ? -1 : 1;
  const auto B = coordinate_gradient<double>(f[0], f[1], p);
  return {side * e - n[4], side * (B[0].dot(f[0].V) + B[1].dot(f[1].V))};
}

ListedKind joint_spring() {
  return {{"joint_spring",
           "Spring and damper on the angle or the displacement of a joint; an angle may exceed one turn.",
           {named_joint("The joint it acts in.").as(kJoint), joint_coordinate_choice().as(kCoordinate),
            with_signals(number("stiffness", "N m/rad or N/m", "Spring constant k.", {0})).as(kStiffness),
            with_signals(number("cubic_stiffness", "N m/rad^3 or N/m^3",
                                "Spring constant k3 of the cube of the deflection.", {0}))
                .as(kCubic),
            with_signals(number("damping", "N m s/rad or N s/m", "Damping constant.", {0})).as(kDamping),
            with_signals(number("free", "rad or m", "The coordinate at which the spring is relaxed.", {0},
                                Range::Any, true))
                .as(kFree),
            number("backlash", "rad or m",
                   "Width of a dead band about `free` in which the spring does not act; the damping does.",
                   {0}, Range::NonNegative)
                .as(kBacklash)}},
          &make_watched_spring<JointSpring>,
          &signal_shape};
}

// ---- stop

std::vector<Attachment> JointStop::attachments() { return frames_of_joint(kJoint); }

template <class S>
void JointStop::derive(const Inputs<S>& in, S* p) {
  constexpr double kFar = 1e300;
  derive_coordinate(in, 0, kCoordinate, p);
  S* n = p + kCoordinateConstants;
  derive_normal(in, kNormal, n);
  n[3] = in.stored(kLower) ? in.number(kLower) : S(-kFar);
  n[4] = in.stored(kUpper) ? in.number(kUpper) : S(kFar);
  p[constants - 1] = S(0);
}

void JointStop::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if (!in.stored(kLower) && !in.stored(kUpper)) {
    message = "lower, upper: both are missing";
    hint = "a stop needs at least one limit";
  } else if (in.stored(kLower) && in.stored(kUpper) && !(in.number(kLower) < in.number(kUpper))) {
    message = fmt::format("lower must be below upper, got lower {} and upper {}", in.number(kLower),
                          in.number(kUpper));
  } else {
    check_normal(in, kNormal, message, hint);
  }
}

void JointStop::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                         ForcePartials<2>& d) {
  using Both = Dual<double, 2>;
  CoordinateDerivatives x;
  coordinate_derivatives(f[0], f[1], p, p[constants - 1], x);
  std::array<Both, kNormalConstants + 2> n;
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = Both(p[kCoordinateConstants + i]);
  const Both tau = effort<Both>(seed<2>(x.value, 0), seed<2>(x.rate, 1), n.data());
  law_partials(x, {tau.v, tau.d[0], tau.d[1]}, d);
}

void JointStop::wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out) {
  out[0] = coordinate_value<double>(f[0], f[1], p, p[constants - 1]);
}

ListedKind joint_stop() {
  std::vector<Field> fields = {
      named_joint("The joint whose motion it limits.").as(kJoint), joint_coordinate_choice().as(kCoordinate),
      number("lower", "rad or m",
             "Least angle or displacement, counted from the zero of the joint; no limit if not given.", {})
          .as(kLower),
      number("upper", "rad or m", "Largest angle or displacement; no limit if not given.", {}).as(kUpper)};
  int index = kNormal;
  for (const Field& field : normal_fields(1, {"N m/rad^n or N/m^n", "s/rad or s/m", "rad/s or m/s"}))
    fields.push_back(field.as(index++));
  return {{"joint_stop",
           "Elastic stops that limit the angle or the displacement of a joint, with losses by a restitution "
           "or a damping.",
           std::move(fields)},
          &make_watched<JointStop>};
}

// ---- actuator

std::vector<Attachment> JointActuator::attachments() { return frames_of_joint(kJoint); }

template <class S>
void JointActuator::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kCoordinate, p);
  S* n = p + kCoordinateConstants;
  n[0] = in.number(kProportional);
  n[1] = in.number(kDerivative);
  n[2] = in.number(kTarget);
  n[3] = in.rate(kTarget);
  n[4] = in.number(kFeedForward);
  n[5] = in.number(kLimit);
  p[constants - 1] = S(0);
}

void JointActuator::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                             ForcePartials<2>& d) {
  const double* n = p + kCoordinateConstants;
  CoordinateDerivatives x;
  coordinate_derivatives(f[0], f[1], p, p[constants - 1], x);
  const double u = effort(x.value, x.rate, n), limit = n[5];
  if (limit > 0 && std::abs(u) > limit)
    law_partials(x, {u > 0 ? -limit : limit, 0, 0}, d);
  else
    law_partials(x, {-u, n[0], n[1]}, d);
}

void JointActuator::wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out) {
  out[0] = coordinate_value<double>(f[0], f[1], p, p[constants - 1]);
}

ListedKind joint_actuator() {
  return {
      {"joint_actuator",
       "Motor in a joint: proportional-derivative control towards a target, and feed-forward.",
       {named_joint("The joint it acts in.").as(kJoint), joint_coordinate_choice().as(kCoordinate),
        with_signals(number("proportional", "N m/rad or N/m", "Gain on the deviation from the target.", {0}))
            .as(kProportional),
        with_signals(
            number("derivative", "N m s/rad or N s/m", "Gain on the deviation from the target's rate.", {0}))
            .as(kDerivative),
        with_signals(
            number("target", "rad or m",
                   "Target value of the coordinate. The derivative gain uses the rate of a target that is a "
                   "function of time; for a target with states or sensors this rate is taken as 0.",
                   {0}, Range::Any, true))
            .as(kTarget),
        load(with_signals(
                 number("feed_forward", "N m or N", "Additional torque or force.", {0}, Range::Any, true)))
            .as(kFeedForward),
        number("limit", "N m or N", "Largest torque or force, in either direction; 0: no limit.", {0},
               Range::NonNegative)
            .as(kLimit)}},
      &make_force<JointActuator>,
      &signal_shape};
}

// ---- friction

template <int Forces, int Torques>
std::vector<Attachment> JointFriction<Forces, Torques>::attachments() {
  return frames_of_joint(kJoint);
}

template <int Forces, int Torques>
template <class S>
void JointFriction<Forces, Torques>::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kCoordinate, p);
  S* n = p + kCoordinateConstants;
  const S lever = is_angle(p) ? in.number(kRadius) : S(1);
  n[0] = lever * in.number(kDynamic);
  n[1] = in.stored(kStatic) ? S(lever * in.number(kStatic)) : n[0];
  n[2] = in.number(kSmoothing);
  n[3] = in.stored(kStribeck) ? in.number(kStribeck) : S(10 * in.number(kSmoothing));
  n[4] = in.stored(kLength) ? S(1 / in.number(kLength)) : S(0);
}

template <int Forces, int Torques>
void JointFriction<Forces, Torques>::partials(const World<double>&, const std::array<Motion<double>, 2>& f,
                                              const double* p, const double* lambda, ForcePartials<2>& d,
                                              MultiplierPartials<2, multipliers>& by_lambda) {
  const double* n = p + kCoordinateConstants;
  CoordinateDerivatives x;
  coordinate_derivatives(f[0], f[1], p, 0, x);
  using Rate = Dual<double, 1>;
  std::array<Rate, 5> constants_of_law;
  for (std::size_t i = 0; i < 5; ++i) constants_of_law[i] = Rate(n[i]);
  const Rate mu = coefficient(seed<1>(x.rate, 0), constants_of_law.data());
  const double N = load(lambda, n[4]);
  law_partials(x, {mu.v * N, 0, mu.d[0] * N}, d);

  Eigen::Matrix<double, 1, multipliers> slope = Eigen::Matrix<double, 1, multipliers>::Zero();
  const Eigen::Map<const Eigen::Matrix<double, multipliers, 1>> l(lambda);
  const double force = l.template head<Forces>().norm();
  if (force > 0) slope.template head<Forces>() = l.template head<Forces>().transpose() / force;
  if constexpr (Torques > 0) {
    const double torque = l.template tail<Torques>().norm();
    if (torque > 0) slope.template tail<Torques>() = n[4] / torque * l.template tail<Torques>().transpose();
  }
  for (int i = 0; i < 2; ++i) by_lambda.of[i] = x.B[i].transpose() * (mu.v * slope);
}

template struct JointFriction<3, 2>;
template struct JointFriction<2, 3>;
template struct JointFriction<2, 2>;

namespace {

// Shapes: the bearings that friction is known for, in the order of this list.
constexpr Bearing kBearings[] = {{3, 2}, {2, 3}, {2, 2}};

unsigned friction_shape(const Description& d, const Entry& entry) {
  const std::string& name = d.words[static_cast<std::size_t>(entry.fields[kJoint].word)];
  for (const Entry& joint : d.entries(Section::Joints)) {
    if (joint.name != name) continue;
    for (unsigned i = 0; i < std::size(kBearings); ++i)
      if (joint.kind->bearing == kBearings[i]) return i;
  }
  return 0;
}

std::unique_ptr<Batch> make_friction(unsigned shape) {
  switch (shape) {
    case 1: return make_batch<JointFriction<2, 3>>(shape);
    case 2: return make_batch<JointFriction<2, 2>>(shape);
    default: return make_batch<JointFriction<3, 2>>(shape);
  }
}

}  // namespace

ListedKind joint_friction() {
  return {
      {"joint_friction",
       "Dry friction in a revolute, prismatic or cylindrical joint, in proportion to the load that the joint "
       "carries.",
       {named_joint("The joint with friction: revolute, prismatic or cylindrical.").as(kJoint),
        joint_coordinate_choice().as(kCoordinate),
        number("coefficient", "", "Coefficient of friction while it slides.", {}, Range::NonNegative, false,
               true)
            .as(kDynamic),
        number("static_coefficient", "", "Coefficient near rest; the same if not given.", {},
               Range::NonNegative)
            .as(kStatic),
        number("radius", "m", "Radius of the bearing, at which the friction of an angle acts.", {1},
               Range::Positive)
            .as(kRadius),
        number("length", "m",
               "Length of the bearing: torques across the axis load it with torque/length. If not given, "
               "they cause no friction.",
               {}, Range::Positive)
            .as(kLength),
        number("smoothing", "rad/s or m/s", "Speed below which the friction falls smoothly to 0.", {},
               Range::Positive, false, true)
            .as(kSmoothing),
        number("stribeck", "rad/s or m/s",
               "Speed at which the coefficient falls from static_coefficient to coefficient; ten times "
               "`smoothing` if not "
               "given.",
               {}, Range::Positive)
            .as(kStribeck)}},
      &make_friction,
      &friction_shape};
}

}  // namespace liedyn

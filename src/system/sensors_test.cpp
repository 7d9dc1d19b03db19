// Every listed kind of sensor against a closed form on a known motion.
#include <gtest/gtest.h>

#include <map>

#include "liedyn/model/sensors/list.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A ball (equal moments of inertia) flies and spins freely: p = p_0 + u t + g t^2/2 with constant inertial angular velocity.
// A pendulum hangs at rest from a rod, on a body that a spherical joint holds. A nut turns on a rod and moves along it.
struct KnownMotion {
  Vec3 gravity{0.5, -1, -9}, place{1, 2, 3}, velocity{-1, 0.5, 2}, rotation{0.3, -0.8, 0.5},
      omega{2, -1, 0.5};
  Vec3 offset{0.2, -0.1, 0.4};  // of a point on the ball, body axes
  double hung_mass = 3;
  Vec3 rod = Vec3(1, 2, -2) / 3;
  double charge = 1.7;
  double puck_mass = 0.3, puck_angle = 20;  // more than three turns
  double brake = 0.3;
  Vec3 push{1.5, -2, 0};
  double nut_mass = 0.5, nut_inertia = 0.1, nut_velocity = -0.7, nut_omega = 3;
  Mat3 R = SO3<double>::exp(rotation).R();
  Vec3 omega_inertial = R * omega;
  Vec3 arm = R * offset;

  std::shared_ptr<const Description> description(
      const std::vector<std::pair<std::string, std::string>>& sensor_types) const {
    ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
    builder.body("ball", "rigid")
        .set("mass", {2})
        .set("inertia", {0.8, 0.8, 0.8})
        .set("position", place)
        .set("orientation", rotation);
    builder.set("velocity", velocity).set("angular_velocity", omega);
    // Hangs along gravity below the joint.
    const Vec3 down = gravity.normalized();
    builder.body("hung", "rigid")
        .set("mass", {hung_mass})
        .set("inertia", {1, 2, 2})
        .set("position", down)
        .set("orientation", rotation);
    builder.joint("hook", "spherical").set("between", "ground", "hung").set("at", {0, 0, 0});
    const Vec3 moment = Vec3::Constant(nut_inertia);
    builder.body("nut", "rigid").set("mass", {nut_mass}).set("inertia", moment).set("orientation", rotation);
    builder.set("velocity", nut_velocity * rod).set("angular_velocity", R.transpose() * rod * nut_omega);
    builder.joint("rod", "cylindrical")
        .set("between", "ground", "nut")
        .set("at", {0, 0, 0})
        .set("axis", 5 * rod);
    // A brake on the rod, and a push on what skids in the plane.
    builder.force("brake", "joint_spring").set("joint", std::string("rod")).set("damping", {brake});
    builder.set("coordinate", std::string("angle"));
    // Without torque, as long as its voltage is that of the back-EMF.
    builder.force("motor", "dc_motor")
        .set("joint", std::string("rod"))
        .set("coordinate", std::string("angle"));
    builder.set("voltage", {2 * 0.4 * nut_omega}).set("resistance", {5}).set("torque_constant", {0.4});
    builder.set("gear_ratio", {2});
    builder.force("push", "force").set("on", std::string("puck")).set("force", push);
    builder.state("charge", "integral").set("initial", {charge}).set("input", std::string("t"));
    builder.body("puck", "planar").set("mass", {puck_mass}).set("inertia", {0.4}).set("angle", {puck_angle});
    // Relaxed, with its centre of mass at the origin.
    builder.begin(Section::Flexible, "jelly", "brick").set("size", {1, 1, 1}).set("divisions", {1, 1, 1});
    builder.set("young", {1e4}).set("density", {10}).set("method", std::string("free")).set("modes", {3});
    builder.beam("wire", "circle").set("from", {-1, 0, 0}).set("to", {1, 0, 0}).set("elements", {3});
    builder.set("radius", {0.1}).set("young", {1}).set("density", {1});
    for (const auto& [name, type] : sensor_types) {
      builder.sensor(name, type);
      const Kind& kind = *find_kind(Section::Sensors, type);
      if (const int of = kind.field("of"); of >= 0)
        builder.set(
            "of",
            std::string(type == "angle"                                                         ? "puck"
                        : type.starts_with("section_")                                          ? "wire[0.3]"
                        : type == "state"                                                       ? "charge"
                        : type == "applied_force"                                               ? "push"
                        : type == "quantity"                                                    ? "motor"
                        : kind.fields[static_cast<std::size_t>(of)].type == FieldType::Force    ? "brake"
                        : kind.fields[static_cast<std::size_t>(of)].type == FieldType::Flexible ? "jelly"
                        : type.starts_with("joint_")                                            ? "rod"
                        : kind.fields[static_cast<std::size_t>(of)].type == FieldType::Joint    ? "hook"
                                                                                                : "ball"));
      if (kind.field("between") >= 0)
        builder.set("between", std::string(type == "relative_rotation" ? "ground" : "nut"), "ball");
      if (kind.field("at") >= 0) builder.set("at", place + arm);
      if (name.ends_with("_second")) {
        const Field& choice =
            kind.fields[static_cast<std::size_t>(std::max(kind.field("axes"), kind.field("part")))];
        builder.set(choice.name, choice.choices[1]);
      }
      if (name.ends_with("_third")) builder.set("part", std::string("potential"));
      if (type == "quantity") builder.set("quantity", std::string("voltage"));
      if (type == "expression") builder.set("value", std::string("position[0] + 2*energy_second + t"));
      if (type == "event") builder.set("when", std::string("position[0] - t"));
      if (type == "sample")
        builder.set("value", std::string("3*position[0]"))
            .set("into", std::string("gravity[2]"))
            .set("every", {1});
    }
    return builder.finish();
  }

  double kinetic() const {
    return 0.5 * 2 * velocity.squaredNorm() + 0.5 * 0.8 * omega.squaredNorm() +
           0.5 * nut_mass * nut_velocity * nut_velocity + 0.5 * nut_inertia * nut_omega * nut_omega;
  }
  double potential() const { return -2 * gravity.dot(place) - hung_mass * gravity.norm(); }
};

// By the name of the sensor: its type, and `_second` for the second choice of its axes or part.
std::map<std::string, Eigen::VectorXd> closed_forms(const KnownMotion& k) {
  const SO3<double> q = SO3<double>::exp(k.rotation);
  const Vec3 hook_force = -k.hung_mass * k.gravity;
  const Vec3 nut_spin = k.nut_omega * k.rod, relative = k.velocity - k.nut_velocity * k.rod;
  // R = R_x(a) R_y(b) R_z(c), found by Newton's method from the rotation about the axes one after the other.
  const auto about = [](int i, double angle) { return SO3<double>::exp(angle * Vec3::Unit(i)).R(); };
  Vec3 cardan = k.rotation;
  for (int i = 0; i < 30; ++i) {
    const Mat3 X = about(0, cardan[0]), Y = about(1, cardan[1]), Z = about(2, cardan[2]);
    Mat3 slope;  // rotation vector, body axes, per angle
    slope << (Y * Z).transpose() * Vec3::UnitX(), Z.transpose() * Vec3::UnitY(), Vec3::UnitZ();
    cardan += slope.inverse() * SO3<double>::from_matrix((X * Y * Z).transpose() * k.R).log();
  }
  const auto scalar = [](double x) { return Eigen::VectorXd::Constant(1, x); };
  return {{"position", k.place + k.arm},
          {"velocity", k.velocity + k.omega_inertial.cross(k.arm)},
          {"acceleration", k.gravity + k.omega_inertial.cross(k.omega_inertial.cross(k.arm))},
          {"orientation", q.coordinates()},
          {"rotation_vector", k.rotation},
          {"angle", scalar(k.puck_angle)},
          {"angular_velocity", k.omega},
          {"angular_velocity_second", k.omega_inertial},
          {"angular_acceleration", Vec3::Zero()},
          {"angular_acceleration_second", Vec3::Zero()},
          {"reaction_force", hook_force},
          {"reaction_force_second", k.R.transpose() * hook_force},
          {"reaction_torque", Vec3::Zero()},
          {"reaction_torque_second", Vec3::Zero()},
          {"joint_angle", scalar(0)},
          {"joint_angle_rate", scalar(k.nut_omega)},
          {"joint_displacement", scalar(0)},
          {"joint_displacement_rate", scalar(k.nut_velocity)},
          {"section_force", Vec3::Zero()},
          {"section_moment", Vec3::Zero()},
          {"section_strain", Vec3::Zero()},
          {"section_curvature", Vec3::Zero()},
          {"modal_coordinates", Vec3::Zero()},
          {"elastic_displacement", Vec3::Zero()},
          {"elastic_displacement_second", Vec3::Zero()},
          {"material_position", 0.5 * (k.place + k.arm).cwiseSign()},  // the nearest corner
          {"stress", Vec6::Zero()},
          {"multiplier", hook_force},
          {"cardan_angles", cardan},
          {"relative_position", k.R.transpose() * k.place},
          {"relative_position_second", k.place},
          {"relative_velocity", k.R.transpose() * (relative - nut_spin.cross(k.place))},
          {"relative_velocity_second", relative},
          {"relative_rotation", k.rotation},
          {"relative_angular_velocity", k.omega - k.R.transpose() * nut_spin},
          {"relative_angular_velocity_second", k.omega_inertial - nut_spin},
          {"distance", scalar(k.place.norm())},
          {"distance_rate", scalar(k.place.dot(relative) / k.place.norm())},
          {"applied_force", k.push},
          {"applied_force_second", SO3<double>::exp(Vec3(0, 0, -k.puck_angle)).R() * k.push},
          {"applied_torque", -k.brake * nut_spin},
          {"applied_torque_second", k.R.transpose() * (-k.brake * nut_spin)},
          {"effort", scalar(-k.brake * k.nut_omega)},
          {"power", scalar(-k.brake * k.nut_omega * k.nut_omega)},
          {"quantity", scalar(2 * 0.4 * k.nut_omega)},
          {"work", scalar(0)},  // at the start
          {"state", scalar(k.charge)},
          {"energy", scalar(k.kinetic() + k.potential())},
          {"energy_second", scalar(k.kinetic())},
          {"energy_third", scalar(k.potential())},
          {"expression", scalar((k.place + k.arm).x() + 2 * k.kinetic() + 0.25)},
          {"event", scalar((k.place + k.arm).x() - 0.25)},
          {"sample", scalar(3 * (k.place + k.arm).x())}};
}

TEST(Sensors, OfEveryListedKindShowTheClosedForm) {
  const KnownMotion known;
  const auto expected = closed_forms(known);
  std::vector<std::pair<std::string, std::string>> sensors;
  for (const ListedSensor& listed : sensor_kinds()) {
    ASSERT_EQ(expected.count(listed.kind.type), 1u)
        << "the sensor '" << listed.kind.type << "' has no closed form here";
    for (const auto& [name, value] : expected)
      if (name == listed.kind.type ||
          (name.starts_with(listed.kind.type + "_") && find_kind(Section::Sensors, name) == nullptr))
        sensors.emplace_back(name, listed.kind.type);
  }
  ASSERT_EQ(sensors.size(), expected.size());

  for (const std::string& formulation : formulations()) {
    const System system = make_system(known.description(sensors), formulation);
    Work work(system);
    State state = consistent_state(system, 0.25, InitialPolicy::Check, work);
    const std::vector<double> values = sensed(system, state, work);
    for (const Sensor& sensor : system.model().sensors) {
      const Eigen::VectorXd value = as_vector(values).segment(sensor.first, sensor.components);
      ASSERT_EQ(value.size(), expected.at(sensor.name).size()) << sensor.name;
      expect_at_most(relative_difference(value, expected.at(sensor.name)), 1e-13,
                     fmt::format("{}: {}", formulation, sensor.name));
    }
  }
}

// The rod pulls a swinging mass towards the pivot with m v^2/l - m g.n.
TEST(Sensors, ReactionOfADistanceJointIsTheTensionOfItsRod) {
  ModelBuilder builder;
  builder.body("bob", "point").set("mass", {2}).set("position", {0, 0, -0.5}).set("velocity", {3, 0, 0});
  builder.joint("rod", "distance").set("between", "ground", "bob").set("points", {0, 0, 0, 0, 0, -0.5});
  builder.sensor("tension", "reaction_force").set("of", std::string("rod"));
  const System system = make_system(builder.finish());
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  const std::vector<double> force = sensed(system, state, work);
  expect_at_most((as_vector(force) - Vec3(0, 0, 2 * 9.81 + 2 * 9 / 0.5)).norm(), 1e-12,
                 "force on the bob - (m g + m v^2/l)");
}

}  // namespace
}  // namespace liedyn

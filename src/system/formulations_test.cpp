// The same physics however it is written down, for every kind of joint: in every formulation, about any reference point,
// with the bodies of a joint in either order.
#include <gtest/gtest.h>

#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A body to build, independent of formulation and reference point.
struct BodyData {
  std::string name;
  double mass;
  std::array<double, 6> inertia;
  Vec3 center, velocity, rotation_vector, omega,
      reference;  // reference point relative to the centre, body axes
};

// A chain of three rigid bodies, joined to ground and to each other by one kind of joint, a point on a rod at its end, all
// pulled by every kind of force.
class Assembly {
 public:
  Assembly(const Kind& joint_kind, unsigned seed) : joint_kind_(joint_kind), random_(seed) {
    for (const char* name : {"first", "second", "third"})
      bodies_.push_back({name, random_.between(1, 2), random_.inertia(), random_.vector<3>(),
                         random_.vector<3>(), random_.vector<3>(), random_.vector<3>(), random_.vector<3>()});
    element_seed_ = static_cast<unsigned>(random_.below(1000000));
  }

  // What happens to it: the acceleration of every body's centre, its angular acceleration, the reactions on `second` and
  // `third`, the energies.
  struct Physics {
    std::vector<double> accelerations, forces, torques, energies;
  };

  Physics physics(const std::string& formulation, bool about_references, bool swap_joints) const {
    ModelBuilder builder({1, -2, -9});
    for (const BodyData& b : bodies_) {
      const Vec3 reference = about_references ? b.reference : Vec3(Vec3::Zero());
      if (planar()) {
        const Mat3 R = turn_in_plane(b.rotation_vector.z());
        const Vec3 place = b.center + R * reference,
                   velocity = b.velocity + R * Vec3(0, 0, b.omega.z()).cross(reference);
        builder.body(b.name, "planar")
            .set("mass", {b.mass})
            .set("inertia", {b.inertia[2]})
            .set("reference", {reference.x(), reference.y()})
            .set("position", {place.x(), place.y()})
            .set("angle", {b.rotation_vector.z()})
            .set("velocity", {velocity.x(), velocity.y()})
            .set("angular_velocity", {b.omega.z()});
        continue;
      }
      const Mat3 R = SO3<double>::exp(b.rotation_vector).R();
      builder.body(b.name, "rigid")
          .set("mass", {b.mass})
          .set("inertia", b.inertia)
          .set("reference", reference)
          .set("position", b.center + R * reference)
          .set("orientation", b.rotation_vector)
          .set("velocity", b.velocity + R * b.omega.cross(reference))
          .set("angular_velocity", b.omega);
    }
    builder.body("dot", "point")
        .set("mass", {0.7})
        .set("position", {1, 2, 3})
        .set("velocity", {-1, 0.5, 0.2});

    Random random(element_seed_);
    std::vector<std::string> joints;
    const auto join = [&](const Kind& kind, const std::string& a, const std::string& b) {
      joints.push_back(a + "_" + b);
      builder.joint(joints.back(), kind.type);
      add_pair(builder, kind, a, b, swap_joints, random);
    };
    const bool in_joint = joint_kind_.field("joint") >= 0, in_joints = joint_kind_.field("joints") >= 0;
    const Kind& kind = in_joint || in_joints ? *find_kind(Section::Joints, "cylindrical") : joint_kind_;
    join(kind, "ground", "first");
    join(kind, "first", "second");
    join(kind, "second", "third");
    for (std::size_t i = 0; i < (in_joint ? 3U : in_joints ? 2U : 0U); ++i) {
      const std::string in = joints[i], name = "in_" + in;
      builder.joint(name, joint_kind_.type);
      add_pair(builder, joint_kind_, "", "", false, random);
      if (in_joint)
        builder.set("joint", in).set("coordinate", random.below(2) == 0 ? "angle" : "displacement");
      if (in_joints) builder.set("joints", in, joints[i + 1]);
      joints.push_back(name);
    }
    builder.joint("rod", "distance").set("between", "third", "dot").set("points", {0, 0, 0, 1, 2, 3});
    int count = 0;
    // Forces that act in joints have one of their own.
    builder.body("lever", "rigid").set("mass", {0.5}).set("inertia", {1, 1, 1}).set("position", {2, 2, 3});
    builder.joint("hinge", "cylindrical")
        .set("between", "third", "lever")
        .set("at", {1, 1, 1})
        .set("axis", {1, 2, 3});
    builder.body("crank", "rigid").set("mass", {0.5}).set("inertia", {1, 1, 1}).set("position", {2, 4, 3});
    builder.joint("pivot", "revolute").set("between", "third", "crank").set("at", {1, 4, 1});
    builder.set("axis", {1, 2, 3});
    // A beam of each kind of elements, held by the last body.
    for (const char* element : {"two_node", "three_node"}) {
      const std::string blade = fmt::format("blade_{}", element);
      builder.beam(blade, "rectangle").set("from", {1, 1, 1}).set("to", {2, 1.5, 1.2}).set("elements", {2});
      builder.set("element", std::string(element)).set("width", {0.1}).set("height", {0.2});
      builder.set("young", {500}).set("density", {3}).set("damping", {0.1});
      builder.joint("root_" + blade, "fixed").set("between", "third", blade + ".start").set("at", {1, 1, 1});
    }
    for (const Kind& force : kinds(Section::Forces)) {
      if (force.fields[0].type == FieldType::Beam) {
        for (const char* blade : {"blade_two_node", "blade_three_node"}) {
          builder.force(fmt::format("force{}", count++), force.type);
          set_random_fields(builder, force, random);
          builder.set("on", std::string(blade));
        }
        continue;
      }
      if (force.field("joint") >= 0) {
        builder.force(fmt::format("force{}", count++), force.type);
        add_pair(builder, force, "", "", false, random);
        builder.set("joint", std::string("hinge"));
        continue;
      }
      // Only within a stroke: system/machines_test.cpp.
      if (force.field("stroke") >= 0) continue;
      if (force.field("joints") >= 0) {
        builder.force(fmt::format("force{}", count++), force.type);
        add_pair(builder, force, "", "", false, random);
        builder.set("joints", "hinge", "pivot");
        continue;
      }
      for (const char* body : {"first", "second", "third", "dot"}) {
        // Most shapes have an orientation, and so has a shaft.
        if ((has_kinks(force) || force.type == "bearing") && body == std::string("dot")) continue;
        builder.force(fmt::format("force{}", count++), force.type);
        add_pair(builder, force, "ground", body, false, random);
      }
    }

    builder.sensor("hinge_rate", "joint_angle_rate").set("of", std::string("hinge"));
    for (const BodyData& b : bodies_) {
      const Vec3 center(b.center.x(), b.center.y(), planar() ? 0 : b.center.z());
      builder.sensor("a_" + b.name, "acceleration").set("of", b.name).set("at", center);
      builder.sensor("alpha_" + b.name, "angular_acceleration")
          .set("of", b.name)
          .set("axes", std::string("inertial"));
    }
    builder.sensor("a_dot", "acceleration").set("of", std::string("dot"));
    for (const char* blade : {"blade_two_node", "blade_three_node"})
      builder.sensor(fmt::format("a_{}", blade), "acceleration").set("of", std::string(blade) + ".end");
    for (const std::string& joint : joints) {
      builder.sensor("force_" + joint, "reaction_force").set("of", joint);
      builder.sensor("torque_" + joint, "reaction_torque").set("of", joint);
    }
    builder.sensor("kinetic", "energy").set("part", std::string("kinetic"));
    builder.sensor("potential", "energy").set("part", std::string("potential"));

    const System system = make_system(builder.finish(), formulation);
    Work work(system);
    State state = described_state(system);
    EXPECT_TRUE(project_velocities(system, state, nullptr, work));
    EXPECT_TRUE(solve_accelerations(system, state, work));
    const std::vector<double> values = sensed(system, state, work);
    Physics out;
    for (const Sensor& sensor : system.model().sensors) {
      std::vector<double>& part = sensor.listed->kind.type == "reaction_force"    ? out.forces
                                  : sensor.listed->kind.type == "reaction_torque" ? out.torques
                                  : sensor.listed->kind.type == "energy"          ? out.energies
                                                                                  : out.accelerations;
      part.insert(part.end(), values.begin() + sensor.first,
                  values.begin() + sensor.first + sensor.components);
    }
    return out;
  }

 private:
  // A joint of the plane joins bodies of the plane.
  bool planar() const { return joint_kind_.type.starts_with("planar_"); }
  // The entry just begun, between two bodies (or on the second).
  static void add_pair(ModelBuilder& builder, const Kind& kind, const std::string& a, const std::string& b,
                       bool swap, Random& random) {
    // What the fields of a contact may hold depends on each other, and the last row of a bearing is zero.
    if (has_kinks(kind) || kind.type == "bearing") {
      set_random_fields(builder, kind, random);
      if (kind.field("between") >= 0) builder.set("between", a, b);
      return;
    }
    for (const Field& field : kind.fields) {
      if (field.type == FieldType::Bodies) {
        builder.set(field.name, swap ? b : a, swap ? a : b);
      } else if (field.type == FieldType::Body) {
        builder.set(field.name, b);
      } else if (field.type == FieldType::Points) {
        const Vec3 p = random.vector<3>(), q = random.vector<3>();
        const Vec3 &first = swap ? q : p, &second = swap ? p : q;
        builder.set(field.name, {first.x(), first.y(), first.z(), second.x(), second.y(), second.z()});
      } else if (field.name == "first_axis") {
        const Vec3 first = random.vector<3>(), second = random.vector<3>();
        builder.set("first_axis", swap ? second : first).set("second_axis", swap ? first : second);
      } else if (field.name == "second_axis") {
        // set with the first
      } else if (field.type == FieldType::Choices) {
        std::vector<std::string> chosen;
        for (const std::string& word : field.choices)
          if (random.below(2) == 0) chosen.push_back(word);
        if (chosen.empty()) chosen.push_back(field.choices[0]);
        builder.choose(field.name, chosen);
      } else if (field.type == FieldType::Vector || field.type == FieldType::Rotation) {
        builder.set(field.name, random.vector<3>());
      } else if (field.type == FieldType::Text) {
        builder.set(field.name, std::string("0.7 - 0.4*hinge_rate + sin(t)"));
      } else if (field.type == FieldType::PlaneVector) {
        const Vec3 v = random.vector<3>();
        builder.set(field.name, {v.x(), v.y()});
      } else if (field.type == FieldType::Number) {
        builder.set(field.name, {random.between(0.5, 1.5)});
      }
    }
  }

  const Kind& joint_kind_;
  Random random_;
  std::vector<BodyData> bodies_;
  unsigned element_seed_ = 0;
};

constexpr double kTolerance = 1e-12;
constexpr unsigned kAssemblies = 5;

struct Deviation {
  double accelerations = 0, forces = 0, torques = 0, energies = 0;
  // Reactions relative to the largest of them: what a joint does not transmit may be round-off.
  void note(const Assembly::Physics& a, const Assembly::Physics& b, double reaction_sign) {
    const auto worse = [](double& worst, const std::vector<double>& x, const std::vector<double>& y) {
      worst = std::max(worst, relative_difference(as_vector(x), as_vector(y)));
    };
    worse(accelerations, a.accelerations, b.accelerations);
    worse(energies, a.energies, b.energies);
    double size = 0;
    for (const auto* part : {&b.forces, &b.torques})
      size = std::max(size, as_vector(*part).cwiseAbs().maxCoeff());
    const auto worse_reaction = [&](double& worst, const std::vector<double>& x,
                                    const std::vector<double>& y) {
      const double difference = (reaction_sign * as_vector(x) - as_vector(y)).cwiseAbs().maxCoeff();
      worst =
          std::isfinite(difference) ? std::max(worst, size > 0 ? difference / size : difference) : difference;
    };
    worse_reaction(forces, a.forces, b.forces);
    worse_reaction(torques, a.torques, b.torques);
  }
  void expect_small(const std::string& name) const {
    expect_at_most(accelerations, kTolerance, name + ": accelerations");
    expect_at_most(forces, kTolerance, name + ": reaction forces");
    expect_at_most(torques, kTolerance, name + ": reaction torques");
    expect_at_most(energies, kTolerance, name + ": energies");
  }
};

// For every kind of joint and every formulation: visit(assembly, formulation, deviation), several times.
template <class Visit>
void for_each_assembly(const Visit& visit, const std::vector<std::string>& left_out = {}) {
  for (const Kind& kind : kinds(Section::Joints)) {
    if (std::find(left_out.begin(), left_out.end(), kind.type) != left_out.end()) continue;
    Deviation deviation;
    for (unsigned seed = 0; seed < kAssemblies; ++seed) {
      const Assembly assembly(kind, seed);
      for (const std::string& formulation : formulations()) visit(assembly, formulation, deviation);
    }
    deviation.expect_small(kind.type);
  }
}

TEST(Physics, IsTheSameInEveryFormulation) {
  for_each_assembly([](const Assembly& assembly, const std::string& formulation, Deviation& deviation) {
    if (formulation != formulations().front())
      deviation.note(assembly.physics(formulation, false, false),
                     assembly.physics(formulations().front(), false, false), 1);
  });
}

TEST(Physics, IsTheSameAboutEveryReferencePoint) {
  for_each_assembly([](const Assembly& assembly, const std::string& formulation, Deviation& deviation) {
    deviation.note(assembly.physics(formulation, true, false), assembly.physics(formulation, false, false),
                   1);
  });
}

TEST(Physics, IsTheSameWithTheBodiesOfAJointExchangedAndReactionsAreOpposite) {
  // These are other joints when the other body carries their line, plane or axes, or is the one that is driven, or that hangs on more strands.
  for_each_assembly(
      [](const Assembly& assembly, const std::string& formulation, Deviation& deviation) {
        deviation.note(assembly.physics(formulation, false, true),
                       assembly.physics(formulation, false, false), -1);
      },
      {"point_on_line", "point_on_plane", "generic", "rolling_disc", "prescribed_velocity",
       "planar_point_on_line", "gear_mesh", "pulley"});
}

// Actio = reactio and Newton's and Euler's laws, by sensors alone: a pendulum body hangs on a spherical joint.
TEST(Physics, ReactionAndWeightMakeTheAcceleration) {
  const Vec3 gravity(0.3, -1, -9.81);
  for (const std::string& formulation : formulations()) {
    Random random(5);
    ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
    const Vec3 center = random.vector<3>(), rotation = random.vector<3>(), omega = random.vector<3>();
    const Mat3 R = SO3<double>::exp(rotation).R();
    const Vec3 J(1, 1.5, 2);
    builder.body("bob", "rigid")
        .set("mass", {2})
        .set("inertia", J)
        .set("position", center)
        .set("orientation", rotation);
    builder.set("velocity", (R * omega).cross(center)).set("angular_velocity", omega);
    builder.joint("pivot", "spherical").set("between", "ground", "bob").set("at", {0, 0, 0});
    builder.sensor("a", "acceleration").set("of", std::string("bob"));
    builder.sensor("alpha", "angular_acceleration").set("of", std::string("bob"));
    builder.sensor("reaction", "reaction_force").set("of", std::string("pivot"));
    const System system = make_system(builder.finish(), formulation);
    Work work(system);
    State state = described_state(system);
    ASSERT_TRUE(solve_accelerations(system, state, work));
    const std::vector<double> s = sensed(system, state, work);
    const Vec3 a(s[0], s[1], s[2]), alpha(s[3], s[4], s[5]), force(s[6], s[7], s[8]);
    // The body turns about the origin: J_0 alpha + omega x J_0 omega = r x m g.
    const Mat3 J_0 = R * J.asDiagonal() * R.transpose() - 2 * skew(center) * skew(center);
    const Vec3 w = R * omega;
    const Vec3 alpha_inertial = J_0.inverse() * (center.cross(2 * gravity) - w.cross(J_0 * w));
    const Vec3 a_expected = alpha_inertial.cross(center) + w.cross(w.cross(center));
    expect_at_most(relative_difference(R * alpha, alpha_inertial), kTolerance,
                   formulation + ": angular acceleration");
    expect_at_most(relative_difference(a, a_expected), kTolerance, formulation + ": acceleration");
    expect_at_most(relative_difference(force, Vec3(2 * (a_expected - gravity))), kTolerance,
                   formulation + ": reaction");
  }
}

}  // namespace
}  // namespace liedyn

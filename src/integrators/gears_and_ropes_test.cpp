// Teeth, belts and ropes against the closed forms of machine elements: ratios, tooth forces, what the bearings carry; and that these forces are
// internal, wherever the carrier goes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

std::string method(const std::string& index) {
  return "generalized-alpha,rho=0.8,newton_tol=1e-11,index=" + index;
}

// What the sensors of a model show at the start, by name.
class Shown {
 public:
  Shown(const System& system, const std::vector<double>& values) {
    for (const Sensor& s : system.model().sensors)
      values_[s.name] = Eigen::Map<const Eigen::VectorXd>(values.data() + s.first, s.components);
  }
  explicit Shown(const System& system) {
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Check, work);
    *this = Shown(system, sensed(system, state, work));
  }
  Vec3 vector(const std::string& name) const { return values_.at(name); }
  double number(const std::string& name) const { return values_.at(name)[0]; }

 private:
  std::map<std::string, Eigen::VectorXd> values_;
};

void add_wheel(ModelBuilder& builder, const std::string& name, const std::string& carrier, const Vec3& at,
               const Vec3& axis, double inertia = 0.01) {
  builder.body(name, "rigid").set("mass", {2}).set("inertia", {inertia, inertia, inertia});
  builder.set("position", at);
  builder.joint(name + "_bearing", "revolute").set("between", carrier, name).set("at", at).set("axis", axis);
}
void add_reactions(ModelBuilder& builder, const std::string& joint) {
  builder.sensor(joint + "_force", "reaction_force").set("of", joint);
  builder.sensor(joint + "_torque", "reaction_torque").set("of", joint);
}

// Two wheels at rest: the torques of a motor about the first axis and of a load about the second balance each other.
struct Drive {
  Vec3 first_at, first_axis, second_at, second_axis, at;
  double alpha, beta;
  double ratio;  // first angle over second
  std::string flanks = "one";
};

std::shared_ptr<const Description> balanced(const Drive& d, double torque) {
  ModelBuilder builder({0, 0, 0});
  add_wheel(builder, "one", "ground", d.first_at, d.first_axis);
  add_wheel(builder, "two", "ground", d.second_at, d.second_axis);
  builder.joint("mesh", "gear_mesh").set("joints", "one_bearing", "two_bearing").set("at", d.at);
  builder.set("pressure_angle", {d.alpha}).set("helix_angle", {d.beta});
  builder.set("flanks", d.flanks);
  // The power T_1 x_1' + T_2 x_2' is zero in every motion.
  builder.force("motor", "torque").set("on", std::string("one"));
  builder.set("torque", Vec3(torque * d.first_axis.normalized()));
  builder.force("load", "torque").set("on", std::string("two"));
  builder.set("torque", Vec3(-torque * d.ratio * d.second_axis.normalized()));
  for (const char* joint : {"mesh", "one_bearing", "two_bearing"}) add_reactions(builder, joint);
  builder.sensor("acceleration", "angular_acceleration").set("of", std::string("one"));
  return builder.finish();
}

// `force` acts on the second wheel at the teeth, the opposite on the first; what is left is what the bearings carry.
void expect_loads(const Drive& d, double torque, const Vec3& force, const std::string& name) {
  double forces = 0, torques = 0, acceleration = 0;
  for (const std::string& formulation : formulations()) {
    const Shown s(make_system(balanced(d, torque), formulation));
    acceleration = std::max(acceleration, s.vector("acceleration").norm());
    forces = std::max(forces, (s.vector("mesh_force") - force).norm());
    forces = std::max(forces, (s.vector("one_bearing_force") - force).norm());
    forces = std::max(forces, (s.vector("two_bearing_force") + force).norm());
    const Vec3 on_two = (d.at - d.second_at).cross(force), on_one = -(d.at - d.first_at).cross(force);
    torques = std::max(torques, (s.vector("mesh_torque") - on_two).norm());
    const Vec3 motor = torque * d.first_axis.normalized(),
               load = -torque * d.ratio * d.second_axis.normalized();
    torques = std::max(torques, (s.vector("one_bearing_torque") + on_one + motor).norm());
    torques = std::max(torques, (s.vector("two_bearing_torque") + on_two + load).norm());
  }
  const double size = force.norm();
  expect_at_most(forces / size, 1e-12, name + ": forces, relative");
  expect_at_most(torques / (size * (d.at - d.first_at).norm()), 1e-12, name + ": torques, relative");
  expect_at_most(acceleration, 1e-9, name + ": angular acceleration");
}

const double kMeshTorque = 30, kAlpha = std::numbers::pi / 9;

// F_t = T/r, F_r = F_t tan(alpha)/cos(beta), F_a = F_t tan(beta); a right-hand wheel that drives about +z is pushed along +z.
TEST(GearMesh, LoadsTheBearingsOfHelicalWheels) {
  const double r1 = 0.05, r2 = 0.12, beta = 0.3, offset = 0.04, F_t = kMeshTorque / r1;
  for (const double sign : {1.0, -1.0}) {
    const Drive d = {.first_at = Vec3(0.2, 0.1, 0),
                     .first_axis = Vec3(0, 0, 3),
                     .second_at = Vec3(0.2 + r1 + r2, 0.1, 0.02),
                     .second_axis = Vec3(0, 0, 1),
                     .at = Vec3(0.2 + r1, 0.1, offset),
                     .alpha = kAlpha,
                     .beta = sign * beta,
                     .ratio = -r2 / r1};
    expect_loads(d, kMeshTorque, {F_t * std::tan(kAlpha) / std::cos(beta), F_t, -sign * F_t * std::tan(beta)},
                 sign > 0 ? "right-hand helical wheels" : "left-hand helical wheels");
  }
}

// A pinion in a ring, either of which may be the first: the teeth press the ring outwards and the pinion inwards.
TEST(GearMesh, LoadsTheBearingsOfInternalWheels) {
  const double r = 0.04, R = 0.1, F_t = kMeshTorque / r, F_r = F_t * std::tan(kAlpha);
  Drive d = {.first_at = Vec3(R - r, 0, 0),
             .first_axis = Vec3(0, 0, 1),
             .second_at = Vec3(0, 0, 0),
             .second_axis = Vec3(0, 0, 1),
             .at = Vec3(R, 0, 0),
             .alpha = kAlpha,
             .beta = 0,
             .ratio = R / r};
  expect_loads(d, kMeshTorque, {F_r, F_t, 0}, "pinion drives ring");
  std::swap(d.first_at, d.second_at);
  d.ratio = r / R;
  expect_loads(d, kMeshTorque * R / r, {-F_r, F_t, 0}, "ring drives pinion");
}

// Bevel wheels about z and x, whose cones meet at the origin: F_t tan(alpha) is radial with cos(gamma), axial with sin(gamma), away from the
// apex on both.
TEST(GearMesh, LoadsTheBearingsOfBevelWheels) {
  const double r1 = 0.06, r2 = 0.09, gamma = std::atan2(r1, r2), F_t = kMeshTorque / r1,
               F = F_t * std::tan(kAlpha);
  const Drive d = {.first_at = Vec3(0, 0, 0.2),
                   .first_axis = Vec3(0, 0, 1),
                   .second_at = Vec3(0.15, 0, 0),
                   .second_axis = Vec3(1, 0, 0),
                   .at = Vec3(r1, 0, r2),
                   .alpha = kAlpha,
                   .beta = 0,
                   .ratio = -r2 / r1};
  expect_loads(d, kMeshTorque, {F * std::cos(gamma), F_t, -F * std::sin(gamma)}, "bevel wheels");
}

// A worm about x with the lead angle gamma turns its wheel by -(r_1/r_2) tan(gamma); its axial force, which is the tangential one of the wheel, is
// F_t/tan(gamma), the separating force F_t tan(alpha)/sin(gamma).
TEST(GearMesh, LoadsTheBearingsOfAWormDrive) {
  const double r1 = 0.03, r2 = 0.15, gamma = 0.1, F_t = kMeshTorque / r1;
  const Drive d = {.first_at = Vec3(0, 0, 0),
                   .first_axis = Vec3(1, 0, 0),
                   .second_at = Vec3(0, r1 + r2, 0),
                   .second_axis = Vec3(0, 0, 1),
                   .at = Vec3(0, r1, 0),
                   .alpha = kAlpha,
                   .beta = std::numbers::pi / 2 - gamma,
                   .ratio = -r2 / (r1 * std::tan(gamma))};
  expect_loads(d, kMeshTorque, {-F_t / std::tan(gamma), F_t * std::tan(kAlpha) / std::sin(gamma), F_t},
               "worm drive");
}

// Against the torque of before the force reverses along its line, or the other flanks carry: tangential and axial forces reverse, but the wheels
// are still pushed apart.
TEST(GearMesh, PushesTheWheelsApartWithBothFlanks) {
  const double r1 = 0.05, r2 = 0.12, beta = 0.3, F_t = kMeshTorque / r1;
  Drive d = {.first_at = Vec3(0, 0, 0),
             .first_axis = Vec3(0, 0, 1),
             .second_at = Vec3(r1 + r2, 0, 0),
             .second_axis = Vec3(0, 0, 1),
             .at = Vec3(r1, 0, 0.03),
             .alpha = kAlpha,
             .beta = beta,
             .ratio = -r2 / r1};
  const double F_r = F_t * std::tan(kAlpha) / std::cos(beta), F_a = F_t * std::tan(beta);
  expect_loads(d, -kMeshTorque, {-F_r, -F_t, F_a}, "one flank, reversed");
  d.flanks = "both";
  expect_loads(d, kMeshTorque, {F_r, F_t, -F_a}, "both flanks");
  expect_loads(d, -kMeshTorque, {F_r, -F_t, F_a}, "both flanks, reversed");
}

// A torque that changes its direction: the motion is the same with one flank and with both.
TEST(GearMesh, MovesTheSameWithBothFlanks) {
  const double r1 = 0.05, r2 = 0.12, J = 0.01, end = 1.5;
  for (const std::string flanks : {"one", "both"})
    for (const std::string& index : kIndexForms) {
      ModelBuilder builder({0, 0, 0});
      add_wheel(builder, "one", "ground", {0, 0, 0}, {0, 0, 1}, J);
      add_wheel(builder, "two", "ground", {r1 + r2, 0, 0}, {0, 0, 1}, J);
      builder.joint("mesh", "gear_mesh").set("joints", "one_bearing", "two_bearing").set("at", {r1, 0, 0});
      builder.set("flanks", flanks);
      builder.force("motor", "torque").set("on", std::string("one")).set("torque", {0, 0, 1});
      builder.expression("torque", 2, "3*cos(4*t)");
      builder.sensor("angle", "joint_angle").set("of", std::string("one_bearing"));
      builder.sensor("force", "reaction_force").set("of", std::string("two_bearing"));
      const System system = make_system(builder.finish());
      const WholeRun run(system, method(index), end, 1e-3);
      const Shown s(system, run.sensors);
      const double all = J * (1 + r1 * r1 / (r2 * r2)), angle = 3 / all * (1 - std::cos(4 * end)) / 16;
      // J_2 x_2'' = -r_2 F_t
      const double F_t = J * (r1 / r2) * 3 * std::cos(4 * end) / all / r2;
      const double F_r = (flanks == "both" ? std::abs(F_t) : F_t) * std::tan(kAlpha);
      const std::string name = fmt::format("flanks {}, index {}", flanks, index);
      expect_at_most(std::abs(s.number("angle") - angle) / angle, 1e-5, name + ": angle");
      expect_at_most((s.vector("force") + Vec3(F_r, F_t, 0)).norm() / std::abs(F_t), 1e-4,
                     name + ": bearing");
    }
}

// A rack of mass m, driven by a pinion with the torque T over several turns: (J + m r^2) theta'' = T. The tooth force m r theta'' is at the mesh,
// which stays while the rack moves on: its torque about the place of the guide on the rack grows with the displacement.
TEST(GearMesh, DrivesARackWhoseGuideCarriesTheTorque) {
  const double m = 3, J = 0.02, r = 0.05, T = 0.4, end = 4;
  for (const std::string& index : kIndexForms)
    for (const std::string first : {"pinion", "rack"}) {
      ModelBuilder builder({0, 0, 0});
      add_wheel(builder, "pinion", "ground", {0, 0, 0}, {0, 0, 1}, J);
      builder.body("rack", "rigid").set("mass", {m}).set("inertia", {1, 1, 1}).set("position", {0.3, -r, 0});
      const Vec3 guide(0.1, -r - 0.02, 0);
      builder.joint("rack_bearing", "prismatic")
          .set("between", "ground", "rack")
          .set("at", guide)
          .set("axis", {1, 0, 0});
      const std::string second = first == "rack" ? "pinion" : "rack";
      builder.joint("mesh", "gear_mesh").set("joints", first + "_bearing", second + "_bearing");
      // The pinion drives: a rack that is the first has negative multipliers, which other flanks carry.
      builder.set("at", {0, -r, 0}).set("flanks", std::string(first == "rack" ? "both" : "one"));
      builder.force("motor", "torque").set("on", std::string("pinion")).set("torque", {0, 0, T});
      builder.sensor("angle", "joint_angle").set("of", std::string("pinion_bearing"));
      builder.sensor("travel", "joint_displacement").set("of", std::string("rack_bearing"));
      add_reactions(builder, "rack_bearing");
      const System system = make_system(builder.finish());
      const WholeRun run(system, method(index), end, 0.01);
      const Shown s(system, run.sensors);
      const double acceleration = T / (J + m * r * r), angle = 0.5 * acceleration * end * end;
      const std::string name = fmt::format("{} first, index {}", first, index);
      ASSERT_GT(angle, 6 * std::numbers::pi);
      expect_at_most(std::abs(s.number("angle") - angle) / angle, 1e-9, name + ": angle");
      expect_at_most(std::abs(s.number("travel") - r * angle), 1e-9, name + ": travel - r angle");
      // The lowest point of the pinion moves along +x; the teeth press the rack downwards.
      const double F_t = m * r * acceleration;
      const Vec3 teeth(F_t, -F_t * std::tan(kAlpha), 0), place = guide + Vec3(r * angle, 0, 0),
                                                         center(0.3 + r * angle, -r, 0);
      const Vec3 force = Vec3(F_t, 0, 0) - teeth;
      const Vec3 torque = (center - place).cross(Vec3(F_t, 0, 0)) - (Vec3(0, -r, 0) - place).cross(teeth);
      expect_at_most((s.vector("rack_bearing_force") - force).norm() / F_t, 1e-7, name + ": guide, force");
      expect_at_most((s.vector("rack_bearing_torque") - torque).norm() / (F_t * r * angle), 1e-7,
                     name + ": guide, torque");
    }
}

// The sums of m a and of (x - 0) x m a + R (J alpha + omega x J omega) over all bodies: zero if all forces are internal.
Vec6 change_of_momentum(const System& system, const Shown& s) {
  const Description& d = system.model().description();
  Vec6 out = Vec6::Zero();
  for (const Entry& body : d.entries(Section::Bodies)) {
    const Inputs<double> in(d, body, d.parameters.data(), nullptr);
    const double mass = in.number(body.kind->field("mass"));
    const Vec3 force = mass * s.vector("a_" + body.name);
    out.head<3>() += force;
    out.tail<3>() += s.vector("x_" + body.name).cross(force);
    if (body.kind->type == "point") continue;
    const Mat3 J = in.vector(body.kind->field("inertia")).asDiagonal();
    const Mat3 R = SO3<double>::exp(in.vector(body.kind->field("orientation"))).R();
    const Vec3 w = s.vector("w_" + body.name);
    out.tail<3>() += R * (J * s.vector("alpha_" + body.name) + w.cross(J * w));
  }
  return out;
}
void add_motions(ModelBuilder& builder, const std::vector<std::string>& bodies) {
  for (const std::string& body : bodies) {
    builder.sensor("x_" + body, "position").set("of", body);
    builder.sensor("a_" + body, "acceleration").set("of", body);
    builder.sensor("w_" + body, "angular_velocity").set("of", body);
    builder.sensor("alpha_" + body, "angular_acceleration").set("of", body);
  }
}
void expect_internal(const std::function<void(ModelBuilder&, Random&)>& add, const std::string& name) {
  double worst = 0, least = 1e300;
  for (const std::string& formulation : formulations())
    for (unsigned seed = 0; seed < 5; ++seed) {
      Random random(seed);
      ModelBuilder builder({0, 0, 0});
      add(builder, random);
      const System system = make_system(builder.finish(), formulation);
      const Shown s(system);
      worst = std::max(worst, change_of_momentum(system, s).norm());
      least = std::min(least, s.vector("a_carrier").norm());
    }
  EXPECT_GT(least, 1e-3) << name << ": nothing happens";
  expect_at_most(worst, 1e-11, name + ": change of momentum");
}
void add_carrier(ModelBuilder& builder, Random& random) {
  builder.body("carrier", "rigid").set("mass", {3}).set("inertia", {0.5, 0.7, 0.9});
  builder.set("position", random.vector<3>()).set("velocity", random.vector<3>());
  builder.set("orientation", random.vector<3>()).set("angular_velocity", random.vector<3>());
}
// A body that follows a joint, with the centre of mass off its axis.
void add_follower(ModelBuilder& builder, const std::string& name, const std::string& type, Random& random) {
  const Vec3 at = random.vector<3>();
  builder.body(name, "rigid").set("mass", {random.between(1, 2)}).set("inertia", {0.3, 0.4, 0.5});
  builder.set("position", Vec3(at + 0.3 * random.vector<3>())).set("orientation", random.vector<3>());
  builder.consistent("velocity").consistent("angular_velocity");
  builder.joint(name + "_bearing", type).set("between", "carrier", name).set("at", at);
  builder.set("axis", random.vector<3>());
}

// Anywhere in space, with any normal, in any pair of joints: teeth exert no force and no torque on the whole.
TEST(GearMesh, ExertsInternalForcesOnly) {
  for (const std::string first : {"revolute", "prismatic", "cylindrical"})
    for (const std::string second : {"revolute", "prismatic", "cylindrical"})
      expect_internal(
          [&](ModelBuilder& builder, Random& random) {
            add_carrier(builder, random);
            add_follower(builder, "one", first, random);
            add_follower(builder, "two", second, random);
            builder.joint("mesh", "gear_mesh").set("joints", "one_bearing", "two_bearing");
            builder.set("at", random.vector<3>()).set("normal", random.vector<3>());
            builder.set("flanks", random.below(2) == 0 ? "one" : "both");
            add_motions(builder, {"carrier", "one", "two"});
          },
          fmt::format("{} and {}", first, second));
}

// Planetary stage with the ring held: sun (r_s), three planets (r_p), ring (r_r = r_s + 2 r_p). Willis: w_s = (1 + r_r/r_s) w_c and
// w_p = w_c (1 - r_r/r_p). A torque T on the sun is split over the planets: each has 2 F_t, F_t = T/(3 r_s), on its bearing, and the ring
// takes T r_r/r_s.
TEST(GearMesh, MakesAPlanetaryStage) {
  const double rs = 0.03, rp = 0.02, rr = rs + 2 * rp, T = 0.02, end = 1.5;
  const double Js = 2e-4, Jp = 1e-4, mp = 0.5, Jc = 5e-3;
  for (const std::string formulation : {"r3so3", "se3", "minimal"}) {
    ModelBuilder builder({0, 0, 0});
    const Vec3 z(0, 0, 1);
    builder.body("ring", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    builder.joint("housing", "fixed").set("between", "ground", "ring").set("at", {0, 0, 0});
    builder.body("carrier", "rigid").set("mass", {1}).set("inertia", {1, 1, Jc});
    builder.joint("ring_bearing", "revolute").set("between", "carrier", "ring").set("at", {0, 0, 0});
    builder.set("axis", z);
    builder.body("sun", "rigid").set("mass", {0.3}).set("inertia", {1e-3, 1e-3, Js});
    builder.joint("sun_bearing", "revolute").set("between", "carrier", "sun").set("at", {0, 0, 0});
    builder.set("axis", z);
    for (int i = 0; i < 3; ++i) {
      const std::string planet = fmt::format("planet{}", i);
      const Vec3 e(std::cos(2 * std::numbers::pi * i / 3), std::sin(2 * std::numbers::pi * i / 3), 0);
      builder.body(planet, "rigid").set("mass", {mp}).set("inertia", {1e-4, 1e-4, Jp});
      builder.set("position", Vec3((rs + rp) * e));
      builder.joint(planet + "_bearing", "revolute").set("between", "carrier", planet);
      builder.set("at", Vec3((rs + rp) * e)).set("axis", z);
      builder.joint(planet + "_sun", "gear_mesh").set("joints", "sun_bearing", planet + "_bearing");
      builder.set("at", Vec3(rs * e));
      builder.joint(planet + "_ring", "gear_mesh").set("joints", "ring_bearing", planet + "_bearing");
      builder.set("at", Vec3(rr * e));
    }
    builder.force("motor", "torque").set("on", std::string("sun")).set("torque", {0, 0, T});
    for (const char* body : {"sun", "carrier", "planet0", "planet1"})
      builder.sensor(std::string("w_") + body, "angular_velocity").set("of", std::string(body));
    for (int i = 0; i < 3; ++i) {
      add_reactions(builder, fmt::format("planet{}_sun", i));
      add_reactions(builder, fmt::format("planet{}_bearing", i));
      builder.sensor(fmt::format("a_planet{}", i), "acceleration").set("of", fmt::format("planet{}", i));
    }
    add_reactions(builder, "housing");
    const System system = make_system(builder.finish(), formulation);

    // The inertia that the sun feels: w_c = w_s/i, w_p = w_s j.
    const double i = 1 + rr / rs, j = (1 - rr / rp) / i;
    const double J = Js + (Jc + 3 * mp * (rs + rp) * (rs + rp)) / (i * i) + 3 * Jp * j * j;
    const double acceleration = T / J;
    {
      // Equal shares at the start: the sun's teeth exert F_t with J_s w_s' = T - 3 F_t r_s.
      const Shown s(system);
      const double F_t = (T - Js * acceleration) / (3 * rs);
      for (int k = 0; k < 3; ++k) {
        const double angle = 2 * std::numbers::pi * k / 3;
        const Vec3 e(std::cos(angle), std::sin(angle), 0), t(-std::sin(angle), std::cos(angle), 0);
        const Vec3 on_planet = F_t * (t + std::tan(kAlpha) * e);
        expect_at_most((s.vector(fmt::format("planet{}_sun_force", k)) - on_planet).norm() / F_t, 1e-10,
                       fmt::format("{}: share of planet {}", formulation, k));
        // The ring's teeth exert F_g with J_p w_p' = -r_p F_t + r_p F_g (F_g along +t); the radial parts cancel but for the difference.
        const double F_g = F_t + Jp * j * acceleration / rp;
        const Vec3 ring = F_g * t - std::abs(F_g) * std::tan(kAlpha) * e;
        const Vec3 bearing = mp * s.vector(fmt::format("a_planet{}", k)) - on_planet - ring;
        expect_at_most((s.vector(fmt::format("planet{}_bearing_force", k)) - bearing).norm() / F_t, 1e-9,
                       fmt::format("{}: bearing of planet {}", formulation, k));
      }
    }
    // The ratios hold at every step; the speed has the error of the method, since the planets go round. In joint coordinates there is none.
    const double w = acceleration * end;
    std::vector<double> errors;
    for (const double h : {0.002, 0.001}) {
      const WholeRun run(system, method("3"), end, h);
      const Shown s(system, run.sensors);
      const double sun = s.vector("w_sun").z();
      errors.push_back(std::abs(sun / w - 1));
      expect_at_most(std::abs(s.vector("w_carrier").z() * i / sun - 1), 1e-8,
                     formulation + ": carrier (Willis)");
      for (const char* planet : {"w_planet0", "w_planet1"})
        expect_at_most(std::abs(s.vector(planet).z() / (j * sun) - 1), 1e-8, formulation + ": planet");
    }
    if (formulation == std::string("minimal"))
      expect_at_most(errors.back(), 1e-8, "minimal: speed of the sun");
    else
      expect_between(
          order_of(errors), 1.8, 2.2,
          fmt::format("{}: order of the speed of the sun, from {:.1e}", formulation, errors.front()));
  }
}

std::string complaint(const std::function<void(ModelBuilder&)>& build) {
  ModelBuilder builder({0, 0, 0});
  add_wheel(builder, "one", "ground", {0, 0, 0}, {0, 0, 1});
  add_wheel(builder, "two", "ground", {0.3, 0, 0}, {0, 0, 1});
  add_wheel(builder, "three", "one", {0.3, 0, 0}, {0, 0, 1});
  try {
    build(builder);
    const System system = make_system(builder.finish());
    Work work(system);
    consistent_state(system, 0, InitialPolicy::Check, work);
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    return error.what();
  }
  return {};
}
void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
}

TEST(GearMesh, SaysWhatIsWrong) {
  const auto mesh = [](const std::string& second, const Vec3& at,
                       const std::function<void(ModelBuilder&)>& more = {}) {
    return complaint([&](ModelBuilder& b) {
      b.joint("ball", "planar").set("between", "ground", "two").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
      b.joint("mesh", "gear_mesh").set("joints", "one_bearing", second).set("at", at);
      if (more) more(b);
    });
  };
  expect_part(
      mesh("three_bearing", {0.1, 0, 0}),
      "expected joints with the same first body, got 'one_bearing' on 'ground' and 'three_bearing' on 'one'");
  expect_part(mesh("ball", {0.1, 0, 0}), "got 'ball' of type planar");
  expect_part(mesh("two_bearing", {0.3, 0, 0.1}), "the teeth are on the axis of 'two_bearing'");
  expect_part(mesh("two_bearing", {0.1, 0, 0}, [](ModelBuilder& b) { b.set("pressure_angle", {20}); }),
              "pressure_angle: expected an angle from 0 to pi/2, got 20 rad");
  expect_part(mesh("two_bearing", {0.1, 0, 0}, [](ModelBuilder& b) { b.set("helix_angle", {-2}); }),
              "helix_angle: expected an angle between -pi/2 and pi/2, got -2 rad");
  expect_part(mesh("two_bearing", {0.1, 0, 0},
                   [](ModelBuilder& b) {
                     b.set("helix_angle", {0.2}).set("normal", {0, 1, 0});
                   }),
              "normal: given together with");
  expect_part(mesh("two_bearing", {0.1, 0, 0},
                   [](ModelBuilder& b) {
                     b.set("normal", {1, 0, 0});
                   }),
              "a force along [1, 0, 0] does not move 'one_bearing'");
  expect_part(mesh("two_bearing", {0.1, 0, 0},
                   [](ModelBuilder& b) {
                     b.set("normal", {0, 0, 0});
                   }),
              "expected a direction");
}

// ---- belt

std::shared_ptr<const Description> belt_drive(double r1, double r2, double D, bool crossed, double k,
                                              double c, double pretension, double offset, double torque,
                                              double load) {
  ModelBuilder builder({0, 0, 0});
  add_wheel(builder, "one", "ground", {0, 0, 0}, {0, 0, 1}, 0.02);
  add_wheel(builder, "two", "ground", {0, D, 0.1}, {0, 0, 1}, 0.05);
  builder.force("belt", "belt").set("joints", "one_bearing", "two_bearing");
  builder.set("first_radius", {r1}).set("second_radius", {r2}).set("stiffness", {k}).set("damping", {c});
  builder.set("pretension", {pretension}).set("route", std::string(crossed ? "crossed" : "open"));
  builder.set("at", {0.7, 0.8, offset});
  builder.force("motor", "torque").set("on", std::string("one")).set("torque", {0, 0, torque});
  builder.force("load", "torque").set("on", std::string("two")).set("torque", {0, 0, load});
  for (const char* joint : {"one_bearing", "two_bearing"}) add_reactions(builder, joint);
  builder.sensor("pull", "applied_force").set("of", std::string("belt"));
  builder.sensor("drive", "applied_torque").set("of", std::string("belt"));
  builder.sensor("first", "joint_angle").set("of", std::string("one_bearing"));
  builder.sensor("second", "joint_angle").set("of", std::string("two_bearing"));
  return builder.finish();
}

// At the start both strands pull with T_0: the bearings carry 2 T_0 cos(beta) along the line of the centres, at the plane of the belt.
TEST(Belt, LoadsTheBearingsWithItsPretension) {
  const double r1 = 0.1, r2 = 0.04, D = 0.5, T0 = 200, offset = 0.06;
  for (const bool crossed : {false, true}) {
    double worst = 0;
    const double sine = (crossed ? r1 + r2 : r1 - r2) / D, F = 2 * T0 * std::sqrt(1 - sine * sine);
    for (const std::string& formulation : formulations()) {
      const Shown s(make_system(belt_drive(r1, r2, D, crossed, 1e4, 3, T0, offset, 0, 0), formulation));
      const auto differ = [&](const std::string& name, const Vec3& expected) {
        worst = std::max(worst, (s.vector(name) - expected).norm() / F);
      };
      differ("pull", {0, -F, 0});
      differ("drive", Vec3(0, 0, offset - 0.1).cross(Vec3(0, -F, 0)));
      differ("one_bearing_force", {0, -F, 0});
      differ("two_bearing_force", {0, F, 0});
      differ("one_bearing_torque", Vec3(0, 0, offset).cross(Vec3(0, -F, 0)));
      differ("two_bearing_torque", Vec3(0, 0, offset - 0.1).cross(Vec3(0, F, 0)));
    }
    expect_at_most(worst, 1e-12, crossed ? "crossed belt" : "open belt");
  }
}

// A torque M on the first pulley, held by -+M r_2/r_1 on the second: T_1 - T_2 = M/r_1 once the motion has died out; with a large torque one
// strand is slack and the other has M/r_1 alone. The pulleys creep by e = M/(2 k r_1), or M/(k r_1) - T_0/k.
TEST(Belt, TransmitsTheDifferenceOfItsTensions) {
  const double r1 = 0.1, r2 = 0.04, D = 0.5, k = 1e4, T0 = 200;
  for (const bool crossed : {false, true})
    for (const double M : {12.0, 60.0}) {
      const double s = crossed ? -1 : 1, load = -s * M * r2 / r1;
      const System system = make_system(belt_drive(r1, r2, D, crossed, k, 150, T0, 0, M, load));
      // The second pulley is free: hold what moves as a whole by its own inertia, and look at the difference only.
      const WholeRun run(system, method("3"), 1.5, 5e-4);
      const Shown shown(system, run.sensors);
      const bool slack = M / r1 > 2 * T0;
      const double creep = slack ? M / (k * r1) - T0 / k : M / (2 * k * r1);
      const std::string name = fmt::format("{} belt, {} N m", crossed ? "crossed" : "open", M);
      expect_at_most(std::abs(r1 * shown.number("first") - s * r2 * shown.number("second") - creep) / creep,
                     1e-6, name + ": creep");
      expect_at_most(std::abs(shown.vector("drive").z() + load) / M, 1e-6, name + ": torque on the second");
      const double sine = (r1 - s * r2) / D, cosine = std::sqrt(1 - sine * sine);
      const double tight = slack ? M / r1 : T0 + M / (2 * r1), loose = tight - M / r1;
      // Here x of the belt's plane is +y and y is -x. A torque about +z tightens the strand at +y of that plane, sigma = 1.
      const Vec3 on_two = -tight * Vec3(sine, cosine, 0) - loose * Vec3(-sine, cosine, 0);
      expect_at_most((shown.vector("pull") - on_two).norm() / tight, 1e-6, name + ": force on the second");
    }
}

// First torsional mode of two pulleys: omega^2 = 2 k (r_1^2/J_1 + r_2^2/J_2) while both strands are tight.
TEST(Belt, OscillatesWithItsFrequency) {
  const double r1 = 0.1, r2 = 0.04, k = 1e4;
  const double omega = std::sqrt(2 * k * (r1 * r1 / 0.02 + r2 * r2 / 0.05)),
               period = 2 * std::numbers::pi / omega;
  // From rest with a torque, the difference of the angles is (1 - cos(omega t)) about its mean: zero again after a period, twice the mean in
  // between.
  const double M = 1;
  const auto difference = [&](double time) {
    const System system = make_system(belt_drive(r1, r2, 0.5, false, k, 0, 200, 0, M, -M * r2 / r1));
    const WholeRun run(system, "rk44", time, time / 400);
    const Shown s(system, run.sensors);
    return r1 * s.number("first") - r2 * s.number("second");
  };
  const double mean = M / (2 * k * r1);
  expect_at_most(std::abs(difference(period)) / mean, 1e-8, "after a period");
  expect_at_most(std::abs(difference(period / 2) / (2 * mean) - 1), 1e-8, "after half a period");
  expect_at_most(std::abs(difference(period / 4) / mean - 1), 1e-7, "after a quarter");
}

TEST(Belt, ExertsInternalForcesOnly) {
  expect_internal(
      [](ModelBuilder& builder, Random& random) {
        add_carrier(builder, random);
        const Vec3 axis = random.vector<3>();
        for (const std::string name : {"one", "two"}) {
          const Vec3 at = random.vector<3>();
          builder.body(name, "rigid").set("mass", {1.3}).set("inertia", {0.3, 0.4, 0.5});
          builder.set("position", Vec3(at + 0.3 * random.vector<3>()));
          builder.set("orientation", random.vector<3>());
          builder.consistent("velocity").consistent("angular_velocity");
          builder.joint(name + "_bearing", "revolute").set("between", "carrier", name).set("at", at);
          builder.set("axis", axis);
        }
        builder.force("belt", "belt").set("joints", "one_bearing", "two_bearing");
        builder.set("first_radius", {0.05}).set("second_radius", {0.02}).set("stiffness", {100});
        builder.set("damping", {5}).set("pretension", {20}).set("at", random.vector<3>());
        add_motions(builder, {"carrier", "one", "two"});
      },
      "belt");
}

TEST(Belt, SaysWhatIsWrong) {
  const auto belt = [](const std::string& second, double r1, double r2, const std::string& route) {
    return complaint([&](ModelBuilder& b) {
      add_wheel(b, "skew", "ground", {0.3, 0, 0}, {0, 1, 1});
      b.force("belt", "belt").set("joints", "one_bearing", second).set("stiffness", {1e4});
      b.set("first_radius", {r1}).set("second_radius", {r2}).set("route", route);
    });
  };
  expect_part(belt("three_bearing", 0.1, 0.1, "open"), "expected joints with the same first body");
  expect_part(belt("skew_bearing", 0.1, 0.1, "open"),
              "expected parallel axes, got axes at an angle of 0.7854 rad");
  // Both pulleys are in one plane.
  for (const char* route : {"open", "crossed"}) {
    expect_part(belt("two_bearing", 0.5, 0.1, route),
                "the axes are 0.3 m apart, expected more than 0.6 m, the sum of the radii");
    expect_part(belt("two_bearing", 0.2, 0.15, route), "expected more than 0.35 m, the sum of the radii");
    EXPECT_EQ(belt("two_bearing", 0.15, 0.1, route), "");
  }
}

// ---- rope

std::shared_ptr<const Description> atwood(double m_A, double m_B, double ratio, const std::string& length,
                                          double down = 1) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("A", "point").set("mass", {m_A}).set("position", {0, 0, -down});
  builder.body("B", "rigid").set("mass", {m_B}).set("inertia", {1, 1, 1}).set("position", {1, 0, -2});
  builder.joint("rope", "pulley").set("between", "A", "B").set("points", {0, 0, -down, 1, 0, -2});
  builder.set("pulleys", {0, 0, 0, 1, 0, 0}).set("ratio", {ratio});
  if (!length.empty()) builder.set("length", {down + 2 * ratio}).expression("length", 0, length);
  builder.sensor("z_A", "position").set("of", std::string("A"));
  builder.sensor("z_B", "position").set("of", std::string("B"));
  builder.sensor("tension", "multiplier").set("of", std::string("rope"));
  builder.sensor("pull", "reaction_force").set("of", std::string("rope"));
  return builder.finish();
}

// Atwood's machine with kappa strands on B: T = (1 + kappa) g/(1/m_A + kappa^2/m_B), m_A z_A'' = T - m_A g.
TEST(Pulley, IsAtwoodsMachine) {
  const double m_A = 2, m_B = 5, g = 9.81, end = 0.4;
  for (const double ratio : {1.0, 2.0, 3.0})
    for (const std::string& index : kIndexForms) {
      const System system = make_system(atwood(m_A, m_B, ratio, ""));
      const WholeRun run(system, method(index), end, 0.004);
      const Shown s(system, run.sensors);
      const double T = (1 + ratio) * g / (1 / m_A + ratio * ratio / m_B);
      const std::string name = fmt::format("{} strands, index {}", ratio, index);
      expect_at_most(std::abs(s.vector("z_A").z() - (-1 + 0.5 * (T / m_A - g) * end * end)), 1e-9,
                     name + ": A");
      expect_at_most(std::abs(s.vector("z_B").z() - (-2 + 0.5 * (ratio * T / m_B - g) * end * end)), 1e-9,
                     name + ": B");
      expect_at_most(std::abs(s.number("tension") / T - 1), 1e-7, name + ": tension");
      expect_at_most((s.vector("pull") - Vec3(0, 0, ratio * T)).norm() / T, 1e-7, name + ": force on B");
    }
}

// A winch shortens the rope by s(t) = 0.2 t^2: z_A'' + kappa z_B'' = s''.
TEST(Pulley, WindsUp) {
  const double m_A = 2, m_B = 5, g = 9.81, end = 0.4, ratio = 2;
  const double T = ((1 + ratio) * g + 0.4) / (1 / m_A + ratio * ratio / m_B);
  for (const std::string& formulation : formulations()) {
    const System system = make_system(atwood(m_A, m_B, ratio, "5 - 0.2*t^2"), formulation);
    const WholeRun run(system, method("3"), end, 0.004);
    const Shown s(system, run.sensors);
    expect_at_most(std::abs(s.vector("z_A").z() - (-1 + 0.5 * (T / m_A - g) * end * end)), 1e-9,
                   formulation + ": A");
    expect_at_most(std::abs(s.number("tension") / T - 1), 1e-7, formulation + ": tension");
  }
}

// On a carrier that moves: points and pulleys anywhere.
TEST(Pulley, ExertsInternalForcesOnly) {
  expect_internal(
      [](ModelBuilder& builder, Random& random) {
        add_carrier(builder, random);
        for (const std::string name : {"one", "two"}) {
          builder.body(name, "rigid").set("mass", {1.3}).set("inertia", {0.3, 0.4, 0.5});
          builder.set("position", random.vector<3>()).set("orientation", random.vector<3>());
          builder.set("velocity", random.vector<3>()).set("angular_velocity", random.vector<3>());
        }
        // The speeds of the ends follow from that of the carrier.
        builder.body("end", "point").set("mass", {0.2}).set("position", {1, 2, 3}).consistent("velocity");
        builder.joint("rope", "pulley").set("between", "one", "end").set("on", std::string("carrier"));
        builder.set("points", {0.1, 0.2, 0.3, 1, 2, 3}).set("pulleys", {0.5, -0.4, 1, 0.6, -0.3, 1.2});
        builder.set("ratio", {1.7});
        builder.joint("other", "pulley").set("between", "two", "end").set("on", std::string("carrier"));
        builder.set("points", {-0.3, 0.2, 0.1, 1, 2, 3}).set("pulleys", {-0.5, 0.4, -1, 0.6, 0.3, -1.2});
        add_motions(builder, {"carrier", "one", "two", "end"});
      },
      "rope");
}

DriveReport failing(const System& system, const std::string& integrator_text, double end, double step) {
  const auto integrator = make_integrator(system, integrator_text);
  Work work(system, "auto", integrator->form()), initial_work(system);
  State state = consistent_state(system, 0, InitialPolicy::Check, initial_work);
  const DriveReport report =
      drive(*integrator, system, {end, step}, state, work, [](const State&, long) { return true; });
  fmt::print("  t = {:g}: {}\n", state.t, report.failure);
  return report;
}

// A light mass is pulled up to its pulley: the run ends there, with the name of the rope, and not behind it.
TEST(Pulley, EndsTheRunWhereAStrandRunsOut) {
  for (const std::string integrator :
       {"generalized-alpha,rho=0.8", "generalized-alpha,rho=0.8,index=2",
        "generalized-alpha,index=stabilized", "lms2,rho=0.6", "rk44", "dopri5,adaptive=true,rtol=1e-6"}) {
    const DriveReport report = failing(make_system(atwood(1, 3, 1, "", 0.3)), integrator, 2, 0.013);
    EXPECT_FALSE(report.completed) << integrator;
    expect_part(report.failure, "rope");
  }
  // A winch that asks for more than there is.
  const DriveReport winch =
      failing(make_system(atwood(1, 1, 1, "3 - 0.5*t^2")), "generalized-alpha,rho=0.8", 3, 0.01);
  EXPECT_FALSE(winch.completed);
  expect_part(winch.failure, "rope");
}

TEST(Pulley, SaysWhatIsWrong) {
  const auto rope = [](const Vec3& point, double length) {
    return complaint([&](ModelBuilder& b) {
      b.body("dot", "point").set("mass", {1}).set("position", point);
      b.joint("rope", "pulley").set("between", "two", "dot");
      b.set("points", {0.3, 0, 0, point.x(), point.y(), point.z()}).set("pulleys", {0, 0, 1, 0, 1, 1});
      if (length != 0) b.set("length", {length});
    });
  };
  EXPECT_EQ(rope({0, 2, 0}, 0), "");
  expect_part(rope({0, 1, 1}, 0), "points[1] and pulleys[1] coincide");
  expect_part(rope({0, 2, 0}, -1), "joints.rope.length");
  // Where pulleys and teeth are on a body whose position is to be found, nobody knows.
  const auto on_found = [](const std::function<void(ModelBuilder&)>& add) {
    return complaint([&](ModelBuilder& b) {
      b.body("frame", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).consistent("position");
      for (const std::string wheel : {"four", "five"}) {
        b.body(wheel, "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
        b.joint(wheel + "_bearing", "revolute").set("between", "frame", wheel);
        b.in_bodies("at", {{"frame", {0, 0, 0}}, {wheel, {0, 0, 0}}});
        b.in_bodies("axis", {{"frame", {0, 0, 1}}, {wheel, {0, 0, 1}}});
      }
      add(b);
    });
  };
  expect_part(
      on_found([](ModelBuilder& b) {
        b.joint("rope", "pulley").set("between", "one", "two").set("on", std::string("frame"));
        b.set("points", {0, 0, 0, 0.3, 0, 0}).set("pulleys", {0, 0, 1, 0, 1, 1});
      }),
      "joints.rope.pulleys: is given in inertial axes, but the position of 'frame' is \"consistent\"");
  expect_part(on_found([](ModelBuilder& b) {
                b.joint("mesh", "gear_mesh").set("joints", "four_bearing", "five_bearing");
                b.set("at", {0.1, 0, 0});
              }),
              "joints.mesh.at: is given in inertial axes, but the position of 'frame' is \"consistent\"");
}

}  // namespace
}  // namespace liedyn

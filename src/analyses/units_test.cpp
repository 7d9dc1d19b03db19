// Results do not depend on the units, on where the origin is, or on what else the model holds. Units are powers of two, which change no digit of any number: what is
// left are decisions, and the order in which equations are eliminated.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/subsystems.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// One unit of the model in metres, kilograms and seconds.
struct Units {
  std::string name;
  double length = 1, mass = 1, time = 1;
  double force() const { return mass * length / (time * time); }
  double torque() const { return force() * length; }
};
const std::vector<Units>& all_units() {
  static const std::vector<Units> units = {{"m, kg, s"},
                                           {"mm, t, s", 0x1p-10, 0x1p10, 1},
                                           {"um, kg, us", 0x1p-20, 1, 0x1p-20},
                                           {"km, t, h", 0x1p10, 0x1p10, 0x1p12},
                                           {"nm, fg, ns", 0x1p-30, 0x1p-60, 0x1p-30},
                                           {"mm, mg, s", 0x1p-10, 0x1p-20, 1},
                                           {"10 um, ng, s", 0x1p-17, 0x1p-40, 1}};
  return units;
}

// Parts of models, with numbers in metres, kilograms and seconds; `origin` is in lengths of the mechanism. All numbers of the model are divided by the units.
class Mechanisms {
 public:
  Mechanisms(const Units& units, const Vec3& origin)
      : u_(units),
        origin_(origin),
        builder_({0, -9.81 * units.time * units.time / units.length * 0.6,
                  -9.81 * units.time * units.time / units.length * 0.8}) {}

  std::shared_ptr<const Description> finish() { return builder_.finish(); }

  // Two bodies on a hinge and a ball joint, a rod that closes the loop, a bushing, a spring.
  void loop(const std::string& name, double size, double mass, bool rod = true) {
    body(name + "a", mass, {0.4, 0.1, -0.2}, size);
    body(name + "b", 0.3 * mass, {1.1, 0.3, -0.1}, size);
    joint(name + "hinge", "revolute", "ground", name + "a", {0, 0, 0}, size).set("axis", {0, 1, 0.2});
    joint(name + "ball", "spherical", name + "a", name + "b", {0.8, 0.2, -0.3}, size);
    if (rod)
      builder_.joint(name + "rod", "distance")
          .set("between", "ground", name + "b")
          .set("points", points({1.5, -0.4, 0.9}, {1.3, 0.4, 0.1}, size));
    builder_.force(name + "bushing", "bushing")
        .set("between", "ground", name + "b")
        .set("at", place({1.1, 0.3, -0.1}, size))
        .set("stiffness", {mass * 50 / per_length(), mass * 60 / per_length(), mass * 70 / per_length()})
        .set("rotational_stiffness",
             {mass * size * size * 20 / u_.torque(), mass * size * size * 30 / u_.torque(),
              mass * size * size * 10 / u_.torque()})
        .set("damping", {mass / per_speed(), mass / per_speed(), mass / per_speed()});
    builder_.force(name + "spring", "spring_damper")
        .set("between", "ground", name + "a")
        .set("points", points({0.5, 1, 0.5}, {0.4, 0.1, -0.2}, size))
        .set("stiffness", {mass * 80 / per_length()})
        .set("damping", {mass * 2 / per_speed()});
    sensor(name + "angle", "joint_angle", name + "hinge", 1);
    sensor(name + "force", "reaction_force", name + (rod ? "rod" : "ball"), mass * 9.81 / u_.force());
    sensor(name + "velocity", "velocity", name + "b", size / (u_.length / u_.time));
  }

  // A tree: with minimal coordinates there is no constraint that would force an iteration.
  void pendulum(const std::string& name, double size, double mass) {
    body(name + "a", mass, {0.5, 0, 0}, size);
    body(name + "b", mass, {1.5, 0, 0}, size);
    joint(name + "p", "revolute", "ground", name + "a", {0, 0, 0}, size).set("axis", {0, 1, 0});
    joint(name + "q", "revolute", name + "a", name + "b", {1, 0, 0}, size).set("axis", {0, 1, 0});
    sensor(name + "p", "joint_angle", name + "p", 1);
    sensor(name + "q", "joint_angle", name + "q", 1);
    sensor(name + "reaction", "reaction_force", name + "p", mass * 9.81 / u_.force());
  }

  // Points on rods only.
  void rods(const std::string& name, double size, double mass) {
    for (const double x : {1.0, 2.0})
      builder_.body(fmt::format("{}{}", name, x), "point")
          .set("mass", {mass / u_.mass})
          .set("position", place({x, 0, 0}, size));
    for (const double x : {1.0, 2.0})
      builder_.joint(fmt::format("{}rod{}", name, x), "distance")
          .set("between", x == 1 ? std::string("ground") : name + "1", fmt::format("{}{}", name, x))
          .set("points", points({x - 1, 0, 0}, {x, 0, 0}, size));
    sensor(name + "v", "velocity", name + "2", size / (u_.length / u_.time));
    sensor(name + "reaction", "reaction_force", name + "rod1", mass * 9.81 / u_.force());
  }

  // A cantilever that is loaded at its end.
  void beam(const std::string& name, double size, double mass) {
    const double stiffness = mass * 9.81 * size * size / u_.torque() / u_.length;
    builder_.beam(name, "stiffness")
        .set("from", place({0, 0, 0}, size))
        .set("to", place({1, 0, 0}, size))
        .set("elements", {3})
        .set("axial_stiffness", {1e4 * mass * 9.81 / u_.force()})
        .set("shear_stiffness_y", {4e3 * mass * 9.81 / u_.force()})
        .set("shear_stiffness_z", {4e3 * mass * 9.81 / u_.force()})
        .set("torsional_stiffness", {stiffness})
        .set("bending_stiffness_y", {stiffness})
        .set("bending_stiffness_z", {2 * stiffness})
        .set("mass_per_length", {mass / size / (u_.mass / u_.length)})
        .set("inertia_per_length", inertia(1e-3 * mass * size / (u_.mass * u_.length)));
    builder_.joint(name + "clamp", "fixed")
        .set("between", "ground", name + ".start")
        .set("at", place({0, 0, 0}, size));
    builder_.force(name + "load", "force")
        .set("on", name + ".end")
        .set("force", {0, 0.5 * mass * 9.81 / u_.force(), 0});
    sensor(name + "moment", "reaction_torque", name + "clamp", mass * size * 9.81 / u_.torque());
    sensor(name + "tip", "velocity", name + ".end", size / (u_.length / u_.time));
  }

  std::vector<double> sensor_units;  // per number of the sensors: what they are compared with

 private:
  double per_length() const { return u_.force() / u_.length; }
  double per_speed() const { return u_.force() / u_.length * u_.time; }
  static std::vector<double> inertia(double J) { return {J, 1.2 * J, 0.9 * J}; }
  Vec3 place(const Vec3& p, double size) const { return size / u_.length * (p + origin_); }
  std::vector<double> points(const Vec3& a, const Vec3& b, double size) const {
    const Vec3 p = place(a, size), q = place(b, size);
    return {p.x(), p.y(), p.z(), q.x(), q.y(), q.z()};
  }
  void body(const std::string& name, double mass, const Vec3& p, double size) {
    builder_.body(name, "rigid")
        .set("mass", {mass / u_.mass})
        .set("inertia", inertia(0.1 * mass * size * size / (u_.mass * u_.length * u_.length)))
        .set("position", place(p, size));
  }
  ModelBuilder& joint(const std::string& name, std::string_view type, const std::string& one,
                      const std::string& other, const Vec3& p, double size) {
    return builder_.joint(name, type).set("between", one, other).set("at", place(p, size));
  }
  void sensor(const std::string& name, std::string_view type, const std::string& of, double unit) {
    builder_.sensor(name, type).set("of", of);
    for (int i = 0; i < (type == "joint_angle" ? 1 : 3); ++i) sensor_units.push_back(unit);
  }

  Units u_;
  Vec3 origin_;
  ModelBuilder builder_;
};

struct UnitsCase {
  std::string name;
  std::function<void(Mechanisms&)> add;
  double end = 0.1;
};
const std::vector<UnitsCase>& all_cases() {
  static const std::vector<UnitsCase> cases = {
      {"loop", [](Mechanisms& m) { m.loop("", 1, 1); }},
      {"pendulum", [](Mechanisms& m) { m.pendulum("", 1, 1); }},
      {"rods", [](Mechanisms& m) { m.rods("mass", 1, 1); }},
      {"beam", [](Mechanisms& m) { m.beam("beam", 1, 1); }, 0.001},  // explicit methods need short steps
  };
  return cases;
}

// Sensors as numbers: divided by what they are made of.
std::vector<double> as_numbers(const double* values, const std::vector<double>& units) {
  std::vector<double> out;
  for (std::size_t i = 0; i < units.size(); ++i) out.push_back(values[i] / units[i]);
  return out;
}
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double out = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::abs(a[i] - b[i]);
    out = std::isfinite(d) ? std::max(out, d) : INFINITY;
  }
  return out;
}

// The sensors at the end of a short run, as numbers; empty if it failed.
std::vector<double> run(const UnitsCase& which, const Units& units, const Vec3& origin,
                        const std::string& integrator, const std::string& formulation, long* iterations) {
  Mechanisms mechanisms(units, origin);
  which.add(mechanisms);
  SimulateOptions options;
  options.end = which.end / units.time;
  options.step = 0.1 * which.end / units.time;
  options.output_every = 0;
  options.integrator = integrator;
  const Result result = simulate(make_system(mechanisms.finish(), formulation), options);
  EXPECT_TRUE(result.summary.completed)
      << which.name << ", " << units.name << ", " << integrator << ": " << result.summary.failure;
  if (!result.summary.completed) return {};
  *iterations = result.summary.newton_iterations;
  const Trajectory& t = result.trajectory;
  std::vector<double> last;
  for (std::size_t i = 0; i < mechanisms.sensor_units.size(); ++i)
    last.push_back(t.at(t.rows() - 1, static_cast<int>(i) + 1));
  return as_numbers(last.data(), mechanisms.sensor_units);
}

TEST(Units, RunsAreTheSameInAllOfThem) {
  const auto& all = all_units();
  for (const UnitsCase& which : all_cases())
    for (const std::string formulation : {"r3so3", "minimal"})
      for (const ListedIntegrator& listed : integrators()) {
        if (which.name == "beam" && formulation == std::string("minimal")) continue;
        const std::string integrator(listed.name);
        long first = 0;
        const std::vector<double> expected =
            run(which, all[0], Vec3::Zero(), integrator, formulation, &first);
        double worst = 0;
        long most = 0;
        for (std::size_t i = 1; i < all.size(); ++i) {
          long iterations = 0;
          worst = std::max(
              worst,
              difference(run(which, all[i], Vec3::Zero(), integrator, formulation, &iterations), expected));
          most = std::max(most, std::abs(iterations - first));
        }
        // Ten times the tolerance of Newton's method: it may stop an iteration earlier or later.
        expect_at_most(worst, 1e-7,
                       fmt::format("{}, {}, {}: {} iterations, {} more or less", which.name, formulation,
                                   integrator, first, most));
      }
}

// Far from the origin places have fewer digits, and accelerations that follow from them by 1/h^2 too.
TEST(Units, RunsAreTheSameFarFromTheOrigin) {
  for (const UnitsCase& which : all_cases())
    for (const std::string integrator : {"generalized-alpha", "esdirk4-6", "lms2", "dopri5"})
      for (const double far : {1e3, 1e6}) {
        long here = 0, there = 0;
        const std::vector<double> expected =
            run(which, all_units()[0], Vec3::Zero(), integrator, "r3so3", &here);
        const Vec3 origin(far, -0.5 * far, 0.25 * far);
        const std::vector<double> found = run(which, all_units()[0], origin, integrator, "r3so3", &there);
        expect_at_most(difference(found, expected), 1e-10 * far,
                       fmt::format("{}, {}, at {:g} lengths: {} iterations instead of {}", which.name,
                                   integrator, far, there, here));
      }
}

// Two mechanisms that have nothing to do with each other: each moves as it does alone.
TEST(Units, AnotherMechanismInTheModelChangesNothing) {
  const auto small = [](Mechanisms& m) { m.pendulum("s", 1e-4, 1e-9); };
  const auto large = [](Mechanisms& m) { m.loop("l", 50, 1e5); };
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const std::string integrator : {"generalized-alpha", "esdirk3-4", "lms2", "bathe"}) {
      SimulateOptions options;
      options.end = 0.02;
      options.step = 1e-4;
      options.output_every = 0;
      options.integrator = integrator;
      const auto of = [&](bool with_small, bool with_large) {
        Mechanisms mechanisms(all_units()[0], Vec3::Zero());
        if (with_small) small(mechanisms);
        if (with_large) large(mechanisms);
        const Result result = simulate(make_system(mechanisms.finish(), formulation), options);
        EXPECT_TRUE(result.summary.completed) << result.summary.failure;
        std::vector<double> last;
        for (std::size_t i = 0; i < mechanisms.sensor_units.size(); ++i)
          last.push_back(result.trajectory.at(result.trajectory.rows() - 1, static_cast<int>(i) + 1) /
                         mechanisms.sensor_units[i]);
        return last;
      };
      std::vector<double> apart = of(true, false);
      const std::vector<double> rest = of(false, true);
      apart.insert(apart.end(), rest.begin(), rest.end());
      // Errors of Newton's method, 1e-8 of the acceleration in each of 200 steps.
      expect_at_most(difference(of(true, true), apart), 1e-5,
                     fmt::format("{}, {}: together - alone", formulation, integrator));
    }
}

TEST(Units, EquilibriaAreTheSameInAllOfThem) {
  for (const UnitsCase& which : all_cases()) {
    std::vector<double> expected;
    for (const Units& units : all_units())
      for (const double far : {0.0, 1e3}) {
        Mechanisms mechanisms(units, Vec3(far, far, far));
        which.add(mechanisms);
        const StaticResult found = find_equilibrium(make_system(mechanisms.finish()));
        ASSERT_TRUE(found.converged) << which.name << ", " << units.name << ": " << found.failure;
        EXPECT_EQ(found.unstable_directions, 0) << which.name << ", " << units.name;
        const std::vector<double> numbers =
            as_numbers(found.steps.back().sensors.data(), mechanisms.sensor_units);
        if (expected.empty()) expected = numbers;
        // Rods that hang straight turn freely, from where they are.
        expect_at_most(difference(numbers, expected), far == 0 ? 1e-9 : 1e-8,
                       fmt::format("{}, {}, at {:g} lengths: {} iterations", which.name, units.name, far,
                                   found.steps.back().iterations));
      }
  }
}

TEST(Units, AnotherMechanismDoesNotChangeTheEquilibrium) {
  const auto of = [&](bool with_small, bool with_large) {
    Mechanisms mechanisms(all_units()[0], Vec3::Zero());
    if (with_small) mechanisms.loop("s", 1e-4, 1e-9);
    if (with_large) mechanisms.loop("l", 50, 1e5);
    const StaticResult found = find_equilibrium(make_system(mechanisms.finish()));
    EXPECT_TRUE(found.converged) << found.failure;
    return as_numbers(found.steps.back().sensors.data(), mechanisms.sensor_units);
  };
  std::vector<double> apart = of(true, false);
  const std::vector<double> rest = of(false, true);
  apart.insert(apart.end(), rest.begin(), rest.end());
  expect_at_most(difference(of(true, true), apart), 1e-9, "two loops: together - alone");
}

// The rows that are left out as redundant, and what is said of initial values that are wrong by a part of the length.
TEST(Units, ChecksAreTheSameInAllOfThem) {
  for (const Units& units : all_units()) {
    Mechanisms mechanisms(units, Vec3::Zero());
    mechanisms.loop("l", 1, 1);
    mechanisms.loop("s", 1e-5, 1e-9);
    mechanisms.rods("r", 1e-5, 1e-9);
    const System system = make_system(mechanisms.finish());
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Check, work);
    EXPECT_TRUE(state.redundant.empty()) << units.name << ": " << row_names(system.model(), state.redundant);
    EXPECT_EQ(subsystems(system, work).count(), 3);
    for (const double wrong : {1e-10, 1e-6}) {
      ModelBuilder builder({0, 0, 0});
      builder.body("a", "rigid")
          .set("mass", {1 / units.mass})
          .set("inertia", {1e-3, 1e-3, 1e-3})
          .set("position", {1 / units.length, 0, 0});
      builder.joint("ball", "spherical").set("between", "ground", "a").set("at", {0, 0, 0});
      builder.joint("rod", "distance")
          .set("between", "ground", "a")
          .set("points", {0, 1 / units.length, 0, 1 / units.length, 0, 0})
          .set("length", {std::sqrt(2.0) * (1 + wrong) / units.length});
      const System other = make_system(builder.finish());
      Work other_work(other);
      const auto check = [&] { consistent_positions(other, 0, {}, other_work); };
      if (wrong < 1e-8)
        EXPECT_NO_THROW(check()) << units.name;
      else
        EXPECT_THROW(check(), InputError) << units.name;
    }
  }
}

// x' = -20 x (x/s)^2 + 5 s cos(7 t): x/s does not depend on s.
TEST(Units, StatesAreTheSameInAllOfThem) {
  for (const double s : {1.0, 0x1p60, 0x1p-60}) {
    ModelBuilder builder({0, 0, 0});
    builder.body("a", "point").set("mass", {1});
    builder.state("x", "expression")
        .set("initial", {2 * s})
        .set("rate", fmt::format("-20*x*(x/{0:.17g})^2 + 5*{0:.17g}*cos(7*t)", s));
    builder.sensor("y", "state").set("of", std::string("x"));
    const auto description = builder.finish();
    for (const std::string integrator : {"generalized-alpha", "esdirk3-4", "lms2"}) {
      SimulateOptions options;
      options.step = 0.01;
      options.output_every = 0;
      options.integrator = integrator;
      const Result result = simulate(make_system(description), options);
      ASSERT_TRUE(result.summary.completed) << result.summary.failure;
      expect_at_most(std::abs(result.trajectory.at(result.trajectory.rows() - 1, 1) / s - 0.561), 5e-3,
                     fmt::format("{}, s = {:g}: x/s - 0.561", integrator, s));
    }
  }
}

}  // namespace
}  // namespace liedyn

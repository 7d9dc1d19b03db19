// Wheels with tyres in motion, against closed forms.
#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

// A tyre whose stiffness and friction do not depend on anything.
struct Rubber {
  double radius = 0.3, stiffness = 2e5, mu = 0.9, slip_stiffness = 6e4, least_speed = 0.05;

  void add(ModelBuilder& b, const std::string& name, const std::string& wheel, const Vec3& center,
           const Vec3& axis) const {
    b.force(name, "tyre").set("between", "ground", wheel);
    b.set("points", {0, 0, 0, center.x(), center.y(), center.z()}).set("normal", {0, 0, 1}).set("axis", axis);
    b.set("radius", {radius}).set("stiffness", {stiffness}).set("damping", {0.02}).set("friction", {mu});
    b.set("longitudinal_stiffness", {slip_stiffness}).set("cornering_stiffness", {slip_stiffness});
    b.set("minimum_speed", {least_speed});
  }
};

// A wheel that slides without spin begins to roll. Angular momentum about the point of contact gives v/(1 + J/(m r^2)), whatever the tyre is.
TEST(TyreMotion, ASlidingWheelEndsRolling) {
  constexpr double m = 20, J = 1.1, v = 10;
  const Rubber rubber;
  const double r = rubber.radius - m * kGravity / rubber.stiffness;
  ModelBuilder b;
  b.body("wheel", "rigid").set("mass", {m}).set("inertia", {0.6, J, 0.6});
  b.set("position", {0, 0, r}).set("velocity", {v, 0, 0});
  rubber.add(b, "tyre", "wheel", {0, 0, r}, {0, 1, 0});
  b.sensor("velocity", "velocity").set("of", std::string("wheel"));
  b.sensor("spin", "angular_velocity").set("of", std::string("wheel"));
  const System system = make_system(b.finish());
  for (const std::string method : {"generalized-alpha,rho=0.8", "esdirk4-6,adaptive=true,rtol=1e-8"}) {
    const WholeRun run(system, method, 2, 5e-4);
    const double rolling = v / (1 + J / (m * r * r));
    expect_at_most(std::abs(run.sensors[0] - rolling) / rolling, 1e-6, method + ": speed");
    expect_at_most(std::abs(run.sensors[4] * r - rolling) / rolling, 1e-6, method + ": spin");
  }
}

// A locked wheel under the load N slides with the deceleration mu N/m, down to speeds of about v_0/theta.
TEST(TyreMotion, ALockedWheelStopsWithTheFrictionOfItsLoad) {
  constexpr double m = 300, v = 10, depth = 0.01;
  const Rubber rubber;
  const double load = rubber.stiffness * depth, a = rubber.mu * load / m, z = rubber.radius - depth;
  ModelBuilder b({0, 0, 0});
  b.body("wheel", "rigid").set("mass", {m}).set("inertia", {1, 1, 1});
  b.set("position", {0, 0, z}).set("velocity", {v, 0, 0});
  b.joint("guide", "prismatic").set("between", "ground", "wheel").set("at", {0, 0, z}).set("axis", {1, 0, 0});
  rubber.add(b, "tyre", "wheel", {0, 0, z}, {0, 1, 0});
  b.sensor("position", "position").set("of", std::string("wheel"));
  b.sensor("velocity", "velocity").set("of", std::string("wheel"));
  const System system = make_system(b.finish());
  const double T = v / a;
  const WholeRun slides(system, "generalized-alpha,rho=0.8", 0.9 * T, T / 1000);
  expect_at_most(std::abs(slides.sensors[3] - 0.1 * v), 1e-9, "speed while it slides");
  expect_at_most(std::abs(slides.sensors[0] - (v * 0.9 * T - 0.405 * a * T * T)), 1e-8, "distance");
  // The rest takes no time worth mentioning: m v' = -(C/v_0) v.
  const WholeRun stands(system, "generalized-alpha,rho=0.8", 1.2 * T, T / 1000);
  expect_at_most(std::abs(stands.sensors[3]), 1e-9, "speed after it has stopped");
  expect_at_most(std::abs(stands.sensors[0] - v * v / (2 * a)), rubber.least_speed * rubber.least_speed / a,
                 "stopping distance - v^2/2a");
}

// On a circle a car with the distances a, b of its axles from the centre of mass and the cornering stiffnesses C_f, C_r of the axles needs the
// steering angle delta = l/R + K a_y with K = (m/l) (b/C_f - a/C_r): its yaw rate is v delta/(l + K v^2).
TEST(TyreMotion, ACarTurnsAsTheBicycleModelSays) {
  constexpr double m = 1200, v = 25, delta = 2e-5, half_track = 0.75, wheel_mass = 1e-3;
  for (const auto& [a, b] : {std::pair{1.2, 1.5}, std::pair{1.5, 1.2}}) {
    const Rubber rubber;
    const double front = m * kGravity * b / (a + b) / 2,
                 rear = m * kGravity * a / (a + b) / 2;  // loads of one wheel
    ModelBuilder car;
    car.body("car", "rigid").set("mass", {m}).set("inertia", {400, 1500, 1800});
    // The tyres have sunk in differently in front and behind: the car stands level on wheels at these heights.
    const double height = rubber.radius;
    car.set("position", {0, 0, height}).set("velocity", {v, 0, 0});
    for (const bool is_front : {true, false})
      for (const double side : {-1.0, 1.0}) {
        const std::string name =
            fmt::format("{}_{}", is_front ? "front" : "rear", side > 0 ? "left" : "right");
        const double sink = (is_front ? front : rear) / rubber.stiffness, z = rubber.radius - sink;
        const Vec3 center(is_front ? a : -b, side * half_track, z);
        const double angle = is_front ? delta : 0;
        const Vec3 axis(-std::sin(angle), std::cos(angle), 0);
        car.body(name, "rigid").set("mass", {wheel_mass}).set("inertia", {1e-3, 1e-3, 1e-3});
        car.set("position", center).set("velocity", {v, 0, 0}).set("angular_velocity", v / z * axis);
        car.joint("axle_" + name, "revolute").set("between", "car", name).set("at", center).set("axis", axis);
        rubber.add(car, "tyre_" + name, name, center, axis);
      }
    car.sensor("yaw", "angular_velocity").set("of", std::string("car"));
    car.sensor("velocity", "velocity").set("of", std::string("car"));
    const WholeRun run(make_system(car.finish()), "generalized-alpha,rho=0.7", 4, 2e-3);
    const double C = 2 * rubber.slip_stiffness, K = m / (a + b) * (b / C - a / C),
                 expected = v * delta / (a + b + K * v * v);
    expect_at_most(std::abs(run.sensors[2] - expected) / expected, 1e-3,
                   fmt::format("a = {}, K = {:.4f}: yaw rate, relative", a, K));
    expect_at_most(std::abs(run.sensors[3] - v) / v, 1e-4, "speed, relative");
  }
}

}  // namespace
}  // namespace liedyn

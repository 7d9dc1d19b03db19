// For tests only: whole runs, and the order that their errors show.
#pragma once

#include "liedyn/integrators/driver.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {

inline std::vector<std::string> listed_integrators() {
  std::vector<std::string> out;
  for (const ListedIntegrator& listed : integrators()) out.push_back(listed.name);
  return out;
}
inline const std::vector<std::string> kIndexForms = {"3", "2", "stabilized"};

// A run from consistent initial values to `end`. The observer may be empty.
struct WholeRun {
  WholeRun(const System& system, const std::string& integrator_text, double end, double step,
           const std::function<void(const State&, Work&)>& observe = {})
      : integrator(make_integrator(system, integrator_text)), work(system, "auto", integrator->form()) {
    Work initial_work(system);
    state = consistent_state(system, 0, InitialPolicy::Check, initial_work);
    if (observe) observe(state, work);
    report = drive(*integrator, system, {end, step}, state, work, [&](const State& now, long) {
      if (observe) observe(now, work);
      return true;
    });
    EXPECT_TRUE(report.completed) << report.failure;
    sensors = sensed(system, state, work);
  }

  std::unique_ptr<Integrator> integrator;
  Work work;
  State state;
  DriveReport report;
  std::vector<double> sensors;  // at the end
};

// Errors at steps that halve from one to the next.
inline double order_of(const std::vector<double>& errors) {
  return std::log2(errors.front() / errors.back()) / static_cast<double>(errors.size() - 1);
}

// (4 y(h/2) - y(h))/3: the value of a method of second order without its leading error.
inline Eigen::VectorXd extrapolated(const std::vector<double>& coarse, const std::vector<double>& fine) {
  return (4 * as_vector(fine) - as_vector(coarse)) / 3;
}

// The heavy top, and an independent integration of it to compare with.
namespace heavy_top {

inline const Vec3 kFreeFall(0, 0, -9.81);
inline const Vec3 kCenter(0, 1, 0);  // from the fixed point, body axes
inline constexpr double kMass = 15;

inline std::shared_ptr<const Description> description() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.sensor("position", "position").set("of", std::string("top"));
  builder.sensor("velocity", "velocity").set("of", std::string("top"));
  builder.sensor("angular_velocity", "angular_velocity").set("of", std::string("top"));
  builder.sensor("pivot_force", "reaction_force").set("of", std::string("pivot"));
  builder.sensor("pivot_force_body", "reaction_force")
      .set("of", std::string("pivot"))
      .set("axes", std::string("body"));
  return builder.finish();
}

// What the sensors show, in their order.
struct Sample {
  Vec3 position, velocity, omega, force;
};
inline Sample sample_of(const std::vector<double>& s) {
  const auto v = as_vector(s);
  return {v.segment<3>(0), v.segment<3>(3), v.segment<3>(6), v.segment<3>(9)};
}

// J_0 Omega' + Omega x J_0 Omega = c x R^T m g with the inertia J_0 about the fixed point, by the classical Runge-Kutta method
// with steps so small that its error is round-off.
class Reference {
 public:
  static constexpr double kSpacing = 1.25e-4;  // of the samples

  static const std::vector<Sample>& samples() {
    static const std::vector<Sample> all = integrate();
    return all;
  }
  static const Sample& at(double t) { return samples()[static_cast<std::size_t>(std::lround(t / kSpacing))]; }

 private:
  using Unknowns = Eigen::Matrix<double, 7, 1>;  // quaternion (w, x, y, z), Omega

  static Vec3 angular_acceleration(const Mat3& R, const Vec3& omega) {
    const Mat3 J_0 = Vec3(0.234375, 0.46875, 0.234375).asDiagonal().toDenseMatrix() -
                     kMass * skew(kCenter) * skew(kCenter);
    return J_0.diagonal().cwiseInverse().cwiseProduct(kCenter.cross(R.transpose() * kMass * kFreeFall) -
                                                      omega.cross(J_0 * omega));
  }
  static Eigen::Quaterniond rotation(const Unknowns& y) {
    return Eigen::Quaterniond(y[0], y[1], y[2], y[3]).normalized();
  }
  static Unknowns slope(const Unknowns& y) {
    const Eigen::Quaterniond q = rotation(y), rate = q * Eigen::Quaterniond(0, y[4] / 2, y[5] / 2, y[6] / 2);
    Unknowns out;
    out << rate.w(), rate.x(), rate.y(), rate.z(), angular_acceleration(q.toRotationMatrix(), y.tail<3>());
    return out;
  }
  static Sample sample(const Unknowns& y) {
    const Mat3 R = rotation(y).toRotationMatrix();
    const Vec3 omega = y.tail<3>(), alpha = angular_acceleration(R, omega);
    const Vec3 acceleration = R * (alpha.cross(kCenter) + omega.cross(omega.cross(kCenter)));
    return {R * kCenter, R * omega.cross(kCenter), omega, kMass * (acceleration - kFreeFall)};
  }
  static std::vector<Sample> integrate() {
    constexpr int kSubsteps = 8;
    constexpr double h = kSpacing / kSubsteps;
    Unknowns y;
    y << 1, 0, 0, 0, 0, 150, -4.61538;
    std::vector<Sample> out = {sample(y)};
    for (int n = 0; n < 8000; ++n) {
      for (int k = 0; k < kSubsteps; ++k) {
        const Unknowns k1 = slope(y), k2 = slope(y + h / 2 * k1), k3 = slope(y + h / 2 * k2),
                       k4 = slope(y + h * k3);
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      }
      out.push_back(sample(y));
    }
    return out;
  }
};

// Maxima over the run of the relative errors, as in Fig. 6 of Arnold, Cardona, Brüls.
struct Errors {
  double position = 0, velocity = 0, force = 0, late_force = 0, end_position = 0;
};
inline Errors errors_of(const System& system, const std::string& integrator, double h) {
  Errors out;
  const auto observe = [&](const State& now, Work& work) {
    const Sample s = sample_of(sensed(system, now, work));
    const Sample& exact = Reference::at(now.t);
    const double velocity = std::hypot((s.velocity - exact.velocity).norm(), (s.omega - exact.omega).norm());
    out.end_position = (s.position - exact.position).norm();
    out.position = std::max(out.position, out.end_position);
    out.velocity = std::max(out.velocity, velocity / std::hypot(exact.velocity.norm(), exact.omega.norm()));
    const double force = (s.force - exact.force).norm() / exact.force.norm();
    out.force = std::max(out.force, force);
    if (now.t >= 0.5 - 1e-9) out.late_force = std::max(out.late_force, force);
  };
  WholeRun(system, integrator, 1, h, observe);
  return out;
}

// Errors at t = 1 with `count` steps, each between 1 - spread and 1 + spread times the mean.
inline Errors errors_with_random_steps(const System& system, const std::string& text, int count,
                                       double spread) {
  const std::unique_ptr<Integrator> integrator = make_integrator(system, text);
  Work initial(system), work(system, "auto", integrator->form());
  State state = consistent_state(system, 0, InitialPolicy::Check, initial);
  Random random(7);
  std::vector<double> steps;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    steps.push_back(random.between(1 - spread, 1 + spread));
    sum += steps.back();
  }
  integrator->start(state, steps.front() / sum, work);
  State next = state;
  for (const double step : steps) {
    const Attempt attempt = integrator->step(state, step / sum, next, work);
    EXPECT_TRUE(attempt.converged()) << describe(attempt.corrector, system);
    std::swap(state, next);
  }
  const Sample s = sample_of(sensed(system, state, work));
  const Sample& exact = Reference::at(1);
  return {.position = (s.position - exact.position).norm(),
          .velocity = (s.omega - exact.omega).norm() / exact.omega.norm(),
          .force = (s.force - exact.force).norm() / exact.force.norm()};
}

}  // namespace heavy_top

// A free body under a torque and a force that are functions of time in its own axes: nonlinear and non-autonomous.
namespace free_body {

inline const Vec3 kInertia(1, 1.7, 2.5);
inline const Vec3 kOmega(0.9, -1.1, 0.7);
inline const Vec3 kVelocity(0.3, -0.2, 0.5);
inline constexpr double kMass = 2;
inline const char* const kTorque[] = {"2*cos(3*t) - 1", "1 + 3*sin(2*t)", "0.5 - 4*t"};
inline const char* const kForce[] = {"3*sin(4*t)", "2 - t", "cos(5*t)"};

inline Vec3 torque(double t) { return {2 * std::cos(3 * t) - 1, 1 + 3 * std::sin(2 * t), 0.5 - 4 * t}; }
inline Vec3 force(double t) { return {3 * std::sin(4 * t), 2 - t, std::cos(5 * t)}; }

inline std::shared_ptr<const Description> description(bool turns_only) {
  ModelBuilder builder({0, 0, 0});
  if (turns_only)
    builder.body("top", "rotating").set("mass", {kMass}).set("inertia", kInertia);
  else
    builder.body("top", "rigid").set("mass", {kMass}).set("inertia", kInertia).set("velocity", kVelocity);
  builder.set("angular_velocity", kOmega);
  builder.force("motor", "torque").set("on", std::string("top")).set("torque", {0, 0, 0});
  for (int i = 0; i < 3; ++i) builder.expression("torque", i, kTorque[i]);
  builder.set("axes", std::string("body"));
  if (!turns_only) {
    builder.force("push", "force").set("on", std::string("top")).set("force", {0, 0, 0});
    for (int i = 0; i < 3; ++i) builder.expression("force", i, kForce[i]);
    builder.set("axes", std::string("body"));
  }
  builder.sensor("angular_velocity", "angular_velocity").set("of", std::string("top"));
  if (!turns_only) builder.sensor("velocity", "velocity").set("of", std::string("top"));
  return builder.finish();
}

struct EndMotion {
  SO3<double> rotation;
  Vec3 omega, place, velocity;
};

// At t = 1, by the classical Runge-Kutta method in steps so small that only round-off is left.
inline const EndMotion& exact() {
  static const EndMotion end = [] {
    using Unknowns = Eigen::Matrix<double, 13, 1>;  // quaternion, Omega, place, velocity
    const auto slope = [](const Unknowns& y, double t) {
      const Eigen::Quaterniond q(y[0], y[1], y[2], y[3]);
      const Eigen::Quaterniond rate = q * Eigen::Quaterniond(0, y[4] / 2, y[5] / 2, y[6] / 2);
      const Vec3 omega = y.segment<3>(4);
      Unknowns out;
      out << rate.w(), rate.x(), rate.y(), rate.z(),
          (torque(t) - omega.cross(kInertia.cwiseProduct(omega))).cwiseQuotient(kInertia), y.tail<3>(),
          q.normalized() * force(t) / kMass;
      return out;
    };
    Unknowns y;
    y << 1, 0, 0, 0, kOmega, Vec3::Zero(), kVelocity;
    constexpr int kSteps = 4000;
    constexpr double h = 1.0 / kSteps;
    for (int n = 0; n < kSteps; ++n) {
      const double t = n * h;
      const Unknowns k1 = slope(y, t), k2 = slope(y + h / 2 * k1, t + h / 2),
                     k3 = slope(y + h / 2 * k2, t + h / 2), k4 = slope(y + h * k3, t + h);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return EndMotion{SO3<double>::from_quaternion(y[0], {y[1], y[2], y[3]}), y.segment<3>(4), y.segment<3>(7),
                     y.tail<3>()};
  }();
  return end;
}

struct EndErrors {
  double q, v;
};
inline EndErrors errors(const System& system, bool turns_only, const std::string& integrator, double h) {
  const WholeRun run(system, integrator, 1, h);
  const auto s = as_vector(run.sensors);
  EndErrors out;
  out.q = (exact().rotation.inverse() * rotation_of(run.state.q.data())).log().norm();
  out.v = (s.head<3>() - exact().omega).norm();
  if (!turns_only) {
    out.q += (Eigen::Map<const Vec3>(run.state.q.data()) - exact().place).norm();
    out.v += (s.tail<3>() - exact().velocity).norm();
  }
  return out;
}

}  // namespace free_body

}  // namespace liedyn

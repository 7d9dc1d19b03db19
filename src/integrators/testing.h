// For tests only: whole runs, and the order that their errors show.
#pragma once

#include "integrators/driver.h"
#include "system/initial.h"
#include "system/testing.h"

namespace liedyn {

// A run from consistent initial values to `end`. The observer may be empty.
struct Simulation {
  Simulation(const System& system, const std::string& integrator_text, double end, double step,
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

}  // namespace liedyn

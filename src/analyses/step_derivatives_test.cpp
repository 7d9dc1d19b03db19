// Derivatives of a step against finite differences along the group, and products of them against the derivatives of a run.
#include "liedyn/analyses/step_derivatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/base/index.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A body that tumbles, pulled by a spring in a joint-free way, with a first-order state.
std::shared_ptr<const Description> tumbling() {
  ModelBuilder builder;
  builder.parameter("u", 0.3);
  builder.body("top", "rigid")
      .set("mass", {2})
      .set("inertia", {0.3, 0.5, 0.7})
      .set("position", {0.1, 0.2, 0.3});
  builder.set("velocity", {0.4, -0.2, 0.1}).set("angular_velocity", {3, 4, 5});
  builder.sensor("place", "position").set("of", "top");
  builder.sensor("spin", "angular_velocity").set("of", "top");
  builder.force("pull", "force")
      .set("on", "top")
      .set("force", {"-20*place[0] + u", "-30*place[1]", "u*place[2]"});
  builder.force("motor", "torque").set("on", "top").set("torque", {"u", 0, "-0.1*spin[2]"});
  builder.state("charge", "filter").set("input", "u + place[0]").set("time_constant", {0.1});
  return builder.finish();
}

std::shared_ptr<const Description> top_with_position() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.sensor("position", "position").set("of", "top");
  return builder.finish();
}

Simulation started_steps(const System& system, const std::string& integrator, double step) {
  SimulateOptions options;
  options.integrator = integrator;
  options.step = step;
  return Simulation(system, options);
}

// The same step without derivatives, from the state changed in one number; only of a start at x.
State stepped(const System& system, const Simulation& simulation, int number, double by) {
  State from = simulation.state();
  const int positions = system.model().first_state();
  std::vector<double> theta(from.v.size(), 0.0);
  if (number >= 0 && number < positions)
    theta[at(number)] = by;
  else if (number >= 0)
    from.v[at(number - positions)] += by;
  for (const Node& node : system.model().nodes)
    if (node.type != NodeType::State)
      move_by(node.type, Chart::Exponential, theta.data() + node.v, from.q.data() + node.q);
  Work plain(system);
  EXPECT_TRUE(solve_accelerations(system, from, plain));
  const auto integrator = make_integrator(system, simulation.options().integrator);
  Work work(system, "auto", integrator->form());
  integrator->start(from, simulation.next_step(), work);
  State to = from;
  EXPECT_TRUE(integrator->step(from, simulation.next_step(), to, work).converged());
  return to;
}

Eigen::VectorXd difference(const Model& model, const State& a, const State& b) {
  std::vector<double> out;
  for (const Node& node : model.nodes) {
    if (node.type == NodeType::State) continue;
    double theta[6];
    increment_between(node.type, a.q.data() + node.q, b.q.data() + node.q, theta);
    out.insert(out.end(), theta, theta + node_size(node.type).v);
  }
  for (std::size_t i = 0; i < a.v.size(); ++i) out.push_back(b.v[i] - a.v[i]);
  return Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<Eigen::Index>(out.size()));
}

TEST(StepDerivatives, AgreeWithFiniteDifferencesAlongTheGroup) {
  constexpr double d = 1e-4;
  for (const std::string formulation : {"r3so3", "se3", "euler-parameters"})
    for (const std::string method : {"rk44", "dopri5", "generalized-alpha", "lms2", "bathe", "esdirk3-4"}) {
      System system = make_system(tumbling(), formulation);
      Simulation simulation = started_steps(system, method, 5e-3);
      simulation.advance(0.05);
      const StepDerivatives found = step_derivatives(simulation, {"u"});
      ASSERT_EQ(found.A.rows(), 13);
      ASSERT_EQ(found.B.cols(), 1);
      double worst = 0;
      for (int k = 0; k < 13; ++k) {
        const Eigen::VectorXd slope = difference(system.model(), stepped(system, simulation, k, -d),
                                                 stepped(system, simulation, k, d)) /
                                      (2 * d);
        worst = std::max(worst, (slope - found.A.col(k)).cwiseAbs().maxCoeff());
      }
      Params above = system.params(), below = system.params();
      above.set("u", 0.3 + d);
      below.set("u", 0.3 - d);
      const Eigen::VectorXd slope =
          difference(system.model(), stepped(System(system.shared_model(), below), simulation, -1, 0),
                     stepped(System(system.shared_model(), above), simulation, -1, 0)) /
          (2 * d);
      worst = std::max(worst, (slope - found.B.col(0)).cwiseAbs().maxCoeff());
      EXPECT_LT(worst, 1e-6) << method << ", " << formulation;
      EXPECT_GT(found.B.cwiseAbs().maxCoeff(), 1e-4);
    }
}

// The chain rule: the derivative of a run with respect to a velocity at its start is the product of those of its steps.
TEST(StepDerivatives, MultiplyToTheDerivativesOfARun) {
  const System system = make_system(tumbling());
  for (const std::string method : {"rk44", "dopri5"}) {
    SimulateOptions options;
    options.integrator = method;
    options.step = 0.01;
    options.end = 0.2;
    Simulation simulation(system, options, Simulation::End::Fixed);
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(13, 13);
    Eigen::VectorXd by_input = Eigen::VectorXd::Zero(13);
    for (int n = 0; n < 20; ++n) {
      const StepDerivatives found = step_derivatives(simulation, {"u"});
      product = found.A * product;
      by_input = found.A * by_input + found.B.col(0);
      simulation.step();
    }
    SensitivityOptions wanted;
    wanted.simulation = options;
    wanted.parameters = {"bodies.top.angular_velocity[0]", "bodies.top.velocity[1]", "u"};
    wanted.outputs = {"spin[0]", "spin[1]", "spin[2]"};
    const Sensitivity run = sensitivity(system, wanted);
    for (int i = 0; i < 3; ++i) {
      const auto row = static_cast<std::size_t>(i);
      EXPECT_NEAR(product(9 + i, 9), run.derivative(row, 0), 1e-11) << method;
      EXPECT_NEAR(product(9 + i, 7), run.derivative(row, 1), 1e-11) << method;
      EXPECT_NEAR(by_input(9 + i), run.derivative(row, 2), 1e-11) << method;
    }
  }
}

// All numbers of a state, positions as increments from a reference.
Eigen::VectorXd all_values(const Model& model, const State& reference, const State& state) {
  const Eigen::VectorXd moved = difference(model, reference, state).head(model.first_state());
  std::vector<double> out(moved.data(), moved.data() + moved.size());
  for (const auto* part :
       {&state.v, &state.vdot, &state.lambda, &state.eta, &state.y, &state.ydot, &state.yddot, &state.memory})
    out.insert(out.end(), part->begin(), part->end());
  return Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<Eigen::Index>(out.size()));
}

// With all that a method remembers the step is that of the run, for methods with a memory and with constraints.
TEST(StepDerivatives, OfTheWholeStateAgreeWithFiniteDifferences) {
  constexpr double d = 1e-4;
  const System system = make_system(top_with_position());
  const Model& model = system.model();
  for (const std::string method : {"generalized-alpha", "generalized-alpha,index=2", "lms2", "lms3"}) {
    Simulation simulation = started_steps(system, method, 2e-3);
    simulation.advance(0.02);
    const StepDerivatives whole = step_derivatives(simulation, {"bodies.top.mass"}, true);
    const auto image = [&](const System& of, std::vector<double> State::*part, int number, double by) {
      const auto integrator = make_integrator(of, method);
      Work work(of, "auto", integrator->form());
      State from = simulation.state(), scratch = from;
      integrator->start(scratch, simulation.next_step(), work);
      if (part == nullptr) {
        std::vector<double> theta(from.v.size(), 0.0);
        if (number >= 0) theta[at(number)] = by;
        for (const Node& node : model.nodes)
          move_by(node.type, Chart::Exponential, theta.data() + node.v, from.q.data() + node.q);
      } else {
        (from.*part)[at(number)] += by;
      }
      State to = from;
      EXPECT_TRUE(integrator->step(from, simulation.next_step(), to, work).converged());
      return all_values(model, simulation.state(), to);
    };
    double worst = 0;
    const auto compare = [&](const Eigen::VectorXd& slope, const Eigen::VectorXd& column) {
      // The last number that a method remembers is the length of its step.
      const Eigen::Index count = slope.size() - 1;
      worst = std::max(worst, (slope - column).head(count).cwiseAbs().maxCoeff() /
                                  (1 + column.head(count).cwiseAbs().maxCoeff()));
    };
    for (int k = 0; k < model.first_state(); ++k) {
      const auto column = whole.A.col(k);
      compare((image(system, nullptr, k, d) - image(system, nullptr, k, -d)) / (2 * d), column);
    }
    int first = model.first_state();
    for (std::vector<double> State::*part : {&State::v, &State::vdot, &State::lambda}) {
      const auto count = static_cast<int>((simulation.state().*part).size());
      for (int k = 0; k < count; ++k)
        compare((image(system, part, k, d) - image(system, part, k, -d)) / (2 * d), whole.A.col(first + k));
      first += count;
    }
    const auto memory = static_cast<int>(simulation.state().memory.size());
    // Multistep methods begin with how many points they know, and with steps: these select the formula, and nothing is differentiated by them.
    const int settings = method.starts_with("lms") ? 4 : 0;
    for (int k = settings; k + 1 < memory; ++k)
      compare((image(system, &State::memory, k, d) - image(system, &State::memory, k, -d)) / (2 * d),
              whole.A.col(whole.A.cols() - memory + k));
    Params above = system.params(), below = system.params();
    const double mass = above.get(above.find("bodies.top.mass"));
    above.set("bodies.top.mass", mass + d);
    below.set("bodies.top.mass", mass - d);
    compare((image(System(system.shared_model(), above), nullptr, -1, 0) -
             image(System(system.shared_model(), below), nullptr, -1, 0)) /
                (2 * d),
            whole.B.col(0));
    EXPECT_LT(worst, 1e-5) << method;
  }
}

TEST(StepDerivatives, RefuseWhatHasNone) {
  const System system = make_system(tumbling());
  Simulation simulation = started_steps(system, "rk44", 1e-2);
  EXPECT_THROW(step_derivatives(simulation, {"v"}), InputError);
  EXPECT_THROW(step_derivatives(simulation, {"u", "u"}), InputError);
  EXPECT_THROW(step_derivatives(simulation, {"u"}, true), InputError);  // nothing is remembered yet
  EXPECT_EQ(simulation.time(), 0);
}

}  // namespace
}  // namespace liedyn

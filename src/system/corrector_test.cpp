#include "liedyn/system/corrector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

std::shared_ptr<const Description> heavy_top() {
  ModelBuilder builder;
  add_heavy_top(builder);
  return builder.finish();
}

// One step of Newmark's method from the initial state.
class Step {
 public:
  explicit Step(std::shared_ptr<const Description> description, const std::string& formulation = {},
                std::string_view solver = "auto")
      : system(make_system(description, formulation)),
        work(system, solver),
        from(consistent_state(system, 0, InitialPolicy::Check, work)) {
    derive_parameters(system, from);
    to = from;
  }

  CorrectorOutcome solve(const CorrectorOptions& options, double h) {
    Corrector corrector(system, options);
    corrector.prepare(work);
    const Stage stage = newmark_stage(from, h, corrector);
    return solve(corrector, stage, h);
  }
  CorrectorOutcome solve(Corrector& corrector, const Stage& stage, double h) {
    to = from;
    to.t = from.t + h;
    const CorrectorOutcome outcome = corrector.solve(stage, h, from, to, work);
    theta = corrector.theta;
    return outcome;
  }

  System system;
  Work work;
  State from, to;
  std::vector<double> theta;  // where the corrector stopped
};

// theta after each iteration, the last one converged as far as it goes.
std::vector<std::vector<double>> iterates(Step& step, CorrectorOptions options, double h) {
  std::vector<std::vector<double>> out;
  options.relative = 1e-14;
  for (options.max_iterations = 0; options.max_iterations < 30; ++options.max_iterations) {
    const bool converged = step.solve(options, h).converged();
    out.push_back(step.theta);
    if (converged) break;
  }
  return out;
}

// Distances of the iterates from the last one, those above round-off.
std::vector<double> error_history(Step& step, const CorrectorOptions& options, double h,
                                  const std::string& title) {
  const auto all = iterates(step, options, h);
  std::vector<double> errors;
  std::string text;
  for (const auto& theta : all) {
    const double error = (as_vector(theta) - as_vector(all.back())).cwiseAbs().maxCoeff();
    if (error < 1e-13) break;
    errors.push_back(error);
    text += fmt::format(" {:.1e}", error);
  }
  fmt::print("  {}: errors of theta{}\n", title, text);
  return errors;
}

TEST(Newton, IsQuadraticWithTheFullMatrix) {
  for (const std::string& formulation : formulations_in_the_large()) {
    Step step(heavy_top(), formulation);
    const auto e = error_history(step, {}, 1e-2, formulation + ", full");
    ASSERT_GE(e.size(), 2u);
    // From one error to the next, squared up to a constant; the last may be round-off.
    for (std::size_t i = 0; i + 1 < e.size(); ++i)
      EXPECT_LT(e[i + 1], std::max(10 * e[i] * e[i], 1e-11)) << formulation;
  }
}

TEST(Newton, ConvergesLinearlyWithSimplifiedOrKeptMatrices) {
  CorrectorOptions simplified, modified;
  simplified.simplified = true;
  modified.renewal = MatrixRenewal::WhenSlow;
  for (const std::string& formulation : formulations())
    for (const auto& [options, name] :
         {std::pair{simplified, "simplified"}, std::pair{modified, "modified"}}) {
      Step step(heavy_top(), formulation);
      const auto full = iterates(step, {}, 1e-3).back();
      const auto e = error_history(step, options, 1e-3, fmt::format("{}, {}", formulation, name));
      // Slowest: simplified on SE(3), where the operators act on positions too.
      for (std::size_t i = 0; i + 1 < e.size(); ++i)
        EXPECT_LT(e[i + 1], 0.1 * e[i]) << formulation << ", " << name;
      expect_at_most((as_vector(step.theta) - as_vector(full)).cwiseAbs().maxCoeff(), 1e-12,
                     fmt::format("{}, {}: other solution than full Newton", formulation, name));
    }
}

TEST(ModifiedNewton, KeepsItsMatrixWhileItContractsAndMakesANewOneWhenNot) {
  CorrectorOptions options;
  options.renewal = MatrixRenewal::WhenSlow;
  Step step(heavy_top());
  Corrector corrector(step.system, options);
  const double h = 1e-3;
  int jacobians = 0, iterations = 0, steps_with_kept_matrix = 0, renewed = 0;
  for (int n = 0; n < 300; ++n) {
    const CorrectorOutcome outcome = step.solve(corrector, newmark_stage(step.from, h, corrector), h);
    ASSERT_TRUE(outcome.converged()) << describe(outcome, step.system);
    jacobians += outcome.jacobians;
    iterations += outcome.iterations;
    steps_with_kept_matrix += outcome.jacobians == 0 ? 1 : 0;
    renewed += n > 0 && outcome.jacobians > 0 ? 1 : 0;
    std::swap(step.from, step.to);
  }
  fmt::print("  300 steps: {} iterations, {} matrices, {} steps with a kept matrix, {} with a renewed one\n",
             iterations, jacobians, steps_with_kept_matrix, renewed);
  EXPECT_GT(steps_with_kept_matrix, 100);
  EXPECT_GT(renewed, 0);  // the top turns by 45 rad: no matrix lasts

  // Another step size is another matrix.
  const CorrectorOutcome outcome = step.solve(corrector, newmark_stage(step.from, 2 * h, corrector), 2 * h);
  EXPECT_TRUE(outcome.converged());
  EXPECT_GE(outcome.jacobians, 1);
}

// A pendulum in a step of half its period, thrown to any angle by the predictor: in sin(theta) Newton's method without damping
// jumps from side to side.
TEST(LineSearch, ConvergesFromBadPredictors) {
  ModelBuilder builder;
  builder.body("bob", "rotating")
      .set("mass", {1})
      .set("inertia", {0.1, 0.1, 0.1})
      .set("reference", {1, 0, 0});
  Step step(builder.finish());
  CorrectorOptions plain, damped;
  plain.max_iterations = damped.max_iterations = 50;
  damped.line_search = true;
  const double h = 1;
  int plain_converged = 0, damped_converged = 0, plain_iterations = 0, damped_iterations = 0;
  constexpr int kPredictors = 100;
  Random random(11);
  for (int i = 0; i < kPredictors; ++i) {
    const Vec3 wrong = 3 * random.vector<3>();
    for (const bool search : {false, true}) {
      Corrector corrector(step.system, search ? damped : plain);
      const Stage stage = newmark_stage(step.from, h, corrector);
      for (int k = 0; k < 3; ++k) corrector.theta[static_cast<std::size_t>(k)] = wrong[k];
      const CorrectorOutcome outcome = step.solve(corrector, stage, h);
      if (!outcome.converged()) continue;
      (search ? damped_converged : plain_converged) += 1;
      (search ? damped_iterations : plain_iterations) += outcome.iterations;
    }
  }
  fmt::print("  of {} bad predictors: plain {} ({} iterations), with line search {} ({} iterations)\n",
             kPredictors, plain_converged, plain_iterations, damped_converged, damped_iterations);
  EXPECT_GE(damped_converged, 95);
  EXPECT_LT(plain_converged, 80);
}

TEST(Failure, NamesTheEquationOfMotionThatIsWorst) {
  Step step(heavy_top());
  CorrectorOptions options;
  options.max_iterations = 0;
  Corrector corrector(step.system, options);
  const Stage stage = newmark_stage(step.from, 1e-3, corrector);
  step.from.lambda[1] += 1e4;
  const CorrectorOutcome outcome = step.solve(corrector, stage, 1e-3);
  const std::string text = describe(outcome, step.system);
  fmt::print("  {}\n", text);
  EXPECT_EQ(outcome.failure, CorrectorFailure::TooManyIterations);
  EXPECT_THAT(text, testing::HasSubstr("did not converge in 0 iterations"));
  EXPECT_THAT(text, testing::HasSubstr("'bodies.top: force y'"));
  EXPECT_NEAR(outcome.residual, -1e4, 1e3);
}

TEST(Failure, NamesTheConstraintThatIsWorst) {
  Step step(heavy_top());
  CorrectorOptions options;
  options.max_iterations = 0;
  Corrector corrector(step.system, options);
  const Stage stage{.c_1 = 1e-6, .c_2 = 0, .c_v = 1e-3};
  newmark_stage(step.from, 1e-3, corrector);
  // All moves along with the place: no acceleration shows it, only the joint.
  corrector.theta[2] += 0.25;
  corrector.Theta[2] += 0.25;
  const std::string text = describe(step.solve(corrector, stage, 1e-3), step.system);
  fmt::print("  {}\n", text);
  EXPECT_THAT(text, testing::HasSubstr("'joints.pivot: position z'"));
  EXPECT_THAT(text, testing::HasSubstr("-0.25"));
}

TEST(Failure, NamesTheEquationThatIsNotFinite) {
  ModelBuilder builder;
  builder.body("a", "point").set("mass", {1});
  builder.body("b", "point").set("mass", {1});
  builder.force("bad", "force")
      .set("on", std::string("b"))
      .set("force", {0, 0, 0})
      .expression("force", 1, "sqrt(0.5 - t)");
  Step step(builder.finish());
  const CorrectorOutcome outcome = step.solve({}, 1);
  const std::string text = describe(outcome, step.system);
  fmt::print("  {}\n", text);
  EXPECT_EQ(outcome.failure, CorrectorFailure::NotFinite);
  EXPECT_THAT(text, testing::HasSubstr("'bodies.b: force"));
}

TEST(Failure, NamesTheEquationThatMakesTheMatrixSingular) {
  for (const char* solver : {"dense", "klu"}) {
    ModelBuilder builder;
    builder.body("heavy", "point").set("mass", {1});
    builder.body("ghost", "point").set("mass", {0}).set("position", {1, 0, 0});
    const System system = make_system(builder.finish());
    Work work(system, solver);
    State from = described_state(system), to = from;
    to.t = 0.1;
    Corrector corrector(system, {});
    const CorrectorOutcome outcome =
        corrector.solve(newmark_stage(from, 0.1, corrector), 0.1, from, to, work);
    const std::string text = describe(outcome, system);
    fmt::print("  {}: {}\n", solver, text);
    EXPECT_EQ(outcome.failure, CorrectorFailure::Singular);
    EXPECT_THAT(text, testing::HasSubstr("'bodies.ghost: force"));
  }
}

TEST(Corrector, SolvesTheSameStepWithBothSolvers) {
  ModelBuilder builder;
  add_chain(builder, 6);
  const auto description = builder.finish();
  Step dense(description, {}, "dense"), klu(description, {}, "klu");
  CorrectorOptions options;
  options.relative = 1e-12;
  EXPECT_TRUE(dense.solve(options, 1e-3).converged());
  EXPECT_TRUE(klu.solve(options, 1e-3).converged());
  expect_at_most(relative_difference(as_vector(dense.to.vdot), as_vector(klu.to.vdot)), 1e-10,
                 "accelerations, dense - klu");
  expect_at_most(relative_difference(as_vector(dense.to.lambda), as_vector(klu.to.lambda)), 1e-10,
                 "multipliers, dense - klu");
}

}  // namespace
}  // namespace liedyn

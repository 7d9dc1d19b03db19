// Searches whose answers are known.

#include "liedyn/analyses/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/base/error.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using ::testing::HasSubstr;

// A stone thrown from the ground: it lands v_x v_z 2/g away.
std::shared_ptr<const Description> stone() {
  ModelBuilder builder;
  builder.body("stone", "point").set("mass", {1}).set("position", {0, 0, 0}).set("velocity", {1, 0, 5});
  builder.sensor("place", "position").set("of", std::string("stone"));
  return builder.finish();
}

Study thrown_stone() {
  Study study;
  study.simulation.integrator = "generalized-alpha";
  study.simulation.step = 0.01;
  study.simulation.end = 1;
  study.variables = {{"vx", {"bodies.stone.velocity[0]"}, 1, 0, 20},
                     {"vz", {"bodies.stone.velocity[2]"}, 5, 0, 20}};
  return study;
}

Optimum search(const Study& study, const System& system) {
  return optimize(system, study, [](const StudyPoint&, bool) { return true; });
}

TEST(Optimize, FindsTheThrowOfLeastSpeedThatHitsATarget) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.outputs = {{"far", "place[0]@end"}, {"high", "place[2]@end"}};
  study.minimize = "vx^2 + vz^2";
  study.constraints = {{"far", "far", 3, 3}, {"high", "high", 0.5, std::numeric_limits<double>::infinity()}};
  for (const std::string gradient : {"direct", "adjoint"}) {
    study.gradient = gradient;
    const Optimum found = search(study, system);
    EXPECT_TRUE(found.converged) << found.reason;
    EXPECT_EQ(found.gradient, gradient);
    // After 1 s: vx = 3, and vz - g/2 = 0.5.
    EXPECT_NEAR(found.best.variables[0], 3, 1e-6);
    EXPECT_NEAR(found.best.variables[1], 0.5 + 9.81 / 2, 1e-6);
    EXPECT_NEAR(found.outputs[0], 3, 1e-6);
    fmt::print("  {}: {} evaluations\n", gradient, found.evaluations);
  }
}

TEST(Optimize, FitsDataThatTheModelCanMeet) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  Study::Data data{"place[2]", 1, {}, {}};
  for (const double t : {0.0, 0.105, 0.33, 0.5, 0.777, 1.0}) {
    data.times.push_back(t);
    data.values.push_back(7.5 * t - 9.81 / 2 * t * t);
  }
  study.data = {data};
  study.variables.erase(study.variables.begin());
  for (const std::string method : {"slsqp", "lbfgs", "mma"}) {
    study.method = method;
    study.tolerance = 1e-9;
    const Optimum found = search(study, system);
    EXPECT_TRUE(found.converged) << method << ": " << found.reason;
    EXPECT_NEAR(found.best.variables[0], 7.5, 1e-4) << method;
    EXPECT_LT(found.misfit, 1e-8) << method;
    EXPECT_EQ(found.history.front().variables[0], 5);
    fmt::print("  {}: {} evaluations, misfit {:.1e}\n", method, found.evaluations, found.misfit);
  }
}

TEST(Optimize, OneVariableMayStandForSeveralNumbers) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.variables = {{"v", {"bodies.stone.velocity[0]", "bodies.stone.velocity[1]"}, 1, -10, 10}};
  study.outputs = {{"x", "place[0]"}, {"y", "place[1]"}};
  study.minimize = "(x - 1)^2 + (y - 3)^2";
  const Optimum found = search(study, system);
  EXPECT_NEAR(found.best.variables[0], 2, 1e-5);
}

TEST(Optimize, StopsWhenAsked) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.outputs = {{"x", "place[0]"}};
  study.minimize = "(x - 7)^2";
  int seen = 0;
  const Optimum found = optimize(system, study, [&](const StudyPoint&, bool) { return ++seen < 2; });
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.reason, "interrupted");
}

TEST(Optimize, NeedsAStartWithANumber) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.outputs = {{"x", "place[0]"}};
  study.minimize = "sqrt(vx - 20)*x";
  EXPECT_THROW(search(study, system), NumericalError);
}

// Masses below zero are refused by the model: trials there are bad points, and the optimisation is running.
TEST(Optimize, SurvivesValuesThatTheModelRefuses) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.variables = {{"m", {"bodies.stone.mass"}, 3, -50, 50},
                     {"vx", {"bodies.stone.velocity[0]"}, 1, 0, 20}};
  study.outputs = {{"far", "place[0]"}};
  study.minimize = "(m - 0.2)^2 + (far - 2)^2";
  const Optimum found = search(study, system);
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_GT(found.failed, 0);
  EXPECT_NEAR(found.best.variables[0], 0.2, 1e-3);
  EXPECT_NEAR(found.best.variables[1], 2, 1e-3);
  int failed = 0;
  for (const StudyPoint& point : found.history) {
    EXPECT_EQ(point.failure.empty(), std::isfinite(point.objective));
    failed += point.failure.empty() ? 0 : 1;
  }
  EXPECT_EQ(failed, found.failed);
  // At the start it is the user's mistake.
  study.variables[0].initial = -1;
  EXPECT_THROW(search(study, system), InputError);
}

TEST(Optimize, EndsWhereNothingHoldsTheVariables) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.variables = {{"vx", {"bodies.stone.velocity[0]"}, 1}};
  study.minimize = "vx";
  study.evaluations = 2000;
  const Optimum found = search(study, system);
  EXPECT_FALSE(found.converged);
  EXPECT_THAT(found.reason, HasSubstr("give them bounds"));
  EXPECT_TRUE(std::isfinite(found.best.objective));
  fmt::print("  {} evaluations: {}\n", found.history.size(), found.reason);
}

TEST(Optimize, SaysWhichConstraintCannotBeMet) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.variables = {{"vx", {"bodies.stone.velocity[0]"}, 15, 10, 20},
                     {"vz", {"bodies.stone.velocity[2]"}, 5, 0, 20}};
  study.minimize = "vx + (vz - 7)^2";
  study.constraints = {{"slow", "vx", -std::numeric_limits<double>::infinity(), 5}};
  const Optimum found = search(study, system);
  EXPECT_FALSE(found.converged);
  EXPECT_THAT(found.reason, HasSubstr("'slow' is 10 and must be at most 5"));
  // Of points that violate it equally, the one with the lowest objective.
  for (const StudyPoint& point : found.history)
    EXPECT_TRUE(point.violation > found.best.violation || point.objective >= found.best.objective);
}

// z = v t - g/2 t^2 is linear in v: its variance is s^2/sum t^2, s^2 = sum r^2/(N - 1).
TEST(Optimize, EstimatesHowWellAFitIsDetermined) {
  const System system = make_system(stone());
  Study study = thrown_stone();
  study.variables.erase(study.variables.begin());
  Study::Data data{"place[2]", 1, {}, {}};
  const std::vector<double> noise = {0.01, -0.02, 0.015, 0.005, -0.01};
  double tt = 0, tr = 0, rr = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double t = 0.2 * static_cast<double>(i + 1);
    data.times.push_back(t);
    data.values.push_back(7.5 * t - 9.81 / 2 * t * t + noise[i]);
    tt += t * t, tr += t * noise[i], rr += noise[i] * noise[i];
  }
  study.data = {data};
  study.tolerance = 1e-9;
  const Optimum found = search(study, system);
  const double left = rr - tr * tr / tt;
  EXPECT_NEAR(found.best.variables[0], 7.5 + tr / tt, 1e-6);
  ASSERT_EQ(found.deviations.size(), 1U);
  EXPECT_NEAR(found.deviations[0], std::sqrt(left / 4 / tt), 1e-6);
  EXPECT_NEAR(found.residuals.at(0), std::sqrt(left / 5), 1e-7);
}

TEST(Optimize, SaysWhatIsWrongWithAStudy) {
  const System system = make_system(stone());
  const auto message = [&](const auto& change) {
    Study study = thrown_stone();
    study.outputs = {{"far", "place[0]"}};
    study.minimize = "far";
    change(study);
    try {
      search(study, system);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](Study&) {}), "");
  EXPECT_THAT(message([](Study& s) { s.minimize = "fa"; }), HasSubstr("fa"));
  EXPECT_THAT(message([](Study& s) { s.minimize = ""; }), HasSubstr("data to fit"));
  EXPECT_THAT(message([](Study& s) { s.variables.clear(); }), HasSubstr("at least one variable"));
  EXPECT_THAT(message([](Study& s) { s.variables[0].initial = 50; }), HasSubstr("from 0 to 20"));
  EXPECT_THAT(message([](Study& s) { s.variables[0].parameters = {"bodies.stone.mas"}; }), HasSubstr("mass"));
  EXPECT_THAT(message([](Study& s) { s.outputs[0].output = "place"; }), HasSubstr("one component"));
  EXPECT_THAT(message([](Study& s) { s.outputs[0].name = "vx"; }), HasSubstr("share"));
  EXPECT_THAT(message([](Study& s) { s.variables[1].parameters = s.variables[0].parameters; }),
              HasSubstr("the variable 'vx'"));
  EXPECT_THAT(message([](Study& s) { s.variables[0].lower = 30; }), HasSubstr("lower bound"));
  EXPECT_THAT(message([](Study& s) { s.minimize = "misfit"; }), HasSubstr("no data"));
  EXPECT_THAT(message([](Study& s) { s.tolerance = 2; }), HasSubstr("between 0 and 1"));
  EXPECT_THAT(message([](Study& s) {
                s.data = {{"place[0]", -1, {0.5}, {0.0}}};
              }),
              HasSubstr("not negative"));
  EXPECT_THAT(message([](Study& s) { s.method = "simplex"; }), HasSubstr("slsqp"));
  EXPECT_THAT(message([](Study& s) { s.constraints = {{"c", "far"}}; }), HasSubstr("at_least"));
  EXPECT_THAT(message([](Study& s) {
                s.method = "lbfgs";
                s.constraints = {{"c", "far", 0, 1}};
              }),
              HasSubstr("bounds only"));
  EXPECT_THAT(message([](Study& s) {
                s.data = {{"place[0]", 1, {2.0}, {0.0}}};
              }),
              HasSubstr("times from 0 to 1"));
}

}  // namespace
}  // namespace liedyn

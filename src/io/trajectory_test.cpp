// Trajectories: limits, waypoints, continuity and rest by fine sampling of what the reader writes, and closed forms.
#include "liedyn/io/trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/time_jet.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

using Samples = std::vector<double>;

// The function of time as models have it.
Expression expression_of(const TimedWaypoints& trajectory, std::size_t coordinate) {
  std::string text = "spline(t";
  for (std::size_t k = 0; k < trajectory.times.size(); ++k)
    text += fmt::format(", {}, {}", trajectory.times[k], trajectory.values[coordinate][k]);
  return Expression::parse(text + ")", std::vector<std::string>{"t"});
}
TimeJet at(const Expression& f, double t) {
  const std::array<TimeJet, 1> variables = {time_variable(t)};
  return f.evaluate<TimeJet>(variables);
}

struct Extremes {
  double speed = 0, acceleration = 0, jump = 0;  // relative to the limits
};
Extremes sampled(const TimedWaypoints& trajectory, std::size_t coordinate, double speed,
                 double acceleration) {
  constexpr int kSamples = 20000;
  const Expression f = expression_of(trajectory, coordinate);
  const double start = trajectory.times.front(), duration = trajectory.times.back() - start;
  Extremes out;
  double last = 0;
  const auto look = [&](double t) {
    const TimeJet y = at(f, t);
    out.speed = std::max(out.speed, std::abs(rate_of(y)) / speed);
    out.acceleration = std::max(out.acceleration, std::abs(second_rate_of(y)) / acceleration);
  };
  for (int i = -1; i <= kSamples + 1; ++i) {
    const double t = start + duration * i / kSamples, now = second_rate_of(at(f, t));
    look(t);
    out.jump = std::max(out.jump, std::abs(now - last) / acceleration);
    last = now;
  }
  for (const double t : trajectory.times) look(t);
  return out;
}

TEST(Trajectory, HoldsItsLimitsAndReachesOneOfThem) {
  Random random(3);
  for (const int waypoints : {2, 3, 4, 7, 25}) {
    constexpr std::size_t kCoordinates = 3;
    std::vector<Samples> q(kCoordinates);
    Samples speed, acceleration;
    for (Samples& of : q) {
      for (int i = 0; i < waypoints; ++i) of.push_back(random.between(-2, 2));
      speed.push_back(random.between(0.5, 3));
      acceleration.push_back(random.between(1, 20));
    }
    const TimedWaypoints found = trajectory_through(q, speed, acceleration, 0.7);
    ASSERT_EQ(found.waypoint_times.size(), static_cast<std::size_t>(waypoints));
    EXPECT_EQ(found.times.front(), 0.7);
    double most = 0;
    for (std::size_t c = 0; c < kCoordinates; ++c) {
      const Extremes seen = sampled(found, c, speed[c], acceleration[c]);
      const std::string name = fmt::format("{} waypoints, coordinate {}", waypoints, c);
      expect_at_most(std::max(seen.speed, seen.acceleration) - 1, 1e-9, name + ": limits");
      // The acceleration is piecewise linear: between samples it changes by its largest slope at most.
      expect_at_most(seen.jump, 0.02, name + ": change of the acceleration between samples");
      most = std::max({most, seen.speed, seen.acceleration});
      const Expression f = expression_of(found, c);
      double off = 0;
      for (std::size_t i = 0; i < q[c].size(); ++i)
        off = std::max(off, std::abs(value_of(at(f, found.waypoint_times[i])) - q[c][i]));
      expect_at_most(off, 1e-14, name + ": waypoints");
      for (const double t : {found.times.front(), found.times.back()}) {
        expect_at_most(std::abs(rate_of(at(f, t))) / speed[c], 1e-12, name + ": speed at an end");
        expect_at_most(std::abs(second_rate_of(at(f, t))) / acceleration[c], 1e-12,
                       name + ": acceleration at an end");
      }
      expect_at_most(std::abs(value_of(at(f, found.times.back() + 100)) - q[c].back()), 1e-12,
                     name + ": rest 100 s later");
    }
    expect_at_most(1 - most, 1e-6, fmt::format("{} waypoints: 1 - the tightest limit", waypoints));
  }
}

// Between two waypoints the acceleration goes up and down in three equal parts: v = 9 D/(4 T), a = 9 D/T^2.
TEST(Trajectory, BetweenTwoPointsHasAClosedForm) {
  for (const double acceleration : {0.5, 100.0}) {
    const double distance = 1.7, speed = 2;
    const TimedWaypoints found = trajectory_through({{0.2, 0.2 + distance}}, {speed}, {acceleration}, 0);
    const double expected = std::max(9 * distance / (4 * speed), 3 * std::sqrt(distance / acceleration));
    expect_at_most(std::abs(found.times.back() - expected) / expected, 1e-14,
                   fmt::format("duration, acceleration {}", acceleration));
  }
}

// First and second rates against differences of the values.
TEST(Trajectory, RatesAreThoseOfTheValues) {
  const TimedWaypoints found = trajectory_through({{0, 1, 0.4, 0.9}}, {1.5}, {4}, 0);
  const Expression f = expression_of(found, 0);
  double first = 0, second = 0;
  for (int i = 1; i < 200; ++i) {
    const double t = found.times.back() * (i + 0.37) / 201, h = 1e-4;
    if (std::any_of(found.times.begin(), found.times.end(),
                    [&](double knot) { return std::abs(knot - t) < 2 * h; }))
      continue;
    const double before = value_of(at(f, t - h)), here = value_of(at(f, t)), after = value_of(at(f, t + h));
    // The third derivative of a cubic is constant: the error of the first difference is h^2 y'''/6.
    first = std::max(first, std::abs((after - before) / (2 * h) - rate_of(at(f, t))));
    second = std::max(second, std::abs((after - 2 * here + before) / (h * h) - second_rate_of(at(f, t))));
  }
  expect_at_most(first, 1e-6, "rate - difference of the values");
  expect_at_most(second, 1e-5, "second rate - second difference of the values");
}

// Durations found interval by interval are shorter than those of distances alone, scaled as a whole.
TEST(Trajectory, WithManyWaypointsSavesTime) {
  Random random(1);
  Samples q;
  for (int i = 0; i < 31; ++i) q.push_back(random.between(-1, 1));
  const double duration = trajectory_through({q}, {1}, {2}, 0).times.back();
  double bound = 0;  // no motion is faster than its speed
  for (std::size_t i = 1; i < q.size(); ++i) bound += std::abs(q[i] - q[i - 1]);
  expect_between(duration / bound, 1, 2.5, "duration over the distance at full speed");
}

std::string model_with(const std::string& tables, const std::string& motion) {
  return R"({"liedyn": 1, "bodies": {"arm": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}},
  "tables": {)" +
         tables + R"(},
  "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]},
             "drive": {"type": "prescribed_motion", "joint": "hinge", "motion": )" +
         motion + "}}}";
}
std::string mistake_of(const std::string& tables, const std::string& motion) {
  try {
    read_model_text(model_with(tables, motion), "arm.json");
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& d : error.diagnostics()) out += d.path + ": " + d.message + " / " + d.hint + "\n";
    return out;
  }
  return {};
}

TEST(Trajectory, StandsWhereFunctionsOfTimeDo) {
  const std::string move = R"("move": {"waypoints": {"a": [0, "30*deg", 0], "b": [0, 1, 2]}, "speed": 1,
                              "acceleration": {"a": 3, "b": 2}, "start": 0.5})";
  EXPECT_EQ(mistake_of(move, R"("move.a(t) + 0*move.end")"), "");
  EXPECT_EQ(mistake_of(R"("one": {"waypoints": [0, 1], "speed": 1, "acceleration": 2})", "\"one(t)\""), "");
  EXPECT_EQ(mistake_of("", R"({"trajectory": {"waypoints": [0, 1], "speed": 1, "acceleration": 2}})"), "");
}

TEST(Trajectory, MistakesAreNamed) {
  const auto expect = [](const std::string& table, const std::string& motion, const std::string& text) {
    EXPECT_NE(mistake_of(table, motion).find(text), std::string::npos)
        << "expected: " << text << "\ngot: " << mistake_of(table, motion);
  };
  const auto with = [](const std::string& waypoints, const std::string& speed) {
    return R"("m": {"waypoints": )" + waypoints + R"(, "speed": )" + speed + R"(, "acceleration": 2})";
  };
  expect(with("[0, 1]", "0"), "\"m(t)\"", "tables.m: speed: expected a positive number, got 0");
  expect(with("[1]", "1"), "\"m(t)\"", "waypoints: expected at least two numbers, got");
  expect(with("[0, 1, 1]", "1"), "\"m(t)\"", "the waypoints 2 and 3 are the same");
  expect(with("[0, \"w\"]", "1"), "\"m(t)\"",
         "unknown name 'w' / the times of a trajectory are computed when");
  expect(with(R"({"a": [0, 1], "b": [0, 1, 2]})", "1"), "\"m.a(t)\"",
         "waypoints.b: expected 2 waypoints as of 'a', got 3");
  expect(with(R"({"a": [0, 1]})", R"({"c": 1})"), "\"m.a(t)\"", "speed: there are no waypoints of 'c'");
  expect(with(R"({"a": [0, 1]})", "1"), "\"m(t)\"",
         "the trajectory 'm' has no 'm' / its functions of time are m.a, and it has m.end");
  expect("", R"({"trajectory": {"waypoints": [0, 1], "speed": 1}})", "acceleration: missing");
}

}  // namespace
}  // namespace liedyn

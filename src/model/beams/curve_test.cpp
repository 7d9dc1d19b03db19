// Curves through points: against the arcs and helices that the points are of, and derivatives against differences.
#include "liedyn/model/beams/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "liedyn/base/varied.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/model.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// A beam through `segments` + 1 points of a curve.
std::shared_ptr<const Description> through(const std::function<Vec3(double)>& place, int segments,
                                           double twist = 0) {
  ModelBuilder b;
  std::vector<double> between;
  for (int i = 1; i < segments; ++i) {
    const Vec3 p = place(static_cast<double>(i) / segments);
    between.insert(between.end(), p.data(), p.data() + 3);
  }
  b.beam("bow", "circle").set("from", place(0)).set("to", place(1)).set("through", between);
  b.set("elements", {4}).set("radius", {0.01}).set("young", {1}).set("density", {1}).set("twist", {twist});
  return b.finish();
}
Inputs<double> inputs(const Description& d) {
  return Inputs<double>(d, d.entries(Section::Beams)[0], d.parameters.data(), nullptr);
}

// Errors of places, of fourth order in the distance of the points, and of axes, which are derivatives, of third.
struct Errors {
  double places = 0, axes = 0;
};
void expect_orders(const std::vector<Errors>& errors) {
  const Errors &coarse = errors[errors.size() - 2], &fine = errors.back();
  expect_between(std::log2(coarse.places / fine.places), 3.7, 5,
                 fmt::format("order of places, errors {:.2e}, {:.2e}", coarse.places, fine.places));
  expect_between(std::log2(coarse.axes / fine.axes), 2.8, 4,
                 fmt::format("order of axes, errors {:.2e}, {:.2e}", coarse.axes, fine.axes));
  expect_at_most(fine.places, 5e-6, "places");
  expect_at_most(fine.axes, 1e-3, "axes");
}

// A quarter of a circle, unequally divided.
TEST(BeamCurves, PointsOfAnArcGiveTheArc) {
  const auto place = [](double x) {
    const double angle = 0.5 * std::numbers::pi * (x + 0.1 * std::sin(2 * std::numbers::pi * x));
    return Vec3(2 * std::sin(angle), 1, 2 * (1 - std::cos(angle)));
  };
  const double twist = 0.4;
  ModelBuilder b;
  b.beam("bow", "circle").set("from", place(0)).set("to", place(1)).set("through", place(0.5));
  b.set("elements", {4}).set("radius", {0.01}).set("young", {1}).set("density", {1}).set("twist", {twist});
  const auto arc_description = b.finish();
  const BeamCurve<double> arc = beam_curve(inputs(*arc_description));
  EXPECT_NEAR(arc.length(), std::numbers::pi, 1e-12);
  std::vector<Errors> errors;
  for (const int segments : {16, 32}) {
    const auto d = through(place, segments, twist);
    const BeamCurve<double> curve = beam_curve(inputs(*d));
    Errors error{std::abs(curve.length() - arc.length()), 0};
    for (int i = 0; i <= 40; ++i) {
      const Pose<double> expected = arc.at(i / 40.0), found = curve.at(i / 40.0);
      error.places = std::max(error.places, (found.p - expected.p).norm());
      error.axes = std::max(error.axes, (found.R - expected.R).norm());
      expect_at_most((found.R.transpose() * found.R - Mat3::Identity()).norm(), 1e-12, "orthogonal axes");
    }
    errors.push_back(error);
  }
  expect_orders(errors);
}

// A helix x = (r cos s, r sin s, c s): axes that do not turn about the tangent fall behind Frenet's by the torsion times the length.
TEST(BeamCurves, AxesOfAHelixDoNotTurnAboutItsTangent) {
  const double r = 1.2, c = 0.5, turn = 4, speed = std::hypot(r, c);
  const auto place = [&](double x) {
    return Vec3(r * std::cos(turn * x), r * std::sin(turn * x), c * turn * x);
  };
  const auto frenet = [&](double x) {
    const Vec3 t(-r * std::sin(turn * x), r * std::cos(turn * x), c),
        n(-std::cos(turn * x), -std::sin(turn * x), 0);
    Mat3 R;
    R << t / speed, n, (t / speed).cross(n);
    return R;
  };
  const double torsion = c / (speed * speed);
  std::vector<Errors> errors;
  for (const int segments : {16, 32}) {
    const auto d = through(place, segments);
    const BeamCurve<double> curve = beam_curve(inputs(*d));
    // Both begin with the same axes.
    const Mat3 first = frenet(0).transpose() * curve.at(0).R;
    Errors error{std::abs(curve.length() - turn * speed), 0};
    for (const double x : {0.13, 0.5, 0.77, 1.0}) {
      const double angle = -torsion * x * turn * speed;
      const Mat3 back = Eigen::AngleAxisd(angle, Vec3::UnitX()).toRotationMatrix();
      // The tangents at the start differ by the error of the spline, and with them `first`.
      error.axes = std::max(error.axes, (curve.at(x).R - frenet(x) * back * first).norm());
      error.places = std::max(error.places, (curve.at(x).p - place(x)).norm());
    }
    errors.push_back(error);
  }
  expect_orders(errors);
}

// Equal fractions are equal lengths, also where points are near each other and far from each other.
TEST(BeamCurves, FractionsAreThoseOfTheLength) {
  const auto d = through(
      [](double x) {
        const double y = x * x * (3 - 2 * x);
        return Vec3(3 * y, std::sin(4 * y), 0.5 * std::cos(3 * y));
      },
      12);
  const BeamCurve<double> curve = beam_curve(inputs(*d));
  const int pieces = 200, fine = 50;
  for (int i = 0; i < pieces; ++i) {
    double length = 0;
    for (int k = 0; k < fine; ++k) {
      const double step = 1.0 / (pieces * fine), x = (i * fine + k) * step;
      length += (curve.at(x + step).p - curve.at(x).p).norm();
    }
    expect_at_most(std::abs(length * pieces / curve.length() - 1), 1e-6, fmt::format("piece {}", i));
  }
}

TEST(BeamCurves, DerivativesByThePointsAreThoseOfDifferences) {
  const auto d = through([](double x) { return Vec3(2 * x, std::sin(2 * x), x * x); }, 5, 0.3);
  const Entry& beam = d->entries(Section::Beams)[0];
  const std::pair<int, int> varied[] = {{kBeamFrom, 1}, {kBeamThrough, 4}, {kBeamThrough, 11}, {kBeamTo, 2}};
  for (const auto& [field, component] : varied) {
    const auto number =
        static_cast<std::size_t>(beam.fields[static_cast<std::size_t>(field)].first + component);
    const double step = 1e-5;
    const auto moved = [&](double by, double x) {
      std::vector<double> parameters = d->parameters;
      parameters[number] += by;
      return beam_curve(Inputs<double>(*d, beam, parameters.data(), nullptr)).at(x);
    };
    Tape tape(Tape::Sweep::Forwards, 1);
    const Tape::Use use(tape);
    std::vector<Varied> parameters(d->parameters.begin(), d->parameters.end());
    parameters[number] = Varied(d->parameters[number], tape.independent(0));
    const BeamCurve<Varied> curve = beam_curve(Inputs<Varied>(*d, beam, parameters.data(), nullptr));
    for (const double x : {0.0, 0.25, 0.61, 1.0}) {
      const Pose<Varied> found = curve.at(x);
      const Pose<double> up = moved(step, x), down = moved(-step, x);
      const auto derivative = [&](const Varied& y) {
        double out = 0;
        if (y.id != 0) tape.derivatives(y.id, &out);
        return out;
      };
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(derivative(found.p[i]), (up.p[i] - down.p[i]) / (2 * step), 1e-7) << x;
        for (int k = 0; k < 3; ++k)
          EXPECT_NEAR(derivative(found.R(i, k)), (up.R(i, k) - down.R(i, k)) / (2 * step), 1e-7) << x;
      }
    }
  }
}

TEST(BeamCurves, MistakesAreExplained) {
  const auto mistake = [](const std::vector<double>& between, double elements, const Vec3& to = {3, 0, 0}) {
    ModelBuilder b;
    b.beam("bow", "circle").set("from", {0, 0, 0}).set("to", to).set("through", between);
    b.set("elements", {elements}).set("radius", {0.01}).set("young", {1}).set("density", {1});
    const auto d = b.finish();
    std::string hint;
    return beam_curve_mistake(inputs(*d), hint);
  };
  EXPECT_EQ(mistake({1, 0.2, 0, 2, 0.2, 0}, 2), "");
  EXPECT_EQ(mistake({1, 0, 0, 2, 0, 0}, 2), "");  // a straight line is a curve too
  EXPECT_EQ(mistake({1, 0.2, 0, 1, 0.2, 0}, 2), "through[0] and through[1] are the same point");
  EXPECT_EQ(mistake({1, 0.2, 0, 3, 0, 0}, 2), "through[1] and to are the same point");
  // Corners: a reversal, a right angle, one of 60 degrees and a little more.
  const std::string rule = ", expected at most 60 from point to point of a smooth curve";
  EXPECT_EQ(mistake({2, 0, 0, 1, 0, 0}, 2), "turns by 180 degrees at through[0]" + rule);
  EXPECT_EQ(mistake({1, 0, 0, 2, 0, 0, 2, 0.5, 0, 2.5, 0.5, 0}, 4),
            "turns by 90 degrees at through[1]" + rule);
  const auto bent = [&](double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    return mistake({1, 0, 0, 2, 0, 0}, 4, {2 + std::cos(angle), std::sin(angle), 0});
  };
  EXPECT_EQ(bent(60), "");
  EXPECT_EQ(bent(61), "turns by 61 degrees at through[1]" + rule);
  // Chords that turn by 60 degrees at most, but are so unequal that the spline turns back between them.
  EXPECT_EQ(mistake({0.918, 0.792, 0, 0.919, 0.857, 0, 0.903, 0.912, 0}, 4, {0.84, 1.095, 0}),
            "the curve has a corner between from and through[0]");
  // A loop: the tangent turns by more than half a turn within one element, not within six.
  std::vector<double> loop = {1, 0, 0};
  for (int i = 0; i < 8; ++i) {
    const double angle = std::numbers::pi * i / 4;
    loop.insert(loop.end(), {1.5 + 0.7 * std::sin(angle), 0.7 - 0.7 * std::cos(angle), 0});
  }
  loop.insert(loop.end(), {1.6, 0, 0});
  EXPECT_NE(mistake(loop, 1).find("expected more than 1 elements"), std::string::npos) << mistake(loop, 1);
  EXPECT_EQ(mistake(loop, 6), "");
}

}  // namespace
}  // namespace liedyn

#include "liedyn/io/expand/shapes.h"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/io/mesh_file.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/params.h"

namespace liedyn {
namespace {

using Vec3d = Eigen::Vector3d;
using Mat3d = Eigen::Matrix3d;

struct Body {
  double mass = 0;
  Vec3d center = Vec3d::Zero();
  Mat3d inertia = Mat3d::Zero();  // about the centre
};

Params params_of(const std::string& shapes, const std::string& parameters = "",
                 const std::string& more = "") {
  const std::string text = fmt::format(
      R"({{ "liedyn": 1, "parameters": {{ {} }}, "bodies": {{ "b": {{ "type": "rigid", "shapes": [{}] {} }} }} }})",
      parameters, shapes, more);
  return Params(std::make_shared<const Description>(read_model_text(text, "model.json")));
}
Body body_of(const Params& params) {
  const auto get = [&](const std::string& path) { return params.get(params.find("bodies.b." + path)); };
  Body out;
  out.mass = get("mass");
  for (int i = 0; i < 3; ++i) out.center[i] = -get(fmt::format("reference[{}]", i));
  double j[6];
  for (int i = 0; i < 6; ++i) j[i] = get(fmt::format("inertia[{}]", i));
  out.inertia << j[0], j[5], j[4], j[5], j[1], j[3], j[4], j[3], j[2];
  return out;
}
Body body_of(const std::string& shapes) { return body_of(params_of(shapes)); }

std::string shape_complaint(const std::string& shapes, const std::string& parameters = "",
                            const std::string& more = "") {
  try {
    params_of(shapes, parameters, more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_equal(const Body& a, const Body& b, double tolerance = 1e-13) {
  const double size = std::sqrt(b.inertia.norm() / b.mass) + b.center.norm();
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_LT((a.center - b.center).norm(), tolerance * size)
      << a.center.transpose() << " / " << b.center.transpose();
  EXPECT_LT((a.inertia - b.inertia).norm(), tolerance * b.inertia.norm()) << a.inertia << "\n / \n"
                                                                          << b.inertia;
}

// ---- independent: integrals over sections z = const, by Gauss quadrature on pieces

struct Slice {
  double area, xx, yy;  // area and second moments of the section about the z axis
};
Body by_sections(double density, const std::vector<double>& pieces,
                 const std::function<Slice(double)>& section) {
  constexpr double x[] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                          0.9061798459386640};
  constexpr double w[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                          0.2369268850561891};
  double m = 0, mz = 0, mzz = 0, mxx = 0, myy = 0;
  for (std::size_t p = 0; p + 1 < pieces.size(); ++p)
    for (int i = 0; i < 5; ++i) {
      const double h = (pieces[p + 1] - pieces[p]) / 2, z = pieces[p] + h * (1 + x[i]);
      const Slice s = section(z);
      const double dz = density * w[i] * h;
      m += s.area * dz, mz += z * s.area * dz, mzz += z * z * s.area * dz, mxx += s.xx * dz, myy += s.yy * dz;
    }
  Body out;
  out.mass = m;
  out.center = {0, 0, mz / m};
  mzz -= mz * mz / m;
  out.inertia.diagonal() << myy + mzz, mxx + mzz, mxx + myy;
  return out;
}
Slice disc(double r) {
  const double second = std::numbers::pi * r * r * r * r / 4;
  return {std::numbers::pi * r * r, second, second};
}

TEST(Shapes, HaveTheInertiaOfTheirSections) {
  const auto common = [](const std::string& shape) {
    return fmt::format(R"({{ {}, "density": 700 }})", shape);
  };
  expect_equal(body_of(common(R"("type": "box", "size": [0.2, 0.3, 0.5])")),
               by_sections(700, {-0.25, 0.25}, [](double) {
                 return Slice{0.06, 0.2 * 0.2 * 0.2 * 0.3 / 12, 0.3 * 0.3 * 0.3 * 0.2 / 12};
               }));
  expect_equal(body_of(common(R"("type": "sphere", "radius": 0.3)")),
               by_sections(700, {-0.3, 0, 0.3}, [](double z) { return disc(std::sqrt(0.09 - z * z)); }));
  expect_equal(body_of(common(R"("type": "cylinder", "radius": 0.3, "length": 0.8)")),
               by_sections(700, {-0.4, 0.4}, [](double) { return disc(0.3); }));
  expect_equal(body_of(common(R"("type": "capsule", "radius": 0.3, "length": 0.8)")),
               by_sections(700, {-0.7, -0.4, 0.4, 0.7}, [](double z) {
                 const double out = std::max(0.0, std::abs(z) - 0.4);
                 return disc(std::sqrt(0.09 - out * out));
               }));
  expect_equal(body_of(common(R"("type": "cone", "radius": 0.3, "length": 0.8)")),
               by_sections(700, {-0.4, 0.4}, [](double z) { return disc(0.3 * (0.4 - z) / 0.8); }));
  expect_equal(body_of(common(R"("type": "tube", "radius": 0.3, "inner": 0.2, "length": 0.8)")),
               by_sections(700, {-0.4, 0.4}, [](double) {
                 const Slice a = disc(0.3), b = disc(0.2);
                 return Slice{a.area - b.area, a.xx - b.xx, a.yy - b.yy};
               }));
  expect_equal(body_of(common(R"("type": "ellipsoid", "radii": [0.1, 0.2, 0.4])")),
               by_sections(700, {-0.4, 0.4}, [](double z) {
                 const double f = std::sqrt(1 - z * z / 0.16), a = 0.1 * f, b = 0.2 * f;
                 return Slice{std::numbers::pi * a * b, std::numbers::pi * a * a * a * b / 4,
                              std::numbers::pi * a * b * b * b / 4};
               }));
}

// R J R^T about the centre, and the point where the centre is.
Body placed(Body body, const Mat3d& R, const Vec3d& at) {
  body.center = at + R * body.center;
  body.inertia = R * body.inertia * R.transpose();
  return body;
}
Body together(const std::vector<Body>& bodies) {
  Body out;
  for (const Body& b : bodies) out.mass += b.mass, out.center += b.mass * b.center;
  out.center /= out.mass;
  for (const Body& b : bodies) {
    const Vec3d d = b.center - out.center;
    out.inertia += b.inertia + b.mass * (d.squaredNorm() * Mat3d::Identity() - d * d.transpose());
  }
  return out;
}

TEST(Shapes, ARodIsACylinderInItsPlace) {
  const Vec3d a(0.1, -0.2, 0.3), b(0.5, 0.4, 0.1), d = b - a;
  const Body cylinder =
      body_of(fmt::format(R"({{ "type": "cylinder", "radius": 0.02, "length": {}, "mass": 3 }})", d.norm()));
  expect_equal(
      body_of(
          R"({ "type": "rod", "from": [0.1, -0.2, 0.3], "to": [0.5, 0.4, 0.1], "radius": 0.02, "mass": 3 })"),
      placed(cylinder, Eigen::Quaterniond::FromTwoVectors(Vec3d::UnitZ(), d).toRotationMatrix(), (a + b) / 2),
      1e-13);
}

TEST(Shapes, AnExtrusionIsTheSumOfItsBoxes) {
  // An L of two rectangles, in both senses.
  const std::string box = R"({"type": "box", "size": [0.4, 0.1, 0.3], "at": [0.2, 0.05, 0], "density": 10},
                             {"type": "box", "size": [0.1, 0.5, 0.3], "at": [0.05, 0.35, 0], "density": 10})";
  for (const char* polygon : {"[[0,0],[0.4,0],[0.4,0.1],[0.1,0.1],[0.1,0.6],[0,0.6]]",
                              "[[0,0.6],[0.1,0.6],[0.1,0.1],[0.4,0.1],[0.4,0],[0,0]]"})
    expect_equal(body_of(fmt::format(
                     R"({{"type": "extrusion", "polygon": {}, "length": 0.3, "density": 10}})", polygon)),
                 body_of(box), 1e-13);
}

TEST(Shapes, SeveralStandWhereTheyAreGiven) {
  const Body box = body_of(R"({"type": "box", "size": [0.2, 0.3, 0.5], "mass": 2})");
  const Body cone = body_of(R"({"type": "cone", "radius": 0.2, "length": 0.6, "density": 300})");
  const Body sphere = body_of(R"({"type": "sphere", "radius": 0.1, "mass": 0.5})");
  const Mat3d R = Eigen::AngleAxisd(0.7, Vec3d(1, 2, -1).normalized()).toRotationMatrix();
  const Mat3d C = (Eigen::AngleAxisd(0.1, Vec3d::UnitX()) * Eigen::AngleAxisd(0.2, Vec3d::UnitY()) *
                   Eigen::AngleAxisd(0.3, Vec3d::UnitZ()))
                      .toRotationMatrix();
  expect_equal(
      body_of(
          R"({"type": "box", "size": [0.2, 0.3, 0.5], "mass": 2, "at": [1, 2, 3], "rotation": {"axis": [1, 2, -1], "angle": 0.7}},
                          {"type": "cone", "radius": 0.2, "length": 0.6, "density": 300, "at": [-0.4, 0, 0.1], "rotation": {"cardan": [0.1, 0.2, 0.3]}},
                          {"type": "sphere", "radius": 0.1, "mass": 0.5, "at": [0, 0.2, 0]},
                          {"type": "sphere", "radius": 7, "color": "#ff8000"})"),
      together({placed(box, R, {1, 2, 3}), placed(cone, C, {-0.4, 0, 0.1}),
                placed(sphere, Mat3d::Identity(), {0, 0.2, 0})}),
      1e-13);
}

TEST(Shapes, ExplicitValuesGoFirst) {
  const Params params =
      params_of(R"({"type": "box", "size": [1, 1, 1], "density": 2, "at": [1, 0, 0]})", "", R"(, "mass": 6)");
  const Body body = body_of(params);
  EXPECT_EQ(body.mass, 6);  // the inertia is that of six kilograms
  EXPECT_NEAR(body.inertia(0, 0), 1, 1e-15);
  EXPECT_EQ(body.center, Vec3d(1, 0, 0));
  const Params all =
      params_of(R"({"type": "box", "size": [1, 1, 1]})", "", R"(, "mass": 6, "inertia": [1, 2, 3])");
  EXPECT_EQ(body_of(all).inertia(1, 1), 2);
  EXPECT_EQ(body_of(all).center, Vec3d(0, 0, 0));
  // A density of the body is that of its shapes.
  EXPECT_EQ(
      body_of(
          params_of(R"({"type": "box", "size": [1, 2, 3]}, {"type": "box", "size": [1, 1, 1], "density": 1})",
                    "", R"(, "density": 2)"))
          .mass,
      13);
}

// Shapes with neither density nor mass, on a body that has a mass: they have one density.
TEST(Shapes, ShareTheMassOfTheBody) {
  const std::string shapes =
      R"({"type": "box", "size": [1, 2, 3], "at": [1, 0, 0]}, {"type": "sphere", "radius": 0.5})";
  const Body shared = body_of(params_of(shapes, R"("m": 6)", R"(, "mass": "m")"));
  Body dense = body_of(params_of(shapes, "", R"(, "density": 1)"));
  dense.inertia *= 6 / dense.mass;
  dense.mass = 6;
  expect_equal(shared, dense);
}

TEST(Shapes, OfPlanarBodiesAndPoints) {
  const Description d = read_model_text(R"({ "liedyn": 1, "bodies": {
    "plate": { "type": "planar", "shape": { "type": "box", "size": [0.4, 0.2, 0.1], "density": 1000, "at": [0.1, 0, 0] } },
    "dot": { "type": "point", "shape": { "type": "sphere", "radius": 0.1, "mass": 3 } },
    "ground": { "shape": { "type": "box", "size": [5, 5, 0.1], "at": [0, 0, -0.05] } } } })",
                                        "model.json");
  const Params params(std::make_shared<const Description>(d));
  EXPECT_NEAR(params.get(params.find("bodies.plate.inertia")), 8 * 0.2 / 12, 1e-15);
  EXPECT_EQ(params.get(params.find("bodies.plate.reference[0]")), -0.1);
  EXPECT_EQ(params.get(params.find("bodies.dot.mass")), 3);
  ASSERT_EQ(d.visuals.size(), 3u);
  EXPECT_EQ(d.visuals[2].body, "ground");
}

// Mass, centre and inertia as expressions of the dimensions, with dual numbers, against central differences.
TEST(Shapes, AreDifferentiable) {
  const std::string shapes =
      R"({"type": "box", "size": ["a", 0.3, "2*b"], "density": 7, "at": ["a/2", 0, 0], "rotation": {"axis": [0, 1, 1], "angle": "b"}},
      {"type": "rod", "from": [0, 0, "b"], "to": ["a", 1, 0], "radius": "0.1*a", "density": "70*b"},
      {"type": "capsule", "radius": "b", "length": "a", "mass": 0.4, "rotation": {"rotation_vector": [0, "a", 0]}},
      {"type": "cone", "radius": 0.2, "length": "a*b", "density": 11, "rotation": {"quaternion": [1, "a", 0, "b"]}},
      {"type": "tube", "radius": "a", "inner": "b", "length": 0.7, "density": 3},
      {"type": "ellipsoid", "radii": ["a", "b", 0.3], "density": 5, "at": [0, "a*b", 0]},
      {"type": "sphere", "radius": 0.2, "density": 100, "at": [0.1, 0.2, 0.3]},
      {"type": "extrusion", "polygon": [[0, 0], ["a", 0], ["a", "b"], [0.1, 1]], "length": "b", "density": 13})";
  const Params at = params_of(shapes, R"("a": 0.8, "b": 0.35)");
  int checked = 0;
  for (const Params::Bound& bound : at.bound()) {
    if (bound.number < 2) continue;
    using D = Dual<double, 2>;
    std::array<D, 3> variables = {D(0.8), D(0.35), D(0.0)};
    variables[0].d = {1, 0};
    variables[1].d = {0, 1};
    const D exact = bound.expression.evaluate<D>(variables);
    for (int i = 0; i < 2; ++i) {
      const auto value = [&](double change) {
        Params moved = at;
        moved.set(i, at.get(i) + change);
        return moved.get(bound.number);
      };
      constexpr double h = 1e-4;
      const double differences = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
      EXPECT_NEAR(exact.d[static_cast<std::size_t>(i)], differences, 1e-9 * (1 + std::abs(differences)))
          << at.path(bound.number) << " / " << i;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 10);  // mass, reference, inertia
  // The same numbers as without parameters.
  std::string numbers = shapes;
  for (const auto& [name, value] : {std::pair("a", "0.8"), std::pair("b", "0.35")}) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto letter = [&](std::size_t k) {
        return k < numbers.size() && std::isalpha(static_cast<unsigned char>(numbers[k])) != 0;
      };
      const bool alone = numbers[i] == name[0] && !letter(i + 1) && (i == 0 || !letter(i - 1));
      out += alone ? std::string(value) : std::string(1, numbers[i]);
    }
    numbers = out;
  }
  expect_equal(body_of(at), body_of(numbers), 1e-12);
}

TEST(Shapes, DimensionsMayBeSetFromOutside) {
  std::vector<Assignment> set = {{"bodies.b.shapes[0].size[1]", 2}, {"bodies.b.mass", 7}};
  const std::string text =
      R"({ "liedyn": 1, "bodies": { "b": { "type": "rigid", "shapes": [{"type": "box", "size": [1, 1, 1], "density": 3}] } } })";
  const Description d = read_model_text(text, "model.json", set);
  EXPECT_EQ(set.size(), 1u);  // the mass is a parameter of the model
  const Params params(std::make_shared<const Description>(d));
  EXPECT_EQ(params.get(params.find("bodies.b.mass")), 6);
  EXPECT_EQ(d.visuals[0].size[1], 2);
  const std::pair<const char*, const char*> cases[] = {
      {"bodies.b.shapes[9].size[0]", "'bodies.b.shapes' has 1 entries, from 0 on"},
      {"bodies.b.shapes[0].radius", "'bodies.b.shapes[0]' has type, size, density"},
      {"bodies.b.shapes[0].size", "'bodies.b.shapes[0].size' has 3 entries, from 0 on"}};
  for (const auto& [path, hint] : cases) try {
      std::vector<Assignment> wrong = {{path, 2}};
      read_model_text(text, "model.json", wrong);
      FAIL() << "accepted: " << path;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format("{}: the model has no such parameter", path)),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find(hint), std::string::npos) << error.what();
    }
}

TEST(Shapes, AreDrawn) {
  const Description d = read_model_text(
      R"({ "liedyn": 1, "parameters": { "l": 2 }, "bodies": { "b": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "shapes": [
    {"type": "rod", "from": [0, 0, 0], "to": ["l", 0, 0], "radius": 0.1, "color": "#ff0080"},
    {"type": "extrusion", "polygon": [[0, 0], [1, 0], [0, 1]], "length": 0.5, "at": [0, 0, 1]}] } } })",
      "model.json");
  ASSERT_EQ(d.visuals.size(), 2u);
  EXPECT_EQ(d.visuals[0].shape, "cylinder");
  EXPECT_EQ(d.visuals[0].size[2], 2);
  EXPECT_EQ(d.visuals[0].position, (std::array<double, 3>{1, 0, 0}));
  EXPECT_EQ(d.visuals[0].color, (std::array<double, 4>{1, 0, 128 / 255.0, 1}));
  const Eigen::Quaterniond q(d.visuals[0].orientation[0], d.visuals[0].orientation[1],
                             d.visuals[0].orientation[2], d.visuals[0].orientation[3]);
  EXPECT_LT((q * Vec3d::UnitZ() - Vec3d::UnitX()).norm(), 1e-15);
  const TriangleMesh prism = mesh_of(d.visuals[1]);
  EXPECT_NEAR(solid_of(prism, "").volume, 0.25, 1e-15);
}

TEST(Shapes, NameWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"type": "bux", "size": [1, 1, 1]})", "bodies.b.shapes[0].type: expected one of box, sphere"},
      {R"({"type": "bux", "size": [1, 1, 1]})", "did you mean 'box'?"},
      {R"({"size": [1, 1, 1]})", "bodies.b.shapes[0].type: missing"},
      {R"({"type": "box"})", "bodies.b.shapes[0].size: missing"},
      {R"({"type": "box", "size": [1, 1]})",
       "bodies.b.shapes[0].size: expected 3 numbers, got an array of 2"},
      {R"({"type": "box", "size": [1, 1, -1]})",
       "bodies.b.shapes[0].size[2]: expected a positive number, got -1"},
      {R"({"type": "box", "size": [1, 1, "x"]})", "bodies.b.shapes[0].size[2]: in the expression 'x'"},
      {R"({"type": "box", "size": [1, 1, "t"]})", "in the expression 't'"},
      {R"({"type": "box", "sise": [1, 1, 1], "size": [1, 1, 1]})", "did you mean 'size'?"},
      {R"({"type": "box", "size": [1, 1, 1], "color": "red"})", "expected a colour, \"#rrggbb\", got 'red'"},
      {R"({"type": "box", "size": [1, 1, 1], "density": 1, "mass": 2})", "cannot be combined with 'density'"},
      {R"({"type": "box", "size": [1, 1, 1]})", "its shapes have neither density nor mass"},
      {R"({"type": "tube", "radius": 1, "inner": 1, "length": 1, "mass": 1})",
       "expected an inner radius below the radius 1"},
      {R"({"type": "rod", "from": [1, 2, 3], "to": [1, 2, 3], "radius": 1, "mass": 1})",
       "expected two different points"},
      {R"({"type": "extrusion", "polygon": [[0, 0], [1, 1]], "length": 1, "mass": 1})",
       "from 3 to 1000 corners"},
      {R"({"type": "extrusion", "polygon": [[0, 0], [1, 1], [2, 2]], "length": 1, "mass": 1})",
       "expected a polygon with an area"},
      {R"({"type": "extrusion", "polygon": [[0, 0], [2, 1], [2, 0], [0, 1]], "length": 1, "mass": 1})",
       "expected a polygon with an area"},
      {R"({"type": "extrusion", "polygon": [[0, 0], [3, 1], [3, 0], [0, 2]], "length": 1, "mass": 1})",
       "side 1 crosses or touches side 3"},
      {R"({"type": "mesh", "file": "none.stl", "mass": 1})", "none.stl: there is no such file"},
      {R"({"type": "box", "size": [1, 1, 1], "mass": 1, "rotation": {"matrix": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}})",
       "expected a rotation"},
      {R"({"type": "box", "size": [1, 1, 1], "mass": 1, "rotation": {"axis": [0, 0, 0], "angle": 1}})",
       "expected a direction"},
      {"7", "bodies.b.shapes[0]: expected an object"},
  };
  for (const auto& [shape, message] : cases)
    EXPECT_NE(shape_complaint(shape).find(message), std::string::npos) << shape << "\n"
                                                                       << shape_complaint(shape);
  // All at once, with what else is wrong.
  const std::string both =
      shape_complaint(R"({"type": "box", "size": [0, 1, 1], "mass": 1})", "", R"(, "positoin": [1, 2, 3])");
  EXPECT_NE(both.find("model.json:1: bodies.b.shapes[0].size[0]: expected a positive number"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("did you mean 'position'?"), std::string::npos) << both;
}

TEST(Shapes, AMeshIsWhatItEncloses) {
  // Beside the model, whose text has no folder of its own.
  const std::filesystem::path file = fmt::format("liedyn_prism_{}.obj", ::getpid());
  {
    std::ofstream out(file);
    const TriangleMesh mesh = extruded({{0, 0}, {0.4, 0}, {0.4, 0.1}, {0.1, 0.1}, {0.1, 0.6}, {0, 0.6}}, 0.3);
    for (const auto& v : mesh.vertices)
      out << fmt::format("v {} {} {}\n", v[0] * 1000, v[1] * 1000, v[2] * 1000);
    for (const auto& t : mesh.triangles) out << fmt::format("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
  const Body mesh = body_of(
      fmt::format(R"({{"type": "mesh", "file": "{}", "scale": 0.001, "density": 10}})", file.string()));
  expect_equal(
      mesh,
      body_of(
          R"({"type": "extrusion", "polygon": [[0,0],[0.4,0],[0.4,0.1],[0.1,0.1],[0.1,0.6],[0,0.6]], "length": 0.3, "density": 10})"),
      1e-12);
  // One factor for each axis.
  expect_equal(
      body_of(
          fmt::format(R"({{"type": "mesh", "file": "{}", "scale": [0.001, 0.002, 0.003], "density": 10}})",
                      file.string())),
      body_of(
          R"({"type": "extrusion", "polygon": [[0,0],[0.4,0],[0.4,0.2],[0.1,0.2],[0.1,1.2],[0,1.2]], "length": 0.9, "density": 10})"),
      1e-12);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace liedyn

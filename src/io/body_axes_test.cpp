// Joints whose locations and axes are given in the axes of the bodies: the same mechanisms as in inertial axes, whatever the initial configuration
// is; loops that assembly closes from rough positions; and what is refused instead of becoming another mechanism.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/joints/held_rows.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Placed {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();
  Vec3 at(const Vec3& rho) const { return p + R * rho; }
  Vec3 seen(const Vec3& x) const { return R.transpose() * (x - p); }
};

// A joint of the kind between two bodies, described in body axes, and the poses of the bodies in which it is met.
struct Case {
  std::string type;
  Placed one, two;
  Vec3 rho[2], axis[2];
  double length = 1.3, radius = 0.4;

  Case(const std::string& kind, Random& random) : type(kind) {
    const bool plane = type.starts_with("planar_");
    const auto vector = [&] {
      Vec3 v = random.vector<3>();
      if (plane) v.z() = 0;
      return v;
    };
    const auto rotation = [&] {
      return plane ? SO3<double>::exp(Vec3(0, 0, random.between(-1, 1))).R() : random.rotation().R();
    };
    for (int i = 0; i < 2; ++i) rho[i] = vector(), axis[i] = vector();
    one = {rotation(), vector()};
    two.R = rotation();
    // Where turns are held, the axes of both bodies coincide: x, y, z of spatial joints, the line of planar ones.
    const bool spherical = type == "spherical" || type == "distance" || type == "planar_revolute";
    const bool one_sided =
        type.ends_with("point_on_line") || type == "point_on_plane" || type == "rolling_disc";
    const auto axes = [&](int i) -> Mat3 {
      if (!plane) return axes_along<double>(axis[i]);
      Mat3 A;
      A << Vec3::UnitZ().cross(axis[i].normalized()), Vec3::UnitZ(), axis[i].normalized();
      return A;
    };
    if (type == "universal") {
      const Mat3 second = axes(1);
      Mat3 turned;
      turned << second.col(2), second.col(0), second.col(1);
      two.R = one.R * axes(0) * turned.transpose();
    } else if (!spherical && !one_sided && type != "fixed" && type != "planar_fixed") {
      two.R = one.R * axes(0) * axes(1).transpose();
    }
    two.p = one.at(rho[0]) - two.R * rho[1];
    if (type == "distance") two.p += Vec3(length, 0, 0);
    if (type == "rolling_disc") {
      const Vec3 n = (one.R * axis[0]).normalized(), a = (two.R * axis[1]).normalized();
      two.p += radius * (n - a * a.dot(n)).normalized();
    }
  }

  void add_joint(ModelBuilder& b, bool in_bodies) const {
    const bool plane = type.starts_with("planar_");
    const int count = plane ? 2 : 3;
    const auto set = [&](const char* field, const Vec3& v) {
      b.set(field, std::span<const double>(v.data(), static_cast<std::size_t>(count)));
    };
    b.joint("joint", type).set("between", "one", "two");
    const Vec3 here = one.at(rho[0]);
    if (type == "distance") {
      const Vec3 there = two.at(rho[1]);
      if (in_bodies)
        b.in_bodies("points", {{"two", rho[1]}, {"one", rho[0]}});  // in any order
      else
        b.set("points", {here.x(), here.y(), here.z(), there.x(), there.y(), there.z()});
      b.set("length", {length});
      return;
    }
    if (type == "rolling_disc") {
      b.set("radius", {radius});
      if (in_bodies)
        b.in_bodies("center", {{"one", rho[0]}, {"two", rho[1]}})
            .in_bodies("normal", {{"one", axis[0]}})
            .in_bodies("axis", {{"two", axis[1]}});
      else
        b.set("center", two.at(rho[1]))
            .set("normal", Vec3(one.R * axis[0]))
            .set("axis", Vec3(two.R * axis[1]));
      return;
    }
    if (in_bodies)
      b.in_bodies("at", {{"one", rho[0]}, {"two", rho[1]}});
    else
      set("at", here);
    if (type == "screw") b.set("pitch", {0.3});
    if (type == "universal") {
      if (in_bodies)
        b.in_bodies("first_axis", {{"one", axis[0]}}).in_bodies("second_axis", {{"two", axis[1]}});
      else
        set("first_axis", one.R * axis[0]), set("second_axis", two.R * axis[1]);
      return;
    }
    const Kind& kind = *find_kind(Section::Joints, type);
    const int field = kind.field("axis");
    if (field < 0) return;
    const bool both = kind.fields[static_cast<std::size_t>(field)].body_axes == BodyAxes::Each;
    if (!in_bodies)
      set("axis", one.R * axis[0]);
    else if (both)
      b.in_bodies("axis", {{"one", axis[0]}, {"two", axis[1]}});
    else
      b.in_bodies("axis", {{"one", axis[0]}});
  }

  // `off`: how far the second body is from where the joint holds it, as a guess.
  std::shared_ptr<const Description> model(bool in_bodies, double off = 0) const {
    const bool plane = type.starts_with("planar_");
    ModelBuilder b({1, -9, 2});
    for (const std::string name : {"one", "two"}) {
      const Placed& pose = name == "one" ? one : two;
      const Vec3 w = SO3<double>::from_matrix(pose.R).log();
      b.body(name, plane ? "planar" : "rigid").set("mass", {name == "one" ? 1.0 : 1.7});
      b.consistent("velocity").consistent("angular_velocity");
      const std::vector<double> place(pose.p.data(), pose.p.data() + (plane ? 2 : 3));
      if (plane)
        b.set("inertia", {0.6});
      else
        b.set("inertia", {0.5, 0.6, 0.7});
      if (off == 0 || name == "one") {
        b.set("position", place);
        if (plane)
          b.set("angle", {w.z()});
        else
          b.set("orientation", w);
        continue;
      }
      std::vector<double> rough = place;
      for (double& x : rough) x += off;
      b.guess("position", rough);
      if (plane)
        b.guess("angle", std::vector<double>{w.z() - off});
      else
        b.guess("orientation", Vec3(w + off * Vec3(1, -1, 0.5)));
    }
    add_joint(b, in_bodies);
    b.sensor("place", "position").set("of", std::string("two"));
    b.sensor("turn", "rotation_vector").set("of", std::string("two"));
    b.sensor("energy", "energy");
    return b.finish();
  }
};

const std::vector<std::string> kTypes = {
    "spherical",       "revolute",         "prismatic",    "cylindrical",
    "universal",       "planar",           "fixed",        "distance",
    "point_on_line",   "point_on_plane",   "screw",        "rolling_disc",
    "planar_revolute", "planar_prismatic", "planar_fixed", "planar_point_on_line"};

TEST(BodyAxes, GiveTheSameMechanismAsInertialAxes) {
  for (const std::string& type : kTypes) {
    double off = 0;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      Random random(seed);
      const Case c(type, random);
      for (const std::string formulation : {"r3so3", "minimal"}) {
        SimulateOptions options;
        options.step = 0.01;
        options.end = 0.2;
        std::vector<double> ends[2];
        for (const bool in_bodies : {false, true}) {
          const Result r = simulate(make_system(c.model(in_bodies), formulation), options);
          EXPECT_TRUE(r.summary.completed) << type << " " << r.summary.failure;
          ends[in_bodies ? 1 : 0].assign(r.trajectory.data.end() - r.trajectory.columns,
                                         r.trajectory.data.end());
        }
        off = std::max(off, relative_difference(as_vector(ends[1]), as_vector(ends[0])));
      }
    }
    expect_at_most(off, 1e-12, type + ": place, turn and energy at the end");
  }
}

// What is found from a rough guess meets the joint, and what was given stays.
TEST(BodyAxes, LetAssemblyCloseJointsFromRoughPositions) {
  for (const std::string& type : kTypes) {
    double phi = 0, moved = 0;
    for (unsigned seed = 1; seed <= 5; ++seed) {
      Random random(seed);
      const Case c(type, random);
      if (type == "fixed" || type == "planar_fixed") continue;  // these keep the orientations of the guess
      for (const std::string formulation : {"r3so3", "minimal"}) {
        const System system = make_system(c.model(true, 0.2), formulation);
        Work work(system);
        const State state = consistent_state(system, 0, InitialPolicy::Check, work);
        system.residual(state, work, {});
        for (const double row : work.phi) phi = std::max(phi, std::abs(row));
        moved = std::max(moved, (work.motions[0].p - c.one.p).norm());
      }
    }
    expect_at_most(phi, 1e-10, type + ": Phi after assembly");
    expect_at_most(moved, 1e-10, type + ": displacement of the body that was given");
  }
}

// A four-bar linkage whose coupler and rocker are found: ground A = (0, 0), D = (d, 0), crank a, coupler b, rocker c.
constexpr const char* kFourBar = R"json({ "liedyn": 1, "gravity": [0, -9.81, 0],
  "parameters": { "a": 0.1, "b": 0.3, "c": 0.25, "d": 0.28, "phi": 0.9 },
  "bodies": {
    "crank":   { "type": "rigid", "mass": 1, "inertia": [0.001, 0.002, 0.002],
                 "position": ["a/2*cos(phi)", "a/2*sin(phi)", 0], "orientation": { "axis": [0, 0, 1], "angle": "phi" },
                 "velocity": "consistent", "angular_velocity": [0, 0, 3] },
    "coupler": { "type": "rigid", "mass": 2, "inertia": [0.001, 0.02, 0.02],
                 "position": { "consistent": [0.2, 0.15, 0] }, "orientation": { "consistent": { "cardan": [0, 0, 0.2] } },
                 "velocity": "consistent", "angular_velocity": "consistent" },
    "rocker":  { "type": "rigid", "mass": 1.5, "inertia": [0.001, 0.01, 0.01],
                 "position": { "consistent": [0.3, 0.1, 0] }, "orientation": { "consistent": { "cardan": [0, 0, 1] } },
                 "velocity": "consistent", "angular_velocity": "consistent" } },
  "joints": {
    "A": { "type": "revolute", "between": ["ground", "crank"], "at": { "ground": [0, 0, 0], "crank": ["-a/2", 0, 0] },
           "axis": { "ground": [0, 0, 1], "crank": [0, 0, 1] } },
    "B": { "type": "revolute", "between": ["crank", "coupler"], "at": { "crank": ["a/2", 0, 0], "coupler": [-0.15, 0, 0] },
           "axis": { "crank": [0, 0, 1], "coupler": [0, 0, 1] } },
    "C": { "type": "point_on_line", "between": ["coupler", "rocker"], "at": { "rocker": ["c/2", 0, 0], "coupler": ["b - 0.15", 0, 0] },
           "axis": { "coupler": [0, 0, 1] } },
    "D": { "type": "revolute", "between": ["ground", "rocker"], "at": { "ground": ["d", 0, 0], "rocker": ["-c/2", 0, 0] },
           "axis": { "rocker": [0, 0, 1], "ground": [0, 0, 1] } } },
  "sensors": { "coupler": { "type": "position", "of": "coupler" }, "rocker": { "type": "position", "of": "rocker" },
               "tip": { "type": "position", "of": "rocker", "at": { "rocker": ["c/2", 0, 0] } },
               "angle": { "type": "joint_angle", "of": "A" } },
  "simulation": { "end": 0.02, "step": 1e-3, "integrator": "generalized-alpha,newton_tol=1e-13" } })json";

System four_bar(const std::string& formulation, std::vector<Assignment> set = {}) {
  const auto description =
      std::make_shared<const Description>(read_model_text(kFourBar, "four_bar.json", set));
  Params params(description);
  for (const Assignment& one : set) params.set(one.path, one.value);
  return System(Model::compile(description, formulation), params);
}

TEST(BodyAxes, CloseAFourBarLinkageAsItsGeometrySays) {
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const double phi : {0.9, 0.3, 1.6}) {
      const System system = four_bar(formulation, {{"phi", phi}});
      Work work(system);
      const State state = consistent_state(system, 0, InitialPolicy::Check, work);
      std::vector<double> variables(static_cast<std::size_t>(system.model().sensor_variables)),
          sensed(variables.size());
      system.sense(state, work, variables, sensed.data());
      // C: at the distance b from B and c from D, above the line between them.
      const double a = 0.1, b = 0.3, c = 0.25, d = 0.28;
      const Vec3 B(a * std::cos(phi), a * std::sin(phi), 0), D(d, 0, 0), across = D - B;
      const double e = across.norm(), x = (e * e + b * b - c * c) / (2 * e), y = std::sqrt(b * b - x * x);
      const Vec3 C = B + x / e * across + y / e * Vec3(-across.y(), across.x(), 0);
      const std::string what = fmt::format("{}, phi = {}: ", formulation, phi);
      expect_at_most((Vec3(sensed.data() + 6) - C).norm(), 1e-10, what + "point C from the triangle B C D");
      expect_at_most((Vec3(sensed.data() + 3) - 0.5 * (C + D)).norm(), 1e-10, what + "centre of the rocker");
      // In body axes angles do not begin at zero: that of the crank is the one between the axes of the bodies.
      expect_at_most(std::abs(sensed[9] - phi), 1e-12, what + "angle of the crank");
    }
}

TEST(BodyAxes, HaveDerivativesThroughAssembly) {
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const SensitivityMethod method : {SensitivityMethod::Direct, SensitivityMethod::Adjoint}) {
      const System system = four_bar(formulation);
      SensitivityOptions options;
      options.simulation = default_options(system.model().description());
      options.simulation.end = 5e-3;
      options.parameters = {"joints.B.at.coupler[0]", "joints.D.at.ground[1]", "a", "b",
                            "bodies.rocker.mass"};
      options.outputs = {"tip", "coupler", "rocker@0.0025"};
      options.method = method;
      options.check = true;
      const Sensitivity s = sensitivity(system, options);
      for (std::size_t k = 0; k < s.parameters.size(); ++k)
        expect_at_most(
            s.disagreement[k], 1e-6,
            fmt::format("{}, {}: {}", formulation, method == SensitivityMethod::Direct ? "direct" : "adjoint",
                        s.parameters[k]));
    }
}

std::string refusal_of(const std::string& text, const std::string& initial = "check") {
  try {
    const auto description = std::make_shared<const Description>(read_model_text(text, "model.json"));
    const System system = make_system(description);
    Work work(system);
    consistent_state(system, 0, initial_policy(initial), work);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

constexpr const char* kArm = R"json({ "liedyn": 1, "gravity": [0, -9.81, 0],
  "bodies": { "arm": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1, 0, 0], "orientation": { "cardan": [0, 0, 0] },
                       "velocity": "consistent", "angular_velocity": "consistent" } },
  "joints": { "h": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1] },
              "d1": { "type": "prescribed_motion", "joint": "h", "motion": "1 + t" } } })json";

TEST(BodyAxes, OpenPositionsAreRefusedWhereJointsTakeTheirGeometryFromThem) {
  const std::string open = refusal_of(replaced(kArm, "[1, 0, 0]", "\"consistent\""));
  fmt::print("{}\n", open);
  EXPECT_THAT(open, AllOf(HasSubstr("joints.h.at"), HasSubstr("the position of 'arm' is \"consistent\""),
                          HasSubstr("\"at\": {\"ground\": [...], \"arm\": [...]}"),
                          HasSubstr("\"position\": {\"consistent\": ...}")));
  EXPECT_THAT(refusal_of(replaced(kArm, "{ \"cardan\": [0, 0, 0] }", "\"consistent\"")),
              AllOf(HasSubstr("joints.h.axis"), HasSubstr("the orientation of 'arm' is \"consistent\"")));
  // Neither says what would make another mechanism of it.
  const std::string violated = refusal_of(kArm);
  fmt::print("{}\n", violated);
  EXPECT_THAT(violated, AllOf(HasSubstr("joints.d1: motion"), HasSubstr("--initial project"),
                              HasSubstr("{\"consistent\": [...]}")));
}

// The arm that was meant: of length 1, turned by 1 rad. From a guess, by projection, and with everything in body axes.
TEST(BodyAxes, FindTheMechanismThatWasMeant) {
  const std::string guessed =
      replaced(replaced(kArm, "[1, 0, 0]", "{ \"consistent\": [1, 0, 0] }"), "{ \"cardan\": [0, 0, 0] }",
               "{ \"consistent\": { \"cardan\": [0, 0, 0] } }");
  const std::string in_bodies =
      replaced(replaced(replaced(replaced(kArm, "[1, 0, 0]", "\"consistent\""), "{ \"cardan\": [0, 0, 0] }",
                                 "\"consistent\""),
                        "\"at\": [0, 0, 0]", "\"at\": { \"arm\": [-1, 0, 0], \"ground\": [0, 0, 0] }"),
               "\"axis\": [0, 0, 1]", "\"axis\": { \"arm\": [0, 0, 1], \"ground\": [0, 0, 1] }");
  for (const auto& [text, policy, what] : {std::tuple{guessed, InitialPolicy::Check, "guess"},
                                           std::tuple{std::string(kArm), InitialPolicy::Project, "project"},
                                           std::tuple{in_bodies, InitialPolicy::Check, "body axes"}}) {
    const System system =
        make_system(std::make_shared<const Description>(read_model_text(text, "model.json")));
    Work work(system);
    const State state = consistent_state(system, 0, policy, work);
    const Vec3 p = work.motions[0].p;
    expect_at_most((p - Vec3(std::cos(1.0), std::sin(1.0), 0)).norm(), 1e-9,
                   std::string(what) + ": place of the arm");
  }
}

// Rows of dot products vanish where an axis points the other way: such a start is refused.
TEST(BodyAxes, AxesThatPointTheOtherWayAreRefused) {
  const std::string in_bodies = replaced(
      replaced(replaced(replaced(kArm, "1 + t", "0*t"), "[1, 0, 0]", "{ \"consistent\": [1, 0, 0] }"),
               "\"at\": [0, 0, 0]", "\"at\": { \"arm\": [-1, 0, 0], \"ground\": [0, 0, 0] }"),
      "\"axis\": [0, 0, 1]", "\"axis\": { \"arm\": [0, 0, 1], \"ground\": [0, 0, 1] }");
  for (const double turn : {0.3, 2.9}) {
    const std::string what =
        refusal_of(replaced(in_bodies, "{ \"cardan\": [0, 0, 0] }",
                            fmt::format("{{ \"consistent\": {{ \"cardan\": [{}, 0, 0] }} }}", turn)));
    fmt::print("  guess off by {} rad: '{}'\n", turn, what);
    if (turn < 1)
      EXPECT_EQ(what, "");
    else
      EXPECT_THAT(what, HasSubstr("joints.h: its axes on the two bodies point in opposite directions"));
  }
}

// Whole turns do not matter: a drive may begin anywhere.
TEST(BodyAxes, DrivesMayBeginAtAnyAngle) {
  for (const double begin : {-9.0, -3.1, 2.0, 4.0, 50.0}) {
    const std::string text = replaced(kArm, "1 + t", fmt::format("{} + t", begin));
    const System system =
        make_system(std::make_shared<const Description>(read_model_text(text, "model.json")));
    Work work(system);
    consistent_state(system, 0, InitialPolicy::Project, work);
    const Vec3 p = work.motions[0].p;
    expect_at_most((p - Vec3(std::cos(begin), std::sin(begin), 0)).norm(), 1e-9,
                   fmt::format("begin {}: place of the arm", begin));
  }
}

TEST(BodyAxes, ALoopThatCannotCloseIsReported) {
  const std::string text = replaced(kFourBar, "\"d\": 0.28", "\"d\": 1.5");
  const std::string what = refusal_of(text);
  fmt::print("{}\n", what);
  EXPECT_THAT(what, AllOf(HasSubstr("joints.C"), HasSubstr("assembly found no configuration")));
}

TEST(BodyAxes, WrongNamesAreReportedWithWhatWasExpected) {
  EXPECT_THAT(
      refusal_of(replaced(kFourBar, "\"at\": { \"crank\": [\"a/2\"", "\"at\": { \"cranc\": [\"a/2\"")),
      AllOf(HasSubstr("joints.B.at"), HasSubstr("'crank' and 'coupler'"),
            HasSubstr("did you mean 'crank'?")));
  EXPECT_THAT(
      refusal_of(
          replaced(kFourBar, "\"axis\": { \"coupler\": [0, 0, 1] }", "\"axis\": { \"rocker\": [0, 0, 1] }")),
      AllOf(HasSubstr("joints.C.axis"), HasSubstr("expected the components in the axes of 'coupler'")));
}

// A body with a frame whose axes are turned by `tilt` about z, another body and the ground with turned frames; `forces` and `sensors` are the rest.
System with_turned_frames(const std::string& forces, const std::string& sensors,
                          const std::string& formulation = "r3so3") {
  const std::string text = R"json({ "liedyn": 1, "parameters": { "tilt": 0.5 }, "gravity": [0, 0, 0],
    "bodies": {
      "a": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.25], "angular_velocity": [1, 2, 3],
             "frames": { "t": { "at": [0.1, 0.2, 0], "rotation": { "axis": [0, 0, 1], "angle": "tilt" } } } },
      "b": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.25], "position": [1, 1, 0],
             "velocity": [0, 0.3, 0], "angular_velocity": [0, -2, 1],
             "frames": { "s": { "at": [0, 0.2, 0.1], "rotation": { "axis": [1, 0, 0], "angle": -0.8 } } } },
      "ground": { "frames": { "g": { "at": [1, 2, 3], "rotation": { "axis": [0, 1, 0], "angle": 0.4 } } } } },
    "forces": {)json" + forces +
                           R"json(}, "sensors": {)json" + sensors + "} }";
  return make_system(std::make_shared<const Description>(read_model_text(text, "model.json")), formulation);
}

// With R_t = R_a Q_t and R_s = R_b Q_s, sensors of frames show R_t, R_t^T w, R_t^T (p_s - p_t), log(R_t^T R_s), R_t^T (w_b - w_a).
TEST(NamedFrames, SensorsShowTheAxesOfFramesNotThoseOfTheirBodies) {
  const std::string sensors = R"json(
      "qa": { "type": "orientation", "of": "a" }, "qb": { "type": "orientation", "of": "b" },
      "wa": { "type": "angular_velocity", "of": "a", "axes": "inertial" },
      "wb": { "type": "angular_velocity", "of": "b", "axes": "inertial" },
      "pt": { "type": "position", "of": "a.t" }, "ps": { "type": "position", "of": "b.s" },
      "vt": { "type": "velocity", "of": "a.t" }, "vs": { "type": "velocity", "of": "b.s" },
      "qt": { "type": "orientation", "of": "a.t" }, "ct": { "type": "cardan_angles", "of": "a.t" },
      "rt": { "type": "rotation_vector", "of": "a.t" }, "qg": { "type": "orientation", "of": "ground.g" },
      "wt": { "type": "angular_velocity", "of": "a.t" },
      "wi": { "type": "angular_velocity", "of": "a.t", "axes": "inertial" },
      "rp": { "type": "relative_position", "between": ["a.t", "b.s"] },
      "ri": { "type": "relative_position", "between": ["a.t", "b.s"], "axes": "inertial" },
      "rv": { "type": "relative_velocity", "between": ["a.t", "b.s"] },
      "rr": { "type": "relative_rotation", "between": ["a.t", "b.s"] },
      "rw": { "type": "relative_angular_velocity", "between": ["a.t", "b.s"] },
      "rg": { "type": "relative_position", "between": ["ground.g", "b.s"] })json";
  SimulateOptions options;
  options.end = 0.3;
  options.step = 1e-2;
  options.integrator = "rk44";
  const Mat3 Q_t = SO3<double>::exp(Vec3(0, 0, 0.5)).R(), Q_s = SO3<double>::exp(Vec3(-0.8, 0, 0)).R(),
             Q_g = SO3<double>::exp(Vec3(0, 0.4, 0)).R();
  for (const std::string& formulation : formulations()) {
    const Trajectory t = simulate(with_turned_frames("", sensors, formulation), options).trajectory;
    const auto vector = [&](const std::string& name) {
      for (const Channel& channel : t.channels)
        if (channel.name == name)
          return Vec3(t.at(t.rows() - 1, channel.first), t.at(t.rows() - 1, channel.first + 1),
                      t.at(t.rows() - 1, channel.first + 2));
      ADD_FAILURE() << "no channel " << name;
      return Vec3(Vec3::Zero());
    };
    const auto rotation = [&](const std::string& name) -> Mat3 {
      for (const Channel& channel : t.channels)
        if (channel.name == name) {
          Eigen::Vector4d q;
          for (int k = 0; k < 4; ++k) q[k] = t.at(t.rows() - 1, channel.first + k);
          return SO3<double>::from_quaternion(q[0], Vec3(q.tail<3>())).R();
        }
      ADD_FAILURE() << "no channel " << name;
      return Mat3::Zero();
    };
    const Mat3 R_t = rotation("qa") * Q_t, R_s = rotation("qb") * Q_s;
    const Vec3 r = vector("ps") - vector("pt"), angles = vector("ct");
    const auto turn = [](int k, double angle) { return SO3<double>::exp(Vec3(angle * Vec3::Unit(k))).R(); };
    const auto expect_small = [&](double off, const char* what) {
      expect_at_most(off, 1e-12, formulation + ": " + what);
    };
    expect_small((rotation("qt") - R_t).norm(), "orientation");
    expect_small((turn(0, angles[0]) * turn(1, angles[1]) * turn(2, angles[2]) - R_t).norm(),
                 "Cardan angles");
    expect_small((SO3<double>::exp(vector("rt")).R() - R_t).norm(), "rotation vector");
    expect_small((rotation("qg") - Q_g).norm(), "orientation of a frame of the ground");
    expect_small((vector("wt") - R_t.transpose() * vector("wa")).norm(), "angular velocity");
    expect_small((vector("wi") - vector("wa")).norm(), "angular velocity, inertial axes");
    expect_small((vector("rp") - R_t.transpose() * r).norm(), "relative position");
    expect_small((vector("ri") - r).norm(), "relative position, inertial axes");
    expect_small(
        (vector("rv") - R_t.transpose() * (vector("vs") - vector("vt") - vector("wa").cross(r))).norm(),
        "relative velocity");
    expect_small((SO3<double>::exp(vector("rr")).R() - R_t.transpose() * R_s).norm(), "relative rotation");
    expect_small((vector("rw") - R_t.transpose() * (vector("wb") - vector("wa"))).norm(),
                 "relative angular velocity");
    expect_small((vector("rg") - Q_g.transpose() * (vector("ps") - Vec3(1, 2, 3))).norm(),
                 "relative position from the ground");
  }
}

// Loads along the axes of a frame, which follow sensors along such axes, against the same written in the axes of the bodies; and derivatives, also with respect to the angle of
// the axes. Newton's method needs its exact matrix for that.
TEST(NamedFrames, LoadsActAlongTheAxesOfFrames) {
  const std::string shown =
      R"json("pa": { "type": "position", "of": "a" }, "wa": { "type": "angular_velocity", "of": "a" },
      "F": { "type": "applied_force", "of": "f" }, "B": { "type": "applied_force", "of": "f", "axes": "body" })json";
  const System turned = with_turned_frames(
      R"json(
      "f": { "type": "force", "on": "a.t", "force": ["-r[0]", 2, "t"], "axes": "body" },
      "m": { "type": "torque", "on": "a.t", "torque": ["0.3*r[1]", 0, 1], "axes": "body" },
      "i": { "type": "force", "on": "a.t", "force": [0, 0.7, 0] })json",
      R"json("r": { "type": "relative_position", "between": ["a.t", "b.s"] },)json" + shown);
  const System plain = with_turned_frames(
      R"json(
      "f": { "type": "force", "on": "a", "at": "a.t", "axes": "body",
             "force": ["-cos(tilt)*r0 - 2*sin(tilt)", "-sin(tilt)*r0 + 2*cos(tilt)", "t"] },
      "m": { "type": "torque", "on": "a", "torque": ["0.3*r1*cos(tilt)", "0.3*r1*sin(tilt)", 1], "axes": "body" },
      "i": { "type": "force", "on": "a", "at": "a.t", "force": [0, 0.7, 0] })json",
      R"json("r": { "type": "relative_position", "between": ["a", "b"], "points": ["a.t", "b.s"] },
      "r0": { "type": "expression", "value": "cos(tilt)*r[0] + sin(tilt)*r[1]" },
      "r1": { "type": "expression", "value": "cos(tilt)*r[1] - sin(tilt)*r[0]" },)json" +
          shown);
  for (const std::string& formulation : formulations())
    for (const std::string integrator : {"rk44", "generalized-alpha,newton_tol=1e-12"}) {
      SensitivityOptions options;
      options.simulation.integrator = integrator;
      options.simulation.step = 1e-2;
      options.simulation.end = 0.3;
      options.parameters = {"tilt", "bodies.a.mass"};
      options.outputs = {"pa", "wa", "F", "B"};
      options.check = true;
      const auto of = [&](const System& system) {
        return sensitivity(make_system(system.model().shared_description(), formulation), options);
      };
      const Sensitivity one = of(turned), other = of(plain);
      ASSERT_EQ(one.values.size(), 12U);
      double off = 0, slopes = 0;
      for (std::size_t i = 0; i < one.values.size(); ++i)
        off = std::max(off, std::abs(one.values[i] - other.values[i]));
      for (std::size_t i = 0; i < one.derivatives.size(); ++i)
        slopes = std::max(slopes, std::abs(one.derivatives[i] - other.derivatives[i]));
      expect_at_most(off, 1e-11, formulation + ", " + integrator + ": values");
      expect_at_most(slopes, 1e-9, formulation + ", " + integrator + ": derivatives");
      EXPECT_THAT(one.disagrees, ::testing::Each(false));
    }
}

// Elements with an orientation of their own: the same as with that orientation typed.
TEST(NamedFrames, GiveElementsTheirOrientation) {
  const auto model = [](const std::string& joints, const std::string& forces) {
    const std::string text =
        R"json({ "liedyn": 1, "gravity": [0, 0, -9.81], "parameters": { "tilt": 0.4 }, "bodies": {
        "a": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [0.3, 0, 1], "angular_velocity": [1, 2, 3],
               "orientation": { "axis": [1, 0, 0], "angle": 0.5 }, "frames": {
                 "t": { "at": [0.1, 0.2, 0], "rotation": { "axis": [0, 0, 1], "angle": "tilt" } } } },
        "b": { "type": "rigid", "mass": 2, "inertia": [0.3, 0.2, 0.4], "position": [0.3, 0.1, 1.6], "frames": {
                 "s": { "at": [0, 0, -0.2], "rotation": { "axis": [0, 1, 1], "angle": "2*tilt" } } } } },
      "joints": {)json" +
        joints + R"json(}, "forces": {)json" + forces + R"json(},
      "sensors": { "p": { "type": "position", "of": "a" }, "q": { "type": "position", "of": "b" } },
      "simulation": { "end": 0.3, "step": 1e-3, "initial": "project", "integrator": "rk44" } })json";
    return make_system(std::make_shared<const Description>(read_model_text(text, "model.json")));
  };
  const std::string on_a = R"json("orientation": { "matrix": [["cos(tilt)", "-sin(tilt)", 0],
      ["cos(0.5)*sin(tilt)", "cos(0.5)*cos(tilt)", "-sin(0.5)"], ["sin(0.5)*sin(tilt)", "sin(0.5)*cos(tilt)", "cos(0.5)"]] },)json";
  const std::string on_b = R"json("orientation": { "axis": [0, 1, 1], "angle": "2*tilt" },)json";
  struct Element {
    const char *section, *start, *end;
    std::string frames, bodies, orientation;
  };
  const std::vector<Element> elements = {
      {"forces", R"json("x": { "type": "bushing", "between": )json",
       R"json( "stiffness": [100, 500, 50], "rotational_stiffness": [3, 1, 7], "damping": [1, 2, 3] })json",
       R"json(["a.t", "ground"], "at": "a.t",)json", R"json(["a", "ground"], "at": "a.t",)json", on_a},
      {"forces", R"json("x": { "type": "bushing", "between": )json",
       R"json( "stiffness": [100, 500, 50], "rotational_stiffness": [3, 1, 7] })json",
       R"json(["ground", "b.s"], "at": "b.s",)json", R"json(["ground", "b"], "at": "b.s",)json", on_b},
      {"joints", R"json("x": { "type": "generic", "between": )json",
       R"json( "fixed": ["x", "rotation_y"] })json", R"json(["a.t", "ground"], "at": "a.t",)json",
       R"json(["a", "ground"], "at": "a.t",)json", on_a},
      {"forces", R"json("x": { "type": "contact_sphere_box", "between": )json",
       R"json( "radius": 0.3, "size": [0.4, 0.2, 0.1], "stiffness": 1e4 })json",
       R"json(["a.t", "b.s"], "points": ["a.t", "b.s"],)json",
       R"json(["a", "b"], "points": ["a.t", "b.s"],)json", on_b}};
  for (const Element& e : elements) {
    const auto run = [&](const std::string& between) {
      const std::string text = e.start + between + e.end;
      const bool joint = std::string_view(e.section) == "joints";
      return simulate(model(joint ? text : "", joint ? "" : text)).trajectory;
    };
    const Trajectory framed = run(e.frames), typed = run(e.bodies + e.orientation), plain = run(e.bodies),
                     kept = run(e.frames + e.orientation);
    const auto apart = [&](const Trajectory& one, const Trajectory& other) {
      double out = 0;
      for (const char* name : {"p", "q"})
        for (std::size_t c = 0; c < 3; ++c)
          out =
              std::max(out, std::abs(one.at(one.rows() - 1, name)[c] - other.at(other.rows() - 1, name)[c]));
      return out;
    };
    expect_at_most(apart(framed, typed), 1e-10, std::string(e.start) + ": frame against orientation");
    expect_at_most(apart(kept, typed), 1e-10, std::string(e.start) + ": what is typed counts");
    EXPECT_GT(apart(framed, plain), 1e-4) << e.start;
  }
}

// A rotation of zero is that of the body; bodies that ride have the orientation of their carrier, and a position to be found says nothing about the orientation.
TEST(NamedFrames, HaveTheirAxesWhereverTheirBodyGetsItsOrientation) {
  const auto end_of = [](const std::string& position, const std::string& rotation,
                         const std::string& bushing) {
    const std::string text = R"json({ "liedyn": 1, "gravity": [0, 0, -9.81], "bodies": {
        "a": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": )json" +
                             position + R"json(, "orientation": { "axis": [1, 0, 0], "angle": 0.5 },
               "velocity": "consistent", "angular_velocity": [1, 2, 3],
               "frames": { "t": { "at": [0.1, 0.2, 0], "rotation": )json" +
                             rotation + R"json( } } },
        "r": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "on": "a",
               "frames": { "t": { "at": [0.1, 0.2, 0], "rotation": )json" +
                             rotation + R"json( } } } },
      "joints": { "ball": { "type": "spherical", "between": ["ground", "a"],
                            "at": { "ground": [0, 0, 1], "a": [-0.3, 0, 0] } } },
      "forces": { "x": { "type": "bushing", "stiffness": [100, 500, 50], "rotational_stiffness": [3, 1, 7], )json" +
                             bushing + R"json( } },
      "sensors": { "p": { "type": "position", "of": "a" }, "w": { "type": "angular_velocity", "of": "a" } },
      "simulation": { "end": 0.2, "step": 1e-3, "integrator": "rk44" } })json";
    const auto d = std::make_shared<const Description>(read_model_text(text, "model.json"));
    const Trajectory t = simulate(make_system(d)).trajectory;
    std::vector<double> out;
    for (const char* name : {"p", "w"})
      for (std::size_t c = 0; c < 3; ++c) out.push_back(t.at(t.rows() - 1, name)[c]);
    return out;
  };
  const auto expect_same = [](const std::vector<double>& one, const std::vector<double>& other,
                              const char* what) {
    double apart = 0;
    for (std::size_t i = 0; i < one.size(); ++i) apart = std::max(apart, std::abs(one[i] - other[i]));
    expect_at_most(apart, 1e-10, what);
  };
  const std::string here = "[0.3, 0, 1]", near = R"json({ "consistent": [0.29, 0.01, 1] })json",
                    none = R"json({ "axis": [0, 0, 1], "angle": 0 })json",
                    turn = R"json({ "axis": [1, 0, 0], "angle": 0.4 })json";
  const auto on_frame = [](const std::string& body) {
    return fmt::format(R"json("between": ["{0}.t", "ground"], "at": "{0}.t")json", body);
  };
  const auto typed = [](const std::string& body, double angle) {
    return fmt::format(
        R"json("between": ["{0}", "ground"], "at": "{0}.t", "orientation": {{ "axis": [1, 0, 0], "angle": {1} }})json",
        body, angle);
  };
  expect_same(end_of(here, none, on_frame("a")), end_of(here, none, typed("a", 0.5)), "a rotation of zero");
  EXPECT_GT(std::abs(end_of(here, none, typed("a", 0.5))[5] - end_of(here, none, typed("a", 0))[5]), 1e-4);
  expect_same(end_of(here, turn, on_frame("r")), end_of(here, turn, typed("a", 0.9)), "on a body that rides");
  const std::string
      framed = R"json("between": ["a.t", "ground"], "at": { "ground": [0.4, 0.2, 1.1] })json",
      plain = R"json("between": ["a", "ground"], "at": { "a": [0.1, 0.2, 0], "ground": [0.4, 0.2, 1.1] },
                                   "orientation": { "axis": [1, 0, 0], "angle": 0.9 })json";
  expect_same(end_of(near, turn, framed), end_of(near, turn, plain), "a position to be found");
}

TEST(NamedFrames, AnAngleOfABodyIsNotThatOfATurnedFrame) {
  const auto message = [](const std::string& sensor, const std::string& angle) {
    try {
      read_model_text(R"json({ "liedyn": 1, "bodies": { "p": { "type": "planar", "mass": 1, "inertia": 1,
          "frames": { "t": { "at": [0, 0], "rotation": { "axis": [0, 0, 1], "angle": )json" +
                          angle + R"json( } } } } }, "sensors": { "x": )json" + sensor + "} }",
                      "model.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string on_frame = R"json({ "type": "angle", "of": "p.t" })json";
  EXPECT_THAT(message(on_frame, "0.5"),
              AllOf(HasSubstr("sensors.x: this angle is one of a body"), HasSubstr("name the body")));
  EXPECT_EQ(message(on_frame, "0"), "");
  EXPECT_THAT(
      message(R"json({ "type": "orientation", "of": "p.t", "rotation": { "cardan": [0, 0, 1] } })json",
              "0.5"),
      HasSubstr("sensors.x.rotation: is given twice, here and by the frame"));
}

}  // namespace
}  // namespace liedyn

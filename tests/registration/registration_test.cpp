// Kinds from outside the library, in a program of their own: what is registered stays in the lists. The tests run in this order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "drag.h"
#include "liedyn/io/schema.h"
#include "liedyn/liedyn.h"
#include "liedyn/model/joints/held_rows.h"
#include "verlet.h"

namespace liedyn {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Field number_field(const std::string& name) {
  return {.name = name, .type = FieldType::Number, .unit = "", .summary = "A number."};
}
Field body_field() {
  return {.name = "on", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true};
}
ListedKind drag_like(Kind kind) { return {std::move(kind), &make_batch<Automatic<Drag>>}; }

TEST(Registration, AWrongKindIsRefused) {
  const auto force = [](Kind kind) { return refusal([&] { register_force(drag_like(std::move(kind))); }); };
  const Field on = body_field(), c = number_field("coefficient");
  EXPECT_THAT(force({"two words", "", {on, c}}), HasSubstr("force 'two words': expected a name"));
  EXPECT_THAT(force({"spring_damper", "", {on, c}}), HasSubstr("force 'spring_damper': this name is taken"));
  EXPECT_THAT(force({"f", "", {on, on}}), HasSubstr("force 'f': field 'on': this name is given twice"));
  EXPECT_THAT(force({"f", "", {c, on}}), HasSubstr("field 0[0] as its body, but the kind has no such field"));
  EXPECT_THAT(force({"f", "", {on, number_field("type")}}), HasSubstr("field 'type'"));
  EXPECT_THAT(
      force({"f",
             "",
             {on, {.name = "c", .type = FieldType::Vector, .unit = "", .summary = "", .defaults = {1}}}}),
      HasSubstr("field 'c': expected 3 defaults, got 1"));
  EXPECT_THAT(force({"f", "", {on, {.name = "c", .type = FieldType::Choice, .unit = "", .summary = ""}}}),
              HasSubstr("field 'c': expected at least one choice"));
  EXPECT_THAT(refusal([&] {
                register_force({{"f", "", {on, c}}, nullptr});
              }),
              HasSubstr("force 'f': has no function that makes it"));
  EXPECT_THAT(
      refusal([&] {
        register_sensor({{"s", "", {number_field("x")}}, "", 1, [](const auto&, auto* out) { *out = 0; }});
      }),
      HasSubstr("sensor 's': field 'x': a sensor cannot read the value of such a field"));
  EXPECT_THAT(refusal([&] {
                register_sensor({{"s", "", {}}, "", 0, [](const auto&, auto* out) { *out = 0; }});
              }),
              HasSubstr("sensor 's': expected 1 to 64 components, got 0"));
}

TEST(Registration, AWrongIntegratorIsRefused) {
  const auto method = [](const char* name, std::vector<IntegratorOption> options) {
    return refusal(
        [&] { register_integrator(listed_integrator<verlet::Verlet>(name, "", "", std::move(options))); });
  };
  EXPECT_THAT(method("a,b", {}), HasSubstr("integrator 'a,b': expected a name"));
  EXPECT_THAT(method("dopri5", {}), HasSubstr("integrator 'dopri5': this name is taken"));
  EXPECT_THAT(method("m", {{"rho", "2", "", {}, 0, 1}}),
              HasSubstr("option 'rho': the default '2' is not one"));
  EXPECT_THAT(method("m", {{"rtol", "1e-3", "", {}, 0, 1}}), HasSubstr("'rtol' needs the option 'adaptive'"));
}

// Two points keep the same height: the joint of docs/howto/add_a_joint.md.
struct SameHeight {
  enum Fields { kBetween, kPoints };
  static constexpr int frames = 2, rows = 1, constants = 0;
  static constexpr Optional optional = {};
  static constexpr bool across = false;
  static std::vector<Attachment> attachments() { return frames_at_two_points(kBetween, kPoints); }
  template <class S>
  static void derive(const Inputs<S>&, S*) {}
  static std::string row_name(int) { return "height"; }
  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 2>& f, const S*) {
    return Eigen::Matrix<S, 1, 1>(f[0].p.z() - f[1].p.z());
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S*, const S* lambda,
                          JointDerivatives<2, 1, S>& d) {
    RowDerivatives<1, S>(f, lambda, d).place(0, 2);
  }
};

TEST(Registration, WhatIsRegisteredIsListed) {
  register_drag();
  register_joint({{"same_height", "Two points keep the same height.", {between_bodies(), two_points()}},
                  &make_batch<SameHeight>});
  register_sensor(
      {{"height",
        "Height of a body.",
        {{.name = "of", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true}}},
       "m",
       1,
       [](const auto& c, auto* out) { *out = c.motion().p.z(); }});
  register_sensor(
      {{"place",
        "Place of a body.",
        {{.name = "of", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true}}},
       "m",
       3,
       [](const auto& c, auto* out) {
         for (int k = 0; k < 3; ++k) out[k] = c.motion().p[k];
       },
       {.axes = ShownIn::Place}});
  verlet::register_verlet();
  EXPECT_THAT(refusal([] { register_drag(); }), HasSubstr("force 'drag': this name is taken"));

  EXPECT_NE(find_kind(Section::Forces, "drag"), nullptr);
  EXPECT_NE(find_kind(Section::Joints, "same_height"), nullptr);
  EXPECT_NE(find_kind(Section::Sensors, "height"), nullptr);
  const std::string schema = model_schema();
  for (const char* name : {"\"drag\"", "\"coefficient\"", "\"same_height\"", "\"height\""})
    EXPECT_THAT(schema, HasSubstr(name));
  EXPECT_THAT(refusal([] {
                ModelBuilder b;
                b.force("f", "drg");
                b.finish();
              }),
              testing::AllOf(HasSubstr("drag"), HasSubstr("did you mean 'drag'?")));
}

TEST(Registration, AfterTheFirstModelItIsTooLate) {
  const char* late = "registered too late: the lists of kinds are in use";
  EXPECT_THAT(refusal([] {
                register_force(drag_like({"late", "", {body_field(), number_field("c")}}));
              }),
              HasSubstr(late));
  EXPECT_THAT(refusal([] {
                register_joint({{"late", "", {between_bodies(), two_points()}}, &make_batch<SameHeight>});
              }),
              HasSubstr(late));
  check_integrator("verlet");
  EXPECT_THAT(refusal([] { check_integrator("verlt"); }), HasSubstr("did you mean 'verlet'?"));
  EXPECT_THAT(refusal([] { register_integrator(listed_integrator<verlet::Verlet>("late", "", "", {})); }),
              HasSubstr(late));
}

// Of two bodies that keep the same height one is pulled: z'' = F/(m_1 + m_2), and the joint pulls the other with m_2 z''.
TEST(Registration, ARegisteredJointHoldsInEveryFormulation) {
  for (const char* formulation : {"r3so3", "r3so3-spatial", "se3", "euler-parameters", "minimal"}) {
    ModelBuilder b({0, 0, 0});
    b.body("one", "rigid").set("mass", 1).set("inertia", {1, 2, 1.5});
    b.body("two", "rigid").set("mass", 3).set("inertia", {1, 2, 1.5}).set("position", {1, 0, 0});
    b.joint("level", "same_height").set("between", {"one", "two"}).set("points", {0, 0, 0, 1, 0, 0});
    b.force("pull", "force").set("on", "one").set("force", {0, 0, 8});
    b.sensor("height", "height").set("of", "two");
    b.sensor("carried", "reaction_force").set("of", "level");
    SimulateOptions options;
    options.end = 0.5;
    options.step = 1e-2;
    const Result result = simulate(make_system(b, {}, formulation), options);
    ASSERT_TRUE(result.summary.completed) << result.summary.failure;
    EXPECT_NEAR(result.trajectory.last("height")[0], 2 * 0.5 * 0.5 / 2, 1e-12) << formulation;
    EXPECT_NEAR(result.trajectory.last("carried")[2], 6, 1e-9) << formulation;
  }
}

TEST(Registration, ARegisteredForceAgainstItsClosedForm) {
  ModelBuilder b({0, 0, -9.81});
  b.body("sphere", "point").set("mass", 0.5).set("position", {0, 0, 0});
  b.force("air", "drag").set("on", "sphere").set("coefficient", 0.02);
  b.sensor("z", "height").set("of", "sphere");
  const System system = make_system(b);
  const auto end = [&](const char* integrator) {
    SimulateOptions options;
    options.end = 3;
    options.step = 1e-3;
    options.integrator = integrator;
    return simulate(system, options).trajectory.last("z")[0];
  };
  // z = -(m/c) ln cosh(t sqrt(g c/m))
  const double expected = -0.5 / 0.02 * std::log(std::cosh(3 * std::sqrt(9.81 * 0.02 / 0.5)));
  EXPECT_NEAR(end("dopri5"), expected, 1e-12 * std::abs(expected));
  EXPECT_NEAR(end("generalized-alpha"), expected, 1e-5);
}

// A sub-model that is moved and turned, whose expression names a registered sensor: in its own axes if the sensor says what it shows.
TEST(Registration, MovedSubModelsSeeRegisteredSensorsThatSayInWhichAxesTheyAre) {
  const auto with = [](const char* sensor, const char* value) {
    return fmt::format(R"json({{ "liedyn": 1, "gravity": [0, 0, 0], "models": {{ "s": {{ "at": [5, 0, 0],
  "rotation": {{ "axis": [0, 0, 1], "angle": "90*deg" }}, "model": {{ "liedyn": 1,
    "bodies": {{ "b": {{ "type": "point", "mass": 1, "position": [1, 2, 3], "velocity": [4, 0, 0] }} }},
    "sensors": {{ "p": {{ "type": "{}", "of": "b" }}, "own": {{ "type": "expression", "value": "{}" }} }} }} }} }},
  "simulation": {{ "end": 0.5, "step": 0.01 }} }})json",
                       sensor, value);
  };
  const Trajectory run = simulate(load_text(with("place", "p[0]; p[1]; p[2]"))).trajectory;
  EXPECT_NEAR(run.last("s.own")[0], 3, 1e-12);
  EXPECT_NEAR(run.last("s.own")[1], 2, 1e-12);
  EXPECT_NEAR(run.last("s.own")[2], 3, 1e-12);
  EXPECT_NEAR(run.last("s.p")[0], 3, 1e-12);
  EXPECT_NEAR(run.last("s.p")[1], 3, 1e-12);
  EXPECT_THAT(refusal([&] { load_text(with("height", "p")); }), HasSubstr("'s.p' of type height"));
}

// A field that may be in the axes of bodies says what it is.
TEST(Registration, WhatMayBeInBodyAxesIsAPointOrADirection) {
  Field at = common_place();
  at.pose = PoseRole::Unknown;
  EXPECT_THAT(refusal([&] {
                register_joint({{"j", "", {between_bodies(), at}}, &make_batch<SameHeight>});
              }),
              HasSubstr("field 'at': what may be in the axes of bodies is a point or a direction"));
  Field number = number_field("c");
  number.replaced_by = "d";
  EXPECT_THAT(refusal([&] {
                register_force(drag_like({"f", "", {body_field(), number}}));
              }),
              HasSubstr("it is replaced by 'd', which this kind does not have"));
}

// A mass on a spring: the points of the Verlet method are x_0 cos(n theta) with sin(theta/2) = omega h/2.
TEST(Registration, ARegisteredIntegratorAgainstItsClosedForm) {
  const double k = 90, m = 2, x0 = 0.1, h = 0.01;
  ModelBuilder b({0, 0, 0});
  b.body("mass", "point").set("mass", m).set("position", {x0, 0, 0});
  b.force("spring", "spring_damper").set("between", {"ground", "mass"}).set("points", {-2, 0, 0, x0, 0, 0});
  b.set("stiffness", k).set("free_length", 2);
  b.sensor("x", "position").set("of", "mass");
  SimulateOptions options;
  options.integrator = "verlet";
  options.step = h;
  const Result result = simulate(make_system(b), options);
  EXPECT_EQ(result.summary.steps, 100);
  EXPECT_NEAR(result.trajectory.last("x")[0], x0 * std::cos(200 * std::asin(std::sqrt(k / m) * h / 2)),
              1e-13);
}

// The lists may be read by any number of threads.
TEST(Registration, ThreadsReadTheListsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<double> found(8, 0);
  for (double& out : found)
    threads.emplace_back([&out] {
      ModelBuilder b;
      b.body("sphere", "point").set("mass", 0.5);
      b.force("air", "drag").set("on", "sphere").set("coefficient", 0.02);
      b.sensor("z", "height").set("of", "sphere");
      SimulateOptions options;
      options.end = 0.1;
      out = simulate(make_system(b), options).trajectory.last("z")[0];
    });
  for (std::thread& thread : threads) thread.join();
  for (double z : found) EXPECT_EQ(z, found[0]);
  EXPECT_LT(found[0], 0);
}

}  // namespace
}  // namespace liedyn

#include "liedyn/io/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/simulate.h"

namespace liedyn {
namespace {

constexpr const char* kModel = R"json({ "liedyn": 1, "name": "mechanism",
  "parameters": { "l": 0.3, "m": "2*l", "speed": 6 },
  "gravity": [0, "-l", -9.81],
  "bodies": {
    "crank": { "type": "rigid", "mass": "m", "inertia": [[1, 0.1, 0], [0.1, 2, 0.2], [0, 0.2, 2.5]], "position": ["l/2", 0, 0],
               "orientation": { "cardan": [0, 0, 0.1] }, "velocity": "consistent", "angular_velocity": [0, 0, "speed"] },
    "rod": { "type": "rigid", "mass": 1, "inertia": [2, 2, 3, 0.1, 0.2, 0.3], "position": { "consistent": [0.9, 0, 0] },
             "orientation": { "axis": [0, 0, 2], "angle": "l" }, "velocity": "consistent",
             "angular_velocity": "consistent", "formulation": "se3" },
    "ball": { "type": "point", "mass": 0.1, "position": [0, 0, 4] } },
  "beams": {
    "wing": { "type": "matrix", "from": [0, 5, 0], "to": [1, 5, 0], "elements": 2,
              "stiffness": [100, 101, 102, 3, "10*l", 5],
              "mass_per_length": 1, "inertia_per_length": [0.1, 0.06, 0.05] } },
  "joints": {
    "pivot": { "type": "revolute", "between": ["ground", "crank"], "at": [0, 0, 0], "axis": [0, 0, 1] },
    "pin": { "type": "spherical", "between": ["crank", "rod"], "at": { "crank": [0.15, 0, 0], "rod": [-0.4, 0, 0] } },
    "guide": { "type": "generic", "between": ["ground", "rod"], "at": [1.3, 0, 0], "fixed": ["rotation_x", "rotation_y"] } },
  "forces": {
    "spring": { "type": "spring_damper", "between": ["ground", "ball"], "points": [[0, 0, 5], [0, 0, 4]], "stiffness": 30,
                "side": "tension" },
    "motor": { "type": "joint_actuator", "joint": "pivot", "feed_forward": "3*sin(2*t)" } },
  "states": { "work": { "type": "integral", "input": "rate^2" } },
  "sensors": {
    "rate": { "type": "joint_angle_rate", "of": "pivot" },
    "tip": { "type": "position", "of": "rod", "at": { "rod": [0.4, 0, 0] } },
    "sum": { "type": "expression", "value": "tip[0] + l; 3" } },
  "simulation": { "end": 0.02, "step": 2e-3, "integrator": "generalized-alpha,rho=0.8", "output_every": 2, "initial": "project" } })json";

std::shared_ptr<const Description> built() {
  ModelBuilder b({0, 0, -9.81}, "mechanism");
  b.parameter("l", 0.3).parameter("m", "2*l").parameter("speed", 6).gravity(0, "-l", -9.81);
  b.simulation({.end = 0.02,
                .step = 2e-3,
                .integrator = "generalized-alpha,rho=0.8",
                .initial = "project",
                .output_every = 2});
  Mat3 J;
  J << 1, 0.1, 0,   //
      0.1, 2, 0.2,  //
      0, 0.2, 2.5;
  b.body("crank", "rigid").set("mass", "m").set("inertia", J).set("position", {"l/2", 0, 0});
  b.set("orientation", cardan(0, 0, 0.1)).consistent("velocity").set("angular_velocity", {0, 0, "speed"});
  b.body("rod", "rigid")
      .set("mass", 1)
      .set("inertia", {2, 2, 3, 0.1, 0.2, 0.3})
      .guess("position", {0.9, 0, 0});
  b.set("orientation", axis_angle(0, 0, 2, "l")).consistent("velocity").set("angular_velocity", "consistent");
  b.set("formulation", "se3");
  b.body("ball", "point").set("mass", 0.1).set("position", Vec3(0, 0, 4));
  b.beam("wing", "matrix").set("from", {0, 5, 0}).set("to", {1, 5, 0}).set("elements", 2);
  b.set("stiffness", {100, 101, 102, 3, "10*l", 5}).set("mass_per_length", 1);
  b.set("inertia_per_length", {0.1, 0.06, 0.05});
  b.joint("pivot", "revolute")
      .set("between", {"ground", "crank"})
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  b.joint("pin", "spherical").set("between", {"crank", "rod"});
  b.in_bodies("at", {{"crank", {0.15, 0, 0}}, {"rod", {-0.4, 0, 0}}});
  b.joint("guide", "generic")
      .set("between", {"ground", "rod"})
      .set("at", {1.3, 0, 0})
      .set("fixed", {"rotation_x", "rotation_y"});
  b.force("spring", "spring_damper").set("between", "ground", "ball").set("points", {0, 0, 5, 0, 0, 4});
  b.set("stiffness", 30).set("side", "tension");
  b.force("motor", "joint_actuator").set("joint", "pivot").set("feed_forward", "3*sin(2*t)");
  b.state("work", "integral").set("input", "rate^2");
  b.sensor("rate", "joint_angle_rate").set("of", "pivot");
  b.sensor("tip", "position").set("of", "rod").in_bodies("at", {{"rod", {0.4, 0, 0}}});
  b.sensor("sum", "expression").set("value", "tip[0] + l; 3");
  return b.finish();
}

void expect_same(const std::vector<NumberExpression>& a, const std::vector<NumberExpression>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].number, b[i].number);
    EXPECT_EQ(a[i].text, b[i].text);
  }
}

TEST(Load, AModelBuiltInCodeIsThatOfTheFile) {
  const Description file = read_model_text(kModel, "");
  const std::shared_ptr<const Description> code = built();
  EXPECT_EQ(code->name, file.name);
  EXPECT_EQ(code->parameter_names, file.parameter_names);
  EXPECT_EQ(code->parameters, file.parameters) << "bit by bit";
  EXPECT_EQ(code->words, file.words);
  expect_same(code->expressions, file.expressions);
  expect_same(code->signals, file.signals);
  EXPECT_EQ(code->simulation.end, file.simulation.end);
  EXPECT_EQ(code->simulation.step, file.simulation.step);
  EXPECT_EQ(code->simulation.integrator, file.simulation.integrator);
  EXPECT_EQ(code->simulation.initial, file.simulation.initial);
  EXPECT_EQ(code->simulation.output_every, file.simulation.output_every);
  for (Section section : kSections) {
    ASSERT_EQ(code->entries(section).size(), file.entries(section).size()) << section_name(section);
    for (std::size_t i = 0; i < file.entries(section).size(); ++i) {
      const Entry &a = code->entries(section)[i], &b = file.entries(section)[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.kind, b.kind);
      for (std::size_t f = 0; f < b.fields.size(); ++f) {
        const FieldValue &x = a.fields[f], &y = b.fields[f];
        EXPECT_TRUE(x.first == y.first && x.word == y.word && x.count == y.count && x.form == y.form &&
                    x.in_bodies == y.in_bodies && x.swapped == y.swapped && x.given == y.given &&
                    x.consistent == y.consistent)
            << section_name(section) << '.' << a.name << '.' << a.kind->fields[f].name;
      }
    }
  }
}

TEST(Load, FromFileTextAndCodeTheRunIsTheSame) {
  const Result text = simulate(load_text(kModel)), code = simulate(make_system(built()));
  ASSERT_TRUE(text.summary.completed) << text.summary.failure;
  EXPECT_EQ(text.trajectory.data, code.trajectory.data) << "bit by bit";
  EXPECT_EQ(text.trajectory.rows(), 6u);
}

TEST(Load, NumbersAreSetAndErrorsNameThem) {
  const System system = load("heavy_top", {{"spin", 10}, {"bodies.top.mass", 20}}, "se3");
  EXPECT_EQ(system.params().get(system.params().find("bodies.top.mass")), 20);
  EXPECT_EQ(system.model().formulation(), "se3");
  try {
    load("heavy_top", {{"bodies.top.mas", 1}, {"bodies.tip.mass", 1}});
    FAIL() << "two unknown paths were accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 2u);
  }
}

TEST(Load, AResultIsReadByTheNamesOfItsSensors) {
  SimulateOptions options = default_options(load("heavy_top"));
  options.end = 0.01;
  const Result result = simulate(load("heavy_top"), options);
  const Trajectory& t = result.trajectory;
  const Channel& channel = t.channel("position");
  ASSERT_EQ(t.last("position").size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(t.last("position")[static_cast<std::size_t>(i)], t.at(t.rows() - 1, channel.first + i));
    EXPECT_EQ(t.at(2, "position")[static_cast<std::size_t>(i)], t.at(2, channel.first + i));
  }
  EXPECT_NEAR(t.time(t.rows() - 1), 0.01, 1e-15);
  const auto message = [](const std::function<void()>& action) -> std::string {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([&] { t.last("positon"); }), testing::HasSubstr("did you mean 'position'?"));
  EXPECT_THAT(message([&] { t.at(1000, "position"); }), testing::HasSubstr("there is no row 1000"));
}

// The same in C++, in a model file and (python/tests/test_builder.py) in Python: the same bits.
TEST(Load, TheSliderCrankInCodeIsTheShippedOne) {
  ModelBuilder m({0, 0, -9.81}, "slider_crank");
  m.parameter("speed", 6);
  m.simulation({.end = 5, .step = 1e-3, .integrator = "generalized-alpha,rho=0.875", .formulation = "r3so3"});
  m.body("crank", "rigid")
      .set("mass", 0.12)
      .set("inertia", {1e-4, 1e-4, 1e-5})
      .set("position", {0, 0.1, 0.16});
  m.set("velocity", {0, "-0.04*speed", 0}).set("angular_velocity", {"speed", 0, 0});
  m.body("rod", "rigid")
      .set("mass", 0.5)
      .set("inertia", {4e-4, 4e-3, 4e-3})
      .set("position", {0.1, 0.05, 0.1});
  m.set("orientation", cardan("-atan(0.5)", "asin(sqrt(5)/3)", 0))
      .set("velocity", {"0.02*speed", "-0.04*speed", 0});
  m.set("angular_velocity_inertial", {"0.32*speed", "-0.16*speed", "0.08*speed"});
  m.body("slider", "rigid").set("mass", 2).set("inertia", {1e-4, 1e-4, 1e-4}).set("position", {0.2, 0, 0});
  m.set("velocity", {"0.04*speed", 0, 0});
  m.joint("A", "revolute").set("between", "ground", "crank").set("at", {0, 0.1, 0.12}).set("axis", {1, 0, 0});
  m.joint("B", "spherical").set("between", "crank", "rod").set("at", {0, 0.1, 0.2});
  m.joint("C", "universal").set("between", "rod", "slider").set("at", {0.2, 0, 0});
  m.set("first_axis", {0, 2, -1}).set("second_axis", {1, 0, 0});
  m.joint("D", "prismatic").set("between", "ground", "slider").set("at", {0.2, 0, 0}).set("axis", {1, 0, 0});
  m.sensor("slider", "position").set("of", "slider");
  m.sensor("slider_position", "expression").set("value", "slider[0]");
  m.sensor("slider_velocity", "joint_displacement_rate").set("of", "D");
  m.sensor("crank_angle", "joint_angle").set("of", "A");
  m.sensor("crank_speed", "joint_angle_rate").set("of", "A");
  m.sensor("energy", "energy");
  const auto run = [](const System& system) {
    SimulateOptions options = default_options(system);
    options.end = 0.5;
    return simulate(system, options).trajectory.data;
  };
  const System built = make_system(m.finish());
  EXPECT_EQ(run(built), run(load("slider_crank")));
}

}  // namespace
}  // namespace liedyn

// Configurations as files: what is written is read again, and modal coordinates only for the modes they belong to.
#include "liedyn/io/configuration_file.h"

#include <gtest/gtest.h>

#include "liedyn/io/read_model.h"
#include "liedyn/model/model.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

System block(const std::string& modes) {
  const std::string text =
      R"({"liedyn": 1, "flexible": {
      "block": {"type": "brick", "size": [1, 0.2, 0.1], "divisions": [4, 1, 1], "young": 1e9, "density": 1000,
                "modes": )" +
      modes + R"(},
      "left": {"type": "interface", "of": "block", "at": [-0.5, 0, 0], "group": "x-"}}})";
  const auto description = std::make_shared<const Description>(read_model_text(text, ""));
  return System(Model::compile(description), Params(description));
}

std::string configuration_complaint(const std::string& text, const System& system) {
  try {
    read_configuration_text(text, "rest.json", system);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ConfigurationFiles, TakeOrientationsInAllFormsOfModels) {
  const auto description = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1, "bodies": {"a": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]},
                                  "flat": {"type": "planar", "mass": 1, "inertia": 1}}})",
      ""));
  const System system(Model::compile(description), Params(description));
  const Mat3 expected = SO3<double>::exp(Vec3(0, 0, 0.5)).R();
  for (
      const char* form :
      {R"({"axis": [0, 0, 2], "angle": 0.5})", R"({"cardan": [0, 0, 0.5]})", "[0, 0, 0.5]",
       R"({"rotation_vector": [0, 0, 0.5]})",
       R"({"quaternion": [0.9689124217106447, 0, 0, 0.2474039592545229]})",
       R"({"matrix": [[0.8775825618903728, -0.479425538604203, 0], [0.479425538604203, 0.8775825618903728, 0], [0, 0, 1]]})"}) {
    const std::string text =
        fmt::format(R"({{"bodies": {{"a": {{"orientation": {}}}, "flat": {{"angle": 0.5}}}}}})", form);
    const Configuration c = read_configuration_text(text, "rest.json", system);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LT((c.bodies[i].orientation.R() - expected).norm(), 1e-14) << form;
  }
  // One message about a file of another model, however many bodies it has.
  EXPECT_EQ(configuration_complaint(R"({"model": "chain", "bodies": {"x": {}, "y": {}, "z": {}}})", system),
            "rest.json:1: model: this is a configuration of the model 'chain', expected one of ''");
}

// Two links on hinges, and a four-bar linkage of unit squares: coordinates of joints instead of positions.
TEST(ConfigurationFiles, TakeCoordinatesOfJoints) {
  const auto arm = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"upper": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0]},
                     "lower": {"type": "rigid", "mass": 3, "inertia": [1, 1, 1], "position": [1.5, 0, 0]}},
          "joints": {"elbow": {"type": "revolute", "between": ["lower", "upper"], "at": [1, 0, 0], "axis": [0, 0, -1]},
                     "shoulder": {"type": "revolute", "between": ["ground", "upper"], "at": [0, 0, 0], "axis": [0, 0, 1],
                                  "zero": -0.2}}})",
      ""));
  // The shoulder is drawn at 0.2; the elbow, drawn at 0, counts the other way round.
  for (const char* formulation : {"r3so3", "se3", "minimal", "euler-parameters"}) {
    const System system(Model::compile(arm, formulation), Params(arm));
    const Configuration c = read_configuration_text(
        R"({"joints": {"shoulder": {"value": 2.7, "rate": 2}, "elbow": 0.4}})", "rest.json", system);
    const double a = 2.5, b = a + 0.4;
    const Vec3 upper(0.5 * std::cos(a), 0.5 * std::sin(a), 0),
        lower(std::cos(a) + 0.5 * std::cos(b), std::sin(a) + 0.5 * std::sin(b), 0);
    expect_at_most((c.bodies[0].position - upper).norm() + (c.bodies[1].position - lower).norm(), 1e-12,
                   std::string(formulation) + ": positions");
    expect_at_most((c.bodies[1].velocity - Vec3(0, 0, 2).cross(lower)).norm(), 1e-11,
                   std::string(formulation) + ": velocity by the rate of the shoulder");
    // The other joint stays.
    const Configuration one =
        read_configuration_text(R"({"joints": {"shoulder": 2.7}})", "rest.json", system);
    expect_at_most((one.bodies[1].position - 3 * upper).norm(), 1e-12,
                   std::string(formulation) + ": the elbow stays");
  }
  const System system(Model::compile(arm), Params(arm));
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulde": 1}})", system),
            "rest.json:1: joints.shoulde: the model has no such joint (hint: did you mean 'shoulder'?)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": 7}})", system),
            "rest.json:1: joints.shoulder: expected an angle from -pi to pi, got 7 (hint: turns are counted "
            "from the start of "
            "a run)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": "a"}})", system),
            "rest.json:1: joints.shoulder: in the expression 'a', at character 1: unknown name 'a'");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": true}})", system),
            "rest.json:1: joints.shoulder: expected a finite number, got true");

  const auto bars = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"crank": {"type": "planar", "mass": 1, "inertia": 1, "position": [0, 0.5], "angle": 1.5707963267948966},
                     "coupler": {"type": "planar", "mass": 1, "inertia": 1, "position": [0.5, 1]},
                     "rocker": {"type": "planar", "mass": 1, "inertia": 1, "position": [1, 0.5], "angle": 1.5707963267948966}},
          "joints": {"A": {"type": "planar_revolute", "between": ["ground", "crank"], "at": [0, 0]},
                     "B": {"type": "planar_revolute", "between": ["crank", "coupler"], "at": [0, 1]},
                     "C": {"type": "planar_revolute", "between": ["coupler", "rocker"], "at": [1, 1]},
                     "D": {"type": "planar_revolute", "between": ["ground", "rocker"], "at": [1, 0]}}})",
      ""));
  for (const char* formulation : {"r3so3", "minimal"}) {
    const System linkage(Model::compile(bars, formulation), Params(bars));
    const Configuration c = read_configuration_text(R"({"joints": {"A": -0.6}})", "rest.json", linkage);
    const Vec3 crank(0.5 * std::sin(0.6), 0.5 * std::cos(0.6), 0);
    expect_at_most((c.bodies[0].position - crank).norm(), 1e-9,
                   std::string(formulation) + ": crank of the parallelogram");
    expect_at_most((c.bodies[1].position - 2 * crank - Vec3(0.5, 0, 0)).norm(), 1e-9,
                   std::string(formulation) + ": coupler, parallel to the ground");
  }
}

// Expressions of parameters, as in models; and coordinates that were set from outside instead.
TEST(ConfigurationFiles, TakeExpressions) {
  const auto arm = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1, "parameters": {"tilt": 0.3},
          "bodies": {"arm": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0]},
                     "free": {"type": "point", "mass": 1}},
          "states": {"x": {"type": "expression", "rate": "-x"}},
          "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]}}})",
      ""));
  const System system(Model::compile(arm), Params(arm));
  const auto angle_of = [](const Configuration& c) {
    return std::atan2(c.bodies[0].position.y(), c.bodies[0].position.x());
  };
  const Configuration c = read_configuration_text(
      R"({"joints": {"hinge": {"value": "30*deg", "rate": "2*tilt"}}, "states": {"x": "tilt^2"},
          "bodies": {"free": {"position": [1, "tilt", "-tilt"]}}})",
      "rest.json", system);
  EXPECT_NEAR(angle_of(c), std::numbers::pi / 6, 1e-12);
  EXPECT_NEAR(c.bodies[0].velocity.norm(), 0.3, 1e-11);
  EXPECT_NEAR(c.states[0], 0.09, 1e-15);
  EXPECT_LT((c.bodies[1].position - Vec3(1, 0.3, -0.3)).norm(), 1e-15);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"hinge": "30*degrees"}})", system),
      "rest.json:1: joints.hinge: in the expression '30*degrees', at character 4: unknown name 'degrees' "
      "(hint: did you mean 'deg'?)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"hinge": "1/0"}})", system),
            "rest.json:1: joints.hinge: expected a finite number, got '1/0'");

  std::vector<Assignment> assignments = {{"tilt", 0.1}, {"initial.hinge", -0.4}};
  Description d = *arm;
  const std::vector<JointStart> starts = take_initial(assignments, d);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(assignments.size(), 1u);
  EXPECT_EQ(d.assigned.back(), (std::pair<std::string, double>{"initial.hinge", -0.4}));
  EXPECT_NEAR(angle_of(read_configuration_text(kNoChanges, "", system, {starts, {}})), -0.4, 1e-12);
  EXPECT_NEAR(angle_of(read_configuration_text(R"({"joints": {"hinge": 1}})", "", system, {starts, {}})),
              -0.4, 1e-12);
  try {
    read_configuration_text(kNoChanges, "", system,
                            {{{.joint = "hing", .value = 1, .path = "initial.hing"}}, {}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "initial.hing: the model has no such joint (hint: did you mean 'hinge'?)");
  }
}

// A joint that is driven has no other start; one whose speed is prescribed may stand anywhere. Values that were set count.
TEST(ConfigurationFiles, KnowDrives) {
  const auto arm = [](const std::string& drive) {
    const auto description = std::make_shared<const Description>(read_model_text(
        R"({"liedyn": 1, "parameters": {"speed": 3},
          "bodies": {"arm": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0],
                             "velocity": "consistent", "angular_velocity": "consistent"}},
          "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]},
                     "motor": {"joint": "hinge", )" +
            drive + "}}}",
        ""));
    return System(Model::compile(description), Params(description));
  };
  const System driven = arm(R"x("type": "prescribed_motion", "motion": "0.8*sin(speed*t)")x");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"hinge": 0.5}})", driven),
            "rest.json:1: joints.hinge: the drive 'motor' prescribes this coordinate: it has no other start "
            "(hint: change joints.motor.motion, or the time of the start)");
  const System turned = arm(R"x("type": "prescribed_velocity", "velocity": "speed*cos(t)")x");
  const Configuration c = read_configuration_text(R"({"joints": {"hinge": 0.5}})", "", turned, {{}, 1.0});
  EXPECT_LT((c.bodies[0].position - 0.5 * Vec3(std::cos(0.5), std::sin(0.5), 0)).norm(), 1e-12);
  EXPECT_NEAR(c.bodies[0].angular_velocity.z(), 3 * std::cos(1.0), 1e-11);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"hinge": {"value": 0.5, "rate": 1}}})", turned),
      "rest.json:1: joints.hinge: the drive 'motor' prescribes the rate of this coordinate, got 1 for it "
      "(hint: give the value only)");
  // A function of time that was replaced by a constant.
  Params params = turned.params();
  params.set("joints.motor.velocity", 0.25);
  const System slow(turned.shared_model(), params);
  EXPECT_NEAR(read_configuration_text(R"({"joints": {"hinge": 0.5}})", "", slow, {{}, 1.0})
                  .bodies[0]
                  .angular_velocity.z(),
              0.25, 1e-12);
}

TEST(ConfigurationFiles, ModalCoordinatesBelongToTheirModes) {
  const System none = block("0"), six = block("6"), nine = block("9");
  const auto written = [](const System& system) {
    const Initial initial = initial_values(system.model(), system.params().values().data());
    State state = system.empty_state();
    state.q = initial.q;
    state.v = initial.v;
    return configuration_json(system, state);
  };
  EXPECT_EQ(configuration_complaint(written(six), six), "");
  const auto expect = [](const std::string& found, const std::string& message) {
    EXPECT_NE(found.find("bodies.block: " + message), std::string::npos) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  };
  expect(configuration_complaint(written(six), nine), "has 6 modal coordinates here and 9 in the model");
  expect(configuration_complaint(written(nine), six), "has 9 modal coordinates here and 6 in the model");
  expect(configuration_complaint(written(none), six), "has 0 modal coordinates here and 6 in the model");
  // By hand only what differs from the model.
  const std::string one = R"({"bodies": {"block.modes2": {"position": [0.001, 0, 0]}}})";
  EXPECT_EQ(configuration_complaint(one, nine), "");
  EXPECT_EQ(configuration_complaint(R"({"bodies": {"block": {"position": [0, 0, 1]}}})", nine), "");
}

// A body attached to another one follows it where the file names only that.
TEST(ConfigurationFiles, AttachedBodiesFollowTheirHosts) {
  ModelBuilder b;
  b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {0.5, 0, 0});
  b.body("rider", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 1, 1})
      .set("position", {1, 0, 0.1})
      .set("on", std::string("host"));
  const System system = make_system(b.finish());
  const Configuration found = read_configuration_text(
      R"({"bodies": {"host": {"position": [0, 0, -0.5], "orientation": {"axis": [0, 1, 0], "angle": 1.5707963267948966},
          "angular_velocity": [0, 2, 0]}}})",
      "from.json", system);
  // From (0.5, 0, 0.1) on the host, turned about y: x to -z, z to x.
  EXPECT_LT((found.bodies[1].position - Vec3(0.1, 0, -1)).norm(), 1e-12)
      << found.bodies[1].position.transpose();
  EXPECT_LT((found.bodies[1].velocity - Vec3(0, 2, 0).cross(Vec3(0.1, 0, -0.5))).norm(), 1e-12);
  EXPECT_LT((found.bodies[1].angular_velocity - Vec3(0, 2, 0)).norm(), 1e-12);
}

}  // namespace
}  // namespace liedyn

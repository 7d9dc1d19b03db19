#include "liedyn/io/expand/sub_models.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/io/expand/pose.h"
#include "liedyn/io/load.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/params.h"

namespace liedyn {
namespace {

// Files that exist as long as this does.
class Files {
 public:
  Files() : directory_(std::filesystem::temp_directory_path() / fmt::format("liedyn_models_{}", ::getpid())) {
    std::filesystem::create_directories(directory_ / "parts");
  }
  ~Files() { std::filesystem::remove_all(directory_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return (directory_ / name).string();
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_;
};

std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string complaint(const std::string& text) {
  return complaint([&] { read_model_text(text, "model.json"); });
}

Description read(const std::string& text) { return read_model_text(text, "model.json"); }

// Every number of every entry, expressions evaluated, by path.
void expect_same(const Description& a, const Description& b) {
  for (const Section section : kSections) {
    ASSERT_EQ(a.entries(section).size(), b.entries(section).size()) << section_name(section);
    for (std::size_t i = 0; i < a.entries(section).size(); ++i) {
      EXPECT_EQ(a.entries(section)[i].name, b.entries(section)[i].name);
      EXPECT_EQ(a.entries(section)[i].kind, b.entries(section)[i].kind);
    }
  }
  const Params p(std::make_shared<const Description>(a)), q(std::make_shared<const Description>(b));
  ASSERT_EQ(p.size(), q.size());
  for (int i = 0; i < p.size(); ++i) EXPECT_EQ(q.get(q.find(p.path(i))), p.get(i)) << p.path(i);
  for (int i = 0; i < q.size(); ++i) EXPECT_EQ(p.get(p.find(q.path(i))), q.get(i)) << q.path(i);
}

void expect_same_motion(const std::string& first, const std::string& second) {
  const Trajectory a = simulate(load_text(first)).trajectory, b = simulate(load_text(second)).trajectory;
  ASSERT_EQ(a.data.size(), b.data.size());
  ASSERT_GT(a.data.size(), 10u);
  for (std::size_t i = 0; i < a.data.size(); ++i) ASSERT_EQ(a.data[i], b.data[i]) << i;
}

constexpr const char* kLeg =
    R"({ "liedyn": 1, "parameters": { "length": 0.3, "stiffness": "100*length" }, "gravity": [0, 0, -9.81],
  "bodies": { "thigh": { "type": "rigid", "mass": 1, "inertia": [0.01, 0.01, 0.001], "position": [0, 0, "-length/2"], "velocity": "consistent" },
              "foot": { "type": "rigid", "mass": 0.2, "inertia": [0.001, 0.001, 0.001], "position": [0.1, 0, "-length"], "velocity": "consistent" } },
  "joints": { "ankle": { "type": "revolute", "between": ["thigh", "foot"], "at": [0, 0, "-length"], "axis": [0, 1, 0] } },
  "forces": { "spring": { "type": "joint_effort", "joint": "ankle", "effort": "-stiffness*angle - 0.1*rate" } },
  "sensors": { "angle": { "type": "joint_angle", "of": "ankle" }, "rate": { "type": "joint_angle_rate", "of": "ankle" } } })";

TEST(SubModels, FourLegsAreTheWrittenOutModel) {
  const Files files;
  files.write("parts/leg.json", kLeg);
  std::string models, bodies, joints, forces, sensors, hips;
  int i = 0;
  for (const char* name : {"front_left", "front_right", "back_left", "back_right"}) {
    const double x = i < 2 ? 0.5 : -0.5, y = i % 2 == 0 ? 0.2 : -0.2;
    ++i;
    models += fmt::format(
        R"({}"{}": {{ "file": "parts/leg.json", "at": [{}, {}, 0], "set": {{ "length": "{}*size" }} }})",
        i == 1 ? "" : ", ", name, x, y, 0.1 * i);
    hips += fmt::format(
        R"({}"hip_{}": {{ "type": "spherical", "between": ["torso", "{}.thigh"], "at": [{}, {}, 0] }})",
        i == 1 ? "" : ", ", name, name, x, y);
    const std::string p = fmt::format("{0}_", name);
    bodies += fmt::format(
        R"json(, "{0}thigh": {{ "type": "rigid", "mass": 1, "inertia": [0.01, 0.01, 0.001],
                                "position": [{1}, {2}, "-({3}*size)/2"], "velocity": "consistent" }},
      "{0}foot": {{ "type": "rigid", "mass": 0.2, "inertia": [0.001, 0.001, 0.001],
                    "position": [{4}, {2}, "-({3}*size)"], "velocity": "consistent" }})json",
        p, x, y, 0.1 * i, x + 0.1);
    joints += fmt::format(
        R"json(, "{0}ankle": {{ "type": "revolute", "between": ["{0}thigh", "{0}foot"],
                                "at": [{1}, {2}, "-({3}*size)"], "axis": [0, 1, 0] }})json",
        p, x, y, 0.1 * i);
    forces += fmt::format(
        R"json({1}"{0}spring": {{ "type": "joint_effort", "joint": "{0}ankle",
                                  "effort": "-(100*({2}*size))*{0}angle - 0.1*{0}rate" }})json",
        p, i == 1 ? "" : ", ", 0.1 * i);
    sensors += fmt::format(
        R"(, "{0}angle": {{ "type": "joint_angle", "of": "{0}ankle" }}, "{0}rate": {{ "type": "joint_angle_rate", "of": "{0}ankle" }})",
        p);
  }
  const std::string head =
      R"({ "liedyn": 1, "parameters": { "size": 1.5 }, "gravity": [0, 0, -9.81], "simulation": { "end": 0.1, "step": 0.001 },
    "bodies": { "torso": { "type": "rigid", "mass": 10, "inertia": [1, 2, 3], "angular_velocity": [0.1, 0.2, 0.3], "velocity": "consistent" })";
  std::string hips_out = hips;
  for (const char* name : {"front_left", "front_right", "back_left", "back_right"})
    hips_out.replace(hips_out.find(fmt::format("{}.thigh", name)), std::string(name).size() + 6,
                     fmt::format("{}_thigh", name));
  const std::string own = R"("sensors": { "torso": { "type": "position", "of": "torso" })";
  const std::string with_models =
      head + "}, \"joints\": {" + hips + "}, " + own + "}, \"models\": {" + models + "} }";
  const std::string written = head + bodies + "}, \"joints\": {" + hips_out + joints + "}, \"forces\": {" +
                              forces + "}, " + own + sensors + "} }";
  const std::string file = files.write("robot.json", with_models);
  const Trajectory a = simulate(load(file)).trajectory, b = simulate(load_text(written)).trajectory;
  ASSERT_EQ(a.data.size(), b.data.size());
  for (std::size_t k = 0; k < a.data.size(); ++k) ASSERT_EQ(a.data[k], b.data[k]) << k;
  // Parameters of the legs may be set, and differ from leg to leg.
  const System longer = load(file, {{"front_left.length", 0.4}});
  EXPECT_EQ(longer.params().get(longer.params().find("bodies.front_left.thigh.position[2]")), -0.2);
  EXPECT_EQ(longer.params().get(longer.params().find("bodies.front_right.thigh.position[2]")),
            -0.2 * 1.5 / 2);
  EXPECT_EQ(longer.params().get(longer.params().find("front_left.stiffness")), 40);
}

// A model that is turned and moved moves as it did, seen from its own axes.
TEST(SubModels, AMovedModelIsTheSameModel) {
  const std::string pendulum = R"json("bodies": {
      "arm": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [0.5, 0, 0], "velocity": "consistent",
               "angular_velocity": [0, 2, 0] },
      "bob": { "type": "point", "mass": 0.5, "position": [1, 0, -1], "velocity": "consistent" } },
    "joints": { "hinge": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0] },
                "string": { "type": "distance", "between": ["arm", "bob"], "points": [[1, 0, 0], [1, 0, -1]] } },
    "forces": { "wind": { "type": "force", "on": "arm", "force": ["cos(3*t)", 0, 1] },
                "rope": { "type": "spring_damper", "between": ["ground", "bob"],
                          "points": { "ground": [2, 0, 0], "bob": [0, 0, 0] }, "stiffness": 10, "free_length": 1 } },
    "sensors": { "tip": { "type": "position", "of": "arm", "at": [1, 0, 0] },
                 "bob_place": { "type": "position", "of": "bob" } })json";
  const std::string end = R"json(, "simulation": { "end": 0.5, "step": 0.005 } })json";
  const std::string moved_model =
      R"json({ "liedyn": 1, "parameters": { "a": 0.7 }, "models": { "p": { "model": { "liedyn": 1, )json" +
      pendulum + R"json( }, "at": [1, 2, "a"], "rotation": { "axis": [1, 2, 3], "angle": "a" } } })json" +
      end;
  const Trajectory still = simulate(load_text(R"json({ "liedyn": 1, )json" + pendulum + end)).trajectory;
  const Trajectory moved = simulate(load_text(moved_model)).trajectory;
  const Eigen::Matrix3d R = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  ASSERT_EQ(still.data.size(), moved.data.size());
  for (std::size_t row = 0; row < still.rows(); ++row)
    for (const std::string name : {"tip", "bob_place"}) {
      const Eigen::Vector3d x(still.at(row, name).data()), y(moved.at(row, "p." + name).data());
      EXPECT_LT((Eigen::Vector3d(1, 2, 0.7) + R * x - y).norm(), 1e-10) << row << " " << name;
    }
}

TEST(SubModels, AreNestedAndHaveTheirOwnFiles) {
  const Files files;
  files.write("parts/curve.csv", "0, 0\n1, 3\n2, 5\n");
  files.write("parts/inner.json",
              R"json({ "liedyn": 1, "parameters": { "m": 2 }, "tables": { "f": { "file": "curve.csv" } },
    "bodies": { "b": { "type": "rigid", "mass": "m", "inertia": [1, 1, 1], "frames": { "tip": { "at": [0, 0, 1] } } } },
    "forces": { "push": { "type": "force", "on": "b", "force": ["f(t)", 0, 0] } },
    "sensors": { "place": { "type": "position", "of": "b.tip" } } })json");
  files.write("parts/outer.json", R"json({ "liedyn": 1,
    "models": { "in": { "file": "inner.json", "at": [0, 1, 0], "set": { "m": 5 } } } })json");
  const std::string file = files.write("model.json", R"json({ "liedyn": 1,
    "models": { "a": { "file": "parts/outer.json", "at": [1, 0, 0] }, "b": { "file": "parts/outer.json" } },
    "joints": { "rod": { "type": "distance", "between": ["a.in.b.tip", "b.in.b.tip"], "length": 1 } } })json");
  const Description d = read_model(file);
  const Params params(std::make_shared<const Description>(d));
  EXPECT_EQ(params.get(params.find("bodies.a.in.b.mass")), 5);
  EXPECT_EQ(params.get(params.find("a.in.m")), 5);
  EXPECT_EQ(params.get(params.find("bodies.a.in.b.position[0]")), 1);
  EXPECT_EQ(params.get(params.find("bodies.a.in.b.position[1]")), 1);
  EXPECT_EQ(params.get(params.find("sensors.a.in.place.at.a.in.b[2]")), 1);
  EXPECT_EQ(params.get(params.find("joints.rod.points.b.in.b[2]")), 1);
  EXPECT_NO_THROW(load(file));
}

// Sensors, forces and events of a model use sensors of its sub-models, and of those in them; events of sub-models set what is in these.
TEST(SubModels, ExpressionsAroundUseTheirSensors) {
  const Files files;
  files.write("leg.json", kLeg);
  files.write("pair.json",
              R"({ "liedyn": 1, "gravity": [0, 0, -9.81], "models": { "leg": { "file": "leg.json" } },
    "sensors": { "twice": { "type": "expression", "value": "2*leg.angle" } },
    "events": { "soften": { "when": "twice - 0.02", "direction": "rising",
                            "set": "leg.stiffness = 0.5*leg.stiffness; sensors.leg.rate = -leg.rate" } } })");
  const auto around = [&](const std::string& rest) {
    return fmt::format(
        R"({{ "liedyn": 1, "gravity": [0, 0, -9.81], "simulation": {{ "end": 0.1, "step": 0.001 }},
      "models": {{ "left": {{ "file": "pair.json", "at": [0, 1, 0] }} }}, {} }})",
        rest);
  };
  const std::string sensors = R"("sensors": { "sum": { "type": "expression", "value": "left.twice + double" },
      "double": { "type": "expression", "value": "2*left.leg.angle" } },
    "forces": { "push": { "type": "joint_effort", "joint": "left.leg.ankle", "effort": "0.5 - left.twice" } })";
  const Description read = read_model(files.write("model.json", around(sensors)));
  std::vector<std::string> names;
  for (const Entry& entry : read.entries(Section::Sensors)) names.push_back(entry.name);
  EXPECT_THAT(names, testing::ElementsAre("left.leg.angle", "left.leg.rate", "left.twice", "double", "sum",
                                          "left.soften"));

  const System system = load(files.write("model.json", around(sensors)));
  Simulation simulation(system);
  simulation.advance(0.05);
  const double angle = simulation.sensor("left.leg.angle")[0];
  EXPECT_NE(angle, 0);
  EXPECT_DOUBLE_EQ(simulation.sensor("left.twice")[0], 2 * angle);
  EXPECT_DOUBLE_EQ(simulation.sensor("sum")[0], 4 * angle);
  ASSERT_FALSE(simulation.events().empty());
  EXPECT_EQ(simulation.events().front().name, "left.soften");
  EXPECT_LT(simulation.input("left.leg.stiffness"), 30);

  EXPECT_NE(
      complaint([&] {
        load(files.write("model.json", around(R"("sensors": { "a": { "type": "expression", "value": "b" },
                                     "b": { "type": "expression", "value": "a + left.twice" } })")));
      }).find("unknown name 'b'"),
      std::string::npos);
}

TEST(SubModels, NameWhatIsWrong) {
  const Files files;
  files.write("self.json", R"({ "liedyn": 1, "models": { "me": { "file": "self.json" } } })");
  files.write("bad.json",
              "{ \"liedyn\": 1,\n \"bodies\": {\n  \"b\": { \"type\": \"rigid\", \"mass\": -1,\n    "
              "\"inertia\": [1, 1] } } }");
  files.write("broken.json", "{ \"liedyn\": 1,\n \"bodies\" }");
  files.write("heavy.json", R"({ "liedyn": 1, "gravity": [0, 0, -9.81] })");
  files.write("other.json", R"({ "version": 3 })");
  const auto with = [&](const std::string& entry) {
    return complaint([&] {
      read_model(files.write(
          "model.json", fmt::format("{{ \"liedyn\": 1,\n \"models\": {{ \"left\": {{ {} }} }} }}", entry)));
    });
  };
  const std::pair<std::string, std::string> cases[] = {
      {R"("file": "none.json")", "model.json:2: models.left.file: there is no file"},
      {R"("file": "self.json")", "self.json:1: models.left.models.me.file: "},
      {R"("file": "self.json")", "contains itself"},
      {R"("file": "model.json")", "contains itself"},
      {R"("file": "broken.json")", "broken.json:2: models.left: not valid JSON"},
      {R"("file": "heavy.json")", "the sub-model has gravity, but the model that contains it has none"},
      {R"("file": "other.json")", "is not a model of version 1"},
      {R"("fil": "heavy.json")", "did you mean 'file'?"},
      {R"("file": "bad.json")", "bad.json:4: bodies.left.b.inertia: expected 3 principal moments"},
      {R"("file": "bad.json")", "bad.json:3: bodies.left.b.mass: expected a non-negative number, got -1"},
      {R"("model": {"liedyn": 1, "parameters": {"length": 1}}, "set": {"lenght": 3})",
       "did you mean 'length'?"},
      {R"("model": {"liedyn": 1, "parameters": {"length": 1}}, "set": {"length": [3]})",
       "expected a number or an expression"},
      {R"("model": {"liedyn": 1, "simulation": {"until": "t - 1"}})",
       "models.left: the sub-model has \"until\""},
      {R"("model": {"liedyn": 1}, "at": [1, 2])", "models.left.at: expected 3 numbers"},
      {R"("model": {"liedyn": 1}, "file": "bad.json")", "cannot both be given"},
      {R"("model": {"liedyn": 1, "bodies": {"a.b": {"type": "point", "mass": 1}}})",
       "expected a name without dots"},
      {R"("model": {"liedyn": 1, "bodies": {"b": {"type": "planar", "mass": 1, "inertia": 1}}}, "at": [0, 0, 1])",
       "can only be moved in the plane"},
  };
  for (const auto& [entry, message] : cases)
    EXPECT_NE(with(entry).find(message), std::string::npos) << entry << "\n" << with(entry);
  EXPECT_NE(
      complaint(
          R"({"liedyn": 1, "bodies": {"left": {"type": "point", "mass": 1}}, "models": {"left": {"model": {"liedyn": 1}}}})")
          .find("'left' is also one of the bodies"),
      std::string::npos);
  EXPECT_NE(complaint(R"({"liedyn": 1, "bodies": {"a.b": {"type": "point", "mass": 1}}})")
                .find("expected a name without dots"),
            std::string::npos);
  // An error in a file that is used twice is one error.
  const std::string twice = complaint([&] {
    read_model(files.write(
        "model.json",
        R"({ "liedyn": 1, "models": { "a": {"file": "bad.json"}, "b": {"file": "bad.json"} } })"));
  });
  EXPECT_EQ(twice.find("bodies.b.b.mass"), std::string::npos) << twice;
  // Deep nesting ends with a message.
  std::string deep = R"({"liedyn": 1})";
  for (int i = 0; i < 30; ++i)
    deep = fmt::format(R"({{"liedyn": 1, "models": {{"m": {{"model": {}}}}}}})", deep);
  EXPECT_NE(complaint(deep).find("nested more than 20 levels deep"), std::string::npos) << complaint(deep);
}

// Each error in what an event sets is said once, with the file that it is in and the names that this has there.
TEST(SubModels, ErrorsInEventsAreSaidOnce) {
  const Files files;
  const std::string part =
      R"({ "liedyn": 1, "parameters": {"k": 1}, "bodies": {"b": {"type": "point", "mass": 1}},
  "sensors": {"x": {"type": "position", "of": "b"}},
  "events": {
    "hit": {"when": "x[2] + k", "set": "kk = 3; sensors.y[2] = 4; k = foo"} } })";
  const auto count = [](const std::string& text, const std::string& of) {
    int out = 0;
    for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++out;
    return out;
  };
  const std::string alone = complaint([&] { load(files.write("part.json", part)); });
  for (const char* message :
       {"part.json:4: events.hit.set: there is no parameter 'kk' (hint: did you mean 'k'?)",
        "events.hit.set: there is no sensor 'y'", "events.hit.set: 'foo': unknown name"})
    EXPECT_EQ(count(alone, message), 1) << message << "\n" << alone;
  const std::string inside = complaint([&] {
    load(files.write("model.json", R"({ "liedyn": 1, "models": {"left": {"file": "part.json"}},
      "events": {"mine": {"when": "t - 1", "set": "left.kk = 2"}} })"));
  });
  for (const char* message :
       {"part.json:4: events.left.hit.set: there is no parameter 'left.kk' (hint: did you mean 'left.k'?)",
        "part.json:4: events.left.hit.set: there is no sensor 'left.y'",
        "part.json:4: events.left.hit.set: 'left.foo': unknown name",
        "model.json:2: events.mine.set: there is no parameter 'left.kk'"})
    EXPECT_EQ(count(inside, message), 1) << message << "\n" << inside;
  EXPECT_EQ(count(inside, "events."), 4) << inside;
}

// A field that nobody has classified makes moved models with it fail: every field of every kind is.
TEST(SubModels, EveryVectorHasARole) {
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section))
      for (const Field& field : kind.fields)
        EXPECT_NE(pose_role(field), PoseRole::Unknown)
            << section_name(section) << " " << kind.type << " " << field.name;
}

// ---- frames

constexpr const char* kArms =
    R"("arm": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [0.5, 0, 0], "velocity": "consistent" FRAMES_A },
     "hand": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [1.2, 0, 0], "velocity": "consistent" FRAMES_B })";

std::string arms(const std::string& a, const std::string& b, const std::string& rest) {
  std::string bodies = kArms;
  bodies.replace(bodies.find("FRAMES_A"), 8, a);
  bodies.replace(bodies.find("FRAMES_B"), 8, b);
  return "{ \"liedyn\": 1, \"gravity\": [0, 0, -9.81], \"simulation\": { \"end\": 0.2, \"step\": 0.002 }, "
         "\"bodies\": { " +
         bodies + " }, " + rest + " }";
}

TEST(Frames, AreTheirPoints) {
  const std::string a =
      R"(, "frames": { "base": { "at": [-0.5, 0, 0], "rotation": { "axis": [1, 0, 0], "angle": "-pi/2" } }, "tool": { "at": [0.5, 0, 0] } })";
  const std::string b = R"(, "frames": { "base": { "at": [-0.2, 0, 0] }, "tip": { "at": [0.2, 0, 0.1] } })";
  const std::string with = arms(
      a, b,
      R"("joints": { "shoulder": { "type": "spherical", "between": ["ground", "arm.base"] }, "wrist": { "type": "revolute", "between": ["arm.tool", "hand.base"], "axis": { "arm": [0, 1, 0], "hand": [0, 1, 0] } } },
    "forces": { "s": { "type": "spring_damper", "between": ["ground", "hand.tip"], "points": { "ground": [1.4, 0, 1] }, "stiffness": 10, "free_length": 0.5 }, "f": { "type": "force", "on": "hand", "at": "hand.tip", "force": [0, 1, 0] } },
    "sensors": { "tip": { "type": "position", "of": "hand.tip" }, "speed": { "type": "velocity", "of": "arm.tool" } })");
  const std::string without = arms(
      "", "",
      R"("joints": { "shoulder": { "type": "spherical", "between": ["ground", "arm"], "at": [0, 0, 0] }, "wrist": { "type": "revolute", "between": ["arm", "hand"], "axis": { "arm": [0, 1, 0], "hand": [0, 1, 0] }, "at": { "arm": [0.5, 0, 0], "hand": [-0.2, 0, 0] } } },
    "forces": { "s": { "type": "spring_damper", "between": ["ground", "hand"], "points": { "ground": [1.4, 0, 1], "hand": [0.2, 0, 0.1] }, "stiffness": 10, "free_length": 0.5 }, "f": { "type": "force", "on": "hand", "at": { "hand": [0.2, 0, 0.1] }, "force": [0, 1, 0] } },
    "sensors": { "tip": { "type": "position", "of": "hand", "at": { "hand": [0.2, 0, 0.1] } }, "speed": { "type": "velocity", "of": "arm", "at": { "arm": [0.5, 0, 0] } } })");
  expect_same(read(with), read(without));
  expect_same_motion(with, without);
}

TEST(Frames, GiveAxesAndPlacesForRiders) {
  const Description d = read(R"({ "liedyn": 1, "bodies": {
    "arm": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1, 2, 3], "orientation": { "axis": [0, 0, 1], "angle": 0.5 },
             "frames": { "f": { "at": [0.1, 0, 0], "rotation": { "axis": [1, 0, 0], "angle": 0.3 } } } },
    "ground": { "frames": { "f": { "at": [1, 2, 3] } } },
    "box": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "on": "arm.f" } },
    "joints": { "hinge": { "type": "revolute", "between": ["ground.f", "arm.f"] } } })");
  const Params params(std::make_shared<const Description>(d));
  EXPECT_NEAR(params.get(params.find("joints.hinge.axis.arm[1]")), -std::sin(0.3), 1e-15);
  EXPECT_NEAR(params.get(params.find("joints.hinge.axis.ground[2]")), 1, 1e-15);
  EXPECT_NEAR(params.get(params.find("bodies.box.position[0]")), 1 + 0.1 * std::cos(0.5), 1e-15);
  EXPECT_NEAR(params.get(params.find("bodies.box.position[1]")), 2 + 0.1 * std::sin(0.5), 1e-15);
}

TEST(Frames, NameWhatIsWrong) {
  const std::string a = R"(, "frames": { "tool": { "at": [0.5, 0, 0] } })",
                    b = R"(, "frames": { "base": { "at": [-0.2, 0, 0] } })";
  const std::pair<std::string, const char*> cases[] = {
      {arms(a, b, R"("sensors": { "s": { "type": "position", "of": "arm.tol" } })"),
       "sensors.s.of: there is no frame 'arm.tol' (hint: did you mean 'arm.tool'?)"},
      {arms(a, b, R"("sensors": { "s": { "type": "position", "of": "arm.tool", "at": [1, 2, 3] } })"),
       "cannot be combined with a frame"},
      {arms(a, b,
            R"("sensors": { "s": { "type": "position", "of": "arm.tool", "at": { "arm": [1, 2, 3] } } })"),
       "'arm' is given twice"},
      {arms(
           a, b,
           R"("forces": { "s": { "type": "spring_damper", "between": ["arm.tool", "hand"], "stiffness": 1 } })"),
       "name a frame of 'hand' as well"},
      {arms(R"(, "frames": { "tool": { "att": [0.5, 0, 0] } })", b, R"("sensors": {})"),
       "bodies.arm.frames.tool.att: unknown key"},
      {arms(R"(, "frames": [1])", b, R"("sensors": {})"),
       "bodies.arm.frames: expected frames by name, got an array of 1"},
      {arms(a, b, R"("sensors": { "s": { "type": "position", "of": "hand", "at": "arm.tool" } })"),
       "'arm.tool' is a frame of 'arm', which is none of the bodies hand"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(complaint(text).find(message), std::string::npos) << text << "\n" << complaint(text);
}

// ---- repetition

// What the shipped chain says, written out by a loop.
TEST(Repeat, MakesTheChain) {
  for (const int links : {1, 2, 10}) {
    DescriptionBuilder builder("chain", "", {}, {0, 0, -9.81});
    std::string before = "ground";
    for (int i = 1; i <= links; ++i) {
      const std::string link = fmt::format("link{}", i);
      builder.begin(Section::Bodies, link, "rigid");
      builder.values("mass", std::array{1.0});
      builder.values("inertia", std::array{0.01, 0.1, 0.1});
      builder.values("position", std::array{i - 0.5, 0.0, 0.0});
      builder.end();
      builder.begin(Section::Joints, fmt::format("j{}", i), "spherical");
      builder.words("between", std::move(before), link);
      builder.values("at", std::array{i - 1.0, 0.0, 0.0});
      builder.end();
      before = link;
    }
    builder.begin(Section::Sensors, "tip", "position");
    builder.word("of", before);
    builder.values("at", std::array{static_cast<double>(links), 0.0, 0.0});
    builder.end();
    builder.begin(Section::Sensors, "last", "position");
    builder.word("of", before);
    builder.end();
    std::vector<Assignment> set = {{"links", static_cast<double>(links)}};
    expect_same(read_model("chain", set), builder.finish());
    EXPECT_TRUE(set.empty());
  }
}

// Links of rings and nets are 1 m long and meet at their joints, wherever the blocks compute these.
TEST(Repeat, MakesRingsAndNets) {
  const std::pair<const char*, std::vector<Assignment>> cases[] = {{"ring", {{"links", 7}}},
                                                                   {"ring", {{"links", 3}}},
                                                                   {"net", {{"rows", 4}, {"columns", 3}}},
                                                                   {"net", {{"rows", 1}, {"columns", 1}}}};
  for (auto [name, set] : cases) {
    const auto d = std::make_shared<const Description>(read_model(name, set));
    const Params p(d);
    const auto value = [&](const std::string& path) { return p.get(p.find(path)); };
    int ends = 0;
    for (const Entry& joint : d->entries(Section::Joints)) {
      const int between = joint.kind->field("between");
      for (int side = 0; side < 2; ++side) {
        const std::string body =
            d->words[static_cast<std::size_t>(joint.fields[static_cast<std::size_t>(between)].word + side)];
        if (body == "ground") continue;
        const double angle = value(fmt::format("bodies.{}.orientation.rotation_vector[2]", body));
        const double x = value(fmt::format("joints.{}.at[0]", joint.name)) -
                         value(fmt::format("bodies.{}.position[0]", body)),
                     y = value(fmt::format("joints.{}.at[1]", joint.name)) -
                         value(fmt::format("bodies.{}.position[1]", body));
        EXPECT_NEAR(std::abs(std::cos(angle) * x + std::sin(angle) * y), 0.5, 1e-14)
            << name << " " << joint.name;
        EXPECT_NEAR(std::cos(angle) * y - std::sin(angle) * x, 0, 1e-14) << name << " " << joint.name;
        ++ends;
      }
    }
    EXPECT_GE(ends, static_cast<int>(d->entries(Section::Bodies).size()));
  }
}

TEST(Repeat, ArgumentsOfSubModelsAreSet) {
  const Description d = read(
      R"({ "liedyn": 1, "gravity": [0, 0, -9.81], "models": { "long": { "file": "chain", "set": { "links": 3 } } } })");
  EXPECT_EQ(d.entries(Section::Bodies).size(), 3u);
  EXPECT_EQ(d.entries(Section::Bodies)[2].name, "long.link3");
  EXPECT_NE(complaint(R"({ "liedyn": 1, "gravity": [0, 0, -9.81],
      "models": { "long": { "file": "chain", "set": { "links": 0 } } } })")
                .find("arguments.links: expected at least 1, got 0"),
            std::string::npos);
}

TEST(Repeat, NestsAndSkips) {
  const Description d = read(R"({ "liedyn": 1, "parameters": { "pitch": 2 }, "repeat": [
    { "for": { "c": [1, 3], "k": [4, 2, -1] }, "let": { "s": "c + k" }, "if": "mod(s, 2) == 0",
      "bodies": { "p{c}_{k}": { "type": "point", "mass": "{s}", "position": ["{c}*pitch", "{-k}*pitch", 0] } },
      "repeat": [ { "for": { "n": [1, "c"] }, "sensors": { "s{c}_{k}_{n}": { "type": "position", "of": "p{c}_{k}" } } } ] } ] })");
  std::string names;
  for (const Entry& body : d.entries(Section::Bodies)) names += body.name + " ";
  EXPECT_EQ(names, "p1_3 p2_4 p2_2 p3_3 ");
  EXPECT_EQ(d.entries(Section::Sensors).size(), 8u);
  const Params params(std::make_shared<const Description>(d));
  EXPECT_EQ(params.get(params.find("bodies.p2_4.position[0]")), 4);
  EXPECT_EQ(params.get(params.find("bodies.p2_4.position[1]")), -8);
  EXPECT_EQ(params.get(params.find("bodies.p2_4.mass")), 6);
}

TEST(Repeat, NamesWhatIsWrong) {
  const auto with = [](const std::string& block) {
    return complaint("{ \"liedyn\": 1,\n \"arguments\": { \"n\": 3 },\n \"repeat\": [" + block + "] }");
  };
  const std::pair<std::string, const char*> cases[] = {
      {R"({ "for": { "i": [1, "m"] } })", "model.json:3: repeat[0].for.i: in the expression 'm'"},
      {R"({ "for": { "i": [1, 2.5] } })", "expected whole numbers, got 2.5"},
      {R"({ "for": { "i": [1, 2, 0] } })", "expected a step that is not 0"},
      {R"({ "for": { "i": [1, 1e8] } })", "expected at most 10000000 copies"},
      {R"({ "for": { "i": 3 } })", "expected [first, last]"},
      {R"({ "for": { "sin": [1, 2] } })", "has no meaning in expressions"},
      {R"({ "fro": { "i": [1, 2] } })", "did you mean 'for'?"},
      {R"({ "for": { "i": [1, 2] }, "bodies": { "b": { "type": "point", "mass": 1 } } })",
       "the name 'b' is given twice"},
      {R"({ "for": { "i": [1, 2] }, "bodies": { "b{i": { "type": "point", "mass": 1 } } })",
       "a brace is not closed"},
      {R"({ "for": { "i": [1, 2] }, "bodies": { "b{i/0}": { "type": "point", "mass": 1 } } })",
       "expected a finite number"},
      {R"({ "for": { "i": [1, 200] }, "bodies": { "b{i}": { "type": "point", "mass": "{-i}" } } })",
       "model.json:3: bodies.b1.mass: expected a non-negative number, got -1"},
      {"7", "repeat[0]: expected an object"},
  };
  for (const auto& [block, message] : cases)
    EXPECT_NE(with(block).find(message), std::string::npos) << block << "\n" << with(block);
}

}  // namespace
}  // namespace liedyn

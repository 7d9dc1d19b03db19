// Scenes read back: poses beside sensors, surfaces beside the deformed shapes of Shapes, derived shapes beside known bodies.
#include "liedyn/io/write_scene.h"
#include "liedyn/io/scene_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/analyses/shapes.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/load.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/scene_shapes.h"
#include "liedyn/io/write_gltf.h"
#include "liedyn/io/write_model.h"
#include "liedyn/model/edit_description.h"
#include "liedyn/model/record_all.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

TEST(PackedArray, IsReadBackBitByBit) {
  const std::vector<float> floats = {
      0, -0.0F, 1, 1.5F, -2e-30F, 3e30F, std::numeric_limits<float>::denorm_min(), 7};
  for (const ArrayCoding coding : {ArrayCoding::Plain, ArrayCoding::DeltaShuffle}) {
    const Json json = Json::parse(pack_array(floats, {4, 2}, coding).dump());
    const std::vector<double> back = unpack_array(json, "a");
    ASSERT_EQ(back.size(), floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(back[i])),
                std::bit_cast<std::uint32_t>(floats[i]));
    const std::vector<std::int16_t> integers = {-32767, 32767, 0, 1, -1, 2};
    EXPECT_EQ(unpack_array(pack_array(integers, {3, 2}, coding), "a"),
              std::vector<double>(integers.begin(), integers.end()));
    const std::vector<std::uint32_t> indices = {4000000000U, 0, 5};
    EXPECT_EQ(unpack_array(pack_array(indices, {1, 3}, coding), "a"),
              std::vector<double>(indices.begin(), indices.end()));
    EXPECT_TRUE(unpack_array(pack_array(std::vector<double>(), {0, 3}, coding), "a").empty());
  }
}

TEST(PackedArray, OfFewBitsIsNearTheNumbers) {
  const std::vector<float> values = {1, -0.5F, 0.123F, 1000, 3, -999};
  for (const auto& [packed, error] : {std::pair(pack_field<std::int16_t>(values, {2, 1, 3}), 1.6e-5),
                                      {pack_field<std::int8_t>(values, {2, 1, 3}), 4e-3}}) {
    const std::vector<double> back = unpack_array(packed, "a");
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(back[i], values[i], (i < 3 ? 1 : 1000) * error);
  }
}

TEST(PackedArray, ThatIsDamagedIsRefused) {
  const Json good = pack_array(std::vector<float>{1, 2, 3}, {3});
  const auto refused = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    EXPECT_THROW(unpack_array(bad, "a"), InputError) << bad;
  };
  refused("type", "f16");
  refused("shape", {4});
  refused("shape", {1e9});
  refused("shape", {4000000000U, 4000000000U});
  refused("shape", {-1});
  refused("data", "!!!!");
  refused("data", good["data"].get<std::string>().substr(4));
  refused("scale", {1, 2});
  refused("scale", {1, 2, "a"});
  refused("coding", 3);
  refused("coding", "zip");
  refused("distance", 0);
  refused("distance", -1);
  EXPECT_THROW(unpack_array(Json(3), "a"), InputError);
}

// RFC 4648
TEST(PackedArray, Base64) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

// What a viewer makes of a scene.
class Read {
 public:
  explicit Read(const std::string& text) : json(Json::parse(text)) {
    times = unpack_array(json["times"], "times");
    positions = unpack_array(json["positions"], "positions");
    rotations = unpack_array(json["rotations"], "rotations");
    for (const Json& name : json["frames"]) frames.push_back(name);
  }
  std::size_t frame(const std::string& name) const {
    return static_cast<std::size_t>(std::find(frames.begin(), frames.end(), name) - frames.begin());
  }
  Eigen::Isometry3d pose(std::size_t row, std::size_t frame) const {
    const std::size_t i = row * frames.size() + frame;
    const double *p = &positions[3 * i], *q = &rotations[4 * i];
    Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
    out.translate(Vec3(p[0], p[1], p[2]));
    out.rotate(Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized());
    return out;
  }
  const Json& named(const char* list, const std::string& name) const {
    for (const Json& one : json[list])
      if (one["name"] == name) return one;
    throw std::out_of_range(name);
  }
  // [N, 3] of a flexible body, inertial axes.
  Eigen::Matrix3Xd surface(std::size_t row, const Json& body) const {
    const std::vector<double> vertices = unpack_array(body["vertices"], "v"),
                              modes = unpack_array(body["modes"], "m"),
                              coordinates = unpack_array(body["coordinates"], "c");
    const auto N = static_cast<Eigen::Index>(vertices.size() / 3);
    Eigen::Matrix3Xd out = Eigen::Map<const Eigen::Matrix3Xd>(vertices.data(), 3, N);
    const std::size_t K = body["coordinates"]["shape"][1];
    for (std::size_t k = 0; k < K; ++k)
      out += coordinates[row * K + k] *
             Eigen::Map<const Eigen::Matrix3Xd>(modes.data() + k * vertices.size(), 3, N);
    const Eigen::Isometry3d pose = this->pose(row, body["frame"]);
    return (pose.rotation() * out).colwise() + pose.translation();
  }

  Json json;
  std::vector<double> times, positions, rotations;
  std::vector<std::string> frames;
};

Result simulated(const System& system, SceneWriter& writer, SimulateOptions options) {
  options.recorded = [&](const System& now, const State& state) { writer.add(now, state); };
  return simulate(system, options);
}

constexpr const char* kMechanism = R"({ "liedyn": 1, "gravity": [0, 0, -9.81],
  "bodies": {
    "crank": { "type": "rigid", "mass": 2, "inertia": [0.01, 0.02, 0.025], "reference": [-0.1, 0, 0], "angular_velocity": [0, 0, 8] },
    "rod": { "type": "rigid", "mass": 1, "inertia": [0.001, 0.02, 0.02], "position": [0.5, 0, 0], "velocity": "consistent" },
    "ball": { "type": "rigid", "mass": 0.5, "inertia": [0.002, 0.002, 0.002], "position": [0.8, 0, 0], "on": "rod" } },
  "joints": {
    "hinge": { "type": "revolute", "between": ["ground", "crank"], "at": [0, 0, 0], "axis": [0, 1, 1] },
    "pin": { "type": "spherical", "between": ["crank", "rod"], "at": [0.2, 0, 0] } },
  "forces": { "spring": { "type": "spring_damper", "between": ["ground", "rod"], "points": [[1, 1, 1], [0.8, 0, 0]], "stiffness": 20 } },
  "sensors": {
    "tip": { "type": "position", "of": "rod", "at": [0.8, 0, 0] },
    "crank_turned": { "type": "orientation", "of": "crank" },
    "ball": { "type": "position", "of": "ball", "at": [0.8, 0.1, 0] },
    "hinge_force": { "type": "reaction_force", "of": "hinge" },
    "energy": { "type": "energy" } },
  "simulation": { "end": 0.5, "step": 1e-3, "integrator": "generalized-alpha,rho=0.8", "initial": "project" } })";

TEST(Scene, PosesAreWhatSensorsShowInEveryFormulation) {
  for (const std::string formulation :
       {"r3so3", "r3so3-spatial", "se3", "euler-parameters", "minimal", "auto"}) {
    const System system = load_text(kMechanism, {}, formulation);
    SceneWriter writer;
    SimulateOptions options = default_options(system);
    options.output_every = 5;
    const Result result = simulated(system, writer, options);
    const Read scene(writer.finish(result));
    ASSERT_EQ(scene.times.size(), result.trajectory.rows()) << formulation;
    EXPECT_EQ(scene.json["kind"], "motion");
    const double size = scene.json["size"];
    for (std::size_t row = 0; row < scene.times.size(); ++row) {
      EXPECT_EQ(scene.times[row], result.trajectory.time(row));
      for (const char* name : {"tip", "ball"}) {
        const Json& channel = scene.named("channels", name);
        const Vec3 at(channel["at"][0], channel["at"][1], channel["at"][2]);
        const Vec3 shown = scene.pose(row, channel["frame"]) * at;
        const auto sensed = result.trajectory.at(row, name);
        EXPECT_LT((shown - Vec3(sensed[0], sensed[1], sensed[2])).norm(), 1e-4 * size)
            << formulation << " " << name;
      }
      const auto turned = result.trajectory.at(row, "crank_turned");
      const Eigen::Quaterniond q(turned[0], turned[1], turned[2], turned[3]);
      EXPECT_LT(q.angularDistance(Eigen::Quaterniond(scene.pose(row, scene.frame("crank")).rotation())),
                1e-4);
      if (row == 0) continue;
      // Signs follow each other.
      for (std::size_t f = 0; f < scene.frames.size(); ++f) {
        double product = 0;
        for (std::size_t i = 0; i < 4; ++i)
          product += scene.rotations[4 * (row * scene.frames.size() + f) + i] *
                     scene.rotations[4 * ((row - 1) * scene.frames.size() + f) + i];
        EXPECT_GT(product, 0);
      }
    }
    const std::vector<double> energy = unpack_array(scene.named("channels", "energy")["values"], "energy");
    EXPECT_NEAR(energy.back(), result.trajectory.last("energy")[0], 1e-5 * std::abs(energy.back()));
    EXPECT_EQ(scene.json["summary"]["model"], result.summary.model);
  }
}

TEST(Scene, PositionsHaveThirtyTwoBits) {
  const System system = load("heavy_top");
  SceneWriter writer;
  const Result result = simulated(system, writer, default_options(system));
  const Read scene(writer.finish(result));
  for (std::size_t row = 0; row < scene.times.size(); ++row)
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(scene.positions[3 * row + static_cast<std::size_t>(i)],
                static_cast<float>(result.trajectory.at(row, "position")[static_cast<std::size_t>(i)]));
}

// What acts is known without sensors, in 16 bits: beside a run whose model has these sensors.
TEST(Scene, LoadsAreWhatSensorsShowInEveryFormulation) {
  for (const std::string formulation : {"r3so3", "se3", "minimal"}) {
    Description sensed = read_model_text(kMechanism, "");
    record_all(sensed);
    for (const char* type : {"applied_force", "applied_torque"})
      add_entry(sensed, Section::Sensors, std::string("spring.") + type, type, "of", "spring");
    SceneWriter writer, of_sensed;
    const System system = load_text(kMechanism, {}, formulation);
    SimulateOptions options = default_options(system);
    options.output_every = 20;
    const Read scene(writer.finish(simulated(system, writer, options)));
    const System other = make_system(std::make_shared<const Description>(sensed), {}, formulation);
    const Result result = simulated(other, of_sensed, options);
    EXPECT_EQ(unpack_array(scene.json["load_times"], "t"), scene.times);
    int compared = 0;
    for (const Json& load : scene.json["loads"]) {
      const std::vector<double> values = unpack_array(load["values"], "values");
      const std::size_t C = load["components"].empty() ? 1 : load["components"].size();
      double largest = 0;
      for (const double x : values) largest = std::max(largest, std::abs(x));
      for (std::size_t row = 0; row < scene.times.size(); ++row) {
        const auto expected = result.trajectory.at(row, load["name"].get<std::string>());
        for (std::size_t c = 0; c < C; ++c)
          EXPECT_NEAR(values[row * C + c], expected[c], 1.6e-5 * largest)
              << formulation << " " << load["name"] << " at " << scene.times[row];
      }
      ++compared;
    }
    // Angle, rate and torque of the hinge, whose force has a sensor; force of the ball and of the spring.
    EXPECT_EQ(compared, 5) << formulation;
    EXPECT_EQ(scene.named("loads", "pin.reaction_force")["joint"], "pin");
    EXPECT_EQ(scene.named("channels", "hinge_force")["joint"], "hinge");
    EXPECT_EQ(scene.named("loads", "spring.applied_force")["force"], "spring");
    EXPECT_TRUE(Read(of_sensed.finish(result)).json["loads"].empty());
  }
}

// A mass that whirls: m w^2 r inwards. It turns by 6 rad from frame to frame. An event changes the torque of a motor that turns nothing else.
TEST(Scene, LoadsOfAWhirlingMass) {
  const System system = load_text(R"({ "liedyn": 1, "parameters": {"torque": 3},
    "bodies": {
      "mass": { "type": "rigid", "mass": 2, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0], "velocity": [0, 2, 0], "angular_velocity": [0, 0, 4] },
      "wheel": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [3, 0, 0] } },
    "joints": {
      "arm": { "type": "revolute", "between": ["ground", "mass"], "at": [0, 0, 0], "axis": [0, 0, 1] },
      "axle": { "type": "revolute", "between": ["ground", "wheel"], "at": [3, 0, 0], "axis": [0, 0, 1] } },
    "forces": { "motor": { "type": "joint_effort", "joint": "axle", "effort": "torque" } },
    "sensors": { "later": { "type": "event", "when": "t - 2", "set": "torque = 5" } },
    "simulation": { "end": 3, "step": 1e-3 } })");
  SceneWriter writer;
  SimulateOptions options = default_options(system);
  options.output_every = 1500;
  const Read scene(writer.finish(simulated(system, writer, options)));
  ASSERT_EQ(scene.times, (std::vector<double>{0, 1.5, 3}));
  const auto values = [&](const char* name) {
    return unpack_array(scene.named("loads", name)["values"], name);
  };
  const std::vector<double> force = values("arm.reaction_force"), angle = values("arm.joint_angle"),
                            torque = values("motor.applied_torque");
  for (std::size_t row = 0; row < 3; ++row) {
    const double phi = 4 * scene.times[row];
    EXPECT_NEAR(angle[row], phi, 1e-3);
    EXPECT_NEAR(force[3 * row], -16 * std::cos(phi), 5e-3);
    EXPECT_NEAR(force[3 * row + 1], -16 * std::sin(phi), 5e-3);
    EXPECT_NEAR(torque[3 * row + 2], row < 2 ? 3 : 5, 1e-3);
  }
  // It acts where the axle is, on the wheel.
  EXPECT_EQ(scene.named("loads", "motor.applied_torque")["frame"], scene.frame("wheel"));
}

// However many joints there are, what acts stays small.
TEST(Scene, LoadsOfLongChainsAreThinned) {
  const System system = load("chain", {{"links", 500}});
  SceneWriter writer;
  SimulateOptions options = default_options(system);
  options.end = 5 * options.step;
  const Read scene(writer.finish(simulated(system, writer, options)));
  std::size_t numbers = 0;
  for (const Json& load : scene.json["loads"]) numbers += std::max<std::size_t>(1, load["components"].size());
  EXPECT_GT(numbers, 500U);
  EXPECT_LE(numbers, 3000U);
}

TEST(Scene, JointsAndForcesHaveTheirPlaces) {
  const System system = load_text(kMechanism);
  std::vector<Diagnostic> findings;
  SimulateOptions options = default_options(system);
  const Read scene(model_scene(system, options, findings));
  EXPECT_TRUE(findings.empty());
  const Json& hinge = scene.named("joints", "hinge");
  EXPECT_EQ(hinge["type"], "revolute");
  EXPECT_EQ(hinge["bodies"], (Json{"ground", "crank"}));
  EXPECT_EQ(hinge["frame"], -1);
  EXPECT_NEAR(hinge["axis"][1], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(hinge["axis"][2], std::sqrt(0.5), 1e-6);
  const Json& pin = scene.named("joints", "pin");
  EXPECT_EQ(pin["ends"][0]["frame"], scene.frame("crank"));
  EXPECT_NEAR(pin["ends"][0]["at"][0], 0.2, 1e-6);
  EXPECT_EQ(pin["ends"][1]["frame"], scene.frame("rod"));
  EXPECT_NEAR(pin["ends"][1]["at"][0], -0.3, 1e-6);
  const Json& spring = scene.named("forces", "spring");
  EXPECT_EQ(spring["ends"][0]["frame"], -1);
  EXPECT_EQ(spring["ends"][0]["at"], (Json{1.0, 1.0, 1.0}));
  EXPECT_NEAR(spring["ends"][1]["at"][0], 0.3, 1e-6);
  // What a reaction acts on.
  EXPECT_EQ(scene.json["joints"].size(), 2U);
}

// A ball that falls on a spring and comes back: in the last row it is slow, and nothing presses it any more.
TEST(Scene, AStreamKnowsTheLargestValuesOfAllRows) {
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, -10],
    "bodies": {"ball": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 5]}},
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "ball"], "at": [0, 0, 5], "axis": [0, 0, 1]}},
    "forces": {"stop": {"type": "spring_damper", "between": ["ground", "ball"], "points": [[0, 0, -1], [0, 0, 5]], "free_length": 1, "stiffness": 1000, "side": "compression"}},
    "simulation": {"end": 1.9, "step": 1e-3, "integrator": "dopri5"} })");
  std::unique_ptr<SceneStream> stream;
  std::vector<float> row;
  SimulateOptions options = default_options(system);
  options.recorded = [&](const System& now, const State& state) {
    if (!stream) stream = std::make_unique<SceneStream>(now, state, std::span<const double>{});
    row.clear();
    EXPECT_TRUE(stream->add_row(state, {}, row));
    EXPECT_EQ(row.size(), stream->width());
  };
  simulate(system, options);
  // m v^2/2 + m g d = k d^2/2 with v^2/2 = 5 g; the speed is largest where k d = m g.
  const double deepest = 0.01 + std::sqrt(0.01 * 0.01 + 0.1), fastest = std::sqrt(100 + 10 * 0.01);
  EXPECT_NEAR(stream->largest().at("applied_force"), 1000 * deepest, 1e-3 * 1000 * deepest);
  EXPECT_NEAR(stream->largest().at("velocity"), fastest, 1e-3 * fastest);
  EXPECT_NEAR(stream->largest().at("reaction_force"), 0, 1e-9);
}

TEST(Scene, KeepsAtMostTheFramesAskedForAndTheEnd) {
  const System system = load("heavy_top");
  for (const long frames : {2, 7, 100, 999, 1001}) {
    SceneWriter writer(frames);
    const Result result = simulated(system, writer, default_options(system));
    const Read scene(writer.finish(result));
    EXPECT_LE(scene.times.size(), static_cast<std::size_t>(frames) + 1);
    EXPECT_GE(2 * scene.times.size() + 2, static_cast<std::size_t>(frames));
    EXPECT_EQ(scene.times.front(), 0);
    EXPECT_EQ(scene.times.back(), 1);
    // Rows still belong to their times.
    for (std::size_t row = 0; row < scene.times.size(); ++row) {
      const auto i = static_cast<std::size_t>(std::lround(scene.times[row] / 1e-3));
      EXPECT_EQ(scene.positions[3 * row], static_cast<float>(result.trajectory.at(i, "position")[0]));
    }
  }
}

// A solid and a frame of beams with quadratic displacements, both bent by their weight.
constexpr const char* kFlexible = R"({ "liedyn": 1, "gravity": [0, 0, -9.81],
  "flexible": {
    "arm": { "type": "brick", "size": [1, 0.05, 0.02], "divisions": [8, 2, 2], "position": [0.5, 0, 0], "young": 7e8, "poisson": 0.3,
             "density": 2700, "modes": 6 },
    "root": { "type": "interface", "of": "arm", "at": [0, 0, 0], "group": "x-" },
    "bar": { "type": "rectangle", "from": [0, 1, 0], "to": [1, 1, 0.2], "elements": 6, "width": 0.02, "height": 0.01, "young": 7e9,
             "density": 2700, "modes": 6, "geometric_stiffness": GEOMETRIC },
    "foot": { "type": "interface", "of": "bar", "at": [0, 1, 0], "group": "start" } },
  "joints": {
    "hinge": { "type": "revolute", "between": ["ground", "root"], "at": [0, 0, 0], "axis": [0, 1, 0] },
    "clamp": { "type": "fixed", "between": ["ground", "foot"], "at": [0, 1, 0] } },
  "simulation": { "end": 0.1, "step": 2e-3, "integrator": "generalized-alpha,rho=0.5" } })";

TEST(Scene, SurfacesOfFlexibleBodiesAreTheShapesOfVtkFiles) {
  std::string text = kFlexible;
  text.replace(text.find("GEOMETRIC"), 9, "\"on\"");
  const System system = load_text(text);
  SceneWriter writer;
  std::vector<Shapes::Values> values;
  Shapes shapes(system);
  SimulateOptions options = default_options(system);
  options.output_every = 10;
  options.recorded = [&](const System& now, const State& state) {
    writer.add(now, state);
    values.push_back(shapes.at(state));
  };
  const Result result = simulate(system, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  const Read scene(writer.finish(result));
  const double size = scene.json["size"];
  const Json &arm = scene.named("bodies", "arm"), &bar = scene.named("bodies", "bar");
  double bent = 0;
  ASSERT_EQ(values.size(), scene.times.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    const Eigen::Matrix3Xd& places = values[row].places;
    bent = std::max(bent, values[row].displacements.colwise().norm().maxCoeff());
    // Every vertex of the brick is a node.
    const Eigen::Matrix3Xd skin = scene.surface(row, arm);
    EXPECT_EQ(skin.cols(), 9 * 3 * 3 - 7);  // all but those inside
    for (Eigen::Index i = 0; i < skin.cols(); ++i)
      EXPECT_LT((places.colwise() - skin.col(i)).colwise().norm().minCoeff(), 1e-5 * size);
    // The corners of a section are around its node.
    const Eigen::Matrix3Xd walls = scene.surface(row, bar);
    ASSERT_EQ(walls.cols(), (7 + 2) * 12);
    for (Eigen::Index ring = 0; ring < 7; ++ring) {
      const Vec3 middle = walls.middleCols(12 * ring, 12).rowwise().mean();
      EXPECT_LT((places.colwise() - middle).colwise().norm().minCoeff(), 1e-5 * size);
    }
  }
  EXPECT_GT(bent, 1e-3);
  // Triangles close the surface: every edge belongs to two of them, in opposite directions, and the volume is that of the brick.
  const std::vector<double> t = unpack_array(arm["triangles"], "t"), v = unpack_array(arm["vertices"], "v");
  std::map<std::pair<int, int>, int> edges;
  double volume = 0;
  for (std::size_t i = 0; i < t.size(); i += 3) {
    Vec3 corner[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = static_cast<int>(t[i + k]), b = static_cast<int>(t[i + (k + 1) % 3]);
      edges[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
      for (int x = 0; x < 3; ++x)
        corner[k][x] = v[3 * static_cast<std::size_t>(a) + static_cast<std::size_t>(x)];
    }
    volume += corner[0].dot(corner[1].cross(corner[2])) / 6;
  }
  for (const auto& [edge, balance] : edges) EXPECT_EQ(balance, 0);
  EXPECT_NEAR(volume, 1 * 0.05 * 0.02, 1e-9);
}

// The scene of the way to an equilibrium.
Read scene_of_equilibrium(const System& system) {
  SceneWriter writer;
  StaticOptions options;
  options.reached = [&](const System& loaded, double factor, const State& state) {
    writer.add_loaded(system, loaded, factor, state);
  };
  const StaticResult found = find_equilibrium(system, options);
  EXPECT_TRUE(found.converged) << found.failure;
  return Read(writer.finish(found, system));
}

// Cantilevers with a force and a torque at the tip, the one exact and the other of modes: M_y = -F (L - x), stresses M z/I and T r/J.
TEST(Scene, ForcesAndStressesOfBeamsAreThoseOfCantilevers) {
  constexpr double F = 2, T = 0.5, L = 0.8, a = 0.02, b = 0.03, r = 0.012;
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, 0],
    "beams": { "exact": { "type": "rectangle", "from": [0, 0, 0], "to": [0.8, 0, 0], "elements": 8, "width": 0.02, "height": 0.03, "young": 2e11, "poisson": 0.3, "density": 7800 } },
    "flexible": { "modal": { "type": "circle", "from": [0, 1, 0], "to": [0.8, 1, 0], "elements": 8, "radius": 0.012, "young": 2e11, "poisson": 0.3, "density": 7800, "modes": 3 },
      "foot": { "type": "interface", "of": "modal", "at": [0, 1, 0], "group": "start" }, "tip": { "type": "interface", "of": "modal", "at": [0.8, 1, 0], "group": "end" } },
    "joints": { "clamp": { "type": "fixed", "between": ["ground", "exact.start"], "at": [0, 0, 0] }, "other": { "type": "fixed", "between": ["ground", "foot"], "at": [0, 1, 0] } },
    "forces": { "pull": { "type": "force", "on": "exact.end", "force": [0, 0, 2] }, "bend": { "type": "force", "on": "tip", "force": [0, 0, 2] },
      "twist": { "type": "torque", "on": "tip", "torque": [0.5, 0, 0] } } })");
  const Read scene = scene_of_equilibrium(system);
  const Json& exact = scene.named("bodies", "exact");
  const std::size_t last = scene.times.size() - 1;
  EXPECT_NEAR(exact["constants"][0], a * b, 1e-6 * a * b);
  EXPECT_NEAR(exact["constants"][1], a * b * b * b / 12, 1e-6 * a * b * b * b / 12);
  ASSERT_EQ(exact["section_forces"].size(), 6U);
  const std::vector<double> shear = unpack_array(exact["section_forces"][2], "Q"),
                            moment = unpack_array(exact["section_forces"][4], "M");
  ASSERT_EQ(moment.size(), 9 * scene.times.size());
  for (std::size_t i = 0; i < 9; ++i) {
    const double x = L * static_cast<double>(i) / 8;
    EXPECT_NEAR(shear[9 * last + i], F, 1e-4 * F);
    EXPECT_NEAR(moment[9 * last + i], -F * (L - x), 1e-4 * F * L) << i;
  }
  const Json& modal = scene.named("bodies", "modal");
  const std::vector<double> stress = unpack_array(modal["stress"], "s"),
                            vertices = unpack_array(modal["vertices"], "v"),
                            q = unpack_array(modal["coordinates"], "q");
  const std::size_t N = vertices.size() / 3, K = modal["mode_count"];
  const double I = std::numbers::pi * std::pow(r, 4) / 4;
  for (std::size_t i = 0; i < N; ++i) {
    std::array<double, 6> s{};
    for (std::size_t k = 0; k < K; ++k)
      for (std::size_t c = 0; c < 6; ++c) s[c] += q[last * K + k] * stress[6 * (k * N + i) + c];
    const double x = vertices[3 * i], y = vertices[3 * i + 1], z = vertices[3 * i + 2];
    const double scale = F * L * r / I;
    EXPECT_NEAR(s[0], -F * (L - x) * z / I, 0.01 * scale) << x << " " << z;
    EXPECT_NEAR(s[5], -T * z / (2 * I), 0.01 * scale);
    EXPECT_NEAR(s[4], T * y / (2 * I), 0.01 * scale);
    EXPECT_NEAR(s[1], 0, 1e-3 * scale);
  }
}

// Torsion of a rectangle of 30 x 10 mm by 7 N m: T/(0.267 b h^2) in the middle of the long sides and 0.753 of it in the middle of the short ones, nothing in the corners (Timoshenko and
// Goodier, Theory of Elasticity, section 109). Of a box T/(2 A_m t) everywhere.
TEST(Scene, StressesOfTwistedRectanglesAndBoxesAreThoseOfHandbooks) {
  constexpr double b = 0.03, h = 0.01, t = 0.001, T = 7, kLargest = T / (0.267 * b * h * h);
  for (const bool is_box : {false, true}) {
    const System system = load_text(
        R"({ "liedyn": 1, "gravity": [0, 0, 0],
      "flexible": { "bar": { "type": ")" +
        std::string(is_box ? "hollow_rectangle" : "rectangle") +
        R"(", "from": [0, 0, 0], "to": [0.8, 0, 0], "elements": 4, "width": 0.03, "height": 0.01, )" +
        (is_box ? R"("thickness": 0.001, )" : "") +
        R"("young": 2e11, "poisson": 0.3, "density": 7800, "modes": 2 },
      "foot": { "type": "interface", "of": "bar", "at": [0, 0, 0], "group": "start" }, "tip": { "type": "interface", "of": "bar", "at": [0.8, 0, 0], "group": "end" } },
      "joints": { "clamp": { "type": "fixed", "between": ["ground", "foot"], "at": [0, 0, 0] } },
      "forces": { "twist": { "type": "torque", "on": "tip", "torque": [7, 0, 0] } } })");
    const Read scene = scene_of_equilibrium(system);
    const Json& bar = scene.named("bodies", "bar");
    const std::vector<double> stress = unpack_array(bar["stress"], "s"),
                              vertices = unpack_array(bar["vertices"], "v"),
                              q = unpack_array(bar["coordinates"], "q");
    const std::size_t N = vertices.size() / 3, K = bar["mode_count"], last = scene.times.size() - 1;
    double corner = 0, long_side = 0, short_side = 0;
    for (std::size_t i = 0; i < N; ++i) {
      std::array<double, 6> s{};
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t c = 0; c < 6; ++c) s[c] += q[last * K + k] * stress[6 * (k * N + i) + c];
      const double y = vertices[3 * i + 1], z = vertices[3 * i + 2], tau = std::hypot(s[4], s[5]);
      double& where = std::abs(y) < 1e-6 ? long_side : std::abs(z) < 1e-6 ? short_side : corner;
      where = std::max(where, tau);
      if (std::abs(y) < 1e-6) {
        EXPECT_LT(s[5] * z, 0) << "against y on the upper side";
      }
    }
    std::cout << (is_box ? "box" : "rectangle") << ": long side " << long_side << ", short side "
              << short_side << ", corner " << corner << " Pa\n";
    const double thin = T / (2 * (b - t) * (h - t) * t);
    EXPECT_NEAR(long_side, is_box ? thin : kLargest, 0.01 * kLargest);
    EXPECT_NEAR(short_side, is_box ? thin : 0.753 * kLargest, 0.01 * kLargest);
    EXPECT_NEAR(corner, is_box ? thin : 0, 0.01 * kLargest);
  }
}

// A couple of 1000 N m in the middle of a beam between two walls: the moment there is 500 N m on both sides, with opposite signs, and stresses are 500 h/(2 I).
TEST(Scene, SectionForcesJumpWhereLoadsAct) {
  constexpr double I = 0.02 * 0.06 * 0.06 * 0.06 / 12, kStress = 500 * 0.03 / I;
  const std::string beam =
      R"("type": "rectangle", "width": 0.02, "height": 0.06, "from": [0, 0, 0], "to": [1, 0, 0], "elements": 8, "young": 2.1e11, "poisson": 0.3, "density": 7800)";
  const std::string walls =
      R"("joints": { "root": { "type": "fixed", "between": ["ground", "FROM"], "at": [0, 0, 0] }, "other": { "type": "fixed", "between": ["ground", "TO"], "at": [1, 0, 0] } },
      "forces": { "couple": { "type": "torque", "on": "MIDDLE", "torque": [0, 1000, 0] } })";
  const auto scene_of = [](const std::string& parts) {
    const System system = load_text("{ \"liedyn\": 1, \"gravity\": [0, 0, 0], " + parts + " }");
    return scene_of_equilibrium(system);
  };
  const auto named = [&](std::string text, const char* from, const char* to, const char* middle) {
    for (const auto& [word, name] : {std::pair{"FROM", from}, {"TO", to}, {"MIDDLE", middle}})
      text.replace(text.find(word), std::string(word).size(), name);
    return text;
  };
  const Read exact =
      scene_of("\"beams\": { \"b\": { " + beam + " } }, " + named(walls, "b.start", "b.end", "b[0.5]"));
  const Json& own = exact.named("bodies", "b");
  EXPECT_EQ(own["stations"], Json::parse("[0, 1, 2, 3, 4, 4, 5, 6, 7, 8]"));
  const std::vector<double> moment = unpack_array(own["section_forces"][4], "M");
  const std::size_t last = 10 * (exact.times.size() - 1);
  EXPECT_NEAR(std::abs(moment[last + 4]), 500, 1);
  EXPECT_NEAR(moment[last + 4] + moment[last + 5], 0, 1e-2);

  const Read linear = scene_of(
      "\"flexible\": { \"b\": { " + beam +
      R"(, "modes": 3 }, "foot": { "type": "interface", "of": "b", "at": [0, 0, 0], "group": "start" }, "head": { "type": "interface", "of": "b", "at": [1, 0, 0], "group": "end" },
      "hub": { "type": "interface", "of": "b", "at": [0.5, 0, 0] } }, )" +
      named(walls, "foot", "head", "hub"));
  const Json& bar = linear.named("bodies", "b");
  const std::vector<double> stress = unpack_array(bar["stress"], "s"),
                            vertices = unpack_array(bar["vertices"], "v"),
                            q = unpack_array(bar["coordinates"], "q");
  const std::size_t N = vertices.size() / 3, K = bar["mode_count"], end = linear.times.size() - 1;
  std::vector<double> in_the_middle;  // of the upper corners on one side
  for (std::size_t i = 0; i < N; ++i) {
    double xx = 0;
    for (std::size_t k = 0; k < K; ++k) xx += q[end * K + k] * stress[6 * (k * N + i)];
    if (std::abs(vertices[3 * i] - 0.5) < 1e-6 && vertices[3 * i + 2] > 0.029) in_the_middle.push_back(xx);
  }
  ASSERT_FALSE(in_the_middle.empty());
  const auto [least, most] = std::minmax_element(in_the_middle.begin(), in_the_middle.end());
  std::cout << "stress on both sides of the couple: " << *least << ", " << *most << " Pa of " << kStress
            << "\n";
  EXPECT_NEAR(*most, kStress, 0.02 * kStress);
  EXPECT_NEAR(*least, -kStress, 0.02 * kStress);
}

// Constants of a cone at each node: A = pi r^2, I = pi r^4/4 with r linear along the beam.
TEST(Scene, ConstantsOfTaperedBeamsAreThoseOfEachNode) {
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, 0],
    "beams": { "cone": { "type": "circle", "from": [0, 0, 0], "to": [1, 0, 0], "elements": 4, "radius": 0.02, "radius_end": 0.01, "young": 2e11, "poisson": 0.3, "density": 7800 } },
    "joints": { "clamp": { "type": "fixed", "between": ["ground", "cone.start"], "at": [0, 0, 0] } } })");
  std::vector<Diagnostic> findings;
  const Read scene(model_scene(system, default_options(system), findings));
  const Json& constants = scene.named("bodies", "cone")["constants"];
  ASSERT_EQ(constants.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const double r = 0.02 - 0.0025 * static_cast<double>(i), A = std::numbers::pi * r * r;
    EXPECT_NEAR(constants[i][0], A, 1e-5 * A);
    EXPECT_NEAR(constants[i][1], A * r * r / 4, 1e-5 * A * r * r);
  }
}

// M = F (L - x) bends a section that is known by its stiffness alone: curvature M/(E I), shear Q/(k G A).
TEST(Scene, BeamsOfGivenStiffnessHaveStrainsAndNoStress) {
  constexpr double F = 2, L = 0.8, kBending = 300, kShear = 4e5;
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, 0],
    "beams": { "beam": { "type": "stiffness", "from": [0, 0, 0], "to": [0.8, 0, 0], "elements": 8, "axial_stiffness": 1e6, "shear_stiffness_y": 4e5,
      "shear_stiffness_z": 4e5, "torsional_stiffness": 200, "bending_stiffness_y": 300, "bending_stiffness_z": 300, "mass_per_length": 1, "inertia_per_length": [2e-4, 1e-4, 1e-4] } },
    "joints": { "clamp": { "type": "fixed", "between": ["ground", "beam.start"], "at": [0, 0, 0] } },
    "forces": { "pull": { "type": "force", "on": "beam.end", "force": [0, 0, 2] } } })");
  const Read scene = scene_of_equilibrium(system);
  const Json& beam = scene.named("bodies", "beam");
  EXPECT_FALSE(beam.contains("constants"));
  ASSERT_EQ(beam["section_strains"].size(), 2U);
  const std::vector<double> strain = unpack_array(beam["section_strains"][0], "Gamma"),
                            curvature = unpack_array(beam["section_strains"][1], "kappa");
  ASSERT_EQ(scene.times.size(), 2U);
  ASSERT_EQ(curvature.size(), 18U);
  for (std::size_t i = 0; i < 9; ++i) {
    const double x = L * static_cast<double>(i) / 8;
    EXPECT_EQ(curvature[i], 0);
    EXPECT_NEAR(curvature[9 + i], F * (L - x) / kBending, 1e-4 * F * L / kBending) << i;
    EXPECT_NEAR(strain[9 + i], F / kShear, 1e-3 * F / kShear) << i;
  }
}

// A bolted block and a bob on a spring: what acts in them rises with the loads, that of a load which depends on time to its value at the time of the equilibrium.
TEST(Scene, EquilibriaHaveTheirLoads) {
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, -10],
    "bodies": {
      "block": { "type": "rigid", "mass": 2, "inertia": [1, 1, 1] },
      "bob": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1, 0, 0] } },
    "joints": {
      "bolt": { "type": "fixed", "between": ["ground", "block"], "at": [0, 0, 0] },
      "guide": { "type": "prismatic", "between": ["ground", "bob"], "at": [1, 0, 0], "axis": [0, 0, 1] } },
    "forces": {
      "push": { "type": "force", "on": "block", "force": ["6*t", 0, 0] },
      "spring": { "type": "spring_damper", "between": ["ground", "bob"], "points": [[1, 0, 1], [1, 0, 0]], "stiffness": 100, "free_length": 0.96 } },
    "sensors": { "height": { "type": "position", "of": "bob" } } })");
  for (const int steps : {1, 2}) {
    SceneWriter writer;
    StaticOptions options;
    options.time = 0.5;
    options.load_steps = steps;
    options.reached = [&](const System& loaded, double factor, const State& state) {
      writer.add_loaded(system, loaded, factor, state);
    };
    const StaticResult found = find_equilibrium(system, options);
    ASSERT_TRUE(found.converged) << found.failure;
    const Read scene(writer.finish(found, system));
    ASSERT_EQ(scene.times.size(), static_cast<std::size_t>(steps) + 1);
    EXPECT_EQ(scene.json["gravity"][2], -10);
    EXPECT_EQ(unpack_array(scene.json["load_times"], "t"), scene.times);
    EXPECT_EQ(unpack_array(scene.json["channel_times"], "t"), scene.times);
    const auto values = [&](const char* list, const char* name) {
      return unpack_array(scene.named(list, name)["values"], name);
    };
    const std::vector<double> push = values("loads", "push.applied_force"),
                              bolt = values("loads", "bolt.reaction_force"),
                              spring = values("loads", "spring.applied_force"),
                              moved = values("loads", "guide.joint_displacement"),
                              height = values("channels", "height");
    for (std::size_t row = 0; row < scene.times.size(); ++row) {
      const double share = scene.times[row];
      EXPECT_NEAR(push[3 * row], 3 * share, 1e-3) << share;
      EXPECT_NEAR(bolt[3 * row], -3 * share, 1e-3) << share;
      EXPECT_NEAR(bolt[3 * row + 2], 20 * share, 1e-3) << share;
      // At the start it is as drawn, 0.04 m too long: 4 N. Then it carries the bob.
      EXPECT_NEAR(spring[3 * row + 2], row == 0 ? 4 : 10 * share, 1e-3) << share;
      EXPECT_NEAR(moved[row], row == 0 ? 0 : 0.04 - 0.1 * share, 1e-5) << share;
      EXPECT_NEAR(height[3 * row + 2], row == 0 ? 0 : 0.04 - 0.1 * share, 1e-6) << share;
    }
  }
}

// A robot with a mesh in a folder of its package, and one whose mesh has a format that cannot be read: what collides stands in for it. Both survive in a saved model.
TEST(Scene, RobotsHaveTheirMeshes) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "liedyn_robot" / "arm";
  std::filesystem::create_directories(folder / "meshes");
  std::filesystem::create_directories(folder / "urdf");
  std::ofstream(folder / "meshes" / "corner.obj")
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const auto link = [](const char* name, const char* mesh) {
    return fmt::format(
        R"(<link name="{}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
      <visual><geometry><mesh filename="{}" scale="2 2 2"/></geometry><material name="m"><color rgba="1 0.5 0 1"/></material></visual>
      <collision><geometry><sphere radius="0.3"/></geometry></collision></link>)",
        name, mesh);
  };
  const std::string file = (folder / "urdf" / "arm.urdf").string();
  std::ofstream(file)
      << R"(<robot name="arm"><link name="base"/>)" << link("a", "package://arm/meshes/corner.obj")
      << link("b", "../meshes/b.dae")
      << R"(<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
      <joint name="k" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>)";
  const Description robot = load(file).model().description();
  // Meshes lie in the folder of the saved model.
  const std::string beside =
      (std::filesystem::path(file).parent_path().parent_path() / "saved.json").string();
  const Description saved = read_model_text(model_text(robot), beside);
  for (const Description* d : {&robot, &saved}) {
    std::vector<std::string> missing;
    const std::vector<SceneShape> a = given_shapes(*d, "a", missing);
    EXPECT_TRUE(missing.empty()) << missing.front();
    ASSERT_EQ(a.size(), 1U);
    EXPECT_EQ(a[0].type, SceneShape::Type::Mesh);
    ASSERT_EQ(a[0].triangles.size(), 12U);
    EXPECT_EQ(*std::max_element(a[0].vertices.begin(), a[0].vertices.end()), 2);
    EXPECT_NEAR(a[0].at.z(), -0.1, 1e-12);
    EXPECT_EQ(a[0].color, "#ff8000");
  }
  std::vector<std::string> missing;
  const std::vector<SceneShape> b = given_shapes(robot, "b", missing);
  ASSERT_EQ(b.size(), 1U);
  EXPECT_EQ(b[0].type, SceneShape::Type::Sphere);
  EXPECT_EQ(missing.size(), 1U);
}

SceneBody body_of(double mass, const Vec3& inertia, std::vector<Vec3> joints) {
  SceneBody out;
  out.mass = mass;
  out.inertia = inertia.asDiagonal();
  for (const Vec3& p : joints) out.attachments.push_back({p});
  return out;
}

TEST(DerivedShapes, AreTheBodiesThatHaveTheInertia) {
  using Type = SceneShape::Type;
  // A ball: 2/5 m r^2.
  std::vector<SceneShape> s = derived_shapes(body_of(2, Vec3::Constant(0.4 * 2 * 0.01), {}), 1);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].type, Type::Sphere);
  EXPECT_NEAR(s[0].radius(), 0.1, 1e-12);
  // A box of 0.6 x 0.3 x 0.2.
  const Vec3 edges(0.6, 0.3, 0.2), squares = edges.cwiseAbs2();
  s = derived_shapes(body_of(3, 3.0 / 12 * (Vec3::Constant(squares.sum()) - squares), {}), 1);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].type, Type::Box);
  const Vec3 shown = (s[0].axes * Vec3(s[0].size[0], s[0].size[1], s[0].size[2])).cwiseAbs();
  EXPECT_LT((shown - edges).norm(), 1e-9);
  // A cylinder of radius 0.3 and length 0.5 about y.
  const double J = 0.5 * 0.09, across = 0.25 * 0.09 + 0.25 / 12;
  s = derived_shapes(body_of(1, {across, J, across}, {}), 1);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].type, Type::Cylinder);
  EXPECT_NEAR(s[0].radius(), 0.3, 1e-9);
  EXPECT_NEAR(s[0].length(), 0.5, 1e-9);
  EXPECT_NEAR(std::abs(s[0].axes.col(2).y()), 1, 1e-9);
}

TEST(DerivedShapes, ConnectJoints) {
  using Type = SceneShape::Type;
  // The heavy top: a disc of radius 0.25 on a thin rod to the pivot.
  std::vector<SceneShape> s = derived_shapes(body_of(15, {0.234375, 0.46875, 0.234375}, {{0, -1, 0}}), 1);
  ASSERT_EQ(s.size(), 2U);
  EXPECT_EQ(s[0].type, Type::Cylinder);
  EXPECT_NEAR(s[0].radius(), 0.25, 1e-9);
  EXPECT_EQ(s[1].type, Type::Capsule);
  EXPECT_NEAR(s[1].length(), 1, 1e-9);
  EXPECT_NEAR(s[1].at.y(), -0.5, 1e-9);
  // A slender bar between two joints is one rod from the one to the other.
  s = derived_shapes(body_of(1, {1e-5, 1.0 / 12, 1.0 / 12}, {{-0.5, 0, 0}, {0.5, 0, 0}}), 2);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_NEAR(s[0].length(), 1, 1e-9);
  EXPECT_LT(s[0].radius(), 0.06);
  // Three joints span a plate.
  SceneBody coupler = body_of(1, {0, 0, 0.01}, {{0, 0, 0}, {0.4, 0, 0}, {0.2, 0.3, 0}});
  coupler.in_plane = true;
  s = derived_shapes(coupler, 1);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].type, Type::Mesh);
  // An inertia that stands for no body of this size does not hide the others.
  for (const SceneShape& one : derived_shapes(body_of(1, {100, 100, 100}, {{0.1, 0, 0}}), 1))
    EXPECT_LT(one.reach(), 1);
}

TEST(Scene, ShapesOfTheModelAreThoseOfTheScene) {
  const Description description =
      read_model_text(R"({ "liedyn": 1, "bodies": { "all": { "type": "rigid", "shapes": [
      { "type": "box", "size": [1, 2, 3], "density": 1 }, { "type": "sphere", "radius": 4 },
      { "type": "cylinder", "radius": 5, "length": 6 }, { "type": "capsule", "radius": 7, "length": 8, "at": [1, 2, 3] },
      { "type": "tube", "radius": 10, "inner": 9, "length": 11 }, { "type": "ellipsoid", "radii": [12, 13, 14] },
      { "type": "cone", "radius": 15, "length": 16 }, { "type": "extrusion", "polygon": [[0, 0], [1, 0], [0, 1]], "length": 2 } ] } } })",
                      "shapes.json");
  std::vector<std::string> missing;
  const std::vector<SceneShape> shapes = given_shapes(description, "all", missing);
  EXPECT_TRUE(missing.empty());
  using Type = SceneShape::Type;
  using Sizes = std::array<double, 3>;
  const std::vector<std::pair<Type, Sizes>> expected = {
      {Type::Box, {1, 2, 3}},     {Type::Sphere, {4, 0, 0}}, {Type::Cylinder, {5, 6, 0}},
      {Type::Capsule, {7, 8, 0}}, {Type::Tube, {10, 11, 9}}, {Type::Ellipsoid, {12, 13, 14}},
      {Type::Mesh, {0, 0, 0}},    {Type::Mesh, {0, 0, 0}}};
  ASSERT_EQ(shapes.size(), expected.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(shapes[i].type, expected[i].first) << i;
    EXPECT_EQ(shapes[i].radius(), expected[i].second[0]) << i;
    if (shapes[i].type != Type::Sphere) {
      EXPECT_EQ(shapes[i].length(), expected[i].second[1]) << i;
    }
  }
  EXPECT_EQ(shapes[4].size[2], 9);
  EXPECT_EQ(shapes[3].at, Vec3(1, 2, 3));
  // The tip of the cone is above its base; volume of both meshes by the divergence theorem.
  for (const auto& [i, volume] : {std::pair<std::size_t, double>{6, 15 * 15 * 16 * M_PI / 3}, {7, 1}}) {
    double sum = 0;
    const auto vertex = [&shape = shapes[i]](std::size_t k) {
      return Eigen::Map<const Eigen::Vector3f>(shape.vertices.data() + 3 * shape.triangles[k])
          .cast<double>()
          .eval();
    };
    for (std::size_t k = 0; k < shapes[i].triangles.size(); k += 3)
      sum += vertex(k).dot(vertex(k + 1).cross(vertex(k + 2))) / 6;
    EXPECT_NEAR(sum, volume, 0.004 * volume) << i;  // 48 sides: 1 - sin(x)/x with x = 2 pi/48
  }
}

TEST(Scene, OfEveryShippedModelIsWholeAndOfItsSize) {
  for (const std::string& name : model_names()) {
    const System system = load(name);
    std::vector<Diagnostic> findings;
    const std::string text = model_scene(system, default_options(system), findings);
    EXPECT_TRUE(findings.empty()) << name;
    const Read scene(text);
    const double extent = scene.json["extent"], size = scene.json["size"];
    EXPECT_GT(extent, 0) << name;
    EXPECT_TRUE(std::isfinite(size)) << name;
    EXPECT_LE(size, 4 * extent) << name;  // twice to each side
    for (const double x : scene.positions) EXPECT_TRUE(std::isfinite(x)) << name;
    for (const Json& body : scene.json["bodies"]) {
      if (body["kind"] == "rigid") {
        EXPECT_FALSE(body["shapes"].empty()) << name << " " << body["name"];
      }
      if (!body.contains("shapes")) continue;
      for (const Json& shape : body["shapes"])
        for (const char* key : {"radius", "length"})
          if (shape.contains(key)) {
            EXPECT_GT(shape[key].get<double>(), 0) << name << " " << body["name"];
            EXPECT_LE(shape[key].get<double>(), 2 * extent) << name << " " << body["name"];
          }
    }
    EXPECT_EQ(text.find("nan"), text.find("nano")) << name;
    EXPECT_TRUE(scene.json["warnings"].empty()) << name << scene.json["warnings"];
  }
}

// States of controllers are nodes without a place.
TEST(Scene, SensorsOfStatesHaveNoPlace) {
  const System system = load("controlled_arm");
  SimulateOptions options = default_options(system);
  options.end = 0.01;
  SceneWriter writer;
  const Result result = simulated(system, writer, options);
  const Read scene(writer.finish(result));
  EXPECT_FALSE(scene.named("channels", "current_now").contains("frame"));
  for (const Json& channel : scene.json["channels"])
    if (channel.contains("frame")) {
      EXPECT_LT(channel["frame"].get<long>(), static_cast<long>(scene.frames.size())) << channel["name"];
    }
}

// The chunks of a .glb file, and the numbers of an accessor.
struct Gltf {
  explicit Gltf(const std::string& bytes) {
    const auto word = [&](std::size_t at) {
      std::uint32_t out = 0;
      std::memcpy(&out, bytes.data() + at, 4);
      return std::size_t{out};
    };
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(word(4), 2U);
    EXPECT_EQ(word(8), bytes.size());
    const std::size_t size = word(12);
    EXPECT_EQ(bytes.substr(16, 4), "JSON");
    json = Json::parse(bytes.substr(20, size));
    EXPECT_EQ(word(20 + size) + 28 + size, bytes.size());
    data = bytes.substr(28 + size);
    EXPECT_EQ(json["buffers"][0]["byteLength"], data.size());
  }
  std::vector<float> floats(std::size_t accessor) const {
    const Json &a = json["accessors"][accessor],
               &view = json["bufferViews"][a["bufferView"].get<std::size_t>()];
    EXPECT_EQ(a["componentType"], 5126);
    EXPECT_LE(view["byteOffset"].get<std::size_t>() + view["byteLength"].get<std::size_t>(), data.size());
    std::vector<float> out(view["byteLength"].get<std::size_t>() / 4);
    std::memcpy(out.data(), data.data() + view["byteOffset"].get<std::size_t>(), 4 * out.size());
    return out;
  }
  Json json;
  std::string data;
};

TEST(Gltf, AnimatesPosesAndModes) {
  std::string text = kFlexible;
  text.replace(text.find("GEOMETRIC"), 9, "\"off\"");
  const System system = load_text(text);
  SceneWriter writer;
  SimulateOptions options = default_options(system);
  options.output_every = 10;
  const Result result = simulated(system, writer, options);
  const std::string scene_text = writer.finish(result);
  const Read scene(scene_text);
  const Gltf gltf(gltf_of(scene_text));
  int moved = 0, bent = 0;
  for (const Json& channel : gltf.json["animations"][0]["channels"]) {
    const Json& sampler = gltf.json["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
    const std::vector<float> times = gltf.floats(sampler["input"]), values = gltf.floats(sampler["output"]);
    ASSERT_EQ(times.size(), scene.times.size());
    EXPECT_EQ(times.front(), 0);
    const std::string name = gltf.json["nodes"][channel["target"]["node"].get<std::size_t>()]["name"];
    if (channel["target"]["path"] == "translation") {
      ++moved;
      for (std::size_t row = 0; row < times.size(); ++row)
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_EQ(
              values[3 * row + i],
              static_cast<float>(scene.positions[3 * (row * scene.frames.size() + scene.frame(name)) + i]));
    }
    if (channel["target"]["path"] == "weights") {
      ++bent;
      const Json& body = scene.named("bodies", name.substr(0, name.find(' ')));
      const std::vector<double> coordinates = unpack_array(body["coordinates"], "c");
      ASSERT_EQ(values.size(), coordinates.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i], static_cast<float>(coordinates[i]));
    }
  }
  EXPECT_EQ(moved, static_cast<int>(scene.frames.size()));
  EXPECT_EQ(bent, 2);
  EXPECT_THROW(gltf_of("{}"), InputError);
  EXPECT_THROW(gltf_of("no scene"), InputError);
}

// Each mode is an animation: at the phases 0 and pi/2 the real part, and the negative imaginary part, of its shape.
TEST(Gltf, EachModeIsAnAnimation) {
  std::string text = kFlexible;
  text.replace(text.find("GEOMETRIC"), 9, "\"on\"");
  const System system = load_text(text);
  Work work(system);
  const State state = initial_state(system, default_options(system), work);
  ModesOptions options;
  options.count = 5;
  const std::string scene_text = SceneWriter().finish(modes(system, state, options), system, state);
  const Read scene(scene_text);
  const Gltf gltf(gltf_of(scene_text));
  const Json& list = scene.json["mode_list"];
  ASSERT_EQ(gltf.json["animations"].size(), list.size());
  ASSERT_EQ(list.size(), 5U);
  const double amplitude = 0.12 * scene.json["size"].get<double>();
  double turned = 0;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const Json& animation = gltf.json["animations"][n];
    EXPECT_TRUE(animation["name"].get<std::string>().starts_with(fmt::format("mode {}, ", n + 1)));
    const std::vector<double> d = unpack_array(list[n]["displacement"], "d"),
                              c = unpack_array(list[n]["coordinates"], "c");
    std::size_t moved = 0, first = 0;
    for (const Json& channel : animation["channels"]) {
      const Json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
      const std::vector<float> times = gltf.floats(sampler["input"]), values = gltf.floats(sampler["output"]);
      ASSERT_EQ(times.size() % 4, 1U);
      EXPECT_EQ(times.front(), 0);
      EXPECT_EQ(times.back(), 1);
      const std::size_t width = values.size() / times.size(), quarter = width * (times.size() / 4);
      for (std::size_t i = 0; i < width; ++i)
        EXPECT_EQ(values[i], values[values.size() - width + i]) << "a period";
      const std::string name = gltf.json["nodes"][channel["target"]["node"].get<std::size_t>()]["name"];
      const std::size_t f = scene.frame(name);
      if (channel["target"]["path"] == "translation") {
        ++moved;
        for (std::size_t i = 0; i < 3; ++i) {
          const double rest = scene.positions[3 * f + i];
          EXPECT_NEAR(values[i], rest + amplitude * d[2 * (6 * f + i)], 1e-6);
          EXPECT_NEAR(values[quarter + i], rest - amplitude * d[2 * (6 * f + i) + 1], 1e-6);
        }
      } else if (channel["target"]["path"] == "rotation") {
        // R R_0^T = exp(a Re r)
        const Eigen::Quaterniond q(values[3], values[0], values[1], values[2]);
        const Eigen::AngleAxisd turn(Mat3(q.toRotationMatrix() * scene.pose(0, f).rotation().transpose()));
        for (std::size_t i = 0; i < 3; ++i) {
          const double r = amplitude * d[2 * (6 * f + 3 + i)];
          EXPECT_NEAR(turn.angle() * turn.axis()[static_cast<Eigen::Index>(i)], r, 2e-4);
          turned = std::max(turned, std::abs(r));
        }
      } else {
        const std::string body = name.substr(0, name.find(' '));
        const std::size_t linear = scene.named("bodies", body)["mode_count"];
        const std::vector<double> rest = unpack_array(scene.named("bodies", body)["coordinates"], "q");
        ASSERT_EQ(width, rest.size());
        for (std::size_t i = 0; i < linear; ++i) {
          EXPECT_NEAR(values[i], rest[i] + amplitude * c[2 * (first + i)], 1e-5);
          EXPECT_NEAR(values[quarter + i], rest[i] - amplitude * c[2 * (first + i) + 1], 1e-5);
        }
        first += linear;
      }
    }
    EXPECT_EQ(moved, scene.frames.size());
    EXPECT_EQ(2 * first, c.size());
  }
  EXPECT_GT(turned, 0.01);
}

class Pages : public testing::Test {
 protected:
  Pages() {
    std::filesystem::create_directories(directory_);
    std::ofstream(file("template.html")) << "<html><body>\n<!--liedyn-scene-->\n<p>after</p></body></html>";
    setenv("LIEDYN_VIEWER", file("template.html").c_str(), 1);
  }
  ~Pages() override {
    unsetenv("LIEDYN_VIEWER");
    std::filesystem::remove_all(directory_);
  }
  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  static std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) / "liedyn_scene_pages";
};

TEST_F(Pages, HoldScenesThatNoNameCanLeave) {
  const auto titled = [](const char* title) {
    const System system = load_text(R"({"liedyn": 1})");
    std::vector<Diagnostic> findings;
    Json out = Json::parse(model_scene(system, default_options(system), findings));
    out["title"] = title;
    return out.dump();
  };
  const std::string scene = titled("</script><script>alert(1)</script><!--");
  const std::string page = scene_page({scene, titled("b")});
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_NE(page.find("<script type=\"application/json\" id=\"liedyn-scene\">{"), std::string::npos);
  EXPECT_NE(page.find("<script type=\"application/json\" id=\"liedyn-scene-2\">{"), std::string::npos);
  EXPECT_NE(page.find("<p>after</p>"), std::string::npos);
  write_whole(file("page.html"), page);
  EXPECT_EQ(Json::parse(read_scene(file("page.html"))), Json::parse(scene));
  ASSERT_EQ(read_scenes(file("page.html")).size(), 2U);
  EXPECT_EQ(Json::parse(read_scenes(file("page.html"))[1])["title"], "b");
  EXPECT_FALSE(std::filesystem::exists(file("page.html.part")));
}

TEST_F(Pages, AreRefusedWhereTheyCannotBe) {
  EXPECT_THROW(check_page_output(file("no_folder/page.html")), InputError);
  EXPECT_THROW(check_page_output(directory_.string()), InputError);
  EXPECT_THROW(check_page_output("-"), InputError);
  EXPECT_NO_THROW(check_page_output(file("new.html")));
  EXPECT_FALSE(std::filesystem::exists(file("new.html")));
  EXPECT_FALSE(std::filesystem::exists(file("new.html.part")));
  std::ofstream(file("other.html")) << "<html></html>";
  EXPECT_THROW(read_scene(file("other.html")), InputError);
  std::ofstream(file("other.json")) << R"({"format": "other"})";
  EXPECT_THROW(read_scene(file("other.json")), InputError);
  EXPECT_THROW(read_scene(file("absent.json")), InputError);
  setenv("LIEDYN_VIEWER", file("other.html").c_str(), 1);
  EXPECT_THROW(scene_page({"{}"}), InputError);
  setenv("LIEDYN_VIEWER", file("absent.html").c_str(), 1);
  EXPECT_THROW(scene_page({"{}"}), InputError);
}

}  // namespace
}  // namespace liedyn

#include "liedyn/io/scene_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/io/load.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/write_scene.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

// The bodies of its scenes are ground, bar and arm.
System bar_and_arm() {
  return load_text(R"({ "liedyn": 1,
  "beams": { "bar": { "type": "rectangle", "from": [0, 1, 0], "to": [1, 1, 0], "elements": 2, "width": 0.02, "height": 0.03, "young": 2e11, "poisson": 0.3, "density": 7800 } },
  "flexible": {
    "arm": { "type": "brick", "size": [1, 0.05, 0.02], "divisions": [2, 1, 1], "position": [0.5, 0, 0], "young": 7e10, "poisson": 0.3, "density": 2700, "modes": 2 },
    "root": { "type": "interface", "of": "arm", "at": [0, 0, 0], "group": "x-" } },
  "joints": { "weld": { "type": "fixed", "between": ["ground", "root"], "at": [0, 0, 0] } } })");
}
Json start_scene() {
  const System system = bar_and_arm();
  std::vector<Diagnostic> findings;
  return Json::parse(model_scene(system, default_options(system), findings));
}
Json modes_scene() {
  const System system = bar_and_arm();
  Work work(system);
  const State state = initial_state(system, default_options(system), work);
  return Json::parse(SceneWriter().finish(modes(system, state, ModesOptions()), system, state));
}

std::string complaint(Json scene, const char* pointer, const Json& value) {
  scene.at(Json::json_pointer(pointer)) = value;
  try {
    check_scene(scene);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneCheck, BeamsAndFlexibleBodiesFitToTheScene) {
  const Json scene = start_scene();
  EXPECT_NO_THROW(check_scene(scene));
  const std::size_t F = scene["frames"].size(), N = scene["bodies"][2]["vertices"]["shape"][0],
                    K = scene["bodies"][2]["coordinates"]["shape"][1];
  const std::string last = std::to_string(F - 1), next = std::to_string(F);
  EXPECT_EQ(complaint(scene, "/bodies/1/nodes", Json::array({0})),
            "bodies[1].nodes: expected at least 2 nodes, got [0]");
  EXPECT_EQ(complaint(scene, "/bodies/1/nodes/1", F),
            "bodies[1].nodes[1]: expected a whole number from 0 to " + last + ", got " + next);
  EXPECT_EQ(complaint(scene, "/bodies/1/nodes/1", -1),
            "bodies[1].nodes[1]: expected a whole number from 0 to " + last + ", got -1");
  EXPECT_EQ(complaint(scene, "/bodies/1/section", 3), "bodies[1].section: expected an object, got 3");
  EXPECT_EQ(complaint(scene, "/bodies/1/section/width", "w"),
            "bodies[1].section.width: expected a number, got \"w\"");
  EXPECT_EQ(complaint(scene, "/bodies/2/frame", 0.5),
            "bodies[2].frame: expected a whole number from -1 to " + last + ", got 0.5");
  EXPECT_EQ(complaint(scene, "/bodies/2/triangles",
                      pack_array(std::vector<std::uint32_t>{0, 1, static_cast<std::uint32_t>(N)}, {1, 3})),
            "bodies[2].triangles: there is no vertex " + std::to_string(N) + ", only " + std::to_string(N));
  EXPECT_EQ(complaint(scene, "/bodies/2/modes", scene["bodies"][2]["vertices"]),
            "bodies[2].modes: expected the shape [" + std::to_string(K) + ", " + std::to_string(N) +
                ", 3], got [" + std::to_string(N) + ", 3]");
  EXPECT_EQ(complaint(scene, "/bodies/2/mode_count", K + 1),
            "bodies[2].mode_count: expected a whole number from 0 to " + std::to_string(K) + ", got " +
                std::to_string(K + 1));
  const ArrayShape shape = {1, F, 4};
  EXPECT_EQ(complaint(scene, "/rotations", pack_array(std::vector<float>(4 * F), shape)),
            "rotations: expected quaternions, got zero");
  EXPECT_EQ(complaint(scene, "/rotations", pack_array(std::vector<float>(4 * F, NAN), shape)),
            "rotations: expected finite numbers");
}

TEST(SceneCheck, ModesFitToFramesAndCoordinates) {
  const Json scene = modes_scene();
  EXPECT_NO_THROW(check_scene(scene));
  const Json& mode = scene["mode_list"][1];
  EXPECT_EQ(complaint(scene, "/mode_list/1/frequency", nullptr),
            "mode_list[1].frequency: expected a number, got null");
  EXPECT_TRUE(complaint(scene, "/mode_list/1/displacement", mode["coordinates"])
                  .starts_with("mode_list[1].displacement: expected the shape ["));
  EXPECT_TRUE(complaint(scene, "/mode_list/1/coordinates", mode["displacement"])
                  .starts_with("mode_list[1].coordinates: expected the shape ["));
}

}  // namespace
}  // namespace liedyn

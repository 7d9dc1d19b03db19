// Scenes come from files that anybody may have written or cut off: who reads one relies on what is checked here.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace liedyn {

// Throws InputError, with the path in the scene, unless it has what the program itself reads of it (docs/scenes.md): times, poses, bodies with their surfaces, modes,
// names of sensors, warnings. The viewer checks what it alone shows.
void check_scene(const nlohmann::ordered_json& scene);

}  // namespace liedyn

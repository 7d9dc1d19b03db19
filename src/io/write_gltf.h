// Scenes as glTF 2.0, in one binary file (.glb) that Blender and other programs open: poses are animated nodes, beams are skinned by their nodes, and modes of flexible
// bodies are morph targets whose weights are the modal coordinates. Each mode of the model is an animation of its own.
#pragma once

#include <string>

namespace liedyn {

// The bytes of the file, of a scene that SceneWriter wrote. Throws InputError if it is none.
std::string gltf_of(const std::string& scene);

}  // namespace liedyn

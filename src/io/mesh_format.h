// What the shared object liedyn_meshes.so gives to the program that loads it: a reader of mesh formats by the library assimp.
// Plain C types: the object needs nothing of this library, and this library nothing of assimp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace liedyn {

// Takes what is found. A message says why there is no mesh.
struct MeshSink {
  static constexpr std::uint32_t kNoColor = 0xffffffff;
  void* mesh;
  void (*vertex)(void* mesh, const double* xyz);
  void (*triangle)(void* mesh, const std::uint32_t* corners, std::uint32_t color);  // 0xrrggbb
  void (*refuse)(void* mesh, const char* message);
};

struct MeshFormat {
  static constexpr int kVersion = 1;
  int version;
  // `extension` without its dot: "dae".
  void (*read)(const char* content, std::size_t length, const char* extension, const MeshSink* sink);
};

// extern "C" const MeshFormat* liedyn_mesh_format();
using MeshFormatEntry = const MeshFormat* (*)();
inline constexpr const char* kMeshFormatEntry = "liedyn_mesh_format";

}  // namespace liedyn

// Meshes in formats that the library assimp reads: Collada.
//
// The axes of a file are those of the link, as they are in RViz: what the header says about the direction upwards does not turn it. The unit of length is that of the header.
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <array>
#include <assimp/Importer.hpp>
#include <cmath>
#include <exception>

#include "liedyn/io/mesh_format.h"

namespace {

using liedyn::MeshSink;

std::uint32_t color_of(const aiMaterial& material) {
  aiColor4D color;
  if (material.Get(AI_MATKEY_COLOR_DIFFUSE, color) != AI_SUCCESS) return MeshSink::kNoColor;
  // A texture is not drawn; its base colour, white or black, says nothing.
  if (material.GetTextureCount(aiTextureType_DIFFUSE) > 0) return MeshSink::kNoColor;
  std::uint32_t out = 0;
  for (const float x : {color.r, color.g, color.b}) {
    if (!std::isfinite(x)) return MeshSink::kNoColor;
    out = out << 8 | static_cast<std::uint32_t>(std::lround(255 * std::clamp(x, 0.0F, 1.0F)));
  }
  return out;
}

void read_scene(const aiScene& scene, const MeshSink& sink) {
  std::uint32_t base = 0;
  for (unsigned m = 0; m < scene.mNumMeshes; ++m) {
    const aiMesh& mesh = *scene.mMeshes[m];
    const std::uint32_t color = mesh.mMaterialIndex < scene.mNumMaterials
                                    ? color_of(*scene.mMaterials[mesh.mMaterialIndex])
                                    : MeshSink::kNoColor;
    for (unsigned v = 0; v < mesh.mNumVertices; ++v) {
      const aiVector3D& p = mesh.mVertices[v];
      const std::array<double, 3> xyz = {p.x, p.y, p.z};
      sink.vertex(sink.mesh, xyz.data());
    }
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      const aiFace& face = mesh.mFaces[f];
      if (face.mNumIndices != 3) continue;  // points and lines
      const std::array<std::uint32_t, 3> corners = {base + face.mIndices[0], base + face.mIndices[1],
                                                    base + face.mIndices[2]};
      sink.triangle(sink.mesh, corners.data(), color);
    }
    base += mesh.mNumVertices;
  }
}

void read(const char* content, std::size_t length, const char* extension, const MeshSink* sink) {
  try {
    Assimp::Importer importer;
    importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
    importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    const aiScene* scene =
        importer.ReadFileFromMemory(content, length,
                                    aiProcess_Triangulate | aiProcess_SortByPType |
                                        aiProcess_PreTransformVertices | aiProcess_ValidateDataStructure,
                                    extension);
    if (scene == nullptr)
      sink->refuse(sink->mesh, importer.GetErrorString());
    else
      read_scene(*scene, *sink);
  } catch (const std::exception& error) {
    sink->refuse(sink->mesh, error.what());
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const liedyn::MeshFormat* liedyn_mesh_format() {
  static constexpr liedyn::MeshFormat kFormat = {liedyn::MeshFormat::kVersion, &read};
  return &kFormat;
}

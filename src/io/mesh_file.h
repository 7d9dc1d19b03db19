// Triangle meshes from files: STL (ASCII or binary), OBJ, glTF 2.0 (.gltf, .glb) without extensions, and Collada (.dae) if the library assimp is installed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace liedyn {

struct TriangleMesh {
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;  // counter-clockwise from outside
  std::vector<std::uint32_t> colors = {};  // of the triangles, 0xrrggbb; empty: the file has none
};

// Throws InputError, with the name of the file, if it cannot be read: unknown format, not finite, indices without vertices, no triangles.
TriangleMesh read_mesh(const std::string& file);
// The same of a file's content; the extension of the name decides about the format.
TriangleMesh mesh_of_text(std::string_view content, const std::string& file);

// Volume, centre and covariance (1/V) integral (x - c) (x - c)^T dV as xx, yy, zz, yz, xz, xy.
struct Solid {
  double volume = 0;
  std::array<double, 3> center = {};
  std::array<double, 6> covariance = {};
};
// What a closed mesh encloses, by the divergence theorem. Throws InputError with the file's name if the mesh is open, inside out or without volume.
Solid solid_of(const TriangleMesh& mesh, const std::string& file);

// A prism along z from -length/2 to length/2 over a polygon without crossings, in either sense.
TriangleMesh extruded(const std::vector<std::array<double, 2>>& polygon, double length);

}  // namespace liedyn

// Meshes and matrices from files. What is wrong with a file is thrown as std::invalid_argument, with the line.
#pragma once

#include <Eigen/SparseCore>
#include <string>
#include <string_view>

#include "liedyn/model/flexible/finite_elements.h"

namespace liedyn {

// The contents of a file; a path that is not absolute is relative to the directory of the model's file.
std::string read_text(const std::string& path, const std::string& model_file);

// Gmsh's ASCII formats 2.2 and 4.1: hexahedra with 8 nodes, tetrahedra with 4 and with 10, and the nodes of physical groups of any dimension by name (or by
// number, where they have none).
SolidMesh parse_gmsh(std::string_view text);

// MatrixMarket: coordinate or array, real or integer, general or symmetric.
SparseMatrix parse_matrix_market(std::string_view text);

}  // namespace liedyn

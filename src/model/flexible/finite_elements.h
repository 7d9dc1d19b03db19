// Linear finite element models of bodies, in the axes of the body: what a reduction needs to know, wherever it comes from.
#pragma once

#include <Eigen/SparseCore>
#include <map>
#include <string>
#include <vector>

#include "liedyn/base/matrix.h"

namespace liedyn {

using SparseMatrix = Eigen::SparseMatrix<double>;

struct FiniteElements {
  Eigen::Matrix3Xd places;  // of the nodes
  int freedoms = 3;         // of a node: its displacement, then, if 6, its rotation
  SparseMatrix K, M;        // symmetric, freedoms times the number of nodes

  // Where the mass is. The displacements of points of mass are `field` times those of the nodes and `mass` is the mass matrix of the points; what
  // M has besides, M - field^T mass field, is rotary inertia, which does not see small rotations of its axes. Empty: the points are the
  // nodes, and field picks their displacements.
  SparseMatrix field, mass;

  // Nodes by the name of a group: a face of a brick, a physical group of a mesh.
  std::map<std::string, std::vector<int>> groups;

  int nodes() const { return static_cast<int>(places.cols()); }
  int size() const { return freedoms * nodes(); }
  // Displacements of a rigid motion (translation, rotation about the origin): size() x 6.
  Eigen::MatrixXd rigid_motions() const;
  double extent() const;  // diagonal of the box around the nodes
};

struct Material {
  double young = 0, poisson = 0, density = 0;
  Mat6 stiffness() const;  // of (xx, yy, zz, yz, xz, xy) stresses by strains, shear as angles
};

// A mesh of solid elements. Nodes of an element in the order of Gmsh: 8 (hexahedron), 10 or 4 (tetrahedron).
struct SolidMesh {
  Eigen::Matrix3Xd places;
  std::vector<std::vector<int>> elements;
  std::vector<long> numbers;  // of the elements in their file; empty: they are counted from 1
  std::map<std::string, std::vector<int>> groups;
};

// A box about the origin, its faces as groups "x-", "x+", "y-" ...
SolidMesh brick_mesh(const Vec3& size, const std::array<int, 3>& divisions);

// Throws std::invalid_argument if an element is turned inside out.
FiniteElements solid_elements(const SolidMesh& mesh, const Material& material);

// Second derivatives of the internal forces of the relaxed body, along the displacements that are columns k and l of U: one column for each k <= l, in the order of `pair_index`.
// The material is that of Saint-Venant and Kirchhoff: stresses are linear in Green's strains.
Eigen::MatrixXd solid_second_derivatives(const SolidMesh& mesh, const Material& material,
                                         const Eigen::MatrixXd& U);

// Index of k, l among the pairs of n, whichever of the two is larger.
inline int pair_index(int k, int l) { return k <= l ? l * (l + 1) / 2 + k : k * (k + 1) / 2 + l; }
inline int pair_count(int n) { return n * (n + 1) / 2; }

// Stress (xx, yy, zz, yz, xz, xy, body axes) at a place by the displacements of the nodes: columns `freedoms` (indices, which may repeat) of 6 x ... rows. It is that of the
// element with the place inside, the mean of those that meet there, or that of the nearest place of the body.
struct StressRows {
  std::vector<int> freedoms;
  Eigen::Matrix<double, 6, Eigen::Dynamic> rows;
  double distance = 0;  // from the place to the body
};
StressRows stress_rows(const SolidMesh& mesh, const Material& material, const Vec3& place);
// The stresses in the middle of all elements, six rows each, by the displacements of the nodes that are the columns of U.
Eigen::MatrixXd middle_stresses(const SolidMesh& mesh, const Material& material, const Eigen::MatrixXd& U);

}  // namespace liedyn

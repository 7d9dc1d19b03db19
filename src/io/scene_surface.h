// Sections of beams and surfaces of flexible bodies, as a scene shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "liedyn/model/element.h"
#include "liedyn/model/flexible/body.h"

namespace liedyn {

struct LinearBeam;

// The outline of a beam's section. Where only stiffnesses are known it is the solid rectangle or circle with their ratios.
struct SectionOutline {
  bool is_round = false;
  double width = 0, height = 0;  // along y and z
  double radius = 0;
  double wall = 0;  // thickness of the wall of a hollow one; 0: solid
};
SectionOutline section_outline(const Inputs<double>& beam, double x);

// What stresses follow from; nothing where only stiffnesses are known.
struct SectionConstants {
  double young, shear_modulus;
  double area, about_y, about_z, torsion;  // m^2, m^4
};
std::optional<SectionConstants> section_constants(const Inputs<double>& beam, double x);

// tau_xy and tau_xz by Q_y, Q_z and T at a point of the surface with a normal. Those of Q are Jourawski's, those of T Saint-Venant's or, in thin walls, Bredt's: docs/scenes.md.
Eigen::Matrix<double, 2, 3> section_shear(const SectionOutline& outline, const SectionConstants& constants,
                                          const Vec3& point, const Vec3& normal);

// Triangles around a flexible body. A vertex moves with a node of the finite elements: by the displacement of the node, and where nodes turn by its rotation times an arm.
struct FlexibleSurface {
  struct Vertex {
    int node;
    Vec3 arm;                  // from the node, body axes; zero on solid elements
    int beam = -1, ring = 0;   // which of the beams, and which of its nodes
    Vec3 wall = Vec3::Zero();  // normal of the wall of a beam, section axes
    int from = 0,
        to = 0;  // the elements of the beam between jumps of the section forces, of which the node is one end
  };
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> triangles;

  std::vector<float> places(const FiniteElements& elements) const;  // [N, 3], relaxed, body axes
  // [columns, N, 3] for displacements of the nodes that are the columns of U.
  std::vector<float> displacements(const FiniteElements& elements, const Eigen::MatrixXd& U) const;
  // [columns, N, 6] from stresses in the middle of the elements, six rows each: means of the elements around a node.
  std::vector<float> stresses(const SolidMesh& mesh, const Eigen::MatrixXd& of_elements) const;
  // [columns, N, 6] of beams, for displacements of the nodes that are the columns of U: stresses of all section forces. Empty if constants of a section are not known.
  std::vector<float> beam_stresses(const std::vector<LinearBeam>& beams, const Eigen::MatrixXd& U) const;
};
// The outer faces of solid elements, the walls of beams; of bodies known by their matrices alone a small octahedron at each node.
// Of beams: rings of vertices at nodes where section forces jump are there twice.
FlexibleSurface flexible_surface(const FlexibleOutput& body, const Description& description,
                                 const double* params);

}  // namespace liedyn

// The linear finite elements of beams: the geometrically exact elements of model/beams/, at rest in their relaxed shape. A flexible body made of them
// therefore has the frequencies of the same beams under `beams`.
//
// A body of type `frame` has several, its members: entries with the fields of a beam and `of`, the frame's name. The end of a member is joined rigidly to every node of
// other members at its place; nodes between the ends of two members, which may just pass each other, are not joined.
#pragma once

#include "liedyn/model/element.h"
#include "liedyn/model/flexible/finite_elements.h"

namespace liedyn {

// The entries that the beams of a body are: its own, or the members of a frame; none for other bodies. Frames by the section `flexible`.
std::vector<const Entry*> beam_entries(const Description& description, const Entry& body);

// One of them, in the axes of the body. Those of a single beam are those of its section at the start, and so is its origin; members of a frame are given in its axes.
struct LinearBeam {
  Inputs<double> in;
  std::vector<Motion<double>> rest;  // its nodes in the relaxed body
  std::vector<int> nodes;            // their numbers among the nodes of the body
};
// Of a body whose beams have no mistakes of their own. Throws std::invalid_argument if they do not make a body together.
std::vector<LinearBeam> linear_beams(const Inputs<double>& body);

// Groups of nodes: "start" and "end"; of a frame "NAME.start" and "NAME.end" for each of its members.
FiniteElements linear_beam_elements(const std::vector<LinearBeam>& beams);

// Strain and force (each translation and rotation, section axes) by displacements of the nodes, which are the columns of U: twelve rows for each place in each element
// where exact beams evaluate them, beam by beam.
Eigen::MatrixXd linear_beam_sections(const std::vector<LinearBeam>& beams, const Eigen::MatrixXd& U);

// As solid_second_derivatives, of the exact beams: nodes are displaced by u and turned by the rotation vector theta, body axes, and forces are what works on these.
Eigen::MatrixXd linear_beam_second_derivatives(const std::vector<LinearBeam>& beams,
                                               const Eigen::MatrixXd& U);

}  // namespace liedyn

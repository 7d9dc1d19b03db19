// The linear finite elements of a beam: the geometrically exact elements of model/beams/, at rest in their relaxed shape. A flexible body made of them
// therefore has the frequencies of the same beam under `beams`.
#pragma once

#include "model/element.h"
#include "model/flexible/finite_elements.h"

namespace liedyn {

// Of an entry with the fields of a beam. The body's axes are those of the section at the start, and so is its origin; groups "start" and "end".
FiniteElements linear_beam(const Inputs<double>& in);

// Strain and force (each translation and rotation, section axes) by displacements of the nodes, which are the columns of U: twelve rows for each place in each element
// where exact beams evaluate them.
Eigen::MatrixXd linear_beam_sections(const Inputs<double>& in, const Eigen::MatrixXd& U);

// As solid_second_derivatives, of the exact beam: nodes are displaced by u and turned by the rotation vector theta, body axes, and forces are what works on these.
Eigen::MatrixXd linear_beam_second_derivatives(const Inputs<double>& in, const Eigen::MatrixXd& U);

}  // namespace liedyn

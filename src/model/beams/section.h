// Cross-sections: stiffness and inertia per length, 6x6 in the order (axial force, shear y, shear z, torsion, bending about y and z).
//
//   K = diag(E A, k_y G A, k_z G A, G J, E I_y, E I_z)        M = [m, -m c~; m c~, J]
//
// Shear factors k are Cowper's (The shear coefficient in Timoshenko's beam theory, J. Appl. Mech. 33, 1966); torsion constants are those of
// Saint-Venant (rectangle: exact series) and of Bredt (thin-walled box).
#pragma once

#include "liedyn/model/element.h"

namespace liedyn {

template <class S>
struct SectionMatrices {
  Mat6T<S> stiffness, inertia;
};

// The kinds of sections: what users type as the type of a beam, and the fields that it has beside those of all beams.
struct SectionKind {
  std::string type, summary;
  std::vector<Field> fields;
};
const std::vector<SectionKind>& section_kinds();

// Of a beam's entry at the fraction x of its length.
template <class S>
SectionMatrices<S> section_matrices(const Inputs<S>& in, double x);

// What is wrong with the fields; empty if nothing is.
std::string section_mistake(const Inputs<double>& in, std::string& hint);

// Saint-Venant's torsion constant of a solid rectangle.
template <class S>
S rectangle_torsion_constant(const S& width, const S& height);

}  // namespace liedyn

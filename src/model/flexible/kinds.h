// What users type for flexible bodies, and the finite elements that it stands for.
#pragma once

#include "liedyn/model/element.h"
#include "liedyn/model/flexible/finite_elements.h"
#include "liedyn/model/flexible/reduction.h"

namespace liedyn {

// The fields that all bodies but beams have, first in their kinds; a beam has those of BeamField.
enum SolidField {
  kSolidPosition,
  kSolidOrientation,
  kSolidVelocity,
  kSolidAngularVelocity,
  kSolidFormulation,
};
enum InterfaceField { kInterfaceOf, kInterfaceAt, kInterfaceRadius, kInterfaceGroup, kInterfaceFormulation };

inline constexpr int kDefaultModes = 6;

bool is_linear_beam(const Kind& kind);
bool is_linear_beam(const Entry& entry);  // has the fields of a beam: a body, or a member of a frame
bool is_member(const Entry& entry);       // of a frame, and no body itself
bool is_beam_frame(const Entry& entry);   // a body of several beams
const std::string& member_owner(const Description& description, const Entry& member);
// Fields of a linear beam that a member of a frame does not have: they are those of the frame.
bool concerns_whole_frame(std::string_view field);

// The finite elements of a body; of one made of solids also what stresses are made of.
struct Meshed {
  FiniteElements elements;
  SolidMesh solid;  // empty: there are no stresses
  Material material;
  std::vector<std::vector<int>> lines;  // nodes of the elements of beams, from one end to the other
};
// Throws std::invalid_argument with what is wrong.
Meshed meshed(const Inputs<double>& body);
// The nodes of an interface of a body that stands like this at the start; throws likewise.
InterfaceNodes interface_nodes(const Inputs<double>& interface, const Pose<double>& body,
                               const FiniteElements& elements);

}  // namespace liedyn

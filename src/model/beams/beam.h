// A beam: one entry of the section `beams` is a curve with a cross-section, divided into elements. Its nodes are bodies without inertia
// of their own, named NAME.start, NAME.node1, ..., NAME.end; the elements between them bring stiffness and inertia.
#pragma once

#include "liedyn/model/beams/curve.h"
#include "liedyn/model/element.h"

namespace liedyn {

// The fields that all beams have, first in their kinds.
enum BeamField {
  kBeamFrom,
  kBeamTo,
  kBeamThrough,
  kBeamYAxis,
  kBeamTwist,
  kBeamElements,
  kBeamElement,
  kBeamDamping,
  kBeamVelocity,
  kBeamAngularVelocity,
  kBeamFormulation,
};

// How a beam is divided.
struct BeamMesh {
  int elements = 0;
  int order = 1;  // 1: elements with two nodes, 2: with three
  int nodes() const { return elements * order + 1; }
  double fraction(int node) const { return static_cast<double>(node) / (elements * order); }
};
BeamMesh beam_mesh(const Description& description, const Entry& beam);
// NAME.start, NAME.node3, NAME.end
std::string beam_node_name(std::string_view beam, int node, const BeamMesh& mesh);

// "wing[0.25]": the beam, and where on it.
struct BeamPlace {
  std::string_view beam;
  double fraction = 0;
  bool given = false;  // there is a bracket
  bool valid = true;   // with a number from 0 to 1 in it
};
BeamPlace parse_beam_place(std::string_view text);
// The node there, -1 if there is none.
int beam_node_at(const BeamMesh& mesh, double fraction);

// The kind of the bodies that are nodes of beams. Nobody can type it.
const Kind& beam_node_kind();

// What beam elements know of their sections, for sensors: at `points` places in each element, equally spaced within it for one point
// and at the Gauss points for two.
class BeamSections {
 public:
  virtual ~BeamSections() = default;
  virtual int points() const = 0;
  // Where the numbers of an element hold the factor of strain rates and, for a point, the relaxed strains and the matrix of the forces K (strain - relaxed + delay rate);
  // negative: its forces follow from something else.
  struct Layout {
    int delay = -1, relaxed = -1, stiffness = -1;
  };
  virtual Layout layout(int) const { return {}; }
  // Strains and forces (translation, rotation) in section axes.
  virtual void section(const Evaluation& at, int element, int point, Vec6& strain, Vec6& force) const = 0;
  virtual void section(const VariedEvaluation& at, int element, int point, Vec6T<Varied>& strain,
                       Vec6T<Varied>& force) const = 0;
};
// At the fraction x of a beam whose first element in the batch is this one: between the points linear.
template <class S>
void beam_section(const BeamSections& sections, const EvaluationOf<S>& at, int first_element, int elements,
                  double x, Vec6T<S>& strain, Vec6T<S>& force);

}  // namespace liedyn

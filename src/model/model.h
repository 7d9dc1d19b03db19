// The compiled model: nodes, frames, batches of elements, sensors. Built once, then constant and shared between threads;
// the parameters are in Params, the state in State, scratch in Work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "liedyn/model/element.h"
#include "liedyn/model/params.h"
#include "liedyn/model/sensors/sensor.h"
#include "liedyn/model/tree.h"

namespace liedyn {

class Model {
 public:
  // Bodies that ride on others ("on") have no coordinates of their own, or six and as many rows that hold them.
  enum class Riders : std::uint8_t { Merged, HeldByRows };
  // Throws InputError with every finding. `formulation` empty: the description's own.
  static std::shared_ptr<const Model> compile(std::shared_ptr<const Description> description,
                                              const std::string& formulation = {},
                                              Riders riders = Riders::Merged);

  const Description& description() const { return *description_; }
  std::shared_ptr<const Description> shared_description() const { return description_; }
  const std::string& formulation() const { return formulation_; }
  // In the coordinates of the joints.
  bool is_minimal() const;
  // It is left to a simulation (analyses/choose_formulation.h); the model has the default.
  bool is_formulation_open() const;
  bool has_conventional_nodes() const;

  // One per body, in the order of the bodies, then one per state; with a tree those of its links, in their order.
  std::vector<Node> nodes;
  std::optional<Tree> tree;          // in minimal coordinates, and where bodies ride on others
  std::vector<NodeType> body_types;  // of the node that each body has in absolute coordinates
  std::vector<Frame> frames;
  std::vector<std::unique_ptr<Batch>> batches;
  std::vector<Section> sections;  // of the batches
  std::vector<Sensor> sensors;
  std::vector<std::int32_t> state_frames;  // per state
  int nq = 0;                              // numbers of q
  int nv = 0;                              // velocities
  int rows = 0;                            // constraint rows
  int velocity_rows = 0;                   // those of them at velocity level
  bool forces_use_multipliers = false;
  int tangents = 0;    // entries of the nodes' maps E
  int stage_size = 0;  // of the arrays of a stage: velocities, and one more per set of Euler parameters
  int constants = 0;   // of Constants
  int sensor_values = 0;
  int sensor_variables =
      0;           // what expressions of sensors may name: t, the parameters, the values of the sensors
  int angles = 0;  // of State::angles

  std::string row_name(int row) const;       // "joints.pivot: position x"
  std::string equation_name(int dof) const;  // "bodies.top: force x", "states.current: rate"
  const Entry& entry_of(int batch, int element) const;
  const Entry& joint_of(int row) const;
  bool is_velocity_row(int row) const;
  const Entry& body_of(int dof) const;  // or the state
  // Index of the first velocity that is a state; nv if there are none.
  int first_state() const { return nv - static_cast<int>(state_frames.size()); }
  // What a frame finds at its index `node`: nodes, or the bodies of the tree.
  const std::vector<Node>& bodies() const { return tree ? tree->bodies : nodes; }
  // Index of the node that is the body's own, -1: a joint of the tree moves it.
  int node_of_body(int body) const;
  // Batch and element of a joint by its index among the entries.
  std::pair<int, int> element_of_joint(int entry) const;
  // The same of the i-th joint that an element's attachments name.
  std::pair<int, int> named_joint(int batch, int element, int i) const;
  // The unit of what one of the sensors shows: its kind decides, or the user.
  const std::string& unit_of(const Sensor& sensor) const;

 private:
  friend class ModelCompiler;
  int node_of_velocity(int dof) const;
  // Batch and element that a row belongs to.
  std::pair<int, int> element_of_row(int row) const;

  std::shared_ptr<const Description> description_;
  std::string formulation_;
  std::vector<std::pair<std::int32_t, std::int32_t>> joint_elements_;  // per joint entry: batch and element
};

// Formulations by name; the first is the default.
const std::vector<std::string>& formulations();
// What a user may ask for: one of these, or to leave it open.
const std::vector<std::string>& formulation_choices();

// Constants that elements see, derived from Params: offsets of frames, masses about reference points, free lengths.
template <class S>
struct ConstantsOf {
  std::vector<S> data;
  Vec3T<S> gravity = Vec3T<S>::Zero();
};
using Constants = ConstantsOf<double>;
template <class S>
void derive_constants(const Model& model, const S* params, ConstantsOf<S>& constants);
// The values of Params at a time, with their first and second derivatives (null: constant).
template <class S>
struct TimedParameters {
  const S* values;
  const S* rates = nullptr;
  const S* second_rates = nullptr;
};
// The same for one element only (its load follows the time, say).
template <class S>
void derive_element(const Model& model, const TimedParameters<S>& params, int batch, int element,
                    ConstantsOf<S>& constants);

// What the user typed about the start. `free_*`: velocities or increments that assembly may choose ("consistent").
// In minimal coordinates the joints of the tree begin at zero, at rest; system/tree_state.h has what was typed about their bodies.
template <class S>
struct InitialOf {
  std::vector<S> q, v;
  std::vector<bool> free_position, free_velocity;  // per velocity
};
using Initial = InitialOf<double>;
template <class S>
InitialOf<S> initial_values(const Model& model, const S* params);

// Findings that need the values of parameters: inertias that no body has, points that coincide, rotations that are none.
std::vector<Diagnostic> check_parameters(const Model& model, const double* params);

}  // namespace liedyn

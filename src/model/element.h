// The seam of bodies, joints, forces and beams. An element is written once, as plain functions of the motion of its
// frames; all elements of a kind in a model form a Batch, and the hot loop makes one virtual call per batch. An element
// never sees the step size, the method, or a global index.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "liedyn/base/matrix.h"
#include "liedyn/base/varied.h"
#include "liedyn/model/description.h"
#include "liedyn/model/frame.h"

namespace liedyn {

// What all elements share.
template <class S>
struct World {
  Vec3T<S> gravity = Vec3T<S>::Zero();
  S time = S(0);
};

template <class S>
struct EnergyOf {
  S kinetic = S(0);
  S potential = S(0);
  EnergyOf& operator+=(const EnergyOf& other) {
    kinetic += other.kinetic;
    potential += other.potential;
    return *this;
  }
};
using Energy = EnergyOf<double>;

// Constraint rows have a level: position rows hold Phi(q, t) = 0, velocity rows (nonholonomic) only their rate.
enum class RowLevel : std::uint8_t { Position, Velocity, Acceleration };

// Where a block of the matrix stands: entry (r, c) at values[offset + r + c * stride].
struct BlockRef {
  std::int32_t offset = -1;
  std::int32_t stride = 0;
};

// Adds the part of D that belongs to the nodes' own equations and velocities.
inline void add_block(double* values, const BlockRef& ref, const Mat6& D, NodeType rows, NodeType columns) {
  const int height = node_size(rows).v, width = node_size(columns).v;
  double* out = values + ref.offset;
  if (height == 6 && width == 6) {
    for (int c = 0; c < 6; ++c, out += ref.stride)
      for (int r = 0; r < 6; ++r) out[r] += D(r, c);
    return;
  }
  const std::uint8_t *row = components(rows), *column = components(columns);
  for (int c = 0; c < width; ++c, out += ref.stride)
    for (int r = 0; r < height; ++r) out[r] += D(row[r], column[c]);
}

// What batches read and where they add.
template <class S>
struct EvaluationOf {
  const Frame* frames = nullptr;
  const Node* nodes = nullptr;
  const Motion<S>* motions = nullptr;     // per node
  const S* q = nullptr;                   // coordinates of the nodes
  const S *v = nullptr, *vdot = nullptr;  // and their velocities and accelerations
  const S* constants = nullptr;
  World<S> world;
  const S* lambda = nullptr;       // per row
  const double* angles = nullptr;  // State::angles
  double velocity_scale = 0;       // of rows at velocity level where Phi is asked for
  Vec6T<S>* wrench = nullptr;      // per node, in its body axes
  S* r = nullptr;  // the nodes' own equations, for elements that know them (model/direct.h); may be null
  // Per row; null where not asked for.
  S* phi = nullptr;           // Phi
  S* rate = nullptr;          // B v + Phi_t
  S* acceleration = nullptr;  // B vdot + Z(v, v) + 2 Phi_tq v + Phi_tt
  // The elements of the batch to evaluate, from begin to end - 1; a negative end: all (see Batch::divisible).
  int begin = 0, end = -1;
};
using Evaluation = EvaluationOf<double>;
using VariedEvaluation = EvaluationOf<Varied>;

// The matrix to add to, and how its columns move the nodes.
struct JacobianTarget {
  double* values = nullptr;
  const BlockRef* blocks = nullptr;      // of the batch, see Batch::blocks_per_element
  const double* tangent = nullptr;       // E of the nodes; null: identity
  const double* rate_tangent = nullptr;  // E'; the same as E for most methods
  Seeding force;  // of the columns in the rows of the nodes (with the scale of those rows)
  Seeding row;    // of the columns in the constraint rows
  RowLevel level = RowLevel::Position;
  Seeding velocity_row;  // of rows at velocity level where the others are at position level
  // The stabilised form has rows at velocity level besides: (rows, frame i) per element, null otherwise.
  const BlockRef* rate_blocks = nullptr;
  Seeding rate;
};

// How the coordinates of a joint move.
template <class S>
struct AxisMotionOf {
  S angle = S(0), angle_rate = S(0);  // of the second body relative to the first; the angle in (-pi, pi]
  S displacement = S(0), displacement_rate = S(0);
};
using AxisMotion = AxisMotionOf<double>;

// How a kind fills the matrix: asked once, fixes the sparsity.
struct Coupling {
  int frames = 0;
  int rows = 0;
  bool diagonal = true;   // blocks (frame, same frame)
  bool across = false;    // blocks (frame, other frame)
  int velocity_rows = 0;  // the last of its rows hold velocities, B v + a(q, t) = 0, in every index form
  int multipliers = 0;    // forces that depend on those of the joint they name: its rows
};

// Values of an entry's fields and its frames in the initial configuration, for the constants an element derives from them.
template <class S>
class Inputs {
 public:
  Inputs(const Description& description, const Entry& entry, const S* params, const Pose<S>* frames)
      : description_(&description), entry_(&entry), all_(params), params_(params), frames_(frames) {}

  // First and second time derivatives of the parameters, parallel to them; without, all are constant.
  void set_rates(const S* first, const S* second) { rates_ = first, second_rates_ = second; }
  void set_joint(int i, const Entry& joint) { joints_[i] = &joint; }
  void set_part(int part) { part_ = part; }
  // The entry's own parameters, which begin at Entry::first_parameter, from elsewhere.
  void set_own_parameters(const S* own) { params_ = own, base_ = entry_->first_parameter; }

  bool given(int field) const { return value(field).given; }
  bool stored(int field) const { return value(field).first >= 0; }
  S number(int field, int i = 0) const { return values(field)[i]; }
  S parameter(int i) const { return all_[i]; }  // of the model's `parameters`
  // Three numbers; a vector of the plane has z = 0.
  Vec3T<S> vector(int field, int i = 0) const {
    const S* first = values(field);
    if (is_plane(field)) return {first[2 * i], first[2 * i + 1], S(0)};
    return Eigen::Map<const Vec3T<S>>(first + 3 * i);
  }
  // Points and directions given in the axes of bodies: whether the i-th body of the entry has one, and which.
  bool in_bodies(int field) const { return value(field).in_bodies; }
  bool in_body(int field, int i) const {
    const BodyAxes axes = entry_->kind->fields[static_cast<std::size_t>(field)].body_axes;
    return in_bodies(field) &&
           (axes == BodyAxes::Each || axes == (i == 0 ? BodyAxes::First : BodyAxes::Second));
  }
  Vec3T<S> vector_in_body(int field, int i) const {
    const FieldValue& v = value(field);
    const bool one = v.count == (is_plane(field) ? 2 : 3);
    return vector(field, one ? 0 : v.swapped ? 1 - i : i);
  }
  // A direction in the axes of the i-th body, however it was given.
  Vec3T<S> direction_in_body(int field, int i) const {
    if (!in_bodies(field)) return frames_[i].R.transpose() * vector(field);
    if (in_body(field, i)) return vector_in_body(field, i);
    return frames_[i].R.transpose() * (frames_[1 - i].R * vector_in_body(field, 1 - i));
  }
  RotationForm form(int field) const { return value(field).form; }
  const S* values(int field) const { return params_ + (value(field).first - base_); }
  // Index of the chosen word among Field::choices; the first if not given.
  int choice(int field) const {
    const FieldValue& v = value(field);
    if (v.word < 0) return 0;
    const auto& choices = entry_->kind->fields[static_cast<std::size_t>(field)].choices;
    const std::string& word = description_->words[static_cast<std::size_t>(v.word)];
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (choices[i] == word) return static_cast<int>(i);
    return 0;
  }
  // Which of Field::choices stand in a list of them, as bits.
  unsigned choices(int field) const {
    const auto& known = entry_->kind->fields[static_cast<std::size_t>(field)].choices;
    const FieldValue& v = value(field);
    unsigned bits = 0;
    for (int i = 0; i < v.count; ++i)
      for (std::size_t k = 0; k < known.size(); ++k)
        if (description_->words[static_cast<std::size_t>(v.word + i)] == known[k]) bits |= 1U << k;
    return bits;
  }
  const Pose<S>& frame(int i) const { return frames_[i]; }
  S rate(int field) const { return rates_ != nullptr ? rates_[value(field).first] : S(0); }
  S second_rate(int field) const {
    return second_rates_ != nullptr ? second_rates_[value(field).first] : S(0);
  }
  const Kind& kind() const { return *entry_->kind; }
  const Description& description() const { return *description_; }
  const S* all_parameters() const { return all_; }
  const Entry& entry() const { return *entry_; }
  int part() const { return part_; }  // which of the elements that the entry stands for
  // The i-th joint that the entry names, seen with its own fields; its frames are 2 i and 2 i + 1 of this entry.
  Inputs joint(int i) const { return Inputs(*description_, *joints_[i], all_, frames_ + 2 * i); }

 private:
  const FieldValue& value(int field) const { return entry_->fields[static_cast<std::size_t>(field)]; }
  bool is_plane(int field) const {
    return entry_->kind->fields[static_cast<std::size_t>(field)].type == FieldType::PlaneVector;
  }
  const Description* description_;
  const Entry* entry_;
  const S* all_;     // the parameters of the model
  const S* params_;  // those of the entry, from base_ on
  int base_ = 0;
  const S* rates_ = nullptr;
  const S* second_rates_ = nullptr;
  const Pose<S>* frames_;
  const Entry* joints_[2] = {nullptr, nullptr};
  int part_ = 0;
};

// Where one of an element's frames is attached, in the words of its fields.
struct Attachment {
  enum class Place : std::uint8_t { Point, CenterOfMass, Reference };
  int body_field;      // a Body or Bodies field
  int body_index = 0;  // which of the two
  Place place = Place::Reference;
  int point_field = -1;  // for Point: the field with the inertial place in the initial configuration
  int point_index = 0;
  Place otherwise = Place::Reference;  // if the point was not given
  bool oriented = false;               // the body's orientation counts: a point mass will not do
  // A frame of another joint: field and index of its name, and which of its two frames. Nothing above counts then.
  int joint_field = -1;
  int joint_index = 0;
  int joint_frame = 0;
};

// What all elements of a batch have in common: fixed when it is made, or when it is connected to what it names.
struct BatchFacts {
  Coupling coupling;
  int acting_frames =
      0;  // the first of an element's frames, which it acts on; the others are those of what its expressions name
  int constants = 0;       // of an element
  int angles = 0;          // of an element that may wind up, see State::angles
  bool divisible = false;  // residual() and jacobian() can be asked for some of the elements
  std::vector<Attachment> attachments;
  std::vector<std::string> row_names;  // "x", "axis y"
};

// What a batch evaluates with scalars S: double, or Varied for derivatives with respect to parameters.
template <class S>
class BatchFunctions {
 public:
  virtual ~BatchFunctions() = default;
  virtual void derive_constants(const Inputs<S>& in, S* out) const = 0;
  virtual void residual(const EvaluationOf<S>& at) const = 0;
  virtual EnergyOf<S> energy(const EvaluationOf<S>& at) const = 0;
  // What element e adds to the residual of its i-th frame, in that frame's body axes.
  virtual Vec6T<S> wrench_on(const EvaluationOf<S>& at, int e, int i) const = 0;
  virtual AxisMotionOf<S> axis_motion(const EvaluationOf<S>& at, int e) const = 0;  // zero where it has none
};

class Batch : public BatchFunctions<double>, public BatchFunctions<Varied> {
 public:
  using BatchFunctions<double>::derive_constants, BatchFunctions<Varied>::derive_constants;
  using BatchFunctions<double>::residual, BatchFunctions<Varied>::residual;
  using BatchFunctions<double>::energy, BatchFunctions<Varied>::energy;
  using BatchFunctions<double>::wrench_on, BatchFunctions<Varied>::wrench_on;
  using BatchFunctions<double>::axis_motion, BatchFunctions<Varied>::axis_motion;

  virtual void jacobian(const Evaluation& at, const JacobianTarget& to) const = 0;  // residual and matrix
  // B of each element and frame with respect to the node's own increment, rows x 6 (padded as in Seeds) one after the other.
  virtual void constraint_matrices(const Evaluation&, double*) const {}
  virtual void wound_angles(const Evaluation&, int /*e*/, double*) const {}  // where they are now
  virtual void check(const Inputs<double>&, std::string& /*message*/, std::string& /*hint*/) const {}
  // Whether the residual of element e with derivatives reads twists or accelerations of its frames when nothing but positions is asked of its
  // rows; the short way of model/direct.h does not, nor do joints that hold positions.
  virtual bool reads_twists(const VariedEvaluation&, int) const { return true; }

  const Coupling& coupling() const { return facts_.coupling; }
  int acting_frames() const { return facts_.acting_frames; }
  int constants_per_element() const { return facts_.constants; }
  int angles_per_element() const { return facts_.angles; }
  bool divisible() const { return facts_.divisible; }
  const std::vector<Attachment>& attachments() const { return facts_.attachments; }
  const std::string& row_name(int row) const { return facts_.row_names[static_cast<std::size_t>(row)]; }

  // For ForBothScalars: batches without energy, and without coordinates about and along an axis.
  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>&) const {
    return {};
  }
  template <class S>
  AxisMotionOf<S> axis_motion_of(const EvaluationOf<S>&, int) const {
    return {};
  }

  // The structure, filled by compile().
  std::vector<std::int32_t> entries;  // index of each element's entry in its section
  std::vector<std::int32_t> parts;    // which element of its entry, where an entry stands for several
  std::vector<std::int32_t> frames;   // coupling().frames per element
  std::int32_t first_row = 0;         // rows of element e start at first_row + e * rows
  std::int32_t first_constant =
      0;                         // those of element e start at first_constant + e * constants_per_element()
  std::int32_t first_angle = 0;  // angles of element e start at first_angle + e * angles_per_element()
  std::vector<std::int32_t> named_joints;  // entries of the joints that the attachments name, two frames each
  std::vector<std::int32_t> joints;      // running number of the joint whose multipliers an element uses, and
  std::vector<std::int32_t> joint_rows;  // the first of its rows
  int size() const { return static_cast<int>(entries.size()); }

  // Blocks of one element, in this order: (frame i, frame j) with j fastest, for the pairs that coupling() names;
  // then (rows, frame i); then (frame i, rows); or (frame i, multipliers of the joint named).
  static int blocks_per_element(const Coupling& c) {
    const int pairs = c.across ? c.frames * c.frames : (c.diagonal ? c.frames : 0);
    return pairs + (c.rows > 0 ? 2 * c.frames : 0) + (c.multipliers > 0 ? c.frames : 0);
  }

 protected:
  BatchFacts facts_;
};

// The functions of both scalars from templates of the batch B: derive(in, out), add_residual(at), wrench_of(at, e, i) and, where it has them,
// energy_of(at) and axis_motion_of(at, e).
template <class B, class Base = Batch>
class ForBothScalars : public Base {
 public:
  void derive_constants(const Inputs<double>& in, double* out) const override { own().derive(in, out); }
  void derive_constants(const Inputs<Varied>& in, Varied* out) const override { own().derive(in, out); }
  void residual(const Evaluation& at) const override { own().add_residual(at); }
  void residual(const VariedEvaluation& at) const override { own().add_residual(at); }
  Energy energy(const Evaluation& at) const override { return own().energy_of(at); }
  EnergyOf<Varied> energy(const VariedEvaluation& at) const override { return own().energy_of(at); }
  Vec6 wrench_on(const Evaluation& at, int e, int i) const override { return own().wrench_of(at, e, i); }
  Vec6T<Varied> wrench_on(const VariedEvaluation& at, int e, int i) const override {
    return own().wrench_of(at, e, i);
  }
  AxisMotion axis_motion(const Evaluation& at, int e) const override { return own().axis_motion_of(at, e); }
  AxisMotionOf<Varied> axis_motion(const VariedEvaluation& at, int e) const override {
    return own().axis_motion_of(at, e);
  }

 private:
  const B& own() const { return static_cast<const B&>(*this); }
};

// A kind with its maker: one line of a family's list. If the rows of an element depend on what was typed, its shape says
// how, and elements of the same shape form a batch.
struct ListedKind {
  Kind kind;
  std::unique_ptr<Batch> (*make)(unsigned shape);
  unsigned (*shape)(const Description&, const Entry&) = nullptr;
  // Of entries that stand for one element on each part of a beam: that beam.
  const Entry& (*along)(const Description&, const Entry&) = nullptr;
};

// Bodies bring their node.
struct BodyKind {
  Kind kind;
  std::unique_ptr<Batch> (*make)(unsigned shape);
  NodeType (*node)(std::string_view formulation);  // its node in a formulation
};

}  // namespace liedyn

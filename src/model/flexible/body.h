// Flexible bodies: a floating frame, modal coordinates, interfaces. One entry of the section `flexible` is a body, or an interface of one.
//
// To the rest of the program a flexible body is several bodies: its frame, with the name of the entry; its modal coordinates, three by three as points in R^3
// (NAME.modes1, NAME.modes2, ...); and one without inertia for each interface, with the name of the interface. An interface follows the material by six rows,
//
//   0 = p_I - p - R (X + Psi_u eta),      0 = log(R^T R_I) - Psi_r eta
//
// (with geometric stiffness quadratic in eta, theory/15), and is a body like any other to joints, forces and sensors.
#pragma once

#include <memory>
#include <mutex>

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/element.h"
#include "liedyn/model/flexible/floating_frame.h"
#include "liedyn/model/flexible/kinds.h"
#include "liedyn/model/flexible/reduction.h"

namespace liedyn {

// The kinds of the bodies that a flexible one consists of. Nobody can type them.
const Kind& flexible_frame_kind();
const Kind& flexible_modes_kind();
const Kind& flexible_interface_kind();
bool is_interface(const Entry& flexible);
const std::string& interface_owner(const Description& description, const Entry& interface);

// Number of points in R^3 that the modes of a body are; `interfaces` of this body exist.
int modal_points(const Description& description, const Entry& body, int interfaces);

// Where a flexible body or an interface is at the start, and how it moves: as a rigid body. `owner` is the entry of the interface's body.
template <class S>
struct FlexibleStart {
  Pose<S> pose;
  Vec3T<S> velocity, angular_velocity;  // inertial axes
  bool free_velocity = false, free_angular_velocity = false, free_position = false, free_orientation = false;
};
template <class S>
FlexibleStart<S> flexible_start(const Description& description, const Entry& entry, const Entry& owner,
                                const S* params);

// A body's finite elements and their reduction, made when they are first asked for and kept while the numbers of the body stay the same.
class FlexibleSource {
 public:
  FlexibleSource(const Description& description, int body);
  int body() const { return body_; }                   // index of its entry
  bool second_order() const { return second_order_; }  // displacements are quadratic in the modal coordinates
  void add_interface(int entry) { interfaces_.push_back(entry); }

  struct Made {
    std::string mistake, hint;          // what is wrong, if anything; the rest is empty then
    std::vector<std::string> warnings;  // about valid input that is probably a mistake
    Meshed mesh;
    std::vector<InterfaceNodes> interfaces;
    ReducedBody reduced;
  };
  std::shared_ptr<const Made> made(const Description& description, const double* params) const;
  int index_of(int interface_entry) const;
  int interfaces() const { return static_cast<int>(interfaces_.size()); }
  int interface_entry(int i) const { return interfaces_[static_cast<std::size_t>(i)]; }

 private:
  std::shared_ptr<const Made> make(const Description& description, const double* params) const;

  int body_;
  bool second_order_;
  std::vector<int> interfaces_;
  mutable std::mutex mutex_;
  mutable std::vector<double> numbers_;
  mutable std::shared_ptr<const Made> made_;
};

// What the batches of bodies and of interfaces share. Each is a batch of its own; its frames are those of the body, its modes and, of an interface, its own.
class FlexibleBatch : public Batch {
 public:
  void connect(std::shared_ptr<const FlexibleSource> source, int modes) {
    source_ = std::move(source);
    modes_ = modes;
    lay_out();
  }
  int modes() const { return modes_; }
  // What is right but hardly meant, of a body that can be made: an interface far from its nodes, a sensor outside of the body, elements that are too stiff, no modes.
  virtual std::vector<std::string> warnings(const Description&, const double*) const { return {}; }

 protected:
  // Sets the facts that depend on modes and on what sensors look at.
  virtual void lay_out() = 0;
  template <class S>
  FrameViewOf<S> view(const EvaluationOf<S>& at, int i) const {
    return FrameViewOf<S>(at.frames[frames[static_cast<std::size_t>(i)]], at.constants, at.nodes, at.motions);
  }
  static Seeds seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame,
                     const Seeding& s);
  // The motion of the node of the i-th frame.
  template <class S>
  const Motion<S>& node_motion_of(const EvaluationOf<S>& at, int i) const {
    return at.motions[at.frames[frames[static_cast<std::size_t>(i)]].node];
  }
  template <class S>
  FloatingMotion<S> motion(const EvaluationOf<S>& at) const;
  // The numbers that derive_constants() makes of a body's material and damping alone, with their derivatives. What else the finite elements depend on has none:
  // throws InputError if it varies.
  struct MaterialScales {
    Varied stiffness, mass;  // relative to the values
    Varied damping_ratio, damping;
  };
  MaterialScales material_scales(const Inputs<Varied>& in) const;
  // Pairs of modes that displacements have numbers for.
  int pairs() const { return source_->second_order() ? pair_count(modes_) : 0; }

  std::shared_ptr<const FlexibleSource> source_;
  int modes_ = 0;
};

// What a flexible body tells sensors.
class FlexibleOutput {
 public:
  enum class Of { Displacement, Stress };
  virtual ~FlexibleOutput() = default;
  // Before the model's numbers are laid out: the index of what the sensor looks at.
  virtual int add(int sensor_entry, Of of) = 0;
  // Likewise: a sensor looks at sections of this linear beam, which then has those of BeamSections.
  virtual void show_sections(const BeamMesh& mesh) = 0;
  // Boundaries between elements of one of the body's linear beams where section forces jump: in an interface, or where another member is joined. None of a body with
  // mistakes.
  virtual std::vector<int> jumps(const Description& description, const Entry& beam) const = 0;
  virtual const Batch& batch() const = 0;
  virtual const FlexibleSource& source() const = 0;
  virtual int modes_of_body() const = 0;
  virtual int pairs_of_body() const = 0;
  // Where the numbers of this output begin: a place, then 6 x modes, 6 x kInertialLoads, 3 x pairs.
  virtual int constants_of(int index) const = 0;

  template <class S>
  const Motion<S>& frame(const EvaluationOf<S>& at) const {
    return at.motions[at.frames[batch().frames[0]].node];
  }
  template <class S>
  Modal<S> coordinates(const EvaluationOf<S>& at) const {
    Modal<S> eta(modes_of_body());
    for (int i = 0; i < modes_of_body() / 3; ++i)
      eta.template segment<3>(3 * i) =
          at.motions[at.frames[batch().frames[static_cast<std::size_t>(1 + i)]].node].p;
    return eta;
  }
  // Place of the nearest node of the finite element model in the relaxed body, and its displacement; body axes.
  template <class S>
  Vec3T<S> place(const EvaluationOf<S>& at, int index) const {
    return Eigen::Map<const Vec3T<S>>(at.constants + constants_of(index));
  }
  template <class S>
  Vec3T<S> displacement(const EvaluationOf<S>& at, int index) const {
    const int modes = modes_of_body();
    Vec3T<S> out = by_modes(at, index).template head<3>();
    if (pairs_of_body() == 0) return out;
    const Eigen::Map<const Eigen::Matrix<S, 3, Eigen::Dynamic>> second(
        at.constants + constants_of(index) + 3 + 6 * (modes + kInertialLoads), 3, pairs_of_body());
    const Modal<S> eta = coordinates(at);
    for (int l = 0; l < modes; ++l)
      for (int k = 0; k <= l; ++k)
        out += (S(k == l ? 0.5 : 1) * eta[k] * eta[l]) * second.col(pair_index(k, l));
    return out;
  }
  template <class S>
  Vec6T<S> stress(const EvaluationOf<S>& at, int index) const {  // xx, yy, zz, yz, xz, xy
    const Eigen::Map<const Eigen::Matrix<S, 6, kInertialLoads>> inertial(at.constants + constants_of(index) +
                                                                         3 + 6 * modes_of_body());
    return by_modes(at, index) + inertial * inertial_loads<S>(frame(at), at.world.gravity);
  }

 private:
  template <class S>
  Vec6T<S> by_modes(const EvaluationOf<S>& at, int index) const {
    return Eigen::Map<const Eigen::Matrix<S, 6, Eigen::Dynamic>>(at.constants + constants_of(index) + 3, 6,
                                                                 modes_of_body()) *
           coordinates(at);
  }
};

// Warnings about all flexible bodies, for analyses.
class Model;
std::vector<std::string> flexible_warnings(const Model& model, const double* params);

std::unique_ptr<Batch> make_flexible_body(unsigned shape);
std::unique_ptr<Batch> make_flexible_interface(unsigned shape);

}  // namespace liedyn

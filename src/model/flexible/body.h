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

#include "model/beams/beam.h"
#include "model/element.h"
#include "model/flexible/floating_frame.h"
#include "model/flexible/kinds.h"
#include "model/flexible/reduction.h"

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
struct FlexibleStart {
  Pose<double> pose;
  Vec3 velocity, angular_velocity;  // inertial axes
  bool free_velocity = false, free_angular_velocity = false, free_position = false, free_orientation = false;
};
FlexibleStart flexible_start(const Description& description, const Entry& entry, const Entry& owner,
                             const double* params);

// A body's finite elements and their reduction, made when they are first asked for and kept while the numbers of the body stay the same.
class FlexibleSource {
 public:
  FlexibleSource(const Description& description, int body);
  int body() const { return body_; }                   // index of its entry
  bool second_order() const { return second_order_; }  // displacements are quadratic in the modal coordinates
  void add_interface(int entry) { interfaces_.push_back(entry); }

  struct Made {
    std::string mistake, hint;  // what is wrong, if anything; the rest is empty then
    Meshed mesh;
    ReducedBody reduced;
  };
  std::shared_ptr<const Made> made(const Description& description, const double* params) const;
  int index_of(int interface_entry) const;
  int interfaces() const { return static_cast<int>(interfaces_.size()); }

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
  }
  int modes() const { return modes_; }
  const std::vector<Attachment>& attachments() const override;
  AxisMotion axis_motion(const Evaluation&, int) const override { return {}; }
  int angles_per_element() const override { return 0; }
  void wound_angles(const Evaluation&, int, double*) const override {}

 protected:
  FrameView view(const Evaluation& at, int i) const {
    return FrameView(at.frames[frames[static_cast<std::size_t>(i)]], at.numbers, at.nodes, at.motions);
  }
  static Seeds seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame,
                     const Seeding& s);
  FloatingMotion<double> motion(const Evaluation& at) const;
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
  virtual Modal<double> coordinates(const Evaluation& at) const = 0;
  virtual const Motion<double>& frame(const Evaluation& at) const = 0;
  // Place of the nearest node of the finite element model in the relaxed body, and its displacement; body axes.
  virtual Vec3 place(const Evaluation& at, int index) const = 0;
  virtual Vec3 displacement(const Evaluation& at, int index) const = 0;
  virtual Vec6 stress(const Evaluation& at, int index) const = 0;  // xx, yy, zz, yz, xz, xy
  // Before the model's numbers are laid out: a sensor looks at sections of this linear beam, which then has those of BeamSections.
  virtual void show_sections(const BeamMesh& mesh) = 0;
};

std::unique_ptr<Batch> make_flexible_body(unsigned shape);
std::unique_ptr<Batch> make_flexible_interface(unsigned shape);

}  // namespace liedyn

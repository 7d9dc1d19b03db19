// Sensors: what a run records. A sensor sees the motion of a frame, the reaction of a joint, the energy, or the values
// of the sensors before it.
#pragma once

#include <cstdint>
#include <span>

#include "liedyn/base/expression.h"
#include "liedyn/model/element.h"
#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

template <class S>
struct SensorContextOf;
using SensorContext = SensorContextOf<double>;

// What a sensor shows, with and without derivatives with respect to parameters: from one generic function.
class SensorFunction {
 public:
  template <class Generic>
  SensorFunction(Generic f) : plain_(f), varied_(f) {}
  void operator()(const SensorContext& c, double* out) const { plain_(c, out); }
  void operator()(const SensorContextOf<Varied>& c, Varied* out) const { varied_(c, out); }

 private:
  void (*plain_)(const SensorContext&, double*);
  void (*varied_)(const SensorContextOf<Varied>&, Varied*);
};

// One component of a sensor as a function of the motion of its frames: that of its body or state, or the two of its joint.
struct SensorGradient {
  using Row = Eigen::Matrix<double, 1, 6>;
  double value = 0;
  Row X[2] = {Row::Zero(), Row::Zero()};  // with respect to their increments
  Row V[2] = {Row::Zero(), Row::Zero()};  // and their twists
};

struct Sensor;
class SensorConnection;  // model/sensors/connect.h

// In which axes a sensor shows its values. It says what becomes of them when its model is moved and turned as a sub-model (io/expand/pose.h).
enum class ShownIn : std::uint8_t {
  Unknown,   // nobody has said: expressions of moved models cannot name it
  NoAxes,    // numbers, or components in axes that turn with the model
  Place,     // a place in inertial axes
  Inertial,  // another vector in inertial axes
  Body,  // a vector in the axes of its body, of two the first, or in inertial ones if the entry chooses them
  LoadedBody,           // the same with the body that the joint or force in `of` acts on, of two the second
  Angle,                // about the inertial z axis
  Orientation,          // to inertial axes, by numbers that are no vector
  RelativeOrientation,  // between two bodies, by such numbers
  Joint,                // axes that only the joint in `of` knows
};

// What the rest of the program must know about a kind of sensor.
struct SensorTraits {
  ShownIn axes = ShownIn::Unknown;
  AxisCoordinates needs = {};  // what the joint it looks at must have
  bool remembers =
      false;  // its values go on from those of the last step: turns of an angle, the sign of a quaternion
  bool in_plane = false;           // the body it looks at must be one of the plane
  bool of_effort = false;          // the force it looks at must act in a joint or between two points
  bool sums_elements = false;      // the force it looks at may be spread over a beam
  bool is_angle = false;           // jumps by a whole turn somewhere, unless something remembers
  bool is_rate = false;            // of a joint's coordinate
  bool shows_reactions = false;    // what constraints transmit; an expression may
  bool shows_energy = false;       // of the whole model
  bool shows_multipliers = false;  // as they stand: in minimal coordinates its joint keeps its rows
  // Of sensors that are functions of coordinates and velocities: expressions of the dynamics may name these. Null otherwise.
  void (*gradient)(const SensorContext&, int component, SensorGradient& out) = nullptr;
  // Finds what the sensor looks at when a model is compiled. Null: the type of its first field says it.
  void (*connect)(SensorConnection&, Sensor&) = nullptr;
};

struct ListedSensor {
  Kind kind;
  std::string unit;
  int components;  // 0: one per row of the joint
  SensorFunction evaluate;
  SensorTraits traits = {};
};

struct Sensor {
  const ListedSensor* listed = nullptr;
  std::string name;
  int frame = -1;                       // of the body it looks at
  int second_frame = -1;                // of the second body, where it compares two
  int batch = -1, element = -1;         // of the joint or force it looks at
  const Batch* driven = nullptr;        // of the joint that the force it looks at acts in, and which element,
  int driven_element = -1;              //
  bool about = true;                    // by the angle of that joint; otherwise by the displacement
  double fraction = 0;                  // of the length of the beam it looks at, whose first element this is,
  int elements = 0;                     // and how many it has
  int choice = 0;                       // of its "axes" or "part"
  int angle = -1;                       // of one that remembers: index of its first value in State::angles
  std::vector<Expression> expressions;  // of (time, parameters, components of the sensors before it)
  bool is_condition = false;            // of an event: its first expression is one,
  std::vector<Expression> comparisons;  // with these comparisons in it, each as the difference of its sides
  int first = 0;                        // its first value among all
  int components = 0;

  // The joint's angle, in the turn nearest to that of the last step.
  template <class S>
  S wound_angle(const EvaluationOf<S>& at, const Batch& joint) const {
    return nearest_turn(joint.axis_motion(at, element).angle, at.angles[angle]);
  }
};

template <class S>
struct SensorContextOf {
  const Sensor& sensor;
  const EvaluationOf<S>& at;
  const Batch* joint;  // of the joint or force it looks at
  const EnergyOf<S>& energy;
  std::span<const S> variables;  // time, parameters, then the values of all sensors so far

  Motion<S> motion() const { return motion_of(sensor.frame); }
  Motion<S> second_motion() const { return motion_of(sensor.second_frame); }
  Motion<S> motion_of(int frame) const {
    return FrameViewOf<S>(at.frames[frame], at.constants, at.nodes, at.motions).motion();
  }
};

}  // namespace liedyn

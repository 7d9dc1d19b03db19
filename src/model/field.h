// What users may type for a kind of body, joint, force or sensor. The JSON reader, the schema, the help text, the
// Python keywords, the documentation tables and the names of the parameters are all made from these descriptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace liedyn {

struct Description;
struct Entry;
struct TreeForm;

enum class FieldType {
  Number,       // one real number
  Vector,       // three numbers
  PlaneVector,  // two numbers, in the inertial x-y plane
  Points,       // two points, each three numbers: [[x, y, z], [x, y, z]]
  Inertia,      // three principal moments, six numbers (xx, yy, zz, yz, xz, xy) or a symmetric 3x3 matrix
  Rotation,  // {"rotation_vector": [3]}, {"cardan": [3]}, {"quaternion": [4]}, {"axis": [3], "angle": a} or {"matrix": 3x3}
  Choice,    // one of a list of words
  Choices,   // at least one of them: ["x", "y"]
  Text,      // any text, for example an expression of sensors
  Body,      // name of a body, or "ground"
  Bodies,    // two of these: [first, second]
  Joint,     // name of a joint
  Joints,    // two of these: [first, second]
  State,     // name of a state
  Beam,      // place on a beam: its name and the fraction of its length, "wing[0.25]"
  Flexible,  // name of a flexible body
  Force,     // name of a force
  Matrix6,   // a symmetric 6x6 matrix: its rows, or its diagonal
  Integer,   // a whole number; in an entry it shapes the model and is no parameter
  Path,      // one point, [x, y, z], or several that a curve goes through, [[x, y, z], ...]
};

inline constexpr int kMostPathPoints = 80;

// Points and directions of an element are given in inertial axes, in the initial configuration. Some may be given instead in the axes of the
// bodies that carry them, {"crank": [0.1, 0, 0], "rod": [-0.15, 0, 0]}: of all bodies of the entry, or of the one that carries it.
enum class BodyAxes : unsigned char { None, Each, First, Second };

// What a vector or a rotation is, and in whose axes it is given: it says what becomes of it when its model is moved and turned as a sub-model
// (io/expand/pose.h).
enum class PoseRole : std::uint8_t {
  Unknown,      // nobody has said: a moved model with such a field is refused
  Fixed,        // in body axes, or relative: nothing
  Point,        // a place in inertial axes: moved and turned
  Direction,    // any other vector in inertial axes: turned
  Orientation,  // to inertial axes: turned
  Load,         // turned if the entry's axes are inertial
  OnFirst,      // orientation relative to the first body: turned if the axes of that one stand still
  OnSecond,     // relative to the second one
  Angle,        // about the inertial z axis
};

enum class Range { Any, Positive, NonNegative };

// Numbers of forces that are loads: what is applied, as opposed to a stiffness, or to the force of a friction that depends on the motion. Statics raises
// them step by step, and a linearised model has them as inputs.
enum class LoadKind : unsigned char {
  None,
  Force,
  Torque,
  TorqueOrForce,  // of a joint's coordinate
  ForcePerLength,
  MomentPerLength,
};

// How a Rotation was written; its numbers are stored as typed so that each of them is a parameter.
enum class RotationForm : unsigned char { RotationVector, Cardan, Quaternion, AxisAngle, Matrix };
inline constexpr int kRotationValues[] = {3, 3, 4, 4, 9};
inline constexpr std::string_view kRotationNames[] = {"rotation_vector", "cardan", "quaternion", "axis",
                                                      "matrix"};

struct Field {
  std::string name;
  FieldType type = FieldType::Number;
  std::string unit;     // "kg", "m", "rad/s", "" for none
  std::string summary;  // one sentence for help, schema and documentation
  bool required = false;
  // Default numbers (empty: not given means "the kind decides", as its summary says).
  std::vector<double> defaults = {};
  Range range = Range::Any;
  bool is_initial = false;          // a value at the start: during a run nothing depends on it
  std::string replaced_by = {};     // the field that counts instead of this one if the entry gives it
  bool may_be_consistent = false;   // the word "consistent" instead of numbers: assembly finds the value
  bool may_depend_on_time = false;  // expressions of its numbers may use t
  bool may_depend_on_signals =
      false;  // and states and sensors: what model/forces/signal_force.h makes of a force
  BodyAxes body_axes = BodyAxes::None;
  PoseRole pose = PoseRole::Unknown;  // of vectors and rotations, and of a number that is an angle of a body
  bool holds_expression = false;      // for Text: a number may stand there as well
  std::vector<std::string> choices = {};  // for Choice, where the first is the default, and Choices
  LoadKind load = LoadKind::None;
  bool turns = false;   // given, it turns its bodies: a point mass will not do
  bool weighs = false;  // of bodies: mass or inertia; the places of joints and sensors do not depend on it
  int index = -1;  // the index by which an element reads it; -1: nobody does. A test compares all of them

  Field as(int element_index) const {
    Field out = *this;
    out.index = element_index;
    return out;
  }
};

// Numbers a field stores when given (Rotation: by its form; Path: for each point).
int number_count(FieldType type, RotationForm form = RotationForm::RotationVector);

// The summary and what else may stand there: "consistent", components in the axes of bodies.
std::string full_summary(const Field& field);
// The default as JSON: "0", "[0, 0, 0]", "{"rotation_vector": [0, 0, 0]}", a word; empty if there is none.
std::string default_text(const Field& field);

// Coordinates of a joint along its axis and about it, for what refers to a joint: which of them its kind has.
struct AxisCoordinates {
  bool angle = false, displacement = false;
};

// What a joint prescribes of the coordinate of another one, as a function of time.
enum class Drives : std::uint8_t { Nothing, Value, Rate };

// A first-order state that belongs to a force (model/forces/machine_states.h).
struct ForceState {
  std::string name;            // "current"
  std::string initial = {};    // the field of the force with its value at the start; empty: 0
  bool is_share_held = false;  // of what a clutch that sticks can hold
};

// Which multipliers of a joint load it as a bearing: the first ones are forces across its axis, the next ones torques across it. None: nothing is known about
// friction in it.
struct Bearing {
  int forces = 0, torques = 0;
  bool operator==(const Bearing&) const = default;
  explicit operator bool() const { return forces > 0; }
};

// One kind, as its family's list gives it, with all that the rest of the program must know about it.
struct Kind {
  std::string type;     // what users type
  std::string summary;  // one sentence
  std::vector<Field> fields;
  AxisCoordinates coordinates = {};
  bool keeps_orientation =
      false;  // the relative orientation of its bodies in the initial configuration belongs to it
  // Whatever is typed, its residual is a smooth function of the motion: the corrector may foretell how it converges.
  bool is_smooth = false;
  Drives drives = Drives::Nothing;  // of joints
  // Of joints with axes (model/joints/held_rows.h): the turns that are held by products of axes, which an axis that points the other way satisfies too.
  unsigned held_turns = 0;
  Bearing bearing = {};
  bool is_modal = false;  // of bodies: their coordinates are those of shapes, and no places
  bool floats = false;    // of bodies: no joint of a tree moves them
  std::shared_ptr<const TreeForm> tree = {};  // of joints that a tree can hold; the others keep their rows
  bool guides =
      false;  // of joints: its coordinates are all that it leaves free, and none follows from another
  bool is_point = false;  // of bodies: without axes that could turn
  // Of joints: two points keep the distance in its field `length`. While an event has released it, it is a slack rope.
  bool is_rope = false;
  // Of forces: it acts along the line between its two points.
  bool acts_along_points = false;
  // Of forces: the first-order states that an entry brings; null: none. And at how many points friction with bristles may hold, each with states of its own.
  std::vector<ForceState> (*states)(const Description&, const Entry&) = nullptr;
  int bristle_points = 0;

  // Index of a field by name, -1 if there is none.
  int field(std::string_view name) const;
};

}  // namespace liedyn

#include "liedyn/model/forces/clutch.h"

#include <fmt/format.h>

#include <type_traits>

namespace liedyn {
namespace {

// Behind the joint, or the two joints, and the coordinate of one. The fields of both kinds follow in the same order.
struct ClutchFields {
  int law, capacity, smoothing, deflection, damping;
  explicit ClutchFields(const Kind& kind) : law(kind.field("law")) {
    capacity = law + 1;
    smoothing = law + 2;
    deflection = law + 3;
    damping = law + 4;
  }
};

// `first`: the index of the first of them.
std::vector<Field> law_fields(int first) {
  return {
      {.name = "law",
       .type = FieldType::Choice,
       .unit = "",
       .summary = "smooth: the torque falls to 0 below the slip `smoothing`, so that a loaded clutch creeps. "
                  "stick: a bristle of the stiffness capacity/deflection holds it. The fraction of the "
                  "capacity that the bristle carries is the state NAME.bristle.",
       .choices = {"smooth", "stick"},
       .index = first},
      machine_signal("capacity", "N or N m",
                     "Largest torque or force that it transmits; a negative value counts as 0.", {})
          .as(first + 1),
      machine_number("smoothing", "rad/s or m/s",
                     "Slip at which the law smooth reaches 0.71 of the capacity; it must be given for this "
                     "law.",
                     {}, Range::Positive)
          .as(first + 2),
      machine_number("deflection", "rad or m",
                     "While it sticks, its stiffness is capacity/deflection, law stick.", {1e-3},
                     Range::Positive)
          .as(first + 3),
      machine_number("damping_time", "s",
                     "The damping of the bristle is capacity*damping_time times the rate of the fraction "
                     "that it carries, law stick.",
                     {0}, Range::NonNegative)
          .as(first + 4),
      machine_start(
          "initial_bristle", "",
          "Fraction of the capacity that the bristle carries at the start, from -1 to 1, law stick.")
          .as(first + 5)};
}

template <class Coordinate>
std::unique_ptr<Batch> make_clutch(unsigned shape) {
  if (machine_variant(shape) == 1) return std::make_unique<Machine<Clutch<Coordinate, true>>>();
  return std::make_unique<Machine<Clutch<Coordinate, false>>>();
}
// Whether a bristle holds it, which is a state.
bool sticks(const Description& d, const Entry& clutch) {
  return Inputs<double>(d, clutch, nullptr, nullptr).choice(ClutchFields(*clutch.kind).law) == 1;
}
unsigned clutch_shape(const Description& d, const Entry& entry) {
  return machine_shape(d, entry, sticks(d, entry) ? 1 : 0);
}
std::vector<ForceState> states_of_clutch(const Description& d, const Entry& clutch) {
  if (!sticks(d, clutch)) return {};
  return {{.name = "bristle", .initial = "initial_bristle", .is_share_held = true}};
}

}  // namespace

template <class Coordinate, bool Sticks>
template <class S>
void Clutch<Coordinate, Sticks>::derive(const Inputs<S>& in, S* n) {
  const ClutchFields f(in.kind());
  n[0] = in.number(f.capacity);
  n[1] = in.stored(f.smoothing) ? in.number(f.smoothing) : S(1);
  n[2] = in.number(f.deflection);
  n[3] = in.number(f.damping);
}

template <class Coordinate, bool Sticks>
void Clutch<Coordinate, Sticks>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (std::is_same_v<Coordinate, DifferenceOfJoints>) {
    const Entry &first = in.joint(0).entry(), &second = in.joint(1).entry();
    const auto turns = [](const Entry& joint) { return joint.kind->coordinates.angle; };
    const auto quantity = [&](const Entry& joint) { return turns(joint) ? "an angle" : "a displacement"; };
    if (turns(first) != turns(second)) {
      message = fmt::format(
          "joints: expected two angles or two displacements, got {} of '{}' and {} of '{}': they have no "
          "common slip",
          quantity(first), first.name, quantity(second), second.name);
      hint = "drive the slider by a shaft (joints of type gear or screw), and put the clutch between shafts";
      return;
    }
  }
  const ClutchFields f(in.kind());
  if (!Sticks && !in.stored(f.smoothing)) {
    message = "smoothing: missing: the slip below which the torque falls to 0";
    hint = "choose it well below the slip of interest, or use \"law\": \"stick\"";
  } else if (in.number(f.capacity) < 0) {
    message = fmt::format("capacity: expected a non-negative number, got {}", in.number(f.capacity));
  } else if (const double s = in.number(f.damping + 1); Sticks && !(std::abs(s) <= 1)) {
    message = fmt::format("initial_bristle: expected a number from -1 to 1, got {}", s);
  }
}

ListedKind clutch() {
  std::vector<Field> fields = {
      {.name = "joints",
       .type = FieldType::Joints,
       .unit = "",
       .summary = "The joints of the two shafts: [first, second]; both coordinates are angles, or both "
                  "displacements. The slip is the rate of the second coordinate less that of the first.",
       .required = true,
       .index = 0}};
  for (Field& field : law_fields(1)) fields.push_back(std::move(field));
  return {{.type = "clutch",
           .summary = "Clutch between two shafts that turn in joints of their own.",
           .fields = std::move(fields),
           .states = &states_of_clutch},
          &make_clutch<DifferenceOfJoints>,
          &clutch_shape};
}

ListedKind joint_clutch() {
  std::vector<Field> fields = {named_joint("The joint whose bodies it couples.").as(0),
                               joint_coordinate_choice().as(1)};
  for (Field& field : law_fields(2)) fields.push_back(std::move(field));
  return {{.type = "joint_clutch",
           .summary = "Clutch or brake between the two bodies of a joint.",
           .fields = std::move(fields),
           .states = &states_of_clutch},
          &make_clutch<CoordinateOfJoint>,
          &clutch_shape};
}

}  // namespace liedyn

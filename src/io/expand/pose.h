// What moves with a sub-model that has a place of its own, "at" p and "rotation" R: what it gives in inertial axes, and what its expressions see. The
// expressions of a sub-model are those of the model alone: a sensor that shows x in the inertial axes of the whole is x_own there,
//
//   x = p + R x_own  of places,   x = R x_own  of other vectors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "liedyn/io/expand/item.h"
#include "liedyn/io/expand/term.h"
#include "liedyn/model/description.h"

namespace liedyn {

struct PartPose {
  Term3 p;
  TermMatrix R = identity_matrix();
  bool turns = false;
  std::optional<Term> angle;  // of a rotation about the z axis

  bool moves() const { return turns || !(p[0].is(0) && p[1].is(0) && p[2].is(0)); }
  bool in_plane() const { return p[2].is(0) && (!turns || angle.has_value()); }
  // The component in the axes of the whole that a component in the axes of the sub-model is, if it is one of them.
  std::optional<int> same_component(int own) const;
};

// The kind of an entry; null: its type is missing or unknown.
const Kind* kind_of(Section section, const Item& entry);

// ---- what a model gives

// Field::pose, and of what says nothing else: a load, or what has no axes.
PoseRole pose_role(const Field& field);

// ---- what its expressions see

// What happens to the values of a sensor when its model is moved.
enum class ShownRole : std::uint8_t {
  Fixed,        // numbers without axes, or in axes that turn with the model
  Point,        // x = p + R x_own
  Direction,    // x = R x_own
  Angle,        // about the inertial z axis: x = x_own + angle
  Orientation,  // with respect to the inertial axes, by numbers that are no vector
  Multipliers,  // in axes that only the joint knows
  Unknown,      // of a kind that nobody has classified
};
// Whether such values differ from those of the model alone.
bool changes(const PartPose& pose, ShownRole role);

// Component `own` < 3 of such a sensor in the axes of its sub-model, from the components that the sensor `name` shows. None: it is no function of these.
std::optional<Term> in_own_axes(const PartPose& pose, ShownRole role, const std::string& name, int own);

// ---- the entries of one model

class MovedModel {
 public:
  explicit MovedModel(const Item& root);

  // Whether the axes of a body, or of a frame on it, are the inertial ones for ever: those of the ground and of point masses. They do not turn with a sub-model.
  bool axes_stand_still(std::string_view body) const;
  bool is_frame(std::string_view name) const { return frames_.contains(name); }
  // One of Fixed, Point, Direction, Orientation, Angle and Unknown.
  PoseRole role(Section section, const Kind& kind, const Field& field, const Item& entry) const;
  ShownRole shown(const Kind& kind, const Item& sensor) const;

 private:
  std::string_view named_body(const Kind& kind, const Item& entry, std::size_t i) const;
  std::string_view loaded_body(const Item& sensor) const;

  std::map<std::string, const Item*, std::less<>> joints_, forces_;
  std::set<std::string, std::less<>> points_,
      frames_;  // point masses with their frames; frames of all bodies
};

}  // namespace liedyn

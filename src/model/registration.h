// Kinds of joints, forces and sensors from outside the library. Once registered a kind is in model files, ModelBuilder, the schema,
// `liedyn list elements` and error messages, like those of the library.
//
//   struct Drag { ... };                                      an element, see model/batch_of.h and model/automatic.h
//   register_force({{"drag", "Drag of a sphere.", {on_body(), ...}}, &make_batch<Drag>});
//
// Register before the first model is read or built; afterwards the lists are in use and it is an error. All functions throw InputError if a
// kind cannot be: no name or one that is taken, fields without a name, a type or a unit that fit, attachments to fields that it does not have.
#pragma once

#include "liedyn/model/element.h"
#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

// A joint holds its rows in every formulation; it has no coordinates that drives, friction and joint sensors could name.
void register_joint(ListedKind kind);
void register_force(ListedKind kind);
// A sensor looks at the body in its field "of" (a point of it, "at"), at the two in "between" (and their "points"), or at a joint, force or state.
void register_sensor(ListedSensor sensor);

// What is checked: the fields, and the places of an element's frames. `what` is "force", say.
void check_kind(std::string_view what, const Kind& kind);
void check_attachments(std::string_view what, const Kind& kind, const std::vector<Attachment>& attachments);

}  // namespace liedyn

// What may stand in a model file around the entries of its sections. The reader and the schema are made from these lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "liedyn/model/field.h"

namespace liedyn {

inline constexpr int kFormatVersion = 1;

// The keys of the outermost object.
struct FormatKey {
  std::string_view name;
  std::string_view summary;
};
inline constexpr FormatKey kModelKeys[] = {
    {"$schema", "Location of the JSON Schema of this format, for editors; ignored."},
    {"liedyn", "Version of this format: 1."},
    {"name", "Name of the model; that of its file or directory if not given."},
    {"description", "Description of the model, for readers."},
    {"parameters", "Named numbers, or expressions of earlier ones, that expressions in the model may use."},
    {"tables", "Functions through points, by name: expressions may call them, torque(speed)."},
    {"gravity", "Acceleration of free fall in m/s^2, inertial axes; none if not given."},
    {"arguments",
     "Named numbers that determine the structure of the model: expressions of \"repeat\" may use them."},
    {"models", "Models in this model, by name: their entries are left.knee, left.foot, ..."},
    {"repeat", "Parts that are repeated for each value of an index."},
    {"bodies", "Bodies by name. The inertial frame is called ground."},
    {"beams",
     "Beams by name. Their nodes are bodies: wing.start, wing.node1, ..., wing.end, or by position "
     "wing[0.5]."},
    {"flexible",
     "Flexible bodies by name, as floating frames with modes, and their interfaces, which are bodies for "
     "joints and "
     "forces."},
    {"joints", "Joints by name."},
    {"forces", "Forces by name."},
    {"states", "First-order states by name."},
    {"sensors", "Sensors by name: the quantities that a run records."},
    {"events",
     "Events by name: zero crossings (when) and samples (every) during a run. They set parameters, states "
     "and velocities, release and engage joints, or end the run."},
    {"simulation", "Default settings of a simulation."},
};

// The keys of "simulation", in the order of SimulationSettings, with its defaults.
const std::vector<Field>& simulation_fields();

}  // namespace liedyn

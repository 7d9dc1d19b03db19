// Configurations as files (JSON): how the bodies stand and move, in the words of a model's bodies. What `static` and `assemble` write and
// `--from` reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "liedyn/analyses/joint_start.h"
#include "liedyn/io/read_model.h"
#include "liedyn/system/configuration.h"

namespace liedyn {

// With accelerations and the sensors' values for the reader; read_configuration takes only positions and velocities.
std::string configuration_json(const System& system, const State& state);
// Why read_configuration refuses what configuration_json writes of this state, with a hint. Empty: a run can start from it.
std::string why_no_start(const System& system, const State& state);
void check_configuration_output(const std::string& file);  // both throw InputError
void write_configuration(const System& system, const State& state, const std::string& file);

// The values of "initial.JOINT", which set the coordinate that a joint starts with: taken out of the assignments. The description keeps them among what was assigned.
std::vector<JointStart> take_initial(std::vector<Assignment>& assignments, Description& description);

// Where a run starts: as the text or file says, then with the coordinates of these joints. Bodies and keys that it leaves out are as the model says: all in
// kNoChanges. `time`: of drives; that of the model's start if not given. Throws InputError with all mistakes.
inline constexpr const char* kNoChanges = R"({"joints": {}})";
struct StartOptions {
  std::vector<JointStart> joints = {};
  std::optional<double> time = {};
};
Configuration read_configuration(const std::string& file, const System& system,
                                 const StartOptions& options = {});
Configuration read_configuration_text(const std::string& text, const std::string& file, const System& system,
                                      const StartOptions& options = {});

}  // namespace liedyn

// Configurations as files (JSON): how the bodies stand and move, in the words of a model's bodies. What `static` and `assemble` write and
// `--from` reads.
#pragma once

#include <string>

#include "liedyn/system/configuration.h"

namespace liedyn {

// With accelerations and the sensors' values for the reader; read_configuration takes only positions and velocities.
std::string configuration_json(const System& system, const State& state);
void check_configuration_output(const std::string& file);  // both throw InputError
void write_configuration(const System& system, const State& state, const std::string& file);

// Bodies and keys that the file leaves out are as the model says. Throws InputError with all mistakes.
Configuration read_configuration(const std::string& file, const System& system);
Configuration read_configuration_text(const std::string& text, const std::string& file, const System& system);

}  // namespace liedyn

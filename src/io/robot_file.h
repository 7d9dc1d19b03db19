// Robots in the formats of other programs, read by their own libraries where these are installed: MuJoCo's (.xml) and SDFormat (.sdf).
#pragma once

#include <string>
#include <vector>

namespace liedyn {

// Whether a file of this name is one.
bool is_robot_file(const std::string& file);

// The model as the text of a model file. Throws InputError if the file is wrong, if something in it cannot be expressed, or if the library is not
// installed.
std::string robot_model_text(const std::string& file, std::vector<std::string>& warnings);

}  // namespace liedyn

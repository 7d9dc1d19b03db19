#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace liedyn {

// Where models are looked up by name: the directories in the environment variable LIEDYN_MODELS (separated by colons, like
// PATH), then the shipped models, share/liedyn/models in the nearest directory above this program or Python module.
std::vector<std::filesystem::path> model_directories();

// The file <directory>/<name>/model.json in the first directory that has it.
std::optional<std::filesystem::path> find_model(std::string_view name);

// Names that find_model knows, sorted.
std::vector<std::string> model_names();

// The page of the 3D view, into which scenes are written: the file in the environment variable LIEDYN_VIEWER, else share/liedyn/viewer.html in the nearest directory above
// this program or Python module.
std::optional<std::filesystem::path> find_viewer();

// A shared object that the program loads when it needs it: lib/liedyn/NAME in the nearest directory above this program or Python module.
std::optional<std::filesystem::path> find_library(const char* name);

}  // namespace liedyn

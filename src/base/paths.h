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

// Models come from others, too: the files that they name (sub-models, tables, meshes, matrices) must lie in the folder of the outermost model file or below it, where symbolic
// links lead, or in one of model_directories(). Empty: it does. Otherwise what is wrong. Models without a file, which a program has made, may name any file, and so may all where the
// environment variable LIEDYN_ALLOW_OUTSIDE is 1 (--allow-outside).
std::string outside_of_model(const std::filesystem::path& named, const std::string& model_file);
// What a program has written to `file`, to hand it on, comes from `original` (empty: from the program itself), where this counts.
void stands_for(const std::string& file, const std::string& original);
inline constexpr const char* kAllowOutside =
    "move it into that folder, or allow all files: --allow-outside, or LIEDYN_ALLOW_OUTSIDE=1";

// The page of the 3D view, into which scenes are written: the file in the environment variable LIEDYN_VIEWER, else share/liedyn/viewer.html in the nearest directory above
// this program or Python module.
std::optional<std::filesystem::path> find_viewer();

// A shared object that the program loads when it needs it: lib/liedyn/NAME in the nearest directory above this program or Python module.
std::optional<std::filesystem::path> find_library(const char* name);

}  // namespace liedyn

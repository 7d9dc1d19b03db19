#include "liedyn/base/paths.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

namespace liedyn {
namespace fs = std::filesystem;
namespace {

// The program or shared library that this code is part of.
fs::path own_file() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&own_file), &info);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // For a program the loader gives back what was typed, which need not be a path.
  const fs::path loaded = info.dli_fname == nullptr ? fs::path() : fs::path(info.dli_fname);
  if (loaded.extension() == ".so") return fs::absolute(loaded);
  return program.empty() ? fs::absolute(loaded) : program;
}

// Files that stand for others, by their absolute names.
struct Originals {
  std::mutex mutex;
  std::map<std::string, std::string> of;
};
Originals& originals() {
  static Originals all;
  return all;
}
std::string original_of(const std::string& file) {
  Originals& all = originals();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(fs::absolute(file).lexically_normal().string());
  return found == all.of.end() ? file : found->second;
}

// FOLDER/liedyn/NAME in the nearest directory above that has it.
std::optional<fs::path> shipped(const char* name, const char* folder = "share") {
  fs::path directory = own_file();
  while (directory.has_relative_path()) {
    directory = directory.parent_path();
    fs::path file = directory / folder / "liedyn" / name;
    std::error_code error;
    if (fs::exists(file, error)) return file;
  }
  return std::nullopt;
}

// Whether a canonical path is that of a folder or of something in it.
bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

std::vector<fs::path> model_directories() {
  std::vector<fs::path> directories;
  if (const char* const list = std::getenv("LIEDYN_MODELS")) {
    std::istringstream entries(list);
    for (std::string entry; std::getline(entries, entry, ':');) {
      if (!entry.empty()) directories.emplace_back(entry);
    }
  }
  if (auto models = shipped("models")) directories.push_back(*std::move(models));
  return directories;
}

std::optional<fs::path> find_model(std::string_view name) {
  for (const fs::path& directory : model_directories()) {
    fs::path file = directory / name / "model.json";
    std::error_code error;
    if (fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

std::vector<std::string> model_names() {
  std::set<std::string> names;
  for (const fs::path& directory : model_directories()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      if (fs::is_regular_file(entry.path() / "model.json", error))
        names.insert(entry.path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

void stands_for(const std::string& file, const std::string& original) {
  Originals& all = originals();
  const std::lock_guard lock(all.mutex);
  all.of[fs::absolute(file).lexically_normal().string()] = original;
}

std::string outside_of_model(const fs::path& named, const std::string& file) {
  const char* const allowed = std::getenv("LIEDYN_ALLOW_OUTSIDE");
  if (allowed != nullptr && std::string_view(allowed) == "1") return {};
  const std::string model_file = file.empty() ? file : original_of(file);
  // Models that a program has made have a name instead, or none.
  std::error_code error;
  if (fs::path(model_file).extension().empty() && !fs::is_regular_file(model_file, error)) return {};
  const fs::path wanted = fs::weakly_canonical(fs::absolute(named), error),
                 folder = fs::weakly_canonical(fs::absolute(model_file), error).parent_path();
  if (is_within(wanted, folder)) return {};
  for (const fs::path& directory : model_directories())
    if (is_within(wanted, fs::weakly_canonical(directory, error))) return {};
  return "the file is outside of the folder of the model, '" + folder.string() + "'";
}

std::optional<fs::path> find_viewer() {
  const char* const given = std::getenv("LIEDYN_VIEWER");
  if (given != nullptr && *given != '\0') return fs::path(given);
  return shipped("viewer.html");
}

std::optional<fs::path> find_library(const char* name) { return shipped(name, "lib"); }

}  // namespace liedyn

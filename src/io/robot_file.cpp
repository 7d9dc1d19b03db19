#include "liedyn/io/robot_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/robot_format.h"

namespace liedyn {
namespace {

struct FormatReader {
  std::string_view ending, library, package;
};
constexpr FormatReader kReaders[] = {{".xml", "liedyn_mjcf.so", "libmujoco-dev"},
                                     {".sdf", "liedyn_sdf.so", "libsdformat-dev"}};

const FormatReader* reader_of(const std::string& file) {
  for (const FormatReader& reader : kReaders)
    if (file.ends_with(reader.ending)) return &reader;
  return nullptr;
}

const RobotFormat& load(const FormatReader& reader, const std::string& file) {
  const std::string hint =
      fmt::format("install the package liedyn-robots, or build with {} installed", reader.package);
  const auto refuse = [&](const std::string& message) { throw InputError(file, message, hint); };
  const auto path = find_library(reader.library.data());
  if (!path) refuse(fmt::format("this installation cannot read robots of this kind ({})", reader.ending));
  void* handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = dlerror();
    refuse(fmt::format("{} cannot be loaded: {}", path->string(), text != nullptr ? text : "unknown error"));
  }
  const auto entry = reinterpret_cast<RobotFormatEntry>(dlsym(handle, kRobotFormatEntry));
  if (entry == nullptr || entry()->version != RobotFormat::kVersion)
    refuse(fmt::format("{} belongs to another version of the program", path->string()));
  return *entry();
}

}  // namespace

bool is_robot_file(const std::string& file) { return reader_of(file) != nullptr; }

std::string robot_model_text(const std::string& file, std::vector<std::string>& warnings) {
  const RobotFormat& format = load(*reader_of(file), file);
  const std::unique_ptr<char, void (*)(char*)> text(format.read(file.c_str()), format.release);
  const auto found = nlohmann::ordered_json::parse(text.get());
  if (found.contains("error"))
    throw InputError(file, found["error"].get<std::string>(), found["hint"].get<std::string>());
  for (const auto& warning : found["warnings"]) warnings.push_back(warning.get<std::string>());
  return found["model"].dump(1);
}

}  // namespace liedyn

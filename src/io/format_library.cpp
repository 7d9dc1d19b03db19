#include "liedyn/io/format_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"

namespace liedyn {
namespace {

[[noreturn]] void refuse(const FormatLibrary& format, const std::string& file, const std::string& message) {
  throw InputError(
      {{file, 0, "", message,
        fmt::format("install the package liedyn-robots, or build with {} installed", format.package)}});
}

}  // namespace

void* load_format(const FormatLibrary& format, const std::string& file) {
  const auto path = find_library(std::string(format.library).c_str());
  if (!path)
    refuse(format, file,
           fmt::format("this installation cannot read {} of this kind ({})", format.kind,
                       std::filesystem::path(file).extension().string()));
  void* handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = dlerror();
    refuse(format, file,
           fmt::format("{} cannot be loaded: {}", path->string(), text != nullptr ? text : "unknown error"));
  }
  void* entry = dlsym(handle, format.entry);
  if (entry == nullptr) refuse_version(format, file);
  return entry;
}

void refuse_version(const FormatLibrary& format, const std::string& file) {
  refuse(format, file, fmt::format("{} belongs to another version of the program", format.library));
}

}  // namespace liedyn

#include "liedyn/io/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

constexpr PluginInterface kOwn = {LIEDYN_PLUGIN_VERSION, plugin_layout()};

std::string last_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown error";
}

void* open_plugin(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw InputError("plugin " + file, "there is no such file");
  if (!fs::is_regular_file(status))
    throw InputError("plugin " + file,
                     fmt::format("expected a shared object, got {}",
                                 fs::is_directory(status) ? "a folder" : "neither file nor folder"));
  // With a path, so that the file itself is meant and none of the system's libraries.
  void* handle = dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const std::string message = last_error();
  // Names of the library are mangled as N6liedyn...
  if (message.find("undefined symbol") != std::string::npos && message.find("6liedyn") != std::string::npos)
    throw InputError(
        "plugin " + file, message,
        "it was compiled for another version of Liedyn, or this program does not export the library "
        "(CMake: ENABLE_EXPORTS)");
  throw InputError("plugin " + file, "cannot be loaded: " + message, "expected a shared object");
}

void check_interface(const std::string& file, const PluginInterface& plugin) {
  if (std::string_view(plugin.version) != kOwn.version)
    throw InputError("plugin " + file,
                     fmt::format("was compiled for version {}, but this is {}", plugin.version, kOwn.version),
                     "compile it with the headers of this version");
  if (plugin.layout != kOwn.layout)
    throw InputError(
        "plugin " + file,
        fmt::format("was compiled with other headers or for another processor than this program "
                    "(layout {}, expected {})",
                    fmt::join(plugin.layout, " "), fmt::join(kOwn.layout, " ")),
        "compile it with the installed package of this program, which gives the compiler options");
}

}  // namespace

void load_plugin(const std::string& file) {
  static std::mutex mutex;
  static std::vector<void*> loaded;
  const std::lock_guard lock(mutex);
  void* handle = open_plugin(file);
  if (std::find(loaded.begin(), loaded.end(), handle) != loaded.end()) {
    dlclose(handle);  // it is only counted
    return;
  }
  using Interface = const PluginInterface* (*)();
  using Register = void (*)();
  const auto interface = reinterpret_cast<Interface>(dlsym(handle, "liedyn_plugin_interface"));
  const auto enter = reinterpret_cast<Register>(dlsym(handle, "liedyn_plugin_register"));
  if (interface == nullptr || enter == nullptr) {
    dlclose(handle);
    throw InputError("plugin " + file, "is not a Liedyn plugin: it does not contain LIEDYN_PLUGIN");
  }
  try {
    check_interface(file, *interface());
  } catch (...) {
    dlclose(handle);
    throw;
  }
  // From here on it stays: the lists may have pointers to its functions.
  loaded.push_back(handle);
  try {
    enter();
  } catch (const InputError& error) {
    std::vector<Diagnostic> findings = error.diagnostics();
    for (Diagnostic& finding : findings) finding.path = fmt::format("plugin {}: {}", file, finding.path);
    throw InputError(std::move(findings));
  } catch (const std::exception& error) {
    throw InputError("plugin " + file, fmt::format("failed: {}", error.what()));
  }
}

}  // namespace liedyn

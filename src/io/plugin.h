// Plugins: shared objects that register joints, forces, sensors and integrators when a program loads them.
//
//   #include <liedyn/liedyn.h>
//   LIEDYN_PLUGIN {                      // the body of a function
//     liedyn::register_force(...);
//   }
//
// A plugin does not contain the library: it finds it in the program that loads it, which must export its symbols (CMake: ENABLE_EXPORTS). It uses
// the classes of the headers, so that it must be compiled with the headers of that very version and for the same processor. Both are checked.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>

#include "liedyn/integrators/registration.h"
#include "liedyn/model/model.h"
#include "liedyn/model/registration.h"

namespace liedyn {

// What plugin and program must agree on: the version, and the layout of what they exchange.
struct PluginInterface {
  const char* version;
  std::array<unsigned, 12> layout;
};

consteval std::array<unsigned, 12> plugin_layout() {
  return {sizeof(Field),        sizeof(Kind),
          sizeof(Entry),        sizeof(Description),
          sizeof(Batch),        sizeof(ListedKind),
          sizeof(ListedSensor), sizeof(Sensor),
          sizeof(Model),        sizeof(ListedIntegrator),
          sizeof(State),        EIGEN_MAX_STATIC_ALIGN_BYTES};
}

// Loads the plugin; once is enough. Before the first model is read or built. Throws InputError if there is no such file, if it is no plugin, if it
// was compiled for another version or processor, or if what it registers is refused.
void load_plugin(const std::string& file);

}  // namespace liedyn

// Visible to whoever loads it, whatever else is hidden.
#define LIEDYN_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

#define LIEDYN_PLUGIN                                                                                \
  LIEDYN_PLUGIN_EXPORT const liedyn::PluginInterface* liedyn_plugin_interface() {                    \
    static constexpr liedyn::PluginInterface own = {LIEDYN_PLUGIN_VERSION, liedyn::plugin_layout()}; \
    return &own;                                                                                     \
  }                                                                                                  \
  LIEDYN_PLUGIN_EXPORT void liedyn_plugin_register()

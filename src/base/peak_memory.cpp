#include "liedyn/base/peak_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace liedyn {

std::int64_t peak_memory() {
  // Preferred to getrusage, whose maximum includes that of the process which started this one.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return usage.ru_maxrss * 1024;
#endif
}

}  // namespace liedyn

// The entry of libFuzzer (clang): the environment variable LIEDYN_FUZZ names the reader. ./dev fuzz starts it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "targets.h"

namespace {

const liedyn::fuzz::Target* target = nullptr;

}  // namespace

// Writes the seeds into the folder LIEDYN_FUZZ_SEEDS, if that is given.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("LIEDYN_FUZZ");
  for (const liedyn::fuzz::Target& one : liedyn::fuzz::targets())
    if (name != nullptr && std::string(name) == one.name) target = &one;
  if (target == nullptr) {
    std::fputs("LIEDYN_FUZZ must name one of the readers (fuzz_test none lists them)\n", stderr);
    std::exit(2);
  }
  if (const char* const folder = std::getenv("LIEDYN_FUZZ_SEEDS")) {
    int count = 0;
    for (const std::string& seed : target->seeds())
      std::ofstream(std::filesystem::path(folder) / fmt::format("seed_{}", count++), std::ios::binary)
          << seed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->read({reinterpret_cast<const char*>(data), size});
  return 0;
}

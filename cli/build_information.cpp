#include "build_information.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "commit.h"  // written by the build, see cmake/build_information.cmake
#include "liedyn/base/version.h"

namespace liedyn::cli {
namespace {

constexpr std::string_view architecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown architecture";
#endif
}

// Instruction sets beyond the first processors of the architecture that the compiler was allowed to use. The program does
// not start on a processor without them.
std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> sets;
#if defined(__SSE4_2__)
  sets.emplace_back("SSE4.2");
#endif
#if defined(__AVX__)
  sets.emplace_back("AVX");
#endif
#if defined(__AVX2__)
  sets.emplace_back("AVX2");
#endif
#if defined(__FMA__)
  sets.emplace_back("FMA");
#endif
#if defined(__AVX512F__)
  sets.emplace_back("AVX-512");
#endif
#if defined(__ARM_FEATURE_ATOMICS)
  sets.emplace_back("LSE");
#endif
#if defined(__ARM_FEATURE_SVE)
  sets.emplace_back("SVE");
#endif
#if defined(__ARM_FEATURE_SVE2)
  sets.emplace_back("SVE2");
#endif
  return sets;
}

}  // namespace

std::string build_information() {
  const std::vector<std::string_view> sets = instruction_sets();
  return fmt::format(
      "liedyn {}\n"
      "commit     {}\n"
      "compiler   {}\n"
      "processor  {}, {}\n"
      "libraries  {}",
      version(), LIEDYN_COMMIT, LIEDYN_COMPILER, architecture(),
      sets.empty() ? "any" : fmt::format("with {}", fmt::join(sets, ", ")), LIEDYN_LIBRARIES);
}

}  // namespace liedyn::cli

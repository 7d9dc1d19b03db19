#pragma once

#include <cstdint>

namespace liedyn {

// The largest resident set this process has had, in bytes.
std::int64_t peak_memory();

}  // namespace liedyn

// Numbers of nodes, rows and blocks are int; the standard containers count with std::size_t.
#pragma once

#include <cstddef>

namespace liedyn {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace liedyn

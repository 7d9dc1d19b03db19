#pragma once

#include "liedyn/io/generators/list.h"

namespace liedyn {

// Zigzag chains of links of 1 m side by side, joined where they touch: a net of diamonds, held along one edge.
Generator net();

}  // namespace liedyn

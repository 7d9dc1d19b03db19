#pragma once

#include "liedyn/io/generators/list.h"

namespace liedyn {

// Links of 1 m along x, joined by spherical joints, the first to the ground at the origin.
Generator chain();
Description make_chain(int links);

}  // namespace liedyn

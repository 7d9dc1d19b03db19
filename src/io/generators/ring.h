#pragma once

#include "liedyn/io/generators/list.h"

namespace liedyn {

// Links of 1 m, the sides of a regular polygon, joined by spherical joints; one knot is held.
Generator ring();

}  // namespace liedyn

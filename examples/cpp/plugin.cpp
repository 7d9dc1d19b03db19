// The drag as a plugin: liedyn run falling_sphere.json --plugin libdrag.so
#include "drag.h"

LIEDYN_PLUGIN { register_drag(); }

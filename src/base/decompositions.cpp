#include "liedyn/base/decompositions.h"

LIEDYN_DECOMPOSITIONS(template);

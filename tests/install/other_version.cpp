// A plugin that says it was compiled for another version.
#include <liedyn/liedyn.h>

#undef LIEDYN_PLUGIN_VERSION
#define LIEDYN_PLUGIN_VERSION "0.0.1"

LIEDYN_PLUGIN {}

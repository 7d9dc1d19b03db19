// Gives the batches of flexible bodies and of their interfaces their frames and the finite elements that they share.
#pragma once

#include "liedyn/model/compile.h"

namespace liedyn {

void connect_flexible(Model& model, const EntryNames& names);

}  // namespace liedyn

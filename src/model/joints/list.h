// Every kind of joints. Being listed is being in JSON, Python, help, schema, documentation and the property tests.
#pragma once

#include <vector>

#include "liedyn/model/element.h"

namespace liedyn {

const std::vector<ListedKind>& joint_kinds();

// Where what a joint without shapes says about itself does not fit what it is; empty: nowhere.
std::string joint_mistake(const ListedKind& joint);

}  // namespace liedyn

// Whether the user typed a field of an entry; -1 stands for a field that its kind has not.
#pragma once

#include "liedyn/model/description.h"

namespace liedyn {

inline bool is_given(const Entry& entry, int field) {
  return field >= 0 && entry.fields[static_cast<std::size_t>(field)].given;
}

}  // namespace liedyn

#include "liedyn/model/states/list.h"

#include "liedyn/model/states/state.h"

namespace liedyn {

const std::vector<ListedKind>& state_kinds() {
  static const std::vector<ListedKind> list = {state_expression(), state_integral(), state_filter()};
  return list;
}

}  // namespace liedyn

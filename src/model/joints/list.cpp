#include "model/joints/list.h"

#include "model/joints/distance.h"
#include "model/joints/spherical.h"

namespace liedyn {

const std::vector<ListedKind>& joint_kinds() {
  static const std::vector<ListedKind> list = {spherical(), distance()};
  return list;
}

}  // namespace liedyn

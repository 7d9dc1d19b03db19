#include "model/bodies/list.h"

#include "model/bodies/rigid.h"

namespace liedyn {

const std::vector<BodyKind>& body_kinds() {
  static const std::vector<BodyKind> list = {rigid(), rotating(), point()};
  return list;
}

}  // namespace liedyn

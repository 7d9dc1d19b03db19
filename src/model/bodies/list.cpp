#include "liedyn/model/bodies/list.h"

#include "liedyn/model/bodies/planar.h"
#include "liedyn/model/bodies/rigid.h"

namespace liedyn {

const std::vector<BodyKind>& body_kinds() {
  static const std::vector<BodyKind> list = {rigid(), rotating(), point(), planar_body()};
  return list;
}

}  // namespace liedyn

#include "model/nodes/increments.h"

#include <algorithm>

#include "model/nodes/stage.h"

namespace liedyn {
namespace {

using C3 = Eigen::Map<const Vec3>;
using M3 = Eigen::Map<Vec3>;
using C6 = Eigen::Map<const Vec6>;
using M6 = Eigen::Map<Vec6>;

}  // namespace

void increment_rates(NodeType type, const double* theta, const double* v, double* rates) {
  if (type == NodeType::SE3) {
    M6{rates} = SE3<double>::Tinv(C6(theta)) * C6(v);
    return;
  }
  if (type == NodeType::SE2) {
    M3{rates} = SE2<double>::Tinv(C3(theta)) * C3(v);
    return;
  }
  std::copy_n(v, node_size(type).v, rates);
  const int i = rotation_start(type);
  if (i < 0 || is_conventional(type)) return;
  M3{rates + i} =
      (is_spatial(type) ? SpatialRotation::Tinv(C3(theta + i)) : SO3<double>::Tinv(C3(theta + i))) *
      C3(v + i);
}

void refer_to_moved(NodeType type, const double* moved, double* theta) {
  if (type == NodeType::SE3) {
    M6{theta} = (SE3<double>::exp(-C6(moved)) * SE3<double>::exp(C6(theta))).log();
    return;
  }
  if (type == NodeType::SE2) {
    M3{theta} = (SE2<double>::exp(-C3(moved)) * SE2<double>::exp(C3(theta))).log();
    return;
  }
  const int i = rotation_start(type);
  const bool turns = i >= 0 && !is_conventional(type);
  for (int k = 0; k < (turns ? i : node_size(type).v); ++k) theta[k] -= moved[k];
  if (!turns) return;
  const SO3<double> back = SO3<double>::exp(-C3(moved + i)), there = SO3<double>::exp(C3(theta + i));
  M3{theta + i} = (is_spatial(type) ? there * back : back * there).log();
}

}  // namespace liedyn

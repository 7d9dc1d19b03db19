#include "liedyn/model/joints/joint_axes.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace liedyn {

void check_zero(const Inputs<double>& in, std::string& message) {
  const int zero = in.kind().field("zero");
  if (zero >= 0 && in.kind().coordinates.angle && in.stored(zero) &&
      std::abs(in.number(zero)) > std::numbers::pi)
    message = fmt::format("zero: expected an angle from -pi to pi, got {}", in.number(zero));
}

}  // namespace liedyn

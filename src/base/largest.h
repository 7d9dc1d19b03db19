// The largest of many numbers by magnitude, where one that is not a number must not go unnoticed: comparisons with NaN are false, so that std::max drops it and a
// residual that cannot be computed would be reported as 0.
#pragma once

#include <cmath>
#include <vector>

#include "liedyn/base/dual.h"

namespace liedyn {

// max(a, b); NaN if one of them is.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

// max |x|, 0 of none; NaN if one of them is. Of dual numbers their values count.
template <class S>
double largest(const std::vector<S>& numbers) {
  double out = 0;
  for (const S& x : numbers) out = larger(out, std::abs(value(x)));
  return out;
}

}  // namespace liedyn

// The largest of some numbers (NaN aside), and a sum in which NaN or infinity anywhere shows.
#pragma once

#include <cmath>
#include <cstddef>

namespace liedyn {

struct Extent {
  double largest = 0, sum = 0;
};

// The largest of size(i), and the sum of values[i]. In two lanes, which the compiler makes one.
template <class Size>
Extent extent_of(const double* values, std::size_t count, const Size& size) {
  double largest[2] = {0, 0}, sum[2] = {0, 0};
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2)
    for (std::size_t k = 0; k < 2; ++k) {
      largest[k] = std::fmax(largest[k], size(i + k));
      sum[k] += values[i + k];
    }
  if (i < count) {
    largest[0] = std::fmax(largest[0], size(i));
    sum[0] += values[i];
  }
  return {std::fmax(largest[0], largest[1]), sum[0] + sum[1]};
}

}  // namespace liedyn

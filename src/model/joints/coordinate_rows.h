// Rows of a joint that are made of functions of pairs of frames, such as coordinates of other joints: each pair adds to the row by itself.
#pragma once

#include <type_traits>

#include "liedyn/model/batch_of.h"
#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

template <int F, int R, class S>
void set_zero(JointDerivatives<F, R, S>& d) {
  d.phi.setZero();
  d.bias.setZero();
  for (int i = 0; i < F; ++i) {
    d.B[i].setZero();
    d.Z[i].setZero();
    for (int j = 0; j < F; ++j) d.G[i][j].setZero();
  }
}

// Adds factor times a function of the frames that begin at `first` to a row. What is not asked for was not set before either.
template <int F, int R, class S>
void add_coordinate(const CoordinateDerivativesOf<S>& x, const S& factor, const S& lambda, int row, int first,
                    JointDerivatives<F, R, S>& d) {
  for (int i = 0; i < 2; ++i) {
    d.B[first + i].row(row) += factor * x.B[i];
    if (d.wants_rates) d.Z[first + i].row(row) += factor * x.Z[i];
    if constexpr (std::is_same_v<S, double>)
      if (d.wants_stiffness)
        for (int j = 0; j < 2; ++j) d.G[first + i][first + j] += factor * lambda * x.G[i][j];
  }
  d.phi[row] += factor * x.value;
  if (d.wants_rates) d.bias[row] += factor * x.bias;
}

}  // namespace liedyn

// Columns that repeat others up to the rounding of positions must not get large factors.
#include "liedyn/analyses/shortest_solution.h"

#include <gtest/gtest.h>

namespace liedyn {
namespace {

TEST(ShortestSolution, SharesEquallyBetweenColumnsThatRepeatEachOther) {
  for (const double rounding : {0.0, 1e-15, 1e-12, 1e-9}) {
    Eigen::MatrixXd A(3, 3);
    A << 1, 1, 0,  //
        0, rounding, 0, 0, 0, 1;
    // The second equation asks for factors of 1/rounding.
    const Eigen::Vector3d right(2, 1, 3);
    const Eigen::VectorXd x = shortest_solution(A, right);
    EXPECT_LT((x - Eigen::Vector3d(1, 1, 3)).norm(), 1e-8) << "rounding " << rounding;
  }
}

TEST(ShortestSolution, KeepsColumnsThatDiffer) {
  Eigen::MatrixXd A(2, 2);
  A << 1, 1, 0, 1e-5;
  const Eigen::VectorXd x = shortest_solution(A, Eigen::Vector2d(2, 1e-5));
  EXPECT_LT((x - Eigen::Vector2d(1, 1)).norm(), 1e-9);
}

}  // namespace
}  // namespace liedyn

// Columns that repeat others up to the rounding of positions must not get large factors.
#include "liedyn/analyses/shortest_solution.h"

#include <fmt/format.h>

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

// Each of two blocks, in mixed order, as if the other were not there.
TEST(ShortestSolution, KeepsMechanismsApartThatNothingConnects) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(4, 5);
  A(0, 0) = 1, A(0, 2) = 2, A(2, 2) = 3;              // of the size 1
  A(1, 1) = 1e-18, A(1, 4) = 2e-18, A(3, 4) = 3e-18;  // and 1e-18; column 3 is in no equation
  const Eigen::Vector4d right(0.1, 0.7e-18, 0.3, 0.9e-18);
  const Eigen::VectorXd x = shortest_solution(A, right);
  const Eigen::VectorXd exact = (Eigen::VectorXd(5) << -0.1, 0.1, 0.1, 0, 0.3).finished();
  fmt::print("  largest error {:.1e} at most 1e-15\n", (x - exact).cwiseAbs().maxCoeff());
  EXPECT_LT((x - exact).cwiseAbs().maxCoeff(), 1e-15);
}

}  // namespace
}  // namespace liedyn

#include "liedyn/system/block_solver.h"
#include "liedyn/base/index.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Bodies (3 or 6 unknowns, a full block of their own) and joints (1 to 3 rows, none): a tree from the ground, and loops.
BlockPattern mechanism(int bodies, int loops, bool chain, Random& random) {
  BlockPattern pattern;
  int unknowns = 0;
  const auto add_block = [&](int size, bool zero) {
    pattern.start.push_back(unknowns);
    unknowns += size;
    pattern.zero_diagonal.push_back(zero);
  };
  std::vector<std::pair<int, int>> joints = {{-1, 0}};
  for (int i = 1; i < bodies; ++i) joints.emplace_back(chain ? i - 1 : random.below(i), i);
  for (int k = 0; k < loops; ++k) {
    const int a = random.below(bodies), b = random.below(bodies);
    if (a != b) joints.emplace_back(a, b);
  }
  // A loop may be closed by single rows only, or bodies would have more rows than unknowns.
  const bool large = loops == 0;
  for (int i = 0; i < bodies; ++i) add_block(large && random.below(4) == 0 ? 3 : 6, false);
  for (std::size_t k = 0; k < joints.size(); ++k) add_block(large ? 1 + random.below(3) : 1, true);
  pattern.start.push_back(unknowns);
  for (int i = 0; i < pattern.blocks(); ++i) pattern.add(i, i);
  for (std::size_t k = 0; k < joints.size(); ++k)
    for (const int body : {joints[k].first, joints[k].second}) {
      if (body < 0) continue;
      pattern.add(bodies + static_cast<int>(k), body);
      pattern.add(body, bodies + static_cast<int>(k));
    }
  pattern.normalize();
  return pattern;
}

void fill(const BlockPattern& pattern, LinearSolver& solver, Random& random) {
  solver.set_zero();
  for (const auto& [column, row] : pattern.pairs) {
    if (row == column && pattern.zero_diagonal[at(row)]) continue;
    const BlockRef ref = solver.block(row, column);
    for (int c = 0; c < pattern.start[at(column) + 1] - pattern.start[at(column)]; ++c)
      for (int r = 0; r < pattern.start[at(row) + 1] - pattern.start[at(row)]; ++r)
        solver.values()[ref.offset + r + c * ref.stride] =
            random.between(-1, 1) + (row == column && r == c ? 4 : 0);
  }
}

TEST(BlockSolver, SolvesTreesAndLoopsAsPivotingDoes) {
  Random random(1);
  for (const bool chain : {true, false})
    for (const int loops : {0, 4}) {
      double worst = 0, apart = 0;
      for (int sample = 0; sample < 20; ++sample) {
        const BlockPattern pattern = mechanism(1 + random.below(40), loops, chain, random);
        const auto solver = make_block_solver(pattern);
        ASSERT_TRUE(solver);
        for (int again = 0; again < 2; ++again) {
          fill(pattern, *solver, random);
          const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
          Eigen::VectorXd b(pattern.unknowns());
          for (double& x : b) x = random.between(-1, 1);
          ASSERT_TRUE(solver->factorize());
          Eigen::VectorXd x = b;
          solver->solve(x.data());
          for (const std::size_t columns : {2, 3, 4, 8}) {
            // Side by side: multiples of b.
            std::vector<double> several;
            for (const double of_b : b)
              for (std::size_t k = 0; k < columns; ++k) several.push_back(static_cast<double>(1 << k) * of_b);
            solver->solve_several(several.data(), static_cast<std::size_t>(b.size()), columns);
            for (std::size_t i = 0; i < several.size(); ++i)
              apart = std::max(apart, std::abs(several[i] / static_cast<double>(1 << i % columns) -
                                               x[static_cast<Eigen::Index>(i / columns)]) /
                                          x.cwiseAbs().maxCoeff());
          }
          // Blocks are pivots whether large or small: rounding errors grow with the largest number that elimination made, in the inverted
          // blocks or in what is left.
          double growth = 1;
          for (const auto& [column, row] : pattern.pairs) {
            const BlockRef ref = solver->block(row, column);
            for (int c = 0; c < pattern.start[at(column) + 1] - pattern.start[at(column)]; ++c)
              for (int r = 0; r < pattern.start[at(row) + 1] - pattern.start[at(row)]; ++r)
                growth = std::max(growth, std::abs(solver->values()[ref.offset + r + c * ref.stride]));
          }
          worst = std::max(worst, (A * x - b).cwiseAbs().maxCoeff() / (1 + x.cwiseAbs().maxCoeff()) / growth);
        }
      }
      expect_at_most(worst, 1e-13, fmt::format("{}, {} loops: A x - b", chain ? "chain" : "tree", loops));
      expect_at_most(apart, 1e-10,
                     fmt::format("{}, {} loops: several at once", chain ? "chain" : "tree", loops));
    }
}

// Large enough for the work to be shared. KLU pivots freely and knows nothing of the order.
TEST(BlockSolver, LargeMechanismsAreTheSameForAnyNumberOfThreads) {
  Random random(4);
  for (const auto& [name, loops, chain] : {std::tuple{"chain", 0, true}, std::tuple{"tree", 0, false},
                                           std::tuple{"tree with loops", 40, false}}) {
    const BlockPattern pattern = mechanism(4000, loops, chain, random);
    const Random values = random;
    Eigen::VectorXd b(pattern.unknowns());
    for (double& x : b) x = random.between(-1, 1);
    const auto solution = [&](LinearSolver& solver, ThreadPool* threads) {
      solver.use_threads(threads);
      Eigen::VectorXd x = b;
      for (int again = 0; again < 2; ++again) {
        Random same = values;
        fill(pattern, solver, same);
        EXPECT_TRUE(solver.factorize());
        x = b;
        solver.solve(x.data());
      }
      return x;
    };
    const auto block = make_block_solver(pattern);
    ASSERT_TRUE(block) << name;
    const Eigen::VectorXd alone = solution(*block, nullptr);
    for (const int count : {2, 3}) {
      ThreadPool threads(count);
      EXPECT_EQ(solution(*block, &threads), alone) << name << ", " << count << " threads";
    }
    const auto klu = make_linear_solver(pattern, "klu");
    const Eigen::VectorXd reference = solution(*klu, nullptr);
    expect_at_most((alone - reference).cwiseAbs().maxCoeff() / reference.cwiseAbs().maxCoeff(), 1e-9,
                   fmt::format("{}: block solver - KLU, relative", name));
  }
}

TEST(BlockSolver, HeldUnknownsStandStill) {
  Random random(2);
  const BlockPattern pattern = mechanism(9, 0, false, random);
  const auto solver = make_block_solver(pattern);
  fill(pattern, *solver, random);
  Eigen::MatrixXd A = dense_matrix(pattern, *solver);
  // One body is held; the joints on it are not, so the tree must not end there.
  std::vector<bool> held(at(pattern.unknowns()), false);
  held[0] = true;
  A.row(0).setZero();
  A.col(0).setZero();
  A(0, 0) = 1;
  solver->hold(held);
  ASSERT_TRUE(solver->factorize());
  Eigen::VectorXd x = Eigen::VectorXd::Ones(pattern.unknowns());
  solver->solve(x.data());
  expect_at_most((A * x - Eigen::VectorXd::Ones(pattern.unknowns())).cwiseAbs().maxCoeff(), 1e-11,
                 "A x - b, held");
}

TEST(BlockSolver, FindsASingularBlock) {
  Random random(3);
  const BlockPattern pattern = mechanism(5, 0, true, random);
  const auto solver = make_block_solver(pattern);
  solver->set_zero();
  EXPECT_FALSE(solver->factorize());
  EXPECT_GE(solver->singular_unknown(), 0);
}

// Single blocks would have 60^3 / 3 products; fronts are dense matrices anyway.
TEST(BlockSolver, LeavesDenseGraphsToFronts) {
  BlockPattern pattern;
  for (int i = 0; i <= 60; ++i) pattern.start.push_back(6 * i);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < 60; ++j) pattern.add(i, j);
  pattern.normalize();
  pattern.zero_diagonal.assign(60, false);
  const auto solver = make_block_solver(pattern);
  ASSERT_TRUE(solver);
  Random random(5);
  fill(pattern, *solver, random);
  const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
  ASSERT_TRUE(solver->factorize());
  Eigen::VectorXd x = Eigen::VectorXd::Ones(pattern.unknowns());
  solver->solve(x.data());
  expect_at_most((A * x - Eigen::VectorXd::Ones(pattern.unknowns())).cwiseAbs().maxCoeff() /
                     (1 + x.cwiseAbs().maxCoeff()),
                 1e-12, "A x - b");
}

TEST(BlockSolver, LeavesLargeBlocksToOthers) {
  BlockPattern pattern;
  pattern.start = {0, 100};
  pattern.add(0, 0);
  EXPECT_EQ(make_block_solver(pattern), nullptr);
}

}  // namespace
}  // namespace liedyn

#include "liedyn/system/front_solver.h"
#include "liedyn/base/index.h"

#include <gtest/gtest.h>

#include "liedyn/system/block_graph.h"
#include "liedyn/system/block_solver.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Bodies on a grid, each joined to its neighbours by two rows, the corners to the ground. `springs`: every so many bodies are
// coupled directly as well; `hub`: one body is joined to all of the first row.
BlockPattern grid(int size, int springs = 0, bool hub = false) {
  BlockPattern pattern;
  const int bodies = size * size + (hub ? 1 : 0);
  std::vector<std::pair<int, int>> joints = {{-1, 0}, {-1, size - 1}}, coupled;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      const int own = i * size + j;
      if (j + 1 < size) joints.emplace_back(own, own + 1);
      if (i + 1 < size) joints.emplace_back(own, own + size);
      if (springs > 0 && own % springs == 0 && i + 1 < size && j + 1 < size)
        coupled.emplace_back(own, own + size + 1);
      if (hub && i == 0) joints.emplace_back(own, size * size);
    }
  for (int i = 0; i < bodies; ++i) pattern.start.push_back(6 * i);
  for (std::size_t k = 0; k < joints.size(); ++k)
    pattern.start.push_back(6 * bodies + 2 * static_cast<int>(k));
  pattern.start.push_back(6 * bodies + 2 * static_cast<int>(joints.size()));
  pattern.zero_diagonal.assign(at(pattern.blocks()), true);
  std::fill_n(pattern.zero_diagonal.begin(), bodies, false);
  const auto couple = [&](int a, int b) {
    pattern.add(a, b);
    pattern.add(b, a);
  };
  for (int i = 0; i < pattern.blocks(); ++i) pattern.add(i, i);
  for (const auto& [a, b] : coupled) couple(a, b);
  for (std::size_t k = 0; k < joints.size(); ++k)
    for (const int body : {joints[k].first, joints[k].second})
      if (body >= 0) couple(bodies + static_cast<int>(k), body);
  pattern.normalize();
  return pattern;
}

// As the matrices of mechanisms are: inertia with a gyroscopic part, B and its transpose.
void fill(const BlockPattern& pattern, LinearSolver& solver, unsigned seed) {
  solver.set_zero();
  for (const auto& [column, row] : pattern.pairs) {
    const bool joint = pattern.zero_diagonal[at(row)] || pattern.zero_diagonal[at(column)];
    if (row == column && joint) continue;
    Random random(seed + 31 * static_cast<unsigned>(std::min(row, column)) +
                  1009 * static_cast<unsigned>(std::max(row, column)));
    const BlockRef ref = solver.block(row, column);
    const int rows = pattern.start[at(row) + 1] - pattern.start[at(row)],
              columns = pattern.start[at(column) + 1] - pattern.start[at(column)];
    const double size = joint ? 1 : 0.2;
    // Drawn for the block below the diagonal, and turned over for the one above.
    for (int i = 0; i < rows * columns; ++i) {
      const double x = size * random.between(-1, 1);
      const int r = row >= column ? i % rows : i / columns, c = row >= column ? i / rows : i % columns;
      solver.values()[ref.offset + r + c * ref.stride] = x + (row == column && r == c ? 3 : 0);
    }
  }
}

Eigen::VectorXd right_side(const BlockPattern& pattern) {
  Random random(7);
  Eigen::VectorXd b(pattern.unknowns());
  for (double& x : b) x = random.between(-1, 1);
  return b;
}

std::unique_ptr<LinearSolver> fronts(const BlockPattern& pattern) {
  return make_front_solver(pattern, neighbours_of(pattern));
}

TEST(FrontSolver, SolvesGridsOfEverySize) {
  for (const auto& [name, springs, hub] :
       {std::tuple{"joints alone", 0, false}, std::tuple{"springs", 1, false},
        std::tuple{"some springs", 5, false}, std::tuple{"a hub", 0, true}}) {
    double worst = 0;
    for (const int size : {1, 2, 3, 5, 9, 14}) {
      const BlockPattern pattern = grid(size, springs, hub && size > 1);
      const auto solver = fronts(pattern);
      ASSERT_TRUE(solver);
      const Eigen::VectorXd b = right_side(pattern);
      for (const unsigned seed : {1u, 2u}) {  // the second matrix tests that factors are renewed
        fill(pattern, *solver, seed);
        const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
        ASSERT_TRUE(solver->factorize()) << name << " " << size;
        Eigen::VectorXd x = b;
        solver->solve(x.data());
        worst = std::max(worst, (A * x - b).cwiseAbs().maxCoeff() / (1 + x.cwiseAbs().maxCoeff()));
      }
    }
    expect_at_most(worst, 1e-12, fmt::format("grid with {}: A x - b", name));
  }
}

// Large enough for the work to be shared. KLU pivots freely and knows nothing of the order.
TEST(FrontSolver, LargeGridsAreTheSameForAnyNumberOfThreads) {
  const BlockPattern pattern = grid(40, 7);
  const Eigen::VectorXd b = right_side(pattern);
  const auto solution = [&](LinearSolver& solver, ThreadPool* threads) {
    solver.use_threads(threads);
    fill(pattern, solver, 3);
    EXPECT_TRUE(solver.factorize());
    Eigen::VectorXd x = b;
    solver.solve(x.data());
    return x;
  };
  // By itself the solver of single blocks would be taken for trees and narrow nets.
  const auto solver = make_block_solver(pattern);
  ASSERT_TRUE(solver);
  const Eigen::VectorXd alone = solution(*solver, nullptr);
  for (const int count : {2, 3}) {
    ThreadPool threads(count);
    EXPECT_EQ(solution(*solver, &threads), alone) << count << " threads";
  }
  const auto klu = make_linear_solver(pattern, "klu");
  const Eigen::VectorXd reference = solution(*klu, nullptr);
  expect_at_most((alone - reference).cwiseAbs().maxCoeff() / reference.cwiseAbs().maxCoeff(), 1e-11,
                 "fronts - KLU, relative");
}

TEST(FrontSolver, HeldUnknownsStandStill) {
  const BlockPattern pattern = grid(6);
  const auto solver = fronts(pattern);
  fill(pattern, *solver, 1);
  Eigen::MatrixXd A = dense_matrix(pattern, *solver);
  // Of a body, and a row of a joint.
  std::vector<bool> held(at(pattern.unknowns()), false);
  for (const int i : {40, pattern.unknowns() - 5}) {
    held[at(i)] = true;
    A.row(i).setZero();
    A.col(i).setZero();
    A(i, i) = 1;
  }
  solver->hold(held);
  expect_at_most((dense_matrix(pattern, *solver) - A).cwiseAbs().maxCoeff(), 0, "matrix with held unknowns");
  ASSERT_TRUE(solver->factorize());
  Eigen::VectorXd x = Eigen::VectorXd::Ones(pattern.unknowns());
  solver->solve(x.data());
  expect_at_most((A * x - Eigen::VectorXd::Ones(pattern.unknowns())).cwiseAbs().maxCoeff(), 1e-11,
                 "A x - b, held");
}

TEST(FrontSolver, FindsASingularRow) {
  const BlockPattern pattern = grid(5);
  const auto solver = fronts(pattern);
  fill(pattern, *solver, 1);
  // The equation of one unknown is missing, and nothing depends on it.
  const int dead = 33;
  for (const auto& [column, row] : pattern.pairs) {
    const BlockRef ref = solver->block(row, column);
    for (int c = pattern.start[at(column)]; c < pattern.start[at(column) + 1]; ++c)
      for (int r = pattern.start[at(row)]; r < pattern.start[at(row) + 1]; ++r)
        if (r == dead || c == dead)
          solver->values()[ref.offset + r - pattern.start[at(row)] +
                           (c - pattern.start[at(column)]) * ref.stride] = 0;
  }
  EXPECT_FALSE(solver->factorize());
  EXPECT_GE(solver->singular_unknown(), 0);
  fill(pattern, *solver, 1);
  EXPECT_TRUE(solver->factorize());
}

}  // namespace
}  // namespace liedyn

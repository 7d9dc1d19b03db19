#include "liedyn/system/linear.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "liedyn/system/block_graph.h"
#include "liedyn/system/block_solver.h"
#include "liedyn/system/front_solver.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

const char* const kSolvers[] = {"dense", "klu"};

// Blocks of one to six unknowns, a full diagonal, the others at random.
BlockPattern random_pattern(int blocks, int couplings, Random& random) {
  BlockPattern pattern;
  pattern.start.push_back(0);
  for (int i = 0; i < blocks; ++i) pattern.start.push_back(pattern.start.back() + 1 + random.below(6));
  for (int i = 0; i < blocks; ++i) pattern.add(i, i);
  for (int i = 0; i < couplings; ++i) {
    const int a = random.below(blocks), b = random.below(blocks);
    pattern.add(a, b);
    pattern.add(b, a);
    pattern.add(a, b);  // twice does no harm
  }
  pattern.normalize();
  return pattern;
}

void fill_at_random(const BlockPattern& pattern, LinearSolver& solver, unsigned seed) {
  Random random(seed);
  solver.set_zero();
  for (const auto& [column, row] : pattern.pairs) {
    const BlockRef ref = solver.block(row, column);
    const auto size = [&](int block) {
      return pattern.start[static_cast<std::size_t>(block) + 1] -
             pattern.start[static_cast<std::size_t>(block)];
    };
    for (int c = 0; c < size(column); ++c)
      for (int r = 0; r < size(row); ++r)
        solver.values()[ref.offset + r + c * ref.stride] += random.between(-1, 1);
  }
}

// The backward error in the maximum norm: x solves a system whose matrix differs from A by this part of |A|, however A is conditioned.
double error_of(const Eigen::MatrixXd& A, const Eigen::VectorXd& x, const Eigen::VectorXd& b) {
  const double largest = A.cwiseAbs().rowwise().sum().maxCoeff();
  return (A * x - b).cwiseAbs().maxCoeff() / (largest * x.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff());
}

TEST(LinearSolvers, AgreeWithEigenOnRandomBlockPatterns) {
  Random random(1);
  for (const char* choice : kSolvers) {
    double worst_residual = 0, worst_solution = 0;
    for (int sample = 0; sample < 30; ++sample) {
      const BlockPattern pattern = random_pattern(1 + random.below(12), random.below(30), random);
      const auto solver = make_linear_solver(pattern, choice);
      // The second matrix on the same pattern tests that factors are renewed.
      for (unsigned seed : {1u, 2u}) {
        fill_at_random(pattern, *solver, seed + static_cast<unsigned>(sample));
        const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
        Eigen::VectorXd b(pattern.unknowns());
        for (double& x : b) x = random.between(-1, 1);
        ASSERT_TRUE(solver->factorize());
        Eigen::VectorXd x = b;
        solver->solve(x.data());
        const Eigen::PartialPivLU<Eigen::MatrixXd> lu(A);
        const double condition =
            A.cwiseAbs().colwise().sum().maxCoeff() * lu.inverse().cwiseAbs().colwise().sum().maxCoeff();
        worst_residual = std::max(worst_residual, error_of(A, x, b));
        worst_solution =
            std::max(worst_solution, relative_difference(x, Eigen::VectorXd(lu.solve(b))) / condition);
      }
    }
    // KLU keeps the pivots of the matrix before until they let errors grow a thousand times.
    const double growth = std::string_view(choice) == "dense" ? 1 : 1000;
    const double bound = 8 * std::numeric_limits<double>::epsilon() * growth;
    expect_at_most(worst_residual, bound, fmt::format("{}: backward error", choice));
    expect_at_most(worst_solution, bound,
                   fmt::format("{}: x - Eigen's, relative to the condition number", choice));
  }
}

// Of small matrices it is exact, of large ones an estimate from below, whatever the solver.
TEST(LinearSolvers, KnowTheConditionNumber) {
  Random random(5);
  for (const std::string choice : {"dense", "block", "klu", "front"}) {
    double worst_small = 1, worst_large = 1, largest = 0;
    for (int sample = 0; sample < 24; ++sample) {
      const bool large = sample % 2 == 1;
      const BlockPattern pattern = large ? random_pattern(40, 60, random)
                                         : random_pattern(1 + random.below(8), random.below(10), random);
      const auto solver = choice == "front" ? make_front_solver(pattern, neighbours_of(pattern))
                                            : make_linear_solver(pattern, choice);
      fill_at_random(pattern, *solver, 100U + static_cast<unsigned>(sample));
      // Dominant diagonals, since some solvers do not pivot beyond blocks, and one equation that is nearly none.
      const double scale = std::pow(10, -(sample % 12));
      for (int b = 0; b < pattern.blocks(); ++b) {
        const BlockRef ref = solver->block(b, b);
        const int size =
            pattern.start[static_cast<std::size_t>(b) + 1] - pattern.start[static_cast<std::size_t>(b)];
        for (int i = 0; i < size; ++i) solver->values()[ref.offset + i * (ref.stride + 1)] += 40;
      }
      for (const auto& [column, row] : pattern.pairs) {
        if (row != 0) continue;
        const BlockRef ref = solver->block(row, column);
        const auto c = static_cast<std::size_t>(column);
        for (int k = 0; k < pattern.start[c + 1] - pattern.start[c]; ++k)
          solver->values()[ref.offset + k * ref.stride] *= scale;
      }
      const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
      const double condition =
          A.cwiseAbs().colwise().sum().maxCoeff() *
          Eigen::PartialPivLU<Eigen::MatrixXd>(A).inverse().cwiseAbs().colwise().sum().maxCoeff();
      const double found = 1 / factorize_with_condition(pattern, *solver);
      (large ? worst_large : worst_small) =
          std::max(large ? worst_large : worst_small, std::max(found / condition, condition / found));
      largest = std::max(largest, condition);
      // It leaves the factors.
      Eigen::VectorXd b(pattern.unknowns());
      for (double& x : b) x = random.between(-1, 1);
      Eigen::VectorXd x = b;
      solver->solve(x.data());
      EXPECT_LT(error_of(A, x, b), 1e-14) << choice;
    }
    fmt::print("  condition numbers up to {:.1e}\n", largest);
    expect_at_most(worst_small, 1 + 1e-4, fmt::format("{}: exact, factor off", choice));
    expect_at_most(worst_large, 3, fmt::format("{}: estimate, factor off", choice));
  }
  BlockPattern nothing;
  nothing.start = {0, 2};
  nothing.add(0, 0);
  nothing.normalize();
  const auto singular = make_linear_solver(nothing, "dense");
  singular->set_zero();
  EXPECT_EQ(factorize_with_condition(nothing, *singular), 0);
}

TEST(LinearSolvers, AreChosenBySizeAndFill) {
  Random random(2);
  BlockPattern single;
  single.start = {0, 3};
  single.add(0, 0);
  EXPECT_EQ(make_linear_solver(single)->name(), "dense");
  EXPECT_EQ(make_linear_solver(random_pattern(2, 3, random))->name(), "block");
  EXPECT_EQ(make_linear_solver(random_pattern(200, 20, random))->name(), "block");
  EXPECT_EQ(make_linear_solver(random_pattern(200, 900, random))->name(), "front");
  BlockPattern large;
  large.start = {0, 100};
  large.add(0, 0);
  EXPECT_EQ(make_linear_solver(large)->name(), "klu");
  EXPECT_EQ(make_linear_solver(random_pattern(200, 20, random), "klu")->name(), "klu");
}

TEST(LinearSolvers, SayWhetherTheyPivotFully) {
  Random random(4);
  const BlockPattern pattern = random_pattern(20, 30, random);
  for (const char* choice : {"dense", "klu"})
    EXPECT_TRUE(make_linear_solver(pattern, choice)->pivots_fully()) << choice;
  EXPECT_FALSE(make_block_solver(pattern)->pivots_fully());
  EXPECT_FALSE(make_front_solver(pattern, neighbours_of(pattern))->pivots_fully());
}

TEST(LinearSolvers, FindASingularMatrixAndRecover) {
  Random random(3);
  const BlockPattern pattern = random_pattern(6, 10, random);
  for (const char* choice : kSolvers) {
    const auto solver = make_linear_solver(pattern, choice);
    fill_at_random(pattern, *solver, 5);
    // The last unknown of block 2 has no equation and no influence.
    const int dead = pattern.start[3] - 1;
    for (const auto& [column, row] : pattern.pairs) {
      const BlockRef ref = solver->block(row, column);
      for (int c = pattern.start[static_cast<std::size_t>(column)];
           c < pattern.start[static_cast<std::size_t>(column) + 1]; ++c)
        for (int r = pattern.start[static_cast<std::size_t>(row)];
             r < pattern.start[static_cast<std::size_t>(row) + 1]; ++r)
          if (r == dead || c == dead)
            solver->values()[ref.offset + r - pattern.start[static_cast<std::size_t>(row)] +
                             (c - pattern.start[static_cast<std::size_t>(column)]) * ref.stride] = 0;
    }
    EXPECT_FALSE(solver->factorize()) << choice;
    fmt::print("  {}: singular at unknown {}, zero row and column {}\n", choice, solver->singular_unknown(),
               dead);
    EXPECT_EQ(solver->singular_unknown(), dead) << choice;

    fill_at_random(pattern, *solver, 6);
    const Eigen::MatrixXd A = dense_matrix(pattern, *solver);
    EXPECT_TRUE(solver->factorize()) << choice;
    Eigen::VectorXd x = Eigen::VectorXd::Ones(pattern.unknowns());
    solver->solve(x.data());
    expect_at_most(error_of(A, x, Eigen::VectorXd::Ones(pattern.unknowns())), 1e-12,
                   fmt::format("{}: after a singular one", choice));
  }
}

TEST(LinearSolvers, HeldUnknownsStandStill) {
  Random random(4);
  const BlockPattern pattern = random_pattern(8, 15, random);
  const int n = pattern.unknowns();
  std::vector<bool> held(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i += 3) held[static_cast<std::size_t>(i)] = true;
  for (const char* choice : kSolvers) {
    const auto solver = make_linear_solver(pattern, choice);
    fill_at_random(pattern, *solver, 9);
    Eigen::MatrixXd A = dense_matrix(pattern, *solver);
    for (int i = 0; i < n; ++i) {
      if (!held[static_cast<std::size_t>(i)]) continue;
      A.row(i).setZero();
      A.col(i).setZero();
      A(i, i) = 1;
    }
    solver->hold(held);
    EXPECT_EQ(dense_matrix(pattern, *solver), A) << choice;
    ASSERT_TRUE(solver->factorize());
    Eigen::VectorXd b = Eigen::VectorXd::Ones(n);
    for (int i = 0; i < n; i += 3) b[i] = 0;
    Eigen::VectorXd x = b;
    solver->solve(x.data());
    expect_at_most(error_of(A, x, b), 1e-12, fmt::format("{}: A x - b", choice));
    for (int i = 0; i < n; i += 3) EXPECT_EQ(x[i], 0) << choice;
  }
}

// Condition number of the corrector's matrix in a step of length h.
double condition_in_step(const System& system, double h, const char* solver, IndexForm form) {
  Work initial_work(system), work(system, solver, form);
  const State from = consistent_state(system, 0, InitialPolicy::Check, initial_work);
  State to = from;
  // Far from the solution (at tiny steps the rounding of places hides small residuals), and not allowed to iterate: the corrector
  // leaves its first matrix.
  for (double& lambda : to.lambda) lambda += 1e4;
  CorrectorOptions options;
  options.form = form;
  options.max_iterations = 0;
  Corrector corrector(system, options);
  corrector.prepare(work);
  const Stage stage = newmark_stage(from, h, corrector);
  EXPECT_FALSE(corrector.solve(stage, h, from, to, work).converged());
  return 1 / factorize_with_condition(block_pattern(system.model(), form), *work.solver);
}

TEST(CorrectorMatrix, IsAsWellConditionedAtSmallStepsAsAtLargeOnes) {
  const auto heavy_top = [] {
    ModelBuilder builder;
    add_heavy_top(builder);
    return builder.finish();
  }();
  const auto chain = [] {
    ModelBuilder builder;
    add_chain(builder, 5);
    return builder.finish();
  }();
  struct Case {
    const char* name;
    std::shared_ptr<const Description> description;
    IndexForm form;
  };
  for (const Case& c : {Case{"heavy top", heavy_top, IndexForm::Index3},
                        Case{"heavy top, index 2", heavy_top, IndexForm::Index2},
                        Case{"heavy top, stabilised", heavy_top, IndexForm::Stabilized},
                        Case{"chain of 5", chain, IndexForm::Index3}})
    for (const char* solver : kSolvers) {
      const System system = make_system(c.description);
      std::string table;
      double at_one_hundredth = 0;
      for (double h = 1e-2; h > 0.5e-8; h /= 10) {
        const double condition = condition_in_step(system, h, solver, c.form);
        if (at_one_hundredth == 0) at_one_hundredth = condition;
        table += fmt::format(" {:.0e}: {:.3g} ", h, condition);
        EXPECT_LT(condition, 3 * at_one_hundredth) << c.name << ", " << solver << ", h = " << h;
      }
      fmt::print("  {}, {}, condition number by step:{}\n", c.name, solver, table);
    }
}

}  // namespace
}  // namespace liedyn

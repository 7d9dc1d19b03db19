#include "liedyn/system/matrix_policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Solves that take as many iterations as they are told, on a beam: its matrix is expensive.
class Solves {
 public:
  explicit Solves(const CorrectorOptions& options)
      : policy(options), system_(beam()), work_(system_), at_(described_state(system_)), options_(options) {
    policy.prepare(system_, work_, true, true);
  }

  // One solve: `with_new` iterations if it takes a new matrix, `with_kept` otherwise. Whether it took a new one.
  bool solve(int with_new, int with_kept) {
    policy.begin();
    const bool renewed = policy.assembles_with_residual(0);
    if (renewed) factorize();
    CorrectorOutcome outcome;
    outcome.iterations = renewed ? with_new : with_kept;
    outcome.jacobians = renewed ? 1 : 0;
    policy.end(outcome);
    return renewed;
  }

  // The cost of a matrix, from the iterations that the policy accepts instead of a new one: with a contraction of 1/e, n iterations lead from
  // e^n times the tolerance to the tolerance. Within a solve that has a matrix.
  double cost() const {
    double least = 0, most = 300;
    while (most - least > 1e-9) {
      const double left = (least + most) / 2, now = options_.relative * std::exp(left);
      (policy.is_due(2, now, now * std::exp(1.0)) ? most : least) = left;
    }
    return least - 1;
  }

  void factorize() {
    MatrixRequest request;
    request.force = {0, 0, 1};
    request.row = {1, 0, 0};
    system_.jacobian(at_, work_, {}, request);
    ASSERT_TRUE(policy.factorize(work_));
  }

  MatrixPolicy policy;

 private:
  static System beam() {
    ModelBuilder builder;
    builder.beam("beam", "circle").set("from", {0, 0, 0}).set("to", {2, 0, 0}).set("elements", {4});
    builder.set("radius", {0.1}).set("young", {1e6}).set("density", {1000});
    return make_system(builder.finish());
  }

  System system_;
  Work work_;
  State at_;
  CorrectorOptions options_;
};

CorrectorOptions with(MatrixRenewal renewal) {
  CorrectorOptions options;
  options.renewal = renewal;
  return options;
}

TEST(MatrixPolicy, FullNewtonTakesANewMatrixInEveryIteration) {
  Solves solves(with(MatrixRenewal::EveryIteration));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(solves.solve(2, 2));
  solves.policy.begin();
  solves.factorize();
  EXPECT_TRUE(solves.policy.is_due(1, 1e-9, 1));
}

TEST(MatrixPolicy, ModifiedNewtonKeepsAMatrixThatContractsEnough) {
  Solves solves(with(MatrixRenewal::WhenSlow));
  EXPECT_TRUE(solves.solve(2, 2));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(solves.solve(2, 2));
  solves.policy.begin();
  const MatrixPolicy& policy = solves.policy;
  // The first iteration may do anything but enlarge the residual, later ones have to halve it.
  EXPECT_FALSE(policy.is_due(1, 0.9e-6, 1e-6));
  EXPECT_TRUE(policy.is_due(1, 1.1e-6, 1e-6));
  EXPECT_FALSE(policy.is_due(2, 0.49e-6, 1e-6));
  EXPECT_TRUE(policy.is_due(2, 0.51e-6, 1e-6));
  // With a contraction of 0.4, 12.6 iterations lead from 1e-3 to 1e-8, which makes 15 of 20 with the two before; 15.1 lead from 1e-2.
  EXPECT_FALSE(policy.is_due(2, 1e-3, 1e-3 / 0.4));
  EXPECT_TRUE(policy.is_due(2, 1e-2, 1e-2 / 0.4));
}

// The number of solves with one matrix for which the average cost is least, by trying all.
TEST(MatrixPolicy, ByCostRenewsWhereTheAverageCostIsLeast) {
  const std::function<int(int)> additional_in[] = {[](int k) { return k; }, [](int k) { return k / 3; },
                                                   [](int k) { return k / 8; },
                                                   [](int k) { return k * k / 40; }};
  for (const auto& additional : additional_in) {
    Solves solves(with(MatrixRenewal::ByCost));
    EXPECT_TRUE(solves.solve(1, 1));
    solves.policy.begin();
    const double c = solves.cost();
    EXPECT_GT(c, 2.5);
    const auto average = [&](int n) {
      double sum = c;
      for (int k = 1; k < n; ++k) sum += additional(k);
      return sum / n;
    };
    int best = 1;
    for (int n = 2; n < 200; ++n)
      if (average(n) < average(best)) best = n;
    int with_one_matrix = 1;
    while (!solves.solve(1, 1 + additional(with_one_matrix))) ++with_one_matrix;
    fmt::print("  a matrix costs {:.2f} iterations and serves {} solves; best {}\n", c, with_one_matrix,
               best);
    // The solve that made the average rise is the last one.
    EXPECT_EQ(with_one_matrix, best + 1);
  }
}

TEST(MatrixPolicy, ByCostPausesLongerFromFailureToFailure) {
  Solves solves(with(MatrixRenewal::ByCost));
  std::vector<int> pauses;
  int renewed = 0;
  for (int i = 0; i < 1000; ++i) {
    if (solves.solve(1, 100)) {
      ++renewed;
    } else {
      pauses.push_back(renewed);
      renewed = 0;
    }
  }
  // Before the first kept matrix one solve makes it. A pause of n solves ends with a matrix that the next solve tries.
  const std::vector<int> first(pauses.begin(), pauses.begin() + 8);
  EXPECT_EQ(first, (std::vector<int>{1, 2, 4, 8, 16, 32, 64, 64}));
}

TEST(MatrixPolicy, AMatrixOfAnotherStageOrOtherRowsIsForeign) {
  MatrixPolicy policy{CorrectorOptions{}};
  const Stage stage{.c_1 = 1e-6, .c_2 = 0, .c_v = 1e-3};
  EXPECT_TRUE(policy.is_foreign(stage, {}));
  policy.note_assembled(stage, {2});
  EXPECT_FALSE(policy.is_foreign(stage, {2}));
  EXPECT_TRUE(policy.is_foreign(stage, {}));
  EXPECT_TRUE(policy.is_foreign({.c_1 = 1e-6, .c_2 = 0, .c_v = 2e-3}, {2}));
}

}  // namespace
}  // namespace liedyn

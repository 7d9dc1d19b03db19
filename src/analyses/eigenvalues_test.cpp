#include "liedyn/analyses/eigenvalues.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "liedyn/base/decompositions.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;

// Blocks on the diagonal, turned by an orthogonal matrix: in A itself the slow ones drown in the round-off of the fast ones.
struct Blocks {
  std::vector<MatrixXd> blocks;
  Eigen::Index size = 0;
  MatrixXd Q;

  void add(const MatrixXd& block) {
    blocks.push_back(block);
    size += block.rows();
  }
  void add_oscillator(double omega, double ratio) {
    // Rates in units of omega.
    add((MatrixXd(2, 2) << 0, omega, -omega, -2 * ratio * omega).finished());
  }
  void add_chain(Eigen::Index length, double link) {
    MatrixXd block = MatrixXd::Zero(length, length);
    for (Eigen::Index i = 1; i < length; ++i) block(i - 1, i) = link;
    add(block);
  }
  void turn(unsigned seed) {
    Random random(seed);
    MatrixXd X(size, size);
    for (double& x : X.reshaped()) x = random.between(-1, 1);
    Q = X.householderQr().householderQ();
  }
  template <class F>
  MatrixXd each(const F& f) const {
    MatrixXd out = MatrixXd::Zero(size, size);
    Eigen::Index at = 0;
    for (const MatrixXd& block : blocks) {
      out.block(at, at, block.rows(), block.rows()) = f(block);
      at += block.rows();
    }
    return Q * out * Q.transpose();
  }
  EigenProblem problem() const {
    EigenProblem out;
    out.size = size;
    const Eigen::VectorXd one = Eigen::VectorXd::Ones(size);
    out.matrix = [this, one] { return Balanced{each([](const MatrixXd& b) { return b; }), one}; };
    out.inverse = [this, one](double t) -> std::optional<Balanced> {
      const auto inverse = [&](const MatrixXd& b) -> MatrixXd {
        return (b - t * MatrixXd::Identity(b.rows(), b.rows())).inverse();
      };
      const MatrixXd T = each(inverse);
      if (!T.allFinite()) return {};
      return Balanced{T, one};
    };
    out.is_round_off = [](double, const Eigen::VectorXcd&) { return false; };
    return out;
  }
};

void expect_all(const Blocks& blocks, const std::vector<Complex>& expected, int zeros, Eigen::Index at_rest,
                const std::string& what) {
  const Eigenvalues found = all_eigenvalues(blocks.problem());
  EXPECT_TRUE(found.consistent) << what;
  EXPECT_EQ(found.zeros, zeros) << what;
  EXPECT_EQ(found.at_rest.cols(), at_rest) << what;
  ASSERT_EQ(found.found.values.size() + found.zeros, blocks.size) << what;
  for (const Complex& s : expected) {
    const double nearest = (found.found.values.array() - s).abs().minCoeff();
    expect_at_most(nearest / std::abs(s), 1e-7,
                   fmt::format("{}: eigenvalue {:.4g} {:+.4g} i", what, s.real(), s.imag()));
  }
}

TEST(Eigenvalues, SpreadOverManyOrdersOfMagnitudeAreAllFound) {
  for (const double slowest : {1e2, 1e-1, 1e-4, 1e-7}) {
    Blocks blocks;
    std::vector<Complex> expected;
    for (double omega = slowest; omega < 2e7; omega *= 7.3) {
      blocks.add_oscillator(omega, 0.3);
      expected.push_back(omega * Complex(-0.3, std::sqrt(1 - 0.09)));
    }
    blocks.turn(1);
    expect_all(blocks, expected, 0, 0, fmt::format("{} eigenvalues from {} on", blocks.size, slowest));
  }
}

TEST(Eigenvalues, ZerosAreCountedWithTheirMultiplicity) {
  for (const double slowest : {1e3, 1.0, 1e-3}) {
    Blocks blocks;
    std::vector<Complex> expected;
    for (const double s : {-1.0, 3.0, -40.0}) {
      blocks.add(MatrixXd::Constant(1, 1, s * slowest));
      expected.emplace_back(s * slowest);
    }
    for (const double omega : {1e4, 2e6}) {
      blocks.add_oscillator(omega, 0);
      expected.emplace_back(0, omega);
    }
    blocks.add_chain(1, 0);
    blocks.add_chain(2, 0.5);
    blocks.add_chain(3, 2);
    blocks.turn(2);
    expect_all(blocks, expected, 6, 3, fmt::format("slowest {}", slowest));
  }
}

TEST(Eigenvalues, NothingButZeros) {
  Blocks blocks;
  blocks.add_chain(2, 1);
  blocks.add_chain(3, 1);
  blocks.turn(3);
  const Eigenvalues found = all_eigenvalues(blocks.problem());
  EXPECT_EQ(found.zeros, 5);
  EXPECT_EQ(found.at_rest.cols(), 2);
}

}  // namespace
}  // namespace liedyn

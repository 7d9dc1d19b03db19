#include "liedyn/analyses/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

// Relative errors are about eps (s/largest)^-2, and eps (s/t)^2 or eps (t/s)^2 with a shift t: 1e-8 at these ratios.
constexpr double kAccurate = 1e-4;
// Below this part of the shift are zeros, defective ones being torn apart by roots of round-off, and what a smaller shift resolves.
constexpr double kUnresolved = 1e-3;
// Of neighbours on both sides of a gap the slower is at most this part of the faster.
constexpr double kGap = 0.1;
// Of the fastest: a slower one is zero.
constexpr double kEpsilon = 1e-15;

struct Item {
  double speed;  // |s|
  Complex value;
  VectorXcd vector;
};
using Items = std::vector<Item>;  // by speed

// Q^T W Q = [N *; 0 R] with all zeros of W in N, strictly upper triangular: what W maps to zero, then what it maps to that, and so on.
struct Staircase {
  MatrixXd Q, W;
  Index zeros = 0, at_rest = 0,
        steps = 0;  // the first `at_rest` are mapped to 0; the longest chain has `steps`
};
Staircase zero_staircase(const MatrixXd& given) {
  constexpr double kZero = 1e-12;  // round-off, in units of W
  const Index n = given.rows();
  Staircase out{MatrixXd::Identity(n, n), given};
  const double nothing = kZero * std::max(1.0, given.norm());
  while (out.zeros < n) {
    const Index rest = n - out.zeros;
    // W^T P = V R: what stands at the end of V is mapped to the end of the diagonal of R.
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(out.W.bottomRightCorner(rest, rest).transpose());
    Index count = 0;
    while (count < rest && std::abs(qr.matrixQR()(rest - 1 - count, rest - 1 - count)) <= nothing) ++count;
    if (count == 0) break;
    const MatrixXd V = MatrixXd(qr.householderQ()).rowwise().reverse();
    out.Q.rightCols(rest) = out.Q.rightCols(rest).eval() * V;
    out.W.rightCols(rest) = out.W.rightCols(rest).eval() * V;
    out.W.bottomRows(rest) = V.transpose() * out.W.bottomRows(rest).eval();
    out.W.block(out.zeros, out.zeros, rest, count).setZero();
    out.zeros += count;
    if (out.steps++ == 0) out.at_rest = count;
  }
  return out;
}

class EigenvalueSearch {
 public:
  explicit EigenvalueSearch(const EigenProblem& problem) : problem_(problem) {}

  Eigenvalues run() {
    Eigenvalues out;
    out.found.vectors.resize(problem_.size, 0);
    out.at_rest.resize(problem_.size, 0);
    if (problem_.size == 0) return out;
    const Balanced A = problem_.matrix();
    items_ = spectrum(A.A, A.D.asDiagonal(), [](Complex value) { return value; });
    // Where all are zero, what was found is round-off: of A.
    const double norm = A.A.norm() / std::sqrt(static_cast<double>(problem_.size));
    const double fastest = std::max(items_.back().speed, problem_.squares ? std::sqrt(norm) : norm);
    zeros_ = fastest > 0 ? 0 : items_.size();
    if (fastest > 0 && items_.front().speed < kAccurate * fastest) find_slow_ones(fastest);
    out.consistent = consistent_;
    if (zeros_ > 0) out.at_rest = vectors_at_rest(fastest);
    out.zeros = static_cast<int>(zeros_) * (problem_.squares ? 2 : 1);
    const auto rest = static_cast<Index>(items_.size() - zeros_);
    out.found.values.resize(rest);
    out.found.vectors.resize(problem_.size, rest);
    for (Index i = 0; i < rest; ++i) {
      const Item& item = items_[zeros_ + static_cast<std::size_t>(i)];
      out.found.values[i] = item.value;
      out.found.vectors.col(i) = item.vector;
    }
    return out;
  }

 private:
  double speed(Complex value) const {
    return problem_.squares ? std::sqrt(std::abs(value)) : std::abs(value);
  }
  // theta = 1/(value - shift)
  auto shifted_by(double t) const {
    const double shift = problem_.squares ? t * t : t;
    return [shift](Complex theta) {
      return std::abs(theta) > 0 ? shift + 1.0 / theta : Complex(std::numeric_limits<double>::infinity(), 0);
    };
  }

  // Of vectors in a basis.
  template <class Basis, class ValueOf>
  Items spectrum(const MatrixXd& A, const Basis& basis, ValueOf&& value_of) const {
    if (!A.allFinite()) throw std::runtime_error("the linearised equations are not finite");
    Items out;
    const auto add = [&](const auto& solver) {
      if (solver.info() != Eigen::Success) throw std::runtime_error("the eigenvalue solver did not converge");
      const VectorXcd theta = solver.eigenvalues().template cast<Complex>();
      const MatrixXcd vectors = solver.eigenvectors().template cast<Complex>();
      for (Index i = 0; i < theta.size(); ++i) {
        const Complex value = value_of(theta[i]);
        out.push_back({speed(value), value, basis * VectorXcd(vectors.col(i))});
      }
    };
    if (problem_.squares)
      add(Eigen::SelfAdjointEigenSolver<MatrixXd>(MatrixXd(0.5 * (A + A.transpose()))));
    else
      add(Eigen::EigenSolver<MatrixXd>(A));
    std::stable_sort(out.begin(), out.end(), [](const Item& a, const Item& b) { return a.speed < b.speed; });
    return out;
  }

  static std::size_t below(const Items& items, double speed) {
    return static_cast<std::size_t>(
        std::partition_point(items.begin(), items.end(),
                             [&](const Item& item) { return item.speed < speed; }) -
        items.begin());
  }

  // How many are slower, up to a gap at `speed` or below.
  std::size_t below_gap(double speed) const {
    std::size_t count = below(items_, speed);
    while (count > 0 && count < items_.size() && items_[count - 1].speed > kGap * items_[count].speed)
      --count;
    return count;
  }

  // What is slower than about `about` is taken from `lower`. Both have all eigenvalues: the boundary is in a wide gap, below which both have the same number.
  void merge(Items lower, double about) {
    constexpr double kClose = 30;
    double boundary = std::numeric_limits<double>::infinity(), widest = 0;
    bool close = false;
    for (std::size_t i = 0; i <= items_.size(); ++i) {
      const double left = std::max(i == 0 ? 0 : items_[i - 1].speed, about / kClose);
      double right = i == items_.size() ? std::numeric_limits<double>::infinity() : items_[i].speed;
      if (right <= left) continue;
      if (left >= about * kClose && (close || boundary < left)) break;
      const bool here = left < about * kClose;
      if (here) right = std::min(right, about * kClose);
      const double middle = std::isfinite(right) ? std::sqrt(left * right) : 2 * left;
      if (below(lower, middle) != i) continue;
      if (here ? right / left > widest : !close) {
        boundary = middle;
        widest = right / left;
      }
      close = close || here;
      if (!here) break;
    }
    // None: the slow part as it is found from below, since from above zeros may look like anything.
    if (!std::isfinite(boundary)) consistent_ = false;
    const std::size_t from_below = below(lower, boundary);
    std::move(lower.begin(), lower.begin() + static_cast<std::ptrdiff_t>(from_below), items_.begin());
  }

  std::optional<Balanced> inverse(double& t) const {
    const auto at = [&] {
      std::optional<Balanced> out = problem_.inverse(t);
      if (out && !out->A.allFinite()) out.reset();
      return out;
    };
    std::optional<Balanced> out = at();
    // A shift that meets an eigenvalue is as good as none.
    for (int attempt = 0; attempt < 3 && !out && t > 0; ++attempt) {
      t *= 1.37;
      out = at();
    }
    return out;
  }
  Subspace slowest(const Balanced& T, std::size_t count) const {
    return dominant_subspace([&](const MatrixXd& X) -> MatrixXd { return T.A * X; }, problem_.size,
                             static_cast<Index>(count));
  }
  bool refine(double t, double about) {
    const std::optional<Balanced> T = inverse(t);
    if (!T) return false;
    merge(spectrum(T->A, T->D.asDiagonal(), shifted_by(t)), about);
    return true;
  }

  // The `count` slowest of them by a shift below all others, in place of those there are.
  bool refine_slowest(double t, std::size_t count) {
    const std::optional<Balanced> T = inverse(t);
    if (!T) return false;
    const Subspace slow = slowest(*T, count);
    Items found = spectrum(slow.H, T->D.asDiagonal() * slow.X, shifted_by(t));
    std::move(found.begin(), found.end(), items_.begin());
    return true;
  }

  // The slowest speed, if there is no zero.
  std::optional<double> slowest_without_zeros(double fastest) const {
    double t = 0;
    const std::optional<Balanced> T = inverse(t);
    if (!T) return {};
    const Subspace slow = slowest(*T, std::min<std::size_t>(items_.size(), 4));
    const Items found = spectrum(slow.H, T->D.asDiagonal() * slow.X, shifted_by(0));
    for (const Item& item : found)
      if (item.speed < kEpsilon * fastest || problem_.is_round_off(item.speed, item.vector)) return {};
    return found.front().speed;
  }

  void find_slow_ones(double fastest) {
    if (const std::optional<double> slowest = slowest_without_zeros(fastest)) {
      // From both ends, and from the middle where these do not reach it.
      double upper = fastest;
      if (*slowest < kAccurate * kAccurate * fastest) {
        const double middle = std::sqrt(fastest * *slowest);
        if (refine(middle, std::sqrt(fastest * middle))) upper = middle;
      }
      if (refine(0, std::sqrt(upper * *slowest))) return;
    }
    if (problem_.squares || !split_at_gap(fastest)) zeros_ = what_no_shift_resolves(fastest);
    // Those that were resolved, but mean nothing.
    while (zeros_ < items_.size() && problem_.is_round_off(items_[zeros_].speed, items_[zeros_].vector))
      ++zeros_;
  }

  std::size_t what_no_shift_resolves(double fastest) {
    constexpr int kLevels = 8;
    double t = 0.1 * kAccurate * fastest;
    if (!refine(t, kAccurate * fastest)) {
      consistent_ = false;
      return 0;
    }
    std::size_t unresolved = below(items_, kUnresolved * t);
    if (unresolved == 0) return 0;
    // With a shift as slow as the slowest of the others these are found with all digits.
    if (unresolved < items_.size())
      if (const double next = items_[unresolved].speed;
          next < 0.03 * t && refine(next, std::sqrt(next * t))) {
        t = next;
        unresolved = below(items_, kUnresolved * t);
      }
    for (int level = 0; level < kLevels && unresolved > 0; ++level) {
      if (all_round_off(unresolved, kUnresolved * t)) break;
      const double next = unresolved < items_.size() ? items_[unresolved].speed : t;
      t = std::min(kUnresolved * t, 1e-2 * next);
      if (t < kEpsilon * fastest) break;
      if (!refine_slowest(t, unresolved)) break;
      unresolved = below(items_, kUnresolved * t);
    }
    return unresolved;
  }

  // Where A itself gives all that is not zero, or zeros have long chains, which rounding tears apart the further the slower a shift is. With a shift t as slow as the slowest
  // of those that A gives, W = A (A - t)^-1 = 1 + t (A - t)^-1 has the zeros of A with their chains, linked by numbers of the order of 1, and the eigenvalues s/(s - t)
  // beside them. False: there is no such gap, or it is not known that all below it is zero.
  bool split_at_gap(double fastest) {
    constexpr Index kLong = 3;
    constexpr double kInaccurate = 5e-7;
    const std::size_t slow = below_gap(10 * kAccurate * fastest);
    const double next = slow < items_.size() ? items_[slow].speed : fastest;
    if (slow == 0 || next < kAccurate * fastest) return false;
    double t = kGap * next;
    const std::optional<Balanced> T = inverse(t);
    if (!T) return false;
    const Subspace subspace = slowest(*T, slow);
    const Staircase stairs =
        zero_staircase(MatrixXd::Identity(subspace.H.rows(), subspace.H.rows()) + t * subspace.H);
    zeros_ = static_cast<std::size_t>(stairs.zeros);
    if (zeros_ < slow && stairs.steps < kLong) return false;
    replace_slowest(stairs, T->D.asDiagonal() * subspace.X, t);
    at_rest_ = T->D.asDiagonal() * (subspace.X * stairs.Q.leftCols(stairs.at_rest));
    split_zeros_ = zeros_;
    if (zeros_ < slow && items_[zeros_].speed < kInaccurate * t) consistent_ = false;
    return true;
  }

  // The eigenvalues in the subspace X of (A - t)^-1, zeros first.
  void replace_slowest(const Staircase& stairs, const MatrixXd& X, double t) {
    const Index n = stairs.W.rows(), z = stairs.zeros, rest = n - z;
    const MatrixXcd basis = (X * stairs.Q).cast<Complex>();
    Items found;
    for (Index i = 0; i < z; ++i) found.push_back({0, 0, basis.col(i)});
    if (rest > 0) {
      const Eigen::EigenSolver<MatrixXd> eigen(MatrixXd(stairs.W.bottomRightCorner(rest, rest)));
      if (eigen.info() != Eigen::Success) throw std::runtime_error("the eigenvalue solver did not converge");
      const MatrixXcd vectors = eigen.eigenvectors(),
                      nilpotent = stairs.W.topLeftCorner(z, z).cast<Complex>(),
                      beside = stairs.W.topRightCorner(z, rest).cast<Complex>();
      for (Index i = 0; i < rest; ++i) {
        const Complex w = eigen.eigenvalues()[i], s = t * w / (w - 1.0);
        // W (x1, x2) = w (x1, x2)
        VectorXcd x(n);
        x.tail(rest) = vectors.col(i);
        const MatrixXcd N = w * MatrixXcd::Identity(z, z) - nilpotent;
        x.head(z) = N.triangularView<Eigen::Upper>().solve(VectorXcd(beside * vectors.col(i)));
        found.push_back({std::abs(s), s, basis * x.normalized()});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Item& a, const Item& b) { return a.speed < b.speed; });
    std::move(found.begin(), found.end(), items_.begin());
  }

  bool all_round_off(std::size_t count, double speed) const {
    return std::all_of(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const Item& item) { return problem_.is_round_off(speed, item.vector); });
  }

  MatrixXd vectors_at_rest(double fastest) const {
    if (zeros_ == split_zeros_) return at_rest_;
    if (zeros_ == items_.size() && problem_.squares) return MatrixXd::Identity(problem_.size, problem_.size);
    const double next = zeros_ < items_.size() ? items_[zeros_].speed : fastest > 0 ? fastest : 1;
    // Far below the others, unless t^2 M is round-off there.
    double t = 0;
    std::optional<Balanced> T;
    for (const double part : {1e-2, 1e-1, 1.0})
      if (!T) T = inverse(t = part * next);
    if (!T) return MatrixXd(problem_.size, 0);
    const Subspace slow = slowest(*T, zeros_);
    return T->D.asDiagonal() * (problem_.squares ? slow.X : at_rest_in(slow, t));
  }

  const EigenProblem& problem_;
  Items items_;
  std::size_t zeros_ = 0;        // the first of the items
  std::size_t split_zeros_ = 0;  // of split_at_gap, with their vectors
  MatrixXd at_rest_;
  bool consistent_ = true;
};

}  // namespace

Balanced balanced(const MatrixXd& A, Index first) {
  // Parlett and Reinsch: powers of 2, so that nothing is rounded, until the norm of each row is about that of its column. A coordinate that only drives others, or is
  // only driven, becomes as large as they are.
  constexpr int kSweeps = 100;
  Balanced out{A, VectorXd::Ones(A.rows())};
  const double others = first > 0 ? A.topLeftCorner(first, first).norm() : 0;
  bool done = false;
  for (int sweep = 0; sweep < kSweeps && !done; ++sweep) {
    done = true;
    for (Index i = first; i < A.rows(); ++i) {
      const double own = std::abs(out.A(i, i));
      double row = out.A.row(i).lpNorm<1>() - own, column = out.A.col(i).lpNorm<1>() - own;
      if (!(row > 0) && !(column > 0)) continue;
      if (!(row > 0 && column > 0)) {
        if (others == 0) continue;
        // One sweep is enough: the product of both is that of the others.
        if (sweep > 0) continue;
        (row > 0 ? column : row) = others * others / (row > 0 ? row : column);
      }
      const double factor = std::exp2(std::round(0.5 * std::log2(row / column)));
      if (factor == 1 || row / factor + column * factor > 0.95 * (row + column)) continue;
      out.D[i] *= factor;
      out.A.row(i) /= factor;
      out.A.col(i) *= factor;
      done = false;
    }
  }
  return out;
}

Eigenvalues all_eigenvalues(const EigenProblem& problem) { return EigenvalueSearch(problem).run(); }

Subspace dominant_subspace(const std::function<MatrixXd(const MatrixXd&)>& T, Index size, Index count) {
  constexpr int kMost = 30;
  constexpr double kConverged = 1e-15;
  // Without directions that happen to be missing.
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(-1, 1);
  const auto orthonormal = [&](const MatrixXd& X) -> MatrixXd {
    return Eigen::HouseholderQR<MatrixXd>(X).householderQ() * MatrixXd::Identity(size, X.cols());
  };
  MatrixXd X(size, count);
  for (double& x : X.reshaped()) x = anywhere(random);
  X = orthonormal(T(orthonormal(X)));
  Subspace out;
  double before = std::numeric_limits<double>::infinity(), last = before;
  for (int i = 0; i < kMost; ++i) {
    const MatrixXd TX = T(X);
    out.H = X.transpose() * TX;
    out.X = X;
    const double rest = (TX - X * out.H).norm() / std::max(TX.norm(), 1e-300);
    // Until rounding stops it; a pair of eigenvalues that is left turns, so that only every other step compares.
    if (rest <= kConverged || (rest < 1e-8 && rest > 0.5 * before)) break;
    before = last;
    last = rest;
    X = orthonormal(TX);
  }
  return out;
}

MatrixXd at_rest_in(const Subspace& subspace, double shift) {
  // A X = X (shift + H^-1), nilpotent; in units of the shift a motion and its rate are linked by numbers of the order of 1. Round-off is far below, but no
  // constant says how far: the singular values are parted where two neighbours differ most.
  constexpr double kLink = 1e-3, kNothing = 1e-2, kRoundOff = 1e-6;
  const Index n = subspace.H.rows();
  const MatrixXd A = MatrixXd::Identity(n, n) + MatrixXd(subspace.H.inverse()) / shift;
  const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullV);
  const VectorXd& sigma = svd.singularValues();
  Index count = 1;
  double widest = 0;
  for (Index c = 1; c <= n; ++c) {
    const double link = c < n ? sigma[n - 1 - c] : 1, nothing = sigma[n - c];
    if (link < kLink || nothing > kNothing) continue;
    if (const double gap = link / std::max(nothing, kRoundOff); gap > widest) {
      widest = gap;
      count = c;
    }
  }
  return subspace.X * svd.matrixV().rightCols(count);
}

}  // namespace liedyn

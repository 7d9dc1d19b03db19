#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

// GCC 12 mistakes a reallocation in this library for a use after free.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif
#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/SymGEigsShiftSolver.h>

#include "liedyn/analyses/eigenvalues.h"
#include "liedyn/analyses/mode_pairs.h"
#include "liedyn/analyses/stiffness_scale.h"
#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

// The smallest shift s for which s^2 M is no round-off beside what the stiffnesses of motions y are made of.
double least_shift(const SparseMatrix& M, const VectorXd& scale, const MatrixXcd& y) {
  constexpr double kClear = 1e-10;
  double out = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const double inertia = y.col(i).dot(VectorXcd(M * y.col(i))).real();
    if (inertia > 0) out = std::max(out, kClear * scale.dot(y.col(i).cwiseAbs2()) / inertia);
  }
  return std::sqrt(out);
}

// (K - sigma M)^-1 on the admissible motions, and M, as Spectra wants them. Without what is found already: T (1 - Q Q^T) has the other eigenvalues of T, if Q spans an invariant
// subspace of it. A vector of Krylov's method finds one vector of a multiple eigenvalue.
struct InverseStiffness {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  Eigen::Index size;
  MatrixXd Q = {}, MQ = {};  // Q^T M Q = 1
  Eigen::Index rows() const { return size; }
  Eigen::Index cols() const { return size; }
  void set_shift(double) {}  // factorised already
  void perform_op(const double* x, double* y) const {
    if (Q.cols() == 0) return matrix->solve(x, nullptr, y);
    const Eigen::Map<const VectorXd> force(x, size);
    Eigen::Map<VectorXd> out(y, size);
    matrix->solve(VectorXd(force - MQ * (Q.transpose() * force)).data(), nullptr, y);
    out -= Q * VectorXd(MQ.transpose() * out);
  }
};
struct Mass {
  using Scalar = double;
  const SparseMatrix* M;
  Eigen::Index rows() const { return M->rows(); }
  Eigen::Index cols() const { return M->cols(); }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<VectorXd>(y, rows()).noalias() = *M * Eigen::Map<const VectorXd>(x, cols());
  }
};
struct DeflatedFirstOrder {
  using Scalar = double;
  InverseFirstOrder inverse;
  MatrixXd Q = {};  // orthonormal
  Eigen::Index rows() const { return inverse.rows(); }
  Eigen::Index cols() const { return inverse.cols(); }
  void set_shift(double) {}
  void perform_op(const double* x, double* y) const {
    if (Q.cols() == 0) return inverse.perform_op(x, y);
    const Eigen::Map<const VectorXd> in(x, rows());
    Eigen::Map<VectorXd> out(y, rows());
    inverse.perform_op(VectorXd(in - Q * (Q.transpose() * in)).data(), y);
    out -= Q * VectorXd(Q.transpose() * out);
  }
};

// An orthonormal basis of the columns, without those that depend on the others.
MatrixXd basis_of(const MatrixXd& columns) {
  constexpr double kDependent = 1e-8;
  if (columns.cols() == 0) return columns;
  MatrixXd scaled = columns;
  for (Eigen::Index i = 0; i < scaled.cols(); ++i)
    if (const double length = scaled.col(i).norm(); length > 0) scaled.col(i) /= length;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(scaled);
  qr.setThreshold(kDependent);
  return qr.householderQ() * MatrixXd::Identity(columns.rows(), qr.rank());
}

// The eigenvalues nearest to zero, from the inverse there. If that does not exist, since there are motions that nothing resists, the shift is a real one as
// small as the slowest of the others, so that these are found with all digits.
class ModeSearch {
 public:
  ModeSearch(const Model& model, const Linearization& l, const VectorXd& scale, int count, double time,
             const std::vector<int>& dependent)
      : l_(l),
        round_off_{&l, &scale},
        scale_(scale),
        count_(count),
        n_(static_cast<int>(l.M.rows())),
        time_(time),
        matrix_(model, l, dependent) {
    const double stiffness = l.K.norm(), inertia = l.M.norm();
    // That of the bodies, where they have one: states may be far faster.
    const double of_bodies = pace_of(l.first_state);
    pace_ = of_bodies > 0 ? of_bodies : pace_of(n_);
    symmetric_ = l.is_plain() && l.C.norm() <= kSymmetric * pace_ * inertia &&
                 antisymmetric_part(l.K).norm() <= kSymmetric * stiffness;
  }

  int zeros = 0;
  bool all_zeros = true;

  std::vector<ModePair> run() {
    constexpr int kShifts = 6;
    constexpr double kFar = 1e-2;
    if (!matrix_.factorize(0)) shift_away();
    for (int shifts = 1;; ++shifts) {
      std::vector<Found> found = symmetric_ ? squares() : first_order();
      if (s_ == 0) {
        // Round-off may hide that the stiffness is singular.
        if (std::none_of(found.begin(), found.end(), [&](const Found& f) { return is_zero(f); }))
          return finished(std::move(found), 0);
        shift_away();
        continue;
      }
      double slowest = INFINITY, least = 0;
      for (const Found& f : found)
        if (is_zero(f))
          least = std::max(least, least_shift(l_.M, scale_, f.pair.y));
        else
          slowest = std::min(slowest, std::abs(f.pair.s));
      const double before = s_;
      const bool good = shifts == kShifts || !std::isfinite(slowest) || slowest >= kFar * s_;
      if (!good) s_ = std::max({slowest, kDefective * s_, least});
      if (good || !(s_ < kFar * before) || !matrix_.factorize(s_)) {
        if (!good) shift_back(before);
        return finished(std::move(found), slowest);
      }
    }
  }

 private:
  static constexpr int kIterations = 1000;
  static constexpr double kPrecision = 1e-13, kShift = 1e-3, kDefective = 1e-5, kUnresolved = 1e-3;

  struct Found {
    ModePair pair;
    VectorXcd vector;  // as the operator has it: y, or (y, y'/w)
  };

  double pace_of(int size) const {
    const auto norm_of = [&](const SparseMatrix& X) {
      return SparseMatrix(X.block(0, 0, size, size)).norm();
    };
    const double inertia = norm_of(l_.M);
    return inertia == 0 ? 0 : std::max(std::sqrt(norm_of(l_.K) / inertia), norm_of(l_.C) / inertia);
  }
  void shift_away() {
    s_ = kShift * pace_;
    while (!matrix_.factorize(s_))
      if ((s_ *= 10) > 10 * pace_ || s_ == 0)
        throw NumericalError(time_,
                             "no motion of the model has stiffness or inertia: its stiffness matrix is "
                             "singular with every shift");
  }
  // To a shift that was possible before.
  void shift_back(double s) {
    s_ = s;
    if (!matrix_.factorize(s_))
      throw NumericalError(time_, fmt::format("the stiffness matrix with the shift {:.3g} is singular", s));
  }
  bool is_zero(const Found& f) const {
    const double speed = std::abs(f.pair.s);
    return (s_ > 0 && speed <= kDefective * s_) || round_off_(speed, f.pair.y);
  }
  Found square(double value, const VectorXd& y) const {
    // s of s^2 = -value: of +-s one is enough here.
    return {{std::sqrt(Complex(-value)), y.cast<Complex>(), false}, y.cast<Complex>()};
  }
  Found first(Complex value, const VectorXcd& vector) const {
    return {{value, shape_of(l_, value, vector.head(n_), w_ * vector.tail(n_)), false}, vector};
  }

  std::vector<Found> squares() const {
    std::vector<Found> out;
    const int wanted = std::min(count_, n_ - 2), basis = std::min(n_, std::max(2 * wanted + 1, 20));
    InverseStiffness inverse{&matrix_, n_};
    Mass mass{&l_.M};
    Spectra::SymGEigsShiftSolver<InverseStiffness, Mass, Spectra::GEigsMode::ShiftInvert> solver(
        inverse, mass, wanted, basis, -s_ * s_);
    VectorXd start = VectorXd::Ones(n_);
    inverse.perform_op(VectorXd(l_.M * start).data(), start.data());
    solver.init(start.data());
    if (solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision) == 0) return out;
    const VectorXd values = solver.eigenvalues();
    const MatrixXd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < values.size(); ++i) out.push_back(square(values[i], shapes.col(i)));
    return out;
  }

  VectorXd admissible_start(const InverseFirstOrder& inverse) const {
    VectorXd start = VectorXd::Ones(2 * n_), admissible(2 * n_);
    // Three times, until nothing is left of what the constraints forbid.
    inverse.perform_op(start.data(), admissible.data());
    inverse.perform_op(admissible.data(), start.data());
    inverse.perform_op(start.data(), admissible.data());
    return admissible;
  }
  std::vector<Found> first_order() {
    std::vector<Found> out;
    const int wanted = std::min(2 * count_, 2 * n_ - 3),
              basis = std::min(2 * n_, std::max(2 * wanted + 1, 20));
    // Rates in units of the slowest motions, as far as a few steps of the power method know them.
    w_ = pace_;
    if (l_.states() == 0) {
      const InverseStiffness power{&matrix_, n_};
      VectorXd x = VectorXd::Ones(n_), y(n_);
      for (int i = 0; i < 3 && x.norm() > 0; ++i) {
        x.normalize();
        power.perform_op(VectorXd(l_.M * x).data(), y.data());
        std::swap(x, y);
      }
      if (x.norm() > 0) w_ = std::min(pace_, 1 / std::sqrt(x.norm()));
    }
    DeflatedFirstOrder inverse{{&matrix_, &l_, s_, w_}};
    Spectra::GenEigsRealShiftSolver<DeflatedFirstOrder> solver(inverse, wanted, basis, s_);
    solver.init(admissible_start(inverse.inverse).data());
    // With damping in proportion to the stiffness many eigenvalues are close to -1/damping, and cannot be told from each other: the slower ones are found.
    if (solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision) == 0) return out;
    const VectorXcd eigenvalues = solver.eigenvalues();
    const MatrixXcd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < eigenvalues.size(); ++i)
      if (eigenvalues[i].imag() >= 0) out.push_back(first(eigenvalues[i], shapes.col(i)));
    return out;
  }

  // Zeros: the slowest invariant subspace at a shift far below the slowest motion that is none. `found` has some of them.
  MatrixXd zero_subspace(double slowest, std::vector<ModePair>& out) {
    constexpr Eigen::Index kMost = 128;
    const double before = s_;
    const Eigen::Index size = symmetric_ ? n_ : 2 * n_;
    if (std::isfinite(slowest)) s_ = std::min(s_, 1e-2 * slowest);
    if (s_ != before && !matrix_.factorize(s_)) shift_back(before);
    const auto T = [&](const MatrixXd& X) -> MatrixXd {
      MatrixXd TX(X.rows(), X.cols());
      const InverseFirstOrder inverse{&matrix_, &l_, s_, w_};
      for (Eigen::Index i = 0; i < X.cols(); ++i)
        if (symmetric_)
          matrix_.solve(VectorXd(-(l_.M * X.col(i))).data(), nullptr, TX.col(i).data());
        else
          inverse.perform_op(VectorXd(X.col(i)).data(), TX.col(i).data());
      return TX;
    };
    const double shift = symmetric_ ? s_ * s_ : s_;
    const double bound = symmetric_ ? kUnresolved * kUnresolved : kUnresolved;
    Eigen::Index count = 0;
    Subspace slow;
    for (Eigen::Index block = 8;; block = std::min(2 * block, size)) {
      slow = dominant_subspace(T, size, std::min(block, size));
      const Eigen::EigenSolver<MatrixXd> eigen(slow.H);
      count = 0;
      for (Eigen::Index i = 0; i < eigen.eigenvalues().size(); ++i) {
        const Complex value = shift + 1.0 / eigen.eigenvalues()[i];
        const VectorXcd vector = slow.X * VectorXcd(eigen.eigenvectors().col(i));
        if (std::abs(value) <= bound * shift ||
            round_off_(symmetric_ ? std::sqrt(std::abs(value)) : std::abs(value), VectorXcd(vector.head(n_))))
          ++count;
      }
      all_zeros = count < slow.H.cols() || count == size;
      if (all_zeros || slow.H.cols() >= std::min(kMost, size)) break;
    }
    MatrixXd out_of(size, 0);
    if (count > 0) {
      if (count < slow.H.cols()) slow = dominant_subspace(T, size, count);
      const MatrixXd rest = symmetric_ ? slow.X : at_rest_in(slow, s_);
      for (Eigen::Index i = 0; i < rest.cols(); ++i) {
        const VectorXcd vector = rest.col(i).cast<Complex>();
        out.push_back(
            {0, symmetric_ ? vector : shape_of(l_, 0, vector.head(n_), w_ * vector.tail(n_)), true});
      }
      out_of = slow.X;
    }
    zeros = static_cast<int>(count) * (symmetric_ ? 2 : 1);
    if (s_ != before) shift_back(before);
    return out_of;
  }

  // Others of multiple eigenvalues: what the operator has left without those that were found.
  void add_missing(const MatrixXd& zero, std::vector<Found>& found) const {
    constexpr int kRounds = 20, kFew = 4;
    constexpr double kSame = 1e-9;
    if (found.empty()) return;
    double farthest = 0;
    for (const Found& f : found) farthest = std::max(farthest, distance(f.pair.s));
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<Found> more =
          symmetric_ ? other_squares(zero, found, kFew) : other_first(zero, found, kFew);
      bool any = false;
      for (const Found& f : more)
        if (distance(f.pair.s) <= (1 + kSame) * farthest && !is_zero(f)) {
          found.push_back(f);
          any = true;
        }
      if (!any) return;
    }
  }
  double distance(Complex s) const { return symmetric_ ? std::abs(s * s - s_ * s_) : std::abs(s - s_); }

  static MatrixXd columns_of(const MatrixXd& zero, const std::vector<Found>& found, bool complex) {
    MatrixXd out(found.front().vector.size(),
                 zero.cols() + static_cast<Eigen::Index>(found.size()) * (complex ? 2 : 1));
    out.leftCols(zero.cols()) = zero;
    Eigen::Index next = zero.cols();
    for (const Found& f : found) {
      out.col(next++) = f.vector.real();
      if (complex) out.col(next++) = f.vector.imag();
    }
    return out;
  }

  std::vector<Found> other_squares(const MatrixXd& zero, const std::vector<Found>& found, int few) const {
    std::vector<Found> out;
    const MatrixXd columns = columns_of(zero, found, false);
    const int left = n_ - static_cast<int>(columns.cols());
    if (left <= few + 2) return out;
    // Orthonormal with M.
    const Eigen::LLT<MatrixXd> cholesky(symmetric_part(MatrixXd(columns.transpose() * (l_.M * columns))));
    if (cholesky.info() != Eigen::Success) return out;
    InverseStiffness inverse{&matrix_, n_};
    inverse.Q = cholesky.matrixL().solve(columns.transpose()).transpose();
    inverse.MQ = l_.M * inverse.Q;
    Mass mass{&l_.M};
    Spectra::SymGEigsShiftSolver<InverseStiffness, Mass, Spectra::GEigsMode::ShiftInvert> solver(
        inverse, mass, few, std::min(left, 20), -s_ * s_);
    const VectorXd start = random_start(inverse, n_, true);
    if (!(start.norm() > 0)) return out;
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
    const VectorXd values = solver.eigenvalues();
    const MatrixXd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < values.size(); ++i) out.push_back(square(values[i], shapes.col(i)));
    return out;
  }

  std::vector<Found> other_first(const MatrixXd& zero, const std::vector<Found>& found, int few) const {
    std::vector<Found> out;
    DeflatedFirstOrder inverse{{&matrix_, &l_, s_, w_}, basis_of(columns_of(zero, found, true))};
    const MatrixXd& Q = inverse.Q;
    if (2 * n_ - Q.cols() <= 2 * few + 3) return out;
    Spectra::GenEigsRealShiftSolver<DeflatedFirstOrder> solver(
        inverse, 2 * few, std::min<int>(2 * n_ - static_cast<int>(Q.cols()), 30), s_);
    const VectorXd start = random_start(inverse, 2 * n_, false);
    if (!(start.norm() > 0)) return out;
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
    const VectorXcd values = solver.eigenvalues();
    const MatrixXcd shapes = solver.eigenvectors();
    MatrixXd TQ(Q.rows(), Q.cols());
    for (Eigen::Index i = 0; i < Q.cols(); ++i)
      inverse.inverse.perform_op(VectorXd(Q.col(i)).data(), TQ.col(i).data());
    const MatrixXcd T11 = (Q.transpose() * TQ).cast<Complex>();
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      if (values[i].imag() < 0) continue;
      // The vector has a part in Q:   (T11 - theta) a = -Q^T T v
      VectorXd re(2 * n_), im(2 * n_);
      inverse.inverse.perform_op(VectorXd(shapes.col(i).real()).data(), re.data());
      inverse.inverse.perform_op(VectorXd(shapes.col(i).imag()).data(), im.data());
      const Complex theta = 1.0 / (values[i] - s_);
      const VectorXcd right = -(Q.transpose() * re + Complex(0, 1) * (Q.transpose() * im));
      const MatrixXcd left = T11 - theta * MatrixXcd::Identity(T11.rows(), T11.cols());
      // Least squares: of a multiple eigenvalue any part in Q will do.
      const VectorXcd a = left.completeOrthogonalDecomposition().solve(right);
      out.push_back(first(values[i], shapes.col(i) + Q.cast<Complex>() * a));
    }
    return out;
  }

  template <class Operator>
  VectorXd random_start(const Operator& inverse, int size, bool with_mass) const {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> anywhere(-1, 1);
    VectorXd x(size), y(size);
    for (double& value : x) value = anywhere(random);
    for (int i = 0; i < 3; ++i) {
      inverse.perform_op(with_mass ? VectorXd(l_.M * x).data() : x.data(), y.data());
      x = y / std::max(y.norm(), 1e-300);
    }
    return y.allFinite() ? x : VectorXd::Zero(size);
  }

  std::vector<ModePair> finished(std::vector<Found> found, double slowest) {
    std::vector<ModePair> out;
    MatrixXd zero(symmetric_ ? n_ : 2 * n_, 0);
    if (s_ > 0) {
      found.erase(std::remove_if(found.begin(), found.end(), [&](const Found& f) { return is_zero(f); }),
                  found.end());
      zero = zero_subspace(slowest, out);
    }
    add_missing(zero, found);
    for (Found& f : found) {
      const Complex s = f.pair.s;
      out.push_back(std::move(f.pair));
      if (symmetric_ && s.imag() == 0) out.push_back({-s, out.back().y, false});
    }
    return out;
  }

  const Linearization& l_;
  RoundOff round_off_;
  const VectorXd& scale_;
  int count_, n_;
  double time_, pace_ = 0, s_ = 0, w_ = 1;
  bool symmetric_ = false;
  ShiftedMatrix matrix_;
};

}  // namespace

SparseModes sparse_modes(const Model& model, const Linearization& l, const VectorXd& scale, int count,
                         const std::vector<int>& dependent, double time) {
  ModeSearch search(model, l, scale, count, time, dependent);
  SparseModes out;
  out.pairs = search.run();
  out.zeros = search.zeros;
  out.all_zeros = search.all_zeros;
  return out;
}

}  // namespace liedyn

#include "analyses/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <stdexcept>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
// GCC 12 mistakes a reallocation in this library for a use after free.
#pragma GCC diagnostic ignored "-Wuse-after-free"
#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/SymGEigsShiftSolver.h>

#include "analyses/eigenvalues.h"
#include "analyses/shifted_matrix.h"
#include "analyses/stiffness_scale.h"
#include "base/suggest.h"
#include "model/flexible/body.h"
#include "system/node_components.h"

namespace liedyn {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

constexpr double kSymmetric = 1e-12;  // relative to the matrix
constexpr int kSparseCount = 20;
constexpr int kLargestDenseIfFew = 3000;  // minutes, where the sparse solver cannot be used

struct Pair {
  Complex s;
  VectorXcd y;
  bool rigid = false;
};

void check(const ModesOptions& o) {
  if (o.count < 0) throw InputError("count", fmt::format("must not be negative, got {}", o.count));
  if (std::find(std::begin(kModeSolvers), std::end(kModeSolvers), o.solver) == std::end(kModeSolvers))
    throw InputError("solver", fmt::format("must be one of {}, got '{}'", fmt::join(kModeSolvers, ", "),
                                           excerpt(o.solver)));
  if (o.axes_given && !o.axes_rate.allFinite())
    throw InputError("axes", "must be three finite numbers, an angular velocity");
}

template <class Matrix>
Matrix symmetric_part(const Matrix& X) {
  return 0.5 * (X + Matrix(X.transpose()));
}
template <class Matrix>
Matrix antisymmetric_part(const Matrix& X) {
  return 0.5 * (X - Matrix(X.transpose()));
}

// s = +-i omega, or real if omega^2 < 0.
void add_square(double square, const VectorXcd& y, std::vector<Pair>& out) {
  if (square > 0) {
    out.push_back({Complex(0, std::sqrt(square)), y});
  } else {
    out.push_back({Complex(std::sqrt(-square), 0), y});
    out.push_back({Complex(-std::sqrt(-square), 0), y});
  }
}

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

// A X = B with rows and columns of A brought to the size 1.
MatrixXd equilibrated_solve(const MatrixXd& A, const MatrixXd& B) {
  VectorXd row = A.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-300).cwiseInverse();
  MatrixXd scaled = row.asDiagonal() * A;
  const VectorXd column = scaled.cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300).cwiseInverse();
  scaled = scaled * column.asDiagonal();
  return column.asDiagonal() * scaled.partialPivLu().solve(row.asDiagonal() * B);
}

// The motion of the bodies, and the values of states where their own y would stand. `rate` is s y, except where a defective zero has no y.
VectorXcd shape_of(const Linearization& l, Complex s, const VectorXcd& y, const VectorXcd& rate) {
  const auto bodies = l.first_state;
  VectorXcd out = rate;
  if (s == 0.0 || 2 * std::abs(s) * y.head(bodies).norm() >= rate.head(bodies).norm())
    out.head(bodies) = y.head(bodies);
  return out;
}

// What rounding leaves of a stiffness that is zero decides which eigenvalues are: with (s^2 M + s C) y below it, s and 0 are the same.
struct RoundOff {
  const Linearization* l;
  const VectorXd* scale;
  bool resists(const VectorXcd& y) const { return std::abs(y.dot(VectorXcd(l->K * y))) > bound(y); }
  bool operator()(double s, const VectorXcd& y) const {
    if (!(y.head(l->first_state).norm() > 0) || resists(y)) return false;
    return s * s * std::abs(y.dot(VectorXcd(l->M * y))) + s * std::abs(y.dot(VectorXcd(l->C * y))) <= bound(y);
  }

 private:
  double bound(const VectorXcd& y) const { return kResistance * scale->dot(y.cwiseAbs2()); }
};

// The inverse of the first-order equations y' = z, M z' = -C z - K y - L mu at the shift s: (a, b) is what is left of them, and
//   z = a + s y,     (s^2 M + s C + K) y + L mu = -(M b + (s M + C) a),     (s B + B_y) y = -B a  at velocity level.
// States are z without y, and have no a. The second half holds z and b in units of w.
struct InverseFirstOrder {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  const Linearization* l;
  double s, w;
  Eigen::Index rows() const { return 2 * l->M.rows(); }
  Eigen::Index cols() const { return rows(); }
  void set_shift(double) {}
  void perform_op(const double* in, double* out) const {
    const Eigen::Index n = l->M.rows(), bodies = l->first_state;
    const Eigen::Map<const VectorXd> b(in + n, n);
    Eigen::Map<VectorXd> y(out, n), z(out + n, n);
    VectorXd a = VectorXd::Zero(n);
    a.head(bodies) = Eigen::Map<const VectorXd>(in, bodies);
    const VectorXd right = -(l->M * (w * b + s * a) + l->C * a);
    VectorXd rows = -(l->B * a);
    for (Eigen::Index i = 0; i < rows.size(); ++i)
      if (!l->velocity_row[static_cast<std::size_t>(i)]) rows[i] = 0;
    matrix->solve(right.data(), rows.data(), out);
    z = (a + s * y) / w;
    z.tail(n - bodies) = y.tail(n - bodies) / w;
    y.tail(n - bodies).setZero();
  }
};

// Coordinates x of the admissible motions: y = P xi, y' = V zeta + Y xi, x = (xi, zeta) with the masses as the unit of xi and of the rates of bodies, and states in
// units that balance the matrix.
struct DenseModes {
  std::vector<Pair> pairs;
  int degrees_of_freedom = 0;
  int dimension = 0;  // eigenvalues, counted with their multiplicity
  int zeros = 0;
  bool consistent = true;
};

MatrixXd mass_factor(const MatrixXd& N, const SparseMatrix& M, double time) {
  const Eigen::LLT<MatrixXd> cholesky(symmetric_part(MatrixXd(N.transpose() * (M * N))));
  if (cholesky.info() != Eigen::Success)
    throw NumericalError(time, "the mass matrix is not positive definite on the admissible motions");
  return cholesky.matrixU();
}

// Undamped and symmetric: s^2 z + k z = 0 with M = L L^T on the admissible motions y = N x, z = L^T x.
EigenProblem symmetric_problem(const Model& model, const Linearization& l, const MatrixXd& N,
                               const std::vector<int>& named, const std::vector<int>& dependent,
                               const MatrixXd& R, const RoundOff& round_off) {
  EigenProblem out;
  out.size = N.cols();
  out.squares = true;
  const VectorXd one = VectorXd::Ones(out.size);
  const auto motions = std::make_shared<const MatrixXd>(
      R.triangularView<Eigen::Upper>().transpose().solve(N.transpose()).transpose());
  out.matrix = [&l, motions, one] {
    return Balanced{-(motions->transpose() * (l.K * *motions)), one};
  };
  // z = -L^T (t^2 M + K)^-1 M y, without the projection of the stiffness, whose largest entries would drown the others in round-off.
  const auto matrix = std::make_shared<ShiftedMatrix>(model, l, dependent);
  out.inverse = [&l, &R, &named, motions, one, matrix](double t) -> std::optional<Balanced> {
    if (!matrix->factorize(0, t * t)) return {};
    const MatrixXd right = l.M * *motions;
    MatrixXd T(one.size(), one.size());
    VectorXd y(l.M.rows());
    for (Eigen::Index i = 0; i < right.cols(); ++i) {
      matrix->solve(right.col(i).data(), nullptr, y.data());
      T.col(i) = -(R * y(named));
    }
    return Balanced{std::move(T), one};
  };
  out.is_round_off = [motions, round_off](double s, const VectorXcd& z) {
    return round_off(s, VectorXcd(*motions * z.real() + Complex(0, 1) * (*motions * z.imag())));
  };
  return out;
}

// The general case, x' = A x.
struct FirstOrderCoordinates {
  MatrixXd P, V, Y;                 // V with the states, which are the last of zeta
  std::vector<int> coordinates, rates, dependent;
  MatrixXd of_xi, of_rates;         // upper factors of the masses
  Eigen::Index bodies = 0;          // rates of bodies among zeta
  VectorXd state_unit;

  Eigen::Index size() const { return P.cols() + V.cols(); }
  // Columns (y, y') of all x.
  void motions(MatrixXd& y, MatrixXd& rate) const {
    const Eigen::Index np = P.cols(), nr = V.cols();
    y = MatrixXd::Zero(P.rows(), size());
    rate = y;
    y.leftCols(np) = P;
    rate << Y, V;
    const auto divide = [](auto&& columns, const MatrixXd& R) {
      columns = R.triangularView<Eigen::Upper>().transpose().solve(columns.transpose()).transpose().eval();
    };
    divide(y.leftCols(np), of_xi);
    divide(rate.leftCols(np), of_xi);
    divide(rate.middleCols(np, bodies), of_rates);
    rate.rightCols(nr - bodies) = rate.rightCols(nr - bodies).eval() * state_unit.asDiagonal();
  }
  // x of columns (y, y').
  MatrixXd of(const MatrixXd& y, const MatrixXd& rate) const {
    const Eigen::Index np = P.cols(), nr = V.cols();
    MatrixXd out(size(), y.cols());
    out << of_xi * MatrixXd(y(coordinates, Eigen::all)), MatrixXd(rate(rates, Eigen::all));
    out.middleRows(np, bodies) = of_rates * out.middleRows(np, bodies).eval();
    out.bottomRows(nr - bodies) = state_unit.cwiseInverse().asDiagonal() * out.bottomRows(nr - bodies).eval();
    return out;
  }
};

// Rates in units of w: both blocks across are then of the same size.
Balanced with_time_unit(const FirstOrderCoordinates& x, MatrixXd A, double w) {
  VectorXd D = VectorXd::Ones(x.size());
  D.segment(x.P.cols(), x.bodies).setConstant(w);
  A = D.cwiseInverse().asDiagonal() * A.eval() * D.asDiagonal();
  return {std::move(A), std::move(D)};
}

DenseModes dense_modes(const Model& model, const Linearization& l, const VectorXd& scale, double time) {
  DenseModes out;
  const RoundOff round_off{&l, &scale};
  const auto solved = [&](const EigenProblem& problem) {
    try {
      Eigenvalues found = all_eigenvalues(problem);
      out.zeros = found.zeros;
      out.consistent = found.consistent;
      return found;
    } catch (const std::runtime_error& error) {
      throw NumericalError(time, error.what());
    }
  };
  FirstOrderCoordinates x;
  MatrixXd A;
  if (l.is_plain()) {
    MatrixXd N = admissible_motions(l.B, l.unit, &x.dependent);
    x.rates = x.coordinates = name_coordinates(N, l.unit);
    const Eigen::Index n = N.cols();
    out.degrees_of_freedom = static_cast<int>(n);
    out.dimension = 2 * out.degrees_of_freedom;
    if (n == 0) return out;
    const MatrixXd R = mass_factor(N, l.M, time);
    const MatrixXd motions = R.triangularView<Eigen::Upper>().transpose().solve(N.transpose()).transpose();
    const MatrixXd k = motions.transpose() * (l.K * motions), c = motions.transpose() * (l.C * motions);
    const double stiffness = k.norm(), damping = c.norm();
    const bool undamped = damping * damping <= kSymmetric * kSymmetric * stiffness;
    if (undamped && antisymmetric_part(k).norm() <= kSymmetric * stiffness) {
      const Eigenvalues found =
          solved(symmetric_problem(model, l, N, x.coordinates, x.dependent, R, round_off));
      for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i)
        out.pairs.push_back({0, (motions * found.at_rest.col(i)).cast<Complex>(), true});
      for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
        add_square(-found.found.values[i].real(), motions * found.found.vectors.col(i).real().cast<Complex>(),
                   out.pairs);
      return out;
    }
    x.P = x.V = N;
    x.Y = MatrixXd::Zero(N.rows(), n);
    x.of_xi = x.of_rates = R;
    x.bodies = n;
    A = MatrixXd::Zero(2 * n, 2 * n);
    A.topRightCorner(n, n).setIdentity();
    A.bottomRows(n) << -k, -c;
  } else {
    MinimalEquations e = minimal_equations(l);
    const Eigen::Index np = e.P.cols(), nr = e.V.cols(), states = l.states();
    out.degrees_of_freedom = static_cast<int>(nr - states);
    out.dimension = static_cast<int>(np + nr);
    if (np + nr == 0) return out;
    x.bodies = nr - states;
    x.of_xi = mass_factor(e.P, l.M, time);
    x.of_rates = mass_factor(e.V.leftCols(x.bodies), l.M, time);
    x.P = std::move(e.P);
    x.V = std::move(e.V);
    x.Y = std::move(e.Y);
    x.coordinates = e.coordinates;
    x.rates = e.rates;
    x.dependent = e.dependent;
    // R A R^-1
    MatrixXd R = MatrixXd::Identity(np + nr, np + nr);
    R.topLeftCorner(np, np) = x.of_xi;
    R.block(np, np, x.bodies, x.bodies) = x.of_rates;
    A = R.triangularView<Eigen::Upper>().transpose().solve((R * e.A).transpose()).transpose();
  }
  const Eigen::Index np = x.P.cols(), states = l.states();
  const auto across = [&](const MatrixXd& X) { return X.block(0, np, np, x.bodies).norm(); };
  const auto down = [&](const MatrixXd& X) { return X.block(np, 0, x.bodies, np).norm(); };
  const double rate = across(A) > 0 ? std::sqrt(down(A) / across(A)) : 0;
  const double w = std::max(rate, A.block(np, np, x.bodies, x.bodies).norm() /
                                      std::sqrt(std::max(1.0, static_cast<double>(x.bodies))));
  x.state_unit = VectorXd::Ones(states);
  const Balanced given = with_time_unit(x, A, w > 0 ? w : 1);
  const Balanced units = balanced(given.A, np + x.bodies);
  x.state_unit = units.D.tail(states);

  MatrixXd y, rates;
  x.motions(y, rates);
  EigenProblem problem;
  problem.size = x.size();
  problem.matrix = [&] { return Balanced{units.A, given.D}; };
  ShiftedMatrix matrix(model, l, x.dependent);
  problem.inverse = [&](double t) -> std::optional<Balanced> {
    MatrixXd T(x.size(), x.size());
    if (l.drift) {
      // In the units of A.
      const MatrixXd one = MatrixXd::Identity(x.size(), x.size());
      T = given.D.asDiagonal() * equilibrated_solve(units.A - t * one, one) * given.D.cwiseInverse().asDiagonal();
    } else {
      // From the matrices as they are: the round-off of a projection would be that of its largest entries.
      if (!matrix.factorize(t)) return {};
      const InverseFirstOrder inverse{&matrix, &l, t, 1};
      const Eigen::Index n = l.M.rows();
      MatrixXd solution(2 * n, x.size());
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        VectorXd in(2 * n);
        in << y.col(i), rates.col(i);
        inverse.perform_op(in.data(), solution.col(i).data());
      }
      T = x.of(solution.topRows(n), solution.bottomRows(n));
    }
    const double slow = across(T) > 0 ? std::sqrt(down(T) / across(T)) : 0;
    return with_time_unit(x, std::move(T), slow > 0 ? slow : t > 0 ? t : 1);
  };
  const auto motion = [&](const MatrixXd& of, const VectorXcd& v) {
    return VectorXcd(of * v.real() + Complex(0, 1) * (of * v.imag()));
  };
  problem.is_round_off = [&](double s, const VectorXcd& v) { return round_off(s, motion(y, v)); };
  const Eigenvalues found = solved(problem);
  const auto add = [&](Complex s, const VectorXcd& v, bool rigid) {
    out.pairs.push_back({s, shape_of(l, s, motion(y, v), motion(rates, v)), rigid});
  };
  for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i) add(0, found.at_rest.col(i).cast<Complex>(), true);
  for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
    if (found.found.values[i].imag() >= 0) add(found.found.values[i], found.found.vectors.col(i), false);
  return out;
}

// (K - sigma M)^-1 on the admissible motions, and M, as Spectra wants them.
struct InverseStiffness {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  Eigen::Index size;
  Eigen::Index rows() const { return size; }
  Eigen::Index cols() const { return size; }
  void set_shift(double) {}  // factorised already
  void perform_op(const double* x, double* y) const { matrix->solve(x, nullptr, y); }
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
// Without what is found already. T (I - Q Q^T) has the other eigenvalues of T, if Q spans an invariant subspace of it. One vector of Krylov's method finds one vector of a multiple
// eigenvalue.
struct DeflatedStiffness {
  using Scalar = double;
  InverseStiffness inverse;
  MatrixXd Q, MQ;  // Q^T M Q = 1
  Eigen::Index rows() const { return inverse.rows(); }
  Eigen::Index cols() const { return inverse.cols(); }
  void set_shift(double) {}
  void perform_op(const double* x, double* y) const {
    const Eigen::Map<const VectorXd> force(x, rows());
    Eigen::Map<VectorXd> out(y, rows());
    const VectorXd rest = force - MQ * (Q.transpose() * force);
    inverse.perform_op(rest.data(), y);
    out -= Q * VectorXd(MQ.transpose() * out);
  }
};
struct DeflatedFirstOrder {
  using Scalar = double;
  InverseFirstOrder inverse;
  MatrixXd Q;  // orthonormal
  Eigen::Index rows() const { return inverse.rows(); }
  Eigen::Index cols() const { return inverse.cols(); }
  void set_shift(double) {}
  void perform_op(const double* x, double* y) const {
    const Eigen::Map<const VectorXd> in(x, rows());
    Eigen::Map<VectorXd> out(y, rows());
    const VectorXd rest = in - Q * (Q.transpose() * in);
    inverse.perform_op(rest.data(), y);
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
class SparseModes {
 public:
  SparseModes(const Model& model, const Linearization& l, const VectorXd& scale, int count, double time,
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

  // All zeros that were found are there: their number.
  int zeros = 0;

  std::vector<Pair> run() {
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
        s_ = before;
        if (!good && !matrix_.factorize(s_)) complain(0);
        return finished(std::move(found), slowest);
      }
    }
  }

 private:
  static constexpr int kIterations = 1000;
  static constexpr double kPrecision = 1e-13, kShift = 1e-3, kDefective = 1e-5, kUnresolved = 1e-3;

  struct Found {
    Pair pair;
    VectorXcd vector;  // as the operator has it: y, or (y, y'/w)
  };

  double pace_of(int size) const {
    const auto norm_of = [&](const SparseMatrix& X) { return SparseMatrix(X.block(0, 0, size, size)).norm(); };
    const double inertia = norm_of(l_.M);
    return inertia == 0 ? 0 : std::max(std::sqrt(norm_of(l_.K) / inertia), norm_of(l_.C) / inertia);
  }
  void shift_away() {
    s_ = kShift * pace_;
    while (!matrix_.factorize(s_))
      if ((s_ *= 10) > 10 * pace_ || s_ == 0)
        throw NumericalError(
            time_, "no motion of the model resists: its stiffness matrix is singular with every shift");
  }
  void complain(Eigen::Index found) const {
    throw NumericalError(time_, fmt::format("only {} of {} eigenvalues were found", found, count_));
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
    if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
        found < wanted)
      complain(found);
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
    InverseFirstOrder inverse{&matrix_, &l_, s_, w_};
    Spectra::GenEigsRealShiftSolver<InverseFirstOrder> solver(inverse, wanted, basis, s_);
    solver.init(admissible_start(inverse).data());
    // With damping in proportion to the stiffness many eigenvalues are close to -1/damping, and cannot be told from each other: the slower ones are found.
    if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
        found == 0)
      complain(found);
    const VectorXcd eigenvalues = solver.eigenvalues();
    const MatrixXcd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < eigenvalues.size(); ++i)
      if (eigenvalues[i].imag() >= 0) out.push_back(first(eigenvalues[i], shapes.col(i)));
    return out;
  }

  // Zeros: the slowest invariant subspace at a shift far below the slowest motion that is none. `found` has some of them.
  MatrixXd zero_subspace(double slowest, std::vector<Pair>& out) {
    constexpr Eigen::Index kMost = 128;
    const double before = s_;
    const Eigen::Index size = symmetric_ ? n_ : 2 * n_;
    if (std::isfinite(slowest)) s_ = std::min(s_, 1e-2 * slowest);
    if (s_ != before && !matrix_.factorize(s_)) {
      s_ = before;
      if (!matrix_.factorize(s_)) complain(0);
    }
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
      if (count < slow.H.cols() || slow.H.cols() >= std::min(kMost, size)) break;
    }
    MatrixXd out_of(size, 0);
    if (count > 0) {
      if (count < slow.H.cols()) slow = dominant_subspace(T, size, count);
      const MatrixXd rest = symmetric_ ? slow.X : at_rest_in(slow, s_);
      for (Eigen::Index i = 0; i < rest.cols(); ++i) {
        const VectorXcd vector = rest.col(i).cast<Complex>();
        out.push_back({0, symmetric_ ? vector : shape_of(l_, 0, vector.head(n_), w_ * vector.tail(n_)), true});
      }
      out_of = slow.X;
    }
    zeros = static_cast<int>(count) * (symmetric_ ? 2 : 1);
    if (s_ != before) {
      s_ = before;
      if (!matrix_.factorize(s_)) complain(0);
    }
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
      const std::vector<Found> more = symmetric_ ? other_squares(zero, found, kFew) : other_first(zero, found, kFew);
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
    MatrixXd out(found.front().vector.size(), zero.cols() + static_cast<Eigen::Index>(found.size()) * (complex ? 2 : 1));
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
    DeflatedStiffness inverse;
    inverse.inverse = {&matrix_, n_};
    inverse.Q = cholesky.matrixL().solve(columns.transpose()).transpose();
    inverse.MQ = l_.M * inverse.Q;
    Mass mass{&l_.M};
    Spectra::SymGEigsShiftSolver<DeflatedStiffness, Mass, Spectra::GEigsMode::ShiftInvert> solver(
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

  std::vector<Pair> finished(std::vector<Found> found, double slowest) {
    std::vector<Pair> out;
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

// The same model with all dampers off.
System without_dampers(const System& system) {
  Params params = system.params();
  for (const Section section : {Section::Forces, Section::Beams, Section::Flexible})
    for (const Entry& entry : system.model().description().entries(section))
      for (std::size_t f = 0; f < entry.fields.size(); ++f) {
        const std::string& name = entry.kind->fields[f].name;
        if (!name.ends_with("damping") && !name.ends_with("damping_ratio")) continue;
        for (int i = 0; i < entry.fields[f].count && entry.fields[f].first >= 0; ++i)
          params.set(entry.fields[f].first + i, 0);
      }
  return System(system.shared_model(), std::move(params));
}

// The largest displacement or rotation of the shape becomes 1, the largest state where nothing moves; shares of the kinetic energy.
Mode finished(const System& system, const Linearization& l, const VectorXd& unit, Pair pair) {
  constexpr double kNothing = 1e-9;
  Mode out;
  const VectorXcd natural = pair.y, momentum = l.M * natural;
  pair.y = unit.asDiagonal() * natural;
  out.eigenvalue = pair.s;
  out.rigid = pair.rigid;
  Eigen::Index largest = 0;
  pair.y.cwiseAbs().maxCoeff(&largest);
  const Complex most = pair.y[largest];
  if (largest >= l.first_state && l.first_state > 0) {
    Eigen::Index moving = 0;
    pair.y.head(l.first_state).cwiseAbs().maxCoeff(&moving);
    if (std::abs(pair.y[moving]) > kNothing * std::abs(most)) largest = moving;
  }
  if (pair.y[largest] != 0.0) pair.y /= Complex(pair.y[largest]);
  out.shape.assign(pair.y.begin(), pair.y.end());
  out.shape.resize(static_cast<std::size_t>(system.model().nv));  // states that are held
  double sum = 0;
  for (std::size_t i = 0; i < system.model().body_types.size(); ++i) {
    const Node& node = system.model().nodes[i];
    const int size = node_size(node.type).v;
    const double energy =
        std::max(natural.segment(node.v, size).dot(momentum.segment(node.v, size)).real(), 0.0);
    out.share.push_back(energy);
    sum += energy;
  }
  if (sum > 0)
    for (double& share : out.share) share /= sum;
  return out;
}

}  // namespace

double Mode::frequency() const { return std::abs(eigenvalue.imag()) / (2 * std::numbers::pi); }

double Mode::damping_ratio() const { return rigid ? 0 : -eigenvalue.real() / std::abs(eigenvalue); }

Modes modes(const System& system, const State& state, const ModesOptions& options) {
  check(options);
  const Model& model = system.model();
  Work work(system, "klu");
  Modes out;
  out.model = model.description().name;
  out.formulation = model.formulation();
  out.time = state.t;
  out.undamped = options.undamped;
  out.warnings = flexible_remarks(model, system.params().values().data());
  if (options.axes_given)
    out.axes = {options.axes_rate, change_of_matrices(system, state, options.axes_rate, work), 0, false};
  else
    out.axes = steady_axes(system, state, work);
  // Krylov's method needs as many directions as it has vectors: with fewer motions the rest of them would be round-off.
  const int count = options.count > 0 ? options.count : kSparseCount;
  const int freedoms = model.first_state() - model.rows + static_cast<int>(state.redundant.size());
  const bool few = freedoms < std::min(model.first_state(), std::max(2 * count + 1, 20));
  if (few && options.solver != "dense" && model.nv > kLargestDenseIfFew)
    throw NumericalError(
        state.t,
        fmt::format(
            "{} modes of a model with {} degrees of freedom are too many for the sparse solver, and its {} "
            "velocities too many for the dense one: ask for {} at most",
            count, freedoms, model.nv, std::max(0, (freedoms - 1) / 2)));
  const bool dense =
      options.solver == "dense" || few || (options.solver == "auto" && model.nv <= kLargestDense);
  // Only dense matrices follow the constraints along the motion.
  const bool steady = as_if_steady(out.axes), follows = !steady && dense && !options.axes_given;
  if (!steady)
    out.warnings.push_back(fmt::format(
        "{}: the eigenvalues are those of t = {:.6g} s{}", not_steady(out.axes), state.t,
        follows ? ", and depend on the coordinates" : ", with constraints that stay as they are there"));
  else if (std::string remark = not_quite_steady(out.axes, state.t); !remark.empty())
    out.warnings.push_back(std::move(remark));

  if (follows) out.axes.rate = Vec3::Zero();
  // Dampers also make stiffness, where what they are fixed to turns: without dissipation they are not there.
  std::optional<System> undamped;
  if (options.undamped) undamped.emplace(without_dampers(system));
  const System& analysed = undamped ? *undamped : system;
  Linearization l =
      follows ? linearize_unsteady(analysed, state, work) : linearize(analysed, state, out.axes.rate, work);
  out.states = static_cast<int>(l.states());
  if (options.undamped) {
    if (out.states > 0) {
      l = without_states(l);
      out.states = 0;
      out.warnings.emplace_back(
          "first-order states dissipate: without damping they are held at their values, and eigenvalues are "
          "those of the bodies alone");
    }
    l.C = antisymmetric_part(l.C);
  }
  out.solver = dense ? "dense" : "sparse";
  std::vector<Pair> pairs;
  const VectorXd unit = l.unit;
  const VectorXd scale = stiffness_scale(system, state, l, work).cwiseProduct(unit.cwiseAbs2());
  l = in_natural_units(l);
  if (dense) {
    DenseModes found = dense_modes(model, l, scale, state.t);
    out.degrees_of_freedom = found.degrees_of_freedom;
    out.dimension = found.dimension;
    out.zeros = found.zeros;
    pairs = std::move(found.pairs);
    int count_of_all = out.zeros;
    for (const Pair& pair : pairs)
      if (!pair.rigid) count_of_all += pair.s.imag() > 0 ? 2 : 1;
    if (!found.consistent || count_of_all != out.dimension)
      out.warnings.push_back(fmt::format(
          "{} eigenvalues were found and {} expected: they differ by too many orders of magnitude to be told "
          "from each other and from round-off, and the slowest are not reliable",
          count_of_all, out.dimension));
  } else {
    out.degrees_of_freedom = freedoms;
    SparseModes sparse(model, l, scale, count, state.t, state.redundant);
    pairs = sparse.run();
    out.zeros = sparse.zeros;
    if (pairs.size() < static_cast<std::size_t>(std::min(count, freedoms)))
      out.warnings.push_back(
          fmt::format("only {} of {} modes were found: eigenvalues further away are too close to each other",
                      pairs.size(), count));
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return std::abs(a.s) < std::abs(b.s); });
  if (options.count > 0 && pairs.size() > static_cast<std::size_t>(options.count))
    pairs.resize(static_cast<std::size_t>(options.count));
  for (Pair& pair : pairs) out.modes.push_back(finished(system, l, unit, std::move(pair)));
  return out;
}

std::vector<std::string> shape_names(const Model& model) {
  std::vector<std::string> out;
  for (int i = 0; i < model.nv; ++i) {
    const Entry& body = model.body_of(i);
    if (i >= model.first_state()) {
      out.push_back(body.name);
      continue;
    }
    const Node& node =
        model.nodes[static_cast<std::size_t>(&body - model.description().entries(Section::Bodies).data())];
    const int k = i - node.v;
    out.push_back(fmt::format("{}: {} {}", body.name,
                              is_displacement(node.type, k) ? "displacement" : "rotation",
                              "xyz"[component(node.type, k) % 3]));
  }
  return out;
}

}  // namespace liedyn

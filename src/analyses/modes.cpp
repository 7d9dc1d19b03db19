#include "analyses/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
// GCC 12 mistakes a reallocation in this library for a use after free.
#pragma GCC diagnostic ignored "-Wuse-after-free"
#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/SymGEigsShiftSolver.h>

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

// An eigenvalue comes with an error in proportion to the largest of all, so that the slowest may drown in it. They are the largest ones of the inverse, by
// which those are replaced that are too small to be trusted.
struct Spectrum {
  VectorXcd s;
  MatrixXcd vectors;
};

// The middle of the widest gap between the sizes |s| close to `about`.
double gap(const VectorXcd& s, double about) {
  constexpr double kClose = 30;
  std::vector<double> sizes = {about / kClose, about * kClose};
  for (const Complex& x : s)
    if (const double size = std::abs(x); size > sizes[0] && size < about * kClose) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  double best = about, widest = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] / sizes[i - 1] > widest) {
      widest = sizes[i] / sizes[i - 1];
      best = std::sqrt(sizes[i] * sizes[i - 1]);
    }
  return best;
}

// All eigenvalues of first-order equations but the zeros, of which there are `free` motions, each of them one or two eigenvalues, two if it has no damping: a
// defective one then, that comes out as the square root of round-off. near(shift) has the eigenvalues by the inverse at the shift; with zeros there is none at 0,
// and none closer to it than `least`.
template <class Near>
Spectrum without_zeros(Spectrum all, Eigen::Index free, double least, Near&& near) {
  constexpr double kTrusted = 1e-5;  // of the largest, and of the shift
  std::vector<std::pair<Complex, VectorXcd>> kept;
  const auto keep = [&](double above, double below) {
    for (Eigen::Index i = 0; i < all.s.size(); ++i)
      if (const double size = std::abs(all.s[i]); size > above && size <= below)
        kept.emplace_back(all.s[i], all.vectors.col(i));
  };
  double upper = INFINITY, lower = kTrusted * all.s.cwiseAbs().maxCoeff(), shift = INFINITY;
  constexpr int kLevels = 4;
  for (int level = 0; level < kLevels; ++level) {
    const Eigen::Index small = (all.s.array().abs() <= lower).count();
    const double next = free > 0 ? std::max(lower, least) : 0,
                 middle = gap(all.s, 10 * std::max(lower, next));
    if (small <= 2 * free || next >= shift || middle >= upper) break;
    keep(middle, upper);
    upper = middle;
    shift = next;
    all = near(shift);
    lower = free > 0 ? kTrusted * shift : -1;
  }
  keep(free > 0 ? lower : -1, upper);
  Spectrum out;
  out.s.resize(static_cast<Eigen::Index>(kept.size()));
  out.vectors.resize(all.vectors.rows(), out.s.size());
  for (Eigen::Index i = 0; i < out.s.size(); ++i) {
    out.s[i] = kept[static_cast<std::size_t>(i)].first;
    out.vectors.col(i) = kept[static_cast<std::size_t>(i)].second;
  }
  return out;
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

Spectrum spectrum_of(const MatrixXd& A, double time) {
  if (!A.allFinite()) throw NumericalError(time, "the linearised equations are not finite");
  const Eigen::EigenSolver<MatrixXd> eigen(A);
  if (eigen.info() != Eigen::Success) throw NumericalError(time, "the eigenvalues were not found");
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

// Of A^-1 to A, which has been shifted: s = shift + 1/theta.
void unshift(double shift, VectorXcd& theta) {
  for (Complex& x : theta) x = shift + (std::abs(x) > 0 ? 1.0 / x : Complex(INFINITY, 0));
}

// A X = B with rows and columns of A brought to the size 1.
MatrixXd equilibrated_solve(const MatrixXd& A, const MatrixXd& B) {
  VectorXd row = A.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-300).cwiseInverse();
  MatrixXd scaled = row.asDiagonal() * A;
  const VectorXd column = scaled.cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300).cwiseInverse();
  scaled = scaled * column.asDiagonal();
  return column.asDiagonal() * scaled.partialPivLu().solve(row.asDiagonal() * B);
}

// The motion of the bodies, and the values of states where their own y would stand.
VectorXcd shape_of(const Linearization& l, const VectorXcd& y, const VectorXcd& rate) {
  constexpr double kNothing = 1e-8;
  const auto bodies = l.first_state;
  VectorXcd out = rate;
  if (y.head(bodies).norm() > kNothing * rate.head(bodies).norm()) out.head(bodies) = y.head(bodies);
  return out;
}

// Columns x with A x = 0. Without states from the forces, whose scales are known: with W^T L = 0 and xi, zeta in these scales and in units w of time,
//   | A_top/w                                  |
//   | W^T (K P + C Y + M Z_xi)  W^T (C V + M Z_zeta) | (xi, zeta) = 0
MatrixXd motions_at_rest(const Linearization& l, const MinimalEquations& e, const Balanced& b,
                         const VectorXd& scale) {
  const Eigen::Index size = b.A.rows(), np = e.P.cols(), nr = e.V.cols();
  MatrixXd S = b.A;
  VectorXd unit = VectorXd::Ones(size);
  if (l.states() == 0) {
    const MatrixXd W = admissible_motions(SparseMatrix(l.L.transpose()));
    const VectorXd of_P = equilibration(scale, e.P), of_V = equilibration(scale, e.V);
    const auto forces = [&](const MatrixXd& by) -> MatrixXd {
      return equilibration(scale, W).asDiagonal() * (W.transpose() * by);
    };
    const MatrixXd by_rates = forces(l.C * e.V + l.M * e.Z.rightCols(nr)) * of_V.asDiagonal();
    const double w = by_rates.norm() > 0 ? 1 / by_rates.norm() : 1;
    unit << of_P, w * of_V;
    S.topRows(np) = of_P.cwiseInverse().asDiagonal() * b.A.topRows(np) * unit.asDiagonal() / w;
    S.bottomRows(nr) << forces(l.K * e.P + l.C * e.Y + l.M * e.Z.leftCols(np)) * of_P.asDiagonal(),
        w * by_rates;
  }
  const Eigen::BDCSVD<MatrixXd> svd(S, Eigen::ComputeFullV);
  const double nothing = kResistance * (l.states() == 0 ? std::max(1.0, S.norm()) : S.norm());
  MatrixXd out(size, 0);
  for (Eigen::Index i = 0; i < size; ++i)
    if (svd.singularValues()[i] <= nothing) {
      out.conservativeResize(size, out.cols() + 1);
      out.rightCols(1) = unit.asDiagonal() * svd.matrixV().col(i);
    }
  return out;
}

// States, rows at velocity level, friction or a motion that is not steady: x' = A x in minimal coordinates.
std::vector<Pair> general_pairs(const Linearization& l, const MinimalEquations& e, const VectorXd& scale,
                                double time) {
  std::vector<Pair> out;
  if (e.A.size() == 0) return out;
  // Only states have units that differ by orders of magnitude.
  const Balanced b = l.states() > 0 ? balanced(e.A) : Balanced{e.A, VectorXd::Ones(e.A.rows())};
  const auto motion = [&](const VectorXcd& vector) {
    const VectorXcd x = b.D.asDiagonal() * vector;
    return shape_of(l, e.P * x.head(e.P.cols()), e.V * x.tail(e.V.cols()) + e.Y * x.head(e.P.cols()));
  };
  const MatrixXd free = motions_at_rest(l, e, b, scale);
  for (Eigen::Index i = 0; i < free.cols(); ++i)
    out.push_back({0, motion(free.col(i).cast<Complex>()), true});
  const auto near = [&](double shift) {
    const MatrixXd one = MatrixXd::Identity(b.A.rows(), b.A.rows());
    Spectrum found = spectrum_of(equilibrated_solve(b.A - shift * one, one), time);
    unshift(shift, found.s);
    return found;
  };
  // Where something is free, rows at velocity level have more zeros than two for each motion, and no shift tells them from what is slow.
  const Spectrum found = without_zeros(spectrum_of(b.A, time), free.cols(), INFINITY, near);
  for (Eigen::Index i = 0; i < found.s.size(); ++i)
    if (found.s[i].imag() >= 0) out.push_back({found.s[i], motion(found.vectors.col(i))});
  return out;
}

// s^2 M + s C + K on the admissible motions y = N x, all eigenvalues.
std::vector<Pair> dense_pairs(const Linearization& l, const MatrixXd& N, const VectorXd& scale, double time) {
  const MatrixXd M = N.transpose() * (l.M * N), C = N.transpose() * (l.C * N), K = N.transpose() * (l.K * N);
  const Eigen::Index n = M.rows();
  std::vector<Pair> out;
  if (n == 0) return out;
  const Eigen::LLT<MatrixXd> cholesky(symmetric_part(M));
  if (cholesky.info() != Eigen::Success)
    throw NumericalError(time, "the mass matrix is not positive definite on the admissible motions");
  // With M = L L^T and x = L^-T z:   s^2 z + s c z + k z = 0
  const auto scaled = [&](const MatrixXd& X) {
    const MatrixXd half = cholesky.matrixL().solve(X);
    return MatrixXd(cholesky.matrixL().solve(half.transpose()).transpose());
  };
  const MatrixXd c = scaled(C), k = scaled(K), Lt = cholesky.matrixU();
  const auto motion_of = [&](const VectorXcd& x) {
    return VectorXcd(N * x.real() + Complex(0, 1) * (N * x.imag()));
  };
  const auto motion = [&](const VectorXcd& z) {
    const MatrixXd parts = cholesky.matrixU().solve((MatrixXd(n, 2) << z.real(), z.imag()).finished());
    return motion_of(parts.col(0) + Complex(0, 1) * parts.col(1));
  };
  const double stiffness = k.norm(), damping = c.norm();
  const bool undamped = damping * damping <= kSymmetric * kSymmetric * stiffness;
  const VectorXd unit = equilibration(scale, N);
  const MatrixXd equilibrated = unit.asDiagonal() * K * unit.asDiagonal();
  const double nothing = kResistance * std::max(1.0, equilibrated.norm());
  if (undamped && antisymmetric_part(k).norm() <= kSymmetric * stiffness) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> all(symmetric_part(k));
    const VectorXd squares = all.eigenvalues();
    const double largest = squares.cwiseAbs().maxCoeff();
    constexpr double kTrusted = 1e-6;  // of the largest; below, those of the inverse are better
    double trusted = kTrusted * largest;
    if (stiffness == 0 || (squares.array().abs() <= trusted).any()) {
      // With K = U^-1 W Lambda W^T U^-1, U = diag(unit), the columns of U W whose Lambda is zero are motions that nothing resists, F; without them and without their
      // momentum
      //   (1/s^2) z = -L^T G L z,   G = P U W Lambda^-1 W^T U P^T,   P = 1 - F (F^T M F)^-1 F^T M
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(symmetric_part(equilibrated));
      std::vector<Eigen::Index> loose, tight;
      for (Eigen::Index i = 0; i < n; ++i)
        (std::abs(eigen.eigenvalues()[i]) <= nothing ? loose : tight).push_back(i);
      const MatrixXd shapes = unit.asDiagonal() * eigen.eigenvectors();
      MatrixXd zF = Lt * MatrixXd(shapes(Eigen::all, loose));
      if (!loose.empty()) {
        const Eigen::HouseholderQR<MatrixXd> qr(zF);
        zF = qr.householderQ() * MatrixXd::Identity(n, static_cast<Eigen::Index>(loose.size()));
      }
      for (Eigen::Index i = 0; i < zF.cols(); ++i)
        out.push_back({0, motion(zF.col(i).cast<Complex>()), true});
      MatrixXd half = Lt * MatrixXd(shapes(Eigen::all, tight));
      for (int twice = 0; twice < 2; ++twice) half -= zF * MatrixXd(zF.transpose() * half);
      const VectorXd stiffnesses = eigen.eigenvalues()(tight);
      const Eigen::SelfAdjointEigenSolver<MatrixXd> inverse(
          symmetric_part(MatrixXd(half * stiffnesses.cwiseInverse().asDiagonal() * half.transpose())));
      // Both are as good as each other in the middle between the smallest and the largest.
      const double slowest = 1 / std::max(inverse.eigenvalues().cwiseAbs().maxCoeff(), 1e-300);
      trusted = std::clamp(std::sqrt(slowest * largest), 1e-9 * largest, trusted);
      const Eigen::Index small = (squares.array().abs() <= trusted).count() - zF.cols();
      std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
      for (Eigen::Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
      std::stable_sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
        return std::abs(inverse.eigenvalues()[i]) > std::abs(inverse.eigenvalues()[j]);
      });
      for (Eigen::Index i = 0; i < small; ++i) {
        const Eigen::Index of = order[static_cast<std::size_t>(i)];
        add_square(1 / inverse.eigenvalues()[of], motion(inverse.eigenvectors().col(of).cast<Complex>()),
                   out);
      }
    } else {
      trusted = 0;
    }
    for (Eigen::Index i = 0; i < n; ++i)
      if (std::abs(squares[i]) > trusted)
        add_square(squares[i], motion(all.eigenvectors().col(i).cast<Complex>()), out);
    return out;
  }
  const Eigen::BDCSVD<MatrixXd> svd(equilibrated, Eigen::ComputeFullV);
  MatrixXd free(n, 0);
  for (Eigen::Index i = 0; i < n; ++i)
    if (svd.singularValues()[i] <= nothing) {
      free.conservativeResize(n, free.cols() + 1);
      free.rightCols(1) = unit.asDiagonal() * svd.matrixV().col(i);
      out.push_back({0, motion_of(free.rightCols(1).cast<Complex>()), true});
    }
  const double least = least_shift(l.M, scale, (N * free).cast<Complex>());
  // First order, with time in units in which both blocks have about the same size:   (z, z'/w)' = w [0 1; -k/w^2 -c/w] (z, z'/w)
  const double w = std::max(std::sqrt(stiffness), damping) / std::sqrt(static_cast<double>(n));
  const MatrixXd one = MatrixXd::Identity(n, n);
  MatrixXd A(2 * n, 2 * n);
  A << MatrixXd::Zero(n, n), one, -k / (w * w), -c / w;
  Spectrum all = spectrum_of(A, time);
  all.s *= w;
  // Of (z, s z/w) the larger half says more.
  const auto halved = [&](Spectrum& x) {
    MatrixXcd z(n, x.s.size());
    for (Eigen::Index i = 0; i < x.s.size(); ++i) {
      const bool slow = x.vectors.col(i).head(n).norm() >= x.vectors.col(i).tail(n).norm();
      z.col(i) = slow ? x.vectors.col(i).head(n) : x.vectors.col(i).tail(n);
    }
    x.vectors = z;
  };
  halved(all);
  // The inverse at a shift t:   z = -q (b + (c + t) a),   z' = a + t z   for (a, b), with q = L^T (t^2 M + t C + K)^-1 L; from M, C and K as they are, since
  // round-off of k is that of its largest entries.
  const auto near = [&](double t) {
    const MatrixXd L = cholesky.matrixL();
    MatrixXd right(n, 2 * n);
    right << L, C * cholesky.matrixU().solve(one);
    const MatrixXd both = Lt * equilibrated_solve(t * t * M + t * C + K, right);
    const MatrixXd q = both.leftCols(n), of_a = both.rightCols(n) + t * q;
    const double v = 1 / std::sqrt(std::max(q.norm() / std::sqrt(static_cast<double>(n)), 1e-300));
    MatrixXd B(2 * n, 2 * n);
    B << -of_a, -v * q, (one - t * of_a) / v, -t * q;
    Spectrum found = spectrum_of(B, time);
    unshift(t, found.s);
    halved(found);
    return found;
  };
  const Spectrum found = without_zeros(std::move(all), free.cols(), least, near);
  for (Eigen::Index i = 0; i < found.s.size(); ++i)
    if (found.s[i].imag() >= 0) out.push_back({found.s[i], motion(found.vectors.col(i))});
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

// The eigenvalues nearest to zero, from the inverse there. If that does not exist, since there are motions that nothing resists, the shift is a real one as
// small as the slowest of the others, so that these are found with all digits.
std::vector<Pair> sparse_pairs(const Model& model, const Linearization& l, const VectorXd& scale, int count,
                               double time) {
  constexpr int kIterations = 1000, kShifts = 6;
  constexpr double kPrecision = 1e-13, kShift = 1e-3, kFar = 1e-2, kDefective = 1e-5;
  const auto n = static_cast<int>(l.M.rows());
  const auto norm_of = [&](const SparseMatrix& X, int size) {
    return SparseMatrix(X.block(0, 0, size, size)).norm();
  };
  const auto pace_of = [&](int size) {
    const double inertia = norm_of(l.M, size);
    if (inertia == 0) return 0.0;
    return std::max(std::sqrt(norm_of(l.K, size) / inertia), norm_of(l.C, size) / inertia);
  };
  const double stiffness = l.K.norm(), inertia = l.M.norm(), damping = l.C.norm();
  // That of the bodies, where they have one: states may be far faster.
  const double of_bodies = pace_of(l.first_state), pace = of_bodies > 0 ? of_bodies : pace_of(n);
  ShiftedMatrix matrix(model, l);
  double s = 0;
  const auto shift_away = [&] {
    s = kShift * pace;
    while (!matrix.factorize(s))
      if ((s *= 10) > 10 * pace || s == 0)
        throw NumericalError(
            time, "no motion of the model resists: its stiffness matrix is singular with every shift");
  };
  if (!matrix.factorize(0)) shift_away();
  const auto complain = [&](Eigen::Index found, int wanted) {
    throw NumericalError(time, fmt::format("only {} of {} eigenvalues were found", found, wanted));
  };
  const auto nothing_resists = [&](const VectorXcd& y) {
    return std::abs(y.dot(VectorXcd(l.K * y))) <= 10 * kResistance * scale.dot(y.cwiseAbs2());
  };
  const bool symmetric = l.is_plain() && damping <= kSymmetric * pace * inertia &&
                         antisymmetric_part(l.K).norm() <= kSymmetric * stiffness;
  const auto squares = [&] {
    std::vector<Pair> out;
    const int wanted = std::min(count, n - 2), basis = std::min(n, std::max(2 * wanted + 1, 20));
    InverseStiffness inverse{&matrix, n};
    Mass mass{&l.M};
    Spectra::SymGEigsShiftSolver<InverseStiffness, Mass, Spectra::GEigsMode::ShiftInvert> solver(
        inverse, mass, wanted, basis, -s * s);
    VectorXd start = VectorXd::Ones(n);
    inverse.perform_op(VectorXd(l.M * start).data(), start.data());
    solver.init(start.data());
    if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
        found < wanted)
      complain(found, wanted);
    const VectorXd values = solver.eigenvalues();
    const MatrixXd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      const VectorXcd y = shapes.col(i).cast<Complex>();
      if (nothing_resists(y))
        out.push_back({0, y, true});
      else
        add_square(values[i], y, out);
    }
    return out;
  };
  const auto first_order = [&] {
    std::vector<Pair> out;
    const int wanted = std::min(2 * count, 2 * n - 3), basis = std::min(2 * n, std::max(2 * wanted + 1, 20));
    // Rates in units of the slowest motions, as far as a few steps of the power method know them.
    double w = pace;
    if (l.states() == 0) {
      const InverseStiffness power{&matrix, n};
      VectorXd x = VectorXd::Ones(n), y(n);
      for (int i = 0; i < 3 && x.norm() > 0; ++i) {
        x.normalize();
        power.perform_op(VectorXd(l.M * x).data(), y.data());
        std::swap(x, y);
      }
      if (x.norm() > 0) w = std::min(pace, 1 / std::sqrt(x.norm()));
    }
    InverseFirstOrder inverse{&matrix, &l, s, w};
    Spectra::GenEigsRealShiftSolver<InverseFirstOrder> solver(inverse, wanted, basis, s);
    VectorXd start = VectorXd::Ones(2 * n), admissible(2 * n);
    // Three times, until nothing is left of what the constraints forbid.
    inverse.perform_op(start.data(), admissible.data());
    inverse.perform_op(admissible.data(), start.data());
    inverse.perform_op(start.data(), admissible.data());
    solver.init(admissible.data());
    // With damping in proportion to the stiffness many eigenvalues are close to -1/damping, and cannot be told from each other: the slower ones are found.
    if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
        found == 0)
      complain(found, wanted);
    const VectorXcd eigenvalues = solver.eigenvalues();
    const MatrixXcd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < eigenvalues.size(); ++i) {
      const Complex value = eigenvalues[i];
      if (value.imag() < 0) continue;
      // Zero is defective, and comes out as the square root of round-off.
      const bool rigid = std::abs(value) <= kDefective * s;
      out.push_back(
          {rigid ? 0 : value, shape_of(l, shapes.col(i).head(n), w * shapes.col(i).tail(n)), rigid});
    }
    return out;
  };
  for (int shifts = 1;; ++shifts) {
    std::vector<Pair> out = symmetric ? squares() : first_order();
    if (shifts == kShifts) return out;
    if (s == 0) {
      // Round-off may hide that the stiffness is singular.
      if (std::none_of(out.begin(), out.end(), [&](const Pair& p) { return nothing_resists(p.y); }))
        return out;
      shift_away();
      continue;
    }
    double slowest = INFINITY, least = 0;
    for (const Pair& pair : out)
      if (pair.rigid)
        least = std::max(least, least_shift(l.M, scale, pair.y));
      else
        slowest = std::min(slowest, std::abs(pair.s));
    if (!std::isfinite(slowest) || slowest >= kFar * s) return out;
    const double before = s;
    s = std::max({slowest, kDefective * s, least});
    if (!(s < kFar * before) || !matrix.factorize(s)) return out;
  }
}

// The largest displacement or rotation of the shape becomes 1, the largest state where nothing moves; shares of the kinetic energy.
Mode finished(const System& system, const Linearization& l, Pair pair) {
  constexpr double kNothing = 1e-9;
  Mode out;
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
  const VectorXcd momentum = l.M * pair.y;
  double sum = 0;
  for (std::size_t i = 0; i < system.model().body_types.size(); ++i) {
    const Node& node = system.model().nodes[i];
    const int size = node_size(node.type).v;
    const double energy =
        std::max(pair.y.segment(node.v, size).dot(momentum.segment(node.v, size)).real(), 0.0);
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
    out.axes = {options.axes_rate, change_of_matrices(system, state, options.axes_rate, work), 0};
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
        "the state is neither an equilibrium nor a steady motion (the matrices change by {:.2g} per radian): "
        "the eigenvalues are those of t = {:.6g} s{}",
        out.axes.change, state.t,
        follows ? ", and depend on the coordinates" : ", with constraints that stay as they are there"));
  else if (std::string remark = not_quite_steady(out.axes, state.t); !remark.empty())
    out.warnings.push_back(std::move(remark));

  if (follows) out.axes.rate = Vec3::Zero();
  Linearization l =
      follows ? linearize_unsteady(system, state, work) : linearize(system, state, out.axes.rate, work);
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
    l.K = symmetric_part(l.K);
  }
  out.solver = dense ? "dense" : "sparse";
  std::vector<Pair> pairs;
  const VectorXd scale = stiffness_scale(system, state, l, work);
  if (dense) {
    if (l.is_plain()) {
      const MatrixXd N = admissible_motions(l.B);
      out.degrees_of_freedom = static_cast<int>(N.cols());
      pairs = dense_pairs(l, N, scale, state.t);
    } else {
      const MinimalEquations e = minimal_equations(l, false);
      out.degrees_of_freedom = static_cast<int>(e.V.cols() - l.states());
      pairs = general_pairs(l, e, scale, state.t);
    }
  } else {
    out.degrees_of_freedom = freedoms;
    pairs = sparse_pairs(model, l, scale, count, state.t);
    if (pairs.size() < static_cast<std::size_t>(std::min(count, freedoms)))
      out.warnings.push_back(
          fmt::format("only {} of {} modes were found: eigenvalues further away are too close to each other",
                      pairs.size(), count));
    if (std::any_of(pairs.begin(), pairs.end(), [](const Pair& pair) { return pair.rigid; }))
      out.warnings.emplace_back(
          "there are motions that nothing resists: of such a multiple eigenvalue the sparse solver shows "
          "some "
          "only, and others of the slowest modes beside them");
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return std::abs(a.s) < std::abs(b.s); });
  if (options.count > 0 && pairs.size() > static_cast<std::size_t>(options.count))
    pairs.resize(static_cast<std::size_t>(options.count));
  for (Pair& pair : pairs) out.modes.push_back(finished(system, l, std::move(pair)));
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

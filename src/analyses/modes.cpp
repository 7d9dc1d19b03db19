#include "analyses/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
// GCC 12 mistakes a reallocation in this library for a use after free.
#pragma GCC diagnostic ignored "-Wuse-after-free"
#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/SymGEigsShiftSolver.h>

#include "base/suggest.h"
#include "system/layout.h"
#include "system/node_components.h"

namespace liedyn {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

constexpr double kSymmetric = 1e-12;   // relative to the matrix
constexpr double kResistance = 1e-13;  // of the stiffness: motions with less have the eigenvalue zero
constexpr int kSparseCount = 20;

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
void add_square(double square, double round_off, const VectorXcd& y, std::vector<Pair>& out) {
  if (std::abs(square) <= round_off) {
    out.push_back({0, y, true});
  } else if (square > 0) {
    out.push_back({Complex(0, std::sqrt(square)), y});
  } else {
    out.push_back({Complex(std::sqrt(-square), 0), y});
    out.push_back({Complex(-std::sqrt(-square), 0), y});
  }
}

// Rows at velocity level or friction: x' = A x in minimal coordinates. A motion that nothing resists is an eigenvalue zero here too, but one
// that may be defective: taken for zero if it is below the root of round-off.
std::vector<Pair> general_pairs(const MinimalEquations& e, double time) {
  std::vector<Pair> out;
  if (e.A.size() == 0) return out;
  const Eigen::EigenSolver<MatrixXd> eigen(e.A);
  if (eigen.info() != Eigen::Success) throw NumericalError(time, "the eigenvalues were not found");
  const double zero = std::sqrt(kResistance) * e.A.norm();
  for (Eigen::Index i = 0; i < e.A.rows(); ++i) {
    const Complex s = eigen.eigenvalues()[i];
    if (s.imag() < 0) continue;
    const bool rigid = std::abs(s) <= zero;
    const VectorXcd x = eigen.eigenvectors().col(i), y = e.P * x.head(e.P.cols());
    const VectorXcd rate = e.V * x.tail(e.V.cols()) + e.Y * x.head(e.P.cols());
    out.push_back({rigid ? 0 : s, y.norm() > 1e-8 * rate.norm() ? y : rate, rigid});
  }
  return out;
}

// s^2 M + s C + K on the admissible motions y = N x, all eigenvalues.
std::vector<Pair> dense_pairs(const Linearization& l, const MatrixXd& N, double time) {
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
  const MatrixXd c = scaled(C), k = scaled(K);
  const auto motion = [&](const VectorXcd& z) {
    const MatrixXd parts = N * cholesky.matrixU().solve((MatrixXd(n, 2) << z.real(), z.imag()).finished());
    return VectorXcd(parts.col(0) + Complex(0, 1) * parts.col(1));
  };
  const double stiffness = k.norm(), damping = c.norm();
  const double round_off = kResistance * (stiffness + damping * damping);  // of s^2
  const bool undamped = damping * damping <= kSymmetric * kSymmetric * stiffness;
  if (undamped && antisymmetric_part(k).norm() <= kSymmetric * stiffness) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(symmetric_part(k));
    for (Eigen::Index i = 0; i < n; ++i)
      add_square(eigen.eigenvalues()[i], round_off, motion(eigen.eigenvectors().col(i).cast<Complex>()), out);
    return out;
  }
  // Zero is a defective eigenvalue, and comes out as its square root of round-off: its motions are better found in k.
  const Eigen::JacobiSVD<MatrixXd> svd(k, Eigen::ComputeFullV);
  for (Eigen::Index i = 0; i < n; ++i)
    if (svd.singularValues()[i] <= round_off)
      out.push_back({0, motion(svd.matrixV().col(i).cast<Complex>()), true});
  const bool resisted = out.empty();
  // First order, with time in units in which both blocks have about the same size:   (z, z'/w)' = w [0 1; -k/w^2 -c/w] (z, z'/w)
  const double w = std::max(std::sqrt(stiffness), damping) / std::sqrt(static_cast<double>(n));
  MatrixXd A(2 * n, 2 * n);
  A << MatrixXd::Zero(n, n), MatrixXd::Identity(n, n), -k / (w * w), -c / w;
  const Eigen::EigenSolver<MatrixXd> eigen(A);
  if (eigen.info() != Eigen::Success) throw NumericalError(time, "the eigenvalues were not found");
  for (Eigen::Index i = 0; i < 2 * n; ++i) {
    const Complex s = w * eigen.eigenvalues()[i];
    if (s.imag() < 0 || (!resisted && std::norm(s) <= 100 * round_off)) continue;
    // Of (z, s z/w) the larger half says more.
    const VectorXcd vector = eigen.eigenvectors().col(i);
    const bool slow = vector.head(n).norm() >= vector.tail(n).norm();
    out.push_back({s, motion(slow ? vector.head(n) : vector.tail(n))});
  }
  return out;
}

// K + s C + s^2 M bordered by B, in the sparse solver of the mechanism. Rows that repeat others are left out.
class ShiftedMatrix {
 public:
  ShiftedMatrix(const Model& model, const Linearization& l)
      : l_(&l), nv_(model.nv), pattern_(block_pattern(model, IndexForm::Index3)) {
    block_of_.resize(at(pattern_.unknowns()));
    for (int b = 0; b < pattern_.blocks(); ++b)
      for (int i = pattern_.start[at(b)]; i < pattern_.start[at(b) + 1]; ++i) block_of_[at(i)] = b;
    solver_ = make_linear_solver(pattern_, "klu");
    right_.resize(at(pattern_.unknowns()));
  }
  bool factorize(double s) {
    if (filled_and_factorized(s)) return true;
    if (held_.empty()) {
      held_.assign(at(pattern_.unknowns()), false);
      for (const int row : dependent_rows(l_->B)) held_[at(nv_ + row)] = true;
    }
    return filled_and_factorized(s);
  }
  // The motion y, with zero in the rows of the constraints.
  void solve(const double* x, double* y) const {
    std::copy_n(x, nv_, right_.begin());
    std::fill(right_.begin() + nv_, right_.end(), 0.0);
    solver_->solve(right_.data());
    std::copy_n(right_.begin(), nv_, y);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  bool filled_and_factorized(double s) {
    constexpr double kSingular = 1e-16;
    solver_->set_zero();
    add(l_->K, 1);
    add(l_->C, s);
    add(l_->M, s * s);
    for (int c = 0; c < l_->B.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(l_->B, c); it; ++it) {
        entry(nv_ + static_cast<int>(it.row()), c) += it.value();
        entry(c, nv_ + static_cast<int>(it.row())) += it.value();
      }
    if (!held_.empty()) solver_->hold(held_);
    return solver_->factorize() && solver_->reciprocal_condition() > kSingular;
  }
  void add(const SparseMatrix& X, double factor) {
    if (factor == 0) return;
    for (int c = 0; c < X.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(X, c); it; ++it)
        entry(static_cast<int>(it.row()), c) += factor * it.value();
  }
  double& entry(int row, int column) {
    const int rb = block_of_[at(row)], cb = block_of_[at(column)];
    const BlockRef ref = solver_->block(rb, cb);
    return solver_->values()[ref.offset + (row - pattern_.start[at(rb)]) +
                             (column - pattern_.start[at(cb)]) * ref.stride];
  }

  const Linearization* l_;
  int nv_;
  BlockPattern pattern_;
  std::vector<int> block_of_;
  std::vector<bool> held_;  // multipliers of rows that repeat others
  std::unique_ptr<LinearSolver> solver_;
  mutable std::vector<double> right_;
};

// (K - sigma M)^-1 on the admissible motions, and M, as Spectra wants them.
struct InverseStiffness {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  Eigen::Index size;
  Eigen::Index rows() const { return size; }
  Eigen::Index cols() const { return size; }
  void set_shift(double) {}  // factorised already
  void perform_op(const double* x, double* y) const { matrix->solve(x, y); }
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
// The inverse of the first-order equations y' = z, M z' = -C z - K y - B^T mu at the shift s: (a, b) is what is left of them, and
//   z = a + s y,     (s^2 M + s C + K) y + B^T mu = -(M b + (s M + C) a).
// The second half holds z and b in units of w.
struct InverseFirstOrder {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  const Linearization* l;
  double s, w;
  Eigen::Index rows() const { return 2 * l->M.rows(); }
  Eigen::Index cols() const { return rows(); }
  void set_shift(double) {}
  void perform_op(const double* in, double* out) const {
    const Eigen::Index n = l->M.rows();
    const Eigen::Map<const VectorXd> a(in, n), b(in + n, n);
    Eigen::Map<VectorXd> y(out, n), z(out + n, n);
    const VectorXd right = -(l->M * (w * b + s * a) + l->C * a);
    matrix->solve(right.data(), out);
    z = (a + s * y) / w;
  }
};

// The eigenvalues nearest to zero. The shift lies a little beside it, so that motions that nothing resists do no harm.
std::vector<Pair> sparse_pairs(const Model& model, const Linearization& l, int count, double time) {
  constexpr int kIterations = 1000;
  constexpr double kPrecision = 1e-13, kShift = 1e-3;
  const double stiffness = l.K.norm(), inertia = l.M.norm(), damping = l.C.norm();
  const auto n = static_cast<int>(l.M.rows());
  const double pace = std::max(std::sqrt(stiffness / inertia), damping / inertia);
  const double round_off = kResistance * pace * pace;
  ShiftedMatrix matrix(model, l);
  double s = kShift * pace;
  while (!matrix.factorize(s))
    if ((s *= 10) > 10 * pace || s == 0)
      throw NumericalError(
          time, "no motion of the model resists: its stiffness matrix is singular with every shift");
  const auto complain = [&](Eigen::Index found, int wanted) {
    throw NumericalError(time, fmt::format("only {} of {} eigenvalues were found", found, wanted));
  };
  std::vector<Pair> out;
  if (damping <= kSymmetric * pace * inertia && antisymmetric_part(l.K).norm() <= kSymmetric * stiffness) {
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
    const VectorXd squares = solver.eigenvalues();
    const MatrixXd shapes = solver.eigenvectors();
    for (Eigen::Index i = 0; i < squares.size(); ++i)
      add_square(squares[i], round_off, shapes.col(i).cast<Complex>(), out);
    return out;
  }
  const int wanted = std::min(2 * count, 2 * n - 3), basis = std::min(2 * n, std::max(2 * wanted + 1, 20));
  InverseFirstOrder inverse{&matrix, &l, s, pace};
  Spectra::GenEigsRealShiftSolver<InverseFirstOrder> solver(inverse, wanted, basis, s);
  VectorXd start = VectorXd::Ones(2 * n), admissible(2 * n);
  inverse.perform_op(start.data(), admissible.data());
  inverse.perform_op(admissible.data(), start.data());
  solver.init(start.data());
  if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
      found < wanted)
    complain(found, wanted);
  const VectorXcd eigenvalues = solver.eigenvalues();
  const MatrixXcd shapes = solver.eigenvectors();
  for (Eigen::Index i = 0; i < eigenvalues.size(); ++i) {
    const Complex value = eigenvalues[i];
    if (value.imag() < 0) continue;
    const bool rigid = std::norm(value) <= 100 * round_off;
    out.push_back({rigid ? 0 : value, shapes.col(i).head(n), rigid});
  }
  return out;
}

// The largest number of the shape becomes 1; shares of the kinetic energy.
Mode finished(const System& system, const Linearization& l, Pair pair) {
  Mode out;
  out.eigenvalue = pair.s;
  out.rigid = pair.rigid;
  Eigen::Index largest = 0;
  pair.y.cwiseAbs().maxCoeff(&largest);
  if (pair.y[largest] != 0.0) pair.y /= Complex(pair.y[largest]);
  out.shape.assign(pair.y.begin(), pair.y.end());
  const VectorXcd momentum = l.M * pair.y;
  double sum = 0;
  for (const Node& node : system.model().nodes) {
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
  if (options.axes_given)
    out.axes = {options.axes_rate, change_of_matrices(system, state, options.axes_rate, work)};
  else
    out.axes = steady_axes(system, state, work);
  if (out.axes.change > kSteady)
    out.warnings.push_back(
        fmt::format("the state is neither an equilibrium nor a steady motion (the matrices change by {:.2g} "
                    "per radian): the "
                    "eigenvalues are those of the equations frozen at t = {:.6g} s",
                    out.axes.change, state.t));

  Linearization l = linearize(system, state, out.axes.rate, work);
  if (options.undamped) {
    l.C = antisymmetric_part(l.C);
    l.K = symmetric_part(l.K);
  }
  const bool dense = options.solver == "dense" || (options.solver == "auto" && model.nv <= kLargestDense);
  out.solver = dense ? "dense" : "sparse";
  std::vector<Pair> pairs;
  if (dense) {
    const MatrixXd N = admissible_motions(l.B);
    out.degrees_of_freedom = static_cast<int>(N.cols());
    pairs = l.is_plain() ? dense_pairs(l, N, state.t) : general_pairs(minimal_equations(l, false), state.t);
  } else {
    if (!l.is_plain())
      throw InputError("solver", "constraints at velocity level and friction need --solver dense");
    out.degrees_of_freedom = model.nv - model.rows;
    pairs = sparse_pairs(model, l, options.count > 0 ? options.count : kSparseCount, state.t);
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

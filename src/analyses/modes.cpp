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
#include "base/suggest.h"
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

// The motion of the bodies, and the values of states where their own y would stand.
VectorXcd shape_of(const Linearization& l, const VectorXcd& y, const VectorXcd& rate) {
  constexpr double kNothing = 1e-8;
  const auto bodies = l.first_state;
  VectorXcd out = rate;
  if (y.head(bodies).norm() > kNothing * rate.head(bodies).norm()) out.head(bodies) = y.head(bodies);
  return out;
}

// States, rows at velocity level or friction: x' = A x in minimal coordinates. Zero may be a defective eigenvalue, which comes out as the square
// root of round-off: as in dense_pairs its motions are those with A x = 0.
std::vector<Pair> general_pairs(const Linearization& l, const MinimalEquations& e, double time) {
  std::vector<Pair> out;
  if (e.A.size() == 0) return out;
  // Only states have units that differ by orders of magnitude.
  const Balanced b = l.states() > 0 ? balanced(e.A) : Balanced{e.A, VectorXd::Ones(e.A.rows())};
  const Eigen::EigenSolver<MatrixXd> eigen(b.A);
  if (eigen.info() != Eigen::Success) throw NumericalError(time, "the eigenvalues were not found");
  const auto motion = [&](const VectorXcd& vector) {
    const VectorXcd x = b.D.asDiagonal() * vector;
    return shape_of(l, e.P * x.head(e.P.cols()), e.V * x.tail(e.V.cols()) + e.Y * x.head(e.P.cols()));
  };
  const double size = b.A.norm(), zero = std::sqrt(kResistance) * size;
  if ((eigen.eigenvalues().array().abs() <= zero).any()) {
    const Eigen::BDCSVD<MatrixXd> svd(b.A, Eigen::ComputeFullV);
    for (Eigen::Index i = 0; i < b.A.rows(); ++i)
      if (svd.singularValues()[i] <= kResistance * size)
        out.push_back({0, motion(svd.matrixV().col(i).cast<Complex>()), true});
  }
  const bool resisted = out.empty();
  for (Eigen::Index i = 0; i < e.A.rows(); ++i) {
    const Complex s = eigen.eigenvalues()[i];
    if (s.imag() < 0 || (!resisted && std::abs(s) <= zero)) continue;
    out.push_back({s, motion(eigen.eigenvectors().col(i))});
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

// The eigenvalues nearest to zero. The shift lies a little beside it, so that motions that nothing resists do no harm.
std::vector<Pair> sparse_pairs(const Model& model, const Linearization& l, int count, double time) {
  constexpr int kIterations = 1000;
  constexpr double kPrecision = 1e-13, kShift = 1e-3;
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
  if (l.is_plain() && damping <= kSymmetric * pace * inertia &&
      antisymmetric_part(l.K).norm() <= kSymmetric * stiffness) {
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
  // Three times, until nothing is left of what the constraints forbid.
  inverse.perform_op(start.data(), admissible.data());
  inverse.perform_op(admissible.data(), start.data());
  inverse.perform_op(start.data(), admissible.data());
  solver.init(admissible.data());
  if (const auto found = solver.compute(Spectra::SortRule::LargestMagn, kIterations, kPrecision);
      found < wanted)
    complain(found, wanted);
  const VectorXcd eigenvalues = solver.eigenvalues();
  const MatrixXcd shapes = solver.eigenvectors();
  for (Eigen::Index i = 0; i < eigenvalues.size(); ++i) {
    const Complex value = eigenvalues[i];
    if (value.imag() < 0) continue;
    const bool rigid = std::norm(value) <= 100 * round_off;
    out.push_back(
        {rigid ? 0 : value, shape_of(l, shapes.col(i).head(n), pace * shapes.col(i).tail(n)), rigid});
  }
  return out;
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
  if (options.axes_given)
    out.axes = {options.axes_rate, change_of_matrices(system, state, options.axes_rate, work)};
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
  const bool unsteady = out.axes.change > kSteady, follows = unsteady && dense && !options.axes_given;
  if (unsteady)
    out.warnings.push_back(fmt::format(
        "the state is neither an equilibrium nor a steady motion (the matrices change by {:.2g} per radian): "
        "the "
        "eigenvalues are those of t = {:.6g} s{}",
        out.axes.change, state.t,
        follows ? ", and depend on the coordinates" : ", with constraints that stay as they are there"));

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
  if (dense) {
    if (l.is_plain()) {
      const MatrixXd N = admissible_motions(l.B);
      out.degrees_of_freedom = static_cast<int>(N.cols());
      pairs = dense_pairs(l, N, state.t);
    } else {
      const MinimalEquations e = minimal_equations(l, false);
      out.degrees_of_freedom = static_cast<int>(e.V.cols() - l.states());
      pairs = general_pairs(l, e, state.t);
    }
  } else {
    out.degrees_of_freedom = freedoms;
    pairs = sparse_pairs(model, l, count, state.t);
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

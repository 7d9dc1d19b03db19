#include "model/flexible/reduction.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "model/flexible/floating_frame.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Triplets = std::vector<Eigen::Triplet<double>>;
using Cholesky = Eigen::SimplicialLDLT<SparseMatrix>;

struct Eigenpairs {
  VectorXd values;  // ascending
  MatrixXd vectors;
};

// The lowest of K x = value M x within the span of Y, from K + shift M instead of K: M may be singular.
Eigenpairs ritz(const MatrixXd& shifted, const MatrixXd& M, double shift) {
  const auto symmetric = [](const MatrixXd& A) { return MatrixXd(0.5 * (A + A.transpose())); };
  // M x = mu (K + shift M) x, mu = 1/(value + shift)
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(symmetric(M), symmetric(shifted));
  if (solver.info() != Eigen::Success)
    throw std::invalid_argument("has a stiffness that is not positive definite");
  Eigenpairs out;
  out.values = solver.eigenvalues().reverse().array().max(1e-300).inverse() - shift;
  out.vectors = solver.eigenvectors().rowwise().reverse();
  return out;
}

// Takes the motions L out of the columns of X, with the mass matrix as inner product.
class Orthogonal {
 public:
  Orthogonal(const SparseMatrix& M, const MatrixXd& L) : L_(L), ML_(M * L) {
    if (L.cols() > 0) solver_.compute(L.transpose() * ML_);
  }
  void apply(MatrixXd& X) const {
    if (L_.cols() == 0) return;
    for (int twice = 0; twice < 2; ++twice) X -= L_ * solver_.solve(MatrixXd(ML_.transpose() * X));
  }

 private:
  MatrixXd L_, ML_;
  Eigen::LDLT<MatrixXd> solver_;
};

// The lowest eigenvectors beside the known ones L, whose eigenvalue is 0. Iteration of a whole subspace, since bodies with symmetric sections have double
// eigenvalues and iterations of one vector may miss one of two.
Eigenpairs lowest(const SparseMatrix& K, const SparseMatrix& M, int count, double shift, const MatrixXd& L) {
  constexpr int kDense = 250, kMostIterations = 300;
  const int size = static_cast<int>(K.rows()), known = static_cast<int>(L.cols());
  const SparseMatrix shifted = K + shift * M;
  const Orthogonal orthogonal(M, L);
  Eigenpairs out;
  if (size <= kDense || 3 * count > size) {
    out = ritz(MatrixXd(shifted), MatrixXd(M), shift);
    out = {VectorXd(out.values.segment(known, count)), MatrixXd(out.vectors.middleCols(known, count))};
    orthogonal.apply(out.vectors);
    return out;
  }
  Cholesky factor(shifted);
  if (factor.info() != Eigen::Success)
    throw std::invalid_argument("has a stiffness that is not positive definite");
  const int columns = count + std::max(count, 8);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  MatrixXd X = MatrixXd::NullaryExpr(size, std::min(columns, size - known), [&] { return uniform(random); });
  orthogonal.apply(X);
  VectorXd before = VectorXd::Zero(count);
  int calm = 0;
  for (int i = 0; i < kMostIterations && calm < 3; ++i) {
    const MatrixXd MX = M * X;
    MatrixXd Y = factor.solve(MX);
    orthogonal.apply(Y);
    out = ritz(Y.transpose() * (shifted * Y), Y.transpose() * (M * Y), shift);
    X = Y * out.vectors;
    const VectorXd now = out.values.head(count);
    calm = ((now - before).array().abs() <= 1e-13 * (now.array().abs() + shift)).all() ? calm + 1 : 0;
    before = now;
  }
  if (calm < 3) throw std::invalid_argument("has modes that were not found; ask for fewer");
  return {before, X.leftCols(count)};
}

// How large the lowest eigenvalue of the free body may be: that of fields x_j^2 e_i, which bend it, and x_i e_i, which stretch it.
double lowest_estimate(const FiniteElements& full) {
  const Vec3 middle = full.places.rowwise().mean();
  MatrixXd U = MatrixXd::Zero(full.size(), 12);
  for (int n = 0; n < full.nodes(); ++n) {
    const Vec3 x = full.places.col(n) - middle;
    for (int i = 0; i < 3; ++i) {
      U(full.freedoms * n + i, 9 + i) = x[i];
      for (int j = 0; j < 3; ++j) {
        U(full.freedoms * n + i, 3 * i + j) = x[j] * x[j];
        if (full.freedoms == 6)
          U.block<3, 1>(6 * n + 3, 3 * i + j) = x[j] * Vec3::Unit(j).cross(Vec3::Unit(i));
      }
    }
  }
  Orthogonal(full.M, full.rigid_motions()).apply(U);
  double least = INFINITY;
  for (Eigen::Index i = 0; i < U.cols(); ++i) {
    const double mass = U.col(i).dot(full.M * U.col(i)), stiffness = U.col(i).dot(full.K * U.col(i));
    if (mass > 1e-12 * full.M.diagonal().sum() * std::pow(full.extent(), i < 9 ? 4 : 2) && stiffness > 0)
      least = std::min(least, stiffness / mass);
  }
  if (!std::isfinite(least)) throw std::invalid_argument("has no mass or no stiffness");
  return least;
}

// Full displacements by those of the nodes that are in no interface, followed by six coordinates of each interface.
SparseMatrix tied(const FiniteElements& full, const std::vector<InterfaceNodes>& interfaces) {
  std::vector<int> owner(static_cast<std::size_t>(full.nodes()), -1);
  for (std::size_t k = 0; k < interfaces.size(); ++k)
    for (const int node : interfaces[k].nodes) {
      int& of = owner[static_cast<std::size_t>(node)];
      if (of >= 0 && of != static_cast<int>(k))
        throw std::invalid_argument("has interfaces that share a node");
      of = static_cast<int>(k);
    }
  const int free = static_cast<int>(std::count(owner.begin(), owner.end(), -1)) * full.freedoms;
  Triplets entries;
  int next = 0;
  for (int node = 0; node < full.nodes(); ++node) {
    const int row = full.freedoms * node, of = owner[static_cast<std::size_t>(node)];
    if (of < 0) {
      for (int c = 0; c < full.freedoms; ++c) entries.emplace_back(row + c, next++, 1);
      continue;
    }
    const int column = free + 6 * of;
    const Mat3 arm = -skew(Vec3(full.places.col(node) - interfaces[static_cast<std::size_t>(of)].place));
    for (int r = 0; r < 3; ++r) {
      entries.emplace_back(row + r, column + r, 1);
      for (int c = 0; c < 3; ++c)
        if (arm(r, c) != 0) entries.emplace_back(row + r, column + 3 + c, arm(r, c));
      if (full.freedoms == 6) entries.emplace_back(row + 3 + r, column + 3 + r, 1);
    }
  }
  SparseMatrix T(full.size(), free + 6 * static_cast<int>(interfaces.size()));
  T.setFromTriplets(entries.begin(), entries.end());
  return T;
}

// The modes in coordinates of `tied`.
Eigenpairs craig_bampton(const SparseMatrix& K, const SparseMatrix& M, int boundary, int modes, double shift,
                         const MatrixXd& L) {
  const int size = static_cast<int>(K.rows()), inside = size - boundary;
  MatrixXd V = MatrixXd::Zero(size, boundary + modes);
  const SparseMatrix K_ii = K.topLeftCorner(inside, inside);
  Cholesky factor(K_ii);
  if (factor.info() != Eigen::Success || (factor.vectorD().array() <= 0).any())
    throw std::invalid_argument("can still move freely with all interfaces held");
  V.topLeftCorner(inside, boundary) = -factor.solve(MatrixXd(K.topRightCorner(inside, boundary)));
  V.block(inside, 0, boundary, boundary).setIdentity();
  if (modes > 0)
    V.topRightCorner(inside, modes) =
        lowest(K_ii, M.topLeftCorner(inside, inside), modes, 0, MatrixXd(inside, 0)).vectors;
  for (Eigen::Index i = 0; i < V.cols(); ++i) {
    const double size_of = std::sqrt(V.col(i).dot(M * V.col(i)));
    if (size_of > 0) V.col(i) /= size_of;
  }
  const MatrixXd MV = M * V;
  Eigenpairs out = ritz(V.transpose() * (K * V) + shift * (V.transpose() * MV), V.transpose() * MV, shift);
  const int elastic = boundary + modes - 6;
  out = {VectorXd(out.values.segment(6, elastic)), MatrixXd(V * out.vectors.middleCols(6, elastic))};
  Orthogonal(M, L).apply(out.vectors);
  return out;
}

// Displacements of the points of mass by those of the nodes, and their mass matrix.
struct MassPoints {
  SparseMatrix field, mass;
};
MassPoints mass_points(const FiniteElements& full) {
  MassPoints out{full.field, full.mass};
  if (out.field.rows() > 0) return out;
  Triplets pick;
  for (int i = 0; i < full.nodes(); ++i)
    for (int c = 0; c < 3; ++c) pick.emplace_back(3 * i + c, full.freedoms * i + c, 1);
  out.field.resize(3 * full.nodes(), full.size());
  out.field.setFromTriplets(pick.begin(), pick.end());
  out.mass = out.field * full.M * SparseMatrix(out.field.transpose());
  return out;
}

void write_integrals(const FiniteElements& full, const MatrixXd& modes, const VectorXd& squares,
                     std::vector<double>& numbers) {
  const int n = static_cast<int>(modes.cols());
  numbers.assign(static_cast<std::size_t>(ShapeIntegrals::size(n)), 0);
  const ShapeIntegralsOf<double> out(n, numbers.data());
  const MatrixXd L = full.rigid_motions(), MPhi = full.M * modes;
  const Mat6 M = L.transpose() * (full.M * L);
  out.M() = 0.5 * (M + M.transpose());
  out.s() = vee(M.bottomLeftCorner<3, 3>());
  const Eigen::Matrix<double, 6, Eigen::Dynamic> A = L.transpose() * MPhi;
  for (int l = 0; l < n; ++l) {
    out.A(l) = A.col(l);
    out.s(l) = A.col(l).head<3>();
    out.m(l) = modes.col(l).dot(MPhi.col(l));
    out.k(l) = squares[l] * out.m(l);
  }

  // Displacements of the points of mass, of the modes (F) and of the rigid motions (Y); b_k w = w x phi_k at each of them.
  const auto [field, mass] = mass_points(full);
  const MatrixXd F = field * modes, Y = field * L;
  MatrixXd b(F.rows(), 3 * n);
  for (int k = 0; k < n; ++k)
    for (Eigen::Index g = 0; g < F.rows(); g += 3) b.block<3, 3>(g, 3 * k) = -skew(Vec3(F.block<3, 1>(g, k)));
  const MatrixXd mb = mass * b, D = Y.transpose() * mb, e = F.transpose() * mb, G = b.transpose() * mb;
  for (int k = 0; k < n; ++k) {
    Mat6 N = Mat6::Zero();
    N.rightCols<3>() = D.middleCols<3>(3 * k);
    out.N(k) = N + N.transpose();
    for (int l = 0; l < n; ++l) {
      out.e(l, k) = e.block<1, 3>(l, 3 * k).transpose();
      const Mat3 both = G.block<3, 3>(3 * k, 3 * l);
      out.G(k, l) = 0.5 * (both + both.transpose());
    }
  }
}

// ---- second order

// x with K x = f for the free body, by iteration with K + shift M: f has neither force nor torque, x is orthogonal to the rigid motions.
MatrixXd free_solution(const SparseMatrix& K, const SparseMatrix& M, double shift, const MatrixXd& L,
                       const MatrixXd& f) {
  constexpr int kMostIterations = 200;
  const Cholesky factor(SparseMatrix(K + shift * M));
  if (factor.info() != Eigen::Success)
    throw std::invalid_argument("has a stiffness that is not positive definite");
  const Orthogonal orthogonal(M, L);
  MatrixXd x = MatrixXd::Zero(f.rows(), f.cols());
  for (int i = 0; i < kMostIterations; ++i) {
    MatrixXd step = factor.solve(MatrixXd(f - K * x));
    orthogonal.apply(step);
    x += step;
    // The shift is a tenth of the lowest eigenvalue: each iteration leaves a tenth.
    if (step.norm() <= 1e-13 * x.norm()) break;
  }
  return x;
}

// What the pairs of modes add: to `out`, and to the integrals G. `V` are the modes in the coordinates of `tied`, T and L those of reduce().
void add_second_order(const FiniteElements& full, const std::vector<InterfaceNodes>& interfaces,
                      const SparseMatrix& T, const MatrixXd& L, const MatrixXd& V, double shift,
                      const SecondDerivatives& second, ReducedBody& out) {
  const int n = static_cast<int>(out.modes.cols()), pairs = pair_count(n);
  const MatrixXd& Phi = out.modes;
  const MatrixXd g = second(Phi), L_full = full.rigid_motions(), ML = full.M * L_full, KPhi = full.K * Phi;
  const ShapeIntegralsOf<double> integrals(n, out.integrals.data());

  // Nodes that are tied to an interface turn with it, to second order too: theta x (theta x arm)/2.
  MatrixXd turned = MatrixXd::Zero(full.size(), pairs);
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    for (const int node : interfaces[i].nodes) {
      const Vec3 arm = full.places.col(node) - interfaces[i].place;
      for (int l = 0; l < n; ++l)
        for (int k = 0; k <= l; ++k) {
          const Vec3 a = out.interfaces[i].col(k).tail<3>(), b = out.interfaces[i].col(l).tail<3>();
          turned.block<3, 1>(full.freedoms * node, pair_index(k, l)) =
              0.5 * (a.cross(b.cross(arm)) + b.cross(a.cross(arm)));
        }
    }

  // K s = -g, as far as forces are not those of rigid accelerations.
  MatrixXd f = -(g + full.K * turned);
  const Eigen::LDLT<MatrixXd> rigid_mass(L_full.transpose() * ML);
  f -= ML * rigid_mass.solve(MatrixXd(L_full.transpose() * f));
  const SparseMatrix Tt = T.transpose();
  MatrixXd x = free_solution(Tt * full.K * T, Tt * full.M * T, shift, L, Tt * f);
  MatrixXd s = T * x + turned;

  // Nothing that modes can do: Phi^T K s = 0. Then the third-order part of the energy is that of the modes,
  //   U_3 = 1/6 sum T_abc eta_a eta_b eta_c,   T_abc = phi_a.g_bc,
  // and displacements c_c(eta) along the stiffest mode c of each product take it away, k_c eta_c c_c = -U_3: elastic forces stay linear in eta.
  MatrixXd along = MatrixXd(KPhi.transpose() * s);
  const MatrixXd cubic = Phi.transpose() * g;
  for (int c = 0; c < n; ++c) {
    along.row(c) /= -integrals.k(c);
    for (int b = 0; b <= c; ++b)
      for (int a = 0; a <= b; ++a) {
        const double share = a == c ? 1.0 / 3 : b == c ? 0.5 : 1;
        along(c, pair_index(a, b)) -= share * cubic(c, pair_index(a, b)) / integrals.k(c);
      }
  }
  s += Phi * along;
  x += V * along;
  // The frame of Tisserand, to second order.
  const MatrixXd rigid = rigid_mass.solve(MatrixXd(ML.transpose() * s));
  s -= L_full * rigid;
  x -= L * rigid;

  for (std::size_t i = 0; i < interfaces.size(); ++i)
    out.interface_pairs.emplace_back(
        x.middleRows<6>(x.rows() - 6 * static_cast<Eigen::Index>(interfaces.size() - i)));
  out.pairs = s;

  // M(eta) has 1/2 sum N(s_kl) eta_k eta_l, of which the Tisserand frame leaves the rotational part.
  const auto [field, mass] = mass_points(full);
  const MatrixXd F = field * s, mY = mass * MatrixXd(field * L_full.rightCols<3>());
  for (int l = 0; l < n; ++l)
    for (int k = 0; k <= l; ++k) {
      Mat3 D = Mat3::Zero();  // sum over points of Y^T m (-s~)
      for (Eigen::Index point = 0; point < F.rows(); point += 3)
        D -= mY.middleRows<3>(point).transpose() * skew(Vec3(F.block<3, 1>(point, pair_index(k, l))));
      const Mat3 half = 0.5 * (D + D.transpose());
      integrals.G(k, l) += half;
      if (k != l) integrals.G(l, k) += half;
    }
}

}  // namespace

int reduced_modes(ReductionMethod method, int modes, int interfaces) {
  const int rounded = (modes + 2) / 3 * 3;
  if (method == ReductionMethod::Free) return rounded;
  return interfaces == 0 ? rounded : rounded + 6 * interfaces - 6;
}

ReducedBody reduce(const FiniteElements& full, const std::vector<InterfaceNodes>& interfaces,
                   ReductionMethod method, int modes, const SecondDerivatives& second) {
  const SparseMatrix T = tied(full, interfaces);
  const SparseMatrix Tt = T.transpose();
  const SparseMatrix K = Tt * full.K * T, M = Tt * full.M * T;
  const int size = static_cast<int>(K.rows()), boundary = 6 * static_cast<int>(interfaces.size());
  const int count = reduced_modes(method, modes, static_cast<int>(interfaces.size()));
  if (count > size - 6)
    throw std::invalid_argument(
        fmt::format("has only {} modes, fewer than the {} that are asked for", size - 6, count));
  if (count > kMostModes)
    throw std::invalid_argument(fmt::format("would have {} modes, expected at most {}", count, kMostModes));

  constexpr double kMostSecond = 3e7;  // numbers in a table of pairs: 240 MB, and there are a few of them
  if (second && static_cast<double>(full.size()) * pair_count(count) > kMostSecond)
    throw std::invalid_argument(
        fmt::format("is too large for geometric_stiffness: {} nodes and {} modes, take fewer of one or the other",
                    full.nodes(), count));

  // Rigid motions in the coordinates of T.
  MatrixXd L = MatrixXd::Zero(size, 6);
  const MatrixXd L_full = full.rigid_motions();
  for (Eigen::Index c = 0; c < size - boundary; ++c)
    L.row(c) = L_full.row(SparseMatrix::InnerIterator(T, c).row());
  for (std::size_t k = 0; k < interfaces.size(); ++k) {
    const auto row = size - boundary + 6 * static_cast<Eigen::Index>(k);
    L.block<6, 6>(row, 0).setIdentity();
    L.block<3, 3>(row, 3) = -skew(interfaces[k].place);
  }
  const double force = (full.K * L_full).cwiseAbs().maxCoeff(),
               scale = full.K.coeffs().cwiseAbs().maxCoeff() * std::max(1.0, full.extent());
  if (!(force <= 1e-6 * scale))
    throw std::invalid_argument("resists rigid motions: its stiffness is not that of a free body");

  ReducedBody out;
  Eigenpairs found{VectorXd(0), MatrixXd(size, 0)};
  const double shift = count > 0 ? 0.1 * lowest_estimate(full) : 0;
  if (count > 0) {
    const bool free = method == ReductionMethod::Free || interfaces.empty();
    found =
        free ? lowest(K, M, count, shift, L) : craig_bampton(K, M, boundary, count - boundary + 6, shift, L);
    if (!(found.values[0] > 1e-9 * shift))
      throw std::invalid_argument("is in several pieces, or can move in itself without resistance");
  }
  out.frequencies = found.values.cwiseMax(0).cwiseSqrt();
  out.modes = T * found.vectors;
  for (int l = 0; l < count; ++l) {
    // The largest displacement is 1, that of a point a hundredth of the body away from a turning node included: coordinates are lengths.
    double largest = 0;
    for (int row = 0; row < full.size(); ++row) {
      const bool turn = row % full.freedoms >= 3;
      const double u = out.modes(row, l) * (turn ? 0.01 * full.extent() : 1);
      if (std::abs(u) > (1 + 1e-6) * std::abs(largest)) largest = u;
    }
    out.modes.col(l) /= largest;
    found.vectors.col(l) /= largest;
  }
  for (std::size_t k = 0; k < interfaces.size(); ++k)
    out.interfaces.emplace_back(
        found.vectors.middleRows<6>(size - boundary + 6 * static_cast<Eigen::Index>(k)));
  write_integrals(full, out.modes, found.values, out.integrals);
  if (second && count > 0) add_second_order(full, interfaces, T, L, found.vectors, shift, second, out);
  return out;
}

}  // namespace liedyn

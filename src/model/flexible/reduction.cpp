#include "liedyn/model/flexible/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>  // MetisSupport writes its errors there
#include <random>
#include <stdexcept>

#include <Eigen/MetisSupport>
#include <Eigen/SparseCholesky>

#include "liedyn/base/decompositions.h"
#include "liedyn/model/flexible/floating_frame.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Triplets = std::vector<Eigen::Triplet<double>>;

struct Eigenpairs {
  VectorXd values;  // ascending
  MatrixXd vectors;
};

constexpr const char* kLoose = "consists of several pieces, or has internal motions without stiffness";

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

using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;

// An order of elimination with few fill-ins: by nested dissection, the best for solids, unless the matrix is small.
Permutation elimination_order(const SparseMatrix& K) {
  constexpr Eigen::Index kSmall = 1000;
  Permutation back;
  if (K.rows() < kSmall)
    Eigen::AMDOrdering<int>()(K, back);
  else
    Eigen::MetisOrdering<int>()(K, back);
  return back.inverse();
}

// P K P^T = L D L^T.
class Factor {
 public:
  explicit Factor(const SparseMatrix& K) : order_(elimination_order(K)) {
    SparseMatrix ordered;
    ordered = K.twistedBy(order_);
    cholesky_.compute(ordered);
    // A motion that nothing resists leaves a pivot of round-off of the entry it is the rest of.
    constexpr double kRoundOff = 1e-14;
    definite_ = cholesky_.info() == Eigen::Success;
    if (!definite_) return;
    definite_ = (cholesky_.vectorD().array() > kRoundOff * ordered.diagonal().array()).all();
  }
  bool is_definite() const { return definite_; }
  // All right sides in one pass through L, which is far larger than they are.
  MatrixXd solve(const MatrixXd& right) const {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Rows x = order_ * right;
    const SparseMatrix& L = cholesky_.matrixL().nestedExpression();
    const Eigen::Index columns = x.cols();
    for (Eigen::Index j = 0; j < L.cols(); ++j)
      for (SparseMatrix::InnerIterator it(L, j); it; ++it) {
        const double* from = x.data() + j * columns;
        double* to = x.data() + it.row() * columns;
        for (Eigen::Index c = 0; c < columns; ++c) to[c] -= it.value() * from[c];
      }
    x = cholesky_.vectorD().cwiseInverse().asDiagonal() * x;
    for (Eigen::Index j = L.cols() - 1; j >= 0; --j)
      for (SparseMatrix::InnerIterator it(L, j); it; ++it) {
        const double* from = x.data() + it.row() * columns;
        double* to = x.data() + j * columns;
        for (Eigen::Index c = 0; c < columns; ++c) to[c] -= it.value() * from[c];
      }
    return order_.inverse() * x;
  }
  // R with R R^T = K^-1.
  MatrixXd root() const {
    MatrixXd out = cholesky_.vectorD().cwiseSqrt().cwiseInverse().asDiagonal();
    cholesky_.matrixU().solveInPlace(out);
    return order_.inverse() * out;
  }

 private:
  Permutation order_;
  Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower, Eigen::NaturalOrdering<int>> cholesky_;
  bool definite_ = false;
};

// As many freedoms as there are rigid motions L, such that a body held there is held well: far apart.
std::vector<int> supports(const MatrixXd& L, double extent) {
  MatrixXd scaled = L.transpose();
  if (scaled.rows() == 6) scaled.bottomRows<3>() /= extent;
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(scaled);
  const auto& order = qr.colsPermutation().indices();
  return {order.data(), order.data() + L.cols()};
}

// The inverse of K x = value M x: columns X go to Y with K Y = M X. A free body is held at as many freedoms as it has rigid motions L: loads M X in balance,
// those of motions without momentum, leave nothing to carry there, and L is taken out of the displacements. So there is no shift, and the eigenvalues of the
// inverse are 1/value however far apart its smallest and largest are.
class Inverse {
 public:
  Inverse(const SparseMatrix& K, const SparseMatrix& M, const MatrixXd& L, double extent)
      : orthogonal_(M, L),
        rest_(without(K.rows(), supports(L, extent))),
        factor_(rest_.transpose() * K * rest_) {}
  bool exists() const { return factor_.is_definite(); }
  MatrixXd apply(const MatrixXd& MX) const {
    MatrixXd Y = rest_ * factor_.solve(rest_.transpose() * MX);
    orthogonal_.apply(Y);
    return Y;
  }
  // R with R R^T M X = Y.
  MatrixXd root() const {
    MatrixXd out = rest_ * factor_.root();
    orthogonal_.apply(out);
    return out;
  }
  const Orthogonal& orthogonal() const { return orthogonal_; }

 private:
  // Columns of the identity but for those of `held`.
  static SparseMatrix without(Eigen::Index size, const std::vector<int>& held) {
    Triplets entries;
    int column = 0;
    for (int row = 0; row < size; ++row)
      if (std::find(held.begin(), held.end(), row) == held.end()) entries.emplace_back(row, column++, 1);
    SparseMatrix out(size, column);
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
  }

  Orthogonal orthogonal_;
  SparseMatrix rest_;
  Factor factor_;
};

// Lanczos' method by blocks, with all vectors orthogonal to each other in the mass matrix, restarted with the best of them. Blocks, since bodies with
// symmetric sections have double eigenvalues and iterations of one vector may miss one of two.
class Lanczos {
 public:
  Lanczos(const Inverse& inverse, const SparseMatrix& M, int count)
      : inverse_(inverse), M_(M), count_(count), most_(2 * count + 6 * kBlock) {
    Q_.resize(M.rows(), most_ + kBlock);
    MQ_.resizeLike(Q_);
    H_ = MatrixXd::Zero(most_ + kBlock, most_ + kBlock);
  }

  Eigenpairs run() {
    constexpr int kMostBlocks = 2000;
    constexpr double kConverged = 1e-12;
    add_random();
    for (int i = 0; i < kMostBlocks && known_ < size_; ++i) {
      const int first = known_, last = size_;
      // Of A Q = Q H + rest, the columns of the last block.
      MatrixXd Z = inverse_.apply(MQ_.middleCols(first, last - first));
      const MatrixXd part = MQ_.leftCols(last).transpose() * Z;
      H_.block(0, first, last, last - first) = part;
      H_.block(first, 0, last - first, last) = part.transpose();
      const MatrixXd own = H_.block(first, first, last - first, last - first);
      H_.block(first, first, last - first, last - first) = 0.5 * (own + own.transpose());
      Z -= Q_.leftCols(last) * part;
      known_ = last;
      const MatrixXd rest = add(Z);
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(MatrixXd(H_.topLeftCorner(known_, known_)));
      const VectorXd mu = eigen.eigenvalues().reverse();
      const MatrixXd S = eigen.eigenvectors().rowwise().reverse();
      if (known_ >= count_) {
        const VectorXd left = (rest * S.block(first, 0, last - first, count_)).colwise().norm();
        if ((left.array() <= kConverged * mu.head(count_).array()).all())
          return {mu.head(count_).cwiseInverse(), Q_.leftCols(known_) * S.leftCols(count_)};
      }
      if (size_ == known_) add_random();
      if (size_ > most_) restart(mu, S);
    }
    throw std::invalid_argument(
        known_ < count_ ? fmt::format("has mass for {} modes only, fewer than requested", known_)
                        : "has modes that the eigenvalue solver did not find; request fewer modes");
  }

 private:
  static constexpr int kBlock = 6;

  // Appends what is new in the columns of X. Returns X in terms of it.
  MatrixXd add(const MatrixXd& X) {
    constexpr double kNothing = 1e-13;
    const int before = size_;
    MatrixXd out = MatrixXd::Zero(kBlock, X.cols());
    const double scale = known_ > 0 ? H_.topLeftCorner(known_, known_).cwiseAbs().maxCoeff() : 0;
    for (Eigen::Index i = 0; i < X.cols() && size_ < before + kBlock; ++i) {
      MatrixXd x = X.col(i);
      const double whole = std::sqrt(std::max(x.col(0).dot(VectorXd(M_ * x.col(0))), 0.0));
      for (int pass = 0; pass < 3; ++pass) {
        const VectorXd part = MQ_.leftCols(size_).transpose() * x;
        x -= Q_.leftCols(size_) * part;
        out.col(i).head(size_ - before) += part.tail(size_ - before);
      }
      inverse_.orthogonal().apply(x);
      const VectorXd Mx = M_ * x.col(0);
      const double length = std::sqrt(std::max(x.col(0).dot(Mx), 0.0));
      if (!(length > kNothing * std::max(scale, whole)) || length < 1e-150) continue;
      out(size_ - before, i) = length;
      Q_.col(size_) = x / length;
      MQ_.col(size_++) = Mx / length;
    }
    return out.topRows(size_ - before);
  }
  void add_random() {
    std::uniform_real_distribution<double> uniform(-1, 1);
    MatrixXd X = MatrixXd::NullaryExpr(M_.rows(), kBlock, [&] { return uniform(random_); });
    // Rigid motions out, and with them loads that are not in balance.
    inverse_.orthogonal().apply(X);
    X = inverse_.apply(M_ * X);
    const double scale = X.cwiseAbs().maxCoeff();
    if (scale > 0) add(X / scale);
  }
  // Keeps the best vectors, and the block whose image is not known yet.
  void restart(const VectorXd& mu, const MatrixXd& S) {
    const int keep = std::min(count_ + 2 * kBlock, known_), next = size_ - known_;
    const MatrixXd Q = Q_.leftCols(known_) * S.leftCols(keep), MQ = MQ_.leftCols(known_) * S.leftCols(keep);
    const MatrixXd block = Q_.middleCols(known_, next), M_block = MQ_.middleCols(known_, next);
    Q_.leftCols(keep) = Q;
    MQ_.leftCols(keep) = MQ;
    Q_.middleCols(keep, next) = block;
    MQ_.middleCols(keep, next) = M_block;
    H_.setZero();
    H_.diagonal().head(keep) = mu.head(keep);
    known_ = keep;
    size_ = keep + next;
  }

  const Inverse& inverse_;
  const SparseMatrix& M_;
  int count_, most_;
  MatrixXd Q_, MQ_, H_;
  int known_ = 0, size_ = 0;  // vectors whose image is in H, and all
  std::mt19937 random_{1};
};

// With a generalised inverse R R^T of K:   R^T M R z = z/value,   x = R z
Eigenpairs spectrum(const MatrixXd& R, const SparseMatrix& M, int count) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(MatrixXd(R.transpose() * (M * R)));
  const VectorXd mu = eigen.eigenvalues().reverse().head(count);
  if (!(mu[count - 1] > 1e-16 * mu[0]))
    throw std::invalid_argument("has mass for fewer modes than requested");
  const MatrixXd z = eigen.eigenvectors().rowwise().reverse().leftCols(count);
  return {mu.cwiseInverse(), R * z * mu.cwiseSqrt().cwiseInverse().asDiagonal()};
}

Eigenpairs lowest(const Inverse& inverse, const SparseMatrix& M, int count) {
  constexpr int kDense = 120;
  if (M.rows() > kDense && M.rows() > 4 * count) return Lanczos(inverse, M, count).run();
  return spectrum(inverse.root(), M, count);
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

// The modes in coordinates of `tied`. `inverse`: with held interfaces.
Eigenpairs craig_bampton(const SparseMatrix& K, const SparseMatrix& M, const Inverse& inverse, int boundary,
                         int modes, const MatrixXd& L, double extent) {
  const int size = static_cast<int>(K.rows()), inside = size - boundary;
  const SparseMatrix K_ib = K.topRightCorner(inside, boundary), M_ii = M.topLeftCorner(inside, inside);
  MatrixXd constrained(size, boundary);
  constrained << -inverse.apply(MatrixXd(K_ib)), MatrixXd::Identity(boundary, boundary);
  // What the interfaces resist, S = K_bb - K_bi K_ii^-1 K_ib, for displacements Z of them without a rigid part: rotations as displacements at a distance.
  MatrixXd S = MatrixXd(K.bottomRightCorner(boundary, boundary));
  S += K_ib.transpose() * constrained.topRows(inside);
  VectorXd units = VectorXd::Ones(boundary);
  for (int i = 0; i < boundary; ++i)
    if (i % 6 >= 3) units[i] = 1 / extent;
  const Eigen::HouseholderQR<MatrixXd> rigid(units.cwiseInverse().asDiagonal() * L.bottomRows(boundary));
  const int elastic = boundary - 6;
  MatrixXd Z = MatrixXd::Zero(boundary, elastic);
  if (elastic > 0) {
    Z.bottomRows(elastic).setIdentity();
    Z = units.asDiagonal() * (rigid.householderQ() * Z);
  }

  // Modes with held interfaces do no work against those: K is S and their eigenvalues. Rigid motions do not change it, but take all momentum out.
  MatrixXd V = MatrixXd::Zero(size, elastic + modes),
           stiffness = MatrixXd::Zero(elastic + modes, elastic + modes);
  V.leftCols(elastic) = constrained * Z;
  stiffness.topLeftCorner(elastic, elastic) = Z.transpose() * S * Z;
  if (modes > 0) {
    const Eigenpairs held = lowest(inverse, M_ii, modes);
    V.topRightCorner(inside, modes) = held.vectors;
    stiffness.diagonal().tail(modes) = held.values;
  }
  Orthogonal(M, L).apply(V);
  // R R^T = K^-1,   R^T M R z = z/value
  const VectorXd scale = stiffness.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  const Eigen::LLT<MatrixXd> cholesky(scale.asDiagonal() * stiffness * scale.asDiagonal());
  if (cholesky.info() != Eigen::Success || !(stiffness.diagonal().minCoeff() > 0) ||
      MatrixXd(cholesky.matrixL()).diagonal().minCoeff() < 1e-7)
    throw std::invalid_argument(kLoose);
  const MatrixXd R = scale.asDiagonal() * cholesky.matrixU().solve(MatrixXd::Identity(V.cols(), V.cols()));
  return spectrum(V * R, M, static_cast<int>(V.cols()));
}

// The equations of the floating frame need the whole inertia of the rigid body.
void check_rigid_inertia(const FiniteElements& full, const MatrixXd& L) {
  constexpr double kNothing = 1e-13;
  const Mat6 M = L.transpose() * (full.M * L);
  const double mass = M.topLeftCorner<3, 3>().trace() / 3;
  if (!(mass > 0)) throw std::invalid_argument("has no mass: the sum of its mass matrix is not positive");
  if (!(Eigen::SelfAdjointEigenSolver<Mat3>(M.topLeftCorner<3, 3>()).eigenvalues()[0] > kNothing * mass))
    throw std::invalid_argument("has no mass in one direction");
  // About the centre of mass.
  const Vec3 centre = vee(M.bottomLeftCorner<3, 3>()) / mass;
  const Mat3 J = M.bottomRightCorner<3, 3>() + mass * skew(centre) * skew(centre);
  const Eigen::SelfAdjointEigenSolver<Mat3> moments(0.5 * (J + J.transpose()));
  const double size = full.extent() + centre.norm();
  if (moments.eigenvalues()[0] > kNothing * mass * size * size) return;
  Vec3 axis = moments.eigenvectors().col(0);
  Eigen::Index largest = 0;
  axis.cwiseAbs().maxCoeff(&largest);
  if (axis[largest] < 0) axis = -axis;
  for (double& x : axis) x = std::abs(x) < 1e-9 ? 0 : x;
  throw std::invalid_argument(
      fmt::format("has no moment of inertia about the axis ({:.3g}, {:.3g}, {:.3g}) through its centre of "
                  "mass: add rotary inertia to its mass matrix",
                  axis[0], axis[1], axis[2]));
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

// ---- weight and inertial forces

// Forces on the nodes by the accelerations of InertialLoads.
MatrixXd inertial_forces(const FiniteElements& full) {
  MatrixXd out(full.size(), kInertialLoads);
  const MatrixXd L = full.rigid_motions();
  out.leftCols<6>() = -(full.M * L);
  // Centrifugal forces on points of mass: those of rotary inertia are moments that would turn it.
  const auto [field, mass] = mass_points(full);
  const MatrixXd Y = field * L.rightCols<3>();
  MatrixXd a = MatrixXd::Zero(field.rows(), 6);
  for (Eigen::Index point = 0; point < a.rows(); point += 3) {
    const Vec3 X = -vee(Mat3(Y.middleRows<3>(point)));
    a.middleRows<3>(point) << X.x(), 0, 0, 0, X.z(), X.y(),  //
        0, X.y(), 0, X.z(), 0, X.x(),                        //
        0, 0, X.z(), X.y(), X.x(), 0;
  }
  out.rightCols<6>() = -(field.transpose() * (mass * a));
  return out;
}

// Of static displacements u the part that modes do not have. With held interfaces u is what the loads do between them; the rest, loads of the interfaces, is in the
// modes. So Phi eta + this is the static answer, where eta is that of the modal equations: eta = Phi^T K u/k for this part.
MatrixXd beyond_modes(const FiniteElements& full, const ReducedBody& body, const MatrixXd& u) {
  const int n = static_cast<int>(body.modes.cols());
  MatrixXd eta = body.modes.transpose() * (full.K * u);
  const ShapeIntegralsOf<const double> integrals(n, body.integrals.data());
  for (int l = 0; l < n; ++l) eta.row(l) /= integrals.k(l);
  return u - body.modes * eta;
}

// ---- second order

// x with K x = f for the free body: f has neither force nor torque, x is orthogonal to the rigid motions.
MatrixXd free_solution(const SparseMatrix& K, const SparseMatrix& M, const MatrixXd& L, double extent,
                       const MatrixXd& f) {
  const Inverse inverse(K, M, L, extent);
  if (!inverse.exists()) throw std::invalid_argument(kLoose);
  return inverse.apply(f);
}

// What the pairs of modes add: to `out`, and to the integrals G. `V` are the modes in the coordinates of `tied`, T and L those of reduce().
void add_second_order(const FiniteElements& full, const std::vector<InterfaceNodes>& interfaces,
                      const SparseMatrix& T, const MatrixXd& L, const MatrixXd& V,
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
  MatrixXd x = free_solution(Tt * full.K * T, Tt * full.M * T, L, std::max(full.extent(), 1e-300), Tt * f);
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
        fmt::format("has only {} modes, fewer than the {} requested", size - 6, count));
  if (count > kMostModes)
    throw std::invalid_argument(fmt::format("would have {} modes, expected at most {}", count, kMostModes));

  constexpr double kMostSecond = 3e7;  // numbers in a table of pairs: 240 MB, and there are a few of them
  if (second && static_cast<double>(full.size()) * pair_count(count) > kMostSecond)
    throw std::invalid_argument(fmt::format(
        "is too large for geometric_stiffness: {} nodes and {} modes, reduce the number of nodes or of modes",
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

  check_rigid_inertia(full, L_full);
  ReducedBody out;
  Eigenpairs found{VectorXd(0), MatrixXd(size, 0)};
  const double extent = std::max(full.extent(), 1e-300);
  MatrixXd forces = Tt * inertial_forces(full), answer = MatrixXd::Zero(size, kInertialLoads);
  if (method == ReductionMethod::Free || interfaces.empty()) {
    const Inverse inverse(K, M, L, extent);
    if (count > 0 && !inverse.exists()) throw std::invalid_argument(kLoose);
    if (count > 0) found = lowest(inverse, M, count);
    // Forces that accelerate the body are balanced by those of its acceleration.
    const MatrixXd ML = M * L;
    forces -= ML * MatrixXd(L.transpose() * ML).ldlt().solve(MatrixXd(L.transpose() * forces));
    if (inverse.exists()) answer = inverse.apply(forces);
  } else {
    const int inside = size - boundary;
    const SparseMatrix K_ii = K.topLeftCorner(inside, inside), M_ii = M.topLeftCorner(inside, inside);
    const Inverse inverse(K_ii, M_ii, MatrixXd(inside, 0), extent);
    if (count > 0 && !inverse.exists())
      throw std::invalid_argument("can still move freely with all interfaces fixed");
    if (count > 0) found = craig_bampton(K, M, inverse, boundary, count - boundary + 6, L, extent);
    if (inverse.exists()) answer.topRows(inside) = inverse.apply(forces.topRows(inside));
  }
  out.frequencies = found.values.cwiseSqrt();
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
  if (count == 0) out.interfaces.assign(interfaces.size(), Eigen::Matrix<double, 6, Eigen::Dynamic>(6, 0));
  for (std::size_t k = 0; k < interfaces.size() && count > 0; ++k)
    out.interfaces.emplace_back(
        found.vectors.middleRows<6>(size - boundary + 6 * static_cast<Eigen::Index>(k)));
  write_integrals(full, out.modes, found.values, out.integrals);
  out.inertial = beyond_modes(full, out, T * answer);
  if (second && count > 0) add_second_order(full, interfaces, T, L, found.vectors, second, out);
  return out;
}

}  // namespace liedyn

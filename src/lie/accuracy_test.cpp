// How accurate the maps and operators are over all angles from 1e-12 to pi, measured against references in long double
// that share nothing with the code under test: power series and inverses of matrices. Prints a table; the worst relative
// error of every function, in the Frobenius norm of its result, must stay below 2e-15, nine ulp.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "liedyn/lie/cayley.h"
#include "liedyn/lie/conformal.h"
#include "liedyn/lie/parametrizations.h"

namespace liedyn {
namespace {

using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatrixD = Eigen::MatrixXd;
using VectorD = Eigen::VectorXd;

constexpr double bound = 2e-15;

// ---- references: the algebra --------------------------------------------------------------------

// The matrix x~ of a rotation vector (3x3) or of a twist (4x4), and back.
Matrix hat(const Vector& x) {
  const bool rigid = x.size() == 6;
  const Vector w = x.tail(3);
  Matrix m = Matrix::Zero(rigid ? 4 : 3, rigid ? 4 : 3);
  m(0, 1) = -w(2), m(0, 2) = w(1), m(1, 2) = -w(0);
  m(1, 0) = w(2), m(2, 0) = -w(1), m(2, 1) = w(0);
  if (rigid) m.topRightCorner(3, 1) = x.head(3);
  return m;
}
Vector vee_of(const Matrix& m) {
  const bool rigid = m.rows() == 4;
  Vector x(rigid ? 6 : 3);
  if (rigid) x.head(3) = m.topRightCorner(3, 1);
  x.tail(3) << (m(2, 1) - m(1, 2)) / 2, (m(0, 2) - m(2, 0)) / 2, (m(1, 0) - m(0, 1)) / 2;
  return x;
}
// Columns: the bracket of x with each basis vector.
Matrix ad(const Vector& x) {
  Matrix m(x.size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Matrix e = hat(Vector::Unit(x.size(), i));
    m.col(i) = vee_of(hat(x) * e - e * hat(x));
  }
  return m;
}
Matrix identity_like(const Matrix& m) { return Matrix::Identity(m.rows(), m.cols()); }

// Which of the two quaternions of a rotation it is: -1 for the one that is not canonical (see SO3::canonical).
Real sign_of(const Eigen::Matrix<Real, 4, 1>& q) {
  for (const Real component : q)
    if (component != 0) return component < 0 ? -1 : 1;
  return 1;
}

// ---- references: exponential by power series ----------------------------------------------------

constexpr int series_terms = 50;

struct ExponentialReference {
  // sum X^k/k!
  static Matrix map(const Vector& x) {
    const Matrix X = hat(x);
    Matrix term = identity_like(X);
    Matrix sum = term;
    for (int k = 1; k < series_terms; ++k) {
      term = Matrix(term * X) / static_cast<Real>(k);
      sum += term;
    }
    return sum;
  }
  // sum (-ad)^k/(k+1)!
  static Matrix T(const Vector& x) {
    const Matrix minus_ad = -ad(x);
    Matrix term = identity_like(minus_ad);
    Matrix sum = term;
    for (int k = 1; k < series_terms; ++k) {
      term = Matrix(term * minus_ad) / static_cast<Real>(k + 1);
      sum += term;
    }
    return sum;
  }
  // The same series applied to y: z_(k+1) = -[x, z_k], so dz_(k+1)/dx = -ad(x) dz_k/dx + ad(z_k)
  static Matrix dT(const Vector& x, const Vector& y) {
    const Matrix minus_ad = -ad(x);
    Vector z = y;
    Matrix dz = Matrix::Zero(x.size(), x.size());
    Matrix sum = dz;
    for (int k = 1; k < series_terms; ++k) {
      const auto divisor = static_cast<Real>(k + 1);
      dz = Matrix(minus_ad * dz + ad(z)) / divisor;
      z = Vector(minus_ad * z) / divisor;
      sum += dz;
    }
    return sum;
  }
  // log of a rotation from its quaternion, and the twist by the transposed inverse of T
  static Vector local(const Eigen::Matrix<Real, 4, 1>& q, const Vector& position) {
    const Vector v = q.tail(3);
    const Real length = v.norm();
    const Vector w = sign_of(q) * 2 * std::atan2(length, std::abs(q(0))) / length * v;
    Vector x(3 + position.size());
    if (position.size() == 3) x.head(3) = T(w).transpose().inverse() * position;
    x.tail(3) = w;
    return x;
  }
};

// ---- references: Cayley map from its definition, C = (I - X/2)^-1 (I + X/2) ---------------------

struct CayleyReference {
  static Matrix map(const Vector& x) {
    const Matrix half = hat(x) / 2;
    return (identity_like(half) - half).inverse() * (identity_like(half) + half);
  }
  // C^-1 dC(y) = B^-1 Y/2 (C + I) with B = I + X/2
  static Matrix increment(const Vector& x, const Vector& y) {
    const Matrix half = hat(x) / 2;
    const Matrix one = identity_like(half);
    return (one + half).inverse() * (hat(y) / 2) * (map(x) + one);
  }
  // its derivative in the direction d: -B^-1 D/2 (C^-1 dC(y)) + B^-1 Y/2 C (C^-1 dC(d))
  static Matrix increment_along(const Vector& x, const Vector& y, const Vector& d) {
    const Matrix half = hat(x) / 2;
    const Matrix B_inverse = (identity_like(half) + half).inverse();
    return B_inverse * (hat(y) / 2 * map(x) * increment(x, d) - hat(d) / 2 * increment(x, y));
  }
  static Matrix T(const Vector& x) {
    Matrix m(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) m.col(i) = vee_of(increment(x, Vector::Unit(x.size(), i)));
    return m;
  }
  static Matrix dT(const Vector& x, const Vector& y) {
    Matrix m(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i)
      m.col(i) = vee_of(increment_along(x, y, Vector::Unit(x.size(), i)));
    return m;
  }
  // x = 2 (M - I)(M + I)^-1 of the matrix M; the rotation from its quaternion, 2 v/w
  static Vector local(const Eigen::Matrix<Real, 4, 1>& q, const Vector& position) {
    Vector x(3 + position.size());
    x.tail(3) = 2 / q(0) * q.tail(3);
    if (position.size() == 3) {
      const Matrix half = hat(x.tail(3)) / 2;
      x.head(3) = (identity_like(half) - half) * position;
    }
    return x;
  }
};

// ---- references: conformal map as the square of a Cayley map ------------------------------------

struct ConformalReference {
  static Matrix map(const Vector& x) {
    const Matrix C = CayleyReference::map(x / 2);
    return C * C;
  }
  // M^-1 dM = C^-1 m C + m  with  m = C^-1 dC
  static Matrix T(const Vector& x) {
    const Matrix C = CayleyReference::map(x / 2);
    Matrix result(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const Matrix m = CayleyReference::increment(x / 2, Vector::Unit(x.size(), i) / 2);
      result.col(i) = vee_of(C.inverse() * m * C + m);
    }
    return result;
  }
  // and along d, with dC = C n:  C^-1 dm C + [C^-1 m C, n] + dm
  static Matrix dT(const Vector& x, const Vector& y) {
    const Matrix C = CayleyReference::map(x / 2);
    const Matrix m = CayleyReference::increment(x / 2, y / 2);
    const Matrix rotated = C.inverse() * m * C;
    Matrix result(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const Vector d = Vector::Unit(x.size(), i) / 2;
      const Matrix n = CayleyReference::increment(x / 2, d);
      const Matrix dm = CayleyReference::increment_along(x / 2, y / 2, d);
      result.col(i) = vee_of(C.inverse() * dm * C + rotated * n - n * rotated + dm);
    }
    return result;
  }
  static Vector local(const Eigen::Matrix<Real, 4, 1>& q, const Vector& position) {
    Vector x(3 + position.size());
    x.tail(3) = 4 / (sign_of(q) + q(0)) * q.tail(3);
    if (position.size() == 3) {
      const Matrix quarter = hat(x.tail(3)) / 4;
      const Matrix A = identity_like(quarter) - quarter;
      x.head(3) = A * A * position;
    }
    return x;
  }
};

// ---- the sweep and the table --------------------------------------------------------------------

std::vector<double> angles(double end) {
  std::vector<double> t;
  const int count = 420;
  for (int k = 0; k <= count; ++k) t.push_back(1e-12 * std::pow(end / 1e-12, static_cast<double>(k) / count));
  for (int k = 1; k <= 15; ++k) t.push_back(end * (1 - std::pow(10.0, -k)));  // dense towards the end
  return t;
}

class Sampler {
 public:
  VectorD vector(int size) {
    return VectorD::NullaryExpr(size,
                                [this] { return std::uniform_real_distribution<double>(-1, 1)(generator_); });
  }
  // Directions in general, and every fifth along a coordinate axis.
  VectorD axis() {
    return ++count_ % 5 == 0 ? VectorD(VectorD::Unit(3, count_ % 3)) : VectorD(vector(3).normalized());
  }

 private:
  std::mt19937 generator_{1};
  int count_ = 0;
};

class Row {
 public:
  explicit Row(std::string name) : name_(std::move(name)) {}
  void see(const MatrixD& computed, const Matrix& reference, double angle) {
    const auto error = static_cast<double>((computed.cast<Real>() - reference).norm() / reference.norm());
    if (!(error <= worst_)) worst_ = error, at_ = angle;
  }
  // Prints and judges.
  void finish() const {
    std::printf("%-28s | %20.1e | %.15g\n", name_.c_str(), worst_, at_);
    EXPECT_LT(worst_, bound) << name_ << " at angle " << at_;
  }

 private:
  std::string name_;
  double worst_ = 0;
  double at_ = 0;
};

void print_header() { std::printf("%-28s | %20s | %s\n", "function", "worst relative error", "at angle"); }

template <class S>
MatrixD matrix_of(const SO3<S>& q) {
  return q.R();
}
template <class S>
MatrixD matrix_of(const SE3<S>& q) {
  MatrixD m = MatrixD::Identity(4, 4);
  m.topLeftCorner(3, 3) = q.R();
  m.topRightCorner(3, 1) = q.position();
  return m;
}
template <class S>
Eigen::Vector4d quaternion_of(const SO3<S>& q) {
  return q.coordinates();
}
template <class S>
Eigen::Vector4d quaternion_of(const SE3<S>& q) {
  return q.rotation().coordinates();
}
template <class S>
VectorD position_of(const SO3<S>&) {
  return VectorD(0);
}
template <class S>
VectorD position_of(const SE3<S>& q) {
  return q.position();
}

// All six functions of one kind of local coordinates. `length` turns a rotation angle into the length of the coordinate
// vector.
template <class Coordinates, class Reference>
void sweep(const std::string& name, double end, const std::function<double(double)>& length) {
  using G = typename Coordinates::Group;
  Row map(name + " map"), local(name + " local"), T(name + " T"), Tinv(name + " Tinv"), dT(name + " dT"),
      dTinv(name + " dTinv");
  Sampler sampler;
  for (const double angle : angles(end)) {
    VectorD x_dynamic = sampler.vector(G::dof);
    x_dynamic.tail(3) = length(angle) * sampler.axis();
    const typename G::Tangent x = x_dynamic;
    const typename G::Tangent y = sampler.vector(G::dof);
    const Vector x_wide = x_dynamic.cast<Real>();
    const Vector y_wide = VectorD(y).cast<Real>();

    const G q = Coordinates::map(x);
    map.see(matrix_of(q), Reference::map(x_wide), angle);
    // The rounded element is the input of the inverse map, so the reference starts from it too.
    local.see(Coordinates::local(q),
              Reference::local(quaternion_of(q).template cast<Real>().normalized(),
                               position_of(q).template cast<Real>()),
              angle);

    const Matrix T_reference = Reference::T(x_wide);
    const Matrix Tinv_reference = T_reference.inverse();
    T.see(Coordinates::T(x), T_reference, angle);
    Tinv.see(Coordinates::Tinv(x), Tinv_reference, angle);
    dT.see(Coordinates::dT(x, y), Reference::dT(x_wide, y_wide), angle);
    // d(T^-1 y) = -T^-1 dT(x, T^-1 y)
    dTinv.see(Coordinates::dTinv(x, y), -Tinv_reference * Reference::dT(x_wide, Tinv_reference * y_wide),
              angle);
  }
  for (const Row* row : {&map, &local, &T, &Tinv, &dT, &dTinv}) row->finish();
}

TEST(Accuracy, ExponentialOnSO3AndSE3) {
  print_header();
  const auto length = [](double angle) { return angle; };
  sweep<Exponential<SO3<double>>, ExponentialReference>("SO3 exponential", std::numbers::pi, length);
  sweep<Exponential<SE3<double>>, ExponentialReference>("SE3 exponential", std::numbers::pi, length);
}

// The Cayley map cannot reach pi: at 3 rad its coordinates are 28 long already.
TEST(Accuracy, CayleyOnSO3AndSE3) {
  print_header();
  const auto length = [](double angle) { return 2 * std::tan(angle / 2); };
  sweep<Cayley<SO3<double>>, CayleyReference>("SO3 Cayley", 3, length);
  sweep<Cayley<SE3<double>>, CayleyReference>("SE3 Cayley", 3, length);
}

TEST(Accuracy, ConformalOnSO3AndSE3) {
  print_header();
  const auto length = [](double angle) { return 4 * std::tan(angle / 4); };
  sweep<Conformal<SO3<double>>, ConformalReference>("SO3 conformal", std::numbers::pi, length);
  sweep<Conformal<SE3<double>>, ConformalReference>("SE3 conformal", std::numbers::pi, length);
}

// ---- rotation parameters that are not local coordinates -----------------------------------------

// Elementary rotation about a coordinate axis, derived `order` times: each time the generator appears as a factor.
Matrix elementary(int axis, Real angle, int order) {
  const Matrix generator = hat(Vector::Unit(3, axis));
  Matrix m =
      Matrix::Identity(3, 3) + std::sin(angle) * generator + (1 - std::cos(angle)) * generator * generator;
  for (int i = 0; i < order; ++i) m = Matrix(generator * m);
  return m;
}

// Rx Ry Rz with each factor derived as often as `orders` says
Matrix cardan(const Vector& p, const std::vector<int>& orders) {
  return elementary(0, p(0), orders[0]) * elementary(1, p(1), orders[1]) * elementary(2, p(2), orders[2]);
}
std::vector<int> derive(std::vector<int> orders, int i) {
  ++orders[static_cast<std::size_t>(i)];
  return orders;
}
Matrix cardan_G(const Vector& p) {
  Matrix m(3, 3);
  for (int i = 0; i < 3; ++i)
    m.col(i) = vee_of(cardan(p, {0, 0, 0}).transpose() * cardan(p, derive({0, 0, 0}, i)));
  return m;
}
Matrix cardan_dG(const Vector& p, const Vector& y) {
  Matrix m = Matrix::Zero(3, 3);
  const std::vector<int> none{0, 0, 0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      m.col(j) += y(i) * vee_of(cardan(p, derive(none, j)).transpose() * cardan(p, derive(none, i)) +
                                cardan(p, none).transpose() * cardan(p, derive(derive(none, i), j)));
  return m;
}

// The middle angle stays below 1.5, because at pi/2 Ginv is infinite. from_rotation is judged below 1 only: towards pi/2
// the rotation says less and less about a and c, and its rounding is amplified by 1/cos b.
TEST(Accuracy, CardanAngles) {
  using Kind = CardanAngles<double>;
  print_header();
  Row R("Cardan R"), G("Cardan G"), Ginv("Cardan Ginv"), dG("Cardan dG"), dGinv("Cardan dGinv");
  Row rotation("Cardan rotation"), back("Cardan from_rotation");
  Sampler sampler;
  for (const double angle : angles(std::numbers::pi)) {
    Vec3 p = angle * sampler.axis();
    p(1) *= 1.5 / std::numbers::pi;
    const Vec3 y = sampler.vector(3);
    const Vector p_wide = VectorD(p).cast<Real>();
    const Vector y_wide = VectorD(y).cast<Real>();
    const Matrix G_inverse = cardan_G(p_wide).inverse();
    R.see(Kind::R(p), cardan(p_wide, {0, 0, 0}), angle);
    rotation.see(Kind::rotation(p).R(), cardan(p_wide, {0, 0, 0}), angle);
    if (std::abs(p(1)) < 1) back.see(Kind::from_rotation(Kind::rotation(p)), p_wide, angle);
    G.see(Kind::G(p), cardan_G(p_wide), angle);
    Ginv.see(Kind::Ginv(p), G_inverse, angle);
    dG.see(Kind::dG(p, y), cardan_dG(p_wide, y_wide), angle);
    dGinv.see(Kind::dGinv(p, y), -G_inverse * cardan_dG(p_wide, G_inverse * y_wide), angle);
  }
  for (const Row* row : {&R, &rotation, &G, &Ginv, &dG, &dGinv, &back}) row->finish();
}

TEST(Accuracy, EulerParameters) {
  using Kind = EulerParameters<double>;
  print_header();
  Row R("Euler parameters R"), G("Euler parameters G"), Ginv("Euler parameters Ginv");
  Sampler sampler;
  for (const double angle : angles(std::numbers::pi)) {
    const SO3<double> q = SO3<double>::exp(angle * sampler.axis());
    const Eigen::Vector4d p = Kind::from_rotation(q);
    const Vector w = ExponentialReference::local(p.cast<Real>(), Vector(0));
    R.see(Kind::R(p), ExponentialReference::map(w), angle);
    // omega = 2 vec(p^* p'), column by column as quaternion products
    Matrix G_reference(3, 4);
    const Eigen::Quaternion<Real> conjugate(p(0), -p(1), -p(2), -p(3));
    for (int i = 0; i < 4; ++i) {
      const Eigen::Quaternion<Real> rate(i == 0, i == 1, i == 2, i == 3);
      G_reference.col(i) = 2 * (conjugate * rate).vec();
    }
    G.see(Kind::G(p), G_reference, angle);
    Ginv.see(Kind::Ginv(p), G_reference.transpose() * (G_reference * G_reference.transpose()).inverse(),
             angle);
  }
  for (const Row* row : {&R, &G, &Ginv}) row->finish();
}

// Two rotations by the same angle about different axes, small ones relatively as accurate as large ones.
TEST(Accuracy, CompositionOfRotationVectors) {
  print_header();
  Row row("compose_rotation_vectors");
  Sampler sampler;
  for (const double angle : angles(std::numbers::pi / 2)) {
    const Vec3 a = angle * sampler.axis();
    const Vec3 b = angle * sampler.axis();
    const auto quaternion = [](const Vec3& x) {
      const Vector w = VectorD(x).cast<Real>();
      const Real t = w.norm();
      return Eigen::Quaternion<Real>(Eigen::AngleAxis<Real>(t, Eigen::Matrix<Real, 3, 1>(w / t)));
    };
    const Eigen::Quaternion<Real> q = quaternion(a) * quaternion(b);
    if (static_cast<double>(q.vec().norm()) < 0.1 * angle)
      continue;  // nearly opposite: cancellation is inherent
    const Vector psi = ExponentialReference::local({q.w(), q.x(), q.y(), q.z()}, Vector(0));
    row.see(compose_rotation_vectors<double>(a, b), psi, angle);
  }
  row.finish();
}

}  // namespace
}  // namespace liedyn

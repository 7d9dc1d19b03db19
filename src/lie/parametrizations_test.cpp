#include "liedyn/lie/parametrizations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace liedyn {
namespace {

using D = Dual<double, 1>;

// The kind of parameters over another scalar type.
struct RotationVectorKind {
  template <class S>
  using Over = RotationVector<S>;
};
struct ConformalVectorKind {
  template <class S>
  using Over = ConformalVector<S>;
};
struct CayleyVectorKind {
  template <class S>
  using Over = CayleyVector<S>;
};
struct EulerParametersKind {
  template <class S>
  using Over = EulerParameters<S>;
};
struct CardanAnglesKind {
  template <class S>
  using Over = CardanAngles<S>;
};

double norm_of_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return (a - b).norm(); }

template <class K>
class Parameters : public ::testing::Test {
 protected:
  using Values = typename K::template Over<double>::Parameters;
  using Lines = typename K::template Over<D>::Parameters;

  template <class V>
  V random() {
    return V::NullaryExpr([this] { return std::uniform_real_distribution<double>(-1, 1)(generator_); });
  }
  // Parameters in general position; those of Euler on their constraint.
  Values random_parameters() {
    return K::template Over<double>::from_rotation(SO3<double>::exp(1.7 * random<Vec3>()));
  }

  // The derivative of f along d.
  template <class F>
  static Eigen::MatrixXd derivative(const F& f, const Values& p, const Values& d) {
    Lines line = p.template cast<D>();
    for (int i = 0; i < line.size(); ++i) line(i).d[0] = d(i);
    return f(line).unaryExpr([](const D& c) { return c.d[0]; });
  }

  std::mt19937 generator_{5};
};

using RotationKinds = ::testing::Types<RotationVectorKind, ConformalVectorKind, CayleyVectorKind,
                                       EulerParametersKind, CardanAnglesKind>;
TYPED_TEST_SUITE(Parameters, RotationKinds);

TYPED_TEST(Parameters, FromRotationInvertsRotation) {
  using Kind = typename TypeParam::template Over<double>;
  for (int k = 0; k < 100; ++k) {
    const SO3<double> q = SO3<double>::exp(1.7 * this->template random<Vec3>());
    const auto p = Kind::from_rotation(q);
    EXPECT_LT(norm_of_difference(Kind::rotation(p).R(), q.R()), 3e-15) << p.transpose();
    EXPECT_LT(norm_of_difference(Kind::R(p), q.R()), 3e-15) << p.transpose();
    EXPECT_LT(norm_of_difference(Kind::from_rotation(Kind::rotation(p)), p), 1e-14) << p.transpose();
  }
}

// R^T R' = (G p')~, for rates that respect the constraint of Euler parameters
TYPED_TEST(Parameters, GGivesTheBodyAngularVelocity) {
  using Kind = typename TypeParam::template Over<double>;
  using KindD = typename TypeParam::template Over<D>;
  for (int k = 0; k < 100; ++k) {
    const auto p = this->random_parameters();
    typename Kind::Parameters rate = this->template random<typename Kind::Parameters>();
    if (Kind::size == 4) rate -= p.dot(rate) * p;
    const Eigen::MatrixXd R_rate = this->derivative([](const auto& line) { return KindD::R(line); }, p, rate);
    const Vec3 omega = Kind::G(p) * rate;
    EXPECT_LT(norm_of_difference(Kind::R(p).transpose() * R_rate, skew(omega)), 2e-14)
        << "p " << p.transpose();
    EXPECT_LT(norm_of_difference(Kind::Ginv(p) * omega, rate), 2e-14) << "p " << p.transpose();
    EXPECT_LT(norm_of_difference(Kind::G(p) * Kind::Ginv(p), Mat3::Identity()), 2e-14)
        << "p " << p.transpose();
  }
}

TYPED_TEST(Parameters, DerivativesOfGAndItsInverse) {
  using Kind = typename TypeParam::template Over<double>;
  using KindD = typename TypeParam::template Over<D>;
  using P = typename Kind::Parameters;
  for (int k = 0; k < 100; ++k) {
    const P p = this->random_parameters();
    const P y = this->template random<P>();
    const P along = this->template random<P>();
    const Vec3 w = this->template random<Vec3>();
    const auto Gy = [&](const auto& line) { return (KindD::G(line) * y.template cast<D>()).eval(); };
    const auto Ginv_w = [&](const auto& line) { return (KindD::Ginv(line) * w.template cast<D>()).eval(); };
    const double scale =
        1 + Kind::Ginv(p).squaredNorm();  // Cardan angles may come close to their singularity
    EXPECT_LT(norm_of_difference(Kind::dG(p, y) * along, this->derivative(Gy, p, along)), 1e-14)
        << "p " << p.transpose();
    EXPECT_LT(norm_of_difference(Kind::dGinv(p, w) * along, this->derivative(Ginv_w, p, along)),
              1e-14 * scale)
        << "p " << p.transpose();
  }
}

// omega' = G p'' + dG(p, p') p' on the motion p = p0 + p1 t + p2 t^2/2, by nested duals in time
TYPED_TEST(Parameters, AccelerationsFollowFromDG) {
  using Kind = typename TypeParam::template Over<double>;
  using KindD = typename TypeParam::template Over<D>;
  using P = typename Kind::Parameters;
  const P p = this->random_parameters();
  const P rate = this->template random<P>();
  const P acceleration = this->template random<P>();
  typename KindD::Parameters p_of_t = p.template cast<D>();
  typename KindD::Parameters rate_of_t = rate.template cast<D>();
  for (int i = 0; i < Kind::size; ++i) p_of_t(i).d[0] = rate(i), rate_of_t(i).d[0] = acceleration(i);
  const Vec3 expected = (KindD::G(p_of_t) * rate_of_t).unaryExpr([](const D& c) { return c.d[0]; });
  EXPECT_LT(norm_of_difference(Kind::G(p) * acceleration + Kind::dG(p, rate) * rate, expected), 1e-14)
      << expected;
}

// Eqs. (37), (38) and (119) of Bruels and Eberhard as printed, but for c0 = 2 - |c|^2/8
TEST(ConformalVector, AgreesWithThePaper) {
  const Vec3 c(0.7, -1.1, 2.0);
  const Vec3 v(-0.3, 0.8, 0.5);
  const Vec3 y(1.0, 0.2, -0.6);
  const double c0 = 2 - c.squaredNorm() / 8;
  const double d = 4 - c0;
  const Mat3 I = Mat3::Identity();
  const Mat3 R = ((c0 * c0 + 8 * c0 - 16) * I + 2 * c * c.transpose() + 2 * c0 * skew(c)) / (d * d);
  const Mat3 T = 2 / (d * d) * (c0 * I + c * c.transpose() / 4 - skew(c));
  const Mat3 DT = 2 / (d * d) * (c * v.transpose() / 4 + v * c.transpose() / 4 - skew(v)) -
                  c.dot(v) / (d * d * d) * ((2 + c0 / 2) * I + c * c.transpose() / 4 - skew(c));
  EXPECT_LT(norm_of_difference(ConformalVector<double>::R(c), R), 1e-15);
  EXPECT_LT(norm_of_difference(ConformalVector<double>::G(c), T), 1e-15);
  EXPECT_LT(norm_of_difference(ConformalVector<double>::dG(c, y) * v, DT * y), 1e-15);
  EXPECT_NEAR(c.norm(), 4 * std::tan(ConformalVector<double>::rotation(c).log().norm() / 4), 1e-15);
}

TEST(CompositionOfRotationVectors, IsTheLogarithmOfTheProduct) {
  // A quarter turn about x, then about the new y: a third of a turn about the diagonal.
  const Vec3 psi =
      compose_rotation_vectors<double>(Vec3(std::numbers::pi / 2, 0, 0), Vec3(0, std::numbers::pi / 2, 0));
  EXPECT_LT((psi - 2 * std::numbers::pi / 3 * Vec3(1, 1, 1).normalized()).norm(), 1e-15) << psi.transpose();
  // About one axis the vectors add, past pi with the shorter way round.
  EXPECT_LT(
      (compose_rotation_vectors<double>(Vec3(0, 0, 3), Vec3(0, 0, 2)) - Vec3(0, 0, 5 - 2 * std::numbers::pi))
          .norm(),
      2e-15);
  // A full turn is no turn.
  EXPECT_LT(
      compose_rotation_vectors<double>(Vec3(std::numbers::pi, 0, 0), Vec3(std::numbers::pi, 0, 0)).norm(),
      1e-15);
}

TEST(CardanAngles, AreRotationsAboutXThenYThenZ) {
  const Mat3 R = CardanAngles<double>::R(Vec3(0.3, -0.8, 1.2));
  const Mat3 expected = (Eigen::AngleAxisd(0.3, Vec3::UnitX()) * Eigen::AngleAxisd(-0.8, Vec3::UnitY()) *
                         Eigen::AngleAxisd(1.2, Vec3::UnitZ()))
                            .toRotationMatrix();
  EXPECT_LT((R - expected).norm(), 1e-15);
}

// At b = +-pi/2 only a +- c is determined, and close to it almost only; the rotation is reproduced all the same.
TEST(CardanAngles, ReproduceTheRotationAtAndNearTheSingularity) {
  for (const double sign : {-1.0, 1.0})
    for (const double distance : {0.0, 1e-16, 1e-12, 1e-8, 1e-4, 0.1}) {
      const Mat3 R = CardanAngles<double>::R(Vec3(0.4, sign * (std::numbers::pi / 2 - distance), -1.1));
      const Vec3 p = CardanAngles<double>::from_rotation(SO3<double>::from_matrix(R));
      EXPECT_LT((CardanAngles<double>::R(p) - R).norm(), 2e-15)
          << "distance " << distance << ", p " << p.transpose();
    }
}

TEST(CardanAngles, StayWithinOneTurn) {
  for (const Vec3& p : {Vec3(3, 0.2, 3), Vec3(-3, 0.2, -3), Vec3(-3, 1, 3), Vec3(3, -1, -3)}) {
    const Vec3 back = CardanAngles<double>::from_rotation(CardanAngles<double>::rotation(p));
    EXPECT_LT((back - p).norm(), 3e-15) << "p " << p.transpose() << ", back " << back.transpose();
  }
}

TEST(EulerParameters, OffTheConstraintRIsScaledAndRotationIsNot) {
  const Eigen::Vector4d p(1, 0.5, -0.5, 0.25);
  EXPECT_LT(
      (EulerParameters<double>::R(p) - p.squaredNorm() * EulerParameters<double>::rotation(p).R()).norm(),
      1e-15);
}

}  // namespace
}  // namespace liedyn

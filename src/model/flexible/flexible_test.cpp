// Floating frames: derivatives against dual numbers, power against energy, finite elements against closed forms, reductions against the full model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cstdio>
#include <fstream>
#include <numbers>

#include "liedyn/base/dual.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/flexible/files.h"
#include "liedyn/model/flexible/interface.h"
#include "liedyn/model/flexible/kinds.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/flexible/list.h"
#include "liedyn/model/model.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

using D = Dual<double, 1>;
using DD = Dual<D, 1>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Material kSteel{2e11, 0.3, 7800};

// A small body with modes of both reductions, far from symmetric.
ReducedBody small_body(ReductionMethod method) {
  SolidMesh mesh = brick_mesh({1, 0.4, 0.3}, {3, 2, 1});
  Random random(5);
  for (Eigen::Index i = 0; i < mesh.places.cols(); ++i)
    mesh.places.col(i) += 0.02 * random.vector<3>() + Vec3(0.3, -0.2, 0.1);
  const FiniteElements full = solid_elements(mesh, {10, 0.3, 2});
  const std::vector<InterfaceNodes> interfaces = {{mesh.places.col(0), mesh.groups["x-"]},
                                                  {mesh.places.col(3), mesh.groups["x+"]}};
  return reduce(full, interfaces, method, 3);
}

FloatingMotion<double> random_motion(int n, Random& random) {
  FloatingMotion<double> x;
  x.frame = random.motion();
  for (Modal<double>* part : {&x.eta, &x.rate, &x.acceleration}) {
    part->resize(n);
    for (int i = 0; i < n; ++i) (*part)[i] = random.between(-1, 1);
  }
  return x;
}

FloatingMotion<D> cast(const FloatingMotion<double>& x) {
  FloatingMotion<D> out;
  out.frame.R = x.frame.R.cast<D>(), out.frame.p = x.frame.p.cast<D>();
  out.frame.V = x.frame.V.cast<D>(), out.frame.A = x.frame.A.cast<D>();
  out.eta = x.eta.cast<D>(), out.rate = x.rate.cast<D>(), out.acceleration = x.acceleration.cast<D>();
  return out;
}

// (W, W_eta)
template <class S>
Eigen::Matrix<S, Eigen::Dynamic, 1> residual(const ShapeIntegrals& c, const FloatingMotion<S>& x,
                                             const Vec3& gravity) {
  Vec6T<S> W;
  Modal<S> W_eta;
  floating_residual(c, x, FloatingTerms<S>(c, x, gravity.cast<S>()), W, W_eta);
  Eigen::Matrix<S, Eigen::Dynamic, 1> out(6 + c.modes());
  out << W, W_eta;
  return out;
}

TEST(FloatingFrame, DerivativesEqualThoseOfDualNumbers) {
  Random random(1);
  for (const ReductionMethod method : {ReductionMethod::Free, ReductionMethod::HurtyCraigBampton}) {
    const ReducedBody body = small_body(method);
    const int n = static_cast<int>(body.frequencies.size()), size = 6 + n;
    std::vector<double> numbers = body.integrals;
    const ShapeIntegralsOf<double> integrals(n, numbers.data());
    for (int l = 0; l < n; ++l) {
      integrals.d(l) = random.between(0.5, 1);
      // Modes that carry momentum: the equations hold for these as well.
      integrals.A(l) += random.vector<6>(), integrals.s(l) += random.vector<3>();
      integrals.N(l).topRightCorner<3, 3>() += Mat3::Constant(random.between(-1, 1));
      integrals.N(l).bottomLeftCorner<3, 3>() = integrals.N(l).topRightCorner<3, 3>().transpose();
    }
    const ShapeIntegrals c(n, numbers.data());
    for (int sample = 0; sample < 5; ++sample) {
      const FloatingMotion<double> x = random_motion(n, random);
      const Vec3 gravity = 5 * random.vector<3>();
      const FloatingTerms<double> t(c, x, gravity);
      MatrixXd K(size, size), C(size, size), M(size, size);
      const FloatingPartials frame = frame_partials(c, x, t);
      K.topLeftCorner<6, 6>() = frame.K, C.topLeftCorner<6, 6>() = frame.C, M.topLeftCorner<6, 6>() = frame.M;
      for (int l = 0; l < n; ++l) {
        const auto column = column_partials(c, x, t, l), row = row_partials(c, x, t, l);
        K.block<6, 1>(0, 6 + l) = column.K, C.block<6, 1>(0, 6 + l) = column.C,
                             M.block<6, 1>(0, 6 + l) = column.M;
        K.block<1, 6>(6 + l, 0) = row.K.transpose(), C.block<1, 6>(6 + l, 0) = row.C.transpose(),
                             M.block<1, 6>(6 + l, 0) = row.M.transpose();
        for (int k = 0; k < n; ++k) {
          const auto d = modal_partials(c, x, k, l);
          K(6 + k, 6 + l) = d.K, C(6 + k, 6 + l) = d.C, M(6 + k, 6 + l) = d.M;
        }
      }
      MatrixXd dual[3] = {MatrixXd(size, size), MatrixXd(size, size), MatrixXd(size, size)};
      for (int i = 0; i < size; ++i)
        for (int level = 0; level < 3; ++level) {
          FloatingMotion<D> moved = cast(x);
          Modal<D>& modal = level == 0 ? moved.eta : level == 1 ? moved.rate : moved.acceleration;
          if (i >= 6) {
            modal[i - 6].d[0] = 1;
          } else if (level == 0) {
            Vec6T<D> direction = Vec6T<D>::Zero();
            direction[i].d[0] = 1;
            static_cast<Pose<D>&>(moved.frame) = perturbed<D>(moved.frame, direction);
          } else {
            (level == 1 ? moved.frame.V : moved.frame.A)[i].d[0] = 1;
          }
          dual[level].col(i) = residual(c, moved, gravity).unaryExpr([](const D& y) { return y.d[0]; });
        }
      expect_at_most(relative_difference(K, dual[0]), 1e-12, "dW/dX");
      expect_at_most(relative_difference(C, dual[1]), 1e-12, "dW/dV");
      expect_at_most(relative_difference(M, dual[2]), 1e-12, "dW/dA");
    }
  }
}

// W.V + W_eta.eta' is what the energy gains, damping aside.
TEST(FloatingFrame, PowerOfTheResidualIsTheRateOfTheEnergy) {
  Random random(2);
  const ReducedBody body = small_body(ReductionMethod::HurtyCraigBampton);
  const ShapeIntegrals c(static_cast<int>(body.frequencies.size()), body.integrals.data());
  for (int sample = 0; sample < 10; ++sample) {
    const FloatingMotion<double> x = random_motion(c.modes(), random);
    const Vec3 gravity = 5 * random.vector<3>();
    const VectorXd W = residual(c, x, gravity);
    const double power = W.head<6>().dot(x.frame.V) + W.tail(c.modes()).dot(x.rate);
    const auto energy_at = [&](double dt) {
      FloatingMotion<double> y = x;
      const Vec6 step = dt * x.frame.V + 0.5 * dt * dt * x.frame.A;
      const SO3<double> turn = SO3<double>::exp(step.tail<3>());
      y.frame.p += x.frame.R * (dt * x.frame.V.head<3>());
      y.frame.R = x.frame.R * turn.R();
      y.frame.V += dt * x.frame.A;
      y.eta += dt * x.rate;
      y.rate += dt * x.acceleration;
      const Energy e = floating_energy(c, y, gravity);
      return e.kinetic + e.potential;
    };
    const double h = 1e-5, rate = (energy_at(h) - energy_at(-h)) / (2 * h);
    EXPECT_NEAR(power, rate, 1e-7 * (std::abs(rate) + 1));
  }
}

TEST(Interface, DerivativesEqualThoseOfDualNumbers) {
  Random random(3);
  for (int sample = 0; sample < 10; ++sample) {
    const Motion<double> frame = random.motion(), own = random.motion();
    const Vec6 y = 0.5 * random.vector<6>(), y_rate = random.vector<6>(), lambda = random.vector<6>();
    const Vec3 place = random.vector<3>();
    const InterfaceDerivatives hand = interface_derivatives(frame, y, y_rate, own, place, lambda);
    const auto phi_along = [&](const std::array<Vec6, 3>& first, const std::array<Vec6, 3>& second) {
      const auto moved = [&](const Motion<double>& m, std::size_t i) {
        Vec6T<DD> one = Vec6T<DD>::Zero(), two = Vec6T<DD>::Zero();
        for (int k = 0; k < 6; ++k) one[k].v.d[0] = first[i][k], two[k].d[0].v = second[i][k];
        Pose<DD> pose{m.R.cast<DD>(), m.p.cast<DD>()};
        return perturbed<DD>(perturbed<DD>(pose, one), two);
      };
      Vec6T<DD> z = y.cast<DD>();
      for (int k = 0; k < 6; ++k) z[k].v.d[0] = first[1][k], z[k].d[0].v = second[1][k];
      return interface_phi<DD>(moved(frame, 0), z, moved(own, 2), place.cast<DD>());
    };
    const auto first_of = [](const DD& x) { return x.v.d[0]; };
    const auto mixed_of = [](const DD& x) { return x.d[0].d[0]; };
    const std::array<Vec6, 3> none = {Vec6::Zero(), Vec6::Zero(), Vec6::Zero()},
                              rates = {frame.V, y_rate, own.V};
    expect_at_most(relative_difference(hand.bias, Vec6(phi_along(rates, rates).unaryExpr(mixed_of))), 1e-12,
                   "bias");
    for (std::size_t j = 0; j < 3; ++j) {
      Mat6 B, Z, G[3];
      for (int k = 0; k < 6; ++k) {
        auto step = none;
        step[j] = Vec6::Unit(k);
        B.col(k) = phi_along(step, none).unaryExpr(first_of);
        Z.col(k) = phi_along(step, rates).unaryExpr(mixed_of);
        for (std::size_t i = 0; i < 3; ++i)
          for (int r = 0; r < 6; ++r) {
            auto other = none;
            other[i] = Vec6::Unit(r);
            G[i](r, k) = lambda.dot(Vec6(phi_along(step, other).unaryExpr(mixed_of)));
          }
      }
      expect_at_most(relative_difference(hand.B[j], B), 1e-12, "B");
      expect_at_most(relative_difference(hand.Z[j], Z), 1e-12, "Z");
      for (std::size_t i = 0; i < 3; ++i) expect_at_most(relative_difference(hand.G[i][j], G[i]), 1e-12, "G");
    }
  }
}

// All eigenfrequencies of the full model, the rigid motions left out.
VectorXd full_frequencies(const FiniteElements& full) {
  const MatrixXd K = MatrixXd(full.K), M = MatrixXd(full.M);
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(K, M, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().tail(full.size() - 6).cwiseSqrt();
}

// Each hexahedron as six tetrahedra about its diagonal; with ten nodes those on the edges are added.
SolidMesh tetrahedra(const SolidMesh& hexahedra, bool edges) {
  constexpr int kTetrahedra[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                     {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  constexpr int kEdges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}};
  SolidMesh out;
  std::vector<Vec3> places;
  for (Eigen::Index i = 0; i < hexahedra.places.cols(); ++i) places.emplace_back(hexahedra.places.col(i));
  std::map<std::pair<int, int>, int> middle;
  for (const std::vector<int>& hexahedron : hexahedra.elements)
    for (const auto& corners : kTetrahedra) {
      std::vector<int> element;
      for (const int corner : corners) element.push_back(hexahedron[static_cast<std::size_t>(corner)]);
      for (const auto& edge : kEdges) {
        if (!edges) break;
        const int a = element[static_cast<std::size_t>(edge[0])],
                  b = element[static_cast<std::size_t>(edge[1])];
        const auto [found, is_new] = middle.emplace(std::minmax(a, b), static_cast<int>(places.size()));
        if (is_new)
          places.push_back(0.5 * (places[static_cast<std::size_t>(a)] + places[static_cast<std::size_t>(b)]));
        element.push_back(found->second);
      }
      out.elements.push_back(std::move(element));
    }
  out.places.resize(3, static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) out.places.col(static_cast<Eigen::Index>(i)) = places[i];
  return out;
}

void expect_constant_strains(const SolidMesh& mesh, Random& random);

TEST(SolidElements, RepresentConstantStrainsExactly) {
  SolidMesh mesh = brick_mesh({1, 0.8, 0.6}, {3, 2, 2});
  Random random(4);
  for (Eigen::Index i = 0; i < mesh.places.cols(); ++i) {
    const Vec3 x = mesh.places.col(i);
    if (std::abs(x[0]) < 0.49 && std::abs(x[1]) < 0.39 && std::abs(x[2]) < 0.29)
      mesh.places.col(i) += 0.05 * random.vector<3>();
  }
  expect_constant_strains(mesh, random);
  expect_constant_strains(tetrahedra(mesh, false), random);
  expect_constant_strains(tetrahedra(mesh, true), random);
}

void expect_constant_strains(const SolidMesh& mesh, Random& random) {
  const FiniteElements full = solid_elements(mesh, kSteel);
  const Mat3 gradient = 1e-3 * Mat3::NullaryExpr([&] { return random.between(-1, 1); });
  VectorXd u(full.size());
  for (int i = 0; i < full.nodes(); ++i) u.segment<3>(3 * i) = gradient * full.places.col(i);
  Vec6 strain;
  strain << gradient(0, 0), gradient(1, 1), gradient(2, 2), gradient(1, 2) + gradient(2, 1),
      gradient(0, 2) + gradient(2, 0), gradient(0, 1) + gradient(1, 0);
  const Vec6 stress = kSteel.stiffness() * strain;
  // No forces inside; the energy of the volume; the stress anywhere.
  const VectorXd force = full.K * u;
  for (int i = 0; i < full.nodes(); ++i) {
    const Vec3 x = full.places.col(i);
    if (std::abs(x[0]) < 0.49 && std::abs(x[1]) < 0.39 && std::abs(x[2]) < 0.29)
      expect_at_most(force.segment<3>(3 * i).norm(), 1e-10 * force.cwiseAbs().maxCoeff(), "force inside");
  }
  EXPECT_NEAR(u.dot(force), 0.48 * strain.dot(stress), 1e-11 * u.dot(force));
  for (int sample = 0; sample < 5; ++sample) {
    const StressRows rows = stress_rows(mesh, kSteel, 0.3 * random.vector<3>());
    VectorXd own(rows.rows.cols());
    for (Eigen::Index i = 0; i < own.size(); ++i) own[i] = u[rows.freedoms[static_cast<std::size_t>(i)]];
    expect_at_most(relative_difference(Vec6(rows.rows * own), stress), 1e-10, "stress");
  }
}

// The incompatible modes: one element across the height bends as a beam does, exactly in pure bending of bricks (for poisson = 0).
TEST(SolidElements, OneLayerOfBricksBendsWithoutLocking) {
  const double L = 1, h = 0.02, E = 1e9, density = 1000;
  const SolidMesh mesh = brick_mesh({L, h, h}, {20, 1, 1});
  const VectorXd frequencies = full_frequencies(solid_elements(mesh, {E, 0, density}));
  // Free-free beam of Euler and Bernoulli: (4.730041)^2 sqrt(EI/(rho A L^4)); shear and rotary inertia take 0.2 %.
  const double expected =
      4.730040744862704 * 4.730040744862704 * std::sqrt(E * h * h / 12 / density) / (L * L);
  EXPECT_NEAR(frequencies[0] / expected, 1, 0.01);
  EXPECT_NEAR(frequencies[0] / frequencies[1], 1, 1e-9);  // two planes
}

TEST(SolidElements, TetrahedraWithTenNodesConvergeToTheSameFrequencies) {
  const SolidMesh mesh = brick_mesh({1, 0.2, 0.1}, {10, 2, 1}), fine = brick_mesh({1, 0.2, 0.1}, {14, 3, 2});
  const auto first = [](const SolidMesh& of) {
    return reduce(solid_elements(of, kSteel), {}, ReductionMethod::Free, 3).frequencies;
  };
  const VectorXd bricks = first(fine), ten = first(tetrahedra(mesh, true)),
                 four = first(tetrahedra(mesh, false));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(ten[i] / bricks[i], 1, 0.02) << "mode " << i;
  EXPECT_GT(four[0] / bricks[0], 1.2);  // constant strains do not bend
}

TEST(SolidElements, HaveTheInertiaOfTheRigidBody) {
  const Vec3 size(1, 0.4, 0.3);
  for (const bool hexahedra : {true, false}) {
    const SolidMesh mesh = brick_mesh(size, {3, 2, 2});
    const FiniteElements full = solid_elements(hexahedra ? mesh : tetrahedra(mesh, true), {1e9, 0.3, 1000});
    const ReducedBody body = reduce(full, {}, ReductionMethod::Free, 6);
    const ShapeIntegrals c(6, body.integrals.data());
    const double m = 1000 * size.prod();
    EXPECT_NEAR(c.mass(), m, 1e-10 * m);
    const Vec3 squares = size.cwiseAbs2();
    const Vec3 moments =
        m / 12 * Vec3(squares[1] + squares[2], squares[0] + squares[2], squares[0] + squares[1]);
    expect_at_most(relative_difference(Mat3(c.M().bottomRightCorner<3, 3>()), Mat3(moments.asDiagonal())),
                   1e-10, "J");
    for (int l = 0; l < 6; ++l) {
      expect_at_most(c.A(l).norm(), 1e-9 * m, "momentum of a mode");
      expect_at_most(c.N(l).topRightCorner<3, 3>().norm(), 1e-9 * m, "first moment of a mode");
    }
  }
}

// A mesh as Gmsh writes it, with the face x- as the physical surface "left".
std::string gmsh(const SolidMesh& mesh, const std::string& version) {
  const int type = mesh.elements.front().size() == 8 ? 5 : mesh.elements.front().size() == 10 ? 11 : 4;
  const bool newer = version == "4.1";
  std::string out = fmt::format(
      "$MeshFormat\n{} 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 7 \"left\"\n3 1 \"all of it\"\n"
      "$EndPhysicalNames\n",
      version);
  if (newer)
    out += "$Entities\n1 0 1 1\n1 0 0 0 0\n3 0 0 0 1 1 1 1 7 0\n1 0 0 0 1 1 1 1 1 1 3\n$EndEntities\n";
  const auto nodes = mesh.places.cols();
  out += newer ? fmt::format("$Nodes\n1 {0} 1 {0}\n3 1 0 {0}\n", nodes) : fmt::format("$Nodes\n{}\n", nodes);
  for (Eigen::Index i = 0; newer && i < nodes; ++i) out += fmt::format("{}\n", i + 11);
  for (Eigen::Index i = 0; i < nodes; ++i) {
    if (!newer) out += fmt::format("{} ", i + 11);
    out += fmt::format("{:.17g} {:.17g} {:.17g}\n", mesh.places(0, i), mesh.places(1, i), mesh.places(2, i));
  }
  out += "$EndNodes\n$Elements\n";
  // The face as points: any element of a group gives its nodes to it.
  const std::vector<int>& left = mesh.groups.at("x-");
  const std::size_t count = left.size() + mesh.elements.size();
  out += newer ? fmt::format("2 {0} 1 {0}\n2 3 15 {1}\n", count, left.size()) : fmt::format("{}\n", count);
  int tag = 1;
  for (const int node : left) out += fmt::format("{}{} {}\n", tag++, newer ? "" : " 15 2 7 3", node + 11);
  if (newer) out += fmt::format("3 1 {} {}\n", type, mesh.elements.size());
  for (const auto& element : mesh.elements) {
    out += newer ? fmt::format("{}", tag++) : fmt::format("{} {} 2 1 1", tag++, type);
    for (const int node : element) out += fmt::format(" {}", node + 11);
    out += "\n";
  }
  return out + "$EndElements\n$Periodic\n0\n$EndPeriodic\n";
}

TEST(Files, MeshesOfGmshAreReadInBothFormats) {
  const SolidMesh brick = brick_mesh({1, 0.4, 0.3}, {3, 2, 1});
  SolidMesh fine = tetrahedra(brick, true);
  fine.groups = brick.groups;
  for (const SolidMesh* mesh : {&brick, static_cast<const SolidMesh*>(&fine)})
    for (const char* version : {"2.2", "4.1"}) {
      const SolidMesh found = parse_gmsh(gmsh(*mesh, version));
      ASSERT_EQ(found.elements.size(), mesh->elements.size());
      for (std::size_t e = 0; e < found.elements.size(); ++e)
        for (std::size_t i = 0; i < found.elements[e].size(); ++i)
          EXPECT_EQ((found.places.col(found.elements[e][i]) - mesh->places.col(mesh->elements[e][i])).norm(),
                    0);
      // In the older format points have the dimension 0, for which the group has a number only.
      const std::vector<int>& left = found.groups.at(std::string(version) == "4.1" ? "left" : "7");
      EXPECT_EQ(left.size(), mesh->groups.at("x-").size());
      for (const int node : left) EXPECT_EQ(found.places(0, node), -0.5);
    }
}

// Two tetrahedra that share a face. Format 2.2 has an element of two physical groups twice, under two numbers.
TEST(Files, ElementsOfSeveralGroupsAreOneElement) {
  const auto mesh = [](const std::string& elements, int count) {
    return fmt::format(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 "
        "1\n$EndNodes\n"
        "$Elements\n{}\n{}$EndElements\n",
        count, elements);
  };
  const std::string first = "1 4 2 1 1 1 2 3 4\n", second = "2 4 2 1 1 2 3 4 5\n";
  const SolidMesh found = parse_gmsh(mesh(first + second + "3 4 2 8 1 2 3 4 5\n", 3));
  EXPECT_EQ(found.elements.size(), 2U);
  EXPECT_EQ(found.numbers, (std::vector<long>{1, 2}));
  EXPECT_EQ(found.groups.at("1").size(), 5U);
  EXPECT_EQ(found.groups.at("8").size(), 4U);
  const auto mistake = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no mistake";
  };
  const std::string twice = mistake([&] { parse_gmsh(mesh(first + second + "7 4 2 1 1 3 2 4 5\n", 3)); });
  EXPECT_NE(twice.find("elements 2 and 7 have the same nodes"), std::string::npos) << twice;
  // The second tetrahedron has its nodes in the wrong order.
  const SolidMesh turned = parse_gmsh(mesh(first + "9 4 2 1 1 3 2 4 5\n", 2));
  const std::string inside_out = mistake([&] { solid_elements(turned, kSteel); });
  EXPECT_NE(inside_out.find("inverted element: number 9, about (0.5, 0.5, 0.5)"), std::string::npos)
      << inside_out;
}

// Where elements meet, the stress is the mean of what each has there.
TEST(Stresses, AreMeansWhereElementsMeet) {
  const SolidMesh mesh = brick_mesh({1, 0.4, 0.3}, {2, 1, 1});
  Random random(8);
  VectorXd u(3 * mesh.places.cols());
  for (Eigen::Index i = 0; i < u.size(); ++i) u[i] = random.between(-1, 1);
  const auto stress = [&](const Vec3& place) {
    const StressRows rows = stress_rows(mesh, kSteel, place);
    VectorXd own(static_cast<Eigen::Index>(rows.freedoms.size()));
    for (Eigen::Index i = 0; i < own.size(); ++i) own[i] = u[rows.freedoms[static_cast<std::size_t>(i)]];
    return Vec6(rows.rows * own);
  };
  const Vec3 middle(0, 0.05, 0.02), aside(1e-7, 0, 0);
  const Vec6 left = stress(middle - aside), right = stress(middle + aside);
  EXPECT_GT((left - right).norm(), 0.1 * left.norm());
  expect_at_most(relative_difference(stress(middle), Vec6(0.5 * (left + right))), 1e-5, "mean");
  EXPECT_EQ(stress_rows(mesh, kSteel, {0.2, 0, 0}).distance, 0);
  EXPECT_NEAR(stress_rows(mesh, kSteel, {0.2, 0.3, 0}).distance, 0.1, 1e-12);
}

TEST(Files, MistakesHaveTheirLine) {
  const auto message = [](auto&& parse, const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const std::invalid_argument& mistake) {
      return mistake.what();
    }
    return "no mistake";
  };
  const auto has = [&](const std::string& found, const std::string& part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  const std::string good = gmsh(brick_mesh({1, 1, 1}, {1, 1, 1}), "2.2");
  has(message(parse_gmsh, "$MeshFormat\n4.0 0 8\n"), "line 2: expected the format 2.2 or 4.1, got 4.0");
  has(message(parse_gmsh, "$MeshFormat\n2.2 1 8\n"), "the file is binary");
  has(message(parse_gmsh, good.substr(0, good.size() / 2)), "ends too early");
  has(message(parse_gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999999999\n"),
      "expected the number of entries that follow");
  has(message(parse_gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"), "no solid elements");
  has(message(parse_matrix_market, "%%MatrixMarket matrix coordinate complex general\n"),
      "expected real or integer");
  has(message(parse_matrix_market, "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5.0\n"),
      "there is no entry (3, 1)");
  has(message(parse_matrix_market,
              "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n1 1 2\n2 2 2\n1 2 -1\n2 1 -1\n"),
      "line 6: expected the entries of one triangle of a symmetric matrix, got both");
  has(message(parse_matrix_market,
              "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 2\n2 1 -1\n"),
      "expected the end of the file, got more entries than its header declares");
  has(message(parse_matrix_market, "%%MatrixMarket matrix array real general\n2 2\n1 2 x 4\n"),
      "line 3: expected a number, got 'x'");
}

TEST(Files, MatricesAreReadInBothForms) {
  const SparseMatrix symmetric = parse_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n% note\n2 2 3\n1 1 2\n2 1 -1e0\n2 2 3\n");
  EXPECT_EQ(symmetric.coeff(0, 1), -1);
  EXPECT_EQ(symmetric.coeff(1, 0), -1);
  const SparseMatrix places =
      parse_matrix_market("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(places.coeff(1, 0), 2);
  EXPECT_EQ(places.coeff(0, 2), 5);
}

TEST(Reduction, FreeModesHaveTheFrequenciesOfTheFullModel) {
  // Small: dense; large: by iteration. A square section has double frequencies.
  for (const auto& [size, divisions] :
       {std::pair(Vec3(1, 0.3, 0.2), std::array{3, 2, 2}), std::pair(Vec3(1, 0.2, 0.2), std::array{8, 2, 2}),
        std::pair(Vec3(1, 0.3, 0.2), std::array{10, 3, 2})}) {
    const FiniteElements full = solid_elements(brick_mesh(size, divisions), kSteel);
    const VectorXd expected = full_frequencies(full);
    const ReducedBody body = reduce(full, {}, ReductionMethod::Free, 12);
    ASSERT_EQ(body.frequencies.size(), 12);
    for (int i = 0; i < 12; ++i)
      EXPECT_NEAR(body.frequencies[i] / expected[i], 1, 1e-8)
          << "mode " << i << " of " << full.size() << " freedoms";
  }
}

// A bar of Euler and Bernoulli with 12 freedoms per element in closed form, E = rho = b = 1, of the height h and the length 1: what programs export.
FiniteElements slender_bar(int elements, double h) {
  FiniteElements out;
  out.freedoms = 6;
  out.places = Eigen::Matrix3Xd::Zero(3, elements + 1);
  out.places.row(0).setLinSpaced(0, 1);
  const double l = 1.0 / elements, A = h, Iy = h * h * h / 12, Iz = h / 12, Ip = Iy + Iz;
  MatrixXd K = MatrixXd::Zero(out.size(), out.size()), M = K;
  const MatrixXd two_k = (MatrixXd(2, 2) << 1, -1, -1, 1).finished() / l,
                 two_m = (MatrixXd(2, 2) << 2, 1, 1, 2).finished() * l / 6;
  const auto bending = [&](double sign) {
    const double a = sign * l;
    MatrixXd k(4, 4), m(4, 4);
    k << 12, 6 * a, -12, 6 * a, 6 * a, 4 * l * l, -6 * a, 2 * l * l, -12, -6 * a, 12, -6 * a, 6 * a,
        2 * l * l, -6 * a, 4 * l * l;
    m << 156, 22 * a, 54, -13 * a, 22 * a, 4 * l * l, 13 * a, -3 * l * l, 54, 13 * a, 156, -22 * a, -13 * a,
        -3 * l * l, -22 * a, 4 * l * l;
    return std::pair(MatrixXd(k / (l * l * l)), MatrixXd(m * l / 420));
  };
  for (int e = 0; e < elements; ++e) {
    const auto add = [&](std::vector<int> rows, const MatrixXd& k, const MatrixXd& m) {
      for (int& row : rows) row += 6 * e;
      K(rows, rows) += k;
      M(rows, rows) += m;
    };
    add({0, 6}, A * two_k, A * two_m);
    add({3, 9}, 0.4 * Ip * two_k, Ip * two_m);
    const auto [k_y, m_y] = bending(1);
    add({1, 5, 7, 11}, Iz * k_y, A * m_y);
    const auto [k_z, m_z] = bending(-1);
    add({2, 4, 8, 10}, Iy * k_z, A * m_z);
  }
  out.K = K.sparseView();
  out.M = M.sparseView();
  return out;
}

// Slender bodies have eigenvalues that are many orders of magnitude apart.
TEST(Reduction, FindsTheModesOfSlenderBodies) {
  for (const int elements : {8, 60, 200})
    for (const double h : {0.1, 1e-3}) {
      const FiniteElements full = slender_bar(elements, h);
      const std::vector<InterfaceNodes> ends = {{{0, 0, 0}, {0}}, {{1, 0, 0}, {elements}}};
      for (const ReductionMethod method : {ReductionMethod::Free, ReductionMethod::HurtyCraigBampton}) {
        const VectorXd found = reduce(full, ends, method, 12).frequencies;
        // Twelve modes with held ends are an approximation.
        const double bound = elements == 8 ? 6e-3 : method == ReductionMethod::Free ? 1e-5 : 2e-3;
        // Bending of a free bar: omega = beta^2 sqrt(E I/(rho A)), as long as it is below the first frequencies of the other plane.
        const double beta[] = {4.730040744862704, 7.853204624095838, 10.99560783800167};
        for (int i = 0; i < 3; ++i) {
          const double expected = beta[i] * beta[i] * h / std::sqrt(12.0);
          EXPECT_LE((found.array() / expected - 1).abs().minCoeff(), bound)
              << elements << " elements, height " << h << ", mode " << i << ": " << found.transpose();
        }
        if (h == 1e-3) {
          EXPECT_NEAR(found[0] / (beta[0] * beta[0] * h / std::sqrt(12.0)), 1, 6e-3);
        }
      }
    }
}

TEST(Reduction, FindsTheModesOfSlenderSolids) {
  for (const std::array<int, 3>& divisions :
       {std::array{20, 2, 1}, std::array{40, 1, 1}, std::array{12, 2, 2}}) {
    const SolidMesh mesh = brick_mesh({1, 0.05, 0.02}, divisions);
    const FiniteElements full = solid_elements(mesh, kSteel);
    const std::vector<InterfaceNodes> ends = {{{-0.5, 0, 0}, mesh.groups.at("x-")},
                                              {{0.5, 0, 0}, mesh.groups.at("x+")}};
    const VectorXd expected = full_frequencies(full),
                   free = reduce(full, {}, ReductionMethod::Free, 6).frequencies;
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(free[i] / expected[i], 1, 1e-7) << "mode " << i;
    // The ends are rigid here.
    const VectorXd stiff = reduce(full, ends, ReductionMethod::Free, 6).frequencies,
                   held = reduce(full, ends, ReductionMethod::HurtyCraigBampton, 6).frequencies;
    for (int i = 0; i < 3; ++i) {
      EXPECT_GE(stiff[i], expected[i] * (1 - 1e-9)) << "mode " << i;
      EXPECT_GE(held[i], stiff[i] * (1 - 1e-9)) << "mode " << i;
      EXPECT_NEAR(held[i] / stiff[i], 1, 0.01) << "mode " << i;
    }
  }
}

TEST(Reduction, AxesWithoutInertiaAreNamed) {
  const auto mistake = [](const FiniteElements& full) -> std::string {
    try {
      reduce(full, {}, ReductionMethod::Free, 3);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  FiniteElements full = slender_bar(8, 0.1);
  EXPECT_EQ(mistake(full), "none");
  // Masses at the nodes alone, which lie on a line.
  FiniteElements points = full;
  points.M.prune([](Eigen::Index row, Eigen::Index column, double) { return row == column && row % 6 < 3; });
  EXPECT_NE(mistake(points).find("no moment of inertia about the axis (1, 0, 0)"), std::string::npos)
      << mistake(points);
  full.M.setZero();
  EXPECT_NE(mistake(full).find("has no mass"), std::string::npos) << mistake(full);
}

// Two boxes that do not touch.
TEST(Reduction, ABodyInSeveralPiecesIsRefused) {
  for (const int divisions : {2, 6}) {
    SolidMesh mesh = brick_mesh({1, 0.2, 0.2}, {divisions, divisions, divisions}), other = mesh;
    const int nodes = static_cast<int>(mesh.places.cols());
    mesh.places.conservativeResize(3, 2 * nodes);
    mesh.places.rightCols(nodes) = other.places.colwise() + Vec3(2, 0, 0);
    for (std::vector<int> element : other.elements) {
      for (int& node : element) node += nodes;
      mesh.elements.push_back(element);
    }
    const FiniteElements full = solid_elements(mesh, kSteel);
    EXPECT_THROW(reduce(full, {}, ReductionMethod::Free, 6), std::invalid_argument) << divisions;
  }
}

TEST(Reduction, CraigBamptonIsWithinOnePercentUpToHalfTheCutOff) {
  const SolidMesh mesh = brick_mesh({1, 0.1, 0.08}, {16, 2, 2});
  const FiniteElements full = solid_elements(mesh, kSteel);
  const std::vector<InterfaceNodes> interfaces = {{{-0.5, 0, 0}, mesh.groups.at("x-")},
                                                  {{0.5, 0, 0}, mesh.groups.at("x+")}};
  // The cut-off is the highest frequency with held interfaces among those taken.
  const int modes = 12;
  const ReducedBody reference = reduce(full, interfaces, ReductionMethod::Free, 30);
  const ReducedBody body = reduce(full, interfaces, ReductionMethod::HurtyCraigBampton, modes);
  std::vector<int> inside;
  for (int i = 0; i < full.nodes(); ++i)
    if (std::abs(std::abs(full.places(0, i)) - 0.5) > 1e-9)
      for (int c = 0; c < 3; ++c) inside.push_back(3 * i + c);
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> held(MatrixXd(MatrixXd(full.K)(inside, inside)),
                                                                MatrixXd(MatrixXd(full.M)(inside, inside)),
                                                                Eigen::EigenvaluesOnly);
  const double cut_off = std::sqrt(held.eigenvalues()[modes - 1]);
  int compared = 0;
  for (Eigen::Index i = 0; i < reference.frequencies.size() && reference.frequencies[i] < 0.5 * cut_off;
       ++i, ++compared) {
    EXPECT_GE(body.frequencies[i], reference.frequencies[i] * (1 - 1e-9));  // Ritz: from above
    EXPECT_NEAR(body.frequencies[i] / reference.frequencies[i], 1, 0.01) << "mode " << i;
  }
  EXPECT_GE(compared, 4);
}

// Static condensation: with no modes but the static ones, forces at the interfaces have the deflection of the full model.
TEST(Reduction, StaticDeformationsAreExact) {
  const SolidMesh mesh = brick_mesh({1, 0.1, 0.08}, {8, 1, 1});
  const FiniteElements full = solid_elements(mesh, kSteel);
  const std::vector<InterfaceNodes> interfaces = {{{-0.5, 0, 0}, mesh.groups.at("x-")},
                                                  {{0.5, 0, 0}, mesh.groups.at("x+")}};
  const ReducedBody guyan = reduce(full, interfaces, ReductionMethod::HurtyCraigBampton, 0),
                    more = reduce(full, interfaces, ReductionMethod::HurtyCraigBampton, 9);
  // Flexibility between the interfaces for forces in balance: sum of psi psi^T/k.
  const auto relative = [](const ReducedBody& body) {
    const ShapeIntegrals c(static_cast<int>(body.frequencies.size()), body.integrals.data());
    Mat6 out = Mat6::Zero();
    Mat6 rigid = Mat6::Identity();  // the second follows the first by the arm of 1 m along x
    rigid.topRightCorner<3, 3>() = -skew(Vec3(1, 0, 0));
    for (int l = 0; l < c.modes(); ++l) {
      const Vec6 d = body.interfaces[1].col(l) - rigid * body.interfaces[0].col(l);
      out += d * d.transpose() / c.k(l);
    }
    return out;
  };
  expect_at_most(relative_difference(relative(guyan), relative(more)), 1e-9, "flexibility");
  // Tip of a cantilever of Timoshenko under an axial force: u = F L/(E A), up to the stiff ends.
  EXPECT_NEAR(relative(guyan)(0, 0) * kSteel.young * 0.1 * 0.08, 1, 0.02);
}

std::vector<Diagnostic> findings_of(ModelBuilder& builder) {
  try {
    const auto d = builder.finish();
    return check_parameters(*Model::compile(d), d->parameters.data());
  } catch (const InputError& error) {
    return error.diagnostics();
  }
}

ModelBuilder& add_block(ModelBuilder& builder) {
  return builder.begin(Section::Flexible, "block", "brick")
      .set("size", {1, 0.2, 0.1})
      .set("divisions", {4, 1, 1})
      .set("young", {1e9})
      .set("density", {1000});
}
ModelBuilder& add_interface(ModelBuilder& builder, const std::string& name) {
  return builder.begin(Section::Flexible, name, "interface")
      .set("of", std::string("block"))
      .set("at", {-0.5, 0, 0});
}

// phi_a.g_bc are the third derivatives of an energy: the same whatever the order of the three.
void expect_symmetric(const MatrixXd& U, const MatrixXd& second, const std::string& name) {
  const MatrixXd third = U.transpose() * second;
  double worst = 0;
  for (int a = 0; a < U.cols(); ++a)
    for (int b = 0; b < U.cols(); ++b)
      for (int c = 0; c < U.cols(); ++c)
        worst = std::max(worst, std::abs(third(a, pair_index(b, c)) - third(b, pair_index(a, c))));
  expect_at_most(worst / third.cwiseAbs().maxCoeff(), 1e-11, name + ": third derivatives");
}

TEST(SecondDerivatives, AreThoseOfAnEnergy) {
  Random random(4);
  const auto displacements = [&](int size) {
    MatrixXd U(size, 4);
    for (Eigen::Index i = 0; i < U.size(); ++i) U.data()[i] = random.between(-1, 1);
    return U;
  };
  for (const std::string element : {"two_node", "three_node"}) {
    ModelBuilder b;
    b.begin(Section::Flexible, "strip", "rectangle").set("from", {0.1, 0.2, 0.3}).set("to", {1, 0.4, 0.5});
    b.set("through", {0.5, 0.6, 0.3}).set("elements", {3}).set("element", element).set("twist", {0.4});
    b.set("width", {0.2}).set("height", {0.3}).set("young", {10}).set("density", {1});
    const auto d = b.finish();
    const Inputs<double> in(*d, d->entries(Section::Flexible)[0], d->parameters.data(), nullptr);
    const std::vector<LinearBeam> beams = linear_beams(in);
    const FiniteElements full = linear_beam_elements(beams);
    const MatrixXd U = displacements(full.size());
    expect_symmetric(U, linear_beam_second_derivatives(beams, U), element);
    // A rigid rotation exp(t axis) makes no forces: to second order g_aa + K a'' = 0, with the second derivative a'' of the displacements.
    const Vec3 axis = random.vector<3>();
    VectorXd turn = full.rigid_motions().rightCols<3>() * axis, again = VectorXd::Zero(full.size());
    for (int i = 0; i < full.nodes(); ++i)
      again.segment<3>(6 * i) = axis.cross(axis.cross(Vec3(full.places.col(i))));
    const VectorXd force = linear_beam_second_derivatives(beams, turn).col(0) + full.K * again;
    expect_at_most(force.cwiseAbs().maxCoeff() / (full.K * again).cwiseAbs().maxCoeff(), 1e-10,
                   element + ": forces by a rigid rotation");
  }
  for (const bool bricks : {true, false}) {
    SolidMesh mesh = brick_mesh({1, 0.4, 0.3}, {2, 1, 1});
    for (Eigen::Index i = 0; i < mesh.places.cols(); ++i) mesh.places.col(i) += 0.02 * random.vector<3>();
    if (!bricks) mesh = tetrahedra(mesh, true);
    const Material material{10, 0.3, 2};
    const std::string name = bricks ? "bricks" : "tetrahedra";
    const FiniteElements full = solid_elements(mesh, material);
    const MatrixXd U = displacements(full.size());
    expect_symmetric(U, solid_second_derivatives(mesh, material, U), name);
    const Vec3 axis = random.vector<3>();
    VectorXd turn = full.rigid_motions().rightCols<3>() * axis, again = VectorXd::Zero(full.size());
    for (int i = 0; i < full.nodes(); ++i)
      again.segment<3>(3 * i) = axis.cross(axis.cross(Vec3(full.places.col(i))));
    const VectorXd force = solid_second_derivatives(mesh, material, turn).col(0) + full.K * again;
    expect_at_most(force.cwiseAbs().maxCoeff() / (full.K * again).cwiseAbs().maxCoeff(), 1e-10,
                   name + ": forces by a rigid rotation");
  }
}

TEST(FlexibleBodies, WhatIsHardlyMeantIsRemarked) {
  const auto warnings = [](const Vec3& interface, const Vec3& stress) {
    ModelBuilder b;
    add_block(b);
    b.begin(Section::Flexible, "left", "interface").set("of", std::string("block")).set("at", interface);
    b.set("group", std::string("x-"));
    b.sensor("stress", "stress").set("of", std::string("block")).set("at", stress);
    const auto d = b.finish();
    return flexible_warnings(*Model::compile(d), d->parameters.data());
  };
  EXPECT_TRUE(warnings({-0.5, 0, 0}, {0.2, 0, 0}).empty());
  EXPECT_TRUE(warnings({-0.6, 0, 0}, {0.5, 0.1, 0.05}).empty());
  const auto found = warnings({0.5, 0, 0}, {0.5, 0.2, 0});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0],
            "flexible.left: its position is 1 m away from its nodes; a rigid arm connects it to them");
  EXPECT_EQ(found[1],
            "sensors.stress: its position is 0.1 m outside 'block'; the nearest point is used instead");
}

std::vector<std::string> warnings_of(ModelBuilder& b) {
  const auto d = b.finish();
  return flexible_warnings(*Model::compile(d), d->parameters.data());
}

TEST(FlexibleBodies, ABodyWithoutModesIsRemarked) {
  const auto warnings = [](double modes, bool second) {
    ModelBuilder b;
    add_block(b).set("modes", {modes});
    add_interface(b, "left").set("group", std::string("x-"));
    if (second) {
      b.begin(Section::Flexible, "right", "interface").set("of", std::string("block"));
      b.set("at", {0.5, 0, 0}).set("group", std::string("x+"));
    }
    return warnings_of(b);
  };
  const std::vector<std::string> rigid = {
      "flexible.block: has no modes and is rigid: expected `modes` above 0, or a second interface"};
  EXPECT_EQ(warnings(0, false), rigid);
  EXPECT_TRUE(warnings(0, true).empty());
  EXPECT_TRUE(warnings(3, false).empty());
}

TEST(FlexibleBodies, TetrahedraWithFourNodesAreRemarked) {
  const SolidMesh brick = brick_mesh({1, 0.2, 0.1}, {4, 1, 1});
  for (const bool edges : {false, true}) {
    const std::string file = testing::TempDir() + "liedyn_warned_tetrahedra.msh";
    SolidMesh mesh = tetrahedra(brick, edges);
    mesh.groups = brick.groups;
    std::ofstream(file) << gmsh(mesh, "2.2");
    ModelBuilder b;
    b.begin(Section::Flexible, "block", "mesh").set("file", file).set("young", {1e9}).set("density", {1000});
    const auto found = warnings_of(b);
    std::remove(file.c_str());
    ASSERT_EQ(found.size(), edges ? 0U : 1U);
    if (edges) continue;
    EXPECT_EQ(found[0].find("flexible.block: 24 of its 24 elements are tetrahedra with 4 nodes"), 0U)
        << found[0];
  }
}

// Displacements are those of the nearest node, which may be as far away as elements are large.
TEST(FlexibleBodies, DisplacementsOutsideAreRemarked) {
  const auto warnings = [](const Vec3& at, bool beam) {
    ModelBuilder b;
    if (beam) {
      b.begin(Section::Flexible, "block", "circle").set("from", {-0.5, 0, 0}).set("to", {0.5, 0, 0});
      b.set("elements", {4}).set("radius", {0.05}).set("young", {1e9}).set("density", {1000});
    } else {
      add_block(b);
    }
    b.sensor("shown", "elastic_displacement").set("of", std::string("block")).set("at", at);
    return warnings_of(b);
  };
  for (const bool beam : {false, true}) {
    EXPECT_TRUE(warnings({0.12, 0.05, 0.02}, beam).empty());
    EXPECT_TRUE(warnings({0.5, 0.05, 0}, beam).empty());
    const std::vector<std::string> outside = {
        fmt::format("sensors.shown: its position is 1{} m outside 'block'; the nearest node is used instead",
                    beam ? "" : ".5")};
    EXPECT_EQ(warnings({beam ? 1.5 : 2, 0, 0}, beam), outside);
  }
}

TEST(FlexibleBodies, MistakesAreExplained) {
  const auto expect = [](ModelBuilder& builder, const std::string& text) {
    const auto findings = findings_of(builder);
    ASSERT_FALSE(findings.empty()) << text;
    EXPECT_NE(to_string(findings.front()).find(text), std::string::npos) << to_string(findings.front());
  };
  const auto with = [](auto&& fill) {
    auto builder = std::make_unique<ModelBuilder>();
    add_block(*builder);
    fill(*builder);
    return builder;
  };
  expect(*with([](ModelBuilder& b) { b.set("poisson", {0.5}); }), "poisson must be above -1 and below 0.5");
  expect(*with([](ModelBuilder& b) { add_interface(b, "left"); }), "the nearest is 0.111803 m away");
  expect(*with([](ModelBuilder& b) {
    b.begin(Section::Flexible, "left", "interface").set("of", std::string("block"));
    b.set("at", {-0.5, 0.1, 0}).set("radius", {0.06});
  }),
         "has 2 nodes at the interface 'left', expected at least three that are not on a line");
  expect(*with([](ModelBuilder& b) {
    add_interface(b, "left").set("group", std::string("x-")).set("radius", {0.2});
  }),
         "has the interface 'left' with a radius and a group: expected one of the two");
  expect(*with([](ModelBuilder& b) { add_interface(b, "left").set("group", std::string("x")); }),
         "no group 'x' for the interface 'left'; it has x+, x-");
  expect(*with([](ModelBuilder& b) {
    add_interface(b, "left").set("group", std::string("x-"));
    add_interface(b, "same").set("group", std::string("y-"));
  }),
         "interfaces that share a node");
  expect(*with([](ModelBuilder& b) {
    b.begin(Section::Flexible, "large", "brick").set("size", {1, 1, 1}).set("divisions", {12, 12, 12});
    b.set("young", {1}).set("density", {1}).set("modes", {99}).set("geometric_stiffness", std::string("on"));
  }),
         "is too large for geometric_stiffness: 2197 nodes and 99 modes");
  expect(*with([](ModelBuilder& b) { b.set("modes", {60}); }), "has only");
  expect(*with([](ModelBuilder& b) { b.set("modes", {600}); }), "at most 120 modes");
  expect(*with([](ModelBuilder& b) {
    b.joint("pivot", "spherical").set("between", "ground", "block").set("at", {0, 0, 0});
  }),
         "not a point of the material");
  expect(*with([](ModelBuilder& b) {
    add_interface(b, "left").set("group", std::string("x-"));
    b.begin(Section::Flexible, "of_left", "interface").set("of", std::string("left")).set("at", {0, 0, 0});
  }),
         "is an interface");
}

}  // namespace
}  // namespace liedyn

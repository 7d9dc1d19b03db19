// What beam elements must do whatever they are used for: rigid motions, constant strains, symmetry, energy; and the sections.
#include <gtest/gtest.h>

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/list.h"
#include "liedyn/model/beams/section.h"
#include "liedyn/model/beams/three_node.h"
#include "liedyn/model/beams/two_node.h"
#include "liedyn/model/model.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// A curved, twisted beam with a full stiffness matrix that varies along it.
std::shared_ptr<const Description> twisted_arc(Random& random, const std::string& element, double damping) {
  ModelBuilder builder({0, 0, 0});
  builder.beam("beam", "matrix")
      .set("from", {0, 0, 0})
      .set("through", {1, 0.3, 0.1})
      .set("to", {2, 0.2, 0.4})
      .set("twist", {0.6})
      .set("elements", {3})
      .set("element", element)
      .set("damping", {damping})
      .set("mass_per_length", {1.3})
      .set("center", {0, 0.02, -0.03})
      .set("inertia_per_length", random.inertia());
  for (const char* field : {"stiffness", "stiffness_end"}) {
    const Mat6 A = Mat6::NullaryExpr([&] { return random.between(-1, 1); });
    const Mat6 K = A * A.transpose() + Mat6::Identity();
    builder.set(field, std::vector<double>(K.data(), K.data() + 36));
  }
  return builder.finish();
}

template <class E>
struct OneElement {
  std::shared_ptr<const Model> model;
  Constants constants;
  const double* p = nullptr;
  explicit OneElement(std::shared_ptr<const Description> description)
      : model(Model::compile(std::move(description))) {
    derive_constants(*model, model->description().parameters.data(), constants);
    for (const auto& batch : model->batches)
      if (dynamic_cast<const BatchOf<E>*>(batch.get()) != nullptr)
        p = constants.data.data() + batch->first_constant;
  }
};

template <class E>
class EveryBeamElement : public testing::Test {
 public:
  static constexpr const char* name() { return E::frames == 2 ? "two_node" : "three_node"; }
  using Motions = std::array<Motion<double>, E::frames>;

  // The nodes of a strongly deformed element, without rotations near half a turn between them.
  Motions deformed(Random& random) {
    Motions m;
    for (std::size_t i = 0; i < m.size(); ++i) {
      m[i].R = SO3<double>::exp(0.5 * random.vector<3>()).R();
      m[i].p = Vec3(0.7 * static_cast<double>(i), 0, 0) + 0.3 * random.vector<3>();
    }
    return m;
  }
};
using BeamElements = testing::Types<TwoNodeBeam, ThreeNodeBeam>;
TYPED_TEST_SUITE(EveryBeamElement, BeamElements);

Motion<double> carried(const SE3<double>& H, const Motion<double>& m) {
  Motion<double> out = m;
  out.R = H.R() * m.R;
  out.p = H.act(m.p);
  return out;
}

TYPED_TEST(EveryBeamElement, DoesNotSeeARigidMotionHoweverFarItGoes) {
  Random random(3);
  const OneElement<TypeParam> one(twisted_arc(random, this->name(), 0.4));
  const World<double> world{};
  double worst = 0, worst_rate = 0;
  for (int sample = 0; sample < 50; ++sample) {
    auto m = this->deformed(random);
    std::array<Vec6, TypeParam::frames> W, moved;
    TypeParam::wrench(world, m, one.p, W);
    const SE3<double> H(10 * random.vector<3>(), random.rotation());
    auto carried_along = m;
    for (auto& frame : carried_along) frame = carried(H, frame);
    TypeParam::wrench(world, carried_along, one.p, moved);
    for (std::size_t i = 0; i < m.size(); ++i) worst = std::max(worst, relative_difference(moved[i], W[i]));
    // A rigid twist strains nothing: no viscous forces. The inertial ones are the same with the strains and without.
    const Vec6 X = random.vector<6>();
    for (auto& frame : m)
      frame.V = SE3<double>(frame.p, SO3<double>::from_matrix(frame.R)).inverse().Ad() * X;
    Vec6 strain, force, at_rest;
    TypeParam::section(m, one.p, 0, strain, force);
    for (auto& frame : m) frame.V.setZero();
    TypeParam::section(m, one.p, 0, strain, at_rest);
    worst_rate = std::max(worst_rate, relative_difference(force, at_rest));
  }
  expect_at_most(worst, 1e-12, std::string(this->name()) + ": forces after a rigid motion, relative");
  expect_at_most(worst_rate, 1e-12, std::string(this->name()) + ": forces in a rigid motion, relative");
}

// Momentum of a straight element in a rigid motion: that of the rigid body.
TYPED_TEST(EveryBeamElement, HasTheInertiaOfARigidBodyWhenStraight) {
  ModelBuilder builder({0, 0, 0});
  const double L = 0.8, m = 1.7, w = 0.1, h = 0.3, density = m / (L * w * h);
  builder.beam("beam", "rectangle").set("from", {0, 0, 0}).set("to", {L, 0, 0}).set("elements", {1});
  builder.set("element", std::string(this->name())).set("width", {w}).set("height", {h});
  builder.set("young", {1}).set("density", {density});
  const OneElement<TypeParam> one(builder.finish());
  Random random(5);
  const Vec6 X = random.vector<6>();
  std::array<Motion<double>, TypeParam::frames> f;
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i].p = Vec3(L * static_cast<double>(i) / (TypeParam::frames - 1), 0, 0);
    f[i].V << X.head<3>() + X.tail<3>().cross(f[i].p), X.tail<3>();
  }
  const Vec3 center(L / 2, 0, 0), v = X.head<3>() + X.tail<3>().cross(center), omega = X.tail<3>();
  const Vec3 J = m / 12 * Vec3(w * w + h * h, L * L + h * h, L * L + w * w);
  const double expected = 0.5 * m * v.squaredNorm() + 0.5 * omega.dot(J.cwiseProduct(omega));
  const Energy energy = TypeParam::energy({}, f, one.p);
  expect_at_most(std::abs(energy.kinetic - expected) / expected, 1e-14, "kinetic energy, relative");
}

// Constant strains: circles and helices, stretched, sheared and twisted.
TYPED_TEST(EveryBeamElement, RepresentsConstantStrainsExactly) {
  Random random(7);
  ModelBuilder builder({0, 0, 0});
  const double L = 0.9;
  builder.beam("beam", "circle").set("from", {0, 0, 0}).set("to", {L, 0, 0}).set("elements", {1});
  builder.set("element", std::string(this->name()))
      .set("radius", {0.1})
      .set("young", {1})
      .set("density", {1});
  const OneElement<TypeParam> one(builder.finish());
  double worst = 0;
  for (int sample = 0; sample < 50; ++sample) {
    Vec6 strain = random.vector<6>();
    strain.tail<3>() *= 1.7;  // up to 3 rad along the element
    Vec6 whole = strain;
    whole[0] += 1;
    const SE3<double> start(random.vector<3>(), random.rotation());
    std::array<Motion<double>, TypeParam::frames> f;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const SE3<double> H =
          start * SE3<double>::exp((L * static_cast<double>(i) / (TypeParam::frames - 1)) * whole);
      f[i].R = H.R();
      f[i].p = H.position();
    }
    for (int point = 0; point < TypeParam::points; ++point) {
      Vec6 found, force;
      TypeParam::section(f, one.p, point, found, force);
      worst = std::max(worst, (found - strain).cwiseAbs().maxCoeff());
    }
  }
  expect_at_most(worst, 1e-12, std::string(this->name()) + ": strain - the one imposed");
}

// K_ij = K_ji^T but for what the wrenches on the nodes themselves bring: at an equilibrium they vanish in the sum, and the matrix is symmetric.
TYPED_TEST(EveryBeamElement, HasASymmetricTangentUpToTheWrenchesOnItsNodes) {
  Random random(9);
  const OneElement<TypeParam> one(twisted_arc(random, this->name(), 0));
  double worst = 0;
  for (int sample = 0; sample < 20; ++sample) {
    const auto m = this->deformed(random);
    std::array<Vec6, TypeParam::frames> W;
    TypeParam::wrench({}, m, one.p, W);
    ForcePartials<TypeParam::frames> d;
    TypeParam::partials({}, m, one.p, d);
    for (int i = 0; i < TypeParam::frames; ++i)
      for (int j = 0; j < TypeParam::frames; ++j) {
        Mat6 skewness = d.K[i][j] - d.K[j][i].transpose();
        // d^2U(x, y) - d^2U(y, x) = W.[x, y] of left-invariant fields
        if (i == j) skewness -= coadjoint_slope(W[static_cast<std::size_t>(i)]);
        worst = std::max(worst, skewness.cwiseAbs().maxCoeff() / d.K[i][i].cwiseAbs().maxCoeff());
      }
  }
  expect_at_most(worst, 1e-12, std::string(this->name()) + ": K - K^T, relative");
}

TEST(Sections, HaveTheirClosedForms) {
  // Torsion constant of a square and of a strip: Timoshenko and Goodier, table of k_1.
  expect_at_most(std::abs(rectangle_torsion_constant(1.0, 1.0) - 0.1406), 5e-5, "square - 0.1406");
  expect_at_most(std::abs(rectangle_torsion_constant(2.0, 1.0) - 2 * 0.229), 1e-3, "2:1 - 0.458");
  expect_at_most(std::abs(rectangle_torsion_constant(1.0, 10.0) - 10 * 0.312), 5e-3, "10:1 - 3.12");
  const auto matrices = [](auto&& fill) {
    ModelBuilder builder;
    fill(builder);
    const auto description = builder.finish();
    const Entry& beam = description->entries(Section::Beams)[0];
    return section_matrices(Inputs<double>(*description, beam, description->parameters.data(), nullptr), 0.5);
  };
  const auto common = [](ModelBuilder& b, const char* type) -> ModelBuilder& {
    return b.beam("b", type)
        .set("from", {0, 0, 0})
        .set("to", {1, 0, 0})
        .set("elements", {1})
        .set("density", {3});
  };
  // A thin tube as a tube and by its numbers; halfway to an end twice as thick.
  const double E = 2e11, nu = 0.3, G = E / 2.6;
  const auto tube = matrices([&](ModelBuilder& b) {
    common(b, "tube").set("radius", {0.1}).set("thickness", {0.005}).set("thickness_end", {0.015});
    b.set("young", {E}).set("poisson", {nu});
  });
  const double pi = std::acos(-1.0), ro = 0.1, ri = 0.09;
  const double A = pi * (ro * ro - ri * ri), I = pi / 4 * (std::pow(ro, 4) - std::pow(ri, 4));
  const auto constants = matrices([&](ModelBuilder& b) {
    const double m2 = ri * ri / ro / ro;
    const double k =
        6 * (1 + nu) * std::pow(1 + m2, 2) / ((7 + 6 * nu) * std::pow(1 + m2, 2) + (20 + 12 * nu) * m2);
    common(b, "section").set("area", {A}).set("moment_y", {I}).set("moment_z", {I});
    b.set("torsion_constant", {2 * I}).set("shear_factor_y", {k}).set("shear_factor_z", {k});
    b.set("young", {E}).set("shear_modulus", {G});
  });
  expect_at_most(relative_difference(tube.stiffness, constants.stiffness), 1e-14, "tube: stiffness");
  expect_at_most(relative_difference(tube.inertia, constants.inertia), 1e-14, "tube: inertia");
  // A thin square box: k = 20 (1 + nu)/(48 + 39 nu), Cowper's value for b = h.
  const auto box = matrices([&](ModelBuilder& b) {
    common(b, "hollow_rectangle").set("width", {0.1}).set("height", {0.1}).set("thickness", {1e-6});
    b.set("young", {E}).set("poisson", {nu});
  });
  expect_at_most(std::abs(box.stiffness(1, 1) / (G * 4e-7) / (20 * (1 + nu) / (48 + 39 * nu)) - 1), 1e-4,
                 "square box: shear factor");
  expect_at_most(std::abs(box.stiffness(3, 3) / (G * 1e-9) - 1), 1e-4, "square box: torsion, t b^3");
}

TEST(Beams, NodesAreBodiesByNameAndByPlace) {
  ModelBuilder builder;
  builder.beam("wing", "circle").set("from", {0, 0, 0}).set("to", {2, 0, 0}).set("elements", {4});
  builder.set("radius", {0.1}).set("young", {1}).set("density", {1});
  builder.joint("root", "fixed").set("between", "ground", "wing.start").set("at", {0, 0, 0});
  builder.joint("pin", "spherical").set("between", "wing[0.25]", "wing.end").set("at", {1, 1, 0});
  const auto d = builder.finish();
  ASSERT_EQ(d->entries(Section::Bodies).size(), 5u);
  EXPECT_EQ(d->entries(Section::Bodies)[1].name, "wing.node1");
  const Entry& pin = d->entries(Section::Joints)[1];
  EXPECT_EQ(d->words[static_cast<std::size_t>(pin.fields[0].word)], "wing.node1");
  const auto model = Model::compile(d);
  const Initial initial = initial_values(*model, d->parameters.data());
  EXPECT_NEAR(initial.q[static_cast<std::size_t>(model->nodes[3].q)], 1.5, 1e-15);
}

std::string complaint(const std::function<void(ModelBuilder&)>& fill) {
  try {
    ModelBuilder builder;
    builder.beam("wing", "circle").set("from", {0, 0, 0}).set("to", {2, 0, 0}).set("elements", {4});
    builder.set("radius", {0.1}).set("young", {1}).set("density", {1});
    fill(builder);
    const auto d = builder.finish();
    const auto findings = check_parameters(*Model::compile(d), d->parameters.data());
    return findings.empty() ? "" : findings[0].path + ": " + findings[0].message;
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Beams, MistakesAreNamedAsTheUserTypedThem) {
  const auto expect = [](const std::string& part, const std::function<void(ModelBuilder&)>& fill) {
    EXPECT_NE(complaint(fill).find(part), std::string::npos) << complaint(fill);
  };
  EXPECT_EQ(complaint([](ModelBuilder&) {}), "");
  expect("the beam 'wing' has no node at 0.3", [](ModelBuilder& b) {
    b.joint("pin", "spherical").set("between", "ground", "wing[0.3]").set("at", {0, 0, 0});
  });
  expect("there is no beam 'wang'", [](ModelBuilder& b) {
    b.joint("pin", "spherical").set("between", "ground", "wang[0.5]").set("at", {0, 0, 0});
  });
  expect("expected a fraction of the length from 0 to 1",
         [](ModelBuilder& b) { b.sensor("moment", "section_moment").set("of", std::string("wing[2]")); });
  expect("expected a position on the beam 'wing'",
         [](ModelBuilder& b) { b.sensor("moment", "section_moment").set("of", std::string("wing")); });
  expect("beams.bow: from, through and to are on a line", [](ModelBuilder& b) {
    b.beam("bow", "circle").set("from", {0, 0, 0}).set("through", {1, 0, 0}).set("to", {2, 0, 0});
    b.set("elements", {2}).set("radius", {0.1}).set("young", {1}).set("density", {1});
  });
  const auto turned = [](ModelBuilder& b, double twist, double elements, const std::string& element) {
    b.beam("drill", "rectangle").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("twist", {twist});
    b.set("elements", {elements}).set("element", element).set("width", {0.1}).set("height", {0.1});
    b.set("young", {1e9}).set("density", {1000});
  };
  expect(
      "beams.drill: turns by 5730 degrees from its start to its end: expected at least 32 elements, got 31",
      [&](ModelBuilder& b) { turned(b, 100, 31, "two_node"); });
  expect("expected at least 16 elements, got 15",
         [&](ModelBuilder& b) { turned(b, -100, 15, "three_node"); });
  expect("beams.bow: turns by 270 degrees from its start to its end: expected at least 2 elements, got 1",
         [](ModelBuilder& b) {
           const double a = 0.5 * std::sqrt(0.5);
           b.beam("bow", "rectangle").set("from", {0, 0, 0}).set("through", {0.5 + a, a, 0});
           b.set("to", {0.5, -0.5, 0}).set("elements", {1}).set("element", std::string("two_node"));
           b.set("width", {0.1}).set("height", {0.1}).set("young", {1e9}).set("density", {1000});
         });
  expect("inertia_per_length must be positive semi-definite, got principal moments -0.002, 0.001, 0.001",
         [](ModelBuilder& b) {
           b.beam("odd", "matrix").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {2});
           std::vector<double> diagonal(36, 0);
           for (std::size_t i = 0; i < 6; ++i) diagonal[7 * i] = 10;
           b.set("stiffness", diagonal).set("mass_per_length", {1});
           b.set("inertia_per_length", {-0.002, 0.001, 0.001});
         });
  expect("beams.pipe: thickness must be at most 0.1", [](ModelBuilder& b) {
    b.beam("pipe", "tube").set("from", {0, 0, 0}).set("to", {2, 0, 0}).set("elements", {2});
    b.set("radius", {0.1}).set("thickness", {0.2}).set("young", {1}).set("density", {1});
  });
}

}  // namespace
}  // namespace liedyn

// The derivatives that elements give by hand, against dual numbers, for every kind in the families' lists: the forces from
// wrench() alone, the joints from phi() alone. And what the energies have to do with the wrenches.
#include <gtest/gtest.h>

#include <map>

#include "liedyn/base/dual.h"
#include "liedyn/base/index.h"
#include "liedyn/lie/se3.h"
#include "liedyn/model/beams/list.h"
#include "liedyn/model/beams/three_node.h"
#include "liedyn/model/beams/two_node.h"
#include "liedyn/model/bodies/list.h"
#include "liedyn/model/bodies/planar.h"
#include "liedyn/model/bodies/rigid.h"
#include "liedyn/model/forces/applied.h"
#include "liedyn/model/forces/bearing.h"
#include "liedyn/model/forces/belt.h"
#include "liedyn/model/forces/bushing.h"
#include "liedyn/model/forces/contact.h"
#include "liedyn/model/forces/coordinate_forces.h"
#include "liedyn/model/forces/joint_effort.h"
#include "liedyn/model/forces/line_load.h"
#include "liedyn/model/forces/list.h"
#include "liedyn/model/forces/spring_damper.h"
#include "liedyn/model/forces/two_point_force.h"
#include "liedyn/model/forces/tyre.h"
#include "liedyn/model/joints/axis_joint.h"
#include "liedyn/model/joints/coordinate_joints.h"
#include "liedyn/model/joints/distance.h"
#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/model/joints/generic.h"
#include "liedyn/model/joints/list.h"
#include "liedyn/model/joints/planar_joint.h"
#include "liedyn/model/joints/pulley.h"
#include "liedyn/model/joints/rolling_disc.h"
#include "liedyn/model/joints/spherical.h"
#include "liedyn/model/joints/universal.h"
#include "liedyn/model/model.h"
#include "liedyn/model/states/signal_batch.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

constexpr double kTolerance = 1e-12;
constexpr int kSamples = 20;

template <class... E>
struct ElementList {
  // Calls visit with the E whose batch this is; false if there is none.
  template <class Visit>
  static bool find(const Batch& batch, Visit&& visit) {
    const auto matches = [&]<class X>(X element) {
      if (dynamic_cast<const BatchOf<X>*>(&batch) == nullptr) return false;
      visit(element);
      return true;
    };
    return (matches(E()) || ...);
  }
};
// A kind whose element is missing here fails the tests below.
using Elements =
    ElementList<RigidInertia, PointInertia, PlanarInertia, Applied<0>, Applied<3>, SpringDamper, Bushing,
                LinearBearing, Spherical, Distance, Revolute, Prismatic, Cylindrical, Universal, Planar,
                Fixed, PointOnLine, PointOnPlane, Screw, RollingDisc, PrescribedMotion, PrescribedVelocity,
                Gear, GearMesh, Pulley, Belt, JointSpring, JointStop, JointActuator, JointEffort,
                JointFriction<3, 2>, JointFriction<2, 3>, JointFriction<2, 2>, Generic<1>, Generic<2>,
                Generic<3>, Generic<4>, Generic<5>, Generic<6>, PlanarRevolute, PlanarPrismatic, PlanarFixed,
                PlanarPointOnLine, TwoNodeBeam, ThreeNodeBeam, LineLoad<2>, LineLoad<3>, TwoPointForce,
                PlaneSphere, PlaneCapsule, PlaneBox, SphereSphere, SphereCapsule, SphereBox, CapsuleBox,
                BoxBox, CapsuleCapsule, Wheel, Clearance, Tyre>;

template <class S>
Motion<S> cast_motion(const Motion<double>& m) {
  Motion<S> out;
  out.R = m.R.template cast<S>();
  out.p = m.p.template cast<S>();
  out.V = m.V.template cast<S>();
  out.A = m.A.template cast<S>();
  return out;
}

template <class E>
std::array<Motion<double>, E::frames> random_motions(Random& random) {
  std::array<Motion<double>, E::frames> out;
  for (auto& m : out) m = random.motion();
  return out;
}

// One direction at a time: it compiles faster than all at once.
using D = Dual<double, 1>;
using DD = Dual<D, 1>;

template <class S, std::size_t N>
std::array<S, N> cast_constants(const double* p) {
  std::array<S, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = S(p[i]);
  return out;
}

// Worst relative differences of one kind over all samples, by the name of the derivative.
class Differences {
 public:
  template <class A, class B>
  void compare(const std::string& name, const A& hand, const B& dual) {
    double& worst = worst_[name];
    worst = std::max(worst, relative_difference(hand, dual));
  }
  void expect_small(const std::string& kind) const {
    for (const auto& [name, worst] : worst_)
      expect_at_most(worst, kTolerance, fmt::format("{}: {}", kind, name));
  }

 private:
  std::map<std::string, double> worst_;
};

template <class E>
constexpr int multipliers_of() {
  if constexpr (requires { E::multipliers; })
    return E::multipliers;
  else
    return 0;
}
template <class E>
constexpr int velocity_rows_of() {
  if constexpr (requires { E::velocity_rows; })
    return E::velocity_rows;
  else
    return 0;
}

template <class E>
void compare_force(const World<double>& world, const double* constants, Random& random, Differences& out) {
  constexpr int F = E::frames;
  const auto motions = random_motions<E>(random);
  ForcePartials<F> hand;
  for (int i = 0; i < F; ++i)
    for (int j = 0; j < F; ++j) hand.K[i][j].setZero(), hand.C[i][j].setZero(), hand.M[i][j].setZero();
  constexpr int L = multipliers_of<E>();
  const Eigen::Matrix<double, L + 1, 1> lambda = random.vector<L + 1>();  // one more: never empty
  MultiplierPartials<F, std::max(L, 1)> by_lambda;
  if constexpr (L > 0)
    E::partials(world, motions, constants, lambda.data(), hand, by_lambda);
  else
    E::partials(world, motions, constants, hand);

  const World<D> world_d{world.gravity.template cast<D>(), D(world.time)};
  const auto p = cast_constants<D, E::constants>(constants);
  Eigen::Matrix<D, L + 1, 1> lambda_d = lambda.template cast<D>();
  const auto column = [&](int j, auto&& move) {
    std::array<Motion<D>, F> m;
    for (int i = 0; i < F; ++i) m[at(i)] = cast_motion<D>(motions[at(i)]);
    move(m[at(j)]);
    std::array<Vec6T<D>, F> W;
    if constexpr (L > 0)
      E::wrench(world_d, m, p.data(), lambda_d.data(), W);
    else
      E::wrench(world_d, m, p.data(), W);
    return W;
  };
  if constexpr (L > 0)
    for (int k = 0; k < L; ++k) {
      lambda_d[k].d[0] = 1;
      const auto along_lambda = column(0, [](Motion<D>&) {});
      lambda_d[k].d[0] = 0;
      for (int i = 0; i < F; ++i)
        out.compare("dW/dlambda", by_lambda.of[i].col(k),
                    Vec6(along_lambda[at(i)].unaryExpr([](const D& x) { return x.d[0]; })));
    }
  Mat6 K[F][F], C[F][F], M[F][F];
  for (int j = 0; j < F; ++j)
    for (int k = 0; k < 6; ++k) {
      Vec6T<D> direction = Vec6T<D>::Zero();
      direction[k].d[0] = 1;
      const auto along_X =
          column(j, [&](Motion<D>& m) { static_cast<Pose<D>&>(m) = perturbed<D>(m, direction); });
      const auto along_V = column(j, [&](Motion<D>& m) { m.V += direction; });
      const auto along_A = column(j, [&](Motion<D>& m) { m.A += direction; });
      for (int i = 0; i < F; ++i)
        for (int r = 0; r < 6; ++r) {
          K[i][j](r, k) = along_X[at(i)][r].d[0];
          C[i][j](r, k) = along_V[at(i)][r].d[0];
          M[i][j](r, k) = along_A[at(i)][r].d[0];
        }
    }
  // A partial that the element does not have must be zero.
  const Mat6 zero = Mat6::Zero();
  for (int i = 0; i < F; ++i)
    for (int j = 0; j < F; ++j) {
      out.compare("dW/dX", E::stiffness ? hand.K[i][j] : zero, K[i][j]);
      out.compare("dW/dV", E::damping ? hand.C[i][j] : zero, C[i][j]);
      out.compare("dW/dA", E::inertia ? hand.M[i][j] : zero, M[i][j]);
    }
}

// The same for rows that are known by their rates B(q) V + a alone.
template <class E>
void compare_rates(const double* constants, Random& random, Differences& out) {
  constexpr int F = E::frames, R = E::rows;
  using Rows = Eigen::Matrix<double, R, 1>;
  const auto motions = random_motions<E>(random);
  const Rows lambda = random.vector<R>();
  JointDerivatives<F, R> hand;
  E::derivatives(motions, constants, lambda.data(), hand);
  const auto p = cast_constants<D, E::constants>(constants);

  std::array<Motion<D>, F> m;
  for (int i = 0; i < F; ++i) m[at(i)] = cast_motion<D>(motions[at(i)]);
  const auto value_of = [](const D& x) { return x.v; };
  const auto slope_of = [](const D& x) { return x.d[0]; };
  Rows rate = hand.phi_t, bias = Rows::Zero();
  for (int i = 0; i < F; ++i) rate += hand.B[i] * motions[at(i)].V;
  out.compare("rate", rate, Rows(E::rate(m, p.data()).unaryExpr(value_of)));
  const auto along = [&](int j, int k) {
    auto moved = m;
    Vec6T<D> direction = Vec6T<D>::Zero();
    direction[k].d[0] = 1;
    static_cast<Pose<D>&>(moved[at(j)]) = perturbed<D>(moved[at(j)], direction);
    return moved;
  };
  for (int j = 0; j < F; ++j) {
    Eigen::Matrix<double, R, 6> B, Z;
    for (int k = 0; k < 6; ++k) {
      auto faster = m;
      faster[at(j)].V[k].d[0] = 1;
      B.col(k) = E::rate(faster, p.data()).unaryExpr(slope_of);
      Z.col(k) = E::rate(along(j, k), p.data()).unaryExpr(slope_of);
    }
    out.compare("B = d(rate)/dV", hand.B[j], B);
    out.compare("Z = d(rate)/dX", hand.Z[j], Z);
    bias += Z * motions[at(j)].V;
    for (int i = 0; i < F; ++i) {
      Mat6 G;
      for (int k = 0; k < 6; ++k)
        for (int r = 0; r < 6; ++r) {
          // d/dX_j of lambda.B_i e_r, as the difference of the rates with and without that twist
          auto moved = along(j, k);
          for (auto& frame : moved) frame.V.setZero();
          const Rows still = E::rate(moved, p.data()).unaryExpr(slope_of);
          moved[at(i)].V[r] = D(1);
          G(r, k) = lambda.dot(Rows(E::rate(moved, p.data()).unaryExpr(slope_of)) - still);
        }
      out.compare("G = d(B^T lambda)/dX", hand.G[i][j], G);
    }
  }
  out.compare("bias", hand.bias, bias);
}

// Rows at velocity level, the last ones, have no Phi.
template <class E>
void compare_joint(const double* constants, Random& random, Differences& out) {
  constexpr int F = E::frames, R = E::rows, P = R - velocity_rows_of<E>();
  using Rows = Eigen::Matrix<double, R, 1>;
  const auto motions = random_motions<E>(random);
  const Rows lambda = random.vector<R>();
  JointDerivatives<F, R> hand;
  E::derivatives(motions, constants, lambda.data(), hand);

  const auto p = cast_constants<DD, E::constants>(constants);
  // The second derivative of Phi: all frames move by exp(e first) exp(d second), e and d infinitesimal.
  struct Increments {
    std::array<Vec6, F> first, second;
    Increments() {
      first.fill(Vec6::Zero());
      second.fill(Vec6::Zero());
    }
  };
  const auto phi_along = [&](const Increments& increments) {
    std::array<Pose<DD>, F> pose;
    for (int i = 0; i < F; ++i) {
      Vec6T<DD> first = Vec6T<DD>::Zero(), second = Vec6T<DD>::Zero();
      for (int k = 0; k < 6; ++k) {
        first[k].v.d[0] = increments.first[at(i)][k];
        second[k].d[0].v = increments.second[at(i)][k];
      }
      const Pose<DD> start = cast_motion<DD>(motions[at(i)]);
      pose[at(i)] = perturbed(perturbed(start, first), second);
    }
    return E::phi(pose, p.data());
  };
  const auto value_of = [](const DD& x) { return x.v.v; };
  const auto first_of = [](const DD& x) { return x.v.d[0]; };
  const auto mixed_of = [](const DD& x) { return x.d[0].d[0]; };

  Increments rest, along_twists;
  out.compare("Phi", hand.phi.template head<P>(),
              Rows(phi_along(rest).unaryExpr(value_of)).template head<P>());
  for (int i = 0; i < F; ++i) along_twists.first[at(i)] = along_twists.second[at(i)] = motions[at(i)].V;
  out.compare("bias", hand.bias.template head<P>(),
              Rows(phi_along(along_twists).unaryExpr(mixed_of)).template head<P>());

  for (int j = 0; j < F; ++j) {
    Eigen::Matrix<double, R, 6> B, Z;
    Mat6 G[F];
    for (int k = 0; k < 6; ++k) {
      Increments step;
      step.first[at(j)] = Vec6::Unit(k);
      B.col(k) = phi_along(step).unaryExpr(first_of);
      step.second = along_twists.second;
      Z.col(k) = phi_along(step).unaryExpr(mixed_of);
      for (int i = 0; i < F; ++i)
        for (int r = 0; r < 6; ++r) {
          step.second.fill(Vec6::Zero());
          step.second[at(i)] = Vec6::Unit(r);
          G[i](r, k) = lambda.dot(Rows(phi_along(step).unaryExpr(mixed_of)));
        }
    }
    out.compare("B = dPhi/dX", hand.B[j].template topRows<P>(), B.template topRows<P>());
    out.compare("Z = d(B V)/dX", hand.Z[j].template topRows<P>(), Z.template topRows<P>());
    if constexpr (P < R) continue;
    // Without `across`, the other blocks must be zero.
    for (int i = 0; i < F; ++i)
      out.compare("G = d(B^T lambda)/dX", i == j || E::across ? hand.G[i][j] : Mat6(Mat6::Zero()), G[i]);
  }
}

// For every listed kind that has an Element: visit(element, kind, numbers of such an element), several times at random.
template <class Visit>
void for_each_listed_kind(Visit&& visit) {
  const auto check = [&](Section section, const auto& list) {
    for (const auto& listed : list) {
      // Numbers of its own: another kind in the list changes none of them.
      std::uint32_t seed = 2166136261u;
      for (const char c : listed.kind.type) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
      Random random(seed);
      for (int sample = 0; sample < kSamples; ++sample) {
        ModelBuilder builder;
        std::vector<std::string> bodies = add_every_body(builder, random);
        if (section == Section::Beams)
          add_beam(builder, listed.kind, "beam", random);
        else if (section != Section::Bodies)
          add_everywhere(builder, section, listed.kind, bodies, Pairs::Neighbours, random);
        const auto model = Model::compile(builder.finish());
        Constants constants;
        derive_constants(*model, model->description().parameters.data(), constants);
        for (std::size_t b = 0; b < model->batches.size(); ++b) {
          const Batch& batch = *model->batches[b];
          if (model->entry_of(static_cast<int>(b), 0).kind->type != listed.kind.type ||
              model->sections[b] != section)
            continue;
          // Made of expressions that name what they depend on: system/matrix_test.cpp.
          if (dynamic_cast<const SignalBatch*>(&batch) != nullptr) continue;
          const int element = random.below(batch.size());
          const double* own =
              constants.data.data() + batch.first_constant + element * batch.constants_per_element();
          // A body and a joint may have the same type.
          const std::string name = fmt::format("{} {}", section_name(section), listed.kind.type);
          const bool found = Elements::find(batch, [&](auto e) { visit(e, name, sample, own, random); });
          ASSERT_TRUE(found) << "the kind '" << listed.kind.type
                             << "' is listed but its element is not in Elements";
        }
      }
    }
  };
  check(Section::Bodies, body_kinds());
  check(Section::Beams, beam_kinds());
  check(Section::Joints, joint_kinds());
  check(Section::Forces, force_kinds());
}

TEST(Derivatives, OfEveryListedKindEqualThoseOfDualNumbers) {
  std::map<std::string, Differences> differences;  // by the kind
  for_each_listed_kind([&]<class E>(E, const std::string& kind, int, const double* constants,
                                    Random& random) {
    if constexpr (velocity_rows_of<E>() > 0) compare_rates<E>(constants, random, differences[kind]);
    if constexpr (E::rows > velocity_rows_of<E>())
      compare_joint<E>(constants, random, differences[kind]);
    else if constexpr (E::rows == 0)
      compare_force<E>({5 * random.vector<3>(), random.between(0, 1)}, constants, random, differences[kind]);
  });
  for (const auto& [kind, of_kind] : differences) of_kind.expect_small(kind);
  // dc_motor, clutch, joint_clutch, hydraulic_cylinder, joint_hydraulics
  constexpr std::size_t kOfExpressions = 5;
  EXPECT_EQ(differences.size() + kOfExpressions,
            body_kinds().size() + beam_kinds().size() + joint_kinds().size() + force_kinds().size());
}

template <class E>
concept HasEnergy = requires(const World<double>& world, const std::array<Motion<double>, E::frames>& m,
                             const double* p) {
  E::energy(world, m, p);
};

// The motion after the time dt with constant accelerations, right to second order.
Motion<double> later(const Motion<double>& m, double dt) {
  Motion<double> out = m;
  const Vec6 x = dt * m.V + 0.5 * dt * dt * m.A;
  const SE3<double> moved = SE3<double>(m.p, SO3<double>::from_matrix(m.R)) * SE3<double>::exp(x);
  out.R = moved.R();
  out.p = moved.position();
  out.V = m.V + dt * m.A;
  return out;
}

// (f(x + h) - f(x - h))/2h, extrapolated twice: joints far off their constraints have steep coordinates.
template <class F>
double derivative(const F& f, double h) {
  const auto central = [&](double step) { return (f(step) - f(-step)) / (2 * step); };
  const double coarse = central(h), middle = central(h / 2), fine = central(h / 4);
  return (16 * (4 * fine - middle) / 3 - (4 * middle - coarse) / 3) / 15;
}

// Contacts have energies with kinks, where differences fail: the derivative of the potential along body increments, by dual numbers.
template <class E>
concept IsContact = requires(const std::array<Motion<double>, E::frames>& m, const double* p) {
  E::approach(m, p);
};
template <class E>
double potential_slope(const std::array<Motion<double>, E::frames>& motions, const double* constants,
                       const std::array<Vec6, E::frames>& increments) {
  std::array<Motion<D>, E::frames> m;
  for (std::size_t i = 0; i < m.size(); ++i) {
    m[i] = cast_motion<D>(motions[i]);
    Vec6T<D> increment = Vec6T<D>::Zero();
    for (int k = 0; k < 6; ++k) increment[k].d[0] = increments[i][k];
    static_cast<Pose<D>&>(m[i]) = perturbed<D>(m[i], increment);
  }
  const auto p = cast_constants<D, E::constants>(constants);
  return E::energy(World<D>(), m, p.data()).potential.d[0];
}

TEST(Energy, IsThePotentialOfTheWrenchAtRest) {
  double worst = 0;
  for_each_listed_kind(
      [&]<class E>(E, const std::string& kind, int sample, const double* constants, Random& random) {
        if constexpr (HasEnergy<E>) {
          if (sample == 0) worst = 0;
          const World<double> world{5 * random.vector<3>(), 0};
          auto motions = random_motions<E>(random);
          for (auto& m : motions) m.V.setZero(), m.A.setZero();
          std::array<Vec6, E::frames> W;
          E::wrench(world, motions, constants, W);
          for (std::size_t i = 0; i < motions.size(); ++i) {
            Vec6 slope;
            for (int k = 0; k < 6; ++k) {
              if constexpr (IsContact<E>) {
                std::array<Vec6, E::frames> increments;
                increments.fill(Vec6::Zero());
                increments[i][k] = 1;
                slope[k] = potential_slope<E>(motions, constants, increments);
                continue;
              }
              slope[k] = derivative(
                  [&](double h) {
                    auto moved = motions;
                    moved[i].V = Vec6::Unit(k);
                    moved[i] = later(moved[i], h);
                    moved[i].V.setZero();
                    return E::energy(world, moved, constants).potential;
                  },
                  1e-3);
            }
            worst = std::max(worst, relative_difference(W[i], slope));
          }
          if (sample + 1 == kSamples) expect_at_most(worst, 1e-9, kind + ": W - dU/dX, relative");
        }
      });
}

// V.W = d(energy)/dt for inertia and weight; forces may dissipate, V.W >= d(energy)/dt.
TEST(Energy, ChangesByThePowerOfTheWrench) {
  double worst = 0, dissipated = 0;
  for_each_listed_kind(
      [&]<class E>(E, const std::string& kind, int sample, const double* constants, Random& random) {
        if constexpr (HasEnergy<E>) {
          if (sample == 0) worst = 0, dissipated = 0;
          // The self-aligning torque of a tyre does work: the brush model leaves out the slip by turning.
          std::array<double, E::constants> own;
          if constexpr (std::is_same_v<E, Tyre>) {
            std::copy_n(constants, E::constants, own.begin());
            own[Tyre::kHalfPatch] = 0;
            constants = own.data();
          }
          const World<double> world{5 * random.vector<3>(), 0};
          const auto motions = random_motions<E>(random);
          std::array<Vec6, E::frames> W;
          E::wrench(world, motions, constants, W);
          double power = 0;
          for (std::size_t i = 0; i < motions.size(); ++i) power += motions[i].V.dot(W[i]);
          double rate = derivative(
              [&](double h) {
                auto moved = motions;
                for (auto& m : moved) m = later(m, h);
                const Energy e = E::energy(world, moved, constants);
                return e.kinetic + e.potential;
              },
              1e-3);
          if constexpr (IsContact<E>) {
            std::array<Vec6, E::frames> twists;
            for (std::size_t i = 0; i < motions.size(); ++i) twists[i] = motions[i].V;
            rate = potential_slope<E>(motions, constants, twists);
          }
          const double loss = power - rate;
          constexpr bool may_dissipate = E::damping && (!E::inertia || E::frames > 1);  // beams have dampers
          worst = std::max(worst, may_dissipate ? -loss : std::abs(loss));
          dissipated = std::max(dissipated, loss);
          if (sample + 1 == kSamples) {
            expect_at_most(worst, 1e-8,
                           kind + (may_dissipate ? ": d(energy)/dt - V.W" : ": |V.W - d(energy)/dt|"));
            if (may_dissipate) {
              EXPECT_GT(dissipated, 0.01) << kind << " has a damper";
            }
          }
        }
      });
}

}  // namespace
}  // namespace liedyn

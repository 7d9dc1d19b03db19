// From the plain functions of an element to its Batch: gathering of frames, scattering of wrenches, rows and blocks,
// written once for all kinds.
//
// An element E is a struct of static members:
//   static constexpr int frames, rows, constants;
//   static std::vector<Attachment> attachments();
//   template <class S> static void derive(const Inputs<S>& in, S* p);            its constants from what the user typed
//   attachments, and row_name of a joint, take the shape as first argument if the kind has shapes (ListedKind).
//
//   static constexpr Optional optional = {.check = true, .energy = true};        which of these it has besides, {}: none. A member that is
//                                                                                 not named here does not compile, nor does a name without it
//     static void check(const Inputs<double>&, std::string& message, std::string& hint);
//     template <class S> static EnergyOf<S> energy(const World<S>&, const Motions&, const S* p);
//     template <class S> static AxisMotionOf<S> axis_motion(const Motions&, const S* p);     coordinates about and along its axis
//     rheonomic: constants of a joint depend on the time, derivatives() gives phi_t as well
//     direct: see below
//
//   an element with forces (rows = 0):
//     static constexpr bool stiffness, damping, inertia;                          which partials exist
//     template <class S> static void wrench(const World<S>&, const std::array<Motion<S>, frames>&, const S* p,
//                                           std::array<Vec6T<S>, frames>& W);     what it adds to r, an applied force with -
//     static void partials(const World<double>&, const Motions&, const double* p, ForcePartials<frames>&);
//     static constexpr int multipliers;    optional: it depends on those of the joint it names. wrench() and partials() then take
//                                          them after p, and partials() a MultiplierPartials at the end
//
//   a joint (rows > 0), Phi a function of the poses:
//     static constexpr bool across;                                               d(B^T lambda) couples the two frames
//     template <class S> static Eigen::Matrix<S, rows, 1> phi(const std::array<Pose<S>, frames>&, const S* p);
//     template <class S> static void derivatives(const Motions&, const S* p, const S* lambda, JointDerivatives<frames, rows, S>&);
//     static std::string row_name(int row);
//     static constexpr int velocity_rows;  optional: the last rows are B(q) V + a(q, t) = 0, which no Phi(q, t) has as its rate. The
//                                          element then has   template <class S> static Rows<S> rate(motions, p)   for all its
//                                          rows, and derivatives() gives B, G, Z, bias, and a as phi_t
//
//   the short way of model/direct.h, optional and for speed only:
//     template <bool WithMatrix, class S> static void direct(const DirectNodeOf<S>&, const World<S>&, const S* p, const Seeding&, S* r,
//                                                            DirectBlock);       an element with one frame at its node
//     static constexpr int places;         a joint: its first rows are p_1 - p_2 in inertial axes (in the plane the first two), and the
//                                          others, if any, depend on the orientations alone:
//     static void turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda, TurnDerivatives<rows - places>&);
//
//   angles that may wind up: static constexpr int angles; the last `angles` of its constants are then where they were at the end of
//   the last step, and   static void wound_angles(const Motions&, const double* p, double* out);   says where they are now.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>

#include "liedyn/model/direct.h"
#include "liedyn/model/element.h"

namespace liedyn {

// dW_i/dX_j (body increments), dW_i/dV_j, dW_i/dA_j. Only what the element's flags name is read.
template <int F>
struct ForcePartials {
  Mat6 K[F][F], C[F][F], M[F][F];
};

template <int F, int L>
struct MultiplierPartials {
  Eigen::Matrix<double, 6, L> of[F];  // dW_i/dlambda
};

template <int F, int R, class S = double>
struct JointDerivatives {
  using Row = Eigen::Matrix<S, R, 6>;
  using Rows = Eigen::Matrix<S, R, 1>;
  Rows phi;
  Row B[F];      // dPhi/dX_i
  Mat6 G[F][F];  // d(B_i^T lambda)/dX_j; for matrices only, not with S = Varied
  Row Z[F];      // d(sum_j B_j V_j)/dX_i
  Rows
      bias;  // Z(V, V) + 2 Phi_tq V + Phi_tt: second derivative of Phi along the motion of constant body twists
  Rows phi_t;  // read of rheonomic joints only
  // What will be read, for joints that can save the rest.
  bool wants_rates = true;      // Z and bias
  bool wants_stiffness = true;  // G
};

// What only some elements have, see above.
struct Optional {
  bool check = false, energy = false, axis_motion = false, rheonomic = false, direct = false;
};

// What an element must have. Optional members are declared, or come in pairs, so that a misspelt one does not compile.
namespace element {

// How many of its constants are angles that may wind up.
template <class E>
constexpr int angles_of() {
  if constexpr (requires { E::angles; })
    return E::angles;
  else
    return 0;
}

template <class E, class S>
using MotionsOf = std::array<Motion<S>, static_cast<std::size_t>(E::frames)>;
template <class E>
using WrenchesOf = std::array<Vec6, static_cast<std::size_t>(E::frames)>;

template <class T>
concept IsFlag = std::same_as<T, const bool>;
template <class E, class S>
concept Derives = requires(const Inputs<S>& in, S* p) {
  E::derive(in, p);
};
template <class E>
concept Attaches = requires {
  { E::attachments() } -> std::same_as<std::vector<Attachment>>;
}
|| requires {
  { E::attachments(0U) } -> std::same_as<std::vector<Attachment>>;
};
template <class E>
concept NamesRows = requires {
  { E::row_name(0) } -> std::same_as<std::string>;
}
|| requires {
  { E::row_name(0U, 0) } -> std::same_as<std::string>;
};
template <class E>
concept Checks = requires(const Inputs<double>& in, std::string& text) {
  E::check(in, text, text);
};
template <class E, class S>
concept HasEnergy = requires(const World<S>& w, const MotionsOf<E, S>& m, const S* p) {
  { E::energy(w, m, p) } -> std::same_as<EnergyOf<S>>;
};
template <class E, class S>
concept HasAxisMotion = requires(const MotionsOf<E, S>& m, const S* p) {
  { E::axis_motion(m, p) } -> std::same_as<AxisMotionOf<S>>;
};
template <class E>
concept HasShortWay = requires {
  &E::template direct<true, double>;
};
// Each optional member is there if it is declared, and only then.
template <class E>
concept Declares = std::same_as<decltype(E::optional), const Optional>;
template <class E>
concept DeclaresCheck = Checks<E>
== E::optional.check;
template <class E>
concept DeclaresEnergy = HasEnergy<E, double>
== E::optional.energy&& HasEnergy<E, Varied> == E::optional.energy;
template <class E>
concept DeclaresAxisMotion = HasAxisMotion<E, double>
== E::optional.axis_motion&& HasAxisMotion<E, Varied> == E::optional.axis_motion;
template <class E>
concept DeclaresShortWay = HasShortWay<E>
== E::optional.direct;

// Members that come in pairs: the name of one of them, and both.
template <class E>
concept NamesAngles = requires {
  E::angles;
}
|| requires { &E::wound_angles; }
|| requires { &E::template wound_angles<double>; };
template <class E>
concept NamesVelocityRows = requires {
  E::velocity_rows;
}
|| requires { &E::template rate<double>; };
template <class E>
concept NamesMultipliers = requires {
  E::multipliers;
};
template <class E>
concept NamesTurns = requires {
  &E::turns;
};
template <class E>
concept WindsUp = requires(const MotionsOf<E, double>& m, const double* p, double* out) {
  requires(E::angles > 0);
  E::wound_angles(m, p, out);
};
template <class E>
concept HoldsVelocities = requires(const MotionsOf<E, double>& m, const double* p) {
  requires(E::velocity_rows > 0);
  E::rate(m, p);
};
template <class E>
concept TakesMultipliers = requires(const World<double>& w, const MotionsOf<E, double>& m, const double* p,
                                    WrenchesOf<E>& W) {
  requires(E::multipliers > 0);
  E::wrench(w, m, p, p, W);
};
template <class E, class S>
concept GivesWrenches = requires(const World<S>& w, const MotionsOf<E, S>& m, const S* p,
                                 std::array<Vec6T<S>, static_cast<std::size_t>(E::frames)>& W) {
  E::wrench(w, m, p, W);
};
template <class E>
concept GivesPartials = requires(const World<double>& w, const MotionsOf<E, double>& m, const double* p,
                                 ForcePartials<E::frames>& d) {
  E::partials(w, m, p, d);
};
template <class E>
concept HasTurns = requires(const Mat3& R, const double* p) {
  requires(E::places >= 0);
  E::turns(R, R, p, p, std::declval<TurnDerivatives<E::rows - E::places>&>());
};
template <class E, class S>
concept HasDerivatives = requires(const MotionsOf<E, S>& m, const S* p,
                                  JointDerivatives<E::frames, E::rows, S>& d) {
  E::derivatives(m, p, p, d);
};
template <class E>
concept HasPhi = requires(const std::array<Pose<double>, static_cast<std::size_t>(E::frames)>& f,
                          const double* p) {
  E::phi(f, p);
};

template <class E>
concept Common = Declares<E> && Derives<E, double> && Derives<E, Varied> && Attaches<E> && DeclaresCheck<E> &&
    DeclaresEnergy<E> && DeclaresAxisMotion<E> && DeclaresShortWay<E> &&(WindsUp<E> || !NamesAngles<E>);
template <class E>
concept Joint = Common<E> && IsFlag<decltype(E::across)> && NamesRows<E> && HasDerivatives<E, double> &&
    HasDerivatives<E, Varied> &&
    (HoldsVelocities<E> ||
     !NamesVelocityRows<E>)&&(HasPhi<E> || HoldsVelocities<E>)&&(HasTurns<E> ||
                                                                 !NamesTurns<E>)&&(!E::optional.energy);
template <class E>
concept Force = Common<E> && IsFlag<decltype(E::stiffness)> && IsFlag<decltype(E::damping)> &&
                IsFlag<decltype(E::inertia)> &&(TakesMultipliers<E> || !NamesMultipliers<E>)&&(
                    (GivesWrenches<E, double> && GivesWrenches<E, Varied>) ||
                    NamesMultipliers<E>)&&(GivesPartials<E> || NamesMultipliers<E> ||
                                           !(E::stiffness || E::damping || E::inertia)) &&
                (!E::optional.axis_motion && !E::optional.rheonomic);

// The compiler names the requirement that is not met.
template <class E>
constexpr bool meets_requirements() {
  if constexpr (E::rows > 0)
    static_assert(Joint<E>, "a member of the joint is missing, misspelt or not declared in `optional`");
  else
    static_assert(Force<E>, "a member of the force is missing, misspelt or not declared in `optional`");
  return true;
}

}  // namespace element

// Not inline: where it is, GCC 12 takes short names for long ones (-Wstringop-overread).
void add_row_name(BatchFacts& facts, std::string name);

template <class E>
class BatchOf : public ForBothScalars<BatchOf<E>> {
  static_assert(element::meets_requirements<E>());

 public:
  using Base = ForBothScalars<BatchOf<E>>;
  using Base::first_angle, Base::first_constant, Base::first_row, Base::frames, Base::joint_rows, Base::size;
  static constexpr int F = E::frames;
  static constexpr int R = E::rows;
  template <class S>
  using MotionsOf = std::array<Motion<S>, F>;
  using Motions = MotionsOf<double>;

  explicit BatchOf(unsigned shape) {
    BatchFacts& facts = this->facts_;
    if constexpr (R > 0)
      facts.coupling = {F, R, true, E::across, kVelocityRows};
    else
      facts.coupling = {F, R, has_partials(), has_partials() && F > 1, 0, kMultipliers};
    facts.acting_frames = F;
    facts.constants = E::constants;
    facts.angles = kAngles;
    facts.divisible = true;
    if constexpr (requires { E::attachments(shape); })
      facts.attachments = E::attachments(shape);
    else
      facts.attachments = E::attachments();
    if constexpr (R > 0)
      for (int row = 0; row < R; ++row) {
        if constexpr (requires { E::row_name(shape, row); })
          add_row_name(facts, E::row_name(shape, row));
        else
          add_row_name(facts, E::row_name(row));
      }
  }

  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    E::derive(in, out);
  }
  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    if constexpr (kOptional.check) E::check(in, message, hint);
  }

  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    loop<false>(at, {});
  }
  bool reads_twists(const VariedEvaluation& at, int e) const override {
    if constexpr (R > 0) return kVelocityRows > 0;
    if constexpr (kDirectForce) return !is_direct(at, e);
    return true;
  }
  void jacobian(const Evaluation& at, const JacobianTarget& to) const override { loop<true>(at, to); }

  void constraint_matrices(const Evaluation& at, double* out) const override {
    if constexpr (R > 0) {
      for (int e = 0; e < size(); ++e) {
        const auto frame = views(at, e, std::make_index_sequence<F>());
        Motions m;
        for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
        JointDerivatives<F, R> d;
        const auto constants = constants_of(at, e);
        E::derivatives(m, data(constants), at.lambda + first_row + e * R, d);
        for (int i = 0; i < F; ++i, out += 6 * R)
          if (!frame[index(i)].on_ground())
            Eigen::Map<Eigen::Matrix<double, R, 6>>{out} =
                frame[index(i)].template to_node_columns<R>(d.B[i]);
      }
    }
  }

  void wound_angles(const Evaluation& at, int e, double* out) const override {
    if constexpr (kAngles > 0) {
      const auto constants = constants_of(at, e);
      E::wound_angles(motions(at, e), data(constants), out);
    }
  }

  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>& at) const {
    EnergyOf<S> sum;
    if constexpr (kOptional.energy) {
      for (int e = 0; e < size(); ++e) {
        const auto constants = constants_of(at, e);
        sum += E::energy(at.world, motions(at, e), data(constants));
      }
    }
    return sum;
  }
  template <class S>
  AxisMotionOf<S> axis_motion_of(const EvaluationOf<S>& at, int e) const {
    if constexpr (kOptional.axis_motion) {
      const auto constants = constants_of(at, e);
      return E::axis_motion(motions(at, e), data(constants));
    } else {
      return {};
    }
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int e, int i) const {
    const MotionsOf<S> m = motions(at, e);
    const auto constants = constants_of(at, e);
    if constexpr (R > 0) {
      const S* lambda = at.lambda + first_row + e * R;
      JointDerivatives<F, R, S> d;
      E::derivatives(m, data(constants), lambda, d);
      return d.B[i].transpose() * Eigen::Map<const Eigen::Matrix<S, R, 1>>(lambda);
    } else {
      std::array<Vec6T<S>, F> W;
      wrench(at, m, data(constants), e, W);
      return W[index(i)];
    }
  }

 private:
  static constexpr Optional kOptional = E::optional;
  static constexpr int kAngles = element::angles_of<E>();
  static constexpr int kMultipliers = [] {
    if constexpr (requires { E::multipliers; })
      return E::multipliers;
    else
      return 0;
  }();
  static constexpr int kVelocityRows = [] {
    if constexpr (requires { E::velocity_rows; })
      return E::velocity_rows;
    else
      return 0;
  }();
  static constexpr bool kRheonomic = kVelocityRows > 0 || kOptional.rheonomic;

  static constexpr bool has_partials() {
    if constexpr (R > 0)
      return true;
    else
      return E::stiffness || E::damping || E::inertia;
  }
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <class S>
  FrameViewOf<S> view(const EvaluationOf<S>& at, int e, int i) const {
    return FrameViewOf<S>(at.frames[frames[index(e * F + i)]], at.constants, at.nodes, at.motions);
  }
  template <class S>
  MotionsOf<S> motions(const EvaluationOf<S>& at, int e) const {
    MotionsOf<S> m;
    for (int i = 0; i < F; ++i) m[index(i)] = view(at, e, i).motion();
    return m;
  }
  // A pointer, or a copy that ends with the angles of the last step; data() gives a pointer to either.
  template <class S>
  auto constants_of(const EvaluationOf<S>& at, int e) const {
    const S* p = at.constants + first_constant + e * E::constants;
    if constexpr (kAngles == 0) {
      return p;
    } else {
      std::array<S, E::constants> own;
      std::copy_n(p, E::constants - kAngles, own.begin());
      std::copy_n(at.angles + first_angle + e * kAngles, kAngles, own.end() - kAngles);
      return own;
    }
  }
  template <class S>
  static const S* data(const S* p) {
    return p;
  }
  template <class S, std::size_t N>
  static const S* data(const std::array<S, N>& p) {
    return p.data();
  }
  template <class S>
  void wrench(const EvaluationOf<S>& at, const MotionsOf<S>& m, const S* p, [[maybe_unused]] int e,
              std::array<Vec6T<S>, F>& W) const {
    if constexpr (kMultipliers > 0)
      E::wrench(at.world, m, p, at.lambda + joint_rows[index(e)], W);
    else
      E::wrench(at.world, m, p, W);
  }

  static constexpr bool kDirectForce = kOptional.direct;
  static constexpr int kPlaces = [] {
    if constexpr (requires { E::places; })
      return E::places;
    else
      return 0;
  }();

  template <bool WithMatrix, class S>
  void loop(const EvaluationOf<S>& at, const JacobianTarget& to) const {
    // The short way has positions and forces only; with derivatives only where rows hold places alone.
    [[maybe_unused]] const bool direct =
        at.r != nullptr && at.rate == nullptr && at.acceleration == nullptr &&
        (!WithMatrix || (to.level == RowLevel::Position && to.rate_blocks == nullptr));
    const int end = at.end < 0 ? size() : at.end;
    for (int e = at.begin; e < end; ++e) {
      if constexpr (R > 0) {
        if constexpr (kPlaces > 0 && (!is_varied<S> || kPlaces == R))
          if (direct && direct_joint<WithMatrix>(at, to, e)) continue;
        joint<WithMatrix>(at, to, e);
      } else {
        if constexpr (kDirectForce)
          if (direct_force<WithMatrix>(at, to, e)) continue;
        force<WithMatrix>(at, to, e);
      }
    }
  }

  template <class S>
  bool is_direct(const EvaluationOf<S>& at, int e) const {
    const Frame& frame = at.frames[frames[index(e)]];
    if (at.r == nullptr || frame.constants >= 0) return false;
    const NodeType type = at.nodes[frame.node].type;
    return is_direct_in_space(type) || is_direct_in_plane(type);
  }

  template <bool WithMatrix, class S>
  bool direct_force(const EvaluationOf<S>& at, const JacobianTarget& to, int e) const {
    if (!is_direct(at, e)) return false;
    const Frame& frame = at.frames[frames[index(e)]];
    const Node& node = at.nodes[frame.node];
    const bool has_tangent = WithMatrix && to.tangent != nullptr;
    const DirectNodeOf<S> x{node.type,
                            at.motions[frame.node],
                            at.v + node.v,
                            at.vdot + node.v,
                            has_tangent ? to.tangent + node.tangent : nullptr,
                            has_tangent ? to.rate_tangent + node.tangent : nullptr};
    DirectBlock block{nullptr, 0};
    if constexpr (WithMatrix) block = {to.values + to.blocks[e].offset, to.blocks[e].stride};
    E::template direct<WithMatrix, S>(x, at.world, at.constants + first_constant + e * E::constants, to.force,
                                      at.r + node.v, block);
    return true;
  }

  // Phi = x_1 + R_1 rho_1 - x_2 - R_2 rho_2 has
  //   B = +-[1, -R rho~],   B^T lambda = +-(lambda, rho x R^T lambda),   d(rho x R^T lambda) = rho~ (R^T lambda)~ d_r
  // with body increments d_r. With inertial ones, s = R rho and the torque t = R t_b,
  //   B = +-[1, -s~],       B^T lambda = +-(lambda, s x lambda),         d(s x lambda) = lambda~ s~ d_r,   dt = R dt_b - t~ d_r
  // False: one of the nodes is of another kind.
  template <bool WithMatrix, class S>
  bool direct_joint(const EvaluationOf<S>& at, [[maybe_unused]] const JacobianTarget& to, int e) const {
    constexpr bool kInSpace = kPlaces == 3;
    constexpr int kTurnRows = R - kPlaces;
    const Frame* frame[2];
    for (int i = 0; i < 2; ++i) {
      frame[i] = &at.frames[frames[index(2 * e + i)]];
      if (frame[i]->node < 0) continue;
      const NodeType type = at.nodes[frame[i]->node].type;
      if (!frame[i]->aligned || !(kInSpace ? is_direct_in_space(type) : is_direct_in_plane(type)))
        return false;
    }
    const int row = first_row + e * R;
    const S* lambda = at.lambda + row;
    Vec3T<S> arm[2], place[2];  // rho or s
    [[maybe_unused]] bool inertial[2] = {false, false};
    Vec3T<S> force = Vec3T<S>::Zero();
    for (int k = 0; k < kPlaces; ++k) force[k] = lambda[k];
    for (int i = 0; i < 2; ++i) {
      arm[i] = frame[i]->constants >= 0
                   ? Vec3T<S>(Eigen::Map<const Vec3T<S>>(at.constants + frame[i]->constants))
                   : Vec3T<S>(Vec3T<S>::Zero());
      place[i] = arm[i];
      if (frame[i]->node < 0) continue;
      const Motion<S>& m = at.motions[frame[i]->node];
      const Vec3T<S> turned = m.R * arm[i];
      place[i] = m.p + turned;
      if constexpr (kInSpace) {
        inertial[i] = turns_rotation(at.nodes[frame[i]->node].type);
        if (inertial[i]) arm[i] = turned;
      }
    }
    [[maybe_unused]] TurnDerivatives<kTurnRows> turn;
    if constexpr (kTurnRows > 0) {
      const auto rotation = [&](int i) -> Mat3 {
        return frame[i]->node < 0 ? offset_of(*frame[i], at.constants).Q : at.motions[frame[i]->node].R;
      };
      E::turns(rotation(0), rotation(1), at.constants + first_constant + e * E::constants, lambda + kPlaces,
               turn);
      for (int i = 0; i < 2; ++i) {
        if (!inertial[i]) continue;
        const Mat3& R_i = at.motions[frame[i]->node].R;
        turn.B[i] = (turn.B[i] * R_i.transpose()).eval();
        for (int j = 0; WithMatrix && j < 2; ++j) {
          turn.G[i][j] = (R_i * turn.G[i][j]).eval();
          turn.G[j][i] = (turn.G[j][i] * R_i.transpose()).eval();
        }
      }
    }
    if (at.phi != nullptr) {
      for (int k = 0; k < kPlaces; ++k) at.phi[row + k] = place[0][k] - place[1][k];
      if constexpr (kTurnRows > 0)
        for (int k = 0; k < kTurnRows; ++k) at.phi[row + kPlaces + k] = turn.phi[k];
    }

    constexpr int kPairs = E::across ? 4 : 2;
    [[maybe_unused]] const BlockRef* refs = WithMatrix ? to.blocks + e * (kPairs + 4) : nullptr;
    for (int i = 0; i < 2; ++i) {
      if (frame[i]->node < 0) continue;
      const double sign = i == 0 ? 1 : -1;
      const Node& node = at.nodes[frame[i]->node];
      const Mat3T<S>& rotation = at.motions[frame[i]->node].R;
      S* r = at.r + node.v;
      for (int k = 0; k < kPlaces; ++k) r[k] += sign * force[k];
      const Vec3T<S> turned = sign * (inertial[i] ? force : Vec3T<S>(rotation.transpose() * force));
      Vec3T<S> torque = arm[i].cross(turned);
      [[maybe_unused]] Vec3 turning;
      if constexpr (kTurnRows > 0) {
        turning =
            turn.B[i].transpose() * Eigen::Map<const Eigen::Matrix<double, kTurnRows, 1>>(lambda + kPlaces);
        torque += turning;
      }
      if constexpr (kInSpace)
        for (int k = 0; k < 3; ++k) r[3 + k] += torque[k];
      else
        r[2] += torque[2];

      if constexpr (WithMatrix) {
        const auto block = [&](int n) { return DirectBlock{to.values + refs[n].offset, refs[n].stride}; };
        const DirectBlock across_rows = block(kPairs + i), down_columns = block(kPairs + 2 + i);
        const double scale = to.row.q;
        for (int k = 0; k < kPlaces; ++k) {
          across_rows(k, k) += scale * sign;
          down_columns(k, k) += sign;
          // e_k.(R (d_r x rho)) = d_r.(rho x R^T e_k), e_k.(d_r x s) = d_r.(s x e_k)
          const Vec3 held = inertial[i] ? Vec3(Vec3::Unit(k)) : Vec3(rotation.row(k).transpose());
          const Vec3 column = sign * arm[i].cross(held);
          for (int c = kInSpace ? 0 : 2; c < 3; ++c) {
            across_rows(k, kPlaces + c - (kInSpace ? 0 : 2)) += scale * column[c];
            down_columns(kPlaces + c - (kInSpace ? 0 : 2), k) += column[c];
          }
        }
        if constexpr (kTurnRows > 0)
          for (int k = 0; k < kTurnRows; ++k)
            for (int c = 0; c < 3; ++c) {
              across_rows(3 + k, 3 + c) += scale * turn.B[i](k, c);
              down_columns(3 + c, 3 + k) += turn.B[i](k, c);
            }
        const double q = to.force.q;
        if (q == 0) continue;
        // rho~ f~ = f rho^T - (rho.f) 1
        if constexpr (kInSpace) {
          Mat3 G = inertial[i] ? Mat3(arm[i] * turned.transpose()) : Mat3(turned * arm[i].transpose());
          G.diagonal().array() -= arm[i].dot(turned);
          if constexpr (kTurnRows > 0) {
            G += turn.G[i][i];
            if (inertial[i]) G -= skew(turning);
          }
          block(E::across ? 3 * i : i).add(3, 3, q * G);
          if constexpr (E::across)
            if (frame[1 - i]->node >= 0) block(i == 0 ? 1 : 2).add(3, 3, q * turn.G[i][1 - i]);
        } else {
          block(E::across ? 3 * i : i)(2, 2) -= q * (arm[i][0] * turned[0] + arm[i][1] * turned[1]);
        }
      }
    }
    return true;
  }

  template <class S, std::size_t... I>
  std::array<FrameViewOf<S>, sizeof...(I)> views(const EvaluationOf<S>& at, int e,
                                                 std::index_sequence<I...>) const {
    return {view(at, e, static_cast<int>(I))...};
  }

  static Seeds frame_seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame,
                           const Seeding& s) {
    const int first = at.nodes[frame.node()].tangent;
    const double* tangent = to.tangent != nullptr ? to.tangent + first : nullptr;
    const double* rate_tangent = to.tangent != nullptr ? to.rate_tangent + first : nullptr;
    Seeds seeds = node_seeds(frame.type(), frame.node_motion(), tangent, rate_tangent, s);
    frame.to_frame(seeds.X);
    frame.to_frame(seeds.V);
    frame.to_frame(seeds.A);
    return seeds;
  }

  template <bool WithMatrix, class S>
  void force(const EvaluationOf<S>& at, [[maybe_unused]] const JacobianTarget& to, int e) const {
    const auto frame = views(at, e, std::make_index_sequence<F>());
    const auto constants = constants_of(at, e);
    const S* p = data(constants);
    MotionsOf<S> m;
    for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
    std::array<Vec6T<S>, F> W;
    wrench(at, m, p, e, W);
    for (int i = 0; i < F; ++i)
      if (!frame[index(i)].on_ground())
        at.wrench[frame[index(i)].node()] += frame[index(i)].wrench_at_node(W[index(i)]);

    if constexpr (WithMatrix && has_partials()) {
      ForcePartials<F> d;
      const BlockRef* refs = to.blocks + e * (F * F + (kMultipliers > 0 ? F : 0));
      if constexpr (kMultipliers > 0) {
        MultiplierPartials<F, kMultipliers> by_lambda;
        E::partials(at.world, m, p, at.lambda + joint_rows[index(e)], d, by_lambda);
        for (int i = 0; i < F; ++i)
          if (!frame[index(i)].on_ground())
            add_multiplier_block(to, refs[F * F + i], frame[index(i)], by_lambda.of[i]);
      } else {
        E::partials(at.world, m, p, d);
      }
      for (int j = 0; j < F; ++j) {
        if (frame[index(j)].on_ground()) continue;
        const Seeds seeds = frame_seeds(at, to, frame[index(j)], to.force);
        for (int i = 0; i < F; ++i) {
          if (frame[index(i)].on_ground()) continue;
          // H_i^T L_i^T (K X + C V + M A)
          Mat6 D = Mat6::Zero();
          if constexpr (E::stiffness) D.noalias() += d.K[i][j] * seeds.X;
          if constexpr (E::damping) D.noalias() += d.C[i][j] * seeds.V;
          if constexpr (E::inertia) D.noalias() += d.M[i][j] * seeds.A;
          frame[index(i)].to_node_rows(D);
          add_block(to.values, refs[i * F + j], D, frame[index(i)].type(), frame[index(j)].type());
        }
      }
    }
  }

  template <bool WithMatrix, class S>
  void joint(const EvaluationOf<S>& at, [[maybe_unused]] const JacobianTarget& to, int e) const {
    const auto frame = views(at, e, std::make_index_sequence<F>());
    const auto constants = constants_of(at, e);
    const S* p = data(constants);
    const int row = first_row + e * R;
    MotionsOf<S> m;
    for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
    using Rows = Eigen::Matrix<S, R, 1>;
    using Row = Eigen::Matrix<double, R, 6>;
    const Eigen::Map<const Rows> lambda(at.lambda + row);
    JointDerivatives<F, R, S> d;
    d.wants_stiffness = WithMatrix && to.force.q != 0;
    d.wants_rates = at.acceleration != nullptr ||
                    (WithMatrix && (to.level != RowLevel::Position || to.rate_blocks != nullptr)) ||
                    kVelocityRows > 0;
    E::derivatives(m, p, at.lambda + row, d);

    if (at.phi != nullptr) Eigen::Map<Rows>(at.phi + row) = d.phi;
    if (at.rate != nullptr || (kVelocityRows > 0 && at.phi != nullptr)) {
      Rows rate = Rows::Zero();
      if constexpr (kRheonomic) rate = d.phi_t;
      for (int i = 0; i < F; ++i) rate += d.B[i] * m[index(i)].V;
      if (at.rate != nullptr) Eigen::Map<Rows>(at.rate + row) = rate;
      if (kVelocityRows > 0 && at.phi != nullptr)
        Eigen::Map<Rows>(at.phi + row).template tail<kVelocityRows>() =
            at.velocity_scale * rate.template tail<kVelocityRows>();
    }
    if (at.acceleration != nullptr) {
      Rows acceleration = d.bias;
      for (int i = 0; i < F; ++i) acceleration += d.B[i] * m[index(i)].A;
      Eigen::Map<Rows>(at.acceleration + row) = acceleration;
    }
    for (int i = 0; i < F; ++i)
      if (!frame[index(i)].on_ground())
        at.wrench[frame[index(i)].node()] += frame[index(i)].wrench_at_node(d.B[i].transpose() * lambda);

    if constexpr (WithMatrix) {
      constexpr int kPairs = E::across ? F * F : F;
      const BlockRef* refs = to.blocks + e * (kPairs + 2 * F);
      for (int j = 0; j < F; ++j) {
        const FrameView& frame_j = frame[index(j)];
        if (frame_j.on_ground()) continue;
        const NodeType type = frame_j.type();
        const int n = node_size(type).v;
        const std::uint8_t* own = components(type);
        const Row B = frame_j.template to_node_columns<R>(d.B[j]);
        // Rows of the constraint: dPhi = B X, d(rate) = B V + Z X, d(acceleration) = B A at fixed q and v.
        Row columns;
        if (to.level == RowLevel::Position) {
          columns = to.row.q * B;
          if constexpr (kVelocityRows > 0) {
            const Seeds seeds = frame_seeds(at, to, frame_j, to.velocity_row);
            columns.template bottomRows<kVelocityRows>() =
                d.B[j].template bottomRows<kVelocityRows>() * seeds.V +
                d.Z[j].template bottomRows<kVelocityRows>() * seeds.X;
          }
        } else {
          const Seeds seeds = frame_seeds(at, to, frame_j, to.row);
          if (to.level == RowLevel::Velocity)
            columns = d.B[j] * seeds.V + d.Z[j] * seeds.X;
          else
            columns = d.B[j] * seeds.A;
        }
        if (to.rate_blocks != nullptr) {
          const Seeds seeds = frame_seeds(at, to, frame_j, to.rate);
          const Row rate_columns = d.B[j] * seeds.V + d.Z[j] * seeds.X;
          const BlockRef& ref = to.rate_blocks[e * F + j];
          for (int c = 0; c < n; ++c)
            for (int r = 0; r < R; ++r) to.values[ref.offset + r + c * ref.stride] += rate_columns(r, own[c]);
        }
        const BlockRef& across_rows = refs[kPairs + j];
        const BlockRef& down_columns = refs[kPairs + F + j];
        for (int c = 0; c < n; ++c)
          for (int r = 0; r < R; ++r) {
            to.values[across_rows.offset + r + c * across_rows.stride] += columns(r, own[c]);
            to.values[down_columns.offset + c + r * down_columns.stride] += B(r, own[c]);
          }
        if (to.force.q == 0) continue;
        // Geometric stiffness d(B^T lambda)/dq.
        for (int i = 0; i < F; ++i) {
          if (frame[index(i)].on_ground() || (!E::across && i != j)) continue;
          Mat6 D = frame_j.template to_node_columns<6>(to.force.q * d.G[i][j]);
          frame[index(i)].to_node_rows(D);
          add_block(to.values, refs[E::across ? i * F + j : j], D, frame[index(i)].type(), type);
        }
      }
    }
  }

  static void add_multiplier_block(const JacobianTarget& to, const BlockRef& ref, const FrameView& frame,
                                   const Eigen::Matrix<double, 6, kMultipliers>& W_lambda) {
    if (ref.offset < 0) return;  // not asked for
    // H^T L^T dW/dlambda: the columns of a row of B, transposed.
    const Eigen::Matrix<double, kMultipliers, 6> rows =
        frame.template to_node_columns<kMultipliers>(W_lambda.transpose());
    const int n = node_size(frame.type()).v;
    const std::uint8_t* own = components(frame.type());
    for (int r = 0; r < kMultipliers; ++r)
      for (int c = 0; c < n; ++c) to.values[ref.offset + c + r * ref.stride] += rows(r, own[c]);
  }
};

template <class E>
std::unique_ptr<Batch> make_batch(unsigned shape) {
  return std::make_unique<BatchOf<E>>(shape);
}

}  // namespace liedyn

// Contacts whose friction has a memory: bristles between the surfaces, which deflect before the surfaces slide. A body at rest on an incline
// stays where it is. The deflection z of a point of contact is a state, in the axes of the first body:
//
//   T  = -N (s_0 z + s z')                                                s_0 = mu_s/presliding,  s = s_1/sqrt(1 + (s_1 v/mu_s)^2)
//   z' = v - a(x) max(v.e, 0) x e,   e = z/|z|,   x = |z| s_0/mu(|v|)     v is the sliding velocity
//   a  = 0 for x <= b,   (1 - cos(pi (x - b)/(1 - b)))/2,   1 for x >= 1
//
// Below the fraction b of the largest deflection the bristles are elastic: there is no drift, neither at rest nor under vibrations (Dupont, Hayward,
// Armstrong and Altpeter 2002). Beyond, z yields along its own direction: |z| ends at mu/s_0, so that |T| ends at mu N opposite to v, and
// -T.v is never less than the rate of N s_0 z^2/2 for x <= 1. The damping s z' ends at mu_s as well, or a body that begins to slide fast would be
// stopped by it. Without contact, and along the normal, z decays: z' = -z/tau. So does what z is longer than mu/s_0,
// so that nothing rests on more friction than there is.
//
// Statics presses bodies together that only just touch (analyses/statics/friction.h): meanwhile bristles act as if N were larger by N_0, also
// at points that are apart by less than a reach. Both are 0 otherwise.
//
// The states NAME.bristle1, ... are those of the description (DescriptionBuilder::finish), three for each point where the shapes may touch.
// They have the rate 0 there; this batch adds theirs.
#pragma once

#include <algorithm>
#include <numbers>

#include "liedyn/base/dual.h"
#include "liedyn/model/forces/bristles.h"
#include "liedyn/model/forces/contact.h"
#include "liedyn/model/forces/relative_partials.h"
#include "liedyn/model/model.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {

// a(x)
template <class S>
S bristle_yield(const S& x) {
  using std::cos;
  constexpr double kElastic = 0.7;  // b
  if (!(x > S(kElastic))) return S(0);
  if (!(x < S(1))) return S(1);
  return (1 - cos(std::numbers::pi / (1 - kElastic) * (x - kElastic))) / 2;
}

template <class First, class Second>
class BristleContacts : public ForBothScalars<BristleContacts<First, Second>, SignalBatch>,
                        public WatchedContacts {
 public:
  using Signals = ForBothScalars<BristleContacts<First, Second>, SignalBatch>;
  using Signals::entries, Signals::first_constant, Signals::frames, Signals::size;
  using Base = Contact<First, Second>;
  // Points where the shapes may touch, their states, all frames of an element, its numbers.
  static constexpr int P = contact_points<First, Second>, Z = kBristleStates * P, F = 2 + Z,
                       N = Base::constants + kBristleConstants;

  BristleContacts() {
    facts_.coupling = {.frames = F, .rows = 0, .diagonal = true, .across = true};
    facts_.acting_frames = 2;
    facts_.constants = N;
    facts_.attachments = Base::attachments();
  }

  void connect(const Model& model, const std::vector<SignalName>&, std::vector<Diagnostic>&) override {
    const Description& d = model.description();
    const std::vector<Entry>& states = d.entries(Section::States);
    std::vector<std::int32_t> all;
    for (int e = 0; e < size(); ++e) {
      all.insert(all.end(), frames.begin() + 2 * e, frames.begin() + 2 * (e + 1));
      const std::string first = bristle_name(d.entries(Section::Forces)[index(entries[index(e)])].name, 0);
      const auto found =
          std::find_if(states.begin(), states.end(), [&](const Entry& state) { return state.name == first; });
      const auto at = model.state_frames.begin() + (found - states.begin());
      all.insert(all.end(), at, at + Z);
    }
    frames = std::move(all);
  }

  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    Base::check_shapes(in, message, hint);
    if (message.empty()) check_bristles(in, Base::kFriction, message, hint);
  }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override {
    for (int e = 0; e < size(); ++e) add_jacobian(at, to, e);
  }
  Approach approach(const Evaluation& at, int e) const override {
    Approach out = Base::approach(motions(at, e), own_constants_of(at, e));
    out.presliding = own_constants_of(at, e)[Base::constants];
    return out;
  }

  template <class S>
  void derive(const Inputs<S>& in, S* p) const {
    Base::derive(in, p);
    derive_bristles(in, Base::kBristles, p + Base::constants);
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    for (int e = 0; e < size(); ++e) push(at, e, forces(at, e));
  }
  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>& at) const {
    EnergyOf<S> sum;
    for (int e = 0; e < size(); ++e) sum += Base::energy(at.world, motions(at, e), own_constants_of(at, e));
    return sum;
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int e, int i) const {
    return forces(at, e).W[index(i)];
  }

 private:
  using Signals::facts_, Signals::seeds, Signals::view;
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <class S>
  struct Forces {
    std::array<Vec6T<S>, 2> W;  // as Contact::wrench
    std::array<S, Z> rate;      // z'
  };
  // Visits the points in their order, which says whose states are whose.
  template <class S>
  struct Rub {
    const FramePair<S>& f;
    const S *law, *bristles, *z;
    Forces<S>& out;
    int point = -1;

    bool skips(const S& depth) {
      ++point;
      return !(depth > -bristles[kBristleReach]);
    }
    void operator()(const S& depth, const Vec3T<S>& n, const Vec3T<S>& at) {
      using std::exp, std::sqrt;
      const Vec3T<S> u = Base::template relative_velocity<S>(f, at);
      const S away = n.dot(u), normal = normal_force<S>(depth, -away, law);
      const S pressing = normal + bristles[kBristlePressure];
      if (!(pressing > S(0))) return;
      const S* friction = law + kNormalConstants;
      const Vec3T<S> v = u - away * n, own = vector_at(z + kBristleStates * point);
      Vec3T<S> e = f[0].R * own;
      e -= n.dot(e) * n;
      const S mu =
          friction[0] + (friction[1] - friction[0]) * exp(-v.squaredNorm() / (friction[3] * friction[3]));
      // Bristles that hold nothing have some length all the same.
      constexpr double kLeast = 1e-3;
      const S share = mu > kLeast * friction[1] ? S(mu / friction[1]) : S(kLeast);
      const S square = e.squaredNorm(), most = bristles[0] * share;
      Vec3T<S> rate = v;
      if (square > S(0)) {
        const S length = sqrt(square), stretching = e.dot(v) / length;
        if (stretching > S(0)) rate -= bristle_yield<S>(length / most) * stretching / most * e;
        if (length > most) rate -= (1 - most / length) / bristles[2] * e;
      }
      const Vec3T<S> on_first = f[0].R.transpose() * rate, along_normal = own - f[0].R.transpose() * e;
      for (int k = 0; k < 3; ++k)
        out.rate[index(kBristleStates * point + k)] = on_first[k] - along_normal[k] / bristles[2];
      S damping(0);
      if (friction[1] > S(0)) {
        const S ratio = bristles[1] / friction[1];
        damping = bristles[1] / sqrt(1 + ratio * ratio * v.squaredNorm());
      }
      push_at<S>(f, at, Vec3T<S>(normal * n - pressing * (friction[1] / bristles[0] * e + damping * rate)),
                 out.W);
    }
  };
  template <class S>
  static Forces<S> forces_of(const FramePair<S>& f, const S* p, const S* z) {
    Forces<S> out;
    for (Vec6T<S>& w : out.W) w.setZero();
    const S* bristles = p + Base::constants;
    for (int k = 0; k < Z; ++k) out.rate[index(k)] = -z[k] / bristles[2];
    Rub<S> rub{f, Base::law(p), bristles, z, out};
    touch(First(), Second(), f, p, p + First::constants, rub);
    return out;
  }

  template <class S>
  const S* own_constants_of(const EvaluationOf<S>& at, int e) const {
    return at.constants + first_constant + e * N;
  }
  template <class S>
  FramePair<S> motions(const EvaluationOf<S>& at, int e) const {
    return {view(at, e * F).motion(), view(at, e * F + 1).motion()};
  }
  template <class S>
  int state_node(const EvaluationOf<S>& at, int e, int k) const {
    return at.frames[frames[index(e * F + 2 + k)]].node;
  }
  template <class S>
  std::array<S, Z> deflections(const EvaluationOf<S>& at, int e) const {
    std::array<S, Z> z;
    for (int k = 0; k < Z; ++k) z[index(k)] = at.motions[state_node(at, e, k)].V[0];
    return z;
  }
  template <class S>
  Forces<S> forces(const EvaluationOf<S>& at, int e) const {
    const std::array<S, Z> z = deflections(at, e);
    return forces_of<S>(motions(at, e), own_constants_of(at, e), z.data());
  }
  template <class S>
  void push(const EvaluationOf<S>& at, int e, const Forces<S>& x) const {
    for (int i = 0; i < 2; ++i) {
      const FrameViewOf<S> frame = view(at, e * F + i);
      if (!frame.on_ground()) at.wrench[frame.node()] += frame.wrench_at_node(x.W[index(i)]);
    }
    for (int k = 0; k < Z; ++k) at.wrench[state_node(at, e, k)][0] -= x.rate[index(k)];
  }

  void add_jacobian(const Evaluation& at, const JacobianTarget& to, int e) const {
    using Moving = Dual<double, 12 + Z>;
    const FramePair<double> f = motions(at, e);
    FramePair<Moving> m = with_increments<12 + Z>(f);
    std::array<Moving, N> p;
    for (int i = 0; i < N; ++i) p[index(i)] = Moving(own_constants_of(at, e)[i]);
    const std::array<double, Z> deflection = deflections(at, e);
    std::array<Moving, Z> z;
    for (int k = 0; k < Z; ++k) z[index(k)] = seed<12 + Z>(deflection[index(k)], 12 + k);
    const Forces<Moving> x = forces_of<Moving>(m, p.data(), z.data());

    Forces<double> values;
    for (std::size_t i = 0; i < 2; ++i)
      for (int r = 0; r < 6; ++r) values.W[i][r] = x.W[i][r].v;
    for (std::size_t k = 0; k < Z; ++k) values.rate[k] = x.rate[k].v;
    push(at, e, values);

    // Rows of the two bodies and of the states, for increments and twists of the second body; those of the first follow from
    // relative_partials.h.
    const Mat6 A = to_second(f);
    const auto slopes = [](const Moving& y, int first) {
      return Eigen::Matrix<double, 1, 6>(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(y.d.data() + first));
    };
    const BlockRef* refs = to.blocks + e * F * F;
    for (int j = 0; j < F; ++j) {
      const FrameView frame_j = view(at, e * F + j);
      if (frame_j.on_ground()) continue;
      const Seeds seed_j = seeds(at, to, frame_j);
      const auto row = [&](const Moving& y) -> Eigen::Matrix<double, 1, 6> {
        if (j >= 2) return y.d[index(12 + j - 2)] * seed_j.V.row(0);
        if (j == 1) return slopes(y, 0) * seed_j.X + slopes(y, 6) * seed_j.V;
        return -slopes(y, 0) * (A * seed_j.X) - slopes(y, 6) * (A * seed_j.V);
      };
      for (int i = 0; i < F; ++i) {
        const FrameView frame_i = view(at, e * F + i);
        if (frame_i.on_ground()) continue;
        Mat6 D = Mat6::Zero();
        if (i < 2) {
          for (int r = 0; r < 6; ++r) D.row(r) = row(x.W[index(i)][r]);
          frame_i.to_node_rows(D);
        } else {
          D.row(0) = -row(x.rate[index(i - 2)]);
        }
        add_block(to.values, refs[i * F + j], D, frame_i.type(), frame_j.type());
      }
    }
  }
};

}  // namespace liedyn

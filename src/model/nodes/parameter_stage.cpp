#include "liedyn/model/nodes/parameter_stage.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "liedyn/base/varied.h"
#include "liedyn/lie/conformal.h"
#include "liedyn/lie/parametrizations.h"
#include "liedyn/model/nodes/stage_relation.h"

namespace liedyn {
namespace {

template <class S, int N>
using Vector = Eigen::Matrix<S, N, 1>;
template <class S, int N>
using Map = Eigen::Map<Vector<S, N>>;
template <class S, int N>
using ConstMap = Eigen::Map<const Vector<S, N>>;

// Coordinates as templates of the scalar.
struct OfRotationVector {
  template <class G>
  using On = Exponential<G>;
};
struct OfConformalVector {
  template <class G>
  using On = Conformal<G>;
};
struct OfCayleyVector {
  template <class G>
  using On = Cayley<G>;
};

// Groups: increments on the right; increments on the left, where T(-x) takes the place of T(x).
struct BodyRotation {
  static constexpr int size = 3;
  static constexpr double side = 1;
  template <class S>
  using Group = SO3<S>;
};
struct InertialRotation {
  static constexpr int size = 3;
  static constexpr double side = -1;
  template <class S>
  using Group = SO3<S>;
};
struct RigidMotion {
  static constexpr int size = 6;
  static constexpr double side = 1;
  template <class S>
  using Group = SE3<S>;
};
struct PlanarMotion {
  static constexpr int size = 3;
  static constexpr double side = 1;
  template <class S>
  using Group = SE2<S>;
};

template <class G, class Coordinates>
struct LocalMap {
  static constexpr int size = G::size;
  using Increments = G;
  template <class S>
  using C = typename Coordinates::template On<typename G::template Group<S>>;
  template <class S>
  using X = Vector<S, size>;
  template <class S>
  static auto T(const X<S>& x) {
    return C<S>::T(X<S>(S(G::side) * x));
  }
  template <class S>
  static auto Tinv(const X<S>& x) {
    return C<S>::Tinv(X<S>(S(G::side) * x));
  }
  // d(T(side x) y)/dx
  template <class S>
  static auto dT(const X<S>& x, const X<S>& y) {
    return (S(G::side) * C<S>::dT(X<S>(S(G::side) * x), y)).eval();
  }
  template <class S>
  static auto map(const X<S>& x) {
    return C<S>::map(x);
  }
};

// Calls f(LocalMap) for the node's group and the chart.
template <class F>
void on_local_map(NodeType type, Chart chart, const F& f) {
  const auto with_group = [&]<class G>(G) {
    switch (chart) {
      case Chart::Exponential: f(LocalMap<G, OfRotationVector>{}); break;
      case Chart::Conformal: f(LocalMap<G, OfConformalVector>{}); break;
      case Chart::Cayley: f(LocalMap<G, OfCayleyVector>{}); break;
    }
  };
  if (traits(type).group == NodeGroup::SE3)
    with_group(RigidMotion{});
  else if (traits(type).group == NodeGroup::SE2)
    with_group(PlanarMotion{});
  else if (is_spatial(type))
    with_group(InertialRotation{});
  else
    with_group(BodyRotation{});
}

// Where the rotational (on SE3 and SE2 the only) block of the node begins among its velocities; -1: it has none.
int block_start(NodeType type) { return is_vector_space(type) ? -1 : traits(type).linear; }

// Velocity and acceleration of a block, in the node's own axes, and the parameters behind them.
template <class S, int Velocities, int Parameters>
struct BlockMotion {
  Vector<S, Velocities> v, vdot;
  Vector<S, Parameters> y, ydot, yddot;
};

// The numbers of a block in a stage.
template <int N, class B>
struct BlockStage {
  Stage s;
  Vector<B, N> Theta, V, theta, y_ref, drift;

  // y'' and y' from theta = y - y_ref.
  template <class S>
  void rates(const Vector<S, N>& theta_now, Vector<S, N>& ydot, Vector<S, N>& yddot) const {
    const Vector<B, N> known = Theta + s.c_2 * V - drift;
    yddot = S(s.rate()) * (theta_now - known.template cast<S>());
    ydot = V.template cast<S>() + S(s.c_v) * yddot;
  }
};

// Each kind of block: `motion(d)` is the motion after a small increment d of the pose. B is the scalar of its numbers.

template <class L, class B>
struct LocalBlock {
  static constexpr int size = L::size;
  BlockStage<size, B> b;

  template <class S>
  BlockMotion<S, size, size> motion(const Vector<S, size>& d) const {
    BlockMotion<S, size, size> m;
    const Eigen::Matrix<B, size, size> Tinv = L::Tinv(b.theta);
    m.y = b.theta.template cast<S>() + Tinv.template cast<S>() * d;
    b.template rates<S>(m.y, m.ydot, m.yddot);
    const Eigen::Matrix<S, size, size> T = L::T(m.y);
    m.v = T * m.ydot;
    m.vdot = T * m.yddot + L::dT(m.y, m.ydot) * m.ydot;
    return m;
  }
};

// theta = Theta + T^-1(theta) (c v - drift), v = V + c_v vdot, with c c_v = c_1 + c_2 c_v.
template <class L, class B>
struct LocalVelocityBlock {
  static constexpr int size = L::size;
  BlockStage<size, B> b;

  template <class S>
  BlockMotion<S, size, size> motion(const Vector<S, size>& d) const {
    BlockMotion<S, size, size> m;
    const Eigen::Matrix<B, size, size> Tinv = L::Tinv(b.theta);
    const Vector<S, size> moved = Tinv.template cast<S>() * d;
    const Vector<B, size> way = b.theta - b.Theta;
    m.y = b.theta.template cast<S>() + moved;
    const Vector<S, size> angle = way.template cast<S>() + moved;
    m.v = (L::T(m.y) * angle + b.drift.template cast<S>()) * S(b.s.rate() * b.s.c_v);
    m.vdot = (m.v - b.V.template cast<S>()) / S(b.s.c_v);
    m.ydot = m.v;  // what the stage advances are the velocities
    m.yddot = m.vdot;
    return m;
  }
};

template <class B>
struct CardanBlock {
  static constexpr int size = 3;
  BlockStage<3, B> b;

  template <class S>
  BlockMotion<S, 3, 3> motion(const Vector<S, 3>& d) const {
    BlockMotion<S, 3, 3> m;
    const Vec3T<B> now = b.y_ref + b.theta;
    const Mat3T<B> Ginv = CardanAngles<B>::Ginv(now);
    const Vec3T<S> moved = Ginv.template cast<S>() * d;
    m.y = now.template cast<S>() + moved;
    b.template rates<S>(b.theta.template cast<S>() + moved, m.ydot,
                        m.yddot);  // not y - y_ref: angles may count many turns
    const Mat3T<S> G = CardanAngles<S>::G(m.y);
    m.v = G * m.ydot;
    m.vdot = G * m.yddot + CardanAngles<S>::dG(m.y, m.ydot) * m.ydot;
    return m;
  }
};

// theta = Theta + G^-1(y) (c v - drift), v = V + c_v vdot, with c c_v = c_1 + c_2 c_v.
template <class B>
struct CardanBodyBlock {
  static constexpr int size = 3;
  BlockStage<3, B> b;

  template <class S>
  BlockMotion<S, 3, 3> motion(const Vector<S, 3>& d) const {
    BlockMotion<S, 3, 3> m;
    const Vec3T<B> now = b.y_ref + b.theta;
    const Mat3T<B> Ginv = CardanAngles<B>::Ginv(now);
    const Vec3T<S> moved = Ginv.template cast<S>() * d;
    m.y = now.template cast<S>() + moved;
    const Vec3T<B> angle = b.theta - b.Theta;
    m.v = (CardanAngles<S>::G(m.y) * (angle.template cast<S>() + moved) + b.drift.template cast<S>()) *
          S(b.s.rate() * b.s.c_v);
    m.vdot = (m.v - b.V.template cast<S>()) / S(b.s.c_v);
    m.ydot = m.v;  // what the stage advances are the velocities
    m.yddot = m.vdot;
    return m;
  }
};

template <class B>
struct EulerBlock {
  static constexpr int size = 3;
  BlockStage<4, B> b;
  UnitLength unit_length = UnitLength::Position;

  template <class S>
  BlockMotion<S, 3, 4> motion(const Vector<S, 3>& d) const {
    using V4 = Vector<S, 4>;
    BlockMotion<S, 3, 4> m;
    // The direction n, moved by d: p o (0, d)/2 = G^T(p) d/4.
    const Vector<B, 4> sum = b.y_ref + b.theta, now = sum / sum.norm();
    const Eigen::Matrix<B, 4, 3> Ginv = EulerParameters<B>::Ginv(now);
    const V4 n = now.template cast<S>() + Ginv.template cast<S>() * d;
    const V4 reference = b.y_ref.template cast<S>();
    m.y = n;
    if (unit_length == UnitLength::Velocity) {
      // p = s n with n.p'(s) = 0, which is linear in s.
      V4 ydot, yddot;
      b.template rates<S>(-reference, ydot, yddot);
      m.y = n * (-n.dot(ydot) / (S(b.s.c_v * b.s.rate()) * n.squaredNorm()));
    }
    b.template rates<S>(m.y - reference, m.ydot, m.yddot);
    if (unit_length == UnitLength::Both) {
      const S along = -n.dot(m.ydot) / (S(b.s.c_v) * n.dot(reference));
      m.yddot += along * reference;
      m.ydot += S(b.s.c_v) * along * reference;
    }
    // omega = G p', omega' = G p'' (G(p') p' = 0) for the rotation of p/|p|.
    const Eigen::Matrix<S, 3, 4> G = EulerParameters<S>::G(m.y) / m.y.squaredNorm();
    m.v = G * m.ydot;
    m.vdot = G * m.yddot;
    return m;
  }
};

// The four Euler parameters of a node in an array of a stage: the scalar one stands behind the velocities.
template <class S>
Vector<S, 4> gather(const Node& node, const S* array) {
  const S* rest = array + node.v + block_start(node.type);
  return {array[node.extra], rest[0], rest[1], rest[2]};
}
template <class S, class P>
void scatter(const Node& node, const P& p, S* array) {
  const Vector<S, 4> numbers = p;
  array[node.extra] = numbers[0];
  Map<S, 3>{array + node.v + block_start(node.type)} = numbers.template tail<3>();
}

template <int N, class B>
BlockStage<N, B> block_of(const Node& node, const ParameterStageOf<B>& p) {
  using C = ConstMap<B, N>;
  const int i = node.v + block_start(node.type);
  BlockStage<N, B> b{p.stage, C(p.Theta + i), C(p.V + i), C(p.theta + i), {}, {}};
  b.drift.setZero();
  if (p.drift != nullptr) b.drift = C(p.drift + i);
  b.y_ref.setZero();
  return b;
}

// Calls f(block) with the node's kind of block.
template <class B, class F>
void on_block(const Node& node, const ParameterStageOf<B>& p, const F& f) {
  const int i = node.v + block_start(node.type);
  if (has_euler_parameters(node.type)) {
    EulerBlock<B> block;
    block.unit_length = p.unit_length;
    block.b = {p.stage,
               gather(node, p.Theta),
               gather(node, p.V),
               gather(node, p.theta),
               gather(node, p.y_ref),
               Vector<B, 4>::Zero()};
    // A drift of the pose is one of the parameters: p o (0, drift)/2.
    if (p.drift != nullptr)
      block.b.drift = EulerParameters<B>::Ginv(block.b.y_ref) * ConstMap<B, 3>(p.drift + i);
    f(block);
  } else if (has_cardan_angles(node.type)) {
    BlockStage<3, B> b = block_of<3>(node, p);
    b.y_ref = ConstMap<B, 3>(p.y_ref + i);
    if (has_cardan_rates(node.type)) {
      b.drift = (CardanAngles<B>::Ginv(b.y_ref) * b.drift).eval();
      f(CardanBlock<B>{b});
    } else {
      f(CardanBodyBlock<B>{b});
    }
  } else {
    on_local_map(node.type, p.chart, [&]<class L>(L) {
      if (p.local_form == LocalForm::Velocities)
        f(LocalVelocityBlock<L, B>{block_of<L::size>(node, p)});
      else
        f(LocalBlock<L, B>{block_of<L::size>(node, p)});
    });
  }
}

}  // namespace

template <class S>
void start_parameters(const Node& node, const S* q, const S* v, const S* vdot, S* y, S* ydot, S* yddot) {
  const int count = node_size(node.type).v;
  std::copy_n(v + node.v, count, ydot + node.v);
  std::copy_n(vdot + node.v, count, yddot + node.v);
  std::fill_n(y + node.v, count, 0.0);
  if (!is_conventional(node.type)) return;
  const int i = node.v + block_start(node.type);
  const SO3<S> rotation = rotation_of(q + node.q);
  const Vec3T<S> omega = ConstMap<S, 3>(v + i), alpha = ConstMap<S, 3>(vdot + i);
  if (has_euler_parameters(node.type)) {
    const Vector<S, 4> p = rotation.coordinates();
    const Eigen::Matrix<S, 4, 3> Ginv = EulerParameters<S>::Ginv(p);
    const Vector<S, 4> rates = Ginv * omega;
    scatter(node, p, y);
    scatter(node, rates, ydot);
    scatter(node, Ginv * alpha - rates.squaredNorm() * p, yddot);  // p.p'' + p'.p' = 0
    return;
  }
  const Vec3T<S> angles = CardanAngles<S>::from_rotation(rotation);
  Map<S, 3>{y + i} = angles;
  if (!has_cardan_rates(node.type)) return;
  const Mat3T<S> Ginv = CardanAngles<S>::Ginv(angles);
  const Vec3T<S> rates = Ginv * omega;
  Map<S, 3>{ydot + i} = rates;
  Map<S, 3>{yddot + i} = Ginv * (alpha - CardanAngles<S>::dG(angles, rates) * rates);
}

template <class S>
void local_rates(const Node& node, Chart chart, const S* theta, const S* v, const S* vdot, S* ydot,
                 S* yddot) {
  const int count = node_size(node.type).v, i = node.v + block_start(node.type);
  std::copy_n(v + node.v, count, ydot + node.v);
  std::copy_n(vdot + node.v, count, yddot + node.v);
  if (i < node.v) return;
  on_local_map(node.type, chart, [&]<class L>(L) {
    using X = Vector<S, L::size>;
    const X x = ConstMap<S, L::size>(theta + i);
    const auto Tinv = L::Tinv(x);
    const X rates = Tinv * ConstMap<S, L::size>(v + i);
    Map<S, L::size>{ydot + i} = rates;
    Map<S, L::size>{yddot + i} = Tinv * (ConstMap<S, L::size>(vdot + i) - L::dT(x, rates) * rates);
  });
}

template <class S>
void velocity_of_rates(const Node& node, const S* y, const S* rates, S* out) {
  std::copy_n(rates + node.v, node_size(node.type).v, out + node.v);
  const int i = node.v + block_start(node.type);
  if (has_euler_parameters(node.type))
    Map<S, 3>{out + i} = EulerParameters<S>::G(gather(node, y)) * gather(node, rates);
  else if (has_cardan_rates(node.type))
    Map<S, 3>{out + i} = CardanAngles<S>::G(ConstMap<S, 3>(y + i)) * ConstMap<S, 3>(rates + i);
}

template <class S>
void add_rates_of_velocity(const Node& node, const S* y, const S* dv, S* rates) {
  const int start = block_start(node.type), count = node_size(node.type).v;
  const bool parameters = has_euler_parameters(node.type) || has_cardan_rates(node.type);
  for (int k = 0; k < (parameters ? start : count); ++k) rates[node.v + k] += dv[node.v + k];
  if (!parameters) return;
  const Vec3T<S> turn = ConstMap<S, 3>(dv + node.v + start);
  if (has_euler_parameters(node.type))
    scatter(node, gather(node, rates) + EulerParameters<S>::Ginv(gather(node, y)) * turn, rates);
  else
    Map<S, 3>{rates + node.v + start} += CardanAngles<S>::Ginv(ConstMap<S, 3>(y + node.v + start)) * turn;
}

template <class S>
void add_radial_rates(const Node& node, const S* y, const S* rates, double factor, S* out) {
  if (!has_euler_parameters(node.type)) return;
  const Vector<S, 4> p = gather(node, y);
  scatter(node, gather(node, out) + factor * p.dot(gather(node, rates)) / p.squaredNorm() * p, out);
}

template <class S>
AngleRates<S> angle_rates(const Node& node, const S* y, const S* v, const S* vdot) {
  const int i = node.v + block_start(node.type);
  const Vec3T<S> angles = ConstMap<S, 3>(y + i);
  const Mat3T<S> Ginv = CardanAngles<S>::Ginv(angles);
  const Vec3T<S> first = Ginv * ConstMap<S, 3>(v + i);
  return {first, Ginv * (ConstMap<S, 3>(vdot + i) - CardanAngles<S>::dG(angles, first) * first)};
}

template <class S>
void evaluate_parameters(const Node& node, const ParameterStageOf<S>& p) {
  const int start = block_start(node.type), i = node.v + start;
  // Places are their own parameters.
  for (int k = 0; k < traits(node.type).linear; ++k) {
    const int j = node.v + k;
    const S drift = p.drift != nullptr ? p.drift[j] : 0.0;
    p.q[node.q + k] = p.q_ref[node.q + k] + p.theta[j];
    p.vdot[j] = p.yddot[j] = p.stage.rate() * (p.theta[j] - (p.Theta[j] + p.stage.c_2 * p.V[j] - drift));
    p.v[j] = p.ydot[j] = p.V[j] + p.stage.c_v * p.yddot[j];
  }
  if (only_turns(node.type)) Map<S, 3>{p.q + node.q} = ConstMap<S, 3>(p.q_ref + node.q);
  if (start < 0) return;
  on_block(node, p, [&]<class Block>(const Block& block) {
    const auto m = block.template motion<S>(Vector<S, Block::size>::Zero());
    Map<S, Block::size>{p.v + i} = m.v;
    Map<S, Block::size>{p.vdot + i} = m.vdot;
    if constexpr (requires { block.unit_length; }) {
      scatter(node, m.y, p.y);
      scatter(node, m.ydot, p.ydot);
      scatter(node, m.yddot, p.yddot);
      store_rotation(EulerParameters<S>::rotation(m.y), p.q + node.q);
    } else {
      Map<S, Block::size>{p.y + i} = m.y;
      Map<S, Block::size>{p.ydot + i} = m.ydot;
      Map<S, Block::size>{p.yddot + i} = m.yddot;
    }
  });
  if (has_cardan_angles(node.type)) {
    store_rotation(CardanAngles<S>::rotation(ConstMap<S, 3>(p.y + i)), p.q + node.q);
  } else if (!is_conventional(node.type)) {
    on_local_map(node.type, p.chart, [&]<class L>(L) {
      const Vector<S, L::size> x = ConstMap<S, L::size>(p.theta + i);
      if constexpr (std::is_same_v<typename L::Increments, RigidMotion>) {
        const SE3<S> q = SE3<S>(ConstMap<S, 3>(p.q_ref + node.q), rotation_of(p.q_ref + node.q)) * L::map(x);
        Map<S, 3>{p.q + node.q} = q.position();
        store_rotation(q.rotation(), p.q + node.q);
      } else if constexpr (std::is_same_v<typename L::Increments, PlanarMotion>) {
        const SE2<S> step = L::map(x);
        move_in_plane(p.q_ref + node.q, step, step.angle(), p.q + node.q);
      } else {
        const SO3<S> turn = L::map(x), reference = rotation_of(p.q_ref + node.q);
        store_rotation(is_spatial(node.type) ? turn * reference : reference * turn, p.q + node.q);
      }
    });
  }
}

void parameter_tangents(const Node& node, const ParameterStage& p, double* E, double* E_rate) {
  const int start = block_start(node.type);
  const int skip = start == 0 ? 0 : 1;  // the number of the translational part
  if (skip == 1) E[0] = E_rate[0] = p.stage.rate();
  if (start < 0) return;
  on_block(node, p, [&]<class Block>(const Block& block) {
    constexpr int N = Block::size;
    if constexpr (std::is_same_v<Block, EulerBlock<double>>) {
      // On |p| = 1, with G(p) Ginv(p) = 1 and G(p) y = -G(y) p: d(G p') = (c_v rate - G(p') Ginv) d, d(G p'') = (rate - G(p'') Ginv) d.
      if (block.unit_length == UnitLength::Position) {
        const Eigen::Matrix<double, 4, 3> Ginv = EulerParameters<double>::Ginv(gather(node, p.y));
        Eigen::Map<Mat3>{E + skip} = -EulerParameters<double>::G(gather(node, p.yddot)) * Ginv;
        Eigen::Map<Mat3>{E_rate + skip} =
            -EulerParameters<double>::G(gather(node, p.ydot)) * Ginv / p.stage.c_v;
        for (int k = 0; k < 3; ++k) E[skip + 4 * k] += p.stage.rate(), E_rate[skip + 4 * k] += p.stage.rate();
        return;
      }
    }
    using S = Dual<double, N>;
    Vector<S, N> d;
    for (int k = 0; k < N; ++k) {
      d[k] = S(0);
      d[k].d[static_cast<std::size_t>(k)] = 1;
    }
    const auto m = block.template motion<S>(d);
    for (int c = 0; c < N; ++c)
      for (int r = 0; r < N; ++r) {
        E[skip + r + c * N] = m.vdot[r].d[static_cast<std::size_t>(c)];
        E_rate[skip + r + c * N] = m.v[r].d[static_cast<std::size_t>(c)] / p.stage.c_v;
      }
  });
}

template <class S>
void increment_parameters(const Node& node, Chart chart, const S* d, const S* y_ref, S* theta) {
  const int start = block_start(node.type), i = node.v + start;
  for (int k = 0; k < traits(node.type).linear; ++k) theta[node.v + k] += d[k];
  if (start < 0) return;
  const S* turn = d + start;
  if (has_euler_parameters(node.type)) {
    const Vector<S, 4> reference = gather(node, y_ref);
    const Vector<S, 4> p = (reference + gather(node, theta)).normalized();
    const SO3<S> moved = SO3<S>::from_coordinates(p) * SO3<S>::exp(Vec3T<S>(ConstMap<S, 3>(turn)));
    scatter(node, moved.coordinates() - reference, theta);
  } else if (has_cardan_angles(node.type)) {
    Map<S, 3> x(theta + i);
    x += CardanAngles<S>::Ginv(ConstMap<S, 3>(y_ref + i) + x) * ConstMap<S, 3>(turn);
  } else {
    on_local_map(node.type, chart, [&]<class L>(L) {
      const Vector<S, L::size> x = ConstMap<S, L::size>(theta + i);
      Map<S, L::size>{theta + i} = x + L::Tinv(x) * ConstMap<S, L::size>(turn);
    });
  }
}

DriftResponse parameter_drift_response(const Node& node, const ParameterStage& p, const Vec6& change) {
  DriftResponse out;
  out.acceleration = out.velocity = p.stage.rate() * change;
  const int start = block_start(node.type);
  if (start < 0) return out;
  const std::uint8_t* component = components(node.type) + start;  // of the block, among six padded rows
  using S = Dual<double, 1>;
  on_block(node, p, [&]<class Block>(const Block& block) {
    constexpr int N = Block::size;
    Vector<double, N> y, v, vdot;
    for (int k = 0; k < N; ++k) y[k] = change[component[k]];
    const auto m = block.template motion<double>(Vector<double, N>::Zero());
    if constexpr (requires { block.unit_length; }) {
      // The multiplier of the unit length keeps p.p' = 0.
      const Vector<double, 4> moved = EulerParameters<double>::Ginv(block.b.y_ref) * y;
      const Vector<double, 4> kept = moved - block.b.y_ref * (m.y.dot(moved) / m.y.dot(block.b.y_ref));
      v = vdot = EulerParameters<double>::G(m.y) * kept;
    } else if constexpr (std::is_same_v<Block, CardanBodyBlock<double>>) {
      v = vdot = y;
    } else {
      // d(dG(y, y') y') = (dG(y, y') + d(dG(y, z) y')/dz) dz', the second part linear in z: by duals in one direction.
      const auto second = [&](const auto& derivative, const Vector<double, N>& change_of_rates) {
        Vector<S, N> rates;
        for (int k = 0; k < N; ++k) {
          rates[k] = S(m.ydot[k]);
          rates[k].d[0] = change_of_rates[k];
        }
        const Vector<S, N> at = m.y.template cast<S>();
        const Vector<S, N> product = derivative(at, rates) * rates;
        Vector<double, N> d;
        for (int k = 0; k < N; ++k) d[k] = product[k].d[0];
        return d;
      };
      if constexpr (std::is_same_v<Block, CardanBlock<double>>) {
        const Vec3 moved = CardanAngles<double>::Ginv(block.b.y_ref) * y;
        v = CardanAngles<double>::G(m.y) * moved;
        vdot = v + p.stage.c_v * second([](const auto& at,
                                           const auto& rates) { return CardanAngles<S>::dG(at, rates); },
                                        moved);
      } else {
        on_local_map(node.type, p.chart, [&]<class L>(L) {
          if constexpr (L::size == N) {
            v = L::T(m.y) * y;
            vdot = v + p.stage.c_v *
                           second([](const auto& at, const auto& rates) { return L::dT(at, rates); }, y);
          }
        });
      }
    }
    for (int k = 0; k < N; ++k) {
      out.velocity[component[k]] = p.stage.rate() * v[k];
      out.acceleration[component[k]] = p.stage.rate() * vdot[k];
    }
  });
  return out;
}

template <class S>
void carry_over(const Node& node, const ParameterStageOf<S>& p, const S* a, S* out) {
  std::copy_n(a + node.v, node_size(node.type).v, out + node.v);
  const int start = block_start(node.type), i = node.v + start;
  if (start < 0 || is_conventional(node.type)) return;
  // A = T a + T' y' = vdot + T (a - y'')
  on_local_map(node.type, p.chart, [&]<class L>(L) {
    constexpr int N = L::size;
    const Vector<S, N> x = ConstMap<S, N>(p.theta + i);
    const Vector<S, N> difference = ConstMap<S, N>(a + i) - ConstMap<S, N>(p.yddot + i);
    Map<S, N>{out + i} = ConstMap<S, N>(p.vdot + i) + L::T(x) * difference;
  });
}

template <class S>
void add_covector(const Node& node, Chart chart, const S* theta, const S* g, S* r) {
  const int start = block_start(node.type), i = node.v + start;
  for (int k = 0; k < traits(node.type).linear; ++k) r[node.v + k] += g[node.v + k];
  if (start < 0) return;
  on_local_map(node.type, chart, [&]<class L>(L) {
    const Vector<S, L::size> x = ConstMap<S, L::size>(theta + i);
    Map<S, L::size>{r + i} += L::Tinv(x).transpose() * ConstMap<S, L::size>(g + i);
  });
}

Mat6 covector_derivative(const Node& node, Chart chart, const double* theta, const double* g) {
  Mat6 out = Mat6::Zero();
  const int start = block_start(node.type), i = node.v + start;
  if (start < 0) return out;
  const std::uint8_t* component = components(node.type) + start;
  on_local_map(node.type, chart, [&]<class L>(L) {
    constexpr int N = L::size;
    using S = Dual<double, N>;
    const Vector<double, N> x = ConstMap<double, N>(theta + i);
    const Eigen::Matrix<double, N, N> Tinv = L::Tinv(x);
    Vector<S, N> moved;
    for (int r = 0; r < N; ++r) {
      moved[r] = S(x[r]);
      for (int c = 0; c < N; ++c) moved[r].d[static_cast<std::size_t>(c)] = Tinv(r, c);
    }
    const Vector<S, N> force = L::Tinv(moved).transpose() * ConstMap<double, N>(g + i).template cast<S>();
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) out(component[r], component[c]) = force[r].d[static_cast<std::size_t>(c)];
  });
  return out;
}

template <class S>
double regularity(const Node& node, const S* y) {
  if (!has_cardan_angles(node.type)) return 1;
  return std::abs(std::cos(value(y[node.v + block_start(node.type) + 1])));
}

template double regularity(const Node&, const double*);
template double regularity(const Node&, const Varied*);
template void start_parameters(const Node& node, const double* q, const double* v, const double* vdot,
                               double* y, double* ydot, double* yddot);
template void start_parameters(const Node& node, const Varied* q, const Varied* v, const Varied* vdot,
                               Varied* y, Varied* ydot, Varied* yddot);
template void local_rates(const Node& node, Chart chart, const double* theta, const double* v,
                          const double* vdot, double* ydot, double* yddot);
template void local_rates(const Node& node, Chart chart, const Varied* theta, const Varied* v,
                          const Varied* vdot, Varied* ydot, Varied* yddot);
template void velocity_of_rates(const Node& node, const double* y, const double* rates, double* out);
template void velocity_of_rates(const Node& node, const Varied* y, const Varied* rates, Varied* out);
template void add_rates_of_velocity(const Node& node, const double* y, const double* dv, double* rates);
template void add_rates_of_velocity(const Node& node, const Varied* y, const Varied* dv, Varied* rates);
template void add_radial_rates(const Node& node, const double* y, const double* rates, double factor,
                               double* out);
template void add_radial_rates(const Node& node, const Varied* y, const Varied* rates, double factor,
                               Varied* out);
template AngleRates<double> angle_rates(const Node& node, const double* y, const double* v,
                                        const double* vdot);
template AngleRates<Varied> angle_rates(const Node& node, const Varied* y, const Varied* v,
                                        const Varied* vdot);
template void evaluate_parameters(const Node& node, const ParameterStageOf<double>& p);
template void evaluate_parameters(const Node& node, const ParameterStageOf<Varied>& p);
template void increment_parameters(const Node& node, Chart chart, const double* d, const double* y_ref,
                                   double* theta);
template void increment_parameters(const Node& node, Chart chart, const Varied* d, const Varied* y_ref,
                                   Varied* theta);
template void carry_over(const Node& node, const ParameterStageOf<double>& p, const double* a, double* out);
template void carry_over(const Node& node, const ParameterStageOf<Varied>& p, const Varied* a, Varied* out);
template void add_covector(const Node& node, Chart chart, const double* theta, const double* g, double* r);
template void add_covector(const Node& node, Chart chart, const Varied* theta, const Varied* g, Varied* r);

}  // namespace liedyn

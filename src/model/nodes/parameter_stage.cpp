#include "model/nodes/parameter_stage.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/dual.h"
#include "lie/conformal.h"
#include "lie/parametrizations.h"

namespace liedyn {
namespace {

template <class S, int N>
using Vector = Eigen::Matrix<S, N, 1>;
template <int N>
using Map = Eigen::Map<Vector<double, N>>;
template <int N>
using ConstMap = Eigen::Map<const Vector<double, N>>;

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
  static auto map(const X<double>& x) { return C<double>::map(x); }
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
  if (type == NodeType::SE3)
    with_group(RigidMotion{});
  else if (type == NodeType::SE2)
    with_group(PlanarMotion{});
  else if (is_spatial(type))
    with_group(InertialRotation{});
  else
    with_group(BodyRotation{});
}

// Where the rotational (on SE3 and SE2 the only) block of the node begins among its velocities; -1: it has none.
int block_start(NodeType type) {
  if (type == NodeType::SE3 || type == NodeType::SE2) return 0;
  return rotation_start(type);
}
// How many velocities stand before it, or are all there are: those of a vector space.
int linear_count(NodeType type) {
  const int start = block_start(type);
  return start < 0 ? node_size(type).v : start;
}

// Velocity and acceleration of a block, in the node's own axes, and the parameters behind them.
template <class S, int Velocities, int Parameters>
struct BlockMotion {
  Vector<S, Velocities> v, vdot;
  Vector<S, Parameters> y, ydot, yddot;
};

// The numbers of a block in a stage.
template <int N>
struct BlockStage {
  Stage s;
  Vector<double, N> Theta, V, theta, y_ref, drift;

  // y'' and y' from theta = y - y_ref.
  template <class S>
  void rates(const Vector<S, N>& theta_now, Vector<S, N>& ydot, Vector<S, N>& yddot) const {
    const Vector<double, N> known = Theta + s.c_2 * V - drift;
    yddot = S(s.rate()) * (theta_now - known.template cast<S>());
    ydot = V.template cast<S>() + S(s.c_v) * yddot;
  }
};

// Each kind of block: `motion(d)` is the motion after a small increment d of the pose.

template <class L>
struct LocalBlock {
  static constexpr int size = L::size;
  BlockStage<size> b;

  template <class S>
  BlockMotion<S, size, size> motion(const Vector<S, size>& d) const {
    BlockMotion<S, size, size> m;
    const Eigen::Matrix<double, size, size> Tinv = L::Tinv(b.theta);
    m.y = b.theta.template cast<S>() + Tinv.template cast<S>() * d;
    b.template rates<S>(m.y, m.ydot, m.yddot);
    const Eigen::Matrix<S, size, size> T = L::T(m.y);
    m.v = T * m.ydot;
    m.vdot = T * m.yddot + L::dT(m.y, m.ydot) * m.ydot;
    return m;
  }
};

// theta = Theta + T^-1(theta) (c v - drift), v = V + c_v vdot, with c c_v = c_1 + c_2 c_v.
template <class L>
struct LocalVelocityBlock {
  static constexpr int size = L::size;
  BlockStage<size> b;

  template <class S>
  BlockMotion<S, size, size> motion(const Vector<S, size>& d) const {
    BlockMotion<S, size, size> m;
    const Eigen::Matrix<double, size, size> Tinv = L::Tinv(b.theta);
    const Vector<S, size> moved = Tinv.template cast<S>() * d;
    const Vector<double, size> way = b.theta - b.Theta;
    m.y = b.theta.template cast<S>() + moved;
    const Vector<S, size> angle = way.template cast<S>() + moved;
    m.v = (L::T(m.y) * angle + b.drift.template cast<S>()) * S(b.s.rate() * b.s.c_v);
    m.vdot = (m.v - b.V.template cast<S>()) / S(b.s.c_v);
    m.ydot = m.v;  // what the stage advances are the velocities
    m.yddot = m.vdot;
    return m;
  }
};

struct CardanBlock {
  static constexpr int size = 3;
  BlockStage<3> b;

  template <class S>
  BlockMotion<S, 3, 3> motion(const Vector<S, 3>& d) const {
    BlockMotion<S, 3, 3> m;
    const Vec3 now = b.y_ref + b.theta;
    const Mat3 Ginv = CardanAngles<double>::Ginv(now);
    const Vec3T<S> moved = Ginv.cast<S>() * d;
    m.y = now.cast<S>() + moved;
    b.rates<S>(b.theta.cast<S>() + moved, m.ydot, m.yddot);  // not y - y_ref: angles may count many turns
    const Mat3T<S> G = CardanAngles<S>::G(m.y);
    m.v = G * m.ydot;
    m.vdot = G * m.yddot + CardanAngles<S>::dG(m.y, m.ydot) * m.ydot;
    return m;
  }
};

// theta = Theta + G^-1(y) (c v - drift), v = V + c_v vdot, with c c_v = c_1 + c_2 c_v.
struct CardanBodyBlock {
  static constexpr int size = 3;
  BlockStage<3> b;

  template <class S>
  BlockMotion<S, 3, 3> motion(const Vector<S, 3>& d) const {
    BlockMotion<S, 3, 3> m;
    const Vec3 now = b.y_ref + b.theta;
    const Mat3 Ginv = CardanAngles<double>::Ginv(now);
    const Vec3T<S> moved = Ginv.cast<S>() * d;
    m.y = now.cast<S>() + moved;
    const Vec3 angle = b.theta - b.Theta;
    m.v = (CardanAngles<S>::G(m.y) * (angle.cast<S>() + moved) + b.drift.cast<S>()) * S(b.s.rate() * b.s.c_v);
    m.vdot = (m.v - b.V.cast<S>()) / S(b.s.c_v);
    m.ydot = m.v;  // what the stage advances are the velocities
    m.yddot = m.vdot;
    return m;
  }
};

struct EulerBlock {
  static constexpr int size = 3;
  BlockStage<4> b;
  UnitLength unit_length = UnitLength::Position;

  template <class S>
  BlockMotion<S, 3, 4> motion(const Vector<S, 3>& d) const {
    using V4 = Vector<S, 4>;
    BlockMotion<S, 3, 4> m;
    // The direction n, moved by d: p o (0, d)/2 = G^T(p) d/4.
    const Vector<double, 4> now = (b.y_ref + b.theta).normalized();
    const Eigen::Matrix<double, 4, 3> Ginv = EulerParameters<double>::Ginv(now);
    const V4 n = now.cast<S>() + Ginv.cast<S>() * d;
    const V4 reference = b.y_ref.cast<S>();
    m.y = n;
    if (unit_length == UnitLength::Velocity) {
      // p = s n with n.p'(s) = 0, which is linear in s.
      V4 ydot, yddot;
      b.rates<S>(-reference, ydot, yddot);
      m.y = n * (-n.dot(ydot) / (S(b.s.c_v * b.s.rate()) * n.squaredNorm()));
    }
    b.rates<S>(m.y - reference, m.ydot, m.yddot);
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
Vector<double, 4> gather(const Node& node, const double* array) {
  const double* rest = array + node.v + block_start(node.type);
  return {array[node.extra], rest[0], rest[1], rest[2]};
}
void scatter(const Node& node, const Vector<double, 4>& p, double* array) {
  array[node.extra] = p[0];
  Map<3>{array + node.v + block_start(node.type)} = p.tail<3>();
}

template <int N>
BlockStage<N> block_of(const Node& node, const ParameterStage& p) {
  const int i = node.v + block_start(node.type);
  BlockStage<N> b{p.stage, ConstMap<N>(p.Theta + i), ConstMap<N>(p.V + i), ConstMap<N>(p.theta + i), {}, {}};
  b.drift.setZero();
  if (p.drift != nullptr) b.drift = ConstMap<N>(p.drift + i);
  b.y_ref.setZero();
  return b;
}

// Calls f(block) with the node's kind of block.
template <class F>
void on_block(const Node& node, const ParameterStage& p, const F& f) {
  const int i = node.v + block_start(node.type);
  if (has_euler_parameters(node.type)) {
    EulerBlock block;
    block.unit_length = p.unit_length;
    block.b = {p.stage,
               gather(node, p.Theta),
               gather(node, p.V),
               gather(node, p.theta),
               gather(node, p.y_ref),
               Vector<double, 4>::Zero()};
    // A drift of the pose is one of the parameters: p o (0, drift)/2.
    if (p.drift != nullptr)
      block.b.drift = EulerParameters<double>::Ginv(block.b.y_ref) * ConstMap<3>(p.drift + i);
    f(block);
  } else if (has_cardan_angles(node.type)) {
    BlockStage<3> b = block_of<3>(node, p);
    b.y_ref = ConstMap<3>(p.y_ref + i);
    if (has_cardan_rates(node.type)) {
      b.drift = CardanAngles<double>::Ginv(b.y_ref) * b.drift;
      f(CardanBlock{b});
    } else {
      f(CardanBodyBlock{b});
    }
  } else {
    on_local_map(node.type, p.chart, [&]<class L>(L) {
      if (p.local_form == LocalForm::Velocities)
        f(LocalVelocityBlock<L>{block_of<L::size>(node, p)});
      else
        f(LocalBlock<L>{block_of<L::size>(node, p)});
    });
  }
}

}  // namespace

void start_parameters(const Node& node, const double* q, const double* v, const double* vdot, double* y,
                      double* ydot, double* yddot) {
  const int count = node_size(node.type).v;
  std::copy_n(v + node.v, count, ydot + node.v);
  std::copy_n(vdot + node.v, count, yddot + node.v);
  std::fill_n(y + node.v, count, 0.0);
  if (!is_conventional(node.type)) return;
  const int i = node.v + block_start(node.type);
  const SO3<double> rotation = rotation_of(q + node.q);
  const Vec3 omega = ConstMap<3>(v + i), alpha = ConstMap<3>(vdot + i);
  if (has_euler_parameters(node.type)) {
    const Vector<double, 4> p = rotation.coordinates();
    const Eigen::Matrix<double, 4, 3> Ginv = EulerParameters<double>::Ginv(p);
    const Vector<double, 4> rates = Ginv * omega;
    scatter(node, p, y);
    scatter(node, rates, ydot);
    scatter(node, Ginv * alpha - rates.squaredNorm() * p, yddot);  // p.p'' + p'.p' = 0
    return;
  }
  const Vec3 angles = CardanAngles<double>::from_rotation(rotation);
  Map<3>{y + i} = angles;
  if (!has_cardan_rates(node.type)) return;
  const Mat3 Ginv = CardanAngles<double>::Ginv(angles);
  const Vec3 rates = Ginv * omega;
  Map<3>{ydot + i} = rates;
  Map<3>{yddot + i} = Ginv * (alpha - CardanAngles<double>::dG(angles, rates) * rates);
}

void local_rates(const Node& node, Chart chart, const double* theta, const double* v, const double* vdot,
                 double* ydot, double* yddot) {
  const int count = node_size(node.type).v, i = node.v + block_start(node.type);
  std::copy_n(v + node.v, count, ydot + node.v);
  std::copy_n(vdot + node.v, count, yddot + node.v);
  if (i < node.v) return;
  on_local_map(node.type, chart, [&]<class L>(L) {
    using X = Vector<double, L::size>;
    const X x = ConstMap<L::size>(theta + i);
    const auto Tinv = L::Tinv(x);
    const X rates = Tinv * ConstMap<L::size>(v + i);
    Map<L::size>{ydot + i} = rates;
    Map<L::size>{yddot + i} = Tinv * (ConstMap<L::size>(vdot + i) - L::dT(x, rates) * rates);
  });
}

void velocity_of_rates(const Node& node, const double* y, const double* rates, double* out) {
  std::copy_n(rates + node.v, node_size(node.type).v, out + node.v);
  const int i = node.v + block_start(node.type);
  if (has_euler_parameters(node.type))
    Map<3>{out + i} = EulerParameters<double>::G(gather(node, y)) * gather(node, rates);
  else if (has_cardan_rates(node.type))
    Map<3>{out + i} = CardanAngles<double>::G(ConstMap<3>(y + i)) * ConstMap<3>(rates + i);
}

void add_rates_of_velocity(const Node& node, const double* y, const double* dv, double* rates) {
  const int start = block_start(node.type), count = node_size(node.type).v;
  const bool parameters = has_euler_parameters(node.type) || has_cardan_rates(node.type);
  for (int k = 0; k < (parameters ? start : count); ++k) rates[node.v + k] += dv[node.v + k];
  if (!parameters) return;
  const Vec3 turn = ConstMap<3>(dv + node.v + start);
  if (has_euler_parameters(node.type))
    scatter(node, gather(node, rates) + EulerParameters<double>::Ginv(gather(node, y)) * turn, rates);
  else
    Map<3>{rates + node.v + start} += CardanAngles<double>::Ginv(ConstMap<3>(y + node.v + start)) * turn;
}

void add_radial_rates(const Node& node, const double* y, const double* rates, double factor, double* out) {
  if (!has_euler_parameters(node.type)) return;
  const Vector<double, 4> p = gather(node, y);
  scatter(node, gather(node, out) + factor * p.dot(gather(node, rates)) / p.squaredNorm() * p, out);
}

AngleRates angle_rates(const Node& node, const double* y, const double* v, const double* vdot) {
  const int i = node.v + block_start(node.type);
  const Vec3 angles = ConstMap<3>(y + i);
  const Mat3 Ginv = CardanAngles<double>::Ginv(angles);
  const Vec3 first = Ginv * ConstMap<3>(v + i);
  return {first, Ginv * (ConstMap<3>(vdot + i) - CardanAngles<double>::dG(angles, first) * first)};
}

void evaluate_parameters(const Node& node, const ParameterStage& p) {
  const int start = block_start(node.type), i = node.v + start;
  // Places are their own parameters.
  for (int k = 0; k < linear_count(node.type); ++k) {
    const int j = node.v + k;
    const double drift = p.drift != nullptr ? p.drift[j] : 0.0;
    p.q[node.q + k] = p.q_ref[node.q + k] + p.theta[j];
    p.vdot[j] = p.yddot[j] = p.stage.rate() * (p.theta[j] - (p.Theta[j] + p.stage.c_2 * p.V[j] - drift));
    p.v[j] = p.ydot[j] = p.V[j] + p.stage.c_v * p.yddot[j];
  }
  if (only_turns(node.type)) Map<3>{p.q + node.q} = ConstMap<3>(p.q_ref + node.q);
  if (start < 0) return;
  on_block(node, p, [&]<class Block>(const Block& block) {
    const auto m = block.template motion<double>(Vector<double, Block::size>::Zero());
    Map<Block::size>{p.v + i} = m.v;
    Map<Block::size>{p.vdot + i} = m.vdot;
    if constexpr (requires { block.unit_length; }) {
      scatter(node, m.y, p.y);
      scatter(node, m.ydot, p.ydot);
      scatter(node, m.yddot, p.yddot);
      store_rotation(EulerParameters<double>::rotation(m.y), p.q + node.q);
    } else {
      Map<Block::size>{p.y + i} = m.y;
      Map<Block::size>{p.ydot + i} = m.ydot;
      Map<Block::size>{p.yddot + i} = m.yddot;
    }
  });
  if (has_cardan_angles(node.type)) {
    store_rotation(CardanAngles<double>::rotation(ConstMap<3>(p.y + i)), p.q + node.q);
  } else if (!is_conventional(node.type)) {
    on_local_map(node.type, p.chart, [&]<class L>(L) {
      const Vector<double, L::size> x = ConstMap<L::size>(p.theta + i);
      if constexpr (std::is_same_v<typename L::Increments, RigidMotion>) {
        const SE3<double> q =
            SE3<double>(ConstMap<3>(p.q_ref + node.q), rotation_of(p.q_ref + node.q)) * L::map(x);
        Map<3>{p.q + node.q} = q.position();
        store_rotation(q.rotation(), p.q + node.q);
      } else if constexpr (std::is_same_v<typename L::Increments, PlanarMotion>) {
        const SE2<double> step = L::map(x);
        move_in_plane(p.q_ref + node.q, step, step.angle(), p.q + node.q);
      } else {
        const SO3<double> turn = L::map(x), reference = rotation_of(p.q_ref + node.q);
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
    if constexpr (std::is_same_v<Block, EulerBlock>) {
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

void increment_parameters(const Node& node, Chart chart, const double* d, const double* y_ref,
                          double* theta) {
  const int start = block_start(node.type), i = node.v + start;
  for (int k = 0; k < linear_count(node.type); ++k) theta[node.v + k] += d[k];
  if (start < 0) return;
  const double* turn = d + start;
  if (has_euler_parameters(node.type)) {
    const Vector<double, 4> reference = gather(node, y_ref);
    const Vector<double, 4> p = (reference + gather(node, theta)).normalized();
    const SO3<double> moved = SO3<double>::from_coordinates(p) * SO3<double>::exp(Vec3(ConstMap<3>(turn)));
    scatter(node, moved.coordinates() - reference, theta);
  } else if (has_cardan_angles(node.type)) {
    Map<3> x(theta + i);
    x += CardanAngles<double>::Ginv(ConstMap<3>(y_ref + i) + x) * ConstMap<3>(turn);
  } else {
    on_local_map(node.type, chart, [&]<class L>(L) {
      const Vector<double, L::size> x = ConstMap<L::size>(theta + i);
      Map<L::size>{theta + i} = x + L::Tinv(x) * ConstMap<L::size>(turn);
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
    } else if constexpr (std::is_same_v<Block, CardanBodyBlock>) {
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
      if constexpr (std::is_same_v<Block, CardanBlock>) {
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

void carry_over(const Node& node, const ParameterStage& p, const double* a, double* out) {
  std::copy_n(a + node.v, node_size(node.type).v, out + node.v);
  const int start = block_start(node.type), i = node.v + start;
  if (start < 0 || is_conventional(node.type)) return;
  // A = T a + T' y' = vdot + T (a - y'')
  on_local_map(node.type, p.chart, [&]<class L>(L) {
    constexpr int N = L::size;
    const Vector<double, N> x = ConstMap<N>(p.theta + i);
    const Vector<double, N> difference = ConstMap<N>(a + i) - ConstMap<N>(p.yddot + i);
    Map<N>{out + i} = ConstMap<N>(p.vdot + i) + L::T(x) * difference;
  });
}

void add_covector(const Node& node, Chart chart, const double* theta, const double* g, double* r) {
  const int start = block_start(node.type), i = node.v + start;
  for (int k = 0; k < linear_count(node.type); ++k) r[node.v + k] += g[node.v + k];
  if (start < 0) return;
  on_local_map(node.type, chart, [&]<class L>(L) {
    const Vector<double, L::size> x = ConstMap<L::size>(theta + i);
    Map<L::size>{r + i} += L::Tinv(x).transpose() * ConstMap<L::size>(g + i);
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
    const Vector<double, N> x = ConstMap<N>(theta + i);
    const Eigen::Matrix<double, N, N> Tinv = L::Tinv(x);
    Vector<S, N> moved;
    for (int r = 0; r < N; ++r) {
      moved[r] = S(x[r]);
      for (int c = 0; c < N; ++c) moved[r].d[static_cast<std::size_t>(c)] = Tinv(r, c);
    }
    const Vector<S, N> force = L::Tinv(moved).transpose() * ConstMap<N>(g + i).template cast<S>();
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) out(component[r], component[c]) = force[r].d[static_cast<std::size_t>(c)];
  });
  return out;
}

double regularity(const Node& node, const double* y) {
  if (!has_cardan_angles(node.type)) return 1;
  return std::abs(std::cos(y[node.v + block_start(node.type) + 1]));
}

}  // namespace liedyn

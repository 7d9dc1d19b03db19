#include "liedyn/model/nodes/increments.h"

#include <algorithm>

#include "liedyn/base/varied.h"
#include "liedyn/lie/cayley.h"
#include "liedyn/lie/conformal.h"
#include "liedyn/model/nodes/stage_relation.h"

namespace liedyn {
namespace {

template <class S>
using C3 = Eigen::Map<const Vec3T<S>>;
template <class S>
using M3 = Eigen::Map<Vec3T<S>>;
template <class S>
using C6 = Eigen::Map<const Vec6T<S>>;
template <class S>
using M6 = Eigen::Map<Vec6T<S>>;

// Calls f with the coordinates of the group G.
template <class G, class F>
auto on_chart(Chart chart, const F& f) {
  switch (chart) {
    case Chart::Conformal: return f(Conformal<G>{});
    case Chart::Cayley: return f(Cayley<G>{});
    case Chart::Exponential: break;
  }
  return f(Exponential<G>{});
}

template <class G>
typename G::Matrix tangent_inverse(Chart chart, const typename G::Tangent& x) {
  return on_chart<G>(chart, [&]<class C>(C) -> typename G::Matrix { return C::Tinv(x); });
}
template <class G>
G group_element(Chart chart, const typename G::Tangent& x) {
  return on_chart<G>(chart, [&]<class C>(C) -> G { return C::map(x); });
}
template <class G>
typename G::Tangent coordinates(Chart chart, const G& q) {
  return on_chart<G>(chart, [&]<class C>(C) -> typename G::Tangent { return C::local(q); });
}

// T^-1 of the rotation; in inertial axes T^-1(-x).
template <class S>
Mat3T<S> rotation_tangent_inverse(NodeType type, Chart chart, const Vec3T<S>& x) {
  return tangent_inverse<SO3<S>>(chart, is_spatial(type) ? Vec3T<S>(-x) : x);
}

// Of the turns between a few steps, without a call of atan2:  log q = 2 asin(s)/s v  with s = |v|, as a series up to rotations of 0.28.
template <class S>
Vec3T<S> logarithm(const SO3<S>& turn) {
  const typename SO3<S>::Coordinates q = turn.coordinates();
  const Vec3T<S> v(q[1], q[2], q[3]);
  const S x = v.squaredNorm();
  constexpr double kSmall = 0.02;  // the next term is 0.011 x^8
  if (value(q[0]) <= 0 || value(x) > kSmall) return turn.log();
  constexpr double kSeries[] = {1.0,         1.0 / 6,     3.0 / 40,      5.0 / 112,
                                35.0 / 1152, 63.0 / 2816, 231.0 / 13312, 143.0 / 10240};
  S sum = S(0);
  for (int k = 7; k >= 0; --k) sum = sum * x + S(kSeries[k]);
  return (S(2) * sum) * v;
}

}  // namespace

template <class S>
void move_by(NodeType type, Chart chart, const S* theta, S* q) {
  if (chart == Chart::Exponential || is_planar(type)) {
    increment_position(type, theta, q);
    return;
  }
  if (traits(type).group == NodeGroup::SE3) {
    const SE3<S> there =
        SE3<S>(C3<S>(q), rotation_of(q)) * group_element<SE3<S>>(chart, Vec6T<S>(C6<S>(theta)));
    M3<S>{q} = there.position();
    store_rotation(there.rotation(), q);
    return;
  }
  const int i = rotation_start(type);
  for (int k = 0; k < (i < 0 ? node_size(type).v : i); ++k) q[k] += theta[k];
  if (i < 0) return;
  const SO3<S> turn = group_element<SO3<S>>(chart, Vec3T<S>(C3<S>(theta + i)));
  store_rotation(is_spatial(type) ? turn * rotation_of(q) : rotation_of(q) * turn, q);
}

template <class S>
void increment_rates(NodeType type, Chart chart, const S* theta, const S* v, S* rates) {
  if (traits(type).group == NodeGroup::SE3) {
    M6<S>{rates} = tangent_inverse<SE3<S>>(chart, Vec6T<S>(C6<S>(theta))) * C6<S>(v);
    return;
  }
  if (traits(type).group == NodeGroup::SE2) {
    M3<S>{rates} = SE2<S>::Tinv(C3<S>(theta)) * C3<S>(v);
    return;
  }
  std::copy_n(v, node_size(type).v, rates);
  const int i = rotation_start(type);
  if (i < 0 || is_conventional(type)) return;
  M3<S>{rates + i} = rotation_tangent_inverse<S>(type, chart, C3<S>(theta + i)) * C3<S>(v + i);
}

template <class S>
void add_increment(NodeType type, Chart chart, const S* d, S* theta) {
  S rates[6];
  increment_rates(type, chart, theta, d, rates);
  for (int k = 0; k < node_size(type).v; ++k) theta[k] += rates[k];
}

template <class S>
void increment_between(NodeType type, const S* q, const S* q_to, S* theta) {
  if (traits(type).group == NodeGroup::SE3) {
    const SE3<S> from(C3<S>(q), rotation_of(q)), to(C3<S>(q_to), rotation_of(q_to));
    M6<S>{theta} = (from.inverse() * to).log();
    return;
  }
  if (traits(type).group == NodeGroup::SE2) {
    using Point = Eigen::Matrix<S, 2, 1>;
    const SE2<S> from(Point(q[0], q[1]), q[2]), to(Point(q_to[0], q_to[1]), q_to[2]);
    M3<S>{theta} = (from.inverse() * to).log();
    return;
  }
  const int i = rotation_start(type);
  for (int k = 0; k < (i < 0 ? node_size(type).v : i); ++k) theta[k] = q_to[k] - q[k];
  if (i < 0) return;
  const SO3<S> from = rotation_of(q), to = rotation_of(q_to);
  M3<S>{theta + i} = (is_spatial(type) ? to * from.inverse() : from.inverse() * to).log();
}

template <class S>
void refer_to_moved(NodeType type, Chart chart, const S* moved, S* theta) {
  // The inverse of map(x) is map(-x) in all these coordinates.
  if (traits(type).group == NodeGroup::SE3) {
    M6<S>{theta} = coordinates<SE3<S>>(chart, group_element<SE3<S>>(chart, Vec6T<S>(-C6<S>(moved))) *
                                                  group_element<SE3<S>>(chart, Vec6T<S>(C6<S>(theta))));
    return;
  }
  if (traits(type).group == NodeGroup::SE2) {
    M3<S>{theta} = (SE2<S>::exp(-C3<S>(moved)) * SE2<S>::exp(C3<S>(theta))).log();
    return;
  }
  const int i = rotation_start(type);
  const bool turns = i >= 0 && !is_conventional(type);
  for (int k = 0; k < (turns ? i : node_size(type).v); ++k) theta[k] -= moved[k];
  if (!turns) return;
  const SO3<S> back = group_element<SO3<S>>(chart, Vec3T<S>(-C3<S>(moved + i))),
               there = group_element<SO3<S>>(chart, Vec3T<S>(C3<S>(theta + i)));
  const SO3<S> turn = is_spatial(type) ? there * back : back * there;
  M3<S>{theta + i} = chart == Chart::Exponential ? logarithm(turn) : coordinates<SO3<S>>(chart, turn);
}

template void move_by(NodeType, Chart, const double*, double*);
template void increment_rates(NodeType, Chart, const double*, const double*, double*);
template void add_increment(NodeType, Chart, const double*, double*);
template void increment_between(NodeType, const double*, const double*, double*);
template void refer_to_moved(NodeType, Chart, const double*, double*);
template void move_by(NodeType, Chart, const Varied*, Varied*);
template void increment_rates(NodeType, Chart, const Varied*, const Varied*, Varied*);
template void add_increment(NodeType, Chart, const Varied*, Varied*);
template void increment_between(NodeType, const Varied*, const Varied*, Varied*);
template void refer_to_moved(NodeType, Chart, const Varied*, Varied*);

}  // namespace liedyn

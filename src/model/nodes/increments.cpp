#include "model/nodes/increments.h"

#include <algorithm>

#include "lie/cayley.h"
#include "lie/conformal.h"
#include "model/nodes/stage.h"

namespace liedyn {
namespace {

using C3 = Eigen::Map<const Vec3>;
using M3 = Eigen::Map<Vec3>;
using C6 = Eigen::Map<const Vec6>;
using M6 = Eigen::Map<Vec6>;

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

using Rotation = SO3<double>;
using RigidMotion = SE3<double>;

// T^-1 of the rotation; in inertial axes T^-1(-x).
Mat3 rotation_tangent_inverse(NodeType type, Chart chart, const Vec3& x) {
  return tangent_inverse<Rotation>(chart, is_spatial(type) ? Vec3(-x) : x);
}

// Of the turns between a few steps, without a call of atan2:  log q = 2 asin(s)/s v  with s = |v|, as a series up to rotations of 0.28.
Vec3 logarithm(const Rotation& turn) {
  const Rotation::Coordinates q = turn.coordinates();
  const Vec3 v(q[1], q[2], q[3]);
  const double x = v.squaredNorm();
  constexpr double kSmall = 0.02;  // the next term is 0.011 x^8
  if (q[0] <= 0 || x > kSmall) return turn.log();
  constexpr double kSeries[] = {1.0,         1.0 / 6,     3.0 / 40,      5.0 / 112,
                                35.0 / 1152, 63.0 / 2816, 231.0 / 13312, 143.0 / 10240};
  double sum = 0;
  for (int k = 7; k >= 0; --k) sum = sum * x + kSeries[k];
  return 2 * sum * v;
}

}  // namespace

void move_by(NodeType type, Chart chart, const double* theta, double* q) {
  if (chart == Chart::Exponential || is_planar(type)) {
    increment_position(type, theta, q);
    return;
  }
  if (type == NodeType::SE3) {
    const RigidMotion there =
        RigidMotion(C3(q), rotation_of(q)) * group_element<RigidMotion>(chart, Vec6(C6(theta)));
    M3{q} = there.position();
    store_rotation(there.rotation(), q);
    return;
  }
  const int i = rotation_start(type);
  for (int k = 0; k < (i < 0 ? node_size(type).v : i); ++k) q[k] += theta[k];
  if (i < 0) return;
  const Rotation turn = group_element<Rotation>(chart, Vec3(C3(theta + i)));
  store_rotation(is_spatial(type) ? turn * rotation_of(q) : rotation_of(q) * turn, q);
}

void increment_rates(NodeType type, Chart chart, const double* theta, const double* v, double* rates) {
  if (type == NodeType::SE3) {
    M6{rates} = tangent_inverse<RigidMotion>(chart, Vec6(C6(theta))) * C6(v);
    return;
  }
  if (type == NodeType::SE2) {
    M3{rates} = SE2<double>::Tinv(C3(theta)) * C3(v);
    return;
  }
  std::copy_n(v, node_size(type).v, rates);
  const int i = rotation_start(type);
  if (i < 0 || is_conventional(type)) return;
  M3{rates + i} = rotation_tangent_inverse(type, chart, C3(theta + i)) * C3(v + i);
}

void add_increment(NodeType type, Chart chart, const double* d, double* theta) {
  double rates[6];
  increment_rates(type, chart, theta, d, rates);
  for (int k = 0; k < node_size(type).v; ++k) theta[k] += rates[k];
}

void increment_between(NodeType type, const double* q, const double* q_to, double* theta) {
  if (type == NodeType::SE3) {
    const RigidMotion from(C3(q), rotation_of(q)), to(C3(q_to), rotation_of(q_to));
    M6{theta} = (from.inverse() * to).log();
    return;
  }
  if (type == NodeType::SE2) {
    using Point = Eigen::Vector2d;
    const SE2<double> from(Point(q[0], q[1]), q[2]), to(Point(q_to[0], q_to[1]), q_to[2]);
    M3{theta} = (from.inverse() * to).log();
    return;
  }
  const int i = rotation_start(type);
  for (int k = 0; k < (i < 0 ? node_size(type).v : i); ++k) theta[k] = q_to[k] - q[k];
  if (i < 0) return;
  const Rotation from = rotation_of(q), to = rotation_of(q_to);
  M3{theta + i} = (is_spatial(type) ? to * from.inverse() : from.inverse() * to).log();
}

void refer_to_moved(NodeType type, Chart chart, const double* moved, double* theta) {
  // The inverse of map(x) is map(-x) in all these coordinates.
  if (type == NodeType::SE3) {
    M6{theta} = coordinates<RigidMotion>(chart, group_element<RigidMotion>(chart, Vec6(-C6(moved))) *
                                                    group_element<RigidMotion>(chart, Vec6(C6(theta))));
    return;
  }
  if (type == NodeType::SE2) {
    M3{theta} = (SE2<double>::exp(-C3(moved)) * SE2<double>::exp(C3(theta))).log();
    return;
  }
  const int i = rotation_start(type);
  const bool turns = i >= 0 && !is_conventional(type);
  for (int k = 0; k < (turns ? i : node_size(type).v); ++k) theta[k] -= moved[k];
  if (!turns) return;
  const Rotation back = group_element<Rotation>(chart, Vec3(-C3(moved + i))),
                 there = group_element<Rotation>(chart, Vec3(C3(theta + i)));
  const Rotation turn = is_spatial(type) ? there * back : back * there;
  M3{theta + i} = chart == Chart::Exponential ? logarithm(turn) : coordinates<Rotation>(chart, turn);
}

}  // namespace liedyn

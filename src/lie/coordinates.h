// Local coordinates x of a group near the identity, for increments q = q0 map(x): the exponential and its cheaper
// relatives (cayley.h, conformal.h). Whatever the map, T is defined as for exp:
//
//   map(x + d) = map(x) exp(T(x) d) to first order in d,      T(0) = I
#pragma once

#include <concepts>

#include "liedyn/base/matrix.h"
#include "liedyn/lie/group.h"
#include "liedyn/lie/se2.h"
#include "liedyn/lie/se3.h"

namespace liedyn {

template <class C>
concept LocalCoordinates = LieGroup<typename C::Group> &&
    requires(const typename C::Group& q, const typename C::Group::Tangent& x) {
  { C::map(x) } -> std::same_as<typename C::Group>;
  { C::local(q) } -> std::same_as<typename C::Group::Tangent>;  // map(local(q)) = q
  { C::T(x) } -> std::same_as<typename C::Group::Matrix>;
  { C::Tinv(x) } -> std::same_as<typename C::Group::Matrix>;
  { C::dT(x, x) } -> std::same_as<typename C::Group::Matrix>;     // dT(x, y) = d(T(x) y)/dx
  { C::dTinv(x, x) } -> std::same_as<typename C::Group::Matrix>;  // dTinv(x, y) = d(T^-1(x) y)/dx
};

template <LieGroup G>
struct Exponential {
  using Group = G;
  using Tangent = typename G::Tangent;
  using Matrix = typename G::Matrix;

  static G map(const Tangent& x) { return G::exp(x); }
  static Tangent local(const G& q) { return q.log(); }
  static Matrix T(const Tangent& x) { return G::T(x); }
  static Matrix Tinv(const Tangent& x) { return G::Tinv(x); }
  static Matrix dT(const Tangent& x, const Tangent& y) { return G::dT(x, y); }
  static Matrix dTinv(const Tangent& x, const Tangent& y) { return G::dTinv(x, y); }
};

// Coordinates C of SE(3), restricted to the plane z = 0: planar motions are spatial motions that stay in a plane.
template <LocalCoordinates C>
struct InPlane {
  using S = typename C::Group::Scalar;
  using Group = SE2<S>;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;

  static Group map(const Tangent& x) {
    const SE3<S> q = C::map(embed(x));
    const S& w = q.rotation().w();
    const S& z = q.rotation().v()(2);
    return Group::from_coordinates({q.position()(0), q.position()(1), w * w - z * z, S(2) * w * z});
  }
  static Tangent local(const Group& q) {
    const Vec3T<S> position(q.position()(0), q.position()(1), S(0));
    const Vec3T<S> turn(S(0), S(0), q.angle());
    return restrict(C::local(SE3<S>(position, SO3<S>::exp(turn))));
  }
  static Matrix T(const Tangent& x) { return restrict(C::T(embed(x))); }
  static Matrix Tinv(const Tangent& x) { return restrict(C::Tinv(embed(x))); }
  static Matrix dT(const Tangent& x, const Tangent& y) { return restrict(C::dT(embed(x), embed(y))); }
  static Matrix dTinv(const Tangent& x, const Tangent& y) { return restrict(C::dTinv(embed(x), embed(y))); }

 private:
  static constexpr int place[3] = {0, 1, 5};  // of (u_x, u_y, w_z) in a twist of space

  static Vec6T<S> embed(const Tangent& x) {
    Vec6T<S> twist = Vec6T<S>::Zero();
    for (int i = 0; i < 3; ++i) twist(place[i]) = x(i);
    return twist;
  }
  static Tangent restrict(const Vec6T<S>& x) { return {x(place[0]), x(place[1]), x(place[2])}; }
  static Matrix restrict(const Mat6T<S>& m) {
    Matrix r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r(i, j) = m(place[i], place[j]);
    return r;
  }
};

}  // namespace liedyn

// The seam for configuration spaces. One convention throughout:
//
//   increments on the right (body frame)     q exp(x)
//   twists in the order                      (translation, rotation)
//   tangent operator                         exp(x + d) = exp(x) exp(T(x) d) to first order in d
//   hence, with q' = q v~ and q = q0 exp(x)  v = T(x) x',   x' = T^-1(x) v
//
// A group is a class template on its scalar type, so that dual numbers can run through it.
#pragma once

#include <concepts>

namespace liedyn {

// What a group tells about itself. `nq` numbers are stored, `dof` of them are free.
template <class G>
concept LieGroup = requires(const G& a, const G& b, const typename G::Tangent& x,
                            const typename G::Tangent& y, const typename G::Coordinates& c) {
  typename G::Scalar;
  requires G::dof >
  0;
  requires G::nq >= G::dof;
  requires static_cast<int>(G::Tangent::RowsAtCompileTime) == G::dof;

  { G::identity() } -> std::same_as<G>;
  { a* b } -> std::same_as<G>;
  { a.inverse() } -> std::same_as<G>;
  { G::exp(x) } -> std::same_as<G>;
  { a.log() } -> std::same_as<typename G::Tangent>;

  { a.Ad() } -> std::same_as<typename G::Matrix>;    // a exp(x) a^-1 = exp(Ad x)
  { G::ad(x) } -> std::same_as<typename G::Matrix>;  // ad(x) y = [x, y]
  { G::T(x) } -> std::same_as<typename G::Matrix>;   // sum (-ad)^k/(k+1)!
  { G::Tinv(x) } -> std::same_as<typename G::Matrix>;
  { G::dT(x, y) } -> std::same_as<typename G::Matrix>;     // d(T(x) y)/dx
  { G::dTinv(x, y) } -> std::same_as<typename G::Matrix>;  // d(T^-1(x) y)/dx

  { a.coordinates() } -> std::same_as<typename G::Coordinates>;  // the stored numbers, bit by bit
  { G::from_coordinates(c) } -> std::same_as<G>;
};

// The group with another scalar type, and an element carried over to it as a constant.
template <class G, class S>
using Rebind = typename G::template Rebind<S>;

template <class S, LieGroup G>
Rebind<G, S> cast(const G& q) {
  return Rebind<G, S>::from_coordinates(q.coordinates().template cast<S>());
}

// dplus/dx = T(x), dplus/dq = Ad(exp(-x))
template <LieGroup G>
G plus(const G& q, const typename G::Tangent& x) {
  return q * G::exp(x);
}

// The x with plus(q, x) = p:  dminus/dp = T^-1(x), dminus/dq = -T^-1(-x)
template <LieGroup G>
typename G::Tangent minus(const G& p, const G& q) {
  return (q.inverse() * p).log();
}

}  // namespace liedyn

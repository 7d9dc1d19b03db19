// The direct product of groups, itself a group: elements side by side, operators in diagonal blocks.
#pragma once

#include <concepts>
#include <tuple>
#include <utility>

#include "liedyn/base/matrix.h"
#include "liedyn/lie/group.h"

namespace liedyn {

template <LieGroup... Gs>
class Product {
  using Elements = std::tuple<Gs...>;
  template <int i>
  using Part = std::tuple_element_t<i, Elements>;

 public:
  static constexpr int dof = (Gs::dof + ...);
  static constexpr int nq = (Gs::nq + ...);
  using Scalar = typename Part<0>::Scalar;
  static_assert((std::same_as<typename Gs::Scalar, Scalar> && ...),
                "the parts of a product share one scalar type");
  using Tangent = Eigen::Matrix<Scalar, dof, 1>;
  using Matrix = Eigen::Matrix<Scalar, dof, dof>;
  using Coordinates = Eigen::Matrix<Scalar, nq, 1>;
  template <class S2>
  using Rebind = Product<typename Gs::template Rebind<S2>...>;

  Product() = default;
  explicit Product(const Gs&... parts) : parts_(parts...) {}

  template <int i>
  const Part<i>& part() const {
    return std::get<i>(parts_);
  }
  // The i-th part of a tangent vector.
  template <int i, class Derived>
  static auto segment(Eigen::MatrixBase<Derived>& x) {
    return x.template segment<Part<i>::dof>(dof_before<i>());
  }
  template <int i, class Derived>
  static auto segment(const Eigen::MatrixBase<Derived>& x) {
    return x.template segment<Part<i>::dof>(dof_before<i>());
  }

  static Product identity() { return {}; }
  static Product from_coordinates(const Coordinates& c) {
    return make(
        [&]<int i>() { return Part<i>::from_coordinates(c.template segment<Part<i>::nq>(nq_before<i>())); });
  }
  Coordinates coordinates() const {
    Coordinates c;
    for_each([&]<int i>() { c.template segment<Part<i>::nq>(nq_before<i>()) = part<i>().coordinates(); });
    return c;
  }

  friend Product operator*(const Product& l, const Product& r) {
    return make([&]<int i>() { return l.part<i>() * r.part<i>(); });
  }
  Product inverse() const {
    return make([&]<int i>() { return part<i>().inverse(); });
  }
  static Product exp(const Tangent& x) {
    return make([&]<int i>() { return Part<i>::exp(segment<i>(x)); });
  }
  Tangent log() const {
    Tangent x;
    for_each([&]<int i>() { segment<i>(x) = part<i>().log(); });
    return x;
  }

  Matrix Ad() const {
    return diagonal([&]<int i>() { return part<i>().Ad(); });
  }
  static Matrix ad(const Tangent& x) {
    return diagonal([&]<int i>() { return Part<i>::ad(segment<i>(x)); });
  }
  static Matrix T(const Tangent& x) {
    return diagonal([&]<int i>() { return Part<i>::T(segment<i>(x)); });
  }
  static Matrix Tinv(const Tangent& x) {
    return diagonal([&]<int i>() { return Part<i>::Tinv(segment<i>(x)); });
  }
  static Matrix dT(const Tangent& x, const Tangent& y) {
    return diagonal([&]<int i>() { return Part<i>::dT(segment<i>(x), segment<i>(y)); });
  }
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    return diagonal([&]<int i>() { return Part<i>::dTinv(segment<i>(x), segment<i>(y)); });
  }

  // The three ways to treat all parts alike; f is a lambda with the index of the part as template argument.
  template <class F>
  static void for_each(F&& f) {
    [&]<int... i>(std::integer_sequence<int, i...>) { (f.template operator()<i>(), ...); }
    (indices{});
  }
  template <class F>
  static Product make(F&& f) {
    return [&]<int... i>(std::integer_sequence<int, i...>) { return Product(f.template operator()<i>()...); }
    (indices{});
  }
  template <class F>
  static Matrix diagonal(F&& f) {
    Matrix m = Matrix::Zero();
    for_each([&]<int i>() {
      m.template block<Part<i>::dof, Part<i>::dof>(dof_before<i>(), dof_before<i>()) =
          f.template operator()<i>();
    });
    return m;
  }

 private:
  using indices = std::make_integer_sequence<int, int{sizeof...(Gs)}>;

  template <int i>
  static constexpr int dof_before() {
    int sum = 0;
    [&]<int... j>(std::integer_sequence<int, j...>) { ((sum += Part<j>::dof), ...); }
    (std::make_integer_sequence<int, i>{});
    return sum;
  }
  template <int i>
  static constexpr int nq_before() {
    int sum = 0;
    [&]<int... j>(std::integer_sequence<int, j...>) { ((sum += Part<j>::nq), ...); }
    (std::make_integer_sequence<int, i>{});
    return sum;
  }

  Elements parts_;
};

}  // namespace liedyn

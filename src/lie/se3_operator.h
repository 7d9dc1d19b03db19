// The operators of SE(3) on twists without the zeros of their matrices,
//   | D  C |
//   | 0  D |.
#pragma once

#include "liedyn/lie/se3.h"

namespace liedyn {

template <class S>
struct SE3Operator {
  Mat3T<S> D, C;

  using Tangent = Vec6T<S>;

  // T(x) = | T(w)  DT(w).u |   of SO(3), likewise T^-1         [Arnold et al., Eq. (35)]
  //        |  0     T(w)   |
  static SE3Operator T(const Tangent& x) { return at(so3_tangent<1>(rotation(x).squaredNorm()), x); }
  static SE3Operator Tinv(const Tangent& x) {
    return at(so3_tangent_inverse<1>(rotation(x).squaredNorm()), x);
  }
  // d(T(x) y)/dx, with y = (y_u, y_w):  | dT(w, y_w)   dT(w, y_u) + d((DT.u) y_w)/dw |
  //                                     |     0                  dT(w, y_w)          |
  static SE3Operator dT(const Tangent& x, const Tangent& y) {
    const auto M = so3_tangent<2>(rotation(x).squaredNorm());
    const Vec3T<S> u = place(x), w = rotation(x), y_u = place(y), y_w = rotation(y);
    return {M.derivative(w, y_w), M.derivative(w, y_u) + M.derivative_along(w, u, y_w)};
  }

  Mat6T<S> matrix() const {
    Mat6T<S> m;
    m << D, C, Mat3T<S>::Zero(), D;
    return m;
  }
  SE3Operator& add_identity(const S& factor) {
    D.diagonal().array() += factor;
    return *this;
  }
  // |D| is far from zero where this is asked for: near multiples of the identity cofactors lose nothing.
  SE3Operator inverse() const {
    const Mat3T<S> inverse = D.inverse();
    return {inverse, -inverse * (C * inverse).eval()};
  }
  friend SE3Operator operator*(const S& factor, const SE3Operator& M) { return {factor * M.D, factor * M.C}; }
  friend SE3Operator operator*(const SE3Operator& l, const SE3Operator& r) {
    SE3Operator out{l.D * r.D, l.D * r.C};
    out.C.noalias() += l.C * r.D;
    return out;
  }
  friend Tangent operator*(const SE3Operator& M, const Tangent& y) {
    const Vec3T<S> w = rotation(y);
    Tangent out;
    out << M.D * place(y) + M.C * w, M.D * w;
    return out;
  }

 private:
  static Vec3T<S> place(const Tangent& x) { return x.template head<3>(); }
  static Vec3T<S> rotation(const Tangent& x) { return x.template tail<3>(); }
  static SE3Operator at(const Isotropic<S, 1>& M, const Tangent& x) {
    return {M.matrix(rotation(x)), M.along(rotation(x), place(x))};
  }
};

}  // namespace liedyn

// The equations of a body that moves with a floating frame and deforms by small modal displacements within it. A point of the body is at
//
//   x = p + R (X + u),   u = sum_k phi_k(X) eta_k,      its velocity in body axes  v + Omega x (X + u) + u'
//
// The kinetic energy is a polynomial of second order in eta, and nothing of it is left out:
//
//   T = 1/2 V^T M(eta) V + V^T A(eta) eta' + 1/2 eta'^T m eta',     V = (v, Omega)
//   M(eta) = M_0 + sum_k eta_k N_k + sum_kl eta_k eta_l [0, 0; 0, G_kl],     A_l(eta) = A_l + sum_k eta_k (0, e_lk)
//
// with m diagonal (the modes are orthogonal). With the momenta P = M V + A eta' and Pi = A^T V + m eta' the residuals are
//
//   W     = P' - ad_V^T P                                     [of the frame: force and torque in its axes]
//   W_eta = Pi' - dT/deta + k eta + d eta'                    [of the modes]
//
// minus the weight, whose potential is -g.(mass p + R s(eta)) with the first moment s = s_0 + sum_k eta_k s_k.
#pragma once

#include <type_traits>

#include "liedyn/base/matrix.h"
#include "liedyn/model/element.h"

namespace liedyn {

// More would make a step slow without making it better: everything couples with everything.
inline constexpr int kMostModes = 120;

template <class S>
using Modal = Eigen::Matrix<S, Eigen::Dynamic, 1, 0, kMostModes, 1>;

// The constants above as they stand in the numbers of the body; Number is `const double`, `double` for who writes them, or a number with derivatives.
template <class Number>
class ShapeIntegralsOf {
  using S = std::remove_const_t<Number>;

 public:
  template <class Matrix>
  using Map = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const Matrix, Matrix>>;

  ShapeIntegralsOf(int modes, Number* numbers) : n_(modes), p_(numbers) {}
  static int size(int n) { return 39 + 48 * n + 12 * n * n; }

  int modes() const { return n_; }
  Map<Mat6T<S>> M() const { return Map<Mat6T<S>>(p_); }
  S mass() const { return p_[0]; }
  Map<Vec3T<S>> s() const { return Map<Vec3T<S>>(p_ + 36); }
  Map<Vec6T<S>> A(int l) const { return Map<Vec6T<S>>(p_ + 39 + 6 * l); }
  Number& m(int l) const { return p_[39 + 6 * n_ + l]; }
  Number& k(int l) const { return p_[39 + 7 * n_ + l]; }
  Number& d(int l) const { return p_[39 + 8 * n_ + l]; }
  Map<Vec3T<S>> s(int l) const { return Map<Vec3T<S>>(p_ + 39 + 9 * n_ + 3 * l); }
  Map<Mat6T<S>> N(int k) const { return Map<Mat6T<S>>(p_ + 39 + 12 * n_ + 36 * k); }
  Map<Vec3T<S>> e(int l, int k) const { return Map<Vec3T<S>>(p_ + 39 + 48 * n_ + 3 * (l * n_ + k)); }
  Map<Mat3T<S>> G(int k, int l) const {
    return Map<Mat3T<S>>(p_ + 39 + 48 * n_ + 3 * n_ * n_ + 9 * (k * n_ + l));
  }

 private:
  int n_;
  Number* p_;
};
using ShapeIntegrals = ShapeIntegralsOf<const double>;

template <class S>
struct FloatingMotion {
  Motion<S> frame;
  Modal<S> eta, rate, acceleration;
};

// What the residual and its derivatives share.
template <class S>
struct FloatingTerms {
  Mat6T<S> M;  // M(eta)
  Vec6T<S> P, P_rate;
  Vec3T<S> s, fall;                                          // first moment, and R^T gravity
  Eigen::Matrix<S, 3, Eigen::Dynamic, 0, 3, kMostModes> A;   // rotational part that eta adds to A_l
  Eigen::Matrix<S, 3, Eigen::Dynamic, 0, 3, kMostModes> to;  // sum_k eta'_k e_lk
  Eigen::Matrix<S, 3, Eigen::Dynamic, 0, 3, kMostModes> of;  // sum_k eta'_k e_kl
  // M_k = dM/deta_k = N_k + [0, 0; 0, 2 sum_l eta_l G_kl]: its second part
  Eigen::Matrix<S, 3, Eigen::Dynamic, 0, 3, 3 * kMostModes> H;

  template <class Number>
  FloatingTerms(const ShapeIntegralsOf<Number>& c, const FloatingMotion<S>& x, const Vec3T<S>& gravity) {
    const int n = c.modes();
    M = c.M().template cast<S>();
    s = c.s().template cast<S>();
    A.setZero(3, n), to.setZero(3, n), of.setZero(3, n), H.setZero(3, 3 * n);
    Mat6T<S> M_rate = Mat6T<S>::Zero();
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l < n; ++l) {
        const Vec3T<S> e = c.e(l, k).template cast<S>();
        A.col(l) += x.eta[k] * e;
        to.col(l) += x.rate[k] * e;
        of.col(k) += x.rate[l] * e;
        H.template middleCols<3>(3 * k) += (S(2) * x.eta[l]) * c.G(k, l).template cast<S>();
      }
      const Mat6T<S> N = c.N(k).template cast<S>();
      const Mat3T<S> half = S(0.5) * H.template middleCols<3>(3 * k);
      M += x.eta[k] * N;
      M.template bottomRightCorner<3, 3>() += x.eta[k] * half;
      M_rate += x.rate[k] * N;
      M_rate.template bottomRightCorner<3, 3>() += (S(2) * x.rate[k]) * half;
      s += x.eta[k] * c.s(k).template cast<S>();
    }
    fall = x.frame.R.transpose() * gravity;
    P = M * x.frame.V;
    P_rate = M * x.frame.A + M_rate * x.frame.V;
    for (int l = 0; l < n; ++l) {
      const Vec6T<S> own = column(c, l);
      P += x.rate[l] * own;
      P_rate += x.acceleration[l] * own;
      P_rate.template tail<3>() += x.rate[l] * to.col(l);
    }
  }
  template <class Number>
  Vec6T<S> column(const ShapeIntegralsOf<Number>& c, int l) const {  // A_l(eta)
    Vec6T<S> out = c.A(l).template cast<S>();
    out.template tail<3>() += A.col(l);
    return out;
  }
  template <class Number>
  Vec6T<S> times_M(const ShapeIntegralsOf<Number>& c, int k, const Vec6T<S>& y) const {  // M_k y
    Vec6T<S> out = c.N(k).template cast<S>() * y;
    out.template tail<3>() += H.template middleCols<3>(3 * k) * y.template tail<3>();
    return out;
  }
  // -ad_V^T P
  static Vec6T<S> convected(const Vec6T<S>& V, const Vec6T<S>& P) {
    const Vec3T<S> v = V.template head<3>(), w = V.template tail<3>(), p = P.template head<3>(),
                   L = P.template tail<3>();
    Vec6T<S> out;
    out << w.cross(p), w.cross(L) + v.cross(p);
    return out;
  }
};

template <class S, class Number>
void floating_residual(const ShapeIntegralsOf<Number>& c, const FloatingMotion<S>& x,
                       const FloatingTerms<S>& t, Vec6T<S>& W, Modal<S>& W_eta) {
  W = t.P_rate + FloatingTerms<S>::convected(x.frame.V, t.P);
  W.template head<3>() -= S(c.mass()) * t.fall;
  W.template tail<3>() -= t.s.cross(t.fall);
  const Vec3T<S> w = x.frame.V.template tail<3>();
  W_eta.resize(c.modes());
  for (int l = 0; l < c.modes(); ++l)
    W_eta[l] = t.column(c, l).dot(x.frame.A) + S(c.m(l)) * x.acceleration[l] +
               w.dot(t.to.col(l) - t.of.col(l)) - S(0.5) * x.frame.V.dot(t.times_M(c, l, x.frame.V)) +
               S(c.k(l)) * x.eta[l] + S(c.d(l)) * x.rate[l] - t.fall.dot(c.s(l).template cast<S>());
}

template <class S>
EnergyOf<S> floating_energy(const ShapeIntegralsOf<const S>& c, const FloatingMotion<S>& x,
                            const Vec3T<S>& gravity) {
  const FloatingTerms<S> t(c, x, gravity);
  // T = 1/2 V.P + 1/2 eta'.Pi
  EnergyOf<S> out;
  out.kinetic = S(0.5) * x.frame.V.dot(t.P);
  out.potential = -gravity.dot(c.mass() * x.frame.p + x.frame.R * t.s);
  for (int l = 0; l < c.modes(); ++l) {
    out.kinetic += S(0.5) * x.rate[l] * (t.column(c, l).dot(x.frame.V) + c.m(l) * x.rate[l]);
    out.potential += S(0.5) * c.k(l) * x.eta[l] * x.eta[l];
  }
  return out;
}

// Partial derivatives with respect to pose increment and coordinates (K), velocities (C), accelerations (M). Of the frame with itself, of the frame with mode l
// (a column), of mode l with the frame (a row) and of mode k with mode l.
struct FloatingPartials {
  Mat6 K, C, M;
  struct Columns {
    Vec6 K, C, M;
  };
  struct Numbers {
    double K, C, M;
  };
};
FloatingPartials frame_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                const FloatingTerms<double>& t);
FloatingPartials::Columns column_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                          const FloatingTerms<double>& t, int l);
FloatingPartials::Columns row_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                       const FloatingTerms<double>& t, int l);
FloatingPartials::Numbers modal_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x, int k,
                                         int l);

}  // namespace liedyn

#include "liedyn/model/flexible/floating_frame.h"

namespace liedyn {

FloatingPartials frame_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                const FloatingTerms<double>& t) {
  FloatingPartials out;
  // d(R^T g) = (R^T g)~ d_r
  const Mat3 fall = skew(t.fall);
  out.K.setZero();
  out.K.topRightCorner<3, 3>() = -c.mass() * fall;
  out.K.bottomRightCorner<3, 3>() = -skew(t.s) * fall;

  // d(-ad_V^T P) = [w~, 0; v~, w~] dP - [0, p~; p~, L~] dV
  const Mat3 v = skew(Vec3(x.frame.V.head<3>())), w = skew(Vec3(x.frame.V.tail<3>())),
             p = skew(Vec3(t.P.head<3>())), L = skew(Vec3(t.P.tail<3>()));
  Mat6 convection;
  convection << w, Mat3::Zero(), v, w;
  out.C.noalias() = convection * t.M;
  out.C.topRightCorner<3, 3>() -= p;
  out.C.bottomLeftCorner<3, 3>() -= p;
  out.C.bottomRightCorner<3, 3>() -= L;
  for (int k = 0; k < c.modes(); ++k) {
    out.C += x.rate[k] * c.N(k);
    out.C.bottomRightCorner<3, 3>() += x.rate[k] * t.H.middleCols<3>(3 * k);
  }
  out.M = t.M;
  return out;
}

FloatingPartials::Columns column_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                          const FloatingTerms<double>& t, int l) {
  using Terms = FloatingTerms<double>;
  FloatingPartials::Columns out;
  const Vec3 w = x.frame.V.tail<3>();
  // dP = M_l V + (0, sum_k eta'_k e_kl),  dP' = M_l A + sum_k eta'_k 2 G_kl w + (0, sum_k eta''_k e_kl)
  Vec6 P = t.times_M(c, l, x.frame.V);
  P.tail<3>() += t.of.col(l);
  out.K = t.times_M(c, l, x.frame.A) + Terms::convected(x.frame.V, P);
  out.K.tail<3>() -= c.s(l).cross(t.fall);
  out.C = t.times_M(c, l, x.frame.V) + Terms::convected(x.frame.V, t.column(c, l));
  out.C.tail<3>() += t.of.col(l) + t.to.col(l);
  for (int k = 0; k < c.modes(); ++k)
    out.K.tail<3>() += 2 * x.rate[k] * (c.G(k, l) * w) + x.acceleration[k] * c.e(k, l);
  out.M = t.column(c, l);
  return out;
}

FloatingPartials::Columns row_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x,
                                       const FloatingTerms<double>& t, int l) {
  FloatingPartials::Columns out;
  out.K.setZero();
  out.K.tail<3>() = t.fall.cross(c.s(l));  // -s.(fall x d_r)
  out.C = -t.times_M(c, l, x.frame.V);
  out.C.tail<3>() += t.to.col(l) - t.of.col(l);
  out.M = t.column(c, l);
  return out;
}

FloatingPartials::Numbers modal_partials(const ShapeIntegrals& c, const FloatingMotion<double>& x, int k,
                                         int l) {
  const Vec3 w = x.frame.V.tail<3>();
  FloatingPartials::Numbers out;
  out.K = c.e(k, l).dot(x.frame.A.tail<3>()) - w.dot(c.G(k, l) * w);
  out.C = (c.e(k, l) - c.e(l, k)).dot(w);
  out.M = 0;
  if (k == l) {
    out.K += c.k(l);
    out.C += c.d(l);
    out.M = c.m(l);
  }
  return out;
}

}  // namespace liedyn

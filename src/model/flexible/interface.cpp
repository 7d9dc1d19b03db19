#include "liedyn/model/flexible/interface.h"

#include "liedyn/base/varied.h"

namespace liedyn {

template <class S>
InterfaceDerivativesOf<S> interface_derivatives(const Motion<S>& frame, const Vec6T<S>& y,
                                                const Vec6T<S>& y_rate, const Motion<S>& own,
                                                const Vec3T<S>& place, const Vec6T<S>& lambda) {
  InterfaceDerivativesOf<S> d;
  d.phi = interface_phi<S>(frame, y, own, place);
  for (int i = 0; i < 3; ++i) d.B[i].setZero(), d.Z[i].setZero();
  const Vec3T<S> x = place + y.template head<3>(), u_rate = y_rate.template head<3>();
  const Vec3T<S> v = frame.V.template head<3>(), w = frame.V.template tail<3>(),
                 v_own = own.V.template head<3>(), w_own = own.V.template tail<3>();

  // Places: d = R_I dI_t - R (d_t + d_r x x + du)
  const Vec3T<S> c = v + w.cross(x) + u_rate;  // velocity of the material, body axes
  const Vec3T<S> h = frame.R.transpose() * lambda.template head<3>();
  d.B[0].template topLeftCorner<3, 3>() = -frame.R;
  d.B[0].template topRightCorner<3, 3>() = frame.R * skew(x);
  d.B[1].template topLeftCorner<3, 3>() = -frame.R;
  d.B[2].template topLeftCorner<3, 3>() = own.R;
  d.Z[0].template topRightCorner<3, 3>() = frame.R * skew(c);
  d.Z[1].template topLeftCorner<3, 3>() = -frame.R * skew(w);
  d.Z[2].template topRightCorner<3, 3>() = -own.R * skew(v_own);
  d.bias.template head<3>() = own.R * w_own.cross(v_own) - frame.R * w.cross(Vec3T<S>(c + u_rate));

  // Rotations: phi = log(R^T R_I), dphi = T^-1(phi) dI_r - T^-1(-phi) d_r
  const Vec3T<S> phi = d.phi.template tail<3>() + y.template tail<3>();
  const Mat3T<S> forth = SO3<S>::Tinv(phi), back = SO3<S>::Tinv(-phi);
  const Mat3T<S> rate_slope = SO3<S>::dTinv(phi, w_own) + SO3<S>::dTinv(-phi, w);
  d.B[0].template bottomRightCorner<3, 3>() = -back;
  d.B[1].template bottomRightCorner<3, 3>() = -Mat3T<S>::Identity();
  d.B[2].template bottomRightCorner<3, 3>() = forth;
  d.Z[0].template bottomRightCorner<3, 3>() = -rate_slope * back;
  d.Z[2].template bottomRightCorner<3, 3>() = rate_slope * forth;
  d.bias.template tail<3>() = rate_slope * (forth * w_own - back * w);
  if constexpr (!is_varied<S>) {
    for (auto& row : d.G)
      for (Mat6& G : row) G.setZero();
    // B_0^T lambda = (-h, -x x h),  B_1^T lambda = (-h, 0),  B_2^T lambda = (R_I^T lambda, 0),  dh = h~ d_r
    d.G[0][0].template topRightCorner<3, 3>() = -skew(h);
    d.G[0][0].template bottomRightCorner<3, 3>() = -skew(x) * skew(h);
    d.G[0][1].template bottomLeftCorner<3, 3>() = skew(h);
    d.G[1][0].template topRightCorner<3, 3>() = -skew(h);
    d.G[2][2].template topRightCorner<3, 3>() = skew(Vec3T<S>(own.R.transpose() * lambda.template head<3>()));
    // T^-T(phi) = T^-1(-phi): B_0^T l = -T^-1(phi) l,  B_2^T l = T^-1(-phi) l
    const Vec3T<S> l = lambda.template tail<3>();
    const Mat3T<S> slope_0 = -SO3<S>::dTinv(phi, l), slope_2 = -SO3<S>::dTinv(-phi, l);
    d.G[0][0].template bottomRightCorner<3, 3>() -= slope_0 * back;
    d.G[0][2].template bottomRightCorner<3, 3>() = slope_0 * forth;
    d.G[2][0].template bottomRightCorner<3, 3>() = -slope_2 * back;
    d.G[2][2].template bottomRightCorner<3, 3>() += slope_2 * forth;
  }
  return d;
}

template InterfaceDerivatives interface_derivatives(const Motion<double>&, const Vec6&, const Vec6&,
                                                    const Motion<double>&, const Vec3&, const Vec6&);
template InterfaceDerivativesOf<Varied> interface_derivatives(const Motion<Varied>&, const Vec6T<Varied>&,
                                                              const Vec6T<Varied>&, const Motion<Varied>&,
                                                              const Vec3T<Varied>&, const Vec6T<Varied>&);

}  // namespace liedyn

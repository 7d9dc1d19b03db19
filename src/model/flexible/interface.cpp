#include "model/flexible/interface.h"

namespace liedyn {

InterfaceDerivatives interface_derivatives(const Motion<double>& frame, const Vec6& y, const Vec6& y_rate,
                                           const Motion<double>& own, const Vec3& place, const Vec6& lambda) {
  InterfaceDerivatives d;
  d.phi = interface_phi<double>(frame, y, own, place);
  for (int i = 0; i < 3; ++i) {
    d.B[i].setZero(), d.Z[i].setZero();
    for (int j = 0; j < 3; ++j) d.G[i][j].setZero();
  }
  const Vec3 x = place + y.head<3>(), u_rate = y_rate.head<3>();
  const Vec3 v = frame.V.head<3>(), w = frame.V.tail<3>(), v_own = own.V.head<3>(), w_own = own.V.tail<3>();

  // Places: d = R_I dI_t - R (d_t + d_r x x + du)
  const Vec3 c = v + w.cross(x) + u_rate;  // velocity of the material, body axes
  const Vec3 h = frame.R.transpose() * lambda.head<3>();
  d.B[0].topLeftCorner<3, 3>() = -frame.R;
  d.B[0].topRightCorner<3, 3>() = frame.R * skew(x);
  d.B[1].topLeftCorner<3, 3>() = -frame.R;
  d.B[2].topLeftCorner<3, 3>() = own.R;
  d.Z[0].topRightCorner<3, 3>() = frame.R * skew(c);
  d.Z[1].topLeftCorner<3, 3>() = -frame.R * skew(w);
  d.Z[2].topRightCorner<3, 3>() = -own.R * skew(v_own);
  d.bias.head<3>() = own.R * w_own.cross(v_own) - frame.R * w.cross(Vec3(c + u_rate));
  // B_0^T lambda = (-h, -x x h),  B_1^T lambda = (-h, 0),  B_2^T lambda = (R_I^T lambda, 0),  dh = h~ d_r
  d.G[0][0].topRightCorner<3, 3>() = -skew(h);
  d.G[0][0].bottomRightCorner<3, 3>() = -skew(x) * skew(h);
  d.G[0][1].bottomLeftCorner<3, 3>() = skew(h);
  d.G[1][0].topRightCorner<3, 3>() = -skew(h);
  d.G[2][2].topRightCorner<3, 3>() = skew(Vec3(own.R.transpose() * lambda.head<3>()));

  // Rotations: phi = log(R^T R_I), dphi = T^-1(phi) dI_r - T^-1(-phi) d_r
  const Vec3 phi = d.phi.tail<3>() + y.tail<3>(), l = lambda.tail<3>();
  const Mat3 forth = SO3<double>::Tinv(phi), back = SO3<double>::Tinv(-phi);
  const Mat3 rate_slope = SO3<double>::dTinv(phi, w_own) + SO3<double>::dTinv(-phi, w);
  d.B[0].bottomRightCorner<3, 3>() = -back;
  d.B[1].bottomRightCorner<3, 3>() = -Mat3::Identity();
  d.B[2].bottomRightCorner<3, 3>() = forth;
  d.Z[0].bottomRightCorner<3, 3>() = -rate_slope * back;
  d.Z[2].bottomRightCorner<3, 3>() = rate_slope * forth;
  d.bias.tail<3>() = rate_slope * (forth * w_own - back * w);
  // T^-T(phi) = T^-1(-phi): B_0^T l = -T^-1(phi) l,  B_2^T l = T^-1(-phi) l
  const Mat3 slope_0 = -SO3<double>::dTinv(phi, l), slope_2 = -SO3<double>::dTinv(-phi, l);
  d.G[0][0].bottomRightCorner<3, 3>() -= slope_0 * back;
  d.G[0][2].bottomRightCorner<3, 3>() = slope_0 * forth;
  d.G[2][0].bottomRightCorner<3, 3>() = -slope_2 * back;
  d.G[2][2].bottomRightCorner<3, 3>() += slope_2 * forth;
  return d;
}

}  // namespace liedyn

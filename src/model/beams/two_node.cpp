#include "liedyn/model/beams/two_node.h"

namespace liedyn {
namespace {

// Dual outer product, a (b.x) for all x.
Mat6 screw_outer(const Vec6& a, const Vec6& b) {
  const Vec3 au = a.head<3>(), aw = a.tail<3>(), bu = b.head<3>(), bw = b.tail<3>();
  const Mat3 diagonal = aw * bw.transpose();
  Mat6 out;
  out << diagonal, au * bw.transpose() + aw * bu.transpose(), Mat3::Zero(), diagonal;
  return out;
}

// Adds s x for all x, of a dual scalar s.
void add_scalar(double real, double dual, Mat6& D) {
  D.diagonal().array() += real;
  D.topRightCorner<3, 3>().diagonal().array() += dual;
}

}  // namespace

void TwoNodeBeam::partials(const World<double>& world, const std::array<Motion<double>, 2>& f,
                           const double* p, ForcePartials<2>& out) {
  const Parts<double> parts(p);
  const RelativePose<double> relative(f[0], f[1]);
  const Vec6 &d = relative.twist, &c = relative.half;

  // The elastic and viscous part: a function of d, V_A and V_B.
  const Mat6 back = SE3<double>::Tinv(-d), forth = SE3<double>::Tinv(d);
  const Vec6 rate = forth * f[1].V - back * f[0].V;
  const Vec6 n = parts.K * (d - parts.relaxed + parts.delay * rate);
  Mat6 n_d = parts.K;
  if (parts.delay != 0)
    n_d += parts.delay * (parts.K * (SE3<double>::dTinv(d, f[1].V) + SE3<double>::dTinv(-d, f[0].V)));
  const Mat6 d_h[2] = {-back, forth};
  Mat6 W_d[2] = {transposed_slope(-d, n), transposed_slope(d, n)};
  for (int i = 0; i < 2; ++i) W_d[i].noalias() += d_h[i].transpose() * n_d;
  for (int j = 0; j < 2; ++j) {
    const Mat6 Kd = (parts.delay * parts.K) * d_h[j];
    for (int i = 0; i < 2; ++i) {
      out.K[i][j].noalias() = W_d[i] * d_h[j];
      if (parts.delay != 0)
        out.C[i][j].noalias() = d_h[i].transpose() * Kd;
      else
        out.C[i][j].setZero();
    }
  }

  // Inertia: functions of c, the twists and the accelerations.
  const Mat6 C = SE3<double>::ad(c);
  const Mat6 Q[2] = {0.5 * (Mat6::Identity() - C), 0.5 * (Mat6::Identity() + C)};
  const Vec6 A0 = falling(f[0], world), A1 = falling(f[1], world);
  const Vec6 D = f[1].V - f[0].V, sum = f[0].V + f[1].V;
  const Vec6 c_rate = half_rate(c, D, sum);
  const Vec6 V = 0.5 * (sum + C * D);
  const Vec6 A = 0.5 * (A0 + A1 + C * (A1 - A0) + screw_cross(c_rate, D));
  const Mat6 M = parts.M_m;
  const Vec6 F = inertial<double>(M, V, A);
  const Mat6 N = gyroscopic(M, V);

  // dc = (G + C/2) dh_B - (G - C/2) dh_A
  const double cc = c.tail<3>().squaredNorm(), cc_dual = 2 * c.head<3>().dot(c.tail<3>());
  const double cD = c.tail<3>().dot(D.tail<3>()),
               cD_dual = c.head<3>().dot(D.tail<3>()) + c.tail<3>().dot(D.head<3>());
  Mat6 G = 0.5 * screw_outer(c, c);
  add_scalar(0.25 * (1 - cc), -0.25 * cc_dual, G);
  const Mat6 c_h[2] = {0.5 * C - G, 0.5 * C + G};
  // dc'/dc = (c x D - D x c + (c.D))/2 - S x/2, with x the outer product but for the last
  Mat6 rate_c = 0.5 * (screw_outer(c, D) - screw_outer(D, c) - SE3<double>::ad(sum));
  add_scalar(0.5 * cD, 0.5 * cD_dual, rate_c);

  const Mat6 ad_D = SE3<double>::ad(D), ad_rate = SE3<double>::ad(c_rate);
  const Mat6 A_c = -0.5 * (SE3<double>::ad(A1 - A0) + ad_D * rate_c);
  Mat6 F_c = M * A_c;
  F_c.noalias() -= 0.5 * (N * ad_D);

  const Mat6 slope = coadjoint_slope(F);
  Mat6 MQ[2], F_V[2];
  for (int j = 0; j < 2; ++j) {
    MQ[j].noalias() = M * Q[j];
    const Mat6 A_V = 0.5 * ((j == 0 ? -ad_rate : ad_rate) - ad_D * c_h[j]);
    F_V[j].noalias() = M * A_V;
    F_V[j].noalias() += N * Q[j];
  }
  // d(R^T gravity) = (R^T gravity)~ d_r
  const Vec3 fall[2] = {f[0].R.transpose() * world.gravity, f[1].R.transpose() * world.gravity};
  for (int i = 0; i < 2; ++i) {
    const Mat6 Qt = Q[i].transpose();
    const Mat6 W_c = Qt * F_c + (i == 0 ? -0.5 : 0.5) * slope;
    for (int j = 0; j < 2; ++j) {
      out.K[i][j].noalias() += W_c * c_h[j];
      out.C[i][j].noalias() += Qt * F_V[j];
      out.M[i][j].noalias() = Qt * MQ[j];
      if (i == j) {
        const Mat6 own = i == 0 ? parts.M_A : parts.M_B;
        out.M[i][i] += own;
        out.C[i][i] += gyroscopic(own, f[static_cast<std::size_t>(i)].V);
      }
      out.K[i][j].rightCols<3>().noalias() -= out.M[i][j].leftCols<3>() * skew(fall[j]);
    }
  }
}

}  // namespace liedyn

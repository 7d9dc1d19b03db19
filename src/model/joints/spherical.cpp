#include "model/joints/spherical.h"

#include "model/common_fields.h"

namespace liedyn {
namespace {
enum Fields { kBetween, kAt };
}

std::vector<Attachment> Spherical::attachments() { return frames_at_common_place(kBetween, kAt); }

std::string Spherical::row_name(int row) { return std::string("place ") + "xyz"[row]; }

void Spherical::derivatives(const std::array<Motion<double>, 2>& f, const double*, const double* lambda,
                            JointDerivatives<2, 3>& d) {
  const Vec3 force = Eigen::Map<const Vec3>(lambda);
  d.phi = f[0].p - f[1].p;
  if (d.wants_rates) d.bias.setZero();
  for (int i = 0; i < 2; ++i) {
    const Motion<double>& m = f[static_cast<std::size_t>(i)];
    const double sign = i == 0 ? 1 : -1;
    const Vec3 u = m.V.head<3>(), w = m.V.tail<3>();
    d.B[i] << sign * m.R, Mat3::Zero();
    if (d.wants_stiffness) {
      // d(R^T lambda) = (R^T lambda)~ d_r
      d.G[i][i].setZero();
      d.G[i][i].topRightCorner<3, 3>() = sign * skew(Vec3(m.R.transpose() * force));
    }
    if (!d.wants_rates) continue;
    // d(R u) = -R u~ d_r; along a constant body twist R u changes at the rate R (w x u)
    d.Z[i] << Mat3::Zero(), -sign * (m.R * skew(u));
    d.bias += sign * (m.R * w.cross(u));
  }
}

ListedKind spherical() {
  return {{"spherical",
           "Ball joint: a point of the first body and a point of the second coincide.",
           {between_bodies(), common_place()}},
          &make_batch<Spherical>};
}

}  // namespace liedyn

#include "liedyn/model/joints/spherical.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt };

// A rotation with inertial axes; the orientations of the initial configuration are its zero.
std::shared_ptr<const TreeForm> tree_form() {
  const auto motions = []<class S>(const Pose<S>* ends, const S*, Pose<S>* out) {
    out[0] = {Mat3T<S>::Identity(), ends[0].p};
  };
  const auto bodies = []<class S>(const Pose<S>* ends, const S*, Pose<S>* out) {
    for (int i = 0; i < 2; ++i) out[i] = {Mat3T<S>::Identity(), ends[i].p};
  };
  return std::make_shared<const TreeForm>(TreeForm{{LinkKind::Rotation}, motions, bodies});
}

}  // namespace

std::vector<Attachment> Spherical::attachments() { return frames_at_common_place(kBetween, kAt); }

std::string Spherical::row_name(int row) { return std::string("position ") + "xyz"[row]; }

template <class S>
void Spherical::derivatives(const std::array<Motion<S>, 2>& f, const S*, [[maybe_unused]] const S* lambda,
                            JointDerivatives<2, 3, S>& d) {
  d.phi = f[0].p - f[1].p;
  if (d.wants_rates) d.bias.setZero();
  for (int i = 0; i < 2; ++i) {
    const Motion<S>& m = f[static_cast<std::size_t>(i)];
    const double sign = i == 0 ? 1 : -1;
    const Vec3T<S> u = m.V.template head<3>(), w = m.V.template tail<3>();
    d.B[i] << sign * m.R, Mat3T<S>::Zero();
    if constexpr (std::is_same_v<S, double>)
      if (d.wants_stiffness) {
        // d(R^T lambda) = (R^T lambda)~ d_r
        d.G[i][i].setZero();
        d.G[i][i].template topRightCorner<3, 3>() =
            sign * skew(Vec3(m.R.transpose() * Eigen::Map<const Vec3>(lambda)));
      }
    if (!d.wants_rates) continue;
    // d(R u) = -R u~ d_r; along a constant body twist R u changes at the rate R (w x u)
    d.Z[i] << Mat3T<S>::Zero(), -sign * (m.R * skew(u));
    d.bias += sign * (m.R * w.cross(u));
  }
}
template void Spherical::derivatives<double>(const std::array<Motion<double>, 2>&, const double*,
                                             const double*, JointDerivatives<2, 3>&);

ListedKind spherical() {
  return {{.type = "spherical",
           .summary = "Ball joint: a point of the first body and a point of the second coincide.",
           .fields = {between_bodies().as(kBetween), common_place().as(kAt)},
           .is_smooth = true,
           .tree = tree_form()},
          &make_batch<Spherical>};
}

}  // namespace liedyn

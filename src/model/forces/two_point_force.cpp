#include "liedyn/model/forces/two_point_force.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/signal_force.h"

namespace liedyn {
namespace {
enum Fields { kBetween, kPoints, kForce };
}

std::vector<Attachment> TwoPointForce::attachments() { return frames_at_two_points(kBetween, kPoints); }

template <class S>
void TwoPointForce::derive(const Inputs<S>& in, S* p) {
  p[0] = in.number(kForce);
}
template void TwoPointForce::derive<double>(const Inputs<double>&, double*);

// dF = f/|d| (1 - n n^T) d(d),   d(d) = R_1 d_t1 - R_2 d_t2
void TwoPointForce::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                             ForcePartials<2>& d) {
  const Vec3 span = f[0].p - f[1].p;
  const double length = span.norm();
  Vec3 F = Vec3::Zero();
  Mat3 F_span = Mat3::Zero();
  if (length > 0) {
    const Vec3 n = span / length;
    F = p[0] * n;
    F_span = p[0] / length * (Mat3::Identity() - n * n.transpose());
  }
  for (int i = 0; i < 2; ++i) {
    const Mat3 Rt = (i == 0 ? 1.0 : -1.0) * f[static_cast<std::size_t>(i)].R.transpose();
    for (int j = 0; j < 2; ++j) {
      d.K[i][j].setZero();
      d.K[i][j].topLeftCorner<3, 3>() =
          (j == 0 ? 1.0 : -1.0) * Rt * F_span * f[static_cast<std::size_t>(j)].R;
    }
    d.K[i][i].topRightCorner<3, 3>() = skew(Vec3(Rt * F));
  }
}

ListedKind two_point_force() {
  return {
      {.type = "two_point_force",
       .summary = "Given force along the line between two points: actuators, muscles, magnets, gravitation.",
       .fields = {between_bodies().as(kBetween),
                  two_points().as(kPoints),
                  {.name = "force",
                   .type = FieldType::Number,
                   .unit = "N",
                   .summary = "The force, positive if it pulls the points together.",
                   .required = true,
                   .may_depend_on_time = true,
                   .may_depend_on_signals = true,
                   .load = LoadKind::Force,
                   .index = kForce}},
       .acts_along_points = true},
      &make_force<TwoPointForce>,
      &signal_shape};
}

}  // namespace liedyn

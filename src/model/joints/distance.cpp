#include "model/joints/distance.h"

#include "model/common_fields.h"

namespace liedyn {
namespace {
enum Fields { kBetween, kPoints, kLength };
}

std::vector<Attachment> Distance::attachments() { return frames_at_two_points(kBetween, kPoints); }

template <class S>
void Distance::derive(const Inputs<S>& in, S* p) {
  p[0] = in.stored(kLength) ? in.number(kLength) : S((in.frame(0).p - in.frame(1).p).norm());
}
template void Distance::derive<double>(const Inputs<double>&, double*);

void Distance::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  double length = 0;
  derive(in, &length);
  if (length > 0) return;
  message = "the two points coincide: the distance must be positive, got 0";
  hint = "use a spherical joint to keep two points together";
}

std::string Distance::row_name(int) { return "distance"; }

void Distance::derivatives(const std::array<Motion<double>, 2>& f, const double* p, const double* lambda,
                           JointDerivatives<2, 1>& d) {
  const Vec3 span = f[0].p - f[1].p;
  const Vec3 span_rate = f[0].velocity() - f[1].velocity();
  d.phi[0] = 0.5 * (span.squaredNorm() - p[0] * p[0]);
  d.bias[0] = span_rate.squaredNorm();
  for (int i = 0; i < 2; ++i) {
    const Motion<double>& m = f[static_cast<std::size_t>(i)];
    const Motion<double>& other = f[static_cast<std::size_t>(1 - i)];
    const double sign = i == 0 ? 1 : -1;
    const Vec3 u = m.V.head<3>(), w = m.V.tail<3>();
    const Vec3 local = sign * (m.R.transpose() * span);  // B_i^T = (sign R^T d, 0)
    d.B[i] << local.transpose(), 0, 0, 0;
    d.G[i][i].setZero();
    d.G[i][i].topLeftCorner<3, 3>() = lambda[0] * Mat3::Identity();
    d.G[i][i].topRightCorner<3, 3>() = lambda[0] * skew(local);
    d.G[i][1 - i].setZero();
    d.G[i][1 - i].topLeftCorner<3, 3>() = -lambda[0] * (m.R.transpose() * other.R);
    d.Z[i] << sign * (m.R.transpose() * span_rate).transpose(), -(local.transpose() * skew(u));
    d.bias[0] += local.dot(w.cross(u));
  }
}

ListedKind distance() {
  return {{"distance",
           "Massless rod: two points keep their distance.",
           {between_bodies(),
            two_points(),
            {.name = "length",
             .type = FieldType::Number,
             .unit = "m",
             .summary = "Distance to keep; the initial distance if not given.",
             .range = Range::Positive}}},
          &make_batch<Distance>};
}

}  // namespace liedyn

#include "liedyn/model/joints/distance.h"

#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {
enum Fields { kBetween, kPoints, kLength };
}

std::vector<Attachment> Distance::attachments() { return frames_at_two_points(kBetween, kPoints); }

template <class S>
void Distance::derive(const Inputs<S>& in, S* p) {
  p[0] = in.stored(kLength) ? in.number(kLength) : S((in.frame(0).p - in.frame(1).p).norm());
  p[1] = in.stored(kLength) ? in.rate(kLength) : S(0);
  p[2] = in.stored(kLength) ? in.second_rate(kLength) : S(0);
}
template void Distance::derive<double>(const Inputs<double>&, double*);

void Distance::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if (in.in_bodies(kPoints) && !in.stored(kLength)) {
    message = "length: missing: it cannot be computed from points in body axes";
    return;
  }
  double length[constants];
  derive(in, length);
  if (length[0] > 0) return;
  message = "the two points coincide: the distance must be positive, got 0";
  hint = "use a spherical joint to keep two points together";
}

std::string Distance::row_name(int) { return "distance"; }

template <class S>
void Distance::derivatives(const std::array<Motion<S>, 2>& f, const S* p, [[maybe_unused]] const S* lambda,
                           JointDerivatives<2, 1, S>& d) {
  const Vec3T<S> span = f[0].p - f[1].p;
  const Vec3T<S> span_rate = f[0].velocity() - f[1].velocity();
  const S &length = p[0], &length_rate = p[1], &length_acceleration = p[2];
  d.phi[0] = 0.5 * (span.squaredNorm() / length - length);
  const S square = span.squaredNorm(), sum = square / (length * length) + 1;
  d.phi_t[0] = -0.5 * sum * length_rate;
  d.bias[0] = span_rate.squaredNorm() / length - 2 * span.dot(span_rate) * length_rate / (length * length) +
              square * length_rate * length_rate / (length * length * length) -
              0.5 * sum * length_acceleration;
  for (int i = 0; i < 2; ++i) {
    const Motion<S>& m = f[static_cast<std::size_t>(i)];
    const double sign = i == 0 ? 1 : -1;
    const Vec3T<S> u = m.V.template head<3>(), w = m.V.template tail<3>();
    const Vec3T<S> local =
        m.R.transpose() * Vec3T<S>(span * (S(sign) / length));  // B_i^T = (sign R^T d / L, 0)
    d.B[i] << local.transpose(), S(0), S(0), S(0);
    if constexpr (std::is_same_v<S, double>) {
      d.G[i][i].setZero();
      d.G[i][i].template topLeftCorner<3, 3>() = lambda[0] / length * Mat3::Identity();
      d.G[i][i].template topRightCorner<3, 3>() = lambda[0] * skew(local);
      d.G[i][1 - i].setZero();
      d.G[i][1 - i].template topLeftCorner<3, 3>() =
          -lambda[0] / length * (m.R.transpose() * f[static_cast<std::size_t>(1 - i)].R);
    }
    d.Z[i] << (m.R.transpose() * Vec3T<S>(span_rate * (S(sign) / length))).transpose(),
        -(local.transpose() * skew(u));
    d.Z[i] -= length_rate / length * d.B[i];  // the rate is B V + Phi_t
    d.bias[0] += local.dot(w.cross(u));
  }
}
template void Distance::derivatives<double>(const std::array<Motion<double>, 2>&, const double*,
                                            const double*, JointDerivatives<2, 1>&);

ListedKind distance() {
  return {
      {.type = "distance",
       .summary = "Massless rod or winch: two points keep a distance.",
       .fields = {between_bodies().as(kBetween),
                  two_points().as(kPoints),
                  {.name = "length",
                   .type = FieldType::Number,
                   .unit = "m",
                   .summary =
                       "Distance to keep, of a winch a function of time; the initial distance if not given.",
                   .range = Range::Positive,
                   .may_depend_on_time = true,
                   .index = kLength}},
       .is_smooth = true,
       .is_rope = true},
      &make_batch<Distance>};
}

}  // namespace liedyn

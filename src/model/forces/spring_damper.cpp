#include "liedyn/model/forces/spring_damper.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/watched_spring.h"

namespace liedyn {
namespace {
enum Fields { kBetween, kPoints, kStiffness, kDamping, kFreeLength, kSide };
}

std::vector<Attachment> SpringDamper::attachments() { return frames_at_two_points(kBetween, kPoints); }

template <class S>
void SpringDamper::derive(const Inputs<S>& in, S* p) {
  p[0] = in.number(kStiffness);
  p[1] = in.number(kDamping);
  p[2] = in.stored(kFreeLength) ? in.number(kFreeLength) : S((in.frame(0).p - in.frame(1).p).norm());
  constexpr double kSides[] = {0, 1, -1};
  p[3] = S(kSides[in.choice(kSide)]);
}
template void SpringDamper::derive<double>(const Inputs<double>&, double*);

void SpringDamper::check(const Inputs<double>& in, std::string& message, std::string&) {
  if (in.in_bodies(kPoints) && !in.stored(kFreeLength))
    message = "free_length: missing: it cannot be computed from points in body axes";
}

void SpringDamper::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                            ForcePartials<2>& d) {
  const Vec3 span = f[0].p - f[1].p, rate = f[0].velocity() - f[1].velocity();
  const double length = span.norm();
  Vec3 F = Vec3::Zero();
  Mat3 F_span = Mat3::Zero(), F_rate = Mat3::Zero();
  if (length > 0) {
    const Vec3 n = span / length;
    const Vec3 across = (rate - n * n.dot(rate)) / length;  // d(n.rate)/d(span)
    const double extension = length - p[2], force = p[0] * extension + p[1] * n.dot(rate);
    if (acts(extension, force, p)) {
      F = force * n;
      F_span = n * (p[0] * n + p[1] * across).transpose() +
               (force / length) * (Mat3::Identity() - n * n.transpose());
      F_rate = p[1] * n * n.transpose();
    }
  }
  for (int i = 0; i < 2; ++i) {
    const double si = i == 0 ? 1 : -1;
    const Mat3 Rt = si * f[static_cast<std::size_t>(i)].R.transpose();
    for (int j = 0; j < 2; ++j) {
      const Motion<double>& m = f[static_cast<std::size_t>(j)];
      const Mat3 R = (j == 0 ? 1.0 : -1.0) * m.R;
      // d(span) = R d_t, d(rate) = R dV_t - R u~ d_r
      d.K[i][j].setZero();
      d.K[i][j].topLeftCorner<3, 3>() = Rt * F_span * R;
      d.K[i][j].topRightCorner<3, 3>() = -(Rt * F_rate * R * skew(Vec3(m.V.head<3>())));
      d.C[i][j].setZero();
      d.C[i][j].topLeftCorner<3, 3>() = Rt * F_rate * R;
    }
    d.K[i][i].topRightCorner<3, 3>() += skew(Vec3(Rt * F));
  }
}

Approach SpringDamper::approach(const std::array<Motion<double>, 2>& f, const double* p) {
  const Vec3 span = f[0].p - f[1].p;
  const double length = span.norm();
  if (p[3] == 0) return no_gap();
  const double rate = length > 0 ? span.dot(f[0].velocity() - f[1].velocity()) / length : 0;
  return {p[3] * (length - p[2]), p[3] * rate};
}

ListedKind spring_damper() {
  return {
      {.type = "spring_damper",
       .summary = "Linear spring and damper along the line between two points, optionally one-sided: a rope, "
                  "a bump stop.",
       .fields = {between_bodies().as(kBetween),
                  two_points().as(kPoints),
                  {.name = "stiffness",
                   .type = FieldType::Number,
                   .unit = "N/m",
                   .summary = "Spring constant.",
                   .defaults = {0},
                   .may_depend_on_signals = true,
                   .index = kStiffness},
                  {.name = "damping",
                   .type = FieldType::Number,
                   .unit = "N s/m",
                   .summary = "Damping constant.",
                   .defaults = {0},
                   .may_depend_on_signals = true,
                   .index = kDamping},
                  {.name = "free_length",
                   .type = FieldType::Number,
                   .unit = "m",
                   .summary = "Length of the relaxed spring; the initial length if not given.",
                   .range = Range::NonNegative,
                   .may_depend_on_time = true,
                   .may_depend_on_signals = true,
                   .index = kFreeLength},
                  {.name = "side",
                   .type = FieldType::Choice,
                   .unit = "",
                   .summary =
                       "Where it acts: always, only while longer than `free_length` (it never pushes), or "
                       "only while shorter (it never pulls).",
                   .choices = {"both", "tension", "compression"},
                   .index = kSide}},
       .acts_along_points = true},
      &make_watched_spring<SpringDamper>,
      &signal_shape};
}

}  // namespace liedyn

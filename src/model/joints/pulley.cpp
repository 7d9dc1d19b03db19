#include "liedyn/model/joints/pulley.h"

#include <fmt/format.h>

#include <limits>

#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kPoints, kPulleys, kOn, kRatio, kLength };

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// A strand from a pulley to an end, and how often it counts.
struct Strand {
  std::size_t end, pulley;
};
constexpr Strand kStrands[] = {{Pulley::kA, Pulley::kFirstPulley}, {Pulley::kB, Pulley::kSecondPulley}};

}  // namespace

std::vector<Attachment> Pulley::attachments() {
  using Place = Attachment::Place;
  return {{kBetween, 0, Place::Point, kPoints, 0},
          {kOn, 0, Place::Point, kPulleys, 0},
          {kOn, 0, Place::Point, kPulleys, 1},
          {kBetween, 1, Place::Point, kPoints, 1}};
}

template <class S>
void Pulley::derive(const Inputs<S>& in, S* p) {
  for (int i = 0; i < constants; ++i) p[i] = S(0);
  p[3] = in.number(kRatio);
  if (in.stored(kLength)) {
    p[0] = in.number(kLength);
    p[1] = in.rate(kLength);
    p[2] = in.second_rate(kLength);
  } else {
    p[0] = (in.frame(kA).p - in.frame(kFirstPulley).p).norm() +
           p[3] * (in.frame(kB).p - in.frame(kSecondPulley).p).norm();
  }
}
template void Pulley::derive<double>(const Inputs<double>&, double*);

void Pulley::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if (in.in_bodies(kPoints)) {
    if (!in.stored(kLength)) message = "length: missing: it cannot be computed from points in body axes";
    return;
  }
  for (int i = 0; i < 2; ++i) {
    const Strand strand = kStrands[i];
    const Vec3 end = in.frame(static_cast<int>(strand.end)).p,
               pulley = in.frame(static_cast<int>(strand.pulley)).p;
    if ((end - pulley).norm() > 1e-12 * std::max(end.norm(), pulley.norm())) continue;
    message = fmt::format("points[{}] and pulleys[{}] coincide: a strand of the rope has no length", i, i);
    hint = "expected points at a distance from the pulleys, so that the rope has a direction";
    return;
  }
}

template <class S>
void Pulley::derivatives(const std::array<Motion<S>, 4>& f, const S* p, [[maybe_unused]] const S* lambda,
                         JointDerivatives<4, 1, S>& d) {
  d.phi[0] = -p[0];
  d.phi_t[0] = -p[1];
  d.bias[0] = -p[2];
  if constexpr (std::is_same_v<S, double>)
    for (auto& blocks : d.G)
      for (Mat6& block : blocks) block.setZero();
  for (int k = 0; k < 2; ++k) {
    const auto [end, pulley] = kStrands[k];
    const S factor = k == 0 ? S(1) : p[3];
    const Vec3T<S> span = f[end].p - f[pulley].p, span_rate = f[end].velocity() - f[pulley].velocity();
    const S length = span.norm();
    Vec3T<S> n = span / length;
    const Vec3 before(value(p[4 + 3 * k]), value(p[5 + 3 * k]), value(p[6 + 3 * k]));
    double turned = 0;
    for (int i = 0; i < 3; ++i) turned += value(n[i]) * before[i];
    if (turned < 0 || !(p[0] > S(0))) n.setConstant(S(kNoNumber));
    const Vec3T<S> across = (span_rate - n * n.dot(span_rate)) / length;  // n'
    d.phi[0] += factor * n.dot(span);
    for (const std::size_t i : {end, pulley}) {
      const Motion<S>& m = f[i];
      const S signed_factor = i == end ? factor : S(-factor);
      const Vec3T<S> u = m.V.template head<3>(),
                     local = m.R.transpose() * Vec3T<S>(n * signed_factor);  // B_i^T = (+-kappa R^T n, 0)
      d.B[i] << local.transpose(), S(0), S(0), S(0);
      d.Z[i] << (m.R.transpose() * Vec3T<S>(across * signed_factor)).transpose(),
          -(local.transpose() * skew(u));
      d.bias[0] += d.Z[i].row(0).dot(m.V);
      if constexpr (std::is_same_v<S, double>) {
        d.G[i][i].template topRightCorner<3, 3>() = lambda[0] * skew(local);
        // dn = (1 - n n^T)/l d(span)
        const Mat3 turning = lambda[0] * factor / length * (Mat3::Identity() - n * n.transpose());
        const std::size_t j = i == end ? pulley : end;
        d.G[i][i].template topLeftCorner<3, 3>() = m.R.transpose() * turning * m.R;
        d.G[i][j].template topLeftCorner<3, 3>() = -(m.R.transpose() * turning * f[j].R);
      }
    }
  }
}
template void Pulley::derivatives<double>(const std::array<Motion<double>, 4>&, const double*, const double*,
                                          JointDerivatives<4, 1>&);

void Pulley::wound_angles(const std::array<Motion<double>, 4>& f, const double*, double* out) {
  for (const auto [end, pulley] : kStrands) {
    Eigen::Map<Vec3>{out} = (f[end].p - f[pulley].p).normalized();
    out += 3;
  }
}

ListedKind pulley() {
  return {
      {.type = "pulley",
       .summary = "Rope that does not stretch, from the first body over two pulleys to the second: Atwood's "
                  "machine, "
                  "a hoist, block and tackle.",
       .fields = {between_bodies("The two bodies at the ends of the rope.").as(kBetween),
                  two_points().as(kPoints),
                  {.name = "pulleys",
                   .type = FieldType::Points,
                   .unit = "m",
                   .summary = "Points where the ropes to the first and to the second body leave their "
                              "pulleys, in the initial configuration, inertial axes; they may coincide.",
                   .required = true,
                   .pose = PoseRole::Point,
                   .index = kPulleys},
                  {.name = "on",
                   .type = FieldType::Body,
                   .unit = "",
                   .summary = "The body that carries the pulleys; ground if not given.",
                   .index = kOn},
                  {.name = "ratio",
                   .type = FieldType::Number,
                   .unit = "",
                   .summary =
                       "How many strands carry the second body: 1 for a plain rope, 2 for a loose pulley.",
                   .defaults = {1},
                   .range = Range::Positive,
                   .index = kRatio},
                  {.name = "length",
                   .type = FieldType::Number,
                   .unit = "m",
                   .summary =
                       "Length to the first body, and ratio times the length to the second: of a winch a "
                       "function of time; the initial one if not given.",
                   .range = Range::Positive,
                   .may_depend_on_time = true,
                   .index = kLength}},
       .is_smooth = true},
      &make_batch<Pulley>};
}

}  // namespace liedyn

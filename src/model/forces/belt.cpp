#include "liedyn/model/forces/belt.h"

#include <fmt/format.h>

#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kJoints, kFirstRadius, kSecondRadius, kRoute, kStiffness, kDamping, kPretension, kAt };

// The plane of the belt, in inertial axes in the initial configuration: centres of the pulleys, axes, and where the strands are.
template <class S>
struct Plane {
  Vec3T<S> center[2], x, y;
  S distance, r[2], sine, cosine;  // r_2 with the sign s

  Plane(const Inputs<S>& in, const S* first_axes) {
    using std::sqrt;
    const Vec3T<S> a = in.frame(0).R * JointAxes<S>(first_axes).first.col(2);
    const Vec3T<S> origin = in.stored(kAt) ? in.vector(kAt) : in.frame(0).p;
    for (int i = 0; i < 2; ++i) {
      const Vec3T<S>& on_axis = in.frame(2 * i).p;
      center[i] = on_axis + a * a.dot(origin - on_axis);
    }
    const Vec3T<S> d = center[1] - center[0];
    distance = d.norm();
    x = d / distance;
    y = a.cross(x);
    r[0] = in.number(kFirstRadius);
    r[1] = in.choice(kRoute) == 0 ? in.number(kSecondRadius) : S(-in.number(kSecondRadius));
    sine = (r[0] - r[1]) / distance;
    // No strand leads from a pulley into the other, which check() reports.
    if (sine * sine < S(1))
      cosine = sqrt(1 - sine * sine);
    else
      sine = sine > S(0) ? S(1) : S(-1), cosine = S(0);
  }
};

Field number(std::string name, std::string unit, std::string summary, Range range, bool required) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = required,
          .defaults = required ? std::vector<double>() : std::vector<double>{0},
          .range = range};
}

}  // namespace

std::vector<Attachment> Belt::attachments() { return frames_of_joint(kJoints, 2); }

template <class S>
void Belt::derive(const Inputs<S>& in, S* p) {
  for (int i = 0; i < 2; ++i) derive_line_axes(in, i, p + i * kCoordinateConstants);
  const Plane<S> plane(in, p);
  for (int strand = 0; strand < 2; ++strand) {
    const S sigma(strand == 0 ? 1 : -1);
    const Vec3T<S> n = plane.cosine * plane.x - sigma * plane.sine * plane.y,
                   e = plane.sine * plane.x + sigma * plane.cosine * plane.y;
    for (int i = 0; i < 2; ++i)
      derive_line(in, i, Vec3T<S>(plane.center[i] + plane.r[i] * e), n, axes(p, i),
                  p + lines + (2 * strand + i) * kLineConstants);
  }
  p[laws] = in.number(kStiffness);
  p[laws + 1] = in.number(kDamping);
  p[laws + 2] = in.number(kPretension);
  for (int i = constants - angles; i < constants; ++i) p[i] = S(0);
}

void Belt::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  message = carrier_mistake(in, {.angle = true}, hint);
  if (!message.empty()) return;
  double p[2 * kCoordinateConstants];
  for (int i = 0; i < 2; ++i) derive_line_axes(in, i, p + i * kCoordinateConstants);
  const auto axis = [&](int i) -> Vec3 {
    return in.frame(2 * i).R * JointAxes<double>(axes(p, i)).first.col(2);
  };
  if (const double sine = axis(0).cross(axis(1)).norm(); !(sine < 1e-6)) {
    message = fmt::format("joints: expected parallel axes, got axes at an angle of {:.4g} rad",
                          std::atan2(sine, std::abs(axis(0).dot(axis(1)))));
    return;
  }
  const Plane<double> plane(in, p);
  // Both pulleys are in the plane of the belt.
  if (const double least = std::abs(plane.r[0]) + std::abs(plane.r[1]); !(plane.distance > least)) {
    message = fmt::format("the axes are {:g} m apart, expected more than {:g} m, the sum of the radii",
                          plane.distance, least);
    hint = "the pulleys would overlap: give smaller radii, or move the axes apart";
  }
}

void Belt::partials(const World<double>&, const std::array<Motion<double>, 4>& f, const double* p,
                    ForcePartials<4>& d) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) d.K[i][j].setZero(), d.C[i][j].setZero();
  for (int strand = 0; strand < 2; ++strand) {
    CoordinateDerivatives x[2];
    for (int i = 0; i < 2; ++i) {
      const auto m = static_cast<std::size_t>(2 * i);
      line_derivatives(f[m], f[m + 1], axes(p, i), line(p, strand, i), p[constants - angles + i], x[i]);
    }
    using Both = Dual<double, 2>;
    const Both T = tension<Both>(seed<2>(x[1].value - x[0].value + p[laws + 2] / p[laws], 0),
                                 seed<2>(x[1].rate - x[0].rate, 1), Both(p[laws]), Both(p[laws + 1]));
    // d(B_i^T T) = G_ij T + B_i^T (T_E B_j + T_e' Z_j)
    const auto sign = [](int i) { return i < 2 ? -1.0 : 1.0; };
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const CoordinateDerivatives &xi = x[i / 2], &xj = x[j / 2];
        const auto B_i = sign(i) * xi.B[i % 2].transpose();
        d.K[i][j] += B_i * (sign(j) * (T.d[0] * xj.B[j % 2] + T.d[1] * xj.Z[j % 2]));
        d.C[i][j] += B_i * (sign(j) * T.d[1] * xj.B[j % 2]);
        if (i / 2 == j / 2) d.K[i][j] += sign(i) * T.v * xi.G[i % 2][j % 2];
      }
  }
}

void Belt::wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out) {
  for (int i = 0; i < angles; ++i) {
    const auto k = static_cast<std::size_t>(2 * i);
    out[i] = coordinate_value<double>(f[k], f[k + 1], axes(p, i), p[constants - angles + i]);
  }
}

ListedKind belt() {
  return {
      {"belt",
       "Elastic belt or chain on two pulleys with parallel axes: drives them, and loads their bearings "
       "with its pretension. A slack strand carries nothing.",
       {{.name = "joints",
         .type = FieldType::Joints,
         .unit = "",
         .summary = "The two joints that the pulleys turn in (revolute, cylindrical or planar_revolute), "
                    "with parallel axes and the same first body.",
         .required = true,
         .index = kJoints},
        number("first_radius", "m", "Radius of the first pulley.", Range::Positive, true).as(kFirstRadius),
        number("second_radius", "m", "Radius of the second pulley.", Range::Positive, true).as(kSecondRadius),
        {.name = "route",
         .type = FieldType::Choice,
         .unit = "",
         .summary = "Whether the strands cross: the pulleys then turn in opposite directions.",
         .choices = {"open", "crossed"},
         .index = kRoute},
        number("stiffness", "N/m",
               "Stiffness of each strand: EA/L with the length L = sqrt(D^2 - (r_1 - r_2)^2) between the "
               "pulleys, or r_1 + r_2 if it is crossed.",
               Range::Positive, true)
            .as(kStiffness),
        number("damping", "N s/m", "Damping constant of each strand.", Range::NonNegative, false)
            .as(kDamping),
        number("pretension", "N", "Tension of both strands in the initial configuration.", Range::NonNegative,
               false)
            .as(kPretension),
        {.name = "at",
         .type = FieldType::Vector,
         .unit = "m",
         .summary = "A point of the plane of the belt in the initial configuration, inertial axes; the "
                    "position of the first joint if not given.",
         .pose = PoseRole::Point,
         .index = kAt}}},
      &make_batch<Belt>};
}

}  // namespace liedyn

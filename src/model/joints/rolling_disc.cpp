#include "liedyn/model/joints/rolling_disc.h"

#include "liedyn/base/dual.h"
#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kCenter, kAxis, kNormal, kRadius };

template <class S>
using MovingOf = Dual<S, 12>;

// The frames moved by their increments, as dual numbers; twists stay.
template <class S>
std::array<Motion<MovingOf<S>>, 2> moving(const std::array<Motion<S>, 2>& f) {
  using Moving = MovingOf<S>;
  std::array<Motion<Moving>, 2> out;
  for (int i = 0; i < 2; ++i) {
    const Motion<S>& m = f[static_cast<std::size_t>(i)];
    Motion<Moving>& moved = out[static_cast<std::size_t>(i)];
    Vec6T<Moving> increment;
    for (int k = 0; k < 6; ++k) increment[k] = seed<12>(S(0), 6 * i + k);
    const Pose<Moving> start{m.R.template cast<Moving>(), m.p.template cast<Moving>()};
    static_cast<Pose<Moving>&>(moved) = perturbed(start, increment);
    moved.V = m.V.template cast<Moving>();
  }
  return out;
}

}  // namespace

std::vector<Attachment> RollingDisc::attachments() {
  std::vector<Attachment> frames = frames_at_common_place(kBetween, kCenter);
  for (Attachment& frame : frames) frame.oriented = true;
  return frames;
}

template <class S>
void RollingDisc::derive(const Inputs<S>& in, S* p) {
  // x and y of the plane are those beside the normal in the axes in which it was given.
  if (in.in_bodies(kNormal))
    Eigen::Map<Mat3T<S>>{p} = axes_along(in.vector_in_body(kNormal, 0));
  else
    Eigen::Map<Mat3T<S>>{p} = in.frame(0).R.transpose() * axes_along(in.vector(kNormal));
  Eigen::Map<Vec3T<S>>{p + 9} = in.direction_in_body(kAxis, 1).normalized();
  p[12] = in.number(kRadius);
  // The plane is where the disc touches it in the initial configuration, or through the point given on its body.
  p[13] = S(0);
  if (!in.in_bodies(kCenter)) p[13] = -phi(std::array<Pose<S>, 2>{in.frame(0), in.frame(1)}, p)[0];
}

void RollingDisc::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_direction(in, kAxis, "axis", message, hint);
  if (message.empty()) check_direction(in, kNormal, "normal", message, hint);
  if (!message.empty()) return;
  const Vec3 a = in.frame(1).R * in.direction_in_body(kAxis, 1).normalized(),
             n = in.frame(0).R * in.direction_in_body(kNormal, 0).normalized();
  if (a.cross(n).norm() > 1e-6) return;
  message = "the disc lies flat in the plane: its axis and the normal are parallel";
  hint = "a disc that lies flat does not roll; use a planar joint";
}

std::string RollingDisc::row_name(int row) {
  return row == 0 ? "contact" : row == 1 ? "no slip along plane x" : "no slip along plane y";
}

// The rates are linear in the twists: B from unit twists, and everything else is a derivative of these.
template <class S>
void RollingDisc::derivatives(const std::array<Motion<S>, 2>& f, const S* p, [[maybe_unused]] const S* lambda,
                              JointDerivatives<2, 3, S>& d) {
  using Moving = MovingOf<S>;
  std::array<Moving, constants> moving_constants;
  for (int i = 0; i < constants; ++i) moving_constants[static_cast<std::size_t>(i)] = Moving(p[i]);
  d.phi = phi<S>({f[0], f[1]}, p);
  d.phi_t.setZero();
  std::array<Motion<Moving>, 2> m = moving(f);

  const Eigen::Matrix<Moving, 3, 1> rates = rate(m, moving_constants.data());
  for (int j = 0; j < 2; ++j)
    for (int c = 0; c < 6; ++c)
      for (int r = 0; r < 3; ++r) d.Z[j](r, c) = rates[r].d[static_cast<std::size_t>(6 * j + c)];
  d.bias = d.Z[0] * f[0].V + d.Z[1] * f[1].V;

  for (Motion<Moving>& frame : m) frame.V.setZero();
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 6; ++k) {
      Moving& twist = m[static_cast<std::size_t>(i)].V[k];
      twist = Moving(1);
      const Eigen::Matrix<Moving, 3, 1> column = rate(m, moving_constants.data());
      twist = Moving(0);
      for (int r = 0; r < 3; ++r) d.B[i](r, k) = column[r].v;
      for (int j = 0; j < 2; ++j)
        for (int c = 0; c < 6; ++c) {
          const auto direction = static_cast<std::size_t>(6 * j + c);
          if constexpr (std::is_same_v<S, double>)
            d.G[i][j](k, c) = lambda[0] * column[0].d[direction] + lambda[1] * column[1].d[direction] +
                              lambda[2] * column[2].d[direction];
        }
    }
}
template void RollingDisc::derivatives<double>(const std::array<Motion<double>, 2>&, const double*,
                                               const double*, JointDerivatives<2, 3>&);

ListedKind rolling_disc() {
  return {
      {.type = "rolling_disc",
       .summary = "A thin disc of the second body rolls on a plane of the first without slipping.",
       .fields =
           {between_bodies("The body with the plane, and the body with the disc.").as(kBetween),
            {.name = "center",
             .type = FieldType::Vector,
             .unit = "m",
             .summary =
                 "Centre of the disc in the initial configuration, inertial axes; in body axes, a point of "
                 "the plane and the centre of the disc.",
             .required = true,
             .body_axes = BodyAxes::Each,
             .pose = PoseRole::Point,
             .index = kCenter},
            direction("axis", "Axis of the disc in the initial configuration, inertial axes.",
                      BodyAxes::Second)
                .as(kAxis),
            direction("normal",
                      "Normal of the plane in the initial configuration, inertial axes, towards the disc.",
                      BodyAxes::First)
                .as(kNormal),
            {.name = "radius",
             .type = FieldType::Number,
             .unit = "m",
             .summary = "Radius of the disc; the plane is where it touches it in the initial configuration.",
             .required = true,
             .range = Range::Positive,
             .index = kRadius}},
       .is_smooth = true},
      &make_batch<RollingDisc>};
}

}  // namespace liedyn

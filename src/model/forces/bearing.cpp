#include "liedyn/model/forces/bearing.h"

#include <fmt/format.h>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/joints/held_rows.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kOrientation, kStiffness, kDamping };

}  // namespace

std::vector<Attachment> LinearBearing::attachments() {
  std::vector<Attachment> both = frames_at_common_place(kBetween, kAt);
  both[0].oriented = both[1].oriented = true;
  return both;
}

template <class S>
void LinearBearing::derive(const Inputs<S>& in, S* p) {
  const Mat3T<S> A = typed_rotation(in, kOrientation).R();
  for (int i = 0; i < 2; ++i) Eigen::Map<Mat3T<S>>{p + 9 * i} = in.frame(i).R.transpose() * A;
  using Matrix = Eigen::Matrix<S, 6, 6>;
  for (const int field : {kStiffness, kDamping}) {
    Eigen::Map<Matrix> out(p + (field == kStiffness ? 18 : 54));
    out.setZero();
    if (!in.stored(field)) continue;
    const Eigen::Map<const Matrix> typed(in.values(field));
    out = S(0.5) * (typed + typed.transpose());
    if (field != kStiffness) continue;
    out.row(5).setZero();
    out.col(5).setZero();
  }
}
template void LinearBearing::derive<double>(const Inputs<double>&, double*);

void LinearBearing::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  const std::string mistake = rotation_mistake(in.form(kOrientation), in.values(kOrientation));
  if (!mistake.empty()) {
    message = "orientation: " + mistake;
    return;
  }
  const double* K = in.values(kStiffness);
  for (int i = 0; i < 6; ++i)
    for (const int entry : {30 + i, 6 * i + 5})
      if (K[entry] != 0) {
        message = fmt::format("stiffness[{}][{}]: expected 0, got {}: the shaft turns freely about z",
                              entry / 6, entry % 6, K[entry]);
        hint =
            "the components are x, y, z, tilt about x, tilt about y, turn about z; use a joint_spring for a "
            "stiffness about z";
        return;
      }
}

// The six components of s as rows of a joint: d(B_i^T s) = G_ij dX_j + B_i^T ds, ds = K B dX + C (Z dX + B dV).
void LinearBearing::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                             ForcePartials<2>& d) {
  const Parts<double> parts(p);
  const Vec6 s = load<double>(parts, f);
  const Vec3 x = parts.first.col(0), y = parts.first.col(1), z = parts.first.col(2),
             shaft = parts.second.col(2);
  JointDerivatives<2, 6> rows;
  RowDerivatives<6> fill(f, s.data(), rows);
  for (int k = 0; k < 3; ++k) fill.along(k, -parts.first.col(k));
  fill.turn(3, -y, shaft);
  fill.turn(4, x, shaft);
  // z.n = z.(Q w_2 - w_1):  d(Q y) = (Q y)~ d_r1 - Q y~ d_r2,  d(Q^T z) = (Q^T z)~ d_r2 - Q^T z~ d_r1
  const Mat3 Q = f[0].R.transpose() * f[1].R;
  const Vec3 w2 = f[1].V.tail<3>(), turned = Q.transpose() * z;
  for (int i = 0; i < 2; ++i) {
    rows.B[i].row(5).setZero();
    rows.Z[i].row(5).setZero();
  }
  rows.B[0].row(5).tail<3>() = -z.transpose();
  rows.B[1].row(5).tail<3>() = turned.transpose();
  rows.Z[0].row(5).tail<3>() = z.transpose() * skew(Vec3(Q * w2));
  rows.Z[1].row(5).tail<3>() = -turned.transpose() * skew(w2);
  rows.G[1][1].bottomRightCorner<3, 3>() += s[5] * skew(turned);
  rows.G[1][0].bottomRightCorner<3, 3>() -= s[5] * (Q.transpose() * skew(z));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      d.K[i][j] = rows.G[i][j] + rows.B[i].transpose() * (parts.K * rows.B[j] + parts.C * rows.Z[j]);
      d.C[i][j] = rows.B[i].transpose() * (parts.C * rows.B[j]);
    }
}

ListedKind bearing() {
  Field stiffness{.name = "stiffness",
                  .type = FieldType::Matrix6,
                  .unit = "N/m, N/rad, N m/rad",
                  .summary =
                      "Stiffness matrix of x, y, z, tilt about x, tilt about y, turn about z; zero for the "
                      "last.",
                  .required = true,
                  .turns = true,
                  .index = kStiffness};
  Field damping = stiffness;
  damping.name = "damping";
  damping.unit = "N s/m, N s/rad, N m s/rad";
  damping.summary = "Damping matrix of the same six; the last one is the viscous drag about z.";
  damping.required = false;
  damping.index = kDamping;
  return {
      {"bearing",
       "Linear bearing: stiffness and damping against displacements and tilts of a shaft that turns freely "
       "about z.",
       {between_bodies("The two bodies: the housing, which carries the axes, and the shaft.").as(kBetween),
        common_place("Centre of the bearing in the initial configuration, inertial axes.").as(kAt),
        {.name = "orientation",
         .type = FieldType::Rotation,
         .unit = "rad",
         .summary = "Axes of the bearing in the initial configuration, bearing to inertial axes; the shaft "
                    "turns about z.",
         .defaults = {0, 0, 0},
         .pose = PoseRole::Orientation,
         .index = kOrientation},
        std::move(stiffness),
        std::move(damping)},
       {},
       true},
      &make_batch<LinearBearing>};
}

}  // namespace liedyn

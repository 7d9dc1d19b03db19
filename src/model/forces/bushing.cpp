#include "liedyn/model/forces/bushing.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kOrientation, kStiffness, kDamping, kRotationalStiffness, kRotationalDamping };

// How a vector in the first body's axes follows the motion: d = X_1 dX_1 + X_2 dX_2 + V_1 dV_1 + V_2 dV_2.
struct Slope {
  using Columns = Eigen::Matrix<double, 3, 6>;
  Columns X[2] = {Columns::Zero(), Columns::Zero()}, V[2] = {Columns::Zero(), Columns::Zero()};
};

}  // namespace

std::vector<Attachment> Bushing::attachments() {
  std::vector<Attachment> both = frames_at_common_place(kBetween, kAt);
  both[0].oriented = true;  // it carries the axes
  return both;
}

template <class S>
void Bushing::derive(const Inputs<S>& in, S* p) {
  // Axes of the bushing in those of the first body.
  const Mat3T<S> A = in.frame(0).R.transpose() * typed_rotation(in, kOrientation).R();
  for (const int field : {kStiffness, kDamping, kRotationalStiffness, kRotationalDamping}) {
    Eigen::Map<Mat3T<S>>{p} = A * in.vector(field).asDiagonal() * A.transpose();
    p += 9;
  }
  Eigen::Map<Mat3T<S>>{p} = in.frame(1).R.transpose() * in.frame(0).R;
}
template void Bushing::derive<double>(const Inputs<double>&, double*);

void Bushing::check(const Inputs<double>& in, std::string& message, std::string&) {
  const std::string mistake = rotation_mistake(in.form(kOrientation), in.values(kOrientation));
  if (!mistake.empty()) message = "orientation: " + mistake;
}

void Bushing::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d) {
  const Parts<double> parts(p);
  const Mat3 Q = f[0].R.transpose() * f[1].R;
  const Vec3 u1 = f[0].V.head<3>(), w1 = f[0].V.tail<3>(), u2 = f[1].V.head<3>(), w2 = f[1].V.tail<3>();
  const Vec3 r = f[0].R.transpose() * (f[1].p - f[0].p);
  const Vec3 theta = SO3<double>::from_matrix(Q * parts.P).log();
  const Vec3 spring = parts.K_r * theta;
  const Mat3 Tinv = SO3<double>::Tinv(theta);
  const Vec3 force = parts.K * r + parts.C * (Q * u2 - u1 - w1.cross(r));
  const Vec3 torque = Tinv * spring + parts.C_r * (Q * w2 - w1);

  // d(Q y) = (Q y)~ d_r1 - Q y~ d_r2
  Slope place, rate, spin, turn;
  place.X[0] << -Mat3::Identity(), skew(r);
  place.X[1] << Q, Mat3::Zero();
  rate.X[0].rightCols<3>() = skew(Vec3(Q * u2));
  rate.X[1].rightCols<3>() = -Q * skew(u2);
  for (int j = 0; j < 2; ++j) rate.X[j] -= skew(w1) * place.X[j];
  rate.V[0] = place.X[0];
  rate.V[1] = place.X[1];
  spin.X[0].rightCols<3>() = skew(Vec3(Q * w2));
  spin.X[1].rightCols<3>() = -Q * skew(w2);
  spin.V[0].rightCols<3>() = -Mat3::Identity();
  spin.V[1].rightCols<3>() = Q;
  // d theta = T^-1(theta) P^T (d_r2 - Q^T d_r1)
  turn.X[1].rightCols<3>() = Tinv * parts.P.transpose();
  turn.X[0].rightCols<3>() = -turn.X[1].rightCols<3>() * Q.transpose();

  const Mat3 torque_turn = SO3<double>::dTinv(theta, spring) + Tinv * parts.K_r;
  for (int j = 0; j < 2; ++j) {
    Slope::Columns force_X = parts.K * place.X[j] + parts.C * rate.X[j];
    Slope::Columns torque_X = torque_turn * turn.X[j] + parts.C_r * spin.X[j];
    const Slope::Columns force_V = parts.C * rate.V[j], torque_V = parts.C_r * spin.V[j];
    d.K[0][j] << -force_X, skew(force) * place.X[j] - skew(r) * force_X - torque_X;
    d.C[0][j] << -force_V, -skew(r) * force_V - torque_V;
    // d(Q^T y) = Q^T (dy - y~ d_r1) + (Q^T y)~ d_r2, the last term below
    if (j == 0) {
      force_X.rightCols<3>() -= skew(force);
      torque_X.rightCols<3>() -= skew(torque);
    }
    d.K[1][j] << Q.transpose() * force_X, Q.transpose() * torque_X;
    d.C[1][j] << Q.transpose() * force_V, Q.transpose() * torque_V;
  }
  d.K[1][1].topRightCorner<3, 3>() += skew(Vec3(Q.transpose() * force));
  d.K[1][1].bottomRightCorner<3, 3>() += skew(Vec3(Q.transpose() * torque));
}

ListedKind bushing() {
  const auto vector = [](int index, std::string name, std::string unit, std::string summary) {
    return Field{.name = std::move(name),
                 .type = FieldType::Vector,
                 .unit = std::move(unit),
                 .summary = std::move(summary),
                 .defaults = {0, 0, 0},
                 .may_depend_on_signals = true,
                 .pose = PoseRole::Fixed,
                 .turns = index == kRotationalStiffness || index == kRotationalDamping,
                 .index = index};
  };
  return {{"bushing",
           "Springs and dampers along and about three axes that are fixed to the first body; relaxed in the "
           "initial configuration.",
           {between_bodies("The two bodies; the first carries the axes.").as(kBetween),
            common_place("Position in the initial configuration, inertial axes.").as(kAt),
            {.name = "orientation",
             .type = FieldType::Rotation,
             .unit = "rad",
             .summary = "Axes of the bushing in the initial configuration, bushing to inertial axes.",
             .defaults = {0, 0, 0},
             .pose = PoseRole::Orientation,
             .index = kOrientation},
            vector(kStiffness, "stiffness", "N/m", "Spring constants along the axes."),
            vector(kDamping, "damping", "N s/m", "Damping constants along the axes."),
            vector(kRotationalStiffness, "rotational_stiffness", "N m/rad",
                   "Spring constants about the axes, for the rotation vector of the relative rotation."),
            vector(kRotationalDamping, "rotational_damping", "N m s/rad",
                   "Damping constants about the axes, for the relative angular velocity.")},
           {},
           true},
          &make_force<Bushing>,
          &signal_shape};
}

}  // namespace liedyn

#include "liedyn/model/forces/machine.h"

namespace liedyn {
namespace {

template <int F>
void no_acceleration(MachineCoordinate<F>& out) {
  out.acceleration = 0;
  for (int i = 0; i < F; ++i) {
    out.acceleration_X[i].setZero();
    out.acceleration_V[i].setZero();
  }
}

}  // namespace

void CoordinateOfJoint::derivatives(const std::array<Motion<double>, 2>& f, const double* p,
                                    const double* reference, bool with_acceleration,
                                    MachineCoordinate<2>& out) {
  CoordinateDerivatives d;
  coordinate_derivatives(f[0], f[1], p, reference != nullptr ? reference[0] : 0, d);
  out.value = d.value;
  out.rate = d.rate;
  for (int i = 0; i < 2; ++i) {
    out.B[i] = d.B[i];
    out.Z[i] = d.Z[i];
    for (int j = 0; j < 2; ++j) out.G[i][j] = d.G[i][j];
  }
  no_acceleration(out);
  if (!with_acceleration) return;
  // x'' depends on the increments and the twists of both frames: 24 directions.
  constexpr int kDirections = 24;
  using S = Dual<double, kDirections>;
  std::array<Motion<S>, 2> m;
  for (int i = 0; i < 2; ++i) {
    const Motion<double>& at = f[static_cast<std::size_t>(i)];
    Motion<S>& moved = m[static_cast<std::size_t>(i)];
    Vec6T<S> increment = Vec6T<S>::Zero();
    for (int k = 0; k < 6; ++k) {
      increment[k].d[static_cast<std::size_t>(6 * i + k)] = 1;
      moved.V[k] = S(at.V[k]);
      moved.V[k].d[static_cast<std::size_t>(12 + 6 * i + k)] = 1;
      moved.A[k] = S(at.A[k]);
    }
    static_cast<Pose<S>&>(moved) =
        perturbed(Pose<S>{at.R.template cast<S>(), at.p.template cast<S>()}, increment);
  }
  std::array<S, kCoordinateConstants> constants;
  for (std::size_t i = 0; i < constants.size(); ++i) constants[i] = S(p[i]);
  const S x = acceleration<S>(m, constants.data());
  out.acceleration = x.v;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 6; ++k) {
      out.acceleration_X[i][k] = x.d[static_cast<std::size_t>(6 * i + k)];
      out.acceleration_V[i][k] = x.d[static_cast<std::size_t>(12 + 6 * i + k)];
    }
}

void DifferenceOfJoints::derivatives(const std::array<Motion<double>, 4>& f, const double* p, const double*,
                                     bool, MachineCoordinate<4>& out) {
  no_acceleration(out);
  for (auto& blocks : out.G)
    for (Mat6& block : blocks) block.setZero();
  out.value = out.rate = 0;
  for (int joint = 0; joint < 2; ++joint) {
    const auto first = static_cast<std::size_t>(2 * joint);
    const double sign = joint == 0 ? -1 : 1;
    CoordinateDerivatives d;
    coordinate_derivatives(f[first], f[first + 1], p + joint * kCoordinateConstants, 0, d);
    out.rate += sign * d.rate;
    for (int i = 0; i < 2; ++i) {
      out.B[2 * joint + i] = sign * d.B[i];
      out.Z[2 * joint + i] = sign * d.Z[i];
      for (int j = 0; j < 2; ++j) out.G[2 * joint + i][2 * joint + j] = sign * d.G[i][j];
    }
  }
}

// With P = (1 - n n^T)/l and the relative velocity w:  dn = P (R_2 d_t2 - R_1 d_t1),  d(R u) = -R u~ d_r,  d(R^T y) = (R^T y)~ d_r.
void DistanceOfPoints::derivatives(const std::array<Motion<double>, 2>& f, const double*, const double*, bool,
                                   MachineCoordinate<2>& out) {
  no_acceleration(out);
  const Vec3 span = f[1].p - f[0].p;
  out.value = span.norm();
  out.rate = 0;
  for (int i = 0; i < 2; ++i) {
    out.B[i].setZero();
    out.Z[i].setZero();
    for (Mat6& block : out.G[i]) block.setZero();
  }
  if (!(out.value > 0)) return;
  const Vec3 n = span / out.value, w = f[1].velocity() - f[0].velocity();
  const Mat3 P = (Mat3::Identity() - n * n.transpose()) / out.value;
  out.rate = n.dot(w);
  for (int i = 0; i < 2; ++i) {
    const Motion<double>& m = f[static_cast<std::size_t>(i)];
    const double sign = i == 0 ? -1 : 1;
    const Vec3 local = sign * (m.R.transpose() * n);
    out.B[i].head<3>() = local.transpose();
    out.Z[i].head<3>() = sign * (w.transpose() * P * m.R);
    out.Z[i].tail<3>() = -local.transpose() * skew(Vec3(m.V.head<3>()));
    for (int j = 0; j < 2; ++j)
      out.G[i][j].topLeftCorner<3, 3>() =
          (i == j ? 1.0 : -1.0) * (m.R.transpose() * P * f[static_cast<std::size_t>(j)].R);
    out.G[i][i].topRightCorner<3, 3>() = skew(local);
  }
}

Field machine_number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
                     Range range) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .defaults = std::move(defaults),
          .range = range};
}

Field machine_start(std::string name, std::string unit, std::string summary) {
  Field field = machine_number(std::move(name), std::move(unit), std::move(summary), {0});
  field.is_initial = true;
  return field;
}

Field required_machine_number(std::string name, std::string unit, std::string summary, Range range) {
  Field field = machine_number(std::move(name), std::move(unit), std::move(summary), {}, range);
  field.required = true;
  return field;
}

Field machine_signal(std::string name, std::string unit, std::string summary, std::vector<double> defaults) {
  Field field = machine_number(std::move(name), std::move(unit),
                               std::move(summary) + " An expression may use the time, states and sensors.",
                               std::move(defaults));
  field.required = field.defaults.empty();
  field.may_depend_on_time = true;
  field.may_depend_on_signals = true;
  return field;
}

}  // namespace liedyn

#include "liedyn/model/joint_coordinate.h"

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

template <class S>
void coordinate_derivatives(const Motion<S>& first, const Motion<S>& second, const S* p, double reference,
                            CoordinateDerivativesOf<S>& out) {
  using std::atan2;
  using Row = typename CoordinateDerivativesOf<S>::Row;
  constexpr bool for_matrices = std::is_same_v<S, double>;
  const std::array<Motion<S>, 2> f = {first, second};
  const JointAxes<S> axes(p);
  const auto set_rates = [&] {
    out.rate = out.B[0].dot(f[0].V) + out.B[1].dot(f[1].V);
    out.bias = out.Z[0].dot(f[0].V) + out.Z[1].dot(f[1].V);
  };
  if (!is_angle(p)) {
    // u = -a.r with a = e_z,1 and r = R_1^T (p_1 - p_2)
    JointDerivatives<2, 1, S> d;
    const S one(1);
    RowDerivatives<1, S>(f, &one, d).along(0, -axes.first.col(2));
    out.value = d.phi[0] + p[kInitialDisplacement];
    for (int i = 0; i < 2; ++i) {
      out.B[i] = d.B[i];
      out.Z[i] = d.Z[i];
      if constexpr (for_matrices)
        for (int j = 0; j < 2; ++j) out.G[i][j] = d.G[i][j];
    }
    return set_rates();
  }
  // c and s, each as a row of its own.
  JointDerivatives<2, 1, S> dc, ds;
  const S one(1);
  RowDerivatives<1, S>(f, &one, dc).turn(0, axes.first.col(0), axes.second.col(0));
  RowDerivatives<1, S>(f, &one, ds).turn(0, axes.first.col(1), axes.second.col(0));
  const S c = dc.phi[0], s = ds.phi[0], square = c * c + s * s;
  out.value = nearest_turn(S(atan2(s, c) + p[kInitialAngle]), reference);
  // theta' = (c s' - s c')/(c^2 + s^2), and the same once more
  for (int i = 0; i < 2; ++i) out.B[i] = (c * ds.B[i] - s * dc.B[i]) / square;
  const auto log_slope = [&](int j) -> Row { return 2 / square * (c * dc.B[j] + s * ds.B[j]); };
  S c_rate(0), s_rate(0);
  for (int i = 0; i < 2; ++i) {
    c_rate += dc.B[i].dot(f[static_cast<std::size_t>(i)].V);
    s_rate += ds.B[i].dot(f[static_cast<std::size_t>(i)].V);
  }
  const S rate = (c * s_rate - s * c_rate) / square;
  for (int j = 0; j < 2; ++j) {
    out.Z[j] =
        (c * ds.Z[j] - s * dc.Z[j] + s_rate * dc.B[j] - c_rate * ds.B[j]) / square - rate * log_slope(j);
    if constexpr (for_matrices)
      for (int i = 0; i < 2; ++i)
        out.G[i][j] = (c * ds.G[i][j] - s * dc.G[i][j] + ds.B[i].transpose() * dc.B[j] -
                       dc.B[i].transpose() * ds.B[j]) /
                          square -
                      out.B[i].transpose() * log_slope(j);
  }
  set_rates();
}
template void coordinate_derivatives<double>(const Motion<double>&, const Motion<double>&, const double*,
                                             double, CoordinateDerivativesOf<double>&);
template void coordinate_derivatives<Varied>(const Motion<Varied>&, const Motion<Varied>&, const Varied*,
                                             double, CoordinateDerivativesOf<Varied>&);

}  // namespace liedyn

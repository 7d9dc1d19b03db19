#include "liedyn/model/line_of_action.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

template <class S>
void line_derivatives(const Motion<S>& first, const Motion<S>& second, const S* axes, const S* line,
                      double reference, CoordinateDerivativesOf<S>& out) {
  const LineOfAction<S> l(axes, line);
  const std::array<Motion<S>, 2> f = {first, second};
  const S one(1);
  // n.u, s = a.u, w.Q b and tau = m.Q b, each as a row of its own; RowDerivatives has r = -u.
  JointDerivatives<2, 1, S> dn, ds, dw, dt;
  RowDerivatives<1, S>(f, &one, dn).along(0, -l.n);
  RowDerivatives<1, S>(f, &one, ds).along(0, -l.a);
  RowDerivatives<1, S>(f, &one, dw).turn(0, l.w, l.b);
  RowDerivatives<1, S>(f, &one, dt).turn(0, l.m, l.b);
  coordinate_derivatives(first, second, axes, reference, out);

  const S s = ds.phi[0], tau = dt.phi[0];
  S s_rate(0), tau_rate(0);
  for (std::size_t i = 0; i < 2; ++i) {
    s_rate += ds.B[i].dot(f[i].V);
    tau_rate += dt.B[i].dot(f[i].V);
  }
  out.value = dn.phi[0] + dw.phi[0] - s * tau + l.c * out.value;
  for (int j = 0; j < 2; ++j) {
    out.B[j] = dn.B[j] + dw.B[j] - s * dt.B[j] - tau * ds.B[j] + l.c * out.B[j];
    out.Z[j] = dn.Z[j] + dw.Z[j] - s * dt.Z[j] - tau * ds.Z[j] - s_rate * dt.B[j] - tau_rate * ds.B[j] +
               l.c * out.Z[j];
    if constexpr (std::is_same_v<S, double>)
      for (int i = 0; i < 2; ++i)
        out.G[i][j] = dn.G[i][j] + dw.G[i][j] - s * dt.G[i][j] - tau * ds.G[i][j] -
                      dt.B[i].transpose() * ds.B[j] - ds.B[i].transpose() * dt.B[j] + l.c * out.G[i][j];
  }
  out.rate = out.B[0].dot(f[0].V) + out.B[1].dot(f[1].V);
  out.bias = out.Z[0].dot(f[0].V) + out.Z[1].dot(f[1].V);
}
template void line_derivatives<double>(const Motion<double>&, const Motion<double>&, const double*,
                                       const double*, double, CoordinateDerivativesOf<double>&);
template void line_derivatives<Varied>(const Motion<Varied>&, const Motion<Varied>&, const Varied*,
                                       const Varied*, double, CoordinateDerivativesOf<Varied>&);

std::string carrier_mistake(const Inputs<double>& in, AxisCoordinates expected, std::string& hint) {
  const auto fits = [&](const Kind& joint) {
    const AxisCoordinates has = joint.coordinates;
    return joint.guides && ((expected.angle && has.angle) || (expected.displacement && has.displacement));
  };
  const auto body = [&](int joint, int i) -> const std::string& {
    const Entry& entry = in.joint(joint).entry();
    const int between = entry.kind->field("between");
    return in.description()
        .words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(between)].word + i)];
  };
  for (int i = 0; i < 2; ++i) {
    const Entry& joint = in.joint(i).entry();
    if (fits(*joint.kind)) continue;
    std::vector<std::string> types;
    for (const Kind& kind : kinds(Section::Joints))
      if (fits(kind)) types.push_back(kind.type);
    return fmt::format("joints: expected joints of type {}, got '{}' of type {}", fmt::join(types, ", "),
                       joint.name, joint.kind->type);
  }
  if (body(0, 0) != body(1, 0)) {
    const std::string &first = in.joint(0).entry().name, &second = in.joint(1).entry().name;
    hint = "give the carrier (a housing, an arm, ground) first in `between` of both joints";
    return fmt::format("joints: expected joints with the same first body, got '{}' on '{}' and '{}' on '{}'",
                       first, body(0, 0), second, body(1, 0));
  }
  if (body(0, 1) == body(1, 1))
    return fmt::format("joints: expected joints that move different bodies, got '{}' twice", body(0, 1));
  return {};
}

}  // namespace liedyn

#include "liedyn/model/nodes/node.h"

namespace liedyn {

Seeds node_seeds(NodeType type, const Motion<double>& m, const double* E, const double* E_rate,
                 const Seeding& s) {
  const auto rotational = [](const double* from, int skip) {
    return from != nullptr ? Mat3(Eigen::Map<const Mat3>(from + skip)) : Mat3(Mat3::Identity());
  };
  Seeds out;
  out.X.setZero();
  out.V.setZero();
  out.A.setZero();
  const int places = place_count(type);
  switch (traits(type).group) {
    case NodeGroup::SO3: {
      // Of a body that only turns E has no number for the place.
      const Mat3 Er = rotational(E, places > 0), Ev = rotational(E_rate, places > 0);
      out.X.bottomRightCorner<3, 3>().diagonal().setConstant(s.q);
      out.V.bottomRightCorner<3, 3>() = s.v * Ev;
      out.A.bottomRightCorner<3, 3>() = s.a * Er;
      if (places == 0) break;
      const double e = E != nullptr ? E[0] : 1;
      const Mat3 Rt = m.R.transpose();
      const Mat3 U = skew(Vec3(m.V.head<3>())), Omega = skew(Vec3(m.V.tail<3>()));
      // H = diag(R^T, 1)
      out.X.topLeftCorner<3, 3>() = s.q * Rt;
      // d(R^T u) = R^T du + U~ d_r
      out.V.topLeftCorner<3, 3>() = (s.v * e) * Rt;
      out.V.topRightCorner<3, 3>() = s.q * U;
      // d(R^T udot - Omega x U), with R^T udot = A_t + Omega x U
      const Vec3 Ud = m.A.head<3>() + m.V.tail<3>().cross(m.V.head<3>());
      out.A.topLeftCorner<3, 3>() = (s.a * e) * Rt - (s.v * e) * (Omega * Rt);
      out.A.topRightCorner<3, 3>() = s.q * (skew(Ud) - Omega * U) + s.v * (U * Ev);
      break;
    }
    case NodeGroup::SpatialSO3: {
      const Mat3 Er = rotational(E, places > 0), Ev = rotational(E_rate, places > 0);
      const Mat3 Rt = m.R.transpose();
      // d(R^T y) = R^T dy + R^T y~ d_r, for u, omega, udot - omega x u and omegadot
      out.X.bottomRightCorner<3, 3>() = s.q * Rt;
      out.V.bottomRightCorner<3, 3>() = Rt * (s.v * Ev + s.q * skew(Vec3(m.R * m.V.tail<3>())));
      out.A.bottomRightCorner<3, 3>() = Rt * (s.a * Er + s.q * skew(Vec3(m.R * m.A.tail<3>())));
      if (places == 0) break;
      const double e = E != nullptr ? E[0] : 1;
      const Vec3 u = m.R * m.V.head<3>(), omega = m.R * m.V.tail<3>();
      const Mat3 ut = skew(u);
      out.X.topLeftCorner<3, 3>() = s.q * Rt;
      out.V.topLeftCorner<3, 3>() = (s.v * e) * Rt;
      out.V.topRightCorner<3, 3>() = Rt * (s.q * ut);
      out.A.topLeftCorner<3, 3>() = Rt * ((s.a * e) * Mat3::Identity() - (s.v * e) * skew(omega));
      out.A.topRightCorner<3, 3>() = Rt * (s.v * (ut * Ev) + s.q * skew(Vec3(m.R * m.A.head<3>())));
      break;
    }
    case NodeGroup::SE3: {
      const auto full = [](const double* from) {
        return from != nullptr ? Mat6(Eigen::Map<const Mat6>(from)) : Mat6(Mat6::Identity());
      };
      out.X.diagonal().setConstant(s.q);
      out.V = s.v * full(E_rate);
      out.A = s.a * full(E);
      break;
    }
    case NodeGroup::SE2: {
      const Mat3 Ea = rotational(E, 0), Ev = rotational(E_rate, 0);
      for (int c = 0; c < 3; ++c) {
        out.X(kPlanarComponents[c], kPlanarComponents[c]) = s.q;
        for (int r = 0; r < 3; ++r) {
          out.V(kPlanarComponents[r], kPlanarComponents[c]) = s.v * Ev(r, c);
          out.A(kPlanarComponents[r], kPlanarComponents[c]) = s.a * Ea(r, c);
        }
      }
      break;
    }
    case NodeGroup::None: {
      const double e = E != nullptr ? E[0] : 1;
      if (!is_planar(type)) {
        for (int i = 0; i < traits(type).linear; ++i) {
          const int k = components(type)[i];
          out.X(k, k) = s.q;
          out.V(k, k) = s.v * e;
          out.A(k, k) = s.a * e;
        }
        break;
      }
      // As R3xSO3, with E = e: columns 0, 1 and 5.
      const double cos = m.R(0, 0), sin = m.R(1, 0);
      const double u[] = {m.V[0], m.V[1]}, w = m.V[5];
      const double ud[] = {m.A[0] - w * u[1], m.A[1] + w * u[0]};  // R^T udot
      const auto turned = [&](Mat6& D, double factor) {            // factor R^T
        D(0, 0) = D(1, 1) = factor * cos;
        D(0, 1) = factor * sin;
        D(1, 0) = -factor * sin;
      };
      turned(out.X, s.q);
      turned(out.V, s.v * e);
      turned(out.A, s.a * e);
      // d(R^T u) = R^T du + U~ d_r,  d(R^T udot - Omega x U)
      for (int c = 0; c < 2; ++c) {
        out.A(0, c) += w * out.V(1, c);
        out.A(1, c) -= w * out.V(0, c);
      }
      out.V(0, 5) = s.q * u[1];
      out.V(1, 5) = -s.q * u[0];
      out.A(0, 5) = s.q * (ud[1] - w * u[0]) + s.v * e * u[1];
      out.A(1, 5) = -s.q * (ud[0] + w * u[1]) - s.v * e * u[0];
      out.X(5, 5) = s.q;
      out.V(5, 5) = s.v * e;
      out.A(5, 5) = s.a * e;
      break;
    }
  }
  return out;
}

}  // namespace liedyn

// Nodes: the group elements that carry the unknowns of the mechanics. A node turns its own coordinates into the pose,
// body twist and body acceleration that elements see, and the wrenches they return into its own equations:
//
//   V = H(q) v,   A = H(q) vdot + Hdot v,   r = H^T W
//
// and it differentiates these maps, so that an element written once runs on every kind of node.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/matrix.h"
#include "lie/r3xso3.h"
#include "lie/rn.h"
#include "lie/se3.h"
#include "lie/so3.h"
#include "model/motion.h"

namespace liedyn {

enum class NodeType : std::uint8_t {
  R3xSO3,  // inertial velocity of the point, body-frame angular velocity (left-trivialised direct product)
  SE3,     // body-frame velocity of the point, body-frame angular velocity
  R3,      // a point
  SO3,     // a body that turns about a fixed point, body-frame angular velocity
  R3xSO3Spatial,  // as R3xSO3, with inertial-frame angular velocity (right-trivialised): increments turn on the left
  SO3Spatial,  // as SO3, with inertial-frame angular velocity
  // Conventional formulations. To elements and in State they are R3xSO3 and SO3; only the stages of an integrator know
  // their rotation parameters (model/nodes/parameter_stage.h).
  R3xEuler,       // Euler parameters with their rates
  R3xCardan,      // Cardan angles with their rates
  R3xCardanBody,  // Cardan angles, body-frame angular velocity
  Euler,
  Cardan,
  CardanBody,
};

constexpr bool is_conventional(NodeType type) { return type >= NodeType::R3xEuler; }
constexpr bool has_euler_parameters(NodeType type) {
  return type == NodeType::R3xEuler || type == NodeType::Euler;
}
constexpr bool has_cardan_rates(NodeType type) {
  return type == NodeType::R3xCardan || type == NodeType::Cardan;
}
constexpr bool has_cardan_angles(NodeType type) {
  return is_conventional(type) && !has_euler_parameters(type);
}

struct Node {
  NodeType type;
  int q;        // index of its first coordinate in State::q
  int v;        // index of its first velocity in State::v, and of its first equation
  int tangent;  // index of its first number in Work::tangent: the map E of model/nodes/stage.h
  int extra =
      -1;  // Euler parameters: index of the fourth one in the arrays of a stage, behind the velocities
};

struct NodeSize {
  int q;        // numbers stored: place (3), then the unit quaternion (w, x, y, z) where there is one
  int v;        // degrees of freedom
  int tangent;  // numbers of the map E
};
constexpr NodeSize node_size(NodeType type) {
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody:
    case NodeType::R3xSO3Spatial: return {7, 6, 10};
    case NodeType::SE3: return {7, 6, 36};
    case NodeType::R3: return {3, 3, 1};
    case NodeType::SO3:
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody:
    case NodeType::SO3Spatial: return {7, 3, 9};
  }
  return {0, 0, 0};
}
// Where the node's equations stand among the six of a rigid frame.
constexpr int first_component(NodeType type) {
  switch (type) {
    case NodeType::SO3:
    case NodeType::SO3Spatial:
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody: return 3;
    default: return 0;
  }
}

template <class S>
SO3<S> rotation_of(const S* q) {
  return SO3<S>::from_coordinates(Eigen::Map<const Eigen::Matrix<S, 4, 1>>(q + 3));
}
template <class S>
void store_rotation(const SO3<S>& rotation, S* q) {
  Eigen::Map<Eigen::Matrix<S, 4, 1>>(q + 3) = rotation.coordinates();
}

// Pose, twist and acceleration of the node's frame.
template <class S>
Motion<S> node_motion(NodeType type, const S* q, const S* v, const S* vdot) {
  using V3 = Eigen::Map<const Vec3T<S>>;
  Motion<S> m;
  m.p = V3(q);
  switch (type) {
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody:
    case NodeType::R3xSO3: {
      m.R = rotation_of(q).R();
      const Vec3T<S> U = m.R.transpose() * V3(v), Omega = V3(v + 3);
      m.V << U, Omega;
      // d/dt (R^T u) = R^T udot - Omega x R^T u
      m.A << m.R.transpose() * V3(vdot) - Omega.cross(U), V3(vdot + 3);
      break;
    }
    case NodeType::SE3:
      m.R = rotation_of(q).R();
      m.V = Eigen::Map<const Vec6T<S>>(v);
      m.A = Eigen::Map<const Vec6T<S>>(vdot);
      break;
    case NodeType::R3:
      m.V.template head<3>() = V3(v);
      m.A.template head<3>() = V3(vdot);
      break;
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody:
    case NodeType::SO3:
      m.R = rotation_of(q).R();
      m.V.template tail<3>() = V3(v);
      m.A.template tail<3>() = V3(vdot);
      break;
    case NodeType::R3xSO3Spatial: {
      m.R = rotation_of(q).R();
      // d/dt (R^T u) = R^T (udot - omega x u),  d/dt (R^T omega) = R^T omegadot
      const Vec3T<S> u = V3(v), omega = V3(v + 3);
      m.V << m.R.transpose() * u, m.R.transpose() * omega;
      m.A << m.R.transpose() * (V3(vdot) - omega.cross(u)), m.R.transpose() * V3(vdot + 3);
      break;
    }
    case NodeType::SO3Spatial:
      m.R = rotation_of(q).R();
      m.V.template tail<3>() = m.R.transpose() * V3(v);
      m.A.template tail<3>() = m.R.transpose() * V3(vdot);
      break;
  }
  return m;
}

// r = H^T W, added to the node's equations.
inline void add_wrench(NodeType type, const Pose<double>& pose, const Vec6& W, double* r) {
  Eigen::Map<Vec3> first(r);
  switch (type) {
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody:
    case NodeType::R3xSO3:
      first += pose.R * W.head<3>();
      Eigen::Map<Vec3>(r + 3) += W.tail<3>();
      break;
    case NodeType::SE3: Eigen::Map<Vec6>(r) += W; break;
    case NodeType::R3: first += W.head<3>(); break;
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody:
    case NodeType::SO3: first += W.tail<3>(); break;
    case NodeType::R3xSO3Spatial:
      first += pose.R * W.head<3>();
      Eigen::Map<Vec3>(r + 3) += pose.R * W.tail<3>();
      break;
    case NodeType::SO3Spatial: first += pose.R * W.tail<3>(); break;
  }
}

// How the node's q, v and vdot follow the unknown d of a linear system:
//   dq = q d,   dv = v E' d,   dvdot = a E d,
// with E the node's own matrix (identity if there is none) and E' the same, or another where the velocities are not linear in
// the accelerations along a stage. A step of an implicit method, an initial acceleration, a
// projection and the matrices K, C, M apart differ only in these numbers.
struct Seeding {
  double q = 0, v = 0, a = 0;
};

// d(pose increment), d(V), d(A) of the frame with respect to d: columns as the node's equations, in six padded columns.
struct Seeds {
  Mat6 X, V, A;
};

// `E` and `E_rate` null: identity.
inline Seeds node_seeds(NodeType type, const Motion<double>& m, const double* E, const double* E_rate,
                        const Seeding& s) {
  const auto rotational = [](const double* from, int skip) {
    return from != nullptr ? Mat3(Eigen::Map<const Mat3>(from + skip)) : Mat3(Mat3::Identity());
  };
  Seeds out;
  out.X.setZero();
  out.V.setZero();
  out.A.setZero();
  switch (type) {
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody:
    case NodeType::R3xSO3: {
      const double e = E != nullptr ? E[0] : 1;
      const Mat3 Er = rotational(E, 1), Ev = rotational(E_rate, 1);
      const Mat3 Rt = m.R.transpose();
      const Mat3 U = skew(Vec3(m.V.head<3>())), Omega = skew(Vec3(m.V.tail<3>()));
      // H = diag(R^T, 1)
      out.X.topLeftCorner<3, 3>() = s.q * Rt;
      out.X.bottomRightCorner<3, 3>().diagonal().setConstant(s.q);
      // d(R^T u) = R^T du + U~ d_r
      out.V.topLeftCorner<3, 3>() = (s.v * e) * Rt;
      out.V.topRightCorner<3, 3>() = s.q * U;
      out.V.bottomRightCorner<3, 3>() = s.v * Ev;
      // d(R^T udot - Omega x U), with R^T udot = A_t + Omega x U
      const Vec3 Ud = m.A.head<3>() + m.V.tail<3>().cross(m.V.head<3>());
      out.A.topLeftCorner<3, 3>() = (s.a * e) * Rt - (s.v * e) * (Omega * Rt);
      out.A.topRightCorner<3, 3>() = s.q * (skew(Ud) - Omega * U) + s.v * (U * Ev);
      out.A.bottomRightCorner<3, 3>() = s.a * Er;
      break;
    }
    case NodeType::SE3: {
      const auto full = [](const double* from) {
        return from != nullptr ? Mat6(Eigen::Map<const Mat6>(from)) : Mat6(Mat6::Identity());
      };
      out.X.diagonal().setConstant(s.q);
      out.V = s.v * full(E_rate);
      out.A = s.a * full(E);
      break;
    }
    case NodeType::R3: {
      const double e = E != nullptr ? E[0] : 1;
      out.X.topLeftCorner<3, 3>().diagonal().setConstant(s.q);
      out.V.topLeftCorner<3, 3>().diagonal().setConstant(s.v * e);
      out.A.topLeftCorner<3, 3>().diagonal().setConstant(s.a * e);
      break;
    }
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody:
    case NodeType::SO3:
      out.X.bottomRightCorner<3, 3>().diagonal().setConstant(s.q);
      out.V.bottomRightCorner<3, 3>() = s.v * rotational(E_rate, 0);
      out.A.bottomRightCorner<3, 3>() = s.a * rotational(E, 0);
      break;
    case NodeType::R3xSO3Spatial: {
      const double e = E != nullptr ? E[0] : 1;
      const Mat3 Er = rotational(E, 1), Ev = rotational(E_rate, 1);
      const Mat3 Rt = m.R.transpose();
      const Vec3 u = m.R * m.V.head<3>(), omega = m.R * m.V.tail<3>();
      const Mat3 ut = skew(u);
      // d(R^T y) = R^T dy + R^T y~ d_r, for u, omega, udot - omega x u and omegadot
      out.X.topLeftCorner<3, 3>() = s.q * Rt;
      out.X.bottomRightCorner<3, 3>() = s.q * Rt;
      out.V.topLeftCorner<3, 3>() = (s.v * e) * Rt;
      out.V.topRightCorner<3, 3>() = Rt * (s.q * ut);
      out.V.bottomRightCorner<3, 3>() = Rt * (s.v * Ev + s.q * skew(omega));
      out.A.topLeftCorner<3, 3>() = Rt * ((s.a * e) * Mat3::Identity() - (s.v * e) * skew(omega));
      out.A.topRightCorner<3, 3>() = Rt * (s.v * (ut * Ev) + s.q * skew(Vec3(m.R * m.A.head<3>())));
      out.A.bottomRightCorner<3, 3>() = Rt * (s.a * Er + s.q * skew(Vec3(m.R * m.A.tail<3>())));
      break;
    }
    case NodeType::SO3Spatial: {
      const Mat3 Er = rotational(E, 0), Ev = rotational(E_rate, 0);
      const Mat3 Rt = m.R.transpose();
      out.X.bottomRightCorner<3, 3>() = s.q * Rt;
      out.V.bottomRightCorner<3, 3>() = Rt * (s.v * Ev + s.q * skew(Vec3(m.R * m.V.tail<3>())));
      out.A.bottomRightCorner<3, 3>() = Rt * (s.a * Er + s.q * skew(Vec3(m.R * m.A.tail<3>())));
      break;
    }
  }
  return out;
}

// H is block diagonal; these say which of its parts are R^T instead of 1.
constexpr bool turns_translation(NodeType type) {
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody: return true;
    default: return false;
  }
}
constexpr bool turns_rotation(NodeType type) {
  return type == NodeType::R3xSO3Spatial || type == NodeType::SO3Spatial;
}

// H^T times rows of a frame at the node.
inline void project_rows(NodeType type, const Pose<double>& pose, Mat6& D) {
  if (turns_translation(type)) D.topRows<3>() = (pose.R * D.topRows<3>()).eval();
  if (turns_rotation(type)) D.bottomRows<3>() = (pose.R * D.bottomRows<3>()).eval();
}
// B H: columns of a row at the node, for dq = d.
template <int Rows>
void project_columns(NodeType type, const Pose<double>& pose, Eigen::Matrix<double, Rows, 6>& B) {
  if (turns_translation(type))
    B.template leftCols<3>() = (B.template leftCols<3>() * pose.R.transpose()).eval();
  if (turns_rotation(type))
    B.template rightCols<3>() = (B.template rightCols<3>() * pose.R.transpose()).eval();
}

// d(H^T) W: what the derivative of the node's own map adds, columns as in Seeds with dq = q d. False: nothing.
inline bool add_map_derivative(NodeType type, const Pose<double>& pose, const Vec6& W, double q, Mat6& D) {
  if (!turns_translation(type) && !turns_rotation(type)) return false;
  if (turns_rotation(type)) {
    // d(R W) = -(R W)~ d_r, with d_r inertial
    D.topRightCorner<3, 3>() -= q * skew(Vec3(pose.R * W.head<3>()));
    D.bottomRightCorner<3, 3>() -= q * skew(Vec3(pose.R * W.tail<3>()));
  } else {
    // d(R W_t) = -R W_t~ d_r, with d_r in body axes
    D.topRightCorner<3, 3>() -= q * (pose.R * skew(Vec3(W.head<3>())));
  }
  return true;
}

}  // namespace liedyn

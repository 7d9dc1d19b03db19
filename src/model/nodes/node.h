// Nodes: the group elements that carry the unknowns of the mechanics. A node turns its own coordinates into the pose,
// body twist and body acceleration that elements see, and the wrenches they return into its own equations:
//
//   V = H(q) v,   A = H(q) vdot + Hdot v,   r = H^T W
//
// and it differentiates these maps, so that an element written once runs on every kind of node.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "liedyn/base/matrix.h"
#include "liedyn/lie/se2.h"
#include "liedyn/lie/se3.h"
#include "liedyn/lie/so3.h"
#include "liedyn/model/motion.h"

namespace liedyn {

enum class NodeType : std::uint8_t {
  R3xSO3,  // inertial velocity of the point, body-frame angular velocity (left-trivialised direct product)
  SE3,     // body-frame velocity of the point, body-frame angular velocity
  R3,      // a point
  SO3,     // a body that turns about a fixed point, body-frame angular velocity
  R3xSO3Spatial,  // as R3xSO3, with inertial-frame angular velocity (right-trivialised): increments turn on the left
  SO3Spatial,  // as SO3, with inertial-frame angular velocity
  R2xSO2,      // a body in the plane: inertial velocity of the point, angular velocity
  SE2,         // the same: body-frame velocity of the point, angular velocity
  State,       // a first-order state x: its velocity is x and its acceleration is x', see node_motion
  Turn,        // an angle between two bodies, and
  Slide,  // a displacement: coordinates of joints (model/tree.h), which make motions of the bodies of them
  // Conventional formulations. To elements and in State they are R3xSO3 and SO3; only the stages of an integrator know
  // their rotation parameters (model/nodes/parameter_stage.h).
  R3xEuler,       // Euler parameters with their rates
  R3xCardan,      // Cardan angles with their rates
  R3xCardanBody,  // Cardan angles, body-frame angular velocity
  Euler,
  Cardan,
  CardanBody,
};

enum class NodeSpace : std::uint8_t {
  Scalar,
  Plane,
  Space
};  // the plane of motion is the inertial x-y plane
// A group of lie/, for what is not a vector space. SpatialSO3: SO(3) with increments in inertial axes.
enum class NodeGroup : std::uint8_t { None, SO3, SpatialSO3, SE2, SE3 };
enum class RotationParameters : std::uint8_t { None, EulerRates, CardanRates, CardanVelocities };

// Where a node's equations stand among the six of a rigid frame.
inline constexpr std::uint8_t kAllComponents[] = {0, 1, 2, 3, 4, 5};
inline constexpr std::uint8_t kPlanarComponents[] = {0, 1, 5};

// A type of node: R^linear x group. Its other sizes follow.
struct NodeTraits {
  NodeSpace space;
  int linear;
  NodeGroup group;
  int places;  // how many of its velocities are those of a point
  const std::uint8_t* components =
      kAllComponents;  // the equation of its i-th velocity is components[i] of six
  RotationParameters parameters = RotationParameters::None;

  constexpr bool has_rotation_group() const {
    return group == NodeGroup::SO3 || group == NodeGroup::SpatialSO3;
  }
  // Degrees of freedom.
  constexpr int v() const {
    return linear + (group == NodeGroup::None ? 0 : group == NodeGroup::SE3 ? 6 : 3);
  }
  // Numbers stored: place (3), then the unit quaternion (w, x, y, z) where there is one; in the plane x, y and the angle, which
  // counts turns; the integral of a state.
  constexpr int q() const {
    return space == NodeSpace::Scalar ? 1 : space == NodeSpace::Plane || group == NodeGroup::None ? 3 : 7;
  }
  // Numbers of the map E of model/nodes/stage.h: one for the linear part, and a matrix for the group.
  constexpr int tangent() const { return (linear > 0 ? 1 : 0) + (v() - linear) * (v() - linear); }
};
// In the order of NodeType.
inline constexpr NodeTraits kNodeTraits[] = {
    {NodeSpace::Space, 3, NodeGroup::SO3, 3},
    {NodeSpace::Space, 0, NodeGroup::SE3, 3},
    {NodeSpace::Space, 3, NodeGroup::None, 3},
    {NodeSpace::Space, 0, NodeGroup::SO3, 0, kAllComponents + 3},
    {NodeSpace::Space, 3, NodeGroup::SpatialSO3, 3},
    {NodeSpace::Space, 0, NodeGroup::SpatialSO3, 0, kAllComponents + 3},
    {NodeSpace::Plane, 3, NodeGroup::None, 2, kPlanarComponents},
    {NodeSpace::Plane, 0, NodeGroup::SE2, 2, kPlanarComponents},
    {NodeSpace::Scalar, 1, NodeGroup::None, 0},
    {NodeSpace::Scalar, 1, NodeGroup::None, 0, kAllComponents + 5},
    {NodeSpace::Scalar, 1, NodeGroup::None, 1, kAllComponents + 2},
    {NodeSpace::Space, 3, NodeGroup::SO3, 3, kAllComponents, RotationParameters::EulerRates},
    {NodeSpace::Space, 3, NodeGroup::SO3, 3, kAllComponents, RotationParameters::CardanRates},
    {NodeSpace::Space, 3, NodeGroup::SO3, 3, kAllComponents, RotationParameters::CardanVelocities},
    {NodeSpace::Space, 0, NodeGroup::SO3, 0, kAllComponents + 3, RotationParameters::EulerRates},
    {NodeSpace::Space, 0, NodeGroup::SO3, 0, kAllComponents + 3, RotationParameters::CardanRates},
    {NodeSpace::Space, 0, NodeGroup::SO3, 0, kAllComponents + 3, RotationParameters::CardanVelocities},
};
static_assert(std::size(kNodeTraits) == static_cast<std::size_t>(NodeType::CardanBody) + 1);
constexpr const NodeTraits& traits(NodeType type) { return kNodeTraits[static_cast<std::size_t>(type)]; }

constexpr bool is_conventional(NodeType type) { return traits(type).parameters != RotationParameters::None; }
constexpr bool has_euler_parameters(NodeType type) {
  return traits(type).parameters == RotationParameters::EulerRates;
}
constexpr bool has_cardan_rates(NodeType type) {
  return traits(type).parameters == RotationParameters::CardanRates;
}
constexpr bool has_cardan_angles(NodeType type) {
  return is_conventional(type) && !has_euler_parameters(type);
}
constexpr bool is_planar(NodeType type) { return traits(type).space == NodeSpace::Plane; }
constexpr bool is_scalar(NodeType type) { return traits(type).space == NodeSpace::Scalar; }
// Increments add up: T = 1.
constexpr bool is_vector_space(NodeType type) { return traits(type).group == NodeGroup::None; }
// A body that only turns about a fixed point.
constexpr bool only_turns(NodeType type) {
  return traits(type).linear == 0 && traits(type).has_rotation_group();
}
// The velocity of its point is in body axes: SE(3), SE(2).
constexpr bool moves_in_body_axes(NodeType type) {
  return traits(type).group == NodeGroup::SE3 || traits(type).group == NodeGroup::SE2;
}
constexpr const std::uint8_t* components(NodeType type) { return traits(type).components; }
constexpr int place_count(NodeType type) { return traits(type).places; }
// Where the three velocities of a rotation in space begin that is a group of its own, -1: the node has none.
constexpr int rotation_start(NodeType type) {
  return traits(type).has_rotation_group() ? traits(type).linear : -1;
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
  int q, v, tangent;
};
constexpr NodeSize node_size(NodeType type) {
  const NodeTraits& t = traits(type);
  return {t.q(), t.v(), t.tangent()};
}

template <class S>
SO3<S> rotation_of(const S* q) {
  return SO3<S>::from_coordinates(Eigen::Map<const Eigen::Matrix<S, 4, 1>>(q + 3));
}
template <class S>
void store_rotation(const SO3<S>& rotation, S* q) {
  Eigen::Map<Eigen::Matrix<S, 4, 1>>(q + 3) = rotation.coordinates();
}

// Rotation by an angle about z.
template <class S>
Mat3T<S> turn_in_plane(const S& angle) {
  using std::cos, std::sin;
  const S c = cos(angle), s = sin(angle);
  Mat3T<S> R = Mat3T<S>::Identity();
  R(0, 0) = R(1, 1) = c;
  R(0, 1) = -s;
  R(1, 0) = s;
  return R;
}

// (x, y, angle) `from` moved by an element of SE(2) on the right. The angle is a plain sum, so that it counts turns and cannot
// drift off the group.
template <class S>
void move_in_plane(const S* from, const SE2<S>& step, const S& turn, S* to) {
  using std::cos, std::sin;
  const S c = cos(from[2]), s = sin(from[2]);
  const S x = step.position()(0), y = step.position()(1);
  to[0] = from[0] + (c * x - s * y);
  to[1] = from[1] + (s * x + c * y);
  to[2] = from[2] + turn;
}

// Pose, twist and acceleration of the node's frame. A state's frame stands still; V_0 is x and A_0 is x'.
template <class S>
Motion<S> node_motion(NodeType type, const S* q, const S* v, const S* vdot) {
  using V3 = Eigen::Map<const Vec3T<S>>;
  Motion<S> m;
  if (is_planar(type)) {
    m.R = turn_in_plane(q[2]);
    m.p << q[0], q[1], S(0);
    m.V[5] = v[2];
    m.A[5] = vdot[2];
    if (moves_in_body_axes(type)) {
      for (int i = 0; i < 2; ++i) m.V[i] = v[i], m.A[i] = vdot[i];
      return m;
    }
    // d/dt (R^T u) = R^T udot - Omega x R^T u
    const S &c = m.R(0, 0), &s = m.R(1, 0);
    m.V[0] = c * v[0] + s * v[1];
    m.V[1] = c * v[1] - s * v[0];
    m.A[0] = c * vdot[0] + s * vdot[1] + v[2] * m.V[1];
    m.A[1] = c * vdot[1] - s * vdot[0] - v[2] * m.V[0];
    return m;
  }
  if (is_scalar(type)) {
    m.V[components(type)[0]] = v[0];
    m.A[components(type)[0]] = vdot[0];
    return m;
  }
  m.p = V3(q);
  const int places = place_count(type);
  switch (traits(type).group) {
    case NodeGroup::None:
      m.V.template head<3>() = V3(v);
      m.A.template head<3>() = V3(vdot);
      break;
    case NodeGroup::SE3:
      m.R = rotation_of(q).R();
      m.V = Eigen::Map<const Vec6T<S>>(v);
      m.A = Eigen::Map<const Vec6T<S>>(vdot);
      break;
    case NodeGroup::SO3: {
      m.R = rotation_of(q).R();
      const Vec3T<S> Omega = V3(v + places);
      m.V.template tail<3>() = Omega;
      m.A.template tail<3>() = V3(vdot + places);
      if (places == 0) break;
      const Vec3T<S> U = m.R.transpose() * V3(v);
      m.V.template head<3>() = U;
      // d/dt (R^T u) = R^T udot - Omega x R^T u
      m.A.template head<3>() = m.R.transpose() * V3(vdot) - Omega.cross(U);
      break;
    }
    case NodeGroup::SpatialSO3: {
      m.R = rotation_of(q).R();
      const Vec3T<S> omega = V3(v + places);
      m.V.template tail<3>() = m.R.transpose() * omega;
      m.A.template tail<3>() = m.R.transpose() * V3(vdot + places);
      if (places == 0) break;
      // d/dt (R^T u) = R^T (udot - omega x u),  d/dt (R^T omega) = R^T omegadot
      const Vec3T<S> u = V3(v);
      m.V.template head<3>() = m.R.transpose() * u;
      m.A.template head<3>() = m.R.transpose() * (V3(vdot) - omega.cross(u));
      break;
    }
    case NodeGroup::SE2: break;  // above
  }
  return m;
}

// r = H^T W, added to the node's equations.
template <class S>
void add_wrench(NodeType type, const Pose<S>& pose, const Vec6T<S>& W, S* r) {
  if (is_scalar(type)) {
    r[0] += W[components(type)[0]];
    return;
  }
  Eigen::Map<Vec3T<S>> first(r);
  switch (traits(type).group) {
    case NodeGroup::None:
      if (is_planar(type)) {
        const S c = pose.R(0, 0), s = pose.R(1, 0);
        first += Vec3T<S>(c * W[0] - s * W[1], s * W[0] + c * W[1], W[5]);
      } else {
        first += W.template head<3>();
      }
      break;
    case NodeGroup::SE2: first += Vec3T<S>(W[0], W[1], W[5]); break;
    case NodeGroup::SE3: Eigen::Map<Vec6T<S>>(r) += W; break;
    case NodeGroup::SO3:
    case NodeGroup::SpatialSO3: {
      const int places = place_count(type);
      if (places > 0) first += pose.R * W.template head<3>();
      Eigen::Map<Vec3T<S>> rotation(r + places);
      if (traits(type).group == NodeGroup::SO3)
        rotation += W.template tail<3>();
      else
        rotation += pose.R * W.template tail<3>();
      break;
    }
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
Seeds node_seeds(NodeType type, const Motion<double>& m, const double* E, const double* E_rate,
                 const Seeding& s);

// H is block diagonal; these say which of its parts are R^T instead of 1.
constexpr bool turns_translation(NodeType type) {
  return traits(type).linear > 1 && (is_planar(type) || traits(type).has_rotation_group());
}
constexpr bool turns_rotation(NodeType type) { return traits(type).group == NodeGroup::SpatialSO3; }

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

// Dynamics of a tree by recursions over its links: the cost grows with the number of links, not with its cube.
//
// Links without coordinates are part of the link that carries them. Every other link has its origin on its joint and the axes of the joint's frame behind the
// motion, so that the directions S of its motion are axes of its own. All vectors are in inertial axes, which leaves displacements r from the origin of the
// parent as the only transformation between links. With the accelerations a of the origin and alpha of the link,
//
//   w = w_p + S_r v                      alpha = alpha_p + S_r vdot + w_p x S_r v
//   u = u_p + w_p x r + S_t v            a = a_p + alpha_p x r + S_t vdot + w_p x (w_p x r + 2 S_t v)
//   f = m a + alpha x h + w x (w x h)    n = h x a + J alpha + w x J w
//
// where m, h, J are mass, first moment and inertia about the origin. Weight is the acceleration -g of the ground.
#pragma once

#include <vector>

#include "liedyn/model/model.h"

namespace liedyn {

// Mass, first moment m c and inertia J about a point.
struct RigidMass {
  double mass = 0;
  Vec3 moment = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
};

class TreeRecursion {
 public:
  // All links of the tree and their bodies; first-order states are left out.
  explicit TreeRecursion(const Model& model);

  // The geometry of the links from the constants of the elements. Bodies are without mass until add_inertia().
  void set_geometry(const double* constants);
  // Of a body, about its reference point in its own axes.
  void add_inertia(int body, const RigidMass& inertia);

  // Poses and velocities of the links. Forces on them start with those of their rotation.
  void move(const double* q, const double* v);
  // Pose and twist of a body; its acceleration is zero.
  void body_motion(int body, Motion<double>& out) const;
  // Adds what elements add to the residual of a body, in its axes.
  void add_wrench(int body, const Vec6& W);

  // After move(): the accelerations under the weight, the wrenches added and the generalised forces tau (may be null). Returns -1, or the index of the
  // velocity that has no inertia.
  int accelerate(const Vec3& gravity, const double* tau, double* vdot);
  // After move(): the generalised forces that give the accelerations vdot (null: none) against the weight and the wrenches added.
  void forces(const Vec3& gravity, const double* vdot, double* tau);
  // After move(): M, symmetric, column by column; nv x nv, of velocities that are no states.
  void mass_matrix(double* M, int stride);

  // After move(): velocity columns of a body's point `at` (inertial axes): u = J_t v, w = J_r v, 6 x nv column by column.
  void jacobian(int body, const Vec3& at, double* J) const;
  // Mass, centre of mass and momentum of all bodies, about the inertial origin.
  struct Whole {
    double mass = 0;
    Vec3 center = Vec3::Zero(), linear = Vec3::Zero(), angular = Vec3::Zero();
  };
  Whole whole() const;

  int links() const { return static_cast<int>(links_.size()); }
  int velocities() const { return nv_; }

 private:
  struct Link {
    LinkKind kind = LinkKind::Root;
    NodeType type = NodeType::R3xSO3;
    int parent = -1;
    int q = 0, v = 0, size = 1;
    int root = -1;  // index among the roots
    // Constants: the joint's frame in the axes of the parent, and the mass of all bodies that the link carries.
    Mat3 R_joint = Mat3::Identity();
    Vec3 p_joint = Vec3::Zero();
    RigidMass own;
    // Pose and velocity; the axis of the joint, and what its rate adds to u and w.
    Mat3 R = Mat3::Identity();
    Vec3 r = Vec3::Zero(), o = r, z = r, w = r, u = r;
    Vec3 c_t = r, c_r = r;  // accelerations but for those of the parent and vdot
    // (f, n) = [A B; B^T C] (a, alpha) + (p_t, p_r): of the link, then of the articulated body behind the joint.
    Vec3 h = r;
    Mat3 A = Mat3::Zero(), B = A, C = A;
    Vec3 p_t = r, p_r = r;
    // What eliminating vdot takes: the inertia times S, u = tau - S^T p, and 1/(S^T I S).
    Vec3 U_t = r, U_r = r;
    double force = 0, inverse = 0;
    Vec3 a = r, alpha = r;
  };
  struct Root {
    Mat6 S = Mat6::Zero();     // directions of the velocities, one column each
    Vec6 bias = Vec6::Zero();  // (a, alpha) at vdot = 0
  };
  struct Carried {
    int link = -1;  // -1: ground
    Mat3 R = Mat3::Identity();
    Vec3 p = Vec3::Zero();
  };

  void move_root(Link& link, const double* q, const double* v);
  static void start_inertia(Link& link);
  static bool eliminate(Link& link, const double* tau);
  static bool eliminate_rotation(Link& link, const double* tau);
  static void pass_inertia(const Link& link, Link& parent);
  static void pass_point_inertia(const Link& link, Link& parent);
  static void pass_force(const Link& link, Link& parent);
  bool accelerate_root(Link& link, const Vec3& gravity, const double* tau, double* vdot) const;
  // (a, alpha) of a link but for S vdot.
  void carry_acceleration(Link& link, const Vec3& gravity) const;
  // S of the k-th velocity of a link, at its origin.
  Vec6 direction(const Link& link, int k) const;

  const Model* model_;
  std::vector<Link> links_;  // with coordinates, parents first
  std::vector<Root> roots_;
  std::vector<Carried> carried_;  // links of the tree: which of these they belong to, and where
  int nv_ = 0;
};

}  // namespace liedyn

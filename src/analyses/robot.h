// What controllers and planners ask of a robot: dynamics and kinematics as functions of joint coordinates, for models whose joints form a tree.
//
//   tau = M(q) a + g(q, v)
//
// with M by composite bodies, tau by recursive Newton-Euler equations and a by the articulated-body recursion (theory/11). Coordinates q count from the zero of
// each joint, second body relative to the first, as sensors and drives count. A joint that rotates about a point has a unit quaternion (w, x, y, z), a body that no
// joint holds its position and such a quaternion; their velocities are three numbers each, of rotations in body axes.
//
// The forces g are those of gravity, of the velocities and of all forces of the model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "liedyn/system/tree_dynamics.h"

namespace liedyn {

class Robot {
 public:
  // In minimal coordinates, whatever the formulation of the system is. Throws InputError for models with closed loops or other constraints, and for those with
  // bodies that are not rigid or forces that depend on accelerations.
  explicit Robot(const System& system);
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  int nq() const { return static_cast<int>(coordinate_names_.size()); }
  int nv() const { return static_cast<int>(velocity_names_.size()); }
  const std::vector<std::string>& coordinate_names() const { return coordinate_names_; }  // "shoulder"
  const std::vector<std::string>& velocity_names() const { return velocity_names_; }
  // The configuration of the model file.
  const std::vector<double>& initial_q() const { return initial_q_; }
  // Of forces that depend on time; the start of the model's simulation until it is set.
  void set_time(double t) { state_.t = t; }

  // Arrays have nq or nv numbers; M is nv x nv. Without `forces` the model's own are left out, except gravity.
  void inverse_dynamics(const double* q, const double* v, const double* a, double* tau, bool forces = true);
  // Throws NumericalError where a joint has no inertia.
  void forward_dynamics(const double* q, const double* v, const double* tau, double* a, bool forces = true);
  void mass_matrix(const double* q, double* M);
  void bias(const double* q, const double* v, double* tau, bool forces = true);
  void gravity(const double* q, double* tau);

  // A body (at its reference point, in its axes) or a joint (at its point, on the second body). Names may begin with "bodies." or "joints.".
  // Throws InputError. `at` is in the axes of the frame.
  struct Frame {
    int body = -1;  // -1: ground
    Pose<double> offset;
  };
  Frame frame(const std::string& name, const Vec3& at = Vec3::Zero()) const;
  Pose<double> frame_pose(const Frame& frame, const double* q);
  // Velocity and angular velocity of the frame per velocity, inertial axes: 6 x nv, column by column.
  void frame_jacobian(const Frame& frame, const double* q, double* J);
  double mass() const;
  Vec3 center_of_mass(const double* q);
  // Linear momentum, then angular momentum about the centre of mass, inertial axes.
  Vec6 momentum(const double* q, const double* v);

  // Where a frame shall be. Without a rotation only its position counts.
  struct Target {
    Frame frame;
    Vec3 position = Vec3::Zero();
    bool turns = false;
    Mat3 rotation = Mat3::Identity();
  };
  struct InverseKinematics {
    std::vector<double> lower, upper;  // per coordinate; empty: no limits. Those of quaternions do not count
    double tolerance = 1e-9;           // of positions [m] and rotations [rad]
    int iterations = 100;              // of one attempt
    int attempts = 20;                 // from other configurations, where the first fails
  };
  struct Solution {
    std::vector<double> q;
    double position_error = 0, rotation_error = 0;  // the largest of all targets [m, rad]
    int iterations = 0;
    bool converged = false;
  };
  // Damped least squares within the limits. Throws InputError for limits without room.
  Solution inverse_kinematics(const std::vector<Target>& targets, const double* start,
                              const InverseKinematics& options);

 private:
  struct Coordinate {
    int q = 0;                  // in the state; a quaternion or a position has several, one after the other
    int v = -1;                 // of a scalar
    double sign = 1, zero = 0;  // x = sign q + zero
  };

  int node_of(int velocity) const;
  const Link& link_of(int velocity) const;
  void name_coordinates();
  void find_zeros();
  void find_angles();
  void set(const double* q, const double* v);
  void set_tree_coordinates(const double* q);
  double residual_of(const std::vector<Target>& targets, Eigen::VectorXd& residual, Solution* errors);
  Solution attempt(const std::vector<Target>& targets, const std::vector<double>& start,
                   const InverseKinematics& options);
  std::vector<double> coordinates_of_state() const;

  System system_;
  Work work_;
  TreeDynamics dynamics_;
  State state_;
  std::vector<Coordinate> coordinates_;
  std::vector<double> signs_;  // per velocity
  std::vector<std::string> coordinate_names_, velocity_names_;
  std::vector<double> initial_q_;
  struct Angle {
    int index;       // in State::angles
    int coordinate;  // that it follows
  };
  std::vector<Angle> angles_;
  std::vector<double> scratch_;
};

}  // namespace liedyn

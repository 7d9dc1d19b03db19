// Natural scales. A model may hold mechanisms of very different size and mass, in any system of units: what is small is decided for each subsystem, that is for the
// bodies that joints and forces connect, and for forces and torques apart (docs/theory/04_corrector.md).
#pragma once

#include <vector>

#include "liedyn/base/archive.h"
#include "liedyn/system/system.h"

namespace liedyn {

struct Subsystems {
  std::vector<int> of_body;  // per body (Model::bodies)
  std::vector<int> of_node;  // per node; -1: a first-order state
  std::vector<int> of_row;   // -1: a row between points of the ground
  // Diameter of the ball around the bodies and joints as drawn, wherever that is. Where all of them are at one point, the points where forces act count too, then
  // twice the largest radius of gyration; 0 where nothing has a size.
  std::vector<double> length;
  int count() const { return static_cast<int>(length.size()); }
  void archive(Archive& a) { a(of_body, of_node, of_row, length); }
};
Subsystems subsystems(const System& system, Work& work);

// dr/dvdot of each body's own motion, in its six components (0 where it cannot move).
std::vector<Mat6> body_inertias(const System& system, const State& at, Work& work);

// Per body: sums of the magnitudes of the forces, and of the torques about its point, that elements add to its equations. In absolute coordinates.
struct Acting {
  double force = 0, torque = 0;
};
void acting_forces(const System& system, const State& at, Work& work, std::vector<Acting>& out);

// Per row: no translation of a body changes it, so that it holds an angle and its multiplier is a torque.
std::vector<bool> rows_of_angles(const System& system, const State& at, Work& work);

// What the equations of motion are sums of. Velocities of different kinds compare by their inertia: with the mass matrix M and
//
//   a = the largest, over the velocities of a body, of sqrt(M_ii) times acceleration or gravity,      scale of r_i = sqrt(M_ii) a,
//
// forces are compared with m |acceleration| and torques with m rho |acceleration|, rho the radius of gyration or the lever of a joint's force. The nodes of a beam or a flexible body share the largest
// a of them, since each carries the forces of the others. What has no inertia is compared with the largest of its subsystem.
class NaturalScales {
 public:
  NaturalScales(const System& system, const State& at, Work& work);

  // At the state evaluated last.
  void update(const Work& work);
  const std::vector<double>& forces() const { return forces_; }                // per velocity; of states 0
  const std::vector<double>& accelerations() const { return accelerations_; }  // per velocity; of states 0
  const std::vector<double>& rows() const { return rows_; }                    // accelerations, per row
  const std::vector<bool>& is_angle() const { return angle_; }                 // per row
  // Per subsystem: the largest distance of its bodies from the origin, to which places are rounded; at least its length.
  const std::vector<double>& farthest() const { return farthest_; }
  const Subsystems& parts() const { return parts_; }
  void archive(Archive& a) {
    a(parts_, inertia_, roots_, lever_, sharing_, joints_, joint_bodies_, angle_, of_body_, a_, largest_,
      farthest_, forces_, accelerations_, rows_);
  }

 private:
  struct Inertia {
    double mass = 0, turning = 0,
           widest = 0;  // square roots of the mass and of the least and the largest moment of inertia
  };
  struct Scale {
    double force = 0, torque = 0, acceleration = 0, turning = 0;
    void include(const Scale& other);
  };
  // Rows of one joint, and the bodies that they hold.
  struct Joint {
    int first_row, rows, first_body, bodies;
  };
  struct JointBody {
    int body;
    double
        swing;  // acceleration of the joint over that of the body's point, where it turns about the axis of its largest moment of inertia; at least 1
  };
  void set_inertia(const System& system, const State& at, Work& work);
  void share_along_beams(Work& work);
  void set_joints(const System& system, const State& at, Work& work);
  void set_levers(const Node& node, const Vec3& arm, bool holds_angles);
  void update_bodies(const Work& work);
  void update_nodes();
  void update_tree(const Work& work);

  const Model* model_;
  Subsystems parts_;
  std::vector<Inertia> inertia_;           // per body
  std::vector<double> roots_;              // sqrt(M_ii) per velocity in absolute coordinates; 0: no inertia
  std::vector<double> lever_;              // of the forces of joints about a velocity's axis, in body axes
  std::vector<std::vector<int>> sharing_;  // bodies with a common a
  std::vector<Joint> joints_;
  std::vector<JointBody> joint_bodies_;
  std::vector<bool> angle_;     // per row
  std::vector<Scale> of_body_;  // per body
  std::vector<double> a_;       // per body
  std::vector<Scale> largest_;  // per subsystem
  std::vector<double> farthest_;
  std::vector<Scale> behind_;  // per link of the tree: of all bodies behind it
  std::vector<Vec3> place_;    // per link
  std::vector<double> forces_, accelerations_, rows_;
};

}  // namespace liedyn

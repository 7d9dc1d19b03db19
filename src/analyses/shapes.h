// Deformed shapes of all bodies, with displacements and stresses of flexible ones: what programs for pictures show.
//
// Points are the nodes of finite elements, the nodes of exact beams and the reference points of rigid bodies; cells are the elements, and the points of rigid bodies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

class Shapes {
 public:
  explicit Shapes(const System& system);
  ~Shapes();
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  // Nodes of a cell in the order of Gmsh: 1 a point, 2 a line, 3 a line with a node between (ends first), 4 or 10 a tetrahedron, 8 a hexahedron.
  struct Cell {
    std::vector<int> points;
    int body;  // index in bodies()
  };
  const std::vector<Cell>& cells() const { return cells_; }
  // Names; of an exact beam and of a flexible body one for all of it.
  const std::vector<std::string>& bodies() const { return bodies_; }
  int points() const { return points_; }

  struct Values {
    Eigen::Matrix3Xd places, velocities;  // of the points, inertial axes
    // Elastic displacements, inertial axes: relative to the floating frame; of exact beams relative to the relaxed shape that moves with
    // their first node; zero of rigid bodies.
    Eigen::Matrix3Xd displacements;
    Eigen::Matrix<double, 6, Eigen::Dynamic>
        stresses;  // of the cells: xx, yy, zz, yz, xz, xy, body axes; zero likewise
  };
  Values at(const State& state);
  // Displacements of the points in a small motion of the bodies, y as in Mode::shape, to first order. Not in minimal coordinates.
  Eigen::Matrix3Xd displaced(const State& state, const Eigen::VectorXd& y);

 private:
  struct Flexible;
  void add_bodies();
  void add_flexible();

  const System* system_;
  Work work_;
  int points_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::string> bodies_;
  std::vector<std::pair<int, int>>
      single_;  // point and body of the model, of rigid bodies and nodes of beams
  // Nodes of exact beams: the first one of the beam, and the place in its axes while the beam is relaxed.
  struct BeamPoint {
    int point, body, first;
    Vec3 relaxed;
  };
  std::vector<BeamPoint> beam_points_;
  std::vector<std::unique_ptr<Flexible>> flexible_;
};

// Von Mises' equivalent stress.
double equivalent_stress(const Vec6& stress);

}  // namespace liedyn

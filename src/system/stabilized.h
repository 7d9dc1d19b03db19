// What the stabilised index-2 form (Gear, Gupta, Leimkuhler on Lie groups: Arnold, Cardona, Brüls, Eqs. (55), (56)) adds to the
// linear system: a second set of multipliers eta that moves the nodes by -h B(q_n)^T eta, and the constraints at velocity level.
//
//   | s (M E + c_v C E + K)   B^T   s (M + c_v C) P B_n^T |  | d           |      | s r            |
//   |          B               0            0              |  | s dlambda   |  = - | Phi            |
//   | k (Z + c_v B E)          0     k c_v B P B_n^T       |  | h deta      |      | k (B v + Phi_t)|
//
// with P = (c_1 T + c_2 c_v)^-1 node by node, B_n = B(q_n), k = s/c_v.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/system/system.h"

namespace liedyn {

class StabilizedColumns {
 public:
  StabilizedColumns(const System& system, const LinearSolver& solver);

  // B_n at the reference state (its q, t).
  void set_reference(const System& system, const State& reference, Work& work);
  // drift = h B_n^T eta, one number per velocity.
  void drift(const System& system, double h, const std::vector<double>& eta, std::vector<double>& out) const;
  // Adds the columns of eta to the matrix that System::jacobian has just assembled at the state. `response(node, change)` says
  // how the node's accelerations and velocities follow a change of its drift.
  template <class Response>
  void add(const System& system, const State& at, const Stage& stage, const Response& response, Work& work) {
    respond(system, response);
    add_columns(system, at, stage, work);
  }
  const std::vector<std::vector<BlockRef>>& rate_blocks() const { return rate_blocks_; }

 private:
  // One frame of one joint on a node.
  struct Side {
    int node;
    int rows;
    int multiplier;     // index of the joint's first row
    int matrix;         // index of its B in matrices_, rows x 6
    int joint;          // running number of the joint
    int velocity_rows;  // the last of its rows
  };
  // target += block(values) * response
  struct Product {
    BlockRef source;  // in inertia_, for rows of a node
    int rows_node;    // node of the rows, or -1
    int side_rows;    // for rows of a joint: its side on the node, or -1
    int side;         // whose eta
    BlockRef target;
    int first_row = 0;  // of the target
  };

  template <class Response>
  void respond(const System& system, const Response& response) {
    for (const Side& side : sides_) {
      const Node& node = system.model().nodes[static_cast<std::size_t>(side.node)];
      for (int r = 0; r < side.rows; ++r) {
        Vec6 y;
        for (int c = 0; c < 6; ++c)
          y[c] = matrices_[static_cast<std::size_t>(side.matrix + r + c * side.rows)];
        const DriftResponse change = response(node, y);
        const auto first = static_cast<std::size_t>(side.matrix + 6 * r);
        Eigen::Map<Vec6>{&responses_[first]} = change.acceleration;
        Eigen::Map<Vec6>{&rate_responses_[first]} = change.velocity;
      }
    }
  }
  void add_columns(const System& system, const State& at, const Stage& stage, Work& work);

  std::vector<Side> sides_;
  std::vector<Product> products_;
  std::vector<std::vector<BlockRef>> rate_blocks_;     // per list of blocks: (velocity rows, frame i)
  std::vector<std::vector<BlockRef>> inertia_blocks_;  // per list: blocks in inertia_
  std::vector<double> inertia_;                        // s (M + c_v C), node by node; or only s M,
  std::vector<double> damping_;                        // and s c_v C
  std::vector<double> matrices_;                       // B_n of each side
  std::vector<double> now_;                            // B of each side
  std::vector<double> responses_;                      // P B_n^T of each side, 6 x rows: how vdot follows eta
  std::vector<double> rate_responses_;  // the same of v / c_v, which differs in parameter space
};

}  // namespace liedyn

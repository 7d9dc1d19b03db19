// The matrices of a model in minimal coordinates (model/tree.h). Elements give their partial derivatives with respect to the increments,
// twists and accelerations of the bodies, as for nodes on SE3; here they are gathered and projected on the coordinates of the joints,
// together with the derivatives of the recursion itself:
//
//   dX = Ad dX_parent + S dq
//   dV = Ad dV_parent + S dv + [Ad V_parent, S dq]
//   dA = Ad dA_parent + S dvdot + [V, S dv] + [Ad A_parent, S dq] - [S v, dV]
//   df = dW + sum over children Ad_child^T (df_child - ad(S_child dq_child)^T f_child),    dr = S^T df
//
// K, C, M of the bodies behind a link are summed into those of one composite body, so that the cost is that of the blocks of the matrix.
#pragma once

#include <utility>
#include <vector>

#include "liedyn/model/model.h"

namespace liedyn {

class TreeAssembly {
 public:
  // `links`: the motions of the links, and the forces f behind them once these are gathered (evaluation.h: move_links, project_wrenches).
  TreeAssembly(const Model& model, const TreeMotion& links);

  // Residuals and partial derivatives of the elements, as far as the seeding needs them; `after_bodies` is called once the wrenches
  // of the bodies (the first `body_batches` batches) are there. Without `rows`, joints are left out.
  template <class AfterBodies>
  void evaluate(const Evaluation& at, const Seeding& seeding, bool rows, std::size_t body_batches,
                const AfterBodies& after_bodies) {
    begin(seeding);
    for (std::size_t b = 0; b < model_->batches.size(); ++b) {
      evaluate_batch(at, static_cast<int>(b), seeding, rows);
      if (b + 1 == body_batches) after_bodies();
    }
  }

  // Adds the equations of the nodes to the matrix: blocks in the order of for_each_tree_block (system/layout.h). After evaluate() with the
  // same seeding, and once the forces are gathered.
  void add_forces(const Seeding& seeding, const double* tangent, const double* rate_tangent, double* values,
                  const BlockRef* refs);
  // Adds the constraint rows of a level, and B^T beside them: for each frame of each joint and each node it depends on, the blocks
  // (rows, node) and (node, rows). Then what forces have in the columns of multipliers. `velocity_row` is the seeding of rows that are at
  // velocity level where the others are not.
  void add_rows(RowLevel level, const Seeding& row, const Seeding& velocity_row, const double* tangent,
                const double* rate_tangent, double* values, const BlockRef* refs);
  // Velocity rows alone: blocks (rows, node).
  void add_rate_rows(const Seeding& rate, const double* tangent, const double* rate_tangent, double* values,
                     const BlockRef* refs);
  // B with respect to the nodes, from B with respect to the bodies as batches give it.
  void constraint_matrices(const Evaluation& at, double* out);

 private:
  struct Column {
    Vec6 J, V, A;  // dX/dq, and how twist and acceleration follow the unknown
  };
  struct Partials {
    std::vector<double> K, C, M;  // 6 x 6 per body and per coupled pair; then the rows of joints
  };
  struct Composite {
    Mat6 K, C, M;
  };
  // A frame of a joint that keeps its rows.
  struct Side {
    int link;
    int rows;
    int velocity_rows;  // the last of them are at velocity level in every index form
    int Z;              // index of its derivative of the rate, rows x 6
    int transpose;      // index of B^T, 6 x rows
  };
  // A frame of a force that depends on multipliers.
  struct Load {
    int link;
    int multipliers;
    int partials;  // index of dW/dlambda, 6 x multipliers
  };
  struct Pair {
    int row, column;  // links
    int partials;     // index of its blocks
  };

  const Node& node_of(int link) const;
  int columns_of(int link) const {
    return first_column_[static_cast<std::size_t>(link) + 1] - first_column_[static_cast<std::size_t>(link)];
  }
  void begin(const Seeding& seeding);
  void evaluate_batch(const Evaluation& at, int batch, const Seeding& seeding, bool rows);
  void fill_columns(const Seeding& seeding, const double* tangent, const double* rate_tangent);
  // Adds the rows first to last of a side, at a level, to the blocks (rows, node); `step` of them from one node to the next.
  void add_side(const Side& side, int first, int last, RowLevel level, double q, double* values,
                const BlockRef* refs, int step) const;
  void fill_own_columns(int link, const Seeding& seeding, const double* tangent, const double* rate_tangent,
                        Column* own);

  const Model* model_;
  const TreeMotion& at_;
  std::vector<int> first_column_;  // per link, and the end
  std::vector<Column> columns_;    // per link: of the velocities along its path
  std::vector<Composite> composite_;
  std::vector<std::vector<BlockRef>> blocks_;  // per batch: into the arrays of Partials
  std::vector<Pair> pairs_;
  std::vector<Side> sides_;
  std::vector<Load> loads_;
  Partials partials_;
  const double* with_rows_ = nullptr;  // the array of Partials that holds the rows
  std::vector<Vec6> scratch_;          // wrenches that are there already
  std::vector<double> body_matrices_;  // B with respect to the bodies
};

}  // namespace liedyn

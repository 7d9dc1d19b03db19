// The numbering of the linear system and its sparsity, from the model's structure alone.
//
// Unknowns: the velocities of the nodes, the multipliers of the rows, and in the stabilised form a second multiplier per row.
// Blocks: one per node, one per joint, and in the stabilised form one more per joint.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "liedyn/model/model.h"
#include "liedyn/system/linear.h"

namespace liedyn {

// How constraints are imposed: Phi = 0; B v + Phi_t = 0; or both, with eta (Gear, Gupta, Leimkuhler).
enum class IndexForm { Index3, Index2, Stabilized };

// Visits (batch, element, number of the joint or of the next joint).
template <class Visit>
void for_each_element(const Model& model, Visit&& visit) {
  int joint = 0;
  for (std::size_t b = 0; b < model.batches.size(); ++b)
    for (int e = 0; e < model.batches[b]->size(); ++e) {
      visit(static_cast<int>(b), e, joint);
      if (model.batches[b]->coupling().rows > 0) ++joint;
    }
}

// The node of a frame, -1: ground. In minimal coordinates its body; the frame depends on the nodes along the path to that.
inline int node_of_frame(const Model& model, const Batch& batch, int element, int frame) {
  const auto index = static_cast<std::size_t>(element * batch.coupling().frames + frame);
  return model.frames[static_cast<std::size_t>(batch.frames[index])].node;
}

// The pairs of nodes that the forces of one element couple, in the order of Batch::blocks_per_element; -1 is ground.
template <class Visit>
void for_each_force_block(const Model& model, const Batch& batch, int element, Visit&& visit) {
  const Coupling c = batch.coupling();
  const auto node = [&](int i) { return node_of_frame(model, batch, element, i); };
  if (c.across) {
    for (int i = 0; i < c.frames; ++i)
      for (int j = 0; j < c.frames; ++j) visit(node(i), node(j));
  } else if (c.diagonal) {
    for (int i = 0; i < c.frames; ++i) visit(node(i), node(i));
  }
}

// All pairs of blocks of one element: those of its forces, then those of its rows.
template <class Visit>
void for_each_block(const Model& model, const Batch& batch, int element, int row_block, Visit&& visit) {
  for_each_force_block(model, batch, element, visit);
  const Coupling c = batch.coupling();
  if (c.multipliers > 0)
    for (int i = 0; i < c.frames; ++i)
      visit(node_of_frame(model, batch, element, i),
            static_cast<int>(model.nodes.size()) + batch.joints[static_cast<std::size_t>(element)]);
  if (c.rows == 0) return;
  for (int i = 0; i < c.frames; ++i) visit(row_block, node_of_frame(model, batch, element, i));
  for (int i = 0; i < c.frames; ++i) visit(node_of_frame(model, batch, element, i), row_block);
}

// Visits the nodes that a frame depends on.
template <class Visit>
void for_each_node_of_frame(const Model& model, const Batch& batch, int element, int frame, Visit&& visit) {
  const int node = node_of_frame(model, batch, element, frame);
  if (node < 0) return;
  if (!model.tree) return visit(node);
  const auto link = static_cast<std::size_t>(model.tree->of_body[static_cast<std::size_t>(node)]);
  for (const int inner : model.tree->path[link])
    visit(model.tree->links[static_cast<std::size_t>(inner)].node);
}

// One frame of one joint on one of the nodes that it depends on.
struct JointSide {
  int batch, element, frame, joint;
  int node;
  int rows, velocity_rows;
  int first_row;
  int matrix;  // index of B, rows x 6, in what System::constraint_matrices gives
};
// Visits them in the order of System::constraint_matrices; returns how many numbers that gives.
template <class Visit>
int for_each_side(const Model& model, Visit&& visit) {
  int matrix = 0;
  for_each_element(model, [&](int b, int e, int joint) {
    const Batch& batch = *model.batches[static_cast<std::size_t>(b)];
    const Coupling c = batch.coupling();
    if (c.rows == 0) return;
    for (int i = 0; i < c.frames; ++i) {
      int nodes = 0;
      for_each_node_of_frame(model, batch, e, i, [&](int node) {
        visit(JointSide{b, e, i, joint, node, c.rows, c.velocity_rows, batch.first_row + e * c.rows,
                        matrix + 6 * c.rows * nodes++});
      });
      matrix += 6 * c.rows * (model.tree ? nodes : 1);
    }
  });
  return matrix;
}

// In minimal coordinates: pairs of different bodies that an element couples (row, column), sorted.
std::vector<std::pair<int, int>> coupled_bodies(const Model& model);

// In minimal coordinates, the blocks of the equations of the nodes (row, column): each link with those before it, (before, link) and
// (link, before), at last (link, link); then those of coupled bodies.
template <class Visit>
void for_each_tree_block(const Model& model, Visit&& visit) {
  const Tree& tree = *model.tree;
  const auto node = [&](int link) { return tree.links[static_cast<std::size_t>(link)].node; };
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const int own = tree.links[i].node;
    if (own < 0) continue;
    for (const int inner : tree.path[i]) {
      visit(node(inner), own);
      if (inner != static_cast<int>(i)) visit(own, node(inner));
    }
  }
  const auto path = [&](int body) -> const std::vector<int>& {
    return tree.path[static_cast<std::size_t>(tree.of_body[static_cast<std::size_t>(body)])];
  };
  for (const auto& [row, column] : coupled_bodies(model))
    for (const int l : path(row))
      for (const int k : path(column)) visit(node(l), node(k));
}

// The blocks of the whole matrix by lists: per batch, as for_each_block has them; in minimal coordinates one list of the equations of the
// nodes, and one of the rows, (rows, node) and (node, rows) for each side.
template <class Visit>
void for_each_listed_block(const Model& model, Visit&& visit) {
  const int nodes = static_cast<int>(model.nodes.size());
  if (!model.tree) {
    for_each_element(model, [&](int b, int e, int joint) {
      for_each_block(model, *model.batches[static_cast<std::size_t>(b)], e, nodes + joint,
                     [&](int row, int column) { visit(b, row, column); });
    });
    return;
  }
  for_each_tree_block(model, [&](int row, int column) { visit(0, row, column); });
  for_each_side(model, [&](const JointSide& side) {
    visit(1, nodes + side.joint, side.node);
    visit(1, side.node, nodes + side.joint);
  });
  // Forces that depend on multipliers: (node, rows of the joint).
  for_each_element(model, [&](int b, int e, int) {
    const Batch& batch = *model.batches[static_cast<std::size_t>(b)];
    if (batch.coupling().multipliers == 0) return;
    const int joint = batch.joints[static_cast<std::size_t>(e)];
    for (int i = 0; i < batch.coupling().frames; ++i)
      for_each_node_of_frame(model, batch, e, i, [&](int node) { visit(1, node, nodes + joint); });
  });
}
// The same of the equations of the nodes alone, without the geometric stiffness of joints.
template <class Visit>
void for_each_listed_force_block(const Model& model, Visit&& visit) {
  if (model.tree) {
    for_each_tree_block(model, [&](int row, int column) { visit(0, row, column); });
    return;
  }
  for_each_element(model, [&](int b, int e, int) {
    const Batch& batch = *model.batches[static_cast<std::size_t>(b)];
    if (batch.coupling().rows > 0) return;
    for_each_force_block(model, batch, e, [&](int row, int column) { visit(b, row, column); });
    if (batch.coupling().multipliers > 0)
      for (int i = 0; i < batch.coupling().frames; ++i) visit(b, -1, -1);  // not asked for
  });
}
inline std::size_t block_lists(const Model& model) { return model.tree ? 2 : model.batches.size(); }

int joint_count(const Model& model);
int unknown_count(const Model& model, IndexForm form);
BlockPattern block_pattern(const Model& model, IndexForm form);

}  // namespace liedyn

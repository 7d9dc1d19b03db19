// The numbering of the linear system and its sparsity, from the model's structure alone.
//
// Unknowns: the velocities of the nodes, the multipliers of the rows, and in the stabilised form a second multiplier per row.
// Blocks: one per node, one per joint, and in the stabilised form one more per joint.
#pragma once

#include <cstddef>
#include <utility>

#include "model/model.h"
#include "system/linear.h"

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

int joint_count(const Model& model);
int unknown_count(const Model& model, IndexForm form);
BlockPattern block_pattern(const Model& model, IndexForm form);

}  // namespace liedyn

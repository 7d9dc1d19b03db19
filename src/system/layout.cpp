#include "liedyn/system/layout.h"

#include <algorithm>
#include <vector>

namespace liedyn {

int joint_count(const Model& model) {
  int count = 0;
  for (const auto& batch : model.batches)
    if (batch->coupling().rows > 0) count += batch->size();
  return count;
}

int unknown_count(const Model& model, IndexForm form) {
  return model.nv + (form == IndexForm::Stabilized ? 2 : 1) * model.rows;
}

std::vector<std::pair<int, int>> coupled_bodies(const Model& model) {
  std::vector<std::pair<int, int>> out;
  for_each_element(model, [&](int b, int e, int) {
    for_each_force_block(model, *model.batches[static_cast<std::size_t>(b)], e, [&](int row, int column) {
      if (row >= 0 && column >= 0 && row != column) out.emplace_back(row, column);
    });
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

BlockPattern block_pattern(const Model& m, IndexForm form) {
  const int nodes = static_cast<int>(m.nodes.size()), joints = joint_count(m);
  BlockPattern pattern;
  const auto add_row_blocks = [&](int first) {
    for_each_element(m, [&](int b, int e, int) {
      const Batch& batch = *m.batches[static_cast<std::size_t>(b)];
      const int rows = batch.coupling().rows;
      if (rows > 0) pattern.start.push_back(first + batch.first_row + e * rows);
    });
  };
  for (const Node& node : m.nodes) pattern.start.push_back(node.v);
  add_row_blocks(m.nv);
  if (form == IndexForm::Stabilized) add_row_blocks(m.nv + m.rows);
  pattern.start.push_back(unknown_count(m, form));
  pattern.zero_diagonal.assign(static_cast<std::size_t>(pattern.blocks()), true);
  std::fill_n(pattern.zero_diagonal.begin(), nodes, false);

  for (int i = 0; i < pattern.blocks(); ++i) pattern.add(i, i);
  for_each_listed_block(m, [&](int, int row, int column) {
    if (row >= 0 && column >= 0) pattern.add(row, column);
  });
  if (form != IndexForm::Stabilized) {
    pattern.normalize();
    return pattern;
  }

  // eta of a joint moves its nodes: it enters the equations of every node that their inertia or damping couples to them,
  // and the velocity rows of every joint on them.
  std::vector<std::vector<int>> joints_on(m.nodes.size()), coupled_to(m.nodes.size());
  std::vector<bool> has_velocity_rows(static_cast<std::size_t>(joints));
  for_each_listed_force_block(m, [&](int, int row, int column) {
    if (row >= 0 && column >= 0) coupled_to[static_cast<std::size_t>(column)].push_back(row);
  });
  for_each_side(m, [&](const JointSide& side) {
    joints_on[static_cast<std::size_t>(side.node)].push_back(side.joint);
    pattern.add(nodes + joints + side.joint, side.node);
    has_velocity_rows[static_cast<std::size_t>(side.joint)] = side.velocity_rows > 0;
  });
  for (std::size_t j = 0; j < m.nodes.size(); ++j)
    for (const int joint : joints_on[j]) {
      for (const int i : coupled_to[j]) pattern.add(i, nodes + joints + joint);
      for (const int other : joints_on[j]) {
        pattern.add(nodes + joints + other, nodes + joints + joint);
        // Rows at velocity level stand among those of position.
        if (has_velocity_rows[static_cast<std::size_t>(other)])
          pattern.add(nodes + other, nodes + joints + joint);
      }
    }
  pattern.normalize();
  return pattern;
}

}  // namespace liedyn

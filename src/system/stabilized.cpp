#include "liedyn/system/stabilized.h"

#include <algorithm>

#include "liedyn/base/index.h"

namespace liedyn {

StabilizedColumns::StabilizedColumns(const System& system, const LinearSolver& solver) {
  const Model& m = system.model();
  const int nodes = static_cast<int>(m.nodes.size()), joints = joint_count(m);
  const auto eta_block = [&](int joint) { return nodes + joints + joint; };

  // Pairs of nodes coupled by inertia or damping, each a block of its own in inertia_.
  BlockPattern pairs;
  for_each_listed_force_block(m, [&](int, int row, int column) {
    if (row >= 0 && column >= 0) pairs.add(row, column);
  });
  pairs.normalize();
  std::vector<BlockRef> places;
  int size = 0;
  for (const auto& [column, row] : pairs.pairs) {
    const int height = node_size(m.nodes[at(row)].type).v, width = node_size(m.nodes[at(column)].type).v;
    places.push_back({size, height});
    size += height * width;
  }
  inertia_.assign(at(size), 0);
  damping_.assign(at(size), 0);
  const auto place_of = [&](int row, int column) {
    const auto found =
        std::lower_bound(pairs.pairs.begin(), pairs.pairs.end(), std::pair<int, int>(column, row));
    return places[static_cast<std::size_t>(found - pairs.pairs.begin())];
  };

  inertia_blocks_.resize(block_lists(m));
  for_each_listed_force_block(m, [&](int list, int row, int column) {
    inertia_blocks_[at(list)].push_back(row >= 0 && column >= 0 ? place_of(row, column) : BlockRef{});
  });
  // Of velocity rows: per batch and frame, or in minimal coordinates a list of all sides.
  rate_blocks_.resize(block_lists(m));
  if (!m.tree)
    for (std::size_t b = 0; b < m.batches.size(); ++b)
      if (m.batches[b]->coupling().rows > 0) rate_blocks_[b].resize(m.batches[b]->frames.size());
  std::vector<std::vector<int>> sides_on(m.nodes.size());
  const int matrix = for_each_side(m, [&](const JointSide& side) {
    const BlockRef ref = solver.block(eta_block(side.joint), side.node);
    if (m.tree)
      rate_blocks_[1].push_back(ref);
    else
      rate_blocks_[at(side.batch)]
                  [at(side.element * m.batches[at(side.batch)]->coupling().frames + side.frame)] = ref;
    sides_on[at(side.node)].push_back(static_cast<int>(sides_.size()));
    sides_.push_back({side.node, side.rows, side.first_row, side.matrix, side.joint, side.velocity_rows});
  });
  matrices_.assign(at(matrix), 0);
  now_.assign(at(matrix), 0);
  responses_.assign(at(matrix), 0);
  rate_responses_.assign(at(matrix), 0);

  for (const auto& [column, row] : pairs.pairs)
    for (const int side : sides_on[at(column)])
      products_.push_back(
          {place_of(row, column), row, -1, side, solver.block(row, eta_block(sides_[at(side)].joint))});
  for (const std::vector<int>& on : sides_on)
    for (const int rows : on)
      for (const int side : on) {
        const Side& of = sides_[at(rows)];
        const int column = eta_block(sides_[at(side)].joint);
        products_.push_back({{}, -1, rows, side, solver.block(eta_block(of.joint), column)});
        // Rows at velocity level stand among those of position.
        if (of.velocity_rows > 0)
          products_.push_back(
              {{}, -1, rows, side, solver.block(nodes + of.joint, column), of.rows - of.velocity_rows});
      }
}

void StabilizedColumns::set_reference(const System& system, const State& reference, Work& work) {
  system.constraint_matrices(reference, work, matrices_);
}

void StabilizedColumns::drift(const System& system, double h, const std::vector<double>& eta,
                              std::vector<double>& out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (const Side& side : sides_) {
    const Node& node = system.model().nodes[at(side.node)];
    const std::uint8_t* component = components(node.type);
    for (int c = 0; c < node_size(node.type).v; ++c)
      for (int r = 0; r < side.rows; ++r)
        out[at(node.v + c)] +=
            h * matrices_[at(side.matrix + r + component[c] * side.rows)] * eta[at(side.multiplier + r)];
  }
}

void StabilizedColumns::add_columns(const System& system, const State& state, const Stage& stage,
                                    Work& work) {
  const Model& m = system.model();
  const double s = 1 / stage.rate();
  std::fill(inertia_.begin(), inertia_.end(), 0.0);
  // Where vdot and v / c_v follow alike, one matrix does for both.
  const bool apart = !work.rate_tangent.empty();
  system.inertia_matrix(state, work, {0, apart ? 0 : s * stage.c_v, s}, inertia_.data(), inertia_blocks_);
  if (apart) {
    std::fill(damping_.begin(), damping_.end(), 0.0);
    system.inertia_matrix(state, work, {0, s * stage.c_v, 0}, damping_.data(), inertia_blocks_);
  }
  system.constraint_matrices(state, work, now_);
  double* values = work.solver->values();
  for (const Product& p : products_) {
    const Side& side = sides_[at(p.side)];
    const Node& node = m.nodes[at(side.node)];
    const int inner = node_size(node.type).v;
    const std::uint8_t* component = components(node.type);
    const double* acceleration = &responses_[at(side.matrix)];
    const double* velocity = &rate_responses_[at(side.matrix)];
    const bool forces = p.rows_node >= 0;
    const int height = forces ? node_size(m.nodes[at(p.rows_node)].type).v : sides_[at(p.side_rows)].rows;
    for (int c = 0; c < side.rows; ++c)
      for (int r = p.first_row; r < height; ++r) {
        double sum = 0;
        for (int k = 0; k < inner; ++k) {
          const int to = 6 * c + component[k];
          if (forces) {
            const auto source = at(p.source.offset + r + k * p.source.stride);
            sum += inertia_[source] * acceleration[to];
            if (apart) sum += damping_[source] * velocity[to];
          } else {
            // The factor k c_v of the velocity rows is s.
            sum += s * now_[at(sides_[at(p.side_rows)].matrix + r + component[k] * height)] * velocity[to];
          }
        }
        values[p.target.offset + r + c * p.target.stride] += sum;
      }
  }
}

}  // namespace liedyn

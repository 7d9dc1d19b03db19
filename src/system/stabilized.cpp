#include "system/stabilized.h"

#include <algorithm>

namespace liedyn {
namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

StabilizedColumns::StabilizedColumns(const System& system, const LinearSolver& solver) {
  const Model& m = system.model();
  const int nodes = static_cast<int>(m.nodes.size()), joints = joint_count(m);
  const auto eta_block = [&](int joint) { return nodes + joints + joint; };

  // Pairs of nodes coupled by inertia or damping, each a block of its own in inertia_.
  BlockPattern pairs;
  for_each_element(m, [&](int b, int e, int) {
    if (m.batches[at(b)]->coupling().rows > 0) return;
    for_each_force_block(m, *m.batches[at(b)], e, [&](int row, int column) {
      if (row >= 0 && column >= 0) pairs.add(row, column);
    });
  });
  pairs.normalize();
  std::vector<BlockRef> places;
  int numbers = 0;
  for (const auto& [column, row] : pairs.pairs) {
    const int height = node_size(m.nodes[at(row)].type).v, width = node_size(m.nodes[at(column)].type).v;
    places.push_back({numbers, height});
    numbers += height * width;
  }
  inertia_.assign(at(numbers), 0);
  damping_.assign(at(numbers), 0);
  const auto place_of = [&](int row, int column) {
    const auto found =
        std::lower_bound(pairs.pairs.begin(), pairs.pairs.end(), std::pair<int, int>(column, row));
    return places[static_cast<std::size_t>(found - pairs.pairs.begin())];
  };

  rate_blocks_.resize(m.batches.size());
  inertia_blocks_.resize(m.batches.size());
  std::vector<std::vector<int>> sides_on(m.nodes.size());
  int matrix = 0;
  for_each_element(m, [&](int b, int e, int joint) {
    const Batch& batch = *m.batches[at(b)];
    const Coupling c = batch.coupling();
    if (c.rows == 0) {
      for_each_force_block(m, batch, e, [&](int row, int column) {
        inertia_blocks_[at(b)].push_back(row >= 0 && column >= 0 ? place_of(row, column) : BlockRef{});
      });
      if (c.multipliers > 0) inertia_blocks_[at(b)].resize(inertia_blocks_[at(b)].size() + at(c.frames));
      return;
    }
    for (int i = 0; i < c.frames; ++i, matrix += 6 * c.rows) {
      const int node = node_of_frame(m, batch, e, i);
      rate_blocks_[at(b)].push_back(node >= 0 ? solver.block(eta_block(joint), node) : BlockRef{});
      if (node < 0) continue;
      sides_on[at(node)].push_back(static_cast<int>(sides_.size()));
      sides_.push_back({node, c.rows, batch.first_row + e * c.rows, matrix, joint});
    }
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
      for (const int side : on)
        products_.push_back(
            {{},
             -1,
             rows,
             side,
             solver.block(eta_block(sides_[at(rows)].joint), eta_block(sides_[at(side)].joint))});
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
      for (int r = 0; r < height; ++r) {
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

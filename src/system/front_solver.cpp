#include "liedyn/system/front_solver.h"

#include <metis.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "liedyn/base/index.h"
#include "liedyn/system/block_graph.h"

namespace liedyn {
namespace {

using Graph = std::vector<std::vector<int>>;

// --- The order of elimination ---

// Where each vertex comes in a nested dissection.
std::vector<int> dissection_ranks(const Graph& graph, const std::vector<int>& weights) {
  const int count = static_cast<int>(graph.size());
  std::vector<int> rank(graph.size());
  std::iota(rank.begin(), rank.end(), 0);
  std::vector<idx_t> first = {0}, neighbours;
  for (const std::vector<int>& list : graph) {
    neighbours.insert(neighbours.end(), list.begin(), list.end());
    first.push_back(static_cast<idx_t>(neighbours.size()));
  }
  constexpr int kWorthwhile = 16;
  if (count < kWorthwhile || neighbours.empty()) return rank;
  std::vector<idx_t> weight(weights.begin(), weights.end()), permutation(graph.size()), inverse(graph.size());
  idx_t vertices = count, options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  if (METIS_NodeND(&vertices, first.data(), neighbours.data(), weight.data(), options, permutation.data(),
                   inverse.data()) == METIS_OK)
    std::copy(inverse.begin(), inverse.end(), rank.begin());
  return rank;
}

// Position -> block.
std::vector<int> dissection_order(const Graph& neighbours, const std::vector<bool>& is_joint,
                                  const std::vector<int>& start) {
  const int blocks = static_cast<int>(neighbours.size());
  // Bodies that only joints couple to others need no vertex: they go before the first of their joints. Not those with so many
  // joints that these would be neighbours of too many others.
  constexpr std::size_t kHub = 16;
  const auto is_hub = [&](int i) { return !is_joint[at(i)] && neighbours[at(i)].size() > kHub; };
  std::vector<int> vertex(at(blocks), -1), kept;
  for (int i = 0; i < blocks; ++i) {
    const auto coupled = [&](int j) { return !is_joint[at(j)]; };
    if (is_joint[at(i)] || is_hub(i) ||
        std::any_of(neighbours[at(i)].begin(), neighbours[at(i)].end(), coupled)) {
      vertex[at(i)] = static_cast<int>(kept.size());
      kept.push_back(i);
    }
  }
  Graph graph(kept.size());
  std::vector<int> weights(kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const int i = kept[k];
    weights[k] = start[at(i) + 1] - start[at(i)];
    for (const int j : neighbours[at(i)])
      if (vertex[at(j)] >= 0) graph[k].push_back(vertex[at(j)]);
  }
  for (int i = 0; i < blocks; ++i) {
    if (vertex[at(i)] >= 0) continue;
    for (const int a : neighbours[at(i)])
      for (const int b : neighbours[at(i)])
        if (a != b) graph[at(vertex[at(a)])].push_back(vertex[at(b)]);
  }
  for (std::vector<int>& list : graph) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const std::vector<int> rank = dissection_ranks(graph, weights);

  // Joints wait for the bodies with vertices of their own. Of a hub, as of the ground, they do not, if they hold something else.
  std::vector<int> key(at(blocks), 0);
  for (int i = 0; i < blocks; ++i) {
    if (vertex[at(i)] < 0) continue;
    int last = rank[at(vertex[at(i)])];
    if (is_joint[at(i)]) {
      const bool only_hubs = std::all_of(neighbours[at(i)].begin(), neighbours[at(i)].end(), is_hub);
      for (const int j : neighbours[at(i)])
        if (!is_joint[at(j)] && vertex[at(j)] >= 0 && (only_hubs || !is_hub(j)))
          last = std::max(last, rank[at(vertex[at(j)])]);
    }
    key[at(i)] = 3 * last + (is_joint[at(i)] ? 2 : 0);
  }
  for (int i = 0; i < blocks; ++i) {
    if (vertex[at(i)] >= 0) continue;
    int first = std::numeric_limits<int>::max();
    for (const int j : neighbours[at(i)]) first = std::min(first, key[at(j)] - 1);
    key[at(i)] = neighbours[at(i)].empty() ? 0 : first;
  }
  std::vector<int> order(at(blocks));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[at(a)] < key[at(b)]; });
  return order;
}

// --- The fronts ---

// A group of blocks that are eliminated together, and the rows that they reach.
struct Group {
  std::vector<int> blocks;  // positions of the order
  int rows = 0;             // the position whose structure is that of the group
  int width = 0, height = 0;
  int parent = -1;
  std::vector<int> children;
};

// Time that a front takes, in nanoseconds: what each front costs, arithmetic, and adding up what it leaves.
double front_cost(double width, double height) {
  constexpr double kFront = 400, kOperation = 0.2, kSum = 1;
  return kFront + kSum * height * height +
         kOperation * width * (2.0 / 3 * width * width + 2 * height * (width + height));
}

// Blocks become fronts with their neighbours in the tree wherever one larger front is cheaper than two.
std::vector<Group> group_blocks(const Graph& structure, const std::vector<int>& order,
                                const std::vector<int>& start) {
  const auto size_of = [&](int k) { return start[at(order[at(k)]) + 1] - start[at(order[at(k)])]; };
  const int blocks = static_cast<int>(order.size());
  std::vector<Group> groups(order.size());
  for (int k = 0; k < blocks; ++k) {
    Group& own = groups[at(k)];
    own.blocks = {k};
    own.rows = k;
    own.width = size_of(k);
    for (const int i : structure[at(k)]) own.height += size_of(i);
    std::vector<int> left;
    // Children with many rows have the most in common with this one.
    std::stable_sort(own.children.begin(), own.children.end(),
                     [&](int a, int b) { return groups[at(a)].height > groups[at(b)].height; });
    for (const int child : own.children) {
      Group& c = groups[at(child)];
      if (front_cost(c.width + own.width, own.height) >
          front_cost(c.width, c.height) + front_cost(own.width, own.height)) {
        left.push_back(child);
        continue;
      }
      own.width += c.width;
      own.blocks.insert(own.blocks.end(), c.blocks.begin(), c.blocks.end());
      left.insert(left.end(), c.children.begin(), c.children.end());
      c = Group();
    }
    own.children = left;
    for (const int child : left) groups[at(child)].parent = k;
    if (!structure[at(k)].empty()) {
      own.parent = structure[at(k)].front();
      groups[at(own.parent)].children.push_back(k);
    }
    std::sort(own.blocks.begin(), own.blocks.end());
  }
  return groups;
}

using Matrix = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using Vector = Eigen::Map<Eigen::VectorXd>;

class FrontSolver final : public LinearSolver {
 public:
  FrontSolver(const BlockPattern& pattern, const std::vector<int>& order, const Graph& structure,
              const std::vector<Group>& groups)
      : first_(order.size()), front_of_(order.size()), unknown_(at(pattern.unknowns())) {
    const std::vector<int> sequence = share_work(groups);
    number_unknowns(pattern, order, groups, sequence);
    make_fronts(pattern, order, structure, groups, sequence);
    place_updates();
  }

  // False: too many numbers.
  bool fits() const { return fits_; }

  std::string_view name() const override { return "front"; }
  bool pivots_fully() const override { return false; }
  BlockRef block(int row_block, int column_block) const override {
    const Front& f = fronts_[at(std::min(front_of_[at(row_block)], front_of_[at(column_block)]))];
    const int row = index_in(f, first_[at(row_block)]), column = index_in(f, first_[at(column_block)]);
    if (column < f.width) return {static_cast<int>(f.lower) + row + column * f.size(), f.size()};
    return {static_cast<int>(f.upper) + row + (column - f.width) * f.width, f.width};
  }
  double* values() override { return values_.data(); }
  void set_zero() override {
    parallel_for(threads_, values_.size(), [&](std::size_t begin, std::size_t end) {
      std::fill(values_.begin() + static_cast<std::ptrdiff_t>(begin),
                values_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    });
  }
  void use_threads(ThreadPool* threads) override { threads_ = threads; }
  void hold(const std::vector<bool>& held) override {
    for (const Front& f : fronts_) {
      Matrix lower = lower_of(f), upper = upper_of(f);
      const auto is_held = [&](int unknown) { return held[at(unknown_[at(unknown)])]; };
      for (int k = 0; k < f.width; ++k) {
        if (!is_held(f.unknown + k)) continue;
        lower.row(k).setZero();
        lower.col(k).setZero();
        upper.row(k).setZero();
        lower(k, k) = 1;
      }
      for (int i = f.first_row; i < f.first_row + f.row_count; ++i) {
        const Row& row = rows_[at(i)];
        for (int r = 0; r < row.count; ++r) {
          if (!is_held(row.unknown + r)) continue;
          lower.row(f.width + row.offset + r).setZero();
          upper.col(row.offset + r).setZero();
        }
      }
    }
  }

  bool factorize() override {
    singular_ = -1;
    parts_.back().singular = -1;
    for_each_task([&](Part& part) { factorize(part, nullptr); });
    const auto is_singular = [](const Part& part) { return part.singular >= 0; };
    if (std::none_of(parts_.begin(), parts_.end(), is_singular)) factorize(parts_.back(), threads_);
    for (const Part& part : parts_)
      if (is_singular(part)) return singular_ = unknown_[at(part.singular)], false;
    return true;
  }

  void solve(double* right) override {
    for (std::size_t i = 0; i < unknown_.size(); ++i) right_[i] = right[unknown_[i]];
    const auto last = static_cast<std::ptrdiff_t>(top_begin_);
    for_each_task([&](Part& part) {
      std::fill(part.of_top.begin(), part.of_top.end(), 0.0);
      for (int f = part.begin; f < part.end; ++f)
        forward(fronts_[at(f)], part.of_top.data() - last, part.scratch.data());
    });
    for (std::size_t t = 0; t + 1 < parts_.size(); ++t)
      for (std::size_t i = 0; i < parts_[t].of_top.size(); ++i)
        right_[at(top_begin_) + i] += parts_[t].of_top[i];
    Part& top = parts_.back();
    for (int f = top.begin; f < top.end; ++f) forward(fronts_[at(f)], right_.data(), top.scratch.data());
    for (int f = top.end - 1; f >= top.begin; --f) backward(fronts_[at(f)], top.scratch.data());
    for_each_task([&](Part& part) {
      for (int f = part.end - 1; f >= part.begin; --f) backward(fronts_[at(f)], part.scratch.data());
    });
    for (std::size_t i = 0; i < unknown_.size(); ++i) right[unknown_[i]] = right_[i];
  }

  int singular_unknown() const override { return singular_; }
  Cost cost() const override {
    constexpr double kFront = 200, kNumber = 0.5;
    Cost sum{0, 0};
    for (const Front& f : fronts_) {
      sum.factorize += front_cost(f.width, f.height);
      sum.solve += kFront + kNumber * f.width * (f.width + 2.0 * f.height);
    }
    return sum;
  }
  void archive(Archive& a) override { a(values_, exchanged_, singular_); }
  double pivot_ratio() const override {
    double least = INFINITY, most = 0;
    for (const Front& f : fronts_)
      for (int i = 0; i < f.width; ++i) {
        const double pivot = std::abs(values_[static_cast<std::size_t>(f.lower) + at(i) * at(f.size() + 1)]);
        least = std::min(least, pivot);
        most = std::max(most, pivot);
      }
    return fronts_.empty() ? 1 : least / most;
  }

 private:
  // Columns and rows 0 .. width - 1 are the pivots, contiguous unknowns; those behind are the rows that they reach.
  struct Front {
    int width = 0, height = 0;
    int unknown = 0;                   // of the pivots, in the order of elimination
    std::int64_t lower = 0;            // size() x width: pivots and the rows below
    std::int64_t upper = 0;            // width x height: the columns to the right
    std::int64_t update = 0;           // height x height, in updates_: what is left for the front above
    int first_row = 0, row_count = 0;  // in rows_
    int parent = -1;
    std::vector<int> children;
    int size() const { return width + height; }
  };
  // Consecutive unknowns among the rows of a front.
  struct Row {
    int unknown, count;
    int offset;  // among the rows
    int above;   // index in the front above
  };
  struct Part {  // fronts one after the other, independent of those of other parts
    int begin = 0, end = 0;
    int singular = -1;
    std::vector<double> of_top;   // what solving adds to the unknowns of the last part
    std::vector<double> scratch;  // rows of one front
  };

  Matrix lower_of(const Front& f) {
    return {values_.data() + f.lower, f.size(), f.width, Eigen::OuterStride<>(f.size())};
  }
  Matrix upper_of(const Front& f) {
    return {values_.data() + f.upper, f.width, f.height, Eigen::OuterStride<>(f.width)};
  }
  Matrix update_of(const Front& f) {
    return {updates_.data() + f.update, f.height, f.height, Eigen::OuterStride<>(f.height)};
  }
  int index_in(const Front& f, int unknown) const {
    if (unknown < f.unknown + f.width) return unknown - f.unknown;
    const auto begin = rows_.begin() + f.first_row, end = begin + f.row_count;
    const auto after =
        std::upper_bound(begin, end, unknown, [](int u, const Row& row) { return u < row.unknown; });
    const Row& row = *(after - 1);
    return f.width + row.offset + unknown - row.unknown;
  }
  template <class Function>
  void for_each_task(const Function& work) {
    const int count = static_cast<int>(parts_.size()) - 1;
    if (count == 0) return;
    if (threads_ != nullptr) return threads_->run(count, [&](int t) { work(parts_[at(t)]); });
    for (int t = 0; t < count; ++t) work(parts_[at(t)]);
  }

  // Subtrees of at most a sixteenth of the work become parts, and what is above them the last part. Returns the groups in the order of elimination.
  std::vector<int> share_work(const std::vector<Group>& groups) {
    constexpr double kWorthwhile = 2e6, kTasks = 16;
    std::vector<double> cost(groups.size(), 0);
    std::vector<int> roots;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (groups[k].width == 0) continue;
      cost[k] += front_cost(groups[k].width, groups[k].height);
      if (groups[k].parent >= 0)
        cost[at(groups[k].parent)] += cost[k];
      else
        roots.push_back(static_cast<int>(k));
    }
    double total = 0;
    for (const int k : roots) total += cost[at(k)];
    std::vector<int> sequence;
    const auto add_subtree = [&](int root) {
      std::vector<int> reversed, open = {root};
      while (!open.empty()) {
        const int k = open.back();
        open.pop_back();
        reversed.push_back(k);
        open.insert(open.end(), groups[at(k)].children.begin(), groups[at(k)].children.end());
      }
      sequence.insert(sequence.end(), reversed.rbegin(), reversed.rend());
    };
    const auto close_part = [&] {
      Part part;
      part.begin = parts_.empty() ? 0 : parts_.back().end;
      part.end = static_cast<int>(sequence.size());
      parts_.push_back(part);
    };
    if (total < kWorthwhile) {
      for (const int root : roots) add_subtree(root);
      close_part();
      return sequence;
    }
    std::vector<int> top;
    const auto cheaper = [&](int a, int b) { return cost[at(a)] < cost[at(b)]; };
    while (!roots.empty()) {
      const auto heaviest = std::max_element(roots.begin(), roots.end(), cheaper);
      if (cost[at(*heaviest)] * kTasks <= total) break;
      const int k = *heaviest;
      roots.erase(heaviest);
      top.push_back(k);
      roots.insert(roots.end(), groups[at(k)].children.begin(), groups[at(k)].children.end());
    }
    // The heaviest first, so that the last to finish is a small one; small ones together.
    std::sort(roots.begin(), roots.end(),
              [&](int a, int b) { return cost[at(a)] != cost[at(b)] ? cost[at(a)] > cost[at(b)] : a < b; });
    double load = 0;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      add_subtree(roots[i]);
      load += cost[at(roots[i])];
      if (load * kTasks * 4 < total && i + 1 < roots.size()) continue;
      close_part();
      load = 0;
    }
    std::sort(top.begin(), top.end());  // children before parents
    // As a depth-first sequence: updates form stacks.
    std::vector<bool> on_top(groups.size(), false);
    for (const int k : top) on_top[at(k)] = true;
    std::vector<int> reversed, open;
    for (const int k : top)
      if (groups[at(k)].parent < 0) open.push_back(k);
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      reversed.push_back(k);
      for (const int child : groups[at(k)].children)
        if (on_top[at(child)]) open.push_back(child);
    }
    sequence.insert(sequence.end(), reversed.rbegin(), reversed.rend());
    close_part();
    return sequence;
  }

  void number_unknowns(const BlockPattern& pattern, const std::vector<int>& order,
                       const std::vector<Group>& groups, const std::vector<int>& sequence) {
    int next = 0;
    for (int f = 0; f < static_cast<int>(sequence.size()); ++f) {
      if (f == parts_.back().begin) top_begin_ = next;
      for (const int k : groups[at(sequence[at(f)])].blocks) {
        const int block = order[at(k)];
        first_[at(block)] = next;
        front_of_[at(block)] = f;
        for (int u = pattern.start[at(block)]; u < pattern.start[at(block) + 1]; ++u)
          unknown_[at(next++)] = u;
      }
    }
    if (parts_.back().begin == static_cast<int>(sequence.size())) top_begin_ = next;
    right_.resize(unknown_.size());
    exchanged_.resize(unknown_.size());
  }

  void make_fronts(const BlockPattern& pattern, const std::vector<int>& order, const Graph& structure,
                   const std::vector<Group>& groups, const std::vector<int>& sequence) {
    std::vector<int> front_of_group(groups.size(), -1);
    for (std::size_t f = 0; f < sequence.size(); ++f) front_of_group[at(sequence[f])] = static_cast<int>(f);
    std::int64_t values = 0;
    fronts_.resize(sequence.size());
    for (std::size_t f = 0; f < sequence.size(); ++f) {
      const Group& group = groups[at(sequence[f])];
      Front& front = fronts_[f];
      front.width = group.width;
      front.height = group.height;
      front.unknown = first_[at(order[at(group.blocks.front())])];
      front.lower = values;
      values += std::int64_t{front.size()} * front.width;
      front.upper = values;
      values += std::int64_t{front.height} * front.width;
      if (group.parent >= 0) {
        front.parent = front_of_group[at(group.parent)];
        fronts_[at(front.parent)].children.push_back(static_cast<int>(f));
      }
      std::vector<std::pair<int, int>> blocks;  // first unknown, count
      for (const int k : structure[at(group.rows)])
        blocks.emplace_back(first_[at(order[at(k)])],
                            pattern.start[at(order[at(k)]) + 1] - pattern.start[at(order[at(k)])]);
      std::sort(blocks.begin(), blocks.end());
      front.first_row = static_cast<int>(rows_.size());
      int offset = 0;
      for (const auto& [unknown, count] : blocks) {
        rows_.push_back({unknown, count, offset, 0});
        offset += count;
      }
      front.row_count = static_cast<int>(rows_.size()) - front.first_row;
    }
    for (const Front& f : fronts_)
      for (int i = f.first_row; i < f.first_row + f.row_count; ++i)
        rows_[at(i)].above = index_in(fronts_[at(f.parent)], rows_[at(i)].unknown);
    join_rows();
    fits_ = values < std::numeric_limits<std::int32_t>::max();
    if (fits_) values_.assign(static_cast<std::size_t>(values), 0);
  }

  // Consecutive unknowns that are consecutive in the front above too, and there on one side of its last pivot, become one row.
  void join_rows() {
    std::vector<Row> joined;
    for (Front& f : fronts_) {
      const int begin = static_cast<int>(joined.size());
      for (int i = f.first_row; i < f.first_row + f.row_count; ++i) {
        const Row& row = rows_[at(i)];
        if (static_cast<int>(joined.size()) > begin) {
          Row& last = joined.back();
          if (last.unknown + last.count == row.unknown && last.above + last.count == row.above &&
              row.above != fronts_[at(f.parent)].width) {
            last.count += row.count;
            continue;
          }
        }
        joined.push_back(row);
      }
      f.first_row = begin;
      f.row_count = static_cast<int>(joined.size()) - begin;
    }
    joined.shrink_to_fit();
    rows_ = std::move(joined);
  }

  // Updates live from their front to the one above. In a depth-first sequence those of even depth form one stack of every part, those of odd
  // depth another; updates that go from one part to the last one stay where they are.
  void place_updates() {
    std::vector<int> depth(fronts_.size(), 0);
    for (std::size_t f = fronts_.size(); f-- > 0;)
      if (fronts_[f].parent >= 0) depth[f] = depth[at(fronts_[f].parent)] + 1;
    std::int64_t base = 0;
    for (Part& part : parts_) {
      std::int64_t used[2] = {0, 0}, most[2] = {0, 0};
      const auto area = [&](int f) { return std::int64_t{fronts_[at(f)].height} * fronts_[at(f)].height; };
      const auto is_inside = [&](int f) { return f >= part.begin && f < part.end; };
      std::size_t tallest = 0;
      for (int f = part.begin; f < part.end; ++f) {
        Front& front = fronts_[at(f)];
        tallest = std::max(tallest, at(front.height));
        for (const int child : front.children)
          if (is_inside(child)) used[(depth[at(f)] + 1) % 2] -= area(child);
        if (front.parent < 0 || !is_inside(front.parent)) continue;
        const int stack = depth[at(f)] % 2;
        front.update = used[stack];
        used[stack] += area(f);
        most[stack] = std::max(most[stack], used[stack]);
      }
      for (int f = part.begin; f < part.end; ++f)
        if (fronts_[at(f)].parent >= 0 && is_inside(fronts_[at(f)].parent))
          fronts_[at(f)].update += base + (depth[at(f)] % 2 == 0 ? 0 : most[0]);
      base += most[0] + most[1];
      for (int f = part.begin; f < part.end; ++f)
        if (fronts_[at(f)].parent >= 0 && !is_inside(fronts_[at(f)].parent)) {
          fronts_[at(f)].update = base;
          base += area(f);
        }
      part.scratch.resize(tallest);
      if (&part != &parts_.back()) part.of_top.resize(unknown_.size() - at(top_begin_));
    }
    updates_.resize(fits_ ? static_cast<std::size_t>(base) : 0);
  }

  void factorize(Part& part, ThreadPool* threads) {
    part.singular = -1;
    for (int f = part.begin; f < part.end; ++f) {
      part.singular = factorize(fronts_[at(f)], threads);
      if (part.singular >= 0) return;
    }
  }

  // Adds up what the fronts below have left, eliminates the pivots, and leaves L U of the rows to the front above. Returns the
  // unknown without a pivot, -1 if there is none.
  int factorize(const Front& f, ThreadPool* threads) {
    if (f.height > 0) update_of(f).setZero();
    for (const int child : f.children) add_update(fronts_[at(child)], f);
    if (const int failed = eliminate_pivots(f); failed >= 0) return f.unknown + failed;
    if (f.height == 0) return -1;
    finish_upper(f);
    // In parts of fixed size, so that the result does not depend on the threads.
    constexpr int kColumns = 64;
    constexpr double kWorthwhile = 1e5;
    const int columns = 1.0 * f.width * f.height * f.height < kWorthwhile ? f.height : kColumns;
    const int parts = (f.height + columns - 1) / columns;
    const auto multiply = [&](int part) {
      const int first = part * columns, count = std::min(columns, f.height - first);
      update_of(f).middleCols(first, count).noalias() -=
          lower_of(f).bottomRows(f.height) * upper_of(f).middleCols(first, count);
    };
    if (threads != nullptr && parts > 1)
      threads->run(parts, multiply);
    else
      for (int part = 0; part < parts; ++part) multiply(part);
    return -1;
  }

  void add_update(const Front& from, const Front& to) {
    const double* const update = updates_.data() + from.update;
    const Row* const rows = rows_.data() + from.first_row;
    for (int b = 0; b < from.row_count; ++b)
      for (int c = 0; c < rows[b].count; ++c) {
        const double* const source = update + std::ptrdiff_t{from.height} * (rows[b].offset + c);
        const int column = rows[b].above + c;
        const bool is_pivot = column < to.width;
        // Where rows of pivots and those below stand in this column.
        double* const upper =
            is_pivot ? values_.data() + to.lower + std::ptrdiff_t{to.size()} * column
                     : values_.data() + to.upper + std::ptrdiff_t{to.width} * (column - to.width);
        double* const lower = is_pivot ? upper
                                       : updates_.data() + to.update +
                                             std::ptrdiff_t{to.height} * (column - to.width) - to.width;
        for (int a = 0; a < from.row_count; ++a) {
          double* const target = (rows[a].above < to.width ? upper : lower) + rows[a].above;
          const double* const part = source + rows[a].offset;
          for (int r = 0; r < rows[a].count; ++r) target[r] += part[r];
        }
      }
  }

  // P A = L U of the pivots' columns with exchanges among the pivots' rows, column blocks at a time. Returns the pivot that is too small.
  int eliminate_pivots(const Front& f) {
    constexpr double kSmallest = 1e-13;
    constexpr int kPanel = 16;
    Matrix A = lower_of(f);
    const int width = f.width, size = f.size();
    const double scale = A.topRows(width).cwiseAbs().maxCoeff();
    if (!(scale > 0) || !std::isfinite(scale)) return 0;
    for (int first = 0; first < width; first += kPanel) {
      const int count = std::min(kPanel, width - first), end = first + count;
      for (int k = first; k < end; ++k) {
        double* const column = &A(0, k);
        int pivot = k;
        for (int r = k + 1; r < width; ++r)
          if (std::abs(column[r]) > std::abs(column[pivot])) pivot = r;
        if (!(std::abs(column[pivot]) > kSmallest * scale)) return k;
        exchanged_[at(f.unknown + k)] = pivot;
        if (pivot != k)
          for (int c = first; c < end; ++c) std::swap(A(k, c), A(pivot, c));
        const double inverse = 1 / column[k];
        for (int r = k + 1; r < size; ++r) column[r] *= inverse;
        for (int c = k + 1; c < end; ++c) {
          double* const other = &A(0, c);
          const double factor = other[k];
          for (int r = k + 1; r < size; ++r) other[r] -= factor * column[r];
        }
      }
      const auto exchange = [&](int begin, int last) {
        for (int c = begin; c < last; ++c)
          for (int k = first; k < end; ++k) {
            const int pivot = exchanged_[at(f.unknown + k)];
            if (pivot != k) std::swap(A(k, c), A(pivot, c));
          }
      };
      exchange(0, first);
      exchange(end, width);
      if (end == width) break;
      auto right = A.block(first, end, count, width - end);
      A.block(first, first, count, count).template triangularView<Eigen::UnitLower>().solveInPlace(right);
      A.block(end, end, size - end, width - end).noalias() -= A.block(end, first, size - end, count) * right;
    }
    return -1;
  }

  // The columns to the right become L^-1 P times what they were.
  void finish_upper(const Front& f) {
    Matrix upper = upper_of(f);
    for (int c = 0; c < f.height; ++c)
      for (int k = 0; k < f.width; ++k) {
        const int pivot = exchanged_[at(f.unknown + k)];
        if (pivot != k) std::swap(upper(k, c), upper(pivot, c));
      }
    lower_of(f).topRows(f.width).template triangularView<Eigen::UnitLower>().solveInPlace(upper);
  }

  // `top`: where the unknowns from top_begin_ on are.
  void forward(const Front& f, double* top, double* scratch) {
    Vector x(right_.data() + f.unknown, f.width);
    for (int k = 0; k < f.width; ++k) {
      const int pivot = exchanged_[at(f.unknown + k)];
      if (pivot != k) std::swap(x[k], x[pivot]);
    }
    const Matrix lower = lower_of(f);
    lower.topRows(f.width).template triangularView<Eigen::UnitLower>().solveInPlace(x);
    if (f.height == 0) return;
    Vector change(scratch, f.height);
    change.noalias() = lower.bottomRows(f.height) * x;
    for (int i = f.first_row; i < f.first_row + f.row_count; ++i) {
      const Row& row = rows_[at(i)];
      double* const y = (row.unknown >= top_begin_ ? top : right_.data()) + row.unknown;
      for (int r = 0; r < row.count; ++r) y[r] -= change[row.offset + r];
    }
  }

  void backward(const Front& f, double* scratch) {
    Vector x(right_.data() + f.unknown, f.width);
    if (f.height > 0) {
      for (int i = f.first_row; i < f.first_row + f.row_count; ++i) {
        const Row& row = rows_[at(i)];
        std::copy_n(right_.data() + row.unknown, row.count, scratch + row.offset);
      }
      x.noalias() -= upper_of(f) * Vector(scratch, f.height);
    }
    lower_of(f).topRows(f.width).template triangularView<Eigen::Upper>().solveInPlace(x);
  }

  std::vector<int> first_, front_of_;  // per block: first unknown in the order of elimination, front
  std::vector<int> unknown_;           // in the order of elimination
  std::vector<Front> fronts_;
  std::vector<Row> rows_;
  std::vector<Part> parts_;  // the last one after all others
  int top_begin_ = 0;        // first unknown of the last part
  std::vector<double> values_, updates_, right_;
  std::vector<int> exchanged_;  // row that the k-th pivot was exchanged with, in its front
  ThreadPool* threads_ = nullptr;
  int singular_ = -1;
  bool fits_ = true;
};

}  // namespace

std::unique_ptr<LinearSolver> make_front_solver(const BlockPattern& pattern, const Graph& neighbours) {
  std::vector<bool> is_joint = pattern.zero_diagonal;
  is_joint.resize(neighbours.size(), false);
  const std::vector<int> order = dissection_order(neighbours, is_joint, pattern.start);
  const Graph structure = structure_of_factors(neighbours, order, std::numeric_limits<std::size_t>::max());
  auto solver =
      std::make_unique<FrontSolver>(pattern, order, structure, group_blocks(structure, order, pattern.start));
  if (!solver->fits()) return nullptr;
  return solver;
}

}  // namespace liedyn

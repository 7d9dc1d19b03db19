#include "liedyn/system/block_graph.h"

#include <camd.h>

#include <algorithm>
#include <numeric>

#include "liedyn/base/index.h"

namespace liedyn {
namespace {

void sort_unique(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The body that each joint holds, -1 for joints that close a loop: a search from the ground outwards finds it.
std::vector<int> held_bodies(const std::vector<std::vector<int>>& neighbours,
                             const std::vector<bool>& zero_diagonal) {
  const int blocks = static_cast<int>(neighbours.size());
  std::vector<int> held(neighbours.size(), -1);
  std::vector<bool> reached(neighbours.size(), false);
  std::vector<int> queue;
  const auto is_joint = [&](int i) { return zero_diagonal[at(i)]; };
  const auto bodies_of = [&](int joint, auto&& visit) {
    for (const int i : neighbours[at(joint)])
      if (!is_joint(i)) visit(i);
  };
  const auto take = [&](int joint) {
    bodies_of(joint, [&](int body) {
      if (reached[at(body)] || held[at(joint)] >= 0) return;
      reached[at(body)] = true;
      held[at(joint)] = body;
      queue.push_back(body);
    });
  };
  // Joints with one body are fixed to the ground; then whatever is not reached from there.
  for (int i = 0; i < blocks; ++i) {
    int count = 0;
    if (is_joint(i)) bodies_of(i, [&](int) { ++count; });
    if (count == 1) take(i);
  }
  std::size_t next = 0;
  for (int seed = 0; seed <= blocks; ++seed) {
    for (; next < queue.size(); ++next)
      for (const int i : neighbours[at(queue[next])])
        if (is_joint(i) && held[at(i)] < 0) take(i);
    if (seed < blocks && !is_joint(seed) && !reached[at(seed)]) {
      reached[at(seed)] = true;
      queue.push_back(seed);
    }
  }
  return held;
}

// Levels of a breadth-first search from `start`: the nodes in the order found, and where each level begins.
struct Levels {
  std::vector<int> nodes, begin;
};
Levels levels_from(int start, const std::vector<std::vector<int>>& graph) {
  Levels out{{start}, {0}};
  std::vector<bool> seen(graph.size(), false);
  seen[at(start)] = true;
  while (out.begin.back() < static_cast<int>(out.nodes.size())) {
    const int first = out.begin.back(), last = static_cast<int>(out.nodes.size());
    out.begin.push_back(last);
    for (int k = first; k < last; ++k)
      for (const int i : graph[at(out.nodes[at(k)])]) {
        if (seen[at(i)]) continue;
        seen[at(i)] = true;
        out.nodes.push_back(i);
      }
  }
  return out;
}

// A narrow level near the middle of a long graph, to be eliminated last: its two sides are then independent, and threads can share them.
// Empty where there is none.
std::vector<int> narrow_middle(const std::vector<std::vector<int>>& graph) {
  constexpr std::size_t kLarge = 2000;
  constexpr int kNarrow = 4;
  if (graph.size() < kLarge) return {};
  const Levels there = levels_from(0, graph);
  if (there.nodes.size() != graph.size()) return {};
  const Levels levels = levels_from(there.nodes.back(), graph);
  const int count = static_cast<int>(graph.size());
  int best = -1;
  for (int l = 0; l + 2 < static_cast<int>(levels.begin.size()); ++l) {
    const int before = levels.begin[at(l)], after = levels.begin[at(l) + 1];
    if (after - before > kNarrow || before < count * 2 / 5 || after > count * 3 / 5) continue;
    if (best < 0 || std::abs(2 * before - count) < std::abs(2 * levels.begin[at(best)] - count)) best = l;
  }
  if (best < 0) return {};
  return {levels.nodes.begin() + levels.begin[at(best)], levels.nodes.begin() + levels.begin[at(best) + 1]};
}

}  // namespace

std::vector<std::vector<int>> neighbours_of(const BlockPattern& pattern) {
  std::vector<std::vector<int>> out(at(pattern.blocks()));
  for (const auto& [column, row] : pattern.pairs) {
    if (row == column) continue;
    out[at(column)].push_back(row);
    out[at(row)].push_back(column);
  }
  for (auto& list : out) sort_unique(list);
  return out;
}

std::vector<std::vector<int>> structure_of_factors(const std::vector<std::vector<int>>& neighbours,
                                                   const std::vector<int>& order, std::size_t most_products) {
  const int blocks = static_cast<int>(order.size());
  std::vector<int> position(order.size());
  for (int k = 0; k < blocks; ++k) position[at(order[at(k)])] = k;
  std::vector<std::vector<int>> structure(order.size()), children(order.size());
  std::size_t products = 0;
  for (int k = 0; k < blocks; ++k) {
    std::vector<int>& reach = structure[at(k)];
    for (const int i : neighbours[at(order[at(k)])])
      if (position[at(i)] > k) reach.push_back(position[at(i)]);
    for (const int child : children[at(k)])
      for (const int i : structure[at(child)])
        if (i != k) reach.push_back(i);
    sort_unique(reach);
    if (!reach.empty()) children[at(reach.front())].push_back(k);
    products += reach.size() * reach.size();
    if (products > most_products) return {};
  }
  return structure;
}

std::vector<int> elimination_order(const std::vector<std::vector<int>>& neighbours,
                                   const std::vector<bool>& zero_diagonal) {
  const int blocks = static_cast<int>(neighbours.size());
  const std::vector<int> held = held_bodies(neighbours, zero_diagonal);
  // Groups: a body and the joints that hold it; a loop joint is a group of its own.
  std::vector<int> group(neighbours.size(), -1);
  int groups = 0;
  for (int i = 0; i < blocks; ++i)
    if (!zero_diagonal[at(i)] || held[at(i)] < 0) group[at(i)] = groups++;
  for (int i = 0; i < blocks; ++i)
    if (zero_diagonal[at(i)] && held[at(i)] >= 0) group[at(i)] = group[at(held[at(i)])];

  std::vector<std::vector<int>> graph(at(groups));
  for (int i = 0; i < blocks; ++i)
    for (const int j : neighbours[at(i)])
      if (group[at(i)] != group[at(j)]) graph[at(group[at(i)])].push_back(group[at(j)]);
  std::vector<int> columns = {0}, rows;
  for (auto& list : graph) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    rows.insert(rows.end(), list.begin(), list.end());
    columns.push_back(static_cast<int>(rows.size()));
  }
  std::vector<int> permutation(at(groups));
  std::vector<int> last(at(groups), 0);  // 1: after all others
  for (const int i : narrow_middle(graph)) last[at(i)] = 1;
  camd_order(groups, columns.data(), rows.data(), permutation.data(), nullptr, nullptr, last.data());
  std::vector<int> rank(at(groups));
  for (int k = 0; k < groups; ++k) rank[at(permutation[at(k)])] = k;

  // A loop joint waits for its bodies; joints go behind the bodies of their group.
  std::vector<int> key(at(blocks));
  for (int i = 0; i < blocks; ++i) {
    key[at(i)] = rank[at(group[at(i)])];
    if (zero_diagonal[at(i)] && held[at(i)] < 0)
      for (const int j : neighbours[at(i)])
        if (!zero_diagonal[at(j)]) key[at(i)] = std::max(key[at(i)], rank[at(group[at(j)])]);
  }
  std::vector<int> order(at(blocks));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (key[at(a)] != key[at(b)]) return key[at(a)] < key[at(b)];
    const int late_a = zero_diagonal[at(a)] ? (held[at(a)] < 0 ? 2 : 1) : 0,
              late_b = zero_diagonal[at(b)] ? (held[at(b)] < 0 ? 2 : 1) : 0;
    return late_a < late_b;
  });
  return order;
}

}  // namespace liedyn

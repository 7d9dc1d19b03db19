#include "system/block_graph.h"

#include <algorithm>

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void sort_unique(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
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

}  // namespace liedyn

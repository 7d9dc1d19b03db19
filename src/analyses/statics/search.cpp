#include "liedyn/analyses/statics/search.h"

#include <algorithm>
#include <cmath>

#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/node_components.h"

namespace liedyn {

State incremented(const System& system, const State& state, const Eigen::VectorXd& d) {
  State out = state;
  for (const Node& node : system.model().nodes)
    if (node.type == NodeType::State)
      out.v[at(node.v)] += d[node.v];
    else
      increment_position(node.type, d.data() + node.v, out.q.data() + node.q);
  return out;
}

double first_shift(const StaticSearch& search, const State& state) {
  constexpr double kPart = 0.1;
  State start = state;
  const bool found = solve_accelerations(search.system, start, search.work);
  double out = 0;
  for (const Node& node : search.system.model().nodes)
    for (int k = 0; k < node_size(node.type).v && node.type != NodeType::State; ++k) {
      const double unit = search.scales().units()[node.v + k];
      const double most = is_displacement(node.type, k) ? kPart * unit : 1;
      if (found)
        out = std::max(out, std::abs(start.vdot[at(node.v + k)]) / most);
      else if (is_displacement(node.type, k))
        out = std::max(out, search.work.constants->gravity.norm() / most);
    }
  return out > 0 ? out : 1;
}

}  // namespace liedyn

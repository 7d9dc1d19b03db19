#include "liedyn/analyses/statics_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {
namespace {

// "(0, 0, -1)"
std::string direction_of_way(Vec3 way) {
  way /= way.norm();
  for (double& x : way) x = std::abs(x) < 5e-4 ? 0 : x;
  return fmt::format("({:.3g}, {:.3g}, {:.3g})", way.x(), way.y(), way.z());
}

}  // namespace

std::string ways_of_bodies(const System& system, const State& from, const State& to,
                           const Eigen::VectorXd& motion, Work& work) {
  constexpr double kShare = 1e-3;  // of the largest: less is not worth a word
  constexpr std::size_t kMost = 3;
  const Model& model = system.model();
  const auto& bodies = model.description().entries(Section::Bodies);
  const Subsystems parts = subsystems(system, work);
  std::vector<Vec3> first;
  system.residual(from, work, {});
  for (std::size_t b = 0; b < bodies.size(); ++b) first.push_back(work.motions[b].p);
  system.residual(to, work, {});
  struct Way {
    std::size_t body;
    Vec3 moved, displacement = Vec3::Zero(), rotation = Vec3::Zero();  // all of it, the last step
    double length;
    double size() const { return std::max(displacement.norm() / length, rotation.norm()); }
  };
  std::vector<Way> ways;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const int part = parts.of_body[b];
    const double length = part < 0 ? 0 : parts.length[at(part)];
    Way way{.body = b, .moved = work.motions[b].p - first[b], .length = length > 0 ? length : 1};
    const Node& node = model.nodes[b];
    for (int k = 0; k < node_size(node.type).v && motion.size() > 0; ++k)
      (is_displacement(node.type, k) ? way.displacement : way.rotation)[component(node.type, k) % 3] =
          motion[node.v + k];
    if (motion.size() == 0) way.displacement = way.moved;
    // The last step may have been one back.
    if (way.displacement.dot(way.moved) < 0) way.rotation = -way.rotation;
    if (way.size() > 0) ways.push_back(way);
  }
  std::stable_sort(ways.begin(), ways.end(),
                   [](const Way& a, const Way& b) { return a.size() > 1.001 * b.size(); });
  std::vector<std::string> texts;
  for (const Way& way : ways) {
    const double enough = kShare * ways.front().size();
    if (way.size() < enough || texts.size() == kMost) break;
    std::vector<std::string> words;
    // The last step may be one back onto the constraints.
    if (way.displacement.norm() / way.length > enough && way.moved.norm() > 0)
      words.push_back("along " + direction_of_way(way.moved));
    if (way.rotation.norm() > enough) words.push_back("about " + direction_of_way(way.rotation));
    if (!words.empty())
      texts.push_back(fmt::format("body '{}' {}", bodies[way.body].name, fmt::join(words, " and ")));
  }
  return texts.empty() ? "what moves" : fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> stubborn_states(const System& system, const State& state, Work& work) {
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  system.residual(state, work, {});
  std::vector<std::string> out;
  Eigen::VectorXd reached = Eigen::VectorXd::Zero(l.M.rows());
  const auto add = [&](const SparseMatrix& X, int first, int end) {
    for (int j = first; j < end; ++j)
      for (SparseMatrix::InnerIterator it(X, j); it; ++it) reached[it.row()] += std::abs(it.value());
  };
  add(l.K, 0, l.first_state);
  add(l.C, l.first_state, static_cast<int>(l.M.cols()));
  for (int i = l.first_state; i < l.M.rows(); ++i)
    if (reached[i] == 0 && work.r[at(i)] != 0)
      out.push_back(
          fmt::format("states.{} ({:.4g} per second)", system.model().body_of(i).name, -work.r[at(i)]));
  return out;
}

std::vector<std::string> states_without_effect(const System& system, const State& state, Work& work) {
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  std::vector<std::string> out;
  for (int j = l.first_state; j < l.C.cols(); ++j) {
    double effect = 0;
    for (SparseMatrix::InnerIterator it(l.C, j); it; ++it) effect += std::abs(it.value());
    if (effect == 0) out.push_back("states." + system.model().body_of(j).name);
  }
  return out;
}

}  // namespace liedyn

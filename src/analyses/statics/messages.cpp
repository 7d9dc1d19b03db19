#include "liedyn/analyses/statics/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/analyses/statics/stability.h"
#include "liedyn/base/index.h"
#include "liedyn/system/initial.h"
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

// The bodies that went away between two states, and where to: "body 'ball' along (0.94, 0, -0.342) and about (0, 1, 0)".
// `motion`: the last step of them, displacements and rotations; may be empty.
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
  return texts.empty() ? "the motion" : fmt::format("{}", fmt::join(texts, ", "));
}

// States whose rates stay what they are, whatever moves: equations of them that no unknown reaches.
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

// States that no equation contains, their own included.
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

// With states: which of them prevent an equilibrium.
std::string why_not_with_states(const System& system, const State& start) {
  Work work(system, kFullPivoting);
  if (const std::vector<std::string> names = stubborn_states(system, start, work); !names.empty())
    return fmt::format(
        "; in the initial state the rates of these states are not zero and depend on nothing (a limiter may "
        "be at its end: try other initial values): {}",
        fmt::join(names, ", "));
  if (const std::vector<std::string> loose = states_without_effect(system, start, work); !loose.empty())
    return fmt::format(
        "; nothing depends on these states, but their rates must be zero too: without them the model may "
        "have an equilibrium: {}",
        fmt::join(loose, ", "));
  return "; with states, start close to the equilibrium: --from, or initial values of the states";
}

// Without states: motions that nothing resists where it starts.
std::string why_not_of_bodies(const System& system, const State& start) {
  const Model& model = system.model();
  if (model.nv > kLargestDense)
    return fmt::format("; with more than {} velocities, start close to the equilibrium", kLargestDense);
  Work work(system, kFullPivoting);
  const std::vector<std::string> names =
      describe_motions(model, stability_by_stiffness(system, start, work).indifferent);
  if (names.empty()) return "";
  return fmt::format("; these motions have no stiffness: {}", fmt::join(names, " | "));
}

}  // namespace

std::string no_equilibrium(const System& system, double factor, const State& start,
                           const SearchReport& report, Work& work) {
  if (!report.overloaded.empty())
    return fmt::format(
        "no equilibrium found with {:.4g} of the loads: {} would slip; a clutch or brake carries at most its "
        "`capacity`: increase it, or reduce the load",
        factor, report.overloaded);
  const std::string slips = slipping_bristles(system, report.reached);
  if (report.ran_away && slips.empty())
    return fmt::format(
        "no equilibrium found with {:.4g} of the loads: nothing supports {}; add a joint or a spring, or "
        "remove the load in this direction",
        factor, ways_of_bodies(system, start, report.reached, report.motion, work));
  const Model& model = system.model();
  // What would set it in motion if it were let go here: joints carry what they can.
  State here = report.reached.q.empty() ? start : report.reached;
  std::fill(here.vdot.begin(), here.vdot.end(), 0.0);
  State let_go = here;
  if (solve_accelerations(system, let_go, work)) here.lambda = let_go.lambda;
  system.residual(here, work, {});
  int worst = 0;
  for (int i = 0; i < model.nv; ++i)
    if (std::abs(work.r[at(i)]) > std::abs(work.r[at(worst)])) worst = i;
  std::string failure =
      fmt::format("no equilibrium found with {:.4g} of the loads; the largest residual, {:.3g}, is in '{}'",
                  factor, work.r[at(worst)], system.unknown_name(worst));
  if (!slips.empty())
    failure += fmt::format("; the friction of {} is too small: it slips", slips);
  else
    failure += model.first_state() < model.nv ? why_not_with_states(system, start)
                                              : why_not_of_bodies(system, start);
  return failure;
}

}  // namespace liedyn

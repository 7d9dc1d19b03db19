#include "liedyn/system/released_joints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

// What a row is violated by, as a part of the length of its subsystem.
double relative_violation(const ConstraintScales& scales, const std::vector<double>& phi, int row) {
  return std::abs(phi[at(row)]) * scales.row[at(row)] / scales.row_length[at(row)];
}

// The d of least d^T M d with B d = -Phi, for the rows that the state imposes, moves the positions. False: the matrix is singular.
bool move_onto_constraints(const System& system, State& state, Work& work) {
  const Model& model = system.model();
  system.residual(state, work, {true, false, false});
  const std::vector<double> phi = work.phi;
  if (!factorize_accelerations(system, state, work)) return false;
  std::fill(work.right.begin(), work.right.end(), 0.0);
  for (int i = 0; i < model.rows; ++i)
    if (!model.is_velocity_row(i)) work.right[at(model.nv + i)] = -phi[at(i)];
  for (const int row : state.redundant) work.right[at(model.nv + row)] = 0;
  work.solver->solve(work.right.data());
  for (const Node& node : model.nodes)
    increment_position(node.type, work.right.data() + node.v, state.q.data() + node.q);
  return true;
}

}  // namespace

std::vector<int> rows_of_joint(const Model& model, int joint) {
  std::vector<int> out;
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    if (model.sections[b] != Section::Joints) continue;
    const Batch& batch = *model.batches[b];
    const int rows = batch.coupling().rows;
    for (int e = 0; e < batch.size(); ++e)
      for (int i = 0; batch.entries[at(e)] == joint && i < rows; ++i)
        out.push_back(batch.first_row + e * rows + i);
  }
  return out;
}

void release_rows(const System& system, const std::vector<int>& released, State& state, Work& work) {
  // Rows that are dependent where the constraints are satisfied are so up to the distance from there.
  constexpr double kLeast = 1e-7, kMost = 1e-2;
  const ConstraintScales scales = constraint_scales(system, state, work);
  system.residual(state, work, {true, false, false});
  double violated = 0;
  for (int row = 0; row < system.model().rows; ++row)
    if (!std::binary_search(released.begin(), released.end(), row))
      violated = std::max(violated, relative_violation(scales, work.phi, row));
  state.redundant = dependent_rows(system, state, std::clamp(10 * violated, kLeast, kMost),
                                   RowLevel::Velocity, nullptr, work, released);
  for (std::vector<double>* multipliers : {&state.lambda, &state.eta})
    for (const int row : released)
      if (!multipliers->empty()) (*multipliers)[at(row)] = 0;
}

std::string engage_rows(const System& system, const std::vector<int>& rows, const std::vector<int>& released,
                        State& state, Work& work) {
  // What a step leaves of a constraint that is not imposed is an error of the method. Beyond this part of the length the bodies are somewhere else.
  constexpr double kNear = 1e-3, kGood = 1e-14;
  constexpr int kIterations = 8;
  const Model& model = system.model();
  const ConstraintScales scales = constraint_scales(system, state, work);
  system.residual(state, work, {true, false, false});
  std::vector<int> positions;
  for (const int row : rows)
    if (!model.is_velocity_row(row)) positions.push_back(row);
  const auto worst = std::max_element(positions.begin(), positions.end(), [&](int a, int b) {
    return relative_violation(scales, work.phi, a) < relative_violation(scales, work.phi, b);
  });
  if (worst != positions.end() && !(relative_violation(scales, work.phi, *worst) <= kNear))
    return fmt::format("'{}' is violated by {:.3g}", model.row_name(*worst), work.phi[at(*worst)]);

  const State before = state;
  release_rows(system, released, state, work);
  bool regular = true;
  double left = INFINITY;
  for (int i = 0; i < kIterations && regular; ++i) {
    system.residual(state, work, {true, false, false});
    double now = 0;
    for (const int row : positions) now = std::max(now, relative_violation(scales, work.phi, row));
    if (now <= kGood || !(now < 0.5 * left)) break;
    left = now;
    regular = move_onto_constraints(system, state, work);
  }
  if (regular) regular = forbidden_velocity(system, state, work);
  if (!regular) {
    state = before;
    return "its constraints are redundant there, or the bodies that they move have no mass";
  }
  for (std::size_t k = 0; k < state.v.size(); ++k) state.v[k] -= work.right[k];
  return {};
}

}  // namespace liedyn

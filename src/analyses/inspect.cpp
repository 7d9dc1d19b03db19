#include "analyses/inspect.h"

#include <algorithm>
#include <cmath>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <Eigen/SparseQR>

namespace liedyn {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::max(out, std::abs(x));
  return out;
}

// B^T, one column per constraint.
SparseMatrix transposed_constraints(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  std::vector<double> blocks(static_cast<std::size_t>(for_each_side(model, [](const JointSide&) {})));
  system.constraint_matrices(state, work, blocks);
  std::vector<Eigen::Triplet<double>> entries;
  for_each_side(model, [&](const JointSide& side) {
    const Node& node = model.nodes[static_cast<std::size_t>(side.node)];
    const double* block = blocks.data() + side.matrix;
    for (int c = 0; c < node_size(node.type).v; ++c)
      for (int r = 0; r < side.rows; ++r)
        entries.emplace_back(node.v + c, side.first_row + r,
                             block[components(node.type)[c] * side.rows + r]);
  });
  SparseMatrix out(model.nv, model.rows);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

// Constraints that are linear combinations of the others, in the order of the model.
std::vector<int> redundant_rows(const SparseMatrix& transposed) {
  std::vector<int> rows;
  if (transposed.cols() == 0) return rows;
  Eigen::SparseQR<SparseMatrix, Eigen::COLAMDOrdering<int>> qr(transposed);
  const auto& order = qr.colsPermutation().indices();
  for (Eigen::Index i = qr.rank(); i < transposed.cols(); ++i) rows.push_back(order(i));
  std::sort(rows.begin(), rows.end());
  return rows;
}

constexpr int kAlwaysAnalysed = 1000;
constexpr double kRegular = 1e-13;

}  // namespace

Inspection inspect(const System& system, double start, InitialPolicy policy) {
  const Model& model = system.model();
  Inspection out;
  out.coordinates = model.nq;
  out.velocities = model.nv;
  out.constraints = model.rows;

  Work work(system);
  const Initial initial = initial_values(model, system.params().values().data());
  State state = system.empty_state();
  state.t = start;
  state.q = initial.q;
  state.v = initial.v;
  const State given = state;
  bool regular = false;  // accelerations and multipliers are unique, so no constraint is redundant
  try {
    state = consistent_state(system, start, policy, work);
    regular = work.solver->reciprocal_condition() > kRegular;
  } catch (const InputError& error) {
    out.findings = error.diagnostics();
  }
  // The rank analysis names the rows, at a cost that grows faster than the model: large ones need a reason for it.
  std::vector<int> redundant;
  if (!regular || model.rows <= kAlwaysAnalysed)
    redundant = redundant_rows(transposed_constraints(system, given, work));
  for (const int row : redundant) out.redundant.push_back(model.row_name(row));
  out.degrees_of_freedom = model.nv - model.rows + static_cast<int>(redundant.size());

  system.residual(state, work, {true, true, false});
  out.residual_position = largest(work.phi);
  out.residual_velocity = largest(work.rate);
  return out;
}

}  // namespace liedyn

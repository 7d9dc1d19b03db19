#include "liedyn/system/matrix_parts.h"

#include <cmath>
#include <string>

#include "liedyn/base/index.h"

namespace liedyn {
namespace {

// The rows and columns of velocities or multipliers.
SparseMatrix part(const System& system, const Work& work, bool multiplier_rows, bool multiplier_columns) {
  const BlockPattern pattern = block_pattern(system.model(), work.form);
  const int nv = system.model().nv, rows = system.model().rows;
  const auto wanted = [&](int unknown, bool multipliers) {
    return multipliers ? unknown >= nv && unknown < nv + rows : unknown < nv;
  };
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [column_block, row_block] : pattern.pairs) {
    const int row = pattern.start[at(row_block)], column = pattern.start[at(column_block)];
    if (!wanted(row, multiplier_rows) || !wanted(column, multiplier_columns)) continue;
    const BlockRef ref = work.solver->block(row_block, column_block);
    for (int c = 0; c < pattern.start[at(column_block) + 1] - column; ++c)
      for (int r = 0; r < pattern.start[at(row_block) + 1] - row; ++r) {
        const double value = work.solver->values()[ref.offset + r + c * ref.stride];
        if (value != 0)
          entries.emplace_back(row + r - (multiplier_rows ? nv : 0),
                               column + c - (multiplier_columns ? nv : 0), value);
      }
  }
  SparseMatrix out(multiplier_rows ? rows : nv, multiplier_columns ? rows : nv);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

SparseMatrix force_part(const System& system, const Work& work) { return part(system, work, false, false); }
SparseMatrix row_part(const System& system, const Work& work) { return part(system, work, true, false); }
SparseMatrix multiplier_part(const System& system, const Work& work) {
  return part(system, work, false, true);
}

void require_derivatives(const System& system, const State& state, Work& work) {
  MatrixRequest request;
  request.force = {1, 1, 1};
  system.jacobian(state, work, {}, request);
  const SparseMatrix matrix = force_part(system, work);
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator it(matrix, column); it; ++it) {
      if (std::isfinite(it.value())) continue;
      // Of a body all equations: 0 times an infinite derivative is not a number either.
      const auto row = static_cast<int>(it.row());
      const std::string equation = system.model().equation_name(row);
      throw InputError(
          {{system.model().description().file, system.model().body_of(row).line,
            equation.substr(0, equation.find(": ")),
            "the derivatives of the forces are infinite or NaN in this state",
            "as those of sqrt(x) at x = 0: start away from such a point, or use a smooth function"}});
    }
}

}  // namespace liedyn

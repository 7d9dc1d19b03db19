#include "system/matrix_parts.h"

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

SparseMatrix part(const System& system, const Work& work, bool of_rows) {
  const BlockPattern pattern = block_pattern(system.model(), work.form);
  const int nv = system.model().nv, rows = system.model().rows;
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [column_block, row_block] : pattern.pairs) {
    const int row = pattern.start[at(row_block)], column = pattern.start[at(column_block)];
    if (column >= nv || (row >= nv) != of_rows || row >= nv + rows) continue;
    const BlockRef ref = work.solver->block(row_block, column_block);
    for (int c = 0; c < pattern.start[at(column_block) + 1] - column; ++c)
      for (int r = 0; r < pattern.start[at(row_block) + 1] - row; ++r) {
        const double value = work.solver->values()[ref.offset + r + c * ref.stride];
        if (value != 0) entries.emplace_back(of_rows ? row - nv + r : row + r, column + c, value);
      }
  }
  SparseMatrix out(of_rows ? rows : nv, nv);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

SparseMatrix force_part(const System& system, const Work& work) { return part(system, work, false); }
SparseMatrix row_part(const System& system, const Work& work) { return part(system, work, true); }

}  // namespace liedyn

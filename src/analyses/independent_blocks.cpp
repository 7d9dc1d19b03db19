#include "liedyn/analyses/independent_blocks.h"

#include "liedyn/base/index.h"

namespace liedyn {

std::vector<IndependentBlock> independent_blocks(const Eigen::MatrixXd& A) {
  constexpr int kNone = -1;
  const auto rows = static_cast<int>(A.rows()), columns = static_cast<int>(A.cols());
  std::vector<int> of_row(at(rows), kNone), of_column(at(columns), kNone);
  std::vector<int> waiting;  // columns whose entries have not been followed yet
  int count = 0;
  for (int first = 0; first < columns; ++first) {
    if (of_column[at(first)] != kNone) continue;
    of_column[at(first)] = count;
    waiting.assign(1, first);
    while (!waiting.empty()) {
      const int column = waiting.back();
      waiting.pop_back();
      for (int row = 0; row < rows; ++row) {
        if (of_row[at(row)] != kNone || A(row, column) == 0) continue;
        of_row[at(row)] = count;
        for (int other = 0; other < columns; ++other) {
          if (of_column[at(other)] != kNone || A(row, other) == 0) continue;
          of_column[at(other)] = count;
          waiting.push_back(other);
        }
      }
    }
    ++count;
  }
  std::vector<IndependentBlock> blocks(at(count));
  for (int row = 0; row < rows; ++row)
    if (of_row[at(row)] != kNone) blocks[at(of_row[at(row)])].rows.push_back(row);
  for (int column = 0; column < columns; ++column)
    blocks[at(of_column[at(column)])].columns.push_back(column);
  return blocks;
}

}  // namespace liedyn

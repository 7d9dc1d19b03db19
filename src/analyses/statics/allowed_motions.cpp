#include "liedyn/analyses/statics/allowed_motions.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;

}  // namespace

AllowedMotions allowed_motions(const SparseMatrix& B, const StaticScales& scales) {
  const MatrixXd dense = MatrixXd(B);
  std::vector<MatrixXd> bases;
  std::vector<std::vector<int>> columns(scales.parts().length.size()), rows(columns.size());
  for (int i = 0; i < B.cols(); ++i)
    if (scales.part_of(i) >= 0) columns[at(scales.part_of(i))].push_back(i);
  for (int i = 0; i < B.rows(); ++i)
    if (const int part = scales.parts().of_row[at(i)]; part >= 0) rows[at(part)].push_back(i);
  AllowedMotions out;
  Eigen::Index count = 0;
  for (std::size_t part = 0; part < columns.size(); ++part) {
    const MatrixXd own = dense(rows[part], columns[part]) * scales.units()(columns[part]).asDiagonal();
    bases.push_back(admissible_motions(own.sparseView()));
    count += bases.back().cols();
    out.part.insert(out.part.end(), static_cast<std::size_t>(bases.back().cols()), static_cast<int>(part));
  }
  out.N = MatrixXd::Zero(B.cols(), count);
  Eigen::Index first = 0;
  for (std::size_t part = 0; part < columns.size(); ++part) {
    for (std::size_t i = 0; i < columns[part].size(); ++i)
      out.N.row(columns[part][i]).segment(first, bases[part].cols()) =
          scales.units()[columns[part][i]] * bases[part].row(static_cast<Eigen::Index>(i));
    first += bases[part].cols();
  }
  return out;
}

}  // namespace liedyn

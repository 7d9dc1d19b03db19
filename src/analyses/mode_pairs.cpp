#include "liedyn/analyses/mode_pairs.h"

#include <cmath>

#include "liedyn/analyses/stiffness_scale.h"

namespace liedyn {

using Eigen::VectorXcd;
using Eigen::VectorXd;

VectorXcd shape_of(const Linearization& l, std::complex<double> s, const VectorXcd& y,
                   const VectorXcd& rate) {
  const auto bodies = l.first_state;
  VectorXcd out = rate;
  if (s == 0.0 || 2 * std::abs(s) * y.head(bodies).norm() >= rate.head(bodies).norm())
    out.head(bodies) = y.head(bodies);
  return out;
}

bool RoundOff::operator()(double s, const VectorXcd& shape) const {
  VectorXcd y = shape;
  y.tail(l->states()).setZero();
  if (!(y.norm() > 0)) return false;
  const auto part = [&](const SparseMatrix& X) { return std::abs(y.dot(VectorXcd(X * y))); };
  return s * s * part(l->M) + s * part(l->C) + part(l->K) <= kResistance * scale->dot(y.cwiseAbs2());
}

void InverseFirstOrder::perform_op(const double* in, double* out) const {
  const Eigen::Index n = l->M.rows(), bodies = l->first_state;
  const Eigen::Map<const VectorXd> b(in + n, n);
  Eigen::Map<VectorXd> y(out, n), z(out + n, n);
  VectorXd a = VectorXd::Zero(n);
  a.head(bodies) = Eigen::Map<const VectorXd>(in, bodies);
  const VectorXd right = -(l->M * (w * b + s * a) + l->C * a);
  VectorXd rows = -(l->B * a);
  for (Eigen::Index i = 0; i < rows.size(); ++i)
    if (!l->velocity_row[static_cast<std::size_t>(i)]) rows[i] = 0;
  matrix->solve(right.data(), rows.data(), out);
  z = (a + s * y) / w;
  z.tail(n - bodies) = y.tail(n - bodies) / w;
  y.tail(n - bodies).setZero();
}

}  // namespace liedyn

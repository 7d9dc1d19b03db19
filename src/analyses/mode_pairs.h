// Eigenvalues s with their motions y, in natural units: what the dense and the sparse solver of `modes` share.
#pragma once

#include <complex>
#include <vector>

#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/shifted_matrix.h"

namespace liedyn {

struct ModePair {
  std::complex<double> s;
  Eigen::VectorXcd y;
  bool rigid = false;
};

// A matrix with less than this beside its other part is symmetric, relative to its norm.
inline constexpr double kSymmetric = 1e-12;
template <class Matrix>
Matrix symmetric_part(const Matrix& X) {
  return 0.5 * (X + Matrix(X.transpose()));
}
template <class Matrix>
Matrix antisymmetric_part(const Matrix& X) {
  return 0.5 * (X - Matrix(X.transpose()));
}

// The motion of the bodies, and the values of states where their own y would stand. `rate` is s y, except where a defective zero has no y.
Eigen::VectorXcd shape_of(const Linearization& l, std::complex<double> s, const Eigen::VectorXcd& y,
                          const Eigen::VectorXcd& rate);

// What rounding leaves of a stiffness that is zero decides which eigenvalues are: with (s^2 M + s C) y below it, s and 0 are the same.
struct RoundOff {
  const Linearization* l;
  const Eigen::VectorXd* scale;                                    // stiffness_scale in natural units
  bool operator()(double s, const Eigen::VectorXcd& shape) const;  // of the bodies; states do not count
};

// The inverse of the first-order equations y' = z, M z' = -C z - K y - L mu at the shift s: (a, b) is what is left of them, and
//   z = a + s y,     (s^2 M + s C + K) y + L mu = -(M b + (s M + C) a),     (s B + B_y) y = -B a  at velocity level.
// States are z without y, and have no a. The second half holds z and b in units of w.
struct InverseFirstOrder {
  using Scalar = double;
  const ShiftedMatrix* matrix;
  const Linearization* l;
  double s, w;
  Eigen::Index rows() const { return 2 * l->M.rows(); }
  Eigen::Index cols() const { return rows(); }
  void set_shift(double) {}
  void perform_op(const double* in, double* out) const;
};

struct DenseModes {
  std::vector<ModePair> pairs;
  int degrees_of_freedom = 0;
  int dimension = 0;  // eigenvalues, counted with their multiplicity
  int zeros = 0;
  bool consistent = true;
};
DenseModes dense_modes(const Model& model, const Linearization& l, const Eigen::VectorXd& scale, double time);

// The `count` slowest, or more. `dependent`: rows that repeat others, if they are known.
struct SparseModes {
  std::vector<ModePair> pairs;
  int zeros = 0;
  bool all_zeros = true;  // `zeros` are all there are
};
SparseModes sparse_modes(const Model& model, const Linearization& l, const Eigen::VectorXd& scale, int count,
                         const std::vector<int>& dependent, double time);

}  // namespace liedyn

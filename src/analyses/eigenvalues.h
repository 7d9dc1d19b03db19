// All eigenvalues of a matrix A, where they differ by many orders of magnitude and some are zero.
//
// The QR algorithm finds eigenvalues with an error in proportion to the largest. Slow ones are therefore taken from (A - t)^-1, whose large eigenvalues they are,
// and zeros, which may be defective, are those that no shift resolves (docs/theory/12_linearization.md). As many eigenvalues are returned as A has.
#pragma once

#include <complex>
#include <functional>
#include <optional>

#include <Eigen/Core>

namespace liedyn {

// A = D A_b D^-1 with A_b of rows and columns of about the same size, whatever the units of the coordinates from `first` on.
struct Balanced {
  Eigen::MatrixXd A;
  Eigen::VectorXd D;
};
Balanced balanced(const Eigen::MatrixXd& A, Eigen::Index first = 0);

struct Spectrum {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

// The eigenvalues are s, or s^2 where A is symmetric (`squares`); shifts are given as s.
struct EigenProblem {
  Eigen::Index size = 0;
  bool squares = false;
  std::function<Balanced()> matrix;                        // A
  std::function<std::optional<Balanced>(double)> inverse;  // (A - t)^-1 or (A - t^2)^-1; none: singular
  std::function<bool(double, const Eigen::VectorXcd&)>
      is_round_off;  // |s| with this vector means no more than 0
};

struct Eigenvalues {
  Spectrum found;           // without the zeros
  int zeros = 0;            // eigenvalues s that are zero, with their multiplicity
  Eigen::MatrixXd at_rest;  // columns x with A x = 0; real
  bool consistent =
      true;  // false: two ways to find them did not agree on the number of eigenvalues in a range
};

// Throws std::runtime_error if the QR algorithm fails.
Eigenvalues all_eigenvalues(const EigenProblem& problem);

// The invariant subspace of the `count` eigenvalues of T of largest magnitude, by orthogonal iteration: T X = X H.
struct Subspace {
  Eigen::MatrixXd X, H;
};
Subspace dominant_subspace(const std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>& T, Eigen::Index size,
                           Eigen::Index count);
// Of T = (A - shift)^-1 with a subspace of zeros of A: vectors X c with A X c = 0.
Eigen::MatrixXd at_rest_in(const Subspace& subspace, double shift);

}  // namespace liedyn

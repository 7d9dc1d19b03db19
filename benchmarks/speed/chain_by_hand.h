// The limit to compare with: the model `chain` and one method written out by hand, with nothing that could serve another model.
//
// R3xSO3, generalised-alpha with sigma = 1 as printed (Algorithm 1 of the sigma paper: no tangent operator), index 3, full Newton.
// Newton's linear system
//
//   | A  B^T | | dq      |     | r   |          A = diag(beta' m 1, W_i),  W_i = beta' J + gamma' (Omega~ J - (J Omega)~) + stiffness
//   | B   0  | | dlambda | = - | Phi |
//
// is solved by eliminating the links (W_i^-1, 3x3), then the joints: B A^-1 B^T dlambda = Phi - B A^-1 r is block tridiagonal.
#pragma once

#include <vector>

#include "liedyn/base/matrix.h"

namespace liedyn::speed {

class ChainByHand {
 public:
  ChainByHand(int links, double step, double rho);

  // One step; the number of linear solves, -1 if Newton's method failed.
  int advance();
  int links() const { return static_cast<int>(from_.size()); }
  double time() const { return time_; }
  Vec3 last() const { return from_.back().x; }  // centre of mass of the last link

 private:
  struct Link {
    Mat3 R;
    Vec3 x, u, u_dot, u_alpha;           // centre of mass: place, velocity, acceleration, that of the method
    Vec3 Omega, Omega_dot, Omega_alpha;  // the same of the rotation, body axes
  };
  struct Equations {     // of one link
    Vec3 force, torque;  // r
    Mat3 W_inverse, A,
        B;  // A, B: derivatives of the joints before and after the link with respect to its rotation
  };
  struct Joint {
    Mat3 diagonal, upper, lower;  // of B A^-1 B^T; lower: that of the next joint's row
    Vec3 phi, right, lambda, increment;
  };

  void predict();
  // Residuals, and the matrix of the joints, of the iterate; beta', gamma' as above. Returns whether the residuals are small.
  bool evaluate(double beta_prime, double gamma_prime, bool stiffness);
  void solve_joints();
  // dq = -A^-1 (r + B^T dlambda)
  Vec3 translation(std::size_t i, double inverse_mass) const;
  Vec3 rotation(std::size_t i) const;

  double step_, time_ = 0;
  double alpha_m_, alpha_f_, beta_, gamma_;
  std::vector<Link> from_, to_;
  std::vector<Equations> equations_;
  std::vector<Joint> joints_;
};

}  // namespace liedyn::speed

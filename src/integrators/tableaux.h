// The implicit A-stable methods as data: multistep formulas, their single-step form, and Runge-Kutta tableaux, each as a function of the
// damping rho at infinite frequency. Equation numbers are those of Zhang, Zhang, Zanoni, Masarati, "Performance of implicit A-stable time
// integration methods for multibody system dynamics" (2022).
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace liedyn {

// Diagonally implicit, explicit first stage, stiffly accurate: the last row of A holds the weights, every row from the second on has
// the same number gamma on the diagonal. Eqs. (5), (6).
struct Tableau {
  int order = 0;
  Eigen::MatrixXd A;
  Eigen::VectorXd c;
  Eigen::VectorXd embedded;  // weights of the embedded formula; none: empty
  int embedded_order = 0;

  int stages() const { return static_cast<int>(c.size()); }
  double gamma() const { return A(1, 1); }
  Eigen::VectorXd b() const { return A.row(stages() - 1).transpose(); }
  // R(z) = 1 + z b^T (1 - z A)^-1 e, and its limit for z -> infinity.
  std::complex<double> stability(std::complex<double> z) const;
  double damping_at_infinity() const;
};

Tableau bathe(double rho);                        // rho_inf-Bathe, Eq. (7)
Tableau trapezoidal_substeps(int n, double rho);  // MSSTC(n), n = 3, 4, 5
Tableau high_order_substeps(int n, double rho);   // MSSTH(n), n = 3, 4, 5, Eqs. (30)-(35)
Tableau esdirk3_4();                              // ESDIRK3(2)4L[2]SA of Kennedy and Carpenter
Tableau esdirk3_5();                              // ESDIRK3(2)5L[2]SA
Tableau esdirk4_6();                              // ESDIRK4(3)6L[2]SA_2

// sigma_j^(i) of Table 6, i = 1 ... 5: the residuals of the order conditions, one for every rooted tree of i nodes, of any weights b.
std::vector<double> order_residuals(const Tableau& tableau, const Eigen::VectorXd& b, int order);

// y_k = sum_{j=1..r} alpha_j y_{k-j} + h sum_{j=0..r} beta_j y'_{k-j}, Eq. (2). alpha_0 = 0.
struct MultistepFormula {
  int steps = 0;
  std::array<double, 5> alpha{}, beta{};
  // (y_k, ..., y_{k-r+1}) from the points before, for y' = lambda y, x = lambda h.
  Eigen::MatrixXcd amplification(std::complex<double> x) const;
  // On y = t^p/p!, in units of the step.
  double defect(int p) const;
};

MultistepFormula trapezoidal_rule();                   // Eq. (3)
MultistepFormula damped_multistep(int r, double rho);  // LMS2, LMS3, LMS4
// LMS2 after a change of the step from h to ratio h.
MultistepFormula damped_two_step(double rho, double ratio);

// The single-step form, Eqs. (4): gamma of all even indices, and gamma_{2r-3}, ..., gamma_3, gamma_1 for the auxiliary derivatives
// 1 ... r-1. Complex ones come in conjugate pairs.
struct SingleStepFormula {
  double even = 0;
  std::vector<std::complex<double>> odd;
  int auxiliaries() const { return static_cast<int>(odd.size()); }
};
SingleStepFormula damped_single_step(int r, double rho);

}  // namespace liedyn

// The methods as data: Runge-Kutta tableaux, explicit and diagonally implicit, multistep formulas and their single-step form; those with
// damping as functions of rho, the spectral radius at infinite frequency. Equation numbers are those of Zhang, Zhang, Zanoni, Masarati, "Performance of implicit A-stable time
// integration methods for multibody system dynamics" (2022).
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace liedyn {

// The first stage is the beginning of the step, the last row of A holds the weights: the last stage is the end, whose derivatives begin the
// next step. Diagonally implicit methods have the same number gamma on the diagonal of every row from the second on, Eqs. (5), (6);
// explicit ones zeros. (Classical explicit methods have one stage less in the literature, which counts the end to the next step.)
struct Tableau {
  int order = 0;
  Eigen::MatrixXd A;
  Eigen::VectorXd c;
  Eigen::VectorXd embedded;  // weights of the embedded formula; none: empty
  int embedded_order = 0;
  Eigen::VectorXd quartic;  // what an interpolant of fourth order adds to the cubic one; none: empty

  int stages() const { return static_cast<int>(c.size()); }
  double gamma() const { return A(1, 1); }
  Eigen::VectorXd b() const { return A.row(stages() - 1).transpose(); }
  // R(z) = 1 + z b^T (1 - z A)^-1 e, and its limit for z -> infinity.
  std::complex<double> stability(std::complex<double> z) const;
  double damping_at_infinity() const;
  // Weights of the interpolant, y(t + s h) = y + h sum_j b_j(s) y'_j.
  Eigen::VectorXd weights_at(double s) const;
};

Tableau rk44();    // the classical method
Tableau ode23();   // Bogacki, Shampine 3(2)
Tableau dopri5();  // Dormand, Prince 5(4)
Tableau rk67();    // Butcher (1964), order 6 in seven stages

Tableau bathe(double rho);                        // rho_inf-Bathe, Eq. (7)
Tableau trapezoidal_substeps(int n, double rho);  // MSSTC(n), n = 3, 4, 5
Tableau high_order_substeps(int n, double rho);   // MSSTH(n), n = 3, 4, 5, Eqs. (30)-(35)
Tableau esdirk3_4();                              // ESDIRK3(2)4L[2]SA of Kennedy and Carpenter
Tableau esdirk3_5();                              // ESDIRK3(2)5L[2]SA
Tableau esdirk4_6();                              // ESDIRK4(3)6L[2]SA_2

// sigma_j^(i) of Table 6: the residuals of the conditions of order i, one for every rooted tree of i nodes, of any weights b. `at` is the time
// that the weights are for, in steps.
std::vector<double> order_residuals(const Tableau& tableau, const Eigen::VectorXd& b, int order,
                                    double at = 1);

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

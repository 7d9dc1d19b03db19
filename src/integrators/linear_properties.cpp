#include "liedyn/integrators/linear_properties.h"

#include <algorithm>
#include <cmath>

namespace liedyn {

LinearProperties multistep_properties(int steps, double rho) {
  const MultistepFormula formula = damped_multistep(steps, rho);
  LinearProperties out;
  for (int p = 1; p <= 3; ++p) out.order_defects.push_back(std::abs(formula.defect(p)));
  out.amplification = [formula](std::complex<double> z) { return formula.amplification(z); };
  return out;
}

LinearProperties runge_kutta_properties(const Tableau& tableau) {
  LinearProperties out;
  out.solutions_per_step = tableau.stages() - 1;
  out.is_explicit = tableau.gamma() == 0;
  for (int p = 1; p <= tableau.order + 1; ++p) {
    double worst = 0;
    for (const double x : order_residuals(tableau, tableau.b(), p)) worst = std::max(worst, std::abs(x));
    out.order_defects.push_back(worst);
  }
  out.amplification = [tableau](std::complex<double> z) -> Eigen::MatrixXcd {
    return Eigen::MatrixXcd::Constant(1, 1, tableau.stability(z));
  };
  return out;
}

}  // namespace liedyn

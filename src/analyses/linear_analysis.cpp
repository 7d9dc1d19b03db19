#include "analyses/linear_analysis.h"

#include <cmath>
#include <complex>
#include <numbers>

#include <Eigen/Eigenvalues>

namespace liedyn {
namespace {

using Complex = std::complex<double>;

Eigen::VectorXcd roots(const LinearProperties& method, double omega_h) {
  return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(method.amplification(omega_h), false).eigenvalues();
}

// The root that begins as exp(i omega h), followed in steps so small that no other comes between, and its phase without jumps.
class PrincipalRoot {
 public:
  explicit PrincipalRoot(const LinearProperties& method) : method_(method) {
    move_to(kBegin, std::polar(1.0, kBegin));
  }

  void follow(double omega_h) {
    while (at_ < omega_h) move_to(std::min(omega_h, at_ * kFactor), root_);
  }
  Complex logarithm() const { return {std::log(std::abs(root_)), phase_}; }

 private:
  static constexpr double kBegin = 1e-3, kFactor = 1.01;

  void move_to(double omega_h, Complex near) {
    Complex best = 0;
    for (const Complex& root : roots(method_, omega_h))
      if (std::abs(root - near) <= std::abs(best - near) || best == 0.0) best = root;
    phase_ += std::remainder(std::arg(best) - phase_, 2 * std::numbers::pi);
    root_ = best;
    at_ = omega_h;
  }

  const LinearProperties& method_;
  double at_ = 0, phase_ = 0;
  Complex root_;
};

}  // namespace

LinearAnalysis analyze_integrator(const std::string& specification,
                                  const std::vector<double>& h_over_period) {
  // Roots of multiplicity r approach their limit as omega_h^(-1/r).
  constexpr double kInfinity = 1e14, kConditionMet = 1e-10;
  const LinearProperties method = linear_properties(specification);
  LinearAnalysis out;
  out.integrator = method.integrator;
  out.solutions_per_step = method.solutions_per_step;
  out.order_defects = method.order_defects;
  while (out.order < static_cast<int>(out.order_defects.size()) &&
         out.order_defects[static_cast<std::size_t>(out.order)] < kConditionMet)
    ++out.order;
  out.radius_at_infinity = roots(method, kInfinity).cwiseAbs().maxCoeff();
  PrincipalRoot principal(method);
  for (const double x : h_over_period) {
    const double omega_h = 2 * std::numbers::pi * x;
    principal.follow(omega_h);
    const Complex log = principal.logarithm();
    const double numerical = std::abs(log);  // omega_ h
    out.rows.push_back(
        {x, roots(method, omega_h).cwiseAbs().maxCoeff(), -log.real() / numerical, omega_h / numerical - 1});
  }
  return out;
}

std::vector<double> geometric_range(double first, double last, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i)
    out.push_back(i + 1 == count ? last
                                 : first * std::pow(last / first, static_cast<double>(i) / (count - 1)));
  return out;
}

}  // namespace liedyn

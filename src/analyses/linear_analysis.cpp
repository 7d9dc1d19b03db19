#include "liedyn/analyses/linear_analysis.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Complex = std::complex<double>;

Eigen::VectorXcd roots(const LinearProperties& method, Complex z) {
  return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(method.amplification(z), false).eigenvalues();
}

// Roots that rounding has torn apart: one of multiplicity m moves by the m-th root of round-off, but the mean of its parts by round-off only.
Eigen::VectorXcd gathered(const Eigen::VectorXcd& all) {
  constexpr double kTorn = 1e-3;
  Eigen::VectorXcd out = all;
  for (Eigen::Index i = 0; i < all.size(); ++i) {
    Complex sum = 0;
    double count = 0;
    for (const Complex& other : all)
      if (std::abs(other - all[i]) <= kTorn) sum += other, ++count;
    out[i] = sum / count;
  }
  return out;
}

double radius(const LinearProperties& method, Complex z) { return roots(method, z).cwiseAbs().maxCoeff(); }

// How far from 0 along `direction` the method is stable.
double stable_as_far_as(const LinearProperties& method, Complex direction) {
  // Growth by less than this counts as none: at small z that of an explicit method is a high power of it. Multiple roots on the unit circle are
  // known to half their digits.
  const double slack = method.is_explicit ? 1e-12 : 1e-7;
  constexpr double kFirst = 0.02, kFactor = 1.02, kFar = 1e4;
  const auto stable = [&](double x) { return radius(method, x * direction) <= 1 + slack; };
  double good = 0, bad = kFirst;
  while (stable(bad)) {
    good = bad;
    bad *= kFactor;
    if (bad > kFar) return std::numeric_limits<double>::infinity();
  }
  if (good == 0) return 0;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (good + bad);
    (stable(middle) ? good : bad) = middle;
  }
  return good;
}

// Explicit methods are stable near 0, on the left; implicit ones unstable there, on the right. In both a solution of a stage reaches about as
// far as one step of Euler's methods.
StabilityRegion stability_region(const LinearProperties& method, int points) {
  const double n = method.solutions_per_step;
  const double first = method.is_explicit ? -(n + 2) : -n, last = method.is_explicit ? 2 : 5 * n,
               top = method.is_explicit ? n + 2 : 4 * n;
  StabilityRegion out;
  for (int i = 0; i < points; ++i) {
    const double part = static_cast<double>(i) / (points - 1);
    out.real.push_back(first + part * (last - first));
    out.imaginary.push_back(part * top);
  }
  for (const double y : out.imaginary)
    for (const double x : out.real) out.radius.push_back(radius(method, {x, y}));
  return out;
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
    for (const Complex& root : roots(method_, {0, omega_h}))
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

LinearAnalysis analyze_integrator(const std::string& specification, const std::vector<double>& h_over_period,
                                  int region_points) {
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
  out.is_explicit = method.is_explicit;
  out.radius_at_infinity = method.is_explicit ? std::numeric_limits<double>::infinity()
                                              : gathered(roots(method, {0, kInfinity})).cwiseAbs().maxCoeff();
  out.real_limit = stable_as_far_as(method, -1);
  out.imaginary_limit = stable_as_far_as(method, {0, 1});
  if (region_points > 1) out.region = stability_region(method, region_points);
  PrincipalRoot principal(method);
  for (const double x : h_over_period) {
    const double omega_h = 2 * std::numbers::pi * x;
    principal.follow(omega_h);
    const Complex log = principal.logarithm();
    const double numerical = std::abs(log);  // omega_ h
    out.rows.push_back({x, radius(method, {0, omega_h}), -log.real() / numerical, omega_h / numerical - 1});
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

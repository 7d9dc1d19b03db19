// How an integrator treats x'' + omega^2 x = 0: damping, dispersion and spectral radius over h/T, as in Sec. 4 of Zhang, Zhang, Zanoni,
// Masarati; where it is stable on y' = lambda y; and the conditions that make its order.
#pragma once

#include <string>
#include <vector>

#include "liedyn/integrators/integrator.h"

namespace liedyn {

struct LinearAnalysisRow {
  double h_over_period;
  double spectral_radius;
  // Of the root that follows the exact solution, mu = exp(omega_ h (-xi + i sqrt(1 - xi^2))), Eq. (22).
  double amplitude_decay;    // xi
  double period_elongation;  // omega/omega_ - 1
};

// The spectral radius over z = lambda h on a grid of the upper half plane (the lower one is its mirror image).
struct StabilityRegion {
  std::vector<double> real, imaginary;
  std::vector<double> radius;  // row by row, a row for each imaginary part
};

struct LinearAnalysis {
  std::string integrator;  // with the value of each option
  int solutions_per_step = 1;
  std::vector<double> order_defects;  // of the conditions of order 1, 2, ...: the largest
  int order = 0;                      // the conditions up to it are met
  bool is_explicit = false;
  double radius_at_infinity = 0;
  // Stable for z from 0 to -real_limit, and from 0 to imaginary_limit i; infinite where there is no limit.
  double real_limit = 0, imaginary_limit = 0;
  StabilityRegion region;
  std::vector<LinearAnalysisRow> rows;
};

// `h_over_period`: where, in ascending order. `region_points`: those of the region's grid along each axis; 0: no region. Throws InputError.
LinearAnalysis analyze_integrator(const std::string& specification, const std::vector<double>& h_over_period,
                                  int region_points = 0);

// `count` numbers from `first` to `last`, each a constant times the one before.
std::vector<double> geometric_range(double first, double last, int count);

}  // namespace liedyn

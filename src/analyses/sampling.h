// Where the cases of a study lie: points of the unit cube, and the values of distributions there. A point is a function of the seed and its index alone, so that cases can be computed in
// any order, on any thread and on any machine.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace liedyn {

struct Distribution {
  enum class Kind { Uniform, LogUniform, Normal, LogNormal, Discrete };
  Kind kind = Kind::Uniform;
  // Normal: mean and standard deviation; log-normal: median, and standard deviation of the logarithm.
  double center = 0, deviation = 1;
  // Uniform, log-uniform: the interval; others: cut off there, if finite.
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  // Discrete: values and their weights; no weights: all are equally probable.
  std::vector<double> values = {}, weights = {};

  // What is wrong with it; empty: nothing.
  std::string mistake() const;
  // The value below which the fraction u of all values lies, 0 < u < 1.
  double quantile(double u) const;
};
// "uniform", "log-uniform", "normal", "log-normal", "discrete"
inline constexpr std::string_view kDistributions[] = {"uniform", "log-uniform", "normal", "log-normal",
                                                      "discrete"};

// How points are chosen.
//
//   grid             all combinations of the values of the variables, the last one varies fastest
//   list             the first values of all variables, the second ones, ...
//   random           independent points
//   latin-hypercube  one point in each of n layers, in every direction (McKay, Beckman, Conover 1979)
//   sobol            Sobol's sequence with direction numbers of Joe and Kuo (2008), scrambled by the seed (Owen 1995)
//   halton           Halton's sequence, shifted by the seed
//   saltelli         points of Sobol's sequence for variance-based sensitivity indices (Saltelli et al. 2010): d + 2 runs for each of them
//   morris           paths for elementary effects (Morris 1991): d + 1 runs for each of them
inline constexpr std::string_view kSamplings[] = {"grid",  "list",   "random",   "latin-hypercube",
                                                  "sobol", "halton", "saltelli", "morris"};

class Sampling {
 public:
  enum class Method { Grid, List, Random, LatinHypercube, Sobol, Halton, Saltelli, Morris };
  // `sizes`: of a grid or list, the number of values of each variable; of others empty. `count`: points, or for saltelli and morris those that are varied.
  Sampling(Method method, int dimensions, std::uint64_t count, std::uint64_t seed, bool scrambles = true,
           std::vector<std::uint64_t> sizes = {});

  // Of this many dimensions at most; the methods that have no limit: a large number.
  static int most_dimensions(Method method);
  static constexpr int kMorrisLevels = 4;

  Method method() const { return method_; }
  int dimensions() const { return dimensions_; }
  std::uint64_t seed() const { return seed_; }
  // Of all points; 0: too many to be counted.
  std::uint64_t size() const { return size_; }

  // Of grids and lists: which of the values of a variable.
  std::uint64_t choice(std::uint64_t index, int dimension) const;
  // Of all others: 0 < u < 1.
  double unit(std::uint64_t index, int dimension) const;

 private:
  double morris(std::uint64_t index, int dimension) const;

  Method method_;
  int dimensions_;
  std::uint64_t count_, seed_;
  bool scrambles_;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t size_ = 0;
};

// Point `index` of Sobol's sequence as 32 bits behind the point, not shifted; dimension from 0 to kSobolDimensions - 1.
inline constexpr int kSobolDimensions = 64;
std::uint32_t sobol_bits(std::uint64_t index, int dimension);
// Halton's sequence: the digits of the index in the basis of the dimension-th prime, mirrored at the point.
double halton(std::uint64_t index, int dimension);

}  // namespace liedyn

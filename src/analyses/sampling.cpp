#include "liedyn/analyses/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "liedyn/base/random.h"

namespace liedyn {
namespace {

// Phi(z) = erfc(-z/sqrt 2)/2
double normal_probability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }

// A standard normal variable between two bounds. Above 0 it is mirrored, since probabilities near 1 have few digits.
double cut_normal(double u, double lower, double upper) {
  if (lower > 0) return -cut_normal(1 - u, -upper, -lower);
  const double below = normal_probability(lower), above = normal_probability(upper);
  const double z = normal_quantile(below + u * (above - below));
  return std::clamp(z, lower, upper);
}

struct Direction {
  unsigned degree, coefficients;  // of the primitive polynomial, the inner coefficients as bits
  std::array<std::uint32_t, 9> first;
};

// S. Joe, F. Y. Kuo: Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008: new-joe-kuo-6.21201, dimensions 2 to 64.
constexpr Direction kDirections[kSobolDimensions - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
};

using Directions = std::array<std::array<std::uint32_t, 32>, kSobolDimensions>;

// v_k = m_k 2^(32-k), m_k = 2 a_1 m_(k-1) ^ 2^2 a_2 m_(k-2) ^ ... ^ 2^s m_(k-s) ^ m_(k-s)
Directions make_directions() {
  Directions v{};
  for (unsigned k = 0; k < 32; ++k) v[0][k] = std::uint32_t{1} << (31 - k);
  for (std::size_t d = 1; d < v.size(); ++d) {
    const auto& [s, a, m] = kDirections[d - 1];
    for (unsigned k = 0; k < 32; ++k) {
      if (k < s) {
        v[d][k] = m[k] << (31 - k);
        continue;
      }
      v[d][k] = v[d][k - s] ^ (v[d][k - s] >> s);
      for (unsigned i = 1; i < s; ++i)
        if (((a >> (s - 1 - i)) & 1) != 0) v[d][k] ^= v[d][k - i];
    }
  }
  return v;
}

constexpr std::array<unsigned, 32> kPrimes = {2,  3,  5,  7,   11,  13,  17,  19,  23,  29, 31,
                                              37, 41, 43, 47,  53,  59,  61,  67,  71,  73, 79,
                                              83, 89, 97, 101, 103, 107, 109, 113, 127, 131};

// Streams of random numbers: one per dimension and use.
enum Use : std::uint64_t { kPoint, kOrder, kWithinLayer, kShift, kStart, kSign, kDirection, kUses };
std::uint64_t stream(int dimension, Use use) { return static_cast<std::uint64_t>(dimension) * kUses + use; }

constexpr double kHalf = 0.5;

// Owen's scrambling (1995): a random bit for every node of the binary tree flips what lies below it. The digits behind the 32 of the sequence are random.
std::uint64_t scrambled(std::uint32_t point, std::uint64_t seed, int dimension) {
  const std::uint64_t own = stream(dimension, kShift), x = point;
  std::uint64_t out = 0;
  for (unsigned k = 0; k < 32; ++k) {
    const std::uint64_t node = (std::uint64_t{1} << k) | (x >> (32 - k));
    out = (out << 1) | (((x >> (31 - k)) ^ random_bits(seed, own, node)) & 1);
  }
  return (out << 20) | (random_bits(seed, own, (std::uint64_t{1} << 32) | x) >> 44);
}

}  // namespace

std::string Distribution::mistake() const {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const bool logarithmic = kind == Kind::LogUniform || kind == Kind::LogNormal;
  if (kind == Kind::Discrete) {
    if (values.empty()) return "expected a list of values, got none";
    if (weights.empty()) return "";
    if (weights.size() != values.size())
      return fmt::format("expected as many weights as values ({}), got {}", values.size(), weights.size());
    double sum = 0;
    for (const double w : weights) {
      if (!(w >= 0) || !std::isfinite(w)) return fmt::format("expected weights of 0 or more, got {}", w);
      sum += w;
    }
    return positive(sum) ? "" : "expected at least one weight above 0";
  }
  if (kind == Kind::Uniform || kind == Kind::LogUniform) {
    if (!std::isfinite(lower) || !std::isfinite(upper)) return "expected finite bounds, lower and upper";
  } else {
    if (kind == Kind::Normal && !std::isfinite(center))
      return fmt::format("expected a finite mean, got {}", center);
    if (kind == Kind::LogNormal && !positive(center))
      return fmt::format("expected a median above 0, got {}", center);
    if (!positive(deviation)) return fmt::format("expected a deviation above 0, got {}", deviation);
  }
  if (!(lower < upper)) return fmt::format("expected lower < upper, got {} and {}", lower, upper);
  if (kind == Kind::LogUniform && !(lower > 0))
    return fmt::format("expected a lower bound above 0, got {}", lower);
  if (logarithmic && !(upper > 0)) return fmt::format("expected an upper bound above 0, got {}", upper);
  if (kind == Kind::Normal || kind == Kind::LogNormal) {
    const double a = kind == Kind::Normal ? (lower - center) / deviation
                                          : std::log(std::max(lower, 0.0) / center) / deviation;
    const double b =
        kind == Kind::Normal ? (upper - center) / deviation : std::log(upper / center) / deviation;
    constexpr double kFarthest = 30;  // standard deviations: nothing is left to be cut
    if (a > kFarthest || b < -kFarthest) return "the distribution has no values between the bounds";
  }
  return "";
}

double Distribution::quantile(double u) const {
  switch (kind) {
    case Kind::Uniform: return lower + u * (upper - lower);
    case Kind::LogUniform: return std::clamp(lower * std::exp(u * std::log(upper / lower)), lower, upper);
    case Kind::Normal:
      return std::clamp(
          center + deviation * cut_normal(u, (lower - center) / deviation, (upper - center) / deviation),
          lower, upper);
    case Kind::LogNormal: {
      const double a = std::log(std::max(lower, 0.0) / center) / deviation,
                   b = std::log(upper / center) / deviation;
      return std::clamp(center * std::exp(deviation * cut_normal(u, a, b)), lower, upper);
    }
    case Kind::Discrete: break;
  }
  if (weights.empty())
    return values[std::min(static_cast<std::size_t>(u * static_cast<double>(values.size())),
                           values.size() - 1)];
  double sum = 0, below = 0;
  for (const double w : weights) sum += w;
  std::size_t last = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] == 0) continue;
    last = i;
    below += weights[i];
    if (u * sum < below) break;
  }
  return values[last];
}

std::uint32_t sobol_bits(std::uint64_t index, int dimension) {
  static const Directions directions = make_directions();
  const auto& v = directions[static_cast<std::size_t>(dimension)];
  std::uint32_t out = 0;
  std::uint64_t gray = index ^ (index >> 1);
  for (unsigned k = 0; gray != 0; ++k, gray >>= 1)
    if ((gray & 1) != 0) out ^= v[k];
  return out;
}

double halton(std::uint64_t index, int dimension) {
  const unsigned base = kPrimes[static_cast<std::size_t>(dimension)];
  double out = 0, digit = 1;
  for (; index > 0; index /= base) {
    digit /= base;
    out += digit * static_cast<double>(index % base);
  }
  return out;
}

int Sampling::most_dimensions(Method method) {
  if (method == Method::Sobol) return kSobolDimensions;
  if (method == Method::Saltelli) return kSobolDimensions / 2;
  if (method == Method::Halton) return static_cast<int>(kPrimes.size());
  return 1000000;
}

Sampling::Sampling(Method method, int dimensions, std::uint64_t count, std::uint64_t seed, bool scrambles,
                   std::vector<std::uint64_t> sizes)
    : method_(method),
      dimensions_(dimensions),
      count_(count),
      seed_(seed),
      scrambles_(scrambles),
      sizes_(std::move(sizes)) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // points: as many as Sobol's sequence has bits for
  const auto d = static_cast<std::uint64_t>(dimensions);
  size_ = count;
  if (method == Method::Grid) {
    size_ = 1;
    for (const std::uint64_t n : sizes_)
      size_ = n > kMost || size_ > kMost / std::max<std::uint64_t>(n, 1) ? 0 : size_ * n;
  }
  if (method == Method::List) size_ = sizes_.empty() ? 1 : sizes_.front();
  const std::uint64_t factor = method == Method::Saltelli ? d + 2 : method == Method::Morris ? d + 1 : 1;
  size_ = size_ > kMost / factor ? 0 : size_ * factor;
}

std::uint64_t Sampling::choice(std::uint64_t index, int dimension) const {
  if (method_ == Method::List) return index;
  for (std::size_t d = sizes_.size() - 1; d > static_cast<std::size_t>(dimension); --d) index /= sizes_[d];
  return index % sizes_[static_cast<std::size_t>(dimension)];
}

double Sampling::unit(std::uint64_t index, int dimension) const {
  const auto sobol = [&](std::uint64_t i, int d) {
    const std::uint32_t point = sobol_bits(i, d);
    // Not scrambled: the middle of the interval that the 32 bits leave.
    const std::uint64_t bits =
        scrambles_ ? scrambled(point, seed_, d) : (static_cast<std::uint64_t>(point) << 20) | (1U << 19);
    return (static_cast<double>(bits) + kHalf) * 0x1p-52;
  };
  switch (method_) {
    case Method::LatinHypercube: {
      const std::uint64_t layer = random_order(seed_, stream(dimension, kOrder), count_, index);
      const double within = random_unit(seed_, stream(dimension, kWithinLayer), index);
      return std::min((static_cast<double>(layer) + within) / static_cast<double>(count_), 1 - 0x1p-53);
    }
    case Method::Sobol: return sobol(index, dimension);
    case Method::Saltelli: {
      // Of each point (a, b) of twice the dimensions: a, b, and a with one coordinate of b.
      const auto runs = static_cast<std::uint64_t>(dimensions_) + 2;
      const std::uint64_t run = index % runs;
      const bool second = run == 1 || run == static_cast<std::uint64_t>(dimension) + 2;
      return sobol(index / runs, dimension + (second ? dimensions_ : 0));
    }
    case Method::Halton: {
      const double u = scrambles_
                           ? halton(index, dimension) + random_unit(seed_, stream(dimension, kShift), 0)
                           : halton(index + 1, dimension);  // its point 0 is a corner of the cube
      return std::clamp(u - std::floor(u), 0x1p-53, 1 - 0x1p-53);
    }
    case Method::Morris: return morris(index, dimension);
    default: return random_unit(seed_, stream(dimension, kPoint), index);
  }
}

// Levels (l + 1/2)/p, l = 0 ... p - 1. A path begins at a random point of them and moves one coordinate after the other, in random order, by half the cube.
double Sampling::morris(std::uint64_t index, int dimension) const {
  const auto runs = static_cast<std::uint64_t>(dimensions_) + 1;
  const std::uint64_t path = index / runs, run = index % runs;
  constexpr std::uint64_t kLower = kMorrisLevels / 2;
  const std::uint64_t level = random_bits(seed_, stream(dimension, kStart), path) % kLower;
  const bool starts_above = (random_bits(seed_, stream(dimension, kSign), path) & 1) != 0;
  bool moved = false;
  const auto d = static_cast<std::uint64_t>(dimensions_);
  // Streams behind those of the dimensions: one per path.
  const std::uint64_t order = stream(dimensions_, kUses) + path;
  for (std::uint64_t k = 0; k < run; ++k)
    moved = moved || random_order(seed_, order, d, k) == static_cast<std::uint64_t>(dimension);
  return (static_cast<double>(level + (starts_above != moved ? kLower : 0)) + kHalf) / kMorrisLevels;
}

}  // namespace liedyn

#include "liedyn/io/trajectory.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace liedyn {
namespace {

using Series = std::vector<double>;

// The pieces of the spline: the first and the last interval are halved, a single one is divided by three.
Series pieces_of(const Series& intervals) {
  if (intervals.size() == 1) return Series(3, intervals[0] / 3);
  Series out;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const bool end = i == 0 || i + 1 == intervals.size();
    out.insert(out.end(), end ? 2 : 1, end ? intervals[i] / 2 : intervals[i]);
  }
  return out;
}
// The interval that a piece is part of.
std::size_t interval_of(std::size_t piece, std::size_t intervals) {
  if (intervals == 1) return 0;
  return std::min(piece < 2 ? 0 : piece - 1, intervals - 1);
}

struct Spline {
  Series y, curvature;  // at the points
};

// With the pieces h_k, the values y_k and the second derivatives M_k, the slopes are continuous where
//   h_k-1 M_k-1 + 2 (h_k-1 + h_k) M_k + h_k M_k+1 = 6 (y_k+1 - y_k)/h_k - 6 (y_k - y_k-1)/h_k-1
// M_0 = M_n = 0, and with no slope at the ends y_1 = y_0 + h_0^2 M_1/6, y_n-1 = y_n + h_n-1^2 M_n-1/6. What remains is tridiagonal and dominated by
// its diagonal.
Spline spline_through(const Series& waypoints, const Series& h) {
  const std::size_t n = h.size();
  Spline out{Series(n + 1, 0.0), Series(n + 1, 0.0)};
  out.y[0] = out.y[1] = waypoints.front();
  out.y[n - 1] = out.y[n] = waypoints.back();
  std::copy(waypoints.begin() + 1, waypoints.end() - 1, out.y.begin() + 2);
  Series lower(n + 1, 0.0), diagonal(n + 1, 1.0), upper(n + 1, 0.0), right(n + 1, 0.0);
  const double first = h[0] * h[0], last = h[n - 1] * h[n - 1];
  for (std::size_t k = 1; k < n; ++k) {
    lower[k] = h[k - 1];
    diagonal[k] = 2 * (h[k - 1] + h[k]);
    upper[k] = h[k];
    right[k] = 6 * (out.y[k + 1] - out.y[k]) / h[k] - 6 * (out.y[k] - out.y[k - 1]) / h[k - 1];
    if (k == 1) diagonal[k] += first * (1 / h[k] + 1 / h[k - 1]);
    if (k == 2) lower[k] -= first / h[k - 1];
    if (k == n - 1) diagonal[k] += last * (1 / h[k] + 1 / h[k - 1]);
    if (k == n - 2) upper[k] -= last / h[k];
  }
  Series& M = out.curvature;
  for (std::size_t k = 2; k < n; ++k) {
    const double factor = lower[k] / diagonal[k - 1];
    diagonal[k] -= factor * upper[k - 1];
    right[k] -= factor * right[k - 1];
  }
  for (std::size_t k = n - 1; k >= 1; --k)
    M[k] = (right[k] - (k + 1 < n ? upper[k] * M[k + 1] : 0)) / diagonal[k];
  out.y[1] += first * M[1] / 6;
  out.y[n - 1] += last * M[n - 1] / 6;
  return out;
}

// By how much the times of each interval would have to grow for the limits to hold there, if all grew alike.
void note_excess(const Spline& spline, const Series& h, double speed, double acceleration, Series& excess) {
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double before = spline.curvature[k], after = spline.curvature[k + 1];
    const double mean = (spline.y[k + 1] - spline.y[k]) / h[k];
    const double v0 = mean - h[k] / 6 * (2 * before + after), v1 = mean + h[k] / 6 * (before + 2 * after);
    double fastest = std::max(std::abs(v0), std::abs(v1));
    if (before * after < 0)  // v_0 - M_0^2 h/(2 (M_1 - M_0)) where the acceleration is zero
      fastest = std::max(fastest, std::abs(v0 - before * before * h[k] / (2 * (after - before))));
    const double strongest = std::max(std::abs(before), std::abs(after));
    double& of_interval = excess[interval_of(k, excess.size())];
    of_interval = std::max({of_interval, fastest / speed, std::sqrt(strongest / acceleration)});
  }
}

}  // namespace

TimedWaypoints trajectory_through(const std::vector<Series>& waypoints, const Series& speed,
                                  const Series& acceleration, double start) {
  const std::size_t coordinates = waypoints.size(), count = waypoints.front().size() - 1;
  Series intervals(count, 0.0);
  for (std::size_t c = 0; c < coordinates; ++c)
    for (std::size_t i = 0; i < count; ++i) {
      const double distance = std::abs(waypoints[c][i + 1] - waypoints[c][i]);
      intervals[i] = std::max({intervals[i], distance / speed[c], std::sqrt(distance / acceleration[c])});
    }

  // Intervals in which the limits are exceeded grow, the others shrink. Every state, scaled as a whole, is a solution; the shortest one is kept.
  constexpr int kMostIterations = 200;
  Series best;
  double shortest = 0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const Series h = pieces_of(intervals);
    Series excess(count, 0.0);
    for (std::size_t c = 0; c < coordinates; ++c)
      note_excess(spline_through(waypoints[c], h), h, speed[c], acceleration[c], excess);
    const double scale = *std::max_element(excess.begin(), excess.end());
    const double duration = scale * std::accumulate(intervals.begin(), intervals.end(), 0.0);
    if (best.empty() || duration < shortest) {
      shortest = duration;
      best = intervals;
      for (double& interval : best) interval *= scale;
    }
    for (std::size_t i = 0; i < count; ++i) intervals[i] *= std::sqrt(excess[i]);
  }

  TimedWaypoints out;
  const Series h = pieces_of(best);
  out.times = {start};
  for (const double piece : h) out.times.push_back(out.times.back() + piece);
  for (std::size_t c = 0; c < coordinates; ++c) out.values.push_back(spline_through(waypoints[c], h).y);
  for (std::size_t k = 0; k < out.times.size(); ++k)
    if (k != 1 && k + 2 != out.times.size()) out.waypoint_times.push_back(out.times[k]);
  return out;
}

}  // namespace liedyn

// Motions through waypoints within limits of speed and acceleration, from rest to rest. The times of the waypoints are found here.
//
// Every coordinate follows a cubic spline over common times. Its acceleration is continuous, also with the rest before and after: two further
// points, in the middle of the first and the last interval, make speed and acceleration zero at both ends. The acceleration is piecewise linear,
// so that its extremes are at the points, and those of the speed at the points or where the acceleration is zero: both are exact. With all times
// scaled by c, speeds are 1/c and accelerations 1/c^2 of what they were: the last scaling makes the tightest limit hold with equality.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace liedyn {

struct TimedWaypoints {
  std::vector<double> times;                // of all points
  std::vector<std::vector<double>> values;  // per coordinate, at these times
  std::vector<double> waypoint_times;
};

// `waypoints`: per coordinate, at least two, as many for each. `speed` and `acceleration`: positive limits, one for each coordinate. Neighbouring
// waypoints must differ in one of the coordinates.
TimedWaypoints trajectory_through(const std::vector<std::vector<double>>& waypoints,
                                  const std::vector<double>& speed, const std::vector<double>& acceleration,
                                  double start);

}  // namespace liedyn

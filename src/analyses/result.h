// What a run produces: the sensors over time, and the figures that sum it up.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/system/state.h"

namespace liedyn {

struct Channel {
  std::string name;  // of the sensor
  std::string unit;
  int first = 0;       // column of its first component (column 0 is the time)
  int components = 1;  // 1 for a scalar, 3 for a vector, 4 for a quaternion (w, x, y, z)
};

// Samples row by row: row i is (t, all components of all channels) at the i-th output time.
struct Trajectory {
  std::vector<Channel> channels;
  int columns = 1;
  std::vector<double> data;

  std::size_t rows() const { return data.size() / static_cast<std::size_t>(columns); }
  double at(std::size_t row, int column) const {
    return data[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
  double time(std::size_t row) const { return at(row, 0); }

  // By the name of a sensor: its channel, what it shows in a row, and in the last row. They throw InputError if there is none.
  const Channel& channel(std::string_view name) const;
  std::span<const double> at(std::size_t row, std::string_view name) const;
  std::span<const double> last(std::string_view name) const;
};

struct Summary {
  std::string model;
  // Where the numbers come from: the file, empty if there is none, and its text; what was set from outside; when the run began (UTC).
  std::string model_file;
  std::shared_ptr<const std::string> model_text;
  std::vector<std::pair<std::string, double>> set;
  std::string date;
  std::string integrator;  // with all its options as resolved
  std::string formulation;
  bool formulation_chosen = false;  // by a trial run
  double step = 0;  // the step used (adjusted so that the end is met exactly); the mean if adaptive
  bool adaptive = false;
  double least_step = 0, largest_step = 0;  // accepted
  long rejected = 0;                        // attempts that were not
  double start = 0;
  double end = 0;  // the time reached
  long steps = 0;
  long newton_iterations = 0;     // linear solves
  long jacobian_updates = 0;      // assemblies with factorisation
  double wall_seconds = 0;        // integration loop only
  long allocations_in_loop = -1;  // -1: not counted in this program
  double energy_initial = 0;
  double energy_final = 0;
  double energy_max_drift = 0;   // max |E(t) - E(0)| over recorded states and every 32nd step, adaptive: all
  double residual_position = 0;  // the same for |Phi|, max norm, unscaled
  double residual_velocity = 0;  // the same for |B v + Phi_t|
  int unknowns = 0;
  int degrees_of_freedom = 0;
  int states = 0;                      // of first order
  std::string solver;                  // the linear solver used
  std::vector<std::string> redundant;  // constraints that follow from others, by name
  std::vector<std::string> warnings;
  bool completed = true;
  bool interrupted = false;  // stopped by the user
  std::string failure;       // why not, if not
};

struct Result {
  Summary summary;
  Trajectory trajectory;
  State state;  // at the end
};

}  // namespace liedyn

// Scenes of running simulations (docs/scenes.md).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

struct SceneContent;

// A scene that grows while a simulation runs: how everything looks, with the first state, and the other states as rows of numbers.
class SceneStream {
 public:
  SceneStream(const System& system, const State& first, std::span<const double> sensors);
  ~SceneStream();

  // The scene of the first state as JSON, with this object (JSON as well) under "live". Once.
  std::string scene(const std::string& live);
  // Positions [F, 3], quaternions [F, 4], coordinates [K] of each flexible body, section forces and strains [6 or 8, nodes] of each beam, sensors, loads: as many
  // numbers for every state.
  std::size_t width() const;
  // Appends the row of a state. False, and nothing: it is not finite.
  bool add_row(const State& state, std::span<const double> sensors, std::vector<float>& rows);
  // Parameters of the same model have changed.
  void follow(const System& system);
  // Of all rows: the length of the largest vector of each type of sensor ("reaction_force"), and under "velocity" the largest speed of a frame. Pages that were opened
  // late have not got all rows.
  const std::map<std::string, double>& largest() const { return largest_; }

 private:
  void follow_largest(double t, const float* positions, const float* values);

  std::unique_ptr<SceneContent> content_;
  std::vector<double> sensors_;  // of the first state
  std::map<std::string, double> largest_;
  double time_before_ = 0;     // of the last row,
  std::vector<float> before_;  // and the positions in it; empty: there is none
};

}  // namespace liedyn

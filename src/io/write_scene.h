// Scenes for the 3D view: how everything looks and moves, as one JSON text (docs/scenes.md).
//
// Poses of rigid bodies, nodes of beams and floating frames are kept as 32-bit positions and 16-bit quaternions, with the modal coordinates of flexible bodies; shapes and
// modes stand there once. The number of poses is limited by dropping every second one whenever there are too many.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/result.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/system/system.h"

namespace liedyn {

class SceneWriter {
 public:
  // At most this many times are kept; 0: 2000, and fewer of models with more than a thousand bodies.
  explicit SceneWriter(long frames = 0);
  ~SceneWriter();
  SceneWriter(SceneWriter&&) noexcept;
  SceneWriter& operator=(SceneWriter&&) noexcept;

  // A state of the motion, as SimulateOptions::recorded gives it, with what acts in it. The system need not live on.
  void add(const System& system, const State& state);
  // The positions alone, of a state that does not satisfy the equations.
  void add_positions(const System& system, const State& state);
  // A state on the way to an equilibrium, as StaticOptions::reached gives it, with what acts in it: `loaded` is the system under this share of its loads.
  void add_loaded(const System& system, const System& loaded, double factor, const State& state);

  // The scene as JSON, of a run, of an equilibrium, of modes about the state that was added, or of the states alone. Once.
  std::string finish(const Result& result);
  std::string finish(const StaticResult& result, const System& system);
  std::string finish(const Modes& modes, const System& system, const State& state);
  std::string finish();

 private:
  friend class SceneStream;
  struct Content;
  long frames_;
  std::unique_ptr<Content> content_;
};

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

  std::unique_ptr<SceneWriter::Content> content_;
  std::vector<double> sensors_;  // of the first state
  std::map<std::string, double> largest_;
  double time_before_ = 0;     // of the last row,
  std::vector<float> before_;  // and the positions in it; empty: there is none
};

// A model at its start: assembled if it can be, otherwise as it was typed, since that is when one looks for the mistake. Then the findings are added to `findings`.
std::string model_scene(const System& system, const SimulateOptions& options,
                        std::vector<Diagnostic>& findings);

}  // namespace liedyn

// Scenes for the 3D view: how everything looks and moves, as one JSON text (docs/scenes.md).
//
// Poses of rigid bodies, nodes of beams and floating frames are kept as 32-bit positions and 16-bit quaternions, with the modal coordinates of flexible bodies; shapes and
// modes stand there once. The number of poses is limited by dropping every second one whenever there are too many.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/result.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/system/system.h"

namespace liedyn {

struct SceneContent;

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
  long frames_;
  std::unique_ptr<SceneContent> content_;
};

// A model at its start: assembled if it can be, otherwise as it was typed, since that is when one looks for the mistake. Then the findings are added to `findings`.
std::string model_scene(const System& system, const SimulateOptions& options,
                        std::vector<Diagnostic>& findings);

}  // namespace liedyn

// Somebody who looks at a run after each step, and may change its inputs or end it: the live view.
#pragma once

#include <string>
#include <vector>

namespace liedyn {

class Simulation;

class Companion {
 public:
  enum class Wish {
    GoOn,
    Act,   // act() before the next step
    Stop,  // the run ends here, as if the user had interrupted it
  };
  virtual ~Companion() = default;

  // Before a run goes on, and after each of its steps. It only looks, but it may let the run wait.
  virtual Wish look(Simulation& simulation) = 0;
  // Between two steps, where inputs may be set.
  virtual void act(Simulation& simulation) = 0;
  // No further step follows.
  virtual void end(Simulation& simulation) = 0;
  // What a reader of the results has to know.
  virtual std::vector<std::string> warnings() const = 0;
};

}  // namespace liedyn

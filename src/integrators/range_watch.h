// Functions of time that must stay positive and do not: the rope of a winch that gets shorter than nothing, a mass that vanishes. Behind that time the equations have no
// sense, and close before it adaptive steps may shrink without end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/system.h"

namespace liedyn {

class RangeWatch {
 public:
  // Of the parameters as they are now.
  explicit RangeWatch(const System& system);

  struct Violation {
    double t = 0;
    std::string what;  // "'joints.rope.length': expected a positive number, got 0"
  };
  // At this time.
  std::optional<Violation> at(double t) const;
  // The first one after `begin`, up to `end`, of those that last for a hundredth of this time at least.
  std::optional<Violation> between(double begin, double end) const;

 private:
  struct Watched {
    Params::Bound bound;
    const Field* field;
  };
  const System* system_;
  std::vector<Watched> watched_;
  mutable std::vector<double> variables_;  // parameters, t
};

}  // namespace liedyn

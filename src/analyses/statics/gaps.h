// Contacts, stops and one-sided springs as statics sees them: what is apart at the start of a step may be closed on the way. A step that
// passes the deepest place would leave a body on the other side.
#pragma once

#include <functional>
#include <vector>

#include "liedyn/model/forces/watched_contact.h"
#include "liedyn/system/system.h"

namespace liedyn {

class Gaps {
 public:
  explicit Gaps(const System& system);
  // Whether something that is apart at the start is closed and on its way out again, at the end or before. `along(s)`: the state at the part s of the way, a little more
  // than 1 included.
  bool are_jumped(const std::function<State(double)>& along, Work& work) const;

 private:
  std::vector<double> depths(const State& state, Work& work) const;

  struct Watched {
    const WatchedContacts* batch;
    int element;
  };
  const System* system_;
  std::vector<Watched> watched_;
};

}  // namespace liedyn

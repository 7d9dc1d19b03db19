// Springs that act on one side, or beyond a dead band: a run watches them as it watches contacts, but they may be compressed at the start.
#pragma once

#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/forces/watched_contact.h"

namespace liedyn {

class MayBePreloaded {
 public:
  virtual ~MayBePreloaded() = default;
};

template <class E>
class WatchedSpring : public WatchedBatch<E>, public MayBePreloaded {
 public:
  using WatchedBatch<E>::WatchedBatch;
};

// Of an element that never hits anything.
inline Approach no_gap() { return {-std::numeric_limits<double>::infinity(), 0}; }

template <class E>
std::unique_ptr<Batch> make_watched_spring(unsigned shape) {
  if (shape != 0) return make_force<E>(shape);
  return std::make_unique<WatchedSpring<E>>(shape);
}

}  // namespace liedyn

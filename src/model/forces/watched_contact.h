// Contacts and stops as a run watches them (integrators/contact_watch.h): how deep they are, and how fast they close.
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct Approach {
  double depth = -1e300;  // of the deepest point; negative: the gap that is left
  double rate = 0;        // of that depth
  double slip = 0;        // speed of sliding there
  double presliding = 0;  // of the bristles between the surfaces; 0: there are none
};

class WatchedContacts {
 public:
  virtual ~WatchedContacts() = default;
  virtual Approach approach(const Evaluation& at, int element) const = 0;
};

// The batch of an element that has   static Approach approach(const std::array<Motion<double>, 2>&, const double* p).
template <class E>
class WatchedBatch : public BatchOf<E>, public WatchedContacts {
 public:
  using BatchOf<E>::BatchOf;

  Approach approach(const Evaluation& at, int element) const override {
    std::array<Motion<double>, 2> m;
    for (std::size_t i = 0; i < 2; ++i) {
      const Frame& frame = at.frames[this->frames[static_cast<std::size_t>(2 * element) + i]];
      m[i] = FrameView(frame, at.constants, at.nodes, at.motions).motion();
    }
    std::array<double, E::constants> p;
    std::copy_n(at.constants + this->first_constant + element * E::constants, E::constants, p.begin());
    if (const int angles = this->angles_per_element(); angles > 0)
      std::copy_n(at.angles + this->first_angle + element * angles, angles, p.end() - angles);
    return E::approach(m, p.data());
  }
};

template <class E>
std::unique_ptr<Batch> make_watched(unsigned shape) {
  return std::make_unique<WatchedBatch<E>>(shape);
}

}  // namespace liedyn

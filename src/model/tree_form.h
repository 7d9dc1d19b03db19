// How a joint stands in a tree of minimal coordinates (model/tree.h): its motions, one after the other, and where they are. A joint declares it in its Kind;
// one without keeps its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "liedyn/base/varied.h"
#include "liedyn/model/motion.h"

namespace liedyn {

// How a link moves relative to its parent.
enum class LinkKind : std::uint8_t {
  Root,      // a node of its own
  Turn,      // about the z axis of the joint
  Slide,     // along the z axis of the joint
  Rotation,  // about a point
  Weld,
};

// Frames of a joint in the initial configuration, inertial axes, from its own frames on its two bodies there and its numbers: with and without derivatives with
// respect to parameters, from one generic function.
class JointPoses {
 public:
  template <class Generic>
  JointPoses(Generic f) : plain_(f), varied_(f) {}
  void operator()(const Pose<double>* ends, const double* p, Pose<double>* out) const {
    plain_(ends, p, out);
  }
  void operator()(const Pose<Varied>* ends, const Varied* p, Pose<Varied>* out) const {
    varied_(ends, p, out);
  }

 private:
  void (*plain_)(const Pose<double>*, const double*, Pose<double>*);
  void (*varied_)(const Pose<Varied>*, const Varied*, Pose<Varied>*);
};

inline constexpr int kMostTreeMotions = 3;

struct TreeForm {
  std::vector<LinkKind> motions;  // from the first body to the second, at most kMostTreeMotions
  JointPoses motion_frames;       // one per motion, which is about or along its z axis
  JointPoses body_frames;         // one on each body: they coincide where all coordinates are zero
  // Motions of the same kind, each about an axis that one of the bodies carries: where the tree leads from the second body to the first, they change places.
  bool carried_by_bodies = false;
};

}  // namespace liedyn

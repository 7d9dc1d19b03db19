// A rigid body in the plane: its inertia is that of a rigid body in space that does not leave the inertial x-y plane.
#pragma once

#include "liedyn/model/bodies/rigid.h"

namespace liedyn {

struct PlanarInertia : RigidInertia {
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>&, std::string&, std::string&) {}  // the fields' ranges say it all
};

BodyKind planar_body();

}  // namespace liedyn

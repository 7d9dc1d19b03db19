// A force or a torque given by the user, constant or a function of time, with axes that stand still or turn with the body.
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

// `Part` 0: force at a point of the body; 3: torque on the body.
template <int Part>
struct Applied {
  static constexpr int frames = 1, rows = 0, constants = 4;  // components (3), 1 if in body axes
  static constexpr Optional optional = {};
  static constexpr bool stiffness = true, damping = false, inertia = false;

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  // An applied load enters the residual with a minus sign: W = -(R^T f, 0), or -(f, 0) in body axes.
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 1>& f, const S* n,
                     std::array<Vec6T<S>, 1>& W) {
    const Eigen::Map<const Vec3T<S>> load(n);
    W[0].setZero();
    if (n[3] == S(0))
      W[0].template segment<3>(Part) = -(f[0].R.transpose() * load);
    else
      W[0].template segment<3>(Part) = -load;
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 1>& f, const double* n,
                       ForcePartials<1>& d);
};

ListedKind force();
ListedKind torque();

}  // namespace liedyn

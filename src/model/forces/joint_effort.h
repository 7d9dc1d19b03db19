// Torque or force in a joint by an expression of the dynamics (model/states/signal_expression.h): controllers and motors. With the
// joint's coordinate c (model/joint_coordinate.h) and its gradient B_i = dc/dX_i, an effort u(t, ...) in the direction of c adds
//
//   W_i = -B_i^T u,     dW_i = -(G_ij u + B_i^T u_Xj) dX_j - B_i^T u_Vj dV_j
#pragma once

#include "liedyn/model/element.h"

namespace liedyn {

ListedKind joint_effort();

}  // namespace liedyn

// The rotation that a user typed in one of the forms of RotationForm.
#pragma once

#include "liedyn/lie/so3.h"
#include "liedyn/model/element.h"

namespace liedyn {

template <class S>
SO3<S> typed_rotation(const Inputs<S>& in, int field) {
  const S* n = in.values(field);
  using V3 = Vec3T<S>;
  const Eigen::Map<const V3> first(n);
  switch (in.form(field)) {
    case RotationForm::RotationVector: return SO3<S>::exp(first);
    case RotationForm::Cardan:
      return SO3<S>::exp(V3(n[0], S(0), S(0))) * SO3<S>::exp(V3(S(0), n[1], S(0))) *
             SO3<S>::exp(V3(S(0), S(0), n[2]));
    case RotationForm::Quaternion: return SO3<S>::from_quaternion(n[0], V3(n[1], n[2], n[3]));
    case RotationForm::AxisAngle: return SO3<S>::exp((n[3] / first.norm()) * first);
    case RotationForm::Matrix:
      return SO3<S>::from_matrix(Eigen::Map<const Eigen::Matrix<S, 3, 3, Eigen::RowMajor>>(n));
  }
  return {};
}

}  // namespace liedyn

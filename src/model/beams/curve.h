// The relaxed shape of a beam: a straight line or a circular arc, with section axes that may twist along it.
#pragma once

#include "lie/se3.h"
#include "model/element.h"

namespace liedyn {

template <class S>
struct BeamCurve {
  Pose<S> start;
  Vec6T<S> whole;  // twist from the start to the end, but for `twist`: (length, 0, 0) and the angle of the arc
  S twist;         // about the axis, from the start to the end

  const S& length() const { return whole[0]; }
  // At the fraction x of the length.
  Pose<S> at(double x) const {
    const SE3<S> moved = SE3<S>::exp(S(x) * whole);
    const SO3<S> turned = moved.rotation() * SO3<S>::exp(Vec3T<S>(S(x) * twist, S(0), S(0)));
    return {start.R * turned.R(), start.p + start.R * moved.position()};
  }
};

// From the fields that all beams have.
template <class S>
BeamCurve<S> beam_curve(const Inputs<S>& in);

// What is wrong with the fields; empty if nothing is.
std::string beam_curve_mistake(const Inputs<double>& in, std::string& hint);

}  // namespace liedyn

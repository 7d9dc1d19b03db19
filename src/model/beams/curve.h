// The relaxed shape of a beam: a straight line, a circular arc or a smooth curve through given points, with section axes that may twist along it.
//
// The smooth curve is the cubic spline through the points with the chords as parameter, whose third derivative is continuous at the second point and at the
// last but one ("not a knot"): its error is of fourth order in the distance of the points. Places on it are fractions of its length. Its section axes do not turn about
// the tangent (but for the twist), as those of an arc: they are carried on by double reflection (Wang, Juettler, Zheng, Liu, Computation of rotation
// minimizing frames, ACM Trans. Graphics 27, 2008), of fourth order likewise.
#pragma once

#include <vector>

#include "liedyn/lie/se3.h"
#include "liedyn/model/element.h"

namespace liedyn {

// A point of the spline, for a start: fractions of the length are found from the nearest.
template <class S>
struct CurveSample {
  S length;     // from the start
  Vec3T<S> p;   // place
  Mat3T<S> R;   // tangent and section axes without twist
  int segment;  // of the spline, and
  double w;     // the share of its parameter
};

template <class S>
struct BeamCurve {
  Pose<S> start;
  // Of a line or an arc: twist from the start to the end, but for `twist`: (length, 0, 0) and the angle of the arc.
  Vec6T<S> whole;
  S twist;  // about the axis, from the start to the end

  // Of a spline, else empty: its points, distances of these, second derivatives there, and samples.
  std::vector<Vec3T<S>> points, bends;
  std::vector<S> chords;
  std::vector<CurveSample<S>> samples;

  const S& length() const { return samples.empty() ? whole[0] : samples.back().length; }
  // At the fraction x of the length.
  Pose<S> at(double x) const;
};

// From the fields that all beams have.
template <class S>
BeamCurve<S> beam_curve(const Inputs<S>& in);

// What is wrong with the fields; empty if nothing is.
std::string beam_curve_mistake(const Inputs<double>& in, std::string& hint);

}  // namespace liedyn

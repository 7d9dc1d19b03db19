#include "model/beams/curve.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "model/beams/beam.h"

namespace liedyn {
namespace {

template <class S>
Vec3T<S> unit(const Vec3T<S>& x) {
  using std::sqrt;
  return x / sqrt(x.squaredNorm());
}

// Tangent at the start, unit vector along which the arc turns, its angle and its length.
template <class S>
struct Arc {
  Vec3T<S> tangent, axis;
  S angle, length;

  explicit Arc(const Inputs<S>& in) {
    using std::atan2, std::sqrt;
    const Vec3T<S> A = in.vector(kBeamFrom), b = in.vector(kBeamTo) - A;
    if (!in.given(kBeamThrough)) {
      length = sqrt(b.squaredNorm());
      tangent = b / length;
      axis.setZero();
      angle = S(0);
      return;
    }
    // Centre of the circle through A, A + a and A + b, relative to A; its axis is such that they follow each other.
    const Vec3T<S> a = in.vector(kBeamThrough) - A, n = a.cross(b);
    const Vec3T<S> center =
        Vec3T<S>(a.squaredNorm() * b - b.squaredNorm() * a).cross(n) / (S(2) * n.squaredNorm());
    axis = unit(n);
    const Vec3T<S> first = -center, last = b - center;
    angle = atan2(axis.dot(first.cross(last)), first.dot(last));
    if (angle <= S(0)) angle += S(2 * std::numbers::pi);
    length = angle * sqrt(first.squaredNorm());
    tangent = unit(Vec3T<S>(axis.cross(first)));
  }
};

// Direction that the section's y axis is to have at the start, or its z axis if not given.
template <class S>
Vec3T<S> section_y(const Inputs<S>& in, const Vec3T<S>& tangent) {
  if (in.given(kBeamYAxis)) return in.vector(kBeamYAxis);
  const Vec3T<S> up = Vec3T<S>::UnitZ();
  // Along z there is no "up": the y axis is the inertial one.
  if (tangent.z() * tangent.z() > S(0.999)) return Vec3T<S>::UnitY();
  return up.cross(tangent);
}

}  // namespace

template <class S>
BeamCurve<S> beam_curve(const Inputs<S>& in) {
  const Arc<S> arc(in);
  const Vec3T<S> wanted = section_y(in, arc.tangent);
  const Vec3T<S> z = unit(Vec3T<S>(arc.tangent.cross(wanted)));
  BeamCurve<S> out;
  out.start.R << arc.tangent, z.cross(arc.tangent), z;
  out.start.p = in.vector(kBeamFrom);
  out.whole << arc.length, S(0), S(0), out.start.R.transpose() * (arc.angle * arc.axis);
  out.twist = in.number(kBeamTwist);
  return out;
}
template BeamCurve<double> beam_curve<double>(const Inputs<double>&);
template BeamCurve<Varied> beam_curve<Varied>(const Inputs<Varied>&);

std::string beam_curve_mistake(const Inputs<double>& in, std::string& hint) {
  const Vec3 A = in.vector(kBeamFrom), b = in.vector(kBeamTo) - A;
  if (b.norm() == 0) return "from and to are the same point";
  if (in.given(kBeamThrough)) {
    const Vec3 a = in.vector(kBeamThrough) - A;
    if (a.cross(b).norm() <= 1e-9 * (a.norm() + b.norm()) * b.norm()) {
      hint = "leave out `through` for a straight beam";
      return "from, through and to are on a line, expected three points of an arc";
    }
  }
  const Vec3 t = Arc<double>(in).tangent, y = section_y(in, t);
  if (t.cross(y).norm() <= 1e-9 * y.norm() || y.norm() == 0)
    return "y_axis is along the beam or zero, expected a direction across it";
  // The motion from node to node is known up to whole turns only.
  const BeamMesh mesh = beam_mesh(in.description(), in.entry());
  const BeamCurve<double> curve = beam_curve(in);
  const double turn = std::hypot(curve.whole.tail<3>().norm(), curve.twist), half = std::numbers::pi;
  if (turn >= half * mesh.elements * mesh.order * (1 - 1e-9)) {
    hint = "the axes of two nodes that follow each other must differ by less than half a turn";
    return fmt::format(
        "turns by {:.4g} degrees from its start to its end: expected at least {} elements, got {}",
        turn * 180 / half, static_cast<int>(turn / (half * mesh.order) * (1 + 1e-9)) + 1, mesh.elements);
  }
  return {};
}

}  // namespace liedyn

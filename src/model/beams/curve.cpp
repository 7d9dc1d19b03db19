#include "liedyn/model/beams/curve.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "liedyn/model/beams/beam.h"

namespace liedyn {
namespace {

template <class S>
Vec3T<S> unit(const Vec3T<S>& x) {
  using std::sqrt;
  return x / sqrt(x.squaredNorm());
}

double value_of(double x) { return x; }
double value_of(const Varied& x) { return x.v; }

int through_points(const Entry& beam) {
  const FieldValue& value = beam.fields[kBeamThrough];
  return value.given && value.first >= 0 ? value.count / 3 : 0;
}

// Tangent at the start, unit vector along which the arc turns, its angle and its length.
template <class S>
struct Arc {
  Vec3T<S> tangent, axis;
  S angle, length;

  explicit Arc(const Inputs<S>& in) {
    using std::atan2, std::sqrt;
    const Vec3T<S> A = in.vector(kBeamFrom), b = in.vector(kBeamTo) - A;
    if (through_points(in.entry()) == 0) {
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

// The spline: its place, its derivative by the share w of the parameter of a segment, and lengths.
template <class S>
struct Spline {
  const BeamCurve<S>& c;

  Vec3T<S> place(int i, const S& w) const {
    const auto k = static_cast<std::size_t>(i);
    const S v = S(1) - w, h2 = c.chords[k] * c.chords[k] / S(6);
    return v * c.points[k] + w * c.points[k + 1] + (h2 * (v * v * v - v)) * c.bends[k] +
           (h2 * (w * w * w - w)) * c.bends[k + 1];
  }
  Vec3T<S> slope(int i, const S& w) const {
    const auto k = static_cast<std::size_t>(i);
    const S v = S(1) - w, h2 = c.chords[k] * c.chords[k] / S(6);
    return c.points[k + 1] - c.points[k] + (h2 * (S(1) - S(3) * v * v)) * c.bends[k] +
           (h2 * (S(3) * w * w - S(1))) * c.bends[k + 1];
  }
  S speed(int i, const S& w) const {
    using std::sqrt;
    return sqrt(slope(i, w).squaredNorm());
  }
  // By Gauss' rule with four points.
  S length(int i, const S& from, const S& to) const {
    constexpr double kPlace[2] = {0.33998104358485626, 0.86113631159405258};
    constexpr double kWeight[2] = {0.65214515486254614, 0.34785484513745386};
    const S middle = S(0.5) * (from + to), half = S(0.5) * (to - from);
    S out(0);
    for (int k = 0; k < 2; ++k)
      out +=
          S(kWeight[k]) * (speed(i, middle - S(kPlace[k]) * half) + speed(i, middle + S(kPlace[k]) * half));
    return half * out;
  }
};

// Second derivatives m_i of the spline at the points, by the tridiagonal equations
//   h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 ((p_{i+1} - p_i) / h_i - (p_i - p_{i-1}) / h_{i-1})
// where the first and the last m continue the line through their two neighbours.
template <class S>
std::vector<Vec3T<S>> bends_of(const std::vector<Vec3T<S>>& p, const std::vector<S>& h) {
  const std::size_t n = p.size();
  std::vector<Vec3T<S>> m(n);
  std::vector<S> diagonal(n), above(n);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    m[i] = S(6) * ((p[i + 1] - p[i]) / h[i] - (p[i] - p[i - 1]) / h[i - 1]);
    S below = h[i - 1];
    diagonal[i] = S(2) * (h[i - 1] + h[i]);
    above[i] = h[i];
    if (i == 1) {
      diagonal[i] += h[0] + h[0] * h[0] / h[1];
      above[i] -= h[0] * h[0] / h[1];
    }
    if (i + 2 == n) {
      diagonal[i] += h[i] + h[i] * h[i] / h[i - 1];
      below -= h[i] * h[i] / h[i - 1];
    }
    if (i == 1) continue;
    const S factor = below / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    m[i] -= factor * m[i - 1];
  }
  for (std::size_t i = n - 2; i >= 1; --i) {
    if (i + 2 < n) m[i] -= above[i] * m[i + 1];
    m[i] /= diagonal[i];
  }
  m[0] = m[1] + (h[0] / h[1]) * (m[1] - m[2]);
  m[n - 1] = m[n - 2] + (h[n - 2] / h[n - 3]) * (m[n - 2] - m[n - 3]);
  return m;
}

// Axes R at p carried on to the tangent t at the place q: mirrored at the plane between p and q, then so that the tangents agree.
template <class S>
Mat3T<S> carried(const Mat3T<S>& R, const Vec3T<S>& p, const Vec3T<S>& q, const Vec3T<S>& t) {
  const auto mirrored = [](const Vec3T<S>& x, const Vec3T<S>& n) {
    return Vec3T<S>(x - (S(2) * n.dot(x) / n.squaredNorm()) * n);
  };
  const Vec3T<S> n = q - p;
  if (value_of(n.squaredNorm()) == 0) return R;
  const Vec3T<S> tangent = mirrored(R.col(0), n);
  Mat3T<S> out;
  out.col(0) = t;
  out.col(1) = mirrored(mirrored(R.col(1), n), t - tangent);
  out.col(2) = t.cross(Vec3T<S>(out.col(1)));
  return out;
}

constexpr int kSamplesPerSegment = 16;

template <class S>
void set_points(const Inputs<S>& in, BeamCurve<S>& out) {
  using std::sqrt;
  out.points.push_back(in.vector(kBeamFrom));
  for (int i = 0; i < through_points(in.entry()); ++i) out.points.push_back(in.vector(kBeamThrough, i));
  out.points.push_back(in.vector(kBeamTo));
  for (std::size_t i = 0; i + 1 < out.points.size(); ++i)
    out.chords.push_back(sqrt((out.points[i + 1] - out.points[i]).squaredNorm()));
  out.bends = bends_of(out.points, out.chords);
}

// From the axes at the start.
template <class S>
void set_samples(BeamCurve<S>& out) {
  const Spline<S> spline{out};
  const int segments = static_cast<int>(out.chords.size());
  out.samples.push_back({S(0), out.start.p, out.start.R, 0, 0.0});
  for (int i = 0; i < segments; ++i)
    for (int k = 1; k <= kSamplesPerSegment; ++k) {
      const double from = static_cast<double>(k - 1) / kSamplesPerSegment,
                   to = static_cast<double>(k) / kSamplesPerSegment;
      const CurveSample<S>& last = out.samples.back();
      const Vec3T<S> p = spline.place(i, S(to)), t = unit(spline.slope(i, S(to)));
      out.samples.push_back(
          {last.length + spline.length(i, S(from), S(to)), p, carried(last.R, last.p, p, t), i, to});
    }
}

}  // namespace

template <class S>
Pose<S> BeamCurve<S>::at(double x) const {
  const SO3<S> turned = SO3<S>::exp(Vec3T<S>(S(x) * twist, S(0), S(0)));
  if (samples.empty()) {
    const SE3<S> moved = SE3<S>::exp(S(x) * whole);
    return {start.R * (moved.rotation() * turned).R(), start.p + start.R * moved.position()};
  }
  // The samples that it is between, then Newton's method for the parameter where the length is the one wanted.
  const S wanted = S(x) * length();
  std::size_t k = 0;
  while (k + 2 < samples.size() && value_of(samples[k + 1].length) <= value_of(wanted)) ++k;
  const int segment = samples[k + 1].segment;
  const S begin(samples[k].segment == segment ? samples[k].w : 0.0), left = wanted - samples[k].length;
  const Spline<S> spline{*this};
  S w = begin;
  for (int i = 0; i < 6; ++i) w -= (spline.length(segment, begin, w) - left) / spline.speed(segment, w);
  const Vec3T<S> p = spline.place(segment, w), t = unit(spline.slope(segment, w));
  // The axes come from one sample before these: the direction from it is certain.
  const CurveSample<S>& from = samples[k == 0 ? 0 : k - 1];
  return {carried(from.R, from.p, p, t) * turned.R(), p};
}
template Pose<double> BeamCurve<double>::at(double) const;
template Pose<Varied> BeamCurve<Varied>::at(double) const;

template <class S>
BeamCurve<S> beam_curve(const Inputs<S>& in) {
  BeamCurve<S> out;
  out.twist = in.number(kBeamTwist);
  const auto set_start = [&](const Vec3T<S>& tangent) {
    const Vec3T<S> z = unit(Vec3T<S>(tangent.cross(section_y(in, tangent))));
    out.start.R << tangent, z.cross(tangent), z;
    out.start.p = in.vector(kBeamFrom);
  };
  if (through_points(in.entry()) > 1) {
    set_points(in, out);
    set_start(unit(Spline<S>{out}.slope(0, S(0))));
    set_samples(out);
    return out;
  }
  const Arc<S> arc(in);
  set_start(arc.tangent);
  out.whole << arc.length, S(0), S(0), out.start.R.transpose() * (arc.angle * arc.axis);
  return out;
}
template BeamCurve<double> beam_curve<double>(const Inputs<double>&);
template BeamCurve<Varied> beam_curve<Varied>(const Inputs<Varied>&);

namespace {

// What is wrong with the points of a spline.
std::string points_mistake(const Inputs<double>& in, std::string& hint) {
  BeamCurve<double> curve;
  set_points(in, curve);
  const auto name = [&](std::size_t i) {
    return i == 0                         ? std::string("from")
           : i + 1 == curve.points.size() ? std::string("to")
                                          : fmt::format("through[{}]", i - 1);
  };
  const double whole = std::accumulate(curve.chords.begin(), curve.chords.end(), 0.0);
  for (std::size_t i = 0; i < curve.chords.size(); ++i)
    if (!(curve.chords[i] > 1e-9 * whole))
      return fmt::format("{} and {} are the same point", name(i), name(i + 1));
  constexpr std::string_view kRule =
      "give more points where the beam bends; a beam with a corner is two beams and a fixed joint, or two "
      "members of a frame";
  // Where chords turn by more, the spline swings to both sides of them.
  constexpr double kMostTurn = 60;
  for (std::size_t i = 1; i < curve.chords.size(); ++i) {
    const Vec3 before = curve.points[i] - curve.points[i - 1], after = curve.points[i + 1] - curve.points[i];
    const double turn = std::atan2(before.cross(after).norm(), before.dot(after)) * 180 / std::numbers::pi;
    if (turn <= kMostTurn * (1 + 1e-9)) continue;
    hint = kRule;
    return fmt::format(
        "turns by {:.4g} degrees at {}, expected at most {} from point to point of a smooth curve", turn,
        name(i), kMostTurn);
  }
  // The speed is 1 but for bends between points; it is small where the curve turns back.
  const Spline<double> spline{curve};
  for (std::size_t i = 0; i < curve.chords.size(); ++i)
    for (int k = 0; k <= kSamplesPerSegment; ++k) {
      const double w = static_cast<double>(k) / kSamplesPerSegment;
      if (spline.speed(static_cast<int>(i), w) >= 0.3 * curve.chords[i]) continue;
      hint = kRule;
      return fmt::format("the curve has a corner between {} and {}", name(i), name(i + 1));
    }
  return {};
}

}  // namespace

std::string beam_curve_mistake(const Inputs<double>& in, std::string& hint) {
  const Vec3 A = in.vector(kBeamFrom), b = in.vector(kBeamTo) - A;
  const int points = through_points(in.entry());
  if (points < 2 && b.norm() == 0) return "from and to are the same point";
  if (points == 1) {
    const Vec3 a = in.vector(kBeamThrough) - A;
    if (a.cross(b).norm() <= 1e-9 * (a.norm() + b.norm()) * b.norm()) {
      hint = "leave out `through` for a straight beam";
      return "from, through and to are on a line, expected three points of an arc";
    }
  }
  if (points > 1)
    if (std::string mistake = points_mistake(in, hint); !mistake.empty()) return mistake;
  Vec3 t;
  if (points > 1) {
    BeamCurve<double> curve;
    set_points(in, curve);
    t = Spline<double>{curve}.slope(0, 0).normalized();
  } else {
    t = Arc<double>(in).tangent;
  }
  const Vec3 y = section_y(in, t);
  if (t.cross(y).norm() <= 1e-9 * y.norm() || y.norm() == 0)
    return "y_axis is along the beam or zero, expected a direction across it";
  // The motion from node to node is known up to whole turns only.
  const BeamMesh mesh = beam_mesh(in.description(), in.entry());
  const BeamCurve<double> curve = beam_curve(in);
  const int steps = mesh.elements * mesh.order;
  const double half = std::numbers::pi;
  constexpr std::string_view kRule = "the axes of consecutive nodes must differ by less than half a turn";
  if (points > 1) {
    std::size_t k = 1;
    for (int i = 0; i < steps; ++i) {
      double turn = 0;
      for (; k < curve.samples.size() &&
             curve.samples[k].length <= curve.length() * (i + 1) / steps * (1 + 1e-12);
           ++k) {
        const Vec3 u = curve.samples[k - 1].R.col(0), v = curve.samples[k].R.col(0);
        turn += std::atan2(u.cross(v).norm(), u.dot(v));
      }
      turn = std::hypot(turn, curve.twist / steps);
      if (turn < half * (1 - 1e-9)) continue;
      hint = kRule;
      return fmt::format("turns by {:.4g} degrees between nodes {} and {}: expected more than {} elements",
                         turn * 180 / half, i, i + 1, mesh.elements);
    }
    return {};
  }
  const double turn = std::hypot(curve.whole.tail<3>().norm(), curve.twist);
  if (turn >= half * steps * (1 - 1e-9)) {
    hint = kRule;
    return fmt::format(
        "turns by {:.4g} degrees from its start to its end: expected at least {} elements, got {}",
        turn * 180 / half, static_cast<int>(turn / (half * mesh.order) * (1 + 1e-9)) + 1, mesh.elements);
  }
  return {};
}

}  // namespace liedyn

// Contact of two bodies. The shapes give points of contact, each with its penetration d, the unit normal n from the first body to the
// second and the point P midway between the two surfaces. There the second body has the velocity u relative to the first, and
//
//   d' = -n.u,    F = N n + T    on the second body, -F on the first, both at P
//
// with N and T of model/forces/contact_law.h and the sliding velocity u - n (n.u). A plane fills the half space below it. It touches a capsule
// at its two ends, a box at its eight corners. Two boxes touch where corners and points of the edges of one are inside the other, a box touches a
// capsule at its ends and at points of its axis; at each of these points with the whole stiffness. Other shapes touch at the points that are
// nearest to each other. The shapes:
//
//   sphere     centre and radius; a point has the radius 0
//   capsule    the points within a radius of a segment: centre, direction, length
//   box        centre, edges and orientation
//   disc       a wheel: a circle about an axis, and the radius of its rounded edge
//   bearing    a hole with an axis: the second body has a journal in it, thinner by the radial clearance c. The journal's axis is
//              displaced by e across the bearing's, d = |e| - c, n = -e/|e|, at one section or at both ends.
#pragma once

#include "liedyn/model/forces/contact_law.h"
#include "liedyn/model/forces/watched_contact.h"

namespace liedyn {

inline constexpr int kFrictionFields = 4;

template <class S>
using FramePair = std::array<Motion<S>, 2>;

template <class S>
Eigen::Map<const Vec3T<S>> vector_at(const S* p) {
  return Eigen::Map<const Vec3T<S>>(p);
}

// The shapes: what a user types of them, and their numbers in the axes of their body. `body`: which of the two.
struct PlaneShape {
  static constexpr const char* name = "plane";
  static constexpr const char* point = "a point of the plane";
  static constexpr int constants = 3, fields = 1;  // normal
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
struct SphereShape {
  static constexpr const char* name = "sphere";
  static constexpr const char* point = "the centre of the sphere";
  static constexpr int constants = 1, fields = 1;  // radius
  static constexpr bool oriented = false;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>&, int, std::string&, std::string&) {}
};
struct CapsuleShape {
  static constexpr const char* name = "capsule";
  static constexpr const char* point = "the centre of the capsule";
  static constexpr int constants = 4, fields = 3;  // from the centre to one end of the segment, radius
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
struct BoxShape {
  static constexpr const char* name = "box";
  static constexpr const char* point = "the centre of the box";
  static constexpr int constants = 12, fields = 2;  // half of the edges, their directions
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
// With the number of points of its edges, or of the other's axis, between their ends.
struct SampledBoxShape : BoxShape {
  static constexpr int constants = BoxShape::constants + 1, fields = BoxShape::fields + 1;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
struct DiscShape {
  static constexpr const char* name = "disc";
  static constexpr const char* point = "the centre of the disc";
  static constexpr int constants = 5, fields = 3;  // axis, radius of the circle, radius of the edge
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
// The journal's numbers stand beside those of the bearing, whose fields describe both.
struct BearingShape {
  static constexpr const char* name = "bearing";
  static constexpr const char* point = "the centre of the bearing";
  static constexpr int constants = 3, fields = 1;  // axis
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>& in, int first, std::string& message, std::string& hint);
};
struct JournalShape {
  static constexpr const char* name = "journal";
  static constexpr const char* point = "the centre of the journal";
  static constexpr int
      constants = 6,
      fields = 3;  // from the centre to one end of its axis, clearance, radius, number of sections
  static constexpr bool oriented = true;
  static std::vector<Field> shape_fields(int body);
  template <class S>
  static void derive(const Inputs<S>& in, int first, int body, S* p);
  static void check(const Inputs<double>&, int, std::string&, std::string&) {}
};

// Visits the points of contact: visit.skips(depth) says whether a point is of no interest, visit(depth, n, P) takes it.

template <class S, class Visit>
void touch_plane(const Vec3T<S>& n, const Vec3T<S>& of_plane, const Vec3T<S>& center, const S& radius,
                 Visit&& visit) {
  const S depth = radius - n.dot(center - of_plane);
  if (!visit.skips(depth)) visit(depth, n, Vec3T<S>(center - (radius - depth / 2) * n));
}
// Two points with a radius each. Coincident centres have no normal.
template <class S, class Visit>
void touch_points(const Vec3T<S>& first, const S& first_radius, const Vec3T<S>& second,
                  const S& second_radius, Visit&& visit) {
  using std::sqrt;
  const Vec3T<S> span = second - first;
  const S square = span.squaredNorm();
  if (!(square > S(0))) return;
  const S distance = sqrt(square), depth = first_radius + second_radius - distance;
  if (visit.skips(depth)) return;
  const Vec3T<S> n = span / distance;
  visit(depth, n, Vec3T<S>(first + (first_radius - depth / 2) * n));
}
template <class S>
S clamped(const S& x, const S& most) {
  return x > most ? most : x < -most ? S(-most) : x;
}

template <class S, class Visit>
void touch(PlaneShape, SphereShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  touch_plane<S>(f[0].R * vector_at(a), f[0].p, f[1].p, b[0], visit);
}
template <class S, class Visit>
void touch(PlaneShape, CapsuleShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  const Vec3T<S> n = f[0].R * vector_at(a), half = f[1].R * vector_at(b);
  touch_plane<S>(n, f[0].p, f[1].p + half, b[3], visit);
  touch_plane<S>(n, f[0].p, f[1].p - half, b[3], visit);
}
template <class S, class Visit>
void touch(PlaneShape, BoxShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  const Vec3T<S> n = f[0].R * vector_at(a);
  const Mat3T<S> edges = f[1].R * Eigen::Map<const Mat3T<S>>(b + 3) * vector_at(b).asDiagonal();
  for (int corner = 0; corner < 8; ++corner) {
    const auto sign = [&](int k) { return S((corner >> k) % 2 == 0 ? 1.0 : -1.0); };
    const Vec3T<S> at = f[1].p + sign(0) * edges.col(0) + sign(1) * edges.col(1) + sign(2) * edges.col(2);
    touch_plane<S>(n, f[0].p, at, S(0), visit);
  }
}
// The lowest point of the circle, c - rho m/|m| with m = n - a (a.n); a disc that lies flat is held at its centre.
template <class S, class Visit>
void touch(PlaneShape, DiscShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  constexpr double kFlat = 1e-24;
  const Vec3T<S> n = f[0].R * vector_at(a), axis = f[1].R * vector_at(b), m = n - axis * axis.dot(n);
  Vec3T<S> lowest = f[1].p;
  if (m.squaredNorm() > S(kFlat)) lowest -= b[3] / m.norm() * m;
  touch_plane<S>(n, f[0].p, lowest, b[4], visit);
}
template <class S, class Visit>
void touch(SphereShape, SphereShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  touch_points<S>(f[0].p, a[0], f[1].p, b[0], visit);
}
template <class S, class Visit>
void touch(SphereShape, CapsuleShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  const Vec3T<S> half = f[1].R * vector_at(b);
  const S square = half.squaredNorm();
  Vec3T<S> nearest = f[1].p;
  if (square > S(0)) nearest += clamped(S(half.dot(f[0].p - f[1].p) / square), S(1)) * half;
  touch_points<S>(f[0].p, a[0], nearest, b[3], visit);
}
// Segments c_1 + s h_1 and c_2 + t h_2 with s, t in [-1, 1]: the minimum of |c_1 + s h_1 - c_2 - t h_2|^2 without the limits, then t for
// that s within its limits, then s for that t. Of parallel segments the point nearest to the middle of the first.
template <class S, class Visit>
void touch(CapsuleShape, CapsuleShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  constexpr double kParallel = 1e-14;  // sine squared
  const Vec3T<S> h1 = f[0].R * vector_at(a), h2 = f[1].R * vector_at(b), d = f[0].p - f[1].p;
  const S A = h1.squaredNorm(), B = h1.dot(h2), C = h2.squaredNorm(), D = h1.dot(d), E = h2.dot(d);
  S s(0), t(0);
  const S determinant = A * C - B * B;
  if (determinant > S(kParallel) * A * C) s = clamped(S((B * E - C * D) / determinant), S(1));
  if (C > S(0)) {
    const S free = (B * s + E) / C;
    t = clamped(free, S(1));
    if (A > S(0) && (t < free || t > free || !(determinant > S(kParallel) * A * C)))
      s = clamped(S((B * t - D) / A), S(1));
  } else if (A > S(0)) {
    s = clamped(S(-D / A), S(1));
  }
  touch_points<S>(f[0].p + s * h1, a[3], f[1].p + t * h2, b[3], visit);
}
// A point with a radius and a box: outside of the box its nearest point, inside the nearest face. `normal_out`: the box is the first body.
template <class S, class Visit>
void touch_box(const Vec3T<S>& center, const S& radius, const Pose<S>& body, const S* box, bool normal_out,
               Visit&& visit) {
  const Mat3T<S> axes = body.R * Eigen::Map<const Mat3T<S>>(box + 3);
  const Vec3T<S> x = axes.transpose() * (center - body.p), half = vector_at(box);
  bool inside = true;
  int face = 0;
  Vec3T<S> nearest, left;
  for (int k = 0; k < 3; ++k) {
    nearest[k] = clamped(x[k], half[k]);
    left[k] = half[k] - (x[k] < S(0) ? S(-x[k]) : x[k]);
    inside = inside && left[k] >= S(0);
    if (left[k] < left[face]) face = k;
  }
  if (!inside) {
    const Vec3T<S> on_box = body.p + axes * nearest;
    if (normal_out) return touch_points<S>(on_box, S(0), center, radius, visit);
    return touch_points<S>(center, radius, on_box, S(0), visit);
  }
  const Vec3T<S> outward = (x[face] < S(0) ? S(-1) : S(1)) * axes.col(face);
  const S depth = radius + left[face];
  if (!visit.skips(depth))
    visit(depth, normal_out ? outward : Vec3T<S>(-outward),
          Vec3T<S>(center + (left[face] - radius) / 2 * outward));
}
template <class S, class Visit>
void touch(SphereShape, BoxShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  touch_box<S>(f[0].p, a[0], f[1], b, false, visit);
}
// Where the i-th of `count` points between the ends -1 and 1 is.
inline double between_ends(int i, int count) { return 2.0 * (i + 1) / (count + 1) - 1; }
template <class S, class Visit>
void touch(CapsuleShape, SampledBoxShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  const Vec3T<S> half = f[0].R * vector_at(a);
  const int count = static_cast<int>(value(b[BoxShape::constants]));
  for (int i = -1; i <= count; ++i)
    touch_box<S>(f[0].p + between_ends(i, count) * half, a[3], f[1], b, false, visit);
}
// Corners, then the edges along each of the axes.
template <class S, class Visit>
void touch_edges(const Pose<S>& body, const S* box, int count, const Pose<S>& other, const S* other_box,
                 bool normal_out, Visit&& visit) {
  const Mat3T<S> edges = body.R * Eigen::Map<const Mat3T<S>>(box + 3) * vector_at(box).asDiagonal();
  const auto point = [&](const Vec3& x) {
    const Vec3T<S> at = body.p + edges * x.template cast<S>();
    touch_box<S>(at, S(0), other, other_box, normal_out, visit);
  };
  const auto sign = [](int bits, int k) { return (bits >> k) % 2 == 0 ? 1.0 : -1.0; };
  for (int corner = 0; corner < 8; ++corner) point({sign(corner, 0), sign(corner, 1), sign(corner, 2)});
  for (int axis = 0; axis < 3; ++axis)
    for (int edge = 0; edge < 4; ++edge)
      for (int i = 0; i < count; ++i) {
        Vec3 x;
        x[axis] = between_ends(i, count);
        x[(axis + 1) % 3] = sign(edge, 0);
        x[(axis + 2) % 3] = sign(edge, 1);
        point(x);
      }
}
template <class S, class Visit>
void touch(BoxShape, SampledBoxShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  const int count = static_cast<int>(value(b[BoxShape::constants]));
  touch_edges<S>(f[0], a, count, f[1], b, false, visit);
  touch_edges<S>(f[1], b, count, f[0], a, true, visit);
}
template <class S, class Visit>
void touch(BearingShape, JournalShape, const FramePair<S>& f, const S* a, const S* b, Visit&& visit) {
  using std::sqrt;
  const Vec3T<S> axis = f[0].R * vector_at(a), half = f[1].R * vector_at(b);
  const auto section = [&](const Vec3T<S>& center) {
    const Vec3T<S> span = center - f[0].p, e = span - axis * axis.dot(span);
    const S square = e.squaredNorm();
    if (!(square > S(0))) return;
    const S eccentricity = sqrt(square), depth = eccentricity - b[3];
    if (visit.skips(depth)) return;
    const Vec3T<S> outward = e / eccentricity;
    visit(depth, Vec3T<S>(-outward), Vec3T<S>(center + (b[4] - depth / 2) * outward));
  };
  if (b[5] == S(1)) return section(f[1].p);
  section(f[1].p + half);
  section(f[1].p - half);
}

// Adds a force on the second body at a point, and its reaction on the first.
template <class S>
void push_at(const FramePair<S>& f, const Vec3T<S>& at, const Vec3T<S>& F, std::array<Vec6T<S>, 2>& W) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Vec3T<S> own = f[i].R.transpose() * F, arm = f[i].R.transpose() * (at - f[i].p);
    Vec6T<S> on_body;
    on_body << own, arm.cross(own);
    if (i == 0)
      W[i] += on_body;
    else
      W[i] -= on_body;
  }
}

// At how many points two shapes may touch, in the order in which touch() asks skips() about them; 0: this depends on their numbers.
template <class First, class Second>
inline constexpr int contact_points = 1;
template <>
inline constexpr int contact_points<PlaneShape, CapsuleShape> = 2;
template <>
inline constexpr int contact_points<PlaneShape, BoxShape> = 8;
template <>
inline constexpr int contact_points<BearingShape, JournalShape> = 0;
template <>
inline constexpr int contact_points<CapsuleShape, SampledBoxShape> = 0;
template <>
inline constexpr int contact_points<BoxShape, SampledBoxShape> = 0;

template <class First, class Second>
struct Contact {
  static constexpr int frames = 2, rows = 0;
  static constexpr int constants = First::constants + Second::constants + kContactConstants;
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};
  enum Fields {
    kBetween,
    kPoints,
    kFirst,
    kSecond = kFirst + First::fields,
    kNormal = kSecond + Second::fields,
    kFriction = kNormal + kNormalFields,
    kBristles = kFriction + kFrictionFields
  };

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  // All but the friction.
  static void check_shapes(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  static Vec3T<S> relative_velocity(const FramePair<S>& f, const Vec3T<S>& at) {
    const Vec3T<S> w1 = f[0].R * f[0].V.template tail<3>(), w2 = f[1].R * f[1].V.template tail<3>();
    return f[1].velocity() + w2.cross(at - f[1].p) - f[0].velocity() - w1.cross(at - f[0].p);
  }

  template <class S>
  struct Push {
    const FramePair<S>& f;
    const S* law;
    std::array<Vec6T<S>, 2>& W;

    static bool skips(const S& depth) { return !(depth > S(0)); }
    void operator()(const S& depth, const Vec3T<S>& n, const Vec3T<S>& at) const {
      const Vec3T<S> u = relative_velocity<S>(f, at);
      const S away = n.dot(u), N = normal_force<S>(depth, -away, law);
      if (!(N > S(0))) return;
      const S* friction = law + kNormalConstants;
      Vec3T<S> F = N * n;
      // A coefficient of 0 may be a parameter to be varied.
      if (is_varied<S> || friction[0] > S(0) || friction[1] > S(0)) {
        const Vec3T<S> slip = u - away * n;
        F += N * friction_per_speed<S>(slip.squaredNorm(), friction) * slip;
      }
      push_at<S>(f, at, F, W);
    }
  };

  template <class S>
  static void wrench(const World<S>&, const FramePair<S>& f, const S* p, std::array<Vec6T<S>, 2>& W) {
    for (Vec6T<S>& w : W) w.setZero();
    touch(First(), Second(), f, p, p + First::constants, Push<S>{f, law(p), W});
  }
  static void partials(const World<double>&, const FramePair<double>& f, const double* p,
                       ForcePartials<2>& d);

  template <class S>
  struct Store {
    const S* law;
    S& sum;
    static bool skips(const S& depth) { return !(depth > S(0)); }
    void operator()(const S& depth, const Vec3T<S>&, const Vec3T<S>&) const {
      sum += normal_energy<S>(depth, law);
    }
  };
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const FramePair<S>& f, const S* p) {
    EnergyOf<S> out;
    touch(First(), Second(), f, p, p + First::constants, Store<S>{law(p), out.potential});
    return out;
  }

  struct Deepest {
    const FramePair<double>& f;
    Approach& found;
    bool skips(double depth) const { return !(depth > found.depth); }
    void operator()(double depth, const Vec3& n, const Vec3& at) const {
      const Vec3 u = relative_velocity<double>(f, at);
      found = {depth, -n.dot(u), (u - n.dot(u) * n).norm()};
    }
  };
  static Approach approach(const FramePair<double>& f, const double* p) {
    Approach out;
    touch(First(), Second(), f, p, p + First::constants, Deepest{f, out});
    return out;
  }

  template <class S>
  static const S* law(const S* p) {
    return p + First::constants + Second::constants;
  }
};

using PlaneSphere = Contact<PlaneShape, SphereShape>;
using PlaneCapsule = Contact<PlaneShape, CapsuleShape>;
using PlaneBox = Contact<PlaneShape, BoxShape>;
using Wheel = Contact<PlaneShape, DiscShape>;
using SphereSphere = Contact<SphereShape, SphereShape>;
using SphereCapsule = Contact<SphereShape, CapsuleShape>;
using SphereBox = Contact<SphereShape, BoxShape>;
using CapsuleBox = Contact<CapsuleShape, SampledBoxShape>;
using BoxBox = Contact<BoxShape, SampledBoxShape>;
using CapsuleCapsule = Contact<CapsuleShape, CapsuleShape>;
using Clearance = Contact<BearingShape, JournalShape>;

std::vector<ListedKind> contact_kinds();

}  // namespace liedyn

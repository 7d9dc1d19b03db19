#include "liedyn/model/joints/gear_mesh.h"

#include <fmt/format.h>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/joints/coordinate_rows.h"

namespace liedyn {
namespace {

enum Fields { kJoints, kAt, kNormal, kPressureAngle, kHelixAngle, kFlanks };

constexpr double kParallel = 1e-9;  // sine of an angle below which directions count as parallel
constexpr double kOffLine =
    1e-3;  // likewise of the arms of parallel wheels: places are typed with some digits

// One of the two, in inertial axes in the initial configuration.
template <class S>
struct Wheel {
  bool turns;         // a rack does not
  Vec3T<S> a, arm;    // its axis; from the axis to P, across it
  Vec3T<S> velocity;  // of P with it, for a rate of 1 of its coordinate
  Vec3T<S> t;         // the direction of that; no numbers if there is none
};

template <class S>
Wheel<S> wheel(const Inputs<S>& in, int i, const S* axes) {
  const Pose<S>& carrier = in.frame(2 * i);
  Wheel<S> out;
  out.turns = in.joint(i).kind().coordinates.angle;
  out.a = carrier.R * JointAxes<S>(axes).first.col(2);
  const Vec3T<S> from = in.vector(kAt) - carrier.p;
  out.arm = from - out.a * out.a.dot(from);
  out.velocity = out.turns ? Vec3T<S>(out.a.cross(out.arm)) : out.a;
  out.t = out.velocity / out.velocity.norm();
  return out;
}

// Where the pitch surfaces of two wheels have the same velocity: the direction of the line along which they touch.
template <class S>
Vec3T<S> generator(const Inputs<S>& in, const std::array<Wheel<S>, 2>& w) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!w[i].turns) return w[1 - i].a;
  const Vec3T<S> across = w[0].a.cross(w[1].a);
  const S square = across.squaredNorm();
  if (square < S(kParallel * kParallel)) return w[0].a;
  // Towards the apex of the pitch cones, where the axes meet: c_1 + a_1 (d x a_2).(a_1 x a_2)/|a_1 x a_2|^2
  const Vec3T<S> d = in.frame(2).p - in.frame(0).p;
  const Vec3T<S> apex = in.frame(0).p + w[0].a * (d.cross(w[1].a).dot(across) / square);
  return apex - in.vector(kAt);
}

// From the first wheel into the second: towards the axis of a wheel with outer teeth, away from that of a ring.
template <class S>
Vec3T<S> radial(const Inputs<S>& in, const std::array<Wheel<S>, 2>& w) {
  const Vec3T<S> across = w[0].t.cross(w[1].t);
  Vec3T<S> rho = across.squaredNorm() > S(kParallel * kParallel) ? across : w[0].t.cross(generator(in, w));
  rho /= rho.norm();
  const bool internal = w[0].turns && w[1].turns && w[0].arm.dot(w[1].arm) > S(0) &&
                        w[0].a.cross(w[1].a).squaredNorm() < S(kParallel * kParallel);
  const bool ring_first = internal && w[0].arm.squaredNorm() > w[1].arm.squaredNorm();
  const S outwards = w[0].turns && !ring_first ? rho.dot(w[0].arm) : S(-rho.dot(w[1].arm));
  if ((w[0].turns || w[1].turns) && outwards < S(0)) rho = -rho;
  return rho;
}

template <class S>
Vec3T<S> normal(const Inputs<S>& in, const std::array<Wheel<S>, 2>& w) {
  using std::cos, std::sin;
  if (in.stored(kNormal)) return in.vector(kNormal) / in.vector(kNormal).norm();
  const Vec3T<S> rho = radial(in, w);
  const Wheel<S>& of_helix = w[w[0].turns ? 0 : 1];
  Vec3T<S> g = rho.cross(of_helix.t);
  if (of_helix.turns && g.dot(of_helix.a) < S(0)) g = -g;
  const S alpha = in.number(kPressureAngle), beta = in.number(kHelixAngle);
  Vec3T<S> n_t = rho.cross(Vec3T<S>(cos(beta) * g + sin(beta) * of_helix.t));
  n_t /= n_t.norm();
  if (n_t.dot(w[0].t) < S(0)) n_t = -n_t;
  return cos(alpha) * n_t + sin(alpha) * rho;
}

}  // namespace

std::vector<Attachment> GearMesh::attachments() { return frames_of_joint(kJoints, 2); }

template <class S>
void GearMesh::derive(const Inputs<S>& in, S* p) {
  std::array<Wheel<S>, 2> w;
  for (int i = 0; i < 2; ++i) {
    derive_line_axes(in, i, p + side * i);
    w[static_cast<std::size_t>(i)] = wheel(in, i, p + side * i);
  }
  const Vec3T<S> n = normal(in, w);
  Vec3T<S> pushing = Vec3T<S>::Zero();
  if (in.choice(kFlanks) == 1) {
    const Vec3T<S> rho = radial(in, w);
    pushing = rho * rho.dot(n);
  }
  for (int i = 0; i < 2; ++i) {
    S* own = p + side * i;
    derive_line(in, i, in.vector(kAt), n, own, own + normal_line);
    derive_line(in, i, in.vector(kAt), pushing, own, own + radial_line);
  }
  for (int i = constants - angles; i < constants; ++i) p[i] = S(0);
}

void GearMesh::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  message = carrier_mistake(in, {.angle = true, .displacement = true}, hint);
  if (!message.empty()) return;
  constexpr double kQuarter = std::numbers::pi / 2;
  if (in.stored(kNormal)) {
    if (in.given(kPressureAngle) || in.given(kHelixAngle)) {
      message = "normal: given together with pressure_angle or helix_angle, expected one of both";
      hint = "the angles make the normal from the axes; a given normal needs none";
      return;
    }
    if (!(in.vector(kNormal).norm() > 0)) {
      message = "normal: expected a direction, got [0, 0, 0]";
      return;
    }
  } else {
    const double alpha = in.number(kPressureAngle), beta = in.number(kHelixAngle);
    if (!(alpha >= 0 && alpha < kQuarter)) {
      message = fmt::format("pressure_angle: expected an angle from 0 to pi/2, got {:g} rad", alpha);
      hint = "angles are in rad: 20 degrees are 0.349";
      return;
    }
    if (!(std::abs(beta) < kQuarter)) {
      message = fmt::format("helix_angle: expected an angle between -pi/2 and pi/2, got {:g} rad", beta);
      hint = "angles are in rad; of a worm it is pi/2 less the lead angle";
      return;
    }
  }
  std::array<Wheel<double>, 2> w;
  double size = 0;
  for (int i = 0; i < 2; ++i) {
    double axes[kCoordinateConstants];
    derive_line_axes(in, i, axes);
    w[static_cast<std::size_t>(i)] = wheel(in, i, axes);
    size = std::max(size, (in.vector(kAt) - in.frame(2 * i).p).norm());
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (w[i].turns && !(w[i].arm.norm() > kParallel * size)) {
      message =
          fmt::format("at: the teeth are on the axis of '{}'", in.joint(static_cast<int>(i)).entry().name);
      hint = "expected the pitch point, at a distance from both axes: the pitch radii";
      return;
    }
  // Wheels with parallel axes roll on each other on the line that connects the axes.
  if (w[0].turns && w[1].turns && w[0].a.cross(w[1].a).norm() < kParallel &&
      w[0].t.cross(w[1].t).norm() > kOffLine) {
    message = fmt::format(
        "at: expected a point on the line that connects the two axes, got one at {:.4g} m and {:.4g} m from "
        "them, with an angle of {:.4g} rad in between",
        w[0].arm.norm(), w[1].arm.norm(), std::asin(std::min(1.0, w[0].t.cross(w[1].t).norm())));
    hint = "the distances of `at` from the axes are the pitch radii: both circles touch there";
    return;
  }
  const bool both = in.choice(kFlanks) == 1;
  if ((both || !in.stored(kNormal)) && w[0].t.cross(w[1].t).norm() <= kParallel) {
    // The normal of the pitch surfaces is needed.
    hint = in.stored(kNormal) ? "use flanks: one" : "give the normal";
    if (!w[0].turns && !w[1].turns) {
      message = "neither joint rotates, so that no pitch circles define the normal of the teeth";
      return;
    }
    const Vec3 across = w[0].a.cross(w[1].a);
    const double apart = std::abs(across.dot(in.frame(2).p - in.frame(0).p));
    if (w[0].turns && w[1].turns && across.norm() > kParallel && apart > 1e-6 * size * across.norm()) {
      message = fmt::format(
          "the axes pass each other at {:g} m, but both wheels move the teeth in the same direction: no "
          "pitch cones define their normal",
          apart / across.norm());
      return;
    }
    hint.clear();
  }
  const Vec3 n = normal(in, w);
  for (std::size_t i = 0; i < 2; ++i)
    if (!(std::abs(n.dot(w[i].t)) > kParallel)) {
      message = fmt::format("normal: a force along [{:.4g}, {:.4g}, {:.4g}] does not move '{}'", n.x(), n.y(),
                            n.z(), in.joint(static_cast<int>(i)).entry().name);
      hint = "expected a direction that is not across the motion of either wheel at the teeth";
      return;
    }
}

template <class S>
void GearMesh::derivatives(const std::array<Motion<S>, 4>& f, const S* p, const S* lambda,
                           JointDerivatives<4, 1, S>& d) {
  CoordinateDerivativesOf<S> x;
  set_zero(d);
  for (int i = 0; i < 2; ++i) {
    const auto k = static_cast<std::size_t>(2 * i);
    const S* own = p + side * i;
    line_derivatives(f[k], f[k + 1], own, own + normal_line, value(p[constants - angles + i]), x);
    add_coordinate(x, S(i == 0 ? 1 : -1), lambda[0], 0, 2 * i, d);
  }
}
template void GearMesh::derivatives<double>(const std::array<Motion<double>, 4>&, const double*,
                                            const double*, JointDerivatives<4, 1>&);

void GearMesh::wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out) {
  for (int i = 0; i < angles; ++i) {
    const auto k = static_cast<std::size_t>(2 * i);
    out[i] = coordinate_value<double>(f[k], f[k + 1], p + side * i, p[constants - angles + i]);
  }
}

// ---- both flanks

namespace {

// The displacements along rho of both wheels at an element: B and G of y_1 - y_2.
template <class S>
struct Radial {
  Radial(const EvaluationOf<S>& at, const std::int32_t* frames, const S* constants)
      : view{FrameViewOf<S>(at.frames[frames[0]], at.constants, at.nodes, at.motions),
             FrameViewOf<S>(at.frames[frames[1]], at.constants, at.nodes, at.motions),
             FrameViewOf<S>(at.frames[frames[2]], at.constants, at.nodes, at.motions),
             FrameViewOf<S>(at.frames[frames[3]], at.constants, at.nodes, at.motions)} {
    for (std::size_t i = 0; i < 2; ++i) {
      const S* own = constants + GearMesh::side * static_cast<int>(i);
      // No derivative depends on how often the wheel has turned.
      line_derivatives(view[2 * i].motion(), view[2 * i + 1].motion(), own, own + GearMesh::radial_line, 0,
                       y[i]);
    }
  }
  static double sign(std::size_t frame) { return frame < 2 ? 1 : -1; }
  Eigen::Matrix<S, 1, 6> B(std::size_t frame) const { return S(sign(frame)) * y[frame / 2].B[frame % 2]; }

  std::array<FrameViewOf<S>, 4> view;
  CoordinateDerivativesOf<S> y[2];
};

}  // namespace

template <bool WithMatrix, class S>
void BothFlanks::add(const EvaluationOf<S>& at, [[maybe_unused]] const JacobianTarget& to) const {
  const int end = at.end < 0 ? size() : at.end;
  for (int e = at.begin; e < end; ++e) {
    const S& lambda = at.lambda[first_row + e];
    if (!(lambda < S(0))) continue;
    const S excess = -2 * lambda;
    const Radial<S> radial(at, frames.data() + 4 * e,
                           at.constants + first_constant + e * GearMesh::constants);
    for (std::size_t i = 0; i < 4; ++i)
      if (!radial.view[i].on_ground())
        at.wrench[radial.view[i].node()] += radial.view[i].wrench_at_node(excess * radial.B(i).transpose());
    if constexpr (WithMatrix) {
      constexpr int kPairs = 16;
      const BlockRef* refs = to.blocks + e * (kPairs + 8);
      for (std::size_t j = 0; j < 4; ++j) {
        const FrameView& frame = radial.view[j];
        if (frame.on_ground()) continue;
        const BlockRef& column = refs[kPairs + 4 + j];
        const Eigen::Matrix<double, 1, 6> B = frame.template to_node_columns<1>(-2 * radial.B(j));
        for (int c = 0; c < node_size(frame.type()).v; ++c)
          to.values[column.offset + c] += B[components(frame.type())[c]];
        if (to.force.q == 0) continue;
        for (std::size_t i = j / 2 * 2; i < j / 2 * 2 + 2; ++i) {
          if (radial.view[i].on_ground()) continue;
          Mat6 D = frame.template to_node_columns<6>(to.force.q * excess * Radial<S>::sign(i) *
                                                     radial.y[i / 2].G[i % 2][j % 2]);
          radial.view[i].to_node_rows(D);
          add_block(to.values, refs[4 * i + j], D, radial.view[i].type(), frame.type());
        }
      }
    }
  }
}

void BothFlanks::residual(const Evaluation& at) const {
  BatchOf<GearMesh>::residual(at);
  add<false>(at, {});
}
void BothFlanks::residual(const VariedEvaluation& at) const {
  BatchOf<GearMesh>::residual(at);
  add<false>(at, {});
}
void BothFlanks::jacobian(const Evaluation& at, const JacobianTarget& to) const {
  BatchOf<GearMesh>::jacobian(at, to);
  add<true>(at, to);
}

namespace {
template <class S>
Vec6T<S> radial_wrench(const EvaluationOf<S>& at, const Batch& batch, int e, int i) {
  const S& lambda = at.lambda[batch.first_row + e];
  if (!(lambda < S(0))) return Vec6T<S>::Zero();
  const Radial<S> radial(at, batch.frames.data() + 4 * e,
                         at.constants + batch.first_constant + e * GearMesh::constants);
  return -2 * lambda * radial.B(static_cast<std::size_t>(i)).transpose();
}
}  // namespace

Vec6 BothFlanks::wrench_on(const Evaluation& at, int e, int i) const {
  return BatchOf<GearMesh>::wrench_on(at, e, i) + radial_wrench(at, *this, e, i);
}
Vec6T<Varied> BothFlanks::wrench_on(const VariedEvaluation& at, int e, int i) const {
  return BatchOf<GearMesh>::wrench_on(at, e, i) + radial_wrench(at, *this, e, i);
}

namespace {
unsigned flanks(const Description& d, const Entry& entry) {
  return static_cast<unsigned>(Inputs<double>(d, entry, nullptr, nullptr).choice(kFlanks));
}
std::unique_ptr<Batch> make_mesh(unsigned shape) {
  if (shape == 1) return std::make_unique<BothFlanks>(shape);
  return make_batch<GearMesh>(shape);
}
}  // namespace

double gear_ratio(const Kind& first, const Kind& second, const double* constants) {
  // x = c theta of a wheel, x = (n.a) s of a rack
  const auto rate = [&](const Kind& joint, const double* own) {
    const LineOfAction<double> line(own, own + GearMesh::normal_line);
    return joint.coordinates.angle ? line.c : line.n.dot(line.a);
  };
  return rate(second, constants + GearMesh::side) / rate(first, constants);
}

ListedKind gear_mesh() {
  return {
      {"gear_mesh",
       "Teeth of two wheels, of a rack and its pinion or of a worm and its wheel: couples two joints on the "
       "same carrier, whose bearings carry the force between the teeth.",
       {{.name = "joints",
         .type = FieldType::Joints,
         .unit = "",
         .summary = "The two joints (revolute, prismatic, cylindrical, or those of the plane), with the same "
                    "first body.",
         .required = true,
         .index = kJoints},
        {.name = "at",
         .type = FieldType::Vector,
         .unit = "m",
         .summary = "Pitch point, where the teeth touch, in the initial configuration, inertial axes: its "
                    "distances from the axes are the pitch radii.",
         .required = true,
         .pose = PoseRole::Point,
         .index = kAt},
        {.name = "normal",
         .type = FieldType::Vector,
         .unit = "",
         .summary = "Direction in which the first drives the second in the initial configuration, inertial "
                    "axes, of any length; from the axes and the angles if not given.",
         .pose = PoseRole::Direction,
         .index = kNormal},
        {.name = "pressure_angle",
         .type = FieldType::Number,
         .unit = "rad",
         .summary = "Pressure angle in the section across the teeth; the default is 20 degrees.",
         .defaults = {std::numbers::pi / 9},
         .index = kPressureAngle},
        {.name = "helix_angle",
         .type = FieldType::Number,
         .unit = "rad",
         .summary = "Angle between the teeth and the axis of the first wheel that turns: positive, its teeth "
                    "are a right-hand helix. Of a worm, pi/2 less the lead angle.",
         .defaults = {0},
         .index = kHelixAngle},
        {.name = "flanks",
         .type = FieldType::Choice,
         .unit = "",
         .summary =
             "What happens when the torque reverses. `one`: the force reverses along its line, so that "
             "its radial part pulls. `both`: the other flanks carry, and the radial part keeps pushing "
             "the wheels apart.",
         .choices = {"one", "both"},
         .index = kFlanks}}},
      &make_mesh,
      &flanks};
}

}  // namespace liedyn

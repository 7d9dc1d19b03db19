#include "liedyn/analyses/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "liedyn/analyses/eigenvalues.h"
#include "liedyn/analyses/linearization.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/model/forces/watched_spring.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/work.h"
#include "liedyn/system/configuration.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/subsystems.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

// Of a shape of a body (io/expand/shapes.h); empty if it is not known.
std::optional<double> volume_of(const Visual& visual) {
  constexpr double pi = std::numbers::pi;
  const auto& [a, b, c] = visual.size;
  if (visual.shape == "box") return a * b * c;
  if (visual.shape == "ellipsoid" || visual.shape == "sphere") return 4 * pi / 3 * a * b * c;
  if (visual.shape == "cylinder") return pi * a * a * c;
  if (visual.shape == "tube") return pi * (a * a - b * b) * c;
  if (visual.shape == "cone") return pi / 3 * a * a * c;
  if (visual.shape == "capsule") return pi * a * a * c + 4 * pi / 3 * a * a * a;
  return {};
}
// How far a shape reaches from the reference point of its body, at most.
double reach_of(const Visual& visual) {
  const Vec3 size(visual.size.data());
  double own = size.norm();
  if (visual.shape == "box") own = 0.5 * size.norm();
  if (visual.shape == "cylinder" || visual.shape == "tube" || visual.shape == "cone")
    own = std::hypot(size[0], 0.5 * size[2]);
  if (visual.shape == "capsule") own = size[0] + 0.5 * size[2];
  return Vec3(visual.position.data()).norm() + own;
}

// The numbers of a model by the names of fields.
class UnitAdvice {
 public:
  explicit UnitAdvice(const System& system)
      : model_(system.model()),
        d_(model_.description()),
        params_(system.params().values().data()),
        work_(system),
        parts_(subsystems(system, work_)) {}

  std::vector<std::string> all() {
    for (const Section section : {Section::Beams, Section::Flexible})
      for (const Entry& entry : d_.entries(section)) material(section, entry);
    gravity();
    find_spans();
    const std::vector<Entry>& bodies = d_.entries(Section::Bodies);
    measure_shapes();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      density(i);
      inertia(i);
      length(i);
      angles(bodies[i]);
    }
    for (const Entry& joint : d_.entries(Section::Joints)) targets(joint);
    for (const Entry& force : d_.entries(Section::Forces)) {
      targets(force);
      hydraulics(force);
      gains(force);
      ratios(force);
    }
    if (left_out_ > 0) out_.push_back(fmt::format("{} more values look implausible", left_out_));
    return std::move(out_);
  }

 private:
  // The first number of a field; 0 if there is none.
  double number(const Entry& entry, std::string_view name) const {
    const int field = entry.kind->field(name);
    if (field < 0 || entry.fields.empty()) return 0;
    const FieldValue& value = entry.fields[static_cast<std::size_t>(field)];
    return value.first < 0 ? 0 : params_[value.first];
  }
  void say(std::string text) {
    constexpr std::size_t kMost = 5;
    if (out_.size() < kMost)
      out_.push_back(std::move(text));
    else
      ++left_out_;
  }
  double size_of(std::size_t body) const {
    const int part = parts_.of_body[body];
    return part < 0 ? 0 : parts_.length[static_cast<std::size_t>(part)];
  }

  // Solids: foams have 10 kg/m^3 and more, but a modulus below 1e8 Pa; osmium has 22600 kg/m^3. Gels have 1e3 Pa and more.
  void material(Section section, const Entry& entry) {
    constexpr double kLightest = 50, kHeaviest = 3e4, kSolid = 1e8, kSoftest = 1e3, kSolidDensity = 500;
    const double density = number(entry, "density"), young = number(entry, "young");
    const std::string path = fmt::format("{}.{}", section_name(section), entry.name);
    if (density > 0 && density < kLightest && young >= kSolid)
      say(
          fmt::format("{}.density: {:g} kg/m^3 is less than any solid with a Young's modulus of {:g} Pa has; "
                      "{:g} g/cm^3 would be {:g} kg/m^3",
                      path, density, young, density, 1000 * density));
    if (density > kHeaviest)
      say(fmt::format("{}.density: {:g} kg/m^3 is more than any material has", path, density));
    if (young > 0 && young < kSoftest && density >= kSolidDensity)
      say(fmt::format("{}.young: {:g} Pa is softer than any solid; {:g} GPa would be {:g} Pa", path, young,
                      young, 1e9 * young));
  }

  // Free fall in mm/s^2 or cm/s^2, where lengths are not in mm or cm.
  void gravity() {
    const double g = Eigen::Map<const Vec3>(params_ + d_.gravity()).norm();
    const double size =
        parts_.length.empty() ? 0 : *std::max_element(parts_.length.begin(), parts_.length.end());
    constexpr double kEarth = 9.81, kSlack = 0.003;
    for (const auto& [factor, unit, largest] :
         {std::tuple{1000.0, "mm/s^2", 20.0}, std::tuple{100.0, "cm/s^2", 5.0}})
      if (std::abs(g / factor - kEarth) < kSlack * kEarth && size > 0 && size < largest)
        say(fmt::format(
            "gravity: {:g} m/s^2 in a mechanism of {:.3g} m looks like {}: free fall on Earth is {} m/s^2", g,
            size, unit, kEarth));
    on_earth_ = std::abs(g - kEarth) < 0.1 * kEarth;
  }

  // The volume of the shapes of each body, and how far they reach from its reference point; 0 where that is not known.
  void measure_shapes() {
    const std::vector<Entry>& bodies = d_.entries(Section::Bodies);
    volumes_.assign(bodies.size(), 0);
    reaches_.assign(bodies.size(), 0);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      for (const Visual& visual : d_.visuals) {
        if (visual.body != bodies[i].name || visual.color[3] == 0) continue;
        const std::optional<double> volume = volume_of(visual);
        if (!volume) {
          volumes_[i] = reaches_[i] = 0;
          break;
        }
        volumes_[i] += *volume;
        reaches_[i] = std::max(reaches_[i], reach_of(visual));
      }
  }

  // Of solid shapes: foams have 10 kg/m^3 and more. Far less is another unit of all: t and mm, say.
  void density(std::size_t body) {
    constexpr double kLightest = 10, kOtherUnits = 0.1;
    const Entry& entry = d_.entries(Section::Bodies)[body];
    const double mass = number(entry, "mass"), volume = volumes_[body];
    if (!(volume > 0)) return;
    if (const double density = mass / volume; density >= kOtherUnits && density < kLightest)
      say(
          fmt::format("bodies.{}: {:.4g} kg in shapes of {:.4g} m^3 are {:.4g} kg/m^3, less than any solid; "
                      "{:.4g} g/cm^3 would be {:.4g} kg/m^3",
                      entry.name, mass, volume, density, density, 1000 * density));
  }

  // I = m k^2: no body of a mechanism reaches ten times as far as the mechanism itself, nor farther than its own shapes.
  void inertia(std::size_t body) {
    constexpr double kFar = 10, kFarOfShapes = 2;
    const Entry& entry = d_.entries(Section::Bodies)[body];
    const int field = entry.kind->field("inertia");
    const double mass = number(entry, "mass"), size = size_of(body);
    if (field < 0 || entry.fields.empty() || entry.fields[static_cast<std::size_t>(field)].first < 0 ||
        mass <= 0)
      return;
    const FieldValue& value = entry.fields[static_cast<std::size_t>(field)];
    double moment = 0;
    for (int i = 0; i < std::min<int>(value.count, 3); ++i)
      moment = std::max(moment, params_[value.first + i]);
    const double radius = std::sqrt(moment / mass);
    if (reaches_[body] > 0 && radius > kFarOfShapes * reaches_[body])
      return say(fmt::format(
          "bodies.{}.inertia: {:g} kg m^2 with {:g} kg is a radius of gyration of {:.3g} m in shapes that "
          "reach {:.3g} m; {:g} kg mm^2 would be {:g} kg m^2",
          entry.name, moment, mass, radius, reaches_[body], moment, 1e-6 * moment));
    if (size > 0 && radius > kFar * size)
      say(fmt::format(
          "bodies.{}.inertia: {:g} kg m^2 with {:g} kg is a radius of gyration of {:.3g} m in a mechanism of "
          "{:.3g} m; {:g} kg mm^2 would be {:g} kg m^2",
          entry.name, moment, mass, radius, size, moment, 1e-6 * moment));
  }

  // The largest distance of points of a body: its centre of mass and where joints hold it.
  void find_spans() {
    std::vector<std::vector<Vec3>> points(d_.entries(Section::Bodies).size());
    for (std::size_t b = 0; b < model_.batches.size(); ++b) {
      if (model_.sections[b] != Section::Joints) continue;
      for (const std::int32_t index : model_.batches[b]->frames) {
        const Frame& frame = model_.frames[static_cast<std::size_t>(index)];
        if (frame.node >= 0 && frame.node < static_cast<int>(points.size()))
          points[static_cast<std::size_t>(frame.node)].push_back(
              offset_of(frame, work_.constants->data.data()).rho);
      }
    }
    spans_.assign(points.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Entry& entry = d_.entries(Section::Bodies)[i];
      const int reference = entry.kind->field("reference");
      Vec3 center = Vec3::Zero();
      if (reference >= 0)
        if (const FieldValue& value = entry.fields[static_cast<std::size_t>(reference)]; value.first >= 0)
          for (int k = 0; k < value.count; ++k) center[k] = -params_[value.first + k];
      for (const Vec3& point : points[i])
        spans_[i] = std::max({spans_[i], (point - center).norm(), (point - points[i].front()).norm()});
    }
  }

  // A member of 100 m that weighs less than a rope of that length.
  void length(std::size_t body) {
    constexpr double kLong = 100, kRope = 0.1;
    const Entry& entry = d_.entries(Section::Bodies)[body];
    const double mass = number(entry, "mass"), span = spans_[body];
    if (on_earth_ && mass > 0 && span >= kLong && mass < kRope * span)
      say(
          fmt::format("bodies.{}: joints are {:.4g} m from its centre of mass or from each other, and its "
                      "mass is {:g} kg; "
                      "{:.4g} mm would be {:.4g} m",
                      entry.name, span, mass, span, 1e-3 * span));
  }

  // Typed as numbers, more than a turn, and a multiple of 5: degrees.
  void angles(const Entry& entry) {
    for (const char* name : {"orientation", "angle"}) {
      const int field = entry.kind->field(name);
      if (!is_given(entry, field)) continue;
      const FieldValue& value = entry.fields[static_cast<std::size_t>(field)];
      const bool rotation = entry.kind->fields[static_cast<std::size_t>(field)].type == FieldType::Rotation;
      for (int i = 0; i < value.count && value.first >= 0; ++i) {
        const bool is_angle = !rotation || value.form == RotationForm::RotationVector ||
                              value.form == RotationForm::Cardan ||
                              (value.form == RotationForm::AxisAngle && i == 3);
        if (is_angle) degrees(value.first + i);
      }
    }
  }
  void degrees(int number) {
    constexpr double kTurn = 2 * std::numbers::pi, kMost = 720;
    const double angle = params_[number];
    if (std::abs(angle) <= kTurn || std::abs(angle) > kMost || std::fmod(angle, 5) != 0) return;
    if (!is_expression(number))
      say(fmt::format("{}: {:g} rad is more than a turn; {:g} degrees would be {:.6g} rad",
                      parameter_path(d_, number), angle, angle, angle * std::numbers::pi / 180));
  }
  bool is_expression(int number) const {
    return std::any_of(d_.expressions.begin(), d_.expressions.end(),
                       [&](const NumberExpression& e) { return e.number == number; });
  }

  // Positions of the angle of a joint that turns: limits, targets, where springs are relaxed, and drives.
  void targets(const Entry& entry) {
    if (!uses_angle(entry)) return;
    for (const char* name : {"lower", "upper", "target", "free", "motion"})
      if (const int field = entry.kind->field(name); is_given(entry, field))
        degrees(entry.fields[static_cast<std::size_t>(field)].first);
  }
  // Whether the entry acts on one joint, and on its angle; `auto` is the angle of a joint that has both.
  bool uses_angle(const Entry& entry) const {
    const int joint = entry.kind->field("joint"), choice = entry.kind->field("coordinate");
    if (joint < 0 || choice < 0) return false;
    const std::string& name =
        d_.words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(joint)].word)];
    const std::vector<Entry>& joints = d_.entries(Section::Joints);
    const auto found =
        std::find_if(joints.begin(), joints.end(), [&](const Entry& one) { return one.name == name; });
    if (found == joints.end() || !found->kind->coordinates.angle) return false;
    constexpr int kDisplacement = 2;
    return Inputs<double>(d_, entry, params_, nullptr).choice(choice) != kDisplacement;
  }

  // Liquids have bulk moduli of 1e8 Pa and more, gases 1e5 Pa; hydraulics work with 1e6 Pa and more, pneumatics with 1e5 Pa.
  void hydraulics(const Entry& force) {
    constexpr double kGas = 1e5, kVacuum = 1e4;
    const double modulus = number(force, "bulk_modulus"), supply = number(force, "supply_pressure");
    if (modulus > 0 && modulus < kGas)
      say(fmt::format("forces.{}.bulk_modulus: {:g} Pa is less than that of air; {:g} MPa would be {:g} Pa",
                      force.name, modulus, modulus, 1e6 * modulus));
    if (modulus > 0 && supply > 0 && supply < kVacuum)
      say(
          fmt::format("forces.{}.supply_pressure: {:g} Pa is less than a tenth of the atmosphere; {:g} bar "
                      "would be {:g} Pa",
                      force.name, supply, supply, 1e5 * supply));
  }

  // Numbers that belong together and contradict each other.
  void ratios(const Entry& force) {
    for (const auto& [near_rest, sliding] :
         {std::pair{"static_friction", "friction"}, std::pair{"static_coefficient", "coefficient"}})
      if (is_given(force, force.kind->field(near_rest)) && number(force, near_rest) < number(force, sliding))
        say(
            fmt::format("forces.{0}.{1}: {2:g} is less than `{3}`, {4:g}: friction is larger near rest; are "
                        "they interchanged?",
                        force.name, near_rest, number(force, near_rest), sliding, number(force, sliding)));
    if (const double rolling = number(force, "rolling_radius"), radius = number(force, "radius");
        rolling > 2 * radius && radius > 0)
      say(fmt::format(
          "forces.{}.rolling_radius: {:g} m is more than twice the radius, {:g} m; is it a diameter?",
          force.name, rolling, radius));
    if (const double opening = number(force, "valve"); std::abs(opening) > 1)
      say(fmt::format("forces.{}.valve: {:g} is beyond the fully open valve, 1; {:g} per cent would be {:g}",
                      force.name, opening, opening, 0.01 * opening));
  }

  // Constants that feed energy into the motion, or drive it away.
  void gains(const Entry& force) {
    for (const char* name : {"stiffness", "rotational_stiffness", "cubic_stiffness", "damping",
                             "rotational_damping", "proportional", "derivative"}) {
      const int field = force.kind->field(name);
      if (!is_given(force, field)) continue;
      const FieldValue& value = force.fields[static_cast<std::size_t>(field)];
      const std::string_view word = name;
      const bool damps = word.ends_with("damping") || word == "derivative";
      if (force.kind->fields[static_cast<std::size_t>(field)].type != FieldType::Number &&
          force.kind->fields[static_cast<std::size_t>(field)].type != FieldType::Vector)
        continue;
      for (int i = 0; i < value.count && value.first >= 0; ++i)
        if (const double given = params_[value.first + i]; given < 0 && !is_expression(value.first + i)) {
          say(fmt::format("{}: {:g} is negative: it {}", parameter_path(d_, value.first + i), given,
                          damps ? "feeds energy into the motion instead of damping it"
                                : "pushes away from its relaxed position instead of towards it"));
          break;
        }
    }
  }

  const Model& model_;
  const Description& d_;
  const double* params_;
  Work work_;
  Subsystems parts_;
  std::vector<double> spans_, volumes_, reaches_;  // per body
  bool on_earth_ = false;
  std::vector<std::string> out_;
  std::size_t left_out_ = 0;
};

// Eigenvalues of A of largest magnitude, by Arnoldi's method:  A V = V H + residual,  V^T V = 1. All of them if A is small.
struct Ritz {
  VectorXcd values;
  Eigen::MatrixXcd vectors;
};
Ritz ritz_values(const MatrixXd& A, Eigen::Index most) {
  const Eigen::Index n = A.rows(), size = std::min(n, most);
  MatrixXd V = MatrixXd::Zero(n, size + 1), H = MatrixXd::Zero(size + 1, size);
  // No direction is left out, and the same in every run.
  for (Eigen::Index i = 0; i < n; ++i) V(i, 0) = 1 + std::sin(static_cast<double>(i * i + 1));
  V.col(0).normalize();
  const double scale = A.norm();
  Eigen::Index count = 0;
  while (count < size) {
    VectorXd w = A * V.col(count);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough for orthogonality to round-off
      const VectorXd part = V.leftCols(count + 1).transpose() * w;
      H.col(count).head(count + 1) += part;
      w -= V.leftCols(count + 1) * part;
    }
    ++count;
    const double rest = w.norm();
    if (!(rest > 1e-13 * scale) || count == size) break;
    H(count, count - 1) = rest;
    V.col(count) = w / rest;
  }
  const Eigen::EigenSolver<MatrixXd> solver(MatrixXd(H.topLeftCorner(count, count)));
  if (solver.info() != Eigen::Success) return {};
  return {solver.eigenvalues(), V.leftCols(count) * solver.eigenvectors()};
}

double growth(const LinearProperties& method, Complex z) {
  return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(method.amplification(z), false)
      .eigenvalues()
      .cwiseAbs()
      .maxCoeff();
}

}  // namespace

std::vector<std::string> unit_advice(const System& system) { return UnitAdvice(system).all(); }

std::vector<std::string> contact_advice(const System& system, const State& state) {
  // A body that rests has far less than its weight times the size of the model; more than all it has is a shot.
  constexpr double kShot = 10;
  const Model& model = system.model();
  std::vector<std::string> out;
  if (std::none_of(model.batches.begin(), model.batches.end(), [](const auto& batch) {
        return dynamic_cast<const WatchedContacts*>(batch.get()) != nullptr;
      }))
    return out;
  Work work(system);
  system.residual(state, work, {});
  Evaluation at;
  at.frames = model.frames.data();
  at.nodes = model.bodies().data();
  at.motions = work.motions.data();
  at.q = state.q.data();
  at.v = state.v.data();
  at.vdot = state.vdot.data();
  at.constants = work.constants->data.data();
  at.world = {work.constants->gravity, state.t};
  at.lambda = state.lambda.data();
  at.angles = state.angles.data();
  const Subsystems parts = subsystems(system, work);
  const double length =
      parts.length.empty() ? 0 : *std::max_element(parts.length.begin(), parts.length.end());
  double weight = 0;
  for (const Entry& body : model.description().entries(Section::Bodies))
    if (const int mass = body.kind->field("mass"); is_given(body, mass))
      weight += system.params().get(body.fields[static_cast<std::size_t>(mass)].first) *
                work.constants->gravity.norm();
  const double there = system.energy(state, work).kinetic + weight * length;
  if (!(there > 0)) return out;
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const auto* contacts = dynamic_cast<const WatchedContacts*>(model.batches[b].get());
    const Batch& batch = *model.batches[b];
    if (contacts == nullptr || dynamic_cast<const MayBePreloaded*>(&batch) != nullptr) continue;
    const double stored = batch.energy(at).potential;
    if (!(stored > kShot * there)) continue;
    for (int e = 0; e < batch.size(); ++e)
      if (const Approach approach = contacts->approach(at, e); approach.depth > 0)
        out.push_back(fmt::format(
            "forces.{}: at the start the contact is {:.3g} deep, with an energy of {:.3g} J that shoots the "
            "bodies "
            "apart (weight and motion have {:.3g} J); check the positions, the direction of the normal and "
            "the limits",
            model.description()
                .entries(
                    Section::Forces)[static_cast<std::size_t>(batch.entries[static_cast<std::size_t>(e)])]
                .name,
            approach.depth, stored, there));
  }
  return out;
}

std::optional<FastestMotion> fastest_motion(const System& system, const State& state) {
  constexpr Eigen::Index kMostDirections = 120;
  const Model& model = system.model();
  if (model.nv == 0 || model.nv > kLargestDense) return {};
  Work work(system, kFullPivoting);
  const SteadyAxes axes = steady_axes(system, state, work);
  const Linearization l = in_natural_units(as_if_steady(axes) ? linearize(system, state, axes.rate, work)
                                                              : linearize_unsteady(system, state, work));
  const MinimalEquations equations = minimal_equations(l);
  if (equations.A.rows() == 0 || !equations.A.allFinite()) return {};
  const Balanced matrix = balanced(equations.A);
  const Ritz ritz = ritz_values(matrix.A, kMostDirections);
  if (ritz.values.size() == 0) return {};
  Eigen::Index first = 0;
  ritz.values.cwiseAbs().maxCoeff(&first);
  const double fastest = std::abs(ritz.values[first]);
  // What is left of zeros.
  constexpr double kZero =
      1e-6;  // motions that do not come back are double zeros, found up to the root of round-off
  if (!(fastest > kZero * matrix.A.norm())) return {};

  FastestMotion out;
  out.s = {ritz.values[first].real(), std::abs(ritz.values[first].imag())};
  // y' = V zeta + Y xi: the body with the largest part of the kinetic energy.
  const VectorXcd x = matrix.D.asDiagonal() * ritz.vectors.col(first);
  const Eigen::Index coordinates = equations.P.cols();
  const VectorXcd rate = equations.V * x.tail(equations.V.cols()) + equations.Y * x.head(coordinates);
  const VectorXcd momentum = l.M * rate;
  double most = 0;
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    const Node& node = model.nodes[i];
    const int size = node_size(node.type).v;
    const double energy = rate.segment(node.v, size).dot(momentum.segment(node.v, size)).real();
    if (energy > most) most = energy, out.mostly = model.body_of(node.v).name;
  }
  if (out.mostly.empty()) {
    Eigen::Index largest = 0;
    rate.cwiseAbs().maxCoeff(&largest);
    out.mostly = model.body_of(static_cast<int>(largest)).name;
  }
  if (matrix.A.rows() <= kMostDirections) {
    const Eigen::EigenSolver<Eigen::MatrixXd> all(matrix.A, false);
    for (const Complex& s : all.eigenvalues()) {
      const double size = std::abs(s);
      const bool oscillates = std::abs(s.imag()) > 0.1 * size && size > 1e-6 * fastest;
      if (oscillates && (out.slowest_oscillation == 0 || size < out.slowest_oscillation))
        out.slowest_oscillation = size;
    }
  }
  return out;
}

std::vector<std::string> work_advice(const System& system, const State& state, bool adaptive, double step) {
  // Three steps per oscillation, and a dozen.
  constexpr double kUnresolved = 2, kResolved = 0.5;
  const std::vector<std::string> sensors = sensors_of_work(system.model());
  if (sensors.empty() || adaptive) return {};
  if (system.model().tree) {
    const System absolute = in_absolute_coordinates(system);
    Work work(absolute);
    const Configuration here = configuration_of(system, state);
    return work_advice(
        absolute,
        consistent_state(absolute, state.t, {.policy = InitialPolicy::Project, .given = &here}, work),
        adaptive, step);
  }
  const std::optional<FastestMotion> fastest = fastest_motion(system, state);
  if (!fastest || step * std::abs(fastest->s) <= kUnresolved) return {};
  return {
      fmt::format("sensors.{}: work is unreliable where '{}' moves fast: steps of {:.3g} s are {:.3g} times "
                  "the step that resolves the fastest motion (|s| = {:.3g} 1/s); use at most {:.2g} s, "
                  "adaptive steps, or the change of `energy`",
                  sensors.front(), fastest->mostly, step, step * std::abs(fastest->s) / kResolved,
                  std::abs(fastest->s), kResolved / std::abs(fastest->s))};
}

StepAdvice step_advice(const System& system, const FastestMotion& fastest, const std::string& integrator,
                       double step, double duration) {
  // Growth by so much per step beyond that of the motion itself is noticed in some thousand steps.
  constexpr double kNoticed = 1e-3, kUnresolved = 2;
  StepAdvice out;
  out.fastest = fastest;
  const LinearProperties method = linear_properties(integrator);
  out.is_explicit = method.is_explicit;
  out.adaptive = make_integrator(system, integrator)->control().adaptive;
  const std::string name = method.integrator.substr(0, method.integrator.find(','));
  const auto stable = [&](double h) {
    const Complex z = h * fastest.s;
    return growth(method, z) <= std::max(1.0, std::exp(z.real())) * (1 + kNoticed);
  };
  const double size = std::abs(fastest.s);
  if (out.is_explicit) {
    double good = 0, bad = 100 / size;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (good + bad);
      (stable(middle) ? good : bad) = middle;
    }
    out.longest = good;
  }
  if (out.adaptive) {
    constexpr double kMany = 1e6;
    if (out.is_explicit && duration > kMany * out.longest)
      out.warning = fmt::format(
          "the explicit method {} takes steps of at most about {:.2g} s here, {:.2g} up to the end: the "
          "fastest motion "
          "(|s| = {:.3g} 1/s, mostly of '{}') becomes unstable with longer steps; an implicit method need "
          "not resolve it",
          name, out.longest, duration / out.longest, size, fastest.mostly);
    return out;
  }
  out.step = step;
  out.angle = step * size;
  out.factor = growth(method, step * fastest.s);
  if (out.is_explicit && !stable(step))
    out.warning = fmt::format(
        "steps of {:.3g} s are {:.2g} times the stability limit of the explicit method {}: the fastest "
        "motion "
        "(|s| = {:.3g} "
        "1/s, mostly of '{}') grows by {:.2g} per step. Use steps of at most {:.2g} s, or an implicit method",
        step, step / out.longest, name, size, fastest.mostly, out.factor, out.longest);
  else if (!out.is_explicit && step * fastest.slowest_oscillation > kUnresolved)
    out.warning = fmt::format(
        "steps of {:.3g} s resolve none of the oscillations of the model: the slowest advances by {:.3g} rad "
        "per step. Use steps of about {:.2g} s",
        step, step * fastest.slowest_oscillation, 0.1 / fastest.slowest_oscillation);
  return out;
}

}  // namespace liedyn

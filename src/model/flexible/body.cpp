#include "liedyn/model/flexible/body.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "liedyn/base/error.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/section.h"
#include "liedyn/model/flexible/interface.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/model.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

const Entry& flexible_entry(const Description& d, int index) {
  return d.entries(Section::Flexible)[static_cast<std::size_t>(index)];
}
const std::string& word(const Description& d, const Entry& entry, int field) {
  return d.words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(field)].word)];
}

ReductionMethod method_of(const Description& d, const Entry& body) {
  const int choice = Inputs<double>(d, body, nullptr, nullptr).choice(body.kind->field("method"));
  return choice == 0 ? ReductionMethod::HurtyCraigBampton : ReductionMethod::Free;
}
// An interface is rigid with its nodes, wherever it is: a large distance is probably a mistake.
void warn_of_distance(const Entry& entry, const InterfaceNodes& interface, const FiniteElements& elements,
                      std::vector<std::string>& warnings) {
  Eigen::AlignedBox3d box;
  for (const int node : interface.nodes) box.extend(Vec3(elements.places.col(node)));
  const double distance = box.exteriorDistance(interface.place);
  if (distance > std::max(box.diagonal().norm(), 0.1 * elements.extent()))
    warnings.push_back(fmt::format(
        "flexible.{}: its position is {:.3g} m away from its nodes; a rigid arm connects it to them",
        entry.name, distance));
}
// Tetrahedra with four nodes have one strain each, and no bending but in steps from one to the next.
void warn_of_tetrahedra(const Entry& body, const SolidMesh& mesh, std::vector<std::string>& warnings) {
  const auto stiff = std::count_if(mesh.elements.begin(), mesh.elements.end(),
                                   [](const std::vector<int>& nodes) { return nodes.size() == 4; });
  if (stiff > 0)
    warnings.push_back(fmt::format(
        "flexible.{}: {} of its {} elements are tetrahedra with 4 nodes, which are much too stiff "
        "in bending: expected 10 nodes (order 2 in Gmsh) or hexahedra",
        body.name, stiff, mesh.elements.size()));
}
// How far a place is from the body whose node nearest to it a sensor looks at; 0 if that is near enough.
double distance_of_displacement(const Meshed& mesh, const Vec3& place) {
  const FiniteElements& elements = mesh.elements;
  if (!mesh.solid.elements.empty()) {
    const double distance = stress_rows(mesh.solid, mesh.material, place).distance;
    return distance > 0.01 * elements.extent() ? distance : 0;
  }
  // Nodes say where the body is, and about how large its elements are.
  Eigen::Index nearest = 0;
  const double distance =
      std::sqrt((elements.places.colwise() - place).colwise().squaredNorm().minCoeff(&nearest));
  double neighbour = INFINITY;
  for (Eigen::Index i = 0; i < elements.places.cols(); ++i)
    if (i != nearest)
      neighbour = std::min(neighbour, (elements.places.col(i) - elements.places.col(nearest)).norm());
  return distance > std::max(neighbour, 0.1 * elements.extent()) ? distance : 0;
}
int modes_of(const Entry& body) {
  const FieldValue& modes = body.fields[static_cast<std::size_t>(body.kind->field("modes"))];
  // Without a number what was given is wrong, and was found to be.
  return modes.has_integer() ? modes.integer() : kDefaultModes;
}

}  // namespace

const Kind& flexible_frame_kind() {
  static const Kind kind{.type = "flexible_frame",
                         .summary = "Floating frame of a flexible body.",
                         .fields = {},
                         .floats = true};
  return kind;
}
const Kind& flexible_modes_kind() {
  static const Kind kind{.type = "flexible_modes",
                         .summary = "Three modal coordinates of a flexible body.",
                         .fields = {},
                         .is_modal = true,
                         .floats = true};
  return kind;
}
const Kind& flexible_interface_kind() {
  static const Kind kind{"flexible_interface", "Interface of a flexible body.", {}};
  return kind;
}

bool is_interface(const Entry& flexible) { return flexible.kind->type == "interface"; }
const std::string& interface_owner(const Description& d, const Entry& interface) {
  return word(d, interface, kInterfaceOf);
}

int modal_points(const Description& d, const Entry& body, int interfaces) {
  return reduced_modes(method_of(d, body), modes_of(body), interfaces) / 3;
}

template <class S>
FlexibleStart<S> flexible_start(const Description& d, const Entry& entry, const Entry& owner,
                                const S* params) {
  const Inputs<S> in(d, owner, params, nullptr);
  const auto vector = [&](int field) {
    return in.stored(field) ? in.vector(field) : Vec3T<S>(Vec3T<S>::Zero());
  };
  const auto consistent = [&](int field) { return owner.fields[static_cast<std::size_t>(field)].consistent; };
  FlexibleStart<S> out;
  if (is_linear_beam(owner)) {
    out.pose = beam_curve(in).start;
    out.velocity = vector(kBeamVelocity);
    out.angular_velocity = vector(kBeamAngularVelocity);
    out.free_velocity = consistent(kBeamVelocity);
    out.free_angular_velocity = consistent(kBeamAngularVelocity);
  } else {
    out.pose.p = vector(kSolidPosition);
    if (in.stored(kSolidOrientation)) out.pose.R = typed_rotation(in, kSolidOrientation).R();
    out.velocity = vector(kSolidVelocity);
    out.angular_velocity = vector(kSolidAngularVelocity);
    out.free_position = consistent(kSolidPosition);
    out.free_orientation = consistent(kSolidOrientation);
    out.free_velocity = consistent(kSolidVelocity);
    out.free_angular_velocity = consistent(kSolidAngularVelocity);
  }
  if (is_interface(entry)) {
    const Vec3T<S> place = Inputs<S>(d, entry, params, nullptr).vector(kInterfaceAt);
    out.velocity += out.angular_velocity.cross(Vec3T<S>(place - out.pose.p));
    out.pose.p = place;
  }
  return out;
}
template FlexibleStart<double> flexible_start(const Description&, const Entry&, const Entry&, const double*);
template FlexibleStart<Varied> flexible_start(const Description&, const Entry&, const Entry&, const Varied*);

FlexibleSource::FlexibleSource(const Description& d, int body)
    : body_(body),
      second_order_(Inputs<double>(d, flexible_entry(d, body), nullptr, nullptr)
                        .choice(flexible_entry(d, body).kind->field("geometric_stiffness")) == 1) {}

int FlexibleSource::index_of(int interface_entry) const {
  return static_cast<int>(std::find(interfaces_.begin(), interfaces_.end(), interface_entry) -
                          interfaces_.begin());
}

std::shared_ptr<const FlexibleSource::Made> FlexibleSource::made(const Description& d,
                                                                 const double* params) const {
  std::vector<double> numbers;
  const auto collect = [&](const Entry& entry) {
    for (const FieldValue& field : entry.fields)
      for (int i = 0; field.first >= 0 && i < field.count; ++i) numbers.push_back(params[field.first + i]);
  };
  collect(flexible_entry(d, body_));
  if (is_beam_frame(flexible_entry(d, body_)))
    for (const Entry* member : beam_entries(d, flexible_entry(d, body_))) collect(*member);
  for (const int i : interfaces_) collect(flexible_entry(d, i));
  const std::lock_guard lock(mutex_);
  if (made_ == nullptr || numbers != numbers_) {
    made_ = make(d, params);
    numbers_ = std::move(numbers);
  }
  return made_;
}

std::shared_ptr<const FlexibleSource::Made> FlexibleSource::make(const Description& d,
                                                                 const double* params) const {
  auto out = std::make_shared<Made>();
  const Entry& body = flexible_entry(d, body_);
  const Inputs<double> in(d, body, params, nullptr);
  for (const Entry* entry : beam_entries(d, body)) {
    const Inputs<double> beam(d, *entry, params, nullptr);
    out->mistake = beam_curve_mistake(beam, out->hint);
    if (out->mistake.empty()) out->mistake = section_mistake(beam, out->hint);
    if (out->mistake.empty()) continue;
    if (is_member(*entry)) out->mistake = fmt::format("its member '{}': {}", entry->name, out->mistake);
    return out;
  }
  try {
    out->mesh = meshed(in);
    warn_of_tetrahedra(body, out->mesh.solid, out->warnings);
    const FiniteElements& elements = out->mesh.elements;
    std::vector<InterfaceNodes>& interfaces = out->interfaces;
    const Pose<double> start = flexible_start(d, body, body, params).pose;
    for (const int i : interfaces_) {
      const Entry& entry = flexible_entry(d, i);
      interfaces.push_back(interface_nodes(Inputs<double>(d, entry, params, nullptr), start, elements));
      warn_of_distance(entry, interfaces.back(), elements, out->warnings);
    }
    SecondDerivatives second;
    if (second_order_) {
      if (!beam_entries(d, body).empty())
        second = [&](const Eigen::MatrixXd& U) {
          return linear_beam_second_derivatives(linear_beams(in), U);
        };
      else if (!out->mesh.solid.elements.empty())
        second = [&](const Eigen::MatrixXd& U) {
          return solid_second_derivatives(out->mesh.solid, out->mesh.material, U);
        };
      else
        throw std::invalid_argument(
            "has no geometric stiffness: it cannot be derived from matrices, expected a beam, a frame, a "
            "brick or a mesh");
    }
    out->reduced = reduce(elements, interfaces, method_of(d, body), modes_of(body), second);
  } catch (const std::invalid_argument& mistake) {
    out->mistake = mistake.what();
    return out;
  }
  // Modal damping: a share of the critical one, and a time of relaxation.
  const int n = static_cast<int>(out->reduced.frequencies.size());
  if (n == 0)
    out->warnings.push_back(
        fmt::format("flexible.{}: has no modes and is rigid: expected `modes` above 0, or a second interface",
                    body.name));
  const ShapeIntegralsOf<double> integrals(n, out->reduced.integrals.data());
  const double ratio = in.number(body.kind->field("damping_ratio")),
               time = in.number(body.kind->field("damping"));
  for (int l = 0; l < n; ++l)
    integrals.d(l) = 2 * ratio * out->reduced.frequencies[l] * integrals.m(l) + time * integrals.k(l);
  return out;
}

Seeds FlexibleBatch::seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame,
                           const Seeding& s) {
  const int first = at.nodes[frame.node()].tangent;
  const double* tangent = to.tangent != nullptr ? to.tangent + first : nullptr;
  const double* rate_tangent = to.tangent != nullptr ? to.rate_tangent + first : nullptr;
  return node_seeds(frame.type(), frame.node_motion(), tangent, rate_tangent, s);
}

template <class S>
FloatingMotion<S> FlexibleBatch::motion(const EvaluationOf<S>& at) const {
  FloatingMotion<S> out;
  out.frame = node_motion_of(at, 0);
  out.eta.resize(modes_), out.rate.resize(modes_), out.acceleration.resize(modes_);
  for (int i = 0; i < modes_ / 3; ++i) {
    const Motion<S>& point = node_motion_of(at, 1 + i);
    out.eta.template segment<3>(3 * i) = point.p;
    out.rate.template segment<3>(3 * i) = point.V.template head<3>();
    out.acceleration.template segment<3>(3 * i) = point.A.template head<3>();
  }
  return out;
}

FlexibleBatch::MaterialScales FlexibleBatch::material_scales(const Inputs<Varied>& in) const {
  const Description& d = in.description();
  MaterialScales out{Varied(1), Varied(1), Varied(0), Varied(0)};
  const auto look = [&](const Entry& entry) {
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const FieldValue& field = entry.fields[f];
      const Field& kind = entry.kind->fields[f];
      for (int i = 0; field.first >= 0 && i < field.count; ++i) {
        const Varied& x = in.all_parameters()[field.first + i];
        if (x.id == 0 || kind.name == "velocity" || kind.name == "angular_velocity_inertial" ||
            kind.name == "damping" || kind.name == "damping_ratio")
          continue;
        // Modes do not change with these two, and matrices are proportional to them, unless they are those of one member of several.
        if (kind.name == "density" && !is_member(entry)) {
          out.mass = x / Varied(x.v);
        } else if (kind.name == "young" && !is_linear_beam(entry)) {
          out.stiffness = x / Varied(x.v);
        } else {
          throw InputError(
              fmt::format("flexible.{}.{}", entry.name, kind.name),
              fmt::format("expected a parameter that does not change the modes of the body (density, "
                          "young of solids, damping, damping_ratio, velocities), got {}",
                          kind.name),
              "use --method difference: finite differences of whole runs");
        }
      }
    }
  };
  const Entry& whole = flexible_entry(d, source_->body());
  look(whole);
  if (is_beam_frame(whole))
    for (const Entry* member : beam_entries(d, whole)) look(*member);
  for (int i = 0; i < source_->interfaces(); ++i) look(flexible_entry(d, source_->interface_entry(i)));
  const Inputs<Varied> body(d, whole, in.all_parameters(), nullptr);
  out.damping_ratio = body.number(body.kind().field("damping_ratio"));
  out.damping = body.number(body.kind().field("damping"));
  return out;
}

namespace {

class FlexibleBody : public ForBothScalars<FlexibleBody, FlexibleBatch>,
                     public FlexibleOutput,
                     public BeamSections {
 public:
  void derive(const Inputs<double>& in, double* out) const {
    const auto made = source_->made(in.description(), in.all_parameters());
    if (!made->mistake.empty()) return;
    out = std::copy(made->reduced.integrals.begin(), made->reduced.integrals.end(), out);
    const Pose<double> start =
        flexible_start(in.description(), in.entry(), in.entry(), in.all_parameters()).pose;
    const FiniteElements& elements = made->mesh.elements;
    for (const Output& output : outputs_) {
      const Entry& sensor =
          in.description().entries(Section::Sensors)[static_cast<std::size_t>(output.sensor_entry)];
      const Inputs<double> of_sensor(in.description(), sensor, in.all_parameters(), nullptr);
      const Vec3 place = start.R.transpose() * (of_sensor.vector(sensor.kind->field("at")) - start.p);
      Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic>> rows(out + 3, 6, modes_);
      Eigen::Map<Eigen::Matrix<double, 6, kInertialLoads>> inertial(out + 3 + 6 * modes_);
      rows.setZero();
      inertial.setZero();
      if (output.of == Of::Stress) {
        const StressRows stress = stress_rows(made->mesh.solid, made->mesh.material, place);
        for (std::size_t i = 0; i < stress.freedoms.size(); ++i) {
          const Vec6 column = stress.rows.col(static_cast<Eigen::Index>(i));
          rows += column * made->reduced.modes.row(stress.freedoms[i]);
          inertial += column * made->reduced.inertial.row(stress.freedoms[i]);
        }
      } else {
        Eigen::Index nearest = 0;
        (elements.places.colwise() - place).colwise().squaredNorm().minCoeff(&nearest);
        Eigen::Map<Vec3>{out} = elements.places.col(nearest);
        rows.topRows<3>() = made->reduced.modes.middleRows<3>(elements.freedoms * nearest);
        Eigen::Map<Eigen::Matrix3Xd> second(out + 3 + 6 * (modes_ + kInertialLoads), 3, pairs());
        if (pairs() > 0) second = made->reduced.pairs.middleRows<3>(elements.freedoms * nearest);
      }
      out += output_size();
    }
    if (sections_ == 0) return;
    *out++ = in.number(in.kind().field("damping"));
    Eigen::MatrixXd all(made->reduced.modes.rows(), modes_ + kInertialLoads);
    all << made->reduced.modes, made->reduced.inertial;
    Eigen::Map<Eigen::MatrixXd>{out, 12 * sections_, all.cols()} =
        linear_beam_sections(linear_beams(in), all);
  }
  void derive(const Inputs<Varied>& in, Varied* out) const {
    const Description& d = in.description();
    const MaterialScales scales = material_scales(in);
    std::vector<double> params(static_cast<std::size_t>(d.parameters.size())),
        values(static_cast<std::size_t>(constants_per_element()));
    for (std::size_t i = 0; i < params.size(); ++i) params[i] = in.all_parameters()[i].v;
    derive(Inputs<double>(d, in.entry(), params.data(), nullptr), values.data());
    std::copy(values.begin(), values.end(), out);
    const int size = ShapeIntegrals::size(modes_);
    const ShapeIntegralsOf<Varied> c(modes_, out);
    for (int i = 0; i < size; ++i) out[i] *= scales.mass;
    for (int l = 0; l < modes_; ++l) {
      c.k(l) *= scales.stiffness / scales.mass;
      c.d(l) = Varied(2) * scales.damping_ratio * sqrt(c.k(l) * c.m(l)) + scales.damping * c.k(l);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].of != Of::Stress) continue;
      Varied* rows = out + size + static_cast<int>(i) * output_size() + 3;
      for (int k = 0; k < 6 * modes_; ++k) rows[k] *= scales.stiffness;
      for (int k = 0; k < 6 * kInertialLoads; ++k) rows[6 * modes_ + k] *= scales.mass;
    }
    if (sections_ == 0) return;
    // Beams have no scale of stiffness.
    out[first_section()] = in.number(in.kind().field("damping"));
    Varied* const inertial = out + first_section() + 1 + 12 * sections_ * modes_;
    for (int k = 0; k < 12 * sections_ * kInertialLoads; ++k) inertial[k] *= scales.mass;
  }
  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    const auto made = source_->made(in.description(), in.all_parameters());
    message = made->mistake;
    hint = made->hint;
    for (const Output& output : outputs_)
      if (message.empty() && output.of == Of::Stress && made->mesh.solid.elements.empty())
        message = "has no stresses for a sensor: expected a brick or a mesh of solid elements",
        hint = is_linear_beam(in.entry())
                   ? fmt::format("a linear beam has section_force and section_moment of {}[0.5]",
                                 in.entry().name)
               : is_beam_frame(in.entry()) ? "members have section_force and section_moment of MEMBER[0.5]"
                                           : "";
  }
  std::vector<std::string> warnings(const Description& d, const double* params) const override {
    const auto made = source_->made(d, params);
    std::vector<std::string> out = made->warnings;
    if (!made->mistake.empty()) return out;
    const Entry& body = flexible_entry(d, source_->body());
    const Pose<double> start = flexible_start(d, body, body, params).pose;
    for (const Output& output : outputs_) {
      const Entry& sensor = d.entries(Section::Sensors)[static_cast<std::size_t>(output.sensor_entry)];
      const Vec3 at = Inputs<double>(d, sensor, params, nullptr).vector(sensor.kind->field("at"));
      const Vec3 place = start.R.transpose() * (at - start.p);
      if (output.of == Of::Displacement) {
        if (const double distance = distance_of_displacement(made->mesh, place); distance > 0)
          out.push_back(fmt::format(
              "sensors.{}: its position is {:.3g} m outside '{}'; the nearest node is used instead",
              sensor.name, distance, body.name));
        continue;
      }
      const double distance = stress_rows(made->mesh.solid, made->mesh.material, place).distance;
      if (distance > 1e-6 * made->mesh.elements.extent())
        out.push_back(fmt::format(
            "sensors.{}: its position is {:.3g} m outside '{}'; the nearest point is used instead",
            sensor.name, distance, body.name));
    }
    return out;
  }

  int add(int sensor_entry, Of of) override {
    outputs_.push_back({sensor_entry, of});
    lay_out();
    return static_cast<int>(outputs_.size()) - 1;
  }
  const Batch& batch() const override { return *this; }
  const FlexibleSource& source() const override { return *source_; }
  int modes_of_body() const override { return modes_; }
  int pairs_of_body() const override { return pairs(); }
  int constants_of(int index) const override {
    return first_constant + ShapeIntegrals::size(modes_) + index * output_size();
  }

  void show_sections(const BeamMesh& mesh) override {
    points_ = mesh.order;  // one in elements with two nodes, two in those with three
    sections_ = points_ * mesh.elements;
    lay_out();
  }
  std::vector<int> jumps(const Description& d, const Entry& beam) const override {
    const Entry& body = flexible_entry(d, source_->body());
    const auto made = source_->made(d, d.parameters.data());
    if (!made->mistake.empty()) return {};
    const std::vector<LinearBeam> beams = linear_beams(Inputs<double>(d, body, d.parameters.data(), nullptr));
    const BeamMesh mesh = beam_mesh(d, beam);
    std::set<int> loaded;
    for (const InterfaceNodes& interface : made->interfaces)
      loaded.insert(interface.nodes.begin(), interface.nodes.end());
    for (const LinearBeam& other : beams)
      if (&other.in.entry() != &beam) loaded.insert(other.nodes.begin(), other.nodes.end());
    std::vector<int> out;
    for (const LinearBeam& own : beams)
      for (int i = 1; &own.in.entry() == &beam && i < mesh.elements; ++i)
        if (loaded.count(own.nodes[static_cast<std::size_t>(i * mesh.order)]) > 0) out.push_back(i);
    return out;
  }
  int points() const override { return points_; }
  void section(const Evaluation& at, int element, int point, Vec6& strain, Vec6& force) const override {
    section_of(at, element, point, strain, force);
  }
  void section(const VariedEvaluation& at, int element, int point, Vec6T<Varied>& strain,
               Vec6T<Varied>& force) const override {
    section_of(at, element, point, strain, force);
  }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override {
    const ShapeIntegrals c = constants(at);
    const FloatingMotion<double> x = motion(at);
    const FloatingTerms<double> t(c, x, at.world.gravity);
    add_wrenches(at, x, t);
    const int F = 1 + modes_ / 3;
    // Each mode's column and row with the frame, three to a point.
    for (int j = 0; j < F; ++j) {
      const FrameView column = view(at, j);
      const Seeds s = seeds(at, to, column, to.force);
      for (int i = 0; i < F; ++i) {
        const FrameView row = view(at, i);
        Mat6 K = Mat6::Zero(), C = Mat6::Zero(), M = Mat6::Zero();
        if (i == 0 && j == 0) {
          const FloatingPartials d = frame_partials(c, x, t);
          K = d.K, C = d.C, M = d.M;
        } else if (i == 0) {
          for (int b = 0; b < 3; ++b) {
            const FloatingPartials::Columns d = column_partials(c, x, t, 3 * (j - 1) + b);
            K.col(b) = d.K, C.col(b) = d.C, M.col(b) = d.M;
          }
        } else if (j == 0) {
          for (int a = 0; a < 3; ++a) {
            const FloatingPartials::Columns d = row_partials(c, x, t, 3 * (i - 1) + a);
            K.row(a) = d.K.transpose(), C.row(a) = d.C.transpose(), M.row(a) = d.M.transpose();
          }
        } else {
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
              const FloatingPartials::Numbers d = modal_partials(c, x, 3 * (i - 1) + a, 3 * (j - 1) + b);
              K(a, b) = d.K, C(a, b) = d.C, M(a, b) = d.M;
            }
        }
        Mat6 D;
        if (i > 0 && j > 0) {
          D.setZero();
          D.topRows<3>().noalias() = K.topLeftCorner<3, 3>() * s.X.topRows<3>() +
                                     C.topLeftCorner<3, 3>() * s.V.topRows<3>() +
                                     M.topLeftCorner<3, 3>() * s.A.topRows<3>();
        } else {
          D.noalias() = K * s.X + C * s.V + M * s.A;
        }
        row.to_node_rows(D);
        add_block(to.values, to.blocks[i * F + j], D, row.type(), column.type());
      }
    }
  }

  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    const FloatingMotion<S> x = motion(at);
    add_wrenches(at, x, FloatingTerms<S>(constants(at), x, at.world.gravity));
  }
  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>& at) const {
    return floating_energy<S>(constants(at), motion(at), at.world.gravity);
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int, int i) const {
    const FloatingMotion<S> x = motion(at);
    Vec6T<S> W;
    Modal<S> W_eta;
    floating_residual(constants(at), x, FloatingTerms<S>(constants(at), x, at.world.gravity), W, W_eta);
    if (i == 0) return W;
    Vec6T<S> out = Vec6T<S>::Zero();
    out.template head<3>() = W_eta.template segment<3>(3 * (i - 1));
    return out;
  }

 private:
  // Numbers: the integrals; then for each sensor the place of a node, 6 x modes, 6 x kInertialLoads and 3 x pairs; then, if sensors look at sections, the delay of
  // their forces and 12 x (modes + kInertialLoads) for each of them.
  void lay_out() override {
    facts_.coupling = {.frames = 1 + modes_ / 3, .rows = 0, .diagonal = true, .across = modes_ > 0};
    facts_.acting_frames = facts_.coupling.frames;
    facts_.constants = first_section() + (sections_ > 0 ? 1 + 12 * sections_ * (modes_ + kInertialLoads) : 0);
  }

  struct Output {
    int sensor_entry;
    Of of;
  };
  std::vector<Output> outputs_;
  int points_ = 0, sections_ = 0;

  int output_size() const { return 3 + 6 * (modes_ + kInertialLoads) + 3 * pairs(); }
  int first_section() const {
    return ShapeIntegrals::size(modes_) + static_cast<int>(outputs_.size()) * output_size();
  }
  template <class S>
  void section_of(const EvaluationOf<S>& at, int element, int point, Vec6T<S>& strain,
                  Vec6T<S>& force) const {
    const S* numbers = at.constants + first_constant + first_section();
    const Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>> rows(numbers + 1, 12 * sections_,
                                                                                  modes_ + kInertialLoads);
    const FloatingMotion<S> x = motion(at);
    const Eigen::Matrix<S, kInertialLoads, 1> loads = inertial_loads<S>(x.frame, at.world.gravity);
    const int row = 12 * (points_ * element + point);
    const auto of_modes = rows.leftCols(modes_);
    const auto of_loads = rows.template rightCols<kInertialLoads>();
    strain = of_modes.template middleRows<6>(row) * x.eta + of_loads.template middleRows<6>(row) * loads;
    force = of_modes.template middleRows<6>(row + 6) * Modal<S>(x.eta + numbers[0] * x.rate) +
            of_loads.template middleRows<6>(row + 6) * loads;
  }
  template <class S>
  ShapeIntegralsOf<const S> constants(const EvaluationOf<S>& at) const {
    return ShapeIntegralsOf<const S>(modes_, at.constants + first_constant);
  }
  template <class S>
  void add_wrenches(const EvaluationOf<S>& at, const FloatingMotion<S>& x, const FloatingTerms<S>& t) const {
    Vec6T<S> W;
    Modal<S> W_eta;
    floating_residual(constants(at), x, t, W, W_eta);
    at.wrench[at.frames[frames[0]].node] += W;
    for (int i = 0; i < modes_ / 3; ++i)
      at.wrench[at.frames[frames[static_cast<std::size_t>(1 + i)]].node].template head<3>() +=
          W_eta.template segment<3>(3 * i);
  }
};

// Frames: that of the body, its modes, its own. Numbers: the place in the body, then Psi, then its second derivatives by pairs of modes.
class FlexibleInterface : public ForBothScalars<FlexibleInterface, FlexibleBatch> {
 public:
  FlexibleInterface() {
    facts_.coupling.rows = 6;  // they are counted before the modes are known
    facts_.row_names = {"position x", "position y", "position z", "rotation x", "rotation y", "rotation z"};
  }
  void derive(const Inputs<double>& in, double* out) const {
    const Description& d = in.description();
    const Entry& body = flexible_entry(d, source_->body());
    const Pose<double> start = flexible_start(d, body, body, in.all_parameters()).pose;
    Eigen::Map<Vec3>{out} = start.R.transpose() * (in.vector(kInterfaceAt) - start.p);
    const auto made = source_->made(d, in.all_parameters());
    if (!made->mistake.empty()) return;
    const auto index = static_cast<std::size_t>(source_->index_of(entries.front()));
    const auto& psi = made->reduced.interfaces[index];
    out = std::copy_n(psi.data(), psi.size(), out + 3);
    if (pairs() == 0) return;
    const auto& second = made->reduced.interface_pairs[index];
    std::copy_n(second.data(), second.size(), out);
  }
  // Constants: material_scales() of the body refuses whatever would change them.
  void derive(const Inputs<Varied>& in, Varied* out) const {
    std::vector<double> params(in.description().parameters.size()),
        values(static_cast<std::size_t>(constants_per_element()));
    for (std::size_t i = 0; i < params.size(); ++i) params[i] = in.all_parameters()[i].v;
    derive(Inputs<double>(in.description(), in.entry(), params.data(), nullptr), values.data());
    std::copy(values.begin(), values.end(), out);
  }

  void add_residual(const Evaluation& at) const { evaluate(at, nullptr); }
  void add_residual(const VariedEvaluation& at) const {
    const Material<Varied> material(*this, at);
    add_residual(at, material, derivatives(at, material));
  }
  void jacobian(const Evaluation& at, const JacobianTarget& to) const override { evaluate(at, &to); }

  void constraint_matrices(const Evaluation& at, double* out) const override {
    const Material<double> material(*this, at);
    const InterfaceDerivatives d = derivatives(at, material);
    for (int i = 0; i < coupling().frames; ++i, out += 36)
      Eigen::Map<Mat6>{out} = view(at, i).to_node_columns<6>(columns(material, d.B, i));
  }

  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int, int i) const {
    const Material<S> material(*this, at);
    return columns(material, derivatives(at, material).B, i).transpose() * lambda(at);
  }

 private:
  void lay_out() override {
    facts_.coupling = {.frames = 2 + modes_ / 3, .rows = 6, .diagonal = true, .across = true};
    facts_.acting_frames = facts_.coupling.frames;
    facts_.constants = 3 + 6 * modes_ + 6 * pairs();
  }

  template <class S>
  using Rows = Eigen::Matrix<S, 6, Eigen::Dynamic, 0, 6, kMostModes>;

  // Displacement and rotation y of the material there, by the modes:  y = Psi eta + 1/2 sum Psi_kl eta_k eta_l
  template <class S>
  struct Material {
    Rows<S> slope;       // dy/deta
    Rows<S> slope_rate;  // and its rate
    Vec6T<S> y, rate;
    Vec6T<S> convective;  // what y'' has beside slope eta''

    Material(const FlexibleInterface& of, const EvaluationOf<S>& at)
        : slope(Eigen::Map<const Rows<S>>(of.constants(at), 6, of.modes_)),
          slope_rate(Rows<S>::Zero(6, of.modes_)) {
      Modal<S> eta(of.modes_), eta_rate(of.modes_);
      for (int i = 0; i < of.modes_ / 3; ++i) {
        const Motion<S>& point = of.node_motion_of(at, 1 + i);
        eta.template segment<3>(3 * i) = point.p;
        eta_rate.template segment<3>(3 * i) = point.V.template head<3>();
      }
      y = slope * eta;
      if (of.pairs() > 0) {
        for (int l = 0; l < of.modes_; ++l)
          for (int k = 0; k < of.modes_; ++k) {
            const auto second = of.second(at, k, l);
            slope.col(k) += eta[l] * second;
            slope_rate.col(k) += eta_rate[l] * second;
          }
        y = (S(0.5) * (y + slope * eta)).eval();
      }
      rate = slope * eta_rate;
      convective = slope_rate * eta_rate;
    }
  };

  template <class S>
  const S* constants(const EvaluationOf<S>& at) const {
    return at.constants + first_constant + 3;
  }
  template <class S>
  Eigen::Map<const Vec6T<S>> second(const EvaluationOf<S>& at, int k, int l) const {
    return Eigen::Map<const Vec6T<S>>(constants(at) + 6 * modes_ + 6 * pair_index(k, l));
  }
  template <class S>
  Eigen::Map<const Vec6T<S>> lambda(const EvaluationOf<S>& at) const {
    return Eigen::Map<const Vec6T<S>>(at.lambda + first_row);
  }
  // Index in InterfaceDerivatives of what the i-th frame moves.
  int part(int i) const { return i == 0 ? 0 : i == coupling().frames - 1 ? 2 : 1; }
  // Of a frame's own increments, from those of y for the modes.
  template <class S>
  Mat6T<S> columns(const Material<S>& material, const Mat6T<S>* of, int i) const {
    if (part(i) != 1) return of[part(i)];
    Mat6T<S> out = Mat6T<S>::Zero();
    out.template leftCols<3>() = of[1] * material.slope.template middleCols<3>(3 * (i - 1));
    return out;
  }
  // The same of the rates B v.
  Mat6 rate_columns(const Material<double>& material, const InterfaceDerivatives& d, int i) const {
    Mat6 out = columns(material, d.Z, i);
    if (part(i) == 1) out.leftCols<3>() += d.B[1] * material.slope_rate.middleCols<3>(3 * (i - 1));
    return out;
  }

  template <class S>
  InterfaceDerivativesOf<S> derivatives(const EvaluationOf<S>& at, const Material<S>& material) const {
    InterfaceDerivativesOf<S> d = interface_derivatives<S>(
        node_motion_of(at, 0), material.y, material.rate, node_motion_of(at, coupling().frames - 1),
        Eigen::Map<const Vec3T<S>>(at.constants + first_constant), lambda(at));
    d.bias += d.B[1] * material.convective;
    return d;
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at, const Material<S>& material,
                    const InterfaceDerivativesOf<S>& d) const {
    const int F = coupling().frames;
    if (at.phi != nullptr) Eigen::Map<Vec6T<S>>{at.phi + first_row} = d.phi;
    if (at.rate != nullptr || at.acceleration != nullptr) {
      Vec6T<S> rate = Vec6T<S>::Zero(), acceleration = d.bias;
      for (int i = 0; i < F; ++i) {
        const Mat6T<S> B = columns(material, d.B, i);
        rate += B * view(at, i).motion().V;
        acceleration += B * view(at, i).motion().A;
      }
      if (at.rate != nullptr) Eigen::Map<Vec6T<S>>{at.rate + first_row} = rate;
      if (at.acceleration != nullptr) Eigen::Map<Vec6T<S>>{at.acceleration + first_row} = acceleration;
    }
    for (int i = 0; i < F; ++i)
      at.wrench[view(at, i).node()] += columns(material, d.B, i).transpose() * lambda(at);
  }

  void evaluate(const Evaluation& at, const JacobianTarget* to) const {
    const Material<double> material(*this, at);
    const InterfaceDerivatives d = derivatives(at, material);
    add_residual(at, material, d);
    const int F = coupling().frames;
    if (to == nullptr) return;

    const BlockRef* refs = to->blocks;
    for (int j = 0; j < F; ++j) {
      const FrameView frame = view(at, j);
      const int n = node_size(frame.type()).v;
      const std::uint8_t* own = components(frame.type());
      const Mat6 B_j = columns(material, d.B, j), Z_j = rate_columns(material, d, j);
      const Mat6 B = frame.to_node_columns<6>(B_j);
      Mat6 rows;
      if (to->level == RowLevel::Position) {
        rows = to->row.q * B;
      } else {
        const Seeds s = seeds(at, *to, frame, to->row);
        rows = to->level == RowLevel::Velocity ? Mat6(B_j * s.V + Z_j * s.X) : Mat6(B_j * s.A);
      }
      const auto add = [&](const BlockRef& ref, const Mat6& values, bool transposed) {
        for (int c = 0; c < n; ++c)
          for (int r = 0; r < 6; ++r)
            to->values[ref.offset + (transposed ? c + r * ref.stride : r + c * ref.stride)] +=
                values(r, own[c]);
      };
      if (to->rate_blocks != nullptr) {
        const Seeds s = seeds(at, *to, frame, to->rate);
        add(to->rate_blocks[j], B_j * s.V + Z_j * s.X, false);
      }
      add(refs[F * F + j], rows, false);
      add(refs[F * F + F + j], B, true);
      if (to->force.q == 0) continue;
      // d(B^T lambda)
      const Vec6 on_y = d.B[1].transpose() * lambda(at);
      for (int i = 0; i < F; ++i) {
        Mat6 G = Mat6::Zero();
        if (part(i) == 1 && part(j) == 1) {
          if (pairs() == 0) continue;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) G(a, b) = on_y.dot(second(at, 3 * (i - 1) + a, 3 * (j - 1) + b));
        } else {
          G = d.G[part(i)][part(j)];
          if (part(j) == 1) {
            G.leftCols<3>() = (G * material.slope.middleCols<3>(3 * (j - 1))).eval();
            G.rightCols<3>().setZero();
          }
          if (part(i) == 1) {
            G.topRows<3>() = (material.slope.middleCols<3>(3 * (i - 1)).transpose() * G).eval();
            G.bottomRows<3>().setZero();
          }
        }
        Mat6 D = frame.to_node_columns<6>(to->force.q * G);
        const FrameView row = view(at, i);
        row.to_node_rows(D);
        add_block(to->values, refs[i * F + j], D, row.type(), frame.type());
      }
    }
  }
};

}  // namespace

std::vector<std::string> flexible_warnings(const Model& model, const double* params) {
  std::vector<std::string> out;
  for (const auto& batch : model.batches) {
    const auto* flexible = dynamic_cast<const FlexibleBatch*>(batch.get());
    if (flexible == nullptr) continue;
    for (std::string& warning : flexible->warnings(model.description(), params))
      out.push_back(std::move(warning));
  }
  return out;
}

std::unique_ptr<Batch> make_flexible_body(unsigned) { return std::make_unique<FlexibleBody>(); }
std::unique_ptr<Batch> make_flexible_interface(unsigned) { return std::make_unique<FlexibleInterface>(); }

}  // namespace liedyn

#include "liedyn/io/write_scene.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/base/index.h"
#include "liedyn/base/version.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/scene_loads.h"
#include "liedyn/io/scene_shapes.h"
#include "liedyn/io/scene_surface.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_statics.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/compile.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr long kMostFrames = 2000;
constexpr std::size_t kMostPoses = 2'000'000;         // times x frames, unless a number of times is asked for
constexpr std::size_t kMostSensorValues = 4'000'000;  // of all sensors
constexpr std::size_t kMostChannelTimes = 10000;
constexpr std::size_t kMostLoadValues = 300'000;  // what acts, over all times; thinned in time
constexpr int kMostLoads = 3000;                  // at a time,
constexpr int kMostLiveLoads = 600;               // and of a run that is watched
constexpr double kQuaternionUnit = 32767;

// Six digits are enough for what is drawn.
double tidy(double x) { return std::isfinite(x) ? std::stod(fmt::format("{:.6g}", x)) : 0; }
Json json_of(const Vec3& v) { return {tidy(v[0]), tidy(v[1]), tidy(v[2])}; }
Json json_of(const Mat3& R) {
  const Eigen::Quaterniond q(R);
  return {tidy(q.w()), tidy(q.x()), tidy(q.y()), tidy(q.z())};
}

Json json_of(const SceneShape& s) {
  using Type = SceneShape::Type;
  Json out;
  switch (s.type) {
    case Type::Box:
      out = {{"type", "box"}, {"size", {tidy(s.size[0]), tidy(s.size[1]), tidy(s.size[2])}}};
      break;
    case Type::Sphere: out = {{"type", "sphere"}, {"radius", tidy(s.radius())}}; break;
    case Type::Cylinder:
      out = {{"type", "cylinder"}, {"radius", tidy(s.radius())}, {"length", tidy(s.length())}};
      break;
    case Type::Capsule:
      out = {{"type", "capsule"}, {"radius", tidy(s.radius())}, {"length", tidy(s.length())}};
      break;
    case Type::Tube:
      out = {{"type", "tube"},
             {"radius", tidy(s.radius())},
             {"inner", tidy(s.size[2])},
             {"length", tidy(s.length())}};
      break;
    case Type::Ellipsoid:
      out = {{"type", "ellipsoid"}, {"radii", {tidy(s.size[0]), tidy(s.size[1]), tidy(s.size[2])}}};
      break;
    case Type::Mesh:
      out = {{"type", "mesh"},
             {"vertices", pack_array(s.vertices, {s.vertices.size() / 3, 3})},
             {"triangles", pack_array(s.triangles, {s.triangles.size() / 3, 3})}};
      break;
  }
  if (!s.at.isZero()) out["at"] = json_of(s.at);
  if (!s.axes.isIdentity(1e-9)) out["rotation"] = json_of(s.axes);
  if (!s.color.empty()) out["color"] = s.color;
  if (s.derived) out["derived"] = true;
  return out;
}

Json json_of(const SectionOutline& s) {
  Json out = {{"type", !s.is_round ? "rectangle" : s.wall > 0 ? "tube" : "circle"}};
  if (s.is_round) {
    out["radius"] = tidy(s.radius);
    if (s.wall > 0) out["inner"] = tidy(s.radius - s.wall);
    return out;
  }
  out["width"] = tidy(s.width);
  out["height"] = tidy(s.height);
  if (s.wall > 0) out["thickness"] = tidy(s.wall);
  return out;
}
double half_diagonal(const SectionOutline& s) {
  return s.is_round ? s.radius : 0.5 * std::hypot(s.width, s.height);
}

struct Box {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  void add(const Vec3& p, double radius = 0) {
    low = low.cwiseMin(p - Vec3::Constant(radius));
    high = high.cwiseMax(p + Vec3::Constant(radius));
  }
  bool empty() const { return !(low[0] <= high[0]); }
  double size() const { return empty() ? 0 : (high - low).norm(); }
  Vec3 center() const { return empty() ? Vec3(Vec3::Zero()) : Vec3(0.5 * (low + high)); }
};

// Poses of all bodies of a model from a state alone: no matrices, no forces.
class BodyPoses {
 public:
  explicit BodyPoses(const System& system)
      : model_(system.shared_model()), motions_(model_->bodies().size()) {
    derive_numbers(*model_, system.params().values().data(), numbers_);
    if (model_->tree) tree_ = std::make_unique<TreeMotion>(*model_->tree, model_->nv);
  }
  const std::vector<Motion<double>>& at_state(const State& state) {
    if (tree_) {
      move_links(*model_->tree, model_->nodes, numbers_.data.data(), state.q.data(), state.v.data(),
                 state.vdot.data(), *tree_, motions_.data());
    } else {
      for (std::size_t i = 0; i < model_->nodes.size(); ++i) {
        const Node& node = model_->nodes[i];
        motions_[i] = node_motion(node.type, state.q.data() + node.q, state.v.data() + node.v,
                                  state.vdot.data() + node.v);
      }
    }
    return motions_;
  }
  const Numbers& numbers() const { return numbers_; }

 private:
  std::shared_ptr<const Model> model_;
  Numbers numbers_;
  std::unique_ptr<TreeMotion> tree_;
  std::vector<Motion<double>> motions_;
};

// A flexible body in the scene.
struct SceneFlexible {
  std::size_t entry;       // in the list of bodies of the scene
  std::vector<int> modal;  // bodies that are its modal coordinates, three each
  int modes = 0;
  bool second_order = false;
  std::vector<float> shapes;   // [modes, vertices, 3]
  std::vector<float> pairs;    // of products of two coordinates likewise
  std::vector<float> stress;   // [modes, vertices, 6]; empty: not known
  std::vector<float> history;  // [times, modes]

  Eigen::VectorXd coordinates(const std::vector<Motion<double>>& motions) const {
    Eigen::VectorXd out(modes);
    for (std::size_t i = 0; i < modal.size(); ++i)
      out.segment<3>(3 * static_cast<Eigen::Index>(i)) = motions[at(modal[i])].p;
    return out;
  }
  std::size_t coordinate_count() const { return at(modes) + (second_order ? at(pair_count(modes)) : 0); }
  // u = Phi eta + sum of eta_k eta_l Phi_kl, each pair once
  void write_coordinates(const float* eta, float* out) const {
    const std::size_t K = at(modes);
    std::copy_n(eta, K, out);
    for (int l = 0; second_order && l < modes; ++l)
      for (int k = 0; k <= l; ++k)
        out[K + at(pair_index(k, l))] = (k == l ? 0.5F : 1.0F) * eta[at(k)] * eta[at(l)];
  }
};

// An exact beam in the scene, with the forces in its sections at the nodes: N, Q_y, Q_z, T, M_y, M_z. A section without outline has no stress; its strains are those of
// the beam: the strain |Gamma| of the axis, stretched and sheared, and the curvature |kappa|, bent and twisted.
struct SceneBeam {
  std::size_t entry;  // in the list of bodies of the scene
  const BeamSections* sections;
  int first, elements;
  bool has_strains;
  std::vector<double> places = {};  // of the nodes, fractions of the length
  std::vector<float> history = {};  // [times, nodes, width]

  std::size_t width() const { return has_strains ? 8 : 6; }
  // Appends [nodes, width].
  void add(const Evaluation& at, std::vector<float>& out) const {
    for (const double x : places) {
      Vec6 strain, force;
      beam_section<double>(*sections, at, first, elements, x, strain, force);
      const auto put = [&](double value) {
        out.push_back(std::isfinite(value) ? static_cast<float>(value) : 0);
      };
      for (const double f : force) put(f);
      if (has_strains) put(strain.head<3>().norm()), put(strain.tail<3>().norm());
    }
  }
};
bool is_drawable(const std::vector<Motion<double>>& motions) {
  constexpr double kFarthest = 1e30;  // what a 32-bit number holds, with room for differences
  return std::all_of(motions.begin(), motions.end(), [](const Motion<double>& m) {
    return m.R.allFinite() && m.p.cwiseAbs().maxCoeff() < kFarthest;
  });
}

// The sensors of a model, without values.
Trajectory empty_trajectory(const Model& model) {
  Trajectory out;
  for (const Sensor& sensor : model.sensors) {
    out.channels.push_back({sensor.name, model.unit_of(sensor), out.columns, sensor.components});
    out.columns += sensor.components;
  }
  return out;
}

Json component_names(int components) {
  switch (components) {
    case 1: return Json::array();
    case 2: return {"x", "y"};
    case 3: return {"x", "y", "z"};
    case 4: return {"w", "x", "y", "z"};
    case 6: return {"xx", "yy", "zz", "yz", "xz", "xy"};
    default: break;
  }
  Json out = Json::array();
  for (int i = 0; i < components; ++i) out.push_back(std::to_string(i));
  return out;
}

// Sixteen bits turn by at most 5e-5 rad: too much for points far from the floating frame of a flexible body, which is drawn to 1e-5 of its size.
Json packed_rotations(const std::vector<float>& values, const ArrayShape& shape, bool in_sixteen_bits) {
  if (!in_sixteen_bits) return pack_array(values, shape, ArrayCoding::DeltaShuffle);
  std::vector<std::int16_t> integers;
  integers.reserve(values.size());
  for (const float x : values) integers.push_back(static_cast<std::int16_t>(std::lround(x)));
  return pack_array(integers, shape, ArrayCoding::DeltaShuffle);
}

// Modes [K, N, 3] in 16 bits, unless what rounding moves a vertex by, for the coordinates [T, K] of the motion, is more than a length.
Json packed_modes(const std::vector<float>& modes, const std::vector<float>& coordinates, std::size_t K,
                  double tolerance) {
  const std::size_t row = K > 0 ? modes.size() / K : 0;
  const ArrayShape shape = {K, row / 3, 3};
  double moved = 0;
  for (std::size_t k = 0; k < K; ++k) {
    double mode = 0, coordinate = 0;
    for (std::size_t i = k * row; i < (k + 1) * row; ++i) mode = std::max(mode, std::abs(double(modes[i])));
    for (std::size_t i = k; i < coordinates.size(); i += K)
      coordinate = std::max(coordinate, std::abs(double(coordinates[i])));
    moved += coordinate * mode * std::sqrt(3.0) / (2 * 32767);
  }
  return moved > tolerance ? pack_array(modes, shape, ArrayCoding::DeltaShuffle)
                           : pack_field<std::int16_t>(modes, shape);
}

// Stresses [K, N, 6] colour a body: in 8 bits, unless what rounding adds, for the coordinates [T, K] of the motion, is more than a share of the largest von Mises stress.
Json packed_stresses(const std::vector<float>& stress, const std::vector<float>& coordinates, std::size_t K,
                     bool is_growing) {
  constexpr double kShare = 0.02;
  constexpr std::size_t kMostRows = 20;  // are enough to know the largest stress
  const std::size_t width = stress.size() / K, rows = coordinates.size() / K;
  const ArrayShape shape = {K, width / 6, 6};
  const auto count = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
  const Eigen::Map<const Eigen::MatrixXf> S(stress.data(), count(width), count(K));
  const Eigen::Map<const Eigen::MatrixXf> eta(coordinates.data(), count(K), count(rows));
  double largest = 0, rounded = 0;
  for (std::size_t row = 0; row < rows; row += std::max<std::size_t>(1, rows / kMostRows)) {
    const Eigen::VectorXf s = S * eta.col(count(row));
    // xx, yy, zz, yz, xz, xy
    for (Eigen::Index i = 0; i < s.size(); i += 6) {
      const double xy = s[i] - s[i + 1], yz = s[i + 1] - s[i + 2], zx = s[i + 2] - s[i];
      const double shear = s.segment<3>(i + 3).squaredNorm();
      largest = std::max(largest, std::sqrt(0.5 * (xy * xy + yz * yz + zx * zx) + 3 * shear));
    }
  }
  for (Eigen::Index k = 0; rows > 0 && k < S.cols(); ++k)
    rounded += double(S.col(k).cwiseAbs().maxCoeff()) * double(eta.row(k).cwiseAbs().maxCoeff()) / (2 * 127);
  const bool is_coarse = !is_growing && rounded < kShare * largest;
  return is_coarse ? pack_field<std::int8_t>(stress, shape) : pack_field<std::int16_t>(stress, shape);
}

// In 16 bits, with one scale.
Json packed_over_time(const std::vector<float>& values, const ArrayShape& shape) {
  constexpr double kMost = 32767;
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(double(x)));
  const double scale = largest > 0 ? largest / kMost : 1;
  std::vector<std::int16_t> integers;
  integers.reserve(values.size());
  for (const float x : values) integers.push_back(static_cast<std::int16_t>(std::lround(double(x) / scale)));
  Json out = pack_array(integers, shape, ArrayCoding::DeltaShuffle);
  out["scale"] = scale;
  return out;
}

std::string dumped(const Json& scene) { return scene.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

// What is known after the first state: all but the motion.
struct SceneWriter::Content {
  Content(const System& system, const State& first, long frames);

  // From the first state on, which satisfies the equations: what acts is kept as well, of at most so many numbers.
  void watch_loads(const System& system, int most) { loads = std::make_unique<SceneLoads>(system, most); }
  void add(const State& state, double time);
  Evaluation evaluation_of(const std::vector<Motion<double>>& motions) const;
  Json scene(const char* kind);
  Json about(const Sensor& sensor) const;
  void add_loads(Json& out) const;
  void add_channels(const Trajectory& trajectory, Json& out) const;
  Json mode(const System& system, const State& state, const SparseMatrix& Q, const Mode& mode);

  std::shared_ptr<const Model> model;
  Params params;
  BodyPoses poses;
  std::vector<Pose<double>>
      reference;  // of the bodies where joints are described: in the initial configuration

  std::vector<int> frame_of_body;  // -1: modal coordinates
  std::vector<int> body_of_frame;
  std::vector<double> reach;                         // per frame: of what moves with it
  std::vector<std::vector<SceneShape::Ball>> balls;  // the same in more detail, for the box around everything
  std::vector<double> symbol;                        // per body: how large the symbol of a joint on it may be
  std::vector<double> rod;  // per body: thickness of the derived rods that it is made of
  std::vector<SceneFlexible> flexible;
  std::vector<SceneBeam> beams;
  Json bodies = Json::array(), joints = Json::array(), forces = Json::array();
  std::vector<std::string> missing;
  std::vector<Vec3> ground_points;
  double extent = 0;

  std::size_t limit;
  std::size_t count = 0, stride = 1;  // states so far; every stride-th is kept
  std::vector<double> times;
  std::vector<float> positions;
  std::vector<float> rotations;
  std::unique_ptr<SceneLoads> loads;  // null: not known
  std::vector<float> load_history;    // [times, loads]
  bool is_growing = false;            // rows follow, with all loads

 private:
  const Entry& body(std::size_t i) const { return model->description().entries(Section::Bodies)[i]; }
  std::vector<SceneShape> shapes_of(const std::string& name, const SceneBody* facts);
  void read_bodies(std::vector<SceneBody>& facts);
  void read_attachments(std::vector<SceneBody>& facts);
  void add_bodies(const std::vector<SceneBody>& facts);
  void add_beam(const Entry& beam, std::size_t first);
  void add_flexible(const FlexibleOutput& flexible);
  void add_joints();
  void add_forces();
  double size_at(const std::vector<Motion<double>>& now, const std::vector<SceneBody>& facts) const;

  Json place(int frame) const;  // {"frame", "at"} of a frame of the model
  Vec3 offset(int frame) const;
  int node(int frame) const { return model->frames[at(frame)].node; }
  int scene_frame(int body) const { return body < 0 ? -1 : frame_of_body[at(body)]; }
  std::string body_name(int body) const;
  std::optional<Vec3> axis(const Batch& batch, int element, int side) const;
  // The frames of an element that are points of its own, not those of a joint that it names.
  std::vector<int> own_frames(const Batch& batch, int element) const;
  // NAME: Section::Joints, ...
  template <class Visit>
  void for_each_element(Section section, const Visit& visit) const {
    for (std::size_t b = 0; b < model->batches.size(); ++b) {
      if (model->sections[b] != section) continue;
      const Batch& batch = *model->batches[b];
      for (int e = 0; e < batch.size(); ++e) visit(batch, e, model->entry_of(static_cast<int>(b), e));
    }
  }
};

SceneWriter::Content::Content(const System& system, const State& first, long frames)
    : model(system.shared_model()), params(system.params()), poses(system) {
  const std::vector<Entry>& entries = model->description().entries(Section::Bodies);
  State initial = system.empty_state();
  initial.q = initial_values(*model, params.values().data()).q;
  for (const Motion<double>& m : poses.at_state(initial)) reference.push_back(m);
  for (const Entry& entry : entries) {
    frame_of_body.push_back(entry.kind->is_modal ? -1 : static_cast<int>(body_of_frame.size()));
    if (!entry.kind->is_modal) body_of_frame.push_back(static_cast<int>(frame_of_body.size()) - 1);
  }
  reach.assign(body_of_frame.size(), 0);
  balls.resize(body_of_frame.size());
  symbol.assign(entries.size(), 0);
  rod.assign(entries.size(), 0);
  limit = at(static_cast<int>(std::max(frames, 0L)));
  if (frames <= 0)
    limit = std::clamp(kMostPoses / std::max<std::size_t>(1, body_of_frame.size()), std::size_t{2},
                       static_cast<std::size_t>(kMostFrames));

  std::vector<SceneBody> facts(entries.size());
  read_bodies(facts);
  read_attachments(facts);
  extent = size_at(poses.at_state(first), facts);
  add_bodies(facts);
  add_joints();
  add_forces();
}

std::vector<SceneShape> SceneWriter::Content::shapes_of(const std::string& name, const SceneBody* facts) {
  std::vector<SceneShape> out = given_shapes(model->description(), name, missing);
  if (out.empty() && facts != nullptr) out = derived_shapes(*facts, extent);
  return out;
}

// Mass, centre and inertia, from the fields that bodies have.
void SceneWriter::Content::read_bodies(std::vector<SceneBody>& facts) {
  for_each_element(Section::Bodies, [&](const Batch& batch, int e, const Entry& entry) {
    const Kind& kind = *entry.kind;
    const int mass = kind.field("mass"), inertia = kind.field("inertia"),
              reference_point = kind.field("reference");
    if (entry.is_part() || mass < 0) return;
    const Inputs<double> in(model->description(), entry, params.values().data(), nullptr);
    SceneBody& out = facts[at(batch.entries[at(e)])];
    out.mass = in.number(mass);
    if (reference_point >= 0) out.center = -in.vector(reference_point);
    out.is_point = inertia < 0;
    if (out.is_point) return;
    const double* J = in.numbers(inertia);
    out.in_plane = kind.fields[at(inertia)].type == FieldType::Number;
    if (out.in_plane)
      out.inertia(2, 2) = J[0];
    else
      out.inertia << J[0], J[5], J[4], J[5], J[1], J[3], J[4], J[3], J[2];
  });
}

Vec3 SceneWriter::Content::offset(int frame) const {
  return offset_of(model->frames[at(frame)], poses.numbers().data.data()).rho;
}
Json SceneWriter::Content::place(int frame) const {
  return {{"frame", scene_frame(node(frame))}, {"at", json_of(offset(frame))}};
}
std::string SceneWriter::Content::body_name(int index) const {
  return index < 0 ? "ground" : body(at(index)).name;
}

std::vector<int> SceneWriter::Content::own_frames(const Batch& batch, int element) const {
  const std::vector<Attachment>& attachments = batch.attachments();
  const int frames = batch.coupling().frames;
  std::vector<int> out;
  for (std::size_t i = 0;
       i < attachments.size() && static_cast<int>(i) < std::min(frames, batch.acting_frames()); ++i)
    if (attachments[i].joint_field < 0) out.push_back(batch.frames[at(element * frames) + i]);
  return out;
}

// The axis of a joint in the axes of its first (side 0) or second body.
std::optional<Vec3> SceneWriter::Content::axis(const Batch& batch, int element, int side) const {
  const std::vector<int> frames = own_frames(batch, element);
  if (frames.size() < 2) return std::nullopt;
  const Description& d = model->description();
  const Entry& entry = d.entries(Section::Joints)[at(batch.entries[at(element)])];
  int field = entry.kind->field("axis");
  if (field < 0) field = entry.kind->field(side == 0 ? "first_axis" : "second_axis");
  if (field < 0 && entry.kind->coordinates.angle) return Vec3(Vec3::UnitZ());  // in the plane
  if (field < 0) return std::nullopt;
  Pose<double> ends[2];
  for (std::size_t i = 0; i < 2; ++i)
    if (const int own = node(frames[i]); own >= 0) ends[i] = reference[at(own)];
  const Inputs<double> in(d, entry, params.values().data(), ends);
  if (!in.stored(field)) return std::nullopt;
  const Vec3 out = in.direction_in_body(field, side);
  if (!(out.norm() > 0) || !out.allFinite()) return std::nullopt;
  return Vec3(out.normalized());
}

void SceneWriter::Content::read_attachments(std::vector<SceneBody>& facts) {
  using Attached = SceneAttachment::Kind;
  const Description& d = model->description();
  const auto add = [&](int frame, SceneAttachment attachment) {
    attachment.at = offset(frame);
    if (const int own = node(frame); own >= 0)
      facts[at(own)].attachments.push_back(attachment);
    else
      ground_points.push_back(attachment.at);
  };
  for_each_element(Section::Joints, [&](const Batch& batch, int e, const Entry& entry) {
    const std::vector<int> frames = own_frames(batch, e);
    for (std::size_t i = 0; i < frames.size() && i < 2; ++i) {
      SceneAttachment a;
      if (const std::optional<Vec3> direction = axis(batch, e, static_cast<int>(i))) a.axis = *direction;
      const AxisCoordinates moves = entry.kind->coordinates;
      if (moves.displacement)
        a.kind = Attached::Slides;
      else if (moves.angle)
        a.kind = Attached::Turns;
      // A disc on a plane: the second body is the wheel.
      const int radius = entry.kind->field("radius");
      if (i == 1 && radius >= 0 && entry.kind->field("normal") >= 0)
        a.disc = Inputs<double>(d, entry, params.values().data(), nullptr).number(radius);
      add(frames[i], a);
    }
  });
  for_each_element(Section::Forces, [&](const Batch& batch, int e, const Entry& entry) {
    // Points that touch something are no joints.
    if (entry.kind->field("points") < 0 || entry.kind->field("normal") >= 0) return;
    for (const int frame : own_frames(batch, e)) add(frame, {});
  });
}

// The box of joints, centres of mass and beams; bodies without joints with what their inertia says.
double SceneWriter::Content::size_at(const std::vector<Motion<double>>& now,
                                     const std::vector<SceneBody>& facts) const {
  Box box;
  for (const Vec3& p : ground_points) box.add(p);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (frame_of_body[i] < 0) continue;
    const SceneBody& own = facts[i];
    for (const SceneAttachment& a : own.attachments) box.add(now[i].p + now[i].R * a.at, a.disc);
    box.add(now[i].p + now[i].R * own.center, own.attachments.empty() ? own.core_radius() : 0);
  }
  for (const auto& batch : model->batches)
    if (const auto* body = dynamic_cast<const FlexibleOutput*>(batch.get())) {
      const auto made = body->source().made(model->description(), params.values().data());
      const Motion<double>& frame = now[at(node(body->batch().frames[0]))];
      const Eigen::Matrix3Xd& places = made->mesh.elements.places;
      for (Eigen::Index k = 0; k < places.cols(); ++k) box.add(frame.p + frame.R * places.col(k));
    }
  return box.size() > 0 && std::isfinite(box.size()) ? box.size() : 1;
}

void SceneWriter::Content::add_bodies(const std::vector<SceneBody>& facts) {
  const Description& d = model->description();
  const auto shapes_json = [](const std::vector<SceneShape>& shapes) {
    Json out = Json::array();
    for (const SceneShape& s : shapes) out.push_back(json_of(s));
    return out;
  };
  bodies.push_back({{"name", "ground"},
                    {"kind", "ground"},
                    {"frame", -1},
                    {"shapes", shapes_json(shapes_of("ground", nullptr))}});
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const Entry& entry = body(i);
    if (entry.is_part_of(Section::Beams)) {
      if (entry.node == 0) add_beam(d.entries(Section::Beams)[at(entry.owner)], i);
      continue;
    }
    if (entry.is_part_of(Section::Flexible)) continue;
    const std::vector<SceneShape> shapes = shapes_of(entry.name, &facts[i]);
    const auto frame = at(frame_of_body[i]);
    double thickness = 0;
    for (const SceneShape& s : shapes) {
      thickness = std::max(thickness, s.thickness());
      if (s.derived && s.type == SceneShape::Type::Capsule) rod[i] = std::max(rod[i], s.thickness());
      reach[frame] = std::max(reach[frame], s.reach());
      for (const SceneShape::Ball& ball : s.balls()) balls[frame].push_back(ball);
    }
    // A pin is a little thicker than the rods that it joins.
    symbol[i] = 0.15 * std::max(facts[i].span(), 2.5 * reach[frame]);
    if (thickness > 0) symbol[i] = std::min(symbol[i], 1.1 * thickness);
    bodies.push_back({{"name", entry.name},
                      {"kind", "rigid"},
                      {"type", entry.kind->type},
                      {"frame", frame},
                      {"shapes", shapes_json(shapes)},
                      {"mass", tidy(facts[i].mass)},
                      {"center", json_of(facts[i].center)}});
  }
  for (const auto& batch : model->batches)
    if (const auto* own = dynamic_cast<const FlexibleOutput*>(batch.get())) add_flexible(*own);
}

void SceneWriter::Content::add_beam(const Entry& beam, std::size_t first) {
  const Description& d = model->description();
  const Inputs<double> in(d, beam, params.values().data(), nullptr);
  const BeamMesh mesh = beam_mesh(d, beam);
  const SectionOutline start = section_outline(in, 0), end = section_outline(in, 1);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < at(mesh.nodes()); ++i) {
    nodes.push_back(frame_of_body[first + i]);
    const double x = mesh.fraction(static_cast<int>(i));
    const double half = (1 - x) * half_diagonal(start) + x * half_diagonal(end);
    reach[at(frame_of_body[first + i])] = half;
    symbol[first + i] = 1.5 * half;
  }
  Json section = json_of(start);
  if (const Json other = json_of(end); other != section) section["end"] = other;
  const Vec3 gap = reference[first].p - reference[first + at(mesh.nodes()) - 1].p;
  Json out = {{"name", beam.name}, {"kind", "beam"},     {"type", beam.kind->type},
              {"nodes", nodes},    {"section", section}, {"closed", gap.norm() < 1e-9 * extent}};
  if (const std::optional<SectionConstants> c = section_constants(in, 0)) {
    const SectionConstants other = section_constants(in, 1).value_or(*c);
    out["young"] = tidy(c->young);
    // Area, moments of area about y and z, torsion constant; those of the end follow where they differ.
    out["constants"] = {tidy(c->area), tidy(c->about_y), tidy(c->about_z), tidy(c->torsion)};
    if (c->area != other.area || c->about_y != other.about_y || c->about_z != other.about_z)
      out["end_constants"] = {tidy(other.area), tidy(other.about_y), tidy(other.about_z),
                              tidy(other.torsion)};
  }
  const bool has_stress = out.contains("constants");
  const auto& entries = d.entries(Section::Beams);
  const auto index = static_cast<int>(&beam - entries.data());
  for (std::size_t b = 0; b < model->batches.size(); ++b) {
    const auto* sections = dynamic_cast<const BeamSections*>(model->batches[b].get());
    if (model->sections[b] != Section::Beams || sections == nullptr) continue;
    const auto& list = model->batches[b]->entries;
    const auto found = std::find(list.begin(), list.end(), index);
    if (found == list.end()) continue;
    SceneBeam& own = beams.emplace_back(SceneBeam{
        bodies.size(), sections, static_cast<int>(found - list.begin()), mesh.elements, !has_stress});
    for (int i = 0; i < mesh.nodes(); ++i) own.places.push_back(mesh.fraction(i));
  }
  bodies.push_back(std::move(out));
}

void SceneWriter::Content::add_flexible(const FlexibleOutput& own) {
  const Description& d = model->description();
  const auto made = own.source().made(d, params.values().data());
  const Entry& entry = d.entries(Section::Flexible)[at(own.source().body())];
  const FiniteElements& elements = made->mesh.elements;
  const FlexibleSurface surface = flexible_surface(d, entry, params.values().data(), made->mesh);
  const std::size_t N = surface.vertices.size();
  const std::vector<float> places = surface.places(elements);
  SceneFlexible out;
  out.entry = bodies.size();
  out.modes = own.modes_of_body();
  out.second_order = own.pairs_of_body() > 0;
  const std::vector<std::int32_t>& frames = own.batch().frames;
  for (int i = 0; i < out.modes / 3; ++i) out.modal.push_back(node(frames[at(1 + i)]));
  out.shapes = surface.displacements(elements, made->reduced.modes.leftCols(out.modes));
  if (out.second_order) out.pairs = surface.displacements(elements, made->reduced.pairs);
  const int body_index = node(frames[0]);
  const auto frame = at(frame_of_body[at(body_index)]);
  for (std::size_t i = 0; i < N; ++i)
    reach[frame] = std::max(reach[frame], Vec3(places[3 * i], places[3 * i + 1], places[3 * i + 2]).norm());
  SceneShape relaxed;
  relaxed.type = SceneShape::Type::Mesh;
  relaxed.vertices = places;
  balls[frame] = relaxed.balls();
  symbol[at(body_index)] = 0.05 * elements.extent();
  for (int i = 0; i < own.source().interfaces(); ++i)
    for (std::size_t b = 0; b < frame_of_body.size(); ++b)
      if (body(b).name == d.entries(Section::Flexible)[at(own.source().interface_entry(i))].name)
        symbol[b] = 0.05 * elements.extent();
  Json json = {{"name", entry.name},
               {"kind", "flexible"},
               {"type", entry.kind->type},
               {"frame", frame},
               {"vertices", pack_array(places, {N, 3}, ArrayCoding::DeltaShuffle)},
               {"triangles",
                pack_array(surface.triangles, {surface.triangles.size() / 3, 3}, ArrayCoding::DeltaShuffle)},
               {"mode_count", out.modes}};
  if (!made->mesh.solid.elements.empty()) {
    const Eigen::MatrixXd stresses =
        middle_stresses(made->mesh.solid, made->mesh.material, made->reduced.modes.leftCols(out.modes));
    out.stress = surface.stresses(made->mesh.solid, stresses);
    json["young"] = tidy(made->mesh.material.young);
  }
  if (!made->mesh.lines.empty()) {
    const std::vector<LinearBeam> members =
        linear_beams(Inputs<double>(d, entry, params.values().data(), nullptr));
    out.stress = surface.beam_stresses(members, made->reduced.modes.leftCols(out.modes));
    if (!out.stress.empty()) json["young"] = tidy(section_constants(members.front().in, 0)->young);
  }
  bodies.push_back(std::move(json));
  flexible.push_back(std::move(out));
}

void SceneWriter::Content::add_joints() {
  for_each_element(Section::Joints, [&](const Batch& batch, int e, const Entry& entry) {
    if (entry.rides) return;
    Json out = {{"name", entry.name}, {"type", entry.kind->type}};
    const std::vector<int> frames = own_frames(batch, e);
    if (frames.empty()) {
      joints.push_back(std::move(out));
      return;
    }
    Json names = Json::array(), ends = Json::array();
    double radius = 0.03 * extent, thickest = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const int own = node(frames[i]);
      names.push_back(body_name(own));
      Json end = place(frames[i]);
      if (i < 2)
        if (const std::optional<Vec3> direction = axis(batch, e, static_cast<int>(i)))
          end["axis"] = json_of(*direction);
      ends.push_back(std::move(end));
      if (own >= 0 && symbol[at(own)] > 0) radius = std::min(radius, symbol[at(own)]);
      if (own >= 0) thickest = std::max(thickest, rod[at(own)]);
    }
    radius = std::max(radius, 0.85 * thickest);  // a pin inside of its rod would not be seen
    out["bodies"] = names;
    for (const char* key : {"frame", "at", "axis"})
      if (ends[0].contains(key)) out[key] = ends[0][key];
    out["ends"] = std::move(ends);
    out["radius"] = tidy(radius);
    joints.push_back(std::move(out));
  });
}

void SceneWriter::Content::add_forces() {
  const Description& d = model->description();
  for_each_element(Section::Forces, [&](const Batch& batch, int e, const Entry& entry) {
    if (!batch.parts.empty()) return;  // spread over a beam
    const std::vector<int> frames = own_frames(batch, e);
    Json out = {{"name", entry.name}, {"type", entry.kind->type}, {"ends", Json::array()}};
    double size = 0.015 * extent;
    for (const int frame : frames) {
      out["ends"].push_back(place(frame));
      if (const int own = node(frame); own >= 0 && symbol[at(own)] > 0)
        size = std::min(size, symbol[at(own)]);
    }
    const int radius = entry.kind->field("radius");
    const Inputs<double> in(d, entry, params.values().data(), nullptr);
    const bool has_radius = radius >= 0 && in.stored(radius);
    out["radius"] = tidy(has_radius ? in.number(radius) : size);
    forces.push_back(std::move(out));
  });
}

// Enough of it for the sections of beams.
Evaluation SceneWriter::Content::evaluation_of(const std::vector<Motion<double>>& motions) const {
  Evaluation out;
  out.frames = model->frames.data();
  out.nodes = model->nodes.data();
  out.motions = motions.data();
  out.numbers = poses.numbers().data.data();
  return out;
}

void SceneWriter::Content::add(const State& state, double time) {
  const bool kept = count++ % stride == 0;
  if (!kept) return;
  const std::vector<Motion<double>>& motions = poses.at_state(state);
  if (!is_drawable(motions)) return;
  times.push_back(time);
  for (const int index : body_of_frame) {
    const Motion<double>& m = motions[at(index)];
    for (int i = 0; i < 3; ++i) positions.push_back(static_cast<float>(m.p[i]));
    const Eigen::Quaterniond q = Eigen::Quaterniond(m.R).normalized();
    for (const double x : {q.w(), q.x(), q.y(), q.z()})
      rotations.push_back(static_cast<float>(kQuaternionUnit * x));
  }
  for (SceneFlexible& body : flexible) {
    const Eigen::VectorXd eta = body.coordinates(motions);
    for (const double x : eta) body.history.push_back(static_cast<float>(x));
  }
  const Evaluation evaluation = evaluation_of(motions);
  for (SceneBeam& beam : beams) beam.add(evaluation, beam.history);
  if (loads) loads->add(state, load_history);
  if (times.size() <= limit) return;
  // Every second one from now on.
  const auto halve = [rows = times.size()](auto& values) {
    if (values.empty()) return;
    const std::size_t width = values.size() / rows;
    for (std::size_t row = 2; row < rows; row += 2)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                  values.begin() + static_cast<std::ptrdiff_t>(row / 2 * width));
    values.resize((rows + 1) / 2 * width);
  };
  for (SceneFlexible& body : flexible) halve(body.history);
  for (SceneBeam& beam : beams) halve(beam.history);
  halve(load_history);
  halve(positions);
  halve(rotations);
  halve(times);
  stride *= 2;
}

Json SceneWriter::Content::scene(const char* kind) {
  const std::size_t T = times.size(), F = body_of_frame.size();
  // Of the two quaternions of a rotation the one near to that before.
  for (std::size_t row = 1; row < T; ++row)
    for (std::size_t f = 0; f < F; ++f) {
      float* now = rotations.data() + 4 * (row * F + f);
      const float* before = now - 4 * F;
      double product = 0;
      for (int i = 0; i < 4; ++i) product += double(now[i]) * double(before[i]);
      if (product < 0)
        for (int i = 0; i < 4; ++i) now[i] = -now[i];
    }
  Box box;
  for (const Vec3& p : ground_points) box.add(p);
  // Some times are enough to know where everything is.
  constexpr std::size_t kMostRows = 200;
  const std::size_t step = std::max<std::size_t>(1, T / kMostRows);
  for (std::size_t row = 0; row < T; row += step)
    for (std::size_t f = 0; f < F; ++f) {
      const float* p = positions.data() + 3 * (row * F + f);
      const float* q = rotations.data() + 4 * (row * F + f);
      const Vec3 place(p[0], p[1], p[2]);
      const Mat3 R = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
      for (const auto& [center, radius] : balls[f]) box.add(place + R * center, radius);
      if (balls[f].empty()) box.add(place, reach[f]);
    }
  const Description& d = model->description();
  const bool in_plane = !model->body_types.empty() &&
                        std::all_of(model->body_types.begin(), model->body_types.end(), is_planar);
  Json names = Json::array();
  for (const int index : body_of_frame) names.push_back(body(at(index)).name);
  for (SceneFlexible& own : flexible) {
    const std::size_t K = at(own.modes), all = own.coordinate_count();
    std::vector<float> coordinates(T * all);
    for (std::size_t row = 0; row < T; ++row)
      own.write_coordinates(own.history.data() + row * K, coordinates.data() + row * all);
    std::vector<float> modes = own.shapes;
    modes.insert(modes.end(), own.pairs.begin(), own.pairs.end());
    bodies[own.entry]["modes"] = packed_modes(modes, coordinates, all, 3e-6 * box.size());
    if (!own.stress.empty())
      bodies[own.entry]["stress"] = packed_stresses(own.stress, own.history, K, is_growing);
    bodies[own.entry]["coordinates"] = pack_array(coordinates, {T, all}, ArrayCoding::DeltaShuffle);
  }
  for (const SceneBeam& own : beams) {
    // One array for each component: they have different units, and some are zero throughout.
    Json lists[2] = {Json::array(), Json::array()};
    const std::size_t N = own.places.size();
    for (std::size_t c = 0; c < own.width(); ++c) {
      std::vector<float> one;
      for (std::size_t i = c; i < own.history.size(); i += own.width()) one.push_back(own.history[i]);
      lists[c < 6 ? 0 : 1].push_back(packed_over_time(one, {T, N}));
    }
    bodies[own.entry]["section_forces"] = std::move(lists[0]);
    if (own.has_strains) bodies[own.entry]["section_strains"] = std::move(lists[1]);
  }
  const Vec3 gravity = poses.numbers().gravity;
  Json out = {{"format", "liedyn scene 1"},
              {"liedyn", version()},
              {"title", d.name},
              {"kind", kind},
              {"size", tidy(box.size() > 0 && std::isfinite(box.size()) ? box.size() : extent)},
              {"extent", tidy(extent)},
              {"center", json_of(box.center())},
              {"gravity", json_of(gravity)},
              {"planar", in_plane},
              {"times", pack_array(times, {T})},
              {"frames", std::move(names)},
              {"positions", pack_array(positions, {T, F, 3}, ArrayCoding::DeltaShuffle)},
              {"rotations", packed_rotations(rotations, {T, F, 4}, flexible.empty())},
              {"bodies", std::move(bodies)},
              {"joints", std::move(joints)},
              {"forces", std::move(forces)},
              {"channels", Json::array()},
              {"summary", Json::object()},
              {"warnings", missing}};
  if (loads && std::string_view(kind) != "modes") add_loads(out);
  return out;
}

// What a sensor shows, of what, and where: a reaction acts on the second body of its joint.
Json SceneWriter::Content::about(const Sensor& sensor) const {
  const Kind& kind = sensor.listed->kind;
  Json out = {{"type", kind.type}, {"components", component_names(sensor.components)}};
  if (const int axes = kind.field("axes"); axes >= 0)
    out["axes"] = kind.fields[at(axes)].choices[at(sensor.choice)];
  int frame = sensor.frame;
  if (sensor.batch >= 0) {
    const Batch& batch = *model->batches[at(sensor.batch)];
    const Section section = model->sections[at(sensor.batch)];
    if (section == Section::Joints || section == Section::Forces) {
      out[section == Section::Joints ? "joint" : "force"] =
          model->entry_of(sensor.batch, sensor.element).name;
      const int last = std::min(batch.coupling().frames, batch.acting_frames()) - 1;
      if (frame < 0 && last >= 0 && batch.parts.empty())
        frame = batch.frames[at(sensor.element * batch.coupling().frames + last)];
    }
  }
  // States of controllers have nodes as well, behind those of the bodies.
  const int body = frame < 0 ? -1 : node(frame);
  const bool is_drawn = body < 0 || (at(body) < frame_of_body.size() && scene_frame(body) >= 0);
  if (frame >= 0 && is_drawn) out.update(place(frame));
  return out;
}

// What acts, thinned in time.
void SceneWriter::Content::add_loads(Json& out) const {
  const std::size_t T = times.size(), W = loads->width();
  const std::size_t step = std::max<std::size_t>(1, (T * W + kMostLoadValues - 1) / kMostLoadValues);
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < T; row += step) kept.push_back(row);
  if (!kept.empty() && kept.back() + 1 != T) kept.push_back(T - 1);
  std::vector<double> at_times;
  for (const std::size_t row : kept) at_times.push_back(times[row]);
  std::vector<std::vector<float>> values;
  std::vector<float> largest;
  std::map<std::string, float> largest_of_unit;
  for (const Sensor& sensor : loads->sensors()) {
    std::vector<float>& own = values.emplace_back();
    for (const std::size_t row : kept)
      own.insert(own.end(), &load_history[row * W + at(sensor.first)],
                 &load_history[row * W + at(sensor.first)] + sensor.components);
    largest.push_back(0);
    for (const float x : own) largest.back() = std::max(largest.back(), std::abs(x));
    float& of_unit = largest_of_unit[sensor.listed->unit];
    of_unit = std::max(of_unit, largest.back());
  }
  out["load_times"] = pack_array(at_times, {kept.size()});
  out["loads"] = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Sensor& sensor = loads->sensors()[i];
    // Torques that a ball transmits, say: nothing but round-off, and what Newton's method leaves.
    constexpr float kRoundOff = 1e-6F;
    if (!is_growing && largest[i] <= kRoundOff * largest_of_unit[sensor.listed->unit]) continue;
    Json one = {{"name", sensor.name}, {"unit", sensor.listed->unit}};
    one.update(about(sensor));
    one["values"] = packed_over_time(values[i], {kept.size(), at(sensor.components)});
    if (step > 1 && sensor.components == 3) {
      // Of all times, also those that are left out.
      double most = 0;
      for (std::size_t row = 0; row < T; ++row) {
        const float* v = &load_history[row * W + at(sensor.first)];
        most = std::max(most, double(std::hypot(v[0], v[1], v[2])));
      }
      one["largest"] = tidy(most);
    }
    out["loads"].push_back(std::move(one));
  }
}

// Sensors over time, thinned like the poses, with the point that they look at.
void SceneWriter::Content::add_channels(const Trajectory& t, Json& out) const {
  const std::size_t rows = t.rows(), width = at(std::max(1, t.columns));
  const std::size_t most = std::clamp(kMostSensorValues / width, std::size_t{2}, kMostChannelTimes);
  const std::size_t step = std::max<std::size_t>(1, (rows + most - 1) / most);
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < rows; row += step) kept.push_back(row);
  if (!kept.empty() && kept.back() + 1 != rows) kept.push_back(rows - 1);
  std::vector<double> at_times;
  for (const std::size_t row : kept) at_times.push_back(t.time(row));
  out["channel_times"] = pack_array(at_times, {kept.size()});
  for (std::size_t c = 0; c < t.channels.size(); ++c) {
    const Channel& channel = t.channels[c];
    Json one = {{"name", channel.name}, {"unit", channel.unit}};
    if (c < model->sensors.size()) {
      one.update(about(model->sensors[c]));
    } else {
      one["type"] = channel.name;
      one["components"] = component_names(channel.components);
    }
    const auto components = at(channel.components);
    std::vector<float> values;
    values.reserve(kept.size() * components);
    for (const std::size_t row : kept)
      for (int i = 0; i < channel.components; ++i)
        values.push_back(static_cast<float>(t.at(row, channel.first + i)));
    one["values"] = pack_array(values, {kept.size(), components}, ArrayCoding::DeltaShuffle);
    out["channels"].push_back(std::move(one));
  }
}

// Displacements of all frames in a mode, from poses on both sides: right to second order in the small step, whatever the coordinates.
Json SceneWriter::Content::mode(const System& system, const State& state, const SparseMatrix& Q,
                                const Mode& mode) {
  constexpr double kSmall = 1e-5;
  const std::size_t F = body_of_frame.size();
  const Eigen::Map<const Eigen::VectorXcd> y(mode.shape.data(), static_cast<Eigen::Index>(mode.shape.size()));
  struct Moved {
    std::vector<Vec6> frames;
    std::vector<Eigen::VectorXd> coordinates;
  };
  const auto moved = [&](const Eigen::VectorXd& part) {
    Moved out{std::vector<Vec6>(F, Vec6::Zero()), {}};
    for (const SceneFlexible& body : flexible)
      out.coordinates.emplace_back(Eigen::VectorXd::Zero(body.modes));
    const double largest = part.cwiseAbs().maxCoeff();
    if (!(largest > 0)) return out;
    const double step = kSmall * std::max(1e-6, std::min(1.0, extent)) / largest;
    std::vector<Motion<double>> ahead;
    for (const double sign : {1.0, -1.0}) {
      const Eigen::VectorXd d = sign * step * (Q * part);
      State at_side = state;
      for (const Node& node : system.model().nodes)
        if (node.type != NodeType::State)
          increment_position(node.type, d.data() + node.v, at_side.q.data() + node.q);
      const std::vector<Motion<double>>& now = poses.at_state(at_side);
      for (std::size_t b = 0; b < flexible.size(); ++b)
        out.coordinates[b] += sign / (2 * step) * flexible[b].coordinates(now);
      if (sign > 0) {
        ahead = now;
        continue;
      }
      for (std::size_t f = 0; f < F; ++f) {
        const Motion<double>&a = ahead[at(body_of_frame[f])], &b = now[at(body_of_frame[f])];
        const Mat3 turn = a.R * b.R.transpose();
        out.frames[f] << (a.p - b.p) / (2 * step),
            Vec3(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)) / (4 * step);
      }
    }
    return out;
  };
  const Moved real = moved(y.real()), imaginary = moved(y.imag());
  double largest = 0;
  for (std::size_t f = 0; f < F; ++f) {
    const auto size = [&](int first) {
      return std::hypot(real.frames[f].segment<3>(first).norm(),
                        imaginary.frames[f].segment<3>(first).norm());
    };
    largest = std::max({largest, size(0), reach[f] * size(3)});
  }
  for (std::size_t b = 0; b < flexible.size(); ++b) {
    const auto modes = static_cast<Eigen::Index>(flexible[b].modes);
    if (modes == 0) continue;
    const auto width = static_cast<Eigen::Index>(flexible[b].shapes.size()) / modes;
    const Eigen::Map<const Eigen::MatrixXf> shapes(flexible[b].shapes.data(), width, modes);
    const Eigen::VectorXf u = shapes * real.coordinates[b].cast<float>(),
                          w = shapes * imaginary.coordinates[b].cast<float>();
    for (Eigen::Index i = 0; i + 2 < width; i += 3)
      largest = std::max(largest, double(std::hypot(u.segment<3>(i).norm(), w.segment<3>(i).norm())));
  }
  const double scale = largest > 0 ? 1 / largest : 1;
  std::vector<float> displacement, coordinates;
  for (std::size_t f = 0; f < F; ++f)
    for (int i = 0; i < 6; ++i)
      for (const Moved* part : {&real, &imaginary})
        displacement.push_back(static_cast<float>(scale * part->frames[f][i]));
  for (std::size_t b = 0; b < flexible.size(); ++b)
    for (Eigen::Index i = 0; i < flexible[b].modes; ++i)
      for (const Moved* part : {&real, &imaginary})
        coordinates.push_back(static_cast<float>(scale * part->coordinates[b][i]));
  const std::size_t K = coordinates.size() / 2;
  return {{"frequency", mode.frequency()},
          {"damping", mode.damping_ratio()},
          {"growth", mode.eigenvalue.real()},
          {"rigid", mode.rigid},
          {"displacement", pack_array(displacement, {F, 6, 2})},
          {"coordinates", pack_array(coordinates, {K, 2})}};
}

SceneWriter::SceneWriter(long frames) : frames_(frames) {}
SceneWriter::~SceneWriter() = default;
SceneWriter::SceneWriter(SceneWriter&&) noexcept = default;
SceneWriter& SceneWriter::operator=(SceneWriter&&) noexcept = default;

void SceneWriter::add(const System& system, const State& state) {
  add_loaded(system, system, state.t, state);
}

void SceneWriter::add_loaded(const System& system, const System& loaded, double factor, const State& state) {
  const bool is_first = content_ == nullptr || content_->model != system.shared_model();
  if (is_first) {
    content_ = std::make_unique<Content>(system, state, frames_);
    content_->watch_loads(loaded, kMostLoads);
  }
  if (content_->loads) content_->loads->follow(loaded);
  content_->add(state, factor);
}

void SceneWriter::add_positions(const System& system, const State& state) {
  if (content_ == nullptr || content_->model != system.shared_model())
    content_ = std::make_unique<Content>(system, state, frames_);
  content_->add(state, state.t);
}

std::string SceneWriter::finish(const Result& result) {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  Content& c = *content_;
  // The end counts, however many states were left out before it.
  if (!c.times.empty() && result.state.t > c.times.back() && !result.state.q.empty()) {
    c.count = 0, c.limit = std::max(c.limit, c.times.size() + 1);
    c.add(result.state, result.state.t);
  }
  Json out = c.scene("motion");
  c.add_channels(result.trajectory, out);
  out["summary"] = Json::parse(summary_json(result));
  // A page is made to be given away: where the model lay is nobody's business.
  if (!result.summary.model_file.empty())
    out["summary"]["model_file"] = std::filesystem::path(result.summary.model_file).filename().string();
  for (const std::string& warning : result.summary.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish(const StaticResult& result, const System& system) {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  Json out = content_->scene("static");
  out["time_label"] = "load factor";
  Trajectory path = empty_trajectory(*content_->model);
  if (!result.start.empty()) {
    path.data.push_back(0);
    path.data.insert(path.data.end(), result.start.begin(), result.start.end());
  }
  for (const LoadStep& step : result.steps) {
    path.data.push_back(step.factor);
    path.data.insert(path.data.end(), step.sensors.begin(), step.sensors.end());
  }
  content_->add_channels(path, out);
  out["summary"] = Json::parse(static_json(result, system));
  for (const std::string& warning : result.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish(const Modes& modes, const System& system, const State& state) {
  if (content_ == nullptr) add(system, state);
  Json list = Json::array();
  Work work(system);
  const SparseMatrix Q = linearize(system, state, Vec3::Zero(), work).Q;
  for (const Mode& one : modes.modes) list.push_back(content_->mode(system, state, Q, one));
  Json out = content_->scene("modes");
  out["mode_list"] = std::move(list);
  out["summary"] = {{"liedyn", version()},
                    {"model", modes.model},
                    {"formulation", modes.formulation},
                    {"time", modes.time},
                    {"degrees_of_freedom", modes.degrees_of_freedom},
                    {"states", modes.states},
                    {"undamped", modes.undamped}};
  for (const std::string& warning : modes.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish() {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  return dumped(content_->scene("motion"));
}

SceneStream::SceneStream(const System& system, const State& first, std::span<const double> sensors)
    : content_(std::make_unique<SceneWriter::Content>(system, first, 2)),
      sensors_(sensors.begin(), sensors.end()) {
  content_->is_growing = true;
  content_->watch_loads(system, kMostLiveLoads);
  content_->add(first, first.t);
  if (content_->times.empty()) return;
  std::vector<float> values(sensors.begin(), sensors.end());
  values.insert(values.end(), content_->load_history.begin(), content_->load_history.end());
  follow_largest(first.t, content_->positions.data(), values.data());
}
SceneStream::~SceneStream() = default;

std::string SceneStream::scene(const std::string& live) {
  Json out = content_->scene("motion");
  Trajectory start = empty_trajectory(*content_->model);
  if (!content_->times.empty()) {
    start.data.push_back(content_->times.front());
    start.data.insert(start.data.end(), sensors_.begin(), sensors_.end());
  }
  content_->add_channels(start, out);
  out["live"] = Json::parse(live);
  return dumped(out);
}

std::size_t SceneStream::width() const {
  std::size_t out = 7 * content_->body_of_frame.size() + sensors_.size();
  for (const SceneFlexible& own : content_->flexible) out += own.coordinate_count();
  for (const SceneBeam& own : content_->beams) out += own.width() * own.places.size();
  return out + content_->loads->width();
}

bool SceneStream::add_row(const State& state, std::span<const double> sensors, std::vector<float>& rows) {
  SceneWriter::Content& c = *content_;
  const std::size_t first_row = rows.size();
  const std::vector<Motion<double>>& motions = c.poses.at_state(state);
  if (!is_drawable(motions)) return false;
  for (const int index : c.body_of_frame)
    for (const double x : motions[at(index)].p) rows.push_back(static_cast<float>(x));
  for (const int index : c.body_of_frame) {
    const Eigen::Quaterniond q = Eigen::Quaterniond(motions[at(index)].R).normalized();
    for (const double x : {q.w(), q.x(), q.y(), q.z()}) rows.push_back(static_cast<float>(x));
  }
  for (const SceneFlexible& own : c.flexible) {
    const Eigen::VectorXf eta = own.coordinates(motions).cast<float>();
    rows.resize(rows.size() + own.coordinate_count());
    own.write_coordinates(eta.data(), rows.data() + rows.size() - own.coordinate_count());
  }
  const Evaluation evaluation = c.evaluation_of(motions);
  for (const SceneBeam& own : c.beams) {
    std::vector<float> values;
    own.add(evaluation, values);
    for (std::size_t component = 0; component < own.width(); ++component)
      for (std::size_t i = component; i < values.size(); i += own.width()) rows.push_back(values[i]);
  }
  const std::size_t first_sensor = rows.size();
  for (const double x : sensors) rows.push_back(static_cast<float>(x));
  c.loads->add(state, rows);
  follow_largest(state.t, rows.data() + first_row, rows.data() + first_sensor);
  return true;
}

// Vectors of sensors and loads by their type, and speeds |p - p_before|/(t - t_before) of the frames.
void SceneStream::follow_largest(double t, const float* positions, const float* values) {
  const auto raise = [&](const std::string& type, double value) {
    double& most = largest_[type];
    if (std::isfinite(value)) most = std::max(most, value);
  };
  const auto size = [](const float* v) { return std::hypot(v[0], v[1], v[2]); };
  const SceneWriter::Content& c = *content_;
  for (const Sensor& sensor : c.model->sensors)
    if (sensor.components == 3) raise(sensor.listed->kind.type, size(values + sensor.first));
  for (const Sensor& sensor : c.loads->sensors())
    if (sensor.components == 3)
      raise(sensor.listed->kind.type, size(values + sensors_.size() + at(sensor.first)));
  double fastest = 0;
  for (std::size_t i = 0; i < before_.size(); i += 3) {
    const float step[3] = {positions[i] - before_[i], positions[i + 1] - before_[i + 1],
                           positions[i + 2] - before_[i + 2]};
    fastest = std::max(fastest, double(size(step)));
  }
  if (t > time_before_) raise("velocity", fastest / (t - time_before_));
  time_before_ = t;
  before_.assign(positions, positions + 3 * c.body_of_frame.size());
}

void SceneStream::follow(const System& system) {
  content_->poses = BodyPoses(system);
  content_->loads->follow(system);
}

std::string model_scene(const System& system, const SimulateOptions& options,
                        std::vector<Diagnostic>& findings) {
  SceneWriter writer;
  try {
    Work work(system);
    writer.add(system, initial_state(system, options, work));
  } catch (const InputError& error) {
    findings = error.diagnostics();
    State typed = system.empty_state();
    typed.t = options.start;
    typed.q = initial_values(system.model(), system.params().values().data()).q;
    writer.add_positions(system, typed);
  }
  return writer.finish();
}

}  // namespace liedyn

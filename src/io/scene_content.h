// What a scene is made of: bodies, joints and forces as they look, which are known after the first state, and the states of the motion so far.
#pragma once

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/result.h"
#include "liedyn/base/index.h"
#include "liedyn/io/scene_loads.h"
#include "liedyn/io/scene_shapes.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/system/system.h"

namespace liedyn {

// Around everything that is drawn.
struct SceneBox {
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
    derive_constants(*model_, system.params().values().data(), constants_);
    if (model_->tree) tree_ = std::make_unique<TreeMotion>(*model_->tree, model_->nv);
  }
  const std::vector<Motion<double>>& at_state(const State& state) {
    if (tree_) {
      move_links(*model_->tree, model_->nodes, constants_.data.data(), state.q.data(), state.v.data(),
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
  const Constants& constants() const { return constants_; }

 private:
  std::shared_ptr<const Model> model_;
  Constants constants_;
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

// An exact beam in the scene, with the forces in its sections: N, Q_y, Q_z, T, M_y, M_z. A section without outline has no stress; its strains are those of
// the beam: the strain |Gamma| of the axis, stretched and sheared, and the curvature |kappa|, bent and twisted.
struct SceneBeam {
  std::size_t entry;  // in the list of bodies of the scene
  const BeamSections* sections;
  bool has_strains;
  // Nodes; those where section forces jump are there twice. The fraction is that of a part of the beam between jumps.
  struct Station {
    int node, first, elements;
    double fraction;
  };
  std::vector<Station> stations = {};
  std::vector<float> history = {};  // [times, stations, width]

  std::size_t width() const { return has_strains ? 8 : 6; }
  // Appends [stations, width].
  void add(const Evaluation& at, std::vector<float>& out) const {
    for (const Station& station : stations) {
      Vec6 strain, force;
      beam_section<double>(*sections, at, station.first, station.elements, station.fraction, strain, force);
      const auto put = [&](double value) {
        out.push_back(std::isfinite(value) ? static_cast<float>(value) : 0);
      };
      for (const double f : force) put(f);
      if (has_strains) put(strain.head<3>().norm()), put(strain.tail<3>().norm());
    }
  }
};
// What is known after the first state: all but the motion.
struct SceneContent {
  SceneContent(const System& system, const State& first, long frames);

  // From the first state on, which satisfies the equations: what acts is kept as well, of at most so many numbers.
  void watch_loads(const System& system, int most) { loads = std::make_unique<SceneLoads>(system, most); }
  void add(const State& state, double time);
  Evaluation evaluation_of(const std::vector<Motion<double>>& motions) const;
  nlohmann::ordered_json scene(const char* kind);
  nlohmann::ordered_json about(const Sensor& sensor) const;
  void add_loads(nlohmann::ordered_json& out) const;
  void add_channels(const Trajectory& trajectory, nlohmann::ordered_json& out) const;
  nlohmann::ordered_json mode(const System& system, const State& state, const SparseMatrix& Q,
                              const Mode& mode);

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
  nlohmann::ordered_json bodies = nlohmann::ordered_json::array(), joints = bodies, forces = bodies;
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

  nlohmann::ordered_json place(int frame) const;  // {"frame", "at"} of a frame of the model
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

bool is_drawable(const std::vector<Motion<double>>& motions);
// The sensors of a model, without values.
Trajectory empty_trajectory(const Model& model);

}  // namespace liedyn

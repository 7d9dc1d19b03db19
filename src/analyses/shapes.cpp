#include "liedyn/analyses/shapes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "liedyn/analyses/linearization.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// A flexible body: where its points and cells begin, and displacements and stresses by modal coordinates and inertial loads.
struct Shapes::Flexible {
  const FlexibleOutput* body;
  std::shared_ptr<const FlexibleSource::Made> made;
  int first_point = 0, first_solid = 0;
  Eigen::MatrixXd stress_by_modes, stress_by_loads;
};

Shapes::Shapes(const System& system) : system_(&system), work_(system) {
  add_bodies();
  add_flexible();
}
Shapes::~Shapes() = default;

void Shapes::add_bodies() {
  const Description& d = system_->model().description();
  const std::vector<Entry>& entries = d.entries(Section::Bodies);
  std::map<int, int> beams;  // index in bodies_ by that of the beam
  BeamCurve<double> curve;   // of the beam at hand
  for (int i = 0; i < static_cast<int>(entries.size()); ++i) {
    const Entry& entry = entries[at_index(i)];
    if (entry.is_part_of(Section::Flexible)) continue;
    single_.emplace_back(points_, i);
    if (!entry.is_part()) {
      bodies_.push_back(entry.name);
      cells_.push_back({{points_}, static_cast<int>(bodies_.size()) - 1});
    } else {
      const Entry& beam = d.entries(Section::Beams)[at_index(entry.owner)];
      const auto [own, is_new] = beams.try_emplace(entry.owner, static_cast<int>(bodies_.size()));
      if (is_new) bodies_.push_back(beam.name);
      // The nodes of a beam follow each other. An element ends here.
      const BeamMesh mesh = beam_mesh(d, beam);
      const int order = mesh.order;
      if (entry.node == 0)
        curve = beam_curve(Inputs<double>(d, beam, system_->params().values().data(), nullptr));
      const Pose<double> start = curve.at(0), here = curve.at(mesh.fraction(entry.node));
      beam_points_.push_back({points_, i, i - entry.node, start.R.transpose() * (here.p - start.p)});
      if (entry.node > 0 && entry.node % order == 0) {
        std::vector<int> line = {points_ - order, points_};
        if (order == 2) line.push_back(points_ - 1);
        cells_.push_back({std::move(line), own->second});
      }
    }
    ++points_;
  }
}

void Shapes::add_flexible() {
  const Model& model = system_->model();
  const Description& d = model.description();
  for (const auto& batch : model.batches) {
    const auto* body = dynamic_cast<const FlexibleOutput*>(batch.get());
    if (body == nullptr) continue;
    auto own = std::make_unique<Flexible>();
    own->body = body;
    own->made = body->source().made(d, system_->params().values().data());
    const Meshed& mesh = own->made->mesh;
    const int index = static_cast<int>(bodies_.size());
    bodies_.push_back(d.entries(Section::Flexible)[at_index(body->source().body())].name);
    own->first_point = points_;
    own->first_solid = static_cast<int>(cells_.size());
    const auto add = [&](std::vector<int> nodes) {
      for (int& node : nodes) node += points_;
      cells_.push_back({std::move(nodes), index});
    };
    for (const std::vector<int>& element : mesh.solid.elements) add(element);
    for (const std::vector<int>& line : mesh.lines)
      add(line.size() == 3 ? std::vector<int>{line[0], line[2], line[1]} : line);
    // Of matrices nothing is known but the nodes.
    for (int i = 0; mesh.solid.elements.empty() && mesh.lines.empty() && i < mesh.elements.nodes(); ++i)
      add({i});
    own->stress_by_modes = middle_stresses(mesh.solid, mesh.material, own->made->reduced.modes);
    own->stress_by_loads = middle_stresses(mesh.solid, mesh.material, own->made->reduced.inertial);
    points_ += mesh.elements.nodes();
    flexible_.push_back(std::move(own));
  }
}

Shapes::Values Shapes::at(const State& state) {
  system_->residual(state, work_, {});
  const Model& model = system_->model();
  Values out;
  out.places.resize(3, points_);
  out.velocities.resize(3, points_);
  out.displacements = Eigen::Matrix3Xd::Zero(3, points_);
  out.stresses = Eigen::Matrix<double, 6, Eigen::Dynamic>::Zero(6, static_cast<Eigen::Index>(cells_.size()));
  for (const auto& [point, body] : single_) {
    out.places.col(point) = work_.motions[at_index(body)].p;
    out.velocities.col(point) = work_.motions[at_index(body)].velocity();
  }
  for (const BeamPoint& node : beam_points_) {
    const Motion<double>& first = work_.motions[at_index(node.first)];
    out.displacements.col(node.point) = out.places.col(node.point) - (first.p + first.R * node.relaxed);
  }
  for (const auto& own : flexible_) {
    const FiniteElements& elements = own->made->mesh.elements;
    const ReducedBody& reduced = own->made->reduced;
    const std::vector<std::int32_t>& frames = own->body->batch().frames;
    const auto motion_of = [&](int i) -> const Motion<double>& {
      return work_.motions[at_index(model.frames[at_index(frames[at_index(i)])].node)];
    };
    const Motion<double>& frame = motion_of(0);
    const int modes = own->body->modes_of_body();
    Eigen::VectorXd eta(modes), rate(modes);
    for (int i = 0; i < modes / 3; ++i) {
      eta.segment<3>(3 * i) = motion_of(1 + i).p;
      rate.segment<3>(3 * i) = motion_of(1 + i).V.head<3>();
    }
    Eigen::VectorXd u = reduced.modes * eta;
    const Eigen::VectorXd u_rate = reduced.modes * rate;
    if (own->body->pairs_of_body() > 0)
      for (int l = 0; l < modes; ++l)
        for (int k = 0; k <= l; ++k)
          u += (k == l ? 0.5 : 1) * eta[k] * eta[l] * reduced.pairs.col(pair_index(k, l));
    for (int node = 0; node < elements.nodes(); ++node) {
      const Vec3 own_u = u.segment<3>(elements.freedoms * node), X = elements.places.col(node) + own_u;
      const int point = own->first_point + node;
      out.places.col(point) = frame.p + frame.R * X;
      out.displacements.col(point) = frame.R * own_u;
      out.velocities.col(point) = frame.R * (frame.V.head<3>() + frame.V.tail<3>().cross(X) +
                                             u_rate.segment<3>(elements.freedoms * node));
    }
    if (own->stress_by_modes.rows() == 0) continue;
    const Eigen::VectorXd stress =
        own->stress_by_modes * eta +
        own->stress_by_loads * inertial_loads<double>(frame, work_.constants->gravity);
    for (Eigen::Index i = 0; 6 * i < stress.size(); ++i)
      out.stresses.col(own->first_solid + i) = stress.segment<6>(6 * i);
  }
  return out;
}

Eigen::Matrix3Xd Shapes::displaced(const State& state, const Eigen::VectorXd& y) {
  constexpr double kSmall = 1e-5;
  const double largest = y.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return Eigen::Matrix3Xd::Zero(3, points_);
  const SparseMatrix Q = linearize(*system_, state, Vec3::Zero(), work_).Q;
  const double share = kSmall / largest;
  const auto moved = [&](double by) {
    const Eigen::VectorXd d = by * (Q * y);
    State out = state;
    for (const Node& node : system_->model().nodes)
      if (node.type != NodeType::State)
        increment_position(node.type, d.data() + node.v, out.q.data() + node.q);
    return at(out).places;
  };
  return (moved(share) - moved(-share)) / (2 * share);
}

double equivalent_stress(const Vec6& s) {
  const double xy = s[0] - s[1], yz = s[1] - s[2], zx = s[2] - s[0];
  return std::sqrt(0.5 * (xy * xy + yz * yz + zx * zx) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

}  // namespace liedyn

#include "liedyn/system/configuration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

}  // namespace

Configuration configuration_of(const System& system, const State& state) {
  Work work(system);
  system.residual(state, work, {});
  const Model& model = system.model();
  Configuration out;
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    const Motion<double>& m = work.motions[i];
    const bool stored = !model.tree && model.body_types[i] != NodeType::R3 && !is_planar(model.body_types[i]);
    BodyConfiguration body;
    body.position = m.p;
    body.orientation =
        stored ? rotation_of(state.q.data() + model.nodes[i].q) : SO3<double>::from_matrix(m.R);
    if (!model.tree && is_planar(model.body_types[i]))
      body.angle = state.q[static_cast<std::size_t>(model.nodes[i].q) + 2];
    body.velocity = m.velocity();
    body.angular_velocity = m.V.tail<3>();
    out.bodies.push_back(body);
  }
  out.states.assign(state.v.begin() + model.first_state(), state.v.end());
  return out;
}

void set_configuration(const Model& model, const Configuration& configuration, State& state) {
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    const Node& node = model.nodes[i];
    const BodyConfiguration& body = configuration.bodies[i];
    double* q = state.q.data() + node.q;
    double* v = state.v.data() + node.v;
    const Mat3 R = body.orientation.R();
    if (is_planar(node.type)) {
      const Vec3 own = moves_in_body_axes(node.type) ? Vec3(R.transpose() * body.velocity) : body.velocity;
      for (int k = 0; k < 2; ++k) q[k] = body.position[k], v[k] = own[k];
      q[2] = body.orientation.log().z();
      if (body.angle) q[2] += kTurn * std::round((*body.angle - q[2]) / kTurn);
      v[2] = body.angular_velocity.z();
      continue;
    }
    Eigen::Map<Vec3>{q} = body.position;
    if (rotates(node.type)) store_rotation(body.orientation, q);
    if (translates(node.type)) {
      Eigen::Map<Vec3>{v} =
          moves_in_body_axes(node.type) ? Vec3(R.transpose() * body.velocity) : body.velocity;
      v += 3;
    }
    if (rotates(node.type))
      Eigen::Map<Vec3>{v} =
          turns_rotation(node.type) ? Vec3(R * body.angular_velocity) : body.angular_velocity;
  }
  std::copy(configuration.states.begin(), configuration.states.end(), state.v.begin() + model.first_state());
}

}  // namespace liedyn

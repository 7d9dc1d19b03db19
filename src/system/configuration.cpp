#include "system/configuration.h"

#include "system/node_components.h"

namespace liedyn {

Configuration configuration_of(const System& system, const State& state) {
  Configuration out;
  for (const Node& node : system.model().nodes) {
    const double* q = state.q.data() + node.q;
    const Motion<double> m = node_motion(node.type, q, state.v.data() + node.v, state.vdot.data() + node.v);
    BodyConfiguration body;
    body.position = m.p;
    if (rotates(node.type)) body.orientation = rotation_of(q);
    body.velocity = m.velocity();
    body.angular_velocity = m.V.tail<3>();
    out.push_back(body);
  }
  return out;
}

void set_configuration(const Model& model, const Configuration& configuration, State& state) {
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    const BodyConfiguration& body = configuration[i];
    double* q = state.q.data() + node.q;
    double* v = state.v.data() + node.v;
    const Mat3 R = body.orientation.R();
    Eigen::Map<Vec3>{q} = body.position;
    if (rotates(node.type)) store_rotation(body.orientation, q);
    if (translates(node.type)) {
      Eigen::Map<Vec3>{v} =
          node.type == NodeType::SE3 ? Vec3(R.transpose() * body.velocity) : body.velocity;
      v += 3;
    }
    if (rotates(node.type))
      Eigen::Map<Vec3>{v} = turns_rotation(node.type) ? Vec3(R * body.angular_velocity) : body.angular_velocity;
  }
}

}  // namespace liedyn

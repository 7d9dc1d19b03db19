#include "liedyn/integrators/tolerances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "liedyn/base/index.h"
#include "liedyn/model/frame.h"

namespace liedyn {
namespace {

// Sets of bodies that elements connect, other than through the ground.
class Mechanisms {
 public:
  explicit Mechanisms(std::size_t bodies) : parent_(bodies) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t of(std::size_t body) {
    while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
    return body;
  }
  void unite(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

// In minimal coordinates: a body that each link carries.
std::vector<int> bodies_of_links(const Tree& tree) {
  std::vector<int> out;
  for (const Link& link : tree.links) out.push_back(link.body);
  for (std::size_t i = tree.links.size(); i-- > 0;)
    if (const int parent = tree.links[i].parent; parent >= 0 && out[at(parent)] < 0) out[at(parent)] = out[i];
  return out;
}

// Per body (Model::bodies): the diameter of the ball around all points of its mechanism, bodies and whatever is attached to them; 1 where that is a single point.
std::vector<double> lengths_of_mechanisms(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  system.residual(state, work, {false, false, false});  // poses and numbers
  const std::size_t count = work.motions.size();
  // Coordinates that are no places: states, and those of the shapes of flexible bodies.
  std::vector<bool> is_place(count, true);
  const auto& bodies = model.description().entries(Section::Bodies);
  for (std::size_t i = 0; i < count; ++i) is_place[i] = i < bodies.size() && !bodies[i].kind->is_modal;

  Mechanisms mechanisms(count);
  struct Point {
    std::size_t body;
    Vec3 place;
  };
  std::vector<Point> points;
  for (const auto& batch : model.batches) {
    const int frames = batch->coupling().frames;
    for (int e = 0; e < batch->size(); ++e) {
      int body = -1;
      for (int i = 0; i < frames; ++i) {
        const int node = model.frames[at(batch->frames[at(e * frames + i)])].node;
        if (node < 0 || node >= static_cast<int>(bodies.size())) continue;
        if (body >= 0) mechanisms.unite(at(body), at(node));
        body = node;
      }
      if (body < 0) continue;
      for (int i = 0; i < frames; ++i) {
        const Frame& frame = model.frames[at(batch->frames[at(e * frames + i)])];
        if (frame.node >= 0 && !is_place[at(frame.node)]) continue;
        points.push_back({at(body), FrameView(frame, work.constants->data.data(), model.bodies().data(),
                                              work.motions.data())
                                        .motion()
                                        .p});
      }
    }
  }
  std::vector<Vec3> mean(count, Vec3::Zero());
  std::vector<double> weight(count, 0), farthest(count, 0);
  for (const Point& p : points) {
    const std::size_t m = mechanisms.of(p.body);
    weight[m] += 1;
    mean[m] += (p.place - mean[m]) / weight[m];
  }
  for (const Point& p : points) {
    const std::size_t m = mechanisms.of(p.body);
    farthest[m] = std::max(farthest[m], (p.place - mean[m]).norm());
  }
  std::vector<double> out(count, 1);
  for (std::size_t i = 0; i < count; ++i)
    if (const double radius = farthest[mechanisms.of(i)]; radius > 0 && std::isfinite(radius))
      out[i] = 2 * radius;
  return out;
}

// Accelerations of the node's point and of its rotation, the larger ones of the two states; the same of its speeds.
struct Scales {
  double acceleration = 0, turning = 0, speed = 0, spin = 0;

  void include(const Node& node, const State& state) {
    const double *v = state.v.data() + node.v, *vdot = state.vdot.data() + node.v;
    const int places = place_count(node.type), size = node_size(node.type).v;
    double a[3] = {0, 0, 0};
    std::copy_n(vdot, places, a);
    if (moves_in_body_axes(node.type) &&
        !is_planar(node.type)) {  // velocities in body axes: (pddot) = vdot + Omega x v
      const Vec3 turned = Eigen::Map<const Vec3>(v + 3).cross(Eigen::Map<const Vec3>(v));
      for (int i = 0; i < 3; ++i) a[i] += turned[i];
    } else if (moves_in_body_axes(node.type)) {
      a[0] -= v[2] * v[1];
      a[1] += v[2] * v[0];
    }
    // Without squares, which vanish where a force begins as gently as exp(-t^2).
    const auto norm = [](const double* x, int n) {
      double out = 0;
      for (int i = 0; i < n; ++i) out = std::hypot(out, x[i]);
      return out;
    };
    acceleration = std::max(acceleration, norm(a, places));
    turning = std::max(turning, norm(vdot + places, size - places));
    speed = std::max(speed, norm(v, places));
    spin = std::max(spin, norm(v + places, size - places));
  }
};

// Relative to nothing, no error is none.
double relative_to(double tolerance, double error) { return error == 0 ? 0 : std::abs(error) / tolerance; }

// Of the tolerances: errors of several steps, or of several times L/V, add up.
constexpr double kShare = 0.1;
// What the rounding of velocities leaves in estimates, and no step removes.
constexpr double kRoundoff = 1e-13;

}  // namespace

std::vector<IntegratorOption> step_control_options() {
  return {{"adaptive",
           "false",
           "Adaptive step size: the errors of the steps are kept within the tolerances.",
           {"false", "true"}},
          {"rtol",
           "1e-4",
           "Relative tolerance: of the length of each mechanism, of a radian, of a state.",
           {},
           1e-14,
           1},
          {"atol", "1e-8", "Absolute tolerance, in metres, radians and units of states.", {}, 0, 1e6},
          {"max_step",
           "auto",
           "Longest step, in seconds. auto: a tenth of the run. No step skips a pulse of a function of time.",
           {"auto"},
           1e-300,
           1e300}};
}

Tolerances::Tolerances(const IntegratorOptions& options)
    : adaptive_(options.word("adaptive") == "true"),
      relative_(options.number("rtol")),
      absolute_(options.number("atol")),
      max_step_(options.word("max_step") == "auto" ? 0 : options.number("max_step")) {}

void Tolerances::measure(const System& system, const State& state, Work& work) {
  if (!adaptive_) return;
  const Model& model = system.model();
  const std::vector<double> of_bodies = lengths_of_mechanisms(system, state, work);
  lengths_.assign(model.nodes.size(), 1);
  if (!model.tree) {
    std::copy_n(of_bodies.begin(), std::min(of_bodies.size(), lengths_.size()), lengths_.begin());
    return;
  }
  const std::vector<int> bodies = bodies_of_links(*model.tree);
  for (std::size_t n = 0; n < model.tree->of_node.size(); ++n)
    if (const int body = bodies[at(model.tree->of_node[n])]; body >= 0) lengths_[n] = of_bodies[at(body)];
}

Tolerances::OfNode Tolerances::of_node(std::size_t n, const Node& node, const State& from,
                                       const State& to) const {
  OfNode out;
  if (node.type == NodeType::State) {  // whose coordinate is the integral of x, with x as its rate
    const std::size_t k = at(node.v);
    out.speed = out.spin = absolute_ + relative_ * std::max(std::abs(from.v[k]), std::abs(to.v[k]));
    out.place = out.angle = std::numeric_limits<double>::infinity();
    return out;
  }
  Scales scales;
  scales.include(node, from);
  scales.include(node, to);
  const double L = lengths_[n];
  out.place = kShare * (absolute_ + relative_ * L);
  out.angle = kShare * (absolute_ + relative_);
  out.speed = out.place / L * std::sqrt(L * scales.acceleration) + kRoundoff * scales.speed;
  out.spin = out.angle * std::sqrt(scales.turning) + kRoundoff * scales.spin;
  return out;
}

double Tolerances::worst_rate(const System& system, const std::vector<double>& rates, const State& from,
                              const State& to) const {
  double worst = 0;
  const std::vector<Node>& nodes = system.model().nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const OfNode tolerance = of_node(n, node, from, to);
    const int places = place_count(node.type);
    for (int i = 0; i < node_size(node.type).v; ++i)
      worst =
          std::max(worst, relative_to(i < places ? tolerance.speed : tolerance.spin, rates[at(node.v + i)]));
  }
  return worst;
}

double Tolerances::worst_step(const System& system, const std::vector<double>& increments,
                              const std::vector<double>& velocities, const State& from,
                              const State& to) const {
  double worst = 0;
  const std::vector<Node>& nodes = system.model().nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const OfNode tolerance = of_node(n, node, from, to);
    const int places = place_count(node.type);
    for (int i = 0; i < node_size(node.type).v; ++i) {
      const std::size_t k = at(node.v + i);
      worst = std::max({worst, relative_to(i < places ? tolerance.place : tolerance.angle, increments[k]),
                        relative_to(i < places ? tolerance.speed : tolerance.spin, velocities[k])});
    }
  }
  return worst;
}

}  // namespace liedyn

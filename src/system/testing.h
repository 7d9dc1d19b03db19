// For tests only: systems from descriptions, states at random, matrices as dense ones, differences along the groups.
#pragma once

#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/model/testing.h"
#include "liedyn/system/corrector.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/system.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {

inline constexpr double kGravity = 9.81;

inline System make_system(const std::shared_ptr<const Description>& description,
                          const std::string& formulation = {}) {
  return System(Model::compile(description, formulation), Params(description));
}

// Places and velocities as described; nothing is required of them. In minimal coordinates, the nearest that the joints allow.
inline State described_state(const System& system) {
  if (system.model().tree) {
    const System absolute = in_absolute_coordinates(system);
    Work work(system), absolute_work(absolute);
    State bodies = described_state(absolute);
    project_velocities(absolute, bodies, nullptr, absolute_work);
    return state_on_tree(system, absolute, bodies, work);
  }
  const Initial initial = initial_values(system.model(), system.params().values().data());
  State state = system.empty_state();
  state.q = initial.q;
  state.v = initial.v;
  return state;
}

// As described, which must fit the joints.
inline State start_of(const System& system) {
  Work work(system);
  return consistent_state(system, 0, InitialPolicy::Check, work);
}

// The rotation parameters of conventional nodes, from the pose and its velocities.
inline void derive_parameters(const System& system, State& state) {
  if (!system.model().has_conventional_nodes()) return;
  for (const Node& node : system.model().nodes)
    start_parameters(node, state.q.data(), state.v.data(), state.vdot.data(), state.y.data(),
                     state.ydot.data(), state.yddot.data());
}

// Formulations that are good for any rotation.
inline std::vector<std::string> formulations_in_the_large() {
  std::vector<std::string> out;
  for (const std::string& name : formulations())
    if (!name.starts_with("cardan")) out.push_back(name);
  return out;
}

// A tree with every kind of joint that it may hold, some of them the other way round, on ground and on bodies with coordinates of their
// own; a part that floats; joints that close loops; every kind of force.
inline std::shared_ptr<const Description> tree_of_everything(Random& random) {
  const Vec3 gravity = 5 * random.vector<3>();
  ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
  std::vector<std::string> bodies = {"ground"};
  const auto add_body = [&](const std::string& name, const std::string& formulation) {
    builder.body(name, "rigid");
    for (const Kind& kind : kinds(Section::Bodies))
      if (kind.type == "rigid") set_random_fields(builder, kind, random);
    builder.set("formulation", formulation);
    bodies.push_back(name);
  };
  // Each joint on the body before it, or on the one before that: a chain with branches.
  std::vector<std::pair<const Kind*, std::string>> joints;
  for (const Kind& kind : kinds(Section::Joints)) {
    if (kind.tree == nullptr) continue;
    add_body("behind_" + kind.type, "model");
    joints.emplace_back(
        &kind,
        bodies[bodies.size() - 2 - static_cast<std::size_t>(bodies.size() > 2 && random.below(2) == 0)]);
  }
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const std::string behind = "behind_" + joints[i].first->type;
    if (i % 2 == 0)
      add_between(builder, Section::Joints, *joints[i].first, joints[i].second, behind, random);
    else
      add_between(builder, Section::Joints, *joints[i].first, behind, joints[i].second, random);
  }
  const auto kind_of = [](const std::string& type) -> const Kind& {
    return *find_kind(Section::Joints, type);
  };
  for (const char* formulation : {"model", "se3", "r3so3-spatial", "euler-parameters"}) {
    const std::string base = fmt::format("base_{}", formulation), arm = fmt::format("arm_{}", formulation);
    add_body(base, formulation);
    add_body(arm, "model");
    add_between(builder, Section::Joints, kind_of("universal"), base, arm, random);
  }
  // Loops; a disc that rolls.
  for (const char* type : {"spherical", "revolute", "distance", "generic", "rolling_disc"})
    add_between(builder, Section::Joints, kind_of(type), "behind_universal", "behind_prismatic", random);
  // What acts in joints: in those of the tree, except friction, which would take them out of it.
  const std::string in_loop = "revolute_behind_universal_behind_prismatic";
  const auto name_of = [&](const std::string& type) {
    for (std::size_t i = 0; i < joints.size(); ++i)
      if (joints[i].first->type == type)
        return i % 2 == 0 ? fmt::format("{}_{}_behind_{}", type, joints[i].second, type)
                          : fmt::format("{}_behind_{}_{}", type, type, joints[i].second);
    throw std::out_of_range(type);
  };
  const auto add_in_joint = [&](Section section, const Kind& kind, const std::string& joint) {
    builder.begin(section, fmt::format("{}_in_{}", kind.type, joint), kind.type);
    set_random_fields(builder, kind, random);
    if (kind.field("joint") >= 0) builder.set("joint", joint);
    if (kind.field("joints") >= 0) builder.set("joints", joint, in_loop);
    if (kind.field("coordinate") >= 0) builder.set("coordinate", std::string("auto"));
  };
  for (const Section section : {Section::Joints, Section::Forces})
    for (const Kind& kind : kinds(section)) {
      if ((kind.field("joint") < 0 && kind.field("joints") < 0) || has_kinks(kind)) continue;
      if (kind.type == "joint_friction") {
        add_in_joint(section, kind, in_loop);
        continue;
      }
      for (const char* type : {"revolute", "prismatic", "cylindrical"})
        add_in_joint(section, kind, name_of(type));
    }
  for (const Kind& kind : kinds(Section::Forces))
    if (kind.field("joint") < 0 && !has_kinks(kind))
      add_everywhere(builder, Section::Forces, kind, bodies, Pairs::Neighbours, random);
  add_flexible_bodies(builder, random);
  return builder.finish();
}

// Formulations whose nodes are those of the bodies: what holds bodies, sets configurations or linearises works in these only.
inline std::vector<std::string> absolute_formulations() {
  std::vector<std::string> out = formulations();
  std::erase(out, "minimal");
  return out;
}

// Anything but an equilibrium.
inline State random_state(const System& system, Random& random) {
  State state = described_state(system);
  for (const Node& node : system.model().nodes) {
    const Vec6 d = random.vector<6>();
    increment_position(node.type, d.data(), state.q.data() + node.q);
  }
  random.fill(state.v);
  random.fill(state.vdot);
  random.fill(state.lambda);
  state.t = random.between(0, 1);
  derive_parameters(system, state);
  return state;
}

// The state with every node moved along its group by its part of d.
inline State moved(const System& system, State state, const Eigen::VectorXd& d) {
  for (const Node& node : system.model().nodes)
    increment_position(node.type, d.data() + node.v, state.q.data() + node.q);
  return state;
}

// The matrix that a solver holds (before factorisation).
inline Eigen::MatrixXd dense_matrix(const BlockPattern& pattern, LinearSolver& solver) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(pattern.unknowns(), pattern.unknowns());
  for (const auto& [column_block, row_block] : pattern.pairs) {
    const BlockRef ref = solver.block(row_block, column_block);
    const auto start = [&](int block) { return pattern.start[static_cast<std::size_t>(block)]; };
    for (int c = 0; c < start(column_block + 1) - start(column_block); ++c)
      for (int r = 0; r < start(row_block + 1) - start(row_block); ++r)
        out(start(row_block) + r, start(column_block) + c) = solver.values()[ref.offset + r + c * ref.stride];
  }
  return out;
}

// df/dx by five points: the error is of the order h^4.
template <class F>
Eigen::MatrixXd differences(const F& f, Eigen::Index count, double h = 1e-3) {
  Eigen::MatrixXd out;
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto central = [&](double step) -> Eigen::VectorXd {
      const Eigen::VectorXd x = step * Eigen::VectorXd::Unit(count, i);
      return (f(x) - f(-x)) / (2 * step);
    };
    const Eigen::VectorXd column = (4 * central(h / 2) - central(h)) / 3;
    if (out.size() == 0) out.resize(column.size(), count);
    out.col(i) = column;
  }
  return out;
}

// Largest difference of two matrices, each row relative to the largest entry of that row in the second; rows that are zero but for
// round-off (of a joint between bodies that cannot move relative to each other) relative to the whole.
inline double row_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  if (b.size() == 0) return 0;
  const double size = b.cwiseAbs().maxCoeff();
  double worst = 0;
  for (Eigen::Index r = 0; r < b.rows(); ++r)
    worst = std::max(worst, b.row(r).cwiseAbs().maxCoeff() > 1e-9 * size
                                ? relative_difference(a.row(r), b.row(r))
                                : (a.row(r) - b.row(r)).cwiseAbs().maxCoeff() / size);
  return worst;
}

// A step of Newmark's method (beta = 1/4, gamma = 1/2) as a problem for the corrector, predicted with constant acceleration.
inline Stage newmark_stage(const State& from, double h, Corrector& corrector) {
  const std::vector<double>& v = from.ydot.empty() ? from.v : from.ydot;
  const std::vector<double>& vdot = from.ydot.empty() ? from.vdot : from.yddot;
  for (std::size_t i = 0; i < v.size(); ++i) {
    corrector.V[i] = v[i] + 0.5 * h * vdot[i];
    corrector.Theta[i] = h * v[i] + 0.25 * h * h * vdot[i];
    corrector.theta[i] = h * v[i] + 0.5 * h * h * vdot[i];
  }
  return {.c_1 = 0.25 * h * h, .c_2 = 0, .c_v = 0.5 * h};
}

// All sensors at a state.
inline std::vector<double> sensed(const System& system, const State& state, Work& work) {
  std::vector<double> variables(static_cast<std::size_t>(system.model().sensor_variables));
  std::vector<double> out(static_cast<std::size_t>(system.model().sensor_values));
  system.sense(state, work, variables, out.data());
  return out;
}

}  // namespace liedyn

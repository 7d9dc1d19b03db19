#include "analyses/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "analyses/linearization.h"
#include "analyses/motions.h"
#include "model/nodes/stage.h"
#include "system/assembly.h"
#include "system/redundancy.h"
#include "system/tree_state.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::isfinite(x) ? std::max(out, std::abs(x)) : std::abs(x);
  return out;
}

void check(const StaticOptions& o) {
  std::vector<Diagnostic> findings;
  if (!std::isfinite(o.time))
    findings.push_back({"", 0, "time", fmt::format("must be a finite time, got {}", o.time), ""});
  if (o.load_steps < 1 || o.load_steps > 100000)
    findings.push_back({"", 0, "load_steps", fmt::format("must be 1 to 100000, got {}", o.load_steps), ""});
  if (!(o.tolerance > 0 && o.tolerance < 1))
    findings.push_back(
        {"", 0, "tolerance", fmt::format("must be between 0 and 1, got {}", o.tolerance), ""});
  if (!findings.empty()) throw InputError(findings);
}

// Numbers that are loads: gravity, and the components of applied forces and torques, at their value at the time.
struct Load {
  int number;
  double value;
};
std::vector<Load> loads_of(const System& system, double time) {
  const Description& d = system.model().description();
  const Params& params = system.params();
  std::vector<Load> out;
  for (int i = 0; i < 3; ++i) out.push_back({d.gravity() + i, params.get(d.gravity() + i)});
  for (const Entry& entry : d.entries(Section::Forces))
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const Field& field = entry.kind->fields[f];
      if (!field.may_depend_on_time || (field.unit != "N" && field.unit != "N m")) continue;
      for (int i = 0; i < entry.fields[f].count && entry.fields[f].first >= 0; ++i)
        out.push_back({entry.fields[f].first + i, params.get(entry.fields[f].first + i)});
    }
  std::vector<double> variables(params.values().begin(), params.values().begin() + params.parameter_count());
  variables.push_back(time);
  for (Load& load : out)
    for (const Params::Bound& timed : params.timed())
      if (timed.number == load.number) load.value = timed.expression.evaluate<double>(variables);
  return out;
}

System loaded(const System& system, const std::vector<Load>& loads, double factor) {
  Params params = system.params();
  for (const Load& load : loads)
    if (load.value != 0) params.set(load.number, factor * load.value);
  return System(system.shared_model(), std::move(params));
}

// The iteration for one set of loads.
class Equilibrium {
 public:
  Equilibrium(const System& system, Work& work, double tolerance)
      : system_(&system), work_(&work), tolerance_(tolerance) {}

  int iterations = 0;

  // False: no convergence; the state is then the last iterate.
  bool solve(State& state) {
    State start = state;
    if (descend(state)) return true;
    // Without a potential there need not be a way downhill.
    if (!newton(start)) return false;
    state = start;
    return true;
  }

  // The largest forces and violations, relative to what is tolerated.
  double excess() const {
    return std::max(largest(work_->r) / (tolerance_ * force_scale()), largest(work_->phi) / position_scale());
  }

 private:
  // Forces that bodies and joints carry.
  double force_scale() const { return std::max({work_->force_scale, carried_, 1e-300}); }
  double position_scale() const {
    double size = 1;
    for (const Motion<double>& m : work_->motions) size = std::max(size, m.p.cwiseAbs().maxCoeff());
    return 1e-12 * size;
  }

  double evaluate(const State& state) {
    system_->residual(state, *work_, {});
    // What joints and springs transmit: the wrenches without their cancelling. Multipliers of place rows are forces.
    carried_ = largest(state.lambda);
    return excess();
  }

  // d and the increments of lambda, into work_->right. False: singular.
  bool increment(const State& state, double mu) {
    MatrixRequest request;
    request.force = {1, 0, mu};
    request.row = {1, 0, 0};
    request.velocity_row = {0, 1, 0};  // what must not slip does not on the way to the equilibrium either
    for (;;) {
      system_->jacobian(state, *work_, {}, request);
      if (!state.redundant.empty()) work_->hold(state.redundant);
      if (work_->solver->factorize()) break;
      if (work_->solver->name() != "block") return false;
      work_->use_solver(*system_, "klu");
    }
    const int nv = system_->model().nv;
    for (int i = 0; i < nv; ++i) work_->right[at(i)] = -work_->r[at(i)];
    for (int i = 0; i < system_->model().rows; ++i) work_->right[at(nv + i)] = -work_->phi[at(i)];
    for (const int row : state.redundant) work_->right[at(nv + row)] = 0;
    work_->solver->solve(work_->right.data());
    return std::isfinite(largest(work_->right));
  }

  State stepped(const State& state, const std::vector<double>& step, double length) const {
    State out = state;
    std::vector<double> d(step.begin(), step.begin() + system_->model().nv);
    for (double& x : d) x *= length;
    for (const Node& node : system_->model().nodes)
      increment_position(node.type, d.data() + node.v, out.q.data() + node.q);
    for (std::size_t i = 0; i < out.lambda.size(); ++i) out.lambda[i] += length * step[d.size() + i];
    return out;
  }

  // The part of the forces that moves something: what is left of r by the best multipliers, as accelerations.
  bool descend(State& state) {
    constexpr int kIterations = 400;
    double now = evaluate(state);
    if (now <= 1) return polish(state);
    double mu = first_shift(state);
    double energy = system_->energy(state, *work_).potential;
    for (int i = 0; i < kIterations; ++i) {
      ++iterations;
      evaluate(state);
      const VectorXd r = Eigen::Map<const VectorXd>(work_->r.data(), system_->model().nv);
      const double violation = largest(work_->phi) / position_scale();
      if (!increment(state, mu)) {
        mu *= 10;
        continue;
      }
      const std::vector<double> step = work_->right;
      const double limit = rotation_limit(system_->model(), step.data());
      const double work_done = Eigen::Map<const VectorXd>(step.data(), r.size()).dot(r);
      // Uphill: K + mu M is not positive there.
      if (violation <= 1 && work_done > 0 && now > 1e3) {
        mu *= 4;
        if (mu > 1e12 * scale_) return false;
        continue;
      }
      // Back onto the constraints, so that forces and potentials of different places are comparable.
      State trial = stepped(state, step, limit);
      const bool placed = project_positions(*system_, trial, nullptr, *work_);
      const double then = evaluate(trial);
      const double energy_then = system_->energy(trial, *work_).potential;
      const bool better = placed && (then <= now || (violation <= 1 && energy_then < energy));
      if (!std::isfinite(then) || !better) {
        mu *= 4;
        if (mu > 1e12 * scale_) return false;
        continue;
      }
      const double ratio = limit < 1 ? 1 : std::clamp(then / now, 0.05, 1.5);
      mu = std::max(mu * ratio * (then < 1e6 ? 0.1 : 1), least_shift());
      state = std::move(trial);
      now = then;
      energy = energy_then;
      if (now <= 1) return polish(state);
    }
    return false;
  }

  bool newton(State& state) {
    constexpr int kIterations = 60;
    double now = evaluate(state);
    for (int i = 0; i < kIterations; ++i) {
      if (now <= 1) return polish(state);
      ++iterations;
      if (!increment(state, 0)) return false;
      const std::vector<double> step = work_->right;
      double length = rotation_limit(system_->model(), step.data());
      State trial;
      double then = 0;
      for (;; length /= 2) {
        if (length < 1e-6) return false;
        trial = stepped(state, step, length);
        then = evaluate(trial);
        if (then < (1 - 0.1 * length) * now) break;
      }
      state = std::move(trial);
      now = then;
    }
    return false;
  }

  // One step more: it is close, and Newton's method squares the error.
  bool polish(State& state) {
    const double before = evaluate(state);
    if (increment(state, least_shift())) {
      const State trial = stepped(state, std::vector<double>(work_->right), 1);
      if (evaluate(trial) <= before) state = trial;
    }
    evaluate(state);
    return true;
  }

  // Far below all stiffness, but motions that nothing resists stay where they are.
  double least_shift() const { return 1e-9 * scale_; }

  // Such that the first step is of the size of the model at most.
  double first_shift(const State& state) {
    State start = state;
    if (!solve_accelerations(*system_, start, *work_)) return scale_ = 1;
    double size = 0;
    for (const Motion<double>& m : work_->motions) size = std::max(size, m.p.norm());
    scale_ = std::max(largest(start.vdot) / std::max(0.1 * size, 1e-3), 1e-12);
    return scale_;
  }

  const System* system_;
  Work* work_;
  double tolerance_;
  double carried_ = 0;
  double scale_ = 1;  // of mu
};

// Motions of zero stiffness, and the number of those with negative stiffness.
struct Stiffness {
  int negative = 0;
  MatrixXd indifferent;  // columns, displacements and rotations
};
Stiffness stiffness_of(const System& system, const State& state, Work& work) {
  constexpr double kNothing = 1e-10;
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  const MatrixXd N = admissible_motions(l.B);
  Stiffness out;
  out.indifferent.resize(N.rows(), 0);
  if (N.cols() == 0) return out;
  const MatrixXd K = N.transpose() * (l.K * N);
  const Eigen::JacobiSVD<MatrixXd> svd(K, Eigen::ComputeFullV);
  const double scale = std::max(svd.singularValues()[0], 1e-300);
  Eigen::Index rank = 0;
  while (rank < K.cols() && svd.singularValues()[rank] > kNothing * std::max(scale, l.K.norm() * 1e-3)) ++rank;
  if (rank < K.cols()) out.indifferent = separated(N * svd.matrixV().rightCols(K.cols() - rank));
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (K + K.transpose()), Eigen::EigenvaluesOnly);
  for (const double value : eigen.eigenvalues()) out.negative += value < -kNothing * scale ? 1 : 0;
  return out;
}

}  // namespace

StaticResult find_equilibrium(const System& system, const StaticOptions& options) {
  require_absolute_coordinates(system, "static analysis");
  require_mechanics_only(system, "static analysis");
  check(options);
  const Model& model = system.model();
  StaticResult out;
  out.model = model.description().name;
  out.formulation = model.formulation();

  // Positions that meet the constraints, at rest; multipliers as they are when it is let go.
  auto work = std::make_unique<Work>(system);
  State state = consistent_positions(
      system, options.time, {.policy = initial_policy(options.initial), .given = options.from.get()}, *work);
  std::fill(state.v.begin(), state.v.end(), 0.0);
  constexpr double kRegular = 1e-13, kDependent = 1e-7;
  if (!solve_accelerations(system, state, *work) || work->solver->reciprocal_condition() < kRegular) {
    // Rows that repeat others are not imposed.
    state.redundant = dependent_rows(system, state, kDependent, RowLevel::Velocity, nullptr, *work);
    if (!solve_accelerations(system, state, *work)) std::fill(state.lambda.begin(), state.lambda.end(), 0.0);
  }
  std::fill(state.vdot.begin(), state.vdot.end(), 0.0);

  const std::vector<Load> loads = loads_of(system, options.time);
  constexpr double kLeastStep = 1.0 / 4096;
  double factor = 0, step = 1.0 / options.load_steps;
  std::vector<double> variables(at(model.sensor_variables));
  while (factor < 1) {
    const double next = factor + step > 1 - 1e-9 ? 1 : factor + step;
    // The whole loads are the model's own.
    const System raised = next == 1 ? system : loaded(system, loads, next);
    Work raised_work(raised, work->solver->name());
    Equilibrium equilibrium(raised, raised_work, options.tolerance);
    State trial = state;
    const bool found = equilibrium.solve(trial);
    if (!found) {
      step /= 2;
      if (step >= kLeastStep) continue;
      int worst = 0;
      for (int i = 0; i < model.nv; ++i)
        if (std::abs(raised_work.r[at(i)]) > std::abs(raised_work.r[at(worst)])) worst = i;
      out.failure = fmt::format("no equilibrium found with {:.4g} of the loads; worst equation '{}', {:.3g} is left of it", next,
                                system.unknown_name(worst), raised_work.r[at(worst)]);
      if (model.nv <= kLargestDense) {
        Work dense(raised, "klu");
        const Stiffness stiffness = stiffness_of(raised, state, dense);
        std::vector<std::string> names;
        for (Eigen::Index i = 0; i < stiffness.indifferent.cols(); ++i)
          names.push_back(describe_motion(model, stiffness.indifferent.col(i)));
        if (!names.empty()) out.failure += fmt::format("; nothing resists these motions: {}", fmt::join(names, " | "));
      }
      out.state = state;
      return out;
    }
    state = std::move(trial);
    raised.follow_angles(state, raised_work);
    shorten_multipliers(raised, state, raised_work);
    factor = next;
    LoadStep record{factor, equilibrium.iterations, std::vector<double>(at(model.sensor_values))};
    raised.sense(state, raised_work, variables, record.sensors.data());
    out.steps.push_back(std::move(record));
    if (factor == 1) {
      raised.residual(state, raised_work, {});
      out.residual_force = largest(raised_work.r);
      out.residual_position = largest(raised_work.phi);
      out.potential = raised.energy(state, raised_work).potential;
    }
  }
  out.converged = true;
  if (model.nv <= kLargestDense) {
    Work dense(system, "klu");
    const Stiffness stiffness = stiffness_of(system, state, dense);
    out.unstable_directions = stiffness.negative;
    for (Eigen::Index i = 0; i < stiffness.indifferent.cols(); ++i)
      out.indifferent.push_back(describe_motion(model, stiffness.indifferent.col(i)));
  }
  out.state = std::move(state);
  return out;
}

}  // namespace liedyn

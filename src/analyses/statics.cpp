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
    findings.push_back({"", 0, "tolerance", fmt::format("must be between 0 and 1, got {}", o.tolerance), ""});
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
      if (!field.may_depend_on_time || (field.unit != "N" && field.unit != "N m" && field.unit != "N/m")) continue;
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

// The largest applied force or torque; weights are in Work::force_scale.
double largest_applied(const System& system, const std::vector<Load>& loads) {
  double out = 0;
  for (const Load& load : loads)
    if (load.number < system.model().description().gravity() ||
        load.number >= system.model().description().gravity() + 3)
      out = std::max(out, std::abs(load.value));
  return out;
}

// The iteration for one set of loads. `applied`: the largest of them.
class Equilibrium {
 public:
  Equilibrium(const System& system, Work& work, double tolerance, double applied)
      : system_(&system), work_(&work), tolerance_(tolerance), applied_(applied) {}

  int iterations = 0;

  // False: no convergence; the state is then as it was.
  bool solve(State& state) {
    // Large models have no dense matrices; without a potential there need not be a way downhill.
    constexpr int kLargestDescent = 150;
    using Way = bool (Equilibrium::*)(State&);
    for (const Way way : {&Equilibrium::descend, &Equilibrium::descend_slowly, &Equilibrium::newton}) {
      if (way == &Equilibrium::descend && system_->model().nv > kLargestDescent) continue;
      State found = state;
      if (!(this->*way)(found)) continue;
      state = std::move(found);
      return true;
    }
    return false;
  }

 private:
  // A configuration that meets the constraints, with the multipliers that leave the least forces.
  struct Place {
    State state;
    Linearization l;
    MatrixXd N;      // motions the constraints allow
    VectorXd force;  // what is left, N N^T Q^T r
    double excess = 0;
  };

  // Forces that bodies and joints carry.
  double force_scale() const { return std::max({work_->force_scale, carried_, applied_, 1e-300}); }
  double size() const {
    double size = 1;
    for (const Motion<double>& m : work_->motions) size = std::max(size, m.p.cwiseAbs().maxCoeff());
    return size;
  }

  // The largest forces and violations, relative to what is tolerated.
  double evaluate(const State& state) {
    system_->residual(state, *work_, {});
    carried_ = largest(state.lambda);
    return std::max(largest(work_->r) / (tolerance_ * force_scale()), largest(work_->phi) / (1e-12 * size()));
  }

  Place place(State state) {
    Place out;
    out.l = linearize(*system_, state, Vec3::Zero(), *work_);
    const auto force = [&]() -> VectorXd {
      return out.l.Q.transpose() * Eigen::Map<const VectorXd>(work_->r.data(), system_->model().nv);
    };
    if (system_->model().rows > 0) {
      const VectorXd change = MatrixXd(out.l.L).completeOrthogonalDecomposition().solve(force());
      for (std::size_t i = 0; i < state.lambda.size(); ++i)
        state.lambda[i] -= change[static_cast<Eigen::Index>(i)];
      out.l = linearize(*system_, state, Vec3::Zero(), *work_);  // K depends on the multipliers
    }
    out.N = admissible_motions(out.l.B);
    out.excess = evaluate(state);
    out.force = out.N * (out.N.transpose() * force());
    out.state = std::move(state);
    return out;
  }

  State moved(const State& state, const VectorXd& d) const {
    State out = state;
    for (const Node& node : system_->model().nodes)
      increment_position(node.type, d.data() + node.v, out.q.data() + node.q);
    return out;
  }

  // Newton's step where K is positive; where it is negative the opposite, which is downhill there:
  //   d = -N |N^T K N|^-1 N^T Q^T r
  // No part is longer than the model is large. Motions that nothing resists and nothing drives stay where they are.
  VectorXd downhill(const Place& from) const {
    constexpr double kNothing = 1e-10;
    const MatrixXd K = from.N.transpose() * (from.l.K * from.N);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (K + K.transpose()));
    const VectorXd c = eigen.eigenvectors().transpose() * (from.N.transpose() * from.force);
    const double stiffest = eigen.eigenvalues().cwiseAbs().maxCoeff();
    const double nothing = std::max(tolerance_ * force_scale(), kNothing * c.norm());
    VectorXd p = VectorXd::Zero(c.size());
    for (Eigen::Index i = 0; i < c.size(); ++i) {
      const double stiffness = std::abs(eigen.eigenvalues()[i]);
      if (c[i] == 0 || (stiffness <= kNothing * stiffest && std::abs(c[i]) <= nothing)) continue;
      p[i] = -c[i] / std::max(stiffness, std::abs(c[i]) / size());
    }
    return from.N * (eigen.eigenvectors() * p);
  }

  // Always downhill, so that what is found is stable unless the start is in balance already.
  bool descend(State& state) {
    constexpr int kIterations = 300;
    constexpr double kRunaway = 1e6, kShortest = 1e-10, kSettled = 1e-14;
    Place now = place(state);
    const double first_size = size();
    for (int i = 0; i < kIterations && std::isfinite(now.excess) && size() < kRunaway * first_size; ++i) {
      if (now.N.cols() == 0) break;  // the constraints alone say where everything is
      ++iterations;
      const VectorXd y = downhill(now), d = now.l.Q * y;
      // No step can be made: forces left over are the round-off of those that cancel.
      const bool settled = y.cwiseAbs().maxCoeff() <= kSettled * size();
      const bool close = now.excess <= 1;
      const double slope = now.force.dot(y);
      double length = rotation_limit(system_->model(), d.data());
      for (bool accepted = settled; !accepted; length /= 2) {
        if (length < kShortest) {
          if (close) break;
          return false;
        }
        // Back onto the constraints, so that forces of different places are comparable.
        State trial = moved(now.state, length * d);
        if (!project_positions(*system_, trial, nullptr, *work_)) continue;
        Place then = place(std::move(trial));
        if (!std::isfinite(then.excess)) continue;
        // Close to it one step more squares the error.
        if (close) {
          if (then.excess < now.excess) now = std::move(then);
          break;
        }
        // Work done on the way, by the trapezoidal rule: there need not be a potential of all loads.
        accepted = then.force.dot(y) < -0.9 * slope;
        if (accepted) now = std::move(then);
      }
      if (settled || close) {
        evaluate(now.state);
        state = std::move(now.state);
        return true;
      }
    }
    state = std::move(now.state);
    return evaluate(state) <= 1;
  }

  // Newton's method with mu M added to K: as large steps as go downhill. Sparse, but it may end at an equilibrium that is not stable.
  bool descend_slowly(State& state) {
    constexpr int kIterations = 400;
    double now = evaluate(state);
    const double scale = first_shift(state), least = 1e-9 * scale, most = 1e12 * scale;
    double mu = scale, energy = system_->energy(state, *work_).potential;
    for (int i = 0; i < kIterations && mu <= most; ++i) {
      const double violation = largest((evaluate(state), work_->phi)) / (1e-12 * size());
      const bool close = now <= 1;
      ++iterations;
      const VectorXd r = Eigen::Map<const VectorXd>(work_->r.data(), system_->model().nv);
      if (!increment(state, close ? least : mu)) {
        if (close) return true;
        mu *= 10;
        continue;
      }
      const std::vector<double> step = work_->right;
      // Close to it one step more squares the error.
      if (close) {
        State trial = stepped(state, step, 1);
        if (evaluate(trial) < now) state = std::move(trial);
        evaluate(state);
        return true;
      }
      const bool uphill =
          violation <= 1 && now > 1e3 && Eigen::Map<const VectorXd>(step.data(), r.size()).dot(r) > 0;
      const double limit = rotation_limit(system_->model(), step.data());
      // Back onto the constraints, so that forces and potentials of different places are comparable.
      State trial = stepped(state, step, limit);
      const bool placed = !uphill && project_positions(*system_, trial, nullptr, *work_);
      const double then = placed ? evaluate(trial) : now;
      const double energy_then = system_->energy(trial, *work_).potential;
      if (!placed || !std::isfinite(then) || !(then <= now || (violation <= 1 && energy_then < energy))) {
        mu *= 4;
        continue;
      }
      const double ratio = limit < 1 ? 1 : std::clamp(then / now, 0.05, 1.5);
      mu = std::max(mu * ratio * (then < 1e6 ? 0.1 : 1), least);
      state = std::move(trial);
      now = then;
      energy = energy_then;
    }
    return false;
  }

  // mu with which the first step is of the size of the model at most.
  double first_shift(const State& state) {
    State start = state;
    if (!solve_accelerations(*system_, start, *work_)) return 1;
    double extent = 0;
    for (const Motion<double>& m : work_->motions) extent = std::max(extent, m.p.norm());
    return std::max(largest(start.vdot) / std::max(0.1 * extent, 1e-3), 1e-12);
  }

  // d and the increments of lambda, into work_->right, with K + mu M. False: singular.
  bool increment(const State& state, double mu = 0) {
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
    const int nv = system_->model().nv;
    State out = moved(state, length * Eigen::Map<const VectorXd>(step.data(), nv));
    for (std::size_t i = 0; i < out.lambda.size(); ++i) out.lambda[i] += length * step[at(nv) + i];
    return out;
  }

  // Newton's method with a line search for the largest residual.
  bool newton(State& state) {
    constexpr int kIterations = 60;
    double now = evaluate(state);
    for (int i = 0; i < kIterations; ++i) {
      const bool close = now <= 1;
      ++iterations;
      if (!increment(state)) return close;
      const std::vector<double> step = work_->right;
      double length = rotation_limit(system_->model(), step.data());
      State trial = stepped(state, step, length);
      double then = evaluate(trial);
      // Close to it one step more squares the error.
      if (close) {
        if (then < now) state = std::move(trial);
        evaluate(state);
        return true;
      }
      while (!(then < (1 - 0.1 * length) * now)) {
        length /= 2;
        if (length < 1e-6) return false;
        trial = stepped(state, step, length);
        then = evaluate(trial);
      }
      state = std::move(trial);
      now = then;
    }
    return false;
  }

  const System* system_;
  Work* work_;
  double tolerance_, applied_;
  double carried_ = 0;
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
  while (rank < K.cols() && svd.singularValues()[rank] > kNothing * std::max(scale, l.K.norm() * 1e-3))
    ++rank;
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
    Work raised_work(raised, model.nv <= kLargestDense ? "klu" : work->solver->name());
    Equilibrium equilibrium(raised, raised_work, options.tolerance, next * largest_applied(system, loads));
    State trial = state;
    const bool found = equilibrium.solve(trial);
    if (!found) {
      step /= 2;
      if (step >= kLeastStep) continue;
      int worst = 0;
      for (int i = 0; i < model.nv; ++i)
        if (std::abs(raised_work.r[at(i)]) > std::abs(raised_work.r[at(worst)])) worst = i;
      out.failure = fmt::format(
          "no equilibrium found with {:.4g} of the loads; worst equation '{}', {:.3g} is left of it", next,
          system.unknown_name(worst), raised_work.r[at(worst)]);
      if (model.nv <= kLargestDense) {
        Work dense(raised, "klu");
        const Stiffness stiffness = stiffness_of(raised, state, dense);
        std::vector<std::string> names;
        for (Eigen::Index i = 0; i < stiffness.indifferent.cols(); ++i)
          names.push_back(describe_motion(model, stiffness.indifferent.col(i)));
        if (!names.empty())
          out.failure += fmt::format("; nothing resists these motions: {}", fmt::join(names, " | "));
      } else {
        out.failure += fmt::format("; with more than {} velocities it is only found from a start close to it",
                                   kLargestDense);
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

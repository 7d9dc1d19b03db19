#include "liedyn/integrators/explicit_runge_kutta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "liedyn/base/index.h"
#include "liedyn/base/largest.h"
#include "liedyn/integrators/linear_properties.h"
#include "liedyn/integrators/newton_options.h"
#include "liedyn/integrators/tableaux.h"
#include "liedyn/integrators/tolerances.h"
#include "liedyn/model/nodes/explicit_stage.h"
#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/system/accelerations.h"
#include "liedyn/system/tree_dynamics.h"

namespace liedyn {
namespace {

// Accelerations of many states one after the other: in minimal coordinates by the recursion over the links where it applies, otherwise as Accelerations find
// them. With derivatives these come from the matrix in any case.
template <class S>
class ExplicitAccelerations {
 public:
  explicit ExplicitAccelerations(const SystemOf<S>& system) : general_(system) {
    if constexpr (!is_varied<S>)
      if (system.model().tree) tree_ = std::make_unique<TreeDynamics>(system);
  }
  void prepare(const StateOf<S>& state, WorkOf<S>& work) {
    general_.prepare(state, work);
    if constexpr (!is_varied<S>) recursive_ = tree_ && tree_->prepare(state, work);
  }
  bool solve(StateOf<S>& state, WorkOf<S>& work, CorrectorOutcome& outcome) {
    if constexpr (!is_varied<S>)
      if (recursive_) return solve_by_recursion(state, work, outcome);
    return general_.solve(state, work, outcome);
  }
  void constraint_increment(const std::vector<S>& residual, WorkOf<S>& work) const {
    general_.constraint_increment(residual, work);
  }
  void archive(Archive& a) { general_.archive(a); }

 private:
  bool solve_by_recursion(State& state, Work& work, CorrectorOutcome& outcome) {
    if (const int singular = tree_->accelerate(state, work); singular >= 0) {
      outcome.failure = CorrectorFailure::Singular;
      outcome.worst = singular;
      return false;
    }
    ++outcome.iterations;
    const auto bad =
        std::find_if(state.vdot.begin(), state.vdot.end(), [](double x) { return !std::isfinite(x); });
    if (bad == state.vdot.end()) return true;
    outcome.failure = CorrectorFailure::NotFinite;
    outcome.worst = static_cast<int>(bad - state.vdot.begin());
    return false;
  }

  AccelerationsOf<S> general_;
  std::unique_ptr<TreeDynamics> tree_;
  bool recursive_ = false;
};

template <class S>
class ExplicitRungeKutta final : public IntegratorOf<S> {
 public:
  ExplicitRungeKutta(const SystemOf<S>& system, const IntegratorOptions& options, Tableau tableau)
      : system_(&system),
        text_(options.text()),
        tableau_(std::move(tableau)),
        chart_(chart_from(options)),
        accelerations_(system),
        stages_(at(tableau_.stages()), Slopes{std::vector<S>(at(system.model().stage_size)),
                                              std::vector<S>(at(system.model().stage_size))}),
        theta_(at(system.model().stage_size)),
        u_(theta_),
        begin_u_(theta_),
        end_theta_(theta_),
        end_u_(theta_),
        defect_(theta_),
        place_error_(at(system.model().nv)),
        velocity_error_(place_error_) {
    const std::string& project = options.word("project");
    const bool constrained = system.model().rows > 0;
    project_positions_ = constrained && (project == "position" || project == "both");
    project_velocities_ = constrained && (project == "velocity" || project == "both");
    if (tableau_.embedded.size() > 0) tolerances_ = Tolerances(options);
  }

  void start(StateOf<S>& state, double, WorkOf<S>& work) override {
    state.memory.clear();  // the first stage is the end of the last step: nothing else is remembered
    set_parameters(state);
    tolerances_.measure(*system_, state, work);
    accelerations_.prepare(state, work);
  }
  bool divides_by_step() const override { return false; }
  void follow_jump(const std::vector<S>&, StateOf<S>& state, WorkOf<S>& work) override {
    set_parameters(state);
    accelerations_.prepare(state, work);
  }
  void archive(Archive& a, const StateOf<S>&, WorkOf<S>&) override {
    if constexpr (!is_varied<S>) a(tolerances_, accelerations_);
  }

  Attempt step(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    Attempt out;
    begin(from, to);
    const std::size_t last = stages_.size() - 1;
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      // theta_i = h sum_j a_ij theta'_j,  u_i = u_n + h sum_j a_ij u'_j
      advance(
          h,
          [&](std::size_t j) {
            return tableau_.A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
          },
          i);
      to.t = from.t + tableau_.c[static_cast<Eigen::Index>(i)] * h;
      evaluate(from, to);
      if (i == last) {
        to.t = from.t + h;
        restore(from, to);
        // A projection moves the end: its accelerations come after, unless the estimate of the error needs those before.
        if (projects() && !tolerances_.adaptive()) break;
      }
      if (!solve(from, to, work, stages_[i], out.corrector)) return out;
    }
    if constexpr (!is_varied<S>)
      if (tolerances_.adaptive()) out.error = estimate(from, h, to);
    if (projects() && out.error <= 1) {
      if (!project(from, to, work, out.corrector)) return out;
      if (!solve(from, to, work, stages_[last], out.corrector)) return out;
    }
    end_theta_ = theta_;
    end_u_ = u_;
    out.corrector.has_factors = system_->model().rows > 0;
    return out;
  }
  Attempt step_carefully(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    return step(from, h, to, work);
  }

  void interpolate(const SystemOf<S>&, const StateOf<S>& from, const StateOf<S>& to, double s,
                   StateOf<S>& out, WorkOf<S>& work) override {
    // The interpolant between the ends as they are, projections included.
    const double h = to.t - from.t, ends = s * s * (3 - 2 * s);
    const Eigen::VectorXd weights = tableau_.weights_at(s) - ends * tableau_.b();
    begin(from, out);
    advance(
        h, [&](std::size_t j) { return weights[static_cast<Eigen::Index>(j)]; }, stages_.size());
    for (std::size_t k = 0; k < theta_.size(); ++k) {
      theta_[k] += ends * end_theta_[k];
      u_[k] += ends * (end_u_[k] - begin_u_[k]);
    }
    out.t = from.t + s * h;
    evaluate(from, out);
    restore(from, out);
    for (const int row : out.redundant)
      out.lambda[at(row)] = (1 - s) * from.lambda[at(row)] + s * to.lambda[at(row)];
    CorrectorOutcome ignored;
    // Accelerations and multipliers are functions of q and v; between them where these have none.
    if (!accelerations_.solve(out, work, ignored)) {
      for (std::size_t i = 0; i < out.vdot.size(); ++i) out.vdot[i] = (1 - s) * from.vdot[i] + s * to.vdot[i];
      for (std::size_t i = 0; i < out.lambda.size(); ++i)
        out.lambda[i] = (1 - s) * from.lambda[i] + s * to.lambda[i];
    }
  }

  StepControl control() const override { return tolerances_.control(tableau_.embedded_order + 1, 0); }
  std::string describe() const override { return text_; }
  std::string failure(const Attempt& attempt, const System& system) const override {
    const CorrectorOutcome& c = attempt.corrector;
    const std::string name = c.worst >= 0 ? system.unknown_name(c.worst) : "unknown";
    switch (c.failure) {
      case CorrectorFailure::Singular:
        // A mass matrix without mass is found at the start already: here its numbers have lost their sense.
        if (c.worst < 0)
          return fmt::format("the accelerations are undetermined: a mass matrix has no finite inverse; {}",
                             kStability);
        return fmt::format("the acceleration at '{}' is undetermined: a mass matrix is singular; {}", name,
                           kStability);
      case CorrectorFailure::NotFinite:
        return fmt::format("the accelerations are not finite, first in '{}'; {}{}", name, kStability,
                           regularity_note(c, system));
      case CorrectorFailure::TooManyIterations:
        return fmt::format(
            "the projection onto the constraints did not converge; the largest residual, {:.3g}, is in '{}'; "
            "{}",
            c.residual, name, kStability);
      default: return IntegratorOf<S>::failure(attempt, system);
    }
  }
  std::vector<std::string> warnings() const override {
    if (system_->model().rows == 0 || (project_positions_ && project_velocities_)) return {};
    return {
        "constraints are imposed at acceleration level: without project=both the round-off and truncation "
        "errors of positions and velocities accumulate"};
  }

 private:
  static constexpr const char* kStability = "an explicit method needs steps within its stability limit";
  struct Slopes {
    std::vector<S> theta, u;  // theta', u'
  };
  bool projects() const { return project_positions_ || project_velocities_; }

  void set_parameters(StateOf<S>& state) const {
    if (!system_->model().has_conventional_nodes()) return;
    for (std::vector<S>* of : {&state.y, &state.ydot, &state.yddot}) of->assign(theta_.size(), S(0));
    for (const Node& node : system_->model().nodes)
      start_parameters(node, state.q.data(), state.v.data(), state.vdot.data(), state.y.data(),
                       state.ydot.data(), state.yddot.data());
  }

  ExplicitStage<S> stage(const StateOf<S>& from, StateOf<S>& to) {
    return {chart_,      from.q.data(),  from.y.data(), theta_.data(),  u_.data(),      to.q.data(),
            to.v.data(), to.vdot.data(), to.y.data(),   to.ydot.data(), to.yddot.data()};
  }

  // The first stage: theta = 0, and the derivatives that `from` has.
  void begin(const StateOf<S>& from, StateOf<S>& to) {
    std::copy(from.vdot.begin(), from.vdot.end(), to.vdot.begin());
    std::copy(from.lambda.begin(), from.lambda.end(), to.lambda.begin());
    std::copy(from.v.begin(), from.v.end(), to.v.begin());
    std::copy(from.y.begin(), from.y.end(), to.y.begin());
    std::copy(from.ydot.begin(), from.ydot.end(), to.ydot.begin());
    std::fill(theta_.begin(), theta_.end(), S(0));
    const ExplicitStage<S> s = stage(from, to);
    for (const Node& node : system_->model().nodes) {
      const bool rates = has_euler_parameters(node.type) || has_cardan_rates(node.type);
      const std::vector<S>& u = rates ? from.ydot : from.v;
      std::copy_n(u.data() + node.v, node_size(node.type).v, u_.data() + node.v);
      if (node.extra >= 0) u_[at(node.extra)] = from.ydot[at(node.extra)];
      explicit_slopes(node, s, stages_[0].theta.data(), stages_[0].u.data());
    }
    begin_u_ = u_;
  }

  template <class Weight>
  void advance(double h, const Weight& weight, std::size_t count) {
    std::fill(theta_.begin(), theta_.end(), S(0));
    u_ = begin_u_;
    for (std::size_t j = 0; j < count; ++j) {
      const double w = h * weight(j);
      if (w == 0) continue;
      const Slopes& slopes = stages_[j];
      for (std::size_t k = 0; k < theta_.size(); ++k) {
        theta_[k] += w * slopes.theta[k];
        u_[k] += w * slopes.u[k];
      }
    }
  }

  void evaluate(const StateOf<S>& from, StateOf<S>& to) {
    const ExplicitStage<S> s = stage(from, to);
    for (const Node& node : system_->model().nodes) evaluate_explicit(node, s);
  }
  void restore(const StateOf<S>& from, StateOf<S>& to) {
    if (from.y.empty()) return;
    const ExplicitStage<S> s = stage(from, to);
    for (const Node& node : system_->model().nodes) restore_unit_length(node, s);
  }

  // The derivatives at the point that evaluate() has left.
  bool solve(const StateOf<S>& from, StateOf<S>& to, WorkOf<S>& work, Slopes& slopes,
             CorrectorOutcome& outcome) {
    if (!from.y.empty() && !is_regular(to, outcome)) return false;
    if (!accelerations_.solve(to, work, outcome)) return false;
    const ExplicitStage<S> s = stage(from, to);
    for (const Node& node : system_->model().nodes)
      explicit_slopes(node, s, slopes.theta.data(), slopes.u.data());
    return true;
  }

  bool is_regular(const StateOf<S>& to, CorrectorOutcome& outcome) const {
    const auto& nodes = system_->model().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double least = regularity(nodes[i], to.y.data());
      if (!(least < outcome.regularity)) continue;  // what is not a number fails elsewhere
      outcome.regularity = least;
      outcome.least_regular = static_cast<int>(i);
    }
    if (outcome.regularity >= kLeastRegularity) return true;
    outcome.failure = CorrectorFailure::SingularParameters;
    return false;
  }

  // Onto Phi = 0 and B v + Phi_t = 0, along M^-1 B^T, with the matrix of the last stage: its B differs so little that each iteration takes
  // most of what is left.
  bool project(const StateOf<S>& from, StateOf<S>& to, WorkOf<S>& work, CorrectorOutcome& outcome) {
    const ExplicitStage<S> s = stage(from, to);
    const auto iterate = [&](const std::vector<S>& residual, const RowRequest& rows, const auto& scale,
                             const auto& apply) {
      constexpr int kMost = 20;
      constexpr double kRoundoff = 4 * std::numeric_limits<double>::epsilon(), kTolerance = 1e-8;
      double before = std::numeric_limits<double>::infinity();
      int settled = 0;
      for (int i = 0;; ++i) {
        system_->residual(to, work, rows);
        work.clear_residuals(to.redundant);  // they follow from the others
        const double now = largest(residual);
        // At round-off it no longer falls. Derivatives contract as fast, but begin later.
        const bool done = settled > 0 || now <= kRoundoff * scale() ||
                          (now <= kTolerance * scale() && (now > 0.5 * before || i == kMost));
        if (done && (!is_varied<S> || settled++ == 2)) return true;
        if (!done && (i == kMost || !std::isfinite(now) || now > 2 * before)) {
          // What is not a number is the largest.
          const auto worst = std::max_element(residual.begin(), residual.end(), [](const S& x, const S& y) {
            const double a = value(x), b = value(y);
            return std::abs(a) < std::abs(b) || (std::isnan(b) && !std::isnan(a));
          });
          outcome.failure = CorrectorFailure::TooManyIterations;
          outcome.worst = system_->model().nv + static_cast<int>(worst - residual.begin());
          outcome.residual = value(*worst);
          return false;
        }
        before = now;
        accelerations_.constraint_increment(residual, work);
        ++outcome.iterations;
        for (const Node& node : system_->model().nodes) apply(node);
        evaluate(from, to);
        restore(from, to);
      }
    };
    const auto size = [&] {
      double out = 1e-3;
      for (const Motion<S>& m : work.motions)
        for (int k = 0; k < 3; ++k) out = std::max(out, std::abs(value(m.p[k])));
      return out;
    };
    const auto speed = [&] { return std::max(1e-3, largest(to.v)); };
    return (!project_positions_ ||
            iterate(work.phi, {true, false, false}, size,
                    [&](const Node& node) { add_pose_increment(node, s, work.right.data()); })) &&
           (!project_velocities_ || iterate(work.rate, {false, true, false}, speed, [&](const Node& node) {
             add_velocity_increment(node, s, work.right.data());
           }));
  }

  // The difference to the embedded formula, h sum_j (b^_j - b_j) y'_j, relative to the tolerances.
  double estimate(const StateOf<S>& from, double h, const StateOf<S>& to) {
    const Eigen::Index end = tableau_.c.size() - 1;
    const auto difference = [&](std::vector<S> Slopes::*part, std::vector<S>& out) {
      std::fill(defect_.begin(), defect_.end(), S(0));
      for (std::size_t j = 0; j < stages_.size(); ++j) {
        const auto column = static_cast<Eigen::Index>(j);
        const double weight = h * (tableau_.embedded[column] - tableau_.A(end, column));
        const std::vector<S>& slope = stages_[j].*part;
        for (std::size_t k = 0; k < defect_.size(); ++k) defect_[k] += weight * slope[k];
      }
      for (const Node& node : system_->model().nodes)
        velocity_of_rates(node, to.y.data(), defect_.data(), out.data());
    };
    difference(&Slopes::theta, place_error_);
    difference(&Slopes::u, velocity_error_);
    return tolerances_.worst_step(*system_, place_error_, velocity_error_, from, to);
  }

  const SystemOf<S>* system_;
  std::string text_;
  Tableau tableau_;
  Chart chart_;
  ExplicitAccelerations<S> accelerations_;
  Tolerances tolerances_;
  bool project_positions_ = false, project_velocities_ = false;
  std::vector<Slopes> stages_;
  std::vector<S> theta_, u_, begin_u_, end_theta_, end_u_, defect_;
  std::vector<S> place_error_, velocity_error_;
};

using FixedTableau = Tableau (*)();

template <FixedTableau tableau>
ListedIntegrator explicit_method(const std::string& name, const std::string& summary,
                                 const std::string& source) {
  std::vector<IntegratorOption> options = {{"project",
                                            "both",
                                            "Constraints onto which the end of each step is projected: those "
                                            "on positions, on velocities, both or none.",
                                            {"none", "position", "velocity", "both"}},
                                           coordinates_option()};
  if (tableau().embedded.size() > 0)
    for (IntegratorOption& o : step_control_options()) options.push_back(std::move(o));
  return {name,
          summary,
          source,
          options,
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            return std::make_unique<ExplicitRungeKutta<double>>(system, o, tableau());
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            return std::make_unique<ExplicitRungeKutta<Varied>>(system, o, tableau());
          },
          [](const IntegratorOptions&) { return runge_kutta_properties(tableau()); }};
}

}  // namespace

std::vector<ListedIntegrator> explicit_methods() {
  const std::string source = "Holzinger, Arnold, Gerstmayr (2024), Algorithms 2 and 3, Appendix B; ";
  return {
      explicit_method<rk44>("rk44", "Explicit: the classical Runge-Kutta method, fourth order.",
                            source + "Kutta (1901)"),
      explicit_method<ode23>("ode23", "Explicit: third order with an error estimate, three evaluations.",
                             source + "Bogacki, Shampine (1989)"),
      explicit_method<dopri5>(
          "dopri5",
          "Explicit: fifth order with an error estimate, six evaluations; dense output of fourth order.",
          source + "Dormand, Prince (1980)"),
      explicit_method<rk67>("rk67", "Explicit: sixth order, seven evaluations.", source + "Butcher (1964)")};
}

}  // namespace liedyn

#include "liedyn/integrators/multistep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "liedyn/integrators/first_order.h"
#include "liedyn/integrators/linear_properties.h"
#include "liedyn/integrators/tolerances.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/model/nodes/parameter_stage.h"

namespace liedyn {
namespace {

template <class S>
class Multistep final : public FirstOrderMethod<S> {
  using Base = FirstOrderMethod<S>;
  using Base::begin, Base::chart, Base::has_constraints, Base::stage_size, Base::read, Base::solve,
      Base::moved_reference;

 public:
  Multistep(const SystemOf<S>& system, const IntegratorOptions& options, int steps)
      : Base(system, options),
        rho_(options.number("rho")),
        formula_(damped_multistep(steps, rho_)),
        last_(stage_size()),
        next_(stage_size()),
        moved_(stage_size()),
        defect_(stage_size()),
        error_(static_cast<std::size_t>(system.model().nv)) {
    if (steps == 2) tolerances_ = Tolerances(options);
  }

  void start(StateOf<S>& state, double h, WorkOf<S>& work) override {
    tolerances_.measure(this->system(), state, work);
    begin(state, work);
    state.memory.assign(kPoints + past_points() * 4 * stage_size(), S(0));
    state.memory[kStep] = S(h);
  }
  StepControl control() const override { return tolerances_.control(2, remembered_steps()); }
  // The points before it are remembered by their distances.
  bool follow_short_step(const std::vector<S>&, StateOf<S>&, WorkOf<S>&) override { return false; }
  std::vector<std::string> warnings() const override {
    return rho_warnings(rho_, has_constraints(), formula_.steps > 2);
  }
  void archive(Archive& a, const StateOf<S>& state, WorkOf<S>& work) override {
    Base::archive(a, state, work);
    a(tolerances_);
  }

 private:
  // Errors of multipliers decay by rho per step: the steps until a twentieth is left.
  int remembered_steps() const {
    constexpr int kMost = 40;
    if (rho_ == 0) return StepControl::kUsualMemory;
    if (rho_ >= 1) return kMost;
    const double steps = std::ceil(std::log(0.05) / std::log(rho_));
    return static_cast<int>(std::clamp<double>(steps, StepControl::kUsualMemory, kMost));
  }
  // State::memory: how many points before the last are known, the last step and the one before it, whether it has ever changed, then for each point
  // theta, theta', u, u' relative to the last configuration, the latest first.
  enum Memory : std::size_t { kKnown, kStep, kStepBefore, kChanged, kPoints };
  static constexpr double kMuchShorter = 0.5;
  // The estimate of the error needs one more.
  std::size_t past_points() const {
    return static_cast<std::size_t>(formula_.steps) - (tolerances_.adaptive() ? 0 : 1);
  }

  // With accelerations that were larger by D all the time, the points at t - s had u - s D and theta + s^2/2 D.
  void shift_past(const PointDerivatives<S>& jump, StateOf<S>& state) const override {
    const auto known = static_cast<std::size_t>(value(state.memory[kKnown]));
    double s = 0;
    for (std::size_t k = 0; k < known; ++k) {
      s += value(state.memory[tolerances_.adaptive() && k > 0 ? kStepBefore : kStep]);
      const PastPoint point = past(state, k);
      for (std::size_t i = 0; i < stage_size(); ++i) {
        point.theta[i] += s * s / 2 * jump.slope[i];
        point.slope[i] -= s * jump.slope[i];
        point.u[i] -= s * jump.udot[i];
        point.udot[i] += jump.udot[i];
      }
    }
  }

  struct PastPoint {
    S *theta, *slope, *u, *udot;
  };
  PastPoint past(StateOf<S>& state, std::size_t k) const {
    S* first = state.memory.data() + kPoints + 4 * k * stage_size();
    return {first, first + stage_size(), first + 2 * stage_size(), first + 3 * stage_size()};
  }
  struct ConstPastPoint {
    const S *theta, *slope, *u, *udot;
  };
  ConstPastPoint past(const StateOf<S>& state, std::size_t k) const {
    const S* first = state.memory.data() + kPoints + 4 * k * stage_size();
    return {first, first + stage_size(), first + 2 * stage_size(), first + 3 * stage_size()};
  }

  Attempt attempt(CorrectorOf<S>& corrector, const StateOf<S>& from, double h, StateOf<S>& to,
                  WorkOf<S>& work) override {
    const double before = value(from.memory[kStep]);
    // The last step before an output time may differ by round-off only.
    const bool same_step = std::abs(h - before) <= 1e-9 * before;
    const auto known = static_cast<std::size_t>(value(from.memory[kKnown]));
    const bool changed = !same_step || value(from.memory[kChanged]) != 0;
    // The trapezoidal rule starts. Later, where the step changes, two points are always there: LMS2, which has a formula for unequal steps,
    // takes over until enough points are equally spaced again. Of the error of the step before it repeats a part, in proportion to the lengths: after a much
    // longer step that would be most of its own, and no smaller step would remove it, so that the trapezoidal rule starts anew.
    const bool starts = known == 0 || h < kMuchShorter * before;
    const MultistepFormula formula = same_step && known + 1 >= static_cast<std::size_t>(formula_.steps)
                                         ? formula_
                                     : changed && !starts ? damped_two_step(rho_, same_step ? 1 : h / before)
                                                          : trapezoidal_rule();

    read(from, last_);
    // Theta = sum_j alpha_j theta_{k-j} + h sum_j beta_j theta'_{k-j},  V the same with u, u';  j >= 1, theta_{k-1} = 0
    const double alpha = formula.alpha[1], beta = h * formula.beta[1];
    for (std::size_t i = 0; i < stage_size(); ++i) {
      corrector.Theta[i] = beta * last_.slope[i];
      corrector.V[i] = alpha * last_.u[i] + beta * last_.udot[i];
    }
    for (std::size_t j = 2; j <= static_cast<std::size_t>(formula.steps); ++j) {
      const ConstPastPoint point = past(from, j - 2);
      const double a = formula.alpha[j], b = h * formula.beta[j];
      for (std::size_t i = 0; i < stage_size(); ++i) {
        corrector.Theta[i] += a * point.theta[i] + b * point.slope[i];
        corrector.V[i] += a * point.u[i] + b * point.udot[i];
      }
    }
    predict(from, known, h, before);
    corrector.expect_similar_solves();
    to.t = from.t + h;
    to.lambda = from.lambda;
    Attempt out{solve(corrector, h * formula.beta[0], h, from, to, work, next_)};
    if (!out.converged()) return out;
    if constexpr (!is_varied<S>)
      if (tolerances_.adaptive()) out.error = estimate(corrector, from, formula, known, h, before, to);
    // Two-step formulas and estimates know the distances of their points; the others need equal ones.
    remember(corrector, from, same_step || tolerances_.adaptive() ? known : 0, h, to);
    to.memory[kStepBefore] = S(before);
    to.memory[kChanged] = S(changed ? 1 : 0);
    return out;
  }

  // The local error C h^3 theta''' per unit of time,
  //   C = (1 - alpha_2 s^3)/6 - (beta_0 + beta_2 s^2)/2,   s = (t_{k-2} - t_{k-1})/h,
  // with the third derivative from places only: across constraints of index 3 rates have errors of their own, left from steps of other sizes. The first steps
  // have the rate at the start, where it is exact; the very first one has two points, and h theta''' is taken to be as large as theta''.
  double estimate(const CorrectorOf<S>& corrector, const StateOf<S>& from, const MultistepFormula& formula,
                  std::size_t known, double h, double before, const StateOf<S>& to) {
    const bool two = formula.steps > 1;
    const double s = -before / h, alpha = two ? formula.alpha[2] : 0, beta = two ? formula.beta[2] : 0;
    const double C = (1 - alpha * s * s * s) / 6 - (formula.beta[0] + beta * s * s) / 2;
    const double earlier = from.memory[kStepBefore];
    for (std::size_t i = 0; i < stage_size(); ++i) {
      // Divided differences over (t_k, t_{k-1}, t_{k-2}, t_{k-3}), from the latest back; theta_{k-1} = 0.
      const double last = corrector.theta[i] / h;
      if (known == 0) {
        defect_[i] = 2 * C * (last - last_.slope[i]);
        continue;
      }
      const ConstPastPoint point = past(from, 0);
      const double middle = -point.theta[i] / before, first = (last - middle) / (h + before);
      const double oldest = known > 1 ? (point.theta[i] - past(from, 1).theta[i]) / earlier : point.slope[i];
      const double gap = known > 1 ? earlier : 0, second = (middle - oldest) / (before + gap);
      defect_[i] = 6 * C * h * h * (first - second) / (h + before + gap);
      // Over points far back in comparison differences do not see what has just begun: a change of the acceleration in this step does.
      if (!two)
        defect_[i] = std::max(std::abs(defect_[i]), std::abs(0.5 * C * h * (next_.udot[i] - last_.udot[i])));
    }
    for (const Node& node : this->system().model().nodes)
      velocity_of_rates(node, to.y.data(), defect_.data(), error_.data());
    return tolerances_.worst_rate(this->system(), error_, from, to);
  }

  // Eq. (12), or a constant as long as there is one point only.
  void predict(const StateOf<S>& from, std::size_t known, double h, double before) {
    std::copy(last_.udot.begin(), last_.udot.end(), next_.udot.begin());
    if (known == 0) return;
    const PredictorWeights w = two_point_predictor(h, before);
    const ConstPastPoint point = past(from, 0);
    for (std::size_t i = 0; i < stage_size(); ++i)
      next_.udot[i] =
          (w.m[0] * last_.u[i] + w.m[1] * point.u[i]) / h + w.n[0] * last_.udot[i] + w.n[1] * point.udot[i];
  }

  // The last point joins the past ones, and all of them are seen from the new configuration.
  void remember(const CorrectorOf<S>& corrector, const StateOf<S>& from, std::size_t known, double h,
                StateOf<S>& to) {
    const std::size_t keep = std::min(known + 1, past_points());
    to.memory[kKnown] = S(static_cast<double>(keep));
    to.memory[kStep] = S(h);
    moved_reference(corrector, from, to, moved_);
    for (std::size_t k = 0; k < past_points(); ++k) {
      const PastPoint point = past(to, k);
      if (k == 0) {
        std::transform(moved_.begin(), moved_.end(), point.theta, [](const S& x) { return -x; });
        std::copy(last_.slope.begin(), last_.slope.end(), point.slope);
        std::copy(last_.u.begin(), last_.u.end(), point.u);
        std::copy(last_.udot.begin(), last_.udot.end(), point.udot);
      } else {
        std::copy_n(past(from, k - 1).theta, 4 * stage_size(), point.theta);
      }
      for (const Node& node : this->system().model().nodes) {
        if (k > 0) {
          refer_to_moved(node.type, chart(), moved_.data() + node.v, point.theta + node.v);
          if (node.extra >= 0) point.theta[node.extra] -= moved_[static_cast<std::size_t>(node.extra)];
        }
        if (!is_conventional(node.type))
          increment_rates(node.type, chart(), point.theta + node.v, point.u + node.v, point.slope + node.v);
      }
    }
  }

  double rho_;
  MultistepFormula formula_;
  PointDerivatives<S> last_, next_;
  std::vector<S> moved_;
  std::vector<double> defect_, error_;
  Tolerances tolerances_;
};

template <int steps>
ListedIntegrator multistep(const char* name, const char* count) {
  std::vector<IntegratorOption> options = {rho_option()};
  for (IntegratorOption& o : first_order_options()) options.push_back(std::move(o));
  if (steps == 2)  // the formula for unequal steps
    for (IntegratorOption& o : step_control_options()) options.push_back(std::move(o));
  return {name,
          fmt::format("Linear {}-step method: second order, damping by rho; trapezoidal start{}.", count,
                      steps == 2 ? "; error estimate" : ""),
          "Zhang, Zhang, Zanoni, Masarati, Eqs. (2), (3), (12)",
          options,
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            return std::make_unique<Multistep<double>>(system, o, steps);
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            return std::make_unique<Multistep<Varied>>(system, o, steps);
          },
          [](const IntegratorOptions& o) { return multistep_properties(steps, o.number("rho")); }};
}

}  // namespace

std::vector<ListedIntegrator> multistep_methods() {
  return {multistep<2>("lms2", "two"), multistep<3>("lms3", "three"), multistep<4>("lms4", "four")};
}

}  // namespace liedyn

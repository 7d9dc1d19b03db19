#include "liedyn/integrators/generalized_alpha.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "liedyn/base/combination.h"
#include "liedyn/integrators/newton_options.h"
#include "liedyn/integrators/predictor.h"
#include "liedyn/integrators/tolerances.h"
#include "liedyn/system/initial.h"

namespace liedyn {

AlphaParameters AlphaParameters::chung_hulbert(double rho) {
  const double alpha_m = (2 * rho - 1) / (rho + 1);
  const double alpha_f = rho / (rho + 1);
  const double gamma = 0.5 + alpha_f - alpha_m;
  return {alpha_m, alpha_f, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma};
}

AlphaParameters AlphaParameters::hilber_hughes_taylor(double rho) {
  const double alpha_f = (1 - rho) / (1 + rho);
  return {0, alpha_f, 0.25 * (1 + alpha_f) * (1 + alpha_f), 0.5 + alpha_f};
}

AlphaParameters AlphaParameters::newmark() { return {0, 0, 0.25, 0.5}; }

std::vector<std::string> AlphaParameters::warnings() const {
  constexpr double kSlack = 1e-12;
  std::vector<std::string> out;
  if (std::abs(gamma - (0.5 + alpha_f - alpha_m)) > kSlack)
    out.push_back(fmt::format(
        "gamma = {:.6g} is not 1/2 + alpha_f - alpha_m = {:.6g}: the method is of first order only", gamma,
        0.5 + alpha_f - alpha_m));
  if (!(alpha_m < alpha_f) || !(alpha_f < 0.5) || !(gamma < 2 * beta))
    out.push_back(fmt::format(
        "alpha_m < alpha_f < 1/2 and gamma < 2 beta are not satisfied (alpha_m = {:.6g}, alpha_f = "
        "{:.6g}, beta = {:.6g}, gamma = {:.6g}): "
        "errors of the multipliers are not damped",
        alpha_m, alpha_f, beta, gamma));
  return out;
}

namespace {

AlphaParameters parameters_from(const IntegratorOptions& options) {
  const double rho = options.number("rho");
  const std::string& set = options.word("parameters");
  AlphaParameters p = AlphaParameters::chung_hulbert(rho);
  if (set == "hht") p = AlphaParameters::hilber_hughes_taylor(rho);
  if (set == "newmark") p = AlphaParameters::newmark();
  const auto replace = [&](const char* name, double& value) {
    if (options.word(name) != "auto") value = options.number(name);
  };
  replace("alpha_m", p.alpha_m);
  replace("alpha_f", p.alpha_f);
  replace("beta", p.beta);
  replace("gamma", p.gamma);
  if (set == "hht" && rho < 0.5)
    throw InputError("integrator generalized-alpha",
                     fmt::format("parameters=hht needs rho from 0.5 to 1, got {}", rho));
  if (!(p.beta > 0) || !(p.gamma > 0) || p.alpha_m == 1 || p.alpha_f == 1)
    throw InputError(
        "integrator generalized-alpha",
        fmt::format(
            "beta and gamma must be positive, alpha_m and alpha_f different from 1, got alpha_m = {}, "
            "alpha_f = {}, beta = {}, gamma = {}",
            p.alpha_m, p.alpha_f, p.beta, p.gamma),
        "otherwise q does not depend on the accelerations at the end of the step");
  return p;
}

double sigma_from(const IntegratorOptions& options, const AlphaParameters& p) {
  return options.word("sigma") == "opt" ? p.gamma / (3 * p.beta) : options.number("sigma");
}

enum class Form { Geometric, Linear, Residual };

Form form_from(const IntegratorOptions& options) {
  const std::string& form = options.word("form");
  return form == "linear" ? Form::Linear : form == "residual" ? Form::Residual : Form::Geometric;
}

CorrectorOptions corrector_from(const IntegratorOptions& options, double sigma) {
  CorrectorOptions out = corrector_with(options);
  const std::string& index = options.word("index");
  out.form = index == "stabilized" ? IndexForm::Stabilized
             : index == "2"        ? IndexForm::Index2
                                   : IndexForm::Index3;
  out.sigma = sigma;
  if (form_from(options) != Form::Geometric) out.local = LocalForm::Rates;
  out.chart = chart_from(options);
  if (options.word("variant") == "paper" && !out.local)
    out.update = sigma == 1 ? StageUpdate::Incremental : StageUpdate::Expanded;
  return out;
}

void check_combination(const IntegratorOptions& options, const Model& model) {
  const std::string& form = options.word("form");
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw InputError("integrator generalized-alpha", what, hint);
  };
  if (form == "geometric" && options.word("coordinates") != "exp")
    refuse(fmt::format("form=geometric moves along the exponential map, got coordinates={}",
                       options.word("coordinates")),
           "other local coordinates need form=linear or form=residual");
  if (form != "geometric" && options.given("sigma"))
    refuse(fmt::format("sigma needs form=geometric, got form={}", form), "leave sigma out");
  if (options.number("predictor_factor") != 1 && options.word("variant") != "paper")
    refuse("predictor_factor needs variant=paper",
           "the exact relation does not depend on the initial guess of Newton's method");
  if (form != "geometric" && options.word("variant") == "paper")
    refuse(fmt::format("variant=paper needs form=geometric, got form={}", form), "leave variant out");
  if (form == "residual" && model.has_conventional_nodes())
    refuse("form=residual needs a Lie group formulation",
           "choose --formulation r3so3, r3so3-spatial or se3, or form=linear");
  if (form == "residual" && options.word("start") == "corrected")
    refuse("start=corrected cannot be combined with form=residual, which is of first order anyway",
           "leave start out");
}

template <class S>
class GeneralizedAlpha final : public IntegratorOf<S> {
 public:
  GeneralizedAlpha(const SystemOf<S>& system, const IntegratorOptions& options)
      : system_(&system),
        parameters_(parameters_from(options)),
        sigma_(sigma_from(options, parameters_)),
        form_(form_from(options)),
        predictor_(system.model().nodes),
        corrected_start_(options.word("start") == "corrected"),
        starts_from_zero_(options.word("predictor") == "zero"),
        predictor_factor_(options.number("predictor_factor")),
        tolerances_(options),
        corrector_(system, corrector_from(options, sigma_)),
        text_(options.text()) {
    check_combination(options, system.model());
    corrector_.expect_similar_solves();
    if constexpr (is_varied<S>) corrector_.leave_theta();
    stage_size_ = static_cast<std::size_t>(system.model().stage_size);
    if (form_ != Form::Geometric) local_a_.resize(stage_size_);
    for (const Node& node : system.model().nodes)
      if (has_body_angles(node)) ++body_angles_;
  }

  void start(StateOf<S>& state, double h, WorkOf<S>& work) override {
    tolerances_.measure(*system_, state, work);
    corrector_.prepare(state, work);
    careful_.reset();
    if (in_parameter_space()) {
      for (std::vector<S>* of : {&state.y, &state.ydot, &state.yddot}) of->assign(stage_size_, S(0));
      for (const Node& node : system_->model().nodes)
        start_parameters(node, state.q.data(), state.v.data(), state.vdot.data(), state.y.data(),
                         state.ydot.data(), state.yddot.data());
    }
    state.memory.assign(memory_size(), S(0));
    predictor_.start(stage_size_, state.lambda.size());
    state.eta = std::vector<S>(form() == IndexForm::Stabilized ? state.lambda.size() : 0, S(0));
    const std::vector<S>& yddot = accelerations(state);
    std::copy(yddot.begin(), yddot.end(), state.memory.begin());  // a_0 = vdot_0
    for_each_body_angles(state.memory, [&](const Node& node, S* b) {
      Eigen::Map<Vec3T<S>>{b} = angle_rates(node, state.y.data(), state.v.data(), state.vdot.data()).second;
    });
    if (tolerances_.adaptive()) std::copy_n(state.memory.data(), motion_size(), before_of(state));
    if (form_ == Form::Residual) store_covector(state, work);
    if (corrected_start_) correct_start(state, h);
    state.memory.back() = S(h);
    if (tolerances_.adaptive() || form_ == Form::Residual) changed_ = state;
    if (tolerances_.adaptive()) {
      probe_ = state;
      changes_.assign(motion_size(), S(0));
      difference_.assign(stage_size_, S(0));
      error_.assign(stage_size_, S(0));
      smooth_.assign(state.v.size(), S(0));
    }
  }

  Attempt step(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    return attempt(corrector_, from, h, to, work);
  }
  Attempt step_carefully(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    if (!careful_) make_careful(from, work);
    corrector_.forget_matrix();
    careful_->forget_matrix();
    return attempt(*careful_, from, h, to, work);
  }
  // a_n is an acceleration near t_n, and changes as they do.
  void follow_jump(const std::vector<S>& vdot_before, StateOf<S>& state, WorkOf<S>& work) override {
    if constexpr (!is_varied<S>) {
      corrector_.forget_past();
      if (careful_) careful_->forget_past();
    }
    predictor_.start(stage_size_, state.lambda.size());
    std::vector<S> change = state.vdot, jump(motion_size(), S(0));
    for (std::size_t i = 0; i < change.size(); ++i) change[i] -= vdot_before[i];
    if (in_parameter_space()) {
      for (const Node& node : system_->model().nodes)
        add_rates_of_velocity(node, state.y.data(), change.data(), jump.data());
      for (std::size_t i = 0; i < stage_size_; ++i) state.yddot[i] += jump[i];
    } else {
      std::copy(change.begin(), change.end(), jump.begin());
    }
    for_each_body_angles(jump, [&](const Node& node, S* b) {
      Eigen::Map<Vec3T<S>>{b} = angle_rates(node, state.y.data(), change.data(), change.data()).first;
    });
    for (std::size_t i = 0; i < jump.size(); ++i) state.memory[i] += jump[i];
    if (tolerances_.adaptive())
      for (std::size_t i = 0; i < jump.size(); ++i) before_of(state)[i] += jump[i];
    if (form_ == Form::Residual) store_covector(state, work);
  }
  void archive(Archive& a, const StateOf<S>& state, WorkOf<S>& work) override {
    if constexpr (!is_varied<S>) {
      bool has_careful = careful_ != nullptr, has_plain = plain_ != nullptr;
      a(corrector_, predictor_, tolerances_, has_careful, has_plain);
      if (has_careful) {
        if (!careful_) make_careful(state, work);
        a(*careful_);
      }
      if (has_plain) {
        if (!plain_) plain_ = std::make_unique<Work>(*system_);
        plain_->archive(*system_, a);
      }
    }
  }
  IndexForm form() const override { return corrector_.options().form; }
  StepControl control() const override { return tolerances_.control(2); }
  std::string describe() const override { return text_; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> out = parameters_.warnings();
    if (form_ == Form::Residual)
      out.emplace_back(
          "form=residual is of first order where bodies rotate (Brüls and Eberhard, Sec. 6); form=linear and "
          "form=geometric are of second");
    return out;
  }

 private:
  // When it is first needed, which is seldom.
  void make_careful(const StateOf<S>& state, WorkOf<S>& work) {
    careful_ = std::make_unique<CorrectorOf<S>>(*system_, careful(corrector_.options()));
    careful_->prepare(state, work);
  }

  // State::memory: a, then the b of Cardan angles with body velocities, then g_alpha of the residual form, then for adaptive steps the accelerations
  // at the beginning of the last step, laid out as a and b, then the last h.
  std::size_t motion_size() const { return stage_size_ + 3 * body_angles_; }
  std::size_t place_before() const { return motion_size() + (form_ == Form::Residual ? stage_size_ : 0); }
  std::size_t memory_size() const {
    return place_before() + (tolerances_.adaptive() ? motion_size() : 0) + 1;
  }
  S* covector_of(StateOf<S>& state) const { return state.memory.data() + motion_size(); }
  S* before_of(StateOf<S>& state) const { return state.memory.data() + place_before(); }
  static bool has_body_angles(const Node& node) {
    return has_cardan_angles(node.type) && !has_cardan_rates(node.type);
  }
  template <class Memory, class Visit>
  void for_each_body_angles(Memory& memory, const Visit& visit) const {
    if (body_angles_ == 0) return;
    auto* b = memory.data() + stage_size_;
    for (const Node& node : system_->model().nodes)
      if (has_body_angles(node)) visit(node, b), b += 3;
  }

  bool in_parameter_space() const { return corrector_.uses_parameters(); }
  const std::vector<S>& rates(const StateOf<S>& state) const {
    return in_parameter_space() ? state.ydot : state.v;
  }
  const std::vector<S>& accelerations(const StateOf<S>& state) const {
    return in_parameter_space() ? state.yddot : state.vdot;
  }
  bool has_bracket(const Node& node) const { return form_ == Form::Geometric && !is_conventional(node.type); }

  // Tables 1 and 2 of Arnold, Cardona, Brüls: a_0 = vdot_0 + Delta_alpha h vddot_0, and in index 3
  //   v_0 += h^2 M^-1 B^T (B M^-1 B^T)^-1 B (C_q vddot_0 + kappa v^ vdot_0),
  // with the accelerations of the coordinates that the stage advances.
  void correct_start(StateOf<S>& state, double h) const {
    constexpr double kShift = 0.1;
    WorkOf<S> plain(*system_);
    const double delta = parameters_.alpha_m - parameters_.alpha_f;
    std::vector<S> jerk(stage_size_ + 3 * body_angles_, S(0)), theta;  // laid out as the memory
    for (const double sign : {1.0, -1.0}) {
      StateOf<S> shifted;
      if (!shifted_state(*system_, state, sign * kShift * h, shifted, theta, plain)) return;
      if (in_parameter_space()) {
        for (const Node& node : system_->model().nodes) {
          if (is_conventional(node.type))
            start_parameters(node, shifted.q.data(), shifted.v.data(), shifted.vdot.data(), shifted.y.data(),
                             shifted.ydot.data(), shifted.yddot.data());
          else
            local_rates(node, corrector_.options().chart, theta.data(), shifted.v.data(), shifted.vdot.data(),
                        shifted.ydot.data(), shifted.yddot.data());
        }
      }
      const double weight = sign / (2 * kShift * h);
      const std::vector<S>& now = accelerations(shifted);
      for (std::size_t i = 0; i < stage_size_; ++i) jerk[i] += weight * now[i];
      for_each_body_angles(jerk, [&](const Node& node, S* b) {
        Eigen::Map<Vec3T<S>>{b} +=
            weight * angle_rates(node, shifted.y.data(), shifted.v.data(), shifted.vdot.data()).second;
      });
    }
    for (std::size_t i = 0; i < jerk.size(); ++i) state.memory[i] += delta * h * jerk[i];
    if (tolerances_.adaptive())
      for (std::size_t i = 0; i < jerk.size(); ++i) before_of(state)[i] -= h * jerk[i];
    if (form() != IndexForm::Index3) return;

    std::vector<S> defect(state.v.size(), S(0));
    for (const Node& node : system_->model().nodes) {
      velocity_of_rates(node, state.y.data(), jerk.data(), defect.data());
      for (int i = 0; i < node_size(node.type).v; ++i)
        defect[at(node.v + i)] *= h * h * coefficient_of_jerk();
      if (has_bracket(node))
        add_bracket(node.type, state.v.data() + node.v, state.vdot.data() + node.v,
                    h * h * bracket_coefficient(), defect.data() + node.v);
      add_radial_rates(node, state.y.data(), jerk.data(), h * h * coefficient_of_jerk(), state.ydot.data());
    }
    const std::vector<S> change = constrained_part(*system_, state, defect, plain);
    if (!change.empty()) add_velocity(state, change.data());
  }

  // v += change, and the rates of the parameters with it.
  void add_velocity(StateOf<S>& state, const S* change) const {
    for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] += change[i];
    if (!in_parameter_space()) return;
    for (const Node& node : system_->model().nodes)
      add_rates_of_velocity(node, state.y.data(), change, state.ydot.data());
  }

  // A step of another size. The smooth part of the solution has a_n = vdot(t_n + Delta_alpha h) + O(h^2), and in index 3
  //   B v_n + Phi_t = h^2 B (C_q vddot + kappa v^ vdot) + O(h^3):
  // both differences are carried over to the new h by their ratios, h+/h and (h+/h)^2. What is not smooth, such as what a jump of a force leaves in a_n, would grow
  // with the steps: of each difference only that part counts which the change of the accelerations in the last step, D = h vddot, explains.
  const StateOf<S>& with_step(const StateOf<S>& from, double h) {
    const double before = value(from.memory.back());
    // The last step before an output time may differ by round-off only.
    if (std::abs(h - before) <= 1e-9 * before || form_ == Form::Residual) return from;
    changed_ = from;
    const double ratio = h / before;
    const std::vector<S>& yddot = accelerations(from);
    std::vector<S>& a = changed_.memory;
    const bool limits = tolerances_.adaptive();
    const double most = 2 * std::abs(parameters_.alpha_m - parameters_.alpha_f) + kUnknown;
    if (limits) find_changes(from, before);
    for (std::size_t i = 0; i < stage_size_; ++i) a[i] -= yddot[i];
    if (limits) for_each_part([&](const Part& part) { limit(part, a.data(), changes_.data(), most); });
    for (std::size_t i = 0; i < stage_size_; ++i) a[i] = yddot[i] + ratio * a[i];
    for_each_body_angles(a, [&](const Node& node, S* b) {
      const Vec3T<S> exact = angle_rates(node, from.y.data(), from.v.data(), from.vdot.data()).second;
      for (int k = 0; k < 3; ++k) b[k] -= exact[k];
      if (limits) limit({0, 3, -1}, b, changes_.data() + (b - a.data()), most);
      for (int k = 0; k < 3; ++k) b[k] = exact[k] + ratio * b[k];
    });
    if (form() == IndexForm::Index3) scale_forbidden_velocities(from, before, ratio);
    return changed_;
  }
  // What D explains beyond the leading term, which may have a small factor.
  static constexpr double kUnknown = 0.5;

  // The place or the rotation of a node, as numbers of a stage.
  struct Part {
    int first, count, extra;
  };
  template <class Visit>
  void for_each_part(const Visit& visit) const {
    for (const Node& node : system_->model().nodes) {
      const int places = place_count(node.type), size = node_size(node.type).v;
      if (places > 0) visit(Part{node.v, places, -1});
      if (size > places) visit(Part{node.v + places, size - places, node.extra});
    }
  }
  static double norm(const Part& part, const S* x) {
    double sum = part.extra < 0 ? 0 : value(x[part.extra]) * value(x[part.extra]);
    for (int i = part.first; i < part.first + part.count; ++i) sum += value(x[i]) * value(x[i]);
    return std::sqrt(sum);
  }
  // |x| <= most |D|
  static void limit(const Part& part, S* x, const S* D, double most) {
    const double size = norm(part, x), bound = most * norm(part, D);
    if (size <= bound) return;
    for (int i = part.first; i < part.first + part.count; ++i) x[i] *= bound / size;
    if (part.extra >= 0) x[part.extra] *= bound / size;
  }

  // D of the accelerations that the memory holds. Local coordinates of rotations have theirs in y''' = vddot + v^ vdot/2.
  void find_changes(const StateOf<S>& from, double h) {
    const S* earlier = from.memory.data() + place_before();
    const std::vector<S>& yddot = accelerations(from);
    for (std::size_t i = 0; i < stage_size_; ++i) changes_[i] = S(value(yddot[i]) - value(earlier[i]));
    for (const Node& node : system_->model().nodes)
      if (form_ == Form::Linear && !is_conventional(node.type))
        add_bracket(node.type, from.v.data() + node.v, from.vdot.data() + node.v, h / 2,
                    changes_.data() + node.v);
    std::size_t i = stage_size_;
    for_each_body_angles(from.memory, [&](const Node& node, const S*) {
      const Vec3T<S> exact = angle_rates(node, from.y.data(), from.v.data(), from.vdot.data()).second;
      for (int k = 0; k < 3; ++k, ++i) changes_[i] = S(value(exact[k]) - value(earlier[i]));
    });
  }

  // Of velocities that the constraints forbid, and of Euler parameters along themselves.
  void scale_forbidden_velocities(const StateOf<S>& from, double before, double ratio) {
    const bool limits = tolerances_.adaptive();
    const double growth = ratio * ratio - 1;
    if (limits) find_smooth_velocity(from, before);
    for (const Node& node : system_->model().nodes) {
      if (node.extra < 0) continue;
      double factor = growth;
      if (limits) {
        const double radial = std::abs(radial_rate(node, from.y.data(), from.ydot.data())),
                     most = std::abs(radial_rate(node, from.y.data(), difference_.data()));
        if (radial > most) factor = ratio * ratio * most / radial - 1;
      }
      add_radial_rates(node, from.y.data(), from.ydot.data(), factor, changed_.ydot.data());
    }
    if (system_->model().rows == 0) return;
    if (!plain_) plain_ = std::make_unique<WorkOf<S>>(*system_);
    if (!find_forbidden_velocity(from)) return;
    if (limits) {
      // The forbidden part of the smooth velocity is what it changes.
      probe_ = from;
      for (std::size_t i = 0; i < smooth_.size(); ++i) probe_.v[i] += smooth_[i];
      std::swap(forbidden_, smooth_);
      if (!find_forbidden_velocity(probe_)) return;
      std::swap(forbidden_, smooth_);
      for (std::size_t i = 0; i < smooth_.size(); ++i) {
        smooth_[i] -= forbidden_[i];
        error_[i] = forbidden_[i];
      }
      for_each_part([&](const Part& part) {
        limit({part.first, part.count, -1}, error_.data(), smooth_.data(), 1);
      });
      for (std::size_t i = 0; i < smooth_.size(); ++i)
        forbidden_[i] = ratio * ratio * error_[i] - forbidden_[i];
    } else {
      for (S& x : forbidden_) x *= growth;
    }
    add_velocity(changed_, forbidden_.data());
  }
  // Several times h^2 (C_q vddot + kappa v^ vdot): the next terms are larger by h times the frequency, but have no small factor.
  void find_smooth_velocity(const StateOf<S>& from, double h) {
    constexpr double kTimes = 5;
    for (std::size_t i = 0; i < stage_size_; ++i)
      difference_[i] = kTimes * h * coefficient_of_jerk() * changes_[i];
    for (const Node& node : system_->model().nodes) {
      velocity_of_rates(node, from.y.data(), difference_.data(), smooth_.data());
      if (has_bracket(node))
        add_bracket(node.type, from.v.data() + node.v, from.vdot.data() + node.v,
                    kTimes * h * h * bracket_coefficient(), smooth_.data() + node.v);
    }
  }
  static double radial_rate(const Node& node, const S* y, const S* rates) {
    double sum = value(y[node.extra]) * value(rates[node.extra]);
    for (int i = 0; i < 3; ++i) {
      const int k = node.v + rotation_start(node.type) + i;
      sum += value(y[k]) * value(rates[k]);
    }
    return sum;
  }

  bool find_forbidden_velocity(const StateOf<S>& state) {
    if (!forbidden_velocity(*system_, state, *plain_)) return false;
    forbidden_.assign(plain_->right.begin(),
                      plain_->right.begin() + static_cast<std::ptrdiff_t>(state.v.size()));
    return true;
  }

  double coefficient_of_jerk() const {
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    return (1 - 6 * beta - 3 * (alpha_m - alpha_f)) / 6;  // C_q
  }

  // kappa: the coefficient of v^ vdot in the local error of q. For the algorithms as printed it is that of their
  // predictors, which their corrections never remove.
  double bracket_coefficient() const {
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    const double weight = sigma_ * beta / gamma;
    if (corrector_.options().update == StageUpdate::Exact) return 0.25 * (1.0 / 3 - weight);
    const double share = (1 - alpha_f) / (1 - alpha_m);
    return 1.0 / 12 - weight * (predictor_factor_ * (0.5 - share * (gamma - beta)) + 0.5 * share * gamma);
  }

  Attempt attempt(CorrectorOf<S>& corrector, const StateOf<S>& last, double h, StateOf<S>& to,
                  WorkOf<S>& work) {
    const StateOf<S>& from = with_step(last, h);
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    const std::vector<S>&v = rates(from), &vdot = accelerations(from);
    const std::vector<S>& a = from.memory;
    // a_{n+1} = known + share vdot_{n+1}; v and theta follow. In the residual form a_{n+1} itself is what is solved for:
    // with vdot = a_{n+1}/share in its place, (1 - alpha_f) r is the weighted residual of Eq. (79) of Brüls and Eberhard.
    const double share = (1 - alpha_f) / (1 - alpha_m);
    const double of_vdot = form_ == Form::Residual ? 0 : alpha_f / (1 - alpha_m);
    const double of_a = form_ == Form::Residual ? 0 : -alpha_m / (1 - alpha_m);
    const double part = h * sigma_ * beta / gamma;
    Stage stage;
    stage.c_1 = h * h * beta * share * (1 - sigma_);
    stage.c_2 = part;
    stage.c_v = h * gamma * share;
    const bool exact = corrector.options().update == StageUpdate::Exact;
    to.t = from.t + h;
    // V = v + h (1 - gamma) a + h gamma known,  Theta = h v + h^2 (1/2 - beta) a + h^2 beta known - part V
    const double vdot_in_V = h * gamma * of_vdot, a_in_V = h * (1 - gamma) + h * gamma * of_a;
    const double v_in_Theta = h - part, vdot_in_Theta = h * h * beta * of_vdot - part * vdot_in_V,
                 a_in_Theta = h * h * (0.5 - beta + beta * of_a) - part * a_in_V;
    const bool extrapolates =
        exact && form_ == Form::Geometric && !starts_from_zero_ && predictor_.reaches(last.t, h);
    parallel_for(work.threads.get(), stage_size_, [&](std::size_t begin, std::size_t end) {
      combine(v.data(), 1, vdot.data(), vdot_in_V, a.data(), a_in_V, begin, end, corrector.V.data());
      combine(v.data(), v_in_Theta, vdot.data(), vdot_in_Theta, a.data(), a_in_Theta, begin, end,
              corrector.Theta.data());
      // Predictor: a_{n+1} = a_n, or vdot_{n+1} = 0. What is found does not depend on it, nor do derivatives.
      if (starts_from_zero_)
        for (std::size_t i = begin; i < end; ++i)
          corrector.theta[i] = value(corrector.Theta[i]) + part * value(corrector.V[i]);
      else if (!extrapolates)
        for (std::size_t i = begin; i < end; ++i)
          corrector.theta[i] = h * value(v[i]) + 0.5 * h * h * value(a[i]);
    });
    if (extrapolates) predictor_.predict(corrector, stage, from, vdot, to.lambda, work);
    // phi_{n+1} = phi_n + h phi'_n + h^2 (1/2 - beta) b_n + h^2 beta b_{n+1}, with b_{n+1} eliminated by phi'_{n+1} =
    // phi'_n + h (1 - gamma) b_n + h gamma b_{n+1}: c_1 = 0, c_2 = h beta/gamma.
    for_each_body_angles(from.memory, [&](const Node& node, const S* b_n) {
      const Eigen::Map<const Vec3T<S>> b(b_n);
      const Vec3T<S> angles = angle_rates(node, from.y.data(), from.v.data(), from.vdot.data()).first;
      const int i = node.v + rotation_start(node.type);
      Eigen::Map<Vec3T<S>>{&corrector.Theta[at(i)]} =
          h * (1 - beta / gamma) * angles + h * h * (0.5 - beta / gamma) * b;
      if (starts_from_zero_)
        Eigen::Map<Vec3T<S>>{&corrector.theta[at(i)]} =
            Eigen::Map<Vec3T<S>>{&corrector.Theta[at(i)]} +
            h * beta / gamma * angle_rates(node, from.y.data(), corrector.V.data(), from.vdot.data()).first;
      else
        Eigen::Map<Vec3T<S>>{&corrector.theta[at(i)]} = h * angles + 0.5 * h * h * b;
    });
    if (form_ == Form::Residual) {
      const S* g = last.memory.data() + stage_size_ + 3 * body_angles_;
      corrector.covector.resize(stage_size_);
      for (std::size_t i = 0; i < stage_size_; ++i) corrector.covector[i] = g[i] / (1 - alpha_f);
    }
    if (exact) {
      to.eta = from.eta;
      if (starts_from_zero_)
        to.lambda.assign(from.lambda.size(), S(0));
      else if (!extrapolates)
        to.lambda = from.lambda;
    } else {
      if constexpr (!is_varied<S>) predict_as_printed(corrector, from, h, to);
    }
    Attempt out{corrector.solve(stage, h, from, to, work)};
    if (!out.converged()) return out;
    if (form_ == Form::Geometric) copy_group_rates(to);
    if constexpr (!is_varied<S>)
      if (tolerances_.adaptive()) out.error = estimate(from, to, h);

    const std::vector<S>& now = accelerations(to);
    if (exact && form_ == Form::Geometric) predictor_.keep(from, vdot, last.lambda, to, now, h);
    std::vector<S>& end_a = form_ == Form::Geometric ? to.memory : local_a_;
    combine(vdot.data(), of_vdot, a.data(), of_a, now.data(), share, 0, stage_size_, end_a.data());
    finish(corrector, stage, from, h, to, work);
    if (tolerances_.adaptive()) {
      std::copy(vdot.begin(), vdot.end(), before_of(to));
      S* earlier = before_of(to) + stage_size_;
      for_each_body_angles(from.memory, [&](const Node& node, const S*) {
        Eigen::Map<Vec3T<S>>{earlier} =
            angle_rates(node, from.y.data(), from.v.data(), from.vdot.data()).second;
        earlier += 3;
      });
    }
    to.memory.back() = S(h);
    return out;
  }

  // a of the end of the step into the memory, where it is not yet, and rates and accelerations that the next step starts with.
  void finish(CorrectorOf<S>& corrector, const Stage& stage, const StateOf<S>& from, double h, StateOf<S>& to,
              WorkOf<S>& work) {
    const double gamma = parameters_.gamma;
    for_each_body_angles(from.memory, [&](const Node& node, const S* b_n) {
      const Eigen::Map<const Vec3T<S>> b(b_n);
      const Vec3T<S> before = angle_rates(node, from.y.data(), from.v.data(), from.vdot.data()).first;
      const Vec3T<S> after = angle_rates(node, to.y.data(), to.v.data(), to.vdot.data()).first;
      Eigen::Map<Vec3T<S>>{to.memory.data() + (b_n - from.memory.data())} =
          (after - before) / (h * gamma) - (1 - gamma) / gamma * b;
    });
    if (form_ == Form::Geometric) return;
    const auto p = corrector.parameter_stage(stage, from, to);
    if (form_ == Form::Residual) {
      // What M multiplies besides a: T' y'.
      std::vector<S>& rest = corrector.V;
      std::fill(corrector.Theta.begin(), corrector.Theta.end(), S(0));
      for (const Node& node : system_->model().nodes)
        carry_over(node, p, corrector.Theta.data(), rest.data());
      for (const Node& node : system_->model().nodes) carry_over(node, p, local_a_.data(), to.memory.data());
      std::copy_n(to.memory.begin(), to.vdot.size(), to.vdot.begin());
      store_covector(to, rest, work);
    } else {
      for (const Node& node : system_->model().nodes) {
        if (is_conventional(node.type))
          copy_parameters(node, local_a_, to.memory);
        else
          carry_over(node, p, local_a_.data(), to.memory.data());
      }
    }
    copy_group_rates(to);
  }

  // Lie nodes start the next step with local coordinates zero, whose rates are the velocities.
  void copy_group_rates(StateOf<S>& to) const {
    if (!in_parameter_space()) return;
    for (const Node& node : system_->model().nodes) {
      if (is_conventional(node.type)) continue;
      const int count = node_size(node.type).v;
      std::fill_n(to.y.begin() + node.v, count, S(0));
      std::copy_n(to.v.begin() + node.v, count, to.ydot.begin() + node.v);
      std::copy_n(to.vdot.begin() + node.v, count, to.yddot.begin() + node.v);
    }
  }
  static void copy_parameters(const Node& node, const std::vector<S>& from, std::vector<S>& to) {
    std::copy_n(from.begin() + node.v, node_size(node.type).v, to.begin() + node.v);
    if (node.extra >= 0) to[at(node.extra)] = from[at(node.extra)];
  }

  // g_alpha = alpha_m M a + alpha_f (M T' y' + g + B^T lambda), Eq. (84) of Brüls and Eberhard in the node's own axes.
  void store_covector(StateOf<S>& state, const std::vector<S>& rest, WorkOf<S>& work) {
    const RowRequest none{false, false, false};
    system_->residual(state, work, none);
    S* g = covector_of(state);
    for (std::size_t i = 0; i < work.r.size(); ++i) g[i] = parameters_.alpha_m * work.r[i];
    changed_ = state;
    std::copy_n(rest.begin(), state.vdot.size(), changed_.vdot.begin());
    system_->residual(changed_, work, none);
    for (std::size_t i = 0; i < work.r.size(); ++i)
      g[i] += (parameters_.alpha_f - parameters_.alpha_m) * work.r[i];
  }
  void store_covector(StateOf<S>& state, WorkOf<S>& work) {
    store_covector(state, std::vector<S>(stage_size_, S(0)), work);
  }

  // The local error C_q h^3 vddot + kappa h^3 v^ vdot, per unit of time, relative to the tolerances: errors add up along the run.
  double estimate(const StateOf<S>& from, const StateOf<S>& to, double h) {
    const std::vector<S>&before = accelerations(from), &now = accelerations(to);
    difference_.resize(stage_size_);
    error_.resize(stage_size_);
    for (std::size_t i = 0; i < stage_size_; ++i)
      difference_[i] = h * coefficient_of_jerk() * (now[i] - before[i]);
    for (const Node& node : system_->model().nodes) {
      velocity_of_rates(node, to.y.data(), difference_.data(), error_.data());
      if (has_bracket(node))
        add_bracket(node.type, to.v.data() + node.v, to.vdot.data() + node.v, h * h * bracket_coefficient(),
                    error_.data() + node.v);
    }
    return tolerances_.worst_rate(*system_, error_, from, to);
  }

  // Lines 1 to 7 of Algorithms 1 to 3: vdot = 0, lambda = 0, theta = (1 - f sigma h (beta/gamma) v^) theta. f = 1 is printed; f = 1/2 is
  // what Eqs. (29) and (83) give, and what the authors' program has.
  void predict_as_printed(CorrectorOf<S>& corrector, const StateOf<S>& from, double h, StateOf<S>& to) const {
    const double part = h * sigma_ * parameters_.beta / parameters_.gamma;
    std::fill(to.lambda.begin(), to.lambda.end(), 0.0);
    std::fill(to.eta.begin(), to.eta.end(), 0.0);
    to.q = from.q;
    for (const Node& node : system_->model().nodes) {
      if (is_conventional(node.type)) continue;
      const int count = node_size(node.type).v;
      double* theta = corrector.theta.data() + node.v;
      for (int i = 0; i < count; ++i) {
        const std::size_t k = at(node.v + i);
        to.vdot[k] = 0;
        to.v[k] = corrector.V[k];
        theta[i] = corrector.Theta[k] + part * corrector.V[k];
      }
      double turned[6];
      std::copy_n(theta, count, turned);
      add_bracket(node.type, to.v.data() + node.v, theta, -predictor_factor_ * part, turned);
      std::copy_n(turned, count, theta);
      increment_position<double>(node.type, theta, to.q.data() + node.q);
    }
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // out = of_x x + of_y y + of_z z, for numbers begin to end - 1.
  static void combine(const S* x, double of_x, const S* y, double of_y, const S* z, double of_z,
                      std::size_t begin, std::size_t end, S* out) {
    for (std::size_t i = begin; i < end; ++i) out[i] = combination(of_x, x[i], of_y, y[i], of_z, z[i]);
  }

  const SystemOf<S>* system_;
  AlphaParameters parameters_;
  double sigma_;
  Form form_;
  Predictor<S> predictor_;
  bool corrected_start_;
  bool starts_from_zero_;    // Newton's method, with vdot = 0, lambda = 0
  double predictor_factor_;  // of variant=paper
  Tolerances tolerances_;
  CorrectorOf<S> corrector_;
  std::unique_ptr<CorrectorOf<S>> careful_;
  std::string text_;
  std::size_t stage_size_ = 0;   // Model::stage_size
  std::size_t body_angles_ = 0;  // nodes with Cardan angles and body velocities
  std::vector<S> local_a_, difference_, error_, forbidden_, smooth_;
  std::vector<S> changes_;  // of accelerations in the last step, laid out as the memory
  StateOf<S> probe_;
  StateOf<S> changed_;  // the last state, for a step of another size; scratch of the residual form
  std::unique_ptr<WorkOf<S>> plain_;  // for the projections that go with it
};

// On a vector space sigma, the forms and the index make no difference.
LinearProperties properties(const IntegratorOptions& options) {
  const AlphaParameters p = parameters_from(options);
  LinearProperties out;
  const double shift = p.alpha_m - p.alpha_f;
  out.order_defects = {0, std::abs(p.gamma - 0.5 + shift), std::abs(1 - 6 * p.beta - 3 * shift) / 6};
  // Of (x, h v, h^2 a): a_{n+1} from (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) f_{n+1} + alpha_f f_n with
  // f = 2 Re(z) h v - |z|^2 x.
  out.amplification = [p](std::complex<double> z) -> Eigen::MatrixXcd {
    using Row = Eigen::RowVector3d;
    const auto [alpha_m, alpha_f, beta, gamma] = p;
    const double damping = 2 * z.real(), square = std::norm(z);
    const Row x(1, 1, 0.5 - beta), v(0, 1, 1 - gamma);  // at the end, without a_{n+1}
    const Row f_begin(-square, damping, 0), f_end = damping * v - square * x;
    const Row a = (alpha_f * f_begin + (1 - alpha_f) * f_end - alpha_m * Row::UnitZ()) /
                  (1 - alpha_m - (1 - alpha_f) * (damping * gamma - square * beta));
    Eigen::Matrix3d step;
    step << x + beta * a, v + gamma * a, a;
    return step.cast<std::complex<double>>();
  };
  return out;
}

}  // namespace

ListedIntegrator generalized_alpha() {
  const auto free_parameter = [](const char* name) {
    return IntegratorOption{
        name, "auto", fmt::format("{}, instead of the value of the parameter set.", name), {"auto"}, -10, 10};
  };
  std::vector<IntegratorOption> known = {
      {"rho", "0.9", "Spectral radius at infinite frequency: 1 no numerical damping, 0 the most.", {}, 0, 1},
      {"sigma",
       "0",
       "Weight of the local coordinates' own rate: 0 is geom1, opt = gamma/(3 beta) removes the group's "
       "error term.",
       {"opt"},
       -10,
       10},
      {"form",
       "geometric",
       "On the group; or in local coordinates that are reset in every step, with accelerations (linear) or "
       "forces (residual) averaged.",
       {"geometric", "linear", "residual"}},
      {"coordinates",
       "exp",
       "Local coordinates of form=linear and form=residual.",
       {"exp", "conformal", "cayley"}},
      {"index",
       "3",
       "Constraints on positions (3), velocities (2), or both with a second multiplier (stabilized).",
       {"3", "2", "stabilized"}},
      {"variant",
       "exact",
       "The sigma relation solved exactly, or the published algorithms as printed.",
       {"exact", "paper"}},
      {"predictor_factor",
       "1",
       "For variant=paper: factor of h beta/gamma in line 6 of the algorithms, 1 as printed, 0.5 as in the "
       "authors' "
       "program.",
       {},
       0,
       1},
      {"predictor",
       "extrapolated",
       "Initial guess of Newton's method: accelerations and multipliers extrapolated from the last steps, or "
       "zero for both, as in the published algorithms.",
       {"extrapolated", "zero"}},
      {"start",
       "plain",
       "Initial values unchanged, or corrected so that the multipliers are of second order from the first "
       "step.",
       {"plain", "corrected"}},
      {"parameters",
       "chung-hulbert",
       "Parameter set: Chung-Hulbert, HHT-alpha (rho from 0.5) or Newmark (trapezoidal).",
       {"chung-hulbert", "hht", "newmark"}},
      free_parameter("alpha_m"),
      free_parameter("alpha_f"),
      free_parameter("beta"),
      free_parameter("gamma")};
  for (const std::vector<IntegratorOption>& shared : {newton_options(), step_control_options()})
    known.insert(known.end(), shared.begin(), shared.end());
  return {
      "generalized-alpha",
      "Generalised-alpha on Lie groups, with the sigma modification: second order, numerical damping by rho.",
      "Holzinger, Arnold, Gerstmayr, Eqs. (11)-(20), Algorithms 1-3; Arnold, Cardona, Brüls, Eqs. (37), "
      "(56), Tables 1 and 2; Brüls, Eberhard, Algorithms 2 and 3",
      known,
      [](const System& system, const IntegratorOptions& options) -> std::unique_ptr<Integrator> {
        return std::make_unique<GeneralizedAlpha<double>>(system, options);
      },
      [](const VariedSystem& system, const IntegratorOptions& options) -> std::unique_ptr<VariedIntegrator> {
        return std::make_unique<GeneralizedAlpha<Varied>>(system, options);
      },
      properties};
}

}  // namespace liedyn

#include "integrators/generalized_alpha.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "system/initial.h"

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
    out.push_back(
        fmt::format("alpha_m < alpha_f < 1/2 and gamma < 2 beta do not hold (alpha_m = {:.6g}, alpha_f = "
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

CorrectorOptions corrector_from(const IntegratorOptions& options, double sigma) {
  CorrectorOptions out;
  out.relative = options.number("newton_tol");
  out.modified = options.word("newton") == "modified";
  out.simplified = options.word("jacobian") == "simplified";
  out.line_search = options.word("line_search") == "true";
  const std::string& index = options.word("index");
  out.form = index == "stabilized" ? IndexForm::Stabilized
             : index == "2"        ? IndexForm::Index2
                                   : IndexForm::Index3;
  if (options.word("variant") == "paper")
    out.update = sigma == 1 ? StageUpdate::Incremental : StageUpdate::Expanded;
  out.sigma = sigma;
  return out;
}

CorrectorOptions careful(CorrectorOptions options) {
  options.modified = false;
  options.simplified = false;
  options.line_search = options.update == StageUpdate::Exact;
  options.max_iterations = 50;
  return options;
}

class GeneralizedAlpha final : public Integrator {
 public:
  GeneralizedAlpha(const System& system, const IntegratorOptions& options)
      : system_(&system),
        parameters_(parameters_from(options)),
        sigma_(sigma_from(options, parameters_)),
        corrected_start_(options.word("start") == "corrected"),
        corrector_(system, corrector_from(options, sigma_)),
        careful_(system, careful(corrector_.options())),
        text_(options.text()) {}

  void start(State& state, double h, Work& work) override {
    state.memory = state.vdot;  // a_0 = vdot_0
    if (corrected_start_) correct_start(state, h);
    corrector_.prepare(work);
    careful_.prepare(work);
  }

  Attempt step(const State& from, double h, State& to, Work& work) override {
    return attempt(corrector_, from, h, to, work);
  }
  Attempt step_carefully(const State& from, double h, State& to, Work& work) override {
    corrector_.forget_matrix();
    careful_.forget_matrix();
    return attempt(careful_, from, h, to, work);
  }
  IndexForm form() const override { return corrector_.options().form; }
  std::string describe() const override { return text_; }
  std::vector<std::string> warnings() const override { return parameters_.warnings(); }

 private:
  // Tables 1 and 2 of Arnold, Cardona, Brüls: a_0 = vdot_0 + Delta_alpha h vddot_0, and in index 3
  //   v_0 += h^2 M^-1 B^T (B M^-1 B^T)^-1 B (C_q vddot_0 + kappa v^ vdot_0).
  void correct_start(State& state, double h) const {
    constexpr double kShift = 0.1;
    Work plain(*system_);
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    const double delta = alpha_m - alpha_f;
    const std::vector<double> jerk = estimate_jerk(*system_, state, kShift * h, plain);
    if (jerk.empty()) return;
    for (std::size_t i = 0; i < jerk.size(); ++i) state.memory[i] += delta * h * jerk[i];
    if (form() != IndexForm::Index3) return;
    const double c_q = (1 - 6 * beta - 3 * delta) / 6;
    std::vector<double> defect(jerk.size());
    for (std::size_t i = 0; i < jerk.size(); ++i) defect[i] = h * h * c_q * jerk[i];
    for (const Node& node : system_->model().nodes)
      add_bracket(node.type, state.v.data() + node.v, state.vdot.data() + node.v,
                  h * h * bracket_coefficient(), defect.data() + node.v);
    const std::vector<double> change = constrained_part(*system_, state, defect, plain);
    for (std::size_t i = 0; i < change.size(); ++i) state.v[i] += change[i];
  }

  // kappa: the coefficient of v^ vdot in the local error of q. For the algorithms as printed it is that of their
  // predictors, which their corrections never remove.
  double bracket_coefficient() const {
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    switch (corrector_.options().update) {
      case StageUpdate::Exact: return 0.25 * (1.0 / 3 - sigma_ * beta / gamma);
      case StageUpdate::Incremental:
        return 1.0 / 12 -
               beta / gamma * (0.5 + (gamma - 0.5) * (gamma - 0.5) * (1 - alpha_f) / (4 * (1 - alpha_m)));
      case StageUpdate::Expanded: return 1.0 / 12 - sigma_ * beta / gamma * 0.5;
    }
    return 0;
  }

  Attempt attempt(Corrector& corrector, const State& from, double h, State& to, Work& work) const {
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    const std::vector<double>& a = from.memory;
    // a_{n+1} = known + share vdot_{n+1}; v and theta follow.
    const double share = (1 - alpha_f) / (1 - alpha_m);
    const double part = h * sigma_ * beta / gamma;
    Stage stage;
    stage.c_1 = h * h * beta * share * (1 - sigma_);
    stage.c_2 = part;
    stage.c_v = h * gamma * share;
    const bool exact = corrector.options().update == StageUpdate::Exact;
    to.t = from.t + h;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double known = (alpha_f * from.vdot[i] - alpha_m * a[i]) / (1 - alpha_m);
      corrector.V[i] = from.v[i] + h * ((1 - gamma) * a[i] + gamma * known);
      corrector.Theta[i] =
          h * from.v[i] + h * h * ((0.5 - beta) * a[i] + beta * known) - part * corrector.V[i];
      // Predictor: a_{n+1} = a_n.
      corrector.theta[i] = h * from.v[i] + 0.5 * h * h * a[i];
    }
    if (exact) {
      to.lambda = from.lambda;
      to.eta = from.eta;
    } else {
      predict_as_printed(corrector, from, h, to);
    }
    const Attempt out{corrector.solve(stage, h, from, to, work)};
    for (std::size_t i = 0; i < a.size(); ++i)
      to.memory[i] = (alpha_f * from.vdot[i] - alpha_m * a[i]) / (1 - alpha_m) + share * to.vdot[i];
    return out;
  }

  // Lines 1 to 7 of Algorithms 1 to 3: vdot = 0, lambda = 0, theta = (1 - sigma h (beta/gamma) v^) theta.
  void predict_as_printed(Corrector& corrector, const State& from, double h, State& to) const {
    const double part = h * sigma_ * parameters_.beta / parameters_.gamma;
    for (std::size_t i = 0; i < from.v.size(); ++i) {
      to.vdot[i] = 0;
      to.v[i] = corrector.V[i];
      corrector.theta[i] = corrector.Theta[i] + part * corrector.V[i];
    }
    std::fill(to.lambda.begin(), to.lambda.end(), 0.0);
    std::fill(to.eta.begin(), to.eta.end(), 0.0);
    to.q = from.q;
    for (const Node& node : system_->model().nodes) {
      double* theta = corrector.theta.data() + node.v;
      double turned[6];
      std::copy_n(theta, node_size(node.type).v, turned);
      add_bracket(node.type, to.v.data() + node.v, theta, -part, turned);
      std::copy_n(turned, node_size(node.type).v, theta);
      increment_position<double>(node.type, theta, to.q.data() + node.q);
    }
  }

  const System* system_;
  AlphaParameters parameters_;
  double sigma_;
  bool corrected_start_;
  Corrector corrector_;
  Corrector careful_;
  std::string text_;
};

}  // namespace

ListedIntegrator generalized_alpha() {
  const auto free_parameter = [](const char* name) {
    return IntegratorOption{
        name,     "auto", fmt::format("{} itself, instead of the one of the parameter set.", name),
        {"auto"}, -10,    10};
  };
  return {
      "generalized-alpha",
      "Generalised-alpha on Lie groups, with the sigma modification: second order, numerical damping by rho.",
      "Holzinger, Arnold, Gerstmayr, Eqs. (11)-(20), Algorithms 1-3; Arnold, Cardona, Brüls, Eqs. (37), "
      "(56), Tables 1 and 2",
      {{"rho", "0.9", "Spectral radius at infinite frequency: 1 no numerical damping, 0 the most.", {}, 0, 1},
       {"sigma",
        "0",
        "Weight of the local coordinates' own rate: 0 is geom1, opt = gamma/(3 beta) removes the group's "
        "error term.",
        {"opt"},
        -10,
        10},
       {"index",
        "3",
        "Constraints on positions (3), velocities (2), or both with a second multiplier (stabilized).",
        {"3", "2", "stabilized"}},
       {"variant",
        "exact",
        "The sigma relation solved exactly, or the published algorithms as printed.",
        {"exact", "paper"}},
       {"start",
        "plain",
        "Starting values as they are, or corrected so that the multipliers are of second order from the "
        "start.",
        {"plain", "corrected"}},
       {"parameters",
        "chung-hulbert",
        "Parameter set: Chung-Hulbert, HHT-alpha (rho from 0.5) or Newmark (trapezoidal).",
        {"chung-hulbert", "hht", "newmark"}},
       free_parameter("alpha_m"),
       free_parameter("alpha_f"),
       free_parameter("beta"),
       free_parameter("gamma"),
       {"newton",
        "full",
        "A new matrix in every iteration, or only when the contraction is worse than 0.5.",
        {"full", "modified"}},
       {"jacobian", "full", "simplified: without the tangent operators.", {"full", "simplified"}},
       {"line_search", "false", "Armijo line search in Newton's method.", {"false", "true"}},
       {"newton_tol",
        "1e-8",
        "Residual at which Newton's method stops, relative to the forces at work.",
        {},
        1e-15,
        1}},
      [](const System& system, const IntegratorOptions& options) -> std::unique_ptr<Integrator> {
        return std::make_unique<GeneralizedAlpha>(system, options);
      }};
}

}  // namespace liedyn

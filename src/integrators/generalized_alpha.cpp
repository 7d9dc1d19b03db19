#include "integrators/generalized_alpha.h"

#include <algorithm>

namespace liedyn {

AlphaParameters AlphaParameters::from_rho(double rho) {
  const double alpha_m = (2 * rho - 1) / (rho + 1);
  const double alpha_f = rho / (rho + 1);
  const double gamma = 0.5 + alpha_f - alpha_m;
  return {alpha_m, alpha_f, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma};
}

namespace {

class GeneralizedAlpha final : public Integrator {
 public:
  GeneralizedAlpha(const System& system, const IntegratorOptions& options)
      : parameters_(AlphaParameters::from_rho(options.number("rho"))),
        sigma_(sigma_of(options, parameters_)),
        corrector_(system, corrector_options(options)),
        careful_(system, careful_options(corrector_.options())),
        text_(options.text()) {}

  // a_0 = vdot_0, the plain start.
  void start(State& state, double, Work& work) override {
    state.memory = state.vdot;
    corrector_.prepare(work);
    careful_.prepare(work);
  }

  Attempt step(const State& from, double h, State& to, Work& work) override { return attempt(corrector_, from, h, to, work); }
  Attempt step_carefully(const State& from, double h, State& to, Work& work) override {
    corrector_.forget_matrix();
    careful_.forget_matrix();
    return attempt(careful_, from, h, to, work);
  }
  IndexForm form() const override { return corrector_.options().form; }
  std::string describe() const override { return text_; }

 private:
  static double sigma_of(const IntegratorOptions& options, const AlphaParameters& p) {
    return options.word("sigma") == "opt" ? p.gamma / (3 * p.beta) : options.number("sigma");
  }
  static CorrectorOptions corrector_options(const IntegratorOptions& options) {
    CorrectorOptions out;
    out.relative = options.number("newton_tol");
    out.modified = options.word("newton") == "modified";
    out.simplified = options.word("jacobian") == "simplified";
    out.line_search = options.word("line_search") == "true";
    const std::string& index = options.word("index");
    out.form = index == "stabilized" ? IndexForm::Stabilized : index == "2" ? IndexForm::Index2 : IndexForm::Index3;
    return out;
  }
  static CorrectorOptions careful_options(CorrectorOptions options) {
    options.modified = false;
    options.simplified = false;
    options.line_search = true;
    options.max_iterations = 50;
    return options;
  }

  Attempt attempt(Corrector& corrector, const State& from, double h, State& to, Work& work) const {
    const auto [alpha_m, alpha_f, beta, gamma] = parameters_;
    const std::vector<double>& a = from.memory;
    // a_{n+1} = known + share vdot_{n+1} by (37d); v and theta follow.
    const double share = (1 - alpha_f) / (1 - alpha_m);
    const double part = h * sigma_ * beta / gamma;
    Stage stage;
    stage.c_1 = h * h * beta * share * (1 - sigma_);
    stage.c_2 = part;
    stage.c_v = h * gamma * share;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double known = (alpha_f * from.vdot[i] - alpha_m * a[i]) / (1 - alpha_m);
      corrector.V[i] = from.v[i] + h * ((1 - gamma) * a[i] + gamma * known);
      corrector.Theta[i] = h * from.v[i] + h * h * ((0.5 - beta) * a[i] + beta * known) - part * corrector.V[i];
      // Predictor: a_{n+1} = a_n.
      corrector.theta[i] = h * from.v[i] + 0.5 * h * h * a[i];
    }
    to.t = from.t + h;
    to.lambda = from.lambda;
    to.eta = from.eta;
    const Attempt out{corrector.solve(stage, h, from, to, work)};
    for (std::size_t i = 0; i < a.size(); ++i)
      to.memory[i] = (alpha_f * from.vdot[i] - alpha_m * a[i]) / (1 - alpha_m) + share * to.vdot[i];
    return out;
  }

  AlphaParameters parameters_;
  double sigma_;
  Corrector corrector_;
  Corrector careful_;
  std::string text_;
};

}  // namespace

ListedIntegrator generalized_alpha() {
  return {"generalized-alpha",
          "Generalised-alpha on Lie groups (geom1), index 3: second order, numerical damping by rho.",
          "Arnold, Cardona, Brüls: A Lie algebra approach to Lie group time integration of constrained systems, Eqs. (37)",
          {{"rho", "0.9", "Spectral radius at infinite frequency: 1 no numerical damping, 0 the most.", {}, 0, 1},
           {"sigma", "0", "Weight of the local coordinates' own rate: 0 is geom1, opt = gamma/(3 beta) removes the group's error term.", {"opt"}, -10, 10},
           {"index", "3", "Constraints on positions (3), velocities (2), or both with a second multiplier (stabilized).", {"3", "2", "stabilized"}},
           {"newton", "full", "A new matrix in every iteration, or only when the contraction is worse than 0.5.", {"full", "modified"}},
           {"jacobian", "full", "simplified: without the tangent operators.", {"full", "simplified"}},
           {"line_search", "false", "Armijo line search in Newton's method.", {"false", "true"}},
           {"newton_tol", "1e-8", "Residual at which Newton's method stops, relative to the forces at work.", {}, 1e-15, 1}},
          [](const System& system, const IntegratorOptions& options) -> std::unique_ptr<Integrator> {
            return std::make_unique<GeneralizedAlpha>(system, options);
          }};
}

}  // namespace liedyn

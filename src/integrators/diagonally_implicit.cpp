#include "liedyn/integrators/diagonally_implicit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "liedyn/integrators/first_order.h"
#include "liedyn/integrators/linear_properties.h"
#include "liedyn/integrators/tolerances.h"

namespace liedyn {
namespace {

template <class S>
class DiagonallyImplicit final : public FirstOrderMethod<S> {
  using Base = FirstOrderMethod<S>;
  using Base::begin, Base::chart, Base::has_constraints, Base::stage_size, Base::read, Base::solve;

 public:
  DiagonallyImplicit(const SystemOf<S>& system, const IntegratorOptions& options, Tableau tableau, double rho)
      : Base(system, options),
        tableau_(std::move(tableau)),
        rho_(rho),
        stages_(static_cast<std::size_t>(tableau_.stages()), PointDerivatives<S>(stage_size())) {
    if (tableau_.embedded.size() > 0) {
      tolerances_ = Tolerances(options);
      defect_.resize(stage_size());
      error_.resize(static_cast<std::size_t>(system.model().nv));
    }
    choose_predictors();
  }

  void start(StateOf<S>& state, double, WorkOf<S>& work) override {
    tolerances_.measure(this->system(), state, work);
    begin(state, work);
    state.memory.clear();  // the first stage is the end of the last step: nothing else is remembered
  }
  StepControl control() const override { return tolerances_.control(tableau_.embedded_order); }
  std::vector<std::string> warnings() const override { return rho_warnings(rho_, has_constraints(), false); }
  void archive(Archive& a, const StateOf<S>& state, WorkOf<S>& work) override {
    Base::archive(a, state, work);
    a(tolerances_);
  }

 private:
  // The second stage has one point before it. Those after it follow the order of the stages, the last one that of the method: (12) is of
  // second order, (16) of fourth.
  void choose_predictors() {
    const auto before = [&](int stage) { return tableau_.c[stage] - tableau_.c[stage - 1]; };
    predictors_.resize(stages_.size());
    for (int i = 2; i < tableau_.stages(); ++i) {
      const bool fourth_order = i + 1 == tableau_.stages() && tableau_.order > 3;
      predictors_[static_cast<std::size_t>(i)] =
          fourth_order ? three_point_predictor(before(i), before(i - 1), before(i - 2))
                       : two_point_predictor(before(i), before(i - 1));
    }
  }

  void predict(std::size_t i, double h) {
    const PredictorWeights& w = predictors_[i];
    const auto stage = static_cast<Eigen::Index>(i);
    const double per_step = 1 / (h * (tableau_.c[stage] - tableau_.c[stage - 1]));
    std::vector<S>& udot = stages_[i].udot;
    std::fill(udot.begin(), udot.end(), S(0));
    for (std::size_t j = 0; j < static_cast<std::size_t>(w.points); ++j) {
      const PointDerivatives<S>& point = stages_[i - 1 - j];
      for (std::size_t k = 0; k < stage_size(); ++k)
        udot[k] += w.m[j] * per_step * point.u[k] + w.n[j] * point.udot[k];
    }
  }

  Attempt attempt(CorrectorOf<S>& corrector, const StateOf<S>& from, double h, StateOf<S>& to,
                  WorkOf<S>& work) override {
    Attempt out;
    read(from, stages_[0]);
    to.lambda = from.lambda;
    const double c = tableau_.gamma() * h;
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      // Theta_i = h sum_j a_ij theta'_j,  V_i = u_n + h sum_j a_ij u'_j,  j < i
      std::fill(corrector.Theta.begin(), corrector.Theta.end(), S(0));
      std::copy(stages_[0].u.begin(), stages_[0].u.end(), corrector.V.begin());
      for (std::size_t j = 0; j < i; ++j) {
        const double weight = h * tableau_.A(row, static_cast<Eigen::Index>(j));
        for (std::size_t k = 0; k < stage_size(); ++k) {
          corrector.Theta[k] += weight * stages_[j].slope[k];
          corrector.V[k] += weight * stages_[j].udot[k];
        }
      }
      predict(i, h);
      to.t = from.t + tableau_.c[row] * h;
      const CorrectorOutcome stage = solve(corrector, c, h, from, to, work, stages_[i]);
      const int iterations = out.corrector.iterations, jacobians = out.corrector.jacobians;
      out.corrector = stage;
      out.corrector.iterations += iterations;
      out.corrector.jacobians += jacobians;
      if (!stage.converged()) return out;
    }
    to.t = from.t + h;
    if constexpr (!is_varied<S>)
      if (tolerances_.adaptive()) out.error = estimate(from, to);
    return out;
  }

  // sum_j (b^_j - b_j) theta'_j: the difference to the embedded formula, per unit of time.
  double estimate(const StateOf<S>& from, const StateOf<S>& to) {
    std::fill(defect_.begin(), defect_.end(), 0.0);
    const Eigen::Index last = tableau_.c.size() - 1;
    for (std::size_t j = 0; j < stages_.size(); ++j) {
      const auto column = static_cast<Eigen::Index>(j);
      const double weight = tableau_.embedded[column] - tableau_.A(last, column);
      for (std::size_t k = 0; k < stage_size(); ++k) defect_[k] += weight * stages_[j].slope[k];
    }
    for (const Node& node : this->system().model().nodes)
      velocity_of_rates(node, to.y.data(), defect_.data(), error_.data());
    return tolerances_.worst_rate(this->system(), error_, from, to);
  }

  Tableau tableau_;
  double rho_;
  Tolerances tolerances_;
  std::vector<PointDerivatives<S>> stages_;
  std::vector<PredictorWeights> predictors_;
  std::vector<S> defect_, error_;
};

using TableauOfRho = Tableau (*)(double rho);

template <TableauOfRho tableau_of>
ListedIntegrator damped(const std::string& name, const std::string& summary, const std::string& source) {
  std::vector<IntegratorOption> options = {rho_option()};
  for (IntegratorOption& o : first_order_options()) options.push_back(std::move(o));
  return {name,
          summary,
          source,
          options,
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            const double rho = o.number("rho");
            return std::make_unique<DiagonallyImplicit<double>>(system, o, tableau_of(rho), rho);
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            const double rho = o.number("rho");
            return std::make_unique<DiagonallyImplicit<Varied>>(system, o, tableau_of(rho), rho);
          },
          [](const IntegratorOptions& o) { return runge_kutta_properties(tableau_of(o.number("rho"))); }};
}

using FixedTableau = Tableau (*)();

template <FixedTableau tableau>
ListedIntegrator pair(const std::string& name, const std::string& summary) {
  std::vector<IntegratorOption> options = first_order_options();
  for (IntegratorOption& o : step_control_options()) options.push_back(std::move(o));
  return {name,
          summary,
          "Kennedy, Carpenter (2019); Zhang, Zhang, Zanoni, Masarati, Sec. 2.3",
          options,
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            return std::make_unique<DiagonallyImplicit<double>>(system, o, tableau(), 0.0);
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            return std::make_unique<DiagonallyImplicit<Varied>>(system, o, tableau(), 0.0);
          },
          [](const IntegratorOptions&) { return runge_kutta_properties(tableau()); }};
}

template <int n>
Tableau trapezoidal(double rho) {
  return trapezoidal_substeps(n, rho);
}
template <int n>
Tableau high_order(double rho) {
  return high_order_substeps(n, rho);
}

}  // namespace

std::vector<ListedIntegrator> diagonally_implicit_methods() {
  const std::string tc = "Zhang, Zhang, Zanoni, Masarati, Sec. 2.3; Zhang, Zhang, Xing, Masarati (2020)";
  const std::string th =
      "Zhang, Zhang, Zanoni, Masarati, Eqs. (30)-(35), Table 7 with gamma of MSSTH(3) corrected";
  const auto substeps = [](const char* text, int n) {
    return fmt::format("{} sub-steps, {}", n == 3 ? "Three" : n == 4 ? "Four" : "Five", text);
  };
  const char* flat = "second order, low frequencies preserved as far as possible; damping by rho.";
  return {
      damped<bathe>("bathe", "rho_inf-Bathe: two sub-steps, second order, damping by rho.",
                    "Zhang, Zhang, Zanoni, Masarati, Eq. (7)"),
      damped<trapezoidal<3>>("msstc3", substeps(flat, 3), tc),
      damped<trapezoidal<4>>("msstc4", substeps(flat, 4), tc),
      damped<trapezoidal<5>>("msstc5", substeps(flat, 5), tc),
      damped<high_order<3>>("mssth3", substeps("third order; damping by rho.", 3), th),
      damped<high_order<4>>("mssth4", substeps("fourth order; damping by rho.", 4), th),
      damped<high_order<5>>("mssth5", substeps("fifth order; damping by rho.", 5), th),
      pair<esdirk3_4>("esdirk3-4", "ESDIRK3(2)4L[2]SA: four stages, third order, L-stable; error estimate."),
      pair<esdirk3_5>("esdirk3-5", "ESDIRK3(2)5L[2]SA: five stages, third order, L-stable; error estimate."),
      pair<esdirk4_6>("esdirk4-6",
                      "ESDIRK4(3)6L[2]SA_2: six stages, fourth order, L-stable; error estimate.")};
}

}  // namespace liedyn

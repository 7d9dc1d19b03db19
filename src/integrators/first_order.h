// What the methods for first-order systems share. They see the mechanics as y = (theta, u) with
//
//   theta' = T^-1(theta) v,   u = v,   u' = vdot
//
// in local coordinates theta of the last step's configuration (those of exp, or others, with their own T), and solve in each step or stage, with Theta, V and c given,
//
//   theta = Theta + c theta',   u = V + c u'.                                                      (first-order stage)
//
// This is the corrector's stage with c_1 = 0, c_2 = c_v = c. Nodes with Euler parameters or Cardan angles are vector spaces: there theta
// is the increment of the parameters, theta' = u their rates, u' their second derivatives (with `cardan-body` u = v and theta' = G^-1 v).
#pragma once

#include "liedyn/integrators/newton_options.h"

namespace liedyn {

// What a method keeps of one point: Model::stage_size numbers each.
template <class S>
struct PointDerivatives {
  explicit PointDerivatives(std::size_t numbers)
      : slope(numbers, S(0)), u(numbers, S(0)), udot(numbers, S(0)) {}
  std::vector<S> slope;  // theta'
  std::vector<S> u, udot;
};

template <class S>
class FirstOrderMethod : public IntegratorOf<S> {
 public:
  FirstOrderMethod(const SystemOf<S>& system, const IntegratorOptions& options);

  Attempt step(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) final {
    return attempt(corrector_, from, h, to, work);
  }
  Attempt step_carefully(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) final {
    corrector_.forget_matrix();
    careful_.forget_matrix();
    return attempt(careful_, from, h, to, work);
  }
  void follow_jump(const std::vector<S>& vdot_before, StateOf<S>& state, WorkOf<S>& work) final;
  void archive(Archive& a, const StateOf<S>&, WorkOf<S>&) override {
    if constexpr (!is_varied<S>) a(corrector_, careful_);
  }
  IndexForm form() const final { return corrector_.options().form; }
  std::string describe() const final { return text_; }

 protected:
  virtual Attempt attempt(CorrectorOf<S>& corrector, const StateOf<S>& from, double h, StateOf<S>& to,
                          WorkOf<S>& work) = 0;

  // Accelerations have changed by jump.udot, and the second derivatives of theta by jump.slope: what the memory holds of them follows.
  virtual void shift_past(const PointDerivatives<S>& /*jump*/, StateOf<S>& /*state*/) const {}

  // For start(): the correctors, and the rotation parameters of the state.
  void begin(StateOf<S>& state, WorkOf<S>& work);
  // A state as the point where theta = 0.
  void read(const StateOf<S>& state, PointDerivatives<S>& point) const;
  // A stage with corrector.Theta and corrector.V filled, predicted by the u' that `point` enters with; it leaves with the solution. `h` is the
  // step, `to` has the time and the predicted multipliers.
  CorrectorOutcome solve(CorrectorOf<S>& corrector, double c, double h, const StateOf<S>& from,
                         StateOf<S>& to, WorkOf<S>& work, PointDerivatives<S>& point) const;
  // Of the last stage solved: the increments that lead from one reference to the next.
  void moved_reference(const CorrectorOf<S>& corrector, const StateOf<S>& from, const StateOf<S>& to,
                       std::vector<S>& moved) const;

  const SystemOf<S>& system() const { return *system_; }
  Chart chart() const { return corrector_.options().chart; }
  std::size_t stage_size() const { return stage_size_; }
  // Constraints on positions, whose multipliers a method without damping leaves to oscillate.
  bool has_constraints() const;

 private:
  void read_motion(const StateOf<S>& state, PointDerivatives<S>& point) const;

  const SystemOf<S>* system_;
  CorrectorOf<S> corrector_, careful_;
  std::string text_;
  std::size_t stage_size_;
};

// y'_N from the points before it, so that polynomials are met: Eqs. (12), (14) with two points, (16), (17) with three.
//   y'_N = (1/(t_N - t_{N-1})) sum_j m_j y_{N-1-j} + sum_j n_j y'_{N-1-j}
struct PredictorWeights {
  int points = 1;
  double m[3] = {0, 0, 0}, n[3] = {1, 0, 0};  // one point: constant, Eq. (15)
};
PredictorWeights two_point_predictor(double step, double before);
PredictorWeights three_point_predictor(double step, double before, double before_that);

// The options that the methods share.
IntegratorOption rho_option();
std::vector<IntegratorOption> first_order_options();
std::vector<std::string> rho_warnings(double rho, bool constrained, bool multiple_root);

}  // namespace liedyn

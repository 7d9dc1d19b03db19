#include "liedyn/integrators/single_step.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "liedyn/integrators/first_order.h"
#include "liedyn/integrators/linear_properties.h"

namespace liedyn {
namespace {

template <class S>
class SingleStep final : public FirstOrderMethod<S> {
  using Base = FirstOrderMethod<S>;
  using Base::begin, Base::chart, Base::has_constraints, Base::stage_size, Base::read, Base::solve;

 public:
  SingleStep(const SystemOf<S>& system, const IntegratorOptions& options, int r)
      : Base(system, options),
        rho_(options.number("rho")),
        formula_(damped_single_step(r, rho_)),
        last_(stage_size()),
        next_(stage_size()) {
    gains_.push_back(1.0);
    const double even = formula_.even;
    for (const Complex& odd : formula_.odd) {
      gains_.push_back(even * gains_.back() / odd);
      weights_.push_back({(1 - even) / odd, even / odd, (1.0 - odd) / odd});
    }
  }

  // All auxiliary derivatives are the derivative itself at the beginning.
  void start(StateOf<S>& state, double h, WorkOf<S>& work) override {
    begin(state, work);
    read(state, last_);
    state.memory.assign(1 + 4 * auxiliaries() * stage_size(), S(0));
    state.memory[0] = S(h);
    for (std::size_t j = 0; j < auxiliaries(); ++j)
      for (std::size_t i = 0; i < stage_size(); ++i) {
        set(state, kSlope, j, i, real(last_.slope[i]));
        set(state, kAcceleration, j, i, real(last_.udot[i]));
      }
  }
  std::vector<std::string> warnings() const override {
    return rho_warnings(rho_, has_constraints(), auxiliaries() > 1);
  }

 private:
  using Complex = std::complex<double>;
  // A complex number whose parts may carry derivatives. Its product does without the care for infinite parts that the operator of the
  // library takes, which costs more than the product.
  struct Pair {
    S real, imag;
    friend Pair operator+(const Pair& a, const Pair& b) { return {a.real + b.real, a.imag + b.imag}; }
    friend Pair operator-(const Pair& a, const Pair& b) { return {a.real - b.real, a.imag - b.imag}; }
    friend Pair operator*(const Complex& c, const Pair& a) {
      return {c.real() * a.real - c.imag() * a.imag, c.real() * a.imag + c.imag() * a.real};
    }
  };
  static Pair real(const S& x) { return {x, S(0)}; }

  // State::memory: the last step, then the auxiliary derivatives of theta and of u, each r-1 times the real and the imaginary part.
  enum Quantity : std::size_t { kSlope, kAcceleration };
  std::size_t auxiliaries() const { return formula_.odd.size(); }
  std::size_t place(Quantity of, std::size_t j, std::size_t i) const {
    return 1 + 2 * ((of * auxiliaries() + j) * stage_size() + i);
  }
  Pair get(const StateOf<S>& state, Quantity of, std::size_t j, std::size_t i) const {
    const S* pair = state.memory.data() + place(of, j, i);
    return {pair[0], pair[1]};
  }
  void set(StateOf<S>& state, Quantity of, std::size_t j, std::size_t i, const Pair& value) const {
    S* pair = state.memory.data() + place(of, j, i);
    pair[0] = value.real, pair[1] = value.imag;
  }

  // Where y'' is constant Eq. (4) gives w^j = y' + c_j h y'' with c_j = c_{j-1} + gamma_even - gamma_j. With accelerations that were larger by D all
  // the time the auxiliary derivatives of u are larger by D, those of theta by c_j h D.
  void shift_past(const PointDerivatives<S>& jump, StateOf<S>& state) const override {
    const double h = value(state.memory[0]);
    Complex c = 0;
    for (std::size_t j = 0; j < auxiliaries(); ++j) {
      c += formula_.even - formula_.odd[j];
      for (std::size_t i = 0; i < stage_size(); ++i) {
        set(state, kSlope, j, i, get(state, kSlope, j, i) + h * c * real(jump.slope[i]));
        set(state, kAcceleration, j, i, get(state, kAcceleration, j, i) + real(jump.udot[i]));
      }
    }
  }

  // Eqs. (4) upwards from (4e): each new auxiliary derivative w^j = gain_j y' + known_j, with w^0 = y'. The known parts are left in the memory of
  // `to`; what is known of (y_k - y_{k-1})/h is returned.
  S known_part(const StateOf<S>& from, StateOf<S>& to, Quantity of, std::size_t i, const S& derivative,
               double ratio) const {
    const Complex even = formula_.even;
    Pair below = real(derivative), known_below = real(S(0));
    for (std::size_t j = 0; j < auxiliaries(); ++j) {
      const Weights& weight = weights_[j];
      // w^j - y' is proportional to the step: it is carried over to one of another size.
      const Pair last = real(derivative) + Complex(ratio) * (get(from, of, j, i) - real(derivative));
      const Pair known =
          weight.of_below * below + weight.of_known_below * known_below - weight.of_last * last;
      set(to, of, j, i, known);
      below = last;
      known_below = known;
    }
    return ((1.0 - even) * below + even * known_below).real;
  }

  Attempt attempt(CorrectorOf<S>& corrector, const StateOf<S>& from, double h, StateOf<S>& to,
                  WorkOf<S>& work) override {
    const double before = value(from.memory[0]);
    // The last step before an output time may differ by round-off only.
    const double ratio = std::abs(h - before) <= 1e-9 * before ? 1 : h / before;
    read(from, last_);
    for (std::size_t i = 0; i < stage_size(); ++i) {
      corrector.Theta[i] = h * known_part(from, to, kSlope, i, last_.slope[i], ratio);
      corrector.V[i] = last_.u[i] + h * known_part(from, to, kAcceleration, i, last_.udot[i], ratio);
      next_.udot[i] = last_.udot[i];  // Eq. (15)
    }
    corrector.expect_similar_solves();
    to.t = from.t + h;
    to.lambda = from.lambda;
    const double c = h * formula_.even * gains_.back().real();  // the product of all gamma is real
    const Attempt out{solve(corrector, c, h, from, to, work, next_)};
    if (!out.converged()) return out;

    // The next step's coordinates begin at its configuration, where theta' is the velocity (Eqs. (18)-(20)): the auxiliary
    // derivatives follow velocities, which differ from theta' by O(h^2).
    read(to, next_);
    for (std::size_t j = 0; j < auxiliaries(); ++j)
      for (std::size_t i = 0; i < stage_size(); ++i) {
        set(to, kSlope, j, i, get(to, kSlope, j, i) + gains_[j + 1] * real(next_.slope[i]));
        set(to, kAcceleration, j, i, get(to, kAcceleration, j, i) + gains_[j + 1] * real(next_.udot[i]));
      }
    to.memory[0] = S(h);
    return out;
  }

  // Eq. (4) solved for w^j: divided by its factor once, since complex divisions cost more than all else here.
  struct Weights {
    Complex of_below, of_known_below, of_last;
  };

  double rho_;
  SingleStepFormula formula_;
  std::vector<Complex> gains_;
  std::vector<Weights> weights_;
  PointDerivatives<S> last_, next_;
};

template <int r>
ListedIntegrator single_step(const char* name, const char* count) {
  std::vector<IntegratorOption> options = {rho_option()};
  for (IntegratorOption& o : first_order_options()) options.push_back(std::move(o));
  return {name,
          fmt::format("Single-step form of the {}-step method: second order, damping by rho.", count),
          "Zhang, Zhang, Zanoni, Masarati, Eqs. (4), (9)-(11), (15), (18)-(20)",
          options,
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            return std::make_unique<SingleStep<double>>(system, o, r);
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            return std::make_unique<SingleStep<Varied>>(system, o, r);
          },
          [](const IntegratorOptions& o) { return multistep_properties(r, o.number("rho")); }};
}

}  // namespace

std::vector<ListedIntegrator> single_step_methods() {
  return {single_step<2>("ss2", "two"), single_step<3>("ss3", "three"), single_step<4>("ss4", "four")};
}

}  // namespace liedyn

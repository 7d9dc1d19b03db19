// The seam of time integration methods: one attempted step. The driver owns retries, output, events and counters, so that a
// method is its formula and little else. `from` is never written: to reject a step is to forget `to`.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/system/corrector.h"
#include "liedyn/system/state.h"
#include "liedyn/system/system.h"
#include "liedyn/system/varied_accelerations.h"
#include "liedyn/system/varied_corrector.h"

namespace liedyn {

struct Attempt {
  CorrectorOutcome corrector;
  double error = 0;  // estimate relative to the tolerances; 0 if the method has none
  bool converged() const { return corrector.converged(); }
};

// What a method asks of the driver: equal steps, or steps such that Attempt::error stays below 1.
struct StepControl {
  bool adaptive = false;
  int order = 1;        // Attempt::error is proportional to h^order
  double max_step = 0;  // 0: the driver's own choice
  // How many steps before come back with their errors in accelerations and multipliers, divided by the length of the step.
  int remembered_steps = kUsualMemory;
  static constexpr int kUsualMemory = 8;
};

// S is double, or Varied where the state carries derivatives with respect to parameters: a method is written once for both.
template <class S>
class IntegratorOf {
 public:
  virtual ~IntegratorOf() = default;
  // The state holds consistent q, v, vdot, lambda; the method adds what it remembers.
  virtual void start(StateOf<S>& state, double h, WorkOf<S>& work) = 0;
  virtual Attempt step(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) = 0;
  // A careful second try at the same step: fresh matrices, damped iterations.
  virtual Attempt step_carefully(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) = 0;
  // The linear system it needs: Work must be made for it.
  virtual IndexForm form() const { return IndexForm::Index3; }
  virtual StepControl control() const { return {}; }
  // Whether accelerations and multipliers come from differences of positions or velocities, so that what is left of their errors is divided by the length of the step.
  virtual bool divides_by_step() const { return true; }
  // The state at the part s of the last step that was taken, 0 < s < 1: by default cubic Hermite on the group, multipliers linear.
  virtual void interpolate(const SystemOf<S>& system, const StateOf<S>& from, const StateOf<S>& to, double s,
                           StateOf<S>& out, WorkOf<S>& work);
  // Parameters have changed at the time of the state, whose vdot and lambda belong to the new ones; `vdot_before` belongs to the old ones.
  // The method goes on as if its past had had the new accelerations all the time: what it remembers of them is changed by the difference.
  virtual void follow_jump(const std::vector<S>& /*vdot_before*/, StateOf<S>& /*state*/,
                           WorkOf<S>& /*work*/) {}
  // The state has moved by a time that is short beside the steps, without the method. It goes on with what it remembers, or false: it must start anew.
  virtual bool follow_short_step(const std::vector<S>& vdot_before, StateOf<S>& state, WorkOf<S>& work) {
    follow_jump(vdot_before, state, work);
    return state.y.empty();  // parameters of rotations belong to the state before
  }
  // What the next step depends on besides the state. To be read after start().
  virtual void archive(Archive& /*archive*/, const StateOf<S>& /*state*/, WorkOf<S>& /*work*/) {}
  // Why an attempt failed.
  virtual std::string failure(const Attempt& attempt, const System& system) const {
    return liedyn::describe(attempt.corrector, system);
  }
  // Every option with the value in force: "generalized-alpha,form=geometric,sigma=0,...".
  virtual std::string describe() const = 0;
  virtual std::vector<std::string> warnings() const { return {}; }
};
using Integrator = IntegratorOf<double>;
using VariedIntegrator = IntegratorOf<Varied>;

// One option of a method: "rho" with its default, range or choices, and a sentence.
struct IntegratorOption {
  std::string name;
  std::string fallback;  // as a user would type it
  std::string summary;
  std::vector<std::string> choices;  // words it may be
  double least = 0, most = 0;        // numbers it may be; none if both are the same
};

// Options as typed, checked against the method's list.
class IntegratorOptions {
 public:
  IntegratorOptions(std::string method, const std::vector<IntegratorOption>& known);
  void set(const std::string& name, const std::string& value);  // throws InputError
  bool given(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  std::string text() const;  // "method,name=value,..."

 private:
  const IntegratorOption& option(std::string_view name) const;
  std::string method_;
  const std::vector<IntegratorOption>* known_;
  std::map<std::string, std::string, std::less<>> values_;
};

// A method as analyses/linear_analysis.h sees it.
struct LinearProperties {
  std::string integrator;      // Integrator::describe()
  int solutions_per_step = 1;  // implicit stages, or evaluations of an explicit method
  bool is_explicit = false;
  // The largest defect of the conditions of order 1, 2, ...
  std::vector<double> order_defects;
  // What a step does on y' = lambda y, z = lambda h; of a method for second-order systems on x'' - 2 Re(lambda) x' + |lambda|^2 x = 0.
  std::function<Eigen::MatrixXcd(std::complex<double> z)> amplification;
};

struct ListedIntegrator {
  std::string name;
  std::string summary;
  std::string source;  // where the equations are
  std::vector<IntegratorOption> options;
  std::unique_ptr<Integrator> (*make)(const System&, const IntegratorOptions&);
  std::unique_ptr<VariedIntegrator> (*make_varied)(const VariedSystem&, const IntegratorOptions&);
  LinearProperties (*properties)(const IntegratorOptions&);
};

// Every integrator.
const std::vector<ListedIntegrator>& integrators();

// "generalized-alpha,rho=0.8": the method by name, its options by key=value. All throw InputError.
void check_integrator(std::string_view specification);
std::unique_ptr<Integrator> make_integrator(const System& system, std::string_view specification);
std::unique_ptr<VariedIntegrator> make_integrator(const VariedSystem& system, std::string_view specification);
LinearProperties linear_properties(std::string_view specification);

}  // namespace liedyn

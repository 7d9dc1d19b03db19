#include "liedyn/analyses/optimize.h"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "liedyn/analyses/adjoint.h"
#include "liedyn/analyses/choose_formulation.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/base/dual.h"
#include "liedyn/base/error.h"
#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

using Vector = Eigen::VectorXd;

// An expression of variables, outputs and the misfit, with its gradient.
class Formula {
 public:
  Formula(const std::string& text, const std::string& where, const std::vector<std::string>& names) {
    try {
      expression_ = Expression::parse(text, names);
    } catch (const ExpressionError& error) {
      throw InputError(
          where, fmt::format("{} at character {} of '{}'", error.what(), error.position() + 1, excerpt(text)),
          error.hint().empty() ? fmt::format("known are {}", fmt::join(names, ", ")) : error.hint());
    }
  }
  double evaluate(const std::vector<double>& values, Vector& gradient) const {
    using Slope = Dual<double, 1>;
    std::vector<Slope> arguments(values.begin(), values.end());
    gradient.setZero(static_cast<Eigen::Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!expression_.uses(static_cast<int>(i))) continue;
      arguments[i].d[0] = 1;
      gradient[static_cast<Eigen::Index>(i)] = expression_.evaluate<Slope>(arguments).d[0];
      arguments[i].d[0] = 0;
    }
    return expression_.evaluate<double>(values);
  }
  bool uses(std::size_t argument) const { return expression_.uses(static_cast<int>(argument)); }

 private:
  Expression expression_;
};

class DesignSearch {
 public:
  DesignSearch(const System& system, const Study& study,
               const std::function<bool(const StudyPoint&, bool)>& progress)
      : system_(system), study_(study), progress_(progress) {
    check();
    for (const Study::Variable& v : study.variables) {
      names_.push_back(v.name);
      for (const std::string& path : v.parameters) {
        const int number = system.params().find(path);
        const auto same = std::find(parameters_.begin(), parameters_.end(), number);
        if (same != parameters_.end()) {
          const auto owner =
              static_cast<std::size_t>(owner_[static_cast<std::size_t>(same - parameters_.begin())]);
          throw InputError("variables." + v.name, fmt::format("'{}' already belongs to the variable '{}'",
                                                              path, study.variables[owner].name));
        }
        parameters_.push_back(number);
        owner_.push_back(static_cast<Eigen::Index>(&v - study.variables.data()));
      }
      const bool bounded = std::isfinite(v.lower) && std::isfinite(v.upper);
      shift_.push_back(bounded ? v.lower : 0);
      scale_.push_back(bounded && v.upper > v.lower ? v.upper - v.lower
                       : v.initial != 0             ? std::abs(v.initial)
                                                    : 1);
    }
    for (const Study::NamedOutput& o : study.outputs) {
      const std::vector<Output> parsed = parse_outputs(system, study.simulation, {o.output});
      if (parsed.size() != 1)
        throw InputError("outputs." + o.name,
                         fmt::format("expected one component of a sensor, got '{}'", excerpt(o.output)),
                         fmt::format("for instance {}", parsed.front().name));
      names_.push_back(o.name);
      outputs_.push_back(parsed.front());
    }
    names_.emplace_back("misfit");
    for (std::size_t i = 0; i < study.data.size(); ++i) add_data(i);
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i), names_[i]) !=
          names_.begin() + static_cast<std::ptrdiff_t>(i))
        throw InputError("outputs." + names_[i],
                         "this name is already used: variables, outputs and misfit share one set of names");
    formulas_.emplace_back(study.minimize.empty() ? "misfit" : study.minimize, "minimize", names_);
    for (const Study::Constraint& c : study.constraints)
      formulas_.emplace_back(c.expression, "constraints." + c.name, names_);
    for (std::size_t f = 0; f < formulas_.size(); ++f)
      if (study.data.empty() && formulas_[f].uses(names_.size() - 1))
        throw InputError(f == 0 ? "minimize" : "constraints." + study.constraints[f - 1].name,
                         "uses the misfit, and the study has no data");
    refuse_reactions(system, study.simulation, outputs_);
    // The direct method pays for each parameter, the adjoint one for each function.
    use_adjoint_ = study.gradient == "adjoint" ||
                   (study.gradient == "auto" && parameters_.size() > 8 * formulas_.size());
  }

  Optimum run() {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t n = study_.variables.size();
    std::vector<double> z(n);
    for (std::size_t i = 0; i < n; ++i) z[i] = (study_.variables[i].initial - shift_[i]) / scale_[i];
    evaluate(z.data());
    out_.first = out_.history.front();
    // Of an objective that is nothing but round-off at the start, as where a search begins at its end, noise would be scaled up.
    double least = study_.data.empty() ? 1 : 0;
    for (std::size_t i = 0; i < measured_.size(); ++i) least += weight_[i] * measured_[i] * measured_[i];
    objective_scale_ = std::max(std::abs(out_.first.objective), 1e-12 * (least > 0 ? least : 1));
    for (std::size_t i = 0; i < n; ++i)
      if (gradients_.col(static_cast<Eigen::Index>(i)).isZero(0))
        out_.notes.push_back(
            fmt::format("the variable '{}' changes neither the objective nor a constraint at the start",
                        study_.variables[i].name));

    const std::string method = study_.method != "auto" ? study_.method : "slsqp";
    const auto algorithm = method == "mma"     ? NLOPT_LD_MMA
                           : method == "lbfgs" ? NLOPT_LD_LBFGS
                                               : NLOPT_LD_SLSQP;
    const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> search(
        nlopt_create(algorithm, static_cast<unsigned>(n)), &nlopt_destroy);
    search_ = search.get();
    std::vector<double> lower, upper;
    for (std::size_t i = 0; i < n; ++i) {
      lower.push_back((study_.variables[i].lower - shift_[i]) / scale_[i]);
      upper.push_back((study_.variables[i].upper - shift_[i]) / scale_[i]);
    }
    nlopt_set_lower_bounds(search_, lower.data());
    nlopt_set_upper_bounds(search_, upper.data());
    nlopt_set_min_objective(search_, &objective, this);
    const std::vector<double> slack(rows_.size() + equal_rows_.size() + 1, 1e-8);
    if (!rows_.empty())
      nlopt_add_inequality_mconstraint(search_, static_cast<unsigned>(rows_.size()), &inequalities, this,
                                       slack.data());
    if (!equal_rows_.empty())
      nlopt_add_equality_mconstraint(search_, static_cast<unsigned>(equal_rows_.size()), &equalities, this,
                                     slack.data());
    nlopt_set_ftol_rel(search_, study_.tolerance);
    nlopt_set_ftol_abs(search_, study_.tolerance * study_.tolerance);
    nlopt_set_xtol_abs1(search_, study_.tolerance);
    nlopt_set_maxeval(search_, study_.evaluations);
    double found = 0;
    const nlopt_result code = nlopt_optimize(search_, z.data(), &found);
    if (error_) std::rethrow_exception(error_);

    out_.method = method;
    out_.gradient = use_adjoint_ ? "adjoint" : "direct";
    out_.evaluations = static_cast<int>(out_.history.size());
    out_.converged = code > 0 && code != NLOPT_MAXEVAL_REACHED;
    // NLopt calls it a failure where round-off leaves no further descent: at a minimum that is met better than was asked for.
    if (code == NLOPT_ROUNDOFF_LIMITED) out_.converged = true;
    out_.reason =
        escaped_ ? "the variables grow without bound: give them bounds, lower and upper" : reason(code);
    const auto but = [&](const std::string& what) {
      out_.converged = false;
      out_.reason += "; but " + what;
    };
    if (out_.converged && !meets(out_.best)) {
      but(out_.best.violated);
    } else if (out_.converged) {
      // Where the optimiser ended, which need not be the best point that it has seen.
      const std::vector<double> end = variables_at(z.data());
      const auto last = std::find_if(out_.history.begin(), out_.history.end(),
                                     [&](const StudyPoint& point) { return point.variables == end; });
      const auto failed_close_by = [&](const StudyPoint& point) {
        constexpr double kClose = 1e-3;
        bool close = !point.failure.empty();
        for (std::size_t i = 0; i < n; ++i)
          close = close && std::abs(point.variables[i] - end[i]) <= kClose * scale_[i];
        return close;
      };
      if (last != out_.history.end() && last->failure.empty() && !meets(*last))
        but(fmt::format("at its end, {}", last->violated));
      else if (std::any_of(out_.history.begin(), out_.history.end(), failed_close_by))
        but("evaluations nearby failed");
    }
    estimate_deviations();
    out_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out_;
  }

 private:
  static std::string reason(nlopt_result code) {
    switch (code) {
      case NLOPT_FTOL_REACHED: return "the objective no longer falls by more than the tolerance";
      case NLOPT_XTOL_REACHED: return "the variables no longer change by more than the tolerance";
      case NLOPT_ROUNDOFF_LIMITED: return "round-off: the objective does not fall further";
      case NLOPT_MAXEVAL_REACHED: return "the allowed number of evaluations was reached";
      case NLOPT_FORCED_STOP: return "interrupted";
      case NLOPT_SUCCESS:
      case NLOPT_STOPVAL_REACHED: return "a minimum was found";
      default: return "the optimiser failed";
    }
  }

  void check() const {
    if (study_.variables.empty()) throw InputError("variables", "expected at least one variable");
    if (study_.minimize.empty() && study_.data.empty())
      throw InputError("minimize", "expected an expression to minimise, or data to fit");
    const auto one_of = [](const std::string& where, const std::string& got,
                           const std::vector<std::string>& known) {
      if (std::find(known.begin(), known.end(), got) == known.end())
        throw InputError(where, fmt::format("expected {}, got '{}'", fmt::join(known, ", "), excerpt(got)),
                         did_you_mean(got, known));
    };
    one_of("optimizer.method", study_.method, {"auto", "slsqp", "mma", "lbfgs"});
    one_of("optimizer.gradient", study_.gradient, {"auto", "direct", "adjoint"});
    if (!(study_.tolerance > 0 && study_.tolerance < 1))
      throw InputError("optimizer.tolerance",
                       fmt::format("expected a number between 0 and 1, got {}", study_.tolerance));
    if (study_.evaluations < 1)
      throw InputError("optimizer.evaluations", fmt::format("must be positive, got {}", study_.evaluations));
    std::vector<Diagnostic> findings;
    const auto finding = [&](const std::string& where, const std::string& what) {
      findings.push_back({"", 0, where, what, ""});
    };
    for (const Study::Variable& v : study_.variables) {
      const std::string where = "variables." + v.name;
      if (v.parameters.empty()) finding(where, "expected the path of a parameter of the model");
      if (!(v.lower <= v.upper))
        finding(where, fmt::format("expected a lower bound not above the upper one, got {} and {}", v.lower,
                                   v.upper));
      else if (!(v.lower <= v.initial && v.initial <= v.upper))
        finding(where,
                fmt::format("expected an initial value from {} to {}, got {}", v.lower, v.upper, v.initial));
    }
    for (std::size_t i = 0; i < study_.data.size(); ++i)
      if (!(study_.data[i].weight >= 0 && std::isfinite(study_.data[i].weight)))
        finding(fmt::format("data[{}]", i),
                fmt::format("expected a weight that is not negative, got {}", study_.data[i].weight));
    bool equal = false;
    for (const Study::Constraint& c : study_.constraints) {
      if (!(c.lower <= c.upper) || (!std::isfinite(c.lower) && !std::isfinite(c.upper)))
        finding("constraints." + c.name,
                "expected at_least, at_most or equals, the first not above the second");
      equal = equal || c.lower == c.upper;
    }
    if (!findings.empty()) throw InputError(findings);
    if (study_.method == "lbfgs" && !study_.constraints.empty())
      throw InputError("optimizer.method", "lbfgs supports bounds only, and the study has constraints",
                       "use slsqp or mma");
    if (study_.method == "mma" && equal)
      throw InputError("optimizer.method", "mma does not support equality constraints", "use slsqp");
  }

  void add_data(std::size_t i) {
    const Study::Data& data = study_.data[i];
    const std::vector<Output> parsed = parse_outputs(system_, study_.simulation, {data.output});
    const std::string where = fmt::format("data[{}]", i);
    if (parsed.size() != 1 || data.output.find('@') != std::string::npos)
      throw InputError(where,
                       fmt::format("expected one component of a sensor, got '{}'", excerpt(data.output)));
    if (data.times.empty()) throw InputError(where, "has no rows");
    const double start = study_.simulation.start, end = study_.simulation.end;
    for (std::size_t k = 0; k < data.times.size(); ++k) {
      Output output = parsed.front();
      output.time = data.times[k];
      if (!(output.time >= start && output.time <= end))
        throw InputError(
            where,
            fmt::format("expected times from {} to {}, got {} in row {}", start, end, output.time, k + 1),
            "the simulation's start and end must contain the data");
      outputs_.push_back(output);
      measured_.push_back(data.values[k]);
      weight_.push_back(data.weight / static_cast<double>(data.times.size()));
    }
  }

  std::vector<double> variables_at(const double* z) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < study_.variables.size(); ++i) {
      const Study::Variable& v = study_.variables[i];
      out.push_back(std::clamp(shift_[i] + scale_[i] * z[i], v.lower, v.upper));
    }
    return out;
  }

  // Values and gradients of the objective and the constraints at z; remembered until another z comes.
  void evaluate(const double* z) {
    const std::size_t n = study_.variables.size();
    if (!at_.empty() && std::equal(at_.begin(), at_.end(), z)) return;
    at_.assign(z, z + n);
    StudyPoint point;
    point.variables = variables_at(z);
    point.evaluation = static_cast<int>(out_.history.size()) + 1;
    const auto finite = [](double x) { return std::isfinite(x); };
    constexpr double kFar = 1e8;
    if (!std::all_of(z, z + n, [](double x) { return std::abs(x) < kFar; })) {  // nor not a number
      escaped_ = true;
      point.failure = "the variables have become too large";
      if (search_ != nullptr) nlopt_force_stop(search_);
    } else {
      try {
        differentiate(point.variables);
        if (!std::all_of(values_.begin(), values_.end(), finite) || !gradients_.allFinite())
          point.failure = "the objective, a constraint or a gradient is not a finite number";
      } catch (const NumericalError& error) {
        if (out_.history.empty()) throw;
        point.failure = error.what();
      } catch (const InputError& error) {  // the model refuses such numbers
        if (out_.history.empty()) throw;
        point.failure = error.what();
      }
    }
    const bool reached = point.failure.empty();
    if (reached) {
      point.objective = values_[0];
      set_rows(point);
      last_values_ = values_;
      worst_ = std::max(worst_, std::abs(values_[0]));
    } else {
      if (out_.history.empty())
        throw NumericalError(
            study_.simulation.end,
            "the objective, a constraint or a gradient is not a finite number at the start of the search");
      // Nothing is known here but that it is bad: the line search comes back.
      ++out_.failed;
      values_ = last_values_;
      gradients_.setZero();
      values_[0] = worst_ * 10 + 1;
      StudyPoint unused;
      set_rows(unused);
      point.objective = point.violation = std::numeric_limits<double>::quiet_NaN();
    }
    const bool best = reached && (out_.history.empty() || is_better(point, out_.best));
    if (best) {
      out_.best = point;
      out_.outputs = named_;
      out_.misfit = misfit_;
      out_.constraints.assign(values_.begin() + 1, values_.end());
      best_differences_ = differences_;
      best_slopes_ = slopes_;
    }
    out_.history.push_back(point);
    if (!progress_(point, best) && search_ != nullptr) nlopt_force_stop(search_);
  }

  bool meets(const StudyPoint& point) const { return point.violation <= std::max(1e-6, study_.tolerance); }
  // Among points that meet the constraints equally well the lower objective; among those equally low, the one that meets them better.
  bool is_better(const StudyPoint& a, const StudyPoint& b) const {
    constexpr double kSame = 1e-6;
    const bool both = meets(a) && meets(b);
    if (!both && std::abs(a.violation - b.violation) > kSame * std::max(a.violation, b.violation))
      return a.violation < b.violation;
    const double equal = study_.tolerance * objective_scale_;
    if (both && std::abs(a.objective - b.objective) <= equal && a.violation > 1e-8 + b.violation)
      return false;
    if (both && std::abs(a.objective - b.objective) <= equal && b.violation > 1e-8 + a.violation) return true;
    return a.objective < b.objective;
  }

  // Of a fit. With the differences r_i = y_i(x) - measured_i, their weights w_i and slopes J = dr/dx, the variances of the free variables are the diagonal of
  //   s^2 (J^T W J)^-1,   s^2 = sum w_i r_i^2/(N - n),
  // if the weights are those of independent errors of measurement, up to a factor.
  void estimate_deviations() {
    std::size_t first = 0;
    for (const Study::Data& data : study_.data) {
      double sum = 0;
      for (std::size_t i = first; i < first + data.times.size(); ++i)
        sum += best_differences_[i] * best_differences_[i];
      out_.residuals.push_back(std::sqrt(sum / static_cast<double>(data.times.size())));
      first += data.times.size();
    }
    const bool is_fit = !study_.data.empty() && (study_.minimize.empty() || study_.minimize == "misfit");
    if (!is_fit || best_slopes_.rows() == 0) return;
    std::vector<Eigen::Index> free;
    for (std::size_t i = 0; i < study_.variables.size(); ++i) {
      const Study::Variable& v = study_.variables[i];
      const double x = out_.best.variables[i], near = 1e-9 * scale_[i];
      if (x > v.lower + near && x < v.upper - near) free.push_back(static_cast<Eigen::Index>(i));
    }
    out_.deviations.assign(study_.variables.size(), std::numeric_limits<double>::quiet_NaN());
    const auto counted = std::count_if(weight_.begin(), weight_.end(), [](double w) { return w > 0; });
    const auto count = static_cast<Eigen::Index>(free.size());
    if (count == 0 || counted <= count) return;
    Eigen::MatrixXd scaled(best_slopes_.rows(), count);
    for (Eigen::Index k = 0; k < count; ++k)
      for (Eigen::Index i = 0; i < scaled.rows(); ++i)
        scaled(i, k) = best_slopes_(i, free[static_cast<std::size_t>(k)]) *
                       scale_[static_cast<std::size_t>(free[static_cast<std::size_t>(k)])] *
                       std::sqrt(weight_[static_cast<std::size_t>(i)]);
    const Eigen::FullPivLU<Eigen::MatrixXd> factors(scaled.transpose() * scaled);
    if (!factors.isInvertible()) return;
    const Eigen::MatrixXd inverse = factors.inverse();
    const double variance = out_.misfit / static_cast<double>(counted - count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(free[static_cast<std::size_t>(k)]);
      if (inverse(k, k) > 0) out_.deviations[i] = scale_[i] * std::sqrt(variance * inverse(k, k));
    }
  }

  void differentiate(const std::vector<double>& x) {
    Params params = system_.params();
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      params.set(parameters_[k], x[static_cast<std::size_t>(owner_[k])]);
    const System system(system_.shared_model(), params);
    SimulateOptions simulation = study_.simulation;
    simulation.output_every = 0;
    const auto functions = static_cast<Eigen::Index>(formulas_.size());
    const auto variables = static_cast<Eigen::Index>(x.size()),
               outputs = static_cast<Eigen::Index>(outputs_.size());
    Eigen::MatrixXd slopes(functions, outputs), own(functions, variables);
    const auto combine = [&](const std::vector<double>& found) {
      // Arguments of the formulas: variables, named outputs, misfit.
      const std::size_t named = study_.outputs.size();
      named_.assign(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(named));
      misfit_ = 0;
      differences_.resize(measured_.size());
      for (std::size_t i = 0; i < measured_.size(); ++i) {
        differences_[i] = found[named + i] - measured_[i];
        misfit_ += weight_[i] * differences_[i] * differences_[i];
      }
      std::vector<double> arguments = x;
      arguments.insert(arguments.end(), named_.begin(), named_.end());
      arguments.push_back(misfit_);
      values_.resize(formulas_.size());
      Vector gradient;
      for (Eigen::Index f = 0; f < functions; ++f) {
        values_[static_cast<std::size_t>(f)] =
            formulas_[static_cast<std::size_t>(f)].evaluate(arguments, gradient);
        own.row(f) = gradient.head(variables).transpose();
        slopes.row(f).head(static_cast<Eigen::Index>(named)) =
            gradient.segment(variables, static_cast<Eigen::Index>(named)).transpose();
        const double of_misfit = gradient[gradient.size() - 1];
        for (std::size_t i = 0; i < measured_.size(); ++i)
          slopes(f, static_cast<Eigen::Index>(named + i)) = of_misfit * 2 * weight_[i] * differences_[i];
      }
    };
    Eigen::MatrixXd by_parameter;
    if (outputs == 0) {
      combine({});
      by_parameter.setZero(functions, static_cast<Eigen::Index>(parameters_.size()));
    } else if (use_adjoint_) {
      const std::vector<double> ends = step_ends(system, simulation);
      AdjointRun run(system, simulation, ends, outputs_);
      combine(run.values());
      by_parameter = run.gradients(parameters_, slopes);
    } else {
      const DirectDerivatives found = direct_derivatives(system, simulation, outputs_, parameters_);
      combine(found.values);
      by_parameter = slopes * found.jacobian;
      slopes_.setZero(static_cast<Eigen::Index>(measured_.size()), variables);
      for (Eigen::Index k = 0; k < found.jacobian.cols(); ++k)
        slopes_.col(owner_[static_cast<std::size_t>(k)]) +=
            found.jacobian.col(k).tail(static_cast<Eigen::Index>(measured_.size()));
    }
    gradients_ = own;
    for (Eigen::Index k = 0; k < by_parameter.cols(); ++k)
      gradients_.col(owner_[static_cast<std::size_t>(k)]) += by_parameter.col(k);
    for (Eigen::Index i = 0; i < variables; ++i) gradients_.col(i) *= scale_[static_cast<std::size_t>(i)];
  }

  // Constraints as the optimiser takes them: sign (value - bound)/size <= 0, or = 0.
  struct Row {
    Eigen::Index function;
    double sign, bound, size;
    bool is_equation = false;
    double value = 0;
  };
  void set_rows(StudyPoint& point) {
    if (rows_.empty() && equal_rows_.empty())
      for (std::size_t c = 0; c < study_.constraints.size(); ++c) {
        const Study::Constraint& constraint = study_.constraints[c];
        const auto function = static_cast<Eigen::Index>(c + 1);
        const auto size = [](double bound) { return bound != 0 ? std::abs(bound) : 1; };
        if (constraint.lower == constraint.upper) {
          equal_rows_.push_back({function, 1, constraint.lower, size(constraint.lower), true});
          continue;
        }
        if (std::isfinite(constraint.upper))
          rows_.push_back({function, 1, constraint.upper, size(constraint.upper)});
        if (std::isfinite(constraint.lower))
          rows_.push_back({function, -1, constraint.lower, size(constraint.lower)});
      }
    point.violation = 0;
    const auto see = [&](Row& row, double violation) {
      if (!(violation > point.violation)) return;
      point.violation = violation;
      const double value = values_[static_cast<std::size_t>(row.function)];
      point.violated = fmt::format("the constraint '{}' is {:.6g} and must be {} {:.6g}",
                                   study_.constraints[static_cast<std::size_t>(row.function - 1)].name, value,
                                   row.is_equation ? "equal to"
                                   : row.sign > 0  ? "at most"
                                                   : "at least",
                                   row.bound);
    };
    for (Row& row : rows_) {
      row.value = row.sign * (values_[static_cast<std::size_t>(row.function)] - row.bound) / row.size;
      see(row, row.value);
    }
    for (Row& row : equal_rows_) {
      row.value = (values_[static_cast<std::size_t>(row.function)] - row.bound) / row.size;
      see(row, std::abs(row.value));
    }
  }

  // Nothing may be thrown through the optimiser, which is written in C.
  template <class Body>
  void guarded(const Body& body) {
    try {
      body();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      nlopt_force_stop(search_);
    }
  }
  static double objective(unsigned n, const double* z, double* gradient, void* self) {
    auto& s = *static_cast<DesignSearch*>(self);
    double out = std::numeric_limits<double>::max();
    s.guarded([&] {
      s.evaluate(z);
      out = s.values_[0] / s.objective_scale_;
      for (unsigned i = 0; gradient != nullptr && i < n; ++i)
        gradient[i] = s.gradients_(0, static_cast<Eigen::Index>(i)) / s.objective_scale_;
    });
    return out;
  }
  void give(const std::vector<Row>& rows, double* result, unsigned n, const double* z, double* gradient) {
    guarded([&] {
      evaluate(z);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        result[r] = rows[r].value;
        for (unsigned i = 0; gradient != nullptr && i < n; ++i)
          gradient[r * n + i] =
              rows[r].sign * gradients_(rows[r].function, static_cast<Eigen::Index>(i)) / rows[r].size;
      }
    });
  }
  static void inequalities(unsigned, double* result, unsigned n, const double* z, double* gradient,
                           void* self) {
    auto& s = *static_cast<DesignSearch*>(self);
    s.give(s.rows_, result, n, z, gradient);
  }
  static void equalities(unsigned, double* result, unsigned n, const double* z, double* gradient,
                         void* self) {
    auto& s = *static_cast<DesignSearch*>(self);
    s.give(s.equal_rows_, result, n, z, gradient);
  }

  const System& system_;
  const Study& study_;
  const std::function<bool(const StudyPoint&, bool)>& progress_;
  std::vector<std::string> names_;     // of the arguments of formulas
  std::vector<int> parameters_;        // indices of Params
  std::vector<Eigen::Index> owner_;    // variable of each
  std::vector<double> shift_, scale_;  // x = shift + scale z
  std::vector<Output> outputs_;        // named ones, then those of the data
  std::vector<double> measured_, weight_;
  std::vector<Formula> formulas_;  // the objective, then the constraints
  bool use_adjoint_ = false;

  nlopt_opt search_ = nullptr;
  std::exception_ptr error_;
  double objective_scale_ = 1, worst_ = 0;
  std::vector<double> at_;  // z of what follows
  std::vector<double> values_, last_values_, named_;
  double misfit_ = 0;
  std::vector<double> differences_, best_differences_;  // to the data
  Eigen::MatrixXd slopes_, best_slopes_;  // of these with respect to the variables; direct method only
  bool escaped_ = false;
  Eigen::MatrixXd gradients_;  // with respect to z
  std::vector<Row> rows_, equal_rows_;
  Optimum out_;
};

}  // namespace

void check_study(const System& system, const Study& study) {
  check_times(study.simulation);
  const std::function<bool(const StudyPoint&, bool)> no_search;
  const DesignSearch checked(system, study, no_search);
}

Optimum optimize(const System& system, const Study& study,
                 const std::function<bool(const StudyPoint&, bool best)>& progress) {
  check_times(study.simulation);
  if (system.model().is_formulation_open())
    return optimize(System(Model::compile(system.model().shared_description(),
                                          choose_formulation(system, study.simulation).formulation),
                           system.params()),
                    study, progress);
  return DesignSearch(system, study, progress).run();
}

}  // namespace liedyn

#include "liedyn/analyses/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

#include "liedyn/analyses/adjoint.h"
#include "liedyn/analyses/choose_formulation.h"
#include "liedyn/analyses/fixed_steps.h"
#include "liedyn/analyses/free_parameters.h"
#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/edit_description.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/work.h"
#include "liedyn/model/signal_parameters.h"

namespace liedyn {

namespace {

// CPU time: unlike elapsed time it does not depend on what else the machine does.
double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// The outputs of a run without derivatives.
std::vector<double> plain_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<double>& ends, const std::vector<Output>& outputs) {
  OutputSums sums(outputs, times_of(options, ends));
  FixedSteps<double> steps(system, options, ends);
  State state = steps.initial(), between = state;
  if (sums.wants_start()) sums.add_start(steps.sense(state));
  steps.begin(state);
  State next = state;
  for (std::size_t n = 1; n <= ends.size(); ++n) {
    steps.step(n, state, next);
    sums.add_step(
        n, [&](double s) -> const std::vector<double>& { return steps.sense_at(state, next, s, between); });
    std::swap(state, next);
    if (options.progress && !options.progress(static_cast<double>(n) / static_cast<double>(ends.size())))
      throw NumericalError(state.t, fmt::format("t = {:.9g}: interrupted", state.t));
  }
  return sums.values();
}

// Forwards: derivatives of all sensors with respect to all parameters along the run.
void run_direct(const System& system, const SimulateOptions& options, const std::vector<double>& ends,
                const std::vector<Output>& outputs, const std::vector<int>& parameters, Sensitivity& out) {
  Tape tape(Tape::Sweep::Forwards, parameters.size());
  const Tape::Use use(tape);
  const VariedSystem varied(system, parameters);
  tape.end_beginning();
  OutputSums sums(outputs, times_of(options, ends));
  FixedSteps<Varied> steps(varied, options, ends);
  const std::size_t count = parameters.size(), columns = at(system.model().sensor_values);
  // What sensors show at a part of the step, and its derivatives.
  struct Shown {
    double s;
    std::vector<double> values, slopes;
  };
  std::vector<Shown> shown;
  const auto read = [&](double s, const std::vector<Varied>& sensors) -> const Shown& {
    Shown& now =
        shown.emplace_back(Shown{s, std::vector<double>(columns), std::vector<double>(columns * count)});
    for (std::size_t c = 0; c < columns; ++c) {
      now.values[c] = sensors[c].v;
      tape.derivatives(sensors[c].id, now.slopes.data() + c * count);
    }
    return now;
  };
  const auto add = [&](const std::vector<OutputTerm>& terms, const Shown& now) {
    for (const OutputTerm& term : terms)
      for (std::size_t k = 0; k < count; ++k)
        out.derivatives[term.output * count + k] +=
            term.weight * now.slopes[at(outputs[term.output].column) * count + k];
  };
  const auto is_row = [&](std::size_t n) {
    const auto every = static_cast<std::size_t>(options.output_every);
    return n == 0 || n == ends.size() || (every > 0 && n % every == 0);
  };
  const auto add_row = [&](double t, const Shown& now) {
    out.trajectory.data.push_back(t);
    out.trajectory.data.insert(out.trajectory.data.end(), now.values.begin(), now.values.end());
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t c = 0; c < columns; ++c)
        out.trajectory_derivatives.push_back(now.slopes[c * count + k]);
  };
  std::vector<Tape::Id*> kept;
  const auto restart = [&](VariedState& state) {
    kept.clear();
    for_each_vector(state, [&](std::vector<Varied>& part) {
      for (Varied& x : part) kept.push_back(&x.id);
    });
    tape.restart(kept);
    steps.work().forget_time();
  };

  VariedState state = steps.initial(), next, between;
  add_row(state.t, read(0, steps.sense(state)));
  sums.add_start(shown.back().values);
  add(sums.terms_at_start(), shown.back());
  steps.begin(state);
  restart(state);
  for (std::size_t n = 1; n <= ends.size(); ++n) {
    next = state;
    steps.step(n, state, next);
    shown.clear();
    const auto at_part = [&](double s) -> const Shown& {
      for (const Shown& now : shown)
        if (now.s == s) return now;
      return read(s, steps.sense_at(state, next, s, between));
    };
    sums.add_step(n, [&](double s) -> const std::vector<double>& { return at_part(s).values; });
    const std::vector<OutputPlace> places = sums.places(n);
    // An extremum is where it was seen last.
    for (const OutputPlace& place : places)
      for (const OutputTerm& term : place.terms)
        if (sums.is_extremum(term.output))
          std::fill_n(out.derivatives.data() + term.output * count, count, 0.0);
    for (const OutputPlace& place : places) add(place.terms, at_part(place.s));
    if (is_row(n)) add_row(next.t, at_part(1));
    std::swap(state, next);
    restart(state);
    if (options.progress && !options.progress((state.t - options.start) / (options.end - options.start)))
      throw NumericalError(state.t, fmt::format("t = {:.9g}: interrupted", state.t));
  }
  out.values = sums.values();
}

// Derivatives of the outputs with respect to one parameter by differences of runs with several steps, extrapolated (Romberg) as far as this makes them better: central ones, whose errors are even powers of the step, or
// those of one side, all powers, where the model refuses the other.
struct Differences {
  std::vector<double> derivatives, uncertainty;  // NaN and infinity: both sides are refused or fail
  std::vector<double> noise;                     // what round-off and Newton's method may leave in them

  double relative(std::size_t i) const { return uncertainty[i] / std::abs(derivatives[i]); }
  // Good enough, or as good as noise lets it be.
  bool is_known(std::size_t i) const {
    constexpr double kGood = 1e-5;
    return std::isfinite(uncertainty[i]) && (uncertainty[i] <= noise[i] || relative(i) <= kGood);
  }
};
Differences differences_within(double largest, const System& system, int parameter,
                               const SimulateOptions& options, const std::vector<double>& ends,
                               const std::vector<Output>& outputs) {
  constexpr double kNoise = 1e-8;
  const double p = system.params().get(parameter);
  const auto values = [&](double at_parameter) -> std::optional<std::vector<double>> {
    try {
      Params params = system.params();
      params.set(parameter, at_parameter);
      return plain_outputs(System(system.shared_model(), params), options, ends, outputs);
    } catch (const InputError&) {
      return {};
    } catch (const NumericalError&) {  // of a step that is too large, unless somebody wants to stop
      if (options.progress && !options.progress(0)) throw;
      return {};
    }
  };
  Differences out;
  out.derivatives.assign(outputs.size(), std::numeric_limits<double>::quiet_NaN());
  out.uncertainty.assign(outputs.size(), std::numeric_limits<double>::infinity());
  out.noise.assign(outputs.size(), 0);
  const bool up = values(p + largest).has_value(), down = values(p - largest).has_value();
  if (!up && !down) return out;
  const bool central = up && down;
  const double first = p + (up ? largest : 0), second = p - (down ? largest : 0);
  const std::size_t levels = central ? 5 : 7;

  std::vector<double> size(outputs.size(), 0.0);
  std::vector<std::vector<double>> row;  // T(k, 0), ... T(k, k) of the last level, per output
  double part = 1;
  for (std::size_t level = 0; level < levels; ++level, part /= 2) {
    const auto above = values(p + part * (first - p)), below = values(p + part * (second - p));
    if (!above || !below) break;
    row.resize(outputs.size());
    const double distance = part * (first - second);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      size[i] = std::max({size[i], std::abs((*above)[i]), std::abs((*below)[i])});
      std::vector<double> next = {((*above)[i] - (*below)[i]) / distance};
      double factor = 1;
      for (std::size_t k = 0; k < level; ++k) {
        factor *= central ? 4 : 2;
        next.push_back(next[k] + (next[k] - row[i][k]) / (factor - 1));
        // Good to what the last extrapolation changes, beside the last level, and to the round-off of the outputs.
        constexpr double kRoundoff = 4 * std::numeric_limits<double>::epsilon();
        const double change = std::max(std::abs(next[k + 1] - next[k]), std::abs(next[k + 1] - row[i][k])) +
                              2 * kRoundoff * size[i] / distance;
        if (change < out.uncertainty[i]) out.uncertainty[i] = change, out.derivatives[i] = next[k + 1];
      }
      row[i] = std::move(next);
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) out.noise[i] = kNoise * size[i] / largest;
  return out;
}

// Nobody knows how large a step is for a value of zero: 1e-2 is little for a place and much for a time of damping, beyond which outputs hardly change and all differences are wrong together.
// Where they have not converged smaller steps are tried, and taken where they are clearly better.
Differences differences(const System& system, int parameter, const SimulateOptions& options,
                        const std::vector<double>& ends, const std::vector<Output>& outputs) {
  constexpr double kRelative = 1e-2, kAbsolute = 1e-2, kSmaller = 1.0 / 64, kClearly = 0.1;
  constexpr int kTries = 4;
  const double p = system.params().get(parameter);
  double largest = p != 0 ? kRelative * std::abs(p) : kAbsolute;
  Differences out = differences_within(largest, system, parameter, options, ends, outputs);
  for (int again = 1; again < kTries; ++again) {
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!out.is_known(i)) unknown.push_back(i);
    if (unknown.empty()) break;
    largest *= kSmaller;
    const Differences finer = differences_within(largest, system, parameter, options, ends, outputs);
    for (const std::size_t i : unknown)
      if (finer.uncertainty[i] < INFINITY && !(finer.relative(i) > kClearly * out.relative(i))) {
        out.derivatives[i] = finer.derivatives[i];
        out.uncertainty[i] = finer.uncertainty[i];
        out.noise[i] = finer.noise[i];
      }
  }
  return out;
}

// "bodies.*.mass" fits "bodies.rod.mass".
bool fits(std::string_view pattern, std::string_view text) {
  // A star takes as little as it can; where the rest does not fit, the last one takes one character more: never more than all pairs.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Indices of Params, and the paths as they were asked for. Patterns leave out parameters that are functions of time, states or sensors, which have no derivatives, and what is there already.
void find_parameters(const Params& params, const std::vector<std::string>& wanted, std::vector<int>& indices,
                     Sensitivity& out) {
  const auto position_of = [&](int number) {
    return std::find(indices.begin(), indices.end(), number) - indices.begin();
  };
  const auto add = [&](int number, const std::string& path) {
    indices.push_back(number);
    out.parameters.push_back(path);
    out.parameter_values.push_back(params.get(number));
    out.parameter_units.emplace_back(parameter_unit(params.description(), number));
  };
  for (const std::string& path : wanted) {
    if (path.find('*') == std::string::npos) {
      const int number = params.find(path);
      if (const auto position = static_cast<std::size_t>(position_of(number)); position < indices.size())
        throw InputError("parameters." + excerpt(path),
                         fmt::format("is named twice: '{}' is the same parameter", out.parameters[position]));
      refuse_function(params, number);
      add(number, path);
      continue;
    }
    const std::size_t before = indices.size();
    std::size_t left_out = 0;
    bool any = false;
    for (int i = 0; i < params.size(); ++i) {
      if (!fits(path, params.path(i))) continue;
      any = true;
      if (is_function(params, i))
        ++left_out;
      else if (position_of(i) == static_cast<std::ptrdiff_t>(indices.size()))
        add(i, params.path(i));
    }
    if (!any)
      throw InputError("parameters." + excerpt(path), "no parameter of the model matches this pattern",
                       "liedyn list parameters MODEL shows them all");
    if (left_out > 0)
      out.notes.push_back(fmt::format(
          "'{}': {} parameters are functions of time, states or sensors and were left out", path, left_out));
    if (indices.size() == before && left_out > 0 && indices.empty())
      throw InputError("parameters." + excerpt(path),
                       "all parameters that match are functions of time, states or sensors",
                       "use the parameters of their expressions");
  }
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double y : x) sum += y * y;
  return std::sqrt(sum);
}

}  // namespace

DirectDerivatives direct_derivatives(const System& system, const SimulateOptions& simulation,
                                     const std::vector<Output>& outputs, const std::vector<int>& parameters) {
  const std::vector<double> ends = step_ends(system, simulation);
  Sensitivity found;
  found.derivatives.resize(outputs.size() * parameters.size());
  run_direct(system, simulation, ends, outputs, parameters, found);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return {found.values,
          Eigen::Map<const RowMajor>(found.derivatives.data(), static_cast<Eigen::Index>(outputs.size()),
                                     static_cast<Eigen::Index>(parameters.size()))};
}

std::string_view name_of(SensitivityMethod method) {
  return method == SensitivityMethod::Direct    ? "direct"
         : method == SensitivityMethod::Adjoint ? "adjoint"
                                                : "difference";
}

SensitivityMethod sensitivity_method(const std::string& name) {
  for (const auto method :
       {SensitivityMethod::Direct, SensitivityMethod::Adjoint, SensitivityMethod::Difference})
    if (name == name_of(method)) return method;
  throw InputError("method", fmt::format("expected direct, adjoint or difference, got '{}'", excerpt(name)));
}

double Sensitivity::derivative(std::string_view output, std::string_view parameter) const {
  const auto position = [](std::string_view what, const std::vector<std::string>& names,
                           std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw InputError("sensitivity", fmt::format("there is no {} '{}'", what, excerpt(name)),
                       did_you_mean(name, names));
    return static_cast<std::size_t>(found - names.begin());
  };
  return derivative(position("output", outputs, output), position("parameter", parameters, parameter));
}

namespace {

// The model without these sensors, which show work. Throws InputError if it has no others.
System without(const std::vector<std::string>& names, const System& system) {
  const Model& model = system.model();
  if (names.size() == model.sensors.size())
    throw InputError("outputs", "all sensors of the model are of type work, which has no derivatives",
                     "add sensors of the type power and use their integrals, \"NAME@integral\"");
  Description d = description_as_set(system.params());
  std::erase_if(d.entries(Section::Sensors), [&](const Entry& entry) {
    return std::find(names.begin(), names.end(), entry.name) != names.end();
  });
  const auto shared = std::make_shared<const Description>(std::move(d));
  return {Model::compile(shared, model.formulation()), Params(shared)};
}

// Backwards.
void run_adjoint(const System& system, const SimulateOptions& simulation, const std::vector<double>& ends,
                 const std::vector<Output>& outputs, const std::vector<int>& indices, Sensitivity& out) {
  AdjointRun run(system, simulation, ends, outputs);
  out.values = run.values();
  const auto size = static_cast<Eigen::Index>(outputs.size());
  const Eigen::MatrixXd gradients = run.gradients(indices, Eigen::MatrixXd::Identity(size, size));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t k = 0; k < indices.size(); ++k)
      out.derivatives[i * indices.size() + k] =
          gradients(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
  out.bytes = run.most_bytes();
}

// Compares the derivatives with finite differences, or takes these in their place.
void add_differences(const System& system, const SensitivityOptions& options, const std::vector<double>& ends,
                     const std::vector<Output>& outputs, const std::vector<int>& indices, Sensitivity& out) {
  const SimulateOptions& simulation = options.simulation;
  const std::size_t count = indices.size();
  const std::clock_t plain_begin = std::clock();
  plain_outputs(system, simulation, ends, outputs);
  out.plain_seconds = seconds_since(plain_begin);
  out.differences.resize(out.derivatives.size());
  out.disagrees.resize(out.derivatives.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Differences by_runs = differences(system, indices[k], simulation, ends, outputs);
    std::vector<double> all, rest;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double difference = by_runs.derivatives[i];
      double& derivative = out.derivatives[i * count + k];
      out.differences[i * count + k] = difference;
      if (options.method == SensitivityMethod::Difference) derivative = difference;
      all.push_back(derivative);
      rest.push_back(derivative - difference);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      // Newton's method may leave more in the differences than their convergence shows. Outputs of one unit share their errors: what is
      // zero but for round-off is zero.
      constexpr double kRelative = 1e-4, kMargin = 100, kZero = 1e-12;
      const double derivative = all[i], difference = by_runs.derivatives[i];
      double shared = 0;
      for (std::size_t j = 0; j < outputs.size(); ++j)
        if (out.output_units[j] == out.output_units[i])
          shared = std::max(shared, kZero * std::abs(all[j]) + by_runs.uncertainty[j] + by_runs.noise[j]);
      out.disagrees[i * count + k] = std::abs(derivative - difference) >
                                     kRelative * std::max(std::abs(derivative), std::abs(difference)) +
                                         kMargin * by_runs.uncertainty[i] + by_runs.noise[i] + shared;
    }
    const double size = std::max(norm(all), 1e-300);
    out.disagreement.push_back(norm(rest) / size);
    out.uncertainty.push_back(norm(by_runs.uncertainty) / size);
    if (std::isnan(by_runs.derivatives.front()))
      out.notes.push_back(fmt::format(
          "'{}' has no finite differences: the model rejects values above and below {:.9g}, or runs fail",
          out.parameters[k], out.parameter_values[k]));
    else if (constexpr double kPoor = 1e-2;
             options.method == SensitivityMethod::Difference && out.uncertainty.back() > kPoor)
      out.notes.push_back(fmt::format(
          "finite differences with respect to '{}' have not converged: their relative uncertainty is {:.2g}",
          out.parameters[k], out.uncertainty.back()));
  }
}

}  // namespace

Sensitivity sensitivity(const System& system, const SensitivityOptions& options) {
  const SimulateOptions& simulation = options.simulation;
  check_times(simulation);
  const Model& model = system.model();
  if (model.is_formulation_open())
    return sensitivity(
        System(Model::compile(model.shared_description(), choose_formulation(system, simulation).formulation),
               system.params()),
        options);
  if (options.parameters.empty())
    throw InputError("parameters", "expected at least one parameter to differentiate with respect to");
  if (model.sensors.empty())
    throw InputError(model.description().file,
                     "the model has no sensors, and so no outputs to differentiate");
  if (const std::vector<std::string> work = sensors_of_work(model); !work.empty()) {
    if (!options.outputs.empty()) parse_outputs(system, simulation, options.outputs);
    Sensitivity out = sensitivity(without(work, system), options);
    if (options.outputs.empty())
      out.notes.push_back(
          fmt::format("left out {}: work is a sum over the steps of a run, which has no derivatives",
                      fmt::join(work, ", ")));
    return out;
  }
  if (options.check && options.method == SensitivityMethod::Difference)
    throw InputError(
        "check", "--check compares with finite differences and cannot be combined with --method difference",
        "use the method direct or adjoint");
  std::vector<Output> outputs = parse_outputs(system, simulation, options.outputs);
  std::vector<int> indices;
  Sensitivity out;
  out.method = options.method;
  find_parameters(system.params(), options.parameters, indices, out);
  if (options.outputs.empty())
    leave_out_reactions(system, simulation, outputs, out.notes);
  else
    refuse_reactions(system, simulation, outputs);
  if (options.method != SensitivityMethod::Difference)
    for (std::string& note : notes_on_bound_parameters(system, simulation, indices))
      out.notes.push_back(std::move(note));
  for (const Output& output : outputs) {
    out.outputs.push_back(output.name);
    out.output_units.push_back(unit_of(model, output));
  }
  out.integrator = make_integrator(system, simulation.integrator)->describe();
  out.formulation = model.formulation();
  const std::vector<double> ends = step_ends(system, simulation);
  out.steps = static_cast<long>(ends.size());
  out.step = (simulation.end - simulation.start) / static_cast<double>(ends.size());

  const std::size_t count = indices.size(), sensors = at(model.sensor_values);
  out.derivatives.resize(outputs.size() * count);
  for (const Sensor& sensor : model.sensors) {
    out.trajectory.channels.push_back(
        {sensor.name, model.unit_of(sensor), out.trajectory.columns, sensor.components});
    out.trajectory.columns += sensor.components;
  }
  const std::clock_t begin = std::clock();
  switch (options.method) {
    case SensitivityMethod::Direct:
      out.trajectory_derivatives.reserve(count * sensors);
      run_direct(system, simulation, ends, outputs, indices, out);
      break;
    case SensitivityMethod::Adjoint: run_adjoint(system, simulation, ends, outputs, indices, out); break;
    case SensitivityMethod::Difference: out.values = plain_outputs(system, simulation, ends, outputs); break;
  }
  out.seconds = seconds_since(begin);
  if (options.check || options.method == SensitivityMethod::Difference)
    add_differences(system, options, ends, outputs, indices, out);
  if (options.method == SensitivityMethod::Difference) out.seconds = seconds_since(begin);
  return out;
}

}  // namespace liedyn

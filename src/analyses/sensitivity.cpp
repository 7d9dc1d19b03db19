#include "analyses/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "analyses/adjoint.h"
#include "analyses/choose_formulation.h"
#include "analyses/fixed_steps.h"
#include "base/suggest.h"

namespace liedyn {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The outputs of a run without derivatives.
std::vector<double> plain_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<double>& ends, const std::vector<Output>& outputs) {
  OutputSums sums(outputs, times_of(options, ends));
  FixedSteps<double> steps(system, options, ends);
  State state = steps.initial(), between = state;
  if (sums.wants_end(0)) sums.add(0, steps.sense(state));
  steps.begin(state);
  State next = state;
  for (std::size_t n = 1; n <= ends.size(); ++n) {
    steps.step(n, state, next);
    for (const double s : sums.parts(n)) {
      steps.between(state, next, s, between);
      sums.add_between(n, s, steps.sense(between));
    }
    if (sums.wants_end(n)) sums.add(n, steps.sense(next));
    std::swap(state, next);
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
  std::vector<double> values(columns), slopes(columns * count);

  const auto read = [&](const std::vector<Varied>& sensors) {
    for (std::size_t c = 0; c < columns; ++c) {
      values[c] = sensors[c].v;
      tape.derivatives(sensors[c].id, slopes.data() + c * count);
    }
  };
  const auto add = [&](const std::vector<OutputTerm>& terms) {
    for (const OutputTerm& term : terms) {
      const Output& output = outputs[term.output];
      double* derivative = out.derivatives.data() + term.output * count;
      // An extremum is where it was seen last.
      if (output.at == Output::At::Maximum || output.at == Output::At::Minimum)
        std::fill_n(derivative, count, 0.0);
      for (std::size_t k = 0; k < count; ++k)
        derivative[k] += term.weight * slopes[at(output.column) * count + k];
    }
  };
  const auto note = [&](std::size_t n, const VariedState& state) {
    const auto every = static_cast<std::size_t>(options.output_every);
    const bool is_row = n == 0 || n == ends.size() || (every > 0 && n % every == 0),
               wanted = sums.wants_end(n);
    if (!is_row && !wanted) return;
    read(steps.sense(state));
    if (wanted) {
      sums.add(n, values);
      add(sums.terms(n));
    }
    if (!is_row) return;
    out.trajectory.data.push_back(state.t);
    out.trajectory.data.insert(out.trajectory.data.end(), values.begin(), values.end());
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t c = 0; c < columns; ++c) out.trajectory_derivatives.push_back(slopes[c * count + k]);
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
  note(0, state);
  steps.begin(state);
  restart(state);
  for (std::size_t n = 1; n <= ends.size(); ++n) {
    next = state;
    steps.step(n, state, next);
    for (const double s : sums.parts(n)) {
      between = next;
      steps.between(state, next, s, between);
      read(steps.sense(between));
      sums.add_between(n, s, values);
      add(sums.terms_between(n, s));
    }
    note(n, next);
    std::swap(state, next);
    restart(state);
    if (options.progress && !options.progress((state.t - options.start) / (options.end - options.start)))
      throw NumericalError(state.t, fmt::format("t = {:.9g}: interrupted", state.t));
  }
  out.values = sums.values();
}

// Derivatives of the outputs with respect to one parameter by central differences with five steps, extrapolated (Romberg) as far as this makes them better.
struct Differences {
  std::vector<double> derivatives, uncertainty;
};
Differences differences(const System& system, int parameter, const SimulateOptions& options,
                        const std::vector<double>& ends, const std::vector<Output>& outputs) {
  constexpr double kRelative = 1e-2, kAbsolute = 1e-2;
  constexpr std::size_t kLevels = 5;
  const double p = system.params().get(parameter);
  const double largest = p != 0 ? kRelative * std::abs(p) : kAbsolute;
  std::vector<double> size(outputs.size(), 0.0);
  const auto central = [&](double step) {
    const auto values = [&](double at_parameter) {
      Params params = system.params();
      params.set(parameter, at_parameter);
      return plain_outputs(System(system.shared_model(), params), options, ends, outputs);
    };
    const std::vector<double> above = values(p + step), below = values(p - step);
    std::vector<double> out;
    for (std::size_t i = 0; i < above.size(); ++i) {
      out.push_back((above[i] - below[i]) / (2 * step));
      size[i] = std::max(std::abs(above[i]), std::abs(below[i]));
    }
    return out;
  };
  std::vector<std::vector<double>> row;  // T(k, 0), ... T(k, k) of the last level, per output
  Differences out;
  out.uncertainty.assign(outputs.size(), std::numeric_limits<double>::infinity());
  out.derivatives.assign(outputs.size(), 0);
  double step = largest;
  for (std::size_t level = 0; level < kLevels; ++level, step /= 2) {
    const std::vector<double> base = central(step);
    row.resize(base.size());
    for (std::size_t i = 0; i < base.size(); ++i) {
      std::vector<double> next = {base[i]};
      double factor = 1;
      for (std::size_t k = 0; k < level; ++k) {
        factor *= 4;
        next.push_back(next[k] + (next[k] - row[i][k]) / (factor - 1));
        // Good to what the last extrapolation changes, beside the last level, and to the round-off of the outputs.
        constexpr double kRoundoff = 4 * std::numeric_limits<double>::epsilon();
        const double change = std::max(std::abs(next[k + 1] - next[k]), std::abs(next[k + 1] - row[i][k])) +
                              kRoundoff * size[i] / step;
        if (change < out.uncertainty[i]) out.uncertainty[i] = change, out.derivatives[i] = next[k + 1];
      }
      row[i] = std::move(next);
    }
  }
  return out;
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

SensitivityMethod sensitivity_method(const std::string& name) {
  if (name == "direct") return SensitivityMethod::Direct;
  if (name == "adjoint") return SensitivityMethod::Adjoint;
  if (name == "difference") return SensitivityMethod::Difference;
  throw InputError("method", fmt::format("expected direct, adjoint or difference, got '{}'", excerpt(name)));
}

Sensitivity sensitivity(const System& system, const SensitivityOptions& options) {
  const SimulateOptions& simulation = options.simulation;
  check_times(simulation);
  const Model& model = system.model();
  if (model.formulation() == "auto")
    return sensitivity(
        System(Model::compile(model.shared_description(), choose_formulation(system, simulation).formulation),
               system.params()),
        options);
  if (options.parameters.empty())
    throw InputError("parameters", "expected at least one parameter to differentiate with respect to");
  if (model.sensors.empty())
    throw InputError(model.description().file, "the model has no sensors, so that nothing has derivatives");
  const std::vector<Output> outputs = parse_outputs(system, simulation, options.outputs);
  std::vector<int> numbers;
  Sensitivity out;
  for (const std::string& path : options.parameters) {
    numbers.push_back(system.params().find(path));
    out.parameters.push_back(path);
    out.parameter_values.push_back(system.params().get(numbers.back()));
  }
  refuse_reactions(system, simulation, outputs);
  for (const Output& output : outputs) out.outputs.push_back(output.name);
  out.integrator = make_integrator(system, simulation.integrator)->describe();
  out.formulation = model.formulation();
  const std::vector<double> ends = step_ends(system, simulation);
  out.steps = static_cast<long>(ends.size());
  out.step = (simulation.end - simulation.start) / static_cast<double>(ends.size());

  const std::size_t count = numbers.size(), sensors = at(model.sensor_values);
  out.derivatives.resize(outputs.size() * count);
  for (const Sensor& sensor : model.sensors) {
    out.trajectory.channels.push_back(
        {sensor.name, sensor.listed->unit, out.trajectory.columns, sensor.components});
    out.trajectory.columns += sensor.components;
  }
  const Clock::time_point begin = Clock::now();
  switch (options.method) {
    case SensitivityMethod::Direct:
      out.trajectory_derivatives.reserve(count * sensors);
      run_direct(system, simulation, ends, outputs, numbers, out);
      break;
    case SensitivityMethod::Adjoint: {
      AdjointRun run(system, simulation, ends, outputs);
      out.values = run.values();
      const auto size = static_cast<Eigen::Index>(outputs.size());
      const Eigen::MatrixXd gradients = run.gradients(numbers, Eigen::MatrixXd::Identity(size, size));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        for (std::size_t k = 0; k < count; ++k)
          out.derivatives[i * count + k] =
              gradients(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
      out.bytes = run.most_bytes();
      break;
    }
    case SensitivityMethod::Difference: out.values = plain_outputs(system, simulation, ends, outputs); break;
  }
  out.seconds = seconds_since(begin);
  if (!options.check && options.method != SensitivityMethod::Difference) return out;

  const Clock::time_point plain_begin = Clock::now();
  plain_outputs(system, simulation, ends, outputs);
  out.plain_seconds = seconds_since(plain_begin);
  out.differences.resize(out.derivatives.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Differences by_runs = differences(system, numbers[k], simulation, ends, outputs);
    std::vector<double> all, rest;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      out.differences[i * count + k] = by_runs.derivatives[i];
      if (options.method == SensitivityMethod::Difference)
        out.derivatives[i * count + k] = by_runs.derivatives[i];
      all.push_back(out.derivative(i, k));
      rest.push_back(out.derivative(i, k) - by_runs.derivatives[i]);
    }
    const double size = std::max(norm(all), 1e-300);
    out.disagreement.push_back(norm(rest) / size);
    out.uncertainty.push_back(norm(by_runs.uncertainty) / size);
  }
  return out;
}

}  // namespace liedyn

#include "liedyn/analyses/state_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "liedyn/analyses/eigenvalues.h"
#include "liedyn/analyses/lost_digits.h"
#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/shortest_solution.h"
#include "liedyn/analyses/singular_position.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/sensors/work.h"
#include "liedyn/system/matrix_parts.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Input {
  std::string path;
  int number;
  double value;
};

// Of a force that is named also other functions of time: the target of a motor. What follows signals is part of the system, no input.
void add_loads(const System& system, const Entry& force, bool named, std::vector<std::string>& out) {
  std::vector<int> follows;
  for (const NumberExpression* signal : signals_of(system.model().description(), force))
    follows.push_back(signal->number);
  for (std::size_t f = 0; f < force.fields.size(); ++f) {
    const Field& field = force.kind->fields[f];
    if (!field.may_depend_on_time || (!named && field.load == LoadKind::None)) continue;
    for (int i = 0; i < force.fields[f].count && force.fields[f].first >= 0; ++i) {
      const int number = force.fields[f].first + i;
      if (std::find(follows.begin(), follows.end(), number) == follows.end())
        out.push_back(system.params().path(number));
    }
  }
}

std::vector<Input> inputs_of(const System& system, const std::vector<std::string>& asked, double time) {
  const auto& forces = system.model().description().entries(Section::Forces);
  std::vector<std::string> paths;
  if (asked.empty())
    for (const Entry& force : forces) add_loads(system, force, false, paths);
  for (const std::string& path : asked) {
    const auto force = std::find_if(forces.begin(), forces.end(),
                                    [&](const Entry& entry) { return path == "forces." + entry.name; });
    const std::size_t before = paths.size();
    if (force != forces.end()) add_loads(system, *force, true, paths);
    if (paths.size() != before) continue;
    if (force != forces.end())
      throw InputError("inputs",
                       fmt::format("'{}' has no load of its own that could be an input", excerpt(path)),
                       "name one of its parameters, or a parameter that its expressions use");
    paths.push_back(path);
  }
  const Params& params = system.params();
  std::vector<double> variables(params.values().begin(), params.values().begin() + params.parameter_count());
  variables.push_back(time);
  std::vector<Input> out;
  std::vector<Diagnostic> findings;
  for (const std::string& path : paths) try {
      const int number = params.find(path);
      // What they change is more than r: a joint's place moves B, a body's mass M.
      for (const char* section : {"joints", "bodies", "beams", "flexible"})
        if (path.starts_with(fmt::format("{}.", section)))
          throw InputError(
              "inputs",
              fmt::format("'{}' is a parameter of {}, which cannot be an input", excerpt(path), section),
              "inputs are loads, or other parameters of forces");
      double value = params.get(number);
      for (const Params::Bound& timed : params.timed())
        if (timed.number == number) value = timed.expression.evaluate<double>(variables);
      out.push_back({path, number, value});
    } catch (const InputError& error) {
      findings.insert(findings.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  if (!findings.empty()) throw InputError(findings);
  return out;
}

// Values of the sensors that are outputs.
struct OutputRow {
  std::string name;
  int value;   // its index among the values of all sensors
  bool angle;  // jumps by a whole turn somewhere
};

std::vector<OutputRow> outputs_of(const Model& model, const std::vector<std::string>& asked) {
  std::vector<OutputRow> out;
  std::vector<std::string> names;
  for (const Sensor& sensor : model.sensors) names.push_back(sensor.name);
  std::vector<Diagnostic> findings;
  for (const std::string& name : asked.empty() ? names : asked) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      findings.push_back({"", 0, "outputs", fmt::format("there is no sensor '{}'", excerpt(name)),
                          did_you_mean(name, names)});
      continue;
    }
    const Sensor& sensor = model.sensors[static_cast<std::size_t>(found - names.begin())];
    if (shows_work(model, sensor)) {
      if (!asked.empty())
        findings.push_back(
            {"", 0, "outputs",
             fmt::format("'{}' shows work, the integral of a power over a run: it is no output "
                         "of a linear system at a state",
                         name),
             "use a sensor of the type power"});
      continue;
    }
    for (int i = 0; i < sensor.components; ++i)
      out.push_back({sensor.components == 1 ? name : fmt::format("{}[{}]", name, i), sensor.first + i,
                     sensor.listed->traits.is_angle});
  }
  if (!findings.empty()) throw InputError(findings);
  return out;
}

// df/de at 0 by five points: the error is of the order h^4.
template <class F>
VectorXd derivative(const F& f, double h) {
  const auto central = [&](double step) -> VectorXd { return f(step, -step) / (2 * step); };
  return (4 * central(h / 2) - central(h)) / 3;
}
constexpr double kStep = 1e-3;

// Steps of the coordinates x, in proportion to what they are made of: nothing moves by more than kStep times the size of the model, or turns by more than kStep. Velocities
// are those that the forces there are give within the size, or those there are; states change in proportion to their value, or to what makes the motions change by that.
VectorXd steps_of(const System& system, const State& state, const Linearization& l, const MinimalEquations& e,
                  const MatrixXd& dq, Work& work) {
  const Model& model = system.model();
  system.residual(state, work, {});
  const Eigen::Index np = e.P.cols(), n = e.A.rows(), states = l.states();
  const auto largest_of = [&](const MatrixXd& X, Eigen::Index column) {
    double out = 0;
    for (const Node& node : model.nodes)
      for (int k = 0; k < node_size(node.type).v && node.v + k < l.first_state; ++k)
        out = std::max(out, std::abs(X(node.v + k, column)) / (is_displacement(node.type, k) ? l.size : 1));
    return out;
  };
  double speed = 0, mass = 0;
  for (std::size_t i = 0; i < model.body_types.size(); ++i)
    speed =
        std::max({speed, work.motions[i].V.head<3>().norm() / l.size, work.motions[i].V.tail<3>().norm()});
  const Linearization natural = in_natural_units(l);
  if (l.first_state > 0) mass = natural.M.diagonal().head(l.first_state).maxCoeff();
  if (speed == 0 && mass > 0) speed = std::sqrt(largest_force(system, state, l) / (mass * l.size));
  if (speed == 0 && mass > 0) speed = std::sqrt(natural.K.norm() / mass);
  if (!(speed > 0)) speed = 1;
  VectorXd out = VectorXd::Constant(n, kStep);
  for (Eigen::Index k = 0; k < n - states; ++k) {
    const double moved = k < np ? largest_of(dq, k) : largest_of(e.V, k - np) / speed;
    if (moved > 0) out[k] /= moved;
  }
  const VectorXd units = balanced(e.A, n - states).D;
  for (Eigen::Index k = n - states; k < n; ++k) {
    const double value = std::abs(state.v[at(e.rates[static_cast<std::size_t>(k - np)])]);
    out[k] = kStep * (value > 0 ? value : n > states ? l.size * units[k] : 1);
  }
  return out;
}

class Outputs {
 public:
  Outputs(const Model& model, std::vector<OutputRow> list)
      : list_(std::move(list)), variables_(at(model.sensor_variables)), values_(at(model.sensor_values)) {}
  const std::vector<OutputRow>& list() const { return list_; }
  VectorXd values(const System& system, const State& state, Work& work) {
    system.sense(state, work, variables_, values_.data());
    VectorXd out(static_cast<Eigen::Index>(list_.size()));
    for (std::size_t i = 0; i < list_.size(); ++i)
      out[static_cast<Eigen::Index>(i)] = values_[at(list_[i].value)];
    return out;
  }
  VectorXd difference(const VectorXd& a, const VectorXd& b) const {
    VectorXd out = a - b;
    for (Eigen::Index i = 0; i < out.size(); ++i)
      if (list_[static_cast<std::size_t>(i)].angle) out[i] = std::remainder(out[i], 2 * std::numbers::pi);
    return out;
  }

 private:
  std::vector<OutputRow> list_;
  std::vector<double> variables_, values_;
};

// What of the axes of steady motion a user must know.
void add_warnings_about_axes(const SteadyAxes& axes, double t, std::vector<std::string>& warnings) {
  if (!as_if_steady(axes)) {
    warnings.push_back(
        fmt::format("{}: A is the derivative of the accelerations by coordinates and rates at t = {:.6g} s",
                    not_steady(axes), t));
    return;
  }
  if (std::string warning = not_quite_steady(axes, t); !warning.empty())
    warnings.push_back(std::move(warning));
  if (!axes.rate.isZero())
    warnings.push_back(fmt::format(
        "the coordinates are along axes that rotate at ({:.6g}, {:.6g}, {:.6g}) rad/s; C and D are "
        "those of t = {:.6g} s",
        axes.rate.x(), axes.rate.y(), axes.rate.z(), t));
}

// Residuals of positions, velocities and accelerations, which may follow a number that Phi does not show: the speed of a drive.
std::vector<double> constraint_residuals(const Work& work) {
  std::vector<double> rows = work.phi;
  rows.insert(rows.end(), work.rate.begin(), work.rate.end());
  rows.insert(rows.end(), work.acceleration.begin(), work.acceleration.end());
  return rows;
}

// dr/du, by differences over whole systems with other numbers: loads enter r linearly. Throws InputError if constraints follow an input.
MatrixXd load_derivatives(const System& system, const State& state, const std::vector<Input>& inputs,
                          Work& work) {
  const Eigen::Index nv = system.model().nv;
  MatrixXd load(nv, static_cast<Eigen::Index>(inputs.size()));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Input& input = inputs[k];
    const double h = kStep * std::max(1.0, std::abs(input.value));
    std::vector<std::vector<double>> moved;
    const auto residual_at = [&](double step) -> VectorXd {
      Params params = system.params();
      params.set(input.number, input.value + step);
      const System other(system.shared_model(), params);
      Work other_work(other, kFullPivoting);
      other.residual(state, other_work, {true, true, true});
      moved.push_back(constraint_residuals(other_work));
      return Eigen::Map<const VectorXd>(other_work.r.data(), nv);
    };
    load.col(static_cast<Eigen::Index>(k)) =
        derivative([&](double a, double b) -> VectorXd { return residual_at(a) - residual_at(b); }, h);
    system.residual(state, work, {true, true, true});
    constexpr double kSeen = 1e-3, kRoundOff = 1e-12;
    const std::vector<double> here = constraint_residuals(work);
    for (const std::vector<double>& there : moved)
      for (std::size_t i = 0; i < here.size(); ++i)
        if (std::abs(there[i] - here[i]) > kSeen * h + kRoundOff * std::abs(here[i]))
          throw InputError(
              "inputs",
              fmt::format("the constraint '{}' depends on '{}', which cannot be an input",
                          system.model().row_name(static_cast<int>(i % work.phi.size())), input.path),
              "inputs are loads, or other parameters of forces");
  }
  return load;
}

// How the whole state follows x and u, column by column.
struct StateColumns {
  MatrixXd q, v, vdot, lambda;

  State moved(const Model& model, const State& from, Eigen::Index column, double step) const {
    State to = from;
    const VectorXd d = step * q.col(column);
    for (const Node& node : model.nodes)
      increment_position(node.type, d.data() + node.v, to.q.data() + node.q);
    const auto add = [&](std::vector<double>& numbers, const MatrixXd& by) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] += step * by(static_cast<Eigen::Index>(i), column);
    };
    add(to.v, v);
    add(to.vdot, vdot);
    add(to.lambda, lambda);
    return to;
  }
};

// From the minimal equations and the loads in their directions:  y'' = V zeta' + Z x
StateColumns state_columns(const System& system, const State& state, const Linearization& l,
                           const MinimalEquations& e, const MatrixXd& B, const MatrixXd& projected_load,
                           Work& work) {
  const Model& model = system.model();
  const Eigen::Index np = e.P.cols(), n = e.A.rows(), nv = model.nv, ni = B.cols();
  MatrixXd y = MatrixXd::Zero(nv, n + ni), rate = y, acceleration = y;
  y.leftCols(np) = e.P;
  rate.leftCols(n) << e.Y, e.V;
  acceleration << e.V * e.A.bottomRows(n - np) + e.Z, e.V * B.bottomRows(n - np);
  MatrixXd forces = l.M * acceleration + l.C * rate + l.K * y;
  forces.rightCols(ni) += projected_load;
  StateColumns out;
  out.lambda = MatrixXd::Zero(model.rows, n + ni);
  if (model.rows > 0) {
    // Of least norm where rows repeat others, in the scales of docs/theory/10.
    const std::vector<double> scales = constraint_scales(system, state, work).row;
    const auto row = Eigen::Map<const VectorXd>(scales.data(), model.rows);
    const MatrixXd scaled = l.unit.asDiagonal() * MatrixXd(l.L) * row.asDiagonal();
    out.lambda = -(row.asDiagonal() * shortest_solution(scaled, l.unit.asDiagonal() * forces));
  }
  out.q = l.Q * y;
  out.v = l.V0 * y + l.V1 * rate;
  out.vdot = l.A0 * y + l.A1 * rate + l.A2 * acceleration;
  return out;
}

// C and D, by differences of the sensors along these columns.
void differentiate_sensors(const System& system, const State& state, const StateColumns& columns,
                           const VectorXd& steps, const std::vector<Input>& inputs, Outputs& outputs,
                           Work& work, StateSpace& out) {
  const Model& model = system.model();
  const Eigen::Index n = out.A.rows();
  const VectorXd here = outputs.values(system, state, work);
  out.output_values.assign(here.begin(), here.end());
  for (const OutputRow& output : outputs.list()) out.outputs.push_back(output.name);
  out.C.resize(here.size(), n);
  for (Eigen::Index k = 0; k < n; ++k)
    out.C.col(k) = derivative(
        [&](double a, double b) {
          return outputs.difference(outputs.values(system, columns.moved(model, state, k, a), work),
                                    outputs.values(system, columns.moved(model, state, k, b), work));
        },
        steps[k]);
  out.D.resize(here.size(), static_cast<Eigen::Index>(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const auto values_at = [&](double step) {
      Params params = system.params();
      params.set(inputs[i].number, inputs[i].value + step);
      const System other(system.shared_model(), params);
      Work other_work(other, kFullPivoting);
      return outputs.values(other, columns.moved(model, state, n + k, step), other_work);
    };
    out.D.col(k) =
        derivative([&](double a, double b) { return outputs.difference(values_at(a), values_at(b)); },
                   kStep * std::max(1.0, std::abs(inputs[i].value)));
  }
}

}  // namespace

Eigen::MatrixXcd StateSpace::transfer(std::complex<double> s) const {
  const Eigen::MatrixXcd shifted =
      s * Eigen::MatrixXcd::Identity(A.rows(), A.cols()) - A.cast<std::complex<double>>();
  return C.cast<std::complex<double>>() * shifted.partialPivLu().solve(B.cast<std::complex<double>>()) +
         D.cast<std::complex<double>>();
}

StateSpace state_space(const System& system, const State& state, const StateSpaceOptions& options) {
  const Model& model = system.model();
  if (model.nv > kLargestDense)
    throw InputError(
        "", fmt::format("expected at most {} velocities for a state space, got {}", kLargestDense, model.nv),
        "`liedyn modes` works on large models");
  const std::vector<Input> inputs = inputs_of(system, options.inputs, state.t);
  Outputs outputs(model, outputs_of(model, options.outputs));
  Work work(system, kFullPivoting);
  StateSpace out;
  out.model = model.description().name;
  out.formulation = model.formulation();
  out.time = state.t;
  out.warnings = flexible_warnings(model, system.params().values().data());
  const auto warn = [&](std::string warning) {
    if (!warning.empty()) out.warnings.push_back(std::move(warning));
  };
  warn(lost_digits(system, state, work));
  if (const std::vector<std::string> left_out = sensors_of_work(model);
      options.outputs.empty() && !left_out.empty())
    warn(
        fmt::format("left out {}: work is the integral of a power over a run, and no output of a linear "
                    "system at a state",
                    fmt::join(left_out, ", ")));
  require_derivatives(system, state, work);
  out.axes = steady_axes(system, state, work);
  add_warnings_about_axes(out.axes, state.t, out.warnings);
  const bool steady = as_if_steady(out.axes);
  if (!steady) out.axes.rate = Vec3::Zero();

  const Linearization l =
      steady ? linearize(system, state, out.axes.rate, work) : linearize_unsteady(system, state, work);
  warn(singular_position(system, state, l, work));
  const MinimalEquations e = minimal_equations(l);
  const std::vector<std::string> names = shape_names(model);
  for (const int i : e.coordinates) out.states.push_back(names[at(i)]);
  for (const int i : e.rates)
    out.states.push_back(i < model.first_state() ? names[at(i)] + " rate" : names[at(i)]);
  for (const Input& input : inputs) {
    out.inputs.push_back(input.path);
    out.input_values.push_back(input.value);
  }

  const MatrixXd projected_load = l.Q.transpose() * load_derivatives(system, state, inputs, work);
  const Eigen::Index rates = e.A.rows() - e.P.cols();
  out.A = e.A;
  out.B = MatrixXd::Zero(e.A.rows(), projected_load.cols());
  out.B.bottomRows(rates) = e.F * projected_load;
  const StateColumns columns = state_columns(system, state, l, e, out.B, projected_load, work);
  const VectorXd steps = steps_of(system, state, l, e, columns.q, work);
  differentiate_sensors(system, state, columns, steps, inputs, outputs, work, out);
  for (Eigen::Index k = 0; k < out.B.cols(); ++k)
    if (out.B.col(k).isZero() && out.D.col(k).isZero())
      warn(fmt::format("no state or output depends on the input '{}'",
                       inputs[static_cast<std::size_t>(k)].path));
  return out;
}

}  // namespace liedyn

#include "liedyn/analyses/converge.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "liedyn/analyses/events.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/base/independent_jobs.h"
#include "liedyn/base/suggest.h"
#include "liedyn/lie/so3.h"

namespace liedyn {
namespace {

constexpr double kMostSteps = 1e9;    // of one run
constexpr long kMostSamples = 1000;   // kept of each run
constexpr long kReferenceFactor = 8;  // steps of the default reference per smallest step
constexpr std::size_t kFittedRows = 4;
constexpr int kNodeValues = 13;  // place, quaternion, inertial velocity, body-frame angular velocity

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long largest_divisor(long number, long most) {
  for (long divisor = std::min(number, most); divisor > 1; --divisor)
    if (number % divisor == 0) return divisor;
  return 1;
}

// One simulation and what is kept of it.
struct Run {
  std::size_t system = 0;
  std::string integrator;
  long steps = 0;

  std::vector<double> samples;  // one after the other
  std::vector<bool> taken;      // which of them: a method that chooses its steps need not meet all times
  DriveReport report;
  double cpu_seconds = 0;
};

// A part of the samples whose error is of interest.
struct Quantity {
  enum class Kind { Poses, Twists, Values } kind;
  std::string name;
  int first = 0, count = 0;  // of Values
};

// The multipliers that all systems have: minimal coordinates leave out most of them, and then there are none to compare.
int common_multipliers(const std::vector<System>& systems) {
  for (const System& system : systems)
    if (system.model().rows != systems.front().model().rows) return 0;
  return systems.front().model().rows;
}

// What a sample holds: all bodies, the multipliers that all systems have, all sensors.
class Samples {
 public:
  Samples(const Model& model, int multipliers)
      : nodes_(static_cast<int>(model.bodies().size())),
        multipliers_(multipliers),
        lambda_(nodes_ * kNodeValues),
        sensors_(lambda_ + multipliers),
        size_(sensors_ + model.sensor_values) {}

  int size() const { return size_; }
  int first_multiplier() const { return lambda_; }
  int multipliers() const { return multipliers_; }
  int first_sensor() const { return sensors_; }

  // Sensing brings the motions up to date.
  void take(const System& system, const State& state, Work& work, std::vector<double>& variables,
            double* sample) const {
    system.sense(state, work, variables, sample + sensors_);
    std::copy_n(state.lambda.begin(), multipliers_, sample + lambda_);
    for (int i = 0; i < nodes_; ++i, sample += kNodeValues) {
      const Motion<double>& m = work.motions[static_cast<std::size_t>(i)];
      Eigen::Map<Vec3>{sample} = m.p;
      Eigen::Map<Eigen::Vector4d>{sample + 3} = SO3<double>::from_matrix(m.R).coordinates();
      Eigen::Map<Vec3>{sample + 7} = m.velocity();
      Eigen::Map<Vec3>{sample + 10} = m.V.tail<3>();
    }
  }

  double distance(const Quantity& quantity, const double* a, const double* b) const {
    double sum = 0;
    if (quantity.kind == Quantity::Kind::Values) {
      for (int i = quantity.first; i < quantity.first + quantity.count; ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
      return std::sqrt(sum);
    }
    for (int i = 0; i < nodes_; ++i, a += kNodeValues, b += kNodeValues) {
      if (quantity.kind == Quantity::Kind::Twists) {
        sum += (twist(a) - twist(b)).squaredNorm();
      } else {
        sum +=
            (place(a) - place(b)).squaredNorm() + (rotation(a).inverse() * rotation(b)).log().squaredNorm();
      }
    }
    return std::sqrt(sum);
  }

  double norm(const Quantity& quantity, const double* a) const {
    double sum = 0;
    if (quantity.kind == Quantity::Kind::Values) {
      for (int i = quantity.first; i < quantity.first + quantity.count; ++i) sum += a[i] * a[i];
      return std::sqrt(sum);
    }
    for (int i = 0; i < nodes_; ++i, a += kNodeValues)
      sum += quantity.kind == Quantity::Kind::Twists ? twist(a).squaredNorm() : place(a).squaredNorm() + 1;
    return std::sqrt(sum);
  }

 private:
  using Vector3 = Eigen::Map<const Vec3>;
  static Vector3 place(const double* node) { return Vector3(node); }
  static SO3<double> rotation(const double* node) {
    return SO3<double>::from_coordinates(Eigen::Map<const Eigen::Vector4d>(node + 3));
  }
  static Eigen::Map<const Vec6> twist(const double* node) { return Eigen::Map<const Vec6>(node + 7); }

  int nodes_, multipliers_, lambda_, sensors_, size_;
};

void check(const std::vector<System>& systems, const ConvergeOptions& o) {
  for (const System& system : systems)
    if (system.model().is_formulation_open())
      throw InputError("formulation",
                       "auto may choose different formulations for different runs, which cannot be compared",
                       fmt::format("name the formulations: {}", fmt::join(formulations(), ", ")));
  std::vector<Diagnostic> findings;
  const auto add = [&](const char* path, std::string message, std::string hint = {}) {
    findings.push_back({"", 0, path, std::move(message), std::move(hint)});
  };
  if (!std::isfinite(o.start) || !std::isfinite(o.end) || o.end <= o.start)
    add("end", fmt::format("must be a time after the start ({}), got {}", o.start, o.end));
  else if (o.from && !(*o.from >= o.start && *o.from < o.end))
    add("from", fmt::format("expected a time from {} to less than {}, got {}", o.start, o.end, *o.from));
  const auto check_step = [&](const char* path, double step) {
    if (!std::isfinite(step) || step <= 0)
      add(path, fmt::format("expected positive steps, got {}", step));
    else if ((o.end - o.start) / step > kMostSteps)
      add(path, fmt::format("{} makes more than {:g} steps", step, kMostSteps));
  };
  if (o.steps.empty()) add("steps", "expected at least one step size, got none");
  for (const double step : o.steps) check_step("steps", step);
  if (!o.reference.integrator.empty()) check_step("reference", o.reference.step);
  if (o.jobs < 1) add("jobs", fmt::format("expected a number of 1 or more, got {}", o.jobs));
  if (o.integrators.empty()) add("integrators", "expected at least one integrator, got none");
  std::vector<std::string> integrators = o.integrators;
  if (!o.reference.integrator.empty()) integrators.push_back(o.reference.integrator);
  for (const std::string& integrator : integrators) {
    try {
      check_integrator(integrator);
    } catch (const InputError& error) {
      findings.insert(findings.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  std::vector<std::string> names;
  for (const Sensor& sensor : systems.front().model().sensors) names.push_back(sensor.name);
  for (const std::string& sensor : o.sensors)
    if (std::find(names.begin(), names.end(), sensor) == names.end())
      add("of",
          fmt::format("the model has no sensor '{}', expected one of {}", excerpt(sensor),
                      fmt::join(names, ", ")),
          did_you_mean(sensor, names));
  if (!findings.empty()) throw InputError(findings);
}

class ConvergenceStudy {
 public:
  ConvergenceStudy(const std::vector<System>& systems, const ConvergeOptions& options)
      : systems_(systems), options_(options), layout_(systems.front().model(), common_multipliers(systems)) {
    check(systems, options);
    out_.model = systems_.front().model().description().name;
    out_.start = options_.start;
    out_.end = options_.end;
    out_.from = options_.from.value_or(options_.start);
    out_.norm = options_.norm;
    out_.jobs = options_.jobs;
  }

  Convergence result() {
    choose_quantities();
    plan();
    run_all(pointers(runs_));
    if (stop_) return interrupted();
    if (options_.reference.recorded)
      read_reference();
    else
      run_reference();
    if (stop_) return interrupted();
    compare();
    return std::move(out_);
  }

 private:
  void choose_quantities() {
    const Model& model = systems_.front().model();
    using Kind = Quantity::Kind;
    if (!options_.reference.recorded) {
      quantities_ = {{Kind::Poses, "q"}, {Kind::Twists, "v"}};
      if (layout_.multipliers() > 0)
        quantities_.push_back({Kind::Values, "lambda", layout_.first_multiplier(), layout_.multipliers()});
    }
    const auto wanted = [&](const Sensor& sensor) {
      const auto& chosen = options_.sensors;
      if (std::find(chosen.begin(), chosen.end(), sensor.name) != chosen.end()) return true;
      return options_.reference.recorded && chosen.empty() && recorded_channel(sensor) != nullptr;
    };
    std::vector<Diagnostic> findings;
    for (const Sensor& sensor : model.sensors) {
      if (!wanted(sensor)) continue;
      if (options_.reference.recorded && recorded_channel(sensor) == nullptr)
        findings.push_back({options_.reference.file, 0, "",
                            fmt::format("expected columns of the sensor '{}' ({} of them), got none",
                                        sensor.name, sensor.components),
                            ""});
      quantities_.push_back(
          {Kind::Values, sensor.name, layout_.first_sensor() + sensor.first, sensor.components});
    }
    if (quantities_.empty())
      findings.push_back({options_.reference.file, 0, "", "has no column of a sensor of this model", ""});
    if (!findings.empty()) throw InputError(findings);
    for (const Quantity& quantity : quantities_) out_.quantities.push_back(quantity.name);
  }

  const Channel* recorded_channel(const Sensor& sensor) const {
    for (const Channel& channel : options_.reference.recorded->channels)
      if (channel.name == sensor.name && channel.components == sensor.components) return &channel;
    return nullptr;
  }

  // All combinations, each with all steps.
  void plan() {
    std::vector<long> counts;
    for (const double step : options_.steps) counts.push_back(step_count(options_.start, options_.end, step));
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    smallest_step_count_ = counts.back();
    long common = 0;
    for (const long count : counts) common = std::gcd(common, count);
    grid_ = largest_divisor(common, kMostSamples);
    known_.assign(static_cast<std::size_t>(grid_ + 1), true);
    for (const std::string& integrator : options_.integrators)
      for (std::size_t s = 0; s < systems_.size(); ++s) {
        const std::unique_ptr<Integrator> method = make_integrator(systems_[s], integrator);
        ConvergenceCase c;
        c.integrator = integrator;
        c.resolved = method->describe();
        c.formulation = systems_[s].model().formulation();
        c.warnings = method->warnings();
        out_.cases.push_back(std::move(c));
        for (const long count : counts) {
          Run run;
          run.system = s;
          run.integrator = integrator;
          run.steps = count;
          runs_.push_back(std::move(run));
          planned_steps_ += count;
        }
      }
    rows_per_case_ = counts.size();
  }

  static std::vector<Run*> pointers(std::vector<Run>& runs) {
    std::vector<Run*> out;
    for (Run& run : runs) out.push_back(&run);
    return out;
  }

  void simulate(Run& run) {
    SimulateOptions options;
    options.start = options_.start;
    options.end = options_.end;
    options.step = (options_.end - options_.start) / static_cast<double>(run.steps);
    options.integrator = run.integrator;
    options.initial = options_.initial;
    Simulation simulation(systems_[run.system], options, Simulation::End::Fixed);
    std::vector<double> variables(static_cast<std::size_t>(systems_[run.system].model().sensor_variables));
    run.samples.assign(static_cast<std::size_t>((grid_ + 1) * layout_.size()), kUnknown);
    run.taken.assign(static_cast<std::size_t>(grid_ + 1), false);
    const double spacing = (options_.end - options_.start) / static_cast<double>(grid_);
    double observing = 0;
    const auto sample_if_due = [&](const State& now) {
      const double place = (now.t - options_.start) / spacing;
      const long i = std::lround(place);
      if (std::abs(place - static_cast<double>(i)) > 1e-10) return;
      const double begin = thread_cpu_seconds();
      layout_.take(simulation.system(), now, simulation.work(), variables,
                   run.samples.data() + i * layout_.size());
      run.taken[static_cast<std::size_t>(i)] = true;
      observing += thread_cpu_seconds() - begin;
    };
    const auto observe = [&](const State& now, long step) {
      constexpr long kSeldom = 64;
      if (step % kSeldom == 0) done_steps_.fetch_add(kSeldom, std::memory_order_relaxed);
      sample_if_due(now);
      return !stop_.load(std::memory_order_relaxed);
    };
    sample_if_due(simulation.state());
    observing = 0;
    const double begin = thread_cpu_seconds();
    simulation.run_to(options.end, observe);
    run.cpu_seconds = thread_cpu_seconds() - begin - observing;
    run.report = simulation.report();
    const State& state = simulation.state();
    if (run.report.completed &&
        !std::all_of(state.q.begin(), state.q.end(), [](double x) { return std::isfinite(x); })) {
      run.report.completed = false;
      run.report.failure = "the solution is not finite";
    }
  }

  // The longest first, so that no thread is left with it at the end.
  void run_all(std::vector<Run*> runs) {
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run* a, const Run* b) { return a->steps > b->steps; });
    const auto stop = [&] {
      return options_.progress &&
             !options_.progress(std::min(1.0, static_cast<double>(done_steps_) /
                                                  static_cast<double>(planned_steps_ + reference_steps())));
    };
    run_jobs(
        runs.size(), options_.jobs, [&]() -> Job { return [&](std::size_t i) { simulate(*runs[i]); }; }, stop,
        stop_);
    for (const Run* run : runs)
      if (run->report.completed && !stop_) keep_known(run->taken);
  }

  // Errors are taken at times that all have.
  void keep_known(const std::vector<bool>& taken) {
    for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = known_[i] && taken[i];
  }

  // Of the reference and its check with twice the step.
  long reference_steps() const {
    if (options_.reference.recorded) return 0;
    long steps = kReferenceFactor * smallest_step_count_;
    if (!options_.reference.integrator.empty()) {
      const long even = 2 * grid_;
      steps = (step_count(options_.start, options_.end, options_.reference.step) + even - 1) / even * even;
    }
    return steps + steps / 2;
  }

  Convergence interrupted() {
    out_.interrupted = true;
    out_.cases.clear();
    return std::move(out_);
  }

  const Run& run_of(std::size_t c, std::size_t row) const { return runs_[c * rows_per_case_ + row]; }
  const double* sample(const Run& run, long i) const {
    return run.samples.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(layout_.size());
  }
  double time(long i) const {
    return options_.start +
           (options_.end - options_.start) * static_cast<double>(i) / static_cast<double>(grid_);
  }

  bool counts(long i) const {
    return known_[static_cast<std::size_t>(i)] &&
           time(i) >= out_.from - 1e-9 * (options_.end - options_.start);
  }

  // Largest distance over the samples that count.
  double difference(const Quantity& quantity, const Run& a, const Run& b) const {
    double worst = 0;
    for (long i = options_.norm == ErrorNorm::End ? grid_ : 0; i <= grid_; ++i) {
      if (!counts(i)) continue;
      const double distance = layout_.distance(quantity, sample(a, i), sample(b, i));
      if (!(distance <= worst)) worst = distance;  // also if it is not a number
    }
    return worst;
  }

  // The case that changed least between its two smallest steps; the first that came to the end if there is one step only.
  std::size_t steadiest_case() const {
    std::size_t best = out_.cases.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < out_.cases.size(); ++c) {
      const Run& last = run_of(c, rows_per_case_ - 1);
      // A method that chooses its own steps is not made finer by a smaller one.
      if (!last.report.completed || last.report.steps != last.steps) continue;
      double change = 1;
      if (rows_per_case_ > 1) {
        const Run& before = run_of(c, rows_per_case_ - 2);
        if (!before.report.completed) {
          if (best == out_.cases.size()) best = c;
          continue;
        }
        for (const Quantity& quantity : quantities_) change *= difference(quantity, before, last);
      }
      if (change < least) least = change, best = c;
    }
    if (best < out_.cases.size()) return best;
    const Run& first = run_of(0, rows_per_case_ - 1);
    if (first.report.completed)
      throw InputError("reference",
                       "all integrators are adaptive, so that none gives a finer reference solution",
                       "name one: INTEGRATOR@STEP, or a result file");
    throw NumericalError(
        options_.start,
        fmt::format("no run with the smallest step was completed, so that there is no reference solution: "
                    "{}: {} (hint: try smaller steps, or name a --reference)",
                    out_.cases[0].label(), first.report.failure));
  }

  void run_reference() {
    reference_.integrator = options_.reference.integrator;
    if (reference_.integrator.empty()) {
      const Run& best = run_of(steadiest_case(), 0);
      reference_.integrator = best.integrator;
      reference_.system = best.system;
    }
    reference_.steps = reference_steps() / 3 * 2;
    std::vector<Run> both(2, reference_);
    both[1].steps /= 2;
    run_all(pointers(both));
    if (stop_) return;
    reference_ = std::move(both[0]);
    const double step = (options_.end - options_.start) / static_cast<double>(reference_.steps);
    out_.reference = fmt::format("{} {}, step {:.6g}", reference_.integrator,
                                 systems_[reference_.system].model().formulation(), step);
    if (!reference_.report.completed)
      throw NumericalError(options_.start, fmt::format("the reference ({}) failed: {}", out_.reference,
                                                       reference_.report.failure));
    if (!both[1].report.completed)
      throw NumericalError(options_.start, fmt::format("the error of the reference ({}) cannot be estimated, "
                                                       "since the run with twice its step failed: {}",
                                                       out_.reference, both[1].report.failure));
    for (const Quantity& quantity : quantities_)
      out_.reference_difference.push_back(difference(quantity, reference_, both[1]));
  }

  // Rows of the file at the common times.
  void read_reference() {
    const Trajectory& table = *options_.reference.recorded;
    out_.reference = options_.reference.file;
    out_.reference_difference.assign(quantities_.size(), kUnknown);
    reference_.samples.assign(static_cast<std::size_t>((grid_ + 1) * layout_.size()), 0);
    std::vector<bool> recorded(static_cast<std::size_t>(grid_ + 1), false);
    const double slack = 1e-9 * (options_.end - options_.start);
    std::size_t row = 0;
    for (long i = 0; i <= grid_; ++i) {
      while (row < table.rows() && table.at(row, 0) < time(i) - slack) ++row;
      if (row == table.rows()) break;
      if (table.at(row, 0) > time(i) + slack) continue;
      recorded[static_cast<std::size_t>(i)] = true;
      double* out = reference_.samples.data() + i * layout_.size() + layout_.first_sensor();
      for (const Sensor& sensor : systems_.front().model().sensors)
        if (const Channel* const channel = recorded_channel(sensor))
          for (int k = 0; k < channel->components; ++k)
            out[sensor.first + k] = table.at(row, channel->first + k);
    }
    keep_known(recorded);
    if (options_.norm == ErrorNorm::End ? !known_.back()
                                        : std::find(known_.begin() + 1, known_.end(), true) == known_.end())
      throw InputError({{options_.reference.file, 0, "",
                         fmt::format("has no row at {}", options_.norm == ErrorNorm::End
                                                             ? fmt::format("the end, t = {}", options_.end)
                                                             : "a time that all steps share"),
                         "record it with steps that divide those compared"}});
  }

  void compare() {
    const std::size_t count = quantities_.size();
    for (long i = 1; i <= grid_; ++i) out_.samples += counts(i) ? 1 : 0;  // at the start all are the same
    for (const Quantity& quantity : quantities_) {
      double scale = 0;
      for (long i = 0; i <= grid_; ++i)
        if (known_[static_cast<std::size_t>(i)])
          scale = std::max(scale, layout_.norm(quantity, sample(reference_, i)));
      out_.scales.push_back(scale > 0 ? scale : 1);
    }
    for (std::size_t k = 0; k < count; ++k) out_.reference_difference[k] /= out_.scales[k];
    for (std::size_t c = 0; c < out_.cases.size(); ++c) {
      ConvergenceCase& one = out_.cases[c];
      for (std::size_t r = 0; r < rows_per_case_; ++r) one.rows.push_back(row_of(run_of(c, r)));
      for (std::size_t k = 0; k < count; ++k) find_orders(one, k);
    }
  }

  ConvergenceRow row_of(const Run& run) const {
    ConvergenceRow row;
    row.completed = run.report.completed;
    row.steps = row.completed ? run.report.steps : run.steps;
    row.step = (options_.end - options_.start) / static_cast<double>(row.steps);
    row.failure = run.report.failure;
    row.orders.assign(quantities_.size(), kUnknown);
    row.errors.assign(quantities_.size(), kUnknown);
    row.doubtful.assign(quantities_.size(), false);
    const auto done = static_cast<double>(run.report.steps);
    if (done > 0) {
      row.newton_per_step = static_cast<double>(run.report.newton_iterations) / done;
      row.jacobians_per_step = static_cast<double>(run.report.jacobian_updates) / done;
      row.cpu_seconds = run.cpu_seconds;
    }
    if (!row.completed) return row;
    for (std::size_t k = 0; k < quantities_.size(); ++k) {
      row.errors[k] = difference(quantities_[k], run, reference_) / out_.scales[k];
      row.doubtful[k] = row.errors[k] < 2 * out_.reference_difference[k];
    }
    return row;
  }

  static void find_orders(ConvergenceCase& one, std::size_t k) {
    std::vector<std::pair<double, double>> points;  // log h, log e
    const ConvergenceRow* before = nullptr;
    for (ConvergenceRow& row : one.rows) {
      if (!row.completed || !(row.errors[k] > 0)) continue;
      if (before != nullptr && row.step < 0.99 * before->step)
        row.orders[k] = std::log(before->errors[k] / row.errors[k]) / std::log(before->step / row.step);
      before = &row;
      if (!row.doubtful[k]) points.emplace_back(std::log(row.step), std::log(row.errors[k]));
    }
    if (points.size() > kFittedRows) points.erase(points.begin(), points.end() - kFittedRows);
    one.fitted.push_back(slope(points));
  }

  static double slope(const std::vector<std::pair<double, double>>& points) {
    if (points.size() < 2) return kUnknown;
    double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
    for (const auto& [x, y] : points) {
      x_mean += x / static_cast<double>(points.size());
      y_mean += y / static_cast<double>(points.size());
    }
    for (const auto& [x, y] : points) {
      xx += (x - x_mean) * (x - x_mean);
      xy += (x - x_mean) * (y - y_mean);
    }
    return xy / xx;
  }

  const std::vector<System>& systems_;
  const ConvergeOptions& options_;
  Samples layout_;
  std::vector<Quantity> quantities_;
  std::vector<Run> runs_;  // rows of the first case, of the second, ...
  std::size_t rows_per_case_ = 0;
  Run reference_;
  long grid_ = 1;                 // samples are taken at time(0), ..., time(grid_)
  std::vector<bool> known_;       // those that all runs and the reference have
  long smallest_step_count_ = 0;  // number of the smallest steps
  long planned_steps_ = 0;
  std::atomic<long> done_steps_ = 0;
  std::atomic<bool> stop_ = false;
  Convergence out_;
};

}  // namespace

std::vector<double> step_range(double start, double end, double largest, double smallest, int count) {
  const double interval = end - start;
  if (!std::isfinite(interval) || interval <= 0)
    throw InputError("end", fmt::format("must be a time after the start ({}), got {}", start, end));
  if (!std::isfinite(largest) || !std::isfinite(smallest) || smallest <= 0 || largest <= smallest)
    throw InputError(
        "step range",
        fmt::format("expected two positive steps, the larger one first, got {} and {}", largest, smallest));
  if (count < 2) throw InputError("step range", fmt::format("expected two steps or more, got {}", count));
  if (interval / smallest > kMostSteps)
    throw InputError("step range", fmt::format("{} makes more than {:g} steps", smallest, kMostSteps));
  // Numbers of steps that are multiples of a divisor of the first one share at least so many times.
  constexpr long kEnough = 10, kMost = 50;
  long first = step_count(start, end, largest);
  if (first > kEnough && largest_divisor(first, kMost) < kEnough)
    first = (first + kEnough - 1) / kEnough * kEnough;
  const double ratio = std::pow(largest / smallest, 1.0 / (count - 1));
  const bool whole = std::abs(ratio - std::round(ratio)) < 1e-6 * ratio;
  const long common = whole ? first : largest_divisor(first, kMost);
  std::vector<double> steps;
  for (int i = 0; i < count; ++i) {
    const double wanted = static_cast<double>(first) * std::pow(ratio, i);
    const long number = std::max(1L, std::lround(wanted / static_cast<double>(common))) * common;
    const double step = interval / static_cast<double>(number);
    if (steps.empty() || step < steps.back()) steps.push_back(step);
  }
  return steps;
}

Convergence converge(const std::vector<System>& systems, const ConvergeOptions& options) {
  for (const System& system : systems) refuse_events(system.model(), "a study of convergence");
  return ConvergenceStudy(systems, options).result();
}

}  // namespace liedyn

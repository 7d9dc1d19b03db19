#include "liedyn/analyses/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/turn_watch.h"
#include "liedyn/base/independent_jobs.h"
#include "liedyn/base/suggest.h"

namespace liedyn {

int SweepPlan::output_width() const {
  int width = 0;
  for (const Reduction& r : variants.front().outputs) width += r.width();
  return width;
}

void SweepPlan::prepare() {
  std::vector<Diagnostic> findings;
  std::vector<std::string> names;
  expressions_.clear();
  for (const SweepVariable& v : variables) {
    Expression expression;
    if (v.source == SweepVariable::Source::Expression) {
      try {
        expression = Expression::parse(v.expression, names);
      } catch (const ExpressionError& error) {
        findings.push_back(
            {"", 0, fmt::format("parameters.{}.expression", v.name),
             fmt::format("'{}': {}", excerpt(v.expression), error.what()),
             error.hint().empty() ? "it may use the parameters that are defined before it" : error.hint()});
      }
    }
    expressions_.push_back(std::move(expression));
    names.push_back(v.name);
  }
  if (!findings.empty()) throw InputError(findings);
}

std::vector<double> SweepPlan::values(std::uint64_t index) const {
  using Source = SweepVariable::Source;
  const std::uint64_t point = index % sampling.size();
  std::vector<double> out(variables.size());
  int dimension = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const SweepVariable& v = variables[i];
    if (v.source == Source::Values)
      out[i] = v.values[static_cast<std::size_t>(sampling.choice(point, dimension++))];
    else if (v.source == Source::Distribution)
      out[i] = v.distribution.quantile(sampling.unit(point, dimension++));
    else
      out[i] = expressions_[i].evaluate<double>({out.data(), i});
  }
  return out;
}

CaseRunner::CaseRunner(const SweepPlan& plan) : plan_(&plan) {
  for (const SweepVariant& variant : plan.variants) {
    Variant own{variant.system.params(), {}};
    for (const SweepVariable& v : plan.variables) {
      std::vector<int> indices;
      if (!variant.reread)
        for (const std::string& path : v.parameters) indices.push_back(own.params.find(path));
      own.indices.push_back(std::move(indices));
    }
    variants_.push_back(std::move(own));
  }
}

CaseRecord CaseRunner::run(std::uint64_t index, const std::function<bool()>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  CaseRecord out;
  out.index = index;
  out.outputs.assign(static_cast<std::size_t>(plan_->output_width()),
                     std::numeric_limits<double>::quiet_NaN());
  const SweepVariant& variant = plan_->variant(index);
  const Variant& own = variants_[static_cast<std::size_t>(&variant - plan_->variants.data())];
  try {
    out.variables = plan_->values(index);
    for (std::size_t i = 0; i < out.variables.size(); ++i)
      if (!std::isfinite(out.variables[i]))
        throw InputError(plan_->variables[i].name,
                         fmt::format("expected a finite value, got {}", out.variables[i]));
    if (variant.reread) {
      std::vector<std::pair<std::string, double>> set;
      for (std::size_t i = 0; i < out.variables.size(); ++i)
        for (const std::string& path : plan_->variables[i].parameters)
          set.emplace_back(path, out.variables[i]);
      const auto [system, options] = variant.reread(set);
      simulate_case(variant, system, options, stop, out);
    } else {
      Params params = own.params;
      for (std::size_t i = 0; i < out.variables.size(); ++i)
        for (const int number : own.indices[i]) params.set(number, out.variables[i]);
      const System system(variant.system.shared_model(), std::move(params));
      simulate_case(variant, system, variant.options, stop, out);
    }
  } catch (const InputError& error) {
    out.status = CaseStatus::Refused;
    out.message = error.what();
  } catch (const NumericalError& error) {
    out.status = CaseStatus::Failed;
    out.statistics.end = error.time();
    out.message = error.what();
  } catch (const std::bad_alloc&) {
    out.status = CaseStatus::Failed;
    out.message = "out of memory";
  } catch (const std::exception& error) {
    out.status = CaseStatus::Failed;
    out.message = error.what();
  }
  if (not_kept_) std::rethrow_exception(std::exchange(not_kept_, nullptr));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

void CaseRunner::simulate_case(const SweepVariant& variant, const System& given,
                               const SimulateOptions& options, const std::function<bool()>& stop,
                               CaseRecord& out) {
  const auto begin = std::chrono::steady_clock::now();
  // To ask the clock after every step would cost a tenth of a cheap one.
  constexpr long kAsk = 16;
  constexpr double kCheap = 1e-3;  // s
  bool timed_out = false;
  long next_question = 1;
  const auto goes_on = [&](long step) {
    if (plan_->time_limit > 0 && step >= next_question) {
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      timed_out = elapsed > plan_->time_limit;
      next_question = step + (elapsed < kCheap * static_cast<double>(step) ? kAsk : 1);
    }
    return !timed_out && !(stop && stop());
  };
  Simulation simulation(given, options, Simulation::End::Fixed);
  const System& system = simulation.system();
  sensed_.resize(static_cast<std::size_t>(system.model().sensor_values));
  scratch_.resize(static_cast<std::size_t>(system.model().sensor_variables));
  Reducer reducer(variant.outputs, options.start, options.end);
  TurnWatch turns(system.model(), options.start);
  double last = simulation.time();
  const auto record = [&](const State& state) {
    system.sense(state, simulation.work(), scratch_, sensed_.data());
    reducer.add(state.t, sensed_);
    last = state.t;
  };
  record(simulation.state());
  // As `simulate` records with output_every = 1: equal steps all, adaptive ones at multiples of the step.
  const bool adaptive = simulation.integrator().control().adaptive;
  if (adaptive) simulation.set_output(options.step, record);
  simulation.run_to(options.end, [&](const State& now, long step) {
    turns.add(now);
    if (!adaptive) record(now);
    return goes_on(step);
  });
  const DriveReport& report = simulation.report();
  out.statistics = {static_cast<double>(report.steps), static_cast<double>(report.newton_iterations),
                    static_cast<double>(report.jacobian_updates), static_cast<double>(report.rejected),
                    simulation.time()};
  if (!report.completed) {
    if (report.interrupted && !timed_out) return;
    out.status = timed_out ? CaseStatus::TimedOut : CaseStatus::Failed;
    // Where the limit ends a run depends on the machine: the message does not say.
    out.message = timed_out ? fmt::format("took longer than {} s", plan_->time_limit) : report.failure;
    if (timed_out) out.statistics = {};
    return;
  }
  if (last != simulation.time() || simulation.changed_at() == last) record(simulation.state());
  out.outputs = reducer.finish();
  out.status = CaseStatus::Completed;
  std::vector<std::string> warnings = simulation.warnings();
  if (std::string turn = turns.warning(report.largest_step); !turn.empty())
    warnings.push_back(std::move(turn));
  out.message = fmt::format("{}", fmt::join(warnings, "; "));
  if (!plan_->keep || std::find(plan_->kept.begin(), plan_->kept.end(), out.index) == plan_->kept.end())
    return;
  SimulateOptions again = options;
  again.progress = [&](double) { return !(stop && stop()); };
  const Result result = simulate(given, again);
  if (result.summary.interrupted) {
    out.status = CaseStatus::Missing;
    return;
  }
  try {
    plan_->keep(out.index, result);
  } catch (...) {  // no failure of this case
    not_kept_ = std::current_exception();
  }
}

std::pair<System, SimulateOptions> case_system(const SweepPlan& plan, std::uint64_t index) {
  const SweepVariant& variant = plan.variant(index);
  const std::vector<double> values = plan.values(index);
  std::vector<std::pair<std::string, double>> set;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const std::string& path : plan.variables[i].parameters) set.emplace_back(path, values[i]);
  if (variant.reread) return variant.reread(set);
  Params params = variant.system.params();
  for (const auto& [path, value] : set) params.set(params.find(path), value);
  return {System(variant.system.shared_model(), std::move(params)), variant.options};
}

void run_cases(const SweepPlan& plan, const std::vector<std::uint64_t>& cases, int threads,
               const CaseSink& sink, const std::function<bool()>& stop) {
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  bool in_sink = false;  // stays so where the sink throws: it gets no further record
  const auto make_worker = [&]() -> Job {
    return [&, runner = std::make_shared<CaseRunner>(plan)](std::size_t i) {
      const CaseRecord record =
          runner->run(cases[i], [&] { return stopped.load(std::memory_order_relaxed); });
      if (record.status == CaseStatus::Missing) return;
      const std::lock_guard lock(mutex);
      if (std::exchange(in_sink, true)) return;
      sink(record);
      in_sink = false;
      if (plan.stop_at_failure && record.status != CaseStatus::Completed) stopped = true;
    };
  };
  run_jobs(cases.size(), threads, make_worker, stop, stopped);
}

}  // namespace liedyn

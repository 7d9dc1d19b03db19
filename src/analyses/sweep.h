// Studies of many runs: one model or several, parameters from grids, lists and distributions, numbers made of each run. A case is known by its index alone, and gives the same bits wherever it is run.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/analyses/reductions.h"
#include "liedyn/analyses/sampling.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/base/expression.h"

namespace liedyn {

struct SweepVariable {
  std::string name;
  std::vector<std::string>
      parameters;  // paths of Params, all of which have its value; none: only expressions use it
  enum class Source { Values, Distribution, Expression } source = Source::Values;
  std::vector<double> values;  // of grids and lists
  Distribution distribution;
  std::string expression;  // of the variables before it
};

// What a case is run with besides its parameters.
struct SweepVariant {
  std::string model, formulation, integrator;  // as the study names them
  System system;
  SimulateOptions options;
  std::vector<Reduction> outputs;
  // Parameters that the reader of the model needs are not set but read anew, with these values. Empty: no variable is one.
  std::function<std::pair<System, SimulateOptions>(const std::vector<std::pair<std::string, double>>&)>
      reread;
};

struct SweepPlan {
  std::vector<SweepVariable> variables;
  Sampling sampling{Sampling::Method::List, 0, 1, 0};
  std::vector<SweepVariant> variants;  // each of them with all points of the sampling
  double time_limit = 0;               // of one case [s]; 0: none
  bool stop_at_failure = false;
  // Cases whose results are kept in full, and who keeps them.
  std::vector<std::uint64_t> kept;
  std::function<void(std::uint64_t index, const Result&)> keep;

  std::uint64_t cases() const { return sampling.size() * variants.size(); }
  const SweepVariant& variant(std::uint64_t index) const {
    return variants[static_cast<std::size_t>(index / sampling.size())];
  }
  int output_width() const;  // all numbers of all outputs
  // The values of the variables. They may not be numbers, if expressions give none.
  std::vector<double> values(std::uint64_t index) const;

  // Expressions, once all variables are known. Throws InputError.
  void prepare();

 private:
  std::vector<Expression> expressions_;  // parallel to variables; empty where there is none
};

enum class CaseStatus : std::uint8_t {
  Missing = 0,    // not run
  Completed = 1,  // reached its end, or the event that stops it
  Failed = 2,     // the numerics failed; the message says when and where
  Refused = 3,    // the model does not allow these parameters
  TimedOut = 4,   // took longer than the limit
};
inline constexpr std::string_view kCaseStatuses[] = {"missing", "completed", "failed", "refused",
                                                     "timed out"};

struct CaseRecord {
  std::uint64_t index = 0;
  CaseStatus status = CaseStatus::Missing;
  std::vector<double> variables, outputs;  // outputs that there are not: not a number
  struct Statistics {
    double steps = 0, newton_iterations = 0, jacobian_updates = 0, rejected = 0, end = 0;
  } statistics;
  double seconds = 0;   // elapsed, which is not the same in every run
  std::string message;  // why it failed, or what it warns of
};

// Runs cases one after the other; one for each thread.
class CaseRunner {
 public:
  explicit CaseRunner(const SweepPlan& plan);
  // `stop` is asked now and then; where it says true the record has the status Missing.
  CaseRecord run(std::uint64_t index, const std::function<bool()>& stop);

 private:
  struct Variant {
    Params params;
    std::vector<std::vector<int>> indices;  // of parameters, per variable
  };
  void simulate_case(const SweepVariant& variant, const System& system, const SimulateOptions& options,
                     const std::function<bool()>& stop, CaseRecord& out);

  const SweepPlan* plan_;
  std::vector<Variant> variants_;
  std::vector<double> sensed_, scratch_;
  std::exception_ptr not_kept_;
};

// A case by itself: its system, and the settings of its run. Throws InputError if the model does not allow its parameters.
std::pair<System, SimulateOptions> case_system(const SweepPlan& plan, std::uint64_t index);

// Called with every record, by one thread at a time. Throwing ends the study: the exception reaches the caller.
using CaseSink = std::function<void(const CaseRecord&)>;

// Runs the cases on this many threads, in any order. `stop` is asked now and then; cases that it ends give no record.
void run_cases(const SweepPlan& plan, const std::vector<std::uint64_t>& cases, int threads,
               const CaseSink& sink, const std::function<bool()>& stop);

}  // namespace liedyn

#include "liedyn/analyses/remedies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "liedyn/base/error.h"
#include "liedyn/integrators/integrator.h"

namespace liedyn {
namespace {

// Whether the method of "name,key=value,..." has the option.
bool has_option(const std::string& integrator, const std::string& option) {
  const std::string name = integrator.substr(0, integrator.find(','));
  for (const ListedIntegrator& listed : integrators())
    if (listed.name == name)
      return std::any_of(listed.options.begin(), listed.options.end(),
                         [&](const IntegratorOption& known) { return known.name == option; });
  return false;
}

bool gives(const std::string& integrator, const std::string& option) {
  return integrator.find("," + option + "=") != std::string::npos;
}

struct Change {
  std::string text;  // as it is typed
  SimulateOptions options;
};

std::vector<Change> changes_of(const SimulateOptions& options, bool adaptive) {
  std::vector<Change> out;
  const auto add_method = [&](const std::string& more) {
    out.push_back({fmt::format("--integrator {}{}", options.integrator, more), options});
    out.back().options.integrator += more;
  };
  if (!adaptive)
    for (const double part : {2.0, 10.0}) {
      out.push_back({fmt::format("--step {:.3g}", options.step / part), options});
      out.back().options.step = options.step / part;
    }
  if (!adaptive && has_option(options.integrator, "adaptive") && !gives(options.integrator, "adaptive"))
    add_method(",adaptive=true");
  if (has_option(options.integrator, "newton") && has_option(options.integrator, "line_search") &&
      !gives(options.integrator, "newton") && !gives(options.integrator, "line_search"))
    add_method(",newton=full,line_search=true");
  // With index 3 the round-off of velocities grows with 1/h: small tolerances are out of reach.
  if (adaptive && has_option(options.integrator, "index") && !gives(options.integrator, "index"))
    for (const char* index : {",index=stabilized", ",index=2"}) add_method(index);
  return out;
}

}  // namespace

Remedies find_remedies(const System& system, const SimulateOptions& options, const Result& failed,
                       double patience) {
  // Some steps behind the failure, so that it is not merely put off.
  constexpr double kBehind = 10;
  const double beyond =
      std::min(options.end, failed.summary.end + kBehind * std::max(failed.summary.step, options.step));
  Remedies out;
  for (Change& change : changes_of(options, failed.summary.adaptive)) {
    SimulateOptions& o = change.options;
    o.output_every = 0;
    o.recorded = {};
    o.checkpoint = {};
    o.resume = {};
    const auto start = std::chrono::steady_clock::now();
    bool late = false, passed = false;
    o.progress = [&](double fraction) {
      passed = o.start + fraction * (o.end - o.start) >= beyond;
      late = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > patience;
      return !passed && !late;
    };
    try {
      const Result result = simulate(system, o);
      passed = passed || result.summary.completed;
    } catch (const InputError&) {  // it does not go together with the other options
      continue;
    } catch (const NumericalError&) {
    }
    (passed ? out.help : late ? out.unsure : out.fail).push_back(std::move(change.text));
  }
  return out;
}

std::string describe(const Remedies& r) {
  std::vector<std::string> parts;
  if (!r.help.empty())
    parts.push_back(fmt::format("with {} the run continues beyond this time", fmt::join(r.help, " or ")));
  if (!r.fail.empty()) parts.push_back(fmt::format("tried without success: {}", fmt::join(r.fail, "; ")));
  if (!r.unsure.empty())
    parts.push_back(fmt::format("tried, but too slow to decide: {}", fmt::join(r.unsure, "; ")));
  return fmt::format("{}", fmt::join(parts, ". "));
}

}  // namespace liedyn

#include "liedyn/io/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "liedyn/base/hash.h"
#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/io/load.h"
#include "liedyn/io/study_reader.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/further_findings.h"
#include "liedyn/system/model_hash.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;
using Source = SweepVariable::Source;
using Method = Sampling::Method;
using Set = std::vector<std::pair<std::string, double>>;

constexpr std::string_view kFormat = "liedyn_study";
constexpr double kMostCases = 1e9;

template <class List>
std::string listed(const List& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

class SweepReader : public StudyReader {
 public:
  using StudyReader::StudyReader;

  // One text under `one`, or several under `several`; none: `otherwise`.
  std::vector<std::string> texts(const JsonValue& parent, const std::string& path, std::string_view one,
                                 std::string_view several, std::vector<std::string> otherwise) {
    const JsonValue single = parent.find(one), list = parent.find(several);
    const std::string prefix = path.empty() ? "" : path + ".";
    if (single && list)
      finding(list, prefix + std::string(several),
              fmt::format("expected '{}' or '{}', got both", one, several));
    if (single) return {text(parent, one, path, "")};
    if (!list) return otherwise;
    std::vector<std::string> out;
    if (!list.is(JsonType::Array) || list.size() == 0)
      finding(list, prefix + std::string(several), "expected a list of strings, got " + list.describe());
    else
      for (const JsonValue item : list)
        if (!item.is(JsonType::String))
          finding(item, prefix + std::string(several), "expected a string, got " + item.describe());
        else if (std::find(out.begin(), out.end(), item.text()) != out.end())
          finding(item, prefix + std::string(several),
                  fmt::format("'{}' is given twice", excerpt(item.text())));
        else
          out.emplace_back(item.text());
    return out.empty() ? otherwise : out;
  }

  std::vector<double> numbers(const JsonValue& value, const std::string& path) {
    std::vector<double> out;
    if (!value.is(JsonType::Array) || value.size() == 0) {
      finding(value, path, "expected a list of numbers, got " + value.describe());
      return out;
    }
    for (const JsonValue item : value)
      if (item.is(JsonType::Number) && std::isfinite(item.number()))
        out.push_back(item.number());
      else
        finding(item, path, "expected a finite number, got " + item.describe());
    return out;
  }

  // lower ... upper in `count` equal parts, or in equal ratios.
  std::vector<double> range(const JsonValue& item, const std::string& path) {
    const auto lower = number(item, "lower", path), upper = number(item, "upper", path);
    const std::string spacing = text(item, "spacing", path, "linear");
    const auto count = whole(item, "count", path, 1, 1e6);
    if (spacing != "linear" && spacing != "log")
      finding(item.find("spacing"), path + ".spacing",
              fmt::format("expected linear or log, got '{}'", excerpt(spacing)));
    if (!lower || !upper) {
      finding(item, path, "expected 'lower' and 'upper' together with 'count'");
      return {};
    }
    if (spacing == "log" && !(*lower > 0 && *upper > 0)) {
      finding(item, path,
              fmt::format("expected bounds above 0, since their spacing is logarithmic, got {} and {}",
                          *lower, *upper));
      return {};
    }
    std::vector<double> out;
    const auto n = static_cast<std::size_t>(count.value_or(1));
    for (std::size_t i = 0; i < n; ++i) {
      const double s = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
      const double x = spacing == "log" ? *lower * std::exp(s * std::log(*upper / *lower))
                                        : *lower + s * (*upper - *lower);
      out.push_back(i + 1 == n && n > 1 ? *upper : x);
    }
    return out;
  }

  std::optional<double> whole(const JsonValue& object, std::string_view key, const std::string& path,
                              double least, double most) {
    const auto value = number(object, key, path);
    if (value && *value == std::floor(*value) && *value >= least && *value <= most) return value;
    if (value)
      finding(object.find(key), fmt::format("{}.{}", path, key),
              fmt::format("expected a whole number from {} to {}, got {}", least, most, *value));
    return {};
  }

  SweepVariable variable(const JsonValue& item) {
    const std::string path = "parameters." + excerpt(item.key());
    if (item.key().find_first_of(".[") != std::string_view::npos)
      finding(item, path, "expected a name, got the path of a parameter",
              fmt::format(R"(choose a name, and give the path inside: "mass": {{"parameter": "{}", ...}})",
                          excerpt(item.key())));
    else
      check_name(item, path);
    SweepVariable v;
    v.name = std::string(item.key());
    v.parameters = {v.name};
    // Short: a list of values, or an expression.
    if (item.is(JsonType::Array)) {
      v.values = numbers(item, path);
      return v;
    }
    if (item.is(JsonType::String)) {
      v.source = Source::Expression;
      v.expression = std::string(item.text());
      return v;
    }
    if (!keys(item, path,
              {"parameter", "parameters", "values", "count", "spacing", "distribution", "lower", "upper",
               "mean", "deviation", "median", "log_deviation", "weights", "expression"}))
      return v;
    if (const JsonValue none = item.find("parameters"); none && none.is(JsonType::Array) && none.size() == 0)
      v.parameters.clear();
    else
      v.parameters = texts(item, path, "parameter", "parameters", {v.name});
    const bool has_values = static_cast<bool>(item.find("values")),
               has_count = static_cast<bool>(item.find("count")),
               has_distribution = static_cast<bool>(item.find("distribution")),
               has_expression = static_cast<bool>(item.find("expression"));
    const auto only = [&](std::initializer_list<std::string_view> allowed) {
      for (const JsonValue member : item)
        if (member.key() != "parameter" && member.key() != "parameters" &&
            std::find(allowed.begin(), allowed.end(), member.key()) == allowed.end())
          finding(member, path + "." + excerpt(member.key()),
                  fmt::format("is not allowed here: expected {}", listed(allowed)));
    };
    if (has_distribution) {
      v.source = Source::Distribution;
      read_distribution(item, path, v.distribution, only);
    } else if (has_expression) {
      v.source = Source::Expression;
      v.expression = text(item, "expression", path, "");
      only({"expression"});
    } else if (has_values && !has_count) {
      v.values = numbers(item.find("values"), path + ".values");
      only({"values"});
    } else if (has_count && !has_values) {
      v.values = range(item, path);
      only({"lower", "upper", "count", "spacing"});
    } else {
      finding(item, path, "expected one of: values; lower, upper and count; distribution; expression");
    }
    return v;
  }

  template <class Only>
  void read_distribution(const JsonValue& item, const std::string& path, Distribution& d, const Only& only) {
    const std::string kind = text(item, "distribution", path, "");
    const auto found = std::find(std::begin(kDistributions), std::end(kDistributions), kind);
    if (found == std::end(kDistributions))
      return finding(item.find("distribution"), path + ".distribution",
                     fmt::format("expected {}, got '{}'", listed(kDistributions), excerpt(kind)),
                     did_you_mean(kind, kDistributions));
    d.kind = static_cast<Distribution::Kind>(found - std::begin(kDistributions));
    bool complete = true;
    const auto required = [&](std::string_view key) {
      if (!item.find(key))
        finding(item, fmt::format("{}.{}", path, key),
                fmt::format("is missing: a {} distribution has it", kind));
      const std::optional<double> value = number(item, key, path);
      complete = complete && value;
      return value;
    };
    switch (d.kind) {
      case Distribution::Kind::Uniform:
      case Distribution::Kind::LogUniform:
        only({"distribution", "lower", "upper"});
        d.lower = required("lower").value_or(1), d.upper = required("upper").value_or(2);
        break;
      case Distribution::Kind::Normal:
        only({"distribution", "mean", "deviation", "lower", "upper"});
        d.center = required("mean").value_or(0), d.deviation = required("deviation").value_or(1);
        break;
      case Distribution::Kind::LogNormal:
        only({"distribution", "median", "log_deviation", "lower", "upper"});
        d.center = required("median").value_or(1), d.deviation = required("log_deviation").value_or(1);
        break;
      case Distribution::Kind::Discrete:
        only({"distribution", "values", "weights"});
        if (const JsonValue values = item.find("values")) d.values = numbers(values, path + ".values");
        if (const JsonValue weights = item.find("weights")) d.weights = numbers(weights, path + ".weights");
        break;
    }
    if (d.kind == Distribution::Kind::Normal || d.kind == Distribution::Kind::LogNormal) {
      d.lower = number(item, "lower", path).value_or(d.lower);
      d.upper = number(item, "upper", path).value_or(d.upper);
    }
    // Without one of its numbers it is not judged by what stands in its place.
    if (!complete) return;
    if (const std::string mistake = d.mistake(); !mistake.empty()) finding(item, path, mistake);
  }

  void read_parameters(const JsonValue& root, SweepPlan& plan) {
    const JsonValue parameters = object(root, "parameters");
    if (!parameters) return;
    std::map<std::string, std::string> known;  // parameters of the model, and which entry has their values
    for (const JsonValue item : parameters) {
      plan.variables.push_back(variable(item));
      const SweepVariable& v = plan.variables.back();
      for (const std::string& path : v.parameters)
        if (const auto [other, is_new] = known.emplace(path, v.name); !is_new)
          finding(item, "parameters." + v.name,
                  fmt::format("'{}' already has the values of '{}'", excerpt(path), other->second),
                  R"(an entry that only expressions use has "parameters": [])");
    }
  }

  // Values have a meaning for grids and lists, distributions for all others. Each point is a case of each variant.
  void read_sampling(const JsonValue& root, SweepPlan& plan, std::uint64_t variants) {
    const JsonValue s = object(root, "sampling");
    if (s) keys(s, "sampling", {"method", "cases", "seed", "scramble"});
    const bool has_distribution =
        std::any_of(plan.variables.begin(), plan.variables.end(),
                    [](const SweepVariable& v) { return v.source == Source::Distribution; });
    const std::string name = s ? text(s, "method", "sampling", has_distribution ? "" : "grid")
                             : has_distribution ? ""
                                                : "grid";
    const auto found = std::find(std::begin(kSamplings), std::end(kSamplings), name);
    if (found == std::end(kSamplings))
      return finding(s ? s : root, "sampling.method",
                     fmt::format("expected {}, got '{}'", listed(kSamplings), excerpt(name)),
                     did_you_mean(name, kSamplings));
    const auto method = static_cast<Method>(found - std::begin(kSamplings));
    const bool enumerates = method == Method::Grid || method == Method::List;
    std::vector<std::uint64_t> sizes;
    const JsonValue parameters = root.find("parameters");
    int dimensions = 0;
    for (const SweepVariable& v : plan.variables) {
      if (v.source == Source::Expression) continue;
      ++dimensions;
      const JsonValue at = parameters.find(v.name);
      if (enumerates != (v.source == Source::Values))
        finding(
            at, "parameters." + v.name,
            enumerates
                ? fmt::format("expected values, or lower, upper and count, since the sampling is a {}", name)
                : fmt::format("expected a distribution, since the sampling is {}", name),
            enumerates ? "" : "values with equal probability: \"distribution\": \"discrete\"");
      sizes.push_back(v.values.size());
      if (method == Method::List && v.values.size() != sizes.front())
        finding(at, "parameters." + v.name,
                fmt::format("expected as many values as the first parameter has ({}), got {}", sizes.front(),
                            v.values.size()));
    }
    const auto count = s ? whole(s, "cases", "sampling", 1, kMostCases) : std::nullopt;
    const auto seed = s ? whole(s, "seed", "sampling", 0, 9007199254740992.0) : std::nullopt;
    if (!enumerates && !(s && s.find("cases")))
      finding(s ? s : root, "sampling.cases", "is missing: expected the number of points");
    if (enumerates && s && s.find("cases"))
      finding(s.find("cases"), "sampling.cases",
              fmt::format("is not allowed: the values of a {} determine it", name));
    if (dimensions > Sampling::most_dimensions(method))
      finding(s, "sampling.method",
              fmt::format("{} has at most {} dimensions, got {} parameters", name,
                          Sampling::most_dimensions(method), dimensions),
              "use latin-hypercube, or random");
    bool scrambles = true;
    if (const JsonValue scramble = s ? s.find("scramble") : JsonValue()) {
      if (!scramble.is(JsonType::Boolean))
        finding(scramble, "sampling.scramble", "expected true or false, got " + scramble.describe());
      else
        scrambles = scramble.boolean();
      if (method != Method::Sobol && method != Method::Halton)
        finding(scramble, "sampling.scramble", "applies to sobol and halton only");
    }
    if (!findings.empty()) return;
    plan.sampling = Sampling(method, dimensions, static_cast<std::uint64_t>(count.value_or(1)),
                             static_cast<std::uint64_t>(seed.value_or(0)), scrambles,
                             enumerates ? sizes : std::vector<std::uint64_t>{});
    const std::uint64_t points = plan.sampling.size();  // 0: more than it can count
    if (points == 0 || static_cast<double>(points) * static_cast<double>(variants) > kMostCases)
      finding(s ? s : root, "sampling",
              fmt::format("expected at most {:g} cases, got {}", kMostCases,
                          points == 0 ? "more than 2^32" : fmt::format("{}", points * variants)),
              variants > 1 ? "each model, formulation and integrator has all points of the sampling" : "");
  }

  struct OutputText {
    std::string name, of;
    std::vector<double> frequencies;
  };
  std::vector<OutputText> read_outputs(const JsonValue& root) {
    std::vector<OutputText> out;
    const JsonValue outputs = object(root, "outputs");
    if (!outputs || outputs.size() == 0) {
      finding(root, "outputs", "is missing: expected an object with the outputs of each run",
              "for example {\"height\": \"position[2]@max\"}");
      return out;
    }
    for (const JsonValue item : outputs) {
      const std::string path = "outputs." + excerpt(item.key());
      check_name(item, path);
      if (item.is(JsonType::String)) {
        out.push_back({std::string(item.key()), std::string(item.text()), {}});
        continue;
      }
      if (!keys(item, path, {"spectrum", "frequencies", "lower", "upper", "count", "spacing"})) continue;
      OutputText o{std::string(item.key()), text(item, "spectrum", path, "", true), {}};
      if (const JsonValue list = item.find("frequencies"))
        o.frequencies = numbers(list, path + ".frequencies");
      else if (item.find("count"))
        o.frequencies = range(item, path);
      else
        finding(item, path, "expected 'frequencies', or 'lower', 'upper' and 'count' [Hz]");
      for (const double f : o.frequencies)
        if (f < 0) finding(item, path, fmt::format("expected frequencies of 0 or more, got {}", f));
      if (!o.frequencies.empty()) out.push_back(std::move(o));
    }
    return out;
  }
};

// A model as the study names it, read with values of parameters.
struct Read {
  std::shared_ptr<const Description> description;
  std::vector<Assignment> rest;  // that Params has to set
};
Read read_with(const std::string& model, const std::vector<Assignment>& set) {
  Read out;
  out.rest = set;
  out.description = std::make_shared<const Description>(read_model(model, out.rest));
  return out;
}
Params params_of(const Read& read) {
  Params params(read.description);
  for (const Assignment& a : read.rest) params.set(a.path, a.value);
  return params;
}

// Values that replace those of the same path.
std::vector<Assignment> with(std::vector<Assignment> set, const Set& more) {
  for (const auto& [path, value] : more) {
    std::erase_if(set, [&, &path = path](const Assignment& a) { return a.path == path; });
    set.push_back({path, value});
  }
  return set;
}

// The same numbers and elements; an expression in place of number `set` does not count, since its value was set.
bool are_equal(const Description& a, const Params& p, const Description& b, const Params& q, int set) {
  const auto written = [&](const Description& d) {
    std::vector<std::pair<int, std::string>> out;
    for (const NumberExpression& e : d.expressions)
      if (e.number != set) out.emplace_back(e.number, e.text);
    return out;
  };
  const auto elements = [](const Description& d) {
    Hash hash;
    for (const std::string& name : d.parameter_names) hash.add(name);
    for (const std::string& word : d.words) hash.add(word);
    for (const Section section : kSections)
      for (const Entry& entry : d.entries(section)) {
        hash.add(entry.name);
        hash.add(entry.kind->type);
        for (const FieldValue& value : entry.fields)
          hash.add(fmt::format("{} {} {} {}", value.first, value.word, value.count, value.consistent));
      }
    return hash.value();
  };
  return p.values() == q.values() && written(a) == written(b) && elements(a) == elements(b);
}

// Whether setting a parameter of a compiled model gives what reading the model with it does: the same numbers, elements and settings.
bool may_be_set(const std::string& model, const Read& read, const std::vector<Assignment>& set,
                const std::string& path, double value) {
  Params changed = params_of(read);
  const int number = changed.find(path);
  if (number >= changed.parameter_count()) return true;  // the reader knows parameters only
  const auto settings = [](const Description& d) {
    const SimulationSettings& s = d.simulation;
    return std::tuple(s.start, s.end, s.step, s.integrator, s.formulation, s.initial, s.output_every);
  };
  try {
    changed.set(number, value);
    const Read other = read_with(model, with(set, {{path, value}}));
    return are_equal(*read.description, changed, *other.description, params_of(other), number) &&
           settings(*read.description) == settings(*other.description);
  } catch (const InputError&) {
    return false;  // a value that is refused: the reader says why, case by case
  }
}

struct Settings {
  std::optional<double> start, end, step;
  std::string initial;

  SimulateOptions options(const Description& description, const std::string& integrator) const {
    SimulateOptions out = default_options(description);
    out.start = start.value_or(out.start);
    out.end = end.value_or(out.end);
    out.step = step.value_or(out.step);
    if (!initial.empty()) out.initial = initial;
    if (!integrator.empty()) out.integrator = integrator;
    out.output_every = 1;
    return out;
  }
};

// All that the numbers of a study depend on.
std::string fingerprint(const Json& study, const SweepPlan& plan) {
  Json reduced = study;
  // Models count by what is in them.
  for (const char* key : {"description", "time_limit", "failures", "keep", "model", "models"})
    reduced.erase(key);
  Hash hash;
  hash.add(version());
  hash.add(reduced.dump());
  for (const SweepVariant& v : plan.variants) {
    const SimulateOptions& o = v.options;
    hash.add(std::to_string(hash_of(v.system.model(), v.system.params())));
    hash.add(fmt::format("{} {} {} {} {} {}", o.integrator, o.start, o.end, o.step, o.initial, o.solver));
  }
  return fmt::format("{:016x}", hash.value());
}

// What a study says besides what its plan holds.
struct StudyText {
  std::vector<std::string> models, formulations, integrators;
  Settings settings;
  std::vector<Assignment> set;
  std::vector<SweepReader::OutputText> outputs;
  std::vector<double> kept;
};

void read_simulation(SweepReader& reader, const JsonValue& root, const SweepOverrides& overrides,
                     StudyText& out) {
  out.integrators = {""};
  if (const JsonValue s = reader.object(root, "simulation");
      s && reader.keys(s, "simulation", {"integrator", "integrators", "start", "end", "step", "initial"})) {
    out.integrators = reader.texts(s, "simulation", "integrator", "integrators", {""});
    out.settings = {reader.number(s, "start", "simulation"), reader.number(s, "end", "simulation"),
                    reader.number(s, "step", "simulation"), reader.text(s, "initial", "simulation", "")};
  }
  if (overrides.integrator) out.integrators = {*overrides.integrator};
  if (overrides.step) out.settings.step = overrides.step;
  if (overrides.end) out.settings.end = overrides.end;
}

void read_failures(SweepReader& reader, const JsonValue& root, SweepPlan& plan) {
  if (const auto limit = reader.number(root, "time_limit", "")) {
    plan.time_limit = *limit;
    if (!(*limit > 0))
      reader.finding(root.find("time_limit"), "time_limit",
                     fmt::format("expected a positive number of seconds, got {}", *limit));
  }
  const std::string failures = reader.text(root, "failures", "", "record");
  if (failures != "record" && failures != "stop")
    reader.finding(root.find("failures"), "failures",
                   fmt::format("expected record or stop, got '{}'", excerpt(failures)));
  plan.stop_at_failure = failures == "stop";
}

// The file itself, without a look at its models. Throws InputError with all mistakes.
StudyText read_study_text(const JsonDocument& document, const std::string& file,
                          const SweepOverrides& overrides, SweepFile& out) {
  const JsonValue root = document.root();
  if (root.is(JsonType::Object) && root.find("liedyn") && !root.find(kFormat))
    throw InputError(
        {{file, root.line(), "", "this is a model, not a study of many runs",
          "a study gives a model and the parameters that vary: liedyn new NAME --template study"}});
  SweepReader reader(file);
  reader.findings = document.duplicates();
  reader.keys(root, "",
              {kFormat, "description", "model", "models", "set", "formulation", "formulations", "simulation",
               "parameters", "sampling", "outputs", "time_limit", "failures", "keep"});
  if (!root.is(JsonType::Object)) throw InputError(reader.findings);
  if (const auto format = reader.number(root, kFormat, ""); !root.find(kFormat) || (format && *format != 1))
    reader.finding(root.find(kFormat) ? root.find(kFormat) : root, std::string(kFormat),
                   fmt::format("expected 1, the version of this format, got {}",
                               format ? fmt::format("{}", *format) : "none"));
  StudyText study;
  out.description = reader.text(root, "description", "", "");
  study.models = reader.texts(root, "", "model", "models", {});
  if (!root.find("model") && !root.find("models"))
    reader.finding(root, "model", "is missing: expected a model file or the name of a shipped model");
  study.formulations = reader.texts(root, "", "formulation", "formulations", {""});
  read_simulation(reader, root, overrides, study);
  if (const JsonValue own = reader.object(root, "set"))
    for (const JsonValue item : own)
      if (const auto value = reader.number(own, item.key(), "set"))
        study.set.push_back({std::string(item.key()), *value});
  for (const Assignment& a : overrides.set) study.set = with(std::move(study.set), {{a.path, a.value}});
  reader.read_parameters(root, out.plan);
  reader.read_sampling(root, out.plan,
                       study.models.size() * study.formulations.size() * study.integrators.size());
  study.outputs = reader.read_outputs(root);
  read_failures(reader, root, out.plan);
  if (const JsonValue keep = root.find("keep")) study.kept = reader.numbers(keep, "keep");
  if (!reader.findings.empty()) throw InputError(reader.findings);
  return study;
}

// The plan of a study with its models: all findings with the lines of the study.
class StudyPlanner {
 public:
  StudyPlanner(const StudyText& study, std::string_view text, const std::string& file, SweepPlan& plan)
      : study_(study), text_(text), file_(file), plan_(plan) {}

  void prepare() {
    try {
      plan_.prepare();
    } catch (const InputError& error) {
      collect(error);
    }
    for (const std::string& integrator : study_.integrators) {
      if (integrator.empty()) continue;
      try {
        check_integrator(integrator);
      } catch (const InputError& error) {
        collect(error, "simulation.integrator");
      }
    }
    throw_findings();
    for (const std::string& name : study_.models) add_variants_of(name);
    if (findings_.empty()) compare_widths();
    keep_cases();
    throw_findings();
  }

 private:
  void collect(const InputError& error, const std::string& path = {}) {
    for (Diagnostic d : error.diagnostics()) {
      if (!path.empty() && d.file.empty()) d.path = path;
      const std::string shown = to_string(d);
      if (std::none_of(findings_.begin(), findings_.end(),
                       [&](const Diagnostic& known) { return to_string(known) == shown; }))
        findings_.push_back(std::move(d));
    }
  }
  void throw_findings() const {
    if (!findings_.empty()) throw InputError(located(findings_, text_, file_));
  }

  void add_variants_of(const std::string& name) {
    const std::string model = model_of_study(name, std::filesystem::path(file_).parent_path());
    Read read;
    Params params{std::make_shared<const Description>()};
    try {
      read = read_with(model, study_.set);
      params = params_of(read);
    } catch (const InputError& error) {
      collect(error, "model");
      return;
    }
    bool reread = false;
    for (std::size_t i = 0; i < plan_.variables.size(); ++i)
      for (const std::string& path : plan_.variables[i].parameters)
        reread = must_be_reread(model, read, params, i, path, reread) || reread;
    for (const std::string& formulation : study_.formulations)
      for (const std::string& integrator : study_.integrators) try {
          add_variant(name, model, read, params, formulation, integrator, reread);
        } catch (const InputError& error) {
          collect(error);
        }
  }

  // Whether the model is read again for each case, because of this parameter of the i-th variable. With `already`, only its name is checked.
  bool must_be_reread(const std::string& model, const Read& read, const Params& params, std::size_t i,
                      const std::string& path, bool already) {
    const double first = plan_.values(0)[i], last = plan_.values(plan_.sampling.size() - 1)[i];
    try {
      params.find(path);
    } catch (const InputError& unknown) {
      if (is_argument(model, path, first)) return true;
      collect(unknown, "parameters." + plan_.variables[i].name);
      return false;
    }
    if (already) return true;
    const auto refused = [&](double value) { return !may_be_set(model, read, study_.set, path, value); };
    if (refused(first) || refused(last)) return true;
    // The value that the model has shows nothing.
    constexpr std::uint64_t kLooked = 1000;
    const double own = params.get(params.find(path));
    if (first != own || last != own) return false;
    for (std::uint64_t point = 1; point < std::min<std::uint64_t>(plan_.sampling.size(), kLooked); ++point)
      if (const double other = plan_.values(point)[i]; other != own) return refused(other);
    return false;
  }
  // An argument of a model with `repeat`, say, which is used up while it is read.
  bool is_argument(const std::string& model, const std::string& path, double value) const {
    std::vector<Assignment> rest = with(study_.set, {{path, value}});
    try {
      read_model(model, rest);
    } catch (const InputError&) {
      return false;
    }
    return std::none_of(rest.begin(), rest.end(), [&](const Assignment& a) { return a.path == path; });
  }

  void add_variant(const std::string& name, const std::string& model, const Read& read, const Params& params,
                   const std::string& formulation, const std::string& integrator, bool reread) {
    SweepVariant v{name,
                   formulation,
                   integrator,
                   System(compile_model(read.description, params, formulation), params),
                   study_.settings.options(*read.description, integrator),
                   {},
                   {}};
    check_times(v.options);
    initial_policy(v.options.initial);
    for (const auto& o : study_.outputs) {
      try {
        v.outputs.push_back(parse_reduction(v.system, v.options, o.name, o.of, o.frequencies));
      } catch (const InputError& error) {
        collect(error);
      }
    }
    if (reread)
      v.reread = [=, set = study_.set, settings = study_.settings](const Set& values) {
        const Read again = read_with(model, with(set, values));
        const Params numbers = params_of(again);
        return std::pair(System(compile_model(again.description, numbers, formulation), numbers),
                         settings.options(*again.description, integrator));
      };
    v.formulation = v.system.model().formulation();
    v.integrator = v.options.integrator;
    plan_.variants.push_back(std::move(v));
  }

  void compare_widths() {
    for (const SweepVariant& v : plan_.variants)
      for (std::size_t i = 0; i < v.outputs.size(); ++i)
        if (const Reduction& other = plan_.variants.front().outputs[i]; v.outputs[i].width() != other.width())
          collect(InputError("outputs." + v.outputs[i].name,
                             fmt::format("has {} components in {}, but {} in {}", v.outputs[i].width(),
                                         v.model, other.width(), plan_.variants.front().model)));
  }

  void keep_cases() {
    const double cases =
        static_cast<double>(plan_.sampling.size()) * static_cast<double>(plan_.variants.size());
    for (const double k : study_.kept) {
      if (k == std::floor(k) && k >= 0 && k < cases)
        plan_.kept.push_back(static_cast<std::uint64_t>(k));
      else if (findings_.empty())
        collect(InputError("keep", fmt::format("expected cases from 0 to {}, got {}", plan_.cases() - 1, k)));
    }
  }

  const StudyText& study_;
  std::string_view text_;
  const std::string& file_;
  SweepPlan& plan_;
  std::vector<Diagnostic> findings_;
};

// What the store says about its rows.
std::string store_layout(const SweepPlan& plan, std::string_view text) {
  // With comments, which the reader of studies permits.
  const Json study = Json::parse(text, nullptr, true, true);
  Json variables = Json::array(), shown = Json::array(), variants = Json::array();
  const Params& params = plan.variants.front().system.params();
  for (const SweepVariable& v : plan.variables) {
    std::string unit;
    if (!v.parameters.empty() && !plan.variants.front().reread)
      unit = parameter_unit(params.description(), params.find(v.parameters.front()));
    variables.push_back({{"name", v.name},
                         {"parameters", v.parameters},
                         {"unit", unit},
                         {"sampled", v.source != Source::Expression}});
  }
  for (const Reduction& r : plan.variants.front().outputs) {
    shown.push_back({{"name", r.name}, {"unit", r.unit}, {"width", r.width()}});
    if (!r.frequencies.empty()) shown.back()["frequencies"] = r.frequencies;
  }
  for (const SweepVariant& v : plan.variants)
    variants.push_back({{"model", v.model}, {"formulation", v.formulation}, {"integrator", v.integrator}});
  return Json{{"liedyn", version()},
              {"fingerprint", fingerprint(study, plan)},
              {"cases", plan.cases()},
              {"points", plan.sampling.size()},
              {"sampling", kSamplings[static_cast<std::size_t>(plan.sampling.method())]},
              {"dimensions", plan.sampling.dimensions()},
              {"seed", plan.sampling.seed()},
              {"parameters", variables},
              {"outputs", shown},
              {"variants", variants},
              {"study", study}}
      .dump();
}

}  // namespace

SweepFile read_sweep(const std::string& file, const SweepOverrides& overrides) {
  return read_sweep_text(read_text_file(file), file, overrides);
}

SweepFile read_sweep_text(std::string_view text, const std::string& file, const SweepOverrides& overrides) {
  SweepFile out;
  out.name = std::filesystem::path(file).stem().string();
  const StudyText study = read_study_text(JsonDocument::parse(text, file), file, overrides, out);
  StudyPlanner(study, text, file, out.plan).prepare();
  out.layout = store_layout(out.plan, text);
  return out;
}

}  // namespace liedyn

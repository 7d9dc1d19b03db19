#include "liedyn/io/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/io/json.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/study_reader.h"
#include "liedyn/io/text_output.h"
#include "liedyn/io/write_results.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/further_findings.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

class OptimizeReader : public StudyReader {
 public:
  using StudyReader::StudyReader;

  void read_simulation(const JsonValue& root, SimulateOptions& out) {
    const JsonValue s = object(root, "simulation");
    if (!s || !keys(s, "simulation", {"integrator", "start", "end", "step", "initial"})) return;
    out.integrator = text(s, "integrator", "simulation", out.integrator);
    out.initial = text(s, "initial", "simulation", out.initial);
    out.start = number(s, "start", "simulation").value_or(out.start);
    out.end = number(s, "end", "simulation").value_or(out.end);
    out.step = number(s, "step", "simulation").value_or(out.step);
  }

  void read_variables(const JsonValue& root, const Params& params, Study& study) {
    const JsonValue variables = object(root, "variables");
    if (!variables) return;
    for (const JsonValue item : variables) {
      const std::string path = "variables." + excerpt(item.key());
      check_name(item, path);
      if (!keys(item, path, {"parameter", "parameters", "initial", "lower", "upper"})) continue;
      Study::Variable v;
      v.name = std::string(item.key());
      const JsonValue one = item.find("parameter"), several = item.find("parameters");
      const auto add = [&](const JsonValue& value, const std::string& place) {
        if (!value.is(JsonType::String))
          return finding(value, place,
                         "expected the path of a parameter of the model, got " + value.describe());
        try {
          params.find(std::string(value.text()));
          v.parameters.emplace_back(value.text());
        } catch (const InputError& error) {
          for (const Diagnostic& d : error.diagnostics()) finding(value, place, d.message, d.hint);
        }
      };
      if (one && !several)
        add(one, path + ".parameter");
      else if (several && !one && several.is(JsonType::Array))
        for (const JsonValue value : several) add(value, path + ".parameters");
      else
        finding(item, path,
                "expected 'parameter' with the path of a parameter of the model, or 'parameters' with a list "
                "of paths");
      if (const auto lower = number(item, "lower", path)) v.lower = *lower;
      if (const auto upper = number(item, "upper", path)) v.upper = *upper;
      if (const auto initial = number(item, "initial", path))
        v.initial = *initial;
      else if (!v.parameters.empty())
        v.initial = params.get(params.find(v.parameters.front()));
      study.variables.push_back(std::move(v));
    }
  }

  void read_outputs(const JsonValue& root, Study& study) {
    const JsonValue outputs = object(root, "outputs");
    if (!outputs) return;
    for (const JsonValue item : outputs) {
      const std::string path = "outputs." + excerpt(item.key());
      check_name(item, path);
      if (item.is(JsonType::String))
        study.outputs.push_back({std::string(item.key()), std::string(item.text())});
      else
        finding(item, path, "expected an output like \"tip[2]@max\", got " + item.describe());
    }
  }

  void read_constraints(const JsonValue& root, Study& study) {
    const JsonValue constraints = object(root, "constraints");
    if (!constraints) return;
    for (const JsonValue item : constraints) {
      const std::string path = "constraints." + excerpt(item.key());
      if (!keys(item, path, {"expression", "at_least", "at_most", "equals"})) continue;
      Study::Constraint c;
      c.name = std::string(item.key());
      c.expression = text(item, "expression", path, "", true);
      if (const auto value = number(item, "at_least", path)) c.lower = *value;
      if (const auto value = number(item, "at_most", path)) c.upper = *value;
      if (item.find("equals") && (item.find("at_least") || item.find("at_most")))
        finding(item, path, "expected either equals, or at_least and at_most");
      if (const auto value = number(item, "equals", path)) c.lower = c.upper = *value;
      study.constraints.push_back(std::move(c));
    }
  }

  void read_data(const JsonValue& root, const std::filesystem::path& directory, Study& study) {
    const JsonValue data = root.find("data");
    if (!data) return;
    if (!data.is(JsonType::Array))
      return finding(data, "data", "expected a list of objects, got " + data.describe());
    int index = 0;
    for (const JsonValue item : data) {
      const std::string path = fmt::format("data[{}]", index++);
      if (!keys(item, path, {"file", "columns", "weights"})) continue;
      const std::string file = text(item, "file", path, "", true);
      const JsonValue columns = item.find("columns"), weights = item.find("weights");
      if (!columns || !columns.is(JsonType::Object)) {
        finding(item, path + ".columns",
                "expected an object: the name of a column of the file, and the output it measures");
        continue;
      }
      if (file.empty()) continue;
      MeasuredTable table;
      if (const std::string outside = outside_of_model(directory / file, this->file()); !outside.empty()) {
        finding(item, path + ".file", fmt::format("'{}': {}", excerpt(file, 200), outside), kAllowOutside);
        continue;
      }
      try {
        table = read_measured((directory / file).string());
      } catch (const InputError& error) {
        findings.insert(findings.end(), error.diagnostics().begin(), error.diagnostics().end());
        continue;
      }
      if (weights && !weights.is(JsonType::Object))
        finding(weights, path + ".weights",
                "expected an object: the name of a column, and its weight; got " + weights.describe());
      else if (weights)
        for (const JsonValue weight : weights)
          if (!columns.find(weight.key()))
            finding(weight, path + ".weights." + excerpt(weight.key()), "there is no such column",
                    did_you_mean(weight.key(), keys_of(columns)));
      for (const JsonValue column : columns) {
        const std::string place = path + ".columns." + excerpt(column.key());
        const auto found = std::find(table.names.begin(), table.names.end(), column.key());
        if (found == table.names.end()) {
          finding(column, place, fmt::format("{} has no such column", file),
                  did_you_mean(column.key(), table.names));
          continue;
        }
        if (!column.is(JsonType::String)) {
          finding(column, place, "expected a component of a sensor, got " + column.describe());
          continue;
        }
        Study::Data d;
        d.output = std::string(column.text());
        if (weights && weights.is(JsonType::Object)) {
          d.weight = number(weights, column.key(), path + ".weights").value_or(1);
          if (d.weight < 0)
            finding(weights.find(column.key()), path + ".weights." + excerpt(column.key()),
                    fmt::format("expected a weight that is not negative, got {}", d.weight));
        }
        const std::vector<double>& measured =
            table.columns[static_cast<std::size_t>(found - table.names.begin())];
        for (std::size_t row = 0; row < measured.size(); ++row) {
          if (std::isnan(measured[row])) continue;  // not measured
          d.times.push_back(table.times[row]);
          d.values.push_back(measured[row]);
        }
        if (d.times.empty()) finding(column, place, fmt::format("{} has no values in this column", file));
        study.data.push_back(std::move(d));
      }
    }
  }

  void read_optimizer(const JsonValue& root, Study& study) {
    const JsonValue o = object(root, "optimizer");
    if (!o || !keys(o, "optimizer", {"method", "gradient", "tolerance", "evaluations"})) return;
    study.method = text(o, "method", "optimizer", study.method);
    study.gradient = text(o, "gradient", "optimizer", study.gradient);
    study.tolerance = number(o, "tolerance", "optimizer").value_or(study.tolerance);
    const double evaluations = number(o, "evaluations", "optimizer").value_or(study.evaluations);
    if (evaluations >= 1 && evaluations <= 1e9 && evaluations == std::floor(evaluations))
      study.evaluations = static_cast<int>(evaluations);
    else
      finding(o, "optimizer.evaluations",
              fmt::format("expected a whole number from 1 to 1e9, got {}", evaluations));
  }
};

auto with_lines(const StudyFile& file, const auto& task) {
  try {
    return task();
  } catch (const InputError& error) {
    throw InputError(located(error.diagnostics(), file.text, file.file));
  }
}

std::string bound(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : "-"; }

}  // namespace

StudyFile read_study(const std::string& file, const std::vector<Assignment>& set) {
  return read_study_text(read_text_file(file), file, set);
}

StudyFile read_study_text(std::string_view text, const std::string& file,
                          const std::vector<Assignment>& set) {
  const JsonDocument document = JsonDocument::parse(text, file);
  const JsonValue root = document.root();
  OptimizeReader reader(file);
  reader.findings = document.duplicates();
  reader.keys(root, "",
              {"model", "set", "formulation", "simulation", "variables", "outputs", "minimize", "constraints",
               "data", "optimizer", "description"});
  if (!root.is(JsonType::Object)) throw InputError(reader.findings);
  const std::filesystem::path directory = std::filesystem::path(file).parent_path();
  const std::string formulation = reader.text(root, "formulation", "", "");
  std::vector<Assignment> assignments;
  if (const JsonValue own = reader.object(root, "set"))
    for (const JsonValue item : own)
      if (const auto value = reader.number(own, item.key(), "set"))
        if (std::none_of(set.begin(), set.end(), [&](const Assignment& a) { return a.path == item.key(); }))
          assignments.push_back({std::string(item.key()), *value});
  assignments.insert(assignments.end(), set.begin(), set.end());
  std::string model = reader.text(root, "model", "", "", true);
  if (!reader.findings.empty()) throw InputError(reader.findings);

  model = model_of_study(model, directory);
  const auto description = std::make_shared<const Description>(read_model(model, assignments));
  Params params(description);
  for (const Assignment& a : assignments) params.set(a.path, a.value);
  Study study;
  study.simulation = default_options(*description);
  reader.read_simulation(root, study.simulation);
  reader.read_variables(root, params, study);
  reader.read_outputs(root, study);
  study.minimize = reader.text(root, "minimize", "", "");
  reader.read_constraints(root, study);
  reader.read_data(root, directory, study);
  reader.read_optimizer(root, study);
  if (!reader.findings.empty()) throw InputError(reader.findings);
  return {std::filesystem::path(file).stem().string(),
          System(compile_model(description, params, formulation), params),
          study,
          reader.text(root, "description", "", ""),
          file,
          std::string(text)};
}

void check(const StudyFile& file) {
  with_lines(file, [&] { check_study(file.system, file.study); });
}

Optimum search(const StudyFile& file, const std::function<bool(const StudyPoint&, bool best)>& progress) {
  return with_lines(file, [&] { return optimize(file.system, file.study, progress); });
}

void restart_from(const std::string& file, Study& study) {
  const JsonDocument document = JsonDocument::parse(read_text_file(file), file);
  const JsonValue variables =
      document.root().is(JsonType::Object) ? document.root().find("variables") : JsonValue();
  if (!variables || !variables.is(JsonType::Object))
    throw InputError(file, "expected the result of an earlier optimisation, with an object 'variables'");
  std::vector<Diagnostic> findings;
  for (Study::Variable& v : study.variables) {
    const JsonValue value = variables.find(v.name);
    if (!value || !value.is(JsonType::Number)) {
      findings.push_back({file, variables.line(), "variables",
                          fmt::format("has no value of the variable '{}'", v.name),
                          "is it the result of another study?"});
    } else if (!(value.number() >= v.lower && value.number() <= v.upper)) {
      findings.push_back({file, value.line(), "variables." + v.name,
                          fmt::format("expected a value from {} to {}, the bounds of the study, got {}",
                                      v.lower, v.upper, value.number()),
                          "is it the result of another study?"});
    } else {
      v.initial = value.number();
    }
  }
  if (!findings.empty()) throw InputError(findings);
}

std::string optimum_json(const Study& study, const Optimum& r) {
  Json variables = Json::object(), outputs = Json::object(), constraints = Json::object(),
       parameters = Json::object();
  for (std::size_t i = 0; i < study.variables.size(); ++i) {
    variables[study.variables[i].name] = r.best.variables[i];
    for (const std::string& path : study.variables[i].parameters) parameters[path] = r.best.variables[i];
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) outputs[study.outputs[i].name] = r.outputs[i];
  for (std::size_t i = 0; i < study.constraints.size(); ++i)
    constraints[study.constraints[i].name] = r.constraints[i];
  Json json = {{"liedyn", version()},
               {"converged", r.converged},
               {"reason", r.reason},
               {"method", r.method},
               {"gradient", r.gradient},
               {"objective", r.best.objective},
               {"objective_at_start", r.first.objective},
               {"violation", r.best.violation},
               {"variables", variables},
               {"parameters", parameters},
               {"outputs", outputs},
               {"constraints", constraints}};
  if (!study.data.empty()) {
    json["misfit"] = r.misfit;
    json["residuals"] = Json::object();
    for (std::size_t i = 0; i < study.data.size(); ++i)
      json["residuals"][study.data[i].output] = r.residuals[i];
  }
  for (std::size_t i = 0; i < r.deviations.size(); ++i)
    json["standard_deviations"][study.variables[i].name] = r.deviations[i];
  if (!r.notes.empty()) json["notes"] = r.notes;
  json["evaluations"] = r.history.size();
  json["failed_runs"] = r.failed;
  json["seconds"] = r.seconds;
  return json.dump(2);
}

std::string point_json(const Study& study, const StudyPoint& best) {
  Json variables = Json::object();
  for (std::size_t i = 0; i < study.variables.size(); ++i)
    variables[study.variables[i].name] = best.variables[i];
  const Json json = {{"liedyn", version()},
                     {"converged", false},
                     {"reason", "the optimisation is running"},
                     {"objective", best.objective},
                     {"violation", best.violation},
                     {"variables", variables},
                     {"evaluations", best.evaluation}};
  return json.dump(2);
}

std::string history_head(const Study& study) {
  std::string out = "evaluation,objective,violation";
  for (const Study::Variable& v : study.variables) out += fmt::format(",{}", csv_cell(v.name));
  return out + '\n';
}

std::string history_line(const StudyPoint& point, int before) {
  std::string out = fmt::format("{},{},{}", before + point.evaluation, csv_cell(point.objective),
                                csv_cell(point.violation));
  for (const double x : point.variables) out += fmt::format(",{}", csv_cell(x));
  return out + '\n';
}

std::string constraint_state(const Study::Constraint& c, double value) {
  const auto size = [](double bound) { return bound != 0 ? std::abs(bound) : 1; };
  for (const double bound : {c.lower, c.upper})
    if (std::isfinite(bound) && std::abs(value - bound) <= 1e-6 * size(bound)) return "at its bound";
  return value < c.lower || value > c.upper ? "violated" : "met";
}

std::string optimum_report(const StudyFile& file, const Optimum& r) {
  const Study& study = file.study;
  std::string out = fmt::format("# {}\n\n", file.name);
  if (!file.description.empty()) out += file.description + "\n\n";
  out += fmt::format("Model: {}.\n\n", file.system.model().description().name);
  out += fmt::format(
      "{}: {}. {} evaluations ({} of them failed), {} with gradients by the {} method, {:.3g} s.\n\n",
      r.converged ? "Converged" : "Not converged", r.reason, r.history.size(), r.failed, r.method, r.gradient,
      r.seconds);
  out += fmt::format("`{}` fell from {:.9g} to {:.9g}.\n\n",
                     study.minimize.empty() ? "misfit" : study.minimize, r.first.objective, r.best.objective);
  out +=
      "| variable | parameters | unit | lower | upper | start | found | standard deviation |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const Params& params = file.system.params();
  for (std::size_t i = 0; i < study.variables.size(); ++i) {
    const Study::Variable& v = study.variables[i];
    const double deviation = r.deviations.empty() ? NAN : r.deviations[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {:.9g} | {:.9g} | {} |\n", v.name,
                       fmt::join(v.parameters, ", "),
                       parameter_unit(params.description(), params.find(v.parameters.front())),
                       bound(v.lower), bound(v.upper), v.initial, r.best.variables[i],
                       std::isnan(deviation) ? "-" : fmt::format("{:.2g}", deviation));
  }
  if (!study.outputs.empty()) {
    out += "\n| output | is | value |\n|---|---|---|\n";
    for (std::size_t i = 0; i < study.outputs.size(); ++i)
      out +=
          fmt::format("| {} | {} | {:.9g} |\n", study.outputs[i].name, study.outputs[i].output, r.outputs[i]);
  }
  if (!study.constraints.empty()) {
    out += "\n| constraint | expression | at least | at most | value | |\n|---|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < study.constraints.size(); ++i) {
      const Study::Constraint& c = study.constraints[i];
      out += fmt::format("| {} | {} | {} | {} | {:.9g} | {} |\n", c.name, c.expression, bound(c.lower),
                         bound(c.upper), r.constraints[i], constraint_state(c, r.constraints[i]));
    }
  }
  if (!study.data.empty()) {
    out += fmt::format("\nWeighted mean square of the residuals: {:.6g}.\n", r.misfit);
    out += "\n| measured | values | weight | root mean square of the residuals |\n|---|---|---|---|\n";
    for (std::size_t i = 0; i < study.data.size(); ++i)
      out += fmt::format("| {} | {} | {} | {:.6g} |\n", study.data[i].output, study.data[i].times.size(),
                         study.data[i].weight, r.residuals[i]);
  }
  for (const std::string& note : r.notes) out += fmt::format("\nNote: {}.\n", note);
  return out;
}

}  // namespace liedyn

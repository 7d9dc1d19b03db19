#include "io/study_file.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/suggest.h"
#include "base/version.h"
#include "io/json.h"
#include "io/read_model.h"
#include "io/read_results.h"
#include "io/text_output.h"
#include "io/write_results.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

class StudyReader {
 public:
  explicit StudyReader(std::string file) : file_(std::move(file)) {}
  std::vector<Diagnostic> findings;

  void finding(const JsonValue& at, const std::string& path, std::string message, std::string hint = {}) {
    findings.push_back({file_, at ? at.line() : 0, path, std::move(message), std::move(hint)});
  }
  // Each member of an object; keys that are not known are findings.
  bool keys(const JsonValue& object, const std::string& path, std::initializer_list<std::string_view> known) {
    if (!object.is(JsonType::Object)) {
      finding(object, path, "expected an object, got " + object.describe());
      return false;
    }
    for (const JsonValue item : object)
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        finding(item, (path.empty() ? "" : path + ".") + excerpt(item.key()), "unknown key",
                did_you_mean(item.key(), known));
    return true;
  }
  std::string text(const JsonValue& object, std::string_view key, const std::string& path,
                   const std::string& otherwise, bool required = false) {
    const JsonValue value = object.find(key);
    const std::string place = (path.empty() ? "" : path + ".") + std::string(key);
    if (!value) {
      if (required) finding(object, place, "is missing: expected a text");
      return otherwise;
    }
    if (value.is(JsonType::String)) return std::string(value.text());
    finding(value, place, "expected a text, got " + value.describe());
    return otherwise;
  }
  std::optional<double> number(const JsonValue& object, std::string_view key, const std::string& path) {
    const JsonValue value = object.find(key);
    if (!value) return {};
    if (value.is(JsonType::Number) && std::isfinite(value.number())) return value.number();
    finding(value, (path.empty() ? "" : path + ".") + std::string(key),
            "expected a finite number, got " + value.describe());
    return {};
  }
  JsonValue object(const JsonValue& parent, std::string_view key) {
    const JsonValue value = parent.find(key);
    if (value && !value.is(JsonType::Object)) {
      finding(value, std::string(key), "expected an object, got " + value.describe());
      return {};
    }
    return value;
  }
  void check_name(const JsonValue& item, const std::string& path) {
    if (!is_name(item.key()) || item.key().find('-') != std::string_view::npos)
      finding(item, path, "expected a name of letters, digits and underscores, since expressions use it");
  }

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
          return finding(value, place, "expected the path of a number of the model, got " + value.describe());
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
                "expected 'parameter' with the path of a number, or 'parameters' with a list of them");
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
      Trajectory table;
      try {
        table = read_results((directory / file).string());
      } catch (const InputError& error) {
        findings.insert(findings.end(), error.diagnostics().begin(), error.diagnostics().end());
        continue;
      }
      const std::vector<std::string> names = column_names(table);
      for (const JsonValue column : columns) {
        const std::string place = path + ".columns." + excerpt(column.key());
        const auto found = std::find(names.begin() + 1, names.end(), column.key());
        if (found == names.end()) {
          finding(column, place, fmt::format("{} has no such column", file),
                  did_you_mean(column.key(), names));
          continue;
        }
        if (!column.is(JsonType::String)) {
          finding(column, place, "expected a component of a sensor, got " + column.describe());
          continue;
        }
        Study::Data d;
        d.output = std::string(column.text());
        if (weights && weights.is(JsonType::Object))
          d.weight = number(weights, column.key(), path + ".weights").value_or(1);
        for (std::size_t row = 0; row < table.rows(); ++row) {
          d.times.push_back(table.at(row, 0));
          d.values.push_back(table.at(row, static_cast<int>(found - names.begin())));
        }
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
    if (evaluations >= 1 && evaluations <= 1e9)
      study.evaluations = static_cast<int>(evaluations);
    else
      finding(o, "optimizer.evaluations",
              fmt::format("expected a number from 1 to 1e9, got {}", evaluations));
  }

 private:
  std::string file_;
};

std::string bound(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : "-"; }

}  // namespace

StudyFile read_study(const std::string& file) { return read_study_text(read_text_file(file), file); }

StudyFile read_study_text(std::string_view text, const std::string& file) {
  const JsonDocument document = JsonDocument::parse(text, file);
  const JsonValue root = document.root();
  StudyReader reader(file);
  reader.findings = document.duplicates();
  reader.keys(root, "",
              {"model", "set", "formulation", "simulation", "variables", "outputs", "minimize", "constraints",
               "data", "optimizer", "description"});
  if (!root.is(JsonType::Object)) throw InputError(reader.findings);
  const std::filesystem::path directory = std::filesystem::path(file).parent_path();
  std::string model = reader.text(root, "model", "", "", true);
  const std::string formulation = reader.text(root, "formulation", "", "");
  std::vector<Assignment> assignments;
  if (const JsonValue set = reader.object(root, "set"))
    for (const JsonValue item : set)
      if (const auto value = reader.number(set, item.key(), "set"))
        assignments.push_back({std::string(item.key()), *value});
  if (!reader.findings.empty()) throw InputError(reader.findings);

  if (std::filesystem::exists(directory / model)) model = (directory / model).string();
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
          System(Model::compile(description, formulation), params), study};
}

void restart_from(const std::string& file, Study& study) {
  const JsonDocument document = JsonDocument::parse(read_text_file(file), file);
  const JsonValue variables =
      document.root().is(JsonType::Object) ? document.root().find("variables") : JsonValue();
  if (!variables || !variables.is(JsonType::Object))
    throw InputError(file, "expected the result of an earlier search, with an object 'variables'");
  for (Study::Variable& v : study.variables) {
    const JsonValue value = variables.find(v.name);
    if (!value || !value.is(JsonType::Number))
      throw InputError(file, fmt::format("has no value of the variable '{}'", v.name));
    v.initial = std::clamp(value.number(), v.lower, v.upper);
  }
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
  if (!study.data.empty()) json["misfit"] = r.misfit;
  json["evaluations"] = r.history.size();
  json["failed_runs"] = r.failed;
  json["seconds"] = r.seconds;
  return json.dump(2);
}

std::string point_json(const Study& study, const StudyPoint& best) {
  Json variables = Json::object();
  for (std::size_t i = 0; i < study.variables.size(); ++i)
    variables[study.variables[i].name] = best.variables[i];
  const Json json = {
      {"liedyn", version()},           {"converged", false},          {"reason", "the search goes on"},
      {"objective", best.objective},   {"violation", best.violation}, {"variables", variables},
      {"evaluations", best.evaluation}};
  return json.dump(2);
}

std::string history_csv(const Study& study, const Optimum& r) {
  std::string out = "evaluation,objective,violation";
  for (const Study::Variable& v : study.variables) out += fmt::format(",{}", csv_cell(v.name));
  out += '\n';
  for (const StudyPoint& point : r.history) {
    out += fmt::format("{},{},{}", point.evaluation, point.objective, point.violation);
    for (const double x : point.variables) out += fmt::format(",{}", csv_cell(x));
    out += '\n';
  }
  return out;
}

std::string optimum_report(const StudyFile& file, const Optimum& r) {
  const Study& study = file.study;
  std::string out = fmt::format("# {}\n\n", file.name);
  out += fmt::format(
      "{}: {}. {} evaluations ({} of them failed), {} with gradients by the {} method, {:.3g} s.\n\n",
      r.converged ? "Converged" : "Not converged", r.reason, r.history.size(), r.failed, r.method, r.gradient,
      r.seconds);
  out += fmt::format("`{}` fell from {:.9g} to {:.9g}.\n\n",
                     study.minimize.empty() ? "misfit" : study.minimize, r.first.objective, r.best.objective);
  out += "| variable | parameters | from | lower | upper | start | found |\n|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < study.variables.size(); ++i) {
    const Study::Variable& v = study.variables[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {:.9g} | {:.9g} |\n", v.name,
                       fmt::join(v.parameters, ", "), file.system.model().description().name, bound(v.lower),
                       bound(v.upper), v.initial, r.best.variables[i]);
  }
  if (!study.outputs.empty()) {
    out += "\n| output | is | value |\n|---|---|---|\n";
    for (std::size_t i = 0; i < study.outputs.size(); ++i)
      out +=
          fmt::format("| {} | {} | {:.9g} |\n", study.outputs[i].name, study.outputs[i].output, r.outputs[i]);
  }
  if (!study.constraints.empty()) {
    out += "\n| constraint | expression | at least | at most | value |\n|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < study.constraints.size(); ++i) {
      const Study::Constraint& c = study.constraints[i];
      out += fmt::format("| {} | {} | {} | {} | {:.9g} |\n", c.name, c.expression, bound(c.lower),
                         bound(c.upper), r.constraints[i]);
    }
  }
  if (!study.data.empty())
    out += fmt::format("\nWeighted mean square of the differences to the data: {:.6g}.\n", r.misfit);
  return out;
}

}  // namespace liedyn

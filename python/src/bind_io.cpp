#include "bind.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/generators/list.h"
#include "liedyn/io/model_format.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/read_with_warnings.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/write_convergence.h"
#include "liedyn/io/write_linear_analysis.h"
#include "liedyn/io/write_model.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_scene.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <nlohmann/json.hpp>

namespace liedyn::python {
namespace {

using PathValues = std::vector<std::pair<std::string, double>>;

std::vector<Assignment> assignments_of(const PathValues& numbers) {
  std::vector<Assignment> out;
  for (const auto& [path, value] : numbers) out.push_back({path, value});
  return out;
}

// A description, the numbers that remain to be set in its Params, and the coordinates that joints start with.
std::tuple<Description, PathValues, PathValues> with_rest(Description description,
                                                          std::vector<Assignment> rest) {
  PathValues numbers, joints;
  for (const JointStart& start : take_initial(rest, description))
    joints.emplace_back(start.joint, start.value);
  for (const Assignment& a : rest) numbers.emplace_back(a.path, a.value);
  return {std::move(description), std::move(numbers), std::move(joints)};
}

// A model built in Python has neither a file nor lines.
Description without_places(Description description) {
  description.file.clear();
  for (const Section section : kSections)
    for (Entry& entry : description.entries(section)) entry.line = 0;
  return description;
}

InputError without_places(const InputError& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& d : diagnostics) {
    d.file.clear();
    d.line = 0;
  }
  return InputError(std::move(diagnostics));
}

// A result from its parts, as they come back from a pickle or an .npz file. Without a summary only the times are known.
std::shared_ptr<Result> make_result(
    const std::vector<std::tuple<std::string, std::string, int>>& channels,
    const py::array_t<double, py::array::c_style | py::array::forcecast>& table, const std::string& summary,
    const std::string& file) {
  const auto out = std::make_shared<Result>();
  Trajectory& t = out->trajectory;
  for (const auto& [name, unit, components] : channels) {
    t.channels.push_back({name, unit, t.columns, components});
    t.columns += components;
  }
  if (table.ndim() != 2 || table.shape(1) != t.columns)
    throw InputError({{file, 0, "", fmt::format("expected a table of {} columns", t.columns), ""}});
  t.data.assign(table.data(), table.data() + table.size());
  check_trajectory(t, file);
  if (!summary.empty()) {
    out->summary = read_summary(summary, file);
  } else {
    out->summary.start = t.at(0, 0);
    out->summary.end = t.at(t.rows() - 1, 0);
  }
  return out;
}

}  // namespace

void bind_io(py::module_& m) {
  m.def("scene_page", &scene_page);
  m.def("read_scene", &read_scene);
  m.def("write_whole", &write_whole);
  m.def("check_page_output", &check_page_output);
  m.def("model_scene",
        [](const std::shared_ptr<Model>& model, const Params& params, const SimulateOptions& options) {
          std::vector<Diagnostic> findings;
          return model_scene(System(model, params), options, findings);
        });
  m.def("unpack_array",
        [](const std::string& json) { return unpack_array(nlohmann::ordered_json::parse(json), "array"); });
  py::class_<Description>(m, "Description").def("json", &model_text, "The text of a model file.");
  m.def("find_model_file", &find_model_file);
  const auto fields = [](const std::vector<Field>& list) {
    return by_name(list, [](const Field& field) { return field.name; });
  };
  m.def("simulation_fields", [fields] { return fields(simulation_fields()); });
  m.def("generators", [fields] {  // of models: a summary and the arguments, by name
    py::dict out;
    for (const Generator& generator : generators())
      out[py::cast(generator.name)] = py::make_tuple(generator.summary, fields(generator.arguments));
    return out;
  });
  m.def("shapes", [fields] {  // types of shapes: a summary and the keys, by name
    py::dict out;
    for (const Kind& kind : shape_kinds())
      out[py::cast(kind.type)] = py::make_tuple(kind.summary, fields(kind.fields));
    return out;
  });
  m.def("model_keys", [] {
    py::dict out;
    for (const FormatKey& key : kModelKeys) out[py::cast(key.name)] = key.summary;
    return out;
  });
  m.def("read_model", [](const std::string& model, const PathValues& numbers) {
    std::vector<Assignment> assignments = assignments_of(numbers);
    std::vector<std::string> warnings;
    Description description = read_model(model, assignments, warnings);
    if (!warnings.empty()) {
      const py::object warn = py::module_::import("liedyn.errors").attr("warn");
      for (const std::string& warning : warnings) warn(warning);
    }
    return with_rest(std::move(description), assignments);
  });
  m.def("read_model_text", [](std::string_view text, const std::string& name, const PathValues& numbers) {
    std::vector<Assignment> assignments = assignments_of(numbers);
    try {
      Description description = without_places(read_model_text(text, name, assignments));
      return with_rest(std::move(description), assignments);
    } catch (const InputError& error) {
      throw without_places(error);
    }
  });
  // The text of a file that need not be there any more.
  m.def("read_model_of_file", [](std::string_view text, const std::string& file, const PathValues& numbers) {
    std::vector<Assignment> assignments = assignments_of(numbers);
    Description description = read_model_text(text, file, assignments);
    return with_rest(std::move(description), assignments);
  });
  m.def("write_results", &write_results, py::call_guard<py::gil_scoped_release>());
  m.def("summary_json", &summary_json);
  m.def("read_results", &read_results, py::call_guard<py::gil_scoped_release>());
  m.def(
      "read_result", [](const std::string& file) { return std::make_shared<Result>(read_result(file)); },
      py::call_guard<py::gil_scoped_release>());
  m.def("make_result", &make_result, py::arg("channels"), py::arg("table"), py::arg("summary"),
        py::arg("file"));
  m.def("convergence_json", &convergence_json);
  m.def(
      "linear_analysis_json",
      [](const std::vector<std::string>& integrators, const std::vector<double>& h_over_period,
         int region_points) {
        std::vector<LinearAnalysis> all;
        for (const std::string& integrator : integrators)
          all.push_back(analyze_integrator(integrator, h_over_period, region_points));
        return linear_analysis_json(all);
      },
      py::arg("integrators"), py::arg("h_over_period"), py::arg("region_points"));
  m.def("convergence_csv", &convergence_csv);
}

}  // namespace liedyn::python

#include "bind.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/model_format.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/read_with_warnings.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/robot_file.h"
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
    joints.emplace_back(start.joint, start.value.value());
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

// Numbers that the array takes over, read-only.
py::array array_of(std::vector<double>&& numbers, const std::vector<py::ssize_t>& shape) {
  auto* kept = new std::vector<double>(std::move(numbers));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<double>*>(p); });
  py::array_t<double> out(shape, kept->data(), owner);
  out.attr("flags").attr("writeable") = false;
  return out;
}

template <class Read>
auto freely(const Read& read) {
  const py::gil_scoped_release release;
  return read();
}

const Channel& channel_of(const ResultFile& file, const std::string& name) {
  for (const Channel& channel : file.channels())
    if (channel.name == name) return channel;
  throw py::key_error(name);
}

// Results that stay in their files: what is asked for is read then.
void bind_stored_result(py::module_& m) {
  using py::ssize_t;
  const auto rows = [](const ResultFile& file) { return static_cast<ssize_t>(file.rows()); };
  py::class_<ResultFile>(m, "StoredResult")
      .def(py::init<const std::string&>(), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("rows", &ResultFile::rows)
      .def_property_readonly("status", &ResultFile::status)
      .def_property_readonly("completed", [](const ResultFile& file) { return file.summary().completed; })
      .def_property_readonly("failure", [](const ResultFile& file) { return file.summary().failure; })
      .def_property_readonly("has_states", &ResultFile::has_states)
      .def_property_readonly("statistics", &ResultFile::statistics)
      .def_property_readonly("channels",
                             [](const ResultFile& file) {
                               py::dict out;
                               for (const Channel& channel : file.channels())
                                 out[py::cast(channel.name)] = channel;
                               return out;
                             })
      .def("time",
           [rows](const ResultFile& file) {
             return array_of(freely([&] { return file.time(); }), {rows(file)});
           })
      .def("values",
           [rows](const ResultFile& file, const std::string& name) {
             const Channel& channel = channel_of(file, name);
             std::vector<ssize_t> shape = {rows(file)};
             if (channel.components > 1) shape.push_back(channel.components);
             return array_of(freely([&] { return file.values(channel); }), shape);
           })
      .def("statistic",
           [rows](const ResultFile& file, const std::string& name) {
             return array_of(freely([&] { return file.statistic(name); }), {rows(file)});
           })
      .def("table",
           [rows](const ResultFile& file) {
             Trajectory t = freely([&] { return file.load().trajectory; });
             const ssize_t columns = t.columns;
             return array_of(std::move(t.data), {rows(file), columns});
           })
      .def("states",
           [rows](const ResultFile& file, const std::string& what) {
             Hdf5Input::Table t = freely([&] { return file.states(what); });
             const auto columns = static_cast<ssize_t>(t.columns);
             return array_of(std::move(t.data), {rows(file), columns});
           })
      .def("state_names", &ResultFile::state_names)
      .def("events", &ResultFile::events)
      .def("load", [](const ResultFile& file) { return std::make_shared<Result>(file.load()); })
      .def("summary_json", [](const ResultFile& file) { return summary_json(file.ending()); })
      .def(
          "scene", [](const ResultFile& file, long frames) { return result_scene(file, frames); },
          py::arg("frames") = 0, py::call_guard<py::gil_scoped_release>())
      .def("model_scene",
           [](const ResultFile& file) {
             const System system = file.system();
             std::vector<Diagnostic> findings;
             return model_scene(system, default_options(system), findings);
           })
      .def("model_entries", [](const ResultFile& file) {  // (name, type) by section
        const System system = file.system();
        py::dict out;
        for (const Section section : kSections) {
          py::list list;
          for (const Entry& entry : system.model().description().entries(section))
            list.append(py::make_tuple(entry.name, entry.kind->type));
          out[py::cast(std::string(section_name(section)))] = list;
        }
        return out;
      });
}

}  // namespace

void bind_io(py::module_& m) {
  bind_stored_result(m);
  m.def("scene_page", &scene_page);
  m.def("read_scene", &read_scene);
  m.def("write_whole", &write_whole);
  m.def("check_page_output", &check_page_output);
  m.def("check_output", &check_output);
  m.def("model_scene",
        [](const std::shared_ptr<Model>& model, const Params& params, const SimulateOptions& options) {
          std::vector<Diagnostic> findings;
          return model_scene(System(model, params), options, findings);
        });
  m.def("unpack_array",
        [](const std::string& json) { return unpack_array(nlohmann::ordered_json::parse(json), "array"); });
  py::class_<Description>(m, "Description").def("json", &model_text, "A model file as a string.");
  m.def("find_model_file", &find_model_file);
  m.def("stands_for", &stands_for, py::arg("file"), py::arg("original"));
  const auto fields = [](const std::vector<Field>& list) {
    return by_name(list, [](const Field& field) { return field.name; });
  };
  m.def("simulation_fields", [fields] { return fields(simulation_fields()); });
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
  // A robot of another program's format as the text of a model file.
  m.def("robot_model_text", [](const std::string& file) {
    std::vector<std::string> warnings;
    const std::string text = robot_model_text(file, warnings);
    const py::object warn = py::module_::import("liedyn.errors").attr("warn");
    for (const std::string& warning : warnings) warn(warning);
    return text;
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
  m.def("write_results", &write_results, py::arg(), py::arg(),
        py::arg() = std::vector<std::pair<double, std::string>>(), py::call_guard<py::gil_scoped_release>());
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

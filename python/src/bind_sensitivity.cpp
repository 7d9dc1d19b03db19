#include "bind.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/io/study_file.h"
#include "liedyn/io/write_sensitivity.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

py::array_t<double> array(const std::vector<double>& numbers, std::vector<py::ssize_t> shape) {
  py::array_t<double> out(std::move(shape));
  std::copy(numbers.begin(), numbers.end(), out.mutable_data());
  return out;
}

}  // namespace

void bind_sensitivity(py::module_& m) {
  const auto size = [](const auto& list) { return static_cast<py::ssize_t>(list.size()); };
  py::class_<Sensitivity, std::shared_ptr<Sensitivity>>(m, "Sensitivity")
      .def_readonly("parameters", &Sensitivity::parameters)
      .def_readonly("outputs", &Sensitivity::outputs)
      .def_property_readonly("values",
                             [size](const Sensitivity& s) { return array(s.values, {size(s.values)}); })
      .def_property_readonly("derivatives",
                             [size](const Sensitivity& s) {
                               return array(s.derivatives, {size(s.outputs), size(s.parameters)});
                             })
      .def_property_readonly(
          "differences",
          [size](const Sensitivity& s) {
            return array(s.differences, {s.differences.empty() ? 0 : size(s.outputs), size(s.parameters)});
          })
      .def_property_readonly("method", [](const Sensitivity& s) { return std::string(name_of(s.method)); })
      .def_readonly("notes", &Sensitivity::notes)
      .def_readonly("parameter_values", &Sensitivity::parameter_values)
      .def_readonly("parameter_units", &Sensitivity::parameter_units)
      .def_readonly("output_units", &Sensitivity::output_units)
      .def_property_readonly("disagrees",
                             [size](const Sensitivity& s) {
                               py::array_t<bool> out(std::vector<py::ssize_t>{
                                   s.disagrees.empty() ? 0 : size(s.outputs), size(s.parameters)});
                               std::copy(s.disagrees.begin(), s.disagrees.end(), out.mutable_data());
                               return out;
                             })
      .def_readonly("disagreement", &Sensitivity::disagreement)
      .def_readonly("uncertainty", &Sensitivity::uncertainty)
      .def_readonly("seconds", &Sensitivity::seconds)
      .def_readonly("plain_seconds", &Sensitivity::plain_seconds)
      .def_readonly("bytes", &Sensitivity::bytes)
      .def_property_readonly("channels",
                             [](const Sensitivity& s) {
                               py::dict out;
                               for (const Channel& channel : s.trajectory.channels)
                                 out[py::cast(channel.name)] =
                                     py::make_tuple(channel.first - 1, channel.components);
                               return out;
                             })
      .def_property_readonly("table",
                             [](const Sensitivity& s) {
                               return array(s.trajectory.data, {static_cast<py::ssize_t>(s.trajectory.rows()),
                                                                s.trajectory.columns});
                             })
      // (times, parameters, values of the sensors)
      .def_property_readonly("trajectory_derivatives", [size](const Sensitivity& s) {
        return array(s.trajectory_derivatives, {static_cast<py::ssize_t>(s.trajectory.rows()),
                                                size(s.parameters), s.trajectory.columns - 1});
      });
  m.def("sensitivity_json", &sensitivity_json);
  m.def(
      "sensitivity",
      [](const std::shared_ptr<Model>& model, const Params& params, const SimulateOptions& simulation,
         const std::vector<std::string>& parameters, const std::vector<std::string>& outputs,
         const std::string& method, bool check) {
        SensitivityOptions options;
        options.simulation = simulation;
        options.parameters = parameters;
        options.outputs = outputs;
        options.method = sensitivity_method(method);
        options.check = check;
        const auto result = std::make_shared<Sensitivity>();
        run_freely([&](const auto& progress) {
          options.simulation.progress = progress;
          *result = sensitivity(System(model, params), options);
        });
        return result;
      },
      py::arg("model"), py::arg("params"), py::arg("options"), py::arg("parameters"), py::arg("outputs"),
      py::arg("method"), py::arg("check"));
  // The result and its report as strings, and the history as a table: evaluation, objective, violation, variables. `report` is called with each point (evaluation, objective, violation,
  // variables, failure, whether it is the best so far, and all that restart needs as JSON); False ends the search.
  m.def(
      "optimize",
      [](const std::string& text, const std::string& file, const std::string& restart,
         const py::object& report) {
        StudyFile study = read_study_text(text, file);
        if (!restart.empty()) restart_from(restart, study.study);
        Optimum result;
        std::exception_ptr mistake;  // of the caller's function
        run_freely([&](const auto& progress) {
          result = search(study, [&](const StudyPoint& point, bool best) {
            if (!report.is_none()) {
              const py::gil_scoped_acquire lock;
              try {
                const py::object answer =
                    report(point.evaluation, point.objective, point.violation, point.variables, point.failure,
                           best, point_json(study.study, point));
                if (answer.is(py::bool_(false))) return false;
              } catch (...) {
                mistake = std::current_exception();
                return false;
              }
            }
            return progress(0);
          });
        });
        if (mistake) std::rethrow_exception(mistake);
        std::vector<double> history;
        for (const StudyPoint& point : result.history) {
          history.push_back(point.evaluation);
          history.push_back(point.objective);
          history.push_back(point.violation);
          history.insert(history.end(), point.variables.begin(), point.variables.end());
        }
        return py::make_tuple(optimum_json(study.study, result), optimum_report(study, result),
                              array(history, {static_cast<py::ssize_t>(result.history.size()),
                                              static_cast<py::ssize_t>(3 + study.study.variables.size())}));
      },
      py::arg("text"), py::arg("file"), py::arg("restart"), py::arg("report"));
}

}  // namespace liedyn::python

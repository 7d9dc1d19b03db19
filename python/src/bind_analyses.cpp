#include "bind.h"
#include "liedyn/analyses/converge.h"
#include "liedyn/analyses/kinematics.h"
#include "liedyn/analyses/run_output.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/io/live_view.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/io/write_vtk.h"
#include "liedyn/system/tree_state.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

// Columns of the trajectory as a read-only array without a copy; it keeps the result alive.
py::array view(const std::shared_ptr<Result>& result, int first, py::ssize_t components, bool flat) {
  const Trajectory& t = result->trajectory;
  constexpr auto number = static_cast<py::ssize_t>(sizeof(double));
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(t.rows())};
  std::vector<py::ssize_t> strides = {t.columns * number};
  if (!flat) {
    shape.push_back(components);
    strides.push_back(number);
  }
  py::array_t<double> array(shape, strides, t.data.data() + first, py::cast(result));
  array.attr("flags").attr("writeable") = false;
  return array;
}

// Poses while a run goes on, and its scene when it has ended.
struct Scene {
  explicit Scene(long frames) : writer(frames) {}
  SceneWriter writer;
  std::string json;
};

// The result and the events that happened.
using ResultAndEvents = std::pair<std::shared_ptr<Result>, std::vector<std::pair<double, std::string>>>;

ResultAndEvents run(const std::shared_ptr<Model>& model, const Params& params, SimulateOptions options,
                    bool driven, const std::string& vtk, const py::object& stopped, Scene* scene,
                    LiveView* live, const std::string& out, bool states, double output_times,
                    bool output_events) {
  const auto result = std::make_shared<Result>();
  std::vector<Occurrence> happened;
  const auto run_it = [&](const auto& progress) {
    options.progress = progress;
    std::optional<VtkWriter> shapes;
    if (!vtk.empty()) shapes.emplace(vtk, model->description().name);
    if (shapes || scene != nullptr)
      options.recorded = [&](const System& simulated, const State& state) {
        if (shapes) shapes->add(simulated, state);
        if (scene != nullptr) scene->writer.add(simulated, state);
      };
    const System system = driven ? in_absolute_coordinates({model, params}) : System(model, params);
    RunOutput output{
        .times = output_times, .events = output_events, .companion = live, .happened = &happened};
    std::optional<ResultWriter> writer;
    if (!out.empty()) {
      output.sink = &writer.emplace(out, states);
      output.keep = scene != nullptr;
    }
    if (live != nullptr) live->set_go_on([&] { return progress(0); });
    *result = driven ? kinematics(system, options) : simulate(system, options, output);
    if (writer) writer->finish(*result);
    if (live != nullptr) {
      live->set_go_on({});
      live->finish(*result);
    }
    if (shapes) shapes->finish();
    if (scene != nullptr) scene->json = scene->writer.finish(*result);
  };
  run_freely(run_it, stopped);
  ResultAndEvents all{result, {}};
  for (Occurrence& one : happened) all.second.emplace_back(one.t, std::move(one.name));
  return all;
}

// The models are one model in different formulations, each with its numbers.
Convergence run_convergence(const std::vector<std::pair<std::shared_ptr<Model>, Params>>& models,
                            ConvergeOptions options) {
  Convergence result;
  run_freely([&](const auto& progress) {
    options.progress = progress;
    std::vector<System> systems;
    for (const auto& [model, params] : models) systems.emplace_back(model, params);
    result = converge(systems, options);
  });
  return result;
}

void bind_convergence(py::module_& m) {
  py::class_<ConvergeOptions>(m, "ConvergeOptions")
      .def(py::init([](const Model& model) {
             const SimulateOptions defaults = default_options(model.description());
             ConvergeOptions out;
             out.start = defaults.start;
             out.end = defaults.end;
             out.initial = defaults.initial;
             out.integrators = {defaults.integrator};
             for (const double factor : {4.0, 2.0, 1.0, 0.5, 0.25})
               out.steps.push_back(factor * defaults.step);
             return out;
           }),
           "The settings in the model's description.")
      .def_readwrite("start", &ConvergeOptions::start)
      .def_readwrite("end", &ConvergeOptions::end)
      .def_readwrite("integrators", &ConvergeOptions::integrators)
      .def_readwrite("steps", &ConvergeOptions::steps)
      .def_readwrite("since", &ConvergeOptions::from)
      .def_readwrite("sensors", &ConvergeOptions::sensors)
      .def_readwrite("jobs", &ConvergeOptions::jobs)
      .def_property(
          "at_end", [](const ConvergeOptions& o) { return o.norm == ErrorNorm::End; },
          [](ConvergeOptions& o, bool end) { o.norm = end ? ErrorNorm::End : ErrorNorm::Maximum; })
      .def("refer_to_run",
           [](ConvergeOptions& o, const std::string& integrator, double step) {
             o.reference = {integrator, step, std::nullopt, ""};
           })
      .def("refer_to_result",
           [](ConvergeOptions& o, const Result& result) {
             o.reference = {"", 0, result.trajectory, "a result"};
           })
      .def("refer_to_table", [](ConvergeOptions& o, const Trajectory& table, const std::string& file) {
        o.reference = {"", 0, table, file};
      });
  py::class_<Convergence>(m, "Convergence");
  py::class_<Trajectory>(m, "Trajectory");
  m.def("converge", &run_convergence, py::arg("models"), py::arg("options"));
  m.def("step_range", &step_range);
}

}  // namespace

void bind_analyses(py::module_& m) {
  py::class_<SimulateOptions>(m, "SimulateOptions")
      .def(py::init([](const Model& model) { return default_options(model.description()); }),
           "The settings in the model's description.")
      .def_readwrite("start", &SimulateOptions::start)
      .def_readwrite("end", &SimulateOptions::end)
      .def_readwrite("step", &SimulateOptions::step)
      .def_readwrite("integrator", &SimulateOptions::integrator)
      .def_readwrite("initial", &SimulateOptions::initial)
      .def_readwrite("output_every", &SimulateOptions::output_every)
      .def_readwrite("solver", &SimulateOptions::solver)
      .def_readwrite("threads", &SimulateOptions::threads)
      .def_readwrite("record_residuals", &SimulateOptions::record_residuals);

  py::class_<Channel>(m, "Channel", "Recorded values of one sensor: its name, unit and number of components.")
      .def_readonly("name", &Channel::name)
      .def_readonly("unit", &Channel::unit)
      .def_readonly("components", &Channel::components)
      .def("__repr__", [](const Channel& channel) {
        return "<Channel " + channel.name + " [" + (channel.unit.empty() ? "-" : channel.unit) + "], " +
               std::to_string(channel.components) +
               (channel.components == 1 ? " component>" : " components>");
      });

  py::class_<Result, std::shared_ptr<Result>>(m, "Result")
      .def_property_readonly("completed", [](const Result& result) { return result.summary.completed; })
      .def_property_readonly("failure", [](const Result& result) { return result.summary.failure; })
      .def_property_readonly("channels",
                             [](const Result& result) {
                               py::dict out;
                               for (const Channel& channel : result.trajectory.channels)
                                 out[py::cast(channel.name)] = channel;
                               return out;
                             })
      .def("time", [](const std::shared_ptr<Result>& result) { return view(result, 0, 1, true); })
      .def("values",
           [](const std::shared_ptr<Result>& result, const std::string& name) {
             for (const Channel& channel : result->trajectory.channels)
               if (channel.name == name)
                 return view(result, channel.first, channel.components, channel.components == 1);
             throw py::key_error(name);
           })
      .def("table", [](const std::shared_ptr<Result>& result) {
        return view(result, 0, result->trajectory.columns, false);
      });

  bind_convergence(m);
  py::class_<Scene>(m, "Scene").def(py::init<long>()).def_readonly("json", &Scene::json);
  m.def("simulate", &run, py::arg("model"), py::arg("params"), py::arg("options"), py::arg("driven") = false,
        py::arg("vtk") = "", py::arg("stopped") = py::none(), py::arg("scene") = nullptr,
        py::arg("live") = nullptr, py::arg("out") = "", py::arg("states") = false,
        py::arg("output_times") = 0.0, py::arg("output_events") = false);
}

}  // namespace liedyn::python

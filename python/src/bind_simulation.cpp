#include "bind.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/state_space.h"
#include "liedyn/analyses/step_derivatives.h"
#include "liedyn/io/live_view.h"
#include "liedyn/model/tree.h"

#include <atomic>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

// A simulation, and what Python asks besides: one caller at a time, warnings as they come, a recording.
struct Stepper {
  explicit Stepper(Simulation&& started) : simulation(std::move(started)) {}

  Simulation simulation;
  std::atomic<bool> busy = false;
  std::size_t warned = 0;    // of the warnings
  long record_every = 0;     // steps; 0: nothing is recorded
  std::vector<double> rows;  // recorded: time and all sensors
  std::shared_ptr<LiveView> view;

  void set_view(std::shared_ptr<LiveView> other) {
    simulation.set_companion(other.get());
    view = std::move(other);
  }
  void record() {
    rows.push_back(simulation.time());
    const std::vector<double> values = simulation.sensors();
    rows.insert(rows.end(), values.begin(), values.end());
  }
};

// While it lives nobody else uses the simulation: steps let other threads run, and what they call may call back.
class Use {
 public:
  explicit Use(Stepper& stepper) : busy_(stepper.busy) {
    if (busy_.exchange(true, std::memory_order_acquire))
      throw std::runtime_error("the simulation is in use by another thread, or by a function that it calls");
  }
  ~Use() { busy_.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& busy_;
};

// A call of the simulation alone.
template <class Result, class... Arguments>
auto alone(Result (*call)(Stepper&, Arguments...)) {
  return [call](Stepper& stepper, Arguments... arguments) -> Result {
    const Use use(stepper);
    return call(stepper, std::forward<Arguments>(arguments)...);
  };
}

// A number for a sensor of one component, an array for others.
py::object shown(const double* first, int components) {
  if (components == 1) return py::float_(*first);
  return py::array_t<double>(components, first);
}

py::array_t<double> snapshot(const std::vector<double>& values) {
  py::array_t<double> out(static_cast<py::ssize_t>(values.size()), values.data());
  out.attr("flags").attr("writeable") = false;
  return out;
}

void warn_of_news(Stepper& stepper) {
  const DriveReport& report = stepper.simulation.report();
  if (report.warnings.empty() && report.contact_warnings.empty()) return;
  const std::vector<std::string> all = stepper.simulation.warnings();
  const std::size_t known = std::min(stepper.warned, all.size());
  stepper.warned = all.size();
  for (std::size_t i = known; i < all.size(); ++i) py::module_::import("liedyn.errors").attr("warn")(all[i]);
}

// advance(observer) without the lock of the interpreter, so that other threads run; Ctrl-C stops between two steps.
template <class Advance>
void freely(Stepper& stepper, const Advance& advance) {
  const Use use(stepper);
  const std::shared_ptr<LiveView> view = stepper.view;
  try {
    run_freely([&](const auto& progress) {
      if (view) view->set_go_on([&] { return progress(0); });
      advance([&](const State&, long step) {
        if (stepper.record_every > 0 && step % stepper.record_every == 0) stepper.record();
        return progress(0);
      });
    });
  } catch (const NumericalError&) {
    if (view) view->set_go_on({});
    if (!view || !stepper.simulation.report().interrupted) throw;
    PyErr_SetString(PyExc_KeyboardInterrupt, "stopped in the page");
    throw py::error_already_set();
  } catch (...) {
    if (view) view->set_go_on({});
    throw;
  }
  if (view) view->set_go_on({});
  warn_of_news(stepper);
}

void advance_to(Stepper& stepper, double t) {
  freely(stepper, [&](const Observer& observer) {
    if (!stepper.simulation.run_to(t, observer))
      throw NumericalError(stepper.simulation.time(), stepper.simulation.report().failure);
  });
}

void steps(Stepper& stepper, long count) {
  freely(stepper, [&](const Observer& observer) { stepper.simulation.step(count, observer); });
}

// Errors of C++ as those of Python: pybind11 translates what a function of its own throws.
PyObject* raised(std::exception_ptr error) {
  static thread_local std::exception_ptr current;
  static const py::handle rethrow =
      py::cpp_function([] { std::rethrow_exception(std::exchange(current, nullptr)); }).release();
  current = std::move(error);
  return PyObject_CallNoArgs(rethrow.ptr());
}

// sim.step(), which a program calls millions of times: a method of the interpreter's own calling convention, because pybind11 takes as long to find its arguments as a
// small model takes for a step. Whatever is not plain goes to _steps.
PyObject* step(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  auto* stepper = instance->simple_layout ? static_cast<Stepper*>(instance->simple_value_holder[0]) : nullptr;
  if (stepper == nullptr) {
    PyErr_SetString(PyExc_TypeError, "the simulation was not started: Model.simulation() does it");
    return nullptr;
  }
  if (count > 0 || keywords != nullptr || stepper->record_every > 0 || stepper->view) {
    const py::object method = py::reinterpret_steal<py::object>(PyObject_GetAttrString(self, "_steps"));
    if (!method) return nullptr;
    if (count > 0 || keywords != nullptr)
      return PyObject_Vectorcall(method.ptr(), arguments, static_cast<std::size_t>(count), keywords);
    return PyObject_CallFunction(method.ptr(), "i", 1);
  }
  std::exception_ptr error;
  try {
    const Use use(*stepper);
    PyThreadState* released = PyEval_SaveThread();
    try {
      stepper->simulation.step();
    } catch (...) {
      error = std::current_exception();
    }
    PyEval_RestoreThread(released);
    if (!error) warn_of_news(*stepper);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) return raised(error);
  Py_RETURN_NONE;
}

PyMethodDef kStep = {
    "step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&step)), METH_FASTCALL | METH_KEYWORDS,
    "step(count=1)\n\nTakes one step of the integrator, or `count` of them. Raises NumericalError if one "
    "fails; the simulation is then at the last valid state. A step that ends at an event counts; one that "
    "stops the run is the last."};

py::dict all_sensors(Stepper& stepper) {
  const std::vector<double> values = stepper.simulation.sensors();
  py::dict out;
  for (const Sensor& sensor : stepper.simulation.system().model().sensors)
    out[py::cast(sensor.name)] = shown(values.data() + sensor.first, sensor.components);
  return out;
}

py::dict recorded(Stepper& stepper) {
  const Model& model = stepper.simulation.system().model();
  const auto columns = static_cast<py::ssize_t>(model.sensor_values + 1);
  const auto rows = static_cast<py::ssize_t>(stepper.rows.size()) / columns;
  py::array_t<double> all({rows, columns}, stepper.rows.data());
  py::dict out;
  const auto part = [&](py::ssize_t first, int components) {
    const py::object rest = py::slice(py::none(), py::none(), py::none());
    if (components == 1) return all[py::make_tuple(rest, first)].cast<py::object>();
    return all[py::make_tuple(rest, py::slice(first, first + components, 1))].cast<py::object>();
  };
  out["time"] = part(0, 1);
  for (const Sensor& sensor : model.sensors)
    out[py::cast(sensor.name)] = part(sensor.first + 1, sensor.components);
  return out;
}

py::dict statistics(Stepper& stepper) {
  Simulation& simulation = stepper.simulation;
  const DriveReport& report = simulation.report();
  py::dict out;
  out["steps"] = report.steps;
  out["rejected"] = report.rejected;
  out["least_step"] = report.least_step;
  out["largest_step"] = report.largest_step;
  out["newton_iterations"] = report.newton_iterations;
  out["matrices"] = report.jacobian_updates;
  out["seconds"] = report.seconds;
  out["solver"] = std::string(simulation.work().solver->name());
  out["integrator"] = simulation.integrator().describe();
  out["formulation"] = simulation.system().model().formulation();
  return out;
}

StateSpace linearized(Stepper& stepper, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  const System& system = stepper.simulation.system();
  if (system.model().tree)
    throw InputError("linearize",
                     "expected a simulation in absolute coordinates, got one in the formulation 'minimal'",
                     "start it with formulation=\"r3so3\"");
  if (const std::vector<std::string> released = stepper.simulation.released_joints(); !released.empty())
    throw InputError("linearize",
                     fmt::format("expected joints that are engaged, got '{}', which an event has released",
                                 released.front()),
                     "linearize before the event, or a model without this joint");
  const py::gil_scoped_release free;
  return state_space(system, stepper.simulation.state(), {std::move(inputs), std::move(outputs)});
}

StepDerivatives derivatives(Stepper& stepper, std::vector<std::string> inputs, bool whole) {
  const py::gil_scoped_release free;
  return step_derivatives(stepper.simulation, inputs, whole);
}

py::dict state_of(Stepper& stepper) {
  const State& state = stepper.simulation.state();
  py::dict out;
  out["time"] = state.t;
  out["q"] = snapshot(state.q);
  out["v"] = snapshot(state.v);
  out["vdot"] = snapshot(state.vdot);
  out["multipliers"] = snapshot(state.lambda);
  return out;
}

py::list events_of(Stepper& stepper) {
  py::list out;
  for (const Occurrence& one : stepper.simulation.events()) out.append(py::make_tuple(one.t, one.name));
  return out;
}

}  // namespace

void bind_simulation(py::module_& m) {
  py::class_<StepDerivatives>(m, "StepDerivatives")
      .def_readonly("time", &StepDerivatives::t)
      .def_readonly("step", &StepDerivatives::step)
      .def_readonly("parts", &StepDerivatives::parts)
      .def_readonly("inputs", &StepDerivatives::inputs)
      .def_readonly("A", &StepDerivatives::A)
      .def_readonly("B", &StepDerivatives::B);
  using Sliders =
      std::vector<std::tuple<std::string, std::string, std::optional<double>, std::optional<double>>>;
  py::class_<LiveView, std::shared_ptr<LiveView>>(m, "LiveView")
      .def(py::init([](double pace, bool paused, const Sliders& sliders) {
             LiveOptions options{.pace = pace, .paused = paused};
             for (const auto& [name, path, low, high] : sliders)
               options.sliders.push_back({name, path, low, high});
             return std::make_shared<LiveView>(std::move(options));
           }),
           py::arg("pace"), py::arg("paused"), py::arg("sliders"))
      .def_property_readonly("address", &LiveView::address)
      .def_property_readonly("pages", &LiveView::pages)
      .def_property_readonly("stopped", &LiveView::was_stopped)
      .def_property_readonly("changes", &LiveView::warnings)
      .def("finish", py::overload_cast<const std::string&>(&LiveView::finish));
  py::class_<Stepper> simulation(m, "Simulation");
  simulation
      .def(py::init([](const std::shared_ptr<Model>& model, const Params& params,
                       const SimulateOptions& options, bool open) {
             const py::gil_scoped_release free;
             return std::make_unique<Stepper>(Simulation(
                 System(model, params), options, open ? Simulation::End::Open : Simulation::End::Fixed));
           }),
           py::arg("model"), py::arg("params"), py::arg("options"), py::arg("open"))
      .def(py::init([](Stepper& other) {
        const Use use(other);
        auto out = std::make_unique<Stepper>(other.simulation.clone());
        out->warned = other.warned;
        return out;
      }))
      .def_property_readonly("time", alone<double>(+[](Stepper& s) { return s.simulation.time(); }))
      .def("_advance_to", &advance_to)
      .def("_steps", &steps, py::arg("count"))
      .def("_set_inputs",
           alone<void>(+[](Stepper& s, const std::vector<std::pair<std::string, double>>& given) {
             s.simulation.set_inputs(given);
           }))
      .def("_input",
           alone<double>(+[](Stepper& s, const std::string& path) { return s.simulation.input(path); }))
      .def("_sensor", alone<py::object>(+[](Stepper& s, const std::string& name) {
             const std::vector<double> values = s.simulation.sensor(name);
             return shown(values.data(), static_cast<int>(values.size()));
           }))
      .def("_sensors", alone<py::dict>(&all_sensors))
      .def("_state", alone<py::dict>(&state_of))
      .def("_save", alone<py::bytes>(+[](Stepper& s) { return py::bytes(s.simulation.save()); }))
      .def("_restore",
           alone<void>(+[](Stepper& s, const py::bytes& bytes) { s.simulation.restore(std::string(bytes)); }))
      .def("_linearize", alone<StateSpace>(&linearized))
      .def("_step_derivatives", alone<StepDerivatives>(&derivatives))
      .def("_events", alone<py::list>(&events_of))
      .def("_released_joints",
           alone<std::vector<std::string>>(+[](Stepper& s) { return s.simulation.released_joints(); }))
      .def("_stopped_by", alone<std::string>(+[](Stepper& s) { return s.simulation.stopped_by(); }))
      .def("_record", alone<void>(+[](Stepper& s, long every) {
             s.record_every = every;
             s.rows.clear();
             if (every > 0) s.record();
           }))
      .def("_recorded", alone<py::dict>(&recorded))
      .def("_all_warnings", alone<std::vector<std::string>>(+[](Stepper& s) {
             std::vector<std::string> out = s.simulation.warnings();
             s.warned = std::max(s.warned, out.size());
             return out;
           }))
      .def("_statistics", alone<py::dict>(&statistics))
      .def("_set_view", alone<void>(+[](Stepper& s, std::shared_ptr<LiveView> view) {
             if (view) view->open(s.simulation);
             s.set_view(std::move(view));
           }));
  simulation.attr("step") = py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(simulation.ptr()), &kStep));
}

}  // namespace liedyn::python

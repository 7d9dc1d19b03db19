#include "bind.h"
#include "liedyn/analyses/simulation.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

// A number for a sensor of one component, an array for others.
py::object shown(const double* first, int components) {
  if (components == 1) return py::float_(*first);
  return py::array_t<double>(components, first);
}

py::dict all_sensors(Simulation& simulation) {
  const std::vector<double> values = simulation.sensors();
  py::dict out;
  for (const Sensor& sensor : simulation.system().model().sensors)
    out[py::cast(sensor.name)] = shown(values.data() + sensor.first, sensor.components);
  return out;
}

// Other threads run meanwhile, and Ctrl-C stops between two steps.
void advance_to(Simulation& simulation, double t) {
  run_freely([&](const auto& progress) {
    if (!simulation.run_to(t, [&](const State&, long) { return progress(0); }))
      throw NumericalError(simulation.time(), simulation.report().failure);
  });
}

py::dict statistics(const Simulation& simulation) {
  const DriveReport& report = simulation.report();
  py::dict out;
  out["steps"] = report.steps;
  out["rejected"] = report.rejected;
  out["least_step"] = report.least_step;
  out["largest_step"] = report.largest_step;
  out["newton_iterations"] = report.newton_iterations;
  out["matrices"] = report.jacobian_updates;
  out["seconds"] = report.seconds;
  out["solver"] = std::string(const_cast<Simulation&>(simulation).work().solver->name());
  out["integrator"] = simulation.integrator().describe();
  out["formulation"] = simulation.system().model().formulation();
  return out;
}

}  // namespace

void bind_simulation(py::module_& m) {
  py::class_<Simulation>(m, "Simulation")
      .def(py::init([](const std::shared_ptr<Model>& model, const Params& params,
                       const SimulateOptions& options, bool open) {
             const py::gil_scoped_release free;
             return std::make_unique<Simulation>(System(model, params), options,
                                                 open ? Simulation::End::Open : Simulation::End::Fixed);
           }),
           py::arg("model"), py::arg("params"), py::arg("options"), py::arg("open"))
      .def_property_readonly("time", &Simulation::time)
      .def("advance_to", &advance_to)
      .def("set_input", &Simulation::set_input)
      .def("input", &Simulation::input)
      .def("sensor",
           [](Simulation& simulation, const std::string& name) {
             const std::vector<double> values = simulation.sensor(name);
             return shown(values.data(), static_cast<int>(values.size()));
           })
      .def("sensors", &all_sensors)
      .def("save", [](const Simulation& simulation) { return py::bytes(simulation.save()); })
      .def("restore",
           [](Simulation& simulation, const py::bytes& bytes) { simulation.restore(std::string(bytes)); })
      .def("clone", &Simulation::clone)
      .def_property_readonly("warnings", &Simulation::warnings)
      .def("statistics", &statistics);
}

}  // namespace liedyn::python

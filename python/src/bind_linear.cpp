// Equilibria, assembly, driven motion, modes and state spaces.
#include "bind.h"
#include "liedyn/analyses/assembling.h"
#include "liedyn/analyses/kinematics.h"
#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/analyses/state_space.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/write_modes.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/io/write_state_space.h"
#include "liedyn/io/write_statics.h"
#include "liedyn/system/tree_state.h"

#include <pybind11/complex.h>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

using Release = py::call_guard<py::gil_scoped_release>;
using ModelPointer = std::shared_ptr<Model>;

// The object that --json prints, and the arrays.
struct FoundModes {
  std::string json;
  Eigen::VectorXcd eigenvalues;
  Eigen::MatrixXcd shapes;  // modes x velocities
  std::string scene = {};   // empty if it is not wanted
};

FoundModes find_modes(const ModelPointer& model, const Params& params, const std::string& at,
                      const SimulateOptions& options, const ModesOptions& wanted, bool scene) {
  System system = in_absolute_coordinates({model, params});
  const State state = operating_point(system, at, options);
  const Modes found = modes(system, state, wanted);
  FoundModes out{modes_json(found, system.model()),
                 Eigen::VectorXcd(static_cast<Eigen::Index>(found.modes.size())),
                 Eigen::MatrixXcd(static_cast<Eigen::Index>(found.modes.size()), system.model().nv)};
  for (std::size_t i = 0; i < found.modes.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    out.eigenvalues[row] = found.modes[i].eigenvalue;
    for (int k = 0; k < system.model().nv; ++k)
      out.shapes(row, k) = found.modes[i].shape[static_cast<std::size_t>(k)];
  }
  if (scene) out.scene = SceneWriter().finish(found, system, state);
  return out;
}

}  // namespace

void bind_linear(py::module_& m) {
  py::class_<FoundModes>(m, "Modes")
      .def_readonly("json", &FoundModes::json)
      .def_readonly("eigenvalues", &FoundModes::eigenvalues)
      .def_readonly("shapes", &FoundModes::shapes)
      .def_readonly("scene", &FoundModes::scene);
  m.def(
      "modes",
      [](const ModelPointer& model, const Params& params, const std::string& at,
         const SimulateOptions& options, bool undamped, int count, const std::string& solver,
         const std::optional<Vec3>& axes, bool scene) {
        ModesOptions wanted;
        wanted.undamped = undamped;
        wanted.count = count;
        wanted.solver = solver;
        wanted.axes_given = axes.has_value();
        wanted.axes_rate = axes.value_or(Vec3::Zero());
        return find_modes(model, params, at, options, wanted, scene);
      },
      Release());

  py::class_<StateSpace>(m, "StateSpace")
      .def_readonly("A", &StateSpace::A)
      .def_readonly("B", &StateSpace::B)
      .def_readonly("C", &StateSpace::C)
      .def_readonly("D", &StateSpace::D)
      .def_property_readonly("json", [](const StateSpace& space) { return state_space_json(space); })
      .def("write",
           [](const StateSpace& space, const std::string& file) { return write_state_space(space, file); })
      .def(py::pickle(
          [](const StateSpace& s) {
            return py::make_tuple(s.model, s.formulation, s.time, s.axes.rate, s.axes.change, s.A, s.B, s.C,
                                  s.D, s.states, s.inputs, s.outputs, s.input_values, s.output_values,
                                  s.warnings);
          },
          [](const py::tuple& parts) {
            StateSpace s;
            std::size_t next = 0;
            const auto take = [&]<class Part>(Part& part) { part = parts[next++].cast<Part>(); };
            take(s.model), take(s.formulation), take(s.time), take(s.axes.rate), take(s.axes.change);
            take(s.A), take(s.B), take(s.C), take(s.D);
            take(s.states), take(s.inputs), take(s.outputs);
            take(s.input_values), take(s.output_values), take(s.warnings);
            return s;
          }));
  m.def(
      "state_space",
      [](const ModelPointer& model, const Params& params, const std::string& at,
         const SimulateOptions& options, const std::vector<std::string>& inputs,
         const std::vector<std::string>& outputs) {
        System system = in_absolute_coordinates({model, params});
        const State state = operating_point(system, at, options);
        return state_space(system, state, {inputs, outputs});
      },
      Release());

  m.def(
      "static",
      [](const ModelPointer& model, const Params& params, const SimulateOptions& options, double time,
         int load_steps, double tolerance, bool scene) {
        const System system = in_absolute_coordinates({model, params});
        StaticOptions wanted{time, load_steps, tolerance, options.initial, options.from};
        SceneWriter way;
        if (scene)
          wanted.reached = [&](const System& loaded, double factor, const State& state) {
            way.add_loaded(system, loaded, factor, state);
          };
        const StaticResult found = find_equilibrium(system, wanted);
        // The object that --json prints, and the scene: empty if it is not wanted.
        return std::pair(static_json(found, system),
                         scene && found.converged ? way.finish(found, system) : std::string());
      },
      Release());
  m.def(
      "assemble",
      [](const ModelPointer& model, const Params& params, const SimulateOptions& options, double time,
         const std::vector<std::string>& held, const std::vector<std::string>& free) {
        const System system = in_absolute_coordinates({model, params});
        return configuration_json(system, assemble(system, {time, held, free, options.from}).state);
      },
      Release());
  m.def("start_from",
        [](SimulateOptions& options, const ModelPointer& model, const Params& params, const std::string& text,
           const std::string& file, const std::vector<std::pair<std::string, double>>& joints) {
          StartOptions start{{}, options.start};
          for (const auto& [joint, value] : joints)
            start.joints.push_back({.joint = joint, .value = value, .path = "initial." + excerpt(joint)});
          options.from = std::make_shared<const Configuration>(
              read_configuration_text(text, file, System(model, params), start));
        });
}

}  // namespace liedyn::python

#include "bind.h"
#include "liedyn/integrators/integrator.h"

#include <pybind11/stl.h>

namespace liedyn::python {

void bind_integrators(py::module_& m) {
  py::class_<IntegratorOption>(m, "IntegratorOption", "One key=value of an integrator.")
      .def_readonly("name", &IntegratorOption::name)
      .def_readonly("default", &IntegratorOption::fallback)
      .def_readonly("summary", &IntegratorOption::summary)
      .def_readonly("choices", &IntegratorOption::choices)
      .def_property_readonly(
          "range",
          [](const IntegratorOption& option) -> std::optional<std::pair<double, double>> {
            if (option.least == option.most) return std::nullopt;
            return std::pair(option.least, option.most);
          },
          "Lower and upper bound of a number, or None for words.")
      .def("__repr__", [](const IntegratorOption& option) {
        return "<IntegratorOption " + option.name + "=" + option.fallback + ": " + option.summary + ">";
      });
  py::class_<ListedIntegrator>(m, "Integrator", "A time integration method.")
      .def_readonly("name", &ListedIntegrator::name)
      .def_readonly("summary", &ListedIntegrator::summary)
      .def_readonly("source", &ListedIntegrator::source)
      .def_property_readonly("options",
                             [](const ListedIntegrator& listed) {
                               return by_name(listed.options,
                                              [](const IntegratorOption& o) { return o.name; });
                             })
      .def("__repr__", [](const ListedIntegrator& listed) {
        return "<Integrator " + listed.name + ": " + listed.summary + ">";
      });
  m.def(
      "integrators",
      [] { return by_name(integrators(), [](const ListedIntegrator& listed) { return listed.name; }); },
      "Time integration methods by name, with their options.");
}

}  // namespace liedyn::python

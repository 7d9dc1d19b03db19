#include "bind.h"

namespace liedyn::python {
void bind_sweep(py::module_& m);  // studies of many runs
}

PYBIND11_MODULE(_liedyn, m) {
  m.doc() = "The C++ library behind the package liedyn, which is what users import.";
  liedyn::python::bind_base(m);
  liedyn::python::bind_model(m);
  liedyn::python::bind_integrators(m);
  liedyn::python::bind_analyses(m);
  liedyn::python::bind_linear(m);
  liedyn::python::bind_sensitivity(m);
  liedyn::python::bind_simulation(m);
  liedyn::python::bind_robot(m);
  liedyn::python::bind_io(m);
  liedyn::python::bind_sweep(m);
}

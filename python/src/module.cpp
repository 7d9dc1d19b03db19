#include "bind.h"

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
}

// The module `_liedyn`: one function per folder of src/, each in its own file.
#pragma once

#include <pybind11/pybind11.h>

namespace liedyn::python {

namespace py = pybind11;

void bind_base(py::module_& m);
void bind_model(py::module_& m);
void bind_integrators(py::module_& m);
void bind_analyses(py::module_& m);
void bind_linear(py::module_& m);  // of the analyses, those without time integration
void bind_io(py::module_& m);

// A C++ list as a dict by name, in the order of the list. The items live as long as the program.
template <class List, class Name>
py::dict by_name(const List& list, Name name) {
  py::dict out;
  for (const auto& item : list)
    out[py::cast(std::string(name(item)))] = py::cast(item, py::return_value_policy::reference);
  return out;
}

}  // namespace liedyn::python

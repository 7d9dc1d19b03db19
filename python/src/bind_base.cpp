#include <exception>

#include "bind.h"
#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/version.h"

#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

// InputError of C++ becomes liedyn.errors.InputError, with its findings as Python objects; NumericalError likewise.
void translate_error(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    const py::module_ errors = py::module_::import("liedyn.errors");
    py::list diagnostics;
    for (const Diagnostic& d : error.diagnostics())
      diagnostics.append(errors.attr("Diagnostic")(d.file, d.line, d.path, d.message, d.hint));
    const py::object type = errors.attr("InputError");
    PyErr_SetObject(type.ptr(), type(diagnostics).ptr());
  } catch (const NumericalError& error) {
    const py::object type = py::module_::import("liedyn.errors").attr("NumericalError");
    PyErr_SetObject(type.ptr(), type(error.what()).ptr());
  }
}

}  // namespace

void bind_base(py::module_& m) {
  m.attr("version") = version();
  m.def("model_names", &model_names);
  py::register_exception_translator(&translate_error);
}

}  // namespace liedyn::python

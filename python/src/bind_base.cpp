#include <array>
#include <exception>
#include <string>
#include <vector>

#include "bind.h"
#include "liedyn/base/code_function.h"
#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
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

// A Python object that outlives the interpreter: what C++ keeps of it is never released.
struct Kept {
  explicit Kept(const py::object& kept) : object(kept.inc_ref().ptr()) {}
  PyObject* object;
};

// function(x_1, ..., x_n), called from any thread. Exceptions of the function pass through the analysis to its caller.
py::object call_python(const Kept& function, const double* x, int arguments) {
  std::array<py::object, CodeFunction::kMaxArguments> held;
  std::array<PyObject*, CodeFunction::kMaxArguments> given;
  for (std::size_t i = 0; i < static_cast<std::size_t>(arguments); ++i) {
    held[i] = py::float_(x[i]);
    given[i] = held[i].ptr();
  }
  PyObject* out =
      PyObject_Vectorcall(function.object, given.data(), static_cast<std::size_t>(arguments), nullptr);
  if (out == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(out);
}
double number(const py::handle& object, const std::string& name) {
  const double out = PyFloat_AsDouble(object.ptr());
  if (out == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::type_error("the function '" + name + "' must return a number, got " +
                         std::string(py::repr(object)));
  }
  return out;
}

// `gradient` may be None; it returns one number for each argument.
void register_python(const std::string& name, int arguments, const py::function& function,
                     const py::object& gradient, const std::vector<double>& scales) {
  CodeFunction out{.name = name, .arguments = arguments, .value = {}, .gradient = {}, .scales = scales};
  out.value = [f = Kept(function), arguments, name](const double* x) {
    const py::gil_scoped_acquire lock;
    return number(call_python(f, x, arguments), name);
  };
  if (!gradient.is_none())
    out.gradient = [f = Kept(gradient), arguments, name](const double* x, double* to) {
      const py::gil_scoped_acquire lock;
      const auto found = py::reinterpret_steal<py::object>(
          PySequence_Fast(call_python(f, x, arguments).ptr(), "a gradient must be a sequence of numbers"));
      if (!found) throw py::error_already_set();
      if (PySequence_Fast_GET_SIZE(found.ptr()) != arguments)
        throw py::value_error("the gradient of '" + name + "' must have " + std::to_string(arguments) +
                              " numbers");
      for (int i = 0; i < arguments; ++i) to[i] = number(PySequence_Fast_GET_ITEM(found.ptr(), i), name);
    };
  register_function(std::move(out));
}

}  // namespace

void bind_base(py::module_& m) {
  m.attr("version") = version();
  m.def("model_names", &model_names);
  m.def("register_function", &register_python);
  m.def("is_expression_function", &is_expression_function);
  py::register_exception_translator(&translate_error);
}

}  // namespace liedyn::python

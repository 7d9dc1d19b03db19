// The module `_liedyn`: one function per folder of src/, each in its own file.
#pragma once

#include <chrono>

#include <pybind11/pybind11.h>

namespace liedyn::python {

namespace py = pybind11;

void bind_base(py::module_& m);
void bind_model(py::module_& m);
void bind_integrators(py::module_& m);
void bind_analyses(py::module_& m);
void bind_linear(py::module_& m);  // of the analyses, those without time integration
void bind_sensitivity(py::module_& m);
void bind_simulation(py::module_& m);
void bind_robot(py::module_& m);
void bind_io(py::module_& m);

// A C++ list as a dict by name, in the order of the list. The items live as long as the program.
template <class List, class Name>
py::dict by_name(const List& list, Name name) {
  py::dict out;
  for (const auto& item : list)
    out[py::cast(std::string(name(item)))] = py::cast(item, py::return_value_policy::reference);
  return out;
}

// Calls analyse(progress) without the lock of the interpreter, so that other threads run. Its progress takes the lock back
// every now and then to look for signals, so that Ctrl-C works; it is then raised as KeyboardInterrupt. Only the main thread gets signals:
// an analysis in another one ends likewise as soon as `stopped`, a function of Python, says True.
template <class Analyse>
void run_freely(const Analyse& analyse, const py::object& stopped = py::none()) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(50);
  bool interrupted = false;
  auto next_look = Clock::now() + kPause;
  const auto progress = [&](double) {
    if (Clock::now() < next_look) return true;
    const py::gil_scoped_acquire lock;
    interrupted = PyErr_CheckSignals() != 0;
    if (!interrupted && !stopped.is_none() && stopped().cast<bool>()) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      interrupted = true;
    }
    next_look = Clock::now() + kPause;
    return !interrupted;
  };
  try {
    const py::gil_scoped_release free;
    analyse(progress);
  } catch (...) {
    // Analyses that have nothing to give when they are stopped say so; the interrupt goes before.
    if (!interrupted) throw;
  }
  if (interrupted) throw py::error_already_set();
}

}  // namespace liedyn::python

"""Models: reading, compiling and running them."""

from __future__ import annotations

import json
import math
import numbers
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from liedyn import _liedyn
from liedyn.errors import Diagnostic, InputError, NumericalError, NumericalWarning
from liedyn.matrices import has_matrices, in_files
from liedyn.result import Result
from liedyn.simulation import Simulation, start as start_simulation
from liedyn.derivatives import Sensitivity

ModelSource = Union[str, os.PathLike, Mapping[str, Any]]
"""The name of a shipped model, the path of a JSON file, or a dict with the content of such a file.

In a dict numpy numbers and arrays may stand for numbers and lists, and matrices (numpy arrays, scipy.sparse matrices, lists of rows)
for the files of a flexible body of type `matrices`. Names of files are relative to the current directory."""


class Parameters(Mapping[str, float]):
    """The numbers of a model by path: "spin", "bodies.top.mass", "bodies.top.inertia[1]". Read-only."""

    def __init__(self, params: _liedyn.Params) -> None:
        self._params = params

    def __getitem__(self, path: str) -> float:
        try:
            return self._params.get(self._params.find(path))
        except InputError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return (self._params.path(index) for index in range(len(self._params)))

    def __len__(self) -> int:
        return len(self._params)

    def __repr__(self) -> str:
        return f"<Parameters: {len(self)} numbers>"


class Model:
    """A model compiled for one formulation, to be run as often as you like with different parameters.

    `set` gives values to parameters and to arguments of generated models, such as {"links": 1000}. `formulation` is one
    of `formulations()`; the model's own if not given. Raises InputError with everything that is wrong.
    """

    def __init__(
        self, model: ModelSource, *, set: Mapping[str, float] | None = None, formulation: str | None = None
    ) -> None:
        assignments = _assignments(set)
        if isinstance(model, Mapping):
            if has_matrices(model):
                self._files = tempfile.TemporaryDirectory()  # gone with this object
                model = in_files(model, self._files.name)
            description, rest = _liedyn.read_model_text(_json_text(model), "model", assignments)
        elif isinstance(model, (str, os.PathLike)):
            description, rest = _liedyn.read_model(os.fspath(model), assignments)
        else:
            raise InputError([Diagnostic("", 0, "model", f"expected a name, a file or a dict, got {_shown(model)}")])
        self._compiled = _liedyn.Model(description, formulation or "")
        self._params = _changed(self._compiled.params(), rest)

    @property
    def name(self) -> str:
        return self._compiled.name

    @property
    def formulation(self) -> str:
        return self._compiled.formulation

    @property
    def parameters(self) -> Parameters:
        """Every number that `set` of `run` can change, with its value now."""
        return Parameters(self._params)

    def run(
        self,
        *,
        integrator: str | None = None,
        step: float | None = None,
        end: float | None = None,
        set: Mapping[str, float] | None = None,
        initial: str | None = None,
        output_every: int | None = None,
        every: int | None = None,
        residuals: bool = False,
        strict: bool = False,
        start: Any = None,
        sensitivities: Sequence[str] = (),
        vtk: str | os.PathLike | None = None,
    ) -> Result:
        """Simulates the model. What is not given is as the model's `simulation` says.

        integrator: name and options, "generalized-alpha,rho=0.8,sigma=1"; see `integrators()`.
        step, end:  in seconds. The step is made smaller so that the end is met exactly.
        set:        values of parameters for this run only, by path. Settings in the model's `simulation` that are
                    expressions of parameters keep the values they had when the model was compiled.
        initial:    "check": initial values that violate a constraint are an error; "project": they are projected.
        output_every: record every n-th step (adaptive integrators: at every n-th multiple of `step`); 0: the start and the end.
                    `every` is a shorter name for it.
        residuals:  also record the largest violation of the constraints, as the channels
                    "constraint_residual.position" and "constraint_residual.velocity".
        strict:     raise NumericalError if the numerics fail. Otherwise there is a NumericalWarning, and the result,
                    with `completed == False`, is complete up to that time.
        start:      begin from this configuration instead of the model's: a .json file that `liedyn static|assemble` wrote, a
                    dict of that form, or what `static` and `assemble` returned.
        sensitivities: paths of parameters; `result.d(sensor, parameter)` is then the derivative of a sensor over time.
        vtk:        a folder for the deformed shapes at every recorded time, with velocities, elastic displacements and stresses: files
                    for ParaView, NAME.pvd is their list.

        Other threads run meanwhile. Ctrl-C stops the run with KeyboardInterrupt.
        """
        given = {"integrator": integrator, "step": step, "end": end, "initial": initial, "output_every": _one_of(output_every, every)}
        result = self._simulate(given, residuals, set, start, strict, driven=False, vtk=vtk)
        if sensitivities:
            result.sensitivity = self._sensitivity(given, sensitivities, [], set, start, "direct", False)
        return result

    def start(
        self,
        *,
        integrator: str | None = None,
        step: float | None = None,
        end: float | None = None,
        set: Mapping[str, float] | None = None,
        initial: str | None = None,
        start: Any = None,
    ) -> Simulation:
        """A simulation that your program advances: see `liedyn.Simulation`. Options are those of `run`.

        Without an `end` it may be advanced for ever, in steps of exactly `step`. With one, equal steps are adjusted to meet it, as in `run`.
        """
        return start_simulation(
            self, integrator=integrator, step=step, end=end, set=set, initial=initial, start=start
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What the model says about its simulation: start, end, step, integrator, initial."""
        options = _liedyn.SimulateOptions(self._compiled)
        return {name: getattr(options, name) for name in ("start", "end", "step", "integrator", "initial")}

    def sensitivity(
        self,
        parameters: Sequence[str],
        outputs: Sequence[str] = (),
        *,
        method: str = "direct",
        check: bool = False,
        integrator: str | None = None,
        step: float | None = None,
        end: float | None = None,
        set: Mapping[str, float] | None = None,
        initial: str | None = None,
        every: int | None = None,
        start: Any = None,
    ) -> Sensitivity:
        """Derivatives of outputs with respect to parameters, exact for the steps as they are taken.

        parameters: paths of numbers, "bodies.rod.mass", "gravity[2]", "spin"; see `parameters`. "bodies.*.mass" are all that fit.
        outputs:    "tip[0]" (a sensor at the end), "tip[0]@0.5" (at a time), "tip[0]@integral", "tip[0]@max", "tip[0]@min";
                    all sensors at the end that have derivatives if none is given.
        method:     "direct" (for few parameters), "adjoint" (for few outputs), or "difference": extrapolated differences of whole
                    runs along the same steps.
        check:      compare with such differences: `agrees`, `disagreement`.

        The other options are those of `run`. Raises NumericalError if the run does not reach its end.
        """
        given = {"integrator": integrator, "step": step, "end": end, "initial": initial, "output_every": every}
        return self._sensitivity(given, parameters, outputs, set, start, method, check)

    def _sensitivity(
        self,
        given: dict[str, Any],
        parameters: Sequence[str],
        outputs: Sequence[str],
        set: Mapping[str, float] | None,
        start: Any,
        method: str,
        check: bool,
    ) -> Sensitivity:
        options = self._options(given)
        self._start_from(options, start)
        params = _changed(self._params, _assignments(set))
        parameters, outputs = _names(parameters, "parameters"), _names(outputs, "outputs")
        return Sensitivity(_liedyn.sensitivity(self._compiled, params, options, parameters, outputs, method, check))

    def kinematics(
        self,
        *,
        step: float | None = None,
        end: float | None = None,
        set: Mapping[str, float] | None = None,
        output_every: int | None = None,
        every: int | None = None,
        residuals: bool = False,
        strict: bool = False,
        start: Any = None,
    ) -> Result:
        """Positions, velocities, accelerations and reactions where joints prescribe the whole motion, from the constraints alone at each
        time. Options are those of `run`. Raises InputError with the motions that remain free, if there are any."""
        given = {"step": step, "end": end, "output_every": _one_of(output_every, every)}
        return self._simulate(given, residuals, set, start, strict, driven=True)

    def changed(self, set: Mapping[str, float]) -> Model:
        """The same model with other values of parameters; nothing is compiled anew."""
        other = object.__new__(Model)
        other._compiled = self._compiled
        other._params = _changed(self._params, _assignments(set))
        return other

    def _options(self, given: dict[str, Any]) -> _liedyn.SimulateOptions:
        """The settings of the model with those that were given."""
        options = _liedyn.SimulateOptions(self._compiled)
        findings = []
        for name, value in given.items():
            if value is None:
                continue
            kind, test = _OPTION_TYPES[name]
            if test(value):
                setattr(options, name, value)
            else:
                findings.append(Diagnostic("", 0, name, f"expected {kind}, got {_shown(value)}"))
        if findings:
            raise InputError(findings)
        return options

    def _start_from(self, options: _liedyn.SimulateOptions, start: Any) -> None:
        if start is None:
            return
        if not isinstance(start, (str, os.PathLike, Mapping)) and not hasattr(start, "data"):
            message = f"expected a configuration: a file, a dict, or what `static` and `assemble` return; got {_shown(start)}"
            hint = "the time at which a run begins is \"start\" in the model's \"simulation\"" if _is_number(start) else ""
            raise InputError([Diagnostic("", 0, "start", message, hint)])
        if isinstance(start, (str, os.PathLike)):
            with open(start, encoding="utf-8") as file:
                text, name = file.read(), os.fspath(start)
        else:
            text, name = _json_text(getattr(start, "data", start)), ""
        _liedyn.start_from(options, self._compiled, self._params, text, name)

    def _simulate(
        self,
        given: dict[str, Any],
        residuals: bool,
        set: Mapping[str, float] | None,
        start: Any,
        strict: bool,
        driven: bool,
        vtk: str | os.PathLike | None = None,
    ) -> Result:
        options = self._options(given)
        options.record_residuals = residuals
        self._start_from(options, start)
        params = _changed(self._params, _assignments(set))
        result = Result(_liedyn.simulate(self._compiled, params, options, driven, os.fspath(vtk) if vtk is not None else ""))
        for warning in result.summary["warnings"]:
            _warn(warning)
        if not result.completed:
            message = f"{self.name}: {result.failure}"
            if strict:
                raise NumericalError(message, result)
            _warn(message)
        return result

    def __repr__(self) -> str:
        return f"<Model {self.name}, {self.formulation}, {len(self._params)} parameters>"


def compiled(model: ModelSource | Model, set: Mapping[str, float] | None = None, formulation: str | None = None) -> Model:
    """A Model of this source; a Model is one already, with other values if some are set."""
    if not isinstance(model, Model):
        return Model(model, set=set, formulation=formulation)
    if formulation not in (None, model.formulation):
        message = f"this Model is compiled for '{model.formulation}', got '{formulation}'"
        raise InputError([Diagnostic("", 0, "formulation", message, "give the name, the file or the dict of the model")])
    return model.changed(set) if set else model


def run(
    model: ModelSource | Model,
    *,
    formulation: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> Result:
    """Compiles a model and simulates it once: `Model(model, set=set, formulation=formulation).run(**options)`.

    >>> run("chain", set={"links": 100}, end=0.2, step=1e-3, formulation="se3")
    """
    return compiled(model, set, formulation).run(**options)


def sensitivity(
    model: ModelSource | Model,
    parameters: Sequence[str],
    outputs: Sequence[str] = (),
    *,
    formulation: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> Sensitivity:
    """Compiles a model and differentiates a run of it: `Model(model, ...).sensitivity(parameters, outputs, **options)`."""
    return compiled(model, set, formulation).sensitivity(parameters, outputs, **options)


def kinematics(
    model: ModelSource | Model,
    *,
    formulation: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> Result:
    """Compiles a model whose motion is prescribed altogether and follows it: `Model(model, ...).kinematics(**options)`."""
    return compiled(model, set, formulation).kinematics(**options)


def models() -> list[str]:
    """Names of the shipped models, and of those in the directories of the environment variable LIEDYN_MODELS."""
    return _liedyn.model_names()


def load(model: str | os.PathLike) -> dict[str, Any]:
    """The content of a model file as a dict, to be changed and run. Robots (.urdf) have none: give their file to `run` or `Model`."""
    name = _liedyn.find_model_file(os.fspath(model))
    with open(name, encoding="utf-8") as file:
        try:
            return json.load(file)
        except json.JSONDecodeError as error:
            hint = "robots (.urdf) cannot be changed as a dict: give the file to `run` or `Model`" if name.endswith(".urdf") else ""
            raise InputError([Diagnostic(name, error.lineno, "", f"expected JSON: {error.msg}", hint)]) from None


def parameters(model: ModelSource | Model, *, set: Mapping[str, float] | None = None) -> dict[str, float]:
    """Paths and values of all numbers of a model."""
    return dict(compiled(model, set).parameters)


def _names(names: Any, what: str) -> list[str]:
    """A list of texts; one alone stands for itself."""
    if isinstance(names, str):
        return [names]
    out = list(names)
    for name in out:
        if not isinstance(name, str):
            raise InputError([Diagnostic("", 0, what, f"expected texts, got {name!r}")])
    return out


def _one_of(output_every: int | None, every: int | None) -> int | None:
    if output_every is not None and every is not None:
        raise InputError([Diagnostic("", 0, "every", "is another name of output_every, got both")])
    return every if output_every is None else output_every


def _assignments(numbers_by_path: Mapping[str, float] | None) -> list[tuple[str, float]]:
    findings = []
    assignments = []
    if numbers_by_path is not None and not isinstance(numbers_by_path, Mapping):
        message = f"expected a dict of paths and numbers, got {_shown(numbers_by_path)}"
        raise InputError([Diagnostic("", 0, "set", message, 'for example set={"bodies.top.mass": 2}')])
    for path, value in (numbers_by_path or {}).items():
        if not isinstance(path, str):
            findings.append(Diagnostic("", 0, "set", f"expected the path of a number, got {_shown(path)}"))
            continue
        if _is_number(value) and math.isfinite(value):
            assignments.append((path, float(value)))
        else:
            findings.append(Diagnostic("", 0, path, f"expected a finite number, got {value!r}"))
    if findings:
        raise InputError(findings)
    return assignments


def _changed(params: _liedyn.Params, assignments: list[tuple[str, float]]) -> _liedyn.Params:
    changed = _liedyn.Params(params)
    findings = []
    for path, value in assignments:
        try:
            changed.set(path, value)
        except InputError as error:
            findings += error.diagnostics
    if findings:
        raise InputError(findings)
    return changed


def _json_text(model: Mapping[str, Any]) -> str:
    """The model as JSON; numpy numbers and arrays may stand where a file has numbers and lists."""
    findings: list[Diagnostic] = []

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
        if isinstance(value, (list, tuple, np.ndarray)):
            return [plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
        if value is None or isinstance(value, (str, bool)):
            return value
        if not _is_number(value):
            findings.append(Diagnostic("", 0, path, f"expected what JSON can hold, got {type(value).__name__}"))
        elif not math.isfinite(value):
            findings.append(Diagnostic("", 0, path, f"expected a finite number, got {value}"))
        else:
            return int(value) if isinstance(value, numbers.Integral) else float(value)
        return None

    text = json.dumps(plain(model, ""))
    if findings:
        raise InputError(findings)
    return text


def _warn(message: str) -> None:
    """Warns about the line of the user's code that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals["__name__"].startswith("liedyn."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, NumericalWarning, stacklevel=level)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _shown(value: Any) -> str:
    """A value in a message: short, with its type where that may be the mistake."""
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:40] + '...'} ({type(value).__name__})"


_OPTION_TYPES = {
    "integrator": ('a text such as "generalized-alpha,rho=0.9"', _is_text),
    "initial": ('"check" or "project"', _is_text),
    "step": ("a number of seconds", _is_number),
    "end": ("a number of seconds", _is_number),
    "output_every": ("a whole number", _is_count),
}

"""Models read and compiled: what every analysis begins with."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, Union

from liedyn import _liedyn
from liedyn.arguments import RECORD, STRING, assignments, check, shown
from liedyn.errors import Diagnostic, InputError
from liedyn.matrices import has_matrices, in_files
from liedyn.places import Places
from liedyn.scratch import Scratch
from liedyn.source import Document, ModelSource, json_text
from liedyn.tables import Shown, Table, facts, numbers, plural, shortened
from liedyn.values import did_you_mean

Configuration = Union[str, os.PathLike, Mapping[str, Any]]
"""How bodies stand and move: a .json file that `liedyn static|assemble --out` wrote, a dict of that form
({"bodies": {"crank": {"orientation": {"rotation_vector": [0, 0, 0.5]}}}}), or what `static` and `assemble` returned."""


Analysis = TypeVar("Analysis", bound=Callable[..., Any])


class Parameters(Shown, Mapping[str, float]):
    """The parameters of a model by path: "spin", "bodies.top.mass", "bodies.top.inertia[1]". Read-only."""

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

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _parts(self) -> list[str | Table]:
        return [Table(["path", "value"], shortened([[path, numbers(value)] for path, value in self.items()]))]

    def __repr__(self) -> str:
        return f"<Parameters: {len(self)} numbers>"


class Compiled(Shown):
    """A model compiled for one formulation, with values of its parameters."""

    def __init__(
        self, model: ModelSource, *, set: Mapping[str, float] | None = None, formulation: str | None = None
    ) -> None:
        check(formulation=(formulation, STRING))
        self._set = assignments(set)  # when the model was read
        self._later: list[tuple[str, float]] = []  # and since
        self._files: Scratch | None = None  # of matrices that came in a dict; gone with this object
        self._places: Places | None = None  # of what a program gave
        if isinstance(model, Document):
            self._places = model._places()
            try:
                self._compile(self._read(model), formulation or "")
            except InputError as error:
                raise self._places.located(error) from None
            return
        if isinstance(model, Mapping):
            if has_matrices(model):
                self._files = Scratch()
                model = in_files(model, self._files.name)
            read = _liedyn.read_model_text(json_text(model), "model", self._set)
        elif isinstance(model, (str, os.PathLike)):
            read = _liedyn.read_model(os.fspath(model), self._set)
        else:
            raise InputError([Diagnostic("", 0, "model", f"expected a name, a file, a dict or a Builder, got {shown(model)}")])
        self._compile(read, formulation or "")

    def _read(self, model: Document) -> tuple[_liedyn.Description, list[tuple[str, float]], list[tuple[str, float]]]:
        content = model._content()
        if has_matrices(content):
            self._files = Scratch()
            content = in_files(content, self._files.name)
        if self._places.file:  # names of other files are relative to it
            return _liedyn.read_model_of_file(model._text(content), self._places.file, self._set)
        return _liedyn.read_model_text(model._text(content), "model", self._set)

    def _compile(self, read: tuple[_liedyn.Description, list[tuple[str, float]], list[tuple[str, float]]], formulation: str) -> None:
        description, self._rest, joints = read
        self._joints = dict(joints)  # coordinates that joints start with, instead of the model's own
        self._compiled = _liedyn.Model(description, formulation)
        self._params = _changed(self._compiled.params(), self._rest)

    @property
    def name(self) -> str:
        return self._compiled.name

    @property
    def formulation(self) -> str:
        return self._compiled.formulation

    @property
    def parameters(self) -> Parameters:
        """Every parameter that `set` of `run` can change, with its present value."""
        return Parameters(self._params)

    def value(self, path: str) -> float:
        """Of one parameter. Raises InputError with a suggestion if there is none of this path."""
        return self._params.get(self._params.find(path))

    @property
    def units(self) -> dict[str, str]:
        """Of the sensors, by name."""
        return self._compiled.units

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the model's simulation: start, end, step, integrator, initial."""
        options = _liedyn.SimulateOptions(self._compiled)
        return {name: getattr(options, name) for name in ("start", "end", "step", "integrator", "initial")}

    def changed(self, set: Mapping[str, float]) -> Compiled:
        """The same model with other values of parameters; it is not compiled again."""
        given, joints = _without_initial(assignments(set))
        return self._with(_params=_changed(self._params, given), _later=[*self._later, *given], _joints=self._joints | joints)

    def in_formulation(self, formulation: str) -> Compiled:
        """The same model and values compiled for another formulation."""
        return self._with(_compiled=self._compiled.in_formulation(formulation))

    def recording(self, record: str | None) -> Compiled:
        """The same model with sensors of all that moves, if `record` is "all"."""
        check(record=(record, RECORD))
        if record is None:
            return self
        other = self._compiled.recording_all()
        return self._with(_compiled=other, _params=_changed(other.params(), [*self._rest, *self._later]))

    def _with(self, **attributes: Any) -> Compiled:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **attributes)
        return other

    def _options(self, given: Mapping[str, Any], from_: Configuration | None) -> _liedyn.SimulateOptions:
        """The settings of the model with those that were given, which are not None, and the configuration to begin from."""
        options = _liedyn.SimulateOptions(self._compiled)
        for name, value in given.items():
            if value is not None:
                setattr(options, name, value)
        if from_ is not None or self._joints:
            text, file = ('{"joints": {}}', "") if from_ is None else _configuration_text(from_)
            _liedyn.start_from(options, self._compiled, self._params, text, file, list(self._joints.items()))
        return options

    # A pickle holds the text of the model and the values that were set, so that the file need not be there when it is read; of a robot
    # (.urdf), whose meshes are files too, it holds the name of the file. Tables and meshes are found from any directory.
    def __reduce__(self) -> tuple:
        name, text, folder, files = self._compiled.file, self._compiled.text, "", {}
        if os.path.exists(name):
            name = os.path.abspath(name)
        if self._files is not None:
            folder = self._files.name
            files = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        source = {"file": name, "text": text, "folder": folder, "files": files}
        return _restored, (type(self), source, self._set, self._later, self.formulation, self._joints)

    def _parts(self) -> list[str | Table]:
        named = itertools.takewhile(lambda path: path != "gravity[0]", self.parameters)  # the numbers of its parts follow
        given = [[name, numbers(self.value(name))] for name in named]
        sensors = [[name, unit or "-"] for name, unit in self.units.items()]
        return [
            f"{self.name}: {self.formulation}, {plural(len(self._params), 'number')} in `parameters`",
            facts(*((name, str(value)) for name, value in self.settings.items())),
            Table(["parameter", "value"], shortened(given)),
            Table(["sensor", "unit"], shortened(sensors), "<<"),
        ]

    def __repr__(self) -> str:
        return f"<Model {self.name}, {self.formulation}, {len(self._params)} parameters>"


def _restored(
    kind: type[Compiled],
    source: dict[str, Any],
    set_: list[tuple[str, float]],
    later: list[tuple[str, float]],
    formulation: str,
    joints: dict[str, float],
) -> Compiled:
    out = object.__new__(kind)
    out._set, out._later, out._files, out._places = set_, later, None, None
    text = source["text"]
    if source["files"]:
        out._files = Scratch()
        for name, content in source["files"].items():
            (Path(out._files.name) / name).write_bytes(content)
        text = text.replace(source["folder"], out._files.name)
    if source["file"].endswith(".urdf"):
        read = _liedyn.read_model(source["file"], set_)
    elif source["file"]:
        read = _liedyn.read_model_of_file(text, source["file"], set_)
    else:
        read = _liedyn.read_model_text(text, "model", set_)
    out._compile(read, formulation)
    out._params = _changed(out._params, later)
    out._joints = joints
    return out


# What other programs call options of analyses.
ELSEWHERE = {"dt": "step", "h": "step", "time_step": "step", "timestep": "step", "step_size": "step",
             "t_end": "end", "tf": "end", "duration": "end", "end_time": "end", "t0": "start", "start_time": "start",
             "solver": "integrator", "scheme": "integrator", "parameters": "set", "params": "set"}  # fmt: skip


def located(model: Any, error: InputError) -> InputError:
    """An error about a model that was built in Python, with the lines that built it; another error as it is."""
    places = model._places() if isinstance(model, Document) else getattr(model, "_places", None)
    return places.located(error) if isinstance(places, Places) else error


def locating(analysis: Analysis) -> Analysis:
    """A decorator of analyses of a model: their errors are located."""

    known = inspect.signature(analysis).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())

    @functools.wraps(analysis)
    def call(model: Any, *args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known and not takes_all:
                meant = ELSEWHERE.get(name, "")
                hint = did_you_mean(meant if meant in known else name, known)
                message = f"{analysis.__name__}() got an unexpected keyword argument '{name}'"
                raise TypeError(message + (f" (hint: {hint})" if hint else ""))
        try:
            return analysis(model, *args, **options)
        except InputError as error:
            better = located(model, error)
            if better is error:
                raise
            raise better from None

    return call


def compiled(model: ModelSource | Compiled, set: Mapping[str, float] | None = None, formulation: str | None = None) -> Compiled:
    """A compiled model of this source. A compiled one is one already, with other values if some are set, and compiled anew for another
    formulation."""
    if not isinstance(model, Compiled):
        return Compiled(model, set=set, formulation=formulation)
    check(formulation=(formulation, STRING))
    if formulation not in (None, model.formulation):
        model = model.in_formulation(formulation)
    return model.changed(set) if set is not None else model


def parameters(model: ModelSource | Compiled, *, set: Mapping[str, float] | None = None) -> dict[str, float]:
    """Paths and values of all parameters of a model."""
    return dict(compiled(model, set).parameters)


def _without_initial(given: list[tuple[str, float]]) -> tuple[list[tuple[str, float]], dict[str, float]]:
    """Values of parameters, and those of "initial.JOINT": the coordinates that joints start with."""
    prefix = "initial."
    joints = {path[len(prefix) :]: value for path, value in given if path.startswith(prefix)}
    return [(path, value) for path, value in given if not path.startswith(prefix)], joints


def _changed(params: _liedyn.Params, given: list[tuple[str, float]]) -> _liedyn.Params:
    changed = _liedyn.Params(params)
    findings = []
    for path, value in given:
        try:
            changed.set(path, value)
        except InputError as error:
            findings += error.diagnostics
    if findings:
        raise InputError(findings)
    return changed


def _configuration_text(from_: Configuration) -> tuple[str, str]:
    """Its JSON, and the name of its file."""
    content = getattr(from_, "data", from_)  # of what `static` and `assemble` returned
    if isinstance(content, Mapping):
        return json_text(content), ""
    if not isinstance(from_, (str, os.PathLike)):
        message = f"expected a configuration: a file, a dict, or what `static` and `assemble` return; got {shown(from_)}"
        raise InputError([Diagnostic("", 0, "from_", message)])
    name = os.fspath(from_)
    if name.lstrip().startswith("{"):
        message = f"expected the name of a file, got the string {shown(name)}"
        raise InputError([Diagnostic("", 0, "from_", message, "a configuration may be a dict: json.loads(string)")])
    try:
        return Path(name).read_text(encoding="utf-8"), name
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text file"
        raise InputError([Diagnostic(name, 0, "", f"cannot be read: {why}", "`static(...).save(file)` writes one")]) from None

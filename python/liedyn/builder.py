"""Models built in Python, with the vocabulary of model files."""

from __future__ import annotations

import copy
import inspect
import numbers
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from liedyn import _liedyn, matrices, tree
from liedyn.arguments import FILE, assignments, check, is_number, shown
from liedyn.errors import Diagnostic, InputError, caller
from liedyn.expressions import Expression, ValueNeeded, call_of_function, t
from liedyn.handles import NAME, SYMBOL, Body, Handle, Owner, Parameter, SubModel, Symbol, Table, of_section
from liedyn.kinds import EXPRESSIONS, Argument, Kind, arguments_of, kinds, several, singular, with_methods
from liedyn.laws import Called, name_of
from liedyn.model import Model
from liedyn.model_text import parsed, with_files_from, written
from liedyn.places import Place, Places, short_name
from liedyn.source import Document, model_file_content
from liedyn.tables import plural
from liedyn.values import DEEPEST, Problem, described, did_you_mean, finite, is_scalar, mistake, nearest

_SECTIONS = tuple(_liedyn.elements())
_KEYS = _liedyn.model_keys()
_FORMAT = 1
_HIDDEN_BY = {"parameters": ("states", "sensors"), "states": ("sensors",)}  # what goes first where expressions name them

_OF_THE_GROUND = {"shape": None, "shapes": None, "frames": None}.keys()  # what the ground has besides being there

_SIMULATION = Kind("simulation", "", "simulation", _KEYS["simulation"], arguments_of(_liedyn.simulation_fields()))


class Entries(Mapping[str, Any]):
    """The parts of one section of a model, by name. Read-only: methods of the model add parts, and `remove()` of a part takes it away."""

    def __init__(self, builder: Builder, section: str) -> None:
        self._builder = builder
        self._section = section

    def __getitem__(self, name: str) -> Any:
        names = self._builder._names(self._section)
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise KeyError(f"the model has no {singular(self._section)} '{name}'" + (f": {hint}" if hint else ""))
        return of_section(self._builder, self._section, name)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._builder._names(self._section)))

    def __len__(self) -> int:
        return len(self._builder._names(self._section))

    def __repr__(self) -> str:
        return f"<{self._section}: {', '.join(self) or 'none'}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class _Methods(Document, Owner):
    """What `Builder` has besides the methods of the kinds."""

    def __init__(self, *, gravity: Any = None, name: str | None = None, description: str | None = None) -> None:
        self._document: dict[str, Any] = {"liedyn": _FORMAT}
        self._known = Places()
        self._original: str | None = None  # the text that it was read from, as long as nothing is changed
        self._ordered = False  # keys of the document stay in the order of the file that it was read from
        self._used: dict[str, str] = {}  # names in expressions, and the section that they mean
        for key, value in (("name", name), ("description", description), ("gravity", gravity)):
            if value is not None:
                self._set_key(key, value)

    # ---- parts

    @property
    def ground(self) -> Body:
        """The inertial frame, as a body. `m.ground.set(shape=ld.box(...))` draws something at rest."""
        return Body(self, "bodies", "ground")

    def parameter(self, name: str, value: Any) -> Parameter:
        """A named number that expressions may use and that `set` of a run changes. The value may be an expression of the parameters
        before it. Returns an expression: `2*speed` stays an expression in the model file.

        >>> speed = m.parameter("speed", 6)
        """
        place, call = self._begin("parameter", name)
        self._check_name(place, call, "parameters", name, SYMBOL, "letters, digits and underscores")
        argument = f"parameters.{name}"
        try:
            given = self._scalar(value)
        except Problem as problem:
            raise self._error(place, call, argument, "value", problem) from None
        self._store("parameters", name, given, place, call)
        return Parameter(self, "parameters", name)

    def table(
        self,
        name: str,
        *,
        points: Any = None,
        interpolation: str | None = None,
        file: str | os.PathLike | None = None,
        x: Any = None,
        y: Any = None,
        values: Any = None,
        waypoints: Any = None,
        speed: Any = None,
        acceleration: Any = None,
        start: Any = None,
    ) -> Table:
        """A function through points, which expressions call: `torque(speed)`.

        points:        [[x, y], ...]; or `file`, with two columns; or of two variables `x`, `y` and `values`, one row per x.
        interpolation: "linear" (default), "pchip" or "spline".
        waypoints:     a trajectory of the time through them, from rest to rest: a list, or a dict of lists for several coordinates. It keeps
                       the limits `speed` and `acceleration` and begins at `start`. Expressions call `move(ld.t)` or `move["elbow"](ld.t)`.
        """
        place, call = self._begin("table", name)
        self._check_name(place, call, "tables", name, SYMBOL, "letters, digits and underscores")
        given = {"points": points, "file": os.fspath(file) if isinstance(file, os.PathLike) else file, "x": x, "y": y, "values": values}
        given |= {"waypoints": waypoints, "speed": speed, "acceleration": acceleration, "start": start, "interpolation": interpolation}
        table = {}
        for key, value in given.items():
            if value is None:
                continue
            try:
                table[key] = self._plain(value)
            except Problem as problem:
                raise self._error(place, call, f"tables.{name}.{key}", key, problem) from None
        for key in ("file", "interpolation"):
            if key in table and not isinstance(table[key], str):
                problem = Problem(f"expected a string, got {described(table[key])}")
                raise self._error(place, call, f"tables.{name}.{key}", key, problem)
        if len({"points", "file", "values", "waypoints"} & set(table)) != 1:
            message = f"expected points, a file, x, y and values, or waypoints, got {', '.join(table) or 'nothing'}"
            raise self._error(place, call, f"tables.{name}", "", Problem(message))
        self._store("tables", name, table, place, call)
        return Table(self, "tables", name)

    def simulation(self, **settings: Any) -> None:
        """How to simulate the model unless a run says otherwise."""
        place, call = self._begin("simulation", None)
        given = self._converted(_SIMULATION, settings, place, call, "simulation")
        self._touch()
        self._document.setdefault("simulation", {}).update(given)
        self._known["simulation"] = Place(*place, call)

    def add(
        self,
        model: Builder | str | os.PathLike | Mapping[str, Any],
        name: str,
        *,
        at: Any = None,
        rotation: Any = None,
        set: Mapping[str, Any] | None = None,
    ) -> SubModel:
        """Another model as a part of this one: a `Builder`, the name of a file, or a dict. Its parts have `name` before theirs, left.knee; what it
        gives in inertial axes is moved by `at` and turned by `rotation`, and its expressions see its sensors in its own axes. `set` gives its parameters
        values or expressions of this model.

        >>> left = m.add("leg.json", name="left", at=[0, 0.2, 0], set={"length": 0.5 * size})
        >>> m.revolute("hip", torso, left["thigh"], at=[0, 0.2, 0], axis=[0, 1, 0])
        """
        place, call = self._begin("add", name)
        self._check_name(place, call, "models", name, SYMBOL, "letters, digits and underscores")
        entry: dict[str, Any] = {}
        here = Path(self._known.file).absolute().parent if self._known.file else Path.cwd()
        if isinstance(model, _Methods):
            if matrices.has_matrices(model._content()):
                raise self._error(place, call, f"models.{name}", "model", Problem("has matrices in memory", "save() it and give the file"))
            inside = model.to_dict()
            there = Path(model._known.file).absolute().parent if model._known.file else Path.cwd()
            entry["model"] = with_files_from(inside, there, here) if there != here else inside
        elif isinstance(model, Mapping):
            entry["model"] = _plain_copy(model)
        elif isinstance(model, (str, os.PathLike)):
            entry["file"] = os.fspath(model)
        else:
            problem = Problem(f"expected a Builder, the name of a file or a dict, got {shown(model)}")
            raise self._error(place, call, f"models.{name}", "model", problem)
        for key, value in (("at", at), ("rotation", rotation), ("set", set)):
            if value is None:
                continue
            try:
                entry[key] = self._plain(value)
            except Problem as problem:
                raise self._error(place, call, f"models.{name}.{key}", key + problem.part, problem) from None
        self._store("models", name, entry, place, call)
        return SubModel(self, "models", name)

    @property
    def name(self) -> str:
        """Of the model; that of its file, or "model", if none was given."""
        return self._document.get("name") or self._default_name()

    @name.setter
    def name(self, value: str) -> None:
        self._set_key("name", value)

    @property
    def description(self) -> str:
        """Description of the model, for readers."""
        return self._document.get("description", "")

    @description.setter
    def description(self, value: str) -> None:
        self._set_key("description", value)

    @property
    def gravity(self) -> list[Any]:
        """Gravitational acceleration in m/s^2, inertial axes. Numbers or expressions as strings."""
        return copy.deepcopy(self._document.get("gravity", [0, 0, 0]))

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._set_key("gravity", value)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings given to `simulation`. A copy."""
        return copy.deepcopy(self._document.get("simulation", {}))

    @property
    def parameters(self) -> Entries:
        """The parameters, by name."""
        return Entries(self, "parameters")

    @property
    def tables(self) -> Entries:
        """The tables, by name."""
        return Entries(self, "tables")

    # ---- files

    def to_dict(self) -> dict[str, Any]:
        """The content of the model file."""
        return copy.deepcopy(self._content())

    def to_json(self) -> str:
        """The model file as a string. Matrices of flexible bodies are files of their own, which `save` writes."""
        content = self._content()
        if matrices.has_matrices(content):
            message = "matrices of flexible bodies cannot be part of a model as a string"
            raise InputError([Diagnostic("", 0, "flexible", message, "save(file) writes them as files beside it")])
        return self._text(content)

    def save(self, file: str | os.PathLike) -> None:
        """Writes the model file. Names of other files in it are changed so that they are right from there; matrices of flexible bodies
        become .npz files beside it."""
        if not isinstance(file, (str, os.PathLike)):
            raise InputError([Diagnostic("", 0, "file", f"expected the name of a file, got {shown(file)}")])
        path = Path(file)
        content = self._content()
        try:
            here = Path(self._known.file).absolute().parent if self._known.file else Path.cwd()
            if here != path.absolute().parent:
                content = with_files_from(content, here, path.absolute().parent)
            if matrices.has_matrices(content):
                content = matrices.in_files(content, path.absolute().parent, prefix=f"{path.stem}_", relative=True)
            path.write_text(self._text(content).rstrip() + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError([Diagnostic(os.fspath(file), 0, "", f"cannot be written: {error.strerror}")]) from None

    @classmethod
    def from_json(cls, source: str | os.PathLike | Mapping[str, Any]) -> Builder:
        """A model file as a model to be changed: its name (also of a shipped model), its text, or a dict of its content."""
        out = cls()
        if isinstance(source, Mapping):
            content = _plain_copy(source)
        elif isinstance(source, str) and source.lstrip().startswith("{"):
            content, out._original = parsed(source, ""), source
        elif isinstance(source, (str, os.PathLike)):
            file = _liedyn.find_model_file(os.fspath(source))
            try:
                text = Path(file).read_text(encoding="utf-8")
            except OSError as error:
                raise InputError([Diagnostic(file, 0, "", f"cannot be read: {error.strerror}")]) from None
            except UnicodeDecodeError:
                raise InputError([Diagnostic(file, 0, "", "cannot be read: it is not a text file")]) from None
            content, out._original = parsed(text, file), text
            out._known.file = file
        else:
            message = f"expected the name of a file, a model as a string or a dict, got {shown(source)}"
            raise InputError([Diagnostic("", 0, "source", message)])
        parts = {section: content[section] for section in ("parameters", "tables", "models", "simulation", *_SECTIONS) if section in content}
        for section in _SECTIONS:
            if isinstance(parts.get(section), dict):
                parts |= {f"{section}.{name}": entry for name, entry in parts[section].items()}
        for path, part in parts.items():
            if not isinstance(part, dict):
                raise InputError([Diagnostic(out._known.file, 0, path, f"expected an object, got {described(part)}")])
        out._document, out._ordered = content, True
        return out

    def compile(self, *, set: Mapping[str, float] | None = None, formulation: str | None = None) -> Model:
        """The model, ready to be analysed: see `liedyn.Model`. Later changes of this object do not change it.

        Raises InputError with everything that is wrong, each with the line of your program that gave it.
        """
        return Model(self, set=set, formulation=formulation)

    def copy(self) -> Builder:
        """An independent copy. Parts of it are its own: `other.bodies["crank"]`."""
        return copy.deepcopy(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Builder:
        out = object.__new__(type(self))
        memo[id(self)] = out
        out.__dict__.update(
            self.__dict__, _document=copy.deepcopy(self._document, memo), _known=self._known.copy(), _used=dict(self._used)
        )
        return out

    # ---- for others

    def _content(self) -> dict[str, Any]:
        if self._ordered:
            return self._document
        return {key: self._document[key] for key in _KEYS if key in self._document}

    def _text(self, content: Mapping[str, Any]) -> str:
        return self._original if self._original is not None and content is self._document else written(content)

    def _places(self) -> Places:
        out = self._known.copy()
        out.lines_known = self._original is not None
        return out

    def _names(self, section: str) -> Mapping[str, Any]:
        return self._document.get(section, {})

    def _fields(self, section: str, name: str) -> Any:
        self._check_there(section, name)
        return copy.deepcopy(self._document[section][name])

    def _change(self, section: str, name: str, given: dict[str, Any]) -> None:
        place, call = caller(), f"{name}.set(...)"
        ground = (section, name) == ("bodies", "ground")
        if ground and not given.keys() <= _OF_THE_GROUND:
            message = f"the ground is not a part that can be changed, except its {', '.join(_OF_THE_GROUND)}"
            raise self._error(place, call, "bodies.ground", "", Problem(message))
        if not ground:
            self._check_there(section, name)
        if section == "parameters":
            try:
                value = self._scalar(given["value"])
            except Problem as problem:
                raise self._error(place, call, f"parameters.{name}", "value", problem) from None
            self._store("parameters", name, value, place, call)
            return
        entry = self._names(section).get(name, {})
        type_ = "rigid" if ground else entry.get("type")  # the ground has no type; its shapes are written as those of a rigid body
        kind = next((kind for kind in KINDS.values() if (kind.section, kind.type) == (section, type_)), None)
        if kind is None:
            raise self._error(place, call, f"{section}.{name}", "", Problem(f"its type {shown(entry.get('type'))} is unknown"))
        path = f"{section}.{name}"
        gone = [kind.argument(key) for key, value in given.items() if value is None]
        for argument in gone:
            if argument is not None and argument.required:
                raise self._error(place, call, f"{path}.{argument.key}", argument.keyword, Problem("is required"))
        changed = self._converted(kind, given, place, call, path, complete=False)
        self._touch()
        entry = self._document.setdefault(section, {}).setdefault(name, entry)
        entry.update(changed)
        for argument in gone:
            if argument is not None:
                entry.pop(argument.key, None)
        for key in changed:
            self._known[f"{path}.{key}"] = Place(*place, call)

    def _remove(self, section: str, name: str) -> None:
        self._check_there(section, name)
        self._touch()
        del self._document[section][name]
        if not self._document[section]:
            del self._document[section]
        self._known.forget(f"{section}.{name}")

    def _check_there(self, section: str, name: str) -> None:
        if name not in self._names(section):
            file, line = caller()
            message = "the ground is not a part that can be changed" if name == "ground" else "is no longer in the model"
            if "." in name or "[" in name:
                message = "is a part of a beam: change the beam"
            raise InputError([Diagnostic(short_name(file), line, f"{section}.{name}", message)])

    # ---- adding

    def _add(self, kind: Kind, args: tuple, given: dict[str, Any]) -> Any:
        place = caller()
        name, given = self._arranged(kind, args, given, place)
        call = f"{kind.method}({name!r}, ...)"
        self._check_name(place, call, kind.section, name, NAME, "letters, digits, underscores and hyphens")
        fields = self._converted(kind, given, place, call, f"{kind.section}.{name}")
        self._store(kind.section, name, {"type": kind.type, **fields}, place, call)
        return of_section(self, kind.section, name)

    def _arranged(self, kind: Kind, args: tuple, given: dict[str, Any], place: tuple[str, int]) -> tuple[Any, dict[str, Any]]:
        """The name and the fields by keyword; the first ones may have come without."""
        if "name" in given:
            args, given = (given["name"], *args), {key: value for key, value in given.items() if key != "name"}
        if not args:
            raise self._error(place, f"{kind.method}(...)", kind.section, "name", Problem("is missing: the name of the element"))
        name, rest, first = args[0], args[1:], kind.positional
        if not rest:
            return name, given
        call = f"{kind.method}({name!r}, ...)"
        if first is None or len(rest) > (2 if first.form.pair else 1) or first.keyword in given:
            message = f"got {plural(len(rest), 'argument')} without a keyword after the name"
            allowed = f"{first.form.words} ({first.keyword})" if first is not None else "none"
            problem = Problem(message, f"expected {allowed}; give the others by keywords")
            raise self._error(place, call, f"{kind.section}.{name}", "", problem)
        if first.form.pair:
            rest = rest[0] if len(rest) == 1 and isinstance(rest[0], (list, tuple)) else rest
            return name, {first.keyword: rest, **given}
        return name, {first.keyword: rest[0], **given}

    def _converted(
        self, kind: Kind, given: Mapping[str, Any], place: tuple[str, int], call: str, path: str, *, complete: bool = True
    ) -> dict[str, Any]:
        """The fields as the model file has them, by key. Raises InputError with all that is wrong."""
        out: dict[str, Any] = {}
        findings: list[Diagnostic] = []

        def finding(argument: str, key: str, problem: Problem) -> None:
            findings.extend(self._error(place, call, f"{path}.{key}", argument, problem).diagnostics)

        for word, value in given.items():
            argument = kind.argument(word)
            if argument is None:
                what = f"{kind.section}: {kind.type}" if kind.type else kind.section
                hint = did_you_mean(word, kind.arguments) or f"the arguments are {', '.join(kind.arguments)}"
                finding(word, word, Problem(f"unknown argument of {what}", hint))
            elif value is not None:
                try:
                    out[argument.key] = self._value(argument, value)
                except Problem as problem:
                    finding(argument.keyword + problem.part, argument.key + problem.part, problem)
        if complete:
            # What is wrong is not missing as well, nor what an unknown argument is meant to be.
            meant = {nearest(word, kind.arguments) for word in given if kind.argument(word) is None}
            if kind.section == "bodies" and (given.get("shape") is not None or given.get("shapes") is not None):
                meant |= {"mass", "inertia"}  # which follow from the shapes
            bodies = [out[argument.key] for argument in kind.arguments.values() if argument.type in ("Body", "Bodies") and argument.key in out]
            if any("." in name for given_bodies in bodies for name in ([given_bodies] if isinstance(given_bodies, str) else given_bodies)):
                meant |= {argument.keyword for argument in kind.arguments.values() if argument.in_body_axes}  # a frame may give them
            for argument in kind.arguments.values():
                if argument.required and given.get(argument.keyword, given.get(argument.key)) is None and argument.keyword not in meant:
                    unit = f" in {argument.unit}" if argument.unit else ""
                    finding(argument.keyword, argument.key, Problem(f"is missing: {argument.form.words}{unit}. {argument.summary}"))
        if findings:
            raise InputError(findings)
        # In the order of the list, as the documentation has it.
        return {argument.key: out[argument.key] for argument in kind.arguments.values() if argument.key in out}

    def _value(self, argument: Argument, value: Any) -> Any:
        """One field as the model file has it."""
        form = argument.form
        if form.sections:
            if not form.pair:
                return self._reference(argument, value)
            two = list(value) if isinstance(value, (list, tuple)) else [value]
            if len(two) != 2:
                raise Problem(f"expected {form.words}, got {len(two)}")
            return [self._reference(argument, one) for one in two]
        if argument.key in matrices.KEYS and argument.type == "Text" and matrices.is_matrix(value):
            return copy.deepcopy(value)
        plain = self._plain(value)
        wrong = mistake(argument, plain)
        if wrong:
            hint = did_you_mean(plain, argument.choices) if isinstance(plain, str) and argument.choices else ""
            raise Problem(wrong, hint)
        return "; ".join(map(str, plain)) if argument.form is EXPRESSIONS and isinstance(plain, list) else plain

    def _reference(self, argument: Argument, value: Any) -> str:
        words = f"a {singular(argument.form.sections[0])}" if argument.form.pair else argument.form.words
        if isinstance(value, str):
            return value
        if not isinstance(value, (Handle, Symbol)):
            raise Problem(f"expected {words} or the name of one, got {shown(value)}")
        if value.section not in argument.form.sections:
            raise Problem(f"expected {words}, got the {singular(value.section)} '{value.name}'")
        self._check_owned(value._owner, value.section, value.name)
        return value.name

    def _check_owned(self, owner: Owner, section: str, name: str) -> None:
        if owner is not self:
            raise Problem(f"'{name}' belongs to another model", f"of this one it would be .{section}[{name!r}]")
        base = name.partition(".")[0].partition("[")[0] if section in ("beams", "flexible") else name
        if base in self._names(section) or (section, name) == ("bodies", "ground"):
            return
        first, _, rest = name.partition(".")
        if rest and first in self._names("models"):  # a part of a sub-model
            return
        if section == "bodies" and first in self._names("bodies"):
            frames = self._names("bodies")[first].get("frames", {})
            if rest in frames:
                return
            raise Problem(f"'{first}' has no frame '{rest}'", did_you_mean(rest, frames))
        raise Problem(f"'{name}' is no longer in the model")

    def _plain(self, value: Any, depth: int = 0) -> Any:
        """A value as JSON holds it: expressions and parts of the model by name, arrays as lists, functions traced."""
        kind = type(value)
        if kind is float or kind is int:
            return finite(value)
        if kind is str:
            return value
        if isinstance(value, Expression):
            for owner, section, name in value._names:
                self._use(owner, section, name)
            return str(value)
        if isinstance(value, Handle):
            what = f"the {singular(value.section)} '{value.name}'"
            raise Problem(f"expected a value, got {what}", "call it: torque(speed)" if isinstance(value, Table) else "")
        if isinstance(value, str):
            return str(value)
        if depth > DEEPEST:
            raise Problem(f"is nested more than {DEEPEST} levels deep")
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return self._plain(value.item(), depth + 1)
        if isinstance(value, (list, tuple, np.ndarray)):
            return [self._part(item, f"[{i}]", depth) for i, item in enumerate(value)]
        if isinstance(value, Mapping):
            out = {}
            for key, item in value.items():
                name = key.name if isinstance(key, Handle) else key
                if not isinstance(name, str):
                    raise Problem(f"expected names as keys, got {shown(key)}")
                if isinstance(key, Handle):
                    self._check_owned(key._owner, key.section, key.name)
                out[name] = self._part(item, f".{name}", depth)
            return out
        if type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        if is_number(value):
            return finite(int(value) if isinstance(value, numbers.Integral) else value)
        if isinstance(value, Called):
            return self._plain(self._calling(value), depth + 1)
        if callable(value):
            return self._plain(self._traced(value), depth + 1)
        raise Problem(f"expected a value that a model file can contain, got {shown(value)}")

    def _scalar(self, value: Any) -> Any:
        plain = self._plain(value)
        if not is_scalar(plain):
            raise Problem(f"expected a number or an expression, got {described(plain)}")
        return plain

    def _part(self, value: Any, part: str, depth: int) -> Any:
        try:
            return self._plain(value, depth + 1)
        except Problem as problem:
            problem.part = part + problem.part
            raise

    def _use(self, owner: Any, section: str, name: str) -> None:
        self._check_owned(owner, section, name)
        if not all(SYMBOL.fullmatch(part) for part in name.split(".")):
            raise Problem(f"'{name}' cannot be used in an expression", "names in expressions have no hyphens")
        for other in _HIDDEN_BY.get(section, ()):
            if name in self._names(other):
                message = f"the {singular(section)} '{name}' is hidden by the {singular(other)} of this name"
                raise Problem(message, "give one of them another name")
        self._used[name] = section

    def _traced(self, function: Callable) -> Any:
        """What a function gives for expressions. If it needs their values, it is called while the model runs."""
        arguments = self._arguments_of(function)
        try:
            out = function(*(value for name, value in arguments.items() if not name.startswith("=")),
                           **{name[1:]: value for name, value in arguments.items() if name.startswith("=")})
        except (ValueNeeded, TypeError):
            return self._calling(Called(function))
        if out is None:
            raise Problem("the function returned None", "end it with `return ...`")
        if callable(out) and not isinstance(out, (Expression, Handle)):
            raise Problem("the function returned a function")
        return out

    def _calling(self, law: Called) -> Any:
        """The call of a function, as an expression."""
        arguments = self._arguments_of(law.function)
        if any(name.startswith("=") for name in arguments):
            raise Problem("a function that is called takes its arguments by their places", "without * in the list of arguments")
        if not arguments:
            raise Problem("a function that is called needs an argument", "t, a sensor, a state or a parameter")
        taken = lambda name: any(name in self._names(section) for section in ("tables", "parameters", "states", "sensors"))
        try:
            names = name_of(law, len(arguments), taken)
        except InputError as error:
            raise Problem(error.diagnostics[0].message, error.diagnostics[0].hint) from None
        calls = [call_of_function(name, list(arguments.values())) for name in names]
        return calls[0] if law.size is None else calls

    def _arguments_of(self, function: Callable) -> dict[str, Any]:
        """The expressions that a function gets: by the names of its arguments the time t, sensors, states and parameters. Names of arguments
        that are given by keyword begin with "="."""
        known = {"t": t}
        for section in ("parameters", "states", "sensors"):  # later ones go first
            known |= {name: (section, name) for name in self._names(section)}
        try:
            if isinstance(function, type):
                raise ValueError
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise Problem(f"expected a function whose arguments have names, got {shown(function)}", "lambda t: ...") from None
        out = {}
        for parameter in parameters:
            if parameter.default is not parameter.empty:
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise Problem(f"expected a function whose arguments have names, got *{parameter.name}")
            if parameter.name not in known:
                message = f"the function takes '{parameter.name}', but the model has no parameter, state or sensor of this name"
                raise Problem(message, did_you_mean(parameter.name, known) or "the time is t; give sensors and states before the function")
            meant = known[parameter.name]
            key = f"={parameter.name}" if parameter.kind is parameter.KEYWORD_ONLY else parameter.name
            out[key] = meant if isinstance(meant, Expression) else of_section(self, *meant)
        return out

    # ---- bookkeeping

    def _begin(self, method: str, name: Any) -> tuple[tuple[str, int], str]:
        return caller(), f"{method}(...)" if name is None else f"{method}({name!r}, ...)"

    def _check_name(self, place: tuple[str, int], call: str, section: str, name: Any, pattern: Any, characters: str) -> None:
        path = f"{section}.{name}" if isinstance(name, str) else section
        if not isinstance(name, str):
            raise self._error(place, call, path, "name", Problem(f"expected a string, got {shown(name)}"))
        if not pattern.fullmatch(name):
            message = f"expected a name of {characters} that begins with a letter or underscore, got {shown(name)}"
            raise self._error(place, call, path, "name", Problem(message))
        if name in self._names(section):
            where = self._known._calls.get(path)
            hint = f"it was given at {short_name(where.file)}:{where.line}" if where else ""
            problem = Problem(f"the model has a {singular(section)} '{name}' already", hint)
            raise self._error(place, call, path, "name", problem)
        if section == "bodies" and name == "ground":
            raise self._error(place, call, path, "name", Problem("'ground' is the name of the inertial frame"))
        hidden = self._used.get(name)
        if hidden is not None and section in _HIDDEN_BY.get(hidden, ()):
            message = f"a {singular(section)} of this name hides the {singular(hidden)} '{name}', which expressions use"
            raise self._error(place, call, path, "name", Problem(message, "choose another name"))

    def _store(self, section: str, name: str, value: Any, place: tuple[str, int], call: str) -> None:
        self._touch()
        self._document.setdefault(section, {})[name] = value
        self._known[f"{section}.{name}"] = Place(*place, call)

    def _set_key(self, key: str, value: Any) -> None:
        place, call = caller(), key
        try:
            plain = self._plain(value)
            if key == "gravity" and not (isinstance(plain, list) and len(plain) == 3 and all(map(is_scalar, plain))):
                raise Problem(f"expected 3 numbers, got {described(plain)}")
            if key != "gravity" and not isinstance(value, str):
                raise Problem(f"expected a string, got {shown(value)}")
        except Problem as problem:
            raise self._error(place, call, key, problem.part, problem) from None
        self._touch()
        self._document[key] = plain
        self._known[key] = Place(*place, call)

    def _touch(self) -> None:
        self._original = None

    @staticmethod
    def _error(place: tuple[str, int], call: str, path: str, argument: str, problem: Problem) -> InputError:
        file, line = place
        return InputError([Diagnostic(short_name(file), line, path, problem.message, problem.hint, call, argument)])

    def _default_name(self) -> str:
        """models/heavy_top/model.json is called heavy_top, my_arm.json is called my_arm."""
        file = Path(self._known.file or "model")
        return file.parent.name if file.stem == "model" and file.parent.name else file.stem

    def __getattr__(self, name: str) -> NoReturn:
        if name in _SEVERAL:
            raise AttributeError(f"'{name}' is the type of several kinds of elements: {' or '.join(_SEVERAL[name])}")
        hint = "" if name.startswith("_") else did_you_mean(name, [*KINDS, *vars(_Methods)])
        raise AttributeError(f"Builder has no attribute '{name}'" + (f" ({hint})" if hint else ""))

    # ---- shown

    def __repr__(self) -> str:
        counts = [(len(self._names(section)), section) for section in _SECTIONS]
        parts = ", ".join(f"{count} {section if count > 1 else singular(section)}" for count, section in counts if count)
        return f"<Builder {self.name}: {parts or 'empty'}>"

    def __str__(self) -> str:
        return tree.text(self.name, self._content())

    def _repr_html_(self) -> str:
        return tree.html(self.name, self._content())


KINDS = kinds(frozenset(name for name in dir(_Methods) if not name.startswith("_")) | frozenset(_SECTIONS))
_SEVERAL = several(KINDS)


@with_methods(KINDS)
class Builder(_Methods):
    """A model that is being built, with the vocabulary of model files: methods have the names of the types of elements, and their
    keywords are the keys of the file.

    >>> m = ld.Builder(gravity=[0, 0, -9.81])
    >>> length = m.parameter("length", 1)
    >>> arm = m.rigid("arm", mass=2, inertia=[0.01, 0.2, 0.2], position=[length / 2, 0, 0])
    >>> hinge = m.revolute("hinge", m.ground, arm, at=[0, 0, 0], axis=[0, 1, 0])
    >>> angle = m.joint_angle("angle", hinge)
    >>> m.joint_effort("spring", hinge, effort=-5 * angle)
    >>> m.simulation(end=2, step=1e-3)
    >>> ld.run(m).plot("angle")

    What a method returns stands for its name in other parts, and parameters, states and sensors in expressions. `bodies`, `joints`,
    `sensors`, ... hold the parts by name; `part.set(mass=3)` changes one, `part.remove()` takes it away.

    `compile()` makes a `Model`, and every function that takes a model takes a `Builder`. `to_json()`, `save(file)` and
    `Builder.from_json(file)` convert to the model file and back, without loss. Wrong arguments raise InputError with the line of
    your program, also where only `compile` finds them.

    gravity: m/s^2, inertial axes; none if not given.
    name, description: of the model, for readers.
    """


def _section_property(section: str) -> property:
    return property(lambda self: Entries(self, section), doc=_KEYS[section])


for _section in _SECTIONS:
    setattr(Builder, _section, _section_property(_section))
Builder.simulation.__signature__ = inspect.Signature([
    inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
    *(
        inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=None) for keyword in _SIMULATION.arguments
    ),
])
Builder.simulation.__doc__ += "\n\n" + "\n".join(argument.line for argument in _SIMULATION.arguments.values())


def load(model: str | os.PathLike, *, set: Mapping[str, float] | None = None) -> dict[str, Any] | Builder:
    """The content of a model file as a dict, to be changed and run; of a robot (.urdf, MuJoCo's .xml, .sdf) a `Builder`.

    set: for a robot in .urdf, what the reader takes: initial angles or displacements of joints, "initial.JOINT", "floating" and "stops".

    `Builder.from_json(model)` gives a `Builder` of a model file. Visual shapes of a robot become shapes without mass.
    """
    check(model=(model, FILE))
    if os.fspath(model).endswith((".xml", ".sdf")) and set is None:
        return Builder.from_json(_liedyn.robot_model_text(os.fspath(model)))
    if not os.fspath(model).endswith(".urdf"):
        if set is not None:
            message = "is for robots (.urdf) only"
            raise InputError([Diagnostic("", 0, "set", message, "`run` and `Model` set parameters of other models")])
        return model_file_content(model)
    # A robot's reader takes initial.JOINT itself.
    description, rest, _ = _liedyn.read_model(os.fspath(model), assignments(set))
    if rest:
        hint = "change other values in the Builder that this returns"
        raise InputError([Diagnostic("", 0, path, "expected initial.JOINT, floating or stops", hint) for path, _ in rest])
    return Builder.from_json(description.json())


def _plain_copy(content: Mapping[str, Any]) -> Any:
    """A dict of a model with lists instead of arrays, except matrices of flexible bodies."""
    reader = _Methods()

    def plain(key: str, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping) and depth < DEEPEST:
            return {str(name): plain(str(name), item, depth + 1) for name, item in value.items()}
        if key in matrices.KEYS and matrices.is_matrix(value):
            return copy.deepcopy(value)
        return None if value is None else reader._plain(value)

    try:
        return plain("", content, 0)
    except Problem as problem:
        raise InputError([Diagnostic("", 0, problem.part.lstrip("."), problem.message, problem.hint)]) from None

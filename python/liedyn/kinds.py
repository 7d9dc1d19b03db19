"""The kinds of elements as methods of `Builder`, made from the lists of the program: names, arguments, defaults and documentation."""

from __future__ import annotations

import inspect
import json
import keyword
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from liedyn import _liedyn


@dataclass(frozen=True)
class Form:
    """What may be given for the type of a field: in words, as an annotation, and, of references, the sections that they may refer to."""

    words: str
    annotation: str = "Any"
    sections: tuple[str, ...] = ()
    pair: bool = False


FORMS: dict[str, Form] = {
    "Number": Form("a number", "Number"),
    "Integer": Form("a whole number", "int"),
    "Vector": Form("3 numbers", "Vector"),
    "PlaneVector": Form("2 numbers", "Vector"),
    "Points": Form("2 points", "Points"),
    "Path": Form("a point or a list of points", "Points"),
    "Inertia": Form("3 or 6 numbers, or a 3x3 matrix", "Inertia"),
    "Rotation": Form("a rotation", "Rotation"),
    "Matrix6": Form("a 6x6 matrix or its diagonal", "Inertia"),
    "Choice": Form("a word", "str"),
    "Choices": Form("a list of words", "Sequence[str]"),
    "Text": Form("a string", "str"),
    "Body": Form("a body", "BodyLike", ("bodies", "beams", "flexible")),
    "Bodies": Form("two bodies", "BodyLike", ("bodies", "beams", "flexible"), pair=True),
    "Joint": Form("a joint", "JointLike", ("joints",)),
    "Joints": Form("two joints", "JointLike", ("joints",), pair=True),
    "State": Form("a state", "StateLike", ("states",)),
    "Beam": Form("a location on a beam", "BodyLike", ("beams", "flexible")),
    "Flexible": Form("a flexible body", "FlexibleLike", ("flexible",)),
    "Force": Form("a force", "ForceLike", ("forces", "joints")),  # some sensors of forces look at joints too
}
"""By type of the field. A type that is not here may be anything; the program checks it when the model is compiled."""

ANYTHING = Form("a value")
SHAPE = Form("a shape, ld.box(...)", "dict[str, Any]")
SHAPES = Form("a list of shapes", "Sequence[dict[str, Any]]")
FRAMES = Form("frames by name", "dict[str, Any]")
EXPRESSION = Form("a number or an expression", "Number")
EXPRESSIONS = Form("a number, an expression or a list of them", "Number | Sequence[Number]")  # in model files between semicolons


class Argument(NamedTuple):
    """One field of a kind as an argument."""

    key: str
    """Its name in the model file."""
    keyword: str
    """The same in Python: `from` is `from_`, since it is a word of Python."""
    type: str
    form: Form
    required: bool
    default: Any
    choices: tuple[str, ...]
    unit: str
    summary: str
    consistent: bool
    in_body_axes: bool
    holds_expression: bool

    @property
    def line(self) -> str:
        """Its documentation."""
        if self.choices:
            words = f"{'some' if self.type == 'Choices' else 'one'} of {', '.join(self.choices)}"
        else:
            words = self.form.words
        unit = f" [{self.unit}]" if self.unit else ""
        if self.required:
            presence = "required"
        else:
            presence = "optional" if self.default is None else f"default {json.dumps(self.default)}"
        return f"{self.keyword}: {words}{unit}, {presence}. {self.summary}"


@dataclass(frozen=True)
class Kind:
    """A kind of element, or other settings of a model that are given by keywords."""

    section: str
    type: str
    method: str
    summary: str
    arguments: Mapping[str, Argument] = field(repr=False)
    """By keyword."""
    positional: Argument | None = field(repr=False, default=None)
    """The argument that may be given without a keyword, after the name."""

    def argument(self, word: str) -> Argument | None:
        """By keyword, or by the key of the model file where that is a word of Python."""
        found = self.arguments.get(word)
        return found if found is not None else self.arguments.get(word + "_")

    def keywords(self) -> list[Argument]:
        """What must be given by keyword: what is required first."""
        rest = [argument for argument in self.arguments.values() if argument is not self.positional]
        return sorted(rest, key=lambda argument: not argument.required)

    def signature(self) -> inspect.Signature:
        kinds = inspect.Parameter
        out = [kinds("self", kinds.POSITIONAL_ONLY), kinds("name", kinds.POSITIONAL_OR_KEYWORD)]
        first = self.positional
        if first is not None:
            out.append(kinds(first.keyword, kinds.VAR_POSITIONAL if first.form.pair else kinds.POSITIONAL_OR_KEYWORD))
        for argument in self.keywords():
            out.append(kinds(argument.keyword, kinds.KEYWORD_ONLY, default=kinds.empty if argument.required else argument.default))
        return inspect.Signature(out)

    def documentation(self) -> str:
        lines = [self.summary, ""]
        lines += [argument.line for argument in self.arguments.values()]
        first = self.positional
        if first is not None:
            how = "two arguments" if first.form.pair else "an argument"
            also = f"as a list with its keyword, {first.keyword}=[...]" if first.form.pair else "by its keyword"
            lines += ["", f"`{first.keyword}` is {how} after the name, or given {also}."]
        return "\n".join(lines)


_TYPE_NAMES = {int(type_): name for name, type_ in _liedyn.FieldType.__members__.items()}


def arguments_of(fields: Mapping[str, _liedyn.Field]) -> dict[str, Argument]:
    """Fields of the program as arguments, by keyword."""
    out = {}
    for name, given in fields.items():
        type_, default, choices = _TYPE_NAMES.get(int(given.type), ""), given.default, tuple(given.choices)
        form = FORMS.get(type_, ANYTHING)
        if given.holds_expression:
            form = EXPRESSIONS if "semicolons" in given.summary else EXPRESSION
        if not choices and default:
            default = json.loads(default)
        word = name + "_" if keyword.iskeyword(name) else name
        out[word] = Argument(
            name, word, type_, form, given.required, None if default == "" else default, choices, given.unit, given.summary,
            given.may_be_consistent, given.in_body_axes, given.holds_expression,
        )  # fmt: skip
    return out


def _of_bodies() -> dict[str, Argument]:
    """What bodies have besides the fields of their type: the program writes it out before it reads a model file."""

    def argument(key: str, form: Form, summary: str, unit: str = "", type_: str = "") -> Argument:
        return Argument(key, key, type_, form, False, None, (), unit, summary, False, False, False)

    return {
        "shape": argument("shape", SHAPE, "It gives mass, inertia and reference if these are not given, and is drawn.", type_="Shape"),
        "shapes": argument("shapes", SHAPES, "Several of them.", type_="Shapes"),
        "density": argument("density", FORMS["Number"], "Density of those shapes that have neither density nor mass.", "kg/m^3", "Number"),
        "frames": argument("frames", FRAMES, 'Points with axes, {"tool": {"at": [...], "rotation": ...}}: "arm.tool" names one.', type_="Frames"),
    }


def singular(section: str) -> str:
    """ "bodies" -> "body", "joints" -> "joint"."""
    return section[:-3] + "y" if section.endswith("ies") else section.removesuffix("s")


def kinds(taken: frozenset[str] = frozenset()) -> dict[str, Kind]:
    """All kinds of elements by the names of their methods. A type that occurs in several sections, or whose name is taken, has the section
    added to its name: planar_body and planar_joint."""
    listed = _liedyn.elements()
    occurrences = Counter(type_ for in_section in listed.values() for type_ in in_section)
    out = {}
    for section, in_section in listed.items():
        for type_, kind in in_section.items():
            unique = occurrences[type_] == 1 and type_ not in taken and not keyword.iskeyword(type_)
            method = type_ if unique else f"{type_}_{singular(section)}"
            arguments = arguments_of(kind.fields)
            if section == "bodies":
                arguments |= _of_bodies()
            first = next(iter(arguments.values()), None)
            positional = first if first is not None and first.required and first.form.sections else None
            out[method] = Kind(section, type_, method, kind.summary, arguments, positional)
    return out


def several(taken: Mapping[str, Kind]) -> dict[str, list[str]]:
    """Of each type that has no method of its name, the methods that it has."""
    out: dict[str, list[str]] = {}
    for method, kind in taken.items():
        if method != kind.type:
            out.setdefault(kind.type, []).append(method)
    return out


def with_methods(kinds: Mapping[str, Kind]) -> Any:
    """A decorator of a class: adds one method per kind, which calls `_add(kind, args, fields)`."""

    def method_of(kind: Kind, owner: type) -> Any:
        def method(self: Any, /, *args: Any, **fields: Any) -> Any:
            return self._add(kind, args, fields)

        method.__name__ = kind.method
        method.__qualname__ = f"{owner.__name__}.{kind.method}"
        method.__module__ = owner.__module__
        method.__doc__ = kind.documentation()
        method.__signature__ = kind.signature()
        return method

    def decorate(owner: type) -> type:
        for name, kind in kinds.items():
            setattr(owner, name, method_of(kind, owner))
        return owner

    return decorate

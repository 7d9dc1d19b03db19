"""What a `Builder` returns for the parts of a model: objects that stand for their names in other parts and in expressions."""

from __future__ import annotations

import re
from typing import Any

from liedyn.arguments import is_count, is_finite, shown
from liedyn.expressions import Expression, call_of_table, refused


class Owner:
    """Base of `Builder`: what handles use of it."""

    def _fields(self, section: str, name: str) -> dict[str, Any]:
        raise NotImplementedError

    def _change(self, section: str, name: str, given: dict[str, Any]) -> None:
        raise NotImplementedError

    def _remove(self, section: str, name: str) -> None:
        raise NotImplementedError


class Handle:
    """A part of a model that is being built. It may stand wherever the model file has its name."""

    def __init__(self, owner: Owner, section: str, name: str) -> None:
        self._owner = owner
        self._section = section
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def section(self) -> str:
        """Where it stands in the model file: "bodies", "joints", ..."""
        return self._section

    def __str__(self) -> str:
        return self._name

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Handle) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return id(self._owner), self._section, self._name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"


class Element(Handle):
    """A body, beam, flexible body, joint, force, state or sensor."""

    @property
    def type(self) -> str:
        return self.fields.get("type", "")

    @property
    def fields(self) -> dict[str, Any]:
        """Its content of the model file. A copy; `set` changes it."""
        return self._owner._fields(self._section, self._name)

    def set(self, **fields: Any) -> None:
        """Changes fields, by their names in the model file; None takes one away."""
        self._owner._change(self._section, self._name, fields)

    def remove(self) -> None:
        """Takes it out of the model."""
        self._owner._remove(self._section, self._name)


class Body(Element):
    """A rigid body, a point mass, a node of a beam or the ground."""

    def frame(self, name: str) -> Body:
        """One of its named frames, which may stand wherever a body and a location are given."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise refused(self._name, f"expected the name of a frame, got {shown(name)}")
        return Body(self._owner, self._section, f"{self._name}.{name}")


class Line(Element):
    """A beam: `wing.start`, `wing.end`, `wing.node(1)` and `wing[0.5]`, at this fraction of its length, are bodies."""

    @property
    def start(self) -> Body:
        return self._part(".start")

    @property
    def end(self) -> Body:
        return self._part(".end")

    def node(self, number: int) -> Body:
        """An inner node, from 1 on."""
        if not is_count(number) or number < 1:
            raise refused("node", f"expected a whole number from 1 on, got {shown(number)}")
        return self._part(f".node{number}")

    def __getitem__(self, fraction: float) -> Body:
        if not is_finite(fraction) or not 0 <= fraction <= 1:
            raise refused(self._name, f"expected a fraction of the length from 0 to 1, got {shown(fraction)}")
        return self._part(f"[{fraction if is_count(fraction) else float(fraction)}]")

    def __iter__(self) -> Any:
        raise refused(self._name, "a beam is no list", f"{self._name}[0.5] is the node at half its length")

    def _part(self, place: str) -> Body:
        return Body(self._owner, self._section, self._name + place)


class Beam(Line):
    """A geometrically exact beam. Its nodes are bodies: `wing.start`, `wing.end`, `wing.node(1)`, `wing[0.5]`."""


class FlexibleBody(Line):
    """A flexible body with modes, or an interface of one, which is a body for joints and forces."""


class Joint(Element):
    """A joint."""


class SubModel(Handle):
    """A model in a model: `left["foot"]` is its body, `left.joint("knee")`, `left.sensor("angle")` and `left.parameter("length")` are other parts."""

    def __getitem__(self, name: str) -> Body:
        return self._part("bodies", name)

    def joint(self, name: str) -> Joint:
        return self._part("joints", name)

    def force(self, name: str) -> Force:
        return self._part("forces", name)

    def state(self, name: str) -> State:
        return self._part("states", name)

    def sensor(self, name: str) -> Sensor:
        return self._part("sensors", name)

    def parameter(self, name: str) -> Parameter:
        return self._part("parameters", name)

    def _part(self, section: str, name: str) -> Any:
        if not isinstance(name, str) or not all(map(NAME.fullmatch, name.split("."))):
            raise refused(self._name, f"expected the name of a part, got {shown(name)}")
        return of_section(self._owner, section, f"{self._name}.{name}")

    def __iter__(self) -> Any:
        raise refused(self._name, "a sub-model is no list")

    @property
    def fields(self) -> dict[str, Any]:
        """Its content of the model file. A copy."""
        return self._owner._fields("models", self._name)

    def remove(self) -> None:
        """Takes it out of the model."""
        self._owner._remove("models", self._name)


class Force(Element):
    """A force."""


class Symbol(Expression):
    """Base of what expressions may name."""

    __slots__ = ("_owner", "_section")

    def __init__(self, owner: Owner, section: str, name: str) -> None:
        super().__init__(name, names=frozenset({(owner, section, name)}))
        self._owner = owner
        self._section = section

    @property
    def name(self) -> str:
        return self._text

    @property
    def section(self) -> str:
        """Where it stands in the model file: "parameters", "states" or "sensors"."""
        return self._section

    @property
    def _name(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._text}>"


class Parameter(Symbol):
    """A parameter of the model. `value` is what it is now; `set(value)` changes it."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """A number, or an expression as a string."""
        return self._owner._fields("parameters", self.name)

    def set(self, value: Any) -> None:
        self._owner._change("parameters", self.name, {"value": value})

    def remove(self) -> None:
        """Takes it out of the model."""
        self._owner._remove("parameters", self.name)


class Signal(Symbol):
    """A state or a sensor, which expressions may name. Components of a vector are `tip.x`, `tip.y`, `tip.z`, or `tip[0]`."""

    __slots__ = ()

    type = Element.type
    fields = Element.fields
    set = Element.set
    remove = Element.remove

    def __getitem__(self, component: int) -> Expression:
        if not is_count(component) or component < 0:
            raise refused(self.name, f"expected the number of a component from 0 on, got {shown(component)}")
        return Expression(f"{self.name}[{int(component)}]", names=self._names)

    @property
    def x(self) -> Expression:
        return self[0]

    @property
    def y(self) -> Expression:
        return self[1]

    @property
    def z(self) -> Expression:
        return self[2]


class State(Signal):
    """A first-order state. In expressions it is its value."""

    __slots__ = ()


class Sensor(Signal):
    """A sensor. In expressions it is what it shows; components of a vector are `tip.x`, `tip.y`, `tip.z`, or `tip[0]`."""

    __slots__ = ()


class Table(Handle):
    """A function through points. Expressions call it: `torque(speed)`. Of a trajectory with several coordinates `move["elbow"](ld.t)` is
    one, and `move.end` is the time at its end."""

    _coordinate = ""

    def __call__(self, *variables: Any) -> Expression:
        return call_of_table(self._name + self._coordinate, variables, (self._owner, "tables", self._name))

    def __getitem__(self, coordinate: str) -> Table:
        if not isinstance(coordinate, str) or not SYMBOL.fullmatch(coordinate):
            raise refused(self._name, f"expected the name of a coordinate, got {shown(coordinate)}")
        out = Table(self._owner, "tables", self._name)
        out._coordinate = f".{coordinate}"
        return out

    @property
    def end(self) -> Expression:
        """Of a trajectory: the time at its end."""
        return Expression(f"{self._name}.end", names=frozenset({(self._owner, "tables", self._name)}))

    def __iter__(self) -> Any:
        raise refused(self._name, "a table is no list")

    @property
    def fields(self) -> dict[str, Any]:
        """Its content of the model file. A copy."""
        return self._owner._fields("tables", self._name)

    def remove(self) -> None:
        """Takes it out of the model."""
        self._owner._remove("tables", self._name)


HANDLES: dict[str, type] = {
    "bodies": Body, "beams": Beam, "flexible": FlexibleBody, "joints": Joint, "forces": Force, "states": State, "sensors": Sensor,
    "parameters": Parameter, "tables": Table, "models": SubModel,
}  # fmt: skip
"""By section of the model file."""


def of_section(owner: Owner, section: str, name: str) -> Any:
    return HANDLES.get(section, Element)(owner, section, name)


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""Of an entry of a model."""
SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Of what expressions may name."""

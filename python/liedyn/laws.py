"""Laws in code: functions of Python that the expressions of a model call while it is simulated.

>>> m.joint_effort("motor", hinge, effort=controller)       # traced into an expression if that is possible, called otherwise
>>> m.force("wind", sail, force=ld.called(gust, size=3))    # called: three components
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from liedyn import _liedyn
from liedyn.arguments import shown
from liedyn.errors import Diagnostic, InputError

_registered: dict[str, Any] = {}  # what stands behind each name
_lock = threading.RLock()


@dataclass(frozen=True)
class Called:
    """A function that is called as it is, see `called`."""

    function: Callable
    size: int | None = None
    gradient: Callable | None = None
    scales: tuple[float, ...] | None = None


def called(function: Callable, *, size: int | None = None, gradient: Callable | None = None,
           scales: Sequence[float] | None = None) -> Called:
    """A law that is called in every evaluation instead of being traced into an expression.

    function: its arguments are, by their names, the time t, sensors, states and parameters of the model. It returns a number, or with
        `size` a sequence of so many. It should depend on its arguments alone: methods evaluate it several times in a step, also for steps
        that are repeated.
    gradient: a function of the same arguments that returns the partial derivatives, one for each. Without it they are central differences.
        Not together with `size`.
    scales: the typical size of each argument, for the steps of these differences (default: 1).
    """
    if not callable(function):
        raise _refused("function", f"expected a function, got {shown(function)}")
    if gradient is not None and not callable(gradient):
        raise _refused("gradient", f"expected a function, got {shown(gradient)}")
    if size is not None and (type(size) is not int or size < 1):
        raise _refused("size", f"expected a whole number of at least 1, got {shown(size)}")
    if size is not None and gradient is not None:
        raise _refused("gradient", "a function of several components has no single gradient", "give one function for each component")
    return Called(function, size, gradient, None if scales is None else tuple(float(scale) for scale in scales))


def register_function(name: str, function: Callable, arguments: int, *, gradient: Callable | None = None,
                      scales: Sequence[float] | None = None) -> None:
    """Makes a function known under a name that expressions of model files may call: "5*grip(depth, rate)". Models that were compiled before
    keep the function that they found. The other arguments are those of `called`."""
    law = called(function, gradient=gradient, scales=scales)
    with _lock:
        _liedyn.register_function(name, arguments, function, gradient, list(law.scales or ()))
        _registered[name] = law


def name_of(law: Called, arguments: int, taken: Callable[[str], bool]) -> list[str]:
    """The names under which expressions call the function, one for each component: those that it has already, or new ones."""
    base = getattr(law.function, "__name__", "law")
    base = base if base.isidentifier() and base.isascii() else "law"
    with _lock:
        number = 1
        while True:
            stem = base if number == 1 else f"{base}_{number}"
            names = [stem] if law.size is None else [f"{stem}_of_{component + 1}" for component in range(law.size)]
            if all(_registered.get(name) == law for name in names):
                return names
            if not any(name in _registered or _liedyn.is_expression_function(name) or taken(name) for name in names):
                break
            number += 1
        parts = [law.function] if law.size is None else _components(law.function, law.size)
        for name, part in zip(names, parts):
            _liedyn.register_function(name, arguments, part, law.gradient, list(law.scales or ()))
            _registered[name] = law
    return names


def _components(function: Callable, size: int) -> list[Callable]:
    """One function for each component of a function. It is called once for all of them."""
    memory = threading.local()

    def values(arguments: tuple) -> Sequence[float]:
        if getattr(memory, "arguments", None) != arguments:
            found = function(*arguments)
            if len(found) != size:
                raise ValueError(f"the function {function.__name__!r} must return {size} numbers, got {len(found)}")
            memory.arguments, memory.values = arguments, found
        return memory.values

    return [lambda *arguments, i=i: values(arguments)[i] for i in range(size)]


def _refused(argument: str, message: str, hint: str = "") -> InputError:
    return InputError([Diagnostic("", 0, argument, message, hint)])

"""Values of arguments of a `Builder`: what is wrong with them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

from liedyn.arguments import is_number, shown
from liedyn.kinds import EXPRESSIONS, Argument

DEEPEST = 20
"""Lists in lists."""


class Problem(Exception):
    """What is wrong with the value of an argument."""

    def __init__(self, message: str, hint: str = "", part: str = "") -> None:
        super().__init__(message)
        self.message, self.hint, self.part = message, hint, part


def finite(value: Any) -> Any:
    try:
        if math.isfinite(value):
            return value if type(value) is int else float(value)
    except OverflowError:  # a whole number beyond the range of floating-point numbers
        pass
    raise Problem(f"expected a finite number, got {shown(value)}")


def is_scalar(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def _is_entry(value: Any) -> bool:
    """A number, an expression, or a function of time as an object."""
    return is_scalar(value) or isinstance(value, dict)


def described(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with {', '.join(map(repr, list(value)[:3])) or 'nothing'}"
    if isinstance(value, str) or value is None:
        return shown(value)
    return f"{value!r} ({type(value).__name__})"


def _list_mistake(value: Any, count: int) -> str:
    if not isinstance(value, list):
        return f"expected {count} numbers, got {described(value)}"
    if len(value) != count:
        return f"expected {count} numbers, got {len(value)}"
    wrong = next((item for item in value if not _is_entry(item)), None)
    return "" if wrong is None else f"expected {count} numbers, got {described(wrong)} among them"


def mistake(argument: Argument, value: Any) -> str:
    """What is wrong with the form of a value; empty if nothing is, or if only the program can tell."""
    kind = argument.type
    if argument.consistent and (value == "consistent" or (isinstance(value, dict) and list(value) == ["consistent"])):
        return ""
    if isinstance(value, dict) and (argument.in_body_axes or kind == "Rotation"):
        return ""
    if argument.in_body_axes and isinstance(value, str) and "." in value:  # a frame
        return ""
    if argument.in_body_axes and kind == "Points" and isinstance(value, list) and len(value) == 2 and all(isinstance(x, str) for x in value):
        return ""
    if kind == "Number":
        return "" if _is_entry(value) else f"expected a number or an expression, got {described(value)}"
    if kind == "Integer":
        if isinstance(value, str):
            return f"expected a whole number, got {shown(value)}: it determines the structure of the model and cannot be an expression"
        whole = is_number(value) and float(value).is_integer()
        return "" if whole else f"expected a whole number, got {described(value)}"
    if kind in ("Vector", "PlaneVector"):
        return _list_mistake(value, 3 if kind == "Vector" else 2)
    if kind == "Points":
        if not isinstance(value, list) or len(value) != 2:
            return f"expected 2 points of 3 numbers, got {described(value)}"
        return next(filter(None, (_list_mistake(point, 3) for point in value)), "")
    if kind == "Choice":
        return "" if value in argument.choices else f"expected one of {', '.join(argument.choices)}, got {described(value)}"
    if kind == "Choices":
        right = isinstance(value, list) and value and all(item in argument.choices for item in value)
        return "" if right else f"expected a list of some of {', '.join(argument.choices)}, got {value!r}"
    if kind == "Text":
        right = is_scalar(value) if argument.holds_expression else isinstance(value, str)
        if argument.form is EXPRESSIONS and isinstance(value, list):
            right = bool(value) and all(map(is_scalar, value))
        return "" if right else f"expected {argument.form.words}, got {described(value)}"
    if kind == "Rotation":
        forms = '{"rotation_vector": [3 numbers]}, {"cardan": [3]}, {"quaternion": [4]}, {"axis": [3], "angle": a} or {"matrix": [3 rows of 3]}'
        return f"expected {forms}, got {described(value)}"
    if kind == "Inertia" and not (isinstance(value, list) and len(value) in (3, 6)):
        return f"expected 3 principal moments, 6 numbers (xx, yy, zz, yz, xz, xy) or a 3x3 matrix, got {described(value)}"
    return ""


def nearest(word: str, candidates: Iterable[str]) -> str:
    by_lower = {str(candidate).lower(): str(candidate) for candidate in candidates}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    meant = nearest(word, candidates)
    return f"did you mean '{meant}'?" if meant else ""

"""Arguments of the package's functions: what they may be, and errors that name them."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from liedyn.errors import Diagnostic, InputError


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:  # a whole number beyond the range of floating-point numbers
        return False


def shown(value: Any) -> str:
    """A value in a message: short, with its type where that may be the mistake."""
    try:
        text = repr(value).partition("\n")[0]
    except ValueError:  # whole numbers of thousands of digits have none
        text = "a value"
    return f"{text if len(text) <= 40 else text[:40] + '...'} ({type(value).__name__})"


@dataclass(frozen=True)
class Kind:
    """What an argument may be, in words and as a test."""

    words: str
    test: Callable[[Any], bool]


SECONDS = Kind("a finite number of seconds", is_finite)
POSITIVE_SECONDS = Kind("a positive number of seconds", lambda value: is_finite(value) and value > 0)
NUMBER = Kind("a finite number", is_finite)
COUNT = Kind("a whole number from 0 to 2147483647", lambda value: is_count(value) and 0 <= value < 2**31)
POSITIVE_COUNT = Kind("a whole number from 1 to 2147483647", lambda value: is_count(value) and 1 <= value < 2**31)
FLAG = Kind("True or False", lambda value: type(value).__name__ in ("bool", "bool_"))  # also those of numpy
STRING = Kind("a string", lambda value: isinstance(value, str))
INTEGRATOR = Kind('a string such as "generalized-alpha,rho=0.9"', lambda value: isinstance(value, str))
RECORD = Kind('"all"', lambda value: isinstance(value, str) and value == "all")
INITIAL = Kind('"check" or "project"', lambda value: isinstance(value, str))
FILE = Kind("the name of a file, a string or a Path", lambda value: isinstance(value, (str, os.PathLike)))
FOLDER = Kind("the name of a folder, a string or a Path", FILE.test)
VECTOR = Kind(
    "three finite numbers",
    lambda value: hasattr(value, "__len__") and not isinstance(value, (str, Mapping)) and len(value) == 3 and all(map(is_finite, value)),
)


def check(**given: tuple[Any, Kind]) -> None:
    """Raises InputError with every argument that is not of its kind; None is an argument that was not given."""
    findings = [
        Diagnostic("", 0, name, f"expected {kind.words}, got {shown(value)}", _hint(name, value, kind))
        for name, (value, kind) in given.items()
        if value is not None and not kind.test(value)
    ]
    if findings:
        raise InputError(findings)


def _hint(name: str, value: Any, kind: Kind) -> str:
    if isinstance(value, str) and kind.test is not STRING.test:
        for read in (int, float):
            try:
                if kind.test(read(value)):
                    return f"without quotation marks: {name}={value.strip()}"
            except ValueError:
                continue
    if name == "start" and not is_number(value):
        return "a configuration to begin from is from_=..."
    return ""


def names(given: Any, argument: str, *, of: str = "strings") -> list[str]:
    """A list of strings; one alone stands for itself, None for none."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping) or not hasattr(given, "__iter__"):
        raise InputError([Diagnostic("", 0, argument, f"expected a list of {of}, got {shown(given)}")])
    out = list(given)
    findings = [
        Diagnostic("", 0, argument, f"expected a list of {of}, got {shown(name)} in it") for name in out if not isinstance(name, str)
    ]
    if findings:
        raise InputError(findings)
    return out


def assignments(by_path: Any, argument: str = "set") -> list[tuple[str, float]]:
    """Values of parameters as pairs."""
    if by_path is None:
        return []
    example = f'for example {argument}={{"bodies.top.mass": 2}}'
    if not isinstance(by_path, Mapping):
        raise InputError([Diagnostic("", 0, argument, f"expected a dict of paths and numbers, got {shown(by_path)}", example)])
    findings, out = [], []
    for path, value in by_path.items():
        if not isinstance(path, str):
            findings.append(Diagnostic("", 0, argument, f"expected the path of a parameter, got {shown(path)}", example))
        elif not is_finite(value):
            findings.append(Diagnostic("", 0, path, f"expected a finite number, got {value!r}"))
        else:
            out.append((path, float(value)))
    if findings:
        raise InputError(findings)
    return out

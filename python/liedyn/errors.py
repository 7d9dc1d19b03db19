"""Errors and warnings of the package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One error in the input: its location, what is wrong, and how to fix it."""

    file: str
    """The file it is in; empty if the model was not a file."""
    line: int
    """Its line; 0 if unknown."""
    path: str
    """The chain of keys, "joints.pivot.at", or the name of an argument."""
    message: str
    """What was expected and what was found."""
    hint: str = ""
    """What to try; may be empty."""
    call: str = ""
    """The call of the user's program that gave it, "revolute('A', ...)"; empty if the model was not built by calls."""
    argument: str = ""
    """The argument of that call; empty if it is none in particular."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line > 0 else self.file
        path = [self.call, self.argument] if self.call else [self.path]
        parts = [part for part in (place, *path, self.message) if part]
        return ": ".join(parts) + (f" (hint: {self.hint})" if self.hint else "")


class InputError(ValueError):
    """The input is wrong. `diagnostics` contains every error, not only the first."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple:
        return type(self), (self.diagnostics,)


class NumericalError(ArithmeticError):
    """The numerics failed: a run before its end (if the caller asked for `strict`; `result` is its `Result` up to there), or an analysis
    that has no result."""

    def __init__(self, message: str, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.result = result


class NumericalWarning(RuntimeWarning):
    """The numerics failed before the end, or the settings of an integrator are unreliable."""


def caller() -> tuple[str, int]:
    """File and line of the user's code that called the package."""
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("liedyn."):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def warn(message: str) -> None:
    """Warns about the line of the user's code that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("liedyn."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, NumericalWarning, stacklevel=level)

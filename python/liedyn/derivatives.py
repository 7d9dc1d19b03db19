"""Derivatives of the outputs of a model with respect to its parameters."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np

from liedyn import _liedyn
from liedyn.tables import Shown, Table, numbers


class Sensitivity(Shown):
    """Values of outputs and their derivatives; those of all sensors over time besides.

    >>> s = ld.sensitivity("heavy_top", ["bodies.top.mass", "gravity[2]"], ["position[0]", "position[2]@max"])
    >>> s["position[0]", "gravity[2]"]    # one derivative
    >>> s.jacobian                        # all of them: (outputs, parameters)
    >>> s.d("position", "bodies.top.mass") # over `time`
    >>> print(s)                          # a table with units
    """

    def __init__(self, found: _liedyn.Sensitivity) -> None:
        self._json = _liedyn.sensitivity_json(found)
        self.method: str = found.method
        """"direct", "adjoint", or "difference": not exact."""
        self.parameters: list[str] = found.parameters
        self.outputs: list[str] = found.outputs
        self.parameter_values = dict(zip(found.parameters, found.parameter_values))
        """Where the derivatives are taken."""
        self.units = dict(zip(found.outputs, found.output_units)) | dict(zip(found.parameters, found.parameter_units))
        """Of outputs and parameters; empty for named parameters, whose units the model does not say."""
        self.notes: list[str] = found.notes
        """What was left out, and why."""
        self.values: np.ndarray = found.values
        """Of the outputs."""
        self.jacobian: np.ndarray = found.derivatives
        """Derivatives: one row per output, one column per parameter."""
        checked = bool(found.disagreement)
        self.differences: np.ndarray | None = found.differences if checked else None
        """The same by finite differences of whole runs, if requested."""
        self.agrees: bool | None = not found.disagrees.any() if checked and self.method != "difference" else None
        """Whether all derivatives agree with finite differences within their uncertainty, each relative to its own size; None if not checked."""
        self.disagreement: dict[str, float] = dict(zip(found.parameters, found.disagreement))
        """For each parameter the difference to finite differences, relative to the norm of its derivatives; if checked."""
        self.uncertainty: dict[str, float] = dict(zip(found.parameters, found.uncertainty))
        """Uncertainty of the finite differences, relative to the same norm."""
        self._channels: dict[str, tuple[int, int]] = found.channels
        self._trajectory: np.ndarray | None = found.trajectory_derivatives if self.method == "direct" else None
        self.time: np.ndarray = found.table[:, 0].copy()
        """Of the derivatives over time, in seconds."""

    def d(self, sensor: str, parameter: str) -> np.ndarray:
        """The derivative of a sensor with respect to a parameter, over `time`; of the direct method only."""
        if self.method != "direct":
            raise ValueError(f"the {self.method} method has no derivatives over time: use method='direct'")
        if sensor not in self._channels:
            raise KeyError(f"no sensor '{sensor}'; there are {', '.join(self._channels)}")
        first, components = self._channels[sensor]
        part = self._trajectory[:, self._column(parameter), first : first + components]
        return part[:, 0] if components == 1 else part

    def _column(self, parameter: str) -> int:
        for name in (parameter, f"parameters.{parameter}", parameter.removeprefix("parameters.")):
            if name in self.parameters:
                return self.parameters.index(name)
        raise KeyError(f"no derivative with respect to '{parameter}'; there are {', '.join(self.parameters)}")

    def __getitem__(self, what: tuple[str, str]) -> float | np.ndarray:
        """The derivative of an output, or of all components of a sensor, with respect to a parameter."""
        output, parameter = what
        column = self._column(parameter)
        if output in self.outputs:
            return float(self.jacobian[self.outputs.index(output), column])
        sensor, at, when = output.partition("@")
        rows = [i for i, name in enumerate(self.outputs) if name.startswith(f"{sensor}[") and name.endswith(f"]{at}{when}")]
        if not rows:
            raise KeyError(f"no output '{output}'; there are {', '.join(self.outputs)}")
        return self.jacobian[rows, column]

    def _ipython_key_completions_(self) -> list[tuple[str, str]]:
        return [(output, parameter) for output in self.outputs for parameter in self.parameters]

    @cached_property
    def data(self) -> dict[str, Any]:
        """What `liedyn sensitivity --json` prints."""
        return json.loads(self._json)

    def _parts(self) -> list[str | Table]:
        """One line per output, one column per parameter; units of derivatives stand behind them, if known."""
        head = ["output", "value", "unit"]
        align = "<><"
        for name in self.parameters:
            head += [f"d/d({name})", "unit"] if self.units[name] else [f"d/d({name})"]
            align += "><" if self.units[name] else ">"
        rows = []
        for output, value, slopes in zip(self.outputs, self.values, self.jacobian):
            row = [output, numbers(value, ".7g"), self.units[output] or "-"]
            for name, slope in zip(self.parameters, slopes):
                unit = _quotient(self.units[output], self.units[name])
                row += [numbers(slope, ".7g"), unit] if unit else [numbers(slope, ".7g")]
            rows.append(row)
        at = ", ".join(f"{name} = {value:.9g} {self.units[name]}".rstrip() for name, value in self.parameter_values.items())
        verdict = {None: "", True: "checked: all agree with finite differences", False: "checked: some DISAGREE with finite differences"}[self.agrees]
        return [f"derivatives by the {self.method} method at {at}", Table(head, rows, align), verdict]

    def __repr__(self) -> str:
        return f"<Sensitivity of {len(self.outputs)} outputs to {len(self.parameters)} parameters, {self.method} method>"


def _quotient(output: str, parameter: str) -> str:
    """"m/kg", "1/kg", "m/(N/m)"; nothing for named parameters, whose units are unknown."""
    if not parameter:
        return ""
    is_compound = "/" in parameter or " " in parameter
    return f"{output or '1'}/{f'({parameter})' if is_compound else parameter}"

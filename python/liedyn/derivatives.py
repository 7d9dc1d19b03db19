"""Derivatives of what a model does with respect to its parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn

if TYPE_CHECKING:
    from liedyn.model import Model


class Sensitivity:
    """Values of outputs and their derivatives; those of all sensors over time besides.

    >>> s = ld.sensitivity("heavy_top", ["bodies.top.mass", "gravity[2]"], ["position[0]", "position[2]@max"])
    >>> s["position[0]", "gravity[2]"]    # one derivative
    >>> s.jacobian                        # all of them: (outputs, parameters)
    >>> s.d("position", "bodies.top.mass") # over `time`
    """

    def __init__(self, found: _liedyn.Sensitivity) -> None:
        self._found = found

    @property
    def parameters(self) -> list[str]:
        return self._found.parameters

    @property
    def outputs(self) -> list[str]:
        return self._found.outputs

    @cached_property
    def values(self) -> np.ndarray:
        """Of the outputs."""
        return self._found.values

    @cached_property
    def jacobian(self) -> np.ndarray:
        """Derivatives: one row per output, one column per parameter."""
        return self._found.derivatives

    @cached_property
    def differences(self) -> np.ndarray | None:
        """The same by differences of whole runs, if they were asked for."""
        return self._found.differences if self._found.disagreement else None

    @property
    def disagreement(self) -> dict[str, float]:
        """For each parameter the distance to the differences, relative to the norm of its derivatives; if checked."""
        return dict(zip(self.parameters, self._found.disagreement))

    @property
    def uncertainty(self) -> dict[str, float]:
        """How far the differences themselves are from having converged, relative to the same norm."""
        return dict(zip(self.parameters, self._found.uncertainty))

    @cached_property
    def time(self) -> np.ndarray:
        return self._found.table[:, 0]

    def d(self, sensor: str, parameter: str) -> np.ndarray:
        """The derivative of a sensor with respect to a parameter, over `time`."""
        channels = self._found.channels
        if sensor not in channels:
            raise KeyError(f"no sensor '{sensor}'; there are {', '.join(channels)}")
        if parameter not in self.parameters:
            raise KeyError(f"no derivative with respect to '{parameter}'; there are {', '.join(self.parameters)}")
        first, components = channels[sensor]
        part = self._trajectory[:, self.parameters.index(parameter), first : first + components]
        return part[:, 0] if components == 1 else part

    @cached_property
    def _trajectory(self) -> np.ndarray:
        return self._found.trajectory_derivatives

    def __getitem__(self, what: tuple[str, str]) -> float:
        output, parameter = what
        try:
            return float(self.jacobian[self.outputs.index(output), self.parameters.index(parameter)])
        except ValueError:
            raise KeyError(what) from None

    @property
    def data(self) -> dict[str, Any]:
        """What `liedyn sensitivity --json` prints."""
        return json.loads(_liedyn.sensitivity_json(self._found))

    def __repr__(self) -> str:
        return f"<Sensitivity of {len(self.outputs)} outputs to {len(self.parameters)} parameters>"


def gradient(
    model: Model, output: str, parameters: Sequence[str], **options: Any
) -> Callable[[Sequence[float]], tuple[float, np.ndarray]]:
    """A function of the parameters' values that gives an output and its gradient, as optimisers take it:

    >>> f = ld.gradient(ld.Model("heavy_top"), "position[2]@min", ["bodies.top.mass", "gravity[2]"], end=0.1)
    >>> scipy.optimize.minimize(f, x0=[15, -9.81], jac=True)
    """

    def evaluate(values: Sequence[float]) -> tuple[float, np.ndarray]:
        found = model.sensitivity(parameters, [output], set=dict(zip(parameters, map(float, values))), **options)
        return float(found.values[0]), found.jacobian[0].copy()

    return evaluate

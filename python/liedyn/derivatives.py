"""Derivatives of what a model does with respect to its parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn

if TYPE_CHECKING:
    from liedyn.model import Model, ModelSource


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
    def method(self) -> str:
        """"direct", "adjoint", or "difference": not exact."""
        return self._found.method

    @property
    def parameters(self) -> list[str]:
        return self._found.parameters

    @property
    def notes(self) -> list[str]:
        """What was left out, and why."""
        return self._found.notes

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

    @cached_property
    def agrees(self) -> bool | None:
        """Whether all derivatives are as close to the differences as these are good, each judged in its own size; None if not checked."""
        return not self._found.disagrees.any() if self._found.disagreement and self.method != "difference" else None

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
        """The derivative of a sensor with respect to a parameter, over `time`; of the direct method only."""
        channels = self._found.channels
        if self.method != "direct":
            raise ValueError(f"the {self.method} method has no derivatives over time: take method='direct'")
        if sensor not in channels:
            raise KeyError(f"no sensor '{sensor}'; there are {', '.join(channels)}")
        first, components = channels[sensor]
        part = self._trajectory[:, self._column(parameter), first : first + components]
        return part[:, 0] if components == 1 else part

    def _column(self, parameter: str) -> int:
        for name in (parameter, f"parameters.{parameter}", parameter.removeprefix("parameters.")):
            if name in self.parameters:
                return self.parameters.index(name)
        raise KeyError(f"no derivative with respect to '{parameter}'; there are {', '.join(self.parameters)}")

    @cached_property
    def _trajectory(self) -> np.ndarray:
        return self._found.trajectory_derivatives

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

    @property
    def data(self) -> dict[str, Any]:
        """What `liedyn sensitivity --json` prints."""
        return json.loads(_liedyn.sensitivity_json(self._found))

    def __str__(self) -> str:
        """A table: one line per output, one column per parameter."""
        names = [f"d/d({name})" for name in self.parameters]
        first = max([len(name) for name in self.outputs] + [6])
        widths = [max(len(name), 14) for name in names]
        lines = [f"{'output':<{first}}  {'value':>14}  " + "  ".join(f"{n:>{w}}" for n, w in zip(names, widths))]
        for output, value, row in zip(self.outputs, self.values, self.jacobian):
            lines.append(f"{output:<{first}}  {value:>14.7g}  " + "  ".join(f"{x:>{w}.7g}" for x, w in zip(row, widths)))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Sensitivity of {len(self.outputs)} outputs to {len(self.parameters)} parameters, {self.method} method>\n{self}"


class Gradient:
    """A function of parameters' values that gives an output and its gradient, as optimisers take it. See `gradient`."""

    def __init__(self, model: Model, output: str, parameters: Sequence[str], options: dict[str, Any]) -> None:
        self._model, self._output, self._options = model, output, options
        self.parameters = list(parameters)
        values = model.parameters
        self.start = np.array([values[path] for path in self.parameters])
        """The model's own values of the parameters."""

    def sensitivity(self, values: Sequence[float] | Mapping[str, float] = ()) -> Sensitivity:
        """All that `sensitivity` gives at these values."""
        given = dict(values) if isinstance(values, Mapping) else dict(zip(self.parameters, self._array(values).tolist()))
        options = dict(self._options)
        given = {**(options.pop("set", None) or {}), **given}
        return self._model.sensitivity(self.parameters, [self._output], set=given, **options)

    def __call__(self, values: Sequence[float] | Mapping[str, float] = ()) -> tuple[float, np.ndarray]:
        found = self.sensitivity(values)
        if len(found.outputs) != 1:
            raise ValueError(f"expected one component, got '{self._output}', which has {len(found.outputs)}: take {found.outputs[0]}")
        return float(found.values[0]), found.jacobian[0].copy()

    def _array(self, values: Sequence[float]) -> np.ndarray:
        out = np.asarray(values, dtype=float)
        if out.size == 0:
            return self.start
        if out.shape != (len(self.parameters),):
            raise ValueError(f"expected {len(self.parameters)} values ({', '.join(self.parameters)}), got an array of shape {out.shape}")
        return out

    def __repr__(self) -> str:
        return f"<Gradient of {self._output} of {self._model.name} with respect to {', '.join(self.parameters)}>"


def gradient(
    model: Model | ModelSource,
    output: str,
    parameters: Sequence[str],
    *,
    method: str | None = None,
    formulation: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> Gradient:
    """A function of the parameters' values that gives an output and its gradient, as optimisers take it:

    >>> f = ld.gradient("heavy_top", "position[2]@min", ["bodies.top.mass", "gravity[2]"], end=0.1)
    >>> value, slope = f([15, -9.81])           # or f({"bodies.top.mass": 15}), or f(): the model's own values
    >>> scipy.optimize.minimize(f, x0=f.start, jac=True)

    model:   a `Model`, or what `Model` takes: a name, a file, a dict.
    output:  one component of a sensor, as `sensitivity` takes it.
    method:  "direct" or "adjoint"; if not given, the adjoint for more than 8 parameters.
    set:     other numbers of the model, for all evaluations.

    The other options are those of `run`.
    """
    from liedyn.model import Model, _names

    parameters = _names(parameters, "parameters")
    if isinstance(model, Model):
        compiled = model.changed(set or {})
    else:
        compiled = Model(model, set=set, formulation=formulation)
    method = method or ("adjoint" if len(parameters) > 8 else "direct")
    return Gradient(compiled, output, parameters, options | {"method": method})

"""Outputs and gradients as functions of parameters, for optimisers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liedyn.arguments import STRING, check, names, shown
from liedyn.compiled import Compiled, Configuration, compiled, locating
from liedyn.derivatives import Sensitivity
from liedyn.errors import Diagnostic, InputError
from liedyn.simulation import sensitivity
from liedyn.source import ModelSource


class Gradient:
    """A function of parameters' values that gives an output and its gradient, as optimisers take it. See `gradient`."""

    def __init__(self, model: Compiled, output: str, parameters: Sequence[str], options: dict[str, Any]) -> None:
        self._model, self._output, self._options = model, output, options
        self.parameters = list(parameters)
        self.start = np.array([model.value(path) for path in self.parameters])
        """The model's own values of the parameters."""

    def sensitivity(self, values: Sequence[float] | Mapping[str, float] = ()) -> Sensitivity:
        """All that `sensitivity` gives at these values."""
        given = dict(values) if isinstance(values, Mapping) else dict(zip(self.parameters, self._array(values).tolist()))
        return sensitivity(self._model, self.parameters, [self._output], set=given, **self._options)

    def __call__(self, values: Sequence[float] | Mapping[str, float] = ()) -> tuple[float, np.ndarray]:
        found = self.sensitivity(values)
        if len(found.outputs) != 1:
            raise ValueError(f"expected one component, got '{self._output}', which has {len(found.outputs)}: take {found.outputs[0]}")
        return float(found.values[0]), found.jacobian[0].copy()

    def _array(self, values: Sequence[float]) -> np.ndarray:
        expected = f"expected {len(self.parameters)} values ({', '.join(self.parameters)})"
        try:
            out = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise InputError([Diagnostic("", 0, "values", f"{expected}, got {shown(values)}")]) from None
        if out.size == 0:
            return self.start
        if out.shape != (len(self.parameters),):
            raise InputError([Diagnostic("", 0, "values", f"{expected}, got an array of shape {out.shape}")])
        return out

    def __repr__(self) -> str:
        return f"<Gradient of {self._output} of {self._model.name} with respect to {', '.join(self.parameters)}>"


@locating
def gradient(
    model: ModelSource | Compiled,
    output: str,
    parameters: Sequence[str],
    *,
    method: str | None = None,
    formulation: str | None = None,
    set: Mapping[str, float] | None = None,
    integrator: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    initial: str | None = None,
) -> Gradient:
    """A function of the parameters' values that gives an output and its gradient, as optimisers take it:

    >>> f = ld.gradient("heavy_top", "position[2]@min", ["bodies.top.mass", "gravity[2]"], end=0.1)
    >>> value, slope = f([15, -9.81])           # or f({"bodies.top.mass": 15}), or f(): the model's own values
    >>> scipy.optimize.minimize(f, x0=f.start, jac=True)

    model:   a `Model`, or what `Model` takes: a name, a file, a dict.
    output:  one component of a sensor, as `sensitivity` takes it.
    method:  "direct" or "adjoint"; if not given, the adjoint for more than 8 parameters.
    set:     other parameters of the model, for all evaluations.

    The other options are those of `run`.
    """
    check(output=(output, STRING))
    parameters = names(parameters, "parameters", of="paths")
    method = method or ("adjoint" if len(parameters) > 8 else "direct")
    options = {"integrator": integrator, "step": step, "start": start, "end": end, "from_": from_, "initial": initial, "method": method}
    return Gradient(compiled(model, set, formulation), output, parameters, options)

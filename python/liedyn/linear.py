"""Equilibria, assembly, modes and state spaces of models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from liedyn import _liedyn
from liedyn.errors import NumericalError
from liedyn.model import Model, ModelSource, _warn

Configuration = Union[str, os.PathLike, Mapping[str, Any], "Equilibrium"]
"""How bodies stand and move: a .json file that `liedyn static|assemble --out` wrote, a dict of that form
({"bodies": {"crank": {"orientation": {"rotation_vector": [0, 0, 0.5]}}}}), or what `static` and `assemble` returned."""


class Modes:
    """Eigenvalues and mode shapes, in the order of |s|. Of conjugate pairs the one with positive imaginary part."""

    def __init__(self, found: _liedyn.Modes) -> None:
        self.data: dict[str, Any] = json.loads(found.json)
        """The object that `liedyn modes --json` prints."""
        self.eigenvalues: np.ndarray = found.eigenvalues
        """s, complex: the motions are exp(s t)."""
        self.shapes: np.ndarray = found.shapes
        """Complex, one row per mode: displacements and rotations of the bodies, see `names`; the largest is 1."""

    @property
    def names(self) -> list[str]:
        """Of the columns of `shapes`: "rod: displacement x"."""
        return self.data["shape_names"]

    @property
    def frequencies(self) -> np.ndarray:
        """|Im s|/2 pi, in Hz."""
        return np.array([mode["frequency"] for mode in self.data["modes"]])

    @property
    def damping_ratios(self) -> np.ndarray:
        """-Re s/|s|; 0 for motions that nothing resists."""
        return np.array([mode["damping_ratio"] for mode in self.data["modes"]])

    @property
    def rigid(self) -> np.ndarray:
        """Whether s is zero up to round-off."""
        return np.array([mode["rigid"] for mode in self.data["modes"]], dtype=bool)

    @property
    def energy(self) -> list[dict[str, float]]:
        """Shares of the bodies in the kinetic energy of each mode."""
        return [mode["energy"] for mode in self.data["modes"]]

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def __repr__(self) -> str:
        text = ", ".join(f"{f:.4g}" for f in self.frequencies[:5])
        return f"<Modes of {self.data['model']}: {len(self)}, {text}{', ...' if len(self) > 5 else ''} Hz>"


class StateSpace:
    """x' = A x + B u, y = C x + D u in minimal coordinates; u and y are deviations from their values at the state."""

    def __init__(self, found: _liedyn.StateSpace) -> None:
        self._found = found
        self.data: dict[str, Any] = json.loads(found.json)
        """The object that `liedyn linearize --json` prints."""
        self.A: np.ndarray = found.A
        self.B: np.ndarray = found.B
        self.C: np.ndarray = found.C
        self.D: np.ndarray = found.D

    @property
    def states(self) -> list[str]:
        return self.data["states"]

    @property
    def inputs(self) -> list[str]:
        return self.data["inputs"]

    @property
    def outputs(self) -> list[str]:
        return self.data["outputs"]

    @property
    def poles(self) -> np.ndarray:
        return np.linalg.eigvals(self.A)

    def transfer(self, s: complex | np.ndarray) -> np.ndarray:
        """C (s - A)^-1 B + D, outputs x inputs; for an array of s one such matrix each."""
        points = np.atleast_1d(np.asarray(s, dtype=complex))
        one = np.eye(len(self.A))
        found = np.array([self.C @ np.linalg.solve(point * one - self.A, self.B) + self.D for point in points])
        return found if np.ndim(s) else found[0]

    def save(self, file: str | os.PathLike) -> list[str]:
        """Writes NAME.npz, NAME.json, or NAME.A.mtx ... (for NAME.mtx) or NAME.A.csv ...; gives back what was written."""
        return self._found.write(os.fspath(file))

    def __repr__(self) -> str:
        return f"<StateSpace of {self.data['model']}: {len(self.A)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


class Equilibrium(Mapping[str, Any]):
    """What `static` and `assemble` found: the sensors by name, and `bodies`. May be the start of a run: `run(model, start=...)`."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The object that `--json` prints."""

    @property
    def bodies(self) -> dict[str, dict[str, Any]]:
        """Position, orientation, velocity, angular_velocity and accelerations of each body."""
        return self.data["bodies"]

    def __getitem__(self, sensor: str) -> Any:
        value = self.data["sensors"][sensor]
        return np.array(value) if isinstance(value, list) else value

    def __iter__(self):
        return iter(self.data["sensors"])

    def __len__(self) -> int:
        return len(self.data["sensors"])

    def save(self, file: str | os.PathLike) -> None:
        """Writes a .json file for `liedyn run --from`."""
        with open(file, "w", encoding="utf-8") as out:
            json.dump(self.data, out, indent=2)

    def __repr__(self) -> str:
        return f"<Equilibrium of {self.data['model']}: {', '.join(self.bodies)}>"


def modes(
    model: ModelSource | Model,
    *,
    at: str | float = "initial",
    undamped: bool = False,
    count: int = 0,
    axes: Sequence[float] | None = None,
    solver: str = "auto",
    start: Configuration | None = None,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
) -> Modes:
    """Eigenvalues and mode shapes of the linearised, constrained equations.

    at:       "initial", "static" (the equilibrium found from the start), "end", or a time of the model's simulation.
    undamped: leave out dissipation; gyroscopic forces and follower loads stay.
    count:    only the modes of lowest |s|; 0: all, or 20 of a large model.
    axes:     angular velocity of the axes the motion is seen from; None: axes in which it is steady.
    start:    configuration to begin from, instead of the model's.
    """
    compiled = _compiled(model, set, formulation)
    options = _options(compiled, start)
    found = Modes(_liedyn.modes(compiled._compiled, compiled._params, _point(at), options, undamped, count, solver, axes))
    for warning in found.data["warnings"]:
        _warn(warning)
    return found


def linearize(
    model: ModelSource | Model,
    *,
    inputs: Sequence[str] | str = (),
    outputs: Sequence[str] | str = (),
    at: str | float = "initial",
    start: Configuration | None = None,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
) -> StateSpace:
    """State space from numbers of the model ("forces.motor.torque[2]", or "forces.motor") to sensors; all if not given."""
    compiled = _compiled(model, set, formulation)
    options = _options(compiled, start)
    found = StateSpace(
        _liedyn.state_space(compiled._compiled, compiled._params, _point(at), options, _list(inputs), _list(outputs))
    )
    for warning in found.data["warnings"]:
        _warn(warning)
    return found


def static(
    model: ModelSource | Model,
    *,
    load_steps: int = 1,
    time: float | None = None,
    tolerance: float = 1e-10,
    initial: str | None = None,
    start: Configuration | None = None,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
) -> Equilibrium:
    """Static equilibrium. Raises NumericalError, with the motions that nothing holds, if there is none."""
    compiled = _compiled(model, set, formulation)
    options = _options(compiled, start)
    if initial is not None:
        options.initial = initial
    data = json.loads(
        _liedyn.static(
            compiled._compiled, compiled._params, options, options.start if time is None else time, load_steps, tolerance
        )
    )
    if not data["converged"]:
        raise NumericalError(f"{compiled.name}: {data['failure']}")
    for motion in data["indifferent"]:
        _warn(f"nothing determines this motion, it was left where it was: {motion}")
    for warning in data["warnings"]:
        _warn(warning)
    return Equilibrium(data)


def assemble(
    model: ModelSource | Model,
    *,
    hold: Sequence[str] | str = (),
    free: Sequence[str] | str = (),
    time: float | None = None,
    start: Configuration | None = None,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
) -> Equilibrium:
    """A configuration that meets all constraints, near a rough one; bodies in `hold` stay, or only those in `free` move."""
    compiled = _compiled(model, set, formulation)
    options = _options(compiled, start)
    return Equilibrium(
        json.loads(
            _liedyn.assemble(
                compiled._compiled, compiled._params, options, options.start if time is None else time, _list(hold), _list(free)
            )
        )
    )


def _compiled(model: ModelSource | Model, set: Mapping[str, float] | None, formulation: str | None) -> Model:
    if isinstance(model, Model):
        return model.changed(set) if set else model
    return Model(model, set=set, formulation=formulation)


def _options(model: Model, start: Configuration | None) -> _liedyn.SimulateOptions:
    options = _liedyn.SimulateOptions(model._compiled)
    model._start_from(options, start)
    return options


def _point(at: str | float) -> str:
    return at if isinstance(at, str) else repr(float(at))


def _list(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)

"""Equilibria, assembly, modes and state spaces of models."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import COUNT, FILE, FLAG, INITIAL, INTEGRATOR, NUMBER, POSITIVE_COUNT, POSITIVE_SECONDS, SECONDS, STRING, VECTOR
from liedyn.arguments import check, is_finite, names, shown
from liedyn.compiled import Compiled, Configuration, compiled, locating
from liedyn.errors import Diagnostic, InputError, NumericalError, warn
from liedyn.source import ModelSource
from liedyn.tables import Shown, Table, facts, numbers, plural, shortened
from liedyn.view import View, recorded_view


class Modes(Shown):
    """Eigenvalues and mode shapes, in the order of |s|. Of conjugate pairs the one with positive imaginary part."""

    def __init__(self, found: _liedyn.Modes) -> None:
        self.data: dict[str, Any] = json.loads(found.json)
        """The object that `liedyn modes --json` prints."""
        self.eigenvalues: np.ndarray = found.eigenvalues
        """s, complex: the motions are exp(s t)."""
        self.shapes: np.ndarray = found.shapes
        """Complex, one row per mode: displacements and rotations of the bodies, see `names`; the largest is 1."""
        self._scene: str | None = found.scene or None

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
        """-Re s/|s|; 0 for motions without stiffness."""
        return np.array([mode["damping_ratio"] for mode in self.data["modes"]])

    @property
    def rigid(self) -> np.ndarray:
        """Whether s is zero up to round-off."""
        return np.array([mode["rigid"] for mode in self.data["modes"]], dtype=bool)

    @property
    def energy(self) -> list[dict[str, float]]:
        """Shares of the bodies in the kinetic energy of each mode."""
        return [mode["energy"] for mode in self.data["modes"]]

    def view(self) -> View:
        """The moving mode shapes in 3D, of modes that were asked to keep them: `modes(..., scene=True)`."""
        return recorded_view(self._scene, "modes")

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def _parts(self) -> list[str | Table]:
        d = self.data
        states = f", {plural(d['states'], 'state')}" if d["states"] else ""
        title = f"{d['model']}: {plural(d['degrees_of_freedom'], 'degree')} of freedom{states}"
        title += f", linearised at t = {d['time']:.6g} s{', without damping' if d['undamped'] else ''}"
        axes = f"  in axes that rotate at ({', '.join(f'{x:.6g}' for x in d['axes_rate'])}) rad/s" if any(d["axes_rate"]) else ""
        zeros = f"  {d['zero_eigenvalues']} eigenvalues are zero" if d["zero_eigenvalues"] else ""
        rows = []
        for i, (mode, s) in enumerate(zip(d["modes"], self.eigenvalues)):
            imaginary = f" +- {s.imag:.10g} i" if s.imag else ""
            damping, eigenvalue = numbers(mode["damping_ratio"], ".4g"), f"{s.real:.6g}{imaginary}"
            if mode["rigid"]:
                damping, eigenvalue = "-", "0"
            shares = sorted(mode["energy"].items(), key=lambda item: -item[1])
            movers = ", ".join(f"{body} {100 * share:.0f} %" for body, share in shares[:3] if share >= 0.005)
            if not movers and mode.get("states"):
                movers = "state " + max(mode["states"].items(), key=lambda item: abs(complex(*item[1])))[0]
            movers += " (no stiffness)" if mode["rigid"] else ""
            rows.append([str(i + 1), f"{mode['frequency']:.8g}", damping, eigenvalue, movers])
        head = ["mode", "frequency / Hz", "damping ratio", "eigenvalue s / (1/s)", "kinetic energy"]
        return [title, axes, zeros, Table(head, shortened(rows), ">>>><")]

    def __repr__(self) -> str:
        text = ", ".join(f"{f:.4g}" for f in self.frequencies[:5])
        return f"<Modes of {self.data['model']}: {len(self)}, {text}{', ...' if len(self) > 5 else ''} Hz>"


class StateSpace(Shown):
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
        check(file=(file, FILE))
        name = os.fspath(file)
        if not name.endswith((".npz", ".json", ".mtx", ".csv")):
            raise InputError([Diagnostic("", 0, "file", f"expected a file that ends with .mtx, .csv, .npz or .json, got '{name[:200]}'")])
        return self._found.write(name)

    def _parts(self) -> list[str | Table]:
        d = self.data
        parts = [f"{d['model']}: x' = A x + B u, y = C x + D u at t = {d['time']:.6g} s"]
        lists = (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        parts.append(facts(*((title, f"{len(names)}: {', '.join(names) or '-'}") for title, names in lists)))
        sides = {"A": (self.states, self.states), "B": (self.states, self.inputs), "C": (self.outputs, self.states)}
        for name, (rows, columns) in (sides | {"D": (self.outputs, self.inputs)}).items():
            matrix = getattr(self, name)
            if max(matrix.shape) > 12:
                parts.append(f"  {name} has {matrix.shape[0]} x {matrix.shape[1]} numbers")
            elif matrix.size:
                body = [[row, *(numbers(x, ".6g") for x in values)] for row, values in zip(rows, matrix)]
                parts.append(Table([name, *columns], body))
        return parts

    def __repr__(self) -> str:
        return f"<StateSpace of {self.data['model']}: {len(self.A)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


class Equilibrium(Shown, Mapping[str, Any]):
    """What `static` and `assemble` found: the sensors by name, and `bodies`. A run may begin there: `run(model, from_=...)`."""

    def __init__(self, data: dict[str, Any], units: Mapping[str, str] | None = None, scene: str | None = None) -> None:
        self.data = data
        """The object that `--json` prints."""
        self.units = dict(units or {})
        """Of the sensors, by name."""
        self._scene = scene

    @property
    def bodies(self) -> dict[str, dict[str, Any]]:
        """Position, orientation, velocity, angular_velocity and accelerations of each body."""
        return self.data["bodies"]

    def __getitem__(self, sensor: str) -> Any:
        if sensor not in self.data["sensors"]:
            near = difflib.get_close_matches(str(sensor), self.data["sensors"], n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self) or 'none'}"
            raise KeyError(f"no sensor '{sensor}'; {hint}")
        value = self.data["sensors"][sensor]
        return np.array(value) if isinstance(value, list) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.data["sensors"])

    def __len__(self) -> int:
        return len(self.data["sensors"])

    def view(self) -> View:
        """The way to the equilibrium in 3D, with the load factor as time, where it was kept: `static(..., scene=True)`."""
        return recorded_view(self._scene, "static")

    def save(self, file: str | os.PathLike) -> None:
        """Writes a .json file for `from_` and for `liedyn run --from`."""
        check(file=(file, FILE))
        try:
            with open(file, "w", encoding="utf-8") as out:
                json.dump(self.data, out, indent=2)
        except OSError as error:
            raise InputError([Diagnostic(os.fspath(file), 0, "", f"cannot be written: {error.strerror}")]) from None

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _parts(self) -> list[str | Table]:
        d = self.data
        sensors = [[name, numbers(value, ".12g"), self.units.get(name) or "-"] for name, value in d["sensors"].items()]
        table = Table(["sensor", "value", "unit"], shortened(sensors), "<<<")
        if "load_steps" not in d:
            bodies = [[name, numbers(body["position"]), numbers(body.get("velocity", ()))] for name, body in self.bodies.items()]
            head = ["body", "position / m", "velocity / (m/s)"]
            return [f"{d['model']}: assembled at t = {d['time']:.6g} s", Table(head, shortened(bodies), "<<<"), table]
        steps, unstable = d["load_steps"], d["unstable_directions"]
        title = f"{d['model']}: equilibrium in {plural(len(steps), 'load step')}, {sum(step['iterations'] for step in steps)} iterations"
        if unstable is None:
            stability = "not determined (too many bodies); no growing motion was found"
        elif unstable:
            stability = f"unstable in {plural(unstable, 'direction')}"
        else:
            stability = "stable or indifferent" if d["indifferent"] else "stable"
        residual = d["residual"]
        figures = facts(
            ("residuals", f"forces {numbers(residual['force'], '.3g')} N, positions {numbers(residual['position'], '.3g')}"),
            ("potential energy", f"{numbers(d['potential_energy'])} J"),
            ("stability", stability),
        )
        return [title, figures, table]

    def __repr__(self) -> str:
        return f"<Equilibrium of {self.data['model']}: {', '.join(self.bodies)}>"


@locating
def modes(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    at: str | float = "initial",
    from_: Configuration | None = None,
    undamped: bool = False,
    count: int = 0,
    axes: Sequence[float] | None = None,
    solver: str = "auto",
    initial: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    time: float | None = None,
    scene: bool = False,
) -> Modes:
    """Eigenvalues and mode shapes of the linearised, constrained equations.

    at:       "initial", "static" (the equilibrium found from the start), "end", or a time of the model's simulation.
    from_:    configuration to begin from, instead of the model's.
    undamped: ignore dissipation; gyroscopic forces and follower loads are kept.
    count:    only the modes of lowest |s|; 0: all, or 20 of a large model.
    axes:     angular velocity of the axes of the motion; None: axes in which it is steady.
    solver:   "dense" (all modes), "sparse" (some), or "auto": by size.
    initial, integrator, step: of the simulation up to `at`, as for `run`.
    time:     of loads and joints that depend on it, and the start of that simulation; the model's start if not given.
    scene:    keep what `view` shows in 3D.
    """
    check(undamped=(undamped, FLAG), count=(count, COUNT), axes=(axes, VECTOR), solver=(solver, STRING), scene=(scene, FLAG))
    one = compiled(model, set, formulation)
    options = _options(one, from_, initial=initial, integrator=integrator, step=step, start=time)
    rate = None if axes is None else [float(x) for x in axes]
    found = Modes(_liedyn.modes(one._compiled, one._params, _point(at), options, bool(undamped), count, solver, rate, bool(scene)))
    for warning in found.data["warnings"]:
        warn(warning)
    return found


@locating
def linearize(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    inputs: Sequence[str] | str = (),
    outputs: Sequence[str] | str = (),
    at: str | float = "initial",
    from_: Configuration | None = None,
    initial: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    time: float | None = None,
) -> StateSpace:
    """State space from parameters of the model ("forces.motor.torque[2]", or "forces.motor") to sensors; all if not given.

    The other options are those of `modes`.
    """
    inputs, outputs = names(inputs, "inputs", of="paths"), names(outputs, "outputs", of="sensors")
    one = compiled(model, set, formulation)
    options = _options(one, from_, initial=initial, integrator=integrator, step=step, start=time)
    found = StateSpace(_liedyn.state_space(one._compiled, one._params, _point(at), options, inputs, outputs))
    for warning in found.data["warnings"]:
        warn(warning)
    return found


@locating
def static(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    load_steps: int = 1,
    time: float | None = None,
    tolerance: float = 1e-10,
    from_: Configuration | None = None,
    initial: str | None = None,
    scene: bool = False,
) -> Equilibrium:
    """Static equilibrium. Raises NumericalError, with the motions that nothing supports, if there is none.

    load_steps: number of equal load steps for weight and applied forces; a step that fails is halved.
    time:       of loads and joints that depend on it; the start if not given.
    tolerance:  of the residual forces, relative to the forces of the model.
    from_:      configuration to begin from, instead of the model's.
    initial:    as for `run`.
    scene:      keep what `view` shows in 3D.
    """
    check(load_steps=(load_steps, POSITIVE_COUNT), time=(time, SECONDS), tolerance=(tolerance, NUMBER), scene=(scene, FLAG))
    one = compiled(model, set, formulation)
    options = _options(one, from_, initial=initial, start=time)
    when = options.start
    found, shown_in_3d = _liedyn.static(one._compiled, one._params, options, when, load_steps, tolerance, bool(scene))
    data = json.loads(found)
    if not data["converged"]:
        raise NumericalError(f"{one.name}: {data['failure']}")
    for motion in data["indifferent"]:
        warn(f"this motion has no stiffness and is not changed: {motion}")
    for warning in data["warnings"]:
        warn(warning)
    return Equilibrium(data, one.units, shown_in_3d or None)


@locating
def assemble(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    hold: Sequence[str] | str = (),
    free: Sequence[str] | str = (),
    time: float | None = None,
    from_: Configuration | None = None,
) -> Equilibrium:
    """A configuration that satisfies all constraints, near a rough one; bodies in `hold` stay, or only those in `free` move."""
    check(time=(time, SECONDS))
    hold, free = names(hold, "hold", of="bodies"), names(free, "free", of="bodies")
    one = compiled(model, set, formulation)
    options = _options(one, from_, start=time)
    when = options.start
    return Equilibrium(json.loads(_liedyn.assemble(one._compiled, one._params, options, when, hold, free)), one.units)


def _options(model: Compiled, from_: Configuration | None, **given: Any) -> _liedyn.SimulateOptions:
    kinds = {"initial": INITIAL, "integrator": INTEGRATOR, "step": POSITIVE_SECONDS, "start": SECONDS}
    check(**{"time" if name == "start" else name: (value, kinds[name]) for name, value in given.items()})
    return model._options(given, from_)


def _point(at: str | float) -> str:
    if isinstance(at, str):
        return at
    if not is_finite(at):
        raise InputError([Diagnostic("", 0, "at", f'expected "initial", "static", "end" or a time, got {shown(at)}')])
    return repr(float(at))

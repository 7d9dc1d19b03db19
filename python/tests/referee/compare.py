"""The engine against the referee: motion, reactions, energies, equilibria, modes and derivatives of one mechanism."""

from __future__ import annotations

import copy
import re
import warnings

import numpy as np

import liedyn as ld
from referee.mechanisms import mechanism, with_sensors
from referee.rotations import rotation_of
from referee.simulator import Simulator, State

# Largest disagreement allowed, relative to 1 + the largest value of the quantity in the model. The mechanisms have sizes of about 1 in SI
# units; the engine's error (rk67, 1e-3 s) and that of the differences are far below.
BOUNDS = {
    "position": 1e-8, "orientation": 1e-8, "velocity": 1e-8, "angular_velocity": 1e-8, "acceleration": 1e-7, "angular_acceleration": 1e-7,
    "reaction_force": 1e-7, "reaction_torque": 1e-7, "joint_angle": 1e-8, "joint_displacement": 1e-8, "state": 1e-8, "energy": 1e-8, "kinetic": 1e-8,
    "static acceleration": 1e-7, "static reaction_force": 1e-7, "static reaction_torque": 1e-7, "modes": 1e-6, "modes (number)": 0.5,
    "derivatives": 1e-6,
}
MOMENTS = np.linspace(0, 0.4, 5)


def quantity_of(sensor: str) -> str:
    return sensor.split("_of_")[0]


class Comparison:
    """Disagreements of one mechanism by quantity, and what was skipped."""

    def __init__(self, seed):
        self.seed = seed
        self.worst: dict[str, float] = {}
        self.where: dict[str, str] = {}
        self.skipped: list[str] = []

    def add(self, quantity, where, difference, scale):
        size = float(np.max(np.abs(difference))) / (1 + scale) if np.size(difference) else 0.0
        if not size <= self.worst.get(quantity, -1.0):  # NaN counts as a disagreement
            self.worst[quantity], self.where[quantity] = size, where

    @property
    def failures(self) -> dict[str, float]:
        return {q: size for q, size in self.worst.items() if not size <= BOUNDS[q]}


def compare(seed: int) -> Comparison:
    out = Comparison(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            compare_motion(with_sensors(mechanism(seed)), seed, out)
            compare_equilibrium(with_sensors(mechanism(seed, held=True)), out)
    return out


# ---- motion and derivatives


def compare_motion(model: dict, seed: int, out: Comparison) -> None:
    paths = parameters_to_vary(model, np.random.default_rng([seed, 7]))
    steps = {path: 1e-3 * max(abs(value_at(model, path)), 1e-2) for path in paths}
    variants = [model] + [changed(model, path, k * steps[path]) for path in paths for k in (1, -1, 2, -2)]
    referee = Simulator(*variants)
    try:
        motions = referee.run(MOMENTS)
    except ArithmeticError as error:  # a singular configuration, or a corner of a function
        out.skipped.append(f"motion: {error}")
        return
    expected = [referee.outputs(m) for m in motions]
    compiled = ld.Model(model)
    found = compiled.run(strict=True)
    np.testing.assert_allclose(found.time, MOMENTS, atol=1e-12)
    scales: dict[str, float] = {}
    for sensor, values in ((s, v) for e in expected for s, v in e.items()):
        quantity = quantity_of(sensor)
        scales[quantity] = max(scales.get(quantity, 0.0), float(np.max(np.abs(values[0]))))
    for quantity in ("reaction_torque", "kinetic"):  # zero in some models
        scales[quantity] = max(scales.get(quantity, 0.0), scales.get({"kinetic": "energy"}.get(quantity, "reaction_force"), 0.0))
    for k, moment in enumerate(MOMENTS):
        for sensor, values in expected[k].items():
            quantity, got, want = quantity_of(sensor), found[sensor][k], values[0]
            if quantity == "orientation":
                got = rotation_of(got)
            out.add(quantity, f"{sensor} at t = {moment:g}", got - want, scales[quantity])

    if not paths:
        return
    derivatives = compiled.sensitivity(paths)
    row = {name: i for i, name in enumerate(derivatives.outputs)}
    weights = np.array([8, -8, -1, 1]) / 12
    for j, path in enumerate(paths):
        for sensor, values in expected[-1].items():
            if quantity_of(sensor) == "orientation":
                continue
            by_variant = values[1 + 4 * j : 5 + 4 * j]
            slope = np.tensordot(weights, by_variant, axes=(0, 0)) / steps[path]
            names = [sensor] if slope.ndim == 0 else [f"{sensor}[{i}]" for i in range(len(slope))]
            if names[0] not in row:
                continue
            got = derivatives.jacobian[[row[name] for name in names], j]
            # Both are compared as changes of the output for the change of the parameter by its own size.
            size = max(abs(value_at(model, path)), 1e-2)
            out.add("derivatives", f"d {sensor}/d {path}", (got - slope) * size, scales[quantity_of(sensor)] + np.max(np.abs(slope)) * size)


def parameters_to_vary(model, random, count=3):
    """Numbers that leave the initial velocities consistent: masses, inertias, loads, springs; places of joints if nothing moves."""
    paths = [f"gravity[{k}]" for k in range(3)]
    for name, body in model["bodies"].items():
        if not isinstance(body["mass"], str):
            paths.append(f"bodies.{name}.mass")
        inertia = body.get("inertia")
        if isinstance(inertia, list) and not isinstance(inertia[0], list):
            paths += [f"bodies.{name}.inertia[{k}]" for k in range(len(inertia))]
    for name, force in model.get("forces", {}).items():
        for key, value in force.items():
            if isinstance(value, float) and key not in ("limit",):
                paths.append(f"forces.{name}.{key}")
            elif key in ("stiffness", "damping", "rotational_stiffness", "rotational_damping", "at") and isinstance(value, list):
                paths += [f"forces.{name}.{key}[{k}]" for k in range(3)]
    drives = " ".join(str(joint.get(key, "")) for joint in model.get("joints", {}).values() for key in ("motion", "velocity"))
    paths += [p for p in model.get("parameters", {}) if not re.search(rf"\b{p}\b", drives)]
    still = all(not np.any(body.get(key, 0)) for body in model["bodies"].values() for key in ("velocity", "angular_velocity", "angular_velocity_inertial"))
    for name, joint in model.get("joints", {}).items():
        if still:
            bodies = [model["bodies"][b]["type"] for b in joint.get("between", []) if b != "ground"]
            if "at" in joint and "point" not in bodies:
                paths += [f"joints.{name}.at[{k}]" for k in range(len(joint["at"]))] * 2
            if "pitch" in joint:
                paths += [f"joints.{name}.pitch"] * 3
            if "axis" in joint and joint["type"] != "rolling_disc":
                paths += [f"joints.{name}.axis[{k}]" for k in range(len(joint["axis"]))]
    return sorted({str(p) for p in random.choice(paths, min(count, len(paths)), replace=False)})


def _find(model, path):
    if "." not in path and "[" not in path:
        return model["parameters"], path
    keys = [int(k) if k.isdigit() else k for k in re.split(r"[.\[\]]+", path.rstrip("]"))]
    where = model
    for key in keys[:-1]:
        where = where[key]
    return where, keys[-1]


def value_at(model, path) -> float:
    where, key = _find(model, path)
    return where[key]


def changed(model, path, by) -> dict:
    model = copy.deepcopy(model)
    where, key = _find(model, path)
    where[key] += by
    return model


# ---- equilibrium and modes


def compare_equilibrium(model: dict, out: Comparison) -> None:
    compiled = ld.Model(model)
    try:
        found = ld.static(compiled)
    except ld.NumericalError as error:
        out.skipped.append(f"static: {error}")
        return
    referee = Simulator(model)
    state = referee.initial()
    for i, name in enumerate(referee.names):
        R = np.eye(3) if referee.kinds[i] == "point" else rotation_of(found[f"orientation_of_{name}"])
        if referee.kinds[i] != "point":
            state.q[0, i] = found[f"orientation_of_{name}"]
        state.x[0, i] = found[f"position_of_{name}"] - R @ referee.reference[0, i]
    for i, name in enumerate(referee.state_names):
        state.s[0, i] = found[f"state_of_{name}"]
    state = State(state.x, state.q, 0 * state.v, 0 * state.w, state.angle, state.s)
    m = referee.solve(0.0, state)
    expected = referee.outputs(m)
    # Forces that are left over, as accelerations.
    out.add("static acceleration", "", m.a, float(np.linalg.norm(referee.gravity)))
    out.add("static acceleration", "states", m.state_rates, 1.0)
    sizes = [np.max(np.abs(v)) for s, v in expected.items() if s.startswith("reaction_")]
    for sensor, values in expected.items():
        if sensor.startswith("reaction_"):
            out.add(f"static {quantity_of(sensor)}", sensor, found[sensor] - values[0], max(sizes))

    modes = ld.modes(compiled, at="static")
    got = np.array([s for value in modes.eigenvalues for s in ({value, value.conjugate()} if value.imag else {value})])
    want = referee.eigenvalues(0.0, state)
    out.add("modes (number)", f"{len(got)} for {len(want)}", abs(len(got) - len(want)), 0.0)
    if len(got) == len(want):
        for value in want:
            nearest = int(np.argmin(np.abs(got - value)))
            out.add("modes", f"{value:.6g}", abs(got[nearest] - value), abs(value))
            got = np.delete(got, nearest)

"""Mechanisms to choose the default method with: shipped models, gyroscopes, loops, beams, robots and random trees, all reproducible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Mechanism:
    name: str
    family: str
    model: Any
    """What `ld.Model` takes."""
    step: float
    """The middle one of three steps, in s."""
    duration: float
    """In s, after the start of the model."""
    sensors: tuple[str, ...] = ()
    """What runs are compared in; all positions of bodies of generated models if empty."""
    set: Mapping[str, float] = field(default_factory=dict)


# ---- shipped models, with steps around their own


SHIPPED = (
    ("heavy_top", 1e-3, 1.0, ("position",), {}),
    ("heavy_top_free", 1e-3, 1.0, ("position",), {}),
    ("rotor", 1e-4, 0.1, ("left",), {}),
    ("pendulum", 5e-3, 2.0, ("position",), {}),
    ("slider_crank", 1e-3, 0.5, ("slider",), {}),
    ("andrews_squeezer", 5e-5, 0.03, ("beta",), {}),
    ("andrews_squeezer_spatial", 5e-5, 0.03, ("beta",), {}),
    ("bricard", 1e-2, 2.0, ("P3",), {}),
    ("chain", 2e-3, 1.0, ("tip",), {"links": 10}),
    ("net", 2e-3, 0.3, ("middle",), {}),
    ("ring", 2e-3, 0.3, ("far",), {}),
    ("four_bar", 2e-3, 1.0, ("C",), {}),
    ("flyball_governor", 1e-3, 1.0, ("slider",), {}),
    ("controlled_arm", 1e-3, 1.0, ("angle",), {}),
    ("puma560", 2e-3, 1.0, ("angle1", "angle2", "angle3"), {}),
    ("flying_spaghetti", 2e-2, 3.0, ("end",), {}),
    ("slider_crank_flexible", 5e-5, 0.02, ("deflection",), {}),
    ("princeton_beam", 5e-4, 0.1, ("tip",), {}),
    ("rotating_beam_spin_up", 1e-2, 8.0, ("deflection",), {}),
)

# ---- generated ones


def body(position: np.ndarray, velocity: np.ndarray, spin: np.ndarray, mass: float, inertia: np.ndarray) -> dict[str, Any]:
    return {
        "type": "rigid", "mass": mass, "inertia": inertia, "position": position, "velocity": velocity, "angular_velocity": spin,
    }  # fmt: skip


def finished(name: str, bodies: dict, joints: dict, forces: dict | None = None, gravity: Any = GRAVITY) -> dict[str, Any]:
    """A model with a sensor of the position of every body, and one of a point off its centre, which turns with it."""
    sensors: dict[str, Any] = {}
    for one, description in bodies.items():
        sensors[f"{one}_centre"] = {"type": "position", "of": one}
        sensors[f"{one}_point"] = {"type": "position", "of": one, "at": np.asarray(description.get("position", np.zeros(3))) + [0.1, 0.05, 0.02]}
    return {"liedyn": 1, "name": name, "gravity": list(gravity), "bodies": bodies, "joints": joints, "forces": forces or {}, "sensors": sensors}


def gyroscope(spin: float, weight: float) -> dict[str, Any]:
    """A rotor in two gimbals, pulled at the inner one."""
    zero = np.zeros(3)
    bodies = {
        "outer": body(zero, zero, zero, 0.3, np.array([1e-3, 1e-3, 6e-4])),
        "inner": body(zero, zero, zero, 0.2, np.array([5e-4, 5e-4, 8e-4])),
        "rotor": body(zero, zero, np.array([0, spin, 0]), 1.0, np.array([1e-3, 1.8e-3, 1e-3])),
    }
    joints = {
        "vertical": {"type": "revolute", "between": ["ground", "outer"], "at": [0, 0, 0], "axis": [0, 0, 1]},
        "horizontal": {"type": "revolute", "between": ["outer", "inner"], "at": [0, 0, 0], "axis": [1, 0, 0]},
        "axle": {"type": "revolute", "between": ["inner", "rotor"], "at": [0, 0, 0], "axis": [0, 1, 0]},
    }
    pull = {"pull": {"type": "force", "on": "inner", "force": [0, 0, -weight], "at": [0, 0.1, 0]}}
    return finished("gyroscope", bodies, joints, pull, gravity=(0, 0, 0))


def top(spin: float, inertia: tuple[float, float, float]) -> dict[str, Any]:
    """A body on a ball joint that spins about the line through its centre, tilted against gravity."""
    axis = np.array([math.sin(0.5), 0, math.cos(0.5)])
    centre, omega = 0.2 * axis, spin * np.array([0, 0, 1.0])
    turned = {"axis": [0, 1, 0], "angle": 0.5}
    one = body(centre, np.cross(spin * axis, centre), omega, 1.0, np.array(inertia)) | {"orientation": turned}
    return finished("top", {"top": one}, {"pivot": {"type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0]}})


def tumbling(spin: tuple[float, float, float]) -> dict[str, Any]:
    """A free body with three different inertias."""
    one = body(np.zeros(3), np.array([1.0, 0, 0]), np.array(spin), 1.0, np.array([0.01, 0.02, 0.025]))
    return finished("tumbling", {"body": one}, {}, gravity=(0, 0, 0))


def flywheel(spin: float) -> dict[str, Any]:
    """An unbalanced wheel in a carrier that hangs on soft bushings."""
    zero = np.zeros(3)
    bodies = {
        "carrier": body(zero, zero, zero, 2.0, np.array([0.02, 0.02, 0.02])),
        "wheel": body(np.array([0.002, 0, 0]), np.array([0, spin * 0.002, 0]), np.array([0, 0, spin]), 1.0, np.array([5e-3, 5e-3, 9e-3])),
    }
    joints = {"axle": {"type": "revolute", "between": ["carrier", "wheel"], "at": [0, 0, 0], "axis": [0, 0, 1]}}
    mount = {
        "mount": {
            "type": "bushing", "between": ["ground", "carrier"], "at": [0, 0, 0], "stiffness": [2e3, 3e3, 4e3], "damping": [1, 1, 1],
            "rotational_stiffness": [50, 60, 70], "rotational_damping": [0.02, 0.02, 0.02],
        }
    }  # fmt: skip
    return finished("flywheel", bodies, joints, mount)


def loop(seed: int) -> dict[str, Any]:
    """A spatial four-bar with a spherical and a universal joint, released from rest."""
    random = np.random.default_rng(seed)
    corners = np.array([[0, 0, 0], [0, 0.3, 0.4], [1, 0.2, 0.7], [1.2, 0, 0]]) + random.uniform(-0.1, 0.1, (4, 3))
    bodies, zero = {}, np.zeros(3)
    for name, (begin, end) in {"crank": (0, 1), "coupler": (1, 2), "rocker": (2, 3)}.items():
        middle, length = (corners[begin] + corners[end]) / 2, np.linalg.norm(corners[end] - corners[begin])
        bodies[name] = body(middle, zero, zero, 2 * length, 2 * length**3 / 12 * random.uniform(0.6, 1.0, 3))
    joints = {
        "a": {"type": "revolute", "between": ["ground", "crank"], "at": corners[0], "axis": [1, *random.uniform(-0.2, 0.2, 2)]},
        "b": {"type": "spherical", "between": ["crank", "coupler"], "at": corners[1]},
        "c": {"type": "spherical", "between": ["coupler", "rocker"], "at": corners[2]},
        "d": {"type": "revolute", "between": ["ground", "rocker"], "at": corners[3], "axis": [1, *random.uniform(-0.2, 0.2, 2)]},
    }
    return finished("loop", bodies, joints, gravity=(0, -9.81, 0))


def tree(seed: int, links: int, kinds: tuple[str, ...], speed: float) -> dict[str, Any]:
    """Bodies in a random tree, in motion; joints of the kinds given."""
    random = np.random.default_rng(seed)
    places, linear, angular = [np.zeros(3)], [np.zeros(3)], [np.zeros(3)]
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    for k in range(links):
        parent = int(random.integers(max(0, k - 2), k + 1))
        joint = places[parent] + random.uniform(-0.2, 0.2, 3)
        place = joint + random.uniform(-0.3, 0.3, 3)
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        kind = kinds[int(random.integers(len(kinds)))]
        relative = speed * random.normal()
        omega, slide = angular[parent].copy(), np.zeros(3)
        if kind in ("revolute", "cylindrical"):
            omega += relative * axis
        elif kind == "spherical":
            omega += speed * random.normal(size=3)
        if kind in ("prismatic", "cylindrical"):
            slide = 0.1 * relative * axis
        velocity = linear[parent] + np.cross(angular[parent], joint - places[parent]) + slide + np.cross(omega, place - joint)
        principal = random.uniform(0.5, 1.0, 3)  # any three of these fulfil the triangle inequality
        bodies[f"b{k}"] = body(place, velocity, omega, float(random.uniform(0.5, 3)), 0.02 * principal)
        between = ["ground" if parent == 0 else f"b{parent - 1}", f"b{k}"]
        across = np.cross(axis, random.normal(size=3))
        axes = {"spherical": {}, "universal": {"first_axis": axis, "second_axis": across}}.get(kind, {"axis": axis})
        joints[f"j{k}"] = {"type": kind, "between": between, "at": joint} | axes
        places.append(place)
        linear.append(velocity)
        angular.append(omega)
    springs = {
        "spring": {
            "type": "spring_damper", "between": ["ground", f"b{links - 1}"], "points": [[0, 0, 0.5], places[-1]], "stiffness": 50, "damping": 0.5,
        }
    }  # fmt: skip
    return finished("tree", bodies, joints, springs)


def beam_pendulum(stiffness: float) -> dict[str, Any]:
    """A beam that falls about a hinge at one end."""
    return {
        "liedyn": 1, "name": "beam_pendulum", "gravity": list(GRAVITY),
        "beams": {
            "beam": {
                "type": "rectangle", "from": [0, 0, 0], "to": [1, 0, 0], "width": 0.02, "height": 0.005, "density": 2700,
                "young": stiffness, "elements": 6,
            }
        },
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "beam.start"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
        "sensors": {"tip": {"type": "position", "of": "beam.end"}},
    }  # fmt: skip


def mechanisms() -> Iterator[Mechanism]:
    for name, step, duration, sensors, arguments in SHIPPED:
        yield Mechanism(name, "shipped", name, step, duration, sensors, arguments)
    for spin in (100.0, 500.0, 2000.0):
        for weight in (0.0, 5.0):
            yield Mechanism(f"gyroscope {spin:g} rad/s, {weight:g} N", "gyroscopes", gyroscope(spin, weight), 0.15 / spin, 500 / spin)
    for spin in (50.0, 200.0):
        for shape in ((1e-2, 1e-2, 5e-3), (3e-3, 3e-3, 5.5e-3), (5e-3, 7e-3, 1e-2)):
            yield Mechanism(f"top {spin:g} rad/s, J = {shape}", "gyroscopes", top(spin, shape), 0.15 / spin, 150 / spin)
    for axis in ((20.0, 0.1, 0.1), (0.1, 20.0, 0.1), (5.0, 10.0, 20.0)):
        yield Mechanism(f"tumbling {axis}", "gyroscopes", tumbling(axis), 0.01, 5.0)
    for spin in (100.0, 400.0):
        yield Mechanism(f"flywheel {spin:g} rad/s", "gyroscopes", flywheel(spin), 0.15 / spin, 200 / spin)
    for seed in range(8):
        yield Mechanism(f"loop {seed}", "loops", loop(seed), 4e-3, 2.0)
    for stiffness in (1e8, 1e9, 7e10):
        yield Mechanism(f"beam pendulum {stiffness:g} Pa", "beams", beam_pendulum(stiffness), 2e-3, 0.6, ("tip",))
    for seed in range(8):
        yield Mechanism(f"robot {seed}", "robots", tree(seed, 6, ("revolute",), 3.0), 3e-3, 1.0)
    for seed in range(100, 116):
        kinds = ("revolute", "spherical", "cylindrical", "prismatic", "universal")
        yield Mechanism(f"tree {seed}", "random", tree(seed, 3 + seed % 4, kinds, 10.0 if seed % 2 else 2.0), 2e-3, 0.5)

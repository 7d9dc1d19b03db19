"""Random mechanisms: trees and loops of rigid, rotating, point and planar bodies with every joint, force and drive.

Joints are placed in the initial configuration, so that any configuration is assembled. Velocities are random and then projected onto
the constraints. A mechanism that its constraints lock, or whose rows depend on each other, is thrown away.
"""

from __future__ import annotations

import re

import numpy as np

from referee.rotations import quaternion_of, rotation_of
from referee.simulator import DISPLACED, TURNED, Simulator

FORMULATIONS = ("r3so3", "r3so3-spatial", "se3", "euler-parameters", "minimal")
SPATIAL = (
    "spherical", "revolute", "prismatic", "cylindrical", "universal", "planar", "fixed", "distance", "point_on_line", "point_on_plane",
    "generic", "screw", "rolling_disc", "revolute", "prismatic", "cylindrical",
)
PLANAR = ("planar_revolute", "planar_prismatic", "planar_fixed", "planar_point_on_line")
CLOSING = ("spherical", "universal", "distance", "point_on_line", "point_on_plane", "generic", "cylindrical")


class Locked(Exception):
    """No degree of freedom, rows that depend on each other, or points that coincide."""


class Generator:
    def __init__(self, seed, held=False):
        """`held`: at rest, every body on springs, nothing driven by velocity: a model with an equilibrium."""
        self.random = np.random.default_rng(seed)
        self.seed = seed
        self.held = held
        self.model: dict = {
            "liedyn": 1, "name": f"mechanism_{seed}", "parameters": {}, "gravity": self.vector(9.81), "bodies": {}, "joints": {}, "forces": {},
            "states": {}, "sensors": {},
        }

    # ---- numbers

    def uniform(self, low, high):
        return float(self.random.uniform(low, high))

    def vector(self, size, components=3):
        direction = self.random.normal(size=components)
        return [float(v) for v in size * direction / np.linalg.norm(direction)]

    def box(self, size, components=3):
        return [float(v) for v in self.random.uniform(-size, size, components)]

    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def parameter(self, value):
        """A number as a parameter of the model, by name."""
        name = f"p{len(self.model['parameters'])}"
        self.model["parameters"][name] = value
        return name

    def maybe_parameter(self, value):
        return self.parameter(value) if self.chance(0.3) else value

    def orientation(self):
        rotation = np.array(self.vector(self.uniform(0, 3)))
        kind = self.one_of(["rotation_vector", "quaternion", "axis", "matrix", "cardan"])
        R = rotation_of(np.concatenate([[np.cos(np.linalg.norm(rotation) / 2)], np.sin(np.linalg.norm(rotation) / 2) * rotation / np.linalg.norm(rotation)]))
        if kind == "quaternion":
            return {kind: [float(c) for c in quaternion_of(R)]}
        if kind == "axis":
            return {kind: self.vector(self.uniform(0.5, 2)), "angle": self.uniform(-3, 3)}
        if kind == "matrix":
            return {kind: R.tolist()}
        return {kind: [float(c) for c in rotation]} if kind == "rotation_vector" else {kind: self.box(1.4)}

    def inertia(self, mass):
        """Of five particles, so that it is one that a body can have."""
        points = self.random.normal(size=(5, 3)) * 0.35
        points -= points.mean(axis=0)
        J = mass / 5 * sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points)
        kind = self.one_of(["principal", "six", "matrix"])
        if kind == "principal":
            return [float(v) for v in np.linalg.eigvalsh(J)]
        return [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))] if kind == "six" else J.tolist()

    def function(self, size, zero):
        """A function of time, of the size given; `zero`: 0 at t = 0."""
        A, w = self.uniform(0.3, 1) * size, self.uniform(1, 6)
        if self.held:  # at rest at t = 0
            return f"{A}*t^3" if zero else self.one_of([A, self.parameter(A)])
        forms = [
            f"{self.maybe_parameter(A)}*sin({w}*t)", f"{A}*(1 - cos({self.maybe_parameter(w)}*t))", f"poly(t, 0, {A}, {-A})",
            f"harmonic(t, {A}, {w / 6}, 0)", f"{A}*step(t, 0, 0.2)", f"{A}*t*exp(-{w}*t)", f"{A}*tanh({w}*t)",
        ]
        if not zero:
            forms += [f"{A}*cos({w}*t)", f"{A} + {A / 2}*sin({w}*t + 1)", A, self.parameter(A)]
        return self.one_of(forms)

    # ---- bodies

    def body(self, kind, near):
        name = f"b{len(self.model['bodies'])}"
        mass = self.uniform(0.5, 2.5)
        entry: dict = {"type": kind, "mass": self.maybe_parameter(mass)}
        position = [float(v) for v in near + np.array(self.box(0.5))]
        if kind == "planar":
            entry |= {"inertia": mass * self.uniform(0.03, 0.2), "position": position[:2], "angle": self.uniform(-3, 3)}
            if self.chance(0.5):
                entry["reference"] = self.box(0.3, 2)
        elif kind == "point":
            entry["position"] = position
        else:
            entry |= {"inertia": self.inertia(mass), "position": position, "orientation": self.orientation()}
            if self.chance(0.6):
                entry["reference"] = self.box(0.3)
        self.model["bodies"][name] = entry
        return name

    def place(self, *bodies):
        """A point near some bodies; that of a point mass if one is among them."""
        for body in bodies:
            if body != "ground" and self.model["bodies"][body]["type"] == "point":
                return list(self.model["bodies"][body]["position"])
        near = [np.resize(np.array(self.model["bodies"][body]["position"] + [0.0])[:3], 3) for body in bodies if body != "ground"]
        return [float(v) for v in np.mean(near, axis=0) + np.array(self.box(0.5))]

    def two_points(self, first, second):
        """A point on each of two bodies, well apart."""
        points = [self.place(body) if body != "ground" else None for body in (first, second)]
        for i in (0, 1):
            if points[i] is None:
                points[i] = [c + d for c, d in zip(points[1 - i], self.vector(self.uniform(0.4, 1)))]
        if np.linalg.norm(np.subtract(*points)) < 0.3:
            raise Locked
        return points

    # ---- joints

    def joint(self, kind, first, second, closing=False):
        name = f"j{len(self.model['joints'])}"
        entry: dict = {"type": kind, "between": [first, second]}
        point = any(body != "ground" and self.model["bodies"][body]["type"] == "point" for body in (first, second))
        if self.chance(0.2) and kind != "rolling_disc" and not closing and not point:  # a point carries no axes
            entry["between"] = [second, first]
        at = self.place(first, second)
        if kind in PLANAR:
            entry["at"] = at[:2]
            if kind in ("planar_prismatic", "planar_point_on_line"):
                entry["axis"] = self.vector(1, 2)
        elif kind == "distance":
            entry["points"] = self.two_points(*entry["between"])
        elif kind == "rolling_disc":
            normal = np.array(self.vector(1))
            entry |= {"center": at, "normal": normal.tolist(), "radius": self.uniform(0.2, 0.5)}
            entry["axis"] = (np.cross(normal, self.vector(1)) + 0.3 * normal).tolist()
        else:
            entry["at"] = at
            if kind == "universal":
                a = np.array(self.vector(1))
                entry["first_axis"] = a.tolist()
                entry["second_axis"] = (np.cross(a, self.vector(1)) + (0.2 * a if self.chance(0.3) else 0)).tolist()
            elif kind == "generic":
                directions = ["x", "y", "z", "rotation_x", "rotation_y", "rotation_z"]
                count = int(self.random.integers(1, 3 if closing else 6))
                chosen = set(self.random.choice(directions, count, replace=False))
                entry["fixed"] = [d for d in directions if d in chosen]
                entry["orientation"] = self.orientation()
            elif kind not in ("spherical", "fixed"):
                entry["axis"] = self.vector(self.uniform(0.5, 2))
            if kind == "screw":
                entry["pitch"] = self.uniform(0.1, 0.6)
        self.model["joints"][name] = entry
        return name

    def coordinates(self):
        """Of the joints so far: (joint, which, key)."""
        found = []
        for name, joint in self.model["joints"].items():
            if joint["type"] in TURNED:
                found.append((name, "angle"))
            if joint["type"] in DISPLACED:
                found.append((name, "displacement"))
        return found

    def in_joint(self, kind, coordinate):
        entry = {"type": kind, "joint": coordinate[0]}
        if self.model["joints"][coordinate[0]]["type"] in ("cylindrical", "screw"):
            entry["coordinate"] = coordinate[1]
        return entry

    def drives(self):
        driven = set()
        free = [c for c in self.coordinates() if self.model["joints"][c[0]]["type"] != "screw"]
        if free and self.chance(0.5):
            coordinate = self.one_of(free)
            driven.add(coordinate[0])
            entry = self.in_joint("prescribed_motion" if self.held or self.chance(0.6) else "prescribed_velocity", coordinate)
            if entry["type"] == "prescribed_motion":
                entry["motion"] = self.function(0.4, True)
            else:
                entry["velocity"] = self.function(1, False)
            self.model["joints"]["drive"] = entry
        single = [c for c in free if c[0] not in driven and (c[1] == "angle" or self.model["joints"][c[0]]["type"] != "cylindrical")]
        if len(single) >= 2 and self.chance(0.7):
            a, b = self.random.choice(len(single), 2, replace=False)
            if single[a][0] != single[b][0]:
                ratio = self.uniform(-2, 2)
                self.model["joints"]["gear"] = {"type": "gear", "joints": [single[a][0], single[b][0]], "ratio": ratio}

    # ---- forces

    def two_bodies(self):
        names = list(self.model["bodies"])
        second = self.one_of(names)
        return self.one_of(["ground"] + [name for name in names if name != second]), second

    def chance_apart(self, probability):
        """From random numbers of its own: mechanisms without what it decides stay the same."""
        return np.random.default_rng([*self.seed, 1]).uniform() < probability

    def two_point_force(self):
        first, second = self.two_bodies()
        points = self.two_points(first, second)
        self.model["forces"]["pull"] = {"type": "two_point_force", "between": [first, second], "points": points, "force": self.function(3, False)}

    def force(self):
        name = f"f{len(self.model['forces'])}"
        bodies = self.model["bodies"]
        coordinates = self.coordinates()
        kinds = ["force", "torque", "spring_damper", "bushing"]
        if coordinates:
            kinds += ["joint_spring", "joint_actuator", "joint_friction", "joint_effort"]
        kind = self.one_of(kinds)
        if kind in ("force", "torque"):
            on = self.one_of([b for b in bodies if kind == "force" or bodies[b]["type"] != "point"] or [None])
            if on is None:
                return
            entry = {"type": kind, "on": on, kind: [self.function(3, False) for _ in range(3)]}
            if bodies[on]["type"] != "point":
                entry["axes"] = self.one_of(["inertial", "body"])
                if kind == "force" and self.chance(0.6):
                    entry["at"] = self.place(on)
        elif kind == "spring_damper":
            first, second = self.two_bodies()
            entry = {"type": kind, "between": [first, second], "points": self.two_points(first, second), "stiffness": self.maybe_parameter(self.uniform(5, 60)), "damping": self.uniform(0, 3)}
            if self.chance(0.6):
                entry["free_length"] = self.uniform(0.2, 1)
        elif kind == "bushing":
            entry = self.bushing(*self.two_bodies(), 1)
            if entry is None:
                return
        else:
            coordinate = self.one_of(coordinates)
            entry = self.in_joint(kind, coordinate)
            if kind == "joint_spring":
                entry |= {"stiffness": self.uniform(1, 20), "damping": self.uniform(0, 1.5), "free": self.uniform(-0.5, 0.5)}
                if self.chance(0.5):
                    entry["cubic_stiffness"] = self.uniform(1, 20)
            elif kind == "joint_actuator":
                entry |= {"proportional": self.uniform(1, 20), "derivative": self.uniform(0.1, 2), "target": self.function(0.5, False), "feed_forward": self.function(2, False)}
                if self.chance(0.3):  # far away, or always at the limit: the corner between is no subject for high orders
                    entry["limit"] = self.one_of([1e-3, 1e3])
            elif kind == "joint_friction":
                if self.model["joints"][coordinate[0]]["type"] not in ("revolute", "prismatic", "cylindrical"):
                    return
                entry |= {"coefficient": self.uniform(0.05, 0.2), "smoothing": self.uniform(0.5, 1)}
                if coordinate[1] == "angle":
                    entry["radius"] = self.uniform(0.05, 0.2)
                if self.chance(0.5):
                    entry["static_coefficient"] = self.uniform(0.2, 0.3)
                    entry["stribeck"] = self.uniform(1, 3)
                if self.chance(0.5):
                    entry["length"] = self.uniform(0.5, 1.5)
            else:
                value, rate = f"value{len(self.model['forces'])}", f"rate{len(self.model['forces'])}"
                self.model["sensors"][value] = {"type": f"joint_{coordinate[1]}", "of": coordinate[0]}
                self.model["sensors"][rate] = {"type": f"joint_{coordinate[1]}_rate", "of": coordinate[0]}
                entry["effort"] = f"{self.maybe_parameter(self.uniform(1, 10))}*sin({self.uniform(-1, 1)} - {value}) - {self.uniform(0.1, 1)}*{rate}"
                if self.chance(0.6):
                    state = f"s{len(self.model['states'])}"
                    self.model["states"][state] = self.one_of([
                        {"type": "filter", "input": rate, "time_constant": self.uniform(0.2, 1)},
                        {"type": "expression", "initial": self.uniform(-1, 1), "rate": f"{self.uniform(-1, 1)}*{value} - {self.uniform(0.5, 2)}*{state} + cos({rate})"},
                    ] + ([] if self.held else [{"type": "integral", "initial": 0.1, "input": f"0.3 - {value}"}]))
                    entry["effort"] += f" + {self.uniform(-1, 1)}*{state}"
        self.model["forces"][name] = entry

    def bushing(self, first, second, size):
        bodies = self.model["bodies"]
        point = any(b != "ground" and bodies[b]["type"] == "point" for b in (first, second))
        if point and first != "ground" and bodies[first]["type"] == "point":
            return None
        entry = {"type": "bushing", "between": [first, second], "at": self.place(second), "orientation": self.orientation()}
        entry["stiffness"] = [size * self.uniform(5, 40) for _ in range(3)]
        entry["damping"] = [self.uniform(0, 2) for _ in range(3)]
        if not point:
            entry["rotational_stiffness"] = [size * self.uniform(1, 10) for _ in range(3)]
            entry["rotational_damping"] = [self.uniform(0, 0.5) for _ in range(3)]
        return entry

    # ---- whole

    def make(self):
        plane = self.chance(0.2)
        bodies = int(self.random.integers(1, 5))
        near = np.zeros(3)
        for i in range(bodies):
            kind = "planar" if plane and (i == 0 or self.chance(0.8)) else self.one_of(["rigid"] * 6 + ["point", "rotating"])
            if kind == "planar":
                near = near * [1, 1, 0]
            name = self.body(kind, near)
            parents = [b for b in self.model["bodies"] if b != name]
            parent = self.one_of(parents) if parents and self.chance(0.75) else "ground"
            if kind == "rotating" or (parent == "ground" and not self.held and self.chance(0.1)):
                pass  # a free body
            else:
                types = {kind, None if parent == "ground" else self.model["bodies"][parent]["type"]}
                if "point" in types:  # it carries no axes
                    along = parent == "ground" or self.model["bodies"][parent]["type"] != "point"
                    joint = self.one_of(["spherical", "distance"] + ["point_on_plane", "point_on_line"] * along)
                    if types == {"point"}:
                        joint = "distance"
                elif types <= {"planar", None}:
                    joint = self.one_of(PLANAR)
                elif "planar" in types:
                    joint = self.one_of(["spherical", "revolute", "universal", "distance", "cylindrical", "point_on_plane"])
                else:
                    joint = self.one_of(SPATIAL)
                self.joint(joint, parent, name)
            near = np.array(self.place(name))
        if bodies > 1 and self.chance(0.35):
            first, second = self.two_bodies()
            types = {self.model["bodies"][b]["type"] for b in (first, second) if b != "ground"}
            if "point" not in types and not (types == {"planar"}):
                self.joint(self.one_of(CLOSING), first, second, closing=True)
            elif "point" not in types:
                self.joint(self.one_of(["planar_point_on_line", "planar_revolute"]), first, second, closing=True)
        self.drives()
        for _ in range(int(self.random.integers(1, 5))):
            self.force()
        if self.chance_apart(0.3):
            self.two_point_force()
        if self.held:
            for name in self.model["bodies"]:
                self.model["forces"][f"support_{name}"] = self.bushing("ground", name, 8)
        self.start()
        self.model["simulation"] = {"end": 0.4, "step": 1e-3, "integrator": "rk67", "formulation": self.one_of(FORMULATIONS), "output_every": 100}
        used = set(re.findall(r"\bp\d+\b", str([self.model[section] for section in ("bodies", "joints", "forces", "states")])))
        self.model["parameters"] = {name: value for name, value in self.model["parameters"].items() if name in used}
        for section in ("parameters", "joints", "forces", "states", "sensors"):
            if not self.model[section]:
                del self.model[section]
        return self.model

    def start(self):
        """Checks the rank of the constraints and writes consistent velocities."""
        simulator = Simulator(self.model)
        state = simulator.initial()
        m = simulator.rows(simulator.motion(0.0, state))
        simulator._inverse_mass(m)
        rows, n = m.A.shape[-3], len(simulator.names)
        if rows:
            # Rows and columns made comparable: by the roots of the masses, then by their own size.
            flat = np.einsum("rbi,bij->rbj", m.A[0, :, :n], np.linalg.cholesky(m.inverse[0, :n]))
            flat = flat.reshape(rows, -1)
            size = np.linalg.svd(flat / np.linalg.norm(flat, axis=1)[:, None], compute_uv=False)
            turning = sum(3 for kind in simulator.kinds if kind == "point")
            if len(size) < rows or size[-1] < 0.05 or rows > 6 * n - turning - self.held:
                raise Locked
        if self.held:
            return
        if self.chance(0.7):
            state.v, state.w = self.random.normal(size=state.v.shape), 1.5 * self.random.normal(size=state.w.shape)
        for i, kind in enumerate(simulator.kinds):
            if kind == "point":
                state.w[0, i] = 0
        state = simulator.project(0.0, state)
        for i, (name, body) in enumerate(self.model["bodies"].items()):
            R, w = m.R[0, i], state.w[0, i]
            velocity = state.v[0, i] + np.cross(w, R @ simulator.reference[0, i])
            if body["type"] == "planar":
                body["velocity"], body["angular_velocity"] = velocity[:2].tolist(), float(w[2])
                continue
            if body["type"] != "rotating":
                body["velocity"] = velocity.tolist()
            if body["type"] != "point":
                if self.chance(0.5):
                    body["angular_velocity_inertial"] = w.tolist()
                else:
                    body["angular_velocity"] = (R.T @ w).tolist()


def mechanism(seed: int, held: bool = False) -> dict:
    """The random mechanism of a seed: the first of its attempts that can move."""
    for attempt in range(1000):
        generator = Generator([seed, attempt, int(held)], held)
        try:
            model = generator.make()
        except Locked:
            continue
        model["name"] = f"mechanism_{seed}"
        return model
    raise AssertionError("no mechanism that moves in a thousand attempts")


def with_sensors(model: dict) -> dict:
    """The model with a sensor for everything that is compared: QUANTITY_of_NAME."""
    model = {**model, "bodies": {name: body for name, body in model["bodies"].items() if name != "ground"}}  # which has shapes only
    sensors = dict(model.get("sensors", {}))
    sensors["energy"], sensors["kinetic"] = {"type": "energy"}, {"type": "energy", "part": "kinetic"}
    for name, body in model["bodies"].items():
        for quantity in ("position", "velocity", "acceleration", "orientation", "angular_velocity", "angular_acceleration"):
            if body["type"] != "point" or quantity in ("position", "velocity", "acceleration"):
                sensors[f"{quantity}_of_{name}"] = {"type": quantity, "of": name}
    for name, joint in model.get("joints", {}).items():
        for quantity in ("reaction_force", "reaction_torque"):
            sensors[f"{quantity}_of_{name}"] = {"type": quantity, "of": name}
        if joint["type"] in TURNED:
            sensors[f"joint_angle_of_{name}"] = {"type": "joint_angle", "of": name}
        if joint["type"] in DISPLACED:
            sensors[f"joint_displacement_of_{name}"] = {"type": "joint_displacement", "of": name}
    for name in model.get("states", {}):
        sensors[f"state_of_{name}"] = {"type": "state", "of": name}
    return model | {"sensors": sensors}

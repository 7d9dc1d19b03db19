"""A simulator of rigid mechanisms, written from Newton's and Euler's equations and independent of the engine.

Coordinates are absolute: the centre of mass x and a unit quaternion q of each body, the velocity v and the angular velocity w, all in
inertial axes. With the constraints differentiated twice (index 1),

    m a = F + F_c        J alpha = T - w x J w + T_c        (F_c, T_c) = A^T lambda        A (a, alpha) + gamma = 0

is solved for accelerations and multipliers. Time integration is Gauss collocation with many nodes: order 2s, all nodes at once by
fixed-point iteration, intervals halved until the Legendre coefficients of the accelerations have decayed to round-off. After each
interval positions and velocities are projected onto their constraints.

Arrays have the shape (..., variants, ...): several variants of a model (the same mechanism with other numbers) are simulated at once,
which is what differences with respect to parameters need. Leading dimensions are the nodes of the collocation.

A model is the content of a model file with bodies of the types rigid, rotating, point and planar.
"""

from __future__ import annotations

import numpy as np

from referee.expressions import Jet, evaluate
from referee.rotations import (
    axes_along, cross, dot, given_inertia, given_rotation, quaternion_exp, quaternion_of, rotation_of, rotation_vector, times, turn, turn_back, unit,
)


class State:
    """Positions, quaternions, velocities, angular velocities, wound-up angles of joints and first-order states."""

    __slots__ = ("x", "q", "v", "w", "angle", "s")

    def __init__(self, x, q, v, w, angle, s):
        self.x, self.q, self.v, self.w, self.angle, self.s = x, q, v, w, angle, s

    def parts(self):
        return [self.x, self.q, self.v, self.w, self.angle, self.s]

    def map(self, function):
        return State(*(function(part) for part in self.parts()))


class Joint:
    """Two bodies, a point and axes on each (in their own axes), and the rows that it has."""

    def __init__(self, kind, bodies, points, axes, **numbers):
        self.kind, self.bodies, self.points, self.axes = kind, bodies, points, axes
        self.numbers = numbers


# Places and turns that are held, by the names of the axes; turns about the axes of the first body.
HELD = {
    "spherical": ("xyz", ""), "revolute": ("xyz", "xy"), "prismatic": ("xy", "xyz"), "cylindrical": ("xy", "xy"), "planar": ("z", "xy"),
    "fixed": ("xyz", "xyz"), "point_on_line": ("xy", ""), "point_on_plane": ("z", ""), "screw": ("xy", "xy"),
    "planar_revolute": ("xy", ""), "planar_fixed": ("xy", "z"), "planar_prismatic": ("x", "y"), "planar_point_on_line": ("x", ""),
}
DISPLACED = ("prismatic", "cylindrical", "screw", "planar_prismatic")  # joints with a displacement along their axis
TURNED = ("revolute", "cylindrical", "screw", "planar_revolute")  # joints with an angle about it


class Motion:
    """Everything that follows from a state at a time: frames, then rows and forces, then accelerations."""


class Simulator:
    def __init__(self, *variants: dict):
        self.variants = variants
        self.count = len(variants)
        first = variants[0]
        self.parameters = self._parameters()
        self.names = list(first.get("bodies", {}))
        self.index = {name: i for i, name in enumerate(self.names)}
        self.index["ground"] = len(self.names)
        self.gravity = self._stack(lambda m, number: number(m.get("gravity", [0, 0, 0])))
        self._read_bodies()
        self._read_joints()
        self._read_forces()
        self.state_names = list(first.get("states", {}))
        self.start = self._stack(lambda m, number: number(m.get("simulation", {}).get("start", 0)))

    # ---- reading

    def _parameters(self):
        values: list[dict] = []
        for model in self.variants:
            found: dict = {}
            for name, value in model.get("parameters", {}).items():
                found[name] = float(evaluate(value, found)) if isinstance(value, str) else float(value)
            values.append(found)
        self._values = values
        return {name: np.array([found[name] for found in values]) for name in values[0]}

    def _number(self, variant):
        def number(value):
            if isinstance(value, (list, tuple)):
                return [number(item) for item in value]
            return float(evaluate(value, self._values[variant])) if isinstance(value, str) else float(value)

        return number

    def _stack(self, read):
        return np.stack([np.asarray(read(model, self._number(i)), dtype=float) for i, model in enumerate(self.variants)])

    def _field(self, section, name, key, default=None):
        return self._stack(lambda m, number: number(m[section][name].get(key, default)))

    def _function(self, section, name, key, default=0):
        """A number or a function of time: (variants,) numbers, or a text."""
        given = self.variants[0][section][name].get(key, default)
        return given if isinstance(given, str) else self._field(section, name, key, default)

    def _components(self, section, name, key):
        """A vector of numbers and functions of time."""
        given = self.variants[0][section][name][key]
        return [g if isinstance(g, str) else self._stack(lambda m, number: number(m[section][name][key][i])) for i, g in enumerate(given)]

    def _read_bodies(self):
        n, P = len(self.names), self.count
        self.kinds = [self.variants[0]["bodies"][name]["type"] for name in self.names]
        self.mass = np.zeros((P, n))
        self.inertia = np.zeros((P, n, 3, 3))
        self.reference = np.zeros((P, n + 1, 3))
        self.x0, self.R0 = np.zeros((P, n + 1, 3)), np.zeros((P, n + 1, 3, 3))
        self.v0, self.w0 = np.zeros((P, n + 1, 3)), np.zeros((P, n + 1, 3))
        self.R0[:, n] = np.eye(3)
        for p, model in enumerate(self.variants):
            number = self._number(p)
            for i, name in enumerate(self.names):
                body = model["bodies"][name]
                kind = body["type"]
                space = (lambda a: np.array(list(a) + [0.0])) if kind == "planar" else np.array
                zero = [0, 0] if kind == "planar" else [0, 0, 0]
                self.mass[p, i] = number(body["mass"])
                self.inertia[p, i] = np.eye(3) * self.mass[p, i] if kind == "point" else given_inertia(number(body["inertia"]))
                if kind == "planar":
                    R = rotation_of(quaternion_exp(np.array([0, 0, number(body.get("angle", 0))])))
                    w = np.array([0, 0, number(body.get("angular_velocity", 0))])
                else:
                    R = given_rotation(body.get("orientation"), number)
                    if "angular_velocity_inertial" in body:
                        w = np.array(number(body["angular_velocity_inertial"]))
                    else:
                        w = R @ np.array(number(body.get("angular_velocity", [0, 0, 0])))
                reference = space(number(body.get("reference", zero)))
                position = space(number(body.get("position", zero)))
                velocity = space(number(body.get("velocity", zero)))
                self.reference[p, i], self.R0[p, i], self.w0[p, i] = reference, R, w
                self.x0[p, i] = position - R @ reference
                self.v0[p, i] = velocity - np.cross(w, R @ reference)

    def _local(self, body, point):
        """A point of the initial configuration in the axes of a body, from its centre of mass."""
        return turn_back(self.R0[:, body], point - self.x0[:, body])

    def _space(self, value):
        return value if value.shape[-1] == 3 else np.concatenate([value, np.zeros(value.shape[:-1] + (1,))], axis=-1)

    def _attached(self, kind, bodies, at, axes, **numbers):
        return Joint(
            kind, bodies, [self._local(b, p) for b, p in zip(bodies, at)], [np.swapaxes(self.R0[:, b], -1, -2) @ axes for b in bodies], **numbers
        )

    def _read_joints(self):
        self.joints: dict[str, Joint] = {}
        ground = len(self.names)
        eye = np.broadcast_to(np.eye(3), (self.count, 3, 3))
        for i, kind in enumerate(self.kinds):  # what the kind of a body holds
            if kind == "planar":
                self.joints[f"plane of {self.names[i]}"] = self._attached("planar", (ground, i), [self.x0[:, i]] * 2, eye)
            if kind == "rotating":
                point = self.x0[:, i] + turn(self.R0[:, i], self.reference[:, i])
                self.joints[f"centre of {self.names[i]}"] = self._attached("spherical", (ground, i), [point] * 2, eye)
        for name, entry in self.variants[0].get("joints", {}).items():
            kind = entry["type"]

            def field(key, default=None):
                return self._field("joints", name, key, default)

            if kind in ("prescribed_motion", "prescribed_velocity"):
                key = "motion" if kind == "prescribed_motion" else "velocity"
                coordinate = self._coordinate(entry)
                self.joints[name] = Joint(kind, None, None, None, coordinate=coordinate, f=self._function("joints", name, key))
                continue
            if kind == "gear":
                both = [self._coordinate({"joint": joint}) for joint in entry["joints"]]
                self.joints[name] = Joint(kind, None, None, None, coordinates=both, ratio=field("ratio"))
                continue
            bodies = tuple(self.index[body] for body in entry["between"])
            if kind == "distance":
                points = [self._space(field("points")[:, k]) for k in (0, 1)]
                apart = points[1] - points[0]
                length = field("length") if "length" in entry else np.sqrt(dot(apart, apart))
                self.joints[name] = self._attached(kind, bodies, points, eye, length=length)
                continue
            at = self._space(field("center" if kind == "rolling_disc" else "at"))
            numbers = {}
            axes = eye
            if kind == "rolling_disc":
                axes = axes_along(self._space(field("normal")))
                numbers["axis"] = turn_back(self.R0[:, bodies[1]], unit(field("axis")))
                numbers["radius"] = field("radius")
            elif kind == "universal":
                first, second = unit(field("first_axis")), unit(field("second_axis"))
                numbers = {"first": turn_back(self.R0[:, bodies[0]], first), "second": turn_back(self.R0[:, bodies[1]], second), "cosine": dot(first, second)}
            elif kind == "generic":
                axes = self._stack(lambda m, number: given_rotation(m["joints"][name].get("orientation"), number))
                numbers["held"] = ("".join(k for k in "xyz" if k in entry["fixed"]), "".join(k for k in "xyz" if f"rotation_{k}" in entry["fixed"]))
            elif kind in ("planar_prismatic", "planar_point_on_line"):
                z = unit(self._space(field("axis")))
                y = np.broadcast_to(np.array([0.0, 0, 1]), z.shape)
                axes = np.stack([cross(y, z), y, z], axis=-1)
            elif "axis" in entry:
                axes = axes_along(self._space(field("axis")))
            if kind == "screw":
                numbers["pitch"] = field("pitch")
            self.joints[name] = self._attached(kind, bodies, [at, at], axes, **numbers)
        self.turning = [name for name, joint in self.joints.items() if joint.kind in TURNED]

    def _coordinate(self, entry):
        joint = self.joints[entry["joint"]]
        which = entry.get("coordinate", "auto")
        if which == "auto":
            which = "angle" if joint.kind in TURNED else "displacement"
        return entry["joint"], which

    def _read_forces(self):
        self.forces = []
        for name, entry in self.variants[0].get("forces", {}).items():
            kind, numbers = entry["type"], {}

            def field(key, default=None):
                return self._field("forces", name, key, default)

            if kind in ("force", "torque"):
                body = self.index[entry["on"]]
                numbers["components"] = self._components("forces", name, kind)
                numbers["turns"] = entry.get("axes", "inertial") == "body"
                numbers["body"] = body
                at = self._space(field("at")) if "at" in entry else self.x0[:, body]
                numbers["point"] = self._local(body, at)
            elif kind == "two_point_force":
                numbers["bodies"] = tuple(self.index[b] for b in entry["between"])
                points = [self._space(field("points")[:, k]) for k in (0, 1)]
                numbers["points"] = [self._local(b, p) for b, p in zip(numbers["bodies"], points)]
                numbers["force"] = self._function("forces", name, "force")
            elif kind == "spring_damper":
                numbers["bodies"] = tuple(self.index[b] for b in entry["between"])
                points = [self._space(field("points")[:, k]) for k in (0, 1)]
                numbers["points"] = [self._local(b, p) for b, p in zip(numbers["bodies"], points)]
                apart = points[1] - points[0]
                numbers["free"] = field("free_length") if "free_length" in entry else np.sqrt(dot(apart, apart))
                numbers["k"], numbers["c"] = field("stiffness", 0), field("damping", 0)
            elif kind == "bushing":
                numbers["bodies"] = tuple(self.index[b] for b in entry["between"])
                at = self._space(field("at"))
                numbers["points"] = [self._local(b, at) for b in numbers["bodies"]]
                axes = self._stack(lambda m, number: given_rotation(m["forces"][name].get("orientation"), number))
                numbers["axes"] = [np.swapaxes(self.R0[:, b], -1, -2) @ axes for b in numbers["bodies"]]
                for short, key in (("k", "stiffness"), ("c", "damping"), ("kr", "rotational_stiffness"), ("cr", "rotational_damping")):
                    numbers[short] = field(key, [0, 0, 0])
            elif kind == "joint_spring":
                numbers["coordinate"] = self._coordinate(entry)
                for short, key in (("k", "stiffness"), ("k3", "cubic_stiffness"), ("c", "damping"), ("free", "free")):
                    numbers[short] = field(key, 0)
            elif kind == "joint_actuator":
                numbers["coordinate"] = self._coordinate(entry)
                numbers["P"], numbers["D"], numbers["limit"] = field("proportional", 0), field("derivative", 0), field("limit", 0)
                numbers["target"], numbers["feed"] = self._function("forces", name, "target"), self._function("forces", name, "feed_forward")
            elif kind == "joint_friction":
                numbers["coordinate"] = self._coordinate(entry)
                numbers["lever"] = field("radius", 1) if numbers["coordinate"][1] == "angle" else np.ones(self.count)
                numbers["mu"] = field("coefficient")
                numbers["mu_s"] = field("static_coefficient") if "static_coefficient" in entry else numbers["mu"]
                numbers["per_length"] = 1 / field("length") if "length" in entry else np.zeros(self.count)
                numbers["smoothing"] = field("smoothing")
                numbers["stribeck"] = field("stribeck") if "stribeck" in entry else 10 * numbers["smoothing"]
            elif kind == "joint_effort":
                numbers["coordinate"] = self._coordinate(entry)
                numbers["effort"] = self._function("forces", name, "effort")
            else:
                raise ValueError(f"the referee knows no force of the type {kind}")
            self.forces.append((name, kind, numbers))

    # ---- the initial state

    def initial(self) -> State:
        s = [self._field("states", name, "initial", 0) for name in self.state_names]
        s = np.stack(s, axis=-1) if s else np.zeros((self.count, 0))
        return State(
            self.x0[:, :-1], quaternion_of(self.R0[:, :-1]), self.v0[:, :-1], self.w0[:, :-1], np.zeros((self.count, len(self.turning))), s
        )

    # ---- kinematics

    def motion(self, t, state: State) -> Motion:
        """Frames and velocities; the ground is the last body. t has the leading shape of the state."""
        m = Motion()
        shape = state.x.shape[:-2]
        m.t = np.broadcast_to(t, shape)
        m.state = state
        m.shape = shape
        ground = np.zeros(shape + (1, 3))
        m.x, m.v, m.w = (np.concatenate([part, ground], axis=-2) for part in (state.x, state.v, state.w))
        m.R = np.concatenate([rotation_of(state.q), np.broadcast_to(np.eye(3), shape + (1, 3, 3))], axis=-3)
        m.coordinates = {}
        return m

    def _point(self, m, body, local):
        """Arm from the centre of mass, point, velocity, and the centripetal part of its acceleration."""
        r = turn(m.R[..., body, :, :], local)
        w = m.w[..., body, :]
        wr = cross(w, r)
        return r, m.x[..., body, :] + r, m.v[..., body, :] + wr, cross(w, wr)

    def _frame(self, m, joint):
        """d = P2 - P1 with its rate, and the axes that both bodies carry, as lists of vectors."""
        if not hasattr(joint, "cached") or joint.cached[0] is not m:
            b1, b2 = joint.bodies
            r1, p1, v1, c1 = self._point(m, b1, joint.points[0])
            r2, p2, v2, c2 = self._point(m, b2, joint.points[1])
            E1 = m.R[..., b1, :, :] @ joint.axes[0]
            E2 = m.R[..., b2, :, :] @ joint.axes[1]
            first, second = ([E[..., :, k] for k in range(3)] for E in (E1, E2))
            joint.cached = (m, r1, r2, p2 - p1, v2 - v1, c2 - c1, first, second)
        return joint.cached[1:]

    def coordinate(self, m, which):
        """Value and rate of an angle or a displacement of a joint; gradient and bias of its second derivative.

        The gradient is a list of (body, force direction, torque about the centre of mass)."""
        if which not in m.coordinates:
            joint = self.joints[which[0]]
            b1, b2 = joint.bodies
            r1, r2, d, dv, dc, e1, e2 = self._frame(m, joint)
            w1, w2 = m.w[..., b1, :], m.w[..., b2, :]
            z = e1[2]
            if which[1] == "angle":
                wrapped = np.arctan2(dot(e1[1], e2[0]), dot(e1[0], e2[0]))
                wound = m.state.angle[..., self.turning.index(which[0])]
                value = wrapped + 2 * np.pi * np.round((wound - wrapped) / (2 * np.pi))
                rate = dot(z, w2 - w1)
                bias = dot(cross(w1, z), w2 - w1)
                zero = np.zeros_like(z)
                gradient = [(b1, zero, -z), (b2, zero, z)]
            else:
                value, rate, bias, gradient = self._along(m, joint, z)
            m.coordinates[which] = value, rate, gradient, bias
        return m.coordinates[which]

    def _along(self, m, joint, e):
        """e.d with e carried by the first body: value, rate, bias, gradient."""
        b1, b2 = joint.bodies
        r1, r2, d, dv, dc, _, _ = self._frame(m, joint)
        w1 = m.w[..., b1, :]
        we = cross(w1, e)
        value = dot(e, d)
        rate = dot(e, dv) + dot(we, d)
        bias = dot(e, dc) + 2 * dot(we, dv) + dot(cross(w1, we), d)
        return value, rate, bias, [(b1, -e, -cross(r1 + d, e)), (b2, e, cross(r2, e))]

    def _across(self, m, bodies, a, b):
        """a.b with a carried by the first body and b by the second."""
        w1, w2 = m.w[..., bodies[0], :], m.w[..., bodies[1], :]
        wa, wb = cross(w1, a), cross(w2, b)
        bias = dot(cross(w1, wa), b) + 2 * dot(wa, wb) + dot(a, cross(w2, wb))
        torque = cross(a, b)
        zero = np.zeros_like(a)
        return dot(a, b), dot(w1 - w2, torque), bias, [(bodies[0], zero, torque), (bodies[1], zero, -torque)]

    # ---- rows

    def rows(self, m):
        """m.A (rows, bodies with the ground, 6), m.gamma, m.phi (NaN for rows at velocity level), m.rate (of the rows: A u - b)."""
        rows = []
        m.span = {}

        def add(phi, rate, bias, gradient):
            rows.append((phi, rate, bias, gradient))

        for name, joint in self.joints.items():
            begin = len(rows)
            self._rows_of(m, joint, add)
            m.span[name] = slice(begin, len(rows))
        n = len(self.names)
        m.A = np.zeros(m.shape + (len(rows), n + 1, 6))
        m.gamma, m.phi, m.rate = (np.zeros(m.shape + (len(rows),)) for _ in range(3))
        for k, (phi, rate, bias, gradient) in enumerate(rows):
            for body, force, torque in gradient:
                m.A[..., k, body, :3] += force
                m.A[..., k, body, 3:] += torque
            m.phi[..., k], m.rate[..., k], m.gamma[..., k] = phi, rate, bias
        return m

    def _rows_of(self, m, joint, add):
        kind = joint.kind
        if kind in ("prescribed_motion", "prescribed_velocity"):
            value, rate, gradient, bias = self.coordinate(m, joint.numbers["coordinate"])
            f = self.time_function(joint.numbers["f"], m)
            if kind == "prescribed_motion":
                add(value - f.f, rate - f.d, bias - f.dd, gradient)
            else:
                add(np.nan, rate - f.f, bias - f.d, gradient)
            return
        if kind == "gear":
            (x1, v1, g1, b1), (x2, v2, g2, b2) = (self.coordinate(m, c) for c in joint.numbers["coordinates"])
            ratio = joint.numbers["ratio"]
            add(x1 - ratio * x2, v1 - ratio * v2, b1 - ratio * b2, g1 + _scaled(g2, -ratio))
            return
        b1, b2 = joint.bodies
        r1, r2, d, dv, dc, e1, e2 = self._frame(m, joint)
        w1, w2 = m.w[..., b1, :], m.w[..., b2, :]
        if kind == "distance":
            # |d| - L, with the unit vector u = d/|d|: |d|'' = u.d'' + (d'.d' - (u.d')^2)/|d|
            length = np.sqrt(dot(d, d))
            u = d / length[..., None]
            along = dot(u, dv)
            bias = dot(u, dc) + (dot(dv, dv) - along**2) / length
            add(length - joint.numbers["length"], along, bias, [(b1, -u, -cross(r1, u)), (b2, u, cross(r2, u))])
            return
        if kind == "rolling_disc":
            self._rolling(m, joint, add)
            return
        places, turns = joint.numbers["held"] if kind == "generic" else HELD.get(kind, ("xyz", ""))
        if places == "xyz" or kind == "planar_revolute":
            # Two points coincide: rows along inertial axes.
            for k in range(3 if places == "xyz" else 2):
                e = np.broadcast_to(np.eye(3)[k], d.shape)
                add(d[..., k], dv[..., k], dc[..., k], [(b1, -e, -cross(r1, e)), (b2, e, cross(r2, e))])
        else:
            for k in places:
                add(*self._along(m, joint, e1["xyz".index(k)]))
        if len(turns) == 2:
            free = next(k for k in range(3) if "xyz"[k] not in turns)
            for k in turns:
                add(*self._across(m, joint.bodies, e1["xyz".index(k)], e2[free]))
        else:
            for k in turns:
                i = "xyz".index(k)
                add(*self._across(m, joint.bodies, e1[(i + 1) % 3], e2[(i + 2) % 3]))
        if kind == "universal":
            a = turn(m.R[..., b1, :, :], joint.numbers["first"])
            b = turn(m.R[..., b2, :, :], joint.numbers["second"])
            value, rate, bias, gradient = self._across(m, joint.bodies, a, b)
            add(value - joint.numbers["cosine"], rate, bias, gradient)
        if kind == "screw":
            name = next(name for name, other in self.joints.items() if other is joint)
            (x, v, g, b), (angle, spin, h, c) = (self.coordinate(m, (name, which)) for which in ("displacement", "angle"))
            lead = joint.numbers["pitch"] / (2 * np.pi)
            add(x - lead * angle, v - lead * spin, b - lead * c, g + _scaled(h, -lead))

    def _rolling(self, m, joint, add):
        """The material points of disc and plane at the contact have the same velocity; the contact is also a row of positions.

        n normal, a axis, C centre: the lowest point of the rim is C - rho u, u = (n - a (a.n))/|.|. Its velocity as a point of the disc is
        v_C - w_2 x rho u, as a point of the plane v_1 + w_1 x (C - rho u - x_1)."""
        b1, b2 = joint.bodies
        r1, r2, d, dv, dc, e1, e2 = self._frame(m, joint)
        w1, w2 = m.w[..., b1, :], m.w[..., b2, :]
        rho = joint.numbers["radius"][..., None]
        n = e1[2]
        a = turn(m.R[..., b2, :, :], joint.numbers["axis"])
        an, dn, da = dot(a, n)[..., None], cross(w1, n), cross(w2, a)
        dan = (dot(da, n) + dot(a, dn))[..., None]
        h = n - a * an
        dh = dn - da * an - a * dan
        size = np.sqrt(dot(h, h))[..., None]
        u = h / size
        du = (dh - u * dot(u, dh)[..., None]) / size
        arm = r1 + d - rho * u  # from the centre of mass of the plane's body to the contact
        slip = dv + cross(w1, r1) - rho * cross(w2, u) - cross(w1, arm)  # dv is relative to P1 of the first body
        # Accelerations of both points without those of the bodies; the contact itself moves along.
        centre_2 = cross(w2, cross(w2, r2))
        arm_rate = dv + cross(w1, r1) - rho * du  # rate of `arm`: velocity of C minus v_1 minus rho u'
        bias = centre_2 - rho * cross(w2, du) - cross(w1, arm_rate)
        # The plane is where the disc touches it at first: rho |h| is the height of the centre above the contact.
        touching = joint.numbers.setdefault("height", None)
        height = dot(n, d) - joint.numbers["radius"] * size[..., 0]
        if touching is None:
            touching = joint.numbers["height"] = self._initial_height(joint)
        for k in (2, 0, 1):
            e = e1[k]
            phi = height - touching if k == 2 else np.nan
            gradient = [(b1, -e, -cross(arm, e)), (b2, e, cross(r2 - rho * u, e))]
            add(phi, dot(e, slip), dot(e, bias) + dot(cross(w1, e), slip), gradient)

    def _initial_height(self, joint):
        n = turn(self.R0[:, joint.bodies[0]], joint.axes[0][..., :, 2])
        a = turn(self.R0[:, joint.bodies[1]], joint.numbers["axis"])
        h = n - a * dot(a, n)[..., None]
        return -joint.numbers["radius"] * np.sqrt(dot(h, h))

    def time_function(self, f, m) -> Jet:
        if not isinstance(f, str):
            return Jet(np.broadcast_to(f, m.shape), 0.0, 0.0)
        found = evaluate(f, {**self.parameters, "t": Jet(m.t, 1.0, 0.0)})
        return found if isinstance(found, Jet) else Jet(np.broadcast_to(found, m.shape), 0.0, 0.0)

    # ---- forces

    def signal(self, m, name):
        """What an expression may use: time, parameters, states, sensors of coordinates and velocities."""
        if name == "t":
            return m.t
        if name in self.parameters:
            return self.parameters[name]
        if name in self.state_names:
            return m.state.s[..., self.state_names.index(name)]
        entry = self.variants[0]["sensors"][name]
        kind, of = entry["type"], entry["of"]
        if kind == "state":
            return m.state.s[..., self.state_names.index(of)]
        if kind.startswith("joint_"):
            which = "angle" if "angle" in kind else "displacement"
            return self.coordinate(m, (of, which))[1 if kind.endswith("_rate") else 0]
        body = self.index[of]
        if kind == "angular_velocity":
            w = m.w[..., body, :]
            return _Components(w if entry.get("axes", "body") == "inertial" else turn_back(m.R[..., body, :, :], w))
        point = self._local(body, self._space(self._field("sensors", name, "at"))) if "at" in entry else self.reference[:, body]
        _, place, velocity, _ = self._point(m, body, point)
        return _Components({"position": place, "velocity": velocity}[kind])

    def expression(self, m, text):
        if not isinstance(text, str):
            return np.broadcast_to(text, m.shape)
        return np.broadcast_to(evaluate(text, _Signals(self, m)), m.shape)

    def apply_forces(self, m):
        """m.F (..., bodies, 6): applied forces and torques about the centres of mass; m.potential; m.rubbing."""
        n = len(self.names)
        m.F = np.zeros(m.shape + (n + 1, 6))
        m.F[..., :n, :3] = self.mass[..., None] * self.gravity[:, None, :]
        m.potential = -np.einsum("pn,pk,...pnk->...p", self.mass, self.gravity, m.x[..., :n, :])
        m.rubbing = []

        def push(body, arm, force):
            m.F[..., body, :3] += force
            m.F[..., body, 3:] += cross(arm, force)

        def in_joint(coordinate, effort):
            for body, force, torque in self.coordinate(m, coordinate)[2]:
                m.F[..., body, :3] += effort[..., None] * force
                m.F[..., body, 3:] += effort[..., None] * torque

        for name, kind, f in self.forces:
            if kind in ("force", "torque"):
                parts = [self.time_function(c, m).f for c in f["components"]]
                value = np.stack([np.broadcast_to(part, m.shape) for part in parts], axis=-1)
                R = m.R[..., f["body"], :, :]
                if f["turns"]:
                    value = turn(R, value)
                if kind == "force":
                    push(f["body"], turn(R, f["point"]), value)
                else:
                    m.F[..., f["body"], 3:] += value
            elif kind == "two_point_force":
                (b1, b2), (s1, s2) = f["bodies"], f["points"]
                r1, p1, _, _ = self._point(m, b1, s1)
                r2, p2, _, _ = self._point(m, b2, s2)
                d = p2 - p1
                force = np.broadcast_to(self.time_function(f["force"], m).f, m.shape)
                pull = (force / np.sqrt(dot(d, d)))[..., None] * d
                push(b1, r1, pull)
                push(b2, r2, -pull)
            elif kind == "spring_damper":
                (b1, b2), (s1, s2) = f["bodies"], f["points"]
                r1, p1, v1, _ = self._point(m, b1, s1)
                r2, p2, v2, _ = self._point(m, b2, s2)
                d = p2 - p1
                length = np.sqrt(dot(d, d))
                u = d / length[..., None]
                tension = f["k"] * (length - f["free"]) + f["c"] * dot(u, v2 - v1)
                m.potential = m.potential + f["k"] * (length - f["free"]) ** 2 / 2
                push(b1, r1, tension[..., None] * u)
                push(b2, r2, -tension[..., None] * u)
            elif kind == "bushing":
                self._bushing(m, f, push)
            elif kind == "joint_spring":
                x, v, _, _ = self.coordinate(m, f["coordinate"])
                e = x - f["free"]
                m.potential = m.potential + f["k"] * e**2 / 2 + f["k3"] * e**4 / 4
                in_joint(f["coordinate"], -(f["k"] * e + f["k3"] * e**3 + f["c"] * v))
            elif kind == "joint_actuator":
                x, v, _, _ = self.coordinate(m, f["coordinate"])
                target = self.time_function(f["target"], m)
                effort = f["P"] * (target.f - x) + f["D"] * (target.d - v) + self.time_function(f["feed"], m).f
                limit = np.where(f["limit"] > 0, f["limit"], np.inf)
                in_joint(f["coordinate"], np.clip(effort, -limit, limit))
            elif kind == "joint_effort":
                in_joint(f["coordinate"], self.expression(m, f["effort"]))
            elif kind == "joint_friction":
                m.rubbing.append(f)
        m.state_rates = self._state_rates(m)
        return m

    def _bushing(self, m, f, push):
        """Springs along and about axes of the first body; the moment of the potential theta.K theta/2 of the rotation vector."""
        (b1, b2), (s1, s2) = f["bodies"], f["points"]
        r1, p1, v1, _ = self._point(m, b1, s1)
        r2, p2, v2, _ = self._point(m, b2, s2)
        E1, E2 = m.R[..., b1, :, :] @ f["axes"][0], m.R[..., b2, :, :] @ f["axes"][1]
        w1, w2 = m.w[..., b1, :], m.w[..., b2, :]
        d = p2 - p1
        along = turn_back(E1, d)
        rate = turn_back(E1, v2 - v1 - cross(w1, d))  # as seen from the first body
        force = turn(E1, f["k"] * along + f["c"] * rate)
        theta = rotation_vector(np.swapaxes(E1, -1, -2) @ E2)
        # theta' = n/2-terms: d theta = (1 - theta~/2 + c theta~^2) n for turns n in the first body's axes, and M is the transpose of that.
        angle2 = dot(theta, theta)[..., None]
        half = np.sqrt(angle2) / 2
        small = angle2 < 1e-4
        safe = np.where(small, 1.0, angle2)
        c = np.where(small, 1 / 12 + angle2 / 720 + angle2**2 / 30240, (1 - half / np.tan(np.where(small, 1.0, half))) / safe)
        g = f["kr"] * theta
        tg = cross(theta, g)
        moment = turn(E1, g + tg / 2 + c * cross(theta, tg) + f["cr"] * turn_back(E1, w2 - w1))
        m.potential = m.potential + (dot(f["k"] * along, along) + dot(g, theta)) / 2
        push(b1, r1 + d, force)
        push(b2, r2, -force)
        m.F[..., b1, 3:] += moment
        m.F[..., b2, 3:] -= moment

    def _state_rates(self, m):
        rates = np.zeros(m.shape + (len(self.state_names),))
        for i, name in enumerate(self.state_names):
            entry = self.variants[0]["states"][name]
            key = "rate" if entry["type"] == "expression" else "input"
            value = self.expression(m, self._function("states", name, key))
            if entry["type"] == "filter":
                value = (value - m.state.s[..., i]) / self._field("states", name, "time_constant")
            rates[..., i] = value
        return rates

    # ---- accelerations

    def _inverse_mass(self, m):
        n = len(self.names)
        R = m.R[..., :n, :, :]
        J = R @ self.inertia @ np.swapaxes(R, -1, -2)
        m.inertia = J
        inverse = np.zeros(m.shape + (n + 1, 6, 6))
        for k in range(3):
            inverse[..., :n, k, k] = 1 / self.mass
        inverse[..., :n, 3:, 3:] = np.linalg.inv(J)
        m.inverse = inverse

    def solve(self, t, state: State) -> Motion:
        """Accelerations m.a (..., bodies, 6) and multipliers m.multipliers of a state."""
        m = self.apply_forces(self.rows(self.motion(t, state)))
        n = len(self.names)
        self._inverse_mass(m)
        w = m.w[..., :n, :]
        Jw = turn(m.inertia, w)
        m.kinetic = (np.einsum("pn,...pni,...pni->...p", self.mass, m.v[..., :n, :], m.v[..., :n, :]) + dot(w, Jw).sum(-1)) / 2
        force = m.F.copy()
        force[..., :n, 3:] -= cross(w, Jw)
        free = turn(m.inverse, force)
        rows = m.A.shape[-3]
        if rows:
            flat = m.A.reshape(m.shape + (rows, 6 * (n + 1)))
            AM = np.einsum("...rbi,...bij->...rbj", m.A, m.inverse).reshape(flat.shape)
            m.S = AM @ np.swapaxes(flat, -1, -2)
            right = [-(np.einsum("...ri,...i->...r", flat, free.reshape(m.shape + (-1,))) + m.gamma)]
            for f in m.rubbing:
                unit = np.zeros(m.shape + (n + 1, 6))
                for body, push, twist in self.coordinate(m, f["coordinate"])[2]:
                    unit[..., body, :3] += push
                    unit[..., body, 3:] += twist
                f["unit"] = unit
                right.append(-np.einsum("...ri,...i->...r", AM, unit.reshape(m.shape + (-1,))))
            solved = np.linalg.solve(m.S, np.stack(right, axis=-1))
            m.multipliers = self._with_friction(m, solved)
            free = free + np.einsum("...ri,...r->...i", AM, m.multipliers).reshape(free.shape)
            for f in m.rubbing:
                free = free + turn(m.inverse, f["unit"]) * f["friction"][..., None, None]
        else:
            m.multipliers = np.zeros(m.shape + (0,))
        m.a = free
        return m

    def _with_friction(self, m, solved):
        """lambda = lambda_0 + sum_k g_k f_k(lambda): the load of a bearing is what its joint transmits."""
        found = solved[..., 0]
        if not m.rubbing:
            return found
        for iteration in range(200):
            before = found
            found = solved[..., 0]
            for k, f in enumerate(m.rubbing):
                force, torque = self.reaction(m, f["coordinate"][0], before)
                rate = self.coordinate(m, f["coordinate"])[1]
                load = np.sqrt(dot(force, force)) + f["per_length"] * np.sqrt(dot(torque, torque))
                mu = f["mu"] + (f["mu_s"] - f["mu"]) * np.exp(-((rate / f["stribeck"]) ** 2))
                f["friction"] = -f["lever"] * load * mu * rate / np.sqrt(rate**2 + f["smoothing"] ** 2)
                found = found + solved[..., 1 + k] * f["friction"][..., None]
            if np.max(np.abs(found - before)) < 1e-14 * (1 + np.max(np.abs(found))):
                break
        return found

    def reaction(self, m, name, multipliers=None):
        """Force and torque on the second body at the joint's point of that body, inertial axes."""
        multipliers = m.multipliers if multipliers is None else multipliers
        joint = self.joints[name]
        span = m.span[name]
        if joint.kind == "gear":  # on the second body of its second joint
            which = joint.numbers["coordinates"][1]
            gradient = _scaled(self.coordinate(m, which)[2], -joint.numbers["ratio"])[1]
            body, force, torque = gradient[0], gradient[1] * multipliers[..., span], gradient[2] * multipliers[..., span]
            at = self.joints[which[0]]
        else:
            at = self.joints[joint.numbers["coordinate"][0]] if joint.bodies is None else joint
            body = at.bodies[1]
            wrench = np.einsum("...rj,...r->...j", m.A[..., span, body, :], multipliers[..., span])
            force, torque = wrench[..., :3], wrench[..., 3:]
        r2 = self._frame(m, at)[1]
        return force, torque - cross(r2, force)

    # ---- integration

    def project(self, t, state: State) -> State:
        """Onto the constraints of positions, then of velocities; least change in the norm of the masses."""
        n = len(self.names)
        for iteration in range(4):
            m = self.rows(self.motion(t, state))
            held = ~np.isnan(m.phi).any(axis=tuple(range(m.phi.ndim - 1)))
            if not held.any() or np.max(np.abs(m.phi[..., held])) < 1e-15 * (1 + np.max(np.abs(state.x))):
                break
            self._inverse_mass(m)
            change = self._least(m, m.A[..., held, :, :], m.phi[..., held])
            state = State(
                state.x - change[..., :n, :3], times(quaternion_exp(-change[..., :n, 3:]), state.q), state.v, state.w, state.angle, state.s
            )
        m = self.rows(self.motion(t, state))
        if m.A.shape[-3]:
            self._inverse_mass(m)
            change = self._least(m, m.A, m.rate)
            state = State(state.x, state.q, state.v - change[..., :n, :3], state.w - change[..., :n, 3:], state.angle, state.s)
        q = state.q / np.sqrt(dot(state.q, state.q))[..., None]
        return State(state.x, q, state.v, state.w, self._angles(m), state.s)

    def _least(self, m, A, violation):
        rows = A.shape[-3]
        flat = A.reshape(m.shape + (rows, -1))
        AM = np.einsum("...rbi,...bij->...rbj", A, m.inverse).reshape(flat.shape)
        mu = np.linalg.solve(AM @ np.swapaxes(flat, -1, -2), violation[..., None])
        return (np.swapaxes(AM, -1, -2) @ mu)[..., 0].reshape(m.shape + A.shape[-2:])

    def _angles(self, m):
        if not self.turning:
            return m.state.angle
        return np.stack([self.coordinate(m, (name, "angle"))[0] for name in self.turning], axis=-1)

    def _angle_rates(self, m):
        if not self.turning:
            return np.zeros_like(m.state.angle)
        return np.stack([self.coordinate(m, (name, "angle"))[1] for name in self.turning], axis=-1)

    def advance(self, t0, state: State, h, nodes=14):
        """One interval of Gauss collocation; None if the interval is too long for round-off accuracy."""
        c, integrate, weights, legendre = collocation(nodes)
        n = len(self.names)

        def over(matrix, values):
            return h * np.tensordot(matrix, values, axes=(1, 0))

        def spread(value):
            return np.broadcast_to(value, (nodes,) + value.shape)

        t = (t0 + h * c)[:, None]
        now = state.map(spread)
        last = np.inf
        for iteration in range(60):
            m = self.solve(t, now)
            a = m.a[..., :n, :]
            v = state.v + over(integrate, a[..., :3])
            w = state.w + over(integrate, a[..., 3:])
            spin = np.concatenate([np.zeros(w.shape[:-1] + (1,)), w], axis=-1)
            x = state.x + over(integrate, v)
            q = state.q + over(integrate, times(spin, now.q) / 2)
            s = state.s + over(integrate, m.state_rates)
            angle = state.angle + over(integrate, self._angle_rates(m))
            new = State(x, q, v, w, angle, s)
            change = max(_largest(p - o) / (1 + _largest(p)) for p, o in zip(new.parts(), now.parts()))
            now = new
            if not change < 1e3 or (iteration > 12 and change > last):
                if change < 1e-12:
                    break
                return None
            if change < 4e-15:
                break
            last = max(change, 2e-15)
        else:
            return None
        m = self.solve(t, now)
        a = m.a[..., :n, :]
        tail = np.tensordot(legendre, a, axes=(1, 0))
        if _largest(tail[-2:]) > 1e-10 * (1 + _largest(tail)):
            return None
        spin = np.concatenate([np.zeros(now.w.shape[:-1] + (1,)), now.w], axis=-1)

        def total(values):
            return h * np.tensordot(weights, values, axes=(0, 0))

        end = State(
            state.x + total(now.v), state.q + total(times(spin, now.q) / 2), state.v + total(a[..., :3]), state.w + total(a[..., 3:]),
            state.angle + total(self._angle_rates(m)), state.s + total(m.state_rates),
        )
        return self.project(t0 + h, end)

    def run(self, moments, state: State | None = None, longest=0.1, shortest=2e-3):
        """The motion at increasing times; the first is the time of the state."""
        state = self.initial() if state is None else state
        t, h = moments[0], longest
        out = [self.solve(t, state)]
        for moment in moments[1:]:
            parts = max(1, int(np.ceil((moment - t) / h - 1e-9)))
            while t < moment - 1e-12:
                h = (moment - t) / parts
                new = self.advance(t, state, h)
                if new is None:
                    parts *= 2
                    if h < shortest:
                        raise ArithmeticError(f"the referee's intervals fell to {h:g} at t = {t:g}")
                    continue
                parts -= 1
                t = t + h if parts else moment
                state = new
            out.append(self.solve(t, state))
        self.last = state
        return out

    # ---- what is compared

    def outputs(self, m) -> dict[str, np.ndarray]:
        """Sensors of the engine, by the names that `mechanisms.with_sensors` gives them."""
        out = {"energy": m.kinetic + m.potential, "kinetic": m.kinetic}
        for i, name in enumerate(self.names):
            R, w, alpha = m.R[..., i, :, :], m.w[..., i, :], m.a[..., i, 3:]
            r = turn(R, self.reference[:, i])
            wr = cross(w, r)
            out[f"position_of_{name}"] = m.x[..., i, :] + r
            out[f"velocity_of_{name}"] = m.v[..., i, :] + wr
            out[f"acceleration_of_{name}"] = m.a[..., i, :3] + cross(alpha, r) + cross(w, wr)
            if self.kinds[i] == "point":
                continue
            out[f"orientation_of_{name}"] = R
            out[f"angular_velocity_of_{name}"] = turn_back(R, w)
            out[f"angular_acceleration_of_{name}"] = turn_back(R, alpha)
        for name, joint in self.joints.items():
            if " of " in name:
                continue
            out[f"reaction_force_of_{name}"], out[f"reaction_torque_of_{name}"] = self.reaction(m, name)
            if joint.kind in TURNED:
                out[f"joint_angle_of_{name}"] = self.coordinate(m, (name, "angle"))[0]
            if joint.kind in DISPLACED:
                out[f"joint_displacement_of_{name}"] = self.coordinate(m, (name, "displacement"))[0]
        for i, name in enumerate(self.state_names):
            out[f"state_of_{name}"] = m.state.s[..., i]
        return out

    # ---- linearisation

    def eigenvalues(self, t, state: State, step=1e-3):
        """Of the motion near an equilibrium: differences of the accelerations along the motions that the constraints allow.

        Coordinates: xi = N^T (displacements and turns), zeta = N'^T (velocities), first-order states. N: positions, N': velocities (fewer
        with rows at velocity level)."""
        n = len(self.names)
        m = self.rows(self.motion(t, state))
        held = ~np.isnan(m.phi[0])
        flat = m.A[0, :, :n, :].reshape(len(held), 6 * n)
        N, V = _null_space(flat[held]), _null_space(flat)
        points = [i for i, kind in enumerate(self.kinds) if kind == "point"]
        if points:  # a point does not turn
            N, V = (_null_space(np.vstack([rows, np.eye(6 * n)[[6 * i + k for i in points for k in (3, 4, 5)]]])) for rows in (flat[held], flat))
        sizes = (N.shape[1], V.shape[1], len(self.state_names))
        total = sum(sizes)
        steps = step * np.array([1.0, -1.0, 2.0, -2.0])
        sign = np.array([8.0, -8.0, -1.0, 1.0]) / 12 / step
        D = np.einsum("k,ij->kij", steps, np.eye(total)).reshape(4 * total, 1, total)
        y = D[..., : sizes[0]] @ N.T
        y = y.reshape(-1, 1, n, 6)
        u = (D[..., sizes[0] : sizes[0] + sizes[1]] @ V.T).reshape(-1, 1, n, 6)
        moved = State(
            state.x + y[..., :3], times(quaternion_exp(y[..., 3:]), state.q), state.v + u[..., :3], state.w + u[..., 3:],
            np.broadcast_to(state.angle, y.shape[:2] + state.angle.shape[1:]), state.s + D[..., sizes[0] + sizes[1] :],
        )
        moved = self.project(t, moved)
        found = self.solve(t, moved)
        u = np.concatenate([moved.v, moved.w], axis=-1).reshape(-1, 6 * n)
        a = found.a[..., :n, :].reshape(-1, 6 * n)
        f = np.concatenate([u @ N, a @ V, found.state_rates.reshape(4 * total, sizes[2])], axis=-1).reshape(4, total, total)
        A = np.einsum("k,kji->ij", sign, f)
        return np.linalg.eigvals(A)


def _largest(values):
    return np.max(np.abs(values)) if values.size else 0.0


def _scaled(gradient, factor):
    factor = np.asarray(factor)[..., None]
    return [(body, factor * force, factor * torque) for body, force, torque in gradient]


def _null_space(A):
    if not len(A):
        return np.eye(A.shape[1])
    _, s, V = np.linalg.svd(A)
    return V[int(np.sum(s > 1e-9 * s[0])) :].T


class _Components:
    """Components of a vector by index, in expressions."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return self.values[..., i]


class _Signals:
    def __init__(self, simulator, m):
        self.simulator, self.m = simulator, m

    def __getitem__(self, name):
        return self.simulator.signal(self.m, name)


_tables: dict = {}


def collocation(nodes):
    """Gauss nodes in [0, 1], the matrix of integrals up to each node, the weights, and the matrix to Legendre coefficients."""
    if nodes not in _tables:
        x, weights = np.polynomial.legendre.leggauss(nodes)
        P = np.polynomial.legendre.legvander(x, nodes - 1)
        degrees = np.arange(nodes)
        to_coefficients = (P * weights[:, None]).T * ((2 * degrees + 1) / 2)[:, None]
        # The integral of P_k from -1 is (P_k+1 - P_k-1)/(2 k + 1), that of P_0 is x + 1.
        longer = np.polynomial.legendre.legvander(x, nodes)
        integral = np.empty((nodes, nodes))
        integral[:, 0] = x + 1
        for k in range(1, nodes):
            integral[:, k] = (longer[:, k + 1] - longer[:, k - 1]) / (2 * k + 1)
        _tables[nodes] = (x + 1) / 2, integral @ to_coefficients / 2, weights / 2, to_coefficients
    return _tables[nodes]

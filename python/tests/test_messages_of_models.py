"""Messages about models, numbers, integrators and starts: one small mistake each, and the whole text that the user reads."""

import itertools
import os
import re
import subprocess

import numpy as np
import pytest

import liedyn as ld

POINT = {"type": "point", "mass": 1}
RIGID = {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}
BEAM = {"type": "circle", "from": [0, 0, 0], "to": [1, 0, 0], "elements": 2, "young": 2e11, "density": 7800, "radius": 0.01}
CYLINDER = {
    **{"type": "hydraulic_cylinder", "between": ["ground", "a"], "points": [[0, 0, 0], [2, 0, 0]], "area_a": 1e-3, "area_b": 1e-3},
    **{"dead_volume_a": 1e-4, "dead_volume_b": 1e-4, "stroke": 0.5, "retracted": 1, "bulk_modulus": 1e9, "rated_flow": 1e-3, "supply_pressure": 1e7},
}
MATRICES = {"type": "matrices", "mass_matrix": np.eye(3), "stiffness_matrix": np.eye(3), "nodes": np.zeros((1, 3))}
ROWS = ["position x", "position y", "position z", "rotation about joint x", "rotation about joint y", "rotation about joint z"]
BRICK = {"type": "brick", "size": [1, 0.1, 0.1], "divisions": [2, 1, 1], "young": 1e9, "density": 1000}


def model(**sections) -> dict:
    return {"liedyn": 1, "bodies": {"a": POINT}, "simulation": {"end": 0.01, "step": 1e-3}} | sections


def hinge(first="ground", second="a", **fields) -> dict:
    return {"type": "revolute", "between": [first, second], "at": [0, 0, 0], "axis": [0, 0, 1]} | fields


def event(target: str) -> dict:
    return {"sensors": {"v": {"type": "velocity", "of": "a"}}, "events": {"e": {"when": "t > 1", "set": target}}}


def in_joint(joint: dict, **force) -> dict:
    return {"bodies": {"a": RIGID}, "joints": {"j": {"between": ["ground", "a"], "at": [0, 0, 0]} | joint}, "forces": {"f": {"joint": "j"} | force}}


def effort(coordinate: str) -> dict:
    return in_joint({"type": "spherical"}, type="joint_effort", coordinate=coordinate, effort=1)


def belt(first: float, second: float) -> dict:
    return {"type": "belt", "joints": ["j1", "j2"], "first_radius": first, "second_radius": second, "stiffness": 1e4}


def two_shafts(f=None, m=None, second=None) -> dict:
    """Wheels 1 m apart in hinges j1 and j2, with a force f and a joint m."""
    joints = {"j1": hinge(), "j2": second or hinge("ground", "b", at=[1, 0, 0])} | ({"m": m} if m else {})
    return {"bodies": {"a": RIGID, "b": RIGID | {"position": [1, 0, 0]}}, "joints": joints, "forces": {"f": f} if f else {}}


def on_floor(**contact) -> dict:
    floor = {"type": "contact_plane_sphere", "between": ["ground", "a"], "points": [[0, 0, 0], [0, 0, 1]], "normal": [0, 0, 1], "radius": 0.1, "stiffness": 1e5}
    return {"bodies": {"a": RIGID | {"position": [0, 0, 1]}}, "forces": {"f": floor | contact}}


def alpha(options: str, **others):
    return lambda: ld.run("heavy_top", integrator="generalized-alpha," + options, **others)


def falling_from_a_joint() -> dict:
    """Released at once, and engaged after a fall of 8 t^2/2 = 1/16 m."""
    joint = {"type": "spherical", "between": ["ground", "a"], "at": [0, 0, 0]}
    events = {"loose": {"value": 0, "into": "joints.j", "every": 10}, "taut": {"when": "t > 0.125", "set": "joints.j = 1"}}
    return model(gravity=[8, 0, 0], bodies={"a": RIGID}, joints={"j": joint}, events=events, simulation={"end": 1, "step": 1 / 64})


def massless_between_joints() -> dict:
    """Between the joint that is released and the one that is engaged nothing supports it."""
    joints = {name: {"type": kind, "between": ["ground", "a"], "at": [0, 0, 0]} for name, kind in (("j1", "fixed"), ("j2", "spherical"))}
    events = {"loose": {"when": "t - 0.002", "set": "joints.j2 = 0"}, "change": {"when": "t - 0.005", "set": "joints.j1 = 0; joints.j2 = 1"}}
    return model(bodies={"a": RIGID | {"mass": 0, "inertia": [0, 0, 0]}}, joints=joints, events=events)


def turning_arm() -> dict:
    """By 3 rad in a step of 0.5 s, from (1, 0): rk44 comes to x = 1 - 6^2 0.5^2/6 (1 + 2 cos 1.5) instead of cos 3, 0.278 m beside."""
    joint = {"type": "spherical", "between": ["ground", "a"], "at": [0, 0, 0]}
    return model(bodies={"a": RIGID | {"position": [1, 0, 0], "velocity": [0, 6, 0], "angular_velocity": [0, 0, 6]}}, joints={"j": joint})


def bead_on_an_arm() -> dict:
    """It slides on a weightless arm through its hinge, where nothing resists the turn any more."""
    bodies = {"arm": RIGID | {"mass": 0, "inertia": [0, 0, 0]}, "bead": RIGID | {"inertia": [0, 0, 0], "position": [0.5, 0, 0], "velocity": [-1, 0, 0]}}
    return model(bodies=bodies, joints={"turn": hinge("ground", "arm"), "slide": hinge("arm", "bead", axis=[1, 0, 0]) | {"type": "prismatic"}})


def parallelogram(angle: float) -> dict:
    """Cranks of 1 m that turn by 1 rad/s, coupler and ground of 2 m: singular at the angle 0."""
    c, s = np.cos(angle), np.sin(angle)
    bar = {"type": "planar", "mass": 1, "inertia": 0.1}
    crank = bar | {"velocity": [-s / 2, c / 2], "angular_velocity": 1}
    bodies = {
        "left": crank | {"position": [c / 2, s / 2]},
        "right": crank | {"position": [2 + c / 2, s / 2]},
        "coupler": bar | {"position": [1 + c, s], "velocity": [-s, c]},
    }
    pins = {"A": ("ground", "left", 0, 0), "D": ("ground", "right", 2, 0), "B": ("left", "coupler", c, s), "C": ("right", "coupler", 2 + c, s)}
    return model(bodies=bodies, joints={name: {"type": "planar_revolute", "between": [one, two], "at": [x, y]} for name, (one, two, x, y) in pins.items()})


def truss(count=6, joined=None):
    """Springs between all of the first `joined` of so many nodes: mass matrix, stiffness matrix, nodes."""
    k = np.arange(count)
    nodes = np.stack([np.cos(k), np.sin(k), np.cos(2.3 * k)], axis=1) * (1 + 0.01 * k[:, None])
    stiffness = np.zeros((3 * count, 3 * count))
    for i, j in itertools.combinations(range(joined or count), 2):
        along = (nodes[j] - nodes[i]) / np.linalg.norm(nodes[j] - nodes[i])
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            stiffness[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += 1000 * sign * np.outer(along, along)
    return np.eye(3 * count), stiffness, nodes


def flexible(count=6, joined=None, massive=None, interface=None, sensors=None, **fields) -> dict:
    """A body of matrices, of whose nodes the first `massive` have mass."""
    mass, stiffness, nodes = truss(count, joined)
    mass[3 * (massive or count) :] = 0
    body = {"type": "matrices", "method": "free", "mass_matrix": mass, "stiffness_matrix": stiffness, "nodes": nodes}
    parts = {"f": body | fields} | ({"i": {"type": "interface", "of": "f"} | interface} if interface else {})
    return {"bodies": {}, "flexible": parts, "sensors": sensors or {}}


STRESS = {"s": {"type": "stress", "of": "f", "at": [0, 0, 0]}}
NO_STRESS = "flexible.f: has no stresses for a sensor: expected a brick or a mesh of solid elements"
LOOSE = "flexible.f: consists of several pieces, or has internal motions without stiffness"
CARRIER = "expected joints with the same first body, got 'j1' on 'ground' and 'j2' on 'a' (hint: give the carrier (a housing, an arm, ground) first in `between` of both joints)"
NO_SMOOTHING = 'forces.{}: smoothing: missing: the slip below which the torque falls to 0 (hint: choose it well below the slip of interest, or use "law": "stick")'
NOWHERE = """is given in inertial axes, but the {0} of 'h' is "consistent": the position of this point on 'h' is unknown (hint: give a guess, "{0}": {{"consistent": ...}})"""
COORDINATES = (
    " (hint: revolute, cylindrical, planar, screw and planar_revolute joints have an angle,"
    " prismatic, cylindrical, point_on_line, screw, planar_prismatic and planar_point_on_line joints a displacement)"
)
RIDES = "bodies.{0}.on: '{0}' is attached to itself, or through a chain of more than 100 bodies (hint: one of them must have degrees of freedom of its own, or be attached to ground)"
VELOCITY_HINT = ' (hint: correct them, mark a velocity or angular_velocity as "consistent", or run with --initial project)'
POSITION_HINT = (
    " (hint: correct them, run with --initial project, or let assembly move a body from where it is,"
    ' "position": {"consistent": [...]}, and likewise its orientation)'
)
ALL_ROWS = [f"joints.j{name}: {row}: the initial velocities violate this constraint by -{by}" for name in "abcd" for row, by in zip(ROWS, (1, 2, 3, 4, 5, 6))]

# What is wrong with a model: the whole text, and the sections that are so.
MODELS = [
    # events
    ("events.e.set: 'v' has 3 components, got 'sensors.v' (hint: write one of sensors.v[0] to sensors.v[2])", event("sensors.v = 0")),
    ("events.e.set: 'v' has 3 components, got 'sensors.v[3]' (hint: write one of sensors.v[0] to sensors.v[2])", event("sensors.v[3] = 0")),
    ("events.e.set: expected a component such as sensors.speed[2], got 'sensors.v[x]'", event("sensors.v[x] = 1")),
    ("events.e.set: expected 'target = expression', got nothing (hint: leave `set` out)", event(" ")),
    ("events.e.set: expected 'target = expression', several separated by semicolons, got 'u'", event("u")),
    # joints that others name
    ("forces.f.joint: expected a joint with a coordinate, got 'j' of type spherical" + COORDINATES, effort("auto")),
    ("forces.f.joint: expected a joint with an angle about its axis, got 'j' of type spherical" + COORDINATES, effort("angle")),
    ("forces.f.joint: expected a joint with a displacement along its axis, got 'j' of type spherical" + COORDINATES, effort("displacement")),
    (
        "forces.f: joint_friction supports only revolute, prismatic and cylindrical joints, got 'j' of type screw",
        in_joint({"type": "screw", "axis": [0, 0, 1], "pitch": 0.1}, type="joint_friction", coefficient=0.1, smoothing=0.1),
    ),
    ("joints.m: joints: " + CARRIER, two_shafts(second=hinge("a", "b", at=[1, 0, 0]), m={"type": "gear_mesh", "joints": ["j1", "j2"], "at": [0.5, 0, 0]})),
    ("forces.f: joints: " + CARRIER, two_shafts(second=hinge("a", "b", at=[1, 0, 0]), f=belt(0.1, 0.2))),
    # places of bodies that are to be found, and of bodies on others
    (RIDES.format("a"), {"bodies": {"a": RIGID | {"on": "a"}}}),
    (RIDES.format("a") + "\n" + RIDES.format("b"), {"bodies": {"a": RIGID | {"on": "b"}, "b": RIGID | {"on": "a"}}}),
    ("bodies.a.position: " + NOWHERE.format("position"), {"bodies": {"h": RIGID | {"position": "consistent"}, "a": RIGID | {"on": "h", "position": [1, 0, 0]}}}),
    ("flexible.i.at: " + NOWHERE.format("position"), {"flexible": {"h": BRICK | {"position": "consistent"}, "i": {"type": "interface", "of": "h", "at": [0.5, 0, 0], "group": "x+"}}}),
    (
        """joints.j: keeps the relative orientation that the bodies have in the initial configuration, but the orientation of 'a' is "consistent\""""
        """ (hint: give a guess, "orientation": {"consistent": ...})""",
        {"bodies": {"a": RIGID | {"orientation": "consistent"}}, "joints": {"j": {"type": "fixed", "between": ["ground", "a"], "at": {"ground": [0, 0, 0], "a": [0, 0, 0]}}}},
    ),
    (
        """joints.j.at: is given in inertial axes, but the position of 'a' is "consistent": the position of this point on 'a' is unknown"""
        """ (hint: give it in body axes, "at": {"ground": [...], "a": [...]}, or give a guess, "position": {"consistent": ...})""",
        {"bodies": {"a": RIGID | {"position": "consistent"}}, "joints": {"j": hinge()}},
    ),
    (
        "joints.j.pulleys: " + NOWHERE.format("position"),
        {
            "bodies": {"h": POINT | {"position": "consistent"}, "a": POINT, "b": POINT},
            "joints": {"j": {"type": "pulley", "between": ["a", "b"], "points": [[0, 0, 0], [0, 0, 0]], "pulleys": [[1, 0, 1], [1, 0, 1]], "on": "h"}},
        },
    ),
    # flexible bodies
    ("flexible.f: has no geometric stiffness: it cannot be derived from matrices, expected a beam, a frame, a brick or a mesh", flexible(geometric_stiffness="on")),
    (NO_STRESS, flexible(sensors=STRESS)),
    (NO_STRESS + " (hint: a linear beam has section_force and section_moment of f[0.5])", {"bodies": {}, "flexible": {"f": BEAM}, "sensors": STRESS}),
    (NO_STRESS + " (hint: members have section_force and section_moment of MEMBER[0.5])", {"bodies": {}, "flexible": {"f": {"type": "frame"}, "m": BEAM | {"of": "f"}}, "sensors": STRESS}),
    ("flexible.f: has only 12 modes, fewer than the 15 requested", flexible(modes=15)),
    ("flexible.f: has mass for fewer modes than requested", flexible(massive=3, modes=6)),
    ("flexible.f: has mass for 6 modes only, fewer than requested", flexible(count=45, massive=4, modes=9)),
    ("flexible.f: has mass for 3 modes only, fewer than requested", flexible(count=45, massive=3, modes=6)),
    (LOOSE, flexible(joined=5)),
    ("flexible.f: can still move freely with all interfaces fixed", flexible(joined=5, method="craig_bampton", modes=3, interface={"at": [-0.3, 0.65, 0], "radius": 1.3})),
    ("flexible.f: has 1 node at the interface 'i', expected at least three that are not on a line: give a radius or a group", flexible(interface={"at": [1, 0, 1]})),
    # contacts
    ("forces.f: presliding: bristles need friction (hint: give friction, and static_friction if at all, above 0)", on_floor(presliding=1e-4)),
    (
        "forces.f: stribeck: missing: the speed at which the coefficient falls from static_friction to friction (hint: 0.01 m/s, for example)",
        on_floor(presliding=1e-4, friction=0.1, static_friction=0.2),
    ),
    (
        "forces.f: smoothing: missing: friction needs a speed below which it falls smoothly to 0 (hint: a thousandth of the sliding speeds that matter, for example)",
        on_floor(friction=0.1),
    ),
    ("forces.f: exponent: must be at least 1, got 0.5 (hint: 1 is a linear spring, 1.5 the contact of two spheres)", on_floor(exponent=0.5)),
    ("forces.f: restitution: must be at most 1, got 1.5 (hint: 1 is an impact without losses)", on_floor(restitution=1.5, impact_speed=1)),
    ("forces.f: edge_radius: must be less than the radius 0.1, got 0.125", on_floor(type="wheel", axis=[0, 1, 0], edge_radius=0.125)),
    # other joints and forces
    (NO_SMOOTHING.format("f"), two_shafts(f={"type": "clutch", "joints": ["j1", "j2"], "capacity": 1})),
    (NO_SMOOTHING.format("f"), two_shafts(f={"type": "joint_clutch", "joint": "j1", "capacity": 1})),
    (
        "forces.f: joints: expected two angles or two displacements, got an angle of 'j1' and a displacement of 'j2': they have no common slip"
        " (hint: drive the slider by a shaft (joints of type gear or screw), and put the clutch between shafts)",
        two_shafts(second=hinge("ground", "b") | {"type": "prismatic"}, f={"type": "clutch", "joints": ["j1", "j2"], "capacity": 1, "smoothing": 0.1}),
    ),
    (
        "joints.j: the disc lies flat in the plane: its axis and the normal are parallel (hint: a disc that lies flat does not roll; use a planar joint)",
        {"bodies": {"a": RIGID}, "joints": {"j": {"type": "rolling_disc", "between": ["ground", "a"], "center": [0, 0, 0], "axis": [0, 0, 2], "normal": [0, 0, 1], "radius": 1}}},
    ),
    (
        "joints.m: normal: given together with pressure_angle or helix_angle, expected one of both (hint: the angles make the normal from the axes; a given normal needs none)",
        two_shafts(m={"type": "gear_mesh", "joints": ["j1", "j2"], "at": [0.5, 0, 0], "normal": [0, 1, 0], "pressure_angle": 0.3}),
    ),
    (
        "forces.f: the axes are 1 m apart, expected more than 1.1 m, the sum of the radii (hint: the pulleys would overlap: give smaller radii, or move the axes apart)",
        two_shafts(f=belt(0.6, 0.5)),
    ),
    (
        "forces.f: stiffness[5][5]: expected 0, got 5: the shaft turns freely about z"
        " (hint: the components are x, y, z, tilt about x, tilt about y, turn about z; use a joint_spring for a stiffness about z)",
        {"bodies": {"a": RIGID}, "forces": {"f": {"type": "bearing", "between": ["ground", "a"], "at": [0, 0, 0], "stiffness": np.diag([9, 8, 7, 6, 4, 5]).tolist()}}},
    ),
    (
        "forces.f: points: their distance is 2 m, expected 1 m (retracted) to 1.5 m (extended) (hint: change `retracted` or `stroke`, or the points)",
        {"bodies": {"a": POINT | {"position": [2, 0, 0]}}, "forces": {"f": CYLINDER}},
    ),
    # beams and sensors
    ("beams.b: from, through and to are on a line, expected three points of an arc (hint: leave out `through` for a straight beam)", {"beams": {"b": BEAM | {"through": [0.5, 0, 0]}}}),
    (
        "beams.b: poisson and shear_modulus are both given, expected one of them (hint: the shear modulus is young/(2 (1 + poisson)))",
        {"beams": {"b": BEAM | {"poisson": 0.3, "shear_modulus": 8e10}}},
    ),
    (
        "sensors.s.of: 'f' of type line_load is distributed along a beam (hint: such a force has the sensors power and work)",
        {"beams": {"b": BEAM}, "forces": {"f": {"type": "line_load", "on": "b"}}, "sensors": {"s": {"type": "applied_force", "of": "f"}}},
    ),
    (
        "sensors.s.quantity: 'f' of type force has no quantity 'current', and no others (hint: effort, power and applied_force are sensors of other forces)",
        {"forces": {"f": {"type": "force", "on": "a", "force": [1, 0, 0]}}, "sensors": {"s": {"type": "quantity", "of": "f", "quantity": "current"}}},
    ),
    ("bodies.a.position: in the expression 'x', at character 1: unknown name 'x': this value may depend on parameters only", {"bodies": {"a": POINT | {"position": ["x", 0, 0]}}}),
    # the start
    (
        "joints.j: position x: the initial positions violate this constraint by -0.5" + POSITION_HINT,
        {"bodies": {"a": RIGID | {"position": [1.5, 0, 0]}}, "joints": {"j": {"type": "spherical", "between": ["ground", "a"], "at": {"ground": [0, 0, 0], "a": [-1, 0, 0]}}}},
    ),
    (
        "joints.j: position x: the initial velocities violate this constraint by -0.5" + VELOCITY_HINT,
        {"bodies": {"a": RIGID | {"velocity": [0.5, 0, 0]}}, "joints": {"j": {"type": "spherical", "between": ["ground", "a"], "at": [0, 0, 0]}}},
    ),
    (
        "\n".join([ALL_ROWS[0] + VELOCITY_HINT, *ALL_ROWS[1:20], "more constraints are violated"]),
        {"bodies": {n: RIGID | {"velocity": [1, 2, 3], "angular_velocity": [4, 5, 6]} for n in "abcd"}, "joints": {f"j{n}": {"type": "fixed", "between": ["ground", n], "at": [0, 0, 0]} for n in "abcd"}},
    ),
]

ALPHA = "integrator generalized-alpha: "
TIMED = model(parameters={"w": 1}, bodies={"a": POINT | {"mass": "w"}})
MOTOR = model(**in_joint({"type": "revolute", "axis": [0, 0, 1]}, type="dc_motor", resistance=1, torque_constant=1))

# A call that is wrong, and the whole text.
CALLS = [
    ("bodies.top.position[7]: no such component, expected position[0] ... position[2]", lambda: ld.run("heavy_top", set={"bodies.top.position[7]": 1})),
    ("bodies.top.mass[0]: no such component, expected mass", lambda: ld.run("heavy_top", set={"bodies.top.mass[0]": 1})),
    ("bodies.top: expected bodies.top.FIELD", lambda: ld.run("heavy_top", set={"bodies.top": 1})),
    ("gravity[3]: expected gravity[0], gravity[1] or gravity[2]", lambda: ld.run("heavy_top", set={"gravity[3]": 1})),
    ("beams.b.elements: 'elements' determines the structure of the model: it cannot change after the model is built", lambda: ld.Model(model(beams={"b": BEAM})).run(set={"beams.b.elements": 3})),
    ("bodies.a.mass: expected a non-negative number, got -2, since it depends on parameters.w", lambda: ld.Model(TIMED).run(set={"w": -2})),
    (
        "forces.f: inductance: expected 0, got 0.25: this model was made without a state for the current"
        " (hint: write the inductance into the model file: the current is a state then)",
        lambda: ld.Model(MOTOR).run(set={"forces.f.inductance": 0.25}),
    ),
    (ALPHA + "form=geometric moves along the exponential map, got coordinates=cayley (hint: other local coordinates need form=linear or form=residual)", alpha("coordinates=cayley")),
    (ALPHA + "sigma needs form=geometric, got form=linear (hint: leave sigma out)", alpha("form=linear,sigma=1")),
    (ALPHA + "predictor_factor needs variant=paper (hint: the exact relation does not depend on the initial guess of Newton's method)", alpha("predictor_factor=0.5")),
    (ALPHA + "variant=paper needs form=geometric, got form=residual (hint: leave variant out)", alpha("form=residual,variant=paper")),
    (
        ALPHA + "form=residual needs a Lie group formulation (hint: choose --formulation r3so3, r3so3-spatial or se3, or form=linear)",
        alpha("form=residual", formulation="euler-parameters"),
    ),
    (ALPHA + "rho must be a number, got 'x'", alpha("rho=x")),
    (ALPHA + "sigma must be a number or opt, got 'x'", alpha("sigma=x")),
    ("integrator rk44: unknown option 'rho' (hint: its options are project, coordinates)", lambda: ld.run("heavy_top", integrator="rk44,rho=1")),
    (
        ALPHA + "the algorithms as printed (variant=paper) depend on their iterations and have no derivatives (hint: use variant=exact)",
        lambda: ld.sensitivity("heavy_top", ["spin"], ["position[0]"], integrator="generalized-alpha,variant=paper", end=0.01),
    ),
    (
        "events.taut: joints.j: expected a position that satisfies the joint at t = 0.125: 'joints.j: position x' is violated by -0.0625"
        " (hint: engage a joint where its constraint is satisfied: velocities may jump there, positions not)",
        lambda: ld.run(falling_from_a_joint()),
    ),
    (
        "events.change: joints.j2: expected a position that satisfies the joint at t = 0.005: its constraints are redundant there, or the bodies that they move have no mass"
        " (hint: engage a joint where its constraint is satisfied: velocities may jump there, positions not)",
        lambda: ld.run(massless_between_joints()),
    ),
]

# Failures of runs: what they say, numbers to a hundredth.
FAILURES = [
    (
        "t = 0.375, step 0.125: the residual is not finite after 0 iterations, first in 'bodies.a: force x'; 'forces.f.force[0]' is inf at t = 0.5",
        lambda: ld.run(model(forces={"f": {"type": "force", "on": "a", "force": ["1/(0.5 - t)", 0, 0]}}), end=1, step=0.125),
    ),
    (
        "t = 0.25, step 0.25: the acceleration at 'joints.turn: free torque' is undetermined: a mass matrix is singular;"
        " an explicit method needs steps within its stability limit",
        lambda: ld.run(bead_on_an_arm(), integrator="rk44", formulation="minimal", end=1, step=0.25),
    ),
    (
        "t = 0, step 10: the projection onto the constraints did not converge; the largest residual, 1.01e+08, is in 'joints.rod: distance'; an explicit method needs steps within its stability limit",
        lambda: ld.run("pendulum", integrator="rk44", end=10, step=10),
    ),
    (
        "t = 0.5, step 0.5: constraint 'joints.j: position x' is violated by -0.278 m (allowed: 0.133); the step is beyond the limit of stability. Use a smaller step,"
        " more numerical damping (a smaller rho), formulation r3so3-spatial or index=stabilized",
        lambda: ld.run(turning_arm(), integrator="rk44,project=none", end=2, step=0.5),
    ),
    (
        "t = 0.875, step 0.125: the rotation parameters are singular; the Cardan angles of 'bodies.a' are near gimbal lock (|cos phi_2| = 0): use another formulation, r3so3 for example",
        lambda: ld.run(model(bodies={"a": RIGID | {"angular_velocity": [0, np.pi / 2, 0]}}), formulation="cardan", integrator="rk44", end=2, step=0.125),
    ),
]

# Runs that come to their end, and what they warn of.
WARNINGS = [
    (
        "t = 0.75: the Cardan angles of 'a' pass gimbal lock (|cos phi_2| = 0.36) and change by up to 0.55 rad in a step of 0.125 s: the result is unreliable from here on. Use another formulation, r3so3 for example, or smaller steps",
        lambda: ld.run(model(bodies={"a": RIGID | {"angular_velocity": [0, 1.6, 0]}}), formulation="cardan", end=2, step=0.125),
    ),
    (
        "t = 0.3: singular configuration: joints.A: position x, joints.D: position x, joints.B: position x, joints.C: position x become redundant there; the motion beyond it may not be unique, and multipliers are large",
        lambda: ld.run(parallelogram(-0.3), end=0.6, step=0.01),
    ),
]

GMSH_2, GMSH_4 = (f"$MeshFormat\n{version} 0 8\n$EndMeshFormat\n" for version in ("2.2", "4.1"))

# Files of meshes and matrices that cannot be read: the text after "flexible.f: ", and what the file has.
FILES = [
    ("file: line 4: expected a section, got 'Nodes'", GMSH_2 + "Nodes\n1\n"),
    ("file: line 7: node 1 is defined twice", GMSH_2 + "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n"),
    ("file: line 6: nodes with parametric coordinates are not supported", GMSH_4 + "$Nodes\n1 1 1 1\n3 1 1 1\n1\n0 0 0 0 0\n$EndNodes\n"),
    ("stiffness_matrix: line 1: expected coordinate or array, got 'diagonal'", "%%MatrixMarket matrix diagonal real general\n1 1\n1\n"),
    ("stiffness_matrix: line 1: expected general or symmetric, got 'hermitian'", "%%MatrixMarket matrix array real hermitian\n1 1\n1\n"),
    ("stiffness_matrix: has fields or objects, expected numbers", np.zeros(2, dtype=[("x", "f8")])),
    ("stiffness_matrix: is a string, expected numbers", np.array([["a"]])),
    ("stiffness_matrix: is empty", np.zeros((0, 3))),
]


def name_of(case: tuple) -> str:
    return re.sub(r"[^a-zA-Z0-9_.]+", "_", case[0])[:70]


def refusal(call) -> str:
    with pytest.raises(ld.InputError) as caught:
        call()
    return str(caught.value)


def expect_similar(found: str, expected: str) -> None:
    """The same words, and numbers that agree to a hundredth."""
    number = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w])"
    assert re.sub(number, "{}", found) == re.sub(number, "{}", expected), found
    assert [float(x) for x in re.findall(number, found)] == pytest.approx([float(x) for x in re.findall(number, expected)], rel=0.01, abs=1e-14), found


@pytest.mark.parametrize("case", MODELS, ids=name_of)
def test_a_mistake_in_a_model_is_explained(case):
    text, sections = case
    assert refusal(lambda: ld.run(model(**sections))) == text


@pytest.mark.parametrize("case", CALLS, ids=name_of)
def test_a_wrong_call_is_explained(case):
    text, call = case
    assert refusal(call) == text


@pytest.mark.parametrize("case", FILES, ids=name_of)
def test_a_file_that_cannot_be_read_is_explained(case, tmp_path):
    text, content = case
    file = tmp_path / "file"
    if isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    else:
        with file.open("wb") as out:
            np.save(out, content)
    body = {"type": "mesh", "file": str(file), "young": 1e9, "density": 1000} if text.startswith("file") else MATRICES | {"stiffness_matrix": str(file)}
    assert refusal(lambda: ld.run(model(flexible={"f": body}))) == "flexible.f: " + text


def test_a_file_without_permission_is_named(tmp_path):
    (tmp_path / "model.json").write_text('{"liedyn": 1, "flexible": {"f": {"type": "mesh", "file": "f.msh", "young": 1e9, "density": 1000}}}', encoding="utf-8")
    (tmp_path / "f.msh").touch(mode=0o200)
    # Root may read all files, unless it gives this up.
    less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if less and subprocess.run([*less, "true"], capture_output=True).returncode != 0:
        pytest.skip("root cannot give up its right to read all files here")
    done = subprocess.run([*less, "liedyn", "check", "model.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == "error: model.json:1: flexible.f: cannot read 'f.msh'\n"
    assert done.returncode == 2


@pytest.mark.parametrize("case", FAILURES, ids=name_of)
@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")
def test_a_run_that_fails_says_why(case):
    text, call = case
    result = call()
    assert not result.completed
    expect_similar(result.failure, text)


@pytest.mark.parametrize("case", WARNINGS, ids=name_of)
def test_a_doubtful_run_has_a_warning(case):
    text, call = case
    with pytest.warns(ld.NumericalWarning) as caught:
        assert call().completed
    assert len(caught) == 1
    expect_similar(str(caught[0].message), text)

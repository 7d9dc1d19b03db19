"""Messages about analyses, studies and expressions: one small mistake each, and the whole text that the user reads."""

import json
import math
import re
import signal
import subprocess
import time
import warnings
from pathlib import Path

import pytest

import liedyn as ld

SETTINGS = {"end": 0.01, "step": 1e-3}
ARM = {
    "liedyn": 1,
    "bodies": {"arm": {"type": "rigid", "mass": 2, "inertia": [0.01, 0.2, 0.2], "position": [0.5, 0, 0]}},
    "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
    "sensors": {"angle": {"type": "joint_angle", "of": "hinge"}, "tip": {"type": "position", "of": "arm", "at": [1, 0, 0]}},
    "simulation": SETTINGS,
}
STONE = {
    "liedyn": 1,
    "parameters": {"x": 0, "y": 0},
    "bodies": {"stone": {"type": "point", "mass": 1, "velocity": ["x", "y", 0]}},
    "sensors": {"place": {"type": "position", "of": "stone"}},
    "simulation": SETTINGS,
}


# ---- models


def changed(model: dict, **sections) -> dict:
    """With more entries in its sections, and other values."""
    return model | {name: model.get(name, {}) | new if isinstance(new, dict) else new for name, new in sections.items()}


def in_hinge(kind: str, **fields) -> dict:
    return {"type": kind, "joint": "hinge", **fields}


def pushed(effort: str | float, **sections) -> dict:
    return changed(ARM, forces={"push": in_hinge("joint_effort", effort=effort)}, **sections)


def sprung(**fields) -> dict:
    return changed(ARM, forces={"spring": in_hinge("joint_spring", **fields)})


def driven(**motions) -> dict:
    return changed(ARM, joints={name: in_hinge(kind, **{kind.removeprefix("prescribed_"): of}) for name, (kind, of) in motions.items()})


def in_line(**stone) -> dict:
    line = {"type": "point_on_line", "between": ["ground", "stone"], "at": [0, 0, 0], "axis": [1, 0, 0]}
    return changed(STONE, joints={"line": line}, forces={"push": {"type": "force", "on": "stone"} | stone})


def wheels() -> dict:
    """Two that a gear makes turn alike."""
    bodies = {name: {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, z]} for name, z in (("a", 0), ("b", 1))}
    joints = {n.upper(): ARM["joints"]["hinge"] | {"between": ["ground", n], "at": b["position"], "axis": [0, 0, 1]} for n, b in bodies.items()}
    return {"liedyn": 1, "bodies": bodies, "joints": joints | {"G": {"type": "gear", "joints": ["A", "B"], "ratio": 1}}, "simulation": SETTINGS}


def parallelogram(angle: float) -> dict:
    """Four bars of the lengths 1, 2, 1 and 2; flat at the angle 0."""
    x, y = math.cos(angle), math.sin(angle)
    middles = {"crank": [x / 2, y / 2], "rod": [1 + x, y], "rocker": [2 + x / 2, y / 2]}
    points = {"A": ("ground", "crank", [0, 0]), "B": ("crank", "rod", [x, y]), "C": ("rod", "rocker", [2 + x, y]), "D": ("ground", "rocker", [2, 0])}
    return {
        "liedyn": 1,
        "bodies": {name: {"type": "planar", "mass": 1, "inertia": 1, "position": middle} for name, middle in middles.items()},
        "joints": {name: {"type": "planar_revolute", "between": [a, b], "at": at} for name, (a, b, at) in points.items()},
        "simulation": SETTINGS,
    }


def doubly_hinged() -> dict:
    """A door that rubs in one of its two hinges."""
    rub = in_hinge("joint_friction", coefficient=0.1, radius=0.01, smoothing=0.1)
    return changed(ARM, joints={"second": ARM["joints"]["hinge"] | {"at": [0, 1, 0]}}, forces={"rub": rub})


def upright(links: int) -> dict:
    link = {"type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0, 0, "{i - 0.5}"]}
    hinge = ARM["joints"]["hinge"]
    return {
        "liedyn": 1,
        "gravity": [0, 0, -9.81],
        "repeat": [
            {"for": {"i": [1, links]}, "bodies": {"link{i}": link}},
            {"for": {"i": [2, links]}, "joints": {"j{i}": hinge | {"between": ["link{i - 1}", "link{i}"], "at": [0, 0, "{i - 1}"]}}},
        ],
        "joints": {"j1": hinge | {"between": ["ground", "link1"]}},
        "simulation": SETTINGS,
    }


def free_points(count: int) -> dict:
    """Only two of them are held together."""
    spring = {"type": "spring_damper", "between": ["p0", "p1"], "points": [[0, 0, 0], [1, 0, 0]], "stiffness": 100}
    bodies = {f"p{i}": {"type": "point", "mass": 1, "position": [i, 0, 0]} for i in range(count)}
    return {"liedyn": 1, "bodies": bodies, "forces": {"s": spring}, "simulation": SETTINGS}


def damped_beam(damping: float, elements: int = 20) -> dict:
    """All slow eigenvalues are close to -1/damping."""
    rod = {"type": "circle", "from": [0, 0, 0], "to": [1, 0, 0], "elements": elements, "radius": 0.01, "young": 2e11, "density": 7800, "damping": damping}
    clamp = {"type": "fixed", "between": ["ground", "rod.start"], "at": [0, 0, 0]}
    return {"liedyn": 1, "beams": {"rod": rod}, "joints": {"clamp": clamp}, "simulation": SETTINGS}


# ---- studies


def written(study: dict, model: dict) -> str:
    """What a case changes stands first, from line 2 on."""
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    Path("study.json").write_text(json.dumps(study | {"model": "model.json"}, indent=1), encoding="utf-8")
    return "study.json"


def design(progress=None, **changes) -> ld.Optimum:
    rest = {"variables": {"x": {"parameter": "x", "initial": 2, "lower": 0, "upper": 3}}, "minimize": "(x - 1)^2"}
    return ld.optimize(written(changes | {key: value for key, value in rest.items() if key not in changes}, STONE), progress=progress)


def fit(columns: dict, *rows: str) -> ld.Optimum:
    Path("data.csv").write_text("\n".join(["t,p", *rows]), encoding="utf-8")
    return design(data=[{"file": "data.csv", "columns": columns}], minimize="misfit")


def many(**changes) -> ld.Study:
    rest = {"liedyn_study": 1, "parameters": {"m": {"parameter": "bodies.arm.mass", "values": [1, 2]}}, "outputs": {"a": "angle"}}
    return ld.Study(written(changes | {key: value for key, value in rest.items() if key not in changes}, ARM))


def sampled(**distribution) -> ld.Study:
    return many(parameters={"m": {"parameter": "bodies.arm.mass", **distribution}}, sampling={"method": "random", "cases": 2})


# ---- simulations


def simulation(model: dict = ARM, **options) -> ld.Simulation:
    return ld.Model(model).simulation(**options)


def after(steps: int, model: dict = ARM, **options) -> ld.Simulation:
    out = simulation(model, **options)
    out.step(steps)
    return out


def damaged() -> None:
    one = simulation()
    saved = one.save()
    one.restore(saved[:-1] + bytes([saved[-1] ^ 1]))


def sum_of(x: float, y: float) -> float:
    return x + y


def calls(expression: str) -> None:
    ld.register_function("sum_of_two", sum_of, 2)
    ld.run(pushed(expression))


SHARED = "this name is already used: variables, outputs and misfit share one set of names"
BOUNDS = "expected at_least, at_most or equals, the first not above the second"
SPECTRUM = 'study.json:3: outputs.a: expected one component of a sensor, without @, for a spectrum (hint: for example "tip[0]")'
REDUCTIONS = "a time, end, integral, mean, rms, max, min, time_of_max, time_of_min, first>VALUE or first<VALUE"
LOOP = "functions of robots need joints that form a tree; closed by constraints: C"

# Name, call, the whole message of the InputError.
ERRORS = [
    # expressions
    ("unit", lambda: ld.run(pushed("2 kg")), "forces.push.effort: in the expression '2 kg', at character 3: expected an operator or the end, found 'kg' (hint: numbers are in SI units (m, kg, s, rad) and written without a unit; a product is written with *)"),
    ("bracket", lambda: ld.run(pushed("2*(t")), "forces.push.effort: in the expression '2*(t', at character 5: expected ')', found the end"),
    ("single equals sign", lambda: ld.run(pushed("where(t = 1, 1, 2)")), "forces.push.effort: in the expression 'where(t = 1, 1, 2)', at character 9: expected '==' to compare, found '='"),
    ("too few arguments", lambda: ld.run(pushed("1 + poly(t)")), "forces.push.effort: in the expression '1 + poly(t)', at character 5: poly takes at least 2 arguments, got 1"),
    ("too many arguments", lambda: ld.run(pushed("sin(t, 2)")), "forces.push.effort: in the expression 'sin(t, 2)', at character 1: sin takes 1 argument, got 2"),
    ("arguments of the program's function", lambda: calls("2*sum_of_two(t)"), "forces.push.effort: in the expression '2*sum_of_two(t)', at character 3: sum_of_two takes 2 arguments, got 1"),
    ("surface of one argument", lambda: ld.run(pushed("bilinear(t)")), "forces.push.effort: in the expression 'bilinear(t)', at character 11: expected ',', found ')'"),
    ("function named sin", lambda: ld.register_function("sin", sum_of, 2), "function 'sin': this name is reserved in expressions (hint: choose another name)"),
    ("too few scales", lambda: ld.register_function("sum_of_two", sum_of, 2, scales=[1]), "function 'sum_of_two': expected 2 positive scales, one for each argument"),
    ("scale of 0", lambda: ld.register_function("sum_of_two", sum_of, 2, scales=[1, 0]), "function 'sum_of_two': expected 2 positive scales, one for each argument"),
    # starts and steps
    ("held and free", lambda: ld.assemble(ARM, hold="arm", free="arm"), "hold: expected either fixed bodies or free bodies, got both"),
    ("angles that a gear forbids", lambda: ld.run(wheels(), from_={"joints": {"A": 0.1, "B": 0.3}}), "joints.B: other constraints do not allow this: assembly found no configuration that satisfies this constraint: its residual is -0.0667, the largest of 3 violated constraints (hint: leave out joints that depend on others)"),
    ("states without forces", lambda: ld.kinematics(changed(ARM, states={"x": {"type": "integral", "input": "angle"}})), "states.x: kinematic analysis does not support first-order states (hint: simulate, or leave the states out)"),
    ("time out of reach", lambda: simulation().advance(until=2e9), "advance: 2000000000000 steps are too many"),
    ("step behind the end", lambda: after(10, end=0.01).step(), "step: the simulation has reached its end, 0.01 s (hint: start the simulation with a later end, or without one)"),
    ("mass that vanishes", lambda: after(1, STONE).set("bodies.stone.mass", 0), "bodies.stone.mass: with 0 the accelerations are undetermined at t = 0.001"),
    ("damaged checkpoint", damaged, "checkpoint: it is damaged: its checksum does not match"),
    ("unknown sensor", lambda: simulation()["height"], "sensors: expected the name of a sensor, got 'height' (hint: the sensors are angle, tip)"),
    ("whole derivatives at the start", lambda: simulation().step_derivatives(whole=True), "whole: expected a simulation that has taken a step: before, the method has no history (hint: take a step, or leave whole=true out)"),
    ("input named twice", lambda: simulation().step_derivatives(["bodies.arm.mass"] * 2), "inputs.bodies.arm.mass: is named twice"),
    # convergence
    ("tiny steps", lambda: ld.converge(ARM, steps=[1e-3, 1e-12]), "steps: 1e-12 makes more than 1e+09 steps"),
    ("no steps that could be finer", lambda: ld.converge(ARM, integrators="generalized-alpha,adaptive=true"), "reference: all integrators are adaptive, so that none gives a finer reference solution (hint: name one: INTEGRATOR@STEP, or a result file)"),
    ("reference of half the time", lambda: ld.converge(ARM, steps=[1e-3], reference=ld.run(ARM, end=0.005), norm="end"), "a result: has no row at the end, t = 0.01 (hint: record it with steps that divide those compared)"),
    # robots
    ("loop", lambda: ld.Robot("four_bar"), f"{LOOP} (hint: remove these joints (of URDF files: mimic), or simulate the model with run)"),
    ("limits exchanged", lambda: ld.Robot(ARM).inverse_kinematics({"arm": [0.5, 0, 0]}, limits={"hinge": (1, 0)}), "limits.hinge: expected a lower limit below the upper one, got 1 and 0"),
    # optimisation
    ("vector as an output", lambda: design(outputs={"way": "place"}), "study.json:3: outputs.way: expected one component of a sensor, got 'place' (hint: for instance place[0])"),
    ("vector as data", lambda: fit({"p": "place"}, "0,1"), "study.json:2: data[0]: expected one component of a sensor, got 'place'"),
    ("largest value as data", lambda: fit({"p": "place[0]@max"}, "0,1"), "study.json:2: data[0]: expected one component of a sensor, got 'place[0]@max'"),
    ("data behind the end", lambda: fit({"p": "place[0]"}, "0,1", "0.01,1", "0.02,2"), "study.json:2: data[0]: expected times from 0 to 0.01, got 0.02 in row 3 (hint: the simulation's start and end must contain the data)"),
    ("output named as a variable", lambda: design(outputs={"x": "place[0]"}), f"study.json:3: outputs.x: {SHARED}"),
    ("output named misfit", lambda: design(outputs={"misfit": "place[0]"}), f"study.json:3: outputs.misfit: {SHARED}"),
    ("misfit without data", lambda: design(minimize="x + misfit"), "study.json:2: minimize: uses the misfit, and the study has no data"),
    ("bounded misfit without data", lambda: design(constraints={"c": {"expression": "misfit", "at_most": 1}}), "study.json:3: constraints.c: uses the misfit, and the study has no data"),
    ("unknown method", lambda: design(optimizer={"method": "slsqb"}), "study.json:3: optimizer.method: expected auto, slsqp, mma, lbfgs, got 'slsqb' (hint: did you mean 'slsqp'?)"),
    ("unknown gradient", lambda: design(optimizer={"gradient": "exact"}), "study.json:3: optimizer.gradient: expected auto, direct, adjoint, got 'exact'"),
    ("bounds exchanged", lambda: design(variables={"x": {"parameter": "x", "lower": 3, "upper": 2}}), "study.json:3: variables.x: expected a lower bound not above the upper one, got 3 and 2"),
    ("limits of a constraint exchanged", lambda: design(constraints={"c": {"expression": "x", "at_least": 3, "at_most": 2}}), f"study.json:3: constraints.c: {BOUNDS}"),
    ("constraint without a limit", lambda: design(constraints={"c": {"expression": "x"}}), f"study.json:3: constraints.c: {BOUNDS}"),
    # studies of many runs
    ("component beyond the last", lambda: many(outputs={"a": "tip[3]"}), "study.json:3: outputs.a: expected a component of 'tip' from 0 to 2 between brackets, got '[3]'"),
    ("component by a letter", lambda: many(outputs={"a": "tip[x]@max"}), "study.json:3: outputs.a: expected a component of 'tip' from 0 to 2 between brackets, got '[x]'"),
    ("unknown reduction", lambda: many(outputs={"a": "angle@maxx"}), f"study.json:3: outputs.a: expected {REDUCTIONS} after @, got 'maxx' (hint: did you mean 'max'?)"),
    ("spectrum of a vector", lambda: many(outputs={"a": {"spectrum": "tip", "frequencies": [1]}}), SPECTRUM),
    ("spectrum of a maximum", lambda: many(outputs={"a": {"spectrum": "tip[0]@max", "frequencies": [1]}}), SPECTRUM),
    ("uniform, exchanged", lambda: sampled(distribution="uniform", lower=2, upper=1), "study.json:3: parameters.m: expected lower < upper, got 2 and 1"),
    ("log-uniform from below 0", lambda: sampled(distribution="log-uniform", lower=-2, upper=1), "study.json:3: parameters.m: expected a lower bound above 0, got -2"),
    ("log-normal up to below 0", lambda: sampled(distribution="log-normal", median=1, log_deviation=1, upper=-3), "study.json:3: parameters.m: expected an upper bound above 0, got -3"),
    ("log-normal about 0", lambda: sampled(distribution="log-normal", median=0, log_deviation=1), "study.json:3: parameters.m: expected a median above 0, got 0"),
    ("normal without a width", lambda: sampled(distribution="normal", mean=1, deviation=0), "study.json:3: parameters.m: expected a deviation above 0, got 0"),
]


def weightless() -> ld.Robot:
    return ld.Robot(changed(ARM, bodies={"arm": {"type": "rigid", "mass": 2, "inertia": [0, 0, 0]}}))


def braked(torque: float) -> dict:
    brake = in_hinge("joint_clutch", law="stick", capacity=5, deflection=1e-4)
    return changed(ARM, forces={"brake": brake, "load": {"type": "torque", "on": "arm", "torque": [0, torque, 0]}})


# Name, call, the whole message of the NumericalError.
FAILURES = [
    ("reference that explodes", lambda: ld.converge(changed(sprung(stiffness=1e9), gravity=[0, 0, -9.81]), steps=[1e-3, 5e-4], reference="rk44@1e-3"), "the reference (rk44 r3so3, step 0.0005) failed: t = 0.001, step 0.0005: the energy grew by 3.76e+07 J since t = 0.0005, far beyond the previous 1.27 J and the work of the forces; the step is beyond the limit of stability. Use a smaller step, more numerical damping (a smaller rho), formulation r3so3-spatial or index=stabilized"),
    ("robot without inertia", lambda: weightless().forward_dynamics([0], [0], [1]), "the acceleration at 'joints.hinge: free torque' is undetermined: the bodies that it moves have no inertia"),
    ("overloaded brake", lambda: ld.static(braked(7)), "model: no equilibrium found with 1 of the loads: 'forces.brake' (1.4 of its capacity) would slip; a clutch or brake carries at most its `capacity`: increase it, or reduce the load"),
    ("force that turns round", lambda: ld.static(in_line(force=["where(place[0] < 0.5, 1, -1)", 0, 0]), load_steps=4096), "model: no equilibrium found with 0.0002441 of the loads; the largest residual, -1, is in 'bodies.stone: force x'; these motions have no stiffness: stone moves along (1, 0, 0)"),
    ("eigenvalues too close to each other", lambda: ld.modes(damped_beam(0.1, 120), solver="sparse", count=2), "only 0 of 2 modes were found by the sparse solver, since eigenvalues are too close to each other, and the model has more velocities than the dense solver takes: 726, at most 600"),
]

REDUNDANT = "5 redundant constraints are not imposed: joints.hinge: position x, joints.hinge: position z, joints.second: position y, joints.second: rotation about joint x, joints.second: rotation about joint y"
NOT_UNIQUE = "depends on the distribution of the reactions; reactions are the minimum-norm solution (torques divided by the model length, 1.21655251 m)"
LINKS = "; ".join(f"link{i} turns about (0, 1, 0) and moves along (1, 0, 0)" for i in (51, 50, 49))

# Name, call, the whole of the only warning, as a regular expression if it is one.
WARNINGS = [
    ("friction in a redundant hinge", lambda: ld.run(doubly_hinged()), f"{REDUNDANT}. Friction, and so the motion, {NOT_UNIQUE}"),
    ("friction at rest in a redundant hinge", lambda: ld.static(changed(doubly_hinged(), forces={"s": in_hinge("joint_spring", stiffness=1)})), f"{REDUNDANT}. Friction, and so the equilibrium, {NOT_UNIQUE}"),
    ("drives that contradict later", lambda: ld.kinematics(driven(turn=("prescribed_motion", "t"), speed=("prescribed_velocity", "1 + max(0, t - 0.0045)"))), "model: at t = 0.005 s no velocity satisfies the constraints (a singular configuration?); the largest residual, -0.0005, is in 'joints.speed: velocity'"),
    ("nearly flat parallelogram", lambda: ld.modes(parallelogram(1e-6)), "this is close to a singular position: 1 of the 8 constraints is redundant up to 7.6e-07, so that there are 1 to 2 degrees of freedom, and the slowest eigenvalues are meaningless. Choose another position"),
    ("force along the axis", lambda: ld.linearize(changed(ARM, forces={"push": {"type": "force", "on": "arm", "force": [0, 0, 0]}}), inputs=["forces.push.force[1]"], outputs="angle"), "no state or output depends on the input 'forces.push.force[1]'"),
    ("upright chain", lambda: ld.static(upright(51)), f"the equilibrium is unstable, e.g. along this motion: {LINKS}; 48 more"),
    ("free points", lambda: ld.modes(free_points(50), solver="sparse", count=5), "the dense solver was used: more than 256 eigenvalues are zero by the sparse solver"),
    ("all eigenvalues too close to each other", lambda: ld.modes(damped_beam(0.1), solver="sparse", count=2), "the dense solver was used: only 0 of 2 modes were found by the sparse solver"),
    ("some eigenvalues too close to each other", lambda: ld.modes(damped_beam(0.01), solver="sparse", count=5), re.compile("the dense solver was used: only [1-4] of 5 modes were found by the sparse solver")),
]

GRAVITY = "warning: gravity: {} m/s^2 in a mechanism of 0.667 m looks like {}: free fall on Earth is 9.81 m/s^2\n"
STOPS = [in_hinge("joint_stop", stiffness=1e5, lower=-lower) for lower in range(90, 125, 5)]
FAST = {"type": "spring_damper", "between": ["ground", "fast"], "points": [[0, 0, 0], [1, 0, 0]], "stiffness": 1e18, "free_length": 0.999}
# A rope that becomes too short, and a motion that adaptive steps would resolve: a thousand million oscillations in a second.
SHORT_ROPE = {
    "liedyn": 1,
    "bodies": {"fast": {"type": "point", "mass": 1, "position": [1, 0, 0]}, "bob": {"type": "point", "mass": 1, "position": [0, 0.0055, 0]}},
    "joints": {"rope": {"type": "distance", "between": ["ground", "bob"], "points": [[0, 0, 0], [0, 0.0055, 0]], "length": "0.0055 - t"}},
    "forces": {"spring": FAST},
    "sensors": {"place": {"type": "position", "of": "bob"}},
    "simulation": {"end": 0.01, "step": 1e-3, "integrator": "generalized-alpha,rho=0", "initial": "project"},
}
TRIED = "--step 0.0005; --step 0.0001; --integrator generalized-alpha,rho=0,newton=full,line_search=true"
STEEP = "the derivatives of the forces are infinite or NaN in this state (hint: as those of sqrt(x) at x = 0: start away from such a point, or use a smooth function)"

# Name, what is typed, model.json, exit code, all that is on standard error.
COMMANDS = [
    ("gravity in cm", "check model.json", changed(ARM, gravity=[0, 0, -981]), 0, GRAVITY.format(981, "cm/s^2")),
    ("gravity in mm", "check model.json", changed(ARM, gravity=[0, 0, -9810]), 0, GRAVITY.format(9810, "mm/s^2")),
    ("negative stiffness", "check model.json", sprung(stiffness=-3), 0, "warning: forces.spring.stiffness: -3 is negative: it pushes away from its relaxed position instead of towards it\n"),
    ("negative damping", "check model.json", sprung(damping=-2), 0, "warning: forces.spring.damping: -2 is negative: it feeds energy into the motion instead of damping it\n"),
    ("seven angles in degrees", "check model.json", changed(ARM, forces={f"stop{i}": stop for i, stop in enumerate(STOPS)}), 0, "".join(f"warning: forces.stop{i}.lower: {a} rad is more than a turn; {a} degrees would be {math.radians(a):g} rad\n" for i, a in enumerate(range(-90, -115, -5))) + "warning: 2 more values look implausible\n"),
    ("time that is no number", "assemble model.json --time nan", ARM, 2, "error: time: must be finite, got nan\n"),
    ("tiny steps in a range", "converge model.json --step-range 1e-3:1e-12:3", ARM, 2, "error: step range: 1e-12 makes more than 1e+09 steps\n"),
    ("infinite derivative", "linearize model.json", pushed("sqrt(angle)"), 2, f"error: model.json:1: bodies.arm: {STEEP}\n"),
    ("infinite stiffness of an equilibrium", "modes model.json --at static", pushed("sqrt(angle)"), 2, f"error: model.json:1: bodies.arm: {STEEP}\n"),
    ("infinite derivative of a start", "run model.json", pushed("sqrt(angle)"), 2, f"error: model.json:1: bodies.arm: {STEEP}\n"),
    ("no equilibrium", "static model.json", changed(ARM, forces={"t": {"type": "torque", "on": "arm", "torque": [0, 2, 0]}}), 3, f"error: no equilibrium found with 0.0002441 of the loads; the largest residual, {2 / 4096 / 0.7:.3g}, is in 'bodies.arm: force z'; these motions have no stiffness: arm turns about (0, 1, 0) and moves along (0, 0, 1)\n"),
    ("check of a reference", "converge model.json --reference rk44@5e-4", changed(sprung(stiffness=8e6), gravity=[0, 0, -9.81], simulation={"end": 0.1}), 3, "error: the error of the reference (rk44 r3so3, step 0.0005) cannot be estimated, since the run with twice its step failed: t = 0.004, step 0.001: the energy grew by 0.0574 J since t = 0.001, far beyond the previous 5.63e-05 J and the work of the forces; the step is beyond the limit of stability. Use a smaller step, more numerical damping (a smaller rho), formulation r3so3-spatial or index=stabilized\n"),
    ("nothing helps", "run model.json", SHORT_ROPE, 3, f"error: t = 0.005: the model is undefined from t = 0.0055 on, where 'joints.rope.length': expected a positive number, got 0; end the run before, or change the function of time\nhint: tried without success: {TRIED}. tried, but too slow to decide: --integrator generalized-alpha,rho=0,adaptive=true\n"),
]

FAR = {"variables": {"x": {"parameter": "x", "initial": 0}}, "minimize": "1 - x"}
# Name, study, whether the search has converged, why it ended.
ENDS = [
    ("few evaluations", {"optimizer": {"evaluations": 2}, "minimize": "(x - 1)^4"}, False, "the allowed number of evaluations was reached"),
    ("at a minimum", {"variables": {"x": {"parameter": "x", "initial": 1}}, "optimizer": {"method": "lbfgs"}}, True, "a minimum was found"),
    ("without bounds", FAR, False, "the variables grow without bound: give them bounds, lower and upper"),
    ("at the edge of what can be evaluated", {"minimize": "x + 0*log(x - 1)"}, False, "the variables no longer change by more than the tolerance; but evaluations nearby failed"),
]


def ids(case) -> str:
    return case[0].replace(" ", "_")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", ERRORS, ids=ids)
def test_wrong_input_is_named(case):
    _, call, message = case
    with pytest.raises(ld.InputError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("case", FAILURES, ids=ids)
def test_why_there_is_no_result(case):
    _, call, message = case
    with pytest.raises(ld.NumericalError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("case", WARNINGS, ids=ids)
def test_what_is_doubtful_has_a_warning(case):
    _, call, message = case
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ld.NumericalWarning)
        call()
    (warning,) = [str(one.message) for one in caught if one.category is ld.NumericalWarning]
    assert message.fullmatch(warning) if isinstance(message, re.Pattern) else warning == message, warning


@pytest.mark.parametrize("case", COMMANDS, ids=ids)
def test_commands_say_what_is_wrong(case):
    _, line, model, code, message = case
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    done = subprocess.run(["liedyn", *line.split()], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.parametrize("case", ENDS, ids=ids)
def test_why_a_search_ended(case):
    _, study, converged, reason = case
    found = design(**study)
    assert (found.converged, found.reason) == (converged, reason)


def test_a_search_reports_the_evaluation_that_failed():
    failures = []
    design(progress=lambda seen: failures.append(seen["failure"]), **FAR)
    assert failures[-1] == "the variables have become too large" and not any(failures[:-1])


def test_a_search_may_end_where_a_constraint_is_violated():
    """The start meets the constraint but for 5e-7; the first step is as short as the tolerance, and its linearised constraint sees no curvature."""
    variables = {"x": {"parameter": "x", "initial": 0}, "y": {"parameter": "y", "initial": 0, "upper": 0.005}}
    bulge = {"c": {"expression": "1 + 5e-7 - x + 1e5*y^2", "at_most": 1}}
    found = design(variables=variables, minimize="1 - y", constraints=bulge, optimizer={"tolerance": 0.01})
    value = 1 + 5e-7 - found.history["x"][-1] + 1e5 * found.history["y"][-1] ** 2
    assert not found.converged and value > 2
    why = f"at its end, the constraint 'c' is {value:.6g} and must be at most 1"
    assert found.reason == f"the objective no longer falls by more than the tolerance; but {why}"


def test_files_of_other_folders_are_refused(folder, monkeypatch):
    monkeypatch.delenv("LIEDYN_ALLOW_OUTSIDE", raising=False)
    Path("road.csv").write_text("t,y\n0,0\n1,1\n", encoding="utf-8")
    Path("models").mkdir()
    model = changed(pushed("road(t)"), tables={"road": {"file": "../road.csv"}})
    Path("models/arm.json").write_text(json.dumps({"tables": model.pop("tables")} | model, indent=1), encoding="utf-8")
    with pytest.raises(ld.InputError) as caught:
        ld.run("models/arm.json")
    outside = f"'../road.csv': the file is outside of the folder of the model, '{folder.resolve() / 'models'}'"
    hint = "move it into that folder, or allow all files: --allow-outside, or LIEDYN_ALLOW_OUTSIDE=1"
    assert str(caught.value) == f"models/arm.json:3: tables.road: {outside} (hint: {hint})"


def test_a_driven_motion_can_be_interrupted():
    Path("model.json").write_text(json.dumps(driven(turn=("prescribed_motion", "t"))), encoding="utf-8")
    words = ["liedyn", "kinematics", "model.json", "--end", "1e6", "--output-every", "0"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        status = Path(f"/proc/{run.pid}/status")
        while not int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> signal.SIGINT - 1 & 1:
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, message = run.communicate(timeout=60)
    reached = re.fullmatch(r"error: interrupted at t = (\S+) s\n", message)
    assert run.returncode == 130 and 0 < float(reached[1]) < 1e6, message


def test_a_case_that_needs_too_much_memory_fails_alone():
    stones = {"for": {"i": [1, "count"]}, "bodies": {"stone{i}": {"type": "point", "mass": 1}}}
    sensors = {"place": {"type": "position", "of": "stone1"}}
    model = {"liedyn": 1, "arguments": {"count": 1}, "repeat": [stones], "sensors": sensors, "simulation": SETTINGS}
    study = written({"liedyn_study": 1, "parameters": {"count": [1, 5000000, 2]}, "outputs": {"x": "place[0]"}}, model)

    def limited(*words: str) -> subprocess.CompletedProcess:
        shell = ["sh", "-c", 'ulimit -v 250000 && exec "$@"', "sh"]
        return subprocess.run([*shell, "liedyn", *words], capture_output=True, text=True, timeout=60)

    if limited("run", "model.json").returncode != 0:
        pytest.skip("the program needs more memory to begin, as one with sanitizers does")
    done = limited("sweep", study, "--out", "store.h5", "--threads", "1")
    assert done.returncode == 0, done.stderr
    table = ld.load_study("store.h5")
    assert table.failures == {1: "out of memory"} and table.completed.tolist() == [True, False, True]


def test_a_driven_motion_that_ends_early_shows_its_end():
    motions = driven(turn=("prescribed_motion", "t"), rate=("prescribed_velocity", "1 + max(0, t - 0.0045)"))
    Path("model.json").write_text(json.dumps(motions), encoding="utf-8")
    done = subprocess.run(["liedyn", "kinematics", "model.json", "--output-every", "0"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "t = 0 ... 0.004 s in 4 steps" in done.stdout
    assert "    angle              0.004 rad\n" in done.stdout


def test_a_scene_says_how_many_numbers_its_sensors_have():
    Path("model.json").write_text(json.dumps(ARM), encoding="utf-8")
    subprocess.run(["liedyn", "run", "model.json", "--scene", "scene.json"], check=True, capture_output=True, timeout=60)
    done = subprocess.run(["liedyn", "info", "scene.json"], capture_output=True, text=True, timeout=60)
    columns = [line.split() for line in done.stdout.split("columns\n")[1].splitlines()[:2]]
    assert columns == [["angle", "rad"], ["tip", "m", "x", "3"]]


def test_a_search_for_an_equilibrium_goes_on_where_a_force_has_no_derivative():
    """What one trial lacks, another may have: only who asks for the matrices of a state is refused."""
    Path("model.json").write_text(json.dumps(pushed("1 - 3*sqrt(angle)")), encoding="utf-8")
    done = subprocess.run(["liedyn", "static", "model.json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert done.stderr.startswith("error: no equilibrium found with 0.0002441 of the loads; the largest residual, -1, is in 'bodies.arm: torque y'")

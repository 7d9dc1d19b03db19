"""The models of examples/machines against closed forms: motor, clutch, hydraulic cylinder, bearings, trajectory, tyres.

`pytest -s` prints every comparison.
"""

import copy
import json
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import liedyn as ld

MACHINES = Path(__file__).parents[2] / "examples" / "machines"


def model(name: str) -> dict:
    return json.loads((MACHINES / f"{name}.json").read_text(encoding="utf-8"))


def compare(what: str, found, expected, tolerance: float) -> None:
    """`tolerance` bounds the largest difference relative to the largest expected value."""
    found, expected = np.asarray(found), np.asarray(expected)
    size = float(np.max(np.abs(expected)))
    difference = float(np.max(np.abs(found - expected))) / (size or 1)
    print(f"{what}: largest relative difference {difference:.1e}, of {size:.6g}, allowed {tolerance:.0e}")
    assert difference <= tolerance, what


def final(result: ld.Result, sensor: str) -> float:
    return np.asarray(result[sensor])[-1]


def check_derivatives(what, m, parameters, outputs, tolerance, **options) -> None:
    """Exact derivatives of a run against differences of whole runs along the same steps."""
    found = ld.sensitivity(m, parameters, outputs, check=True, **options)
    assert np.isfinite(found.jacobian).all() and np.abs(found.jacobian).max(axis=0).min() > 0
    worst = max(found.disagreement.values())
    print(f"{what}: derivatives by {len(parameters)} parameters disagree by {worst:.1e}, allowed {tolerance:.0e}")
    assert worst <= tolerance


# ---- motor


def motor_numbers(m: dict) -> tuple[np.ndarray, np.ndarray, dict]:
    """x' = A x + B for x = (speed, current)."""
    p = m["parameters"]
    J = p["J"] + p["g"] ** 2 * p["rotor"]
    A = np.array([[-p["g"] ** 2 * p["b"] / J, p["g"] * p["k"] / J], [-p["g"] * p["k"] / p["L"], -p["R"] / p["L"]]])
    return A, np.array([0, p["V"] / p["L"]]), p | {"J_all": J}


def test_motor_step_response_is_two_exponentials():
    m = model("dc_motor")
    A, B, p = motor_numbers(m)
    r = ld.run(m, strict=True)
    s, X = np.linalg.eig(A)
    steady = -np.linalg.solve(A, B)
    weights = np.linalg.solve(X, -steady)
    exact = steady + np.real((X[None, :, :] * np.exp(np.outer(r.time, s))[:, None, :]) @ weights)
    compare("speed [rad/s]", r["speed"], exact[:, 0], 1e-8)
    compare("current [A]", r["current"], exact[:, 1], 1e-8)
    compare("no-load speed [rad/s]", steady[0],
            p["V"] * p["k"] / (p["g"] * (p["k"] ** 2 + p["R"] * p["b"])), 1e-14)
    # What the motor takes is heat, friction, motion and the field of the winding.
    field = p["L"] / 2 * np.asarray(r["current"]) ** 2
    compare("energy balance [J]", np.asarray(r["lost_energy"]) + r["energy"] + field, r["electrical_energy"], 1e-8)
    compare("kinetic energy with the rotor [J]", r["energy"], p["J_all"] / 2 * exact[:, 0] ** 2, 1e-8)
    # The effort on the joint is what accelerates the wheel alone.
    compare("torque [N m]", r["torque"], p["J"] * (A @ exact.T + B[:, None])[0], 1e-7)


@pytest.mark.parametrize("formulation", ["r3so3", "se3", "minimal"])
def test_motor_with_implicit_steps(formulation):
    m = model("dc_motor")
    A, B, p = motor_numbers(m)
    coarse, fine = (final(ld.run(m, integrator="generalized-alpha,rho=0.9", step=h, formulation=formulation), "speed")
                    for h in (2e-3, 1e-3))
    s, X = np.linalg.eig(A)
    steady = -np.linalg.solve(A, B)
    exact = steady[0] + np.real((X[0] * np.exp(0.5 * s)) @ np.linalg.solve(X, -steady))
    order = np.log2(abs(coarse - exact) / abs(fine - exact))
    print(f"{formulation}: error {abs(fine - exact):.1e} rad/s, order {order:.2f}")
    assert 1.8 < order < 2.2


@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")  # linearised where forces are not balanced
def test_motor_poles_and_linear_model():
    m = model("dc_motor")
    A, _, p = motor_numbers(m)
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    poles = ld.linearize(m, inputs=["V"], outputs=["speed", "torque"]).poles
    poles = np.sort_complex(poles[np.abs(poles) > 1e-6])
    compare("poles [1/s]", poles, np.sort_complex(np.linalg.eigvals(A)), 1e-9)
    m["forces"]["motor"]["voltage"] = 24
    space = ld.linearize(m, inputs=["forces.motor.voltage"], outputs=["speed"])
    assert "motor.current" in " ".join(space.states)
    w = 30j
    exact = np.linalg.solve(w * np.eye(2) - A, np.array([0, 1 / p["L"]]))[0]
    compare("transfer from voltage to speed", np.squeeze(space.transfer(w)), exact, 1e-9)


def test_motor_stalls():
    """A spring holds the wheel: the equilibrium carries the stall torque g k V/R."""
    m = model("dc_motor")
    p = m["parameters"]
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    m["forces"]["spring"] = {"type": "joint_spring", "joint": "axle", "stiffness": 50}
    m["sensors"]["angle"] = {"type": "joint_angle", "of": "axle"}
    rest = ld.static(m)
    compare("stall torque [N m]", 50 * rest["angle"], p["g"] * p["k"] * p["V"] / p["R"], 1e-9)
    compare("stall current [A]", rest["current"], p["V"] / p["R"], 1e-9)


def test_motor_without_inductance_is_one_exponential():
    m = model("dc_motor")
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    m["parameters"]["L"] = 0
    p = m["parameters"]
    r = ld.run(m, strict=True)
    J = p["J"] + p["g"] ** 2 * p["rotor"]
    rate = p["g"] ** 2 * (p["b"] + p["k"] ** 2 / p["R"]) / J
    final = p["V"] * p["k"] / (p["g"] * (p["k"] ** 2 + p["R"] * p["b"]))
    speed = final * (1 - np.exp(-rate * r.time))
    compare("speed [rad/s]", r["speed"], speed, 1e-8)
    compare("current [A]", r["current"], (p["V"] - p["g"] * p["k"] * speed) / p["R"], 1e-8)


def test_motor_current_control_names_its_own_state():
    """A proportional controller of the current: i -> V = P (i* - i) gives i = P i*/(P + R) at stall."""
    m = model("dc_motor")
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    m["forces"]["motor"]["voltage"] = "10*(3 - motor.current)"
    m["forces"]["brake"] = {"type": "joint_spring", "joint": "axle", "damping": 1e9}
    current = final(ld.run(m, integrator="generalized-alpha", step=1e-3, end=0.3), "current")
    compare("current [A]", current, 30 / (10 + m["parameters"]["R"]), 1e-6)


def test_motor_derivatives():
    m = model("dc_motor")
    p = m["parameters"]
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    m["forces"]["motor"] |= {"voltage": p["V"], "resistance": p["R"], "inductance": p["L"], "torque_constant": p["k"],
                             "gear_ratio": p["g"], "rotor_inertia": p["rotor"], "damping": p["b"],
                             "initial_current": 0.7}
    parameters = [f"forces.motor.{k}" for k, v in m["forces"]["motor"].items() if isinstance(v, (int, float))]
    assert len(parameters) == 8
    check_derivatives("motor", m, parameters, ["speed", "current", "torque", "energy"], 2e-6,
                      integrator="generalized-alpha", step=1e-3, end=0.05)


def test_motor_derivatives_through_the_voltage():
    """A parameter in an expression of states and sensors."""
    m = model("dc_motor")
    del m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    m["parameters"]["P"] = 0.8
    m["forces"]["motor"]["voltage"] = "P*(20 - speed) + sin(t) - 0.1*motor.current"
    check_derivatives("motor", m, ["P"], ["speed", "current"], 2e-6, integrator="generalized-alpha", step=1e-3, end=0.05)


# ---- clutch


def test_clutch_locks():
    """The slip falls with T (1/J1 + 1/J2) and ends when both turn alike."""
    m = model("clutch")
    p = m["parameters"]
    r = ld.run(m, strict=True)
    share = 1 / p["J1"] + 1 / p["J2"]
    lock = p["speed"] / (p["torque"] * share)
    common = p["J1"] * p["speed"] / (p["J1"] + p["J2"])
    slipping = r.time < lock - 0.01
    slip = np.asarray(r["slip"])
    compare("slip [rad/s]", slip[slipping], -p["speed"] + p["torque"] * share * r.time[slipping], 1e-9)
    # The bristle lets go within about the period of the spring, 28 ms.
    compare("time to lock [s]", r.time[np.argmax(slip > -1e-3 * p["speed"])], lock, 2e-3)
    compare("common speed [rad/s]", [final(r, "engine_speed"), final(r, "load_speed")], common, 1e-9)
    lost = p["J1"] * p["J2"] / (p["J1"] + p["J2"]) * p["speed"] ** 2 / 2
    compare("energy lost [J]", np.asarray(r["energy"])[0] - final(r, "energy"), lost, 1e-9)
    compare("torque at the end [N m]", 1 + final(r, "transmitted"), 1, 1e-6)


def test_clutch_sticks_without_creep():
    """Under a load of 80 % of its capacity a stuck clutch bends once by 0.8 of its deflection and stays."""
    m = model("clutch")
    m["bodies"]["engine"]["angular_velocity"] = [0, 0, 0]
    m["joints"]["hold"] = {"type": "prescribed_motion", "joint": "input", "motion": 0}
    m["forces"]["clutch"]["initial_bristle"] = 0
    m["forces"]["clutch"]["damping_time"] = 0.03
    m["forces"]["load"] = {"type": "joint_effort", "joint": "output", "effort": "4.8*step(t, 0, 3)"}
    m["sensors"]["turned"] = {"type": "joint_angle", "of": "output"}
    m["sensors"]["bristle"] = {"type": "state", "of": "clutch.bristle"}
    ends = [final(ld.run(m, end=end, step=1e-3, integrator="generalized-alpha,rho=0.6"), "turned") for end in (6, 9)]
    # s' = (1 - s) v/delta while it bends: s = 1 - exp(-x/delta).
    compare("bending [rad]", ends[0], -np.log(1 - 0.8) * m["parameters"]["deflection"], 1e-6)
    compare("the same 3 s later [rad]", ends[1], ends[0], 1e-9)


def test_smooth_clutch_has_a_closed_form():
    """v' = -a v/sqrt(v^2 + s^2):  sqrt(v^2 + s^2) - s asinh(s/|v|) falls with a t."""
    m = model("clutch")
    p = m["parameters"]
    s = 2.0
    m["forces"]["clutch"] = {"type": "clutch", "joints": ["input", "output"], "capacity": "torque", "smoothing": s}
    r = ld.run(m, integrator="dopri5,adaptive=true,rtol=1e-10,atol=1e-12,max_step=0.02", end=2.5)
    v = -np.asarray(r["slip"])
    F = np.sqrt(v * v + s * s) - s * np.arcsinh(s / v)
    compare("sqrt(v^2 + s^2) - s asinh(s/v) [rad/s]", F, F[0] - p["torque"] * (1 / p["J1"] + 1 / p["J2"]) * r.time, 1e-8)


def test_clutch_engages_with_its_capacity():
    """A capacity that grows with time: momentum T(t) dt."""
    m = model("clutch")
    m["forces"]["clutch"]["capacity"] = "torque*t/2"
    p = m["parameters"]
    r = ld.run(m, end=1)
    compare("speed of the load [rad/s]", final(r, "load_speed"), p["torque"] / 4 / p["J2"], 1e-6)


def test_brake_in_one_joint():
    m = model("clutch")
    p = m["parameters"]
    m["forces"]["clutch"] = {"type": "joint_clutch", "joint": "input", "law": "stick", "capacity": "torque",
                             "initial_bristle": 1, "damping_time": 3e-3}
    m["sensors"]["turned"] = {"type": "joint_angle", "of": "input"}
    r = ld.run(m, end=5)
    compare("angle until it stands [rad]", final(r, "turned"), p["J1"] * p["speed"] ** 2 / (2 * p["torque"]), 1e-4)
    assert abs(final(r, "engine_speed")) < 1e-6


def test_clutch_derivatives():
    for law, fields in (("stick", ["capacity", "deflection", "damping_time", "initial_bristle"]), ("smooth", ["capacity", "smoothing"])):
        m = model("clutch")
        numbers = {"capacity": 6.0, "deflection": 0.2, "damping_time": 0.01, "initial_bristle": -0.4, "smoothing": 3.0}
        m["forces"]["clutch"] = {"type": "clutch", "joints": ["input", "output"], "law": law} | {f: numbers[f] for f in fields}
        check_derivatives(f"clutch {law}", m, [f"forces.clutch.{f}" for f in fields], ["load_speed", "transmitted"], 2e-6,
                          integrator="generalized-alpha", step=1e-3, end=0.01)


# ---- hydraulic cylinder


@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")  # linearised where forces are not balanced
def test_blocked_cylinder_is_a_spring():
    """k = beta (A_a^2/V_a + A_b^2/V_b), without leakage and friction."""
    m = model("hydraulic_cylinder")
    f = m["forces"]["cylinder"] | {"valve": 0, "leakage": 0, "damping": 0}
    m["forces"]["cylinder"] = f
    x = 0.8 - f["retracted"]
    Va = f["dead_volume_a"] + f["area_a"] * x
    Vb = f["dead_volume_b"] + f["area_b"] * (f["stroke"] - x)
    k = f["bulk_modulus"] * (f["area_a"] ** 2 / Va + f["area_b"] ** 2 / Vb)
    exact = np.sqrt(k / m["parameters"]["mass"]) / (2 * np.pi)
    poles = ld.linearize(m, inputs=["forces.cylinder.valve"], outputs=["speed"]).poles
    compare("natural frequency [Hz]", max(poles.imag) / (2 * np.pi), exact, 1e-8)
    print(f"hydraulic stiffness {k:.4g} N/m, {exact:.3f} Hz")
    # The mass swings with this frequency when it is pushed.
    m["bodies"]["table"]["velocity"] = [1e-4, 0, 0]
    r = ld.run(m, integrator="dopri5", end=0.1, step=1e-4, strict=True)
    assert r.time[-1] == 0.1
    compare("position [m]", r["position"], 1e-4 * np.sin(2 * np.pi * exact * r.time) / (2 * np.pi * exact), 1e-4)


def test_cylinder_moves_with_the_steady_speed():
    """A_a v = u K sqrt(p_s - p_a), A_b v = u K sqrt(p_b - p_t), A_a p_a - A_b p_b = d v."""
    m = model("hydraulic_cylinder")
    f = m["forces"]["cylinder"]
    f["leakage"] = 0
    r = ld.run(m, end=0.75)
    K = m["parameters"]["opening"] * f["rated_flow"] / np.sqrt(f["rated_drop"])
    a, b = f["area_a"], f["area_b"]
    # (a^3 + b^3)/K^2 v^2 + d v - (a p_s - b p_t) = 0
    v = max(np.roots([(a**3 + b**3) / K**2, f["damping"], -(a * f["supply_pressure"] - b * f["tank_pressure"])]))
    compare("speed [m/s]", final(r, "speed"), v, 1e-5)
    compare("flow into A [m^3/s]", final(r, "flow_a"), a * v, 1e-5)
    compare("pressure A [Pa]", final(r, "pressure_a"), f["supply_pressure"] - (a * v / K) ** 2, 1e-4)
    compare("pressure B [Pa]", final(r, "pressure_b"), f["tank_pressure"] + (b * v / K) ** 2, 1e-4)


def test_cylinder_in_a_joint_is_the_same():
    m = model("hydraulic_cylinder")
    n = copy.deepcopy(m)
    f = n["forces"]["cylinder"]
    del f["between"], f["points"]
    f |= {"type": "joint_hydraulics", "joint": "guide", "retracted": f["retracted"] - 0.8}
    one, other = ld.run(m), ld.run(n)
    compare("position [m]", one["position"], other["position"], 1e-10)
    compare("pressure [Pa]", one["pressure_a"], other["pressure_a"], 1e-9)


def test_leaking_cylinder_reaches_its_equilibrium():
    """Closed valve and leakage: the pressures become equal, and a spring carries p (A_a - A_b)."""
    m = model("hydraulic_cylinder")
    f = m["forces"]["cylinder"] | {"valve": 0.2, "leakage": 1e-13}
    m["forces"]["cylinder"] = f
    m["forces"]["spring"] = {"type": "joint_spring", "joint": "guide", "stiffness": 4e5}
    rest = ld.static(m)
    compare("force of the spring [N]", 4e5 * rest["position"],
            f["area_a"] * rest["pressure_a"] - f["area_b"] * rest["pressure_b"], 1e-9)
    # At rest nothing flows but the leak: nearly the pressures of supply and tank.
    compare("pressure A [Pa]", rest["pressure_a"], f["supply_pressure"], 1e-3)
    compare("pressure B [Pa]", 1e7 + rest["pressure_b"], 1e7 + f["tank_pressure"], 1e-3)


def test_cylinder_derivatives():
    m = model("hydraulic_cylinder")
    f = m["forces"]["cylinder"]
    f["valve"] = 0.4
    numbers = [f"forces.cylinder.{k}" for k, v in f.items() if isinstance(v, (int, float))]
    assert len(numbers) == 16
    check_derivatives("cylinder", m, numbers, ["position", "pressure_a", "pressure_b", "force"], 2e-5,
                      integrator="generalized-alpha", step=5e-4, end=0.05)


# ---- bearings


def test_rotor_whirls():
    """Conical whirl: It w^2 - Ip spin w - (2 k a^2 + 2 kt) = 0 forwards, and with -spin backwards."""
    m = model("rotor_in_bearings")
    p = m["parameters"]
    tilt = 2 * p["k"] * p["a"] ** 2 + 2 * p["kt"]
    gyro = p["Ip"] * p["spin"]
    root = np.sqrt(gyro**2 + 4 * p["It"] * tilt)
    exact = [np.sqrt(p["ka"] / p["m"]), np.sqrt(2 * p["k"] / p["m"]), np.sqrt(2 * p["k"] / p["m"]),
             (root - gyro) / (2 * p["It"]), (root + gyro) / (2 * p["It"])]
    found = ld.modes(m).frequencies
    found = np.sort(found[found > 1e-3])
    print("whirl [Hz]:", found)
    compare("frequencies [Hz]", found, np.sort(exact) / (2 * np.pi), 1e-8)


def test_bearing_does_not_mind_how_far_the_shaft_has_turned():
    """A static load: after any number of turns the deflection is the same, and no torque acts about the axis."""
    m = model("rotor_in_bearings")
    p = m["parameters"]
    p["spin"] = 0
    m["gravity"] = [9.81, 0, 0]
    weak = {"type": "bushing", "between": ["ground", "rotor"], "at": [0, 0, 0], "rotational_stiffness": [0, 0, 1]}
    m["forces"]["hold"] = weak  # so that the equilibrium is one
    for angle in (0, 1, 3, 6):
        m["bodies"]["rotor"]["orientation"] = {"rotation_vector": [0, 0, angle]}
        rest = ld.static(m)
        compare(f"deflection after {angle} rad [m]", np.asarray(rest["place"]), [p["m"] * 9.81 / (2 * p["k"]), 0, 0], 1e-9)
    # And while it turns.
    del m["forces"]["hold"]
    m["parameters"]["spin"] = 600
    m["bodies"]["rotor"]["position"] = [p["m"] * 9.81 / (2 * p["k"]), 0, 0]
    m["forces"]["left"]["at"] = {"ground": [0, 0, "-a"], "rotor": [0, 0, "-a"]}
    m["forces"]["right"]["at"] = {"ground": [0, 0, "a"], "rotor": [0, 0, "a"]}
    r = ld.run(m)
    compare("place while it turns [m]", np.asarray(r["place"])[-1], [p["m"] * 9.81 / (2 * p["k"]), 0, 0], 1e-6)


def test_bearing_with_coupled_stiffness():
    """One bearing with a full matrix, at the centre of mass: static deflections under a force are K^-1 F."""
    rng = np.random.default_rng(4)
    A = rng.uniform(-1, 1, (5, 5))
    K = np.zeros((6, 6))
    K[:5, :5] = 1e5 * (A @ A.T + np.eye(5))
    m = {"liedyn": 1, "bodies": {"shaft": {"type": "rigid", "mass": 2, "inertia": [0.1, 0.1, 0.1]}},
         "joints": {}, "forces": {
             "bearing": {"type": "bearing", "between": ["ground", "shaft"], "at": [0, 0, 0], "stiffness": K.tolist()},
             "hold": {"type": "bushing", "between": ["ground", "shaft"], "at": [0, 0, 0], "rotational_stiffness": [0, 0, 1]},
             "push": {"type": "force", "on": "shaft", "force": [0.3, -0.2, 0.5]}},
         "sensors": {"place": {"type": "position", "of": "shaft"}, "turn": {"type": "rotation_vector", "of": "shaft"}}}
    rest = ld.static(m)
    exact = np.linalg.solve(K[:5, :5], [0.3, -0.2, 0.5, 0, 0])
    compare("displacements and tilts", np.concatenate([rest["place"], rest["turn"][:2]]), exact, 1e-4)


# ---- trajectory


def test_arm_passes_its_waypoints_within_its_limits():
    m = model("trajectory")
    r = ld.run(m, step=5e-4)
    t = m["tables"]["move"]
    end = r.time[-1] - 0.3
    print(f"duration {end - 0.2:.6f} s")
    for joint, q, w in (("shoulder", "q1", "w1"), ("elbow", "q2", "w2")):
        waypoints = [eval(str(x).replace("*deg", "*np.pi/180")) for x in t["waypoints"][joint]]
        q, w = np.asarray(r[q]), np.asarray(r[w])
        compare(f"{joint} at the end [rad]", q[-1], waypoints[-1], 1e-9)
        for waypoint in waypoints:
            step = np.max(np.abs(np.diff(q)))
            assert np.min(np.abs(q - waypoint)) <= step
        speed = np.max(np.abs(w)) / t["speed"][joint]
        acceleration = np.max(np.abs(np.diff(w))) / 5e-4 / t["acceleration"][joint]
        print(f"{joint}: {speed:.6f} of the speed, {acceleration:.6f} of the acceleration")
        assert speed <= 1 + 1e-6 and acceleration <= 1 + 1e-3
        assert abs(w[-1]) < 1e-9


def test_trajectory_starts_from_rest():
    """At the ends and beyond the speed is exactly zero: bodies at rest satisfy the drive, also where it starts at once."""
    m = model("trajectory")
    m["gravity"] = [0, 0, 0]
    m["tables"]["move"]["start"] = 0
    r = ld.run(m, step=1e-2, strict=True)
    assert r["w1"][0] == 0 and abs(r["w1"][-1]) < 1e-9  # what Newton's method leaves
    m["joints"]["drive1"]["motion"] = {"trajectory": {"waypoints": [0, 1], "speed": 1, "acceleration": 2}}
    assert abs(final(ld.run(m, step=1e-2, strict=True), "q1") - 1) < 1e-12


def test_trajectory_as_a_target():
    """The same object stands for the target of a controller and in a signal."""
    m = model("trajectory")
    del m["joints"]["drive1"], m["joints"]["drive2"]
    m["sensors"] = {k: v for k, v in m["sensors"].items() if not k.startswith("torque")}
    m["forces"] = {
        "servo1": {"type": "joint_actuator", "joint": "shoulder", "proportional": 4e4, "derivative": 4e2, "target": "move.shoulder(t)"},
        "servo2": {"type": "joint_actuator", "joint": "elbow", "proportional": 4e4, "derivative": 4e2,
                   "target": {"trajectory": {"waypoints": [0, 0.5, -0.2], "speed": 2, "acceleration": 9}}}}
    r = ld.run(m)
    assert abs(final(r, "q1") - np.pi / 2) < 2e-3 and abs(final(r, "q2") + 0.2) < 2e-3


# ---- mistakes


@pytest.mark.parametrize(("name", "changes", "expected"), [
    ("dc_motor", {"inductance": -1}, ["forces.motor.inductance", "expected a non-negative number, got -1"]),
    ("dc_motor", {"resistance": 0}, ["forces.motor.resistance", "expected a positive number, got 0"]),
    ("dc_motor", {"gear_ratio": 0}, ["forces.motor", "gear_ratio: expected a number that is not 0"]),
    ("dc_motor", {"voltage": "12*currant"}, ["forces.motor.voltage", "unknown name 'currant'"]),
    ("dc_motor", {"voltage": "motor.curent"}, ["forces.motor.voltage", "did you mean 'motor.current'"]),
    ("dc_motor", {"joint": "axel"}, ["forces.motor.joint", "there is no joint 'axel'", "did you mean 'axle'"]),
    ("hydraulic_cylinder", {"dead_volume_a": 0}, ["forces.cylinder.dead_volume_a", "expected a positive number, got 0"]),
    ("hydraulic_cylinder", {"retracted": 0.1}, ["forces.cylinder", "expected 0.1 m (retracted) to 0.7 m (extended)"]),
    ("hydraulic_cylinder", {"supply_pressure": 0}, ["supply_pressure: expected at least the pressure of the tank"]),
    ("clutch", {"law": "smooth"}, ["forces.clutch", "smoothing: missing"]),
    ("clutch", {"capacity": -1}, ["capacity: expected a non-negative number, got -1"]),
    ("clutch", {"initial_bristle": 2}, ["initial_bristle: expected a number from -1 to 1, got 2"]),
    ("rotor_in_bearings", {"stiffness": [1, 1, 1, 1, 1, 1]}, ["stiffness[5][5]: expected 0, got 1", "turns freely about z"]),
])
def test_mistakes_are_named(name, changes, expected):
    m = model(name)
    force = next(iter(m["forces"].values()))
    force.update(changes)
    if name == "hydraulic_cylinder":
        force["points"] = [[0.2, 0, 0], [1, 0, 0]]
    with pytest.raises(ld.InputError) as error:
        ld.run(m)
    for text in expected:
        assert text in str(error.value), str(error.value)


def test_more_mistakes():
    m = model("dc_motor")
    m["joints"]["axle"] = {"type": "spherical", "between": ["ground", "wheel"], "at": [0, 0, 0]}
    del m["sensors"]["speed"], m["states"], m["sensors"]["electrical_energy"], m["sensors"]["lost_energy"]
    with pytest.raises(ld.InputError, match="expected a joint with a coordinate, got 'axle' of type spherical"):
        ld.run(m)
    m = model("dc_motor")
    m["sensors"]["current"]["quantity"] = "presure_a"
    with pytest.raises(ld.InputError, match="'motor' of type dc_motor has no quantity 'presure_a', expected one of current"):
        ld.run(m)
    with pytest.raises(ld.InputError, match="inductance: expected a positive number, got 0"):
        changed = model("dc_motor")
        changed["forces"]["motor"]["inductance"] = 0.03
        ld.run(changed, set={"forces.motor.inductance": 0})


def test_examples_follow_the_schema(tmp_path):
    schema = json.loads(subprocess.run(["liedyn", "schema"], capture_output=True, text=True, check=True).stdout)
    for file in sorted(MACHINES.glob("*.json")):
        jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), schema)


# ---- tyres


def steady_cornering(m: dict) -> np.ndarray:
    """Forward and lateral speed, yaw rate and wheel rates of the single-track car, by Newton's method with differences."""
    p = m["parameters"]
    a, b, g, wheel, delta = p["a"], p["b"], p["g"], p["wheel"], p["steering"]
    loads = [p["mass"] * g * arm / (a + b) + wheel * g for arm in (b, a)]
    radii = [p["radius"] - load / p["stiffness"] for load in loads]
    total = p["mass"] + 2 * wheel

    def brush(slip_velocity, rolling, load):
        slip = slip_velocity / np.hypot(rolling, 0.1)  # minimum_speed
        size = np.hypot(*slip)
        x = min(p["slip_stiffness"] * size / (3 * p["mu"] * load), 1)
        return -p["mu"] * load * (3 * x - 3 * x**2 + x**3) * slip / size if size > 0 else 0 * slip

    def left_over(z):
        vx, vy, r, front, rear = z
        forces = []
        for x, angle, rate, load, radius in ((a, delta, front, loads[0], radii[0]), (-b, 0, rear, loads[1], radii[1])):
            e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
            v = np.array([vx, vy + x * r])
            own = brush(np.array([v @ e - radius * rate, v @ n]), radius * rate, load)
            forces.append((own[0] * e + own[1] * n, own[0] * radius))
        (front_force, front_torque), (rear_force, rear_torque) = forces
        return np.array([
            -total * vy * r - wheel * (a - b) * r**2 - front_force[0] - rear_force[0],
            total * vx * r - front_force[1] - rear_force[1],
            a * front_force[1] - b * rear_force[1] - wheel * (a - b) * vx * r,
            front_torque,
            p["gain"] * (p["speed"] / radii[1] - rear) - rear_torque,
        ])

    z = np.array([p["speed"], 0, p["speed"] * delta / (a + b), p["speed"] / radii[0], p["speed"] / radii[1]])
    for _ in range(30):
        now = left_over(z)
        steps = 1e-7 * np.maximum(np.abs(z), 0.1)
        J = np.column_stack([(left_over(z + h * e) - left_over(z - h * e)) / (2 * h) for h, e in zip(steps, np.eye(5))])
        z = z - np.linalg.solve(J, now)
    assert np.max(np.abs(left_over(z))) < 1e-6
    return z


def bicycle_yaw_rate(p: dict) -> float:
    """Linear tyres: v delta/(l + K v^2), K = (W_f/C_f - W_r/C_r)/g with the loads W of the axles."""
    length = p["a"] + p["b"]
    K = (p["b"] - p["a"]) / length * p["mass"] / p["slip_stiffness"]
    return p["speed"] * p["steering"] / (length + K * p["speed"] ** 2)


@pytest.mark.parametrize("steering", [2e-5, 0.02, 0.06])
def test_the_car_turns_as_the_brush_model_says(steering):
    m = model("tyre_cornering")
    m["parameters"]["steering"] = steering
    r = ld.run(m, strict=True)
    expected = steady_cornering(m)
    found = np.array([final(r, name) for name in ("forward", "sideways", "yaw_rate", "front_rate", "rear_rate")])
    for name, x, y, tolerance in zip(("forward", "sideways", "yaw rate", "front", "rear"), found, expected, (3e-7, 2e-4, 2e-5, 3e-7, 3e-8)):
        compare(f"steering {steering:g} rad: {name}", x, y, tolerance)
    linear = bicycle_yaw_rate(m["parameters"])
    if steering < 1e-4:
        compare("yaw rate of the bicycle model", found[2], linear, 1e-4)
    else:
        assert abs(found[2] / linear - 1) > 0.01  # the tyres are beyond their linear range

"""The models of examples/tasks against closed forms and small programs of their own, which share nothing with the engine.

`pytest -s` prints every comparison. The references are integrated with order 8 and steps that make their own error negligible.
"""

import cmath
import json
import math
import runpy
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import liedyn as ld

TASKS = Path(__file__).parents[2] / "examples" / "tasks"
GRAVITY = 9.81


def model(name: str) -> dict:
    return json.loads((TASKS / f"{name}.json").read_text(encoding="utf-8"))


def run(name: str, **options) -> ld.Result:
    return ld.run(TASKS / f"{name}.json", strict=True, **options)


def values(result: ld.Result, *sensors: str) -> np.ndarray:
    """The sensors side by side, one row per time."""
    return np.column_stack([np.asarray(result[sensor]).reshape(len(result.time), -1) for sensor in sensors])


def compare(what: str, found, expected, tolerance: float) -> None:
    """`tolerance` bounds the largest difference."""
    difference = float(np.max(np.abs(np.asarray(found) - np.asarray(expected))))
    size = float(np.max(np.abs(expected)))
    print(f"{what}: largest difference {difference:.1e} of at most {size:.6g}, allowed {tolerance:.0e}")
    assert difference <= tolerance, what


def advance(rate, t: float, y: np.ndarray, h: float) -> np.ndarray:
    """One step of order 8: Gragg's midpoint rule with 2, 4, 6, 8 parts, extrapolated to infinitely many."""
    parts, table = (2, 4, 6, 8), []
    first = rate(t, y)
    for j, n in enumerate(parts):
        d = h / n
        before, now = y, y + d * first
        for i in range(1, n):
            before, now = now, before + 2 * d * rate(t + i * d, now)
        row = [(before + now + d * rate(t + h, now)) / 2]
        for k in range(j):
            row.append(row[k] + (row[k] - table[j - 1][k]) / ((n / parts[j - k - 1]) ** 2 - 1))
        table.append(row)
    return table[-1][-1]


def integrate(rate, start, times, step: float, corner=None) -> np.ndarray:
    """y' = rate(t, y) at the times, with equal steps of at most `step` between them; steps end where corner(y) changes its sign."""
    y = np.array(start, dtype=float)
    rows = [y]
    for begin, end in zip(times[:-1], times[1:]):
        h = (end - begin) / math.ceil((end - begin) / step - 1e-9)
        t = begin
        while t < end - 1e-9 * h:
            d = min(h, end - t)
            then = advance(rate, t, y, d)
            if corner and corner(y) * corner(then) < 0:
                low, high = 0.0, d
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if corner(y) * corner(advance(rate, t, y, middle)) > 0 else (low, middle)
                d, then = high, advance(rate, t, y, high)
            t, y = t + d, then
        rows.append(y)
    return np.array(rows)


def smooth_step(t: float, begin: float, end: float) -> np.ndarray:
    """The quintic from 0 to 1 with its first and second derivatives."""
    s, T = min(max((t - begin) / (end - begin), 0.0), 1.0), end - begin
    return np.array([s**3 * (10 - 15 * s + 6 * s * s), 30 * s**2 * (1 - s) ** 2 / T, 60 * s * (1 - s) * (1 - 2 * s) / T**2])


def work(result: ld.Result, *powers: str) -> np.ndarray:
    """Integral of the powers up to each time, of cubics through four neighbouring points."""
    p, h = values(result, *powers).sum(axis=1), result.time[1] - result.time[0]
    inner = (-p[:-3] + 13 * p[1:-2] + 13 * p[2:-1] - p[3:]) / 24
    first = (9 * p[0] + 19 * p[1] - 5 * p[2] + p[3]) / 24
    last = (9 * p[-1] + 19 * p[-2] - 5 * p[-3] + p[-4]) / 24
    return h * np.concatenate([[0], np.cumsum(np.concatenate([[first], inner, [last]]))])


# ---- all of them


def names() -> list[str]:
    return sorted(file.stem for file in TASKS.glob("*.json"))


@pytest.mark.parametrize("name", names())
def test_is_a_model_without_aids(name):
    """The published schema accepts it, and it has no massless bodies that only carry coordinates."""
    schema = json.loads(subprocess.run(["liedyn", "schema"], capture_output=True, text=True, check=True).stdout)
    jsonschema.validate(model(name), schema)
    masses = [value for path, value in ld.parameters(TASKS / f"{name}.json").items() if path.endswith(".mass")]
    assert all(mass > 0 for mass in masses)


# ---- a: double pendulum


def double_pendulum(p: dict):
    """Rates of the absolute angles from the vertical and of their rates."""
    l1, l2 = p["L1"] / 2, p["L2"] / 2
    m11 = p["m1"] * (l1**2 + p["L1"] ** 2 / 12) + p["m2"] * p["L1"] ** 2
    m22 = p["m2"] * (l2**2 + p["L2"] ** 2 / 12)
    coupling = p["m2"] * p["L1"] * l2

    def rate(_t, y):
        a, b, u, v = y
        M = np.array([[m11, coupling * np.cos(a - b)], [coupling * np.cos(a - b), m22]])
        f1 = -coupling * np.sin(a - b) * v * v - (p["m1"] * l1 + p["m2"] * p["L1"]) * GRAVITY * np.sin(a)
        f2 = coupling * np.sin(a - b) * u * u - p["m2"] * l2 * GRAVITY * np.sin(b)
        f1 += -p["c1"] * u + p["c2"] * (v - u)
        f2 += -p["c2"] * (v - u)
        return np.array([u, v, *np.linalg.solve(M, [f1, f2])])

    return rate


def test_a_double_pendulum():
    rate = double_pendulum(model("a_double_pendulum")["parameters"])
    result = run("a_double_pendulum", from_={"joints": {"shoulder": 1.2, "elbow": -0.7}})
    y = integrate(rate, [1.2, 0.5, 0, 0], result.time, 0.01)
    compare("angles [rad]", values(result, "q1", "q2"), np.column_stack([y[:, 0], y[:, 1] - y[:, 0]]), 1e-8)
    fine = run("a_double_pendulum", from_={"joints": {"shoulder": 1.2, "elbow": -0.7}}, step=2e-3)
    energy = values(fine, "energy")[:, 0]
    compare("energy less the work of the dampers [J]", energy - work(fine, "lost1", "lost2"), energy[0], 5e-8)

    # Poles of the hanging pendulum: those of the matrix of the linear equations, by central differences of the rates.
    d = 1e-6
    A = np.column_stack([(rate(0, d * e) - rate(0, -d * e)) / (2 * d) for e in np.eye(4)])
    expected = np.linalg.eigvals(A)
    found = ld.modes(TASKS / "a_double_pendulum.json").eigenvalues
    expected = np.sort_complex(expected[expected.imag > 0])
    compare("poles [1/s]", np.sort_complex(found), expected, 1e-8)


# ---- b: four-bar linkage


def four_bar(p: dict, masses, inertias):
    """The linkage in the angle of its crank, with complex numbers as vectors: velocities are k phi', accelerations k phi'' + k' phi'^2."""
    a, b, c, d = p["a"], p["b"], p["c"], p["d"]

    def kinematics(phi):
        crank = cmath.exp(1j * phi)
        line = d - a * crank  # from B to D; C is above it
        r = abs(line)
        coupler = line / r * cmath.exp(1j * math.acos((b * b + r * r - c * c) / (2 * b * r)))
        rocker = (b * coupler - line) / c

        # b i coupler beta' - c i rocker gamma' = right side, for both rates
        def rates(right):
            sine = (coupler / rocker).imag
            return -(right / rocker).real / (b * sine), -(right / coupler).real / (c * sine)

        beta1, gamma1 = rates(-1j * a * crank)
        beta2, gamma2 = rates(a * crank + b * coupler * beta1**2 - c * rocker * gamma1**2)
        k = (0.5j * a * crank, 1j * (a * crank + b / 2 * coupler * beta1), 0.5j * c * rocker * gamma1)
        k1 = (-a / 2 * crank, -a * crank + b / 2 * coupler * (1j * beta2 - beta1**2), c / 2 * rocker * (1j * gamma2 - gamma1**2))
        return cmath.phase(rocker), k, k1, (1.0, beta1, gamma1), (0.0, beta2, gamma2)

    def rate(_t, y):
        phi, speed = y.tolist()
        _, k, k1, turn, turn1 = kinematics(phi)
        mass = sum(m * abs(u) ** 2 + J * w * w for m, J, u, w in zip(masses, inertias, k, turn))
        half_slope = sum(m * (u.conjugate() * v).real + J * w * x for m, J, u, v, w, x in zip(masses, inertias, k, k1, turn, turn1))
        torque = p["T0"] * (1 - speed / p["w0"]) - GRAVITY * sum(m * u.imag for m, u in zip(masses, k))
        return np.array([speed, (torque - half_slope * speed**2) / mass])

    return kinematics, rate


def test_b_four_bar_motor():
    m = model("b_four_bar_motor")
    masses = np.array([body["mass"] for body in m["bodies"].values()])
    kinematics, rate = four_bar(m["parameters"], masses, np.array([body["inertia"] for body in m["bodies"].values()]))
    result = run("b_four_bar_motor")
    y = integrate(rate, [0, 0], result.time, 1.25e-3)
    compare("angle of the crank [rad]", values(result, "angle")[:, 0], y[:, 0], 1e-7)
    compare("speed of the crank [rad/s]", values(result, "speed")[:, 0], y[:, 1], 2e-6)
    compare("angle of the rocker [rad]", values(result, "rocker_angle")[:, 0], [kinematics(phi)[0] for phi in y[:, 0]], 5e-8)
    compare("torque of the motor [N m]", values(result, "torque")[:, 0], 2 * (1 - y[:, 1] / 25), 2e-7)
    fine = run("b_four_bar_motor", step=5e-4)
    energy = values(fine, "energy")[:, 0]
    compare("energy less the work of the motor [J]", energy - work(fine, "power"), energy[0], 1e-6)
    forces = values(result, "force_A") + values(result, "force_D") + [0, -GRAVITY * masses.sum(), 0]
    inertia = sum(mass * values(result, f"{name}_acceleration") for name, mass in zip(m["bodies"], masses))
    compare("reactions and weight against m a [N]", forces, inertia, 1e-9)


# ---- c: a body in space


def test_c_cubic_spring_and_drag():
    m = model("c_cubic_spring_and_drag")
    p, box = m["parameters"], m["bodies"]["box"]
    inertia, eye = np.array(box["inertia"]), np.array([0.05, 0.02, 0.1])

    def rotation(q):
        w, v = q[0], q[1:]
        cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        return np.eye(3) + 2 * w * cross + 2 * cross @ cross

    def forces(x, q, v):
        R = rotation(q / np.linalg.norm(q))
        arm = R @ eye
        length = np.linalg.norm(x + arm)
        stretch = length - p["free"]
        tension = p["k"] * stretch + p["k3"] * stretch**3
        spring = -tension / length * (x + arm)
        relative = v - [p["wind"], 0, 0]
        return tension, spring, -p["drag"] * np.linalg.norm(relative) * relative, np.cross(eye, R.T @ spring)

    def rate(_t, y):
        x, q, v, w = y[:3], y[3:7], y[7:10], y[10:]
        _, spring, air, torque = forces(x, q, v)
        q_rate = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([v, q_rate, (spring + air) / box["mass"] + [0, 0, -GRAVITY], (torque - np.cross(w, inertia * w)) / inertia])

    result = run("c_cubic_spring_and_drag")
    y = integrate(rate, [*box["position"], 1, 0, 0, 0, *box["velocity"], *box["angular_velocity"]], result.time, 0.01)
    compare("position [m]", values(result, "position"), y[:, :3], 5e-9)
    compare("angular velocity [rad/s]", values(result, "spin"), y[:, 10:], 5e-7)
    applied = [forces(row[:3], row[3:7], row[7:10]) for row in y]
    compare("tension of the spring [N]", values(result, "tension")[:, 0], [f[0] for f in applied], 1e-6)
    compare("drag [N]", values(result, "air_force"), [f[2] for f in applied], 5e-8)
    compare("power of the drag [W]", values(result, "air_power")[:, 0], [f[2] @ row[7:10] for f, row in zip(applied, y)], 5e-8)


# ---- d: quarter car


def pchip(x: np.ndarray, y: np.ndarray):
    """Piecewise cubics with the slopes of Fritsch and Butland, constant beyond the ends."""
    h, d = np.diff(x), np.diff(y) / np.diff(x)
    slopes = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        if d[i - 1] * d[i] > 0:
            w1, w2 = 2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]
            slopes[i] = (w1 + w2) / (w1 / d[i - 1] + w2 / d[i])
    assert d[0] == 0 and d[-1] == 0  # flat ends: their slopes are 0

    def value(at: float) -> float:
        at = min(max(at, x[0]), x[-1])
        i = min(int(np.searchsorted(x, at, side="right")) - 1, len(h) - 1)
        s = (at - x[i]) / h[i]
        return (y[i] * (1 + 2 * s) * (1 - s) ** 2 + y[i + 1] * s * s * (3 - 2 * s)
                + h[i] * (slopes[i] * s * (1 - s) ** 2 - slopes[i + 1] * s * s * (1 - s)))

    return value


def test_d_quarter_car():
    p = model("d_quarter_car")["parameters"]
    table = np.genfromtxt(TASKS / "road.csv", delimiter=",", skip_header=1)
    road = pchip(table[:, 0], table[:, 1])
    M, m, k, c, tyre = (p[name] for name in ("car_mass", "wheel_mass", "k", "c", "tyre"))

    rest = ld.static(TASKS / "d_quarter_car.json")
    heights = [-(M + m) * GRAVITY / tyre, -M * GRAVITY / k]
    compare("static heights [m]", [rest["wheel_height"], rest["travel"]], heights, 1e-12)
    compare("static loads [N]", [rest["tyre_load"], rest["strut_force"]], [(M + m) * GRAVITY, M * GRAVITY], 1e-8)

    def rate(t, y):
        strut = k * (y[1] - y[0]) + c * (y[3] - y[2])
        return np.array([y[2], y[3], (strut - tyre * (y[0] - road(p["speed"] * t))) / m - GRAVITY, -strut / M - GRAVITY])

    A = np.column_stack([rate(0, e) - rate(0, np.zeros(4)) for e in np.eye(4)])
    poles = np.linalg.eigvals(A)
    compare("poles [1/s]", np.sort_complex(ld.modes(TASKS / "d_quarter_car.json", at="static").eigenvalues),
            np.sort_complex(poles[poles.imag > 0]), 1e-11)

    result = run("d_quarter_car", from_=rest)
    y = integrate(rate, [heights[0], sum(heights), 0, 0], result.time, 1e-3)
    compare("road [m]", values(result, "road_height")[:, 0], [road(p["speed"] * t) for t in result.time], 1e-13)
    compare("heights of wheel and car [m]", values(result, "wheel_height", "car_height"), y[:, :2], 1e-9)
    compare("load of the tyre [N]", values(result, "tyre_load")[:, 0],
            [-tyre * (row[0] - road(p["speed"] * t)) for t, row in zip(result.time, y)], 1e-4)


# ---- e: arm with two links


def two_link_arm(p: dict, compensate: float):
    l1, l2 = p["L1"] / 2, p["L2"] / 2
    inertia1, inertia2 = p["m1"] * p["L1"] ** 2 / 12, p["m2"] * p["L2"] ** 2 / 12

    def weight(q):
        lower = p["m2"] * l2 * np.cos(q[0] + q[1])
        return p["g"] * np.array([(p["m1"] * l1 + p["m2"] * p["L1"]) * np.cos(q[0]) + lower, lower])

    def torque(t, y):
        s = smooth_step(t, 0.2, 1.2)
        target, target_rate = np.radians([-90 + 120 * s[0], -45 * s[0]]), np.radians([120 * s[1], -45 * s[1]])
        return p["P"] * (target - y[:2]) + p["D"] * (target_rate - y[2:]) + compensate * weight(y[:2])

    def rate(t, y):
        cos2, sin2 = np.cos(y[1]), np.sin(y[1])
        m22 = inertia2 + p["m2"] * l2**2
        m12 = m22 + p["m2"] * p["L1"] * l2 * cos2
        m11 = inertia1 + p["m1"] * l1**2 + m22 + p["m2"] * (p["L1"] ** 2 + 2 * p["L1"] * l2 * cos2)
        h = p["m2"] * p["L1"] * l2 * sin2
        gyroscopic = np.array([-h * (2 * y[2] * y[3] + y[3] ** 2), h * y[2] ** 2])
        return np.concatenate([y[2:], np.linalg.solve([[m11, m12], [m12, m22]], torque(t, y) - weight(y[:2]) - gyroscopic)])

    return rate, torque, weight


def test_e_two_link_arm():
    p = model("e_two_link_arm")["parameters"]
    rate, torque, _ = two_link_arm(p, 1)
    result = run("e_two_link_arm")
    y = integrate(rate, [-np.pi / 2, 0, 0, 0], result.time, 1e-3)
    torques = np.array([torque(t, row) for t, row in zip(result.time, y)])
    compare("angles [rad]", values(result, "q1", "q2"), y[:, :2], 3e-6)
    compare("torques of the motors [N m]", values(result, "torque1", "torque2"), torques, 1e-3)
    compare("power of the motors [W]", values(result, "power1", "power2"), torques * y[:, 2:], 2e-3)
    compare("final angles [deg]", np.degrees(values(result, "q1", "q2")[-1]), [30, -45], 2e-4)
    energy = values(result, "energy")[:, 0]
    compare("energy less the work of the motors [J]", energy - work(result, "power1", "power2"), energy[0], 3e-4)

    # Without compensation the arm comes to rest where the proportional part carries the weight.
    _, _, weight = two_link_arm(p, 0)
    q = np.radians([30, -45])
    for _ in range(100):
        q = np.radians([30, -45]) - weight(q) / p["P"]
    drooping = run("e_two_link_arm", set={"compensate": 0}, end=8)
    compare("droop without compensation [rad]", values(drooping, "q1", "q2")[-1], q, 1e-9)


# ---- f: gyroscope


def test_f_gyroscope():
    m = model("f_gyroscope")
    p = m["parameters"]
    outer, inner, rotor = (np.array(m["bodies"][name]["inertia"]) for name in ("outer", "inner", "rotor"))
    spin_momentum = rotor[1] * p["spin"]

    # Momenta about the vertical axis (0) and about the axle are constant; what remains is an equation for the tilt.
    def precession_rate(tilt):
        s, c = np.sin(tilt), np.cos(tilt)
        return -spin_momentum * s / (outer[2] + inner[1] * s * s + (inner[2] + rotor[0]) * c * c)

    def rate(_t, y):
        s, c, u = np.sin(y[1]), np.cos(y[1]), precession_rate(y[1])
        tilt = (inner[1] - inner[2] - rotor[0]) * s * c * u * u + spin_momentum * u * c - p["weight"] * p["arm"] * c
        return np.array([u, y[2], tilt / (inner[0] + rotor[0]), p["spin"] - u * s])

    result = run("f_gyroscope", integrator="dopri5,adaptive=true,rtol=1e-10", step=1e-3)
    y = integrate(rate, [0, 0, 0, 0], result.time, 1e-3)
    compare("precession and tilt [rad]", values(result, "precession", "tilt"), y[:, :2], 1e-7)
    compare("angle of the rotor [rad]", values(result, "turns")[:, 0], y[:, 3], 1e-7)
    print(f"mean precession {y[-1, 0]:.5f} rad/s, of a fast gyroscope {-p['weight'] * p['arm'] / spin_momentum:.5f} rad/s")

    # The integrator of the file is of second order.
    errors = []
    for step in (1e-4, 5e-5):
        coarse = run("f_gyroscope", step=step, output_every=round(1e-3 / step))
        errors.append(np.abs(values(coarse, "precession", "tilt") - y[:, :2]).max())
    print(f"with steps of 1e-4 s {errors[0]:.1e} rad, of 5e-5 s {errors[1]:.1e} rad")
    assert errors[0] < 2e-4
    assert 3.5 < errors[0] / errors[1] < 4.5

    # The nutation is the only oscillation: spin momentum over the root of both moments of inertia across the axle.
    free = ld.modes(TASKS / "f_gyroscope.json", set={"weight": 0})
    expected = spin_momentum / np.sqrt((outer[2] + inner[2] + rotor[0]) * (inner[0] + rotor[0])) / (2 * np.pi)
    compare("nutation [Hz]", max(free.frequencies), expected, 1e-8)


def test_f_gyroscope_with_long_steps():
    """0.2 rad per step with the default integrator in body axes: the energy stays."""
    result = run("f_gyroscope", formulation="r3so3", step=4e-4, end=3)
    compare("energy [J]", values(result, "energy")[:, 0], 225, 5e-3)


# ---- g: crane


def hanging_chain(lengths, centres, masses, inertias):
    """Links in a plane below a point that is moved: rates, and the force on the first link."""
    count = len(masses)
    reach = np.tril(np.tile(lengths, (count, 1)), -1) + np.diag(centres)
    A = reach.T @ (masses[:, None] * reach) + np.diag(inertias)
    B = masses @ reach

    def accelerations(y, base):
        angle, rate = y[:count], y[count:]
        difference = angle[:, None] - angle[None, :]
        right = -(A * np.sin(difference)) @ rate**2 - B * (np.cos(angle) * base + np.sin(angle) * GRAVITY)
        return np.linalg.solve(A * np.cos(difference), right)

    def force(y, base):
        angle, rate, second = y[:count], y[count:], accelerations(y, base)
        return np.array([
            masses.sum() * base + B @ (np.cos(angle) * second - np.sin(angle) * rate**2),
            masses.sum() * GRAVITY + B @ (np.sin(angle) * second + np.cos(angle) * rate**2)])

    return accelerations, force


def test_g_crane():
    count, length = 20, 1.0
    lengths, centres = np.full(count + 1, length), np.append(np.full(count, length / 2), 1.0)
    masses, inertias = np.append(np.full(count, 2.0), 1000.0), np.append(np.full(count, 2 * length**2 / 12), 170.0)
    accelerations, force = hanging_chain(lengths, centres, masses, inertias)

    def base(t):
        return 6 * smooth_step(t, 0, 8)

    result = run("g_crane", integrator="dopri5", step=0.005, output_every=4)
    y = integrate(lambda t, y: np.concatenate([y[count + 1:], accelerations(y, base(t)[2])]), np.zeros(2 * count + 2), result.time, 0.01)
    drive = np.array([base(t) for t in result.time])
    angle = y[:, : count + 1]
    place = np.column_stack([drive[:, 0] + np.sin(angle) @ np.append(lengths[:-1], 1), -np.cos(angle) @ np.append(lengths[:-1], 1)])
    compare("trolley [m]", values(result, "trolley")[:, 0], drive[:, 0], 1e-9)
    compare("load [m]", values(result, "load")[:, [0, 2]], place, 1e-8)
    forces = np.array([force(row, a) for row, a in zip(y, drive[:, 2])])
    compare("force at the top of the rope [N]", values(result, "rope_force")[:, [0, 2]], forces, 1e-2)
    compare("force of the drive [N]", values(result, "drive_force")[:, 0], forces[:, 0] + 200 * drive[:, 2], 1e-2)
    compare("load, with the steps of the file [m]", values(run("g_crane"), "load")[::2, [0, 2]], place, 3e-4)

    rest = ld.static(TASKS / "g_crane.json")
    compare("static force of the rope [N]", rest["rope_force"], [0, 0, 1040 * GRAVITY], 1e-9)
    stiffness = GRAVITY * (masses @ (np.tril(np.tile(lengths, (count + 1, 1)), -1) + np.diag(centres)))
    reach = np.tril(np.tile(lengths, (count + 1, 1)), -1) + np.diag(centres)
    mass = reach.T @ (masses[:, None] * reach) + np.diag(inertias)
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, np.diag(stiffness))).real)) / (2 * np.pi)
    found = np.sort(ld.modes(TASKS / "g_crane.json").frequencies)
    print(f"pendulum {expected[0]:.6f} Hz, of a point mass on 21 m of massless rope {np.sqrt(GRAVITY / 21) / (2 * np.pi):.6f} Hz")
    compare("frequencies, along the rails and across [Hz]", found[:10], np.repeat(expected[:5], 2), 1e-10)


def test_g_crane_is_what_its_program_writes():
    script = runpy.run_path(str(TASKS / "g_crane.py"))
    assert script["text"](script["model"]()) == (TASKS / "g_crane.json").read_text(encoding="utf-8")


def test_g_crane_hoisting():
    def rope(t):
        return np.array([20.0, 0, 0]) - 12 * smooth_step(t, 1, 11)

    def base(t):
        return 6 * smooth_step(t, 0, 8)

    def rate(t, y):
        l = rope(t)
        return np.array([y[1], (-2 * l[1] * y[1] - GRAVITY * np.sin(y[0]) - base(t)[2] * np.cos(y[0])) / l[0]])

    result = run("g_crane_hoisting")
    y = integrate(rate, [0, 0], result.time, 0.05)
    drive, length = np.array([base(t) for t in result.time]), np.array([rope(t) for t in result.time])
    sine, cosine = np.sin(y[:, 0]), np.cos(y[:, 0])
    tension = 1000 * (GRAVITY * cosine + length[:, 0] * y[:, 1] ** 2 - length[:, 2] - drive[:, 2] * sine)
    compare("length of the rope [m]", values(result, "rope_length")[:, 0], length[:, 0], 1e-8)
    compare("load seen from the trolley [m]", values(result, "swing")[:, [0, 2]], length[:, :1] * np.column_stack([sine, -cosine]), 1e-7)
    compare("force of the winch [N]", values(result, "rope_force")[:, [0, 2]], tension[:, None] * np.column_stack([-sine, cosine]), 1e-4)
    compare("force of the drive [N]", values(result, "drive_force")[:, 0], 200 * drive[:, 2] - tension * sine, 1e-4)


# ---- h: flexible arm


def clamped_beam(length: float, bending: float, line_mass: float, count: int = 6):
    """Euler-Bernoulli beam, clamped and free, by its modes: matrices of mass, bending and tension, and loads."""
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = (x + 1) / 2 * length, w / 2 * length
    betas = []
    for n in range(count):
        low, high = n * np.pi + 1e-9, (n + 1) * np.pi
        sign = math.copysign(1, np.cos(low) * np.cosh(low) + 1)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if sign * (np.cos(middle) * np.cosh(middle) + 1) > 0 else (low, middle)
        betas.append(low / length)
    shapes, slopes, tips = [], [], []
    for b in betas:
        ratio = (np.cosh(b * length) + np.cos(b * length)) / (np.sinh(b * length) + np.sin(b * length))
        shape = lambda z, b=b, r=ratio: np.cosh(b * z) - np.cos(b * z) - r * (np.sinh(b * z) - np.sin(b * z))
        shapes.append(shape(x))
        slopes.append(b * (np.sinh(b * x) + np.sin(b * x) - ratio * (np.cosh(b * x) - np.cos(b * x))))
        tips.append(float(shape(length)))
    shapes, slopes = np.array(shapes), np.array(slopes)
    mass = line_mass * (shapes * w) @ shapes.T
    stiffness = np.diag(bending * np.array(betas) ** 4) @ mass / line_mass
    tension = (slopes * w * line_mass * (length**2 - x**2) / 2) @ slopes.T  # of the angular velocity 1
    return mass, stiffness, tension, line_mass * (shapes * w) @ x, np.array(tips), np.array(betas)


def test_h_slewing_arm():
    p, young, density = model("h_slewing_arm")["parameters"], 70e9, 2700
    area = p["width"] * p["height"]
    bending = young * p["height"] * p["width"] ** 3 / 12
    mass, stiffness, tension, load, tips, betas = clamped_beam(p["L"], bending, density * area)
    count, inverse = len(tips), np.linalg.inv(mass)

    # M q'' + (K + W^2 (G - M)) q = -A b in axes that turn with the hub: W its speed, A its acceleration.
    def second(t, y):
        _, W, A = np.pi / 2 * smooth_step(t, 0, p["duration"])
        return -inverse @ (stiffness @ y[:count] + W * W * (tension - mass) @ y[:count] + A * load)

    result = run("h_slewing_arm")
    y = integrate(lambda t, y: np.concatenate([y[count:], second(t, y)]), np.zeros(2 * count), result.time, 2e-3)
    deflection = y[:, :count] @ tips
    compare("deflection of the tip [m]", values(result, "tip")[:, 1], deflection, 3e-5)
    hub = np.array([np.pi / 2 * smooth_step(t, 0, p["duration"])[2] for t in result.time])
    torque = density * area * p["L"] ** 3 / 3 * hub + np.array([load @ second(t, row) for t, row in zip(result.time, y)])
    compare("torque of the motor [N m]", values(result, "torque")[:, 2], torque, 1e-2)

    expected = betas[0] ** 2 * np.sqrt(bending / (density * area)) / (2 * np.pi)
    found = ld.modes(TASKS / "h_slewing_arm.json", count=3).frequencies[0]
    compare("first frequency [Hz]", found, expected, 1e-4)


# ---- i: gears and belt


def test_i_gear_and_belt():
    m = model("i_gear_and_belt")
    p, (J1, J2, J3) = m["parameters"], (body["inertia"][2] for body in m["bodies"].values())
    n, r2, r3 = p["ratio"], p["r2"], p["r3"]
    J = J2 + n * n * J1

    def pull(y):
        return p["k"] * (r2 * y[0] - r3 * y[1]) + p["c"] * (r2 * y[2] - r3 * y[3])

    def rate(_t, y):
        return np.array([y[2], y[3], (-n * p["torque"] - r2 * pull(y)) / J, r3 * pull(y) / J3])

    result = run("i_gear_and_belt")
    y = integrate(rate, np.zeros(4), result.time, 1e-3)
    compare("angles [rad]", values(result, "q1", "q2", "q3"), np.column_stack([-n * y[:, 0], y[:, :2]]), 1e-8)
    pulls = pull(y.T)
    compare("tensions of the belt [N]", values(result, "upper", "lower"), p["pretension"] + np.outer(pulls, [0.5, -0.5]), 1e-5)
    second = (-n * p["torque"] - r2 * pulls) / J
    compare("torque of the wheel by the gears [N m]", values(result, "mesh_torque")[:, 2], J2 * second + r2 * pulls, 1e-6)
    sine = (r3 - r2) / p["distance"]
    load = np.column_stack([np.full(len(pulls), 2 * p["pretension"] * np.sqrt(1 - sine**2)), pulls * sine, 0 * pulls])
    compare("loads of the bearings [N]", values(result, "load2", "load3"), np.column_stack([-load, load]), 1e-6)

    # In the end everything turns together: the acceleration of the rigid train.
    rigid = -n * p["torque"] / (J + J3 * (r2 / r3) ** 2)
    compare("mean acceleration [rad/s^2]", 2 * values(result, "q2")[-1, 0] / result.time[-1] ** 2, rigid, 5e-2)
    poles = ld.modes(TASKS / "i_gear_and_belt.json", set={"torque": 0}).eigenvalues
    share = r2 * r2 / J + r3 * r3 / J3
    expected = -p["c"] * share / 2 + 1j * np.sqrt(p["k"] * share - (p["c"] * share / 2) ** 2)
    compare("pole of the belt [1/s]", poles[np.argmax(poles.imag)], expected, 1e-8)


# ---- j and k: stop, rolling and bouncing balls


def damping_of(restitution: float) -> float:
    """x of (1 + e) x = ln((1 + x)/(1 - e x)), by bisection: the damping of Hunt and Crossley times the speed."""
    low, high = 1e-9, (1 - 1e-12) / restitution
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if (1 + restitution) * x > math.log((1 + x) / (1 - restitution * x)) else (low, x)
    return low


def test_j_slider_on_a_stop():
    p = model("j_slider_on_a_stop")["parameters"]
    pull = GRAVITY * math.sin(math.radians(30))
    speed = math.sqrt(2 * pull * p["drop"])
    damping = damping_of(p["restitution"]) / speed

    def stop(x, v):
        depth = x - p["drop"]
        return max(0.0, p["stiffness"] * depth * (1 + damping * v)) if depth > 0 else 0.0

    result = run("j_slider_on_a_stop")
    y = integrate(lambda _t, y: np.array([y[1], pull - stop(*y) / p["mass"]]), [0, 0], result.time, 1e-4, lambda y: y[0] - p["drop"])
    compare("position [m]", values(result, "x")[:, 0], y[:, 0], 1e-7)

    # Of a hard stop, whose impacts are short: the first bounce reaches e^2 of the drop.
    x = values(run("j_slider_on_a_stop", set={"stiffness": 1e10}), "x")[:, 0]
    first = int(1000 * speed / pull) + 2
    height = p["drop"] - x[first : first + int(2000 * p["restitution"] * speed / pull)].min()
    compare("height of the first bounce [m]", height, p["restitution"] ** 2 * p["drop"], 2e-5)


def test_k_rolling_ball():
    p = model("k_rolling_ball")["parameters"]
    slope = math.radians(20)
    along, normal = np.array([math.cos(slope), 0, -math.sin(slope)]), np.array([math.sin(slope), 0, math.cos(slope)])
    result = run("k_rolling_ball")
    way = 5 / 14 * GRAVITY * math.sin(slope) * result.time**2
    compare("position [m]", values(result, "position"), p["radius"] * normal + np.outer(way, along), 1e-11)
    compare("spin [rad/s]", values(result, "spin")[:, 1], 2 * way[-1] / result.time[-1] ** 2 * result.time / p["radius"], 1e-10)
    force = p["mass"] * GRAVITY * (math.cos(slope) * normal - 2 / 7 * math.sin(slope) * along)
    compare("normal force and friction [N]", values(result, "floor_force"), np.tile(force, (len(way), 1)), 1e-8)


def test_k_bouncing_ball():
    m = model("k_bouncing_ball")
    p, mass = m["parameters"], m["parameters"]["mass"]
    damping = damping_of(p["restitution"]) / math.sqrt(2 * GRAVITY * p["height"])
    inertia, smoothing = 0.4 * mass * p["radius"] ** 2, 1e-3

    def rate(_t, y):
        x, y_, z, vx, vy, vz, wx, wy, wz = y.tolist()
        depth = p["radius"] - z
        if depth <= 0:
            return np.array([vx, vy, vz, 0, 0, -GRAVITY, 0, 0, 0])
        arm = p["radius"] - depth / 2  # the force acts midway between the surfaces
        normal = max(0.0, p["stiffness"] * depth**1.5 * (1 - damping * vz))
        sx, sy = vx - arm * wy, vy + arm * wx
        friction = -p["mu"] * normal / math.sqrt(sx * sx + sy * sy + smoothing**2)
        fx, fy = friction * sx, friction * sy
        return np.array([vx, vy, vz, fx / mass, fy / mass, normal / mass - GRAVITY, arm * fy / inertia, -arm * fx / inertia, 0])

    result = run("k_bouncing_ball")
    early = result.time <= 0.5
    y = integrate(rate, [0, 0, p["radius"] + p["height"], 1.8, 2.4, 0, 0, 0, 5], result.time[early], 2e-4, lambda y: y[2] - p["radius"])
    compare("position while it bounces [m]", values(result, "position")[early], y[:, :3], 2e-6)
    compare("spin while it bounces [rad/s]", values(result, "spin")[early], y[:, 6:], 5e-3)

    # Whatever the bounces were: friction at the radius leaves 5/7 of the speed to a ball that did not roll.
    compare("speed of rolling [m/s]", values(result, "velocity")[-1, :2], [5 / 7 * 1.8, 5 / 7 * 2.4], 2e-3)
    slip = values(result, "velocity")[-1, :2] - p["radius"] * values(result, "spin")[-1, [1, 0]] * [1, -1]
    compare("slip in the end [m/s]", slip, [0, 0], 1e-3)

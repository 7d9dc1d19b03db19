"""Clearance joints against published results and independent integrations.

`pytest -s` prints every comparison.
"""

import numpy as np

import liedyn as ld


def steps_of(rates, y, times, step):
    """The classical Runge-Kutta method from times[0] on; the solution at the other times."""
    out, t = [], times[0]
    for end in times[1:]:
        n = int(np.ceil((end - t) / step - 1e-9))
        h = (end - t) / n
        for i in range(n):
            now = t + i * h
            k1 = rates(now, y)
            k2 = rates(now + h / 2, y + h / 2 * k1)
            k3 = rates(now + h / 2, y + h / 2 * k2)
            k4 = rates(now + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = end
        out.append(y)
    return out


# ---- translational clearance: Flores, Leine, Glocker 2010

CRANK, ROD, CLEARANCE, GRAVITY = 0.153, 0.306, 1e-3, 9.81
M1, M2, M3, J1, J2 = 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4


def guide_mass(q):
    k = (0.5 * M2 + M3) * CRANK * ROD * np.cos(q[1] - q[0])
    return np.array([[J1 + (0.25 * M1 + M2 + M3) * CRANK**2, k], [k, J2 + (0.25 * M2 + M3) * ROD**2]])


def guide_rates(_, y):
    """Crank and rod as a double pendulum that carries the slider at its end."""
    q, v = y[:2], y[2:]
    k = (0.5 * M2 + M3) * CRANK * ROD * np.sin(q[0] - q[1])
    force = -np.array([k * v[1] ** 2, -k * v[0] ** 2])
    force -= GRAVITY * np.array([(0.5 * M1 + M2 + M3) * CRANK * np.cos(q[0]), (0.5 * M2 + M3) * ROD * np.cos(q[1])])
    return np.concatenate([v, np.linalg.solve(guide_mass(q), force)])


def guide_height(y):
    return CRANK * np.sin(y[0]) + ROD * np.sin(y[1])


def guide_by_events(times, restitution=0.4, friction=0.01):
    """Rigid bodies: free flight up to the upper guide, then Newton's impact with Coulomb's impulse."""
    y, t, step, out = np.array([0, 0, 150.0, -75.0]), 0.0, 1e-5, []
    for end in times:
        while t < end - 1e-12:
            h = min(step, end - t)
            then = steps_of(guide_rates, y, [0, h], h)[0]
            if guide_height(then) > CLEARANCE:
                low, high = 0.0, h
                for _ in range(60):
                    middle = (low + high) / 2
                    if guide_height(steps_of(guide_rates, y, [0, middle], middle)[0]) > CLEARANCE:
                        high = middle
                    else:
                        low = middle
                if low > 0:
                    y = steps_of(guide_rates, y, [0, low], low)[0]
                t += low
                up = np.array([CRANK * np.cos(y[0]), ROD * np.cos(y[1])])
                along = -np.array([CRANK * np.sin(y[0]), ROD * np.sin(y[1])])
                impulse = -up - friction * np.sign(along @ y[2:]) * along
                change = np.linalg.solve(guide_mass(y[:2]), impulse)
                y[2:] += change * (-(1 + restitution) * (up @ y[2:]) / (up @ change))
                continue
            y, t = then, t + h
        out.append(y.copy())
    return out


# Siconos, SliderCrankMoreauJeanDirectProjectionOSI.ref: t, turns of the crank, angle of the rod, speeds of both, height/clearance.
SICONOS = [
    (1.0e-3, 2.325427977634569e-02, -7.260763177989915e-02, 1.392326680724840e02, -6.834467587112179e01, 7.710073417019694e-02),
    (2.7e-3, 5.676813824747703e-02, -1.721990439245195e-01, 1.099160132198201e02, -4.952078745188849e01, 9.900613922770030e-01),
    (3.5e-3, 6.997840295178852e-02, -2.116523133432621e-01, 9.892723085511589e01, -4.640736058429714e01, 8.423029492252744e-01),
    (4.0e-3, 7.764572442825846e-02, -2.339611122220714e-01, 9.391204405191783e01, -4.290587745641455e01, 7.762840964036163e-01),
    (4.4e-3, 8.351257238127203e-02, -2.506195444773924e-01, 9.047277904248946e01, -4.042684769265236e01, 7.598900418187664e-01),
]


def guide_by_liedyn(stiffness):
    r = ld.run("clearance_guide", set={"stiffness": stiffness}, strict=True)
    rows = [int(np.argmin(np.abs(r.time - row[0]))) for row in SICONOS]
    return np.array([[r["crank_speed"][i], r["rod_speed"][i][2], r["slider"][i][1] / CLEARANCE] for i in rows])


def test_the_guide_moves_as_rigid_bodies_do_and_as_published():
    exact = np.array([[y[2], y[3], guide_height(y) / CLEARANCE] for y in guide_by_events([row[0] for row in SICONOS])])
    published = np.array([row[3:] for row in SICONOS])
    differences = {k: np.abs(guide_by_liedyn(k) - exact) for k in (1e9, 1e10, 1e11)}
    for k, difference in differences.items():
        print(f"stiffness {k:g}: differences from rigid bodies by events\n{difference}")
    found = guide_by_liedyn(1e11)
    for row, ours, right in zip(SICONOS, found, exact):
        print(f"t = {row[0]}: file {row[3:]}, exact {right}, Liedyn {ours}")
    # Free flight, 1 ms: no contact yet.
    assert np.all(differences[1e11][0] <= 1e-6 * np.abs(exact[0]) + 1e-9)
    # After the impact the compliant contact converges to the rigid one; with k^(-2/5), as its duration.
    after = [float(np.max(differences[k][2:, :2])) for k in (1e9, 1e10, 1e11)]
    assert after[2] < 0.5 * after[1] < 0.25 * after[0] and after[2] < 0.05
    # The published run has steps of 1e-4 s.
    assert np.all(np.abs(found - published)[:, :2] <= 0.02 * np.abs(published[:, :2]))
    assert np.all(np.abs(found - published)[:, 2] <= 0.06)


# ---- revolute clearance: the first impacts of models/clearance_slider_crank


def slider_crank_rates(speed, damping, stiffness, clearance):
    """Two free coordinates: the angle of the rod and the place of the slider. The crank turns with a constant speed."""
    r, l, m_rod, J_rod, m_slider = 0.05, 0.12, 0.21, 2.5e-4, 0.14

    def rates(t, y):
        b, x, bd, xd = y
        a = speed * t
        pin = r * np.array([np.cos(a), np.sin(a)])
        pin_v = r * speed * np.array([-np.sin(a), np.cos(a)])
        pin_a = -(speed**2) * pin
        e, n = np.array([np.cos(b), np.sin(b)]), np.array([-np.sin(b), np.cos(b)])
        gap = pin + l * e - np.array([x, 0.0])
        distance = np.hypot(*gap)
        force = np.zeros(2)
        if distance > clearance:
            out = gap / distance
            rate = (pin_v + l * bd * n - np.array([xd, 0.0])) @ out
            normal = stiffness * (distance - clearance) ** 1.5 * (1 + damping * rate)
            force = -max(normal, 0.0) * out  # on the rod
        inertia = J_rod + m_rod * l * l / 4
        return np.array([bd, xd, (l * (force @ n) - m_rod * l / 2 * (pin_a @ n)) / inertia, -force[0] / m_slider])

    return rates


def damping_of(restitution, speed):
    """(1 + e) x = ln((1 + x)/(1 - e x)) for x = a v: Hunt and Crossley's law integrated over one impact."""
    low, high = 1e-9, (1 - 1e-12) / restitution
    for _ in range(200):
        x = (low + high) / 2
        if (1 + restitution) * x > np.log((1 + x) / (1 - restitution * x)):
            low = x
        else:
            high = x
    return low / speed


def test_the_first_impacts_of_the_clearance_joint():
    omega = 2 * np.pi * 5000 / 60
    rates = slider_crank_rates(omega, damping_of(0.9, 1.0), 6.61e10, 5e-4)
    times = [0, 0.5e-3, 1e-3, 1.5e-3, 2e-3]
    expected = steps_of(rates, np.array([0, 0.17, -0.05 * omega / 0.12, 0.0]), times, 1e-7)
    r = ld.run("clearance_slider_crank", end=2e-3, step=1e-5, integrator="esdirk4-6,adaptive=true,rtol=1e-8", strict=True)
    for t, y in zip(times[1:], expected):
        i = int(np.argmin(np.abs(r.time - t)))
        x, v = r["slider"][i][0], r["slider_velocity"][i][0]
        print(f"t = {t:g}: slider {x:.9f} m, {abs(x - y[1]):.1e} off; {v:.6f} m/s, {abs(v - y[3]):.1e} off")
        assert abs(x - y[1]) <= 1e-8 and abs(v - y[3]) <= 1e-4
    deepest = np.hypot(*np.asarray(r["eccentricity"]).T[:2]).max() - 5e-4
    print(f"deepest {deepest:.2e} m")
    assert deepest > 1e-5  # it has touched

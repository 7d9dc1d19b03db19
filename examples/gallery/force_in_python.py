"""A force in Python: spin makes a ball curve

A force may be a Python function. It is called once, with objects that stand for the sensors, and becomes an
expression of the model: the run has the speed of the compiled program, derivatives are exact, and the model file
contains the formula.

The force here is drag, and the Magnus force of a spinning ball. Without spin and thrown straight up, the height has a
closed form: v_t²/(2 g) ln(1 + (v/v_t)²) with the terminal speed v_t. The script compares.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

radius, mass, rho, g = 0.11, 0.43, 1.2, 9.81  # a football
area = np.pi * radius**2


def air(speed, spin, drag_coefficient=0.25, lift_coefficient=1.0):
    """Drag along the velocity, and the Magnus force along spin x velocity."""
    magnitude = ld.sqrt(speed.x**2 + speed.y**2 + speed.z**2)
    drag = -0.5 * rho * area * drag_coefficient * magnitude
    lift = 0.5 * rho * area * lift_coefficient * radius
    return [
        drag * speed.x + lift * (spin.y * speed.z - spin.z * speed.y),
        drag * speed.y + lift * (spin.z * speed.x - spin.x * speed.z),
        drag * speed.z + lift * (spin.x * speed.y - spin.y * speed.x),
    ]


def ball(velocity, spin, floor=False):
    m = ld.Builder(name="Free kick", gravity=[0, 0, -g])
    if floor:
        goal = [
            ld.rod(list(a), list(b), radius=0.06, color="#ffffff")
            for a, b in (
                ((25, 3.66, 0), (25, 3.66, 2.44)),
                ((25, -3.66, 0), (25, -3.66, 2.44)),
                ((25, 3.66, 2.44), (25, -3.66, 2.44)),
            )
        ]
        wall = [ld.box([0.3, 0.5, 1.8], at=[9.15, y, 0.9], color="#8a93a0") for y in np.arange(-1.2, 1.3, 0.6)]
        m.ground.set(shapes=[*goal, *wall])
    stripe = ld.cylinder(1.01 * radius, 0.04, color="#1f2328")
    body = m.rigid(
        "ball",
        shapes=[ld.sphere(radius, color="#f4f4f4"), stripe],
        mass=mass,
        inertia=[2 / 3 * mass * radius**2] * 3,
        position=[0, 0, radius],
        velocity=velocity,
        angular_velocity=spin,
    )
    m.velocity("speed", body)
    m.angular_velocity("spin", body, axes="inertial")
    m.force("air", body, force=air)
    m.position("place", body)
    return m


v = 30.0
straight = ld.run(ball([0, 0, v], [0, 0, 0]), end=2.5, step=0.01, integrator="dopri5")
terminal = np.sqrt(2 * mass * g / (rho * area * 0.25))
highest = terminal**2 / (2 * g) * np.log(1 + (v / terminal) ** 2)
found = straight["place"][:, 2].max() - radius
print(f"thrown up at {v:g} m/s: {found:.5f} m high, closed form {highest:.5f} m; without air {v * v / (2 * g):.1f} m")
assert abs(found / highest - 1) < 1e-4
print("the force in the model file:", ball([0, 0, v], [0, 0, 0]).forces["air"].fields["force"][0][:88], "...")

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(8, 3.4))
for rate, label in ((0, "no spin"), (25, "25 rad/s"), (50, "50 rad/s"), (75, "75 rad/s")):
    kick = ball([24.0, 3.6 * rate / 75, 7.5], [0, 0, -rate], floor=True)
    run = ld.run(kick, end=1.28, step=0.005, integrator="dopri5", html="force_in_python.html" if rate == 75 else None)
    ax.plot(run["place"][:, 0], run["place"][:, 1], label=label)
ax.plot([25, 25], [-3.66, 3.66], color=style.LIGHT.ink, linewidth=3, label="goal")
ax.plot([9.15, 9.15], [-1.45, 1.45], color=style.LIGHT.muted, linewidth=3, label="wall")
ax.set(xlabel="x / m", ylabel="y / m", title="free kicks, seen from above", xlim=(0, 26))
ax.legend(ncols=2)
figure.savefig("force_in_python.png", dpi=150)

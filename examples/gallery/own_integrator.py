"""An integrator of your own

`ld.Robot` gives the accelerations of a mechanism as a function, so that an integrator is a few lines of Python: here
velocity Verlet, which is symplectic, and the explicit Euler method for comparison. In C++ a registered integrator has
all that the built-in ones have, including exact derivatives: `examples/cpp/verlet.h`.

A chain of three rods swings for 10 s. Verlet's energy error stays bounded and falls by about four when the step is
halved; that of Euler grows without bound. The motion converges with second order to that of the program's own method
of order five.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

L, mass = 0.4, 1.0
m = ld.Builder(name="Three rods", gravity=[0, 0, -9.81])
before = m.ground
for i, color in enumerate(("#2563a8", "#d1641e", "#2c8a63")):
    rod = m.rigid(
        f"rod{i}", shape=ld.rod([0, 0, 0], [0, 0, -L], radius=0.015, color=color, mass=mass), position=[0, 0, -i * L]
    )
    hinge = m.revolute(f"hinge{i}", before, rod, at=[0, 0, -i * L], axis=[0, 1, 0])
    m.joint_angle(f"angle{i}", hinge)
    before = rod
start = np.array([0.6, 0.3, -0.2])
robot = ld.Robot(m)


def energy(q, v):
    """Of many states at once: v M v/2 and m g z of the rods."""
    kinetic = np.einsum("ni,nij,nj->n", v, robot.mass_matrix(q), v) / 2
    return kinetic + 9.81 * mass * sum(robot.frame_pose(f"rod{i}", q, at=[0, 0, -L / 2])[:, 2, 3] for i in range(3))


def verlet(h, end):
    q, v, qs, vs = start.copy(), np.zeros(3), [], []
    a = robot.forward_dynamics(q, v, np.zeros(3))
    for _ in range(round(end / h)):
        qs.append(q), vs.append(v)
        half = v + h / 2 * a
        q = q + h * half
        v = half
        for _ in range(2):  # the accelerations depend on the velocities: a fixed point
            a = robot.forward_dynamics(q, v, np.zeros(3))
            v = half + h / 2 * a
    return np.array([*qs, q]), np.array([*vs, v])


def euler(h, end):
    q, v, qs, vs = start.copy(), np.zeros(3), [], []
    for _ in range(round(end / h)):
        qs.append(q), vs.append(v)
        q, v = q + h * v, v + h * robot.forward_dynamics(q, v, np.zeros(3))
    return np.array([*qs, q]), np.array([*vs, v])


drift = {}
for name, method, h in (
    ("Verlet, 4 ms", verlet, 4e-3),
    ("Verlet, 8 ms", verlet, 8e-3),
    ("explicit Euler, 4 ms", euler, 4e-3),
):
    q, v = method(h, 10)
    values = energy(q, v)
    drift[name] = (h * np.arange(len(values)), values - values[0])
ends = [verlet(h, 2)[0][-1] for h in (8e-3, 4e-3, 2e-3)]
reference = ld.run(
    ld.Model(m, set={f"initial.hinge{i}": value for i, value in enumerate(start)}, formulation="minimal"),
    end=10,
    step=5e-3,
    integrator="dopri5",
    html="own_integrator.html",
)
row = np.argmin(np.abs(reference.time - 2))
exact = np.array([reference[f"angle{i}"][row] for i in range(3)])
errors = [np.abs(end - exact).max() for end in ends]
orders = np.log2(np.array(errors[:-1]) / errors[1:])
largest = {name: np.abs(values).max() for name, (_, values) in drift.items()}
print(
    f"errors of the angles at 2 s with 8, 4, 2 ms: {errors[0]:.1e}, {errors[1]:.1e}, {errors[2]:.1e} rad;",
    f"orders {orders[0]:.2f}, {orders[1]:.2f}",
)
print("largest energy errors:", ", ".join(f"{name} {value:.1e} J" for name, value in largest.items()))
assert np.all(np.abs(orders - 2) < 0.15) and 3 < largest["Verlet, 8 ms"] / largest["Verlet, 4 ms"] < 6

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
for name, (time, values) in drift.items():
    ax.semilogy(time[1:], np.abs(values[1:]) + 1e-9, linewidth=1, label=name)
ax.set(xlabel="time / s", ylabel="|energy error| / J", ylim=(1e-6, 100))
ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
figure.savefig("own_integrator.png", dpi=150)

"""Gradients of a simulation: a crane without swing

A trolley carries a load on a rope from rest to rest in 2.4 s. Its force is linear between 21 values, which are sought
so that trolley and load stand still at the end, with the least sum of squares.

The simulation is a layer of a computation: four outputs forward, and their derivatives with respect to all 21 values
backward, by the adjoint method. Newton's method on the outputs with steps of least norm converges in a few
iterations. For a short way the problem is linear: its solution is the pseudo-inverse of the matrix from the values to
the end, with which the script compares.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

count, hold, M, load_mass, L, g = 21, 0.12, 10.0, 5.0, 1.5, 9.81
end = (count - 1) * hold

m = ld.Builder(name="Crane", gravity=[0, 0, -g])
forces = [m.parameter(f"u{i}", 0) for i in range(count)]
m.ground.set(shape=ld.box([4.2, 0.1, 0.06], at=[1, 0, 0.1], color="#8a93a0"))
trolley = m.rigid("trolley", shape=ld.box([0.4, 0.2, 0.1], mass=M, color="#2563a8"))
rope = ld.rod([0, 0, 0], [0, 0, -L], radius=0.008, color="#5b6470")
load = m.rigid(
    "load",
    shapes=[ld.box([0.3, 0.3, 0.3], at=[0, 0, -L], color="#d1641e"), rope],
    mass=load_mass,
    inertia=[0.08, 0.08, 0.08],
    reference=[0, 0, L],
)
rail = m.prismatic("rail", m.ground, trolley, at=[0, 0, 0], axis=[1, 0, 0])
hook = m.revolute("hook", trolley, load, at=[0, 0, 0], axis=[0, -1, 0])
m.joint_effort(
    "drive", rail, effort=sum(force * ld.max(0, 1 - ld.abs(ld.t / hold - i)) for i, force in enumerate(forces))
)
m.joint_displacement("x", rail)
m.joint_angle("swing", hook)
m.joint_displacement_rate("v", rail)
m.joint_angle_rate("swing_rate", hook)
outputs, names = ["x", "swing", "v", "swing_rate"], [f"u{i}" for i in range(count)]
model = ld.Model(m, formulation="minimal")
settings = dict(end=end, step=hold / 8, integrator="rk44")


def layer(u):
    """Outputs at the end, and their derivatives with respect to u."""
    found = model.sensitivity(names, outputs, method="adjoint", set=dict(zip(names, map(float, u))), **settings)
    return found.values, found.jacobian


def plan(way):
    u = np.zeros(count)
    for iteration in range(12):
        y, J = layer(u)
        error = np.array([way, 0, 0, 0]) - y
        if np.abs(error).max() < 1e-10:
            break
        u = np.linalg.pinv(J) @ (error + J @ u)  # the least forces that reach the goal, if the motion were linear
    return u, np.abs(error).max(), iteration


u, rest, iterations = plan(2.0)
print(
    f"2 m in {end:.1f} s: at rest within {rest:.1e} after {iterations} iterations, largest force {np.abs(u).max():.1f} N"
)
assert rest < 1e-10

# Small swings: the linear equations of trolley and load, with the force a + b t in each interval.
inertia = np.array([[M + load_mass, load_mass * L], [load_mass * L, load_mass * L**2 + 0.08]])
A = np.zeros((6, 6))  # x, swing, their rates, the force a, its slope b
A[:2, 2:4] = np.eye(2)
A[2:4, :2] = np.linalg.solve(inertia, np.diag([0, -load_mass * g * L]))
A[2:4, 4] = np.linalg.solve(inertia, [1, 0])
A[4, 5] = 1
step, term = np.eye(6), np.eye(6)
for i in range(1, 25):  # exp(A hold)
    term = term @ A * hold / i
    step = step + term
ends = np.zeros((4, count))
for k in range(count):
    z = np.zeros(6)
    for i in range(count - 1):
        z[4:] = (i == k), ((i + 1 == k) - (i == k)) / hold
        z = step @ z
    ends[:, k] = z[:4]
linear = np.linalg.pinv(ends) @ [0.01, 0, 0, 0]
short = plan(0.01)[0]
worst = np.abs(short - linear).max() / np.abs(linear).max()
print(f"1 cm: forces differ from the linear solution by {worst:.1e} of the largest")
assert worst < 1e-4

result = model.run(set=dict(zip(names, map(float, u))), html="crane_without_swing.html", **settings)
plt.rcParams.update(style.settings())
figure, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True)
axes[0].plot(result.time, result["x"])
axes[1].plot(result.time, np.degrees(result["swing"]))
axes[2].plot(hold * np.arange(count), u, "o-", markersize=4, label="exact")
axes[2].plot(hold * np.arange(count), 200 * linear, "--", color=style.LIGHT.muted, label="of the linear equations")
axes[2].legend()
for ax, label in zip(axes, ("trolley / m", "swing / deg", "force / N")):
    ax.set_ylabel(label)
axes[2].set_xlabel("time / s")
figure.align_ylabels()
figure.savefig("crane_without_swing.png", dpi=150)

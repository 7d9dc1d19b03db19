"""DC motor and PID controller

A DC motor lifts an arm to 70 degrees. Its voltage comes from a PID controller whose integrator is a first-order state
of the model; the voltage is limited to 24 V. The motor has its own state, the current.

Two results are known in closed form. At rest the motor torque carries the weight, k i = m g (L/2) cos(70°). Without
gravity a constant voltage would lead to the poles of the linear circuit; here `modes` shows all poles of arm, motor
and controller, and all of them are stable.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

m = ld.Builder(name="Motor and PID", gravity=[0, 0, -9.81])
target = m.parameter("target", np.radians(70))
mass, length, k = 1.2, 0.6, 0.8
arm = m.rigid(
    "arm",
    shape=ld.box([length, 0.04, 0.04], at=[length / 2, 0, 0], color="#2563a8"),
    density=mass / (length * 0.04**2),
)
m.ground.set(
    shape=ld.cylinder(
        radius=0.07, length=0.1, at=[0, 0.08, 0], rotation={"axis": [1, 0, 0], "angle": np.pi / 2}, color="#5b6470"
    )
)
hinge = m.revolute("hinge", m.ground, arm, at=[0, 0, 0], axis=[0, -1, 0])
angle, rate = m.joint_angle("angle", hinge), m.joint_angle_rate("rate", hinge)
deviation = m.integral("deviation", input=target - angle)


def voltage(angle, rate, deviation, target):
    return ld.max(-24, ld.min(24, 40 * (target - angle) + 60 * deviation - 5 * rate))


m.dc_motor("motor", joint=hinge, voltage=voltage, resistance=0.5, inductance=2e-3, torque_constant=k, damping=0.02)
m.quantity("current", "motor", quantity="current")
m.quantity("applied_voltage", "motor", quantity="voltage")
result = ld.run(m, end=4, step=1e-3, html="motor_and_pid.html", frames=800)

carried = mass * 9.81 * length / 2 * np.cos(np.radians(70)) / k
poles = ld.modes(m, at="static").eigenvalues
print(f"angle at the end: {np.degrees(result['angle'][-1]):.4f} deg, target 70 deg")
print(f"current at the end: {result['current'][-1]:.4f} A, closed form {carried:.4f} A")
print("poles / (1/s):", ", ".join(f"{s:.3g}" for s in poles))
assert abs(result["angle"][-1] - np.radians(70)) < 1e-3 and abs(result["current"][-1] - carried) < 1e-2
assert all(poles.real < 0)

plt.rcParams.update(style.settings())
figure, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True)
for ax, values, label in zip(
    axes,
    (np.degrees(result["angle"]), result["current"], result["applied_voltage"]),
    ("angle / deg", "current / A", "voltage / V"),
):
    ax.plot(result.time, values)
    ax.set_ylabel(label)
axes[0].axhline(70, color=style.LIGHT.muted, linestyle="--", linewidth=1)
axes[1].axhline(carried, color=style.LIGHT.muted, linestyle="--", linewidth=1)
axes[2].set_xlabel("time / s")
figure.align_ylabels()
figure.savefig("motor_and_pid.png", dpi=150)

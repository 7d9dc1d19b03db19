"""A robot from URDF draws a circle

A robot arm is read from a URDF file. `ld.Robot` gives its kinematics and dynamics as functions: inverse kinematics
finds joint angles for points of a circle, and inverse dynamics the torques of the motion. The simulation then applies
these torques with a weak controller, and the tool follows the circle.

Independent checks: the kinematic run with prescribed joint motions has the drive torques as reactions of its
constraints, and `inverse_dynamics` computes them recursively. The holding torque of the shoulder has a closed form.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style


def link(name, length, mass, along="z"):
    """A slender link from its joint along z or x."""
    middle = f"{length / 2} 0 0" if along == "x" else f"0 0 {length / 2}"
    side, axis = mass * length**2 / 12, 1e-3 * mass
    ixx, izz = (axis, side) if along == "x" else (side, axis)
    return f"""<link name="{name}"><inertial><origin xyz="{middle}"/><mass value="{mass}"/>
      <inertia ixx="{ixx}" iyy="{side}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def joint(name, parent, child, xyz, axis):
    return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{xyz}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="200" velocity="10"/></joint>"""


parts = [
    link("column", 0.3, 6),
    link("upper", 0.45, 4, "x"),
    link("fore", 0.4, 2.5, "x"),
    joint("turn", "base", "column", "0 0 0", "0 0 1"),
    joint("shoulder", "column", "upper", "0 0 0.3", "0 -1 0"),
    joint("elbow", "upper", "fore", "0.45 0 0", "0 -1 0"),
]
urdf = '<robot name="arm"><link name="base"/>' + "".join(parts) + "</robot>"
with open("robot_arm.urdf", "w", encoding="utf-8") as file:
    file.write(urdf)

robot = ld.Robot("robot_arm.urdf")
tool, end = [0.4, 0, 0], 3.0
times = np.linspace(0, end, 121)
phase = 2 * np.pi * (10 * (times / end) ** 3 - 15 * (times / end) ** 4 + 6 * (times / end) ** 5)  # from rest to rest
circle = np.array([0.5, 0, 0.35]) + 0.2 * np.stack([0 * phase, np.cos(phase), np.sin(phase)], axis=1)
q = [robot.inverse_kinematics({"elbow": circle[0]}, start=[0, 0.8, -1.2], at={"elbow": tool}).q]
for point in circle[1:]:
    found = robot.inverse_kinematics({"elbow": point}, start=q[-1], at={"elbow": tool})
    assert found.converged
    q.append(found.q)
q, names = np.array(q), robot.coordinates

# Holding torque of the shoulder: two rods that turn about -y.
angle = q[0, 1], q[0, 1] + q[0, 2]
hold = 9.81 * (4 * 0.225 * np.cos(angle[0]) + 2.5 * (0.45 * np.cos(angle[0]) + 0.2 * np.cos(angle[1])))
print(f"holding torque of the shoulder: {robot.gravity(q[0])[1]:.6f} N m, closed form {hold:.6f} N m")
assert abs(robot.gravity(q[0])[1] - hold) < 1e-9

driven = ld.load("robot_arm.urdf", set={f"initial.{name}": float(value) for name, value in zip(names, q[0])})
for i, name in enumerate(names):
    way = driven.table(f"{name}_way", points=np.stack([times, q[:, i]], axis=1).tolist(), interpolation="spline")
    drive = driven.prescribed_motion(f"{name}_drive", joint=driven.joints[name], motion=way(ld.t))
    driven.joint_angle_rate(f"{name}_rate", driven.joints[name])
    driven.multiplier(f"{name}_torque", drive)
forced = ld.kinematics(driven, end=end, step=2.5e-3)
angles, rates, torques = (
    np.stack([forced[name + suffix] for name in names], axis=1) for suffix in ("", "_rate", "_torque")
)
recursive = robot.inverse_dynamics(angles, rates, np.gradient(rates, forced.time, axis=0))
worst = np.abs(-torques - recursive)[4:-4].max()  # multipliers stand on the other side of the equations of motion
print(
    f"drive torques up to {np.abs(recursive).max():.1f} N m: reactions and inverse dynamics differ by {worst:.1e} N m"
)
assert worst < 2e-2

arm = ld.load("robot_arm.urdf", set={f"initial.{name}": float(value) for name, value in zip(names, q[0])})
for name, length, color, direction in (
    ("column", 0.3, "#5b6470", [0, 0, 1]),
    ("upper", 0.45, "#2563a8", [1, 0, 0]),
    ("fore", 0.4, "#d1641e", [1, 0, 0]),
):
    half = length / 2 * np.array(direction)
    arm.bodies[name].set(shape=ld.rod(list(-half), list(half), radius=0.035, color=color))
dots = [ld.sphere(0.006, at=point.tolist(), color="#1f2328") for point in circle[::4]]
arm.ground.set(shapes=[ld.cylinder(0.12, 0.04, at=[0, 0, -0.02], color="#8a93a0"), *dots])
for i, name in enumerate(names):
    way = arm.table(f"{name}_way", points=np.stack([times, q[:, i]], axis=1).tolist(), interpolation="spline")
    torque = arm.table(
        f"{name}_torque", points=np.stack([forced.time, recursive[:, i]], axis=1)[::10].tolist(), interpolation="spline"
    )
    arm.forces[f"{name}_motor"].set(target=way(ld.t), proportional=50, derivative=10, feed_forward=torque(ld.t))
arm.position("tool", arm.bodies["fore"], at={arm.bodies["fore"]: [0.2, 0, 0]})
result = ld.run(arm, end=end, step=5e-3, html="robot_arm.html")
wanted = np.stack([np.interp(result.time, times, circle[:, i]) for i in range(3)], axis=1)
error = np.linalg.norm(result["tool"] - wanted, axis=1).max()
print(f"the tool follows the circle of 0.4 m within {1e3 * error:.2f} mm")
assert error < 2e-3

plt.rcParams.update(style.settings())
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1, 1.5))
left.plot(circle[:, 1], circle[:, 2], ".", color=style.LIGHT.muted, label="target")
left.plot(result["tool"][:, 1], result["tool"][:, 2], label="tool")
left.set(xlabel="y / m", ylabel="z / m", aspect="equal", xmargin=0.05)
left.legend(loc="center")
for i, name in enumerate(names):
    right.plot(forced.time, recursive[:, i], label=name)
right.set(xlabel="time / s", ylabel="torque / (N m)", title="inverse dynamics")
right.legend()
figure.savefig("robot_arm.png", dpi=150)

"""Cardan joint: uneven speed

A universal joint connects two shafts that meet at 35 degrees. The first shaft turns evenly; the second does not.

With the angle phi of the first shaft, zero where its fork is perpendicular to the plane of the shafts, and the angle
beta between the shafts, the ratio of the speeds is cos(beta)/(1 - sin²(beta) sin²(phi)). It passes through its
extremes 1/cos(beta) and cos(beta) twice per turn.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

beta, speed = np.radians(35), 2 * np.pi
first, second = np.array([1, 0, 0]), np.array(
    [np.cos(beta), np.sin(beta), 0]
)  # directions of the shafts; they meet at the origin

m = ld.Builder(name="Cardan joint")
steel = dict(density=7800, velocity="consistent", angular_velocity="consistent")


def shaft(side, prongs):
    """A shaft along x with a fork whose prongs point along `prongs`, and a crossbar that shows how it turns."""
    prongs = 0.05 * np.array(prongs)
    root, tip = np.array([0.05 * side, 0, 0]), np.zeros(3)
    fork = [ld.rod(list(root - prongs), list(root + prongs), radius=0.012)]
    fork += [ld.rod(list(root + sign * prongs), list(tip + sign * prongs), radius=0.012) for sign in (-1, 1)]
    return [
        ld.rod(list(root), [0.4 * side, 0, 0], radius=0.02),
        *fork,
        ld.box([0.02, 0.03, 0.14], at=[0.35 * side, 0, 0], color="#d1641e"),
    ]


driving = m.rigid("driving", shapes=shaft(-1, [0, 0, 1]), **steel)
driven = m.rigid("driven", shapes=shaft(1, [0, 1, 0]), orientation={"rotation_vector": [0, 0, beta]}, **steel)
bearing = m.revolute("bearing", m.ground, driving, at=[-0.3, 0, 0], axis=list(first))
m.universal("cardan", driving, driven, at=[0, 0, 0], first_axis=[0, 0, 1], second_axis=[-np.sin(beta), np.cos(beta), 0])
m.point_on_line("support", m.ground, driven, at=list(0.35 * second), axis=list(second))
m.prescribed_velocity("motor", joint=bearing, velocity=speed)
m.joint_angle("angle", bearing)
m.angular_velocity("driven_rate", driven, axes="inertial")
result = ld.run(m, end=2, step=1e-3, integrator="esdirk4-6", html="cardan_joint.html", frames=500)

phi = result["angle"]
ratio = result["driven_rate"] @ second / speed
exact = np.cos(beta) / (1 - np.sin(beta) ** 2 * np.sin(phi) ** 2)
worst = np.abs(ratio - exact)[100:].max()
print(f"speed ratio: {ratio.min():.6f} to {ratio.max():.6f}, closed form {np.cos(beta):.6f} to {1 / np.cos(beta):.6f}")
print(f"largest difference to the closed form: {worst:.1e}")
assert worst < 1e-4

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(np.degrees(phi), ratio, label="simulation")
ax.plot(np.degrees(phi)[::40], exact[::40], "o", label="cos β/(1 − sin²β sin²φ)")
ax.set(
    xlabel="angle φ of the driving shaft / deg", ylabel="speed of the driven shaft / driving", xticks=range(0, 721, 90)
)
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
figure.savefig("cardan_joint.png", dpi=150)

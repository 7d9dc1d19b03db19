"""Stresses in a flexible arm

An aluminium arm of solid finite elements is turned by a motor and vibrates. It is a floating frame with modes; von
Mises stresses colour its surface in 3D (key C).

Under its own weight the arm is a cantilever with the bending moment rho A g (L - x)²/2, and the stress in its top
fibre is M h/(2 I). The script compares a static analysis with this formula, and the first frequency with that of a
clamped beam, 1.8751² sqrt(E I/(rho A L⁴)).
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

L, b, h, E, rho, g = 1.0, 0.06, 0.02, 70e9, 2700, 9.81
area, I = b * h, b * h**3 / 12

m = ld.Builder(name="Slewing arm", gravity=[0, 0, -g])
arm = m.brick(
    "arm",
    size=[L, b, h],
    divisions=[24, 2, 2],
    position=[L / 2, 0, 0],
    young=E,
    poisson=0.0,
    density=rho,
    modes=8,
    damping_ratio=0.01,
)
root = m.interface("root", of=arm, at=[0, 0, 0], group="x-")
m.interface("tip", of=arm, at=[L, 0, 0], group="x+")
hinge = m.revolute("hinge", m.ground, root, at=[0, 0, 0], axis=[0, -1, 0])
m.prescribed_motion("motor", joint=hinge, motion=np.radians(60) * ld.step(ld.t, 0, 0.35))
m.ground.set(shape=ld.cylinder(0.05, 0.1, rotation={"axis": [1, 0, 0], "angle": np.pi / 2}, color="#5b6470"))
m.stress("stress", arm, at=[0.25 * L, 0, h / 2])
m.position("tip_position", "tip")
rest = ld.static(m)
result = ld.run(
    m, from_=rest, end=1.0, step=1e-3, integrator="generalized-alpha,rho=0.8", html="slewing_arm.html", frames=500
)
M = rho * area * g * (0.75 * L) ** 2 / 2
bending, closed = rest["stress"][0], M * h / (2 * I)
first = ld.modes(m, at="static", undamped=True).frequencies[0]
clamped = 1.875104068711961**2 / (2 * np.pi) * np.sqrt(E * I / (rho * area * L**4))
print(f"stress at a quarter of the length, at rest: {bending / 1e6:.4f} MPa, closed form {closed / 1e6:.4f} MPa")
print(f"first frequency: {first:.4f} Hz, clamped beam {clamped:.4f} Hz")
assert abs(bending / closed - 1) < 0.01 and abs(first / clamped - 1) < 0.01

s = result["stress"]  # xx, yy, zz, yz, xz, xy
mises = np.sqrt(
    ((s[:, 0] - s[:, 1]) ** 2 + (s[:, 1] - s[:, 2]) ** 2 + (s[:, 2] - s[:, 0]) ** 2) / 2
    + 3 * (s[:, 3:] ** 2).sum(axis=1)
)
plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result.time, mises / 1e6, label="von Mises stress at L/4, top")
ax.axhline(
    closed / 1e6, color=style.LIGHT.muted, linestyle="--", linewidth=1, label="horizontal arm at rest, closed form"
)
ax.axvspan(0, 0.35, color=style.LIGHT.grid, alpha=0.5, label="the motor turns")
ax.set(xlabel="time / s", ylabel="stress / MPa", ylim=(0, None))
ax.legend()
figure.savefig("slewing_arm.png", dpi=150)

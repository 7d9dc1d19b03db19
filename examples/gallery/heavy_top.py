"""Heavy top: precession and nutation

A fast top is released with its axis at rest. It nutates: the axis falls a little, turns aside and rises again, and
precesses slowly on average.

The axis moves between two angles. The energy and two angular momenta are constant; the turning points are the roots
of a cubic (Goldstein, Classical Mechanics, section 5.7). For a fast top the mean precession is m g l/(C n).
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

g, tilt, spin = 9.81, np.radians(55), 120.0

m = ld.Builder(name="Heavy top", gravity=[0, 0, -g])
disc = ld.cylinder(0.12, 0.03, at=[0, 0, 0.15], color="#2563a8")
stem = ld.rod([0, 0, 0.015], [0, 0, 0.24], radius=0.008, color="#b8bec6")
point = ld.cone(0.008, 0.015, at=[0, 0, 0.0075], rotation={"axis": [1, 0, 0], "angle": np.pi}, color="#b8bec6")
dot = ld.box([0.05, 0.02, 0.005], at=[0.08, 0, 0.166], color="#f2c14e")  # drawn, so that the spin is seen
top = m.rigid(
    "top",
    shapes=[disc | {"density": 2700}, stem | {"density": 7800}, point | {"density": 7800}, dot],
    orientation={"rotation_vector": [0, tilt, 0]},
    angular_velocity=[0, 0, spin],
    velocity="consistent",
)
m.spherical("tip", m.ground, top, at=[0, 0, 0])
m.position("axis", top, at={top: [0, 0, 0.24]})
m.simulation(end=3, step=5e-4, integrator="generalized-alpha,rho=0.95,sigma=opt", formulation="r3so3-spatial")
result = ld.run(m, html="heavy_top.html", frames=1500)

model = m.compile()
mass, l = model.value("bodies.top.mass"), -model.value("bodies.top.reference[2]")
A = model.value("bodies.top.inertia[0]") + mass * l**2  # about the tip
C = model.value("bodies.top.inertia[2]")
# With u = cos(theta), released from rest at u0: u'² = 0 at u0 and at the smaller root of
# (C n/A)² (u0 - u) = 2 m g l/A (1 - u²).
u0, p, q = np.cos(tilt), (C * spin / A) ** 2, 2 * mass * g * l / A
lowest = np.arccos(min(np.roots([-q, p, q - p * u0]), key=lambda u: abs(u - u0)).real)
z = result["axis"][:, 2] / 0.24
azimuth = np.unwrap(np.arctan2(result["axis"][:, 1], result["axis"][:, 0]))
precession = azimuth[-1] / result.time[-1]
print(f"largest tilt: {np.degrees(np.arccos(z.min())):.4f} deg, root of the cubic {np.degrees(lowest):.4f} deg")
print(f"mean precession: {precession:.4f} rad/s, fast top m g l/(C n) = {mass * g * l / (C * spin):.4f} rad/s")
assert abs(np.arccos(z.min()) - lowest) < 2e-4 and abs(precession * C * spin / (mass * g * l) - 1) < 0.05

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(np.degrees(azimuth), np.degrees(np.arccos(z)))
ax.axhline(np.degrees(tilt), color=style.LIGHT.muted, linestyle="--", linewidth=1)
ax.axhline(np.degrees(lowest), color=style.LIGHT.muted, linestyle="--", linewidth=1)
ax.invert_yaxis()
ax.set(
    xlabel="azimuth of the axis / deg",
    ylabel="tilt of the axis / deg",
    title="path of the axis; dashed: turning points in closed form",
)
figure.savefig("heavy_top.png", dpi=150)

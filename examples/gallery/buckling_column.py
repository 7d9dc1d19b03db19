"""A column that buckles

A clamped column carries a load at its free end. Above Euler's load P_E = pi² E I/(4 L²) it bends aside, far beyond
what linear theory describes.

The bent shapes are Euler's elastica. With the rotation a of the tip and k = sin(a/2), the load is P = P_E (2
K(k)/pi)² and the tip moves aside by 2 k L/K(k). The script compares static solutions with these formulas. In 3D the
load rises slowly and a small side force breaks the symmetry.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

L, width, thickness, E = 1.0, 0.03, 0.003, 2.1e11
EI = E * width * thickness**3 / 12
euler = np.pi**2 * EI / (4 * L**2)

m = ld.Builder(name="Buckling column")
load = m.parameter("load", 1.5 * euler)
side = m.parameter("side", 1e-5 * euler)
column = m.rectangle_beam(
    "column",
    from_=[0, 0, 0],
    to=[0, 0, L],
    y_axis=[0, 1, 0],
    elements=12,
    element="three_node",
    width=width,
    height=thickness,
    young=E,
    density=7800,
    damping=0.02,
)
m.fixed("clamp", m.ground, column.start, at=[0, 0, 0])
m.ground.set(shape=ld.box([0.2, 0.2, 0.03], at=[0, 0, -0.015], color="#8a93a0"))
m.rigid(
    "weight",
    shape=ld.sphere(0.03, color="#d1641e"),
    mass=0.5,
    inertia=[2e-4, 2e-4, 2e-4],
    position=[0, 0, L],
    on=column.end,
)
m.force("push", column.end, force=[side, 0, -load * ld.step(ld.t, 0, 6)])
m.position("tip", column.end)
result = ld.run(m, end=8, step=0.01, integrator="generalized-alpha,rho=0.5", html="buckling_column.html")


def elliptic_k(k):
    a, b = np.ones_like(k), np.sqrt(1 - k**2)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return np.pi / (2 * a)


k = np.sin(np.linspace(1e-4, np.radians(130), 400) / 2)
loads, aside = (2 * elliptic_k(k) / np.pi) ** 2, 2 * k / elliptic_k(k) * L
factors, found = [1.02, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0], []
rest = None
for factor in factors:  # each from the one before
    rest = ld.static(m, set={"load": factor * euler}, time=8, from_=rest, load_steps=1 if rest else 10)
    found.append(abs(rest["tip"][0]))
exact = np.interp(factors, loads, aside)
worst = np.abs(found - exact).max()
print(f"Euler's load: {euler:.3f} N")
print(f"tip at 1.4 P_E: {found[3]:.5f} m aside, elastica {exact[3]:.5f} m; largest difference {worst:.1e} m")
assert worst < 5e-4

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.8))
ax.plot(aside, loads, label="elastica")
ax.plot(found, factors, "o", label="static equilibria")
ax.plot(
    np.abs(result["tip"][:, 0]),
    1.5
    * np.clip((result.time / 6) ** 3 * (10 - 15 * result.time / 6 + 6 * (result.time / 6) ** 2), 0, 1)
    * (result.time < 6)
    + 1.5 * (result.time >= 6),
    color=style.LIGHT.muted,
    linewidth=1,
    label="run with rising load",
)
ax.set(xlabel="displacement of the tip / m", ylabel="load / Euler's load", ylim=(0, 2.1), xlim=(0, 0.9))
ax.legend()
figure.savefig("buckling_column.png", dpi=150)

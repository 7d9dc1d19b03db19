"""A cable: catenary and fall

A thin cable hangs between two hooks. Its equilibrium is compared with the catenary z = a cosh(x/a). Then one hook
opens, and the free end swings down, faster than free fall at the end of its path.

The cable is a geometrically exact beam with almost no bending stiffness. The parameter a follows from the length of
the hanging cable, 2 a sinh(w/(2 a)) with the distance w of the hooks.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

span, arc_sag = 2.0, 0.8  # the relaxed cable is drawn as an arc


def cable(both_ends):
    m = ld.Builder(name="Cable", gravity=[0, 0, -9.81])
    rope = m.circle_beam(
        "rope",
        from_=[-span / 2, 0, 0],
        to=[span / 2, 0, 0],
        through=[0, 0, -arc_sag],
        elements=40,
        radius=0.005,
        young=1.3e6,
        density=1200,
        damping=5e-3,
    )
    m.spherical("left", m.ground, rope.start, at=[-span / 2, 0, 0])
    if both_ends:
        m.spherical("right", m.ground, rope.end, at=[span / 2, 0, 0])
    hooks = [ld.sphere(0.03, at=[x, 0, 0], color="#5b6470") for x in (-span / 2, span / 2)]
    m.ground.set(shapes=hooks)
    for i in range(41):
        m.position(f"p{i}", rope.start if i == 0 else rope.end if i == 40 else rope[i / 40])
    m.velocity("end_speed", rope.end)
    return m


rest = ld.static(cable(True), load_steps=10)
shape = np.array([rest[f"p{i}"] for i in range(41)])[:, [0, 2]]
fall = ld.run(
    cable(False),
    from_=rest,
    end=1.2,
    step=2e-3,
    integrator="generalized-alpha,rho=0.7",
    html="hanging_cable.html",
    frames=400,
)

length = np.linalg.norm(np.diff(shape, axis=0), axis=1).sum()  # stretched by one percent
low, high = 0.1, 10.0
for _ in range(60):  # a by bisection
    a = (low + high) / 2
    low, high = (a, high) if 2 * a * np.sinh(span / (2 * a)) > length else (low, a)
catenary = a * (np.cosh(shape[:, 0] / a) - np.cosh(span / (2 * a)))
worst = np.abs(shape[:, 1] - catenary).max()
print(f"sag: {-shape[:, 1].min():.4f} m, catenary {a * (np.cosh(span / (2 * a)) - 1):.4f} m")
print(f"largest distance to the catenary: {1e3 * worst:.2f} mm")
assert worst < 5e-3

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 5))
x = np.linspace(-span / 2, span / 2, 200)
ax.plot(x, a * (np.cosh(x / a) - np.cosh(span / (2 * a))), color=style.LIGHT.ink, label="catenary")
ax.plot(*shape.T, "o", markersize=4, label="static equilibrium")
for t in (0.2, 0.4, 0.55, 0.7):
    row = np.searchsorted(fall.time, t - 1e-9)
    ax.plot(
        *np.array([fall[f"p{i}"][row] for i in range(41)])[:, [0, 2]].T,
        linewidth=1,
        color=style.LIGHT.series[1],
        alpha=0.4 + 0.6 * t / 0.7,
    )
    ax.annotate(f"{t:g} s", fall["p40"][row][[0, 2]], textcoords="offset points", xytext=(4, -2), fontsize=8)
ax.set(xlabel="x / m", ylabel="z / m", aspect="equal", xmargin=0.05)
ax.legend(loc="lower right")
figure.savefig("hanging_cable.png", dpi=150)

"""Bricard's linkage: redundant constraints

Five rods and the ground lie along six edges of a cube. Six hinges impose 30 constraints on 30 velocities, yet the
linkage moves: one constraint follows from the others. The program detects it, reports it in a warning, and imposes
the remaining 29.

The path of one knot is compared with a reference solution of order 8 in minimal coordinates (IFToMM benchmark A04;
the numbers are in `models/bricard/README.md`).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

m = ld.Builder.from_json("bricard")
for rod, (direction, color) in enumerate(zip("xyzxy", style.LIGHT.series), start=1):
    size = [1.0 if axis == direction else 0.06 for axis in "xyz"]
    m.bodies[f"rod{rod}"].set(shape=ld.box(size, color=color))  # only drawn: mass and inertia are those of the model
m.ground.set(shapes=[ld.box([0.06, 0.06, 1], at=[0, 0, 0.5], color="#8a93a0")])  # the sixth side of the loop

with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    result = ld.run(m, end=3, html="bricard_linkage.html", frames=600)
print(f"warning: {found[0].message}")
assert len(result.summary["redundant_constraints"]) == 1

reference = {
    0.5: (0.774717808, -0.979815048, -0.199906159),
    1: (0.274481319, -0.886707939, -0.462330003),
    2: (-0.778135373, -0.980352683, -0.197252671),
    3: (-0.771281359, -0.979269330, -0.202562533),
}
knot = np.array([result["P3"][np.argmin(np.abs(result.time - t))] for t in reference])
worst = np.abs(knot - list(reference.values())).max()
print(f"knot P3 at t = 3 s: {knot[-1]}, reference {reference[3]}")
print(
    f"largest difference {worst:.1e} m (steps of 1 ms, second order)",
    f"constraint residual {result.summary['constraint_residual']['position']:.1e}",
    sep="; ",
)
assert worst < 1e-4

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
for i, name in enumerate("xyz"):
    ax.plot(result.time, result["P3"][:, i], label=name)
    ax.plot(
        list(reference),
        [point[i] for point in reference.values()],
        "o",
        color=style.LIGHT.series[i],
        clip_on=False,
        label="_",
    )
ax.plot([], [], "o", color=style.LIGHT.muted, label="reference solution")
ax.set(xlabel="time / s", ylabel="knot P3 / m")
ax.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
figure.savefig("bricard_linkage.png", dpi=150)

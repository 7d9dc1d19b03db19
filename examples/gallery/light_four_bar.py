"""Optimal design: a light four-bar linkage

The bars of a four-bar linkage are made as short as possible. Its joint C must still travel 0.2 m sideways, and must
stay 5 cm above the line of the bearings. Gradients of the extremes over the motion are exact, through the closed loop
and the initial velocities that follow from it.

The extremes are known from geometry: crank and coupler are then in line, so that C has the distance coupler ± crank
from one bearing and the length of the rocker from the other. The script checks both constraints by this, and that
none of 200 000 random linkages nearby that satisfy them is shorter.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

study = {
    "model": "four_bar",
    "simulation": {"end": 0.65, "step": 2e-3},
    "variables": {
        "crank": {"parameter": "y_B", "initial": 0.12, "lower": 0.04, "upper": 0.18},
        "x": {"parameter": "x_C", "initial": 0.24, "lower": 0.1, "upper": 0.4},
        "y": {"parameter": "y_C", "initial": 0.2, "lower": 0.1, "upper": 0.4},
    },
    "outputs": {"right": "C[0]@max", "left": "C[0]@min", "low": "C[1]@min"},
    "minimize": "crank + sqrt(x^2 + (y - crank)^2) + sqrt((x - 0.24)^2 + y^2)",
    "constraints": {
        "travel": {"expression": "right - left", "at_least": 0.2},
        "clearance": {"expression": "low", "at_least": 0.05},
    },
    "optimizer": {"method": "mma"},
}
found = ld.optimize(study)
a, x, y = (found.variables[name] for name in ("crank", "x", "y"))


def total(a, x, y):
    return a + np.hypot(x, y - a) + np.hypot(x - 0.24, y)


def extremes(a, x, y):
    """x and y of C at both ends of its way, with crank and coupler in line: upper intersections of two circles."""
    coupler, rocker, base = np.hypot(x, y - a), np.hypot(x - 0.24, y), 0.24
    out = []
    for reach in (coupler - a, coupler + a):
        cx = (reach**2 - rocker**2 + base**2) / (2 * base)
        out += [cx, np.sqrt(np.maximum(reach**2 - cx**2, 0))]
    return out


left, left_y, right, right_y = extremes(a, x, y)
print(
    f"bars: {found.objective:.5f} m instead of {total(0.12, 0.24, 0.2):.5f} m,",
    f"{len(found.history['objective'])} evaluations",
)
print(f"by geometry: travel {right - left:.6f} m (at least 0.2), lowest C {min(left_y, right_y):.6f} m (at least 0.05)")
tries = np.array([[a], [x], [y]]) + 0.02 * np.random.default_rng(0).uniform(-1, 1, (3, 200_000))
left, left_y, right, right_y = extremes(*tries)
allowed = (right - left >= 0.2) & (np.minimum(left_y, right_y) >= 0.05)
shortest = total(*tries)[allowed].min()
print(f"{allowed.sum()} random linkages nearby satisfy both; the shortest has {shortest:.5f} m")
left, left_y, right, right_y = extremes(a, x, y)
assert (
    found.converged
    and abs(right - left - 0.2) < 1e-4
    and abs(min(left_y, right_y) - 0.05) < 1e-4
    and shortest > found.objective - 1e-4
)

m = ld.Builder.from_json("four_bar")
m.ground.set(shapes=[ld.box([0.03, 0.03, 0.02], at=[place, -0.02, 0], color="#8a93a0") for place in (0, 0.24)])
warnings.simplefilter("ignore", ld.NumericalWarning)  # four hinges in space: redundant constraints
before, after = (ld.run(model, end=1, scene=True) for model in (ld.Model(m), ld.Model(m, set=found.parameters)))
after.view().compared_with(before.view()).to_html("light_four_bar.html")
plt.rcParams.update(style.settings())
figure, (path, search) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.4, 1))
for result, label, (a, x, y) in ((before, "before", (0.12, 0.24, 0.2)), (after, "optimum", (a, x, y))):
    line = path.plot(result["C"][:, 0], result["C"][:, 1], linewidth=3, label=f"path of C, {label}")[0]
    path.plot([0, 0, x, 0.24], [0, a, y, 0], "o-", color=line.get_color(), linewidth=1, markersize=4)
path.set(xlabel="x / m", ylabel="y / m", aspect="equal", xmargin=0.05)
path.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
search.plot(found.history["objective"], ".-")
search.set(xlabel="evaluation", ylabel="length of all bars / m")
figure.savefig("light_four_bar.png", dpi=150)

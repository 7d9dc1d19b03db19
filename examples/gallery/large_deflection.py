"""The Princeton beam

A flat aluminium bar is clamped and carries a weight at its tip. It is turned about its axis in steps: between flat
and upright it bends in two directions and twists. The experiment of Dowell and Traybar (1975) is a standard test of
nonlinear beams.

Where the bar stays in a plane, at 0 and 90 degrees, the script compares with a shooting solution of the plane
cantilever with shear and extension (`models/princeton_beam/README.md`).
"""

import subprocess

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

loads, angles = (4.448, 8.896, 13.345), np.radians(np.linspace(0, 90, 10))
model = ld.Model("princeton_beam")
found = {
    load: [ld.static(model, set={"load": load, "angle": angle}, load_steps=4) for angle in angles] for load in loads
}

# Displacement across at 0 degrees (flapwise) for all loads, and at 90 degrees (chordwise) for two of them.
flat = {4.448: 0.07808182, 8.896: 0.14625990, 13.345: 0.20069281}
upright = {4.448: 0.00535950, 13.345: 0.01606500}
worst = max(
    [abs(abs(found[load][0]["flapwise"]) - value) for load, value in flat.items()]
    + [abs(abs(found[load][-1]["chordwise"]) - value) for load, value in upright.items()]
)
print(f"flapwise at 13.345 N: {found[13.345][0]['flapwise']:.6f} m, reference {flat[13.345]:.6f} m")
print(f"largest difference to the reference: {worst:.1e} m")
assert worst < 1e-5

subprocess.run(
    [
        "liedyn",
        "static",
        "princeton_beam",
        "--set",
        "load=13.345",
        "--load-steps",
        "20",
        "--html",
        "large_deflection.html",
    ],
    check=True,
    stdout=subprocess.DEVNULL,
)

plt.rcParams.update(style.settings())
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4))
for load, color in zip(loads, style.LIGHT.series):
    rest = found[load]
    for ax, values in zip(
        axes,
        (
            [1e3 * abs(r["flapwise"]) for r in rest],
            [1e3 * abs(r["chordwise"]) for r in rest],
            [np.degrees(abs(r["rotation"][0])) for r in rest],
        ),
    ):
        ax.plot(np.degrees(angles), values, "o-", markersize=3, color=color, label=f"{load} N")
    axes[0].plot(0, 1e3 * flat[load], "s", color=style.LIGHT.ink, clip_on=False, markersize=7, fillstyle="none")
    if load in upright:
        axes[1].plot(90, 1e3 * upright[load], "s", color=style.LIGHT.ink, clip_on=False, markersize=7, fillstyle="none")
for ax, title in zip(axes, ("flapwise / mm", "chordwise / mm", "twist / deg")):
    ax.set(xlabel="angle of the bar / deg", ylabel=title, xticks=range(0, 91, 30), ylim=(0, None))
axes[0].legend()
figure.suptitle("tip of the bar; squares: reference solution", x=0.01, ha="left", fontsize=10)
figure.savefig("large_deflection.png", dpi=150)

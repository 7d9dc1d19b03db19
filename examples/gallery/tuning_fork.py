"""Modes of a tuning fork

Two prongs on a rigid yoke that floats freely. In the mode that sounds, the prongs move against each other: their
forces and moments cancel, and the yoke stands still. Its frequency is exactly that of a clamped prong.

For a slender prong this is 1.8751²/(2 pi) sqrt(E I/(rho A L⁴)), here 440 Hz. In 3D, choose a mode on the left.
"""

import subprocess

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

E, rho, width, thickness, gap = 2.1e11, 7800, 0.008, 0.004, 0.02
EI, line = E * width * thickness**3 / 12, rho * width * thickness
L = np.sqrt(1.875104068711961**2 / (2 * np.pi * 440) * np.sqrt(EI / line))  # for 440 Hz


def prong(m, name, x, carrier):
    beam = m.rectangle_beam(
        name,
        from_=[x, 0, 0],
        to=[x, 0, L],
        y_axis=[0, 1, 0],
        elements=10,
        element="three_node",
        width=width,
        height=thickness,
        young=E,
        density=rho,
    )
    m.fixed(f"root_{name}", carrier, beam.start, at=[x, 0, 0])


fork = ld.Builder()
bar = ld.box([gap + 2 * thickness, width, 0.012], at=[0, 0, -0.006], color="#5b6470", density=rho)
yoke = fork.rigid(
    "yoke", shapes=[bar, ld.rod([0, 0, -0.012], [0, 0, -0.06], radius=0.004, color="#5b6470", density=rho)]
)
prong(fork, "left", -gap / 2, yoke)
prong(fork, "right", gap / 2, yoke)
clamped = ld.Builder()
prong(clamped, "prong", 0, clamped.ground)

modes = ld.modes(fork, count=14)
elastic = modes.frequencies[~modes.rigid]
single = ld.modes(clamped, count=1).frequencies[0]
print(f"{sum(modes.rigid)} rigid-body modes; first elastic mode {elastic[0]:.4f} Hz")
print(f"a clamped prong alone: {single:.4f} Hz; slender beam: 440 Hz (rotary inertia and shear lower it)")
assert sum(modes.rigid) == 6 and abs(elastic[0] / single - 1) < 1e-6 and abs(elastic[0] / 440 - 1) < 3e-3

fork.save("tuning_fork.json")
subprocess.run(
    ["liedyn", "modes", "tuning_fork.json", "--count", "14", "--html", "tuning_fork.html"],
    check=True,
    stdout=subprocess.DEVNULL,
)

plt.rcParams.update(style.settings())
figure, axes = plt.subplots(1, 4, figsize=(9, 3.8), sharey=True)
nodes = [
    f"{side}.{node}" for side in ("left", "right") for node in ("start", *(f"node{i}" for i in range(1, 20)), "end")
]
for ax, number in zip(axes, np.flatnonzero(~modes.rigid)):
    for k, side in enumerate((nodes[:21], nodes[21:])):
        shape = np.array(
            [
                [modes.shapes[number, modes.names.index(f"{node}: displacement {axis}")].real for axis in "xyz"]
                for node in side
            ]
        )
        height = L * np.linspace(0, 1, 21)
        scale = 0.01 / np.abs(modes.shapes[number].real).max()
        x = (k - 0.5) * gap
        ax.plot([1e3 * x] * 2, [0, 1e3 * L], color=style.LIGHT.grid, linewidth=3)
        ax.plot(1e3 * (x + scale * shape[:, 0]), 1e3 * height, color=style.LIGHT.series[0], label="in the plane")
        ax.plot(
            1e3 * (x + scale * shape[:, 1]), 1e3 * height, "--", color=style.LIGHT.series[1], label="out of the plane"
        )
    ax.set(title=f"{modes.frequencies[number]:.0f} Hz", xlabel="x / mm", xlim=(-25, 25))
axes[0].set_ylabel("z / mm")
axes[0].legend(
    *[part[:2] for part in axes[0].get_legend_handles_labels()], loc="lower left", bbox_to_anchor=(0, 1.08), ncols=2
)
figure.savefig("tuning_fork.png", dpi=150)

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


fork = ld.Builder(name="Tuning fork")
bar = ld.box([gap + 2 * thickness, width, 0.012], at=[0, 0, -0.006], color="#5b6470", density=rho)
yoke = fork.rigid(
    "yoke", shapes=[bar, ld.rod([0, 0, -0.012], [0, 0, -0.06], radius=0.004, color="#5b6470", density=rho)]
)
prong(fork, "left", -gap / 2, yoke)
prong(fork, "right", gap / 2, yoke)
clamped = ld.Builder(name="Tuning fork")
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
nodes = ["start", *(f"node{i}" for i in range(1, 20)), "end"]
for ax, number in zip(axes, np.flatnonzero(~modes.rigid)):
    shape = {  # displacement along x and y of the nodes of each prong
        side: np.array(
            [
                [modes.shapes[number, modes.names.index(f"{side}.{node}: displacement {axis}")].real for axis in "xy"]
                for node in nodes
            ]
        )
        for side in ("left", "right")
    }
    scale = 8 / max(np.abs(part).max() for part in shape.values())  # the largest displacement is drawn as 8 mm
    for side, x in (("left", -500 * gap), ("right", 500 * gap)):
        height = 1e3 * L * np.linspace(0, 1, len(nodes))
        ax.plot([x, x], [0, 1e3 * L], color=style.LIGHT.grid, linewidth=4)
        ax.plot(x + scale * shape[side][:, 0], height, color=style.LIGHT.series[0])
        ax.plot(x + scale * shape[side][:, 1], height, "--", color=style.LIGHT.series[1])
    ax.set(title=f"{modes.frequencies[number]:.0f} Hz", xlabel="x / mm", xlim=(-25, 25))
axes[0].set_ylabel("z / mm")
figure.suptitle("solid: in the plane of the fork; dashed: out of the plane", x=0.01, ha="left", fontsize=10)
figure.savefig("tuning_fork.png", dpi=150)

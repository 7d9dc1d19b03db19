"""A beam rolled up to a circle

A straight cantilever is bent by a moment at its tip. The moment 2 pi E I/L rolls it up to a full circle: the
classical test of large rotations.

Every section has the same curvature M/(E I), so that the beam is a circular arc for every moment. The script compares
the tip with the arc, for a static analysis with 8 elements of three nodes. The plot shows the shapes on the way.
"""

import subprocess

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

L, width, thickness, E = 1.0, 0.06, 0.004, 2.1e11
EI = E * width * thickness**3 / 12

m = ld.Builder(name="Roll-up")
turns = m.parameter("turns", 1)
strip = m.rectangle_beam(
    "strip",
    from_=[0, 0, 0],
    to=[L, 0, 0],
    elements=8,
    element="three_node",
    width=width,
    height=thickness,
    young=E,
    density=7800,
)
m.fixed("clamp", m.ground, strip.start, at=[0, 0, 0])
m.torque("moment", strip.end, torque=[0, -turns * 2 * np.pi * EI / L, 0])
nodes = [strip.start, *(strip[i / 16] for i in range(1, 16)), strip.end]
for i, node in enumerate(nodes):
    m.position(f"node{i}", node)

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 4.6))
worst = 0.0
for part in (0.125, 0.25, 0.5, 0.75, 1.0):
    rest = ld.static(m, set={"turns": part}, load_steps=8)
    shape = np.array([rest[f"node{i}"] for i in range(len(nodes))])
    angle = 2 * np.pi * part * np.linspace(0, 1, 200)
    arc = L / (2 * np.pi * part) * np.stack([np.sin(angle), 1 - np.cos(angle)])
    worst = max(worst, np.abs(shape[-1, [0, 2]] - arc[:, -1]).max())
    line = ax.plot(*arc, linewidth=1)[0]
    ax.plot(shape[:, 0], shape[:, 2], "o", color=line.get_color(), label=f"{part:g} turn")
print(f"tip at one turn: {shape[-1]}, closed form [0, 0, 0] m")
print(f"largest difference of the tip to the arc: {worst:.1e} m of {L} m")
assert worst < 1e-4

ax.set(xlabel="x / m", ylabel="z / m", aspect="equal", xmargin=0.03)
ax.legend(title="dots: nodes, lines: arcs", loc="center left", bbox_to_anchor=(1, 0.5))
figure.savefig("beam_roll_up.png", dpi=150)

m.save("beam_roll_up.json")
subprocess.run(
    ["liedyn", "static", "beam_roll_up.json", "--load-steps", "20", "--html", "beam_roll_up.html"],
    check=True,
    stdout=subprocess.DEVNULL,
)

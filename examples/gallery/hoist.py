"""Hoist: rope over pulleys

A counterweight lifts a load with block and tackle: two strands carry the load, so that it rises half as far as the
weight falls. The rope does not stretch and its pulleys have no inertia.

With n strands, counterweight M and load m, the acceleration of the counterweight is g (M - m/n)/(M + m/n²), and the
rope carries M (g - a).
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

M, load_mass, strands, g = 60, 100, 2, 9.81

m = ld.Builder(name="Hoist", gravity=[0, 0, -g])
beam = ld.box([1.6, 0.12, 0.1], at=[0.5, 0, 3.12], color="#8a93a0")
posts = [ld.box([0.1, 0.12, 3.2], at=[x, 0, 1.55], color="#8a93a0") for x in (-0.35, 1.35)]
wheels = [
    ld.cylinder(0.1, 0.06, at=[x, 0, 3], rotation={"axis": [1, 0, 0], "angle": np.pi / 2}, color="#b5891a")
    for x in (0, 1)
]
m.ground.set(shapes=[beam, *posts, *wheels])
weight = m.rigid(
    "weight",
    shape=ld.cylinder(0.12, 0.4, at=[0, 0, -0.2], color="#2563a8"),
    mass=M,
    inertia=[1.2, 1.2, 0.5],
    position=[0, 0, 2],
)
load = m.rigid(
    "load", shape=ld.box([0.4, 0.4, 0.4], color="#d1641e"), mass=load_mass, inertia=[4, 4, 4], position=[1, 0, 0.3]
)
rope = m.pulley("rope", weight, load, points=[[0, 0, 2], [1, 0, 0.5]], pulleys=[[0, 0, 3], [1, 0, 3]], ratio=strands)
m.position("weight_position", weight)
m.position("load_position", load)
m.multiplier("tension", rope)
result = ld.run(m, end=1.6, step=2e-3, html="hoist.html", frames=400)

a = g * (M - load_mass / strands) / (M + load_mass / strands**2)
fall = 2 - result["weight_position"][:, 2]
rise = result["load_position"][:, 2] - 0.3
print(f"acceleration of the counterweight: {2 * fall[-1] / result.time[-1] ** 2:.9f} m/s², closed form {a:.9f} m/s²")
print(f"tension of the rope: {result['tension'][-1]:.6f} N, closed form {M * (g - a):.6f} N")
assert abs(fall[-1] - a * 1.6**2 / 2) < 1e-9 and abs(result["tension"][-1] - M * (g - a)) < 1e-6
assert np.abs(rise - fall / strands).max() < 1e-9

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result.time, fall, label="fall of the counterweight")
ax.plot(result.time, rise, label="rise of the load")
ax.plot(result.time[::40], a * result.time[::40] ** 2 / 2, "o", color=style.LIGHT.series[0], label="a t²/2")
ax.plot(result.time[::40], a * result.time[::40] ** 2 / 4, "o", color=style.LIGHT.series[1], label="a t²/4")
ax.set(xlabel="time / s", ylabel="distance / m")
ax.legend()
figure.savefig("hoist.png", dpi=150)

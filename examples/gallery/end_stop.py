"""Slider between two stops

A slider flies between two elastic stops with losses. A stop is a force: it acts while it is compressed, with the
restitution 0.7 for impacts at 1 m/s.

Slower impacts lose less. The law k d (1 + a d') has a closed form: an impact at the speed v returns v' with a (v +
v') = ln((1 + a v)/(1 - a v')). The definition, 0.7 m/s after an impact at 1 m/s, gives a; the same equation then
gives every later speed.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

m = ld.Builder(name="Slider between stops")
m.ground.set(
    shapes=[ld.box([0.02, 0.08, 0.1], at=[x, 0, 0.03], color="#5b6470") for x in (-0.16, 0.16)]
    + [ld.box([0.36, 0.03, 0.02], at=[0, 0, -0.03], color="#b8bec6")]
)
slider = m.rigid(
    "slider", shape=ld.box([0.1, 0.06, 0.04], color="#2563a8"), mass=2, inertia=[1e-3, 1e-3, 1e-3], velocity=[1, 0, 0]
)
guide = m.prismatic("guide", m.ground, slider, at=[0, 0, 0], axis=[1, 0, 0])
m.joint_stop("stops", joint=guide, lower=-0.1, upper=0.1, stiffness=1e6, restitution=0.7, impact_speed=1)
m.joint_displacement("x", guide)
m.joint_displacement_rate("v", guide)
result = ld.run(m, end=1.8, step=2e-3, integrator="esdirk4-6,adaptive=true,rtol=1e-9,atol=1e-12", html="end_stop.html")


def root(function, low, high):
    """The zero of a function that falls from `low` to `high`, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def balance(a, before, after):
    return np.log((1 + a * before) / (1 - a * after)) - a * (before + after)


a = root(lambda a: -balance(a, 1, 0.7), 1e-3, 1.4)
exact = [1.0]
while len(exact) < 6:
    exact.append(root(lambda after: -balance(a, exact[-1], after), 1e-9 * exact[-1], min(exact[-1], 0.999999 / a)))
flying = np.abs(result["x"]) < 0.099  # away from the stops the speed is constant
speeds = [abs(result["v"][0])]
for speed in np.abs(result["v"][flying]):
    if abs(speed - speeds[-1]) > 1e-3:
        speeds.append(speed)
print("speeds after the impacts:", np.array(speeds), "m/s")
print("closed form:             ", np.array(exact[: len(speeds)]), "m/s")
assert len(speeds) >= 5 and np.abs(np.array(speeds) - exact[: len(speeds)]).max() < 1e-6

plt.rcParams.update(style.settings())
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 4.4), sharex=True)
top.plot(result.time, 1000 * result["x"])
top.set(ylabel="position / mm")
bottom.plot(result.time, np.abs(result["v"]), label="|v|")
for speed in exact[: len(speeds)]:
    bottom.axhline(speed, color=style.LIGHT.muted, linestyle="--", linewidth=0.8)
bottom.set(xlabel="time / s", ylabel="speed / (m/s)", title="dashed: closed form")
figure.savefig("end_stop.png", dpi=150)

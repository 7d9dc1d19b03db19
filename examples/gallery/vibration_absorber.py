"""Frequency response: a vibration absorber

A small mass on a spring and a damper takes the vibration from a larger one. Den Hartog's rules tune it: with the mass
ratio mu, the absorber has the frequency w/(1 + mu) and the damping ratio sqrt(3 mu/(8 (1 + mu)³)).

`linearize` gives the state space of the model, and its transfer function the frequency response. At Den Hartog's
fixed points, whose heights do not depend on the damping, the amplification is sqrt(1 + 2/mu) for the optimal tuning.
The script compares.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

M, k, mu = 10.0, 4000.0, 0.05
w = np.sqrt(k / M)
best_ratio, best_damping = 1 / (1 + mu), np.sqrt(3 * mu / (8 * (1 + mu) ** 3))

m = ld.Builder(name="Vibration absorber")
push, shake, tuning, damping = (
    m.parameter("push", 0),
    m.parameter("shake", 0),
    m.parameter("tuning", best_ratio),
    m.parameter("damping", best_damping),
)
m.ground.set(shape=ld.box([0.4, 0.3, 0.04], at=[0, 0, -0.32], color="#8a93a0"))
main = m.rigid("main", shape=ld.box([0.3, 0.2, 0.1], color="#2563a8"), mass=M, inertia=[0.1, 0.1, 0.1])
absorber = m.rigid(
    "absorber",
    shape=ld.cylinder(0.06, 0.06, color="#d1641e"),
    mass=mu * M,
    inertia=[1e-3, 1e-3, 1e-3],
    position=[0, 0, 0.25],
)
guide = m.prismatic("guide", m.ground, main, at=[0, 0, 0], axis=[0, 0, 1])
m.prismatic("sleeve", main, absorber, at=[0, 0, 0.25], axis=[0, 0, 1])
m.spring_damper("mount", m.ground, main, points=[[0, 0, -0.3], [0, 0, -0.05]], stiffness=k, free_length=0.25)
m.spring_damper(
    "link",
    main,
    absorber,
    points=[[0, 0, 0.05], [0, 0, 0.22]],
    stiffness=mu * M * (tuning * w) ** 2,
    damping=2 * damping * mu * M * tuning * w,
    free_length=0.17,
)
m.joint_effort("shaker", guide, effort=push + shake * ld.sin(0.97 * w * ld.t))
m.joint_displacement("x", guide)
m.joint_displacement("relative", "sleeve")
model = m.compile()


def response(ratios, **settings):
    """Amplitude of the main mass over that of a constant force, k |x|/|F|."""
    space = model.linearize(set=settings, inputs="push", outputs="x")
    return k * np.abs(space.transfer(1j * w * ratios))[:, 0, 0]


# The fixed points: roots of the quadratic in s² that makes the response independent of the damping.
f = best_ratio
fixed = np.sqrt(np.roots([2 + mu, -2 * (1 + f**2 + mu * f**2), 2 * f**2]))
plateau = np.sqrt(1 + 2 / mu)
heights = [response(fixed, damping=value) for value in (0.05, best_damping, 0.4)]
print(f"amplification at the fixed points: {heights[1]}, Den Hartog {plateau:.6f}")
assert np.allclose(heights, plateau, rtol=1e-9)

ratios = np.linspace(0.7, 1.3, 600)
plain = 1 / np.abs(1 - ratios**2)
peak = response(ratios).max()
print(f"largest amplification: {peak:.4f} with the absorber")
assert abs(peak / plateau - 1) < 0.01  # Den Hartog's damping is a good compromise, not the exact minimax

result = model.run(set={"shake": 40}, end=6, step=5e-3, html="vibration_absorber.html", frames=1200)
plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.8))
ax.semilogy(ratios, plain, ":", color=style.LIGHT.muted, label="without absorber")
for value, label in ((0.05, "damping 0.05"), (best_damping, f"Den Hartog, {best_damping:.3f}"), (0.4, "damping 0.4")):
    ax.semilogy(ratios, response(ratios, damping=value), label=label)
ax.plot(fixed, [plateau] * 2, "ko", markersize=5, label="fixed points, √(1 + 2/μ)")
ax.set(xlabel="frequency / natural frequency of the main mass", ylabel="k |x|/|F|", ylim=(0.8, 40))
ax.legend()
figure.savefig("vibration_absorber.png", dpi=150)

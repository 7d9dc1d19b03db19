"""Sampled controller with delay

A cart is brought to zero by a digital PD controller. It samples position and speed at equal intervals, and the force
is applied after a delay of half an interval. Slow sampling makes the loop oscillate, and in the end unstable.

Between two samples the force is constant, so that the exact motion is a linear map from sample to sample. The script
compares the cart at every sample with this discrete system, and its spectral radius decides whether the loop is
stable.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

P, D, mass, start = 60.0, 12.0, 1.0, 0.5


def cart(every):
    m = ld.Builder(name="Sampled controller")
    u = m.parameter("u", 0)
    m.ground.set(shape=ld.box([1.6, 0.02, 0.02], color="#b8bec6"))
    body = m.rigid(
        "cart",
        shape=ld.box([0.2, 0.12, 0.08], at=[0, 0, 0.05], color="#2563a8"),
        density=mass / (0.2 * 0.12 * 0.08),
        position=[start, 0, 0],
    )
    rail = m.prismatic("rail", m.ground, body, at=[start, 0, 0], axis=[1, 0, 0])
    x = m.position("x", body)
    v = m.velocity("v", body)
    m.joint_effort("drive", rail, effort=u)
    m.sample("controller", value=-P * x.x - D * v.x, into="u", every=every, delay=every / 2)
    return m


def discrete(T):
    """x[n+1] = A x[n] with x = (position, speed, force that acts): two constant forces in each interval."""
    h = T / 2
    hold = np.array([[1, h, h * h / 2 / mass], [0, 1, h / mass], [0, 0, 1]])
    switched = hold.copy()  # the first half with the old force; then the force that follows from the sample takes over
    switched[2] = [-P, -D, 0]
    return hold @ switched


plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
for T in (0.02, 0.08, 0.16):
    m = cart(T)
    result = ld.run(m, end=1.6, step=T / 20, html="sampled_controller.html" if T == 0.08 else None)
    A, x = discrete(T), np.array([start, 0, 0])
    exact = [x]
    for _ in range(int(round(1.6 / T))):
        exact.append(A @ exact[-1])
    exact, samples = np.array(exact), result["x"][::20, 0]
    worst, radius = np.abs(samples - exact[:, 0]).max(), np.abs(np.linalg.eigvals(A)).max()
    print(f"sampling time {T} s: spectral radius {radius:.4f}, largest difference at the samples {worst:.1e} m")
    assert worst < 1e-9
    line = ax.plot(result.time, result["x"][:, 0], label=f"{1000 * T:.0f} ms, radius {radius:.2f}")[0]
    ax.plot(result.time[::20], exact[:, 0], ".", color=line.get_color())
ax.set(
    xlabel="time / s",
    ylabel="position of the cart / m",
    ylim=(-1, 1),
)
ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), title="sampling time and spectral radius; dots: the discrete system in closed form")
figure.savefig("sampled_controller.png", dpi=150)

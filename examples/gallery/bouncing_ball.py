"""Bouncing ball: events

An event happens where the gap between ball and floor crosses zero. It sets the vertical speed to -0.8 times its
value. The step is repeated so that it ends at the impact; the accuracy is that of the integrator.

The times of the impacts are a geometric series, t_n = t_1 + 2 e v (1 - e^(n-1))/((1 - e) g) with the first impact at
t_1 = sqrt(2 h/g) and the speed v = g t_1.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

g, height, e, radius = 9.81, 1.0, 0.8, 0.08

m = ld.Builder(name="Bouncing ball", gravity=[0, 0, -g])
m.ground.set(shape=ld.box([3.2, 0.6, 0.02], at=[1.4, 0, -0.01], color="#c8c2b4"))
ball = m.rigid(
    "ball",
    shape=ld.sphere(radius, color="#d1641e"),
    density=300,
    position=[0, 0, height + radius],
    velocity=[0.8, 0, 0],
)
place, speed = m.position("place", ball), m.velocity("speed", ball)
m.event("bounce", when=place.z - radius, direction="falling", set=f"sensors.speed[2] = -{e}*speed[2]")
result = ld.run(m, end=3.4, step=0.01, integrator="rk44", html="bouncing_ball.html")

sim = ld.Model(m).simulation(step=0.01, integrator="rk44")
sim.advance(3.4)
times = np.array([time for time, name in sim.events])
first = np.sqrt(2 * height / g)
n = np.arange(len(times))
exact = first + 2 * e * g * first * (1 - e**n) / ((1 - e) * g)
print(f"{len(times)} impacts, the last one at {times[-1]:.9f} s, closed form {exact[-1]:.9f} s")
assert len(times) >= 8 and np.abs(times - exact).max() < 1e-8

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result["place"][:, 0], result["place"][:, 2] - radius)
ax.plot(0.8 * exact, 0 * exact, "o", color=style.LIGHT.series[1], clip_on=False, label="impacts in closed form")
ax.set(xlabel="x / m", ylabel="height above the floor / m", ylim=(0, None))
ax.legend()
figure.savefig("bouncing_ball.png", dpi=150)

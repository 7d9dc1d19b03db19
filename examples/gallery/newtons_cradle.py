"""Newton's cradle

Five steel balls hang in a row. Contacts after Hertz, F = k d^(3/2), pass the impact on. The balls have small gaps, so
that the impacts follow one another.

Momentum and energy leave no choice where two equal balls meet: they exchange their speeds. The last ball therefore
rises as high as the first one started, and nothing else moves; the width of the gaps and the duration of the impacts
(0.1 ms) disturb this a little. No energy is lost. Steps adapt to the impacts.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

count, radius, gap, L, g = 5, 0.02, 4e-4, 0.25, 9.81
mass, k = 7800 * 4 / 3 * np.pi * radius**3, 1e8
pitch = 2 * radius + gap

m = ld.Builder(name="Newton's cradle", gravity=[0, 0, -g])
frame = [ld.box([0.26, 0.012, 0.012], at=[2 * pitch, 0, L + 0.005], color="#5b6470")]
frame += [ld.box([0.012, 0.012, L + 0.06], at=[2 * pitch + x, 0, L / 2 - 0.02], color="#5b6470") for x in (-0.13, 0.13)]
m.ground.set(shapes=frame)
balls = []
for i in range(count):
    x = i * pitch
    shapes = [
        ld.sphere(radius, at=[0, 0, -L], color="#c3c9d1", density=7800),
        ld.rod([0, 0, 0], [0, 0, -L], radius=0.001, color="#5b6470"),
    ]
    ball = m.rigid(f"ball{i}", shapes=shapes, position=[x, 0, L])
    hinge = m.revolute(f"hinge{i}", m.ground, ball, at=[x, 0, L], axis=[0, -1, 0])
    m.joint_angle(f"angle{i}", hinge)
    if balls:
        m.contact_sphere_sphere(
            f"contact{i}",
            balls[-1],
            ball,
            points=[[x - pitch, 0, 0], [x, 0, 0]],
            first_radius=radius,
            second_radius=radius,
            stiffness=k,
        )
    balls.append(ball)
m.energy("energy")
start = np.radians(-35)
result = ld.run(
    m,
    set={"initial.hinge0": start},
    formulation="minimal",
    end=2.0,
    step=2e-3,
    integrator="dopri5,adaptive=true,rtol=1e-8,atol=1e-10",
    html="newtons_cradle.html",
)
angles = np.degrees(np.array([result[f"angle{i}"] for i in range(count)]))
print(
    f"the last ball rises to {angles[-1].max():.3f} deg, the first one began at 35 deg;",
    f"those between move by at most {np.abs(angles[1:-1]).max():.2f} deg",
)
print(f"energy changes by {np.ptp(result['energy']):.1e} J of {mass * g * L * (1 - np.cos(start)):.3f} J")
assert abs(angles[-1].max() - 35) < 0.02 and np.ptp(result["energy"]) < 1e-6

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
for i in range(count):
    ax.plot(result.time, angles[i], label=f"ball {i + 1}")
ax.set(xlabel="time / s", ylabel="angle / deg")
ax.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1))
figure.savefig("newtons_cradle.png", dpi=150)

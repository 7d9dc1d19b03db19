"""A tumbling book

A book thrown about its intermediate axis turns over again and again (Dzhanibekov, tennis racket theorem). No torque
acts on it: the rotation about the axis of the intermediate moment of inertia is unstable.

Look at the body-axis angular velocity: the middle component jumps from one sign to the other at equal intervals.
Euler's equations give the interval in closed form, 2 K(m)/lambda, with the complete elliptic integral K (Landau and
Lifshitz, Mechanics, section 37). The script compares this interval, and the kinetic energy at the end with that at
the start.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

m = ld.Builder(name="Tumbling book")
cover = ld.box([0.20, 0.15, 0.004], at=[0, 0, 0.02], color="#b23b3b")
back = ld.box([0.20, 0.15, 0.004], at=[0, 0, -0.02], color="#2563a8")
book = m.rigid(
    "book",
    shapes=[ld.box([0.195, 0.145, 0.036], color="#efe9dc"), cover, back],
    density=700,
    angular_velocity=[0.01, 6, 0.01],
)
m.angular_velocity("rate", book)
m.simulation(end=12, step=5e-3, integrator="dopri5")
result = ld.run(m, html="tumbling_book.html", frames=1200)

# I1 < I2 < I3 about x, y, z. The motion is periodic: Jacobi's elliptic functions with the parameter m.
compiled = m.compile()
I = np.array([compiled.value(f"bodies.book.inertia[{i}]") for i in range(3)])
order = np.argsort(I)
I1, I2, I3 = I[order]
start = result["rate"][0]
E2, M2 = np.sum(I * start**2), np.sum((I * start) ** 2)  # twice the energy, square of the angular momentum
if M2 < E2 * I2:
    I1, I3 = I3, I1
lam = np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3))
parameter = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))


def elliptic_k(parameter):
    """Complete elliptic integral of the first kind, by the arithmetic-geometric mean."""
    a, b = 1.0, np.sqrt(1 - parameter)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return np.pi / (2 * a)


middle = result["rate"][:, order[1]]
before = np.flatnonzero(middle[:-1] * middle[1:] < 0)  # linear interpolation between the steps around each zero
flips = result.time[before] + 5e-3 * middle[before] / (middle[before] - middle[before + 1])
measured, exact = np.mean(np.diff(flips)), 2 * elliptic_k(parameter) / lam
energy = np.sum(I * result["rate"] ** 2, axis=1) / 2
print(f"time between two flips: {measured:.5f} s, closed form {exact:.5f} s")
print(f"kinetic energy changes by {np.ptp(energy) / energy[0]:.1e} of its value")
assert abs(measured / exact - 1) < 1e-4 and np.ptp(energy) < 1e-8 * energy[0]

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result.time, result["rate"], label=["about x", "about y (intermediate)", "about z"])
ax.plot(flips[0] + exact * np.arange(len(flips)), np.zeros(len(flips)), "ko", label="closed form, from the first flip")
ax.set(xlabel="time / s", ylabel="angular velocity, body axes / (rad/s)")
ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
figure.savefig("tumbling_book.png", dpi=150)

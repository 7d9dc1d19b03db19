"""Whirl of a rotating shaft

A shaft with an unbalanced disc in the middle is driven through its critical speed. The bend grows until the resonance
is passed; above it the disc turns about its centre of mass, and the bend approaches the eccentricity e.

Without the mass of the beam and with small bends this is Jeffcott's rotor, z'' + 2 D w_c z' + w_c² z = e (w² - i w')
exp(i phi) for the bend z = y + i z. The long bearings clamp the ends: w_c² = k/m with k = 192 E I/L³, and m is the
mass of the disc and 13/35 of the shaft. The script integrates this equation for the same run-up. The steady bend, e
s²/sqrt((1 - s²)² + (2 D s)²) with s = w/w_c, is higher: 8 s are too short for it to build up.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

L, radius, E, mass, e, D = 1.0, 0.005, 2.1e11, 4.0, 1e-3, 0.05
k = 192 * E * np.pi * radius**4 / 4 / L**3
moving = mass + 13 / 35 * 7800 * np.pi * radius**2 * L
critical = np.sqrt(k / moving)
end, top = 8.0, 1.8 * critical  # the speed rises evenly

m = ld.Builder(name="Whirl")
rise = m.parameter("rise", top / end)
shaft = m.circle_beam(
    "shaft",
    from_=[0, 0, 0],
    to=[L, 0, 0],
    elements=4,
    element="three_node",
    radius=radius,
    young=E,
    density=7800,
    damping=1e-5,
)
turn = {"axis": [0, 1, 0], "angle": np.pi / 2}
disc = [
    ld.cylinder(0.12, 0.03, rotation=turn, color="#2563a8"),
    ld.cylinder(0.02, 0.034, at=[0, 0, 0.08], rotation=turn, color="#d1641e"),
]
m.rigid("disc", shapes=disc, mass=mass, inertia=[0.03, 0.015, 0.015], position=[L / 2, 0, e], on=shaft[0.5])
left = m.revolute("left", m.ground, shaft.start, at=[0, 0, 0], axis=[1, 0, 0])
m.cylindrical("right", m.ground, shaft.end, at=[L, 0, 0], axis=[1, 0, 0])
m.ground.set(shapes=[ld.box([0.08, 0.06, 0.06], at=[x, 0, 0], color="#8a93a0") for x in (-0.04, L + 0.04)])
m.prescribed_velocity("motor", joint=left, velocity=rise * ld.t)
speed = m.velocity("speed", shaft[0.5])
c = 2 * D * critical * moving
m.force("air", shaft[0.5], force=[0, -c * speed.y, -c * speed.z])
m.position("middle", shaft[0.5])
result = ld.run(m, end=end, step=2e-3, integrator="generalized-alpha,rho=0.95", html="shaft_whirl.html", frames=2000)

# Jeffcott's rotor, by the classical Runge-Kutta method.
w_rate, unbalance = top / end, e * mass / moving


def slope(t, z):
    forcing = unbalance * ((w_rate * t) ** 2 - 1j * w_rate) * np.exp(1j * w_rate * t * t / 2)
    return np.array([z[1], forcing - 2 * D * critical * z[1] - critical**2 * z[0]])


h, z, rotor = 4e-3, np.zeros(2, complex), [0.0]
for t in h * np.arange(round(end / h)):
    k1 = slope(t, z)
    k2 = slope(t + h / 2, z + h / 2 * k1)
    k3 = slope(t + h / 2, z + h / 2 * k2)
    z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(t + h, z + h * k3))
    rotor.append(abs(z[0]))
rotor = np.array(rotor)

s = w_rate * result.time / critical
bend = np.hypot(result["middle"][:, 1], result["middle"][:, 2])
steady = unbalance * s**2 / np.sqrt((1 - s**2) ** 2 + (2 * D * s) ** 2)
frequencies = 2 * np.pi * ld.modes(m, set={"rise": 0}, at="static", undamped=True).frequencies
first = frequencies[frequencies > 1][0]
print(f"critical speed: {critical:.3f} rad/s in closed form, first mode of the beam model {first:.3f} rad/s")
print(
    f"largest bend: {1e3 * bend.max():.3f} mm, Jeffcott's rotor {1e3 * rotor.max():.3f} mm,",
    f"steady {1e3 * steady.max():.3f} mm",
)
assert abs(first / critical - 1) < 5e-3 and abs(bend.max() / rotor.max() - 1) < 0.01

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(s, 1e3 * bend, label="beam model, run-up in 8 s")
ax.plot(s[::2], 1e3 * rotor, "--", label="Jeffcott's rotor, run-up in 8 s")
ax.plot(s, 1e3 * steady, ":", color=style.LIGHT.muted, label="steady whirl")
ax.axhline(1e3 * e, color=style.LIGHT.muted, linewidth=1)
ax.annotate("eccentricity", (0.03, 1e3 * e), textcoords="offset points", xytext=(4, 4), color=style.LIGHT.muted)
ax.set(xlabel="speed / critical speed", ylabel="bend in the middle / mm")
ax.legend()
figure.savefig("shaft_whirl.png", dpi=150)

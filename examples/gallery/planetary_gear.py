"""Planetary gear

A motor turns the sun of a planetary stage. Three planets roll in the fixed ring and drive the carrier, which works
against a torque in proportion to its speed.

The equation of Willis gives the ratio of the speeds, w_sun = (1 + r_ring/r_sun) w_carrier. In the steady state the
load has the speed at which its torque balances that of the motor. Three parallel paths make two constraints
redundant; by symmetry the planets share the load equally.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

r_sun, r_planet, torque, load = 0.03, 0.024, 1.2, 0.4
r_ring, arm = r_sun + 2 * r_planet, r_sun + r_planet
steel = dict(density=7800)  # of a shape; those without density are only drawn
blue, orange, green, purple = style.LIGHT.series[:4]

m = ld.Builder(name="Planetary gear")
ring = m.rigid("ring", shape=ld.tube(r_ring + 0.012, r_ring, 0.02, color="#b8bec6", **steel))
mark = ld.box([r_sun, 0.005, 0.026], at=[r_sun / 2, 0, 0], color="#f2c14e")
sun = m.rigid(
    "sun",
    shapes=[
        ld.cylinder(r_sun, 0.02, color=orange, **steel),
        ld.rod([0, 0, 0], [0, 0, 0.06], radius=0.01, color=orange, **steel),
        mark,
    ],
)
plate = ld.cylinder(arm + 0.008, 0.006, at=[0, 0, -0.018], color=green, **steel)
carrier = m.rigid("carrier", shapes=[plate, ld.rod([0, 0, -0.02], [0, 0, -0.06], radius=0.012, color=green, **steel)])
m.fixed("housing", m.ground, ring, at=[0, 0, 0])
ring_axis = m.revolute("ring_axis", carrier, ring, at=[0, 0, 0], axis=[0, 0, 1])
sun_axis = m.revolute("sun_axis", carrier, sun, at=[0, 0, 0], axis=[0, 0, 1])
for i, angle in enumerate(2 * np.pi / 3 * np.arange(3)):
    direction = np.array([np.cos(angle), np.sin(angle), 0])
    mark = ld.box([r_planet, 0.005, 0.022], at=[r_planet / 2, 0, 0], color="#f2c14e")
    planet = m.rigid(
        f"planet{i}", shapes=[ld.cylinder(r_planet, 0.02, color=blue, **steel), mark], position=list(arm * direction)
    )
    pin = m.revolute(f"pin{i}", carrier, planet, at=list(arm * direction), axis=[0, 0, 1])
    m.gear_mesh(f"sun_planet{i}", joints=[sun_axis, pin], at=list(r_sun * direction))
    m.gear_mesh(f"ring_planet{i}", joints=[ring_axis, pin], at=list(r_ring * direction))
    m.multiplier(f"teeth{i}", f"sun_planet{i}")
sun_rate, carrier_rate = m.angular_velocity("sun_rate", sun), m.angular_velocity("carrier_rate", carrier)
m.torque("motor", sun, torque=[0, 0, torque])
m.torque("load", carrier, torque=[0, 0, -load * carrier_rate.z])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ld.NumericalWarning)  # it names the redundant constraints
    result = ld.run(
        m, end=0.4, step=5e-4, integrator="generalized-alpha,rho=0.8", html="planetary_gear.html", frames=800
    )

ratio = 1 + r_ring / r_sun
steady = torque * ratio / load
sun_speed, carrier_speed = result["sun_rate"][:, 2], result["carrier_rate"][:, 2]
willis = np.abs(sun_speed - ratio * carrier_speed).max()
shares = np.array([result[f"teeth{i}"][-1] for i in range(3)])
force = torque / (3 * r_sun * np.cos(np.radians(20)))  # along the line of action of each mesh
print(f"sun speed / carrier speed: {sun_speed[-1] / carrier_speed[-1]:.9f}, Willis {ratio:.9f}")
print(f"steady speed of the carrier: {carrier_speed[-1]:.5f} rad/s, closed form {steady:.5f} rad/s")
print(f"tooth forces: {shares} N, closed form {force:.4f} N each")
assert willis < 1e-7 and abs(carrier_speed[-1] / steady - 1) < 1e-6 and np.allclose(shares, force, rtol=1e-6)

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result.time, sun_speed, color=orange, label="sun")
ax.plot(result.time, carrier_speed, color=green, label="carrier")
ax.plot(result.time[::50], sun_speed[::50] / ratio, "o", color=green, label="sun / (1 + r_ring/r_sun)")
ax.axhline(steady, color=style.LIGHT.muted, linestyle="--", linewidth=1, label="steady speed of the load")
ax.set(xlabel="time / s", ylabel="angular velocity / (rad/s)")
ax.legend()
figure.savefig("planetary_gear.png", dpi=150)

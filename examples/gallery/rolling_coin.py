"""Rolling coin

A thin disc rolls in a circle without slipping and leans towards the centre. The joint `rolling_disc` is nonholonomic:
it constrains velocities.

Steady rolling on a circle of radius R with the lean alpha from the vertical needs the rate w² = g tan(alpha)/(3/2 R -
5/4 r sin(alpha)), from the balance of the angular momentum of a disc with the radius r. The first disc starts with
this rate and keeps its circle. The second one starts 5 % slower: it sways, and its circle is smaller and off-centre.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

r, R, lean, mass, g = 0.1, 0.4, np.radians(20), 0.3, 9.81
rho = R - r * np.sin(lean)  # radius of the circle of the centre
steady = np.sqrt(g * np.tan(lean) / (1.5 * R - 1.25 * r * np.sin(lean)))


def coin(rate):
    m = ld.Builder(name="Rolling coin", gravity=[0, 0, -g])
    axis = np.array([np.cos(lean), 0, np.sin(lean)])
    face = ld.cylinder(r, 0.008, color="#c9a227")
    cross = [ld.box([1.6 * r, 0.012, 0.011], color="#7a5c00"), ld.box([0.012, 1.6 * r, 0.011], color="#7a5c00")]
    disc = m.rigid(
        "coin",
        shapes=[face, *cross],
        mass=mass,
        inertia=[mass * r**2 / 4, mass * r**2 / 4, mass * r**2 / 2],
        position=[rho, 0, r * np.cos(lean)],
        orientation={"rotation_vector": [0, np.pi / 2 - lean, 0]},
        velocity=[0, rate * rho, 0],
        angular_velocity_inertial=list(rate * np.array([0, 0, 1]) - rate * R / r * axis),
    )
    m.rolling_disc(
        "floor", m.ground, disc, center=[rho, 0, r * np.cos(lean)], axis=list(axis), normal=[0, 0, 1], radius=r
    )
    m.position("center", disc)
    m.energy("energy")
    return m


def roll(rate, **options):
    return ld.run(coin(rate), end=8, step=2e-3, integrator="generalized-alpha,rho=0.95", **options)


even, swaying = roll(steady), roll(0.95 * steady, html="rolling_coin.html", frames=1600)
distance = np.linalg.norm(even["center"][:, :2], axis=1)
turned = np.unwrap(np.arctan2(even["center"][:, 1], even["center"][:, 0]))[-1]
print(f"radius of the circle of the centre: {distance.min():.6f} to {distance.max():.6f} m, closed form {rho:.6f} m")
print(f"rate: {turned / 8:.6f} rad/s, closed form {steady:.6f} rad/s")
print(f"energy of the swaying coin changes by {np.ptp(swaying['energy']) / swaying['energy'][0]:.1e} of its value")
assert np.abs(distance - rho).max() < 2e-5 and abs(turned / 8 / steady - 1) < 2e-5
assert np.ptp(swaying["energy"]) < 1e-3 * swaying["energy"][0]

plt.rcParams.update(style.settings())
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=(1, 1.4))
left.plot(*swaying["center"][:, :2].T, color=style.LIGHT.series[1], linewidth=1)
left.plot(*even["center"][:, :2].T, color=style.LIGHT.series[0])
left.set(xlabel="x / m", ylabel="y / m", aspect="equal", title="path of the centre", xmargin=0.05)
for result, label in ((even, "steady rate"), (swaying, "5 % slower")):
    right.plot(result.time, np.degrees(np.arccos(result["center"][:, 2] / r)), label=label)
right.set(xlabel="time / s", ylabel="lean / deg")
right.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
figure.savefig("rolling_coin.png", dpi=150)

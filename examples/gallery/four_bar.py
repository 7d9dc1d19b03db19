"""Four-bar linkage: a closed loop

A motor turns the crank of a crank-rocker at constant speed. Two hinges, a ball joint and a universal joint close the
loop without redundant constraints.

The angle of the rocker is known in closed form: the rocker pin lies on two circles. The work of the motor is compared
with the energy of the bars, which the motor alone changes.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

A, B, C, D = np.array([[0, 0, 0], [0, 0, 0.1], [0.3, 0, 0.22], [0.3, 0, 0]])  # in the x-z plane
speed = 2 * np.pi

m = ld.Builder(name="Four-bar linkage", gravity=[0, 0, -9.81])


def bar(name, first, second, color):
    """A bar whose reference point is `first`; its axes are the inertial ones at the start."""
    shape = ld.rod([0, 0, 0], list(second - first), radius=0.008, color=color)
    return m.rigid(
        name, shape=shape, density=7800, position=list(first), velocity="consistent", angular_velocity="consistent"
    )


crank, coupler, rocker = (
    bar("crank", A, B, "#d1641e"),
    bar("coupler", B, C, "#2563a8"),
    bar("rocker", D, C, "#2c8a63"),
)
drive = m.revolute("A", m.ground, crank, at=list(A), axis=[0, 1, 0])
m.spherical("B", crank, coupler, at=list(B))
m.universal("C", coupler, rocker, at=list(C), first_axis=[0.12, 0, -0.3], second_axis=[0, 1, 0])
hinge = m.revolute("D", m.ground, rocker, at=list(D), axis=[0, 1, 0])
motor = m.prescribed_velocity("motor", joint=drive, velocity=speed)
m.joint_angle("crank_angle", drive)
m.joint_angle("rocker_angle", hinge)
m.work("work", motor)
m.energy("energy")
m.position("coupler_point", coupler, at=[0.15, 0, 0.16])
result = ld.run(m, end=2, step=1e-3, integrator="generalized-alpha,rho=0.9", html="four_bar.html", frames=500)

# The pin C lies on circles about B and D: angle at D from the diagonal, by the law of cosines.
phi = result["crank_angle"]
pin = np.stack([0.1 * np.sin(phi), 0.1 * np.cos(phi)], axis=1)  # B in (x, z)
diagonal = pin - D[[0, 2]]
length, coupler_length, rocker_length = (np.linalg.norm(diagonal, axis=1), np.linalg.norm(C - B), np.linalg.norm(C - D))
inner = np.arccos((length**2 + rocker_length**2 - coupler_length**2) / (2 * length * rocker_length))
rocker_exact = np.unwrap(np.arctan2(diagonal[:, 0], diagonal[:, 1])) + inner
rocker_exact -= rocker_exact[0]
worst = np.abs(result["rocker_angle"] - rocker_exact).max()
balance = np.abs(result["energy"] - result["energy"][0] - result["work"]).max() / np.ptp(result["energy"])
print(f"rocker angle: largest difference to the closed form {worst:.1e} rad of {np.ptp(rocker_exact):.3f} rad")
print(f"work of the motor less the change of the energy: {balance:.1e} of the largest change")
assert worst < 1e-8 and balance < 1e-4

plt.rcParams.update(style.settings())
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.6, 1))
left.plot(np.degrees(phi), np.degrees(result["rocker_angle"]), label="simulation")
left.plot(np.degrees(phi)[::50], np.degrees(rocker_exact)[::50], "o", label="law of cosines")
left.set(xlabel="crank angle / deg", ylabel="rocker angle / deg")
left.legend()
right.plot(*result["coupler_point"][:, [0, 2]].T, color=style.LIGHT.series[2])
right.set(xlabel="x / m", ylabel="z / m", title="path of the middle of the coupler", aspect="equal")
right.margins(0.06)
figure.savefig("four_bar.png", dpi=150)

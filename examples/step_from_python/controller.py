"""A digital controller holds an inverted pendulum upright: the program samples the angle and sets a torque.

Prints the angle over time, and how far the sampled controller is from the same law in continuous time: an error of first order in the
sampling time.
"""

import numpy as np

import liedyn as ld

P, D = 60.0, 12.0  # N m/rad, N m s/rad


def pendulum(effort: str) -> dict:
    """A rod on a hinge, 0.2 rad away from upright; `effort` is the torque of its motor."""
    return {
        "liedyn": 1,
        "parameters": {"u": 0.0, "tilt": 0.2},
        "gravity": [0, -9.81, 0],
        "bodies": {"rod": {"type": "planar", "mass": 1, "inertia": 0.1, "position": ["-0.5*sin(tilt)", "0.5*cos(tilt)"], "angle": "tilt"}},
        "joints": {"hinge": {"type": "planar_revolute", "between": ["ground", "rod"], "at": [0, 0]}},
        "forces": {"motor": {"type": "joint_effort", "joint": "hinge", "effort": effort}},
        "sensors": {
            "angle": {"type": "angle", "of": "rod"},
            "rate": {"type": "joint_angle_rate", "of": "hinge"},
        },
        "simulation": {"end": 1, "step": 1e-3, "integrator": "generalized-alpha,rho=0.9"},
    }


def sampled(period: float, end: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Times and angles with a controller that acts once per period and holds its torque in between."""
    simulation = ld.Model(pendulum("u")).simulation(step=1e-3)
    times, angles = [simulation.time], [simulation["angle"]]
    for _ in range(round(end / period)):
        simulation.set("u", -P * simulation["angle"] - D * simulation["rate"])
        simulation.advance(period)
        times.append(simulation.time)
        angles.append(simulation["angle"])
    return np.array(times), np.array(angles)


def continuous(end: float = 1.0) -> float:
    """The angle at the end with the same law in continuous time."""
    model = pendulum(f"-{P}*angle - {D}*rate")
    return ld.run(model, end=end)["angle"][-1]


if __name__ == "__main__":
    times, angles = sampled(0.02)
    for time, angle in zip(times[::5], angles[::5]):
        print(f"t = {time:.2f} s  angle {angle:+.5f} rad")
    exact = continuous(0.2)
    for period in (0.02, 0.01, 0.005, 0.0025):
        print(f"sampled every {period} s: error of the angle at 0.2 s {abs(sampled(period, 0.2)[1][-1] - exact):.2e} rad")

"""Co-simulation: Liedyn moves an arm, this program integrates the electric circuit of its motor.

At every exchange the arm gives its speed and gets a torque. Prints how far the end is from the model that holds both, `current` as a state.
"""

import math

import liedyn as ld

RESISTANCE, INDUCTANCE, CONSTANT, VOLTAGE = 0.5, 5e-3, 0.8, 4.0


def arm(effort: str, states: dict | None = None) -> dict:
    """An arm that falls from the horizontal against a motor."""
    return {
        "liedyn": 1,
        "parameters": {"torque": 0.0},
        "gravity": [0, -9.81, 0],
        "bodies": {"arm": {"type": "planar", "mass": 1.2, "inertia": 0.036, "position": [0.3, 0]}},
        "joints": {"hinge": {"type": "planar_revolute", "between": ["ground", "arm"], "at": [0, 0]}},
        "states": states or {},
        "forces": {"motor": {"type": "joint_effort", "joint": "hinge", "effort": effort}},
        "sensors": {
            "angle": {"type": "joint_angle", "of": "hinge"},
            "rate": {"type": "joint_angle_rate", "of": "hinge"},
        },
        "simulation": {"end": 0.5, "step": 5e-4, "integrator": "generalized-alpha,rho=0.9"},
    }


class Motor:
    """L i' + R i = U - k omega, solved exactly while omega is constant."""

    def __init__(self) -> None:
        self.current = 0.0

    def advance(self, duration: float, omega: float) -> float:
        """The mean torque over the duration."""
        final = (VOLTAGE - CONSTANT * omega) / RESISTANCE
        decay = math.exp(-RESISTANCE / INDUCTANCE * duration)
        mean = final + (self.current - final) * (1 - decay) * INDUCTANCE / (RESISTANCE * duration)
        self.current = final + (self.current - final) * decay
        return CONSTANT * mean


def coupled(exchange: float, end: float = 0.5) -> float:
    """The angle at the end if arm and motor exchange speed and torque so often."""
    simulation, motor = ld.Model(arm("torque")).simulation(step=5e-4), Motor()
    for _ in range(round(end / exchange)):
        simulation.set("torque", motor.advance(exchange, simulation["rate"]))
        simulation.advance(exchange)
    return simulation["angle"]


def together(end: float = 0.5) -> float:
    """The same in one model."""
    current = f"({VOLTAGE} - {RESISTANCE}*current - {CONSTANT}*rate)/{INDUCTANCE}"
    model = arm(f"{CONSTANT}*current", {"current": {"type": "expression", "rate": current}})
    return ld.run(model, end=end, step=1e-4)["angle"][-1]


if __name__ == "__main__":
    exact = together()
    for exchange in (0.01, 0.005, 0.0025, 0.00125):
        print(f"exchange every {exchange} s: error of the angle at 0.5 s {abs(coupled(exchange) - exact):.2e} rad")

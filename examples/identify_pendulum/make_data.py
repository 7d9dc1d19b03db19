"""Makes measured.csv: the angle of the pendulum with the true numbers, every 20 ms, with noise of 0.01 rad.

The motion is calculated with another method and a much smaller step than the study has, so that it does not find its own errors again.
"""

from pathlib import Path

import numpy as np

import liedyn as ld

TRUE = {"inertia": 0.0231, "dry": 0.083, "viscous": 0.0062}
NOISE = 0.01

here = Path(__file__).parent
run = ld.run(str(here / "model.json"), set=TRUE, integrator="esdirk4-6", step=1e-3, every=20)
angle = run["angle"].ravel() + NOISE * np.random.default_rng(1).standard_normal(len(run.time))
with open(here / "measured.csv", "w") as file:
    file.write("t,angle\n")
    file.writelines(f"{t:.3f},{a:.5f}\n" for t, a in zip(run.time, angle))

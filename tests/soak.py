"""Long runs: memory that does not grow, rotations that stay on their group, energy as theory says.

    ./dev soak            a thousandth of the steps (seconds)
    ./dev soak full       1e8 steps of the heavy top, 1e6 of the slider-crank, 1e5 of the chain of 1000 links
    ./dev soak 0.1        a tenth of them

Each run is looked at ten times. Promised, and checked at each look:

    memory   the process has no more than it had after the first tenth, and 1 MB
    group    | |q| - 1 | < 1e-12 for the unit quaternions of all bodies
    energy   the systems are closed. The energy may oscillate by what the second order of the method allows, measured over the first 5000 steps. Beyond that it
             falls, since the method damps (rho < 1), or grows by the error of the method: constraints leave no bound, but the growth is of second order
             too, so that it is at most a quarter of what a run with twice the step shows
"""

from __future__ import annotations

import os
import pathlib
import sys
import time
from typing import NamedTuple

import numpy as np

import liedyn as ld


class Case(NamedTuple):
    name: str
    model: str | dict
    steps: float
    step: float = 1e-3  # s


CHAIN = {
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "models": {"chain": {"file": "chain", "set": {"links": 1000}}},
    "sensors": {"energy": {"type": "energy"}},
}
# The chain of 1000 m falls for 10 s: after 14 s its end cracks like a whip, which steps of this size do not resolve.
CASES = [Case("heavy top", "heavy_top", 1e8), Case("slider-crank", "slider_crank", 1e6), Case("chain of 1000", CHAIN, 1e5, 1e-4)]
LOOKS = 10
EARLY = 5000
WINDOW, BETWEEN = 1000, 23000  # steps
MOST_DRIFT = 1e-12
MOST_GROWTH = 1 << 20


def resident() -> int:
    """Bytes of memory that the process has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def drift(q: np.ndarray) -> float:
    """Of rigid bodies in the formulation r3so3: three numbers of the position, four of the quaternion."""
    return float(np.abs(np.linalg.norm(q.reshape(-1, 7)[:, 3:], axis=1) - 1).max())


def started(case: Case, step: float):
    return ld.Model(case.model, formulation="r3so3").simulation(step=step, integrator="generalized-alpha,rho=0.9")


def growth(case: Case) -> float:
    """Power [W] that twice the step adds, from the mean energies of two windows, since the energy oscillates; 0 if it falls."""
    sim = started(case, 2 * case.step)

    def mean() -> float:
        seen = []
        for _ in range(WINDOW):
            sim.step()
            seen.append(sim["energy"])
        return float(np.mean(seen))

    before = mean()
    sim.step(BETWEEN)
    return max(0.0, mean() - before) / (2 * case.step * (WINDOW + BETWEEN))


def soak(case: Case, part: float) -> list[str]:
    steps = max(10 * LOOKS, int(case.steps * part))
    power = growth(case) if steps > BETWEEN else 0.0
    sim = started(case, case.step)
    start, first = time.process_time(), sim["energy"]
    seen, done = [first], min(steps, EARLY)
    for _ in range(done):
        sim.step()
        seen.append(sim["energy"])
    band = max(seen) - min(seen)
    looks, wrong = [], []
    for look in range(LOOKS):
        until = max(done, steps * (look + 1) // LOOKS)
        sim.step(until - done)
        done = until
        looks.append((resident(), sim["energy"] - first, drift(sim.state.q)))
        memory, energy, far = looks[-1]
        if memory - looks[0][0] > MOST_GROWTH:
            wrong.append(f"the memory grew from {looks[0][0]} to {memory} bytes")
        allowed = band + 1.2 * power / 4 * sim.time
        if not energy <= allowed:
            wrong.append(f"the energy grew by {energy:.3g} J at t = {sim.time:.6g} s, allowed {allowed:.3g} J")
        if not far < MOST_DRIFT:
            wrong.append(f"a quaternion has left the group by {far:.3g}")
    seconds = time.process_time() - start
    print(
        f"{case.name}: {done} steps in {seconds:.3g} s; memory {looks[0][0] / 1e6:.1f} MB, grown by {(looks[-1][0] - looks[0][0]) / 1e3:.0f} kB; "
        f"quaternions within {max(f for _, _, f in looks):.2g}; energy {first:.6g} J, changed by "
        + ", ".join(f"{e:.3g}" for _, e, _ in looks)
        + f" J after each tenth (band {band:.2g} J)",
        flush=True,
    )
    return [f"{case.name}: {text}" for text in wrong]


def main() -> int:
    words = sys.argv[1:]
    part = 1.0 if words == ["full"] else float(words[0]) if words else 1e-3
    wrong = [text for case in CASES for text in soak(case, part)]
    for text in wrong:
        print(f"error: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

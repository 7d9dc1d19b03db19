"""Cases per second of three studies with random parameters, on one thread and on several, and what a study adds to its runs.

    python3 benchmarks/scale/studies.py build/dev/bin/liedyn [--threads 1 2] [--share 0.1]

`cpu`: CPU time of the whole program per case, which other programs disturb less than elapsed time. `beside the runs`: CPU time per case outside of them, without
that of a study of one case: sampling is inside the runs, journal, store and threads are outside.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

TOP = {
    "model": "heavy_top",
    "parameters": {
        "spin": {"distribution": "uniform", "lower": 100, "upper": 200},
        "mass": {"parameter": "bodies.top.mass", "distribution": "normal", "mean": 15, "deviation": 0.5, "lower": 13, "upper": 17},
    },
    "outputs": {"lowest": "position[2]@min", "force": "pivot_force[2]@max", "position": "position"},
}
STUDIES = {
    "heavy top, 1000 steps": (10000, TOP | {"simulation": {"end": 1, "step": 1e-3}}),
    "heavy top, 1 step": (10000, TOP | {"simulation": {"end": 1e-3, "step": 1e-3}}),
    "slider-crank, 500 steps": (
        10000,
        {
            "model": "slider_crank",
            "simulation": {"end": 0.5, "step": 1e-3},
            "parameters": {
                "speed": {"distribution": "uniform", "lower": 3, "upper": 9},
                "mass": {"parameter": "bodies.slider.mass", "distribution": "log-normal", "median": 2, "log_deviation": 0.2},
            },
            "outputs": {"farthest": "slider[0]@max", "mean_speed": "crank_speed@mean"},
        },
    ),
    "flexible four-bar mechanism, 50 steps of esdirk4-6": (
        1000,
        {
            "model": "four_bar_flexible",
            "simulation": {"start": 0, "end": 0.2, "step": 4e-3, "initial": "project", "integrator": "esdirk4-6"},
            "parameters": {
                "tilt": {"distribution": "normal", "mean": 0.0873, "deviation": 0.01},
                "bending": {"parameter": "beams.BC.bending_stiffness_y", "distribution": "uniform", "lower": 1000, "upper": 1250},
            },
            "outputs": {"theta": "theta@max", "torque": "torque@rms"},
        },
    ),
}


def run(program: str, study: Path, threads: int) -> tuple[dict, float, float]:
    """What the program prints, its CPU time and its elapsed time."""
    store = study.with_suffix(".h5")
    store.unlink(missing_ok=True)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([program, "sweep", study, "--out", store, "--threads", str(threads), "--json"], capture_output=True, text=True, check=True)
    elapsed, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--share", type=float, default=1, help="of the cases")
    parser.add_argument("--only", default="", help="studies with this in their names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.json"
        for name, (cases, study) in STUDIES.items():
            if options.only not in name:
                continue

            def write(count: int) -> None:
                sampling = {"method": "latin-hypercube", "cases": count, "seed": 1}
                file.write_text(json.dumps({"liedyn_study": 1, **study, "sampling": sampling}))

            write(1)
            start = min(run(options.program, file, 1)[1] for _ in range(3))
            count = max(2, round(cases * options.share))
            write(count)
            first = None
            for threads in options.threads:
                found, cpu, elapsed = run(options.program, file, threads)
                rate = count / found["seconds"]
                first = first or rate / threads
                print(
                    f"{name}: {count} cases, {found['counts']['completed']} completed, {threads} threads: {rate:.5g} cases/s, efficiency {rate / threads / first:.3f}, "
                    f"cpu {1e6 * (cpu - start) / count:.5g} us, beside the runs {1e6 * (cpu - start - found['busy_seconds']) / count:.3g} us, elapsed {elapsed:.3g} s",
                    flush=True,
                )


main()

"""What two builds of the program differ by, of two architectures, compilers or instruction sets.

    tests/compare_builds.py record PROGRAM FOLDER [--jitter] [--models M,...] [--integrators I,...] [--jobs N]
    tests/compare_builds.py table FOLDER FOLDER [JITTER]

`record` runs every shipped model with every integrator for 20 steps of the model and writes what the sensors show. It needs nothing but Python, so that it also runs
where the package is not installed. `table` prints the largest difference of any sensor of two such folders, relative to the largest value of that sensor in these steps.

--jitter changes the step by its last digit. The difference from a run without is what one rounding error grows to on one machine. With such a folder as the third one, `table`
names each difference of the builds that is larger than ten times that of the same sensor: round-off does not explain those.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
STEPS = 20
INTEGRATORS = (
    "generalized-alpha lms2 lms3 lms4 ss2 ss3 ss4 bathe msstc3 msstc4 msstc5 mssth3 mssth4 mssth5 esdirk3-4 esdirk3-5 esdirk4-6 rk44 ode23 dopri5 rk67".split()
)
SECONDS = 600  # of a run; emulated ones are slow
NEGLIGIBLE = 1e-9
FACTOR = 10  # beyond what a change of the last digit does


# ---- record --------------------------------------------------------------------------------------------------------


def step_of(model: str) -> float:
    return float(json.loads((MODELS / model / "model.json").read_text(encoding="utf-8"))["simulation"]["step"])


def record(program: str, folder: pathlib.Path, models: list[str], integrators: list[str], jitter: bool, jobs: int) -> None:
    def one(case: tuple[str, str]) -> str:
        model, integrator = case
        step = step_of(model)
        if jitter:
            step = math.nextafter(step, 1)
        out = folder / model / f"{integrator}.csv"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.unlink(missing_ok=True)
        command = [program, "run", model, "--integrator", integrator]
        command += ["--step", repr(step), "--end", repr(STEPS * step), "--threads", "1", "--out", str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            out.unlink(missing_ok=True)
            return f"{model} {integrator}: no end within {SECONDS} s"
        if done.returncode == 0:
            return ""
        out.unlink(missing_ok=True)
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        out.with_suffix(".failed").write_text(f"{done.returncode}\n{reason[0]}\n", encoding="utf-8")
        return f"{model} {integrator}: exit code {done.returncode}: {reason[0]}"

    cases = [(model, integrator) for model in models for integrator in integrators]
    with ThreadPoolExecutor(jobs) as pool:
        for number, message in enumerate(pool.map(one, cases), 1):
            if message or number % 50 == 0:
                print(f"{number} of {len(cases)}  {message}", flush=True)


# ---- table ---------------------------------------------------------------------------------------------------------


def sensors_of(file: pathlib.Path) -> dict[str, list[list[float]]]:
    """The components of each sensor, a list of values each."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.reader(line for line in text if not line.startswith("#"))
        header = next(rows)
        columns = list(zip(*[[float(value) for value in row] for row in rows]))
    found: dict[str, list[list[float]]] = {}
    for name, column in zip(header, columns):
        sensor = name.split(" ")[0].split("[")[0]
        if sensor not in ("time", "t"):
            found.setdefault(sensor, []).append(list(column))
    return found


def differences(a: pathlib.Path, b: pathlib.Path) -> dict[str, float]:
    """By sensor: the largest difference of any component in any row over the largest value; 0 where both are zero."""
    left, right = sensors_of(a), sensors_of(b)
    found = {}
    for sensor, components in left.items():
        largest = max((abs(value) for column in components for value in column), default=0)
        apart = [abs(x - y) for p, q in zip(components, right[sensor], strict=True) for x, y in zip(p, q, strict=True) if not (math.isnan(x) and math.isnan(y))]
        worst = max(apart, default=0)
        found[sensor] = 0 if worst == 0 else worst / largest if largest > 0 else math.inf
    return found


def table(first: pathlib.Path, second: pathlib.Path, jitter: pathlib.Path | None) -> int:
    models = sorted(path.name for path in first.iterdir() if path.is_dir())
    integrators = [name for name in INTEGRATORS if any((first / model / f"{name}.csv").exists() for model in models)]
    unexplained, compared, different_ends = [], 0, []
    print("| model | " + "largest difference | integrator | sensor | last digit of the step | runs compared |")
    print("|---|---|---|---|---|---|")
    for model in models:
        worst, runs = (-1.0, "", "", 0.0), 0
        for integrator in integrators:
            a, b = (folder / model / f"{integrator}.csv" for folder in (first, second))
            if a.exists() != b.exists():
                different_ends.append(f"{model} {integrator}")
            if not (a.exists() and b.exists()):
                continue
            runs += 1
            c = jitter / model / f"{integrator}.csv" if jitter else None
            own = differences(a, c) if c and c.exists() else {}
            for sensor, apart in differences(a, b).items():
                compared += 1
                worst = max(worst, (apart, integrator, sensor, own.get(sensor, math.nan)))
                if apart > NEGLIGIBLE and jitter and not apart <= FACTOR * own.get(sensor, 0):
                    unexplained.append((apart, model, integrator, sensor, own.get(sensor, math.nan)))
        if runs:
            print(f"| `{model}` | {worst[0]:.1e} | `{worst[1]}` | `{worst[2]}` | {worst[3]:.1e} | {runs} |")
    print(f"\n{compared} sensors of runs compared.")
    for case in different_ends:
        print(f"completes in one of them only: {case}")
    for apart, model, integrator, sensor, own in sorted(unexplained, reverse=True):
        print(f"{model} {integrator} {sensor}: {apart:.1e}, by the last digit of the step {own:.1e}")
    return 1 if different_ends or unexplained else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("program")
    recording.add_argument("folder", type=pathlib.Path)
    recording.add_argument("--jitter", action="store_true")
    recording.add_argument("--models", type=lambda text: text.split(","), default=sorted(path.parent.name for path in MODELS.glob("*/model.json")))
    recording.add_argument("--integrators", type=lambda text: text.split(","), default=list(INTEGRATORS))
    recording.add_argument("--jobs", type=int, default=1)
    comparing = commands.add_parser("table")
    comparing.add_argument("first", type=pathlib.Path)
    comparing.add_argument("second", type=pathlib.Path)
    comparing.add_argument("jitter", type=pathlib.Path, nargs="?")
    arguments = parser.parse_args()
    if arguments.command == "table":
        return table(arguments.first, arguments.second, arguments.jitter)
    record(arguments.program, arguments.folder, arguments.models, arguments.integrators, arguments.jitter, arguments.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())

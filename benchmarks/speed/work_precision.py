"""`./dev bench work-precision`: the computing time that each integrator and formulation needs for a given error of positions.

Every case runs with smaller and smaller steps (or tolerances, if it chooses its steps) until the smallest error asked for is reached twice in a
row. What it costs to reach an error is read off between two runs, on straight lines in logarithms. Errors are those of one
sensor at the end, against the known answers in models/*/README.md.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import liedyn as ld

warnings.simplefilter("ignore", ld.NumericalWarning)  # a run that fails is a point that is missing


@dataclass(frozen=True)
class Problem:
    model: str
    sensor: str
    end: float
    answer: tuple[float, ...]
    unit: float  # what an error of 1 is, in metres
    step: float  # the largest
    words: str


PROBLEMS = {
    problem.model: problem
    for problem in (
        Problem(
            "heavy_top", "position", 1.0, (0.173343964098, 0.640088592070, -0.748490791134), 1.0, 4e-3,
            "centre of mass at t = 1 s, in metres",
        ),
        Problem("slider_crank", "slider_position", 2.0, (0.2890851971,), 1.0, 8e-3, "slider at t = 2 s, in metres"),
        Problem(
            "rotor", "left", 0.25, (-0.10999999959108, 2.814018238e-5, 8.706486004e-5), 9.15e-5, 8e-5,
            "left support at t = 0.25 s, relative to the 9.15e-5 m that it has moved",
        ),
    )
}  # fmt: skip

EQUAL_STEPS = (
    "generalized-alpha,rho=0.9",
    "generalized-alpha,rho=0.9,sigma=1",
    "generalized-alpha,rho=0.9,sigma=opt",
    "generalized-alpha,rho=0.9,form=linear",
    "lms2", "lms3", "lms4", "ss2", "ss3", "ss4", "bathe",
    "msstc3", "msstc4", "msstc5", "mssth3", "mssth4", "mssth5",
    "esdirk3-4", "esdirk3-5", "esdirk4-6",
    "rk44", "ode23", "dopri5", "rk67",
)  # fmt: skip
CHOSEN_STEPS = (
    "generalized-alpha,rho=0.9,sigma=opt,adaptive=true",
    "esdirk3-4,adaptive=true", "esdirk3-5,adaptive=true", "esdirk4-6,adaptive=true",
    "ode23,adaptive=true", "dopri5,adaptive=true",
)  # fmt: skip


@dataclass
class Point:
    knob: float  # step or rtol
    error: float  # nan: the run failed
    seconds: float


@dataclass
class Case:
    model: str
    integrator: str
    formulation: str
    points: list[Point] = field(default_factory=list)
    stopped: str = ""  # why there is no smaller step

    @property
    def label(self) -> str:
        return f"{self.integrator} {self.formulation}"

    def seconds_for(self, error: float) -> float:
        """CPU time at which the error falls below the bound and stays there; nan if it does not."""
        good = len(self.points)
        while good > 0 and self.points[good - 1].error <= error:
            good -= 1
        if good == len(self.points):
            return math.nan
        first = self.points[good]
        if good == 0 or not math.isfinite(self.points[good - 1].error):
            return first.seconds
        before = self.points[good - 1]
        if first.error <= 0:
            return first.seconds
        share = math.log(before.error / error) / math.log(before.error / first.error)
        return before.seconds * (first.seconds / before.seconds) ** share


def knobs(integrator: str, problem: Problem) -> Iterator[tuple[str, float, float]]:
    """Integrator with its options, step, and the number that was varied, from coarse to fine."""
    if integrator in CHOSEN_STEPS:
        for k in range(40):
            rtol = 1e-2 * 4.0**-k
            yield f"{integrator},rtol={rtol:.3g},atol={1e-4 * rtol:.3g}", problem.step / 4, rtol
    else:
        for k in range(40):
            step = problem.step * 0.5**k
            yield integrator, step, step


def one_run(model: ld.Model, problem: Problem, integrator: str, step: float) -> tuple[float, float]:
    """Error, and CPU seconds: the least of some runs, since a short one is easily disturbed."""
    error, least, runs = math.nan, math.inf, 0
    begin = time.thread_time()
    while runs == 0 or (runs < 5 and time.thread_time() - begin < 0.02):
        before = time.thread_time()
        result = model.run(integrator=integrator, step=step, end=problem.end, every=0)
        runs += 1
        if not result.completed:
            return math.nan, time.thread_time() - before
        # The loop alone, on the clock that was disturbed less.
        least = min(least, time.thread_time() - before, result.summary["wall_seconds"])
        last = result[problem.sensor][-1]
        values = last.tolist() if last.ndim else [float(last)]
        error = math.dist(values, problem.answer) / problem.unit
    return error, least


def study(case: Case, smallest: float, budget: float, run: Callable[[str, float], tuple[float, float]]) -> None:
    """Runs with finer and finer steps until the error is small enough twice in a row, or a run takes longer than `budget`."""
    problem = PROBLEMS[case.model]
    failures = 0
    for integrator, step, knob in knobs(case.integrator, problem):
        try:
            error, seconds = run(integrator, step)
        except (ld.InputError, ld.NumericalError) as refusal:
            case.stopped = str(refusal).splitlines()[0]
            return
        case.points.append(Point(knob, error if math.isfinite(error) else math.nan, seconds))
        failures = 0 if math.isfinite(error) else failures + 1
        if len(case.points) > 1 and all(point.error <= smallest for point in case.points[-2:]):
            return
        if seconds > budget:
            case.stopped = f"a run took longer than {budget:g} s"
            return
        if failures == 6:
            case.stopped = "no step that was tried reaches the end"
            return


def measure(
    problems: Sequence[str], integrators: Sequence[str], formulations: Sequence[str], smallest: float, budget: float
) -> Iterator[Case]:
    for name in problems:
        problem = PROBLEMS[name]
        for formulation in formulations:
            try:
                model = ld.Model(name, formulation=formulation)
            except ld.InputError as refusal:
                yield Case(name, "", formulation, stopped=str(refusal).splitlines()[0])
                continue
            for integrator in integrators:
                case = Case(name, integrator, formulation)
                study(case, smallest, budget, lambda text, step, m=model, p=problem: one_run(m, p, text, step))
                yield case


def milliseconds(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{1e3 * seconds:.3g}"


def best_formulations(cases: Sequence[Case], errors: Sequence[float]) -> list[list[str]]:
    """A row per integrator: for each error the cheapest formulation and its time; the cheapest of the smallest error first."""
    rows = []
    for integrator in dict.fromkeys(case.integrator for case in cases if case.integrator):
        row, key = [f"`{integrator}`"], math.inf
        for error in errors:
            costs = [(case.seconds_for(error), case.formulation) for case in cases if case.integrator == integrator]
            costs = [cost for cost in costs if not math.isnan(cost[0])]
            key = min(costs)[0] if costs else math.inf
            row.append(f"{milliseconds(min(costs)[0])} ({min(costs)[1]})" if costs else "not reached")
        rows.append((key, row))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_csv(file: Path, cases: Sequence[Case], errors: Sequence[float]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["model", "integrator", "formulation", *(f"milliseconds_for_{e:g}" for e in errors), "least_error", "stopped"])
        for case in cases:
            reached = [point.error for point in case.points if math.isfinite(point.error)]
            writer.writerow(
                [case.model, case.integrator, case.formulation, *(milliseconds(case.seconds_for(e)) for e in errors),
                 f"{min(reached):.2e}" if reached else "", case.stopped]
            )  # fmt: skip


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench work-precision", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=list(PROBLEMS), help="all of them if not given")
    parser.add_argument("--integrator", action="append", help="with options; all of them if not given")
    parser.add_argument("--formulation", action="append", choices=ld.formulations(), help="all of them if not given")
    parser.add_argument("--error", action="append", type=float, help="1e-4 and 1e-6 if not given")
    parser.add_argument("--budget", type=float, default=5, metavar="SECONDS", help="a case ends when one run takes longer (5)")
    parser.add_argument("--out", type=Path, help="a CSV file of all cases")
    arguments = parser.parse_args(words)
    errors = sorted(arguments.error or [1e-4, 1e-6], reverse=True)
    problems = arguments.model or list(PROBLEMS)
    integrators = arguments.integrator or EQUAL_STEPS + CHOSEN_STEPS
    cases = []
    try:
        for case in measure(problems, integrators, arguments.formulation or ld.formulations(), errors[-1], arguments.budget):
            cases.append(case)
            if sys.stderr.isatty():
                print(f"\r\033[K{case.model}: {case.label}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted; what was measured until then:", file=sys.stderr)
    for name in problems:
        print(f"\n{name}: CPU time in ms to reach an error of the {PROBLEMS[name].words}, and the formulation that needs the least\n")
        print(markdown(["integrator", *(f"{e:g}" for e in errors)], best_formulations([c for c in cases if c.model == name], errors)))
    if arguments.out:
        write_csv(arguments.out, cases, errors)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

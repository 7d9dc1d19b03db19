"""Runs of the evaluation paper's models in its formulations, what they cost, and references for them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce import heavy_top as top
from liedyn_reproduce.figure import Page, in_parallel, timed

RHO = 0.9


@dataclass(frozen=True)
class Kind:
    """A formulation, as the paper abbreviates it."""

    name: str
    formulation: str
    color: int
    marker: str


RV = Kind("RV", "r3so3", 0, "o")
EP = Kind("EP", "euler-parameters", 1, "s")
RXYZ = Kind("Rxyz", "cardan", 2, "^")
KINDS = (RV, EP, RXYZ)

# The text prints 1e-4 2^(1-n), n = 1...8, for the heavy top, its Table 4 1e-3 2^(1-n); the reference, 1e-3/256, and the
# accuracies it speaks of (1e-4 for implicit integration) belong to the latter.
FREE_STEPS = tuple(1e-3 / 2**n for n in range(8))
QUICK_FREE_STEPS = FREE_STEPS[:3]
# Those of Table 5, for the same reason.
TOP_STEPS = tuple(2.5e-3 / 2**n for n in range(7))
QUICK_TOP_STEPS = TOP_STEPS[:4]
# As printed.
ROTOR_STEPS = tuple(1e-4 / 2**n for n in range(8))
QUICK_ROTOR_STEPS = ROTOR_STEPS[:3]
ROTOR_END = 4.0

# Newton's method stops at a relative residual of 1e-8, as in the papers. Where it stagnates above that, at round-off
# of rotation parameters in small steps, the next of these is tried. Iterations are compared at 1e-8 only.
TOLERANCES = ("1e-8", "1e-7", "1e-6", "1e-5", "1e-4")
COMPARABLE = "newton_stop=initial,predictor=zero"
"""For counts of iterations, as the authors' program does it: vdot = 0 and lambda = 0 at first, until a residual of newton_tol times
the first one."""
COMPARABLE_NOTE = (
    "iterations are linear solves. As in the authors' program Newton's method starts from vdot = 0, lambda = 0 (predictor=zero) and "
    "stops at {} of the first residual (newton_stop=initial)"
)
FULL, SIMPLE, MODIFIED = "jacobian=full,newton=full", "jacobian=simplified,newton=full", "newton=modified"
"""Options of Newton's method, as the papers name them: with and without the tangent operator, and with matrices that are kept."""
STAGNATED = 1e-3
"""N, N m or m: a larger residual is no stagnation but a failure (those seen are above 5e-3, most far above)."""


@dataclass(frozen=True)
class Outcome:
    """The end of a run, and what it cost."""

    place: np.ndarray
    velocity: np.ndarray
    reached: float
    completed: bool
    lost: bool
    """Newton's method failed, or the spin, which is constant, is off by more than 10 %."""
    stagnated: bool
    """It failed with every tolerance, at the level of round-off."""
    newton: float
    """Iterations per step."""
    seconds: float
    tolerance: str

    @property
    def comparable(self) -> bool:
        return not self.lost and self.tolerance == TOLERANCES[0]


NOT_RUN = Outcome(np.full(3, np.nan), np.full(3, np.nan), np.nan, False, False, False, np.nan, np.nan, "")
"""Stands for a step that was left out: no number, but not lost either."""


@dataclass(frozen=True)
class Problem:
    """A model of the paper, and the point at which it looks."""

    model: str
    place: str
    velocity: str
    end: float
    spin_axis: int = 0
    spin: float | None = None
    """The angular velocity about an axis of the body that the motion leaves constant, if there is one."""

    def keeps_spin(self, result: ld.Result) -> bool:
        return self.spin is None or abs(result["angular_velocity"][-1, self.spin_axis] / self.spin - 1) < 0.1


FREE = Problem("heavy_top_free", "position", "velocity", 1, 1, 150)
TOP = Problem("heavy_top", "position", "velocity", 1, 1, 150)
ROTOR = Problem("rotor", "left", "left_velocity", ROTOR_END, 0, 2 * np.pi * 200_000 / 60)


@lru_cache(maxsize=None)
def compiled(problem: Problem, formulation: str) -> ld.Model:
    source = ld.load(problem.model)
    if problem is ROTOR:
        source["sensors"]["left_velocity"] = {"type": "velocity", "of": "rotor", "at": ["-left", 0, 0]}
    return ld.Model(source, formulation=formulation)


@lru_cache(maxsize=None)
def outcome(problem: Problem, kind: Kind, step: float, options: str = "", end: float | None = None) -> Outcome:
    end = problem.end if end is None else end
    model = compiled(problem, kind.formulation)
    for tolerance in TOLERANCES:
        integrator = f"generalized-alpha,rho={RHO},newton_tol={tolerance}{',' if options else ''}{options}"
        result, seconds = timed(lambda: model.run(integrator=integrator, step=step, end=end, every=0))
        stagnated = not result.completed and residual_in(result.summary["failure"]) < STAGNATED
        if not stagnated:
            break
    summary = result.summary
    return Outcome(
        result[problem.place][-1],
        result[problem.velocity][-1],
        float(result.time[-1]),
        result.completed,
        not (result.completed and problem.keeps_spin(result)),
        stagnated,
        summary["newton_iterations"] / max(1, summary["steps"]),
        seconds,
        tolerance,
    )


def residual_in(failure: str) -> float:
    """The largest residual, which the message of a failure tells; infinite if it tells none."""
    found = re.search(r"the largest residual, ([-+.\de]+),", failure)
    return abs(float(found[1])) if found else np.inf


@dataclass(frozen=True)
class Series:
    """A formulation over the steps; nan where the solution is lost."""

    runs: tuple[Outcome, ...]
    exact: np.ndarray

    def _column(self, value: Callable[[Outcome], float]) -> np.ndarray:
        return np.array([np.nan if run.lost else value(run) for run in self.runs])

    @property
    def error(self) -> np.ndarray:
        return self._column(lambda run: float(np.linalg.norm(run.place - self.exact)))

    @property
    def newton(self) -> np.ndarray:
        return self._column(lambda run: run.newton)

    @property
    def seconds(self) -> np.ndarray:
        return self._column(lambda run: run.seconds)

    @property
    def comparable(self) -> np.ndarray:
        return np.array([run.comparable for run in self.runs])

    @property
    def tolerance(self) -> list[str]:
        return [run.tolerance for run in self.runs]


@lru_cache(maxsize=None)
def reference_at(problem: Problem) -> np.ndarray:
    """The place at the end."""
    if problem is not ROTOR:
        return top.reference().position[-1]
    return _rotor_reference()


_lock = threading.Lock()


@lru_cache(maxsize=None)
def _rotor_reference(step: float = 1e-5) -> np.ndarray:
    """Inertial-frame velocities and sigma = opt: another formulation than those judged; extrapolated to h = 0."""
    with _lock:
        model = compiled(ROTOR, "r3so3-spatial")
        coarse, fine = in_parallel(
            lambda h: model.run(
                integrator=f"generalized-alpha,rho={RHO},sigma=opt", step=h, end=ROTOR_END, every=0
            )["left"][-1],
            (step, step / 2),
        )
    return fine + (fine - coarse) / 3


def series(
    problem: Problem, steps: Sequence[float], options: str = "", kinds: Iterable[Kind] = KINDS
) -> dict[Kind, Series]:
    kinds = tuple(kinds)
    exact = reference_at(problem)
    cases = [(kind, step) for step in reversed(steps) for kind in kinds]
    if problem is ROTOR:
        runs = dict(zip(cases, in_parallel(lambda case: outcome(problem, case[0], case[1], options), cases)))
    else:  # one after the other, so that they do not disturb each other's times
        runs = {case: outcome(problem, case[0], case[1], options) for case in cases}
    return {kind: Series(tuple(runs[kind, step] for step in steps), exact) for kind in kinds}


def steps_of(problem: Problem, page: Page) -> tuple[float, ...]:
    return {
        FREE: (FREE_STEPS, QUICK_FREE_STEPS),
        TOP: (TOP_STEPS, QUICK_TOP_STEPS),
        ROTOR: (ROTOR_STEPS, QUICK_ROTOR_STEPS),
    }[problem][page.quick]


def lost_at(steps: Sequence[float], values: Series) -> list[float]:
    return [step for step, run in zip(steps, values.runs) if run.lost]


def in_words(steps: Sequence[float]) -> str:
    return ", ".join(f"{step:.3g}" for step in steps) or "none"


def time_for(values: Series, accuracy: float) -> float:
    """CPU time at which a method reaches an accuracy, on the line through its points; nan outside of them."""
    good = np.isfinite(values.error)
    order = np.argsort(values.error[good])
    error, seconds = values.error[good][order], values.seconds[good][order]
    if not len(error) or not error[0] <= accuracy <= error[-1]:
        return np.nan
    return float(np.exp(np.interp(np.log(accuracy), np.log(error), np.log(seconds))))

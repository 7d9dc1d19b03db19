"""A study of our own: which method and formulation should be the default? Stability first, then accuracy, then cost."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce.figure import Page, figure, in_parallel, interpolated
from liedyn_reproduce.study.flexible import Method, columns
from liedyn_reproduce.study.mechanisms import Mechanism, mechanisms

ALPHA = "generalized-alpha"
OPTIONS = (
    "rho=0.9", "rho=0.8", "rho=0.6", "rho=0.9,sigma=1", "rho=0.8,sigma=1", "rho=0.8,sigma=opt", "rho=0.6,sigma=opt", "rho=0.9,index=2", "rho=0.8,index=2",
    "rho=0.9,index=stabilized", "rho=0.8,index=stabilized",
)  # fmt: skip
FORMULATIONS = ("r3so3", "r3so3-spatial", "se3")
METHODS = [Method(ALPHA, options, formulation) for formulation in FORMULATIONS for options in OPTIONS]
METHODS += [Method("lms2", "rho=0.8", formulation) for formulation in FORMULATIONS]
FACTORS = (1 / 3, 1.0, 3.0)
"""Of the middle step."""
REFERENCE = Method("esdirk4-6", "index=2,newton_tol=1e-11", "r3so3-spatial")
REFERENCE_FACTOR = 1 / 12
LOST = 1.0
"""A run whose error is larger than the motion itself has lost it."""


@dataclass(frozen=True)
class Outcome:
    mechanism: Mechanism
    method: Method
    factor: float
    completed: bool
    error: float
    """Largest difference of the recorded quantities to the reference, relative to how far they move."""
    seconds: float
    message: str

    @property
    def holds(self) -> bool:
        return self.completed and self.error < LOST

    @property
    def silent(self) -> bool:
        """The motion is lost, and the run does not say so."""
        return self.completed and not self.holds


@lru_cache(maxsize=None)
def compiled(mechanism_name: str, formulation: str) -> ld.Model:
    mechanism = BY_NAME[mechanism_name]
    return ld.Model(mechanism.model, formulation=formulation, set=dict(mechanism.set))


BY_NAME = {mechanism.name: mechanism for mechanism in mechanisms()}


def recorded(mechanism: Mechanism, result: ld.Result) -> np.ndarray:
    names = mechanism.sensors or [name for name in result if name != "t"]
    return np.hstack([columns(result[name]) for name in names])


def run(mechanism: Mechanism, method: Method, step: float) -> tuple[ld.Result, float]:
    model = compiled(mechanism.name, method.formulation)
    clock = time.thread_time()
    result = model.run(integrator=method.integrator, step=step, end=model.settings["start"] + mechanism.duration)
    return result, time.thread_time() - clock


@lru_cache(maxsize=None)
def reference(mechanism_name: str) -> tuple[np.ndarray, np.ndarray]:
    mechanism = BY_NAME[mechanism_name]
    result, _ = run(mechanism, REFERENCE, mechanism.step * REFERENCE_FACTOR)
    if not result.completed:
        raise RuntimeError(f"reference of {mechanism.name}: {result.failure}")
    return result.time, recorded(mechanism, result)


def outcome(case: tuple[Mechanism, Method, float]) -> Outcome:
    mechanism, method, factor = case
    result, seconds = run(mechanism, method, factor * mechanism.step)
    error = math.nan
    if result.completed:
        times, wanted = reference(mechanism.name)
        with np.errstate(all="ignore"):
            difference = recorded(mechanism, result) - interpolated(times, wanted, result.time)
            moved = np.linalg.norm(wanted - wanted[0], axis=1).max()
            error = float(np.linalg.norm(difference, axis=1).max() / moved)
        if not math.isfinite(error):
            error = math.inf
    return Outcome(mechanism, method, factor, result.completed, error, seconds, result.failure or "")


@figure(
    "study-defaults",
    title="Which method and formulation should be the default",
    source="our own",
    claims={},
    checks={
        "holds": "the default holds the motion of every mechanism at every step",
        "silent": "no run loses the motion and reports success",
    },
)
def defaults(page: Page) -> None:
    chosen = [one for k, one in enumerate(BY_NAME.values()) if not page.quick or k % 8 == 0]
    in_parallel(lambda one: reference(one.name), chosen)
    cases = [(mechanism, method, factor) for mechanism in chosen for method in METHODS for factor in FACTORS]
    outcomes = in_parallel(outcome, cases)
    page.table(
        "",
        {
            "family": [one.mechanism.family for one in outcomes],
            "model": [one.mechanism.name for one in outcomes],
            "method": [one.method.integrator for one in outcomes],
            "formulation": [one.method.formulation for one in outcomes],
            "step": [f"{one.factor * one.mechanism.step:.3g}" for one in outcomes],
            "completed": ["yes" if one.completed else "no" for one in outcomes],
            "error": [f"{one.error:.2e}" for one in outcomes],
            "milliseconds": [f"{1e3 * one.seconds:.2f}" for one in outcomes],
            "message": [one.message or "-" for one in outcomes],
        },
    )
    rows = summary(outcomes)
    page.table("methods", {key: [row[key] for row in rows] for key in rows[0]})
    draw(page, outcomes)
    default = [one for one in outcomes if one.method == default_method()]
    lost = [one for one in default if not one.holds]
    page.judge(
        "holds",
        stated="all",
        measured=f"{len(default) - len(lost)} of {len(default)}" + "".join(f"; not {one.mechanism.name} at {one.factor:.2g}" for one in lost[:6]),
        met=not lost,
    )
    silent = [one for one in outcomes if one.silent]
    page.judge("silent", stated="none", measured=f"{len(silent)} of {len(outcomes)}", met=not silent)
    page.note(
        "error: largest difference to ESDIRK4(3)6L[2]SA₂ (index 2, inertial axes, a twelfth of the middle step) over the run, relative to how "
        "far the recorded points move; steps are a third, once and three times the middle one (0.15 rad per step for gyroscopes)"
    )


def default_method() -> Method:
    """What a model gets that names neither."""
    model = ld.Model({"liedyn": 1, "bodies": {"a": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}}})
    name, _, options = model.settings["integrator"].partition(",")
    return Method(name, options, model.formulation)


def summary(outcomes: list[Outcome]) -> list[dict[str, object]]:
    """A row for each method: what it holds, its error relative to the best method of each case (geometric mean), and its cost likewise."""
    best: dict[tuple[str, float], tuple[float, float]] = {}
    for one in outcomes:
        key = (one.mechanism.name, one.factor)
        error, seconds = best.get(key, (math.inf, math.inf))
        if one.holds:
            best[key] = (min(error, max(one.error, 1e-12)), min(seconds, one.seconds))
    rows = []
    for method in METHODS:
        mine = [one for one in outcomes if one.method == method]
        good = [one for one in mine if one.holds]
        ratio = [math.log(max(one.error, 1e-12) / best[one.mechanism.name, one.factor][0]) for one in good]
        cost = [math.log(one.seconds / best[one.mechanism.name, one.factor][1]) for one in good]
        rows.append(
            {
                "method": method.integrator,
                "formulation": method.formulation,
                "holds": len(good),
                "of": len(mine),
                "fails": sum(not one.completed for one in mine),
                "silent": sum(one.silent for one in mine),
                **{f"lost_{factor:.2g}": sum(not one.holds for one in mine if one.factor == factor) for factor in FACTORS},
                "error_over_best": f"{math.exp(np.mean(ratio)):.2f}" if ratio else "-",
                "cost_over_best": f"{math.exp(np.mean(cost)):.2f}" if cost else "-",
            }
        )
    return rows


def draw(page: Page, outcomes: list[Outcome]) -> None:
    families = list(dict.fromkeys(one.mechanism.family for one in outcomes))
    share = np.array(
        [
            [np.mean([one.holds for one in outcomes if one.method == method and one.mechanism.family == family]) for family in families]
            for method in METHODS
        ]
    )
    fig, ax = page.plot(figsize=(6.4, 0.2 * len(METHODS) + 1.4))
    image = ax.imshow(share, vmin=0, vmax=1, cmap="YlGn", aspect="auto")
    for (row, column), value in np.ndenumerate(share):
        ax.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=7)
    ax.set_xticks(range(len(families)), families)
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(METHODS)), [method.label.removeprefix(ALPHA + ",") for method in METHODS], fontsize=7)
    ax.tick_params(length=0)
    ax.grid(False)
    fig.colorbar(image, ax=ax, label="part of the runs that hold the motion", shrink=0.5)

"""Explicit integration in the evaluation paper: runs, plots and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np

from liedyn.reproduce import heavy_top as top
from liedyn.reproduce.evaluation.runs import (
    EP, ROTOR, ROTOR_END, ROTOR_STEPS, RV, RXYZ, TOLERANCES, Kind, Outcome, Problem, Series, compiled, in_words,
    lost_at, steps_of, time_for,
)  # fmt: skip
from liedyn.reproduce.figure import Page

EXPLICIT_METHODS = ("rk44", "dopri5", "rk67")
"""DOPRI5 with equal steps."""
EXPLICIT_KINDS = (RV, EP, RXYZ)
# Sixth order reaches round-off at the smallest steps of implicit integration.
EXPLICIT_ROTOR_STEPS = ROTOR_STEPS[:4]
EXPLICIT_NOTE = "explicit: EP is not in the paper; Euler parameters are scaled to unit length after each step"

Explicit = dict[str, dict[Kind, Series]]
"""By method and formulation."""


@lru_cache(maxsize=None)
def explicit_outcome(problem: Problem, kind: Kind, step: float, method: str) -> Outcome:
    model = compiled(problem, kind.formulation)
    result = model.run(integrator=method, step=step, end=problem.end, every=0)
    seconds = [result.summary["wall_seconds"]]
    while result.completed and sum(seconds) < 0.1 and len(seconds) < 5:
        seconds.append(model.run(integrator=method, step=step, end=problem.end, every=0).summary["wall_seconds"])
    return Outcome(
        place=result[problem.place][-1],
        velocity=result[problem.velocity][-1],
        reached=float(result.time[-1]),
        completed=result.completed,
        lost=not (result.completed and problem.keeps_spin(result)),
        stagnated=False,
        newton=0,
        seconds=min(seconds),
        tolerance=TOLERANCES[0],
    )


@lru_cache(maxsize=None)
def explicit_reference(problem: Problem) -> np.ndarray:
    """The place at the end; of the rotor by inertial-frame velocities, in which it is smooth, and sixth order."""
    if problem is not ROTOR:
        return top.reference().position[-1]
    model = compiled(ROTOR, "r3so3-spatial")
    return model.run(integrator="rk67", step=EXPLICIT_ROTOR_STEPS[-1] / 2, end=ROTOR_END, every=0)["left"][-1]


def explicit_table(problem: Problem, page: Page) -> tuple[tuple[float, ...], Explicit]:
    steps = steps_of(problem, page)
    if problem is ROTOR:
        steps = steps[: len(EXPLICIT_ROTOR_STEPS)]
    exact = explicit_reference(problem)
    return steps, {
        method: {
            kind: Series(tuple(explicit_outcome(problem, kind, step, method) for step in steps), exact)
            for kind in EXPLICIT_KINDS
        }
        for method in EXPLICIT_METHODS
    }


def draw_explicit(
    ax: plt.Axes, steps: Sequence[float], tables: Explicit, quantity: str, ylabel: str, *, against: str = ""
) -> None:
    for (method, table), line in zip(tables.items(), ("-", "--", ":")):
        for kind, values in table.items():
            x = getattr(values, against) if against else steps
            ax.loglog(
                x, getattr(values, quantity), line, marker=kind.marker, markersize=4, color=f"C{kind.color}",
                label=f"{kind.name}, {method}",
            )
    ax.margins(x=0.05)
    ax.set(xlabel="error / m" if against else "step h / s", ylabel=ylabel, title="explicit integration")
    ax.legend(ncols=2, fontsize=7)


def write_explicit(page: Page, steps: Sequence[float], tables: Explicit) -> None:
    columns: dict[str, Iterable] = {"h": list(steps)}
    for method, table in tables.items():
        for kind, values in table.items():
            columns |= {
                f"{kind.name}.{method}.error": values.error,
                f"{kind.name}.{method}.seconds": values.seconds,
            }
    page.table("explicit", columns)


def judge_explicit_accuracy(page: Page, key: str, steps: Sequence[float], tables: Explicit) -> None:
    """The Lie group method has a solution and a smaller error than Cardan angles, or these have none, at every step."""
    parts, met, beyond = [], True, []
    for method, table in tables.items():
        mine, theirs = table[RV].error, table[RXYZ].error
        ratio = theirs / mine
        both = np.isfinite(ratio)
        met = met and bool(np.all(np.isfinite(mine) & (~np.isfinite(theirs) | (ratio > 1))))
        found = f"{np.min(ratio[both]):.3g} to {np.max(ratio[both]):.3g}" if both.any() else "-"
        parts.append(f"{method}: Rxyz lost at {in_words(lost_at(steps, table[RXYZ]))}, else errors {found} times larger")
        against_ep = table[RV].error / table[EP].error
        if np.isfinite(against_ep).any():
            beyond.append(f"{method} {np.nanmedian(against_ep):.2g}")
    page.judge(
        key,
        stated="RV more accurate than Rxyz",
        measured="; ".join(parts),
        met=met,
        note=f"the errors of RV are, in the median, {', '.join(beyond)} times those of EP, which the paper has not",
    )


def judge_explicit_time(page: Page, key: str, tables: Explicit) -> None:
    """Less time on average than Cardan angles: geometric mean over the steps at which both have a solution."""
    ratios = {}
    for method, table in tables.items():
        ratio = table[RXYZ].seconds / table[RV].seconds
        if np.isfinite(ratio).any():
            ratios[method] = float(np.exp(np.nanmean(np.log(ratio))))
    if not ratios:
        page.not_examined([key], "Rxyz has no solution at these steps")
        return
    page.judge(
        key,
        stated="lower for RV",
        measured="a step of Rxyz takes "
        + ", ".join(f"{value:.2f} ({method})" for method, value in ratios.items())
        + " times as long",
        met=all(value > 1 for value in ratios.values()),
        note="in neither formulation is a mass matrix factorised here: to the elements Cardan angles are a body with the "
        "same constant one, and only the angles' rates are converted; T^-1 costs as much as that",
    )


def judge_explicit_work(
    page: Page, key: str, tables: Explicit, accuracy: float, stated: float, methods: Sequence[str]
) -> None:
    """CPU time of Cardan angles for an accuracy, in units of that of the Lie group method."""
    found, bounds = {}, {}
    for method in methods:
        table = tables[method]
        mine, theirs = time_for(table[RV], accuracy), time_for(table[RXYZ], accuracy)
        best = np.nanmin(table[RV].error)
        if np.isnan(mine) and accuracy > np.nanmax(table[RV].error):
            mine = float(np.nanmin(table[RV].seconds))
        if np.isfinite(mine) and np.isfinite(theirs):
            found[method] = theirs / mine
        elif np.isfinite(mine) and best < accuracy:
            bounds[method] = float(np.nanmax(table[RXYZ].seconds) / mine) if np.isfinite(table[RXYZ].seconds).any() else np.inf
    if not found and not bounds:
        page.not_examined([key], f"an accuracy of {accuracy:g} is not within the range of these steps")
        return
    text = [f"{method}: {ratio:.3g}" for method, ratio in found.items()]
    text += [f"{method}: more than {ratio:.3g} (not reached by Rxyz)" for method, ratio in bounds.items()]
    page.judge(
        key,
        stated=f"about {stated:g} (here: at least half of it)",
        measured=", ".join(text),
        met=all(ratio >= stated / 2 for ratio in [*found.values(), *bounds.values()]),
        note=f"CPU time of Rxyz over that of RV at an error of {accuracy:g} m",
    )
EXPLICIT_ROTOR_NOTE = (
    "explicit: steps from 1e-4 to 1.25e-5; reference: inertial-frame velocities, rk67, h = 6.25e-6. " + EXPLICIT_NOTE
)

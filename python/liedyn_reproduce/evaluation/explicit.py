"""Explicit integration in the evaluation paper: runs, plots and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np

from liedyn_reproduce import heavy_top as top
from liedyn_reproduce.evaluation.runs import (
    FREE, FREE_STEPS, NOT_RUN, ROTOR, ROTOR_END, ROTOR_STEPS, RV, RXYZ, TOLERANCES, Kind, Outcome, Problem, Series,
    compiled, in_words, lost_at, steps_of, time_for,
)  # fmt: skip
from liedyn_reproduce.figure import Page, timed

EXPLICIT_METHODS = ("rk44", "dopri5", "rk67")
"""DOPRI5 with equal steps."""
CONTROLLED = "dopri5, step control"
EXPLICIT_KINDS = (RV, RXYZ)
"""The paper has Euler parameters with implicit integration only."""
ACCURATE = 1e-9
"""m: the accuracy that the text speaks of for the rotor. Smaller steps than one that reaches it are not run."""
CONTROL_NOTE = (
    "DOPRI5 with step control is drawn against the error only, with rtol = 1e-6 (h/h_1)^5 and atol = rtol/100 (h_1 the largest "
    "step). The rule printed in the paper, rtol = 1e-2/(t/h)^p with p = 5, asks for 1e-17 at the largest and 1e-31 at the smallest "
    "step, far below round-off"
)

Explicit = dict[str, dict[Kind, Series]]
"""By method and formulation."""


def integrator(method: str, problem: Problem, step: float) -> str:
    if method != CONTROLLED:
        return method
    largest = {FREE: FREE_STEPS, ROTOR: ROTOR_STEPS}[problem][0]
    rtol = 1e-6 * (step / largest) ** 5
    return f"dopri5,adaptive=true,rtol={rtol:.3e},atol={rtol / 100:.3e}" if rtol > 1e-14 else ""


@lru_cache(maxsize=None)
def explicit_outcome(problem: Problem, kind: Kind, step: float, method: str) -> Outcome:
    model = compiled(problem, kind.formulation)
    named = integrator(method, problem, step)
    if not named:
        return NOT_RUN
    result, seconds = timed(lambda: model.run(integrator=named, step=step, end=problem.end, every=0))
    return Outcome(
        place=result[problem.place][-1],
        velocity=result[problem.velocity][-1],
        reached=float(result.time[-1]),
        completed=result.completed,
        lost=not (result.completed and problem.keeps_spin(result)),
        stagnated=False,
        newton=0,
        seconds=seconds,
        tolerance=TOLERANCES[0],
    )


@lru_cache(maxsize=None)
def explicit_reference(problem: Problem) -> np.ndarray:
    """The place at the end; of the rotor by inertial-frame velocities, in which it is smooth, and sixth order."""
    if problem is not ROTOR:
        return top.reference().position[-1]
    model = compiled(ROTOR, "r3so3-spatial")
    return model.run(integrator="rk67", step=6.25e-6, end=ROTOR_END, every=0)["left"][-1]


def explicit_series(problem: Problem, kind: Kind, method: str, steps: Sequence[float]) -> Series:
    """From the largest step down; on the rotor until the error is small enough: its smallest steps would take minutes."""
    exact = explicit_reference(problem)
    runs: list[Outcome] = []
    for step in steps:
        enough = problem is ROTOR and runs and np.linalg.norm(runs[-1].place - exact) < ACCURATE
        runs.append(NOT_RUN if enough or (runs and runs[-1] is NOT_RUN) else explicit_outcome(problem, kind, step, method))
    return Series(tuple(runs), exact)


def explicit_table(problem: Problem, page: Page, *, controlled: bool = False) -> tuple[tuple[float, ...], Explicit]:
    steps = steps_of(problem, page)
    methods = EXPLICIT_METHODS + ((CONTROLLED,) if controlled else ())
    return steps, {
        method: {kind: explicit_series(problem, kind, method, steps) for kind in EXPLICIT_KINDS} for method in methods
    }


def draw_explicit(
    ax: plt.Axes, steps: Sequence[float], tables: Explicit, quantity: str, ylabel: str, *, against: str = ""
) -> None:
    for (method, table), line in zip(tables.items(), ("-", "--", ":", "-.")):
        for kind, values in table.items():
            x = getattr(values, against) if against else steps
            ax.loglog(
                x, getattr(values, quantity), line, marker=kind.marker, markersize=4, color=f"C{kind.color}",
                label=f"{kind.name}, {method}",
            )
    ax.margins(x=0.05)
    ax.set(xlabel="error / m" if against else "step h / s", ylabel=ylabel, title="explicit integration")
    # So many lines leave no room for a legend among them.
    fig, (handles, labels) = ax.figure, ax.get_legend_handles_labels()
    room = 0.15 + 0.17 * -(-len(labels) // 4)
    fig.set_figheight(fig.get_figheight() + room)
    share = room / fig.get_figheight()
    fig.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    fig.legend(handles, labels, loc="lower center", ncols=4, fontsize=7)


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
    """Wherever Cardan angles have a solution the Lie group method has a more accurate one."""
    parts, met, compared = [], True, False
    for method, table in tables.items():
        mine, theirs = table[RV].error, table[RXYZ].error
        ratio = theirs / mine
        both = np.isfinite(ratio)
        # Where the run of RV was left out, it had come below 1e-9 at a larger step.
        run = np.array([outcome is not NOT_RUN for outcome in table[RV].runs])
        ahead = np.all(ratio[both] > 1) and not np.any(run & np.isnan(mine) & np.isfinite(theirs))
        met = met and bool(ahead and np.isfinite(mine).any())
        compared = compared or bool(both.any())
        found = f"{np.min(ratio[both]):.3g} to {np.max(ratio[both]):.3g}" if both.any() else "-"
        parts.append(f"{method}: Rxyz lost at {in_words(lost_at(steps, table[RXYZ]))}, else errors {found} times larger")
    page.judge(
        key,
        stated="RV more accurate than Rxyz",
        measured="; ".join(parts),
        met=met and compared,
    )


def judge_explicit_time(page: Page, key: str, tables: Explicit, stated: str, within: float) -> None:
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
        stated=stated,
        measured="a step of Rxyz takes "
        + ", ".join(f"{value:.2f} ({method})" for method, value in ratios.items())
        + " times as long",
        met=all(value > 1 / within for value in ratios.values()),
        note="in neither formulation is a mass matrix factorised here: to the elements Cardan angles are a body with the "
        "same constant one, and only the angles' rates are converted; T^-1 costs as much as that",
    )


def judge_explicit_work(
    page: Page, key: str, tables: Explicit, accuracy: float, stated: float, methods: Sequence[str]
) -> None:
    """CPU time of Cardan angles for an accuracy, in units of that of the Lie group method."""
    ratios = {method: time_for(tables[method][RXYZ], accuracy) / time_for(tables[method][RV], accuracy) for method in methods}
    if not np.isfinite(list(ratios.values())).all():
        page.not_examined([key], f"an accuracy of {accuracy:g} is not within the range of these steps")
        return
    page.judge(
        key,
        stated=f"about {stated:g} (here: within a factor of 1.5)",
        measured=", ".join(f"{method}: {ratio:.3g}" for method, ratio in ratios.items()),
        met=all(stated / 1.5 <= ratio <= stated * 1.5 for ratio in ratios.values()),
        note=f"CPU time of Rxyz over that of RV at an error of {accuracy:g} m",
    )


EXPLICIT_ROTOR_NOTE = (
    "explicit: steps from 1e-4 down to the first with an error below 1e-9 m; reference: inertial-frame velocities, rk67, h = 6.25e-6"
)

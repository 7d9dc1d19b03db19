"""The slider-crank: Section 4.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from liedyn_reproduce import slider_crank as crank
from liedyn_reproduce.evaluation.judging import MARGINS, TIME_NOTE, draw, note_tolerances, two_panels, write
from liedyn_reproduce.evaluation.runs import (
    COMPARABLE, COMPARABLE_NOTE, EP, FULL, KINDS, RHO, RV, RXYZ, SIMPLE, Kind, Problem, Series, outcome,
)  # fmt: skip
from liedyn_reproduce.figure import Page, figure, slope_line

CRANK = Problem("slider_crank", "slider", "slider_velocity", 5.0)
STEPS = tuple(4e-3 / 2**n for n in range(13))
QUICK_STEPS = STEPS[:4]
STEPS_NOTE = (
    f"steps as printed, 4e-3 2^(1-n), down to {STEPS[-1]:.1e}; reference: inertial-frame velocities, sigma = opt, h = 5e-5 and "
    "2.5e-5 extrapolated to zero"
)


def table(page: Page, steps: Sequence[float], options: str = "", kinds: Sequence[Kind] = KINDS) -> dict[Kind, Series]:
    """By formulation, over the steps. One run after the other, so that they do not disturb each other's times."""
    exact = np.array([crank.reference(CRANK.end, quick=page.quick)[0], 0, 0])
    runs = {(kind, step): outcome(CRANK, kind, step, options) for step in steps for kind in kinds}
    return {kind: Series(tuple(runs[kind, step] for step in steps), exact) for kind in kinds}


def steps_of(page: Page) -> tuple[float, ...]:
    return QUICK_STEPS if page.quick else STEPS


@figure(
    "evaluation-fig15",
    title="Slider-crank: slider position and crank angle over time",
    source="Figure 15",
    claims=crank.HISTORY_CLAIMS,
    checks=crank.HISTORY_CHECKS,
    reasons={
        "deviation": "see sigma-fig9.",
    },
)
def fig15(page: Page) -> None:
    crank.histories(page, RXYZ.formulation, f"generalized-alpha,rho={RHO}")
    page.note("Rxyz, the step of the paper" + (" times 100" if page.quick else ""))


@figure(
    "evaluation-fig16",
    title="Slider-crank: convergence of the slider position at t = 5 s",
    source="Figure 16",
    claims={
        "large": "for steps above 1e-4 the conventional approaches are more accurate than the Lie group method",
        "small": "for steps up to 1e-5 the Lie group method is partially slightly more accurate than both",
    },
    checks={"order": "all three are of second order for steps above 1e-4"},
    reasons={
        "small": "RV is more accurate than Euler parameters from 3.9e-6 down, whose round-off grows to 2.9e-7 m at 9.8e-7, "
        "and never more accurate than Rxyz: its errors are 1.5 to 2.7 times those of Rxyz at every step (RV 2.5e-9, "
        "6.4e-10, 1.9e-10; Rxyz 1.6e-9, 3.8e-10, 7e-11 at the three smallest).",
    },
)
def fig16(page: Page) -> None:
    steps = np.array(steps_of(page))
    runs = table(page, steps_of(page))
    _, ax = page.plot()
    draw(ax, steps, runs, "error", "error of the slider position / m")
    slope_line(ax, steps, 0.5 * runs[RXYZ].error[-1], 2)
    ax.legend()
    write(page, "", steps, runs)
    large, small = steps > 1e-4, steps <= 1e-5
    ratios = {kind: runs[RV].error / runs[kind].error for kind in (EP, RXYZ)}
    page.judge(
        "large",
        stated="more accurate",
        measured=", ".join(f"{kind.name}: at least {ratio[large].min():.2f} times" for kind, ratio in ratios.items()),
        met=all(ratio[large].min() > 1 for ratio in ratios.values()),
    )
    if small.any():
        page.judge(
            "small",
            stated="more accurate at some of the steps",
            measured="errors of RV over theirs: "
            + "; ".join(
                f"{kind.name} " + ", ".join(f"{value:.2f} at {step:.1e}" for step, value in zip(steps[small], ratio[small]))
                for kind, ratio in ratios.items()
            ),
            met=bool(np.any([np.all([ratio[i] < 1 for ratio in ratios.values()]) for i in np.flatnonzero(small)])),
            note="RV and Rxyz are on their lines of second order, EP down to 3e-5; below, its round-off shows, which grows as the step "
            "falls (a tighter Newton tolerance changes nothing)",
        )
    else:
        page.not_examined(["small"], "needs smaller steps, left out in the quick version")
    page.order("order", steps[large], {kind.name: values.error[large] for kind, values in runs.items()}, 2)
    note_tolerances(page, steps, {"": runs})
    page.note(STEPS_NOTE)


def means(runs: Mapping[Kind, Series], quantity: str) -> dict[Kind, float]:
    """Geometric mean over the steps of a quantity, relative to that of Rxyz."""
    ratio = {kind: getattr(values, quantity) / getattr(runs[RXYZ], quantity) for kind, values in runs.items()}
    return {kind: float(np.exp(np.nanmean(np.log(values)))) for kind, values in ratio.items() if kind is not RXYZ}


@figure(
    "evaluation-fig17",
    title="Slider-crank: Newton iterations and CPU time",
    source="Figure 17",
    claims={
        "newton": "Rxyz needs fewer Newton iterations per step than the Lie group method and Euler parameters",
        "seconds": "Rxyz needs on average the least CPU time",
    },
    reasons={
        "newton": "with the tangent operator in the matrix all three need the same number. Without it, as the paper works, RV needs 1.35 "
        "times as many as Rxyz, as stated; Euler parameters need as many as Rxyz, since their matrix has all derivatives here.",
        "seconds": "a step of Rxyz takes longer here (RV 0.61, EP 0.69 times its CPU time), since its rates and forces are "
        "converted, while joints and linear solutions are shared.",
    },
)
def fig17(page: Page) -> None:
    steps = steps_of(page)
    runs = table(page, steps)
    counted = steps[:10]  # the smallest three take minutes, and one iteration
    counts = table(page, counted, f"{FULL},{COMPARABLE}")
    without = table(page, counted, f"{SIMPLE},{COMPARABLE}", [RV])
    _, (left, right) = two_panels(page)
    draw(left, counted, counts, "newton", "Newton iterations per step", log=False)
    left.semilogx(counted, without[RV].newton, "--", marker=".", color=f"C{RV.color}", label="RV without T")
    left.legend()
    draw(right, steps, runs, "seconds", "CPU time / s")
    write(page, "seconds", steps, runs)
    write(page, "newton", counted, counts)
    write(page, "without-T", counted, without)
    more = means({RXYZ: counts[RXYZ]} | without, "newton")[RV]
    for key, found in (("newton", counts), ("seconds", runs)):
        ratios = means(found, key)
        page.judge(
            key,
            stated=f"{'fewer' if key == 'newton' else 'the least on average'} (here: the others at least {MARGINS[key]:g} times)",
            measured=", ".join(f"{kind.name} {ratio:.3f} times that of Rxyz" for kind, ratio in ratios.items()),
            met=all(ratio > MARGINS[key] for ratio in ratios.values()),
            note="geometric means over the steps"
            + (f"; RV without the tangent operator in the matrix, as the paper works: {more:.2f} times" if key == "newton" else ""),
        )
    note_tolerances(page, steps, {"": runs})
    page.note(COMPARABLE_NOTE.format("1e-8"))
    page.note(TIME_NOTE)

"""What the figures of the evaluation paper share: tables, plots, verdicts and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from liedyn_reproduce.evaluation.runs import EP, RV, RXYZ, TOLERANCES, Kind, Series, in_words, lost_at
from liedyn_reproduce.figure import Page


def write(page: Page, name: str, steps: Sequence[float], table: Mapping[Kind, Series]) -> None:
    columns: dict[str, Iterable] = {"h": list(steps)}
    for kind, values in table.items():
        columns |= {
            f"{kind.name}.error": values.error,
            f"{kind.name}.newton": values.newton,
            f"{kind.name}.seconds": values.seconds,
            f"{kind.name}.newton_tol": values.tolerance,
        }
    page.table(name, columns)


def draw(
    ax: plt.Axes,
    steps: Sequence[float],
    table: Mapping[Kind, Series],
    quantity: str,
    ylabel: str,
    *,
    against: str = "",
    title: str = "",
    log: bool = True,
) -> None:
    for kind, values in table.items():
        x = getattr(values, against) if against else steps
        ax.plot(x, getattr(values, quantity), marker=kind.marker, markersize=4, color=f"C{kind.color}", label=kind.name)
    ax.set_xscale("log")
    if log:
        ax.set_yscale("log")
    ax.margins(x=0.05)
    ax.set(xlabel="error / m" if against else "step h / s", ylabel=ylabel, title=title)
    ax.legend()


def judge_accuracy(page: Page, key: str, table: Mapping[Kind, Series], note: str = "") -> None:
    """Euler parameters are more accurate than the Lie group method wherever both have a solution."""
    ratio = table[RV].error / table[EP].error
    both = np.isfinite(ratio)
    if not both.any():
        page.not_examined([key], "RV and EP have no common step with a solution")
        return
    page.judge(
        key,
        stated="EP more accurate",
        measured=f"{np.min(ratio[both]):.2f} to {np.max(ratio[both]):.2f} times smaller errors at the {both.sum()} of "
        f"{len(both)} steps where both have a solution",
        met=bool(np.all(ratio[both] > 1)),
        note=note,
    )


MARGINS = {"newton": 1.01, "seconds": 1.05}
"""How many times larger a mean has to be to count as larger: iterations are counted, times vary from run to run."""


def judge_mean(
    page: Page,
    key: str,
    tables: Mapping[str, Mapping[Kind, Series]],
    quantity: str,
    note: str = "",
    *,
    stated: str = "lower for RV",
    margin: float | None = None,
) -> None:
    """The Lie group method is lower on average: geometric mean of the ratio over the steps that both do at 1e-8."""
    margin = MARGINS[quantity] if margin is None else margin
    parts, met, compared = [], True, False
    for name, table in tables.items():
        for other in (EP, RXYZ):
            both = table[other].comparable & table[RV].comparable
            if not both.any():
                parts.append(f"{name}{other.name}: no common step")
                continue
            ratio = getattr(table[other], quantity)[both] / getattr(table[RV], quantity)[both]
            mean = float(np.exp(np.mean(np.log(ratio))))
            parts.append(f"{name}{other.name}: {mean:.2f} times that of RV ({len(ratio)} common steps)")
            met, compared = met and mean > margin, True
    if compared:
        text = f"{stated} (here: the others at least {margin:g} times as much)"
        page.judge(key, stated=text, measured=", ".join(parts), met=met, note=note)
    else:
        page.not_examined([key], "no step at which RV and another formulation both hold the tolerance 1e-8")


def judge_large_steps(
    page: Page,
    key: str,
    steps: Sequence[float],
    table: Mapping[Kind, Series],
    able: Sequence[Kind],
    unable: Sequence[Kind],
) -> None:
    page.judge(
        key,
        stated=f"{' and '.join(k.name for k in able)} at every step, {' and '.join(k.name for k in unable)} not at the "
        "largest",
        measured="lost: " + "; ".join(f"{kind.name} at {in_words(lost_at(steps, table[kind]))}" for kind in table),
        met=not any(lost_at(steps, table[kind]) for kind in able)
        and all(steps[0] in lost_at(steps, table[kind]) for kind in unable),
        note="lost: Newton's method fails, or the spin is off by more than 10 %",
    )


def note_tolerances(page: Page, steps: Sequence[float], tables: Mapping[str, Mapping[Kind, Series]]) -> None:
    """Says which runs could not hold the papers' tolerance; failed runs were tried with all of them."""
    for name, table in tables.items():
        for kind, values in table.items():
            looser = [
                f"{step:.3g} ({tolerance})"
                for step, tolerance, run in zip(steps, values.tolerance, values.runs)
                if not run.lost and not run.comparable
            ]
            never = [step for step, run in zip(steps, values.runs) if run.stagnated]
            if looser:
                page.note(
                    f"{name}{kind.name}: Newton's method does not come down to the tolerance 1e-8 in every step, for "
                    f"round-off; a looser one was taken at h = {', '.join(looser)}"
                )
            if never:
                page.note(
                    f"{name}{kind.name}: round-off stops Newton's method above every tolerance up to {TOLERANCES[-1]} "
                    f"at h = {in_words(never)}: no failure of the method, but of the stopping rule"
                )


STEPS_NOTE = (
    "the text prints the steps 1e-4 2^(1-n), n = 1...8, which does not go with the paper's tables and reference; here "
    "the steps of its Table {}"
)
TIME_NOTE = (
    "times of the steps alone, without reading the model; the best of up to five runs; other work on the machine shows"
)
ROTOR_NOTE = "steps as printed; reference: inertial-frame velocities, sigma = opt, h = 1e-5 and 5e-6 extrapolated to zero"


def two_panels(page: Page) -> tuple[plt.Figure, Sequence[plt.Axes]]:
    return page.plot(1, 2, figsize=(9, 3.6))


COUNTS_WITHIN = 0.1
"""Share of a printed count within which ours is the same, either way."""


def judge_counts(
    page: Page, key: str, steps: Sequence[float], stated: Sequence[float], values: Series, note: str = ""
) -> None:
    """As many iterations as the paper prints, at every step that it prints a number for."""
    stated = np.asarray(stated[: len(steps)])
    printed = np.isfinite(stated)
    if not printed.any():
        page.not_examined([key], "no number printed for these steps")
        return
    text = ", ".join(
        "lost" if run.lost else f"{run.newton:.2f}{'' if run.comparable else '*'}" for run in values.runs
    )
    with np.errstate(invalid="ignore"):
        met = bool(np.all((np.abs(values.newton / stated - 1) <= COUNTS_WITHIN)[printed] & values.comparable[printed]))
    page.judge(
        key,
        stated=", ".join(f"{value:g}" if np.isfinite(value) else "-" for value in stated)
        + f" (here: within {COUNTS_WITHIN:.0%})",
        measured=text + ("; *: with a looser tolerance than 1e-8, which does not count" if "*" in text else ""),
        met=met,
        note=note,
    )


def judge_gaps(page: Page, key: str, steps: Sequence[float], stated: Sequence[float], values: Series) -> None:
    """The dashes of a table: steps at which the paper's method has no solution. There, and only there."""
    theirs = [step for step, value in zip(steps, stated) if np.isnan(value)]
    ours = lost_at(steps, values)
    page.judge(
        key,
        stated=f"no solution at {in_words(theirs)}, and only there",
        measured=f"lost at {in_words(ours)}",
        met=theirs == ours,
    )


WITHOUT_T = "without the tangent operator in the matrix, as the paper works throughout"
SIMPLIFIED_NOTE = (
    "without constraints the unknowns of the simplified matrix are the increments of the accelerations, so that, as in "
    "(40), the operators are missing beside the stiffness only"
)


def counts_figure(
    page: Page,
    steps: Sequence[float],
    stated: Mapping[Kind, Sequence[float]],
    table: Mapping[Kind, Series],
    simplified: Series,
) -> None:
    _, ax = page.plot()
    for kind, values in table.items():
        ax.semilogx(
            steps, values.newton, marker=kind.marker, markersize=5, color=f"C{kind.color}", label=kind.name
        )
        ax.semilogx(
            steps, stated[kind][: len(steps)], ":", marker=kind.marker, markerfacecolor="none", color=f"C{kind.color}",
            label=f"{kind.name}, paper",
        )
    ax.semilogx(steps, simplified.newton, "--", color="C0", marker=".", label="RV without T")
    ax.set(xlabel="step h / s", ylabel="Newton iterations per step")
    highest = max(np.nanmax(values.newton) for values in table.values() if np.isfinite(values.newton).any())
    ax.set_ylim(0, 1.8 * max(3.0, float(highest)))
    ax.legend(ncols=2)
    columns: dict[str, Iterable] = {"h": list(steps)}
    for kind, values in table.items():
        columns |= {
            f"{kind.name}.paper": stated[kind][: len(steps)],
            f"{kind.name}.newton": values.newton,
            f"{kind.name}.newton_tol": values.tolerance,
        }
    page.table("", columns | {"RV.without_T": simplified.newton})

"""The heavy top: Section 7.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from liedyn_reproduce import heavy_top as top
from liedyn_reproduce.figure import Page, figure, slope
from liedyn_reproduce.sigma.methods import (
    AUTHORS, CARDAN, EULER, EXACT, EXACT_1, LIE, MARGIN, PRINTED, PRINTED_NOTE, QUANTITIES, SIGMA_1, STEPS_NOTE, Method,
    conventional, convergence_table, draw_convergence, gains, in_words, judge_conventional, judge_gains, steps_of, top_errors,
    top_run,
)  # fmt: skip


@figure(
    "sigma-fig2",
    title="Heavy top: position and velocity of the centre of mass",
    source="Figure 2",
    claims={
        "position": "at t = 1 s the position deviates by about 1e-5 m from the reference",
        "velocity": "the velocity by about 1e-5 m/s",
        "index2": "index 2 gives similar results",
    },
    reasons={
        "position": "at h = 2.5e-5, the step of the paper's reference, the position is off by 8e-7 m, the velocity by 8e-6 m/s, in a motion "
        "whose velocities are about 5 times its positions. The paper's number holds the error of the other program, which is not known.",
        "index2": "3.2e-6 m and 2.7e-5 m/s: 3.9 and 3.2 times those of index 3, in which the error of the algorithm as printed nearly "
        "cancels (geom1: 3.4e-6 m in index 3, 4.1e-6 m in index 2).",
    },
)
def fig2(page: Page) -> None:
    step = 2.5e-4 if page.quick else 2.5e-5
    exact = top.reference()
    runs = {index: top.simulate("r3so3", SIGMA_1.integrator(rho=0.9, index=index), step) for index in ("3", "2")}
    run = runs["3"]
    _, axes = page.plot(1, 2)
    near = exact.time <= 1
    for ax, name, label in zip(axes, ("position", "velocity"), ("position / m", "velocity / (m/s)")):
        for i, symbol in enumerate("xyz"):
            ax.plot(exact.time[near], getattr(exact, name)[near, i], color="0.6", linewidth=3)
            ax.plot(run.time, getattr(run, name)[:, i], label=symbol)
        ax.set(xlabel="time t / s", ylabel=label)
    if EULER.available:
        other = top.simulate(EULER.formulation, EULER.integrator(rho=0.9), 1e-3, end=0.8)
        for ax, name in zip(axes, ("position", "velocity")):
            for i in range(3):
                ax.plot(other.time, getattr(other, name)[:, i], "k:", linewidth=1, label="EP" if i == 0 else None)
    axes[0].legend(ncols=4)
    thinned = slice(None, None, 1 if page.quick else 10)
    page.table(
        "",
        {"t": run.time[thinned]}
        | {f"x[{i}]": run.position[thinned, i] for i in range(3)}
        | {f"u[{i}]": run.velocity[thinned, i] for i in range(3)},
    )
    deviation = {
        index: [float(np.abs(getattr(r, n)[-1] - getattr(exact, n)[-1]).max()) for n in ("position", "velocity")]
        for index, r in runs.items()
    }
    for key, value, unit in zip(("position", "velocity"), deviation["3"], ("m", "m/s")):
        page.judge(
            key,
            stated=f"about 1e-5 {unit} (here: within a factor of 3)",
            measured=f"{value:.1e} {unit}",
            met=1e-5 / 3 <= value <= 3e-5,
            note="the paper compares with another program, whose own error is in its number",
        )
    page.judge(
        "index2",
        stated="similar (here: within a factor of 3 of index 3)",
        measured=f"{deviation['2'][0]:.1e} m, {deviation['2'][1]:.1e} m/s",
        met=all(1 / 3 <= second / third <= 3 for second, third in zip(deviation["2"], deviation["3"])),
    )
    page.note(
        f"the paper does not print the step of this figure; here h = {step:g}, the step of its reference, with "
        "Algorithm 1 and rho = 0.9; grey: the top without constraints, extrapolated"
    )


def judge_exact(page: Page, tables: Mapping[str, Mapping[Method, np.ndarray]], columns: Sequence[int]) -> None:
    found = {
        f"{name}, {title}": gain
        for index, title in (("3", "index 3"), ("stabilized", "stabilised"))
        for name, gain in gains(tables[index], EXACT, columns).items()
    }
    met = all(gain > MARGIN for gain in found.values())
    page.judge("exact", stated="more accurate than geom1", measured=in_words(found), met=met)


@figure(
    "sigma-fig3",
    title="Heavy top: convergence of q and v",
    source="Figure 3",
    claims={
        "order": "all Lie group methods are of second order in q and v",
        "index3": "index 3: both sigma-modified methods are more accurate than geom1",
        "stabilized": "stabilised index 2: both sigma-modified methods are more accurate than geom1",
        "index2": "index 2 (not drawn): an improvement similar to that of index 3",
        "ep": "index 3: both outperform the Euler parameters",
        "ctb": "index 3: both outperform the Cardan angles",
        "ctb-fails": "the Cardan angles fail at the three largest steps",
    },
    checks={
        "exact": "so they are with the relation for theta solved exactly",
    },
    reasons={
        "index2": "with the authors' predictor sigma = 1 gains 3.1 in index 2 and 8.6 in index 3, sigma = gamma/(3 beta) 4.2 "
        "and 2.4 (as printed 1.4 and 5.8, 5.3 and 3.9; solved exactly 4.2 and 2.4, 2.0 and 1.6): an improvement in "
        "both, but not the same one. In index 3 the trace that the predictor leaves in the error nearly cancels that "
        "of geom1.",
        "ctb-fails": "they fail at the four largest of six steps, from 1.6e-4 up; the paper's steps are not printed. The "
        "tolerances of the evaluation paper are tried down to 1e-4 before a run counts as failed.",
    },
)
def fig3(page: Page) -> None:
    steps = steps_of(page)
    tables = {index: top_errors(LIE, index, steps) for index in ("3", "stabilized", "2")}
    tables["3"] |= top_errors(conventional(), "3", steps)
    drawn = {index: tables[index] for index in ("3", "stabilized")}
    titles = {"3": "index 3, ρ = 0.65", "stabilized": "stabilised index 2, ρ = 1"}
    draw_convergence(page, steps, drawn, {0: "relative error of q", 1: "relative error of v"}, titles)
    convergence_table(page, steps, tables, QUANTITIES)
    page.note(STEPS_NOTE)
    page.note(PRINTED_NOTE)

    series = {
        f"{method.name} {index} {QUANTITIES[i]}": tables[index][method][:, i]
        for index in drawn
        for method in LIE
        for i in (0, 1)
    }
    slopes = {name: slope(steps, values) for name, values in series.items()}
    low, high = min(slopes.values()), max(slopes.values())
    page.judge("order", stated="slope 2", measured=f"{low:.2f} to {high:.2f}", met=low > 1.8 and high < 2.2)
    for key, index in (("index3", "3"), ("stabilized", "stabilized")):
        judge_gains(page, key, tables[index], AUTHORS, (0, 1))
    judge_exact(page, tables, (0, 1))
    second, third = (gains(tables[index], AUTHORS, (0,)) for index in ("2", "3"))
    page.judge(
        "index2",
        stated="similar (here: the gain in q within a factor of 2 of that of index 3)",
        measured=", ".join(f"{name}: {second[name]:.2f} times (index 3: {third[name]:.2f})" for name in second),
        met=all(0.5 < second[name] / third[name] < 2 for name in second),
        note=in_words(gains(tables["2"], (*PRINTED, *EXACT), (0,))),
    )
    judge_conventional(page, "ep", EULER, tables["3"], [0, 1])
    judge_conventional(page, "ctb", CARDAN, tables["3"], [0, 1])
    if CARDAN in tables["3"]:
        failed = [step for step, row in zip(steps, tables["3"][CARDAN]) if not np.isfinite(row[0])]
        text = ", ".join(f"{step:g}" for step in failed) or "no step"
        page.judge(
            "ctb-fails",
            stated="three largest steps",
            measured=f"fails at {text}",
            met=failed == list(steps[:3]),
            note="the steps here need not be the paper's",
        )
    else:
        page.not_examined(["ctb-fails"], f"the formulation {CARDAN.formulation} is not available")


@figure(
    "sigma-fig4",
    title="Heavy top: convergence of the Lagrange multipliers",
    source="Figure 4",
    claims={
        "index3": "index 3: both sigma-modified methods are more accurate than geom1",
        "stabilized": "stabilised index 2: both sigma-modified methods are more accurate than geom1",
        "transient": "(Section 5) with plain starting values a first-order term is left in index 3, damped rapidly",
        "ep": "index 3: both outperform the Euler parameters",
        "ctb": "index 3: both outperform the Cardan angles",
    },
    checks={
        "exact": "so they are with the relation for theta solved exactly",
    },
)
def fig4(page: Page) -> None:
    steps = steps_of(page)
    tables = {index: top_errors(LIE, index, steps) for index in ("3", "stabilized")}
    tables["3"] |= top_errors(conventional(), "3", steps)
    titles = {"3": "index 3, ρ = 0.65", "stabilized": "stabilised index 2, ρ = 1"}
    draw_convergence(page, steps, tables, {2: "relative error of λ"}, titles)
    convergence_table(page, steps, tables, QUANTITIES)
    page.note(STEPS_NOTE)
    page.note(PRINTED_NOTE)
    for key, index in (("index3", "3"), ("stabilized", "stabilized")):
        judge_gains(page, key, tables[index], AUTHORS, (2,))
    judge_exact(page, tables, (2,))
    exact = top.reference()
    run = top_run(EXACT_1, "3", steps[-1])
    late = top.relative_errors(exact, run, begin=0.5)[2]
    whole = tables["3"][EXACT_1][:, 2]
    order = float(np.log2(whole[-2] / whole[-1]))
    page.judge(
        "transient",
        stated="first order, then second",
        measured=f"geom1-σ₁ exact: slope {order:.2f} on [0, 1]; on [0.5, 1] the error is {late / whole[-1]:.2%} of it",
        met=abs(order - 1) < 0.2 and late < 0.2 * whole[-1],
    )
    judge_conventional(page, "ep", EULER, tables["3"], [2])
    judge_conventional(page, "ctb", CARDAN, tables["3"], [2])

"""What a `fixed` joint at a node of a beam costs: the rotating shaft with its disk on the node and on a joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liedyn_reproduce.astable.flexible import HUB, REFERENCE_STEP, SHAFT, SHAFT_STEPS, Example, relative_error, simulate
from liedyn_reproduce.astable.squeezer import ALL, NAMES, SECOND, Case, of, solutions
from liedyn_reproduce.figure import Page, figure, in_parallel, slope, slope_line

QUANTITIES = {"u": "position", "v": "velocity", "a": "acceleration"}
END = 0.5
"""In s: the run-up to 0.8 times the critical speed."""
HIGH = of(("mssth3", "mssth4", "mssth5"), 0.0) + of(("esdirk3-4", "esdirk3-5", "esdirk4-6"), None)


def errors(example: Example, cases: Sequence[Case], steps: Sequence[float], end: float) -> dict[tuple[Case, str], np.ndarray]:
    """Eq. (26) of the A-stable paper, against the shaft without a joint."""
    exact = simulate(SHAFT, "esdirk4-6,coordinates=cayley", REFERENCE_STEP, end, 5)

    def one(job: tuple[Case, float]) -> dict[str, float]:
        case, step = job
        n = solutions(case.method)
        run = simulate(example, case.integrator + example.options, n * step, end, n)
        return {key: relative_error(run, exact, name) for key, name in QUANTITIES.items()}

    jobs = [(case, step) for case in cases for step in steps]
    found = dict(zip(jobs, in_parallel(one, jobs)))
    return {(case, key): np.array([found[case, step][key] for step in steps]) for case in cases for key in QUANTITIES}


@figure(
    "study-hub",
    title="Rotating shaft: orders of convergence with the disk on its node, and on a fixed joint",
    source="rotating_shaft, t up to 0.5 s",
    claims={},
    checks={
        "node": "without a joint methods of third and fourth order have order 3 or more in u, v and a",
        "joint": "a fixed joint at the node leaves methods of higher order about 2 in v and about 1 in a",
        "second": "methods of second order keep theirs in u and v",
    },
)
def hub(page: Page) -> None:
    steps = SHAFT_STEPS[:2] if page.quick else SHAFT_STEPS
    end = SHAFT.quick_end if page.quick else END
    tables = {name: errors(example, ALL, steps, end) for name, example in (("node", SHAFT), ("joint", HUB))}
    _, axes = page.plot(2, 3, figsize=(13, 8))
    for row, (name, table) in zip(axes, tables.items()):
        for ax, key in zip(row, QUANTITIES):
            for case in HIGH:
                ax.loglog(steps, table[case, key], "o-", markersize=3, linewidth=0.9, label=NAMES[case.method])
            for order in (2, 4):
                slope_line(ax, steps, float(np.median([table[case, key][-1] for case in HIGH])), order)
            ax.set(xlabel="h/n / s", ylabel=f"relative error of {key}", title=f"disk on {'its node' if name == 'node' else 'a fixed joint'}")
    axes[0, 0].legend(fontsize=6)
    slopes = {(name, case, key): slope(steps, table[case, key]) for name, table in tables.items() for case in ALL for key in QUANTITIES}
    page.table(
        "",
        {"method": [case.label for case in ALL]}
        | {f"{name} {key}: order": [slopes[name, case, key] for case in ALL] for name in tables for key in QUANTITIES}
        | {
            f"{name} {key}: error at {step:g}": [float(tables[name][case, key][i]) for case in ALL]
            for name in tables
            for key in QUANTITIES
            for i, step in ((0, steps[0]), (len(steps) - 1, steps[-1]))
        },
    )

    def span(name: str, key: str, cases: Sequence[Case]) -> tuple[float, float]:
        values = [slopes[name, case, key] for case in cases]
        return min(values), max(values)

    def shown(name: str, cases: Sequence[Case]) -> str:
        return ", ".join(f"{key} {low:.2f} to {high:.2f}" for key in QUANTITIES for low, high in [span(name, key, cases)])

    regular = [case for case in HIGH if case.method != "mssth5"]
    page.judge("node", stated="at least 2.6", measured=shown("node", regular), met=all(span("node", key, regular)[0] > 2.6 for key in QUANTITIES))
    page.judge(
        "joint", stated="v 1.8 to 2.7, a 0.6 to 1.4", measured=shown("joint", HIGH),
        met=1.8 < span("joint", "v", HIGH)[0] and span("joint", "v", HIGH)[1] < 2.7 and 0.6 < span("joint", "a", HIGH)[0] and span("joint", "a", HIGH)[1] < 1.4,
    )  # fmt: skip
    second = [case for case in ALL if case.method in SECOND]
    page.judge(
        "second", stated="1.7 to 2.3", measured=f"node: {shown('node', second)}; joint: {shown('joint', second)}",
        met=all(1.7 < span(name, key, second)[0] and span(name, key, second)[1] < 2.3 for name in tables for key in "uv"),
    )  # fmt: skip
    page.note(f"errors by Eq. (26) of the A-stable paper against ESDIRK4(3)6L[2]SA₂ with h = {REFERENCE_STEP:g} and the disk on its node")
    SHAFT.note_on_newton(page)

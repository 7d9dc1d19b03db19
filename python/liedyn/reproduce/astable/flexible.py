"""Flexible mechanisms: the four-bar mechanism, lateral buckling and the rotating shaft, Sections 5.2 to 5.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn.reproduce.astable.linear import HIGHER_ORDER, PAIRS
from liedyn.reproduce.astable.squeezer import ALL, NAMES, ROWS, SECOND, SINGLE, STEPS, Case, named, of, solutions
from liedyn.reproduce.figure import Page, figure, in_parallel, interpolated, slope, slope_line


@dataclass(frozen=True)
class Run:
    """Of one method; of a run that failed, what there is of it."""

    time: np.ndarray
    values: Mapping[str, np.ndarray]
    completed: bool
    failure: str
    iterations: float
    """Per step or sub-step."""

    def within(self, name: str, begin: float, end: float = np.inf) -> np.ndarray:
        return self.values[name][(self.time >= begin) & (self.time <= end)]


@dataclass(frozen=True)
class Example:
    """A model, and what its figures show: names of sensors with the component, or None for scalars."""

    model: str
    sensors: tuple[tuple[str, int | None], ...]
    end: float
    quick_end: float
    shown_from: float = 0.0

    def until(self, page: Page) -> float:
        return self.quick_end if page.quick else self.end


FOUR_BAR = Example("four_bar_flexible", (("theta", None), ("omega1", None)), end=12, quick_end=-18)
BUCKLING = Example("lateral_buckling", (("theta", None), ("omega1", None), ("shear", None)), end=0.8, quick_end=0.05)
SHAFT = Example("rotating_shaft", (("position", 2), ("velocity", 2), ("acceleration", 2)), end=2.5, quick_end=0.05)
FOUR_BAR_STEPS, BUCKLING_STEPS, SHAFT_STEPS = (4e-3, 1e-3), (1e-3, 5e-4), (1e-3, 5e-4, 2e-4, 1e-4)
"""h/n: the step for each of the n solutions of a stage. The second one of the buckling beam, and those of the shaft below the first, are our choice."""


@lru_cache(maxsize=None)
def compiled(model: str) -> ld.Model:
    return ld.Model(model)


@lru_cache(maxsize=None)
def simulate(example: Example, integrator: str, step: float, end: float, every: int, n: int) -> Run:
    result = compiled(example.model).run(integrator=integrator, step=step, end=end, output_every=every)
    summary = result.summary
    values = {
        name: result[name] if component is None else result[name][:, component]
        for name, component in example.sensors
    }
    return Run(
        result.time, values, result.completed, result.failure or "",
        summary["newton_iterations"] / (n * max(summary["steps"], 1)),
    )  # fmt: skip


def runs(example: Example, per_solution: float, page: Page) -> dict[Case, Run]:
    def one(case: Case) -> Run:
        n = solutions(case.method)
        return simulate(example, case.integrator, n * per_solution, example.until(page), 1, n)

    return dict(zip(ALL, in_parallel(one, ALL)))


def reference(example: Example, step: float, page: Page) -> Run:
    return simulate(example, "esdirk4-6", step, example.until(page), 1, 5)


def deviation(one: Run, exact: Run, name: str, begin: float, end: float = np.inf) -> float:
    """Largest difference to the reference, relative to its largest value in the same time."""
    chosen = (one.time >= begin) & (one.time <= end)
    if not chosen.any():
        return float("nan")
    wanted = interpolated(exact.time, exact.values[name], one.time[chosen])
    return float(np.abs(one.values[name][chosen] - wanted).max() / np.abs(wanted).max())


def draw(page: Page, example: Example, table: Mapping[Case, Run], name: str, label: str, begin: float) -> None:
    _, axes = page.plot(1, 3, figsize=(13, 4.6))
    for ax, (title, cases) in zip(axes, ROWS.items()):
        for number, case in enumerate(cases):
            one = table[case]
            shown = one.time >= begin
            ax.plot(
                one.time[shown], one.values[name][shown], "-" if number < 6 else "--", linewidth=0.9,
                label=NAMES[case.method] + ("" if one.completed else " (fails)"),
            )  # fmt: skip
        ax.set(xlabel="t / s", ylabel=label, title=title)
        ax.legend(fontsize=6, ncols=2)


def write(page: Page, table: Mapping[Case, Run], more: Mapping[str, Sequence[float]]) -> None:
    page.table(
        "",
        {
            "method": [case.label for case in table],
            "completed": ["yes" if one.completed else "no" for one in table.values()],
            "reached": [float(one.time[-1]) for one in table.values()],
            "iterations": [one.iterations for one in table.values()],
        }
        | dict(more),
    )


def judge_failures(page: Page, key: str, table: Mapping[Case, Run], stated: Sequence[Case]) -> None:
    failed = [case for case, one in table.items() if not one.completed]
    page.judge(
        key,
        stated=", ".join(case.label for case in stated),
        measured=", ".join(f"{case.label} at t = {table[case].time[-1]:.3g}" for case in failed) or "none fails",
        met=set(failed) == set(stated),
    )


def begin_of(example: Example, page: Page) -> float:
    return -np.inf if page.quick else example.shown_from


# ---- the four-bar mechanism

FOUR_BAR_NOTE = (
    "five three-node elements per bar, geometrically exact with consistent stiffness; the paper's elements are finite volumes. The drive starts "
    "by a ramp of 1 s, 2 T + 0.5 s before t = 0"
)


@figure(
    "astable-fig14",
    title="Flexible four-bar mechanism, h/n = 4e-3: rotation at C",
    source="Figure 14",
    claims={"agree": "the rotation angles of all methods agree very well"},
    checks={"complete": "all methods reach the end"},
)
def fig14(page: Page) -> None:
    begin = begin_of(FOUR_BAR, page)
    table, exact = runs(FOUR_BAR, FOUR_BAR_STEPS[0], page), reference(FOUR_BAR, 2e-3, page)
    draw(page, FOUR_BAR, table, "theta", "θ / rad", begin)
    off = {case: deviation(one, exact, "theta", begin) for case, one in table.items()}
    write(page, table, {"deviation": list(off.values())})
    worst = dict(sorted(off.items(), key=lambda item: -item[1])[:3])
    page.judge(
        "agree",
        stated="very well (here: within 2 % of the largest angle of ESDIRK4(3)6L[2]SA₂ with h = 2e-3)",
        measured="the largest differences: " + named(worst, ".2%"),
        met=max(off.values()) < 0.02,
    )
    judge_all_complete(page, table)
    page.note(FOUR_BAR_NOTE)


def judge_all_complete(page: Page, table: Mapping[Case, Run]) -> None:
    failed = [case.label for case, one in table.items() if not one.completed]
    page.judge("complete", stated="all", measured=f"not {', '.join(failed)}" if failed else "all", met=not failed)


def oscillation(one: Run, name: str, begin: float) -> float:
    """Root mean square of what is faster than 0.1 s: the difference to the mean over that time."""
    values = one.within(name, begin)
    width = max(3, round(0.1 / float(np.diff(one.time).mean())) | 1)
    if len(values) <= width:
        return float("nan")
    smooth = np.convolve(values, np.full(width, 1 / width), mode="valid")
    inner = values[width // 2 : len(values) - width // 2]
    return float(np.sqrt(np.mean((inner - smooth) ** 2)))


@figure(
    "astable-fig15",
    title="Flexible four-bar mechanism, h/n = 4e-3: angular velocity at C",
    source="Figure 15",
    claims={"rho": "oscillations are more pronounced with the larger rho"},
)
def fig15(page: Page) -> None:
    begin = begin_of(FOUR_BAR, page)
    table = runs(FOUR_BAR, FOUR_BAR_STEPS[0], page)
    draw(page, FOUR_BAR, table, "omega1", "ω₁ / (rad/s)", begin)
    size = {case: oscillation(one, "omega1", begin) for case, one in table.items()}
    write(page, table, {"oscillation": list(size.values())})
    judge_rho(page, size)
    page.note(OSCILLATION_NOTE)
    page.note(FOUR_BAR_NOTE)


OSCILLATION_NOTE = "oscillation: root mean square of the difference to the moving average over 0.1 s"


def judge_rho(page: Page, size: Mapping[Case, float]) -> None:
    ratio = {method: size[Case(method, 0.6)] / size[Case(method, 0.0)] for method in SECOND}
    page.judge(
        "rho",
        stated="more with 0.6 than with 0",
        measured=", ".join(f"{NAMES[method]} {value:.2f} times" for method, value in ratio.items()),
        met=min(ratio.values()) > 1,
    )


@figure(
    "astable-fig16",
    title="Flexible four-bar mechanism, h/n = 1e-3: angular velocity at C",
    source="Figure 16",
    claims={
        "step": "oscillations are more pronounced with the smaller step",
        "rho": "oscillations are more pronounced with the larger rho",
        "most": "LMS4 and SS4 with rho = 0.6 have the most significant ones",
    },
)
def fig16(page: Page) -> None:
    begin = begin_of(FOUR_BAR, page)
    large, small = (runs(FOUR_BAR, step, page) for step in FOUR_BAR_STEPS)
    draw(page, FOUR_BAR, small, "omega1", "ω₁ / (rad/s)", begin)
    size = {case: oscillation(one, "omega1", begin) for case, one in small.items()}
    before = {case: oscillation(one, "omega1", begin) for case, one in large.items()}
    write(page, small, {"oscillation": list(size.values()), "oscillation_at_4e-3": list(before.values())})
    ratio = {case: size[case] / before[case] for case in ALL}
    page.judge(
        "step",
        stated="more with 1e-3 than with 4e-3",
        measured=f"{min(ratio.values()):.2f} to {max(ratio.values()):.2f} times; not more: "
        + (", ".join(case.label for case in ALL if not ratio[case] > 1) or "none"),
        met=min(ratio.values()) > 1,
    )
    judge_rho(page, size)
    most = sorted(size, key=lambda case: -size[case])[:4]
    page.judge(
        "most",
        stated="the two largest",
        measured="the largest: " + named({case: size[case] for case in most}, ".3g"),
        met=set(most[:2]) == set(of(("lms4", "ss4"), 0.6)),
    )
    page.note(OSCILLATION_NOTE)
    page.note(FOUR_BAR_NOTE)


# ---- lateral buckling

DECAYING = of(("lms2", "ss2"), 0.0) + of(("mssth3", "mssth4"), 0.0) + of(("esdirk3-4",), None)
NOT_COMPLETED = of(("mssth5",), 0.0) + of(("esdirk3-5",), None)


def buckling(page: Page, name: str, label: str) -> None:
    table, exact = runs(BUCKLING, BUCKLING_STEPS[0], page), reference(BUCKLING, 5e-4, page)
    draw(page, BUCKLING, table, name, label, 0)
    driven = 0.04 if page.quick else 0.4
    off = {
        case: deviation(one, exact, name, 0, driven) if one.completed else float("nan") for case, one in table.items()
    }
    free = driven if page.quick else 0.6
    size = {case: float(np.std(one.within(name, free))) if one.completed else float("nan") for case, one in table.items()}
    write(page, table, {"deviation_while_driven": list(off.values()), "late_amplitude": list(size.values())})
    known = {case: value for case, value in off.items() if np.isfinite(value)}
    worst = dict(sorted(known.items(), key=lambda item: -item[1])[:4])
    page.judge(
        "overlap",
        stated="almost overlap up to 0.4 s (here: within 10 % of the largest value of ESDIRK4(3)6L[2]SA₂ with h = 5e-4)",
        measured=f"{sum(value < 0.1 for value in known.values())} of {len(known)} that complete; the largest differences: "
        + named(worst, ".1%"),
        met=max(known.values()) < 0.1,
    )
    others = [value for case, value in size.items() if case not in DECAYING and np.isfinite(value)]
    usual = float(np.median(others)) if others else float("nan")
    parts = {case: size[case] / usual for case in DECAYING}
    page.judge(
        "decay",
        stated="significant (here: below 0.7 of the median of the others, standard deviation from 0.6 s on)",
        measured=named(parts, ".2f"),
        met=max(parts.values()) < 0.7,
    )
    page.note("elements as in the paper (5 in the beam, 1 in link and crank), geometrically exact; the beam snaps, and what follows depends on the path up to there")


BUCKLING_CLAIMS = {
    "overlap": "the solutions almost overlap up to 0.4 s",
    "decay": "LMS2 and SS2 with rho = 0, MSSTH(3, 4) and ESDIRK3(2)4L[2]SA show a significant decay of the free oscillations",
}


@figure(
    "astable-fig18",
    title="Lateral buckling, h/n = 1e-3: rotation at mid-span",
    source="Figure 18",
    claims=BUCKLING_CLAIMS | {"fail": "MSSTH(5) with rho = 0 and ESDIRK3(3)5L[2]SA do not complete the simulation"},
)
def fig18(page: Page) -> None:
    buckling(page, "theta", "θ / rad")
    judge_failures(page, "fail", runs(BUCKLING, BUCKLING_STEPS[0], page), NOT_COMPLETED)


@figure(
    "astable-fig19",
    title="Lateral buckling, h/n = 1e-3: angular velocity at mid-span",
    source="Figure 19",
    claims=BUCKLING_CLAIMS,
)
def fig19(page: Page) -> None:
    buckling(page, "omega1", "ω₁ / (rad/s)")


@figure(
    "astable-fig20",
    title="Lateral buckling, h/n = 1e-3: shear force at mid-span",
    source="Figure 20",
    claims=BUCKLING_CLAIMS,
)
def fig20(page: Page) -> None:
    buckling(page, "shear", "F₃ / N")


# ---- the rotating shaft

SHAFT_NOTE = "16 three-node elements; the units of Table 5 and of the disk's inertia are corrected (models/rotating_shaft). The shaft is at rest up to t = 0"
REFERENCE_STEP = 5e-5


def shaft(page: Page, name: str, label: str) -> None:
    table, exact = runs(SHAFT, SHAFT_STEPS[0], page), reference(SHAFT, REFERENCE_STEP, page)
    draw(page, SHAFT, table, name, label, 0)
    off = {case: relative_error(one, exact, name) for case, one in table.items() if one.completed}
    write(page, table, {"relative_error": [off.get(case, float("nan")) for case in table]})
    worst = dict(sorted(off.items(), key=lambda item: -item[1])[:4])
    page.judge(
        "agree",
        stated="excellent (here: a relative error, Eq. (26), below 5 %)",
        measured="the largest: " + named(worst, ".2%"),
        met=max(off.values()) < 0.05,
    )
    page.note(SHAFT_NOTE)


def compared(one: Run, exact: Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """x_j and x(t_j) of Eq. (26), after every step. Steps of n h/n need not end where those of the reference do."""
    return one.values[name][1:], interpolated(exact.time, exact.values[name], one.time[1:])


def relative_error(one: Run, exact: Run, name: str) -> float:
    """Eq. (26)."""
    if not one.completed:
        return float("nan")
    found, wanted = compared(one, exact, name)
    return float(np.sqrt(np.sum((found - wanted) ** 2) / np.sum(wanted**2)))


@figure(
    "astable-fig22",
    title="Rotating shaft, h/n = 1e-3: displacement at mid-span",
    source="Figure 22",
    claims={"agree": "excellent agreement of the methods", "fail": "LMS4 with rho = 0.6 does not complete the simulation"},
)
def fig22(page: Page) -> None:
    shaft(page, "position", "u₃ / m")
    judge_failures(page, "fail", runs(SHAFT, SHAFT_STEPS[0], page), of(("lms4",), 0.6))


@figure(
    "astable-fig23",
    title="Rotating shaft, h/n = 1e-3: velocity at mid-span",
    source="Figure 23",
    claims={"agree": "excellent agreement of the methods"},
)
def fig23(page: Page) -> None:
    shaft(page, "velocity", "v₃ / (m/s)")


@figure(
    "astable-fig24",
    title="Rotating shaft, h/n = 1e-3: acceleration at mid-span",
    source="Figure 24",
    claims={"agree": "excellent agreement of the methods"},
)
def fig24(page: Page) -> None:
    shaft(page, "acceleration", "a₃ / (m/s²)")


def convergence(page: Page, name: str, label: str) -> dict[Case, np.ndarray]:
    steps = SHAFT_STEPS[:2] if page.quick else SHAFT_STEPS
    exact = reference(SHAFT, REFERENCE_STEP, page)
    tables = [runs(SHAFT, step, page) for step in steps]
    errors = {case: np.array([relative_error(table[case], exact, name) for table in tables]) for case in ALL}
    _, axes = page.plot(1, 3, figsize=(13, 4.6))
    for ax, (title, cases) in zip(axes, ROWS.items()):
        for number, case in enumerate(cases):
            ax.loglog(steps, errors[case], "o-" if number < 6 else "s--", linewidth=0.9, markersize=3, label=NAMES[case.method])
        for order in (2,) if "second" in title else (3, 4):
            slope_line(ax, steps, float(np.nanmedian([errors[case][-1] for case in cases])), order)
        ax.set(xlabel="h/n / s", ylabel=label, title=title)
        ax.legend(fontsize=6, ncols=2)
    page.table(
        "",
        {"method": [case.label for case in ALL]}
        | {f"error_at_{step:g}": [float(errors[case][i]) for case in ALL] for i, step in enumerate(steps)}
        | {"slope": [slope(steps, errors[case]) for case in ALL]},
    )
    judge_convergence(page, steps, errors)
    page.note(f"errors by Eq. (26) against ESDIRK4(3)6L[2]SA₂ with h = {REFERENCE_STEP:g} (paper: 1e-5)")
    page.note(SHAFT_NOTE)
    return errors


CONVERGENCE_CLAIMS = {
    "second": "the methods of second order converge with order 2",
    "similar": "multi-step and single-step schemes have very similar errors",
    "lms2": "LMS2 and SS2 with rho = 0 have larger errors than the others of second order",
    "third": "MSSTH(3) and ESDIRK3(2)4L[2]SA converge with order 3",
    "more": "ESDIRK3(3)5L[2]SA converges with more than order 3",
    "fourth": "MSSTH(4) and ESDIRK4(3)6L[2]SA₂ converge with order 4 near h/n = 1e-3, and slower below",
    "fifth": "MSSTH(5) does not reach order 5",
    "best": "ESDIRK3(3)5L[2]SA and ESDIRK4(3)6L[2]SA₂ are more accurate than the others",
}


def judge_convergence(page: Page, steps: Sequence[float], errors: Mapping[Case, np.ndarray]) -> None:
    def orders(cases: Sequence[Case]) -> dict[Case, float]:
        return {case: slope(steps, errors[case]) for case in cases}

    def local(case: Case) -> np.ndarray:
        return np.log(errors[case][:-1] / errors[case][1:]) / np.log(np.asarray(steps[:-1]) / np.asarray(steps[1:]))

    second = orders([case for case in ALL if case.method in SECOND])
    page.judge(
        "second", stated="2 (here: 1.7 to 2.3)", measured=named(second, ".2f"),
        met=all(1.7 <= value <= 2.3 for value in second.values()),
    )  # fmt: skip
    pairs = {
        case: float(np.nanmax(np.abs(np.log(errors[case] / errors[Case(multi, case.rho)]))))
        for single, multi in zip(SINGLE, STEPS)
        for case in of((single,), 0.0, 0.6)
    }
    page.judge(
        "similar",
        stated="very similar (here: within a factor of 1.2 at every step)",
        measured="largest factors: " + named({case: float(np.exp(value)) for case, value in pairs.items()}, ".2f"),
        met=all(value <= np.log(1.2) for value in pairs.values()),
    )
    weak, rest = of(("lms2", "ss2"), 0.0), [case for case in second if case not in of(("lms2", "ss2"), 0.0)]
    largest = {case: float(errors[case][0]) for case in sorted(rest, key=lambda case: -np.nan_to_num(errors[case][0]))[:2]}
    page.judge(
        "lms2",
        stated="larger",
        measured=f"at {steps[0]:g}: {named({case: float(errors[case][0]) for case in weak}, '.2e')}; of the others at most {named(largest, '.2e')}",
        met=all((errors[one] > np.nan_to_num(errors[other])).all() for one in weak for other in rest),
    )
    third = orders(of(("mssth3",), 0.0) + of(("esdirk3-4",), None))
    page.judge("third", stated="3 (here: 2.6 to 3.4)", measured=named(third, ".2f"), met=all(2.6 <= v <= 3.4 for v in third.values()))
    five = Case("esdirk3-5", None)
    page.judge("more", stated="more than 3", measured=f"{slope(steps, errors[five]):.2f}", met=slope(steps, errors[five]) > 3)
    fourth = {case: local(case) for case in (Case("mssth4", 0.0), Case("esdirk4-6", None))}
    page.judge(
        "fourth",
        stated="about 4 (here: 3.4 to 4.6) between the two largest steps, less between the two smallest",
        measured="; ".join(f"{case.label}: {', '.join(f'{v:.2f}' for v in values)}" for case, values in fourth.items()),
        met=all(3.4 <= values[0] <= 4.6 and values[-1] < values[0] for values in fourth.values()),
    )
    mssth5 = local(Case("mssth5", 0.0))
    page.judge(
        "fifth", stated="below 5", measured=", ".join(f"{v:.2f}" for v in mssth5), met=not (mssth5 >= 4.8).any()
    )  # fmt: skip
    best = [five, Case("esdirk4-6", None)]
    others = {case: float(values[-1]) for case, values in errors.items() if case not in best}
    ahead = dict(sorted(((c, v) for c, v in others.items() if np.isfinite(v)), key=lambda item: item[1])[:2])
    page.judge(
        "best",
        stated="smaller errors",
        measured=f"at {steps[-1]:g}: {named({case: float(errors[case][-1]) for case in best}, '.2e')}; of the others at least {named(ahead, '.2e')}",
        met=max(float(errors[case][-1]) for case in best) < min(ahead.values()),
    )


for number, name, label in (
    (25, "position", "RE(u₃)"),
    (26, "velocity", "RE(v₃)"),
    (27, "acceleration", "RE(a₃)"),
):

    @figure(
        f"astable-fig{number}",
        title=f"Rotating shaft: relative error of the {name} at mid-span against h/n",
        source=f"Figure {number}",
        claims=CONVERGENCE_CLAIMS,
    )
    def converging(page: Page, name: str = name, label: str = label) -> None:
        convergence(page, name, label)


# ---- all of them

COLUMNS = {
    "four-bar": (FOUR_BAR, FOUR_BAR_STEPS),
    "buckling": (BUCKLING, BUCKLING_STEPS),
    "shaft": (SHAFT, SHAFT_STEPS[:2]),
}


@figure(
    "astable-fig28-flexible",
    title="Flexible mechanisms: Newton iterations per step or sub-step, and who completes what",
    source="Figure 28, columns of the flexible mechanisms; text of Sections 5.2 to 5.5",
    claims={
        "smaller": "fewer iterations with the smaller step in all cases",
        "single": "each single-step method always needs more than the corresponding multi-step one",
        "higher": "the methods of higher order need more than the remaining ones of second order in most cases",
    },
)
def fig28(page: Page) -> None:
    tables = {(name, step): runs(example, step, page) for name, (example, steps) in COLUMNS.items() for step in steps}
    _, axes = page.plot(1, 3, figsize=(13, 4.2))
    place = np.arange(len(ALL))
    for ax, (name, (_, steps)) in zip(axes, COLUMNS.items()):
        for number, step in enumerate(steps):
            counts = [tables[name, step][case].iterations for case in ALL]
            ax.bar(place + 0.4 * number - 0.2, counts, 0.4, label=f"Δt/n = {step:g} s")
        ax.set_xticks(place, [case.label for case in ALL], rotation=90, fontsize=6)
        ax.set(ylabel="iterations per step or sub-step", title=name)
        ax.grid(axis="x", visible=False)
        ax.legend(fontsize=7)
    page.table(
        "",
        {"method": [case.label for case in ALL]}
        | {
            f"{name} {step:g}: {what}": [read(table[case]) for case in ALL]
            for (name, step), table in tables.items()
            for what, read in (
                ("iterations", lambda one: one.iterations),
                ("reached", lambda one: "end" if one.completed else f"t = {one.time[-1]:.4g}"),
            )
        },
    )
    counts = {key: {case: one.iterations for case, one in table.items() if one.completed} for key, table in tables.items()}
    ratios = {
        (name, case): counts[name, steps[1]][case] / counts[name, steps[0]][case]
        for name, (_, steps) in COLUMNS.items()
        for case in ALL
        if case in counts[name, steps[1]] and case in counts[name, steps[0]]
    }
    more = [f"{case.label} ({name})" for (name, case), value in ratios.items() if value >= 1]
    page.judge(
        "smaller",
        stated="fewer",
        measured=f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times as many" + (f"; not fewer: {', '.join(more)}" if more else ""),
        met=not more,
    )
    against = {
        (key, case): values[case] / values[Case(multi, case.rho)]
        for key, values in counts.items()
        for single, multi in zip(SINGLE, STEPS)
        for case in of((single,), 0.0, 0.6)
        if case in values and Case(multi, case.rho) in values
    }
    fewer = [f"{case.label} ({name} {step:g})" for ((name, step), case), value in against.items() if value <= 1]
    page.judge(
        "single",
        stated="more",
        measured=f"{min(against.values()):.2f} to {max(against.values()):.2f} times as many" + (f"; not more: {', '.join(fewer)}" if fewer else ""),
        met=not fewer,
    )
    high = of(HIGHER_ORDER, 0.0) + of(PAIRS, None)
    rest = [case for case in ALL if case.method in SECOND and case.method not in SINGLE]
    comparisons = [
        values[one] > values[other] for values in counts.values() for one in high for other in rest if one in values and other in values
    ]
    page.judge(
        "higher",
        stated="in most cases (here: more than three quarters)",
        measured=f"in {sum(comparisons)} of {len(comparisons)} comparisons with LMS, Bathe and MSSTC",
        met=sum(comparisons) > 0.75 * len(comparisons),
    )
    page.note("Newton's method stops at a residual of 1e-8 relative to the forces at work; the paper does not say where its own stops")

"""Flexible mechanisms: the four-bar mechanism, lateral buckling and the rotating shaft, Sections 5.2 to 5.5."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

import liedyn as ld
from liedyn import _liedyn
from liedyn_reproduce.astable.linear import HIGHER_ORDER, PAIRS, STAGES
from liedyn_reproduce.astable.squeezer import ALL, NAMES, ROWS, SECOND, SINGLE, STEPS, Case, named, of, solutions
from liedyn_reproduce.figure import Page, figure, in_parallel, interpolated, slope, slope_line


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
    residual: float
    """At which the paper's program stops Newton's method, in N: of its public inputs."""
    force: float
    """Of joints, in N: median over the time."""
    change: Callable[[dict], None] | None = None
    """What the figures change in the shipped model."""

    def until(self, page: Page) -> float:
        return self.quick_end if page.quick else self.end

    @property
    def options(self) -> str:
        """The paper's: rotation parameters of Cayley, Gibbs and Rodrigues, full Newton, and its tolerance relative to the forces at work."""
        return f",coordinates=cayley,newton=full,newton_tol={self.residual / self.force:.1g}"

    def note_on_newton(self, page: Page) -> None:
        page.note(
            f"{self.model}: full Newton down to a residual of {self.residual / self.force:.1g} of the forces at work: the {self.residual:g} N of the paper's program "
            f"where joints transmit {self.force:g} N"
        )


FOUR_BAR = Example(
    "four_bar_flexible", (("theta", None), ("omega1", None)), end=12, quick_end=-18, residual=1e-6, force=200
)  # fmt: skip
BUCKLING = Example(
    "lateral_buckling", (("theta", None), ("omega1", None), ("shear", None)), end=0.8, quick_end=0.05, residual=1e-4,
    force=3500,
)  # fmt: skip
SHAFT = Example(
    "rotating_shaft", (("position", 2), ("velocity", 2), ("acceleration", 2)), end=2.5, quick_end=0.05, residual=1e-4,
    force=25e3,
)  # fmt: skip


def on_a_joint(model: dict) -> None:
    del model["bodies"]["disk"]["on"]
    model["joints"]["hub"] = {"type": "fixed", "between": ["shaft[0.5]", "disk"], "at": [3, 0, 0]}


HUB = replace(SHAFT, change=on_a_joint)
"""The shaft with its disk on a joint."""
FOUR_BAR_STEPS, BUCKLING_STEPS, SHAFT_STEPS = (4e-3, 1e-3), (1e-3, 5e-4), (1e-3, 5e-4, 2.5e-4)
"""h/n: the step for each of the n solutions of a stage. The second one of the buckling beam, and those of the shaft below the first, are our choice."""


@lru_cache(maxsize=None)
def compiled(example: Example) -> ld.Model:
    if not example.change:
        return ld.Model(example.model)
    content = json.loads(Path(_liedyn.find_model_file(example.model)).read_text(encoding="utf-8"))
    example.change(content)
    return ld.Model(content)


@lru_cache(maxsize=None)
def simulate(example: Example, integrator: str, step: float, end: float, n: int) -> Run:
    result = compiled(example).run(integrator=integrator, step=step, end=end, output_every=1)
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
        return simulate(example, case.integrator + example.options, n * per_solution, example.until(page), n)

    return dict(zip(ALL, in_parallel(one, ALL)))


def reference(example: Example, step: float, page: Page) -> Run:
    return simulate(example, "esdirk4-6,coordinates=cayley", step, example.until(page), 5)


def deviation(one: Run, exact: Run, name: str, begin: float, end: float = np.inf) -> float:
    """Largest difference to the reference, relative to its largest value in the same time."""
    chosen = (one.time >= begin) & (one.time <= end)
    if not chosen.any():
        return float("nan")
    wanted = interpolated(exact.time, exact.values[name], one.time[chosen])
    return float(np.abs(one.values[name][chosen] - wanted).max() / np.abs(wanted).max())


def draw(page: Page, table: Mapping[Case, Run], name: str, label: str, begin: float) -> None:
    _, axes = page.plot(1, 3, figsize=(13, 4.6))
    for ax, (title, cases) in zip(axes, ROWS.items()):
        for number, case in enumerate(cases):
            one = table[case]
            shown = one.time >= begin
            ax.plot(
                one.time[shown], one.values[name][shown], "-" if number < 6 else "--", linewidth=0.9,
                label=NAMES[case.method] + ("" if one.completed else " (fails)"),
            )  # fmt: skip
        # A run that fails may end anywhere: it does not set the scale.
        ends = [table[case].within(name, begin) for case in cases if table[case].completed]
        low, high = min(values.min() for values in ends), max(values.max() for values in ends)
        ax.set(xlabel="t / s", ylabel=label, title=title, ylim=(low - 0.1 * (high - low), high + 0.1 * (high - low)))
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


def begin_of(page: Page) -> float:
    return -np.inf if page.quick else 0.0


# ---- reasons for what is not met

FIG14_REASONS = {
    "complete": "MSSTH(5), whose steps are 0.02 s, is lost at t = -7.77, just after crank and coupler were in line. It completes the simulation with h/n = 3.6e-3 and is lost earlier (-18.28) with 4.4e-3; "
    "residuals of 1e-6 and 1e-4, the exponential map, a line search or a third of the mass (which the public inputs have) do not help",
}
FIG19_REASONS = {
    "overlap": "21 of 24 do: not LMS2 and SS2 with rho = 0 (12 %) and MSSTH(4) (10 %), which are among the five that the paper finds damped afterwards. Up to 0.35 s all 24 are within 10 %, and with half the step "
    "(LMS2 with rho = 0: 8.5 %, MSSTH(4): 7.8 % up to 0.4 s) they would be",
}
FIG22_REASONS = {"fail": "LMS4 with rho = 0.6 completes the simulation, with the settings of the paper's program too; its inputs have gravity, brought up from -1 s on, and a damper that ends at -0.25 s"}
FIG24_REASONS = {"agree": "only LMS2 with rho = 0 is above 5 %: 5.1 % at h = 1e-3 and 1.3 % at 5e-4, as a method of second order must; all others are below 3.7 %"}
SIMILAR = (
    "only SS2 with rho = 0 is outside: its errors in v are 1.28 times, in a 1.39 times smaller than those of LMS2 at every step, so that it is a matter of error constants; "
    "all others are within a factor of 1.14"
)
FOURTH = "both have 3.8 to 3.9 near 1e-3, and ESDIRK4(3)6L[2]SA₂ falls (u 3.33, v 3.36, a 2.01 between the smallest steps); MSSTH(4), whose errors are ten times larger, does not yet (3.96, 3.95, 3.93)"
BEST = (
    "ESDIRK4(3)6L[2]SA₂ is the most accurate; MSSTH(5) is between the two (up to t = 0.5 s at 2.5e-4: u 1.7e-7 against 7e-8 and 1.8e-7, v 1.3e-7 against 1.1e-7 and 2.9e-7)"
)
FIFTH = (
    "it does not reach it: 2.7 between the two largest steps and 1.7 below (a: 2.8, 1.9). Only the lower bound of 2, which is ours, is missed. Up to t = 0.5 s the orders in u are 3.03 and 2.16, "
    "the same with residuals 400 times smaller: it is not the tolerance of Newton's method"
)
CONVERGENCE_REASONS = {
    "position": {"similar": SIMILAR, "fourth": FOURTH, "fifth": FIFTH, "best": BEST},
    "velocity": {"similar": SIMILAR, "fourth": FOURTH, "fifth": FIFTH, "best": BEST},
    "acceleration": {"similar": SIMILAR, "fourth": FOURTH, "fifth": FIFTH, "best": BEST},
}
FIG28_REASONS = {
    "smaller": "on the buckling beam and the shaft all need fewer. On the four-bar those need more whose oscillations grow with the smaller step (astable-fig16): with rho = 0.6 LMS, SS3, SS4 and MSSTC(5), "
    "and MSSTC(5) with rho = 0",
    "single": "they need up to 1.37 times as many, and in 9 cases as many or up to 5 % fewer (SS3, SS4 with rho = 0.6 most of them). Both solve the same equations and differ in the predictor. Before the beam buckles (up to 0.1 s) all six single-step methods need as many or more (1.91 to 2.00 iterations where LMS need 1.11 to 2.00); in the oscillations afterwards the cubic extrapolation of the multi-step methods, whose weights are up to 12, is worse than a constant (from 0.5 s on SS need 0.88 to 1.00 times as many; lateral_buckling, h = 1e-3)",
    "similar": "by up to a factor of 2.5 on the four-bar at 1e-3, where LMS4 with rho = 0.6 oscillates (2.74 iterations; LMS2 with rho = 0 1.08), and of 1.6 on the buckling beam at 5e-4; on the shaft they are within 1.22 at both steps. "
    "The bound of 1.5 is ours",
}

# ---- the four-bar mechanism

FOUR_BAR_NOTE = (
    "five three-node elements per bar, geometrically exact with consistent stiffness; the paper's elements are finite volumes. The weak bar is C-D (Table 3 has "
    "two columns exchanged), the crank turns at full speed from -2 T on"
)


@figure(
    "astable-fig14",
    title="Flexible four-bar mechanism, h/n = 4e-3: rotation at C",
    source="Figure 14",
    claims={
        "agree": "the rotation angles of all methods agree very well",
        "complete": "all methods complete the simulation",
    },
    reasons=FIG14_REASONS,
    checks={"equilibria": "the angle of LMS2 with rho = 0 is that of a crank a tenth as fast, where inertia is a hundredth"},
)
def fig14(page: Page) -> None:
    begin = begin_of(page)
    table = runs(FOUR_BAR, FOUR_BAR_STEPS[0], page)
    draw(page, table, "theta", "θ / rad", begin)
    smooth = table[Case("lms2", 0.0)]
    off = {case: deviation(one, smooth, "theta", begin) for case, one in table.items() if one.completed}
    write(page, table, {"deviation": [off.get(case, float("nan")) for case in table]})
    worst = dict(sorted(off.items(), key=lambda item: -item[1])[:3])
    page.judge(
        "agree",
        stated="very well with each other (here: at every instant within 1 % of the largest angle of LMS2 with rho = 0)",
        measured=f"{sum(value < 0.01 for value in off.values())} of {len(off)} that complete; the largest differences: " + named(worst, ".2%"),
        met=max(off.values()) < 0.01,
    )
    failed = [case for case, one in table.items() if not one.completed]
    page.judge(
        "complete",
        stated="all",
        measured="not " + ", ".join(f"{case.label}, lost at t = {table[case].time[-1]:.3g}" for case in failed) if failed else "all",
        met=not failed,
    )
    apart = deviation(smooth, slow_four_bar(FOUR_BAR.until(page)), "theta", begin)
    page.below("equilibria", apart, 0.005, note="largest difference relative to the largest angle")
    page.note(FOUR_BAR_NOTE)
    FOUR_BAR.note_on_newton(page)


@lru_cache(maxsize=None)
def slow_four_bar(end: float) -> Run:
    """A tenth of the speed, where inertia is a hundredth: the motion without its vibrations, on the time of the full speed."""
    slower = 10
    model = ld.Model(FOUR_BAR.model, set={"speed": 0.6 / slower})
    result = model.run(integrator="esdirk4-6", step=slower * FOUR_BAR_STEPS[0], end=slower * end, output_every=1)
    values = {"theta": result["theta"], "omega1": slower * result["omega1"]}
    return Run(result.time / slower, values, result.completed, result.failure or "", float("nan"))


def oscillation(one: Run, page: Page) -> float:
    """Root mean square of the angular velocity less that of the slow motion, after crank and coupler were in line and up to the next time.

    In line, a quarter of a turn from the start, C is turned within 0.1 s, by every method: what it leaves are the oscillations.
    """
    if not one.completed:
        return float("nan")
    turn = 2 * np.pi / 0.6
    in_line = turn / 4 - (2 * turn if page.quick else 0)
    chosen = (one.time >= in_line + turn / 80) & (one.time <= in_line + 0.45 * turn)
    slow = slow_four_bar(FOUR_BAR.until(page))
    wanted = interpolated(slow.time, slow.values["omega1"], one.time[chosen])
    return float(np.sqrt(np.mean((one.values["omega1"][chosen] - wanted) ** 2)))


@figure(
    "astable-fig15",
    title="Flexible four-bar mechanism, h/n = 4e-3: angular velocity at C",
    source="Figure 15",
    claims={"rho": "oscillations are more pronounced with the larger rho"},
)
def fig15(page: Page) -> None:
    begin = begin_of(page)
    table = runs(FOUR_BAR, FOUR_BAR_STEPS[0], page)
    draw(page, table, "omega1", "ω₁ / (rad/s)", begin)
    size = {case: oscillation(one, page) for case, one in table.items()}
    write(page, table, {"oscillation": list(size.values())})
    judge_rho(page, size)
    page.note(OSCILLATION_NOTE)
    page.note(FOUR_BAR_NOTE)
    FOUR_BAR.note_on_newton(page)


OSCILLATION_NOTE = "oscillation: root mean square of the difference to the motion at a tenth of the speed, times ten, from 0.13 s after crank and coupler were in line (t = 2.75 to 7.3 s)"


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
        "observable": "high-frequency oscillations are observed",
        "filter": "Bathe and the methods of higher order, with rho = 0, filter them better than LMS3, LMS4, SS3 and SS4 with rho = 0.6",
    },
)
def fig16(page: Page) -> None:
    begin = begin_of(page)
    large, small = (runs(FOUR_BAR, step, page) for step in FOUR_BAR_STEPS)
    draw(page, small, "omega1", "ω₁ / (rad/s)", begin)
    size = {case: oscillation(one, page) for case, one in small.items()}
    before = {case: oscillation(one, page) for case, one in large.items()}
    write(page, small, {"oscillation": list(size.values()), "oscillation_at_4e-3": list(before.values())})
    ratio = {case: size[case] / before[case] for case in ALL if large[case].completed and small[case].completed}
    page.judge(
        "step",
        stated="more with 1e-3 than with 4e-3",
        measured=f"{min(ratio.values()):.2f} to {max(ratio.values()):.2f} times in {len(ratio)} methods that complete both; not more: "
        + (", ".join(f"{case.label} {ratio[case]:.2f}" for case in ratio if not ratio[case] > 1) or "none"),
        met=min(ratio.values()) > 1,
    )
    judge_rho(page, size)
    most = sorted(ratio, key=lambda case: -size[case])[:4]
    page.judge(
        "most",
        stated="the two largest",
        measured="the largest: " + named({case: size[case] for case in most}, ".3g"),
        met=set(most[:2]) == set(of(("lms4", "ss4"), 0.6)),
    )
    slow = float(np.abs(slow_four_bar(FOUR_BAR.until(page)).within("omega1", begin)).max())
    largest = float(np.nanmax(list(size.values())))
    page.judge(
        "observable",
        stated="observed (here: the largest more than 10 % of the largest angular velocity of the slow motion)",
        measured=f"{largest / slow:.0%} of {slow:.3g} rad/s",
        met=largest > 0.1 * slow,
    )
    filters = of(("bathe", *HIGHER_ORDER), 0.0) + of(PAIRS, None)
    keeps = of(("lms3", "lms4", "ss3", "ss4"), 0.6)
    page.judge(
        "filter",
        stated="better (here: each has less than any of these)",
        measured=named({case: size[case] for case in filters}, ".2g") + "; against at least " + f"{min(size[case] for case in keeps):.2g}",
        met=max(size[case] for case in filters) < min(size[case] for case in keeps),
    )
    page.note(OSCILLATION_NOTE)
    page.note(FOUR_BAR_NOTE)
    FOUR_BAR.note_on_newton(page)


# ---- lateral buckling

DECAYING = of(("lms2", "ss2"), 0.0) + of(("mssth3", "mssth4"), 0.0) + of(("esdirk3-4",), None)
NOT_COMPLETED = of(("mssth5",), 0.0) + of(("esdirk3-5",), None)


def buckling(page: Page, name: str, label: str) -> dict[Case, Run]:
    table = runs(BUCKLING, BUCKLING_STEPS[0], page)
    draw(page, table, name, label, 0)
    driven = 0.04 if page.quick else 0.4
    complete = {case: one for case, one in table.items() if one.completed}
    off = {case: mean_deviation(one, table[Case("lms2", 0.6)], name, driven) for case, one in complete.items()}
    free = driven if page.quick else 0.6
    size = {case: float(np.std(one.within(name, free))) for case, one in complete.items()}
    nothing = float("nan")
    write(
        page, table,
        {
            "deviation_while_driven": [off.get(case, nothing) for case in table],
            "late_amplitude": [size.get(case, nothing) for case in table],
        },
    )  # fmt: skip
    worst = dict(sorted(off.items(), key=lambda item: -item[1])[:4])
    page.judge(
        "overlap",
        stated="almost (here: root mean square of the difference to LMS2 with rho = 0.6 within 10 % of its largest value)",
        measured=f"{sum(value < 0.1 for value in off.values())} of {len(off)} that complete; the largest: " + named(worst, ".1%"),
        met=max(off.values()) < 0.1,
    )
    remaining = [value for case, value in size.items() if case not in DECAYING]
    parts = {case: size.get(case, nothing) / float(np.median(remaining)) for case in DECAYING}
    least = min(remaining) / float(np.median(remaining))
    page.judge(
        "decay",
        stated="significant (here: standard deviation from 0.6 s on below 0.9 of the median of the remaining, and below each of them)",
        measured=f"{named(parts, '.2f')}; of the remaining at least {least:.2f}",
        met=all(part < min(0.9, least) for part in parts.values()),
    )
    page.note("elements as in the paper (5 in the beam, 1 in link and crank), geometrically exact; the crank is that of the public inputs")
    BUCKLING.note_on_newton(page)
    return complete


def mean_deviation(one: Run, other: Run, name: str, end: float) -> float:
    """Root mean square of the difference to another run up to a time, relative to its largest value there."""
    chosen = one.time <= end
    wanted = interpolated(other.time, other.values[name], one.time[chosen])
    return float(np.sqrt(np.mean((one.values[name][chosen] - wanted) ** 2)) / np.abs(wanted).max())


def period(one: Run, name: str, begin: float) -> float:
    """Mean distance of upward crossings of zero."""
    t, y = one.time, one.values[name]
    at = np.nonzero((y[:-1] < 0) & (y[1:] >= 0) & (t[:-1] >= begin))[0]
    crossings = t[at] - y[at] * (t[at + 1] - t[at]) / (y[at + 1] - y[at])
    return float(np.diff(crossings).mean()) if len(crossings) > 1 else float("nan")


BUCKLING_CLAIMS = {
    "overlap": "the solutions almost overlap up to 0.4 s",
    "decay": "LMS2 and SS2 with rho = 0, MSSTH(3, 4) and ESDIRK3(2)4L[2]SA show a significant decay of the free oscillations",
}


@figure(
    "astable-fig18",
    title="Lateral buckling, h/n = 1e-3: rotation at mid-span",
    source="Figure 18",
    claims=BUCKLING_CLAIMS
    | {
        "phase": "these five show a phase shift too, the remaining methods do not",
        "fail": "MSSTH(5) with rho = 0 and ESDIRK3(3)5L[2]SA do not complete the simulation, the others do",
    },
)
def fig18(page: Page) -> None:
    complete = buckling(page, "theta", "θ / rad")
    periods = {case: period(one, "theta", 0.0 if page.quick else 0.4) for case, one in complete.items()}
    usual = float(np.median([value for case, value in periods.items() if case not in DECAYING]))
    shift = {case: value / usual - 1 for case, value in periods.items()}
    others = {case: value for case, value in shift.items() if case not in DECAYING}
    far = max(others, key=lambda case: abs(others[case]))
    page.judge(
        "phase",
        stated="(here: periods from 0.4 s on are off the median of the remaining by more than 2 %, those of the remaining by less)",
        measured=f"{named({case: shift[case] for case in DECAYING if case in shift}, '+.1%')}; of the remaining at most {named({far: others[far]}, '+.1%')}; median {usual:.4f} s",
        met=all(abs(shift.get(case, np.nan)) > 0.02 for case in DECAYING) and abs(others[far]) < 0.02,
    )
    judge_failures(page, "fail", runs(BUCKLING, BUCKLING_STEPS[0], page), NOT_COMPLETED)


@figure(
    "astable-fig19",
    title="Lateral buckling, h/n = 1e-3: angular velocity at mid-span",
    source="Figure 19",
    claims=BUCKLING_CLAIMS,
    reasons=FIG19_REASONS,
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

SHAFT_NOTE = (
    "16 three-node elements; the disk is a mass of the node at mid-span, without a joint; the units of Table 5 and of the disk's inertia are corrected "
    "(models/rotating_shaft). No gravity; the shaft is at rest up to t = 0"
)
REFERENCE_STEP = 1e-4


def shaft(page: Page, name: str, label: str) -> None:
    table, exact = runs(SHAFT, SHAFT_STEPS[0], page), reference(SHAFT, REFERENCE_STEP, page)
    draw(page, table, name, label, 0)
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
    SHAFT.note_on_newton(page)


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
    reasons=FIG22_REASONS,
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
    reasons=FIG24_REASONS,
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
    SHAFT.note_on_newton(page)
    return errors


CONVERGENCE_CLAIMS = {
    "second": "the methods of second order converge with order 2",
    "similar": "multi-step and single-step schemes have very similar errors",
    "lms2": "LMS2 and SS2 with rho = 0 have larger errors than the others of second order",
    "third": "MSSTH(3) and ESDIRK3(2)4L[2]SA converge with order 3",
    "more": "ESDIRK3(3)5L[2]SA converges with more than order 3",
    "fourth": "MSSTH(4) and ESDIRK4(3)6L[2]SA₂ converge with order 4 near h/n = 1e-3, and slower below",
    "fifth": "MSSTH(5) does not reach order 5",
    "improves": "methods of second order are more accurate with more steps or stages and with the larger rho",
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
        "fifth",
        stated="below 5 (here: each between 2 and 4.8)",
        measured=", ".join(f"{v:.2f}" for v in mssth5),
        met=bool(((mssth5 > 2) & (mssth5 < 4.8)).all()),
    )
    # At the largest step, where it shows.
    first = {case: float(errors[case][0]) for case in second}
    worse = [
        f"{Case(more, rho).label} {first[Case(more, rho)]:.2e} against {Case(less, rho).label} {first[Case(less, rho)]:.2e}"
        for family in (STEPS, SINGLE, STAGES)
        for less, more in zip(family, family[1:])
        for rho in (0.0, 0.6)
        if not first[Case(more, rho)] < first[Case(less, rho)]
    ] + [f"{Case(m, 0.6).label} {first[Case(m, 0.6)]:.2e} against {Case(m, 0.0).label} {first[Case(m, 0.0)]:.2e}" for m in SECOND if not first[Case(m, 0.6)] < first[Case(m, 0.0)]]
    page.judge(
        "improves",
        stated=f"smaller errors (here: at {steps[0]:g}, each against its neighbour)",
        measured="not so: " + "; ".join(worse) if worse else "in all 26 comparisons",
        met=not worse,
    )
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
        reasons=CONVERGENCE_REASONS[name],
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
        "similar": "the iterations of the methods do not differ significantly",
    },
    reasons=FIG28_REASONS,
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
    spread = {key: (min(values.values()), max(values.values())) for key, values in counts.items()}
    page.judge(
        "similar",
        stated="not significantly (here: by less than a factor of 1.5 in each column)",
        measured=", ".join(f"{name} {step:g}: {low:.2f} to {high:.2f}" for (name, step), (low, high) in spread.items()),
        met=all(high < 1.5 * low for low, high in spread.values()),
    )
    for example in (FOUR_BAR, BUCKLING, SHAFT):
        example.note_on_newton(page)

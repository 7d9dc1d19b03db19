"""Andrews' squeezer: Sections 5.1 and 5.5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce.astable.linear import HIGHER_ORDER, LABELS, PAIRS, STAGES, STEPS
from liedyn_reproduce.figure import Page, figure, in_parallel

SINGLE = ("ss2", "ss3", "ss4")
NAMES = LABELS | {"ss2": "SS2", "ss3": "SS3", "ss4": "SS4"}
SECOND = (*STEPS, *SINGLE, *STAGES)
LARGE, SMALL = 1e-4, 1e-5
"""h/n: the step for each of the n solutions of a stage."""
TORQUE, BETA_0 = 0.033, -0.0620
NEWTON = ",newton=full,newton_tol=2e-8"
"""As the paper's program counts: full Newton down to 1e-6 N, where joints transmit 60 N (median over the time)."""


@dataclass(frozen=True)
class Case:
    method: str
    rho: float | None
    """None: the pairs, which have none."""

    @property
    def integrator(self) -> str:
        return self.method if self.rho is None else f"{self.method},rho={self.rho:g}"

    @property
    def label(self) -> str:
        return NAMES[self.method] + (f" {self.rho:g}" if self.method in SECOND else "")


def of(methods: Iterable[str], *rhos: float | None) -> list[Case]:
    return [Case(method, rho) for method in methods for rho in rhos]


ROWS = {
    "second order, ρ∞ = 0": of(SECOND, 0.0),
    "second order, ρ∞ = 0.6": of(SECOND, 0.6),
    "higher order, ρ∞ = 0": of(HIGHER_ORDER, 0.0) + of(PAIRS, None),
}
ALL = [case for row in ROWS.values() for case in row]


@dataclass(frozen=True)
class Run:
    time: np.ndarray
    omega: np.ndarray
    balance: np.ndarray
    """Delta E = E - E_0 - T (beta - beta_0), Eq. (23), in J."""
    iterations: float
    """Per step or sub-step."""


@lru_cache(maxsize=None)
def compiled() -> ld.Model:
    return ld.Model("andrews_squeezer")


@lru_cache(maxsize=None)
def solutions(method: str) -> int:
    """n, the solutions of a stage in a step."""
    return ld.analyze_integrator(method, h_over_period=[0.1])[0]["solutions_per_step"]


@lru_cache(maxsize=None)
def run(case: Case, per_solution: float, end: float, options: str = "") -> Run:
    n = solutions(case.method)
    result = compiled().run(integrator=case.integrator + options, step=n * per_solution, end=end)
    if not result.completed:
        raise RuntimeError(f"{case.label}: {result.failure}")
    summary = result.summary
    return Run(
        result.time, result["omega"], result["energy_balance"], summary["newton_iterations"] / (n * summary["steps"])
    )  # fmt: skip


def end_of(page: Page) -> float:
    return 0.02 if page.quick else 0.05


def runs(per_solution: float, page: Page, options: str = "") -> dict[Case, Run]:
    return dict(zip(ALL, in_parallel(lambda case: run(case, per_solution, end_of(page), options), ALL)))


@dataclass(frozen=True)
class Reference:
    time: np.ndarray
    omega: np.ndarray
    work: float
    """Of the torque up to the end, in J."""

    @property
    def size(self) -> float:
        return float(np.abs(self.omega).max())

    def deviation(self, one: Run) -> np.ndarray:
        """Of the angular velocity, relative to its largest value."""
        return np.abs(one.omega - np.interp(one.time, self.time, self.omega)) / self.size


@lru_cache(maxsize=None)
def reference(end: float) -> Reference:
    """As in the paper: LMS4 with rho = 0.6, h = 1e-6."""
    result = compiled().run(integrator="lms4,rho=0.6", step=1e-6, end=end, every=5)
    return Reference(result.time, result["omega"], TORQUE * float(result["beta"][-1] - BETA_0))


def part(one: Run, begin: float, end: float) -> float:
    """Mean of the balance over a part of the time, given as fractions: oscillations cancel."""
    last = one.time[-1]
    return float(one.balance[(one.time >= begin * last) & (one.time <= end * last)].mean())


def late(one: Run) -> float:
    return part(one, 0.8, 1)


def behaviour(one: Run, work: float) -> str:
    """What a method does to the energy. Mostly preserved: the mean over the last fifth is within 0.5 % of the torque's work."""
    value, before = late(one), part(one, 0.6, 0.8)
    if value > 0 and value > before:
        return "gains"
    return "loses" if value < -SMALL_SHARE * work else "keeps"


SMALL_SHARE = 5e-3


def write(page: Page, table: Mapping[Case, Run]) -> None:
    exact = reference(end_of(page))
    page.table(
        "",
        {
            "method": [case.label for case in table],
            "largest_deviation_of_omega": [float(exact.deviation(one).max()) for one in table.values()],
            "least_balance": [float(one.balance.min()) for one in table.values()],
            "largest_balance": [float(one.balance.max()) for one in table.values()],
            "late_mean_balance": [late(one) for one in table.values()],
            "energy": [behaviour(one, exact.work) for one in table.values()],
            "iterations": [one.iterations for one in table.values()],
        },
    )


def draw(page: Page, table: Mapping[Case, Run], quantity: str, label: str, *, with_reference: bool) -> None:
    _, axes = page.plot(1, 3, figsize=(13, 4.6))
    for ax, (title, cases) in zip(axes, ROWS.items()):
        for number, case in enumerate(cases):
            ax.plot(
                table[case].time, getattr(table[case], quantity), "-" if number < 6 else "--", linewidth=0.9,
                label=NAMES[case.method],
            )  # fmt: skip
        if with_reference:
            exact = reference(end_of(page))
            ax.plot(exact.time, exact.omega, "k:", linewidth=1, label="reference")
        ax.set(xlabel="t / s", ylabel=label, title=title)
        ax.legend(fontsize=6, ncols=2)


def named(values: Mapping[Case, float], form: str) -> str:
    return ", ".join(f"{case.label} {value:{form}}" for case, value in values.items())


MODEL_NOTE = "bodies in the plane; the paper has bodies in space held in the plane. Means are over the last fifth of the time"


@figure(
    "astable-fig9",
    title="Andrews' squeezer, h/n = 1e-4: angular velocity of O-F",
    source="Figure 9",
    claims={
        "mssth5": "MSSTH(5) departs from the reference after about 0.01 s",
        "observable": "MSSTH(3, 4), ESDIRK3(2)4L[2]SA and Bathe with rho = 0.6 show observable differences, the others not",
    },
    checks={"known": "the reference is the known answer of the model at t = 0.01 s"},
)
def fig9(page: Page) -> None:
    table = runs(LARGE, page)
    exact = reference(end_of(page))
    draw(page, table, "omega", "ω / (rad/s)", with_reference=True)
    write(page, table)
    mssth5 = table[Case("mssth5", 0.0)]
    far = exact.deviation(mssth5) > 0.05
    when = float(mssth5.time[far][0]) if far.any() else np.inf
    page.about("mssth5", when, 0.01, within=2, note="the time in s at which it is off by 5 % of the largest value")
    off = {case: float(exact.deviation(one).max()) for case, one in table.items()}
    listed = of(("mssth3", "mssth4"), 0.0) + of(("esdirk3-4",), None) + of(("bathe",), 0.6)
    others = {case: value for case, value in off.items() if case not in listed and case.method != "mssth5"}
    largest = dict(sorted(others.items(), key=lambda item: -item[1])[:3])
    page.judge(
        "observable",
        stated="larger than those of all others",
        measured=f"{named({case: off[case] for case in listed}, '.1%')} of the largest value; of the others at most "
        + named(largest, ".1%"),
        met=min(off[case] for case in listed) > max(others.values()),
    )
    known = 709.952889  # models/andrews_squeezer/README.md
    found = float(np.interp(0.01, exact.time, exact.omega))
    page.below("known", abs(found / known - 1), 1e-5)
    page.note(MODEL_NOTE)


def judge_energy(
    page: Page, key: str, stated: str, cases: Sequence[Case], table: Mapping[Case, Run], met: Callable[[Run], bool]
) -> None:
    values = {case: 1e3 * late(table[case]) for case in cases}
    wrong = [case.label for case in cases if not met(table[case])]
    page.judge(
        key,
        stated=stated,
        measured="late mean in mJ: " + named(values, ".3g") + (f"; not so: {', '.join(wrong)}" if wrong else ""),
        met=not wrong,
    )


@figure(
    "astable-fig10",
    title="Andrews' squeezer, h/n = 1e-4: energy balance",
    source="Figure 10",
    claims={
        "gain": "the balance of MSSTC(5) with rho = 0, MSSTH(3, 4) and ESDIRK3(2)4L[2]SA shows an increasing trend",
        "keep": "LMS2 and SS2 with rho = 0.6, LMS3, SS3, LMS4, SS4, MSSTC(3), and MSSTC(5) with rho = 0.6 mostly preserve energy",
        "lose": "LMS2 and SS2 with rho = 0, Bathe, MSSTC(4) and the remaining methods of higher order show an obvious drop",
    },
)
def fig10(page: Page) -> None:
    table = runs(LARGE, page)
    draw(page, table, "balance", "ΔE / J", with_reference=False)
    write(page, table)
    work = reference(end_of(page)).work
    gain = of(("msstc5", "mssth3", "mssth4"), 0.0) + of(("esdirk3-4",), None)
    lose = of(("lms2", "ss2"), 0.0) + of(("bathe", "msstc4"), 0.0, 0.6) + of(("mssth5",), 0.0) + of(("esdirk3-5", "esdirk4-6"), None)
    keep = [case for case in ALL if case not in gain and case not in lose]
    for key, stated, cases, word in (
        ("gain", "increasing (here: the mean over the last fifth is above 0 and above that of the fifth before)", gain, "gains"),
        ("keep", f"mostly preserved (here: within {SMALL_SHARE:.1%} of the torque's work, {work:.3g} J)", keep, "keeps"),
        ("lose", f"an obvious drop (here: more than {SMALL_SHARE:.1%} of the torque's work)", lose, "loses"),
    ):
        judge_energy(page, key, stated, cases, table, lambda one: behaviour(one, work) == word)
    page.note(MODEL_NOTE)


@figure(
    "astable-fig11",
    title="Andrews' squeezer, h/n = 1e-5: angular velocity of O-F",
    source="Figure 11",
    claims={"accurate": "all methods predict the angular velocity accurately"},
)
def fig11(page: Page) -> None:
    table = runs(SMALL, page)
    exact = reference(end_of(page))
    draw(page, table, "omega", "ω / (rad/s)", with_reference=True)
    write(page, table)
    off = {case: float(exact.deviation(one).max()) for case, one in table.items()}
    worst = dict(sorted(off.items(), key=lambda item: -item[1])[:4])
    page.judge(
        "accurate",
        stated="accurate (here: within 1 % of the largest value)",
        measured="the least accurate: " + named(worst, ".2%"),
        met=max(off.values()) < 0.01,
    )
    page.note(MODEL_NOTE)


@figure(
    "astable-fig12",
    title="Andrews' squeezer, h/n = 1e-5: energy balance",
    source="Figure 12",
    claims={
        "gain": "MSSTH(3, 4), ESDIRK3(2)4L[2]SA and ESDIRK4(3)6L[2]SA₂ gain energy",
        "lose": "MSSTH(5) shows an obvious drop",
        "second": "the methods of second order perform well",
    },
    checks={"none": "of the methods of second order none gains energy"},
)
def fig12(page: Page) -> None:
    table = runs(SMALL, page)
    draw(page, table, "balance", "ΔE / J", with_reference=False)
    write(page, table)
    gain = of(("mssth3", "mssth4"), 0.0) + of(("esdirk3-4", "esdirk4-6"), None)
    drop = Case("mssth5", 0.0)
    others = {case: abs(late(one)) for case, one in table.items() if case != drop}
    judge_energy(page, "gain", "above 0 (here: the mean over the last fifth)", gain, table, lambda one: late(one) > 0)
    page.judge(
        "lose",
        stated="obvious (here: at least three times the size of any other's balance)",
        measured=f"late mean {late(table[drop]):.2e} J, of the others at most {max(others.values()):.1e} J in size",
        met=-late(table[drop]) > 3 * max(others.values()),
    )
    work = reference(end_of(page)).work
    second = {case: abs(late(table[case])) / work for case in ALL if case.method in SECOND}
    worst = dict(sorted(second.items(), key=lambda item: -item[1])[:3])
    page.judge(
        "second",
        stated="well (here: the mean over the last fifth within 1e-3 of the torque's work)",
        measured="the largest: " + named(worst, ".1e"),
        met=max(second.values()) < 1e-3,
    )
    highest = max(late(table[case]) for case in second)
    page.judge("none", stated="below 0", measured=f"at most {highest:.1e} J", met=highest < 0)
    page.note(MODEL_NOTE)


@figure(
    "astable-fig28",
    title="Andrews' squeezer: Newton iterations per step or sub-step",
    source="Figure 28, columns of the squeezer",
    claims={
        "smaller": "fewer iterations with the smaller step in all cases",
        "similar": "the iterations of the methods do not differ significantly",
        "single": "each single-step method always needs more than the corresponding multi-step one",
        "higher": "the methods of higher order need more than the remaining ones of second order in most cases",
        "least": "the multi-step and multi-stage methods of second order usually need the fewest",
    },
    reasons={
        "similar": "at h/n = 1e-4 they differ by a factor of 1.29; at 1e-5 LMS need one iteration and MSSTH(5) 1.86, as \"fewer with the smaller step\" and \"higher orders more\" ask for",
        "least": "LMS need the fewest at both steps, MSSTC(3, 5) about as many as SS; but at 1e-5 Bathe (1.35 and 1.71) and MSSTC(4) (1.14 and 1.51) need more than SS (1.01 to 1.06), so that the mean is above theirs",
    },
)
def fig28(page: Page) -> None:
    tables = {per: runs(per, page, NEWTON) for per in (LARGE, SMALL)}
    count = {per: {case: one.iterations for case, one in table.items()} for per, table in tables.items()}
    _, ax = page.plot(figsize=(9, 4.2))
    place = np.arange(len(ALL))
    for number, (per, values) in enumerate(count.items()):
        ax.bar(place + 0.4 * number - 0.2, list(values.values()), 0.4, label=f"Δt/n = {per:g} s")
    ax.set_xticks(place, [case.label for case in ALL], rotation=90, fontsize=7)
    ax.set(ylabel="iterations per step or sub-step", ylim=(0, 3))
    ax.grid(axis="x", visible=False)
    ax.legend(ncols=2)
    page.table(
        "",
        {"method": [case.label for case in ALL]}
        | {f"iterations at {per:g}": list(values.values()) for per, values in count.items()},
    )
    judge_counts(page, count)
    page.note("full Newton down to a residual of 2e-8 of the forces at work: the 1e-6 N of the paper's program where joints transmit 60 N")
    page.note(MODEL_NOTE)


def single_against_multi(count: Mapping[float, Mapping[Case, float]]) -> dict[tuple[Case, float], float]:
    return {
        (Case(single, rho), per): values[Case(single, rho)] / values[Case(multi, rho)]
        for per, values in count.items()
        for single, multi in zip(SINGLE, STEPS)
        for rho in (0.0, 0.6)
    }


def judge_counts(page: Page, count: Mapping[float, Mapping[Case, float]]) -> None:
    ratio = {case: count[SMALL][case] / count[LARGE][case] for case in ALL}
    page.judge(
        "smaller",
        stated="fewer",
        measured=f"{min(ratio.values()):.2f} to {max(ratio.values()):.2f} times as many",
        met=max(ratio.values()) < 1,
    )
    spread = {per: max(values.values()) / min(values.values()) for per, values in count.items()}
    page.judge(
        "similar",
        stated="not significantly (here: by less than a factor of 1.5 at each step)",
        measured=", ".join(
            f"{min(values.values()):.2f} to {max(values.values()):.2f} at {per:g}" for per, values in count.items()
        ),
        met=max(spread.values()) < 1.5,
    )
    ratios = single_against_multi(count)
    not_more = [f"{case.label} at {per:g}" for (case, per), value in ratios.items() if value <= 1]
    page.judge(
        "single",
        stated="more",
        measured=", ".join(
            f"{min(v):.3f} to {max(v):.2f} times as many at {per:g}"
            for per in count
            for v in [[value for (_, p), value in ratios.items() if p == per]]
        )
        + (f"; not more: {', '.join(not_more)}" if not_more else ""),
        met=not not_more,
    )
    high = [case for case in ALL if case.method not in SECOND]
    rest = [case for case in ALL if case.method in (*STEPS, *STAGES)]
    more = [values[one] > values[other] for values in count.values() for one in high for other in rest]
    page.judge(
        "higher",
        stated="in most cases",
        measured=f"in {sum(more)} of {len(more)} comparisons with LMS, Bathe and MSSTC",
        met=sum(more) > 0.75 * len(more),
        note="most: more than three quarters",
    )
    least = {per: min(values, key=values.get) for per, values in count.items()}
    mean = {
        name: [float(np.mean([values[case] for case in cases])) for values in count.values()]
        for name, cases in (("LMS, Bathe, MSSTC", rest), ("SS", [c for c in ALL if c.method in SINGLE]), ("higher order", high))
    }
    page.judge(
        "least",
        stated="the fewest (here: on average)",
        measured="; ".join(f"{name}: {', '.join(f'{value:.2f}' for value in values)}" for name, values in mean.items())
        + f"; the fewest: {', '.join(f'{case.label} at {per:g}' for per, case in least.items())}",
        met=all(
            mean["LMS, Bathe, MSSTC"][i] <= mean[other][i] for other in ("SS", "higher order") for i in range(len(count))
        ),
    )

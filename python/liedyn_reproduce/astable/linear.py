"""Linear analysis: Section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn_reproduce.figure import Page, figure

STEPS = ("lms2", "lms3", "lms4")
STAGES = ("bathe", "msstc3", "msstc4", "msstc5")
SECOND_ORDER = (*STEPS, *STAGES)
HIGHER_ORDER = ("mssth3", "mssth4", "mssth5")
TUNABLE = (*SECOND_ORDER, *HIGHER_ORDER)
PAIRS = ("esdirk3-4", "esdirk3-5", "esdirk4-6")
RHOS = (0.0, 0.6, 1.0)
LABELS = {
    "lms2": "LMS2", "lms3": "LMS3", "lms4": "LMS4", "bathe": "Bathe", "msstc3": "MSSTC(3)", "msstc4": "MSSTC(4)",
    "msstc5": "MSSTC(5)", "mssth3": "MSSTH(3)", "mssth4": "MSSTH(4)", "mssth5": "MSSTH(5)",
    "esdirk3-4": "ESDIRK3(2)4L[2]SA", "esdirk3-5": "ESDIRK3(2)5L[2]SA", "esdirk4-6": "ESDIRK4(3)6L[2]SA₂",
}  # fmt: skip
LOW = np.linspace(0.005, 0.3, 60)
"""h/(nT) of the low frequencies."""
WIDE = np.geomspace(0.01, 1000, 101)
NOTE = "the abscissa is h/(nT) with n solutions of a stage per step; SS2, SS3, SS4 have the spectra of LMS2, LMS3, LMS4"


@lru_cache(maxsize=None)
def curve(method: str, rho: float | None, key: str, wide: bool = False) -> np.ndarray:
    """A property over h/(nT)."""
    name = method if rho is None else f"{method},rho={rho}"
    solutions = ld.analyze_integrator(name, h_over_period=[0.1])[0]["solutions_per_step"]
    analysis = ld.analyze_integrator(name, h_over_period=solutions * (WIDE if wide else LOW))
    return analysis.column(key)


def at(values: np.ndarray, x: float) -> float:
    return float(np.interp(x, LOW, values))


def up_to(values: np.ndarray, x: float) -> np.ndarray:
    return values[LOW <= x + 1e-12]


def cases(methods: Sequence[str], rhos: Sequence[float | None], key: str, wide: bool = False) -> dict:
    return {(method, rho): curve(method, rho, key, wide) for rho in rhos for method in methods}


def panels(page: Page, methods: Sequence[str], key: str, label: str, *, wide: bool = False, factor: float = 1) -> None:
    """One panel per rho, a line per method; and the table."""
    _, axes = page.plot(1, len(RHOS), figsize=(12, 3.8))
    for ax, rho in zip(axes, RHOS):
        lines(ax, {method: curve(method, rho, key, wide) for method in methods}, label, wide, factor)
        ax.set_title(f"ρ∞ = {rho:g}")
    axes[-1].legend(fontsize=7)
    columns = {"h/(nT)": WIDE if wide else LOW}
    for (method, rho), values in cases(methods, RHOS, key, wide).items():
        columns[f"{method}.rho{rho:g}"] = values
    page.table("", columns)
    page.note(NOTE)


def single_panel(page: Page, key: str, label: str, *, wide: bool = False, factor: float = 1) -> None:
    """The methods of higher order, with rho = 0."""
    _, ax = page.plot()
    curves = {method: curve(method, 0.0, key, wide) for method in HIGHER_ORDER}
    curves |= {method: curve(method, None, key, wide) for method in PAIRS}
    lines(ax, curves, label, wide, factor)
    ax.legend(fontsize=8)
    page.table("", {"h/(nT)": WIDE if wide else LOW} | curves)
    page.note(NOTE)


def lines(ax: plt.Axes, curves: Mapping[str, np.ndarray], label: str, wide: bool, factor: float) -> None:
    for number, (method, values) in enumerate(curves.items()):
        style = "-" if number < 6 else "--"
        ax.plot(WIDE if wide else LOW, factor * values, style, label=LABELS[method], linewidth=1.2)
    if wide:
        ax.set_xscale("log")
    ax.set(xlabel="Δt/(nT)", ylabel=label)


def in_percent(values: Mapping[str, float]) -> str:
    return ", ".join(f"{LABELS[method]} {100 * value:.2g} %" for method, value in values.items())


def judge_falling(page: Page, key: str, quantity: str, x: float) -> None:
    """The property falls in size from LMS2 to LMS4 and from Bathe to MSSTC(5), for rho = 0 and 0.6."""
    parts, met = [], True
    for rho in RHOS[:2]:
        for family in (STEPS, STAGES):
            sizes = [abs(at(curve(method, rho, quantity), x)) for method in family]
            met = met and all(a > b for a, b in zip(sizes, sizes[1:]))
            parts.append(f"{', '.join(f'{100 * size:.2g}' for size in sizes)} ({LABELS[family[0]]} ..., ρ∞ = {rho:g})")
    page.judge(key, stated=f"falling (here: at {x:g})", measured="in percent: " + "; ".join(parts), met=met)


@figure(
    "astable-fig2",
    title="Amplitude decay of the methods with tunable dissipation",
    source="Figure 2",
    claims={
        "small": "LMS3, LMS4 and MSSTC(3, 4, 5) have very small numerical damping ratios for Δt/(nT) up to 0.1",
        "more": "of the second-order methods those with more steps or stages dissipate less",
        "rho": "the second-order methods are more accurate with a larger rho",
        "not-mssth": "MSSTH(3, 4, 5) do not gain accuracy when rho increases",
        "intermediate": "with rho = 1 MSSTH(3, 4, 5) still dissipate at intermediate frequencies",
    },
    checks={"trapezoidal": "coefficients: with rho = 1 the second-order methods all have the characteristics of the trapezoidal rule"},
    reasons={
        "not-mssth": "with rho = 0.6 MSSTH(3, 4, 5) have 0.47, 0.38 and 0.66 times the amplitude decay of rho = 0 at Δt/(nT) = 0.1, 0.41, 0.20 and 0.59 times at 0.01, and about the same "
        "parts of the period elongation: they gain at every step"
    },
)
def fig2(page: Page) -> None:
    key = "amplitude_decay"
    panels(page, TUNABLE, key, "AD / %", factor=100)
    small = {m: max(up_to(curve(m, rho, key), 0.1).max() for rho in RHOS[:2]) for m in (*STEPS[1:], *STAGES[1:])}
    page.judge(
        "small",
        stated="very small (here: at most 1 %)",
        measured=in_percent(small) + " for rho = 0 and 0.6",
        met=max(small.values()) <= 0.01,
    )
    judge_falling(page, "more", key, 0.1)
    gain = {m: at(curve(m, 0.0, key), 0.1) / at(curve(m, 0.6, key), 0.1) for m in SECOND_ORDER}
    page.judge(
        "rho",
        stated="less dissipation at 0.6 than at 0 (here: at Δt/(nT) = 0.1)",
        measured=", ".join(f"{LABELS[m]} {value:.2g} times less" for m, value in gain.items()),
        met=min(gain.values()) > 1,
    )
    # The trapezoidal rule, each of n solutions a step of its own.
    exact = 2 * np.pi * LOW / (2 * np.arctan(np.pi * LOW)) - 1
    decay = max(float(np.abs(curve(m, 1.0, key)).max()) for m in SECOND_ORDER)
    phase = max(float(np.abs(curve(m, 1.0, "period_elongation") - exact).max()) for m in SECOND_ORDER)
    page.judge(
        "trapezoidal",
        stated="the same (here: to 1e-6)",
        measured=f"amplitude decay at most {decay:.1e}, period elongation within {phase:.1e}",
        met=max(decay, phase) < 1e-6,
    )
    worse = {m: at(curve(m, 0.6, key), 0.1) / at(curve(m, 0.0, key), 0.1) for m in HIGHER_ORDER}
    page.judge(
        "not-mssth",
        stated="not less dissipation at 0.6 than at 0 (here: at least 0.9 times at Δt/(nT) = 0.1)",
        measured=", ".join(f"{LABELS[m]} {value:.2f} times" for m, value in worse.items()),
        met=min(worse.values()) >= 0.9,
    )
    between = {m: float(1 - curve(m, 1.0, "spectral_radius", True).min()) for m in HIGHER_ORDER}
    page.judge(
        "intermediate",
        stated="dissipation in between (here: spectral radius falls by at least 1 %)",
        measured=", ".join(f"{LABELS[m]}: down to {1 - value:.3f}" for m, value in between.items()),
        met=min(between.values()) > 0.01,
    )


@figure(
    "astable-fig3",
    title="Period elongation of the methods with tunable dissipation",
    source="Figure 3",
    claims={
        "more": "of the second-order methods those with more steps or stages have the smaller dispersion",
        "higher": "MSSTH(3, 4, 5) have a smaller dispersion than the second-order methods",
    },
)
def fig3(page: Page) -> None:
    key = "period_elongation"
    panels(page, TUNABLE, key, "PE / %", factor=100)
    judge_falling(page, "more", key, 0.1)
    best = {rho: min(abs(at(curve(m, rho, key), 0.05)) for m in SECOND_ORDER) for rho in RHOS[:2]}
    theirs = {rho: {m: abs(at(curve(m, rho, key), 0.05)) for m in HIGHER_ORDER} for rho in RHOS[:2]}
    page.judge(
        "higher",
        stated="smaller than the best of second order (here: at Δt/(nT) = 0.05, rho = 0 and 0.6)",
        measured="; ".join(f"ρ∞ = {rho:g}: {in_percent(theirs[rho])} against {100 * best[rho]:.2g} %" for rho in RHOS[:2]),
        met=all(max(theirs[rho].values()) < best[rho] for rho in RHOS[:2]),
    )


@figure(
    "astable-fig4",
    title="Spectral radius of the methods with tunable dissipation",
    source="Figure 4",
    claims={
        "close": "LMS3, LMS4 and MSSTC(3, 4, 5) have spectral radii very close to 1 for Δt/(nT) up to 0.1",
        "filter": "the radii of the multi-stage methods of second order fall to rho earlier than those of the multi-step ones",
    },
    checks={"infinity": "coefficients: all radii tend to rho"},
)
def fig4(page: Page) -> None:
    key = "spectral_radius"
    panels(page, TUNABLE, key, "ρ", wide=True)
    low = {m: min(float(up_to(curve(m, rho, key), 0.1).min()) for rho in RHOS[:2]) for m in (*STEPS[1:], *STAGES[1:])}
    page.judge(
        "close",
        stated="very close to 1 (here: at least 0.97 per step)",
        measured=", ".join(f"{LABELS[m]} {value:.4f}" for m, value in low.items()),
        met=min(low.values()) >= 0.97,
    )
    rho = 0.6

    def half_way(method: str) -> float:
        """h/(nT) from which on the radius stays in the lower half of the way from 1 to rho."""
        values = curve(method, rho, key, True)
        return float(WIDE[np.nonzero(values > (1 + rho) / 2)[0][-1]])

    way = {m: half_way(m) for m in SECOND_ORDER}
    page.judge(
        "filter",
        stated=f"earlier (here: half the way down to {rho:g})",
        measured="at Δt/(nT) = " + ", ".join(f"{LABELS[m]} {value:.2g}" for m, value in way.items()),
        met=max(way[m] for m in STAGES) < min(way[m] for m in STEPS),
    )
    far = max(
        abs(ld.analyze_integrator(f"{m},rho={r}", h_over_period=[0.1])[0]["radius_at_infinity"] - r)
        for m in TUNABLE
        for r in RHOS[:2]
    )
    page.judge("infinity", stated="rho", measured=f"off by at most {far:.1e}", met=far < 2e-3)


@figure(
    "astable-fig5",
    title="Amplitude decay of the methods of higher order, rho = 0",
    source="Figure 5",
    claims={
        "excessive": "MSSTH(3, 4, 5) and ESDIRK3(2)4L[2]SA dissipate excessively, ESDIRK3(2)5L[2]SA and ESDIRK4(3)6L[2]SA₂ "
        "do not",
    },
    checks={"same": "coefficients: MSSTH(3) is almost identical to ESDIRK3(2)4L[2]SA"},
)
def fig5(page: Page) -> None:
    key = "amplitude_decay"
    single_panel(page, key, "AD / %", factor=100)
    decay = {m: at(curve(m, 0.0, key), 0.1) for m in HIGHER_ORDER} | {m: at(curve(m, None, key), 0.1) for m in PAIRS}
    least = min(decay[m] for m in (*HIGHER_ORDER, "esdirk3-4"))
    page.judge(
        "excessive",
        stated="more (here: the least of the former above both of the latter, at Δt/(nT) = 0.1)",
        measured=in_percent(decay),
        met=least > max(decay["esdirk3-5"], decay["esdirk4-6"]),
    )
    apart = max(
        float(np.abs(curve("mssth3", 0.0, name) - curve("esdirk3-4", None, name)).max())
        for name in (key, "period_elongation", "spectral_radius")
    )
    page.judge("same", stated="almost identical (here: to 1e-9)", measured=f"apart by {apart:.1e}", met=apart < 1e-9)


@figure(
    "astable-fig6",
    title="Period elongation of the methods of higher order, rho = 0",
    source="Figure 6",
    claims={
        "small": "MSSTH(5), ESDIRK3(2)5L[2]SA and ESDIRK4(3)6L[2]SA₂ have a very small period elongation for Δt/(nT) up to 0.05",
        "short": "MSSTH(4) shortens the period in this range, the other three do not",
    },
)
def fig6(page: Page) -> None:
    key = "period_elongation"
    single_panel(page, key, "PE / %", factor=100)
    long = {m: up_to(curve(m, rho, key), 0.05) for m, rho in (("mssth5", 0.0), ("esdirk3-5", None), ("esdirk4-6", None))}
    small = {m: float(np.abs(values).max()) for m, values in long.items()}
    page.judge("small", stated="very small (here: at most 1 %)", measured=in_percent(small), met=max(small.values()) <= 0.01)
    # The elongation of MSSTH(4) is negative up to a step, and positive from there on.
    steps = LOW[LOW <= 0.05 + 1e-12]
    short = {m: float((values < 0).mean()) for m, values in (long | {"mssth4": up_to(curve("mssth4", 0.0, key), 0.05)}).items()}
    least = float(up_to(curve("mssth4", 0.0, key), 0.05).min())
    page.judge(
        "short",
        stated="MSSTH(4) shorter, the others not (here: at nine of ten steps up to 0.05, and at none)",
        measured=f"shorter at {', '.join(f'{value * len(steps):.0f} ({LABELS[m]})' for m, value in short.items())} of {len(steps)} steps; MSSTH(4) by up to {-100 * least:.2g} %",
        met=short["mssth4"] >= 0.9 and max(value for m, value in short.items() if m != "mssth4") == 0,
    )


@figure(
    "astable-fig7",
    title="Spectral radius of the methods of higher order, rho = 0",
    source="Figure 7",
    claims={
        "content": "MSSTH(3, 4, 5) and ESDIRK3(2)4L[2]SA dissipate most of the frequency content that the second-order methods keep",
    },
    checks={"zero": "coefficients: all radii tend to 0"},
)
def fig7(page: Page) -> None:
    key = "spectral_radius"
    single_panel(page, key, "ρ", wide=True)

    def cutoff(method: str, rho: float | None) -> float:
        """h/(nT) up to which a hundred periods keep half of the amplitude."""
        decay = curve(method, rho, "amplitude_decay")
        kept = np.exp(-2 * np.pi * 100 * decay) > 0.5
        return float(LOW[~kept][0]) if not kept.all() else float(LOW[-1])

    theirs = {m: cutoff(m, 0.0) for m in HIGHER_ORDER} | {"esdirk3-4": cutoff("esdirk3-4", None)}
    others = {m: cutoff(m, 0.0) for m in ("lms3", "lms4", *STAGES[1:])}
    page.judge(
        "content",
        stated="less is kept (here: frequencies that keep half of their amplitude over 100 periods, rho = 0)",
        measured="up to Δt/(nT) = "
        + ", ".join(f"{LABELS[m]} {value:.3g}" for m, value in (theirs | others).items()),
        met=max(theirs.values()) < min(others.values()),
    )
    ends = {m: float(curve(m, 0.0, key, True)[-1]) for m in HIGHER_ORDER}
    ends |= {m: float(curve(m, None, key, True)[-1]) for m in PAIRS}
    page.judge(
        "zero", stated=f"0 (here: below 0.01 at {WIDE[-1]:g})", measured=f"at most {max(ends.values()):.1e}",
        met=max(ends.values()) < 0.01,
    )  # fmt: skip

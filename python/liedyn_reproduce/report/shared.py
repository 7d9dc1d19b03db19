"""What the figures of the report share: runs of the heavy top, its errors, and plots of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np

from liedyn import style
from liedyn_reproduce import heavy_top as top, small
from liedyn_reproduce.figure import Page, in_parallel, slope_line

RHO = 0.9
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
QUICK_STEPS = (2e-3, 1e-3, 5e-4)
TRANSIENT = 0.1
"""The end of the time axis of the figures that show the transient."""
SPACES = {"r3so3": "SO(3) × R³", "se3": "SE(3)"}
QUANTITIES = {"q": "q", "v": "v", "lambda": "λ"}


@lru_cache(maxsize=None)
def motion(
    space: str, step: float, index: str = "3", start: str = "plain", end: float = 1, slow: float = 1
) -> top.Motion:
    integrator = f"generalized-alpha,rho={RHO},index={index},start={start}"
    return top.simulate(space, integrator, step, end, slow)


def steps_of(page: Page) -> tuple[float, ...]:
    return QUICK_STEPS if page.quick else STEPS


def errors(
    space: str, steps: Sequence[float], index: str = "3", start: str = "plain", *, begin: float = 0, slow: float = 1
) -> np.ndarray:
    """Relative errors by step (rows) in q, v and lambda (columns)."""
    exact = top.reference(slow)
    runs = in_parallel(lambda step: motion(space, step, index, start, 1, slow), steps)
    return np.array([top.relative_errors(exact, run, begin=begin, body_frame=space == "se3") for run in runs])


def error_table(page: Page, steps: Sequence[float], tables: dict[str, np.ndarray]) -> None:
    columns = {"h": list(steps)}
    for name, table in tables.items():
        columns |= {f"{name}.{quantity}": table[:, i] for i, quantity in enumerate(QUANTITIES)}
    page.table("", columns)


def draw_errors(page: Page, steps: Sequence[float], tables: dict[str, np.ndarray]) -> None:
    """Two plots side by side: relative errors against the step, as in Figures 6, 8, 11 and 21."""
    _, axes = page.plot(1, 2, sharey=True)
    for ax, (title, table) in zip(axes, tables.items()):
        for column, (symbol, marker) in enumerate(zip(QUANTITIES.values(), "os^")):
            ax.loglog(steps, table[:, column], marker=marker, markersize=4, label=symbol)
        slope_line(ax, steps, 0.4 * np.nanmin(table[-1]), 2)
        slope_line(ax, steps, 0.4 * table[-1, 2], 1)
        ax.set(title=title, xlabel="step h / s", ylabel="largest relative error" if ax is axes[0] else "")
        ax.margins(x=0.05)
    axes[0].legend()


def fraction_left(values: np.ndarray, after: int) -> float:
    """How much of the largest |value| there still is after some steps."""
    return float(np.abs(values[after:]).max() / np.abs(values).max())


def rate(time: np.ndarray, values: np.ndarray) -> float:
    """Root mean square of the derivative over that of the values: the angular frequency of a harmonic motion."""
    change = np.gradient(values, time, axis=0)
    return float(np.sqrt(np.mean(change**2) / np.mean((values - values.mean(axis=0)) ** 2)))


def components(prefix: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{prefix}[{i}]": values[:, i] for i in range(values.shape[1])}


def draw_components(ax: plt.Axes, time: np.ndarray, values: np.ndarray, symbol: str, **line: object) -> None:
    for i, column in enumerate(values.T):
        ax.plot(time, column, label=f"${symbol}_{i + 1}$", **line)
    ax.set_xlabel("time t / s")


def draw_over_time(
    page: Page, runs: dict[str, top.Motion], values: dict[str, np.ndarray], label: str, *, log: bool
) -> None:
    _, axes = page.plot(1, len(runs))
    for ax, (title, run) in zip(axes, runs.items()):
        for i, column in enumerate(values[title].T):
            draw = ax.semilogy if log else ax.plot
            shown = np.where(np.abs(column) > 0, np.abs(column), np.nan) if log else column
            draw(run.time, shown, linewidth=0.9, label=f"component {i + 1}")
        ax.set(title=title, xlabel="time t / s", ylabel=label if ax is axes[0] else "")
        page.table(title_to_name(title), {"t": run.time} | components("value", values[title]))
    axes[0].legend()


def title_to_name(title: str) -> str:
    known = {text: name for name, text in SPACES.items()}
    return known.get(title, title.split()[0])


def draw_multiplier_errors(
    page: Page, curves: dict[str, tuple[np.ndarray, np.ndarray]], *, sharey: bool = False
) -> None:
    """e_lambda1 / |lambda| over time, side by side: Figures 13, 16, 17, 18."""
    _, axes = page.plot(1, len(curves), sharey=sharey)
    for number, (ax, (title, (time, error))) in enumerate(zip(axes, curves.items())):
        ax.plot(time, error, linewidth=1)
        ax.axhline(0, color=style.LIGHT.muted, linewidth=0.8)
        ax.set(title=title, xlabel="time t / s", ylabel="error of λ₁ / |λ|" if ax is axes[0] else "")
        page.table("left" if number == 0 else "right", {"t": time, "error": error})


@lru_cache(maxsize=None)
def transient_error(step: float, index: str, start: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and e_lambda1 / |lambda| on SO(3) x R3 in [0, 0.1]; start `shifted` is the numpy program."""
    exact = top.reference()
    if start == "shifted" and index == "3":
        run = small.heavy_top(step, round(TRANSIENT / step), rho=RHO, start="shifted")
        true = exact.multiplier[np.rint(run.time / top.FINEST).astype(int)]
        return run.time, (true[:, 0] - run.multiplier[:, 0]) / np.linalg.norm(true, axis=1)
    run = motion("r3so3", step, index, "plain" if start == "plain" else "corrected", TRANSIENT)
    return run.time, top.multiplier_error(exact, run)[:, 0]


def first_order_part(step: float) -> np.ndarray:
    """What the plain start adds to the multiplier's error in the stabilised form."""
    return transient_error(step, "stabilized", "plain")[1] - transient_error(step, "stabilized", "corrected")[1]

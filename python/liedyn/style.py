"""How figures of the project look. Every figure is drawn inside `with style.use():`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import matplotlib
from cycler import cycler


@dataclass(frozen=True)
class Theme:
    """Colours of a figure: `series` in the order of the lines, the rest neutral."""

    ink: str
    muted: str
    grid: str
    paper: str
    series: tuple[str, ...]


# Series: distinguishable with the common colour deficiencies, in this order, and of similar weight.
LIGHT = Theme(
    ink="#1f2328",
    muted="#656d76",
    grid="#e4e7eb",
    paper="#ffffff",
    series=("#2563a8", "#d1641e", "#2c8a63", "#8d5aa8", "#b5891a", "#5b6470"),
)
DARK = Theme(
    ink="#e3e6ea",
    muted="#98a1ab",
    grid="#2d333b",
    paper="#181b20",
    series=("#6aa9ec", "#f0965a", "#5dc39a", "#c495dc", "#dcb94e", "#a3acb8"),
)


def use(theme: Theme = LIGHT) -> AbstractContextManager[None]:
    """A context in which matplotlib draws in the project's style."""
    return matplotlib.rc_context(settings(theme))


def settings(theme: Theme = LIGHT) -> dict:
    """The style as settings of matplotlib, for `matplotlib.rcParams.update`."""
    return {
        "font.family": "sans-serif",
        "font.size": 10,
        "mathtext.fontset": "dejavusans",
        "text.color": theme.ink,
        "figure.facecolor": theme.paper,
        "figure.constrained_layout.use": True,
        "figure.dpi": 110,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.ink,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.titlecolor": theme.ink,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.xmargin": 0,
        "axes.prop_cycle": cycler(color=theme.series),
        "axes.formatter.use_mathtext": True,
        "axes.formatter.limits": (-3, 4),
        "grid.color": theme.grid,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.5,
        "lines.markersize": 5,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "legend.handlelength": 1.6,
    }


def quantity(name: str, unit: str) -> str:
    """Label of an axis: "angular velocity / (rad/s)"."""
    words = name.replace("_", " ")
    if not unit:
        return words
    symbol = unit.replace("^2", "²").replace(" ", "\u2009")
    return f"{words} / ({symbol})" if "/" in symbol or "\u2009" in symbol else f"{words} / {symbol}"

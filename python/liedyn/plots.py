"""Figures of studies: `python -m liedyn.plots STUDY.json FIGURE.png` draws what `liedyn converge|analyze-integrator --out STUDY` wrote."""

from __future__ import annotations

import argparse
import json
import math
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import matplotlib
import matplotlib.layout_engine
import matplotlib.ticker
import numpy as np

from liedyn import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from liedyn.linear import Modes

_MARKERS = "osD^vP"
_COMPONENTS = {1: ("",), 3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}


@dataclass
class _Drawn:
    """A channel in axes, which others may share."""

    name: str
    unit: str
    label: str
    components: Sequence[str]
    lines: list[Line2D]
    texts: list[str] = field(default_factory=list)  # labels that `_name_lines` gave to the lines


@dataclass
class _Shared:
    """What is in axes; an attribute of the axes, since it lives as long."""

    in_style: bool = False  # made here, in the project's style
    channels: list[_Drawn] = field(default_factory=list)
    label: str = ""  # of the axis, as it was set here


def component_name(index: int, components: int) -> str:
    """"x", "y", "z" of a vector, "w", "x", "y", "z" of a quaternion, numbers of others; nothing of a scalar."""
    known = _COMPONENTS.get(components)
    return known[index] if known else str(index)


def over_time(time: np.ndarray, values: np.ndarray, *, name: str, unit: str, ax: Axes | None = None, label: str = "", **line: Any) -> Axes:
    """A channel over time, one line per component. Channels that share axes are all named, by the legend and by the label of the axis."""
    import matplotlib.pyplot as plt

    columns = values.reshape(len(time), -1).T
    if ax is None:
        with style.use():
            _, ax = plt.subplots(figsize=(7, 3.6))
        ax.__dict__["_liedyn_shared"] = _Shared(in_style=True)
    elif "_liedyn_shared" not in ax.__dict__:
        ax.__dict__["_liedyn_shared"] = _Shared()
        _shorten_ticks(ax)
        _make_room(ax.figure)
    shared: _Shared = ax.__dict__["_liedyn_shared"]
    with style.use() if shared.in_style else nullcontext():
        lines = [ax.plot(time, column, **line)[0] for column in columns]
        components = [component_name(i, len(columns)) for i in range(len(columns))]
        shared.channels.append(_Drawn(name, unit, label, components, lines))
        _name_lines(shared.channels)
        ax.set_xlabel(style.quantity("time", "s"))
        if ax.get_ylabel() in ("", shared.label):  # not one that the caller has set
            ax.set_ylabel(_axis_label(shared.channels))
            shared.label = _wrapped(ax.yaxis.label, ax)
        ax.legend()
    return ax


def _name_lines(channels: Sequence[_Drawn]) -> None:
    """Labels of all lines: the name of the channel where there are several, or where nothing else says what the line is."""
    several = len({channel.name for channel in channels}) > 1
    for channel in channels:
        before, channel.texts = channel.texts, []
        for i, (component, line) in enumerate(zip(channel.components, channel.lines)):
            is_named = several or not (channel.label or component)
            parts = (channel.label, channel.name.replace("_", " ") if is_named else "", component)
            channel.texts.append(" ".join(part for part in parts if part))
            if not before or line.get_label() == before[i]:  # not one that the caller has changed
                line.set_label(channel.texts[-1])


def _axis_label(channels: Sequence[_Drawn]) -> str:
    units = {channel.name: channel.unit for channel in channels}
    if len(set(units.values())) == 1:
        return style.quantity(", ".join(units), channels[0].unit)
    return ", ".join(style.quantity(name, unit) for name, unit in units.items())


def _wrapped(label: Text, ax: Axes) -> str:
    """The label of the vertical axis in as many lines as the height of the axes needs."""
    height = ax.get_position().height * ax.figure.get_figheight() * 72
    letters = max(8, int(height / (0.5 * label.get_fontsize())))  # a letter is about as wide as half its height
    text = label.get_text()
    if len(text) > letters:
        # A line per quantity, if that is enough; a unit stays in one piece.
        parts = [part.replace(" / ", " /\u00a0") for part in text.replace(", ", ",\n").split("\n")]
        lines = [line for part in parts for line in textwrap.wrap(part, letters, break_long_words=False, break_on_hyphens=False)]
        label.set_text("\n".join(lines).replace("\u00a0", " "))
    return label.get_text()


class _Room(matplotlib.layout_engine.ConstrainedLayoutEngine):
    """Gives labels the room they need in a figure that has no layout of its own, until the caller sets margins."""

    _adjust_compatible = True

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self._margins = self._margins_of(figure)

    @staticmethod
    def _margins_of(figure: Figure) -> tuple[float, ...]:
        p = figure.subplotpars
        return (p.left, p.right, p.bottom, p.top, p.wspace, p.hspace)

    def execute(self, figure: Figure) -> Any:
        return super().execute(figure) if self._margins_of(figure) == self._margins else None


def _make_room(figure: Figure) -> None:
    """In a figure of the caller, where labels of neighbours would overlap or be cut off at the edge. Margins that were chosen stay."""
    if not hasattr(figure, "set_layout_engine") or figure.get_layout_engine() is not None:  # part of a figure, or laid out already
        return
    room = _Room(figure)
    defaults = tuple(matplotlib.rcParams[f"figure.subplot.{side}"] for side in ("left", "right", "bottom", "top", "wspace", "hspace"))
    specs = [ax.get_subplotspec() for ax in figure.axes if hasattr(ax, "get_subplotspec")]
    grids = [spec.get_gridspec() for spec in specs if spec is not None]
    chosen = any(getattr(grid, side, None) is not None for grid in grids for side in ("left", "right", "bottom", "top"))
    if room._margins == defaults and grids and not chosen:
        figure.set_layout_engine(room)


def _shorten_ticks(ax: Axes) -> None:
    """In axes of the caller, which are drawn in another style: 7.5 x 10^-4 once, above the axis, instead of 0.00075 at every tick, for
    which there may be no room beside the label."""
    formatter = ax.yaxis.get_major_formatter()
    if isinstance(formatter, matplotlib.ticker.ScalarFormatter) and not isinstance(formatter, matplotlib.ticker.LogFormatter):
        formatter.set_useMathText(True)
        formatter.set_powerlimits((-3, 4))


def convergence(data: dict[str, Any], *, work_precision: bool = False) -> Figure:
    """Errors of a convergence study against the step, a panel per quantity; below, if wanted, against the CPU time."""
    import matplotlib.pyplot as plt

    quantities = data["quantities"]
    rows = 2 if work_precision else 1
    legend_height = 0.25 * len(data["cases"])
    with style.use():
        figure = plt.figure(figsize=(1.2 + 3.4 * len(quantities), 0.7 + 3.3 * rows + legend_height))
        grid = figure.add_gridspec(rows + 1, len(quantities), height_ratios=[3.3] * rows + [legend_height])
        for column, quantity in enumerate(quantities):
            ax = figure.add_subplot(grid[0, column])
            _errors(ax, data, quantity, lambda row: row["step"])
            _slopes(ax, data, quantity)
            _label_steps(ax, data)
            if work_precision:
                ax = figure.add_subplot(grid[1, column])
                _errors(ax, data, quantity, lambda row: row["cpu_seconds"])
                _label_times(ax)
        below = figure.add_subplot(grid[rows, :])
        below.axis("off")
        below.legend(*figure.axes[0].get_legend_handles_labels(), loc="upper left", borderaxespad=0)
        figure.suptitle(f"{data['model']}, {_norm(data)}", x=0.01, ha="left", fontsize=10)
    return figure


def _label_steps(ax: Axes, data: dict[str, Any]) -> None:
    """Ticks at the steps themselves, as long as there is room for them."""
    ax.set_xlabel("step / s")
    steps = {f"{row['step']:.3g}" for case in data["cases"] for row in case["rows"]}
    if len(steps) <= 8:
        ax.set_xticks([float(step) for step in steps], list(steps), rotation=30, ha="right")
        ax.minorticks_off()


def _label_times(ax: Axes) -> None:
    """Ticks of CPU time at 1, 2, 5 times powers of ten, or at powers of ten alone, so that their labels do not touch."""
    ax.set_xlabel("CPU time / s")
    least, most = ax.get_xlim()
    if not 0 < least < most:
        return
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for room, factors in ((4, (1, 1.5, 2, 3, 4, 5, 7)), (5, (1, 2, 5)), (5, (1,))):
        ticks = [factor * 10.0**n for n in decades for factor in factors if least <= factor * 10.0**n <= most]
        if len(ticks) <= room:
            break
    ticks = ticks[:: math.ceil(len(ticks) / 5) or 1] or [float(f"{math.sqrt(least * most):.3g}")]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _norm(data: dict[str, Any]) -> str:
    return "relative errors at the end" if data["norm"] == "end" else "largest relative errors over the run"


def _errors(ax: Axes, data: dict[str, Any], quantity: str, abscissa) -> None:
    for number, case in enumerate(data["cases"]):
        points = [(abscissa(row), row["errors"][quantity]) for row in case["rows"] if row["completed"]]
        points = [(x, y) for x, y in points if x and y]
        ax.loglog(
            *(zip(*points) if points else ([], [])),
            marker=_MARKERS[number % len(_MARKERS)],
            label=f"{case['integrator']}, {case['formulation']}",
        )
    ax.margins(x=0.06)
    ax.set_title(f"error of {quantity}")


def _slopes(ax: Axes, data: dict[str, Any], quantity: str) -> None:
    """Dotted lines of the whole orders nearest to those observed, through the smallest errors."""
    for case in data["cases"]:
        order = case["fitted_orders"][quantity]
        points = [(row["step"], row["errors"][quantity]) for row in case["rows"] if row["completed"] and row["errors"][quantity]]
        if order is None or len(points) < 2 or round(order) < 1:
            continue
        (h0, _), (h1, e1) = points[0], points[-1]
        ax.loglog(
            [h1, h0], [e1, e1 * (h0 / h1) ** round(order)], linestyle=":", linewidth=0.8, color=style.LIGHT.muted, zorder=0
        )


def linear_analyses(data: dict[str, Any]) -> Figure:
    """Amplitude decay, period elongation and spectral radius over the step per solution of a stage, in parts of the period; below, where they
    were computed, the regions of stability."""
    import matplotlib.pyplot as plt

    panels = [("amplitude_decay", "amplitude decay / %", 100), ("period_elongation", "period elongation / %", 100)]
    analyses = data["linear_analyses"]
    regions = [one for one in analyses if "stability_region" in one]
    with style.use():
        legend_height = 0.25 * len(analyses)
        region_rows = -(-len(regions) // 3)
        figure = plt.figure(figsize=(11, 3.6 + 3.3 * region_rows + legend_height))
        grid = figure.add_gridspec(2 + region_rows, 3, height_ratios=[3.3] * (1 + region_rows) + [legend_height])
        axes = [figure.add_subplot(grid[0, column]) for column in range(3)]
        for ax, (key, label, factor) in zip(axes, [*panels, ("spectral_radius", "spectral radius", 1)]):
            for one in analyses:
                solutions = one["solutions_per_step"]
                rows = [(row["h_over_period"] / solutions, factor * row[key]) for row in one["rows"]]
                if key != "spectral_radius":  # the low frequencies
                    rows = [row for row in rows if row[0] <= 0.3]
                ax.plot(*zip(*rows), label=_short_name(one["integrator"]))
            ax.set_xlabel("h/(nT)")
            ax.set_title(label)
        axes[2].set_xscale("log")
        if max(row["spectral_radius"] for one in analyses for row in one["rows"]) > 10:  # explicit methods
            axes[2].set_ylim(0, 2)
        for number, one in enumerate(regions):
            _stability_region(figure.add_subplot(grid[1 + number // 3, number % 3]), one)
        below = figure.add_subplot(grid[-1, :])
        below.axis("off")
        below.legend(*axes[0].get_legend_handles_labels(), loc="upper left", borderaxespad=0)
    return figure


def _stability_region(ax: Axes, analysis: dict[str, Any]) -> None:
    """Where the spectral radius on y' = lambda y is at most 1, shaded."""
    import numpy as np

    region = analysis["stability_region"]
    x, y = np.array(region["real"]), np.array(region["imaginary"])
    radius = np.array(region["spectral_radius"]).reshape(len(y), len(x))
    y, radius = np.concatenate([-y[:0:-1], y]), np.concatenate([radius[:0:-1], radius])
    ax.contourf(x, y, radius, levels=[0, 1], colors=[style.LIGHT.series[0]], alpha=0.18)
    ax.contour(x, y, radius, levels=[1], colors=[style.LIGHT.series[0]], linewidths=1.2)
    ax.axhline(0, color=style.LIGHT.muted, linewidth=0.6)
    ax.axvline(0, color=style.LIGHT.muted, linewidth=0.6)
    ax.set_aspect("equal")
    ax.set_title(f"stable: {_short_name(analysis['integrator'])}")
    ax.set_xlabel("Re λh")
    ax.set_ylabel("Im λh")


def campbell(values: Sequence[float], found: Sequence[Modes], *, parameter: str = "", orders: Sequence[float] = ()) -> Figure:
    """Frequencies of modes over a parameter, a dot per mode; red where it grows. `orders` draws lines f = order value/2 pi, for speeds."""
    import matplotlib.pyplot as plt

    with style.use():
        figure, ax = plt.subplots(figsize=(7, 4.2))
        for value, modes in zip(values, found):
            shown = ~modes.rigid & (modes.eigenvalues.imag > 0)
            grows = modes.eigenvalues.real > 1e-9 * np.abs(modes.eigenvalues)
            for mask, color in ((shown & ~grows, "C0"), (shown & grows, "C3")):
                ax.plot(np.full(mask.sum(), value), modes.frequencies[mask], ".", color=color)
        for order in orders:
            ax.plot(values, order * np.asarray(values) / (2 * np.pi), linestyle=":", linewidth=0.8, color=style.LIGHT.muted)
        ax.set_xlabel(parameter)
        ax.set_ylabel("frequency / Hz")
    return figure


def root_locus(values: Sequence[float], found: Sequence[Modes], *, parameter: str = "") -> Figure:
    """Eigenvalues in the complex plane, coloured by a parameter."""
    import matplotlib.pyplot as plt

    with style.use():
        figure, ax = plt.subplots(figsize=(6, 4.6))
        points = [(value, s) for value, modes in zip(values, found) for s in (*modes.eigenvalues, *modes.eigenvalues.conj())]
        dots = ax.scatter([s.real for _, s in points], [s.imag for _, s in points], c=[value for value, _ in points], s=8)
        figure.colorbar(dots, ax=ax, label=parameter)
        ax.axvline(0, linewidth=0.8, color=style.LIGHT.muted)
        ax.set_xlabel("Re s / (1/s)")
        ax.set_ylabel("Im s / (1/s)")
    return figure


def _short_name(integrator: str) -> str:
    """Name and rho of an integrator that is described with all its options."""
    name, *options = integrator.split(",")
    return ", ".join([name, *(option for option in options if option.startswith("rho="))])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m liedyn.plots", description=__doc__)
    parser.add_argument("study", help="the JSON file of a study")
    parser.add_argument("figure", help="the file to draw, .png, .pdf or .svg")
    parser.add_argument("--work-precision", action="store_true", help="also draw errors against CPU time")
    options = parser.parse_args(arguments)
    matplotlib.use("Agg")
    with open(options.study, encoding="utf-8") as file:
        data = json.load(file)
    figure = linear_analyses(data) if "linear_analyses" in data else convergence(data, work_precision=options.work_precision)
    figure.savefig(options.figure, dpi=150)


if __name__ == "__main__":
    main()

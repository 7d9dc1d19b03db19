"""What a run gives: arrays over time, and the figures that sum it up."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn
from liedyn.derivatives import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPONENT_NAMES = {1: ("",), 3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}


class Result(Mapping[str, np.ndarray]):
    """The recorded sensors by name, each an array over `time`: shape (n,) for scalars, (n, components) for vectors.

    The arrays are read-only views onto the one table that the run wrote; each keeps it alive, also without the result.
    """

    def __init__(self, recorded: _liedyn.Result) -> None:
        self._recorded = recorded
        self.sensitivity: Sensitivity | None = None
        """Derivatives, where the run was asked for them."""

    @cached_property
    def time(self) -> np.ndarray:
        """The recorded times in seconds."""
        return self._recorded.time()

    @cached_property
    def table(self) -> np.ndarray:
        """All of it, one row per time: the time, then the components of the channels in their order."""
        return self._recorded.table()

    @cached_property
    def channels(self) -> dict[str, _liedyn.Channel]:
        """By name, with `unit` and the number of `components`."""
        return self._recorded.channels

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.channels:
            near = difflib.get_close_matches(str(name), self.channels, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.channels) or 'none'}"
            raise KeyError(f"no channel '{name}'; {hint}")
        return self._recorded.values(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels)

    def d(self, sensor: str, parameter: str) -> np.ndarray:
        """The derivative of a sensor with respect to a parameter over `sensitivity.time`: `time`, if all steps are equal."""
        if self.sensitivity is None:
            raise ValueError("this run has no derivatives; ask for them with run(..., sensitivities=[...])")
        return self.sensitivity.d(sensor, parameter)

    @property
    def completed(self) -> bool:
        """Whether the end was reached. If not, `failure` says why, and the arrays are complete up to there."""
        return self._recorded.completed

    @property
    def failure(self) -> str:
        """Time, step and worst equation of a numerical failure; empty if there was none."""
        return self._recorded.failure

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `liedyn run --json` prints: steps, iterations, wall time, drift of the energy, ..."""
        return json.loads(_liedyn.summary_json(self._recorded))

    def save(self, file: str | os.PathLike) -> None:
        """Writes the result; the extension (.csv, .h5) decides on the format."""
        _liedyn.write_results(self._recorded, os.fspath(file))

    def plot(self, name: str, *, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws a channel over time, one line per component, into `ax` or a new figure; gives back the axes.

        `line` goes to matplotlib's `plot`. With `label="..."` that text stands before the names of the components.
        """
        import matplotlib.pyplot as plt  # here, so that runs without plots need no matplotlib

        from liedyn import style

        values = self[name].reshape(len(self.time), -1)
        channel = self.channels[name]
        if ax is None:
            with style.use():
                _, ax = plt.subplots(figsize=(7, 3.6))
        label = line.pop("label", "")
        components = COMPONENT_NAMES.get(channel.components) or [str(i) for i in range(channel.components)]
        for component, column in zip(components, values.T):
            text = " ".join(part for part in (label, component) if part)
            ax.plot(self.time, column, label=text or name.replace("_", " "), **line)
        ax.set_xlabel(style.quantity("time", "s"))
        ax.set_ylabel(style.quantity(name, channel.unit))
        ax.legend()
        return ax

    def __repr__(self) -> str:
        state = "" if self.completed else ", stopped early"
        return f"<Result: {len(self.time)} times to t = {self.time[-1]:g} s{state}; {', '.join(self.channels)}>"

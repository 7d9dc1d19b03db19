"""Damping, dispersion, stability and order conditions of integrators on linear problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import COUNT, check, names, shown
from liedyn.errors import Diagnostic, InputError
from liedyn.result import short_integrator
from liedyn.tables import Shown, Table, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LinearAnalysis(Shown):
    """What `analyze_integrator` found, one entry per integrator."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The object that `liedyn analyze-integrator --json` prints."""

    @property
    def integrators(self) -> list[str]:
        """With all their options."""
        return [one["integrator"] for one in self.data["linear_analyses"]]

    def __len__(self) -> int:
        return len(self.data["linear_analyses"])

    def __getitem__(self, number: int) -> dict[str, Any]:
        """order, order_defects, solutions_per_step, radius_at_infinity, stable_to_real, stable_to_imaginary, ... of one integrator."""
        return self.data["linear_analyses"][number]

    def column(self, key: str, number: int = 0) -> np.ndarray:
        """"h_over_period", "spectral_radius", "amplitude_decay" or "period_elongation" of one integrator, a number per step."""
        return np.array([row[key] for row in self[number]["rows"]])

    def plot(self) -> Figure:
        from liedyn import plots  # here, so that studies without plots need no matplotlib

        return plots.linear_analyses(self.data)

    def _parts(self) -> list[str | Table]:
        head = ["integrator", "order", "solutions per step", "spectral radius at infinity"]
        rows = [
            [short_integrator(one["integrator"]), str(one["order"]), str(one["solutions_per_step"]), numbers(one["radius_at_infinity"], ".4g")]
            for one in self.data["linear_analyses"]
        ]
        return [Table(head, rows)]

    def __repr__(self) -> str:
        return f"<LinearAnalysis of {', '.join(name.partition(',')[0] for name in self.integrators)}>"


def analyze_integrator(
    integrators: Sequence[str] | str, *, h_over_period: Sequence[float] | None = None, region_points: int = 0
) -> LinearAnalysis:
    """How integrators treat x'' + omega^2 x = 0, as `liedyn analyze-integrator`.

    integrators:   with options, "lms2,rho=0.8".
    h_over_period: steps as fractions of the oscillator's period, ascending; 25 from 0.01 to 10 if not given.
    region_points: with at least 2, also the spectral radius on y' = lambda y over a grid of so many points along each axis.
    """
    check(region_points=(region_points, COUNT))
    try:
        steps = np.geomspace(0.01, 10, 25) if h_over_period is None else np.asarray(h_over_period, dtype=float)
    except (TypeError, ValueError):
        message = f"expected positive numbers in ascending order, got {shown(h_over_period)}"
        raise InputError([Diagnostic("", 0, "h_over_period", message)]) from None
    if steps.ndim != 1 or not np.all(np.isfinite(steps)) or np.any(steps <= 0) or np.any(np.diff(steps) <= 0):
        raise InputError([Diagnostic("", 0, "h_over_period", "expected positive numbers in ascending order")])
    if not 0 <= region_points <= 2000:
        raise InputError([Diagnostic("", 0, "region_points", f"expected a number from 0 to 2000, got {region_points}")])
    return LinearAnalysis(json.loads(_liedyn.linear_analysis_json(names(integrators, "integrators"), steps.tolist(), region_points)))

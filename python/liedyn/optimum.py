"""Optimisation and identification: studies as `liedyn optimize` takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from liedyn import _liedyn


class Optimum:
    """What a search has found.

    >>> found = ld.optimize("study.json")
    >>> found.variables["stiffness"]
    >>> found.objective, found.converged, found.reason
    """

    def __init__(self, data: dict[str, Any], history: np.ndarray) -> None:
        self.data = data
        """What `liedyn optimize --json` prints."""
        self.history = {"objective": history[:, 1], "violation": history[:, 2]}
        """Each evaluation: objective, violation of the constraints, and the variables by their names."""
        for i, name in enumerate(data["variables"]):
            self.history[name] = history[:, 3 + i]

    @property
    def variables(self) -> dict[str, float]:
        return self.data["variables"]

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers of the model, as `set` of `Model.run` takes them."""
        return self.data["parameters"]

    @property
    def objective(self) -> float:
        return self.data["objective"]

    @property
    def converged(self) -> bool:
        return self.data["converged"]

    @property
    def reason(self) -> str:
        return self.data["reason"]

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"<Optimum {self.objective:.6g}, {state} after {len(self.history['objective'])} evaluations>"


def optimize(study: str | Path | Mapping[str, Any], directory: str | Path = ".") -> Optimum:
    """Minimise or fit: a study as a file, or as a dictionary whose paths are relative to `directory`."""
    if isinstance(study, Mapping):
        file, text = Path(directory) / "study.json", json.dumps(study)
    else:
        file = Path(study)
        text = file.read_text()
    result, history = _liedyn.optimize(text, str(file))
    return Optimum(json.loads(result), history)

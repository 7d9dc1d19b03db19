"""Optimisation and identification: studies as `liedyn optimize` takes them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import FILE, FOLDER, check, shown
from liedyn.errors import Diagnostic, InputError
from liedyn.scratch import Scratch
from liedyn.source import Document, json_text
from liedyn.tables import Shown, Table, facts, numbers


class Optimum(Shown):
    """What a search has found.

    >>> found = ld.optimize("study.json")
    >>> found.variables["stiffness"]
    >>> found.objective, found.converged, found.reason
    """

    def __init__(self, data: dict[str, Any], report: str, history: np.ndarray) -> None:
        self.data = data
        """What `liedyn optimize --json` prints."""
        self.report = report
        """What was asked, what was found, and how: a page of Markdown."""
        self.history = {"objective": history[:, 1], "violation": history[:, 2]}
        """Each evaluation: objective, violation of the constraints (both NaN where the run failed), and the variables by their names."""
        for i, name in enumerate(data["variables"]):
            self.history[name] = history[:, 3 + i]

    @property
    def variables(self) -> dict[str, float]:
        return self.data["variables"]

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of the model, as `set` of `Model.run` takes them."""
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

    @property
    def standard_deviations(self) -> dict[str, float | None]:
        """Of the variables of a fit, from the residuals of the data; None where they are not known."""
        return self.data.get("standard_deviations", {})

    @property
    def residuals(self) -> dict[str, float]:
        """The root mean square of the residuals of each column of the data."""
        return self.data.get("residuals", {})

    def _parts(self) -> list[str | Table]:
        deviations = self.standard_deviations
        head = ["variable", "value", "standard deviation"] if deviations else ["variable", "value"]
        rows = [[name, numbers(value), *([numbers(deviations.get(name), ".3g")] if deviations else [])] for name, value in self.variables.items()]
        state = "converged" if self.converged else "not converged"
        figures = facts(("objective", numbers(self.objective)), ("evaluations", str(len(self.history["objective"]))))
        return [f"{state}: {self.reason}", figures, Table(head, rows)]

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"<Optimum {self.objective:.6g}, {state} after {len(self.history['objective'])} evaluations>"


def optimize(
    study: str | os.PathLike | Mapping[str, Any],
    directory: str | os.PathLike = ".",
    *,
    out: str | os.PathLike | None = None,
    restart: str | os.PathLike | None = None,
    progress: Callable[[dict[str, Any]], Any] | None = None,
) -> Optimum:
    """Minimise or fit: a study as a file, or as a dictionary whose paths are relative to `directory`; the model of a dictionary may be a
    dictionary or a `Builder` too.

    out:      a directory that gets result.json (also while the optimisation is running: it is what remains after Ctrl-C), history.csv and report.md.
    restart:  result.json of an earlier optimisation, to start from its solution.
    progress: is called after each evaluation with a dict of evaluation, objective, violation, variables, failure (why there are no values,
              or empty) and best (whether it is the best so far); the search ends if it returns False.
    """
    check(directory=(directory, FOLDER), out=(out, FOLDER), restart=(restart, FILE))
    if not isinstance(study, Mapping) and not FILE.test(study):
        raise InputError([Diagnostic("", 0, "study", f"expected the name of a file or a dict, got {shown(study)}")])
    if progress is not None and not callable(progress):
        raise InputError([Diagnostic("", 0, "progress", f"expected a function, got {shown(progress)}")])
    if isinstance(study, Mapping):
        study, scratch = dict(study), Scratch()
        if isinstance(study.get("model"), (Mapping, Document)):
            study["model"] = scratch.model(study["model"])
        file, text = Path(directory) / "study.json", json_text(study)
    else:
        file = Path(study)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not a text file"
            raise InputError([Diagnostic(str(file)[:200], 0, "", f"cannot be read: {why}")]) from None
    folder = Path(out) if out is not None else None
    before = 0  # evaluations of the search that this one goes on with
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        if restart is not None and (folder / "history.csv").exists():
            before = len((folder / "history.csv").read_text(encoding="utf-8").splitlines()) - 1

    def reported(evaluation: int, objective: float, violation: float, values: list[float], failure: str, best: bool, point: str) -> Any:
        names = list(json.loads(point)["variables"])
        if folder is not None:
            head = ",".join(["evaluation", "objective", "violation", *names])
            if evaluation == 1 and before > 0:
                with open(folder / "history.csv", encoding="utf-8") as history:
                    if history.readline() != head + "\n":
                        raise InputError([Diagnostic(str(folder / "history.csv"), 0, "", "is the history of another study", "use another directory")])
            if evaluation == 1 and before == 0:
                (folder / "history.csv").write_text(head + "\n", encoding="utf-8")
            row = [str(before + evaluation), *("" if x != x else repr(x) for x in (objective, violation, *values))]
            with open(folder / "history.csv", "a", encoding="utf-8") as history:
                history.write(",".join(row) + "\n")
            if best:
                _liedyn.write_whole(str(folder / "result.json"), point + "\n")
        if progress is None:
            return None
        seen = {"evaluation": evaluation, "objective": objective, "violation": violation}
        return progress(seen | {"variables": dict(zip(names, values)), "failure": failure, "best": best})

    watched = reported if folder is not None or progress is not None else None
    result, report, history = _liedyn.optimize(text, str(file), os.fspath(restart) if restart is not None else "", watched)
    if folder is not None:
        _liedyn.write_whole(str(folder / "result.json"), result + "\n")
        (folder / "report.md").write_text(report, encoding="utf-8")
    return Optimum(json.loads(result), report, history)

"""Errors and cost of integrators and formulations over a range of steps."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import FILE, POSITIVE_COUNT, SECONDS, check, is_finite, names, shown
from liedyn.compiled import Compiled, compiled, locating
from liedyn.errors import Diagnostic, InputError
from liedyn.result import Result
from liedyn.source import ModelSource
from liedyn.tables import Shown, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Case = Union[int, str]
"""A case by its number, or by its label: "generalized-alpha,sigma=1 se3"."""


class Convergence(Shown):
    """What `converge` found: a case per integrator and formulation, with a row per step, the largest step first."""

    def __init__(self, found: _liedyn.Convergence) -> None:
        self._csv = _liedyn.convergence_csv(found)
        self.data: dict[str, Any] = json.loads(_liedyn.convergence_json(found))
        """The object that `liedyn converge --json` prints."""

    @property
    def quantities(self) -> list[str]:
        """What has an error: "q", "v", "lambda" (if there are constraints), and the sensors asked for."""
        return self.data["quantities"]

    @property
    def cases(self) -> list[str]:
        """Labels, "INTEGRATOR FORMULATION"."""
        return [f"{case['integrator']} {case['formulation']}" for case in self.data["cases"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict per run, as the lines of the CSV file: integrator, formulation, step, error_q, order_q, ..."""
        out = []
        for case in self.data["cases"]:
            for row in case["rows"]:
                line = {"integrator": case["integrator"], "formulation": case["formulation"]}
                line.update((key, row[key]) for key in ("step", "steps"))
                for name in self.quantities:
                    line[f"error_{name}"] = row["errors"][name]
                    line[f"order_{name}"] = row["orders"][name]
                line.update((key, row[key]) for key in ("newton_per_step", "jacobians_per_step", "cpu_seconds"))
                line.update((key, row[key]) for key in ("completed", "failure"))
                out.append(line)
        return out

    def steps(self, case: Case = 0) -> np.ndarray:
        """The steps of a case, in seconds."""
        return np.array([row["step"] for row in self._case(case)["rows"]])

    def errors(self, case: Case = 0, quantity: str = "q") -> np.ndarray:
        """Its relative errors, one per step; nan where the run failed."""
        return self._column(case, "errors", quantity)

    def orders(self, case: Case = 0, quantity: str = "q") -> np.ndarray:
        """Observed orders between neighbouring steps; nan for the first."""
        return self._column(case, "orders", quantity)

    def order(self, case: Case = 0, quantity: str = "q") -> float:
        """Order by least squares over the last rows."""
        return _number(self._case(case)["fitted_orders"][self._known(quantity)])

    def cpu_seconds(self, case: Case = 0) -> np.ndarray:
        return np.array([_number(row["cpu_seconds"]) for row in self._case(case)["rows"]])

    def plot(self, *, work_precision: bool = False) -> Figure:
        """Draws the errors against the step, and with `work_precision` also against the CPU time."""
        from liedyn import plots  # here, so that studies without plots need no matplotlib

        return plots.convergence(self.data, work_precision=work_precision)

    def to_csv(self, file: str | os.PathLike) -> None:
        check(file=(file, FILE))
        try:
            with open(file, "w", encoding="utf-8") as out:
                out.write(self._csv)
        except OSError as error:
            raise InputError([Diagnostic(os.fspath(file), 0, "", f"cannot be written: {error.strerror}")]) from None

    def _parts(self) -> list[str | Table]:
        parts: list[str | Table] = [f"{self.data['model']}, reference: {self.data['reference']}"]
        head = ["step / s", *(word for name in self.quantities for word in (f"error {name}", "order")), ""]
        for label, case in zip(self.cases, self.data["cases"]):
            rows = []
            for row in case["rows"]:
                cells = [_text(row[key][name], form) for name in self.quantities for key, form in (("errors", ".3e"), ("orders", ".2f"))]
                rows.append([f"{row['step']:.5g}", *cells, "" if row["completed"] else f"failed: {row['failure']}"])
            parts.append(Table(head, rows, ">" * (len(head) - 1) + "<", title=label))
        return parts

    def __repr__(self) -> str:
        return f"<Convergence of {self.data['model']}: {len(self.cases)} cases, {len(self.rows)} runs>"

    def _case(self, case: Case) -> dict[str, Any]:
        if isinstance(case, str):
            if case not in self.cases:
                raise KeyError(f"no case '{case}'; there are {', '.join(self.cases)}")
            case = self.cases.index(case)
        return self.data["cases"][case]

    def _known(self, quantity: str) -> str:
        if quantity not in self.quantities:
            raise KeyError(f"no error of '{quantity}'; there are {', '.join(self.quantities)}")
        return quantity

    def _column(self, case: Case, key: str, quantity: str) -> np.ndarray:
        name = self._known(quantity)
        return np.array([_number(row[key][name]) for row in self._case(case)["rows"]])


@locating
def converge(
    model: ModelSource | Compiled,
    *,
    integrators: Sequence[str] | str | None = None,
    formulations: Sequence[str] | str | None = None,
    steps: Sequence[float] | None = None,
    start: float | None = None,
    end: float | None = None,
    set: Mapping[str, float] | None = None,
    reference: str | os.PathLike | Result = "fine",
    norm: str = "max",
    since: float | None = None,
    of: Sequence[str] | str = (),
    jobs: int = 1,
) -> Convergence:
    """Runs every integrator in every formulation with every step, and measures their errors.

    integrators:  with options, "generalized-alpha,sigma=1"; the model's own if not given.
    formulations: of `formulations()`; the model's own if not given.
    steps:        in seconds; each is made smaller so that it divides the interval. 4, 2, 1, 1/2, 1/4 times that of the
                  model if not given.
    reference:    "fine": the case that changes least between its two smallest steps, at an eighth of the smallest;
                  "INTEGRATOR@STEP": this one in the first formulation; a `Result` or the path of a .csv or .h5 file: then the
                  errors are those of the sensors recorded there.
    norm:         "max": the largest error at the times that all runs share; "end": that at the end.
    since:        leave out errors before this time.
    of:           sensors whose errors are wanted besides those of q, v and lambda.
    jobs:         runs at the same time. CPU times are those of each thread; 1 gives figures to quote.

    Runs that fail have rows that say why. Other threads run meanwhile. Ctrl-C stops it with KeyboardInterrupt.
    """
    check(start=(start, SECONDS), end=(end, SECONDS), since=(since, SECONDS), jobs=(jobs, POSITIVE_COUNT))
    if norm not in ("max", "end"):
        raise InputError([Diagnostic("", 0, "norm", f"expected max or end, got {norm!r}")])
    models = [compiled(model, set, name) for name in names(formulations, "formulations") or [None]]
    for joint in models[0]._joints:
        message = "convergence is measured from the configuration of the model, and from no other"
        raise InputError([Diagnostic("", 0, f"initial.{joint}", message)])
    options = _liedyn.ConvergeOptions(models[0]._compiled)
    options.sensors = names(of, "of", of="sensors")
    options.jobs = jobs
    if integrators is not None:
        options.integrators = names(integrators, "integrators")
    if steps is not None:
        if isinstance(steps, (str, Mapping)) or not hasattr(steps, "__iter__") or not all(map(is_finite, steps)):
            raise InputError([Diagnostic("", 0, "steps", f"expected a list of numbers of seconds, got {shown(steps)}")])
        options.steps = [float(step) for step in steps]
    if start is not None:
        options.start = start
    if end is not None:
        options.end = end
    if since is not None:
        options.since = since
    options.at_end = norm == "end"
    _refer(options, reference)
    return Convergence(_liedyn.converge([(one._compiled, one._params) for one in models], options))


def _refer(options: _liedyn.ConvergeOptions, reference: str | os.PathLike | Result) -> None:
    if isinstance(reference, Result):
        options.refer_to_result(reference._in_memory())
    elif isinstance(reference, str) and "@" in reference:
        integrator, _, step = reference.rpartition("@")
        try:
            options.refer_to_run(integrator, float(step))
        except ValueError:
            raise InputError([Diagnostic("", 0, "reference", f"expected INTEGRATOR@STEP, got {reference!r}")]) from None
    elif not FILE.test(reference):
        message = f'expected "fine", "INTEGRATOR@STEP", a Result or a file, got {shown(reference)}'
        raise InputError([Diagnostic("", 0, "reference", message)])
    elif reference != "fine":
        options.refer_to_table(_liedyn.read_results(os.fspath(reference)), os.fspath(reference))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _text(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)

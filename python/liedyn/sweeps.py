"""Many runs of one model with different parameters."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn.arguments import COUNT, RECORD, assignments, check, shown
from liedyn.compiled import Compiled, Configuration, compiled, located, locating
from liedyn.errors import Diagnostic, InputError, warn
from liedyn.result import Result, pandas_module
from liedyn.simulation import check_run, one_of, simulated
from liedyn.source import ModelSource
from liedyn.tables import Shown, Table, numbers, plural, shortened

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Sweep(Shown, Sequence[Result]):
    """The results of a sweep, in the order in which the runs were asked for.

    >>> found = ld.sweep("heavy_top", set=[{"spin": spin} for spin in (50, 100, 150)])
    >>> found[0]["position"]             # the first run
    >>> found.final("position")          # all runs: (runs, components)
    >>> found.failures                   # what went wrong, by number of the run
    """

    def __init__(self, set: Sequence[Mapping[str, float]], results: Sequence[Result | None], refused: Mapping[int, str]) -> None:
        self.set = [dict(one) for one in set]
        """The parameters of each run."""
        self._results = list(results)
        self.failures: dict[int, str] = dict(refused)
        """Why runs have no result (the model refused the parameters), or stopped early: number of the run and reason."""
        for i, result in enumerate(self._results):
            if result is not None and not result.completed:
                self.failures[i] = result.failure
        self.failures = dict(sorted(self.failures.items()))

    def __getitem__(self, run: int | slice) -> Any:
        """The result of a run, or a list of them; None where the model refused the parameters."""
        return self._results[run]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result | None]:
        return iter(self._results)

    @property
    def completed(self) -> np.ndarray:
        """Whether each run reached its end."""
        return np.array([i not in self.failures for i in range(len(self))], dtype=bool)

    def values(self, parameter: str) -> np.ndarray:
        """Of a parameter, one per run; nan where it was not set."""
        if not any(parameter in one for one in self.set):
            raise KeyError(f"no run sets '{parameter}'; there are {', '.join(self._paths()) or 'none'}")
        return np.array([one.get(parameter, np.nan) for one in self.set], dtype=float)

    def final(self, name: str) -> np.ndarray:
        """A channel ("position") or a component ("position[2]") at the end of each run; nan where a run did not reach its end."""
        shape = self._first()[name].shape[1:]
        out = np.full((len(self), *shape), np.nan)
        for i, result in enumerate(self._results):
            if result is not None and result.completed:
                out[i] = result[name][-1]
        return out

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row per run: the parameters, all sensors at the end, `completed` and `failure`."""
        columns: dict[str, Any] = {path: self.values(path) for path in self._paths()}
        if any(result is not None for result in self._results):
            columns |= {name: self.final(name) for name in self._first().columns[1:]}
        columns |= {"completed": self.completed, "failure": [self.failures.get(i, "") for i in range(len(self))]}
        return pandas_module().DataFrame(columns)

    def plot(self, name: str, *, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws a scalar channel or a component ("position[2]") of all runs over time, into `ax` or a new figure."""
        if self._first()[name].ndim > 1:
            message = f"expected a scalar channel or one component, got '{name}'"
            raise InputError([Diagnostic("", 0, "name", message, f'for example plot("{name}[0]")')])
        for one, result in zip(self.set, self._results):
            if result is not None:
                label = ", ".join(f"{path} = {value:g}" for path, value in one.items())
                ax = result.plot(name, ax=ax, **{"label": label} | line)
        return ax

    def _first(self) -> Result:
        for result in self._results:
            if result is not None:
                return result
        raise ValueError("no run has a result")

    def _paths(self) -> list[str]:
        return list(dict.fromkeys(path for one in self.set for path in one))

    def _parts(self) -> list[str | Table]:
        paths = self._paths()
        rows = []
        for i, (one, result) in enumerate(zip(self.set, self._results)):
            cells = [numbers(one.get(path), ".6g") for path in paths]
            steps = "-" if result is None else str(result.summary["steps"])
            reason = self.failures.get(i, "completed")
            rows.append([str(i), *cells, steps, reason if len(reason) <= 80 else reason[:77] + "..."])
        failed = f", {plural(len(self.failures), 'failure')}" if self.failures else ""
        head = ["run", *paths, "steps", "state"]
        return [f"{plural(len(self), 'run')}{failed}", Table(head, shortened(rows), ">" * (len(head) - 1) + "<")]

    def __repr__(self) -> str:
        return f"<Sweep: {plural(len(self), 'run')}, {plural(len(self.failures), 'failure')}>"


@locating
def sweep(
    model: ModelSource | Compiled,
    set: Sequence[Mapping[str, float]],
    *,
    threads: int = 0,
    formulation: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    initial: str | None = None,
    output_every: int | None = None,
    every: int | None = None,
    record: str | None = None,
    residuals: bool = False,
    solver: str | None = None,
) -> Sweep:
    """Runs a model with each of many sets of parameters, several runs at a time.

    >>> ld.sweep("heavy_top", set=[{"spin": spin} for spin in range(50, 200, 10)], every=0, threads=2)

    set:     a dict of paths and values per run.
    threads: how many runs go on at the same time; 0, the default: as many as there are processors. Each run has one thread.

    The other options are those of `run`. The results have the order of `set`, and the digits that `run(model, set=...)` gives. A run that
    fails does not end the others: `failures` says why, and there is one NumericalWarning for all. If the model refuses the parameters of
    every run, InputError is raised. A `Model` is compiled once for all runs, a name, a file or a dict anew for each.
    """
    check_run(integrator=integrator, step=step, start=start, end=end, initial=initial, residuals=residuals, solver=solver)
    check(threads=(threads, COUNT), record=(record, RECORD))
    example = 'for example set=[{"spin": 50}, {"spin": 100}]'
    if isinstance(set, (str, Mapping)) or not hasattr(set, "__iter__"):
        raise InputError([Diagnostic("", 0, "set", f"expected a list of dicts, one per run, got {shown(set)}", example)])
    runs = list(set)
    for i, one in enumerate(runs):
        assignments(one if one is not None else 0, f"set[{i}]")
    given = {"integrator": integrator, "step": step, "start": start, "end": end, "initial": initial, "solver": solver, "threads": 1}
    given |= {"output_every": one_of(output_every, every), "record_residuals": bool(residuals)}
    if isinstance(model, Compiled) and formulation is not None:
        model = compiled(model, None, formulation)
    stop = threading.Event()

    def run(one: Mapping[str, float]) -> Result | InputError:
        try:
            return simulated(compiled(model, one, formulation).recording(record), given, from_, stopped=stop.is_set)
        except InputError as error:
            return located(model, error)

    workers = threads or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(runs)))) as pool:
        futures = [pool.submit(run, one) for one in runs]
        try:
            found = [future.result() for future in futures]
        except BaseException:  # Ctrl-C: those that run are stopped, the others do not begin
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    refused = {i: str(one) for i, one in enumerate(found) if isinstance(one, InputError)}
    if found and len(refused) == len(found):
        raise found[0]
    out = Sweep(runs, [None if isinstance(one, InputError) else one for one in found], refused)
    _report(out)
    return out


def _report(found: Sweep) -> None:
    """What the runs warn of, once for all that say the same; then the failures."""
    said = dict.fromkeys(warning for result in found if result is not None for warning in result.summary["warnings"])
    for warning in said:
        warn(warning)
    if found.failures:
        first, reason = next(iter(found.failures.items()))
        warn(f"{len(found.failures)} of {plural(len(found), 'run')} failed; run {first}, {found.set[first]}: {reason}")

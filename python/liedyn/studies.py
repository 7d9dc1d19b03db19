"""Studies: thousands of runs with parameters from grids and distributions, kept in a store that survives failures.

>>> study = ld.Study("study.json")                  # or a dict with the content of such a file
>>> table = study.run("study.h5", threads=2)        # what the store has is not run again
>>> table.to_dataframe()
>>> study.run("study.h5", executor=dask_client)     # or any executor of concurrent.futures
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import COUNT, FILE, FLAG, FOLDER, check, shown
from liedyn.errors import Diagnostic, InputError, warn
from liedyn.model import Model
from liedyn.result import pandas_module
from liedyn.scratch import Scratch
from liedyn.simulation import sensitivity
from liedyn.source import Document, json_text
from liedyn.tables import Shown, Table, numbers, plural
from liedyn.view import StudyView

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

STATUSES = ("missing", "completed", "failed", "refused", "timed out")
STATISTICS = ("steps", "newton_iterations", "jacobian_updates", "rejected", "end")


class Study(Shown):
    """Parameters that vary, their sampling, and the outputs of each run: a file for `liedyn sweep`, or a dict with its content.

    >>> study = ld.Study({"liedyn_study": 1, "model": "heavy_top",
    ...                   "parameters": {"spin": {"distribution": "uniform", "lower": 50, "upper": 150}},
    ...                   "sampling": {"method": "sobol", "cases": 64},
    ...                   "outputs": {"lowest": "position[2]@min"}})
    """

    def __init__(self, study: str | os.PathLike | Mapping[str, Any], directory: str | os.PathLike = ".") -> None:
        check(directory=(directory, FOLDER))
        self._files: Scratch | None = None
        if isinstance(study, Mapping):
            content = {"liedyn_study": 1, **study}
            models = content.get("models") if isinstance(content.get("models"), (list, tuple)) else [content.get("model")]
            if any(isinstance(model, (Mapping, Document)) for model in models):
                scratch = self._files = Scratch()
                names = [scratch.model(model, i) if isinstance(model, (Mapping, Document)) else model for i, model in enumerate(models)]
                content.update({"models": names} if "models" in content else {"model": names[0]})
            self.file, self.text = str(Path(directory) / "study.json"), json_text(content)
        elif FILE.test(study):
            self.file = os.fspath(study)
            try:
                self.text = Path(study).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or "it is not a text file"
                raise InputError([Diagnostic(self.file[:200], 0, "", f"cannot be read: {why}")]) from None
        else:
            raise InputError([Diagnostic("", 0, "study", f"expected the name of a file or a dict, got {shown(study)}")])
        self._plan = _liedyn.SweepFile(self.text, self.file)
        self.layout: dict[str, Any] = json.loads(self._plan.layout)
        """Names of parameters and outputs, with units; how points are chosen; models, formulations and integrators."""

    def __len__(self) -> int:
        return self._plan.cases

    def values(self, cases: int | Sequence[int] | None = None) -> np.ndarray:
        """The parameters of a case, or of several: (cases, parameters). No model is run."""
        if isinstance(cases, (int, np.integer)):
            return self._plan.values([int(cases)])[0]
        return self._plan.values(list(range(len(self)) if cases is None else cases))

    def run(
        self,
        store: str | os.PathLike,
        *,
        threads: int = 0,
        executor: Any = None,
        retry: bool = False,
        progress: Callable[[int, int, int], Any] | None = None,
    ) -> StudyTable:
        """Runs all cases that the store does not have, and gives the store as a table.

        threads:  cases at the same time, in this process; 0: as many as there are processors.
        executor: runs them elsewhere instead: an executor of concurrent.futures (also mpi4py's MPIPoolExecutor), or a client of Dask.
                  Its processes need this package, and the files that the study names. The digits are the same.
        retry:    also those that did not complete.
        progress: is called with the cases done, those of them that did not complete, and all that are to be run.
        """
        check(store=(store, FILE), threads=(threads, COUNT), retry=(retry, FLAG))
        file = os.fspath(store)
        kept = str(Path(file).with_suffix("")) + "_results"
        plan = _liedyn.SweepFile(self.text, self.file, kept)
        opened = _liedyn.SweepStore(file, plan.layout)
        cases = opened.cases_to_run(plan, kept, bool(retry))
        report = None if progress is None else lambda done, failed: progress(done, failed, len(cases))
        try:
            if executor is None:
                opened.run(plan, cases, threads or len(os.sched_getaffinity(0)), report)
            elif cases:
                self._run_elsewhere(executor, opened, cases, kept, report)
        finally:
            try:
                opened.fold()
            finally:
                opened.close()  # who looks at an error may hold it for long
        found = load_study(file)
        found._study = self
        _report(found)
        return found

    def derivative_indices(self, name: str, *, cases: int = 64) -> dict[str, dict[str, float]]:
        """Derivative-based sensitivity of an output, by parameter, from exact derivatives (adjoint method) at the first cases of the study:
        "mean" of the derivative, "absolute" (mean of its absolute value), and "square" (mean of its square, Sobol and Kucherenko 2009).

        For a uniform parameter square (upper - lower)^2 / (pi^2 V), with the variance V of the output, is an upper bound of its total
        Sobol index: "total_bound", with V from the same cases.
        """
        check(cases=(cases, COUNT))
        study, variant = self.layout["study"], self.layout["variants"][0]
        output = study["outputs"].get(name)
        linked = [one["name"] for one in self.layout["parameters"] if not one["sampled"]]
        if not isinstance(output, str) or len(self.layout["variants"]) > 1 or linked:
            message = f"expected an output that is a string, one variant, and no linked parameters, got '{name}'"
            raise InputError([Diagnostic("", 0, "name", message)])
        beside = Path(self.file).parent / variant["model"]
        model = Model(str(beside) if beside.is_file() else variant["model"], formulation=variant["formulation"], set=study.get("set"))
        settings = {key: study.get("simulation", {}).get(key) for key in ("start", "end", "step", "initial")}
        paths = [path for one in self.layout["parameters"] for path in one["parameters"]]
        found, values = [], []
        for case in range(min(cases, len(self))):
            given = {path: x for one, x in zip(self.layout["parameters"], self.values(case)) for path in one["parameters"]}
            s = sensitivity(model, paths, [output], method="adjoint", set=given, integrator=variant["integrator"], **settings)
            if len(s.values) != 1:
                raise InputError([Diagnostic("", 0, "name", f"expected one component, got '{name}'", f'for example an output "{output}[0]"')])
            found.append(s.jacobian[0])
            values.append(s.values[0])
        derivatives, variance, first = np.array(found), float(np.var(values, ddof=1)), 0
        out: dict[str, dict[str, float]] = {}
        for one in self.layout["parameters"]:
            d = derivatives[:, first : first + len(one["parameters"])].sum(axis=1)  # all of them have its value
            first += len(one["parameters"])
            out[one["name"]] = {"mean": float(d.mean()), "absolute": float(np.abs(d).mean()), "square": float((d**2).mean())}
            given = study["parameters"][one["name"]]
            if isinstance(given, Mapping) and given.get("distribution") == "uniform" and variance > 0:
                out[one["name"]]["total_bound"] = float((d**2).mean()) * (given["upper"] - given["lower"]) ** 2 / (np.pi**2 * variance)
        return out

    def _run_elsewhere(self, executor: Any, store: Any, cases: list[int], kept: str, report: Callable[[int, int], Any] | None) -> None:
        if hasattr(executor, "get_executor"):  # a client of Dask
            executor = executor.get_executor(pure=False)
        if not hasattr(executor, "submit"):
            raise InputError([Diagnostic("", 0, "executor", f"expected an executor or a client of Dask, got {shown(executor)}")])
        workers = max(1, getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
        waiting, running, lost = list(reversed(cases)), {}, []
        done = failed = 0
        size, seconds = 1, 0.0
        while waiting or running:
            # Two tasks per worker are on their way; each takes about a quarter of a second.
            while waiting and len(running) < 2 * workers:
                some = [waiting.pop() for _ in range(min(size, len(waiting)))]
                try:
                    running[executor.submit(run_cases, self.text, self.file, kept, some, self._files.originals if self._files else {})] = some
                except Exception as error:  # noqa: BLE001  the executor is broken: what is stored stays
                    lost.append((some, error))
                    waiting.clear()
            if not running:
                break
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                some = running.pop(future)
                try:
                    records, elapsed = future.result()
                except InputError:
                    raise
                except Exception as error:  # noqa: BLE001  a worker has died, say: the others go on
                    lost.append((some, error))
                    continue
                store.add(records)
                done += len(records)
                failed = sum(store.count(status) for status in (2, 3, 4))
                seconds += elapsed
                size = int(np.clip(0.25 * done / max(seconds, 1e-9), 1, 1000))
                if report is not None:
                    report(done, failed)
        if lost:
            some, error = lost[0]
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            warn(f"{plural(sum(len(some) for some, _ in lost), 'case')} were lost with their workers, first case {some[0]} ({what}); the same call runs the missing cases")

    def _parts(self) -> list[str | Table]:
        head = f"{plural(len(self), 'case')}: {self.layout['sampling']}, {plural(self.layout['points'], 'point')}"
        return [head, Table(["parameter", "paths"], [[p["name"], ", ".join(p["parameters"])] for p in self.layout["parameters"]], "<<")]

    def __repr__(self) -> str:
        return f"<Study: {plural(len(self), 'case')}>"


_plans: dict[tuple[str, str, str], Any] = {}


def run_cases(text: str, file: str, kept: str, cases: list[int], originals: Mapping[str, str] = MappingProxyType({})) -> tuple[list[bytes], float]:
    """What an executor calls, in whatever process: the records of some cases. The study is read once in each process."""
    key = (text, file, kept)
    if key not in _plans:
        _plans.clear()
        for name, original in originals.items():
            _liedyn.stands_for(name, original)
        _plans[key] = _liedyn.SweepFile(text, file, kept)
    begin = time.perf_counter()
    return _plans[key].run(cases), time.perf_counter() - begin


class StudyTable(Shown):
    """The store of a study: a row per case, in the order of the cases.

    >>> table = ld.load_study("study.h5")
    >>> table["spin"], table["lowest"]       # arrays over the cases; outputs of several components have a column for each
    >>> table.statistics("lowest")           # of the cases that completed
    """

    def __init__(self, file: str, content: Mapping[str, Any]) -> None:
        self.file = file
        self._study: Study | None = None
        self.layout: dict[str, Any] = json.loads(content["layout"])
        """Names of parameters and outputs, with units; how points are chosen; models, formulations and integrators; the study."""
        self.status: np.ndarray = content["status"]
        """0 missing, 1 completed, 2 failed, 3 refused by the model, 4 timed out."""
        self.messages: list[str] = content["messages"]
        """Failure or warning of a case."""
        self.seconds: np.ndarray = content["seconds"]
        """Computing time of each case: the only column that is not the same in every run."""
        self._columns: dict[str, np.ndarray] = {}
        for i, one in enumerate(self.layout["parameters"]):
            self._columns[one["name"]] = content["parameters"][:, i]
        first = 0
        for one in self.layout["outputs"]:
            columns = content["outputs"][:, first : first + one["width"]]
            self._columns[one["name"]] = columns[:, 0] if one["width"] == 1 else columns
            first += one["width"]
        for i, name in enumerate(STATISTICS):
            self._columns.setdefault(name, content["statistics"][:, i])

    @property
    def parameters(self) -> list[str]:
        """Names of the varied parameters."""
        return [one["name"] for one in self.layout["parameters"]]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [one["name"] for one in self.layout["outputs"]]

    @property
    def completed(self) -> np.ndarray:
        """Whether each case reached its end."""
        return self.status == 1

    @property
    def failures(self) -> dict[int, str]:
        """Cases that did not complete, and why."""
        return {int(i): self.messages[i] for i in np.flatnonzero(self.status > 1)}

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, name: str) -> np.ndarray:
        """A parameter, an output ("tip") or a component of one ("tip[2]"), or a statistic ("steps"): one row per case."""
        if name in self._columns:
            return self._columns[name]
        base, bracket, index = name.partition("[")
        if bracket and base in self._columns and index.rstrip("]").isdigit() and self._columns[base].ndim == 2:
            return self._columns[base][:, int(index.rstrip("]"))]
        raise KeyError(f"the study has no '{name}'; there are {', '.join(self._columns)}")

    def variant(self, name: str) -> list[str]:
        """Of each case: its "model", "formulation" or "integrator"."""
        return [self.layout["variants"][i // self.layout["points"]][name] for i in range(len(self))]

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row per case: parameters, outputs, statistics, status and message."""
        columns: dict[str, Any] = {}
        if len(self.layout["variants"]) > 1:
            columns |= {name: self.variant(name) for name in ("model", "formulation", "integrator")}
        for name, values in self._columns.items():
            columns |= {name: values} if values.ndim == 1 else {f"{name}[{i}]": values[:, i] for i in range(values.shape[1])}
        columns |= {"seconds": self.seconds, "status": [STATUSES[s] for s in self.status], "message": self.messages}
        frame = pandas_module().DataFrame(columns)
        frame.index.name = "case"
        return frame

    def statistics(self, name: str, *, confidence: float = 0.95, resamples: int = 1000) -> dict[str, float]:
        """Mean, standard deviation, minimum, maximum and quantiles of an output over the cases that completed, with confidence intervals.

        The intervals are percentiles of a bootstrap with a fixed seed. They hold for independent points; for Latin hypercubes and
        sequences they are too wide.
        """
        values = self._one(name)[self.completed]
        values = values[np.isfinite(values)]
        if len(values) < 2:
            raise InputError([Diagnostic("", 0, "name", f"expected an output with at least two values, got {len(values)} of '{name}'")])
        tail = 100 * (1 - confidence) / 2
        random = np.random.default_rng(0)
        drawn = values[random.integers(0, len(values), (resamples, len(values)))] if len(values) * resamples <= 2e7 else None
        out = {"count": float(len(values)), "mean": float(values.mean()), "deviation": float(values.std(ddof=1))}
        out |= {"min": float(values.min()), "max": float(values.max())}
        out |= {f"quantile_{q:g}": float(np.quantile(values, q)) for q in (0.05, 0.5, 0.95)}
        half = 1.959963984540054 if confidence == 0.95 else float(np.sqrt(2)) * _erfinv(confidence)
        if drawn is None:  # the mean of so many values is normal
            error = half * out["deviation"] / np.sqrt(len(values))
            out |= {"mean_low": out["mean"] - error, "mean_high": out["mean"] + error}
        else:
            for key, found in (("mean", drawn.mean(axis=1)), ("deviation", drawn.std(axis=1, ddof=1))):
                out[f"{key}_low"], out[f"{key}_high"] = (float(x) for x in np.percentile(found, (tail, 100 - tail)))
        return out

    def sobol_indices(self, name: str, *, confidence: float = 0.95, resamples: int = 500) -> dict[str, dict[str, float]]:
        """Variance-based sensitivity indices of an output, by parameter: "first" order and "total", with confidence intervals.

        The study must be sampled by "saltelli". Estimators: Saltelli et al. 2010 (first order), Jansen 1999 (total).
        """
        names = self._sampled()
        runs, _ = self._design("saltelli", len(names) + 2, name)
        a, b, mixed = runs[:, 0], runs[:, 1], runs[:, 2:]
        return _with_bootstrap(names, lambda rows: _sobol(a[rows], b[rows], mixed[rows]), len(a), confidence, resamples, ("first", "total"))

    def morris(self, name: str, *, confidence: float = 0.95, resamples: int = 500) -> dict[str, dict[str, float]]:
        """Elementary effects of an output, by parameter: "mean", "absolute" (mean of the absolute values) and "deviation", per unit of the
        parameter's distribution function. The study must be sampled by "morris"."""
        names = self._sampled()
        runs, whole = self._design("morris", len(names) + 1, name)
        values = np.column_stack([self[n] for n in names]).reshape(len(whole), -1, len(names))[whole]
        effects = np.zeros((len(runs), len(names)))
        for path in range(len(runs)):
            for k in range(len(names)):
                # A discrete parameter may keep its value as its level changes: no effect.
                for moved in np.flatnonzero(values[path, k + 1] != values[path, k]):
                    sign = 1 if values[path, k + 1, moved] > values[path, k, moved] else -1
                    effects[path, moved] = sign * (runs[path, k + 1] - runs[path, k]) / 0.5
        def measures(rows: np.ndarray) -> tuple[np.ndarray, ...]:
            chosen = effects[rows]
            return chosen.mean(axis=0), np.abs(chosen).mean(axis=0), chosen.std(axis=0, ddof=1)
        return _with_bootstrap(names, measures, len(runs), confidence, resamples, ("mean", "absolute", "deviation"))

    def _one(self, name: str) -> np.ndarray:
        """The values of an output that is a number."""
        values = self[name]
        if values.ndim != 1:
            raise InputError([Diagnostic("", 0, "name", f"expected one component, got '{name}'", f'for example "{name}[0]"')])
        return values

    def _sampled(self) -> list[str]:
        return [one["name"] for one in self.layout["parameters"] if one["sampled"]]

    def _design(self, method: str, runs: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The output in the runs of each point that is complete, and which points are."""
        if self.layout["sampling"] != method:
            raise InputError([Diagnostic("", 0, "study", f'expected a study sampled by "{method}", got "{self.layout["sampling"]}"')])
        if len(self.layout["variants"]) > 1:
            raise InputError([Diagnostic("", 0, "study", "expected one model, formulation and integrator, got several")])
        table = self._one(name).reshape(-1, runs)
        whole = np.isfinite(table).all(axis=1)
        if not whole.all():
            warn(f"{plural(int((~whole).sum()), 'point')} of {len(whole)} are left out, since one of their cases did not complete")
        if whole.sum() < 2:
            raise InputError([Diagnostic("", 0, "study", "expected at least two points whose cases all completed")])
        return table[whole], whole

    def response_surface(self, name: str, *, degree: int = 2) -> ResponseSurface:
        """A polynomial of the sampled parameters that fits an output by least squares; `error` is that of leaving one case out."""
        return ResponseSurface(self, name, degree)

    def polynomial_chaos(self, name: str, *, degree: int = 3) -> Any:
        """The result of OpenTURNS' functional chaos for an output (package python3-openturns)."""
        try:
            import openturns as ot
        except ImportError:
            raise ImportError("polynomial chaos needs OpenTURNS: apt-get install python3-openturns") from None
        rows = self.completed & np.isfinite(self._one(name))
        names = self._sampled()
        points = ot.Sample(np.column_stack([self[n][rows] for n in names]))
        points.setDescription(names)
        values = ot.Sample(self[name][rows][:, None])
        marginals = [_openturns_distribution(ot, self.layout["study"]["parameters"][n]) for n in names]
        basis = ot.OrthogonalProductPolynomialFactory(marginals)
        size = basis.getEnumerateFunction().getStrataCumulatedCardinal(degree)
        algorithm = ot.FunctionalChaosAlgorithm(points, values, ot.ComposedDistribution(marginals), ot.FixedStrategy(basis, size), ot.LeastSquaresStrategy())
        algorithm.run()
        return algorithm.getResult()

    def view(self, *, study: Study | None = None, scenes: int = 0) -> StudyView:
        """A page with parallel coordinates, scatter plots, histograms and a table of all cases, as `liedyn sweep --html` writes it.

        scenes: how many cases it shows in 3D besides those that the study keeps, spread over the first output. They are run again, for
                which the study is needed: tables of `Study.run` have it, for those of `load_study` give it as `study`.
        """
        check(scenes=(scenes, COUNT))
        study = study or self._study
        if study is not None and not isinstance(study, Study):
            raise InputError([Diagnostic("", 0, "study", f"expected a Study, got {shown(study)}")])
        if study is None and scenes:
            message = "a store contains no motions: expected the study, to run cases again"
            raise InputError([Diagnostic("", 0, "scenes", message, "view(study=ld.Study(FILE), scenes=5)")])
        if study is not None and study.layout["fingerprint"] != self.layout["fingerprint"]:
            raise InputError([Diagnostic("", 0, "study", f"this study is not that of {self.file}")])
        page = _liedyn.study_page(self.file, Path(self.file).stem, study and study._plan, scenes)
        return StudyView(page, len(self))

    def plot_histogram(self, name: str, *, bins: int | str = "auto", ax: Axes | None = None) -> Axes:
        """How often an output has its values."""
        ax = _axes(ax)
        values = self._one(name)[self.completed]
        ax.hist(values[np.isfinite(values)], bins=bins, color="0.35")
        ax.set_xlabel(self._label(name))
        ax.set_ylabel("cases")
        return ax

    def plot_scatter(self, x: str, y: str, *, color: str | None = None, ax: Axes | None = None) -> Axes:
        """An output over a parameter, or any column over another; `color`: a third one."""
        ax = _axes(ax)
        rows = self.completed
        drawn = ax.scatter(self[x][rows], self[y][rows], s=8, c=None if color is None else self[color][rows], cmap="viridis", linewidths=0)
        if color is not None:
            ax.figure.colorbar(drawn, ax=ax, label=self._label(color))
        ax.set_xlabel(self._label(x))
        ax.set_ylabel(self._label(y))
        return ax

    def plot_parallel(self, names: Sequence[str] | None = None, *, color: str | None = None, ax: Axes | None = None) -> Axes:
        """Parallel coordinates: a line per case through its values, each axis from the least to the largest; coloured by the last of them."""
        import matplotlib.pyplot as plt

        ax = _axes(ax)
        outputs = [n for n in self.outputs if self[n].ndim == 1]
        names = list(names) if names is not None else [*self.parameters, *outputs]
        color = color or names[-1]
        rows = np.flatnonzero(self.completed)[:2000]  # more lines are a surface
        table = np.column_stack([self[n][rows] for n in names])
        low, high = table.min(axis=0), table.max(axis=0)
        scaled = (table - low) / np.where(high > low, high - low, 1)
        shade = self[color][rows]
        span = np.ptp(shade) or 1
        for line, s in zip(scaled, (shade - shade.min()) / span):
            ax.plot(range(len(names)), line, color=plt.cm.viridis(s), lw=0.6, alpha=0.5)
        for i in range(len(names)):
            ax.plot((i, i), (0, 1), color="0.4", lw=0.8)
            ax.annotate(f"{high[i]:.4g}", (i, 1), (0, 3), textcoords="offset points", ha="center", fontsize="small")
            ax.annotate(f"{low[i]:.4g}", (i, 0), (0, -11), textcoords="offset points", ha="center", fontsize="small")
        ax.set_xticks(range(len(names)), [self._label(n) for n in names])
        ax.tick_params(axis="x", pad=14, length=0)
        ax.set_yticks([])
        ax.set_ylim(-0.02, 1.06)
        for side in ("left", "right", "top", "bottom"):
            ax.spines[side].set_visible(False)
        return ax

    def _label(self, name: str) -> str:
        base = name.partition("[")[0]
        units = {one["name"]: one["unit"] for one in (*self.layout["parameters"], *self.layout["outputs"])}
        return f"{name} [{units[base]}]" if units.get(base) else name

    def _parts(self) -> list[str | Table]:
        counts = [f"{int((self.status == i).sum())} {word}" for i, word in enumerate(STATUSES) if (self.status == i).any()]
        names = [*self.parameters, *(n for n in self.outputs if self[n].ndim == 1)]
        most = 20
        rows = [[str(i), *(numbers(float(self[n][i]), ".6g") for n in names), STATUSES[self.status[i]]] for i in range(min(len(self), most))]
        head = ["case", *names, "status"]
        rest = [f"... and {len(self) - most} more"] if len(self) > most else []
        return [f"{plural(len(self), 'case')}: {', '.join(counts)}", Table(head, rows, ">" * (len(head) - 1) + "<"), *rest]

    def __repr__(self) -> str:
        return f"<StudyTable: {plural(len(self), 'case')}, {int(self.completed.sum())} completed>"


class ResponseSurface:
    """A polynomial in parameters: call it with their values."""

    def __init__(self, table: StudyTable, name: str, degree: int) -> None:
        self.parameters = table._sampled()
        rows = table.completed & np.isfinite(table._one(name))
        points = np.column_stack([table[n][rows] for n in self.parameters])
        self._center, scale = points.mean(axis=0), points.std(axis=0)
        self._scale = np.where(scale > 0, scale, 1)
        self._powers = _powers(len(self.parameters), degree)
        basis = self._basis(points)
        if len(basis) <= basis.shape[1]:
            message = f"expected more than {basis.shape[1]} completed cases for degree {degree}, got {len(basis)}"
            raise InputError([Diagnostic("", 0, "degree", message)])
        values = table[name][rows]
        q, r = np.linalg.qr(basis)
        self.coefficients = np.linalg.lstsq(basis, values, rcond=None)[0]
        # Leave one out: residual / (1 - leverage).
        left_out = (values - basis @ self.coefficients) / np.maximum(1 - (q**2).sum(axis=1), 1e-12)
        self.error = float(np.sqrt((left_out**2).mean()))
        """Root mean square of the errors at cases that the fit does not know."""
        self.explained = 1 - float((left_out**2).mean() / values.var()) if values.var() > 0 else 1.0
        """The part of the variance that it predicts (Q^2)."""

    def _basis(self, points: np.ndarray) -> np.ndarray:
        scaled = (points - self._center) / self._scale
        return np.column_stack([np.prod(scaled**power, axis=1) for power in self._powers])

    def __call__(self, **values: Any) -> np.ndarray:
        points = np.column_stack([np.atleast_1d(np.asarray(values[name], dtype=float)) for name in self.parameters])
        found = self._basis(points) @ self.coefficients
        return found if np.ndim(values[self.parameters[0]]) else float(found[0])


def load_study(store: str | os.PathLike) -> StudyTable:
    """Reads the store of a study, also while another process writes it, and after it was killed."""
    check(store=(store, FILE))
    return StudyTable(os.fspath(store), _liedyn.read_study_store(os.fspath(store)))


def _report(found: StudyTable) -> None:
    if failures := found.failures:
        first, reason = next(iter(failures.items()))
        warn(f"{len(failures)} of {plural(len(found), 'case')} did not complete; case {first}: {reason}")


def _erfinv(x: float) -> float:
    low, high = 0.0, 6.0
    from math import erf

    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if erf(middle) < x else (low, middle)
    return low


def _powers(variables: int, degree: int) -> list[np.ndarray]:
    found = [np.zeros(variables, dtype=int)]
    for power in found:
        if power.sum() < degree:
            last = int(np.flatnonzero(power)[-1]) if power.any() else 0
            for i in range(last, variables):
                more = power.copy()
                more[i] += 1
                found.append(more)
    return found


def _sobol(a: np.ndarray, b: np.ndarray, mixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    variance = np.concatenate([a, b]).var()
    # S_i = mean(b (ab_i - a))/V, T_i = mean((a - ab_i)^2)/(2 V); the mean of all values costs no accuracy, and saves much where it is large.
    centered = b - np.concatenate([a, b]).mean()
    first = (centered[:, None] * (mixed - a[:, None])).mean(axis=0) / variance
    total = ((a[:, None] - mixed) ** 2).mean(axis=0) / (2 * variance)
    return first, total


def _with_bootstrap(
    names: Sequence[str], measures: Callable[[Any], tuple[np.ndarray, ...]], count: int, confidence: float, resamples: int, keys: Sequence[str]
) -> dict[str, dict[str, float]]:
    found = measures(np.arange(count))
    random = np.random.default_rng(0)
    drawn = [measures(random.integers(0, count, count)) for _ in range(resamples)]
    tail = 100 * (1 - confidence) / 2
    out: dict[str, dict[str, float]] = {name: {} for name in names}
    for k, key in enumerate(keys):
        low, high = np.percentile([one[k] for one in drawn], (tail, 100 - tail), axis=0)
        for i, name in enumerate(names):
            out[name] |= {key: float(found[k][i]), f"{key}_low": float(low[i]), f"{key}_high": float(high[i])}
    return out


def _openturns_distribution(ot: Any, given: Mapping[str, Any]) -> Any:
    kind = given["distribution"]
    if kind == "uniform":
        return ot.Uniform(given["lower"], given["upper"])
    if kind == "log-uniform":
        return ot.LogUniform(float(np.log(given["lower"])), float(np.log(given["upper"])))
    if kind == "discrete":
        raise InputError([Diagnostic("", 0, "parameters", "expected continuous distributions, got a discrete one")])
    out = ot.Normal(given["mean"], given["deviation"]) if kind == "normal" else ot.LogNormal(float(np.log(given["median"])), given["log_deviation"])
    if "lower" in given and "upper" in given:
        return ot.TruncatedDistribution(out, given["lower"], given["upper"])
    if "lower" in given:
        return ot.TruncatedDistribution(out, given["lower"], ot.TruncatedDistribution.LOWER)
    if "upper" in given:
        return ot.TruncatedDistribution(out, given["upper"], ot.TruncatedDistribution.UPPER)
    return out


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]

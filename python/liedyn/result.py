"""What a run gives: arrays over time, and the figures that sum it up."""

from __future__ import annotations

import difflib
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import FILE, check
from liedyn.derivatives import Sensitivity
from liedyn.errors import Diagnostic, InputError
from liedyn.tables import Shown, Table, facts, numbers, plural, shortened
from liedyn.view import LiveView, View, recorded_view

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Tables(Mapping[str, np.ndarray]):
    """Arrays by name that are read from a file when they are first asked for."""

    def __init__(self, names: Sequence[str], read: Callable[[str], np.ndarray]) -> None:
        self._names = list(names)
        self._read = read
        self._known: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(f"no table '{name}'; there are {', '.join(self._names) or 'none'}")
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Tables: {', '.join(self._names) or 'none'}>"


class Result(Shown, Mapping[str, np.ndarray]):
    """The recorded sensors by name, each an array over `time`: shape (n,) for scalars, (n, components) for vectors. One component has the
    name that it has in files: `result["position[2]"]`.

    The arrays are read-only views onto the one table that the run wrote; each keeps it alive, also without the result. Of an .h5 file
    each array is read when it is first asked for.
    """

    def __init__(
        self, recorded: _liedyn.Result | _liedyn.StoredResult, *, has_summary: bool = True, events: Sequence[tuple[float, str]] = ()
    ) -> None:
        self._recorded = recorded
        self._events = list(events)  # an .h5 file has its own
        self._has_summary = has_summary
        self._file = ""  # where it is stored, with what is not in memory
        self._sensors = Tables(recorded.channels, recorded.values)
        self._scene: str | None = None  # of `view`, where the run was asked for it
        self.sensitivity: Sensitivity | None = None
        """Derivatives, where the run was asked for them."""
        self.page: LiveView | None = None
        """The page that shows the run, where it was asked for: `run(..., view=True)`."""

    @cached_property
    def time(self) -> np.ndarray:
        """The recorded times in seconds."""
        return self._recorded.time()

    @cached_property
    def table(self) -> np.ndarray:
        """All of it, one row per time: the time, then the components of the channels in their order."""
        return self._recorded.table()

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns of `table`, as in files: "t", "position[0]", "position[1]", ..., "energy"."""
        names = ["t"]
        for name, channel in self.channels.items():
            names += [name] if channel.components == 1 else [f"{name}[{i}]" for i in range(channel.components)]
        return names

    @cached_property
    def channels(self) -> dict[str, _liedyn.Channel]:
        """By name, with `unit` and the number of `components`."""
        return self._recorded.channels

    @property
    def units(self) -> dict[str, str]:
        """Of the channels, by name; empty where there is none, or if the result comes from a .csv file, which has none."""
        return {name: channel.unit for name, channel in self.channels.items()}

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.channels:
            return self._sensors[name]
        if name in self.columns[1:]:
            owner, _, index = name.rpartition("[")
            return self._sensors[owner][:, int(index[:-1])]
        near = difflib.get_close_matches(str(name), [*self.channels, *self.columns[1:]], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.channels) or 'none'}"
        raise KeyError(f"no channel '{name}'; {hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels)

    def _ipython_key_completions_(self) -> list[str]:
        return list(dict.fromkeys([*self.channels, *self.columns[1:]]))

    @property
    def _stored(self) -> _liedyn.StoredResult | None:
        return self._recorded if isinstance(self._recorded, _liedyn.StoredResult) else None

    def _in_memory(self) -> _liedyn.Result:
        return self._recorded.load() if self._stored else self._recorded

    def _summary_text(self) -> str:
        return self._stored.summary_json() if self._stored else _liedyn.summary_json(self._recorded)

    @property
    def status(self) -> str:
        """ "completed", "failed" or "stopped"; of an .h5 file also "running", or "killed" if its program ended before the run did."""
        if self._stored:
            return self._stored.status
        return "completed" if self.completed is not False else "failed"

    @cached_property
    def statistics(self) -> Tables:
        """Of an .h5 file that a run wrote, over `time`: "energy", "position_residual", "velocity_residual", "step", and "steps",
        "newton_iterations", "jacobian_updates", "rejected_steps" so far."""
        return Tables(self._stored.statistics, self._stored.statistic) if self._stored else Tables([], np.array)

    @cached_property
    def states(self) -> Tables:
        """Of an .h5 file with states: "q", "v", "vdot" and "lambda" over `time`, one column per number; `state_names` has their names."""
        if self._stored and self._stored.has_states:
            return Tables(["q", "v", "vdot", "lambda"], self._stored.states)
        return Tables([], np.array)

    def state_names(self, what: str) -> list[str]:
        """Names of the columns of `states[what]`: "top.position[0]", "top.orientation[3]", "joints.pivot: position x"."""
        if what not in self.states:
            raise KeyError(f"no states '{what}'; run(..., out=\"FILE.h5\", states=True) records them")
        return self._stored.state_names(what)

    @cached_property
    def events(self) -> list[tuple[float, str]]:
        """The events that have happened, with their times. Files other than .h5 and .npz do not keep them."""
        return self._stored.events() if self._stored else self._events

    def view(self) -> View:
        """The motion in 3D, of a run that was asked to keep it: `run(..., scene=True)`, or `run(..., out="FILE.h5", states=True)`.
        Notebooks show it; `.show()` opens a browser."""
        if self._scene is None and self.states:
            self._scene = self._stored.scene()
        return recorded_view(self._scene)

    def to_html(self, file: str | os.PathLike) -> None:
        """Writes a page with the motion in 3D."""
        self.view().to_html(file)

    def d(self, sensor: str, parameter: str) -> np.ndarray:
        """The derivative of a sensor with respect to a parameter over `sensitivity.time`: `time`, if all steps are equal."""
        if self.sensitivity is None:
            raise ValueError("this run has no derivatives; ask for them with run(..., sensitivities=[...])")
        return self.sensitivity.d(sensor, parameter)

    @property
    def completed(self) -> bool | None:
        """Whether the end was reached. If not, `failure` says why, and the arrays are complete up to there. None if the result comes from
        a .csv file, which does not say."""
        return self._recorded.completed if self._has_summary else None

    @property
    def failure(self) -> str:
        """Time, step and worst equation of a numerical failure; empty if there was none."""
        return self._recorded.failure

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `liedyn run --json` prints: steps, iterations, wall time, drift of the energy, ... Of a .csv file only the
        times and the final values are known."""
        known = json.loads(self._summary_text())
        if self._stored and known["energy"]["max_drift"] is None and "energy" in self.statistics and len(self.time):
            # The run has not ended, or not in order: largest values are those of the rows.
            rows = self.statistics
            known["energy"]["max_drift"] = float(np.max(np.abs(rows["energy"] - rows["energy"][0])))
            for level in ("position", "velocity"):
                known["constraint_residual"][level] = float(np.max(rows[f"{level}_residual"]))
        return known if self._has_summary else {key: known[key] for key in ("start", "end", "sensors")}

    def save(self, file: str | os.PathLike) -> None:
        """Writes the result; the extension decides on the format: .csv, .h5 (HDF5) or .npz (NumPy). `load_result` reads all of them."""
        check(file=(file, FILE))
        name = os.fspath(file)
        if name.endswith(".npz"):
            return self._save_npz(Path(name))
        if not name.endswith((".csv", ".h5")):
            raise InputError([Diagnostic("", 0, "file", f"expected a file that ends with .csv, .h5 or .npz, got '{name[:200]}'")])
        return _liedyn.write_results(self._in_memory(), name, self.events)

    def _save_npz(self, file: Path) -> None:
        """"time", one array "sensors/NAME" per channel, their "units" in this order, the "summary" as JSON, and if there are events
        "events/time" and "events/name"."""
        arrays = {"time": self.time} | {f"sensors/{name}": self[name] for name in self}
        if self.events:
            arrays |= {"events/time": np.array([t for t, _ in self.events]), "events/name": np.array([name for _, name in self.events])}
        summary = self._summary_text() if self._has_summary else ""
        part = file.with_name(file.name + ".part")  # the file appears under its name only when it is complete
        try:
            with open(part, "wb") as out:
                np.savez(out, units=np.array(list(self.units.values()), dtype=str), summary=np.array(summary), **arrays)
            os.replace(part, file)
        except OSError as error:
            part.unlink(missing_ok=True)
            why = f"there is no folder '{file.parent}'" if not file.parent.exists() else error.strerror
            raise InputError([Diagnostic(str(file), 0, "", f"cannot be written: {why}")]) from None

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame: one row per time (the index "t"), one column per component; `attrs["units"]` holds the units."""
        frame = pandas_module().DataFrame(self.table[:, 1:].copy(), index=self.time.copy(), columns=self.columns[1:])
        frame.index.name = "t"
        frame.attrs["units"] = self.units
        return frame

    def plot(self, name: str, *, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws a channel, or one component ("position[2]"), over time into `ax` or a new figure; gives back the axes.

        `line` goes to matplotlib's `plot`. With `label="..."` that text stands before the names of the components. Several channels may
        share axes: the legend and the label of the axis then name them all.
        """
        from liedyn import plots  # here, so that runs without plots need no matplotlib

        values = self[name]
        owner, _, index = name.partition("[") if name not in self.channels else (name, "", "")
        channel = self.channels[owner]
        title = f"{owner} {plots.component_name(int(index[:-1]), channel.components)}" if index else owner
        return plots.over_time(self.time, values, name=title, unit=channel.unit, ax=ax, **line)

    def _parts(self) -> list[str | Table]:
        if len(self.time) == 0:
            return [repr(self)]
        rows = [[name, numbers(self[name][-1], ".12g"), channel.unit or "-"] for name, channel in self.channels.items()]
        sensors = Table(["sensor", "at the end", "unit"], shortened(rows), "<<<")
        if not self._has_summary:
            return [f"t = {self.time[0]:.6g} ... {self.time[-1]:.6g} s, {plural(len(self.time), 'time')}", sensors]
        s = self.summary
        sizes = f"{s['step']:.6g} s"
        if s["largest_step"] > 1.001 * s["least_step"] > 0:
            sizes = f"{s['least_step']:.3g} to {s['largest_step']:.3g} s ({s['rejected_steps']} rejected)"
        solves = f"{s['newton_iterations']}, {plural(s['jacobian_updates'], 'matrix').replace('matrixs', 'matrices')}"
        drift, residual = s["energy"], s["constraint_residual"]
        chosen = " (chosen by a trial run)" if s["formulation_chosen"] else ""
        figures = [
            ("integrator", short_integrator(s["integrator"])),
            ("formulation", f"{s['formulation']}{chosen}, {plural(s['unknowns'], 'unknown')}, {s['solver']} solver"),
            ("Newton iterations", solves) if s["jacobian_updates"] else ("linear solves", str(s["newton_iterations"])),
            ("energy", f"{numbers(drift['final'])} J, largest change {numbers(drift['max_drift'], '.3g')} J"),
        ]
        residuals = f"position {numbers(residual['position'], '.3g')}, velocity {numbers(residual['velocity'], '.3g')}"
        return [
            f"{s['model']}: t = {s['start']:.6g} ... {s['end']:.6g} s in {plural(s['steps'], 'step')} of {sizes}"
            + (f", {s['wall_seconds']:.3g} s of wall time" if s["wall_seconds"] is not None else ""),
            facts(*(figures if s["integrator"] != "kinematics" else []), ("constraint residual", residuals)),  # driven motion has no integrator
            sensors,
            "" if self.completed else f"stopped early: {self.failure}",
        ]

    def __repr__(self) -> str:
        if len(self.time) == 0:
            return f"<Result: no times yet, {self.status}; {', '.join(self.channels)}>"
        state = ", stopped early" if self.completed is False else ""
        return f"<Result: {len(self.time)} times to t = {self.time[-1]:g} s{state}; {', '.join(self.channels)}>"

    def __reduce__(self) -> tuple:
        channels = [(channel.name, channel.unit, channel.components) for channel in self.channels.values()]
        summary = self._summary_text() if self._has_summary else ""
        content = (channels, np.array(self.table), summary, self.sensitivity, self._scene, self.events)
        return (_reopened, (self._file, *content)) if self._file else (_restored, content)


def load_result(file: str | os.PathLike) -> Result:
    """Opens a result that `Result.save` or `liedyn run --out` wrote: .h5, .npz or .csv. A .csv file has neither units nor a summary.

    Arrays of an .h5 file are read on first access, so that large ones open at once. It may be opened while it is written, and
    after its program was killed: `status` says so, and the result is what was there at that moment.
    """
    check(file=(file, FILE))
    name = os.fspath(file)
    if name.endswith(".npz"):
        return _load_npz(name)
    if name.endswith(".h5"):
        out = Result(_liedyn.StoredResult(name))
        out._file = os.path.abspath(name)
        return out
    if not name.endswith(".csv"):
        message, hint = "expected a result file that ends with .csv, .h5 or .npz", "Result.save(FILE) and liedyn run MODEL --out FILE write them"
        raise InputError([Diagnostic(name, 0, "", message, hint)])
    return Result(_liedyn.read_result(name), has_summary=False)


def _load_npz(name: str) -> Result:
    try:
        with np.load(name, allow_pickle=False) as content:
            channels, tables = [], [content["time"].reshape(-1, 1)]
            names = [key.removeprefix("sensors/") for key in content.files if key.startswith("sensors/")]
            units = content["units"].tolist()
            if len(units) != len(names):
                raise ValueError(f"expected {len(names)} units, got {len(units)}")
            for key, unit in zip(names, units):
                values = content[f"sensors/{key}"]
                tables.append(values.reshape(len(values), -1))
                channels.append((key, unit, tables[-1].shape[1]))
            summary = str(content["summary"])
            events = []
            if "events/time" in content.files:
                events = list(zip(content["events/time"].tolist(), content["events/name"].tolist()))
        table = np.hstack(tables).astype(float)
    except OSError as error:
        raise InputError([Diagnostic(name, 0, "", f"cannot be read: {error.strerror or error}")]) from None
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        message, hint = f"is not the result of a run: {error}", "numpy.load reads other .npz files"
        raise InputError([Diagnostic(name, 0, "", message, hint)]) from None
    return Result(_liedyn.make_result(channels, table, summary, name), has_summary=bool(summary), events=events)


def _restored(
    channels: list[tuple[str, str, int]],
    table: np.ndarray,
    summary: str,
    sensitivity: Sensitivity | None,
    scene: str | None = None,
    events: Sequence[tuple[float, str]] = (),
) -> Result:
    out = Result(_liedyn.make_result(channels, table, summary, ""), has_summary=bool(summary), events=events)
    out.sensitivity = sensitivity
    out._scene = scene
    return out


def _reopened(
    file: str,
    channels: list[tuple[str, str, int]],
    table: np.ndarray,
    summary: str,
    sensitivity: Sensitivity | None,
    scene: str | None,
    events: Sequence[tuple[float, str]],
) -> Result:
    """With all that the file has, if it is still there and that of the same run."""
    try:
        out = load_result(file)
        if out._summary_text() == summary:
            out.sensitivity, out._scene = sensitivity, scene
            return out
    except InputError:
        pass
    return _restored(channels, table, summary, sensitivity, scene, events)


def short_integrator(described: str) -> str:
    """The name, and the options that are not the defaults; `summary` has all of them."""
    name, *options = re.split(r",(?=[a-z_]+=)", described)
    listed = _liedyn.integrators().get(name)
    if listed is None:
        return described
    defaults = {option.name: option.default for option in listed.options.values()}
    return ",".join([name, *(option for option in options if defaults.get(option.partition("=")[0]) != option.partition("=")[2])])


def pandas_module() -> Any:
    try:
        import pandas
    except ImportError:
        hint = "without pandas: `table` is an array with the columns `columns`"
        raise ImportError(f"to_dataframe needs pandas, which is not installed: pip install pandas, or apt install python3-pandas ({hint})") from None
    return pandas

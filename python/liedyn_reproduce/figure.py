"""The seam: what a figure is, what its verdict is, and how one is run.

    @figure(
        "report-fig6",
        title="Heavy top, index 3: global errors against the step",
        source="Figure 6",
        claims={"order-q": "q converges with order 2 on SO(3) x R3"},
        reasons={"order-q": "why it is not met here, and how that was tested"},
        checks={"agree": "the reference and geom1 show the same motion"},
    )
    def fig6(page: Page) -> None:
        errors = ...                                        # simulate; `page.quick` asks for the coarse version
        page.table("errors", {"h": steps, "q": errors})     # report-fig6-errors.csv
        fig, ax = page.plot()                               # report-fig6.png and .svg, in the project's style
        ax.loglog(steps, errors)
        page.order("order-q", steps, errors, 2)             # one verdict for each claim and check
        page.below("agree", difference, 1e-3)

A claim is what the paper says, in our words, and its verdict must be able to fail; what is true by algebra or by
construction is a check, which is ours and counts apart. Each must be judged exactly once; numbers are never adjusted to
meet one. A claim that is not met has a reason, beside it in the decorator.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import platform
import re
import subprocess
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import _liedyn, style

PAPERS = {
    "report": "Arnold, Cardona, Brüls: A Lie algebra approach to Lie group time integration of constrained systems",
    "sigma": "Holzinger, Arnold, Gerstmayr: sigma-modified Lie group generalized-alpha methods for constrained "
    "multibody systems",
    "sensitivity": "Brüls, Eberhard: Sensitivity analysis for dynamic mechanical systems with finite rotations",
    "evaluation": "Holzinger, Arnold, Gerstmayr: Evaluation and implementation of Lie group integration methods for "
    "rigid multibody systems",
    "astable": "Zhang, Zhang, Zanoni, Masarati: Performance of implicit A-stable time integration methods for multibody "
    "system dynamics",
    "study": "none: studies of our own on the papers' examples",
}
"""The papers by the first word of their figures' names."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper about a figure, and how it stands here."""

    claim: str
    stated: str
    """The number, bound or word of the paper."""
    measured: str
    """Ours."""
    met: bool | None
    """None: it could not be examined; `note` says why."""
    note: str = ""
    ours: bool = False
    """A check of ours, not a claim of the paper."""
    key: str = ""
    reason: str = ""
    """Why it is not met, and how that was tested; empty if it is met."""

    @property
    def word(self) -> str:
        if self.met is None:
            return "not examined"
        return ("holds" if self.met else "fails") if self.ours else ("met" if self.met else "not met")


@dataclass(frozen=True)
class Origin:
    """What made a verdict, and when."""

    liedyn: str
    commit: str
    program: str
    """Digest of the engine, the Python modules and the models: equal for equal programs."""
    machine: str
    date: str

    @classmethod
    def here(cls) -> Origin:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        return cls(ld.__version__, commit(), program(), f"{platform.machine()}, {os.cpu_count()} cores", now)


@lru_cache(maxsize=None)
def program() -> str:
    package = Path(ld.__file__).parent
    files = [*package.glob("*.py"), *package.glob("_liedyn*"), *Path(__file__).parent.rglob("*.py")]
    files += [Path(_liedyn.find_model_file(name)) for name in ld.models()]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=None)
def commit() -> str:
    """Of the source tree in which this file stands; of the program on the path if it stands in none."""

    def answer(*command: str) -> str:
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return ""

    git = ("git", "-C", str(Path(__file__).resolve().parent))
    if head := answer(*git, "rev-parse", "--short=12", "HEAD").strip():
        changed = answer(*git, "status", "--porcelain", "--untracked-files=no", "--", ":/src", ":/python/liedyn", ":/python/liedyn_reproduce", ":/models")
        return head + (" with changes" if changed.strip() else "")
    found = re.search(r"^commit\s+(\S+)", answer("liedyn", "--version"), re.MULTILINE)
    return found[1] if found else "unknown"


@dataclass(frozen=True)
class Verdict:
    """What came of one figure."""

    name: str
    title: str
    paper: str
    source: str
    quick: bool
    seconds: float
    """Wall time; what figures of one module share counts for the first of them."""
    claims: list[Claim]
    notes: list[str]
    """How it was done, where the paper leaves a choice."""
    files: list[str]
    """What was written, relative to the directory of the output."""
    origin: Origin
    failure: str = ""
    """The error that ended it, if it has not come to a verdict."""

    def count(self, met: bool | None, *, ours: bool = False) -> int:
        """Claims of the paper that are met, not met or not examined; with `ours`, our own checks instead."""
        return sum(claim.met is met and claim.ours is ours for claim in self.claims)


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper that can be done again."""

    name: str
    title: str
    source: str
    """Where it stands in the paper: "Figure 6"."""
    claims: Mapping[str, str]
    """What the paper says about it, in our words, by key."""
    make: Callable[[Page], None]
    checks: Mapping[str, str] = field(default_factory=dict)
    """What we hold against it ourselves, by key."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a claim is not met, by its key."""

    @property
    def paper(self) -> str:
        return PAPERS[self.name.partition("-")[0]]


FIGURES: dict[str, Figure] = {}
"""By name, in the order of the papers."""


def figure(
    name: str,
    *,
    title: str,
    source: str,
    claims: Mapping[str, str],
    checks: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Callable[[Callable[[Page], None]], Callable[[Page], None]]:
    """Puts a function on the list of figures."""
    if strangers := set(reasons or {}) - set(claims):
        raise KeyError(f"{name} gives reasons for what it does not claim: {', '.join(sorted(strangers))}")

    def register(make: Callable[[Page], None]) -> Callable[[Page], None]:
        FIGURES[name] = Figure(name, title, source, claims, make, checks or {}, reasons or {})
        return make

    return register


@dataclass
class Page:
    """What a figure writes on: data, plots and verdicts."""

    figure: Figure
    directory: Path
    quick: bool = False
    judged: dict[str, Claim] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    _plots: list[tuple[str, plt.Figure]] = field(default_factory=list)

    # ---- data and plots

    def table(self, name: str, columns: Mapping[str, Iterable[Any]]) -> None:
        """Writes FIGURE-name.csv, or FIGURE.csv without a name; numbers with all their digits."""
        file = self._file(name, "csv")
        with open(file, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            for row in zip(*columns.values(), strict=True):
                writer.writerow([repr(float(x)) if isinstance(x, (float, np.floating)) else x for x in row])

    def plot(self, rows: int = 1, columns: int = 1, *, name: str = "", **options: Any) -> tuple[plt.Figure, Any]:
        """A figure with axes as `plt.subplots` gives them. It is written when the figure is complete."""
        options.setdefault("figsize", (4.2 * columns if columns > 1 else 6.4, 3.5 * rows))
        fig, axes = plt.subplots(rows, columns, **options)
        self._plots.append((name, fig))
        return fig, axes

    def note(self, text: str) -> None:
        self.notes.append(text)

    # ---- verdicts

    def judge(self, key: str, *, stated: str, measured: str, met: bool | None, note: str = "") -> None:
        """The verdict on one claim, in words."""
        ours = key in self.figure.checks
        if key not in self.figure.claims and not ours:
            raise KeyError(f"{self.figure.name} makes no claim '{key}'")
        if key in self.judged:
            raise KeyError(f"{self.figure.name} judges '{key}' twice")
        text = (self.figure.checks if ours else self.figure.claims)[key]
        met = None if met is None else bool(met)
        reason = self.figure.reasons.get(key, "") if met is False else ""
        self.judged[key] = Claim(text, stated, measured, met, note, ours, key, reason)

    def near(self, key: str, value: float, stated: float, *, digits: str, note: str = "") -> None:
        """A number that the paper prints in the format `digits`: met if ours is the same in these digits."""
        met = format(value, digits) == format(stated, digits)
        self.judge(key, stated=format(stated, digits), measured=f"{value:.4g}", met=met, note=note)

    def below(self, key: str, value: float, bound: float, *, note: str = "") -> None:
        self.judge(key, stated=f"at most {bound:g}", measured=f"{value:.3g}", met=value <= bound, note=note)

    def about(self, key: str, value: float, stated: float, *, within: float, note: str = "") -> None:
        """A number that the paper gives roughly: met within the given factor, either way."""
        met = stated / within <= value <= stated * within
        text = f"about {stated:g} (here: within a factor of {within:g})"
        self.judge(key, stated=text, measured=f"{value:.3g}", met=met, note=note)

    def order(
        self,
        key: str,
        steps: Sequence[float],
        errors: Mapping[str, Sequence[float]] | Sequence[float],
        stated: float,
        *,
        margin: float = 0.2,
        note: str = "",
    ) -> None:
        """The order of convergence: slope of the straight line through all (log h, log error)."""
        series = errors if isinstance(errors, Mapping) else {"": errors}
        slopes = {name: slope(steps, values) for name, values in series.items()}
        text = ", ".join(f"{name} {value:.2f}".strip() for name, value in slopes.items())
        met = all(abs(value - stated) <= margin for value in slopes.values())
        self.judge(key, stated=f"slope {stated:g}", measured=text, met=met, note=note)

    def not_examined(self, keys: Iterable[str], why: str) -> None:
        for key in keys:
            self.judge(key, stated="", measured="", met=None, note=why)

    # ---- the end

    def finish(self, begin: float) -> Verdict:
        """Writes plots and verdict; `begin` is the time at which the figure was begun."""
        for name, fig in self._plots:
            for extension in ("png", "svg"):
                fig.savefig(
                    self._file(name, extension), dpi=160, metadata={"Date": None} if extension == "svg" else None
                )
            plt.close(fig)
        keys = [*self.figure.claims, *self.figure.checks]
        missing = [key for key in keys if key not in self.judged]
        if missing:
            raise RuntimeError(f"{self.figure.name} leaves claims without a verdict: {', '.join(missing)}")
        return self.verdict(time.perf_counter() - begin, [self.judged[key] for key in keys])

    def fail(self, seconds: float, failure: str) -> Verdict:
        """The verdict of a figure that an error ended: every claim without one."""
        for _, fig in self._plots:
            plt.close(fig)
        texts = [*self.figure.claims.items(), *self.figure.checks.items()]
        claims = [
            Claim(text, "", "", None, "the figure failed", key in self.figure.checks, key) for key, text in texts
        ]
        return self.verdict(seconds, claims, failure)

    def verdict(self, seconds: float, claims: list[Claim], failure: str = "") -> Verdict:
        """Writes FIGURE.json."""
        entry = self.figure
        file = self._file("", "json")
        verdict = Verdict(
            entry.name, entry.title, entry.paper, entry.source, self.quick, round(seconds, 2), claims, self.notes,
            self.files, Origin.here(), failure,
        )  # fmt: skip
        # Written beside and renamed: a run that is interrupted leaves no half verdict.
        beside = file.with_suffix(".part")
        beside.write_text(json.dumps(asdict(verdict), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(file)
        return verdict

    def _file(self, name: str, extension: str) -> Path:
        file = f"{self.figure.name}{'-' if name else ''}{name}.{extension}"
        self.files.append(file)
        return self.directory / file


def run(name: str, directory: Path, *, quick: bool = False, go_on: bool = False) -> Verdict:
    """Does one figure again and writes what belongs to it into the directory. `go_on`: an error becomes its verdict."""
    directory.mkdir(parents=True, exist_ok=True)
    page = Page(FIGURES[name], directory, quick)
    begin = time.perf_counter()
    with style.use(), warnings.catch_warnings():
        # Some runs are meant to fail, and some parameters of the papers are doubtful; both are part of the story.
        warnings.simplefilter("ignore", ld.NumericalWarning)
        try:
            page.figure.make(page)
            return page.finish(begin)
        except Exception:
            if not go_on:
                raise
            return page.fail(time.perf_counter() - begin, traceback.format_exc())


def stored(name: str, directory: Path) -> Verdict | None:
    """The verdict that an earlier run left, if there is one that can be read."""
    try:
        content = json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
        # A reason comments on a result. It is today's, so that a reason can be added without running the figure again.
        reasons = FIGURES[name].reasons if name in FIGURES else {}
        claims = [
            Claim(**claim | {"reason": "" if claim["met"] is not False else reasons.get(claim["key"], "")})
            for claim in content.pop("claims")
        ]
        return Verdict(claims=claims, origin=Origin(**content.pop("origin")), **content)
    except (OSError, ValueError, KeyError, TypeError):
        return None


# ---- what figures share

Case = TypeVar("Case")
Answer = TypeVar("Answer")


threads = os.cpu_count() or 1
"""Of `in_parallel`. Processes that run figures beside each other share the cores, so that times are those of a core."""


def in_parallel(work: Callable[[Case], Answer], cases: Iterable[Case]) -> list[Answer]:
    """work(case) for all cases, in their order; simulations run outside of Python's lock."""
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(work, cases))


def interpolated(times: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values at other times, from rows at equal distances: the polynomial through the six nearest of them."""
    place = (at - times[0]) / (times[-1] - times[0]) * (len(times) - 1)
    first = np.clip(np.floor(place).astype(int) - 2, 0, len(times) - 6)
    x = place - first
    total = np.zeros((len(at), *values.shape[1:]))
    for k in range(6):
        others = [j for j in range(6) if j != k]
        # Lagrange: prod (x - j) / (k - j)
        weight = np.prod([(x - j) / (k - j) for j in others], axis=0)
        total += weight.reshape(-1, *(1,) * (values.ndim - 1)) * values[first + k]
    return total


def timed(run: Callable[[], ld.Result], *, total: float = 0.2, most: int = 10) -> tuple[ld.Result, float]:
    """A result, and the CPU time of its steps in seconds: the best of several runs, if they are short.

    The engine measures wall time. Of a long run counts the share in which this thread had a core; a short one has it all
    the time at least once.
    """
    times: list[float] = []
    while not times or (result.completed and sum(times) < total and len(times) < most):
        wall, cpu = time.perf_counter(), time.thread_time()
        result = run()
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
        seconds = result.summary["wall_seconds"]
        times.append(seconds * (min(1.0, cpu / wall) if seconds > total else 1.0))
    return result, min(times)


def slope(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Of the straight line through all points (log h, log error); nan if an error is missing."""
    logs = np.log(np.asarray(errors, dtype=float))
    if len(logs) < 2 or not np.isfinite(logs).all():
        return math.nan
    return float(np.polyfit(np.log(np.asarray(steps, dtype=float)), logs, 1)[0])


def slope_line(ax: plt.Axes, steps: Sequence[float], anchor: float, order: int) -> None:
    """A dotted line of the given slope through (smallest step, anchor)."""
    h = np.array([min(steps), max(steps)])
    ax.loglog(h, anchor * (h / h[0]) ** order, ":", color=style.LIGHT.muted, linewidth=1, label=f"slope {order}")

"""A study of our own: every integrator on every flexible model, at the papers' steps; who completes what, how well, and at what price."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.colors import LogNorm

import liedyn as ld
from liedyn_reproduce.astable.squeezer import solutions
from liedyn_reproduce.figure import Page, figure, in_parallel, interpolated

# ---- the models


@dataclass(frozen=True)
class Example:
    """A flexible model and what its runs are compared in."""

    model: str
    sensor: str
    step: float
    """h/n, the step for each of the n solutions of a stage: the paper's, or the model's own."""
    duration: float
    """In s; of variable steps and of the quick version a twentieth."""
    reference_step: float
    """Of ESDIRK4(3)6L[2]SA₂."""
    begin: float = 0.0


FOUR_BAR_RUN_UP = 4 * math.pi / 0.6
"""Two turns before t = 0."""
EXAMPLES = (
    Example("four_bar_flexible", "theta", 4e-3, 12 + FOUR_BAR_RUN_UP, 2e-3, begin=-FOUR_BAR_RUN_UP),
    Example("lateral_buckling", "theta", 1e-3, 0.8, 1e-4),
    Example("rotating_shaft", "position", 1e-3, 2.5, 1e-4),
    Example("princeton_beam", "tip", 1e-4, 0.1, 1e-5),
    Example("cantilever_45", "tip", 2e-4, 0.3, 2e-5),
    Example("flying_spaghetti", "end", 0.01, 10.0, 1e-3),
    Example("rotating_beam_spin_up", "deflection", 0.005, 20.0, 2e-3),
    Example("slider_crank_flexible", "deflection", 5e-5, 0.1, 5e-6),
)
SHORT = 1 / 20
"""Part of the duration for variable steps, which follow every vibration of the beams, and for the quick version."""
QUICK = ("lateral_buckling", "flying_spaghetti", "slider_crank_flexible")

# ---- the methods


@dataclass(frozen=True)
class Method:
    name: str
    options: str = ""
    formulation: str = "r3so3"

    @property
    def integrator(self) -> str:
        return ",".join(filter(None, (self.name, self.options)))

    @property
    def label(self) -> str:
        return self.integrator + ("" if self.formulation == "r3so3" else f" on {self.formulation}")

    @property
    def adaptive(self) -> bool:
        return "adaptive" in self.options


def with_rho(names: Iterable[str], *rhos: float) -> list[Method]:
    return [Method(name, f"rho={rho:g}") for name in names for rho in rhos]


ALPHA = "generalized-alpha"
FORMS = (
    "rho=0", "rho=0.6", "rho=0.9", "rho=0.6,sigma=1", "rho=0.6,sigma=opt", "rho=0.6,sigma=1,variant=paper", "rho=0.6,sigma=opt,variant=paper",
    "rho=0.6,form=linear", "rho=0.6,form=residual", "rho=0.6,index=2", "rho=0.6,index=stabilized", "rho=0.6,start=corrected",
    "rho=0.6,parameters=hht", "parameters=newmark", "rho=0.6,newton=modified", "rho=0.6,jacobian=simplified",
)  # fmt: skip
FORMULATIONS = ("r3so3-spatial", "se3", "euler-parameters", "cardan", "cardan-body", "minimal")
MULTISTEP, SINGLE, SUBSTEPS = ("lms2", "lms3", "lms4"), ("ss2", "ss3", "ss4"), ("bathe", "msstc3", "msstc4", "msstc5")
HIGHER, PAIRS = ("mssth3", "mssth4", "mssth5"), ("esdirk3-4", "esdirk3-5", "esdirk4-6")
EXPLICIT, EXPLICIT_PAIRS = ("rk44", "ode23", "dopri5", "rk67"), ("ode23", "dopri5")

IMPLICIT = [
    *(Method(ALPHA, form) for form in FORMS),
    *(Method(ALPHA, "rho=0.6", formulation) for formulation in FORMULATIONS),
    *with_rho((*MULTISTEP, *SINGLE, *SUBSTEPS), 0, 0.6),
    *with_rho(HIGHER, 0),
    *(Method(name) for name in PAIRS),
    *(Method(name, "rho=0.6,index=2") for name in ("lms2", "ss2", "bathe", "msstc4")),
    *(Method(name, "index=2") for name in ("esdirk3-4", "esdirk4-6")),
    *(Method("esdirk4-6", "", formulation) for formulation in FORMULATIONS),
]
TOLERANCE = 1e-4
VARIABLE = [
    *(Method(name, f"rho=0.6,adaptive=true,rtol={TOLERANCE:g}") for name in (ALPHA, "lms2")),
    *(Method(name, f"adaptive=true,rtol={TOLERANCE:g}") for name in PAIRS),
]
METHODS = [*IMPLICIT, *VARIABLE, *(Method(name) for name in EXPLICIT)]
PROJECTED = [Method(name, f"adaptive=true,rtol={TOLERANCE:g}") for name in EXPLICIT_PAIRS]

# ---- runs


@dataclass(frozen=True)
class Outcome:
    completed: bool
    reached: float
    """s after the start."""
    error: float
    """Largest difference to the reference over the run, relative to how far the quantity moves; nan of a run that does not complete."""
    seconds: float
    """Of computing time."""
    steps: int
    iterations: float
    """Per solution of a stage."""
    message: str

    @property
    def word(self) -> str:
        """For a cell of a table."""
        return f"{self.error:.0e}".replace("e-0", "e-").replace("e+0", "e") if self.completed else f"fails at {self.reached:.2g} s"


@lru_cache(maxsize=None)
def compiled(model: str, formulation: str) -> ld.Model:
    return ld.Model(model, formulation=formulation)


def columns(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)


@lru_cache(maxsize=None)
def reference(example: Example, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Times after the start, and the quantity at these."""
    step = example.reference_step
    begin = example.begin
    result = compiled(example.model, "r3so3").run(integrator="esdirk4-6", step=step, end=begin + length)
    if not result.completed:
        raise RuntimeError(f"reference of {example.model}: {result.failure}")
    return result.time - begin, columns(result[example.sensor])


def simulate(example: Example, method: Method, length: float, step: float) -> Outcome:
    begin, model = example.begin, compiled(example.model, method.formulation)
    clock = time.thread_time()
    result = model.run(integrator=method.integrator, step=step, end=begin + length)
    seconds = time.thread_time() - clock
    summary = result.summary
    n = 1 if method.name in EXPLICIT else solutions(method.name)
    error = math.nan
    if result.completed:
        times, wanted = reference(example, length)
        values = columns(result[example.sensor])
        exact = interpolated(times, wanted, result.time - begin)
        moved = np.linalg.norm(wanted - wanted[0], axis=1).max()
        error = float(np.linalg.norm(values - exact, axis=1).max() / moved)
    return Outcome(
        result.completed,
        float(summary["end"]) - begin,
        error,
        seconds,
        int(summary["steps"]),
        summary["newton_iterations"] / (n * max(summary["steps"], 1)),
        result.failure or "",
    )


def all_runs(example: Example, page: Page) -> dict[Method, Outcome]:
    def one(method: Method) -> Outcome:
        n = 1 if method.name in EXPLICIT or method.adaptive else solutions(method.name)
        length = example.duration * (SHORT if page.quick or method.adaptive else 1)
        return simulate(example, method, length, n * example.step)

    return dict(zip(METHODS, in_parallel(one, METHODS), strict=True))


# ---- what explicit methods need


@dataclass(frozen=True)
class Need:
    """The steps an explicit method needs, from a short part of the motion."""

    step: float
    seconds: float
    """For the whole motion, by the time of a step; nan if no step was small enough."""


SHORT_STEPS, MOST_HALVINGS = 2000, 20


def need(example: Example, method: Method) -> Need:
    """Equal steps: half and half again until 2000 of them are taken with the quantity within its range. Otherwise the mean step of a short run."""
    model, begin = compiled(example.model, "r3so3"), example.begin
    if method.adaptive:
        short = example.duration / 500
        clock = time.thread_time()
        result = model.run(integrator=method.integrator, step=example.step, end=begin + short, every=0)
        if not result.completed:
            return Need(math.nan, math.nan)
        return Need(short / result.summary["steps"], (time.thread_time() - clock) * example.duration / short)
    step = example.step
    for _ in range(MOST_HALVINGS):
        short = min(SHORT_STEPS * step, example.duration)
        clock = time.thread_time()
        result = model.run(integrator=method.integrator, step=step, end=begin + short, every=0)
        if result.completed:
            return Need(step, (time.thread_time() - clock) * example.duration / short)
        step /= 2
    return Need(math.nan, math.nan)


# ---- the study


@figure(
    "study-flexible-integrators",
    title="Flexible models: every integrator at the papers' steps",
    source="our own",
    claims={},
    checks={
        "implicit": "implicit methods complete at least nine of ten runs with equal steps",
        "explain": "every run that does not complete says where and why",
        "explicit": "explicit methods complete none of the models with exact beams at these steps, and have a step for each of them",
    },
)
def flexible_integrators(page: Page) -> None:
    examples = [example for example in EXAMPLES if not page.quick or example.model in QUICK]
    outcomes = {example: all_runs(example, page) for example in examples}
    explicit = [*(Method(name) for name in EXPLICIT), *([] if page.quick else PROJECTED)]
    cases = [(example, method) for example in examples for method in explicit]
    needs = dict(zip(cases, in_parallel(lambda case: need(*case), cases), strict=True))
    rows = [(example, method, one) for example, table in outcomes.items() for method, one in table.items()]
    page.table(
        "",
        {
            "model": [example.model for example, *_ in rows],
            "method": [method.label for _, method, _ in rows],
            "completed": ["yes" if one.completed else "no" for *_, one in rows],
            "reached": [one.reached for *_, one in rows],
            "error": [one.error for *_, one in rows],
            "seconds": [one.seconds for *_, one in rows],
            "steps": [one.steps for *_, one in rows],
            "iterations": [one.iterations for *_, one in rows],
            "message": [one.message or "-" for *_, one in rows],
        },
    )
    page.table(
        "explicit",
        {
            "model": [example.model for example, _ in needs],
            "method": [method.label for _, method in needs],
            "step": [one.step for one in needs.values()],
            "seconds_of_the_whole": [one.seconds for one in needs.values()],
        },
    )
    draw(page, outcomes)
    judge(page, outcomes, needs)
    page.note(
        "error: largest difference to ESDIRK4(3)6L[2]SA₂ with a small step over the whole run, relative to how far the quantity moves; "
        "steps are the papers' (four-bar, buckling, shaft) or the models' own for each solution of a stage; variable steps over the "
        "first twentieth of the motion, with a relative tolerance of 1e-4"
    )


def judge(page: Page, outcomes: dict[Example, dict[Method, Outcome]], needs: dict[tuple[Example, Method], Need]) -> None:
    equal = [table[method] for table in outcomes.values() for method in IMPLICIT]
    done = sum(one.completed for one in equal)
    page.judge("implicit", stated="nine of ten", measured=f"{done} of {len(equal)}", met=done >= 0.9 * len(equal))
    failed = [one for table in outcomes.values() for one in table.values() if not one.completed]
    silent = [one for one in failed if not (one.message.startswith("t = ") and "'" in one.message)]
    page.judge(
        "explain",
        stated="the time, the step and an equation by name",
        measured=f"{len(failed) - len(silent)} of {len(failed)}" + "".join(f"; {one.message}" for one in silent[:3]),
        met=not silent,
    )
    beams = [table for example, table in outcomes.items() if example.model != "slider_crank_flexible"]
    completed = sum(table[Method(name)].completed for table in beams for name in EXPLICIT)
    missing = [f"{method.label} on {example.model}" for (example, method), one in needs.items() if math.isnan(one.step)]
    page.judge(
        "explicit",
        stated="none completes, each has a step",
        measured=f"{completed} complete; without a step: {', '.join(missing) or 'none'}",
        met=completed == 0 and not missing,
    )


def draw(page: Page, outcomes: dict[Example, dict[Method, Outcome]]) -> None:
    fig, ax = page.plot(figsize=(8.4, 0.17 * len(METHODS) + 1.6))
    grid = np.array([[table[method].error for table in outcomes.values()] for method in METHODS])
    image = ax.imshow(np.clip(grid, 1e-6, 1), norm=LogNorm(1e-6, 1), cmap="YlOrBr", aspect="auto")
    for row, method in enumerate(METHODS):
        for column, table in enumerate(outcomes.values()):
            one = table[method]
            ax.text(
                column, row, one.word if one.completed else "fails", ha="center", va="center", fontsize=6,
                color="black" if one.completed else "#a83a32",
            )  # fmt: skip
    ax.set_xticks(range(len(outcomes)), [example.model for example in outcomes], rotation=30, ha="left", fontsize=7)
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(METHODS)), [method.label for method in METHODS], fontsize=6)
    ax.tick_params(length=0)
    ax.grid(False)
    fig.colorbar(image, ax=ax, label="largest error relative to the motion", shrink=0.5)

"""A study of our own: what RK44 costs on the group and in rotation parameters, on the heavy top and the rotor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import liedyn as ld
from liedyn_reproduce import heavy_top, rotor
from liedyn_reproduce.figure import Page, figure

ACCURACY = 1e-6
"""m"""
FORMULATIONS = {
    "R3xSO3": "r3so3",
    "inertial axes": "r3so3-spatial",
    "Euler parameters": "euler-parameters",
    "Cardan, body velocities": "cardan-body",
    "Cardan, rates": "cardan",
}
GROUP, RATES = "R3xSO3", "Cardan, rates"


@dataclass(frozen=True)
class Work:
    """A formulation over the number of steps, which doubles; the last run is the first below the accuracy."""

    steps: np.ndarray
    error: np.ndarray
    """nan where the run fails."""
    per_step: float
    """CPU time of a step in s."""

    @property
    def seconds(self) -> np.ndarray:
        return self.steps * self.per_step

    @property
    def steps_for_accuracy(self) -> float:
        """On the line through the last two runs."""
        return float(np.exp(np.interp(-np.log(ACCURACY), -np.log(self.error[-2:]), np.log(self.steps[-2:]))))

    @property
    def seconds_for_accuracy(self) -> float:
        return self.steps_for_accuracy * self.per_step


def measure(model: ld.Model, sensor: str, exact: np.ndarray, end: float, first: int) -> Work:
    """With `first` steps and twice as many again, until the error is below the accuracy."""
    rows: list[tuple[int, float]] = []
    while not rows or not rows[-1][1] < ACCURACY:
        steps = first * 2 ** len(rows)
        result = model.run(integrator="rk44", step=end / steps, end=end, every=0)
        rows.append((steps, float(np.linalg.norm(result[sensor][-1] - exact)) if result.completed else np.nan))
    counts, errors = (np.array(column, dtype=float) for column in zip(*rows))
    return Work(counts, errors, time_of_a_step(model, end / rows[-1][0]))


def time_of_a_step(model: ld.Model, step: float) -> float:
    """The least over many short runs: other work on the machine interrupts some of them only."""
    count, runs = 200, 200
    return min(
        model.run(integrator="rk44", step=step, end=count * step, every=0).summary["wall_seconds"] / count
        for _ in range(runs)
    )


def rotor_reference(end: float) -> np.ndarray:
    """Inertial axes, in which the motion is smooth, and sixth order."""
    return rotor.model("r3so3-spatial").run(integrator="rk67", step=1e-5, end=end, every=0)["left"][-1]


@figure(
    "study-explicit",
    title="RK44 on the group and in rotation parameters: work for an accuracy of 1e-6 m",
    source="our own",
    claims={},
    checks={
        "top": "heavy top: Cardan angles with rates need at least 30 times the steps of the group",
        "rotor": "rotor: Cardan angles with rates need at least 5 times the steps of the group",
        "reference": "the two references are the known answers of the models",
    },
)
def explicit(page: Page) -> None:
    rotor_end = 0.25 if page.quick else 1.0
    top_exact, rotor_exact = heavy_top.reference().position[-1], rotor_reference(rotor_end)
    first = 2**10, 2 ** (11 if page.quick else 13)
    tables: dict[str, dict[str, Work]] = {"heavy top": {}, "rotor": {}}
    for name, formulation in FORMULATIONS.items():
        top = ld.Model("heavy_top_free", formulation=formulation)
        tables["heavy top"][name] = measure(top, "position", top_exact, 1, first[0])
        tables["rotor"][name] = measure(rotor.model(formulation), "left", rotor_exact, rotor_end, first[1])
    draw(page, tables)
    write(page, tables)
    for key, table, factor in zip(("top", "rotor"), tables.values(), (30, 5)):
        group, rates = table[GROUP], table[RATES]
        ratio = rates.steps_for_accuracy / group.steps_for_accuracy
        page.judge(
            key,
            stated=f"at least {factor} times",
            measured=f"{ratio:.1f} times ({group.steps_for_accuracy:.0f} and {rates.steps_for_accuracy:.0f} steps)",
            met=ratio >= factor,
            note=f"{rates.seconds_for_accuracy / group.seconds_for_accuracy:.0f} times the CPU time: a step takes "
            f"{1e6 * group.per_step:.2f} and {1e6 * rates.per_step:.2f} microseconds",
        )
    # models/heavy_top/README.md and models/rotor/README.md
    known = np.array([0.173343964098, 0.640088592070, -0.748490791134])
    top_off = float(np.abs(top_exact - known).max())
    rotor_known = np.array([-0.10999999959, 2.814018e-5, 8.706486e-5])
    rotor_off = float(np.abs(rotor_reference(0.25) - rotor_known).max())
    page.judge(
        "reference",
        stated="to 1e-10 m (heavy top at t = 1 s, rotor at t = 0.25 s)",
        measured=f"off by {top_off:.1e} and {rotor_off:.1e} m",
        met=top_off < 1e-10 and rotor_off < 1e-10,
    )
    page.note(
        f"errors of the centre of mass at t = 1 s, and of the left support at t = {rotor_end:g} s; CPU time is the steps times the "
        "time of a step"
    )


def draw(page: Page, tables: Mapping[str, Mapping[str, Work]]) -> None:
    _, axes = page.plot(2, 2, figsize=(9.5, 7))
    for row, (model, table) in zip(axes, tables.items()):
        for name, work in table.items():
            row[0].loglog(work.error, work.steps, "o-", markersize=3, label=name)
            row[1].loglog(work.error, work.seconds, "o-", markersize=3, label=name)
        for ax, label in zip(row, ("steps", "CPU time / s")):
            ax.margins(0.05)
            ax.axvline(ACCURACY, color="0.6", linewidth=0.8)
            ax.set(xlabel="error / m", ylabel=label, title=model)
    axes[0, 0].legend(fontsize=7)


def write(page: Page, tables: Mapping[str, Mapping[str, Work]]) -> None:
    rows = [(model, name, work) for model, table in tables.items() for name, work in table.items()]
    page.table(
        "runs",
        {
            "model": [model for model, _, work in rows for _ in work.steps],
            "formulation": [name for _, name, work in rows for _ in work.steps],
            "steps": [int(n) for *_, work in rows for n in work.steps],
            "error": [e for *_, work in rows for e in work.error],
            "seconds": [s for *_, work in rows for s in work.seconds],
        },
    )
    page.table(
        "",
        {
            "model": [model for model, *_ in rows],
            "formulation": [name for _, name, _ in rows],
            "steps_for_1e-6": [work.steps_for_accuracy for *_, work in rows],
            "microseconds_per_step": [1e6 * work.per_step for *_, work in rows],
            "seconds_for_1e-6": [work.seconds_for_accuracy for *_, work in rows],
        },
    )

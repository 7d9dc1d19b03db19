"""Thirty tasks in words whose answers can be checked: they measure how well somebody, or a program, writes models.

    python3 -m liedyn.tasks                    # the list
    python3 -m liedyn.tasks 7                  # the text of a task
    python3 -m liedyn.tasks 7 my_model.json    # runs the model and judges it; exit code 0: correct, 1: not
    python3 -m liedyn.tasks --all DIRECTORY    # judges DIRECTORY/01*.json, 02*.json, ...

Answers are closed forms, kept as formulas in tasks.json; no result of this program is among them. The models in `solutions` solve the
tasks; do not show them to whom you measure.
"""

from __future__ import annotations

import ast
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import liedyn as ld

_DIRECTORY = Path(__file__).parent
_NAMES = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "cosh", "sinh", "pi")} | {"deg": math.pi / 180}


@dataclass(frozen=True)
class Task:
    id: str  # "07"
    name: str
    text: str
    sensor: str  # "place[2]"; "frequency" for modes
    answer: str  # a formula
    source: str  # where the formula comes from
    tolerance: float  # relative
    wrong: dict[str, float]  # a change that makes the solution wrong
    analysis: str = "run"  # or "static", "modes"
    measure: str = "final"  # or "max", over the run
    end: float | None = None  # s, of a run
    mode: int = 1  # of those with a frequency above zero, by frequency; equal ones count once
    load_steps: int = 1

    @property
    def expected(self) -> float:
        """The value of the answer."""
        return float(eval(compile(ast.parse(self.answer, mode="eval"), "answer", "eval"), {"__builtins__": {}}, _NAMES))  # our own file

    @property
    def solution(self) -> Path:
        return _DIRECTORY / "solutions" / f"{self.id}_{self.name}.json"


@dataclass(frozen=True)
class Verdict:
    correct: bool
    got: float | None  # None: there is no value
    reason: str


def tasks() -> list[Task]:
    """All tasks, in order."""
    return [Task(**one) for one in json.loads((_DIRECTORY / "tasks.json").read_text(encoding="utf-8"))["tasks"]]


def task(number: int | str) -> Task:
    """One task by its number."""
    for one in tasks():
        if one.id == f"{int(number):02d}":
            return one
    raise KeyError(f"there is no task {number}, expected 1 to {len(tasks())}")


def _frequencies(found: Any) -> list[float]:
    """Above zero, in Hz, each once."""
    out: list[float] = []
    for value in sorted(float(f) for f in found.frequencies):
        if value > 1e-6 and not (out and math.isclose(value, out[-1], rel_tol=1e-6)):
            out.append(value)
    return out


def _measured(one: Task, model: Any, changes: dict[str, float]) -> float:
    name, component = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", one.sensor).groups()
    if one.analysis == "modes":
        return _frequencies(ld.modes(model, set=changes))[one.mode - 1]
    if one.analysis == "static":
        value = ld.static(model, set=changes, load_steps=one.load_steps)[name]
        return float(value if component is None else value[int(component)])
    result = ld.run(model, set=changes, end=one.end)
    if not result.completed:
        raise ArithmeticError(result.summary["failure"])
    if component is not None and name in result.channels and result.channels[name].components == 1:
        raise IndexError(f"the sensor '{name}' has one component, expected three: the answer is {one.sensor}")
    values = result[one.sensor]
    return float(values[-1] if one.measure == "final" else values.max())


def judge(number: int | str, model: Any, changes: dict[str, float] | None = None) -> Verdict:
    """Runs a candidate's model (a file, a dict or a Builder) and compares what its sensor shows with the answer."""
    one = task(number)
    try:
        got = _measured(one, model, changes or {})
    except ld.InputError as error:
        return Verdict(False, None, str(error))
    except (ArithmeticError, KeyError, IndexError, TypeError) as error:
        return Verdict(False, None, str(error.args[0] if error.args else error))
    expected = one.expected
    correct = math.isfinite(got) and abs(got - expected) <= one.tolerance * abs(expected)
    return Verdict(correct, got, f"{one.sensor} is {got:.9g}, {'within' if correct else 'expected'} {expected:.9g} +- {one.tolerance * abs(expected):.2g}")

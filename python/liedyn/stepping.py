"""Simulations that a program advances itself: controllers, co-simulation, live views, checkpoints."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import is_finite, shown
from liedyn.compiled import Compiled, Configuration, compiled, locating
from liedyn.errors import Diagnostic, InputError, warn
from liedyn.simulation import check_run
from liedyn.source import ModelSource


class Simulation:
    """A run that stops wherever you want it to, to be read, steered, saved and continued. `Model.start` makes it.

    >>> simulation = ld.Model("pendulum").start(step=1e-3)
    >>> while simulation.time < 2:
    ...     simulation.set("torque", -10 * simulation["angle"])
    ...     simulation.advance(0.01)
    """

    def __init__(self, simulation: _liedyn.Simulation, name: str) -> None:
        self._simulation = simulation
        self._name = name
        self._warned = 0
        self._warn()

    @property
    def time(self) -> float:
        """The time that has been reached, in seconds."""
        return self._simulation.time

    def advance(self, duration: float) -> None:
        """As many steps as the integrator needs for this duration in seconds.

        Equal steps are those of one long run if the duration is a multiple of the step; otherwise they are divided evenly, and at most as
        long as the step. Adaptive steps meet the end of the duration exactly. Raises NumericalError if a step fails; the simulation is
        then at the last good one. Other threads run meanwhile; Ctrl-C stops between two steps.
        """
        duration = _number("advance", duration)
        if duration < 0:
            raise InputError([Diagnostic("", 0, "advance", f"expected a duration of 0 s or more, got {duration}")])
        self._advance_to(self.time + duration)

    def advance_to(self, time: float) -> None:
        """The same up to a time."""
        self._advance_to(_number("advance_to", time))

    def set(self, path: str | Mapping[str, float], value: float | None = None) -> None:
        """Gives a parameter another value from now on: `set("u", 1.2)`, or several by `set({"u": 1.2, "forces.push.force[0]": 3})`.

        Positions and velocities stay as they are, accelerations and reactions follow at once. A value that would violate a constraint, an
        initial value or an unknown path raises InputError.
        """
        inputs = path if isinstance(path, Mapping) else {path: value}
        for name, number in inputs.items():
            if not isinstance(name, str):
                raise InputError([Diagnostic("", 0, "set", f"expected the path of a parameter, got {name!r}")])
            self._simulation.set_input(name, _number(name, number))

    def get(self, path: str) -> float:
        """The value of a parameter now."""
        return self._simulation.input(path)

    def __getitem__(self, sensor: str) -> float | np.ndarray:
        """What a sensor shows now: a number, or an array of its components."""
        return self._simulation.sensor(sensor)

    def sensors(self) -> dict[str, float | np.ndarray]:
        """What all sensors show now."""
        return self._simulation.sensors()

    def save(self, file: str | os.PathLike | None = None) -> bytes:
        """Everything that the steps to come depend on, as bytes; also into a file, if there is one."""
        checkpoint = self._simulation.save()
        if file is not None:
            with open(file, "wb") as out:
                out.write(checkpoint)
        return checkpoint

    def restore(self, checkpoint: bytes | str | os.PathLike) -> None:
        """Goes on from what `save` gave, or from the file that it wrote, bit by bit as the simulation that was saved.

        Raises InputError if it belongs to another model, other settings or another version, or is damaged; nothing is changed then.
        """
        if isinstance(checkpoint, (str, os.PathLike)):
            with open(checkpoint, "rb") as file:
                checkpoint = file.read()
        if not isinstance(checkpoint, (bytes, bytearray, memoryview)):
            message = f"expected bytes or a file, got {type(checkpoint).__name__}"
            raise InputError([Diagnostic("", 0, "checkpoint", message)])
        self._simulation.restore(bytes(checkpoint))

    def clone(self) -> Simulation:
        """An independent copy: for trials of what is to come."""
        copy = object.__new__(Simulation)
        copy._simulation = self._simulation.clone()
        copy._name = self._name
        copy._warned = self._warned
        return copy

    @property
    def warnings(self) -> list[str]:
        """What there is to say about the model, the integrator and the steps so far."""
        return list(self._simulation.warnings)

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts of steps, Newton iterations and matrices; the smallest and the largest step; seconds of computing time."""
        return self._simulation.statistics()

    def _advance_to(self, time: float) -> None:
        try:
            self._simulation.advance_to(time)
        finally:
            self._warn()

    def _warn(self) -> None:
        warnings = self._simulation.warnings
        for warning in warnings[self._warned :]:
            warn(warning)
        self._warned = len(warnings)

    def __repr__(self) -> str:
        return f"<Simulation of {self._name} at t = {self.time:.6g} s, {self.statistics['steps']} steps>"


@locating
def start(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    initial: str | None = None,
) -> Simulation:
    """A simulation that your program advances: see `liedyn.Simulation`. Options are those of `run`.

    Without an `end` it may be advanced for ever, in steps of exactly `step`. With one, equal steps are adjusted to meet it, as in `run`.
    """
    check_run(integrator=integrator, step=step, start=start, end=end, initial=initial)
    one = compiled(model, set, formulation)
    given = {"integrator": integrator, "step": step, "start": start, "end": end, "initial": initial}
    options = one._options(given, from_)
    return Simulation(_liedyn.Simulation(one._compiled, one._params, options, end is None), one.name)


def _number(what: str, value: Any) -> float:
    if not is_finite(value):
        raise InputError([Diagnostic("", 0, what, f"expected a finite number, got {shown(value)}")])
    return float(value)

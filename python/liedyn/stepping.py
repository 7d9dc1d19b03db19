"""Simulations that a program advances itself: controllers, co-simulation, live views, checkpoints."""

from __future__ import annotations

import os
import time as clock
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import COUNT, FLAG, POSITIVE_SECONDS, check, is_finite, names, shown
from liedyn.compiled import Compiled, Configuration, compiled, locating
from liedyn.errors import Diagnostic, InputError, warn
from liedyn.linear import StateSpace
from liedyn.simulation import check_run
from liedyn.source import ModelSource
from liedyn.view import LiveView, Sliders, live_server


class State(NamedTuple):
    """The coordinates of a simulation at one time, as arrays that later steps do not change."""

    time: float
    q: np.ndarray
    """Coordinates of the nodes, in the formulation of the model."""
    v: np.ndarray
    """Velocities; behind those of the bodies the first-order states."""
    vdot: np.ndarray
    multipliers: np.ndarray
    """The Lagrange multipliers lambda of the constraints."""


class StepDerivatives:
    """One step as a discrete system, dx' = A dx + B du. Positions are increments on the group: q = q_n exp(dq)."""

    def __init__(self, found: _liedyn.StepDerivatives) -> None:
        self.time: float = found.time
        self.step: float = found.step
        self.inputs: list[str] = found.inputs
        self.A: np.ndarray = np.array(found.A)
        self.B: np.ndarray = np.array(found.B)
        self.parts: dict[str, slice] = {}
        """Which numbers of x are "position", "velocity", ..."""
        first = 0
        for name, count in found.parts:
            self.parts[name] = slice(first, first + count)
            first += count

    def __repr__(self) -> str:
        return f"<StepDerivatives at t = {self.time:.6g} s: {self.A.shape[0]} states, {len(self.inputs)} inputs>"


class Simulation(_liedyn.Simulation):
    """A run that stops wherever you want it to, to be read, steered, saved and continued. `Model.simulation` makes it.

    >>> sim = ld.Model("pendulum").simulation(step=1e-3)
    >>> while sim.time < 2:
    ...     sim.set("torque", -10 * sim["angle"])
    ...     sim.advance(0.01)

    One thread at a time may use it: others get a RuntimeError as long as a call lasts.
    """

    def __init__(
        self,
        model: Compiled,
        options: _liedyn.SimulateOptions,
        open_end: bool,
        inputs: Mapping[str, str],
    ) -> None:
        super().__init__(model._compiled, model._params, options, open_end)
        self._model, self._options, self._open_end = model, options, open_end
        self._name = model.name
        self._inputs = dict(inputs)
        self._page: LiveView | None = None
        for path in self._inputs.values():
            self._input(path)

    def _steps(self, count: int = 1) -> None:
        """`step` with an argument: the engine's own method handles only plain calls."""
        check(count=(count, COUNT))
        super()._steps(int(count))
        for warning in self._all_warnings():
            warn(warning)

    def advance(self, duration: float | None = None, *, until: float | None = None) -> None:
        """As many steps as the integrator needs for this duration in seconds, or until this time.

        Equal steps are those of one long run if the duration is a multiple of the step; otherwise they are divided evenly, and at most as
        long as the step. Adaptive steps meet the end of the duration exactly. Raises NumericalError if a step fails; the simulation is
        then at the last good one. An event of the model may stop it earlier, see `stopped_by`. Other threads run meanwhile; Ctrl-C stops
        between two steps.
        """
        if (duration is None) == (until is None):
            raise InputError([Diagnostic("", 0, "advance", "expected a duration, or until=, the time to reach")])
        if until is not None:
            self._advance_to(_number("until", until))
            return
        duration = _number("advance", duration)
        if duration < 0:
            raise InputError([Diagnostic("", 0, "advance", f"expected a duration of 0 s or more, got {duration}")])
        self._advance_to(self.time + duration)

    def set(self, path: str | Mapping[str, float], value: float | None = None, *, over: float | None = None) -> None:
        """Gives a parameter another value from now on: `set("u", 1.2)`, or several at once by `set({"u": 1.2, "forces.push.force[0]": 3})`.

        Positions and velocities stay as they are, accelerations and reactions follow at once. A value that would violate a constraint, an
        initial value or an unknown path raises InputError; nothing is changed then.

        over: linear hold. The input goes to the value within this time in seconds, and on with the same slope until it is set again. The
              model then writes it as "u + u_slope*(t - u_since)", with three parameters of these names.
        """
        check(over=(over, POSITIVE_SECONDS))
        given = path if isinstance(path, Mapping) else {path: value}
        changes = []
        for name, number in given.items():
            if not isinstance(name, str):
                raise InputError([Diagnostic("", 0, "set", f"expected the path of a parameter, got {name!r}")])
            parameter, number = self._inputs.get(name, name), _number(name, number)
            changes += [(parameter, number)] if over is None else self._line(parameter, number, over)
        self._set_inputs(changes)

    def _line(self, name: str, value: float, over: float) -> list[tuple[str, float]]:
        try:
            slope, since = self._input(f"{name}_slope"), self._input(f"{name}_since")
        except InputError:
            message = f"expected an input with the parameters '{name}_slope' and '{name}_since' for a linear hold"
            hint = f'write it as "{name} + {name}_slope*(t - {name}_since)" in the model'
            raise InputError([Diagnostic("", 0, "over", message, hint)]) from None
        now = self._input(name) + slope * (self.time - since)
        return [(name, now), (f"{name}_slope", (value - now) / over), (f"{name}_since", self.time)]

    def get(self, path: str) -> float:
        """The present value of a parameter or an input."""
        return self._input(self._inputs.get(path, path))

    @property
    def inputs(self) -> dict[str, float]:
        """The named inputs with their values."""
        return {name: self._input(path) for name, path in self._inputs.items()}

    def __getitem__(self, sensor: str) -> float | np.ndarray:
        """The present value of a sensor: a number, or an array of its components."""
        return self._sensor(sensor)

    def sensors(self) -> dict[str, float | np.ndarray]:
        """The present values of all sensors."""
        return self._sensors()

    @property
    def state(self) -> State:
        """The coordinates now: q, v, vdot and multipliers."""
        return State(**self._state())

    def save(self, file: str | os.PathLike | None = None) -> bytes:
        """The complete state of the simulation as bytes; also written to a file, if given."""
        checkpoint = self._save()
        if file is not None:
            with open(file, "wb") as out:
                out.write(checkpoint)
        return checkpoint

    def restore(self, checkpoint: bytes | str | os.PathLike) -> None:
        """Continues from the bytes or the file of `save`, with results identical to those of the saved simulation.

        Raises InputError if it belongs to another model, other settings or another version, or is damaged; nothing is changed then.
        """
        if isinstance(checkpoint, (str, os.PathLike)):
            with open(checkpoint, "rb") as file:
                checkpoint = file.read()
        if not isinstance(checkpoint, (bytes, bytearray, memoryview)):
            message = f"expected bytes or a file, got {type(checkpoint).__name__}"
            raise InputError([Diagnostic("", 0, "checkpoint", message)])
        self._restore(bytes(checkpoint))

    def clone(self) -> Simulation:
        """An independent copy: for trials of what is to come. What was recorded stays with the original."""
        copy = type(self).__new__(type(self))
        _liedyn.Simulation.__init__(copy, self)
        copy.__dict__.update(self.__dict__, _inputs=dict(self._inputs), _page=None)
        return copy

    def linearize(self, inputs: Sequence[str] | str = (), outputs: Sequence[str] | str = ()) -> StateSpace:
        """The state space about the state now, as `Model.linearize` gives it at its operating points."""
        inputs = [self._inputs.get(name, name) for name in names(inputs, "inputs", of="paths")]
        return StateSpace(self._linearize(inputs, names(outputs, "outputs", of="sensors")))

    def step_derivatives(self, inputs: Sequence[str] | str | None = None, *, whole: bool = False) -> StepDerivatives:
        """Exact derivatives of the next step, dx' = A dx + B du; the simulation is not advanced.

        inputs: paths of parameters, or names of inputs; the named inputs if not given.
        whole:  x has all that the method takes from the step before (accelerations, multipliers, past points), not position and velocity
                alone. Methods that remember nothing (Runge-Kutta) do not need it. For others A and B then belong to the step as the
                simulation takes it; without, to a step of a method that begins at x.
        """
        check(whole=(whole, FLAG))
        wanted = list(self._inputs) if inputs is None else names(inputs, "inputs", of="paths")
        return StepDerivatives(self._step_derivatives([self._inputs.get(name, name) for name in wanted], bool(whole)))

    def view(self, sliders: Sliders | None = None, *, pace: float = 0, paused: bool = False) -> LiveView:
        """A page that shows the simulation from now on, in a browser of this machine or in a notebook: `page.address`, `page.show()`.

        sliders: names of inputs, or paths of parameters, that the page has sliders for; {"u": (-1, 1)} gives their limits. The named
                 inputs if not given, or else the parameters and forces of the model.
        pace:    simulated seconds per second; 1 is real time, 0 as fast as possible.
        paused:  wait for the page before the next step.

        Pause, step and stop of the page act where the program advances the simulation. A view that was there before is closed.
        """
        if self._page is not None:
            self._page.close()
        server = live_server(sliders, pace, paused, inputs=self._inputs)
        self._set_view(server)
        # The page must not keep the simulation alive: the server ends with it.
        alive = weakref.ref(self)

        def leave() -> None:
            if (simulation := alive()) is not None:
                simulation._set_view(None)

        self._page = LiveView(server, leave)
        return self._page

    def record(self, every: int = 1) -> None:
        """Records all sensors now and after every n-th step from now on; forgets what was recorded. 0: records no longer."""
        check(every=(every, COUNT))
        self._record(int(every))

    @property
    def recorded(self) -> dict[str, np.ndarray]:
        """What was recorded: "time", and the sensors by name, one row per time."""
        return self._recorded()

    @property
    def events(self) -> list[tuple[float, str]]:
        """Times and names of the events that have happened."""
        return self._events()

    @property
    def released_joints(self) -> list[str]:
        """The joints that events have released."""
        return self._released_joints()

    @property
    def stopped_by(self) -> str | None:
        """The event that ended the last `advance` or `step`; None if there was none. The next call continues the run."""
        return self._stopped_by() or None

    @property
    def real_time_factor(self) -> float:
        """Simulated time per wall time of the steps so far."""
        seconds = self._statistics()["seconds"]
        return (self.time - self._options.start) / seconds if seconds > 0 else float("inf")

    def run_real_time(
        self,
        duration: float,
        *,
        factor: float = 1.0,
        period: float = 0.01,
        callback: Callable[[Simulation], Any] | None = None,
    ) -> float:
        """Advances as fast as the clock on the wall: `factor` simulated seconds per second, in pieces of `period` simulated seconds.

        callback: called with the simulation before each piece, to read sensors and set inputs; returning False ends the run.

        Returns by how many seconds the simulation was late at worst. It does not skip steps where it is slower than the clock.
        """
        check(duration=(duration, POSITIVE_SECONDS), factor=(factor, POSITIVE_SECONDS), period=(period, POSITIVE_SECONDS))
        begin, first, late = clock.perf_counter(), self.time, 0.0
        pieces = max(1, round(duration / period))
        for piece in range(1, pieces + 1):
            if callback is not None and callback(self) is False:
                break
            target = first + duration * piece / pieces
            self._advance_to(target)
            if self._stopped_by():
                break
            ahead = (target - first) / factor - (clock.perf_counter() - begin)
            late = max(late, -ahead)
            if ahead > 0:
                clock.sleep(ahead)
        return late

    @property
    def warnings(self) -> list[str]:
        """Warnings about the model, the integrator and the steps so far."""
        return self._all_warnings()

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts of steps, Newton iterations and matrices; the smallest and the largest step; seconds of wall time."""
        return self._statistics()

    def __repr__(self) -> str:
        return f"<Simulation of {self._name} at t = {self.time:.6g} s, {self.statistics['steps']} steps>"


@locating
def simulation(
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
    inputs: Mapping[str, str] | None = None,
) -> Simulation:
    """A simulation that your program advances: see `liedyn.Simulation`. Options are those of `run`.

    Without an `end` it may be advanced for ever, in steps of exactly `step`. With one, equal steps are adjusted to meet it, as in `run`.

    inputs: names for paths of parameters, {"u": "forces.motor.torque[2]"}, which `set`, `get` and `step_derivatives` then take.
    """
    check_run(integrator=integrator, step=step, start=start, end=end, initial=initial)
    named = {} if inputs is None else inputs
    if not isinstance(named, Mapping) or not all(isinstance(x, str) for pair in named.items() for x in pair):
        raise InputError([Diagnostic("", 0, "inputs", f"expected names with paths, {{\"u\": \"forces.motor.torque[2]\"}}, got {shown(inputs)}")])
    one = compiled(model, set, formulation)
    given = {"integrator": integrator, "step": step, "start": start, "end": end, "initial": initial}
    return Simulation(one, one._options(given, from_), end is None, named)


def _number(what: str, value: Any) -> float:
    if not is_finite(value):
        raise InputError([Diagnostic("", 0, what, f"expected a finite number, got {shown(value)}")])
    return float(value)

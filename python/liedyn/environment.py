"""Simulations as environments for reinforcement learning, with the interface of gymnasium, which need not be installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from liedyn.arguments import POSITIVE_COUNT, POSITIVE_SECONDS, check, is_number, names, shown
from liedyn.compiled import Compiled, compiled
from liedyn.errors import Diagnostic, InputError
from liedyn.source import ModelSource
from liedyn.stepping import Simulation, simulation


class Box:
    """Numbers between bounds: what an action or an observation may be."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        self.shape, self.dtype = self.low.shape, self.low.dtype
        self._random = np.random.default_rng()

    def seed(self, seed: int | None = None) -> None:
        self._random = np.random.default_rng(seed)

    def sample(self) -> np.ndarray:
        """Uniform between finite bounds, normal where there are none."""
        finite = np.isfinite(self.low) & np.isfinite(self.high)
        uniform = self._random.uniform(np.where(finite, self.low, 0), np.where(finite, self.high, 1))
        return np.where(finite, uniform, np.clip(self._random.normal(size=self.shape), self.low, self.high))

    def contains(self, x: Any) -> bool:
        x = np.asarray(x)
        return x.shape == self.shape and bool(np.all((x >= self.low) & (x <= self.high)))

    def __repr__(self) -> str:
        return f"Box({self.low}, {self.high})"


class Environment:
    """A model that an agent steers: `reset`, `step`, `observation_space`, `action_space`, as gymnasium has them.

    >>> env = ld.Environment("cart.json", actions={"push": (-10, 10)}, observations=["x", "angle"], period=0.02, duration=10,
    ...                      reward=lambda sim: 1 - abs(sim["angle"]), terminated=lambda sim: abs(sim["angle"]) > 0.5)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step([0.3])

    actions:      paths of parameters with their least and largest value. An action is constant over one period; it is clipped to the bounds.
    observations: sensors; all if not given.
    period:       simulated seconds per action.
    duration:     of an episode, which is truncated then; None: it has no end.
    reward:       a function of the simulation after each period.
    terminated:   a function of it that says whether the episode is over; besides, an event of the model with the action "stop" ends it.
    randomize:    a function of a random generator of numpy that gives values of parameters for an episode, {"bodies.pole.mass": 0.2}.
    options:      of `Model.simulation`: set, step, integrator, formulation, from_, ...

    A step that fails raises NumericalError.
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None
    spec = None

    def __init__(
        self,
        model: ModelSource | Compiled,
        *,
        actions: Mapping[str, tuple[float, float]],
        period: float,
        reward: Callable[[Simulation], float],
        observations: Sequence[str] | str = (),
        terminated: Callable[[Simulation], bool] | None = None,
        duration: float | None = None,
        randomize: Callable[[np.random.Generator], Mapping[str, float]] | None = None,
        **options: Any,
    ) -> None:
        check(period=(period, POSITIVE_SECONDS), duration=(duration, POSITIVE_SECONDS))
        self._model = compiled(model, options.pop("set", None))
        self._period, self._duration = float(period), duration
        self._reward, self._terminated, self._randomize, self._options = reward, terminated, randomize, options
        if not isinstance(actions, Mapping) or not actions or not all(_is_range(bounds) for bounds in actions.values()):
            message = f"expected paths of parameters with their bounds, {{\"push\": (-10, 10)}}, got {shown(actions)}"
            raise InputError([Diagnostic("", 0, "actions", message)])
        self._actions = list(actions)
        self.action_space = Box(*np.array(list(actions.values()), dtype=float).T)
        self._random = np.random.default_rng()
        self._plain = self._simulation = simulation(self._model, **options)
        for path in self._actions:
            self._simulation.get(path)
        self._start = self._simulation.save()
        self._begin = self._simulation.time
        self._sensors = list(names(observations, "observations", of="sensors")) or list(self._simulation.sensors())
        size = self._observation().size
        self.observation_space = Box(np.full(size, -np.inf), np.full(size, np.inf))
        self._over = True

    @property
    def simulation(self) -> Simulation:
        """The simulation of this episode."""
        return self._simulation

    @property
    def unwrapped(self) -> Environment:
        return self

    @property
    def np_random(self) -> np.random.Generator:
        return self._random

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode; `options` may hold {"set": values of parameters}."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        given = dict(self._randomize(self._random)) if self._randomize is not None else {}
        given.update((options or {}).get("set", {}))
        if given:
            self._simulation = simulation(self._model, set=given, **self._options)
        else:
            self._simulation = self._plain
            self._simulation.restore(self._start)
        self._over = False
        return self._observation(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Holds an action for one period."""
        if self._over:
            raise InputError([Diagnostic("", 0, "step", "the episode is over, or has not begun", "call reset()")])
        values = np.asarray(action, dtype=float)
        if values.shape != self.action_space.shape or not np.all(np.isfinite(values)):
            message = f"expected {len(self._actions)} finite numbers, got {shown(action)}"
            raise InputError([Diagnostic("", 0, "action", message)])
        sim = self._simulation
        sim.set(dict(zip(self._actions, np.clip(values, self.action_space.low, self.action_space.high).tolist())))
        sim.advance(self._period)
        terminated = sim.stopped_by is not None or (self._terminated is not None and bool(self._terminated(sim)))
        truncated = self._duration is not None and sim.time - self._begin >= self._duration - 1e-9 * self._period
        self._over = terminated or truncated
        info = {"stopped_by": sim.stopped_by} if sim.stopped_by is not None else {}
        return self._observation(), float(self._reward(sim)), terminated, truncated, info

    def render(self) -> None:
        """Draws nothing; `simulation.record()` records the sensors."""

    def close(self) -> None:
        self._over = True

    def _observation(self) -> np.ndarray:
        shown_now = self._simulation.sensors()
        try:
            return np.concatenate([np.atleast_1d(shown_now[name]) for name in self._sensors])
        except KeyError as error:
            raise InputError([Diagnostic("", 0, "observations", f"there is no sensor {error}")]) from None

    def as_gymnasium(self) -> Any:
        """The same as a `gymnasium.Env` with its spaces, for programs that ask for these types. gymnasium must be installed."""
        import gymnasium

        class Wrapped(gymnasium.Env):
            metadata = self.metadata
            observation_space = gymnasium.spaces.Box(self.observation_space.low, self.observation_space.high, dtype=np.float64)
            action_space = gymnasium.spaces.Box(self.action_space.low, self.action_space.high, dtype=np.float64)
            reset, step, close = staticmethod(self.reset), staticmethod(self.step), staticmethod(self.close)

        return Wrapped()


class VectorEnvironment:
    """Several environments side by side, on threads: steps let other threads run. Actions, observations and rewards have one row each.

    >>> envs = ld.VectorEnvironment(lambda: ld.Environment(...), 8)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(actions)

    An episode that is over begins anew with the next step, whose action is not used and whose reward is 0, as in gymnasium.
    """

    def __init__(self, make: Callable[[], Environment], count: int, *, threads: int | None = None) -> None:
        check(count=(count, POSITIVE_COUNT), threads=(threads, POSITIVE_COUNT))
        self.envs = [make() for _ in range(count)]
        self.num_envs = int(count)
        one = self.envs[0]
        self.single_action_space, self.single_observation_space = one.action_space, one.observation_space
        self.action_space = Box(*(np.tile(bound, (count, 1)) for bound in (one.action_space.low, one.action_space.high)))
        self.observation_space = Box(*(np.tile(bound, (count, 1)) for bound in (one.observation_space.low, one.observation_space.high)))
        self._ended = np.ones(count, dtype=bool)
        self._pool = ThreadPoolExecutor(min(count, threads or os.cpu_count() or 1))

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins all episodes; environment i has the seed `seed + i`."""
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        found = list(self._pool.map(lambda pair: pair[0].reset(seed=pair[1], options=options)[0], zip(self.envs, seeds)))
        self._ended[:] = False
        return np.stack(found), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = np.asarray(actions, dtype=float)
        if actions.shape != self.action_space.shape:
            message = f"expected {self.action_space.shape[0]} x {self.action_space.shape[1]} numbers, got {shown(actions)}"
            raise InputError([Diagnostic("", 0, "actions", message)])

        def one(i: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
            if self._ended[i]:
                return self.envs[i].reset()[0], 0.0, False, False, {}
            return self.envs[i].step(actions[i])

        observations, rewards, terminated, truncated, infos = zip(*self._pool.map(one, range(self.num_envs)))
        terminated, truncated = np.array(terminated), np.array(truncated)
        self._ended = terminated | truncated
        return np.stack(observations), np.array(rewards), terminated, truncated, {"stopped_by": [info.get("stopped_by") for info in infos]}

    def close(self) -> None:
        self._pool.shutdown()


def _is_range(bounds: Any) -> bool:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        return False
    return is_number(low) and is_number(high) and low < high

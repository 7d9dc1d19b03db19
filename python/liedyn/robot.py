"""Dynamics and kinematics of robots as functions of joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import FLAG, NUMBER, POSITIVE_COUNT, SECONDS, STRING, VECTOR, check, shown
from liedyn.compiled import Compiled, compiled
from liedyn.errors import Diagnostic, InputError
from liedyn.source import ModelSource


@dataclass(frozen=True)
class Reached:
    """What `Robot.inverse_kinematics` found."""

    q: np.ndarray
    """The coordinates, within the limits."""
    converged: bool
    """Whether all targets are reached within the tolerance."""
    position_error: float
    """The largest distance of a frame from its target, in m."""
    rotation_error: float
    """The largest angle between a frame and its target, in rad."""
    iterations: int


class Robot:
    """A model whose joints form a tree, as functions of its joint coordinates.

    Coordinates q count from the zero of each joint, as sensors and drives do; `coordinates` and `velocities` name them. All functions take one
    state, or many: arrays of shape (..., nq) and (..., nv), with results of the same leading shape.

    >>> robot = ld.Robot("robot.urdf")
    >>> tau = robot.inverse_dynamics(q, v, a)            # M(q) a + bias(q, v)
    >>> a = robot.forward_dynamics(q, v, tau)
    >>> q = robot.inverse_kinematics({"gripper": [0.4, 0.1, 0.3]}, limits={"elbow": (0, 2.5)}).q

    Forces of the model act in `inverse_dynamics`, `forward_dynamics` and `bias`; `forces=False` leaves all but gravity out. `time` is that of forces which
    depend on it, the start of the model's simulation if not given.
    """

    def __init__(self, model: ModelSource | Compiled, *, set: Mapping[str, float] | None = None, time: float | None = None) -> None:
        check(time=(time, SECONDS))
        one = compiled(model, set, None)
        self._robot = _liedyn.Robot(one._compiled, one._params)
        if time is not None:
            self._robot.set_time(float(time))

    @property
    def nq(self) -> int:
        """Number of coordinates. A free body has 7 (position, unit quaternion w x y z), a spherical joint 4."""
        return self._robot.nq

    @property
    def nv(self) -> int:
        """Number of velocities. A free body has 6 (velocity, angular velocity in body axes), a spherical joint 3."""
        return self._robot.nv

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates: of the joints, with a suffix where a joint or a free body has several."""
        return self._robot.coordinate_names

    @property
    def velocities(self) -> list[str]:
        """Names of the velocities, accelerations and generalised forces."""
        return self._robot.velocity_names

    @property
    def q0(self) -> np.ndarray:
        """The configuration of the model file."""
        return np.array(self._robot.initial_q)

    @property
    def mass(self) -> float:
        """Mass of all bodies that move, in kg."""
        return self._robot.mass

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, forces: bool = True) -> np.ndarray:
        """Generalised forces tau that give the accelerations a."""
        check(forces=(forces, FLAG))
        shape, (qs, vs, accelerations) = self._states(q=(q, self.nq), v=(v, self.nv), a=(a, self.nv))
        return self._robot.inverse_dynamics(qs, vs, accelerations, bool(forces)).reshape((*shape, self.nv))

    def forward_dynamics(self, q: Any, v: Any, tau: Any, *, forces: bool = True) -> np.ndarray:
        """Accelerations under the generalised forces tau. Raises NumericalError where a joint moves no inertia."""
        check(forces=(forces, FLAG))
        shape, (qs, vs, taus) = self._states(q=(q, self.nq), v=(v, self.nv), tau=(tau, self.nv))
        return self._robot.forward_dynamics(qs, vs, taus, bool(forces)).reshape((*shape, self.nv))

    def mass_matrix(self, q: Any) -> np.ndarray:
        """M(q), of shape (..., nv, nv)."""
        shape, (qs,) = self._states(q=(q, self.nq))
        return self._robot.mass_matrix(qs).reshape((*shape, self.nv, self.nv))

    def bias(self, q: Any, v: Any, *, forces: bool = True) -> np.ndarray:
        """Generalised forces that give no acceleration: against gravity, velocities and the forces of the model."""
        check(forces=(forces, FLAG))
        shape, (qs, vs) = self._states(q=(q, self.nq), v=(v, self.nv))
        return self._robot.bias(qs, vs, bool(forces)).reshape((*shape, self.nv))

    def gravity(self, q: Any) -> np.ndarray:
        """Generalised forces that hold the robot at rest against gravity alone."""
        shape, (qs,) = self._states(q=(q, self.nq))
        return self._robot.gravity(qs).reshape((*shape, self.nv))

    def frame_pose(self, frame: str, q: Any, *, at: Sequence[float] = (0, 0, 0)) -> np.ndarray:
        """Pose of a frame, of shape (..., 4, 4): rotation to inertial axes and position.

        frame: a body (at its reference point, in its axes) or a joint (at its point, in the axes of its second body; of a URDF file this is the frame of
               the child link). Where both have the name: "bodies.NAME" or "joints.NAME".
        at:    a point in the axes of that frame.
        """
        check(frame=(frame, STRING), at=(at, VECTOR))
        shape, (qs,) = self._states(q=(q, self.nq))
        return self._robot.frame_pose(frame, [float(x) for x in at], qs).reshape((*shape, 4, 4))

    def frame_jacobian(self, frame: str, q: Any, *, at: Sequence[float] = (0, 0, 0)) -> np.ndarray:
        """Velocity and angular velocity of a frame per velocity, inertial axes: of shape (..., 6, nv)."""
        check(frame=(frame, STRING), at=(at, VECTOR))
        shape, (qs,) = self._states(q=(q, self.nq))
        return self._robot.frame_jacobian(frame, [float(x) for x in at], qs).reshape((*shape, 6, self.nv))

    def center_of_mass(self, q: Any) -> np.ndarray:
        """Of all bodies that move, inertial axes: of shape (..., 3)."""
        shape, (qs,) = self._states(q=(q, self.nq))
        return self._robot.center_of_mass(qs).reshape((*shape, 3))

    def momentum(self, q: Any, v: Any) -> np.ndarray:
        """Linear momentum and angular momentum about the centre of mass, inertial axes: of shape (..., 6)."""
        shape, (qs, vs) = self._states(q=(q, self.nq), v=(v, self.nv))
        return self._robot.momentum(qs, vs).reshape((*shape, 6))

    def inverse_kinematics(
        self,
        targets: Mapping[str, Any],
        *,
        start: Any = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        at: Mapping[str, Sequence[float]] | None = None,
        tolerance: float = 1e-9,
        iterations: int = 100,
        attempts: int = 20,
    ) -> Reached:
        """Coordinates that bring frames to their targets.

        targets:    by frame (as of `frame_pose`): a position, or a pose as a 4x4 matrix.
        start:      coordinates to begin from; those of the model file if not given.
        limits:     by coordinate: the least and the largest value.
        at:         by frame: the point of it that the target is for, in its axes.
        tolerance:  of positions in m and of rotations in rad.
        iterations: of one attempt.
        attempts:   at most so many begin from other coordinates, within the limits, where the first does not converge.

        Targets out of reach are approached: check `converged`.
        """
        check(tolerance=(tolerance, NUMBER), iterations=(iterations, POSITIVE_COUNT))
        points = dict(at or {})
        wanted = []
        for frame, target in targets.items():
            check(**{"targets": (frame, STRING), f"at.{frame}": (points.get(frame), VECTOR)})
            array = self._numbers(target, f"targets.{frame}")
            if array.shape not in ((3,), (4, 4)):
                raise _wrong(f"targets.{frame}", "expected three numbers or a 4x4 matrix", target)
            point = [float(x) for x in points.pop(frame, (0, 0, 0))]
            if array.shape == (3,):
                wanted.append((frame, point, array.tolist(), None))
                continue
            if np.abs(array[:3, :3] @ array[:3, :3].T - np.eye(3)).max() > 1e-6 or np.linalg.det(array[:3, :3]) < 0:
                raise _wrong(f"targets.{frame}", "expected a rotation in the first three rows and columns", target)
            wanted.append((frame, point, array[:3, 3].tolist(), array[:3, :3].ravel().tolist()))
        if points:
            raise _wrong(f"at.{next(iter(points))}", "there is no target for this frame", None)
        first = self.q0 if start is None else self._numbers(start, "start")
        if first.shape != (self.nq,):
            raise _wrong("start", f"expected {self.nq} numbers", start)
        lower, upper = np.full(self.nq, -np.inf), np.full(self.nq, np.inf)
        names = self.coordinates
        for name, pair in (limits or {}).items():
            if name not in names:
                raise _wrong(f"limits.{name}", f"expected one of {', '.join(names)}", name)
            pair_ = np.asarray(pair, float)
            if pair_.shape != (2,) or np.isnan(pair_).any():
                raise _wrong(f"limits.{name}", "expected two numbers, the least and the largest value", pair)
            lower[names.index(name)], upper[names.index(name)] = pair_
        q, position, rotation, steps, converged = self._robot.inverse_kinematics(
            wanted, list(first), list(lower), list(upper), float(tolerance), int(iterations), int(attempts)
        )
        return Reached(np.array(q), converged, position, rotation, steps)

    def __repr__(self) -> str:
        return f"<Robot: {self.nv} degrees of freedom, {self.mass:.6g} kg>"

    @staticmethod
    def _numbers(value: Any, name: str) -> np.ndarray:
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            raise _wrong(name, "expected numbers", value) from None
        if not np.isfinite(array).all():
            raise _wrong(name, "expected finite numbers", value)
        return array

    def _states(self, **given: tuple[Any, int]) -> tuple[tuple[int, ...], list[np.ndarray]]:
        """The leading shape that all have in common, and arrays of shape (states, size)."""
        arrays = []
        for name, (value, size) in given.items():
            array = self._numbers(value, name)
            if array.ndim == 0 or array.shape[-1] != size:
                raise _wrong(name, f"expected an array of shape (..., {size})", value if array.ndim == 0 else array.shape)
            arrays.append(array)
        try:
            shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(given, arrays))
            raise _wrong(next(iter(given)), "expected the same number of states in all arrays", shapes) from None
        return shape, [
            np.ascontiguousarray(np.broadcast_to(array, (*shape, array.shape[-1])).reshape(-1, array.shape[-1])) for array in arrays
        ]


def _wrong(path: str, expected: str, value: Any) -> InputError:
    return InputError([Diagnostic("", 0, path, f"{expected}, got {shown(value)}" if value is not None else expected, "")])

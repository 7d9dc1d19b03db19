"""The heavy top as both papers use it: a reference without constraints, and relative errors in q, v and lambda."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld

FINEST = 7.8125e-6
"""Times of the reference are multiples of this; steps compared with it too."""
CENTRE = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Motion:
    """The top over time: what is compared."""

    time: np.ndarray
    quaternion: np.ndarray
    """Orientation (w, x, y, z), body to inertial axes."""
    position: np.ndarray
    velocity: np.ndarray
    """Of the centre of mass, inertial axes."""
    angular_velocity: np.ndarray
    """Body axes."""
    multiplier: np.ndarray
    """Of Phi = X - R^T x: the force at the pivot in body axes."""
    position_residual: np.ndarray | None = None
    completed: bool = True
    newton_per_step: float = 0
    failure: str = ""

    @property
    def body_velocity(self) -> np.ndarray:
        """U = R^T u."""
        return rotate_back(self.quaternion, self.velocity)

    @property
    def hidden_residual(self) -> np.ndarray:
        """B v = Omega x X - U."""
        return np.cross(self.angular_velocity, CENTRE) - self.body_velocity

    def until(self, end: float) -> np.ndarray:
        return self.time <= end + 1e-9


def rotate_back(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """R^T u for rows of unit quaternions (w, x, y, z) and vectors u."""
    w, axis = quaternions[:, :1], -quaternions[:, 1:]
    twice = 2 * np.cross(axis, vectors)
    return vectors + w * twice + np.cross(axis, twice)


_reference_lock = threading.Lock()


def reference(slow: float = 1) -> Motion:
    """The top about its fixed point: no constraints, another formulation, and steps h and h/2 extrapolated to zero.

    At t = 1 it agrees with the known answer (order 8, tolerance 1e-12; models/heavy_top) to 1e-10. `slow` divides the
    initial angular velocity.
    """
    with _reference_lock:
        return _reference(slow)


@lru_cache
def _reference(slow: float) -> Motion:
    model = slowed("heavy_top_free", slow)
    model["sensors"] |= {
        "acceleration": {"type": "acceleration", "of": "top", "at": [0, 1, 0]},
        "orientation": {"type": "orientation", "of": "top"},
    }
    compiled = ld.Model(model, formulation="r3so3-spatial")
    integrator = "generalized-alpha,rho=0.9,sigma=opt,newton_tol=1e-12"
    coarse, fine = (compiled.run(integrator=integrator, step=FINEST / n, every=n) for n in (1, 2))

    def limit(name: str) -> np.ndarray:
        return fine[name] + (fine[name] - coarse[name]) / 3

    quaternion = limit("orientation")
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    force = model["bodies"]["top"]["mass"] * (limit("acceleration") - np.array(model["gravity"]))
    return Motion(
        fine.time,
        quaternion,
        limit("position"),
        limit("velocity"),
        limit("angular_velocity"),
        rotate_back(quaternion, force),
    )


def slowed(name: str, slow: float) -> dict:
    """A shipped top with its initial angular velocity divided."""
    model = ld.load(name)
    model["bodies"]["top"]["angular_velocity"] = [0, 150 / slow, -4.61538 / slow]
    return model


@lru_cache(maxsize=None)
def model(formulation: str, slow: float = 1) -> ld.Model:
    source = slowed("heavy_top", slow)
    source["sensors"]["orientation"] = {"type": "orientation", "of": "top"}
    return ld.Model(source, formulation=formulation)


def simulate(formulation: str, integrator: str, step: float, end: float = 1, slow: float = 1) -> Motion:
    """One run; up to the time of a failure if the numerics fail."""
    result = model(formulation, slow).run(integrator=integrator, step=step, end=end, residuals=True)
    summary = result.summary
    return Motion(
        result.time,
        result["orientation"],
        result["position"],
        result["velocity"],
        result["angular_velocity"],
        result["multiplier"],
        result["constraint_residual.position"],
        result.completed,
        summary["newton_iterations"] / max(1, summary["steps"]),
        summary["failure"] or "",
    )


def at_times(exact: Motion, motion: Motion) -> np.ndarray:
    """Rows of the reference at the times of a run."""
    rows = np.rint(motion.time / FINEST).astype(int)
    if not np.allclose(exact.time[rows], motion.time, rtol=0, atol=1e-9):
        raise ValueError("the step is not a multiple of the reference's")
    return rows


def relative_errors(exact: Motion, motion: Motion, *, begin: float = 0, body_frame: bool = False) -> np.ndarray:
    """Largest |error| / |value| over the times from `begin` on, for q, v and lambda; nan if the run failed.

    q are the Euler parameters and the place; v are the velocity (inertial axes, or body axes for SE(3)) and the angular
    velocity.
    """
    if not motion.completed:
        return np.full(3, np.nan)
    rows = at_times(exact, motion)

    def parts(m: Motion, pick: np.ndarray | slice) -> list[np.ndarray]:
        speed = m.body_velocity[pick] if body_frame else m.velocity[pick]
        q = np.hstack([m.quaternion[pick], m.position[pick]])
        return [q, np.hstack([speed, m.angular_velocity[pick]]), m.multiplier[pick]]

    late = motion.time >= begin - 1e-9
    worst = []
    for true, ours in zip(parts(exact, rows[late]), parts(motion, late)):
        if ours.shape[1] == 7:  # a quaternion and its negative are one orientation
            sign = np.sign(np.sum(true[:, :4] * ours[:, :4], axis=1, keepdims=True))
            ours = np.hstack([sign * ours[:, :4], ours[:, 4:]])
        worst.append(np.max(np.linalg.norm(true - ours, axis=1) / np.linalg.norm(true, axis=1)))
    return np.array(worst)


def multiplier_error(exact: Motion, motion: Motion) -> np.ndarray:
    """e_lambda / |lambda| over time, by component."""
    rows = at_times(exact, motion)
    true = exact.multiplier[rows]
    return (true - motion.multiplier) / np.linalg.norm(true, axis=1, keepdims=True)

"""The high-speed rotor: runs to t = 1 s, and a reference for them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce.figure import in_parallel

END = 1.0


@dataclass(frozen=True)
class Outcome:
    """The right support at the end of a run, and what the run cost."""

    right: np.ndarray
    velocity: np.ndarray
    spin: float
    completed: bool
    newton_per_step: float
    jacobian_updates: int


@lru_cache(maxsize=None)
def model(formulation: str) -> ld.Model:
    source = ld.load("rotor")
    source["sensors"]["right_velocity"] = {"type": "velocity", "of": "rotor", "at": ["right", 0, 0]}
    return ld.Model(source, formulation=formulation)


@lru_cache(maxsize=None)
def run(formulation: str, integrator: str, step: float) -> Outcome:
    result = model(formulation).run(integrator=integrator, step=step, end=END, every=0)
    summary = result.summary
    return Outcome(
        result["right"][-1],
        result["right_velocity"][-1],
        float(result["angular_velocity"][-1, 0]),
        result.completed,
        summary["newton_iterations"] / max(1, summary["steps"]),
        summary["jacobian_updates"],
    )


@dataclass(frozen=True)
class Reference:
    right: np.ndarray
    velocity: np.ndarray
    doubt: float
    """Distance between the places that two formulations with different errors extrapolate to."""


def extrapolated(formulation: str, integrator: str, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity at the end from the steps h and h/2, for a method of second order."""
    coarse, fine = in_parallel(lambda h: run(formulation, integrator, h), (step, step / 2))
    return fine.right + (fine.right - coarse.right) / 3, fine.velocity + (fine.velocity - coarse.velocity) / 3


_lock = threading.Lock()


def reference(*, quick: bool = False) -> Reference:
    """Inertial-frame velocities, sigma = opt, extrapolated to h = 0, and geom1 in the body frame for comparison."""
    with _lock:
        return _reference(quick)


@lru_cache(maxsize=None)
def _reference(quick: bool) -> Reference:
    integrator = "generalized-alpha,rho=0.9,sigma={}"
    right, velocity = extrapolated("r3so3-spatial", integrator.format("opt"), 2e-5 if quick else 5e-6)
    other, _ = extrapolated("r3so3", integrator.format("0"), 2e-5 if quick else 5e-6)
    return Reference(right, velocity, float(np.linalg.norm(right - other)))


def errors(exact: Reference, outcome: Outcome) -> tuple[float, float]:
    """In the place and the velocity of the right support; nan if the solution is lost."""
    if not outcome.completed or lost(outcome):
        return np.nan, np.nan
    return (
        float(np.linalg.norm(outcome.right - exact.right)),
        float(np.linalg.norm(outcome.velocity - exact.velocity)),
    )


def lost(outcome: Outcome) -> bool:
    """Newton's method failed, or the spin is off by more than 10 %."""
    spin = 2 * np.pi * 200_000 / 60
    return not outcome.completed or not np.isfinite(outcome.spin) or abs(outcome.spin / spin - 1) > 0.1

"""Flexible multibody systems with floating frames: the last sentence of the conclusions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import liedyn as ld
from liedyn_reproduce.figure import Page, figure, in_parallel

METHODS = {
    "geom1": ("generalized-alpha,rho=0.9,sigma=0", "r3so3"),
    "geom1-σ₁": ("generalized-alpha,rho=0.9,sigma=1", "r3so3"),
    "geom1-σ(γ/3β)": ("generalized-alpha,rho=0.9,sigma=opt", "r3so3"),
    "Euler parameters": ("generalized-alpha,rho=0.9", "euler-parameters"),
    "Cardan angles": ("generalized-alpha,rho=0.9", "cardan"),
}
COMPARED = tuple(METHODS)[:4]
PLANE, SPACE = "in the plane", "in space"
STEPS = {PLANE: (4e-5, 2e-5, 1e-5), SPACE: (4e-4, 2e-4, 1e-4)}
END = {PLANE: 0.02, SPACE: 0.5}


def in_space() -> dict[str, Any]:
    """The model slider_crank with a rod of steel, 6 mm thick, as a floating frame with modes."""
    rod = {
        "type": "circle", "from": [0, 0.1, 0.2], "to": [0.2, 0, 0], "elements": 8, "element": "three_node", "radius": 0.003,
        "young": 2e11, "density": 7800, "modes": 3, "damping_ratio": 0.02,
        "velocity": [0, -0.48, 0], "angular_velocity_inertial": [1.92, -0.96, 0.48],
    }  # fmt: skip
    return {
        "liedyn": 1,
        "gravity": [0, 0, -9.81],
        "bodies": {
            "crank": {"type": "rigid", "mass": 0.12, "inertia": [1e-4, 1e-4, 1e-5], "position": [0, 0.1, 0.16],
                      "velocity": [0, -0.24, 0], "angular_velocity": [6, 0, 0]},
            "slider": {"type": "rigid", "mass": 2, "inertia": [1e-4, 1e-4, 1e-4], "position": [0.2, 0, 0], "velocity": [0.24, 0, 0]},
        },
        "flexible": {
            "rod": rod,
            "rod_b": {"type": "interface", "of": "rod", "at": [0, 0.1, 0.2]},
            "rod_c": {"type": "interface", "of": "rod", "at": [0.2, 0, 0]},
        },
        "joints": {
            "A": {"type": "revolute", "between": ["ground", "crank"], "at": [0, 0.1, 0.12], "axis": [1, 0, 0]},
            "B": {"type": "spherical", "between": ["crank", "rod_b"], "at": [0, 0.1, 0.2]},
            "C": {"type": "universal", "between": ["rod_c", "slider"], "at": [0.2, 0, 0], "first_axis": [0, 2, -1], "second_axis": [1, 0, 0]},
            "D": {"type": "prismatic", "between": ["ground", "slider"], "at": [0.2, 0, 0], "axis": [1, 0, 0]},
        },
        "sensors": {"middle": {"type": "material_position", "of": "rod", "at": [0.1, 0.05, 0.1]}},
    }  # fmt: skip


@lru_cache(maxsize=None)
def middle(system: str, integrator: str, formulation: str, step: float) -> np.ndarray:
    """Place of the middle of the rod, at the end of the run."""
    source = "slider_crank_flexible" if system == PLANE else in_space()
    result = ld.run(source, integrator=integrator, formulation=formulation, step=step, end=END[system], output_every=0)
    if not result.completed:
        raise RuntimeError(f"{system}, {integrator}, {formulation}: {result.failure}")
    return np.asarray(result["middle"][-1])


def errors(system: str) -> dict[str, list[float]]:
    exact = middle(system, "esdirk4-6", "r3so3", STEPS[system][-1] / 4)
    cases = [(name, step) for name in METHODS for step in STEPS[system]]
    found = in_parallel(lambda case: float(np.linalg.norm(middle(system, *METHODS[case[0]], case[1]) - exact)), cases)
    return {name: [value for (method, _), value in zip(cases, found) if method == name] for name in METHODS}


@figure(
    "sigma-floating-frame",
    title="Flexible slider-cranks with floating frames: errors of the middle of the rod",
    source="Conclusions",
    claims={
        "space": "floating frames (here in space): sigma-modified methods, geom1 and Euler parameters are comparable in accuracy",
    },
    checks={"plane": "in the plane, where rotations commute, they are the same but for round-off"},
)
def floating_frame(page: Page) -> None:
    _, axes = page.plot(1, 2, figsize=(11, 4.2))
    columns: dict[str, list[Any]] = {"system": [], "method": [], "step": [], "error": []}
    for ax, key, system in zip(axes, ("plane", "space"), (PLANE, SPACE)):
        table = errors(system)
        for name, values in table.items():
            ax.loglog(STEPS[system], values, "o-", markersize=3, linewidth=0.9, label=name)
            for step, value in zip(STEPS[system], values):
                for column, entry in zip(columns.values(), (system, name, step, value)):
                    column.append(entry)
        ax.set(xlabel="h / s", ylabel="error / m", title=system)
        ax.legend(fontsize=7)
        spread = max(
            max(table[name][i] for name in COMPARED) / min(table[name][i] for name in COMPARED) for i in range(len(STEPS[system]))
        )
        page.judge(
            key,
            stated="comparable (here: within a factor of 2)" if key == "space" else "the same (here: to 1 %)",
            measured=f"within a factor of {spread:.3f}",
            met=spread < (2 if key == "space" else 1.01),
        )
    page.table("", columns)
    page.note("the paper does not say which systems it examined")

"""A study of our own: derivatives of every shipped model through every integrator, three ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import liedyn as ld
from liedyn_reproduce.figure import Page, figure

STEPS = 100
"""Short enough for differences to converge in all models, long enough for parameters to show."""
SAME, TRUE = 1e-9, 1e-6
"""direct = adjoint, and both = differences, relative to the norm of the gradient."""


@dataclass(frozen=True)
class Case:
    parameters: tuple[str, str, str]
    outputs: tuple[str, ...] = ()
    """All sensors if empty."""
    step: float | None = None
    """The model's own if None."""
    set: tuple[tuple[str, float], ...] = ()


CASES = {
    "andrews_squeezer": Case(("torque", "stiffness", "bodies.OF.mass"), ("beta", "omega")),
    "andrews_squeezer_spatial": Case(("torque", "stiffness", "bodies.OF.mass"), ("beta", "omega")),
    "bricard": Case(("gravity[2]", "bodies.rod1.mass", "bodies.rod3.mass"), ("P3", "energy")),
    "cantilever_45": Case(("load", "young", "beams.bend.density"), ("tip",), step=1e-4),
    "chain": Case(("gravity[2]", "bodies.link1.mass", "bodies.link7.mass"), ("tip",)),
    "controlled_arm": Case(("P", "resistance", "friction"), ("angle", "current_now")),
    "flyball_governor": Case(("stiffness", "damping", "gravity[2]"), ("slider", "shaft_speed")),
    "flying_spaghetti": Case(("pull", "turn", "beams.rod.bending_stiffness_z"), ("start", "end")),
    "four_bar": Case(("speed", "bodies.rocker.mass", "gravity[1]"), ("C", "crank_angle")),
    "four_bar_flexible": Case(("tilt", "beams.CD.torsional_stiffness", "beams.CD.bending_stiffness_y"), ("C",)),
    "heavy_top": Case(("spin", "precession", "bodies.top.mass"), ("position", "velocity", "energy")),
    "heavy_top_free": Case(("spin", "precession", "bodies.top.mass"), ("position", "velocity", "energy")),
    "lateral_buckling": Case(("T", "offset", "gravity[2]"), ("position",)),
    "net": Case(("gravity[2]", "bodies.link1_1.mass", "bodies.link2_1.mass")),
    "pendulum": Case(("x0", "gravity[1]", "bodies.mass.mass"), ("position", "velocity", "energy")),
    "princeton_beam": Case(("load", "angle", "beams.beam.young"), ("tip",)),
    "puma560": Case(("gain", "a2", "bodies.link3.mass"), ("tool", "joint_angles")),
    "ring": Case(("gravity[2]", "bodies.link1.mass", "bodies.link5.mass")),
    "rotating_beam_spin_up": Case(("speed", "time", "beams.beam.bending_stiffness_z"), ("tip", "angle")),
    "rotating_shaft": Case(("eccentricity", "below", "gravity_z"), ("position", "velocity")),
    "rotor": Case(("stiffness", "mass", "omega"), ("left", "right")),
    "slider_crank": Case(("speed", "bodies.rod.mass", "gravity[2]"), ("slider_position", "crank_angle", "energy")),
    "slider_crank_flexible": Case(("speed", "flexible.rod.density", "bodies.slider.mass"), ("middle", "slider_position")),
}


@dataclass(frozen=True)
class Row:
    model: str
    integrator: str
    adjoint: float = np.nan
    """Distance to the direct method relative to the norm of the gradient; the worst of the parameters."""
    difference: float = np.nan
    uncertain: float = np.nan
    """Of the differences themselves."""
    failure: str = ""

    @property
    def same(self) -> bool:
        return self.adjoint < SAME

    @property
    def is_checked(self) -> bool:
        """The differences are good enough to say something."""
        return self.uncertain < TRUE / 3

    @property
    def true(self) -> bool:
        return self.difference < TRUE


def compare(name: str, case: Case, model: ld.Model, integrator: str) -> Row:
    solved_well = ",newton_tol=1e-13" if "newton_tol" in ld.integrators()[integrator].options else ""
    own = model.settings
    step = case.step or own["step"]
    run = {"integrator": integrator + solved_well, "step": step, "end": own["start"] + STEPS * step, "every": 0}
    try:
        direct = model.sensitivity(case.parameters, case.outputs, check=True, **run)
        adjoint = model.sensitivity(case.parameters, case.outputs, method="adjoint", **run)
    except (ld.NumericalError, ld.InputError) as error:
        return Row(name, integrator, failure=str(error).splitlines()[0])
    norm = np.linalg.norm(direct.jacobian, axis=0)
    norm[norm == 0] = 1
    return Row(
        name,
        integrator,
        float((np.linalg.norm(adjoint.jacobian - direct.jacobian, axis=0) / norm).max()),
        max(direct.disagreement.values()),
        max(direct.uncertainty.values()),
    )


def rows_of(name: str, integrators: list[str]) -> list[Row]:
    case = CASES[name]
    model = ld.Model(name, set=dict(case.set))
    return [compare(name, case, model, integrator) for integrator in integrators]


@figure(
    "study-sensitivities",
    title="Derivatives of every shipped model through every integrator: direct, adjoint, and by differences",
    source="our own",
    claims={},
    checks={
        "same": f"direct and adjoint derivatives agree to {SAME:g} of the norm of the gradient in all pairs that complete",
        "true": f"both agree with extrapolated differences to {TRUE:g} in all pairs in which these are good enough to tell",
    },
)
def sensitivities(page: Page) -> None:
    integrators = list(ld.integrators())
    if page.quick:
        integrators = ["generalized-alpha", "lms2", "esdirk3-4", "rk44"]
    names = ["heavy_top", "slider_crank", "pendulum"] if page.quick else list(CASES)
    rows = [row for name in names for row in rows_of(name, integrators)]
    done = [row for row in rows if not row.failure]
    page.table(
        "",
        {
            "model": [row.model for row in rows],
            "integrator": [row.integrator for row in rows],
            "adjoint_to_direct": [row.adjoint for row in rows],
            "difference_to_direct": [row.difference for row in rows],
            "uncertainty_of_differences": [row.uncertain for row in rows],
            "failure": [row.failure for row in rows],
        },
    )
    _, ax = page.plot()
    for label, values in (("adjoint", [r.adjoint for r in done]), ("differences", [r.difference for r in done])):
        ax.semilogy(np.sort(np.clip(values, 1e-17, 1)), label=f"{label} against direct")
    ax.set(xlabel="pairs of model and integrator, sorted", ylabel="distance / norm of the gradient")
    ax.legend()
    checked = [row for row in done if row.is_checked]
    for key, of, bad, worst in (
        ("same", done, [r for r in done if not r.same], max(r.adjoint for r in done)),
        ("true", checked, [r for r in checked if not r.true], max(r.difference for r in checked)),
    ):
        page.judge(
            key,
            stated=f"all {len(of)} such pairs, of {len(rows)}",
            measured=f"{len(of) - len(bad)} do; the worst is at {worst:.1e}",
            met=not bad,
            note="; ".join(f"{r.model} {r.integrator}" for r in bad[:12]),
        )
    page.note(f"{len(rows) - len(done)} pairs do not complete their steps: explicit methods on stiff models, and what the table says")

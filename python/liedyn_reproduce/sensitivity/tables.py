"""Tables 2 to 4: derivatives of the place of the heavy top with respect to its mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from liedyn_reproduce.figure import Page, figure
from liedyn_reproduce.sensitivity import direct_differentiation as direct
from liedyn_reproduce.sensitivity.forms import CHECKED_AT, FORMS, GEOMETRIC, LINEAR, RESIDUAL, RHO, STEP, Form, model

STENCILS: dict[str, tuple[float, dict[int, float]]] = {
    "backward": (1e-7, {0: 1, -1: -1}),
    "central": (1e-5, {1: 1 / 2, -1: -1 / 2}),
    "five-point": (1e-3, {2: -1 / 12, 1: 8 / 12, -1: -8 / 12, -2: 1 / 12}),
}
"""Table 3: the relative perturbation of the mass, and the weights of the runs at multiples of it."""
PRINTED = {
    "backward": {RESIDUAL: 0.9e-7, LINEAR: 1.8e-7, GEOMETRIC: 1.1e-7},
    "central": {RESIDUAL: 2.1e-10, LINEAR: 3.5e-10, GEOMETRIC: 2.2e-10},
    "five-point": {RESIDUAL: 8.3e-12, LINEAR: 2.3e-12, GEOMETRIC: 3.6e-12},
}
MASS = "bodies.top.mass"


def run_options(form: Form, step: float = STEP) -> dict[str, Any]:
    return {"integrator": form.integrator + ",newton_tol=1e-14", "step": step, "end": CHECKED_AT}


def difference(form: Form, stencil: str, step: float = STEP) -> np.ndarray:
    """x'_fd: from runs with other masses."""
    mass = model().parameters[MASS]
    perturbation, weights = STENCILS[stencil]
    places = {
        k: model().run(set={MASS: mass * (1 + k * perturbation)}, **run_options(form, step))["position"][-1] for k in weights
    }
    return sum(weight * places[k] for k, weight in weights.items()) / (mass * perturbation)


def relative(derivative: np.ndarray, reference: np.ndarray) -> float:
    """(118)"""
    return float(np.linalg.norm(derivative - reference) / np.linalg.norm(reference))


@figure(
    "sensitivity-tables",
    title="Heavy top, three forms: derivative of the place with respect to the mass",
    source="Tables 2 and 3",
    claims={
        "central": "the derivatives agree with central differences of whole runs (Table 2)",
        "five-point": "and better with differences of higher order, so that it is these that are in error (Table 3)",
        "backward": "backward differences are the worst (Table 3)",
    },
    reasons={
        "five-point": "at the perturbation of Table 3 truncation (4e-12, from larger perturbations) and round-off of the runs are "
        "of the same size, so that the last digits differ between machines: 1.0e-11 against 3.6e-12.",
    },
)
def tables(page: Page) -> None:
    found = {form: model().sensitivity([MASS], ["position"], **run_options(form)) for form in FORMS}
    errors = {
        name: {form: relative(found[form].jacobian[:, 0], difference(form, name)) for form in FORMS} for name in STENCILS
    }
    _, ax = page.plot()
    for form in FORMS:
        ax.plot(
            found[form].time, found[form].d("position", MASS)[:, 2], form.line, color=f"C{form.color}", label=form.name
        )
    ax.set(xlabel="time t / s", ylabel="∂x₃/∂m / (m/kg)")
    ax.legend()
    page.table(
        "",
        {"form": [form.name for form in FORMS]}
        | {name: [errors[name][form] for form in FORMS] for name in STENCILS}
        | {f"{name}.printed": [PRINTED[name][form] for form in FORMS] for name in STENCILS},
    )
    page.judge(
        "central",
        stated=", ".join(f"{form.name} {PRINTED['central'][form]:.1e}" for form in FORMS) + " (here: at most 1e-9)",
        measured=", ".join(f"{form.name} {errors['central'][form]:.1e}" for form in FORMS),
        met=max(errors["central"].values()) <= 1e-9,
    )
    page.judge(
        "five-point",
        stated=", ".join(f"{form.name} {PRINTED['five-point'][form]:.1e}" for form in FORMS)
        + " (here: ten times better than central differences)",
        measured=", ".join(f"{form.name} {errors['five-point'][form]:.1e}" for form in FORMS),
        met=all(errors["five-point"][form] <= errors["central"][form] / 10 for form in FORMS),
        note="at this perturbation truncation (4e-12, from larger perturbations) and round-off of the runs are of the "
        "same size, so that the last digits differ between machines",
    )
    page.judge(
        "backward",
        stated=", ".join(f"{form.name} {PRINTED['backward'][form]:.1e}" for form in FORMS),
        measured=", ".join(f"{form.name} {errors['backward'][form]:.1e}" for form in FORMS),
        met=min(errors["backward"].values()) > 10 * max(errors["central"].values()),
    )
    page.note(f"rho = {RHO}, h = {STEP:g}, at t = {CHECKED_AT:g} s, errors as in (118); the perturbations are those of Table 3")


@dataclass(frozen=True)
class Row:
    """Of Table 4, or another reading of one."""

    name: str
    form: Form
    simplified: direct.Simplification
    printed: Mapping[float, float]
    """Error by step."""
    mark: str = "o"


WITHOUT_K_G = direct.Simplification(without_k_g=frozenset({"k_t"}))
ROWS = {
    "residual-free": Row(
        "residual, reference-free", RESIDUAL, direct.Simplification(reference_free=True), {2e-3: 6.4e-4, 2e-4: 6.6e-5}
    ),
    "linear-free": Row(
        "linear, reference-free", LINEAR, direct.Simplification(reference_free=True), {2e-3: 1.1e-4, 2e-4: 1.0e-6}
    ),
    "residual-k_g": Row("residual, k_t without k_G", RESIDUAL, WITHOUT_K_G, {2e-3: 1.1e-4, 2e-4: 1.0e-6}, "s"),
    "linear-k_g": Row("linear, k_t without k_G", LINEAR, WITHOUT_K_G, {2e-3: 3.5e-10, 2e-4: 5.0e-10}, "s"),
    "symmetric": Row(
        "geometric, symmetric K_t", GEOMETRIC, direct.Simplification(symmetric=True), {2e-3: 1.0e-4, 2e-4: 1.0e-4}, "^"
    ),
}
READINGS = {
    "residual-k_g-nowhere": Row(
        "residual, k_G nowhere",
        RESIDUAL,
        direct.Simplification(without_k_g=frozenset({"k_t", "k_a", "update"})),
        ROWS["residual-k_g"].printed,
        "x",
    ),
    "residual-free-covector": Row(
        "residual, reference-free, T^-T of (99) as constant",
        RESIDUAL,
        direct.Simplification(reference_free=True, without_k_g=frozenset({"update"})),
        ROWS["residual-free"].printed,
        "x",
    ),
}
"""Other ways to understand a row."""
TABLE_STEPS = (2e-3, 1e-3, 5e-4, 2e-4)
QUICK_TABLE_STEPS = (2e-3, 1e-3)
WITHIN = 1.1
"""Factor within which a printed error counts as met."""


@figure(
    "sensitivity-table4",
    title="Heavy top, three forms: derivatives with respect to the mass by simplified algorithms",
    source="Table 4",
    claims={
        "residual-free": "the reference-free update leaves an error that decreases as O(h) in the residual form",
        "linear-free": "and as O(h^2) in the linear form",
        "residual-k_g": "without k_G the residual form has an error that quickly decreases with the step",
        "linear-k_g": "without k_G the derivatives of the linear form do not change at all",
        "symmetric": "with a symmetric K_t the geometric form has an error that does not decrease with the step",
        "residual-free-size": "size of the errors: residual form, reference-free update",
        "linear-free-size": "linear form, reference-free update",
        "residual-k_g-size": "residual form, k_t without k_G",
        "symmetric-size": "geometric form, symmetric K_t",
    },
    checks={
        "place": "the program for this table gives the place that the engine gives, in all forms",
        "derivative": "and without simplification the engine's derivatives",
        "residual-k_g-nowhere": "the errors printed for the residual form without k_G are those without it anywhere",
    },
    reasons={
        "residual-k_g-size": "with k_t of (65) without k_G, as the text says, the errors are 7.7e-7 and 7e-9, 140 times below the printed "
        "ones. These are met (1.08e-4, 9.9e-7) if the operator is left out wherever it stands: also in k_a of (72) "
        "and in the derivative of T^-T in (96), which is where nearly all of the error comes from (check).",
        "symmetric-size": "K_t of (109) to (111) is not symmetric in the rotations alone, so that there is one way to symmetrise it; "
        "that gives 9.9e-4 and 9.8e-4 at both steps, a decade above. In Newton's matrix alone, with one iteration, "
        "the error is 6.8e-6 at h = 2e-3 and falls with h^2; of the weight's share of lambda alone 4.5e-4. That the "
        "error does not fall with h is met; the exponent may be a misprint.",
    },
)
def table4(page: Page) -> None:
    steps = QUICK_TABLE_STEPS if page.quick else TABLE_STEPS
    rows = ROWS | READINGS
    errors: dict[str, list[float]] = {key: [] for key in rows}
    of_place, of_derivative, change = 0.0, 0.0, 0.0
    for step in steps:
        for form in FORMS:
            keys = [key for key, row in rows.items() if row.form == form]
            asked = [direct.EXACT, *(rows[key].simplified for key in keys)]
            place, (exact, *simplified) = direct.run(form.name, step, CHECKED_AT, asked, rho=RHO)
            engine = model().sensitivity([MASS], ["position"], **run_options(form, step))
            of_place = max(of_place, float(np.abs(place - engine.values).max()))
            of_derivative = max(of_derivative, relative(exact, engine.jacobian[:, 0]))
            reference = difference(form, "central", step)
            for key, derivative in zip(keys, simplified):
                errors[key].append(relative(derivative, reference))
                if key == "linear-k_g":
                    change = max(change, relative(derivative, exact))
    _, ax = page.plot()
    for i, (key, row) in enumerate(ROWS.items()):
        ax.loglog(steps, errors[key], row.form.line, marker=row.mark, markersize=4, color=f"C{i}", label=row.name)
        ax.loglog(row.printed.keys(), row.printed.values(), row.mark, markersize=9, color=f"C{i}", fillstyle="none")
    ax.loglog(steps, errors["residual-k_g-nowhere"], ":", marker="x", color="C2", label="residual, k_G nowhere")
    ax.set(xlabel="step h / s", ylabel="relative error of ∂x/∂m at t = 0.1 s", xlim=(0.8 * steps[-1], 1.25 * steps[0]))
    ax.minorticks_off()
    ax.set_xticks(steps, [f"{step:g}" for step in steps])
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    page.table("", {"h": steps} | errors)
    cells = [
        (row, step, errors[key][steps.index(step)]) for key, row in rows.items() for step in row.printed if step in steps
    ]
    page.table(
        "printed",
        {
            "method": [row.name for row, _, _ in cells],
            "h": [step for _, step, _ in cells],
            "printed": [row.printed[step] for row, step, _ in cells],
            "here": [error for _, _, error in cells],
        },
    )

    def at_printed_steps(key: str) -> str:
        return ", ".join(f"{error:.2e}" for row, _, error in cells if row is rows[key])

    def judge_size(claim: str, key: str, note: str = "") -> None:
        mine = [(row.printed[step], error) for row, step, error in cells if row is rows[key]]
        page.judge(
            claim,
            stated=", ".join(f"{printed:.1e}" for printed, _ in mine) + f" (here: within a factor of {WITHIN:g})",
            measured=at_printed_steps(key),
            met=all(1 / WITHIN <= error / printed <= WITHIN for printed, error in mine),
            note=note,
        )

    page.order("residual-free", steps, errors["residual-free"], 1)
    page.order("linear-free", steps, errors["linear-free"], 2)
    page.order("residual-k_g", steps, errors["residual-k_g"], 2, note="the slope is that of the printed errors")
    page.judge(
        "linear-k_g",
        stated="3.5e-10, 5.0e-10: what the differences are in error (here: at most three times as much; 1e-12 without differences)",
        measured=f"{at_printed_steps('linear-k_g')}; beside the exact derivatives {change:.1e}",
        met=max(error for row, _, error in cells if row is ROWS["linear-k_g"]) <= 3 * 5.0e-10 and change <= 1e-12,
    )
    page.order("symmetric", steps, errors["symmetric"], 0)
    judge_size(
        "residual-free-size",
        "residual-free",
        f"{at_printed_steps('residual-free-covector')} if T^-T in (99) is taken as constant",
    )
    judge_size("linear-free-size", "linear-free")
    judge_size("residual-k_g-size", "residual-k_g", "k_t of (65), as the text has it; see the last check")
    judge_size(
        "symmetric-size",
        "symmetric",
        "K_t of the whole system is not symmetric in its rotations alone, X~ (R^T lambda)~, so that there is one way to "
        "symmetrise it; the printed errors are a decade below. 1.0e-3 would be met",
    )
    judge_size(
        "residual-k_g-nowhere",
        "residual-k_g-nowhere",
        "that is, neither in k_t, nor in k_a of (72) for the forces J T phi'', nor in (96) for the derivative of T^-T",
    )
    page.below("place", of_place, 1e-12)
    page.below("derivative", of_derivative, 1e-10)
    page.note(
        f"rho = {RHO}, at t = {CHECKED_AT:g} s, errors as in (118) against central differences of the engine's runs, relative "
        "perturbation 1e-5; printed errors are large marks. The simplified derivatives are those of a small program, "
        "sensitivity/direct_differentiation.py: the engine has exact ones only"
    )

"""What the figures of the sigma paper share: its methods, runs of the heavy top, plots and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce import heavy_top as top
from liedyn_reproduce.evaluation.runs import STAGNATED, TOLERANCES, residual_in
from liedyn_reproduce.figure import Page, in_parallel, slope_line

# The paper does not print its step sizes. These are the largest ones of the same authors' evaluation paper for the same
# models (Tables 5 and 7 there).
# The predictor of the authors' program loses the top in index 3 at 2.5e-3, so that its largest step cannot be larger.
STEPS = (1.25e-3, 6.25e-4, 3.125e-4, 1.5625e-4, 7.8125e-5, 3.90625e-5)
QUICK_STEPS = (1.25e-3, 6.25e-4, 3.125e-4)
ROTOR_STEPS = (5e-5, 2.5e-5, 1.25e-5, 6.25e-6, 3.125e-6)
QUICK_ROTOR_STEPS = (5e-5, 2.5e-5)


@dataclass(frozen=True)
class Method:
    """A method of the paper, as it names it; `key` for columns of tables."""

    name: str
    key: str
    formulation: str = "r3so3"
    options: str = "sigma=0"
    line: str = "-"
    color: int = 0

    @property
    def available(self) -> bool:
        return self.formulation in ld.formulations()

    def integrator(self, **options: object) -> str:
        more = "".join(f",{name}={value}" for name, value in options.items())
        return f"generalized-alpha,{self.options}{more}"


GEOM1 = Method("geom1", "geom1", color=0)
SIGMA_1 = Method("geom1-σ₁, as printed", "sigma1-printed", options="sigma=1,variant=paper", line=":", color=1)
SIGMA_OPT = Method("geom1-σ(γ/3β), as printed", "sigmaopt-printed", options="sigma=opt,variant=paper", line=":", color=2)
AUTHORS_1 = replace(
    SIGMA_1, name="geom1-σ₁", key="sigma1-authors", options=SIGMA_1.options + ",predictor_factor=0.5", line="-"
)
AUTHORS_OPT = replace(
    SIGMA_OPT, name="geom1-σ(γ/3β)", key="sigmaopt-authors", options=SIGMA_OPT.options + ",predictor_factor=0.5", line="-"
)
EXACT_1 = Method("geom1-σ₁, exact", "sigma1-exact", options="sigma=1", line="--", color=1)
EXACT_OPT = Method("geom1-σ(γ/3β), exact", "sigmaopt-exact", options="sigma=opt", line="--", color=2)
PRINTED = (SIGMA_1, SIGMA_OPT)
AUTHORS = (AUTHORS_1, AUTHORS_OPT)
EXACT = (EXACT_1, EXACT_OPT)
LIE = (GEOM1, *AUTHORS, *PRINTED, *EXACT)
EULER = Method("Gα (EP)", "euler-parameters", "euler-parameters", "sigma=0", "-.", 3)
CARDAN = Method("Gα (CTB)", "cardan", "cardan", "sigma=0", "-.", 4)

INDEX_RHO = {"3": 0.65, "2": 0.65, "stabilized": 1}
"""Section 7.1: rho = 0.65 in index 3 and 1 in the stabilised form. For index 2 it says nothing: as index 3."""
QUANTITIES = ("q", "v", "lambda")
PRINTED_NOTE = (
    "judged are Algorithms 1, 2 and 3 with the predictor of the authors' program, half of the printed lines 6, as (29) and (83) give "
    "it; 'as printed' has the whole. None returns to the relation (12) for theta; 'exact' solves it"
)
MARGIN = 1.02
"""How many times smaller an error has to be to count as smaller."""
STEPS_NOTE = (
    "the paper does not print its step sizes: here those of the same authors' evaluation paper for the same model; "
    "errors are relative maxima over time, q in Euler parameters and place"
)


def steps_of(page: Page) -> tuple[float, ...]:
    return QUICK_STEPS if page.quick else STEPS


@lru_cache(maxsize=None)
def top_run(method: Method, index: str, step: float, extra: str = "") -> top.Motion:
    """Where round-off stops Newton's method above its tolerance, the next of the ladder is tried, as in the other paper."""
    for tolerance in TOLERANCES if not extra else TOLERANCES[:1]:
        integrator = method.integrator(rho=INDEX_RHO[index], index=index, newton_tol=tolerance) + extra
        run = top.simulate(method.formulation, integrator, step)
        if run.completed or residual_in(run.failure) >= STAGNATED:
            break
    return run


def top_errors(methods: Sequence[Method], index: str, steps: Sequence[float]) -> dict[Method, np.ndarray]:
    """Relative errors by step (rows) in q, v and lambda (columns); nan where a run failed."""
    exact = top.reference()
    cases = [(method, step) for method in methods for step in steps]
    runs = in_parallel(lambda case: top_run(case[0], index, case[1]), cases)
    rows = np.array([top.relative_errors(exact, run) for run in runs])
    return dict(zip(methods, rows.reshape(len(methods), len(steps), 3)))


def gains(tables: Mapping[Method, np.ndarray], methods: Sequence[Method], columns: Sequence[int]) -> dict[str, float]:
    """How many times smaller than geom1's the errors are, by method and quantity: the smallest over all steps."""
    return {
        f"{method.name} {QUANTITIES[i]}": float(np.min(tables[GEOM1][:, i] / tables[method][:, i]))
        for method in methods
        for i in columns
    }


def in_words(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}: {value:.2f} times" for name, value in values.items())


def judge_gains(
    page: Page, key: str, table: Mapping[Method, np.ndarray], methods: Sequence[Method], columns: Sequence[int]
) -> None:
    values = gains(table, methods, columns)
    others = PRINTED if methods == AUTHORS else ()
    page.judge(
        key,
        stated="more accurate than geom1",
        measured=in_words(values) + ", at the worst of the steps",
        met=all(value > MARGIN for value in values.values()),
        note=in_words(gains(table, others, columns)),
    )


def judge_conventional(
    page: Page, key: str, other: Method, tables: Mapping[Method, np.ndarray], columns: Sequence[int]
) -> None:
    """The printed methods are more accurate than a conventional one at every step that it survives."""
    if other not in tables:
        page.not_examined([key], f"the formulation {other.formulation} is not available")
        return
    theirs = tables[other][:, columns]
    failed = int(np.isnan(theirs[:, 0]).sum())
    if failed == len(theirs):
        page.not_examined([key], f"{other.name} fails at every step here")
        return
    worst = {method.name: float(np.nanmin(theirs / tables[method][:, columns])) for method in (*AUTHORS, *PRINTED)}
    page.judge(
        key,
        stated="outperformed",
        measured=", ".join(f"{name}: at least {value:.2g} times smaller errors" for name, value in worst.items())
        + (f"; {other.name} fails at {failed} of {len(theirs)} steps" if failed else ""),
        met=all(worst[method.name] > MARGIN for method in AUTHORS),
    )


def conventional() -> list[Method]:
    return [method for method in (EULER, CARDAN) if method.available]


def draw_convergence(
    page: Page,
    steps: Sequence[float],
    tables: Mapping[str, Mapping[Method, np.ndarray]],
    columns: Mapping[int, str],
    titles: Mapping[str, str],
) -> None:
    """Rows: quantities; columns: index forms. With one form only, the quantities stand side by side."""
    rows, width = (1, len(columns)) if len(tables) == 1 else (len(columns), len(tables))
    fig, axes = page.plot(rows, width, squeeze=False, figsize=(9, 3.2 * rows + 0.9))
    for row, (column, quantity) in zip(axes.reshape(len(columns), len(tables)), columns.items()):
        for ax, (index, table) in zip(row, tables.items()):
            for method, values in table.items():
                ax.loglog(
                    steps,
                    values[:, column],
                    method.line,
                    marker="o",
                    markersize=3,
                    color=f"C{method.color}",
                    label=method.name,
                )
            slope_line(ax, steps, 0.5 * np.nanmin([values[-1, column] for values in table.values()]), 2)
            ax.set(xlabel="step h / s", ylabel=quantity, title=titles[index])
            ax.margins(x=0.05)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    room = 0.15 + 0.2 * -(-len(labels) // 4)
    fig.get_layout_engine().set(rect=(0, 0, 1, 1 - room / fig.get_figheight()))
    fig.legend(handles, labels, loc="upper left", ncols=4, handlelength=3, fontsize=8)


def convergence_table(
    page: Page, steps: Sequence[float], tables: Mapping[str, Mapping[Method, np.ndarray]], names: Sequence[str]
) -> None:
    columns: dict[str, Sequence[float]] = {"h": list(steps)}
    for index, table in tables.items():
        for method, values in table.items():
            columns |= {f"{method.key}.{index}.{name}": values[:, i] for i, name in enumerate(names)}
    page.table("", columns)

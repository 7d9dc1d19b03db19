"""Studies of our own on the papers' examples: where each method holds, and what a step costs."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

import liedyn as ld
from liedyn_reproduce.figure import Page, figure, in_parallel
from liedyn_reproduce.heavy_top import reference

METHODS = {
    "geom1": ("r3so3", "sigma=0"),
    "σ = 1": ("r3so3", "sigma=1"),
    "σ = opt": ("r3so3", "sigma=opt"),
    "Algorithm 1": ("r3so3", "sigma=1,variant=paper"),
    "Algorithm 2": ("r3so3", "sigma=opt,variant=paper"),
    "linear form": ("r3so3", "form=linear"),
    "spatial, σ = 0": ("r3so3-spatial", "sigma=0"),
    "spatial, σ = 1": ("r3so3-spatial", "sigma=1"),
    "spatial, σ = opt": ("r3so3-spatial", "sigma=opt"),
    "Euler parameters": ("euler-parameters", "sigma=0"),
}
INDICES = {"3": "index 3", "2": "index 2", "stabilized": "stabilised"}
STARTS = ("plain", "corrected")
HOLDS, OSCILLATES, LOST, FAILED = range(4)
WORDS = ("holds", "multiplier oscillates without bound", "motion lost", "Newton fails")


def outcome(model: ld.Model, integrator: str, step: float) -> int:
    """How a run of one second ends. The motion is lost if the centre of mass is off by half its distance from the pivot; the
    multiplier oscillates without bound if after half a second it is still off by more than its own size."""
    run = model.run(integrator=integrator, step=step)
    if not run.completed:
        return FAILED
    exact = reference()
    at = np.rint(run.time / exact.time[1]).astype(int)
    if np.linalg.norm(run["position"][-1] - exact.position[-1]) > 0.5:
        return LOST
    late = run.time >= 0.5 - 1e-9
    error = np.abs(run["multiplier"][late] - exact.multiplier[at[late]]).max()
    return OSCILLATES if error > np.abs(exact.multiplier).max() else HOLDS


@figure(
    "study-stability",
    title="Heavy top: for which rho and step each method holds",
    source="our own",
    claims={},
    checks={
        "sigma": "index 3: the sigma relation solved exactly holds with sigma = 1 and opt, for all rho < 1, h <= 4e-3",
        "geom1": "index 3, plain start: geom1 fails at rho = 0.99 for h >= 1e-3",
        "printed": "index 3: Algorithm 1 as printed does not hold at h = 4e-3 for rho >= 0.9",
        "index2": "index 2 and the stabilised form hold everywhere on the groups",
    },
)
def stability(page: Page) -> None:
    rhos = (0.0, 0.6, 0.9, 0.99) if page.quick else (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99)
    steps = (4e-3, 1e-3) if page.quick else (4e-3, 2e-3, 1e-3, 5e-4)
    models = {name: ld.Model("heavy_top", formulation=name) for name in {m[0] for m in METHODS.values()}}
    cases = list(itertools.product(INDICES, STARTS, METHODS, steps, rhos))

    def run(case: tuple[str, str, str, float, float]) -> int:
        index, start, method, step, rho = case
        formulation, options = METHODS[method]
        return outcome(models[formulation], f"generalized-alpha,rho={rho},index={index},start={start},{options}", step)

    found = dict(zip(cases, in_parallel(run, cases), strict=True))
    page.table(
        "",
        {
            **{name: [case[i] for case in cases] for i, name in enumerate(("index", "start", "method", "step", "rho"))},
            "outcome": [WORDS[found[case]] for case in cases],
        },
    )
    draw_map(page, found, rhos, steps)

    def all_hold(index: str, starts: tuple[str, ...], methods: tuple[str, ...]) -> bool:
        return all(
            found[case] == HOLDS
            for case in cases
            if (case[0], case[1] in starts, case[2] in methods) == (index, True, True)
        )

    def judge(key: str, met: bool) -> None:
        page.judge(key, stated="as said", measured="holds" if met else "does not", met=met)

    exact = ("σ = 1", "σ = opt")
    judge("sigma", all_hold("3", STARTS, exact))
    judge("geom1", all(found["3", "plain", "geom1", h, 0.99] == FAILED for h in steps if h >= 1e-3))
    judge(
        "printed", all(found["3", start, "Algorithm 1", 4e-3, r] != HOLDS for start in STARTS for r in rhos if r >= 0.9)
    )
    on_groups = tuple(name for name in METHODS if name != "Euler parameters")
    judge("index2", all(all_hold(index, STARTS, on_groups) for index in ("2", "stabilized")))


def draw_map(page: Page, found: dict, rhos: tuple[float, ...], steps: tuple[float, ...]) -> None:
    fig, axes = page.plot(2, 3, figsize=(11, 7.6), sharex=True, sharey=True)
    colours = ListedColormap(["#d7e8d4", "#f3d38b", "#e08a4f", "#a83a32"])
    for row, start in enumerate(STARTS):
        for column, (index, words) in enumerate(INDICES.items()):
            ax = axes[row][column]
            grid = [[found[index, start, m, h, r] for h in steps for r in rhos] for m in METHODS]
            ax.imshow(grid, cmap=colours, vmin=-0.5, vmax=3.5, aspect="auto")
            for k in range(1, len(steps)):
                ax.axvline(k * len(rhos) - 0.5, color="white", linewidth=3)
            ax.set_title(f"{words}, {start} start")
            ax.set_xticks(
                [k * len(rhos) + (len(rhos) - 1) / 2 for k in range(len(steps))], [f"h = {h:g}" for h in steps]
            )
            ax.set_yticks(range(len(METHODS)), list(METHODS))
            ax.tick_params(length=0)
            ax.grid(False)
    fig.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))
    fig.legend([Patch(color=colours(i)) for i in range(4)], WORDS, loc="lower center", ncols=4, frameon=False)
    fig.suptitle(f"In each block rho = {', '.join(f'{r:g}' for r in rhos)} from left to right", fontsize="medium")


@figure(
    "study-cost",
    title="Heavy top: computing time of a step, as ratios to geom1",
    source="our own",
    claims={},
    checks={"tangent-free": "sigma = 1 as printed costs less per step than geom1 with the full Jacobian"},
)
def cost(page: Page) -> None:
    step, rounds = 1e-3, 5 if page.quick else 25
    models = {name: ld.Model("heavy_top", formulation=name) for name in {m[0] for m in METHODS.values()} | {"se3"}}
    cases = {**METHODS, "geom1 on SE(3)": ("se3", "sigma=0")}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    newton: dict[str, float] = {}
    for _ in range(rounds):  # interleaved, so that a busy machine slows all of them alike
        for name, (formulation, options) in cases.items():
            run = models[formulation].run(integrator=f"generalized-alpha,rho=0.9,{options}", step=step, every=0)
            seconds[name].append(run.summary["wall_seconds"] / run.summary["steps"])
            newton[name] = run.summary["newton_iterations"] / run.summary["steps"]
    best = {name: min(values) for name, values in seconds.items()}
    ratios = {
        name: statistics.median(a / b for a, b in zip(values, seconds["geom1"], strict=True))
        for name, values in seconds.items()
    }
    page.table(
        "",
        {
            "method": list(cases),
            "microseconds": [1e6 * best[name] for name in cases],
            "ratio": [ratios[name] for name in cases],
            "newton": [newton[name] for name in cases],
        },
    )
    fig, ax = page.plot(figsize=(6.4, 3.8))
    ax.barh(list(cases)[::-1], [ratios[name] for name in cases][::-1])
    for place, name in enumerate(list(cases)[::-1]):
        ax.text(ratios[name] + 0.02, place, f"{1e6 * best[name]:.1f} µs, {newton[name]:.2f} iterations", va="center")
    ax.set(xlabel="time per step relative to geom1", xlim=(0, 1.5 * max(ratios.values())))
    page.below("tangent-free", ratios["Algorithm 1"], 1.0)

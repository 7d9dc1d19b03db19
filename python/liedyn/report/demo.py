"""The report of `./dev demo`: the heavy top, how it moves, how accurately and at what cost."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import liedyn as ld
from liedyn import style
from liedyn.report import page
from liedyn.report import run as run_report
from liedyn.report.page import scientific

# The known answer at t = 1, from models/heavy_top/README.md.
REFERENCE = {
    "position": np.array([0.173343964098, 0.640088592070, -0.748490791134]),
    "velocity": np.array([0.570825303, -4.588728296, -3.791955155]),
    "multiplier": np.array([-58.274564, -646.558312, -409.441409]),
}
STEP = 1e-3
STEPS_COMPARED = [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
TRANSIENT_END = 0.1


@dataclass(frozen=True)
class Method:
    """One way to integrate the heavy top, compiled once."""

    name: str
    formulation: str
    sigma: str
    color: int
    dashed: bool = False

    @cached_property
    def model(self) -> ld.Model:
        return ld.Model("heavy_top", formulation=self.formulation)

    @property
    def line(self) -> dict[str, object]:
        return {"color": f"C{self.color}", "linestyle": "--" if self.dashed else "-", "label": self.name}

    def run(self, step: float = STEP, **options: object) -> ld.Result:
        return self.model.run(integrator=f"generalized-alpha,rho=0.9,sigma={self.sigma}", step=step, **options)


METHODS = [
    Method("body frame, σ = 0 (geom1)", "r3so3", "0", color=0),
    Method("body frame, σ = 1", "r3so3", "1", color=1),
    Method("body frame, σ = γ/(3β)", "r3so3", "opt", color=2),
    Method("inertial frame, σ = 0", "r3so3-spatial", "0", color=3, dashed=True),
    Method("inertial frame, σ = γ/(3β)", "r3so3-spatial", "opt", color=4, dashed=True),
]
DEFAULT = METHODS[0]


def write(file: Path) -> None:
    """Runs everything and writes the page."""
    runs = {method: method.run(residuals=True) for method in METHODS}
    errors = {method: final_errors(method) for method in METHODS}
    run = runs[DEFAULT]
    with tempfile.TemporaryDirectory(prefix="liedyn_demo_") as folder:
        stored = DEFAULT.run(out=Path(folder) / "top.h5", states=True)
        sections = [
            run_report.moving(stored),
            headline(run, errors[DEFAULT]),
            run_report.model_section(stored),
            run_report.curve_section(stored),
            model_section(run),
            motion_section(run),
            multiplier_section(run),
            drift_section(runs),
            accuracy_section(errors),
            cost_section(runs),
            run_report.effort_section(stored),
            run_report.warning_section(stored),
            again_section(),
        ]
    lead = (
        "A rigid body spins at 150 rad/s and turns about a fixed point under gravity: the benchmark of Lie group time "
        "integration, simulated for one second with generalised-α on R³ × SO(3)."
    )
    file.write_text(page.page("The heavy top", lead, sections), encoding="utf-8")


# ---- numbers


def final_errors(method: Method) -> np.ndarray:
    """Errors at t = 1 by step (rows) and quantity of REFERENCE (columns)."""
    runs = [method.run(step, every=0) for step in STEPS_COMPARED]
    return np.array([[np.linalg.norm(run[name][-1] - value) for name, value in REFERENCE.items()] for run in runs])


def observed_order(coarse: float, fine: float) -> float:
    return math.log2(coarse / fine)


def microseconds_per_step(method: Method, repetitions: int = 5) -> float:
    """The best of some runs: what disturbs a run only makes it slower."""
    summaries = [method.run(every=0).summary for _ in range(repetitions)]
    return min(1e6 * summary["wall_seconds"] / summary["steps"] for summary in summaries)


def allocations_in_loop() -> str:
    """As the program counts them: a module must not replace the allocator of the interpreter it is loaded into."""
    program = shutil.which("liedyn")
    if program is None:
        return "not counted"
    command = [program, "run", "heavy_top", "--json"]
    summary = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    count = summary["allocations_in_loop"]
    return "not counted" if count is None else str(count)


def multiplier_over_time() -> tuple[np.ndarray, np.ndarray]:
    """Times and pivot force in body axes, from the top about its fixed point, which has no constraints.

    m a = f + m g at the centre of mass gives the force, which so is free of the transient of the multipliers.
    """
    model = ld.load("heavy_top_free")
    model["sensors"] |= {
        "acceleration": {"type": "acceleration", "of": "top", "at": [0, 1, 0]},
        "orientation": {"type": "orientation", "of": "top"},
    }
    fine = ld.run(
        model, formulation="r3so3-spatial", integrator="generalized-alpha,rho=0.9,sigma=opt", step=1.25e-5, every=10
    )
    mass = model["bodies"]["top"]["mass"]
    force = mass * (fine["acceleration"] - np.array(model["gravity"]))
    return fine.time, rotate_back(fine["orientation"], force)


def rotate_back(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """R^T u for rows of unit quaternions (w, x, y, z) and vectors u."""
    w, axis = quaternions[:, :1], -quaternions[:, 1:]
    twice = 2 * np.cross(axis, vectors)
    return vectors + w * twice + np.cross(axis, twice)


# ---- sections


def headline(run: ld.Result, errors: np.ndarray) -> str:
    summary = run.summary
    one_millisecond = STEPS_COMPARED.index(STEP)
    return page.facts(
        (f"{1e3 * errors[one_millisecond, 0]:.3g} mm", "error of the centre of mass at t = 1 s, step 1 ms"),
        (f"{observed_order(errors[-2, 0], errors[-1, 0]):.2f}", "order of convergence observed"),
        (f"{microseconds_per_step(DEFAULT):.1f} µs", "per step, on this machine"),
        (f"{summary['newton_iterations'] / summary['steps']:.2f}", "Newton iterations per step"),
        (allocations_in_loop(), "memory allocations in the loop"),
    )


def model_section(run: ld.Result) -> str:
    top = ld.load("heavy_top")["bodies"]["top"]
    spin = DEFAULT.model.parameters["spin"]
    data = page.table(
        ["Quantity", "Value"],
        [
            ["mass", f"{top['mass']} kg"],
            ["principal inertias", ", ".join(f"{x:g}" for x in top["inertia"]) + " kg m²"],
            ["centre of mass at t = 0", "(" + ", ".join(f"{x:g}" for x in top["position"]) + ") m"],
            ["spin about the y axis", f"{spin:g} rad/s"],
            ["gravity along −z", f"{-DEFAULT.model.parameters['gravity[2]']:g} m/s²"],
        ],
    )
    words = page.text(
        "The body is described about its centre of mass and held at the origin by a spherical joint: six velocities "
        "and three constraints <i>Φ</i>(<i>q</i>) = 0, solved on position level (index 3) at every step. The centre of "
        "mass moves slowly on a sphere of radius 1 m, while the body turns by 0.15 rad in a millisecond: that is what "
        "makes the benchmark hard.",
    )
    path = page.figure(
        lambda theme: draw_path(run, theme),
        "Path of the centre of mass on the sphere around the fixed point.",
        "The path of the centre of mass, fainter at <i>t</i> = 0, and the axis of the body at <i>t</i> = 1 s.",
    )
    return page.section("Why it is hard", page.columns(words + data, path))


def motion_section(run: ld.Result) -> str:
    return page.section(
        "Motion",
        page.figure(
            lambda theme: draw_motion(run, theme),
            "Components of the position and of the velocity of the centre of mass over time.",
            "Centre of mass in inertial axes, step 1 ms, default integrator. Rings: the reference solution at "
            "<i>t</i> = 1 s (order 8, tolerance 10⁻¹²).",
        ),
    )


def multiplier_section(run: ld.Result) -> str:
    times, exact = multiplier_over_time()
    results = {step: DEFAULT.run(step) for step in STEPS_COMPARED}

    def largest_error(result: ld.Result, begin: float, end: float) -> float:
        inside = (result.time >= begin - 1e-9) & (result.time <= end + 1e-9)
        expected = exact[np.searchsorted(times, result.time[inside] - 1e-9)]
        return float(np.abs(result["multiplier"][inside] - expected).max())

    intervals = [(0, TRANSIENT_END), (0.5, 1)]
    worst = np.array([[largest_error(results[step], *interval) for interval in intervals] for step in STEPS_COMPARED])
    return page.section(
        "Pivot force",
        page.text(
            "The multipliers <i>λ</i> are the force at the pivot in body axes. Generalised-α with the plain start "
            "gives them a transient whose size is only of first order in the step. It fades within about a hundred steps "
            "(except with the largest step, with which the body turns by 0.6 rad per step and the transient grows); "
            "after it the error is of second order like that of positions and velocities."
        ),
        page.figure(
            lambda theme: draw_multiplier(run, {step: results[step] for step in (1e-3, 5e-4)}, times, exact, theme),
            "Multiplier over time, and its error near the start for two step sizes.",
            "Left: step 1 ms. Right: first component against the top about its fixed point, which has no constraints, "
            "integrated with a step of 12.5 µs.",
        ),
        order_table(
            "Largest error of a component of <i>λ</i>, default integrator.",
            ["0 ≤ t ≤ 0.1 s / N", "0.5 s ≤ t ≤ 1 s / N"],
            worst,
        ),
    )


def drift_section(runs: dict[Method, ld.Result]) -> str:
    return page.section(
        "Energy and constraints",
        page.text(
            "Nothing dissipates in this model, so its energy should be constant. Constraints are imposed on positions; velocities satisfy them up to the accuracy of the method, without projection."
        ),
        page.figure(
            lambda theme: draw_drift(runs, theme),
            "Drift of the energy and residuals of the constraints on both levels over time for five methods.",
            "Step 1 ms. Relative change of the energy (above); largest component of the constraints at "
            "position level, <i>Φ</i>, and at velocity level, <i>B v</i> (below).",
        ),
    )


def accuracy_section(errors: dict[Method, np.ndarray]) -> str:
    at = STEPS_COMPARED.index(STEP)
    geom1 = errors[DEFAULT][at, 0]
    rows = [
        [method.name, *(scientific(error) for error in table[at]), f"{geom1 / table[at, 0]:.1f}"]
        for method, table in errors.items()
    ]
    return page.section(
        "Accuracy",
        page.text(
            "All methods are of second order. How the rotation is described decides how large the error is: with "
            "inertial-frame angular velocities, which change slowly on a fast spinning body, and "
            "σ = γ/(3β) the same cost buys many times the accuracy."
        ),
        page.figure(
            lambda theme: draw_convergence(errors, theme),
            "Errors of position, velocity and multiplier at t = 1 s against the step size, five methods.",
            "Errors at <i>t</i> = 1 s against the reference solution, in the Euclidean norm.",
        ),
        page.table(
            ["Method, h = 1 ms", "position / m", "velocity / (m/s)", "multiplier / N", "gain over geom1"],
            rows,
            "Errors at <i>t</i> = 1 s. Gain: in the position.",
        ),
        order_table(
            "Default integrator: errors at <i>t</i> = 1 s, and the order seen between neighbouring steps.",
            ["position / m", "velocity / (m/s)", "multiplier / N"],
            errors[DEFAULT],
        ),
    )


def cost_section(runs: dict[Method, ld.Result]) -> str:
    rows = []
    for method, run in runs.items():
        summary = run.summary
        rows.append(
            [
                method.name,
                str(summary["steps"]),
                str(summary["newton_iterations"]),
                str(summary["jacobian_updates"]),
                f"{microseconds_per_step(method):.2f}",
                scientific(summary["energy"]["max_drift"] / abs(summary["energy"]["initial"]), 2),
                scientific(summary["constraint_residual"]["position"], 2),
                scientific(summary["constraint_residual"]["velocity"], 2),
            ]
        )
    summary = runs[DEFAULT].summary
    return page.section(
        "Summary",
        page.table(
            [
                "Method, h = 1 ms",
                "steps",
                "Newton iterations",
                "Jacobians",
                "µs per step",
                "energy drift",
                "max |Φ| / m",
                "max |B v| / (m/s)",
            ],
            rows,
            f"{summary['unknowns']} unknowns, {summary['degrees_of_freedom']} degrees of freedom, "
            f"{summary['solver']} solver. Time: integration loop only, best of five runs. Energy drift: largest "
            "relative change.",
        ),
    )


def again_section() -> str:
    return page.section(
        "Do it again",
        page.columns(
            page.text("On the command line:")
            + page.code(
                "./dev liedyn run heavy_top --step 5e-4\n"
                "./dev liedyn run heavy_top --set spin=50 \\\n    --out top.h5"
            ),
            page.text("In Python (<code>./dev python</code>):")
            + page.code(
                "import liedyn as ld\n\n"
                'r = ld.run("heavy_top", step=5e-4,\n           formulation="r3so3-spatial")\n'
                'r["position"][-1]\nr.plot("position")'
            ),
        ),
    )


def order_table(caption: str, quantities: list[str], errors: np.ndarray) -> str:
    """Errors by step (rows) and quantity (columns), each with the order between neighbouring steps."""
    head = ["h / ms"] + [cell for quantity in quantities for cell in (quantity, "order")]
    rows = []
    for i, step in enumerate(STEPS_COMPARED):
        row = [f"{1e3 * step:g}"]
        for column in range(len(quantities)):
            order = f"{observed_order(errors[i - 1, column], errors[i, column]):.2f}" if i > 0 else "–"
            row += [scientific(errors[i, column]), order]
        rows.append(row)
    return page.table(head, rows, caption)


# ---- figures


def draw_path(run: ld.Result, theme: style.Theme) -> Figure:
    fig = plt.figure(figsize=(4.4, 4.2), layout="none")
    ax = fig.add_axes((0, 0, 1, 1), projection="3d", computed_zorder=False)
    ax.set_axis_off()
    ax.set_box_aspect((1, 1, 1), zoom=1.6)
    ax.view_init(elev=24, azim=-38)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))

    angle = np.linspace(0, 2 * np.pi, 121)
    for latitude in np.radians([-60, -30, 0, 30, 60]):
        ring = np.cos(latitude)
        ax.plot(ring * np.cos(angle), ring * np.sin(angle), np.sin(latitude), color=theme.grid, linewidth=0.7)
    for longitude in np.radians(range(0, 180, 30)):
        x, y = np.cos(angle) * np.cos(longitude), np.cos(angle) * np.sin(longitude)
        ax.plot(x, y, np.sin(angle), color=theme.grid, linewidth=0.7)
    for direction, name in zip(np.eye(3), "xyz"):
        ax.plot(*np.stack([np.zeros(3), 0.35 * direction], axis=1), color=theme.muted, linewidth=1)
        ax.text(*(0.43 * direction), name, color=theme.muted, ha="center", va="center", style="italic")

    path = run["position"]
    segments = [path[i : i + 11] for i in range(0, len(path) - 1, 10)]
    shade = LinearSegmentedColormap.from_list("time", [theme.grid, theme.series[0]])
    ax.add_collection3d(Line3DCollection(segments, colors=shade(np.linspace(0.25, 1, len(segments))), linewidths=1.8))
    ax.plot(*np.stack([np.zeros(3), path[-1]], axis=1), color=theme.series[1], linewidth=1.6)
    ax.scatter(*path[-1], color=theme.series[1], s=26, depthshade=False)
    ax.scatter(0, 0, 0, color=theme.ink, s=14, depthshade=False)
    return fig


def draw_motion(run: ld.Result, theme: style.Theme) -> Figure:
    fig, axes = plt.subplots(2, 1, figsize=(8, 5.4), sharex=True)
    for ax, name in zip(axes, ("position", "velocity")):
        run.plot(name, ax=ax)
        for component, value in enumerate(REFERENCE[name]):
            ax.plot(1, value, "o", color=f"C{component}", markerfacecolor=theme.paper, clip_on=False, zorder=3)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    axes[0].set_xlabel("")
    axes[0].set_ylabel("centre of mass / m")
    return fig


def draw_multiplier(
    run: ld.Result, zoomed: dict[float, ld.Result], times: np.ndarray, exact: np.ndarray, theme: style.Theme
) -> Figure:
    fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    run.plot("multiplier", ax=left)
    left.set_ylabel("multiplier λ / N")
    left.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.14))

    right.axhline(0, color=theme.muted, linewidth=0.8)
    for color, (step, result) in enumerate(zoomed.items()):
        near = result.time <= TRANSIENT_END
        error = result["multiplier"][near, 0] - np.interp(result.time[near], times, exact[:, 0])
        right.plot(result.time[near], error, color=f"C{color}", linewidth=1.1, label=f"h = {1e3 * step:g} ms")
    right.set(xlabel="time / s", ylabel="error of λ₁ / N", xlim=(0, TRANSIENT_END))
    right.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.14))
    return fig


def draw_drift(runs: dict[Method, ld.Result], theme: style.Theme) -> Figure:
    fig, axes = plt.subplots(3, 1, figsize=(8, 7), sharex=True, height_ratios=[1.3, 1, 1])
    for method, run in runs.items():
        energy = run["energy"]
        axes[0].plot(run.time, energy / energy[0] - 1, linewidth=1.1, **method.line)
        for ax, level in zip(axes[1:], ("position", "velocity")):
            # Zero has no place on a logarithmic axis: what is below round-off is not drawn.
            residual = run[f"constraint_residual.{level}"]
            ax.semilogy(run.time, np.where(residual > 1e-17, residual, np.nan), linewidth=0.9, **method.line)
    axes[0].axhline(0, color=theme.muted, linewidth=0.8)
    axes[0].set_ylabel("E / E(0) − 1")
    axes[1].set_ylabel("max |Φ| / m")
    axes[2].set(ylabel="max |B v| / (m/s)", xlabel="time / s")
    legend_above(fig, *axes[0].get_legend_handles_labels(), share=0.13)
    return fig


def draw_convergence(errors: dict[Method, np.ndarray], theme: style.Theme) -> Figure:
    fig, axes = plt.subplots(1, 3, figsize=(8, 3.9))
    steps = np.array(STEPS_COMPARED)
    for column, (ax, name, unit) in enumerate(zip(axes, REFERENCE, ("m", "m/s", "N"))):
        for method, table in errors.items():
            ax.loglog(1e3 * steps, table[:, column], marker="o", markersize=3.5, **method.line)
        lowest = min(table[-1, column] for table in errors.values())
        ax.loglog(1e3 * steps, 0.35 * lowest * (steps / steps[-1]) ** 2, color=theme.muted, linewidth=1, linestyle=":")
        ax.set(xlabel="step / ms", title=style.quantity(name, unit))
        ax.margins(x=0.06)
        ax.set_xticks(1e3 * steps, [f"{1e3 * step:.3g}" if i % 2 == 1 else "" for i, step in enumerate(steps)])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(LogLocator(numticks=8))
    handles, labels = axes[0].get_legend_handles_labels()
    slope = plt.Line2D([], [], color=theme.muted, linewidth=1, linestyle=":")
    legend_above(fig, [*handles, slope], [*labels, "slope 2"], share=0.23)
    return fig


def legend_above(fig: Figure, handles: list, labels: list[str], share: float) -> None:
    """A legend for all axes, in the given share of the figure's height above them."""
    fig.get_layout_engine().set(rect=(0, 0, 1, 1 - share))
    fig.legend(handles, labels, loc="upper left", ncols=2, borderaxespad=0.2)

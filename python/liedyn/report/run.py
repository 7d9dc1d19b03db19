"""The report about one run: what moved, what was simulated, the curves, how well the equations were solved, and what to do about warnings."""

from __future__ import annotations

import html
import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import liedyn as ld
from liedyn import _liedyn, plots, style
from liedyn.report import page
from liedyn.report.page import scientific

MOST_CURVES = 6
MOST_POINTS = 3000  # of a curve
MOST_EVENTS = 12
MOST_LOOKED_AT = 100  # sensors, of which those are drawn that change
RESIDUALS = "constraint_residual."

FORMULATIONS = {
    "r3so3": "positions and rotation matrices (R³ × SO(3)), angular velocities in body axes",
    "r3so3-spatial": "positions and rotation matrices (R³ × SO(3)), angular velocities in inertial axes",
    "se3": "rigid motions (SE(3)), both velocities in body axes",
    "euler-parameters": "positions and unit quaternions",
    "cardan": "positions and Cardan angles about inertial axes",
    "cardan-body": "positions and Cardan angles about body axes",
    "minimal": "joint coordinates of a tree, with constraints where loops close",
}
SECTIONS = {"bodies": "bodies", "beams": "beams", "flexible": "flexible bodies", "joints": "joints", "forces": "forces", "states": "first-order states"}

# What to do about a warning, by words in it. Most warnings say so themselves.
ADVICE = [
    (r"redundant", "Positions and velocities are correct, but the distribution of the reactions is not unique. Release a joint if individual reactions matter."),
    (r"turns? by .* in one step|rad in (one|a) step", "Use the step given in the warning."),
    (r"event .* has ended the run", "This is what the event was written for; remove its “stop” to go on."),
    (r"longer than the run", "Use a shorter step, or a later end."),
    (r"do not resolve the function of time", "Use a shorter step, or an adaptive integrator (adaptive=true)."),
    (r"contact", "Use shorter steps around contacts, or an adaptive integrator (adaptive=true)."),
]


def write(result: ld.Result, file: Path, *, title: str = "", source: str = "") -> None:
    """Writes the page, whole or not at all. `source`: the file or model that the commands on the page name."""
    _liedyn.write_whole(str(file), text(result, title=title, source=source))


def text(result: ld.Result, *, title: str = "", source: str = "") -> str:
    name = title or readable(result.summary.get("model", "") or Path(source).stem) or "A result"
    blocks = [moving(result), headline(result), *sections(result), again(result, source)]
    return page.page(name, lead(result), [block for block in blocks if block])


def of_model(model: str, options: dict[str, Any]) -> tuple[ld.Result, tempfile.TemporaryDirectory]:
    """Simulates a model with all that the page shows. The result stays in the folder, which the caller keeps alive."""
    folder = tempfile.TemporaryDirectory(prefix="liedyn_report_")
    return ld.run(model, out=Path(folder.name) / "run.h5", states=True, **options), folder


def sections(result: ld.Result) -> list[str]:
    """All but the top and the end of the page: what other reports can use as well."""
    parts = [warning_section(result), model_section(result), curve_section(result), drift_section(result), effort_section(result), event_section(result)]
    return [part for part in parts if part]


# ---- words


def readable(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def counted(count: int, noun: str) -> str:
    return f"{count} {noun if count != 1 or not noun.endswith('s') else noun[:-1].replace('bodie', 'body')}"


def seconds(value: float) -> str:
    """A duration as people say it."""
    if value == 0 or not np.isfinite(value):
        return f"{value:g} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{scientific(value)} s"


def listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def model_text(result: ld.Result) -> dict[str, Any]:
    """The model file, where it is JSON."""
    try:
        model = json.loads(result.summary.get("model_text") or "{}")
    except ValueError:
        return {}
    return model if isinstance(model, dict) else {}


def entries(result: ld.Result) -> dict[str, list[tuple[str, str]]]:
    """(name, type) by section of the model in the result; empty if it has none, or none that can be read here."""
    try:
        return result._stored.model_entries() if result._stored else {}
    except ld.InputError:
        return {}


def lead(result: ld.Result) -> str:
    said = str(model_text(result).get("description", "")).strip()
    out = html.escape(said + ("" if said.endswith(".") or not said else ".")) + " "
    if not result._has_summary:
        return f"{len(result.time)} recorded times from {result.time[0]:g} s to {result.time[-1]:g} s."
    s = result.summary
    out += f"Simulated from {s['start']:g} s to {s['end']:g} s"
    if s["steps"]:
        out += f" in {counted(s['steps'], 'steps')}"
        if s["wall_seconds"] is not None:
            out += f" and {seconds(s['wall_seconds'])} of wall time"
    states = {
        "failed": " The numerics failed before the end.",
        "stopped": " The run was stopped before the end.",
        "killed": " The program was killed before the end; all that it had recorded is here.",
        "running": " The run is still in progress.",
    }
    return out + "." + states.get(result.status, "")


def integrator_words(described: str) -> str:
    name, _, options = described.partition(",")
    listed_one = _liedyn.integrators().get(name)
    words = f"{listed_one.summary.rstrip('.')} ({name})" if listed_one else name
    return words


# ---- sections


def moving(result: ld.Result) -> str:
    """The motion in 3D; the model at its start if the result has no states; nothing if it is only a table."""
    try:
        view = result.view() if result.states or result._scene else None
        shown = view.page if view else _liedyn.scene_page([result._stored.model_scene()]) if result._stored else ""
    except ld.InputError as error:
        return page.text(f"The model in 3D is not here: {html.escape(str(error))}")
    if not shown:
        return ""
    note = (
        "Drag to turn, use the wheel or two fingers to zoom, and press <kbd>space</kbd> to stop. "
        "<kbd>?</kbd> lists all keys."
        if view
        else "The model at its start. The motion is shown if the run keeps its states: <code>liedyn run MODEL --out FILE.h5 --states</code>."
    )
    return page.embedded(shown, "The moving model in 3D" if view else "The model in 3D", note)


def headline(result: ld.Result) -> str:
    if not result._has_summary:
        return ""
    s = result.summary
    facts = [(f"{s['end'] - s['start']:.4g} s", "simulated")]
    if s["steps"] and s["wall_seconds"] is not None:
        facts += [(seconds(s["wall_seconds"]), f"wall time, {seconds(s['wall_seconds'] / s['steps'])} per step")]
    facts += [(str(s["degrees_of_freedom"]), "degrees of freedom")]
    if s["steps"] and s["energy"]["max_drift"] is not None:
        facts += [(f"{scientific(s['energy']['max_drift'], 2)} J", "largest change of the energy")]
    if s["steps"] and s["jacobian_updates"]:
        facts += [(f"{s['newton_iterations'] / s['steps']:.2f}", "Newton iterations per step")]
    return page.facts(*facts)


def warning_section(result: ld.Result) -> str:
    if not result._has_summary:
        return ""
    s = result.summary
    items = []
    if result.completed is False:
        hint = {
            "failed": "Try a much shorter step, or an adaptive integrator (adaptive=true). The curves up to there are complete.",
            "killed": "All rows that had been written are here. Start the run again, or go on from a checkpoint (--save-state, --resume).",
            "running": "Write the report again when the run has ended.",
        }.get(result.status, "The curves up to there are complete.")
        items.append((result.failure or f"The run did not reach its end ({result.status}).", hint, result.status != "running"))
    for warning in s["warnings"]:
        advice = next((words for pattern, words in ADVICE if re.search(pattern, warning)), "")
        items.append((warning, advice, False))
    items += [(what, advice, False) for what, advice in doubts(result)]
    if not items:
        return page.section("Warnings", page.good("None."))
    return page.section("Warnings" if len(items) > 1 else "A warning", *(page.warning(*item) for item in items))


def doubts(result: ld.Result) -> list[tuple[str, str]]:
    """Advice from the statistics of the run, in addition to the warnings."""
    s, out = result.summary, []
    if s["steps"] and s["jacobian_updates"] and s["newton_iterations"] > 5 * s["steps"]:
        out.append((f"Newton's method needed {s['newton_iterations'] / s['steps']:.1f} iterations per step.", "Two or three are usual: try a shorter step."))
    if s["steps"] and s["rejected_steps"] > 0.25 * s["steps"]:
        out.append(
            (f"{s['rejected_steps']} of {s['steps'] + s['rejected_steps']} attempts at a step were rejected.",
             "Forces that switch cost most of them: describe them as events, or smooth them.")
        )
    return out


def model_section(result: ld.Result) -> str:
    if not result._has_summary:
        return ""
    s = result.summary
    parts = entries(result)
    rows = []
    for section, words in SECTIONS.items():
        kinds = Counter(kind for _, kind in parts.get(section, []))
        if kinds:
            detail = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(5)) + (", …" if len(kinds) > 5 else "")
            rows.append([words, detail])
    rows.append(["degrees of freedom", str(s["degrees_of_freedom"]) + (f", and {s['states']} first-order states" if s["states"] else "")])
    changed = ", ".join(f"{path} = {value:g}" for path, value in s["set"].items())
    if changed:
        rows.append(["changed for this run", changed])
    sizes = seconds(s["step"])
    if s["largest_step"] > 1.001 * s["least_step"] > 0:
        sizes = f"{seconds(s['least_step'])} to {seconds(s['largest_step'])}, chosen by the error"
    method = [
        ["integrator", integrator_words(s["integrator"])],
        ["coordinates", FORMULATIONS.get(s["formulation"], s["formulation"]) + (", chosen by a trial run" if s["formulation_chosen"] else "")],
        ["steps", sizes],
        ["unknowns", f"{s['unknowns']}, {s['solver']} solver"],
        ["program", f"Liedyn {s['liedyn']}, {s['date'].replace('T', ' ').rstrip('Z')} UTC"],
    ]
    bodies = [name for name, _ in parts.get("bodies", [])]
    words = ""
    if bodies:
        joints = [name for name, _ in parts.get("joints", [])]
        shown = bodies if len(bodies) <= 6 else [*bodies[:3], "…", bodies[-1]]
        words = f"The model has {counted(len(bodies), 'bodies')} ({html.escape(', '.join(shown))})"
        if joints:
            names = joints if len(joints) <= 6 else [*joints[:3], "…", joints[-1]]
            words += f" and {counted(len(joints), 'joints')} ({html.escape(', '.join(names))})"
        free = s["degrees_of_freedom"]
        words += f". {'One motion remains' if free == 1 else f'{free} independent motions remain'} free." if free else ". No degree of freedom remains."
    return page.section(
        "What was simulated", page.text(words) if words else "", page.columns(page.pairs("The model", rows), page.pairs("The method", method))
    )


def curve_section(result: ld.Result) -> str:
    chosen = important(result)
    if not chosen:
        hint = "The model has no sensors. Add some (<code>\"sensors\": {\"tip\": {\"type\": \"position\", \"of\": \"BODY\"}}</code>), or run with <code>--record all</code>."
        return page.section("Curves", page.text(hint))
    figures = [
        page.figure(lambda theme, name=name: draw_channel(result, name, theme), f"{readable(name)} over time.")
        for name in chosen
    ]
    left = [name for name in result if name not in chosen and not name.startswith(RESIDUALS)]
    more = page.text(f"Recorded as well: {html.escape(', '.join(left[:30]))}{', …' if len(left) > 30 else ''}.") if left else ""
    return page.section("The important curves", page.grid(*figures), more)


def important(result: ld.Result) -> list[str]:
    """The sensors that change, in their order; those with units before those without."""
    changing = []
    for name in list(result)[:MOST_LOOKED_AT]:
        values = result[name][np.isfinite(result[name])]
        if not name.startswith(RESIDUALS) and values.size and np.ptp(values) > 1e-12 * np.abs(values).max():
            changing.append(name)
        if len(changing) == 3 * MOST_CURVES:
            break
    with_unit = [name for name in changing if result.units[name]]
    rest = [name for name in changing if name not in with_unit]
    kept = (with_unit + rest)[:MOST_CURVES]
    return [name for name in changing if name in kept]


def drift_section(result: ld.Result) -> str:
    statistics = result.statistics
    if "energy" not in statistics:
        return ""
    s = result.summary
    residual = s["constraint_residual"]
    words = [
        f"The energy of the bodies, springs and gravity began with {scientific(s['energy']['initial'])} J and changed by at most "
        f"{scientific(s['energy']['max_drift'], 2)} J. Dampers, friction, drives and other forces change it. "
        "Without them it should stay constant, and what remains is the error of the method.",
    ]
    constrained = np.any(statistics["position_residual"] > 0) or np.any(statistics["velocity_residual"] > 0)
    if constrained:
        words.append(
            f"Joints are equations Φ(q) = 0. They were violated by at most {scientific(residual['position'], 2)} (positions, in m or rad), "
            f"and their rates by {scientific(residual['velocity'], 2)}. Both should be far below the dimensions and speeds of the model."
        )
    figures = [page.figure(lambda theme: draw_energy(result, theme), "Change of the energy over time.")]
    if constrained:
        figures.append(page.figure(lambda theme: draw_violation(result), "Violation of the constraints over time."))
    return page.section("Energy and constraints", page.text(*words), page.grid(*figures))


def effort_section(result: ld.Result) -> str:
    if not result._has_summary or not result.summary["steps"]:
        return ""
    s = result.summary
    per = s["newton_iterations"] / s["steps"]
    rows = [["steps", str(s["steps"])], ["rejected steps", str(s["rejected_steps"])]]
    if s["jacobian_updates"]:
        rows += [
            ["Newton iterations", f"{s['newton_iterations']} ({per:.2f} per step)"],
            ["matrices factorised", f"{s['jacobian_updates']} ({s['jacobian_updates'] / s['steps']:.2f} per step)"],
        ]
    else:
        rows += [["linear solves", f"{s['newton_iterations']} ({per:.2f} per step)"]]
    if s["wall_seconds"] is not None:
        rows += [["wall time of the steps", f"{seconds(s['wall_seconds'])} ({seconds(s['wall_seconds'] / s['steps'])} per step)"]]
    if s["redundant_constraints"]:
        rows += [["redundant constraints", str(len(s["redundant_constraints"]))]]
    if "steps" not in result.statistics or len(result.time) < 3:
        return page.section("Steps and iterations", page.pairs("", rows))
    figure = page.figure(lambda theme: draw_effort(result, theme), "Length of the steps and Newton iterations per step over time.")
    return page.section("Steps and iterations", page.columns(page.pairs("", rows), figure))


def event_section(result: ld.Result) -> str:
    events = result.events
    if not events:
        return ""
    rows = [[name, f"{t:.9g}"] for t, name in events[:MOST_EVENTS]]
    more = f"The first {MOST_EVENTS} of {len(events)}." if len(events) > MOST_EVENTS else ""
    return page.section("Events", page.table(["Event", "time / s"], rows, more))


def again(result: ld.Result, source: str) -> str:
    s = result.summary
    model = Path(s.get("model_file") or "").name or s.get("model", "MODEL")
    if s.get("model_file") and Path(s["model_file"]).name == "model.json":  # a shipped model
        model = s["model"]
    words = ["liedyn", "run", model or "MODEL", *(f"--set {path}={value!r}" for path, value in s.get("set", {}).items())]
    # The run may have had other settings than its model.
    words += [f"--{key} {s[key]!r}" for key in ("start", "end", "step") if s.get(key)]
    words += [f"--{key} {s[key]}" for key in ("integrator", "formulation") if s.get(key)]
    commands = [" ".join([*words, "--out run.h5 --states"]), "liedyn report run.h5", "liedyn view run.h5", "liedyn convert run.h5 run.csv"]
    python = ["import liedyn as ld", "", f'r = ld.load_result("{Path(source).name or "run.h5"}")', "r.summary"]
    if len(result):
        first = next(iter(result))
        python += [f'r["{first}"]', f'r.plot("{first}")']
    return page.section(
        "Do it again",
        page.columns(page.text("On the command line:") + page.code("\n".join(commands)), page.text("In Python:") + page.code("\n".join(python))),
    )


# ---- figures


def thinned(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curves of at most MOST_POINTS points that keep every peak: of each interval the least and the largest value."""
    if len(time) <= MOST_POINTS:
        return time, values
    bins = MOST_POINTS // 2
    edges = np.linspace(0, len(time), bins + 1).astype(int)
    rows = []
    for begin, end in zip(edges[:-1], edges[1:]):
        part = np.nan_to_num(values[begin:end])
        rows += sorted((begin + int(np.argmin(part)), begin + int(np.argmax(part))))
    kept = np.array(rows)
    return time[kept], values[kept]


def draw_channel(result: ld.Result, name: str, theme: style.Theme) -> Figure:
    fig, ax = plt.subplots(figsize=(4.6, 2.9))
    columns = result[name].reshape(len(result.time), -1)
    for i, column in enumerate(columns.T):
        label = plots.component_name(i, columns.shape[1]) if columns.shape[1] > 1 else None
        ax.plot(*thinned(result.time, column), label=label, linewidth=1.4)
    ax.set(xlabel="time / s", title=style.quantity(readable(name), result.units[name]))
    ax.margins(x=0)
    if columns.shape[1] > 1:
        ax.legend(loc="upper center", ncols=min(4, columns.shape[1]), bbox_to_anchor=(0.5, -0.22), borderaxespad=0)
    return fig


def draw_energy(result: ld.Result, theme: style.Theme) -> Figure:
    fig, ax = plt.subplots(figsize=(4.8, 2.9))
    energy = result.statistics["energy"]
    ax.axhline(0, color=theme.muted, linewidth=0.8)
    ax.plot(*thinned(result.time, energy - energy[0]), linewidth=1.2)
    ax.set(xlabel="time / s", title="Change of the energy / J")
    ax.margins(x=0)
    return fig


def draw_violation(result: ld.Result) -> Figure:
    fig, ax = plt.subplots(figsize=(4.8, 2.9))
    for name, label in (("position_residual", "positions"), ("velocity_residual", "velocities")):
        time, shown = thinned(result.time, result.statistics[name])
        # Zero has no point on a logarithmic axis: what is below round-off is not drawn.
        ax.semilogy(time, np.where(shown > 1e-18, shown, np.nan), linewidth=1.1, label=label)
    ax.set(xlabel="time / s", title="Violation of the constraints", xlim=(result.time[0], result.time[-1]))
    ax.legend(loc="best")
    return fig


def draw_effort(result: ld.Result, theme: style.Theme) -> Figure:
    statistics = result.statistics
    steps, iterations, time = statistics["steps"], statistics["newton_iterations"], result.time
    taken = np.diff(steps)
    inside = taken > 0
    adaptive = np.ptp(statistics["step"][1:]) > 1e-6 * np.max(statistics["step"])
    fig, axes = plt.subplots(1 + bool(adaptive), 1, figsize=(4.8, 2.7 if not adaptive else 4.2), sharex=True, squeeze=False)
    ax = axes[0][0]
    ax.plot(*thinned(time[1:][inside], (np.diff(iterations)[inside] / taken[inside])), linewidth=1.1)
    ax.set(title="Iterations per step", xlim=(time[0], time[-1]), ylim=(0, None))
    if adaptive:
        axes[1][0].semilogy(*thinned(time[1:], statistics["step"][1:]), linewidth=1.1, color="C1")
        axes[1][0].set(title="Length of the steps / s")
    axes[-1][0].set(xlabel="time / s")
    return fig

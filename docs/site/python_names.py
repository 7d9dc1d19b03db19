"""The pages of the Python package: every public name, by autodoc."""

from __future__ import annotations

import inspect

import liedyn

GROUPS = {
    "Analyses": ["run", "static", "modes", "linearize", "assemble", "kinematics", "sweep", "converge", "analyze_integrator"],
    "Derivatives and searches": ["sensitivity", "gradient", "optimize"],
    "Models": ["Model", "Builder", "load", "models", "elements", "integrators", "formulations", "parameters", "Expression"],
    "Shapes": ["box", "capsule", "cone", "cylinder", "ellipsoid", "extrusion", "mesh", "rod", "sphere", "tube"],
    "Simulations that your program advances": ["Simulation", "Environment", "VectorEnvironment"],
    "Robots": ["Robot", "Reached"],
    "Results": ["Result", "load_result", "Equilibrium", "Modes", "StateSpace", "Sensitivity", "Gradient", "Optimum", "Sweep", "Convergence", "LinearAnalysis"],
    "Studies": ["Study", "StudyTable", "StudyView", "ResponseSurface", "load_study"],
    "Views": ["View", "LiveView"],
    "Functions of your own": ["called", "register_function"],
    "Errors": ["InputError", "Diagnostic", "NumericalError", "NumericalWarning"],
}  # fmt: skip


def _directive(name: str) -> str:
    thing = getattr(liedyn, name)
    if inspect.isclass(thing):
        kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
        # The methods of Builder are the elements: the pages of the elements describe them.
        return f".. {kind}:: liedyn.{name}\n   :members:\n"
    return f".. autofunction:: liedyn.{name}\n"


def pages() -> dict[str, str]:
    """A page for each group, and one that lists them with their names."""
    public = [name for name in liedyn.__all__ if not name.startswith("_")]
    listed = [name for group in GROUPS.values() for name in group]
    groups = {group: [name for name in names if name in public] for group, names in GROUPS.items()}
    other = [name for name in public if name not in listed]
    if other:
        groups["Other names"] = other
    out, rows, files = {}, [], []
    for group, names in groups.items():
        file = group.lower().replace(" ", "_")
        text = f"# {group}\n\n```{{eval-rst}}\n.. currentmodule:: liedyn\n\n" + "\n".join(_directive(name) for name in names) + "```\n"
        out[f"reference/python_{file}.md"] = text
        links = ", ".join(f"{{py:obj}}`{name} <liedyn.{name}>`" for name in names)
        rows.append(f"| [{group}](python_{file}.md) | {links} |")
        files.append(f"python_{file}")
    table = "| | |\n|---|---|\n" + "\n".join(rows)
    contents = "```{toctree}\n:hidden:\n\n" + "\n".join(files) + "\n```"
    introduction = "`import liedyn as ld`. [Use from Python](../howto/use_from_python.md) is an introduction."
    return out | {"reference/python.md": f"# Python\n\n{introduction}\n\n{table}\n\n{contents}\n"}

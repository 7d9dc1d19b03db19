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
    public = [name for name in liedyn.__all__ if not name.startswith("_")]
    listed = [name for group in GROUPS.values() for name in group]
    groups = {group: [name for name in names if name in public] for group, names in GROUPS.items()}
    other = [name for name in public if name not in listed]
    if other:
        groups["Other names"] = other
    parts = ["# Python\n\n`import liedyn as ld`. [Use from Python](../howto/use_from_python.md) is an introduction.\n"]
    for group, names in groups.items():
        parts.append(f"## {group}\n\n```{{eval-rst}}\n.. currentmodule:: liedyn\n\n" + "\n".join(_directive(name) for name in names) + "```\n")
    return {"reference/python.md": "\n".join(parts)}

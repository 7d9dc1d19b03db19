"""Writes g_crane.json: a rope of 20 rigid links with universal joints, a load of 1 t, and a trolley that is driven.

A model file has no loops; a rope of other links is `model(links=50)`, which `liedyn.run` takes as it is.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent


def model(links: int = 20, rope: float = 20.0, rope_mass: float = 40.0, load: float = 1000.0, travel: float = 6.0) -> dict:
    length, mass = rope / links, rope_mass / links
    bodies = {"trolley": {"type": "rigid", "mass": 200, "inertia": [10, 10, 10]}}
    joints = {
        "rails": {"type": "prismatic", "between": ["ground", "trolley"], "at": [0, 0, 0], "axis": [1, 0, 0]},
        "drive": {"type": "prescribed_motion", "joint": "rails", "motion": "travel*step(t, 0, 8)"},
    }
    above = "trolley"
    for i in range(links):
        name = f"link{i + 1}"
        across = mass * length**2 / 12
        bodies[name] = {"type": "rigid", "mass": mass, "inertia": [across, across, 1e-3 * mass], "position": [0, 0, -(i + 0.5) * length]}
        joints[f"joint{i + 1}"] = joint(above, name, -i * length)
        above = name
    bodies["load"] = {"type": "rigid", "mass": load, "inertia": [170, 170, 170], "position": [0, 0, -rope - 1]}
    joints["hook"] = joint(above, "load", -rope)
    return {
        "liedyn": 1,
        "description": "Crane: a trolley is driven, 1 t hangs on a rope of rigid links. Written by g_crane.py.",
        "parameters": {"travel": travel},
        "gravity": [0, 0, -9.81],
        "bodies": bodies,
        "joints": joints,
        "sensors": {
            "trolley": {"type": "joint_displacement", "of": "rails"},
            "load": {"type": "position", "of": "load"},
            "swing": {"type": "relative_position", "between": ["trolley", "load"]},
            "rope_force": {"type": "reaction_force", "of": "joint1"},
            "drive_force": {"type": "reaction_force", "of": "drive"},
        },
        "simulation": {"end": 12, "step": 0.01, "formulation": "minimal"},
    }


def joint(above: str, below: str, z: float) -> dict:
    return {"type": "universal", "between": [above, below], "at": [0, 0, z], "first_axis": [1, 0, 0], "second_axis": [0, 1, 0]}


def text(entries: dict) -> str:
    """JSON with one entry per line."""
    parts = []
    for key, value in entries.items():
        if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
            lines = ",\n    ".join(f"{json.dumps(name)}: {json.dumps(item)}" for name, item in value.items())
            parts.append(f"{json.dumps(key)}: {{\n    {lines} }}")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{ " + ",\n  ".join(parts) + " }\n"


if __name__ == "__main__":
    (HERE / "g_crane.json").write_text(text(model()), encoding="utf-8")

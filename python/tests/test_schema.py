"""The published schema agrees with the program: what one accepts, so does the other."""

import copy
import json
import subprocess

import jsonschema
import pytest

import liedyn as ld

EXAMPLE = {
    "$schema": "model.schema.json",
    "liedyn": 1,
    "name": "example",
    "description": "One of everything.",
    "parameters": {"m": 2, "twice": "2*m"},
    "gravity": [0, 0, "-9.81*m"],
    "bodies": {
        "a": {
            "type": "rigid",
            "mass": "m",
            "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            "orientation": {"axis": [0, 0, 1], "angle": "pi"},
            "velocity": "consistent",
        },
        "b": {"type": "point", "mass": 1, "position": [1, 0, 0]},
    },
    "joints": {
        "rod": {"type": "distance", "between": ["a", "b"], "points": [[0, 0, 0], [1, 0, 0]], "length": 1},
        "guide": {"type": "generic", "between": ["ground", "a"], "at": [0, 0, 0], "fixed": ["y", "rotation_x"]},
    },
    "forces": {"push": {"type": "force", "on": "b", "force": ["sin(t)", 0, 0], "axes": "body"}},
    "states": {},
    "sensors": {"place": {"type": "position", "of": "b"}},
    "simulation": {"end": "m", "step": 0.5, "formulation": "se3", "output_every": 2},
}

# Every form of a function of time, components in body axes, guesses.
FORMS = [
    (("joints", "drive", "motion"), {"polynomial": [0, 1, "m"]}),
    (("joints", "drive", "motion"), {"harmonic": {"amplitude": 1, "frequency": "m"}}),
    (("joints", "drive", "motion"), {"harmonic": {"amplitude": 1, "frequency": 2, "phase": 0, "offset": 1}}),
    (("joints", "drive", "motion"), {"step": {"start": 0, "end": 1}}),
    (("joints", "drive", "motion"), {"step": {"start": 0, "end": 1, "from": 0, "to": "m"}}),
    (("joints", "drive", "motion"), {"table": [[0, 0], [1, 2], [2, 0]]}),
    (("forces", "push", "force"), [{"polynomial": [1]}, {"table": [[0, 0], [1, 1]]}, "t"]),
    (("joints", "hinge", "at"), {"ground": [0, 0, 0], "a": ["m", 0, 0]}),
    (("joints", "hinge", "axis"), {"a": [0, 0, 1], "ground": [0, 0, 1]}),
    (("bodies", "a", "position"), {"consistent": [0, 0, "m"]}),
    (("bodies", "a", "orientation"), {"consistent": {"axis": [0, 0, 1], "angle": 1}}),
    (("bodies", "a", "velocity"), {"consistent": [0, 0, 1]}),
    (("sensors", "tip"), {"type": "position", "of": "a", "at": {"a": [1, 0, 0]}}),
    (("forces", "motor"), {"type": "joint_effort", "joint": "hinge", "effort": 5}),
]

# Key paths and values that make the example wrong, for the schema and for the program.
MISTAKES = [
    (("liedyn",), 2),
    (("gravty",), [0, 0, 0]),
    (("gravity",), [0, 0]),
    (("parameters", "a-b"), 1),
    (("bodies", "a b"), {"type": "point", "mass": 1}),
    (("bodies", "b", "type"), "pont"),
    (("bodies", "b", "mass"), -1),
    (("bodies", "b", "mass"), None),
    (("bodies", "b", "colour"), "red"),
    (("bodies", "a", "inertia"), [1, 2]),
    (("bodies", "a", "orientation"), {"axis": [0, 0, 1]}),
    (("bodies", "a", "orientation"), {"axis": [0, 0, 1], "angle": 1, "cardan": [0, 0, 0]}),
    (("joints", "rod", "between"), ["a"]),
    (("joints", "rod", "points"), [[0, 0, 0]]),
    (("joints", "rod", "length"), 0),
    (("joints", "guide", "fixed"), "y"),
    (("joints", "guide", "fixed"), []),
    (("joints", "guide", "fixed"), ["y", "y"]),
    (("joints", "guide", "fixed"), ["y", "rotation_w"]),
    (("forces", "push", "axes"), "sideways"),
    (("states", "x"), {}),
    (("joints", "rod", "points"), {"a": [0, 0, 0], "b": [0, 0]}),
    (("bodies", "a", "position"), {"consistent": [0, 0]}),
    (("bodies", "a", "mass"), {"consistent": 1}),
    (("simulation", "step"), 0),
    (("simulation", "output_every"), 1.5),
    (("simulation", "formulation"), "so4"),
    (("arguments",), {"n": {"least": 1}}),
]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    schema = json.loads(subprocess.run(["liedyn", "schema"], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def accepted_by_program(model: dict, directory) -> bool:
    file = directory / "model.json"
    file.write_text(json.dumps(model))
    return subprocess.run(["liedyn", "list", "parameters", file], capture_output=True).returncode == 0


@pytest.mark.parametrize("name", ld.models())
def test_shipped_models_are_valid(name, validator):
    validator.validate(ld.load(name))


def test_the_example_is_valid(validator, tmp_path):
    validator.validate(EXAMPLE)
    assert accepted_by_program(EXAMPLE, tmp_path)


@pytest.mark.parametrize("path, value", FORMS, ids=lambda x: ".".join(x) if isinstance(x, tuple) else str(x))
def test_forms_are_accepted_by_both(path, value, validator, tmp_path):
    model = copy.deepcopy(EXAMPLE)
    del model["joints"]["guide"], model["joints"]["rod"]
    model["joints"]["hinge"] = {"type": "revolute", "between": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 0, 1]}
    model["joints"]["drive"] = {"type": "prescribed_motion", "joint": "hinge", "motion": "t"}
    place = model
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    validator.validate(model)
    assert accepted_by_program(model, tmp_path)


@pytest.mark.parametrize("path, value", MISTAKES, ids=lambda x: ".".join(x) if isinstance(x, tuple) else str(x))
def test_mistakes_are_found_by_both(path, value, validator, tmp_path):
    model = copy.deepcopy(EXAMPLE)
    place = model
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not validator.is_valid(model)
    assert not accepted_by_program(model, tmp_path)


def test_arguments_of_repetitions(validator):
    chain = {"liedyn": 1, "arguments": {"links": {"value": 3, "least": 1, "most": 9}}, "repeat": []}
    assert validator.is_valid(chain)
    for arguments in ({"links": {}}, {"links": {"value": 3, "lest": 1}}, {"links": [3]}):
        assert not validator.is_valid({**chain, "arguments": arguments})

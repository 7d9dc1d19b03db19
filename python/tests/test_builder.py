"""Models built in Python: methods follow the lists of the program, files come back without loss, errors point at the user's line."""

import copy
import inspect
import json
import math
import pickle
import random
import re
import subprocess
import time
import typing
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import liedyn as ld
from liedyn import expressions, stubs
from liedyn.builder import KINDS
from test_flexible_matrices import truss

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    file
    for folder in ("models", "examples")
    for file in (ROOT / folder).rglob("*.json")
    if '"liedyn"' in file.read_text(encoding="utf-8") and file.parent.name != "cpp"  # elements of a plugin
)


def line() -> int:
    """Of the caller."""
    return inspect.currentframe().f_back.f_lineno


def pendulum() -> ld.Builder:
    m = ld.Builder(gravity=[0, 0, -9.81])
    length = m.parameter("length", 1)
    arm = m.rigid("arm", mass=2, inertia=[0.01, 0.2, 0.2], position=[length / 2, 0, 0])
    hinge = m.revolute("hinge", m.ground, arm, at=[0, 0, 0], axis=[0, 1, 0])
    m.joint_angle("angle", hinge)
    m.joint_angle_rate("rate", hinge)
    m.simulation(end=0.1, step=1e-3)
    return m


def value_of(m: ld.Builder, expression) -> float:
    """What the program calculates."""
    other = m.copy()
    text = expression if isinstance(expression, (int, float)) else str(expression)
    other.parameter("value_", text)
    return ld.parameters(other)["parameters.value_"]


# ---- methods


def test_every_listed_kind_is_a_method():
    listed = {(section, kind) for section, kinds in ld.elements().items() for kind in kinds}
    assert {(kind.section, kind.type) for kind in KINDS.values()} == listed
    assert len(KINDS) == len(listed)
    for section in ld.elements():
        assert len(getattr(ld.Builder(), section)) == 0


@pytest.mark.parametrize("method", KINDS)
def test_signatures_and_documentation_are_those_of_the_lists(method):
    kind = KINDS[method]
    fields = ld.elements()[kind.section][kind.type].fields
    function = getattr(ld.Builder, method)
    parameters = dict(list(inspect.signature(function).parameters.items())[2:])  # after self and name
    for name in ("shape", "shapes", "density", "frames") if kind.section == "bodies" else ():  # which are written out before models are read
        assert f"\n{name}: " in inspect.getdoc(function) and parameters.pop(name).default is None
    assert {name.removesuffix("_") if name == "from_" else name for name in parameters} == set(fields)
    documentation = inspect.getdoc(function)
    for name, parameter in parameters.items():
        field = fields[name.removesuffix("_") if name == "from_" else name]
        variable = parameter.kind is parameter.VAR_POSITIONAL
        assert variable or (parameter.default is parameter.empty) == field.required
        assert f"\n{name}: " in documentation and field.summary in documentation
        if field.unit:
            assert f"[{field.unit}]" in next(line for line in documentation.splitlines() if line.startswith(f"{name}: "))
    assert list(inspect.signature(getattr(ld.Builder(), method)).parameters)[0] == "name"


@pytest.mark.parametrize("method", KINDS)
def test_required_arguments_are_enforced_and_unknown_ones_suggested(method):
    required = [argument.keyword for argument in KINDS[method].arguments.values() if argument.required]
    m = ld.Builder()
    if required:
        with pytest.raises(ld.InputError) as caught:
            getattr(m, method)("x")
        assert [finding.argument for finding in caught.value.diagnostics] == required
        assert all(finding.call == f"{method}('x', ...)" for finding in caught.value.diagnostics)
        assert not getattr(m, KINDS[method].section)
    for name in KINDS[method].arguments:
        with pytest.raises(ld.InputError) as caught:
            getattr(m, method)("x", **{name + "x": 1})
        assert any(f"did you mean '{name}'?" in finding.hint for finding in caught.value.diagnostics)


# Something of the right form for each type of a field.
EXAMPLES = {
    "Number": 0.5, "Integer": 2, "Vector": [1, 0, "p"], "PlaneVector": (0.1, 0.2), "Points": np.array([[0.0, 0, 0], [1, 0, 0]]),
    "Path": [0, 1, 0], "Inertia": [1, 1, 1], "Rotation": {"cardan": [0, 0, "p"]}, "Matrix6": [1, 1, 1, 1, 1, 1], "Text": "p",
    "Shape": ld.sphere("p", color="#ff8000"), "Shapes": [ld.rod([0, 0, 0], ["p", 0, 0], 0.1, density=1)], "Frames": {"tip": {"at": [0, 0, "p"]}},
}  # fmt: skip


def example(m: ld.Builder, argument):
    if argument.choices:
        return [argument.choices[-1]] if argument.type == "Choices" else argument.choices[-1]
    if argument.form.sections:
        handle = getattr(m, argument.form.sections[0])["one"]
        return [handle, handle] if argument.form.pair else handle
    return EXAMPLES[argument.type]


@pytest.mark.parametrize("complete", [False, True])
def test_what_methods_write_is_valid(complete):
    """One of each kind, with the required fields or with all of them, agrees with the schema of model files."""
    schema = json.loads(subprocess.run(["liedyn", "schema"], check=True, capture_output=True, text=True).stdout)
    m = ld.Builder(name="all", gravity=np.zeros(3))
    m.parameter("p", 1)
    first = {"bodies": "rigid", "flexible": "frame", "joints": "spherical", "forces": "torque", "states": "integral", "beams": "tube_beam"}
    for method in first.values():  # what the others refer to
        kind = KINDS[method]
        getattr(m, method)("one", **{
            argument.keyword: ["ground", "one"] if argument.form.pair else "one" if argument.form.sections else example(m, argument)
            for argument in kind.arguments.values() if argument.required
        })  # fmt: skip
    for method, kind in KINDS.items():
        given = {argument.keyword: example(m, argument) for argument in kind.arguments.values() if argument.required or complete}
        handle = getattr(m, method)(method, **given)
        assert handle.type == kind.type and handle.section == kind.section
        assert set(handle.fields) == {"type", *(kind.arguments[keyword].key for keyword in given)}
        assert getattr(m, kind.section)[method].name == method
    jsonschema.Draft7Validator(schema).validate(json.loads(m.to_json()))
    tables = [set(form["properties"]) for form in schema["definitions"]["table"]["anyOf"]]
    assert set().union(*tables) == set(inspect.signature(m.table).parameters) - {"name"}
    assert set(inspect.signature(m.simulation).parameters) == set(schema["properties"]["simulation"]["properties"])


def test_the_stub_is_current():
    stub = Path(stubs.__file__).resolve().with_name("builder.pyi")
    hint = "out of date: run ./dev docs, or python -m liedyn.stubs > python/liedyn/builder.pyi"
    assert stub.read_text(encoding="utf-8") == stubs.page(), hint
    names: dict = {}
    exec(compile("from __future__ import annotations\n" + stubs.page(), stub.name, "exec"), names)
    for name, member in vars(names["Builder"]).items():
        if inspect.isfunction(member):
            typing.get_type_hints(member, names)  # every type that is named is known
            assert callable(getattr(ld.Builder, name))
    assert {name for name in dir(ld.Builder) if not name.startswith("_")} == {name for name in dir(names["Builder"]) if not name.startswith("_")}


def test_types_of_several_sections_have_the_section_in_their_name():
    m = ld.Builder()
    assert m.planar_body("b", mass=1, inertia=1).section == "bodies"
    with pytest.raises(AttributeError, match="planar_body or planar_joint"):
        m.planar  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'revolute'"):
        m.revolut  # noqa: B018


def test_references_are_objects_or_names():
    m = pendulum()
    arm, hinge = m.bodies["arm"], m.joints["hinge"]
    m.fixed("by_names", between=["ground", "arm"], at=[0, 0, 0])
    m.fixed("by_objects", m.ground, arm, at={arm: [0, 0, 0], m.ground: [0, 0, 0]})
    assert m.joints["by_names"].fields["between"] == m.joints["by_objects"].fields["between"] == ["ground", "arm"]
    assert m.joints["by_objects"].fields["at"] == {"arm": [0, 0, 0], "ground": [0, 0, 0]}
    m.gear("gear", hinge, "by_names", ratio=2)
    m.reaction_force("pull", hinge)
    m.reaction_force("pull_too", of="hinge")
    assert m.sensors["pull"].fields == m.sensors["pull_too"].fields == {"type": "reaction_force", "of": "hinge"}
    assert {arm, m.bodies["arm"]} == {arm} and arm != hinge
    wing = m.tube_beam("wing", from_=[0, 0, 0], to=[1, 0, 0], elements=4, radius=0.1, thickness=0.01, young=1e9, density=1000)
    m.fixed("root", m.ground, wing.start, at=[0, 0, 0])
    m.rigid("pod", mass=1, inertia=[1, 1, 1], on=wing[0.5])
    m.section_force("n", wing[0.25])
    m.position("third", wing.node(3))
    assert m.joints["root"].fields["between"][1] == "wing.start" and m.bodies["pod"].fields["on"] == "wing[0.5]"
    assert wing.fields["from"] == [0, 0, 0] and m.sensors["third"].fields["of"] == "wing.node3" and wing.end.name == "wing.end"


# ---- expressions


def random_expression(dice: random.Random, depth: int, names: list):
    """The same tree as a function of numbers and of expressions."""
    if depth == 0 or dice.random() < 0.1:
        if dice.random() < 0.6:
            name = dice.choice(names)
            return lambda at: at[name]
        number = dice.choice([2, -3, 0.1, -1e-3, 7.5, 1.25e5])
        return lambda at: number
    a, b = (random_expression(dice, depth - 1, names) for _ in range(2))
    return dice.choice([
        lambda at: a(at) + b(at), lambda at: a(at) - b(at), lambda at: a(at) * b(at), lambda at: a(at) / (2.5 + ld.abs(b(at))),
        lambda at: -a(at), lambda at: ld.abs(a(at)) ** 0.5, lambda at: (1 + ld.abs(a(at))) ** ld.tanh(b(at)), lambda at: (-a(at)) ** 2,
        lambda at: ld.sin(a(at)), lambda at: ld.atan2(a(at), b(at)), lambda at: ld.min(a(at), b(at), 1), lambda at: ld.max(a(at), b(at)),
        lambda at: ld.where(a(at) < b(at), a(at) - 1, b(at) * 2), lambda at: ld.step(a(at), -1, 2), lambda at: ld.poly(ld.tanh(a(at)), 1, 2, b(at)),
        lambda at: ld.mod(a(at), 7.3), lambda at: ld.floor(a(at) / 3), lambda at: ld.sign(a(at)) * ld.sqrt(ld.abs(b(at))),
        lambda at: ld.harmonic(a(at), 2, 0.01, 0.3), lambda at: ld.exp(-ld.abs(a(at))) + ld.log(1 + ld.abs(b(at))),
        lambda at: ld.cos(a(at)) * ld.sinh(ld.tanh(b(at))) + ld.cosh(ld.tanh(a(at))) - ld.tan(ld.tanh(b(at))),
        lambda at: ld.asin(ld.tanh(a(at))) + ld.acos(ld.tanh(b(at))) * ld.atan(a(at)),
    ])  # fmt: skip


def test_the_ground_has_shapes_and_frames():
    m = pendulum()
    m.ground.set(shapes=[ld.box([1, 1, 0.1], at=[0, 0, -1])], frames={"hook": {"at": [0, 0, 2]}})
    m.ground.set(shapes=None, shape=ld.sphere(0.2))
    assert json.loads(m.to_json())["bodies"]["ground"] == {"frames": {"hook": {"at": [0, 0, 2]}}, "shape": ld.sphere(0.2)}
    assert ld.run(m, end=0.01, scene=True).view().scene["bodies"][0]["shapes"][0]["radius"] == 0.2


def test_expressions_are_calculated_as_python_would():
    """300 random trees: the text that is written gives the value that Python gives for numbers."""
    dice = random.Random(1)
    values = {"a": 0.37, "b": -1.3, "c": 22.5}
    m = ld.Builder()
    symbols = {name: m.parameter(name, value) for name, value in values.items()}
    expected = []
    for i in range(300):
        tree = random_expression(dice, dice.randint(1, 4), list(values))
        expected.append(float(tree(values)))
        m.parameter(f"r{i}", tree(symbols))
    found = ld.parameters(m)
    for i, value in enumerate(expected):
        assert found[f"parameters.r{i}"] == pytest.approx(value, rel=1e-12, abs=1e-12), m.parameters[f"r{i}"].value


def test_parentheses_keep_the_order_of_python():
    m = ld.Builder()
    a, b, c = (m.parameter(name, value) for name, value in (("a", 1), ("b", 2), ("c", 3)))
    for expression, text in [
        (a - (b - c), "a - (b - c)"), (a + (b + c), "a + (b + c)"), (a - b - c, "a - b - c"), (a / (b * c), "a/(b*c)"), (a * b / c, "a*b/c"),
        (-(a**2), "-a^2"), ((-a) ** 2, "(-a)^2"), (-(a + b), "-(a + b)"), ((a**b) ** c, "(a^b)^c"), (a**b**c, "a^b^c"), (a**-2, "a^-2"),
        (2 * a, "2*a"), (a * -2, "a*-2"), ((-2) ** a, "(-2)^a"), ((a > b) * c, "(a > b)*c"), (1 - (a <= b), "1 - (a <= b)"),
        (abs(a), "abs(a)"), (a % 2, "mod(a, 2)"), (7 // a, "floor(7/a)"), (~(a > b), "1 - (a > b)"), (1e-7 * a, "1e-07*a"),
        ((a > 0) & (b > 0) | (c == 0), "max(min(a > 0, b > 0), c == 0)"), (np.float64(2) * a, "2.0*a"), (a * np.int64(3), "a*3.0"),
    ]:  # fmt: skip
        assert str(expression) == text
    assert value_of(m, (a < b) & (b < c)) == 1 and value_of(m, ~(a < b) | (a == c)) == 0


def test_numpy_works_on_expressions():
    m = ld.Builder()
    a, b = m.parameter("a", 0.3), m.parameter("b", 0.4)
    direction = np.array([1.0, 0.0, 2.0])
    assert [str(item) for item in a * direction] == ["a*1.0", "a*0.0", "a*2.0"]
    assert [str(item) for item in direction - a] == ["1.0 - a", "0.0 - a", "2.0 - a"]
    assert str(np.where(a > b, np.sin(a), np.sqrt(b))) == "where(a > b, sin(a), sqrt(b))"
    assert value_of(m, np.linalg.norm([a, b])) == pytest.approx(0.5, rel=1e-15)
    assert value_of(m, np.dot([a, b], [1, 2])) == pytest.approx(1.1, rel=1e-15)
    assert [value_of(m, item) for item in np.cross([a, b, a], [0, 0, 1])] == [0.4, -0.3, 0]
    assert [value_of(m, item) for item in np.cos(np.array([a, b]))] == [math.cos(0.3), math.cos(0.4)]
    assert ld.sin(0.3) == math.sin(0.3) and np.array_equal(ld.cos([0.3, 0.4]), [math.cos(0.3), math.cos(0.4)])


def test_expressions_that_grow_without_bound_are_refused():
    x = ld.Builder().parameter("x", 0.5)
    with pytest.raises(ld.InputError, match="expression_sensor"):
        for _ in range(100):
            x = x * x + 1


def test_every_function_of_expressions_is_one_of_the_program():
    m = ld.Builder()
    x = m.parameter("x", 0.5)
    for name in expressions.FUNCTIONS:
        function = getattr(ld, name)
        count = next(count for count in (1, 2, 3, 4) if not isinstance(attempt(lambda: function(*[0.5] * count)), Exception))  # noqa: B023
        arguments = [0.5, 0.25, 1.5, 0.2][:count]
        assert value_of(m, function(x, *arguments[1:])) == pytest.approx(function(*arguments), rel=1e-15), name
        assert function.__doc__.startswith(f"{name}(")


def attempt(call):
    try:
        return call()
    except ld.InputError as error:
        return error


def test_parameters_stay_expressions():
    m = pendulum()
    assert m.bodies["arm"].fields["position"] == ["length/2", 0, 0]
    model = m.compile()
    assert model.changed({"length": 3}).value("bodies.arm.position[0]") == 1.5
    m.parameter("half", m.parameters["length"] / 2)
    assert ld.parameters(m, set={"length": 3})["parameters.half"] == 1.5
    m.parameters["length"].set(5)
    assert m.parameters["length"].value == 5 and ld.parameters(m)["parameters.half"] == 2.5


def test_sensors_states_and_tables_in_expressions():
    """A pendulum with a PID controller, as objects and as a file."""
    m = pendulum()
    hinge, angle, rate = m.joints["hinge"], m.sensors["angle"], m.sensors["rate"]
    gain = m.table("gain", points=[[-1, 30], [0, 20], [1, 30]], interpolation="pchip")
    deviation = m.integral("deviation", input=0.3 - angle)
    m.joint_effort("motor", hinge, effort=gain(angle) * (0.3 - angle) + 5 * deviation - 2 * rate)
    tip = m.velocity("tip", "arm", at=[1, 0, 0])
    m.force("drag", "arm", force=[-0.1 * ld.abs(tip.x) * tip.x, 0, -0.1 * tip[2] * ld.sqrt(tip.x**2 + tip.z**2)])
    written = m.to_dict()
    assert written["forces"]["motor"]["effort"] == "gain(angle)*(0.3 - angle) + 5*deviation - 2*rate"
    assert written["forces"]["drag"]["force"] == ["-0.1*abs(tip[0])*tip[0]", 0, "-0.1*tip[2]*sqrt(tip[0]^2 + tip[2]^2)"]
    by_hand = pendulum().to_dict()
    by_hand["tables"] = {"gain": {"points": [[-1, 30], [0, 20], [1, 30]], "interpolation": "pchip"}}
    by_hand["states"] = {"deviation": {"type": "integral", "input": "0.3 - angle"}}
    by_hand["forces"] = {
        "motor": {"type": "joint_effort", "joint": "hinge", "effort": "gain(angle)*(0.3 - angle) + 5*deviation - 2*rate"},
        "drag": {"type": "force", "on": "arm", "force": ["-0.1*abs(tip[0])*tip[0]", 0, "-0.1*tip[2]*sqrt(tip[0]^2 + tip[2]^2)"]},
    }
    by_hand["sensors"]["tip"] = {"type": "velocity", "of": "arm", "at": [1, 0, 0]}
    assert ld.run(m).table.tobytes() == ld.run(by_hand).table.tobytes()


def test_trajectories():
    m = pendulum()
    lift = m.table("lift", waypoints=[0, 0.5, 0.2], speed=2, acceleration=50)
    both = m.table("both", waypoints={"a": [0, 1], "b": [0, 0.5]}, speed=3, acceleration=9, start=0.1)
    m.prescribed_motion("drive", "hinge", motion=lift(ld.t))
    m.expression_sensor("b", value=both["b"](ld.t))
    m.simulation(end=ld.max(lift.end, both.end))
    assert m.joints["drive"].fields["motion"] == "lift(t)" and m.sensors["b"].fields["value"] == "both.b(t)"
    assert m.settings["end"] == "max(lift.end, both.end)"
    result = ld.kinematics(m)
    assert np.abs(result["angle"] - 0.5).min() < 2e-3 and result["angle"][-1] == pytest.approx(0.2)
    assert result["b"][-1] == pytest.approx(0.5) and np.abs(result["rate"]).max() < 2 + 1e-9


def test_an_expression_sensor_may_have_components():
    m = pendulum()
    angle = m.sensors["angle"]
    both = m.expression_sensor("both", value=[angle / 2, 3, lambda t: 2 * t])
    assert both.fields["value"] == "angle/2; 3; 2*t"
    result = ld.run(m)
    np.testing.assert_array_equal(result["both"], np.column_stack([result["angle"] / 2, np.full(len(result["angle"]), 3), 2 * result.table[:, 0]]))
    with pytest.raises(ld.InputError, match="value: expected a number, an expression or a list of them, got a list of 0"):
        m.expression_sensor("none", value=[])


# ---- functions


def test_functions_are_traced():
    m = pendulum()
    k = m.parameter("k", 20)

    def stop(angle, rate, *, stiffness=500):
        beyond = ld.max(angle - 0.5, 0)
        return -stiffness * beyond - ld.where(beyond > 0, rate, 0)

    m.joint_effort("stop", "hinge", effort=stop)
    m.joint_effort("spring", "hinge", effort=lambda angle, k: -k * angle)
    m.force("push", "arm", force=lambda t: [ld.sin(3 * t), 0, k * t])
    m.torque("turn", "arm", torque=[0, lambda t: ld.cos(t), 0])
    forces = m.to_dict()["forces"]
    assert forces["stop"]["effort"] == "-500*max(angle - 0.5, 0) - where(max(angle - 0.5, 0) > 0, rate, 0)"
    assert forces["spring"]["effort"] == "-k*angle"
    assert forces["push"]["force"] == ["sin(3*t)", 0, "k*t"]
    assert forces["turn"]["torque"] == [0, "cos(t)", 0]
    ld.run(m)


def test_a_branch_outside_of_a_function_is_refused_at_its_line():
    m = pendulum()
    angle = m.sensors["angle"]
    with pytest.raises(ld.InputError, match=r"ld\.where\(condition, a, b\)") as caught:
        here = line() + 1
        m.joint_effort("motor", "hinge", effort=-angle if angle > 0 else 0)
    assert caught.value.diagnostics[0].line == here and Path(caught.value.diagnostics[0].file).name == "test_builder.py"
    assert "motor" not in m.forces


def test_functions_that_are_no_laws_are_refused():
    m = pendulum()
    for wrong, words in [
        (lambda angel: angel, "did you mean 'angle'"), (lambda *x: x, r"\*x"), (np.sin, "lambda t"), (lambda t: None, "returned None"),
        (float, "lambda t"), (lambda t: np.sin, "returned a function"), (lambda t: [t, t], "a list of 2"),
    ]:  # fmt: skip
        with pytest.raises(ld.InputError, match=words):
            m.joint_effort("motor", "hinge", effort=wrong)


# ---- errors


def test_errors_point_at_the_call():
    m = pendulum()
    with pytest.raises(ld.InputError) as caught:
        m.revolute("A", m.ground, "arm", at=[0, 0, 0], axis=[1, 0]); here = line()  # noqa: E702
    here = line() - 1
    finding = caught.value.diagnostics[0]
    assert (Path(finding.file).name, finding.line, finding.path) == ("test_builder.py", here, "joints.A.axis")
    assert re.search(rf"test_builder\.py:{here}: revolute\('A', \.\.\.\): axis: expected 3 numbers, got 2$", str(caught.value))


def test_errors_that_appear_when_compiling_point_at_the_call():
    m = pendulum()
    m.revolute("A", m.ground, "amr", at=[0, 0, 0], axis=[0, 0, 0]); first = line()  # noqa: E702
    m.rigid("heavy", mass=-1, inertia=[1, 1, 1])
    second = line() - 1
    m.sensors["angle"].set(of="hing")
    third = line() - 1
    m.simulation(integrator="generalised-alpha")
    m.joint_effort("motor", "hinge", effort="2*angel")
    fourth = line() - 1
    with pytest.raises(ld.InputError) as caught:
        m.compile()
    found = {finding.path: finding for finding in caught.value.diagnostics}
    assert {Path(finding.file).name for finding in found.values()} == {"test_builder.py"}
    assert found["joints.A.between"].line == found["joints.A.axis"].line == first
    assert "there is no body 'amr'" in found["joints.A.between"].message and found["joints.A.axis"].argument == "axis"
    assert (found["bodies.heavy.mass"].line, found["bodies.heavy.mass"].call) == (second, "rigid('heavy', ...)")
    assert (found["sensors.angle.of"].line, found["sensors.angle.of"].call) == (third, "angle.set(...)")
    assert any(finding.line == fourth for finding in found.values())
    assert any(finding.call == "simulation(...)" for finding in found.values())
    # What sees only the equations as well.
    m = pendulum()
    m.spherical("far", m.ground, "arm", at={"ground": [5, 0, 0], "arm": [0, 0, 0]})
    here = line() - 1
    for analysis in (lambda: ld.run(m), lambda: m.compile().run(), lambda: m.compile().simulation(), lambda: ld.modes(m)):
        with pytest.raises(ld.InputError) as caught:
            analysis()
        assert caught.value.diagnostics[0].line == here and caught.value.diagnostics[0].call == "spherical('far', ...)"
    with pytest.raises(ld.InputError, match=rf"test_builder\.py:{here}: spherical"):
        ld.sweep(m, [{"length": 2}])


def test_sensors_of_a_force_with_an_error_are_left_out():
    """The program examines what does not depend on an entry with an error."""
    m = pendulum()
    m.torque("turn", "arm", torque=[0, "unknown", 0])
    m.applied_torque("shown", "turn")
    m.power("power", "turn")
    with pytest.raises(ld.InputError) as caught:
        m.compile()
    assert [finding.path for finding in caught.value.diagnostics] == ["forces.turn.torque[1]"]
    # A load on a beam that is left out, where a flexible body has the same name.
    m = ld.Builder()
    m.tube_beam("wing", from_=[0, 0, 0], to=[1, 0, 0], elements=2, radius=-1, thickness=0.1, young=1, density=1)
    m.brick("wing", size=[1, 1, 1], divisions=[1, 1, 1], young=1, density=1)
    m.line_load("load", "wing", force=[0, 0, 1])
    with pytest.raises(ld.InputError, match="radius"):
        m.compile()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m: m.rigid("arm", mass=1, inertia=[1, 1, 1]), "the model has a body 'arm' already (hint: it was given at"),
        (lambda m: m.rigid("ground", mass=1, inertia=[1, 1, 1]), "inertial frame"),
        (lambda m: m.rigid("two words", mass=1, inertia=[1, 1, 1]), "name: expected a name of letters"),
        (lambda m: m.rigid(3, mass=1, inertia=[1, 1, 1]), "name: expected a string, got 3 (int)"),
        (lambda m: m.rigid(), "name: is missing"),
        (lambda m: m.rigid("b", 1, 2), "2 arguments without a keyword"),
        (lambda m: m.rigid("b", mas=1, inertia=[1, 1, 1]), "mas: unknown argument of bodies: rigid (hint: did you mean 'mass'?)"),
        (lambda m: m.rigid("b", mass=[1], inertia=[1, 1, 1]), "mass: expected a number or an expression, got a list of 1"),
        (lambda m: m.rigid("b", mass=math.nan, inertia=[1, 1, 1]), "mass: expected a finite number, got nan"),
        (lambda m: m.rigid("b", mass=10**400, inertia=[1, 1, 1]), "mass: expected a finite number"),
        (lambda m: m.rigid("b", mass=1j, inertia=[1, 1, 1]), "mass: expected a value that a model file can contain, got 1j (complex)"),
        (lambda m: m.rigid("b", mass=m.bodies["arm"], inertia=[1, 1, 1]), "mass: expected a value, got the body 'arm'"),
        (lambda m: m.rigid("b", mass=1, inertia=[1, 1]), "inertia: expected 3 principal moments"),
        (lambda m: m.rigid("b", mass=1, inertia=[1, 1, object()]), "inertia[2]: expected a value that a model file can contain"),
        (lambda m: m.rigid("b", mass=1, inertia=[1, 1, 1], orientation=[0, 0, 1]), "orientation: expected {\"rotation_vector\""),
        (lambda m: m.rigid("b", mass=1, inertia=[1, 1, 1], formulation="se4"), "did you mean 'se3'"),
        (lambda m: m.fixed("f", m.ground, m.joints["hinge"], at=[0, 0, 0]), "between: expected a body, got the joint 'hinge'"),
        (lambda m: m.fixed("f", m.ground, at=[0, 0, 0]), "between: expected two bodies, got 1"),
        (lambda m: m.fixed("f", m.ground, "a", "b", at=[0, 0, 0]), "3 arguments without a keyword"),
        (lambda m: m.fixed("f", m.ground, 3, at=[0, 0, 0]), "between: expected a body or the name of one, got 3 (int)"),
        (lambda m: m.fixed("f", pendulum().ground, "arm", at=[0, 0, 0]), "'ground' belongs to another model"),
        (lambda m: m.joint_effort("f", "hinge", effort=pendulum().sensors["angle"]), "'angle' belongs to another model"),
        (lambda m: m.generic("f", m.ground, "arm", at=[0, 0, 0], fixed=["w"]), "fixed: expected a list of some of x, y"),
        (lambda m: m.tube_beam("w", from_=[0, 0, 0], to=[1, 0, 0], elements=m.parameters["length"], radius=1, thickness=1, young=1, density=1),
         "elements: expected a whole number, got 'length' (str): it determines the structure of the model"),
        (lambda m: m.joint_angle("length", "hinge"), "a sensor of this name hides the parameter 'length', which expressions use"),
        (lambda m: m.parameter("a-b", 1), "letters, digits and underscores"),
        (lambda m: m.parameter("b", [1, 2]), "value: expected a number or an expression, got a list of 2"),
        (lambda m: m.parameters["length"].set("x", "y"), None),
        (lambda m: m.table("f", points=[[0, 0], [1, 1]], file="x.csv"), "expected points, a file, x, y and values, or waypoints"),
        (lambda m: m.simulation(stop=3), "did you mean 'step'"),
        (lambda m: m.simulation(step=[1]), "step: expected a number"),
        (lambda m: setattr(m, "gravity", [0, 0]), "gravity: expected 3 numbers, got a list of 2"),
        (lambda m: ld.Builder(name=3), "name: expected a string, got 3 (int)"),
        (lambda m: m.bodies["arm"].set(inertia=None), "inertia: is required"),
        (lambda m: m.bodies["arm"].set(color="red"), "color: unknown argument"),
        (lambda m: m.ground.set(mass=1), "the ground is not a part that can be changed"),
        (lambda m: m.sensors["angle"][-1], "the number of a component from 0 on"),
        (lambda m: ld.Builder.from_json("{"), "expected JSON"),
        (lambda m: ld.Builder.from_json('{"liedyn": 1, "liedyn": 1}'), "is given twice"),
        (lambda m: ld.Builder.from_json('{"liedyn": 1, "gravity": [0, 0, 1e999]}'), "expected a finite number"),
        (lambda m: ld.Builder.from_json('{"liedyn": 1, "bodies": []}'), "bodies: expected an object, got a list of 0"),
        (lambda m: ld.Builder.from_json('{"liedyn": 1, "bodies": {"b": 3}}'), "bodies.b: expected an object, got 3 (int)"),
        (lambda m: ld.Builder.from_json("no_such_model"), "no_such_model"),
        (lambda m: m.table("f", file=3), "file: expected a string, got 3 (int)"),
        (lambda m: ld.Builder.from_json(3), "got 3 (int)"),
        (lambda m: m.save("/no/such/folder/model.json"), "cannot be written"),
    ],
)  # fmt: skip
def test_mistakes_are_named_and_change_nothing(call, words):
    m = pendulum()
    before = m.to_json()
    with pytest.raises(ld.InputError if words else TypeError) as caught:
        call(m)
    assert words is None or words in str(caught.value)
    assert m.to_json() == before


def test_lists_that_hold_themselves_are_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(ld.InputError, match="nested more than"):
        ld.Builder().rigid("b", mass=1, inertia=loop)


def test_names_that_hide_each_other_are_refused_when_used():
    m = pendulum()
    rate = m.parameter("rate", 3)  # a sensor has this name
    with pytest.raises(ld.InputError, match="the parameter 'rate' is hidden by the sensor"):
        m.joint_effort("motor", "hinge", effort=-rate)
    m.joint_effort("motor", "hinge", effort=-m.sensors["rate"])
    hyphen = m.joint_angle("the-angle", "hinge")
    with pytest.raises(ld.InputError, match="cannot be used in an expression"):
        m.joint_effort("other", "hinge", effort=-hyphen)


def test_parts_can_be_changed_and_removed():
    m = pendulum()
    arm = m.bodies["arm"]
    arm.set(mass=3, velocity="consistent")
    arm.set(velocity=None)
    assert arm.fields == {"type": "rigid", "mass": 3, "inertia": [0.01, 0.2, 0.2], "position": ["length/2", 0, 0]}
    arm.fields["mass"] = 7
    assert arm.fields["mass"] == 3, "fields is a copy"
    m.sensors["rate"].remove()
    assert list(m.sensors) == ["angle"]
    with pytest.raises(ld.InputError, match="no longer in the model"):
        stale = m.joint_angle("stale", "hinge")
        stale.remove()
        m.joint_effort("motor", "hinge", effort=stale)
    with pytest.raises(KeyError, match="did you mean 'angle'"):
        m.sensors["angel"]


# ---- files


@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")  # of redundant constraints
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_files_come_back_without_loss(file, tmp_path, monkeypatch):
    content = json.loads(file.read_text(encoding="utf-8"))
    m = ld.Builder.from_json(file)
    assert m.to_dict() == content and list(m.to_dict()) == list(content)
    for other in (ld.Builder.from_json(m.to_json()), ld.Builder.from_json(content), m.copy(), pickle.loads(pickle.dumps(m))):
        assert other.to_dict() == content and json.dumps(other.to_dict()) == json.dumps(content)
    m.description = m.description + " Changed."  # from here on the text is written anew
    assert json.loads(m.to_json()) == {**content, "description": m.description}
    m.save(tmp_path / "saved.json")  # names of files follow
    monkeypatch.setenv("LIEDYN_ALLOW_OUTSIDE", "1")
    one = ld.Model(file)
    settings = one.settings
    end = settings["start"] + 3 * settings["step"]
    table = one.run(end=end).table.tobytes()
    assert ld.run(m, end=end).table.tobytes() == table
    assert ld.run(tmp_path / "saved.json", end=end).table.tobytes() == table
    assert m.compile().name == one.name and dict(m.compile().parameters) == dict(one.parameters)
    assert str(m).startswith(m.name) and m._repr_html_().count("<ul>") == m._repr_html_().count("</ul>") and "\n" not in repr(m)


def test_errors_in_a_file_keep_their_lines_until_it_is_changed(tmp_path):
    (tmp_path / "m.json").write_text('{ "liedyn": 1,\n  "bodies": {\n    "b": { "type": "point", "mass": -1 } } }')
    m = ld.Builder.from_json(tmp_path / "m.json")
    with pytest.raises(ld.InputError, match=r"m\.json:3: bodies\.b\.mass"):
        m.compile()
    m.point("c", mass=1)
    with pytest.raises(ld.InputError, match=r"m\.json: bodies\.b\.mass"):
        m.compile()


def test_matrices_of_flexible_bodies(tmp_path):
    mass, stiffness, nodes = truss()
    m = ld.Builder(gravity=[0, 0, -9.81])
    m.matrices("truss", method="free", modes=6, mass_matrix=mass, stiffness_matrix=stiffness, nodes=nodes)
    m.position("place", "truss")
    m.simulation(end=0.01, step=1e-3)
    with pytest.raises(ld.InputError, match="save"):
        m.to_json()
    m.save(tmp_path / "truss.json")
    alone = ld.run(m).table
    read = [ld.Builder.from_json(source) for source in (tmp_path / "truss.json", m.to_dict())]
    for other in (m.copy(), pickle.loads(pickle.dumps(m)), m.to_dict(), *read):
        np.testing.assert_array_equal(ld.run(other).table, alone)


@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")
@pytest.mark.parametrize("name", ld.models())
def test_what_the_program_writes_of_a_description_is_the_model(name):
    """Also of repeated entries, which are written out. Calls of tables and functions of time are expressions then."""
    model = ld.Model(name)
    read, *_ = ld._liedyn.read_model(name, [])
    written = ld.Builder.from_json(read.json())
    settings = model.settings
    end = settings["start"] + 3 * settings["step"]
    assert "repeat" not in written.to_dict()
    np.testing.assert_array_equal(ld.run(written, end=end).table, model.run(end=end).table)
    assert written.compile().units == model.units and written.name == model.name
    assert {**written.compile().settings} == settings


ROBOT = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2" rpy="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual></link>
  <link name="fore-arm"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.002"/></inertial></link>
  <link name="slide"><inertial><mass value="0.5"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0 0.3 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="5"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore-arm"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
  <joint name="reach" type="prismatic"><parent link="fore-arm"/><child link="slide"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.2" effort="10" velocity="1"/><mimic joint="elbow" multiplier="0.05"/></joint>
</robot>"""


def test_a_robot_is_a_builder(tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    given = {"initial.shoulder": 0.4, "initial.elbow": -0.7, "stops": 1000}
    robot = ld.load(tmp_path / "arm.urdf", set=given)
    assert type(robot) is ld.Builder and robot.name == "arm"
    assert list(robot.joints) == ["shoulder", "elbow", "reach", "reach_mimic"] or len(robot.joints) == 4
    options = {"end": 0.2, "step": 1e-3}
    alone = ld.run(tmp_path / "arm.urdf", set=given, **options)
    np.testing.assert_array_equal(ld.run(robot, **options).table, alone.table)
    robot.save(tmp_path / "arm.json")
    np.testing.assert_array_equal(ld.run(tmp_path / "arm.json", **options).table, alone.table)
    robot.forces["shoulder_motor"].set(proportional=200, target=1)
    assert ld.run(robot, **options)["shoulder"][-1] != alone["shoulder"][-1]
    for wrong, words in (({"initial.shouder": 1}, "did you mean 'shoulder'"), ({"bodies.upper.mass": 1}, "expected initial.JOINT")):
        with pytest.raises(ld.InputError, match=words):
            ld.load(tmp_path / "arm.urdf", set=wrong)
    with pytest.raises(ld.InputError, match="robots"):
        ld.load("heavy_top", set={"spin": 1})
    with pytest.raises(ld.InputError, match=r"ld\.load"):
        ld.Builder.from_json(tmp_path / "arm.urdf")


# ---- the three types


def test_builder_model_and_simulation_are_three_types():
    m = pendulum()
    model = m.compile(set={"length": 2}, formulation="se3")
    assert type(model) is ld.Model and model.formulation == "se3" and model.value("length") == 2
    simulation = model.simulation(step=1e-3)
    assert type(simulation) is ld.Simulation
    m.bodies["arm"].set(mass=100)
    assert model.value("bodies.arm.mass") == 2, "a model does not follow the builder"
    m = pendulum()
    whole = m.compile().run().table
    np.testing.assert_array_equal(ld.run(m).table, whole)
    np.testing.assert_array_equal(ld.sweep(m, [{}])[0].table, whole)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m.compile())).run().table, whole)
    assert ld.static(m)["angle"] == pytest.approx(math.pi / 2)
    assert len(ld.modes(m, at="static").frequencies) == 1
    assert ld.linearize(m, at="static").A.shape == (2, 2) and ld.assemble(m)["angle"] == 0
    assert ld.sensitivity(m, ["length"], ["angle"]).jacobian.shape == (1, 1)
    variables = {"l": {"parameter": "length", "initial": 1, "lower": 0.5, "upper": 2}}
    study = {"model": m, "variables": variables, "outputs": {"a": "angle"}, "minimize": "(a - 0.04)^2"}
    assert ld.optimize(study).variables == ld.optimize({**study, "model": m.to_dict()}).variables


def test_copies_are_independent():
    m = pendulum()
    for other in (m.copy(), copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert type(other) is ld.Builder and other.to_json() == m.to_json()
        other.bodies["arm"].set(mass=9)
        other.joint_angle("more", other.joints["hinge"])
        assert m.bodies["arm"].fields["mass"] == 2 and "more" not in m.sensors
        with pytest.raises(ld.InputError, match="belongs to another model"):
            other.joint_angle("wrong", m.joints["hinge"])
    arm, length, same = copy.deepcopy((m.bodies["arm"], m.parameters["length"], m))
    same.rigid("next", mass=length, inertia=[1, 1, 1])
    same.fixed("joined", arm, "next", at=[0, 0, 0])


def test_printed_as_a_tree():
    lines = str(pendulum()).splitlines()
    assert lines[0] == "model"
    assert '│  └─ hinge: revolute(["ground", "arm"], at=[0, 0, 0], axis=[0, 1, 0])' in lines
    assert repr(pendulum()) == "<Builder model: 1 body, 1 joint, 2 sensors>"
    chain = ld.Builder(name="<long>", gravity=[0, 0, -9.81])
    chain.add("chain", name="links", set={"links": 3})
    assert repr(chain) == "<Builder <long>: empty>" and "&lt;long&gt;" in chain._repr_html_()
    assert len(ld.run(chain, end=0.01)) > 0


def test_ten_thousand_links_are_built_in_two_seconds():
    """Of computing time: other programs may run beside the tests."""
    begin = time.process_time()
    m = ld.Builder(gravity=[0, 0, -9.81])
    last = m.ground
    for i in range(10_000):
        link = m.rigid(f"link{i}", mass=1, inertia=[0.01, 0.1, 0.1], position=[i + 0.5, 0, 0])
        m.spherical(f"joint{i}", last, link, at=[i, 0, 0])
        last = link
    assert time.process_time() - begin < 2
    assert len(m.bodies) == len(m.joints) == 10_000


def test_random_calls_raise_input_errors_only():
    """200 sequences of calls with right and wrong arguments, in any order, with parts that are gone."""
    dice = random.Random(2)
    accepted = compiled = 0

    def anything(m: ld.Builder, parts: list):
        return dice.choice([
            1, -2.5, 0, "ground", "b1", "", "2*t", "consistent", None, True, math.inf, [0, 0, 1], (1, 2), [[1, 2, 3], [4, 5, 6]],
            {"cardan": [0, 0, 1]}, {"consistent": [0, 0, 0]}, np.eye(3), np.float32(2), 3j, b"x", object(), lambda t: t * 2,
            lambda b1: b1, {1: 2}, m.ground, ld.t, -ld.t, *parts, *[part * 2 for part in parts if isinstance(part, ld.Expression)],
        ])  # fmt: skip

    for _ in range(200):
        m, parts = ld.Builder(gravity=[0, 0, -9.81]), []
        if dice.random() < 0.2:
            parts.append(ld.Builder().point("b1", mass=1))
        for _ in range(dice.randint(3, 30)):
            method = dice.choice(list(KINDS))
            kind = KINDS[method]
            name = dice.choice(["b1", "b2", "j1", "s1", "x", "", 3])
            given = {}
            for argument in kind.arguments.values():
                if argument.required and dice.random() < 0.95 or dice.random() < 0.1:
                    fitting = [part for part in parts if part.section in argument.form.sections] + ["ground"]
                    good = [dice.choice(fitting), dice.choice(fitting)] if argument.form.pair else dice.choice(fitting)
                    if not argument.form.sections:
                        good = argument.choices[0] if argument.choices else EXAMPLES.get(argument.type)
                        good = [good] if argument.type == "Choices" else good
                    given[argument.keyword] = good if dice.random() < 0.9 else anything(m, parts)
            try:
                action = dice.randint(0, 9)
                if action == 0:
                    parts.append(m.parameter(name, anything(m, parts)))
                elif action == 1 and parts:
                    dice.choice(parts).remove()
                elif action == 2 and parts:
                    dice.choice(parts).set(**{dice.choice(["mass", "of", "at", "effort", "x"]): anything(m, parts)})
                elif action == 3:
                    m.simulation(**{dice.choice(["end", "step", "integrator", "initial"]): anything(m, parts)})
                else:
                    parts.append(getattr(m, method)(name, **given))
                accepted += 1
            except (ld.InputError, TypeError) as error:
                # Parts of a parameter and of an element take other arguments: only Python itself says so.
                assert isinstance(error, ld.InputError) or "set()" in str(error), error
        str(m), repr(m), m._repr_html_(), m.copy(), pickle.loads(pickle.dumps(m))
        try:
            m.compile()
            compiled += 1
        except ld.InputError:
            pass
        if not any(key in m.to_dict().get("flexible", {}).get(name, {}) for name in m.flexible for key in ("mass_matrix",)):
            assert ld.Builder.from_json(m.to_json()).to_dict() == m.to_dict()
    assert accepted > 1000 and compiled > 5


# ---- documentation


@pytest.mark.filterwarnings("ignore:expressions call .* finite differences")
def test_the_code_of_the_how_to_runs(tmp_path, monkeypatch):
    page = ROOT / "docs" / "howto" / "build_in_python.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    # The slider-crank is the shipped one, bit for bit, and as long as the page says.
    crank = names["crank_model"]
    np.testing.assert_array_equal(ld.run(crank).table, ld.run("slider_crank").table)
    source = next(block for block in blocks if "crank_model" in block)
    statements = [line for line in source.splitlines() if line.strip()]
    assert f"{len(statements)} lines" in page.read_text(encoding="utf-8")

"""Shapes, frames, sub-models and repetition from Python."""

import copy
import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld
from liedyn import _liedyn, shapes


def test_functions_have_the_keys_of_the_program():
    listed = _liedyn.shapes()
    assert list(listed) == ["box", "sphere", "cylinder", "capsule", "cone", "rod", "tube", "ellipsoid", "extrusion", "mesh"]
    for name, (summary, fields) in listed.items():
        function = getattr(shapes, name)
        assert getattr(ld, name) is function and summary
        own = [word for word, parameter in inspect.signature(function).parameters.items() if parameter.kind != parameter.VAR_KEYWORD]
        values = dict.fromkeys(own, "x")
        given = function(**values, at=[1, 2, 3], color="#ffffff")
        assert set(given) - {"type"} <= set(fields) and given["type"] == name
        assert {key for key, field in fields.items() if field.required} <= set(given)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ld.box([1, 1, 1], colour="#ffffff")


def pendulum(**more):
    m = ld.Builder(gravity=[0, 0, -9.81])
    length, radius = m.parameter("length", 0.8), m.parameter("radius", 0.05)
    arm = m.rigid(
        "arm",
        shapes=[ld.rod([0, 0, 0], [length, 0, 0], radius / 2), ld.sphere(radius, at=[length, 0, 0])],
        density=2700,
        frames={"tip": {"at": [length, 0, 0]}},
        velocity="consistent",
        **more,
    )
    hinge = m.revolute("hinge", m.ground, arm, at=[0, 0, 0], axis=[0, 1, 0])
    m.joint_angle("angle", hinge)
    m.position("tip", arm.frame("tip"))
    m.simulation(end=0.5, step=2e-3)
    return m


def test_builder_keeps_shapes_as_expressions():
    m = pendulum()
    entry = m.to_dict()["bodies"]["arm"]
    assert entry["shapes"][0] == {"type": "rod", "from": [0, 0, 0], "to": ["length", 0, 0], "radius": "radius/2"}
    assert entry["density"] == 2700 and "mass" not in entry
    again = ld.Builder.from_json(m.to_json())
    assert again.to_dict() == m.to_dict() == pickle.loads(pickle.dumps(m)).to_dict() == copy.deepcopy(m).to_dict()
    np.testing.assert_array_equal(ld.run(m)["tip"], ld.run(json.loads(m.to_json()))["tip"])
    # Mass and inertia of the written-out body.
    m_rod, m_sphere = 2700 * np.pi * 0.025**2 * 0.8, 2700 * 4 / 3 * np.pi * 0.05**3
    numbers = ld.parameters(m)
    assert numbers["bodies.arm.mass"] == pytest.approx(m_rod + m_sphere, rel=1e-14)
    assert -numbers["bodies.arm.reference[0]"] == pytest.approx((0.4 * m_rod + 0.8 * m_sphere) / (m_rod + m_sphere), rel=1e-14)


@pytest.mark.parametrize("parameter", ["length", "radius"])
def test_derivatives_by_dimensions(parameter):
    """Of the motion, by dimensions that the mass, the centre and the inertia depend on, against central differences."""
    m = pendulum()
    exact = ld.sensitivity(m, [parameter], ["angle"], end=0.3).jacobian.ravel()[-1]
    h = 1e-4 * ld.parameters(m)[f"parameters.{parameter}"]
    value = ld.parameters(m)[f"parameters.{parameter}"]
    angle = {d: ld.run(m, end=0.3, set={parameter: value + d * h})["angle"].ravel()[-1] for d in (-2, -1, 1, 2)}
    differences = (8 * (angle[1] - angle[-1]) - (angle[2] - angle[-2])) / (12 * h)
    assert abs(exact) > 1e-3 and exact == pytest.approx(differences, rel=1e-6)


def test_frames_are_points():
    m = pendulum()
    other = pendulum()
    other.sensors["tip"].set(of="arm", at={"arm": ["length", 0, 0]})
    np.testing.assert_array_equal(ld.run(m)["tip"], ld.run(other)["tip"])
    m.spherical("held", m.ground, m.bodies["arm"].frame("tip"))
    m.force("push", m.bodies["arm"], at="arm.tip", force=[0, 0, 1])
    assert "at" not in m.joints["held"].fields and m.forces["push"].fields["at"] == "arm.tip"
    with pytest.raises(ld.InputError, match="'arm' has no frame 'tool'"):
        m.position("none", m.bodies["arm"].frame("tool"))


def leg():
    out = ld.Builder()
    length = out.parameter("length", 0.3)
    shank = out.rigid("shank", shape=ld.cylinder(0.02, length), density=1000, position=[0, 0, -length / 2], velocity="consistent")
    out.position("foot", shank, at=[0, 0, -length])
    return out


def test_sub_models(tmp_path, monkeypatch):
    def robot(part):
        m = ld.Builder(gravity=[0, 0, -9.81])
        size = m.parameter("size", 2)
        torso = m.rigid("torso", shape=ld.box([1, 0.5, 0.2], density=300), angular_velocity=[0.3, 0.1, 0])
        for name, y in (("left", 0.2), ("right", -0.2)):
            one = m.add(part, name=name, at=[0, y, 0], set={"length": 0.1 * size})
            m.spherical(f"hip_{name}", torso, one["shank"], at=[0, y, 0])
        m.simulation(end=0.1, step=2e-3)
        return m

    inside = robot(leg())
    leg().save(tmp_path / "leg.json")
    from_file = robot(str(tmp_path / "leg.json"))
    a, b = ld.run(inside), ld.run(from_file)
    np.testing.assert_array_equal(a["left.foot"], b["left.foot"])
    assert a["left.foot"][0] == pytest.approx([0, 0.2, -0.2])
    c = ld.run(inside, set={"left.length": 0.5})
    assert c["left.foot"][0] == pytest.approx([0, 0.2, -0.5])
    assert inside.to_dict()["models"]["left"]["set"] == {"length": "0.1*size"}
    # Saved elsewhere, the file is still found, if it may be outside of the folder.
    monkeypatch.setenv("LIEDYN_ALLOW_OUTSIDE", "1")
    (tmp_path / "deeper").mkdir()
    from_file.save(tmp_path / "deeper" / "robot.json")
    np.testing.assert_array_equal(ld.run(str(tmp_path / "deeper" / "robot.json"))["left.foot"], a["left.foot"])
    with pytest.raises(ld.InputError, match="the model has a model 'left' already"):
        inside.add(leg(), name="left")
    with pytest.raises(ld.InputError, match="expected a Builder, the name of a file or a dict"):
        inside.add(7, name="other")
    with pytest.raises(ld.InputError, match="did you mean 'length'"):
        bad = ld.Builder()
        bad.add(leg(), name="a", set={"lenght": 3})
        bad.compile()


def test_drag_of_a_turned_sub_model():
    """Expressions of a turned sub-model see its own axes: drag stays drag, also with derivatives by the angle."""
    part = ld.Builder()
    ball = part.rigid("ball", mass=1, inertia=[1, 1, 1], velocity=[1, 0, 0])
    part.velocity("v", ball)
    part.force("drag", ball, force=["-0.5*v[0]", "-0.5*v[1]", "-0.5*v[2]"])
    part.power("P", "drag")
    m = ld.Builder()
    angle = m.parameter("angle", np.pi)
    m.add(part, name="s", rotation={"axis": [0, 0, 1], "angle": angle})
    m.simulation(end=1, step=1e-3)
    run = ld.run(m)
    assert run["s.v"][-1] == pytest.approx([-np.exp(-0.5), 0, 0], abs=1e-7)
    assert run["s.P"].ravel()[-1] == pytest.approx(-0.5 * np.exp(-1), rel=1e-6)
    slope = ld.sensitivity(m, ["angle"], ["s.v[1]"]).jacobian.ravel()[-1]
    assert slope == pytest.approx(-np.exp(-0.5), rel=1e-6)


def test_errors_point_at_the_call():
    m = ld.Builder()
    m.rigid("b", shape=ld.box([1, 2, "-3"], density=1))
    with pytest.raises(ld.InputError, match="expected a positive number, got -3") as error:
        m.compile()
    assert error.value.diagnostics[0].call == "rigid('b', ...)" and error.value.diagnostics[0].argument == "shape.size[2]"


def test_repeat():
    model = {
        "liedyn": 1,
        "arguments": {"n": 3},
        "repeat": [{"for": {"i": [1, "n"]}, "bodies": {"b{i}": {"type": "point", "mass": "{i}", "position": ["{i}", 0, 0]}}}],
    }
    assert [ld.parameters(model, set={"n": 5})[f"bodies.b{i}.mass"] for i in range(1, 6)] == [1, 2, 3, 4, 5]


def test_the_example_walks(tmp_path):
    result = ld.run(str(Path(__file__).parents[2] / "examples" / "four_legs" / "robot.json"), end=0.3)
    assert result.summary["completed"]
    assert 0.3 < result["torso"][-1][2] < 0.6

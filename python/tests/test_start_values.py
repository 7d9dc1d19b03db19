"""Coordinates that joints start with, set like parameters; and work, which a simulation keeps through pieces, copies and checkpoints."""

import math
import pickle

import numpy as np
import pytest

import liedyn as ld


def arm(**joints):
    return {
        "liedyn": 1,
        "gravity": [0, -9.81, 0],
        "parameters": {"k": 3},
        "bodies": {"arm": {"type": "rigid", "mass": 2, "inertia": [0.1, 0.1, 0.2], "position": [0.5, 0, 0], "velocity": "consistent", "angular_velocity": "consistent"}},
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]}} | joints,
        "forces": {"spring": {"type": "joint_spring", "joint": "hinge", "stiffness": "k + t", "damping": 0.1}},
        "sensors": {
            "angle": {"type": "joint_angle", "of": "hinge"},
            "torque": {"type": "effort", "of": "spring"},
            "work": {"type": "work", "of": "spring"},
            "energy": {"type": "energy"},
        },
        "simulation": {"end": 0.2, "step": 1e-3},
    }


def test_initial_joint_is_from():
    given = ld.run(arm(), from_={"joints": {"hinge": 0.5}})
    assert given["angle"][0] == pytest.approx(0.5, abs=1e-14)
    model = ld.Model(arm())
    for result in (
        ld.run(arm(), set={"initial.hinge": 0.5}),
        ld.run(arm(), set={"initial.hinge": 0.5, "k": 3}, formulation="r3so3"),
        model.run(set={"initial.hinge": 0.5}),
        ld.Model(arm(), set={"initial.hinge": 0.5}).run(),
        pickle.loads(pickle.dumps(model.changed({"initial.hinge": 0.5}))).run(),
    ):
        np.testing.assert_array_equal(result["angle"], given["angle"])
    assert ld.run(arm(), set={"initial.hinge": 0.5}).summary["set"] == {"initial.hinge": 0.5}
    assert model.run()["angle"][0] == 0
    found = ld.sweep(model, [{"initial.hinge": a} for a in (0.1, 0.2)], every=0)
    np.testing.assert_allclose([one["angle"][0] for one in found], [0.1, 0.2], atol=1e-14)


def test_initial_joint_says_what_is_wrong():
    with pytest.raises(ld.InputError, match=r"initial.hing: the model has no such joint \(hint: did you mean 'hinge'\?\)"):
        ld.run(arm(), set={"initial.hing": 0.5})
    both = "initial.hinge: the angle of this joint is given twice, by joints.hinge too"
    with pytest.raises(ld.InputError, match=both):
        ld.run(arm(), from_={"joints": {"hinge": "70*deg"}}, set={"initial.hinge": 0.5})
    with pytest.raises(ld.InputError, match=both):
        ld.Model(arm(), set={"initial.hinge": 0.5}).run(from_={"joints": {"hinge": {"value": 0.1, "rate": 3}}})
    with pytest.raises(ld.InputError, match=r"joint: unknown key, .*did you mean 'joints'"):
        ld.run(arm(), from_={"joint": {"hinge": 0.5}})
    with pytest.raises(ld.InputError, match="initial.hinge: expected an angle from -pi to pi, got 4"):
        ld.run(arm(), set={"initial.hinge": 4})
    driven = arm(motor={"type": "prescribed_motion", "joint": "hinge", "motion": "sin(t)"})
    with pytest.raises(ld.InputError, match="initial.hinge: the drive 'motor' prescribes this coordinate"):
        ld.run(driven, set={"initial.hinge": 0.5})
    with pytest.raises(ld.InputError, match="initial.hinge: convergence is measured"):
        ld.converge(arm(), set={"initial.hinge": 0.5})


def test_time_of_modes():
    model = arm()
    model["gravity"] = [0, 0, 0]
    for time in (0.0, 2.0):
        found = ld.modes(model, time=time, undamped=True)
        assert found.data["time"] == time
        assert found.frequencies[0] == pytest.approx(math.sqrt((3 + time) / 0.7) / (2 * math.pi), rel=1e-9)
        assert ld.linearize(model, outputs="angle", time=time).data["time"] == time
    with pytest.raises(ld.InputError, match="time: expected a finite number of seconds"):
        ld.modes(model, time=math.nan)


def test_units_and_work():
    model = ld.Model(arm())
    assert model.units["torque"] == "N m" and model.units["work"] == "J"
    whole = model.simulation(integrator="dopri5", set={"initial.hinge": 0.5})
    assert whole["work"] == 0
    other = whole.clone()
    whole.advance(0.1)
    for _ in range(10):
        other.advance(0.01)
    kept = other.save()
    assert other["work"] == whole["work"] != 0
    whole.advance(0.1)
    other.advance(0.05)
    other.restore(kept)
    other.advance(0.1)
    assert other["work"] == whole["work"]

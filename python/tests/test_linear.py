"""Equilibria, modes, state spaces, assembly and driven motion."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import liedyn as ld
from liedyn.view import unpacked
from liedyn import plots

matplotlib.use("Agg")


def pendulum(angle: float = 0.5, damping: float = 0.0) -> dict:
    x, y = 0.7 * np.sin(angle), -0.7 * np.cos(angle)
    return {
        "liedyn": 1,
        "gravity": [0, -9.81, 0],
        "bodies": {"bob": {"type": "rigid", "mass": 2, "inertia": [0.1, 0.1, 0.2], "position": [x, y, 0],
                           "orientation": {"rotation_vector": [0, 0, angle]}}},
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
        "forces": {
            "friction": {"type": "bushing", "between": ["ground", "bob"], "at": [0, 0, 0], "rotational_damping": [0, 0, damping]},
            "motor": {"type": "torque", "on": "bob", "torque": [0, 0, 0]},
        },
        "sensors": {"place": {"type": "position", "of": "bob"}, "angle": {"type": "joint_angle", "of": "hinge"}},
        "simulation": {"end": 1, "step": 1e-3},
    }


INERTIA = 0.2 + 2 * 0.7**2
OMEGA = np.sqrt(2 * 9.81 * 0.7 / INERTIA)


def test_equilibrium_is_a_start(tmp_path):
    rest = ld.static(pendulum())
    np.testing.assert_allclose(rest["place"], [0, -0.7, 0], atol=1e-10)
    assert rest.data["unstable_directions"] == 0
    assert rest["angle"] == pytest.approx(-0.5, abs=1e-10)
    rest.save(tmp_path / "rest.json")
    for start in (rest, tmp_path / "rest.json", {"bodies": rest.bodies}):
        result = ld.run(pendulum(), from_=start, end=0.1)
        np.testing.assert_allclose(result["place"][-1], [0, -0.7, 0], atol=1e-9)


def test_an_unstable_equilibrium_is_a_warning():
    with pytest.warns(ld.NumericalWarning, match="the equilibrium is unstable"):
        upright = ld.static(pendulum(angle=np.pi))
    assert upright.data["unstable_directions"] == 1


def test_modes_of_a_pendulum():
    found = ld.modes(pendulum(damping=0.3), at="static")
    assert len(found) == 1
    ratio = 0.3 / (2 * INERTIA * OMEGA)
    assert found.damping_ratios[0] == pytest.approx(ratio, rel=1e-9)
    assert found.frequencies[0] == pytest.approx(OMEGA * np.sqrt(1 - ratio**2) / (2 * np.pi), rel=1e-9)
    assert found.shapes.shape == (1, 6)
    assert found.names[0] == "bob: displacement x"
    assert found.energy[0]["bob"] == pytest.approx(1)
    undamped = ld.modes(pendulum(damping=0.3), at="static", undamped=True)
    assert undamped.eigenvalues[0] == pytest.approx(1j * OMEGA, rel=1e-9)
    with pytest.warns(ld.NumericalWarning, match="neither an equilibrium"):
        ld.modes(pendulum(), at=0.1)


def test_equilibria_and_modes_are_shown_in_3d(tmp_path):
    rest = ld.static(pendulum(), load_steps=4, scene=True)
    times = unpacked(rest.view().scene["times"])
    assert rest.view().scene["kind"] == "static" and (times[0], times[-1]) == (0, 1), "the load factor"
    found = ld.modes(pendulum(), at="static", scene=True)
    assert found.view().scene["kind"] == "modes"
    for shown in (rest, found):
        shown.view().to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size > 100_000
    with pytest.raises(ld.InputError, match=r"static\(..., scene=True\) records them"):
        ld.static(pendulum()).view()
    with pytest.raises(ld.InputError, match=r"modes\(..., scene=True\) records them"):
        ld.modes(pendulum(), at="static").view()


def test_state_space_and_its_files(tmp_path):
    named = pendulum(0) | {"name": "two\n5 5\nlines"}
    space = ld.linearize(named, inputs="forces.motor.torque[2]", outputs=["angle"])
    assert space.A.shape == (2, 2) and space.B.shape == (2, 1) and space.C.shape == (1, 2) and space.D.shape == (1, 1)
    s = 0.1 + 2j
    assert space.transfer(s)[0, 0] == pytest.approx(1 / (INERTIA * (s * s + OMEGA**2)), rel=1e-9)
    assert space.transfer(np.array([s, 2 * s])).shape == (2, 1, 1)
    assert sorted(np.abs(space.poles)) == pytest.approx([OMEGA, OMEGA])

    assert space.save(tmp_path / "space.npz") == [str(tmp_path / "space.npz")]
    with np.load(tmp_path / "space.npz") as file:
        for name in "ABCD":
            np.testing.assert_array_equal(file[name], getattr(space, name))
        assert list(file["states"]) == space.states
        assert list(file["outputs"]) == ["angle"]
    written = space.save(tmp_path / "space.mtx")
    assert [name[-5:] for name in written] == ["A.mtx", "B.mtx", "C.mtx", "D.mtx"]
    with open(tmp_path / "space.A.mtx") as file:
        assert file.readline() == "%%MatrixMarket matrix array real general\n"
        lines = [line for line in file if not line.startswith("%")]
    assert lines[0] == "2 2\n"
    np.testing.assert_array_equal(np.array([float(line) for line in lines[1:]]).reshape(2, 2).T, space.A)
    space.save(tmp_path / "space.csv")
    table = np.genfromtxt(tmp_path / "space.A.csv", delimiter=",", skip_header=1)[:, 1:]
    np.testing.assert_array_equal(table, space.A)


def test_what_nothing_holds_is_an_error():
    stone = {"liedyn": 1, "gravity": [0, 0, -9.81], "bodies": {"stone": {"type": "point", "mass": 1}}, "simulation": {"end": 1}}
    with pytest.raises(ld.NumericalError, match=r"nothing supports body 'stone' along \(0, 0, -1\)"):
        ld.static(stone)
    with pytest.raises(ld.InputError, match="no constraint prescribes this motion"):
        ld.kinematics(stone)


def test_assembly_holds_what_it_is_told_to():
    turned = {"bodies": {"bob": {"orientation": {"rotation_vector": [0, 0, 1]}}}}
    found = ld.assemble(pendulum(0), from_=turned)
    position = np.array(found.bodies["bob"]["position"])
    assert np.linalg.norm(position) == pytest.approx(0.7, abs=1e-12)
    with pytest.raises(ld.InputError, match="assembly found no configuration"):
        ld.assemble(pendulum(0), from_=turned, hold="bob")
    with pytest.raises(ld.InputError, match="did you mean 'bob'"):
        ld.assemble(pendulum(0), hold="bop")
    with pytest.raises(ld.InputError, match="no such body"):
        ld.assemble(pendulum(0), from_={"bodies": {"bop": {}}})


def test_campbell_diagram_and_root_locus():
    rotor = {
        "liedyn": 1, "parameters": {"speed": 100}, "gravity": [0, 0, 0],
        "bodies": {"disc": {"type": "rigid", "mass": 5, "inertia": [0.03, 0.03, 0.05], "position": [0, 0, 0.1],
                            "angular_velocity": [0, 0, "speed"]}},
        "forces": {"shaft": {"type": "bushing", "between": ["ground", "disc"], "at": [0, 0, 0.1],
                             "stiffness": [2e5, 2e5, 1e6], "rotational_stiffness": [3e3, 3e3, 0]}},
        "simulation": {"end": 1, "step": 1e-3}}
    model = ld.Model(rotor)
    speeds = np.linspace(0, 600, 4)
    found = [ld.modes(model, set={"speed": speed}) for speed in speeds]
    # Tilting whirl: J s^2 - i C speed s + k = 0.
    for speed, modes in zip(speeds, found):
        gyro = 0.05 * speed
        for sign in (-1, 1):
            omega = (sign * gyro + np.sqrt(gyro**2 + 4 * 0.03 * 3e3)) / (2 * 0.03)
            assert np.abs(modes.eigenvalues - 1j * omega).min() < 1e-9 * omega
    for figure in (plots.campbell(speeds, found, parameter="speed", orders=[1]), plots.root_locus(speeds, found)):
        assert figure.axes[0].get_xlabel()
        plt.close(figure)


def test_minimal_coordinates_give_what_absolute_ones_give():
    absolute, minimal = ({"formulation": name} for name in ("r3so3", "minimal"))
    np.testing.assert_allclose(ld.static(pendulum(), **minimal)["place"], ld.static(pendulum(), **absolute)["place"], atol=1e-12)
    at_rest = pendulum(0.0)
    assert ld.modes(at_rest, **minimal).frequencies[0] == pytest.approx(OMEGA / (2 * np.pi), rel=1e-10)
    inputs = {"inputs": ["forces.motor.torque[2]"]}
    np.testing.assert_allclose(
        ld.linearize(at_rest, **inputs, **minimal).A, ld.linearize(at_rest, **inputs, **absolute).A, atol=1e-12
    )
    np.testing.assert_allclose(ld.assemble(pendulum(), **minimal)["place"], ld.assemble(pendulum(), **absolute)["place"], atol=1e-12)


@pytest.mark.parametrize("formulation", ["r3so3", "se3", "minimal"])
def test_a_start_gives_what_it_says_and_the_model_the_rest(formulation):
    model = pendulum(0.0)
    model["sensors"]["rate"] = {"type": "joint_angle_rate", "of": "hinge"}
    bob = model["bodies"]["bob"]
    bob["angular_velocity"] = [0, 0, 3]
    bob["velocity"] = [2.1, 0, 0]
    place = {"bodies": {"bob": {"position": [0, -0.7, 0]}}}
    assert ld.run(model, from_=place, end=1e-3, formulation=formulation)["rate"][0] == pytest.approx(3, abs=1e-12)
    # Left to be found by the model, given by the start.
    bob["angular_velocity"] = bob["velocity"] = "consistent"
    spin = {"bodies": {"bob": {"angular_velocity": [0, 0, 3]}}}
    assert ld.run(model, from_=spin, end=1e-3, formulation=formulation)["rate"][0] == pytest.approx(3, abs=1e-12)


def test_numbers_that_drive_a_velocity_are_no_inputs():
    arm = {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "angular_velocity": [0, 0, "w"]}
    hinge = {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]}
    drives = {
        "speed": {"type": "prescribed_velocity", "joint": "hinge", "velocity": "w"},
        "motion": {"type": "prescribed_motion", "joint": "hinge", "motion": "w*sin(t)"},  # at t = 0 its place does not depend on w
    }
    for name, drive in drives.items():
        model = {"liedyn": 1, "parameters": {"w": 2}, "bodies": {"arm": arm}, "joints": {"hinge": hinge, name: drive}, "sensors": {"rate": {"type": "joint_angle_rate", "of": "hinge"}}}
        with pytest.raises(ld.InputError, match=f"the constraint 'joints.{name}.* depends on 'w', which cannot be an input"):
            ld.linearize(model, inputs=["w"], outputs="rate")


def test_a_matrix_stays_symmetric():
    stiffness = [[1e4, 0, 0, 0, 0, 0], [0, 1e4, 0, 0, 0, 0], [0, 0, 1e4, 0, 0, 0], [0, 0, 0, 10, 0, 0], [0, 0, 0, 0, 10, 0], [0] * 6]
    model = {
        "liedyn": 1,
        "bodies": {"r": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}},
        "forces": {"b": {"type": "bearing", "between": ["ground", "r"], "at": [0, 0, 0], "stiffness": stiffness}, "f": {"type": "force", "on": "r", "force": [1, 0, 0]}},
        "sensors": {"p": {"type": "position", "of": "r"}},
    }
    one, other = "forces.b.stiffness[0][1]", "forces.b.stiffness[1][0]"
    with pytest.raises(ld.InputError, match=r"forces.b: stiffness: expected a symmetric matrix, but \[0\]\[1\] and \[1\]\[0\] differ \(hint: set both"):
        ld.static(model, set={one: 5e3})
    with pytest.warns(ld.NumericalWarning, match="r turns about"):
        found = ld.static(model, set={one: 5e3, other: 5e3})["p"]
    determinant = 1e8 - 25e6
    np.testing.assert_allclose(found, [1e4 / determinant, -5e3 / determinant, 0], rtol=1e-9, atol=1e-15)
    sim = ld.Model(model).simulation()
    with pytest.raises(ld.InputError, match="expected a symmetric matrix"):
        sim.set(one, 5e3)
    sim.set({one: 5e3, other: 5e3})
    assert sim.get(other) == 5e3


def test_what_is_a_load_for_static_is_an_input_of_linearize():
    """The feed-forward of an actuator: its unit depends on the joint, and once only one of the two took it for a load."""
    model = ld.Model(
        {
            "liedyn": 1,
            "bodies": {"arm": {"type": "rigid", "mass": 2, "inertia": [0.1, 0.2, 0.3], "position": [0, 0, 0]}},
            "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
            "forces": {"motor": {"type": "joint_actuator", "joint": "hinge", "proportional": 5, "feed_forward": 0}},
            "sensors": {"angle": {"type": "joint_angle", "of": "hinge"}},
        }
    )
    space = model.linearize()
    assert "forces.motor.feed_forward" in space.inputs
    column = list(space.inputs).index("forces.motor.feed_forward")
    # J phi'' = u about the hinge
    np.testing.assert_allclose(sorted(space.B[:, column]), [0, 1 / 0.3], rtol=1e-7, atol=1e-9)

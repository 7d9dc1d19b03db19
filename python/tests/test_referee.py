"""Random mechanisms against the independent simulator of `referee`; `./dev referee` compares many more."""

import numpy as np
import pytest

import liedyn as ld
from referee.compare import BOUNDS, compare
from referee.mechanisms import mechanism, with_sensors
from referee.rotations import quaternion_exp, rotation_of, times
from referee.simulator import Simulator, State

MECHANISMS = range(30)


@pytest.mark.parametrize("seed", MECHANISMS)
def test_engine_agrees_with_the_referee(seed):
    found = compare(seed)
    for quantity, size in found.worst.items():
        print(f"{quantity:24} {size:8.1e} of {BOUNDS[quantity]:.0e}  {found.where[quantity]}")
    print(*found.skipped, sep="\n")
    assert not found.failures, f"./dev referee 1 --seed {seed}: {found.failures}, {found.where}"


def test_referee_conserves_energy():
    """The referee itself: a double pendulum of full inertias on spherical joints, without loads."""
    body = {"type": "rigid", "mass": 1.5, "inertia": [0.2, 0.3, 0.25, 0.02, -0.03, 0.01]}
    model = {
        "gravity": [0, 0, -9.81],
        "bodies": {"a": body | {"position": [0.5, 0, 0]}, "b": body | {"position": [1, 0.5, 0], "orientation": {"cardan": [0.3, -0.2, 0.5]}}},
        "joints": {
            "j": {"type": "spherical", "between": ["ground", "a"], "at": [0, 0, 0]},
            "k": {"type": "universal", "between": ["a", "b"], "at": [1, 0, 0], "first_axis": [1, 0, 0], "second_axis": [0, 1, 0]},
        },
    }
    simulator = Simulator(model)
    energies = [simulator.outputs(m)["energy"][0] for m in simulator.run(np.linspace(0, 1, 11))]
    print(f"energy from {min(energies):.15g} to {max(energies):.15g}")
    assert np.ptp(energies) < 1e-11
    assert simulator.outputs(simulator.solve(1.0, simulator.last))["kinetic"][0] > 1


def test_mechanisms_cover_every_kind():
    """What the generator makes, against the lists of the engine. Line loads act on beams, which the referee does not know; contacts have
    corners, which its high order is not made for; machine elements are compared with closed forms (test_machines, test_gears_and_ropes)."""
    apart = ("line_load", "joint_stop", "clearance", "wheel", "tyre")
    machines = ("bearing", "belt", "clutch", "joint_clutch", "dc_motor", "hydraulic_cylinder", "joint_hydraulics")
    others = {("forces", kind) for kind in ld.elements()["forces"] if kind.startswith("contact_") or kind in apart + machines}
    others |= {("joints", "gear_mesh"), ("joints", "pulley")}
    missing = {(section, kind) for section in ("bodies", "joints", "forces", "states") for kind in ld.elements()[section]} - others
    for seed in range(300):
        for model in (mechanism(seed), mechanism(seed, held=True)):
            missing -= {(section, entry["type"]) for section in ("bodies", "joints", "forces", "states") for entry in model.get(section, {}).values()}
        if not missing:
            break
    print(f"all kinds in {seed + 1} seeds")
    assert not missing


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_rows_of_the_referee_are_derivatives_of_each_other(seed):
    """phi, its rate and its second derivative along a motion with constant accelerations, by differences; the rate is A u - b."""
    simulator = Simulator(mechanism(seed))
    random = np.random.default_rng(seed)
    start = simulator.project(0.1, simulator.initial())
    state = State(start.x, start.q, random.normal(size=start.v.shape), random.normal(size=start.w.shape), start.angle, start.s)
    state = simulator.project(0.1, state)  # velocities that satisfy the rows: the angle of a joint is one only then
    a, alpha = np.moveaxis(simulator.solve(0.1, state).a[..., :-1, :].reshape(1, -1, 2, 3), 2, 0)

    def along(dt):
        turn = quaternion_exp(dt * state.w + dt**2 / 2 * alpha)
        v, w = state.v + dt * a, state.w + dt * alpha
        return simulator.rows(simulator.motion(0.1 + dt, State(state.x + dt * state.v + dt**2 / 2 * a, times(turn, state.q), v, w, state.angle, state.s)))

    m, h = along(0.0), 1e-4
    if not m.phi.size:
        pytest.skip("no joints")
    before, after = along(-h), along(h)
    held = ~np.isnan(m.phi)
    u = np.concatenate([m.v, m.w], axis=-1)
    print(np.max(np.abs(m.rate)), np.max(np.abs(m.phi[held]), initial=0))
    acceleration = np.concatenate([a, alpha], axis=-1)
    second = np.einsum("prbi,pbi->pr", m.A[..., :-1, :], acceleration) + m.gamma
    np.testing.assert_allclose(((after.phi - before.phi) / (2 * h))[held], m.rate[held], atol=1e-6 * (1 + np.max(np.abs(u)) ** 3))
    np.testing.assert_allclose((after.rate - before.rate) / (2 * h), second, atol=1e-6 * (1 + np.max(np.abs(u)) ** 3))
    np.testing.assert_allclose(second, 0, atol=1e-10 * (1 + np.max(np.abs(acceleration))))


@pytest.mark.parametrize("name, end", [("heavy_top_free", 0.02), ("pendulum", 0.2), ("slider_crank", 0.2), ("flyball_governor", 5e-3), ("andrews_squeezer", 1e-3)])
def test_shipped_models_agree_with_the_referee(name, end):
    model = with_sensors(ld.load(name))
    simulator = Simulator(model)
    expected = simulator.outputs(simulator.run([0, end], longest=end / 4, shortest=end / 1e3)[-1])
    found = ld.run(model, integrator="rk67", step=end / 1000, end=end, output_every=0)
    for sensor, values in expected.items():
        got = rotation_of(found[sensor][-1]) if sensor.startswith("orientation") else found[sensor][-1]
        size = np.max(np.abs(got - values[0])) / (1e-3 + np.max(np.abs(values)))
        print(f"{sensor:32} {size:.1e}")
        assert size < 1e-6, sensor

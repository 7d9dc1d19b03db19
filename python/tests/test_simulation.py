"""A program advances, steers, saves and copies a simulation."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "step_from_python"


def example(name: str):
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_pieces_are_the_run(heavy_top):
    simulation = ld.Model("heavy_top").simulation(step=1e-3)
    for _ in range(100):
        simulation.advance(0.01)
    assert simulation.time == pytest.approx(1, abs=1e-12)
    assert np.array_equal(simulation["position"], heavy_top["position"][-1])
    assert simulation.statistics["steps"] == 1000


def test_a_sensor_of_one_component_is_a_number(falling_point):
    simulation = ld.Model(falling_point).simulation()
    simulation.advance(0.5)
    assert isinstance(simulation["energy"], float)
    assert simulation["position"][2] == pytest.approx(10 - 0.5 * 9.81 * 0.25, rel=1e-12)
    assert set(simulation.sensors()) == {"position", "energy"}


def test_inputs_hold_from_now_on(falling_point):
    simulation = ld.Model(falling_point).simulation()
    simulation.advance(0.5)
    simulation.set({"gravity[2]": 0.0, "gravity[0]": 2.0})
    assert simulation.get("gravity[0]") == 2
    simulation.advance(1)
    position = simulation["position"]
    assert position[0] == pytest.approx(1, rel=1e-12)
    assert position[2] == pytest.approx(10 - 0.5 * 9.81 * 0.25 - 9.81 * 0.5, rel=1e-12)


@pytest.mark.filterwarnings("ignore:1 redundant constraint")
def test_saved_and_copied_simulations_go_on_alike(tmp_path):
    model = ld.Model("bricard")
    one = model.simulation(integrator="generalized-alpha,index=2")
    one.advance(0.3)
    checkpoint = one.save(tmp_path / "checkpoint")
    copy = one.clone()
    one.advance(0.2)
    copy.advance(0.2)
    other = model.simulation(integrator="generalized-alpha,index=2")
    other.restore(tmp_path / "checkpoint")
    other.advance(0.2)
    for name, value in one.sensors().items():
        assert np.array_equal(value, copy[name]), name
        assert np.array_equal(value, other[name]), name
    other.restore(checkpoint)
    assert other.time == pytest.approx(0.3, abs=1e-12)


def test_what_is_wrong_is_said(falling_point):
    model = ld.Model(falling_point)
    simulation = model.simulation(end=1)
    with pytest.raises(ld.InputError, match="0 s or more"):
        simulation.advance(-1)
    with pytest.raises(ld.InputError, match="up to the end"):
        simulation.advance(2)
    with pytest.raises(ld.InputError, match="finite number"):
        simulation.advance("1")
    with pytest.raises(ld.InputError, match="finite number"):
        simulation.set("gravity[2]", math.nan)
    with pytest.raises(ld.InputError, match="initial value"):
        simulation.set("height", 3)
    with pytest.raises(ld.InputError, match="gravity"):
        simulation.set("gravty[2]", 3)
    with pytest.raises(ld.InputError, match="name of a sensor"):
        simulation["speed"]
    with pytest.raises(ld.InputError, match="bytes or a file"):
        simulation.restore(3)
    with pytest.raises(ld.InputError, match="save"):
        simulation.restore(b"something else")
    with pytest.raises(ld.InputError, match="expected a positive number of seconds"):
        model.simulation(step="small")


@pytest.mark.filterwarnings("ignore:steps of 0.1 s do not resolve")  # beyond the root it has no value
def test_a_step_that_fails_raises_and_leaves_the_last_good_state(falling_point):
    falling_point["forces"] = {"push": {"type": "force", "on": "stone", "force": ["sqrt(0.45 - t)", 0, 0]}}
    simulation = ld.Model(falling_point).simulation()
    with pytest.raises(ld.NumericalError, match="push"):
        simulation.advance(1)
    assert simulation.time == pytest.approx(0.4)


def test_a_sampled_controller_converges_to_the_continuous_law():
    controller = example("controller")
    exact = controller.continuous(0.2)
    errors = [abs(controller.sampled(period, 0.2)[1][-1] - exact) for period in (0.02, 0.01, 0.005, 0.0025)]
    orders = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
    assert errors[-1] < 2e-3
    assert orders[-1] == pytest.approx(1, abs=0.2)


def test_a_motor_outside_converges_to_the_motor_inside():
    cosimulation = example("cosimulation")
    exact = cosimulation.together()
    errors = [abs(cosimulation.coupled(exchange) - exact) for exchange in (0.01, 0.005, 0.0025)]
    orders = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
    assert errors[-1] < 1e-2
    assert orders[-1] == pytest.approx(1, abs=0.2)

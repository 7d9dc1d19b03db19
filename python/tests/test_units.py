"""A few models in other units and elsewhere; `./dev referee --units` prints the whole table."""

from functools import partial

import numpy as np
import pytest

from referee import units
from referee.mechanisms import mechanism, with_sensors
from referee.simulator import Simulator

ANALYSES = ["static", "modes", "linearize", "sensitivity", "generalized-alpha", "esdirk4-6", "lms2", "rk67", f"dopri5,{units.ADAPTIVE}"]


def disagreements(cells):
    found = []
    for name, system, analysis, size, bound, where in cells:
        print(f"{name:20} {system:12} {analysis:32} {size:8.1e} of {bound:.0e}  {where}")
        if not size <= bound:
            found.append((system, analysis, size, where))
    return found


@pytest.mark.parametrize("name", ["heavy_top", "pendulum", "slider_crank", "controlled_arm"])
def test_shipped_models_are_the_same_in_all_units(name):
    assert not disagreements(units.rows(name, units.shipped()[name], ANALYSES))


@pytest.mark.parametrize("seed", [2, 3])
def test_mechanisms_are_the_same_in_all_units(seed):
    assert not disagreements(units.rows(f"mechanism_{seed}", partial(units.random_model, seed), ANALYSES))


def test_a_small_mechanism_beside_a_large_one_moves_as_alone():
    assert not disagreements(units.pair_rows(2, ANALYSES))


def test_dimensions_of_unit_texts():
    assert units.dimension("N m s/rad") == (1, 2, -1)
    assert units.dimension("kg/m^3") == (1, -3, 0)
    assert units.Units(1e3, 1e-3, 1).of("N") == pytest.approx(1)  # t mm/s^2


@pytest.mark.parametrize("system", units.SYSTEMS)
def test_converted_files_mean_the_same_mechanism(system):
    """The conversion itself, judged by the referee: accelerations, reactions and energies of converted files, also at a later time."""
    worst = 0.0
    for seed in range(8):
        model = with_sensors(mechanism(seed))
        chosen = units.SYSTEMS[system] or units.Units(moved=1e-4 * units.moved_by(model))
        first, second = Simulator(model), Simulator(units.Converter(model, chosen).convert())
        expected = first.outputs(first.solve(0.3, first.initial()))
        found = second.outputs(second.solve(0.3 / chosen.time, second.initial()))
        for name, sensor in units.compared_sensors(model).items():
            if name in expected:
                change = units.back(name, found[name], sensor, chosen) if sensor["type"] != "orientation" else found[name]
                worst = max(worst, float(np.max(np.abs(change - expected[name]))) / (1 + float(np.max(np.abs(expected[name])))))
    print(f"{system}: {worst:.1e}")
    assert worst < 1e-8

"""A few models in other units and elsewhere; `./dev referee --units` prints the whole table."""

import warnings
from functools import partial

import numpy as np
import pytest

import liedyn as ld
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


@pytest.mark.parametrize("name", ["heavy_top", "pendulum", "slider_crank", "controlled_arm", "bricard"])
def test_shipped_models_are_the_same_in_all_units(name):
    assert not disagreements(units.rows(name, units.shipped()[name], ANALYSES))


@pytest.mark.parametrize("seed", [2, 3])
def test_mechanisms_are_the_same_in_all_units(seed):
    assert not disagreements(units.rows(f"mechanism_{seed}", partial(units.random_model, seed), ANALYSES))


def test_a_small_mechanism_beside_a_large_one_moves_as_alone():
    assert not disagreements(units.pair_rows(2, ANALYSES))


@pytest.mark.parametrize("lengths", [0, 1e2, 1e3, 1e4, 1e6])
def test_redundant_constraints_do_not_hide_forces_far_from_the_origin(lengths):
    """Bricard's mechanism rests at a right angle. Rounded positions make its redundant row independent, with multipliers of 1e13 N."""
    model = units.shipped()["bricard"]
    found = ld.static(units.Converter(model, units.Units(moved=lengths * np.array([0.6, -0.8, 0]))).convert())
    print(f"{lengths:g} lengths away: angle {found['angle']:.12f}, reaction {found['force_P1']}")
    assert found["angle"] == pytest.approx(np.pi / 2, abs=1e-6)
    assert found["force_P1"] == pytest.approx([0, 29.43, -29.43 / np.sqrt(27)], abs=1e-4)


def test_a_model_far_from_the_origin_says_that_digits_are_lost():
    model = units.shipped()["heavy_top"]
    for lengths, expected in ((0, False), (1e3, False), (1e6, True)):
        moved = units.Converter(model, units.Units(moved=[lengths, 0, 0])).convert()
        for analysis in (lambda: ld.run(moved, end=0.01), lambda: ld.static(moved), lambda: ld.modes(moved), lambda: ld.linearize(moved)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                analysis()
            assert any("lost digits" in str(w.message) for w in caught) == expected


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

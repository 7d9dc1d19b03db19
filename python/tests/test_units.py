"""A few models in other units and elsewhere; `./dev referee --units` prints the whole table."""

import pytest

from referee import units

ANALYSES = ["static", "modes", "linearize", "sensitivity", "generalized-alpha", "esdirk4-6", "lms2", "rk67", "dopri5,adaptive=true,rtol=1e-5"]


def disagreements(cells):
    found = []
    for name, system, analysis, size, bound, where in cells:
        print(f"{name:20} {system:12} {analysis:32} {size:8.1e} of {bound:.0e}  {where}")
        if not size <= bound:
            found.append((system, analysis, size, where))
    return found


@pytest.mark.parametrize("name", ["heavy_top", "pendulum", "slider_crank", "andrews_squeezer", "rotating_shaft", "controlled_arm"])
def test_shipped_models_are_the_same_in_all_units(name):
    assert not disagreements(units.rows(name, units.shipped()[name], ANALYSES))


@pytest.mark.parametrize("seed", range(4))
def test_mechanisms_are_the_same_in_all_units(seed):
    assert not disagreements(units.rows(f"mechanism_{seed}", units.random_model(seed), ANALYSES))


def test_a_small_mechanism_beside_a_large_one_moves_as_alone():
    assert not disagreements(units.pair_rows(0, ANALYSES))


def test_dimensions_of_unit_texts():
    assert units.dimension("N m s/rad") == (1, 2, -1)
    assert units.dimension("kg/m^3") == (1, -3, 0)
    assert units.Units(1e3, 1e-3, 1).of("N") == pytest.approx(1)  # t mm/s^2

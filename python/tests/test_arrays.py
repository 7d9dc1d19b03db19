"""Arrays are views onto the trajectory of C++, and live as long as anybody looks at them."""

import gc

import numpy as np
import pytest

import liedyn as ld


def test_arrays_are_not_copied(heavy_top):
    for array in (heavy_top.time, heavy_top["position"], heavy_top["energy"]):
        assert not array.flags.owndata
        assert np.shares_memory(array, heavy_top.table)
    assert np.shares_memory(heavy_top["position"], heavy_top["position"])
    assert not np.shares_memory(heavy_top["position"], heavy_top["velocity"])


def test_columns_are_strided_views_of_the_table(heavy_top):
    columns = heavy_top.table.shape[1]
    assert heavy_top["position"].strides == (8 * columns, 8)
    np.testing.assert_array_equal(heavy_top.table[:, 0], heavy_top.time)
    np.testing.assert_array_equal(heavy_top.table[:, 1:4], heavy_top["position"])


def test_arrays_outlive_the_result(falling_point):
    result = ld.run(falling_point)
    position, expected = result["position"], result["position"].copy()
    tail = position[-3:, 2]
    del result, position
    gc.collect()
    # Results of the same size: whoever freed the table too early would find them in its place.
    others = [ld.run(falling_point, set={"height": 77}) for _ in range(20)]
    np.testing.assert_array_equal(tail, expected[-3:, 2])
    assert others[0]["position"][0, 2] == 77


def test_the_table_is_freed_with_the_last_view():
    def resident_pages() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])

    model = ld.Model("heavy_top")
    megabytes = model.run(step=1.5e-5).table.nbytes / 2**20
    assert megabytes > 8
    before = resident_pages()
    for _ in range(3):
        model.run(step=1.5e-5)
    grown = (resident_pages() - before) * 4096 / 2**20
    assert grown < megabytes, "results that nobody looks at must not add up"


def test_arrays_are_read_only(heavy_top):
    with pytest.raises(ValueError, match="read-only"):
        heavy_top["position"][0, 0] = 1

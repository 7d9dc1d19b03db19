"""Sweeps: the digits of single runs, in order, whatever fails."""

import os
import signal
import sys
import threading
import time
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest

import liedyn as ld

SPINS = [{"spin": spin} for spin in (140.0, 20.0, 60.0, 100.0, 75.0)]


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("source", ["name", "model"])
def test_a_sweep_gives_what_single_runs_give_in_order(threads, source):
    model = "heavy_top" if source == "name" else ld.Model("heavy_top")
    found = ld.sweep(model, set=SPINS, threads=threads, end=0.2)
    assert len(found) == len(SPINS) and found.completed.all() and not found.failures
    for one, result in zip(SPINS, found):
        np.testing.assert_array_equal(result.table, ld.run("heavy_top", set=one, end=0.2).table)
        assert result.summary["set"] == one
    assert found.final("position").shape == (5, 3)
    np.testing.assert_array_equal(found.final("position[2]"), [result["position"][-1, 2] for result in found])
    np.testing.assert_array_equal(found.values("spin"), [140, 20, 60, 100, 75])


def test_arguments_of_repetitions_may_vary():
    found = ld.sweep("chain", [{"links": n} for n in (1, 3, 2)], end=0.01)
    np.testing.assert_allclose([result["tip"][0, 0] for result in found], [1, 3, 2])


def failing_model() -> dict:
    """A force that cannot be evaluated from t = limit on."""
    return {
        "liedyn": 1,
        "parameters": {"limit": 2},
        "bodies": {"stone": {"type": "point", "mass": 1}},
        "forces": {"pull": {"type": "force", "on": "stone", "force": ["sqrt(limit - t)", 0, 0]}},
        "sensors": {"position": {"type": "position", "of": "stone"}},
        "simulation": {"end": 1, "step": 0.01},
    }


def test_runs_that_fail_do_not_end_the_others():
    runs = [{"limit": 2}, {"limit": 0.5}, {"bodies.stone.mass": -1}, {"limit": 3}]
    with pytest.warns(ld.NumericalWarning) as caught:
        found = ld.sweep(failing_model(), runs, threads=2)
    assert len(caught) == 1, "one warning for all"
    assert str(caught[0].message).startswith("2 of 4 runs failed; run 1, {'limit': 0.5}: ")
    assert caught[0].filename == __file__
    assert found.completed.tolist() == [True, False, False, True]
    assert "t = 0.5" in found.failures[1] and "bodies.stone.mass" in found.failures[2]
    assert found[1].time[-1] == pytest.approx(0.5), "what was reached is there"
    assert found[2] is None
    assert np.isfinite(found.final("position")).all(axis=1).tolist() == [True, False, False, True]
    assert "2 failures" in str(found) and "bodies.stone.mass" in found._repr_html_()
    np.testing.assert_array_equal(found.values("limit"), [2, 0.5, np.nan, 3])
    with pytest.raises(KeyError, match="no run sets 'mass'; there are limit, bodies.stone.mass"):
        found.values("mass")


def test_what_is_wrong_with_every_run_is_an_error():
    with pytest.raises(ld.InputError, match="did you mean 'generalized-alpha'"):
        ld.sweep("heavy_top", SPINS, integrator="generalised-alpha")
    with pytest.raises(ld.InputError, match="step: expected a positive number"):
        ld.sweep("heavy_top", SPINS, step=0)
    assert len(ld.sweep("heavy_top", [])) == 0


def test_interrupt_stops_all_runs():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ld.sweep("heavy_top", SPINS, end=100, step=1e-5, every=0, threads=2)
    assert time.monotonic() - begin < 5, "the runs themselves would take minutes"
    timer.join()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


def test_a_sweep_is_drawn_and_tabulated(monkeypatch):
    found = ld.sweep("heavy_top", SPINS[:2], end=0.05)
    ax = found.plot("position[2]")
    assert [line.get_label() for line in ax.lines] == ["spin = 140", "spin = 20"]
    assert ax.get_ylabel() == "position z / m"
    plt.close("all")
    with pytest.raises(ld.InputError, match="one component"):
        found.plot("position")
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
    frame = found.to_dataframe()
    assert list(frame)[:2] == ["spin", "position[0]"] and list(frame)[-2:] == ["completed", "failure"]
    assert all(len(column) == 2 for column in frame.values())

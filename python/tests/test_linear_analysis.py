"""`analyze_integrator` from Python."""

import numpy as np
import pytest

import liedyn as ld


def test_the_order_and_the_limits_of_stability():
    analysis = ld.analyze_integrator(["rk44", "lms2,rho=0.6"])
    rk44, lms2 = analysis
    assert (rk44["order"], lms2["order"]) == (4, 2)
    assert rk44["explicit"] and not lms2["explicit"]
    assert rk44["stable_to_real"] == pytest.approx(-2.785293563405282)
    assert rk44["radius_at_infinity"] is None
    assert lms2["stable_to_real"] is None
    assert lms2["radius_at_infinity"] == pytest.approx(0.6, abs=1e-6)
    assert "stability_region" not in rk44


def test_columns_are_arrays_over_the_steps():
    steps = [0.02, 0.05, 0.1]
    analysis = ld.analyze_integrator("bathe", h_over_period=steps)
    assert np.allclose(analysis.column("h_over_period"), steps)
    assert np.all(np.diff(analysis.column("amplitude_decay")) > 0)


def test_the_region_is_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    analysis = ld.analyze_integrator(["ode23", "msstc3"], region_points=15)
    region = analysis[0]["stability_region"]
    assert len(region["spectral_radius"]) == len(region["real"]) * len(region["imaginary"]) == 225
    figure = analysis.plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    plt.close(figure)
    assert "stable: ode23" in titles


@pytest.mark.parametrize("wrong", [[0.1, 0.05], [0.0, 1.0], [float("nan")]])
def test_steps_must_ascend(wrong):
    with pytest.raises(ld.InputError):
        ld.analyze_integrator("rk44", h_over_period=wrong)
    with pytest.raises(ld.InputError):
        ld.analyze_integrator("no-such-method")

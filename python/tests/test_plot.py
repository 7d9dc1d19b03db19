"""Figures: labels, units, legends."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import liedyn as ld
from liedyn import style

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_vector_has_a_line_per_component(heavy_top):
    ax = heavy_top.plot("position")
    assert len(ax.lines) == 3
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), heavy_top["position"][:, 2])
    assert ax.get_xlabel() == "time / s"
    assert ax.get_ylabel() == "position / m"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y", "z"]
    ax.figure.canvas.draw()


def test_plots_may_share_axes(heavy_top):
    _, ax = plt.subplots()
    assert heavy_top.plot("energy", ax=ax, label="h = 1 ms", linestyle=":") is ax
    assert heavy_top.plot("energy", ax=ax) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["h = 1 ms", "energy"]
    assert ax.lines[0].get_linestyle() == ":"


def test_style_does_not_leak(heavy_top):
    before = dict(matplotlib.rcParams)
    heavy_top.plot("velocity")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    "name, unit, label",
    [("energy", "J", "energy / J"), ("angular_velocity", "rad/s", "angular velocity / (rad/s)"),
     ("acceleration", "m/s^2", "acceleration / (m/s²)"), ("orientation", "", "orientation")],
)
def test_labels_name_quantity_and_unit(name, unit, label):
    assert style.quantity(name, unit) == label


def test_unknown_channel_is_an_error(heavy_top):
    with pytest.raises(KeyError, match="no channel"):
        heavy_top.plot("colour")
    assert isinstance(heavy_top, ld.Result)

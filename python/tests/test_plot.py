"""Figures: labels, units, legends."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import liedyn as ld
from liedyn import plots, style

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


def legend_of(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_channels_that_share_axes_are_all_named(heavy_top):
    ax = heavy_top.plot("position")
    heavy_top.plot("angular_velocity", ax=ax, linestyle=":")
    assert ax.get_ylabel() == "position / m,\nangular velocity / (rad/s)"
    assert legend_of(ax) == ["position x", "position y", "position z", *(f"angular velocity {c}" for c in "xyz")]
    ax = heavy_top.plot("position[0]")
    heavy_top.plot("position[2]", ax=ax)
    assert ax.get_ylabel() == "position x, position z / m", "one unit for both"
    assert legend_of(ax) == ["position x", "position z"]
    ax = heavy_top.plot("position", label="coarse")
    heavy_top.plot("position", ax=ax, label="fine")
    assert ax.get_ylabel() == "position / m"
    assert legend_of(ax) == [f"{run} {c}" for run in ("coarse", "fine") for c in "xyz"]


def test_labels_of_the_caller_stay(heavy_top):
    ax = heavy_top.plot("energy")
    ax.set_ylabel("mine")
    ax.lines[0].set_label("my line")
    heavy_top.plot("position[0]", ax=ax)
    assert ax.get_ylabel() == "mine"
    assert legend_of(ax) == ["my line", "position x"]


@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 1), (3, 1), (2, 2)])
def test_labels_are_inside_figures_of_the_caller(heavy_top, rows, columns):
    figure, axes = plt.subplots(rows, columns, squeeze=False)
    channels = ["constraint_residual.position", "angular_velocity", "energy", "velocity"]
    for ax, name in zip(axes.flat, channels):
        heavy_top.plot(name, ax=ax)
    figure.canvas.draw()
    edge = figure.bbox
    for ax in axes[:, 0]:
        for text in (ax.yaxis.label, *(label for label in ax.get_yticklabels() if label.get_visible())):
            box = text.get_window_extent()
            assert box.x0 >= edge.x0, f"'{text.get_text()}' is cut off at the left"
        assert ax.yaxis.label.get_window_extent().y0 >= edge.y0


def test_tick_labels_of_cpu_time_do_not_touch():
    for seconds in ([1e-3, 2e-3, 4e-3, 8e-3], [2.1e-3, 2.9e-3], [1e-4, 1e-1], [3e-6, 3.2e-6], [1e-5, 1e3], [0.5, 0.5]):
        rows = [
            {"step": 1e-3 / 2**i, "errors": {"q": 1e-3 / 4**i}, "completed": True, "cpu_seconds": second}
            for i, second in enumerate(seconds)
        ]
        case = {"integrator": "generalized-alpha", "formulation": "r3so3", "rows": rows, "fitted_orders": {"q": 2.0}}
        data = {"model": "top", "quantities": ["q"], "norm": "max", "cases": [case]}
        figure = plots.convergence(data, work_precision=True)
        figure.canvas.draw()
        ax = next(ax for ax in figure.axes if ax.get_xlabel() == "CPU time / s")
        boxes = [label.get_window_extent() for label in ax.get_xticklabels(which="both") if label.get_text() and label.get_visible()]
        least, most = ax.get_window_extent().x0, ax.get_window_extent().x1
        boxes = sorted((box for box in boxes if least <= (box.x0 + box.x1) / 2 <= most), key=lambda box: box.x0)
        assert boxes, f"no label for {seconds}"
        for left, right in zip(boxes, boxes[1:]):
            assert left.x1 < right.x0, f"labels touch for {seconds}"


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

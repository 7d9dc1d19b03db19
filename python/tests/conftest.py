import copy

import pytest

import liedyn as ld

# A point mass that falls freely from rest: every answer is known by heart.
FALLING_POINT = {
    "liedyn": 1,
    "parameters": {"height": 10.0},
    "gravity": [0, 0, -9.81],
    "bodies": {"stone": {"type": "point", "mass": 2, "position": [0, 0, "height"]}},
    "sensors": {
        "position": {"type": "position", "of": "stone"},
        "energy": {"type": "energy"},
    },
    "simulation": {"end": 1, "step": 0.1},
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "error::liedyn.NumericalWarning")


@pytest.fixture
def falling_point() -> dict:
    return copy.deepcopy(FALLING_POINT)


@pytest.fixture(scope="session")
def heavy_top() -> ld.Result:
    """The heavy top as shipped: geom1, rho 0.9, h = 1e-3."""
    return ld.run("heavy_top", residuals=True)

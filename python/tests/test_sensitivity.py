from pathlib import Path

import numpy as np
import pytest

import liedyn as ld

OPTIONS = {"integrator": "generalized-alpha,newton_tol=1e-12", "step": 1e-3, "end": 0.02}


def test_derivatives_agree_with_differences():
    found = ld.sensitivity("heavy_top", ["bodies.top.mass", "spin"], ["position", "energy"], check=True, **OPTIONS)
    assert found.jacobian.shape == (4, 2)
    assert found["position[2]", "spin"] == found.jacobian[2, 1]
    assert max(found.disagreement.values()) < 1e-6
    np.testing.assert_allclose(found.jacobian, found.differences, atol=1e-7 * np.abs(found.jacobian).max())


def test_adjoint_equals_direct():
    what = ["bodies.top.mass", "spin"], ["position", "energy@integral", "position[2]@0.0105"]
    direct, adjoint = (ld.sensitivity("heavy_top", *what, method=m, **OPTIONS) for m in ("direct", "adjoint"))
    np.testing.assert_allclose(adjoint.values, direct.values, rtol=1e-12)
    assert np.linalg.norm(adjoint.jacobian - direct.jacobian) < 1e-9 * np.linalg.norm(direct.jacobian)


def test_run_gives_derivatives_over_time():
    top = ld.Model("heavy_top")
    result = top.run(sensitivities=["bodies.top.mass"], **OPTIONS)
    slope = result.d("position", "bodies.top.mass")
    assert slope.shape == result["position"].shape
    eps = 1e-4
    sides = [top.run(set={"bodies.top.mass": 15 + s * eps}, **OPTIONS)["position"] for s in (1, -1)]
    difference = (sides[0] - sides[1]) / (2 * eps)
    assert np.abs(slope - difference).max() < 1e-6 * np.abs(difference).max()
    with pytest.raises(KeyError):
        result.d("position", "spin")
    with pytest.raises(ValueError, match="sensitivities"):
        top.run(**OPTIONS).d("position", "spin")


def test_gradient_is_what_optimisers_take():
    f = ld.gradient(ld.Model("heavy_top"), "position[2]", ["spin", "bodies.top.mass"], **OPTIONS)
    value, slope = f([150, 15])
    assert f([151, 15])[0] == pytest.approx(value + slope[0], abs=1e-2 * abs(slope[0]))


def test_wrong_input_is_refused():
    with pytest.raises(ld.InputError, match="mass"):
        ld.sensitivity("heavy_top", ["bodies.top.mas"])
    with pytest.raises(ld.InputError, match="direct"):
        ld.sensitivity("heavy_top", ["spin"], method="guess")


def test_optimize_takes_a_dictionary():
    study = {
        "model": "heavy_top",
        "simulation": OPTIONS,
        "variables": {"mass": {"parameter": "bodies.top.mass", "lower": 5, "upper": 30}},
        "outputs": {"drop": "position[2]"},
        "minimize": "(mass - 12)^2 + 0*drop",
    }
    found = ld.optimize(study)
    assert found.converged, found.reason
    assert found.variables["mass"] == pytest.approx(12, abs=1e-4)
    assert found.parameters == {"bodies.top.mass": found.variables["mass"]}
    assert found.history["mass"][0] == 15 and len(found.history["objective"]) == len(found.history["mass"])


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["identify_pendulum", "light_four_bar", "tune_puma"])
def test_examples_converge(name):
    found = ld.optimize(EXAMPLES / name / "study.json")
    print(name, found, found.variables)
    assert found.converged, found.reason


def test_identified_pendulum_is_the_true_one():
    found = ld.optimize(EXAMPLES / "identify_pendulum" / "study.json")
    # Noise of 0.01 rad in 301 values leaves a few standard deviations of that size.
    for name, true, allowed in (("inertia", 0.0231, 2e-4), ("dry", 0.083, 5e-3), ("viscous", 0.0062, 5e-4)):
        assert abs(found.variables[name] - true) < allowed, name
    assert found.objective == pytest.approx(1e-4, rel=0.25)

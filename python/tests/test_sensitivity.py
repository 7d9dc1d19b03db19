import subprocess
import sys
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


def test_gradient_takes_names_dicts_and_set():
    parameters = ["spin", "bodies.top.mass"]
    f = ld.gradient("heavy_top", "position[2]", parameters, set={"gravity[2]": -5}, **OPTIONS)
    value, slope = f([150, 15])
    assert f()[0] == value and f({"spin": 150})[0] == value and list(f.start) == [150, 15]
    whole = ld.Model("heavy_top", set={"gravity[2]": -5}).sensitivity(parameters, ["position[2]"], **OPTIONS)
    np.testing.assert_array_equal(slope, whole.jacobian[0])
    assert ld.gradient(ld.load("heavy_top"), "position[2]", parameters, method="adjoint", **OPTIONS)([150, 15])[1] == pytest.approx(
        ld.gradient("heavy_top", "position[2]", parameters, **OPTIONS)([150, 15])[1], rel=1e-9
    )
    for wrong in ([150], [150, 15, 3], 150, "a", ["a", "b"], [[1], [2, 3]], [None, {}]):
        with pytest.raises(ld.InputError, match=r"values: expected 2 values \(spin, bodies.top.mass\), got"):
            f(wrong)
    with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'dt' \(hint: did you mean 'step'\?\)"):
        ld.run("heavy_top", dt=1e-3)
    with pytest.raises(TypeError, match=r"sensitivity\(\) got .* 'integratr' \(hint: did you mean 'integrator'\?\)"):
        ld.sensitivity("heavy_top", ["spin"], integratr="rk44")
    with pytest.raises(ValueError, match="one component"):
        ld.gradient("heavy_top", "position", ["spin"], **OPTIONS)([150])


def test_derivatives_are_found_by_any_spelling():
    s = ld.sensitivity("heavy_top", "spin", ["position", "energy"], **OPTIONS)
    assert s.method == "direct" and s.agrees is None
    assert s["energy", "parameters.spin"] == s["energy", "spin"]
    assert s["position", "spin"].shape == (3,)
    assert "d/d(spin)" in str(s) and "position[2]" in str(s)
    assert s.units == {"position[0]": "m", "position[1]": "m", "position[2]": "m", "energy": "J", "spin": ""}
    with_units = ld.sensitivity("heavy_top", ["bodies.top.mass", "bodies.top.inertia[1]"], ["position[2]", "energy"], **OPTIONS)
    for words in ("at bodies.top.mass = 15 kg", " m/kg", "J/kg", "J/(kg m^2)"):
        assert words in str(with_units), words
    assert str(with_units).count("\n") == 3 and "\n" not in repr(with_units)
    with pytest.raises(KeyError, match="there are position"):
        s["place", "spin"]
    backwards = ld.sensitivity("heavy_top", ["spin"], ["position"], method="adjoint", **OPTIONS)
    with pytest.raises(ValueError, match="direct"):
        backwards.d("position", "spin")
    assert len(ld.sensitivity("heavy_top", ["bodies.*.inertia[*]"], ["energy"], **OPTIONS).parameters) >= 3
    with pytest.raises(ld.InputError, match="named twice"):
        ld.run("heavy_top", sensitivities=["spin", "spin"], **OPTIONS)
    with pytest.raises(ld.InputError, match="parameters: expected a list of paths"):
        ld.sensitivity("heavy_top", [1])


@pytest.mark.parametrize("method", ["direct", "adjoint", "difference"])
def test_interrupt_is_raised_as_such(method):
    program = f"""
import liedyn as ld, _thread, threading
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    ld.sensitivity("slider_crank", ["bodies.rod.mass"], ["energy"], step=1e-5, end=5, method="{method}")
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "interrupted", done.stderr


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


STONE = {
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "bodies": {"stone": {"type": "point", "mass": 1, "velocity": [1, 0, np.int64(5)]}},
    "sensors": {"place": {"type": "position", "of": "stone"}},
    "simulation": {"end": 1, "step": 0.01},
}


def test_optimize_tells_and_writes_and_goes_on(tmp_path):
    (tmp_path / "seen.csv").write_text("height, t\n0, 0\n2.7738,0.5\n,0.7\n3.095, 1\n")
    study = {
        "model": STONE,
        "variables": {"vz": {"parameter": "bodies.stone.velocity[2]", "lower": np.int64(0), "upper": 20}},
        "data": [{"file": "seen.csv", "columns": {"height": "place[2]"}}],
    }
    seen = []
    found = ld.optimize(study, tmp_path, out=tmp_path / "found", progress=seen.append)
    assert found.variables["vz"] == pytest.approx(8, abs=1e-3)
    assert [point["evaluation"] for point in seen] == list(range(1, len(seen) + 1))
    assert seen[0]["variables"] == {"vz": 5} and seen[0]["best"]
    assert 0 < found.standard_deviations["vz"] < 1e-2 and found.residuals["place[2]"] < 1e-3
    for file in ("result.json", "history.csv", "report.md"):
        assert (tmp_path / "found" / file).exists()
    again = ld.optimize(study, tmp_path, restart=tmp_path / "found" / "result.json")
    assert again.history["vz"][0] == found.variables["vz"]
    # With the same directory the history goes on.
    rows = (tmp_path / "found" / "history.csv").read_text().splitlines()
    ld.optimize(study, tmp_path, restart=tmp_path / "found" / "result.json", out=tmp_path / "found")
    longer = (tmp_path / "found" / "history.csv").read_text().splitlines()
    assert longer[: len(rows)] == rows
    assert [int(row.split(",")[0]) for row in longer[1:]] == list(range(1, len(longer)))
    other = study | {"variables": {"vx": {"parameter": "bodies.stone.velocity[2]", "lower": 0, "upper": 20}}}
    with pytest.raises(ld.InputError, match="another study"):
        ld.optimize(other, tmp_path, restart=tmp_path / "found" / "result.json", out=tmp_path / "found")
    stopped = ld.optimize(study, tmp_path, progress=lambda point: point["evaluation"] < 2)
    assert not stopped.converged and stopped.reason == "interrupted"
    with pytest.raises(ZeroDivisionError):
        ld.optimize(study, tmp_path, progress=lambda point: 1 / 0)


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

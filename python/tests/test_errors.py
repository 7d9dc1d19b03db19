"""What is wrong is said in words: all of it, with its place."""

import json
import pickle
import warnings

import numpy as np
import pytest

import liedyn as ld


def test_all_mistakes_of_a_file_are_reported_with_file_line_and_path(tmp_path, falling_point):
    falling_point["bodies"]["stone"]["mas"] = falling_point["bodies"]["stone"].pop("mass")
    falling_point["sensors"]["energy"]["type"] = "enrgy"
    file = tmp_path / "stone.json"
    file.write_text(json.dumps(falling_point, indent=2))
    with pytest.raises(ld.InputError) as caught:
        ld.run(file)
    by_path = {diagnostic.path: diagnostic for diagnostic in caught.value.diagnostics}
    typo = by_path["bodies.stone.mas"]
    assert typo.file == str(file)
    assert '"mas"' in file.read_text().splitlines()[typo.line - 1]
    assert typo.hint == "did you mean 'mass'?"
    assert "sensors.energy.type" in by_path
    assert f"{file}:{typo.line}: bodies.stone.mas: {typo.message} (hint: did you mean 'mass'?)" in str(caught.value)


def test_mistakes_in_a_dict_have_paths_but_no_lines(falling_point):
    falling_point["bodies"]["stone"]["mass"] = -1
    with pytest.raises(ld.InputError) as caught:
        ld.run(falling_point)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.file, diagnostic.line, diagnostic.path) == ("", 0, "bodies.stone.mass")
    assert str(caught.value).startswith("bodies.stone.mass: expected")


def test_what_json_cannot_hold_is_named(falling_point):
    falling_point["bodies"]["stone"]["mass"] = np.nan
    falling_point["gravity"] = [0, 0, 1j]
    with pytest.raises(ld.InputError) as caught:
        ld.run(falling_point)
    assert [str(diagnostic) for diagnostic in caught.value.diagnostics] == [
        "gravity[2]: expected a value that JSON can contain, got complex",
        "bodies.stone.mass: expected a finite number, got nan",
    ]


def test_unknown_model_comes_with_a_suggestion():
    with pytest.raises(ld.InputError, match="there is no model 'heavy_tpo'.*did you mean 'heavy_top'"):
        ld.run("heavy_tpo")


def test_unknown_integrator_comes_with_a_suggestion():
    with pytest.raises(ld.InputError, match="did you mean 'generalized-alpha'"):
        ld.run("heavy_top", integrator="generalised-alpha")


def test_all_wrong_settings_are_reported_at_once():
    model = ld.Model("heavy_top")
    with pytest.raises(ld.InputError) as caught:
        model.run(set={"bodies.top.mass": -1, "bodies.top.mas": 1})
    assert [diagnostic.path for diagnostic in caught.value.diagnostics] == ["bodies.top.mass", "bodies.top.mas"]
    with pytest.raises(ld.InputError, match="spin: expected a finite number, got 'fast'"):
        model.run(set={"spin": "fast"})


def test_initial_values_that_violate_a_constraint_are_an_error_unless_projected():
    model = ld.load("heavy_top")
    model["bodies"]["top"]["velocity"] = [1, 2, 3]
    with pytest.raises(ld.InputError, match="velocit"):
        ld.run(model, end=0.01)
    projected = ld.run(model, end=0.01, initial="project", residuals=True)
    assert projected["constraint_residual.velocity"][0] < 1e-12


@pytest.mark.parametrize(
    "options, words",
    [
        ({"step": "1e-3"}, "step: expected a positive number of seconds, got '1e-3' (str) (hint: without quotation marks: step=1e-3)"),
        ({"step": -1}, "step: expected a positive number of seconds, got -1 (int)"),
        ({"end": float("nan")}, "end: expected a finite number of seconds, got nan (float)"),
        ({"end": 10**400}, "end: expected a finite number of seconds, got 1000"),
        ({"integrator": {}}, 'integrator: expected a string such as "generalized-alpha,rho=0.9", got {} (dict)'),
        ({"output_every": 1.5}, "output_every: expected a whole number from 0 to 2147483647, got 1.5 (float)"),
        ({"every": True}, "every: expected a whole number from 0 to 2147483647, got True (bool)"),
        ({"every": 2, "output_every": 2}, "every: is another name of output_every, got both"),
        ({"set": [1]}, 'set: expected a dict of paths and numbers, got [1] (list) (hint: for example set={"bodies.top.mass": 2})'),
        ({"set": {3: 4}}, "set: expected the path of a parameter, got 3 (int)"),
        ({"start": {"bodies": {}}}, "start: expected a finite number of seconds, got {'bodies': {}} (dict) (hint: a configuration to begin from is from_=...)"),
        ({"from_": 0.5}, "from_: expected a configuration: a file, a dict, or what `static` and `assemble` return; got 0.5 (float)"),
        ({"from_": "nowhere.json"}, "nowhere.json: cannot be read: No such file or directory"),
        ({"from_": '{"bodies": {}}'}, "from_: expected the name of a file, got the string"),
        ({"formulation": 3}, "formulation: expected a string, got 3 (int)"),
        ({"solver": "lapack"}, "solver: must be one of auto, dense, block, klu, got 'lapack'"),
        ({"solver": 1}, "solver: expected a string, got 1 (int)"),
        ({"threads": -1}, "threads: expected a whole number from 0 to 2147483647, got -1 (int)"),
        ({"threads": 100000}, "threads: must be 0 (chosen by size) to 1024, got 100000"),
        ({"residuals": "yes"}, "residuals: expected True or False, got 'yes' (str)"),
        ({"vtk": 3}, "vtk: expected the name of a folder, a string or a Path, got 3 (int)"),
        ({"sensitivities": 3}, "sensitivities: expected a list of paths, got 3 (int)"),
        ({"sensitivities": [3]}, "sensitivities: expected a list of paths, got 3 (int) in it"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(options, words):
    with pytest.raises(ld.InputError) as caught:
        ld.run("heavy_top", **options)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_all_arguments_of_the_wrong_kind_are_reported_at_once():
    with pytest.raises(ld.InputError) as caught:
        ld.run("heavy_top", step="1", integrator=1, strict=2)
    assert [finding.path for finding in caught.value.diagnostics] == ["integrator", "step", "strict"]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ld.Model(3), "model: expected a name, a file, a dict or a Builder, got 3 (int)"),
        (lambda: ld.load(3), "model: expected the name of a file"),
        (lambda: ld.modes("pendulum", count="3"), "count: expected a whole number from 0 to 2147483647, got '3' (str)"),
        (lambda: ld.modes("pendulum", axes=[0, 1]), "axes: expected three finite numbers, got [0, 1] (list)"),
        (lambda: ld.modes("pendulum", at=None), 'at: expected "initial", "static", "end" or a time, got None'),
        (lambda: ld.modes("pendulum", solver="lapack"), "solver"),
        (lambda: ld.static("pendulum", load_steps=0), "load_steps: expected a whole number from 1"),
        (lambda: ld.static("pendulum", tolerance="small"), "tolerance: expected a finite number, got 'small' (str)"),
        (lambda: ld.linearize("pendulum", inputs={}), "inputs: expected a list of paths, got {} (dict)"),
        (lambda: ld.assemble("pendulum", hold=3), "hold: expected a list of bodies, got 3 (int)"),
        (lambda: ld.converge("pendulum", steps=["1"]), "steps: expected a list of numbers of seconds, got ['1'] (list)"),
        (lambda: ld.converge("pendulum", jobs="2"), "jobs: expected a whole number from 1 to 2147483647, got '2' (str) (hint: without quotation marks: jobs=2)"),
        (lambda: ld.converge("pendulum", reference=3), 'reference: expected "fine", "INTEGRATOR@STEP", a Result or a file, got 3 (int)'),
        (lambda: ld.analyze_integrator(3), "integrators: expected a list of strings, got 3 (int)"),
        (lambda: ld.analyze_integrator("rk44", h_over_period="x"), "h_over_period: expected positive numbers in ascending order, got 'x' (str)"),
        (lambda: ld.sensitivity("heavy_top", "spin", method=3), "method: expected a string, got 3 (int)"),
        (lambda: ld.sensitivity("heavy_top", "spin", check="yes"), "check: expected True or False, got 'yes' (str)"),
        (lambda: ld.gradient("heavy_top", "position[2]", ["spinn"]), "did you mean 'spin'"),
        (lambda: ld.optimize(3), "study: expected the name of a file or a dict, got 3 (int)"),
        (lambda: ld.optimize("nowhere.json"), "nowhere.json: cannot be read: No such file or directory"),
        (lambda: ld.sweep("heavy_top", set={"spin": [1, 2]}), "set: expected a list of dicts, one per run"),
        (lambda: ld.sweep("heavy_top", set=[{"spin": 1}, 2]), "set[1]: expected a dict of paths and numbers, got 2 (int)"),
        (lambda: ld.load_result("nowhere.csv"), "nowhere.csv: cannot be read: No such file or directory"),
        (lambda: ld.load_result("nowhere.h5"), "nowhere.h5: cannot be read: No such file or directory"),
        (lambda: ld.load_result("nowhere.npz"), "nowhere.npz: cannot be read: No such file or directory"),
        (lambda: ld.load_result("nowhere.txt"), "nowhere.txt: expected a result file"),
        (lambda: ld.load_result(3), "file: expected the name of a file"),
    ],
)
def test_every_function_names_its_arguments(call, words):
    with pytest.raises(ld.InputError) as caught:
        call()
    assert words in str(caught.value)


def test_a_compiled_model_may_be_analysed_as_any_other():
    top = ld.Model("heavy_top", set={"spin": 100})
    assert ld.run(top, end=0.01).summary["set"] == {"spin": 100}
    assert ld.run(top, end=0.01, set={"spin": 50, "bodies.top.mass": 3}).summary["set"] == {"spin": 50, "bodies.top.mass": 3}
    assert ld.parameters(top)["parameters.spin"] == 100
    # For another formulation it is compiled anew, with its values.
    other = ld.run(top, formulation="se3", end=0.01)
    np.testing.assert_array_equal(other.table, ld.run("heavy_top", set={"spin": 100}, formulation="se3", end=0.01).table)
    assert top.formulation == "r3so3"
    with pytest.raises(ld.InputError, match="formulation"):
        ld.run(top, formulation="se4")
    study = ld.converge(top, formulations=["r3so3", "se3"], steps=[2e-3, 1e-3], end=0.02)
    by_name = ld.converge("heavy_top", set={"spin": 100}, formulations=["r3so3", "se3"], steps=[2e-3, 1e-3], end=0.02)
    np.testing.assert_array_equal(study.errors(1), by_name.errors(1))


def test_json_text_and_folders_that_do_not_exist_are_named_shortly(heavy_top, tmp_path):
    with pytest.raises(ld.InputError) as caught:
        ld.run('{"liedyn": 1, "bodies": {' + '"x": 1, ' * 100)
    assert "expected the name or the file of a model" in str(caught.value)
    assert len(str(caught.value)) < 250
    for name in ("x.csv", "x.h5", "x.npz"):
        with pytest.raises(ld.InputError, match=f"nodir/{name}: cannot be written: there is no folder"):
            heavy_top.save(tmp_path / "nodir" / name)
    with pytest.raises(ld.InputError, match="file: expected a file that ends with .csv, .h5 or .npz, got"):
        heavy_top.save(tmp_path / "x.txt")
    with pytest.raises(ld.InputError, match="file: expected the name of a file"):
        heavy_top.save(3)


def test_input_error_is_a_value_error_and_can_be_sent_between_processes():
    with pytest.raises(ValueError) as caught:
        ld.run("nothing")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.diagnostics == caught.value.diagnostics
    assert str(copy) == str(caught.value)


def test_unknown_channel_comes_with_a_suggestion(heavy_top):
    with pytest.raises(KeyError, match="no channel 'positon'; did you mean 'position'"):
        heavy_top["positon"]


def failing_model() -> dict:
    """A force that cannot be evaluated from t = 0.5 on."""
    return {
        "liedyn": 1,
        "bodies": {"stone": {"type": "point", "mass": 1}},
        "forces": {"pull": {"type": "force", "on": "stone", "force": ["sqrt(0.5 - t)", 0, 0]}},
        "sensors": {"position": {"type": "position", "of": "stone"}},
        "simulation": {"end": 1, "step": 0.01},
    }


def test_numerical_failure_warns_and_gives_what_was_reached():
    with pytest.warns(ld.NumericalWarning, match="t = 0.5"):
        result = ld.run(failing_model())
    assert not result.completed
    assert result.failure == result.summary["failure"]
    assert result.time[-1] == pytest.approx(0.5)
    assert np.isfinite(result.table).all()


def test_warnings_point_to_the_line_of_the_caller():
    with pytest.warns(ld.NumericalWarning) as caught:
        ld.run(failing_model())
        ld.Model(failing_model()).run()
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_numerical_failure_raises_if_strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ld.NumericalError, match="t = 0.5") as caught:
            ld.run(failing_model(), strict=True)
    assert caught.value.result.time[-1] == pytest.approx(0.5)

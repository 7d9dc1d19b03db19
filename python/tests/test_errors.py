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
        "gravity[2]: expected what JSON can hold, got complex",
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
        ({"step": "1e-3"}, "step: expected a number of seconds, got '1e-3' (str)"),
        ({"integrator": {}}, "integrator: expected a text"),
        ({"output_every": 1.5}, "output_every: expected a whole number, got 1.5 (float)"),
        ({"set": [1]}, "set: expected a dict of paths and numbers, got [1] (list)"),
        ({"start": 0.5}, "start: expected a configuration"),
    ],
)
def test_options_of_the_wrong_type_are_input_errors(options, words):
    with pytest.raises(ld.InputError) as caught:
        ld.run("heavy_top", **options)
    assert words in str(caught.value)


def test_a_compiled_model_may_be_run_and_differentiated_as_any_other():
    top = ld.Model("heavy_top", set={"spin": 100})
    assert ld.run(top, end=0.01).summary["set"] == {"spin": 100}
    assert ld.run(top, end=0.01, set={"spin": 50, "bodies.top.mass": 3}).summary["set"] == {"spin": 50, "bodies.top.mass": 3}
    assert ld.parameters(top)["parameters.spin"] == 100
    with pytest.raises(ld.InputError, match="formulation: this Model is compiled for"):
        ld.run(top, formulation="se3")


def test_json_text_and_folders_that_do_not_exist_are_named_shortly(heavy_top, tmp_path):
    with pytest.raises(ld.InputError) as caught:
        ld.run('{"liedyn": 1, "bodies": {' + '"x": 1, ' * 100)
    assert "expected the name or the file of a model" in str(caught.value)
    assert len(str(caught.value)) < 250
    with pytest.raises(ld.InputError, match="there is no folder"):
        heavy_top.save(tmp_path / "nodir" / "x.csv")


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

"""Models run, from every source, with the answers that are known."""

import json
import math

import numpy as np
import pytest

import liedyn as ld

# models/heavy_top/README.md: an independent integration of order 8, tolerance 1e-12.
HEAVY_TOP_POSITION = np.array([0.173343964098, 0.640088592070, -0.748490791134])
HEAVY_TOP_VELOCITY = np.array([0.570825303, -4.588728296, -3.791955155])


def position_error(result: ld.Result) -> float:
    return float(np.linalg.norm(result["position"][-1] - HEAVY_TOP_POSITION))


def test_heavy_top_with_the_default_integrator_is_off_by_the_known_error(heavy_top):
    assert position_error(heavy_top) == pytest.approx(7.27e-3, rel=1e-3)
    assert np.linalg.norm(heavy_top["velocity"][-1] - HEAVY_TOP_VELOCITY) < 0.1


def test_inertial_frame_velocities_with_the_optimal_sigma_are_far_more_accurate():
    result = ld.run("heavy_top", formulation="r3so3-spatial", integrator="generalized-alpha,rho=0.9,sigma=opt")
    assert position_error(result) == pytest.approx(1.20e-4, rel=1e-2)


# The heavy top passes the singularity of Cardan angles.
@pytest.mark.parametrize("formulation", [name for name in ld.formulations() if not name.startswith("cardan")])
def test_halving_the_step_quarters_the_error(formulation):
    model = ld.Model("heavy_top", formulation=formulation)
    errors = [position_error(model.run(step=step, every=0)) for step in (5e-4, 2.5e-4)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


def test_result_covers_the_interval_with_the_recorded_steps(heavy_top):
    assert heavy_top.time.shape == (1001,)
    assert heavy_top.time[0] == 0 and heavy_top.time[-1] == 1
    assert heavy_top["position"].shape == (1001, 3)
    assert heavy_top["energy"].shape == (1001,)
    assert list(heavy_top)[:3] == ["position", "velocity", "angular_velocity"]
    assert heavy_top.channels["velocity"].unit == "m/s"
    assert heavy_top.channels["velocity"].components == 3


def test_every_thins_out_the_output():
    thin = ld.run("heavy_top", end=0.1, every=40)
    np.testing.assert_allclose(thin.time, [0, 0.04, 0.08, 0.1], rtol=1e-14)
    assert len(ld.run("heavy_top", end=0.1, every=0).time) == 2


def test_summary_has_the_keys_of_the_command_line(heavy_top):
    summary = heavy_top.summary
    for key in ("model integrator formulation step end steps newton_iterations jacobian_updates wall_seconds "
                "allocations_in_loop sensors energy constraint_residual").split():
        assert key in summary
    assert summary["model"] == "heavy_top"
    assert summary["steps"] == 1000
    assert summary["sensors"]["position"] == heavy_top["position"][-1].tolist()


def test_residuals_are_recorded_on_request(heavy_top):
    maxima = heavy_top.summary["constraint_residual"]
    assert heavy_top["constraint_residual.position"].max() == maxima["position"]
    assert heavy_top["constraint_residual.velocity"].max() == maxima["velocity"] > 1e-6
    assert "constraint_residual.position" not in ld.run("heavy_top", end=0.01)


def test_dict_file_and_name_give_the_same_run(tmp_path):
    content = ld.load("heavy_top")
    file = tmp_path / "top.json"
    file.write_text(json.dumps(content))
    by_name, by_path, by_dict = (ld.run(model, end=0.02) for model in ("heavy_top", file, content))
    np.testing.assert_array_equal(by_name.table, by_path.table)
    np.testing.assert_array_equal(by_name.table, by_dict.table)
    assert by_path.summary["model"] == "top"


def test_dict_may_hold_numpy_numbers_and_arrays(falling_point):
    falling_point["gravity"] = np.array([0, 0, -4.0])
    falling_point["bodies"]["stone"]["mass"] = np.float32(2)
    falling_point["simulation"]["output_every"] = np.int64(1)
    result = ld.run(falling_point)
    np.testing.assert_allclose(result["position"][-1], [0, 0, 10 - 4 / 2], rtol=1e-12)


def test_set_reaches_parameters_and_arguments_of_repetitions():
    assert ld.run("heavy_top", set={"spin": 100}, end=0.01)["angular_velocity"][0, 1] == 100
    chain = ld.run("chain", set={"links": 3}, end=0.01)
    np.testing.assert_allclose(chain["tip"][0], [3, 0, 0])


def test_compiled_model_runs_with_different_parameters(falling_point):
    model = ld.Model(falling_point, set={"height": 20})
    assert model.parameters["height"] == model.parameters["parameters.height"] == 20
    low, high = model.run(set={"height": 5}), model.run(set={"bodies.stone.position[2]": 30, "bodies.stone.mass": 4})
    assert low["position"][0, 2] == 5
    assert high["position"][0, 2] == 30
    assert high["energy"][0] == pytest.approx(4 * 9.81 * 30)
    assert model.parameters["height"] == 20, "a run must leave the model as it was"


def test_parameters_lists_every_path_with_its_value(falling_point):
    numbers = ld.parameters(falling_point)
    assert numbers["parameters.height"] == 10
    assert numbers["gravity[2]"] == -9.81
    assert numbers["bodies.stone.position[2]"] == 10
    assert ld.parameters("chain", set={"links": 2}).keys() > {"bodies.link1.mass", "bodies.link2.mass"}


def test_lists_say_what_there_is():
    assert {"heavy_top", "heavy_top_free", "pendulum", "chain"} <= set(ld.models())
    rho = ld.integrators()["generalized-alpha"].options["rho"]
    assert rho.default == "0.9" and rho.range == (0, 1)
    elements = ld.elements()
    assert list(elements) == ["bodies", "beams", "flexible", "joints", "forces", "states", "sensors"]
    assert elements["bodies"]["rigid"].fields["mass"].unit == "kg"
    assert "spherical" in repr(elements["joints"]["spherical"])
    assert ld.formulations()[0] == "r3so3"


def test_results_are_saved(tmp_path, heavy_top):
    heavy_top.save(tmp_path / "top.csv")
    table = np.genfromtxt(tmp_path / "top.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(table, heavy_top.table)

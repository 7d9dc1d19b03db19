"""Results: columns, files, pickles, tables for pandas, notebooks."""

import io
import json
import pickle
import shutil
import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import liedyn as ld


def same(one: ld.Result, other: ld.Result) -> None:
    np.testing.assert_array_equal(one.table, other.table)
    assert one.columns == other.columns and one.units == other.units
    assert one.summary == other.summary
    assert (one.completed, one.failure) == (other.completed, other.failure)


def test_columns_name_the_table(heavy_top):
    assert heavy_top.columns[:5] == ["t", "position[0]", "position[1]", "position[2]", "velocity[0]"]
    assert len(heavy_top.columns) == heavy_top.table.shape[1]
    for i, name in enumerate(heavy_top.columns[1:], start=1):
        np.testing.assert_array_equal(heavy_top[name], heavy_top.table[:, i])
        assert np.shares_memory(heavy_top[name], heavy_top.table)
    assert heavy_top.units["position"] == "m" and heavy_top.units["energy"] == "J"
    with pytest.raises(KeyError, match=r"did you mean 'position\[2\]'|did you mean 'position"):
        heavy_top["position[3]"]
    assert {"position", "position[2]", "energy"} <= set(heavy_top._ipython_key_completions_())


@pytest.mark.parametrize("extension", ["h5", "npz"])
def test_a_saved_result_is_loaded_whole(extension, heavy_top, tmp_path):
    file = tmp_path / f"top.{extension}"
    heavy_top.save(file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name], "nothing else remains"
    loaded = ld.load_result(file)
    same(loaded, heavy_top)
    assert str(loaded) == str(heavy_top)
    # Once more, into the other formats.
    for other in ("h5", "npz"):
        loaded.save(tmp_path / f"again.{other}")
        same(ld.load_result(tmp_path / f"again.{other}"), heavy_top)


def test_a_csv_file_has_neither_units_nor_a_summary(heavy_top, tmp_path):
    heavy_top.save(tmp_path / "top.csv")
    loaded = ld.load_result(tmp_path / "top.csv")
    np.testing.assert_array_equal(loaded.table, heavy_top.table)
    assert loaded.columns == heavy_top.columns
    assert set(loaded.units.values()) == {""}
    assert loaded.completed is None
    assert loaded.summary == {"start": 0, "end": 1, "sensors": heavy_top.summary["sensors"]}
    assert "position" in str(loaded) and "None" not in str(loaded) and "position" in repr(loaded)
    loaded.plot("position")
    loaded.save(tmp_path / "top.npz")
    assert ld.load_result(tmp_path / "top.npz").completed is None


def test_the_program_and_the_package_read_each_other(tmp_path):
    program = shutil.which("liedyn")
    if program is None:
        pytest.skip("the program is not on the PATH")
    for extension in ("h5", "csv"):
        file = tmp_path / f"top.{extension}"
        subprocess.run([program, "run", "heavy_top", "--end", "0.05", "--out", file], check=True, capture_output=True, timeout=60)
        here = ld.run("heavy_top", end=0.05)
        np.testing.assert_array_equal(ld.load_result(file).table, here.table)
        study = ld.converge("heavy_top", steps=[2e-3, 1e-3], end=0.05, reference=file, of="position")
        by_result = ld.converge("heavy_top", steps=[2e-3, 1e-3], end=0.05, reference=here, of="position")
        np.testing.assert_array_equal(study.errors(0, "position"), by_result.errors(0, "position"))


def test_a_failed_run_is_still_one_after_loading(tmp_path):
    model = {
        "liedyn": 1,
        "bodies": {"stone": {"type": "point", "mass": 1}},
        "forces": {"pull": {"type": "force", "on": "stone", "force": ["sqrt(0.5 - t)", 0, 0]}},
        "sensors": {"position": {"type": "position", "of": "stone"}},
        "simulation": {"end": 1, "step": 0.01},
    }
    with pytest.warns(ld.NumericalWarning):
        failed = ld.run(model)
    failed.save(tmp_path / "failed.h5")
    for copy in (ld.load_result(tmp_path / "failed.h5"), pickle.loads(pickle.dumps(failed))):
        same(copy, failed)
        assert copy.completed is False and "t = 0.5" in copy.failure
        assert "stopped early" in repr(copy) and copy.failure in str(copy)
    error = pickle.loads(pickle.dumps(ld.NumericalError("no", failed)))
    same(error.result, failed)


def test_pickles_hold_all_of_a_result(heavy_top):
    same(pickle.loads(pickle.dumps(heavy_top)), heavy_top)
    with_derivatives = ld.run("heavy_top", end=0.02, sensitivities=["spin"])
    copy = pickle.loads(pickle.dumps(with_derivatives))
    np.testing.assert_array_equal(copy.d("position", "spin"), with_derivatives.d("position", "spin"))
    assert copy.sensitivity.data == with_derivatives.sensitivity.data
    space = ld.linearize("pendulum", from_=ld.static("pendulum"))
    again = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(again.A, space.A)
    assert again.data == space.data


def test_a_pickle_of_a_stored_result_has_what_the_file_has(tmp_path):
    stored = ld.run("heavy_top", end=0.02, out=tmp_path / "top.h5", states=True)
    copy = pickle.loads(pickle.dumps(stored))
    same(copy, stored)
    np.testing.assert_array_equal(copy.states["q"], stored.states["q"])
    assert copy.state_names("v") == stored.state_names("v") and list(copy.statistics) == list(stored.statistics)
    content = pickle.dumps(stored)
    (tmp_path / "top.h5").unlink()
    same(pickle.loads(content), copy)


def test_results_of_robots_are_shown(tmp_path):
    robot = Path(__file__).resolve().parents[2] / "examples" / "robot" / "arm.urdf"
    stored = ld.run(robot, end=0.05, out=tmp_path / "arm.h5", states=True, set={"gravity[2]": -3})
    assert stored.view() is not None
    subprocess.run(["liedyn", "convert", "arm.h5", "arm.glb"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "arm.glb").stat().st_size > 1000


def test_animations_have_increasing_times_and_files_of_any_model_a_name(tmp_path):
    ball = {
        "liedyn": 1,
        "name": "R&D <arm>/left",
        "gravity": [0, 0, -9.81],
        "bodies": {"ball": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 1]}},
        "sensors": {"place": {"type": "position", "of": "ball"}, "speed": {"type": "velocity", "of": "ball"}},
        "events": {"hit": {"when": "place[2]", "direction": "falling", "set": "sensors.speed[2] = -0.8*speed[2]"}},
        "simulation": {"end": 1, "step": 1e-2},
    }
    (tmp_path / "ball.json").write_text(json.dumps(ball))
    subprocess.run(["liedyn", "run", "ball.json", "--output-events", "--gltf", "ball.glb", "--vtk", "vtk"], cwd=tmp_path, check=True, capture_output=True)
    data = (tmp_path / "ball.glb").read_bytes()
    length = int.from_bytes(data[12:16], "little")
    gltf = json.loads(data[20 : 20 + length])
    accessor = gltf["accessors"][gltf["animations"][0]["samplers"][0]["input"]]
    start = 20 + length + 8 + gltf["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
    times = np.frombuffer(data, "<f4", accessor["count"], start)
    assert len(times) > 100 and (np.diff(times) > 0).all()
    for one in gltf["animations"][0]["samplers"]:
        assert gltf["accessors"][one["output"]]["count"] % len(times) == 0
    listed = ElementTree.parse(tmp_path / "vtk" / "R_D _arm__left.pvd")
    assert all((tmp_path / "vtk" / one.get("file")).is_file() for one in listed.iter("DataSet"))


def test_a_copy_of_a_state_space_writes_the_same_file(tmp_path):
    space = ld.linearize("pendulum", from_=ld.static("pendulum"))
    space.save(tmp_path / "one.npz")
    pickle.loads(pickle.dumps(space)).save(tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


def test_files_that_are_no_results_are_refused(tmp_path, heavy_top):
    np.savez(tmp_path / "other.npz", A=np.eye(2))
    with pytest.raises(ld.InputError, match="is not the result of a run.*numpy.load"):
        ld.load_result(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("t,x\n0,1\n")
    with pytest.raises(ld.InputError, match="text.npz"):
        ld.load_result(tmp_path / "text.npz")
    heavy_top.save(tmp_path / "top.npz")
    content = dict(np.load(tmp_path / "top.npz"))
    for change, words in (
        ({"sensors/energy": content["sensors/energy"][:5]}, "is not the result of a run"),
        ({"summary": np.array("{}")}, "has no summary of a run"),
        ({"time": content["time"][::-1]}, "expected a time not before"),
        ({"units": content["units"][:2]}, "expected .* units"),
        ({"sensors/energy": np.array(["x"] * 1001)}, "is not the result of a run"),
    ):
        np.savez(tmp_path / "broken.npz", **(content | change))
        with pytest.raises(ld.InputError, match=words):
            ld.load_result(tmp_path / "broken.npz")
    whole = (tmp_path / "top.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ld.InputError, match="cut.npz"):
        ld.load_result(tmp_path / "cut.npz")
    heavy_top.save(tmp_path / "top.h5")
    whole = (tmp_path / "top.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ld.InputError, match="cut.h5"):
        ld.load_result(tmp_path / "cut.h5")


class Frame:
    """As much of pandas.DataFrame as the package uses."""

    def __init__(self, data, index=None, columns=None):
        self.data, self.columns, self.attrs = data, columns, {}
        self.index = types.SimpleNamespace(values=index, name=None)


def test_a_data_frame_has_the_columns_of_the_table(heavy_top, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=Frame))
    frame = heavy_top.to_dataframe()
    assert frame.columns == heavy_top.columns[1:] and frame.index.name == "t"
    np.testing.assert_array_equal(frame.data, heavy_top.table[:, 1:])
    np.testing.assert_array_equal(frame.index.values, heavy_top.time)
    assert frame.data.flags.writeable and frame.attrs["units"]["velocity"] == "m/s"


def test_pandas_itself_takes_it(heavy_top):
    pandas = pytest.importorskip("pandas")
    frame = heavy_top.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["position[2]"].iloc[-1] == heavy_top["position[2]"][-1]
    text = io.StringIO()
    frame.to_csv(text)
    assert text.getvalue().startswith("t,position[0]")


def test_without_pandas_the_error_says_what_to_install(heavy_top, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas, which is not installed: pip install pandas"):
        heavy_top.to_dataframe()

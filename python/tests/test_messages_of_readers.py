"""Messages about files that cannot be read: models with tables and meshes, studies, results, scenes, checkpoints and stores of studies.

Each case is one wrong file of a user, and the whole text that the program prints about it: the place, what is wrong, and the hint.
"""

import base64
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import time
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest

import liedyn as ld

# Each key stands on a line of its own in the file: "bodies" on line 3, "joints" on line 4, what is added on line 7.
MODEL = {
    "liedyn": 1,
    "bodies": {"arm": {"type": "rigid", "mass": 2, "inertia": [0.01, 0.2, 0.2], "position": [0.5, 0, 0]}},
    "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
    "sensors": {"angle": {"type": "joint_angle", "of": "hinge"}},
    "simulation": {"end": 0.01, "step": 1e-3, "formulation": "r3so3"},
}
# "parameters" on line 4, "outputs" on line 5, what is added on line 6.
SWEEP = {"liedyn_study": 1, "model": "model.json", "parameters": {"mass": {"parameter": "bodies.arm.mass", "values": [1, 2]}}, "outputs": {"last": "angle"}}
# "variables" on line 3, what is added on line 4.
SEARCH = {"model": "model.json", "variables": {"mass": {"parameter": "bodies.arm.mass", "lower": 1, "upper": 3}}}


def lines(content: dict) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()) + "\n}\n"


def write(folder: Path, files: dict) -> None:
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            (folder / name).write_text(lines(content) if isinstance(content, dict) else content, encoding="utf-8")


def liedyn(folder: Path, command: str, code: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(["liedyn", *command.split()], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def refused(folder: Path, command: str, message: str) -> None:
    """The program prints this error, and nothing else."""
    done = liedyn(folder, command, code=2)
    assert done.stderr == f"error: {message}\n" and done.stdout == ""


def named(table: list) -> dict:
    """Arguments of parametrize for a table whose rows begin with a title."""
    assert len({row[0] for row in table}) == len(table)
    return {"argvalues": [row[1:] for row in table], "ids": [row[0].replace(" ", "_") for row in table]}


# ---- models: tables, functions of time, meshes


def tables(table: dict) -> dict:
    return MODEL | {"tables": table}


def driven(motion, **more) -> dict:
    drive = {"type": "prescribed_motion", "joint": "hinge", "motion": motion}
    return MODEL | {"joints": MODEL["joints"] | {"drive": drive}} | more


QUOTE = "hint: a string begins and ends on one line, with quotation marks"
SURFACE = ",0,1\n0,0,1\n1,2,3\n"  # a table over two variables
POINT_TO_POINT = {"waypoints": [0, 1], "speed": 1, "acceleration": 1}
MODELS = [
    ("bracket left open", '{ "liedyn": 1,\n  "bodies": {}\n', {}, "model.json:2: not valid JSON: object - unexpected end of input; expected '}' (hint: is a closing bracket missing?)"),
    ("quotation mark left out in a line", '{ "liedyn": 1,\n  "bodies: {},\n  "joints": {} }\n', {}, f"model.json:2: not valid JSON: missing closing quote at the end of the line ({QUOTE})"),
    ("quotation mark left out at the end", '{ "liedyn": 1,\n  "name": "arm }', {}, f"model.json:2: not valid JSON, column 16: value - invalid string: missing closing quote; last read: '\"arm }}' ({QUOTE})"),
    ("empty file", " \n", {}, "model.json: is empty, expected JSON"),
    ("spline over two variables", tables({"map": {"file": "map.csv", "interpolation": "spline"}}), {"map.csv": SURFACE}, "model.json:7: tables.map: a table over two variables has linear interpolation only"),
    ("table of nothing", tables({"map": {}}), {}, 'model.json:7: tables.map: expected "points", "file", "waypoints" or "x", "y" and "values"'),
    ("table of x and y", tables({"map": {"x": [0, 1], "y": [0, 1]}}), {}, 'model.json:7: tables.map: expected "points", "file", "waypoints" or "x", "y" and "values" (hint: a curve is written point by point: "points": [[x1, y1], [x2, y2]])'),
    ("coordinate of one coordinate", driven("move.elbow(t)", tables={"move": POINT_TO_POINT}), {}, "model.json:4: joints.drive.motion: the trajectory 'move' has no 'move.elbow' (hint: write move(t) or move.end)"),
    ("motion over two variables", driven({"table": "map.csv", "interpolation": "linear"}), {"map.csv": SURFACE}, "model.json:4: joints.drive.motion: expected a table of two columns, time and value, got one over two variables"),
    ("motion over two variables as a spline", driven({"table": "map.csv"}), {"map.csv": SURFACE}, "model.json:4: joints.drive.motion: expected a table of two columns, time and value, got one over two variables"),
    ("motion with a misspelt interpolation", driven({"table": [[0, 0], [1, 1]], "interpolation": "splin"}), {}, "model.json:4: joints.drive.motion: interpolation: expected one of linear, pchip, spline, got 'splin' (hint: did you mean 'spline'?)"),
]


@pytest.mark.parametrize("model, files, message", **named(MODELS))
def test_a_model_that_cannot_be_read(model, files, message, tmp_path):
    write(tmp_path, files | {"model.json": model})
    refused(tmp_path, "run model.json", message)


def test_a_trajectory_of_two_coordinates_is_no_motion(tmp_path):
    two = POINT_TO_POINT | {"waypoints": {"hip": [0, 1], "knee": [0, 2]}}
    write(tmp_path, {"model.json": driven({"trajectory": two})})
    said = liedyn(tmp_path, "run model.json", code=2).stderr
    assert said == (
        "error: model.json:4: joints.drive.motion: trajectory: expected waypoints of one coordinate, [first, second, ...]"
        " (hint: give one of several coordinates a name among the tables, and call NAME.COORDINATE(t))\n"
    )


def test_a_motion_from_another_folder(tmp_path):
    write(tmp_path, {"model.json": driven({"table": "../map.csv"})})
    outside = f"the file is outside of the folder of the model, '{tmp_path}'"
    hint = "move it into that folder, or allow all files: --allow-outside, or LIEDYN_ALLOW_OUTSIDE=1"
    refused(tmp_path, "run model.json", f"model.json:4: joints.drive.motion: '../map.csv': {outside} (hint: {hint})")


def gltf(**more) -> str:
    """A triangle in a buffer of 36 bytes; `more` replaces parts of it."""
    corners = base64.b64encode(struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)).decode()
    return lines(
        {
            "asset": {"version": "2.0"},
            "buffers": [{"uri": "data:application/octet-stream;base64," + corners}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
        }
        | more
    )


def accessor(**more) -> str:
    return gltf(accessors=[{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"} | more])


MESHES = [
    ("facet of four vertices", "part.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n", "part.stl:7: expected a facet of three vertices, got a fourth"),
    ("vertex before the facets", "part.stl", "solid\nvertex 0 0 0\n", "part.stl:2: expected facet, got vertex"),
    ("facet of two vertices", "part.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\n", "part.stl:7: expected a facet of three vertices, got 2"),
    ("word of another format", "part.stl", "solid\nface 1 2 3\n", "part.stl:2: expected facet, vertex or endfacet, got 'face'"),
    ("glTF 1", "part.glb", b"glTF" + struct.pack("<II", 1, 12), "part.glb: expected glTF of version 2"),
    ("glTF of a head", "part.glb", b"glTF" + struct.pack("<II", 2, 12), "part.glb: has no JSON chunk"),
    ("node that is a number", "part.gltf", gltf(nodes=[7]), "part.gltf:7: nodes: expected objects"),
    ("primitive that is a number", "part.gltf", gltf(meshes=[{"primitives": [7]}]), "part.gltf:6: primitives: expected objects"),
    ("node that is absent", "part.gltf", gltf(scenes=[{"nodes": [5]}]), "part.gltf:8: nodes: expected an index below 1, got 5"),
    ("data without base64", "part.gltf", gltf(buffers=[{"uri": "data:application/octet-stream,abc"}]), "part.gltf:3: uri: expected data of the encoding base64"),
    ("data that is no base64", "part.gltf", gltf(buffers=[{"uri": "data:application/octet-stream;base64,AB#D"}]), "part.gltf:3: uri: is not base64"),
    ("sparse accessor", "part.gltf", accessor(sparse={"count": 1}), "part.gltf:5: sparse accessors are not supported"),
    ("bytes with a sign", "part.gltf", accessor(componentType=5120), "part.gltf:5: componentType: 5120 is not supported"),
    ("type of components that is no whole number", "part.gltf", accessor(componentType=5126.5), "part.gltf:5: componentType: 5126.5 is not supported"),
    ("no type of components", "part.gltf", accessor().replace('"componentType": 5126, ', ""), "part.gltf:5: 'componentType' is missing"),
    ("count that is no whole number", "part.gltf", accessor(count=2.5), "part.gltf:5: count: expected a whole number below 1073741824, got 2.5"),
    ("no elements beyond their view", "part.gltf", accessor(count=0, byteOffset=1000), "part.gltf:5: 0 elements from byte 1000 exceed the 36 bytes of their view"),
    ("huge count", "part.gltf", accessor(count=60_000_001), "part.gltf:5: count: 60000001 is too many"),
    ("view beyond its buffer", "part.gltf", gltf(bufferViews=[{"buffer": 0, "byteOffset": 4, "byteLength": 36}]), "part.gltf:4: the view ends at byte 40, but its buffer has 36"),
    ("rotation of zero", "part.gltf", gltf(nodes=[{"mesh": 0, "rotation": [0, 0, 0, 0]}]), "part.gltf:7: rotation: expected a quaternion, got zero"),
]


@pytest.mark.parametrize("name, content, message", **named(MESHES))
def test_a_mesh_that_cannot_be_read(name, content, message, tmp_path):
    part = {"type": "rigid", "shape": {"type": "mesh", "file": name, "density": 1000}}
    write(tmp_path, {name: content, "model.json": {"liedyn": 1, "bodies": {"part": part}, "simulation": {"end": 0.01, "step": 1e-3}}})
    refused(tmp_path, "run model.json", f"model.json:3: bodies.part.shape.file: {message}")


def test_the_mesh_that_is_changed_is_good(tmp_path):
    part = MODEL["bodies"]["arm"] | {"shape": {"type": "mesh", "file": "part.gltf"}}
    write(tmp_path, {"part.gltf": gltf(), "model.json": MODEL | {"bodies": {"arm": part}}})
    liedyn(tmp_path, "run model.json")


def test_a_file_that_cannot_be_opened(tmp_path):
    """Also root may have too many files open."""
    write(tmp_path, {"model.json": MODEL})
    file = str(tmp_path / "model.json")
    ld.Model(file)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        ld.Model(file)
        found = ""
    except ld.InputError as error:
        found = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == f"{file}: cannot be opened: Too many open files"


# ---- studies


def varied(**mass) -> dict:
    return {"parameters": {"mass": {"parameter": "bodies.arm.mass"} | mass}}


def sampled(method: str, **more) -> dict:
    return varied(distribution="uniform", lower=1, upper=2) | {"sampling": {"method": method, "cases": 4} | more}


MASS = "study.json:4: parameters.mass"
MANY = {f"p{i}": {"distribution": "uniform", "lower": 1, "upper": 2} for i in range(65)}
SWEEPS = [
    ("unknown spacing", varied(lower=1, upper=2, count=3, spacing="lin"), f"{MASS}.spacing: expected linear or log, got 'lin'"),
    ("count without bounds", varied(lower=1, count=3), f"{MASS}: expected 'lower' and 'upper' together with 'count'"),
    ("logarithm of zero", varied(lower=0, upper=2, count=3, spacing="log"), f"{MASS}: expected bounds above 0, since their spacing is logarithmic, got 0 and 2"),
    ("bounds alone", varied(lower=1, upper=2), f"{MASS}: expected one of: values; lower, upper and count; distribution; expression"),
    ("uniform without its lower bound", varied(distribution="uniform", upper=0.5) | {"sampling": {"method": "random", "cases": 4}}, f"{MASS}.lower: is missing: a uniform distribution has it"),
    ("normal without deviation", varied(distribution="normal", mean=2) | {"sampling": {"method": "random", "cases": 4}}, f"{MASS}.deviation: is missing: a normal distribution has it"),
    ("grid of distributions", varied(distribution="uniform", lower=1, upper=2) | {"sampling": {"method": "grid"}}, f"{MASS}: expected values, or lower, upper and count, since the sampling is a grid"),
    ("random values", {"sampling": {"method": "random", "cases": 4}}, f'{MASS}: expected a distribution, since the sampling is random (hint: values with equal probability: "distribution": "discrete")'),
    ("many dimensions", {"parameters": MANY, "sampling": {"method": "sobol", "cases": 4}}, "study.json:6: sampling.method: sobol has at most 64 dimensions, got 65 parameters (hint: use latin-hypercube, or random)"),
    ("scramble as a word", sampled("sobol", scramble="yes"), "study.json:6: sampling.scramble: expected true or false, got 'yes'"),
    ("scramble as a number", sampled("halton", scramble=1), "study.json:6: sampling.scramble: expected true or false, got 1"),
    ("many cases", {"parameters": {name: {"lower": 0, "upper": 1, "count": 40000} for name in "ab"}, "sampling": {"method": "grid"}}, "study.json:6: sampling: expected at most 1e+09 cases, got 1600000000"),
    ("many cases of two formulations", varied(distribution="uniform", lower=1, upper=2) | {"sampling": {"method": "random", "cases": 1_000_000_000}, "formulations": ["r3so3", "se3"]}, "study.json:6: sampling: expected at most 1e+09 cases, got 2000000000 (hint: each model, formulation and integrator has all points of the sampling)"),
    ("spectrum without frequencies", {"outputs": {"last": {"spectrum": "angle"}}}, "study.json:5: outputs.last: expected 'frequencies', or 'lower', 'upper' and 'count' [Hz]"),
    ("format of the future", {"liedyn_study": 2}, "study.json:2: liedyn_study: expected 1, the version of this format, got 2"),
    ("unknown treatment of failures", {"failures": "ignore"}, "study.json:6: failures: expected record or stop, got 'ignore'"),
    ("case beyond the last to be kept", {"keep": [0, 2]}, "study.json:6: keep: expected cases from 0 to 1, got 2"),
]


@pytest.mark.parametrize("changes, message", **named(SWEEPS))
def test_a_study_of_many_runs_that_cannot_be_read(changes, message, tmp_path):
    write(tmp_path, {"model.json": MODEL, "study.json": SWEEP | changes})
    refused(tmp_path, "sweep study.json", message)


SEARCHES = [
    ("output that is a number", {"outputs": {"last": 3}}, 'study.json:4: outputs.last: expected an output like "tip[2]@max", got 3'),
    ("constraint with three bounds", {"constraints": {"angle": {"expression": "last", "equals": 1, "at_most": 2}}}, "study.json:4: constraints.angle: expected either equals, or at_least and at_most"),
    ("column for a number", {"data": [{"file": "measured.csv", "columns": {"a": 1}}]}, "study.json:4: data[0].columns.a: expected a component of a sensor, got 1"),
]


@pytest.mark.parametrize("changes, message", **named(SEARCHES))
def test_a_study_of_an_optimum_that_cannot_be_read(changes, message, tmp_path):
    write(tmp_path, {"model.json": MODEL, "study.json": SEARCH | changes, "measured.csv": "t,a\n0,0\n0.01,0\n"})
    refused(tmp_path, "optimize study.json", message)


def test_a_template_of_another_page(tmp_path, monkeypatch):
    write(tmp_path, {"model.json": MODEL, "study.json": SWEEP, "viewer.html": "<!--liedyn-scene-->", "study.html": "<!--liedyn-scene-->"})
    monkeypatch.setenv("LIEDYN_VIEWER", "viewer.html")
    refused(tmp_path, "sweep study.json --html page.html", "study.html: is not a template of a study: expected '<!--liedyn-study-->' in it")
    assert not (tmp_path / "page.html").exists()


# ---- stores of studies

MAGIC = b"liedyn study journal 1\n"


def record(content: bytes) -> bytes:
    return struct.pack("<II", len(content), zlib.crc32(content)) + content


def case(index: int) -> bytes:
    """A completed case with one parameter and one output."""
    return struct.pack("<QIIII", index, 1, 1, 1, 0) + bytes(8 * (1 + 1 + 6))


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with a study of two cases and its store; and what the store says about the study."""
    folder = tmp_path_factory.mktemp("swept")
    write(folder, {"model.json": MODEL, "study.json": SWEEP})
    liedyn(folder, "sweep study.json --threads 1")
    with h5py.File(folder / "study.h5") as store:
        layout = store.attrs["layout"]
    return folder, record(layout if isinstance(layout, bytes) else layout.encode())


ANOTHER = "choose another store with --out"
# What is beside the study, with LAYOUT for the first record of its journal.
STORES = [
    ("short record", {"study.h5.journal": [MAGIC, "LAYOUT", record(case(0)[:-8])]}, "", "study.h5.journal: a record of a case is too short (hint: it is damaged, or was written by another program: move it away, and run the study again)"),
    ("case that the study has not", {"study.h5.journal": [MAGIC, "LAYOUT", record(case(7))]}, "", "study.h5.journal: has a case 7, but the study has 2"),
    ("layout that is none", {"study.h5.journal": [MAGIC, record(b"{}")]}, "", f"study.h5.journal: is not the store of a study: its layout cannot be read (hint: {ANOTHER})"),
    ("journal of somebody", {"study.h5.journal": [b"Monday: rain"]}, "", f"study.h5.journal: is not the journal of a study (hint: move it away, or {ANOTHER})"),
    ("store that is a text", {"study.h5": [b"Monday: rain"]}, "", "study.h5: cannot be read as the store of a study (hint: expected an HDF5 file that liedyn sweep wrote)"),
    ("absent folder", {}, " --out no/study.h5", "no/study.h5: cannot be written: there is no folder 'no'"),
]


@pytest.mark.parametrize("files, options, message", **named(STORES))
def test_a_store_that_cannot_be_used(files, options, message, swept, tmp_path):
    beside = {name: b"".join(swept[1] if part == "LAYOUT" else part for part in parts) for name, parts in files.items()}
    write(tmp_path, {"model.json": MODEL, "study.json": SWEEP} | beside)
    refused(tmp_path, f"sweep study.json{options}", message)
    for name, content in beside.items():
        assert (tmp_path / name).read_bytes() == content


def test_a_store_whose_new_file_cannot_be_written(tmp_path):
    write(tmp_path, {"model.json": MODEL, "study.json": SWEEP})
    (tmp_path / "study.h5.new").mkdir()
    hint = "is the disk full, or the directory missing? All cases are safe in the journal beside it"
    refused(tmp_path, "sweep study.json --threads 1", f"study.h5.new: cannot be written as HDF5 (hint: {hint})")
    (tmp_path / "study.h5.new").rmdir()
    assert json.loads(liedyn(tmp_path, "sweep study.json --json").stdout)["run"] == 0  # the journal has them


def test_a_store_with_a_status_that_is_unknown(swept, tmp_path):
    shutil.copytree(swept[0], tmp_path, dirs_exist_ok=True)
    with h5py.File(tmp_path / "study.h5", "r+") as store:
        store["status"][1] = 9
    for command in ("sweep study.json", "sweep study.json --status", "info study.h5"):
        refused(tmp_path, command, "study.h5: case 1 has an unknown status")


# ---- results


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of ten steps with states."""
    folder = tmp_path_factory.mktemp("whole")
    ld.run(MODEL, out=folder / "run.h5", states=True)
    return folder / "run.h5"


def replaced(file, path, content):
    del file[path]
    file[path] = content


def shortened(file, path):
    file[path].resize(len(file[path]) - 1, axis=0)


def with_components(file, count):
    (channel,) = json.loads(file["sensors"].attrs["channels"])
    file["sensors"].attrs["channels"] = json.dumps([channel | {"components": count}])


WROTE = "(hint: expected an HDF5 file that liedyn run --out FILE.h5 wrote)"
INFO = "info run.h5"
RESULTS = [
    ("summary removed", lambda file: file.pop("summary"), INFO, f"has no string '/summary' {WROTE}"),
    ("names of events removed", lambda file: file["events"].attrs.pop("names"), INFO, f"has no string attribute 'names' of '/events' {WROTE}"),
    ("sensor without components", lambda file: with_components(file, 0), INFO, "is damaged: expected components of 'angle', got 0"),
    ("sensor of two components", lambda file: with_components(file, 2), INFO, "expected 2 columns of 'angle' in '/sensors/angle'"),
    ("sensor without its last row", lambda file: shortened(file, "sensors/angle"), INFO, "expected 11 rows of '/sensors/angle', got 10"),
    ("coordinates of another model", lambda file: replaced(file, "states/q", np.zeros((11, 3))), "convert run.h5 scene.json", "expected 7 numbers of '/states/q', got 3 (hint: the model in the file is not the one that was simulated)"),
    ("velocities without their last row", lambda file: shortened(file, "states/v"), "convert run.h5 scene.json", "is damaged: states are missing"),
]


@pytest.mark.parametrize("change, command, message", **named(RESULTS))
def test_a_result_that_was_changed(change, command, message, whole, tmp_path):
    shutil.copy(whole, tmp_path)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        change(file)
    refused(tmp_path, command, f"run.h5: {message}")


def test_tables_without_their_last_row(whole, tmp_path):
    shutil.copy(whole, tmp_path)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        shortened(file, "statistics/energy")
        shortened(file, "states/lambda")
    result = ld.load_result(tmp_path / "run.h5")
    for tables, name, path in ((result.statistics, "energy", "/statistics/energy"), (result.states, "lambda", "/states/lambda")):
        with pytest.raises(ld.InputError) as caught:
            tables[name]
        assert str(caught.value) == f"{tmp_path / 'run.h5'}: expected 11 rows of '{path}', got 10"


def test_a_result_without_states(tmp_path):
    ld.run(MODEL, out=tmp_path / "run.h5")
    refused(tmp_path, "convert run.h5 run.glb", "run.h5: contains the values of sensors, but no states (hint: liedyn run MODEL --out FILE.h5 --states records them)")


def test_an_archive_with_a_sensor_of_no_components(tmp_path):
    file = tmp_path / "run.npz"
    np.savez(file, **{"time": [0.0, 1.0], "sensors/angle": np.zeros((2, 0)), "units": ["rad"], "summary": ""})
    with pytest.raises(ld.InputError) as caught:
        ld.load_result(file)
    assert str(caught.value) == f"{file}: 'angle': expected at least one component, got 0"


def test_a_run_that_was_killed(tmp_path):
    write(tmp_path, {"model.json": MODEL})
    run = subprocess.Popen(["liedyn", "run", "model.json", "--end", "1e6", "--out", "run.h5"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while not (tmp_path / "run.h5").exists() and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        run.kill()
        run.wait()
    about = json.loads(liedyn(tmp_path, "info run.h5 --json").stdout)
    assert (about["status"], about["failure"]) == ("killed", "the program that wrote the result was killed, or the machine was stopped")
    assert ld.load_result(tmp_path / "run.h5").failure == about["failure"]


# ---- scenes


@pytest.fixture(scope="module")
def scene():
    return ld.run(MODEL, scene=True).view().scene


ARRAYS = [
    ("unknown type", {"type": "f16"}, "expected the type f32, f64, i8, i16 or u32, got 'f16'"),
    ("shape of more numbers", {"shape": [1_000_000]}, "fewer data than its shape requires"),
    ("shape of one number more", {"shape": [12]}, "the data are damaged"),
    ("data of another text", {"data": "Monday, rain"}, "the data are damaged"),
    ("two scales for eleven rows", {"scale": [1, 2]}, "expected one scale, or one for each first index"),
    ("scales that are no numbers", {"scale": ["a"] * 11}, "expected one scale, or one for each first index"),
    ("coding that is a number", {"coding": 3}, "expected the coding delta-shuffle, got 3"),
]


@pytest.mark.parametrize("changes, message", **named(ARRAYS))
def test_an_array_of_a_scene_that_cannot_be_read(changes, message, scene, tmp_path):
    assert scene["times"]["shape"] == [11]
    write(tmp_path, {"scene.json": scene, "changed.json": scene | {"times": scene["times"] | changes}})
    liedyn(tmp_path, "convert scene.json scene.glb")
    refused(tmp_path, "convert changed.json changed.glb", f"changed.json: times: {message}")


ABSENT = object()
NO_TIMES = {"type": "f64", "shape": [0], "data": ""}
# What stands where in the scene, and the message about it.
SCENES = [
    ("times", NO_TIMES, "times: expected at least one time"),
    ("title", 7, "title: expected a string, got 7"),
    ("kind", None, "kind: expected a string, got null"),
    ("kind", "modes", "mode_list: expected a list, got nothing"),
    ("gravity", ABSENT, "gravity: expected 3 numbers, got nothing"),
    ("planar", 1, "planar: expected true or false, got 1"),
    ("frames", ABSENT, "frames: expected a list, got nothing"),
    ("frames", ["a", "b"], "positions: expected the shape [11, 2, 3], got [11, 1, 3]"),
    ("positions", ABSENT, 'positions: expected an array of numbers, {"type", "shape", "data"}'),
    ("bodies", 7, "bodies: expected a list, got 7"),
    ("bodies.1", "arm", 'bodies[1]: expected an object, got "arm"'),
    ("bodies.1.kind", "rigit", 'bodies[1].kind: expected ground, rigid, beam or flexible, got "rigit"'),
    ("bodies.1.frame", 1, "bodies[1].frame: expected a whole number from -1 to 0, got 1"),
    ("bodies.1.shapes", ABSENT, "bodies[1].shapes: expected a list, got nothing"),
    ("bodies.1.shapes.0", {"type": "box", "size": 3}, "bodies[1].shapes[0].size: expected 3 numbers, got 3"),
    ("bodies.1.shapes.0", {"type": "prism"}, 'bodies[1].shapes[0].type: expected box, sphere, cylinder, capsule, tube, cone, ellipsoid or mesh, got "prism"'),
    ("bodies.1.shapes.0", {"type": "sphere", "radius": 1, "color": "#00gg00"}, 'bodies[1].shapes[0].color: expected "#rrggbb", got "#00gg00"'),
    ("channels", 7, "channels: expected a list, got 7"),
    ("warnings", [7], "warnings[0]: expected a string, got 7"),
]


@pytest.mark.parametrize("path, value, message", [pytest.param(*row, id=f"{row[0]}_{i}") for i, row in enumerate(SCENES)])
def test_a_scene_that_cannot_be_read(path, value, message, scene, tmp_path):
    changed = json.loads(json.dumps(scene))
    *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = changed
    for key in above:
        place = place[key]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    write(tmp_path, {"changed.json": changed})
    refused(tmp_path, "convert changed.json changed.glb", f"changed.json: {message}")


def test_every_reader_of_scenes_refuses_what_is_none(scene, tmp_path):
    write(tmp_path, {"scene.json": scene, "empty.json": {"format": "liedyn scene 1"}, "model.json": MODEL, "viewer.html": "<!--liedyn-scene-->"})
    message = "empty.json: title: expected a string, got nothing"
    for words in ("info", "view --no-open", "view scene.json --html page.html --compare", "run model.json --html page.html --compare"):
        done = subprocess.run(["liedyn", *words.split(), "empty.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=os.environ | {"LIEDYN_VIEWER": "viewer.html"})
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {message}\n")
    with pytest.raises(ld.InputError, match=re.escape(message)):
        ld.Model(MODEL).view().compared_with(tmp_path / "empty.json")


# ---- checkpoints


CHECKPOINTS = [
    ("absent", {}, "--resume last.state", "last.state: cannot be read: No such file or directory"),
    ("folder to resume from", {}, "--resume .", ".: cannot be read: Is a directory"),
    ("folder to save to", {}, "--save-state .", ".: cannot be written: it is a directory"),
    ("absent folder to save to", {}, "--save-state no/x", "no/x: cannot be written: there is no folder 'no'"),
    ("folder to keep it in", {}, "--checkpoint .", ".: cannot be written: it is a directory"),
    ("absent folder to keep it in", {}, "--checkpoint no/x", "no/x: cannot be written: there is no folder 'no'"),
    ("another version", {"last.state": b"liedyn checkpoint file 2\n" + bytes(40)}, "--resume last.state", "last.state: another version of Liedyn wrote this checkpoint (hint: start the run again)"),
]


def test_a_resumed_run_that_fails_at_once_says_why(tmp_path):
    model = MODEL | {"forces": {"motor": {"type": "joint_effort", "joint": "hinge", "effort": "sqrt(0.005 - t)"}}}
    write(tmp_path, {"model.json": model})
    first = liedyn(tmp_path, "run model.json --checkpoint run.state --every 1", code=3)
    again = liedyn(tmp_path, "run model.json --resume run.state --scene scene.json", code=3)
    assert "the residual is not finite" in again.stderr and again.stderr == first.stderr
    assert ld.view.unpacked(json.loads((tmp_path / "scene.json").read_text())["times"]).tolist() == [0.005]


@pytest.mark.parametrize("files, options, message", **named(CHECKPOINTS))
def test_a_checkpoint_that_cannot_be_used(files, options, message, tmp_path):
    write(tmp_path, files | {"model.json": MODEL})
    refused(tmp_path, f"run model.json {options}", message)


def test_a_damaged_checkpoint(tmp_path):
    write(tmp_path, {"model.json": MODEL})
    liedyn(tmp_path, "run model.json --checkpoint run.state --every 4")
    content = (tmp_path / "run.state").read_bytes()
    assert content.startswith(b"liedyn checkpoint file 1\n")
    for damaged in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), content[:27]):
        write(tmp_path, {"run.state": damaged})
        refused(tmp_path, "run model.json --resume run.state", "run.state: this checkpoint is damaged: its checksum does not match (hint: start the run again)")

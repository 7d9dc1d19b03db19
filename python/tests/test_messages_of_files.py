"""Messages about the parts of model files, about other files, options and surroundings, each in full: where, what was expected, what was found, what to do.

Every case is the smallest input of a user that leads to its message. In the tables of models the text stands in line 2 of model.json.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

LIEDYN = shutil.which("liedyn")


def liedyn(folder: Path, words: str, program: str | Path | None = LIEDYN, **environment: str) -> subprocess.CompletedProcess:
    command, env = [str(program), *shlex.split(words)], os.environ | environment
    return subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def refused(done: subprocess.CompletedProcess, message: str) -> None:
    assert done.stderr == f"error: {message}\n"
    assert done.returncode == 2 and done.stdout == ""


def block(shape: str, more: str = "") -> str:
    return f'{more}"bodies": {{ "block": {{ "type": "rigid", "shape": {shape} }} }}'


def box(more: str) -> str:
    return f'{{ "type": "box", "size": [1, 1, 1], "mass": 1, {more} }}'


MODELS = {
    # repetitions
    "arguments in a list": ('"arguments": [10]', "arguments: expected numbers by name, got an array of 1"),
    "argument too small": ('"arguments": { "links": { "value": 0, "least": 1 } }', "arguments.links: expected at least 1, got 0"),
    "argument too large": ('"arguments": { "links": { "value": 12, "most": 10 } }', "arguments.links: expected at most 10, got 12"),
    "for without names": (
        '"repeat": [{ "for": ["i", 3] }]',
        'repeat[0].for: expected indices with their ranges, {"i": [1, 10]}, got an array of 2',
    ),
    "let without names": ('"repeat": [{ "let": "2*i" }]', "repeat[0].let: expected values by name, got '2*i'"),
    "section in a list": ('"repeat": [{ "bodies": [1, 2] }]', "repeat[0].bodies: expected entries by name, got an array of 2"),
    # numbers and rotations of shapes
    "two edges": (block('{ "type": "box", "size": [1, 2], "mass": 1 }'), "bodies.block.shape.size: expected 3 numbers, got an array of 2"),
    "corner in space": (
        block('{ "type": "extrusion", "polygon": [[0, 0], [1, 0], [1, 1, 0]], "length": 1, "mass": 1 }'),
        "bodies.block.shape.polygon[2]: expected 2 numbers, got an array of 3",
    ),
    "quaternion of three": (
        block(box('"rotation": { "quaternion": [1, 0, 0] }')),
        "bodies.block.shape.rotation.quaternion: expected 4 numbers, got an array of 3",
    ),
    "rotation vector of two expressions": (
        block(box('"rotation": { "rotation_vector": ["a", "a", 0] }'), '"parameters": { "a": 1 }, '),
        "bodies.block.shape.rotation: only one component may be an expression, and the others must be zero"
        ' (hint: give {"axis": [...], "angle": "..."})',
    ),
    "quaternion of zeros": (
        block(box('"rotation": { "quaternion": [0, 0, 0, 0] }')),
        "bodies.block.shape.rotation: quaternion: expected a rotation, got zero",
    ),
    "matrix of two rows": (
        block(box('"rotation": { "matrix": [[1, 0, 0], [0, 1, 0]] }')),
        "bodies.block.shape.rotation.matrix: expected 3 rows of 3 numbers, got an array of 2",
    ),
    # shapes
    "box without a size": (block('{ "type": "box", "mass": 1 }'), "bodies.block.shape.size: missing: Lengths of the edges along x, y and z."),
    "polygon of two corners": (
        block('{ "type": "extrusion", "polygon": [[0, 0], [1, 0]], "length": 1, "mass": 1 }'),
        "bodies.block.shape.polygon: expected from 3 to 1000 corners, [[x, y], ...], got an array of 2",
    ),
    "place from a table": (
        block(box('"at": ["height", 0, 0]'), '"tables": { "road": { "points": [[0, 0], [1, 1]] } }, "parameters": { "height": "road(0.5)" }, '),
        "bodies.block.shape: its position is not finite (hint: parameters of shapes cannot depend on tables)",
    ),
    "place that is infinite": (block(box('"at": ["1/0", 0, 0]')), "bodies.block.shape: its position is not finite"),
    "axis of nothing": (
        block(box('"rotation": { "axis": [0, 0, "0/0"], "angle": 1 }')),
        "bodies.block.shape.rotation: axis: expected a direction, got a length that is not a number",
    ),
    # sub-models
    "sub-models in a list": ('"models": []', "models: expected sub-models by name, got an array of 0"),
    "number as a sub-model": ('"models": { "left": { "model": 5 } }', "models.left.model: expected a model, got 5"),
    "file that contains itself": (
        '"models": { "left": { "file": "model.json" } }',
        "models.left.file: 'model.json' contains itself (hint: sub-models cannot contain themselves)",
    ),
    "planar body out of its plane": (
        '"models": { "left": { "at": [0, 0, 1], "model": { "bodies": { "slab": { "type": "planar", "mass": 1, "inertia": 1 } } } } }',
        "bodies.left.slab.position: the sub-model 'left' is moved, but elements in the plane can only be moved in the plane"
        ' (hint: give "at": [x, y, 0] and a rotation about [0, 0, 1])',
    ),
    "rotation that cannot be turned": (
        '"models": { "left": { "rotation": { "cardan": [0, 0, 1] }, "model": { "parameters": { "a": 1 }, "bodies": { "rod": '
        '{ "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "orientation": { "rotation_vector": ["a", "a", 0] } } } } } }',
        "bodies.left.rod.orientation: the sub-model 'left' is moved, but this rotation cannot be rotated:"
        ' only one component may be an expression, and the others must be zero (hint: give {"axis": [...], "angle": "..."})',
    ),
    "quaternion of zeros that would be turned": (
        '"models": { "left": { "rotation": { "cardan": [0, 0, 1] }, "model": { "bodies": { "rod": '
        '{ "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "orientation": { "quaternion": [0, 0, 0, 0] } } } } } }',
        "bodies.left.rod.orientation: the sub-model 'left' is moved, but this rotation cannot be rotated:"
        " quaternion: expected a rotation, got zero",
    ),
    # sections and entries
    "version as a text": ('"liedyn": "1"', "liedyn: expected the version 1, got '1' (hint: this program reads no other version)"),
    "name as a number": ('"name": 5', "name: expected a string, got 5"),
    "bodies in a list": (
        '"bodies": [1, 2]',
        'bodies: expected an object, got an array of 2 (hint: each entry has its name as key: {"NAME": {...}, ...})',
    ),
    "body as a number": ('"bodies": { "stone": 5 }', "bodies.stone: expected an object, got 5"),
    "type as a number": ('"bodies": { "stone": { "type": 5 } }', "bodies.stone.type: expected a string, got 5"),
    "parameter as a list": ('"parameters": { "a": [1] }', "parameters.a: expected a number or an expression, got an array of 1"),
    "event as a number": ('"events": { "halt": 5 }', "events.halt: expected an object, got 5"),
    "type of an event": ('"events": { "halt": { "type": "stop" } }', "events.halt.type: expected event or sample, got 'stop'"),
    "step as a truth": ('"simulation": { "step": true }', "simulation.step: expected a number or an expression, got true"),
    "integrator as a number": ('"simulation": { "integrator": 5 }', "simulation.integrator: expected a string, got 5"),
    "misspelt choice": (
        '"simulation": { "initial": "chek" }',
        "simulation.initial: expected one of check, project, got 'chek' (hint: did you mean 'check'?)",
    ),
    "axis without an angle": (
        '"bodies": { "rod": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "orientation": { "axis": [0, 0, 1] } } }',
        'bodies.rod.orientation: expected both "axis" and "angle", got an object',
    ),
    "gravity in the plane": ('"gravity": [0, -9.81]', "gravity: expected 3 numbers, got an array of 2"),
    "short row of a matrix": (
        '"bodies": { "rod": { "type": "rigid", "mass": 1, "inertia": [[1, 0, 0], [0, 1], [0, 0, 1]] } }',
        "bodies.rod.inertia: expected 3 numbers in row 2, got an array of 2",
    ),
    "point in the plane": (
        '"bodies": { "stone": { "type": "point", "mass": 1 } }, '
        '"joints": { "rope": { "type": "distance", "between": ["ground", "stone"], "points": [[0, 0, 1], [0, 0]], "length": 1 } }',
        "joints.rope.points: expected 3 numbers in point 2, got an array of 2",
    ),
}


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
def test_models(case, tmp_path):
    text, message = case
    begin = "{" if text.startswith('"liedyn"') else '{ "liedyn": 1,'
    write(tmp_path, {"model.json": f"{begin}\n  {text} }}\n"})
    refused(liedyn(tmp_path, "run model.json"), f"model.json:2: {message}")


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
ROBOT = f"""<robot name="r"><link name="base"/><link name="upper">{INERTIAL}</link><link name="lower">{INERTIAL}</link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/><mimic joint="shoulder"/></joint></robot>
"""
STUDY = '{ "liedyn_study": 1, "model": "heavy_top", "parameters": { "spin": [1, 2, 3] }, "outputs": { "low": "position[2]" } }'
SEARCH = '{ "model": "heavy_top", "variables": { "m": { "parameter": "bodies.top.mass" } }, "outputs": { "low": "position[2]" }, "minimize": "low" }'
HINGE = """{ "liedyn": 1, "bodies": { "arm": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1] } },
  "joints": { "hinge": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1] } } }
"""

COMMANDS = {
    # options
    "list of something else": (
        "list modles", {},
        "expected list models|integrators|shapes|elements|sensors|parameters, got 'modles' (hint: did you mean 'models'?)",
    ),
    "steps twice": (
        "converge heavy_top --steps 1e-3 --step-range 1e-3:1e-4:3", {}, "--steps: expected either --steps or --step-range, got both",
    ),
    "range without a count": (
        "converge heavy_top --step-range 1e-3:1e-4", {}, "--step-range: expected FROM:TO:COUNT, got '1e-3:1e-4'",
    ),
    "word that nobody knows": (
        "explain qwxyz", {},
        "'qwxyz' is not documented (hint: liedyn list shows elements, integrators and models; liedyn explain glossary shows terms)",
    ),
    "nothing to explain": ("explain ' '", {}, "liedyn explain needs a word or a message (hint: liedyn explain revolute)"),
    "states beside checkpoints": (
        "run heavy_top --out top.h5 --states --checkpoint saved", {}, "--states: cannot be combined with --checkpoint and --resume",
    ),
    "states of a run that goes on": (
        "run heavy_top --out top.h5 --states --resume saved", {}, "--states: cannot be combined with --checkpoint and --resume",
    ),
    "comma instead of names": (
        "sensitivity heavy_top --parameters , --outputs position", {}, "--outputs: expected names before this option, got none",
    ),
    "slider with one limit": (
        "run heavy_top --view --no-open --slider bodies.top.mass=20", {},
        "--slider: expected PATH or PATH=LOW,HIGH, got 'bodies.top.mass=20' (hint: --slider forces.spring.stiffness=0,2000)",
    ),
    "case beyond the last": ("sweep study.json --show 3", {"study.json": STUDY}, "--show: expected a case from 0 to 2, got 3"),
    "page of a status": (
        "sweep study.json --html page.html --status", {"study.json": STUDY}, "--html: expected without --status and --show, which only print",
    ),
    "page of a case": (
        "sweep study.json --html page.html --show 1", {"study.json": STUDY}, "--html: expected without --status and --show, which only print",
    ),
    # plugins
    "folder as a plugin": ("list models --plugin .", {}, "plugin .: expected a shared object, got a folder"),
    "text as a plugin": (
        "list models --plugin text.so", {"text.so": "text"},
        "plugin text.so: cannot be loaded: {folder}/text.so: file too short (hint: expected a shared object)",
    ),
    # robots
    "start of a joint that follows": (
        "run robot.urdf --set initial.elbow=0.3", {"robot.urdf": ROBOT},
        "robot.urdf: initial.elbow: this joint mimics another one"
        " (hint: only revolute, continuous and prismatic joints that mimic none have one)",
    ),
    "end without a beginning": (
        "run robot.urdf", {"robot.urdf": "<!-- an arm -->\n</robot>\n"}, "robot.urdf:2: </robot> has no opening tag",
    ),
    "tag without an end": (
        "run robot.urdf", {"robot.urdf": '<robot name="r">\n<link name="base>\n</robot>\n'},
        "robot.urdf:2: this tag has no end (hint: a '>' or a quote is missing)",
    ),
    "element without an end": (
        "run robot.urdf", {"robot.urdf": '<robot name="r">\n<link name="base">\n'}, "robot.urdf:2: <link> has no end",
    ),
    # configurations
    "quaternion of another length": (
        "run model.json --from start.json",
        {"model.json": HINGE, "start.json": '{ "bodies": { "arm": {\n"orientation": { "quaternion": [1, 1, 1, 1] } } } }'},
        "start.json:2: bodies.arm.orientation.quaternion: expected the length 1, got 2",
    ),
    "start of a joint without numbers": (
        "run model.json --from start.json", {"model.json": HINGE, "start.json": '{ "joints": {\n"hinge": {} } }'},
        'start.json:2: joints.hinge: expected "value" or "rate"',
    ),
    # results
    "model as a page": (
        "convert model.json model.html", {"model.json": HINGE},
        "model.json: expected a scene, or a page with one (hint: liedyn run MODEL --html FILE.html and --scene FILE.json write them)",
    ),
    "file as a folder of shapes": (
        "run model.json --vtk model.json", {"model.json": HINGE}, "model.json: expected a folder, or a path where one can be created: Not a directory",
    ),
    "file as a folder of a search": (
        "optimize study.json --out study.json", {"study.json": SEARCH}, "study.json: cannot be made a directory: Not a directory",
    ),
    "file as a folder of results": (
        "sweep study.json", {"study.json": STUDY[:-2] + ', "keep": [0] }', "study_results": ""},
        "study_results: cannot be made a directory: Not a directory",
    ),
    "history of another study": (
        "optimize study.json --out found --restart last.json",
        {"study.json": SEARCH, "last.json": '{ "variables": { "m": 15 } }', "found/history.csv": "evaluation,objective,violation,spin\n"},
        "found/history.csv: is the history of another study (hint: use another directory)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMMANDS.values(), ids=COMMANDS)
def test_commands(case, tmp_path):
    words, files, message = case
    write(tmp_path, files)
    refused(liedyn(tmp_path, words), message.replace("{folder}", str(tmp_path)))


# ---- installations that lack something


def installation(folder: Path) -> Path:
    """A copy of the program in bin/: it looks for what belongs to it in lib/ and share/ beside that."""
    (folder / "bin").mkdir()
    return Path(shutil.copy(LIEDYN, folder / "bin"))


LIBRARIES = {
    "liedyn_mpi.so": (
        "sweep study.json --engine mpi", {"study.json": STUDY},
        "--engine mpi: {}", "this installation has no support of MPI",
        "install the package liedyn-mpi, or build with libopenmpi-dev installed", "install the package openmpi-bin",
    ),
    "liedyn_mjcf.so": (
        "run robot.xml", {"robot.xml": "<mujoco/>"},
        "robot.xml: {}", "this installation cannot read robots of this kind (.xml)",
        "install the package liedyn-robots, or build with libmujoco-dev installed", None,
    ),
    "liedyn_sdf.so": (
        "run robot.sdf", {"robot.sdf": "<sdf/>"},
        "robot.sdf: {}", "this installation cannot read robots of this kind (.sdf)",
        "install the package liedyn-robots, or build with libsdformat-dev installed", None,
    ),
    "liedyn_meshes.so": (
        "run model.json", {"model.json": '{ "liedyn": 1, ' + block('{ "type": "mesh", "file": "part.dae", "mass": 1 }') + " }", "part.dae": "<COLLADA/>"},
        "model.json:1: bodies.block.shape.file: part.dae: {}", "this installation cannot read meshes of this kind (.dae)",
        "install the package liedyn-robots, or build with libassimp-dev installed", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_is_damaged(library, tmp_path):
    words, files, where, _, hint, other_hint = LIBRARIES[library]
    file = f"lib/liedyn/{library}"
    write(tmp_path, {**files, file: "text"})
    message = f"{tmp_path}/{file} cannot be loaded: {tmp_path}/{file}: file too short (hint: {other_hint or hint})"
    refused(liedyn(tmp_path, words, installation(tmp_path)), where.format(message))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_is_not_there(library, tmp_path):
    if any((above / "lib/liedyn" / library).exists() for above in tmp_path.parents):
        pytest.skip("the program is installed in a folder around that of the test")
    words, files, where, message, hint, _ = LIBRARIES[library]
    write(tmp_path, files)
    refused(liedyn(tmp_path, words, installation(tmp_path)), where.format(f"{message} (hint: {hint})"))


@pytest.mark.parametrize(
    "program, reason",
    [
        ("no-such-python", "no such program"),
        ("true", "it prints nothing, and its exit code is 0"),
        ("false", "it prints nothing, and its exit code is 1"),
    ],
)
def test_python_that_is_not_there(program, reason, tmp_path):
    refused(
        liedyn(tmp_path, "report top.h5", LIEDYN_PYTHON=program),
        f"this command needs Python with numpy and matplotlib, which was not found ({program}: {reason})"
        " (hint: on Debian: apt install python3-numpy python3-matplotlib; LIEDYN_PYTHON names another interpreter)",
    )


def test_python_that_goes_away(tmp_path):
    """As on a drive that is unmounted: it answers once."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nrm "$0"\necho liedyn 1\n')
    python.chmod(0o755)
    refused(liedyn(tmp_path, "report top.h5", LIEDYN_PYTHON=str(python)), f"{python} could not be started: No such file or directory")


# ---- pages of running simulations


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    write(tmp_path, {"viewer.html": "<html><!--liedyn-scene--></html>", "model.json": HINGE})
    monkeypatch.setenv("LIEDYN_VIEWER", str(tmp_path / "viewer.html"))


def test_no_handle_is_left_for_the_page(viewer, tmp_path):
    """A few handles are enough for the model, and not for the server."""
    said = [liedyn(tmp_path, f"-c 'ulimit -n {most}; exec liedyn run model.json --view --no-open'", "/bin/sh").stderr for most in range(4, 12)]
    assert "error: --view: cannot listen at 127.0.0.1 for the page: Too many open files\n" in said
    assert "error: epoll: Too many open files\n" not in said


def page_of(process: subprocess.Popen) -> str:
    return re.fullmatch(r"The run is shown at (http://127\.0\.0\.1:\d+/\?token=\w+)\n", process.stderr.readline())[1]


def post(address: str, action: str, **body: str | float) -> None:
    base, token = address.split("?token=")
    headers = {"Authorization": f"Bearer {token}"}
    urllib.request.urlopen(urllib.request.Request(f"{base}run/{action}", json.dumps(body).encode(), headers), timeout=20).close()


def watched(folder: Path, words: str) -> subprocess.Popen:
    command = [str(LIEDYN), "run", "model.json", "--view", "--no-open", "--paused", *words.split()]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def test_a_page_hears_that_the_run_was_stopped(viewer, tmp_path):
    with watched(tmp_path, "--start 0.5") as run:
        try:
            address = page_of(run)
            with urllib.request.urlopen(address, timeout=20) as page:
                assert page.headers["Content-Security-Policy"] == (
                    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
                    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                    "frame-ancestors 'self' http://127.0.0.1:* http://localhost:* vscode-webview:"
                )
            with urllib.request.urlopen(address.replace("?", "run?"), timeout=20) as stream:
                assert stream.readline() == b"event: scene\n"
                assert json.loads(stream.readline().removeprefix(b"data: "))["live"]["paused"] is True
                assert stream.readline() == b"\n"
                post(address, "stop")
                assert b"event: end\n" in iter(stream.readline, b"")
                end = json.loads(stream.readline().removeprefix(b"data: "))
            assert end["message"] == "stopped at 0.5 s" and end["completed"] is True
        finally:
            run.kill()


def test_more_changes_than_a_warning_lists(viewer, tmp_path):
    model = json.loads(HINGE)
    names = [f"p{i}" for i in range(22)]
    model |= {"parameters": dict.fromkeys(names, 1), "forces": {"motor": {"type": "joint_effort", "joint": "hinge", "effort": "+".join(names)}}}
    write(tmp_path, {"model.json": json.dumps(model)})
    with watched(tmp_path, "--end 0.02 --step 0.01") as run:
        try:
            address = page_of(run)
            for i, name in enumerate(names):
                post(address, "set", name=name, value=i + 0.5)
            post(address, "resume")
            _, said = run.communicate(timeout=30)
        finally:
            run.kill()
    changes = ", ".join(f"p{i} = {i}.5 at t = 0" for i in range(20))
    expected = f"warning: parameters were changed during the run, so the model alone does not reproduce it: {changes}, and 2 further changes"
    assert expected in said.splitlines()


# ---- what is written


def test_a_mesh_that_is_not_shown(tmp_path):
    visual = '<visual><geometry><mesh filename="hand.stl"/></geometry></visual>'
    write(tmp_path, {"robot.urdf": ROBOT.replace('<link name="upper">', f'<link name="upper">{visual}')})
    assert liedyn(tmp_path, "run robot.urdf --end 0.01 --scene scene.json").returncode == 0
    (warning,) = json.loads((tmp_path / "scene.json").read_text())["warnings"]
    assert warning == "body 'upper': its mesh is not shown: hand.stl: there is no such file"


def test_a_mode_of_other_frames(tmp_path):
    write(tmp_path, {"model.json": HINGE})
    assert liedyn(tmp_path, "modes model.json --scene scene.json").returncode == 0
    scene = json.loads((tmp_path / "scene.json").read_text())
    scene["mode_list"][0]["displacement"] = scene["positions"]
    write(tmp_path, {"scene.json": json.dumps(scene)})
    done = liedyn(tmp_path, "convert scene.json scene.glb")
    refused(done, "scene.json: mode_list[0].displacement: expected the shape [1, 6, 2], got [1, 1, 3]")


def test_a_matrix_says_what_it_is(tmp_path):
    model = json.loads(HINGE) | {
        "name": "door",
        "forces": {"motor": {"type": "joint_effort", "joint": "hinge", "effort": 0}},
        "sensors": {"angle": {"type": "joint_angle", "of": "hinge"}},
    }
    write(tmp_path, {"model.json": json.dumps(model)})
    assert liedyn(tmp_path, "linearize model.json --inputs forces.motor.effort --outputs angle --out door.mtx").returncode == 0
    comments = {name: (tmp_path / f"door.{name}.mtx").read_text().splitlines()[1] for name in "ABCD"}
    states = "arm: rotation z, arm: rotation z rate"
    assert comments == {
        "A": f"% A of door: x' = A x + B u; rows: {states}; columns: {states}",
        "B": f"% B of door: x' = A x + B u; rows: {states}; columns: forces.motor.effort",
        "C": f"% C of door: y = C x + D u; rows: angle; columns: {states}",
        "D": "% D of door: y = C x + D u; rows: angle; columns: forces.motor.effort",
    }


def test_files_for_paraview(tmp_path):
    """The text around the numbers, which ParaView reads; python/tests/test_vtk.py reads the numbers."""
    write(tmp_path, {"model.json": '{ "liedyn": 1, "bodies": { "stone": { "type": "point", "mass": 1 } }, "simulation": { "end": 0.5, "step": 0.25 } }'})
    assert liedyn(tmp_path, "run model.json --vtk shapes").returncode == 0

    def array(type_: str, name: str, components: int) -> str:
        return f'<DataArray type="{type_}" Name="{name}" NumberOfComponents="{components}" format="appended" offset="N"/>\n'

    text = (tmp_path / "shapes/model_0000.vtu").read_bytes()
    head = '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
    head += '<UnstructuredGrid>\n<Piece NumberOfPoints="1" NumberOfCells="1">\n<Points>\n' + array("Float64", "Points", 3) + "</Points>\n<Cells>\n"
    head += array("Int64", "connectivity", 1) + array("Int64", "offsets", 1) + array("UInt8", "types", 1) + "</Cells>\n<PointData>\n"
    head += array("Float64", "velocity", 3) + array("Float64", "elastic_displacement", 3) + "</PointData>\n<CellData>\n"
    head += array("Int32", "body", 1) + array("Float64", "stress", 6) + array("Float64", "von_mises_stress", 1)
    head += '</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
    begin = text.index(b"_", text.index(b"AppendedData")) + 1
    assert re.sub(r'offset="\d+"', 'offset="N"', text[:begin].decode()) == head
    assert text.endswith(b"\n</AppendedData>\n</VTKFile>\n")
    assert (tmp_path / "shapes/model.pvd").read_text() == (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n<DataSet timestep="0" file="model_0000.vtu"/>\n'
        '<DataSet timestep="0.25" file="model_0001.vtu"/>\n<DataSet timestep="0.5" file="model_0002.vtu"/>\n</Collection>\n</VTKFile>\n'
    )


def test_the_colour_of_a_shape_is_explained(tmp_path):
    done = liedyn(tmp_path, "explain color")
    assert done.returncode == 0 and 'Colour, "#rrggbb".' in done.stdout

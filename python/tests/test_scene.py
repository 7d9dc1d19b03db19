"""Scenes and pages of the 3D view: written by runs, modes and equilibria, read back as a viewer does."""

import html
import json
import re
import subprocess

import numpy as np
import pytest

import liedyn as ld
from liedyn.view import unpacked
from test_vtk import MODEL as FLEXIBLE
from test_vtk import read as read_vtk

TEMPLATE = "<!DOCTYPE html><html><body>\n<!--liedyn-scene-->\n</body></html>\n"


@pytest.fixture(autouse=True)
def template(tmp_path_factory, monkeypatch):
    """A page without a viewer: tests do not need node."""
    file = tmp_path_factory.mktemp("viewer") / "viewer.html"
    file.write_text(TEMPLATE)
    monkeypatch.setenv("LIEDYN_VIEWER", str(file))
    return file


def scenes_of(file):
    elements = re.findall(r'<script type="application/json" id="liedyn-scene(-\d+)?">(.*?)</script>', file.read_text(), re.S)
    return [json.loads(text) for _, text in elements]


def liedyn(*arguments, code=0):
    done = subprocess.run(["liedyn", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def rotated(quaternion, vector):
    w, axis = quaternion[0], quaternion[1:]
    return vector + 2 * np.cross(axis, np.cross(axis, vector) + w * vector)


def surfaces(scene, name, row):
    body = next(body for body in scene["bodies"] if body["name"] == name)
    x = unpacked(body["vertices"]) + np.tensordot(unpacked(body["coordinates"])[row], unpacked(body["modes"]), 1)
    q = unpacked(scene["rotations"])[row, body["frame"]]
    return unpacked(scene["positions"])[row, body["frame"]] + np.array([rotated(q / np.linalg.norm(q), p) for p in x])


def test_a_run_keeps_its_scene_if_it_is_asked_to():
    result = ld.run("heavy_top", scene=True, end=0.1)
    scene = result.view().scene
    assert scene["format"] == "liedyn scene 1" and scene["kind"] == "motion" and scene["frames"] == ["top"]
    np.testing.assert_allclose(unpacked(scene["times"]), result.time, atol=0)
    np.testing.assert_allclose(unpacked(scene["positions"])[:, 0], result["position"], rtol=1e-6, atol=1e-7)
    channels = {channel["name"]: channel for channel in scene["channels"]}
    np.testing.assert_allclose(unpacked(channels["velocity"]["values"]), result["velocity"], rtol=1e-6, atol=1e-5)
    assert channels["pivot_force"]["frame"] == 0 and channels["pivot_force"]["at"] == [0, -1, 0]
    assert scene["summary"]["steps"] == 100
    with pytest.raises(ld.InputError, match="scene=True"):
        ld.run("heavy_top", end=0.01).view()


def test_pages_in_files_and_notebooks(tmp_path):
    result = ld.run("pendulum", html=tmp_path / "pendulum.html", frames=10)
    (scene,) = scenes_of(tmp_path / "pendulum.html")
    assert len(unpacked(scene["times"])) <= 11 and unpacked(scene["times"])[-1] == 2
    shown = result.view()._repr_html_()
    page = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', shown)[1])
    assert page == result.view().page
    both = result.view().compared_with(tmp_path / "pendulum.html")
    both.to_html(tmp_path / "both.html")
    assert [one["title"] for one in scenes_of(tmp_path / "both.html")] == ["pendulum", "pendulum"]
    assert "2 scenes" in repr(both)


def test_a_model_is_shown_at_its_start(tmp_path):
    view = ld.Model("slider_crank").view()
    assert view.scene["kind"] == "motion" and unpacked(view.scene["times"]).shape == (1,)
    done = liedyn("view", "slider_crank", "--html", tmp_path / "model.html")
    assert str(tmp_path / "model.html") in done.stdout
    assert scenes_of(tmp_path / "model.html")[0]["bodies"] == view.scene["bodies"]


def test_view_writes_a_temporary_page_where_there_is_no_display(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = liedyn("view", "heavy_top")
    (page,) = tmp_path.glob("*.html")
    assert str(page) in done.stdout and "no display" in done.stdout
    assert liedyn("view", page).stdout.startswith(f"The 3D view is in {page}")


def test_bad_output_is_refused_before_the_run(tmp_path, monkeypatch):
    done = liedyn("run", "heavy_top", "--html", tmp_path / "none" / "a.html", code=2)
    assert "there is no folder" in done.stderr
    done = liedyn("run", "heavy_top", "--compare", tmp_path / "a.html", code=2)
    assert "needs --html" in done.stderr
    done = liedyn("run", "heavy_top", "--html", tmp_path / "a.html", "--compare", tmp_path / "absent.html", code=2)
    assert "absent.html" in done.stderr
    liedyn("run", "heavy_top", "--html", tmp_path / "a.html", "--frames", 1, code=2)
    monkeypatch.setenv("LIEDYN_VIEWER", str(tmp_path / "viewer.html"))
    liedyn("run", "heavy_top", "--html", tmp_path / "a.html", code=2)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ld.InputError):
        ld.run("heavy_top", html=tmp_path / "a.html")


def test_two_runs_in_one_page(tmp_path):
    a, b = tmp_path / "a.json", tmp_path / "b.html"
    liedyn("run", "heavy_top", "--end", 0.05, "--scene", a)
    done = liedyn("run", "heavy_top", "--end", 0.05, "--formulation", "se3", "--html", b, "--compare", a)
    assert f"The 3D view is in {b}" in done.stdout
    assert [one["summary"]["formulation"] for one in scenes_of(b)] == ["se3", "r3so3"]
    assert json.loads(a.read_text()) == scenes_of(b)[1]


def test_names_cannot_leave_the_page(tmp_path):
    model = ld.load("heavy_top")
    model["description"] = "</script><script>alert(1)</script>"
    file = tmp_path / "a.json"
    file.write_text(json.dumps(model))
    liedyn("run", file, "--end", 0.01, "--html", tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert text.count("<script") == text.count("</script>") == 1
    assert "</script><script>alert(1)</script>" in scenes_of(tmp_path / "a.html")[0]["summary"]["model_text"]


def test_a_failed_run_is_shown_up_to_there(tmp_path):
    model = {
        "liedyn": 1,
        "bodies": {"a": {"type": "point", "mass": 1, "position": [1, 0, 0]}},
        "forces": {"f": {"type": "force", "on": "a", "force": ["1/(1 - t)^2 + sqrt(0.5 - t)", 0, 0]}},
        "simulation": {"end": 1, "step": 1e-2, "integrator": "generalized-alpha,rho=0.9"},
    }
    file = tmp_path / "a.json"
    file.write_text(json.dumps(model))
    liedyn("run", file, "--html", tmp_path / "a.html", code=3)
    (scene,) = scenes_of(tmp_path / "a.html")
    assert scene["summary"]["completed"] is False
    assert np.isfinite(unpacked(scene["positions"])).all()
    assert 0.4 < unpacked(scene["times"])[-1] < 0.52


@pytest.mark.parametrize("formulation", ["r3so3", "minimal"])
def test_surfaces_are_those_of_vtk_files(tmp_path, formulation):
    """Every vertex of the brick is a point of the VTK file, to 1e-5 of the size."""
    result = ld.run(FLEXIBLE, formulation=formulation, vtk=tmp_path, scene=True, output_every=10)
    scene = result.view().scene
    files = sorted(tmp_path.glob("*.vtu"))
    assert len(files) == len(unpacked(scene["times"]))
    for row, file in enumerate(files):
        points = read_vtk(file)["Points"]
        skin = surfaces(scene, "arm", row)
        nearest = np.array([np.linalg.norm(points - vertex, axis=1).min() for vertex in skin])
        assert nearest.max() < 1e-5 * scene["size"]


def test_modes_are_those_of_vtk_files(tmp_path):
    """A cantilever: the displacement of a node in the scene is that of its point in the VTK file, up to the scale of a mode."""
    page, shapes = tmp_path / "modes.html", tmp_path / "shapes"
    liedyn("modes", "princeton_beam", "--at", "static", "--count", 4, "--html", page, "--vtk", shapes)
    (scene,) = scenes_of(page)
    assert scene["kind"] == "modes" and len(scene["mode_list"]) == 4
    for i, mode in enumerate(scene["mode_list"]):
        moved = unpacked(mode["displacement"])[:, :3, 0]
        points = read_vtk(shapes / f"princeton_beam_mode{i + 1:04}.vtu")["shape"]
        scale = np.linalg.norm(points) / np.linalg.norm(moved)
        np.testing.assert_allclose(scale * moved, points, atol=1e-4 * np.abs(points).max())
        assert np.abs(moved).max() <= 1 + 1e-6
        assert mode["frequency"] > 0


def test_equilibria_are_shown_with_their_load_path(tmp_path):
    page = tmp_path / "static.html"
    done = json.loads(liedyn("static", "cantilever_45", "--load-steps", 4, "--html", page, "--json").stdout)
    (scene,) = scenes_of(page)
    assert scene["kind"] == "static"
    np.testing.assert_allclose(unpacked(scene["times"]), [0, 0.25, 0.5, 0.75, 1])
    tip = scene["frames"].index("bend.end")
    np.testing.assert_allclose(unpacked(scene["positions"])[-1, tip], done["sensors"]["tip"], rtol=1e-6)
    beam = next(body for body in scene["bodies"] if body["kind"] == "beam")
    assert beam["section"] == {"type": "rectangle", "width": 1, "height": 1}


@pytest.mark.filterwarnings("ignore::liedyn.NumericalWarning")  # redundant constraints
def test_pages_of_all_shipped_models(tmp_path, capsys):
    """Ten steps of each; prints how large pages are without the viewer."""
    for name in ld.models():
        settings = ld.Model(name).settings
        end = settings["start"] + 10 * settings["step"]
        ld.run(name, end=end, html=tmp_path / f"{name}.html")
        (scene,) = scenes_of(tmp_path / f"{name}.html")
        assert np.isfinite(unpacked(scene["positions"])).all() and scene["size"] <= 5 * scene["extent"], name
        with capsys.disabled():
            print(f"\n{name:26} {(tmp_path / f'{name}.html').stat().st_size / 1024:8.1f} kB", end="")


def test_modes_and_equilibria_show_what_they_were_asked_to_keep():
    found = ld.modes("pendulum", at="static", scene=True)
    scene = found.view().scene
    assert scene["kind"] == "modes" and len(scene["mode_list"]) == len(found)
    np.testing.assert_allclose([mode["frequency"] for mode in scene["mode_list"]], found.frequencies, rtol=1e-12)
    assert "<iframe" in found.view()._repr_html_()
    bent = ld.static("cantilever_45", load_steps=3, scene=True)
    scene = bent.view().scene
    assert scene["kind"] == "static"
    np.testing.assert_allclose(unpacked(scene["times"])[[0, -1]], [0, 1], atol=1e-12)
    tip = next(body for body in scene["bodies"] if body["kind"] == "beam")["nodes"][-1]
    np.testing.assert_allclose(unpacked(scene["positions"])[-1, tip], bent["tip"], rtol=1e-5)
    for plain, what in ((ld.modes("pendulum", at="static"), "modes"), (ld.static("pendulum"), "static")):
        with pytest.raises(ld.InputError, match=rf"{what}\(\.\.\., scene=True\)"):
            plain.view()


def test_of_a_long_result_some_rows_are_shown(tmp_path):
    whole = ld.run("heavy_top", out=tmp_path / "long.h5", states=True, step=1e-5, end=0.3, output_every=1)
    scene = ld.load_result(tmp_path / "long.h5").view().scene
    times, positions = unpacked(scene["times"]), unpacked(scene["positions"])[:, 0]
    assert 900 < len(times) <= 2001 and times[0] == 0 and times[-1] == whole.time[-1]
    rows = np.searchsorted(whole.time, times - 1e-9)
    np.testing.assert_allclose(positions, whole["position"][rows], atol=1e-6)
    curves = unpacked(scene["channel_times"])
    assert 5000 < len(curves) <= 10001 and curves[-1] == whole.time[-1]


def test_both_scenes_of_a_page_stay(tmp_path):
    liedyn("run", "heavy_top", "--end", 0.01, "--step", 2e-3, "--scene", tmp_path / "coarse.json")
    liedyn("run", "heavy_top", "--end", 0.01, "--html", tmp_path / "both.html", "--compare", tmp_path / "coarse.json")
    liedyn("view", tmp_path / "both.html", "--html", tmp_path / "again.html")
    assert [scene["summary"]["step"] for scene in scenes_of(tmp_path / "again.html")] == [1e-3, 2e-3]

"""Result files: written while a run goes on, complete after a kill, read as far as they are needed, and turned into other formats."""

import html
import json
import math
import pickle
import random
import re
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import liedyn as ld
from liedyn.report import __main__ as report_command
from liedyn.report import run as run_report

PROGRAM = "liedyn"
TEMPLATE = "<html><!--liedyn-scene--></html>"
BALL = {
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "bodies": {"ball": {"type": "point", "mass": 2, "position": [0, 0, 1], "velocity": [0.3, 0, 0]}},
    "sensors": {
        "place": {"type": "position", "of": "ball"},
        "speed": {"type": "velocity", "of": "ball"},
        "bounce": {"type": "event", "when": "place[2]", "direction": "falling", "set": "sensors.speed[2] = -0.8*speed[2]"},
    },
    "simulation": {"end": 1, "step": 0.01},
}


def liedyn(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stderr if code else done.stdout


@pytest.fixture
def template(tmp_path, monkeypatch):
    file = tmp_path / "viewer.html"
    file.write_text(TEMPLATE)
    monkeypatch.setenv("LIEDYN_VIEWER", str(file))


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A run with states, and the same run in memory."""
    file = tmp_path_factory.mktemp("chain") / "chain.h5"
    options = {"set": {"links": 5}, "end": 0.2, "step": 1e-3, "record": "all"}
    return file, ld.run("chain", out=file, states=True, **options), ld.run("chain", **options)


def test_a_file_holds_the_run_bit_by_bit(chain):
    file, stored, kept = chain
    assert stored.status == "completed" and list(stored) == list(kept)
    assert np.array_equal(stored.table, kept.table)
    assert {key: value for key, value in stored.summary.items() if key not in ("wall_seconds", "date")} == {
        key: value for key, value in kept.summary.items() if key not in ("wall_seconds", "date")
    }
    with h5py.File(file, "r") as other:  # an independent reader
        assert np.array_equal(other["time"][:], kept.time)
        for name in kept:
            assert np.array_equal(other["sensors"][name][:], kept[name])
            assert other["sensors"][name].attrs["unit"].decode() == kept.units[name]
            assert other["sensors"][name].chunks and other["sensors"][name].compression == "gzip" and other["sensors"][name].shuffle
        assert json.loads(bytes(other["summary"][:]))["model"] == "chain"
        assert other["status"][()] == b"completed"
        assert json.loads(other.attrs["model"])["arguments"]["links"]["value"] == 10 and other.attrs["set"] == b"links=5"


def test_states_have_names_and_are_those_of_the_sensors(chain):
    _, stored, kept = chain
    names = stored.state_names("q")
    for body in ("link1", "link5"):
        columns = [names.index(f"{body}.position[{i}]") for i in range(3)]
        assert np.array_equal(stored.states["q"][:, columns], kept[f"{body}.position"])
    assert stored.states["v"].shape[1] == len(stored.state_names("v"))
    assert stored.states["lambda"].shape[1] == len(stored.state_names("lambda")) > 0
    orientation = stored.states["q"][:, [names.index(f"link2.orientation[{i}]") for i in range(4)]]
    assert np.allclose(np.linalg.norm(orientation, axis=1), 1)


def test_statistics_are_those_of_the_summary(chain):
    _, stored, _ = chain
    figures, summary = stored.statistics, stored.summary
    assert figures["steps"][-1] == summary["steps"] and figures["newton_iterations"][-1] == summary["newton_iterations"]
    assert figures["energy"][0] == summary["energy"]["initial"]
    assert np.abs(figures["energy"] - figures["energy"][0]).max() == summary["energy"]["max_drift"]
    assert figures["position_residual"].max() == summary["constraint_residual"]["position"]
    assert np.allclose(figures["step"][1:], 1e-3)


def test_rows_at_equal_times_lie_on_the_motion():
    """Between steps: of the order of the method, against the closed form of a falling body, and against rows at the steps."""
    fall = {key: value for key, value in BALL.items() if key != "sensors"} | {"sensors": {"place": {"type": "position", "of": "ball"}}}
    result = ld.run(fall, step=0.01, end=0.4, output_times=0.003)
    assert np.allclose(result.time, np.append(np.arange(134) * 0.003, 0.4), atol=1e-12)
    assert np.abs(result["place"][:, 2] - (1 - 4.905 * result.time**2)).max() < 1e-12
    fine = ld.run("heavy_top", step=2e-5, end=0.05, every=50)
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        between = ld.run("heavy_top", step=step, end=0.05, output_times=1e-3 * 0.5)
        rows = np.searchsorted(between.time, fine.time - 1e-9)
        assert np.allclose(between.time[rows], fine.time)
        errors.append(np.abs(between["position"][rows] - fine["position"]).max())
    assert 3.4 < errors[0] / errors[1] < 4.6 and 3.4 < errors[1] / errors[2] < 4.6, errors


def test_rows_at_events_show_both_sides(tmp_path):
    result = ld.run(BALL, output_events=True, out=tmp_path / "ball.h5")
    first = math.sqrt(2 / 9.81)
    times = [first, first + 2 * 0.8 * math.sqrt(2 * 9.81) / 9.81]
    assert [name for _, name in result.events] == ["bounce"] * len(result.events)
    assert np.allclose([t for t, _ in result.events][:1], times[:1], atol=1e-9)
    before, after = np.flatnonzero(result.time == result.events[0][0])
    assert result["speed"][before, 2] == pytest.approx(-math.sqrt(2 * 9.81)) and result["speed"][after, 2] == pytest.approx(0.8 * math.sqrt(2 * 9.81))
    only = ld.run(BALL, every=0, output_events=True)
    # Results in memory, in pickles and in .npz files have the events too.
    assert only.events == result.events and len(only.events) > 0
    only.save(tmp_path / "ball.npz")
    assert pickle.loads(pickle.dumps(only)).events == only.events == ld.load_result(tmp_path / "ball.npz").events
    only.save(tmp_path / "saved.h5")
    assert ld.load_result(tmp_path / "saved.h5").events == only.events
    assert len(only.time) == 2 + 2 * len(result.events)
    only.save(tmp_path / "ball.csv")  # two rows of one time
    assert np.array_equal(ld.load_result(tmp_path / "ball.csv").table, only.table)


def test_adaptive_steps_do_not_move_the_rows(tmp_path):
    words = ["run", "heavy_top", "--formulation", "r3so3-spatial", "--integrator", "generalized-alpha,adaptive=true,rtol=1e-4", "--step", "1e-3"]
    liedyn(*words, "--end", 0.1, "--output-times", 0.01, "--out", tmp_path / "top.h5")
    result = ld.load_result(tmp_path / "top.h5")
    assert np.allclose(result.time, np.arange(11) * 0.01)
    assert np.all(np.diff(result.statistics["steps"]) > 0) and np.ptp(result.statistics["step"][1:]) > 0


def complete(stored, expected):
    """The rows of a result are the first ones of a complete run."""
    if len(stored.time) == 0:
        return 0
    table = stored.table
    assert len(table) <= len(expected) and np.array_equal(table, expected[: len(table)])
    return len(table)


def test_a_killed_run_leaves_a_prefix_of_the_complete_one(tmp_path):
    file, words = tmp_path / "killed.h5", ["run", "chain", "--set", "links=3", "--step", "2e-6", "--end", "0.04", "--states", "--out"]
    whole = tmp_path / "whole.h5"
    liedyn(*words, whole)
    expected = ld.load_result(whole).table
    rng, rows, statuses = random.Random(5), [], set()
    for attempt in range(12):
        file.unlink(missing_ok=True)
        run = subprocess.Popen([PROGRAM, *words, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target, deadline = rng.random() * whole.stat().st_size, time.monotonic() + 30  # a moment of the run, however busy the machine is
        while run.poll() is None and (not file.exists() or file.stat().st_size < target) and time.monotonic() < deadline:
            time.sleep(0.0005)
        seen = complete(ld.load_result(file), expected) if attempt % 3 == 0 else 0  # while it is written
        if attempt % 3 == 0 and run.poll() is None:
            assert ld.load_result(file).status in ("running", "completed")
        run.send_signal(signal.SIGKILL)
        run.wait()
        left = ld.load_result(file)
        statuses.add(left.status)
        rows.append(complete(left, expected))
        assert rows[-1] >= seen
    assert statuses <= {"killed", "completed"} and "killed" in statuses
    assert max(rows) > 100
    assert "killed" in liedyn("info", file) or left.status == "completed"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_result_is_read_while_it_is_written_and_says_what_its_rows_say(tmp_path, how):
    """Rows come fast, so that a table may be longer than its chunks; a run that is stopped has its own summary, one that is killed that of its rows."""
    file = tmp_path / "fast.h5"
    run = subprocess.Popen([PROGRAM, "run", "heavy_top", "--end", "20000", "--output-every", "20", "--out", str(file), "--states"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not file.exists() or file.stat().st_size < 1 << 20:
            assert run.poll() is None
            time.sleep(0.01)
        seen = []
        while len(seen) < 5:
            now = ld.load_result(file)
            assert now.status == "running"
            rows = len(now.time)
            assert all(len(now[name]) == rows for name in now) and len(now.states["q"]) == len(now.statistics["energy"]) == rows
            assert now.summary["end"] == now.time[-1] > 0 and now.summary["steps"] == 20 * (rows - 1)
            seen.append(rows)
        assert seen == sorted(seen)
    finally:
        run.send_signal(how)
        run.wait()
    left = ld.load_result(file)
    energy, summary = left.statistics["energy"], left.summary
    assert left.status == ("stopped" if how == signal.SIGINT else "killed") and not left.completed
    assert summary["end"] == left.time[-1] and 20 * (len(left.time) - 2) < summary["steps"] <= 20 * (len(left.time) - 1)
    assert summary["energy"]["initial"] == energy[0] and summary["energy"]["final"] == energy[-1]
    for found, rows in [(summary["energy"]["max_drift"], np.max(np.abs(energy - energy[0]))), (summary["constraint_residual"]["position"], np.max(left.statistics["position_residual"]))]:
        if how == signal.SIGKILL:
            assert found == pytest.approx(rows, rel=1e-6)
        else:  # a summary of its own sees steps between the rows too
            assert rows * (1 - 1e-12) <= found < 1.5 * rows
    assert f"0 ... {left.time[-1]:.6g} s" in liedyn("info", file)
    assert f"changed by at most {run_report.scientific(summary['energy']['max_drift'], 2)} J" in run_report.drift_section(left)
    assert "Simulated from 0 s" in run_report.lead(left) and "steps" in repr(left.summary) and "step" in str(left)


def test_info_says_what_a_file_is(chain, tmp_path, template):
    file, stored, _ = chain
    printed = liedyn("info", file)
    assert "chain.h5: result" in printed and "completed" in printed and "0 ... 0.2 s" in printed and "links=5" in printed
    about = json.loads(liedyn("info", file, "--json"))
    assert about["rows"] == 201 and [one["name"] for one in about["columns"]] == list(stored)
    stored.save(tmp_path / "r.csv")
    assert json.loads(liedyn("info", tmp_path / "r.csv", "--json"))["rows"] == 201
    assert "model" in liedyn("info", "heavy_top")
    liedyn("run", "heavy_top", "--end", 0.01, "--html", tmp_path / "p.html", "--scene", tmp_path / "s.json", "--save-state", tmp_path / "c.state")
    assert "scene (motion)" in liedyn("info", tmp_path / "p.html") and "heavy_top" in liedyn("info", tmp_path / "s.json")
    assert "checkpoint" in liedyn("info", tmp_path / "c.state") and "generalized-alpha" in liedyn("info", tmp_path / "c.state")
    liedyn("new", tmp_path / "many", "--template", "study")
    liedyn("sweep", tmp_path / "many.json", "--end", 0.01, "--out", tmp_path / "many.h5")
    printed = liedyn("info", tmp_path / "many.h5")
    assert "results of a study" in printed and "completed            45" in printed and "lowest" in printed
    (tmp_path / "wrong.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "cannot be read as HDF5" in liedyn("info", tmp_path / "wrong.h5", code=2)
    with h5py.File(tmp_path / "foreign.h5", "w") as other:
        other["time"] = np.arange(3.0)
    assert "has no string '/status'" in liedyn("info", tmp_path / "foreign.h5", code=2)


def test_a_result_becomes_a_page_a_scene_and_shapes(chain, tmp_path, template):
    file, stored, kept = chain
    liedyn("convert", file, tmp_path / "a.csv")
    assert np.array_equal(ld.load_result(tmp_path / "a.csv").table, kept.table)
    liedyn("convert", file, tmp_path / "a.html")
    assert '"title":"chain"' in (tmp_path / "a.html").read_text()
    liedyn("convert", file, tmp_path / "a.glb")
    assert (tmp_path / "a.glb").read_bytes().startswith(b"glTF")
    liedyn("convert", file, tmp_path / "shapes", "--frames", 10)
    assert len(list((tmp_path / "shapes").glob("*.vtu"))) in range(10, 13) and (tmp_path / "shapes/chain.pvd").exists()
    liedyn("view", file, "--html", tmp_path / "b.html")
    # The scene that a run keeps is the one that its file gives.
    direct = ld.run("chain", set={"links": 5}, end=0.2, step=1e-3, record="all", scene=True).view().scene
    again = stored.view().scene
    assert again["positions"] == direct["positions"] and again["rotations"] == direct["rotations"]
    assert ".glb" in liedyn("convert", file, tmp_path / "a.gltf", code=2)
    liedyn("run", "heavy_top", "--end", 0.01, "--out", tmp_path / "plain.h5")
    assert "--states" in liedyn("convert", tmp_path / "plain.h5", tmp_path / "c.html", code=2)


def test_mistakes_are_named(tmp_path):
    assert "add --out FILE.h5" in liedyn("run", "heavy_top", "--states", "--out", tmp_path / "a.csv", code=2)
    assert "output-every" in liedyn("run", "heavy_top", "--output-times", 0.1, "--output-every", 2, code=2)
    assert "output-times" in liedyn("run", "heavy_top", "--output-times", -1, code=2)
    for wrong in ({"states": True}, {"out": tmp_path / "a.csv"}, {"out": tmp_path / "no" / "a.h5"}, {"output_times": 0}, {"output_times": 0.1, "every": 2}):
        with pytest.raises(ld.InputError):
            ld.run("heavy_top", end=0.01, **wrong)
    assert not list(tmp_path.iterdir())


def test_a_failed_run_says_so_in_its_file(tmp_path):
    file = tmp_path / "failed.h5"
    liedyn("run", "heavy_top", "--step", 0.2, "--end", 20, "--out", file, code=3)
    result = ld.load_result(file)
    assert result.status == "failed" and result.failure and len(result.time) > 0


def test_the_report_says_how_to_repeat_its_run(tmp_path):
    first, second = tmp_path / "a.h5", tmp_path / "run.h5"
    liedyn("run", "slider_crank", "--set", "speed=8.1", "--step", 2e-3, "--end", 0.05, "--integrator", "lms2,rho=0.7", "--formulation", "se3", "--out", first)
    result = ld.load_result(first)
    command = html.unescape(re.search("liedyn (run [^<\n]*)", run_report.again(result, "a.h5"))[1])
    liedyn(*command.replace("run.h5", str(second)).split())
    repeated = ld.load_result(second)
    for name in result:
        assert np.array_equal(result[name], repeated[name]), (name, command)


def test_the_report_has_its_parts(chain, tmp_path, template):
    file, stored, _ = chain
    text = run_report.text(stored, source=str(file))
    for heading in ("Warnings", "What was simulated", "The important curves", "Energy and constraints", "Steps and iterations", "Do it again"):
        assert f"<h2>{heading}</h2>" in text
    assert "srcdoc=" in text and "http://" not in text.replace("http://www.w3.org", "") and "5 rigid" in text
    stored.save(tmp_path / "r.csv")
    plain = run_report.text(ld.load_result(tmp_path / "r.csv"))
    assert "<h2>The important curves</h2>" in plain and "srcdoc" not in plain


def test_the_report_overwrites_only_what_is_named(tmp_path, monkeypatch, capsys):
    liedyn("run", "heavy_top", "--end", 0.01, "--out", tmp_path / "r.csv")
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "r.html"
    page.write_text("the page of the run")
    monkeypatch.setattr(sys, "argv", ["liedyn report", "r.csv"])
    assert report_command.main() == 2
    assert "error: r.html: exists, and is not overwritten (hint: name the page: --out r.html, or another one)" in capsys.readouterr().err
    assert page.read_text() == "the page of the run"
    monkeypatch.setattr(sys, "argv", ["liedyn report", "r.csv", "--out", "r.html"])
    assert report_command.main() == 0
    assert "The important curves" in page.read_text()
    page.unlink()
    monkeypatch.setattr(sys, "argv", ["liedyn report", "r.csv"])
    assert report_command.main() == 0 and page.exists()


def test_thinned_curves_keep_their_peaks():
    t = np.linspace(0, 1, 100_000)
    values = np.sin(9 * t)
    values[54_321] = 7
    time_, kept = run_report.thinned(t, values)
    assert len(kept) <= run_report.MOST_POINTS and kept.max() == 7 and np.all(np.diff(time_) >= 0)

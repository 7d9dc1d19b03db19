"""Pages of running simulations: who reaches them, and what they do to the program."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request

import pytest

import liedyn as ld

WHEEL = {
    "liedyn": 1,
    "parameters": {"torque": 2, "initial": 1},
    "bodies": {"wheel": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "angular_velocity": [0, 0, "initial"]}},
    "joints": {"axle": {"type": "revolute", "between": ["ground", "wheel"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
    "forces": {"motor": {"type": "joint_effort", "joint": "axle", "effort": "torque"}},
    "sensors": {"rate": {"type": "joint_angle_rate", "of": "axle"}},
    "simulation": {"end": 2, "step": 1e-2},
}


@pytest.fixture(autouse=True)
def template(tmp_path, monkeypatch):
    """The page itself is tested in a browser."""
    page = tmp_path / "viewer.html"
    page.write_text("<html><!--liedyn-scene--></html>")
    monkeypatch.setenv("LIEDYN_VIEWER", str(page))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


def simulation(**options):
    return ld.Model(WHEEL).simulation(**options)


def request(address, action=None, body=None):
    if action is None:
        return urllib.request.urlopen(address, timeout=20)
    base, token = address.split("?token=")
    data = json.dumps(body or {}).encode()
    return urllib.request.urlopen(
        urllib.request.Request(f"{base}run/{action}", data=data, headers={"Authorization": f"Bearer {token}"}, method="POST"), timeout=20
    )


def events(address, count):
    """The first events of a page: name and data."""
    base, token = address.split("?")
    out = []
    with urllib.request.urlopen(f"{base}run?{token}", timeout=20) as stream:
        name = None
        for line in stream:
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                name = text[7:]
            if text.startswith("data: "):
                out.append((name, json.loads(text[6:])))
                if len(out) == count:
                    return out
    return out


def test_the_page_is_for_those_who_know_the_address():
    sim = simulation()
    with sim.view() as page:
        assert page.address.startswith("http://127.0.0.1:")
        with request(page.address) as answer:
            assert b"liedyn-live" in answer.read()
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        for wrong in (page.address[:-1], page.address.split("?")[0], page.address + "0"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                request(wrong)
        assert page.address in page._repr_html_()
    assert repr(page) == "<LiveView, closed>"
    with pytest.raises(urllib.error.URLError):
        request(page.address)
    sim.advance(0.1)
    page.close()


def test_what_is_shown_are_the_inputs():
    with simulation(inputs={"u": "torque"}).view() as page:
        (name, scene), *_ = events(page.address, 1)
    assert name == "scene"
    assert [(one["name"], one["path"], one["min"], one["max"]) for one in scene["live"]["inputs"]] == [("u", "torque", 0, 4)]
    with simulation().view({"torque": (-3, 3)}) as page:
        ((_, scene),) = events(page.address, 1)
    assert [(one["name"], one["min"], one["max"]) for one in scene["live"]["inputs"]] == [("torque", -3, 3)]


def test_results_are_the_same_with_a_page():
    plain, watched = simulation(), simulation()
    with watched.view():
        for sim in (plain, watched):
            sim.advance(0.5)
            sim.step()
            sim.step(3)
    assert plain["rate"] == watched["rate"]
    assert all((a == b).all() for a, b in zip(plain.state[1:], watched.state[1:]))


def test_values_of_the_page_act():
    sim = simulation(inputs={"u": "torque"})
    with sim.view() as page:
        sim.advance(0.5)
        request(page.address, "set", {"name": "u", "value": 10})
        sim.advance(0.5)
        assert sim.get("u") == 10
        assert sim["rate"] == pytest.approx(1 + 2 * 0.5 + 10 * 0.5, rel=1e-9)


def test_stop_is_as_ctrl_c():
    sim = simulation()
    with sim.view(pace=1) as page:
        threading.Timer(0.2, lambda: request(page.address, "stop")).start()
        with pytest.raises(KeyboardInterrupt):
            sim.advance(60)
        assert page.stopped
        reached = sim.time
        assert 0 < reached < 60
    sim.advance(0.1)
    assert sim.time == pytest.approx(reached + 0.1)


def test_pause_holds_the_time():
    sim = simulation()
    with sim.view(paused=True) as page:
        runner = threading.Thread(target=sim.advance, args=(0.1,))
        runner.start()
        request(page.address, "step")
        time.sleep(0.3)
        seen = [data["times"][-1] for name, data in events(page.address, 2) if name == "rows"]
        assert seen == [pytest.approx(0.01)]
        assert runner.is_alive()
        request(page.address, "resume")
        runner.join(20)
    assert sim.time == pytest.approx(0.1)


def test_run_with_a_page(capsys):
    result = ld.run(WHEEL, view={"pace": 20})
    assert result.completed
    assert result["rate"][-1] == pytest.approx(5)
    assert result.page.address in capsys.readouterr().err
    names = [name for name, _ in events(result.page.address, 3)]
    assert names[0] == "scene"
    result.page.close()
    assert ld.run(WHEEL).page is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: simulation().view(pace=-1), "0 or more"),
        (lambda: simulation().view(pace="fast"), "expected a finite number"),
        (lambda: simulation().view({"torque": 3}), "limits of each"),
        (lambda: simulation().view({"torque": (3, 1)}), "limits of each"),
        (lambda: simulation().view(["torqu"]), "torque"),
        (lambda: simulation().view(["bodies.wheel.position[0]"]), "initial value"),
        (lambda: ld.run(WHEEL, view="yes"), "True or False"),
        (lambda: ld.run(WHEEL, view={"speed": 1}), "expected sliders, pace and paused"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ld.InputError, match=message):
        make()

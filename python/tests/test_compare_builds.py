"""tests/compare_builds.py: what two builds of the program differ by."""

import importlib.util
import pathlib
import shutil

import pytest

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "compare_builds.py"
spec = importlib.util.spec_from_file_location("compare_builds", FILE)
compare_builds = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare_builds)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    program = shutil.which("liedyn")
    for name, jitter in (("here", False), ("again", False), ("jitter", True)):
        compare_builds.record(program, folder / name, ["heavy_top", "pendulum"], ["generalized-alpha", "rk44"], jitter, 2)
    return folder


def test_the_same_build_differs_by_nothing_and_a_last_digit_by_round_off(recorded, capsys):
    assert compare_builds.table(recorded / "here", recorded / "again", recorded / "jitter") == 0
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| `")]
    assert {row[1].strip(): row[2].strip() for row in rows} == {"`heavy_top`": "0.0e+00", "`pendulum`": "0.0e+00"}
    apart = compare_builds.differences(*(recorded / name / "heavy_top" / "rk44.csv" for name in ("here", "jitter")))
    assert 0 < max(apart.values()) < 1e-13
    rows = next(iter(compare_builds.sensors_of(recorded / "here" / "heavy_top" / "rk44.csv").values()))
    assert len(rows[0]) == compare_builds.STEPS + 1


def test_what_round_off_does_not_explain_is_named(recorded, tmp_path, capsys):
    shutil.copytree(recorded / "here", tmp_path / "other")
    file = tmp_path / "other" / "heavy_top" / "rk44.csv"
    lines = file.read_text().splitlines()
    sensor = lines[0].split(",")[1]
    last = lines[-1].split(",")
    last[1] = repr(float(last[1]) + 1e-6)
    file.write_text("\n".join([*lines[:-1], ",".join(last)]) + "\n")
    (tmp_path / "other" / "pendulum" / "rk44.csv").unlink()
    assert compare_builds.table(recorded / "here", tmp_path / "other", recorded / "jitter") == 1
    text = capsys.readouterr().out
    assert f"heavy_top rk44 {sensor.split('[')[0]}:" in text
    assert "completes in one of them only: pendulum rk44" in text

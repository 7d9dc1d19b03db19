"""The scripts of benchmarks/speed: what they make of figures, and that their programs run."""

import importlib.util
import json
import math
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld

SPEED = Path(__file__).resolve().parents[2] / "benchmarks" / "speed"


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, SPEED / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


bench = load("bench")
work_precision = load("work_precision")


@pytest.fixture
def speed_benchmark() -> Path:
    program = shutil.which("liedyn")
    found = Path(program).resolve().parents[1] / "speed_benchmark" if program else Path("none")
    if not found.exists():
        pytest.skip("speed_benchmark is not built")
    return found


def fake_program(file: Path, microseconds: float, names=("chain/block/10",)) -> Path:
    """Prints what Google Benchmark prints; the n-th measurement takes n times as long."""
    file.write_text(
        f"""#!{sys.executable}
import json, pathlib, sys
if "--benchmark_list_tests" in sys.argv:
    print("\\n".join({list(names)!r}))
else:
    calls = pathlib.Path(__file__ + ".calls")
    n = int(calls.read_text()) + 1 if calls.exists() else 1
    calls.write_text(str(n))
    row = dict(name="x", cpu_time={microseconds} * n * 1e3, real_time=1.0, time_unit="ns", peak_bytes=3e6, bodies=10, newton_per_step=2.0, label="block")
    print(json.dumps(dict(benchmarks=[row])))
"""
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_interleaved_runs_give_ratios_of_medians(tmp_path):
    old, new = fake_program(tmp_path / "old", 20), fake_program(tmp_path / "new", 10)
    before, after = bench.interleaved([old, new], ["chain/block/10"], rounds=3, seconds=0.01)
    assert before["chain/block/10"].microseconds == pytest.approx([20, 40, 60])
    assert after["chain/block/10"].median == pytest.approx(20)
    assert after["chain/block/10"].per_body == pytest.approx(2)
    (row,) = bench.comparison(before, after)
    assert row == ["chain/block/10", "40", "20", "0.500", "0.500 to 0.500", "1.00"]


def test_compare_builds_two_commits_and_runs_them_in_turn(tmp_path, monkeypatch, capsys):
    """A project with the same target and preset as this one, whose second commit is twice as fast."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(fake LANGUAGES C)\nadd_executable(speed_benchmark main.c)\n"
    )
    preset = {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}
    (source / "CMakePresets.json").write_text(json.dumps({"version": 6, "configurePresets": [preset]}))

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=source, check=True, capture_output=True)

    def commit(microseconds: int, names: str) -> None:
        row = f'{{\\"cpu_time\\": {microseconds}, \\"time_unit\\": \\"us\\"}}'
        (source / "main.c").write_text(
            f"""#include <stdio.h>
int main(int n, char** words) {{ return puts(n == 2 ? "{names}" : "{{\\"benchmarks\\": [{row}]}}") < 0; }}
"""
        )
        git("add", ".")
        git("commit", "-m", f"{microseconds}")

    git("init", "-b", "main")
    commit(20, "chain/block/10 gone")
    commit(10, "chain/block/10 added")
    monkeypatch.setattr(bench, "SOURCE", source)
    monkeypatch.setattr(bench, "BUILD", tmp_path / "build")
    monkeypatch.setenv("CCACHE_BASEDIR", "")  # so that what compare sets is undone
    monkeypatch.setenv("CCACHE_NOHASHDIR", "")
    for _ in range(2):  # the second time it finds what it has built
        assert bench.main(["compare", "HEAD~1", "HEAD", "--rounds", "2"]) == 0
        said = capsys.readouterr().out
        assert said.splitlines()[-1].split() == ["chain/block/10", "20", "10", "0.500", "0.500", "to", "0.500"]
        assert "gone" not in said and "added" not in said
    assert bench.main(["compare", "no-such-commit"]) == 2
    assert "no-such-commit" in capsys.readouterr().err


def test_a_pattern_without_match_is_explained(tmp_path):
    program = fake_program(tmp_path / "program", 1)
    assert bench.names_in(program, "^chain") == ["chain/block/10"]
    with pytest.raises(bench.Trouble, match="no benchmark matches 'net'; there are chain/block/10"):
        bench.names_in(program, "net")


def test_targets_are_judged_where_they_were_measured():
    results = {
        "heavy_top/sigma1": bench.Measured([1.4]),
        "chain/by_hand/1": bench.Measured([0.5]),
        "chain/block/10000": bench.Measured([1], [30.0], bodies=1e4),
        "chain/block/100000": bench.Measured([1], [210.0], bodies=1e5),
    }
    rows = {row[0]: row[1:] for row in bench.targets_met(results)}
    assert rows == {
        "chain, memory per body between 1e4 and 1e5 links": ["2 kB", "2.5", "yes"],
        "heavy top (sigma = 1) over one link by hand": ["2.8 times", "2.4", "no"],
        "heavy top (sigma = 1), a step": ["1.4 us", "1.5", "yes"],
    }


def test_results_are_json_with_a_line_per_benchmark():
    text = bench.to_json({"commit": "abc", "rounds": 3, "results": [{"name": "a", "microseconds": 1}, {"name": "b"}]})
    assert json.loads(text) == {"commit": "abc", "rounds": 3, "results": [{"name": "a", "microseconds": 1}, {"name": "b"}]}
    assert len([line for line in text.splitlines() if '"name"' in line]) == 2


def test_totals_of_callgrind():
    assert bench.total_of("version: 1\nevents: Ir\n\nfn=(1) f\n1 5\n\ntotals: 1234\n") == 1234
    with pytest.raises(bench.Trouble, match="collected nothing"):
        bench.total_of("events: Ir\nsummary: 0\n")


def counted(case: str, instructions: int, processor: str = "p") -> dict[str, str]:
    return dict(zip(bench.COLUMNS, (processor, "c", case, str(instructions), "1", "1.00"), strict=True))


def test_a_count_replaces_that_of_its_processor_only(tmp_path):
    file = tmp_path / "counts.csv"
    assert bench.read_counts(file) == []
    kept = [counted("a", 1), counted("b", 2), counted("a", 3, "q")]
    bench.write_counts(file, bench.merged(kept, [counted("b", 20), counted("c", 30)]))
    assert bench.read_counts(file) == [counted("a", 1), counted("b", 20), counted("a", 3, "q"), counted("c", 30)]


def test_more_instructions_than_in_the_table_fail(tmp_path, monkeypatch, capsys):
    table = tmp_path / "instructions.csv"
    monkeypatch.setattr(bench, "COUNTS", table)
    monkeypatch.setattr(bench, "processor", lambda: "p")
    monkeypatch.setattr(bench, "compiler", lambda build: "c")
    instructions = {"heavy_top/geom1": 1000, "heavy_top/sigma1": 500}
    monkeypatch.setattr(
        bench, "count_steps",
        lambda program, name, steps: {k: v for k, v in counted(name, instructions[name]).items() if k not in ("processor", "compiler")},
    )  # fmt: skip
    assert bench.main(["count", "heavy_top"]) == 0
    assert "has nothing for this processor" in capsys.readouterr().out
    assert bench.main(["count", "heavy_top", "--update"]) == 0
    assert bench.main(["count", "heavy_top"]) == 0
    instructions["heavy_top/geom1"] = 1050
    capsys.readouterr()
    assert bench.main(["count", "heavy_top"]) == 1
    assert "More than in instructions.csv: heavy_top/geom1." in capsys.readouterr().out


def test_the_table_in_the_repository_names_what_is_counted():
    rows = bench.read_counts(bench.COUNTS)
    assert {row["case"] for row in rows} == set(bench.COUNTED)
    assert all(int(row["instructions_per_step"]) > 0 for row in rows)


def test_every_counted_case_steps(speed_benchmark):
    for name in ("heavy_top/sigma1", "andrews_squeezer/planar", "puma560/minimal", "chain/by_hand/10", "net/block/10"):
        said = subprocess.run([speed_benchmark, "--count", name, "3"], capture_output=True, text=True, check=True).stdout
        found = json.loads(said)
        assert found["bodies"] >= 1 and found["solves"] >= 3, name
    wrong = subprocess.run([speed_benchmark, "--count", "knot", "3"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "no case 'knot'; there are heavy_top/geom1" in wrong.stderr
    names = subprocess.run([speed_benchmark, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout.split()
    assert set(bench.COUNTED) <= set(names)
    for target in bench.TARGETS:  # a misspelt name would never be measured
        target.value({name: bench.Measured([1.0], [1.0]) for name in names})


def test_the_solver_by_hand_moves_as_the_engine_does(speed_benchmark):
    said = subprocess.run([speed_benchmark, "--chain-by-hand", "10", "200"], capture_output=True, text=True, check=True).stdout
    engine = ld.run("chain", end=0.2, step=1e-3, integrator="generalized-alpha,rho=0.9,sigma=1,variant=paper")["last"][-1]
    np.testing.assert_allclose(json.loads(said), engine, atol=1e-9)
    np.testing.assert_allclose(json.loads(said), [9.477529961985, 0, -0.196199924453], atol=1e-6)


def test_computing_time_for_an_error_is_read_between_runs():
    case = work_precision.Case("heavy_top", "x", "y")
    point = work_precision.Point
    case.points = [point(4, math.nan, 1.0), point(2, 1e-2, 1.0), point(1, 1e-4, 4.0), point(0.5, 1e-6, 16.0)]
    assert case.seconds_for(1e-4) == pytest.approx(4)
    assert case.seconds_for(1e-3) == pytest.approx(2), "half way between 1e-2 and 1e-4 in logarithms"
    assert math.isnan(case.seconds_for(1e-8))
    assert case.seconds_for(1) == 1.0, "already the largest step that succeeds"
    case.points[1].error, case.points[2].error = 1e-5, 1e-3  # a lucky run
    assert case.seconds_for(1e-4) > 4, "it must stay below the bound"


def test_work_precision_of_the_heavy_top(tmp_path, capsys):
    file = tmp_path / "all.csv"
    assert work_precision.main(
        ["--model", "heavy_top", "--formulation", "r3so3", "--formulation", "r3so3-spatial", "--error", "1e-2", "--error", "2e-3",
         "--integrator", "generalized-alpha,rho=0.9", "--integrator", "dopri5,adaptive=true", "--out", str(file)]
    ) == 0  # fmt: skip
    said = capsys.readouterr().out
    assert "| integrator | 0.01 | 0.002 |" in said
    lines = file.read_text().splitlines()
    assert len(lines) == 5
    assert "not reached" not in said


def test_every_integrator_is_in_the_study():
    studied = {text.split(",")[0] for text in work_precision.EQUAL_STEPS + work_precision.CHOSEN_STEPS}
    assert studied == set(ld.integrators())


def test_a_study_ends_with_the_budget():
    case = work_precision.Case("heavy_top", "rk44", "r3so3")
    work_precision.study(case, 1e-9, budget=1, run=lambda integrator, step: (step, 1e-2 / step))
    assert case.stopped == "a run took longer than 1 s"

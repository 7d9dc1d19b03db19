"""Studies: the same digits on every engine, stores that survive, and indices that are known in closed form."""

import concurrent.futures
import importlib.util
import json
import math
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "studies"
LIEDYN = shutil.which("liedyn")


def thrown(cases: int = 40, **more) -> dict:
    """A stone thrown upwards: z(t) = v t - g t^2/2, exactly so for the integrator."""
    model = {
        "liedyn": 1,
        "parameters": {"v": 5, "g": 10},
        "gravity": [0, 0, "-g"],
        "bodies": {"stone": {"type": "point", "mass": 1, "velocity": [0, 0, "v"]}},
        "sensors": {"place": {"type": "position", "of": "stone"}, "energy": {"type": "energy"}},
        "simulation": {"end": 1, "step": 0.01},
    }
    return {
        "model": model,
        "parameters": {
            "v": {"distribution": "uniform", "lower": 4, "upper": 6},
            "g": {"distribution": "normal", "mean": 10, "deviation": 0.1, "lower": 9.8},
        },
        "sampling": {"method": "latin-hypercube", "cases": cases, "seed": 3},
        "outputs": {
            "end": "place[2]",
            "top": "place[2]@max",
            "when": "place[2]@time_of_max",
            "half": "place[2]@0.505",
            "area": "place[2]@integral",
            "mean": "place[2]@mean",
            "rms": "place[2]@rms",
            "passes": "place[2]@first>0.5",
            "never": "place[2]@first<-100",
            "all": "place",
        },
        **more,
    }


def identical(a: ld.StudyTable, b: ld.StudyTable) -> None:
    """All but the computing times."""
    assert a.layout["fingerprint"] == b.layout["fingerprint"]
    np.testing.assert_array_equal(a.status, b.status)
    for name in a._columns:
        assert a[name].tobytes() == b[name].tobytes(), name
    assert a.messages == b.messages


def test_reductions_are_those_of_the_closed_form(tmp_path):
    table = ld.Study(thrown()).run(tmp_path / "store.h5", threads=2)
    v, g = table["v"], table["g"]
    assert table.completed.all() and (g >= 9.8).all() and (4 < v).all() and (v < 6).all()
    np.testing.assert_allclose(table["end"], v - g / 2, atol=1e-9)
    np.testing.assert_allclose(table["half"], 0.505 * v - g * 0.505**2 / 2, atol=1e-9)
    np.testing.assert_allclose(table["area"], v / 2 - g / 6, atol=1e-9)
    np.testing.assert_allclose(table["mean"], table["area"], rtol=1e-12)
    # int (v t - g t^2/2)^2 = v^2/3 - v g/4 + g^2/20, of fourth degree: the rule is exact for the third.
    np.testing.assert_allclose(table["rms"], np.sqrt(v**2 / 3 - v * g / 4 + g**2 / 20), rtol=1e-6)
    np.testing.assert_allclose(table["top"], v**2 / (2 * g), atol=g.max() * 0.005**2 / 2 * 1.001)  # at recorded times
    np.testing.assert_allclose(table["when"], v / g, atol=0.00501)
    exact = (v - np.sqrt(v**2 - g)) / g
    assert (np.abs(table["passes"] - exact) <= g * 0.01**2 / 8 / np.sqrt(v**2 - g) * 1.05).all()  # linear between them: g h^2/8 over the speed
    assert np.isnan(table["never"]).all()
    np.testing.assert_array_equal(table["all"][:, 2], table["end"])
    np.testing.assert_array_equal(table["all[2]"], table["end"])


def test_cases_have_the_digits_of_single_runs(tmp_path):
    study = ld.Study(EXAMPLES / "slider_crank.json")
    table = study.run(tmp_path / "store.h5", threads=2)
    assert len(table) == 24 and table.completed.all()
    for case in (0, 7, 23):
        values = dict(zip(table.parameters, study.values(case)))
        assert values["rod"] == values["mass"] / 4
        paths = {"speed": values["speed"], "bodies.slider.mass": values["mass"], "bodies.rod.mass": values["rod"]}
        result = ld.run("slider_crank", set=paths, end=0.25, step=1e-3, integrator=table.variant("integrator")[case])
        assert table["farthest"][case] == result["slider"][:, 0].max()
        assert table["half_way"][case] == result["slider_position"][125]
        assert table["steps"][case] == result.summary["steps"]
    assert set(table.variant("integrator")) == {"generalized-alpha,rho=0.875", "esdirk4-6"}


@pytest.mark.parametrize("example", sorted(p.name for p in EXAMPLES.glob("*.json") if "model" not in p.name))
def test_examples_are_valid(example):
    import jsonschema

    content = json.loads((EXAMPLES / example).read_text())
    jsonschema.validate(content, json.loads(ld._liedyn.study_schema()))
    assert subprocess.run([LIEDYN, "check", EXAMPLES / example], capture_output=True).returncode == 0


@pytest.mark.parametrize("example, end", [("heavy_top", "0.05"), ("four_bar_flexible", "0.008")])
def test_examples_run(example, end, tmp_path):  # the others in the tests of their numbers
    done = sweep(EXAMPLES / f"{example}.json", "--end", end, "--out", tmp_path / "store.h5", "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["counts"]
    assert counts["completed"] == sum(counts.values()) > 0


def test_every_engine_gives_the_same_bits(tmp_path):
    study = ld.Study(thrown())
    one = study.run(tmp_path / "one.h5", threads=1)
    identical(one, study.run(tmp_path / "three.h5", threads=3))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        identical(one, study.run(tmp_path / "pool.h5", executor=pool))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        identical(one, study.run(tmp_path / "threads.h5", executor=pool))


def test_dask_gives_the_same_bits(tmp_path):
    distributed = pytest.importorskip("distributed")
    study = ld.Study(thrown())
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            identical(study.run(tmp_path / "one.h5", threads=1), study.run(tmp_path / "dask.h5", executor=client))


def test_a_worker_of_dask_that_dies_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    slow = thrown(60)
    slow["model"]["simulation"]["step"] = 2e-4
    study, killed = ld.Study(slow), []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=False) as cluster:
        with distributed.Client(cluster) as client:
            workers = list(client.run(os.getpid).values())

            def kill_one(done, failed, cases):
                if not killed:
                    killed.append(done)
                    os.kill(workers[0], signal.SIGKILL)

            table = study.run(tmp_path / "dask.h5", executor=client, progress=kill_one)
    assert 0 < killed[0] < 60
    identical(study.run(tmp_path / "one.h5", threads=2), table)


def written(directory: Path, study: dict) -> Path:
    model = directory / "model.json"
    model.write_text(json.dumps(study["model"]))
    file = directory / "study.json"
    file.write_text(json.dumps({"liedyn_study": 1, **study, "model": "model.json"}))
    return file


def sweep(*arguments, **more) -> subprocess.CompletedProcess:
    return subprocess.run([LIEDYN, "sweep", *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)


def has_mpi() -> bool:
    return shutil.which("mpirun") is not None and (Path(LIEDYN).resolve().parents[1] / "lib/liedyn/liedyn_mpi.so").exists()


@pytest.mark.skipif(not has_mpi(), reason="Open MPI is not installed")
def test_mpi_gives_the_same_bits(tmp_path):
    file = written(tmp_path, thrown(200))
    assert sweep(file, "--out", tmp_path / "one.h5", "--threads", 1).returncode == 0
    for ranks in (1, 2, 4):
        store = tmp_path / f"mpi{ranks}.h5"
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), LIEDYN, "sweep", file, "--engine", "mpi", "--out", store]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert f"{ranks} MPI rank" in done.stdout
        identical(ld.load_study(tmp_path / "one.h5"), ld.load_study(store))


def test_a_study_that_is_killed_loses_and_repeats_nothing(tmp_path):
    """kill -9 at random moments. The journal only grows: what it has is never run again."""
    file = written(tmp_path, thrown(3000, outputs={"end": "place[2]", "top": "place[2]@max"}))
    store, journal = tmp_path / "store.h5", tmp_path / "store.h5.journal"
    moments = random.Random(1)
    before, kills = b"", 0
    while kills < 8:
        process = subprocess.Popen([LIEDYN, "sweep", file, "--out", store, "--threads", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.01, 0.25))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:  # it was faster
            break
        kills += 1
        if before and not journal.exists():  # all cases are in the store: it was killed behind its last act
            assert len(ld.load_study(store)) == 3000
            break
        after = journal.read_bytes() if journal.exists() else b""
        whole = ld.load_study(store) if after else None
        # Only a record that was not whole may be cut off.
        assert after[: len(before)] == before or len(before) - len(os.path.commonprefix([before, after])) < 300
        if whole is not None:
            before = after
    done = sweep(file, "--out", store)
    assert done.returncode == 0, done.stderr
    assert not journal.exists() and kills > 0
    assert sweep(file, "--out", tmp_path / "other.h5").returncode == 0
    identical(ld.load_study(store), ld.load_study(tmp_path / "other.h5"))
    # Nothing is left to be done.
    again = json.loads(sweep(file, "--out", store, "--json").stdout)
    assert again["run"] == 0 and again["counts"]["completed"] == 3000


def test_a_damaged_end_of_the_journal_is_cut_off(tmp_path):
    file = written(tmp_path, thrown(50))
    assert sweep(file, "--out", tmp_path / "whole.h5").returncode == 0
    store = ld._liedyn.SweepStore(str(tmp_path / "part.h5"), ld.Study(file)._plan.layout)
    store.add(ld.Study(file)._plan.run(list(range(20))))
    del store
    journal = tmp_path / "part.h5.journal"
    content = journal.read_bytes()
    for damage in (content[:-7], content + b"\x50\x00\x00\x00garbage", content[:-20] + b"\xff" * 20):
        journal.write_bytes(damage)
        table = ld.load_study(tmp_path / "part.h5")
        assert int(table.completed.sum()) == (20 if damage.startswith(content) else 19)
    assert sweep(file, "--out", tmp_path / "part.h5").returncode == 0
    identical(ld.load_study(tmp_path / "whole.h5"), ld.load_study(tmp_path / "part.h5"))


def test_a_record_that_is_none_is_named(tmp_path):
    """A record whose checksum is right and whose content is not."""
    file = written(tmp_path, thrown(50))
    plan = ld.Study(file)._plan
    store = ld._liedyn.SweepStore(str(tmp_path / "part.h5"), plan.layout)
    store.add(plan.run([0, 1]))
    del store
    journal = tmp_path / "part.h5.journal"
    content = journal.read_bytes()
    (record,) = plan.run([2])
    short = record[:-8]
    longer = record[:16] + struct.pack("<I", struct.unpack("<I", record[16:20])[0] + 1) + record[20:]
    for wrong, message in ((short, "is too short"), (longer + bytes(8), "another size")):
        journal.write_bytes(content + struct.pack("<II", len(wrong), zlib.crc32(wrong)) + wrong)
        done = sweep(file, "--out", tmp_path / "part.h5")
        assert done.returncode == 2 and message in done.stderr and "move it away" in done.stderr, done.stderr
        with pytest.raises(ld.InputError):
            ld.load_study(tmp_path / "part.h5")


def test_a_store_in_use_is_refused(tmp_path):
    file = written(tmp_path, thrown(20))
    store = ld._liedyn.SweepStore(str(tmp_path / "store.h5"), ld.Study(file)._plan.layout)
    done = sweep(file, "--out", tmp_path / "store.h5")
    assert done.returncode == 2 and "in use by another process" in done.stderr
    status = sweep(file, "--out", tmp_path / "store.h5", "--status", "--json")
    assert json.loads(status.stdout)["in_use"] is True
    del store
    assert sweep(file, "--out", tmp_path / "store.h5").returncode == 0


def test_a_store_of_another_study_is_refused(tmp_path):
    file = written(tmp_path, thrown(20))
    assert sweep(file, "--out", tmp_path / "store.h5").returncode == 0
    before = (tmp_path / "store.h5").read_bytes()
    other = sweep(file, "--out", tmp_path / "store.h5", "--step", "0.005")
    assert other.returncode == 2 and "another study" in other.stderr
    assert (tmp_path / "store.h5").read_bytes() == before
    (tmp_path / "text.h5").write_text("no store")
    assert sweep(file, "--out", tmp_path / "text.h5").returncode == 2
    assert (tmp_path / "text.h5").read_text() == "no store"


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path):
    file = written(tmp_path, thrown(400))
    limit = 40000
    done = sweep(file, "--out", tmp_path / "store.h5", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 2 and "cannot be written" in done.stderr, done.stderr
    some = int(ld.load_study(tmp_path / "store.h5").completed.sum())
    assert 0 < some < 400
    rest = json.loads(sweep(file, "--out", tmp_path / "store.h5", "--json").stdout)
    assert rest["run"] == 400 - some
    assert sweep(file, "--out", tmp_path / "other.h5").returncode == 0
    identical(ld.load_study(tmp_path / "store.h5"), ld.load_study(tmp_path / "other.h5"))


def test_failed_cases_are_recorded_and_can_be_tried_again(tmp_path):
    study = thrown()
    study["model"]["forces"] = {"pull": {"type": "force", "on": "stone", "force": ["sqrt(limit - t)", 0, 0]}}
    study["model"]["parameters"]["limit"] = 2
    study |= {"parameters": {"limit": [2, 0.5, 3, 0.25], "mass": {"parameter": "bodies.stone.mass", "values": [1, 1, -1, 1]}}, "sampling": {"method": "list"}}
    with pytest.warns(ld.NumericalWarning, match="3 of 4 cases did not complete"):
        table = ld.Study(study).run(tmp_path / "store.h5")
    assert table.status.tolist() == [1, 2, 3, 2]
    assert "t = 0.5" in table.failures[1] and "bodies.stone.mass" in table.failures[2]
    assert np.isnan(table["end"][1:]).all() and table["end"][0] == pytest.approx(0)
    frame = pytest.importorskip("pandas") and table.to_dataframe()
    assert list(frame["status"]) == ["completed", "failed", "refused", "failed"]
    with pytest.warns(ld.NumericalWarning):
        identical(table, ld.Study(study).run(tmp_path / "store.h5", retry=True))


def test_a_time_limit_ends_a_case_only(tmp_path):
    study = thrown(4, time_limit=0.2) | {"parameters": {"v": [1, 2]}, "sampling": {"method": "list"}}
    study["model"]["simulation"]["step"] = 1e-8
    begin = time.monotonic()
    with pytest.warns(ld.NumericalWarning, match="took longer than 0.2 s"):
        table = ld.Study(study).run(tmp_path / "store.h5", threads=1)
    assert table.status.tolist() == [4, 4] and time.monotonic() - begin < 20


def test_a_time_limit_is_looked_at_between_slow_steps(tmp_path):
    study = {
        "model": "chain",
        "simulation": {"end": 0.015, "step": 1e-3},
        "parameters": {"links": [20000]},
        "outputs": {"tip": "tip[2]"},
        "time_limit": 0.05,
    }
    with pytest.warns(ld.NumericalWarning, match="took longer than 0.05 s"):
        table = ld.Study(study).run(tmp_path / "store.h5", threads=1)
    assert table.status.tolist() == [4]


def test_parameters_that_the_reader_needs_are_read_anew(tmp_path):
    study = {"model": "chain", "parameters": {"links": [1, 3, 2]}, "simulation": {"end": 0.01}, "outputs": {"tip": "tip[0]@0"}}
    np.testing.assert_allclose(ld.Study(study).run(tmp_path / "chain.h5")["tip"], [1, 3, 2])
    # The end of the run is an expression of a parameter; the first and the last value are that of the model.
    other = thrown() | {"parameters": {"v": [5, 10, 2, 5]}, "sampling": {"method": "list"}, "outputs": {"end": "place[2]"}}
    other["model"]["simulation"]["end"] = "2*v/10"
    np.testing.assert_allclose(ld.Study(other).run(tmp_path / "ends.h5")["end"], 0, atol=1e-9)
    study = thrown() | {"parameters": {"v": [4, 6]}, "sampling": {"method": "grid"}, "outputs": {"end": "place[2]"}}
    study["model"]["simulation"]["end"] = "2*v/g"
    table = ld.Study(study).run(tmp_path / "thrown.h5")
    np.testing.assert_allclose(table["end"], 0, atol=1e-9)


def test_all_mistakes_of_a_study_are_named_with_their_lines(tmp_path):
    (tmp_path / "study.json").write_text(
        """{ "liedyn_study": 1,
  "model": "heavy_top",
  "parameters": {
    "spinn": { "distribution": "uniform", "lower": 1, "upper": 2 },
    "mass": { "parameter": "bodies.top.mass", "distribution": "uniform", "lower": 1, "upper": 2 },
    "twice": { "parameters": [], "expression": "2*later" } },
  "sampling": { "method": "sobol", "cases": 8 },
  "outputs": { "a": "position[7]", "b": "speed@max", "c": "position@maximum" } }"""
    )
    done = sweep(tmp_path / "study.json")
    assert done.returncode == 2 and "study.json:6" in done.stderr and "later" in done.stderr
    (tmp_path / "study.json").write_text((tmp_path / "study.json").read_text().replace("2*later", "2*mass"))
    done = sweep(tmp_path / "study.json")
    assert done.returncode == 2
    for text in ("study.json:4", "spinn", "study.json:8", "got '[7]'", "no sensor 'speed'", "maximum"):
        assert text in done.stderr, done.stderr
    for wrong, says in (
        ({"sampling": {"method": "sobl", "cases": 3}}, "did you mean 'sobol'"),
        ({"parameters": {"v": {"distribution": "uniform", "lower": 2, "upper": 1}}}, "lower < upper"),
        ({"outputs": {}}, "outputs"),
        ({"time_limit": -1}, "positive"),
        ({"sampling": {"method": "random"}}, "cases"),
        ({"keep": [40]}, "from 0 to 39"),
        ({"parameters": {"bodies.stone.mass": [1, 2]}, "sampling": {"method": "grid"}}, r'"mass": \{"parameter": "bodies.stone.mass", ...\}'),
        ({"parameters": {"a": {"parameter": "v", "values": [1, 2]}, "v": [3, 4]}, "sampling": {"method": "grid"}}, "parameters.v: 'v' already has the values of 'a'"),
        ({"colour": 1}, "unknown key"),
    ):
        with pytest.raises(ld.InputError, match=says):
            ld.Study(thrown() | wrong)


def test_a_store_that_does_not_exist_is_called_so(tmp_path):
    done = sweep(written(tmp_path, thrown(4)), "--out", tmp_path / "none.h5", "--status")
    assert done.returncode == 2 and "none.h5: does not exist (hint: liedyn sweep STUDY --out FILE" in done.stderr
    with pytest.raises(ld.InputError, match="none.h5: does not exist"):
        ld.load_study(tmp_path / "none.h5")


def test_a_case_is_shown_as_a_run(tmp_path):
    file = written(tmp_path, thrown(10))
    assert sweep(file).returncode == 0
    command = sweep(file, "--show", 7).stdout.split()
    result = json.loads(subprocess.run([LIEDYN, *command[1:], "--json"], capture_output=True, text=True, cwd=tmp_path).stdout)
    assert result["sensors"]["place"][2] == ld.load_study(tmp_path / "study.h5")["end"][7]


def test_whole_results_are_kept_of_some_cases(tmp_path):
    table = ld.Study(thrown(10, keep=[3])).run(tmp_path / "store.h5")
    assert [p.name for p in (tmp_path / "store_results").iterdir()] == ["3.h5"]
    assert ld.load_result(tmp_path / "store_results" / "3.h5")["place"][-1, 2] == table["end"][3]


def test_sobol_indices_of_ishigamis_function(tmp_path):
    table = ld.Study(EXAMPLES / "ishigami.json").run(tmp_path / "store.h5", threads=2)
    np.testing.assert_allclose(table["f"], np.sin(table["a"]) + 7 * np.sin(table["b"]) ** 2 + 0.1 * table["c"] ** 4 * np.sin(table["a"]), atol=1e-12)
    # V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2 with a = 7, b = 0.1; V_1 = (1 + b pi^4/5)^2/2, V_2 = a^2/8, V_13 = 8 b^2 pi^8/225.
    v1, v2, v13 = (1 + 0.1 * math.pi**4 / 5) ** 2 / 2, 49 / 8, 8 * 0.01 * math.pi**8 / 225
    v = v1 + v2 + v13
    found = table.sobol_indices("f")
    for name, first, total in (("a", v1 / v, (v1 + v13) / v), ("b", v2 / v, v2 / v), ("c", 0, v13 / v)):
        assert found[name]["first"] == pytest.approx(first, abs=0.01)
        assert found[name]["total"] == pytest.approx(total, abs=0.01)
        assert found[name]["total_low"] <= found[name]["total"] <= found[name]["total_high"]
    with pytest.raises(ld.InputError, match="morris"):
        table.morris("f")


def test_elementary_effects_of_a_linear_function(tmp_path):
    study = thrown() | {"sampling": {"method": "morris", "cases": 10}, "outputs": {"end": "place[2]"}}
    study["parameters"]["g"] = {"distribution": "uniform", "lower": 8, "upper": 12}
    found = ld.Study(study).run(tmp_path / "store.h5").morris("end")  # v - g/2: slopes 2 and -2 per unit of the distribution
    assert found["v"]["mean"] == pytest.approx(2) and found["g"]["mean"] == pytest.approx(-2)
    assert found["g"]["absolute"] == pytest.approx(2) and found["g"]["deviation"] == pytest.approx(0, abs=1e-9)


def test_elementary_effects_leave_out_paths_that_failed(tmp_path):
    study = thrown() | {"sampling": {"method": "morris", "cases": 12}, "outputs": {"end": "place[2]"}}
    study["parameters"]["g"] = {"distribution": "uniform", "lower": 8, "upper": 12}
    study["model"]["forces"] = {"fault": {"type": "force", "on": "stone", "force": ["0*sqrt(where(v > 5.5, g - 9, 1))", 0, 0]}}
    with pytest.warns(ld.NumericalWarning, match="did not complete"):
        table = ld.Study(study).run(tmp_path / "store.h5")
    assert not table.completed[:3].all() or not table.completed[-3:].all() or not table.completed[3:-3].all()
    with pytest.warns(ld.NumericalWarning, match="are left out"):
        found = table.morris("end")
    assert found["v"]["mean"] == pytest.approx(2) and found["g"]["mean"] == pytest.approx(-2)
    assert found["g"]["absolute"] == pytest.approx(2) and found["g"]["deviation"] == pytest.approx(0, abs=1e-9)


def test_a_discrete_parameter_may_keep_its_value(tmp_path):
    study = thrown() | {"sampling": {"method": "morris", "cases": 20}, "outputs": {"end": "place[2]"}}
    study["parameters"] = {"v": {"distribution": "discrete", "values": [4, 6], "weights": [1, 3]}, "g": {"distribution": "uniform", "lower": 8, "upper": 12}}
    found = ld.Study(study).run(tmp_path / "store.h5").morris("end")
    assert found["g"]["mean"] == pytest.approx(-2)
    assert 0 <= found["v"]["mean"] <= 4 + 1e-9  # (6 - 4)/0.5 where the value changes, otherwise 0


def test_outputs_of_several_numbers_are_asked_for_one_by_one(tmp_path):
    table = ld.Study(thrown(10)).run(tmp_path / "store.h5")
    for ask in (table.statistics, table.plot_histogram, table.response_surface):
        with pytest.raises(ld.InputError, match=r'expected one component, got .all. \(hint: for example "all\[0\]"'):
            ask("all")


def test_a_store_is_free_after_an_error(tmp_path):
    def fails(*_) -> None:
        raise RuntimeError("stop")

    kept = []  # as a notebook does, with all that belongs to it
    try:
        ld.Study(thrown(20)).run(tmp_path / "store.h5", progress=fails)
    except RuntimeError as error:
        kept.append(error)
    assert kept
    assert ld.Study(thrown(20)).run(tmp_path / "store.h5").completed.all()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        ld.Study(thrown(20)).run(tmp_path / "other.h5", executor=pool)
        assert ld.Study(thrown(20)).run(tmp_path / "other.h5", executor=pool, retry=True).completed.all()


def test_results_may_be_kept_of_cases_that_have_run(tmp_path):
    table = ld.Study(thrown(10)).run(tmp_path / "store.h5")
    assert not (tmp_path / "store_results").exists()
    ld.Study(thrown(10, keep=[3, 5])).run(tmp_path / "store.h5")
    assert sorted(p.name for p in (tmp_path / "store_results").iterdir()) == ["3.h5", "5.h5"]
    assert ld.load_result(tmp_path / "store_results" / "5.h5")["place"][-1, 2] == table["end"][5]


def test_models_in_a_dict_name_files_of_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "road.csv").write_text("0,1\n1,3\n2,5\n")
    model = {
        "liedyn": 1,
        "parameters": {"k": 1},
        "bodies": {"b": {"type": "point", "mass": 1}},
        "tables": {"road": {"file": "road.csv"}},
        "forces": {"f": {"type": "force", "on": "b", "force": ["k*road(t)", 0, 0]}},
        "sensors": {"v": {"type": "velocity", "of": "b"}},
        "simulation": {"end": 1, "step": 1e-3, "integrator": "rk44"},
    }
    expected = ld.run(model)["v"][-1, 0]
    assert expected == pytest.approx(2)  # integral of 1 + 2 t
    study = {"parameters": {"k": [1, 2, 1]}, "outputs": {"v": "v[0]"}}
    builder = ld.Builder.from_json(model)
    for i, one in enumerate((model, builder)):
        np.testing.assert_allclose(ld.Study(study | {"model": one}).run(tmp_path / f"{i}.h5")["v"], [expected, 2 * expected, expected])
        search = {"model": one, "variables": {"k": {"parameter": "k", "lower": 0, "upper": 5}}, "minimize": "(end_v - 6)^2", "outputs": {"end_v": "v[0]"}}
        assert ld.optimize(search).variables["k"] == pytest.approx(3, rel=1e-4)
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        np.testing.assert_allclose(ld.Study(study | {"model": model}).run(tmp_path / "pool.h5", executor=pool)["v"], [expected, 2 * expected, expected])


def test_derivative_based_indices_of_a_linear_function():
    study = thrown() | {"sampling": {"method": "sobol", "cases": 64}, "outputs": {"end": "place[2]"}}
    study["parameters"]["g"] = {"distribution": "uniform", "lower": 8, "upper": 12}
    found = ld.Study(study).derivative_indices("end", cases=32)  # v - g/2
    assert found["v"]["mean"] == pytest.approx(1) and found["g"]["mean"] == pytest.approx(-0.5)
    assert found["g"]["square"] == pytest.approx(0.25)
    # V = 4/12 + 16/12/4 = 2/3: both have half of it; the bound is 12/pi^2 times as large.
    assert found["v"]["total_bound"] == pytest.approx(0.5 * 12 / math.pi**2, rel=0.1)


def test_response_surfaces_and_statistics(tmp_path):
    table = ld.Study(thrown(200)).run(tmp_path / "store.h5", threads=2)
    surface = table.response_surface("end")
    assert surface(v=5, g=10) == pytest.approx(0, abs=1e-9) and surface.error < 1e-9 and surface.explained == pytest.approx(1)
    np.testing.assert_allclose(surface(v=[4, 6], g=[10, 10]), [-1, 1], atol=1e-9)
    found = table.statistics("v")
    assert found["mean"] == pytest.approx(5, abs=0.01) and found["deviation"] == pytest.approx(2 / math.sqrt(12), rel=0.02)
    assert found["mean_low"] < 5 < found["mean_high"] and found["quantile_0.5"] == pytest.approx(5, abs=0.02)


def test_polynomial_chaos_through_openturns(tmp_path):
    if importlib.util.find_spec("openturns") is None:
        pytest.skip("python3-openturns is not installed")
    store = tmp_path / "store.h5"
    ld.Study(thrown(100)).run(store, threads=2)
    # In a process of its own: OpenTURNS makes Ctrl-C abort the process, which other tests use.
    program = f"import liedyn as ld; print(ld.load_study({str(store)!r}).polynomial_chaos('end', degree=2).getMetaModel()([5, 10])[0])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert float(done.stdout) == pytest.approx(0, abs=1e-6), done.stderr


def test_spectra_have_the_amplitude_of_a_sine(tmp_path):
    study = thrown(1) | {
        "parameters": {"v": [1]},
        "sampling": {"method": "grid"},
        "outputs": {"spectrum": {"spectrum": "wave", "frequencies": [0, 4, 5, 8]}},
    }
    study["model"]["sensors"]["wave"] = {"type": "expression", "value": "3 + 0.7*sin(2*pi*5*t) + 0.2*cos(2*pi*8*t)"}
    study["model"]["simulation"] |= {"end": 2, "step": 1e-3}
    found = ld.Study(study).run(tmp_path / "store.h5")["spectrum"][0]
    np.testing.assert_allclose(found, [0, 0, 0.7, 0.2], atol=2e-3)
    # Recorded values alias above half their rate, and the window belongs to the whole run.
    study["outputs"]["spectrum"]["frequencies"] = [5, 501]
    with pytest.raises(ld.InputError, match="at most 500 Hz"):
        ld.Study(study).run(tmp_path / "alias.h5")
    study["outputs"]["spectrum"]["frequencies"] = [5]
    study["model"]["simulation"]["until"] = "t - 1.5"
    assert np.isnan(ld.Study(study).run(tmp_path / "stopped.h5")["spectrum"]).all()


def test_the_page_has_all_cases_and_some_scenes(tmp_path, monkeypatch):
    (tmp_path / "viewer.html").write_text("<p><!--liedyn-scene--></p>")
    (tmp_path / "study.html").write_text("<p><!--liedyn-study--></p>")
    monkeypatch.setenv("LIEDYN_VIEWER", str(tmp_path / "viewer.html"))
    study = ld.Study(thrown(20))
    table = study.run(tmp_path / "s.h5", threads=1)
    least, largest = int(np.argmin(table["end"])), int(np.argmax(table["end"]))

    def content(page: str) -> dict:
        return json.loads(page.partition('id="liedyn-study">')[2].partition("</script>")[0])

    view = table.view(scenes=2)
    view.to_html(tmp_path / "page.html")
    data = content((tmp_path / "page.html").read_text())
    assert data["cases"] == 20 and data["scenes"] == sorted([least, largest])
    assert f'id="liedyn-case-{least}"' in view.page and "<iframe" in view._repr_html_() and "20 cases" in repr(view)
    # A store alone has numbers and commands, and no motions.
    alone = ld.load_study(tmp_path / "s.h5")
    assert content(alone.view().page)["scenes"] == []
    with pytest.raises(ld.InputError, match="expected the study"):
        alone.view(scenes=2)
    with pytest.raises(ld.InputError, match="this study is not that of"):
        alone.view(study=ld.Study(thrown(21)))
    assert content(alone.view(study=study, scenes=1).page)["scenes"] != []


@pytest.mark.skipif(LIEDYN is None, reason="needs the program")
def test_the_program_writes_the_page(tmp_path):
    (tmp_path / "viewer.html").write_text("<!--liedyn-scene-->")
    (tmp_path / "study.html").write_text("<!--liedyn-study-->")
    study = {"liedyn_study": 1, **thrown(6)}
    (tmp_path / "model.json").write_text(json.dumps(study["model"]))
    (tmp_path / "study.json").write_text(json.dumps({**study, "model": "model.json"}))
    environment = {**os.environ, "LIEDYN_VIEWER": str(tmp_path / "viewer.html")}

    def sweep(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([LIEDYN, "sweep", "study.json", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)

    for _ in range(2):  # the second time all cases are there
        assert sweep("--html", "page.html", "--scenes", "3").returncode == 0
        page = (tmp_path / "page.html").read_text()
        assert page.count('id="liedyn-case-') == 3
        (tmp_path / "page.html").unlink()
    assert json.loads(sweep("--html", "page.html", "--json").stdout)["html"] == "page.html"
    for wrong in (["--scenes", "3"], ["--html", "no/page.html"], ["--html", "page.html", "--status"], ["--html", "p.html", "--show", "1"]):
        found = sweep(*wrong)
        assert found.returncode == 2 and found.stderr.startswith("error: "), found.stderr
    (tmp_path / "study.html").unlink()
    assert "study.html" in sweep("--html", "page.html").stderr


def test_plots(tmp_path):
    table = ld.Study(thrown()).run(tmp_path / "store.h5")
    assert len(table.plot_parallel(["v", "g", "end"]).lines) == len(table) + 3
    assert table.plot_scatter("v", "end", color="g").get_xlabel() == "v"
    assert table.plot_histogram("end").get_xlabel() == "end [m]"

"""Convergence studies: tables, errors, plots."""

import csv
import math
import os
import shutil
import signal
import subprocess
import sys
import threading

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import liedyn as ld

matplotlib.use("Agg")

STEPS = [2e-3, 1e-3, 5e-4]


@pytest.fixture(scope="module")
def study() -> ld.Convergence:
    return ld.converge(
        "heavy_top", integrators=["generalized-alpha,rho=0.9", "generalized-alpha,rho=0.9,sigma=opt"],
        formulations=["r3so3", "se3"], steps=STEPS, end=0.2, of="position", jobs=2,
    )


def test_every_integrator_runs_in_every_formulation(study):
    assert study.cases == [
        "generalized-alpha,rho=0.9 r3so3",
        "generalized-alpha,rho=0.9 se3",
        "generalized-alpha,rho=0.9,sigma=opt r3so3",
        "generalized-alpha,rho=0.9,sigma=opt se3",
    ]
    assert study.quantities == ["q", "v", "lambda", "position"]
    assert len(study.rows) == 12
    np.testing.assert_allclose(study.steps(0), STEPS)


def test_errors_and_orders(study):
    for case in study.cases:
        assert study.order(case) == pytest.approx(2, abs=0.1)
        errors = study.errors(case, "position")
        assert (errors[1:] < errors[:-1]).all()
        assert math.isnan(study.orders(case)[0])
        assert study.orders(case)[1] == pytest.approx(math.log2(study.errors(case)[0] / study.errors(case)[1]))
        assert (study.cpu_seconds(case) > 0).all()
    assert "order" in str(study)
    with pytest.raises(KeyError, match="there are q, v, lambda, position"):
        study.errors(0, "energy")
    with pytest.raises(KeyError, match="no case 'rk44'"):
        study.errors("rk44")


def test_csv_holds_the_rows(study, tmp_path):
    study.to_csv(tmp_path / "study.csv")
    with open(tmp_path / "study.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["error_q"]) for row in rows] == [row["error_q"] for row in study.rows]
    assert rows[-1]["integrator"] == "generalized-alpha,rho=0.9,sigma=opt"


def test_plot_has_a_panel_per_quantity(study):
    figure = study.plot(work_precision=True)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles.count("error of lambda") == 2, "against the step and against the CPU time"
    figure.canvas.draw()
    plt.close(figure)


def test_a_result_is_a_reference():
    fine = ld.run("heavy_top", step=1e-4, end=0.1)
    study = ld.converge("heavy_top", steps=[2e-3, 1e-3], end=0.1, reference=fine, of=["position"], norm="end")
    by_hand = ld.run("heavy_top", step=1e-3, end=0.1)["position"][-1] - fine["position"][-1]
    scale = np.linalg.norm(fine["position"], axis=1).max()
    assert study.errors(0, "position")[1] == pytest.approx(np.linalg.norm(by_hand) / scale, rel=1e-9)


def test_wrong_input():
    with pytest.raises(ld.InputError, match="positive steps"):
        ld.converge("heavy_top", steps=[0])
    with pytest.raises(ld.InputError, match="expected max or end"):
        ld.converge("heavy_top", norm="mean")
    with pytest.raises(ld.InputError, match="INTEGRATOR@STEP"):
        ld.converge("heavy_top", reference="generalized-alpha@small")
    with pytest.raises(ld.InputError, match="cannot be read"):
        ld.converge("heavy_top", reference="nowhere.csv")


def test_interrupt_stops_a_study():
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ld.converge("heavy_top", steps=[1e-6], jobs=2)
    timer.join()


def program(arguments: list[str], **environment: str) -> subprocess.CompletedProcess:
    liedyn = shutil.which("liedyn")
    if liedyn is None:
        pytest.skip("the program is not on the PATH")
    return subprocess.run([liedyn, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)


def test_the_program_draws_the_plot(tmp_path):
    run = program(["converge", "pendulum", "--out", str(tmp_path / "study")], LIEDYN_PYTHON=sys.executable)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert (tmp_path / "study.png").read_bytes().startswith(b"\x89PNG")


def test_without_python_there_is_no_plot_but_everything_else(tmp_path):
    run = program(["converge", "pendulum", "--out", str(tmp_path / "study")], LIEDYN_PYTHON="no-such-python")
    assert run.returncode == 0, run.stderr
    assert run.stderr.startswith("no plot: ") and "no-such-python: no such program" in run.stderr
    assert (tmp_path / "study.json").exists() and not (tmp_path / "study.png").exists()

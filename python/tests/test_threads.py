"""A run leaves the interpreter to others: threads go on, Ctrl-C works."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import liedyn as ld


def test_runs_in_several_threads_give_what_they_give_alone():
    model = ld.Model("heavy_top")
    spins = [20.0, 60.0, 100.0, 150.0]

    def run(spin: float) -> np.ndarray:
        return model.run(set={"spin": spin}).table

    alone = [run(spin) for spin in spins]
    with ThreadPoolExecutor(max_workers=len(spins)) as pool:
        together = list(pool.map(run, spins))
    for one, other in zip(alone, together):
        np.testing.assert_array_equal(one, other)


def test_sensitivities_in_several_threads_give_what_they_give_alone():
    model = ld.Model("heavy_top")
    cases = [(method, spin) for method in ("direct", "adjoint") for spin in (20.0, 150.0)]

    def jacobian(case: tuple[str, float]) -> np.ndarray:
        method, spin = case
        parameters, outputs = ["bodies.top.mass", "spin"], ["position"]
        return model.sensitivity(parameters, outputs, set={"spin": spin}, end=0.05, method=method).jacobian

    alone = [jacobian(case) for case in cases]
    assert not np.array_equal(alone[0], alone[1])
    with ThreadPoolExecutor(max_workers=len(cases)) as pool:
        together = list(pool.map(jacobian, cases))
    for one, other in zip(alone, together):
        np.testing.assert_array_equal(one, other)


def test_other_threads_run_during_a_run():
    model = ld.Model("heavy_top")
    finished = threading.Event()

    def run() -> None:
        model.run(step=1e-5, every=0)
        finished.set()

    worker = threading.Thread(target=run)
    worker.start()
    ticks = 0
    while not finished.wait(1e-3):
        ticks += 1
    worker.join()
    assert ticks > 20, "100 000 steps take some tenths of a second, in which this thread must wake up often"


def test_errors_of_a_thread_reach_its_caller():
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(ld.run, "heavy_top", step=-1)
        with pytest.raises(ld.InputError, match="step: expected a positive number of seconds"):
            future.result()


def test_interrupt_stops_a_run():
    model = ld.Model("heavy_top")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.run(end=100, step=1e-5, every=0)
    assert time.monotonic() - begin < 5, "the run itself would take a minute"
    timer.join()
    assert model.run(end=0.01).completed

"""The tasks in words: their solutions are correct, wrong ones are not, and the judge says why."""

import subprocess
import sys

import pytest

from liedyn.tasks import judge, task, tasks

NUMBERS = [one.id for one in tasks()]


def test_there_are_thirty_of_them():
    assert len(NUMBERS) == 30
    assert len({one.text for one in tasks()}) == 30
    for one in tasks():
        assert one.solution.is_file(), one.name
        assert one.source and 0 < one.tolerance <= 0.01
        assert abs(one.expected) > 1e-3, "relative tolerances need an answer that is not zero"


@pytest.mark.parametrize("number", NUMBERS)
def test_the_solution_is_correct_and_a_changed_one_is_not(number):
    one = task(number)
    verdict = judge(number, one.solution)
    assert verdict.correct, verdict.reason
    wrong = judge(number, one.solution, one.wrong)
    assert not wrong.correct, f"{one.wrong} is not noticed: {wrong.reason}"
    assert wrong.got is not None, f"the change should give another value, not an error: {wrong.reason}"


def test_models_without_the_sensor_and_broken_ones_are_wrong(tmp_path):
    empty = {"liedyn": 1, "bodies": {"a": {"type": "point", "mass": 1}}}
    assert not judge(1, empty).correct
    assert "place" in judge(1, empty).reason
    broken = tmp_path / "broken.json"
    broken.write_text("{ no json")
    assert not judge(1, broken).correct
    assert not judge(3, empty).correct, "no frequency"
    assert not judge(1, tmp_path / "none.json").correct
    with pytest.raises(KeyError, match="expected 1 to 30"):
        task(31)


def test_the_command_line(tmp_path):
    def run(*words):
        return subprocess.run([sys.executable, "-m", "liedyn.tasks", *map(str, words)], capture_output=True, text=True)

    assert len(run().stdout.splitlines()) == 30
    assert "stone" in run(1).stdout
    good = run(1, task(1).solution)
    assert good.returncode == 0 and good.stdout.startswith("correct")
    assert run(2, task(1).solution).returncode == 1
    assert run(99).returncode == 2

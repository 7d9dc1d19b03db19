"""The command line of liedyn.tasks; see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from liedyn.tasks import judge, task, tasks


def _all(directory: Path) -> int:
    correct = 0
    for one in tasks():
        files = sorted(directory.glob(f"{one.id}*.json"))
        verdict = judge(one.id, files[0]) if files else None
        correct += verdict is not None and verdict.correct
        print(f"{one.id} {one.name:<26} {'no file' if verdict is None else ('correct' if verdict.correct else 'WRONG') + ': ' + verdict.reason}")
    print(f"{correct} of {len(tasks())} are correct")
    return 0 if correct == len(tasks()) else 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m liedyn.tasks", description="Tasks in words whose answers can be checked.")
    parser.add_argument("task", nargs="?", type=int, help="number of the task")
    parser.add_argument("model", nargs="?", help="model file to judge")
    parser.add_argument("--all", metavar="DIRECTORY", type=Path, help="judge the files 01*.json, 02*.json, ... of a directory")
    words = parser.parse_args()
    if words.all is not None:
        return _all(words.all)
    if words.task is None:
        for one in tasks():
            print(f"{one.id} {one.name}")
        return 0
    try:
        one = task(words.task)
    except KeyError as error:
        parser.error(error.args[0])
    if words.model is None:
        print(f"{one.text} (The answer counts as correct within a relative error of {one.tolerance:g}.)")
        return 0
    verdict = judge(one.id, words.model)
    print(("correct: " if verdict.correct else "wrong: ") + verdict.reason)
    return 0 if verdict.correct else 1


if __name__ == "__main__":
    sys.exit(main())

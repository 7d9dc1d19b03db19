"""Many figures, in processes beside each other: what is there already is kept, and a failure ends one figure only."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from liedyn_reproduce import figure
from liedyn_reproduce.figure import FIGURES, Page, Verdict, run, stored


def done(name: str, directory: Path, quick: bool) -> Verdict | None:
    """The stored verdict if this program would come to it again: another version has another digest."""
    verdict = stored(name, directory)
    same = verdict and verdict.origin.program == figure.program() and verdict.quick == quick and not verdict.failure
    return verdict if same else None


def groups(names: Sequence[str], directory: Path) -> list[list[str]]:
    """Figures of one module share runs, so one process does them; what took longest the last time goes first."""
    by_module: dict[str, list[str]] = {}
    for name in names:
        by_module.setdefault(FIGURES[name].make.__module__, []).append(name)

    def seconds(group: list[str]) -> float:
        return sum(verdict.seconds for name in group if (verdict := stored(name, directory)))

    return sorted(by_module.values(), key=seconds, reverse=True)


def run_figures(names: Sequence[str], directory: Path, *, quick: bool, jobs: int) -> Iterator[Verdict]:
    """One verdict after the other, as they come."""
    directory.mkdir(parents=True, exist_ok=True)
    work = groups(names, directory)
    if jobs == 1 or len(work) == 1:
        yield from (run(name, directory, quick=quick, go_on=True) for group in work for name in group)
        return
    verdicts: queue.Queue[Verdict] = queue.Queue()
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for group in work:
            pool.submit(in_a_process, group, directory, quick, threads, verdicts.put)
        for _ in names:
            yield verdicts.get()


def command(names: Sequence[str], directory: Path, quick: bool, threads: int) -> list[str]:
    options = ["--out", str(directory), "--worker", str(threads), *(["--quick"] if quick else [])]
    return [sys.executable, "-m", "liedyn_reproduce", *names, *options]


def in_a_process(
    names: Sequence[str], directory: Path, quick: bool, threads: int, tell: Callable[[Verdict], None]
) -> None:
    """The process prints the name of each figure that is done. If it dies, the next one takes those that are left."""
    left = list(names)
    while left:
        why = ""
        with tempfile.TemporaryFile("w+") as messages:
            try:
                process = subprocess.Popen(
                    command(left, directory, quick, threads), stdout=subprocess.PIPE, stderr=messages, text=True
                )
                for line in process.stdout:
                    if line.strip() == left[0] and (verdict := stored(left[0], directory)):
                        tell(verdict)
                        left.pop(0)
                        if not left:
                            break
                why = f"its process ended with exit code {process.wait()}\n"
            except OSError as error:
                why = f"its process could not be started: {error}\n"
            messages.seek(0)
            why += messages.read()[-2000:]
        if left:
            tell(Page(FIGURES[left.pop(0)], directory, quick).fail(0, why))

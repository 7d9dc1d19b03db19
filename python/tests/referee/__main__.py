"""`python -m referee [N] [--seed S]`: N random mechanisms against the engine. `--units`: the table of invariance."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from referee.compare import BOUNDS, Comparison, compare
from referee.mechanisms import mechanism, with_sensors


def attempt(seed: int) -> Comparison:
    try:
        return compare(seed)
    except Exception as error:  # an engine that refuses a mechanism is a finding like any other
        out = Comparison(seed)
        out.skipped.append(f"error: {type(error).__name__}: {str(error)[:300]}")
        return out


def isolated(seed: int) -> Comparison:
    """In a process of its own, so that a crash of the engine is a finding too."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=lambda: sender.send(attempt(seed)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        out = Comparison(seed)
        out.skipped.append(f"error: the engine ended the process, exit code {process.exitcode}")
        return out
    finally:
        process.join()


def table(results: list[Comparison]) -> str:
    lines = [f"{'quantity':24} {'models':>7} {'median':>10} {'worst':>10} {'bound':>8}  seed  where"]
    for quantity, bound in BOUNDS.items():
        having = [r for r in results if quantity in r.worst]
        if not having:
            continue
        sizes = np.array([r.worst[quantity] for r in having])
        worst = having[int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes)))]
        mark = " " if worst.worst[quantity] <= bound else "!"
        lines.append(
            f"{quantity:24} {len(having):7} {np.median(sizes):10.1e} {worst.worst[quantity]:10.1e} {bound:8.0e}{mark} {worst.seed:5}  {worst.where[quantity]}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev referee", description="Compares random mechanisms with an independent simulator.")
    parser.add_argument("count", nargs="?", type=int, help="number of mechanisms; 1000, or 1 with --seed")
    parser.add_argument("--seed", type=int, help="the first seed; 0")
    parser.add_argument("--write", metavar="FILE", help="write the mechanism of the seed (FILE) and the one for its equilibrium (FILE.static)")
    parser.add_argument("--units", action="store_true", help="instead: all shipped models and random mechanisms in other units and moved")
    parser.add_argument("--models", metavar="REGEX", default="", help="with --units: only these models")
    parser.add_argument("--out", metavar="FILE", default="invariance.csv", help="with --units: the table; invariance.csv")
    given = parser.parse_args()
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    if given.units:
        from referee import units

        return units.main(given.models, 50 if given.count is None else given.count, given.out, jobs)

    first = given.seed or 0
    count = given.count if given.count is not None else (1 if given.seed is not None else 1000)
    if given.write:
        for held, name in ((False, given.write), (True, given.write + ".static")):
            with open(name, "w", encoding="utf-8") as file:
                json.dump(with_sensors(mechanism(first, held)), file, indent=1)
    results = []
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(isolated, range(first, first + count)):
            results.append(result)
            for quantity, size in result.failures.items():
                print(f"\r\033[Kseed {result.seed}: {quantity} {size:.2e}: {result.where[quantity]}", file=sys.stderr)
            for text in result.skipped:
                print(f"\r\033[Kseed {result.seed}: {text}", file=sys.stderr)
            print(f"\r{len(results)}/{count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(table(results))
    bad = [r.seed for r in results if r.failures or any(s.startswith("error") for s in r.skipped)]
    print(f"{count} mechanisms, {len(bad)} with a disagreement" + (f": {' '.join(map(str, bad))}" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

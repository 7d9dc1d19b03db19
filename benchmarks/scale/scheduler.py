"""A simulation of the scheduler of `liedyn sweep --engine mpi` (src/io/sweep_ranks.cpp), for machines that are not at hand.

    python3 benchmarks/scale/scheduler.py --nodes 1000 --threads 64 --cases 1e6 --mean 1 --record 12e-6

Rank 0 serves messages one after the other. A message of records costs `--message` and `--record` per case. Each rank has two batches: one
that runs and one that waits; batches are 50 ms of work, at least a case per thread, and towards the end half of an even share. Times of cases are
log-normal. Nodes fail with the mean time `--mtbf` hours each: the cases that run on them are lost until the study is resumed.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random


def simulate(nodes: int, threads: int, cases: int, mean: float, spread: float, message: float, record: float, latency: float, mtbf: float, seed: int) -> dict:
    draw = random.Random(seed)
    mu = math.log(mean) - spread**2 / 2
    left, now, busy_until, served, work = cases, 0.0, 0.0, 0.0, 0.0
    ahead = [0] * nodes  # cases that a rank has and does not run yet
    idle = [threads] * nodes
    dead = [False] * nodes
    events: list[tuple[float, int, int, int]] = []  # time, kind, rank, count
    lost = done = 0
    END, ARRIVES, GIVEN, FAILS = range(4)

    def batch() -> int:
        size = max(1, min(1000, int(0.05 / mean))) * threads
        return max(min(size, left // (2 * nodes * threads)), threads)

    def start(rank: int, time: float) -> None:
        nonlocal work
        while idle[rank] and ahead[rank]:
            idle[rank] -= 1
            ahead[rank] -= 1
            took = draw.lognormvariate(mu, spread)
            work += took
            heapq.heappush(events, (time + took, END, rank, 1))

    def serve(rank: int, time: float, count: int) -> None:
        """Rank 0 takes a message of this rank, and fills it up."""
        nonlocal busy_until, served, left
        begin = max(time, busy_until)
        cost = message + record * count
        size = batch()
        given = 0
        if ahead[rank] + (threads - idle[rank]) <= size and left and not dead[rank]:
            given = min(size, left)
            left -= given
        busy_until = begin + cost
        served += cost
        if given:
            heapq.heappush(events, (busy_until + latency, GIVEN, rank, given))

    for rank in range(nodes):
        heapq.heappush(events, (latency, ARRIVES, rank, 0))
        if mtbf > 0:
            heapq.heappush(events, (draw.expovariate(1 / (3600 * mtbf)), FAILS, rank, 0))
    # Cases that end within 5 ms of each other go in one message.
    pending = [0] * nodes
    while events and done + lost < cases:
        now, kind, rank, count = heapq.heappop(events)
        if kind == FAILS:
            dead[rank] = True
            lost += threads - idle[rank]
            left += ahead[rank]
            ahead[rank] = 0
        elif dead[rank]:
            continue
        elif kind == END:
            idle[rank] += 1
            pending[rank] += 1
            if pending[rank] == 1:
                heapq.heappush(events, (now + latency + (0.005 if ahead[rank] else 0), ARRIVES, rank, 0))
            start(rank, now)
        elif kind == ARRIVES:
            done += pending[rank]
            serve(rank, now, pending[rank])
            pending[rank] = 0
        else:
            ahead[rank] += count
            start(rank, now)
            if ahead[rank] + (threads - idle[rank]) <= batch() and left:
                heapq.heappush(events, (now, ARRIVES, rank, 0))
    now = max(now, busy_until)  # what has arrived is written
    return {"seconds": now, "efficiency": work / (now * nodes * threads), "rank 0 busy": served / now, "lost": lost, "dead": sum(dead)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, kind, value in (
        ("nodes", int, 1000), ("threads", int, 64), ("cases", float, 1e6), ("mean", float, 1.0), ("spread", float, 0.5), ("message", float, 5e-6),
        ("record", float, 12e-6), ("latency", float, 2e-5), ("mtbf", float, 0.0), ("seed", int, 1),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=value)
    given = vars(parser.parse_args())
    given["cases"] = int(given["cases"])
    for name, value in simulate(**given).items():
        print(f"{name:12} {value:.4g}")


if __name__ == "__main__":
    main()

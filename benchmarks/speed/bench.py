"""`./dev bench`: time, memory and instructions of benchmarks/speed. docs/howto/measure_speed.md explains the figures.

bench.py [run] [REGEX]               every benchmark in a process of its own, several rounds; a table, targets, a small JSON file
bench.py compare COMMIT [COMMIT]     ratios of two commits (or of a commit and the working tree) from interleaved runs
bench.py count [REGEX] [--update]    instructions of the inner loops, beside those in instructions.csv
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LIEDYN_BUILD", SOURCE / "build"))
PROGRAM = BUILD / "dev" / "speed_benchmark"
COUNTS = Path(__file__).with_name("instructions.csv")


class Trouble(Exception):
    """Something the caller can mend: the message says what."""


def output_of(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd or SOURCE, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


# ---- where a figure comes from -------------------------------------------------------------------------------------


def processor() -> str:
    """ "aarch64 Neoverse-V1": instruction counts are comparable within one of these."""
    found = re.search(r"^Model name:\s*(.+)$", output_of("lscpu"), re.MULTILINE)
    return f"{platform.machine()} {found[1].strip() if found else 'unknown'}"


def compiler(build: Path) -> str:
    cache = build / "CMakeCache.txt"
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise Trouble(f"{cache} does not name the compiler")
    return output_of(found[1], "--version").splitlines()[0]


def commit() -> str:
    """The commit of the working tree, marked if files differ from it."""
    name = output_of("git", "rev-parse", "--short=10", "HEAD").strip()
    return name + ("+changes" if output_of("git", "status", "--porcelain", "--untracked-files=no").strip() else "")


def circumstances(program: Path) -> dict:
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "compiler": compiler(program.parent),
    }


# ---- time and memory ----------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """One benchmark of one program, a number per round."""

    microseconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    bodies: float = 1
    newton_per_step: float | None = None
    solver: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.microseconds)

    @property
    def per_body(self) -> float:
        return self.median / self.bodies

    @property
    def peak(self) -> float:
        return max(self.megabytes, default=0)


TO_MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def names_in(program: Path, pattern: str) -> list[str]:
    names = output_of(program, "--benchmark_list_tests").split()
    found = [name for name in names if re.search(pattern, name)]
    if not found:
        raise Trouble(f"no benchmark matches '{pattern}'; there are {', '.join(names)}")
    return found


def measure_once(program: Path, name: str, seconds: float, into: Measured) -> None:
    """Runs one benchmark in its own process, so that the peak of the memory is its own."""
    text = output_of(
        program, f"--benchmark_filter=^{re.escape(name)}$", "--benchmark_format=json", f"--benchmark_min_time={seconds}"
    )
    (row,) = json.loads(text)["benchmarks"]
    if row.get("error_occurred"):
        raise Trouble(f"{name}: {row['error_message']}")
    # CPU time of the thread; a benchmark that starts another process measures that one, and says so in its name.
    key = "real_time" if name.endswith("/manual_time") else "cpu_time"
    into.microseconds.append(row[key] * TO_MICROSECONDS[row["time_unit"]])
    if "peak_bytes" in row:
        into.megabytes.append(row["peak_bytes"] / 1e6)
    into.bodies = row.get("bodies", 1)
    into.newton_per_step = row.get("newton_per_step")
    into.solver = row.get("label", "")


def interleaved(programs: Sequence[Path], names: Sequence[str], rounds: int, seconds: float) -> list[dict[str, Measured]]:
    """Every benchmark of every program once per round: a busy machine slows all of them alike."""
    found = [{name: Measured() for name in names} for _ in programs]
    for turn in range(rounds):
        for number, name in enumerate(names):
            show_progress(f"round {turn + 1} of {rounds}, {number + 1} of {len(names)}: {name}")
            order = range(len(programs)) if turn % 2 == 0 else reversed(range(len(programs)))
            for i in order:
                measure_once(programs[i], name, seconds, found[i][name])
    show_progress("")
    return found


def show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text, the first to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths)))
        for line in lines
    )


# ---- targets ------------------------------------------------------------------------------------------------------

Results = dict[str, Measured]


@dataclass
class Target:
    text: str
    unit: str
    most: float
    value: Callable[[Results], float]  # KeyError: not measured this time


def over_by_hand(name: str, by_hand: str) -> Callable[[Results], float]:
    return lambda r: r[name].median / r[by_hand].median


def flatness(results: Results) -> float:
    costs = [results[f"chain/block/{links}"].per_body for links in (10, 100, 1000, 10000, 100000)]
    return max(costs) / min(costs)


def growth(results: Results) -> float:
    """kB per body between 1e4 and 1e5 links."""
    return (results["chain/block/100000"].peak - results["chain/block/10000"].peak) * 1e3 / 9e4


# The targets are twice the cost of a plain solver by hand, one that forms the inverses and products of blocks anew wherever it needs
# them: 1.0 us per step and body on the processor of instructions.csv, 0.58 for one link. chain_by_hand.cpp keeps them, and is faster
# by these factors (CPU times, medians of three interleaved runs).
PLAIN_CHAIN, PLAIN_LINK = 1.72, 1.20

TARGETS = [
    *(
        Target(
            f"chain of {n} links over the solver by hand", "times", 2 * PLAIN_CHAIN, over_by_hand(f"chain/block/{n}", f"chain/by_hand/{n}")
        )
        for n in (10, 100, 1000, 10000, 100000)
    ),
    Target("chain, dearest over cheapest cost per body, 10 to 100 000 links", "times", 1.2, flatness),
    Target("chain, memory per body between 1e4 and 1e5 links", "kB", 2.5, growth),
    Target("heavy top (sigma = 1) over one link by hand", "times", 2 * PLAIN_LINK, over_by_hand("heavy_top/sigma1", "chain/by_hand/1")),
    Target("heavy top (sigma = 1), a step", "us", 1.5, lambda r: r["heavy_top/sigma1"].median),
    Target("slider-crank, a step", "us", 6, lambda r: r["slider_crank/geom1"].median),
    Target("Andrews squeezer, a step", "us", 15, lambda r: r["andrews_squeezer/planar"].median),
    Target("net 100 x 100 over KLU alone, time", "times", 1, lambda r: r["net/block/100"].median / r["net/klu/100"].median),
    Target("net 100 x 100 over KLU alone, memory", "times", 1, lambda r: r["net/block/100"].peak / r["net/klu/100"].peak),
    Target("ring of 10 000 over KLU alone, time", "times", 1, lambda r: r["ring/block/10000"].median / r["ring/klu/10000"].median),
    Target("ring of 10 000 over KLU alone, memory", "times", 1, lambda r: r["ring/block/10000"].peak / r["ring/klu/10000"].peak),
    Target("10 000 links from JSON: read, check, compile", "s", 0.5, lambda r: r["start_up/all/10000"].median / 1e6),
    Target("start of the command line", "ms", 10, lambda r: r["command_line/version/manual_time"].median / 1e3),
]


def targets_met(results: Results) -> list[list[str]]:
    rows = []
    for target in TARGETS:
        try:
            value = target.value(results)
        except KeyError:
            continue
        rows.append([target.text, f"{value:.3g} {target.unit}", f"{target.most:g}", "yes" if value <= target.most else "no"])
    return rows


# ---- commands -----------------------------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> int:
    names = names_in(PROGRAM, arguments.pattern)
    around = circumstances(PROGRAM)
    (results,) = interleaved([PROGRAM], names, arguments.rounds, arguments.seconds)
    print(
        table(
            ["benchmark", "us", "us/body", "solves", "peak MB", "solver"],
            (
                [
                    name,
                    f"{one.median:.4g}",
                    f"{one.per_body:.4g}" if one.bodies > 1 else "",
                    "" if one.newton_per_step is None else f"{one.newton_per_step:.2f}",
                    f"{one.peak:.0f}" if one.megabytes else "",
                    one.solver,
                ]
                for name, one in results.items()
            ),
        )
    )
    if rows := targets_met(results):
        print()
        print(table(["target", "measured", "at most", "met"], rows))
    around["rounds"] = arguments.rounds
    around["results"] = [
        {
            "name": name,
            "microseconds": round(one.median, 4),
            "fastest": round(min(one.microseconds), 4),
            "bodies": one.bodies,
            "newton_per_step": one.newton_per_step,
            "peak_megabytes": round(one.peak, 1),
            "solver": one.solver,
        }
        for name, one in results.items()
    ]
    file = arguments.out or BUILD / "bench" / f"{around['commit']}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(to_json(around), encoding="utf-8")
    print(f"\nThe figures are in {file}")
    return 0


def to_json(around: dict) -> str:
    """One line per benchmark, so that two files can be compared by eye and by diff."""
    head = {key: value for key, value in around.items() if key != "results"}
    lines = ",\n".join("  " + json.dumps(row) for row in around["results"])
    return json.dumps(head, indent=1)[:-2] + ',\n "results": [\n' + lines + "\n ]\n}\n"


def build_commit(name: str) -> tuple[str, Path]:
    """The program of a commit, built in a worktree of its own that is kept for the next time."""
    full = output_of("git", "rev-parse", "--verify", f"{name}^{{commit}}").strip()
    tree = BUILD / "compare" / full[:12]
    if not (tree / "CMakeLists.txt").exists():
        output_of("git", "worktree", "prune")
        output_of("git", "worktree", "add", "--detach", tree, full)
    build = tree / "build" / "dev"
    print(f"building {full[:12]} in {tree}", file=sys.stderr)
    # No precompiled headers, and paths relative to the tree: the compiler cache then serves all trees with what they share.
    output_of(
        "cmake", "--preset", "dev", "-B", build, "-DLIEDYN_TESTS=OFF", "-DLIEDYN_PYTHON=OFF",
        "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", cwd=tree,
    )  # fmt: skip
    os.environ.update(CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    output_of("ninja", "-C", build, "-j", os.environ.get("JOBS", str(os.cpu_count())), "speed_benchmark")
    return full[:12], build / "speed_benchmark"


def compare(arguments: argparse.Namespace) -> int:
    old_name, old = build_commit(arguments.old)
    new_name, new = build_commit(arguments.new) if arguments.new else (f"{commit()} (working tree)", PROGRAM)
    in_new = names_in(new, arguments.only)
    names = [name for name in names_in(old, arguments.only) if name in in_new]
    if not names:
        raise Trouble(f"the two commits share no benchmark that matches '{arguments.only}'")
    before, after = interleaved([old, new], names, arguments.rounds, arguments.seconds)
    print(f"old: {old_name}, new: {new_name}, {processor()}, {arguments.rounds} rounds, medians")
    print(table(["benchmark", "old us", "new us", "new/old", "half of the rounds", "memory"], comparison(before, after)))
    return 0


def comparison(before: Results, after: Results) -> list[list[str]]:
    rows = []
    for name, old in before.items():
        new = after[name]
        ratios = [b / a for a, b in zip(old.microseconds, new.microseconds, strict=True)]
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        rows.append(
            [
                name,
                f"{old.median:.4g}",
                f"{new.median:.4g}",
                f"{new.median / old.median:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{new.peak / old.peak:.2f}" if old.peak and new.peak else "",
            ]
        )
    return rows


# ---- instructions -------------------------------------------------------------------------------------------------

# What is counted, and over how many steps.
COUNTED = {
    "heavy_top/geom1": 200,
    "heavy_top/sigma1": 200,
    "slider_crank/geom1": 200,
    "andrews_squeezer/planar": 200,
    "rotor/geom1": 200,
    "puma560/minimal": 100,
    "chain/block/10": 100,
    "chain/block/1000": 5,
    "chain/paper/1000": 5,
    "ring/block/1000": 5,
    "chain/by_hand/1": 200,
    "chain/by_hand/1000": 5,
}
COLUMNS = ("processor", "compiler", "case", "instructions_per_step", "instructions_per_step_and_body", "solves_per_step")
NOISE = 1.01  # addresses of memory change a little from run to run


def count_steps(program: Path, name: str, steps: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind.out"
        said = output_of(
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--collect-atstart=no",
            "--toggle-collect=liedyn_counted_steps", program, "--count", name, str(steps),
        )  # fmt: skip
        instructions = total_of(profile.read_text(encoding="utf-8"))
    counted = json.loads(said)
    return {
        "case": name,
        "instructions_per_step": f"{instructions / steps:.0f}",
        "instructions_per_step_and_body": f"{instructions / steps / counted['bodies']:.0f}",
        "solves_per_step": f"{counted['solves'] / steps:.2f}",
    }


def total_of(profile: str) -> int:
    """Instructions collected, from a file of callgrind."""
    found = re.search(r"^(?:totals|summary): (\d+)", profile, re.MULTILINE)
    if not found or int(found[1]) == 0:
        raise Trouble("callgrind collected nothing; does the program have its symbols?")
    return int(found[1])


def read_counts(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with open(file, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def write_counts(file: Path, rows: list[dict[str, str]]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def merged(kept: list[dict[str, str]], new: list[dict[str, str]]) -> list[dict[str, str]]:
    """The new rows in the place of the old ones with the same processor, compiler and case."""

    def key(row: dict[str, str]) -> tuple[str, str, str]:
        return row["processor"], row["compiler"], row["case"]

    replaced = {key(row): row for row in new}
    out = [replaced.pop(key(row), row) for row in kept]
    return out + list(replaced.values())


def count(arguments: argparse.Namespace) -> int:
    names = [name for name in COUNTED if re.search(arguments.pattern, name)]
    if not names:
        raise Trouble(f"no case matches '{arguments.pattern}'; there are {', '.join(COUNTED)}")
    where = {"processor": processor(), "compiler": compiler(PROGRAM.parent)}
    kept = read_counts(COUNTS)
    known = {row["case"]: row for row in kept if all(row[key] == value for key, value in where.items())}
    new, lines, more = [], [], []
    for name in names:
        show_progress(name)
        row = {**where, **count_steps(PROGRAM, name, COUNTED[name])}
        new.append(row)
        ratio = int(row["instructions_per_step"]) / int(known[name]["instructions_per_step"]) if name in known else None
        if ratio and ratio > NOISE:
            more.append(name)
        lines.append(
            [
                name,
                row["instructions_per_step"],
                row["instructions_per_step_and_body"],
                row["solves_per_step"],
                known[name]["instructions_per_step"] if name in known else "",
                f"{ratio:.3f}" if ratio else "",
            ]
        )
    show_progress("")
    print(f"{where['processor']}, {where['compiler']}")
    print(table(["instructions", "a step", "and body", "solves", "in the table", "ratio"], lines))
    if not known:
        print(f"{COUNTS.name} has nothing for this processor and compiler; --update adds it")
    if arguments.update:
        write_counts(COUNTS, merged(kept, new))
        print(f"{COUNTS} is up to date")
        return 0
    if more:
        print(f"More than in {COUNTS.name}: {', '.join(more)}. If that is meant, ./dev bench count --update")
    return 1 if more else 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)

    def timed(one: argparse.ArgumentParser, rounds: int) -> None:
        one.add_argument("--rounds", type=int, default=rounds, help=f"how often each is measured ({rounds})")
        one.add_argument("--seconds", type=float, default=0.1, help="least time of one measurement (0.1)")

    one = commands.add_parser("run", help="time and memory of this working tree")
    one.add_argument("pattern", nargs="?", default="", metavar="REGEX", help="only benchmarks whose name matches")
    one.add_argument("--out", type=Path, help="the JSON file (build/bench/COMMIT.json)")
    timed(one, 3)
    one.set_defaults(go=run)

    one = commands.add_parser("compare", help="ratios of two commits from interleaved runs")
    one.add_argument("old", metavar="COMMIT")
    one.add_argument("new", metavar="COMMIT", nargs="?", help="the working tree if not given")
    one.add_argument("--only", default="", metavar="REGEX", help="only benchmarks whose name matches")
    timed(one, 7)
    one.set_defaults(go=compare)

    one = commands.add_parser("count", help="instructions of the inner loops")
    one.add_argument("pattern", nargs="?", default="", metavar="REGEX", help="only cases whose name matches")
    one.add_argument("--update", action="store_true", help="write them to instructions.csv")
    one.set_defaults(go=count)
    return top


def main(words: Sequence[str]) -> int:
    commands = ("run", "compare", "count", "-h", "--help")
    arguments = parser().parse_args(words if words and words[0] in commands else ["run", *words])
    try:
        return arguments.go(arguments)
    except Trouble as trouble:
        print(f"bench: {trouble}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

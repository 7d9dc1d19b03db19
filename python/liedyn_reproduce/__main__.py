"""The command `liedyn reproduce`."""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
import textwrap
import warnings
from pathlib import Path

import matplotlib

from liedyn.errors import NumericalWarning
from liedyn_reproduce import FIGURES, figure, pages, runner
from liedyn_reproduce.figure import Verdict
from liedyn_reproduce.pages import tally


SETS = {
    "all": [name for name in FIGURES if not name.startswith("study-")],
    "studies": [name for name in FIGURES if name.startswith("study-")],
    "page": [],
}
"""Words for several figures, and for none."""


def main(arguments: list[str] | None = None) -> int:
    matplotlib.use("Agg")  # nothing is shown, and there may be no screen
    # The papers take steps that are too large on purpose; the figures tell what comes of it.
    warnings.simplefilter("ignore", NumericalWarning)
    options = parser().parse_args(arguments)
    if options.list:
        for entry in FIGURES.values():
            print(f"{entry.name:<20} {entry.title} ({entry.source}, {len(entry.claims)} claims)")
        return 0
    if not options.names:
        parser().print_help()
        return 2
    if options.jobs < 1:
        print(f"error: --jobs: at least 1 process, not {options.jobs}", file=sys.stderr)
        return 2

    unknown = [name for name in options.names if name not in (*SETS, *FIGURES)]
    for name in unknown:
        near = difflib.get_close_matches(name, FIGURES, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else "liedyn reproduce --list prints all figures"
        print(f"error: no figure '{name}' (hint: {hint})", file=sys.stderr)
    if unknown:
        return 2
    names = list(dict.fromkeys(figure for name in options.names for figure in SETS.get(name, [name])))
    try:
        if options.worker:
            return work(names, options)
        return write_page(options, run_all(names, options))
    except KeyboardInterrupt:
        print("\nStopped. The same command runs the missing figures.", file=sys.stderr)
        if pages.of_directory(options.out):
            write_page(options, [])
        return 130
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="liedyn reproduce",
        description="Reproduce figures and tables of the papers. Each writes its data (CSV), its plot (PNG, SVG) and a verdict on the statements of the paper (JSON); index.html shows all of them. An existing verdict of this program is kept. A claim that is not met is reported, not an error. Exit code 3: a figure failed; the "
        "others are written.",
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="figures, or 'all' (of the papers), 'studies' (our own), 'page' (index.html from existing files); see --list",
    )
    parser.add_argument("--list", action="store_true", help="print all figures and tables")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("reproduce"), help="directory of the files (./reproduce)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and larger steps: a quick trial without significance")
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="number of processes (as many as cores)"
    )
    parser.add_argument("--fresh", action="store_true", help="run figures again that have a verdict of this program")
    parser.add_argument(
        "--docs", metavar="FILE", type=Path, help="renew the results in this Markdown file (docs/howto/reproduce.md)"
    )
    parser.add_argument("--worker", metavar="THREADS", type=int, default=0, help=argparse.SUPPRESS)
    return parser


def work(names: list[str], options: argparse.Namespace) -> int:
    """A process of a larger run: the name of each figure, once its verdict is there."""
    figure.threads = options.worker
    for name in names:
        figure.run(name, options.out, quick=options.quick, go_on=True)
        print(name, flush=True)
    return 0


def run_all(names: list[str], options: argparse.Namespace) -> list[Verdict]:
    kept = {} if options.fresh else {n: v for n in names if (v := runner.done(n, options.out, options.quick))}
    if kept:
        print(f"{len(kept)} of {len(names)} are complete (--fresh runs them again)", flush=True)
    verdicts = list(kept.values())
    todo = [name for name in names if name not in kept]
    for verdict in runner.run_figures(todo, options.out, quick=options.quick, jobs=options.jobs):
        verdicts.append(verdict)
        print(as_text(verdict), flush=True)
    return verdicts


def write_page(options: argparse.Namespace, verdicts: list[Verdict]) -> int:
    there = pages.of_directory(options.out)
    if not there:
        raise ValueError(f"no verdicts in {options.out}: run some figures first")
    (options.out / "index.html").write_text(pages.as_html(there), encoding="utf-8")
    if options.docs:
        if len({(v.origin.program, v.quick) for v in there}) > 1:
            raise ValueError(f"{options.out} has verdicts of several programs: 'liedyn reproduce all' updates the old ones")
        pages.put_into(options.docs, there)
        if missing := pages.without_reason(there):
            print(f"not met and without a reason: {', '.join(missing)}", file=sys.stderr)
    failed = [verdict.name for verdict in verdicts if verdict.failure]
    if failed:
        print(f"error: failed: {', '.join(failed)}; the others are written", file=sys.stderr)
    print(f"{pages.tally(verdicts or there)}; written to {options.out / 'index.html'}")
    return 3 if failed else 0


def as_text(verdict: Verdict) -> str:
    lines = [f"{verdict.name}: {verdict.title}", f"  {verdict.paper}, {verdict.source}"]
    for claim in verdict.claims:
        lines += wrapped(f"{claim.word.upper():<8}  {claim.claim}", first="  ", rest=" " * 12)
        if claim.met is not None:
            asked = "expected" if claim.ours else "paper"
            lines += wrapped(f"{asked}: {claim.stated}; here: {claim.measured}", first=" " * 12, rest=" " * 12)
        if claim.reason:
            lines += wrapped(f"why: {claim.reason}", first=" " * 12, rest=" " * 12)
        if claim.note:
            lines += wrapped(claim.note, first=" " * 12, rest=" " * 12)
    for note in verdict.notes:
        lines += wrapped(note, first="  note: ", rest=" " * 8)
    if verdict.failure:
        lines += ["  FAILED", textwrap.indent(verdict.failure.rstrip(), "    ")]
    lines.append(f"  {tally([verdict])} ({verdict.seconds:.1f} s)")
    return "\n".join(lines) + "\n"


def wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, width=118, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())

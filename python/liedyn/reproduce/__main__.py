"""The command `liedyn reproduce`."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
import warnings
from pathlib import Path

import matplotlib

from liedyn.errors import NumericalWarning
from liedyn.reproduce.figure import Verdict


def main(arguments: list[str] | None = None) -> int:
    matplotlib.use("Agg")  # nothing is shown, and there may be no screen
    from liedyn.reproduce import FIGURES, run

    # The papers take steps that are too large on purpose; the figures tell what comes of it.
    warnings.simplefilter("ignore", NumericalWarning)
    parser = argparse.ArgumentParser(
        prog="liedyn reproduce",
        description="Redo figures and tables of the papers. Each writes its data (CSV), its plot (PNG, SVG) and its "
        "verdict on what the paper says (JSON); verdicts.md sums them up. A claim that is not met is reported, not an "
        "error.",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="figures, or 'all'; see --list")
    parser.add_argument("--list", action="store_true", help="print what can be redone")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("reproduce"), help="where the files go (./reproduce)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and larger steps: to try it out, not to judge")
    options = parser.parse_args(arguments)

    if options.list:
        for figure in FIGURES.values():
            print(f"{figure.name:<20} {figure.title} ({figure.source}, {len(figure.claims)} claims)")
        return 0
    if not options.names:
        parser.print_help()
        return 2

    unknown = [name for name in options.names if name != "all" and name not in FIGURES]
    for name in unknown:
        near = difflib.get_close_matches(name, FIGURES, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else "liedyn reproduce --list prints what there is"
        print(f"error: no figure '{name}' (hint: {hint})", file=sys.stderr)
    if unknown:
        return 2

    names = list(FIGURES) if "all" in options.names else list(dict.fromkeys(options.names))
    verdicts = []
    try:
        for name in names:
            verdicts.append(run(name, options.out, quick=options.quick))
            print(as_text(verdicts[-1]), flush=True)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    (options.out / "verdicts.md").write_text(as_markdown(verdicts), encoding="utf-8")
    print(f"{tally(verdicts)}; written to {options.out}")
    return 0


def tally(verdicts: list[Verdict]) -> str:
    met, failed, left = (sum(verdict.count(state) for verdict in verdicts) for state in (True, False, None))
    holds, fails = (sum(verdict.count(state, ours=True) for verdict in verdicts) for state in (True, False))
    text = f"{met} claims met, {failed} not met" + (f", {left} not examined" if left else "")
    return text + (f"; {holds} of {holds + fails} checks of ours hold" if holds + fails else "")


def as_text(verdict: Verdict) -> str:
    lines = [f"{verdict.name}: {verdict.title}", f"  {verdict.paper}, {verdict.source}"]
    for claim in verdict.claims:
        lines += wrapped(f"{claim.word.upper():<8}  {claim.claim}", first="  ", rest=" " * 12)
        if claim.met is not None:
            asked = "expected" if claim.ours else "paper"
            lines += wrapped(f"{asked}: {claim.stated}; here: {claim.measured}", first=" " * 12, rest=" " * 12)
        if claim.note:
            lines += wrapped(claim.note, first=" " * 12, rest=" " * 12)
    for note in verdict.notes:
        lines += wrapped(note, first="  note: ", rest=" " * 8)
    lines.append(f"  {tally([verdict])} ({verdict.seconds:.1f} s)")
    return "\n".join(lines) + "\n"


def wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, width=118, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def as_markdown(verdicts: list[Verdict]) -> str:
    lines = ["# Verdicts", "", tally(verdicts) + ".", ""]
    for verdict in verdicts:
        lines += [f"## {verdict.name}: {verdict.title}", "", f"{verdict.paper}, {verdict.source}.", ""]
        lines += ["| | claim or check | paper or expectation | here | remark |", "|---|---|---|---|---|"]
        for claim in verdict.claims:
            cells = [claim.word, claim.claim, claim.stated, claim.measured, claim.note]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines += [""] + [f"- {note}" for note in verdict.notes] + ([""] if verdict.notes else [])
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""What stored verdicts say, on one page: index.html beside the figures, and the results in docs/howto/reproduce.md."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from liedyn.report import page as blocks
from liedyn_reproduce.figure import FIGURES, PAPERS, Claim, Figure, Origin, Verdict, stored

BEGIN, END = "<!-- results: liedyn reproduce page -->", "<!-- end of the results -->"
"""Around what is generated in the documentation."""

COPYRIGHT = (
    "The papers' own pictures are not shown, for copyright. Beside ours stand the number of the paper's figure and what its "
    "text says about it, in our words."
)


def of_directory(directory: Path) -> list[Verdict]:
    """All stored verdicts, in the order of the list."""
    return [verdict for name in FIGURES if (verdict := stored(name, directory))]


def tally(verdicts: Sequence[Verdict]) -> str:
    met, unmet, left = (sum(verdict.count(state) for verdict in verdicts) for state in (True, False, None))
    holds, fails = (sum(verdict.count(state, ours=True) for verdict in verdicts) for state in (True, False))
    failed = sum(bool(verdict.failure) for verdict in verdicts)
    text = f"{met} claims met, {unmet} not met" + (f", {left} not examined" if left else "")
    text += f"; {holds} of {holds + fails} checks of ours hold" if holds + fails else ""
    return text + (f"; {failed} figures failed" if failed else "")


def origin(verdicts: Sequence[Verdict]) -> str:
    """Commit, machine and time of a run; of each if there are several, which then should not be compared."""
    runs = {(v.origin.commit, v.origin.program, v.origin.machine, v.quick) for v in verdicts}
    dates = sorted(v.origin.date for v in verdicts)
    seconds = sum(v.seconds for v in verdicts)
    named = " and ".join(
        f"commit {commit}, program {program}, {machine}{', with --quick' if quick else ''}"
        for commit, program, machine, quick in sorted(runs)
    )
    longest = sorted(verdicts, key=lambda v: -v.seconds)[:5]
    return (
        f"{'Run' if len(runs) == 1 else f'{len(runs)} DIFFERENT runs'} of {named}; {dates[0]} to {dates[-1]}; "
        f"{seconds / 60:.0f} minutes of one process each. Longest: "
        + ", ".join(f"{v.name} {v.seconds / 60:.1f} min" for v in longest)
        + "."
    )


def without_reason(verdicts: Sequence[Verdict]) -> list[str]:
    return [f"{v.name} {c.key}" for v in verdicts for c in v.claims if c.met is False and not c.ours and not c.reason]


def by_paper(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    return {
        paper: found for paper in PAPERS if (found := [v for v in verdicts if v.name.partition("-")[0] == paper])
    }


def share(verdicts: Sequence[Verdict]) -> str:
    met, unmet = (sum(v.count(state) for v in verdicts) for state in (True, False))
    return f"{met} of {met + unmet}"


# ---- index.html


def as_html(verdicts: Sequence[Verdict]) -> str:
    papers = by_paper(verdicts)
    rows = [
        [PAPERS[paper], str(len(found)), share(found), str(sum(c.met is False and not c.ours for v in found for c in v.claims))]
        for paper, found in papers.items()
    ]
    overview = blocks.section(
        "In short",
        blocks.text(html.escape(origin(verdicts)), html.escape(COPYRIGHT)),
        blocks.table(["paper", "figures and tables", "claims met", "not met"], rows),
        blocks.text(
            "<b>Not met:</b> "
            + (", ".join(f'<a href="#{v.name}">{v.name}</a>' for v in verdicts if v.count(False)) or "none")
            + ". <b>Failed:</b> "
            + (", ".join(f'<a href="#{v.name}">{v.name}</a>' for v in verdicts if v.failure) or "none")
            + "."
        ),
    )
    sections = [overview]
    for paper, found in papers.items():
        sections.append(blocks.section(PAPERS[paper], *(of_figure(verdict) for verdict in found)))
    return blocks.page("Figures of the papers, done again", html.escape(tally(verdicts)) + ".", [STYLE, *sections])


STYLE = """<style>
body { max-width: 76rem; }
article { margin: 2.2rem 0 3rem; }
article h3 { margin: 0 0 .2rem; font-size: 1.08rem; }
article .where { color: var(--muted); font-size: .9rem; margin-bottom: .6rem; }
article img { max-width: 52rem; background: #fff; border-radius: .3rem; }
table.verdicts { table-layout: fixed; }
table.verdicts th, table.verdicts td { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
table.verdicts th:first-child { width: 6.2rem; }
.met { color: #2c8a63; } .unmet { color: #c0392b; font-weight: 600; } .reason { margin: .35rem 0 0; }
.note { color: var(--muted); font-size: .86rem; }
</style>"""


def of_figure(verdict: Verdict) -> str:
    escape = html.escape
    parts = [
        f'<article id="{verdict.name}"><h3>{escape(verdict.title)}</h3>',
        f'<p class="where">{escape(verdict.source)} of the paper; <code>{verdict.name}</code>, {verdict.seconds:.0f} s</p>',
    ]
    if verdict.failure:
        parts.append(f'<p class="unmet">The figure failed.</p>{blocks.code(verdict.failure)}')
    for file in verdict.files:
        if file.endswith(".png"):
            larger = file.removesuffix(".png") + ".svg"
            parts.append(f'<figure><a href="{larger}"><img src="{file}" alt="{escape(verdict.title)}" loading="lazy"></a></figure>')
    rows = "".join(row(claim) for claim in verdict.claims)
    parts.append(
        '<div class="scroll"><table class="verdicts"><thead><tr><th></th><th>what the paper says, or what we check</th>'
        f"<th>in numbers</th><th>here</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
    parts += [f'<p class="note">{escape(note)}.</p>' for note in verdict.notes]
    data = ", ".join(f'<a href="{file}">{file}</a>' for file in verdict.files if file.endswith((".csv", ".json")))
    return "\n".join([*parts, f'<p class="note">Data: {data}</p></article>'])


def row(claim: Claim) -> str:
    escape = html.escape
    word = f'<span class="{"unmet" if claim.met is False else "met" if claim.met else "note"}">{claim.word}</span>'
    text = escape(claim.claim) + (' <span class="note">(check of ours)</span>' if claim.ours else "")
    here = escape(claim.measured) + (f'<p class="note reason">{escape(claim.note)}</p>' if claim.note else "")
    if claim.met is False and not claim.ours:
        here += f'<p class="reason"><b>Why:</b> {escape(claim.reason or "no reason is known yet")}</p>'
    return f"<tr><td>{word}</td><td>{text}</td><td>{escape(claim.stated)}</td><td>{here}</td></tr>"


# ---- the documentation


def as_markdown(verdicts: Sequence[Verdict]) -> str:
    """Every figure of the papers with its claims, and the reasons of those that are not met."""
    found = {verdict.name: verdict for verdict in verdicts}
    papers = by_paper(verdicts)
    lines = [origin(verdicts), "", f"In all: {tally(verdicts)}. {COPYRIGHT}", ""]
    lines += ["| paper | figures and tables | claims met | not met |", "|---|---|---|---|"]
    for paper, of_paper in papers.items():
        if paper != "study":
            unmet = sum(v.count(False) for v in of_paper)
            lines.append(f"| {PAPERS[paper]} | {len(of_paper)} | {share(of_paper)} | {unmet} |")
    for paper, title in PAPERS.items():
        entries = [entry for name, entry in FIGURES.items() if name.partition("-")[0] == paper]
        if paper != "study" and entries:
            lines += ["", f"### {title}", "", *table(entries, found), "", *unmet_list(entries, found)]
    return "\n".join(lines).rstrip() + "\n"


def table(entries: Sequence[Figure], found: dict[str, Verdict]) -> list[str]:
    lines = ["| name | in the paper | what it shows | claims met | time |", "|---|---|---|---|---|"]
    for entry in entries:
        verdict = found.get(entry.name)
        result = "not run | -"
        if verdict:
            result = f"{'failed' if verdict.failure else share([verdict])} | {verdict.seconds:.0f} s"
        lines.append(f"| `{entry.name}` | {entry.source} | {entry.title} | {result} |")
    return lines


def unmet_list(entries: Sequence[Figure], found: dict[str, Verdict]) -> list[str]:
    lines = []
    for entry in entries:
        for claim in found[entry.name].claims if entry.name in found else ():
            if claim.met is False and not claim.ours:
                reason = claim.reason or "no reason is known yet"
                lines.append(f"- `{entry.name}`, {claim.claim} (paper: {claim.stated}; here: {claim.measured}): {reason}")
    if lines:
        return ["Not met:", "", *lines]
    return ["All claims are met."] if all(entry.name in found for entry in entries) else []


def put_into(document: Path, verdicts: Sequence[Verdict]) -> None:
    """Renews the generated part of a Markdown file."""
    text = document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document}: the lines '{BEGIN}' and '{END}' are not there")
    document.write_text(f"{before}{begin}\n\n{as_markdown(verdicts)}\n{end}{after}", encoding="utf-8")


# ---- and back: what the documentation says


def of_document(document: Path) -> list[Verdict]:
    """The verdicts that `put_into` wrote, in the order of the list.

    The document has the values of claims that are not met. Of those that are met it has the number: their values are empty here.
    """
    text = document.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    origin = _origin_of(text)
    unmet: dict[str, list[Claim]] = {}
    for name, line in re.findall(r"^- `([\w.-]+)`, (.*)$", text, re.MULTILINE):
        unmet.setdefault(name, []).append(_unmet_of(name, line))
    verdicts = []
    for name, entry in FIGURES.items():
        row = re.search(rf"^\| `{re.escape(name)}` \|.*\| (?:(\d+) of (\d+)|(failed)) \| (\d+) s \|$", text, re.MULTILINE)
        if row is None:
            continue
        missed = {claim.claim: claim for claim in unmet.get(name, [])}
        # A claim that the table does not count was not examined, or was added after the run.
        known = row[2] is not None and int(row[2]) == len(entry.claims)
        claims = [missed.pop(text_, None) or Claim(text_, "", "", True if known else None, key=key) for key, text_ in entry.claims.items()]
        claims += missed.values()
        verdicts.append(
            Verdict(name, entry.title, entry.paper, entry.source, False, float(row[4]), claims, [], [], origin, row[3] or "")
        )
    return verdicts


def _origin_of(text: str) -> Origin:
    found = re.search(r"Run of commit (.+?), program (\w+), (.*?); .*? to (.*?);", text)
    return Origin("", *found.groups()) if found else Origin("", "unknown", "unknown", "unknown", "unknown")


def _unmet_of(name: str, line: str) -> Claim:
    """CLAIM (paper: STATED; here: MEASURED): REASON, where all parts may have parentheses of their own."""
    claim, _, rest = line.partition(" (paper: ")
    depth, end = 1, len(rest)
    for at, sign in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            end = at
            break
    stated, _, measured = rest[:end].partition("; here: ")
    key = next((key for key, text in FIGURES[name].claims.items() if text == claim), "") if name in FIGURES else ""
    return Claim(claim, stated, measured, False, key=key, reason=rest[end:].removeprefix("): "))

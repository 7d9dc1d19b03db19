"""The pages of the papers' figures: the claims of the papers with their verdicts, and what `liedyn reproduce` drew.

The verdicts of the last complete run are kept in docs/howto/reproduce.md. Where a directory of `liedyn reproduce` has a figure, its picture
and its values are shown instead.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from liedyn_reproduce import pages as stored
from liedyn_reproduce.figure import PAPERS, Claim, Verdict

MARK = "<!-- figures -->"
SIGN = {True: '<span class="ld-met">met</span>', False: '<span class="ld-unmet">not met</span>', None: "not examined"}
WITHOUT_PICTURES = """```{note}
This build of the site has pictures of %d of %d figures. Every figure can be redone, one by one or all of them:
`liedyn reproduce NAME --out build/figures`, with `all` for NAME, and then `./dev docs`. All of them take about half an hour on two cores.
```
"""


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|$`])", r"\\\1", text)


def _row(claim: Claim) -> str:
    sign = SIGN[claim.met] if not claim.ours else {True: "holds", False: "**fails**", None: "not examined"}[claim.met]
    text = _escape(claim.claim) + (" (check of ours)" if claim.ours else "")
    return f"| {sign} | {text} | {_escape(claim.stated)} | {_escape(claim.measured)} |"


def _section(verdict: Verdict, directory: Path | None, target: Path) -> str:
    parts = [f"## {_escape(verdict.source)}: {_escape(verdict.title)}\n"]
    for picture in sorted(directory.glob(f"{verdict.name}.svg")) + sorted(directory.glob(f"{verdict.name}-*.svg")) if directory else []:
        shutil.copyfile(picture, target / picture.name)
        parts.append(f"![{_escape(verdict.title)}]({picture.name})\n")
    parts.append("| verdict | what the paper says | in the paper | here |\n|---|---|---|---|\n" + "\n".join(map(_row, verdict.claims)) + "\n")
    reasons = [f"- *{_escape(claim.claim)}*: {_escape(claim.reason)}" for claim in verdict.claims if claim.met is False and claim.reason]
    if reasons:
        parts.append("Why not met:\n\n" + "\n".join(reasons) + "\n")
    parts += [f"{_escape(note)}.\n" for note in verdict.notes]
    parts.append(f"`liedyn reproduce {verdict.name}` redoes it in {max(verdict.seconds, 1):.0f} s.\n")
    return "\n".join(parts)


def _page(paper: str, verdicts: list[Verdict], directory: Path | None, target: Path) -> str:
    shares = "| figure | what it shows | claims met |\n|---|---|---|\n" + "\n".join(
        f"| [{_escape(verdict.source)}](#{_anchor(verdict)}) | {_escape(verdict.title)} | {stored.share([verdict])} |" for verdict in verdicts
    )
    return f"# {PAPERS[paper]}\n\n{shares}\n\n" + "\n".join(_section(verdict, directory, target) for verdict in verdicts)


def _anchor(verdict: Verdict) -> str:
    """As myst writes those of headings."""
    return re.sub(r"[^\w\- ]", "", f"{verdict.source}: {verdict.title}".lower()).replace(" ", "-")


def add(target: Path, document: Path, directory: Path | None) -> None:
    """Completes target/index.md and adds a page for each paper: verdicts of the document, of the directory where it has some."""
    verdicts = stored.of_document(document)
    redone = {verdict.name: verdict for verdict in stored.of_directory(directory)} if directory and directory.is_dir() else {}
    shown = stored.by_paper([redone.get(verdict.name, verdict) for verdict in verdicts])
    rows = []
    for paper, some in shown.items():
        if paper == "study":
            continue
        (target / f"{paper}.md").write_text(_page(paper, some, directory if redone else None, target), encoding="utf-8")
        unmet = sum(verdict.count(False) for verdict in some)
        rows.append(f"| [{_escape(PAPERS[paper])}]({paper}.md) | {len(some)} | {stored.share(some)} | {unmet} |")
    parts = ["| paper | figures and tables | claims met | not met |\n|---|---|---|---|\n" + "\n".join(rows)]
    if len(redone) < len(verdicts):
        parts.append(WITHOUT_PICTURES % (len(redone), len(verdicts)))
    if redone:
        parts.append(f"Pictures and values: {_escape(stored.origin(list(redone.values())))}")
    parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(paper for paper in shown if paper != "study") + "\n```\n")
    index = target / "index.md"
    index.write_text(index.read_text(encoding="utf-8").replace(MARK, "\n\n".join(parts)), encoding="utf-8")

"""The pages of the papers' figures: what `liedyn reproduce` drew, with the claims of the paper and their verdicts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from liedyn_reproduce import pages as stored
from liedyn_reproduce.figure import PAPERS

VERDICT = {True: "met", False: "**not met**", None: "not examined"}
MARK = "<!-- figures -->"
MISSING = """This build of the site has no pictures. To include them:

```text
./dev liedyn reproduce all --out build/figures      # about half an hour on two cores
./dev docs
```
"""


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|$`])", r"\\\1", text)


def _page(paper: str, verdicts: list, directory: Path, target: Path) -> str:
    parts = [f"# {PAPERS[paper]}\n"]
    for verdict in verdicts:
        parts.append(f"## {_escape(verdict.source)}: {_escape(verdict.title)}\n\n`liedyn reproduce {verdict.name}`\n")
        for picture in sorted(directory.glob(f"{verdict.name}*.svg")):
            shutil.copyfile(picture, target / picture.name)
            parts.append(f"![{_escape(verdict.title)}]({picture.name})\n")
        rows = [
            f"| {_escape(claim.claim)} | {_escape(claim.stated)} | {_escape(claim.measured)} | {VERDICT[claim.met]}{', our check' if claim.ours else ''} |"
            for claim in verdict.claims
        ]
        if rows:
            parts.append("| statement | in the paper | here | verdict |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
        reasons = [f"- {_escape(claim.claim)}: {_escape(claim.reason)}" for claim in verdict.claims if claim.met is False and claim.reason]
        if reasons:
            parts.append("Reasons:\n\n" + "\n".join(reasons) + "\n")
    return "\n".join(parts)


def add(target: Path, directory: Path | None) -> None:
    """Completes target/index.md, and adds a page for each paper whose figures are in the directory."""
    index = target / "index.md"
    verdicts = stored.of_directory(directory) if directory else []
    found = stored.by_paper(verdicts)
    if not found:
        index.write_text(index.read_text(encoding="utf-8").replace(MARK, MISSING), encoding="utf-8")
        return
    rows = []
    for paper, some in found.items():
        (target / f"{paper}.md").write_text(_page(paper, some, directory, target), encoding="utf-8")
        unmet = sum(claim.met is False and not claim.ours for verdict in some for claim in verdict.claims)
        rows.append(f"| [{_escape(PAPERS[paper])}]({paper}.md) | {len(some)} | {stored.share(some)} | {unmet} |")
    table = "| paper | figures and tables | claims met | not met |\n|---|---|---|---|\n" + "\n".join(rows)
    contents = "```{toctree}\n:hidden:\n\n" + "\n".join(found) + "\n```\n"
    text = f"Shown here: {_escape(stored.origin(verdicts))}\n\n{table}\n\n{contents}"
    index.write_text(index.read_text(encoding="utf-8").replace(MARK, text), encoding="utf-8")

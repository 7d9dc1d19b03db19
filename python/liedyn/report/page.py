"""A page with text, figures and tables, in one HTML file that needs nothing else.

The blocks are functions that give HTML. Texts given to them are HTML too, except cells of tables and facts.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

import liedyn
from liedyn import style

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def page(title: str, lead: str, sections: Sequence[str]) -> str:
    css = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)} - Liedyn</title>
<style>
{css}</style>
</head>
<body>
<header>
<p class="brand">Liedyn {html.escape(liedyn.__version__)}</p>
<h1>{html.escape(title)}</h1>
<p class="lead">{lead}</p>
</header>
<main>
{chr(10).join(sections)}
</main>
</body>
</html>
"""


def section(title: str, *blocks: str) -> str:
    return "\n".join(["<section>", f"<h2>{html.escape(title)}</h2>", *blocks, "</section>"])


def text(*paragraphs: str) -> str:
    return "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def code(content: str) -> str:
    return f"<pre><code>{html.escape(content)}</code></pre>"


def columns(*blocks: str) -> str:
    """Side by side where there is room."""
    return '<div class="columns">' + "".join(f"<div>{block}</div>" for block in blocks) + "</div>"


def facts(*items: tuple[str, str]) -> str:
    """The figures to take home: (value, what it is)."""
    cells = (f"<div><dt>{html.escape(what)}</dt><dd>{html.escape(value)}</dd></div>" for value, what in items)
    return f'<dl class="facts">{"".join(cells)}</dl>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """The first column names the row; the others hold numbers."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    note = f"<figcaption>{caption}</figcaption>" if caption else ""
    head = [cell.replace(" / ", "\u00a0/\u00a0") for cell in head]  # a unit stays with its quantity
    body = "".join(row(cells, "td") for cells in rows)
    return (
        f'<figure class="table"><div class="scroll"><table><thead>{row(head, "th")}</thead>'
        f"<tbody>{body}</tbody></table></div>{note}</figure>"
    )


def pairs(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Facts as (what, value); values may be sentences."""
    head = f"<h3>{html.escape(title)}</h3>" if title else ""
    items = "".join(f"<dt>{html.escape(what)}</dt><dd>{html.escape(value)}</dd>" for what, value in rows)
    return f'{head}<dl class="pairs">{items}</dl>'


def grid(*blocks: str) -> str:
    """Small figures, two beside each other where there is room."""
    return f'<div class="grid">{"".join(blocks)}</div>'


def warning(what: str, advice: str = "", severe: bool = False) -> str:
    more = f'<p class="advice">{html.escape(advice)}</p>' if advice else ""
    return f'<div class="warning{" severe" if severe else ""}"><p>{html.escape(what)}</p>{more}</div>'


def good(words: str) -> str:
    return f'<div class="good"><p>{html.escape(words)}</p></div>'


def embedded(content: str, title: str, note: str = "") -> str:
    """Another page in a frame, with a button that opens it alone."""
    caption = f"<figcaption>{note}</figcaption>" if note else ""
    return (
        f'<figure class="stage"><iframe title="{html.escape(title)}" srcdoc="{html.escape(content)}" allowfullscreen></iframe>'
        f'<button type="button" class="open" hidden>Open in a tab of its own</button>{caption}</figure>'
        "<script>{const b=document.querySelector('.stage .open'),f=document.querySelector('.stage iframe');b.hidden=false;"
        "b.onclick=()=>open(URL.createObjectURL(new Blob([f.srcdoc],{type:'text/html'})))}</script>"
    )


def figure(draw: Callable[[style.Theme], Figure], description: str, caption: str = "") -> str:
    """A figure, drawn for light and for dark pages. `description` is for those who cannot see it."""
    light, dark = (_svg(draw, theme) for theme in (style.LIGHT, style.DARK))
    note = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        f'<figure><picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
        f'<img src="{light}" alt="{html.escape(description)}"></picture>{note}</figure>'
    )


def scientific(value: float, digits: int = 3) -> str:
    """7.27 × 10⁻³; but 727 where a power of ten would only be in the way."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if 0 <= int(exponent) < digits:
        return f"{value:.{digits - 1 - int(exponent)}f}"
    return f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def _svg(draw: Callable[[style.Theme], Figure], theme: style.Theme) -> str:
    # Fixed identifiers and no date: the same numbers give the same file.
    with style.use(theme), plt.rc_context({"svg.hashsalt": "liedyn"}):
        drawn = draw(theme)
        # The layout follows the tick labels, and these follow the layout.
        drawn.draw_without_rendering()
        content = io.BytesIO()
        drawn.savefig(content, format="svg", metadata={"Date": None})
        plt.close(drawn)
    return "data:image/svg+xml;base64," + base64.b64encode(content.getvalue()).decode("ascii")

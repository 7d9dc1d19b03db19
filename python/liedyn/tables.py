"""What `print` and notebooks show: lines and tables, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head, which may be missing. `align` has one letter per column, "<" or ">"; the first is left, the others are
    right if it is not given."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str = ""
    title: str = ""

    def text(self) -> str:
        lines = [list(self.head), *map(list, self.rows)] if self.head else list(map(list, self.rows))
        widths = [max(map(len, column)) for column in zip(*lines)]
        out = [f"  {self.title}"] if self.title else []
        for cells in lines:
            padded = (f"{cell:{align}{width}}" for cell, align, width in zip(cells, self._aligned(len(cells)), widths))
            out.append(("    " if self.title else "  ") + "  ".join(padded).rstrip())
        return "\n".join(out)

    def html(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            sides = ("right" if align == ">" else "left" for align in self._aligned(len(cells)))
            # Runs of blanks separate components.
            marked = (html.escape(cell).replace("  ", "&emsp;") for cell in cells)
            return "<tr>" + "".join(f'<{tag} style="text-align: {side}">{cell}</{tag}>' for cell, side in zip(marked, sides)) + "</tr>"

        title = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        head = f"<thead>{row(self.head, 'th')}</thead>" if self.head else ""
        return f"<table>{title}{head}<tbody>{''.join(row(cells, 'td') for cells in self.rows)}</tbody></table>"

    def _aligned(self, columns: int) -> str:
        return self.align or "<" + ">" * (columns - 1)


def facts(*items: tuple[str, str]) -> Table:
    """Names and values."""
    return Table((), items, "<<")


class Shown:
    """Base of what `print` and notebooks show as lines and tables; `repr` is one line."""

    def _parts(self) -> list[str | Table]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(part.text() if isinstance(part, Table) else part for part in self._parts() if _is_shown(part))

    def _repr_html_(self) -> str:
        parts = (part.html() if isinstance(part, Table) else f"<p>{html.escape(part)}</p>" for part in self._parts() if _is_shown(part))
        return "".join(parts)


def _is_shown(part: str | Table) -> bool:
    return bool(part.rows) if isinstance(part, Table) else bool(part)


def numbers(values: object, form: str = ".9g") -> str:
    """One number, or several side by side; a missing one is a dash."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        return _number(values, form)
    return "  ".join(_number(value, form) for value in values)


def _number(value: object, form: str) -> str:
    return "-" if value is None else format(value + 0.0, form)  # + 0.0: no sign before a zero


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def shortened(rows: Sequence[Sequence[str]], most: int = 40) -> list[Sequence[str]]:
    """Of a long table the first rows, and a last one that says how many there are."""
    if len(rows) <= most:
        return list(rows)
    rest = [f"... and {len(rows) - most + 1} more", *[""] * (len(rows[0]) - 1)]
    return [*rows[: most - 1], rest]

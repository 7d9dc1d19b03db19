"""Models as trees, for `print` and notebooks."""

from __future__ import annotations

import html as markup
import json
from collections.abc import Mapping
from typing import Any

from liedyn import _liedyn

_SECTIONS = tuple(_liedyn.elements())
_MOST = 40  # leaves of a branch


def text(name: str, content: Mapping[str, Any]) -> str:
    """A model as lines."""
    lines, branches = [name], _tree(content)
    for i, (title, leaves) in enumerate(branches):
        last = i == len(branches) - 1
        lines.append(("└─ " if last else "├─ ") + title)
        for j, leaf in enumerate(leaves):
            lines.append(("   " if last else "│  ") + ("└─ " if j == len(leaves) - 1 else "├─ ") + leaf)
    return "\n".join(lines)


def html(name: str, content: Mapping[str, Any]) -> str:
    """A model as lists that fold."""
    parts = []
    for title, leaves in _tree(content):
        items = "".join(f"<li>{markup.escape(leaf)}</li>" for leaf in leaves)
        inside = f"<details open><summary>{markup.escape(title)}</summary><ul>{items}</ul></details>" if leaves else markup.escape(title)
        parts.append(f"<li>{inside}</li>")
    return f"<p><b>{markup.escape(name)}</b></p><ul>{''.join(parts)}</ul>"


def _tree(content: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Branches with their leaves."""
    out: list[tuple[str, list[str]]] = []
    for key, value in content.items():
        if key in ("liedyn", "name", "$schema"):
            continue
        if not isinstance(value, Mapping) or not value:
            out.append((f"{key}: {_brief(value)}", []))
            continue
        leaves = [_leaf(key, name, item) for name, item in list(value.items())[:_MOST]]
        if len(value) > _MOST:
            leaves.append(f"... and {len(value) - _MOST} more")
        out.append((f"{key} ({len(value)})" if key in _SECTIONS else key, leaves))
    return out


def _brief(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:  # a matrix
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def _leaf(section: str, name: str, entry: Any) -> str:
    if section not in _SECTIONS or not isinstance(entry, Mapping):
        return f"{name} = {_brief(entry)}"
    fields = [(key, _brief(value)) for key, value in entry.items() if key != "type"]
    shown = [value if key in ("between", "of", "on", "joint") else f"{key}={value}" for key, value in fields]
    text = f"{name}: {entry.get('type')}({', '.join(shown)})"
    return text if len(text) <= 140 else text[:137] + "..."

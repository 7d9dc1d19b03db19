"""Comments in JSON files."""

from __future__ import annotations

import re


def without_comments(text: str) -> str:
    """JSON without the comments that model files may have: // to the end of the line, /* ... */. Lines keep their numbers."""

    def kept(match: re.Match) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return re.sub(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', kept, text, flags=re.DOTALL)

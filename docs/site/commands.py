"""The page of the commands, from what `liedyn help` prints."""

from __future__ import annotations

import re
import subprocess


def _help(program: str, *command: str) -> str:
    return subprocess.run([program, "help", *command], check=True, capture_output=True, text=True).stdout


def _entries(lines: list[str]) -> list[tuple[str, str]]:
    """Options or positionals with their descriptions, which begin at column 30 of their line or of the next."""
    entries: list[tuple[str, str]] = []
    for line in lines:
        name, text = line[:30].strip(), line[30:].strip()
        if line.startswith("  ") and not line.startswith("   "):
            if len(line) > 30 and line[29] != " ":
                name, text = line.strip(), ""
                if "  " in name:
                    name, text = re.split(r"\s{2,}", name, maxsplit=1)
            entries.append((name, text))
        elif entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}".strip())
    return entries


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|$`])", r"\\\1", text)


def page(program: str) -> str:
    overview = _help(program)
    names = re.findall(r"^  ([\w-]+) {2,}", overview.partition("Subcommands:")[2], flags=re.M)
    parts = [
        "# Commands\n\nWhat `liedyn help COMMAND` prints. In the source tree write `./dev liedyn` instead of `liedyn`.\n\n"
        "| exit code | meaning |\n|---|---|\n| 0 | done |\n| 2 | the input is wrong; every error is reported with its location and a hint |\n"
        "| 3 | the numerics failed; the output up to there is complete |\n| 130 | interrupted; the output up to there is complete |\n"
    ]
    for name in names:
        lines = _help(program, name).rstrip().split("\n")
        if lines[0].startswith("usage:"):  # a command in Python
            parts.append(f"## liedyn {name}\n\n```text\n" + "\n".join(lines) + "\n```\n")
            continue
        usage = next(i for i, line in enumerate(lines) if line.startswith("Usage:"))
        parts.append(f"## liedyn {name}\n\n{_escape(' '.join(lines[:usage]).strip())}\n\n```text\n{lines[usage].removeprefix('Usage: ')}\n```\n")
        sections = re.split(r"^(\w[\w ]*):\n", "\n".join(lines[usage + 1 :]) + "\n", flags=re.M)
        for title, body in zip(sections[1::2], sections[2::2]):
            table, _, note = body.strip("\n").partition("\n\n")
            rows = [f"| `{option.replace('|', chr(92) + '|')}` | {_escape(text)} |" for option, text in _entries(table.split("\n"))]
            parts.append(f"| {title.lower()} | meaning |\n|---|---|\n" + "\n".join(rows) + "\n")
            if note.strip():
                parts.append(_escape(note.strip()) + "\n")
    return "\n".join(parts)

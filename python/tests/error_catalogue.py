"""The messages that the program may print, read from its sources: docs/errors.md must list each of them.

    python3 python/tests/error_catalogue.py            # what is missing on the page, and what is there in vain
    python3 python/tests/error_catalogue.py --update   # removes what is gone, adds what is new

A message is a string of the sources in the place of one: an argument of a function that reports an error (_SINKS), a value that is
assigned to `message` or `failure`, what a function returns, or any other sentence of the library that is no documentation. Values that vary are written {}.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PAGE = SOURCE / "docs" / "errors.md"

# Functions that report an error: the positions of message and hint among their arguments.
_SINKS = {
    "InputError": (1, 2),
    "NumericalError": (1, None),
    "finding": (1, 2),
    "field_finding": (1, 2),
    "invalid_argument": (0, None),
    "findings_.add": (1, 2),
    "findings.add": (1, 2),
    "expected": (1, 3),
    "diagnostic": (2, 3),
    "fail": (0, 1),
    "fail_at": (1, 2),
    "fail_after": (0, None),
    "say": (0, 1),
    "refuse": (0, 1),
    "wrong": (2, 3),
    "stop": (0, 1),
    "bad": (0, 1),
    "but": (0, None),
    "mistake": (2, 3),
    "no_such": (1, 2),
    "cannot_write": (1, None),
    "refuse_events": (1, None),
    "require_absolute_coordinates": (1, None),
    "require_mechanics_only": (1, None),
}
# The same name with other arguments.
_OTHER_SINKS = {
    ("src/io/mesh_file.cpp", "fail"): (2, 3),
    ("src/model/registration.cpp", "refuse"): (1, None),
    ("src/model/description_references.cpp", "say"): (None, None),  # of two kinds: see _messages
    ("src/model/derive_constants.cpp", "add"): (2, 3),
    ("src/analyses/simulate.cpp", "add"): (1, None),
    ("src/analyses/converge.cpp", "add"): (1, 2),
    ("src/analyses/optimize.cpp", "finding"): (1, None),
}


# Texts that are no messages, as FILE:TEXT: names of constraint equations, parts of summaries, what is written into files.
_NO_MESSAGES = re.compile(
    r"^(cli/(build_information|completion|describe_kind)\.cpp|src/(base/suggest\.cpp|model/(model\.cpp|states/state\.cpp:|forces/contact\.h:|common_fields\.cpp:(angle|displ))|io/npz_file)"
    r"|src/model/joints/(pulley\.h|rolling_disc\.cpp:no slip|universal\.cpp:angle between)|src/model/flexible/kinds\.cpp:on:|src/io/study_file\.cpp:[|`{]"
    r"|src/(lie/product|model/batch_of)\.h:|src/io/(mesh_file|packed_array|live_feed)\.cpp:(mesh files are|numbers are written|numbers of scenes)"  # static_assert
    r"|src/io/read_urdf\.cpp:\{\}\*|src/io/json\.cpp:(syntax|unexpected|an array)|cli/explain\.cpp:.*Cause|cli/command_line\.cpp:a number of|cli/check\.cpp|src/io/sweep_store\.cpp:liedyn study|src/io/checkpoint_file\.cpp:liedyn checkpoint file|src/io/study_page\.cpp:(liedyn run| ?--step)|src/io/expand/item\.cpp:an array|src/io/json\.cpp:an array)"
)


@dataclass(frozen=True)
class Message:
    text: str
    hint: str
    file: str


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\])+\'|#[^\n]*(?:\\\n[^\n]*)*'
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9:]*(?:(?:\.|->)[A-Za-z_]\w*)*)|(?P<other>\S)",
    re.S,
)


def _tokens(source: str) -> list[tuple[str, str]]:
    """Words, strings (adjacent ones joined) and single characters; no comments, no preprocessor."""
    out: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(source):
        if match["text"] is not None or match["raw"] is not None:
            value = match["raw"] if match["raw"] is not None else match["text"].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
            if out and out[-1][0] == "string":
                out[-1] = ("string", out[-1][1] + value)
            else:
                out.append(("string", value))
        elif match["word"] is not None:
            out.append(("word", match["word"]))
        elif match["other"] is not None:
            out.append(("other", match["other"]))
    return out


_OPEN, _CLOSE = "({[", ")}]"


def _arguments(tokens: list[tuple[str, str]], at: int) -> tuple[list[list[tuple[str, str]]], int]:
    """Of the call or list that opens at this token; and where it is closed."""
    depth, arguments = 0, [[]]
    for i in range(at, len(tokens)):
        kind, value = tokens[i]
        if kind == "other" and value in _OPEN:
            depth += 1
            if depth == 1:
                continue
        elif kind == "other" and value in _CLOSE:
            depth -= 1
            if depth == 0:
                return arguments, i
        elif kind == "other" and value == "," and depth == 1:
            arguments.append([])
            continue
        arguments[-1].append(tokens[i])
    return arguments, len(tokens)


def _templates(argument: list[tuple[str, str]]) -> list[str]:
    """Strings that an argument may be: alternatives of `? :`, first arguments of fmt::format. What is joined by + is one text."""
    out, i, joined = [], 0, False
    while i < len(argument):
        kind, value = argument[i]
        if kind == "string":
            text = value
        elif kind == "word" and value.split("::")[-1] == "format" and i + 1 < len(argument) and argument[i + 1][1] == "(":
            inner, end = _arguments(argument, i + 1)
            text = "".join(v for k, v in inner[0] if k == "string")
            i = end
        elif kind == "word" and i + 1 < len(argument) and argument[i + 1] == ("other", "(") and value.split("::")[-1] not in ("string", "move"):
            _, i = _arguments(argument, i + 1)
            i += 1
            if out and i < len(argument) and argument[i][1] == "+":
                pass
            continue
        else:
            joined = value == "+" if kind == "other" else joined
            i += 1
            continue
        if joined and out:
            out[-1] += "{}" + text
        else:
            out.append(text)
        joined = False
        i += 1
    return out


def plain(template: str) -> str:
    """{} for every value, without its format; one line."""
    text = template.replace("{{", "\0").replace("}}", "\1")
    text = re.sub(r"\{[^{}]*\}", "{}", text)
    return re.sub(r"\s+", " ", text.replace("\0", "{").replace("\1", "}")).strip()


def is_telling(text: str) -> bool:
    """Words, not only values, separators and names; and no sentence of the reference, which begins with a capital letter."""
    words = text.replace("{}", " ").split()
    count = sum(bool(re.search("[a-z]{2}", word)) for word in words)
    return (count >= 2 or text.startswith(("missing", "expected {}"))) and not re.match(r"[A-Z][a-z]+ .*\.$", text)


def messages_of(file: Path) -> list[Message]:
    name = file.relative_to(SOURCE).as_posix()
    tokens = _tokens(file.read_text(encoding="utf-8"))
    found: list[Message] = []

    def add(message: list[tuple[str, str]], hint: list[tuple[str, str]], prefix: str = "") -> None:
        hints = [plain(one) for one in _templates(hint) if is_telling(plain(one))]
        for template in _templates(message) if not all(k == "string" for k, _ in message) else [v for _, v in message]:
            if is_telling(prefix + plain(template)):
                found.append(Message(prefix + plain(template), " | ".join(hints), name))

    for i, (kind, value) in enumerate(tokens[:-1]):
        following = tokens[i + 1]
        if kind == "word" and following[1] in ("(", "{"):
            callee = value.split("::")[-1]
            last = re.split(r"\.|->", callee)[-1]
            positions = _OTHER_SINKS.get((name, last), _SINKS.get(callee, _SINKS.get(last)))
            lists = last in ("push_back", "emplace_back", "InputError") and tokens[i + 2][1] == "{"
            if positions is None and not lists:
                continue
            arguments, _ = _arguments(tokens, i + 1)
            if lists:
                inner, _ = _arguments(arguments[0], 0)
                while inner and inner[0][:1] == [("other", "{")]:
                    inner, _ = _arguments(inner[0], 0)
                if len(inner) >= 4:
                    add(inner[3], inner[4] if len(inner) > 4 else [])
                continue
            if name == "src/model/description_references.cpp" and last == "say":
                positions = (0, 1) if len(arguments) == 2 else (3, 4)
            message, hint = positions
            if last == "expected":
                if len(arguments) > message:
                    add(arguments[message], arguments[hint] if len(arguments) > hint else [], "expected ")
                continue
            if len(arguments) > message:
                add(arguments[message], arguments[hint] if hint is not None and len(arguments) > hint else [])
        elif kind == "word" and re.split(r"\.|->", value)[-1] in ("message", "failure", "why") and following[1] in ("=", "+"):
            start = i + 2 if following[1] == "=" else i + 3
            end = next(j for j in range(start, len(tokens)) if tokens[j][1] == ";" and tokens[j][0] == "other")
            if tokens[start:end] and tokens[start][1] != "=":
                add(tokens[start:end], [])
        elif (kind, value) == ("word", "return"):
            # What a function says about a failure, for another one to report.
            end = next(j for j in range(i, len(tokens)) if tokens[j] == ("other", ";"))
            texts = [one for one in _templates(tokens[i + 1 : end]) if len(plain(one).split()) >= 4]
            add([("string", one) for one in texts], [])
    return found


def _others(file: Path, known: str) -> list[Message]:
    """Sentences of a library file beside its documentation: they reach a message, a warning or a hint by a way that is not followed here."""
    name = file.relative_to(SOURCE).as_posix()
    texts = [plain(value) for kind, value in _tokens(file.read_text(encoding="utf-8")) if kind == "string"]
    return [Message(text, "", name) for text in texts if len(text.split()) >= 4 and is_telling(text) and text not in known and not re.match(r"[A-Z]|.*\.$", text)]


@functools.cache
def messages() -> list[Message]:
    """Of all sources but tests, each text once."""
    files = [
        file
        for folder in ("src", "cli")
        for file in sorted((SOURCE / folder).rglob("*"))
        if file.suffix in (".cpp", ".h") and not file.stem.endswith("_test") and file.stem != "testing"
    ]
    out: dict[str, Message] = {}

    def add(message: Message) -> None:
        known = out.get(message.text)
        if not _NO_MESSAGES.search(f"{message.file}:{message.text}") and (known is None or (not known.hint and message.hint)):
            out[message.text] = message

    for file in files:
        for message in messages_of(file):
            add(message)
    known = "\n".join(f"{message.text}\n{message.hint}" for message in out.values())
    for file in files:
        if file.is_relative_to(SOURCE / "src"):
            for message in _others(file, known):
                add(message)
    return list(out.values())


def listed(page: str) -> list[str]:
    """The messages on the page, in their order."""
    return [line[4:] for line in page.splitlines() if line.startswith("    ") and not line.startswith("      -> ")]


def differences() -> tuple[list[Message], list[str]]:
    """Messages that the page lacks, and those on it that the sources do not have."""
    found, page = messages(), listed(PAGE.read_text(encoding="utf-8"))
    texts = {message.text for message in found}
    return [message for message in found if message.text not in page], [text for text in page if text not in texts]


def update() -> None:
    """Writes the lists of the page anew. A new message goes to the section that has most messages of its source file, or to the last one, `Other messages`."""
    found = {message.text: message for message in messages()}
    sections: list[tuple[list[str], list[Message]]] = []  # the lines before the list, and the list
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## ") or not sections:
            sections.append(([], []))
        head, members = sections[-1]
        if line.startswith("    ") and not line.startswith("      -> "):
            if line[4:] in found:
                members.append(found.pop(line[4:]))
        elif not line.startswith("      -> "):
            head.append(line)
    for message in found.values():
        of_file = [sum(member.file == message.file for member in members) for _, members in sections]
        if not any(of_file):
            if sections[-1][0][0] != "## Other messages":
                sections.append((["## Other messages", "", "Cause: the message says what is wrong.", "", "Remedy: the message says what to do.", ""], []))
            of_file = [0] * (len(sections) - 1) + [1]
        sections[of_file.index(max(of_file))][1].append(message)
    lines = []
    for head, members in sections:
        lines += ["\n".join(head).strip(), ""]
        if members:
            lines += [f"    {one.text}" + (f"\n      -> {one.hint}" if one.hint else "") for one in members] + [""]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    missing, gone = differences()
    for message in missing:
        print(f"missing: {message.file}: {message.text}")
    for text in gone:
        print(f"gone: {text}")
    sys.exit(1 if missing or gone else 0)

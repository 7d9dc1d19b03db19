"""Every block of code on the pages runs, and the output that a page shows is what the program prints.

Pages are README.md, docs/**/*.md, examples/**/README.md and models/*/README.md. The language of a block says what happens to it:

bash     each command runs in the page's directory, which is empty but for links to examples/ and models/; `./dev liedyn` is `liedyn`,
         and `./dev python` and `./dev referee` are what they start
python   the blocks of a page run one after the other in one namespace, in the same directory
json     a file (see below) is written; other blocks are parts of model files, in which every key and type must exist
text     after a bash or python block: its output. Lines must appear in this order; numbers agree to 0.1 %, or are both round-off;
         `...` stands for anything
cpp      all blocks of all pages are compiled together, without code generation; those of a page that begin with `// src/FILE` are parts of
         the library, one after the other
math, mermaid, cmake, html: not code of this program

A comment before a block, which readers do not see, changes this:

<!-- file: arm.json -->            the block is the file arm.json
<!-- run with: --end 0.01 -->      each command `liedyn` runs with these settings, instead of its own; `--end` where something is simulated
<!-- run with: f(60) = f(1) -->     the block runs with this text instead; `;` separates several
<!-- stands for: arm.json = examples/robot/arm.json -->    a name on the page that means the reader's own file, and what is used for it
<!-- needs: scipy -->              the block runs where these Python packages are installed
<!-- excerpt of: examples/cpp/drag.h -->    the block stands in this file, but for comments and blanks; `...` stands for anything
<!-- not run: it takes minutes -->  the reason why the block does not run; what it calls must exist all the same
<!-- printed by: liedyn check m.json -->    the text is the output of this command, which the page does not show; lines that begin with blanks
                                   continue the line before
<!-- fails -->                     the last command ends with another exit code than 0

Browsers are opened by a program that does nothing.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pytest

import liedyn as ld

ROOT = Path(__file__).resolve().parents[2]
OTHER = {"math", "mermaid", "cmake", "html"}
RELATIVE, ROUND_OFF = 1e-3, 1e-9
DEV = {"liedyn": "liedyn", "python": "python3", "referee": "python3 -m referee"}  # what ./dev starts
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass
class Block:
    language: str
    text: str
    line: int
    comments: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        return self.language in ("bash", "python") and "not run" not in self.comments


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, with the comments that stand directly before them."""
    blocks, comments = [], {}
    lines = page.read_text(encoding="utf-8").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        comment = re.fullmatch(r"<!-- (file|run with|stands for|not run|printed by|fails|needs|excerpt of):? ?(.*?) ?-->", line.strip())
        fence = re.match(r"( *)```([\w{}-]*)", line)
        if comment:
            comments[comment[1]] = comment[2]
            if comment[1] == "stands for":  # for the rest of the page
                blocks.append(Block("stands for", comment[2], number + 1))
        elif fence:
            end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == "```")
            text = "\n".join(part[len(fence[1]) :] for part in lines[number + 1 : end])
            blocks.append(Block(fence[2], text, number + 1, comments))
            comments, number = {}, end
        elif line.strip():
            comments = {}
        number += 1
    return blocks


def pages() -> dict[str, list[Block]]:
    found = [ROOT / "README.md"]
    for pattern in ("docs/**/*.md", "examples/**/README.md", "models/*/README.md"):
        found += sorted(ROOT.glob(pattern))
    return {page.relative_to(ROOT).as_posix(): blocks for page in found if (blocks := blocks_of(page))}


PAGES = pages()


def numbers_agree(expected: str, got: str) -> bool:
    a, b = float(expected), float(got)
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b)) or max(abs(a), abs(b)) < ROUND_OFF


def line_agrees(expected: str, got: str) -> bool:
    """Whether the words agree, whatever the spaces between them, and the numbers to the tolerance. "..." stands for any words."""
    words, given = expected.split(), got.split()
    if "..." in words:
        cut = words.index("...")
        head, tail = words[:cut], words[cut + 1 :]
        if len(given) < len(head) + len(tail):
            return False
        return line_agrees(" ".join(head), " ".join(given[: len(head)])) and (
            not tail or line_agrees(" ".join(tail), " ".join(given[len(given) - len(tail) :]))
        )
    if len(words) != len(given):
        return False
    for word, other in zip(words, given):
        if word == other:
            continue
        if NUMBER.split(word) != NUMBER.split(other) or not all(map(numbers_agree, NUMBER.findall(word), NUMBER.findall(other))):
            return False
    return True


def missing_lines(expected: str, got: str) -> list[str]:
    """Lines of the page that do not appear in the output, in this order."""
    given = [line for line in got.split("\n") if line.strip()]
    absent, start = [], 0
    for line in filter(str.strip, expected.split("\n")):
        if line.strip() == "...":
            continue
        found = next((i for i in range(start, len(given)) if line_agrees(line, given[i])), None)
        if found is None:
            absent.append(line)
        else:
            start = found + 1
    return absent


def shortened(command: str, options: str) -> str:
    """A command with other settings. `--end` is added to commands that simulate."""
    for option, value in re.findall(r"(--[\w-]+)(?: (?!--)(\S+))?", options):
        setting = f"{option} {value}".strip()
        if re.search(rf"{option}\b", command):
            command = re.sub(rf"{option}(?:[ =]\S+)?", setting, command)
        elif option != "--end" or re.match(r"liedyn (run|converge|sensitivity|kinematics)\b", command):
            command = f"{command} {setting}"
    return command


def shortened_text(block: Block) -> str:
    text = block.text
    for change in filter(None, block.comments.get("run with", "").split("; ")):
        old, _, new = change.partition(" = ")
        assert old in text, f"line {block.line}: there is no '{old}' to be replaced"
        text = text.replace(old, new)
    return text


def commands_of(block: Block) -> list[str]:
    """The commands, without comments; a line that ends with a backslash goes on."""
    commands = []
    replaced = " = " in block.comments.get("run with", "")
    for line in (shortened_text(block) if replaced else block.text).replace("\\\n", " ").split("\n"):
        line = re.sub(r"(^|\s)#.*$", "", line).strip().removeprefix("$ ")
        line = re.sub(r"(^|&& )\./dev (liedyn|python|referee)\b", lambda m: m[1] + DEV[m[2]], line)
        line = re.sub(r"^python3\b", sys.executable, line)
        if line.startswith("liedyn") and "run with" in block.comments and not replaced:
            line = shortened(line, block.comments["run with"])
        if line:
            commands.append(line)
    return commands


def run_command(command: str, directory: Path, path: str) -> subprocess.CompletedProcess[str]:
    modules = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT / "python" / "tests")]))
    environment = os.environ | {"PATH": path, "PYTHONPATH": modules, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(["bash", "-c", command], cwd=directory, env=environment, capture_output=True, text=True, timeout=600, check=False)


def output_of(command: str, directory: Path, path: str) -> str:
    """What a command prints, whether it fails or not."""
    done = run_command(re.sub(r"^python3\b", sys.executable, command), directory, path)
    return done.stdout + done.stderr


def run_commands(block: Block, directory: Path, path: str) -> str:
    printed = ""
    commands = commands_of(block)
    for number, command in enumerate(commands):
        done = run_command(command, directory, path)
        printed += done.stdout + done.stderr
        fails = "fails" in block.comments and number + 1 == len(commands)
        assert (done.returncode != 0) == fails, f"line {block.line}: `{command}` ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return printed


def bare(source: str) -> str:
    """Without comments and blanks."""
    return re.sub(r"\s", "", re.sub(r"//[^\n]*", "", source))


def check_excerpt(block: Block) -> None:
    text, at = bare((ROOT / block.comments["excerpt of"]).read_text(encoding="utf-8")), 0
    for piece in filter(None, bare(block.text).split("...")):
        at = text.find(piece, at)
        assert at >= 0, f"line {block.line}: not in {block.comments['excerpt of']}: {piece}"
        at += len(piece)


def keys_unknown(part: object, kinds: dict[str, list[set[str]]]) -> list[str]:
    """Types that do not exist, and keys that no element of this type has."""
    if isinstance(part, list):
        return [error for entry in part for error in keys_unknown(entry, kinds)]
    if not isinstance(part, dict):
        return []
    errors = []
    kind = part.get("type")
    if isinstance(kind, str) and not set(part) & {"liedyn"}:
        if kind not in kinds:
            errors.append(f"no element of type '{kind}'")
        elif not any(set(part) - COMMON <= fields for fields in kinds[kind]):
            errors.append(f"'{kind}' has no key {sorted(set(part) - COMMON - set.union(*kinds[kind]))}")
    return errors + [error for key, entry in part.items() if key not in SHAPES for error in keys_unknown(entry, kinds)]


# What every entry may have besides the fields of its type: the reader handles it before the types are looked at.
COMMON = {"type", "...", "…", "shape", "shapes", "density", "frames"}
SHAPES = {"shape", "shapes"}  # their types are those of `liedyn list shapes`


def check_json(block: Block, kinds: dict[str, list[set[str]]]) -> None:
    text = re.sub(r"^\s*\.\.\.\s*$", "", block.text, flags=re.M)
    text = re.sub(r"([\[{,]\s*)\.\.\.(\s*[\]},])", r'\1"...": 0\2', text)
    text = re.sub(r"\.\.\.", '"..."', re.sub(r'("[^"]*")', lambda m: m[1].replace("...", "…"), text))
    text = re.sub(r"\}\s*\n(?=\")", "},\n", text.strip().rstrip(","))  # entries of several sections, one after the other
    for candidate in (text, "{" + text + "}", "[" + text + "]", text.replace('"...": 0', '"..."')):
        try:
            part = json.loads(candidate)
            break
        except json.JSONDecodeError as problem:
            error = problem
    else:
        raise AssertionError(f"line {block.line}: not JSON: {error}\n{text}")
    assert not (errors := keys_unknown(part, kinds)), f"line {block.line}: {errors}"


@pytest.fixture(scope="module")
def kinds() -> dict[str, list[set[str]]]:
    found: dict[str, list[set[str]]] = {}
    for section in ld.elements().values():
        for kind in section.values():
            found.setdefault(kind.type, []).append(set(kind.fields))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page, tmp_path, tmp_path_factory, monkeypatch, kinds):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda *_, **__: True)
    for folder in ("examples", "models"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    namespace: dict = {"__name__": "__page__"}
    printed, ran = "", False
    programs = tmp_path_factory.mktemp("programs")
    (programs / "xdg-open").write_text("#!/bin/sh\n")
    (programs / "xdg-open").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    for block in PAGES[page]:
        if block.language == "stands for":
            name, _, source = block.text.partition(" = ")
            (tmp_path / name).write_bytes((ROOT / source).read_bytes())
        elif "file" in block.comments:
            (tmp_path / block.comments["file"]).write_text(block.text + "\n", encoding="utf-8")
            if block.language == "json":
                json.loads(block.text)
        elif "not run" in block.comments:
            assert block.comments["not run"], f"{page}:{block.line}: without a reason"
            ran = False
        elif "excerpt of" in block.comments:
            check_excerpt(block)
        elif any(importlib.util.find_spec(name) is None for name in filter(None, block.comments.get("needs", "").split(", "))):
            ran = False
        elif block.language == "bash":
            printed, ran = run_commands(block, tmp_path, path), True
        elif block.language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output), warnings.catch_warnings():
                warnings.simplefilter("ignore", ld.NumericalWarning)  # a page may show what the program warns of
                exec(compile(shortened_text(block), f"{page}:{block.line}", "exec"), namespace)  # noqa: S102
            printed, ran = output.getvalue(), True
        elif block.language == "json":
            check_json(block, kinds)
        elif block.language == "text":
            if "printed by" in block.comments:
                printed, ran = output_of(block.comments["printed by"], tmp_path, path), True
                block = Block("text", re.sub(r"\n +", " ", block.text), block.line)
            assert ran, f"{page}:{block.line}: which command prints this?"
            absent = missing_lines(block.text, printed)
            assert not absent, f"{page}:{block.line}: not printed:\n" + "\n".join(absent) + f"\nprinted:\n{printed[-1500:]}"
        else:
            assert block.language in OTHER | {"cpp"}, f"{page}:{block.line}: unknown language '{block.language}'"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_cpp_blocks_compile(tmp_path):
    """Complete programs as they are; statements as the body of a function. Names are those of liedyn.h and of the kinds in examples/cpp."""
    if shutil.which("g++") is None:
        pytest.skip("no compiler")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "liedyn").symlink_to(ROOT / "src")
    includes, bodies = [], []
    for page, blocks in PAGES.items():
        parts = ""  # of files of the library
        own = {f'#include "liedyn/{name}"' for block in blocks for name in re.findall(r"^// src/([^\s,]+)", block.text)}  # which the page itself prints
        for block in blocks:
            if block.language != "cpp" or {"not run", "excerpt of"} & set(block.comments):
                continue
            lines = block.text.split("\n")
            includes += [line for line in lines if line.startswith("#include") and line not in own]
            body = "\n".join(line for line in lines if not line.startswith("#include"))
            place = f'#line {block.line + 1} "{page}"\n'
            if body.startswith("// src/"):
                parts += place + body + "\n"
            elif "int main" in body or body.lstrip().startswith("LIEDYN_PLUGIN"):
                bodies.append(f"namespace block{len(bodies)} {{\n{place}{body.replace('int main', 'int program')}\n}}\n")
            else:
                bodies.append(f"void block{len(bodies)}() {{\n{place}{body}\n}}\n")
        if parts:
            bodies.append(f"namespace liedyn::block{len(bodies)} {{\n{parts}}}\n")
    source = tmp_path / "blocks.cpp"
    head = ['#include <cstdio>', '#include <liedyn/liedyn.h>', '#include "drag.h"', '#include "verlet.h"', *includes]
    source.write_text("\n".join(dict.fromkeys(head)) + "\n" + "\n".join(bodies), encoding="utf-8")
    options = ["-std=c++20", "-fsyntax-only", "-w", '-DLIEDYN_PLUGIN_VERSION="any"', f"-I{tmp_path}/include", f"-I{ROOT}/examples/cpp", "-isystem", "/usr/include/eigen3"]
    done = subprocess.run(["g++", *options, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


@lru_cache(maxsize=None)
def options_of(command: str) -> set[str]:
    """What `liedyn COMMAND` takes."""
    done = subprocess.run(["liedyn", *command.split(), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"liedyn has no command '{command}'"
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", done.stdout))


def test_blocks_that_do_not_run_call_what_exists():
    """Commands of ./dev and of npm, presets of CMake, options of the program; and Python that can be parsed."""
    commands = set(re.findall(r"^  ([a-z]+) ", (ROOT / "dev").read_text(encoding="utf-8").partition("TEXT")[2], flags=re.M))
    scripts = set(json.loads((ROOT / "viewer" / "package.json").read_text(encoding="utf-8"))["scripts"])
    presets = {one["name"] for one in json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
    wrong = []
    for page, blocks in PAGES.items():
        for block in blocks:
            if "not run" not in block.comments:
                continue
            if block.language == "python":
                compile(block.text, f"{page}:{block.line}", "exec")
            if block.language != "bash":
                continue
            for line in re.sub(r"(^|\s)#.*$", "", block.text, flags=re.M).split("\n"):
                named = [(name, commands) for name in re.findall(r"\./dev (\w+)", line)]
                named += [(name, scripts) for name in re.findall(r"npm run ([\w-]+)", line)]
                named += [(name, presets) for name in re.findall(r"--preset (\w+)", line)]
                if program := re.match(r"(?:mpirun -n \d+ )?liedyn ([a-z]+(?: elements)?)( .*)?$", line.strip()):
                    named += [(option, options_of(program[1])) for option in re.findall(r" (--[\w-]+)", program[2] or "")]
                wrong += [f"{page}:{block.line}: {name}" for name, known in named if name not in known]
    assert not wrong, "\n".join(wrong)


def anchors_of(page: Path) -> set[str]:
    """What a link may name behind #: headings, as code hosts write them."""
    found = set()
    for line in page.read_text(encoding="utf-8").split("\n"):
        if heading := re.match(r"#+ (.*)", line):
            found.add(re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-"))
    return found


def test_links_lead_somewhere():
    broken = []
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/README.md"), *ROOT.glob("models/*/README.md")]:
        if "docs/site" in page.as_posix():
            continue  # made into pages with links of their own
        text = re.sub(r"^( *)```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"', re.sub(r"`[^`\n]*`", "", text)):
            target = target[0] or target[1]
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            goal = page.parent / path if path else page
            if not goal.exists() or (anchor and anchor not in anchors_of(goal)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken, "\n".join(broken)


def counts() -> dict[str, int]:
    """How many blocks there are, and how many of them run; printed by `python test_pages.py`."""
    blocks = [block for page in PAGES.values() for block in page if block.language != "stands for"]
    code = [block for block in blocks if block.language in ("bash", "python", "json", "cpp")]
    not_run = [block for block in code if "not run" in block.comments]
    return {
        "pages": len(PAGES),
        "blocks of code": len(code),
        "run or checked": len(code) - len(not_run),
        "not run": len(not_run),
        "commands": sum(len(commands_of(block)) for block in code if block.language == "bash" and block.runs),
        "outputs compared": sum(block.language == "text" for block in blocks),
    }


def test_few_blocks_do_not_run():
    found = counts()
    assert found["not run"] <= 0.1 * found["blocks of code"], found


if __name__ == "__main__":
    print(counts())
    for name, found in PAGES.items():
        for one in found:
            if "not run" in one.comments:
                print(f"{name}:{one.line}: {one.comments['not run']}")

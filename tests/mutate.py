"""Tests of the tests: changes one token of the sources at a time, and lists the changes that no test notices.

    ./dev mutate src/lie                        every change in the folder
    ./dev mutate --sample 50 src/lie/so3.h      50 of them, chosen at random
    ./dev mutate --list src/lie                 what would be changed

A change in a .cpp file is judged by the test program of its folder, one in a header by the tests of its folder that include it, one file after the other until one
notices. A change that does not compile is no mutant. What was found is kept (build/mutants.json), so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

# What is looked for, what it becomes, and why. One match is changed at a time.
CHANGES = [
    (r"(?<=[\w)\]] )\+(?= [\w(-])", "-", "sum to difference"),
    (r"(?<=[\w)\]] )-(?= [\w(-])", "+", "difference to sum"),
    (r"(?<=[=(,] )-(?=[\w(])|(?<=return )-(?=[\w(])|(?<=\()-(?=[\w(])", "", "sign"),
    (r"(?<=[\w)\]] )\*(?= [\w(-])", "/", "product to quotient"),
    (r"(?<=[\w)\]] )/(?= [\w(-])", "*", "quotient to product"),
    (r"(?<=[\w)\]] )\+=(?= )", "-=", "added to subtracted"),
    (r"(?<=[\w)\]] )-=(?= )", "+=", "subtracted to added"),
    (r"(?<=[\w)\]] )<(?= [\w(-])", "<=", "less to less or equal"),
    (r"(?<=[\w)\]] )>(?= [\w(-])", ">=", "greater to greater or equal"),
    (r"(?<=[\w)\]] )==(?= )", "!=", "equal to different"),
    (r"(?<=[\w)\]] )!=(?= )", "==", "different to equal"),
    (r"(?<= )&&(?= )", "||", "and to or"),
    (r"(?<= )\|\|(?= )", "&&", "or to and"),
    (r"(?<=[\[(])0(?=[\])])", "1", "index"),
    (r"(?<=[\[(])1(?=[\])])", "0", "index"),
    (r"(?<=[\[(])2(?=[\])])", "1", "index"),
    (r"(?<![\w.])2(?= \*)", "3", "factor"),
    (r"(?<![\w.])0\.5(?![\w.])", "0.25", "factor"),
    (r"(?<=/ )(\d+)(?![\w.])", r"\g<1>1", "divisor"),
    (r"\.transpose\(\)", "", "transpose"),
    (r"\bsin\(", "cos(", "sine to cosine"),
    (r"\bcos\(", "sin(", "cosine to sine"),
    (r"\btrue\b", "false", "true to false"),
    (r"\bfalse\b", "true", "false to true"),
    (r"\.x\(\)", ".y()", "component"),
    (r"\.y\(\)", ".z()", "component"),
]
# Lines whose change has no meaning: types, traps for the compiler, messages.
SKIPPED = re.compile(r"^\s*(#|//|using|template|static_assert|friend|public:|private:|\*)|fmt::|constexpr int kMax|std::enable_if|requires")


def code_of(line: str) -> str:
    """The line with texts and comments blanked, character by character."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: "_" * len(m[0]), line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


class Site:
    def __init__(self, file: pathlib.Path, number: int, line: str, begin: int, end: int, by: str, why: str):
        self.file, self.number, self.begin, self.end, self.by, self.why = file, number, begin, end, by, why
        self.before = line.rstrip("\n")
        self.after = self.before[:begin] + by + self.before[end:]
        self.id = hashlib.sha1(f"{file}:{self.before}:{begin}:{self.after}".encode()).hexdigest()[:12]

    def __str__(self):
        return f"{self.file}:{self.number}: {self.why}\n    - {self.before.strip()}\n    + {self.after.strip()}"


def sites_of(file: pathlib.Path) -> list[Site]:
    out = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if SKIPPED.search(line):
            continue
        code = code_of(line)
        for pattern, by, why in CHANGES:
            for match in re.finditer(pattern, code):
                out.append(Site(file, number, line, match.start(), match.end(), match.expand(by), why))
    return out


class Builder:
    """Compiles and links with the commands of an ordinary build."""

    def __init__(self, build: pathlib.Path, source: pathlib.Path, scratch: pathlib.Path, patience: float):
        self.build, self.source, self.scratch, self.patience = build, source, scratch, patience
        commands = json.loads((build / "compile_commands.json").read_text())
        self.commands = {}
        for entry in commands:
            self.commands.setdefault(pathlib.Path(entry["file"]), entry["command"])
        self.links: dict[str, list[str]] = {}
        self.includes: dict[str, set[str]] = {}
        text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
        name = ""
        for line in text.splitlines():
            if line and not line.startswith(" "):
                name = line.split(":")[0]
                self.includes[name] = set()
            elif line.strip():
                self.includes[name].add(os.path.realpath(os.path.join(build, line.strip())))

    def link_words(self, program: str) -> list[str]:
        if program not in self.links:
            lines = subprocess.run(
                ["ninja", "-C", self.build, "-t", "commands", program], capture_output=True, text=True, check=True
            ).stdout.splitlines()
            self.links[program] = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
        return self.links[program]

    def compile(self, source: pathlib.Path, overlay: pathlib.Path | None, text: str | None = None) -> pathlib.Path | None:
        words = shlex.split(self.commands[source])
        if "-c" in words and "env" in words[:3]:
            words = words[words.index(next(w for w in words if w.endswith("++"))) :]
        out = self.scratch / (source.stem + ".o")
        words[words.index("-o") + 1] = str(out)
        words = [w for w in words if w != "-Werror"] + ["-w"]
        if text is not None:
            copy = self.scratch / source.name
            copy.write_text(text)
            words[words.index("-c") + 1] = str(copy)
        if overlay is not None:
            words.insert(1, f"-I{overlay}")
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        return out if done.returncode == 0 else None

    def run(self, program: str, objects: list[pathlib.Path], without: re.Pattern | None) -> bool:
        """Whether the tests pass."""
        words = list(self.link_words(program))
        at = words.index("-o")
        words[at + 1] = str(self.scratch / program)
        if without is not None:
            words = [w for w in words if not without.search(w)]
        words[words.index("-o") : words.index("-o")] = [str(o) for o in objects]
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program} cannot be linked:\n{done.stderr[-2000:]}")
        try:
            done = subprocess.run(
                [self.scratch / program, "--gtest_brief=1", "--gtest_fail_fast"],
                cwd=self.build, capture_output=True, timeout=self.patience,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def tests_of(self, header: pathlib.Path) -> list[pathlib.Path]:
        """The test files of the header's folder that include it; those that are named like it come first."""
        folder = header.relative_to(self.source / "src").parts[0]
        out = []
        for name, includes in self.includes.items():
            if f"CMakeFiles/{folder}_test.dir/" in name and os.path.realpath(header) in includes:
                test = pathlib.Path(re.sub(rf"^.*?{folder}_test\.dir/", "", name).removesuffix(".o"))
                out.append(self.source / test)
        return sorted(out, key=lambda test: (not test.name.startswith(header.stem), test.stat().st_size))

    def judge(self, site: Site) -> str:
        """"killed", "survived" or "invalid" (it does not compile)."""
        file = site.file
        lines = file.read_text().splitlines()
        lines[site.number - 1] = site.after
        text = "\n".join(lines) + "\n"
        folder = file.relative_to(self.source / "src").parts[0]
        program = f"{folder}_test"
        if file.suffix == ".cpp":
            made = self.compile(file, None, text)
            if made is None:
                return "invalid"
            # The object goes before the libraries, whose member of this name is then not used.
            return "survived" if self.run(program, [made], None) else "killed"
        overlay = self.scratch / "overlay"
        copy = overlay / "liedyn" / file.relative_to(self.source / "src")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        try:
            tests = self.tests_of(file)
            if not tests:
                return "survived"
            for test in tests:
                made = self.compile(test, overlay)
                if made is None:
                    return "invalid"
                if not self.run(program, [made], re.compile(r"_test\.cpp\.o$")):
                    return "killed"
            return "survived"
        finally:
            copy.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="./dev mutate")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, default=0, help="so many changes, chosen at random; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; 0: at the end")
    parser.add_argument("--patience", type=float, default=120, help="seconds for a test program; a change that makes it slower is noticed")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parent.parent

    files = []
    for path in arguments.paths:
        path = path.resolve()
        files += sorted(p for p in path.rglob("*") if p.suffix in (".h", ".cpp")) if path.is_dir() else [path]
    sites = [
        site
        for file in files
        if not file.name.endswith("_test.cpp") and file.name not in ("testing.h",)
        for site in sites_of(file)
    ]
    if arguments.sample:
        sites = random.Random(arguments.seed).sample(sites, min(arguments.sample, len(sites)))
    if arguments.list:
        for site in sites:
            print(site)
        print(f"{len(sites)} changes")
        return 0

    store = arguments.build.parent / "mutants.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    scratch = arguments.build.parent / "mutants"
    scratch.mkdir(exist_ok=True)
    builder = Builder(arguments.build, source, scratch, arguments.patience)
    start = time.time()
    judged = []
    for site in sites:
        if site.id not in known:
            if arguments.minutes and time.time() - start > 60 * arguments.minutes:
                break
            known[site.id] = builder.judge(site)
            store.write_text(json.dumps(known))
            print(f"{known[site.id]:<9} {site}", flush=True)
        judged.append(site)

    count = {verdict: sum(known[s.id] == verdict for s in judged) for verdict in ("killed", "survived", "invalid")}
    print("\nNo test notices:")
    for site in judged:
        if known[site.id] == "survived":
            print(site)
    valid = count["killed"] + count["survived"]
    print(f"\n{valid} mutants of {len(sites)} changes, {count['invalid']} do not compile, {count['killed']} killed, "
          f"{count['survived']} survived; score {100 * count['killed'] / max(1, valid):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Tests of the tests: changes one token of the sources at a time, and lists the changes that no test notices.

    ./dev mutate src/lie                        every change in the folder
    ./dev mutate --sample 150 src/model         150 of them, chosen at random (--seed)
    ./dev mutate --list src/lie                 what would be changed

All mutants of a run are compiled at once. The body of a function with mutants becomes

    { if (mutant 7 is chosen) { body with change 7 } else if (mutant 8 ...) ... else { body } }

and the environment variable LIEDYN_MUTANT chooses one when a test program starts. A first run without a mutant records which test reaches which function, and how
long each test takes. Each mutant is then judged by the tests that reach it, cheap ones first, until one fails, crashes or takes far too long. Tests of one mutant may
take --budget seconds; a mutant that no test noticed by then counts as a survivor.

What the compiler evaluates (constexpr) is reached by no test: such a mutant is compiled on its own, with the source that is named most like its file.

Not changed: what stands outside of function bodies (constants, initialisers of members). A header that many sources include is compiled into a few of them only
(WIDEST): what other sources make of it cannot be noticed, so that the score is a lower bound. Changes that make no difference are listed with their reason in
tests/equivalent_mutants.txt; they are no mutants. Results are kept (build/mutants/FOLDER/known.json), so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent

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
SKIPPED = re.compile(r"^\s*(#|using|template|static_assert|friend|public:|private:)|fmt::|constexpr int kMax|std::enable_if|requires")

# The test programs that judge a folder, cheap ones first.
PROGRAMS = {
    "lie": ["lie"],
    "model": ["model", "system", "integrators"],
    "system": ["system", "integrators"],
    "integrators": ["integrators", "analyses"],
}
WIDEST = 3  # so many sources are compiled with a changed header


def code_of(text: str) -> str:
    """The text with strings, comments and lines for the preprocessor blanked, character by character."""

    def blank(match: re.Match) -> str:
        return re.sub(r"[^\n]", "_" if match[0][0] in "\"'R" else " ", match[0])

    return re.sub(r'R"\((.|\n)*?\)"|"(\\.|[^"\\\n])*"|(?<!\w)\'(\\.|[^\'\\\n])+\'|//[^\n]*|/\*(.|\n)*?\*/|^[ \t]*#[^\n]*', blank, text, flags=re.M)


def closing(code: str, at: int) -> int:
    """The position of the brace that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    raise ValueError("braces do not match")


def without_template(head: str) -> str:
    """`template <class S, int n>` and attributes removed from the head of a declaration."""
    while match := re.match(r"\s*(template\s*<|\[\[[^\]]*\]\])", head):
        at = match.end()
        if match[1].startswith("template"):
            depth = 1
            while depth:
                depth += {"<": 1, ">": -1}.get(head[at], 0)
                at += 1
        head = head[at:]
    return head.strip()


def kind_of(head: str) -> str:
    """What a brace opens behind this text: "scope" (namespace, class), "function" or "value"."""
    head = without_template(re.sub(r"\b(public|private|protected):", "", head))
    if re.match(r"(inline )?namespace\b|extern\b", head) or re.match(r"(class|struct|union|enum)\b", head) and not head.endswith(")"):
        return "scope"
    if re.search(r"\)\s*(noexcept\s*)?:(?!:)", head):  # a constructor: its initialisers, then its body
        return "value" if re.search(r"[\w>]$", head) else "function"
    outside = head
    while (inner := re.sub(r"\([^()]*\)", "", outside)) != outside:
        outside = inner
    if "(" not in head or re.search(r"(?<!operator)(?<![=!<>+*/|&-])=(?!=)", outside):
        return "value"
    return "function"


def bodies_of(code: str) -> list[tuple[int, int]]:
    """Where the bodies of functions begin and end, braces included."""
    out, at, head, depth = [], 0, 0, 0
    pieces = re.compile(r"[{};()]")
    while match := pieces.search(code, at):
        at = match.end()
        if match[0] in "()":
            depth += 1 if match[0] == "(" else -1
        elif match[0] == "{":
            kind = "value" if depth else kind_of(code[head : match.start()])
            if kind == "scope":
                head = at
                continue
            at = closing(code, match.start()) + 1
            if kind == "function":
                out.append((match.start(), at))
                head = at
        else:
            head = at
    return out


class Site:
    def __init__(self, file: pathlib.Path, text: str, begin: int, end: int, by: str, why: str, body: tuple[int, int] | None):
        self.file, self.begin, self.end, self.by, self.why, self.body = file.relative_to(SOURCE), begin, end, by, why, body
        self.constant = body is not None and "constexpr" in re.split(r"[;{}]", code_of(text[: body[0]]))[-1]
        self.number = text.count("\n", 0, begin) + 1
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", end)
        self.before = text[first:last].strip()
        self.after = (text[first:begin] + by + text[end:last]).strip()
        self.id = hashlib.sha1(f"{self.file}:{self.before}:{begin - first}:{self.after}".encode()).hexdigest()[:12]

    def __str__(self):
        return f"{self.file}:{self.number}: {self.why}\n    - {self.before}\n    + {self.after}"


def sites_of(file: pathlib.Path) -> list[Site]:
    text = file.read_text()
    code = code_of(text)
    skipped = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\n", text) if SKIPPED.search(m[0])]
    skipped_lines = {text.count("\n", 0, begin) for begin, _ in skipped}
    bodies, out = bodies_of(code), []
    for pattern, by, why in CHANGES:
        for match in re.finditer(pattern, code):
            if code.count("\n", 0, match.start()) not in skipped_lines:
                body = next((b for b in bodies if b[0] <= match.start() < b[1]), None)
                out.append(Site(file, text, match.start(), match.end(), match.expand(by), why, body))
    return sorted(out, key=lambda site: (site.begin, site.by))


SWITCH = """#pragma once
#include <type_traits>
namespace liedyn_mutants {
extern int chosen;
extern unsigned char reached[];
constexpr bool is(int mutant) {
  if (std::is_constant_evaluated()) return false;
  reached[mutant] = 1;
  return chosen == mutant;
}
}
"""
# Chooses the mutant; LIEDYN_REACHED names a file for each test's name, its milliseconds, whether it passed, and the mutants that it reached.
LISTENER = """#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
namespace liedyn_mutants {
int chosen __attribute__((init_priority(101))) = std::getenv("LIEDYN_MUTANT") ? std::atoi(std::getenv("LIEDYN_MUTANT")) : 0;
unsigned char reached[@@COUNT@@];
class Listener : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    std::fprintf(out, "%s.%s %lld %d", info.test_suite_name(), info.name(), static_cast<long long>(info.result()->elapsed_time()), info.result()->Failed() ? 0 : 1);
    for (int i = 0; i < @@COUNT@@; ++i)
      if (reached[i]) std::fprintf(out, " %d", i), reached[i] = 0;
    std::fputc('\\n', out);
    std::fflush(out);
  }
  std::FILE* const out = std::fopen(std::getenv("LIEDYN_REACHED"), "w");
};
const bool listens = [] {
  if (std::getenv("LIEDYN_REACHED")) testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();
}
"""


def instrumented(text: str, sites: list[tuple[int, Site]]) -> tuple[str, dict[int, range]]:
    """The file with all these mutants, and the lines of each of them."""
    by_body = collections.defaultdict(list)
    for number, site in sites:
        by_body[site.body].append((number, site))
    out, lines, at = "", {}, 0
    for body in sorted(by_body):
        begin, end = body
        out += text[at:begin] + "{ "
        for number, site in by_body[body]:
            out += f"if (liedyn_mutants::is({number})) "
            first = out.count("\n") + 1
            out += text[begin : site.begin] + site.by + text[site.end : end] + "\n"
            lines[number] = range(first, out.count("\n") + 1)
            out += "else "
        out += text[begin:end] + " }"
        at = end
    out += text[at:]
    head = '#include "liedyn_mutants.h"\n'
    if "#pragma once\n" in out:
        where = out.index("#pragma once\n")
        out = out[:where] + out[where:].replace("#pragma once\n", "#pragma once\n" + head, 1)
    else:
        out = head + out
    return out, {number: range(r.start + 1, r.stop + 1) for number, r in lines.items()}


class Builder:
    """Compiles and links with the commands of an ordinary build."""

    def __init__(self, build: pathlib.Path, scratch: pathlib.Path):
        self.build, self.scratch = build, scratch
        self.commands = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            self.commands.setdefault(pathlib.Path(entry["file"]), entry["command"])
        self.includes: dict[pathlib.Path, set[str]] = {}
        text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
        includes = set()
        for line in text.splitlines():
            if line and not line.startswith(" "):
                includes = set()
                name = re.sub(r"^CMakeFiles/[^/]*\.dir/", "", line.split(":")[0]).removesuffix(".o")
                self.includes[SOURCE / name] = includes
            elif line.strip():
                includes.add(os.path.realpath(os.path.join(build, line.strip())))

    def sources_of(self, header: pathlib.Path) -> list[pathlib.Path]:
        """The sources that are compiled with a changed header: all tests of src/lie, a few sources of the other folders, those named like it first."""
        folder = header.relative_to(SOURCE / "src").parts[0]
        found = [
            source
            for source, includes in self.includes.items()
            if str(header) in includes and source in self.commands and source.is_relative_to(SOURCE / "src" / folder)
        ]
        found = [source for source in found if source.name.endswith("_test.cpp") == (folder == "lie")]
        found.sort(key=lambda source: (not source.stem.startswith(header.stem), source.parent != header.parent, source.stat().st_size))
        return found if folder == "lie" else found[:WIDEST]

    def compile(self, source: pathlib.Path, copy: pathlib.Path | None, overlay: pathlib.Path) -> tuple[pathlib.Path, str]:
        """The object, and what the compiler says if it fails."""
        words = shlex.split(self.commands[source])
        words = words[next(i for i, w in enumerate(words) if w.endswith("++")) :]
        out = overlay / (str(source.relative_to(SOURCE)).replace("/", "_") + ".o")
        words[words.index("-o") + 1] = str(out)
        words = [w for w in words if not w.startswith("-W")] + ["-w", f"-I{source.parent}", "-fno-diagnostics-show-caret"]
        words.insert(1, f"-I{overlay}")  # before the real headers
        if copy is not None:
            words[words.index("-c") + 1] = str(copy)
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        return out, "" if done.returncode == 0 else done.stderr

    def link(self, program: str, objects: dict[pathlib.Path, pathlib.Path], listener: pathlib.Path):
        text = subprocess.run(["ninja", "-C", self.build, "-t", "commands", program], capture_output=True, text=True, check=True).stdout
        words = shlex.split(text.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))
        words[words.index("-o") + 1] = str(self.scratch / program)
        # Tests replace their object. Other objects go before the libraries, whose members of the same names are then not used.
        first = [str(listener)]
        for source, made in objects.items():
            place = next((i for i, w in enumerate(words) if w.endswith(f"/{source.relative_to(SOURCE)}.o")), None)
            if place is not None:
                words[place] = str(made)
            elif not source.name.endswith("_test.cpp"):
                first.append(str(made))
        at = next(i for i, w in enumerate(words) if w.endswith(".o"))
        words[at:at] = first
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program} cannot be linked:\n{done.stderr[-2000:]}")


def make(builder: Builder, sites: dict[int, Site], jobs: int) -> tuple[dict[pathlib.Path, pathlib.Path], set[int]]:
    """Compiles the mutants; gives the objects and the mutants that do not compile."""
    overlay = builder.scratch / "overlay"
    overlay.mkdir(parents=True, exist_ok=True)
    (overlay / "liedyn_mutants.h").write_text(SWITCH)
    invalid: set[int] = set()
    copies, sources, lines = {}, set(), {}
    by_file = collections.defaultdict(list)
    for number, site in sites.items():
        by_file[SOURCE / site.file].append((number, site))

    def write(file: pathlib.Path):
        text, lines[file] = instrumented(file.read_text(), [(n, s) for n, s in by_file[file] if n not in invalid])
        copies[file] = overlay / "liedyn" / file.relative_to(SOURCE / "src")
        copies[file].parent.mkdir(parents=True, exist_ok=True)
        copies[file].write_text(text)

    for file in by_file:
        write(file)
        sources |= {file} if file.suffix == ".cpp" else set(builder.sources_of(file))

    def compile(source: pathlib.Path) -> pathlib.Path:
        while True:
            out, said = builder.compile(source, copies.get(source), overlay)
            if not said:
                print(f"compiled {source.relative_to(SOURCE)}", flush=True)
                return out
            bad = set()
            for file, ranges in lines.items():
                for match in re.finditer(re.escape(str(copies[file])) + r":(\d+)", said):
                    bad |= {number for number, r in ranges.items() if int(match[1]) in r}
            if not bad - invalid:
                raise RuntimeError(f"{source} cannot be compiled:\n{said[-3000:]}")
            invalid.update(bad)
            for file in {SOURCE / sites[number].file for number in bad}:
                write(file)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        order = sorted(sources)
        objects = dict(zip(order, pool.map(compile, order)))
    return objects, invalid


class Judge:
    """The test programs with all mutants in them."""

    def __init__(self, build: pathlib.Path, scratch: pathlib.Path, programs: list[str], budget: float):
        self.build, self.scratch, self.budget = build, scratch, budget
        self.tests: dict[int, list[tuple[float, str, str]]] = collections.defaultdict(list)  # of a mutant: seconds, program, name
        for program in programs:
            reached = scratch / f"{program}.reached"
            subprocess.run([scratch / program, "--gtest_brief=1"], cwd=build, env=os.environ | {"LIEDYN_REACHED": str(reached)}, capture_output=True)
            count, failed, seconds = 0, [], 0.0
            for line in reached.read_text().splitlines():
                name, milliseconds, passed, *mutants = line.split()
                count, seconds = count + 1, seconds + float(milliseconds) / 1e3
                if passed == "0":
                    failed.append(name)
                    continue
                for mutant in mutants:
                    self.tests[int(mutant)].append((float(milliseconds) / 1e3, program, name))
            print(f"{program}: {count} tests in {seconds:.0f} s" + (f"; not used, since they fail without a mutant: {failed}" if failed else ""), flush=True)

    def passes(self, mutant: int, program: str, names: list[str], seconds: float) -> bool:
        def limits():
            most = int(5 + 5 * seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        environment = {k: v for k, v in os.environ.items() if k != "LIEDYN_REACHED"} | {"LIEDYN_MUTANT": str(mutant)}
        try:
            done = subprocess.run(
                [self.scratch / program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + ":".join(names)],
                cwd=self.build, env=environment, capture_output=True, preexec_fn=limits, timeout=60 + 30 * seconds,
            )
        except subprocess.TimeoutExpired:  # all threads wait
            return False
        return done.returncode == 0

    def verdict(self, mutant: int) -> str:
        """"killed", "survived", "budget" (survived, but more tests reach it) or "unreached"."""
        left = collections.deque(sorted(self.tests[mutant]))
        if not left:
            return "unreached"
        spent, most = 0.0, 0.2
        while left:
            batch = collections.defaultdict(list)
            seconds = 0.0
            while left and seconds < most:
                one = left.popleft()
                batch[one[1]].append(one[2])
                seconds += one[0]
            for program, names in batch.items():
                if not self.passes(mutant, program, names, seconds):
                    return "killed"
            spent, most = spent + seconds, 3 * most
            if left and spent + left[0][0] > self.budget:
                return "budget"
        return "survived"


def judge_alone(builder: Builder, site: Site, program: str, listener: pathlib.Path) -> str:
    """Of what the compiler evaluates: the tests of the source that is compiled with the change."""
    file = SOURCE / site.file
    overlay = builder.scratch / "alone"
    copy = overlay / "liedyn" / file.relative_to(SOURCE / "src")
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = file.read_text()
    copy.write_text(text[: site.begin] + site.by + text[site.end :])
    source = file if file.suffix == ".cpp" else builder.sources_of(file)[0]
    made, said = builder.compile(source, copy if file.suffix == ".cpp" else None, overlay)
    copy.unlink()
    if said:
        return "invalid"
    builder.link(program, {source: made}, listener)
    suites = set(re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+)", source.read_text(), re.M))
    words = [builder.scratch / program, "--gtest_brief=1", "--gtest_fail_fast"] + ([f"--gtest_filter={':'.join(f'*{s}*' for s in suites)}"] if suites else [])
    done = subprocess.run(words, cwd=builder.build, capture_output=True)
    return "survived" if done.returncode == 0 else "killed"


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The interval that holds the share with a probability of 95 %."""
    if n == 0:
        return 0.0, 1.0
    z, p = 1.96, successes / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def equivalents() -> set[tuple[str, str, str]]:
    """Blocks of the file: FILE: reason, the line before, the line after."""
    file = SOURCE / "tests/equivalent_mutants.txt"
    text = file.read_text() if file.exists() else ""
    return {(m[1], m[2], m[3]) for m in re.finditer(r"^(src/\S+): .*\n    - (.*)\n    \+ (.*)$", text, re.M)}


def judge_all(arguments, scratch: pathlib.Path, folder: str, mutants: dict[int, Site], known: dict[str, str], jobs: int):
    """Leaves the verdicts in `known` and in the store."""
    store = scratch / "known.json"
    builder = Builder(arguments.build, scratch)
    print(f"src/{folder}: {len(mutants)} changes in {len({s.file for s in mutants.values()})} files", flush=True)
    objects, invalid = make(builder, mutants, jobs)
    count = max(mutants) + 1
    for number in invalid:
        known[mutants.pop(number).id] = "invalid"
    (scratch / "listener.cpp").write_text(LISTENER.replace("@@COUNT@@", str(count)))
    subprocess.run(["g++", "-std=c++20", "-O1", "-c", scratch / "listener.cpp", "-o", scratch / "listener.o"], check=True)
    programs = [f"{name}_test" for name in PROGRAMS[folder]]
    for program in programs:
        builder.link(program, objects, scratch / "listener.o")
    judge = Judge(arguments.build, scratch, programs, arguments.budget)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        begun = time.time()
        for number, verdict in zip(mutants, pool.map(judge.verdict, mutants)):
            known[mutants[number].id] = verdict
            store.write_text(json.dumps(known))
            print(f"{time.time() - begun:6.0f} s {verdict:<9} {mutants[number]}", flush=True)
    for site in mutants.values():
        if known[site.id] == "unreached" and site.constant:
            known[site.id] = judge_alone(builder, site, programs[0], scratch / "listener.o")
            store.write_text(json.dumps(known))
            print(f"  alone: {known[site.id]:<9} {site}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="./dev mutate")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, default=0, help="so many changes, chosen at random; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant")
    parser.add_argument("--again", action="store_true", help="judge survivors again, after tests were written")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))

    files = []
    for path in arguments.paths:
        path = path.resolve()
        files += sorted(p for p in path.rglob("*") if p.suffix in (".h", ".cpp")) if path.is_dir() else [path]
    files = [f for f in files if not f.name.endswith("_test.cpp") and f.name != "testing.h"]
    everything = [site for file in files for site in sites_of(file)]
    sites = [site for site in everything if site.body is not None]
    outside = len(everything) - len(sites)
    if arguments.sample:
        sites = random.Random(arguments.seed).sample(sites, min(arguments.sample, len(sites)))
    if arguments.list:
        for site in sites:
            print(site)
        print(f"{len(sites)} changes; {outside} more are outside of functions")
        return 0

    same = equivalents()
    known: dict[str, str] = {}
    folders = sorted({site.file.parts[1] for site in sites})
    for folder in folders:
        scratch = arguments.build.parent / "mutants" / folder
        scratch.mkdir(parents=True, exist_ok=True)
        store = scratch / "known.json"
        mine = json.loads(store.read_text()) if store.exists() else {}
        for site in sites:
            if (str(site.file), site.before, site.after) in same:
                mine[site.id] = "equivalent"
            elif arguments.again and mine.get(site.id) in ("survived", "budget", "unreached", "equivalent"):
                del mine[site.id]
        mutants = {number: site for number, site in enumerate(sites, 1) if site.file.parts[1] == folder and site.id not in mine}
        if mutants:
            judge_all(arguments, scratch, folder, mutants, mine, jobs)
        known |= mine

    def report(name: str, chosen: list[Site]):
        count = collections.Counter(known[site.id] for site in chosen)
        valid = sum(count[v] for v in ("killed", "survived", "budget", "unreached"))
        low, high = wilson(count["killed"], valid)
        print(
            f"{name}: {valid} mutants, {count['killed']} killed, {valid - count['killed']} survived ({count['unreached']} reached by no test, "
            f"{count['budget']} after {arguments.budget:g} s of tests); {count['invalid']} changes do not compile, {count['equivalent']} make no difference; "
            f"score {100 * count['killed'] / max(1, valid):.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f} %)"
        )

    print("\nNo test notices:")
    for site in sites:
        if known[site.id] in ("survived", "budget", "unreached"):
            print(f"{known[site.id]}: {site}")
    print(f"\n{len(sites)} of {len(everything) - outside} changes in functions (seed {arguments.seed}); {outside} more are outside of functions")
    for folder in folders:
        report(f"src/{folder}", [site for site in sites if site.file.parts[1] == folder])
    return 0


if __name__ == "__main__":
    sys.exit(main())

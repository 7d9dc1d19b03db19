"""The site: `make.py PROGRAM OUTPUT [--figures DIRECTORY]`, as `./dev docs` calls it.

The pages of the repository are plain Markdown that any code host shows. They are copied to OUTPUT/source with what only the site has:

- links lead to pages of the site, or to copies of files of the repository;
- the pages that an `index.md` links to, in this order, are the navigation below it;
- blocks ```math become numbered equations, blocks ```mermaid drawings;
- models, examples, the changelog and the generated reference are added.

Then Sphinx writes OUTPUT/html. A warning is an error, and so is a link that leads nowhere.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).parent))
import commands  # noqa: E402
import cpp  # noqa: E402
import figures  # noqa: E402
import python_names  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GALLERY = ROOT / "examples" / "gallery"
MATHJAX = Path("/usr/share/javascript/mathjax")
NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")
FOLDERS = {  # links to folders
    "models": "models/index.md",
    "examples": "examples/index.md",
    "examples/gallery": "gallery/index.md",
    "docs/coming_from": "coming_from/index.md",
}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)(`{3,})(.*)$")


def sources() -> dict[str, str]:
    """Markdown of the repository: its path there, and its path in the site."""
    pages = {"CHANGELOG.md": "changelog.md", "README.md": "index.md"}
    for page in sorted(ROOT.glob("docs/**/*.md")):
        path = page.relative_to(ROOT).as_posix()
        if not path.startswith("docs/site/"):
            pages[path] = path.removeprefix("docs/")
    pages["docs/reference.md"] = "reference/index.md"
    pages["docs/figures.md"] = "figures/index.md"
    for page in sorted(ROOT.glob("models/*/README.md")):
        pages[page.relative_to(ROOT).as_posix()] = f"models/{page.parent.name}.md"
    for page in sorted(ROOT.glob("examples/**/README.md")):
        if page.parent == GALLERY:
            pages[page.relative_to(ROOT).as_posix()] = "gallery/index.md"
            continue
        folder = page.parent.relative_to(ROOT / "examples").as_posix()
        pages[page.relative_to(ROOT).as_posix()] = f"examples/{folder}.md"
    return pages


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to the lines that are not in a block of code."""
    lines, fence = [], ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if found and (not fence or found[2] == fence):
            fence = "" if fence else found[2]
            lines.append(line)
        else:
            lines.append(line if fence or line.startswith("    ") else change(line))
    return "\n".join(lines)


class Stage:
    def __init__(self, directory: Path):
        self.directory = directory
        self.pages = sources()
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def link(self, origin: str, page: str, target: str) -> str | None:
        """Where a link of the repository's file `origin` leads from the site's `page`; None: nowhere in the site."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
        goal = FOLDERS.get(path) or self.pages.get(path)
        if goal is None:
            if not (ROOT / path).is_file():
                return None if (ROOT / path).is_dir() else target  # Sphinx reports what does not exist
            goal = f"files/{path}"
            (self.directory / goal).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, self.directory / goal)
        way = posixpath.relpath(goal, posixpath.dirname(page) or ".")
        return way + (f"#{anchor}" if anchor else "")

    def convert(self, origin: str, page: str, text: str) -> str:
        def relink(found: re.Match) -> str:
            way = self.link(origin, page, html.unescape(found[2]))
            return f"{found[1]}({way})" if way else found[1][1:-1]

        text = outside_code(text, lambda line: LINK.sub(relink, line))
        text = self.number_equations(page, text)
        # Why the tests do not run a block of code is for readers, too.
        text = re.sub(r"^<!-- not run: (.*?) -->$", r'<p class="ld-not-run">Not run by the tests: \1.</p>\n', text, flags=re.M)
        text = re.sub(r"^```mermaid\n(.*?)^```$", lambda m: drawing(m[1]), text, flags=re.M | re.S)
        return text

    def number_equations(self, page: str, text: str) -> str:
        """Sphinx numbers the equations. A \\tag, for readers on a code host, must say the same."""
        chapter = re.match(r"theory/(\d+)_", page)
        count = 0

        def equation(found: re.Match) -> str:
            nonlocal count
            count += 1
            tag = re.search(r"\s*\\tag\{(.*?)\}", found[1])
            number = f"{int(chapter[1])}.{count}" if chapter else str(count)
            if tag and tag[1] != number:
                raise ValueError(f"{page}: equation {number} has the tag {tag[1]}")
            return "```{math}\n" + (found[1].replace(tag[0], "") if tag else found[1]) + "```"

        return re.sub(r"^```math\n(.*?)^```$", equation, text, flags=re.M | re.S)

    def navigation(self, page: str, text: str) -> str:
        """A hidden table of contents: the pages that an index links to in lists and tables, each once, under the headings of level two."""
        parts, caption, seen = [], "", set()
        groups: list[tuple[str, list[str]]] = [("", [])]
        for line in text.split("\n"):
            if line.startswith("## "):
                caption = line[3:]
                groups.append((caption, []))
            for _, target in LINK.findall(line) if re.match(r"\s*(-|\||\d+\.) ?", line) else []:
                goal = posixpath.normpath(posixpath.join(posixpath.dirname(page), target.partition("#")[0]))
                if target.startswith("#") or not goal.endswith(".md") or goal in seen:
                    continue
                # An index lists what lies in its own folder; the start page lists the indices.
                if page != "index.md" and posixpath.dirname(goal) != posixpath.dirname(page):
                    continue
                if page == "index.md" and "/" in goal and not goal.endswith("/index.md"):
                    continue
                seen.add(goal)
                groups[-1][1].append(posixpath.relpath(goal, posixpath.dirname(page) or ".").removesuffix(".md"))
        # Pages that no index names yet come last.
        folder = posixpath.dirname(page)
        for goal in sorted({*self.pages.values(), *(FOLDERS.values() if not folder else ())} - seen):
            below = posixpath.dirname(goal) == folder or (not folder and goal.endswith("/index.md"))
            known = goal in self.pages.values() or (ROOT / posixpath.dirname(goal)).is_dir() or (ROOT / "docs" / posixpath.dirname(goal)).is_dir()
            if below and known and goal not in (page, "index.md"):
                groups[-1][1].append(posixpath.relpath(goal, folder or ".").removesuffix(".md"))
        numbered = ":numbered: 1\n" if page == "theory/index.md" else ""
        for caption, entries in groups:
            if entries:
                title = f":caption: {caption}\n" if caption and page == "index.md" else ""
                parts.append("```{toctree}\n:hidden:\n" + numbered + title + "\n" + "\n".join(entries) + "\n```\n")
        return text + "\n\n" + "\n".join(parts)

    def add(self, origin: str) -> None:
        page = self.pages[origin]
        text = self.convert(origin, page, (ROOT / origin).read_text(encoding="utf-8"))
        if posixpath.basename(page) == "index.md":
            text = self.navigation(page, text)
        self.write(page, text)


def drawing(flowchart: str) -> str:
    """The small part of mermaid's flowcharts that the pages use, for graphviz."""
    lines = []
    node = r'(\w+)(?:\["(.*?)"\])?'
    for line in flowchart.strip().split("\n")[1:]:
        found = re.match(rf'\s*{node} (<?)-->(?:\|"(.*?)"\|)? {node}$', line)
        if found is None:
            raise ValueError(f"docs/site/make.py draws edges of flowcharts only, got: {line}")
        first, first_label, both, edge, second, second_label = found.groups()
        for name, label in ((first, first_label), (second, second_label)):
            if label:
                lines.append(f'{name} [label="{label.replace("<br>", chr(92) + "n")}"];')
        lines.append(f'{first} -> {second} [label="{edge or ""}"{", dir=both" if both else ""}];')
    style = 'rankdir=TB; node [shape=box, style="rounded,filled", fillcolor="#e8f3f4", color="#0b6e75", fontname="sans-serif", fontsize=11];'
    style += ' edge [color="#667", fontname="sans-serif", fontsize=9]; bgcolor="white";'
    return "```{graphviz}\ndigraph {\n" + style + "\n" + "\n".join(lines) + "\n}\n```"


def split_reference(stage: Stage) -> list[str]:
    """docs/reference.md, one page for each of its sections. Returns the names."""
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    names = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, rest = section.partition("\n")
        name = title.lower().replace(" ", "_")
        rest = re.sub(r"^###", "##", rest, flags=re.M)
        stage.write(f"reference/{name}.md", f"# {title}\n{rest}")
        names.append(name)
    return names


def first_sentence(text: str) -> str:
    paragraphs = [p for p in text.split("\n\n") if not p.startswith(("#", "<", "|", "`", "!", "    "))]
    sentence = re.split(r"(?<=[.:])\s", paragraphs[0].replace("\n", " ") + " ", maxsplit=1)[0]
    return LINK.sub(lambda m: m[1][1:-1], sentence).rstrip(":")


def index_of(stage: Stage, folder: str, title: str, introduction: str) -> None:
    """An index page of the pages below a folder of the site, with the first sentence of each."""
    rows = []
    for origin, page in stage.pages.items():
        if page.startswith(f"{folder}/"):
            text = (ROOT / origin).read_text(encoding="utf-8")
            name = page.removeprefix(f"{folder}/").removesuffix(".md")
            rows.append(f"| [{name}]({name}.md) | {first_sentence(text).replace('|', chr(92) + '|')} |")
    text = f"# {title}\n\n{introduction}\n\n| name | what it is |\n|---|---|\n" + "\n".join(rows) + "\n"
    stage.write(f"{folder}/index.md", stage.navigation(f"{folder}/index.md", text))


def add_gallery(stage: Stage, kept: Path) -> None:
    """The pages that docs/gallery.py writes. Its examples run again only if one of them has changed."""
    files = [ROOT / "docs" / "gallery.py", ROOT / "docs" / "gallery_pictures.mjs", *sorted(GALLERY.iterdir())]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).hexdigest()
    stamp = kept / "digest"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
        shutil.rmtree(kept, ignore_errors=True)
        subprocess.run([sys.executable, str(ROOT / "docs" / "gallery.py"), str(kept)], check=True)
        stamp.write_text(digest, encoding="utf-8")
    shutil.copytree(kept / "gallery", stage.directory / "gallery")
    shutil.copytree(kept / "static" / "gallery", stage.directory / "static" / "gallery")


def copy_mathjax(directory: Path) -> None:
    """The part of MathJax that reads TeX and draws SVG."""
    for part in ("MathJax.js", "config/TeX-AMS_SVG.js", "config/TeX-AMS_SVG-full.js", "jax/element", "jax/input/TeX", "jax/output/SVG/fonts/TeX",
                 "jax/output/SVG/jax.js", "jax/output/SVG/autoload", "jax/output/SVG/config.js", "extensions/TeX", "extensions/tex2jax.js",
                 "extensions/MathEvents.js", "extensions/MathZoom.js", "extensions/MathMenu.js"):  # fmt: skip
        source, target = MATHJAX / part, directory / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.is_file():
            shutil.copyfile(source, target)


def bundle_theme(static: Path) -> None:
    """Debian's furo leaves its parts apart, for a web server; the site works from disk: no absolute paths and no modules."""
    style, script = static / "styles" / "furo.css", static / "scripts" / "furo.js"
    text = style.read_text(encoding="utf-8").replace("@import url(/javascript/normalize.css/normalize.css);", NORMALIZE.read_text(encoding="utf-8"))
    # Debian's build of the style has no colours for browsers that prefer dark pages.
    if "prefers-color-scheme" not in text:
        dark = re.search(r'body\[data-theme="dark"\] \{([^}]*--color-background-primary[^}]*)\}', text)[1]
        text += f'\n@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark}}} }}\n'
    style.write_text(text, encoding="utf-8")
    spy = (static / "scripts" / "gumshoe-patched.js").read_text(encoding="utf-8")
    text = script.read_text(encoding="utf-8").replace('import Gumshoe from "./gumshoe-patched.js";', spy)
    script.write_text(text, encoding="utf-8")


class Links(HTMLParser):
    """What a page links to, and what may be linked to in it."""

    def __init__(self, text: str):
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key in ("href", "src", "data") and value:
                self.targets.add(value)
            elif key in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(directory: Path) -> tuple[int, list[str]]:
    """How many links between files of the site there are, and those that lead nowhere, also those that Sphinx does not see."""
    pages = {page: Links(page.read_text(encoding="utf-8")) for page in sorted(directory.rglob("*.html")) if "_static" not in page.parts}
    count, broken = 0, []
    for page, links in pages.items():
        for target in links.targets:
            if re.match(r"[a-z]+:|//", target):
                continue
            path, _, anchor = target.partition("#")
            path = unquote(path.partition("?")[0])
            goal = (page.parent / path).resolve() if path else page
            count += 1
            wanted = unquote(anchor)
            if not goal.is_file() or (wanted and goal in pages and wanted not in pages[goal].anchors):
                broken.append(f"{page.relative_to(directory)}: {target}")
    return count, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="the program liedyn")
    parser.add_argument("output", type=Path)
    parser.add_argument("--figures", type=Path, help="a directory that `liedyn reproduce` wrote: its pictures are shown")
    arguments = parser.parse_args()

    stage = Stage(arguments.output / "source")
    for origin in stage.pages:
        if origin not in ("README.md", "docs/reference.md", "examples/gallery/README.md"):
            stage.add(origin)
    names = split_reference(stage)
    (stage.directory / "static").mkdir()
    shutil.copyfile(HERE / "conf.py", stage.directory / "conf.py")
    shutil.copyfile(HERE / "static" / "site.css", stage.directory / "static" / "site.css")
    copy_mathjax(stage.directory / "static" / "mathjax")

    add_gallery(stage, arguments.output / "gallery")
    if (ROOT / "docs" / "coming_from").exists() and "docs/coming_from/index.md" not in stage.pages:
        index_of(stage, "coming_from", "Coming from another program", "What you know there, and what it is called here.")
    index_of(stage, "models", "Models", "Models that come with the program, each with its reference solution and its source. `liedyn run NAME` runs one.")
    index_of(stage, "examples", "Examples", "Folders of `examples/` with models, studies and programs.")
    stage.write("reference/commands.md", commands.page(arguments.program))
    for path, text in python_names.pages().items():
        stage.write(path, text)
    headers = cpp.pages(ROOT / "src", arguments.output / "doxygen")
    for path, text in headers.items():
        stage.write(path, text)
    figures.add(stage.directory / "figures", ROOT / "docs" / "howto" / "reproduce.md", arguments.figures)
    reference = (HERE / "reference.md").read_text(encoding="utf-8")
    reference = reference.replace("<!-- sections -->", "\n".join(f"- [{name.replace('_', ' ').capitalize()}]({name}.md)" for name in names))
    stage.write("reference/index.md", stage.navigation("reference/index.md", reference))

    target = arguments.output / "html"
    shutil.rmtree(target, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-b", "html", "-d", str(arguments.output / "doctrees")]
    code = subprocess.run([*command, str(stage.directory), str(target)], check=False).returncode
    bundle_theme(target / "_static")
    count, broken = broken_links(target.resolve())
    print(f"{count} links between files of the site, {len(broken)} of them broken")
    for one in broken:
        print(f"broken link: {one}", file=sys.stderr)
    return code or int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())

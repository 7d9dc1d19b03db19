"""Runs the examples of examples/gallery and writes their pages for the site.

    ./dev python docs/gallery.py DIRECTORY [NAME...]     # all, or those named
    ./dev python docs/gallery.py --readme                # rewrites examples/gallery/README.md

An example is a script or a notebook. Its docstring, or its first cell, is the title and the text of its page. It writes NAME.png and NAME.html into
the current directory. Where there is Chromium, a picture of the 3D page is added, NAME.jpg.

DIRECTORY/gallery/NAME.md is the page, in MyST Markdown, and DIRECTORY/gallery/index.md shows them all. Files are in DIRECTORY/static/gallery, which Sphinx
copies to `_static`. What an example gave is kept in build/gallery, until the example or the program changes.
"""

from __future__ import annotations

import argparse
import ast
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "gallery"
BUILD = Path(os.environ.get("LIEDYN_BUILD", ROOT / "build"))
KEPT = BUILD / "gallery"
VIEWER = BUILD / "dev" / "viewer"  # with the browser that its tests use
PLUGIN = BUILD / "dev" / "install_trial" / "examples" / "libdrag.so"  # that the test install_examples builds
CHROMIUM = os.environ.get("LIEDYN_CHROMIUM", "/usr/bin/chromium")

INTRODUCTION = (
    "{count} examples. Each is a program of one page that compares its result with a known answer and fails if they differ. All of them run in the tests."
)

# The index, in its order. An example that is missing here is an error.
SECTIONS = {
    "Mechanisms": ["pendulum", "tumbling_book", "heavy_top", "four_bar", "cardan_joint", "bricard_linkage"],
    "Machines and control": ["planetary_gear", "hoist", "motor_and_pid", "sampled_controller", "vibration_absorber", "robot_arm", "mpc_swing_up"],
    "Rolling, contact and events": ["rolling_coin", "bouncing_ball", "end_stop", "newtons_cradle"],
    "Beams and flexible bodies": [
        "beam_roll_up", "large_deflection", "buckling_column", "hanging_cable", "flying_spaghetti", "shaft_whirl", "slewing_arm", "tuning_fork", "campbell_diagram",
    ],
    "Derivatives, design and identification": ["double_pendulum", "crane_without_swing", "light_four_bar", "identify_friction", "sleeping_top"],
    "Your own forces and integrators": ["force_in_python", "force_in_cpp", "own_integrator", "compare_integrators"],
}

# What the picture of a 3D page shows, where it is not the default: see gallery_pictures.mjs.
# None: its plot says more.
PICTURES: dict[str, dict | None] = {
    "force_in_cpp": None,
    "light_four_bar": {"zoom": 0.72},
    "heavy_top": {"time": 1.6, "trail": "top", "zoom": 1.25},
    "bricard_linkage": {"turn": 15},
    "four_bar": {"zoom": 1.1},
    "rolling_coin": {"trail": "coin"},
    "bouncing_ball": {"trail": "ball", "time": 1.25},
    "slewing_arm": {"coloring": "stress", "time": 0.1},
    "tuning_fork": {"mode": 6, "time": 0},
    "buckling_column": {"time": 8},
    "hanging_cable": {"time": 0.4, "zoom": 1.25},
    "flying_spaghetti": {"time": 5.5},
    "large_deflection": {"time": 1},
    "beam_roll_up": {"time": 0.75},
    "shaft_whirl": {"time": 4.9},
    "mpc_swing_up": {"time": 1.0},
    "newtons_cradle": {"time": 0.42},
    "force_in_python": {"trail": "ball", "time": 1.1},
    "double_pendulum": {"time": 1.2, "trail": "lower"},
    "sleeping_top": {"time": 0.6},
    "pendulum": {"time": 0.5, "zoom": 1.3},
}


@dataclass
class Example:
    """A script or a notebook, taken apart."""

    file: Path
    title: str
    text: str  # Markdown

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def summary(self) -> str:
        """The first sentence of the text."""
        return re.split(r"(?<=[.:])\s", self.text.strip(), maxsplit=1)[0].replace("\n", " ").rstrip(":")


def examples() -> list[Example]:
    """All of them, in the order of the index."""
    files = {file.stem: file for pattern in ("*.py", "*.ipynb") for file in sorted(EXAMPLES.glob(pattern))}
    listed = [name for names in SECTIONS.values() for name in names]
    if set(listed) != set(files):
        raise SystemExit(f"gallery: SECTIONS and examples/gallery differ: {', '.join(sorted(set(listed) ^ set(files)))}")
    return [read(files[name]) for name in listed]


def read(file: Path) -> Example:
    """The title is the first line of the docstring, or the heading of the first cell."""
    if file.suffix == ".ipynb":
        first = "".join(json.loads(file.read_text(encoding="utf-8"))["cells"][0]["source"])
        title, _, text = first.partition("\n")
        title = title.lstrip("# ")
    else:
        title, _, text = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")
    return Example(file, title.strip(), text.strip())


# ---- scripts


def run_script(example: Example, folder: Path) -> str:
    """Runs it in `folder`; gives back what it printed."""
    environment = os.environ | {"MPLBACKEND": "Agg", "PATH": f"{BUILD / 'dev' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    if PLUGIN.exists():
        environment.setdefault("LIEDYN_PLUGIN", str(PLUGIN))
    if "LIEDYN_PLUGIN" not in environment and "LIEDYN_PLUGIN" in example.file.read_text(encoding="utf-8"):
        print(f"gallery: {example.name} is not run: its plugin is not built (ctest -R install_examples)", file=sys.stderr)
        return ""
    done = subprocess.run([sys.executable, str(example.file)], cwd=folder, env=environment, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"gallery: {example.file.name} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def source(file: Path) -> str:
    """The program without its docstring, which is the text of the page."""
    text = file.read_text(encoding="utf-8")
    first = ast.parse(text).body[0]
    return "\n".join(text.splitlines()[first.end_lineno :]).strip()


def script_page(example: Example, folder: Path) -> str:
    printed = run_script(example, folder)
    parts = [f"# {example.title}", example.text, plot(example, folder), scene(example, folder)]
    if printed.strip():
        parts.append(f"The script prints:\n\n```text\n{printed.rstrip()}\n```")
    parts.append(f"## Source\n\n`examples/gallery/{example.file.name}`\n\n```python\n{source(example.file)}\n```")
    for other in dict.fromkeys(re.findall(r"`(examples/cpp/[\w.]+)`", example.text)):  # sources that the text names
        code = (ROOT / other).read_text(encoding="utf-8").rstrip()
        parts.append(f"`{other}`\n\n```cpp\n{code}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def plot(example: Example, folder: Path) -> str:
    file = f"{example.name}.png"
    return f"![{example.title}](../static/gallery/{file})" if (folder / file).exists() else ""


def scene(example: Example, folder: Path) -> str:
    """The 3D page, inside the page and as a link."""
    if not (folder / f"{example.name}.html").exists():
        return ""
    page = f"../_static/gallery/{example.name}.html"
    frame = f'<iframe src="{page}" title="{escape(example.title)}, in 3D" loading="lazy" allowfullscreen style="width: 100%; height: 32em; border: 0"></iframe>'
    return raw(f'{frame}\n<p><a href="{page}">Open the 3D page in its own tab</a></p>')


def raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


# ---- notebooks


def execute(example: Example, folder: Path) -> list[dict]:
    """The cells of the notebook with their outputs."""
    try:
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    except ImportError:
        raise SystemExit("gallery: notebooks need the packages python3-nbclient and python3-ipykernel") from None
    os.environ.pop("MPLBACKEND", None)  # the kernel shows figures as outputs of their cells
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # kernels warn about Python's own frozen modules otherwise
    notebook = nbformat.read(example.file, as_version=4)
    try:
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise SystemExit(f"gallery: {example.file.name} failed\n{error}") from None
    return notebook.cells


def notebook_page(example: Example, folder: Path) -> str:
    parts, count = [f"# {example.title}", example.text], 0
    for cell in execute(example, folder)[1:]:
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
            continue
        parts.append(f"```python\n{cell['source'].strip()}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if output["output_type"] == "stream":
                parts.append(f"```text\n{output['text'].rstrip()}\n```")
            elif "image/png" in data:
                count += 1
                file = f"{example.name}_{count}.png"
                (folder / file).write_bytes(base64.b64decode(data["image/png"]))
                parts.append(f"![figure {count} of {example.title}](../static/gallery/{file})")
            elif "<iframe srcdoc" in data.get("text/html", ""):
                parts.append(scene(example, folder))
            elif "text/html" in data:  # a table
                parts.append(raw(data["text/html"]))
            elif "text/plain" in data:
                parts.append(f"```text\n{data['text/plain']}\n```")
    shutil.copy(example.file, folder)
    parts.append(raw(f'<p><a href="../_static/gallery/{example.file.name}" download>Download this notebook</a></p>'))
    return "\n\n".join(part for part in parts if part) + "\n"


# ---- pictures and index


def take_pictures(folder: Path, names: list[str]) -> None:
    """Pictures of the 3D pages, as thumbnails; nothing without Chromium and node."""
    if not (shutil.which("node") and Path(CHROMIUM).exists() and (VIEWER / "node_modules").exists()):
        print("gallery: no pictures of the 3D pages, which need chromium, node and a built viewer", file=sys.stderr)
        return
    shown = {name: PICTURES.get(name, {}) for name in names if (folder / f"{name}.html").exists()}
    wanted = [{"page": f"{name}.html", "picture": f"{name}.jpg", **how} for name, how in shown.items() if how is not None]
    if not wanted:
        return
    (folder / "pictures.json").write_text(json.dumps(wanted), encoding="utf-8")
    subprocess.run(["node", str(ROOT / "docs" / "gallery_pictures.mjs"), str(VIEWER), "pictures.json"], cwd=folder, check=True)
    (folder / "pictures.json").unlink()


STYLE = """<style>
.ld-gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.2rem; margin: 1rem 0 2rem }
.ld-gallery a { display: block; text-decoration: none; color: inherit; border: 1px solid #8884; border-radius: 6px; overflow: hidden }
.ld-gallery a:hover { border-color: #2563a8 }
.ld-gallery img { display: block; width: 100%; aspect-ratio: 16/9; object-fit: cover; object-position: top; background: #fff }
.ld-gallery span { display: block; padding: 0.5rem 0.7rem; font-size: 0.85rem; line-height: 1.35 }
.ld-gallery b { display: block; font-size: 0.95rem }
</style>"""


def index(folder: Path, listed: list[Example]) -> str:
    by_name = {example.name: example for example in listed}
    parts = ["# Gallery", INTRODUCTION.format(count=len(listed)) + " Each page has a plot, the motion in 3D, and the source.", raw(STYLE)]
    for section, names in SECTIONS.items():
        cards = []
        for example in (by_name[name] for name in names if name in by_name):
            image = next((f"{example.name}.{kind}" for kind in ("jpg", "png") if (folder / f"{example.name}.{kind}").exists()), "")
            words = f"<span><b>{escape(example.title)}</b>{escape(example.summary)}</span>"
            shown = f'<img src="../_static/gallery/{image}" alt="" loading="lazy">' if image else ""
            cards.append(f'<a href="{example.name}.html">{shown}{words}</a>')
        if cards:
            parts.append(f"## {section}\n\n" + raw('<div class="ld-gallery">\n' + "\n".join(cards) + "\n</div>"))
    parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(example.name for example in listed) + "\n```")
    return "\n\n".join(parts) + "\n"


def readme(listed: list[Example]) -> str:
    """The list for readers of the repository."""
    by_name = {example.name: example for example in listed}
    lines = ["# Gallery", "", INTRODUCTION.format(count=len(listed)), ""]
    lines += ["    ./dev python examples/gallery/four_bar.py     # writes four_bar.png and four_bar.html into the current directory", ""]
    lines += ["`./dev python docs/gallery.py DIRECTORY` writes a page for each, with pictures.", ""]
    lines += [
        "A new example is a file here that writes NAME.png and NAME.html into the current directory, and a name in `SECTIONS` of `docs/gallery.py`.",
        "Its docstring (of a notebook: its first cell) is the title and the text: what is shown, what to look at, and the known answer.",
        "This list is generated: `./dev python docs/gallery.py --readme`.",
        "",
    ]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", "", "| example | shows |", "|---|---|"]
        lines += [f"| [{by_name[name].file.name}]({by_name[name].file.name}) | **{by_name[name].title}.** {by_name[name].summary} |" for name in names]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, help="where pages and files go")
    parser.add_argument("names", nargs="*", help="examples; all if not given")
    parser.add_argument("--readme", action="store_true", help="only rewrite examples/gallery/README.md")
    parser.add_argument("--no-pictures", action="store_true", help="without pictures of the 3D pages")
    arguments = parser.parse_args()
    listed = examples()
    if arguments.readme:
        (EXAMPLES / "README.md").write_text(readme(listed), encoding="utf-8")
        return
    if arguments.directory is None:
        parser.error("expected the directory for the pages, or --readme")
    unknown = set(arguments.names) - {example.name for example in listed}
    if unknown:
        parser.error(f"there is no example {', '.join(sorted(unknown))} in examples/gallery")
    chosen = [example for example in listed if not arguments.names or example.name in arguments.names]
    write(arguments.directory, chosen, pictures=not arguments.no_pictures)


def write(directory: Path, chosen: list[Example], pictures: bool) -> None:
    """Runs what has changed, and copies pages and files of the chosen examples to the directory."""
    pages, folder = KEPT / "gallery", KEPT / "static" / "gallery"
    pages.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    for example in chosen:
        page = pages / f"{example.name}.md"
        if is_current(page, example):
            continue
        (folder / f"{example.name}.jpg").unlink(missing_ok=True)
        make = notebook_page if example.file.suffix == ".ipynb" else script_page
        page.write_text(make(example, folder), encoding="utf-8")
        print(f"gallery: {example.name}", file=sys.stderr)
    if pictures:
        take_pictures(folder, [example.name for example in chosen if not (folder / f"{example.name}.jpg").exists()])
    target, files = directory / "gallery", directory / "static" / "gallery"
    target.mkdir(parents=True, exist_ok=True)
    files.mkdir(parents=True, exist_ok=True)
    for example in chosen:
        shutil.copy(pages / f"{example.name}.md", target)
        for file in folder.glob(f"{example.name}*"):
            if file.suffix in (".png", ".jpg", ".html", ".ipynb") and file.stem.rstrip("_0123456789") == example.name:
                shutil.copy(file, files)
    (target / "index.md").write_text(index(files, chosen), encoding="utf-8")


def is_current(page: Path, example: Example) -> bool:
    """Whether neither the example nor the program, the viewer or this file changed since the page was written."""
    import liedyn

    package = Path(liedyn.__file__).parent
    sources = [example.file, Path(__file__), *package.glob("_liedyn*"), BUILD / "dev" / "share" / "liedyn" / "viewer.html"]
    return page.exists() and all(not file.exists() or file.stat().st_mtime < page.stat().st_mtime for file in sources)


if __name__ == "__main__":
    main()

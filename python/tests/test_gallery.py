"""Every script and every notebook of examples/gallery runs, compares itself with a known answer, and writes a plot and a 3D page."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "gallery"
FILES = sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An empty directory, and matplotlib as it was."""
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        yield tmp_path
    plt.close("all")


def code_of(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_example(file: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if file.stem == "force_in_cpp" and "LIEDYN_PLUGIN" not in os.environ:
        pytest.skip("needs a compiled plugin: the test install_gallery runs it")
    if file.suffix == ".py":
        monkeypatch.setattr(sys, "argv", [file.name])
        runpy.run_path(str(file), run_name="__main__")
    else:
        exec(compile(code_of(file), str(file), "exec"), {"__name__": "__main__"})
    for kind, least in (("png", 10_000), ("html", 100_000)):
        written = here / f"{file.stem}.{kind}"
        assert written.exists() and written.stat().st_size > least, f"{file.name} wrote no {written.name}"


@pytest.mark.parametrize("file", [file for file in FILES if file.suffix == ".ipynb"], ids=lambda file: file.name)
def test_notebook_is_stored_without_outputs(file: Path) -> None:
    notebook = json.loads(file.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and notebook["cells"][0]["cell_type"] == "markdown"
    for cell in notebook["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)


def test_readme_lists_every_example() -> None:
    gallery = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
    listed = gallery["examples"]()
    assert {example.file for example in listed} == set(FILES)
    assert (EXAMPLES / "README.md").read_text(encoding="utf-8") == gallery["readme"](listed), "run docs/gallery.py --readme"
    for example in listed:
        assert example.title and len(example.summary) > 20, example.file.name


@pytest.mark.parametrize("name, parts", [("hoist", ["# Hoist", "closed form", "m.pulley("]), ("campbell_diagram", ["# Campbell", "closed forms", "model.modes("])])
def test_pages_of_the_site(name: str, parts: list[str], tmp_path: Path) -> None:
    """Scripts and notebooks become pages with their text, plot, 3D page and source."""
    if name == "campbell_diagram":
        pytest.importorskip("nbclient")
        pytest.importorskip("ipykernel")
    command = [sys.executable, str(ROOT / "docs" / "gallery.py"), str(tmp_path), name, "--no-pictures"]
    done = subprocess.run(command, env=os.environ | {"LIEDYN_BUILD": str(tmp_path / "build")}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "gallery" / f"{name}.md").read_text(encoding="utf-8")
    for part in (*parts, f"../static/gallery/{name}", f'<iframe src="../_static/gallery/{name}.html"'):
        assert part in page
    assert (tmp_path / "static" / "gallery" / f"{name}.html").exists()
    assert f'href="{name}.html"' in (tmp_path / "gallery" / "index.md").read_text(encoding="utf-8")

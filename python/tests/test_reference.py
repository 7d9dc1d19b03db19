"""Pages that are generated from the lists in the code are those in docs/."""

import subprocess
from pathlib import Path

import liedyn as ld
from liedyn import reference

DOCS = Path(__file__).resolve().parents[2] / "docs"
HINT = "out of date: run ./dev docs"


def test_reference_page_is_current():
    page = reference.page()
    for name in [*ld.integrators(), *ld.formulations(), *(kind for kinds in ld.elements().values() for kind in kinds)]:
        assert f"`{name}`" in page
    assert DOCS.joinpath("reference.md").read_text(encoding="utf-8") == page, HINT


def test_schema_is_current():
    printed = subprocess.run(["liedyn", "schema"], check=True, capture_output=True, text=True).stdout
    assert DOCS.joinpath("model.schema.json").read_text(encoding="utf-8") == printed, HINT

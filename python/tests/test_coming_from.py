"""docs/coming_from and docs/llms.txt: what they name exists."""

import re
from pathlib import Path

import pytest

import liedyn as ld

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "coming_from").glob("*.md"))

# Words of Liedyn in the tables that are no kinds, keys, choices, integrators or options.
OTHERS = {"frames", "shape", "tables", "ground", "rotation", "events", "30*deg", "step(t", "2", "stabilized", "consistent", "gravity", "contact_..."}
OTHERS |= {"between\": [first", "element\": \"three_node", "axes\": \"body", "m.rigid(...)", "result.view()", "sim.set", "state", "inverse_dynamics"}


def known() -> set[str]:
    words = set(ld.integrators()) | set(ld.formulations()) | {option for method in ld.integrators().values() for option in method.options}
    for section, kinds in ld.elements().items():
        words.add(section)
        for kind in kinds.values():
            words |= {kind.type, *kind.fields, *(choice for field in kind.fields.values() for choice in field.choices)}
    return words | OTHERS


def test_there_is_a_page_for_each_program():
    assert {page.stem for page in PAGES} == {"index", "exudyn", "mbdyn", "chrono", "mujoco", "drake", "simbody", "adams"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_in_the_tables_exist(page):
    words, unknown = known(), []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if not line.startswith("|") or len(cells) < 4:
            continue
        for word in re.findall(r"`([^`]+)`", cells[2] if page.stem == "index" and cells[1].strip() == "Liedyn" else cells[-2] if page.stem != "index" else ""):
            if word.startswith("ld."):
                assert hasattr(ld, re.match(r"ld\.(\w+)", word)[1]), word
            elif not word.startswith(("liedyn ", "--")) and word.strip('"').split(",")[0].split("=")[0] not in words:
                unknown.append(word)
    assert not unknown


def test_links_of_llms_txt_lead_somewhere():
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 10
    assert [target for target in targets if not (DOCS / target).exists()] == []
    assert text.startswith("# Liedyn\n\n> "), "the form of llms.txt: a title, then a summary"

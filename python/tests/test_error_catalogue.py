"""docs/errors.md lists the messages of the sources, and `liedyn explain` finds what the program prints."""

import re
import subprocess

import error_catalogue
import pytest

import liedyn as ld


def test_the_page_lists_every_message_of_the_sources():
    missing, gone = error_catalogue.differences()
    advice = "run ./dev docs, then look where the new messages went"
    assert not missing, advice + ":\n" + "\n".join(f"{one.file}: {one.text}" for one in missing)
    assert not gone, advice + ":\n" + "\n".join(gone)


def test_every_section_has_a_cause_and_a_remedy():
    page = error_catalogue.PAGE.read_text(encoding="utf-8")
    for section in page.split("\n## ")[1:]:
        title = section.splitlines()[0]
        assert re.search(r"\nCause: \S", section) and re.search(r"\nRemedy: \S", section), title
        assert error_catalogue.listed(section), title


def test_messages_are_found_in_the_sources(tmp_path):
    """The reading of the sources itself: every form in which a message is given."""
    file = error_catalogue.SOURCE / "src" / "model" / "bodies" / "rigid.cpp"
    texts = {one.text for one in error_catalogue.messages_of(file)}
    assert "inertia must be positive semi-definite, got principal moments {}, {}, {}" in texts
    hints = {one.text: one.hint for one in error_catalogue.messages()}
    assert hints["there is no file '{}'"] == "paths are relative to the file that names them"
    assert "Newton's method did not converge in {} iterations; the largest residual, {}, is in '{}'" in hints


BODY = {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}
MISTAKES = {
    "unknown key": {"bodies": {"a": {**BODY, "mas": 1}}},
    "missing key": {"bodies": {"a": {"type": "rigid", "mass": 1}}},
    "unknown type": {"bodies": {"a": {"type": "rigit"}}},
    "unknown body": {"bodies": {"a": BODY}, "joints": {"j": {"type": "spherical", "between": ["ground", "b"], "at": [0, 0, 0]}}},
    "inertia": {"bodies": {"a": {**BODY, "inertia": [1, 1, 5]}}},
    "expression": {"bodies": {"a": {**BODY, "mass": "2*"}}},
    "unknown name": {"bodies": {"a": {**BODY, "mass": "m"}}},
    "vector": {"bodies": {"a": {**BODY, "position": [1, 2]}}},
    "loop": {
        "bodies": {"a": {**BODY, "position": [1, 0, 0]}},
        "joints": {"j": {"type": "spherical", "between": ["ground", "a"], "at": {"ground": [0, 0, 0], "a": [0, 0, 0]}}},
    },
    "version": {"liedyn": 2},
    "sensor": {"bodies": {"a": BODY}, "sensors": {"s": {"type": "joint_angle", "of": "j"}}},
    "integrator": {"bodies": {"a": BODY}, "simulation": {"integrator": "rk45"}},
    "option": {"bodies": {"a": BODY}, "simulation": {"integrator": "generalized-alpha,rh=1"}},
    "end": {"bodies": {"a": BODY}, "simulation": {"end": -1}},
    "shape": {"bodies": {"a": {"type": "rigid", "shape": {"type": "box", "size": [1, 1]}}}},
    "table": {"tables": {"f": {"points": [[0, 0]]}}, "bodies": {"a": BODY}},
    "numerics": {"bodies": {"a": BODY}, "forces": {"f": {"type": "force", "on": "a", "force": ["sqrt(0.5 - t)", 0, 0]}}},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_the_program_prints_is_on_the_page(name):
    """The other way round, so that a message that the reading of the sources misses is noticed."""
    try:
        ld.run({"liedyn": 1, **MISTAKES[name]})
        texts = []
    except ld.NumericalWarning as warning:
        texts = [str(warning)]
    except ld.InputError as error:
        texts = [finding.message for finding in error.diagnostics]
    assert texts and all(texts)
    page = error_catalogue.listed(error_catalogue.PAGE.read_text(encoding="utf-8"))
    patterns = [re.compile(".*".join(map(re.escape, text.split("{}"))), re.S) for text in page if len(text.replace("{}", "").strip()) >= 8]
    for text in texts:
        assert any(pattern.search(text) for pattern in patterns), text


def test_explain_finds_a_message():
    out = subprocess.run(["liedyn", "explain", "unknown key 'mas' for the type rigid"], capture_output=True, text=True, check=True).stdout
    assert "Remedy: " in out

"""Comments in model files: Python reads them as the program does."""

import json

import pytest

import liedyn as ld
from liedyn.comments import without_comments

TEXT = """// a stone
{ "liedyn": 1, /* falls
  freely */ "gravity": [0, 0, -9.81],  // m/s^2
  "description": "no // comment /* here */",
  "bodies": { "stone": { "type": "point", "mass": 2 } },
  "sensors": { "place": { "type": "position", "of": "stone" } },
  "simulation": { "end": 1, "step": 0.01, "integrator": "rk44" } }
"""


def test_strings_and_lines_are_kept():
    plain = without_comments(TEXT)
    assert json.loads(plain)["description"] == "no // comment /* here */"
    assert plain.count("\n") == TEXT.count("\n"), "messages name lines"
    assert without_comments(r'"a\\" // b') == r'"a\\"     ', "an escaped backslash ends no string"


def test_a_commented_file_is_read_in_every_way(tmp_path):
    file = tmp_path / "stone.json"
    file.write_text(TEXT)
    assert ld.run(file)["place"][-1][2] == pytest.approx(-9.81 / 2, rel=1e-9)
    assert ld.load(file)["gravity"] == [0, 0, -9.81]
    changed = ld.load(file)
    changed["gravity"] = [0, 0, -1]
    assert ld.run(changed)["place"][-1][2] == pytest.approx(-0.5, rel=1e-9)

"""The report of the demo: complete, in one file, with the known numbers."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from liedyn import style
from liedyn.report import demo, page

VOID = {"meta", "source", "img"}


class Outline(HTMLParser):
    """Tags that open and close in order, and what the page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.references: list[str] = []
        self.descriptions: list[str] = []
        self.pages: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "srcdoc":
                self.pages.append(value)
            if name in ("src", "srcset", "href"):
                self.references.append(value)
            if name == "alt":
                self.descriptions.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("demo") / "index.html"
    template = file.with_name("viewer.html")
    template.write_text("<!--liedyn-scene-->")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIEDYN_VIEWER", str(template))
        demo.write(file)
    return file.read_text(encoding="utf-8")


def test_page_is_one_well_formed_file(report):
    outline = Outline()
    outline.feed(report)
    assert outline.open == []
    assert len(outline.pages) == 1 and '"title":"heavy_top"' in outline.pages[0], "the motion in 3D"
    assert len(outline.references) == 2 * len(outline.descriptions) >= 10, "figures for light and dark pages"
    assert all(reference.startswith("data:image/svg+xml;base64,") for reference in outline.references)
    assert all(outline.descriptions)
    assert outline.headings == [
        "What was simulated", "The important curves", "Why it is hard", "Motion", "Pivot force", "Energy and constraints", "Accuracy", "Summary",
        "Steps and iterations", "Warnings", "Do it again",
    ]


def test_page_shows_the_known_error_and_the_order(report):
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", report))
    assert facts["error of the centre of mass at t = 1 s, step 1 ms"] == "7.27 mm"
    assert facts["order of convergence observed"] == "2.00"


def test_multiplier_of_the_unconstrained_top_is_the_known_one():
    times, multiplier = demo.multiplier_over_time()
    assert times[-1] == 1
    np.testing.assert_allclose(multiplier[-1], demo.REFERENCE["multiplier"], atol=1e-2)


def test_colours_of_the_page_are_those_of_the_figures(report):
    for theme in (style.LIGHT, style.DARK):
        for color in (theme.ink, theme.muted, theme.grid, theme.paper, theme.series[0]):
            assert color in report


@pytest.mark.parametrize(
    "value, text",
    [(7.2671e-3, "7.27 × 10⁻³"), (0.5, "5.00 × 10⁻¹"), (1.0, "1.00"), (30.12, "30.1"), (122.4, "122"),
     (2.47e4, "2.47 × 10⁴")],
)
def test_numbers_are_written_for_readers(value, text):
    assert page.scientific(value) == text

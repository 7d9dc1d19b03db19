"""Figures and tables of the papers, done again: `liedyn reproduce NAME...`, or `python -m liedyn.reproduce`.

Each figure is one function with a decorator (`figure.figure`) in the module of its paper. It runs the simulations,
hands over its data, draws its plot in the paper's axes, and judges every claim that the paper makes about it. To add
a paper, write a module like `report.py`, name it in `PAPERS` here, and give its title in `figure.PAPERS`.
"""

from importlib import import_module

from liedyn.reproduce.figure import FIGURES, Verdict, run

PAPERS = (
    "report", "sigma", "sigma_slider_crank", "sensitivity", "evaluation", "evaluation_slider_crank", "puma", "astable",
    "squeezer", "study", "study_explicit",
)  # fmt: skip
"""The modules with the figures, one or more per paper and one of our own, in the order of the listing."""

for _module in PAPERS:
    import_module(f"liedyn.reproduce.{_module}")

__all__ = ["FIGURES", "PAPERS", "Verdict", "run"]

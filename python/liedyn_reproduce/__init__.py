"""Figures and tables of the papers, done again: `liedyn reproduce NAME...`, or `python -m liedyn_reproduce`.

Each figure is one function with a decorator (`figure.figure`) in a module of its paper. It runs the simulations,
hands over its data, draws its plot in the paper's axes, and judges every claim that the paper makes about it. To add
a paper, write a package like `astable` with a module for each subject, name it in `PAPERS` here, and give its title in
`figure.PAPERS`.
"""

from importlib import import_module

from liedyn_reproduce.figure import FIGURES, Verdict, run

PAPERS = ("report", "sigma", "sensitivity", "evaluation", "astable", "study")
"""The packages with the figures, one per paper and one of our own, in the order of the listing."""

for _paper in PAPERS:
    for _subject in getattr(import_module(f"liedyn_reproduce.{_paper}"), "SUBJECTS", ()):
        import_module(f"liedyn_reproduce.{_paper}.{_subject}")

__all__ = ["FIGURES", "PAPERS", "Verdict", "run"]

"""Holzinger, Arnold, Gerstmayr: Evaluation and implementation of Lie group integration methods."""

SUBJECTS = ("heavy_top_free", "heavy_top", "rotor", "slider_crank", "puma")
"""The modules with figures, in the order of the listing."""

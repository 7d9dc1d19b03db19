"""Brüls, Eberhard: Sensitivity analysis for dynamic mechanical systems with finite rotations."""

SUBJECTS = ("forms", "tables")
"""The modules with figures, in the order of the listing."""

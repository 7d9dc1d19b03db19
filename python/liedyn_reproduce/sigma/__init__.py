"""Holzinger, Arnold, Gerstmayr: sigma-modified Lie group generalized-alpha methods for constrained systems."""

SUBJECTS = ("heavy_top", "rotor", "newton", "slider_crank", "floating_frame")
"""The modules with figures, in the order of the listing."""

"""Studies of our own on the papers' examples."""

SUBJECTS = ("heavy_top", "explicit", "flexible", "hub", "sensitivities", "defaults")
"""The modules with figures, in the order of the listing."""

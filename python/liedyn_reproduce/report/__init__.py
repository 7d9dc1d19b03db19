"""Arnold, Cardona, Brüls: A Lie algebra approach to Lie group time integration of constrained systems."""

SUBJECTS = ("linear", "index3", "stabilized", "starting_values")
"""The modules with figures, in the order of the listing."""

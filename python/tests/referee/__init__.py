"""An independent judge of the engine: a simulator of its own, random mechanisms, and the same models in other units.

Nothing here uses code of the engine, and no formula is taken from it: `simulator.py` integrates the Newton-Euler equations in absolute
coordinates. `python -m referee` (or `./dev referee`) compares many mechanisms; `test_referee.py` and `test_units.py` compare a few.
"""

"""Models with all analyses as methods."""

from __future__ import annotations

from liedyn import linear, simulation, stepping
from liedyn.compiled import Compiled
from liedyn.gradients import gradient
from liedyn.sweeps import sweep
from liedyn.view import model_view


class Model(Compiled):
    """A model compiled for one formulation, to be analysed as often as you like with different parameters.

    `set` gives values to parameters and to arguments of generated models, such as {"links": 1000}. `formulation` is one
    of `formulations()`; the model's own if not given. Raises InputError with everything that is wrong.

    >>> top = ld.Model("heavy_top", set={"spin": 100})
    >>> top.run(end=0.1), top.modes(), top.static(), top.sensitivity(["spin"])

    Each analysis is both a function of the package and a method: `ld.run(top, end=0.1)` is `top.run(end=0.1)`.
    """

    run = simulation.run
    kinematics = simulation.kinematics
    sensitivity = simulation.sensitivity
    gradient = gradient
    sweep = sweep
    static = linear.static
    modes = linear.modes
    linearize = linear.linearize
    assemble = linear.assemble
    view = model_view
    simulation = stepping.simulation  # last: above, the name is that of the module

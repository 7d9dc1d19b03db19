"""Liedyn: dynamics of flexible multibody systems on Lie groups.

>>> import liedyn as ld
>>> result = ld.run("heavy_top", integrator="generalized-alpha,sigma=1", step=1e-3)
>>> print(result)                   # a table; notebooks show it as HTML
>>> result["position"][-1]          # numpy arrays, views onto the trajectory
>>> result.plot("position")
>>> result.save("top.h5")           # ld.load_result("top.h5") reads it
>>> ld.run("heavy_top", scene=True).view()    # the motion in 3D; html="top.html" writes a page

A model is the name of a shipped model, the path of a JSON file, a dict with the content of such a file, or a `Builder`:

>>> m = ld.Builder(gravity=[0, 0, -9.81])
>>> arm = m.rigid("arm", mass=2, inertia=[0.01, 0.2, 0.2], position=[0.5, 0, 0])
>>> hinge = m.revolute("hinge", m.ground, arm, at=[0, 0, 0], axis=[0, 1, 0])
>>> m.joint_effort("spring", hinge, effort=-5 * m.joint_angle("angle", hinge))

To analyse it many times with other parameters, compile it once:

>>> top = ld.Model("heavy_top")
>>> top.run(set={"spin": 100})
>>> top.sweep([{"spin": spin} for spin in (50, 100, 150)])    # several runs at a time

Thousands of runs, with parameters from distributions and a store that survives failures, are a `Study`:

>>> ld.Study("study.json").run("study.h5", threads=2).to_dataframe()

Integrators and formulations are compared by

>>> study = ld.converge("heavy_top", formulations=["r3so3", "se3"], steps=[2e-3, 1e-3, 5e-4])
>>> print(study)
>>> study.plot()

and methods alone, on linear problems, by `analyze_integrator(["lms2,rho=0.6", "dopri5"])`.

Without time integration there are

>>> ld.static("pendulum")                            # an equilibrium; run(model, from_=...) begins there
>>> ld.modes("pendulum", at="static").frequencies
>>> ld.linearize("slider_crank").A                   # a state space, with B, C, D and transfer(s)
>>> ld.assemble("slider_crank", hold="crank")
>>> ld.kinematics(driven_model)

A program that advances a simulation itself, to steer it, reads

>>> sim = ld.Model("heavy_top").simulation(step=1e-3)
>>> sim.advance(0.01)
>>> sim["position"], sim.time

Derivatives with respect to parameters, exact for the discrete solution, are

>>> ld.sensitivity("heavy_top", ["bodies.top.mass"], ["position[0]", "position[2]@max"], end=0.1).jacobian
>>> ld.run("heavy_top", sensitivities=["bodies.top.mass"]).d("position", "bodies.top.mass")

and searches that use them

>>> ld.optimize({"model": "heavy_top", "variables": {...}, "outputs": {...}, "minimize": "..."}).variables

Every function that takes a model takes a `Model` too, and those that analyse one model are its methods as well.
Lists of the choices: `models()`, `integrators()`, `formulations()`, `elements()`, `parameters(model)`.
Wrong input raises `InputError`; numerics that fail give a `NumericalWarning` and a result with `completed == False`,
or raise `NumericalError` if `strict=True`.
"""

from liedyn._liedyn import elements, formulations, integrators, version as __version__
from liedyn.builder import Builder, load
from liedyn.compiled import parameters
from liedyn.convergence import Convergence, converge
from liedyn.derivatives import Sensitivity
from liedyn.environment import Environment, VectorEnvironment
from liedyn.errors import Diagnostic, InputError, NumericalError, NumericalWarning
from liedyn.expressions import Expression
from liedyn.gradients import Gradient, gradient
from liedyn.laws import called, register_function
from liedyn.linear import Equilibrium, Modes, StateSpace, assemble, linearize, modes, static
from liedyn.linear_analysis import LinearAnalysis, analyze_integrator
from liedyn.model import Model
from liedyn.optimum import Optimum, optimize
from liedyn.result import Result, load_result
from liedyn.robot import Reached, Robot
from liedyn.shapes import box, capsule, cone, cylinder, ellipsoid, extrusion, mesh, rod, sphere, tube
from liedyn.simulation import kinematics, run, sensitivity
from liedyn.source import models
from liedyn.stepping import Simulation
from liedyn.studies import ResponseSurface, Study, StudyTable, load_study
from liedyn.sweeps import Sweep, sweep
from liedyn.view import LiveView, StudyView, View

# With `as`, type checkers know that these are given on. They are not in __all__, since abs, min and max hide names of Python.
from liedyn.expressions import (  # isort: skip
    abs as abs, acos as acos, asin as asin, atan as atan, atan2 as atan2, cos as cos, cosh as cosh, deg as deg,
    exp as exp, floor as floor, harmonic as harmonic, log as log, max as max, min as min, mod as mod, poly as poly,
    sign as sign, sin as sin, sinh as sinh, sqrt as sqrt, step as step, t as t, tan as tan, tanh as tanh,
    where as where,
)

__all__ = [
    "Builder",
    "Convergence",
    "Diagnostic",
    "Environment",
    "Equilibrium",
    "Expression",
    "Gradient",
    "InputError",
    "LinearAnalysis",
    "LiveView",
    "Model",
    "Modes",
    "NumericalError",
    "NumericalWarning",
    "Optimum",
    "Reached",
    "ResponseSurface",
    "Result",
    "Robot",
    "Sensitivity",
    "Simulation",
    "StateSpace",
    "Study",
    "StudyTable",
    "StudyView",
    "Sweep",
    "VectorEnvironment",
    "View",
    "analyze_integrator",
    "assemble",
    "box",
    "called",
    "capsule",
    "cone",
    "converge",
    "cylinder",
    "elements",
    "ellipsoid",
    "extrusion",
    "formulations",
    "gradient",
    "integrators",
    "kinematics",
    "linearize",
    "load",
    "load_result",
    "load_study",
    "mesh",
    "models",
    "modes",
    "optimize",
    "parameters",
    "register_function",
    "rod",
    "run",
    "sensitivity",
    "sphere",
    "static",
    "sweep",
    "tube",
]

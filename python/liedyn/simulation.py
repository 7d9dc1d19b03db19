"""Analyses over time: runs, driven motion, derivatives."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from liedyn import _liedyn, arguments
from liedyn.arguments import COUNT, FILE, FLAG, FOLDER, INITIAL, INTEGRATOR, POSITIVE_SECONDS, SECONDS, STRING, names
from liedyn.compiled import Compiled, Configuration, compiled, locating
from liedyn.derivatives import Sensitivity
from liedyn.errors import Diagnostic, InputError, NumericalError, warn
from liedyn.result import Result, load_result
from liedyn.source import ModelSource
from liedyn.view import LiveView, announced, live_server


@locating
def run(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    initial: str | None = None,
    output_every: int | None = None,
    every: int | None = None,
    output_times: float | None = None,
    output_events: bool = False,
    out: str | os.PathLike | None = None,
    states: bool = False,
    record: str | None = None,
    residuals: bool = False,
    sensitivities: Sequence[str] = (),
    solver: str | None = None,
    threads: int | None = None,
    vtk: str | os.PathLike | None = None,
    html: str | os.PathLike | None = None,
    scene: bool = False,
    frames: int | None = None,
    view: bool | Mapping[str, Any] = False,
    strict: bool = False,
) -> Result:
    """Simulates a model. What is not given is as the model's `simulation` says.

    >>> ld.run("chain", set={"links": 100}, end=0.2, step=1e-3, formulation="se3")

    model:      a `Model`, the name of a shipped model, the path of a file, or a dict.
    set:        values of parameters by path, for this run only, and arguments of generated models. Settings in the model's `simulation`
                that are expressions of parameters follow them, except those of a `Model`, which is compiled already.
    formulation: one of `formulations()`. A `Model` is compiled anew for another one than its own.
    integrator: name and options, "generalized-alpha,rho=0.8,sigma=1"; see `integrators()`.
    step, start, end: in seconds. The step is made smaller so that the end is met exactly.
    from_:      begin from this configuration instead of the model's: a .json file that `liedyn static|assemble` wrote, a
                dict of that form, or what `static` and `assemble` returned. The command line calls it --from.
    initial:    "check": initial values that violate a constraint are an error; "project": they are projected.
    output_every: record every n-th step (adaptive integrators: at every n-th multiple of `step`); 0: the start and the end.
                `every` is a shorter name for it.
    output_times: output interval instead, independent of the steps: values between steps are interpolated by the method.
    output_events: also record at events: a row before their changes and one after them.
    out:        an .h5 file that is written during the run; the result then stays there (`load_result`), and memory is bounded.
    states:     the file also holds all coordinates, velocities, accelerations and multipliers.
    record:     "all": the motion of every body and joint, reactions, states, efforts and powers, in addition to the model's sensors.
    residuals:  also record the largest violation of the constraints, as the channels
                "constraint_residual.position" and "constraint_residual.velocity".
    sensitivities: paths of parameters; `result.d(sensor, parameter)` is then the derivative of a sensor over time.
    solver:     of the linear equations: "auto" (by size and structure), "dense", "block" or "klu".
    threads:    for this run; 0, the default: all processors for models of thousands of bodies, otherwise one. The results do not depend on it.
    vtk:        a folder for the deformed shapes at every recorded time, with velocities, elastic displacements and stresses: files
                for ParaView, NAME.pvd is their list.
    html:       a page that shows the motion in 3D: one file that any browser opens.
    scene:      keep the poses of all bodies at the recorded times, so that `result.view()` can show the motion.
    frames:     at most so many of them; 2000 if not given.
    view:       show the run live, in a page with buttons and sliders that act on it; {"pace": 1, "paused": True,
                "sliders": ["spin"]} are the arguments of `Simulation.view`. The page is there as long as the result, `result.page`.
    strict:     raise NumericalError if the numerics fail. Otherwise there is a NumericalWarning, and the result,
                with `completed == False`, is complete up to that time.

    Other threads run meanwhile. Ctrl-C stops the run with KeyboardInterrupt. Many runs at once: `sweep`.
    """
    check_run(
        integrator=integrator, step=step, start=start, end=end, initial=initial, residuals=residuals, solver=solver, threads=threads,
        vtk=vtk, html=html, scene=scene, frames=frames, strict=strict, output_times=output_times, output_events=output_events, out=out,
        states=states,
    )
    file = _checked_file(out, states)
    if html is not None:
        _liedyn.check_page_output(os.fspath(html))
    wanted = names(sensitivities, "sensitivities", of="paths")
    one = compiled(model, set, formulation)
    given = {"integrator": integrator, "step": step, "start": start, "end": end, "initial": initial, "solver": solver, "threads": threads}
    given["output_every"] = one_of(output_every, every)
    if output_times is not None and given["output_every"] is not None:
        raise InputError([Diagnostic("", 0, "output_times", "replaces output_every, got both")])
    poses = _liedyn.Scene(frames or 0) if scene or html is not None else None
    page = run_page(view)
    output = {"out": file, "states": bool(states), "output_times": float(output_times or 0), "output_events": bool(output_events)}
    given["record_residuals"] = bool(residuals)
    result = simulated(one.recording(record), given, from_, vtk=vtk, scene=poses, live=page and page._server, output=output)
    result.page = page
    if html is not None:
        result.view().to_html(html)
    report(one, result, strict)
    if wanted:
        given |= {"solver": None, "threads": None, "record_residuals": None}
        found = _liedyn.sensitivity(one._compiled, one._params, one._options(given, from_), wanted, [], "direct", False)
        result.sensitivity = Sensitivity(found)
    return result


@locating
def kinematics(
    model: ModelSource | Compiled,
    *,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    output_every: int | None = None,
    every: int | None = None,
    record: str | None = None,
    residuals: bool = False,
    strict: bool = False,
) -> Result:
    """Positions, velocities, accelerations and reactions where joints prescribe the whole motion, from the constraints alone at each
    time. Options are those of `run`. Raises InputError with the remaining degrees of freedom, if there are any."""
    check_run(step=step, start=start, end=end, residuals=residuals, strict=strict)
    one = compiled(model, set, formulation)
    given = {"step": step, "start": start, "end": end, "output_every": one_of(output_every, every)}
    result = simulated(one.recording(record), given | {"record_residuals": bool(residuals)}, from_, driven=True)
    report(one, result, strict)
    return result


@locating
def sensitivity(
    model: ModelSource | Compiled,
    parameters: Sequence[str],
    outputs: Sequence[str] = (),
    *,
    method: str = "direct",
    check: bool = False,
    set: Mapping[str, float] | None = None,
    formulation: str | None = None,
    integrator: str | None = None,
    step: float | None = None,
    start: float | None = None,
    end: float | None = None,
    from_: Configuration | None = None,
    initial: str | None = None,
    every: int | None = None,
) -> Sensitivity:
    """Derivatives of outputs with respect to parameters, exact for the discrete solution.

    parameters: paths of numbers, "bodies.rod.mass", "gravity[2]", "spin"; see `parameters`. "bodies.*.mass" are all that match.
    outputs:    "tip[0]" (a sensor at the end), "tip[0]@0.5" (at a time), "tip[0]@integral", "tip[0]@max", "tip[0]@min";
                all sensors at the end that have derivatives if none is given.
    method:     "direct" (for few parameters), "adjoint" (for few outputs), or "difference": extrapolated finite differences of whole
                runs along the same steps.
    check:      compare with finite differences: `agrees`, `disagreement`.

    The other options are those of `run`. Raises NumericalError if the run does not reach its end.
    """
    check_run(integrator=integrator, step=step, start=start, end=end, initial=initial)
    arguments.check(method=(method, STRING), check=(check, FLAG))
    parameters, outputs = names(parameters, "parameters", of="paths"), names(outputs, "outputs")
    one = compiled(model, set, formulation)
    given = {"integrator": integrator, "step": step, "start": start, "end": end, "initial": initial, "output_every": one_of(every, None)}
    options = one._options(given, from_)
    return Sensitivity(_liedyn.sensitivity(one._compiled, one._params, options, parameters, outputs, method, bool(check)))


_KINDS = {
    "integrator": INTEGRATOR,
    "step": POSITIVE_SECONDS,
    "start": SECONDS,
    "end": SECONDS,
    "initial": INITIAL,
    "residuals": FLAG,
    "solver": STRING,
    "threads": COUNT,
    "vtk": FOLDER,
    "html": FILE,
    "scene": FLAG,
    "frames": COUNT,
    "view": FLAG,
    "strict": FLAG,
    "output_times": POSITIVE_SECONDS,
    "output_events": FLAG,
    "out": FILE,
    "states": FLAG,
}


def _checked_file(out: str | os.PathLike | None, states: bool) -> str:
    """The name of the file that a run writes; empty: none."""
    if out is None:
        if states:
            raise InputError([Diagnostic("", 0, "states", "needs a file for the states", 'add out="FILE.h5"')])
        return ""
    name = os.fspath(out)
    if not name.endswith(".h5"):
        message = f"expected a file that ends with .h5, got '{name[:200]}'"
        raise InputError([Diagnostic("", 0, "out", message, "result.save(FILE) writes .csv and .npz when the run has ended")])
    _liedyn.check_output(name)
    return name


def check_run(**given: Any) -> None:
    """Raises InputError with all arguments of a run that are of the wrong kind."""
    arguments.check(**{name: (value, _KINDS[name]) for name, value in given.items()})


def simulated(
    model: Compiled,
    given: Mapping[str, Any],
    from_: Configuration | None,
    *,
    driven: bool = False,
    vtk: str | os.PathLike | None = None,
    scene: _liedyn.Scene | None = None,
    live: _liedyn.LiveView | None = None,
    stopped: Callable[[], bool] | None = None,
    output: Mapping[str, Any] | None = None,
) -> Result:
    """One run, without a word about failures. It ends with KeyboardInterrupt soon after `stopped` says True."""
    options = model._options({"threads": 0} | {name: value for name, value in given.items() if value is not None}, from_)
    folder = os.fspath(vtk) if vtk is not None else ""
    output = output or {}
    recorded, events = _liedyn.simulate(model._compiled, model._params, options, driven, folder, stopped, scene, live, **output)
    result = load_result(output["out"]) if output.get("out") else Result(recorded, events=events)
    result._scene = scene.json if scene is not None else None
    return result


def run_page(view: bool | Mapping[str, Any]) -> LiveView | None:
    """The page of a run, if one is wanted."""
    if isinstance(view, Mapping):
        if wrong := [name for name in view if name not in ("sliders", "pace", "paused")]:
            raise InputError([Diagnostic("", 0, "view", f"expected sliders, pace and paused, got {arguments.shown(wrong[0])}")])
    else:
        check_run(view=view)
    if view is False or view is None:
        return None
    return announced(LiveView(live_server(**view) if isinstance(view, Mapping) else live_server()))


def report(model: Compiled, result: Result, strict: bool) -> None:
    """Warnings of a run; its failure as a warning, or as an error if `strict`."""
    for warning in result.summary["warnings"]:
        warn(warning)
    if result.completed:
        return
    message = f"{model.name}: {result.failure}"
    if strict:
        raise NumericalError(message, result)
    warn(message)


def one_of(output_every: int | None, every: int | None) -> int | None:
    """The one of two names that was given."""
    arguments.check(output_every=(output_every, COUNT), every=(every, COUNT))
    if output_every is not None and every is not None:
        raise InputError([Diagnostic("", 0, "every", "is another name of output_every, got both")])
    return every if output_every is None else output_every

"""The same model in other units and elsewhere: all analyses have to give the same results.

Numbers of a model file are scaled by the units that the engine's own lists give for each key (`liedyn list elements`). Parameters keep their
SI values: every expression is multiplied where it is used, and the time and the sensors in it are converted back to SI units. So the
texts of a model stay as they are.
"""

from __future__ import annotations

import copy
import csv
import re
import signal
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial

import numpy as np

import liedyn as ld
from referee.mechanisms import mechanism, with_sensors


class Units:
    """Kilograms, metres and seconds per unit, and a displacement of the whole model in metres."""

    def __init__(self, mass=1.0, length=1.0, time=1.0, moved=(0.0, 0.0, 0.0)):
        self.mass, self.length, self.time, self.moved = mass, length, time, np.array(moved)

    def of(self, unit: str) -> float:
        """SI units in one of these for a unit text: "N m/rad" is kg m^2/s^2."""
        a, b, c = dimension(unit)
        return self.mass**a * self.length**b * self.time**c


SYSTEMS = {
    "mm-t-s": Units(1e3, 1e-3, 1),
    "um-kg-us": Units(1, 1e-6, 1e-6),
    "km-t-h": Units(1e3, 1e3, 3600),
    "nm-kg-s": Units(1, 1e-9, 1),
    "small": Units(1e12, 1e5, 1),  # a metre and a kilogram have the numbers of 10 um and 1 ng
    "moved": None,  # by 1e6 of its length, see `moved_by`
}

_BASE = {
    "": (0, 0, 0), "1": (0, 0, 0), "rad": (0, 0, 0), "kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (1, 2, -2), "Pa": (1, -1, -2),
    "W": (1, 2, -3), "Hz": (0, 0, -1),
}


def dimension(unit: str) -> tuple[float, ...]:
    """Exponents of (kg, m, s) of a unit text."""
    total = np.zeros(3)
    above, *below = unit.split("/")
    for sign, part in [(1, above)] + [(-1, part) for part in below]:
        for factor in part.split():
            name, _, power = factor.partition("^")
            total += sign * float(power or 1) * np.array(_BASE[name])
    return tuple(total.tolist())


# Keys that hold points of the initial configuration, which move with the model; of other keys (a reference point, the size of a brick) only
# differences matter.
POINTS = {
    "bodies": ("position",), "joints": ("at", "points", "center"), "forces": ("at", "points"), "sensors": ("at",), "beams": ("from", "to", "through"),
    "flexible": ("position", "from", "to", "through", "at"),
}
SIGNALS = {("forces", "effort"), ("states", "rate"), ("states", "input"), ("sensors", "value")}  # expressions of sensors and states


class Converter:
    def __init__(self, model: dict, units: Units):
        self.model, self.units, self.kinds = model, units, ld.elements()
        self.sensors = model.get("sensors", {})

    def convert(self) -> dict:
        out = copy.deepcopy(self.model)
        out.get("bodies", {}).pop("ground", None)  # which has shapes only
        u = self.units
        if "gravity" in out:
            out["gravity"] = self.scaled(out["gravity"], "m/s^2")
        for key in ("start", "end", "step"):
            if key in out.get("simulation", {}):
                out["simulation"][key] = self.scaled(out["simulation"][key], "s")
        for section, points in POINTS.items():
            for name, entry in out.get(section, {}).items():
                self.entry(section, entry, points)
        for name, entry in out.get("states", {}).items():
            self.entry("states", entry, ())
        return out

    def entry(self, section, entry, points):
        fields = self.kinds[section][entry["type"]].fields
        for key, field in fields.items():
            given = entry.get(key)
            if given is None:
                if key in points and key == "position" and np.any(self.units.moved):
                    given = [0] * len(field.defaults)
                else:
                    continue
            if (section, key) in SIGNALS:
                entry[key] = self.signal(section, entry, key)
            elif key in ("stiffness", "stiffness_end") and section in ("beams", "flexible") and not field.unit:
                entry[key] = self.section_stiffness(given)
            elif key == "ratio" and entry["type"] == "gear":
                entry[key] = self.scaled(given, self.gear_unit(entry))
            elif key == "scale":
                entry[key] = self.scaled(given, "m")
            elif field.unit:
                unit = self.unit_in_joint(entry, field.unit)
                if unit.endswith("^n"):  # of a contact, k d^n
                    unit = f"{unit[:-1]}{entry.get('exponent', fields['exponent'].defaults[0])}"
                if key in points and "of" not in entry or key in points and entry["type"] == "interface" or section == "sensors" and key == "at":
                    given = self.moved(given)
                entry[key] = self.scaled(given, unit)

    def unit_in_joint(self, entry, unit):
        """Of "N m/rad or N/m" the one of the coordinate meant."""
        if " or " not in unit:
            return unit
        turning, sliding = unit.split(" or ")
        return turning if self.coordinate(entry) == "angle" else sliding

    def coordinate(self, entry):
        joint = self.model["joints"][entry["joint"]]["type"]
        which = entry.get("coordinate", "auto")
        return which if which != "auto" else ("displacement" if "prismatic" in joint else "angle")

    def gear_unit(self, entry):
        first, second = ("m" if self.coordinate({"joint": joint}) == "displacement" else "rad" for joint in entry["joints"])
        return f"{first}/{second}"

    def scaled(self, value, unit):
        factor = 1 / self.units.of(unit)
        if isinstance(value, list):
            return [self.scaled(item, unit) for item in value]
        if isinstance(value, dict):  # a rotation, without a unit
            assert not any(key in value for key in ("polynomial", "harmonic", "step", "table")), "write functions of time as expressions"
            return value
        if isinstance(value, str):
            if value == "consistent":
                return value
            text = self.in_si_time(value)
            return text if factor == 1 else f"({text})*{factor!r}"
        return value if factor == 1 else value * factor

    def in_si_time(self, text):
        return text if self.units.time == 1 else re.sub(r"\bt\b", f"(t*{self.units.time!r})", text)

    def moved(self, value):
        """Points, in metres, at their new places."""
        if isinstance(value[0], list):
            return [self.moved(item) for item in value]
        return [f"({c}) + {d!r}" if isinstance(c, str) and d else c + d if d else c for c, d in zip(value, self.units.moved.tolist())]

    def section_stiffness(self, value):
        def unit(i, j):
            return ("N", "N m", "N m^2")[(i >= 3) + (j >= 3)]

        if isinstance(value[0], list):
            return [[self.scaled(v, unit(i, j)) for j, v in enumerate(row)] for i, row in enumerate(value)]
        return [self.scaled(v, unit(i, i)) for i, v in enumerate(value)]

    def signal(self, section, entry, key):
        """An expression of sensors and states: they are converted to SI units in it, and its value from SI units."""
        text = self.in_si_time(str(entry[key]))

        def replace(found):
            name, index = found.group(1), found.group(2) or ""
            sensor = self.sensors.get(name)
            if sensor is None or sensor["type"] in ("expression", "state", "multiplier"):
                return found.group(0)
            factor = self.units.of(sensor_unit(sensor))
            shift = self.units.moved[int(index[1:-1])] if index and sensor["type"] in ("position", "material_position") else 0.0
            return f"({name}{index}*{factor!r} - ({float(shift)!r}))"

        text = re.sub(r"\b([A-Za-z_]\w*)(\[\d+\])?(?!\w|\()", replace, text)
        if section == "forces":
            return f"({text})*{1 / self.units.of(self.unit_in_joint(entry, 'N m or N'))!r}"
        if section == "states" and entry["type"] != "filter":
            return f"({text})*{self.units.time!r}"
        return text


SENSOR_UNITS = {
    "position": "m", "material_position": "m", "elastic_displacement": "m", "modal_coordinates": "m", "velocity": "m/s", "acceleration": "m/s^2",
    "orientation": "", "rotation_vector": "rad", "angle": "rad", "angular_velocity": "rad/s", "angular_acceleration": "rad/s^2", "reaction_force": "N",
    "reaction_torque": "N m", "section_force": "N", "section_moment": "N m", "section_strain": "", "section_curvature": "rad/m", "stress": "N/m^2",
    "joint_angle": "rad", "joint_angle_rate": "rad/s", "joint_displacement": "m", "joint_displacement_rate": "m/s", "state": "", "energy": "J",
    "expression": "",
}


def sensor_unit(sensor: dict) -> str:
    return SENSOR_UNITS[sensor["type"]]


# ---- models of repeated parts as plain files


def expanded(name: str, model: dict) -> dict:
    """The chain, the ring and the net, written out independently of what their files say."""
    if name not in ("chain", "ring", "net"):
        return model
    arguments = {key: argument["value"] for key, argument in model["arguments"].items()} if name != "net" else {"rows": 3, "columns": 3}
    out: dict = {"liedyn": 1, "gravity": [0, 0, -9.81], "bodies": {}, "joints": {}, "sensors": {}, "simulation": model["simulation"]}

    def link(name, a, b):
        position = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, 0]
        turn = {"rotation_vector": [0, 0, float(np.arctan2(b[1] - a[1], b[0] - a[0]))]}
        out["bodies"][name] = {"type": "rigid", "mass": 1, "inertia": [0.01, 0.1, 0.1], "position": position, "orientation": turn}

    def hold(name, first, second, at):
        out["joints"][name] = {"type": "spherical", "between": [first, second], "at": [at[0], at[1], 0]}

    if name == "chain":
        links = arguments["links"]
        for i in range(1, links + 1):
            link(f"link{i}", (i - 1.0, 0.0), (float(i), 0.0))
            hold(f"j{i}", f"link{i - 1}" if i > 1 else "ground", f"link{i}", (i - 1.0, 0.0))
        last = f"link{links}"
    elif name == "ring":
        links = arguments["links"]
        radius = 0.5 / np.sin(np.pi / links)
        knots = [(radius * (1 - np.cos(phi)), radius * np.sin(phi)) for phi in 2 * np.pi / links * (np.arange(links + 1) % links)]
        for i in range(1, links + 1):
            link(f"link{i}", knots[i - 1], knots[i])
        hold("hold", "ground", "link1", knots[0])
        for i in range(1, links + 1):
            hold(f"j{i}", f"link{i}", f"link{i % links + 1}", knots[i])
        last = f"link{(links + 1) // 2}"
    else:
        rows, columns = arguments["rows"], arguments["columns"]

        def knot(c, k):
            return 0.8 * k, 0.6 * c + (0.3 if (c + k) % 2 == 0 else -0.3)

        for c in range(1, columns + 1):
            for k in range(1, rows + 1):
                link(f"link{c}_{k}", knot(c, k - 1), knot(c, k))
                hold(f"j{c}_{k}", "ground" if k == 1 else f"link{c}_{k - 1}", f"link{c}_{k}", knot(c, k - 1))
        for c in range(1, columns):
            for k in range(1, rows + 1):
                if (c + k) % 2 == 0:
                    hold(f"knot{c}_{k}", f"link{c}_{k}", f"link{c + 1}_{k}", knot(c, k))
        last = f"link{columns}_{rows}"
    out["sensors"] = {"last": {"type": "position", "of": last}, "velocity": {"type": "velocity", "of": last}, "energy": {"type": "energy"}}
    return out


# ---- two mechanisms in one file


def scaled_copy(model: dict, length: float, mass: float) -> dict:
    """A mechanism that is smaller and lighter by these factors and moves alike, in SI units, its weight given by forces."""
    model = copy.deepcopy(model)
    gravity = model.pop("gravity", [0, 0, 0])
    parameters = model.get("parameters", {})
    for name, body in model["bodies"].items():
        m = parameters[body["mass"]] if isinstance(body["mass"], str) else body["mass"]
        model.setdefault("forces", {})[f"weight_{name}"] = {"type": "force", "on": name, "force": [m * g for g in gravity]}
    return Converter(model, Units(1 / mass, 1 / length, 1)).convert()


def joined(first: dict, second: dict) -> dict:
    """Both models in one file: names of the second begin with "other_"."""
    out = copy.deepcopy(first)
    text_of = {name: f"other_{name}" for section in ("parameters", "bodies", "joints", "forces", "states", "sensors") for name in second.get(section, {})}

    def renamed(value, key=""):
        if isinstance(value, dict):
            return {k: renamed(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [renamed(v, key) for v in value]
        if isinstance(value, str) and key not in ("type", "coordinate", "axes", "part", "fixed"):
            return re.sub(r"\b[A-Za-z_]\w*", lambda m: text_of.get(m.group(0), m.group(0)), value)
        return value

    for section in ("parameters", "bodies", "joints", "forces", "states", "sensors"):
        for name, value in second.get(section, {}).items():
            out.setdefault(section, {})[f"other_{name}"] = renamed(value)
    return out


# ---- analyses


class Outcome:
    """Numbers of an analysis in SI units: name -> (values, unit); or why there are none."""

    def __init__(self):
        self.values: dict[str, tuple[np.ndarray, str]] = {}
        self.failure = ""
        self.lost_digits = False  # the analysis warned that positions have lost digits


def back(name, values, sensor, units: Units) -> np.ndarray:
    values = np.asarray(values) * units.of(sensor_unit(sensor))
    if sensor["type"] in ("position", "material_position"):
        values = values - units.moved
    return values


def compared_sensors(model):
    """Without multipliers, whose units depend on the row, and without energies whose zero moves with the model."""
    return {n: s for n, s in model.get("sensors", {}).items() if s["type"] != "multiplier" and not (s["type"] == "energy" and s.get("part") != "kinetic")}


@contextmanager
def time_limit(seconds: int = 60):
    """Ends an analysis that does not: the engine looks for signals while it runs."""

    def late(*_):
        raise RuntimeError(f"no result within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def analyse(model: dict, analysis: str, units: Units, steps: int) -> Outcome:
    """One analysis of a model (in SI units) carried out in other units."""
    out = Outcome()
    sensors = compared_sensors(model)
    with warnings.catch_warnings(record=True) as caught, time_limit():
        warnings.simplefilter("always")
        try:
            compiled = ld.Model(Converter(model, units).convert())
            step = compiled.settings["step"]
            end = compiled.settings["start"] + steps * step
            if analysis == "static":
                found = ld.static(compiled)
                for name, sensor in sensors.items():
                    out.values[name] = back(name, found[name], sensor, units), sensor_unit(sensor)
            elif analysis == "modes":  # about an equilibrium: elsewhere eigenvalues depend on the coordinates
                found = ld.modes(compiled, at="static")
                out.values["eigenvalues"] = found.eigenvalues / units.time, "eigenvalues"
            elif analysis == "linearize":
                found = ld.linearize(compiled, at="static")
                out.values["poles"] = found.poles / units.time, "eigenvalues"
            elif analysis == "sensitivity":
                parameters = derivative_parameters(model)
                if not parameters:
                    return out
                found = compiled.sensitivity([p for p, _ in parameters], integrator="generalized-alpha,newton_tol=1e-12", step=step, end=end, every=0)
                for j, (path, unit) in enumerate(parameters):
                    for i, output in enumerate(found.outputs):
                        sensor = sensors.get(output.split("[")[0])
                        if sensor is not None and sensor["type"] != "orientation":
                            change = found.jacobian[i, j] * units.of(sensor_unit(sensor)) / units.of(unit)
                            out.values[f"d {output}/d {path}"] = change * abs(_value(model, path)), sensor_unit(sensor)
            else:
                found = compiled.run(integrator=analysis, step=step, end=end, output_every=0, strict=True)
                for name, sensor in sensors.items():
                    out.values[name] = back(name, found[name][-1], sensor, units), sensor_unit(sensor)
        except (ld.InputError, ld.NumericalError, RuntimeError) as error:
            out.failure = str(error).splitlines()[0][:200]
    out.lost_digits = any("lost digits" in str(w.message) for w in caught)
    return out


def derivative_parameters(model):
    """Two numbers to differentiate by, with their units."""
    found = []
    for name, body in model.get("bodies", {}).items():
        if isinstance(body.get("mass"), (int, float)):
            found.append((f"bodies.{name}.mass", "kg"))
    for k, g in enumerate(model.get("gravity", [])):
        if isinstance(g, (int, float)) and g:
            found.append((f"gravity[{k}]", "m/s^2"))
    return found[:1] + found[-1:] if len(found) > 1 else found


def _value(model, path):
    from referee.compare import value_at

    return value_at(model, path)


def scales_of(model: dict, reference: Outcome, steps: int) -> dict[str, float]:
    """What is 1 of each unit: the largest value of that unit, not less than 1e-3 of what masses, lengths and the time suggest."""
    mass = sum(abs(number_of(model, body.get("mass", 0))) for body in model.get("bodies", {}).values()) or 1.0
    length = extent(model)
    step = number_of(model, model["simulation"]["step"])
    natural = Units(mass, length, steps * step)
    sizes: dict[str, float] = {}
    for values, unit in reference.values.values():
        if np.size(values):
            sizes[unit] = max(sizes.get(unit, 0.0), float(np.max(np.abs(values))))
    return {unit: max(size, 1e-3 * natural.of("1/s" if unit == "eigenvalues" else unit)) for unit, size in sizes.items()}


def number_of(model, value):
    if isinstance(value, str):
        from referee.expressions import evaluate

        names: dict = {}
        for name, given in model.get("parameters", {}).items():
            names[name] = evaluate(given, names) if isinstance(given, str) else given
        return float(evaluate(value, names))
    return float(value)


def extent(model) -> float:
    """How large a model is: between its furthest points."""
    points = []
    for section, keys in POINTS.items():
        for entry in model.get(section, {}).values():
            for key in keys:
                given = entry.get(key)
                if given is None:
                    continue
                for point in given if isinstance(given[0], list) else [given]:
                    points.append([number_of(model, c) for c in point] + [0.0] * (3 - len(point)))
    if not points:
        return 1.0
    size = float(np.max(np.ptp(np.array(points), axis=0)))
    return size or max(float(np.max(np.abs(points))), 1.0)


def moved_by(model) -> np.ndarray:
    return 1e6 * extent(model) * np.array([0.6, -0.8, 0.0])


def rounding_of(model: dict, distance: float, analysis: str, steps: int) -> Units:
    """Units in which the rounding of positions at a distance is `moved[0]`.

    Implicit methods find velocities from positions over a step, accelerations and forces over its square; stages of some are a twentieth of
    a step. Others differentiate nothing."""
    implicit = analysis not in ("static", "modes", "linearize") and analysis.split(",")[0] not in EXPLICIT
    kept = 2000 if implicit else 50
    time = number_of(model, model["simulation"]["step"]) * (1 if implicit else steps)
    mass = sum(abs(number_of(model, body.get("mass", 0))) for body in model.get("bodies", {}).values()) or 1.0
    return Units(mass, extent(model), time, moved=(kept * np.finfo(float).eps * distance / extent(model), 0, 0))


def difference(reference: Outcome, found: Outcome, scales, rounding: Units | None = None) -> tuple[float, str]:
    """The largest disagreement relative to the scale of its unit, and where; NaN if only one of both has an answer."""
    if reference.failure and found.failure:
        return 0.0, "both fail"
    if reference.failure or found.failure:
        return float("nan"), reference.failure or found.failure
    worst, where = 0.0, ""
    for name, (values, unit) in reference.values.items():
        other = found.values[name][0]
        if unit == "eigenvalues":
            if len(other) != len(values):
                return float("nan"), f"{len(other)} eigenvalues instead of {len(values)}"
            # Each relative to itself; a zero that is defective is one up to the root of round-off of the largest.
            zero = 1e-5 * scales[unit]
            pairs = zip(values, nearest(other, values))
            size = max((abs(b - a) / abs(a) if abs(a) > zero else max(0.0, abs(b - a) - zero) / zero for a, b in pairs), default=0.0)
        elif rounding is not None and not unit:
            continue  # expressions: their rounding is that of what they are made of
        else:
            allowed = rounding.moved[0] * rounding.of(unit) if rounding is not None else 0.0
            size = max(0.0, float(np.max(np.abs(np.asarray(other) - values))) - allowed) / scales[unit] if np.size(values) else 0.0
        if not size <= worst:
            worst, where = float(size), name
    return worst, where


def bound(analysis: str, system: str) -> float:
    """What is asked of an analysis: Newton's method stops at 1e-8 of the forces; adaptive runs ask for 1e-5."""
    value = 1e-6
    if "adaptive" in analysis:
        value = 1e-3
    elif analysis.split(",")[0] in EXPLICIT:
        value = 1e-8
    elif analysis not in ("static", "modes", "linearize", "sensitivity"):
        value = 1e-5
    return max(value, 1e-5) if system == "moved" else value


ADAPTIVE = "adaptive=true,rtol=1e-5,atol=1e-13"  # an absolute tolerance has a unit: far below rtol times the lengths in all of them
EXPLICIT = ("rk44", "ode23", "dopri5", "rk67")
LINEAR = ("static", "modes", "linearize", "sensitivity")


def all_analyses() -> list[str]:
    runs = []
    for name, method in ld.integrators().items():
        runs.append(name)
        if "adaptive" in method.options:
            runs.append(f"{name},{ADAPTIVE}")
    return [*LINEAR, *runs]


def shipped() -> dict[str, dict]:
    found = {}
    for name in ld.models():
        found[name] = expanded(name, ld.load(name))
    return found


def random_model(seed, held=False) -> dict:
    """Of the referee's; `held`: with an equilibrium."""
    model = with_sensors(mechanism(seed, held))
    model["simulation"] |= {"step": 2e-3, "integrator": "generalized-alpha"}
    return model


def rows(name: str, model: dict, analyses: list[str], systems=SYSTEMS, steps: int = 20):
    """(model, units, analysis, disagreement, bound, where) of one model, or of the models that a function gives for `held`."""
    given = model
    for analysis in analyses:
        model = given(analysis in ("static", "modes", "linearize")) if callable(given) else given
        reference = analyse(model, analysis, Units(), steps)
        scales = scales_of(model, reference, steps)
        for system in systems:
            units = SYSTEMS[system] or Units(moved=moved_by(model))
            rounding = rounding_of(model, float(np.linalg.norm(units.moved)), analysis, steps) if np.any(units.moved) else None
            found = analyse(model, analysis, units, steps)
            size, where = difference(reference, found, scales, rounding)
            if found.lost_digits and not size <= bound(analysis, system):
                where = f"{where} (lost digits)"
            yield name, system, analysis, size, bound(analysis, system), where


def pair_rows(seed: int, analyses: list[str], length=1e-3, mass=1e-6, steps: int = 20):
    """A mechanism and one that is smaller by `length`, alone and together in a file."""
    for analysis in analyses:
        if analysis == "sensitivity":
            continue
        first, second = (without_energies(random_model(s, held=analysis in LINEAR)) for s in (seed, seed + 1))
        second["simulation"] = first["simulation"]  # the same formulation, so that both make the same errors
        large, small = scaled_copy(first, 1, 1), scaled_copy(second, length, mass)
        both = joined(large, small)
        together = analyse(both, analysis, Units(), steps)
        for which, alone, prefix in (("large", large, ""), ("small", small, "other_")):
            reference = analyse(alone, analysis, Units(), steps)
            part = Outcome()
            part.failure = together.failure
            if reference.failure and together.failure:
                continue
            if analysis in ("modes", "linearize") and not together.failure and not reference.failure:
                name = next(iter(reference.values))
                part.values[name] = nearest(together.values[name][0], reference.values[name][0]), "eigenvalues"
            else:
                part.values = {name: together.values[prefix + name] for name in reference.values if prefix + name in together.values}
            size, where = difference(reference, part, scales_of(alone, reference, steps))
            yield f"pair_{seed}", f"{which} of two", analysis, size, bound(analysis, ""), where


def without_energies(model: dict) -> dict:
    """Energies are those of all that is in a file."""
    return model | {"sensors": {name: sensor for name, sensor in model["sensors"].items() if sensor["type"] != "energy"}}


def nearest(values, wanted):
    """Of the eigenvalues of both mechanisms those of one."""
    left, found = list(values), []
    for value in wanted:
        found.append(left.pop(int(np.argmin([abs(v - value) for v in left]))) if left else np.nan)
    return np.array(found)


def _job(job):
    kind, name, argument = job
    analyses = all_analyses()
    if kind == "pair":
        return list(pair_rows(argument, analyses))
    return list(rows(name, argument if kind == "model" else partial(random_model, argument), analyses))


def main(pattern: str, count: int, out: str, jobs: int) -> int:
    """Prints the table of invariance and writes all of its cells as CSV."""
    work = [("model", name, model) for name, model in shipped().items()]
    work += [("mechanism", f"mechanism_{seed}", seed) for seed in range(count)]
    work += [("pair", f"pair_{seed}", seed) for seed in range(0, count, 10)]
    work = [job for job in work if re.search(pattern, job[1])]
    cells = []
    with ProcessPoolExecutor(jobs) as pool, open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "units", "analysis", "disagreement", "bound", "where"])
        # As they finish: what was found stays if the rest is stopped.
        for i, done in enumerate(as_completed([pool.submit(_job, job) for job in work])):
            cells += done.result()
            writer.writerows((*cell[:3], f"{cell[3]:.3e}", cell[4], cell[5]) for cell in done.result())
            file.flush()
            print(f"\r{i + 1}/{len(work)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(summary(cells))
    bad = [cell for cell in cells if not cell[3] <= cell[4]]
    said = sum("(lost digits)" in cell[5] or np.isnan(cell[3]) and "eigenvalues instead of" not in cell[5] for cell in bad)
    print(f"{len(cells)} cells, {len(bad)} beyond their bound, {said} of them with an error or a warning that names it; all of them: {out}")
    return 1 if bad else 0


def summary(cells) -> str:
    """Models by units: how many analyses disagree of how many, with the worst of them."""
    systems = list(dict.fromkeys(cell[1] for cell in cells))
    lines = [f"{'model':26}" + "".join(f"{s:>16}" for s in systems)]
    for model in dict.fromkeys(cell[0] for cell in cells):
        line = f"{model:26}"
        for system in systems:
            mine = [c for c in cells if c[0] == model and c[1] == system]
            bad = [c for c in mine if not c[3] <= c[4]]
            line += f"{f'{len(bad)}/{len(mine)} bad' if bad else ('same' if mine else ''):>16}"
        lines.append(line)
    lines.append("")
    lines.append(f"{'analysis':32}" + "".join(f"{s:>16}" for s in systems))
    for analysis in dict.fromkeys(cell[2] for cell in cells):
        line = f"{analysis.replace(',' + ADAPTIVE, ' adaptive'):32}"
        for system in systems:
            mine = [c for c in cells if c[2] == analysis and c[1] == system]
            bad = sum(not c[3] <= c[4] for c in mine)
            line += f"{f'{bad}/{len(mine)} bad' if bad else ('same' if mine else ''):>16}"
        lines.append(line)
    return "\n".join(lines)

"""The models of examples/gears_and_ropes against the closed forms of machine elements."""

import json
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld
from liedyn.errors import NumericalWarning

MODELS = Path(__file__).parents[2] / "examples" / "gears_and_ropes"
ALPHA = np.radians(20)
GRAVITY = 9.81


def parameters(name: str) -> dict:
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))["parameters"]


def run(name: str, **options) -> ld.Result:
    return ld.run(MODELS / f"{name}.json", **options)


def compare(what: str, found, expected, tolerance: float) -> None:
    """`tolerance` bounds the largest difference, relative to the largest expected value."""
    difference = float(np.max(np.abs(np.asarray(found) - np.asarray(expected)))) / float(np.max(np.abs(expected)))
    print(f"{what}: largest relative difference {difference:.1e}, allowed {tolerance:.0e}")
    assert difference < tolerance, what


@pytest.mark.parametrize("formulation", ["r3so3", "se3", "minimal"])
def test_helical_pair(formulation):
    p, beta = parameters("helical_pair"), np.radians(15)
    tangential = p["torque"] / p["r1"]
    force = np.array([tangential * np.tan(ALPHA) / np.cos(beta), tangential, -tangential * np.tan(beta)])
    result = run("helical_pair", formulation=formulation)
    compare("force on the wheel", result["teeth"], np.tile(force, (len(result.time), 1)), 1e-10)
    compare("bearing of the pinion", result["load1"], np.tile(force, (len(result.time), 1)), 1e-10)
    compare("bearing of the wheel", result["load2"], np.tile(-force, (len(result.time), 1)), 1e-10)
    # The axial force on the pinion, at its rim, tilts it.
    tilt = np.cross([p["r1"], 0, 0], force) - [0, 0, p["torque"]]
    compare("tilting torque on the shaft", result["tilt1"][-1], tilt, 1e-10)


def test_bevel_pair():
    p = parameters("bevel_pair")
    tangential, cone = p["torque"] / p["r1"], np.arctan2(p["r1"], p["r2"])
    force = tangential * np.array([np.tan(ALPHA) * np.cos(cone), 1, -np.tan(ALPHA) * np.sin(cone)])
    result = run("bevel_pair")
    compare("bearing of the pinion", result["load1"][-1], force, 1e-10)
    compare("bearing of the wheel", result["load2"][-1], -force, 1e-10)


def test_worm_drive():
    p, lead = parameters("worm_drive"), np.radians(6)
    ratio = -p["r1"] * np.tan(lead) / p["r2"]  # wheel over worm
    acceleration = p["torque"] / (p["J1"] + p["J2"] * ratio**2)
    result = run("worm_drive")
    t = result.time
    compare("angle of the worm", result["worm_angle"], acceleration * t**2 / 2, 1e-9)
    compare("angle of the wheel", result["wheel_angle"], ratio * acceleration * t**2 / 2, 1e-9)
    assert result["worm_angle"][-1] > 20 * np.pi
    # The wheel needs J2 w' = -r2 F_a from the axial force F_a of the worm, along -x.
    axial = p["J2"] * abs(ratio) * acceleration / p["r2"]
    force = axial * np.array([-1, np.tan(ALPHA) / np.cos(lead), np.tan(lead)])
    compare("bearing of the worm", result["load1"][-1], force, 1e-8)
    compare("bearing of the wheel", result["load2"][-1], -force, 1e-8)


def test_rack_and_pinion():
    p = parameters("rack_and_pinion")
    acceleration = (p["torque"] / p["r"] - p["m"] * GRAVITY) / (p["m"] + p["J"] / p["r"] ** 2)
    result = run("rack_and_pinion")
    height = acceleration * result.time**2 / 2
    compare("height of the rack", result["height"], height, 1e-9)
    compare("angle of the pinion", result["angle"], height / p["r"], 1e-9)
    # The teeth push the rack up and away from the pinion, at a point that stays behind.
    up = p["m"] * (acceleration + GRAVITY)
    teeth = np.array([up * np.tan(ALPHA), 0, up])
    compare("force of the guide", result["guide_force"][-1], [-teeth[0], 0, 0], 1e-7)
    # The guide is at the centre of mass of the rack.
    arm = np.array([0, 0, 0.2 - height[-1]])
    compare("torque of the guide", result["guide_torque"][-1], -np.cross(arm, teeth), 1e-7)


def test_planetary_gear():
    p = parameters("planetary_gear")
    rs, rp = p["rs"], p["rp"]
    rr, a = rs + 2 * rp, rs + rp
    willis = 1 + rr / rs
    # Three planets share the torque: two constraints are redundant.
    with pytest.warns(NumericalWarning, match="2 redundant constraints"):
        result = run("planetary_gear")
    sun, carrier, planet = (result[f"{name}_speed"][:, 2] for name in ("sun", "carrier", "planet"))
    compare("sun over carrier (Willis)", sun, willis * carrier, 1e-8)
    compare("planet over carrier", planet, (1 - rr / rp) * carrier, 1e-8)
    # J w' = T - d w/i^2 for the sun, with the inertia of all that turns with it.
    inertia = 2.5e-4 + (3e-3 + 3 * p["m_planet"] * a**2) / willis**2 + 3 * 1.2e-4 * ((1 - rr / rp) / willis) ** 2
    damping = p["load"] / willis**2
    expected = p["torque"] / damping * (1 - np.exp(-damping * result.time / inertia))
    compare("speed of the sun", sun, expected, 1e-5)
    # In the end nothing accelerates: the torque is split in equal parts, and the housing takes T (i - 1).
    force = p["torque"] / (3 * rs)
    for i in (1, 2, 3):
        compare(f"teeth of planet {i}", result[f"teeth{i}"][-1] * np.cos(ALPHA), force, 1e-3)
    compare("torque on the housing", result["housing_torque"][-1, 2], p["torque"] * rr / rs, 1e-3)
    # The pin carries 2 F_t and the centrifugal force; the radial forces of both meshes cancel.
    centrifugal = p["m_planet"] * a * carrier[-1] ** 2
    compare("load of a pin", np.linalg.norm(result["pin_load"][-1]), np.hypot(2 * force, centrifugal), 1e-3)
    # Three equal planets leave nothing for the bearing of the sun.
    assert np.max(np.abs(result["sun_load"])) < 1e-6 * force


def test_belt_drive():
    p = parameters("belt_drive")
    r1, r2, distance = p["r1"], p["r2"], p["distance"]
    sine = (r1 - r2) / distance
    cosine = np.sqrt(1 - sine**2)
    k = p["EA"] / np.sqrt(distance**2 - (r1 - r2) ** 2)
    result = run("belt_drive")
    compare("load of the pretension", result["load1"][0], [-2 * p["pretension"] * cosine, 0, 0], 1e-3)
    # Tensions from the angles: the first strand is on the side of +y, which the motor tightens.
    stretch = r1 * result["angle1"] - r2 * result["angle2"]
    rate = r1 * result["speed1"] - r2 * result["speed2"]
    elastic = [np.maximum(0, p["pretension"] + s * k * stretch) for s in (1, -1)]
    tension = [e + np.clip(s * p["damping"] * rate, -e, e) for e, s in zip(elastic, (1, -1))]
    assert np.min(tension[1]) == 0
    compare("torque on the flywheel", result["drive"][:, 2], r2 * (tension[0] - tension[1]), 1e-9)
    pull = np.column_stack([-(tension[0] + tension[1]) * cosine, (tension[0] - tension[1]) * sine])
    compare("force on the flywheel", result["pull"][:, :2], pull, 1e-9)
    compare("load of the flywheel's bearing", result["load2"][:, :2], -pull, 1e-9)
    # First torsional mode.
    modes = ld.modes(MODELS / "belt_drive.json", set={"damping": 0, "torque": 0})
    omega = np.sqrt(2 * k * (r1**2 / p["J1"] + r2**2 / p["J2"]))
    compare("frequency", np.max(modes.frequencies), omega / (2 * np.pi), 1e-9)


@pytest.mark.parametrize("strands", [1, 2, 4])
def test_hoist(strands):
    p = parameters("hoist")
    tension = (1 + strands) * GRAVITY / (1 / p["counterweight"] + strands**2 / p["load"])
    result = run("hoist", set={"strands": strands}, end=0.3)
    up = tension / p["counterweight"] - GRAVITY
    compare("height of the counterweight", result["weight"][:, 2], 2 + up * result.time**2 / 2, 1e-9)
    compare("height of the load", result["load"][:, 2], 0.5 - up / strands * result.time**2 / 2, 1e-9)
    compare("tension", result["tension"], np.full(len(result.time), tension), 1e-6)
    compare("force on the load", result["pull"][-1], [0, 0, strands * tension], 1e-6)

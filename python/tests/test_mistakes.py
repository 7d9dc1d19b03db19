"""A hundred mistakes that users make, each with what the program says about it.

Every mistake is one change to a good model, a command, or a call from Python. The message must name the user's own word,
say where it stands and what was expected, and give a hint where there is a likely cause. Nothing that is surely wrong may
pass without a word. `pytest -s` prints all messages.
"""

import copy
import json
import subprocess
from pathlib import Path

import pytest

import liedyn as ld

EXAMPLES = Path(__file__).parents[2] / "examples"


def shipped(path: str, end: float) -> dict:
    model = json.loads((EXAMPLES / path).read_text(encoding="utf-8"))
    model["simulation"]["end"] = end
    return model


ARM = {
    "liedyn": 1,
    "parameters": {"length": 1, "g": 9.81},
    "gravity": [0, 0, "-g"],
    "bodies": {"arm": {"type": "rigid", "mass": 2, "inertia": [0.01, 0.2, 0.2], "position": ["length/2", 0, 0]}},
    "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
    "forces": {"motor": {"type": "joint_actuator", "joint": "hinge", "proportional": 10, "derivative": 1, "target": "0.1*sin(t)"}},
    "sensors": {"angle": {"type": "joint_angle", "of": "hinge"}, "tip": {"type": "position", "of": "arm", "at": ["length", 0, 0]}},
    "simulation": {"end": 0.01, "step": 1e-3},
}
BALL = json.loads((EXAMPLES.parent / "models" / "bouncing_ball" / "model.json").read_text(encoding="utf-8"))
BALL["simulation"]["end"] = 0.01
CLEARANCE = json.loads((EXAMPLES.parent / "models" / "clearance_slider_crank" / "model.json").read_text(encoding="utf-8"))
CLEARANCE["simulation"]["end"] = 1e-4
TYRE = shipped("machines/tyre_cornering.json", 0.01)
GEARS = shipped("gears_and_ropes/helical_pair.json", 0.01)
BELT = shipped("gears_and_ropes/belt_drive.json", 0.01)
HOIST = shipped("gears_and_ropes/hoist.json", 0.01)
MOTOR = shipped("machines/dc_motor.json", 0.01)
CLUTCH = shipped("machines/clutch.json", 0.01)
CYLINDER = shipped("machines/hydraulic_cylinder.json", 0.01)
TRAJECTORY = shipped("machines/trajectory.json", 0.01)
PLANAR = {
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "bodies": {"slab": {"type": "planar", "mass": 1, "inertia": 1}},
    "sensors": {"place": {"type": "position", "of": "slab"}},
    "simulation": {"end": 0.01, "step": 1e-3},
}
LEFT_OUT = object()


def changed(model: dict, changes: dict) -> dict:
    out = copy.deepcopy(model)
    for path, value in changes.items():
        *keys, last = path.split("/")
        at = out
        for key in keys:
            at = at.setdefault(key, {})
        if value is LEFT_OUT:
            del at[last]
        else:
            at[last] = value
    return out


ROAD = {"tables": {"road": {"file": "road.csv"}}, "forces/motor/target": "road(t)"}
# Title, model, what is changed, what the message must contain; then perhaps the file road.csv.
ERRORS = [
    # names
    ("misspelt key", ARM, {"bodies/arm/mass": LEFT_OUT, "bodies/arm/mas": 2}, ["bodies.arm.mas:", "did you mean 'mass'"]),
    ("misspelt section", ARM, {"sensor": {"a": {"type": "energy"}}}, ["sensor: unknown key", "did you mean 'sensors'"]),
    ("misspelt type", ARM, {"joints/hinge/type": "revolut"}, ["joints.hinge.type:", "got 'revolut'", "did you mean 'revolute'"]),
    ("type of another program", ARM, {"joints/hinge/type": "hinge"}, ["got 'hinge'", "did you mean 'revolute'"]),
    ("key of another program", ARM, {"sensors/tip": {"type": "position", "body": "arm"}}, ["sensors.tip.body: unknown key 'body'", "it has of, at"]),
    ("misspelt body", ARM, {"joints/hinge/between": ["ground", "amr"]}, ["joints.hinge.between: there is no body 'amr'", "did you mean 'arm'"]),
    ("world instead of ground", ARM, {"joints/hinge/between": ["world", "arm"]}, ["no body 'world'", "called 'ground'"]),
    ("joint where a body is meant", ARM, {"sensors/tip/of": "hinge"}, ["there is no body 'hinge'", "'hinge' is one of the joints"]),
    ("body where a joint is meant", ARM, {"forces/motor/joint": "arm"}, ["there is no joint 'arm'", "'arm' is one of the bodies"]),
    ("misspelt parameter", ARM, {"bodies/arm/position": ["lenght/2", 0, 0]}, ["'lenght/2'", "unknown name 'lenght'", "did you mean 'length'"]),
    ("key in capitals", ARM, {"bodies/arm/mass": LEFT_OUT, "bodies/arm/Mass": 2}, ["unknown key 'Mass'", "did you mean 'mass'"]),
    ("name with a space", ARM, {"bodies/upper arm": {"type": "point", "mass": 1}}, ["bodies.upper arm:", "letters, digits, underscores"]),
    # types
    ("unit behind a number", ARM, {"bodies/arm/mass": "2 kg"}, ["bodies.arm.mass:", "found 'kg'", "SI units"]),
    ("list for a number", ARM, {"bodies/arm/mass": [2]}, ["bodies.arm.mass: expected a number", "got an array of 1"]),
    ("number for an inertia", ARM, {"bodies/arm/inertia": 0.2}, ["bodies.arm.inertia: expected 3 principal moments", "got 0.2"]),
    ("two components", ARM, {"joints/hinge/at": [0, 0]}, ["joints.hinge.at: expected 3 numbers", "array of 2"]),
    ("object for a vector", ARM, {"bodies/arm/position": {"x": 0.5}}, ["bodies.arm.position: expected 3 numbers", "got an object"]),
    ("joints as a list", ARM, {"joints": [{"type": "revolute"}]}, ["joints: expected an object", "name as key"]),
    ("quaternion as a list", ARM, {"bodies/arm/orientation": [1, 0, 0, 0]}, ["bodies.arm.orientation:", '{"quaternion": [4]}', "array of 4"]),
    ("axis as a letter", ARM, {"joints/hinge/axis": "y"}, ["joints.hinge.axis: expected 3 numbers", "got 'y'"]),
    ("true for a number", ARM, {"forces/motor/limit": True}, ["forces.motor.limit: expected a number", "got true"]),
    ("null", ARM, {"bodies/arm/position": None}, ["bodies.arm.position:", "got null"]),
    # signs and sizes
    ("negative mass", ARM, {"bodies/arm/mass": -2}, ["bodies.arm.mass: expected a non-negative number, got -2"]),
    ("free body without mass", ARM, {"bodies/pin": {"type": "point", "mass": 0, "position": [2, 0, 0]}}, ["bodies.pin:", "no mass", "give the body a mass"]),
    ("inertia that no body has", ARM, {"bodies/arm/inertia": [0.01, 0.2, 0.5]}, ["bodies.arm:", "0.01, 0.2, 0.5", "check units"]),
    ("zero axis", ARM, {"joints/hinge/axis": [0, 0, 0]}, ["joints.hinge.axis: expected a direction", "must not be zero"]),
    ("negative limit of a motor", ARM, {"forces/motor/limit": -5}, ["forces.motor.limit: expected a non-negative number, got -5"]),
    ("step of the wrong sign", ARM, {"simulation/step": -1e-3}, ["simulation.step: expected a positive number, got -0.001"]),
    # missing parts
    ("no mass", ARM, {"bodies/arm/mass": LEFT_OUT}, ["bodies.arm.mass: missing"]),
    ("no axis", ARM, {"joints/hinge/axis": LEFT_OUT}, ["joints.hinge.axis: missing"]),
    ("no type", ARM, {"joints/hinge/type": LEFT_OUT}, ["joints.hinge.type: missing, expected one of spherical, revolute"]),
    ("no version", ARM, {"liedyn": LEFT_OUT}, ["liedyn: missing", 'begin the file with { "liedyn": 1,']),
    # initial state, joints
    ("velocity that violates the hinge", ARM, {"bodies/arm/velocity": [1, 0, 0]}, ["joints.hinge:", "initial velocities violate", '"consistent"']),
    ("drive away from the start", ARM, {"joints/drive": {"type": "prescribed_motion", "joint": "hinge", "motion": "1 + t"}}, ["joints.drive: motion:", "violate this constraint by -1", "--initial project"]),
    ("two drives of a joint", ARM, {"joints/first": {"type": "prescribed_motion", "joint": "hinge", "motion": "sin(t)"}, "joints/second": {"type": "prescribed_motion", "joint": "hinge", "motion": "2*sin(t)"}}, ["joints.second: motion:", "contradicts other constraints"]),
    ("the same body twice", ARM, {"joints/hinge/between": ["arm", "arm"]}, ["joints.hinge.between: expected two different bodies, got 'arm' twice"]),
    ("rod of another length", ARM, {"joints": {"rod": {"type": "distance", "between": ["ground", "arm"], "points": [[0, 0, 0], [0.5, 0, 0]], "length": 0.7}}, "forces": {}, "sensors": {}}, ["joints.rod: distance:", "initial positions violate"]),
    ("displacement of a hinge", ARM, {"sensors/angle/type": "joint_displacement"}, ["sensors.angle.of: expected a joint with a displacement", "'hinge' of type revolute"]),
    # expressions
    ("power with **", ARM, {"parameters/area": "length**2"}, ["parameters.area:", "'length**2'", "powers are written with ^"]),
    ("decimal comma", ARM, {"parameters/length": "1,5"}, ["parameters.length:", "'1,5'", "decimals are written with a point"]),
    ("degrees behind a number", ARM, {"forces/motor/target": "sin(30deg)"}, ["forces.motor.target:", "found 'deg)'", "*deg"]),
    ("time instead of t", ARM, {"forces/motor/target": "0.1*sin(time)"}, ["unknown name 'time'", "did you mean 't'"]),
    ("function of numpy", ARM, {"forces/motor/target": "0.1*np.sin(t)"}, ["unknown name 'np.sin'", "did you mean 'sin'"]),
    ("bracket left open", ARM, {"forces/motor/target": "0.1*sin(t"}, ["'0.1*sin(t'", "expected ',' or ')', found the end"]),
    ("misspelt sensor in an effort", ARM, {"forces/motor": {"type": "joint_effort", "joint": "hinge", "effort": "-10*angel"}}, ["forces.motor.effort:", "unknown name 'angel'", "did you mean 'angle'"]),
    ("vector without a component", ARM, {"forces/motor": {"type": "joint_effort", "joint": "hinge", "effort": "-10*tip"}}, ["unknown name 'tip'", "tip[0] to tip[2]"]),
    ("reaction in an effort", ARM, {"sensors/load": {"type": "reaction_force", "of": "hinge"}, "forces/motor": {"type": "joint_effort", "joint": "hinge", "effort": "-10*load[0]"}}, ["the sensor 'load' of type reaction_force cannot be used", "sensors of these types may"]),
    ("mass over time", ARM, {"bodies/arm/mass": "2 - t"}, ["bodies.arm.mass:", "'2 - t' uses the time t", "must not depend on time"]),
    ("too few arguments", ARM, {"forces/motor/target": "step(t)"}, ["step takes 3 arguments, got 1"]),
    ("division by zero", ARM, {"parameters/a": "1/(length - 1)"}, ["parameters.a: expected a finite number", "'1/(length - 1)' gives inf"]),
    ("parameters in a circle", ARM, {"parameters/a": "b", "parameters/b": "a"}, ["parameters.a:", "'b', which is defined later"]),
    # tables
    ("no such file", ARM, ROAD, ["tables.road:", "'road.csv'", "there is no such file"]),
    ("times that fall", ARM, ROAD, ["tables.road:", "must increase: 1 after 2"], "t,y\n0,0\n2,1\n1,3\n"),
    ("word in a table", ARM, ROAD, ["'road.csv', line 3: expected numbers, got 'x'"], "t,y\n0,0\n1,x\n2,1\n"),
    ("rows of different lengths", ARM, ROAD, ["'road.csv', line 3: expected 2 numbers, got 1"], "t,y\n0,0\n1\n2,1\n"),
    ("unknown interpolation", ARM, {"tables": {"road": {"points": [[0, 0], [1, 1]], "interpolation": "cubic"}}, "forces/motor/target": "road(t)"}, ["tables.road: interpolation: expected one of linear, pchip, spline, got 'cubic'"]),
    ("a curve by x and y", ARM, {"tables": {"road": {"x": [0, 1], "y": [0, 1]}}, "forces/motor/target": "road(t)"}, ["tables.road: expected", '"points": [[x1, y1], [x2, y2]]']),
    ("table without its argument", ARM, {"tables": {"road": {"points": [[0, 0], [1, 1]]}}, "forces/motor/target": "road"}, ["the table 'road' is a function: write road(x)"]),
    # machine elements
    ("motor without resistance", MOTOR, {"forces/motor/resistance": LEFT_OUT}, ["forces.motor.resistance: missing"]),
    ("resistance of 0", MOTOR, {"parameters/R": 0}, ["forces.motor.resistance: expected a positive number, got 0"]),
    ("smooth clutch without smoothing", CLUTCH, {"forces/clutch/law": "smooth"}, ["forces.clutch: smoothing: missing", '"law": "stick"']),
    ("bristle above 1", CLUTCH, {"forces/clutch/initial_bristle": 5}, ["initial_bristle: expected a number from -1 to 1, got 5"]),
    ("clutch of one joint", CLUTCH, {"forces/clutch/joints": ["input"]}, ["forces.clutch.joints: expected the names of two joints"]),
    ("misspelt quantity", CLUTCH, {"sensors/slip/quantity": "slipp"}, ["has no quantity 'slipp'", "did you mean 'slip'"]),
    ("tank above supply", CYLINDER, {"forces/cylinder/tank_pressure": 2e7}, ["supply_pressure: expected at least the pressure of the tank"]),
    ("pressure angle in degrees", GEARS, {"joints/mesh/pressure_angle": 20}, ["pressure_angle: expected an angle from 0 to pi/2, got 20 rad", "20 degrees are 0.349"]),
    ("pitch point on an axis", GEARS, {"joints/mesh/at": [0, 0, 0]}, ["joints.mesh: at: the teeth are on the axis of 'shaft1'"]),
    ("pitch point beside the line", GEARS, {"joints/mesh/at": ["r1", 0.05, 0]}, ["joints.mesh: at: expected a point on the line that connects the two axes", "pitch radii"]),
    ("wheels on different carriers", GEARS, {"joints/shaft2/between": ["pinion", "wheel"]}, ["joints.mesh: joints: expected joints with the same first body", "'shaft2' on 'pinion'"]),
    ("mesh of bodies", GEARS, {"joints/mesh/joints": ["pinion", "wheel"]}, ["there is no joint 'pinion'", "'pinion' is one of the bodies"]),
    ("belt between crossed axes", BELT, {"joints/shaft2/axis": [0, 1, 0]}, ["forces.belt: joints: expected parallel axes"]),
    ("rope of length 0", HOIST, {"joints/rope/length": 0}, ["joints.rope.length: expected a positive number, got 0"]),
    ("bearing that holds the turn", MOTOR, {"forces/left": {"type": "bearing", "between": ["ground", "wheel"], "at": [0, 0, 0], "stiffness": [1e6, 1e6, 1e6, 10, 10, 10]}}, ["forces.left: stiffness[5][5]: expected 0, got 10"]),
    ("trajectory without a limit", TRAJECTORY, {"tables/move/speed": LEFT_OUT}, ["tables.move: speed: missing"]),
    ("trajectory of other lengths", TRAJECTORY, {"tables/move/waypoints/elbow": [0, 1]}, ["waypoints.elbow: expected 4 waypoints as of 'shoulder', got 2"]),
    # contacts, stops, tyres
    ("friction without smoothing", BALL, {"forces/floor/smoothing": LEFT_OUT}, ["forces.floor: smoothing: missing"]),
    ("restitution without its speed", BALL, {"forces/floor/impact_speed": LEFT_OUT}, ["forces.floor: impact_speed: missing"]),
    ("restitution above 1", BALL, {"parameters/restitution": 1.2}, ["restitution: must be at most 1, got 1.2"]),
    ("restitution and damping", BALL, {"forces/floor/damping": 0.1}, ["damping and restitution: both are given"]),
    ("exponent below 1", BALL, {"forces/floor/exponent": 0.5}, ["exponent: must be at least 1, got 0.5"]),
    ("stop without limits", ARM, {"forces/stop": {"type": "joint_stop", "joint": "hinge", "stiffness": 1e5}}, ["forces.stop: lower, upper: both are missing"]),
    ("limits exchanged", ARM, {"forces/stop": {"type": "joint_stop", "joint": "hinge", "stiffness": 1e5, "lower": 1, "upper": -1}}, ["forces.stop: lower must be below upper"]),
    ("wheel that lies flat", TYRE, {"forces/rear_tyre/axis": [0, 0, 1]}, ["forces.rear_tyre: axis: the wheel lies flat"]),
    ("tyre without friction", TYRE, {"parameters/mu": 0}, ["forces.front_tyre.friction: expected a positive number, got 0"]),
    ("negative clearance", CLEARANCE, {"parameters/clearance": -5e-4}, ["forces.wrist_pin.clearance: expected a positive number, got -0.0005"]),
]

# What can be simulated but is probably wrong: warnings of `liedyn check`.
WARNINGS = [
    ("density in g/cm^3", ARM, {"beams": {"rod": {"type": "circle", "from": [0, 1, 0], "to": [1, 1, 0], "elements": 2, "young": 2e11, "density": 7.8, "radius": 0.01}}}, ["beams.rod.density: 7.8 kg/m^3", "7800 kg/m^3"]),
    ("angle in degrees", ARM, {"bodies/arm/orientation": {"axis": [0, 1, 0], "angle": 45}}, ["bodies.arm.orientation.angle: 45 rad", "45 degrees would be"]),
    ("gravity in mm/s^2", ARM, {"parameters/g": 9810}, ["gravity: 9810 m/s^2", "mm/s^2"]),
    ("inertia in kg mm^2", ARM, {"bodies/arm/inertia": [1e4, 2e5, 2e5]}, ["bodies.arm.inertia: 200000 kg m^2", "0.2 kg m^2"]),
    ("stop in degrees", ARM, {"forces/stop": {"type": "joint_stop", "joint": "hinge", "stiffness": 1e5, "lower": -90, "upper": 90}}, ["forces.stop.lower: -90 rad is more than a turn", "-90 degrees"]),
    ("negative damping", ARM, {"forces/spring": {"type": "joint_spring", "joint": "hinge", "damping": -1}}, ["forces.spring.damping: -1 is negative", "feeds energy"]),
    ("planar body, gravity along z", PLANAR, {}, ["gravity (-9.81 m/s^2 along z) is perpendicular to the plane"]),
    ("two hinges that lock", ARM, {"joints/second": {"type": "revolute", "between": ["ground", "arm"], "at": [1, 0, 0], "axis": [0, 1, 0]}}, ["0 degrees of freedom"]),
    ("no bodies", ARM, {"bodies": {}, "joints": {}, "forces": {}, "sensors": {}}, ["the model has no bodies"]),
    ("pressure in bar", CYLINDER, {"forces/cylinder/supply_pressure": 160, "forces/cylinder/tank_pressure": 1}, ["supply_pressure: 160 Pa", "160 bar would be 1.6e+07 Pa"]),
    ("bulk modulus in MPa", CYLINDER, {"forces/cylinder/bulk_modulus": 1400}, ["bulk_modulus: 1400 Pa", "1400 MPa"]),
    ("normal into the floor", BALL, {"forces/floor/normal": [0, 0, -1]}, ["forces.floor: at the start the contact is", "direction of the normal"]),
    ("start beyond a stop", ARM, {"forces/stop": {"type": "joint_stop", "joint": "hinge", "stiffness": 1e5, "lower": 0.5, "upper": 1}}, ["forces.stop: at the start the contact is 0.5 deep"]),
    ("journal outside its bearing", CLEARANCE, {"forces/wrist_pin/points": [[0.17, 0, 0], [0.172, 0, 0]]}, ["forces.wrist_pin: at the start the contact is"]),
    # Options that are read only beside others.
    ("initial current without inductance", MOTOR, {"forces/motor/inductance": 0, "forces/motor/initial_current": 3, "states": {}, "sensors/electrical_energy": LEFT_OUT, "sensors/lost_energy": LEFT_OUT}, ["forces.motor.initial_current has no effect without inductance"]),
    ("smoothing of a clutch that sticks", CLUTCH, {"forces/clutch/smoothing": 0.1}, ["forces.clutch.smoothing has no effect with the law stick"]),
    ("deflection of a smooth clutch", CLUTCH, {"forces/clutch/law": "smooth", "forces/clutch/smoothing": 0.1}, ["forces.clutch.deflection has no effect with the law smooth"]),
    ("speed without its restitution", BALL, {"forces/floor/restitution": LEFT_OUT}, ["forces.floor.impact_speed has no effect without restitution"]),
    ("smoothing without friction", BALL, {"forces/floor/friction": LEFT_OUT}, ["forces.floor.smoothing has no effect without friction"]),
    ("stribeck without static friction", BALL, {"forces/floor/stribeck": 0.01}, ["forces.floor.stribeck has no effect without static_friction"]),
    ("damping of bristles without bristles", BALL, {"forces/floor/presliding_damping": 10}, ["forces.floor.presliding_damping has no effect without presliding"]),
    ("smoothing beside bristles", BALL, {"forces/floor/presliding": 1e-5}, ["forces.floor.smoothing has no effect with presliding"]),
    ("backlash without a spring", ARM, {"forces/play": {"type": "joint_spring", "joint": "hinge", "backlash": 0.1, "damping": 1}}, ["forces.play.backlash has no effect without stiffness or cubic_stiffness"]),
    # Numbers that contradict each other.
    ("static friction below friction", BALL, {"forces/floor/static_friction": 0.05}, ["forces.floor.static_friction: 0.05 is less than `friction`, 0.1"]),
    ("rolling diameter", TYRE, {"forces/rear_tyre/rolling_radius": 0.62}, ["forces.rear_tyre.rolling_radius: 0.62 m", "diameter"]),
    ("valve in per cent", CYLINDER, {"forces/cylinder/valve": 50}, ["forces.cylinder.valve: 50 is beyond the fully open valve", "50 per cent would be 0.5"]),
]

COMMANDS = [
    ("run heavy_top --dt 1e-3", ["run has no option '--dt'", "did you mean '--step'"]),
    ("run heavy_top --time 1", ["'--time'", "did you mean '--end'"]),
    ("run heavy_top --save x.csv", ["'--save'", "did you mean '--out'"]),
    ("run heavy_top -o x.csv", ["'-o'", "did you mean '--out'"]),
    ("run heavy_tpo", ["there is no model 'heavy_tpo'", "did you mean 'heavy_top'"]),
    ("simulate heavy_top", ["got 'simulate'", "did you mean 'run'"]),
    ("run", ["MODEL is required"]),
    ("run heavy_top --set bodies.top.mass 3", ["'3'", "write --set bodies.top.mass=3"]),
    ("run heavy_top --set bodies.top.mass=3 gravity[2]=1", ["'gravity[2]=1'", "write --set bodies.top.mass=3 --set gravity[2]=1"]),
    ("run heavy_top --set mass=3", ["mass: the model has no parameter of this name", "did you mean 'bodies.top.mass'"]),
    ("run heavy_top --set bodies.top.mass=three", ["bodies.top.mass: expected a finite number, got 'three'"]),
    ("run heavy_top --set bodies.top.masss=3", ["bodies.top.masss: 'top' has no field 'masss'", "did you mean 'mass'"]),
    ("run heavy_top --out x.xlsx", ["expected a file that ends with .csv or .h5, got 'x.xlsx'"]),
    ("run heavy_top --out nodir/x.csv", ["nodir/x.csv", "there is no folder 'nodir'"]),
    ("run heavy_top --integrator rk4", ["unknown integrator 'rk4'", "did you mean 'rk44'"]),
    ("run heavy_top --integrator generalized-alpha,rho=2", ["rho must be between 0 and 1, got 2"]),
    ("run heavy_top --integrator generalized-alpha,rh=0.9", ["unknown option 'rh'", "did you mean 'rho'"]),
    ("run heavy_top --formulation quaternion", ["'quaternion'", "euler-parameters"]),
    ("run heavy_top --end 1s", ["--end: expected a number of seconds, got '1s'", "without a unit"]),
    ("run heavy_top --output-every 0.5", ["--output-every: expected a whole number, got '0.5'"]),
    ("run heavy_top --record angle", ["--record: expected all, got 'angle'"]),
    ("run heavy_top extra", ["has no argument 'extra'"]),
    ("list modles", ["got 'modles'", "did you mean 'models'"]),
    ("sensitivity heavy_top --parameters top.mass", ["top.mass: expected a path that begins with its section", "did you mean 'bodies.top.mass'"]),
    ("sensitivity heavy_top --parameters bodies.top.mass --outputs positon", ["there is no sensor 'positon'", "sensors of this model: position"]),
    ("run heavy_top --from rest.json", ["rest.json: there is no such file"]),
    ("modes heavy_top --at statik", ["at: expected initial, static, end or a time", "got 'statik'"]),
    ("static heavy_top --load-steps 0", ["load_steps: must be 1 to 100000, got 0"]),
    ("kinematics heavy_top", ["no constraint prescribes this motion: top turns about", "prescribe it by a joint"]),
    ("linearize heavy_top --inputs forces.motor", ["there is no 'motor' among the forces"]),
    ("help rnu", ["got 'rnu'", "did you mean 'run'"]),
]

CALLS = [
    (lambda: ld.run("heavy_top", step="1e-3"), ["step: expected a positive number of seconds, got '1e-3' (str)", "without quotation marks"]),
    (lambda: ld.run("heavy_top", integrator={}), ["integrator: expected a string", "got {} (dict)"]),
    (lambda: ld.run("heavy_top", set=["mass"]), ["set: expected a dict of paths and numbers"]),
    (lambda: ld.run("heavy_top", set={"bodies.top.mas": 2}), ["bodies.top.mas: 'top' has no field 'mas'", "did you mean 'mass'"]),
    (lambda: ld.run("controlled_arm", set={"forces.motor.effort": 2}), ["depends on states or sensors", "set a parameter that the expression uses"]),
    (lambda: ld.run("heavy_top", start={"bodies": {}}), ["start: expected a finite number of seconds", "from_=..."]),
    (lambda: ld.run("heavy_top", from_=0.5), ["from_: expected a configuration", "0.5"]),
    (lambda: ld.run('{"liedyn": 1}'), ["expected the name or the file of a model"]),
    (lambda: ld.run("nowhere.json"), ["nowhere.json"]),
    (lambda: ld.run({"liedyn": 1, "bodies": {"a": {"type": "point", "mass": "heavy"}}}), ["bodies.a.mass", "unknown name 'heavy'"]),
    (lambda: ld.run("heavy_top", end=0.001).save("nodir/x.csv"), ["nodir/x.csv: cannot be written: there is no folder"]),
    (lambda: ld.run("heavy_top", end=0.001).save("x.txt"), ["expected a file that ends with .csv, .h5 or .npz"]),
    (lambda: ld.sweep("heavy_top", set={"spin": [1, 2]}), ["set: expected a list of dicts, one per run"]),
    (lambda: ld.modes("pendulum", at="statik"), ["statik"]),
    (lambda: ld.static("pendulum", load_steps=0), ["load_steps: expected a whole number from 1"]),
    (lambda: ld.linearize("pendulum", inputs="forces.motor"), ["forces.motor"]),
    (lambda: ld.load_result("nowhere.csv"), ["nowhere.csv: cannot be read"]),
    (lambda: ld.sensitivity("heavy_top", "spinn"), ["spinn", "did you mean 'spin'"]),
]


def program(*words: str, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(["liedyn", *words], cwd=folder, capture_output=True, text=True, timeout=60)


def expect(message: str, words: list[str]) -> None:
    print(message.strip())
    for word in words:
        assert word in message, message
    assert len(message) < 2500, message


def test_there_are_a_hundred():
    titles = [case[0] for case in ERRORS + WARNINGS + COMMANDS]
    assert len(titles) == len(set(titles))
    assert len(titles) + len(CALLS) >= 100


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case[0].replace(" ", "_"))
def test_an_error_in_a_model_is_named(case, tmp_path):
    _, model, changes, words, *table = case
    (tmp_path / "model.json").write_text(json.dumps(changed(model, changes), indent=1), encoding="utf-8")
    if table:
        (tmp_path / "road.csv").write_text(table[0], encoding="utf-8")
    done = program("run", "model.json", folder=tmp_path)
    expect(done.stderr, words)
    assert done.returncode == 2 and done.stdout == ""
    assert "model.json:" in done.stderr or "simulation." in done.stderr
    # What follows from a mistake in a table is no mistake of its own.
    if any(word.startswith("tables.") for word in words):
        assert done.stderr.count("error:") == 1


@pytest.mark.parametrize("case", WARNINGS, ids=lambda case: case[0].replace(" ", "_"))
def test_what_is_hardly_meant_has_a_warning(case, tmp_path):
    _, model, changes, words = case
    (tmp_path / "model.json").write_text(json.dumps(changed(model, changes)), encoding="utf-8")
    done = program("check", "model.json", folder=tmp_path)
    expect(done.stderr, ["warning: ", *words])


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case[0].replace(" ", "_"))
def test_a_wrong_command_is_explained(case, tmp_path):
    line, words = case
    done = program(*line.split(), folder=tmp_path)
    expect(done.stderr, ["error: ", *words])
    assert done.returncode == 2 and done.stdout == ""


@pytest.mark.parametrize("case", CALLS, ids=range(len(CALLS)))
def test_a_wrong_call_raises_an_input_error(case):
    call, words = case
    with pytest.raises(ld.InputError) as caught:
        call()
    expect(str(caught.value), words)


@pytest.mark.parametrize("model", [ARM, BALL, TYRE, GEARS, BELT, HOIST, MOTOR, CLUTCH, CYLINDER, TRAJECTORY, CLEARANCE])
def test_the_models_that_are_changed_are_good(model, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(model), encoding="utf-8")
    done = program("check", "model.json", folder=tmp_path)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr

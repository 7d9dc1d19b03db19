"""Robots in the formats of MuJoCo and SDFormat, against what MuJoCo 2.2.2 computes and against the same robot as a URDF file."""

import math
import warnings

import liedyn as ld
import numpy as np
import pytest


def readable(ending, tmp_path_factory):
    file = tmp_path_factory.mktemp("formats") / f"empty{ending}"
    file.write_text("<none/>")
    try:
        ld.load(file)
    except ld.InputError as error:
        return "cannot read robots of this kind" not in str(error)
    return True


@pytest.fixture(scope="module")
def mjcf(tmp_path_factory):
    if not readable(".xml", tmp_path_factory):
        pytest.skip("built without libmujoco-dev")


@pytest.fixture(scope="module")
def sdf(tmp_path_factory):
    if not readable(".sdf", tmp_path_factory):
        pytest.skip("built without libsdformat-dev")


def load(text, tmp_path, name="robot.xml"):
    file = tmp_path / name
    file.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return ld.load(file), [str(warning.message) for warning in caught]


ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <default><joint damping="0.1"/></default>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0" armature="0.02" ref="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" rgba="1 0 0 1"/>
      <body name="lower" pos="0.5 0 0" euler="0 0.3 0">
        <joint name="elbow" type="hinge" axis="0 1 0.2" stiffness="3" springref="0.1"/>
        <geom type="box" pos="0.2 0 0" size="0.2 0.02 0.03"/>
        <body name="tool" pos="0.4 0 0"><geom type="sphere" size="0.05"/></body>
      </body>
    </body>
    <body name="free" pos="1 1 1" quat="1 0.2 0.1 0"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="5" name="m1"/>
    <position joint="elbow" kp="20" name="servo" ctrlrange="-1 1" ctrllimited="true"/>
  </actuator>
</mujoco>"""

GIMBAL = """
<mujoco model="gimbal">
  <option gravity="0 0 -9.81" timestep="0.001"/>
  <worldbody>
    <body name="top" pos="0 0 1">
      <joint name="yaw" type="hinge" axis="0 0 1"/>
      <joint name="pitch" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.4 0.1 0.2" size="0.05"/>
    </body>
  </worldbody>
</mujoco>"""

BALL = """
<mujoco model="ball">
  <option gravity="0 0 -9.81" timestep="0.001"/>
  <worldbody>
    <body name="b" pos="0 0 1">
      <joint name="socket" type="ball"/>
      <geom type="box" pos="0.2 0.05 0" size="0.2 0.05 0.02" mass="3"/>
      <body name="s" pos="0.4 0 0">
        <joint name="slider" type="slide" axis="1 0 1" damping="0.5" stiffness="40"/>
        <geom type="sphere" size="0.04" mass="0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

# MuJoCo 2.2.2, RK4 with steps of 1e-4 s, contacts off: coordinates at the end.
BY_MUJOCO = {
    "arm": (ARM, 1.0, {"m1": 0.3, "servo": 0.5}, {"shoulder": 3.2966436702463, "elbow": 0.55412908608937}),
    "gimbal": (GIMBAL, 0.5, {}, {"yaw": -2.23796849665, "pitch": 3.2656741325867}),
    "ball": (BALL, 0.5, {}, {"slider": 0.47189560027478}),
}


@pytest.mark.parametrize("name", BY_MUJOCO)
@pytest.mark.parametrize("settings", [{"integrator": "rk44"}, {"integrator": "dopri5", "formulation": "r3so3"}], ids=["minimal", "r3so3"])
def test_the_motion_is_that_of_mujoco(mjcf, tmp_path, name, settings):
    text, end, control, wanted = BY_MUJOCO[name]
    model, _ = load(text, tmp_path)
    result = ld.run(model, set=control, end=end, step=2e-4, **settings)
    worst = max(abs(float(result[sensor][-1]) - value) for sensor, value in wanted.items())
    print(f"{name}: {worst:.1e} from MuJoCo")
    assert worst < 3e-8


def test_what_is_in_the_file_is_in_the_model(mjcf, tmp_path):
    model, said = load(ARM, tmp_path)
    content = model.to_dict()
    assert set(content["bodies"]) == {"upper", "lower", "free"}, "the tool is welded to the lower arm"
    assert content["joints"]["shoulder"]["zero"] == -0.2
    assert content["parameters"] == {"m1": 0, "servo": 0}
    assert [shape["type"] for shape in content["bodies"]["lower"]["shapes"]] == ["box", "sphere"]
    # Solid box of density 1000 and a sphere: mass, and the centre between them.
    box, sphere = 1000 * 0.4 * 0.04 * 0.06, 1000 * 4 / 3 * math.pi * 0.05**3
    assert content["bodies"]["lower"]["mass"] == pytest.approx(box + sphere, rel=1e-12)
    along = (0.2 * box + 0.4 * sphere) / (box + sphere)
    assert content["bodies"]["lower"]["frames"]["origin"]["at"] == pytest.approx([-along, 0, 0], abs=1e-12)
    assert any("may collide do not" in text for text in said)
    assert float(ld.run(model, end=0.002)["shoulder"][0]) == pytest.approx(0.2)


def test_closed_loops(mjcf, tmp_path):
    """A parallelogram: its coupler does not turn."""
    bar = '<geom type="capsule" fromto="0 0 0 {0}" size="0.02"/>'
    text = f"""
    <mujoco><option gravity="0 0 -9.81"/><worldbody>
      <body name="left"><joint name="a" axis="0 1 0"/>{bar.format("0.1 0 -0.5")}
        <body name="coupler" pos="0.1 0 -0.5"><joint name="c" axis="0 1 0"/>{bar.format("1 0 0")}</body></body>
      <body name="right" pos="1 0 0"><joint name="b" axis="0 1 0"/>{bar.format("0.1 0 -0.5")}</body>
    </worldbody><equality><connect body1="coupler" body2="right" anchor="1 0 0"/></equality></mujoco>"""
    model, _ = load(text, tmp_path)
    model.angular_velocity("turning", "coupler")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ld.run(model, end=0.5, step=1e-3)
    assert np.ptp(result["a"]) > 0.2
    assert np.max(np.abs(result["turning"])) < 1e-8 and np.max(np.abs(result["a"] - result["b"])) < 1e-8


@pytest.mark.parametrize("text, message", [
    ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass and inertia"),
    ("<mujoco", "XML"),
    ("not XML at all", "XML"),
    (GIMBAL.replace("<option", '<option density="1.2"'), "fluid"),
    (BALL.replace('type="ball"', 'type="ball" damping="1"'), "ball joint 'socket'"),
    (GIMBAL.replace("</worldbody>", '</worldbody><equality><joint joint1="yaw" joint2="pitch"/></equality>'), "neither a connect nor a weld"),
    (GIMBAL.replace("</worldbody>", '</worldbody><tendon><fixed stiffness="3"><joint joint="yaw" coef="1"/></fixed></tendon>'), "tendons"),
])
def test_what_cannot_be_is_refused(mjcf, tmp_path, text, message):
    with pytest.raises(ld.InputError, match=message):
        load(text, tmp_path)


def test_what_is_left_out_is_said(mjcf, tmp_path):
    text = GIMBAL.replace('axis="0 0 1"', 'axis="0 0 1" limited="true" range="-1 1" frictionloss="0.2"').replace(
        "</worldbody>", '</worldbody><actuator><muscle joint="yaw" name="biceps"/></actuator>')
    _, said = load(text, tmp_path)
    for part in ("1 limits of joints are left out", "tanh(rate/0.01)", "'biceps' is left out"):
        assert any(part in line for line in said), part


URDF = """
<robot name="two">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0.05" rpy="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.05" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0.02 0" rpy="0 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0.3 0 0"/>
    <axis xyz="0 1 0"/><dynamics damping="0.2"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0" rpy="0 0.5 0"/>
    <axis xyz="1 0 0"/><limit lower="-100" upper="100" effort="1" velocity="1"/></joint>
</robot>"""

SDF = """
<sdf version="1.9"><model name="two"><pose>0 0 0.5 0 0 0</pose>
  <link name="upper"><pose>0 0 0.5 0.3 0 0</pose><inertial><pose>0.2 0 0.05 0.1 0.2 0.3</pose><mass>2</mass>
    <inertia><ixx>0.02</ixx><iyy>0.05</iyy><izz>0.04</izz><ixy>0.001</ixy><ixz>0</ixz><iyz>0.002</iyz></inertia></inertial>
    <visual name="look"><pose>0.2 0 0 0 1.5707963 0</pose><geometry><cylinder><radius>0.03</radius><length>0.4</length></cylinder></geometry></visual></link>
  <link name="lower"><pose relative_to="upper">0.4 0 0 0 0.5 0</pose><inertial><pose>0.1 0.02 0 0 0 0</pose><mass>1</mass>
    <inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.02</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
  <joint name="shoulder" type="continuous"><parent>world</parent><child>upper</child><axis><xyz>0 1 0</xyz><dynamics><damping>0.2</damping></dynamics></axis></joint>
  <joint name="slide" type="prismatic"><parent>upper</parent><child>lower</child><axis><xyz>1 0 0</xyz></axis></joint>
</model></sdf>"""


def test_sdformat_gives_the_motion_of_the_same_robot_as_urdf(sdf, tmp_path):
    model, said = load(SDF, tmp_path, "robot.sdf")
    assert said == []
    other, _ = load(URDF, tmp_path, "robot.urdf")
    results = [ld.run(m, set={"gravity[2]": -9.81}, integrator="rk44", formulation="minimal", end=1, step=1e-3) for m in (model, other)]
    for sensor in ("shoulder", "slide"):
        assert np.max(np.abs(results[0][sensor] - results[1][sensor])) < 1e-11
    assert np.ptp(results[0]["slide"]) > 0.1
    assert model.to_dict()["bodies"]["upper"]["shapes"][0]["type"] == "cylinder"


@pytest.mark.parametrize("text, message", [
    ("<sdf", "Unable to read"),
    (SDF.replace('type="prismatic"', 'type="screw"'), "'slide' is neither"),
    (SDF.replace("<parent>upper</parent>", "<parent>nobody</parent>"), "nobody"),
    (SDF.replace("<pose>0 0 0.5 0 0 0</pose>", "<static>true</static>", 1), "static"),
])
def test_what_cannot_be_in_sdformat_is_refused(sdf, tmp_path, text, message):
    with pytest.raises(ld.InputError, match=message):
        load(text, tmp_path, "robot.sdf")


def test_the_program_reads_them_too(mjcf, tmp_path):
    file = tmp_path / "gimbal.xml"
    file.write_text(GIMBAL)
    result = ld.run(str(file), integrator="rk44", step=1e-3, end=0.1)
    assert result.completed


def test_a_missing_file_and_a_missing_reader_are_told(tmp_path, monkeypatch):
    with pytest.raises(ld.InputError):
        ld.load(tmp_path / "none.xml")

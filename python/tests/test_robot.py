"""Functions of robots against closed forms, simulations and finite differences."""

import numpy as np
import pytest

import liedyn as ld

ARM = """<robot>
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.04" iyz="0" izz="0.02"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.15"/><mass value="1.5"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <link name="hand"><inertial><origin xyz="0 0 0.05"/><mass value="0.5"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.002"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4" rpy="0 0.2 0"/>
    <axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.3"/></joint>
  <joint name="reach" type="prismatic"><parent link="lower"/><child link="hand"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 0 1"/><limit lower="-0.1" upper="0.2" effort="50" velocity="3"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture(scope="module")
def arm(file):
    return ld.Robot(file)


def states(robot, count=4):
    random = np.random.default_rng(1)
    return random.uniform(-1, 1, (count, robot.nq)), random.uniform(-1, 1, (count, robot.nv)), random.uniform(-1, 1, (count, robot.nv))


def test_forward_and_inverse_dynamics_are_inverse(arm):
    q, v, a = states(arm)
    assert arm.coordinates == arm.velocities == ["shoulder", "elbow", "reach"]
    for forces in (True, False):
        tau = arm.inverse_dynamics(q, v, a, forces=forces)
        np.testing.assert_allclose(arm.forward_dynamics(q, v, tau, forces=forces), a, atol=1e-12)
        sums = np.einsum("kij,kj->ki", arm.mass_matrix(q), a) + arm.bias(q, v, forces=forces)
        np.testing.assert_allclose(sums, tau, atol=1e-12)
    damping = arm.bias(q, v) - arm.bias(q, v, forces=False)
    np.testing.assert_allclose(damping, 0.3 * v * [0, 1, 0], atol=1e-13)
    np.testing.assert_allclose(arm.gravity(q), arm.bias(q, 0 * v), atol=1e-13)


def test_many_states_are_one_after_the_other(arm):
    q, v, a = states(arm, 6)
    many = arm.inverse_dynamics(q.reshape(2, 3, -1), v.reshape(2, 3, -1), a[0])
    assert many.shape == (2, 3, 3)
    np.testing.assert_array_equal(many[1, 2], arm.inverse_dynamics(q[5], v[5], a[0]))
    assert arm.mass_matrix(q[0]).shape == (3, 3) and arm.frame_jacobian("hand", q).shape == (6, 6, 3)


def test_accelerations_are_those_of_a_simulation(file, arm):
    """Joint coordinates count from the zero of the file, wherever the robot starts."""
    start = {"initial.shoulder": 0.7, "initial.elbow": -0.4, "initial.reach": 0.1}
    for formulation in ("minimal", "r3so3"):
        h = 1e-4
        run = ld.run(file, set=start, end=2 * h, step=h, formulation=formulation, integrator="rk44" if formulation == "minimal" else None)
        x = np.stack([run["shoulder"], run["elbow"], run["reach"]])
        np.testing.assert_allclose(x[:, 0], [0.7, -0.4, 0.1], atol=1e-12)
        found = 2 * (x[:, 1] - x[:, 0]) / h**2
        np.testing.assert_allclose(found, arm.forward_dynamics(x[:, 0], np.zeros(3), np.zeros(3)), rtol=2e-3)
    moved = ld.Robot(file, set=start)
    np.testing.assert_allclose(moved.q0, [0.7, -0.4, 0.1], atol=1e-14)
    q, v, a = states(arm)
    np.testing.assert_allclose(moved.inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a), atol=1e-12)


def test_jacobians_are_derivatives_of_poses(arm):
    q, v, _ = states(arm)
    h = 1e-6
    for frame, at in (("hand", (0, 0, 0)), ("lower", (0.1, -0.2, 0.3)), ("reach", (0, 0.1, 0))):
        J = arm.frame_jacobian(frame, q, at=at) @ v[..., None]
        after, before = arm.frame_pose(frame, q + h * v, at=at), arm.frame_pose(frame, q - h * v, at=at)
        rate, R = (after - before) / (2 * h), arm.frame_pose(frame, q, at=at)[:, :3, :3]
        np.testing.assert_allclose(J[:, :3, 0], rate[:, :3, 3], atol=1e-8)
        spin = rate[:, :3, :3] @ R.transpose(0, 2, 1)
        np.testing.assert_allclose(J[:, 3:, 0], np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], -1), atol=1e-8)
    center = (arm.center_of_mass(q + h * v) - arm.center_of_mass(q - h * v)) / (2 * h)
    np.testing.assert_allclose(arm.momentum(q, v)[:, :3], arm.mass * center, atol=1e-7)
    assert arm.mass == pytest.approx(4)


def test_frames_of_joints_are_those_of_the_child_links(arm):
    np.testing.assert_allclose(arm.frame_pose("elbow", [0, 0, 0])[:3, 3], [0, 0, 0.7], atol=1e-14)
    c, s = np.cos(0.2), np.sin(0.2)
    np.testing.assert_allclose(arm.frame_pose("elbow", [0, 0, 0])[:3, :3], [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-14)
    np.testing.assert_allclose(arm.frame_pose("reach", [0, 0, 0.1])[:3, 3], [0.4 * s, 0, 0.7 + 0.4 * c], atol=1e-14)


def test_inverse_kinematics_reaches_what_can_be_reached(arm):
    limits = {"shoulder": (-2, 2), "elbow": (-2, 2), "reach": (-0.1, 0.2)}
    wanted = arm.frame_pose("hand", [0.6, -0.8, 0.15])
    found = arm.inverse_kinematics({"hand": wanted[:3, 3]}, limits=limits)
    assert found.converged and found.position_error < 1e-9
    np.testing.assert_allclose(arm.frame_pose("hand", found.q)[:3, 3], wanted[:3, 3], atol=1e-9)
    whole = arm.inverse_kinematics({"hand": wanted}, limits=limits)
    np.testing.assert_allclose(whole.q, [0.6, -0.8, 0.15], atol=1e-8)
    # Beyond the limits: as near as they allow.
    far = arm.inverse_kinematics({"reach": [0, 0, 5]}, limits={"reach": (-0.1, 0.05)}, attempts=3)
    assert not far.converged and far.q[2] == pytest.approx(0.05, abs=1e-12)
    assert far.position_error > 3


def test_a_free_body_has_a_position_and_a_quaternion(file):
    robot = ld.Robot(file, set={"floating": 1})
    assert (robot.nq, robot.nv) == (7 + 3, 6 + 3)
    assert robot.coordinates[:7] == ["base.x", "base.y", "base.z", "base.qw", "base.qx", "base.qy", "base.qz"]


def test_models_with_loops_are_refused():
    with pytest.raises(ld.InputError, match="form a tree"):
        ld.Robot("four_bar")


@pytest.mark.parametrize(
    "call, part",
    [
        (lambda r: r.mass_matrix([0, 0]), r"q: expected an array of shape \(..., 3\)"),
        (lambda r: r.mass_matrix([0, 0, float("nan")]), "finite"),
        (lambda r: r.mass_matrix("x"), "expected numbers"),
        (lambda r: r.bias(np.zeros((2, 3)), np.zeros((3, 3))), "same number of states"),
        (lambda r: r.frame_pose("hnad", [0, 0, 0]), "did you mean 'hand'"),
        (lambda r: r.inverse_kinematics({"hand": [1, 2]}), "4x4"),
        (lambda r: r.inverse_kinematics({"hand": 2 * np.eye(4)}), "rotation"),
        (lambda r: r.inverse_kinematics({"hand": [1, 2, 3]}, limits={"elbw": (0, 1)}), "elbow"),
        (lambda r: r.inverse_kinematics({"hand": [1, 2, 3]}, limits={"elbow": (1, 0)}), "lower limit"),
    ],
)
def test_errors_say_what_is_wrong(arm, call, part):
    with pytest.raises(ld.InputError, match=part):
        call(arm)

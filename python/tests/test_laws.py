"""Laws in code: functions of Python that expressions call, against the same laws written as expressions."""

import math
import time
import warnings

import liedyn as ld
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:expressions call .* finite differences")


def arm(**settings):
    """A pendulum with a motor, and what a controller measures."""
    m = ld.Builder(gravity=[0, 0, -9.81])
    body = m.rigid("arm", mass=2, inertia=[0.01, 0.2, 0.2], position=[0.5, 0, 0])
    hinge = m.revolute("hinge", m.ground, body, at=[0, 0, 0], axis=[0, 1, 0])
    m.joint_angle("angle", hinge)
    m.joint_angle_rate("rate", hinge)
    m.position("tip", body, at=[1, 0, 0])
    m.simulation(**({"end": 1, "step": 1e-2} | settings))
    return m, body, hinge


def controller(angle, rate):
    """With an `if`, so that it cannot be traced."""
    torque = -30 * angle - 2 * rate
    if angle > 0.3:
        torque -= 100 * (angle - 0.3) ** 2
    return torque


def traced_controller(angle, rate):
    return -30 * angle - 2 * rate - ld.where(angle > 0.3, 100 * (angle - 0.3) ** 2, 0)


def with_effort(effort, **settings):
    m, _, hinge = arm(**settings)
    m.joint_effort("motor", hinge, effort=effort)
    return m


def run(model, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ld.NumericalWarning)
        warnings.filterwarnings("ignore", message="expressions call .* finite differences")
        return ld.run(model, **settings)


def test_a_function_with_an_if_is_called_and_gives_the_motion_of_the_expression():
    called = run(with_effort(controller))
    traced = run(with_effort(traced_controller))
    error = np.max(np.abs(called["angle"] - traced["angle"]))
    print(f"largest difference of the angle {error:.1e}")
    assert error < 1e-9
    assert any("controller" in text and "finite differences" in text for text in called.summary["warnings"])
    assert not any("finite differences" in text for text in traced.summary["warnings"])


def test_an_explicit_method_gives_the_same_bits():
    called = run(with_effort(controller), integrator="rk44")
    m = with_effort(lambda angle, rate: ld.where(angle > 0.3, -30 * angle - 2 * rate - 100 * (angle - 0.3) ** 2, -30 * angle - 2 * rate))
    assert np.array_equal(called["angle"], run(m, integrator="rk44")["angle"])


@pytest.mark.parametrize("integrator", [entry if isinstance(entry, str) else entry["name"] for entry in ld.integrators()])
def test_every_integrator_calls_it(integrator):
    step = 2e-3
    settings = {"integrator": integrator, "step": step, "end": 0.1}
    called, traced = run(with_effort(controller), **settings), run(with_effort(traced_controller), **settings)
    assert np.max(np.abs(called["angle"] - traced["angle"])) < 1e-9


def test_a_gradient_makes_derivatives_exact():
    def gradient(angle, rate):
        return [-30 - (200 * (angle - 0.3) if angle > 0.3 else 0), -2]

    exact = with_effort(ld.called(controller, gradient=gradient))
    result = run(exact)
    assert not any("finite differences" in text for text in result.summary["warnings"])
    wanted = ld.sensitivity(with_effort(traced_controller), ["bodies.arm.mass"], ["angle"]).jacobian
    with_gradient = ld.sensitivity(exact, ["bodies.arm.mass"], ["angle"]).jacobian
    differences = ld.sensitivity(with_effort(controller), ["bodies.arm.mass"], ["angle"]).jacobian
    errors = [np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)) for found in (with_gradient, differences)]
    print(f"relative error of d angle/d mass: with gradient {errors[0]:.1e}, with differences {errors[1]:.1e}")
    assert errors[0] < 1e-10 and errors[1] < 1e-7


def test_a_force_of_three_components():
    def model(force):
        m, body, _ = arm()
        m.expression_sensor("height", value="tip[2]")
        m.force("wind", body, force=force)
        return m

    calls = []

    def gust(t, height):
        calls.append(t)
        return [math.sin(5 * t), 0, 2 * math.cos(3 * t) * height]

    called = run(model(ld.called(gust, size=3)))
    count = len(calls)
    traced = run(model(lambda t, height: [ld.sin(5 * t), 0, 2 * ld.cos(3 * t) * height]))
    assert np.max(np.abs(called["angle"] - traced["angle"])) < 1e-9
    assert count > 0
    with pytest.raises(ValueError, match="must return 3 numbers, got 2"):
        run(model(ld.called(lambda t: [0, 0], size=3)))


def test_a_driven_angle_has_its_rates():
    """Index 1 needs the second time derivative of the function."""
    def model(law):
        m = ld.Builder(gravity=[0, 0, -9.81])
        body = m.rigid("arm", mass=2, inertia=[0.01, 0.2, 0.2], position=[0.5, 0, 0])
        hinge = m.revolute("hinge", m.ground, body, at=[0, 0, 0], axis=[0, 1, 0])
        m.prescribed_motion("drive", hinge, motion=law)
        m.joint_angle_rate("rate", hinge)
        m.reaction_force("reaction", hinge)
        m.simulation(end=1, step=1e-2, initial="project")
        return m

    def position(t):
        return 0.3 * math.sin(2 * t)

    called, traced = (run(model(law), integrator="rk44") for law in (position, lambda t: 0.3 * ld.sin(2 * t)))
    rates = np.max(np.abs(called["rate"] - traced["rate"]))
    forces = np.max(np.abs(called["reaction"] - traced["reaction"]))
    print(f"rate {rates:.1e} rad/s, reaction {forces:.1e} N")
    assert rates < 1e-8 and forces < 1e-4


def test_exceptions_of_a_law_reach_the_caller_and_the_next_run_works():
    class Broken(Exception):
        pass

    broken = True

    def law(angle, t):
        if broken and t > 0.5:
            raise Broken("the controller has no answer")
        return -30.0 * float(angle)

    model = with_effort(law).compile()
    with pytest.raises(Broken, match="no answer"):
        model.run()
    with pytest.raises(Broken):
        sim = model.simulation()
        sim.advance(1)
    broken = False
    assert model.run().completed


@pytest.mark.parametrize("value", [None, "5", [1, 2]])
def test_what_is_no_number_is_named(value):
    with pytest.raises(TypeError, match=r"'silent\w*' must return a number"):
        def silent(angle):
            if angle > -10:
                return value
            return 0
        run(with_effort(silent))


def test_not_a_number_stops_the_run_with_a_name():
    def law(angle, t):
        return math.nan if t > 0.2 else -float(angle)
    with pytest.warns(ld.NumericalWarning, match="motor"):
        result = ld.run(with_effort(law))
    assert not result.completed and result.time[-1] < 0.25


def test_functions_of_one_name_are_kept_apart():
    def make(stiffness):
        def spring(angle):
            return -stiffness * angle if angle > -100 else 0.0
        return spring

    soft, hard = with_effort(make(5)), with_effort(make(50))
    a, b = soft.to_json(), hard.to_json()
    assert a != b
    for model, stiffness in ((soft, 5), (hard, 50), (soft, 5)):
        wanted = run(with_effort(lambda angle, k=stiffness: -k * angle))["angle"]
        assert np.max(np.abs(run(model)["angle"] - wanted)) < 1e-9


def test_model_files_call_registered_functions():
    ld.register_function("grip", lambda depth, rate: -40 * depth - rate if depth > 0 else 0.0, 2)
    model = with_effort("grip(angle, rate) - 3*rate")
    wanted = with_effort(lambda angle, rate: ld.where(angle > 0, -40 * angle - rate, 0) - 3 * rate)
    assert np.max(np.abs(run(model)["angle"] - run(wanted)["angle"])) < 1e-8
    with pytest.raises(ld.InputError, match="reserved"):
        ld.register_function("sin", math.sin, 1)
    with pytest.raises(ld.InputError, match="letters"):
        ld.register_function("a b", math.sin, 1)
    with pytest.raises(ld.InputError, match="takes 2 arguments, got 1"):
        with_effort("grip(angle)").compile()
    with pytest.raises(ld.InputError, match="1 to 32"):
        ld.register_function("none", math.sin, 0)


def test_statics_modes_and_sweeps_call_them_too():
    def spring(angle):
        return -60 * math.sinh(float(angle))

    def model(law):
        m, _, hinge = arm()
        m.joint_effort("spring", hinge, effort=law)
        return m

    called, traced = model(spring), model(lambda angle: -60 * ld.sinh(angle))
    rest = [float(ld.static(each)["angle"]) for each in (called, traced)]
    assert rest[0] == pytest.approx(rest[1], abs=1e-10)
    found, wanted = (ld.modes(each, at="static").frequencies for each in (called, traced))
    assert found == pytest.approx(wanted, rel=1e-8)
    masses = [{"bodies.arm.mass": mass} for mass in (1.0, 1.5, 2.0, 2.5)]
    pairs = zip(ld.sweep(called, masses, threads=2), ld.sweep(traced, masses, threads=2))
    assert all(np.max(np.abs(a["angle"] - b["angle"])) < 1e-9 for a, b in pairs)


@pytest.mark.parametrize("wrong, message", [
    (lambda: ld.called(5), "expected a function"), (lambda: ld.called(controller, size=0), "at least 1"),
    (lambda: ld.called(controller, gradient=3), "expected a function"),
    (lambda: ld.called(controller, size=2, gradient=controller), "no single gradient"),
    (lambda: with_effort(ld.called(lambda: 3)), "needs an argument"),
    (lambda: with_effort(ld.called(lambda speed: 3)), "no parameter, state or sensor"),
    (lambda: with_effort(ld.called(lambda angle: 3, scales=[-1])), "positive scales"),
    (lambda: with_effort(ld.called(lambda angle: 3, scales=[1, 2])), "positive scales"),
])
def test_mistakes_have_messages(wrong, message):
    with pytest.raises(ld.InputError, match=message):
        wrong()


def test_what_a_call_costs():
    """Runs of one explicit method, with the law called and traced: the difference, divided by the number of calls."""
    calls = 0

    def law(angle, rate):
        nonlocal calls
        calls += 1
        return -30.0 * angle - 2.0 * rate

    models = [with_effort(ld.called(law)).compile(), with_effort(law).compile()]
    seconds = []
    for model in models:
        model.run(integrator="rk44", end=0.1)
        before = time.process_time()
        calls = 0
        model.run(integrator="rk44", end=5, step=1e-3)
        seconds.append((time.process_time() - before, calls))
    (called, count), (traced, none) = seconds
    assert none == 0 and count >= 20000
    cost = (called - traced) / count
    print(f"{1e6 * cost:.2f} microseconds per call, {count} calls")
    assert cost < 20e-6

"""Single steps, inputs, events, derivatives of steps and environments, as a program uses them; and misuse, which must not crash."""

import gc
import math
import random
import resource
import threading

import numpy as np
import pytest

import liedyn as ld

GRAVITY = 9.81


def ball(restitution: float = 0.9, **extra) -> dict:
    return {
        "liedyn": 1,
        "parameters": {"e": restitution},
        "gravity": [0, 0, -GRAVITY],
        "bodies": {"ball": {"type": "point", "mass": 1, "position": [0, 0, 1]}},
        "sensors": {"place": {"type": "position", "of": "ball"}, "speed": {"type": "velocity", "of": "ball"}},
        "events": {"bounce": {"when": "place[2]", "direction": "falling", "set": "sensors.speed[2] = -e*speed[2]"}},
        "simulation": {"end": 1, "step": 0.01, "integrator": "rk44"},
        **extra,
    }


def oscillator() -> dict:
    """m x'' + c x' + k x = u"""
    return {
        "liedyn": 1,
        "parameters": {"u": 0, "v": 0},
        "bodies": {"mass": {"type": "point", "mass": 2}},
        "sensors": {"x": {"type": "position", "of": "mass"}, "rate": {"type": "velocity", "of": "mass"}},
        "forces": {
            "spring": {"type": "force", "on": "mass", "force": ["-50*x[0] - 1.5*rate[0]", "-x[1]", "-x[2]"]},
            "push": {"type": "force", "on": "mass", "force": ["u", "v", 0]},
        },
        "simulation": {"end": 1, "step": 1e-3, "integrator": "dopri5"},
    }


def exponential(matrix: np.ndarray) -> np.ndarray:
    """By scaling, squaring and a Taylor series of 20 terms."""
    scale = max(0, math.ceil(math.log2(max(np.abs(matrix).sum(), 1e-30))) + 4)
    small, out, term = matrix / 2**scale, np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ small / k
        out = out + term
    return np.linalg.matrix_power(out, 2**scale)


@pytest.mark.parametrize("integrator", sorted(ld.integrators()))
def test_steps_pieces_and_run_give_the_same_bits(integrator):
    run = ld.run("heavy_top", integrator=integrator, step=1e-3, end=0.03)
    model = ld.Model("heavy_top")
    for pieces in ([0.03], [0.001, 0.007, 0.022], [0.01, 0.02]):
        sim = model.simulation(integrator=integrator, step=1e-3, end=0.03)
        for duration in pieces:
            sim.advance(duration)
        assert np.array_equal(sim["position"], run["position"][-1])
    sim = model.simulation(integrator=integrator, step=1e-3, end=0.03)
    sim.step(7)
    while sim.time < 0.03:
        sim.step()
    assert np.array_equal(sim["position"], run["position"][-1])
    with pytest.raises(ld.InputError, match="reached its end"):
        sim.step()


def test_response_to_held_inputs_is_that_of_the_matrix_exponential():
    sim = ld.Model(oscillator()).simulation(step=2e-3, inputs={"push": "u"})
    A, B = np.array([[0, 1], [-25, -0.75]]), np.array([[0], [0.5]])
    T = 0.02
    discrete = exponential(T * np.block([[A, B], [np.zeros((1, 3))]]))
    x = np.zeros(2)
    rng = np.random.default_rng(3)
    for _ in range(100):
        u = float(rng.normal())
        sim.set("push", u)
        sim.advance(T)
        x = discrete[:2, :2] @ x + discrete[:2, 2] * u
        assert sim["x"][0] == pytest.approx(x[0], abs=1e-10)
        assert sim["rate"][0] == pytest.approx(x[1], abs=1e-9)
    assert sim.inputs == {"push": u}


def test_response_to_linear_inputs_is_that_of_the_matrix_exponential():
    model = oscillator()
    model["parameters"] |= {"u_slope": 0, "u_since": 0}
    model["forces"]["push"]["force"] = ["u + u_slope*(t - u_since)", 0, 0]
    A, B = np.array([[0, 1], [-25, -0.75]]), np.array([[0], [0.5]])
    T = 0.02
    # The input and its slope are states of a larger system.
    large = np.zeros((4, 4))
    large[:2, :2], large[:2, 2:3], large[2, 3] = A, B, 1
    discrete = exponential(T * large)
    errors = []
    for integrator, step in (("dopri5", 2e-3), ("lms2", 2e-3), ("lms2", 1e-3), ("generalized-alpha", 2e-3), ("generalized-alpha", 1e-3)):
        sim = ld.Model(model).simulation(step=step, integrator=integrator)
        x, u = np.zeros(2), 0.0
        rng = np.random.default_rng(3)
        for _ in range(50):
            following = float(rng.normal())
            sim.set("u", following, over=T)
            sim.advance(T)
            x = (discrete @ np.array([*x, u, (following - u) / T]))[:2]
            u = following
        errors.append(abs(sim["x"][0] - x[0]))
    assert errors[0] < 1e-10
    assert errors[1] / errors[2] > 3.5  # a method of second order stays one
    assert errors[3] / errors[4] > 3.5
    with pytest.raises(ld.InputError, match="v_slope"):
        sim.set("v", 1, over=T)


def test_linearize_and_step_derivatives_belong_together():
    sim = ld.Model(oscillator()).simulation(step=1e-3, inputs={"push": "u"})
    sim.advance(0.1)
    space = sim.linearize("push", "x")
    assert sorted(np.linalg.eigvals(space.A).imag)[-1] == pytest.approx(math.sqrt(25 - 0.75**2 / 4), rel=1e-9)
    found = sim.step_derivatives()
    position, velocity = found.parts["position"], found.parts["velocity"]
    one = [position.start, velocity.start]
    exact = exponential(1e-3 * np.array([[0, 1, 0], [-25, -0.75, 0.5], [0, 0, 0]]))
    assert found.A[np.ix_(one, one)] == pytest.approx(exact[:2, :2], abs=1e-14)
    assert found.B[one, 0] == pytest.approx(exact[:2, 2], abs=1e-14)
    before = sim.state
    sim.set("push", 1e-3)
    sim.step()
    other = sim.state
    assert other.time == pytest.approx(before.time + 1e-3)
    assert not other.q.flags.writeable


def test_a_prediction_with_step_derivatives_is_the_change_of_the_state():
    model = ld.Model("heavy_top")
    sim = model.simulation(integrator="rk44", step=1e-3, inputs={"m": "bodies.top.mass"})
    sim.advance(0.05)
    B = sim.step_derivatives().B
    changed = sim.clone()
    d = 1e-4
    changed.set("m", sim.get("m") + d)
    changed.step()
    sim.step()
    assert (changed.state.v - sim.state.v) / d == pytest.approx(B[len(sim.state.v) :, 0], abs=1e-6)


def test_state_and_recording():
    sim = ld.Model(ball()).simulation()
    sim.record()
    sim.step(10)
    recorded = sim.recorded
    assert recorded["time"] == pytest.approx(np.arange(11) * 0.01)
    assert recorded["place"][:, 2] == pytest.approx(1 - GRAVITY / 2 * recorded["time"] ** 2)
    assert recorded["bounce"].shape == (11,)
    kept = sim.state
    sim.step()
    assert kept.v[2] == pytest.approx(-GRAVITY * 0.1)
    sim.record(0)
    sim.step(3)
    assert len(sim.recorded["time"]) == 0


def test_bouncing_ball_in_python_and_in_a_run():
    sim = ld.Model(ball(0.95)).simulation()
    sim.advance(until=8)
    speed = math.sqrt(2 * GRAVITY)
    t = speed / GRAVITY
    for time, name in sim.events:
        assert name == "bounce"
        assert time == pytest.approx(t, abs=1e-9)
        speed *= 0.95
        t += 2 * speed / GRAVITY
    assert t > 8
    result = ld.run(ball(0.95), end=8)
    assert result.completed
    assert result["place"][-1] == pytest.approx(sim["place"], abs=1e-12)


@pytest.mark.parametrize("integrator, order", [("generalized-alpha", 2), ("lms2", 2), ("rk44", 4), ("dopri5", 5)])
def test_a_hundred_impacts_keep_the_order(integrator, order):
    """An oscillator hits a wall where it is fastest: the impacts are half a period apart, whatever speed they leave."""
    model = {
        "liedyn": 1,
        "bodies": {"mass": {"type": "point", "mass": 1, "position": [1, 0, 0]}},
        "sensors": {"place": {"type": "position", "of": "mass"}, "speed": {"type": "velocity", "of": "mass"}},
        "forces": {"spring": {"type": "force", "on": "mass", "force": ["-(2*pi)^2*place[0]", 0, 0]}},
        "events": {"hit": {"when": "place[0]", "direction": "falling", "set": "sensors.speed[0] = -0.98*speed[0]"}},
    }
    errors = []
    for step in (0.02, 0.01) if order > 2 else (0.005, 0.0025):
        sim = ld.Model(model).simulation(integrator=integrator, step=step)
        sim.advance(until=50)
        assert len(sim.events) == 100
        errors.append(abs(sim.events[-1][0] - 99.5 / 2))
    assert math.log2(errors[0] / errors[1]) > order - 0.3


@pytest.mark.parametrize("formulation", sorted(set(ld.formulations()) - {"auto"}))
def test_an_impulse_satisfies_the_constraints(formulation):
    model = {
        "liedyn": 1,
        "gravity": [0, 0, -GRAVITY],
        "bodies": {"rod": {"type": "rigid", "mass": 2, "inertia": [0.2, 0.2, 0.01], "position": [0.5, 0, 0]}},
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "rod"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
        "sensors": {
            "angle": {"type": "joint_angle", "of": "hinge"},
            "rate": {"type": "joint_angle_rate", "of": "hinge"},
            "speed": {"type": "velocity", "of": "rod"},
        },
        "events": {"wall": {"when": "angle - 1", "set": "sensors.rate = -0.5*rate", "action": "stop"}},
    }
    sim = ld.Model(model, formulation=formulation).simulation(step=1e-3, integrator="rk44")
    sim.advance(2)
    # omega^2 = 2 m g s sin(angle)/(J + m s^2), before the wall
    before = math.sqrt(2 * 2 * GRAVITY * 0.5 * math.sin(1) / 0.7)
    assert sim.stopped_by == "wall"
    assert sim["angle"] == pytest.approx(1, abs=1e-10)
    assert sim["rate"] == pytest.approx(-0.5 * before, abs=1e-9)
    assert np.linalg.norm(sim["speed"]) == pytest.approx(0.25 * before, abs=1e-9)
    sim.advance(0.01)
    assert sim["angle"] < 1


@pytest.mark.parametrize("delay", [0, 0.01])
@pytest.mark.parametrize("integrator", ["generalized-alpha", "rk44", "lms3", "dopri5,adaptive=true"])
def test_a_sampled_pid_is_the_exact_discrete_system(integrator, delay):
    """m x'' = u moves along parabolas between the changes of u: every method is exact."""
    T, m = 0.02, 2
    model = {
        "liedyn": 1,
        "parameters": {"u": 0},
        "bodies": {"mass": {"type": "point", "mass": m, "position": [1, 0, 0]}},
        "forces": {"push": {"type": "force", "on": "mass", "force": ["u", 0, 0]}},
        "states": {"sum": {"type": "integral", "input": 0}},
        "sensors": {
            "place": {"type": "position", "of": "mass"},
            "speed": {"type": "velocity", "of": "mass"},
            "held": {"type": "state", "of": "sum"},
        },
        "events": {
            "law": {"value": "-40*place[0] - 14*speed[0] - 20*held", "into": "u", "every": T, "delay": delay},
            "integrator": {"value": "held + 0.02*place[0]", "into": "states.sum", "every": T},
        },
    }
    sim = ld.Model(model).simulation(step=2e-3, integrator=integrator)
    x, v, total, u = 1.0, 0.0, 0.0, 0.0
    for k in range(100):
        law = -40 * x - 14 * v - 20 * total
        total += T * x
        for duration, force in ((delay, u), (T - delay, law)):
            x += duration * v + duration**2 / 2 * force / m
            v += duration * force / m
        u = law
        sim.advance(until=(k + 1) * T)
        assert sim["place"][0] == pytest.approx(x, abs=1e-10)
        assert sim["speed"][0] == pytest.approx(v, abs=1e-10)


@pytest.mark.parametrize("integrator", sorted(ld.integrators()))
def test_pieces_and_checkpoints_with_events_give_the_same_bits(integrator):
    model = ld.Model(ball(0.8))
    whole, pieces, other = (model.simulation(integrator=integrator) for _ in range(3))
    whole.advance(until=2)
    for steps in (7, 38, 1, 60):
        pieces.advance(steps * 0.01)
    other.restore(pieces.save())
    copy = pieces.clone()
    for sim in (pieces, other, copy):
        sim.advance(until=2)
        assert len(sim.events) == 3
        for one, two in zip(sim.state, whole.state):
            assert np.array_equal(one, two)


def test_events_at_one_time_see_the_same_state():
    model = ball()
    model["bodies"]["other"] = dict(model["bodies"]["ball"])
    model["states"] = {"first": {"type": "integral", "input": 0}, "second": {"type": "integral", "input": 0}}
    model["sensors"] |= {
        "height": {"type": "position", "of": "other"},
        "n": {"type": "state", "of": "first"},
        "k": {"type": "state", "of": "second"},
    }
    model["events"] = {
        "one": {"when": "place[2]", "set": "states.first = n + 1"},
        "two": {"when": "height[2]", "set": "states.second = n + 10"},
    }
    sim = ld.Model(model).simulation()
    sim.advance(1)
    assert [name for _, name in sim.events] == ["one", "two"]
    assert sim.events[0][0] == sim.events[1][0]
    assert (sim["n"], sim["k"]) == (1, 10)


def test_until_ends_a_run():
    model = ball(simulation={"end": 3, "step": 0.01, "until": "place[2] - 0.5"})
    with pytest.warns(ld.NumericalWarning, match="'until' has ended the run"):
        result = ld.run(model)
    assert result.time[-1] == pytest.approx(math.sqrt(1 / GRAVITY), abs=1e-10)
    sim = ld.Model(model).simulation()
    sim.advance(3)
    assert sim.stopped_by == "until"
    sim.advance(0.01)
    assert sim.stopped_by is None


def test_events_in_a_builder():
    m = ld.Builder(gravity=[0, 0, -GRAVITY])
    thrown = m.point("ball", mass=1, position=[0, 0, 1])
    m.position("place", thrown)
    m.velocity("speed", thrown)
    m.event("bounce", when="place[2]", direction="falling", set="sensors.speed[2] = -0.9*speed[2]")
    sim = m.compile().simulation(step=0.01, integrator="rk44")
    sim.advance(1)
    assert sim.events[0][0] == pytest.approx(math.sqrt(2 / GRAVITY), abs=1e-10)


def test_events_without_end_and_derivatives_are_refused():
    sim = ld.Model(ball(0.5)).simulation()
    with pytest.raises(ld.NumericalError, match="'bounce' occurs again"):
        sim.advance(3)
    with pytest.raises(ld.InputError, match="cannot differentiate through the event 'bounce'"):
        ld.sensitivity(ball(), ["e"], end=0.1)
    with pytest.raises(ld.InputError, match="cannot differentiate through the event"):
        sim.step_derivatives(["e"])
    wrong = ball(events={"bounce": {"when": "place[2]", "set": "sensors.sped[2] = 0"}})
    with pytest.raises(ld.InputError, match="speed"):
        ld.Model(wrong)
    with pytest.raises(ld.InputError, match="event or sample"):
        ld.Model(ball(events={"bounce": {"type": "position", "of": "ball"}}))
    with pytest.raises(ld.InputError, match=r"events\.bounce\.when: 'plce\[2\]'"):
        ld.Model(ball(events={"bounce": {"when": "plce[2]", "action": "stop"}}))


def test_steps_are_counted_in_whole_numbers():
    sim = ld.Model(ball()).simulation()
    for wrong in (2.5, -1, "x", 10**30):
        with pytest.raises(ld.InputError, match="count: expected a whole number"):
            sim.step(wrong)
    sim.step(0)
    assert sim.time == 0
    sim.step(count=2)
    sim.step(np.int64(1))
    assert sim.time == pytest.approx(3 * 1e-2)


def test_a_relay_switches_a_force():
    model = oscillator()
    model["parameters"]["on"] = 1
    model["forces"]["push"]["force"] = ["10*on", 0, 0]
    model["events"] = {"off": {"when": "x[0] - 0.1", "direction": "rising", "set": "on = 0"}}
    sim = ld.Model(model).simulation()
    sim.advance(until=3)
    assert sim.get("on") == 0
    # x = 0.2 (1 - exp(-a t) (cos(w t) + a/w sin(w t))) until then
    a, w = 0.375, math.sqrt(25 - 0.375**2)
    t = sim.events[0][0]
    assert 0.2 * (1 - math.exp(-a * t) * (math.cos(w * t) + a / w * math.sin(w * t))) == pytest.approx(0.1, abs=1e-11)
    assert abs(sim["x"][0]) < 0.2


def test_checkpoints_of_another_layout_are_refused():
    sim = ld.Model(ball()).simulation()
    checkpoint = sim.save()
    assert checkpoint.startswith(b"liedyn checkpoint 8\n")
    with pytest.raises(ld.InputError, match="expected the layout 8, got the layout 1"):
        sim.restore(checkpoint.replace(b"checkpoint 8", b"checkpoint 1", 1))


def test_real_time():
    sim = ld.Model(ball()).simulation()
    calls = []
    late = sim.run_real_time(0.1, factor=2, period=0.02, callback=lambda s: calls.append(s.time))
    assert sim.time == pytest.approx(0.1)
    assert calls == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    assert late >= 0
    assert sim.real_time_factor > 1


def test_a_million_steps_take_no_memory():
    model = ball()
    del model["events"]
    sim = ld.Model(model).simulation(step=1e-4)
    sim.step(1000)
    for _ in range(1000):
        sim.step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sim.step(900_000)
    for _ in range(100_000):
        sim.step()
    assert sim.statistics["steps"] == 1_002_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # kB


def cart() -> ld.Environment:
    return ld.Environment(
        oscillator(),
        actions={"u": (-5, 5)},
        observations=["x", "rate"],
        period=0.02,
        duration=0.2,
        reward=lambda sim: -abs(sim["x"][0]),
        terminated=lambda sim: abs(sim["x"][0]) > 10,
        step=2e-3,
    )


def test_environment():
    env = cart()
    with pytest.raises(ld.InputError, match="reset"):
        env.step([0])
    observation, info = env.reset(seed=3)
    assert observation == pytest.approx(np.zeros(6))
    assert env.observation_space.contains(observation)
    assert env.action_space.contains(env.action_space.sample())
    for k in range(10):
        observation, reward, terminated, truncated, info = env.step([1.0])
        assert truncated == (k == 9)
        assert not terminated
    assert reward == pytest.approx(-abs(observation[0]))
    again, _ = env.reset()
    assert again == pytest.approx(np.zeros(6))
    with pytest.raises(ld.InputError, match="1 finite numbers"):
        env.step([1, 2])
    with pytest.raises(ld.InputError, match="bounds"):
        ld.Environment(oscillator(), actions={"u": (5, -5)}, period=0.1, reward=lambda sim: 0)


def test_an_environment_may_have_parameters_of_its_own():
    env = ld.Environment(oscillator(), actions={"u": (-1, 1)}, period=0.1, reward=lambda sim: 0, set={"u": 0.25}, randomize=lambda r: {"u": 0.5})
    env.reset(seed=1)
    assert env.simulation.get("u") == 0.5
    env.reset(options={"set": {"u": -0.5}})
    assert env.simulation.get("u") == -0.5


def test_environments_side_by_side_are_the_single_ones():
    envs, one = ld.VectorEnvironment(cart, 4, threads=2), cart()
    envs.reset(seed=1)
    one.reset(seed=1)
    actions = np.linspace(-3, 3, 4)[:, None]
    for _ in range(10):
        observations, rewards, terminated, truncated, _ = envs.step(actions)
    for _ in range(10):
        expected, reward, *_ = one.step(actions[2])
    assert np.array_equal(observations[2], expected)
    assert rewards[2] == reward
    assert truncated.all()
    observations, rewards, terminated, truncated, _ = envs.step(actions)
    assert not truncated.any()
    assert observations == pytest.approx(np.zeros((4, 6)))
    envs.close()


def test_another_thread_is_refused_while_a_call_lasts():
    sim = ld.Model("heavy_top").simulation(step=1e-5)
    refused = []

    def disturb():
        for _ in range(200):
            try:
                sim.step()
            except RuntimeError as error:
                refused.append(str(error))

    thread = threading.Thread(target=disturb)
    thread.start()
    for _ in range(20):
        try:
            sim.advance(0.01)
        except RuntimeError as error:
            refused.append(str(error))
    thread.join()
    assert all("in use" in message for message in refused)


@pytest.mark.filterwarnings("ignore")
def test_random_calls_raise_and_never_crash():
    """1000 sequences of calls in any order, with wrong arguments, from two threads, on copies and after deletion."""
    rng = random.Random(7)
    models = [ld.Model(ball()), ld.Model(oscillator()), ld.Model("heavy_top")]
    wrong = [None, -1, math.nan, math.inf, "x", [], 1e300, 10**400, b"", {}, object()]
    kept: list = []

    def value():
        return rng.choice([*wrong, 0, 0.001, 0.01, 1, 3])

    def calls(sim, other):
        return [
            lambda: sim.step(),
            lambda: sim.step(rng.choice([0, 1, 3, -1, "x", 2.5, 10**30])),
            lambda: sim.advance(value() if rng.random() < 0.3 else 0.003),
            lambda: sim.advance(until=value()),
            lambda: sim.set(rng.choice(["e", "u", "bodies.ball.mass", "nothing", 3]), value()),
            lambda: sim.get(rng.choice(["e", "u", "nothing", 3])),
            lambda: sim[rng.choice(["place", "x", "position", "nothing", 3])],
            lambda: sim.sensors(),
            lambda: kept.append(sim.save()) if len(kept) < 50 else kept.pop(0),
            lambda: sim.restore(rng.choice([*kept, b"", b"liedyn checkpoint 4\n", value()])),
            lambda: sim.restore((lambda b: b[: rng.randrange(len(b))])(sim.save())),
            lambda: other.restore(sim.save()),
            lambda: sim.clone().step(2),
            lambda: sim.state.q.sum(),
            lambda: sim.linearize(),
            lambda: sim.step_derivatives(rng.choice([(), ["u"], ["nothing"], 3, "e"]), whole=rng.choice([True, False, 3])),
            lambda: sim.record(rng.choice([0, 1, 2, -1, "x"])),
            lambda: sim.recorded["time"].sum(),
            lambda: (sim.events, sim.stopped_by, sim.warnings, sim.statistics, sim.time, repr(sim), sim.real_time_factor),
            lambda: sim.run_real_time(rng.choice([0.001, -1, "x"]), factor=1000, callback=rng.choice([None, lambda s: s.step(), 3])),
            lambda: type(sim).__new__(type(sim)).step(),
            lambda: type(sim)(rng.choice([None, 3, sim]), None, True, {}),
        ]

    for sequence in range(1000):
        model = rng.choice(models)
        sim = model.simulation(step=rng.choice([1e-3, 1e-2]), integrator=rng.choice(["rk44", "generalized-alpha", "lms2", "dopri5,adaptive=true"]))
        other = sim.clone()
        chosen = [rng.choice(calls(sim, other)) for _ in range(rng.randrange(1, 8))]

        def perform(some=chosen):
            for call in some:
                try:
                    call()
                except (ld.InputError, ld.NumericalError, RuntimeError, TypeError, ValueError, OverflowError, OSError, KeyError, IndexError, AttributeError):
                    pass

        if sequence % 10 == 0:
            threads = [threading.Thread(target=perform) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            perform()
        del sim, other, chosen
    gc.collect()


@pytest.mark.parametrize("formulation", ["r3so3", "se3", "minimal"])
def test_no_input_moves_a_body_at_once(formulation):
    """The place of a joint as an input: minimal coordinates, whose joints have no constraint equations, let the body jump by 0.12 m."""
    body = {"type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0]}
    model = {
        "liedyn": 1,
        "gravity": [0, 0, -9.81],
        "parameters": {"x": 0, "load": 0},
        "bodies": {"arm": body},
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": ["x", 0, 0], "axis": [0, 1, 0]}},
        "forces": {"load": {"type": "force", "on": "arm", "force": ["load", 0, 0]}},
        "sensors": {"place": {"type": "position", "of": "arm"}, "energy": {"type": "energy"}},
        "simulation": {"end": 1, "step": 1e-3},
    }
    sim = ld.Model(model, formulation=formulation).simulation()
    sim.advance(0.3)
    before = sim["place"].copy()
    with pytest.raises(ld.InputError, match="cannot jump"):
        sim.set("x", 0.2)
    sim.set("load", 3)
    np.testing.assert_array_equal(sim["place"], before)
    model["events"] = {"late": {"when": "t - 0.3", "set": "x = 0.2"}}
    with pytest.raises(ld.InputError, match="cannot jump"):
        ld.run(model, formulation=formulation)


def test_a_latch_opens():
    """A rod falls from the horizontal; its hinge opens at 1 rad. Then it flies: a parabola, and a constant angular velocity."""
    m, s, J, g, end = 2, 0.5, 0.2, 9.81, 0.8
    model = {
        "liedyn": 1,
        "gravity": [0, 0, -g],
        "bodies": {"rod": {"type": "rigid", "mass": m, "inertia": [0.2, J, 0.01], "position": [s, 0, 0]}},
        "joints": {"hinge": {"type": "revolute", "between": ["ground", "rod"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
        "sensors": {
            "angle": {"type": "joint_angle", "of": "hinge"},
            "place": {"type": "position", "of": "rod"},
            "force": {"type": "reaction_force", "of": "hinge"},
            "energy": {"type": "energy"},
        },
        "events": {"open": {"when": "angle - 1", "set": "joints.hinge = 0"}},
        "simulation": {"end": end, "step": 1e-3, "integrator": "rk44"},
    }
    rate = np.sqrt(2 * m * g * s * np.sin(1) / (J + m * s**2))
    for formulation in ("r3so3", "minimal"):
        result = ld.run(model, formulation=formulation)
        sim = ld.Model(model, formulation=formulation).simulation()
        sim.advance(until=0.5)
        assert sim.released_joints == ["hinge"]
        with pytest.raises(ld.InputError, match="released" if formulation == "r3so3" else "absolute coordinates"):
            sim.linearize()
        other = ld.Model(model, formulation=formulation).simulation()
        other.restore(sim.save())
        assert other.released_joints == ["hinge"]
        other.advance(until=end)
        ((opened, name),) = sim.events
        after = end - opened
        exact = [s * np.cos(1) - rate * s * np.sin(1) * after, 0, -s * np.sin(1) - rate * s * np.cos(1) * after - g / 2 * after**2]
        assert name == "open"
        np.testing.assert_allclose(result["place"][-1], exact, atol=1e-9)
        np.testing.assert_array_equal(other["place"], result["place"][-1])
        np.testing.assert_array_equal(result["force"][-1], 0)
        np.testing.assert_allclose(result["energy"], result["energy"][0], atol=1e-8)
        assert result.summary["constraint_residual"]["position"] < 1e-9


def test_a_parameter_that_places_bodies_is_not_set_during_a_run():
    """Points of forces are given where the bodies are at the start: they would move in their bodies."""
    model = {
        "liedyn": 1,
        "gravity": [0, 0, -9.81],
        "parameters": {"x": 1, "load": 2},
        "bodies": {"b": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": ["x", 0, 0]}},
        "forces": {"push": {"type": "force", "on": "b", "at": [1.5, 0, 0], "force": ["load*x", 0, 0]}},
        "sensors": {"place": {"type": "position", "of": "b"}},
        "simulation": {"end": 1, "step": 1e-2},
    }
    sim = ld.Model(model).simulation()
    sim.advance(0.1)
    sim.set("load", 3)
    with pytest.raises(ld.InputError, match=r"'bodies.b.position\[0\]' depends on it, which would move points"):
        sim.set("x", 2)
    assert sim.get("x") == 1
    del model["forces"]["push"]["at"]  # at the reference point, wherever the body is
    sim = ld.Model(model).simulation()
    sim.advance(0.1)
    sim.set("x", 2)
    with pytest.raises(ld.InputError, match="which would move points"):
        ld.run(model | {"forces": {"push": {"type": "force", "on": "b", "at": [1.5, 0, 0], "force": ["x", 0, 0]}},
                        "events": {"late": {"when": "t - 0.1", "set": "x = 2"}}})

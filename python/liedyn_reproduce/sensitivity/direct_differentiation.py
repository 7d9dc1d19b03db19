"""The paper's three algorithms for the heavy top and their direct differentiation, written down from its equations.

Plain numpy, independent of the engine: it is here for the simplified derivatives of Table 4, which the engine, whose
derivatives are exact, does not have. Without simplification tests hold it against the engine. The equation numbers are
those of Brüls and Eberhard.

A coordinate vector has six numbers: the place x of the centre of mass and the rotation, phi (conformal rotation vector,
relative to the reference at the beginning of the step) or psi (rotation vector of the increment). The multipliers stand
beside it, without inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from liedyn_reproduce.small import CENTRE, GRAVITY, INERTIA, MASS, Alpha, exponential, tilde

SPIN = np.array([0, 150, -4.61538])
X, ROTATION = slice(0, 3), slice(3, 6)
EYE = np.eye(3)
MOST_ITERATIONS = 20


@dataclass(frozen=True)
class Simplification:
    """What the derivatives leave out or change; the motion itself is never touched."""

    reference_free: bool = False
    """W_ref = 0 at all times: the derivatives are carried over by (97) to (99) instead of (96)."""
    without_k_g: frozenset[str] = frozenset()
    """Where the operator k_G v = (DT^T . v) G is left out: in `k_t` of (65); in `k_a` of (72), which has it for the forces
    J T phi''; in the `update` of g_alpha' by (96), where (T^-T)' g_alpha = -T^-T k_G(phi, T^-T g_alpha) phi'."""
    symmetric: bool = False
    """(K_t + K_t^T)/2 for K_t of (55)."""


EXACT = Simplification()

# ---- the conformal rotation vector


def conformal(c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R(c) of (37) and T(c) of (38), with c_0 = 2 - |c|^2/8."""
    c0 = 2 - c @ c / 8
    outer, spin = np.outer(c, c), tilde(c)
    rotation = ((c0**2 + 8 * c0 - 16) * EYE + 2 * outer + 2 * c0 * spin) / (4 - c0) ** 2
    return rotation, 2 / (4 - c0) ** 2 * (c0 * EYE + outer / 4 - spin)


def t_along(c: np.ndarray, v: np.ndarray) -> np.ndarray:
    """DT . v, (119)."""
    c0 = 2 - c @ c / 8
    part = (np.outer(c, v) + np.outer(v, c)) / 4 - tilde(v)
    whole = (2 + c0 / 2) * EYE + np.outer(c, c) / 4 - tilde(c)
    return 2 / (4 - c0) ** 2 * part - c @ v / (4 - c0) ** 3 * whole


def t_along_twice(c: np.ndarray, v: np.ndarray, w: np.ndarray, v_along_w: np.ndarray) -> np.ndarray:
    """D(DT . v) . w of Appendix A, where v itself has the derivative Dv . w."""
    c0 = 2 - c @ c / 8
    u = v_along_w
    mixed = (np.outer(w, v) + np.outer(v, w) + np.outer(c, u) + np.outer(u, c)) / 4 - tilde(u)
    part_v = (np.outer(c, v) + np.outer(v, c)) / 4 - tilde(v)
    part_w = (np.outer(c, w) + np.outer(w, c)) / 4 - tilde(w) - c @ w / 8 * EYE
    whole = (2 + c0 / 2) * EYE + np.outer(c, c) / 4 - tilde(c)
    weight = 0.75 * (c @ v) * (c @ w) / (4 - c0) - w @ v - c @ u
    return 2 / (4 - c0) ** 2 * mixed + (-(c @ w) * part_v - c @ v * part_w + weight * whole) / (4 - c0) ** 3


def k_g(c: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The matrix of v -> (DT^T . v) G, (121)."""
    c0 = 2 - c @ c / 8
    first = (np.outer(c, g) + c @ g * EYE) / 4 - tilde(g)
    second = np.outer((2 + c0 / 2) * g + c @ g / 4 * c + np.cross(c, g), c)
    return 2 / (4 - c0) ** 2 * first - second / (4 - c0) ** 3


# ---- the equations of motion (109) to (111) and their derivatives


class Balance(NamedTuple):
    """Forces, constraints and their tangents at the end of a step, all in the coordinates of the form."""

    f_a: np.ndarray
    """Forces of the accelerations, (71)."""
    f_c: np.ndarray
    """All others, the constraint forces among them, (70)."""
    gap: np.ndarray
    """-x + R X, (111)."""
    j: np.ndarray
    c_t: np.ndarray
    k_t: np.ndarray
    k_a: np.ndarray
    b: np.ndarray
    """Derivative of the forces with respect to the multipliers."""
    gap_q: np.ndarray
    f_ref: np.ndarray
    """Derivatives with respect to W_ref, of the forces (g_ref of (69)) and of the gap."""
    gap_ref: np.ndarray


Equations = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], Balance]
"""Of the increment of the coordinates in the step, the velocity, the acceleration and the multipliers."""


def tangents(r: np.ndarray, omega: np.ndarray, force: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """C_t and K_t of (55), with f = -lambda."""
    stiffness = tilde(CENTRE) @ tilde(r.T @ force)
    if symmetric:
        stiffness = (stiffness + stiffness.T) / 2
    return tilde(omega) @ INERTIA - tilde(INERTIA @ omega), stiffness


def in_parameters(mass: float, place: np.ndarray, reference: np.ndarray, simplified: Simplification = EXACT) -> Equations:
    """The equations (59), from the place and the orientation at the beginning of the step, where phi = 0."""

    def balance(q: np.ndarray, v: np.ndarray, a: np.ndarray, force: np.ndarray) -> Balance:
        phi, rate, acceleration = q[ROTATION], v[ROTATION], a[ROTATION]
        r_inc, t = conformal(phi)
        r = reference @ r_inc
        t_dot = t_along(phi, rate)
        t_ddot = t_along_twice(phi, rate, rate, acceleration)
        omega, omega_dot = t @ rate, t @ acceleration + t_dot @ rate  # (29), (32)
        c, k = tangents(r, omega, force, simplified.symmetric)
        j = t.T @ INERTIA @ t  # (67)
        arm = tilde(CENTRE) @ r.T
        # (110); the part J T phi'' of it is f_a of (71).
        g_c = INERTIA @ t_dot @ rate + np.cross(omega, INERTIA @ omega) + arm @ force
        g = INERTIA @ t @ acceleration + g_c
        spin, spin_dot = tilde(omega), tilde(omega_dot)
        # (65), where the dot of Omega-dot is hard to read: from (62) it is J Omega-dot~ T.
        k_t = t.T @ (INERTIA @ (t_ddot + spin @ t_dot + spin_dot @ t) + c @ (t_dot + spin @ t) + k @ t)
        if "k_t" not in simplified.without_k_g:
            k_t = k_t + k_g(phi, g)
        c_t = t.T @ (INERTIA @ (2 * t_dot + spin @ t) + c @ t)  # (66)
        # (72): Dj . v = (DT . v)^T J T + T^T J (DT . v).
        along = np.column_stack([t_along(phi, e) @ acceleration for e in EYE])
        k_a = t.T @ INERTIA @ along
        if "k_a" not in simplified.without_k_g:
            k_a = k_a + k_g(phi, INERTIA @ t @ acceleration)
        return Balance(
            f_a=np.concatenate([mass * a[X], j @ acceleration]),
            f_c=np.concatenate([-mass * GRAVITY - force, t.T @ g_c]),
            gap=-(place + q[X]) + r @ CENTRE,
            j=blocks(mass * EYE, j),
            c_t=blocks(0 * EYE, c_t),
            k_t=blocks(0 * EYE, k_t),
            k_a=blocks(0 * EYE, k_a),
            b=np.vstack([-EYE, t.T @ arm]),
            gap_q=np.hstack([-EYE, arm.T @ t]),
            f_ref=np.vstack([0 * EYE, t.T @ k @ r_inc.T]),
            gap_ref=arm.T @ r_inc.T,
        )

    return balance


def on_the_group(mass: float, place: np.ndarray, reference: np.ndarray, simplified: Simplification = EXACT) -> Equations:
    """The equations (101), with R = R_n exp(psi) of (102); K_t acts on T(psi) psi' by (107)."""

    def balance(q: np.ndarray, v: np.ndarray, a: np.ndarray, force: np.ndarray) -> Balance:
        omega = v[ROTATION]
        r_inc, t = exponential(q[ROTATION])
        r = reference @ r_inc
        c, k = tangents(r, omega, force, simplified.symmetric)
        arm = tilde(CENTRE) @ r.T
        return Balance(
            f_a=np.concatenate([mass * a[X], INERTIA @ a[ROTATION]]),
            f_c=np.concatenate([-mass * GRAVITY - force, np.cross(omega, INERTIA @ omega) + arm @ force]),
            gap=-(place + q[X]) + r @ CENTRE,
            j=blocks(mass * EYE, INERTIA),
            c_t=blocks(0 * EYE, c),
            k_t=blocks(0 * EYE, k @ t),
            k_a=np.zeros((6, 6)),
            b=np.vstack([-EYE, arm]),
            gap_q=np.hstack([-EYE, arm.T @ t]),
            f_ref=np.vstack([0 * EYE, k @ r_inc.T]),
            gap_ref=arm.T @ r_inc.T,
        )

    return balance


def blocks(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    out = np.zeros((6, 6))
    out[X, X], out[ROTATION, ROTATION] = first, second
    return out


def differentiated(at: Balance, a: np.ndarray, begin: Derivative) -> Equations:
    """The derivatives of forces and constraints with respect to the mass: linear equations with the same tangents.

    `at`, `a`: forces and acceleration of the motion at the end of the step.
    """

    def balance(dq: np.ndarray, dv: np.ndarray, da: np.ndarray, dforce: np.ndarray) -> Balance:
        d = begin.q + dq
        f_a = at.j @ da + at.k_a @ d  # (74)
        f_c = at.c_t @ dv + (at.k_t - at.k_a) @ d + at.f_ref @ begin.w_ref + at.b @ dforce  # (76)
        # The mass itself stands in (109) alone.
        f_a[X] += a[X]
        f_c[X] -= GRAVITY
        return at._replace(f_a=f_a, f_c=f_c, gap=at.gap_q @ d + at.gap_ref @ begin.w_ref)

    return balance


# ---- Algorithms 2 to 4


class Rates(NamedTuple):
    """What a step hands to the next beside the place: of the motion, or the derivatives of all this."""

    v: np.ndarray
    acceleration: np.ndarray
    """a in the residual form, phi'' in the linear, Omega' in the geometric one."""
    memory: np.ndarray
    """g_alpha of (84) in the residual form, a of (88) in the linear, A of (105) in the geometric one."""
    multiplier: np.ndarray


class Step(NamedTuple):
    """Of the motion, or the derivatives of all this."""

    q: np.ndarray
    """Increment of the coordinates."""
    rates: Rates
    """At the end, before the update of the reference."""


def solved(
    matrix: np.ndarray, at: Balance, residual: np.ndarray, scale: float, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's corrections of coordinates and multipliers; `weight` is that of b lambda in the residual.

    Constraints and multipliers are scaled as the inertia is, by 1/(beta h^2), for the sake of the condition.
    """
    s = np.zeros((9, 9))
    s[:6, :6], s[:6, 6:], s[6:, :6] = matrix, scale * weight * at.b, scale * at.gap_q
    solution = -np.linalg.solve(s, np.concatenate([residual, scale * at.gap]))
    return solution[:6], scale * solution[6:]


def is_converged(change: np.ndarray, whole: np.ndarray) -> bool:
    """Newton's method is quadratic: after a relative change of 1e-9 the next would be of the size of round-off."""
    return bool(np.linalg.norm(change) <= 1e-9 * np.linalg.norm(whole))


def residual_alpha(p: Alpha, h: float, start: Rates, equations: Equations) -> Step:
    """Algorithm 2. Constraint forces are averaged as the other forces are."""
    q = h * start.v + h**2 * (0.5 - p.beta) * start.acceleration
    v = start.v + h * (1 - p.gamma) * start.acceleration
    a, force = np.zeros(6), start.multiplier
    for _ in range(MOST_ITERATIONS):
        at = equations(q, v, a, force)
        residual = (1 - p.alpha_m) * at.f_a + (1 - p.alpha_f) * at.f_c + start.memory  # (79)
        matrix = (1 - p.alpha_m) * (at.j / (p.beta * h**2) + at.k_a)
        matrix += (1 - p.alpha_f) * (p.gamma / (p.beta * h) * at.c_t + at.k_t - at.k_a)
        dq, dforce = solved(matrix, at, residual, 1 / (p.beta * h**2), 1 - p.alpha_f)
        q, v, a, force = q + dq, v + p.gamma / (p.beta * h) * dq, a + dq / (p.beta * h**2), force + dforce
        if is_converged(dq, q):
            return Step(q, Rates(v, a, averaged(p, equations(q, v, a, force)), force))
    raise ArithmeticError(f"Newton's method does not converge in {MOST_ITERATIONS} iterations, residual form, h = {h:g}")


def averaged(p: Alpha, at: Balance) -> np.ndarray:
    """g_alpha, (84)."""
    return p.alpha_m * at.f_a + p.alpha_f * at.f_c


def linear_alpha(p: Alpha, h: float, start: Rates, equations: Equations) -> Step:
    """Algorithms 3 and 4, which differ in their equations only (Table 1)."""
    share = (1 - p.alpha_m) / (1 - p.alpha_f)
    q = h * start.v + h**2 * (0.5 - p.beta) * start.memory
    v = start.v + h * (1 - p.gamma) * start.memory
    known = (p.alpha_f * start.acceleration - p.alpha_m * start.memory) / (1 - p.alpha_m)  # (88), (105)
    q, v = q + p.beta * h**2 * known, v + p.gamma * h * known
    a, force = np.zeros(6), start.multiplier
    for _ in range(MOST_ITERATIONS):
        at = equations(q, v, a, force)
        matrix = share / (p.beta * h**2) * at.j + p.gamma / (p.beta * h) * at.c_t + at.k_t
        dq, dforce = solved(matrix, at, at.f_a + at.f_c, 1 / (p.beta * h**2), 1)
        q, v, a, force = q + dq, v + p.gamma / (p.beta * h) * dq, a + share / (p.beta * h**2) * dq, force + dforce
        if is_converged(dq, q):
            return Step(q, Rates(v, a, known + a / share, force))
    raise ArithmeticError(f"Newton's method does not converge in {MOST_ITERATIONS} iterations, h = {h:g}")


# ---- from step to step


class Motion(NamedTuple):
    place: np.ndarray
    orientation: np.ndarray
    """R_ref: that at the beginning of the step."""
    rates: Rates


class Derivative(NamedTuple):
    """Of a motion with respect to the mass."""

    q: np.ndarray
    """x', and phi' at the beginning of the step, which is zero but for the reference-free update."""
    w_ref: np.ndarray
    rates: Rates


def start_of(mass: float) -> tuple[Motion, Derivative]:
    """(112), (113) and their derivatives (116), (117); lambda_0 from (109). The memory is a_0 = phi''_0 or A_0 = Omega'_0."""
    arm = tilde(CENTRE)
    about_pivot = INERTIA - mass * arm @ arm
    omega_dot = np.linalg.solve(about_pivot, np.cross(CENTRE, mass * GRAVITY) - np.cross(SPIN, about_pivot @ SPIN))
    x_dot = np.cross(SPIN, CENTRE)
    x_ddot = np.cross(omega_dot, CENTRE) + np.cross(SPIN, x_dot)
    load = np.cross(CENTRE, GRAVITY) + arm @ arm @ omega_dot + np.cross(SPIN, arm @ arm @ SPIN)
    d_omega_dot = np.linalg.solve(about_pivot, load)
    d_x_ddot = np.cross(d_omega_dot, CENTRE)
    # At phi = 0: T = 1 and (DT . phi') phi' = 0, so that phi' = Omega, phi'' = Omega'.
    v, a, da = (np.concatenate(pair) for pair in ((x_dot, SPIN), (x_ddot, omega_dot), (d_x_ddot, d_omega_dot)))
    force, dforce = mass * (x_ddot - GRAVITY), x_ddot - GRAVITY + mass * d_x_ddot
    motion = Motion(CENTRE, EYE, Rates(v, a, a, force))
    return motion, Derivative(np.zeros(6), np.zeros(3), Rates(np.zeros(6), da, da, dforce))


def with_rotation(vector: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    return np.concatenate([vector[X], rotation])


class OnTheGroup:
    """The geometric form."""

    algorithm = staticmethod(linear_alpha)
    equations = staticmethod(on_the_group)

    def start(self, p: Alpha, mass: float) -> tuple[Motion, Derivative]:
        return start_of(mass)

    def after(self, begin: Motion, step: Step) -> Motion:
        """(102). Omega, Omega' and A are carried on as they are."""
        return Motion(begin.place + step.q[X], begin.orientation @ exponential(step.q[ROTATION])[0], step.rates)

    def derivative_after(
        self, simplified: Simplification, step: Step, after: Rates, begin: Derivative, dstep: Step
    ) -> Derivative:
        """(108)."""
        r_inc, t = exponential(step.q[ROTATION])
        w = r_inc.T @ begin.w_ref + t @ dstep.q[ROTATION]
        return Derivative(with_rotation(begin.q + dstep.q, np.zeros(3)), w, dstep.rates)


@dataclass(frozen=True)
class InParameters:
    """The linear and the residual form."""

    residual: bool
    equations = staticmethod(in_parameters)

    @property
    def algorithm(self) -> Callable[[Alpha, float, Rates, Equations], Step]:
        return residual_alpha if self.residual else linear_alpha

    def start(self, p: Alpha, mass: float) -> tuple[Motion, Derivative]:
        motion, derivative = start_of(mass)
        if not self.residual:
            return motion, derivative
        (v, a, _, force), (dv, da, _, dforce) = motion.rates, derivative.rates
        at = in_parameters(mass, CENTRE, EYE)(np.zeros(6), v, a, force)
        d_at = differentiated(at, a, derivative)(np.zeros(6), dv, da, dforce)
        return (
            motion._replace(rates=Rates(v, a, averaged(p, at), force)),
            derivative._replace(rates=Rates(dv, da, averaged(p, d_at), dforce)),
        )

    def after(self, begin: Motion, step: Step) -> Motion:
        """The update of the reference, (91) to (95)."""
        rates = step.rates
        phi, rate = step.q[ROTATION], rates.v[ROTATION]
        r_inc, t = conformal(phi)
        t_dot = t_along(phi, rate)

        def acceleration(a: np.ndarray) -> np.ndarray:
            return with_rotation(a, t @ a[ROTATION] + t_dot @ rate)  # (93), (94)

        def covector(g: np.ndarray) -> np.ndarray:
            return with_rotation(g, np.linalg.solve(t.T, g[ROTATION]))  # (95)

        memory = (covector if self.residual else acceleration)(rates.memory)
        updated = Rates(with_rotation(rates.v, t @ rate), acceleration(rates.acceleration), memory, rates.multiplier)
        return Motion(begin.place + step.q[X], begin.orientation @ r_inc, updated)

    def derivative_after(
        self, simplified: Simplification, step: Step, after: Rates, begin: Derivative, dstep: Step
    ) -> Derivative:
        """The derivative of the update: (96), or reference-free by (97) to (99). `after`: the rates after the update."""
        d, drates = begin.q + dstep.q, dstep.rates
        phi, dphi = step.q[ROTATION], d[ROTATION]
        (rate, a, memory, _), (drate, da, dmemory) = step.rates, drates[:3]
        rate, a, memory, drate, da, dmemory = (x[ROTATION] for x in (rate, a, memory, drate, da, dmemory))
        keeps_k_g = "update" not in simplified.without_k_g
        r_inc, t = conformal(phi)
        dt, t_dot = t_along(phi, dphi), t_along(phi, rate)
        rest = t_dot @ drate + t_along_twice(phi, rate, dphi, drate) @ rate
        # W, Omega', and the derivatives of the angular acceleration and of the memory: (96), (98), (99).
        w = r_inc.T @ begin.w_ref + t @ dphi
        d_omega = t @ drate + dt @ rate
        d_acceleration = t @ da + dt @ a + rest
        if self.residual:
            turned = k_g(phi, np.linalg.solve(t.T, memory)) @ dphi if keeps_k_g else 0
            d_memory = np.linalg.solve(t.T, dmemory - turned)
        else:
            d_memory = t @ dmemory + dt @ memory + rest
        d_phi, w_ref = np.zeros(3), w
        if simplified.reference_free:
            # The same relations, solved for the derivatives of the coordinates at phi = 0, where T = 1 and phi' = W.
            zero = np.zeros(3)
            d_phi, w_ref = w, zero
            rate, a, memory = (x[ROTATION] for x in after[:3])
            dt, t_dot = t_along(zero, w), t_along(zero, rate)
            d_omega = d_omega - dt @ rate
            rest = t_dot @ d_omega + t_along_twice(zero, rate, w, d_omega) @ rate
            d_acceleration = d_acceleration - dt @ a - rest
            if self.residual:
                d_memory = d_memory + (k_g(zero, memory) @ w if keeps_k_g else 0)
            else:
                d_memory = d_memory - dt @ memory - rest
        updated = Rates(
            with_rotation(drates.v, d_omega),
            with_rotation(drates.acceleration, d_acceleration),
            with_rotation(drates.memory, d_memory),
            drates.multiplier,
        )
        return Derivative(with_rotation(d, d_phi), w_ref, updated)


FORMS = {"residual": InParameters(residual=True), "linear": InParameters(residual=False), "geometric": OnTheGroup()}


def run(
    form: str,
    h: float,
    end: float,
    simplifications: Sequence[Simplification] = (EXACT,),
    *,
    mass: float = MASS,
    rho: float = 0.8,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The place at the end, and its derivative with respect to the mass for each simplification."""
    p, method = Alpha(rho), FORMS[form]
    motion, derivative = method.start(p, mass)
    derivatives = [derivative] * len(simplifications)
    for _ in range(round(end / h)):
        begin = motion
        step = method.algorithm(p, h, begin.rates, method.equations(mass, begin.place, begin.orientation))
        motion = method.after(begin, step)
        v, a, _, force = step.rates
        for i, (simplified, before) in enumerate(zip(simplifications, derivatives)):
            at = method.equations(mass, begin.place, begin.orientation, simplified)(step.q, v, a, force)
            dstep = method.algorithm(p, h, before.rates, differentiated(at, a, before))
            derivatives[i] = method.derivative_after(simplified, step, motion.rates, before, dstep)
    return motion.place, [derivative.q[X] for derivative in derivatives]


def multipliers(form: str, h: float, end: float, *, rho: float = 0.8, consistent: bool = True) -> np.ndarray:
    """lambda over time, rows by step. (112) and (113) list all initial values but lambda_0; else it is zero."""
    p, method = Alpha(rho), FORMS[form]
    motion, _ = method.start(p, MASS)
    if not consistent:
        v, a, memory, _ = motion.rates
        if form == "residual":
            memory = averaged(p, in_parameters(MASS, CENTRE, EYE)(np.zeros(6), v, a, np.zeros(3)))
        motion = motion._replace(rates=Rates(v, a, memory, np.zeros(3)))
    rows = [motion.rates.multiplier]
    for _ in range(round(end / h)):
        step = method.algorithm(p, h, motion.rates, method.equations(MASS, motion.place, motion.orientation))
        motion = method.after(motion, step)
        rows.append(motion.rates.multiplier)
    return np.array(rows)

"""Generalised-alpha written down directly from the report, for what the engine does not have or does not record.

The scalar problem with the constraint q = t^3/6, the pendulum and the heavy top with modified starting values a_0
alone, and the auxiliary variables eta of the stabilised form. Plain numpy, a few lines per method, independent of the
engine: where both can do a case, figures and tests compare them. The equation numbers are those of Arnold, Cardona,
Brüls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Alpha:
    """Parameters (42) of Chung and Hulbert."""

    rho: float

    @property
    def alpha_m(self) -> float:
        return (2 * self.rho - 1) / (self.rho + 1)

    @property
    def alpha_f(self) -> float:
        return self.rho / (self.rho + 1)

    @property
    def delta(self) -> float:
        """The shift of a_n: it approximates vdot(t_n + delta h), (41)."""
        return self.alpha_m - self.alpha_f

    @property
    def gamma(self) -> float:
        return 0.5 - self.delta

    @property
    def beta(self) -> float:
        return 0.25 * (self.gamma + 0.5) ** 2

    @property
    def c_q(self) -> float:
        """Coefficient of h^3 vddot in the local error of q, (40a)."""
        return (1 - 6 * self.beta - 3 * self.delta) / 6


def error_constants(rho: float, count: int) -> np.ndarray:
    """c_0 .. c_{count-1} of (53): the multiplier's error is c_n h vddot(t_0) + O(h^2)."""
    n = np.arange(count)
    powers = (-rho) ** np.arange(-2.0, count - 2)
    bracket = n / 2 * (n - 1) * (rho**2 - 1) * powers + n * (2 - rho) * powers * -rho
    return Alpha(rho).c_q * (1 + rho) ** 2 * bracket


def amplification_at_infinity(rho: float) -> np.ndarray:
    """T_infinity = (T+)^-1 T0 for h omega -> infinity, the matrices before (42)."""
    p = Alpha(rho)
    plus = np.array([[0, 0, -p.beta], [0, 1, -p.gamma], [1 - p.alpha_f, 0, 1 - p.alpha_m]])
    zero = np.array([[0, 1, 0.5 - p.beta], [0, 1, 1 - p.gamma], [-p.alpha_f, 0, -p.alpha_m]])
    return np.linalg.solve(plus, zero)


def cubic_constraint(rho: float, h: float, count: int) -> np.ndarray:
    """lambda_0 .. lambda_{count-1} for qddot = -lambda, q = t^3/6; exact starting values, a_0 = vdot(delta h)."""
    p = Alpha(rho)
    q, v, vdot, a = 0.0, 0.0, 0.0, p.delta * h
    multipliers = [0.0]
    for n in range(1, count):
        new_q = (n * h) ** 3 / 6
        new_a = (new_q - q - h * v - (0.5 - p.beta) * h**2 * a) / (p.beta * h**2)
        vdot = ((1 - p.alpha_m) * new_a + p.alpha_m * a - p.alpha_f * vdot) / (1 - p.alpha_f)
        q, v, a = new_q, v + h * ((1 - p.gamma) * a + p.gamma * new_a), new_a
        multipliers.append(-vdot)
    return np.array(multipliers)


def pendulum(x0: float, rho: float, h: float, count: int, *, shifted: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places and multipliers of Example 3.2 (m = l = 1), index 3; `shifted`: a_0 = vdot(t_0) + delta h vddot(t_0)."""
    p = Alpha(rho)
    gravity = np.array([0, -9.81])

    def acceleration(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        multiplier = (v @ v + q @ gravity) / (q @ q)
        return gravity - q * multiplier, multiplier

    y0 = -np.sqrt(1 - x0**2)
    speed = np.sqrt(1 - 2 * 9.81 * (1 + y0))
    q, v = np.array([x0, y0]), speed * np.array([-y0, x0])
    vdot, multiplier = acceleration(q, v)
    a = vdot
    if shifted:
        d = 0.1 * h
        ahead, _ = acceleration(q + d * v + d**2 / 2 * vdot, v + d * vdot)
        behind, _ = acceleration(q - d * v + d**2 / 2 * vdot, v - d * vdot)
        a = vdot + p.delta * h * (ahead - behind) / (2 * d)
    places, multipliers = [q], [multiplier]
    share = (1 - p.alpha_f) / (1 - p.alpha_m)
    for _ in range(1, count):
        known = (p.alpha_f * vdot - p.alpha_m * a) / (1 - p.alpha_m)
        base = q + h * v + h**2 * ((0.5 - p.beta) * a + p.beta * (known + share * gravity))
        # q_{n+1} = base - k q_{n+1} lambda with q_{n+1} on the circle: q_{n+1} is base, scaled to the length 1.
        k = h**2 * p.beta * share
        length = np.linalg.norm(base)
        new_q, multiplier = base / length, (length - 1) / k
        vdot = gravity - new_q * multiplier
        new_a = known + share * vdot
        q, v, a = new_q, v + h * ((1 - p.gamma) * a + p.gamma * new_a), new_a
        places.append(q)
        multipliers.append(multiplier)
    return np.array(places), np.array(multipliers)


# ---- the heavy top on SO(3) x R3, Eqs. (21), integrators (37) and (56)

MASS = 15.0
INERTIA = np.diag([0.234375, 0.46875, 0.234375])
CENTRE = np.array([0.0, 1.0, 0.0])
GRAVITY = np.array([0.0, 0.0, -9.81])


def tilde(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def exponential(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(v~) and its tangent operator T(v) on SO(3)."""
    angle, w = np.linalg.norm(v), tilde(v)
    if angle < 1e-3:
        s, c, d = 1 - angle**2 / 6, 0.5 - angle**2 / 24, 1 / 6 - angle**2 / 120
    else:
        s, c = np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2
        d = (1 - s) / angle**2
    square = w @ w
    return np.eye(3) + s * w + c * square, np.eye(3) - c * w + d * square


def top_acceleration(r: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """vdot and lambda from (19): equilibrium and the constraints on accelerations. v = (Omega, u)."""
    omega, u = v[:3], v[3:]
    place, speed = r.T @ x, r.T @ u
    # d/dt (Omega x R^T x - R^T u) with d/dt R^T y = R^T ydot - Omega x R^T y.
    bias = np.cross(omega, speed - np.cross(omega, place)) + np.cross(omega, speed)
    b = np.hstack([-tilde(place), -r.T])
    matrix = np.zeros((9, 9))
    matrix[:3, :3], matrix[3:6, 3:6] = INERTIA, MASS * np.eye(3)
    matrix[:6, 6:], matrix[6:, :6] = b.T, b
    forces = np.concatenate([-np.cross(omega, INERTIA @ omega), MASS * GRAVITY, -bias])
    solution = np.linalg.solve(matrix, forces)
    return solution[:6], solution[6:]


@dataclass(frozen=True)
class TopHistory:
    time: np.ndarray
    position: np.ndarray
    multiplier: np.ndarray
    eta: np.ndarray
    """eta_n belongs to the step from t_n to t_{n+1}; the last row repeats the one before. Empty in index 3."""


def heavy_top(h: float, count: int, *, rho: float = 0.9, stabilized: bool = False, start: str = "plain") -> TopHistory:
    """`count` steps. start: plain, shifted (a_0 of Table 1 alone) or corrected (index 3: v_0 of Table 2 too)."""
    p = Alpha(rho)
    share = (1 - p.alpha_f) / (1 - p.alpha_m)
    c_v, c_1 = h * p.gamma * share, h**2 * p.beta * share
    r, x = np.eye(3), CENTRE.copy()
    omega = np.array([0, 150, -4.61538])
    v = np.concatenate([omega, np.cross(omega, CENTRE)])
    vdot, multiplier = top_acceleration(r, x, v)
    a = vdot
    if start != "plain":
        d = 0.1 * h
        sides = []
        for side in (d, -d):
            turn, _ = exponential(side * v[:3] + d**2 / 2 * vdot[:3])
            place = x + side * v[3:] + d**2 / 2 * vdot[3:]
            sides.append(top_acceleration(r @ turn, place, v + side * vdot)[0])
        jerk = (sides[0] - sides[1]) / (2 * d)
        a = vdot + p.delta * h * jerk
        if start == "corrected" and not stabilized:  # (142)
            bracket = np.concatenate([np.cross(v[:3], vdot[:3]), np.zeros(3)])
            b = np.hstack([-tilde(r.T @ x), -r.T])
            inverse = np.diag(1 / np.concatenate([np.diag(INERTIA), np.full(3, MASS)]))
            defect = b @ (p.c_q * jerk + bracket / 12)
            v = v + h**2 * inverse @ b.T @ np.linalg.solve(b @ inverse @ b.T, defect)
    size = 12 if stabilized else 9
    history = [(x, multiplier)]
    etas = []
    for _ in range(count):
        known = (p.alpha_f * vdot - p.alpha_m * a) / (1 - p.alpha_m)
        base_v = v + h * ((1 - p.gamma) * a + p.gamma * known)
        base_theta = h * v + h**2 * ((0.5 - p.beta) * a + p.beta * known)
        b_n = np.hstack([-tilde(r.T @ x), -r.T])
        unknown = np.concatenate([vdot, multiplier, np.zeros(size - 9)])
        for _ in range(30):
            new_vdot, lam, eta = unknown[:6], unknown[6:9], unknown[9:]
            new_v = base_v + c_v * new_vdot
            theta = base_theta + c_1 * new_vdot
            if stabilized:
                theta = theta - h * b_n.T @ eta
            turn, tangent = exponential(theta[:3])
            new_r, new_x = r @ turn, x + theta[3:]
            w, u = new_v[:3], new_v[3:]
            place, speed = new_r.T @ new_x, new_r.T @ u
            residual = np.concatenate(
                [
                    INERTIA @ new_vdot[:3] + np.cross(w, INERTIA @ w) + np.cross(CENTRE, lam),
                    MASS * (new_vdot[3:] - GRAVITY) - new_r @ lam,
                    (CENTRE - place) / c_1,
                    (-np.cross(CENTRE, w) - speed) / c_v if stabilized else [],
                ]
            )
            # Derivatives with respect to vdot, theta, lambda; theta depends on vdot and eta.
            by_theta = np.zeros((size, 6))
            by_theta[3:6, :3] = new_r @ tilde(lam) @ tangent
            by_theta[6:9] = np.hstack([-tilde(place) @ tangent, -new_r.T]) / c_1
            matrix = np.zeros((size, size))
            matrix[:3, :3] = INERTIA + c_v * (tilde(w) @ INERTIA - tilde(INERTIA @ w))
            matrix[3:6, 3:6] = MASS * np.eye(3)
            matrix[:3, 6:9], matrix[3:6, 6:9] = tilde(CENTRE), -new_r
            if stabilized:
                by_theta[9:, :3] = -tilde(speed) @ tangent / c_v
                matrix[9:, :6] = np.hstack([-tilde(CENTRE), -new_r.T])
                matrix[:, 9:] -= h * by_theta @ b_n.T
            matrix[:, :6] += c_1 * by_theta
            change = np.linalg.solve(matrix, residual)
            unknown = unknown - change
            if np.linalg.norm(change) <= 1e-11 * np.linalg.norm(unknown):
                break
        vdot, multiplier, eta = unknown[:6], unknown[6:9], unknown[9:]
        new_a = known + share * vdot
        theta = base_theta + c_1 * vdot - (h * b_n.T @ eta if stabilized else 0)
        r, x = r @ exponential(theta[:3])[0], x + theta[3:]
        v, a = base_v + c_v * vdot, new_a
        history.append((x, multiplier))
        etas.append(eta)
    etas.append(etas[-1])
    positions, multipliers = zip(*history)
    return TopHistory(h * np.arange(count + 1), np.array(positions), np.array(multipliers), np.array(etas))

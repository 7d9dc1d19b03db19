"""Overshooting in linear spaces and the pendulum: Section 3.2."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

import liedyn as ld
from liedyn_reproduce import small
from liedyn_reproduce.figure import Page, figure
from liedyn_reproduce.report.shared import RHO, fraction_left


@figure(
    "report-sec3.2",
    title="Overshooting: powers of the amplification matrix, error constants of the multiplier",
    source="Section 3.2, Eq. (53)",
    claims={
        "norm-0.6": "rho = 0.6: the largest ||T^n||_2 is 7.4",
        "norm-0.6-n": "rho = 0.6: at n = 3",
        "norm-0.9": "rho = 0.9: the largest ||T^n||_2 is 34.3",
        "norm-0.9-n": "rho = 0.9: at n = 14",
        "constant-n": "the largest |c_n| of (53) is at n = 3, 15, 161 for rho = 0.6, 0.9, 0.99",
        "constant": "its size is 6.8, 31.9, 334.3",
        "cubic": "with the constraint q = t^3/6 the error of the multiplier is c_n h exactly",
    },
    reasons={
        "constant": "the printed maxima are those of |c_n / C_q| (6.8, 31.9, 334.3 with that division, in all digits); Eq. (53) "
        "itself gives 0.675, 2.683 and 27.86, and the problem with q = t^3/6 and the pendulum of Example 3.2 confirm "
        "it.",
    },
)
def overshooting(page: Page) -> None:
    norms, constants = {}, {}
    for rho in (0.6, 0.9, 0.99):
        matrix = small.amplification_at_infinity(rho)
        powers = [np.eye(3)]
        for _ in range(399):
            powers.append(matrix @ powers[-1])
        norms[rho] = np.array([np.linalg.norm(power, 2) for power in powers])
        constants[rho] = small.error_constants(rho, 400)
    n = np.arange(400)
    page.table(
        "", {"n": n} | {f"norm.rho={r}": v for r, v in norms.items()} | {f"c.rho={r}": v for r, v in constants.items()}
    )
    _, (left, right) = page.plot(1, 2)
    for rho in (0.6, 0.9):
        left.plot(n[:80], norms[rho][:80], ".-", markersize=3, label=f"ρ = {rho}")
        right.plot(n[:80], constants[rho][:80], ".-", markersize=3, label=f"ρ = {rho}")
    left.set(xlabel="n", ylabel=r"$\|T_\infty^n\|_2$")
    right.set(xlabel="n", ylabel="$c_n$")
    left.legend()

    for rho, size, place in ((0.6, 7.4, 3), (0.9, 34.3, 14)):
        page.near(f"norm-{rho}", norms[rho].max(), size, digits=".1f")
        page.near(f"norm-{rho}-n", int(norms[rho].argmax()), place, digits="d")
    places = [int(np.abs(c).argmax()) for c in constants.values()]
    page.judge("constant-n", stated="3, 15, 161", measured=", ".join(map(str, places)), met=places == [3, 15, 161])
    sizes = [float(np.abs(c).max()) for c in constants.values()]
    scaled = [size / abs(small.Alpha(rho).c_q) for rho, size in zip(constants, sizes)]
    page.judge(
        "constant",
        stated="6.8, 31.9, 334.3",
        measured=", ".join(f"{size:.4g}" for size in sizes),
        met=[f"{size:.1f}" for size in sizes] == ["6.8", "31.9", "334.3"],
        note="the printed numbers are |c_n / C_q|, that is "
        + ", ".join(f"{size:.4g}" for size in scaled)
        + ", without the factor C_q that stands in (53); the cubic constraint and the pendulum confirm (53)",
    )
    h = 0.01
    deviation = max(
        float(np.abs(-h * n[:50] - small.cubic_constraint(rho, h, 50) - constants[rho][:50] * h).max()) / h
        for rho in constants
    )
    page.judge(
        "cubic",
        stated="e = c_n h",
        measured=f"|e/h - c_n| <= {deviation:.1e}",
        met=deviation < 1e-8,
        note="a recursion of its own in numpy: 49 steps of 0.01 for each rho",
    )


PENDULUM_STEPS = (2e-2, 1e-2)


@lru_cache(maxsize=None)
def pendulum_error(x0: float, step: float, start: str, rho: float = RHO, count: int = 200) -> np.ndarray:
    """lambda(t_n) - lambda_n; start: plain or corrected (the engine), shifted (a_0 alone, numpy)."""
    # The exact multiplier is 1 - 2 g (1 + y) - g y; y from a fine run on velocity level, extrapolated.
    compiled = ld.Model("pendulum", set={"x0": x0})
    fine = [
        compiled.run(
            integrator="generalized-alpha,rho=0.9,index=2,start=corrected,newton_tol=1e-12",
            step=step / n,
            end=count * step,
            every=n,
        )["position"][:, 1]
        for n in (50, 100)
    ]
    y = fine[1] + (fine[1] - fine[0]) / 3
    exact = 1 - 2 * 9.81 * (1 + y) - 9.81 * y
    if start == "shifted":
        return exact - small.pendulum(x0, rho, step, count + 1, shifted=True)[1]
    integrator = f"generalized-alpha,rho={rho},start={start},newton_tol=1e-12"
    return exact - compiled.run(integrator=integrator, step=step, end=count * step)["multiplier"]


def draw_pendulum(page: Page) -> None:
    columns, (_, axes) = {}, page.plot(1, 2)
    for ax, step in zip(axes, PENDULUM_STEPS):
        time = step * np.arange(101)
        for x0, marker in ((0.0, "."), (0.2, "+")):
            error = pendulum_error(x0, step, "shifted")[:101]
            ax.plot(time, error, marker, markersize=5, label=f"$x_0$ = {x0:g}")
            columns |= {f"t.h={step:g}": time, f"error.h={step:g}.x0={x0:g}": error}
        ax.set(title=f"h = {step:g} s", xlabel="time t / s", ylabel="error of λ")
    axes[0].legend()
    page.table("", columns)
    page.note(
        "a_0 = vdot(0) + Delta_alpha h vddot(0), as the example has it: a recursion in numpy (the engine starts with "
        "a_0 = vdot(0), or corrects v_0 as well)"
    )


@figure(
    "report-example3.2",
    title="Pendulum: amplitude of the multiplier's transient",
    source="Example 3.2",
    claims={
        "0.02": "x0 = 0.2, h = 0.02: the error of lambda oscillates with an amplitude of up to 2.48e-1",
        "0.01": "x0 = 0.2, h = 0.01: of up to 1.23e-1",
        "theory": "the first-order term is c_n h B vddot with B vddot = -3 g x0 xdot0 / y0",
        "corrected": "(Theorem 3.1b) v_0 = v(0) + C_q h^2 vddot(0) removes the first-order term",
        "damping": "with a smaller rho the oscillation fades faster and is still there",
    },
    checks={
        "plain": "the engine's plain start a_0 = vdot(0) has the same amplitudes",
    },
)
def example(page: Page) -> None:
    draw_pendulum(page)
    peaks = {
        start: [np.abs(pendulum_error(0.2, h, start)[:101]).max() for h in PENDULUM_STEPS]
        for start in ("shifted", "plain", "corrected")
    }
    for h, value, stated in zip(PENDULUM_STEPS, peaks["shifted"], (0.248, 0.123)):
        page.near(f"{h:g}", value, stated, digits=".3f")
    y0 = -math.sqrt(1 - 0.2**2)
    speed = math.sqrt(1 - 2 * 9.81 * (1 + y0))
    predicted = small.error_constants(RHO, 101) * -3 * 9.81 * 0.2 * (-speed * y0) / y0
    far = [np.abs(pendulum_error(0.2, h, "shifted")[:101] - predicted * h).max() for h in (1e-2, 5e-3)]
    page.judge(
        "theory",
        stated="the rest is O(h^2)",
        measured=f"largest rest {far[0]:.2e} (h = 0.01), {far[1]:.2e} (0.005)",
        met=far[0] / far[1] > 3,
    )
    page.judge(
        "plain",
        stated="0.248, 0.123",
        measured=", ".join(f"{p:.4g}" for p in peaks["plain"]),
        met=[f"{p:.3f}" for p in peaks["plain"]] == ["0.248", "0.123"],
    )
    ratio = peaks["corrected"][0] / peaks["corrected"][1]
    page.judge(
        "corrected",
        stated="O(h^2)",
        measured=f"{peaks['corrected'][0]:.2e}, {peaks['corrected'][1]:.2e}: factor {ratio:.2f}",
        met=ratio > 3.5,
    )
    soft = pendulum_error(0.2, 0.01, "shifted", rho=0.6)[:101]
    left = [fraction_left(e, 30) for e in (pendulum_error(0.2, 0.01, "shifted")[:101], soft)]
    page.judge(
        "damping",
        stated="faster, still observed",
        measured=f"rho = 0.6: amplitude {np.abs(soft).max():.2g}, after 30 steps {left[1]:.1%} of it "
        f"(rho = 0.9: {left[0]:.1%})",
        met=left[1] < left[0] and np.abs(soft[:20]).max() > 10 * np.abs(soft[60:]).max(),
    )


@figure(
    "report-fig5",
    title="Pendulum: global error in lambda",
    source="Figure 5",
    claims={
        "equilibrium": "starting at the equilibrium (x0 = 0) the error is very small",
        "first-order": "for x0 = 0.2 the amplitude is O(h)",
        "damped": "after about 100 steps the transient is damped out",
    },
)
def fig5(page: Page) -> None:
    draw_pendulum(page)
    at_rest = [np.abs(pendulum_error(0.0, h, "shifted")[:101]).max() for h in PENDULUM_STEPS]
    peaks = [np.abs(pendulum_error(0.2, h, "shifted")[:101]).max() for h in PENDULUM_STEPS]
    page.judge(
        "equilibrium",
        stated="very small",
        measured=f"{at_rest[0]:.1e}, {at_rest[1]:.1e} (x0 = 0.2: {peaks[0]:.3f}, {peaks[1]:.3f})",
        met=max(a / b for a, b in zip(at_rest, peaks)) < 0.1,
    )
    page.order("first-order", PENDULUM_STEPS, peaks, 1)
    left = fraction_left(pendulum_error(0.2, 0.01, "shifted"), 100)
    page.judge(
        "damped",
        stated="damped out (here: below 5 % of the largest error)",
        measured=f"{left:.1%} left after 100 steps",
        met=left < 0.05,
    )

"""Expressions of model files, for numbers, arrays and Taylor polynomials of the time."""

from __future__ import annotations

import re

import numpy as np


class Jet:
    """f + f' dt + f'' dt^2/2: a function of time with its first two derivatives."""

    __array_ufunc__ = None  # arrays leave operations to this class

    def __init__(self, f, d=0.0, dd=0.0):
        self.f, self.d, self.dd = f, d, dd

    def __add__(self, o):
        o = jet(o)
        return Jet(self.f + o.f, self.d + o.d, self.dd + o.dd)

    def __neg__(self):
        return Jet(-self.f, -self.d, -self.dd)

    def __sub__(self, o):
        return self + (-jet(o))

    def __mul__(self, o):
        o = jet(o)
        return Jet(self.f * o.f, self.d * o.f + self.f * o.d, self.dd * o.f + 2 * self.d * o.d + self.f * o.dd)

    def __truediv__(self, o):
        return self * jet(o).chain(lambda x: (1 / x, -1 / x**2, 2 / x**3))

    def __pow__(self, n):
        if isinstance(n, Jet):
            return jet_exp(n * jet_log(self))
        return self.chain(lambda x: (x**n, n * x ** (n - 1) if n else 0 * x, n * (n - 1) * x ** (n - 2) if n not in (0, 1) else 0 * x))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, o):
        return jet(o) - self

    def __rtruediv__(self, o):
        return jet(o) / self

    def __rpow__(self, base):
        return jet_exp(self * np.log(base))

    def chain(self, derivatives):
        g, dg, ddg = derivatives(self.f)
        return Jet(g, dg * self.d, ddg * self.d**2 + dg * self.dd)


def jet(x) -> Jet:
    return x if isinstance(x, Jet) else Jet(x)


def jet_exp(x: Jet) -> Jet:
    return x.chain(lambda f: (np.exp(f),) * 3)


def jet_log(x: Jet) -> Jet:
    return x.chain(lambda f: (np.log(f), 1 / f, -1 / f**2))


def _function(plain, derivatives):
    return lambda x: x.chain(derivatives) if isinstance(x, Jet) else plain(x)


def _select(condition, a, b):
    a, b = jet(a), jet(b)
    return Jet(*(np.where(condition, p, q) for p, q in ((a.f, b.f), (a.d, b.d), (a.dd, b.dd))))


def _min(a, b):
    if isinstance(a, Jet) or isinstance(b, Jet):
        return _select(jet(a).f < jet(b).f, a, b)
    return np.minimum(a, b)


def _max(a, b):
    return -_min(-a, -b)


def _step(t, t0, t1):
    """The quintic whose first two derivatives vanish at both ends."""
    s = _min(_max((t - t0) / (t1 - t0), 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def _poly(x, *c):
    total = 0.0 * x
    for coefficient in reversed(c):
        total = total * x + coefficient
    return total


def _tanh(f):
    y = np.tanh(f)
    return y, 1 - y**2, -2 * y * (1 - y**2)


def _sqrt(f):
    y = np.sqrt(f)
    return y, 0.5 / y, -0.25 / y**3


FUNCTIONS = {
    "sin": _function(np.sin, lambda f: (np.sin(f), np.cos(f), -np.sin(f))),
    "cos": _function(np.cos, lambda f: (np.cos(f), -np.sin(f), -np.cos(f))),
    "exp": _function(np.exp, lambda f: (np.exp(f),) * 3),
    "log": _function(np.log, lambda f: (np.log(f), 1 / f, -1 / f**2)),
    "tanh": _function(np.tanh, _tanh),
    "sqrt": _function(np.sqrt, _sqrt),
    "abs": _function(np.abs, lambda f: (np.abs(f), np.sign(f), 0 * f)),
    "sign": _function(np.sign, lambda f: (np.sign(f), 0 * f, 0 * f)),
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh,
    "min": _min, "max": _max, "step": _step, "poly": _poly,
    "pi": np.pi,
}
FUNCTIONS["harmonic"] = lambda t, amplitude, frequency, phase: amplitude * FUNCTIONS["sin"](2 * np.pi * frequency * t + phase)

_compiled: dict = {}


def evaluate(text: str, names):
    """The value of an expression; `names` is a mapping of what it may use besides functions."""
    if text not in _compiled:
        # In model files ^ is the power, and names may hold hyphens nowhere else than in keys.
        _compiled[text] = compile(text.replace("^", "**"), text, "eval")
    return eval(_compiled[text], {"__builtins__": {}}, _Names(names))  # noqa: S307: texts of our own generator and models


class _Names(dict):
    def __init__(self, names):
        super().__init__()
        self.names = names

    def __missing__(self, name):
        return FUNCTIONS[name] if name in FUNCTIONS else self.names[name]


def identifiers(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text)) - set(FUNCTIONS)

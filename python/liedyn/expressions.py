"""Expressions of parameters, states, sensors and the time: Python arithmetic that is written down instead of being calculated.

>>> speed = m.parameter("speed", 6)
>>> -0.04 * speed                       # the expression "-0.04*speed" of the model file
>>> ld.where(speed > 2, ld.sin(ld.t), 0)
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liedyn.arguments import is_finite, is_number, shown
from liedyn.errors import Diagnostic, InputError, caller

# How tightly the outermost operator of a text binds, as src/base/expression.h reads it:
# comparisons, sums, products, signs, powers, and what needs no parentheses.
_COMPARISON, _SUM, _PRODUCT, _SIGN, _POWER, _OPERAND = range(6)

_LONGEST = 100_000  # a text doubles with each use of it in itself


def refused(argument: str, message: str, hint: str = "") -> InputError:
    """An error about the line of the user's code that called the package."""
    file, line = caller()
    return InputError([Diagnostic(file, line, argument, message, hint)])


class ValueNeeded(InputError):
    """The code asks for the value of an expression, which is not known while the model is built."""


def value_needed(message: str, hint: str) -> ValueNeeded:
    return ValueNeeded(refused("", message, hint).diagnostics)


class Expression:
    """A number that is known only when the model runs, as the model file writes it. Arithmetic, comparisons and the functions of this
    package (`ld.sin`, `ld.where`, ...) give expressions again; so do numpy's (`np.sin(speed)`)."""

    __slots__ = ("_condition", "_level", "_names", "_text")

    def __init__(self, text: str, level: int = _OPERAND, names: frozenset = frozenset(), condition: bool = False) -> None:
        if len(text) > _LONGEST:
            message = f"an expression of more than {_LONGEST} characters"
            raise refused("", message, "define a sensor for a part that occurs often: m.expression_sensor(name, value=...)")
        self._text = text
        self._level = level
        self._names = names  # the objects that it names: (model, section, name)
        self._condition = condition

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Expression {self._text}>"

    def __add__(self, other: Any) -> Expression:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _binary("/", other, self)

    def __pow__(self, other: Any) -> Expression:
        return _binary("^", self, other)

    def __rpow__(self, other: Any) -> Expression:
        return _binary("^", other, self)

    def __mod__(self, other: Any) -> Expression:
        return _called("mod", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return _called("mod", other, self)

    def __floordiv__(self, other: Any) -> Expression:
        quotient = _binary("/", self, other)
        return quotient if quotient is NotImplemented else _called("floor", quotient)

    def __rfloordiv__(self, other: Any) -> Expression:
        quotient = _binary("/", other, self)
        return quotient if quotient is NotImplemented else _called("floor", quotient)

    def __neg__(self) -> Expression:
        return Expression("-" + _enclosed(self, _POWER), _SIGN, self._names)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return _called("abs", self)

    def __floor__(self) -> Expression:
        return _called("floor", self)

    def __lt__(self, other: Any) -> Expression:
        return _binary("<", self, other)

    def __le__(self, other: Any) -> Expression:
        return _binary("<=", self, other)

    def __gt__(self, other: Any) -> Expression:
        return _binary(">", self, other)

    def __ge__(self, other: Any) -> Expression:
        return _binary(">=", self, other)

    def __eq__(self, other: Any) -> Any:
        return _binary("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return _binary("!=", self, other)

    __hash__ = object.__hash__

    # Conditions are 1 or 0: both hold if the smaller one does, one of them if the larger one does.
    def __and__(self, other: Any) -> Expression:
        return _combined("min", self, other)

    def __or__(self, other: Any) -> Expression:
        return _combined("max", self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Expression:
        if not self._condition:
            raise refused("~", f"expected a condition such as (x > 0), got the expression {_short(self)}")
        return _binary("-", 1, self, condition=True)

    def __bool__(self) -> bool:
        raise value_needed(
            f"the truth value of ({_short(self)}) is not known while the model is built",
            "write ld.where(condition, a, b) for `a if condition else b`, & and | for `and` and `or`, ld.min and ld.max for min and max",
        )

    def __float__(self) -> float:
        raise value_needed(
            f"the value of the expression {_short(self)} is not known while the model is built",
            "use the functions of liedyn or numpy: ld.sin(x) or np.sin(x), not math.sin(x)",
        )

    __int__ = __index__ = __complex__ = __round__ = __trunc__ = __float__

    def __iter__(self) -> Any:
        raise refused("", f"the expression {_short(self)} is one number", "components of a sensor are tip[0], tip[1], tip[2]")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return _each(function, inputs)

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return where(*args)
        return NotImplemented


def _short(expression: Expression) -> str:
    return expression._text if len(expression._text) <= 60 else expression._text[:57] + "..."


def as_operand(value: Any) -> Expression | None:
    """A number or an expression as an expression; None if it is neither."""
    if isinstance(value, Expression):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        value = int(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not is_number(value):
        return None
    if not is_finite(value):
        raise refused("", f"expected a finite number in an expression, got {shown(value)}")
    text = repr(value) if type(value) is int else repr(float(value))
    return Expression(text, _SIGN if text.startswith("-") else _OPERAND)


def _enclosed(expression: Expression, least: int) -> str:
    return expression._text if expression._level >= least else f"({expression._text})"


# Operators: how tightly they bind, and what their left and right operands must at least be to stand without parentheses. The right
# operand of + and * is enclosed too, since floating-point sums depend on their order.
_OPERATORS = {
    "+": (_SUM, _SUM, _PRODUCT, " + "),
    "-": (_SUM, _SUM, _PRODUCT, " - "),
    "*": (_PRODUCT, _PRODUCT, _SIGN, "*"),
    "/": (_PRODUCT, _PRODUCT, _SIGN, "/"),
    "^": (_POWER, _OPERAND, _SIGN, "^"),
} | {symbol: (_COMPARISON, _SUM, _SUM, f" {symbol} ") for symbol in ("<", "<=", ">", ">=", "==", "!=")}


def _binary(symbol: str, left: Any, right: Any, condition: bool = False) -> Any:
    a, b = as_operand(left), as_operand(right)
    if a is None or b is None:
        array = left if a is None else right
        if isinstance(array, (list, tuple)):  # of numbers and expressions: a vector
            return _each(lambda x, y: _binary(symbol, x, y), (left, right))
        return NotImplemented
    level, least_left, least_right, written = _OPERATORS[symbol]
    text = _enclosed(a, least_left) + written + _enclosed(b, least_right)
    return Expression(text, level, a._names | b._names, condition or level == _COMPARISON)


def _combined(function: str, left: Any, right: Any) -> Any:
    for side in (left, right):
        if not (isinstance(side, Expression) and side._condition):
            what = _short(side) if isinstance(side, Expression) else shown(side)
            raise refused("& and |", f"expected conditions, got {what}", "write parentheses: (x > 0) & (x < 1)")
    out = _called(function, left, right)
    out._condition = True
    return out


def _called(function: str, *arguments: Any) -> Any:
    operands = [as_operand(argument) for argument in arguments]
    if any(operand is None for operand in operands):
        wrong = arguments[operands.index(None)]
        raise refused(function, f"expected numbers or expressions, got {shown(wrong)}")
    names = frozenset().union(*(operand._names for operand in operands))
    return Expression(f"{function}({', '.join(operand._text for operand in operands)})", _OPERAND, names)


def call_of_table(name: str, arguments: Sequence[Any], symbol: tuple) -> Expression:
    """The call of a table of a model."""
    out = _called(name, *arguments)
    out._names |= {symbol}
    return out


def call_of_function(name: str, arguments: Sequence[Any]) -> Expression:
    """The call of a function of the program (liedyn.laws)."""
    return _called(name, *arguments)


def _each(function: Callable, arguments: Sequence[Any]) -> Any:
    """The function of numbers and expressions, or of each element of arrays of them."""
    if not any(isinstance(argument, (np.ndarray, list, tuple)) for argument in arguments):
        return function(*arguments)
    arrays = []
    for argument in arguments:
        if isinstance(argument, Expression):  # numpy must not look into it
            held = np.empty((), dtype=object)
            held[()] = argument
            arrays.append(held)
        else:
            arrays.append(np.asarray(argument, dtype=object))
    out = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if isinstance(out, np.ndarray) and not any(isinstance(item, Expression) for item in out.flat):
        return out.astype(float)
    return out


# ---- functions


def _function(name: str, count: int, of_numbers: Callable, summary: str) -> Callable:
    """A function of numbers, expressions and arrays of them. `count` arguments; at least as many, if negative."""

    def one(*arguments: Any) -> Any:
        if any(isinstance(argument, Expression) for argument in arguments):
            return _called(name, *arguments)
        for argument in arguments:
            if as_operand(argument) is None:
                raise refused(name, f"expected a number or an expression, got {shown(argument)}")
        try:
            return float(of_numbers(*map(float, arguments)))
        except (ArithmeticError, ValueError) as error:
            raise refused(name, f"{error}: {', '.join(map(shown, arguments))}") from None

    def function(*arguments: Any) -> Any:
        if len(arguments) != count if count >= 0 else len(arguments) < -count:
            wanted = f"at least {-count} arguments" if count < 0 else f"{count} argument{'' if count == 1 else 's'}"
            raise refused(name, f"expected {wanted}, got {len(arguments)}")
        return _each(one, arguments)

    return _documented(function, name, summary)


def _documented(function: Callable, name: str, summary: str) -> Callable:
    """Its name, and its arguments as the summary has them: "mod(a, b): ..."."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    words = summary[len(name) + 1 : summary.index(")")].split(", ")
    kinds = inspect.Parameter
    arguments = [kinds(word, kinds.POSITIONAL_ONLY) for word in words if word != "..."]
    function.__signature__ = inspect.Signature(arguments + [kinds("more", kinds.VAR_POSITIONAL)] * ("..." in words))
    return function


def _poly(x: float, *coefficients: float) -> float:
    out = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        out = out * x + coefficient
    return out


def _step(t: float, t0: float, t1: float) -> float:
    if t0 == t1:
        return 0.0 if t < t0 else 1.0
    s = (t - t0) / (t1 - t0)
    return 0.0 if s <= 0 else 1.0 if s >= 1 else s * s * s * (10 + s * (6 * s - 15))


def _extreme(name: str, better: Callable, summary: str) -> Callable:
    pair = _function(name, 2, lambda a, b: b if better(b, a) else a, summary)

    def function(*arguments: Any) -> Any:
        if len(arguments) < 2:
            raise refused(name, f"expected at least 2 arguments, got {len(arguments)}")
        out = arguments[0]
        for argument in arguments[1:]:
            out = pair(out, argument)
        return out

    return _documented(function, name, summary)


sin = _function("sin", 1, math.sin, "sin(x): the sine of a number or an expression, x in rad.")
cos = _function("cos", 1, math.cos, "cos(x): the cosine of a number or an expression, x in rad.")
tan = _function("tan", 1, math.tan, "tan(x): the tangent of a number or an expression, x in rad.")
asin = _function("asin", 1, math.asin, "asin(x): the angle in rad, from -pi/2 to pi/2, whose sine is x.")
acos = _function("acos", 1, math.acos, "acos(x): the angle in rad, from 0 to pi, whose cosine is x.")
atan = _function("atan", 1, math.atan, "atan(x): the angle in rad, from -pi/2 to pi/2, whose tangent is x.")
atan2 = _function("atan2", 2, math.atan2, "atan2(y, x): the angle in rad of the point (x, y), from -pi to pi.")
sinh = _function("sinh", 1, math.sinh, "sinh(x): the hyperbolic sine.")
cosh = _function("cosh", 1, math.cosh, "cosh(x): the hyperbolic cosine.")
tanh = _function("tanh", 1, math.tanh, "tanh(x): the hyperbolic tangent; tanh(v/v0) is a smooth sign(v).")
exp = _function("exp", 1, math.exp, "exp(x): e to the power x.")
log = _function("log", 1, math.log, "log(x): the natural logarithm.")
sqrt = _function("sqrt", 1, math.sqrt, "sqrt(x): the square root.")
abs = _function("abs", 1, operator.abs, "abs(x): the absolute value.")
sign = _function("sign", 1, lambda x: (x > 0) - (x < 0), "sign(x): 1, 0 or -1.")
floor = _function("floor", 1, math.floor, "floor(x): the largest whole number that is not above x.")
mod = _function("mod", 2, lambda a, b: a - b * math.floor(a / b), "mod(a, b): a - b floor(a/b).")
min = _extreme("min", operator.lt, "min(a, b, ...): the smallest of numbers and expressions.")
max = _extreme("max", operator.gt, "max(a, b, ...): the largest of numbers and expressions.")
where = _function(
    "where", 3, lambda c, a, b: a if c != 0 else b,
    "where(condition, a, b): a where the condition holds, b elsewhere. A condition is (x > 0), (x > 0) & (x < 1), ...",
)
step = _function(
    "step", 3, _step, "step(t, t0, t1): 0 before t0, 1 after t1, a quintic with continuous second derivative in between.",
)
poly = _function("poly", -2, _poly, "poly(x, c0, c1, ...): the polynomial c0 + c1 x + c2 x^2 + ...")
harmonic = _function(
    "harmonic", 4, lambda t, amplitude, frequency, phase: amplitude * math.sin(2 * math.pi * frequency * t + phase),
    "harmonic(t, amplitude, frequency, phase): amplitude sin(2 pi frequency t + phase), the frequency in Hz, the phase in rad.",
)

t = Expression("t")
"""The time, for fields that may depend on it."""

deg = math.pi / 180
"""One degree in radians: 30*ld.deg."""

FUNCTIONS = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "sign", "floor", "mod",
    "min", "max", "where", "step", "poly", "harmonic",
)  # fmt: skip
"""Names of the functions of this module. They are those of the expressions in model files."""

def _operator(symbol: str) -> Callable:
    return lambda a, b: _binary(symbol, a, b)


# What numpy calls its functions.
_UFUNCS = {
    "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"), "divide": _operator("/"),
    "true_divide": _operator("/"), "power": _operator("^"), "float_power": _operator("^"), "less": _operator("<"),
    "less_equal": _operator("<="), "greater": _operator(">"), "greater_equal": _operator(">="), "equal": _operator("=="),
    "not_equal": _operator("!="), "floor_divide": lambda a, b: floor(_binary("/", a, b)), "remainder": mod, "mod": mod,
    "negative": operator.neg, "positive": operator.pos, "absolute": abs, "fabs": abs, "square": lambda x: x**2,
    "reciprocal": lambda x: 1 / x, "deg2rad": lambda x: x * deg, "radians": lambda x: x * deg, "sign": sign, "floor": floor,
    "bitwise_and": lambda a, b: _combined("min", a, b), "logical_and": lambda a, b: _combined("min", a, b),
    "bitwise_or": lambda a, b: _combined("max", a, b), "logical_or": lambda a, b: _combined("max", a, b),
    "invert": operator.invert, "logical_not": operator.invert, "minimum": min, "maximum": max, "fmin": min, "fmax": max,
    "sin": sin, "cos": cos, "tan": tan, "arcsin": asin, "arccos": acos, "arctan": atan, "arctan2": atan2, "sinh": sinh,
    "cosh": cosh, "tanh": tanh, "exp": exp, "log": log, "sqrt": sqrt,
}  # fmt: skip

# numpy's functions of an array of objects call the method of the same name of each.
for _name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "floor"):
    setattr(Expression, _name, _UFUNCS[_name])
Expression.conjugate = Expression.__pos__  # of real numbers; np.vdot and np.linalg.norm call it

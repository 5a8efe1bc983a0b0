"""Rows for arithmetic and comparisons of numbers, functions of `math`, and conversions of numbers and text.

With the machine's arithmetic, nothing here raises or leaves a row to Python, except parsing of text.

Rows whose bodies are text leave a row to Python where their check is true: where an integer exceeds 64
bits, a function of `math` raises, or an integer is compared with a float to which it cannot be converted
exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import floordiv, mod, truediv
from typing import Any

from colkern.kernels import float_digits, number_parsing, row_numbers, row_values
from colkern.rows.methods import COMPARISONS, Body, Bound, Method, raised_by

_LEAST = "{0} == -9223372036854775808"
_INFINITE = "abs({0}) > 1.7976931348623157e308"
_SIGN = "(-9223372036854775807 - 1)"
_NO_INTEGER = "not abs({0}) < 9.2e18"


def _unchecked(name: str, signature: str, body: str, check: str, raises: int = 0) -> Method:
    """Returns a row whose body is right for the machine's arithmetic even where its check is true."""
    return Method(name, signature, body, check=check, machine=body, raises=raises)


def _wrapping(name: str, signature: str, body: str, check: str) -> Method:
    """Returns a row for integers, which wrap around with the machine's arithmetic."""
    return Method(name, signature, body, check=check, machine=f"wrapped({body})")


def _arithmetic() -> list[Method]:
    overflows = {"+": "sum_overflows", "-": "difference_overflows", "*": "product_overflows"}
    rows = [
        _wrapping(sign, "(int, int) -> int", f"{{0}} {sign} {{1}}", f"{name}({{0}}, {{1}})")
        for sign, name in overflows.items()
    ]
    rows += [Method(sign, "(float, float) -> float", f"{{0}} {sign} {{1}}") for sign in overflows]
    for sign in "&|^":
        for kind in ("bool", "int", "unsigned"):
            rows.append(Method(sign, f"({kind}, {kind}) -> {kind}", f"{{0}} {sign} {{1}}"))
    # The bits of a negative number go on without end, and `&` ends them.
    for kinds in ("unsigned, int", "int, unsigned"):
        rows.insert(0, Method("&", f"({kinds}) -> unsigned", "{0} & {1}"))
    return rows


def _divisions() -> list[Method]:
    of_integers: dict[str, tuple[Callable[..., Any], str, Body, Body | str]] = {
        "/": (truediv, "float", row_numbers.divide_integers, "float({0}) / float({1})"),
        "//": (
            floordiv, "int", row_numbers.floor_divide_integers, row_numbers.floor_divide_wrapping
        ),
        "%": (mod, "int", row_numbers.modulo_integers, row_numbers.modulo_wrapping),
    }  # fmt: skip
    of_floats: dict[str, tuple[Body, Body]] = {
        "/": (row_numbers.divide_floats, row_numbers.quotient),
        "//": (row_numbers.floor_divide_floats, row_numbers.floor_divide_loosely),
        "%": (row_numbers.modulo_floats, row_numbers.modulo_loosely),
    }
    rows = []
    for sign, (function, result, *bodies) in of_integers.items():
        for kind, gives, (body, machine), one in (
            ("int", result, bodies, 1),
            ("float", "float", of_floats[sign], 1.0),
        ):
            message = raised_by(function, one, 0 * one)
            signature = f"({kind}, {kind}) -> {gives}"
            rows.append(Method(sign, signature, body, machine=machine, message=message))
    return rows


def _comparisons() -> list[Method]:
    rows = []
    for sign in COMPARISONS:
        for kind in ("int", "float", "bool"):
            rows.append(Method(sign, f"({kind}, {kind}) -> bool", f"{{0}} {sign} {{1}}"))
        for kinds, left, right, float_ in (
            ("(int, float)", "float({0})", "{1}", "{1}"),
            ("(float, int)", "{0}", "float({1})", "{0}"),
        ):
            # Rounding an integer does not change how it compares with a float below 2**53, or beyond the
            # int64 range.
            check = (
                f"(abs({float_}) >= 9007199254740992.0) & (abs({float_}) <= 9223372036854775808.0)"
            )
            rows.append(_unchecked(sign, f"{kinds} -> bool", f"{left} {sign} {right}", check))
    return rows


def _of_unsigned() -> list[Method]:
    """Returns the rows for integers from 0 to 2**64 - 1; others take such integers below 2**63 only."""
    rows = []
    flipped = f"({{0}} ^ {_SIGN})", f"({{1}} ^ {_SIGN})"
    for sign in COMPARISONS:
        compared = f" {sign} ".join(flipped)
        rows.append(Method(sign, "(unsigned, unsigned) -> bool", compared))
        for kinds, number, to_true in (
            ("(unsigned, int)", "{1}", ("!=", ">", ">=")),
            ("(int, unsigned)", "{0}", ("!=", "<", "<=")),
        ):
            is_true = f"({number} < 0) | ({compared})"
            is_false = f"({number} >= 0) & ({compared})"
            rows.append(Method(sign, f"{kinds} -> bool", is_true if sign in to_true else is_false))
    both, by_zero = "(unsigned, unsigned) -> unsigned", raised_by(mod, 1, 0)
    for name, is_second in (("min", " < "), ("max", " > ")):
        rows.append(Method(name, both, f"{{1}} if {is_second.join(flipped[::-1])} else {{0}}"))
    return [
        Method("%", "(unsigned, int) -> int", row_numbers.modulo_of_signed, message=by_zero),
        *rows,
        Method("%", both, row_numbers.modulo_unsigned, message=by_zero),
        Method("//", both, row_numbers.floor_divide_unsigned, message=raised_by(floordiv, 1, 0)),
        Method("divmod", "(unsigned, int) -> tuple[unsigned, int]", row_numbers.divmod_unsigned),
        Method(">>", "(unsigned, int) -> unsigned", row_numbers.shift_right_unsigned),
        *(Method(name, "(unsigned) -> unsigned", "{0}") for name in ("pos", "abs", "int", "round")),
        Method("float", "(unsigned) -> float", row_numbers.float_of_unsigned),
        Method("bool", "(unsigned) -> bool", "{0} != 0"),
        Method("int.bit_count", "(unsigned) -> int", row_numbers.bit_count_of_word),
        Method("int.bit_length", "(unsigned) -> int", row_numbers.bit_length_of_word),
    ]


def _functions() -> list[Method]:
    """Returns the rows for functions of C's `math`, with tests for where Python may raise."""
    checks = {
        "sqrt": "{0} < 0.0",
        "log1p": "{0} <= -1.0",
        "acosh": "{0} < 1.0",
        "atanh": "abs({0}) >= 1.0",
        **dict.fromkeys(("exp", "expm1"), "{0} > 709.7"),
        **dict.fromkeys(("log", "log2", "log10"), "{0} <= 0.0"),
        **dict.fromkeys(("sin", "cos", "tan"), _INFINITE),
        **dict.fromkeys(("asin", "acos"), "abs({0}) > 1.0"),
        **dict.fromkeys(("sinh", "cosh"), "abs({0}) > 710.0"),
        **dict.fromkeys(("atan", "tanh", "asinh", "erf", "erfc"), ""),
    }
    rows = [
        _unchecked(
            f"math.{name}",
            "(float) -> float",
            f"math.{name}({{0}})",
            check,
            # The test for overflow has some margin.
            0 if "> 7" in check else row_values.VALUE_ERROR,
        )
        for name, check in checks.items()
    ]
    rows += as_integers(
        "math.floor", "int(math.floor({0}))", Bound(row_numbers.as_integer, value=row_numbers.floor)
    )
    rows += as_integers(
        "math.ceil", "int(math.ceil({0}))", Bound(row_numbers.as_integer, value=row_numbers.ceil)
    )
    return rows + as_integers("math.trunc")


def as_integers(
    name: str, body: str = "int({0})", machine: Body = row_numbers.as_integer
) -> list[Method]:
    """Returns the rows of a function that gives the integer of a number."""
    return [
        Method(name, "(int) -> int", "{0}"),
        Method(name, "(float) -> int", body, check=_NO_INTEGER, machine=machine),
    ]


METHODS = [
    *_arithmetic(),
    *_comparisons(),
    *_divisions(),
    Method(
        "divmod",
        "(int, int) -> tuple[int, int]",
        row_numbers.divmod_integers,
        machine=row_numbers.divmod_wrapping,
    ),
    Method(
        "divmod",
        "(float, float) -> tuple[float, float]",
        row_numbers.divmod_floats,
        machine=row_numbers.divmod_loosely,
    ),
    *(
        row
        for name in ("**", "pow")
        for row in (
            Method(
                name,
                "(int, int) -> int",
                row_numbers.power_of_integers,
                machine=row_numbers.power_wrapping,
            ),
            Method(
                name, "(float, float) -> float", row_numbers.power_of_floats, machine="{0} ** {1}"
            ),
        )
    ),
    Method("pow", "(int, int, int) -> int", row_numbers.power_modulo),
    Method(
        "<<", "(int, int) -> int", row_numbers.shift_left, machine=row_numbers.shift_left_wrapping
    ),
    Method(
        ">>", "(int, int) -> int", row_numbers.shift_right, machine=row_numbers.shift_right_wrapping
    ),
    _wrapping("neg", "(int) -> int", "-{0}", _LEAST),
    Method("neg", "(float) -> float", "-{0}"),
    Method("pos", "(int) -> int", "{0}"),
    Method("pos", "(float) -> float", "{0}"),
    Method("~", "(int) -> int", "~{0}"),
    _unchecked("abs", "(int) -> int", "abs({0})", _LEAST),
    Method("abs", "(float) -> float", "abs({0})"),
    Method("min", "(int, int) -> int", "{1} if {1} < {0} else {0}"),
    Method("min", "(float, float) -> float", "{1} if {1} < {0} else {0}"),
    Method("max", "(int, int) -> int", "{1} if {1} > {0} else {0}"),
    Method("max", "(float, float) -> float", "{1} if {1} > {0} else {0}"),
    # Rounds half to even: a float to which 2**52 is added has no fraction digits left.
    Method(
        "round",
        "(float) -> int",
        "int(({0} + 6755399441055744.0) - 6755399441055744.0)",
        check="not abs({0}) < 2251799813685248.0",
    ),
    Method("round", "(int) -> int", "{0}"),
    Method("round", "(int, ndigits: int) -> int", row_numbers.round_integer),
    Method("round", "(float, ndigits: int) -> float", float_digits.round_float),
    Method("bool", "(int) -> bool", "{0} != 0"),
    Method("bool", "(float) -> bool", "{0} != 0.0"),
    *as_integers("int"),
    Method("int", "(str) -> int", number_parsing.parse_integer, message=raised_by(int, "?")),
    Method("int", "(str, base: int) -> int", number_parsing.parse_integer_of_base),
    Method("float", "(float) -> float", "{0}"),
    Method("float", "(str) -> float", number_parsing.parse_float, message=raised_by(float, "?")),
    Method("int.bit_count", "(int) -> int", row_numbers.bit_count),
    Method("int.bit_length", "(int) -> int", row_numbers.bit_length),
    Method("float.is_integer", "(float) -> bool", row_numbers.is_whole),
    *_functions(),
    _unchecked(
        "math.log",
        "(float, float) -> float",
        "math.log({0}) / math.log({1})",
        "({0} <= 0.0) | ({1} <= 0.0) | ({1} == 1.0)",
    ),
    Method("math.pow", "(float, float) -> float", row_numbers.math_pow, machine="{0} ** {1}"),
    Method(
        "math.fmod", "(float, float) -> float", row_numbers.fmod, machine=row_numbers.fmod_loosely
    ),
    Method("math.hypot", "(float, float) -> float", row_numbers.hypot),
    Method("math.atan2", "(float, float) -> float", "math.atan2({0}, {1})"),
    # The sign of a NaN depends on the processor: some set it for infinity % 10.
    Method(
        "math.copysign",
        "(float, float) -> float",
        "math.copysign({0}, {1})",
        "{1} != {1}",
        machine="math.copysign({0}, {1})",
    ),
    Method("math.fabs", "(float) -> float", "abs({0})"),
    Method("math.degrees", "(float) -> float", "{0} * 57.29577951308232"),
    Method("math.radians", "(float) -> float", "{0} * 0.017453292519943295"),
    Method("math.modf", "(float) -> tuple[float, float]", row_numbers.modf),
    Method("math.isnan", "(float) -> bool", "{0} != {0}"),
    Method("math.isinf", "(float) -> bool", _INFINITE),
    Method("math.isfinite", "(float) -> bool", "abs({0}) <= 1.7976931348623157e308"),
    Method(
        "math.isclose",
        "(float, float, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool",
        row_numbers.is_close,
    ),
    Method("operator.index", "(int) -> int", "{0}"),
    Method("math.gcd", "(int, int) -> int", row_numbers.gcd),
    Method("math.lcm", "(int, int) -> int", row_numbers.lcm),
    Method("math.factorial", "(int) -> int", row_numbers.factorial),
    Method("math.comb", "(int, int) -> int", Bound(row_numbers.arrangements, ordered=0)),
    Method("math.perm", "(int, int) -> int", Bound(row_numbers.arrangements, ordered=1)),
    Method("math.isqrt", "(int) -> int", row_numbers.isqrt),
    # Behind those of floats, as signed integers could be unsigned ones too.
    *_of_unsigned(),
]

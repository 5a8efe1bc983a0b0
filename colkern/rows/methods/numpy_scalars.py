"""Rows for NumPy's functions of scalars: none of them raises.

Functions whose last digit depends on the processor's vector unit in NumPy exist only with the machine's
arithmetic, where they are those of C's library.
"""

from __future__ import annotations

from colkern.kernels import row_numbers
from colkern.rows.methods import Method
from colkern.rows.methods.numbers import as_integers

_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh")

_ELEMENTARY = {
    **{name: name for name in ("exp", "expm1", "log", "log2", "log10", "log1p", *_ARCS)},
    **{f"arc{name}": f"a{name}" for name in _ARCS},
}
"""NumPy's functions of one float, with their names in `math`."""


def _widths() -> list[Method]:
    """Returns the rows for numbers of other widths: 64-bit values that are rounded or wrapped around."""
    return [
        *(
            Method(f"numpy.{name}", f"({kind}) -> int", None, machine=f"i8({code}({inner}))")
            for name, code in (("int8", "i1"), ("int16", "i2"), ("int32", "i4"))
            for kind, inner in (("int", "{0}"), ("float", "i8({0})"))
        ),
        Method("numpy.float32", "(int) -> float", None, machine="f8(f4({0}))"),
        Method("numpy.float32", "(float) -> float", None, machine="f8(f4({0}))"),
    ]


METHODS = [
    *_widths(),
    Method("numpy.bool", "(bool) -> bool", "{0}"),
    Method("numpy.bool", "(int) -> bool", "{0} != 0"),
    Method("numpy.bool", "(float) -> bool", "{0} != 0.0"),
    *as_integers("numpy.int64"),
    Method("numpy.float64", "(float) -> float", "{0}"),
    Method("numpy.isnan", "(float) -> bool", "{0} != {0}"),
    Method("numpy.isinf", "(float) -> bool", "abs({0}) > 1.7976931348623157e308"),
    Method("numpy.isfinite", "(float) -> bool", "abs({0}) <= 1.7976931348623157e308"),
    Method("numpy.sqrt", "(float) -> float", "math.sqrt({0})"),
    Method("numpy.floor", "(float) -> float", row_numbers.floor),
    Method("numpy.ceil", "(float) -> float", row_numbers.ceil),
    Method("numpy.trunc", "(float) -> float", row_numbers.trunc),
    Method("numpy.rint", "(float) -> float", row_numbers.rint),
    Method("numpy.absolute", "(int) -> int", "abs({0})"),
    Method("numpy.absolute", "(float) -> float", "abs({0})"),
    Method("numpy.copysign", "(float, float) -> float", "math.copysign({0}, {1})"),
    Method("numpy.maximum", "(int, int) -> int", "{0} if {0} >= {1} else {1}"),
    Method("numpy.minimum", "(int, int) -> int", "{0} if {0} <= {1} else {1}"),
    *(
        Method(
            name,
            "(float, float) -> float",
            f"{{0}} if ({{0}} {sign} {{1}}) | ({{0}} != {{0}}) else {{1}}",
            # Which zero NumPy returns depends on the processor.
            check="({0} == {1}) & (math.copysign(1.0, {0}) != math.copysign(1.0, {1}))",
            machine=f"{{0}} if ({{0}} {sign} {{1}}) | ({{0}} != {{0}}) else {{1}}",
        )
        for name, sign in (("numpy.maximum", ">="), ("numpy.minimum", "<="))
    ),
    Method("numpy.sign", "(int) -> int", "({0} > 0) - ({0} < 0)"),
    Method(
        "numpy.sign",
        "(float) -> float",
        "1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else 0.0 if {0} == 0.0 else {0}",
    ),
    *(
        Method(f"numpy.{name}", "(float) -> float", None, machine=f"math.{plain}({{0}})")
        for name, plain in _ELEMENTARY.items()
    ),
    Method("numpy.power", "(float, float) -> float", None, machine="{0} ** {1}"),
    Method("numpy.hypot", "(float, float) -> float", None, machine="math.hypot({0}, {1})"),
    Method("numpy.arctan2", "(float, float) -> float", None, machine="math.atan2({0}, {1})"),
]

"""Row functions that are lambdas, as people give them to `map` and `apply`."""

from __future__ import annotations

import math

from . import values
from .case import case

RATES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17}

case(name="shout", rows=[values.words(1)], covers="upper, +")(lambda s: s.upper() + "!")
case(name="last", rows=[values.names(2)], covers="split, -1")(lambda n: (n.split() or [""])[-1])
case(name="square", rows=[values.reals(3, -9, 9)], covers="**")(lambda x: x**2)
case(name="fahrenheit", rows=[values.floats(4)], covers="* /")(lambda c: c * 9 / 5 + 32)
case(name="add", rows=[values.integers(5), values.integers(6)], covers="+")(lambda a, b: a + b)
case(name="grade", rows=[values.between(7, 0, 100)], covers="nested conditionals")(
    lambda p: "A" if p >= 90 else "B" if p >= 75 else "C" if p >= 50 else "F"
)
case(name="even", rows=[values.integers(8)], covers="% ==")(lambda n: n % 2 == 0)
case(name="in_euro", rows=[values.currencies(9), values.amounts(9)], covers="dict get, *")(
    lambda c, a: a * RATES.get(c, 1.0)
)
case(name="norm", rows=[values.reals(10, -5, 5), values.reals(11, -5, 5)], covers="math.sqrt")(
    lambda x, y: math.sqrt(x * x + y * y)
)
case(name="has_digit", rows=[values.tokens(12)], covers="any")(
    lambda s: any(c.isdigit() for c in s)
)
case(name="year", rows=[values.dates(13)], covers="attribute")(lambda d: d.year)
case(name="rounded", rows=[values.floats(14)], covers="round with digits")(lambda x: round(x, 1))
case(name="top_level", rows=[values.urls(15)], covers="index that raises", raises=True)(
    lambda u: u.split("/")[2]
)
case(name="full", rows=[values.words(16), values.words(17)], covers="f-string")(
    lambda a, b: f"{a} {b}"
)
case(name="biggest", rows=[values.number_lists(18)], covers="max raises", raises=True)(
    lambda v: max(v)
)

# Two lambdas on a line.
_plus = case(name="plus_one", rows=[values.integers(19)], covers="+")
_minus = case(name="minus_one", rows=[values.integers(20)], covers="-")
first, second = _plus(lambda n: n + 1), _minus(lambda n: n - 1)

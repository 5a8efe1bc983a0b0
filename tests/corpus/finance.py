"""Row functions over money and risk."""

from __future__ import annotations

import math

from . import values
from .case import case

BRACKETS = ((0, 10_000, 0.0), (10_000, 40_000, 0.2), (40_000, math.inf, 0.42))
RATINGS = {"AAA": 1, "AA": 2, "A": 3, "BBB": 4, "BB": 5, "B": 6}


@case(
    rows=[values.amounts(1), values.reals(1, 0, 0.2), values.between(1, 0, 40)],
    covers="float power of an int",
)
def compound(principal: float, rate: float, years: int) -> float:
    return principal * (1 + rate) ** years


@case(
    rows=[values.amounts(2), values.reals(2, 0, 0.1), values.between(2, 1, 360)],
    covers="annuity, guard",
)
def monthly_payment(principal: float, rate: float, months: int) -> float:
    if rate == 0:
        return principal / months
    r = rate / 12
    return principal * r / (1 - (1 + r) ** -months)


@case(
    rows=[values.reals(3, 0, 500000, (-1.0,))], covers="loop over constant tuples, min, accumulate"
)
def income_tax(income: float) -> float:
    tax = 0.0
    for low, high, rate in BRACKETS:
        if income > low:
            tax += (min(income, high) - low) * rate
    return round(tax, 2)


@case(
    rows=[values.amounts(4), values.amounts(5)], covers="float division that may raise", raises=True
)
def simple_return(before: float, after: float) -> float:
    return (after - before) / before


@case(
    rows=[values.amounts(6), values.amounts(7)],
    covers="math.log with guard, None result",
    raises=True,
)
def log_return(before: float, after: float) -> float | None:
    if before > 0 and after > 0:
        return math.log(after / before)
    return None


@case(rows=[values.amounts(8)], covers="bucket by comparisons, nan falls through")
def bucket(amount: float) -> str:
    if amount < 100:
        return "0-100"
    if amount < 1000:
        return "100-1000"
    if amount >= 1000:
        return "1000+"
    return "n/a"


@case(
    rows=[values.one_of(9, list(RATINGS), ("", "CCC", "aaa", "é"))], covers="dict, in, comparison"
)
def investment_grade(rating: str) -> bool:
    return rating in RATINGS and RATINGS[rating] <= 4


@case(rows=[values.score_lists(10)], covers="list index, division of neighbours, zip")
def largest_move(prices: list[float]) -> float:
    moves = [abs(b - a) for a, b in zip(prices, prices[1:])]
    return max(moves, default=0.0)


@case(rows=[values.score_lists(11)], covers="mean and variance in a row, sqrt")
def deviation(scores: list[float]) -> float | None:
    n = len(scores)
    if n < 2:
        return None
    mean = sum(scores) / n
    variance = sum((x - mean) * (x - mean) for x in scores) / (n - 1)
    return math.sqrt(variance) if variance >= 0 else None


@case(rows=[values.score_lists(12)], covers="running maximum, loop")
def drawdown(prices: list[float]) -> float:
    peak = worst = 0.0
    for p in prices:
        peak = max(peak, p)
        if peak > 0:
            worst = min(worst, (p - peak) / peak)
    return worst


@case(
    rows=[values.reals(13, 1, 200), values.reals(14, 1, 200), values.reals(15, 0.05, 2)],
    covers="erf, exp, sqrt",
)
def call_price(spot: float, strike: float, years: float) -> float:
    def normal(x):
        return 0.5 * (1 + math.erf(x / math.sqrt(2)))

    sigma, rate = 0.25, 0.02
    d1 = (math.log(spot / strike) + (rate + sigma * sigma / 2) * years) / (sigma * math.sqrt(years))
    d2 = d1 - sigma * math.sqrt(years)
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d2)


@case(
    rows=[values.amounts(16), values.reals(16, 0, 0.15, (1.0,))],
    covers="while with counter and cap",
)
def years_to_double(amount: float, rate: float) -> int:
    years = 0
    value = amount
    while value < amount * 2 and years < 200:
        value *= 1 + rate
        years += 1
    return years


@case(
    rows=[values.integers(17), values.amounts(17)],
    covers="None-able int and float, ternary with is None",
)
def position(quantity: int | None, price: float | None) -> float:
    return 0.0 if quantity is None or price is None else quantity * price


@case(rows=[values.money(18), values.currencies(18)], covers="Decimal, match, multiplication")
def in_euro(amount, currency):
    from decimal import Decimal

    match currency:
        case "EUR":
            rate = Decimal("1")
        case "USD":
            rate = Decimal("0.92")
        case "GBP" | "CHF":
            rate = Decimal("1.1")
        case _:
            return None
    return round(amount * rate, 2)


@case(rows=[values.integers(19), values.integers(20)], covers="checked int64: products and sums")
def exposure(long: int, short: int) -> int:
    return long * 3 - short * 2


@case(
    rows=[values.reals(21, -0.5, 0.5), values.reals(22, 0, 1)], covers="basis points, int, rounding"
)
def basis_points(change: float, share: float) -> int:
    return int(round(change * share * 10_000))


@case(rows=[values.floats(23)], covers="f-string percent and sign, nan and inf")
def shown_change(change: float) -> str:
    arrow = "▲" if change > 0 else "▼" if change < 0 else "="
    return f"{arrow} {change:+.2%}"


@case(rows=[values.score_lists(24), values.reals(24, 0, 0.3)], covers="enumerate in sum, power")
def present_value(flows: list[float], rate: float) -> float:
    return sum(flow / (1 + rate) ** year for year, flow in enumerate(flows, start=1))


@case(
    rows=[values.texts(25, lambda r: f"({r.randint(1, 9999):,}.{r.randint(0, 99):02})")],
    covers="accounting sign, try",
)
def accounting(text: str) -> float | None:
    t = text.strip().replace(",", "")
    negative = t.startswith("(") and t.endswith(")")
    try:
        value = float(t.strip("()"))
    except ValueError:
        return None
    return -value if negative else value

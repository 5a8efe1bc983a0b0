"""Row functions over invoices."""

from __future__ import annotations

import math
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from . import values
from .case import case

VAT = {"DE": 0.19, "FR": 0.2, "GB": 0.2, "CH": 0.081, "JP": 0.1}
REDUCED = frozenset({"book", "bread", "milk"})
TERMS = {"net30": 30, "net60": 60, "due": 0}
CENT = Decimal("0.01")


class Total(NamedTuple):
    net: float
    tax: float
    gross: float


@case(rows=[values.amounts(1), values.reals(1, 0, 0.3)], covers="float arithmetic, round to cents")
def gross(net: float, rate: float) -> float:
    return round(net * (1 + rate), 2)


@case(rows=[values.amounts(2), values.countries(2)], covers="dict.get, NamedTuple result")
def taxed(net: float, country: str) -> Total:
    tax = round(net * VAT.get(country.strip().upper(), 0.0), 2)
    return Total(net, tax, net + tax)


@case(rows=[values.money(3)], covers="Decimal times constant, quantize")
def decimal_tax(net: Decimal) -> Decimal:
    return (net * Decimal("0.19")).quantize(CENT, rounding=ROUND_HALF_UP)


@case(rows=[values.money(4), values.money(5)], covers="Decimal comparison and subtraction")
def open_amount(total: Decimal, paid: Decimal | None) -> Decimal:
    if paid is None:
        return total
    rest = total - paid
    return rest if rest > 0 else Decimal("0.00")


@case(
    rows=[values.between(6, 0, 500, (10**9,)), values.amounts(6)],
    covers="elif chain, discount steps",
)
def discounted(quantity: int, price: float) -> float:
    if quantity >= 100:
        factor = 0.8
    elif quantity >= 50:
        factor = 0.9
    elif quantity >= 10:
        factor = 0.95
    else:
        factor = 1.0
    return quantity * price * factor


@case(rows=[values.dates(7)], covers="date plus timedelta that may overflow", raises=True)
def due_date(issued: date) -> date:
    return issued + timedelta(days=30)


@case(
    rows=[values.dates(8), values.one_of(8, ["net30", "net60", "due"], ("", "NET30", "é"))],
    covers="date arithmetic with look-up, weekend, guard",
)
def due_on_business_day(issued: date, terms: str) -> date:
    if issued.year > 9998:
        return issued
    due = issued + timedelta(days=TERMS.get(terms.lower(), 14))
    while due.weekday() >= 5:
        due += timedelta(days=1)
    return due


@case(rows=[values.dates(9), values.dates(10)], covers="days of a difference, conditional")
def days_overdue(due: date, paid: date | None) -> int:
    until = paid if paid is not None else date(2024, 6, 30)
    return max((until - due).days, 0)


@case(
    rows=[values.amounts(11), values.between(11, -10, 120)],
    covers="early returns, math.floor, no hints",
)
def late_fee(amount, days):
    if days <= 0 or not math.isfinite(amount):
        return 0.0
    weeks = math.floor(days / 7)
    return min(amount * 0.01 * weeks, 50.0)


@case(rows=[values.amounts(12)], covers="round without digits, guard for nan")
def rounded_up_to_five(amount: float) -> int:
    if amount != amount or abs(amount) > 1e12:
        return 0
    return math.ceil(amount / 5) * 5


@case(rows=[values.amounts(13)], covers="round half even, bankers")
def whole(amount: float) -> int | None:
    return round(amount) if math.isfinite(amount) else None


@case(
    rows=[values.amounts(14), values.currencies(14)],
    covers="f-string with thousands and two digits",
)
def shown(amount: float, currency: str) -> str:
    symbol = {"EUR": "€", "USD": "$", "GBP": "£"}.get(currency)
    if symbol is None:
        return f"{amount:,.2f} {currency}"
    return f"{symbol}{amount:,.2f}"


@case(rows=[values.amounts(15)], covers="int of float that may raise", raises=True)
def in_cents(amount: float) -> int:
    return int(amount * 100 + 0.5)


@case(
    rows=[values.between(16, 1, 99999), values.dates(16)],
    covers="f-string of date and padded number",
)
def invoice_number(counter: int, day: date) -> str:
    return f"INV-{day.year}{day.month:02}-{counter:06d}"


@case(
    rows=[values.texts(17, lambda r: f"INV-{r.randint(2000, 2030)}-{r.randint(1, 9999):04}")],
    covers="split, len check, int, tuple result",
)
def number_parts(number: str) -> tuple[int, int]:
    parts = number.split("-")
    if len(parts) == 3 and parts[0] == "INV" and parts[1].isdigit() and parts[2].isdigit():
        return int(parts[1]), int(parts[2])
    return 0, 0


@case(rows=[values.score_lists(18)], covers="sum and len of a list column")
def average_line(lines: list[float]) -> float | None:
    return sum(lines) / len(lines) if lines else None


@case(rows=[values.words(19), values.amounts(19)], covers="frozenset membership, conditional")
def item_tax(item: str, price: float) -> float:
    rate = 0.07 if item.lower() in REDUCED else 0.19
    return price * rate


@case(
    rows=[values.amounts(20), values.amounts(21)],
    covers="None-able floats, `or`, is None",
)
def net_of_discount(amount: float | None, discount: float | None) -> float | None:
    if amount is None:
        return None
    return amount - (discount or 0.0)


@case(rows=[values.money(22)], covers="Decimal to int and str, divmod")
def cash_words(amount: Decimal) -> str:
    whole, cents = divmod(int(abs(amount) * 100), 100)
    sign = "minus " if amount < 0 else ""
    return f"{sign}{whole} and {cents:02}/100"


@case(
    rows=[values.amounts(23), values.between(23, 1, 12)],
    covers="list built in a loop, last element takes the rest",
)
def instalments(total: float, count: int) -> list[float]:
    each = round(total / count, 2)
    plan = [each] * (count - 1)
    plan.append(round(total - sum(plan), 2))
    return plan

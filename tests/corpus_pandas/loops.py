"""Loops over the values of columns: comprehensions over `zip`, and lists to which a loop appends."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .case import case

RATES = {"DE": 1.0, "FR": 1.1, "us": 0.9}


def _overlap(left: str, right: str) -> float:
    first, second = set(left.split()), set(right.split())
    return len(first & second) / len(first | second) if first | second else 0.0


@case("double", name="name", other="country")
def overlap(name: pd.Series, other: pd.Series) -> pd.Series:
    return pd.Series(
        [_overlap(a, b) if a and b else 0.0 for a, b in zip(name.fillna(""), other.fillna(""))]
    )


@case("string", name="name", country="country")
def label(name: pd.Series, country: pd.Series) -> pd.Series:
    suffix = "!"
    return pd.Series(
        [f"{a}\n ({b}){suffix}" for a, b in zip(name, country, strict=True)], index=name.index
    )


@case("double", price="price", share="share")
def due(price: pd.Series, share: pd.Series) -> pd.Series:
    result = []
    for amount, part in zip(price, share):
        if amount > 100:
            result.append(amount * (1 - part))
            continue
        try:
            result.append(amount / part)
        except ZeroDivisionError:
            result.append(None)
    return pd.Series(result)


@case("double", lat="price", lon="share", other_lat="amount", other_lon="share")
def distance(
    lat: pd.Series, lon: pd.Series, other_lat: pd.Series, other_lon: pd.Series
) -> pd.Series:
    def between(a: float, b: float, c: float, d: float) -> float:
        return math.sqrt((a - c) ** 2 + (b - d) ** 2) if abs(a) < 1e9 > abs(c) else -1.0

    return pd.Series([between(a, b, c, d) for a, b, c, d in zip(lat, lon, other_lat, other_lon)])


@case("double", price="price", country="country")
def converted(price: pd.Series, country: pd.Series) -> pd.Series:
    values = []
    for amount, place in zip(price, country):
        rate = RATES.get(place, 2.0)
        if amount > 50:
            values.append(amount * rate)
        else:
            values.append(rate)
    return pd.Series(values, dtype="float64").round(2)


@case("bigint", code="code")
def digits(code: pd.Series) -> pd.Series:
    weights = [w * 3 for w in (1, 2)]
    return pd.Series([sum(weights[0] for c in text if c.isdigit()) for text in code.fillna("")])


@case("struct<value: double, grade: string>", price="price")
def graded(price: pd.Series) -> pd.DataFrame:
    grades = ["high" if p > 70 else "low" for p in price]
    return pd.DataFrame({"value": price * 2, "grade": grades})


@case("boolean", number="number", count="count")
def beyond(number: pd.Series, count: pd.Series) -> pd.Series:
    return pd.Series([bool(n > c * 10) for n, c in zip(number, count)]) & np.isfinite(number)


@case("double", price="price")
def listed(price: pd.Series) -> pd.Series:
    return pd.Series([v * 2 if v > 50 else 0.0 for v in price.tolist()])


@case("double", price="price", share="share")
def numbered(price: pd.Series, share: pd.Series) -> pd.Series:
    result = []
    for _, (amount, part) in enumerate(zip(price, share)):
        result.append(amount * part)
    return pd.Series(result)


@case("string", name="name")
def mapped(name: pd.Series) -> pd.Series:
    return pd.Series(list(map(lambda text: text[:2] if isinstance(text, str) else "", name)))  # noqa: C417 As people write it.


@case("double", price="price", share="share")
def mapped_pairs(price: pd.Series, share: pd.Series) -> pd.Series:
    return pd.Series(map(lambda pair: pair[0] * (1 - pair[1]), zip(price, share)))  # noqa: C417 As people write it.


@case("double", price="price")
def guarded(price: pd.Series) -> pd.Series:
    if not isinstance(price, pd.Series):
        price = pd.Series(price)
    return pd.Series(amount * 2 if amount > 50 else 0.0 for amount in price)


@case("double", name="name", other="country")
def mapped_two(name: pd.Series, other: pd.Series) -> pd.Series:
    return pd.Series(list(map(_overlap, name.fillna(""), other.fillna(""))))


@case("struct<user: string, host: string>", email="email")
def spread(email: pd.Series) -> pd.DataFrame:
    def parts(text: object) -> tuple[str, str]:
        return (text.split("@")[0], text[-3:]) if isinstance(text, str) else ("", "")

    return pd.DataFrame(email.apply(parts).tolist(), columns=["user", "host"])


@case("double", price="price")
def labelled(price: pd.Series) -> pd.Series:
    result = []
    for _, amount in price.items():
        result.append(amount + 1 if amount > 50 else sum(rate for rate in RATES.values()))
    return pd.Series(result, index=price.index)


@case("string", name="name")
def labelled_texts(name: pd.Series) -> pd.Series:
    rates = [rate for _, rate in RATES.items()]  # noqa: PERF102 As people write it.
    return pd.Series([f"{text}: {rates[0]}" if text else None for row, text in name.items()])

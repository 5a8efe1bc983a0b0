"""Structs, lists, iterators of batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .case import case


@case("struct<low: double, high: double>", x="amount")
def limits(x: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"low": x * 0.9, "high": x * 1.1})


@case("struct<user: string, host: string>", email="email")
def split_email(email: pd.Series) -> pd.DataFrame:
    return email.str.extract(r"(?P<user>[^@]+)@(?P<host>.+)")


@case("struct<year: int, month: int>", t="moment")
def parts(t: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"year": t.dt.year, "month": t.dt.month})


@case("struct<value: double, grade: string>", x="amount")
def graded(x: pd.Series) -> pd.DataFrame:
    frame = pd.DataFrame()
    frame["value"] = x.fillna(0.0)
    frame["grade"] = np.where(x > 50, "high", "low")
    return frame


@case("double", place="place")
def away(place):
    return np.sqrt((place["lat"] - 48) ** 2 + (place["lon"] - 11) ** 2)


@case("string", place="place")
def city(place: pd.DataFrame) -> pd.Series:
    return place["city"].str.strip().str.upper()


@case("double", place="place")
def northern(place):
    return place.apply(lambda row: row["lat"] if row["lat"] > 49 else -row["lon"], axis=1)


@case("double", place="place")
def summed(place):
    return place.assign(total=place["lat"] + place["lon"]).total


@case("struct<lat: double, city: string>", place="place")
def less(place):
    return place.drop(columns="lon")


@case("double", a="amount", b="price")
def by_rows(a: pd.Series, b: pd.Series) -> pd.Series:
    frame = pd.DataFrame({"a": a, "b": b})
    return frame.apply(lambda row: row.a + row.b if row.a > 0 else row.b, axis=1)


@case("string", name="name", country="country")
def by_agg(name: pd.Series, country: pd.Series) -> pd.Series:
    return pd.DataFrame({"a": name, "b": country}).fillna("?").agg("/".join, axis=1)


@case("string", name="name", n="count")
def by_zip(name: pd.Series, n: pd.Series) -> pd.Series:
    return pd.Series([f"{a}:{b}" for a, b in zip(name, n)])


@case("double", readings="readings")
def steepest(readings: pd.Series) -> pd.Series:
    return readings.apply(lambda v: np.abs(np.diff(v)).max() if len(v) > 1 else 0.0)


@case("double", readings="readings")
def first_reading(readings: pd.Series) -> pd.Series:
    return readings.str[0]


@case("int", readings="readings")
def reading_count(readings: pd.Series) -> pd.Series:
    return readings.str.len()


@case("string", name="name")
def first_of_two(name: pd.Series) -> pd.Series:
    return name.map(lambda text: (str(text)[:2], len(str(text)))).str[0]


@case("string", name="name")
def last_of_many(name: pd.Series) -> pd.Series:
    return name.fillna("").map(lambda text: [*text.split(), "end"]).str[-1]


@case("string", name="name")
def entry(name: pd.Series) -> pd.Series:
    return name.map(lambda text: {"head": str(text)[:2]}).str.get("head")


@case("double", over_batches=True, x="amount")
def batches(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    factor = 1.5
    for x in batches:
        yield x * factor


@case("double", over_batches=True, x="amount", y="price")
def two_columns(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
    for x, y in batches:
        yield np.hypot(x, y)


@case("string", over_batches=True, name="name")
def loaded_once(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    table = {"eve": "E", "DAVE LEE": "D"}
    for name in batches:
        yield name.map(table).fillna("?").str.lower()


@case("string", over_batches=True, name="name")
def applied(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for name in batches:
        yield name.apply(lambda s: s.strip()[:2].upper() if isinstance(s, str) else "")

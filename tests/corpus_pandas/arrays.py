"""Arrays and tables of a batch's size: filled and assigned to, looked up, joined, gone over row by row."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from .case import case

SHARES = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
DAYS = np.array(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])


@case("double", x="amount")
def filled(x: pd.Series) -> pd.Series:
    out = np.empty(len(x), dtype=float)
    above = (x > 0).to_numpy()
    out[above] = 1.0
    out[~above] = -1.0
    return pd.Series(out)


@case("int", x="amount")
def graded(x: pd.Series) -> pd.Series:
    out = np.zeros(x.shape[0], dtype=int)
    out[x > 10] = 1
    out[x > 50] = 2
    return pd.Series(out)


@case("bigint", x="amount")
def cut_off(x: pd.Series) -> pd.Series:
    out = np.zeros(x.size, dtype=int)
    out[x > 10] = 1.7
    return pd.Series(out)


@case("string", x="amount")
def named(x: pd.Series) -> pd.Series:
    labels = pd.Series("low", index=x.index)
    labels[x > 50] = "medium"
    labels.loc[x > 100] = "high"
    return labels


@case("string", x="amount")
def listed(x: pd.Series) -> pd.Series:
    labels = pd.Series(["low"] * len(x))
    labels[x > 50] = "medium"
    return labels


@case("double", x="amount", y="price")
def guarded(x: pd.Series, y: pd.Series) -> pd.Series:
    if len(x) == 0 or x.empty:
        return pd.Series([], dtype="float64")
    return x * y


@case("string", x="amount")
def cut_texts(x: pd.Series) -> pd.Series:
    labels = np.where(x > 0, "a", "b")
    labels[x > 100] = "long"
    return pd.Series(labels)


@case("double", x="amount", over_batches=True)
def buffers(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for x in batches:
        out = np.full(len(x), 0.5)
        out[x > 0] = 1.0
        yield pd.Series(out)


@case("double", x="amount")
def transformed(x: pd.Series) -> pd.Series:
    return x.transform(lambda v: v * 2 if v > 0 else -v)


@case("double", x="amount")
def transformed_by_name(x: pd.Series) -> pd.Series:
    return x.transform("round", decimals=1).transform(np.abs)


@case("double", x="amount")
def transformed_or_as_a_whole(x: pd.Series) -> pd.Series:
    return x.transform(lambda v: 1 / v)


@case("double", a="amount", b="price")
def by_tuples(a: pd.Series, b: pd.Series) -> pd.Series:
    frame = pd.DataFrame({"a": a, "b": b})
    out = []
    for row in frame.itertuples(index=False):
        if row.a > row.b:
            out.append(row.a)
        else:
            out.append(row.b - row.a)
    return pd.Series(out)


@case("string", who="name", n="identity")
def told(who: pd.Series, n: pd.Series) -> pd.Series:
    frame = pd.DataFrame({"who": who, "n": n})
    return pd.Series([f"{row.who}-{row.n}" for row in frame.itertuples()])


@case("double", a="amount", b="price")
def from_iterator(a: pd.Series, b: pd.Series) -> pd.Series:
    larger = (x if x > y else y for x, y in zip(a, b))
    return pd.Series(np.fromiter(larger, dtype=float, count=len(a)))


@case("double", a="amount", b="price")
def from_generator(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.Series(np.fromiter((x if x > y else y for x, y in zip(a, b)), float, len(a)))


@case("bigint", name="name")
def lengths(name: pd.Series) -> pd.Series:
    return pd.Series(np.fromiter(map(len, name.fillna("")), dtype=np.int64))


@case("string", name="name")
def array_of_texts(name: pd.Series) -> pd.Series:
    return pd.Series(np.array([v.strip() if v else "" for v in name]))


@case("double", a="amount", b="price", c="share")
def highest(a: pd.Series, b: pd.Series, c: pd.Series) -> pd.Series:
    return pd.Series(np.column_stack([a, b, c]).max(axis=1))


@case("double", a="amount", b="price", c="share")
def highest_known(a: pd.Series, b: pd.Series, c: pd.Series) -> pd.Series:
    return pd.Series(np.nanmax(np.stack([a, b, c], axis=1), axis=1))


@case("bigint", a="amount", b="price")
def place_of_highest(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.Series(pd.DataFrame({"a": a, "b": b}).to_numpy().argmax(1))


@case("double", n="count")
def taken(n: pd.Series) -> pd.Series:
    return pd.Series(np.take(SHARES, n, mode="clip"))


@case("string", n="count")
def looked_up(n: pd.Series) -> pd.Series:
    return pd.Series(DAYS[n.values])


@case("double", n="count", a="amount", b="price")
def chosen(n: pd.Series, a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.Series(np.choose(n % 3, [a, b, 0.0]))


@np.vectorize
def _tax(amount: float, rate: float) -> float:
    return amount * rate if amount > 0 else 0.0


@case("double", amount="amount", rate="share")
def vectorized(amount: pd.Series, rate: pd.Series) -> pd.Series:
    return pd.Series(_tax(amount, rate))


@case("double", x="amount", y="price")
def renamed(x: pd.Series, y: pd.Series) -> pd.Series:
    frame = pd.concat([x, y], axis=1)
    frame.columns = ["a", "b"]
    frame.columns = ["b", "a"]
    frame.a = frame.a + 1
    return frame["a"] * 2


@case("struct<low: double, high: double>", x="amount")
def exchanged(x: pd.Series) -> pd.DataFrame:
    frame = pd.DataFrame({"low": x * 2, "high": x})
    frame.columns = ["high", "low"]
    return frame


@case("double", x="amount", n="count")
def ratio_or_zero(x: pd.Series, n: pd.Series) -> pd.Series:
    return pd.Series(np.divide(x, n, out=np.zeros(len(x)), where=n != 0))


@case("double", x="amount", y="price")
def logs_of_some(x: pd.Series, y: pd.Series) -> pd.Series:
    out = np.full(len(x), -1.0)
    np.log(y.to_numpy(), out=out, where=(x > 0).to_numpy())
    return pd.Series(out) * 2


@case("string", x="amount")
def labelled(x: pd.Series) -> pd.Series:
    bounds, labels = np.array([0.0, 25.0, 75.0]), np.array(["below", "low", "mid", "high"])
    return pd.Series(labels[np.searchsorted(bounds, x.to_numpy(), side="right")])


def _scaled(value: float, factor: float) -> float:
    return value * factor


@case("double", x="amount")
def scaled(x: pd.Series) -> pd.Series:
    return x.apply(functools.partial(_scaled, factor=3.0))


@case("double", x="amount", y="price")
def same_array(x: pd.Series, y: pd.Series) -> pd.Series:
    a = np.array(x)
    b = a.astype("float64", copy=False)
    b[b > 5] = 1.0
    np.multiply(a, 2.0, out=b, where=(y > 10).to_numpy())
    return pd.Series(a - 1)


COEFFICIENTS = np.array([0.8, -0.3])


@case("double", price="price", share="share")
def logistic(price: pd.Series, share: pd.Series) -> pd.Series:
    table = pd.DataFrame({"price": price, "share": share}).fillna(0.0)
    return pd.Series(1 / (1 + np.exp(-(table.values @ COEFFICIENTS - 0.2))))


@case("double", price="price", share="share")
def standardized(price: pd.Series, share: pd.Series) -> pd.Series:
    table = (np.column_stack([price, share]) - np.array([40.0, 0.5])) / np.array([2.5, 0.1])
    return pd.Series(np.dot(table, COEFFICIENTS))


@case("bigint", tags="tags")
def how_many_tags(tags: pd.Series) -> pd.Series:
    return pd.Series([0 if each is None else len(each) for each in tags])


@case("string", tags="tags")
def most_common_tag(tags: pd.Series) -> pd.Series:
    result = []
    for each in tags.values:
        if each is None or len(each) == 0:
            result.append(None)
            continue
        counts = {}
        for tag in each:
            counts[tag] = counts.get(tag, 0) + 1
        result.append(sorted(counts, key=lambda tag: (-counts[tag], str(tag)))[0])
    return pd.Series(result)


@case("boolean", tags="tags")
def on_sale(tags: pd.Series) -> pd.Series:
    return tags.apply(lambda each: each is not None and "sale" in each)

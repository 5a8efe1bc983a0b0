"""Numbers: features, sensors, statistics by row."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .case import case

EDGES = [-np.inf, 0, 50, 100, np.inf]


@case("double", x="amount")
def piped(x: pd.Series) -> pd.Series:
    return x.pipe(lambda s: s * 2).pipe(np.exp)


@case("double", x="amount", y="price")
def array_assigned(x: pd.Series, y: pd.Series) -> pd.Series:
    array, other = x.to_numpy().copy(), y.to_numpy()
    array[other > 40] = np.exp(-other[other > 40])
    return pd.Series(array)


@case("double", x="amount", y="price")
def ratio(x: pd.Series, y: pd.Series) -> pd.Series:
    return x / y


@case("double", celsius="amount")
def fahrenheit(celsius: pd.Series) -> pd.Series:
    return celsius * 9 / 5 + 32


@case("double", x="price")
def log_feature(x: pd.Series) -> pd.Series:
    return np.log1p(x.clip(lower=0))


@case("double", x="amount")
def sigmoid(x: pd.Series) -> pd.Series:
    return 1 / (1 + np.exp(-x))


@case("double", a="amount", b="price")
def distance(a: pd.Series, b: pd.Series) -> pd.Series:
    return np.sqrt(a**2 + b**2)


@case("double", lat="amount", lon="share")
def haversine(lat: pd.Series, lon: pd.Series) -> pd.Series:
    lat1, lon1 = np.radians(48.1), np.radians(11.6)
    lat2, lon2 = np.radians(lat), np.radians(lon)
    a = (
        np.sin((lat2 - lat1) / 2) ** 2
        + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    )
    return 6371 * 2 * np.arcsin(np.sqrt(a))


@case("string", x="amount")
def sign_name(x: pd.Series) -> pd.Series:
    return pd.Series(np.where(x > 0, "positive", "other"))


@case("string", x="amount")
def grade(x: pd.Series) -> pd.Series:
    return pd.Series(np.select([x >= 100, x >= 50, x >= 0], ["A", "B", "C"], default="D"))


@case("int", x="amount")
def level(x: pd.Series) -> pd.Series:
    return pd.Series(np.select([x > 100, x > 10], [2, 1], 0))


@case("string", x="amount")
def bucket(x: pd.Series) -> pd.Series:
    return pd.cut(x, bins=EDGES, labels=["neg", "low", "mid", "high"]).astype(str)


@case("string", x="amount")
def bucket_kept(x: pd.Series) -> pd.Series:
    return pd.cut(x, [0, 10, 100], labels=["s", "m"], right=False)


@case("int", x="price")
def digitized(x: pd.Series) -> pd.Series:
    return pd.Series(np.digitize(x, [10, 50, 100]))


@case("double", x="share")
def polynomial(x: pd.Series) -> pd.Series:
    return pd.Series(np.polyval([2.0, -1.0, 0.5], x))


@case("double", x="amount")
def negative_cut(x: pd.Series) -> pd.Series:
    x = x.copy()
    x[x < 0] = 0.0
    return x


@case("double", x="amount")
def located(x: pd.Series) -> pd.Series:
    result = x.copy()
    result.loc[x > 100] = 100.0
    return result.fillna(-1.0)


@case("double", a="amount", b="price")
def either(a: pd.Series, b: pd.Series) -> pd.Series:
    return a.combine_first(b)


@case("double", a="amount", b="price")
def combined(a: pd.Series, b: pd.Series) -> pd.Series:
    return a.combine(b, max)


@case("double", x="amount")
def logged(x: pd.Series) -> pd.Series:
    return x.apply(lambda value: math.log(value) if value > 0 else math.nan)


@case("bigint", x="identity")
def halved(x: pd.Series) -> pd.Series:
    return x.map(lambda value: value * 3 // 2)


@case("double", x="amount")
def cleaned(x: pd.Series) -> pd.Series:
    return x.replace([np.inf, -np.inf], np.nan).fillna(0)


@case("double", x="count")
def recoded(x: pd.Series) -> pd.Series:
    return x.replace({0: 10, 1: 20}).astype("float64")


@case("string", x="count")
def named(x: pd.Series) -> pd.Series:
    return x.map({0: "zero", 1: "one", 2: "two"})


@case("string", x="count")
def named_or(x: pd.Series) -> pd.Series:
    return x.map({0: "zero", 1: "one"}).fillna("many")


@case("double", x="count")
def weights(x: pd.Series) -> pd.Series:
    return x.map({0: 0.5, 1: 1.5, 2: 2.5}).fillna(1.0) * 2


@case("bigint", x="identity")
def bits(x: pd.Series) -> pd.Series:
    return (x & 0xFF) ^ (x // 256)


@case("int", x="identity")
def shard(x: pd.Series) -> pd.Series:
    return (x % 16).astype("int32")


@case("boolean", x="amount", lo="share", hi="price")
def inside(x: pd.Series, lo: pd.Series, hi: pd.Series) -> pd.Series:
    return x.between(lo, hi)


@case("boolean", x="number")
def even(x: pd.Series) -> pd.Series:
    return x % 2 == 0


@case("double", x="single")
def scaled(x: pd.Series) -> pd.Series:
    return ((x - 1.5) / 0.25).clip(-3, 3)


@case("double", x="amount")
def rounded(x: pd.Series) -> pd.Series:
    return x.round(1).abs()


@case("double", a="amount", b="price", c="share")
def greatest(a: pd.Series, b: pd.Series, c: pd.Series) -> pd.Series:
    return np.maximum(np.maximum(a, b), c)


@case("double", a="amount", b="price")
def row_mean(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.concat([a, b], axis=1).mean(axis=1)


@case("double", a="amount", b="price")
def row_max(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.DataFrame({"a": a, "b": b}).max(axis=1)


@case("double", x="amount")
def z_score(x: pd.Series) -> pd.Series:
    return (x - x.mean()) / x.std()


@case("int", f="flag")
def as_number(f: pd.Series) -> pd.Series:
    return f.fillna(False).astype(int)


@case("boolean", a="flag", x="amount")
def accepted(a: pd.Series, x: pd.Series) -> pd.Series:
    return a & (x > 0)


@case("double", x="amount")
def winsorised(x: pd.Series) -> pd.Series:
    return pd.Series(np.clip(x.to_numpy(), -10.0, 100.0))


@case("double", x="count", y="count")
def safe_ratio(x: pd.Series, y: pd.Series) -> pd.Series:
    return (x / y.replace(0, np.nan)).fillna(0.0)


@case("double", angle="amount")
def wrapped_angle(angle: pd.Series) -> pd.Series:
    return np.arctan2(np.sin(angle), np.cos(angle))


@case("double", x="amount")
def missing_as(x: pd.Series) -> pd.Series:
    return pd.Series(np.nan_to_num(x, nan=-999.0))


@case("string", x="amount")
def formatted(x: pd.Series) -> pd.Series:
    return x.round(2).astype(str)


@case("string", x="identity")
def padded(x: pd.Series) -> pd.Series:
    return x.astype(str).str.zfill(12)

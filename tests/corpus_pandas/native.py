"""Functions that mean the same in Spark, and have a native plan for columns of the types here."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd

from .case import case

STATES = {"DE": "Germany", "FR": "France", "JP": "Japan"}
RATES = {"DE": 0.19, "FR": 0.2, "GB": 0.2, "us": 0.0}


@case("double", x="amount")
def fahrenheit(x: pd.Series) -> pd.Series:
    return x * 9 / 5 + 32


@case("double", income="amount")
def tax(income: pd.Series) -> pd.Series:
    low = income.clip(0, 10_000) * 0.1
    return low + (income - 10_000).clip(0, 30_000) * 0.2 + (income - 40_000).clip(lower=0) * 0.3


@case("double", a="amount", b="price")
def ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    return (a / b).replace([np.inf, -np.inf], np.nan).fillna(0.0)


@case("double", a="amount", b="amount")
def divided(a: pd.Series, b: pd.Series) -> pd.Series:
    return a / b


@case("double", height="price", weight="amount")
def mass_index(height: pd.Series, weight: pd.Series) -> pd.Series:
    return (weight / (height / 100) ** 2).round(1)


@case("string", x="amount")
def level(x: pd.Series) -> pd.Series:
    return pd.Series(np.select([x < 0, x < 50, x < 100], ["debt", "low", "mid"], default="high"))


@case("int", a="amount", b="price", n="number")
def score(a: pd.Series, b: pd.Series, n: pd.Series) -> pd.Series:
    return (a > 10).astype(int) * 2 + (b > 50).astype(int) + (n >= 3).astype(int) * 3


@case("double", count="number", price="price", share="share")
def line_total(count: pd.Series, price: pd.Series, share: pd.Series) -> pd.Series:
    discount = np.where(count >= 5, 0.1, share.fillna(0))
    return (count * price * (1 - discount)).round(2)


@case("double", x="amount", y="price")
def rebated(x: pd.Series, y: pd.Series) -> pd.Series:
    due = x.copy()
    is_dear = y > 50
    due[is_dear] = y[is_dear] * 0.9 - x[is_dear].abs()
    due.loc[x < 0] = -x.loc[x < 0]
    due[due > 80] /= 2
    return due


@case("string", name="name", x="amount")
def exclaimed(name: pd.Series, x: pd.Series) -> pd.Series:
    name = name.copy()
    name[x > 20] = name[x > 20].str.strip() + "!"
    return name


@case("double", x="amount", y="price")
def change(x: pd.Series, y: pd.Series) -> pd.Series:
    return ((x - y) / y.replace(0, np.nan) * 100).round(2)


@case("string", country="country")
def recoded(country: pd.Series) -> pd.Series:
    return country.replace({"us": "US", "GB ": "GB"}).replace("JP", "Japan")


@case("int", day="day")
def age(day: pd.Series) -> pd.Series:
    born = pd.to_datetime(day)
    is_ahead = (born.dt.month > 6) | ((born.dt.month == 6) & (born.dt.day > 30))
    return 2024 - born.dt.year - is_ahead.astype(int)


@case("double", x="amount")
def outliers(x: pd.Series) -> pd.Series:
    kept = x.copy()
    kept[kept > 100] = np.nan
    return kept


@case("double", x="amount")
def by_seven(x: pd.Series) -> pd.Series:
    return x % 7 + x // 7


@case("double", x="amount")
def whole(x: pd.Series) -> pd.Series:
    return np.floor(x) + np.ceil(x) - np.trunc(x) + np.sqrt(np.abs(x))


@case("boolean", x="amount", y="price")
def odd_one(x: pd.Series, y: pd.Series) -> pd.Series:
    return ~((x > y) | (x.between(10, 50) & (y != 8.25)))


@case("string", x="amount")
def sign(x: pd.Series) -> pd.Series:
    def of_one(value: float) -> str:
        if math.isnan(value):
            return "missing"
        if value < 0:
            return "negative"
        return "zero" if value == 0 else "positive"

    return x.apply(of_one)


@case("double", country="country", price="price")
def with_tax(country: pd.Series, price: pd.Series) -> pd.Series:
    return price * (1 + country.map(RATES).fillna(0.0))


@case("string", country="country")
def state(country: pd.Series) -> pd.Series:
    return country.str.strip().map(STATES).fillna("other")


@case("boolean", country="country", price="price")
def dear(country: pd.Series, price: pd.Series) -> pd.Series:
    return country.isin(["DE", "FR"]) & (price > 50)


@case("string", name="name", country="country")
def labelled(name: pd.Series, country: pd.Series) -> pd.Series:
    return name.fillna("") + " (" + country.fillna("?") + ")"


@case("string", code="code")
def middle(code: pd.Series) -> pd.Series:
    return code.str.slice(3, 6) + code.str[-2:]


@case("string", name="name")
def short(name: pd.Series) -> pd.Series:
    return name.where(name.str.len() <= 5, name.str.slice(0, 4) + "…")


@case("string", name="name")
def last_word(name: pd.Series) -> pd.Series:
    return name.str.split().str[-1]


@case("boolean", address="address")
def of_a_shop(address: pd.Series) -> pd.Series:
    actual = address.str.contains("shop1") | address.str.startswith("http://")
    return actual | address.str.endswith("x")


@case("string", text="number_text")
def without_signs(text: pd.Series) -> pd.Series:
    return text.str.replace("$", "", regex=False).str.replace(",", "", regex=False)


@case("int", t="moment")
def year(t: pd.Series) -> pd.Series:
    return t.dt.year


@case("string", t="moment")
def part_of_day(t: pd.Series) -> pd.Series:
    hour = t.dt.hour
    return pd.Series(np.select([hour < 6, hour < 12], ["night", "morning"], default="later"))


@case("string", t="moment")
def dated(t: pd.Series) -> pd.Series:
    return t.dt.day_name() + t.dt.strftime(", %Y-%m-%d %H:%M")


@case("int", x="amount")
def bucket(x: pd.Series) -> pd.Series:
    return pd.Series(np.digitize(x, [0, 10, 50, 100]))


@case("double", x="amount")
def limited(x: pd.Series) -> pd.Series:
    return np.minimum(np.maximum(x, 0), 99.5)


@case("boolean", t="moment")
def at_weekends(t: pd.Series) -> pd.Series:
    return t.dt.dayofweek >= 5


@case("double", start="moment", end="later")
def hours(start: pd.Series, end: pd.Series) -> pd.Series:
    return (end - start).dt.total_seconds() / 3600


@case("int", start="moment", end="later")
def days_between(start: pd.Series, end: pd.Series) -> pd.Series:
    return (end - start).dt.days


@case("date", t="moment")
def day_of(t: pd.Series) -> pd.Series:
    return t.dt.date


@case("boolean", day="day")
def last_day(day: pd.Series) -> pd.Series:
    return pd.to_datetime(day).dt.is_month_end


@case("struct<low: double, high: double>", x="amount")
def around(x: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"low": (x - 5).clip(lower=0), "high": x + 5})


@case("struct<value: double, grade: string>", x="amount")
def marked(x: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"value": x.round(1), "grade": np.where(x >= 50, "pass", "fail")})


@case("string", code="code")
def renumbered(code: pd.Series) -> pd.Series:
    return code.str.removeprefix("AB-").str.strip("xyz-").str.zfill(5).str.rjust(8, "*")


@case("string", name="name")
def initial(name: pd.Series) -> pd.Series:
    return name.str.strip().str[0] + "."


@case("string", email="email")
def user(email: pd.Series) -> pd.Series:
    return email.str.split("@").str.get(0)


@case("string", code="code")
def number(code: pd.Series) -> pd.Series:
    return code.str.split("-").str[1]


@case("string", code="code")
def kind(code: pd.Series) -> pd.Series:
    return code.str.split("-").str[-1]


@case("int", name="name")
def place_of_a_space(name: pd.Series) -> pd.Series:
    return name.str.find(" ").fillna(-1).astype(int)


@case("int", name="name")
def size(name: pd.Series) -> pd.Series:
    return name.fillna("").str.len()


@case("boolean", text="plain_number_text")
def blank_or_with_a_point(text: pd.Series) -> pd.Series:
    return text.str.isspace() | text.str.contains(".", regex=False, na=False)


@case("int", x="amount")
def steps(x: pd.Series) -> pd.Series:
    return np.floor(x / 10).fillna(0).clip(-5, 5).astype("int32")


@case("int", t="moment")
def minute_of_day(t: pd.Series) -> pd.Series:
    return t.dt.hour * 60 + t.dt.minute


@case("string", t="moment")
def season(t: pd.Series) -> pd.Series:
    month = t.dt.month
    winter, summer = month.isin([12, 1, 2]), month.isin([6, 7, 8])
    return pd.Series(np.select([winter, summer], ["winter", "summer"], "between"))


@case("boolean", t="moment", later="later")
def within_a_year(t: pd.Series, later: pd.Series) -> pd.Series:
    return (t >= pd.Timestamp("2024-02-29 12:00")) & (later < pd.Timestamp(2025, 1, 1)) | (
        t != later
    )


@case("boolean", day="day")
def since(day: pd.Series) -> pd.Series:
    return pd.to_datetime(day) > datetime.datetime(2024, 1, 31)


@case("int", day="day")
def day_when_due(day: pd.Series) -> pd.Series:
    return (pd.to_datetime(day) + pd.Timedelta(days=30)).dt.day


@case("timestamp", t="moment")
def back(t: pd.Series) -> pd.Series:
    return t - datetime.timedelta(hours=7, microseconds=5)


@case("boolean", t="moment", later="later")
def soon(t: pd.Series, later: pd.Series) -> pd.Series:
    return later <= t + pd.Timedelta(days=2)


@case("date", t="moment")
def day_before(t: pd.Series) -> pd.Series:
    return (t - pd.Timedelta("1D")).dt.date


@case("int", x="amount")
def graded(x: pd.Series) -> pd.Series:
    if len(x) == 0:
        return x
    out = np.zeros(len(x), dtype=int)
    out[x > 10] = 1
    out[(x > 50).to_numpy()] += 1
    return pd.Series(out)


@case("string", x="amount")
def with_labels(x: pd.Series) -> pd.Series:
    labels = pd.Series("low", index=x.index)
    labels[x > 50] = "medium"
    return labels + pd.Series(["!"] * len(x))


@case("double", x="amount")
def either_way(x: pd.Series) -> pd.Series:
    return x.transform(lambda v: v * 2 if v > 0 else -v)


@case("double", a="amount", b="price")
def of_rows(a: pd.Series, b: pd.Series) -> pd.Series:
    frame = pd.DataFrame({"a": a, "b": b})
    return frame["a"].clip(0.0, 9.0) - frame.b


@case("string", country="country")
def stated(country: pd.Series) -> pd.Series:
    return country.map(pd.Series(STATES)).fillna("other")


@case("double", x="amount")
def changed_in_place(x: pd.Series) -> pd.Series:
    same = x
    same += 1
    same *= 2
    return x + same


@case("double", x="amount")
def array_changed_in_place(x: pd.Series) -> pd.Series:
    a = x.to_numpy().copy()
    same = np.asarray(a)
    same -= 1
    a[a > 20] -= 20
    return pd.Series(a + same)


@case("boolean", x="amount", y="price")
def condition_changed_in_place(x: pd.Series, y: pd.Series) -> pd.Series:
    both = either = x > 0
    both &= y > 10
    return either


@case("double", x="amount")
def of_a_class(x: pd.Series) -> pd.Series:
    given = x.to_numpy()
    if isinstance(given, np.ndarray) and not isinstance(x, np.ndarray):
        given = given + 1
    return pd.Series(given)


@case("double", x="amount")
def other_objects(x: pd.Series) -> pd.Series:
    piped, clipped = x.pipe(lambda s: s), x.clip()
    piped += 1
    clipped *= 2
    return x + piped


@case("double", x="amount", y="price")
def ratio_of_some(x: pd.Series, y: pd.Series) -> pd.Series:
    out = np.zeros(len(x))
    np.divide(x, y, out=out, where=y > 10)
    return pd.Series(out)

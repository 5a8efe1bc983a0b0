"""Dates and times."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .case import case

SEASONS = {12: "winter", 1: "winter", 2: "winter", 6: "summer", 7: "summer", 8: "summer"}


@case("int", t="moment")
def hour(t: pd.Series) -> pd.Series:
    return t.dt.hour


@case("int", t="moment")
def day_of_week(t: pd.Series) -> pd.Series:
    return t.dt.dayofweek


@case("boolean", t="moment")
def weekend(t: pd.Series) -> pd.Series:
    return t.dt.dayofweek >= 5


@case("string", t="moment")
def month_name(t: pd.Series) -> pd.Series:
    return t.dt.strftime("%Y-%m")


@case("string", t="moment")
def season(t: pd.Series) -> pd.Series:
    return t.dt.month.map(SEASONS).fillna("between")


@case("string", t="moment")
def quarter(t: pd.Series) -> pd.Series:
    return t.dt.year.astype(str) + "Q" + t.dt.quarter.astype(str)


@case("date", t="moment")
def month_begun(t: pd.Series) -> pd.Series:
    return t.dt.to_period("M").dt.start_time.dt.date


@case("timestamp", t="moment")
def floored(t: pd.Series) -> pd.Series:
    return t.dt.floor("D")


@case("timestamp", t="moment")
def shifted(t: pd.Series) -> pd.Series:
    return t + pd.Timedelta(hours=3)


@case("double", a="moment", b="later")
def elapsed(a: pd.Series, b: pd.Series) -> pd.Series:
    return (b - a).dt.total_seconds() / 3600


@case("bigint", a="moment", b="later")
def days_between(a: pd.Series, b: pd.Series) -> pd.Series:
    return (b - a).dt.days


@case("string", t="moment")
def part_of_day(t: pd.Series) -> pd.Series:
    h = t.dt.hour
    return pd.Series(np.select([h < 6, h < 12, h < 18], ["night", "morning", "noon"], "evening"))


@case("timestamp", text="day_text")
def parsed(text: pd.Series) -> pd.Series:
    return pd.to_datetime(text, format="%Y-%m-%d")


@case("date", text="german_day_text")
def parsed_german(text: pd.Series) -> pd.Series:
    return pd.to_datetime(text, format="%d.%m.%Y", errors="coerce").dt.date


@case("int", text="day_text")
def year_of_text(text: pd.Series) -> pd.Series:
    return pd.to_datetime(text, errors="coerce").dt.year


@case("int", day="day")
def year_of_day(day: pd.Series) -> pd.Series:
    return pd.to_datetime(day).dt.year


@case("int", day="day")
def age(day: pd.Series) -> pd.Series:
    return day.apply(lambda d: 2024 - d.year - ((d.month, d.day) > (6, 30)))


@case("date", day="day")
def month_end(day: pd.Series) -> pd.Series:
    return (pd.to_datetime(day) + pd.offsets.MonthEnd(0)).dt.date


@case("string", day="day")
def iso_week(day: pd.Series) -> pd.Series:
    return day.map(lambda d: f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02d}")


@case("boolean", t="local_moment")
def month_start(t: pd.Series) -> pd.Series:
    return t.dt.is_month_start


@case("timestamp", t="moment")
def in_berlin(t: pd.Series) -> pd.Series:
    return t.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin").dt.tz_localize(None)


@case("bigint", t="moment")
def epoch(t: pd.Series) -> pd.Series:
    return t.astype("int64") // 10**6


@case("int", a="day", t="moment")
def working_days(a: pd.Series, t: pd.Series) -> pd.Series:
    days = [pd.to_datetime(each).to_numpy().astype("datetime64[D]") for each in (a, t)]
    return pd.Series(np.busday_count(*days))


@case("bigint", t="moment")
def epoch_in_zone(t: pd.Series) -> pd.Series:
    return (t - pd.Timestamp("1970-01-01", tz=t.dt.tz)) // pd.Timedelta("1s")


@case("timestamp", t="moment")
def in_a_zone(t: pd.Series) -> pd.Series:
    local = t.dt.tz_localize("UTC") if t.dt.tz is None else t
    return local.dt.tz_convert("Europe/Berlin")


@case("bigint", t="moment")
def since(t: pd.Series) -> pd.Series:
    return (t - pd.Timestamp("2020-01-01")).dt.days


@case("boolean", t="moment")
def recent(t: pd.Series) -> pd.Series:
    return t >= "2024-06-01"


@case("string", t="moment")
def weekday_name(t: pd.Series) -> pd.Series:
    return t.dt.day_name().str[:3]


@case("timestamp", a="moment", b="later")
def earliest(a: pd.Series, b: pd.Series) -> pd.Series:
    return a.where(a < b, b)


@case("double", t="moment")
def cyclic(t: pd.Series) -> pd.Series:
    return np.sin(2 * np.pi * t.dt.hour / 24)


@case("date", t="moment")
def to_date(t: pd.Series) -> pd.Series:
    return t.dt.date


@case("int", t="moment")
def calendar_week(t: pd.Series) -> pd.Series:
    return t.dt.isocalendar().week

"""Row functions over days, moments and spans."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from . import values
from .case import case

HOLIDAYS = {(1, 1), (5, 1), (12, 25), (12, 26)}
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
TODAY = date(2024, 6, 30)
EPOCH = datetime(1970, 1, 1)


class Week(NamedTuple):
    year: int
    week: int
    weekday: int


@case(rows=[values.dates(1)], covers="date attributes, tuple comparison, bool arithmetic")
def age(born: date) -> int:
    return TODAY.year - born.year - ((TODAY.month, TODAY.day) < (born.month, born.day))


@case(rows=[values.dates(2)], covers="f-string of attributes, integer division")
def quarter(day: date) -> str:
    return f"{day.year}Q{(day.month - 1) // 3 + 1}"


@case(rows=[values.dates(3)], covers="weekday, set of tuples")
def business_day(day: date) -> bool:
    return day.weekday() < 5 and (day.month, day.day) not in HOLIDAYS


@case(rows=[values.dates(4)], covers="date.isocalendar, NamedTuple result")
def iso_week(day: date) -> Week:
    year, week, weekday = day.isocalendar()
    return Week(year, week, weekday)


@case(rows=[values.dates(5)], covers="strftime with a constant format")
def german(day: date) -> str:
    return day.strftime("%d.%m.%y")


@case(rows=[values.dates(6)], covers="date.replace, timedelta, last of month", raises=True)
def month_end(day: date) -> date:
    following = day.replace(day=28) + timedelta(days=4)
    return following - timedelta(days=following.day)


@case(rows=[values.dates(7)], covers="isoformat and slices")
def month_text(day: date) -> str:
    return day.isoformat()[:7]


@case(rows=[values.dates(8), values.dates(9)], covers="difference in months, no hints")
def months_between(a, b):
    return (b.year - a.year) * 12 + b.month - a.month


@case(rows=[values.dates(10)], covers="toordinal, modulo, list index")
def weekday_name(day: date) -> str:
    return WEEKDAYS[(day.toordinal() + 6) % 7]


@case(rows=[values.dates(11)], covers="leap year, boolean operators")
def leap(day: date) -> bool:
    y = day.year
    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)


@case(rows=[values.dates(12)], covers="timetuple or day of year by subtraction")
def day_of_year(day: date) -> int:
    return (day - date(day.year, 1, 1)).days + 1


@case(rows=[values.dates(13)], covers="while until Monday, guard for the first day")
def monday(day: date) -> date:
    if day == date.min:
        return day
    while day.weekday() != 0:
        day = day - timedelta(1)
    return day


@case(
    rows=[values.dates(14), values.dates(15), values.dates(16)],
    covers="min and max of dates, None-able",
)
def latest(a: date | None, b: date | None, c: date | None) -> date | None:
    known = [d for d in (a, b, c) if d is not None]
    return max(known) if known else None


@case(rows=[values.iso_days(17)], covers="date.fromisoformat in try/except")
def parsed(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@case(rows=[values.day_texts(18)], covers="several strptime formats in a loop")
def any_format(text: str) -> date | None:
    for form in ("%d.%m.%Y", "%m/%d/%Y", "%Y%m%d"):
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            pass
    return None


@case(rows=[values.iso_days(19)], covers="split and date constructor that may raise", raises=True)
def from_parts(text: str) -> date:
    y, m, d = text.split("-")
    return date(int(y), int(m), int(d))


@case(rows=[values.timestamps(20)], covers="datetime attributes, part of the day")
def part_of_day(when: datetime) -> str:
    if 5 <= when.hour < 12:
        return "morning"
    if 12 <= when.hour < 18:
        return "afternoon"
    return "evening" if when.hour >= 18 else "night"


@case(rows=[values.timestamps(21)], covers="datetime.replace truncation")
def to_hour(when: datetime) -> datetime:
    return when.replace(minute=0, second=0, microsecond=0)


@case(rows=[values.timestamps(22)], covers="difference, total_seconds")
def epoch_seconds(when: datetime) -> float:
    return (when - EPOCH).total_seconds()


@case(
    rows=[values.timestamps(23), values.timestamps(24)],
    covers="difference of moments, divmod, f-string",
)
def took(start: datetime, end: datetime) -> str:
    span = end - start if end >= start else start - end
    hours, rest = divmod(span.seconds, 3600)
    return f"{span.days}d {hours:02}:{rest // 60:02}:{rest % 60:02}"


@case(rows=[values.timestamps(25)], covers="strftime of a moment")
def stamp(when: datetime) -> str:
    return when.strftime("%H:%M on %d %B")


@case(rows=[values.timestamps(26)], covers="str of a datetime, isoformat with timespec")
def as_text(when: datetime) -> str:
    return when.isoformat(sep=" ", timespec="seconds") + "|" + str(when)


@case(rows=[values.timestamps(27)], covers="date(), time(), comparison of times")
def office_hours(when: datetime) -> bool:
    return when.date().weekday() < 5 and time(9) <= when.time() < time(17, 30)


@case(rows=[values.moment_texts(28)], covers="fromisoformat, attribute, except with default")
def hour_of(text: str) -> int:
    try:
        return datetime.fromisoformat(text).hour
    except ValueError:
        return -1


@case(rows=[values.zoned(29)], covers="aware datetime, attributes")
def utc_day(when: datetime) -> tuple[int, int, int]:
    return when.year, when.month, when.day


@case(rows=[values.clock_times(30)], covers="time attributes, arithmetic")
def minute_of_day(at: time) -> int:
    return at.hour * 60 + at.minute + (1 if at.second >= 30 else 0)


@case(rows=[values.spans(31)], covers="timedelta comparison, division, days and seconds")
def span_text(span: timedelta) -> str:
    sign = "-" if span < timedelta(0) else ""
    span = abs(span)
    return f"{sign}{span.days}.{span.seconds // 3600:02}h"


@case(rows=[values.spans(32)], covers="timedelta // timedelta, %, *")
def working_days(span: timedelta) -> int:
    return span // timedelta(hours=8) if span > timedelta() else 0


@case(rows=[values.durations(33)], covers="re.findall with groups, dict of factors")
def seconds_of(text: str) -> int:
    import re

    factors = {"h": 3600, "m": 60, "s": 1}
    return sum(int(n) * factors[unit] for n, unit in re.findall(r"(\d+)([hms])", text))


@case(rows=[values.dates(34)], covers="match on a tuple with guards")
def season(day: date) -> str:
    match (day.month, day.day):
        case (3 | 4 | 5, _):
            return "spring"
        case (6 | 7 | 8, _):
            return "summer"
        case (12, d) if d >= 24:
            return "holidays"
        case (9 | 10 | 11, _):
            return "autumn"
        case _:
            return "winter"


@case(rows=[values.dates(35)], covers="Easter: integer arithmetic")
def easter_month(day: date) -> int:
    y = day.year
    a, b, c = y % 19, y // 100, y % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return f // 31

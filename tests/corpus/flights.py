"""Row functions over flights."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from . import values
from .case import case

AIRLINES = {
    "AA": "American Airlines",
    "AS": "Alaska Airlines",
    "B6": "JetBlue",
    "DL": "Delta Air Lines",
    "F9": "Frontier",
    "UA": "United Air Lines (US)",
    "WN": "Southwest",
}
HUBS = {"ATL": ("DL", "WN"), "ORD": ("UA", "AA"), "DEN": ("UA", "F9"), "JFK": ("B6", "DL")}
OFFSETS = {"JFK": -5, "BOS": -5, "ATL": -5, "ORD": -6, "DEN": -7, "LAX": -8, "SFO": -8, "SEA": -8}
CANCELLED = {"A": "carrier", "B": "weather", "C": "national air system", "D": "security"}


@case(rows=[values.hhmm(1)], covers="// and % of integers")
def minutes(hhmm: int) -> int:
    return hhmm // 100 * 60 + hhmm % 100


@case(rows=[values.hhmm(2)], covers="f-string with width and zero")
def clock(hhmm: int) -> str:
    h, m = divmod(hhmm, 100)
    return f"{h % 24:02}:{m:02d}"


@case(rows=[values.hhmm(3), values.hhmm(4)], covers="modulo of a negative number")
def elapsed(departure: int, arrival: int) -> int:
    start = departure // 100 * 60 + departure % 100
    end = arrival // 100 * 60 + arrival % 100
    return (end - start) % (24 * 60)


@case(rows=[values.clocks(5)], covers="int of slices, try/except, None")
def minutes_of_text(text: str) -> int | None:
    try:
        return int(text[:2]) * 60 + int(text[2:])
    except ValueError:
        return None


@case(rows=[values.carriers(6)], covers="dict.get with default, no hints")
def airline(code):
    return AIRLINES.get(code, "unknown")


@case(rows=[values.carriers(7)], covers="try/except KeyError, str.find, slicing")
def short_airline(code: str) -> str:
    try:
        name = AIRLINES[code]
    except KeyError:
        return code
    end = name.find("(")
    return name[:end].strip() if end >= 0 else name


@case(rows=[values.carriers(8)], covers="subscript of a dict that raises KeyError", raises=True)
def airline_or_fail(code: str) -> str:
    return AIRLINES[code.upper()]


@case(rows=[values.flight_numbers(9)], covers="slices, isdigit, zfill, or None")
def normal_number(number: str) -> str | None:
    carrier, digits = number[:2], number[2:].strip()
    if not carrier.isalnum() or not digits.isdigit():
        return None
    return carrier.upper() + digits.zfill(4)


@case(rows=[values.integers(10)], covers="None-able parameter, if chain, bool result")
def late(delay: int | None) -> bool:
    if delay is None:
        return False
    return delay > 15


@case(rows=[values.integers(11)], covers="comparison chain, nested conditional")
def delay_group(delay: int) -> str:
    return (
        "early"
        if delay < 0
        else "on time"
        if delay <= 15
        else "late"
        if delay < 60
        else "very late"
    )


@case(
    rows=[values.integers(12), values.integers(13), values.integers(14)],
    covers="None-able sum, max, filter of a list",
)
def total_delay(weather: int | None, carrier: int | None, security: int | None) -> int:
    return sum(d for d in [weather, carrier, security] if d is not None and d > 0)


@case(
    rows=[values.integers(15), values.integers(16)],
    covers="tuple of text and int, max with key",
)
def worst_cause(weather: int, carrier: int) -> str:
    causes = [("weather", weather), ("carrier", carrier), ("none", 0)]
    return max(causes, key=lambda c: c[1])[0]


@case(
    rows=[values.airports(17), values.carriers(17)], covers="dict of tuples, in, get with default"
)
def at_hub(airport: str, carrier: str) -> bool:
    return carrier in HUBS.get(airport, ())


@case(
    rows=[values.airports(18), values.airports(19), values.hhmm(19)],
    covers="two look-ups, None result, arithmetic",
)
def local_arrival(origin: str, dest: str, departure: int) -> int | None:
    if origin not in OFFSETS or dest not in OFFSETS:
        return None
    hour = departure // 100 + OFFSETS[dest] - OFFSETS[origin]
    return hour % 24 * 100 + departure % 100


@case(
    rows=[values.dates(20), values.hhmm(20)],
    covers="datetime constructor from parts, 2400",
)
def departs_at(day: date, hhmm: int) -> datetime:
    hour, minute = divmod(hhmm, 100)
    return datetime(day.year, day.month, day.day, hour % 24, minute)


@case(
    rows=[values.timestamps(21), values.between(21, -30, 600)],
    covers="timedelta arithmetic that may overflow",
    raises=True,
)
def actual(scheduled: datetime, delay: int) -> datetime:
    return scheduled + timedelta(minutes=delay)


@case(
    rows=[values.reals(22, 1, 3000), values.reals(23, 0.1, 12, (0.0,))],
    covers="ZeroDivisionError",
    raises=True,
)
def speed(miles: float, hours: float) -> float:
    return round(miles / hours, 1)


@case(rows=[values.one_of(24, list("ABCD"), ("", "Z", "é"))], covers="look-up with capitalize")
def cancellation(code: str | None) -> str:
    if not code:
        return ""
    return CANCELLED.get(code, "other").capitalize()


@case(
    rows=[values.airports(25), values.airports(26), values.between(26, 1, 999)],
    covers="sorted of two texts, percent formatting",
)
def route(a: str, b: str, number: int) -> str:
    low, high = sorted((a, b))
    return "%s-%s #%04d" % (low, high, number)


@case(rows=[values.integers(27), values.integers(28)], covers="abs, boolean operators as values")
def made_up(departure_delay: int, arrival_delay: int):
    return departure_delay > 0 and arrival_delay <= 0 or abs(arrival_delay) < 5

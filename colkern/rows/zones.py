"""Datetimes with a time zone in row functions.

A value is its instant in UTC. The local time in its zone is a datetime without a zone, so the table's rows
for those serve both: a method is called for the local time, and a datetime that it returns is put into the
zone again. Python, too, adds, subtracts and compares within a zone by local time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from functools import partial
from typing import NoReturn, TypeAlias
from zoneinfo import ZoneInfo

from colkern import rows
from colkern.kernels import calendar, clock, row_values, row_zones
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked
from colkern.rows.constants import sequence_kind
from colkern.rows.emitter import Emitter
from colkern.rows.folding import constant
from colkern.rows.functions import users_function
from colkern.rows.library import moment_of_format
from colkern.rows.literals import stored_constant
from colkern.rows.methods import COMPARISONS
from colkern.rows.time_zones import OF_ROW, fixed_offset, periods_of, with_stretches
from colkern.rows.values import NONE, Value

Named: TypeAlias = Mapping[str, Value]


def require_zone(emitter: Emitter, value: Value) -> tzinfo | None:
    """Returns a time zone that is known when the function is compiled, or None."""
    zone = value.constant
    if zone is None or isinstance(zone, timezone | ZoneInfo):
        return zone
    return emitter.refuse("a time zone that depends on the row has no compiled form")


# Conversions between instants and local times


def _zone(value: Value) -> tzinfo:
    assert isinstance(value.kind, k.Aware)
    assert value.kind.zone is not None
    return value.kind.zone


def _table(emitter: Emitter, items: list[int] | list[str] | list[timedelta]) -> Value:
    return stored_constant(emitter, items, sequence_kind)


def _by_table(
    emitter: Emitter,
    body: Callable[..., object],
    zone: tzinfo,
    moment: str,
    result: k.Kind = k.INT,
    *more: Value,
) -> Value:
    periods = periods_of(zone)
    lists = with_stretches(periods.starts), periods.offsets
    arguments = [*(_table(emitter, words) for words in lists), Value(k.INT, moment), *more]
    return invoked(emitter, body, arguments, result, f"the zone {zone}")


def _offset(emitter: Emitter, value: Value) -> str:
    """Returns the code of the offset of a datetime in a zone."""
    zone = _zone(value)
    if zone is OF_ROW:
        return emitter.left(k.INT, str(zone)).code
    fixed = fixed_offset(zone)
    if fixed is not None:
        return str(fixed)
    return _by_table(emitter, row_zones.offset_at, zone, value.code).code


def _wall(emitter: Emitter, value: Value) -> Value:
    """Returns the local time in the zone."""
    offset = _offset(emitter, value)
    code = value.code if offset == "0" else emitter.bind(f"{value.code} + {offset}")
    return Value(k.DATETIME, code)


def _in_zone(emitter: Emitter, wall: Value, zone: tzinfo, *, has_fold: bool) -> Value:
    """Returns the datetime of a zone for a local time, which may have a `fold`."""
    wall = emitter.numbers(wall)
    fixed = fixed_offset(zone)
    if fixed is None:
        turns = _table(emitter, with_stretches(periods_of(zone).turns))
        more = turns, Value(k.BOOL, str(has_fold))
        instant = _by_table(emitter, row_zones.instant_of, zone, wall.code, k.INT, *more)
        return Value(k.datetime_in(zone), instant.code)
    return Value(
        k.datetime_in(zone), emitter.bind(f"{wall.code} - {fixed}" if fixed else wall.code)
    )


# Methods and attributes


def called(emitter: Emitter, name: str, arguments: Sequence[Value], named: Named) -> Value | None:
    """Compiles a function that takes or makes a datetime with a zone; returns None for other calls."""
    if name == "datetime.datetime.strptime" and _has_offset(arguments[1:]):
        head = constant(arguments[1].constant.removesuffix("%z"))
        return of_moment(emitter, moment_of_format, arguments[0], head)
    if name in _OF_NAIVE and arguments[0].kind == k.DATETIME:
        return NONE
    if name == "datetime.datetime.fromtimestamp":
        return _from_timestamp(emitter, *arguments, **named)
    owner = arguments[0] if arguments else NONE
    is_aware = isinstance(owner.kind, k.Aware)
    if is_aware:
        owner = emitter.numbers(owner)
        arguments = [owner, *arguments[1:]]
    if "tzinfo" in named:
        rest = {word: value for word, value in named.items() if word != "tzinfo"}
        zone = require_zone(emitter, named["tzinfo"])
        first = [_wall(emitter, owner) if is_aware else owner] if arguments else []
        name = name.replace("aware.", "datetime.")
        moment = call(emitter, name, [*first, *arguments[1:]], rest)
        if zone is None:
            return moment
        if moment.kind != k.DATETIME:
            emitter.refuse(f"{moment.kind} with a time zone has no compiled form")
        return _in_zone(emitter, moment, zone, has_fold=name != "datetime.datetime")
    if not any(isinstance(value.kind, k.Aware) for value in arguments):
        return None
    if name in _OPERATORS and len(arguments) == 2:
        return _operated(emitter, name, *map(emitter.numbers, arguments))
    if name in _OWN and is_aware:
        return _OWN[name](emitter, *arguments, **named)
    if name.startswith("aware.") and name[6:] in _OF_WALLS:
        wall = _wall(emitter, owner)
        moment = call(emitter, f"datetime.{name[6:]}", [wall, *arguments[1:]], named)
        if moment.kind != k.DATETIME:
            return moment
        return _in_zone(emitter, moment, _zone(owner), has_fold=True)
    return None


def _has_offset(format: Sequence[Value]) -> bool:
    """Whether a format ends in an offset, and has no other."""
    text = format[0].constant if format else None
    return isinstance(text, str) and re.findall("%(.)", text.replace("%%", ""))[-1:] == ["z"]


def of_moment(emitter: Emitter, function: Callable[..., object], *arguments: Value) -> Value:
    """Returns the datetime of an offset of its own whose instant a library function returns."""
    moment = users_function(emitter, function, list(arguments))
    return Value(k.datetime_in(OF_ROW), emitter.numbers(moment).code)


_OF_NAIVE = ("datetime.tzinfo", "datetime.utcoffset", "datetime.dst", "datetime.tzname")
"""Methods that return None for a datetime without a zone."""

_OF_WALLS = (
    *("year", "month", "day", "hour", "minute", "second", "microsecond"),
    *("weekday", "isoweekday", "toordinal", "isocalendar", "date", "time", "replace"),
)
"""Attributes and methods that depend only on the local time."""

_OPERATORS = ("+", "-", *COMPARISONS)


def _operated(emitter: Emitter, name: str, left: Value, right: Value) -> Value | None:
    if k.TIMEDELTA in (left.kind, right.kind):
        owner = left if isinstance(left.kind, k.Aware) else right
        if _zone(owner) is OF_ROW:
            # Without the offset, the local time equals the instant; the offset does not change here.
            sides = [Value(k.DATETIME, s.code) if s is owner else s for s in (left, right)]
            return _at(emitter, call(emitter, name, sides), OF_ROW)
        sides = [_wall(emitter, side) if side is owner else side for side in (left, right)]
        return _in_zone(emitter, call(emitter, name, sides), _zone(owner), has_fold=False)
    if k.DATETIME in (left.kind, right.kind):
        emitter.fail(row_values.TYPE_ERROR, "datetimes with and without a zone")
        return Value(k.TIMEDELTA, "0") if name == "-" else Value(k.BOOL, "False")
    if not (isinstance(left.kind, k.Aware) and isinstance(right.kind, k.Aware)):
        return None
    moments = [Value(k.DATETIME, side.code) for side in (left, right)]
    named_zones = [
        side
        for side in (left, right)
        if _zone(side) is not OF_ROW and fixed_offset(_zone(side)) is None
    ]
    if left.kind == right.kind and named_zones:
        moments = [_wall(emitter, side) for side in (left, right)]
    elif name in ("==", "!="):
        # Between two zones, an ambiguous local time equals no other time.
        for side in named_zones:
            repeated = _by_table(emitter, row_zones.is_repeated, _zone(side), side.code, k.BOOL)
            emitter.leave_if(repeated.code, "an ambiguous local time")
    return call(emitter, name, moments)


def _from_timestamp(emitter: Emitter, seconds: Value, tz: Value = NONE) -> Value:
    zone = require_zone(emitter, tz)
    if zone is None:
        _refuse_local(emitter)
    moment = call(emitter, "datetime.datetime.utcfromtimestamp", [seconds])
    return _astimezone(emitter, moment, tz)


def _refuse_local(emitter: Emitter) -> NoReturn:
    emitter.refuse("a datetime in the time zone of the machine has no compiled form")


def _astimezone(emitter: Emitter, value: Value, tz: Value = NONE) -> Value:
    zone = require_zone(emitter, tz)
    if zone is None:
        _refuse_local(emitter)
    if value.kind == k.datetime_in(zone):
        return value
    return _at(emitter, value, zone)


def _at(emitter: Emitter, value: Value, zone: tzinfo) -> Value:
    """Returns an instant in a zone; near the ends of the calendar, the local time may not exist."""
    first, last = clock.FIRST + calendar.DAY, clock.LAST - calendar.DAY
    test = f"{value.code} < {first} or {value.code} > {last}"
    emitter.leave_if(test, "a time at the ends of the calendar")
    return Value(k.datetime_in(zone), value.code)


def _timestamp(emitter: Emitter, value: Value) -> Value:
    since = call(emitter, "-", [Value(k.DATETIME, value.code), constant(datetime(1970, 1, 1))])
    return call(emitter, "timedelta.total_seconds", [since])


def _tzinfo(emitter: Emitter, value: Value) -> Value:
    if _zone(value) is OF_ROW:
        # It has a value, but that is unknown.
        return Value(k.Kind("tzinfo", 0))
    return constant(_zone(value))


def _of_period(emitter: Emitter, value: Value, attribute: str) -> Value:
    zone = _zone(value)
    if zone is OF_ROW:
        kind = k.TEXT if attribute == "tzname" else k.TIMEDELTA
        return emitter.left(kind, f"{attribute}() of {zone}")
    if fixed_offset(zone) is not None:
        return constant(getattr(datetime(2000, 1, 1, tzinfo=zone), attribute)())
    periods = periods_of(zone)
    starts = _table(emitter, with_stretches(periods.starts))
    moment = Value(k.INT, value.code)
    number = invoked(emitter, row_zones.period_at, [starts, moment], k.INT, f"the zone {zone}")
    items = periods.names if attribute == "tzname" else periods.savings
    return call(emitter, "[]", [_table(emitter, items), number])


_tzname = partial(_of_period, attribute="tzname")


def _offset_text(emitter: Emitter, value: Value, colon: bool) -> Value:
    zone = _zone(value)
    if fixed_offset(zone) is not None:
        at = datetime(2000, 1, 1, tzinfo=zone)
        return constant(str(at)[len("2000-01-01 00:00:00") :] if colon else at.strftime("%z"))
    arguments = [Value(k.INT, _offset(emitter, value)), constant(colon)]
    arguments[1] = emitter.numbers(arguments[1])
    return invoked(emitter, row_zones.offset_text, arguments, k.TEXT, "an offset")


def _isoformat(emitter: Emitter, value: Value, *arguments: Value, **named: Value) -> Value:
    wall = call(emitter, "datetime.isoformat", [_wall(emitter, value), *arguments], named)
    return rows.formatting.concatenated(emitter, [wall, _offset_text(emitter, value, True)])


def _str(emitter: Emitter, value: Value) -> Value:
    return _isoformat(emitter, value, constant(" "))


def _strftime(emitter: Emitter, value: Value, format: Value) -> Value:
    """`strftime`: the parts of the format for the zone are put between its other parts."""
    if not isinstance(format.constant, str):
        emitter.refuse("a format that depends on the row has no compiled form")
    wall = _wall(emitter, value)
    pieces = []
    for part in re.split("(%[zZ])", format.constant.replace("%%", "%\0")):
        text = part.replace("%\0", "%%")
        if text == "%z":
            pieces.append(_offset_text(emitter, value, False))
        elif text == "%Z":
            pieces.append(_tzname(emitter, value))
        elif text:
            pieces.append(call(emitter, "datetime.strftime", [wall, constant(text)]))
    return rows.formatting.concatenated(emitter, pieces)


def _format(emitter: Emitter, value: Value, format_spec: Value) -> Value:
    return _strftime(emitter, value, format_spec) if format_spec.constant else _str(emitter, value)


_OWN: dict[str, Callable[..., Value]] = {
    "bool": lambda e, value: constant(True),
    "str": _str,
    "format": _format,
    "aware.astimezone": _astimezone,
    "aware.dst": partial(_of_period, attribute="dst"),
    "aware.isoformat": _isoformat,
    "aware.strftime": _strftime,
    "aware.timestamp": _timestamp,
    "aware.tzinfo": _tzinfo,
    "aware.tzname": _tzname,
    "aware.utcoffset": lambda e, value: Value(k.TIMEDELTA, _offset(e, value)),
}
"""Methods and attributes that depend on the zone."""

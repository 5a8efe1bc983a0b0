"""Inference of data types from Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.slots import Values
from colkern.arrays.values import DayTime, MonthDayNano, Months, zone_name
from colkern.builders.nested import build, elements_of
from colkern.builders.parts import BadValue, each, starts_of, within_elements, within_field, wrong
from colkern.cpu.python_objects import classes_of, flattened, integers_of, members_of
from colkern.memory import DType
from colkern.missing import with_nulls


def array_of(values: Values, type_: s.DataType | None) -> Array:
    """An array of Python values, of the type that `infer` gives if `type_` is None."""
    values, classes = with_nulls(values)
    return build(_inferred(values, classes) if type_ is None else type_, values)


def infer(values: Values) -> s.DataType:
    """The type of values of one class, or integers beside floats; `BadValue` if none or several fit."""
    return _inferred(*with_nulls(values))


def _inferred(values: Values, classes: set[type]) -> s.DataType:
    """The type of values with None for nulls, the others of the given classes."""
    rules = {of_class: _rule(of_class) for of_class in classes}
    if not rules:
        return s.null()
    used = set(rules.values())
    rule = _floats if used == _NUMBERS else used.pop() if len(used) == 1 else None
    if rule is not None:
        return rule(values)
    present = [
        (index, rules[type(value)]) for index, value in enumerate(values) if value is not None
    ]
    start = present[0][1]
    fitting = _NUMBERS if start in _NUMBERS else {start}
    index, odd = next(each for each in present if each[1] is None or each[1] not in fitting)
    expected = (
        "a value whose class has an Arrow type" if odd is None else "the same class as before"
    )
    raise BadValue(TypeError, str(wrong(expected, values[index])), index)


_Rule = Callable[[Values], s.DataType]


def _rule(of_class: type) -> _Rule | None:
    return next((_RULES[base] for base in of_class.__mro__ if base in _RULES), None)


def _always(type_: s.DataType) -> _Rule:
    return lambda values: type_


def _integers(values: Values) -> s.DataType:
    if integers_of(values) is not None:
        return s.int64()
    present = [value for value in values if value is not None]
    if all(isinstance(value, np.integer) for value in present):
        dtype = np.result_type(*{value.dtype for value in present})
        if dtype.kind in "iu":
            return from_dtype(dtype)
    if max(map(int, present)) <= 2**63 - 1:
        # The builder refuses numbers below int64, with their place.
        return s.int64()
    return s.uint64()


def _floats(values: Values) -> s.DataType:
    if float in classes_of(values):
        return s.float64()
    present = [value for value in values if value is not None]
    if all(isinstance(value, np.floating) for value in present):
        return from_dtype(np.result_type(*{value.dtype for value in present}))
    return s.float64()


_NUMBERS: set[_Rule | None] = {_integers, _floats}


def _decimals(values: Values) -> s.DataType:
    before = after = 0
    for index, value in enumerate(values):
        if value is None:
            continue
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            raise BadValue(ValueError, f"{value} is no finite decimal", index)
        after = max(after, -exponent)
        before = max(before, len(digits) + exponent)
    precision = max(before + after, 1)
    if precision > s.MAX_DECIMAL_PRECISION[256]:
        index = next(i for i, value in enumerate(values) if value is not None)
        raise BadValue(ValueError, f"no decimal type has {precision} digits", index)
    width = 128 if precision <= s.MAX_DECIMAL_PRECISION[128] else 256
    return s.decimal(width, precision, after)


def _timestamps(values: Values) -> s.DataType:
    present = ((i, value) for i, value in enumerate(values) if value is not None)
    index, first = next(present)
    try:
        return s.timestamp(_unit(values, "nanosecond"), zone_name(first))
    except ValueError as error:
        raise BadValue(ValueError, str(error), index) from None


def _durations(values: Values) -> s.DataType:
    return s.duration(_unit(values, "nanoseconds"))


def _unit(values: Values, digits: str) -> s.TimeUnit:
    """The unit of dates and times: microseconds, but for pandas' classes with further digits."""
    further = classes_of(values) - {datetime, timedelta, type(None)}
    return "ns" if further and any(getattr(value, digits, 0) for value in values) else "us"


def _scalars(values: Values) -> s.DataType:
    dtypes = {value.dtype for value in values if value is not None}
    index = next(i for i, value in enumerate(values) if value is not None)
    try:
        return from_dtype(np.result_type(*dtypes))
    except TypeError as error:
        raise BadValue(TypeError, str(error), index) from None


def _lists(values: Values) -> s.DataType:
    lists: list[Values] = each(values, elements_of, [], list)
    flat, sizes = flattened(lists)
    return s.list_(within_elements(starts_of(sizes), lambda: infer(flat)))


def _structs(values: Values) -> s.DataType:
    first = next(value for value in values if value is not None)
    if all(isinstance(name, str) for name in first):
        columns = members_of(values, first)
        if columns is not None:
            return s.struct([*map(_field_type, first, columns)])
    names = dict.fromkeys(name for value in values if value is not None for name in value)
    for index, value in enumerate(values):
        for name in value or ():
            if not isinstance(name, str):
                raise BadValue(TypeError, f"{wrong('str as the name of a field', name)}", index)
    return s.struct(
        [
            _field_type(name, [None if value is None else value.get(name) for value in values])
            for name in names
        ]
    )


def _field_type(name: str, column: Values) -> tuple[str, s.DataType]:
    return name, within_field(name, lambda: infer(column))


_RULES: dict[type, _Rule] = {
    bool: _always(s.bool_()),
    np.bool_: _always(s.bool_()),
    int: _integers,
    np.integer: _integers,
    float: _floats,
    np.floating: _floats,
    str: _always(s.utf8()),
    bytes: _always(s.binary()),
    bytearray: _always(s.binary()),
    date: _always(s.date32()),
    datetime: _timestamps,
    time: _always(s.time64("us")),
    timedelta: _durations,
    np.datetime64: _scalars,
    np.timedelta64: _scalars,
    Decimal: _decimals,
    Months: _always(s.month_interval()),
    DayTime: _always(s.day_time_interval()),
    MonthDayNano: _always(s.month_day_nano_interval()),
    list: _lists,
    tuple: _lists,
    np.ndarray: _lists,
    dict: _structs,
    Mapping: _structs,
}


_KINDS = {"i": "int", "u": "uint", "f": "float"}


def from_dtype(dtype: DType) -> s.DataType:
    """The type of a NumPy dtype; raises `TypeError` if Arrow has no such type."""
    if dtype.kind == "b":
        return s.bool_()
    number = _KINDS.get(dtype.kind)
    if number is not None and dtype.itemsize <= 8:
        # The one object of that type: arrays of one type are compared by it first.
        type_: s.DataType = getattr(s, f"{number}{8 * dtype.itemsize}")()
        return type_
    if dtype.kind == "V" and dtype.fields is None and dtype.subdtype is None:
        return s.fixed_size_binary(dtype.itemsize)
    if dtype.kind in "mM":
        unit, step = np.datetime_data(dtype)
        if step == 1 and unit in s.TIME_UNITS:
            return s.timestamp(unit) if dtype.kind == "M" else s.duration(unit)
        if step == 1 and unit == "D" and dtype.kind == "M":
            return s.date32()
    raise TypeError(f"Arrow has no type for NumPy's {dtype}")

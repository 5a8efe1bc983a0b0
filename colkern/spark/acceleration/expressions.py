"""Translates graphs of functions of columns to Spark expressions that give the same results to the last
bit.

Numbers that may be missing are doubles in which NaN stands for null, as in pandas; missing texts are null.
Integers are either constants of a function, or counts and other results whose bounds are known.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructType

from colkern import schema as s
from colkern.rows import kinds as k
from colkern.rows.terms import NoTermError, Raise
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.recorded import ALONE, arguments_of, table_details
from colkern.spark.acceleration.row_calls import RowFunction
from colkern.spark.acceleration.series_methods import COMPARISONS, SYMBOLS
from colkern.spark.acceleration.texts import BY_PLACE, CLOCK, NUMBERS, QUICK
from colkern.spark.acceleration.verification import gives_what_str_gives
from colkern.spark.native import integers, sharing
from colkern.spark.native.date_rules import days_of, instant_of, seconds_of
from colkern.spark.native.integers import Integer
from colkern.spark.native.number_rules import floor, less
from colkern.spark.native.rule import COMPARED, Operand, no_form
from colkern.spark.native.text_rules import part_of_split, sliced
from colkern.spark.native.translation import RULES, spark_type_of, translated

Value: TypeAlias = Column | Integer

_NAN = float("nan")

CALLED_AGAIN = "Series.transform calls a function that raises for a value with the whole column"

BEYOND = "beyond the timestamps that pandas has"
"""The end of the message for timestamps for which the original function raises."""


@dataclass(eq=False)
class Expression:
    """Writes a graph as a Spark expression."""

    columns: Sequence[Column]  #: Each of the Spark type that its kind names.
    kinds: Sequence[str]
    name: str  #: The name of the function in messages.
    lines: Mapping[bytes, int]  #: The lines of its source, by the identities of nodes.
    _written: dict[bytes, Value] = field(init=False, default_factory=dict)

    def result(self, node: g.Node, returns: DataType) -> Column:
        """Returns the results as a column of the declared Spark type; raises NoTermError if a node has no
        such expression."""
        if isinstance(returns, StructType):
            return self._table(node, returns)
        type_ = returns.simpleString()
        if isinstance(node, g.Whole) and isinstance(node.function, RowFunction):
            return self._rows(node, node.function, type_)
        if node.dtype == g.OTHER and type_ in ("date", "timestamp"):
            return self._time(node, type_)
        if isinstance(node, g.Whole) and node.dtype == g.OTHER and node.name in _ITEMS:
            return self._part_of_text(node)
        value = self._value(node)
        refusal = NoTermError(f"it gives {node.dtype}, where {type_} is declared")
        if isinstance(value, Integer):
            low, high = _BOUNDS.get(type_, (0, -1))
            if not low <= value.low <= value.high <= high:
                raise refusal
            return value.column.cast(type_)
        if node.dtype == g.FLOAT:
            known, (low, high) = _range(node), _BOUNDS.get(type_, (0, -1))
            is_taken = known.is_whole and low <= known.low <= known.high <= high
            if type_ not in ("double", "float") and not is_taken:
                raise refusal
            return f.nanvl(value, f.lit(None).cast("double")).cast(type_)
        if type_ != {g.BOOL: "boolean", g.TEXT: "string"}.get(node.dtype):
            raise refusal
        return value

    def _table(self, node: g.Node, returns: StructType) -> Column:
        """Returns structs whose fields are columns, by the names of the declared type."""
        names = returns.names
        if not isinstance(node, g.Whole) or node.details != table_details(names):
            raise NoTermError(f"{returns.simpleString()} has no native form")
        parts = zip(names, node.operands, returns, strict=True)
        return f.struct(*(self.result(of, part.dataType).alias(name) for name, of, part in parts))

    def in_bounds(self, result: Column, returns: str) -> Column:
        """Returns the results; they fail for timestamps that are outside the range of pandas."""
        for column, kind in zip(self.columns, self.kinds, strict=True):
            if kind == "timestamp":
                is_known = f.unix_micros(column).between(-_MOST_MICROS, _MOST_MICROS)
                error = f.raise_error(f.lit(f"{self.name}: a timestamp is {BEYOND}"))
                # For a null timestamp, the condition is null, so `otherwise` applies.
                result = f.when(~is_known, error.cast(returns)).otherwise(result)
        return result

    def shareable(self) -> list[Column]:
        """Returns the parts that Spark may compute for every row, as pandas does."""
        return [each for each in self._written.values() if isinstance(each, Column)]

    def _value(self, node: g.Node) -> Value:
        if node.identity not in self._written:
            with self.at(node):
                self._written[node.identity] = self._write(node)
        return self._written[node.identity]

    @contextlib.contextmanager
    def at(self, node: g.Node) -> Iterator[None]:
        """Adds the line of a node to a refusal that is raised within."""
        try:
            yield
        except NoTermError as error:
            line = error.line or self.lines.get(node.identity, 0)
            raise NoTermError(error.reason, line) from error

    def _write(self, node: g.Node) -> Value:
        match node:
            case g.Constant(value=value):
                return _constant(value, node.dtype)
            case g.Input(position=position):
                return self._input(position, node.dtype)
            case g.Fused(dtype=np.dtype(kind="i")):
                return self._integer(node)
            case g.Fused():
                return self._fused(node)
            case g.Whole():
                return self._whole(node)
        raise AssertionError(f"{node} is no node")

    def _input(self, position: int, dtype: g.DType) -> Column:
        column = self.columns[position]
        if dtype == g.FLOAT:
            return f.coalesce(column, f.lit(_NAN))
        if dtype == g.TEXT:
            return column
        raise NoTermError(f"columns of {self.kinds[position]} have no native form here")

    # Operations on the values of a row

    def _read(self, node: g.Node, dtype: g.DType) -> Column:
        """Returns a node's values in the dtype in which an operation computes."""
        if isinstance(node, g.Constant):
            value = _constant(node.value, dtype)
            assert isinstance(value, Column)
            return value
        value = self._value(node)
        if node.dtype == dtype and isinstance(value, Column):
            return value
        if dtype == g.FLOAT and isinstance(value, Integer):
            return integers.as_float(value, self.name)
        if dtype == g.FLOAT and node.dtype == g.BOOL and isinstance(value, Column):
            return value.cast("double")
        raise NoTermError(f"{node.dtype} computed as {dtype} has no native form")

    def _fused(self, node: g.Fused) -> Column:
        if node.expression == "{0}":
            return self._read(node.operands[0], node.dtype)
        if node.dtype == g.BOOL and any(map(_is_integer, node.reads)):
            return self._compared_integers(node)
        if node.dtype not in (g.BOOL, g.FLOAT) or not {*node.reads} <= {g.BOOL, g.FLOAT}:
            raise NoTermError(f"{node.expression} of {node.reads[0]} has no native form")
        columns = [self._read(*each) for each in zip(node.operands, node.reads, strict=True)]
        if node.expression in _CHOICES:
            return _CHOICES[node.expression](*columns)
        table = _OF_FLOATS if node.reads[0] == g.FLOAT else _OF_BOOLEANS
        if node.expression in table:
            return table[node.expression](*columns)
        operands = [
            Operand(None, float(str(of.value)))
            if isinstance(of, g.Constant) and dtype == g.FLOAT
            else Operand(column)
            for column, of, dtype in zip(columns, node.operands, node.reads, strict=True)
        ]
        takes = ", ".join("float" if dtype == g.FLOAT else "bool" for dtype in node.reads)
        return _by_rule(node.expression[4:-4], f"({takes})", *operands)

    def _compared_integers(self, node: g.Fused) -> Column:
        sign = node.expression[4:-4]
        if sign not in COMPARED or not all(map(_is_integer, node.reads)):
            raise NoTermError(f"{node.expression} of integers has no native form")
        left, right = map(self._whole_number, node.operands)
        return integers.compared(sign, left, right, self.name)

    def _whole_number(self, node: g.Node) -> Integer:
        value = self._value(node)
        if isinstance(value, Integer):
            return value
        if node.dtype == g.BOOL:
            return Integer(value.cast("bigint"), 0, 1)
        raise NoTermError(f"{node.dtype} read as an integer has no native form")

    def _integer(self, node: g.Fused) -> Integer:
        """Returns an integer that surely fits its dtype, so that no operation wraps around."""
        if node.expression == "{1} if {0} else {2}":
            test = self._read(node.operands[0], g.BOOL)
            result = integers.chosen(test, *map(self._whole_number, node.operands[1:]))
        else:
            values = [self._whole_number(each) for each in node.operands]
            match node.expression:
                case "{0}":
                    (result,) = values
                case "{0} + {1}" | "{0} - {1}" | "{0} * {1}":
                    result = integers.computed(node.expression[4], *values, what=self.name)
                case _:
                    raise NoTermError(f"{node.expression} of integers has no native form")
        bounds = np.iinfo(str(node.dtype))
        if not bounds.min <= result.low <= result.high <= bounds.max:
            raise NoTermError("integers may wrap around")
        return result

    # Operations on whole columns

    def _whole(self, node: g.Whole) -> Value:
        name = node.name
        if name == g.FULL:
            return _constant(node.details[0], node.dtype)
        if name == BY_PLACE:
            return self._text_at(node.operands[0], [f.lit(text) for text in node.details])
        if name.startswith(("dt.", "Series.dt.")):
            return self._part(name.rpartition(".")[2], node)
        if name == "choice":
            test, *both = (self._value(each) for each in node.operands)
            return f.when(test, both[0]).otherwise(both[1])
        if node.operands[0].dtype == g.TEXT and name in _OF_TEXTS:
            operands = [self._value(each) for each in node.operands]
            return self._typed(_OF_TEXTS[name](*operands, *node.details), node.dtype)
        if node.operands[0].dtype == g.TEXT and (
            name in QUICK or name.startswith(("str[]", "Series.str."))
        ):
            constants = node.details if name in QUICK else arguments_of(node.details)
            return self._of_text(name.removeprefix("Series.str."), node, constants)
        if name == "isin" and node.operands[0].dtype == g.FLOAT:
            if bool in map(type, node.details):
                raise NoTermError("isin of booleans has no native form")
            numbers = (_constant(value, g.FLOAT) for value in node.details)
            # Zeros of one sign, so that -0.0 and 0.0 are equal.
            return _is_among(self._read(node.operands[0], g.FLOAT) + f.lit(0.0), *numbers)
        if name.strip("`") in COMPARISONS and node.dtype == g.BOOL:
            return self._compared_moments(name.strip("`"), node)
        if name == "astype" and _is_integer(node.dtype):
            return self._whole_part(node)
        match node.operands:
            case of, g.Constant(value=int() | float() as by) if (
                name in _BY_CONSTANT and node.dtype == of.dtype == g.FLOAT and by == by
            ):
                column = _BY_CONSTANT[name](self._read(of, g.FLOAT), float(by))
                if column is not None:
                    return column
        raise NoTermError(no_form(name))

    def _typed(self, column: Column, dtype: g.DType) -> Value:
        """Returns a result of a method of texts with pandas' value for null: -1, NaN or False; texts stay
        null."""
        if _is_integer(dtype):
            return Integer(column.cast("bigint"), -1, (1 << 31) - 1)
        if dtype == g.FLOAT:
            return f.coalesce(column.cast("double"), f.lit(_NAN))
        return f.coalesce(column, f.lit(False)) if dtype == g.BOOL else column

    def _of_text(self, name: str, node: g.Whole, constants: Sequence[object] | None) -> Value:
        """Returns the result of a method of `Series.str` that gives the same as the method of `str` with
        its name."""
        if constants is None or not gives_what_str_gives(name, *constants):
            raise NoTermError(no_form(node.name))
        operands = [
            Operand(self._read(node.operands[0], g.TEXT)),
            *(Operand(None, each) for each in constants),
        ]
        takes = f"({', '.join(['str', *(type(each).__name__ for each in constants)])})"
        if name == "str[]":
            fails = RULES["[]", "(str, int) -> str"].fails
            is_none = fails(*operands) if fails else None
            assert is_none is not None
            return f.when(~is_none, _by_rule("[]", takes, *operands))
        return self._typed(_by_rule(f"str.{name}", takes, *operands), node.dtype)

    def _whole_part(self, node: g.Whole) -> Integer:
        """`astype` of numbers that fit, which Series refuse for NaN."""
        (of,) = node.operands
        known, bounds = _range(of), np.iinfo(str(node.dtype))
        if not bounds.min <= known.low <= known.high <= bounds.max or node.details[1:] != (True,):
            raise NoTermError(no_form("astype"))
        number = self._read(of, g.FLOAT)
        message = f"{self.name}: pandas makes no integer of NaN"
        error = f.raise_error(f.lit(message)).cast("double")
        whole = f.when(f.isnan(number), error).otherwise(number).cast("bigint")
        return Integer(whole, math.trunc(known.low), math.trunc(known.high))

    def _compared_moments(self, name: str, node: g.Whole) -> Column:
        """Compares times with each other, or with a constant."""
        sides = [_micros_of(*self._moment(each)) for each in node.operands]
        if len(sides) == 1:
            sides.append(f.lit(_constant_micros(arguments_of(node.details))))
        sign = SYMBOLS[name]
        return f.coalesce(COMPARED[sign](*sides), f.lit(sign == "!="))

    def _text_at(self, place: g.Node, texts: Sequence[Column]) -> Column:
        """Returns the text at a place among constants, as nested choices between the texts."""
        match place:
            case g.Constant(value=value):
                return texts[int(str(value))]
            case g.Fused(expression=expression, operands=(test, chosen, other)) if (
                match := re.fullmatch(_PLACES, expression)
            ):
                first = int(match[1])
                then = self._text_at(chosen, texts[:first])
                otherwise = self._text_at(other, texts[first:])
                return f.when(self._read(test, g.BOOL), then).otherwise(otherwise)
        raise NoTermError(f"{place} has no native form")

    # Functions of one value

    def _rows(self, node: g.Whole, function: RowFunction, returns: str) -> Column:
        """Applies a function to each value. Its result for null is computed now, by a call in Python."""
        places = [of.position for of in node.operands if isinstance(of, g.Input)]
        kinds = [self.kinds[place] for place in places]
        if len(places) != len(node.operands) or not {*kinds} <= _ARGUMENTS.keys():
            raise NoTermError(f"{node.name} of a column that is computed has no native form")
        types, nulls = zip(*(_ARGUMENTS[kind] for kind in kinds), strict=True)
        null, *others = dict.fromkeys(nulls)
        if others or (null and len(places) > 1):
            raise NoTermError(f"{node.name} of several columns with nulls has no native form")
        typed = function.term([*types])
        calls_again = node.name == "rows.transform"
        if calls_again and any(isinstance(each, Raise) for each in sharing.unique(typed.term)):
            raise NoTermError(CALLED_AGAIN)
        is_rounded = isinstance(typed.kind, k.Optional) and typed.kind.of == k.INT
        if spark_type_of(typed.kind) != returns or is_rounded:
            raise NoTermError(f"{node.name} gives {typed.kind}, where {returns} is declared")
        columns = [self.columns[place] for place in places]
        arguments = {
            name: f.coalesce(column, f.lit(_NAN)) if null is None else column
            for name, column in zip(typed.parameters, columns, strict=True)
        }
        result = translated(typed.term, typed.kind, self.name, arguments, {*arguments})
        if returns == "double":
            result = f.nanvl(result, f.lit(None).cast("double"))
        if null is None:
            return result
        (column,) = columns
        try:
            value = function.of_null(null[0])
        except Exception as error:
            if calls_again:
                raise NoTermError(CALLED_AGAIN) from error
            message = f"{self.name}: for null Python raises {type(error).__name__}: {error}"
            of_null = f.raise_error(f.lit(message)).cast(returns)
        else:
            is_null = value is None or value != value
            # In a column that also has nulls, pandas stores integers as floats.
            if returns == "bigint" if is_null else type(value) is not _RESULTS.get(returns):
                raise NoTermError(f"for null it gives {value!r}, which is no {returns}")
            of_null = f.lit(None if is_null else value).cast(returns)
        return f.when(column.isNull(), of_null).otherwise(result)

    def _part_of_text(self, node: g.Whole) -> Column:
        """Returns one of the parts into which texts are split; null if there are too few."""
        match arguments_of(node.details), node.operands:
            case [
                [int() as place],
                [g.Whole(name="Series.str.split", operands=(of,)) as parts],
            ] if of.dtype == g.TEXT and type(place) is int:
                separator = arguments_of(parts.details)
            case _:
                separator = None
        # pandas takes a separator of several characters as a regular expression.
        if separator is None or (separator and len(str(separator[0])) != 1):
            raise NoTermError("str[] of what is not split has no native form")
        text, unlimited = Operand(self._read(of, g.TEXT)), Operand(None, -1)
        if separator:
            item = part_of_split(place, text, Operand(None, separator[0]), unlimited)
            return item() if item else f.lit(None).cast("string")
        signature = "(str, sep: None = None, maxsplit: int = -1)"
        split = _by_rule("str.split", signature, text, None, unlimited)
        return f.try_element_at(split, f.lit(place + (place >= 0)))

    # Dates and times

    def _part(self, name: str, node: g.Whole) -> Column:
        """Returns a part of a date, a timestamp or a difference of two times, as a number or as text."""
        (of,) = node.operands
        if node.dtype == g.TEXT:
            return self._text_of(name, *self._moment(of), arguments_of(node.details))
        if node.name.startswith("Series.") and node.details != ALONE:
            raise NoTermError(f"dt.{name} with options has no native form")
        if isinstance(of, g.Whole) and of.name == "`sub`" and name in _OF_DURATIONS:
            kinds, moments = zip(*map(self._moment, of.operands), strict=True)
            if len(kinds) == 2 and kinds[0] == kinds[1]:
                return f.coalesce(_OF_DURATIONS[name](kinds[0], *moments), f.lit(_NAN))
        kind, moment = self._moment(of)
        if name in _DAY_TESTS and node.dtype == g.BOOL:
            return f.coalesce(_DAY_TESTS[name](moment), f.lit(False))
        is_known = name in NUMBERS and not (kind == "date" and name in CLOCK)
        if not is_known or node.dtype != g.FLOAT:
            raise NoTermError(f"dt.{name} has no native form")
        _, part = NUMBERS[name]
        return f.coalesce(part(moment).cast("double"), f.lit(_NAN))

    def _text_of(
        self, name: str, kind: str, moment: Column, arguments: Sequence[object] | None
    ) -> Column:
        """Returns the text of a date or timestamp."""
        if name in _NAMES and arguments == ():
            place, names = _NAMES[name]
            return f.elt(place(moment), *map(f.lit, names))
        if name != "strftime" or kind != "timestamp" or not arguments:
            raise NoTermError(f"dt.{name} has no native form")
        operands = (Operand(instant_of(moment)), Operand(moment, arguments[0]))
        return _by_rule("datetime.strftime", "(datetime, format: const)", *operands)

    def _moment(self, node: g.Node) -> tuple[str, Column]:
        """Returns a column of dates or timestamps, after its kind: "date" or "timestamp"."""
        match node:
            case g.Whole(name="pandas.to_datetime", operands=(of,)) if node.details == ALONE:
                return self._moment(of)
            case g.Whole(name="`add`" | "`sub`", operands=(_,)):
                return self._shifted(node)
            case g.Input(position=place) if self.kinds[place] in ("date", "timestamp"):
                return self.kinds[place], self.columns[place]
        raise NoTermError("times that are computed have no native form")

    def _shifted(self, node: g.Whole) -> tuple[str, Column]:
        """Returns times moved by a constant duration, after their kind; dates move by whole days."""
        kind, moment = self._moment(node.operands[0])
        match arguments_of(node.details):
            case [datetime.timedelta() as given]:
                by = pd.Timedelta(given) if node.name == "`add`" else -pd.Timedelta(given)
                (days, rest), micros = divmod(by, pd.Timedelta(days=1)), by.as_unit("ns").value
                if kind == "date" and not rest:
                    return kind, f.date_add(moment, days)
                if kind == "timestamp" and micros % 1000 == 0:
                    shifted = f.unix_micros(moment) + f.lit(micros // 1000)
                    message = f"{self.name}: a timestamp is {BEYOND}"
                    error = f.raise_error(f.lit(message)).cast("bigint")
                    is_beyond = f.abs(shifted) > _MOST_MICROS
                    return kind, f.timestamp_micros(f.when(is_beyond, error).otherwise(shifted))
        raise NoTermError(no_form(node.name))

    def _time(self, node: g.Node, returns: str) -> Column:
        """Returns results that are dates or timestamps."""
        if isinstance(node, g.Whole) and node.name == "Series.dt.date" and returns == "date":
            (node,) = node.operands
        kind, moment = self._moment(node)
        if kind != returns == "timestamp":
            raise NoTermError("dates as timestamps have no native form")
        return moment.cast(returns)


_ARGUMENTS: dict[str, tuple[s.DataType, tuple[object] | None]] = {
    "double": (s.float64(), None),
    "string": (s.utf8(), (_NAN,)),
    "date": (s.date32(), (None,)),
}
"""The column types for which functions of one value become terms, with the null of the pandas column."""

_ITEMS = ("str[]", "Series.str.get")

_RESULTS = {"double": float, "string": str, "boolean": bool, "bigint": int}

_BOUNDS = {
    "int": (-(1 << 31), (1 << 31) - 1),
    "bigint": (-(1 << 63), (1 << 63) - 1),
    "double": (-(1 << 53), 1 << 53),
}
"""The range of integers for each integer type of results."""

_PLACES = r"\{1\} if \{0\} else \{2\} \+ (\d+)"

_MOST_MICROS = ((1 << 63) - 1) // 1000
"""The largest number of microseconds before or after 1970 that pandas can hold as nanoseconds."""


def _is_integer(dtype: g.DType) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "i"


class _Range(NamedTuple):
    """Bounds of the numbers of a column, missing ones aside, and whether they are integers."""

    low: float = -math.inf
    high: float = math.inf
    is_whole: bool = False


def _range(node: g.Node) -> _Range:
    if node.dtype == g.BOOL:
        return _Range(0, 1, True)
    match node:
        case g.Constant(value=bool() | int() | float() as value) if abs(value) < _MOST_MICROS:
            return _Range(value, value, value == int(value))
        case g.Fused():
            return _range_of_fused(node.expression, [_range(each) for each in node.operands])
        case g.Whole(name="mod", operands=(_, g.Constant(value=int() | float() as by))) if by > 0:
            return _Range(0, by, _range(node.operands[0]).is_whole and by == int(by))
        case g.Whole() if bounds := integers.BOUNDS.get(node.name.rpartition(".")[2]):
            return _Range(*bounds, True)
    return _Range()


def _range_of_fused(expression: str, operands: list[_Range]) -> _Range:
    is_whole = all(each.is_whole for each in operands)
    first, last = operands[0], operands[-1]
    match expression:
        case "{1} if {0} else {2}" | "{1} if {0} != {0} else {0}":
            sides = operands[-2:] if expression.endswith("{2}") else operands
            return _Range(
                min(each.low for each in sides),
                max(each.high for each in sides),
                all(each.is_whole for each in sides),
            )
        case "{2} if {1} < {2} else {0}":
            return _Range(max(first.low, last.low), max(first.high, last.high), is_whole)
        case "{2} if {1} > {2} else {0}":
            return _Range(min(first.low, last.low), min(first.high, last.high), is_whole)
        case "{0}" | "np.floor({0})" | "np.ceil({0})" | "np.rint({0})" | "np.trunc({0})":
            return _Range(first.low - 1, first.high + 1, expression != "{0}" or is_whole)
        case "{0} + {1}" | "{0} - {1}" | "{0} * {1}":
            if all(map(math.isfinite, (*first[:2], *last[:2]))):
                return _Range(*integers.bounds_of(expression[4], first[:2], last[:2]), is_whole)
    return _Range()


def _constant(value: object, dtype: g.DType) -> Value:
    if _is_integer(dtype) and isinstance(value, int | np.integer | np.bool_):
        return integers.known(int(value))
    if dtype == g.FLOAT and isinstance(value, bool | int | float | np.number | np.bool_):
        number = float(value)
        # Spark's optimizer takes 0.0 and -0.0 for the same literal. pandas may compare a large integer
        # exactly, which a double cannot.
        if str(number) == "-0.0" or (not isinstance(value, float) and abs(number) > 1 << 53):
            raise NoTermError(f"{value!r} as a constant has no native form")
        return f.lit(number)
    if dtype == g.BOOL and isinstance(value, bool | int | np.bool_):
        return f.lit(bool(value))
    if dtype == g.TEXT and isinstance(value, str):
        return f.lit(value)
    raise NoTermError(f"{value!r} has no native form")


def _by_rule(name: str, parameters: str, *operands: Operand | None) -> Column:
    """Applies a method's rule, for pandas functions that give the same wherever Python does not raise."""
    for result in ("bool", "float", "int", "str", "list[str]"):
        rule = RULES.get((name, f"{parameters} -> {result}"))
        value = rule and rule.value(*operands)
        if isinstance(value, Column):
            return value
    raise NoTermError(f"{name}{parameters} has no native form")


_CHOICES: dict[str, Callable[..., Column]] = {
    "{1} if {0} else {2}": lambda test, x, y: f.when(test, x).otherwise(y),
    "{1} if {0} != {0} else {0}": f.nanvl,
    "{2} if {1} < {2} else {0}": lambda x, of, bound: f.when(less(of, bound), bound).otherwise(x),
    "{2} if {1} > {2} else {0}": lambda x, of, bound: f.when(less(bound, of), bound).otherwise(x),
}


def _quotient(x: Column, y: Column) -> Column:
    """Returns `x / y` as in IEEE 754. For `y = 0`, `pow` gives the infinity with the sign of the zero."""
    return f.coalesce(f.try_divide(x, y), x * f.pow(y, f.lit(-1.0)))


def _ceil(x: Column) -> Column:
    return -floor(-x)


_OF_FLOATS: dict[str, Callable[..., Column]] = {
    "{0} != {0}": f.isnan,
    "{0} / {1}": _quotient,
    "-{0}": lambda x: -x,
    "abs({0})": f.abs,
    "np.sqrt({0})": f.sqrt,
    "np.floor({0})": floor,
    "np.ceil({0})": _ceil,
    "np.trunc({0})": lambda x: f.when(x < 0, _ceil(x)).otherwise(floor(x)),
    "np.rint({0})": f.rint,
    "np.isnan({0})": f.isnan,
    "np.isinf({0})": lambda x: f.abs(x) == float("inf"),
    "np.isfinite({0})": lambda x: f.abs(x) < float("inf"),
}


def _divided(sign: str) -> Callable[[Column, float], Column | None]:
    """Returns `//` or `%` by a positive constant, where NumPy and Python agree."""

    def value(x: Column, by: float) -> Column | None:
        if not 0 < by < float("inf"):
            return None
        return _by_rule(sign, "(float, float)", Operand(x), Operand(None, by))

    return value


_BY_CONSTANT: dict[str, Callable[[Column, float], Column | None]] = {
    # The constant wins over an equal number; in Spark, NaN is above all numbers.
    "ufunc maximum": lambda x, by: f.greatest(f.lit(by), x),
    "ufunc minimum": lambda x, by: f.when((x < by) | f.isnan(x), x).otherwise(f.lit(by)),
    # NumPy computes x * x for this exponent only.
    "pow": lambda x, by: x * x if by == 2 else None,
    "floordiv": _divided("//"),
    "mod": _divided("%"),
}
"""Operators and functions of NumPy with a constant as their second operand."""

_OF_BOOLEANS: dict[str, Callable[..., Column]] = {"not {0}": lambda x: ~x}


def _is_among(column: Column, *values: object) -> Column:
    return f.coalesce(column.isin(*values), f.lit(False)) if values else f.lit(False)


def _entry(text: Column, *entries: tuple[str, str | float]) -> Column:
    """Looks a text up in a table; the result is missing if the table does not have it."""
    dtype = g.TEXT if isinstance(entries[0][1], str) else g.FLOAT
    pairs = ((f.lit(key), _constant(entry, dtype)) for key, entry in entries)
    value = f.try_element_at(f.create_map(*(each for pair in pairs for each in pair)), text)
    return value if dtype == g.TEXT else f.coalesce(value, f.lit(_NAN))


def _compared_texts(sign: str) -> Callable[[Column, Column], Column]:
    compare = COMPARED[sign]
    return lambda x, y: f.coalesce(compare(x, y), f.lit(sign == "!="))


_OF_TEXTS: dict[str, Callable[..., Column]] = {
    "add": f.concat,
    "same": lambda text: text,
    "isna": f.isnull,
    "fillna": f.coalesce,
    **{name: _compared_texts(sign) for name, sign in COMPARISONS.items()},
    "len": f.char_length,
    "contains": lambda text, part: text.contains(part),
    "slice": sliced,
    "replace": lambda text, old, new: f.replace(text, f.lit(old), f.lit(new)),
    "isin": _is_among,
    "map": _entry,
}
"""The text operations of `colkern.spark.acceleration.texts`, by their names."""

_NAMES: dict[str, tuple[Callable[[Column], Column], pd.Index]] = {
    "day_name": (
        lambda moment: f.weekday(moment) + 1,
        pd.date_range("2024-01-01", periods=7).day_name(),
    ),
    "month_name": (f.month, pd.date_range("2024-01-01", periods=12, freq="MS").month_name()),
}

_DAY_TESTS: dict[str, Callable[[Column], Column]] = {
    "is_month_start": lambda moment: f.dayofmonth(moment) == 1,
    "is_month_end": lambda moment: f.last_day(moment) == moment.cast("date"),
}


def _micros_of(kind: str, moment: Column) -> Column:
    """Returns the microseconds since 1970 of a date or timestamp."""
    if kind == "date":
        return f.unix_date(moment).cast("bigint") * f.lit(86_400_000_000).cast("bigint")
    return f.unix_micros(moment)


def _constant_micros(constants: Sequence[object] | None) -> int:
    """Returns the microseconds since 1970 of a constant without a time zone."""
    match constants:
        case [datetime.datetime(tzinfo=None) | np.datetime64() as moment]:
            count, rest = divmod(pd.Timestamp(moment).as_unit("ns").value, 1000)
            if not rest:
                return int(count)
    raise NoTermError("a comparison of times with this has no native form")


def _micros(left: Column, right: Column) -> Column:
    """Returns the microseconds between two timestamps; fails if pandas cannot count the nanoseconds."""
    micros = f.unix_micros(left) - f.unix_micros(right)
    error = f.raise_error(f.lit(f"the time between two timestamps is {BEYOND}")).cast("bigint")
    return f.when(f.abs(micros) > _MOST_MICROS, error).otherwise(micros)


def _days(kind: str, left: Column, right: Column) -> Column:
    if kind == "date":
        return f.datediff(left, right).cast("double")
    return days_of(Operand(_micros(left, right))).cast("double")


def _seconds(kind: str, left: Column, right: Column) -> Column:
    if kind == "date":
        return f.datediff(left, right).cast("double") * 86_400.0
    micros = _micros(left, right)
    if not _DIVIDES_PARTS:
        return (micros * f.lit(1000).cast("bigint")).cast("double") / f.lit(1e9)
    return seconds_of(micros)


_FAR = pd.Series([9_223_200_000_999_999_000]).astype("timedelta64[ns]")
_DIVIDES_PARTS = bool(_FAR.dt.total_seconds()[0] != 9_223_200_000_999_999_000 / 1e9)
"""Whether this pandas divides the seconds and the rest of a duration separately."""


_OF_DURATIONS: dict[str, Callable[[str, Column, Column], Column]] = {
    "days": _days,
    "total_seconds": _seconds,
}

"""Graphs of functions of columns as expressions of Spark's, where these mean the same to the last bit.

Numbers that may be missing are doubles in which NaN stands for null, as in pandas; texts are null. Integers
are the constants of a function and what is counted with them, within bounds that are known.
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructType

from colkern import schema as s
from colkern.rows import kinds as k
from colkern.rows.terms import NoTermError
from colkern.spark.acceleration.nodes import (
    BOOL,
    FLOAT,
    OTHER,
    TEXT,
    Constant,
    DType,
    Fused,
    Input,
    Node,
    Whole,
)
from colkern.spark.acceleration.recorded import ALONE, arguments_of, table_details
from colkern.spark.acceleration.row_calls import RowFunction
from colkern.spark.acceleration.texts import BY_PLACE
from colkern.spark.native import integers
from colkern.spark.native.date_rules import instant_of
from colkern.spark.native.integers import Integer
from colkern.spark.native.number_rules import floor_quotient, less
from colkern.spark.native.rule import Operand, no_form
from colkern.spark.native.rules import RULES
from colkern.spark.native.text_rules import sliced
from colkern.spark.native.translation import spark_type_of, translated

Value: TypeAlias = Column | Integer

_NAN = float("nan")

BEYOND = "beyond the timestamps that pandas has"
"""The end of the message for timestamps for which the original raises."""


class Expression:
    """Writes a graph as an expression.

    Args:
        columns: The columns, each of the Spark type that its kind has in `KINDS`.
        kinds: Their kinds.
        name: What messages call the function.
        lines: The lines of its source, by the identities of nodes.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        kinds: Sequence[str],
        name: str,
        lines: Mapping[bytes, int],
    ) -> None:
        self._columns = columns
        self._kinds = kinds
        self._name = name
        self._lines = lines
        self._written: dict[bytes, Value] = {}

    def result(self, node: Node, returns: DataType) -> Column:
        """The results, as a declared type of Spark's.

        Raises:
            NoTermError: If a node has no such expression.
        """
        if isinstance(returns, StructType):
            return self._table(node, returns)
        type_ = returns.simpleString()
        if isinstance(node, Whole) and isinstance(node.function, RowFunction):
            return self._rows(node, node.function, type_)
        if node.dtype == OTHER and type_ == "date":
            return self._day(node)
        if isinstance(node, Whole) and node.name == "str[]" and type_ == "string":
            return self._part_of_text(node)
        value = self._value(node)
        refusal = NoTermError(f"it gives {node.dtype}, where {type_} is declared", 0)
        if isinstance(value, Integer):
            low, high = _BOUNDS.get(type_, (0, -1))
            if not low <= value.low <= value.high <= high:
                raise refusal
            return value.column.cast(type_)
        if node.dtype == FLOAT:
            size = _size(node)
            is_taken = size is not None and size <= _BOUNDS.get(type_, (0, -1))[1]
            if type_ not in ("double", "float") and not is_taken:
                raise refusal
            return f.nanvl(value, f.lit(None).cast("double")).cast(type_)
        if type_ != {BOOL: "boolean", TEXT: "string"}.get(node.dtype):
            raise refusal
        return value

    def _table(self, node: Node, returns: StructType) -> Column:
        """Rows of a table, made of columns by the names that the declared type has."""
        names = returns.names
        if not isinstance(node, Whole) or node.details != table_details(names):
            raise NoTermError(f"{returns.simpleString()} has no native form", 0)
        fields = zip(names, node.operands, returns, strict=True)
        return f.struct(
            *(self.result(of, field.dataType).alias(name) for name, of, field in fields)
        )

    def in_bounds(self, result: Column, returns: str) -> Column:
        """The results, where timestamps are those that pandas has."""
        for column, kind in zip(self._columns, self._kinds, strict=True):
            if kind == "timestamp":
                is_known = f.unix_micros(column).between(-_MOST_MICROS, _MOST_MICROS)
                error = f.raise_error(f.lit(f"{self._name}: a timestamp is {BEYOND}"))
                # Of null, the condition is null.
                result = f.when(~is_known, error.cast(returns)).otherwise(result)
        return result

    def _value(self, node: Node) -> Value:
        if node.identity not in self._written:
            with self.at(node):
                self._written[node.identity] = self._write(node)
        return self._written[node.identity]

    @contextlib.contextmanager
    def at(self, node: Node) -> Iterator[None]:
        """A refusal gets the line of a node."""
        try:
            yield
        except NoTermError as error:
            line = error.line or self._lines.get(node.identity, 0)
            raise NoTermError(error.reason, line) from error

    def _write(self, node: Node) -> Value:
        match node:
            case Constant(value=value):
                return _constant(value, node.dtype)
            case Input(position=position):
                return self._input(position, node.dtype)
            case Fused(dtype=np.dtype(kind="i")):
                return self._integer(node)
            case Fused():
                return self._fused(node)
            case Whole():
                return self._whole(node)
        raise AssertionError(f"{node} is no node")

    def _input(self, position: int, dtype: DType) -> Column:
        column = self._columns[position]
        if dtype == FLOAT:
            return f.coalesce(column, f.lit(_NAN))
        if dtype == TEXT:
            return column
        raise NoTermError(f"columns of {self._kinds[position]} have no native form here", 0)

    # Operations on the values of a row

    def _read(self, node: Node, dtype: DType) -> Column:
        """A node's values in the dtype that an operation computes in."""
        if isinstance(node, Constant):
            value = _constant(node.value, dtype)
            assert isinstance(value, Column)
            return value
        value = self._value(node)
        if node.dtype == dtype and isinstance(value, Column):
            return value
        if dtype == FLOAT and isinstance(value, Integer):
            return integers.as_float(value, self._name)
        if dtype == FLOAT and node.dtype == BOOL and isinstance(value, Column):
            return value.cast("double")
        raise NoTermError(f"{node.dtype} computed as {dtype} has no native form", 0)

    def _fused(self, node: Fused) -> Column:
        if node.expression == "{0}":
            return self._read(node.operands[0], node.dtype)
        if node.dtype == BOOL and any(map(_is_integer, node.reads)):
            return self._compared_integers(node)
        if node.dtype not in (BOOL, FLOAT) or not {*node.reads} <= {BOOL, FLOAT}:
            raise NoTermError(f"{node.expression} of {node.reads[0]} has no native form", 0)
        columns = [self._read(*each) for each in zip(node.operands, node.reads, strict=True)]
        if node.expression in _CHOICES:
            return _CHOICES[node.expression](*columns)
        table = _OF_FLOATS if node.reads[0] == FLOAT else _OF_BOOLEANS
        if node.expression in table:
            return table[node.expression](*columns)
        operands = [
            Operand(column, float(str(of.value)))
            if isinstance(of, Constant) and dtype == FLOAT
            else Operand(column)
            for column, of, dtype in zip(columns, node.operands, node.reads, strict=True)
        ]
        return _by_rule(node.expression[4:-4], f"({', '.join(map(_word, node.reads))})", *operands)

    def _compared_integers(self, node: Fused) -> Column:
        sign = node.expression[4:-4]
        if sign not in _SIGNS or not all(map(_is_integer, node.reads)):
            raise NoTermError(f"{node.expression} of integers has no native form", 0)
        left, right = map(self._whole_number, node.operands)
        return integers.compared(sign, left, right, self._name)

    def _whole_number(self, node: Node) -> Integer:
        value = self._value(node)
        if isinstance(value, Integer):
            return value
        if node.dtype == BOOL:
            return Integer(value.cast("bigint"), 0, 1)
        raise NoTermError(f"{node.dtype} read as an integer has no native form", 0)

    def _integer(self, node: Fused) -> Integer:
        """An integer that is sure to fit its dtype: no operation wraps around."""
        if node.expression == "{1} if {0} else {2}":
            test = self._read(node.operands[0], BOOL)
            result = integers.chosen(test, *map(self._whole_number, node.operands[1:]))
        else:
            values = [self._whole_number(each) for each in node.operands]
            match node.expression:
                case "{0}":
                    (result,) = values
                case "{0} + {1}" | "{0} - {1}" | "{0} * {1}":
                    result = integers.computed(node.expression[4], *values, what=self._name)
                case _:
                    raise NoTermError(f"{node.expression} of integers has no native form", 0)
        bounds = np.iinfo(str(node.dtype))
        if not bounds.min <= result.low <= result.high <= bounds.max:
            raise NoTermError("integers may wrap around", 0)
        return result

    # Operations on whole columns

    def _whole(self, node: Whole) -> Value:
        name = node.name
        if name == BY_PLACE:
            return self._text_at(node.operands[0], [f.lit(text) for text in node.details])
        if name.startswith(("dt.", "Series.dt.")):
            return self._part(name.rpartition(".")[2], node)
        if name == "choice":
            test, *both = (self._value(each) for each in node.operands)
            return f.when(test, both[0]).otherwise(both[1])
        if node.operands[0].dtype == TEXT and name in _OF_TEXTS:
            operands = [self._value(each) for each in node.operands]
            return _OF_TEXTS[name](*operands, *node.details)
        if name in _BY_CONSTANT and node.dtype == FLOAT and node.operands[0].dtype == FLOAT:
            of, by = node.operands
            if (
                isinstance(by, Constant)
                and isinstance(by.value, int | float)
                and by.value == by.value
            ):
                column = _BY_CONSTANT[name](self._read(of, FLOAT), float(by.value))
                if column is not None:
                    return column
        raise NoTermError(no_form(name), 0)

    def _text_at(self, place: Node, texts: Sequence[Column]) -> Column:
        """The text at a place among constants: choices of places are choices of texts."""
        if isinstance(place, Constant):
            return texts[int(str(place.value))]
        match = isinstance(place, Fused) and re.fullmatch(_PLACES, place.expression)
        if not match or not isinstance(place, Fused):
            raise NoTermError(f"{place} has no native form", 0)
        test, chosen, other = place.operands
        first = int(match[1])
        return f.when(self._read(test, BOOL), self._text_at(chosen, texts[:first])).otherwise(
            self._text_at(other, texts[first:])
        )

    # Functions of one value

    def _rows(self, node: Whole, function: RowFunction, returns: str) -> Column:
        """The results of a function of each value; what it gives for null is found out here and now."""
        (of,) = node.operands
        if not isinstance(of, Input) or self._kinds[of.position] not in _ARGUMENTS:
            raise NoTermError(f"{node.name} of a column that is computed has no native form", 0)
        data_type, null = _ARGUMENTS[self._kinds[of.position]]
        typed = function.term(data_type)
        is_rounded = isinstance(typed.kind, k.Optional) and typed.kind.of == k.INT
        if spark_type_of(typed.kind) != returns or is_rounded or len(typed.parameters) != 1:
            raise NoTermError(f"{node.name} gives {typed.kind}, where {returns} is declared", 0)
        (parameter,) = typed.parameters
        column = self._columns[of.position]
        given = {parameter: f.coalesce(column, f.lit(_NAN)) if null is None else column}
        result = translated(typed.term, typed.kind, self._name, given, {parameter})
        if returns == "double":
            result = f.nanvl(result, f.lit(None).cast("double"))
        if null is None:
            return result
        try:
            value = function.of_null(null[0])
        except Exception as error:  # noqa: BLE001 Users' functions may raise anything.
            message = f"{self._name}: for null Python raises {type(error).__name__}: {error}"
            of_null = f.raise_error(f.lit(message)).cast(returns)
        else:
            is_null = value is None or value != value
            # Beside nulls, pandas has integers as floats.
            if returns == "bigint" if is_null else type(value) is not _RESULTS.get(returns):
                raise NoTermError(f"for null it gives {value!r}, which is no {returns}", 0)
            of_null = f.lit(None if is_null else value).cast(returns)
        return f.when(column.isNull(), of_null).otherwise(result)

    def _part_of_text(self, node: Whole) -> Column:
        """One of the parts that texts are split into; null if there is none."""
        place = arguments_of(node.details)
        (parts,) = node.operands
        separator = arguments_of(parts.details) if isinstance(parts, Whole) else None
        # Of several characters, a separator is a regular expression.
        is_plain = separator == () or (isinstance(separator, tuple) and len(str(separator[0])) == 1)
        if (
            not (place and type(place[0]) is int and is_plain)
            or not isinstance(parts, Whole)
            or (parts.name, parts.operands[0].dtype) != ("Series.str.split", TEXT)
        ):
            raise NoTermError("str[] of what is not split has no native form", 0)
        text = self._read(parts.operands[0], TEXT)
        form = "None = None" if separator == () else "str"
        given = Operand(text, separator[0]) if separator else None
        most = Operand(f.lit(-1), -1)
        split = _by_rule(
            "str.split", f"(str, sep: {form}, maxsplit: int = -1)", Operand(text), given, most
        )
        return f.try_element_at(split, f.lit(place[0] + (place[0] >= 0)))

    # Dates and times

    def _part(self, name: str, node: Whole) -> Column:
        """A part of a date, of a timestamp, or of the time between two; or a text of it."""
        (of,) = node.operands
        if node.dtype == TEXT:
            return self._text_of(name, *self._moment(of), arguments_of(node.details))
        if node.name.startswith("Series.") and node.details != ALONE:
            raise NoTermError(f"dt.{name} with options has no native form", 0)
        if isinstance(of, Whole) and of.name == "`sub`" and name in _OF_DURATIONS:
            kinds, moments = zip(*map(self._moment, of.operands), strict=True)
            if len(kinds) == 2 and kinds[0] == kinds[1]:
                return f.coalesce(_OF_DURATIONS[name](kinds[0], *moments), f.lit(_NAN))
        kind, moment = self._moment(of)
        if name in _DAY_TESTS and node.dtype == BOOL:
            return f.coalesce(_DAY_TESTS[name](moment), f.lit(False))
        if name not in _PARTS or (kind == "date" and name in _CLOCK) or node.dtype != FLOAT:
            raise NoTermError(f"dt.{name} has no native form", 0)
        return f.coalesce(_PARTS[name](moment).cast("double"), f.lit(_NAN))

    def _text_of(
        self, name: str, kind: str, moment: Column, arguments: Sequence[object] | None
    ) -> Column:
        """The text of a date or timestamp."""
        if name in _NAMES and arguments == ():
            place, names = _NAMES[name]
            return f.elt(place(moment), *map(f.lit, names))
        if name != "strftime" or kind != "timestamp" or not arguments:
            raise NoTermError(f"dt.{name} has no native form", 0)
        given = (Operand(instant_of(moment)), Operand(moment, arguments[0]))
        return _by_rule("datetime.strftime", "(datetime, format: const)", *given)

    def _moment(self, node: Node) -> tuple[str, Column]:
        """A column of dates or timestamps, and which it is of."""
        if isinstance(node, Whole) and node.name == "pandas.to_datetime" and node.details == ALONE:
            (node,) = node.operands
        if not isinstance(node, Input) or self._kinds[node.position] not in ("date", "timestamp"):
            raise NoTermError("times that are computed have no native form", 0)
        return self._kinds[node.position], self._columns[node.position]

    def _day(self, node: Node) -> Column:
        """Results that are dates."""
        if isinstance(node, Whole) and node.name == "Series.dt.date":
            return self._moment(node.operands[0])[1].cast("date")
        raise NoTermError("dates that are computed have no native form", 0)


_ARGUMENTS: dict[str, tuple[s.DataType, tuple[object] | None]] = {
    "double": (s.float64(), None),
    "string": (s.utf8(), (_NAN,)),
    "date": (s.date32(), (None,)),
}
"""The types of columns of which functions of a value are terms, with what null is in pandas' columns.

That of doubles is a value as others are.
"""

_RESULTS = {"double": float, "string": str, "boolean": bool, "bigint": int}

_BOUNDS = {
    "int": (-(1 << 31), (1 << 31) - 1),
    "bigint": (-(1 << 63), (1 << 63) - 1),
    "double": (-(1 << 53), 1 << 53),
}
"""The integers that a type of results holds."""

_PLACES = r"\{1\} if \{0\} else \{2\} \+ (\d+)"

_MOST_DAYS = 3_652_059
"""The days of the years from 1 to 9999."""

_MOST_MICROS = ((1 << 63) - 1) // 1000
"""The microseconds, before and after 1970, that are counted in nanoseconds."""


def _is_integer(dtype: DType) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "i"


def _word(dtype: DType) -> str:
    return "float" if dtype == FLOAT else "bool"


def _size(node: Node) -> int | None:
    """How large numbers are at most that are integers where they are not missing; None for others."""
    match node:
        case Constant(value=bool() | int() | float() as value) if value == value:
            return abs(int(value)) if abs(value) < _MOST_MICROS and value == int(value) else None
        case Fused(expression="{0}" | "{1} if {0} else {2}" | "{0} + {1}" | "{0} - {1}"):
            is_choice = node.expression == "{1} if {0} else {2}"
            sizes = [_size(operand) for operand in node.operands[is_choice:]]
            known = [size for size in sizes if size is not None]
            whole = max(known, default=0) if is_choice else sum(known)
            return whole if len(known) == len(sizes) else None
        case Whole(name="len"):
            return (1 << 31) - 1
        case Whole() if node.name.rpartition(".")[2] in (*_PARTS, "days"):
            return _MOST_DAYS
    return 1 if node.dtype == BOOL else None


def _constant(value: object, dtype: DType) -> Value:
    if _is_integer(dtype) and isinstance(value, int | np.integer | np.bool_):
        return integers.known(int(value))
    if dtype == FLOAT and isinstance(value, bool | int | float | np.number | np.bool_):
        number = float(value)
        # Spark's optimizer takes both zeros for the same literal; integers may be compared exactly.
        if str(number) == "-0.0" or (not isinstance(value, float) and abs(number) > 1 << 53):
            raise NoTermError(f"{value!r} as a constant has no native form", 0)
        return f.lit(number)
    if dtype == BOOL and isinstance(value, bool | int | np.bool_):
        return f.lit(bool(value))
    if dtype == TEXT and isinstance(value, str):
        return f.lit(value)
    raise NoTermError(f"{value!r} has no native form", 0)


def _by_rule(name: str, parameters: str, *operands: Operand | None) -> Column:
    """The column by the rule of a method, for methods that give the same where Python raises nothing."""
    for result in ("bool", "float", "str", "list[str]"):
        rule = RULES.get((name, f"{parameters} -> {result}"))
        value = rule and rule.value(*operands)
        if isinstance(value, Column):
            return value
    raise NoTermError(f"{name}{parameters} has no native form", 0)


_SIGNS: dict[str, Callable[[Column, Column], Column]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_CHOICES: dict[str, Callable[..., Column]] = {
    "{1} if {0} else {2}": lambda test, x, y: f.when(test, x).otherwise(y),
    "{1} if {0} != {0} else {0}": f.nanvl,
    "{2} if {1} < {2} else {0}": lambda x, of, bound: f.when(less(of, bound), bound).otherwise(x),
    "{2} if {1} > {2} else {0}": lambda x, of, bound: f.when(less(bound, of), bound).otherwise(x),
}


def _quotient(x: Column, y: Column) -> Column:
    """`x / y` as IEEE 754 has it. Only a power of a zero tells Spark its sign."""
    return f.coalesce(f.try_divide(x, y), x * f.pow(y, f.lit(-1.0)))


def _floor(x: Column) -> Column:
    down = f.rint(x)
    return f.when(down > x, down - 1.0).otherwise(down)


def _ceil(x: Column) -> Column:
    return -_floor(-x)


_OF_FLOATS: dict[str, Callable[..., Column]] = {
    "{0} != {0}": f.isnan,
    "{0} / {1}": _quotient,
    "-{0}": lambda x: -x,
    "abs({0})": f.abs,
    "np.sqrt({0})": f.sqrt,
    "np.floor({0})": _floor,
    "np.ceil({0})": _ceil,
    "np.trunc({0})": lambda x: f.when(x < 0, _ceil(x)).otherwise(_floor(x)),
    "np.rint({0})": f.rint,
    "np.isnan({0})": f.isnan,
    "np.isinf({0})": lambda x: f.abs(x) == float("inf"),
    "np.isfinite({0})": lambda x: f.abs(x) < float("inf"),
}


def _divided(sign: str) -> Callable[[Column, float], Column | None]:
    """`//` and `%` by a constant, for which NumPy does what Python does."""

    def value(x: Column, by: float) -> Column | None:
        if not 0 < by < float("inf"):
            return None
        return _by_rule(sign, "(float, float)", Operand(x), Operand(f.lit(by), by))

    return value


def _bounded(test: Callable[[Column, Column], Column]) -> Callable[[Column, float], Column]:
    """NumPy's `maximum` or `minimum` with a constant, which is taken beside an equal number."""
    return lambda x, by: f.when(test(x, f.lit(by)) | f.isnan(x), x).otherwise(f.lit(by))


_BY_CONSTANT: dict[str, Callable[[Column, float], Column | None]] = {
    "ufunc maximum": _bounded(operator.gt),
    "ufunc minimum": _bounded(operator.lt),
    # NumPy squares for this exponent alone.
    "pow": lambda x, by: x * x if by == 2 else None,
    "floordiv": _divided("//"),
    "mod": _divided("%"),
}
"""Operators and functions of NumPy with a constant as their second operand."""

_OF_BOOLEANS: dict[str, Callable[..., Column]] = {"not {0}": lambda x: ~x}


def _stripped(name: str) -> Callable[[Column], Column]:
    return lambda text: _by_rule(f"str.{name}", "(str)", Operand(text))


def _is_among(text: Column, *values: str) -> Column:
    return f.coalesce(text.isin(*values), f.lit(False)) if values else f.lit(False)


def _entry(text: Column, *entries: tuple[str, str | float]) -> Column:
    """The entry of a text in a table; that of none is missing."""
    dtype = TEXT if isinstance(entries[0][1], str) else FLOAT
    pairs = ((f.lit(key), _constant(entry, dtype)) for key, entry in entries)
    value = f.try_element_at(f.create_map(*(each for pair in pairs for each in pair)), text)
    return value if dtype == TEXT else f.coalesce(value, f.lit(_NAN))


def _compared_texts(sign: str) -> Callable[[Column, Column], Column]:
    compare = _SIGNS[sign]
    return lambda x, y: f.coalesce(compare(x, y), f.lit(sign == "!="))


_OF_TEXTS: dict[str, Callable[..., Column]] = {
    "add": f.concat,
    "same": lambda text: text,
    "isna": f.isnull,
    "fillna": f.coalesce,
    "eq": _compared_texts("=="),
    "ne": _compared_texts("!="),
    "lt": _compared_texts("<"),
    "le": _compared_texts("<="),
    "gt": _compared_texts(">"),
    "ge": _compared_texts(">="),
    "strip": _stripped("strip"),
    "lstrip": _stripped("lstrip"),
    "rstrip": _stripped("rstrip"),
    "len": lambda text: f.coalesce(f.char_length(text).cast("double"), f.lit(_NAN)),
    "startswith": lambda text, part: f.coalesce(text.startswith(part), f.lit(False)),
    "endswith": lambda text, part: f.coalesce(text.endswith(part), f.lit(False)),
    "contains": lambda text, part: f.coalesce(text.contains(part), f.lit(False)),
    "slice": sliced,
    "replace": lambda text, old, new: f.replace(text, f.lit(old), f.lit(new)),
    "isin": _is_among,
    "map": _entry,
}
"""The operations on texts of `colkern.spark.acceleration.texts`, by their names."""

_CLOCK: dict[str, Callable[[Column], Column]] = {
    "hour": f.hour,
    "minute": f.minute,
    "second": f.second,
}

_PARTS = _CLOCK | {
    "year": f.year,
    "quarter": f.quarter,
    "month": f.month,
    "day": f.dayofmonth,
    "day_of_year": f.dayofyear,
    "dayofyear": f.dayofyear,
    "day_of_week": f.weekday,
    "dayofweek": f.weekday,
    "weekday": f.weekday,
}

_NAMES: dict[str, tuple[Callable[[Column], Column], tuple[str, ...]]] = {
    "day_name": (
        lambda moment: f.weekday(moment) + 1,
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ),
    "month_name": (
        f.month,
        (
            *("January", "February", "March", "April", "May", "June", "July", "August"),
            *("September", "October", "November", "December"),
        ),
    ),
}

_DAY_TESTS: dict[str, Callable[[Column], Column]] = {
    "is_month_start": lambda moment: f.dayofmonth(moment) == 1,
    "is_month_end": lambda moment: f.last_day(moment) == moment.cast("date"),
}


def _micros(left: Column, right: Column) -> Column:
    """The microseconds between two timestamps, where pandas counts them in nanoseconds."""
    micros = f.unix_micros(left) - f.unix_micros(right)
    error = f.raise_error(f.lit(f"the time between two timestamps is {BEYOND}")).cast("bigint")
    return f.when(f.abs(micros) > _MOST_MICROS, error).otherwise(micros)


def _days(kind: str, left: Column, right: Column) -> Column:
    if kind == "date":
        return f.datediff(left, right).cast("double")
    day = Operand(f.lit(86_400_000_000).cast("bigint"), 86_400_000_000)
    return floor_quotient(Operand(_micros(left, right)), day).cast("double")


def _seconds(kind: str, left: Column, right: Column) -> Column:
    if kind == "date":
        return f.datediff(left, right).cast("double") * 86_400.0
    return (_micros(left, right) * f.lit(1000).cast("bigint")).cast("double") / f.lit(1e9)


_OF_DURATIONS: dict[str, Callable[[str, Column, Column], Column]] = {
    "days": _days,
    "total_seconds": _seconds,
}

"""Translates terms of row functions to Spark columns."""

from __future__ import annotations

import datetime
import functools
import linecache
import math
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.rows import kinds as k
from colkern.rows import terms as t
from colkern.rows.kinds import Kind
from colkern.rows.terms import NoTermError, Term
from colkern.rows.values import UNKNOWN
from colkern.spark.native import (
    container_rules,
    date_rules,
    integers,
    number_rules,
    sharing,
    text_rules,
)
from colkern.spark.native.date_rules import instant_of, known, moment_of
from colkern.spark.native.integers import Integer
from colkern.spark.native.number_rules import is_zero
from colkern.spark.native.rule import COMPARED, LEAST, MOST, Operand, Rule, Rules, literal, no_form

TYPES = {
    k.INT: "bigint",
    k.FLOAT: "double",
    k.BOOL: "boolean",
    k.TEXT: "string",
    k.BYTES: "binary",
    k.DATE: "date",
    k.DATETIME: "timestamp_ntz",
}
"""Spark's types for the kinds of arguments and results."""

_PLAIN = {k.LOOSE_INT: k.INT, k.LOOSE_FLOAT: k.FLOAT}

MOMENT = "timestamp"
"""Spark's type of datetimes in UTC. Expressions compute with `timestamp_ntz`."""

Columns: TypeAlias = "Column | Integer | tuple[Any, ...]"


def plain_kind(kind: Kind) -> Kind:
    """Returns a kind without the distinction of narrower types."""
    return _PLAIN.get(kind, kind)


def scalar_type(kind: Kind) -> str | None:
    """Returns Spark's type for the kind of a scalar; None if native plans have none."""
    if isinstance(kind, k.Aware):
        return MOMENT if str(kind.zone) == "UTC" else None
    return TYPES.get(plain_kind(kind))


def spark_type_of(kind: Kind, line: int = 0) -> str:
    """Spark's type for a kind; raises NoTermError if native plans have none."""
    if isinstance(kind, k.Optional):
        return spark_type_of(kind.of, line)
    if isinstance(kind, k.Compound):
        fields = zip(field_names(kind), kind.items, strict=True)
        return f"struct<{','.join(f'{n}:{spark_type_of(of, line)}' for n, of in fields)}>"
    type_ = scalar_type(kind)
    if type_ is None:
        raise NoTermError(f"{kind} has no form in a native plan", line)
    return type_


def field_names(kind: k.Compound) -> tuple[str, ...]:
    """Returns the names of a struct's fields; a plain tuple has f0, f1 and so on."""
    return kind.names or tuple(f"f{place}" for place in range(len(kind.items)))


def translated(
    term: Term,
    kind: Kind,
    name: str,
    arguments: Mapping[str, Column],
    nullable: Collection[str],
    shares: bool = True,
) -> Column:
    """Returns a row function as an expression.

    Args:
        kind: The kind of its result.
        name: Its name in messages.
        arguments: The columns by the names of its parameters.
        nullable: The parameters that may be None; where others are null, the result is null.
        shares: Whether Spark computes shared parts once, which it does not in the body of a lambda.

    Raises:
        NoTermError: If a part of the term has no Spark form.
    """
    writer = _Writer(kind, name, arguments)
    cases, result = writer.whole(term)
    nulls = [column.isNull() for name, column in arguments.items() if name not in nullable]
    if not nullable and _is_null_with_arguments(term, kind, (*arguments,)):
        if not cases:
            return result
        nulls = []
    parts = writer.shareable(term, nullable) if shares else ()
    return sharing.once(result, parts, nulls, cases=cases)


@functools.lru_cache(maxsize=1000)
def _is_null_with_arguments(term: Term, kind: Kind, names: tuple[str, ...]) -> bool:
    """Whether the expression of a row function is always null where one of its arguments is.

    True if it consists of functions that are, and leaves no argument out. So must its conditions, of which
    then none holds; where several arguments are, one may hold for another. If other text looks like a
    function, the answer is False, and a test for null is written.
    """
    # The names of columns may also occur in constants.
    marks = {name: uuid.uuid4().hex for name in names}
    columns = {name: f.col(mark) for name, mark in marks.items()}
    cases, result = _Writer(kind, "", columns).whole(term)
    return (not cases or len(names) == 1) and all(
        "CASE" not in text
        and {*_CALLED.findall(text)} <= {*NULL_WITH_ARGUMENTS.split()}
        and all(mark in text for mark in marks.values())
        for text in map(repr, (result, *(test for test, _ in cases)))
    )


_CALLED = re.compile(r"([^\s(),']+)\(")
NULL_WITH_ARGUMENTS = (
    "CAST TRY_CAST + - * / % div pmod negative abs sqrt rint signum floor ceil try_add try_subtract "
    "try_multiply try_divide try_mod & | ^ ~ shiftleft shiftright = == < <= > >= ! not startswith endswith "
    "contains substring trim ltrim rtrim btrim replace char_length octet_length instr reverse concat "
    "repeat lpad rpad rlike year month dayofmonth unix_date date_from_unix_date date_add datediff"
)
"""Spark functions that return null if any argument is null."""


def require_forms(term: Term) -> None:
    """Raise NoTermError, with the line, for a method without a rule."""
    for each in sharing.unique(term):
        if isinstance(each, t.Applied) and not is_exact(each):
            _rule(each)


def require_quick(term: Term) -> None:
    """Raise NoTermError, with the line, for a method that takes Spark longer than the transport of the
    rows.

    If only the first and last items of a list are read, or one other item, Spark need not make the list.
    """
    places: dict[int, set[object]] = {}
    for each in sharing.unique(term):
        # The arguments alone tell whether a call of a slow method fails.
        for part in () if isinstance(each, t.Fails) else t.parts(each):
            if not isinstance(part, t.Applied) or is_exact(part) or not _rule(part).is_slow:
                continue
            constants = (Operand(None, getattr(of, "value", UNKNOWN)) for of in part.arguments)
            place, item = _item_of(each, part)
            taken = places.setdefault(id(part), set())
            taken.add(place if item and item(place, *constants) else None)
            if None in taken or not (len(taken) == 1 or taken <= {0, -1}):
                reason = f"{part.name} takes Spark longer than the transport of the rows to Python"
                raise NoTermError(f"{reason}; plan='native' uses it anyway", part.line)


def _item_of(term: Term, items: Term) -> tuple[Any, Callable[..., Any] | None]:
    """Returns what a term reads of a list or a duration, as `Rule.item` takes it, and their `Rule.item`;
    else None."""
    if not isinstance(term, t.Applied) or not isinstance(items, t.Applied) or is_exact(items):
        return None, None
    if term.name == "[]":
        place = getattr(term.arguments[-1], "value", None)
        return place, None if place is None else _rule(items).item
    return term.name, _rule(items).item if term.takes == ("timedelta",) else None


def is_exact(term: t.Applied) -> bool:
    """Whether `colkern.spark.native.integers` computes a method of integers."""
    return term.takes in (("int",), ("int", "int")) and term.name in (*COMPARED, *_EXACT)


def _rounds(term: t.Applied) -> bool:
    """Whether a method rounds a float to an integer, which exceeds 64 bits for large floats."""
    return plain_kind(term.kind) == k.INT and term.takes == ("float",)


def _divides(term: t.Applied) -> bool:
    """Whether a method gives the quotient or the remainder of two integers."""
    return term.name in ("//", "%") and term.takes == ("int", "int")


def _rule(term: t.Applied) -> Rule:
    rule = RULES.get((term.name, term.signature))
    if rule is None:
        shown = term.signature.partition(" ->")[0]
        raise NoTermError(no_form(f"{term.name}{shown}"), term.line)
    return rule


def _plain_term(term: Term) -> Term:
    """Returns an integer in place of the float that is made of it."""
    return term.of if isinstance(term, t.Converted) else term


def _excludes_zero(test: Term, outcome: bool, number: Term) -> bool:
    """Whether a number is not zero if a test has an outcome."""
    match test:
        case t.Logic(name="not", arguments=(negated,)):
            return _excludes_zero(negated, not outcome, number)
        case t.Logic(name=name, arguments=arguments):
            # All of `and` were true, and all of `or` false.
            return (name == "and") is outcome and any(
                _excludes_zero(each, outcome, number) for each in arguments
            )
        case t.Applied(name="bool", arguments=(of,)):
            return of is number and outcome
        case t.Applied(name=sign, arguments=arguments) if sign in COMPARED:
            sides = [*map(_plain_term, arguments)]
            values = [0 if each is number else getattr(each, "value", None) for each in sides]
            are_numbers = all(isinstance(each, int | float) for each in values)
            return number in sides and are_numbers and COMPARED[sign](*values) is not outcome
    return False


class _Writer:
    def __init__(self, kind: Kind, name: str, arguments: Mapping[str, Column]) -> None:
        self._kind = kind
        self._name = name
        self._type = spark_type_of(kind)
        self._arguments = arguments
        self._written: dict[int, Columns] = {}
        self._failing: dict[int, Column | bool] = {}
        self._given: dict[int, list[Operand | None]] = {}
        self._line = 0

    # Results

    def result(self, term: Term) -> Column:
        """Returns the column of the function's results, which fails where the function raises."""
        return sharing.chosen(*self.cases(term))

    def cases(self, term: Term) -> tuple[list[tuple[Column, Column]], Column]:
        """Returns the conditions of a result that is a choice, each with its value, and the last value."""
        cases = []
        before: list[Term] = []
        while isinstance(term, t.Choice):
            test = self._tested(term.test, before, False)
            if isinstance(test, Column):
                cases.append((test, self.result(term.then)))
            if test is not True:
                before.append(term.test)
            term = term.then if test is True else term.otherwise
        return cases, self._last(term)

    def whole(self, term: Term) -> tuple[list[tuple[Column, Column]], Column]:
        """Returns `cases` of a function, those for days outside of Python's calendar first."""
        cases, result = self.cases(term)
        return [*self.outside_calendar(term), *cases], result

    def _last(self, term: Term) -> Column:
        if isinstance(term, t.Raise):
            site = term.site
            source = linecache.getline(site.path, site.line).strip()
            message = f"{self._name}: Python raises in line {site.line}: {source or site.reason}"
            return f.raise_error(f.lit(message)).cast(self._type)
        return self._returned(term, self._kind).cast(self._type)

    def _returned(self, term: Term, kind: Kind) -> Column:
        """Returns a part of the function's result, of a kind; the fields of a struct get its names."""
        if isinstance(term, t.Maybe):
            assert isinstance(kind, k.Optional)
            none = self._test(term.none)
            nothing = f.lit(None).cast(spark_type_of(kind))
            if isinstance(none, bool):
                return nothing if none else self._returned(term.of, kind.of)
            return f.when(none, nothing).otherwise(self._returned(term.of, kind.of))
        if isinstance(term, t.Items):
            assert isinstance(kind, k.Compound)
            parts = zip(field_names(kind), term.items, kind.items, strict=True)
            return f.struct(*(self._returned(item, of).alias(name) for name, item, of in parts))
        if term.kind == k.NONE:
            return f.lit(None)
        return moment_of(self._plain(term)) if scalar_type(kind) == MOMENT else self._plain(term)

    def outside_calendar(self, term: Term) -> Iterator[tuple[Column, Column]]:
        """Yields, for each argument, whether its day is outside Python's years, and the error."""
        for each in sharing.unique(term):
            type_ = scalar_type(each.kind) if isinstance(each, t.Argument) else None
            if isinstance(each, t.Argument) and type_ in _CALENDARS:
                calendar = _CALENDARS[type_]
                day = self._arguments[each.name].cast(
                    TYPES[k.DATE if type_ == "date" else k.DATETIME]
                )
                first, last = (known(end).column for end in (calendar.min, calendar.max))
                message = f"{self._name}: {each.name}: a day in none of the years from 1 to 9999"
                yield (day < first) | (day > last), f.raise_error(f.lit(message))

    def shareable(self, term: Term, nullable: Collection[str]) -> Iterator[Column]:
        """Yields the values that Spark may compute for each row, so that it computes them once."""
        for each in (sharing.computed(term) or {}).values():
            is_given = isinstance(each, t.Argument) and each.name not in nullable
            if is_given or (isinstance(each, t.Applied) and self._is_total(each)):
                value = self._column(each)
                if isinstance(value, Column | Integer):
                    yield self._plain(each)

    def _is_total(self, term: Term) -> bool:
        """Whether Spark may compute a term for any arguments, null included."""
        if isinstance(term, t.Constant):
            return True
        if isinstance(term, t.Applied) and not is_exact(term) and not _rule(term).is_total:
            return False
        value = self._column(term)
        if isinstance(value, Integer) and not value.is_narrow:
            return False
        return all(map(self._is_total, t.parts(term)))

    # Values

    def _plain(self, term: Term) -> Column:
        """Returns a value as one column."""
        column = self._column(term)
        if isinstance(column, Integer):
            return integers.whole(column, self._name)
        assert isinstance(column, Column)
        return column

    def _test(self, term: Term) -> Column | bool:
        """Returns a condition; a bool if it is known."""
        if isinstance(term, t.Constant):
            return bool(term.value)
        if isinstance(term, t.Fails):
            return self._fails(term.of)
        if isinstance(term, t.Logic):
            return self._logic(term)
        return self._plain(term)

    def _tested(self, term: Term, before: Iterable[Term], outcome: bool) -> Column | bool:
        """Returns a condition that is asked for where tests before it had an outcome."""
        if isinstance(term, t.Fails) and not is_exact(term.of) and _rule(term.of).fails is is_zero:
            divisor = _plain_term(term.of.arguments[1])
            if any(_excludes_zero(test, outcome, divisor) for test in before):
                return False
        return self._test(term)

    def _logic(self, term: t.Logic) -> Column | bool:
        if term.name == "not":
            test = self._test(term.arguments[0])
            return (not test) if isinstance(test, bool) else ~test
        decides = term.name == "or"
        result: Column | None = None
        for place, argument in enumerate(term.arguments):
            test = self._tested(argument, term.arguments[:place], not decides)
            if isinstance(test, bool):
                if test == decides:
                    # The tests before it matter only for their exceptions, which come first.
                    if result is None or all(map(self._is_total, term.arguments[:place])):
                        return decides
                    return self._joined(decides, result, test)
                continue
            result = test if result is None else self._joined(decides, result, test)
        return not decides if result is None else result

    def _joined(self, is_or: bool, left: Column, right: Column | bool) -> Column:
        if isinstance(right, bool):
            right = f.lit(right)
        # A choice, because Spark may compute both sides of `and` and `or`, in any order.
        if is_or:
            return f.when(left, f.lit(True)).otherwise(right)
        return f.when(left, right).otherwise(f.lit(False))

    def _column(self, term: Term) -> Columns:
        """Returns a value; the same object where a term stands in several places."""
        known = self._written.get(id(term))
        if known is None:
            known = self._written[id(term)] = self._write(term)
        return known

    def _write(self, term: Term) -> Columns:
        match term:
            case t.Argument(name=name):
                type_ = spark_type_of(term.kind)
                column = self._arguments[name].cast(type_)
                if type_ == MOMENT:
                    return instant_of(column)
                return Integer(column) if plain_kind(term.kind) == k.INT else column
            case t.Constant(value=value):
                return self._constant(value)
            case t.IsNone(of=of):
                operand = (
                    self._arguments[of.name] if isinstance(of, t.Argument) else self._plain(of)
                )
                return operand.isNull()
            case t.Logic() | t.Fails():
                test = self._test(term)
                return f.lit(test) if isinstance(test, bool) else test
            case t.Converted(of=of):
                return self._as("float", of) if term.kind.name == "float" else self._integer(of)
            case t.Choice():
                return self._chosen(term)
            case t.Part(of=of, place=place):
                value = self._column(of)
                part = value[place] if isinstance(value, tuple) else value
                return Integer(part) if plain_kind(term.kind) == k.INT else part
            case t.Applied():
                return self._applied(term)
        raise NoTermError(f"{type(term).__name__} of {term.kind} has no native form", self._line)

    def _constant(self, value: object) -> Columns:
        if isinstance(value, float) and value == 0 and math.copysign(1, value) < 0:
            # Next to 0.0, Spark's optimizer takes both for the same literal.
            raise NoTermError("the constant -0.0", self._line)
        column = literal(value)
        if column is None:
            raise NoTermError(f"a constant of {type(value).__name__}", self._line)
        if isinstance(value, int) and not isinstance(value, bool):
            return Integer(column, value, value)
        return column

    def _chosen(self, term: t.Choice) -> Columns:
        test = self._test(term.test)
        if isinstance(test, bool):
            return self._column(term.then if test else term.otherwise)
        then, otherwise = self._column(term.then), self._column(term.otherwise)
        if isinstance(then, Integer) and isinstance(otherwise, Integer):
            return integers.chosen(test, then, otherwise)
        if not isinstance(then, Column) or not isinstance(otherwise, Column):
            raise NoTermError("a choice between tuples has no native form", self._line)
        return f.when(test, then).otherwise(otherwise)

    # Methods

    def _applied(self, term: t.Applied) -> Columns:
        self._line = term.line
        if is_exact(term):
            numbers = [self._integer(argument) for argument in term.arguments]
            if term.name in COMPARED:
                left, right = numbers
                return integers.compared(term.name, left, right, what=self._name)
            return integers.computed(term.name, *numbers, what=self._name)
        if term.name == "/" and (quotient := self._quotient(term)) is not None:
            return quotient
        if plain_kind(term.kind) == k.FLOAT and all(
            isinstance(a, t.Constant) for a in term.arguments
        ):
            raise NoTermError("a float computed from constants only, which may be -0.0", term.line)
        rule = _rule(term)
        value: Any = rule.value(*self._operands(term))
        if value is None:
            raise NoTermError(f"{term.name} has no native form for these arguments", term.line)
        if plain_kind(term.kind) != k.INT:
            return value
        if _rounds(term):
            return integers.of_double(self._plain(term.arguments[0]), value)
        divided = [self._integer(each) for each in term.arguments] if _divides(term) else []
        if all(each.is_narrow for each in divided):
            return integers.of_method(term.name, value, divided)
        left, right = divided
        return integers.divided(term.name, value, left, right, self._name)

    def _fails(self, term: t.Applied) -> Column | bool:
        """Whether a method raises; returns the same object for each call."""
        known = self._failing.get(id(term))
        if known is None:
            known = self._failing[id(term)] = self._write_fails(term)
        return known

    def _write_fails(self, term: t.Applied) -> Column | bool:
        self._line = term.line
        if is_exact(term) or (term.name == "/" and self._quotient(term) is not None):
            return False
        if _rounds(term):
            number = self._plain(term.arguments[0])
            # In Spark, NaN is above all numbers.
            return ~(f.abs(number) < math.inf)
        rule = _rule(term)
        if rule.fails is None:
            return False
        fails = rule.fails(*self._operands(term))
        return False if fails is None else fails

    def _quotient(self, term: t.Applied) -> Column | None:
        """Returns the quotient of a rounded double and a constant; None for other quotients."""
        left, right = map(self._column, term.arguments)
        if not isinstance(left, Integer) or not isinstance(right, Integer):
            return None
        if left.rounded is None or right.low == 0 or not integers.has_double(right):
            return None
        return f.try_divide(left.rounded, f.lit(float(right.low)))

    def _operands(self, term: t.Applied) -> list[Operand | None]:
        """Returns the arguments of a method; the same objects for its value and for where it fails."""
        known = self._given.get(id(term))
        if known is None:
            pairs = zip(term.takes, term.arguments, strict=True)
            known = self._given[id(term)] = [self._operand(term, *pair) for pair in pairs]
        return known

    def _operand(self, term: t.Applied, wanted: str, argument: Term) -> Operand | None:
        if argument.kind == k.NONE:
            return None
        if isinstance(argument, t.Constant):
            value: Any = argument.value
            if isinstance(value, int) and wanted in ("int", "float"):
                value = int(value) if wanted == "int" else float(value)
            return Operand(None, value)
        if _divides(term) and integers.may_be_divided(*map(self._integer, term.arguments)):
            # Null where a dividend exceeds 64 bits; its decimal is divided separately.
            number = self._integer(argument)
            return Operand(number.column, bounds=(max(number.low, LEAST), min(number.high, MOST)))
        if wanted == "int":
            number = self._integer(argument)
            return Operand(self._as(wanted, argument), bounds=(number.low, number.high))
        place, of = _item_of(term, argument)
        item = None
        if of is not None and isinstance(argument, t.Applied):
            item = of(place, *self._operands(argument))
        return Operand(self._as(wanted, argument) if item is None else None, item=item)

    def _integer(self, term: Term) -> Integer:
        value = self._column(term)
        if isinstance(value, Integer):
            return value
        assert isinstance(value, Column)
        return Integer(value.cast("bigint"), 0, 1)

    def _as(self, wanted: str, term: Term) -> Column:
        """Returns an argument as the type that a rule takes."""
        value = self._column(term)
        if isinstance(value, Integer):
            if wanted == "float":
                return integers.as_float(value, self._name)
            if not value.is_narrow:
                raise NoTermError(
                    "an integer that may exceed 64 bits, in an operation other than + - * and comparisons",
                    self._line,
                )
            return value.column
        assert isinstance(value, Column)
        if wanted in ("int", "float") and term.kind == k.BOOL:
            return value.cast("bigint" if wanted == "int" else "double")
        return value


_CALENDARS: dict[str | None, type[datetime.date]] = {
    "date": datetime.date,
    "timestamp_ntz": datetime.datetime,
    MOMENT: datetime.datetime,
}
"""The Python types for the Spark types that have more years."""

_EXACT = ("+", "-", "*", "neg", "pos", "abs", "min", "max")


RULES: Rules = {
    **number_rules.RULES,
    **text_rules.RULES,
    **date_rules.RULES,
    **container_rules.RULES,
}
"""The rules, by the name and the signature of their rows."""

"""Expressions that Spark computes once for each row, in methods that Java compiles.

Spark computes a part of an expression once, in a method of its own, if it stands in two places that are
always computed. In the branches of `CASE` it computes the part again in each place, and all code that is
not shared is in one method: Java does not compile methods of more than 8,000 bytes, and interpreting one
takes longer than the transport of the rows.
"""

from __future__ import annotations

import operator
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.rows import terms as t
from colkern.rows.terms import NoTermError, Term

LONGEST = 20_000
"""The largest length of an expression's text: Spark takes seconds to plan longer ones."""

_REPEATED = 200
"""The number of repeated characters from which on a part is shared."""

_SHORT = 20
"""The number of operations up to which several expressions have room in one method: about 400 bytes."""

_OPERATION = re.compile(r"'[^']*'|(?:TRY_)?CAST\(|([^\s()]*\(|WHEN )")
"""Matches an operation in an expression's text as a group, and texts and casts as none."""

_FEW = 16
"""The number of places up to which a column is repeated in an expression, which is faster for few."""

Computed: TypeAlias = "t.Applied | t.Argument"
"""A term that may occur in several places of an expression."""


def text_of(column: Column) -> str:
    """Returns Spark's text of an expression."""
    return repr(column).removeprefix("Column<'").removesuffix("'>")


def once(
    result: Column,
    parts: Iterable[Column],
    nulls: Sequence[Column] = (),
    shown: Callable[[Column], str] = text_of,
    cases: Sequence[tuple[Column, Column]] = (),
) -> Column:
    """Returns an expression whose parts Spark computes once.

    Args:
        parts: Parts that Spark may compute for each row, without an exception.
        nulls: Conditions under which the results are null.
        shown: Returns the text of an expression.
        cases: Conditions, each with the expression that replaces the result where it is the first that
            holds.
    """
    tests = list(nulls)
    whole = chosen(cases, result, tests)
    text = shown(whole)
    # A part that is shared is in the text at least twice.
    texts = [(shown(part), part) for part in parts] if len(text) > _REPEATED else []
    for each, part in sorted(texts, key=lambda each: -len(each[0])):
        if _operations(each) and (text.count(each) - 1) * len(each) >= _REPEATED:
            text = text.replace(each, "") + each
            # The test is never true. Spark drops it for parts that are never null, which need no method.
            tests.append(f.isnull(_in_two_places(part)) & f.isnotnull(part))
    return chosen(cases, result, tests) if len(tests) > len(nulls) else whole


def chosen(
    cases: Iterable[tuple[Column, Column]], result: Column, nulls: Sequence[Column] = ()
) -> Column:
    """Returns null where one of `nulls` holds, else the expression of the first condition that holds, else
    a result: one `CASE`, which Spark plans in less time than nested ones."""
    chain = f.when(reduce(operator.or_, nulls), f.lit(None)) if nulls else None
    for test, value in cases:
        chain = f.when(test, value) if chain is None else chain.when(test, value)
    return result if chain is None else chain.otherwise(result)


def _operations(text: str) -> int:
    """Returns the number of operations in an expression's text; casts are mostly of the same type."""
    return sum(1 for match in _OPERATION.finditer(text) if match[1])


def in_own_method(result: Column, shown: Callable[[Column], str] = text_of) -> Column:
    """Returns an expression whose code is in a method of its own, unless it is short; raises NoTermError if
    it is too large."""
    text = shown(result)
    if len(text) > LONGEST:
        raise NoTermError("its expression is too large")
    return _in_two_places(result) if _operations(text) > _SHORT else result


def _in_two_places(column: Column) -> Column:
    return f.coalesce(column, column)


Body: TypeAlias = Callable[[Sequence[Column], bool], Column]
"""Gives an expression of some columns, and is told whether Spark may share parts of it.

In the body of a lambda it shares none: the tests of `once` and the second place of `in_own_method` are then
code that runs.
"""


def uses(body: Body, columns: int) -> int:
    """Returns the largest number of places in which a column stands in an expression; 0 with parts by
    `once`.

    Spark computes those parts in each place if the expression is the body of a lambda.
    """
    marks = [uuid.uuid4().hex for _ in range(columns)]
    text = text_of(body([*map(f.col, marks)], False))
    return max(map(text.count, marks))


def bound(columns: Sequence[Column], body: Body, uses: int) -> Column:
    """Returns an expression in which no column stands in many places, for use next to a Python function.

    If one column is computed from another and both may run in Python, Spark writes the expression of the
    other in all its places, and only then drops branches.

    Args:
        body: Returns the expression.
        uses: The largest number of places in which a column stands in it.
    """
    if uses <= _FEW:
        return body(columns, True)
    # A lambda over an array of one row, which Spark compiles. Within the lambda, Spark may confuse the name
    # of a column with that of another result of the same select.
    names = [f"_{place}" for place in range(len(columns))]
    row = f.struct(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
    results = f.transform(f.array(row), lambda row: body([*map(row.getField, names)], False))
    return in_own_method(results[0])


def unique(term: Term) -> Iterator[Term]:
    """Yields a term and all terms within it, each once."""
    waiting, seen = [term], {id(term)}
    while waiting:
        each = waiting.pop()
        yield each
        for part in t.parts(each):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def computed(term: Term) -> dict[int, Computed] | None:
    """Returns the calls and arguments that are computed whenever a term is; None if the term always raises.

    Computed in all rows except those where an argument is None is enough: for null, Spark computes nothing.
    """
    match term:
        case t.Raise():
            return None
        case t.Choice():
            test = computed(term.test) or {}
            then, otherwise = computed(term.then), computed(term.otherwise)
            if (known := _without_none(term.test)) is not None:
                then = otherwise = then if known else otherwise
            if then is None or otherwise is None:
                both = then if otherwise is None else otherwise
                return None if both is None else test | both
            return test | {key: each for key, each in then.items() if key in otherwise}
        case t.Logic():
            return computed(term.arguments[0])
        case t.Maybe():
            return (computed(term.none) or {}) | (
                {} if _without_none(term.none) is not False else computed(term.of) or {}
            )
        case t.Fails():
            return _all(term.of.arguments)
        case t.Applied():
            return _all(term.arguments) | {id(term): term}
        case t.Argument():
            return {id(term): term}
    return _all(t.parts(term))


def _all(terms: tuple[Term, ...]) -> dict[int, Computed]:
    return {key: each for term in terms for key, each in (computed(term) or {}).items()}


def _without_none(test: Term) -> bool | None:
    """Returns the outcome of a test if no argument is None, for tests that ask nothing else; otherwise
    None."""
    match test:
        case t.IsNone(of=t.Argument()):
            return False
        case t.Constant(value=value):
            return bool(value)
        case t.Logic(name=name, arguments=arguments):
            known = [_without_none(each) for each in arguments]
            if None in known:
                return None
            return not known[0] if name == "not" else (any if name == "or" else all)(known)
    return None

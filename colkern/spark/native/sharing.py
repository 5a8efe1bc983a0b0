"""Expressions that Spark computes once for each row, in methods that Java compiles.

Spark computes a part of an expression once, in a method of its own, if it stands in two places that are
always computed. In the branches of `CASE` it computes each place anew, and the code of all that is not
shared stands in one method: Java compiles none of more than 8,000 bytes, which then takes more time than
the transport of the rows does.
"""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.rows import terms as t
from colkern.rows.terms import NoTermError, Term

LONGEST = 20_000
"""The characters of an expression's text at most: Spark plans larger ones for seconds."""

_REPEATED = 200
"""The characters that stand in other places, from which on a part is shared."""

_SHORT = 300
"""The characters of an expression's text up to which several have room in one method."""

_FEW = 16
"""The places of an expression up to which a column stands in each: there, it takes less time."""

Computed: TypeAlias = "t.Applied | t.Argument"
"""What an expression may have in several places."""


def text_of(column: Column) -> str:
    """The text that Spark has for an expression."""
    return repr(column).removeprefix("Column<'").removesuffix("'>")


def once(
    result: Column,
    parts: Iterable[Column],
    nulls: Iterable[Column] = (),
    shown: Callable[[Column], str] = text_of,
) -> Column:
    """An expression of which Spark computes parts once.

    Args:
        result: The expression.
        parts: What Spark may compute for each row, without an exception.
        nulls: Conditions under which the results are null.
        shown: Gives the text of an expression.
    """
    text, tests = shown(result), list(nulls)
    texts = sorted(((shown(part), part) for part in parts), key=lambda each: -len(each[0]))
    for each, part in texts:
        if (text.count(each) - 1) * len(each) >= _REPEATED:
            text = text.replace(each, "") + each
            # Never true. Parts that are never null need no method: Spark drops the test.
            tests.append(f.isnull(_in_two_places(part)) & f.isnotnull(part))
    return f.when(reduce(operator.or_, tests), f.lit(None)).otherwise(result) if tests else result


def in_own_method(result: Column, shown: Callable[[Column], str] = text_of) -> Column:
    """An expression whose code is called from where its results are asked for, but for a short one.

    Raises:
        NoTermError: If it is too large.
    """
    size = len(shown(result))
    if size > LONGEST:
        raise NoTermError("its expression is too large", 0)
    return _in_two_places(result) if size > _SHORT else result


def _in_two_places(column: Column) -> Column:
    return f.coalesce(column, column)


Body: TypeAlias = Callable[[Sequence[Column], bool], Column]
"""Gives an expression of some columns, and is told whether Spark may share parts of it.

In the body of a lambda it shares none: the tests of `once` and the second place of `in_own_method` are then
code that runs.
"""


def uses(body: Body, columns: int) -> int:
    """In how many places of an expression without shared parts one of its columns stands, at most."""
    marks = [uuid.uuid4().hex for _ in range(columns)]
    text = text_of(body([*map(f.col, marks)], False))
    return max(map(text.count, marks))


def bound(columns: Sequence[Column], body: Body, uses: int) -> Column:
    """An expression beside a function in Python, in which no column stands in many places.

    Where two columns follow from each other and both may run in Python, Spark writes the expression of one
    in all its places in the other, and only then drops branches.

    Args:
        columns: The columns.
        body: Gives the expression.
        uses: In how many places of it a column stands at most.
    """
    if uses <= _FEW:
        return body(columns, True)
    # The function of an array of one, which Spark compiles. Within the function, Spark may take the name of
    # a column for that of another result of the same select.
    names = [f"_{place}" for place in range(len(columns))]
    row = f.struct(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
    results = f.transform(f.array(row), lambda row: body([*map(row.getField, names)], False))
    return in_own_method(results[0])


def parts(term: Term) -> tuple[Term, ...]:
    """The terms that a term consists of."""
    match term:
        case t.Choice():
            return term.test, term.then, term.otherwise
        case t.Applied() | t.Logic():
            return term.arguments
        case t.Fails() | t.Part() | t.Converted() | t.IsNone():
            return (term.of,)
        case t.Maybe():
            return term.none, term.of
        case t.Items():
            return term.items
    return ()


def unique(term: Term) -> Iterator[Term]:
    """A term and all that it consists of, each once."""
    waiting, seen = [term], {id(term)}
    while waiting:
        each = waiting.pop()
        yield each
        for part in parts(each):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def computed(term: Term) -> dict[int, Computed] | None:
    """The calls and arguments that are computed wherever a term is; None for a row without a result.

    What is computed for all rows but those where an argument is None, counts: of null, Spark computes
    nothing.
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
    return _all(parts(term))


def _all(terms: tuple[Term, ...]) -> dict[int, Computed]:
    return {key: each for term in terms for key, each in (computed(term) or {}).items()}


def _without_none(test: Term) -> bool | None:
    """What a test gives where no argument is None, if it asks for nothing else."""
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

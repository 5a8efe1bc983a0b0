"""Reducers as Spark's own aggregates, which are sums, minima and maxima of terms of a row.

Other reducers run in a Python worker over Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.window import WindowSpec

from colkern import schema as s
from colkern.jit import Reducer
from colkern.rows import kinds as k
from colkern.rows import terms as t
from colkern.rows.constants import items_of
from colkern.rows.kinds import Kind
from colkern.rows.reductions import ReducerTerms, Reduction
from colkern.rows.terms import NoTermError, Term
from colkern.spark.native import integers, sharing
from colkern.spark.native.functions import (
    PlanName,
    PlannedFunction,
    Typed,
    require_result_type,
    taken,
)
from colkern.spark.native.integers import Integer
from colkern.spark.native.rule import literal
from colkern.spark.native.translation import (
    MOMENT,
    is_exact,
    plain_kind,
    require_forms,
    scalar_type,
    spark_type_of,
    translated,
)

Each: TypeAlias = Callable[[Column], Column]

_KEPT = t.Constant(k.NONE, None)
"""The term of a row that does not change a part of the state: null, which aggregates skip."""

_HALF = 32


@dataclass(frozen=True)
class Aggregate:
    """A part of a state as an aggregate."""

    how: str  #: "sum", "min" or "max"; "" for a part that does not change.
    kind: Kind  #: The kind of the part.
    begun: Any
    term: Term  #: The term of a row.

    def of(self, values: Column, each: Each, what: str) -> Column:
        """Returns the part after all rows.

        Args:
            values: The values of the rows; null where a row does not change the part.
            each: Applied to each aggregate, for example to put it over a window.
            what: The name of the reducer in messages.
        """
        if self.how == "sum":
            return self._sum(values, each, what)
        if self.how == "":
            return f.lit(self.begun).cast(spark_type_of(self.kind))
        if self.kind == k.FLOAT:
            # In Python NaN fails every comparison, so it is left out; in Spark NaN is above all numbers.
            values = f.when(~f.isnan(values), values)
        is_min = self.how == "min"
        extreme = each(f.min(values) if is_min else f.max(values))
        if self.begun is None:
            return extreme
        begun = literal(self.begun)
        assert begun is not None
        return f.least(begun, extreme) if is_min else f.greatest(begun, extreme)

    def _sum(self, values: Column, each: Each, what: str) -> Column:
        if self.kind == k.FLOAT:
            return f.lit(0.0) + f.coalesce(each(f.sum(values)), f.lit(0.0))

        # With fewer values of so few bits, no intermediate sum exceeds 64 bits.
        is_exact = each(f.count(values)) < f.lit(1 << (63 - _HALF))

        def total(numbers: Column) -> Integer:
            summed = f.coalesce(each(f.sum(numbers)), f.lit(0).cast("bigint"))
            return Integer(f.when(is_exact, summed).otherwise(integers.beyond(what, "bigint")))

        if self._is_small():
            result = total(values)
        else:
            high = total(f.shiftright(values, _HALF))
            low = total(values.bitwiseAND(f.lit((1 << _HALF) - 1)))
            factor = integers.known(1 << _HALF)
            result = integers.computed("*", high, factor, what=what)
            result = integers.computed("+", result, low, what=what)
        result = integers.computed("+", result, integers.known(self.begun), what=what)
        return integers.whole(result, what)

    def _is_small(self) -> bool:
        """Whether all values are constants far below 64 bits."""
        return all(
            isinstance(end, t.Raise)
            or (isinstance(end, t.Constant) and abs(end.value or 0) < 1 << _HALF)  # type: ignore[arg-type]
            for end in t.ends(self.term)
        )


def aggregates_of(terms: ReducerTerms, any_order: bool) -> dict[str, Aggregate]:
    """Returns the aggregates for the parts of a state, by the names that the parts have in `finish`;
    raises NoTermError if a part is not an aggregate, or depends on the order of the rows, unless they may
    be taken in `any_order`, as `merge` allows."""
    aggregates = {}
    update = _certain(terms.update)
    for path, kind, begun in _parts(terms.state, terms.begun):
        of = kind.of if isinstance(kind, k.Optional) else kind
        of = plain_kind(of)
        spark_type_of(of)
        how, term = _Step(terms.state_name + path).of(_part(update, path))
        if how == "sum" and (isinstance(kind, k.Optional) or of not in (k.INT, k.FLOAT)):
            raise NoTermError(f"a sum that is {kind}")
        if how and of == k.FLOAT:
            _require_any_order(terms, path, how, kind, begun, any_order)
        require_forms(term)
        aggregates[terms.finished_name + path] = Aggregate(how, of, begun, term)
    used = {each.name for each in sharing.unique(terms.finish) if isinstance(each, t.Argument)}
    if not any(aggregates[name].how for name in used):
        raise NoTermError("its result does not depend on the rows")
    return {name: each for name, each in aggregates.items() if name in used}


def _require_any_order(
    terms: ReducerTerms, path: str, how: str, kind: Kind, begun: Any, any_order: bool
) -> None:
    if not any_order:
        raise NoTermError("sums and comparisons of floats depend on the order of the rows")
    assert terms.merge is not None
    left, right = terms.merged_names
    merged, term = _Step(left + path).of(_part(_certain(terms.merge), path))
    is_right = isinstance(term, t.Argument) and term.name == right + path
    if merged != how or not is_right:
        raise NoTermError(f"its merge does not have the {how} that its update has")
    if isinstance(kind, k.Optional) or begun != begun or (how == "sum" and begun != 0):
        raise NoTermError(f"a {how} of floats that begins with {begun!r}")


def _parts(kind: Kind, begun: Any, path: str = "") -> Iterator[tuple[str, Kind, Any]]:
    """Yields the path, kind and initial value of each part of a state."""
    if isinstance(kind, k.Compound):
        parts = zip(kind.items, items_of(begun, kind), strict=True)
        for place, (item, value) in enumerate(parts):
            yield from _parts(item, value, f"{path}.{place}")
    else:
        yield path, kind, begun


def _part(term: Term, path: str) -> Term:
    """Returns the function of one part, from a function that gives the whole state."""
    places = [int(place) for place in path.split(".")[1:]]

    def at(end: Term) -> Term:
        for place in places:
            if isinstance(end, t.Raise):
                return end
            if not isinstance(end, t.Items):
                raise NoTermError("a tuple state that is returned as a whole")
            end = end.items[place]
        return end

    return t.mapped(term, at)


def _certain(term: Term) -> Term:
    """Removes tests for results beyond 64 bits from a tree of choices; here integers are exact."""
    if not isinstance(term, t.Choice):
        return term
    test = _simple(term.test)
    if isinstance(test, t.Constant):
        return _certain(term.then if test.value else term.otherwise)
    return replace(term, test=test, then=_certain(term.then), otherwise=_certain(term.otherwise))


def _simple(test: Term) -> Term:
    """Returns a test without the parts whose outcome is known."""
    match test:
        case t.Fails(of=of) if is_exact(of):
            return t.FALSE
        case t.Constant(value=value):
            return t.TRUE if value else t.FALSE
        case t.Choice():
            return t.chosen(*map(_simple, t.parts(test)))
        case t.Logic(name="not", arguments=(of,)):
            return t.chosen(_simple(of), t.FALSE, t.TRUE)
        case t.Logic(name=name, arguments=arguments):
            return t.joined(name, map(_simple, arguments))
    return test


@dataclass(frozen=True)
class _Step:
    """Reads the way in which an update changes a part of a state."""

    state: str  #: The part's name.

    def of(self, term: Term) -> tuple[str, Term]:
        """Returns the aggregate of a part, "sum", "min", "max", or "" if it does not change; and its term.
        Raises NoTermError if the part is no such aggregate."""
        match term:
            case t.Raise():
                return "", term
            case t.Maybe(none=t.Constant(value=False), of=of):
                return self.of(of)
            case t.Maybe(none=t.IsNone(of=tested), of=of) if self._is(tested) and self._is(of):
                return "", _KEPT
            case t.Applied(name="+" | "-", arguments=(left, right)):
                return self._sum(term, left, right)
            case t.Applied(name="min" | "max" as name, arguments=(left, right)):
                if self._is(left) and self._is_free(right):
                    return name, right
                if self._is(right) and self._is_free(left) and term.kind.name != "float":
                    return name, left
            case t.Choice():
                return self._choice(term)
        if self._is(term):
            return "", _KEPT
        line = term.line if isinstance(term, t.Applied) else 0
        raise NoTermError("a state that is no sum, least or greatest value of the rows", line)

    def _is(self, term: Term) -> bool:
        return isinstance(term, t.Argument) and term.name == self.state

    def _is_free(self, term: Term) -> bool:
        """Whether a term does not depend on the state; the names of all parts of a state begin alike."""
        state = self.state.partition(".")[0]
        return not any(
            isinstance(each, t.Argument) and each.name.partition(".")[0] == state
            for each in sharing.unique(term)
        )

    def _sum(self, term: t.Applied, left: Term, right: Term) -> tuple[str, Term]:
        if term.name == "+" and self._is_free(left):
            left, right = right, left
        how, before = self.of(left)
        if how not in ("", "sum") or not self._is_free(right):
            raise NoTermError("a state that is no sum of the rows", term.line)

        def added(end: Term) -> Term:
            if isinstance(end, t.Raise):
                return end
            if end is not _KEPT:
                return replace(term, arguments=(end, right))
            if term.name == "+":
                return right
            zero = t.Constant(term.kind, 0.0 if term.kind.name == "float" else 0)
            return replace(term, arguments=(zero, right))

        return "sum", t.mapped(before, added)

    def _choice(self, term: t.Choice) -> tuple[str, Term]:
        if self._is_free(term.test):
            (how, then), (other, otherwise) = self.of(term.then), self.of(term.otherwise)
            if how and other and how != other:
                raise NoTermError(f"a state that is a {how} or a {other}")
            if then is otherwise:
                return how or other, then
            kind = otherwise.kind if then is _KEPT or isinstance(then, t.Raise) else then.kind
            return how or other, t.Choice(kind, term.test, then, otherwise)
        then, otherwise = _plain(term.then), _plain(term.otherwise)
        match term.test:
            case t.IsNone(of=of) if self._is(of):
                how, value = self.of(otherwise)
                if how in ("min", "max") and value is then:
                    return how, value
            case t.Logic(name="or", arguments=(t.IsNone() as none, test)):
                inner = replace(term, test=test)
                return self._choice(replace(term, test=none, otherwise=inner))
            case t.Applied(name="<" | "<=" | ">" | ">=" as sign, arguments=(left, right)):
                value, picked = (then, then) if self._is(otherwise) else (otherwise, then)
                sides = {id(left), id(right)}
                # NaN fails every comparison, so the row's value must be the one picked if the comparison
                # holds.
                is_known = value is then or value.kind.name != "float"
                if sides == {id(then), id(otherwise)} and self._is_free(value) and is_known:
                    return "min" if (sign[0] == "<") == (picked is left) else "max", value
        raise NoTermError("a state that depends on the rows before in another way")


def _plain(term: Term) -> Term:
    """Returns a value without a test for None whose outcome is known."""
    while isinstance(term, t.Maybe) and isinstance(term.none, t.Constant) and not term.none.value:
        term = term.of
    return term


class PlannedAggregate(PlannedFunction):
    """A Spark aggregate: an expression of Spark's aggregates where one means the same as the reducer.

    Args:
        columns: The types of its columns, if they are known.
        any_order: Whether rows may be taken in any order, as a `merge` allows.

    Raises:
        CompileError: As `PlannedFunction`.
    """

    def __init__(
        self,
        arrow: Callable[..., Column],
        function: Reducer,
        columns: list[s.DataType] | None,
        plan: PlanName,
        any_order: bool = False,
    ) -> None:
        self._any_order = any_order
        self._each: Each = _alone
        super().__init__(arrow, function, columns, plan)

    def _read(self, columns: list[s.DataType]) -> Typed:
        function = self._row_function
        assert isinstance(function, Reducer)
        if not self._must and not self._any_order:
            raise NoTermError(
                "Spark refuses its own aggregates next to Python's; choose plan='native'"
            )
        reduction = function.plan(*columns)
        if not isinstance(reduction, Reduction):
            raise NoTermError("it runs in Python")
        terms = reduction.terms()
        self._aggregates = aggregates_of(terms, self._any_order)
        require_forms(terms.finish)
        require_result_type(terms.kind, reduction.returns)
        parameters, nullable = taken(terms.parameters)
        for name, kind in parameters.items():
            if scalar_type(kind) == MOMENT:
                # Outside UTC a worker would have to run, which Spark refuses next to its own aggregates.
                raise NoTermError(f"a parameter of the kind {kind} has no native form: {name}")
        return Typed(terms.finish, terms.kind, parameters, nullable)

    def _code(self) -> CodeType:
        assert isinstance(self._row_function, Reducer)
        code: CodeType = self._row_function.functions.update.__code__
        return code

    def _native(self, arguments: Mapping[str, Column | str], texts: Mapping[str, str]) -> Column:
        result = super()._native(arguments, texts)

        def over(window: WindowSpec) -> Column:
            self._each = lambda aggregate: aggregate.over(window)
            try:
                return super(PlannedAggregate, self)._native(arguments, texts)
            finally:
                self._each = _alone

        # Spark takes single aggregates over windows, not expressions of several.
        result.over = over
        return result

    def _expression(self, columns: Mapping[str, Column]) -> Column:
        typed = self._typed
        assert typed is not None
        parts = {
            name: one.of(self._of_rows(typed, one.term, one.kind, columns), self._each, self._name)
            for name, one in self._aggregates.items()
        }
        # A part is null only if it is None.
        return translated(typed.term, typed.kind, self._name, parts, parts.keys())


def _alone(aggregate: Column) -> Column:
    return aggregate

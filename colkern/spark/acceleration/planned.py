"""`pandas_udf` functions with a choice of plans: a Spark expression, or a Python worker over Arrow."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.errors import UnsupportedError
from colkern.rows.terms import NoTermError
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.compiled import EXAMPLES, result_of
from colkern.spark.acceleration.expressions import Expression
from colkern.spark.acceleration.original import Original, Settings
from colkern.spark.acceleration.recorded import Tracer
from colkern.spark.acceleration.tracing import traced
from colkern.spark.acceleration.verification import accepted, difference, extremes, outcome
from colkern.spark.native import sharing
from colkern.spark.native.functions import KNOWN, UTC, PlanName, PlannedFunction

_EXAMPLES = {
    kind: pa.concat_arrays([EXAMPLES[kind], pa.nulls(1, EXAMPLES[kind].type)])
    for kind in ("double", "string", "date", "timestamp")
}
"""Values, with a null, for each column type for which there are expressions."""

_AS_DOUBLE = {"bigint": pa.int64(), "int": pa.int32()}
"""The types that become doubles in pandas if they have nulls."""

_MOST_COLUMNS = 5

MOST_COMBINED = 3
"""Up to this number of columns, all combinations of types are tried."""


@dataclass(frozen=True)
class _Branch:
    """The graph of a function for columns of some types."""

    node: g.Node  #: The results.
    kinds: tuple[str, ...]  #: The types.
    lines: Mapping[bytes, int]  #: The lines of the function's source, by the identities of nodes.
    #: The combinations of types that have these results, as Spark's `typeof` names them.
    taken: tuple[tuple[str, ...], ...]
    takes_times: bool  #: Whether the function also takes times in place of numbers.
    uses: int = 0  #: The largest number of places of the results in which one column stands.


class PlannedOriginal(PlannedFunction):
    """A Spark column function for a `pandas_udf`: an expression where there is one for the columns' types.

    Spark knows the types of columns when it plans a query, and then drops the branches for other types.
    Types without an expression run over Arrow.

    Args:
        arrow: Spark's function over Arrow.
        original: The function of pandas columns, with Spark's own settings.
        plan: As for `PlannedFunction`, except that the first call raises a refusal.
    """

    def __init__(self, arrow: Callable[..., Column], original: Original, plan: PlanName) -> None:
        functools.update_wrapper(self, arrow)
        self._arrow = arrow
        self._name = arrow.__name__
        self._original = original
        self._returns = original.returns.simpleString()
        self._must = plan == "native"
        self._reason = NoTermError("plan='arrow'") if plan == "arrow" else None
        self._branches: list[_Branch] | None = None
        self._columns = self._typed = None
        KNOWN[self._name] = self

    def _arguments(
        self, columns: Sequence[Column | str], named: Mapping[str, Column | str]
    ) -> Mapping[str, Column | str] | None:
        if self.planned():
            signature = inspect.signature(self._original.function)
            # The original refuses other columns.
            with contextlib.suppress(TypeError):
                return signature.bind(*columns, **named).arguments
        return None

    def _takes_names(self, parameters: Iterable[str]) -> bool:
        # Else there would be no branch.
        return True

    @property
    def is_native(self) -> bool:
        """Whether a query may use an expression."""
        return bool(self._branches)

    def explanation(self, is_in_worker: bool = False) -> str:
        """Returns a line that says for which columns the plan is native, or why it is not."""
        if not self.planned() or is_in_worker:
            return super().explanation(True)
        shown = "; ".join(
            ", ".join("|".join(dict.fromkeys(types)) for types in zip(*each.taken, strict=True))
            for each in self._branches or ()
        )
        return f"{self._name}: native for columns of {shown}; arrow for others"

    def planned(self) -> bool:
        """Whether there is an expression for columns of any types; the first call finds that out. Raises
        CompileError if there is none, and the plan is "native"."""
        if self._branches is None:
            self._branches = []
            try:
                if self._reason is not None:
                    raise self._reason
                self._branches = self._known_branches()
            except NoTermError as error:
                self._refuse(error)
        return bool(self._branches) and not Settings.of_session().extension

    def _code(self) -> CodeType:
        code: CodeType = inspect.unwrap(self._original.function).__code__
        return code

    def _expression(self, named: Mapping[str, Column]) -> Column:
        columns = list(named.values())
        branches = self._branches or []

        def native(columns: Sequence[Column], shares: bool) -> Column:
            """Returns the results for columns, by the branch for their types."""
            *others, last = branches
            types, result = _types_of(columns), self._of(last, columns, shares)
            for branch in reversed(others):
                own = self._of(branch, columns, shares)
                result = f.when(_is_of([branch], types), own).otherwise(result)
            return result

        types = _types_of(columns)
        if self._must:
            message = f"{self._name}: no native plan for columns of "
            elsewhere = f.raise_error(f.concat(f.lit(message), types)).cast(self._returns)
            result = native(columns, True)
        else:
            elsewhere = self._arrow(*columns)
            result = sharing.bound(columns, native, sum(branch.uses for branch in branches))
        return f.when(_is_of(branches, types), result).otherwise(elsewhere)

    def _of(self, branch: _Branch, columns: Sequence[Column], shares: bool) -> Column:
        """Returns the results for columns of a branch's types; raises NoTermError if there is no
        expression, or if it would be too large."""
        # Spark converts every type to string. Next to a Python function, it inlines columns whose type is
        # read.
        typed = [
            column.cast(kind)
            if kind == "string" or (kind == "double" and not branch.takes_times)
            else _as_kind(kind, column, dict.fromkeys(types[place] for types in branch.taken))
            for place, (column, kind) in enumerate(zip(columns, branch.kinds, strict=True))
        ]
        writer = Expression(typed, branch.kinds, self._name, branch.lines)
        with writer.at(branch.node):
            result = writer.result(branch.node, self._original.returns)
        result = writer.in_bounds(result, self._returns)
        if not shares:
            return result
        texts = [*map(sharing.text_of, typed)]

        def shown(column: Column) -> str:
            """Returns the text of an expression, with `c` in place of each column."""
            text = sharing.text_of(column)
            return functools.reduce(lambda text, each: text.replace(each, "c"), texts, text)

        return sharing.in_own_method(sharing.once(result, writer.shareable(), shown=shown), shown)

    # Which types of columns there are expressions for

    def _known_branches(self) -> list[_Branch]:
        """Returns the branches; raises NoTermError if there is none."""
        parameters = inspect.signature(self._original.function).parameters.values()
        if self._original.over_batches or not 0 < len(parameters) <= _MOST_COLUMNS:
            raise NoTermError("only functions of one to five columns have native plans")
        if any(
            p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is not p.empty for p in parameters
        ):
            raise NoTermError("functions of any number of columns have no native plans")
        branches: list[_Branch] = []
        furthest, reason = (False, False, -1), NoTermError("")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for kinds in _combinations(len(parameters)):
                tracer = Tracer()
                try:
                    branches.append(self._branch(kinds, tracer))
                except Exception as error:  # noqa: BLE001 The user's function may raise anything.
                    is_refusal = isinstance(error, NoTermError) or tracer.refusal is not None
                    values = [EXAMPLES[kind] for kind in kinds]
                    raises_for_null = not is_refusal and not _raises(self._original, values)
                    rank = (isinstance(error, NoTermError), raises_for_null, tracer.steps)
                    # Where a function takes several types, the last ones have the most specific message.
                    if rank > furthest or (rank[0] and rank == furthest):
                        furthest, cause = rank, getattr(error, "reason", str(error))
                        if not is_refusal:
                            cause = (
                                f"for columns of {', '.join(kinds)} with nulls, it raises {cause}"
                            )
                        reason = NoTermError(cause, getattr(error, "line", 0))
        if not branches:
            raise reason
        return branches

    def _branch(self, kinds: tuple[str, ...], tracer: Tracer) -> _Branch:
        """Returns the branch for columns of some types.

        Raises:
            NoTermError: If there is none.
            UnsupportedError: If the function is not element-wise.
            Exception: Whatever the function raises for some rows.
        """
        examples = [_EXAMPLES[kind] for kind in kinds]
        node = result_of(
            traced(self._original.function, self._original.pandas(examples), tracer),
            self._original.returns,
        )
        # This comes last: with columns of unexpected types, such as texts for numbers, the body may need
        # much memory.
        expected = outcome(self._original, examples)
        if isinstance(expected, Exception):
            cause: BaseException = expected
            while cause.__cause__ is not None:
                cause = cause.__cause__
            raise UnsupportedError(f"{type(cause).__name__}: {cause}")
        replayed = self._original.arrow(tracer.results, len(examples[0]))
        reason = difference(examples, replayed, expected)
        if reason is not None:
            raise tracer.refused(f"with stand-ins for columns, it takes another way: {reason}")
        branch = _Branch(node, kinds, tracer.lines, (kinds,), self._takes_times(kinds))
        uses = sharing.uses(functools.partial(self._of, branch), len(kinds))
        if not self._is_alike_beside_nulls(kinds):
            raise NoTermError("the results of a row differ where other rows have nulls")
        types = [("double", *_AS_DOUBLE) if kind == "double" else (kind,) for kind in kinds]
        if len(kinds) > MOST_COMBINED:
            types = [(kind,) for kind in kinds]
        taken = [each for each in itertools.product(*types) if self._is_alike(each, kinds)]
        return replace(branch, taken=tuple(taken), uses=uses)

    def _takes_times(self, kinds: tuple[str, ...]) -> bool:
        """Whether the function runs with times in place of numbers; times stand for all other types."""
        return any(
            not _raises(self._original, [_EXAMPLES[kind] for kind in types])
            for time in ("date", "timestamp")
            for types in itertools.product(
                *((kind, time) if kind == "double" else (kind,) for kind in kinds)
            )
            if types != kinds
        )

    def _is_alike(self, types: tuple[str, ...], kinds: tuple[str, ...]) -> bool:
        """Whether integers give the results of the same numbers as doubles, tried with extreme values."""
        if types == kinds:
            return True
        rows = self._rows(
            [
                _AS_DOUBLE.get(type_, _EXAMPLES[kind].type)
                for type_, kind in zip(types, kinds, strict=True)
            ]
        )
        doubles = [
            column.cast(_EXAMPLES[kind].type, safe=False)
            for column, kind in zip(rows, kinds, strict=True)
        ]
        return difference(rows, self._original(rows), self._original(doubles)) is None

    def _is_alike_beside_nulls(self, kinds: tuple[str, ...]) -> bool:
        """Whether values have the same results in a column that also has nulls."""
        rows = self._rows([_EXAMPLES[kind].type for kind in kinds])
        expected = self._original(rows)
        for with_null in itertools.product([False, True], repeat=len(kinds)):
            more = [
                pa.concat_arrays([column, pa.nulls(1, column.type) if is_null else column[:1]])
                for column, is_null in zip(rows, with_null, strict=True)
            ]
            if difference(rows, self._original(more)[:-1], expected) is not None:
                return False
        return True

    def _rows(self, types: Sequence[pa.DataType]) -> list[pa.Array]:
        """Returns extreme values of some types, in the rows that the function accepts; at least one row.
        Raises NoTermError if it accepts none of them."""
        rows = accepted(self._original, extremes([pa.array([], type_) for type_ in types]))
        if not len(rows[0]):
            raise NoTermError("it has no results for extreme values")
        return rows


def _combinations(columns: int) -> Iterator[tuple[str, ...]]:
    """Yields the combinations of types to try; for many columns, all of one type, or one beside doubles."""
    if columns <= MOST_COMBINED:
        yield from itertools.product(_EXAMPLES, repeat=columns)
        return
    for kind in _EXAMPLES:
        yield (kind,) * columns
    for place, kind in itertools.product(range(columns), list(_EXAMPLES)[1:]):
        yield (*["double"] * place, kind, *["double"] * (columns - place - 1))


def _types_of(columns: Sequence[Column]) -> Column:
    return f.concat_ws(",", *map(f.typeof, columns))


def _is_of(branches: Sequence[_Branch], types: Column) -> Column:
    """Whether the types of columns are those of a branch; Spark evaluates that when it plans."""
    is_utc = f.current_timezone() == UTC
    return types.isin(
        *(
            f.when(is_utc, name) if "timestamp" in branch.kinds else name
            for branch in branches
            for name in map(",".join, branch.taken)
        )
    )


def _as_kind(kind: str, column: Column, types: Iterable[str]) -> Column:
    """Returns a column of one of several types as one of a kind; null if it has another type.

    Spark checks casts when it plans a query, even in a branch that it then drops. So the column is a field
    of a struct whose field names depend on the type: for another type, the field that is read is null.
    """
    is_taken = f.typeof(column).isin(*types)
    names = [f.when(is_taken, one).otherwise(other) for one, other in ("vn", "nv")]
    value = f.named_struct(names[0], column, names[1], f.lit(None)).getField("v")
    # Cast to timestamp first: Spark has no cast from numbers to dates.
    return (value.cast("timestamp") if kind == "date" else value).cast(kind)


def _raises(original: Original, columns: Sequence[pa.Array]) -> bool:
    return isinstance(outcome(original, columns), Exception)

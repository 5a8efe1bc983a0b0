"""`reducer`: plain Python functions of a state and one row become a compiled reduction of columns.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, TypedDict, Unpack, overload

from colkern import schema as s
from colkern.arrays import Array, RecordBatch, Table
from colkern.errors import CompileError, UnsupportedError
from colkern.jit.column_function import (
    DEFAULT_OPTIONS,
    ColumnFunction,
    NullPolicy,
    RowOptions,
    imported,
    require_null_policy,
    require_on_host,
    require_one_length,
)
from colkern.jit.signatures import Signature, signature_of
from colkern.operations.grouping import Groups, key_groups
from colkern.rows.encoded import decoded
from colkern.rows.front import Sources
from colkern.rows.reductions import Functions, PythonReduction, Reduction


class Reducer(ColumnFunction["AnyReduction"]):
    """A reduction of columns, made by `reducer` from functions of a state.

    Attributes:
        signature: The parameters of `update` after the state, and the result, as declared.
    """

    functions: Functions

    KIND = "reducer"

    def __init__(
        self,
        source: _Names,
        functions: Functions,
        signature: Signature,
        nulls: NullPolicy,
        options: RowOptions = DEFAULT_OPTIONS,
        sources: Sources | None = None,
    ) -> None:
        super().__init__(source.name, signature, nulls, options, sources)
        self.__name__, self.__qualname__, self.__module__, self.__doc__ = astuple(source)
        self.functions = functions

    def __call__(self, *columns: object, by: object = None, **named: object) -> Any:
        """One value for all rows of the columns; with `by`, a batch with one row a group.

        A column of `by` is of any type but unions; null is a value like any other, and groups come in
        the order of their first rows. Values are the same if their bytes are: see
        `dictionary_encode`.

        Rows go to several threads if there is a `merge`, each with states of its own, which are
        merged in the order of the rows.

        Args:
            columns: One array for each parameter of `update` after the state, as for `udf`.
            by: The keys of the groups: a column (named "key" in the result), a sequence of columns
                ("key_0", "key_1" …), or a mapping or record batch of named columns.
            named: Columns by the names of their parameters.

        Returns:
            A Python value, None for null; with `by`, a `RecordBatch` of the keys and of the results,
            under the reducer's name.

        Raises:
            ValueError: If a column of `by` has the reducer's name.
            UnsupportedError: If a column of `by` has unions.

        Other errors are those of a `udf`.
        """
        if by is None:
            return self.reduce(*columns, **named).to_pylist()[0]
        plan, arrays, length = self._planned(columns, named)
        keys = dict(_named_keys(by))
        if not keys:
            raise ValueError("by: expected one column at least")
        if self.name in keys:
            raise ValueError(
                f"by: a column is called {self.name!r}, as the reducer's results are: name it otherwise"
            )
        for name, key in keys.items():
            require_on_host(name, key, self.KIND)
        require_one_length([self._names[0], *keys], [arrays[0], *keys.values()])
        groups = key_groups(list(keys.values()))
        results = self._reduced(plan, arrays, length, groups)
        parts = [groups.keys(key) for key in keys.values()]
        return RecordBatch.from_arrays([*parts, results], [*keys, self.name])

    def reduce(self, *columns: object, **named: object) -> Array:
        """As a call without `by`, but the value is an array of one slot, of the type of the results."""
        return self._reduced(*self._planned(columns, named))

    def reduce_groups(self, columns: Sequence[Array], groups: Groups) -> Array:
        """A result for each of some groups of the rows, as of a call with `by`."""
        return self._reduced(*self._planned(columns, {}), groups)

    def _reduced(
        self, plan: AnyReduction, arrays: Sequence[Array], length: int, groups: Groups | None = None
    ) -> Array:
        results, left = plan.run(arrays, length, groups)
        self._report.add(length, left)
        return results

    def _planned(
        self, columns: Sequence[object], named: Mapping[str, object]
    ) -> tuple[AnyReduction, list[Array], int]:
        """The plan for columns, the columns as it reads them, and their length."""
        arguments = self._columns(columns, named)
        for name, column in zip(self._names, arguments, strict=True):
            # Before chunks are joined.
            require_on_host(name, column, self.KIND)
        arrays = list(map(imported, self._names, arguments))
        require_one_length(self._names, arrays)
        plain = list(map(decoded, arrays))
        plan = self.plan(*[array.type for array in plain])
        return plan, plain, arrays[0].length

    def compiled_reduction(self, *columns: s.DataType) -> Reduction:
        """The plan, to take states out of it before `finish`; UnsupportedError if states do not travel."""
        reduction = self.plan(*columns)
        if not isinstance(reduction, Reduction):
            raise UnsupportedError(f"{self.name} runs in Python, where states do not travel")
        if not reduction.merges:
            raise UnsupportedError(
                f"{self.name}: states that hold text or containers do not travel; group the rows first, "
                "with map_groups"
            )
        return reduction

    def has_states(self, *columns: s.DataType) -> bool:
        """Whether states of groups can be taken out and merged later, for columns of those types."""
        plan = self.plan(*columns)
        return isinstance(plan, Reduction) and plan.merges

    def _functions(self) -> Iterable[Any]:
        return filter(None, astuple(self.functions))

    def _compiled(self, columns: tuple[s.DataType, ...]) -> Reduction:
        forms, returns = self._forms(), self.signature.result
        strict, wraps = self.options.strict, self.options.arithmetic == "machine"
        return Reduction(self.name, self.functions, columns, forms, returns, strict, wraps)

    def _in_python(self) -> PythonReduction:
        return PythonReduction(self.name, self.functions, self._forms(), self.signature.result)

    def _parts(self) -> tuple[object, ...]:
        source = _Names(self.__name__, self.__qualname__, self.__module__, self.__doc__)
        parts = source, self.functions, self.signature, self.nulls
        return *parts, self.options, self._sources()


AnyReduction = Reduction | PythonReduction


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a reducer, and its documentation: those of its class."""

    name: str
    qualname: str
    module: str
    doc: str | None


def _named_keys(by: object) -> Iterator[tuple[str, Array]]:
    """The key columns and their names."""
    if isinstance(by, RecordBatch | Table):
        for name, column in zip(by.schema.names, by.columns, strict=True):
            yield name, imported(name, column)
    elif isinstance(by, Mapping):
        for name, column in by.items():
            yield name, imported(f"by[{name!r}]", column)
    elif isinstance(by, Sequence) and not isinstance(by, str | bytes):
        for position, column in enumerate(by):
            yield f"key_{position}", imported(f"by[{position}]", column)
    else:
        yield "key", imported("by", by)


class Options(TypedDict, total=False):
    """Options of `reducer`."""

    returns: object
    nulls: NullPolicy
    signature: str | None
    strict: bool
    fallback: bool


@overload
def reducer(source: object, /, **options: Unpack[Options]) -> Reducer: ...


@overload
def reducer(
    source: str | None = None, /, **options: Unpack[Options]
) -> Callable[[object], Reducer]: ...


def reducer(
    source: object = None,
    /,
    *,
    returns: object = None,
    nulls: NullPolicy = "propagate",
    signature: str | None = None,
    strict: bool = False,
    fallback: bool = False,
) -> Reducer | Callable[[object], Reducer]:
    """Make functions of a state and one row into a reduction of columns, compiled by Numba::

        @ck.reducer
        class weighted_mean:
            def init():
                return 0.0, 0.0

            def update(state, value: float, weight: float):
                return state[0] + value * weight, state[1] + weight

            def merge(left, right):
                return left[0] + right[0], left[1] + right[1]

            def finish(state) -> float | None:
                return state[0] / state[1] if state[1] else None

        weighted_mean(values, weights)            # a float
        weighted_mean(values, weights, by=names)  # a batch with the columns key, weighted_mean

    The functions have no `self`, and mean what they mean in Python, as those of a `udf`:
    `state = init()`, then `state = update(state, *row)` for each row, then `finish(state)`. A state is a
    number, a bool, text, bytes, a date or time, None, or a tuple, list, set or dictionary of these, and
    keeps its type; only an integer of `init` becomes a float where `update` makes it one. Rows that
    compiled code does not cover are computed by the plain `update`; all rows are if a state leaves 64
    bits, or if `update` changes lists, sets or dictionaries of the state. `report()` counts them.

    - `init()` gives the state before any row;
    - `update(state, *values)` that after one more row;
    - `merge(left, right)` that after the rows of both, those of `left` first. Without it, or if `update`
      changes containers of the state, all rows are one thread's;
    - `finish(state)` the result, anything that a `udf` may return. Without it, the state is the result.

    Columns, types and hints are as for `udf`: the hints of `update` say what the columns are, those of
    `finish` (or, without it, of `update`) what the result is.

    Args:
        source: A class, or any object with those functions. Or a signature, as text.
        returns: The data type of the results (or a hint for it), over what the hints say; inferred
            if neither says anything.
        nulls: The effect of a null, as for `udf`: "propagate" leaves the row out; "pass" gives `update`
            None.
            Parameters declared to take None get it under both; `finish` may return None for a null.
        signature: As text, `"(float64, float64?) -> float64"`, of columns and result, over all hints.
        strict: Whether a row that compiled code does not cover is refused by CompileError.
        fallback: Whether functions that do not compile run in Python, with a warning that says why.

    Raises:
        TypeError: If a declaration cannot be understood, or a function is missing.
        UnsupportedError: If a declared type cannot be an argument or result.
        CompileError: If a function does not compile: the line and the construct; or if the state changes
            its type.
    """
    if isinstance(source, str):
        source, signature = None, source
    require_null_policy(nulls)
    options = RowOptions(strict=strict, fallback=fallback)

    def decorated(source: object) -> Reducer:
        names = _names(source)
        functions = Functions(
            _function(names, source, "init", 0),
            _function(names, source, "update", 1),
            _optional(names, source, "merge", 2),
            _optional(names, source, "finish", 1),
        )
        declared = signature_of(
            functions.update,
            signature,
            returns,
            leading=1,
            last=functions.finish or functions.update,
        )
        reduction = Reducer(names, functions, declared, nulls, options)
        reduction.define()
        return reduction

    return decorated if source is None else decorated(source)


def _names(source: object) -> _Names:
    if not hasattr(source, "__name__"):
        source = type(source)
    qualname = getattr(source, "__qualname__", source.__name__)
    return _Names(source.__name__, qualname, source.__module__, source.__doc__)


def _optional(names: _Names, source: object, part: str, count: int) -> Callable[..., object] | None:
    return None if getattr(source, part, None) is None else _function(names, source, part, count)


def _function(names: _Names, source: object, part: str, count: int) -> Callable[..., object]:
    """One of the functions, with as many parameters; of `update`, those at least."""
    function = getattr(source, part, None)
    if function is None:
        raise TypeError(f"{names.name}: a reducer needs a function {part}")
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise TypeError(
            f"{names.name}.{part}: expected a plain function, got {type(function).__name__}"
        )
    if inspect.isgeneratorfunction(plain) or inspect.iscoroutinefunction(plain):
        raise CompileError(
            f"{names.name}.{part}: generators and coroutines have no state to return"
        )
    parameters = list(inspect.signature(plain).parameters)
    if len(parameters) < count or (part != "update" and len(parameters) > count):
        raise TypeError(
            f"{names.name}.{part} takes {count} parameters, not {len(parameters)}: "
            f"({', '.join(parameters)}); the functions of a reducer have no self"
        )
    return plain

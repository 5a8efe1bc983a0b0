"""`reducer`: plain Python functions of a state and one row become a compiled reduction of columns.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Unpack, overload

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import CompileError
from colkern.jit.column_function import (
    ColumnFunction,
    NullPolicy,
    Options,
    common_length,
    imported,
    require_null_policy,
)
from colkern.jit.results.result_types import result_type
from colkern.jit.rows.arguments import Value
from colkern.jit.signatures import Signature, signature_of

if TYPE_CHECKING:
    from colkern.jit.results.kinds import Kind
    from colkern.jit.rows.reduction import Reduction, RowFunctions
    from colkern.jit.rows.states import State


@dataclass(frozen=True, slots=True)
class Functions:
    """The plain functions of a reducer."""

    init: Callable[..., object]
    update: Callable[..., object]
    merge: Callable[..., object] | None
    finish: Callable[..., object] | None


class Reducer(ColumnFunction["tuple[State, s.DataType]", "Reduction"]):
    """A reduction of columns, made by `reducer` from functions of a state.

    Attributes:
        functions: The plain Python functions.
        signature: The parameters of `update` after the state, and the result, as declared.
        nulls: Its `NullPolicy`.
    """

    functions: Functions

    KIND = "reducer"

    def __init__(
        self, source: _Names, functions: Functions, signature: Signature, nulls: NullPolicy
    ) -> None:
        super().__init__(signature, nulls)
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
            TypeError: If a column is no array, or not of the parameter's type; names it.
            ValueError: If the lengths differ, or a column of `by` has the reducer's name.
            UnsupportedError: If a column of `by` has unions.
            OverflowError: If a result does not fit its type.
            InvalidArrowError: If a column's offsets or views point outside its memory.
            CompileError: If the functions do not compile for these types.

        What the functions raise themselves comes through, with a note that says in which row.
        """
        if by is None:
            return self.reduce(*columns, **named).to_pylist()[0]
        plan, arrays, length = self._planned(self._arrays(columns, named))
        from colkern.operations.grouping import group_rows

        keys = dict(_named_keys(by))
        if not keys:
            raise ValueError("by: expected one column at least")
        if self.name in keys:
            raise ValueError(
                f"by: a column is called {self.name!r}, as the reducer's results are: name it otherwise"
            )
        common_length([self._names[0], *keys], [arrays[0], *keys.values()], self.KIND)
        groups = group_rows(list(keys.values()))
        results = plan.run_groups(arrays, length, groups)
        parts = [groups.keys(key) for key in keys.values()]
        return RecordBatch.from_arrays([*parts, results], [*keys, self.name])

    def reduce(self, *columns: object, **named: object) -> Array:
        """As a call without `by`, but the value is an array of one slot, of the type of the results."""
        plan, arrays, length = self._planned(self._arrays(columns, named))
        return plan.run(arrays, length)

    def reduction(self, *columns: s.DataType) -> Reduction:
        """The plan for columns of those types, to take states out of it before `finish`."""
        self._check_count(len(columns))
        return self._plan_for(columns)

    def result_type(self, *columns: s.DataType) -> s.DataType:
        """The type of the results for columns of those types; compiles the functions if it has to.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self._check_count(len(columns))
        _, returns = self._infer(tuple(reader.value for reader in self._readers(columns)))
        return returns

    def _plan(self, columns: tuple[s.DataType, ...]) -> Reduction:
        from colkern.jit.rows.inputs import Inputs
        from colkern.jit.rows.reduction import Reduction

        readers = self._readers(columns)
        functions = self._row_functions()
        state, returns = self._infer(tuple(reader.value for reader in readers))
        inputs = Inputs(self._names, readers, self._nullable())
        return Reduction(self.name, inputs, functions, state, returns)

    def _row_functions(self) -> RowFunctions:
        from colkern.jit.rows.reduction import RowFunctions

        plain = self.functions
        return RowFunctions(
            self._row_function(plain.init),
            self._row_function(plain.update),
            plain.merge and self._row_function(plain.merge),
            self._row_function(plain.finish or _state_itself),
        )

    def _functions(self) -> Iterable[Callable[..., object]]:
        plain = self.functions
        return filter(None, (plain.init, plain.update, plain.merge, plain.finish))

    def _compiled_types(self, values: tuple[Value, ...]) -> tuple[State, s.DataType]:
        from colkern.cpu.findings import remembered

        functions, nullable = self._row_functions(), self._nullable()
        parts = (functions.init, functions.update, functions.merge, functions.finish)

        def find() -> tuple[State, Kind]:
            from colkern.jit.rows.state_inference import state_and_result

            dispatchers = [part and part.dispatcher for part in parts]
            return state_and_result(self.name, dispatchers, values, nullable)

        contents = tuple(part and part.content for part in parts)
        state, kind = remembered(("state", contents, values, nullable), find)
        if self.functions.finish is None and state.packed:
            raise CompileError(f"{self.name}: a state that is a tuple needs a finish function")
        return state, result_type(self.name, {kind}, self.signature.returns)

    def _result_types(self) -> Iterable[s.DataType]:
        return (returns for _, returns in self._inferred.values())

    def _parts(self) -> tuple[object, ...]:
        source = _Names(self.__name__, self.__qualname__, self.__module__, self.__doc__)
        return source, self.functions, self.signature, self.nulls

    def _pickled_types(self) -> dict[tuple[Value, ...], tuple[State, s.DataType]]:
        # A state has types of Numba's, which a process that unpickles it may not need.
        return {}


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a reducer, and its documentation: those of its class."""

    name: str
    qualname: str
    module: str
    doc: str | None


def _state_itself(state: object) -> object:
    return state


def _named_keys(by: object) -> Iterator[tuple[str, Array]]:
    """The key columns and their names."""
    if isinstance(by, RecordBatch):
        yield from zip(by.schema.names, by.columns, strict=True)
    elif isinstance(by, Mapping):
        for name, column in by.items():
            yield name, imported(f"by[{name!r}]", column)
    elif isinstance(by, Sequence) and not isinstance(by, str | bytes):
        for position, column in enumerate(by):
            yield f"key_{position}", imported(f"by[{position}]", column)
    else:
        yield "key", imported("by", by)


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

    The functions have no `self`. A state is a number, a bool, or a tuple of them, and keeps its type;
    only an integer of `init` becomes a float where `update` makes it one, and a literal a uint64 where
    it meets one.

    - `init()` gives the state before any row;
    - `update(state, *values)` that after one more row;
    - `merge(left, right)` that after the rows of both, those of `left` first. Without it, all rows
      are one thread's;
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

    Raises:
        TypeError: If a declaration cannot be understood, or a function is missing.
        UnsupportedError: If a declared type cannot be an argument or result.
        CompileError: If a function does not compile: the line and the construct; or if the state changes
            its type.
    """
    if isinstance(source, str):
        source, signature = None, source
    require_null_policy(nulls)
    if source is None:
        return lambda given: _make(given, returns, nulls, signature)
    return _make(source, returns, nulls, signature)


def _make(source: object, returns: object, nulls: NullPolicy, signature: str | None) -> Reducer:
    names = _names(source)
    functions = Functions(
        _function(names, source, "init", 0),
        _function(names, source, "update", 1),
        _optional(names, source, "merge", 2),
        _optional(names, source, "finish", 1),
    )
    declared = signature_of(
        functions.update, signature, returns, leading=1, last=functions.finish or functions.update
    )
    reduction = Reducer(names, functions, declared, nulls)
    reduction._require_supported()
    reduction.define()
    return reduction


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
        raise TypeError(f"{names.name}: a reducer has a function {part}")
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

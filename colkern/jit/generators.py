"""`generator`: a generator function of one row becomes a compiled function to a column of lists.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, overload

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import CompileError
from colkern.jit.column_function import FunctionOfRow, NullPolicy, Options, require_null_policy
from colkern.jit.results.result_types import result_type
from colkern.jit.rows.arguments import Value
from colkern.jit.signatures import Signature, signature_of

if TYPE_CHECKING:
    from colkern.jit.rows.execution import Plan

Lists = s.List | s.LargeList


class Generator(FunctionOfRow):
    """A function of columns to a column of lists, made by `generator` from a generator function.

    Attributes:
        function: The plain generator function.
        signature: Its parameters and items, as declared.
        nulls: Its `NullPolicy`.
    """

    KIND = "generator"

    def __init__(
        self, function: Callable[..., object], signature: Signature, nulls: NullPolicy, large: bool
    ) -> None:
        super().__init__(function, signature, nulls)
        self._large = large

    def __call__(self, *columns: object, **named: object) -> Array:
        """The items that the function yields for each row of the columns: a list a row.

        Args:
            columns: One array a parameter, as for `udf`.
            named: Columns by the names of their parameters.

        Raises:
            TypeError: If a column is no array, or not of the parameter's type; names it.
            ValueError: If the lengths differ, or an item is no UTF-8, a null or a list of another length
                where the type has none, or no slot of its union.
            OverflowError: If an item does not fit its type, or the items of a range of rows not the lists.
            LimitExceededError: If the items do not fit the lists.
            InvalidArrowError: If a column's offsets or views point outside its memory.
            CompileError: If the function does not compile for these types.

        What the function raises itself comes through, with a note that says in which row.
        """
        plan, arrays, length = self._planned(self._arrays(columns, named))
        return plan.run(arrays, length)

    def explode(self, *columns: object, **named: object) -> tuple[Array, Array]:
        """The row (int64) that each item comes from, and the items, as two columns of one length.

        `take` of another column by those rows puts its values beside the items.

        Raises:
            As a call.
        """
        from colkern.operations import list_flatten, list_parent_indices

        lists = self(*columns, **named)
        return list_parent_indices(lists), list_flatten(lists)

    def result_type(self, *columns: s.DataType) -> s.DataType:
        """The type of the lists for columns of those types; compiles the function if it has to.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self._check_count(len(columns))
        return self._lists(tuple(reader.value for reader in self._readers(columns)))

    def _plan(self, columns: tuple[s.DataType, ...]) -> Plan:
        from colkern.jit.rows.execution import Plan
        from colkern.jit.rows.inputs import Inputs

        readers = self._readers(columns)
        function = self._row_function(self.function, "items_dispatcher_of")
        lists = self._lists(tuple(reader.value for reader in readers))
        inputs = Inputs(self._names, readers, self._nullable())
        return Plan(self.name, inputs, function, lists, yields=True)

    def _lists(self, values: tuple[Value, ...]) -> Lists:
        item = self._infer(values)
        lists: Lists = s.large_list(item) if self._large else s.list_(item)
        return lists

    def _compiled_types(self, values: tuple[Value, ...]) -> s.DataType:
        function = self._row_function(self.function, "kinds_dispatcher_of")
        arguments, nullable = (*values, "boolean"), [*self._nullable(), False]
        kinds = self._kinds(function, arguments, nullable, "yields")
        return result_type(self.name, kinds, self.signature.returns, "yields")

    def _parts(self) -> tuple[object, ...]:
        return self.function, self.signature, self.nulls, self._large


@overload
def generator(function: Callable[..., object], /, **options: Unpack[Options]) -> Generator: ...


@overload
def generator(
    function: str | None = None, /, **options: Unpack[Options]
) -> Callable[[Callable[..., object]], Generator]: ...


def generator(
    function: Callable[..., object] | str | None = None,
    /,
    *,
    returns: object = None,
    nulls: NullPolicy = "propagate",
    signature: str | None = None,
) -> Generator | Callable[[Callable[..., object]], Generator]:
    """Make a generator function of one row into a function to a column of lists, compiled by Numba::

        @ck.generator
        def words(s: str) -> str:
            start = 0
            for i in range(len(s)):
                if s[i] == ord(" "):
                    if start < i:
                        yield s[start:i]
                    start = i + 1
            if start < len(s):
                yield s[start:]

        words(lines)          # a list of words for each line
        words.explode(lines)  # the line of each word, and the words

    Columns, hints and items are what arguments and results are for `udf`: the hint behind the arrow is
    that of an item, or an `Iterator` of it. A yielded None is a null item, a tuple a struct.

    Args:
        function: A generator function with positional parameters. Or a signature, as text.
        returns: The data type of the items (or a hint for it), over what the hints say; inferred if
            neither says anything. `large_list` of it for lists with 64-bit offsets.
        nulls: The effect of a null, as for `udf`: "propagate" makes the list null, without a call; "pass"
            gives the function None. Parameters declared to take None get it under both.
        signature: As text, `"(utf8) -> utf8"`, over all hints.

    Raises:
        TypeError: If a declaration cannot be understood, or the function is no generator function.
        UnsupportedError: If a declared type cannot be an argument or item.
        CompileError: If the function does not compile: the line and the construct.
    """
    if isinstance(function, str):
        function, signature = None, function
    require_null_policy(nulls)
    if function is None:
        return lambda plain: _make(plain, returns, nulls, signature)
    return _make(function, returns, nulls, signature)


def _make(
    function: Callable[..., object], returns: object, nulls: NullPolicy, signature: str | None
) -> Generator:
    plain = getattr(function, "py_func", function)
    if inspect.isasyncgenfunction(plain):
        raise CompileError(f"{plain.__name__}: an asynchronous generator is no function of a row")
    if not inspect.isgeneratorfunction(plain):
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"function: expected a generator function, got {name}; see ck.udf")
    declared = signature_of(plain, signature, returns)
    lists = declared.returns
    if isinstance(lists, s.List | s.LargeList):
        declared = replace(declared, returns=lists.value_type)
    generating = Generator(plain, declared, nulls, isinstance(lists, s.LargeList))
    generating._require_supported()
    generating.define()
    return generating

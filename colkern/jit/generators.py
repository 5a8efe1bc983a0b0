"""`generator`: a generator function of one row becomes a compiled function to a column of lists.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import CompileError
from colkern.jit.column_function import DEFAULT_OPTIONS, NullPolicy, RowOptions, require_null_policy
from colkern.jit.function_of_row import FunctionOfRow
from colkern.jit.signatures import Signature, signature_of
from colkern.operations import list_flatten, list_parent_indices
from colkern.rows.front import Sources


class Generator(FunctionOfRow):
    """A function of columns to a column of lists, made by `generator` from a generator function.

    Attributes:
        signature: Its parameters and items, as declared.
    """

    KIND = "generator"

    def __init__(
        self,
        function: Callable[..., object],
        signature: Signature,
        nulls: NullPolicy,
        pure: bool = True,
        options: RowOptions = DEFAULT_OPTIONS,
        sources: Sources | None = None,
        large: bool = False,
    ) -> None:
        super().__init__(function, signature, nulls, pure, options, sources)
        self._large = large

    def __call__(self, *columns: object, **named: object) -> Any:
        """The items that the function yields for each row of the columns: a list a row.

        Columns and errors are as for `udf`, of items instead of results.

        Raises:
            LimitExceededError: If the items do not fit the lists.
        """
        return super().__call__(*columns, **named)

    def explode(self, *columns: object, **named: object) -> tuple[Array, Array]:
        """The row (int64) that each item comes from, and the items, as two columns of one length.

        `take` of another column by those rows puts its values beside the items.

        Raises:
            As a call.
        """
        lists = self(*columns, **named)
        return list_parent_indices(lists), list_flatten(lists)

    def _returns(self) -> s.DataType | None:
        item = self.signature.result
        if not isinstance(item, s.DataType):
            return None
        return s.large_list(item) if self._large else s.list_(item)

    def _parts(self) -> tuple[object, ...]:
        return *super()._parts(), self._large


class Options(TypedDict, total=False):
    """Options of `generator`."""

    returns: object
    nulls: NullPolicy
    pure: bool
    signature: str | None
    strict: bool
    fallback: bool


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
    pure: bool = True,
    signature: str | None = None,
    strict: bool = False,
    fallback: bool = False,
) -> Generator | Callable[[Callable[..., object]], Generator]:
    """Make a generator function of one row into a function to a column of lists, compiled by Numba::

        @ck.generator
        def words(text: str) -> Iterator[str]:
            for word in text.split():
                yield word.lower()

        words(lines)          # a list of words for each line
        words.explode(lines)  # the line of each word, and the words

    It gives `list(function(*row))` for each row, exceptions included. Columns, hints and items are what
    arguments and results are for `udf`: the hint behind the arrow is that of an item, or an `Iterator` of
    it. A yielded None is a null item, a tuple or a `dict` with constant keys a struct.

    Args:
        function: A generator function with positional parameters. Or a signature, as text.
        returns: The data type of the items (or a hint for it), over what the hints say; inferred if
            neither says anything. `large_list` of it for lists with 64-bit offsets.
        nulls: The effect of a null, as for `udf`: "propagate" makes the list null, without a call; "pass"
            gives the function None. Parameters declared to take None get it under both.
        pure: As for `udf`: False for one that draws random numbers, say.
        signature: As text, `"(utf8) -> utf8"`, over all hints.
        strict: As for `udf`: whether everything that compiled code does not cover is refused.
        fallback: As for `udf`: whether a function that does not compile runs in Python, with a warning.

    Raises:
        TypeError: If a declaration cannot be understood, or the function is no generator function.
        UnsupportedError: If a declared type cannot be an argument or item.
        CompileError: If the function does not compile: the line and the construct.
    """
    if isinstance(function, str):
        function, signature = None, function
    require_null_policy(nulls)
    options = RowOptions(strict=strict, fallback=fallback)

    def decorated(function: Callable[..., object]) -> Generator:
        plain = getattr(function, "py_func", function)
        if inspect.isasyncgenfunction(plain):
            raise CompileError(
                f"{plain.__name__}: an asynchronous generator is no function of a row"
            )
        if not inspect.isgeneratorfunction(plain):
            name = getattr(function, "__name__", type(function).__name__)
            raise TypeError(f"function: expected a generator function, got {name}; see ck.udf")
        declared = signature_of(plain, signature, returns)
        lists = declared.returns
        is_large = isinstance(lists, s.LargeList)
        if isinstance(lists, s.LargeList):
            declared = replace(declared, returns=lists.value_type)
        generating = Generator(plain, declared, nulls, pure, options, large=is_large)
        generating.define()
        return generating

    return decorated if function is None else decorated(function)

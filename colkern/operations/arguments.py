"""`operation`, which fills the table of operations and lets them take columns, tables and lists.

An operation is written for arrays. Its decorator handles chunked arrays, tables, and columns of other
libraries in the same way for all operations.
"""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from numbers import Number
from types import CodeType, FunctionType
from typing import Any, NamedTuple, SupportsIndex, TypeVar, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, Column, RecordBatch, Tabular
from colkern.arrays.array import LateArray
from colkern.arrays.tabular import Rows
from colkern.generated import function_of_text
from colkern.integers import integer
from colkern.memory import Buffer, Device

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Kind(enum.Enum):
    """The rule by which the result of an operation follows from the chunks of a column."""

    ELEMENT_WISE = "element-wise"
    """A slot of the result depends only on that slot of each argument; runs chunk by chunk."""

    SELECTION = "selection"
    """The result is the concatenation of the chunks' results; it may have another length."""

    AGGREGATE = "aggregate"
    """One value for all slots, made from the values of the chunks if `combine` can do that."""

    WHOLE_COLUMN = "whole column"
    """The chunks are joined to one array first."""

    JOINING = "joining"
    """The operation handles chunks itself."""


Combine = Callable[[list[Any], Array], Any]
"""Makes a column's value from those of its chunks, and one of the chunks; or `NotImplemented`."""


class Operation(NamedTuple):
    """A function that callers use.

    Attributes:
        function: The function of arrays.
        called: What callers call.
        kind: The rule for chunks.
        combine: For an aggregate without keyword arguments: makes one result from those of the chunks.
        of_column: Whether its first argument is a column, so that it is a method of columns, too.
        heading: Its heading in the documentation; empty if it is not listed by name.
    """

    name: str
    function: Callable[..., Any]
    called: Callable[..., Any]
    kind: Kind
    combine: Combine | None
    of_column: bool
    heading: str


OPERATIONS: dict[str, Operation] = {}
"""Name → operation, of all modules that are imported."""


_INTEGERS: dict[str, Callable[[object, str], int | None]] = {
    "int": integer,
    "int | None": lambda value, name: None if value is None else integer(value, name),
}
"""Annotation of a parameter → the conversion of its argument."""

_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD

_PLAIN = frozenset(
    {Array, LateArray, RecordBatch, type(None), bool, int, float, str, bytes, Buffer, Device}
)
"""Classes that operations take as they are."""


@overload
def operation(function: _Function, /) -> _Function: ...
@overload
def operation(
    *, kind: Kind, combine: Combine | None = None, heading: str = ""
) -> Callable[[_Function], _Function]: ...
def operation(
    function: Any = None,
    /,
    *,
    kind: Kind = Kind.WHOLE_COLUMN,
    combine: Combine | None = None,
    heading: str = "",
) -> Any:
    """A decorator that adds a function to `OPERATIONS`, and lets it take more than arrays.

    Instead of arrays, it then also takes chunked arrays, NumPy arrays and objects with the Arrow
    PyCapsule interface, and tables instead of batches: see `colkern.operations.chunks`. Errors name
    arguments of a wrong class.

    The decorator reads the annotations of the parameters. It converts arguments for `int` and
    `int | None` before each call, and so refuses 1.5, for which an operation might return a wrong
    result. It checks the other arguments only after the operation has raised an exception, so that
    calls that succeed do not pay for the check.

    Args:
        function, kind, combine, heading: See `Operation`.
    """
    if function is None:
        return lambda decorated: _operation(decorated, kind, combine, heading)
    return _operation(function, kind, combine, heading)


@functools.cache
def _call_with(count: int) -> CodeType:
    """The code of the public function for a function whose first `count` parameters have names.

    Further arguments go to `converted`. Named parameters take half the time of a tuple of arguments.
    """
    names = [f"argument{number}" for number in range(count)]
    first = "".join(f"{name}, " for name in names)
    tests = [f"{name}.__class__ not in PLAIN and stands_for_columns({name})" for name in names]
    source = f"""def called({first}*rest, **others):
    if {" or ".join(["rest", "others", *tests])}:
        return converted(({first}*rest,), others)
    try:
        return function({first})
    except Exception:
        wrong = wrong_argument(function, ({first}), others)
        if wrong is None:
            raise
    return refused(wrong, ({first}), others)
"""
    return function_of_text("called", source, {}, "operation").__code__


def _operation(function: _Function, kind: Kind, combine: Combine | None, heading: str) -> _Function:
    parameters = list(inspect.signature(function).parameters.values())
    integers = _integers_among(parameters)

    def converted(args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        for value in (*args, *kwargs.values()):
            if value.__class__ not in _PLAIN and stands_for_columns(value):
                return _over_chunks(own, args, kwargs)
        try:
            for place, name, convert in integers:
                if place < len(args):
                    args = (*args[:place], convert(args[place], name), *args[place + 1 :])
                elif name in kwargs:
                    kwargs[name] = convert(kwargs[name], name)
            return function(*args, **kwargs)
        except Exception:
            wrong = _wrong_argument(function, args, kwargs)
            if wrong is None:
                raise
        return refused(wrong, args, kwargs)

    def refused(wrong: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if any(isinstance(value, list) for value in (*args, *kwargs.values())):
            # Late, as that is.
            from colkern.operations.chunks import without_lists

            without = without_lists(function, args, kwargs)
            if without[0] is not args:
                return called(*without[0], **without[1])
        named = {name: value for name, value in kwargs.items() if not _is_of_numpy(name, value)}
        if len(named) < len(kwargs):
            return called(*args, **named)
        raise TypeError(wrong)

    # The parameters before the first integer.
    by_place = [
        p for p in parameters[: integers[0][0] if integers else None] if p.kind is _BY_PLACE
    ]
    code = _call_with(len(by_place))
    namespace = {
        "function": function,
        "converted": converted,
        "refused": refused,
        "wrong_argument": _wrong_argument,
        "PLAIN": _PLAIN,
        "stands_for_columns": stands_for_columns,
    }
    names = tuple([p.name for p in by_place])
    code = code.replace(co_varnames=names + code.co_varnames[len(names) :])
    defaults = tuple([p.default for p in by_place if p.default is not p.empty])
    called = FunctionType(code, namespace, function.__name__, defaults)
    functools.update_wrapper(called, function)
    name = function.__name__
    # Annotations are strings, and most begin with the class that most values have.
    of_column = bool(parameters) and str(parameters[0].annotation).startswith("Array")
    own = Operation(name, function, called, kind, combine, of_column, heading)
    OPERATIONS[name] = own
    return typing.cast(_Function, called)


def _integers_among(
    parameters: Sequence[inspect.Parameter],
) -> list[tuple[int, str, Callable[[object, str], int | None]]]:
    """Place, name and conversion of the integers; keyword-only ones have a place beyond all others."""
    return [
        (place if each.kind is _BY_PLACE else sys.maxsize, each.name, _INTEGERS[each.annotation])
        for place, each in enumerate(parameters)
        if each.annotation in _INTEGERS
    ]


def _is_of_numpy(name: str, value: object) -> bool:
    """Whether it is an argument that `numpy.sum` and its like pass to methods, and says nothing."""
    return (name in ("axis", "dtype", "out") and value is None) or (name == "axis" and value == 0)


def stands_for_columns(value: object) -> bool:
    """Whether a value is a column or table, but no array or batch; or a list with such a value in it."""
    if isinstance(value, (list, tuple)):
        # One test of all classes, of which there are few.
        if _PLAIN.issuperset(map(type, value)):
            return False
        return any(map(_is_class_of_columns, set(map(type, value)) - _PLAIN))
    kind: type = type(value)
    return _is_class_of_columns(kind) and not (isinstance(value, np.ndarray) and value.ndim != 1)


@functools.cache
def _is_class_of_columns(kind: type) -> bool:
    if issubclass(kind, Array | RecordBatch | s.DataType):
        return False
    foreign = ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__")
    return issubclass(kind, np.ndarray) or any(hasattr(kind, name) for name in foreign)


def _over_chunks(own: Operation, args: Sequence[object], kwargs: dict[str, object]) -> object:
    # Late: most calls are for arrays.
    from colkern.operations.chunks import over_chunks

    return over_chunks(own, args, kwargs)


def _wrong_argument(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> str | None:
    """The error message for the first argument of a wrong class; None if there is none."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            return None
        parameters = ", ".join(
            str(each.replace(annotation=each.empty)) for each in signature.parameters.values()
        )
        return f"{function.__name__}: {error}; its parameters are {parameters}"
    hints = typing.get_type_hints(function)
    for name, value in bound.items():
        expected = _EXPECTED.get(hints[name])
        if expected is None:
            continue
        if not isinstance(value, expected.classes):
            return _text(name, value, expected)
        if expected.each is not None:
            for position, item in enumerate(typing.cast("Sequence[object]", value)):
                if not isinstance(item, expected.each.classes):
                    return _text(f"{name}[{position}]", item, expected.each)
    return None


class _Expected(NamedTuple):
    """The classes that a parameter takes, their names in messages, and a hint for making one."""

    classes: tuple[type, ...]
    words: str
    remedy: str
    each: _Expected | None = None


def _text(name: str, value: object, expected: _Expected) -> str:
    text = f"{name}: expected {expected.words}, got {_name(value)}"
    remedy = _FROM_BATCH.get(expected) if isinstance(value, RecordBatch) else expected.remedy
    return text if value is None or not remedy else f"{text}; {remedy}"


def _name(value: object) -> str:
    """The name of a value's class, with its library, since other libraries have an `Array`, too."""
    if value is None:
        return "None"
    library = type(value).__module__.split(".")[0]
    return ("" if library in ("builtins", "colkern") else f"{library}.") + type(value).__name__


_MAKE_ARRAY = "make one with colkern.array(...)"

_ARRAY = _Expected((Array,), "an Array", _MAKE_ARRAY)
_MAKE_EACH = "make each with colkern.array(...)"
_ARRAYS = _Expected((Sequence,), "a list of Arrays", _MAKE_EACH, _ARRAY)
_COLUMN = _Expected((Column, Tabular), "an Array", _MAKE_ARRAY)
_COLUMNS = _Expected((Sequence,), "a list of Arrays", _MAKE_EACH, _COLUMN)

_EXPECTED: dict[object, _Expected] = {
    Array: _ARRAY,
    Sequence[Array]: _ARRAYS,
    Sequence[Column] | Sequence[Tabular]: _COLUMNS,
    Array | int | float: _Expected(
        # Next to text, the operation itself raises an error that names the array's type, too.
        (Array, Number, np.generic, str, bytes, bytearray, memoryview),
        "an Array or a number",
        _MAKE_ARRAY,
    ),
    Array | Buffer: _Expected((Array, Buffer), "an Array or a Buffer", _MAKE_ARRAY),
    Array | RecordBatch: _Expected(
        (Array, RecordBatch),
        "an Array or a RecordBatch",
        "make one with colkern.array(...) or colkern.record_batch(...)",
    ),
    Rows: _Expected((Tabular,), "a RecordBatch or a Table", "make one with colkern.table(...)"),
    RecordBatch: _Expected(
        (RecordBatch,), "a RecordBatch", "make one with colkern.record_batch(...)"
    ),
    Buffer: _Expected((Buffer,), "a Buffer", "colkern.Buffer(...) is one of any bytes"),
    Device: _Expected((Device,), "a Device", "colkern.Device('cuda') is the first GPU"),
    s.DataType: _Expected((s.DataType,), "a data type", "colkern.int64() makes one"),
    int | str: _Expected((SupportsIndex, str), "a position or a name", ""),
    int | str | Sequence[int | str]: _Expected(
        (SupportsIndex, str, Sequence), "a position, a name or a path of them", ""
    ),
    Sequence[str]: _Expected((Sequence,), "a list of str", ""),
    # Next to binary values, a pattern is bytes.
    str: _Expected((str, bytes), "str", ""),
    str | Array: _Expected((str, bytes, Array), "str", ""),
}
"""Annotation of a parameter → its classes. Operations themselves check other annotations."""

_FROM_BATCH = {
    _ARRAY: "take one of its columns: batch['name']",
    _ARRAYS: "its columns are batch.columns",
    _COLUMNS: "its columns are batch.columns",
}
"""The hint for an error if a batch is given instead."""

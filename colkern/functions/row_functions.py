"""`row_function`: a plain function of one row as an operation on arrays.

Its first parameter stands for a column, the others for options. Options are passed to compiled code as
arrays of one slot, so a new value needs no compilation. An option that is an array is a column, too.
"""

from __future__ import annotations

import decimal
import functools
import inspect
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from colkern import schema as s
from colkern.arrays import Array, Column
from colkern.builders import array as build_array
from colkern.dispatch import NESTED, TEXT
from colkern.errors import CompileError, LimitExceededError
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST, Items
from colkern.operations import cast as cast_values
from colkern.operations.arguments import OPERATIONS, Kind, Operation, operation
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded, encoded_alike, on_values
from colkern.operations.moving import to_device, to_host
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.repeating import repeat as repeat_slots
from colkern.rows.arguments import Argument, Nulls
from colkern.rows.columns import LISTS as ALL_LISTS
from colkern.rows.columns import Reader, reader_of
from colkern.rows.forms import Form
from colkern.rows.inputs import Columns, Inputs
from colkern.rows.plan import Plan
from colkern.rows.python_rows import PythonPlan
from colkern.rows.results import require_values
from colkern.targets import Target

Options = ParamSpec("Options")
Values = TypeVar("Values", bound=Column)
Function = TypeVar("Function", bound=Callable[..., object])

MOST_PLANS = 1 << 10
"""The most compiled functions kept: one for each function, set of types and compiled constant."""


LONGEST_MARK = 1 << 12
"""The longest options, in characters or bytes, that are kept with a compiled function."""


class Rule(Protocol):
    """A rule for the type of results by the columns' types; None for what the function returns."""

    def __call__(self, *types: s.DataType) -> s.DataType | None:
        """The type of the results; None if it is not declared."""


def same(*types: s.DataType) -> s.DataType:
    """The type of the first column."""
    return types[0]


def item_of(*types: s.DataType) -> s.DataType:
    """The type of a list's items."""
    return types[0].storage.fields[0].type


def boolean(*types: s.DataType) -> s.DataType:
    """Booleans."""
    return s.bool_()


def long(*types: s.DataType) -> s.DataType:
    """Integers of 64 bits."""
    return s.int64()


def size(*types: s.DataType) -> s.DataType:
    """Integers as wide as the offsets of the first column."""
    large = isinstance(types[0].storage, s.LargeUtf8 | s.LargeBinary | s.LargeList)
    return s.int64() if large else s.int32()


def floating(*types: s.DataType) -> s.DataType:
    """The first column's type if it is floating-point; float64 for integers and decimals."""
    return types[0] if isinstance(types[0].storage, s.FloatingPoint) else s.float64()


def listed(*types: s.DataType) -> s.DataType:
    """Lists of the first column's values."""
    return s.list_(types[0])


@dataclass(frozen=True)
class Taken:
    """The types that a first column may have, and their name in messages."""

    classes: tuple[type[s.DataType], ...]
    name: str


STRINGS = Taken(TEXT, "strings")
BINARY = Taken((s.Binary, s.LargeBinary, s.BinaryView), "binary values")
BYTES = Taken((*TEXT, *BINARY.classes), "strings or binary values")
NUMBERS = Taken((s.Int, s.FloatingPoint), "integers or floating-point numbers")
WITH_DECIMALS = Taken((s.Int, s.FloatingPoint, s.Decimal), "numbers")
INTEGERS = Taken((s.Int,), "integers")
ORDERED = Taken(
    (*WITH_DECIMALS.classes, s.Date, s.Time, s.Timestamp, s.Duration, *TEXT),
    "numbers, dates, times or strings",
)
LISTS = Taken(ALL_LISTS, "lists")
MAPS = Taken((s.Map,), "maps")


@dataclass(frozen=True)
class One:
    """The type of an argument that has one value for all rows."""

    type: s.DataType


_class_of_type = attrgetter("type.__class__")

_SLOT = re.compile(r"\bi\b")

_PLAIN = (s.Int, s.FloatingPoint)
"""The types whose values are passed as numbers, not in memory."""


class _Arguments(Columns):
    """Columns, and values that are the same for all rows (type `One`)."""

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[s.DataType | One],
        forms: Sequence[Form],
        inner_nulls: bool,
    ) -> None:
        plain = [each.type if isinstance(each, One) else each for each in types]
        super().__init__(names, plain, forms, inner_nulls)
        self._is_value = [isinstance(each, One) for each in types]
        # Numba has another type for a number past int64.
        self.is_uniform = One(s.uint64()) not in types
        for place, is_value in enumerate(self._is_value):
            reader = reader_of(plain[place])
            if is_value and isinstance(reader, Reader):
                self.arguments[place] = Argument(
                    _of_first_slot(reader, plain[place]), f"a{place}", Nulls.ABSENT, Nulls.LEFT
                )

    def _values(self, place: int, array: Array, rows: Array) -> list[Any]:
        if self._is_value[place]:
            return [to_host(array).to_pylist()[0]] * rows.length
        return super()._values(place, array, rows)


def _of_first_slot(reader: Reader, type_: s.DataType) -> Reader:
    """A reader that gives the first slot to every row; numbers are passed by value."""
    if isinstance(type_, _PLAIN):
        convert = int if isinstance(type_, s.Int) else float
        return Reader(
            reader.kind,
            reader.parameters,
            reader.code.replace("[i]", ""),
            lambda array: (convert(array.items(Role.DATA)[0]),),
            reader.check.replace("[i]", ""),
        )
    code, check = (_SLOT.sub("u8(0)", text) for text in (reader.code, reader.check))
    return replace(reader, code=code, check=check)


class _ValuesPlan(Plan):
    """A plan for columns and values."""

    has_own_context = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.needs_context = self.program.computes_decimals

    def _with_python(
        self, target: Target, compiled: Array, arrays: Sequence[Any], rows: Items
    ) -> Array:
        with _exact():
            return super()._with_python(target, compiled, arrays, rows)

    def _inputs(self, names: Sequence[str], *arguments: Any) -> Inputs:
        return _Arguments(names, *arguments)


@dataclass(frozen=True)
class _Call:
    """The key of a compiled function: two calls with equal ones share it."""

    name: str
    function: Callable[..., object]
    types: tuple[s.DataType | One, ...]  #: The types of its columns and values.
    nullable: bool  #: Whether it gets None for nulls.
    returns: s.DataType | None  #: The type of the results, if that is declared.
    machine: bool  #: Whether arithmetic is the machine's.
    #: A function for the rows that compiled code does not cover, if it is not the same one.
    otherwise: Callable[..., object] | None


@functools.lru_cache(maxsize=MOST_PLANS)
def _plan(call: _Call) -> Any:
    forms = [Form(call.nullable)] * len(call.types)
    if os.environ.get("COLKERN_JIT") == "0":
        return PythonPlan(call.otherwise or call.function, forms, call.returns, call.name)
    types: Any = call.types
    try:
        plan = _ValuesPlan(
            call.function, types, forms, call.returns, wraps=call.machine, title=call.name
        )
    except CompileError as error:
        names = ", ".join(str(each.type if isinstance(each, One) else each) for each in types)
        raise TypeError(f"{call.name}: takes no arguments of the types ({names})") from error
    plan.function = call.otherwise or call.function
    return plan


CAPABILITY: ContextVar[tuple[int, int] | None] = ContextVar("capability", default=None)
"""Where set, functions of host arrays are compiled for this compute capability, and not run."""


@functools.lru_cache(maxsize=MOST_PLANS)
def _on_device(call: _Call) -> Any:
    from colkern.rows.device import OnDevice

    return OnDevice(_plan(call))


def over_rows(
    function: Callable[..., object],
    arguments: Sequence[object],
    result: Rule = lambda *_: None,
    takes: Taken | None = None,
    *,
    name: str = "",
    nullable: bool = False,
    machine: bool = False,
    otherwise: Callable[..., object] | None = None,
) -> Array:
    """Applies a function to each row of arrays; the result is all null if an array is of type null.

    Args:
        function: A plain function that can be compiled; see `colkern.udf`.
        arguments: For each parameter, an array, or one Python value for all rows; one array at least.
            Strings, bytes, numbers, booleans, decimals, dates and times, or None, are values.
        result: The type of the results.
        takes: The types that the first array may have.
        name: The caller's name, for messages; by default the function's.
        nullable: Whether the function gets None for nulls; else the result is null without a call.
        machine: Whether to use the machine's arithmetic: integers wrap around, functions of `math` give
            NaN.
        otherwise: Another function for the rows that compiled code does not cover.

    Raises:
        TypeError: If there is no array, or one of another type.
        ValueError: If lengths or devices differ.
        LimitExceededError: If a result is larger than memory.
    """
    name = name or function.__name__
    key = (name, function, nullable, machine, otherwise, *map(_mark, arguments))
    ready = _READY.get(key)
    if ready is not None and ready.rule is result and ready.takes is takes:
        return _of_ready(name, ready, arguments)
    arrays = [value for value in arguments if isinstance(value, Array)]
    if not arrays:
        raise TypeError(
            f"{name}: expected an Array, got {type(arguments[0]).__name__}; "
            f"make one with colkern.array(...)"
        )
    for array in arrays:
        require_valid(array)
    if len(arrays) > 1:
        _require_alike(name, arrays)

    def called(*plain: Array) -> Array:
        if result is floating:
            plain = tuple(map(_as_floats, plain))
        is_nested = takes is not None and issubclass(takes.classes[0], NESTED)
        if not (nullable or is_nested) and s.Null in map(_class_of_type, plain):
            types = [each.type for each in plain]
            return nulls(plain[0].length, result(*types) or s.null(), plain[0].device)
        plain_arrays = iter(plain)
        values = [next(plain_arrays) if isinstance(value, Array) else value for value in arguments]
        if result is floating:
            values = [float(v) if isinstance(v, decimal.Decimal) else v for v in values]
        if takes is not None and not isinstance(plain[0].type.storage, takes.classes):
            raise TypeError(f"{name}: expected {takes.name}, got {plain[0].type}")
        returns = result(*[array.type for array in plain])
        call = _Call(name, function, (), nullable, returns, machine, otherwise)
        return _compiled(call, values, result, takes)

    if len(arrays) == 1 and not nullable:
        (array,) = arrays
        keeps = result is same or result is floating
        work = encoded_alike if keeps else on_values
        if array.layout.kind in (LayoutKind.DICTIONARY, LayoutKind.RUN_END_ENCODED):
            try:
                return work(array, called)
            except (ArithmeticError, ValueError):
                # The value perhaps belongs to no slot.
                pass
    return called(*map(decoded, arrays))


def _as_floats(array: Array) -> Array:
    """Decimals, and integers past int64, as floats; others as they are.

    Decimals have roots and logarithms as floats, as in pyarrow. So have large integers: Python raises
    where the machine gives infinity.
    """
    storage = array.type.storage
    is_wide = isinstance(storage, s.Decimal) or storage == s.uint64()
    return cast_values(array, s.float64(), safe=False) if is_wide else array


def _of_ready(name: str, ready: _Ready, arguments: Sequence[Any]) -> Array:
    """The results of a function that was compiled for such arguments before."""
    if len(arguments) == 1:
        return _results(name, ready.plan, arguments, arguments[0].length)
    arrays = [value for value in arguments if isinstance(value, Array)]
    if len(arrays) > 1:
        _require_alike(name, arrays)
    return _results(name, ready.plan, ready.columns(arguments), arrays[0].length)


def _require_alike(name: str, arrays: Sequence[Array]) -> None:
    first = arrays[0]
    for array in arrays[1:]:
        if array.length != first.length:
            raise ValueError(f"{name}: arrays of {first.length} and {array.length} values")
    one_device(arrays)


class _Ready(NamedTuple):
    """A compiled function chosen for columns on the host, and the values that it gets."""

    plan: Plan
    returns: s.DataType | None  #: The type that its results were declared to have.
    values: list[Array | None]  #: The values as arrays; None for columns.
    rule: Rule  #: The rule that gave the type, and what the function takes: it takes these columns.
    takes: Taken | None

    def columns(self, values: Sequence[Any]) -> list[Any]:
        """The columns among arguments, and the values as arrays."""
        return [
            value if one is None else one for value, one in zip(values, self.values, strict=True)
        ]


_READY: dict[tuple[object, ...], _Ready] = {}
"""The function, how it is compiled, and a mark of each argument → the function to call."""


def _mark(value: object) -> object:
    """An argument's part of a key of `_READY`: its layout or value; `_NO_MARK` if it cannot be a key.

    A layout stands for the type of an array that is not of an extension type; columns are checked, on the
    host, and neither encoded nor of type null.
    """
    if isinstance(value, Array):
        is_plain = value._checked and value.device is HOST and value.type.storage is value.type
        return value.layout if is_plain and value.layout.kind not in _APART else _NO_MARK
    if isinstance(value, float):
        return float, value.hex()
    if isinstance(value, str | bytes) and len(value) > LONGEST_MARK:
        return _NO_MARK
    is_key = value.__class__ in (str, bytes, int, bool)
    return (value.__class__, value) if is_key else _NO_MARK


_APART = frozenset({LayoutKind.NULL, LayoutKind.DICTIONARY, LayoutKind.RUN_END_ENCODED})

_NO_MARK = None


def _compiled(call: _Call, values: Sequence[object], rule: Rule, takes: Taken | None) -> Array:
    """The results for arrays that are not encoded, by a compiled function; `call` is without types."""
    column = next(value for value in values if isinstance(value, Array))
    length = column.length
    marks = [*map(_mark, values)]
    key = (call.name, call.function, call.nullable, call.machine, call.otherwise, *marks)
    ready = _READY.get(key)
    if ready is not None and (ready.returns is call.returns or ready.returns == call.returns):
        plan: Any = ready.plan
        arrays: list[Any] = ready.columns(values)
    else:
        pairs = [_passed(value, length) for value in values]
        arrays, types = [array for array, _ in pairs], tuple(type_ for _, type_ in pairs)
        plan, arrays = _decided(replace(call, types=types), arrays, column)
        if _NO_MARK not in marks and isinstance(plan, Plan):
            if len(_READY) == MOST_PLANS:
                _READY.clear()
            ones = [
                array if isinstance(type_, One) else None
                for array, type_ in zip(arrays, types, strict=True)
            ]
            _READY[key] = _Ready(plan, call.returns, ones, rule, takes)
    return _results(call.name, plan, arrays, length)


def _results(name: str, plan: Any, arrays: Sequence[Any], length: int) -> Array:
    """The results of a plan for columns and values."""
    try:
        # Making a context takes as long as a loop over some thousand values.
        if isinstance(plan, _ValuesPlan) and not plan.needs_context:
            results: Array = plan.run(arrays, length)[0]
        else:
            with _exact():
                results = plan.run(arrays, length)[0]
    except MemoryError as error:
        if isinstance(error, LimitExceededError):
            raise
        raise LimitExceededError(f"{name}: a result is larger than memory") from error
    require_values(name, results)
    return results


def _exact() -> AbstractContextManager[object]:
    """Python computes the decimals that compiled code does not cover, with all their digits."""
    return decimal.localcontext(prec=154)


def _decided(call: _Call, arrays: list[Array], column: Array) -> tuple[Any, list[Array]]:
    """The plan of a call for arrays and values of these types, and the arguments as the plan takes them."""
    plan: Any = _plan(call)
    if isinstance(plan, PythonPlan):
        return plan, [
            array if isinstance(type_, s.DataType) else repeat_slots(array, column.length)
            for array, type_ in zip(arrays, call.types, strict=True)
        ]
    if column.device == HOST:
        capability = CAPABILITY.get()
        if capability is not None:
            from colkern.rows.device import CompiledAhead

            plan = CompiledAhead(plan, capability)
        return plan, arrays
    return _on_device(call), [
        array
        if isinstance(type_, One) and isinstance(type_.type, _PLAIN)
        else to_device(array, column.device)
        for array, type_ in zip(arrays, call.types, strict=True)
    ]


def _passed(value: object, length: int) -> tuple[Array, s.DataType | One]:
    """An argument as an array, and its type; a nested value is repeated in every slot."""
    if isinstance(value, Array):
        return value, value.type
    array = build_array([value])
    if array.type.storage.fields:
        return repeat_slots(array, length), array.type
    return array, One(array.type)


def row_function(
    heading: str,
    result: Rule = lambda *_: None,
    takes: Taken | None = None,
    *,
    machine: bool = False,
    otherwise: Callable[..., object] | None = None,
) -> Callable[
    [Callable[Concatenate[Any, Options], object]], Callable[Concatenate[Values, Options], Values]
]:
    """A decorator that makes a plain function an operation on an array; parameters as for `over_rows`.

    Args:
        heading: The heading under which the documentation lists it.
    """

    def decorated(
        function: Callable[Concatenate[Any, Options], object],
    ) -> Callable[Concatenate[Values, Options], Values]:
        signature = inspect.signature(function)
        first, *options = signature.parameters.values()
        count = len(signature.parameters)

        @functools.wraps(function)
        def called(*values: object, **named: object) -> Array:
            arguments: Sequence[object] = values
            if named or len(values) != count:
                bound = signature.bind(*values, **named)
                bound.apply_defaults()
                arguments = [*bound.arguments.values()]
            return over_rows(
                function,
                arguments,
                result,
                takes,
                machine=machine,
                otherwise=otherwise,
            )

        # Options may be arrays, too.
        parameters = [
            first.replace(annotation="Array"),
            *(each.replace(annotation=f"{each.annotation} | Array") for each in options),
        ]
        called.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=parameters, return_annotation="Array"
        )
        called.__annotations__ = {each.name: each.annotation for each in parameters} | {
            "return": "Array"
        }
        operated: Any = element_wise(heading)(called)
        return cast("Callable[Concatenate[Values, Options], Values]", operated)

    return decorated


def element_wise(
    heading: str,
) -> Callable[
    [Callable[Concatenate[Array, Options], Array]], Callable[Concatenate[Values, Options], Values]
]:
    """A decorator that adds a function of arrays, row by row, to the table of operations."""
    registered: Any = operation(kind=Kind.ELEMENT_WISE, heading=heading)
    return cast(
        "Callable[[Callable[Concatenate[Array, Options], Array]], "
        "Callable[Concatenate[Values, Options], Values]]",
        registered,
    )


def all_functions() -> dict[str, Operation]:
    """The operations of `colkern.functions` that have a heading, by name."""
    from colkern.functions import dates, nested, numeric, text, weeks  # noqa: F401 - for their functions

    return {name: each for name, each in OPERATIONS.items() if each.heading}


def named(function: Function, name: str, text: str) -> Function:
    """Sets name and docstring of a function made by another function, and returns it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function

"""Stand-ins for columns, which record the operations on them.

Each has a witness, a real column of two rows with the same dtype, to which every operation is applied as
well: so pandas itself determines the dtypes of results, and refuses operations that it does not support.
"""

from __future__ import annotations

import functools
import pickle
import re
import sys
import types
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
from pyspark import cloudpickle

from colkern.errors import UnsupportedError
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration import texts

WRAPS_SLOWLY = '{} with mode="wrap": NumPy takes a step for each length of the table'

NOT_ELEMENT_WISE = (
    "{} is no element-wise operation that can be compiled: it may use other rows of the batch"
)

Witness: TypeAlias = pd.Series
"""Two rows of a column, as a Series or a NumPy array."""


@dataclass(eq=False)
class Tracer:
    """Counts the steps of a trace, and keeps the first refusal if the traced body goes on after it."""

    refusal: UnsupportedError | None = None
    steps: int = 0
    is_of_table: bool = (
        False  #: Whether the body asks a column for a field, as a struct's table has.
    )
    code: types.CodeType | None = None  #: The traced body.
    results: Witness | None = None  #: The results of the body for the witnesses.
    #: The lines of the body that make nodes, by the nodes' identities.
    lines: dict[bytes, int] = field(default_factory=dict)
    #: The globals of functions before the trace, by the identities of those in it.
    names: dict[int, dict[str, Any]] = field(default_factory=dict)
    _constants: list[tuple[object, str]] = field(default_factory=list)

    def names_of(self, function: types.FunctionType) -> dict[str, Any]:
        """Returns the globals of a function, also of one that is defined while the body runs."""
        return self.names.get(id(function.__globals__), function.__globals__)

    def refused(self, reason: str) -> UnsupportedError:
        """Returns an exception to raise for an operation that cannot be compiled."""
        error = UnsupportedError(reason)
        if self.refusal is None:
            self.refusal = error
        return error

    def kept(self, value: object) -> object:
        """Returns the identity of a value that the graph refers to, which must stay as it is."""
        identity = identity_of(value)
        self._constants.append((value, repr(identity)))
        return identity

    def require_unchanged(self) -> None:
        """Raise UnsupportedError if the body changed a value after the graph referred to it."""
        if any(repr(identity_of(value)) != before for value, before in self._constants):
            raise UnsupportedError("it changes what a function got before")

    def note_line(self, node: g.Node) -> None:
        """Note the current line of the body as the line of a node."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        if frame is not None:
            self.lines.setdefault(node.identity, frame.f_lineno)


class Recorded:
    """A stand-in for a pandas Series or a NumPy array: its node, and a witness of two rows."""

    def __init__(self, node: g.Node, witness: Witness, tracer: Tracer) -> None:
        self._node = node
        self._witness = witness
        self._tracer = tracer
        tracer.note_line(node)

    @property
    def node(self) -> g.Node:
        """The column in the graph."""
        return self._node

    @property
    def is_series(self) -> bool:
        """Whether this stands for a `pandas.Series`, not for an array."""
        return isinstance(self._witness, pd.Series)

    def become(self, other: Recorded) -> None:
        """Stand for another column from now on, after a change in place."""
        self._node, self._witness = other._node, other._witness

    # Recording

    def result(self, node: g.Node, witness: Witness) -> Self:
        """Returns the stand-in for a node's column; `witness` is two rows of it."""
        self._tracer.steps += 1
        if node.dtype != g.OTHER and g.dtype_of(witness) != node.dtype:
            raise self._tracer.refused(f"a result of dtype {witness.dtype}")
        if witness is self._witness:
            # As `clip` without bounds: the column itself, which may be changed in place.
            return self
        return type(self)(node, witness, self._tracer)

    def whole(
        self,
        name: str,
        function: Callable[..., Witness],
        operands: Sequence[object],
        witness: Witness,
        details: tuple[object, ...] = (),
    ) -> Self:
        """Returns the result of NumPy or Arrow for whole columns; see `Whole`."""
        for operand in operands:
            if isinstance(operand, Recorded):
                operand.require_numbers(name)
        nodes = tuple(self.node_of(operand) for operand in operands)
        dtype = self.numbers_of(witness, name)
        return self.result(g.Whole(dtype, name, function, nodes, details), witness)

    def in_pandas(
        self,
        name: str,
        function: Callable[..., Any],
        *arguments: Any,
        is_sure: bool = False,
        **options: Any,
    ) -> Self:
        """Records an operation that pandas itself does on real columns; see `recorded`."""
        return self.recorded(self._tracer, name, function, arguments, options, is_sure=is_sure)

    @classmethod
    def recorded(
        cls,
        tracer: Tracer,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        options: dict[str, Any],
        *,
        is_sure: bool = False,
    ) -> Self:
        """Records an operation that pandas itself does on real columns, which may stand anywhere in
        arguments; `is_sure` if the dtype of the result follows from those of the columns."""
        call = Arguments((tuple(arguments), options))
        if any(column._node.rows for column in call.columns):
            # Selected rows have another index, which an operation may use.
            raise tracer.refused(f"{name} of selected rows of a column")
        details = (tracer.kept(call.given),)
        given, named = call.filled([column._witness for column in call.columns])
        witness = function(*given, **named)

        def run(*values: Any) -> Any:
            given, named = call.filled(values)
            return function(*given, **named)

        forms: tuple[g.Form, ...] = tuple(
            ["numpy" if isinstance(c._witness, np.ndarray) else "pandas" for c in call.columns]
        )
        dtype = (is_sure and g.dtype_of(witness)) or g.OTHER
        if (
            not isinstance(dtype, str)
            and dtype.kind == "i"
            and not all(
                isinstance(c._node, g.Input) or c._node.dtype != g.OTHER for c in call.columns
            )
        ):
            # The column may have nulls, and then pandas has floats.
            dtype = g.OTHER
        nodes = tuple([column._node for column in call.columns])
        tracer.steps += 1
        return cls(g.Whole(dtype, name, run, nodes, details, forms), witness, tracer)

    def instead(self, quick: Callable[[], Any], plain: Callable[[], Any]) -> Any:
        """Records an operation by `quick`, or by `plain` if that is refused."""
        refusal = self._tracer.refusal
        if self._node.dtype != g.OTHER:
            try:
                return quick()
            except (UnsupportedError, TypeError):
                self._tracer.refusal = refusal
        return plain()

    def unary(self, expression: str, function: Callable[..., Witness]) -> Self:
        """Records an operation on one value; a NumPy function of integers runs in NumPy on the whole
        column."""
        reads = self.require_numbers(getattr(function, "__name__", "operation"))
        witness = function(self._witness)
        dtype = self.numbers_of(witness, expression)
        if expression.startswith("np.") and dtype != g.BOOL and not g.is_float(reads):
            return self.whole(expression, function, (self,), witness)
        return self.result(g.Fused(dtype, expression, (self._node,), (reads,)), witness)

    def choice(
        self, condition: object, chosen: object, other: object, witness: Witness, name: str
    ) -> g.Node:
        """Returns the node of a choice by a condition, between numbers or between texts."""
        parts = (self.condition(condition), self.node_of(chosen), self.node_of(other))
        return self.choice_of(parts, witness, name)

    def choice_of(
        self, parts: tuple[g.Node, g.Node, g.Node], witness: Witness, name: str
    ) -> g.Node:
        """Returns the node of a choice between two nodes by a condition."""
        are_texts = [part.dtype == g.TEXT for part in parts[1:]]
        if all(are_texts) and g.dtype_of(witness) == g.TEXT:
            return texts.text_choice(parts)
        dtype = self.numbers_of(witness, name)
        if any(are_texts):
            raise self._tracer.refused(f"{name} of texts and numbers")
        return g.Fused(dtype, "{1} if {0} else {2}", parts, (g.BOOL, dtype, dtype))

    def condition(self, value: object) -> g.Node:
        """Returns the node of a condition."""
        if isinstance(value, Recorded) and value._node.dtype == g.BOOL:
            return value._node
        raise self._tracer.refused("a condition that is no column of booleans")

    def node_of(self, value: object) -> g.Node:
        """Returns the node of an operand."""
        if isinstance(value, Recorded):
            return value._node
        if value is None:
            return g.Constant(np.dtype(object), None)
        return g.Constant(g.TEXT if isinstance(value, str) else np.asarray(value).dtype, value)

    # Checks

    def refused(self, reason: str) -> UnsupportedError:
        """Returns an exception to raise; it names the function of pandas or NumPy that led here, if there
        is one."""
        function = library_function()
        return self._tracer.refused(NOT_ELEMENT_WISE.format(function) if function else reason)

    def require_operand(self, value: object) -> None:
        """Check that a value is a column of the trace, or a constant."""
        if isinstance(value, Recorded) and value._node.dtype == g.OTHER:
            raise self._tracer.refused("a column of a type that only pandas has")
        if isinstance(value, Recorded | bool | int | float | str | np.bool_ | np.float32):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise self._tracer.refused("a number beyond 64 bits")
            return
        if isinstance(value, np.signedinteger):
            return
        raise self._tracer.refused(f"an operand of type {type(value).__name__}")

    def alone(self, value: object) -> object:
        """Returns an operand that is the same for each row, as a number for each column of a table."""
        if isinstance(value, Recorded | str | bytes) or not isinstance(value, Sized):
            return value
        if isinstance(value, np.ndarray) and self._witness.ndim == value.ndim + 1 == 2:
            return np.asarray(value)
        raise self._tracer.refused(f"an operand of type {type(value).__name__}")

    def require_numbers(self, name: str) -> g.NumPyType:
        """Returns the dtype of this column; refuses a column of text."""
        if isinstance(self._node.dtype, str):
            raise self._tracer.refused(f"{name} of a column of text")
        return self._node.dtype

    def require_method(self, name: str) -> None:
        """Raise AttributeError unless real columns have the method."""
        getattr(self._witness, name)

    def of_own_dtype(self, value: object, name: str) -> g.Node:
        """Returns the node of a value that fits this column's dtype, so that pandas keeps the dtype."""
        self.require_operand(value)
        own = self._node.dtype
        if isinstance(value, Recorded):
            fits = value._node.dtype == own
        elif isinstance(own, str):
            fits = isinstance(value, str)
        else:
            fits = g.holds(own, value)
        if not fits:
            raise self._tracer.refused(
                f"Series.{name} of {own} with values of another type, where pandas' dtype depends "
                f"on the values"
            )
        return self.node_of(value)

    def numbers_of(self, witness: Witness, name: str) -> g.NumPyType:
        """Returns the dtype of a witness of numbers; refuses other witnesses."""
        dtype = g.dtype_of(witness)
        if dtype is None or isinstance(dtype, str):
            kind = getattr(witness, "dtype", type(witness).__name__)
            raise self._tracer.refused(f"{name} gives {kind}, no column of numbers")
        return dtype


class Arguments:
    """The arguments of a call, with the stand-ins among them, `columns`, taken out."""

    def __init__(self, given: object) -> None:
        self.columns: list[Recorded] = []
        self.given = _with_items(given, self._place_of)

    def filled(self, values: Sequence[Any]) -> Any:
        """Returns the arguments with values in the places of the stand-ins."""
        return _with_items(
            self.given, lambda item: values[item.index] if isinstance(item, _Place) else item
        )

    def _place_of(self, value: object) -> object:
        if not isinstance(value, Recorded):
            return value
        self.columns.append(value)
        return _Place(len(self.columns) - 1)


@dataclass(frozen=True)
class _Place:
    """The place of a column among arguments."""

    index: int


def _with_items(value: Any, of_item: Callable[[Any], Any]) -> Any:
    """Returns arguments, which may be nested, with other items."""
    if type(value) in (list, tuple):
        return type(value)([_with_items(item, of_item) for item in value])
    if type(value) is dict:
        return {key: _with_items(item, of_item) for key, item in value.items()}
    return of_item(value)


def identity_of(value: Any) -> object:
    """Returns a value whose `repr` is the same for each trace, and different for different constants."""
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        captured = [cells, value.__defaults__, value.__kwdefaults__]
        return id(value.__code__), identity_of(captured)
    if isinstance(value, types.BuiltinFunctionType | types.MethodType):
        return value.__qualname__, identity_of(value.__self__)
    if isinstance(value, type | np.ufunc):
        # Others may have the same name.
        return id(value), value
    if isinstance(value, functools.partial):
        parts = value.func, value.args, value.keywords
        return functools.partial, [identity_of(each) for each in parts]
    if isinstance(value, Recorded):
        raise value._tracer.refused("a function of one row uses a whole column")
    if isinstance(value, pd.Series | pd.DataFrame | pd.Index | np.ndarray):
        return type(value), str(getattr(value, "dtype", "")), pickle.dumps(value)
    if type(value) in (list, tuple, set, frozenset):
        return type(value), [identity_of(item) for item in value]
    if type(value) is dict:
        return [(identity_of(key), identity_of(item)) for key, item in value.items()]
    if type(value).__module__ in _SHOWN_WHOLE or type(value) in (
        _Place,
        pd.Timestamp,
        pd.Timedelta,
    ):
        return value
    try:
        return id(type(value)), cloudpickle.dumps(value)
    except Exception:  # noqa: BLE001 A class may do anything when its objects are pickled.
        # It is the same as no other, so that the function is refused.
        return object()


_SHOWN_WHOLE = ("builtins", "numpy", "datetime", "decimal")
"""Modules of classes whose texts show all that their objects hold."""


def witness_of(value: object) -> Witness:
    """Returns the witness of a stand-in; a constant itself."""
    return value._witness if isinstance(value, Recorded) else value


ALONE = (identity_of(((_Place(0),), {})),)
"""The details of a call with a column and no other argument."""


def table_details(names: Sequence[str]) -> tuple[object, ...]:
    """Returns the details of `pandas.DataFrame(columns)`, for a dictionary with these names."""
    return (identity_of((({name: _Place(k) for k, name in enumerate(names)},), {})),)


def arguments_of(details: tuple[object, ...]) -> tuple[object, ...] | None:
    """Returns the constants after the column in a call without options; None for other calls."""
    match details:
        case ((_, [(_, [_Place(index=0), *constants]), []]),):
            return tuple(constants)
    return None


def library_function() -> str | None:
    """Returns the outermost function of pandas or NumPy through which a traced body made this call."""
    frame, function = sys._getframe(1), None
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("pandas", "numpy", "colkern"):
            break
        name = frame.f_code.co_qualname
        if package != "colkern" and "<locals>" not in name:
            function = f"{package}.{_CALLS.sub('', name)}"
        frame = frame.f_back  # type: ignore[assignment]
    return function


_CALLS = re.compile(r"\.__(init|new|call)__$")

"""`ColumnFunction`: the base of the functions that `udf`, `reducer` and `generator` make.

Nothing here imports Numba.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import takewhile
from traceback import walk_stack
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np

from colkern import builders
from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, RecordBatch, Table
from colkern.errors import CompileError, UnsupportedError
from colkern.forks import cached_property
from colkern.jit.compiling.names import has_all_names, is_found_by_name, named_object
from colkern.jit.signatures import Signature, representatives, require_accepted
from colkern.layouts import Layout, layout
from colkern.memory import HOST, Device
from colkern.names import PublicNames
from colkern.operations import repeat
from colkern.operations.chunks import as_columns, as_structs, combined
from colkern.operations.moving import there
from colkern.rows.columns import RESULTS_OF_HINTS
from colkern.rows.encoded import decoded_type
from colkern.rows.forms import Form
from colkern.rows.front import Sources, sources_of, take_sources
from colkern.rows.meanings import Meanings
from colkern.rows.program import Program
from colkern.rows.reports import Report

NullPolicy = Literal["propagate", "pass"]


@dataclass(frozen=True)
class RowOptions:
    """Options for compiling functions of a row.

    Args:
        arithmetic: "python" for Python's meaning of all operations; "machine" for numbers as NumPy has
            them: integers wrap around, and division by zero and functions of `math` raise nothing.
        strict: Whether a row, a column or a function that compiled code does not cover is an error.
        fallback: Whether a function that does not compile runs in Python, with a warning.
    """

    arithmetic: Literal["python", "machine"] = "python"
    strict: bool = False
    fallback: bool = False


DEFAULT_OPTIONS = RowOptions()

_MOST_LAYOUTS = 256
"""The number of plans of a function that are kept by layouts; all are kept by types."""

VALUES = (type(None), bool, int, float, str, bytes, date, time, timedelta, Decimal, np.generic)
"""Types of arguments that are a value for each row, not a column."""


class AnyPlan(Protocol):
    """Runs over columns of the types that it was made for."""

    @property
    def returns(self) -> s.DataType:
        """The type of the results."""

    programs: Sequence[Program]
    """The programs of the plain functions that do not run in Python."""

    def compile(self) -> None:
        """Compile or load the code that a call needs."""


Planned = TypeVar("Planned", bound=AnyPlan)


class ColumnFunction(PublicNames, Generic[Planned]):
    """A compiled function of columns, made from functions of one row.

    Args:
        signature: Its parameters and result, as declared.
        nulls: A `NullPolicy`, or the result for nulls.
        sources: The sources of the functions and of what they call, from the process that defined them.
    """

    __name__: str
    __qualname__: str

    KIND = "function"
    """The word of `repr` and of messages for it."""

    def __init__(
        self,
        name: str,
        signature: Signature,
        nulls: object,
        options: RowOptions,
        sources: Sources | None,
    ) -> None:
        self.signature = signature
        self.nulls = nulls
        self.options = options
        self._names = [parameter.name for parameter in signature.parameters]
        self._defaults = {each.name for each in signature.parameters if each.has_default}
        self._plans: dict[tuple[s.DataType, ...], Planned] = {}
        # A layout stands for a type, and is not hashed anew.
        self._plans_by_layout: dict[tuple[Layout, ...], Planned] = {}
        self._planning = threading.RLock()
        self._meanings = Meanings()
        self._report = Report(name)
        if sources:
            take_sources(sources)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.__name__

    def compile(self, *columns: s.DataType) -> None:
        """Compile for columns of those types now, without a call; other processes load the code.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self.plan(*columns).compile()

    def result_type(self, *columns: s.DataType) -> s.DataType:
        """The type of the results for columns of those types; compiles the functions if it has to.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        return self.plan(*columns).returns

    def report(self) -> Report:
        """The numbers of rows so far, and of those that were left to Python, by line."""
        return self._report

    def source(self) -> str:
        """The source that is generated for the columns of the last call; empty before it."""
        texts = [plan.text for plan in self._plans.values() if hasattr(plan, "text")]
        return texts[-1]() if texts else ""

    def define(self) -> None:
        """Compile the functions if their declaration says enough, so that mistakes show at once.

        Left to the first call where a name is missing: helpers may be defined further down.
        """
        if not self.signature.parameters:
            raise TypeError(f"{self.name}: a {self.KIND} has one parameter at least")
        columns = representatives([parameter.type for parameter in self.signature.parameters])
        refusal = None
        for types in columns if all(map(has_all_names, self._functions())) else ():
            try:
                self.plan(*types)
                return
            except (CompileError, UnsupportedError) as error:
                refusal = error
        if refusal is not None:
            raise refusal

    # Columns

    def _columns(
        self, columns: Sequence[object], named: Mapping[str, object]
    ) -> list[Array | ChunkedArray]:
        """The columns of a call, in the order of the parameters; one value stands for a column of it."""
        if named:
            columns = self.in_order(columns, named)
        self._check_count(len(columns))
        arguments: list[Any] = list(columns)
        for place, (name, column) in enumerate(zip(self._names, columns, strict=True)):
            if not isinstance(column, (Array, *VALUES)):
                arguments[place] = column_of(name, column)
        like = next((column for column in arguments if not isinstance(column, VALUES)), None)
        if like is None:
            raise TypeError(f"{self.name}: expected a column at least, got values alone")
        for place, value in enumerate(arguments):
            if isinstance(value, VALUES):
                declared = self.signature.parameters[place].type
                if isinstance(declared, type):
                    # A value has a type of its own, but for None.
                    declared = RESULTS_OF_HINTS.get(declared) if value is None else None
                arguments[place] = repeat(
                    there(builders.array([value], declared), like), like.length
                )
        return arguments

    def in_order(self, columns: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Columns by position and by the names of their parameters, as any call in Python."""
        for name in named:
            if name not in self._names:
                raise TypeError(
                    f"{self.name} has no parameter {name!r}: it takes {', '.join(self._names)}"
                )
            if name in self._names[: len(columns)]:
                raise TypeError(f"{self.name}: {name} is given by position and by name")
        if len(columns) > len(self._names):
            self._check_count(len(columns))
        missing = [name for name in self._names[len(columns) :] if name not in named]
        if missing:
            raise self._no_columns_for(missing)
        return [*columns, *(named[name] for name in self._names[len(columns) :])]

    def _check_count(self, count: int) -> None:
        wanted = len(self.signature.parameters)
        if count != wanted:
            if self._defaults.intersection(self._names[count:]):
                raise self._no_columns_for(self._names[count:])
            raise TypeError(f"{self.name} takes {wanted} column{'s' * (wanted != 1)}, got {count}")

    def _no_columns_for(self, names: Sequence[str]) -> TypeError:
        reason = ""
        if self._defaults.intersection(names):
            reason = (
                "; a default stands only for a parameter that is left out behind all columns, and of no "
                "reducer: else use a global or a variable of an outer function for a constant"
            )
        return TypeError(f"{self.name}: no column for {', '.join(names)}{reason}")

    # Types

    def _nullable(self) -> list[bool]:
        """For each parameter, whether the function gets None for nulls."""
        declared = [parameter.nullable for parameter in self.signature.parameters]
        if not any(declared):
            return [self._passes_nulls()] * len(declared)
        if self._passes_nulls():
            return [may is not False for may in declared]
        return [bool(may) for may in declared]

    def _forms(self) -> list[Form]:
        """The forms in which the function gets the values of its columns."""
        pairs = zip(self.signature.parameters, self._nullable(), strict=True)
        return [replace(parameter.form, nullable=may) for parameter, may in pairs]

    def _passes_nulls(self) -> bool:
        # A default value may be an array, of which `==` makes another.
        return isinstance(self.nulls, str) and self.nulls == "pass"

    # Compiled functions

    def _functions(self) -> Iterable[Any]:
        """The plain functions."""
        raise NotImplementedError

    def _sources(self) -> Sources:
        """The sources of the functions, for a process that has none."""
        texts: Sources = {}
        for function in self._functions():
            texts |= sources_of(function)
        return texts

    def _compiled(self, columns: tuple[s.DataType, ...]) -> Planned:
        """The plan for columns of those types."""
        raise NotImplementedError

    def _in_python(self) -> Planned:
        """The plan of Python alone."""
        raise NotImplementedError

    def plan(self, *columns: s.DataType) -> Planned:
        """The plan for columns of those types.

        Raises:
            TypeError: If a parameter does not take such a column; names it.
            CompileError, UnsupportedError: If the functions have no compiled form for them, and are not to
                run in Python.
        """
        self._check_count(len(columns))
        if not self._meanings.hold():
            self._forget()
        types = self._read_types(columns)
        key = tuple(map(layout, types))
        with self._planning:
            plan = self._plans_by_layout.get(key)
            if plan is None:
                if types not in self._plans:
                    for parameter, type_ in zip(self.signature.parameters, types, strict=True):
                        require_accepted(parameter, type_)
                    self._plans[types] = self._new_plan(types)
                if len(self._plans_by_layout) == _MOST_LAYOUTS:
                    self._plans_by_layout.clear()
                self._plans_by_layout[key] = plan = self._plans[types]
            return plan

    def _read_types(self, columns: Sequence[s.DataType]) -> tuple[s.DataType, ...]:
        """The types that columns are read as."""
        return tuple(map(decoded_type, columns))

    def _new_plan(self, columns: tuple[s.DataType, ...]) -> Planned:
        if os.environ.get("COLKERN_JIT") == "0":
            return self._in_python()
        try:
            plan = self._compiled(columns)
            meanings = self._meanings
            self._meanings = meanings.with_those_of(self._functions(), plan.programs)
            return plan
        except (CompileError, UnsupportedError) as error:
            if self.options.strict:
                raise
            name = self._report.name
            if not self.options.fallback:
                text = str(error) if str(error).startswith(name) else f"{name}: {error}"
                raise type(error)(f"{text}\nwith fallback=True, it runs in Python") from None
            self._report.reason = str(error).split("\n")[0]
            text = f"{name} runs in Python: {self._report.reason}"
            warnings.warn(text, stacklevel=_level_of_caller())
            return self._in_python()

    def _forget(self) -> None:
        """Forget plans, since globals or outer variables have changed since they were made.

        Changes of an item of a large container are not noticed if the number of items is the same.
        """
        with self._planning:
            self._meanings = Meanings()
            self._plans.clear()
            self._plans_by_layout.clear()

    # In text, and in a pickle

    def __repr__(self) -> str:
        results = {plan.returns for plan in self._plans.values()}
        inferred = results.pop() if len(results) == 1 else None
        returns = self.signature.returns or inferred
        parameters = ", ".join(map(str, self.signature.parameters))
        arrow = f" -> {returns}" if returns else ""
        return f"<colkern {self.KIND} {self.name}({parameters}){arrow}>"

    def _parts(self) -> tuple[object, ...]:
        """The arguments of its class, for a pickle."""
        raise NotImplementedError

    @cached_property
    def anchor(self) -> Callable[[], AnyFunction]:
        """A function that makes a copy of this one, for a pickle.

        Its name leads here. Plain pickle writes that name, as for any function; cloudpickle writes
        functions of scripts and notebooks by value, and so all parts of this one.
        """
        kind, parts = type(self), self._parts()

        def anchor() -> AnyFunction:
            return _rebuilt(kind, parts)

        anchor.__module__ = self.__module__
        anchor.__qualname__ = f"{self.__qualname__}.anchor"
        return anchor

    def __reduce__(self) -> str | tuple[object, ...]:
        if not is_found_by_name(self):
            return _rebuilt, (type(self), self._parts())
        if self.__module__ != "__main__":
            return self.__qualname__
        return _anchored, (self.anchor,)


AnyFunction = ColumnFunction[Any]


def _anchored(anchor: Callable[[], AnyFunction]) -> AnyFunction:
    """The function that an anchor from a pickle names, or a new one."""
    owner = named_object(anchor.__module__, anchor.__qualname__.removesuffix(".anchor"))
    if isinstance(owner, ColumnFunction) and owner.anchor is anchor:
        return owner
    return anchor()


def _rebuilt(kind: type[AnyFunction], parts: tuple[Any, ...]) -> AnyFunction:
    """A function from a pickle."""
    return kind(*parts)


def imported(name: str, column: object) -> Array:
    """`column_of` as one array: chunks are joined."""
    whole = column_of(name, column)
    return combined(whole) if isinstance(whole, ChunkedArray) else whole


def column_of(name: str, column: object) -> Array | ChunkedArray:
    """The column that an object exports; of a table, a column of structs. `name` is for messages.

    Raises:
        TypeError: If it exports none.
        ValueError: If it exports a bad one; a note says whose it is.
    """
    if isinstance(column, Array):
        return column
    try:
        columns = as_columns(column)
    except ValueError as error:
        error.add_note(f"column {name}")
        raise
    if isinstance(columns, RecordBatch | Table):
        return as_structs(columns)
    if isinstance(columns, Array | ChunkedArray):
        return columns
    raise TypeError(
        f"{name}: expected an Arrow array, got {type(column).__name__}; colkern.array makes one"
    )


def _level_of_caller() -> int:
    """The `stacklevel` of a warning of this function's caller that names the first line outside colkern."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe(1)))
    own = takewhile(lambda name: name.startswith("colkern."), names)
    return 1 + len(list(own))


def require_on_host(name: str, column: Array | ChunkedArray, kind: str) -> None:
    """Check that a column is in host memory; `name` and `kind`, the function's word, are for the message.

    Raises:
        UnsupportedError: If it is in device memory.
    """
    if column.device != HOST:
        raise UnsupportedError(
            f"{name} is on {column.device}, and a {kind} runs over columns in host memory: copy it "
            f"with colkern.to_host"
        )


def require_one_length(names: Sequence[str], arrays: Sequence[Array]) -> None:
    """Check that arrays have one length; `names` are for messages.

    Raises:
        ValueError: If the lengths differ.
    """
    length = arrays[0].length
    for name, array in zip(names, arrays, strict=True):
        if array.length != length:
            raise ValueError(f"{name}: {array.length} values, but {names[0]} has {length}")


def common_device(names: Sequence[str], arrays: Sequence[Array]) -> Device:
    """The device that all of the arrays are on; `names` are for messages.

    Raises:
        UnsupportedError: If they are in different places.
    """
    device = arrays[0].device
    for name, array in zip(names, arrays, strict=True):
        if array.device != device:
            raise UnsupportedError(
                f"{name} is on {array.device}, and {names[0]} on {device}: copy one of them with "
                f"colkern.to_device or to_host"
            )
    return device


def require_null_policy(nulls: str) -> None:
    """Refuse other words than those of `NullPolicy`.

    Raises:
        ValueError: If it is another.
    """
    if nulls not in ("propagate", "pass"):
        raise ValueError(f"nulls: expected 'propagate' or 'pass', got {nulls!r}")

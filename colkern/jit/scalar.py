"""`udf`: a plain Python function of one row becomes a compiled function of columns.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import CompileError, UnsupportedError
from colkern.jit.arguments import accepted_reader, reader_of, value_of
from colkern.jit.names import has_all_names, is_found_by_name
from colkern.jit.results import INFERRED, NUMBER, TEXT, writer_of
from colkern.jit.signatures import Signature, signature_of

if TYPE_CHECKING:
    from colkern.jit.execution import Plan

NullPolicy = Literal["propagate", "pass"]

MAX_NULLABLE = 4
"""A function is compiled for each combination of null and non-null arguments: 16 at most."""


class Udf:
    """A function of columns, made by `udf` from a function of one row.

    Attributes:
        function: The plain Python function.
        signature: What it takes and returns, as declared.
        nulls: What it does with nulls.
    """

    function: Callable[..., Any]
    signature: Signature
    nulls: NullPolicy
    __qualname__: str

    def __init__(
        self, function: Callable[..., Any], signature: Signature, nulls: NullPolicy
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = signature
        self.nulls = nulls
        self._results: dict[tuple[str, ...], s.DataType] = {}
        self._plans: dict[tuple[s.DataType, ...], Plan] = {}
        self._made: tuple[Any, str] | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def __call__(self, *columns: Any) -> Array:
        """The function of each row of the columns, as an array.

        Args:
            columns: One array a parameter, all of one length, in host memory; objects with
                `__arrow_c_array__` or `__arrow_c_stream__` (of pyarrow, polars, nanoarrow, arro3 …) are
                taken without a copy; a stream must hold one array at most.

        Raises:
            TypeError: If a column is no array, or not of the parameter's type; names it.
            ValueError: If the lengths differ, or a result is no UTF-8.
            OverflowError: If a result does not fit its type.
            InvalidArrowError: If a column's offsets or views point outside its memory.
            CompileError: If the function does not compile for these types.

        What the function raises itself comes through.
        """
        arrays = self._arrays(columns)
        plan = self._plan_for(tuple([array.type for array in arrays]))
        return plan.run(arrays, self._length(arrays))

    def compile(self, *columns: s.DataType) -> None:
        """Compile for columns of those types now, without a call; other processes load the code.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self._check_count(len(columns))
        self._plan_for(columns).compile(columns)

    def result_type(self, *columns: s.DataType) -> s.DataType:
        """The type of the results for columns of those types; compiles the function if it has to.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self._check_count(len(columns))
        return self._result([reader.value for reader in self._readers(columns)])

    def _arrays(self, columns: Sequence[Any]) -> list[Array]:
        self._check_count(len(columns))
        return [
            column if isinstance(column, Array) else self._imported(position, column)
            for position, column in enumerate(columns)
        ]

    def _imported(self, position: int, column: Any) -> Array:
        name = self.signature.parameters[position].name
        if not any(hasattr(column, f"__arrow_c_{kind}__") for kind in ("array", "stream")):
            raise TypeError(f"{name}: expected an Arrow array, got {type(column).__name__}")
        from colkern.interchange import import_array

        return import_array(column)

    def _check_count(self, count: int) -> None:
        wanted = len(self.signature.parameters)
        if count != wanted:
            raise TypeError(f"{self.name} takes {wanted} columns, got {count}")

    def _length(self, arrays: list[Array]) -> int:
        length = arrays[0].length
        for parameter, array in zip(self.signature.parameters, arrays, strict=True):
            if array.length != length:
                first = self.signature.parameters[0].name
                raise ValueError(
                    f"{parameter.name}: {array.length} values, but {first} has {length}"
                )
            if array.device.kind != "cpu":
                raise UnsupportedError(f"{parameter.name}: a udf over memory on {array.device}")
        return length

    def _readers(self, columns: Sequence[s.DataType]) -> list[Any]:
        pairs = zip(self.signature.parameters, columns, strict=True)
        return [accepted_reader(parameter, data_type) for parameter, data_type in pairs]

    def _plan_for(self, columns: tuple[s.DataType, ...]) -> Plan:
        plan = self._plans.get(columns)
        if plan is None:
            plan = self._plans[columns] = self._plan(columns)
        return plan

    def _plan(self, columns: tuple[s.DataType, ...]) -> Plan:
        from colkern.jit.execution import Plan
        from colkern.jit.loops import compile_loop

        readers = self._readers(columns)
        dispatcher = self._compiled()
        returns = self._result([reader.value for reader in readers])
        writer, nullable = writer_of(returns), self._nullable()
        return Plan(
            self.name,
            [parameter.name for parameter in self.signature.parameters],
            compile_loop(dispatcher, readers, nullable, writer),
            readers,
            nullable,
            returns,
            writer,
        )

    def _compiled(self) -> Any:
        from colkern.cpu.content import content_hash
        from colkern.jit.functions import dispatcher_of

        if self._made is not None:
            dispatcher, content = self._made
            if content_hash(dispatcher) == content:
                return dispatcher
            # An array or a module that it reads was changed: what is compiled from now on must not
            # be mixed with what was compiled before, nor stored as if it were that.
            self._results.clear()
        dispatcher = dispatcher_of(self.function)
        self._made = dispatcher, content_hash(dispatcher)
        return dispatcher

    def _nullable(self) -> list[bool]:
        """Which arguments the function gets as None where they are null."""
        if self.nulls == "propagate":
            return [False] * len(self.signature.parameters)
        declared = [parameter.nullable for parameter in self.signature.parameters]
        if not any(declared):
            return [True] * len(declared)
        return [may is not False for may in declared]

    def _result(self, values: Sequence[str]) -> s.DataType:
        """The type of the results for arguments of those kinds."""
        key = tuple(values)
        if key not in self._results:
            self._results[key] = self._compiled_result(key)
        return self._results[key]

    def _compiled_result(self, values: tuple[str, ...]) -> s.DataType:
        from colkern.jit.compiling import returned_kind

        choices = [
            (value, "none") if may else (value,)
            for value, may in zip(values, self._nullable(), strict=True)
        ]
        kinds = {
            returned_kind(self._compiled(), combination)
            for combination in itertools.product(*choices)
        }
        kinds.discard("none")
        declared = self.signature.returns
        if declared is None:
            return _common_type(self.name, kinds)
        wrong = kinds - writer_of(declared).kinds
        if wrong:
            found = ", ".join(sorted(str(INFERRED[kind]) for kind in wrong))
            raise CompileError(f"{self.name} returns {found} where {declared} is declared")
        return declared

    def define(self) -> None:
        """Compile the function if its declaration says enough, so that mistakes show at once.

        Left to the first call where a name is missing: helpers may be defined further down.
        """
        values = [value_of(parameter.type) for parameter in self.signature.parameters]
        known = [value for value in values if value is not None]
        if len(known) == len(values) and has_all_names(self.function):
            self._result(known)

    def __repr__(self) -> str:
        parameters = ", ".join(
            parameter.name
            if parameter.type is None
            else f"{parameter.name}: {_name(parameter.type)}"
            for parameter in self.signature.parameters
        )
        results = set(self._results.values())
        returns = self.signature.returns or (results.pop() if len(results) == 1 else None)
        arrow = f" -> {returns}" if returns else ""
        return f"<colkern udf {self.name}({parameters}){arrow}>"

    def __reduce__(self) -> Any:
        # By name where the name leads back here, as for any function; else by its parts, for
        # cloudpickle, which takes functions of scripts and notebooks by value.
        if self.__module__ != "__main__" and is_found_by_name(self):
            return self.__qualname__
        return _rebuilt, (self.function, self.signature, self.nulls, self._results)


def _rebuilt(
    function: Callable[..., Any],
    signature: Signature,
    nulls: NullPolicy,
    results: dict[tuple[str, ...], s.DataType],
) -> Udf:
    """A `Udf` out of a pickle: what was found out about its results need not be found again."""
    made = Udf(function, signature, nulls)
    made._results = dict(results)
    return made


def _name(declared: s.DataType | type) -> str:
    return declared.__name__ if isinstance(declared, type) else str(declared)


def _common_type(name: str, kinds: set[str]) -> s.DataType:
    """The type that holds what a function returns for all combinations of nulls."""
    if not kinds:
        raise CompileError(f"{name} returns None for every row")
    if len(kinds) == 1:
        return INFERRED[next(iter(kinds))]
    if kinds <= TEXT:
        return s.utf8()
    if kinds <= NUMBER - {"boolean", "uint64"}:
        return s.int64()
    if kinds <= {*NUMBER, "float32", "float64"} and "boolean" not in kinds:
        return s.float64()
    found = ", ".join(sorted(str(INFERRED[kind]) for kind in kinds))
    raise CompileError(f"{name} returns values of different types: {found}; declare returns=")


@overload
def udf(
    function: Callable[..., Any],
    /,
    *,
    returns: Any = None,
    nulls: NullPolicy = "propagate",
    signature: str | None = None,
) -> Udf: ...


@overload
def udf(
    function: str | None = None,
    /,
    *,
    returns: Any = None,
    nulls: NullPolicy = "propagate",
    signature: str | None = None,
) -> Callable[[Callable[..., Any]], Udf]: ...


def udf(
    function: Callable[..., Any] | str | None = None,
    /,
    *,
    returns: Any = None,
    nulls: NullPolicy = "propagate",
    signature: str | None = None,
) -> Udf | Callable[[Callable[..., Any]], Udf]:
    """Make a function of one row into a function of columns, compiled by Numba::

        @ck.udf
        def price(quantity: float, discount: float) -> float:
            return quantity * (1 - discount)

        @ck.udf("(utf8) -> int64")
        def vowels(s):
            n = 0
            for byte in s:
                if byte in (97, 101, 105, 111, 117):
                    n += 1
            return n

    Types come from hints (Python's types, data types, or `Annotated[int, ck.date32()]`) or from a
    signature; a parameter without any takes what it is called with. With them, the function is
    compiled when it is defined, else when it is first called with columns of new types.

    ==========================================  ===================================================
    columns                                     the function gets
    ==========================================  ===================================================
    bool                                        `bool`
    int8 to int64, uint8 to uint32              `int` of 64 bits
    uint64                                      `int` of 64 bits without sign
    float16, float32 declared as such           `float` of 32 bits
    float16 to float64 for the hint `float`     `float`
    decimal up to 18 digits                     `int`: the value times ten to the power of the scale
    date, time, timestamp, duration             `int` in the unit of the type
    utf8, binary; also large, view, fixed size  a byte string: see `colkern.jit.ByteString`
    ==========================================  ===================================================

    Results are the same types; a byte string may be a slice of an argument, a literal, or a `str`.
    A `str` that the function builds is built twice a row, once to be measured.
    Arithmetic is that of 64-bit machine numbers: integers wrap around, and division by zero gives an
    infinity or NaN for floats and 0 for integers. Globals and variables of outer functions are taken
    as they are when it is compiled.

    Args:
        function: A Python function with positional parameters; the plain functions that it calls are
            compiled too. Or a signature, as text.
        returns: The data type of the results (or a hint for it), over what the hints say; inferred
            if neither says anything.
        nulls: "propagate": a null in any argument makes the result null, without a call. "pass": the
            function gets None for a null in a parameter with a hint such as `float | None` (or a `?`
            in the signature), or, if there is no such parameter, in any. Under both policies it may
            return None for a null.
        signature: As text, `"(float64, utf8?) -> float64"`, over all hints.

    Raises:
        TypeError: If a declaration cannot be understood.
        UnsupportedError: If a declared type cannot be an argument or result.
        CompileError: If the function does not compile: the line and the construct.
    """
    if isinstance(function, str):
        function, signature = None, function
    if nulls not in ("propagate", "pass"):
        raise ValueError(f"nulls: expected 'propagate' or 'pass', got {nulls!r}")
    if function is None:
        return lambda plain: _make(plain, returns, nulls, signature)
    return _make(function, returns, nulls, signature)


def _make(
    function: Callable[..., Any], returns: Any, nulls: NullPolicy, signature: str | None
) -> Udf:
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise TypeError(f"function: expected a Python function, got {function!r}")
    if inspect.isgeneratorfunction(plain) or inspect.iscoroutinefunction(plain):
        raise CompileError(f"{plain.__name__}: generators and coroutines are no functions of a row")
    made = Udf(plain, signature_of(plain, signature, returns), nulls)
    if not made.signature.parameters:
        raise TypeError(f"{made.name}: a udf has one parameter at least")
    _require_supported(made)
    made.define()
    return made


def _require_supported(made: Udf) -> None:
    for parameter in made.signature.parameters:
        if isinstance(parameter.type, s.DataType):
            reader_of(parameter.type)
    if made.signature.returns is not None:
        writer_of(made.signature.returns)
    if sum(made._nullable()) > MAX_NULLABLE:
        raise UnsupportedError(
            f"{made.name}: {sum(made._nullable())} arguments that may be None, {MAX_NULLABLE} are "
            f"the most; it is compiled for each combination. Hint the others without None"
        )

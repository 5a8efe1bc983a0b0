"""`FunctionOfRow`: the base of `udf` and `generator`, whose functions the compiler of row functions takes.

Nothing here imports Numba.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from colkern import builders
from colkern import schema as s
from colkern.arrays import Array, ChunkedArray
from colkern.errors import UnsupportedError, without_addresses
from colkern.jit.bound_arguments import sees_names
from colkern.jit.column_function import (
    DEFAULT_OPTIONS,
    ColumnFunction,
    RowOptions,
    common_device,
    require_one_length,
)
from colkern.jit.signatures import Signature, representative
from colkern.jit.stored_elements import AS_BYTES
from colkern.memory import HOST, Buffer
from colkern.operations import cast, combine_validity, concat, nulls, take, unpack_bits
from colkern.operations.chunks import each_chunk
from colkern.operations.moving import to_device
from colkern.rows.encoded import decoded, is_encoded, over_values
from colkern.rows.front import Sources
from colkern.rows.plan import Plan
from colkern.rows.python_rows import PythonPlan
from colkern.rows.results import require_values
from colkern.targets import on_its_device, target_of

if TYPE_CHECKING:
    from colkern.rows.device import OnDevice


_layout_of = attrgetter("layout")


class FunctionOfRow(ColumnFunction[Plan | PythonPlan]):
    """A `ColumnFunction` of one plain function.

    Attributes:
        pure: Whether its results follow from its arguments alone.
    """

    function: Callable[..., object]
    pure: bool

    def __init__(
        self,
        function: Callable[..., object],
        signature: Signature,
        nulls: object,
        pure: bool = True,
        options: RowOptions = DEFAULT_OPTIONS,
        sources: Sources | None = None,
    ) -> None:
        super().__init__(function.__name__, signature, nulls, options, sources)
        functools.update_wrapper(self, function)
        self.function = function
        self.pure = pure
        self._plans_on_device: dict[tuple[s.DataType, ...], OnDevice] = {}
        self._shorter: dict[int, Self] = {}
        self._default_arrays: dict[s.DataType, Array] = {}
        self._has_default = not (isinstance(nulls, str) and nulls in ("propagate", "pass"))

    @property
    def row_function(self) -> Callable[..., object]:
        """The plain function that is compiled where another compiled function calls this one."""
        return self.function

    @property
    def python(self) -> Callable[..., object]:
        """The plain Python function."""
        return self.function

    def __call__(self, *columns: object, **named: object) -> Any:
        """The function of each row of the columns."""
        chosen = self._without_defaults(columns, named)
        return chosen._over(chosen._columns(columns, named))

    def _functions(self) -> Iterable[Any]:
        return (self.function,)

    def _parts(self) -> tuple[object, ...]:
        parts = self.function, self.signature, self.nulls, self.pure, self.options
        return *parts, self._sources()

    def in_order(self, columns: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """As for any function of columns; refused where a decorator may see the names."""
        if sees_names(self.function):
            raise TypeError(
                f"{self.name} has a decorator, which sees how its arguments are given: give it columns by "
                f"position, as rows are"
            )
        return super().in_order(columns, named)

    def _without_defaults(self, columns: Sequence[object], named: Mapping[str, object]) -> Self:
        """The function of the columns that are given, if all parameters behind them have defaults."""
        count = len(columns) + len(named)
        has_rest = count < len(self._names) and self._defaults.issuperset(self._names[count:])
        if not count or not has_rest or not named.keys() <= set(self._names[:count]):
            return self
        if count not in self._shorter:
            signature = replace(self.signature, parameters=self.signature.parameters[:count])
            parts: Any = self._parts()
            shorter = type(self)(self.function, signature, *parts[2:])
            shorter._report = self._report
            self._shorter[count] = shorter
        return self._shorter[count]

    # Plans

    def _returns(self) -> s.DataType | type | None:
        """The declared type of a row's result."""
        return self.signature.result

    def _read_types(self, columns: Sequence[s.DataType]) -> tuple[s.DataType, ...]:
        """The types that columns are read as."""
        declared = [parameter.type for parameter in self.signature.parameters]
        return tuple(map(_read_type, declared, super()._read_types(columns)))

    def _compiled(self, columns: tuple[s.DataType, ...]) -> Plan:
        strict, wraps = self.options.strict, self.options.arithmetic == "machine"
        may_be_rows = self.signature.hint is dict
        # The hint says no width, and hashes have 64 bits without a sign.
        declared = self._returns()
        returns = int if self.signature.hint is int and declared == s.int64() else declared
        plan = Plan(
            self.function, columns, self._forms(), returns, strict, wraps, may_be_rows=may_be_rows
        )
        if self._has_default and plan.returns != s.null():
            self._default(plan.returns)
        return plan

    def _in_python(self) -> PythonPlan:
        return PythonPlan(self.function, self._forms(), self._returns())

    # Calls

    def _over(self, columns: Sequence[Array | ChunkedArray]) -> Array | ChunkedArray:
        """The function of each row of columns; in chunks, where one of them is."""
        arrays = [column for column in columns if isinstance(column, Array)]
        if len(arrays) == len(columns):
            return self._called(arrays)

        def called(*arrays: Array) -> Array:
            return self._called(list(arrays))

        results: ChunkedArray = each_chunk(called, columns, {}, threads=False)
        return results

    def _called(self, arrays: Sequence[Array]) -> Array:
        """The function of each row of columns, where these are."""
        if not self._meanings.hold():
            self._forget()
        length, device = arrays[0].length, HOST
        for array in arrays:
            # The last buffer of most is there, and asking the array for its device takes a call.
            last = array.buffers[-1] if array.buffers else None
            if array.length != length or last is None or last.device is not HOST:
                require_one_length(self._names, arrays)
                device = common_device(self._names, arrays)
        key = tuple(map(_layout_of, arrays))
        plan = self._plans_by_layout.get(key) if device == HOST else None
        if plan is not None:
            return self._ran(plan, arrays, length)
        results = self._over_values(arrays)
        if results is not None:
            return results
        plain = self._plain(arrays)
        types = [array.type for array in plain]
        planned = self.plan if device == HOST else self._plan_on_device
        return self._ran(planned(*types), plain, length)

    def _ran(
        self, plan: Plan | PythonPlan | OnDevice, arrays: Sequence[Array], length: int
    ) -> Array:
        """The results for arrays of one length and of the plan's types, where these are."""
        results, left = plan.run(arrays, length)
        self._report.add(length, left)
        if results.children:
            require_values(self._report.name, results)
        return self._filled(results, arrays) if self._has_default else results

    def _plain(self, arrays: Sequence[Array]) -> list[Array]:
        """Columns that are not encoded, as the function reads them."""
        plain = list(map(decoded, arrays))
        types = self._read_types([array.type for array in plain])
        pairs = zip(plain, types, strict=True)
        return [array if array.type == type_ else cast(array, type_) for array, type_ in pairs]

    def _over_values(self, arrays: Sequence[Array]) -> Array | None:
        """The results by the values of an only column that is encoded, if that is possible."""
        if len(arrays) > 1 or not self.pure or not is_encoded(arrays[0]) or any(self._nullable()):
            return None
        # Null indices lead to no value that could have the default as its result.
        if self._has_default and arrays[0].null_count:
            return None
        return over_values(arrays[0], lambda values: self._called([values]))

    def require_device(self, *columns: s.DataType) -> None:
        """Make sure that a device runs the function for columns of those types, before any is there.

        Raises:
            UnsupportedError: If it does not, for a reason that is known before the kernel compiles.
            TypeError, CompileError: As a call with such columns would.
        """
        self._plan_on_device(*columns)

    def _plan_on_device(self, *columns: s.DataType) -> OnDevice:
        from colkern.rows.device import OnDevice

        types = self._read_types(columns)
        plan, planned = self.plan(*types), self._plans_on_device.get(types)
        if not isinstance(plan, Plan):
            raise UnsupportedError(f"{self.name} on a device: it runs in Python")
        if planned is None or planned.plan is not plan:
            self._plans_on_device[types] = planned = OnDevice(plan)
        return planned

    # Defaults

    def _filled(self, results: Array, arrays: Sequence[Array]) -> Array:
        """Results with a default value where the function was not called."""
        may = self._nullable()
        required = [array for array, taken in zip(arrays, may, strict=True) if not taken]
        called = combine_validity(required)[0]
        return results if called is None else filled(results, called, self._default(results.type))

    def _default(self, returns: s.DataType) -> Array:
        """The result for nulls as an array of one slot."""
        if returns not in self._default_arrays:
            self._default_arrays[returns] = default_array(self.name, self.nulls, returns)
        return self._default_arrays[returns]


def _read_type(declared: s.DataType | type | None, column: s.DataType) -> s.DataType:
    """The type that a column is read as: text is bytes where these are asked for.

    A column of None alone, such as `ck.array([])`, is one of the declared type.
    """
    if column == s.null():
        return representative(declared) or column
    return AS_BYTES.get(type(column.storage), column) if declared is bytes else column


# Results where an argument is null


_BYTES = (s.Binary, s.LargeBinary)


def default_array(name: str, value: Any, returns: s.DataType) -> Array:
    """A default value as an array of one slot.

    Args:
        name: The function's name, for messages.
        value: The value. Bytes stand for text too, so that a text may be "propagate" or "pass".
        returns: The type of the results; null if the function never returns a value.

    Raises:
        ValueError: If the type does not hold it.
    """
    default = value
    if isinstance(returns, s.Struct) and isinstance(value, tuple):
        default = dict(zip((field.name for field in returns.fields), value, strict=False))
        default = default if len(value) == len(returns.fields) else value
    elif isinstance(value, bytes) and not isinstance(returns, _BYTES):
        default = value.decode(errors="replace")
    try:
        return builders.array([default], None if returns == s.null() else returns)
    except (TypeError, ValueError, OverflowError) as error:
        got = without_addresses(repr(value))
        raise ValueError(
            f"{name}: nulls: expected 'propagate', 'pass' or a value of {returns}, got {got}"
        ) from error


@on_its_device
def filled(results: Array, called: Buffer, default: Array) -> Array:
    """Results with a default value where the function was not called.

    Args:
        results: The results of the calls, in host memory or on a device.
        called: The bitmap of the slots that the function was called for, there.
        default: One slot of the type of the results, in host memory.
    """
    if results.type == s.null():
        results = nulls(results.length, default.type)
    target, length = target_of(called.device), results.length
    picked = target.positions(length)
    picked[~unpack_bits(called, 0, length)] = length
    indices = Array(s.int64(), length, [None, target.buffer(picked)], null_count=0)
    return take(concat([results, to_device(default, called.device)]), indices)

"""`FunctionOfRow`: the base of `udf` and `generator`, whose functions the compiler of row functions takes.

Nothing here imports Numba.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from colkern import builders
from colkern import schema as s
from colkern.arrays import Array, ChunkedArray
from colkern.errors import UnsupportedError, without_addresses
from colkern.jit.bound_arguments import sees_names
from colkern.jit.column_function import ColumnFunction, common_device, require_one_length
from colkern.jit.signatures import Parameter, Signature, require_accepted
from colkern.jit.stored_elements import AS_BYTES
from colkern.memory import HOST, Buffer
from colkern.operations import cast, combine_validity, concat, nulls, take, unpack_bits
from colkern.operations.chunks import each_chunk
from colkern.operations.moving import to_device
from colkern.rows.compiled_rows import (
    DEFAULT_OPTIONS,
    AnyPlan,
    CompiledRows,
    Counted,
    RowOptions,
)
from colkern.rows.encoded import decoded, decoded_type, is_encoded, over_values
from colkern.rows.front import Sources
from colkern.targets import on_its_device, target_of

if TYPE_CHECKING:
    from colkern.rows.device import OnDevice


class FunctionOfRow(ColumnFunction[Counted]):
    """A `ColumnFunction` of one plain function.

    Attributes:
        function: The plain function.
        signature: Its parameters and result, as declared.
        nulls: "propagate", "pass", or the result for nulls.
        pure: Whether its results follow from its arguments alone.
        options: How it is compiled.
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
        super().__init__(signature, nulls)
        functools.update_wrapper(self, function)  # type: ignore[arg-type]
        self.function = function
        self.pure = pure
        self.options = options
        self.rows = CompiledRows(function, options, sources)
        self._rows_on_device: dict[tuple[s.DataType, ...], Counted] = {}

    @property
    def row_function(self) -> Callable[..., object]:
        """The plain function that is compiled where another compiled function calls this one."""
        return self.function

    @property
    def python(self) -> Callable[..., object]:
        """The plain Python function."""
        return self.function

    def _functions(self) -> Iterable[Callable[..., object]]:
        return (self.function,)

    def _in_order(self, columns: Sequence[object], named: Mapping[str, object]) -> list[object]:
        if sees_names(self.function):
            raise TypeError(
                f"{self.name} has a decorator, which sees how its arguments are given: give it columns by "
                f"position, as rows are"
            )
        return super()._in_order(columns, named)

    def _result_types(self) -> Iterable[s.DataType]:
        return self.rows.result_types()

    # Plans

    def _returns(self) -> s.DataType | type | None:
        """The declared type of a row's result."""
        return self.signature.result

    def row_plan(self, columns: Sequence[s.DataType]) -> AnyPlan:
        """The plan for columns of those types; raises as a call with such columns would."""
        for parameter, column in zip(self.signature.parameters, columns, strict=True):
            require_accepted(parameter, decoded_type(column))
        plain = tuple(map(self._read_as, self.signature.parameters, map(decoded_type, columns)))
        plan: AnyPlan = self.rows.plan(plain, self._nullable(), self._returns())
        return plan

    @staticmethod
    def _read_as(parameter: Parameter, column: s.DataType) -> s.DataType:
        """The type that a column is read as: text is bytes where these are asked for."""
        asked = parameter.type is bytes
        return AS_BYTES.get(type(column.storage), column) if asked else column

    def _plan(self, columns: tuple[s.DataType, ...]) -> Counted:
        return self._counted(self.row_plan(columns))

    def _counted(self, plan: AnyPlan | OnDevice) -> Counted:
        """A plan that counts its rows, and has a default for nulls."""
        fill = None
        if self._has_default():
            # The type of results of a function that runs in Python is known once there are some.
            default = None if plan.returns == s.null() else self._default(plan.returns)
            fill = partial(self._filled, default)
        return Counted(plan, self.rows.report, fill)

    def result_type(self, *columns: s.DataType) -> s.DataType:
        """The type of the results for columns of those types; compiles the function if it has to.

        Raises:
            TypeError, CompileError: As a call with such columns would.
        """
        self._check_count(len(columns))
        return self.row_plan(columns).returns

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
        if not self.rows.is_current():
            self._plans.clear()
            self._rows_on_device.clear()
        length, device = arrays[0].length, HOST
        for array in arrays:
            if array.length != length or array.device is not HOST:
                require_one_length(self._names, arrays)
                device = common_device(self._names, arrays)
        plan = self._plans.get(tuple([array.type for array in arrays])) if device == HOST else None
        if plan is not None:
            return plan.run(arrays, length)
        results = self._over_values(arrays)
        if results is None:
            if device != HOST:
                return self._on_device(arrays)
            plan, plain, length = self._planned(self._plain(arrays))
            results = plan.run(plain, length)
        return results

    def _plain(self, arrays: Sequence[Array]) -> list[Array]:
        """Columns that are not encoded, as the function reads them."""
        pairs = zip(self.signature.parameters, map(decoded, arrays), strict=True)
        types = [(array, self._read_as(parameter, array.type)) for parameter, array in pairs]
        return [array if array.type == type_ else cast(array, type_) for array, type_ in types]

    def _over_values(self, arrays: Sequence[Array]) -> Array | None:
        """The results by the values of an only column that is encoded, if that is possible."""
        if len(arrays) > 1 or not self.pure or not is_encoded(arrays[0]) or any(self._nullable()):
            return None
        # Null indices lead to no value that could have the default as its result.
        if self._has_default() and arrays[0].null_count:
            return None
        return over_values(arrays[0], lambda values: self._called([values]))

    def require_device(self, *columns: s.DataType) -> None:
        """Make sure that a device runs the function for columns of those types, before any is there.

        Raises:
            UnsupportedError: If it does not, for a reason that is known before the kernel compiles.
            TypeError, CompileError: As a call with such columns would.
        """
        pairs = zip(self.signature.parameters, map(decoded_type, columns), strict=True)
        self._plan_on_device(tuple([self._read_as(*pair) for pair in pairs]))

    def _plan_on_device(self, columns: tuple[s.DataType, ...]) -> Counted:
        from colkern.rows.device import OnDevice
        from colkern.rows.plan import Plan

        if columns not in self._rows_on_device:
            plan = self.row_plan(columns)
            if not isinstance(plan, Plan):
                raise UnsupportedError(f"{self.name} on a device: it runs in Python")
            self._rows_on_device[columns] = self._counted(OnDevice(plan))
        return self._rows_on_device[columns]

    def _on_device(self, arrays: Sequence[Array]) -> Array:
        plain = self._plain(arrays)
        plan = self._plan_on_device(tuple([array.type for array in plain]))
        return plan.run(plain, plain[0].length)

    # Defaults

    def _filled(self, default: Array | None, results: Array, arrays: Sequence[Array]) -> Array:
        """Results with a default value where the function was not called.

        Args:
            default: The value; None if it has the type of the results.
        """

        may = self._nullable()
        required = [array for array, taken in zip(arrays, may, strict=True) if not taken]
        called = combine_validity(required)[0]
        if called is None:
            return results
        if default is None:
            default = self._default(results.type)
        return filled(results, called, default)

    def _has_default(self) -> bool:
        return not (isinstance(self.nulls, str) and self.nulls in ("propagate", "pass"))

    def _default(self, returns: s.DataType) -> Array:
        """The result for nulls as an array of one slot."""

        return default_array(self.name, self.nulls, returns)


# Results where an argument is null


_BYTES = (s.Binary, s.LargeBinary)


def default_array(name: str, value: Any, returns: s.DataType) -> Array:
    """A default value as an array of one slot.

    Args:
        name: The function's name, for messages.
        value: The value. Bytes are taken for text too, so that a text may be "propagate" or "pass".
        returns: The type of the results; null if there are none but this.

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
        given = without_addresses(repr(value))
        raise ValueError(
            f"{name}: nulls: expected 'propagate', 'pass' or a value of {returns}, got {given}"
        ) from error


@on_its_device
def filled(results: Array, called: Buffer, default: Array) -> Array:
    """Results with a default value where the function was not called.

    Args:
        results: What was made where it was called, in host memory or on a device.
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

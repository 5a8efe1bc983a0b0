"""The kernel that calls a user's function for each row of columns on a device, and puts its results away.

It is written in the language that users write kernels in, and translated as those are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.cuda import adapter
from colkern.errors import InvalidArrowError
from colkern.generated import function_of_text
from colkern.jit.device.calls import Emitted
from colkern.jit.device.emitter import Shared, Value
from colkern.jit.device.kernels import CudaKernel
from colkern.jit.device.kinds import NOTHING, PLAIN, Decimal
from colkern.jit.device.result_columns import Output
from colkern.jit.device.statements import Statements
from colkern.jit.rows.arguments import Reader
from colkern.jit.rows.flags import NARROWED_MESSAGE
from colkern.kernels import decimal_words
from colkern.rows.encoded import decoded_type

PLACE_BITS = 16
"""An error is its row, shifted by so many bits, and the number of what was noted there."""

_SOURCE = """\
def row({parameters}):
    if {called}:
        put(i, function({values}))


def over_rows(count, failed, {parameters_of_kernel}):
    errors = notes()
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        errors[0] = 0
        row({parameters})
        if errors[0] != 0:
            cuda.atomic.min(failed, 0, (uint64(i) << uint64({bits})) | uint64(errors[0]))
"""


@dataclass(frozen=True)
class Argument:
    """A column of a function of a row.

    Args:
        reader: How it is read on the host: says what the function gets.
        type: Its type.
        nullable: Whether the function gets None for a null.
    """

    reader: Reader
    type: s.DataType
    nullable: bool

    def value(self, name: str) -> str:
        """The expression for the value in row `i`."""
        found = self._present(name)
        if self.nullable and self._has_nulls():
            return f"({found} if {name}.is_valid(i) else None)"
        return found

    def condition(self, name: str) -> str:
        """The expression for whether the function can be called; none if it always can."""
        return "" if self.nullable or not self._has_nulls() else f"{name}.is_valid(i)"

    def _has_nulls(self) -> bool:
        # What is null in a union is a value of a child, which the function looks at.
        return not isinstance(decoded_type(self.type).storage, s.Union)

    def _present(self, name: str) -> str:
        found = f"{name}.value(i)"
        if self.reader.value == "int64":
            return f"{self._integer()}({found})"
        return f"float64({found})" if self.reader.value == "float64" else found

    def _integer(self) -> str:
        """What makes a value that integer of 64 bits which the function gets."""
        storage = decoded_type(self.type).storage
        if not isinstance(storage, s.Decimal):
            return "int64"
        return "narrowed" if storage.precision > s.MAX_DECIMAL_PRECISION[64] else "unscaled"


def row_kernel(
    function: Callable[..., Any], arguments: Sequence[Argument], output: Output
) -> CudaKernel:
    """The kernel for a function: of a count, a place for the first error, columns, and `output.rooms()`.

    An error is a uint64 as `PLACE_BITS` says; that of the first row is kept, and what stands there before
    must be larger.
    """
    source = kernel_source(arguments, output)
    namespace = {
        "__name__": __name__,
        "function": function,
        "put": Emitted(lambda e, values: _put(e, output, *values)),
        "unscaled": Emitted(lambda e, values: _unscaled(e, values, *_MORE_THAN_ITS_TYPE)),
        "narrowed": Emitted(lambda e, values: _unscaled(e, values, *_MORE_THAN_DECLARED)),
        "notes": Emitted(lambda e, _: Value(PLAIN, (e.need(Shared("errors")),))),
        "cuda": adapter.compiler(),
        "int64": np.int64,
        "uint64": np.uint64,
        "float64": np.float64,
    }
    kernel = function_of_text("over_rows", source, namespace, "udf on a device")
    return CudaKernel(kernel, None, {}, by_row=True)


def kernel_source(arguments: Sequence[Argument], output: Output) -> str:
    """The text of the kernel."""
    names = [f"a{k}" for k in range(len(arguments))]
    pairs = list(zip(arguments, names, strict=True))
    conditions = [argument.condition(name) for argument, name in pairs]
    parameters = ", ".join([*names, *(room.name for room in output.rooms())])
    return _SOURCE.format(
        parameters=f"i, {parameters}",
        parameters_of_kernel=parameters,
        called=" and ".join(filter(None, conditions)) or "True",
        values=", ".join(argument.value(name) for argument, name in pairs),
        bits=PLACE_BITS,
    )


def _put(e: Statements, output: Output, row: Value, value: Value) -> Value:
    output.store(e, value, e.bind(f"_ck_u8({row.parts[0]})"))
    return Value(NOTHING, ())


_MORE_THAN_ITS_TYPE = InvalidArrowError, "a decimal has more digits than its type says"
_MORE_THAN_DECLARED = OverflowError, NARROWED_MESSAGE


def _unscaled(
    e: Statements, values: Sequence[Value], error: type[Exception], message: str
) -> Value:
    """A decimal of up to 18 digits as the integer that they are; an error if it has more."""
    (value,) = values
    assert isinstance(value.kind, Decimal)
    lowest, *higher = value.parts
    if higher:
        filling = e.bind(e.call(decimal_words.filling, lowest))
        fits = " and ".join(f"{word} == {filling}" for word in higher)
        e.check(f"({fits})", error, message)
    return Value(PLAIN, (e.bind(f"_ck_i8({lowest})"),))

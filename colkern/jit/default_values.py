"""The value that results have where an argument is null and the function is not called."""

from __future__ import annotations

from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.errors import without_addresses
from colkern.memory import Buffer
from colkern.operations import concat, nulls, take, unpack_bits
from colkern.operations.moving import to_device
from colkern.targets import on_its_device, target_of

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
        return array([default], None if returns == s.null() else returns)
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

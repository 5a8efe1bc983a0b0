"""Results of casts, and the error for a value that the result's type does not have."""

from __future__ import annotations

from numpy.typing import DTypeLike

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import Kernel
from colkern.operations.operands import validity_of
from colkern.operations.validity import with_nulls_of
from colkern.targets import NOWHERE, Argument, Items, target_of


def fixed_result(array: Array, type: s.DataType, data: Items) -> Array:
    """The array of that type whose values are `data` and whose nulls are the array's."""
    return with_nulls_of(array, type, [target_of(array.device).buffer(data)])


def retyped(array: Array, type: s.DataType) -> Array:
    """The same buffers under another type of the same layout."""
    return array.over(type, array.buffers, array.children, array.dictionary)


def mapped(
    array: Array, type: s.DataType, dtype: DTypeLike, kernel: Kernel, items: Items, *args: Argument
) -> Array:
    """The output (of that dtype) of a kernel that takes `items`, `args` and the output."""
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    target.map(kernel, array.length, items, *args, out)
    return fixed_result(array, type, out)


def checked(
    array: Array, type: s.DataType, dtype: DTypeLike, kernel: Kernel, items: Items, *args: Argument
) -> tuple[Array, int | None]:
    """As `mapped`, and the first valid slot that the kernel objects to, or None.

    The kernel takes the validity after `items`.
    """
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    validity = validity_of(array, target)
    slot = target.reduce(kernel, array.length, items, *validity, *args, out)
    return fixed_result(array, type, out), None if slot == NOWHERE else slot


def no_value(array: Array, type: s.DataType, slot: int, value: object, why: str) -> ValueError:
    """The error for a value that the type does not have."""
    return ValueError(
        f"slot {slot}: {value} is no {type}: {why}; cast with safe=False to let it pass"
    )

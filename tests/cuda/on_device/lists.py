"""Lists in all their layouts, and structs."""

from __future__ import annotations

from cuda.on_device.operation import Operation

from colkern import operations as ops
from colkern.arrays import Array, RecordBatch


def exploded(array: Array, picks: Array) -> tuple[Array, ...]:
    """The columns of a batch of lists that is exploded, with and without null elements."""
    batch = RecordBatch.from_arrays([array, ops.list_value_length(array)], ["a", "b"])
    whole = ops.explode(batch, "a")
    return *whole.columns, *ops.explode(batch, "a", empty_as_null=False, keep_nulls=False).columns


def evenly(array: Array, picks: Array) -> Array:
    """Lists of one length there and back, by way of views whose elements are copied."""
    plain = ops.fixed_size_list_to_list(array)
    return ops.list_to_fixed_size_list(ops.list_to_list_view(plain), 2)


OF_LISTS: dict[str, Operation] = {
    "list_flatten": lambda array, picks: ops.list_flatten(array),
    "list_value_length": lambda array, picks: ops.list_value_length(array),
    "list_parent_indices": lambda array, picks: ops.list_parent_indices(array),
    "explode": exploded,
}
LISTS = ("list", "large_list", "list_view", "large_list_view", "fixed_size_list", "map")

OPERATIONS: dict[str, tuple[str, Operation]] = {
    **{f"{what} of {name}": (name, run) for what, run in OF_LISTS.items() for name in LISTS},
    "list_to_list_view": ("list", lambda array, picks: ops.list_to_list_view(array)),
    "list_view_to_list": ("list_view", lambda array, picks: ops.list_view_to_list(array)),
    "list_view_to_list, out of order": (
        "list_view",
        lambda array, picks: ops.list_view_to_list(ops.take(array, picks)),
    ),
    "list_with_offsets of lists": ("list", lambda array, picks: ops.list_with_offsets(array, 64)),
    "list_with_offsets of views": (
        "large_list_view",
        lambda array, picks: ops.list_with_offsets(array, 32),
    ),
    "fixed_size_list_to_list": (
        "fixed_size_list",
        lambda array, picks: ops.fixed_size_list_to_list(array),
    ),
    "list_to_fixed_size_list": ("fixed_size_list", evenly),
    "list_element": ("fixed_size_list", lambda array, picks: ops.list_element(array, 1)),
    "struct_flatten of structs": (
        "struct",
        lambda array, picks: tuple(ops.struct_flatten(array)),
    ),
}

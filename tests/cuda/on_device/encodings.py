"""Run-end encoded arrays, arithmetic on them and on others, unions."""

from __future__ import annotations

from cuda.on_device.operation import Operation

from colkern import operations as ops
from colkern.arrays import Array
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.selection.runs import filter_runs


def some_bits(picks: Array) -> Buffer:
    """Some bits, where the picks are."""
    bits = picks.buffer(Role.DATA)
    assert bits is not None
    return bits


def both_ways(run: Operation) -> Operation:
    """With a number on either side, and with another array."""
    return lambda array, picks: [run(array, 3), run(3, array), run(array, run(array, 1))]


def divided(array: Array, picks: Array) -> Array:
    return ops.divide(array, ops.add(ops.abs(array), 1))


ARITHMETIC: dict[str, Operation] = {
    "add": both_ways(ops.add),
    "subtract": both_ways(ops.subtract),
    "multiply": both_ways(ops.multiply),
    "divide": lambda array, picks: ops.divide(array, 3),
    "negate": lambda array, picks: ops.negate(array),
    "abs": lambda array, picks: ops.abs(array),
}
NUMBERS = ("int8", "int64, no nulls", "run-end encoded")
ENCODED = ("bool", "int8", "decimal128", "utf8", "utf8_view", "struct", "dictionary")

OPERATIONS: dict[str, tuple[str, Operation]] = {
    "run_end_decode": ("run-end encoded", lambda array, picks: ops.run_end_decode(array)),
    "run_end_decode of strings": (
        "run-end encoded, int64 ends",
        lambda array, picks: ops.run_end_decode(array),
    ),
    **{
        f"run_end_encode of {name}": (name, lambda array, picks: ops.run_end_encode(array))
        for name in ENCODED
    },
    "find_runs": ("run-end encoded", ops.find_runs),
    "filter_runs": (
        "run-end encoded",
        lambda array, picks: filter_runs(array, some_bits(picks), 3),
    ),
    **{f"{what} {name}": (name, run) for what, run in ARITHMETIC.items() for name in NUMBERS},
    "add other runs": (
        "run-end encoded",
        lambda array, picks: ops.add(array.slice(1), array.slice(0, len(array) - 1)),
    ),
    "divide arrays": ("int8", divided),
    "select_child of a dense union": (
        "dense union",
        lambda array, picks: ops.select_child(array, 1),
    ),
    "select_child of a sparse union": (
        "sparse union",
        lambda array, picks: ops.select_child(array, 0),
    ),
    "to_sparse_union": ("dense union", lambda array, picks: ops.to_sparse_union(array)),
    "to_dense_union": ("sparse union", lambda array, picks: ops.to_dense_union(array)),
}

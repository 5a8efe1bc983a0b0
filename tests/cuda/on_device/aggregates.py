"""Aggregates."""

from __future__ import annotations

from cuda.on_device.operation import Operation

from colkern import operations as ops

AGGREGATES: dict[str, tuple[Operation, tuple[str, ...]]] = {
    "sum": (
        ops.sum,
        (
            "bool",
            "int8",
            "int64, no nulls",
            "float16",
            "decimal128",
            "decimal256",
            "run-end encoded",
        ),
    ),
    "mean": (ops.mean, ("int64, no nulls", "decimal128")),
    "max": (ops.max, ("uint16", "float16", "decimal256", "date32", "run-end encoded")),
    "min_max": (ops.min_max, ("bool", "int8", "int64, no nulls", "timestamp")),
    "count": (ops.count, ("int8", "dictionary", "run-end encoded", "null")),
}


def aggregated(operation: Operation) -> Operation:
    return lambda array, picks: operation(array)


OPERATIONS: dict[str, tuple[str, Operation]] = {
    f"{what} of {name}": (name, aggregated(operation))
    for what, (operation, names) in AGGREGATES.items()
    for name in names
}

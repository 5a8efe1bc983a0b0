"""`if_else`, `interleave`, `repeat` and `reverse`, of what is copied in each way."""

from __future__ import annotations

from cuda.on_device.booleans import mask_like
from cuda.on_device.operation import Operation, beside, mirrored
from operations.samples import ints

import colkern as ck
from colkern import operations as ops
from colkern.arrays import Array
from colkern.operations.moving import to_host

SAMPLES = ("bool", "int8", "utf8", "utf8_view", "list", "struct", "dense union", "run-end encoded")


def chosen(array: Array, picks: Array) -> Array:
    return ops.if_else(mask_like(array), array, ops.take(array, mirrored(array)))


def chosen_or_null(array: Array, picks: Array) -> Array:
    return ops.if_else(mask_like(array), None, array)


def interleaved(array: Array, picks: Array) -> Array:
    pairs = [{"array": i % 2, "row": i} for i in to_host(picks).to_pylist()]
    return ops.interleave([array, ops.take(array, mirrored(array))], beside(array, ck.array(pairs)))


def repeated(array: Array, picks: Array) -> Array:
    return ops.repeat(array, beside(array, ints([i % 4 for i in range(len(array))])))


EVERY: dict[str, Operation] = {
    "if_else": chosen,
    "if_else with null": chosen_or_null,
    "interleave": interleaved,
    "repeat by numbers": repeated,
    "repeat by one number": lambda array, picks: ops.repeat(array, 3),
    "reverse": lambda array, picks: ops.reverse(array),
}

OPERATIONS = {
    f"{what} of {name}": (name, run) for what, run in EVERY.items() for name in SAMPLES
} | {
    "if_else with a value": (
        "utf8",
        lambda array, picks: ops.if_else(mask_like(array), array, "a value"),
    ),
}

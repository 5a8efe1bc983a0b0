"""Strings, and what is equal or less."""

from __future__ import annotations

from typing import Any

from cuda.on_device.operation import Operation, mirrored
from operations.samples import sample

import colkern as ck
from colkern import operations as ops

FLAT = ("bool", "int8", "float16", "decimal128", "fixed_size_binary", "timestamp")
VALUES: dict[str, Any] = {str(sample(name).type): sample(name).to_pylist()[3] for name in FLAT}

OF_STRINGS: dict[str, Operation] = {
    "string_is_ascii": lambda array, picks: ops.string_is_ascii(array),
    "is_ascii": lambda array, picks: ops.is_ascii(array),
    "utf8_length": lambda array, picks: ops.utf8_length(array),
    "binary_length": lambda array, picks: ops.binary_length(array),
    "starts_with": lambda array, picks: ck.starts_with(array, "t"),
    "ends_with": lambda array, picks: ck.ends_with(array, "byte"),
    "equal to a string": lambda array, picks: ops.equal(array, "zz"),
    "equal": lambda array, picks: ops.equal(array, ops.take(array, mirrored(array))),
    "less than a string": lambda array, picks: ops.less(array, "twelve"),
    "less_equal": lambda array, picks: ops.less_equal(array, ops.take(array, mirrored(array))),
}
OF_VALUES: dict[str, Operation] = {
    "equal": lambda array, picks: ops.equal(array, ops.take(array, mirrored(array))),
    "not_equal to a value": lambda array, picks: ops.not_equal(array, VALUES[str(array.type)]),
    "greater": lambda array, picks: ops.greater(array, ops.take(array, mirrored(array))),
    "less_equal to a value": lambda array, picks: ops.less_equal(array, VALUES[str(array.type)]),
}

OPERATIONS: dict[str, tuple[str, Operation]] = {
    **{
        f"{what} of {name}": (name, run)
        for what, run in OF_STRINGS.items()
        for name in ("utf8", "utf8_view", "run-end encoded, int64 ends", "dictionary")
    },
    **{f"{what} of {name}": (name, run) for what, run in OF_VALUES.items() for name in FLAT},
}

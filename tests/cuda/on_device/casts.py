"""Casts."""

from __future__ import annotations

from cuda.on_device.operation import Operation

from colkern import schema as s
from colkern.operations import cast

CASTS: dict[str, list[s.DataType]] = {
    "bool": [s.int8(), s.float16(), s.float64()],
    "int8": [s.int64(), s.bool_(), s.float32(), s.decimal128(20, 2), s.decimal32(9, 1)],
    "int64, no nulls": [s.int8(), s.uint32(), s.float64(), s.float16(), s.decimal256(40, 3)],
    "float16": [s.float32(), s.bool_()],
    "decimal128": [s.decimal64(18, 4), s.decimal128(20, 0), s.int32(), s.float64()],
    "decimal256": [s.decimal128(38, 0), s.decimal256(70, 8), s.float32()],
    "timestamp": [s.timestamp("ns"), s.date32(), s.date64(), s.time64("us"), s.int64()],
    "date32": [s.date64(), s.timestamp("ms"), s.int32()],
    "fixed_size_binary": [s.binary(), s.large_utf8(), s.utf8_view()],
    "utf8": [s.large_utf8(), s.binary(), s.binary_view()],
    "large_binary": [s.utf8(), s.binary_view()],
    "utf8_view": [s.large_utf8(), s.binary_view()],
    "list": [s.large_list(s.int64())],
    "list_view": [s.large_list_view(s.int8())],
    "fixed_size_list": [s.fixed_size_list(s.int64(), 2)],
    "map": [s.map_(s.large_utf8(), s.int64())],
    "struct": [s.struct([("y", s.large_utf8()), ("z", s.int8())])],
    "dictionary": [s.large_utf8(), s.dictionary(s.int32(), s.large_utf8())],
    "run-end encoded": [s.float32(), s.run_end_encoded(s.int64(), s.float32())],
    "extension": [s.int64()],
}


def cast_to(wanted: s.DataType) -> Operation:
    return lambda array, picks: cast(array, wanted)


OPERATIONS: dict[str, tuple[str, Operation]] = {
    f"cast of {name} to {wanted}": (name, cast_to(wanted))
    for name, types in CASTS.items()
    for wanted in types
}

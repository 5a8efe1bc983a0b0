"""One array of every layout, with nulls where the layout has them, made by pyarrow."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
from arrow_oracle import from_pyarrow
from by_hand import buffer as buffer

import colkern.schema as s
from colkern.arrays import Array
from colkern.layouts import LayoutKind

TEXTS = ["a", None, "", "twelve bytes", "thirteen byte", "ü", None, "x" * 40, "b", "a", "zz", None]
LISTS = [[1, 2], None, [], [3], [None, 4], [5] * 9, None, [6], [7, 8, 9], [], [10], None]
DENSE = [5, 3, 5, 5, 3, 3, 5, 3, 5, 3, 3, 5]


class Celsius(pa.ExtensionType):  # type: ignore[misc]
    """Degrees, as an extension type."""

    def __init__(self) -> None:
        super().__init__(pa.int16(), "colkern.test.celsius")

    def __hash__(self) -> int:
        return hash(self.extension_name)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Celsius:
        return cls()


def _dense_union() -> pa.Array:
    children = [pa.array([1, None, 3, 4, 5, 6]), pa.array(["a", "b", None, "d", "e", "f"])]
    seen = {5: 0, 3: 0}
    offsets = []
    for code in DENSE:
        offsets.append(seen[code])
        seen[code] += 1
    ids = pa.array(DENSE, pa.int8())
    return pa.UnionArray.from_dense(
        ids, pa.array(offsets, pa.int32()), children, ["n", "t"], [5, 3]
    )


def _sparse_union() -> pa.Array:
    children = [pa.array([1, None, *range(10)]), pa.array(TEXTS)]
    ids = pa.array(DENSE, pa.int8())
    return pa.UnionArray.from_sparse(ids, children, ["n", "t"], [5, 3])


def _views(type_: pa.DataType) -> pa.Array:
    # Two data buffers: joined pieces keep theirs.
    return pa.concat_arrays([pa.array(TEXTS[:6], type_), pa.array(TEXTS[6:], type_)])


def _run_ends(type_: pa.DataType, values: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7, 12], type_), values)


@cache
def samples() -> dict[str, pa.Array]:
    """Twelve slots each."""
    numbers = [1, None, -3, 4, None, 6, 7, 8, 9, 10, 11, None]
    values = pa.array([1.5, None, -2.5, 8.0])
    structs = [None if n is None else {"x": n, "y": str(n)} for n in numbers]
    result = {
        "null": pa.nulls(12),
        "bool": pa.array(
            [True, None, False, True, None, True, False, True, True, None, True, True]
        ),
        "int8": pa.array(numbers, pa.int8()),
        "int64, no nulls": pa.array(range(12)),
        "uint16": pa.array([None if n is None else abs(n) for n in numbers], pa.uint16()),
        "float16": pa.array([None if n is None else n / 2 for n in numbers], pa.float16()),
        "decimal128": pa.array(
            [None if n is None else Decimal(n) for n in numbers], pa.decimal128(30, 2)
        ),
        "decimal256": pa.array(
            [None if n is None else Decimal(n) for n in numbers], pa.decimal256(60, 2)
        ),
        "timestamp": pa.array(numbers, pa.timestamp("us", "UTC")),
        "date32": pa.array([None if n is None else dt.date(2020, 1, abs(n)) for n in numbers]),
        "month_day_nano": pa.array(
            [None if n is None else pa.MonthDayNano([n, 2 * n, 3 * n]) for n in numbers]
        ),
        "fixed_size_binary": pa.array(
            [None if n is None else str(n).rjust(7).encode() for n in numbers], pa.binary(7)
        ),
        "fixed_size_binary of 0 bytes": pa.array(
            [None if n is None else b"" for n in numbers], pa.binary(0)
        ),
        "utf8": pa.array(TEXTS),
        "large_binary": pa.array(
            [None if t is None else t.encode() for t in TEXTS], pa.large_binary()
        ),
        "utf8_view": _views(pa.string_view()),
        "binary_view": _views(pa.binary_view()),
        "list": pa.array(LISTS, pa.list_(pa.int16())),
        "large_list": pa.array(LISTS, pa.large_list(pa.int64())),
        "list_view": pa.array(LISTS, pa.list_view(pa.int32())),
        "large_list_view": pa.array(LISTS, pa.large_list_view(pa.int32())),
        "fixed_size_list": pa.array(
            [None if n is None else [n, None] for n in numbers], pa.list_(pa.int32(), 2)
        ),
        "fixed_size_list of 0": pa.array(
            [None if n is None else [] for n in numbers], pa.list_(pa.int32(), 0)
        ),
        "map": pa.array(
            [None if n is None else [(str(n), n), ("k", None)] for n in numbers],
            pa.map_(pa.utf8(), pa.int32()),
        ),
        "struct": pa.array(structs),
        "struct without fields": pa.array([None, *[{}] * 11], pa.struct([])),
        "list of structs": pa.array([structs[:3], None, [], structs[3:5]] * 3),
        "list of views": pa.array([TEXTS[:5], None, TEXTS[5:]] * 4, pa.list_(pa.string_view())),
        "dense union": _dense_union(),
        "sparse union": _sparse_union(),
        "dictionary": pa.DictionaryArray.from_arrays(
            pa.array([0, None, 2, 1, 0, 3, None, 2, 2, 1, 0, 3], pa.int8()),
            pa.array(["x", "yy", None, "zzz"]),
        ),
        "run-end encoded": _run_ends(pa.int16(), values),
        "run-end encoded, int64 ends": _run_ends(pa.int64(), pa.array(["p", None, "q", "r"])),
        "extension": pa.ExtensionArray.from_storage(Celsius(), pa.array(numbers, pa.int16())),
    }
    assert all(len(array) == 12 for array in result.values())
    return result


def sample(name: str) -> Array:
    return from_pyarrow(samples()[name])


def sample_layouts() -> set[LayoutKind]:
    return {sample(name).layout.kind for name in samples()}


# Arrays by hand.


def ints(values: Sequence[int | None], type_: s.DataType | None = None) -> Array:
    """An integer array of colkern's."""
    names: dict[s.DataType, Any] = {
        s.int8(): pa.int8(),
        s.int32(): pa.int32(),
        s.uint64(): pa.uint64(),
    }
    return from_pyarrow(pa.array(values, names.get(type_, pa.int64()) if type_ else pa.int64()))

"""A number for any value of any type: compiled over columns, and in plain Python over pyarrow's scalars.

Numbers count as their bits, byte strings by length and first byte, lists, rows and unions by their parts
in order, nulls as a number of their own. The two sides share nothing but these words.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit, types
from numba.extending import overload
from numpy import int64, uint64

import colkern.schema as s
from colkern.cpu.primitives import get_byte
from colkern.jit.elements.memory import keep, raw
from colkern.jit.elements.types import MomentType, SequenceType
from colkern.jit.lowering import unwrapped
from colkern.jit.values.decimal_numbers import DecimalType
from colkern.jit.views.column_types import ColumnType, RowType

NULL = 7
STEP = 1_000_003
MASK = 2**64 - 1

# Compiled


def digest(value: Any) -> Any:
    raise NotImplementedError


@overload(digest)
def _ol_digest(value):  # type: ignore[no-untyped-def]
    for kind, implementation in _DIGESTS:
        if isinstance(value, kind):
            return implementation(value)
    return None


@njit
def fold(total, part):  # type: ignore[no-untyped-def]
    return total * uint64(STEP) + part


def _optional(value):  # type: ignore[no-untyped-def]
    if value is None:
        return uint64(NULL)
    return digest(unwrapped(value))


def _each(value):  # type: ignore[no-untyped-def]
    total = uint64(0)
    for part in value:
        total = fold(total, digest(part))
    return total


def _bytes(value):  # type: ignore[no-untyped-def]
    size = value._ck_size
    total = uint64(size * 1000 + (get_byte(value._ck_address) if size else 0))
    keep(value)
    return total


def _moment(value):  # type: ignore[no-untyped-def]
    return uint64(raw(value))


def _words(value):  # type: ignore[no-untyped-def]
    total = uint64(0)
    for word in value.words:
        total = fold(total, word)
    return total


def _interval(value):  # type: ignore[no-untyped-def]
    total = fold(uint64(0), uint64(int64(value.months)))
    return fold(fold(total, uint64(int64(value.days))), uint64(value.nanoseconds))


def _row(row: RowType) -> Any:
    data_type = row.column.data_type
    if isinstance(data_type, s.Union):
        parts = [
            f"    if value.type_id == {code}:\n        total = fold(total, digest(value.child({k})))"
            for k, code in enumerate(data_type.type_codes)
        ]
        start = "uint64(int64(value.type_id))"
    else:
        parts = [f"    total = fold(total, digest(value[{f.name!r}]))" for f in data_type.fields]
        start = "uint64(0)"
    lines = ["def row(value):", f"    total = {start}", *parts, "    return total"]
    namespace = {"digest": digest, "fold": fold, "uint64": uint64, "int64": int64}
    exec("\n".join(lines), namespace)
    return namespace["row"]


_DIGESTS: list[tuple[Any, Callable[[Any], Any]]] = [
    (types.NoneType, lambda _: lambda value: uint64(NULL)),
    (types.Optional, lambda _: _optional),
    (types.Float, lambda _: lambda value: np.float64(value).view(uint64)),
    (MomentType, lambda _: _moment),
    (types.Integer | types.Boolean, lambda _: lambda value: uint64(int64(value))),
    (SequenceType, lambda _: _bytes),
    (DecimalType, lambda _: _words),
    (types.BaseNamedTuple, lambda _: _interval),
    (RowType, _row),
    (ColumnType, lambda _: _each),
]


@njit
def compiled_digest(column):  # type: ignore[no-untyped-def]
    return digest(column)


# In plain Python


def folded(parts: Iterable[int], start: int = 0) -> int:
    total = start & MASK
    for part in parts:
        total = (total * STEP + part) & MASK
    return total


def array_digest(array: pa.Array) -> int:
    return folded(digests(array))


def digests(array: pa.Array) -> list[int]:
    """The digest of each slot."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return digests(array.storage)
    if pa.types.is_run_end_encoded(kind):
        values = digests(array.values)
        ends = array.run_ends.to_pylist()
        places = range(array.offset, array.offset + len(array))
        return [values[bisect.bisect_right(ends, place)] for place in places]
    if pa.types.is_union(kind):
        return _union_digests(array)
    if pa.types.is_dictionary(kind):
        values = digests(array.dictionary)
        return [NULL if i is None else values[i] for i in array.indices.to_pylist()]
    if pa.types.is_struct(kind):
        fields = [digests(array.field(k)) for k in range(kind.num_fields)]
        valid = array.is_valid().to_pylist()
        rows = zip(*fields, strict=True) if fields else [()] * len(array)
        return [folded(row) if ok else NULL for row, ok in zip(rows, valid, strict=True)]
    if pa.types.is_map(kind):
        return [NULL if not m.is_valid else folded(digests(m.values)) for m in array]
    if pa.types.is_nested(kind):
        return [NULL if not part.is_valid else array_digest(part.values) for part in array]
    return [_leaf_digest(scalar) if scalar.is_valid else NULL for scalar in array]


def _union_digests(array: pa.UnionArray) -> list[int]:
    kind = array.type
    codes = kind.type_codes
    fields = [digests(array.field(k)) for k in range(kind.num_fields)]
    places: Any = range(len(array))
    if kind.mode == "dense":
        places = _sliced(array, 2, np.int32)
    ids = _sliced(array, 1, np.int8)
    return [
        folded([fields[codes.index(code)][place]], code)
        for code, place in zip(ids, places, strict=True)
    ]


def _sliced(array: pa.Array, buffer: int, dtype: Any) -> list[int]:
    """The items of a buffer for an array's slots: pyarrow's own attributes forget the offset."""
    items = np.frombuffer(array.buffers()[buffer], dtype)
    return [int(item) for item in items[array.offset : array.offset + len(array)]]


def _leaf_digest(scalar: pa.Scalar) -> int:
    kind = scalar.type
    if pa.types.is_decimal(kind):
        return _decimal_digest(scalar)
    if pa.types.is_temporal(kind) and kind != pa.month_day_nano_interval():
        return int(scalar.value) & MASK
    return _plain_digest(scalar.as_py())


def _decimal_digest(scalar: pa.Scalar) -> int:
    words = max(scalar.type.bit_width // 64, 1)
    sign, figures, _ = scalar.as_py().as_tuple()
    magnitude = int("".join(map(str, figures)))
    number = (-magnitude if sign else magnitude) % (1 << (64 * words))
    return folded(number >> (64 * k) & MASK for k in range(words))


def _plain_digest(value: Any) -> int:
    if isinstance(value, str):
        return _plain_digest(value.encode())
    if isinstance(value, bytes):
        return len(value) * 1000 + (value[0] if value else 0)
    if isinstance(value, float):
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return int(bits)
    if isinstance(value, tuple):
        return folded(part & MASK for part in value)
    return int(value) & MASK

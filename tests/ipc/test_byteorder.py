"""Big-endian bodies: every number reversed, text left alone; pyarrow reads the same messages."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
from flatbuf import Type
from ipc.handmade import EOS, Batch, WireField, int_type, plain_type, schema_message

import colkern.ipc

INT16 = WireField("i", Type.Int, int_type(16, True))


def big(values: list[int], width: int) -> bytes:
    return b"".join(value.to_bytes(width, "big", signed=True) for value in values)


def column(field: WireField, batch: Batch) -> list[Any]:
    data = schema_message([field], big_endian=True) + batch.message() + EOS
    (ours,) = colkern.ipc.open(data)
    values = ours.column(0).to_pylist()
    if field.type_number != Type.Utf8View:
        # pyarrow does not swap views.
        (theirs,) = pa.ipc.open_stream(data)
        assert theirs.column(0).to_pylist() == values
    return values


def test_integers_are_reversed() -> None:
    assert column(INT16, Batch(3, [(3, 1)], [b"\x05", big([-2, 0, 300], 2)])) == [-2, None, 300]


def test_floats_are_reversed() -> None:
    field = WireField("f", Type.FloatingPoint, plain_type("FloatingPoint", precision=2))
    values = np.array([1.5, -2.0, 1e300])
    assert column(field, Batch(3, [(3, 0)], [b"", values.astype(">f8").tobytes()])) == list(values)


def test_decimals_are_reversed_as_a_whole() -> None:
    slots = {"precision": 30, "scale": 0, "bitWidth": 128}
    field = WireField("d", Type.Decimal, plain_type("Decimal", **slots))
    values = [-(10**25), 7, 10**29]
    assert column(field, Batch(3, [(3, 0)], [b"", big(values, 16)])) == values


def test_intervals_are_reversed_part_by_part() -> None:
    field = WireField("i", Type.Interval, plain_type("Interval", unit=2))
    (value,) = column(field, Batch(1, [(1, 0)], [b"", struct.pack(">iiq", 1, -2, 3)]))
    assert tuple(value) == (1, -2, 3)


def test_offsets_are_reversed_and_text_is_not() -> None:
    field = WireField("t", Type.Utf8, plain_type("Utf8"))
    batch = Batch(2, [(2, 0)], [b"", struct.pack(">3i", 0, 2, 5), b"abcde"])
    assert column(field, batch) == ["ab", "cde"]


def test_fixed_size_binary_is_not_reversed() -> None:
    field = WireField("b", Type.FixedSizeBinary, plain_type("FixedSizeBinary", byteWidth=2))
    assert column(field, Batch(2, [(2, 0)], [b"", b"abcd"])) == [b"ab", b"cd"]


def test_children_are_reversed() -> None:
    field = WireField("l", Type.List, plain_type("List"), [INT16])
    buffers = [b"", struct.pack(">3i", 0, 1, 3), b"", big([1, 2, 3], 2)]
    assert column(field, Batch(2, [(2, 0), (3, 0)], buffers)) == [[1], [2, 3]]


def test_dictionary_indices_and_values_are_reversed() -> None:
    field = WireField("d", Type.Int, int_type(16, True), dictionary=0)
    data = schema_message([field], big_endian=True)
    data += Batch(2, [(2, 0)], [b"", big([258, 772], 2)]).dictionary_message(0)
    data += Batch(3, [(3, 0)], [b"", big([1, 0, 1], 4)]).message()
    (batch,) = colkern.ipc.open(data)
    assert batch["d"].to_pylist() == [772, 258, 772]


def test_views_are_reversed_but_for_their_text() -> None:
    field = WireField("v", Type.Utf8View, plain_type("Utf8View"))
    views = struct.pack(">i12s", 5, b"short") + struct.pack(">i4sii", 20, b"much", 0, 3)
    batch = Batch(2, [(2, 0)], [b"", views, b"...much longer than that"], variadic_counts=[1])
    assert column(field, batch) == ["short", "much longer than tha"]


def test_null_slots_of_views_may_hold_anything() -> None:
    field = WireField("v", Type.Utf8View, plain_type("Utf8View"))
    batch = Batch(1, [(1, 1)], [b"\0", b"\xff" * 16], variadic_counts=[0])
    assert column(field, batch) == [None]

"""Structures that break the rules of the C Data interface: refused, with their place."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest
from present import present

from colkern.errors import InvalidArrowError
from colkern.interchange import import_array, import_batch


def refused(producer: Any, schema: Any, array: Any, *words: str) -> None:
    with pytest.raises(InvalidArrowError) as caught:
        import_array(producer.exporter(schema, array))
    for word in words:
        assert word in str(caught.value)


def numbers(producer: Any) -> Any:
    return producer.array(3, [None, bytes(24)])


@pytest.mark.parametrize(
    ("member", "value", "word"),
    [
        ("length", -1, "-1"),
        ("offset", -1, "-1"),
        ("null_count", -2, "null count -2"),
        ("null_count", 1, "no validity bitmap"),
        ("n_buffers", 1, "1 buffers"),
        ("n_buffers", 3, "3 buffers"),
        ("n_buffers", -1, "-1 buffers"),
        ("n_buffers", 2**61, "buffers"),
        ("n_children", 1, "1 children"),
        ("n_children", -1, "-1 children"),
        ("length", 2**62, "bytes"),
        ("length", 2**63 - 1, "bytes"),
        ("offset", 2**63 - 1, "bytes"),
        ("release", None, "released"),
    ],
)
def test_members_of_an_array(producer: Any, member: str, value: Any, word: str) -> None:
    array = numbers(producer)
    setattr(array, member, value)
    refused(producer, producer.schema(), array, word)


def test_a_null_count_over_the_length(producer: Any) -> None:
    array = producer.array(3, [b"\x07", bytes(24)], null_count=4)
    refused(producer, producer.schema(name=b"a"), array, "field 'a'", "null count 4")


def test_no_buffer_pointers(producer: Any) -> None:
    array = numbers(producer)
    array.buffers = None
    refused(producer, producer.schema(), array, "NULL")


def test_a_buffer_that_is_needed_is_null(producer: Any) -> None:
    refused(producer, producer.schema(), producer.array(3, [None, None]), "data", "NULL", "24")
    refused(producer, producer.schema(b"u"), producer.array(1, [None, None, b"x"]), "offsets")
    offsets = struct.pack("=2i", 0, 1)
    refused(producer, producer.schema(b"u"), producer.array(1, [None, offsets, None]), "bytes")
    refused(producer, producer.schema(b"vu"), producer.array(1, [None, None, None]), "views")


def test_buffers_of_no_bytes_may_be_null(producer: Any) -> None:
    for text, count in ((b"l", 2), (b"u", 3), (b"U", 3), (b"vu", 3)):
        array = producer.array(0, [None] * count)
        assert len(import_array(producer.exporter(producer.schema(text), array))) == 0


@pytest.mark.parametrize(("text", "code"), [(b"u", "i"), (b"z", "i"), (b"U", "q"), (b"Z", "q")])
def test_a_negative_last_offset(producer: Any, text: bytes, code: str) -> None:
    offsets = struct.pack(f"=3{code}", 0, 2, -5)
    array = producer.array(2, [None, offsets, b"ab"])
    refused(producer, producer.schema(text, b"a"), array, "field 'a'", "last offset is -5")


def test_the_last_offset_is_the_one_of_the_slice(producer: Any) -> None:
    offsets = struct.pack("=4i", 0, 1, 3, -1)
    ours = import_array(
        producer.exporter(
            producer.schema(b"u"), producer.array(1, [None, offsets, b"abc"], offset=1)
        )
    )
    assert present(ours.buffers[2]).size == 3


@pytest.mark.parametrize("n_buffers", [0, 1, 2])
def test_a_view_has_a_buffer_of_sizes(producer: Any, n_buffers: int) -> None:
    array = producer.array(1, [None, bytes(16), None])
    array.n_buffers = n_buffers
    refused(producer, producer.schema(b"vu"), array, f"{n_buffers} buffers")


def test_an_absurd_number_of_view_data_buffers(producer: Any) -> None:
    array = producer.array(1, [None, bytes(16), None])
    array.n_buffers = 2**61
    refused(producer, producer.schema(b"vu"), array, "buffers")


def test_sizes_of_view_data(producer: Any) -> None:
    data = [None, bytes(16), b"abc"]
    refused(producer, producer.schema(b"vz"), producer.array(1, [*data, None]), "sizes", "NULL")
    refused(
        producer,
        producer.schema(b"vz"),
        producer.array(1, [*data, struct.pack("=q", -1)]),
        "-1 bytes",
    )
    refused(
        producer,
        producer.schema(b"vz"),
        producer.array(1, [*data, struct.pack("=q", 2**63 - 1)]),
        "bytes",
    )
    null = producer.array(1, [None, bytes(16), None, struct.pack("=q", 3)])
    refused(producer, producer.schema(b"vz"), null, "NULL")


def parent(
    producer: Any, text: bytes, buffers: list[bytes | None], length: int, **kwargs: Any
) -> Any:
    schema = producer.schema(text, b"top", children=[producer.schema(name=b"deep")])
    return schema, producer.array(length, buffers, children=[numbers(producer)], **kwargs)


@pytest.mark.parametrize(
    ("text", "buffers", "length", "offset"),
    [
        (b"+s", [None], 4, 0),
        (b"+s", [None], 2, 2),
        (b"+us:0", [bytes(4)], 4, 0),
        (b"+w:2", [None], 2, 0),
        (b"+w:1", [None], 3, 1),
        (b"+w:4", [None], 2**60, 0),
    ],
)
def test_a_child_that_is_too_short(
    producer: Any, text: bytes, buffers: list[bytes | None], length: int, offset: int
) -> None:
    pair = parent(producer, text, buffers, length, offset=offset)
    refused(producer, *pair, "'top'", "'deep'", "3 slots")


def test_a_column_that_is_too_short(producer: Any) -> None:
    batch = import_batch(producer.exporter(*parent(producer, b"+s", [None], 2, offset=2)))
    with pytest.raises(InvalidArrowError, match="'deep': 3 slots"):
        batch.column(0)


def test_errors_below_say_their_path(producer: Any) -> None:
    schema, array = parent(producer, b"+s", [None], 3)
    array.children[0].contents.n_buffers = 7
    refused(producer, schema, array, "'top', field 'deep'", "7 buffers")


def test_children_that_are_missing(producer: Any) -> None:
    schema, array = parent(producer, b"+s", [None], 3)
    ctypes.memset(array.children, 0, 8)
    refused(producer, schema, array, "child 0", "NULL")
    schema, array = parent(producer, b"+s", [None], 3)
    array.children = None
    refused(producer, schema, array, "1 children")


def test_children_that_are_released(producer: Any) -> None:
    schema, array = parent(producer, b"+s", [None], 3)
    array.children[0].contents.release = None
    refused(producer, schema, array, "'deep'", "released")


def test_a_dictionary_that_is_missing(producer: Any) -> None:
    encoded = producer.schema(b"l", dictionary=producer.schema(b"u"))
    refused(producer, encoded, numbers(producer), "no dictionary")


def test_a_dictionary_that_is_too_much(producer: Any) -> None:
    with_values = producer.array(3, [None, bytes(24)], dictionary=numbers(producer))
    refused(producer, producer.schema(), with_values, "a dictionary")


def test_a_dictionary_of_another_type(producer: Any) -> None:
    encoded = producer.schema(b"l", dictionary=producer.schema(b"u"))
    with_values = producer.array(3, [None, bytes(24)], dictionary=numbers(producer))
    refused(producer, encoded, with_values, "'dictionary'", "2 buffers")


def test_rows_of_a_batch(producer: Any) -> None:
    schema, array = parent(producer, b"+s", [None], 3)
    array.n_buffers = 0
    with pytest.raises(InvalidArrowError, match="0 buffers"):
        import_batch(producer.exporter(schema, array))


@pytest.mark.parametrize("swapped", [True, False])
def test_capsules_of_the_wrong_kind(producer: Any, c: Any, swapped: bool) -> None:
    exporter = producer.exporter(producer.schema(), numbers(producer))
    schema, array = exporter.capsules
    pair = (array, schema) if swapped else (schema, schema)
    with pytest.raises(TypeError, match="capsule named"):
        import_array(c.Exporter(*pair))


def imported(producer: Any, schema: Any, array: Any, stated: int) -> Any:
    array.null_count = stated
    return import_array(producer.exporter(schema, array))


@pytest.mark.parametrize(("stated", "bits", "nulls"), [(0, 5, 1), (1, 7, 0), (3, 5, 1)])
def test_full_validation_counts_the_bits(producer: Any, stated: int, bits: int, nulls: int) -> None:
    result = producer.array(3, [bytes([bits]), bytes(24)])
    array = imported(producer, producer.schema(), result, stated)
    with pytest.raises(InvalidArrowError, match=f"null count {stated}, the bitmap has {nulls}"):
        array.validate(full=True)


def of_type_null(producer: Any) -> tuple[Any, Any]:
    return producer.schema(b"n"), producer.array(3, [])


def of_a_union(producer: Any) -> tuple[Any, Any]:
    child = numbers(producer)
    schema = producer.schema(b"+us:0", children=[producer.schema(name=b"n")])
    return schema, producer.array(3, [bytes(3)], children=[child])


def of_runs(producer: Any) -> tuple[Any, Any]:
    fields = [producer.schema(b"i", b"run_ends", 0), producer.schema(b"l", b"values")]
    children = [producer.array(1, [None, b"\x03\0\0\0"]), producer.array(1, [None, bytes(8)])]
    return producer.schema(b"+r", children=fields), producer.array(3, [], children=children)


@pytest.mark.parametrize(
    ("make", "layout", "right"),
    [(of_type_null, "null", 3), (of_a_union, "sparse union", 0), (of_runs, "run-end encoded", 0)],
)
@pytest.mark.parametrize("stated", [-1, 0, 1, 3])
def test_full_validation_finds_a_null_count_where_there_is_no_bitmap(
    producer: Any, make: Any, layout: str, right: int, stated: int
) -> None:
    """Arrays of type null have no other slots; unions and runs no nulls of their own."""
    schema, values = make(producer)
    array = imported(producer, schema, values, stated)
    assert array.null_count == right
    if stated in (-1, right):
        array.validate(full=True)
        return
    with pytest.raises(InvalidArrowError, match=f"null count {stated}, the {layout} layout"):
        array.validate(full=True)


@pytest.mark.parametrize("stated", [-1, 0, 1])
def test_rows_of_a_batch_are_not_null_whatever_is_stated(producer: Any, stated: int) -> None:
    array = producer.array(3, [b"\x05"], stated, children=[numbers(producer)])
    schema = producer.schema(b"+s", children=[producer.schema(name=b"n")])
    with pytest.raises(InvalidArrowError, match="1 rows of a record batch are null"):
        import_batch(producer.exporter(schema, array))

"""The checked reading of FlatBuffers: right where their own library is, and never out of bounds."""

from __future__ import annotations

import mmap
import struct
from typing import Any

import flatbuffers
import numpy as np
import pyarrow as pa
import pytest
from flatbuf import NUMBERS, TABLES, add_offsets, add_table, read
from ipc.handmade import framed

from colkern import InvalidArrowError, LimitExceededError
from colkern.ipc import wire
from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.flatbuffer.encoding import Encoded, encode
from colkern.ipc.flatbuffer.tables import Bytes, Choice, Inline, Ref, Refs, Scalar, Table, Text


def described() -> dict[str, Table]:
    """Every table that can be reached from a message or a footer."""
    results: dict[str, Table] = {}
    todo = [wire.MESSAGE, wire.FOOTER]
    while todo:
        table = todo.pop()
        if table.name in results:
            continue
        results[table.name] = table
        for kind in table.slots.values():
            if isinstance(kind, Ref | Refs):
                todo.append(kind.table)
            elif isinstance(kind, Choice):
                todo += kind.members.values()
    return results


def test_the_description_is_that_of_the_format() -> None:
    # Slot, `struct` code and default; no code of what is no number.
    expected = {
        table: [
            (slot, NUMBERS[kind].packer_type.format.strip("<"), default)
            if kind in NUMBERS
            else (slot, None, None)
            for slot, (kind, default) in slots.items()
        ]
        for table, slots in TABLES.items()
    }
    assert {
        name: [
            (slot, kind.code if isinstance(kind, Scalar) else None, kind.default)
            for slot, kind in table.slots.items()
        ]
        for name, table in described().items()
    } == expected


def schema_metadata() -> bytes:
    schema = pa.schema(
        [
            pa.field("a", pa.list_(pa.int8()), nullable=False, metadata={"k": "v"}),
            pa.field("b", pa.dictionary(pa.int16(), pa.utf8(), ordered=True)),
            pa.field("c", pa.struct({"x": pa.timestamp("us", "UTC"), "y": pa.decimal256(9, 2)})),
        ],
        {"m": "n"},
    )
    result: bytes = schema.serialize().to_pybytes()[8:]
    return result


def plain(value: Any) -> Any:
    """A decoded value in the form of the oracle: text as bytes, sequences as lists."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, str):
        return value.encode()
    if value is None or isinstance(value, int | bytes):
        return value
    return [plain(item) for item in value]


def test_decoding_gives_what_flatbuffers_library_reads() -> None:
    data = schema_metadata()
    assert plain(decode(wire.MESSAGE, data, 16)) == read("Message", data)


def test_absent_slots_have_their_defaults() -> None:
    builder = flatbuffers.Builder(16)
    builder.StartObject(0)
    builder.Finish(builder.EndObject())
    date = decode(wire.TYPES[8], bytes(builder.Output()), 4)
    assert date == {"unit": 1}
    assert decode(wire.FIELD, bytes(builder.Output()), 4)["name"] is None


def test_required_slots_are_required() -> None:
    builder = flatbuffers.Builder(16)
    builder.StartObject(0)
    builder.Finish(builder.EndObject())
    with pytest.raises(InvalidArrowError, match="Tensor lacks the required type"):
        decode(wire.TENSOR, bytes(builder.Output()), 4)


def decoded_schema(data: bytes) -> dict[str, Any]:
    """The message of a schema with all its fields."""
    message = decode(wire.MESSAGE, data, 16)
    message["header"]["fields"] = list(message["header"]["fields"])
    return message


def test_no_cut_is_read_over_its_end() -> None:
    data = schema_metadata()
    whole = decoded_schema(data)
    for size in range(len(data)):
        try:
            cut = decoded_schema(data[:size])
        except InvalidArrowError as error:
            assert error.place.startswith("metadata byte ")  # noqa: PT017
        else:
            # Nothing but padding was cut off.
            assert cut == whole


def test_shared_tables_do_not_multiply() -> None:
    # Each level refers twice to the level below: 2**40 fields in little more than 1 KB.
    builder = flatbuffers.Builder(1024)
    builder.StartObject(0)
    level = builder.EndObject()
    for _ in range(40):
        level = add_table(builder, "Field", children=add_offsets(builder, [level, level]))
    builder.Finish(level)
    with pytest.raises(InvalidArrowError, match="more tables than there are bytes for"):
        decode(wire.FIELD, bytes(builder.Output()), 64)


def test_shared_strings_are_read_once() -> None:
    builder = flatbuffers.Builder(1024)
    text = builder.CreateString("x" * 10_000)
    pairs = [add_table(builder, "KeyValue", key=text, value=text) for _ in range(100)]
    vector = add_offsets(builder, pairs)
    builder.Finish(add_table(builder, "Field", custom_metadata=vector))
    read = decode(wire.FIELD, bytes(builder.Output()), 8)["custom_metadata"]
    assert {id(pair["key"]) for pair in read} == {id(read[0]["value"])}


def test_strings_that_overlap_are_refused() -> None:
    # A vector of 200 tables without slots, then strings of one another's bytes, by hand.
    pair = Table("Pair", {"a": Bytes(), "b": Bytes(), "c": Bytes()})
    vtable = struct.pack("<HHHHH", 10, 16, 4, 8, 12) + b"\0\0"
    start = 4 + len(vtable)
    table = struct.pack("<iIII", start - 4, 12 + 0, 8 + 4, 4 + 8)
    strings = struct.pack("<III", 80, 80, 80) + b"y" * 88
    data = struct.pack("<I", start) + vtable + table + strings
    with pytest.raises(InvalidArrowError, match="strings overlap"):
        decode(pair, data, 4)


def test_deep_tables_are_a_limit() -> None:
    chain = Table("Chain")
    chain.define({"next": Ref(chain)})
    builder = flatbuffers.Builder(64)
    level = 0
    for _ in range(10):
        builder.StartObject(1)
        if level:
            builder.PrependUOffsetTRelativeSlot(0, level, 0)
        level = builder.EndObject()
    builder.Finish(level)
    data = bytes(builder.Output())
    assert decode(chain, data, 10)
    with pytest.raises(LimitExceededError, match="nests deeper than 9 tables"):
        decode(chain, data, 9)


VTABLE = struct.Struct("<IHHHHi4s")
EXAMPLE = Table("Example", {"a": Scalar("i"), "b": Text()})


def example(vtable: int = 8, table: int = 8, a: int = 4, b: int = 0, back: int = 8) -> bytes:
    return VTABLE.pack(12, vtable, table, a, b, back, b"\1\0\0\0")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "offset past the end"),
        (b"\0\0\0\0", "leads out of 4 bytes"),
        (struct.pack("<I", 0xFFFFFFF0), "leads out of 4 bytes"),
        (example(back=1000), "vtable of Example at -988"),
        (example(back=-1000), "vtable of Example at 1012"),
        (example(vtable=3), "vtable of Example of 3 bytes"),
        (example(vtable=7), "vtable of Example of 7 bytes"),
        (example(vtable=100), "vtable of Example of 100 bytes"),
        (example(table=2), "Example of 2 bytes"),
        (example(table=9), "Example of 9 bytes"),
        (example(a=5), "Example.a is said to stand at byte 5 of a table of 8 bytes"),
        (example(a=2), "Example.a is said to stand at byte 2"),
        (example(a=0xFFFF), "Example.a is said to stand at byte 65535"),
        (example(b=4), "offset 1 leads out of 20 bytes"),
    ],
)
def test_whatever_leads_out_of_the_buffer_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message) as caught:
        decode(EXAMPLE, data, 4)
    assert caught.value.place.startswith("metadata byte ")
    assert decode(EXAMPLE, example(), 4) == {"a": 1, "b": None}


def test_structs_are_read_in_place() -> None:
    table = Table("Pair", {"range": Inline("qq")})
    data = struct.pack("<IHHHHi", 12, 6, 20, 4, 0, 8) + struct.pack("<qq", -5, 7)
    assert decode(table, data, 2) == {"range": (-5, 7)}


def test_encoding_gives_what_flatbuffers_library_reads() -> None:
    record = decode(wire.MESSAGE, schema_metadata(), 32)
    data = encode(wire.MESSAGE, record)
    assert read("Message", data) == read("Message", schema_metadata())
    large = encode(wire.MESSAGE, record | {"bodyLength": 2**40})
    assert (
        read("Message", large)["bodyLength"]
        == decode(wire.MESSAGE, large, 32)["bodyLength"]
        == 2**40
    )
    assert pa.ipc.read_schema(pa.py_buffer(framed(data))).equals(
        pa.ipc.read_schema(pa.py_buffer(framed(schema_metadata()))), check_metadata=True
    )


def test_structs_in_tables_and_in_vectors_are_encoded_aligned() -> None:
    nodes = np.array([(3, 1), (2**40, 0)], wire.FIELD_NODE)
    blocks = np.array([(8, 16, 24)], wire.BLOCK)
    batch = {"length": 3, "nodes": nodes, "buffers": np.empty(0, wire.BUFFER)}
    decoded = decode(wire.RECORD_BATCH, encode(wire.RECORD_BATCH, batch), 8)
    assert decoded["nodes"].tolist() == nodes.tolist()
    assert decoded["buffers"].size == 0
    footer = encode(wire.FOOTER, {"version": 4, "recordBatches": blocks})
    assert read("Footer", footer)["recordBatches"] == [(8, 16, 24)]
    assert footer.index(struct.pack("<q", 8) + struct.pack("<q", 16)) % 8 == len(footer) % 8
    tensor = {"type_type": 2, "type": {"bitWidth": 8}, "shape": [{"size": 5}], "data": (64, 128)}
    assert decode(wire.TENSOR, encode(wire.TENSOR, tensor), 8)["data"] == (64, 128)


def test_records_that_do_not_fit_their_table_are_refused() -> None:
    with pytest.raises(KeyError, match="Schema has no slots"):
        encode(wire.SCHEMA, {"name": "x"})
    with pytest.raises(ValueError, match="Tensor lacks the required"):
        encode(wire.TENSOR, {})


def test_a_buffer_that_offsets_cannot_span_is_refused() -> None:
    """An offset has 32 bits. Memory that nobody touches stands for a schema of 4 GiB."""
    with mmap.mmap(-1, (1 << 32) + 8) as schema:
        record = {"version": 4, "schema": Encoded(schema, 8)}  # type: ignore[arg-type]
        with pytest.raises(LimitExceededError, match="FlatBuffers have at most 2147483647"):
            encode(wire.FOOTER, record)

"""Bad input: an error of colkern's that says where, or a reading that holds together."""

from __future__ import annotations

import contextlib
import io
import re
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from flatbuf import MetadataVersion, Type
from ipc.handmade import EOS, Batch, WireField, framed, int_type, plain_type, schema_message

import colkern.ipc
from colkern import ColkernError, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.cuda import stand_in
from colkern.ipc.enums import CONTINUATION

INT32_TYPE = (Type.Int, int_type(32, True))
INT32 = WireField("i", *INT32_TYPE)
NULL = WireField("n", Type.Null, plain_type("Null"))
VIEWS = WireField("v", Type.Utf8View, plain_type("Utf8View"))


def ints(count: int) -> bytes:
    return struct.pack(f"<{count}i", *range(count))


def ints_of(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def read(data: bytes, **limits: int) -> list[dict[str, list[object]]]:
    """Everything that `data` holds, as Python objects."""
    reader = colkern.ipc.open(data, limits=colkern.ipc.Limits(**limits))
    return [batch.to_pydict() for batch in reader]


def sample(fmt: str, codec: str | None = None) -> bytes:
    """A file or stream with nested, dictionary, view and text columns in two batches."""
    batch = pa.record_batch(
        {
            "a": pa.array([1, None, 3], pa.int32()),
            "s": pa.array([{"x": [1, 2], "y": "text"}, None, {"x": [], "y": None}]),
            "d": pa.array(["p", "q", "p"]).dictionary_encode(),
            "v": pa.array(["short", None, "longer than twelve bytes"], pa.string_view()),
            "r": pa.RunEndEncodedArray.from_arrays(
                pa.array([2, 3], pa.int32()), pa.array(["u", "w"])
            ),
            "u": pa.UnionArray.from_dense(
                pa.array([0, 1, 0], pa.int8()),
                pa.array([0, 0, 1], pa.int32()),
                [pa.array([5, 6]), pa.array([True])],
            ),
        }
    ).replace_schema_metadata({"k": "v"})
    sink = pa.BufferOutputStream()
    make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
    with make(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch.slice(1))
    result: bytes = sink.getvalue().to_pybytes()
    return result


def message_ends(data: bytes) -> set[int]:
    """Where the messages of a stream end."""
    source = pa.BufferReader(data)
    ends = set()
    with contextlib.suppress(EOFError):
        while True:
            pa.ipc.read_message(source)
            ends.add(source.tell())
    return ends


def holds_together(data: bytes) -> None:
    """Only errors of colkern's may come out of reading and printing `data`."""
    with contextlib.suppress(ColkernError):
        for batch in colkern.ipc.open(data):
            for column in batch.columns:
                column.slice(0, 1000).to_pylist()


def test_an_empty_source_has_no_schema() -> None:
    for opened in (colkern.ipc.open, colkern.ipc.open_file, colkern.ipc.open_stream):
        with pytest.raises(InvalidArrowError, match="source is empty"):
            opened(b"")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"Hello, world! This is not Arrow.", ["b'Hello, w'", "text", "colkern.read_csv"]),
        (b"id,name\n1,a\n", [r"b'id,name\\n'", "CSV", "colkern.read_csv"]),
        ("größe;é\n1;2\n".encode(), ["CSV"]),
        (b"{}", ["JSON", "colkern.read_json"]),
        (b'\xef\xbb\xbf [{"a": 1}]', ["JSON"]),
        (b"<?xml version", ["XML"]),
        (b"\x80\x02}q\x00.", [r"b'\\x80\\x02}"]),
    ],
)
def test_what_is_neither_file_nor_stream_is_shown(start: bytes, words: list[str]) -> None:
    for source in (start, io.BytesIO(start)):
        with pytest.raises(InvalidArrowError, match="neither an Arrow file nor a stream") as caught:
            colkern.ipc.open(source)
        for word in words:
            assert re.search(word, str(caught.value))
    with pytest.raises(InvalidArrowError, match=r"neither an Arrow file|not an Arrow file"):
        colkern.ipc.open_file(start)
    with pytest.raises(InvalidArrowError, match="neither an Arrow file nor a stream"):
        colkern.ipc.read_tensor(start.ljust(4))


@pytest.mark.parametrize(
    ("start", "name", "advice"),
    [
        (b"PAR1", "Parquet data", "colkern convert"),
        (b"FEA1", "Feather version 1 data", "feather.read_table"),
        (b"ORC\x01", "ORC data", "orc.read_table"),
        (b"\x1f\x8b\x08\x00", "gzip data", r"gzip\.open"),
        (b"BZh91AY&SY", "bzip2 data", r"bz2\.open"),
        (b"\xfd7zXZ\x00", "xz data", r"lzma\.open"),
        (b"\x28\xb5\x2f\xfd", "Zstandard data", "decompress it first"),
        (b"\x04\x22\x4d\x18", "LZ4 data", "decompress it first"),
        (b"PK\x03\x04", "a zip archive", "extract"),
    ],
)
def test_other_formats_are_named(start: bytes, name: str, advice: str) -> None:
    for read_as in (colkern.ipc.open, colkern.ipc.open_file, colkern.ipc.open_stream):
        with pytest.raises(UnsupportedError, match=f"{name}, not an Arrow.*{advice}"):
            read_as(start + bytes(100))


def test_a_file_is_no_stream_and_a_stream_no_file() -> None:
    with pytest.raises(InvalidArrowError, match=r"an Arrow file, not a stream.*open_file"):
        colkern.ipc.open_stream(sample("file"))
    with pytest.raises(InvalidArrowError, match=r"an Arrow stream, not an Arrow file.*open_stream"):
        colkern.ipc.open_file(sample("stream"))


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("s3://bucket/orders.arrow", "file object"),
        ("file:///orders.arrow", "the path alone"),
        ("tcp://127.0.0.1:5000?want_data=1", "dissociated.connect"),
    ],
)
def test_urls_are_not_written(url: str, advice: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^sink: '{re.escape(url)}' is a URL.*{advice}"):
        colkern.ipc.write_file(url, colkern.record_batch({"a": [1]}))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("tcp://127.0.0.1:5000?want_data=1", "a URL, .* colkern.dissociated.connect"),
        ("gopher://h/orders.arrow", "'gopher://h/orders.arrow': Protocol not known: gopher"),
    ],
)
def test_urls_of_services_and_unknown_schemes_are_not_opened(url: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^source: .*{message}"):
        colkern.ipc.open(url)


def test_a_path_that_looks_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a:").mkdir()
    (tmp_path / "a:" / "b").write_bytes(sample("file"))
    monkeypatch.chdir(tmp_path)
    assert len(colkern.ipc.open_file("a://b")) == 2


@pytest.mark.parametrize("codec", [None, "lz4"])
def test_a_stream_cut_anywhere_ends_or_says_where_it_was_cut(codec: str | None) -> None:
    data = sample("stream", codec)
    whole = read(data)
    ends = message_ends(data)
    for size in range(1, len(data)):
        if size in ends:
            # A stream without its end mark ends where a message ends.
            batches = read(data[:size])
            assert batches == whole[: len(batches)]
        else:
            with pytest.raises(
                InvalidArrowError, match=r"^message \d at byte \d+: the source ends"
            ):
                read(data[:size])


def test_a_file_cut_anywhere_is_not_taken_for_a_whole_one() -> None:
    data = sample("file")
    for size in range(len(data)):
        with pytest.raises(InvalidArrowError):
            read(data[:size])


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize(
    ("fmt", "codec", "step"), [("stream", None, 4), ("file", None, 4), ("stream", "zstd", 20)]
)
def test_any_flipped_bit_is_an_error_or_reads(
    fmt: str, codec: str | None, step: int, start: int
) -> None:
    data = bytearray(sample(fmt, codec))
    for position in range(start * step // 4, len(data), step):
        mask = 1 << (position * 5 // 4 % 8)
        data[position] ^= mask
        holds_together(bytes(data))
        data[position] ^= mask


def test_a_short_file_object_is_an_error() -> None:
    data = sample("stream")
    with pytest.raises(InvalidArrowError, match="ends"):
        list(colkern.ipc.open(io.BytesIO(data[:-20])))


def test_a_body_that_is_only_claimed_is_not_allocated() -> None:
    batch = Batch(4, [(4, 0)], [b"", ints(4)], body_length=1 << 60)
    data = schema_message([INT32]) + batch.message()
    for source in (data, io.BytesIO(data)):
        with pytest.raises(InvalidArrowError, match=f"of {1 << 60} body bytes"):
            list(colkern.ipc.open(source))


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([(0, 0), (0, 17)], "17 bytes at 0 in a body of 16"),
        ([(0, 0), (-8, 16)], "16 bytes at -8"),
        ([(0, 0), (8, 16)], "16 bytes at 8"),
        ([(0, 0), (0, -16)], "-16 bytes at 0"),
        ([(0, 0), ((1 << 63) - 8, 16)], "in a body of 16"),
        ([(0, 0), (16, (1 << 63) - 8)], "in a body of 16"),
        ([(0, 0), (0, 12)], "data buffer has 12 bytes, 4 slots need 16"),
    ],
)
def test_buffers_stay_in_the_body(places: list[tuple[int, int]], message: str) -> None:
    batch = Batch(4, [(4, 0)], [b"", ints(4)], places=places)
    schema = schema_message([INT32])
    reader = colkern.ipc.open_stream(schema + batch.message() + EOS)
    with pytest.raises(InvalidArrowError, match=message) as caught:
        next(reader).column("i")
    assert caught.value.place == f"message 1 at byte {len(schema)}, column 'i'"


@pytest.mark.parametrize("node", [(-1, 0), (4, 5), (4, -2), (5, 0), (1 << 62, 0)])
def test_nodes_fit_the_batch(node: tuple[int, int]) -> None:
    batch = Batch(4, [node], [b"\xff", ints(4)])
    with pytest.raises(InvalidArrowError, match=r"nulls in|need|values in"):
        read(schema_message([INT32]) + batch.message())


def test_a_null_count_needs_a_bitmap() -> None:
    batch = Batch(4, [(4, 1)], [b"", ints(4)])
    with pytest.raises(InvalidArrowError, match="validity buffer has 0 bytes"):
        read(schema_message([INT32]) + batch.message())


def column_of(field: WireField, batch: Batch, device: str | None = None) -> colkern.Array:
    (result,) = colkern.ipc.open(schema_message([field]) + batch.message(), device=device)
    return result.column(0)


BITMAPS = [
    # What the node states, the bitmap of four slots, and the nulls that it has.
    (0, b"\x05", 2),
    (1, b"\x05", 2),
    (4, b"\x0f", 0),
]


@pytest.mark.parametrize(("stated", "bitmap", "nulls"), BITMAPS)
@pytest.mark.parametrize("ask", ["one", "all", "device"])
def test_full_validation_counts_the_bits(stated: int, bitmap: bytes, nulls: int, ask: str) -> None:
    batch = Batch(4, [(4, stated)], [bitmap, ints(4)])
    data = schema_message([INT32]) + batch.message()
    with stand_in.installed() if ask == "device" else contextlib.nullcontext():
        (result,) = colkern.ipc.open(data, device="cuda" if ask == "device" else None)
        column = result.columns[0] if ask == "all" else result.column(0)
        with pytest.raises(InvalidArrowError, match=f"null count {stated}, the bitmap has {nulls}"):
            column.validate(full=True)


@pytest.mark.parametrize("bitmap", [b"", b"\x05"])
def test_a_null_count_of_minus_one_is_not_computed(bitmap: bytes) -> None:
    """As in the C Data interface."""
    expected: list[int | None] = [0, None, 2, None] if bitmap else [0, 1, 2, 3]
    batch = Batch(4, [(4, -1)], [bitmap, ints(4)])
    data = schema_message([INT32]) + batch.message()
    for column in (column_of(INT32, batch), next(colkern.ipc.open_stream(data)).columns[0]):
        assert column.to_pylist() == expected
        assert column.null_count == expected.count(None)
        column.validate(full=True)
    (summary,) = colkern.ipc.open(data).summaries()
    assert summary.null_counts.tolist() == [-1]


def test_a_bitmap_is_large_enough_also_where_no_slot_is_null() -> None:
    places = [(0, 0), (0, 40)]
    assert column_of(INT32, Batch(10, [(10, 0)], [b"", ints(10)], places=places)).length == 10
    with pytest.raises(InvalidArrowError, match="validity buffer has 1 bytes"):
        column_of(INT32, Batch(10, [(10, 0)], [b"\xff", ints(10)]))


RUNS = WireField(
    "r",
    Type.RunEndEncoded,
    plain_type("RunEndEncoded"),
    [WireField("run_ends", Type.Int, int_type(32, True)), WireField("values", *INT32_TYPE)],
)
WITHOUT_BITMAPS: dict[str, tuple[WireField, list[tuple[int, int | None]], list[bytes], int]] = {
    "runs": (RUNS, [(4, None), (1, 0), (1, 0)], [b"", ints_of(4), b"", ints(1)], 0),
    "null": (NULL, [(4, None)], [], 4),
}


@pytest.mark.parametrize("layout", WITHOUT_BITMAPS)
def test_full_validation_finds_a_null_count_where_there_is_no_bitmap(layout: str) -> None:
    """Unions and run-end encoded arrays have no nulls of their own; arrays of type null no others."""
    field, nodes, buffers, right = WITHOUT_BITMAPS[layout]
    for stated in (-1, 0, 1, 4):
        own = [(length, stated if nulls is None else nulls) for length, nulls in nodes]
        column = column_of(field, Batch(4, own, buffers))
        # What is stated does not change what the values are.
        assert column.null_count == right
        if stated in (-1, right):
            column.validate(full=True)
        else:
            with pytest.raises(InvalidArrowError, match=f"null count {stated}, .* counts {right}"):
                column.validate(full=True)


def test_full_validation_finds_a_null_count_of_a_union() -> None:
    data = bytearray(sample("stream"))
    (batch, *_) = colkern.ipc.open(bytes(data))
    batch.validate(full=True)
    union = pa.record_batch(
        {"u": pa.UnionArray.from_sparse(pa.array([0] * 5, pa.int8()), [pa.array(range(5))])}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, union.schema) as writer:
        writer.write_batch(union)
    data = sink.getvalue().to_pybytes()
    # The union's node: five slots, no nulls; the child's is the second one.
    node = struct.pack("<qq", 5, 0)
    assert data.count(node) == 2
    wrong = data.replace(node, struct.pack("<qq", 5, 3), 1)
    (batch,) = colkern.ipc.open(wrong)
    assert batch["u"].to_pylist() == list(range(5))
    with pytest.raises(InvalidArrowError, match="null count 3, the sparse union layout"):
        batch.validate(full=True)


@pytest.mark.parametrize(
    ("nodes", "buffers", "message"),
    [
        ([], [b"", b""], "0 field nodes where the schema has 1"),
        ([(0, 0)] * 2, [b"", b""], "2 field nodes"),
        ([(0, 0)], [b""], "1 buffers where the schema has 2"),
        ([(0, 0)], [b""] * 3, "3 buffers where the schema has 2"),
    ],
)
def test_counts_are_those_of_the_schema(
    nodes: list[tuple[int, int]], buffers: list[bytes], message: str
) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        read(schema_message([INT32]) + Batch(0, nodes, buffers).message())


@pytest.mark.parametrize(
    "counts",
    [None, [], [0], [2], [1, 0], [-1], [(1 << 63) - 1], [1 << 40]],
)
def test_variadic_counts_are_those_of_the_buffers(counts: list[int] | None) -> None:
    # One data buffer is there: [1] would be right.
    batch = Batch(1, [(1, 0)], [b"", bytes(16), b"data"], variadic_counts=counts)
    with pytest.raises(InvalidArrowError, match=r"variadic"):
        read(schema_message([VIEWS]) + batch.message())


def test_variadic_counts_whose_sum_wraps_around_are_refused() -> None:
    wrapping = [(1 << 63) - 1, (1 << 63) - 1, 3]
    buffers = [b"", bytes(16)] * 3 + [b"d"]
    batch = Batch(1, [(1, 0)] * 3, buffers, variadic_counts=wrapping)
    with pytest.raises(InvalidArrowError, match="variadic counts add"):
        read(schema_message([VIEWS] * 3) + batch.message())


def test_children_are_as_long_as_their_parents() -> None:
    struct_field = WireField("s", Type.Struct_, plain_type("Struct_"), [INT32])
    batch = Batch(4, [(4, 0), (3, 0)], [b"", b"", ints(3)])
    with pytest.raises(InvalidArrowError, match="3 slots where the parent has 4") as caught:
        read(schema_message([struct_field]) + batch.message())
    assert caught.value.place.endswith("column 's', child 'i'")

    lists = WireField("f", Type.FixedSizeList, plain_type("FixedSizeList", listSize=3), [INT32])
    batch = Batch(2, [(2, 0), (5, 0)], [b"", b"", ints(5)])
    with pytest.raises(InvalidArrowError, match="5 elements for 2 lists of 3"):
        read(schema_message([lists]) + batch.message())


def test_lengths_without_bytes_have_a_limit() -> None:
    data = schema_message([NULL]) + Batch(1 << 40, [(1 << 40, 1 << 40)]).message()
    with pytest.raises(LimitExceededError, match=r"raise Limits\.unbacked_length"):
        read(data, unbacked_length=1 << 39)
    nothing = schema_message([]) + Batch(1 << 40, []).message()
    with pytest.raises(LimitExceededError, match=r"raise Limits\.unbacked_length"):
        read(nothing, unbacked_length=1 << 39)
    # Sums of lengths stay within 64 bits.
    most = schema_message([NULL]) + Batch((1 << 63) - 1, [((1 << 63) - 1, 0)]).message()
    with pytest.raises(LimitExceededError, match=r"raise Limits\.unbacked_length"):
        read(most)
    assert len(next(iter(colkern.ipc.open(data)))["n"]) == 1 << 40


def nested(depth: int) -> WireField:
    field = INT32
    for _ in range(depth - 1):
        field = WireField("s", Type.Struct_, plain_type("Struct_"), [field])
    return field


def test_nesting_has_a_limit() -> None:
    assert colkern.ipc.read_schema(schema_message([nested(64)]))
    for depth in (65, 66, 100, 120):
        with pytest.raises(LimitExceededError, match=r"raise Limits\.nesting_depth"):
            colkern.ipc.open(schema_message([nested(depth)]))
    limits = colkern.ipc.Limits(nesting_depth=100)
    assert colkern.ipc.read_schema(schema_message([nested(100)]), limits=limits)
    with pytest.raises(ValueError, match="nesting_depth: at most 128"):
        colkern.ipc.Limits(nesting_depth=129)


def test_metadata_size_has_a_limit() -> None:
    data = schema_message([INT32])
    with pytest.raises(LimitExceededError, match=r"raise Limits\.metadata_bytes"):
        read(data, metadata_bytes=64)


@pytest.mark.parametrize("version", [MetadataVersion.V1, MetadataVersion.V3, 5, 100, -1])
def test_other_metadata_versions_are_refused(version: int) -> None:
    with pytest.raises(UnsupportedError, match=f"metadata version V{version + 1}"):
        colkern.ipc.open(schema_message([INT32], version=version))


@pytest.mark.parametrize("behind", [0, 1, 4])
def test_sizes_that_are_no_multiples_of_8_are_read(behind: int) -> None:
    # The format has writers pad; nothing of the reader needs it, and Arrow C++ reads such streams.
    def unpadded(message: bytes) -> bytes:
        size = int.from_bytes(message[4:8], "little")
        metadata = message[8 : 8 + size] + bytes(behind)
        return b"".join(
            [CONTINUATION, struct.pack("<i", len(metadata)), metadata, message[8 + size :]]
        )

    batch = Batch(1, [(1, 0)], [b"", ints(1)], body_length=4)
    batch.body = ints(1)
    data = unpadded(schema_message([INT32])) + unpadded(batch.message()) * 2 + EOS
    assert read(data) == [{"i": [0]}] * 2
    assert [item.to_pydict() for item in pa.ipc.open_stream(data)] == [{"i": [0]}] * 2


@pytest.mark.parametrize("size", [-1, -2147483648])
def test_negative_metadata_sizes_are_refused(size: int) -> None:
    with pytest.raises(InvalidArrowError, match=f"metadata of {size} bytes"):
        colkern.ipc.open(struct.pack("<ii", -1, size) + bytes(100))


def test_a_type_of_a_later_format_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="data type number 99"):
        colkern.ipc.open(schema_message([WireField("x", 99, plain_type("Null"))]))


def test_a_second_schema_is_refused() -> None:
    with pytest.raises(InvalidArrowError, match="found a schema, expected a record batch"):
        read(schema_message([INT32]) * 2)


def test_an_error_comes_again() -> None:
    reader = colkern.ipc.open_stream(
        schema_message([INT32]) + b"\xff\xff\xff\xff\x08\0\0\0" + bytes(8)
    )
    for _ in range(2):
        with pytest.raises(InvalidArrowError, match="message 1 at byte"):
            next(reader)


def test_unions_before_version_5_carry_a_validity_buffer() -> None:
    union = WireField("u", Type.Union, plain_type("Union"), [INT32])
    nodes = [(2, 0), (2, 0)]
    for version, own in ((MetadataVersion.V4, [b"\x03"]), (MetadataVersion.V5, [])):
        buffers = [*own, b"\0\0", b"", ints(2)]
        data = schema_message([union], version=version)
        data += Batch(2, nodes, buffers, version=version).message()
        assert read(data) == [{"u": [0, 1]}]
    with_nulls = Batch(2, [(2, 1), (2, 0)], [b"\x01", b"\0\0", b"", ints(2)], version=3)
    with pytest.raises(UnsupportedError, match="validity bitmap"):
        read(schema_message([union], version=3) + with_nulls.message())


def test_framing_without_continuation_marker_is_read() -> None:
    messages = [schema_message([INT32]), Batch(2, [(2, 0)], [b"", ints(2)]).message()]
    old = b"".join(message[4:] for message in messages)
    assert read(old) == [{"i": [0, 1]}]
    assert read(old + bytes(4)) == [{"i": [0, 1]}]


def test_what_follows_the_end_mark_is_not_read() -> None:
    data = schema_message([INT32]) + EOS + b"anything"
    assert read(data) == []


def test_garbage_metadata_is_refused() -> None:
    with pytest.raises(InvalidArrowError, match="metadata byte"):
        colkern.ipc.open(framed(b"\xff" * 64))

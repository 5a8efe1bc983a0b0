"""Writers: what colkern writes, pyarrow reads, and nothing else stands in it."""

from __future__ import annotations

import io
import itertools
import struct
from pathlib import Path
from typing import Any

import arrow_strategies
import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from golden import golden_files
from hypothesis import given
from hypothesis import strategies as st
from ipc.written import CODECS, FORMATS, one_column, written
from operations.samples import buffer, sample, samples

import colkern.ipc
import colkern.schema as s
from colkern import Array, Buffer, RecordBatch, Schema, UnsupportedError

# pyarrow has no Python class for arrays of month and day-time intervals.
STREAMS = [
    path
    for path in golden_files("arrow-ipc-stream/integration/*/*.stream")
    if "generated_interval." not in str(path)
]
# Older ones have decimals and dates that break the format's rules.
STRICT = ("cpp-21", "2.0.0", "4.0.0")


def by_pyarrow(fmt: str, data: bytes) -> list[pa.RecordBatch]:
    if fmt == "stream":
        return list(pa.ipc.open_stream(data))
    reader = pa.ipc.open_file(data)
    return [reader.get_batch(i) for i in range(reader.num_record_batches)]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", samples())
def test_pyarrow_reads_every_type_whole_and_sliced(name: str, fmt: str) -> None:
    for (start, length), codec in itertools.product(((0, 12), (3, 7), (5, 0)), CODECS):
        data = written(one_column(sample(name).slice(start, length)), fmt, compression=codec)
        (batch,) = by_pyarrow(fmt, data)
        batch.validate(full=True)
        expected = samples()[name].slice(start, length)
        assert from_pyarrow(batch.column(0)).to_pylist() == from_pyarrow(expected).to_pylist()
        storage = getattr(expected.type, "storage_type", expected.type)
        assert batch.schema.field(0).type == storage


def is_writable(type_: pa.DataType) -> bool:
    """Not so dictionaries whose values are dictionaries: IPC has no form for them."""
    if pa.types.is_dictionary(type_):
        value = type_.value_type
        return not pa.types.is_dictionary(value) and is_writable(value)
    parts = [type_.field(i).type for i in range(type_.num_fields)]
    if pa.types.is_run_end_encoded(type_):
        parts = [type_.value_type]
    return all(map(is_writable, parts))


@given(arrow_strategies.arrays().filter(lambda array: is_writable(array.type)), st.data())
def test_any_array_goes_to_pyarrow_and_comes_back(theirs: pa.Array, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(theirs)))
    fmt = data.draw(st.sampled_from(FORMATS))
    options = {
        "compression": data.draw(st.sampled_from(CODECS)),
        "alignment": data.draw(st.sampled_from((8, 64))),
    }
    ours = from_pyarrow(theirs).slice(start)
    encoded = written(one_column(ours), fmt, **options)
    (batch,) = by_pyarrow(fmt, encoded)
    batch.validate(full=True)
    assert from_pyarrow(batch.column(0)).to_pylist() == ours.to_pylist()
    (again,) = colkern.ipc.open(encoded)
    again.validate(full=True)
    assert again.column(0).to_pylist() == ours.to_pylist()


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("fmt", FORMATS)
def test_golden_files_written_again_are_the_same_to_pyarrow(path: Path, fmt: str) -> None:
    with colkern.ipc.open(path) as reader:
        batches = reader.read_all()
        sink = io.BytesIO()
        new = colkern.ipc.new_file if fmt == "file" else colkern.ipc.new_stream
        with new(sink, reader.schema) as writer:
            writer.write(batches)
    original = list(pa.ipc.open_stream(path))
    again = by_pyarrow(fmt, sink.getvalue())
    assert len(again) == len(original)
    for ours, theirs in zip(again, original, strict=True):
        assert ours.schema.equals(theirs.schema, check_metadata=True)
        ours.validate(full=any(version in str(path) for version in STRICT))
        for left, right in zip(ours.columns, theirs.columns, strict=True):
            assert left.equals(right) or repr(left) == repr(right)


def blocks_of(data: bytes) -> list[tuple[int, int, int]]:
    """Offset, size of metadata, and size of the body of each message of a stream."""
    results: list[tuple[int, int, int]] = []
    place = 0
    while True:
        marker, size = struct.unpack_from("<ii", data, place)
        assert marker == -1
        if size == 0:
            assert place + 8 == len(data)
            return results
        body = pa.ipc.read_message(pa.py_buffer(data)[place:]).body
        results.append((place, 8 + size, 0 if body is None else body.size))
        place += 8 + size + results[-1][2]


@pytest.mark.parametrize("alignment", [8, 64])
def test_bodies_and_buffers_start_aligned(alignment: int) -> None:
    columns = [from_pyarrow(pa.array(["a", None, "cc"])), from_pyarrow(pa.array([1, 2, None]))]
    batch = RecordBatch.from_arrays(columns, ["a", "b"])
    data = written([batch, batch], alignment=alignment)
    for place, metadata, body in blocks_of(data):
        assert metadata % 8 == 0
        assert (place + metadata) % alignment == 0
        assert body % alignment == 0
    memory = Buffer(np.frombuffer(data, np.uint8))
    for read in colkern.ipc.open(memory):
        for column in read.columns:
            for part in column.buffers:
                assert part is not None
                assert (part.address - memory.address) % alignment == 0


def test_padding_and_what_stands_under_nulls_is_zero() -> None:
    secret = np.frombuffer(b"SECRET__" * 8, np.uint8)
    validity = buffer([0b11111101], "u1")
    column = Array(s.int64(), 3, [validity, Buffer(secret[:24])])
    text = Array(s.utf8(), 3, [validity, buffer([0, 1, 60, 61], "i4"), Buffer(secret[:61])])
    data = written(RecordBatch.from_arrays([column, text], ["a", "b"]))
    assert data.count(b"SECRET__") == 2
    (batch,) = by_pyarrow("stream", data)
    assert batch.column(1).to_pylist() == ["S", None, "E"]
    # A bitmap's last byte has nothing behind its last bit.
    assert batch.column(0).buffers()[0].to_pybytes()[:1] == b"\x05"


def test_slices_are_written_without_what_lies_around_them() -> None:
    text = pa.array([f"{i:08}" for i in range(10_000)])
    for type_ in (pa.utf8(), pa.string_view(), pa.list_(pa.int64())):
        whole = pa.array([[i] for i in range(10_000)], type_) if pa.types.is_list(type_) else text
        column = from_pyarrow(whole.cast(type_)).slice(5_000, 10)
        assert len(written(one_column(column))) < 2_000


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_buffers_that_do_not_shrink_stay_as_they_are(codec: Any) -> None:
    noise = np.random.default_rng(1).integers(0, 256, 1 << 16, np.uint8)
    batch = RecordBatch.from_arrays([from_pyarrow(pa.array(noise))], ["x"])
    data = written(batch, compression=codec)
    assert struct.pack("<q", -1) + noise.tobytes() in data
    (read,) = by_pyarrow("stream", data)
    assert read.column(0).to_pylist() == noise.tolist()


def test_lz4_blocks_are_independent_of_each_other() -> None:
    lz4_frame = pytest.importorskip("lz4.frame")
    values = np.arange(1 << 17, dtype=np.int64) // 3
    batch = RecordBatch.from_arrays([from_pyarrow(pa.array(values))], ["x"])
    data = written(batch, compression="lz4")
    frame = data[data.index(b"\x04\x22\x4d\x18") :]
    info = lz4_frame.get_frame_info(frame)
    assert info["block_linked"] is False
    assert info["block_size"] == 1 << 18
    (read,) = by_pyarrow("stream", data)
    assert read.column(0).to_numpy().tolist() == values.tolist()


def test_custom_metadata_of_schema_field_batch_and_footer() -> None:
    field = s.Field("x", s.int8(), True, {b"of": b"field"})
    schema = Schema([field], {b"of": b"schema", b"\xff": b"\x00"})
    column = Array(s.int8(), 2, [None, buffer([1, 2], "i1")])
    batch = RecordBatch(schema, [column], metadata={b"of": b"batch"})
    data = written(batch, "file", metadata={b"of": b"footer"})
    theirs = pa.ipc.open_file(data)
    assert theirs.schema.metadata == {b"of": b"schema", b"\xff": b"\x00"}
    assert theirs.schema.field(0).metadata == {b"of": b"field"}
    assert theirs.get_batch_with_custom_metadata(0).custom_metadata[b"of"] == b"batch"
    ours = colkern.ipc.open(data)
    assert isinstance(ours, colkern.ipc.FileReader)
    assert ours.metadata == {b"of": b"footer"}
    assert ours[0].metadata == {b"of": b"batch"}


def test_a_stream_ends_with_its_mark_and_a_file_has_one_too() -> None:
    batch = one_column(sample("bool"))
    end = b"\xff\xff\xff\xff\0\0\0\0"
    assert written(batch).endswith(end)
    file = written(batch, "file")
    (footer_size,) = struct.unpack("<i", file[-10:-6])
    assert file[-10 - footer_size - 8 : -10 - footer_size] == end


def test_a_file_is_a_stream_between_magics() -> None:
    batch = one_column(sample("struct"))
    file, stream = written(batch, "file"), written(batch)
    assert [b.to_pylist() for b in pa.ipc.open_stream(file[8:])] == [
        b.to_pylist() for b in pa.ipc.open_stream(stream)
    ]


def test_no_batch_and_no_column() -> None:
    for new in (colkern.ipc.new_stream, colkern.ipc.new_file):
        sink = io.BytesIO()
        with new(sink, Schema({"x": s.utf8()})):
            pass
        assert colkern.ipc.open(sink.getvalue()).read_all() == []
    rows = RecordBatch(Schema({}), [], length=7)
    for fmt in FORMATS:
        (batch,) = by_pyarrow(fmt, written(rows, fmt))
        assert batch.num_rows == 7
    with pytest.raises(ValueError, match="no batch, so no schema"):
        written([])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"x": s.int8(), "y": s.int8()}, "a batch of 2 columns, the schema has 1"),
        ({"y": s.int8()}, "column 0 is y: int8, the schema has x: int8"),
        ({"x": s.int16()}, "column 0 is x: int16, the schema has x: int8"),
    ],
)
def test_batches_of_another_schema_are_refused(other: Any, message: str) -> None:
    schema = Schema({"x": s.int8()})
    columns = [Array(t, 0, [None, None]) for t in other.values()]
    sink = io.BytesIO()
    with colkern.ipc.new_stream(sink, schema) as writer:
        with pytest.raises(ValueError, match=message):
            writer.write(RecordBatch(Schema(other), columns))
        writer.write(one_column(Array(s.int8(), 1, [None, buffer([5], "i1")])))
    assert [b.to_pydict() for b in pa.ipc.open_stream(sink.getvalue())] == [{"x": [5]}]


def test_what_other_libraries_hold_is_written_too() -> None:
    table = pa.table({"x": pa.chunked_array([[1, 2], [3]])})
    for data in (table, table.to_reader(), table.to_batches()):
        actual = [b.column(0).to_pylist() for b in by_pyarrow("stream", written(data))]
        assert actual == [[1, 2], [3]]
    (actual,) = by_pyarrow("file", written(table.to_batches()[1], "file"))
    assert actual.column(0).to_pylist() == [3]
    with pytest.raises(TypeError, match="data: expected record batches"):
        written(5)


def test_a_reader_is_written_with_the_metadata_of_its_batches() -> None:
    schema = Schema({"x": s.int8()})
    column = Array(s.int8(), 1, [None, buffer([1], "i1")])
    first = written(RecordBatch(schema, [column], metadata={b"k": b"v"}))
    for fmt in FORMATS:
        with colkern.ipc.open(first) as reader:
            (batch,) = colkern.ipc.open(written(reader, fmt))
        assert batch.metadata == {b"k": b"v"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "gzip"}, "compression: expected 'lz4', 'zstd' or None"),
        ({"compression": "zstd", "compression_level": 23}, "Zstandard takes .* to 22"),
        ({"compression_level": 1}, "pass a compression too"),
        ({"alignment": 16}, "alignment: expected 8 or 64"),
        ({"dictionary_ids": {"y": 1}}, "no dictionary field 'y'"),
    ],
)
def test_options_that_are_not_right(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        colkern.ipc.new_stream(io.BytesIO(), Schema({"x": s.int8()}), **options)
    with pytest.raises(TypeError):
        colkern.ipc.new_stream(io.BytesIO(), Schema({"x": s.int8()}), codec="lz4")


def test_types_that_ipc_has_no_form_for() -> None:
    values = s.extension("a", s.utf8())
    with pytest.raises(UnsupportedError, match="x: IPC has no form for a dictionary"):
        colkern.ipc.new_stream(io.BytesIO(), Schema({"x": s.dictionary(s.int8(), values)}))


def test_offsets_beyond_31_bits(tmp_path: Path) -> None:
    # A sparse file stands for memory that nobody has to fill.
    path = tmp_path / "sparse"
    size = (1 << 31) + 100
    with path.open("wb") as file:
        file.truncate(size)
    data = np.memmap(path, np.uint8, "r+")
    data[-10:] = list(b"0123456789")
    offsets = [0, size - 10, size - 4, size]
    column = Array(s.large_utf8(), 3, [None, buffer(offsets, "i8"), Buffer(data)])
    column._checked = True
    (batch,) = by_pyarrow("stream", written(one_column(column.slice(1))))
    assert batch.column(0).to_pylist() == ["012345", "6789"]
    target = tmp_path / "large.arrow"
    colkern.ipc.write_file(target, one_column(column))
    (read,) = colkern.ipc.open(target)
    assert read.column(0).slice(1).to_pylist() == ["012345", "6789"]
    assert pa.ipc.open_file(pa.memory_map(str(target))).get_batch(0).column(0)[2].as_py() == "6789"


def test_halves_and_indices_without_a_sign() -> None:
    halves = np.array([1.5, -0.0, np.inf], np.float16)
    theirs = pa.record_batch(
        {
            "h": pa.array(halves),
            "d": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.uint64()), ["a", "b"]),
        }
    )
    for fmt in FORMATS:
        (batch,) = by_pyarrow(fmt, written(batch_from_pyarrow(theirs), fmt))
        assert batch.equals(theirs)


def test_one_batch_without_rows_is_one_batch() -> None:
    theirs = pa.record_batch({"x": pa.array([], pa.int8())})
    for fmt in FORMATS:
        assert [item.num_rows for item in by_pyarrow(fmt, written(theirs, fmt))] == [0]
    sink = io.BytesIO()
    with colkern.ipc.new_stream(sink, Schema({"x": s.int8()})) as writer:
        writer.write(theirs)
    assert [item.num_rows for item in by_pyarrow("stream", sink.getvalue())] == [0]


@pytest.mark.parametrize("data", ["abc", b"abc", ["abc"]])
def test_text_is_no_batches(data: Any) -> None:
    with pytest.raises(TypeError, match=r"data: expected record batches.* got (str|bytes)"):
        written(data)


def test_a_dict_of_other_things_than_columns_is_no_batch() -> None:
    with pytest.raises(TypeError, match="x: expected a sequence of values, got 1"):
        written({"x": 1})


def test_an_extension_type_of_an_extension_type_has_no_form() -> None:
    nested = s.extension("outer", s.extension("inner", s.int8()))
    sink = io.BytesIO()
    for type_ in (nested, s.list_(nested)):
        with pytest.raises(UnsupportedError, match=r"x.*: IPC has no form for an extension type"):
            colkern.ipc.new_stream(sink, Schema({"x": type_}))
    assert sink.getvalue() == b""


@pytest.mark.parametrize("level", [1.0, "1"])
def test_a_compression_level_is_a_whole_number(level: Any) -> None:
    for codec in ("lz4", "zstd"):
        with pytest.raises(TypeError, match="compression_level: expected an int"):
            written(one_column(sample("bool")), compression=codec, compression_level=level)


@pytest.mark.parametrize("metadata", [{b"a": 1}, {b"a": None}, {"a": b"b"}, {b"a": "b"}, [b"a"]])
@pytest.mark.parametrize("owner", ["schema", "field", "batch", "footer"])
def test_metadata_is_bytes_or_nothing_is_written(owner: str, metadata: Any) -> None:
    type_ = s.dictionary(s.int8(), s.int8())
    of = {owner: metadata}
    schema = Schema([s.Field("x", type_, True, of.get("field"))], of.get("schema"))
    ones = buffer([1], "i1")
    values = Array(s.int8(), 2, [None, buffer([1, 2], "i1")])
    column = Array(type_, 1, [None, ones], dictionary=values)
    sink = io.BytesIO()
    if owner == "batch":
        with colkern.ipc.new_file(sink, schema) as writer:
            before = sink.getvalue()
            with pytest.raises(TypeError, match=r"data\.metadata: expected"):
                writer.write(RecordBatch(schema, [column], metadata=metadata))
            assert sink.getvalue() == before
            writer.write(RecordBatch(schema, [column]))
        assert pa.ipc.open_file(sink.getvalue()).read_all().to_pydict() == {"x": [2]}
        return
    name = {"schema": r"schema\.metadata", "field": "metadata of field 'x'", "footer": "metadata"}
    with pytest.raises(TypeError, match=f"^{name[owner]}: expected"):
        colkern.ipc.new_file(sink, schema, metadata=of.get("footer"))
    assert sink.getvalue() == b""

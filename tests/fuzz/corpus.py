"""The inputs that are mutated: small streams of every type, by pyarrow, and Arrow's golden files."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
from fuzz.recording import Parts, take_apart
from golden import golden_folder

# Larger ones cost more to read than they show.
_MOST_BYTES = 4096
# Its decimals have more digits than their type.
_NOT_VALID = "0.14.1/generated_decimal.stream"


def _dense() -> pa.Array:
    children = [pa.array([1, 2]), pa.array(["b", None])]
    return pa.UnionArray.from_dense(
        pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32()), children
    )


def _sparse() -> pa.Array:
    children = [pa.array([1, 2, 3, None]), pa.array(["a", "b", "c", "d"])]
    return pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), children)


def _runs(values: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int16()), values)


LONG = "longer than the twelve bytes of a view"


def _arrays() -> dict[str, pa.Array]:
    texts = ["a", None, "ccc", LONG]
    lists = [[1, 2], None, [], [3, None]]
    return {
        "null": pa.nulls(4),
        "bool": pa.array([True, None, False, True]),
        "int8": pa.array([1, None, 3, -4], pa.int8()),
        "uint64": pa.array([1, None, 3, 2**64 - 1], pa.uint64()),
        "float16": pa.array([1.5, None, -0.0, 3.0]).cast(pa.float16()),
        "float64": pa.array([1.5, None, -0.0, float("nan")]),
        "decimal32": pa.array([1, None, 3, -4], pa.decimal32(7, 2)),
        "decimal128": pa.array([1, None, 3, -4], pa.decimal128(20, 2)),
        "decimal256": pa.array([1, None, 3, -4], pa.decimal256(40, 2)),
        "date64": pa.array([86_400_000, None, 0, -86_400_000], pa.date64()),
        "time32": pa.array([1, None, 3, 4], pa.time32("ms")),
        "time64": pa.array([1, None, 3, 4], pa.time64("ns")),
        "timestamp": pa.array([1, None, 3, -4], pa.timestamp("us", "UTC")),
        "duration": pa.array([1, None, 3, -4], pa.duration("s")),
        "interval": pa.array([(1, 2, 3), None, (4, 5, 6), (0, 0, 0)], pa.month_day_nano_interval()),
        "binary": pa.array([b"a", None, b"", b"\xff\xfe"]),
        "utf8": pa.array(texts),
        "large_utf8": pa.array(texts, pa.large_string()),
        "fixed_size_binary": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
        "empty_binary": pa.array([b"", None, b"", b""], pa.binary(0)),
        "utf8_view": pa.array(texts, pa.string_view()),
        "binary_view": pa.array([b"x", None, LONG.encode(), b"\xff" * 13], pa.binary_view()),
        "list": pa.array(lists),
        "large_list": pa.array(lists, pa.large_list(pa.int8())),
        "list_view": pa.array(lists, pa.list_view(pa.int16())),
        "large_list_view": pa.array([["a"], None, [], ["bb", None]], pa.large_list_view(pa.utf8())),
        "fixed_size_list": pa.array([[1, 2], None, [3, 4], [5, None]], pa.list_(pa.int8(), 2)),
        "empty_list": pa.array([[], None, [], []], pa.list_(pa.int8(), 0)),
        "struct": pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": "d"}, {"x": 2, "y": None}]),
        "map": pa.array([[("k", 1)], None, [], [("l", None)]], pa.map_(pa.string(), pa.int32())),
        "sparse_union": _sparse(),
        "dense_union": _dense(),
        "run_end_encoded": _runs(pa.array(["p", None, "q"])),
        "runs_of_lists": _runs(pa.array([[1], None, [2, 3]])),
        "dictionary": pa.array(["p", "q", None, "p"]).dictionary_encode(),
        "dictionary_of_views": pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None, 1], pa.uint8()), pa.array(["p", LONG], pa.string_view())
        ),
        "lists_of_dictionaries": pa.array(
            [["p", "q"], None, [], ["q"]], pa.list_(pa.dictionary(pa.int8(), pa.utf8()))
        ),
        "nested": pa.array([[{"a": [LONG]}], None, [], [{"a": None}, None]]),
        "lists_of_unions": pa.ListArray.from_arrays(
            pa.array([0, 2, 2, 3, 4], pa.int32()), _dense()
        ),
    }


def _stream(arrays: dict[str, pa.Array], **options: Any) -> bytes:
    batch = pa.record_batch(arrays)
    sink = pa.BufferOutputStream()
    written = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, batch.schema, options=written) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch.slice(1, 2))
    return bytes(sink.getvalue().to_pybytes())


def _repeated(batch: pa.RecordBatch) -> bytes:
    """Batches whose messages differ in numbers alone."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        for first in range(4):
            writer.write_batch(batch.slice(first, 2))
    return bytes(sink.getvalue().to_pybytes())


def _growing_dictionary() -> bytes:
    """A first dictionary, a delta, and a replacement."""
    values = [["p", "q"], ["p", "q", "r"], ["s"]]
    schema = pa.schema([("d", pa.dictionary(pa.int8(), pa.utf8()))])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for texts in values:
            indices = pa.array([len(texts) - 1, None, 0], pa.int8())
            column = pa.DictionaryArray.from_arrays(indices, pa.array(texts))
            writer.write_batch(pa.record_batch([column], schema))
    return bytes(sink.getvalue().to_pybytes())


def _made() -> dict[str, bytes]:
    arrays = _arrays()
    some = {name: arrays[name] for name in ("int8", "utf8", "dictionary", "list")}
    views = {name: arrays[name] for name in ("utf8_view", "binary_view")}
    long = {"n": pa.array(range(0, 900, 3)), "s": pa.array(["abc", None, "abc"] * 100)}
    result = {name: _stream({"c": array}) for name, array in arrays.items()}
    result["some"] = _stream(some)
    result["views"] = _stream(views)
    result["growing dictionary"] = _growing_dictionary()
    for codec in ("lz4", "zstd"):
        result[f"{codec} some"] = _stream(some, compression=codec)
        result[f"{codec} views"] = _stream(views, compression=codec)
        result[f"{codec} long"] = _stream(long, compression=codec)
    for name in ("utf8", "sparse_union", "dense_union", "dictionary"):
        version = pa.ipc.MetadataVersion.V4
        result[f"V4 {name}"] = _stream({"c": arrays[name]}, metadata_version=version)
    result["wide"] = _stream({str(k): arrays["int8" if k % 9 else "utf8"] for k in range(66)})
    result["repeated"] = _repeated(pa.record_batch(some))
    result["legacy framing"] = _stream({"c": arrays["utf8"]}, use_legacy_format=True)
    return result


def _golden() -> dict[str, bytes]:
    folder = golden_folder()
    if folder is None:
        return {}
    paths = sorted(folder.glob("arrow-ipc-stream/integration/*/*.stream"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.stat().st_size <= _MOST_BYTES and not path.match(_NOT_VALID)
    }


@cache
def corpus() -> dict[str, Parts]:
    """Name → the messages of a valid stream."""
    return {name: take_apart(data) for name, data in {**_made(), **_golden()}.items()}

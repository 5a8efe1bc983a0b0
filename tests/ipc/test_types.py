"""Streams of pyarrow's, read by colkern: every type, codec, alignment and slice."""

from __future__ import annotations

import datetime
import decimal

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from ipc.written import by_pyarrow
from present import present

import colkern.ipc
from colkern.schema import Extension

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 0, 1, 5)
PLAIN_TYPES = {
    pa.bool_(): True,
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), 7),
    **dict.fromkeys((pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()), 7),
    **dict.fromkeys((pa.float16(), pa.float32(), pa.float64()), 1.5),
    pa.decimal32(9, 2): decimal.Decimal("1.25"),
    pa.decimal64(18, 2): decimal.Decimal("-1.25"),
    pa.decimal128(38, -2): decimal.Decimal("-12500"),
    pa.decimal256(76, 10): decimal.Decimal("1.25"),
    pa.date32(): DAY,
    pa.date64(): DAY,
    pa.time32("s"): NOON.time().replace(microsecond=0),
    pa.time32("ms"): NOON.time().replace(microsecond=0),
    pa.time64("us"): NOON.time(),
    pa.time64("ns"): NOON.time(),
    **{pa.timestamp(unit): 1_700_000_000 for unit in ("s", "ms", "us", "ns")},
    pa.timestamp("us", "Europe/Berlin"): 1_700_000_000,
    **{pa.duration(unit): 5 for unit in ("s", "ms", "us", "ns")},
    pa.month_day_nano_interval(): (1, -2, 3),
    pa.binary(3): b"abc",
    pa.binary(): b"abc",
    pa.large_binary(): b"abc",
    pa.binary_view(): b"longer than twelve bytes",
    pa.utf8(): "äöü",
    pa.large_utf8(): "äöü",
    pa.string_view(): "longer than twelve bytes",
}


def nested(array: pa.Array) -> dict[str, pa.Array]:
    """Arrays of every nested layout over `array`, which has six values."""
    type_ = array.type
    offsets = pa.array([0, 2, None, 2, 6], pa.int32())
    big = pa.array([0, 2, None, 2, 6], pa.int64())
    starts, sizes = [4, 0, 0, 2], [2, 3, 0, 1]
    ids = pa.array([0, 1, 0, 1, 1, 0], pa.int8())
    other = pa.array(["a", None, "c", "d", "e", "f"])
    run_ends = pa.array([1, 3, 4, 8, 9, 12], pa.int32())
    return {
        "itself": array,
        "list": pa.ListArray.from_arrays(offsets, array),
        "large_list": pa.LargeListArray.from_arrays(big, array),
        "list_view": pa.ListViewArray.from_arrays(
            pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), array
        ),
        "large_list_view": pa.LargeListViewArray.from_arrays(
            pa.array(starts, pa.int64()), pa.array(sizes, pa.int64()), array
        ),
        "fixed_size_list": pa.FixedSizeListArray.from_arrays(array, 2),
        "struct": pa.StructArray.from_arrays(
            [array, other],
            fields=[pa.field("x", type_), pa.field("y", pa.utf8())],
            mask=pa.array([False, True, False, False, False, False]),
        ),
        "map": pa.MapArray.from_arrays(offsets, pa.array(list("abcdef")), array),
        "sparse_union": pa.UnionArray.from_sparse(ids, [array, other]),
        "dense_union": pa.UnionArray.from_dense(
            ids, pa.array([0, 0, 1, 1, 2, 2], pa.int32()), [array, other]
        ),
        "run_end_encoded": pa.RunEndEncodedArray.from_arrays(run_ends, array),
        "dictionary": pa.DictionaryArray.from_arrays(pa.array([5, None, 0], pa.uint16()), array),
    }


def check(columns: dict[str, pa.Array], fmt: str, **options: object) -> None:
    """Each column, whole and sliced, in a stream or file of its own, read as it was written."""
    for name, array in columns.items():
        whole = pa.record_batch({name: array})
        batches = [whole, whole.slice(1), whole.slice(1, len(array) - 2), whole.slice(0, 0)]
        if pa.types.is_dictionary(array.type):
            batches = [whole, whole.slice(1)]
        reader = colkern.ipc.open(by_pyarrow(batches, fmt, **options))
        for ours, theirs in zip(reader, batches, strict=True):
            assert ours.num_rows == theirs.num_rows
            # Compared by values: pyarrow cuts slices when it writes them.
            assert ours.column(0).equals(from_pyarrow(theirs.column(0))), (name, array.type)


@pytest.mark.parametrize("type_", PLAIN_TYPES, ids=str)
@pytest.mark.parametrize(
    ("fmt", "options"),
    [("stream", {}), ("file", {"compression": "zstd"}), ("stream", {"compression": "lz4"})],
    ids=["plain", "zstd", "lz4"],
)
def test_every_type_in_every_layout(type_: pa.DataType, fmt: str, options: dict[str, str]) -> None:
    value = PLAIN_TYPES[type_]
    array = pa.array([value, None, value, value, None, value], type_)
    check(nested(array), fmt, **options)


def test_nulls_alone_and_nested() -> None:
    check({"n": pa.nulls(6), "l": pa.array([[None], [], None])}, "file")


@pytest.mark.parametrize("depth", [2, 3])
def test_layouts_within_layouts(depth: int) -> None:
    array = pa.array(["a", None, "longer than twelve bytes", "d", "", "f"], pa.string_view())
    level = {"x": array}
    for _ in range(depth):
        level = {
            f"{name}/{kind}": item
            for name, inner in level.items()
            # pyarrow cannot build a dictionary of, or run ends over, everything.
            for kind, item in nested(six(inner)).items()
            if kind in ("list", "struct", "dense_union", "fixed_size_list")
        }
    check(level, "stream")


def six(array: pa.Array) -> pa.Array:
    """Six values, whatever the length."""
    return pa.concat_arrays([array] * (6 // len(array) + 1)).slice(0, 6)


@pytest.mark.parametrize("alignment", [8, 64])
def test_bodies_of_either_alignment(alignment: int) -> None:
    # In a stream behind one odd byte nothing is aligned at all.
    batch = pa.record_batch({"a": pa.array([1, None, 3]), "s": pa.array(["x", "yy", None])})
    data = b"\0" + by_pyarrow([batch], "stream")
    assert list(colkern.ipc.open(memoryview(data)[1:])) == [batch_from_pyarrow(batch)]


def test_a_struct_wrapped_stream_as_spark_sends_it() -> None:
    rows = [{"id": k, "name": str(k), "tags": [k]} for k in range(100)]
    batch = pa.record_batch({"_0": pa.array(rows)})
    reader = colkern.ipc.open(by_pyarrow([batch, batch], "stream", compression="zstd"))
    assert [b["_0"].to_pylist() for b in reader] == [rows, rows]


def test_extension_types_by_name_and_parameters() -> None:
    batch = pa.record_batch({"u": pa.array([b"0" * 16], pa.uuid())})
    (ours,) = colkern.ipc.open(by_pyarrow([batch], "stream"))
    type_ = ours.schema.field("u").type
    assert isinstance(type_, Extension)
    assert type_.extension_name == "arrow.uuid"
    assert ours.schema.field("u").metadata is None
    assert present(ours["u"].buffers[1]).tobytes() == b"0" * 16


def test_an_empty_schema_keeps_its_rows() -> None:
    batch = pa.record_batch({"a": [1, 2]}).select([])
    (ours,) = colkern.ipc.open(by_pyarrow([batch], "stream"))
    assert (ours.num_columns, ours.num_rows) == (0, 2)


VALUES = st.lists(
    st.none()
    | st.fixed_dictionaries(
        {
            "i": st.none() | st.integers(-(2**63), 2**63 - 1),
            "s": st.none() | st.text(st.characters(codec="utf-8"), max_size=20),
            "l": st.none() | st.lists(st.none() | st.binary(max_size=3), max_size=3),
            "f": st.none() | st.floats(allow_nan=False),
        }
    ),
    max_size=20,
)
STRUCT = pa.struct(
    {
        "i": pa.int64(),
        "s": pa.string_view(),
        "l": pa.large_list(pa.binary()),
        "f": pa.dictionary(pa.int8(), pa.float64()),
    }
)


@given(VALUES, st.sampled_from([None, "lz4", "zstd"]), st.sampled_from(["stream", "file"]))
def test_any_values(values: list[object], codec: str | None, fmt: str) -> None:
    batch = pa.record_batch({"c": pa.array(values, STRUCT)})
    (ours,) = colkern.ipc.open(by_pyarrow([batch], fmt, compression=codec))
    assert ours["c"].to_pylist() == values

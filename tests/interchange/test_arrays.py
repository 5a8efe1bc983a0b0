"""C Data interface, "The ArrowArray structure": every type from and to pyarrow, without copies."""

from __future__ import annotations

import datetime as dt
import decimal
import gc
import itertools
import pickle
from typing import Any

import nanoarrow as na
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from present import present

from colkern import Array, Buffer, Device, RecordBatch, errors
from colkern.interchange import (
    export_array,
    export_batch,
    import_array,
    import_batch,
    import_schema,
)

NUMBERS = [1, None, 3, 4, None]
TEXTS = ["a", None, "", "a text that is longer than twelve bytes", "ü"]
BYTES = [None if text is None else text.encode() for text in TEXTS]
LISTS = [[1, 2], None, [], [3, None], [4]]
DAYS = [dt.date(2020, 2, 29), None, dt.date(1969, 12, 31), dt.date(1, 1, 1), None]
CODES = pa.array([0, 1, 0, 1, 0], pa.int8())


def runs(data_type: pa.DataType) -> pa.Array:
    values = pa.array(["a", None, "b"])
    return pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 5], data_type), values)


def samples() -> dict[str, pa.Array]:
    numbers = [
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
        *(pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(30, 2), pa.decimal256(50, 2)),
    ]
    times = [
        *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
        *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
        pa.timestamp("us", "Europe/Berlin"),
        *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    ]
    arrays = [pa.array(np.array([1, 2, 3, 4, 5], np.float16), pa.float16(), mask=np.eye(5)[1] > 0)]
    for data_type in numbers:
        values: Any = NUMBERS
        if pa.types.is_decimal(data_type):
            values = [None if v is None else decimal.Decimal(v) for v in NUMBERS]
        if not pa.types.is_float16(data_type):
            arrays.append(pa.array(values, data_type))
    for data_type in times:
        raw = pa.int32() if data_type.bit_width == 32 else pa.int64()
        arrays.append(pa.array(NUMBERS, raw).view(data_type))
    arrays += [pa.array(DAYS, pa.date32()), pa.array(DAYS, pa.date64())]
    arrays += [pa.array(TEXTS, kind) for kind in (pa.utf8(), pa.large_utf8(), pa.string_view())]
    arrays += [pa.array(BYTES, kind) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())]
    arrays += [
        pa.array(LISTS, kind(pa.int32()))
        for kind in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view)
    ]
    arrays += [
        pa.nulls(5),
        pa.array([True, None, False, True, True]),
        pa.array([(1, 2, 3), None, (4, 5, 6), None, (0, 0, -1)], pa.month_day_nano_interval()),
        pa.array([b"abc", None, b"def", b"ghi", None], pa.binary(3)),
        pa.array([[1, 2], None, [3, None], [4, 5], [6, 7]], pa.list_(pa.int8(), 2)),
        pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 2}, {}]),
        pa.array(
            [[("k", 1)], None, [], [("l", None), ("m", 2)], []], pa.map_(pa.utf8(), pa.int8())
        ),
        pa.array(TEXTS).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1, 0], pa.uint8()), ["a", "b"]),
        pa.UnionArray.from_sparse(CODES, [pa.array(NUMBERS), pa.array(TEXTS)], ["n", "t"], [0, 1]),
        pa.UnionArray.from_dense(
            CODES, pa.array([0, 0, 1, 1, 2], pa.int32()), [pa.array(NUMBERS), pa.array(TEXTS)]
        ),
        *(runs(data_type) for data_type in (pa.int16(), pa.int32(), pa.int64())),
        pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([b"0123456789abcdef", None] * 2 + [None], pa.binary(16))
        ),
        pa.array([[TEXTS, None], None, [], [[]], [TEXTS]], pa.list_(pa.list_(pa.string_view()))),
        pa.array(
            [{"d": TEXTS}] * 5, pa.struct({"d": pa.list_(pa.dictionary(pa.int8(), pa.utf8()))})
        ),
    ]
    return {str(array.type): array for array in arrays}


SAMPLES = samples()


def is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def same(ours: Array, theirs: pa.Array) -> None:
    back = pa.array(ours)
    # pyarrow makes a few arrays, and brings empty slices of views through the interface, in a way
    # that it then finds invalid: its own trip is the measure.
    assert is_valid(back) or not is_valid(pa.array(Forwarded(theirs)))
    assert back.type == theirs.type
    assert back.equals(theirs)
    assert len(ours) == len(theirs)


class Forwarded:
    """Makes pyarrow take its own array through the interface."""

    def __init__(self, array: pa.Array) -> None:
        self.__arrow_c_array__ = array.__arrow_c_array__


@pytest.mark.parametrize("name", SAMPLES)
def test_each_type_goes_both_ways(name: str) -> None:
    same(import_array(SAMPLES[name]), SAMPLES[name])


@pytest.mark.parametrize("name", SAMPLES)
def test_slices_keep_their_offset(name: str) -> None:
    whole = SAMPLES[name]
    for start, stop in itertools.combinations(range(len(whole) + 1), 2):
        part = whole.slice(start, stop - start)
        ours = import_array(part)
        assert ours.offset == part.offset
        same(ours, part)
        same(import_array(whole).slice(start, stop - start), part)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_empty_part_is_valid_where_it_goes(name: str) -> None:
    part = pa.array(import_array(SAMPLES[name]).slice(3, 0))
    part.validate(full=True)
    assert len(pa.concat_arrays([part])) == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_empty_and_all_null(name: str) -> None:
    data_type = SAMPLES[name].type
    same(import_array(SAMPLES[name].slice(5)), SAMPLES[name].slice(5))
    if not pa.types.is_union(data_type):
        empty, nulls = pa.nulls(0, data_type), pa.nulls(3, data_type)
        same(import_array(empty), empty)
        same(import_array(nulls), nulls)


@pytest.mark.parametrize("kind", [na.interval_months(), na.interval_day_time()])
def test_intervals_that_pyarrow_cannot_make(kind: Any) -> None:
    width = 4 if kind == na.interval_months() else 8
    theirs = na.c_array_from_buffers(kind, 3, [b"\x05", bytes(range(3 * width))])
    back = na.c_array(import_array(theirs))
    assert back.schema.format == theirs.schema.format
    assert [bytes(b) for b in na.Array(back).buffers] == [
        bytes(b) for b in na.Array(theirs).buffers
    ]


def addresses(array: pa.Array) -> list[int]:
    return [buffer.address for buffer in array.buffers() if buffer is not None and buffer.size]


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_copied(name: str) -> None:
    theirs = SAMPLES[name]
    back = pa.array(import_array(theirs))
    if isinstance(theirs, pa.ExtensionArray):
        theirs, back = theirs.storage, back.storage
    assert set(addresses(theirs)) <= set(addresses(back))


def test_views_bring_all_their_data_buffers() -> None:
    parts = [
        pa.array([f"{letter * 40}{i}" for i in range(50)], pa.string_view()) for letter in "abc"
    ]
    theirs = pa.concat_arrays(parts)
    ours = import_array(theirs)
    assert len(ours.data_buffers) == len(theirs.buffers()) - 2 > 1
    same(ours, theirs)
    inline = pa.array(["short", None], pa.string_view())
    same(import_array(inline), inline)


def test_entries_of_maps_are_exported_from_slot_0() -> None:
    # pyarrow reads keys and items without the offset of their struct.
    maps = import_array(
        pa.array([[("a", 1)], [("b", 2)], [("c", 3)]], pa.map_(pa.utf8(), pa.int8()))
    )
    ours = Array(maps.type, 2, maps.buffers, [maps.children[0].slice(1)])
    assert pa.array(ours).to_pylist() == [[("b", 2)], [("c", 3)]]
    (entries,) = ours.children
    short = Array(
        entries.type, 2, [None], [child.slice(0, 2) for child in entries.children], offset=1
    )
    with pytest.raises(errors.InvalidArrowError, match="key of a map: 2 values, 3 are used"):
        pa.array(Array(maps.type, 2, maps.buffers, [short]))


def test_null_counts_are_taken_over_and_may_be_unknown(producer: Any) -> None:
    assert import_array(pa.array(NUMBERS)).known_null_count == 2
    unknown = producer.array(2, [b"\x01", bytes(16)], null_count=-1)
    ours = import_array(producer.exporter(producer.schema(), unknown))
    assert ours.known_null_count == -1
    assert pa.array(ours).null_count == 1


def test_without_a_bitmap_nothing_is_null_on_either_side(producer: Any, c: Any) -> None:
    # The bitmap may be missing only where the null count is 0.
    unknown = producer.array(2, [None, bytes(16)], null_count=-1)
    ours = import_array(producer.exporter(producer.schema(), unknown))
    assert ours.known_null_count == 0
    result = Array(ours.type, 2, [None, ours.buffers[1]])
    assert c.struct_in(export_array(result)[1], c.Array).null_count == 0


@pytest.mark.parametrize("name", ["null", "run_end_encoded<run_ends: int16, values: string>"])
def test_null_counts_without_bitmaps_are_exported_as_specified(name: str, c: Any) -> None:
    struct = c.struct_in(export_array(import_array(SAMPLES[name]))[1], c.Array)
    assert struct.null_count == (5 if name == "null" else 0)


def test_buffers_of_no_bytes_are_not_null_pointers(c: Any) -> None:
    empty = import_array(pa.array([], pa.utf8()))
    struct = c.struct_in(export_array(Array(empty.type, 0, [None] * 3))[1], c.Array)
    # Consumers may read the first offset.
    assert struct.buffers[0] is None
    assert struct.buffers[1]
    assert struct.buffers[2]


def test_misaligned_buffers_are_taken(producer: Any) -> None:
    values = np.array([1, 2, 3], np.int64)
    theirs = producer.array(3, [None, b"\0" + values.tobytes()])
    theirs.buffers[1] += 1
    ours = import_array(producer.exporter(producer.schema(), theirs))
    assert present(ours.buffers[1]).address % 8
    assert present(ours.buffers[1]).tobytes() == values.tobytes()
    assert pa.array(ours).to_pylist() == [1, 2, 3]


def test_bytes_on_a_device_are_not_exported() -> None:
    ours = import_array(pa.array([1, 2]))
    there = Buffer(present(ours.buffers[1]).array, Device("cuda"))
    with pytest.raises(errors.UnsupportedError, match="cuda:0"):
        export_array(Array(ours.type, 2, [None, there]))


def test_a_requested_schema_is_not_followed() -> None:
    ours = import_array(pa.array([1, 2]))
    assert pa.array(ours, pa.int64()).type == pa.int64()
    schema, _ = ours.__arrow_c_array__(pa.int32().__arrow_c_schema__())
    assert pa.DataType._import_from_c_capsule(schema) == pa.int64()


def test_only_objects_with_the_methods_are_imported() -> None:
    with pytest.raises(TypeError, match="list"):
        import_array([1, 2])


def test_imported_arrays_pickle_by_value() -> None:
    ours = import_array(pa.array(NUMBERS))
    again = [pickle.loads(pickle.dumps(buffer)) for buffer in ours.buffers]
    assert [b.tobytes() for b in again] == [present(b).tobytes() for b in ours.buffers]
    assert again[1].address == again[1].array.ctypes.data != present(ours.buffers[1]).address
    assert not again[1].array.flags.writeable


def test_equal_types_with_other_metadata_keep_their_own() -> None:
    # `==` does not compare metadata, so nothing may be cached by it.
    for value in (b"1", b"2"):
        item = pa.field("item", pa.int8(), metadata={b"k": value})
        for data_type in (pa.list_(item), pa.dictionary(pa.int8(), pa.struct([item]))):
            back = pa.array(import_array(pa.nulls(2, data_type))).type
            fields = back.value_type if pa.types.is_dictionary(back) else [back.value_field]
            assert [field.metadata for field in fields] == [{b"k": value}]


# Batches


def sample_batch() -> pa.RecordBatch:
    names = [f"c{i}" for i in range(len(SAMPLES))]
    schema = pa.schema(
        [pa.field(n, a.type) for n, a in zip(names, SAMPLES.values(), strict=True)], {"k": "v"}
    )
    return pa.RecordBatch.from_arrays(list(SAMPLES.values()), schema=schema)


def test_batches_go_both_ways() -> None:
    theirs = sample_batch()
    ours = import_batch(theirs)
    assert ours.schema == import_schema(theirs.schema)
    assert ours.schema.metadata == {b"k": b"v"}
    back = pa.record_batch(ours)
    back.validate(full=True)
    assert back.equals(theirs, check_metadata=True)


@pytest.mark.parametrize("bounds", [(1, 3), (0, 2), (2, 3), (5, 0)])
def test_slices_of_batches(bounds: tuple[int, int]) -> None:
    theirs = sample_batch().slice(*bounds)
    assert pa.record_batch(import_batch(theirs)).equals(theirs)
    assert pa.record_batch(import_batch(sample_batch()).slice(*bounds)).equals(theirs)


def test_a_struct_array_with_an_offset_is_a_batch_of_its_rows() -> None:
    rows = pa.array([{"a": 1}, {"a": 2}, {"a": 3}])
    assert import_batch(rows.slice(1)).num_rows == 2
    assert pa.record_batch(import_batch(rows.slice(1)))["a"].to_pylist() == [2, 3]


def test_a_batch_without_columns_keeps_its_rows() -> None:
    theirs = pa.record_batch({"a": [1, 2, 3]}).select([])
    ours = import_batch(theirs)
    assert (ours.num_rows, ours.num_columns) == (3, 0)
    assert pa.record_batch(RecordBatch(ours.schema, [], 3)).num_rows == 3


def test_a_batch_comes_as_an_array_of_structs() -> None:
    theirs = sample_batch().select([0, 1])
    ours = import_array(theirs)
    assert pa.array(ours).equals(theirs.to_struct_array())


def test_null_rows_are_not_a_batch() -> None:
    with pytest.raises(errors.InvalidArrowError, match="1 rows"):
        import_batch(pa.array([{"a": 1}, None]))


def test_an_array_of_numbers_is_not_a_batch() -> None:
    with pytest.raises(TypeError, match="int64"):
        import_batch(pa.array([1]))


def test_columns_are_read_when_asked_for(producer: Any) -> None:
    good, bad = producer.array(1, [None, bytes(8)]), producer.array(1, [None])
    rows = producer.array(1, [None], children=[good, bad])
    fields = [producer.schema(name=b"good"), producer.schema(name=b"bad")]
    batch = import_batch(producer.exporter(producer.schema(b"+s", children=fields), rows))
    assert len(batch["good"]) == 1
    with pytest.raises(errors.InvalidArrowError, match="field 'bad'"):
        batch["bad"]


def test_export_batch_makes_a_struct_without_nulls(c: Any) -> None:
    _, capsule = export_batch(import_batch(sample_batch()))
    struct = c.struct_in(capsule, c.Array)
    assert (struct.length, struct.null_count, struct.offset) == (5, 0, 0)
    assert (struct.n_buffers, struct.n_children) == (1, len(SAMPLES))


# Any array


LEAVES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.utf8(): st.text(max_size=20),
    pa.large_binary(): st.binary(max_size=20),
    pa.string_view(): st.text(max_size=20),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.decimal128(10, 2): st.decimals(-1000, 1000, places=2),
    pa.timestamp("us", "UTC"): st.integers(0, 2**40),
    pa.dictionary(pa.int8(), pa.utf8()): st.sampled_from(["a", "b", ""]),
    pa.null(): st.none(),
}
Typed = tuple[pa.DataType, st.SearchStrategy[Any]]


def nested(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    def lists(typed: Typed, kind: Any) -> Typed:
        return kind(typed[0]), st.lists(st.none() | typed[1], max_size=4)

    def fixed(typed: Typed, size: int) -> Typed:
        return pa.list_(typed[0], size), st.lists(
            st.none() | typed[1], min_size=size, max_size=size
        )

    def structs(members: list[Typed]) -> Typed:
        names = [f"f{i}" for i in range(len(members))]
        values = {name: st.none() | m[1] for name, m in zip(names, members, strict=True)}
        return (
            pa.struct([pa.field(n, m[0]) for n, m in zip(names, members, strict=True)]),
            st.fixed_dictionaries(values),
        )

    kinds = st.sampled_from([pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
    return st.one_of(
        st.builds(lists, inner, kinds),
        st.builds(fixed, inner, st.integers(0, 3)),
        st.builds(structs, st.lists(inner, max_size=3)),
    )


TYPES = st.recursive(st.sampled_from(list(LEAVES.items())), nested, max_leaves=4)


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    data_type, values = draw(TYPES)
    array = pa.array(draw(st.lists(st.none() | values, max_size=12)), data_type)
    start = draw(st.integers(0, len(array)))
    return array.slice(start, draw(st.integers(0, len(array) - start)))


@given(arrays())
def test_any_array_goes_both_ways(theirs: pa.Array) -> None:
    same(import_array(theirs), theirs)


@given(arrays(), st.data())
def test_any_slice_of_ours_goes_out(theirs: pa.Array, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(theirs)))
    count = data.draw(st.integers(0, len(theirs) - start))
    same(import_array(theirs).slice(start, count), theirs.slice(start, count))


def test_many_imports_leave_no_memory_behind() -> None:
    theirs = sample_batch()
    pa.record_batch(import_batch(theirs))
    gc.collect()
    before = pa.total_allocated_bytes(), len(gc.get_objects())
    for _ in range(50):
        batch = import_batch(pa.record_batch({"a": pa.array(range(10_000)), "b": [1.5] * 10_000}))
        pa.record_batch(batch).validate()
        pa.record_batch(import_batch(theirs))
    del batch
    gc.collect()
    after = pa.total_allocated_bytes(), len(gc.get_objects())
    assert after[0] == before[0]
    assert after[1] < before[1] + 200

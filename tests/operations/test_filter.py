"""`filter`: the slots that a mask chooses, of every layout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array, record_batch
from colkern.cpu import target
from colkern.cpu.threads import set_num_threads
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer
from colkern.operations import concat, filter, nulls, validate

T, F, N = True, False, None
MASKS: list[list[bool | None]] = [
    [T] * 12,
    [F] * 12,
    [T, F] * 6,
    [F, F, T, T, T, F, T, F, F, F, T, T],
    [T, N, F, N, T, T, F, N, N, F, T, F],
    [N] * 12,
]
PYARROW_DOES_NOT_FILTER = {
    "utf8_view",
    "binary_view",
    "list of views",
    "run-end encoded",
    "run-end encoded, int64 ends",
}


def booleans(values: Sequence[bool | None]) -> Array:
    return from_pyarrow(pa.array(values, pa.bool_()))


def chosen(values: list[object], mask: Sequence[bool | None], emit: bool = False) -> list[object]:
    pairs = zip(values, mask, strict=True)
    return [None if keep is None else v for v, keep in pairs if keep or (emit and keep is None)]


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("mask", MASKS)
def test_filter_is_choosing_from_a_list(name: str, mask: list[bool | None]) -> None:
    array = sample(name)
    values = array.to_pylist()
    dropped = filter(array, booleans(mask))
    assert dropped.to_pylist() == chosen(values, mask)
    assert dropped.type == array.type
    validate(dropped, full=True)
    emitted = filter(array, booleans(mask), null_selection="emit_null")
    assert emitted.to_pylist() == chosen(values, mask, emit=True)
    validate(emitted, full=True)


@pytest.mark.parametrize("name", samples())
def test_filter_of_slices(name: str) -> None:
    array = sample(name)
    for mask in MASKS:
        for offset, length, first in ((3, 7, 0), (1, 11, 1), (5, 0, 3), (4, 8, 2)):
            part, bits = array.slice(offset, length), booleans(mask).slice(first, length)
            expected = chosen(array.to_pylist()[offset:][:length], mask[first:][:length])
            actual = filter(part, bits)
            assert actual.to_pylist() == expected
            validate(actual, full=True)


@pytest.mark.parametrize("name", sorted(samples().keys() - PYARROW_DOES_NOT_FILTER))
def test_filter_agrees_with_pyarrow(name: str) -> None:
    theirs = samples()[name]
    for mask in MASKS:
        bits = pa.array(mask, pa.bool_())
        how: Literal["drop", "emit_null"]
        for how in ("drop", "emit_null"):
            expected = from_pyarrow(theirs.filter(bits, null_selection_behavior=how))
            actual = filter(sample(name), booleans(mask), null_selection=how)
            assert actual.to_pylist() == expected.to_pylist()
            assert actual.null_count == expected.null_count


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.99, 1.0])
def test_many_slots(name: str, share: float) -> None:
    if name == "int64, no nulls":
        array = ints(list(range(12 * 800)))
    else:
        array = concat([sample(name)] * 800)
    rng = random.Random(repr((name, share)))
    mask = [rng.random() < share for _ in range(len(array))]
    for first in (0, 5):
        part, bits = array.slice(first), booleans(mask).slice(first)
        actual = filter(part, bits)
        validate(actual, full=True)
        assert actual.to_pylist() == chosen(part.to_pylist(), mask[first:])


@given(st.data())
def test_filter_anything(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(samples())))
    array = sample(name)
    array = array if len(array.data_buffers) else concat([array] * 12)
    offset = data.draw(st.integers(0, len(array)))
    part = array.slice(offset, data.draw(st.integers(0, 140)))
    before = data.draw(st.integers(0, 9))
    mask = data.draw(st.lists(st.sampled_from((T, F, N)), min_size=len(part), max_size=len(part)))
    bits = booleans([*[T] * before, *mask]).slice(before)
    emit = data.draw(st.booleans())
    actual = filter(part, bits, null_selection="emit_null" if emit else "drop")
    assert actual.to_pylist() == chosen(part.to_pylist(), mask, emit)
    validate(actual, full=True)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("share", [0.002, 0.03, 0.1, 0.3, 0.95])
def test_stretches_of_any_share(
    share: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As masks of more than a million slots are cut for threads.
    monkeypatch.setattr(target, "_WORTH_BLOCKS", 64)
    monkeypatch.setattr(target, "WORTH_WAKING", 0)
    rng = np.random.default_rng(7)
    count, begin = 30_011, 5
    numbers = rng.integers(0, 256, 2 * count, np.uint8)
    valid = pa.array(rng.random(count) < 0.9)
    columns = {
        **{t: pa.array(numbers[:count].astype(t)) for t in ("uint8", "int16", "float32", "int64")},
        "nullable": pc.if_else(valid, pa.array(numbers[:count]), None),
        "bool": pa.array(numbers[:count] < 99),
        "pairs": pa.FixedSizeListArray.from_arrays(numbers.astype(np.int64), 2),
        "string": pa.array([str(n) * (n % 4) for n in numbers[:count].tolist()]),
    }
    theirs = pa.record_batch(columns).slice(begin)
    # Few at first, then all, then none, and then few again.
    kept = rng.random(count - begin) < share
    kept[5_000:13_100] = True
    kept[13_100:21_400] = False
    mask = pa.array(kept)
    set_num_threads(threads)
    try:
        result = filter(record_batch(theirs), from_pyarrow(mask))
        alone = {name: filter(from_pyarrow(theirs[name]), from_pyarrow(mask)) for name in columns}
    finally:
        set_num_threads(0)
    expected = theirs.filter(mask)
    for column, name in zip(result.columns, columns, strict=True):
        validate(column, full=True)
        assert column.to_pylist() == expected[name].to_pylist()
        assert alone[name].to_pylist() == expected[name].to_pylist()


@pytest.mark.parametrize("share", [0.002, 0.03])
def test_few_rows_of_a_batch(share: float) -> None:
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, 50, 9_001)
    columns = {
        "number": pa.array(numbers),
        "string": pa.array([None if n == 7 else "x" * n for n in numbers.tolist()]),
        "bool": pa.array(numbers < 10),
        "list": pa.array([[n, n] for n in numbers.tolist()]),
        "struct": pa.array([{"a": n} for n in numbers.tolist()]),
    }
    theirs, mask = pa.record_batch(columns), pa.array(rng.random(9_001) < share)
    result = filter(record_batch(theirs), from_pyarrow(mask))
    expected = theirs.filter(mask)
    for column, name in zip(result.columns, columns, strict=True):
        validate(column, full=True)
        assert column.to_pylist() == expected[name].to_pylist()


def test_a_mask_without_a_type_is_none_or_nulls() -> None:
    """`array([])` cannot know of what it is empty."""
    assert filter(array([], s.utf8()), array([])).equals(array([], s.utf8()))
    assert filter(array(["a"]), array([None])).equals(array([], s.utf8()))


def test_all_kept_is_the_array_itself() -> None:
    array = sample("utf8")
    assert filter(array, booleans([T] * 12)) is array


def test_bitmap_without_nulls_is_left_out() -> None:
    actual = filter(ints([1, None, 3]), booleans([T, F, T]))
    assert actual.buffers[0] is None
    assert actual.null_count == 0


def test_rows_of_a_batch() -> None:
    table = pa.record_batch({"n": [1, 2, 3], "t": ["a", None, "c"]})
    batch, mask = record_batch(table), [T, N, T]
    expected = table.filter(pa.array(mask))
    assert filter(batch, booleans(mask)).to_pydict() == expected.to_pydict()
    emitted = filter(batch, booleans(mask), null_selection="emit_null")
    assert emitted.to_pydict() == {"n": [1, None, 3], "t": ["a", None, "c"]}
    assert len(filter(batch.select([]), booleans(mask))) == 2
    assert filter(batch, booleans([T] * 3)) is batch


def test_a_column_of_a_batch_is_copied_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def load(position: int) -> Array:
        asked.append(position)
        return ints([1, 2, 3])

    batch = RecordBatch.lazy(s.Schema([("a", "int64"), ("b", "int64")]), 3, load)
    actual = filter(batch, booleans([T, F, T]))
    assert (len(actual), asked) == (2, [])
    assert actual["b"].to_pylist() == [1, 3]
    assert asked == [1]


@pytest.mark.parametrize("null_selection", ["drop", "emit_null"])
@pytest.mark.parametrize("mask", MASKS)
def test_many_columns_are_filtered_as_one_is(
    mask: list[bool | None], null_selection: Literal["drop", "emit_null"]
) -> None:
    # Several of each type, in turns, and parts of longer columns.
    names = [name for name in samples() if "union" not in name]
    columns = [
        concat([sample(name), sample(name)]).slice(start, 12)
        for start in range(6)
        for name in names
    ]
    schema = s.Schema([(f"{k}", column.type) for k, column in enumerate(columns)])
    bits = booleans(mask)
    batch = RecordBatch(schema, columns)
    actual = filter(batch, bits, null_selection=null_selection)
    actual.column(2)  # One that was asked for alone.
    for own, column in zip(columns, actual.columns, strict=True):
        assert column.type == own.type
        assert column.equals(filter(own, bits, null_selection=null_selection))
        validate(column, full=True)
    chosen = batch.select([3, 2, 3]).slice(2, 9)
    again = filter(chosen, bits.slice(2, 9), null_selection=null_selection).columns
    for own, column in zip(chosen.columns, again, strict=True):
        assert column.equals(filter(own, bits.slice(2, 9), null_selection=null_selection))


def test_mask_of_an_extension_type() -> None:
    storage = booleans([T, F])
    mask = Array(s.extension("flag", s.bool_()), 2, storage.buffers)
    assert filter(ints([1, 2]), mask).to_pylist() == [1]


def test_what_stands_under_a_null_of_the_mask_does_not_count() -> None:
    mask = Array(s.bool_(), 3, [Buffer.from_object(b"\x05"), Buffer.from_object(b"\x07")])
    assert filter(ints([1, 2, 3]), mask).to_pylist() == [1, 3]


def test_a_second_filter_of_the_same_types_checks_its_arguments_too() -> None:
    """What is kept of the first call is about types alone."""
    values, mask = array([1, None, 3]), array([T, N, T])
    assert filter(values, mask).to_pylist() == filter(values, mask).to_pylist() == [1, 3]
    assert filter(values, mask, null_selection="emit_null").to_pylist() == [1, N, 3]
    with pytest.raises(ValueError, match="mask: 2 booleans for 3 values"):
        filter(values, mask[:2])
    with pytest.raises(ValueError, match="null_selection"):
        filter(values, mask, null_selection="keep")  # type: ignore[call-overload]
    texts = s.utf8()
    filter(array(["a", "b"], texts), array([T, F]))
    bad = Array(texts, 2, [None, buffer([0, 1, 9], "<i4"), Buffer.from_object(b"ab")])
    with pytest.raises(InvalidArrowError):
        filter(bad, array([T, F]))


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="mask: expected booleans, got int64"):
        filter(ints([1]), ints([1]))
    codes = from_pyarrow(pa.array([True]).dictionary_encode())
    with pytest.raises(TypeError, match=r"got dictionary<.*; colkern.cast\(array, .*\) decodes it"):
        filter(ints([1]), codes)
    with pytest.raises(ValueError, match="mask: 2 booleans for 1 values"):
        filter(ints([1]), booleans([T, F]))
    with pytest.raises(ValueError, match="expected 'drop' or 'emit_null', got 'keep'"):
        filter(ints([1]), booleans([T]), null_selection="keep")  # type: ignore[call-overload]


def test_bad_input_is_refused() -> None:
    array = Array(s.list_(s.int64()), 1, [None, buffer([0, 5], "<i4")], [ints([1])])
    with pytest.raises(InvalidArrowError):
        filter(array, booleans([T]))


def test_lists_of_many_nulls() -> None:
    # Nulls take no room, so a list of them may be as long as an offset can say.
    offsets = buffer([0, 2**30, 2**30, 2**31 - 1], "<i4")
    array = Array(s.list_(s.null()), 3, [None, offsets], [nulls(2**31 - 1, s.null())])
    assert [len(v) for v in filter(array, booleans([F, T, F])).to_pylist()] == [0]

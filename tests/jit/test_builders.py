"""Arrays that compiled code builds are what was appended, and nothing else."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import re
import threading
import weakref
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import type_of
from arrow_strategies import LEAVES
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from numpy.typing import NDArray

import colkern as ck
from colkern.jit.elements.memory import element
from colkern.kernels.row_values import Bytes, Text

# Values of every type

NUMBERS = {
    "boolean": pa.bool_(),
    "i1": pa.int8(),
    "i8": pa.int64(),
    "u8": pa.uint64(),
    "f2": pa.float16(),
    "f4": pa.float32(),
    "decimal_7": pa.decimal32(7, 2),
    "day_ms": pa.date64(),
    "time_s": pa.time32("s"),
    "instant": pa.timestamp("us", "UTC"),
}
WORDS = {"decimal_38": pa.decimal128(38, 3), "decimal_76": pa.decimal256(76, 10)}
BYTES = {
    "text": pa.utf8(),
    "long_octets": pa.large_binary(),
    "three": pa.binary(3),
}
ALL = NUMBERS | WORDS | BYTES


def appending_lines() -> list[str]:
    """A function that appends a row to a struct of all types, one line a field."""
    values = {name: f"{name}[i]" for name in NUMBERS}
    values["decimal_38"] = "(decimal_38[i, 0], decimal_38[i, 1])"
    values["decimal_76"] = (
        "(decimal_76[i, 0], decimal_76[i, 1], decimal_76[i, 2], decimal_76[i, 3])"
    )
    for name in BYTES:
        place = f"np.int64({name}[i, 0]), np.int64({name}[i, 1])"
        values[name] = (
            f"element(Text({place}, False))" if "text" in name else f"element(Bytes({place}))"
        )
    lines = [f"def append_row(i, valid, {', '.join(ALL)}, out):"]
    for k, name in enumerate(ALL):
        lines.append(f"    if valid[i, {k}]: out.{name}.append({values[name]})")
        lines.append(f"    else: out.{name}.append_null()")
    return [*lines, "    out.end_row()"]


def compiled_rows() -> Any:
    namespace = {"np": np, "element": element, "Text": Text, "Bytes": Bytes}
    exec("\n".join(appending_lines()), namespace)
    append_row = numba.njit(namespace["append_row"])

    @numba.njit
    def append_rows(valid, columns, out):
        for i in range(len(valid)):
            append_row(i, valid, *columns, out)

    return append_rows


append_rows = compiled_rows()


def as_arguments(name: str, array: pa.Array) -> NDArray[Any]:
    """The values of a pyarrow array, as the compiled function takes it."""
    if name in BYTES:
        # Addresses and lengths; the array outlives the call.
        values = [
            value or b""
            for value in array.cast(pa.binary() if name == "text" else array.type).to_pylist()
        ]
        kept = [np.frombuffer(value + b"\0", np.uint8) for value in values]
        KEPT.append(kept)
        pairs = [(k.ctypes.data, len(v)) for k, v in zip(kept, values, strict=True)]
        return np.array(pairs, np.uint64).reshape(-1, 2)
    if name == "boolean":
        return np.array([bool(value) for value in array.to_pylist()], np.bool_)
    if name in WORDS:
        words = array.type.bit_width // 64
        return np.frombuffer(array.buffers()[1], np.int64)[: len(array) * words].reshape(-1, words)
    widths = {"decimal_7": "i4", "time_s": "i4"}
    item = np.dtype(widths.get(name, name if len(name) == 2 else "i8"))
    items = np.frombuffer(array.buffers()[1], item)[: len(array)]
    return items.astype(np.float64) if name == "f2" else items


KEPT: list[Any] = []


@st.composite
def columns_of_all_types(draw: st.DrawFn) -> list[pa.Array]:
    length = draw(st.integers(0, 5))
    return [
        pa.array(draw(st.lists(st.none() | LEAVES[type_], min_size=length, max_size=length)), type_)
        for type_ in ALL.values()
    ]


@settings(max_examples=60)
@given(columns_of_all_types(), st.integers(1, 40))
def test_values_of_every_type_come_out_as_they_went_in(columns: list[pa.Array], times: int) -> None:
    out = ck.Builder(ck.struct([(name, type_of(type_)) for name, type_ in ALL.items()]))
    valid = np.array([column.is_valid().to_numpy(False) for column in columns], np.bool_).T.copy()
    valid = valid.reshape(len(columns[0]), len(ALL))
    arguments = tuple(map(as_arguments, ALL, columns))
    for _ in range(times):
        append_rows(valid, arguments, out)
    KEPT.clear()
    result = out.finish()
    result.validate(full=True)
    pa.array(result).validate(full=True)
    for field, column in zip(result.children, columns, strict=True):
        assert field.to_pylist() == column.to_pylist() * times
        assert field.null_count == column.null_count * times


# Nested values

NESTED = ck.struct(
    [
        ("lists", ck.list_(ck.large_list(ck.int32()))),
        ("maps", ck.map_(ck.utf8(), ck.int8())),
        ("pairs", ck.fixed_size_list(ck.null(), 2)),
    ]
)
LISTS, INNER, ELEMENT, MAPS, ENTRY, PAIRS, MEMBER, END = range(8)


@numba.njit
def follow(steps, out):
    """Append what steps of (part, whether it is a null, value) say."""
    for part, is_null, value in steps:
        if part == LISTS:
            out.lists.append_null() if is_null else out.lists.end_list()
        elif part == INNER:
            out.lists.values.append_null() if is_null else out.lists.values.end_list()
        elif part == ELEMENT:
            element = out.lists.values.values
            element.append_null() if is_null else element.append(value)
        elif part == MAPS:
            out.maps.append_null() if is_null else out.maps.end_map()
        elif part == ENTRY:
            out.maps.keys.append("even" if value % 2 == 0 else "odd")
            out.maps.items.append(None if is_null else value)
        elif part == PAIRS:
            out.pairs.append_null() if is_null else out.pairs.end_list()
        elif part == MEMBER:
            out.field("pairs").values.append(None)
        else:
            out.append_null() if is_null else out.end_row()


def steps_for(rows: list[Any]) -> NDArray[np.int64]:
    steps: list[tuple[int, bool, int]] = []

    def step(part: int, value: Any, number: int = 0) -> None:
        steps.append((part, value is None, number))

    for row in rows:
        for inner in (row or {}).get("lists") or []:
            for item in inner or []:
                step(ELEMENT, item, item or 0)
            step(INNER, inner)
        for _, item in (row or {}).get("maps") or []:
            step(ENTRY, item, item or 0)
        for member in (row or {}).get("pairs") or []:
            step(MEMBER, member)
        if row is not None:
            step(LISTS, row["lists"])
            step(MAPS, row["maps"])
            step(PAIRS, row["pairs"])
        step(END, row)
    return np.array(steps, np.int64).reshape(-1, 3)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


items = maybe(st.integers(-128, 127))
entries = items.map(lambda item: ("even" if (item or 0) % 2 == 0 else "odd", item))
nested_rows = st.fixed_dictionaries(
    {
        "lists": maybe(st.lists(maybe(st.lists(items, max_size=3)), max_size=3)),
        "maps": maybe(st.lists(entries, max_size=3)),
        "pairs": maybe(st.just([None, None])),
    }
)


@given(st.lists(maybe(nested_rows), max_size=6), st.integers(1, 30))
def test_nested_values_come_out_as_they_went_in(rows: list[Any], times: int) -> None:
    out = ck.Builder(NESTED)
    for _ in range(times):
        follow(steps_for(rows), out)
    result = out.finish()
    result.validate(full=True)
    pa.array(result).validate(full=True)
    assert result.to_pylist() == rows * times


@pytest.mark.parametrize(
    ("steps", "where"),
    [
        ([(ELEMENT, 0, 1)], "'item': 1 values of 'item' after the last end_list()"),
        ([(INNER, 0, 0)], "'lists': 1 values of 'item' after the last end_list()"),
        ([(ENTRY, 0, 1)], "'entries': 1 values of 'key' after the last end_map()"),
        ([(MEMBER, 0, 1)], "'pairs': 1 values of 'item' after the last end_list()"),
        ([(LISTS, 0, 0)], "1 values of 'lists' after the last end_row()"),
    ],
)
def test_values_that_no_slot_has_are_refused(steps: list[Any], where: str) -> None:
    out = ck.Builder(NESTED)
    follow(np.array(steps), out)
    with pytest.raises(ValueError, match=re.escape(where)):
        out.finish()
    out.clear()
    assert out.finish().to_pylist() == []


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([(LISTS, 0, 0), (END, 0, 0)], "end_row: not one value of 'maps' since the last row"),
        ([(MEMBER, 0, 1), (PAIRS, 0, 0)], "another number of values"),
        ([(ELEMENT, 0, 1), (INNER, 1, 0)], "end_list() is missing"),
        ([(ENTRY, 0, 1), (MAPS, 1, 0)], "end_map() is missing"),
        ([(MEMBER, 0, 1), (PAIRS, 1, 0)], "end_list() is missing"),
        ([(LISTS, 0, 0), (END, 1, 0)], "'lists': end_row() is missing"),
    ],
)
def test_slots_that_values_do_not_fit_are_refused(steps: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        follow(np.array(steps), ck.Builder(NESTED))


# Integers, text and nulls that a type does not have


@numba.njit
def append_all(values, out):
    for value in values:
        out.append(value)


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        (ck.int8(), [-128, 127], [-129, 128]),
        (ck.uint8(), [0, 255], [-1, 256]),
        (ck.uint64(), [0, 2**63 - 1], [-1]),
        (ck.decimal32(3), [-999, 999], [-1000, 1000]),
        (ck.decimal128(3), [-999, 999], [-1000, 1000]),
        (ck.time32("s"), [0, 86_399], [-1, 86_400]),
        (ck.date64(), [-86_400_000, 0], [1, -1]),
    ],
)
def test_integers_out_of_range_are_refused(
    type_: ck.DataType, good: list[int], bad: list[int]
) -> None:
    out = ck.Builder(type_)
    append_all(np.array(good), out)
    for value in bad:
        with pytest.raises(OverflowError, match=r"out of the range|no whole day"):
            append_all(np.array([value]), out)
    result = out.finish()
    result.validate(full=True)
    assert len(result) == len(good)


def test_the_upper_half_of_uint64_is_no_int64() -> None:
    out, unsigned = ck.Builder(ck.int64()), ck.Builder(ck.uint64())
    large = np.array([2**63], np.uint64)
    with pytest.raises(OverflowError):
        append_all(large, out)
    append_all(large, unsigned)
    assert unsigned.finish().to_pylist() == [2**63]


def test_strings_of_every_kind_are_appended_as_their_utf8() -> None:
    out = ck.Builder(ck.utf8())
    append_part = numba.njit(lambda column, out: out.append(column.value(0)[1:]))
    append_part(ck.array(["aé"]), out)
    for value in ("é€😀", "", None):
        out.append(value)
    assert out.finish().to_pylist() == ["é", "é€😀", "", None]


def test_text_is_no_bytes_and_binary_is_anything() -> None:
    text, octets = ck.Builder(ck.utf8()), ck.Builder(ck.binary())
    with pytest.raises(TypeError, match="to a builder of string"):
        text.append(b"ab")
    octets.append(b"\xff")
    octets.append("é")
    assert octets.finish().to_pylist() == [b"\xff", b"\xc3\xa9"]


def test_bytes_of_another_length_are_no_fixed_size_binary() -> None:
    out = ck.Builder(ck.fixed_size_binary(3))
    with pytest.raises(ValueError, match=r"fixed_size_binary\[3\]"):
        out.append(b"ab")


def test_a_field_that_is_not_nullable_takes_no_null() -> None:
    out = ck.Builder(ck.list_(ck.field("item", ck.int64(), nullable=False)))
    with pytest.raises(ValueError, match="not nullable"):
        out.values.append_null()
    out.append_null()
    assert out.finish().to_pylist() == [None]


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (ck.int64(), 1.5, "append: float64 to a builder of int64"),
        (ck.bool_(), 1, "append: int64 to a builder of bool"),
        (ck.utf8(), 1, "append: int64 to a builder of string"),
        (ck.list_(ck.int8()), 1, "append to its `values`, then call end_list()"),
        (ck.struct([("a", ck.int8())]), 1, "append to each of its fields, then call end_row()"),
        (ck.null(), 1, "append: int64 to a builder of null, which takes None alone"),
    ],
)
def test_a_value_of_another_kind_is_refused_in_one_line(
    type_: ck.DataType, value: Any, message: str
) -> None:
    append_in_compiled_code = numba.njit(lambda out, value: out.append(value))
    with pytest.raises(TypingError, match=re.escape(message)):
        append_in_compiled_code(ck.Builder(type_), value)
    with pytest.raises(
        TypeError, match=rf"\Aappend: .*{re.escape(message.removeprefix('append: '))}\Z"
    ):
        ck.Builder(type_).append(value)


def test_a_value_that_no_compiled_code_takes_is_refused_in_one_line() -> None:
    with pytest.raises(TypeError, match=r"^append: object to a builder of int64$"):
        ck.Builder(ck.int64()).append(object())


@pytest.mark.parametrize(
    "type_",
    [
        ck.utf8_view(),
        ck.dictionary(ck.int8(), ck.utf8()),
        ck.run_end_encoded(ck.int32(), ck.utf8()),
        ck.list_(ck.utf8_view()),
        ck.list_view(ck.int8()),
        ck.day_time_interval(),
    ],
)
def test_types_without_a_builder_are_named(type_: ck.DataType) -> None:
    with pytest.raises(ck.UnsupportedError, match="as the type of a builder"):
        ck.Builder(type_)


# Values that are appended whole


@numba.njit
def append_rows_of(column, out):
    for row in column:
        out.append(row)


def test_what_a_column_holds_is_appended_whole() -> None:
    moment = datetime(2020, 2, 29, 1, 2, 3)
    fields = {
        "small": (ck.decimal32(5, 2), Decimal("-1.25")),
        "wide": (ck.decimal256(60, 30), Decimal("-1e29")),
        "day": (ck.date64(), moment.date()),
        "moment": (ck.timestamp("ns"), moment),
        "time": (ck.time32("s"), moment.time()),
        "duration": (ck.duration("ms"), timedelta(seconds=-1)),
        "lists": (ck.list_(ck.large_list(ck.utf8())), [["é", None], [], None]),
        "pairs": (ck.fixed_size_list(ck.binary(), 2), [b"a", None]),
        "map": (ck.map_(ck.utf8(), ck.int64()), [("a", 1), ("b", None)]),
        "row": (ck.struct([("x", ck.float16())]), {"x": 0.5}),
    }
    kind = ck.struct([(name, type_) for name, (type_, _) in fields.items()])
    values = [{name: value for name, (_, value) in fields.items()}, None, dict.fromkeys(fields)]
    out = ck.Builder(kind)
    column = ck.array(values, kind)
    append_rows_of(column, out)
    result = out.finish()
    result.validate(full=True)
    assert result.to_pylist() == column.to_pylist()


@numba.njit
def append_made(out):
    out.a.append([1, 2])
    out.b.append(np.arange(3))
    out.c.append({"a": 1})
    out.d.append([("b", 2), ("c", 3)])
    out.e.append((1, None))
    out.end_row()


def test_what_compiled_code_makes_is_appended_whole() -> None:
    of_ints, of_items = ck.list_(ck.int8()), ck.map_(ck.utf8(), ck.int16())
    pair = ck.struct([("x", ck.int8()), ("y", ck.int8())])
    kinds = {"a": of_ints, "b": of_ints, "c": of_items, "d": of_items, "e": pair}
    out = ck.Builder(ck.struct(list(kinds.items())))
    append_made(out)
    result = out.finish()
    result.validate(full=True)
    items = {"c": [("a", 1)], "d": [("b", 2), ("c", 3)], "e": {"x": 1, "y": None}}
    assert result.to_pylist() == [{"a": [1, 2], "b": [0, 1, 2], **items}]


@numba.njit
def append_choices(numbers, out):
    for n in numbers:
        if n == 0:
            out.append(None)
        else:
            out.append((n, None) if n % 2 else (None, n))


@pytest.mark.parametrize("make", [ck.dense_union, ck.sparse_union])
def test_a_union_takes_a_tuple_with_one_value_and_its_own_slots(make: Any) -> None:
    kind = make([("odd", ck.int8()), ("even", ck.int64())])
    out = ck.Builder(ck.list_(kind))
    append_choices(np.array([1, 2, 0, 300]), out.values)
    out.end_list()
    result = out.finish()
    result.validate(full=True)
    assert result.to_pylist() == [[1, 2, None, 300]]
    append_rows_of(result, out)
    out.append_null()
    again = out.finish()
    again.validate(full=True)
    assert again.to_pylist() == [[1, 2, None, 300], None]


def test_a_union_has_no_part_of_a_slot() -> None:
    out = ck.Builder(ck.sparse_union([("odd", ck.int64()), ("even", ck.int8())]))
    with pytest.raises(OverflowError):
        append_choices(np.array([1, 300]), out)
    with pytest.raises(ValueError, match=r"1 values of 'odd' after the last append\(\)"):
        out.finish()


def test_a_union_takes_one_value() -> None:
    out = ck.Builder(ck.dense_union([("a", ck.int8()), ("b", ck.int8())]))
    for value, words in (((None, None), "none is"), ((1, 2), "several are")):
        with pytest.raises(ValueError, match=words):
            out.append(value)


@pytest.mark.parametrize("type_", [ck.decimal32(3, 1), ck.decimal128(3, 1)])
def test_decimals_are_rescaled_and_have_no_more_digits(type_: ck.DataType) -> None:
    out = ck.Builder(type_)
    append_rows_of(ck.array([Decimal("-99"), None], ck.decimal64(9, 0)), out)
    assert out.finish().to_pylist() == [Decimal("-99.0"), None]
    with pytest.raises(OverflowError, match="out of the range"):
        append_rows_of(ck.array([Decimal("100")], ck.decimal64(9, 0)), out)
    with pytest.raises(TypingError, match=r"append: .* to a builder of decimal"):
        append_rows_of(ck.array([Decimal("1.25")], ck.decimal64(9, 2)), out)


# Many at once


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=200), st.integers(0, 100))
def test_extend_takes_whole_arrays(numbers: list[int], nulls: int) -> None:
    out = ck.Builder(ck.int32())
    out.extend(np.array(numbers, np.int64))
    out.append_nulls(nulls)
    out.extend(np.array(numbers, np.int64)[::2])
    assert len(out) == len(numbers) + nulls + (len(numbers) + 1) // 2
    result = out.finish()
    result.validate(full=True)
    assert result.to_pylist() == [*numbers, *[None] * nulls, *numbers[::2]]


def test_extend_takes_booleans_and_rounds_halves() -> None:
    flags, halves = ck.Builder(ck.bool_()), ck.Builder(ck.float16())
    flags.extend(np.array([True, False, True]))
    halves.extend(np.array([0.1, 70_000.0]))
    assert flags.finish().to_pylist() == [True, False, True]
    assert halves.finish().to_pylist() == [float(np.float16(0.1)), float("inf")]


def test_extend_is_all_or_nothing() -> None:
    out = ck.Builder(ck.int32())
    with pytest.raises(OverflowError):
        out.extend(np.array([1, 2, 2**40]))
    assert len(out) == 0


def test_room_that_no_memory_has_is_an_error() -> None:
    out = ck.Builder(ck.int32())
    out.extend(np.array([7]))
    with pytest.raises(MemoryError, match="no memory for a builder to grow"):
        out.reserve(2**61)
    with pytest.raises(MemoryError):
        out.append_nulls(2**63 - 1)
    with pytest.raises(ValueError, match="negative"):
        out.reserve(-1)
    assert out.finish().to_pylist() == [7]


# Memory


def bytes_after(buffer: ck.Buffer) -> bytes:
    """The bytes behind a buffer in its last line of 64 bytes."""
    return ctypes.string_at(buffer.address + buffer.size, -buffer.size % 64)


@pytest.mark.parametrize("count", [1, 63, 65, 40_000])
def test_buffers_are_aligned_and_padded_with_zeros(count: int) -> None:
    # Memory that was used before, so that its bytes are not zero by chance.
    out = ck.Builder(ck.int32())
    for _ in range(2):
        out.extend(np.full(2 * count, -1))
        out.clear()
    out.extend(np.full(count, -1))
    out.append_null()
    result = out.finish()
    for buffer in result.buffers:
        assert buffer is not None
        assert buffer.address % 64 == 0
        assert not any(bytes_after(buffer))
    data = result.buffers[1]
    assert data is not None
    assert data.size == 4 * (count + 1)
    assert data.tobytes()[-4:] == bytes(4)


def test_without_nulls_there_is_no_bitmap() -> None:
    out = ck.Builder(ck.int32())
    out.extend(np.arange(3))
    assert out.finish().buffers[0] is None


def test_a_finished_builder_is_empty_and_its_array_stays() -> None:
    out = ck.Builder(ck.utf8())
    out.append("a")
    first = out.finish()
    assert len(out) == 0
    out.append("b")
    assert (first.to_pylist(), out.finish().to_pylist()) == (["a"], ["b"])


def test_a_dropped_builder_frees_its_memory() -> None:
    out = ck.Builder(ck.list_(ck.int32()))
    out.values.extend(np.arange(100_000))
    nodes = [weakref.ref(out), weakref.ref(out.values)]
    before = ck.memory_pool().kept_bytes
    del out
    gc.collect()
    assert [node() for node in nodes] == [None, None]
    assert ck.memory_pool().kept_bytes >= before + 400_000


@numba.njit
def append_until(stop, failing, out):
    for i in range(stop):
        out.values.append(i)
        if i == failing:
            raise ValueError("half way")
        out.end_list()


def test_extension_types_are_built_as_their_storage() -> None:
    out = ck.Builder(ck.uuid())
    out.append(bytes(range(16)))
    result = out.finish()
    assert result.type == ck.uuid()
    assert result.buffers[1] is not None
    assert result.buffers[1].tobytes() == bytes(range(16))


def test_what_was_complete_before_an_error_can_be_dropped_or_completed() -> None:
    out = ck.Builder(ck.list_(ck.int64()))
    with pytest.raises(ValueError, match="half way"):
        append_until(3, 1, out)
    with pytest.raises(ValueError, match=r"1 values of 'item' after the last end_list\(\)"):
        out.finish()
    out.end_list()
    assert out.finish().to_pylist() == [[0], [1]]


@numba.njit(nogil=True)
def count_to(stop, out):
    for i in range(stop):
        out.append(i)


def test_builders_grow_in_threads_without_the_gil() -> None:
    builders = [ck.Builder(ck.int64()) for _ in range(4)]
    threads = [threading.Thread(target=count_to, args=(100_000, out)) for out in builders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for out in builders:
        assert out.finish().to_pylist() == list(range(100_000))


@numba.njit
def same(out):
    return out.values


def test_a_function_may_return_a_builder() -> None:
    out = ck.Builder(ck.list_(ck.int64()))
    assert same(out) is out.values


def test_a_part_is_finished_with_the_whole() -> None:
    out = ck.Builder(ck.list_(ck.int64()))
    with pytest.raises(ValueError, match="finish: this is a part of a builder"):
        out.values.finish()


def test_a_builder_is_neither_copied_nor_pickled() -> None:
    out = ck.Builder(ck.int64())
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            attempt(out)


def test_names_that_a_type_does_not_have() -> None:
    out = ck.Builder(ck.struct([("a", ck.int64()), ("append", ck.int8())]))
    assert out.a.type == ck.int64()
    assert out.field("append").type == ck.int8()
    with pytest.raises(AttributeError, match="has no field 'b'"):
        _ = out.b
    with pytest.raises(AttributeError, match="has no field 'values'"):
        _ = ck.Builder(ck.int64()).values


def test_the_repr_says_type_and_length() -> None:
    out = ck.Builder(ck.int64())
    out.append(1)
    assert repr(out) == "<colkern.Builder of int64: 1 values>"

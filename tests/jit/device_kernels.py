"""Users' CUDA kernels over Arrow columns, and what each of them should write: for the simulator.

Each case is a function that ends with an assertion; `simulated_kernels` runs them all.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from arrow_strategies import arrays
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jit.checksums import checksum, kernel_source
from jit.element_cases import CASES as ELEMENT_CASES
from jit.element_cases import Case, outcome, plain
from numba import njit

import colkern as ck
from colkern.cuda import adapter, memory
from colkern.jit.device import launching
from colkern.memory import Buffer
from colkern.operations.moving import to_device

cuda = adapter.compiler()


def kernel_of(source: str, checked: bool | None = None, thread_bytes: int = 0, **names: Any) -> Any:
    """The kernel `checksums` of a source that stands in no file, as that of a notebook's cell."""
    name = f"<kernel {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"cuda": cuda, "__name__": __name__, **names}
    exec(compile(source, name, "exec"), namespace)
    made = ck.cuda_jit(boundscheck=checked, thread_bytes=thread_bytes)
    return made(namespace["checksums"])


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(arrays(depth=3), st.booleans())
def each_type_at_three_levels(array: pa.Array, checked: bool) -> None:
    column = from_pyarrow(array)
    out = np.zeros(len(array), np.int64)
    if len(array):
        kernel = kernel_of(kernel_source({"a": column.type}), checked)
        kernel[1, len(array)](out, to_device(column))
    assert out.tolist() == [checksum(array, i) for i in range(len(array))]


def column(values: list[Any], kind: ck.DataType | None = None) -> ck.Array:
    return to_device(ck.array(values, kind))


def run(kernel: Any, count: int, *columns: Any, dtype: Any = np.int64) -> list[Any]:
    """The items that a kernel writes to `out` with one thread for each of `count` items."""
    out = np.zeros(count, dtype)
    kernel[1, count](out, *columns)
    return out.tolist()


def raised(wanted: type[Exception], words: str, call: Callable[[], Any]) -> None:
    """Make sure that a call raises what says this."""
    with pytest.raises(wanted, match=re.escape(words)):
        call()


# Numbers and nulls


@ck.cuda_jit
def positions(out, col):
    i = cuda.grid(1)
    if i == 0:
        out[0] = len(col)
        out[1] = col[-1]
        out[2] = col.value(1)
        out[3] = col.is_valid(2) + 2 * col.is_valid(-1)
        out[4] = col.null_count
        out[5] = len(col[1:-1])
        out[6] = col[1:].null_count
        last = 0
        for k, x in enumerate(col[-2:], 10):
            if x is not None:
                last += k * x
        out[7] = last


def columns_are_indexed_sliced_and_counted() -> None:
    assert run(positions, 8, column([5, 6, None, 8])) == [4, 8, 6, 2, 1, 2, 1, 88]


@ck.cuda_jit
def reduced(out, col):
    least = None
    for x in col:
        if x is not None and (least is None or x < least):
            least = x
    out[0] = least or 99
    out[1] = -1 if least is None else least
    out[2] = least == 7


def a_variable_is_a_number_or_none() -> None:
    assert run(reduced, 3, column([9, None, 7], ck.uint64())) == [7, 7, 1]
    assert run(reduced, 3, column([None], ck.uint64())) == [99, -1, 0]


@ck.cuda_jit
def in_order(out, left, right):
    total = 0
    for a, b in zip(left, right, strict=False):
        if a is None or b is None or (a > b and b != 0):
            continue
        total += a * b
    else:
        total += 1000
    k = 0
    while left[k] is not None and k < 2:
        k += 1
    out[0], out[1] = total, k


def columns_are_gone_over_together() -> None:
    left, right = column([1, 2, None, 4]), column([3, 1, 1, 5])
    assert run(in_order, 2, left, right) == [1023, 2]


@ck.cuda_jit
def times(out, stamps, spans):
    if stamps.unit == "ms" and spans.unit != "ms":
        out[0] = stamps.as_integers()[0] // 1000 + spans.as_integers()[0]


def temporal_values_may_be_read_as_integers_of_a_unit() -> None:
    stamps = column([5000], ck.timestamp("ms"))
    assert run(times, 1, stamps, column([7], ck.duration("s"))) == [12]


@ck.cuda_jit
def days(out, col):
    for x in col:
        if x is not None:
            months, d, nanoseconds = x
            out[0] += months + 10 * x.days + nanoseconds + x[1] - d


def intervals_have_named_parts() -> None:
    values = column([(1, 2, 3), None, (0, 0, -1)], ck.month_day_nano_interval())
    assert run(days, 1, values) == [23]


@ck.cuda_jit
def doubled(out, col):
    i = cuda.grid(1)
    x = col[i]
    out[i] = -1.0 if x is None else 2 * x


def half_precision_floats_are_floats() -> None:
    values = [0.5, None, 65504.0, 6e-8, float("inf")]
    expected = [1.0, -1.0, 131008.0, 2 * float(np.float16(6e-8)), float("inf")]
    assert run(doubled, 5, column(values, ck.float16()), dtype=np.float64) == expected


# Texts, byte strings, dates and times


def parts_of(value: Any, code: str = "found") -> Iterator[tuple[str, Any]]:
    """The code and the value of each item of a result."""
    if not isinstance(value, tuple):
        yield code, value
        return
    for k, item in enumerate(value):
        yield from parts_of(item, f"{code}[{k}]")


def kernel_of_case(function: Callable[..., Any], result: Any) -> Any:
    """A kernel of columns of arguments, and of the items of results: which of these are as expected."""
    given = [f"a{k}" for k in range(function.__code__.co_argcount)]
    parts = [code for code, _ in parts_of(result)]
    names = [*given, *(f"e{k}" for k in range(len(parts)))]
    lines = [f"def checksums(out, {', '.join(names)}):", "    i = cuda.grid(1)", "    same = 0"]
    lines.append(f"    found = function({', '.join(f'{name}.value(i)' for name in given)})")
    for k, code in enumerate(parts):
        lines.append(f"    same += {1 << k} * int({code} == e{k}.value(i))")
    source = "\n".join([*lines, "    out[i] = same", ""])
    return kernel_of(source, thread_bytes=8192, function=function)


def _checked(number: int, case: Case) -> Callable[[], None]:
    """Compares what a function gives in a kernel with what it gives in Python."""
    kernels: list[tuple[Any, Any]] = []

    def launched(rows: list[tuple[Any, ...]], results: list[Any]) -> list[Any]:
        if not kernels:
            kernels.append((kernel_of_case(case.function, results[0]), results[0]))
        kernel, example = kernels[0]
        found = [
            [part for _, part in parts_of(result)] for result in results or [example] * len(rows)
        ]
        columns = [
            column(list(values)) for values in (*zip(*rows, strict=True), *zip(*found, strict=True))
        ]
        return run(kernel, len(rows), *columns)

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(st.lists(case.arguments, min_size=1, max_size=8))
    def check(rows: list[tuple[Any, ...]]) -> None:
        outcomes = [(row, outcome(case.function, *row)) for row in [*case.examples, *rows]]
        fine = [(row, plain(result)) for row, result in outcomes if not isinstance(result, type)]
        try:
            wanted = [(1 << len(list(parts_of(result)))) - 1 for _, result in fine]
            found = launched([row for row, _ in fine], [r for _, r in fine]) if fine else []
            assert found == wanted, fine
        except ck.UnsupportedError:
            for row, result in fine:
                same = outcome(launched, [row], [result])
                assert same in (ck.UnsupportedError, [(1 << len(list(parts_of(result)))) - 1]), row
        for row, error in outcomes:
            if kernels and isinstance(error, type):
                assert outcome(launched, [row], []) in (error, ck.UnsupportedError), row

    check.__name__ = f"{case.function.__name__}_{number}"
    return check


ELEMENTS = [_checked(k, case) for k, case in enumerate(ELEMENT_CASES) if not case.makes_lists]


@ck.cuda_jit(thread_bytes=1024)
def pieces(out, texts):
    i = cuda.grid(1)
    words = texts[i].split(" ")
    if words[-1:]:
        out[i] = 100 * len(words) + len(words[0])
    for word in words:
        if word == "to":
            out[i] += 10_000
    out[i] += 100_000 * ("-".join(words) == "to-be")
    head, middle, tail = words[0].partition("o")
    out[i] += 1_000_000 * (len(head) + 2 * len(middle) + 4 * len(tail))


def lists_of_pieces_are_gone_over() -> None:
    assert run(pieces, 3, column(["to be", "é to to", ""])) == [3_110_202, 1_020_301, 100]


@ck.cuda_jit(thread_bytes=64)
def too_long(out, texts):
    out[0] = len(texts[0] * 100)


@ck.cuda_jit
def without_memory(out, texts):
    out[0] = len(texts[0] * 100)


def what_methods_make_has_the_room_that_is_given() -> None:
    raised(MemoryError, "out[0] = len(texts[0] * 100)", lambda: run(too_long, 1, column(["ab"])))
    words = "@ck.cuda_jit(thread_bytes=1024)"
    raised(ck.CompileError, words, lambda: run(without_memory, 1, column(["ab"])))
    raised(ValueError, "multiple of 8", lambda: ck.cuda_jit(thread_bytes=9))


@ck.cuda_jit(boundscheck=False)
def other_types(out, texts, stamps):
    out[0] = int(texts[0]) + 100 * texts.as_bytes()[0][-1]
    out[1] = stamps.as_integers()[0]
    if out[1] < 0 and stamps[0].year == 1900:
        out[1] = 0


def columns_are_those_of_other_types_and_what_methods_raise_is_found_without_checks() -> None:
    stamps = column([1 << 50], ck.timestamp("s"))
    assert run(other_types, 2, column(["12"]), stamps) == [5012, 1 << 50]
    raised(ValueError, "int(texts[0])", lambda: run(other_types, 2, column(["x"]), stamps))
    stamps = column([-(1 << 50)], ck.timestamp("s"))
    words = "timestamp[s] of these values has no compiled form"
    raised(ck.UnsupportedError, words, lambda: run(other_types, 2, column(["1"]), stamps))


# Decimals


@ck.cuda_jit
def decimal_sums(out, signs, left, right):
    i = cuda.grid(1)
    a, b = left[i], right[i]
    if a is None or b is None:
        return
    total = a + b - a * 2
    out[i] = float(total)
    signs[i] = (a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * (a > 0) + 16 * (-b <= abs(b))
    signs[i] += 32 * (a * b == b * a) + 64 * (a.rescale(6) == a) + 128 * a.scale + 4096 * int(b)


PRICES = st.none() | st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-4))
WEIGHTS = st.none() | st.integers(-(10**4), 10**4).map(lambda n: Decimal(n).scaleb(-2))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.tuples(PRICES, WEIGHTS), min_size=1, max_size=6))
def decimals_are_computed_with(pairs: list[tuple[Decimal | None, Decimal | None]]) -> None:
    left, right = map(list, zip(*pairs, strict=True))
    signs = np.zeros(len(pairs), np.int64)
    columns = column(left, ck.decimal128(38, 4)), column(right, ck.decimal32(9, 2))
    found = run(decimal_sums, len(pairs), signs, *columns, dtype=np.float64)
    for (a, b), total, sign in zip(pairs, found, signs.tolist(), strict=True):
        if a is None or b is None:
            assert (total, sign) == (0, 0)
            continue
        assert total == float(a + b - a * 2)
        expected = (a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * (a > 0) + 16 + 32 + 64
        assert sign == expected + 128 * 4 + 4096 * int(b)


# On a GPU, checks are made where they are asked for.
@ck.cuda_jit(boundscheck=True)
def decimal_totals(out, col):
    total = 0
    for x in col:
        if x is not None:
            total += x
    out[0] = int(total)
    out[1] = np.int64(total.words[1])
    out[2] = total.rescale(0) * 3 == total * 3


def an_integer_becomes_a_decimal_that_is_added_to_it() -> None:
    values = [Decimal(10**18), None, Decimal(9 * 10**18), Decimal(-1)]
    large = column(values, ck.decimal128(38, 0))
    raised(OverflowError, "64 bits", lambda: run(decimal_totals, 3, large))
    small = column([Decimal(5), None, Decimal(-7)], ck.decimal64(18, 0))
    assert run(decimal_totals, 3, small) == [-2, -1, 1]


# Nested types


@ck.cuda_jit
def fields(out, batch, structs):
    i = cuda.grid(1)
    if i < len(batch):
        row = batch[i]
        price = row.price
        out[i] = 0 if price is None else price
        if row["tags"] is not None:
            for tag in row["tags"]:
                out[i] += 10 if tag is None else 100 * len(tag)
        out[i] += 1000 * len(batch.tags) - (batch["tags"][i] is None)
        inner = structs[i]
        if inner is not None and inner.x is not None:
            out[i] += 100000 * inner.x + 1000000 * (structs.x[i] == inner["x"])


def rows_have_fields() -> None:
    batch = ck.record_batch(
        {"price": ck.array([1, None, 3]), "tags": ck.array([["a", None], None, ["bcd"]])}
    )
    structs = column([{"x": 1}, None, {"x": None}])
    device = ck.RecordBatch(batch.schema, [to_device(c) for c in batch.columns])
    assert run(fields, 3, device, structs) == [1103111, 2999, 3303]


@ck.cuda_jit
def entries(out, col):
    i = cuda.grid(1)
    m = col[i]
    if m is None:
        return
    keys, values = m.keys, m.values
    for k in range(len(m)):
        out[i] += ord(keys[k][0]) + (values[k] or 0)
    for entry in m:
        if entry.key == "b":
            out[i] += 1000 * (entry.value or 7)


def maps_have_keys_and_values() -> None:
    maps = column([{"a": 1, "b": None}, None, {"b": 2}], ck.map_(ck.utf8(), ck.int32()))
    assert run(entries, 3, maps) == [97 + 1 + 98 + 7000, 0, 98 + 2 + 2000]


@ck.cuda_jit
def encoded(out, names, runs):
    i = cuda.grid(1)
    out[i] = 0 if names[i] is None else 1 + names.index(i) + 10 * len(names.dictionary)
    out[i] += 100 * runs.run(i) + 1000 * runs.run_ends[0] + 10000 * (runs.values[1] or 0)
    out[i] += 100000 * (runs[i] or 0)


def dictionaries_and_runs_are_seen_and_seen_through() -> None:
    names = pa.array(["x", None, "y", "x"]).dictionary_encode()
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 5], pa.int32()), pa.array([None, 4])
    ).slice(1)
    device = [to_device(ck.interchange.import_array(array)) for array in (names, runs)]
    assert run(encoded, 4, *device) == [42021, 442100, 442122, 442121]


@ck.cuda_jit
def carried(out, col):
    found = 0
    for x in col:
        found = found * 10 + (9 if x is None else x)
    for x in col[len(col) :]:
        found += x
    out[0] = found


def runs_are_carried_from_slot_to_slot() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 3, 6], pa.int16()), pa.array([1, None, 3])
    )
    assert run(carried, 1, to_device(from_pyarrow(runs))) == [119333]
    assert run(carried, 1, to_device(from_pyarrow(runs.slice(1, 4)))) == [1933]


@ck.cuda_jit
def members(out, col):
    i = cuda.grid(1)
    slot = col[i]
    out[i] = col.type_id(i) + 10 * col.child_index(i) + 1000 * (slot.type_id == col.type_id(i))
    if slot.type_id == 5:
        out[i] += 100 * (slot.child(0) or 0)
    else:
        out[i] += 100 * len(col.child(1)[col.child_index(i)] or "")


def unions_have_children() -> None:
    ids, offsets = pa.array([5, 7, 5], pa.int8()), pa.array([0, 0, 1], pa.int32())
    children = [pa.array([3, None]), pa.array(["word"])]
    dense = pa.UnionArray.from_dense(ids, offsets, children, ["a", "b"], [5, 7])
    assert run(members, 3, to_device(ck.interchange.import_array(dense))) == [1305, 1407, 1015]


@ck.cuda_jit
def validity(out, col, runs):
    if cuda.grid(1) == 0:
        for i in range(len(col)):
            out[0] += col.is_valid(i) + 10 * (col[i] is not None)
        for slot in runs:
            out[1] += slot.type_id if slot.child(0) is None and slot.child(1) is None else 0
        for i in range(len(runs)):
            out[2] += runs.is_valid(i) + 10 * (runs[i] is not None)


def unions_have_no_validity_of_their_own() -> None:
    ids, offsets = pa.array([5, 7, 5], pa.int8()), pa.array([0, 0, 1], pa.int32())
    children = [pa.array([3, None]), pa.array(["word"])]
    dense = pa.UnionArray.from_dense(ids, offsets, children, ["a", "b"], [5, 7])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 4], pa.int32()), dense)
    columns = [to_device(ck.interchange.import_array(column)) for column in (dense, runs)]
    assert run(validity, 3, *columns) == [33, 10, 44]


@ck.cuda_jit
def present(out, indexed, nested):
    i = cuda.grid(1)
    if i < len(indexed):
        out[i] = indexed.is_valid(i) + 10 * (indexed[i] is not None)
        out[i] += 100 * (nested[i].child(0) is not None)


def slots_are_null_where_no_union_is_meant() -> None:
    ids, offsets = pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32())
    inner = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([3, None])])
    dense = pa.UnionArray.from_dense(ids, offsets, [inner, pa.array(["word"])])
    indexed = pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int32()), dense)
    columns = [to_device(ck.interchange.import_array(column)) for column in (indexed, dense)]
    assert run(present, 3, *columns) == [111, 0, 111]


# Functions


def first_long(items, least=2, prefix="l"):
    for item in items:
        if item is not None and len(item) >= least and item.startswith(prefix):
            return item
    return None


def size_of(item, otherwise):
    return otherwise if item is None else len(item)


@ck.cuda_jit
def searched(out, lists, others):
    i = cuda.grid(1)
    if i < len(lists) and lists[i] is not None:
        out[i] = size_of(first_long(lists[i]), -1)
        out[i] += 100 * size_of(first_long(others, least=1, prefix="o"), 50) + size_of(None, 0)


def functions_take_and_return_what_is_read_from_columns() -> None:
    lists = column([["l", "long"], None, [None, "x"]])
    assert run(searched, 3, lists, column(["n", "oh"])) == [204, 0, 199]


def scaled_by(scale: Callable[[Any], Any]) -> Any:
    def my_value(col):
        i = cuda.grid(1)
        return scale(col[i]) if i < len(col) else 0

    @ck.cuda_jit
    def summed(out, col, seen):
        shared = cuda.shared.array(4, np.int64)
        me = cuda.threadIdx.x
        shared[me] = my_value(col)
        cuda.syncthreads()
        if me == 0:
            out[0] = shared[0] + shared[1] + shared[2] + shared[3] + seen[0, 1]
        cuda.atomic.add(seen, (0, 0), 1)

    return summed


def all_else_is_left_to_the_compiler() -> None:
    seen = np.array([[0, 1000]])
    out = np.zeros(1, np.int64)
    scaled_by(lambda value: 2 * value)[1, 4](out, column([1, 2, 3]), seen)
    assert (out.tolist(), seen.tolist()) == ([1012], [[4, 1000]])
    # The compiler copies no arrays of the host on other streams.
    stream, placed = cuda.stream(), [memory.on_device(array) for array in (out, seen)]
    tripled = scaled_by(lambda value: 3 * value).forall(4, 4, stream)
    tripled(placed[0], column([1, 2, 3]), placed[1])
    stream.synchronize()
    assert memory.on_host(placed[0]).tolist() == [1018]


# The same functions in compiled code on the CPU


def of_batch(batch):
    found = 0.0
    for row in batch:
        if row.length is not None:
            found += row.length
        found += 10 * len(row["text"])
        rest = row["é 1"]
        if rest is not None:
            found += rest
    first = batch["é 1"][0]
    return found + len(batch) + batch.length.null_count + (0 if first is None else first)


def of_maps(column):
    found = 0
    for entries in column:
        if entries is not None:
            for entry in entries:
                if entry.key == "a" and entry.value is not None:
                    found += entry.value
            found += 1000 * (len(entries.keys) + len(entries.values))
    return found


def of_union(column):
    found = 0.0
    for i in range(len(column)):
        if column.type_id(i) == 5:
            value = column.child(0)[column.child_index(i)]
            found += 100 if value is None else value
        else:
            text = column[i].child(1)
            found += 0 if text is None else len(text) / 4
        found += 1000 * column.is_valid(i)
    return found


def of_decimals(column):
    least = None
    total = 0
    for value in column[1:]:
        if value is not None:
            total += value * 3
            if least is None or value < least:
                least = value
    return float(total) + (0.0 if least is None else float(least.rescale(5)))


def _union() -> pa.Array:
    ids = pa.array([5, 3, 5, 3, 3], pa.int8())
    children = [pa.array([1, None, 3, 4, 5]), pa.array(["a", "bbbb", None, "dd", None])]
    return pa.UnionArray.from_sparse(ids, children, ["n", "t"], [5, 3])


MAPS = [[("a", 1), ("b", 2)], None, [("a", None), ("a", 5)]]
NUMBERS = [Decimal("1.5"), Decimal("-2.25"), None, Decimal("-3"), Decimal(4)]
BATCH = {"length": [1, None, 3], "text": ["a", "bb", "ccc"], "é 1": [1.5, 2.5, None]}

SHARED: list[tuple[Callable[[Any], Any], Any]] = [
    (of_batch, pa.RecordBatch.from_pydict(BATCH)),
    (of_maps, pa.array(MAPS, pa.map_(pa.utf8(), pa.int32()))),
    (of_union, _union()),
    (of_decimals, pa.array(NUMBERS, pa.decimal64(12, 4))),
]


def the_spelling_is_that_of_the_cpu() -> None:
    for function, data in SHARED:

        @ck.cuda_jit
        def kernel(out, column):
            out[0] = function(column)  # noqa: B023 (the kernel is launched in this round)

        if isinstance(data, pa.RecordBatch):
            host: Any = batch_from_pyarrow(data)
            device: Any = ck.RecordBatch(host.schema, [to_device(c) for c in host.columns])
        else:
            host = from_pyarrow(data)
            device = to_device(host)
        assert run(kernel, 1, device, dtype=np.float64) == [njit(function)(host)], function


# What goes wrong


@ck.cuda_jit(boundscheck=True)
def beyond(out, col):
    i = cuda.grid(1)
    out[i] = col[i + 1]


@ck.cuda_jit
def long_enough(out, col):
    out[0] = len(col[0])


@ck.cuda_jit
def two_things(out, col):
    x = col[0]
    if len(out) > 3:
        x = col
    out[0] = x


@ck.cuda_jit
def written(out, col):
    col[0] = 1


@ck.cuda_jit
def misspelt(out, col):
    out[0] = col.nul_count


def errors_name_the_line() -> None:
    numbers = column([1, 2])
    raised(IndexError, "out[i] = col[i + 1]", lambda: run(beyond, 2, numbers))
    raised(TypeError, "null", lambda: run(beyond, 1, column([1, None])))
    raised(
        ck.CompileError, "x is a number or None in one place", lambda: run(two_things, 1, numbers)
    )
    raised(ck.CompileError, "immutable", lambda: run(written, 1, numbers))
    raised(ck.CompileError, "out[0] = col.nul_count", lambda: run(misspelt, 1, numbers))
    raised(ck.UnsupportedError, "col is in host memory", lambda: run(beyond, 1, ck.array([1])))
    raised(TypeError, "import it with", lambda: run(beyond, 1, pa.array([1])))
    stream = ck.RecordBatchStream(ck.Schema([]), [])
    raised(ck.UnsupportedError, "one at a time", lambda: run(beyond, 1, stream))
    broken = ck.Array(
        ck.utf8(),
        1,
        [None, Buffer(np.array([0, 99], np.int32).view(np.uint8)), Buffer.from_object(b"a")],
    )
    raised(ck.InvalidArrowError, "col", lambda: run(long_enough, 1, to_device(broken)))


@ck.cuda_jit
def compare_words(out, words, numbers):
    i = cuda.grid(1)
    if i < len(words):
        out[i] = numbers.value(i) if words[i] == "two words, one view" else 0


def a_launch_uses_one_stream_and_waits_for_what_others_will_find() -> None:
    words = column(["two words, one view", "b"], ck.utf8_view())
    octets = np.frombuffer(b"?" + np.array([5, 7], np.int64).tobytes(), np.uint8)[1:]
    unaligned = ck.Array(ck.int64(), 2, [None, Buffer(octets, ck.Device("cuda"))], null_count=0)
    steps: list[str] = []

    @contextmanager
    def on_stream(stream: Any) -> Iterator[None]:
        steps.append("begin")
        yield
        steps.append("end")

    out = np.zeros(2, np.int64)
    with (
        patch.object(memory, "on_stream", on_stream),
        patch.object(memory, "finish", lambda _: steps.append("finish")),
        patch.object(launching, "require_valid", lambda *_: steps.append("validate")),
    ):
        for _ in range(2):
            compare_words[1, 2, 3](out, words, unaligned)
    assert out.tolist() == [5, 0]
    validated = ["begin", "validate", "validate"]
    # The view's table, the strings of the source, the aligned copy: made once, and waited for.
    assert steps == [*validated, *["finish"] * 3, "end", *validated, "end"]


CASES: list[Callable[[], None]] = [
    each_type_at_three_levels,
    columns_are_indexed_sliced_and_counted,
    a_variable_is_a_number_or_none,
    columns_are_gone_over_together,
    temporal_values_may_be_read_as_integers_of_a_unit,
    intervals_have_named_parts,
    half_precision_floats_are_floats,
    *ELEMENTS,
    lists_of_pieces_are_gone_over,
    what_methods_make_has_the_room_that_is_given,
    columns_are_those_of_other_types_and_what_methods_raise_is_found_without_checks,
    decimals_are_computed_with,
    an_integer_becomes_a_decimal_that_is_added_to_it,
    rows_have_fields,
    maps_have_keys_and_values,
    dictionaries_and_runs_are_seen_and_seen_through,
    runs_are_carried_from_slot_to_slot,
    unions_have_children,
    unions_have_no_validity_of_their_own,
    slots_are_null_where_no_union_is_meant,
    functions_take_and_return_what_is_read_from_columns,
    all_else_is_left_to_the_compiler,
    the_spelling_is_that_of_the_cpu,
    errors_name_the_line,
    a_launch_uses_one_stream_and_waits_for_what_others_will_find,
]

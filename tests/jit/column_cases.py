"""Functions of columns and batches, and what each gives: one list for compiled loops and for kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from arrow_oracle import batch_from_pyarrow, from_pyarrow

import colkern as ck


@dataclass(frozen=True)
class Case:
    """A function.

    Args:
        function: Returns a tuple of numbers.
        columns: What it is called with, in host memory.
        expected: What it returns.
        name: What the case is about, if not the function's name.
    """

    function: Callable[..., Any]
    columns: tuple[Any, ...]
    expected: tuple[float, ...]
    name: str = ""


# Numbers and nulls


def total(column):
    actual = 0
    for value in column:
        if value is not None:
            actual += value
    return actual


def positions(col):
    last = 0
    for k, x in enumerate(col[-2:], 10):
        if x is not None:
            last += k * x
    valid = col.is_valid(2) + 2 * col.is_valid(-1)
    return len(col), col.value(-1), col.value(1), valid, col.null_count, last


def slices(col):
    inner, end, none = col[1:4], col[-2:99], col[3:1]
    nulls = (
        inner.null_count + 10 * end.null_count + 100 * none.null_count + 1000 * col[1:].null_count
    )
    return len(inner), len(end), len(none), nulls, total(inner), total(end), total(none)


def in_order(left, right):
    products = 0
    for a, b in zip(left, right):  # noqa: B905 (Numba's has no `strict`)
        if a is None or b is None or (a > b and b != 0):
            continue
        products += a * b
    else:
        products += 1000
    k = 0
    while left[k] is not None and k < 2:
        k += 1
    return products, k


def seconds(stamps, spans):
    scale = 1000 if stamps.unit == "ms" and spans.unit != "ms" else 1
    return stamps.as_integers()[0] // scale + spans.as_integers()[0], stamps.as_integers().value(0)


def halves(col):
    return col.value(0), col.is_valid(1), col.value(2), col.value(3), col.value(4)


def decimals(column):
    low = None
    amount = 0
    for value in column[1:]:
        if value is not None:
            amount += value * 3
            if low is None or value < low:
                low = value
    return float(amount), 0.0 if low is None else float(low.rescale(5))


# Nested types


def rows_of_batch(batch):
    actual = 0.0
    for row in batch:
        if row.length is not None:
            actual += row.length
        actual += 10 * len(row["text"])
        rest = row["é 1"]
        if rest is not None:
            actual += rest
    first = batch["é 1"][0]
    missing = batch[1].length is None
    return actual, len(batch), batch.length.null_count, 0 if first is None else first, missing


def rows_of_structs(column):
    actual = 0
    for row in column:
        if row is not None and row.x is not None:
            actual += row.x
    first = column.x[0]
    return actual, 0 if first is None else first, len(column["y"])


def lists(column):
    actual = 0
    for part in column:
        actual = actual * 1000 + (1 if part is None else len(part) * 100 + total(part))
    return actual, len(column)


def maps(column):
    actual = 0
    for entries in column:
        if entries is not None:
            for entry in entries:
                if entry.key == "a" and entry.value is not None:
                    actual += entry.value
            keys, values = entries.keys, entries.values
            for k in range(len(entries)):
                actual += 10 * ord(keys[k][0]) * (values[k] is None)
            actual += 10000 * (len(keys) + len(values))
    return actual, len(column)


def dictionary(column):
    actual = 0
    for i in range(len(column)):
        text = column[i]
        if text is not None:
            actual += len(text) * 10 + column.index(i)
    return actual, len(column.dictionary), column.is_valid(0), column.is_valid(2)


def runs(column):
    places = 0
    for i in range(len(column)):
        places = places * 10 + column.run(i)
    carried = 0
    for value in column:
        carried = carried * 10 + (9 if value is None else value)
    for value in column[len(column) :]:
        carried += 1000000 if value is None else value
    third = column[2]
    return places, carried, 9 if third is None else third, len(column.values), column.run_ends[0]


def union(column):
    actual = 0.0
    same = 0
    for i in range(len(column)):
        slot = column[i]
        same += slot.type_id == column.type_id(i)
        if column.type_id(i) == 5:
            value = column.child(0)[column.child_index(i)]
            actual += 100 if value is None else value
        else:
            text = slot.child(1)
            actual += 0 if text is None else len(text) / 4
    return actual, same


def union_slots(column):
    """Columnar format: "Union Layout". What is null is what a child holds; the type id is there."""
    valid, there, ids, empty = 0, 0, 0, 0
    for i in range(len(column)):
        valid = valid * 2 + column.is_valid(i)
        there = there * 2 + (column[i] is not None)
    for slot in column:
        if slot is None:
            ids = ids * 10
            empty = empty * 2 + 1
        else:
            ids = ids * 10 + int(slot.type_id)
            empty = empty * 2 + (slot.child(0) is None and slot.child(1) is None)
    return valid, there, column.null_count, ids, empty


def union_in_union(column):
    there = 0
    for slot in column:
        there = there * 2 + (slot.child(0) is not None)
    return there, len(column)


# What they are called with


def _unions() -> list[pa.Array]:
    ids = pa.array([5, 3, 5, 3, 3], pa.int8())
    numbers, texts = pa.array([1, None, 3, 4, 5]), pa.array(["a", "bbbb", None, "dd", None])
    offsets = pa.array([0, 0, 1, 1, 2], pa.int32())
    return [
        pa.UnionArray.from_sparse(ids, [numbers, texts], ["n", "t"], [5, 3]),
        pa.UnionArray.from_dense(ids, offsets, [numbers, texts], ["n", "t"], [5, 3]),
    ]


def _number(flags: list[Any]) -> int:
    """The number whose binary digits are some flags."""
    return int("".join(str(int(flag)) for flag in flags), 2)


def _union_cases() -> list[Case]:
    cases = []
    for mode, plain in zip(("sparse", "dense"), _unions(), strict=True):
        values, codes = plain.to_pylist(), plain.type_codes.to_pylist()
        sums = [
            (100 if v is None else v) if code == 5 else (len(v) / 4 if v else 0)
            for v, code in zip(values, codes, strict=True)
        ]
        cases.append(Case(union, (from_pyarrow(plain),), (sum(sums), 5), f"{mode}_union"))
        indices = pa.array([0, 1, None, 2, 3, 4], pa.int8())
        run_ends = pa.array([1, 2, 4, 5, 6], pa.int32())
        encodings: dict[str, tuple[Any, list[int | None]]] = {
            "plain": (plain, [0, 1, 2, 3, 4]),
            "dictionary": (pa.DictionaryArray.from_arrays(indices, plain), indices.to_pylist()),
            "runs": (pa.RunEndEncodedArray.from_arrays(run_ends, plain), [0, 1, 2, 2, 3, 4]),
        }
        # Of a sparse union, any child may hold something beside the slot.
        held = [mode == "dense" and value is None for value in values]
        for encoding, (array, slots) in encodings.items():
            there = _number([slot is not None for slot in slots])
            ids = int("".join("0" if slot is None else str(codes[slot]) for slot in slots))
            empty = _number([slot is None or held[slot] for slot in slots])
            expected = there, there, slots.count(None), ids, empty
            name = f"slots_of_{mode}_union_{encoding}"
            cases.append(Case(union_slots, (from_pyarrow(array),), expected, name))
    return cases


def _nested_union() -> Any:
    inner = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([3, None])])
    ids, offsets = pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32())
    return from_pyarrow(pa.UnionArray.from_dense(ids, offsets, [inner, pa.array(["word"])]))


BATCH = pa.RecordBatch.from_pydict(
    {"length": [1, None, 3], "text": ["a", "bb", "ccc"], "é 1": [1.5, 2.5, None]}
)
STRUCTS = [None, {"x": 1, "y": "a"}, None, {"x": None, "y": "b"}, {"x": 4, "y": None}]
LISTS = [[1, 2], None, [], [3, None, 4]]
MAPS = [[("a", 1), ("b", 2)], None, [("a", None), ("a", 5)]]
NUMBERS = [Decimal("1.5"), Decimal("-2.25"), None, Decimal("-3"), Decimal(4)]
HALVES = [0.5, None, 65504.0, 6e-8, float("inf")]
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 6], pa.int16()), pa.array([1, None, 3]))
WORDS = pa.DictionaryArray.from_arrays(
    pa.array([0, 2, None, 1, 0], pa.uint8()), pa.array(["a", None, "ccc"])
)


def _of_arrow(
    function: Callable[..., Any], array: pa.Array, *expected: float, name: str = ""
) -> Case:
    return Case(function, (from_pyarrow(array),), expected, name)


CASES: list[Case] = [
    Case(positions, (ck.array([5, 6, None, 8]),), (4, 8, 6, 2, 1, 88)),
    _of_arrow(
        positions, pa.array([1, 5, 6, None, 8]).slice(1), 4, 8, 6, 2, 1, 88, name="of_a_slice"
    ),
    Case(slices, (ck.array([1, None, 3, None, 5]),), (3, 2, 0, 2012, 3, 5, 0)),
    Case(in_order, (ck.array([1, 2, None, 4]), ck.array([3, 1, 1, 5])), (1023, 2)),
    Case(
        seconds,
        (ck.array([5000], ck.timestamp("ms")), ck.array([7], ck.duration("s"))),
        (12, 5000),
    ),
    Case(
        halves,
        (ck.array(HALVES, ck.float16()),),
        (0.5, 0, 65504.0, float(np.float16(6e-8)), float("inf")),
    ),
    _of_arrow(decimals, pa.array(NUMBERS, pa.decimal64(12, 4)), -3.75, -3.0),
    Case(rows_of_batch, (batch_from_pyarrow(BATCH),), (4 + 60 + 4.0, 3, 1, 1.5, 1)),
    _of_arrow(rows_of_structs, pa.array(STRUCTS).slice(1), 5, 1, 4),
    *(
        _of_arrow(
            lists, pa.array(LISTS, type_(pa.int64())), 203_001_000_307, 4, name=type_.__name__
        )
        for type_ in (pa.list_, pa.large_list, pa.list_view)
    ),
    _of_arrow(maps, pa.array(MAPS, pa.map_(pa.utf8(), pa.int32())), 6 + 970 + 80_000, 3),
    _of_arrow(dictionary, WORDS, 10 + 32 + 10, 3, 1, 0),
    _of_arrow(runs, RUNS, 1222, 119333, 9, 3, 2),
    _of_arrow(runs, RUNS.slice(1, 4), 122, 1933, 3, 3, 2, name="runs_of_a_slice"),
    *_union_cases(),
    Case(union_in_union, (_nested_union(),), (5, 3)),
]
"""The functions, each once for loops and once for kernels."""


def name_of(case: Case) -> str:
    return case.name or case.function.__name__

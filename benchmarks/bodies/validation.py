"""`validate(full=True)` of large columns: where they are on the device, and by one core on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pyarrow as pa

import colkern as ck
from benchmarks import data
from benchmarks.bodies.contestant import SPEED, Against, Contestant, Group, Place
from benchmarks.bodies.tables import array_bytes
from colkern.cpu.threads import set_num_threads

TIMES_AS_FAST = 10
"""The target speed of a device beside one core."""

SHARE = 4
"""A column has about this part of the bytes of the large tables."""


def _text(size: int) -> pa.Array:
    return data.strings(size // 16, 12, nulls=0.1)


def _lists(size: int) -> pa.Array:
    rows = size // 20
    values = data.numbers(4 * rows, "int32", nulls=0.1)
    return pa.ListArray.from_arrays(pa.array(np.arange(0, 4 * rows + 1, 4, np.int32)), values)


def _dictionary(size: int) -> pa.Array:
    indices = data.indices(size // 4, 1000, "int32", nulls=0.1)
    return pa.DictionaryArray.from_arrays(indices, data.strings(1000, 12))


def _runs(size: int) -> pa.Array:
    rows = size // 12
    lengths = data.random().integers(1, 8, rows)
    ends = pa.array(np.cumsum(lengths).astype(np.int32))
    return pa.RunEndEncodedArray.from_arrays(ends, data.numbers(rows, "int64", nulls=0.1))


def _views(size: int) -> pa.Array:
    return data.strings(size // 24, 12, nulls=0.1).cast(pa.string_view())


COLUMNS: dict[str, Callable[[int], pa.Array]] = {
    "utf8": _text,
    "list": _lists,
    "dictionary": _dictionary,
    "run-end encoded": _runs,
    "utf8 view": _views,
}


@contextmanager
def validation(name: str, place: Place) -> Iterator[list[Contestant]]:
    """A column on the host and on the device."""
    on_host = ck.array(COLUMNS[name](max(place.size // SHARE, 1 << 10)))
    on_device = ck.to_device(on_host, place.device)
    nbytes, one_core = array_bytes(on_host), f"validate {name}, one core"
    yield [
        Contestant(one_core, lambda: _by_one_core(on_host), nbytes),
        Contestant(
            f"validate {name}, on the device",
            lambda: _unknown(on_device).validate(full=True),
            nbytes,
            Against(SPEED, one_core, TIMES_AS_FAST),
        ),
    ]


def _by_one_core(array: ck.Array) -> None:
    set_num_threads(1)
    try:
        _unknown(array).validate(full=True)
    finally:
        set_num_threads(0)


def _unknown(array: ck.Array) -> ck.Array:
    """The same array, of which nothing is known yet: what has been looked at is not looked at again."""
    dictionary = array.dictionary
    return ck.Array(
        array.type,
        array.length,
        array.buffers,
        [_unknown(child) for child in array.children],
        None if dictionary is None else _unknown(dictionary),
        array.offset,
        array.known_null_count,
    )


VALIDATION = [Group(f"validate {name}", partial(validation, name)) for name in COLUMNS]

"""Lists of every layout, some with elements under nulls, in another order, or in a slice."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
from arrow_oracle import from_pyarrow
from operations.samples import buffer, sample, samples

import colkern.schema as s
from colkern.arrays import Array

LIST_SAMPLES = [
    "list",
    "large_list",
    "list_view",
    "large_list_view",
    "fixed_size_list",
    "fixed_size_list of 0",
    "map",
    "list of structs",
    "list of views",
]


def _hiding(large: bool) -> pa.Array:
    """Lists of which some are null over elements."""
    offsets = [3, 5, 6, 6, 9, 9, 12, 14, 15, 16, 16, 18, 20]
    mask = pa.array([i in (1, 3, 4, 8, 11) for i in range(12)])
    child = pa.array([None if i % 7 == 4 else i for i in range(22)], pa.int16())
    if large:
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), child, mask=mask)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), child, mask=mask)


def scattered(child: Array, bits: int = 32) -> Array:
    """Twelve list views of a child of twelve values: in no order, some of the same elements.

    Null ones point nowhere.
    """
    begins = [9, 0, 3, -5, 3, 4, 2**31 - 1, 1, 12, 0, 7, 5]
    sizes = [3, 2, 1, 7, 4, 0, 2**31 - 1, 11, 0, 12, 1, 1]
    valid = [i not in (3, 6, 10) for i in range(12)]
    validity = buffer([sum(ok << i for i, ok in enumerate(valid[b : b + 8])) for b in (0, 8)], "u1")
    code = f"<i{bits // 8}"
    kind = (s.list_view if bits == 32 else s.large_list_view)(child.type)
    return Array(kind, 12, [validity, buffer(begins, code), buffer(sizes, code)], [child])


@cache
def list_samples() -> dict[str, Array]:
    """Twelve slots each."""
    result: dict[str, Array] = {name: sample(name) for name in LIST_SAMPLES}
    result["list that hides elements"] = from_pyarrow(_hiding(False))
    result["large list that hides elements"] = from_pyarrow(_hiding(True))
    for name in samples():
        result[f"scattered views of {name}"] = scattered(sample(name))
    result["large scattered views"] = scattered(sample("int64, no nulls"), 64)
    result["no nulls"] = from_pyarrow(pa.array([[1], [], [2, 3, 4], []] * 3))
    result["one long list"] = from_pyarrow(pa.array([[1], [], [*range(300)], None] * 3))
    result["lists of nulls"] = from_pyarrow(pa.array([[None], None, [], [None] * 3] * 3))
    result["all null"] = from_pyarrow(pa.array([None] * 12, pa.list_(pa.int32())))
    assert all(len(array) == 12 for array in result.values())
    return result


def slices(array: Array) -> list[Array]:
    """The array, and parts of it."""
    return [array, array.slice(1, 9), array.slice(3), array.slice(8, 2), array.slice(4, 0)]


def lists_in(array: Array) -> list[list[Any] | None]:
    """The lists as Python objects; the entries of maps as the structs that they are."""
    values: list[Any] = array.to_pylist()
    if isinstance(array.type, s.Map):
        pairs = [None if v is None else [{"key": k, "value": x} for k, x in v] for v in values]
        return list(pairs)
    return values


def elements(array: Array) -> list[Any]:
    """The elements of all lists as Python objects."""
    return [element for value in lists_in(array) if value is not None for element in value]

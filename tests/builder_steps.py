"""Nested values, and the steps by which a compiled function appends them to a builder."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import colkern as ck

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
            for element in inner or []:
                step(ELEMENT, element, element or 0)
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

"""The values of integration JSON and of pyarrow's arrays in one plain form, without colkern.

Dates, times and durations are their integers, decimals their unscaled integers, structs tuples, map
entries and list elements lists; unions, dictionaries and runs are the values themselves.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable
from decimal import Context
from itertools import pairwise
from typing import Any

import pyarrow as pa

Json = dict[str, Any]
Values = list[Any]

# JSON


def values_in_json(document: Json) -> list[list[Values]]:
    """For each batch, the values of each column."""
    dictionaries = {d["id"]: d["data"]["columns"][0] for d in document.get("dictionaries", ())}
    return [
        [
            _json_values(field, column, dictionaries)
            for field, column in zip(document["schema"]["fields"], batch["columns"], strict=True)
        ]
        for batch in document["batches"]
    ]


def _json_values(field: Json, column: Json, dictionaries: dict[int, Json]) -> Values:
    if field.get("dictionary"):
        plain = {key: value for key, value in field.items() if key != "dictionary"}
        values = _json_values(plain, dictionaries[field["dictionary"]["id"]], dictionaries)
        return [values[int(i)] if v else None for i, v in _slots(column, "DATA")]
    children = [
        _json_values(child, entry, dictionaries)
        for child, entry in zip(field["children"], column.get("children", ()), strict=True)
    ]
    name = field["type"]["name"]
    return (_NESTED.get(name) or _leaf)(field["type"], column, children)


def _slots(column: Json, key: str) -> list[tuple[Any, int]]:
    return list(zip(column[key], column["VALIDITY"], strict=True))


def _leaf(type_: Json, column: Json, children: list[Values]) -> Values:
    read: Callable[[Json, Any], Any] = _LEAVES.get(type_["name"], lambda type_, value: int(value))
    return [read(type_, value) if valid else None for value, valid in _slots(column, "DATA")]


def _rounded(type_: Json, value: float) -> float:
    code = {"HALF": "<e", "SINGLE": "<f", "DOUBLE": "<d"}[type_["precision"]]
    (number,) = struct.unpack(code, struct.pack(code, value))
    return float(number)


_LEAVES: dict[str, Callable[[Json, Any], Any]] = {
    "bool": lambda type_, value: bool(value),
    "floatingpoint": _rounded,
    "interval": lambda type_, value: tuple(value.values()) if isinstance(value, dict) else value,
    "binary": lambda type_, value: bytes.fromhex(value),
    "largebinary": lambda type_, value: bytes.fromhex(value),
    "fixedsizebinary": lambda type_, value: bytes.fromhex(value),
    "utf8": lambda type_, value: value,
    "largeutf8": lambda type_, value: value,
}


def _views(type_: Json, column: Json, children: list[Values]) -> Values:
    buffers = [bytes.fromhex(data) for data in column["VARIADIC_DATA_BUFFERS"]]
    is_text = type_["name"] == "utf8view"

    def value(view: Json) -> Any:
        if "INLINED" in view:
            return view["INLINED"] if is_text else bytes.fromhex(view["INLINED"])
        start = view["OFFSET"]
        raw = buffers[view["BUFFER_INDEX"]][start : start + view["SIZE"]]
        assert raw[:4] == bytes.fromhex(view["PREFIX_HEX"])
        return raw.decode() if is_text else raw

    return [value(view) if valid else None for view, valid in _slots(column, "VIEWS")]


def _lists(type_: Json, column: Json, children: list[Values]) -> Values:
    ends = list(map(int, column["OFFSET"]))
    ranges = zip(pairwise(ends), column["VALIDITY"], strict=True)
    return [children[0][start:stop] if valid else None for (start, stop), valid in ranges]


def _list_views(type_: Json, column: Json, children: list[Values]) -> Values:
    ranges = zip(column["OFFSET"], column["SIZE"], column["VALIDITY"], strict=True)
    return [children[0][int(a) : int(a) + int(n)] if valid else None for a, n, valid in ranges]


def _fixed_size_lists(type_: Json, column: Json, children: list[Values]) -> Values:
    size = type_["listSize"]
    return [
        children[0][slot * size : (slot + 1) * size] if valid else None
        for slot, valid in enumerate(column["VALIDITY"])
    ]


def _structs(type_: Json, column: Json, children: list[Values]) -> Values:
    rows = zip(zip(*children, strict=True), column["VALIDITY"], strict=True)
    return [row if valid else None for row, valid in rows]


def _unions(type_: Json, column: Json, children: list[Values]) -> Values:
    places = column.get("OFFSET", range(column["count"]))
    slots = zip(column["TYPE_ID"], places, strict=True)
    return [children[type_["typeIds"].index(code)][place] for code, place in slots]


def _runs(type_: Json, column: Json, children: list[Values]) -> Values:
    ends, values = children
    return [values[bisect_right(ends, slot)] for slot in range(column["count"])]


_NESTED: dict[str, Callable[[Json, Json, list[Values]], Values]] = {
    "null": lambda type_, column, children: [None] * column["count"],
    "utf8view": _views,
    "binaryview": _views,
    "list": _lists,
    "largelist": _lists,
    "map": _lists,
    "listview": _list_views,
    "largelistview": _list_views,
    "fixedsizelist": _fixed_size_lists,
    "struct": _structs,
    "union": _unions,
    "runendencoded": _runs,
}


# pyarrow

_EXACT = Context(prec=100)
_TEMPORAL_BITS = [
    (pa.types.is_date32, 32),
    (pa.types.is_date64, 64),
    (pa.types.is_time32, 32),
    (pa.types.is_time64, 64),
    (pa.types.is_timestamp, 64),
    (pa.types.is_duration, 64),
]


def values_in_arrow(array: pa.Array) -> Values:
    """The values of a pyarrow array."""
    type_ = array.type
    kind = pa.types
    for is_kind, bits in _TEMPORAL_BITS:
        if is_kind(type_):
            array = array.view(pa.int32() if bits == 32 else pa.int64())
            break
    if kind.is_decimal(type_):
        scaled = (v and _EXACT.scaleb(v, type_.scale) for v in array.to_pylist())
        return [None if v is None else int(v) for v in scaled]
    if kind.is_interval(type_):
        return [v and tuple(v) for v in array.to_pylist()]
    if kind.is_dictionary(type_):
        values = values_in_arrow(array.dictionary)
        return [None if i is None else values[i] for i in array.indices.to_pylist()]
    if kind.is_run_end_encoded(type_):
        ends, values = array.run_ends.to_pylist(), values_in_arrow(array.values)
        return [values[bisect_right(ends, slot)] for slot in range(len(array))]
    if kind.is_union(type_):
        return _arrow_union(array)
    if kind.is_struct(type_):
        columns = [values_in_arrow(array.field(i)) for i in range(type_.num_fields)]
        rows = zip(zip(*columns, strict=True), array.is_valid().to_pylist(), strict=True)
        return [row if valid else None for row, valid in rows]
    if kind.is_nested(type_):
        return [values_in_arrow(s.values) if s.is_valid else None for s in array]
    result: Values = array.to_pylist()
    return result


def _arrow_union(array: pa.Array) -> Values:
    # pyarrow crashes where it looks for the type ids of an empty array that was read.
    if not len(array):
        return []
    codes = array.type.type_codes
    children = [values_in_arrow(array.field(i)) for i in range(array.type.num_fields)]
    places = array.offsets.to_pylist() if array.type.mode == "dense" else range(len(array))
    slots = zip(array.type_codes.to_pylist(), places, strict=True)
    return [children[codes.index(code)][place] for code, place in slots]
